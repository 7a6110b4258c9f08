"""Counts system calls from outside: nothing that a process can ask for without privileges tells how many it made.

`perf` counts them in the kernel, which hardly slows a process down, and may need rights that not everybody has.
`strace` needs none, and stops a process twice for each call: what it counts is how a much slower client works, which
finds more answers at a time. Which one has counted is in the figures.

A process makes many calls before it measures. So it runs twice, for a short and a longer time, and the difference in
calls is divided by the difference in records.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aerolane.bench.child import Answer
from aerolane.bench.spec import RunSpec

# The two times, seconds.
SHORT, LONG = 0.4, 1.4

Ask = Callable[[RunSpec, Sequence[str]], Answer]


@dataclass(frozen=True)
class Tool:
    """A program that runs another one and counts its system calls, those of its children included."""

    name: str
    options: tuple[str, ...]
    """Ends with that for the file of its answer, which follows."""
    total: re.Pattern[str]

    def command(self, file: str) -> list[str]:
        """What is put before a command."""
        return [self.name, *self.options, file, "--"]

    def read(self, text: str) -> int | None:
        """The count, of its answer."""
        found = self.total.search(text)
        return int(found[1]) if found else None


PERF = Tool("perf", ("stat", "-e", "raw_syscalls:sys_enter", "-x,", "-o"), re.compile(r"^(\d+),", re.M))
STRACE = Tool("strace", ("-f", "-q", "-c", "-o"), re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s.*total$", re.M))


def tool() -> Tool | None:
    """The tool that works here; `None` if there is none."""
    return next((found for found in (PERF, STRACE) if shutil.which(found.name) and _counts(found)), None)


def _counts(found: Tool) -> bool:
    with tempfile.NamedTemporaryFile("r") as file:
        try:
            subprocess.run([*found.command(file.name), "true"], capture_output=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            return False
        return bool(found.read(file.read()))


def measure(spec: RunSpec, ask: Ask) -> Answer:
    """A usual run, with its system calls per record counted in two more. `ask` runs it, after a prefix of a command."""
    found = tool()
    if found is None:
        return Answer(missing="neither perf nor strace is installed and may count system calls")
    usual = ask(spec, ())
    if usual.figures is None:
        return usual
    counts: list[tuple[int, float]] = []
    for seconds in (SHORT, LONG):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "calls"
            answer = ask(replace(spec, warmup=0.0, duration=seconds), found.command(str(file)))
            if answer.figures is None:
                return answer
            calls = found.read(file.read_text(encoding="utf-8", errors="replace")) if file.exists() else None
        if calls is None:
            return Answer(failure=f"{found.name} has counted nothing")
        counts.append((calls, answer.figures["tps"] * answer.figures["duration_s"]))
    (few_calls, few), (many_calls, many) = counts
    if many <= few:
        return Answer(failure=f"no more records in {LONG:g} s than in {SHORT:g} s")
    per_record = max(0.0, (many_calls - few_calls) / (many - few))
    return Answer(usual.figures | {"syscalls_per_op": per_record, "calls_counted_by": found.name})
