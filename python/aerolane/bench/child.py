"""A child process: does one job and answers with one line of JSON.

Each mode has a process of its own, so that CPU time, peak memory, imported extensions and the state of the GIL belong
to one client.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aerolane.bench import cores
from aerolane.bench.spec import RunSpec

# Most bytes taken from a child.
MOST_OUTPUT = 1 << 22
# What starting and ending may take beside the run, seconds.
PATIENCE = 60.0
# The slowest load that is waited for, records per second.
LOAD_RATE = 500


@dataclass(frozen=True)
class Answer:
    """What a child says: `figures`, or why there are none."""

    figures: dict[str, Any] | None = None
    missing: str = ""
    """The client's package is not installed."""
    failure: str = ""


def ask(job: str, spec: RunSpec, python: str = "", before: Sequence[str] = ()) -> Answer:
    """Starts a child for `job` (`run`, `load`, `truncate`) and waits for its answer.

    `python`: another interpreter. `before`: a program that starts it, with its options.
    """
    options = [
        part
        for name, value in sys._xoptions.items()
        for part in ("-X", f"{name}={value}" if value is not True else name)
    ]
    command = [*before, python or sys.executable, *options, "-m", "aerolane.bench", "--child", job]
    environment = dict(os.environ)
    if spec.loop == "asyncio":
        environment["AEROSPIKE_NO_UVLOOP"] = "1"
    patience = PATIENCE + spec.warmup + spec.duration + spec.cooldown
    if job == "load":
        patience += spec.keys / LOAD_RATE
    with cores.of_clients(spec.conditions.own_core):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    try:
        output, _ = process.communicate(spec.to_json().encode(), timeout=patience)
    except subprocess.TimeoutExpired:
        return Answer(failure=f"its process did not end within {patience:.0f} s")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    lines = output[:MOST_OUTPUT].splitlines()
    try:
        answer = json.loads(lines[-1])
        return Answer(**answer)
    except (IndexError, ValueError, TypeError):
        return Answer(failure=f"its process ended with status {process.returncode} and no answer")


def serve(job: str) -> None:
    """The child's side: reads the spec from stdin, answers on stdout."""
    # What clients print must not get into the answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    spec = RunSpec.from_json(sys.stdin.read())
    try:
        answer = _do(job, spec)
    except KeyboardInterrupt:
        # The parent got the same signal, and tells.
        os._exit(130)
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    # A client whose threads do not end must not keep the process.
    sys.stderr.flush()
    os._exit(0)


def _do(job: str, spec: RunSpec) -> dict[str, Any]:
    from aerolane.bench.clients.calls import Unsupported
    from aerolane.bench.modes import MODES, Missing
    from aerolane.bench.process import raise_file_limit
    from aerolane.bench.report import report
    from aerolane.bench.runner import Run, truncate

    raise_file_limit()
    try:
        if job == "truncate":
            truncate(MODES[spec.mode], spec)
            return {"figures": {}}
        if spec.program:
            from aerolane.bench.study import programs

            return {"figures": programs.load(spec) if job == "load" else programs.run(spec)}
        run = Run(MODES[spec.mode], spec, loading=job == "load")
        window = run.run()
        if window is not None:
            return {"figures": report(run, window)}
        totals = run.board.totals()
        if totals.errors or totals.timeouts or run.hung:
            messages = "; ".join(run.board.messages)
            return {"failure": f"{totals.errors + totals.timeouts} of {spec.keys} writes failed: {messages}"}
        return {"figures": {"records": totals.writes}}
    except Missing as missing:
        return {"missing": str(missing)}
    except Unsupported as unsupported:
        return {"failure": str(unsupported)}
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {error}"}
