"""The command line of `python -m aerolane.bench report`."""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aerolane.bench.cli import checked, hosts, number, whole
from aerolane.bench.process import python_name
from aerolane.bench.session import ClusterError, LoadError
from aerolane.bench.study import documents, measure, page, results, tables
from aerolane.bench.study.cells import NOT_QUICK, SECTIONS
from aerolane.bench.study.environment import Environment
from aerolane.bench.study.journal import Journal, JournalError, Settings

PROGRAM = "python -m aerolane.bench report"
DESCRIPTION = """\
Compares Aerolane with the other installed Aerospike clients in many cases, and writes a report: report.html, report.md
and results.json. Clients take turns, round by round; a difference that the rounds do not support is not reported."""


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The definition of all options."""
    top = argparse.ArgumentParser(
        prog=program, description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    top.add_argument("--quick", action="store_true", help="few cases and short rounds, in less than 4 minutes")
    top.add_argument("--output", type=Path, default=Path("bench-report"), metavar="DIR", help="(bench-report)")
    top.add_argument("--resume", action="store_true", help="continue with the rounds in DIR")
    top.add_argument("--rounds", type=whole(1, 1000), default=None, help="rounds of each case (7; quick 5)")
    top.add_argument(
        "-d", "--duration", type=number(0.1, 3600, "seconds"), default=None, help="measured seconds (5; quick 0.65)"
    )
    top.add_argument("--warmup", type=number(0, 3600, "seconds"), default=None, help="warm-up seconds (2; quick 0.25)")
    top.add_argument("-k", "--keys", type=whole(1000, 1 << 40), default=None, help="records (100000; quick 20000)")
    top.add_argument("--nodes", type=whole(1, 64), default=3, help="nodes of the embedded clusters (3)")
    top.add_argument(
        "-H", "--hosts", type=checked(hosts), default="", help="host:port, separated by commas (embedded clusters)"
    )
    top.add_argument(
        "--other-python",
        type=_python,
        default=("", ""),
        metavar="PATH",
        help="also measure Aerolane on this Python, which must have it installed: python3.14t",
    )
    top.add_argument(
        "--server",
        type=checked(_server),
        action="append",
        default=[],
        metavar="LABEL=HOSTS",
        help="also measure the main cases on this server (can be repeated): 'Aerospike 8.1, SSD file=127.0.0.1:3200'",
    )
    top.add_argument("--label", default="", help="describes the server at --hosts: version, storage, nodes, copies")
    top.add_argument(
        "--sections",
        type=_sections,
        default=None,
        help=f"only these, separated by commas: {', '.join(SECTIONS)} (quick: all but {', '.join(NOT_QUICK)})",
    )
    what = top.add_mutually_exclusive_group()
    what.add_argument("--plan", action="store_true", help="only show what would be measured, and how long it takes")
    what.add_argument("--render", action="store_true", help="only write the report of the rounds in DIR")
    what.add_argument(
        "--tables", type=Path, metavar="FILE", help="only write tables of DIR into FILE, between its markers"
    )
    return top


def _python(path: str) -> tuple[str, str]:
    """A Python that has Aerolane: its path and its version."""
    program = "from aerolane.bench.process import python_name; print(python_name())"
    try:
        found = subprocess.run([path, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise argparse.ArgumentTypeError(f"{path!r} does not run: {error}") from None
    if found.returncode != 0:
        raise argparse.ArgumentTypeError(f"{path!r} has no Aerolane: {found.stderr.strip().rpartition(chr(10))[2]}")
    version = found.stdout.strip()
    if version == python_name():
        raise argparse.ArgumentTypeError(f"{path!r} is Python {version}, as this one")
    return path, version


def _server(text: str) -> tuple[str, str]:
    label, _, given = text.rpartition("=")
    if not label.strip() or not given.strip():
        raise ValueError(f"{text!r}: LABEL=HOSTS expected")
    return label.strip(), hosts(given)


def _sections(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"unknown section {name!r}; there are {', '.join(SECTIONS)}")
    return names


def settings(options: argparse.Namespace) -> Settings:
    """What the options ask for."""
    quick = options.quick
    rounds, duration, warmup, keys = (5, 0.65, 0.25, 20_000) if quick else (7, 5.0, 2.0, 100_000)

    def given(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else value

    return Settings(
        quick=quick,
        rounds=int(given(options.rounds, rounds)),
        duration=given(options.duration, duration),
        warmup=given(options.warmup, warmup),
        keys=int(given(options.keys, keys)),
        nodes=options.nodes,
        hosts=options.hosts,
        label=options.label,
        sections=options.sections or tuple(name for name in SECTIONS if not (quick and name in NOT_QUICK)),
        python=python_name() if options.other_python[0] else "",
        other_python=options.other_python[0],
        other_version=options.other_python[1],
        servers=tuple(options.server),
    )


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Runs a study; returns the exit status.

    0: the report is there. 1: nothing could be measured, or a cell failed. 2: bad options. 130: interrupted.
    """
    top = parser(program)
    options = top.parse_args(arguments)
    if bool(options.hosts) != bool(options.label):
        top.error("--hosts and --label go together: a report has to say which server it was measured on")
    if not (options.plan or options.tables):
        page.require(top.error)
    try:
        return _run(options, shlex.join([*program.split(), *(sys.argv[2:] if arguments is None else arguments)]))
    except (ClusterError, LoadError, JournalError, documents.MarkerError, OSError) as error:
        _tell(f"{program}: {error}")
        return 1
    except KeyboardInterrupt:
        _tell("interrupted; --resume continues with the finished rounds")
        return 130


def _run(options: argparse.Namespace, command: str) -> int:
    folder: Path = options.output
    path = folder / "rounds.jsonl"
    if options.tables:
        documents.insert_file(options.tables, folder)
        return 0
    wanted = settings(options)
    if options.render:
        return _report(Journal.open(path), folder)
    plan = measure.plan(wanted)
    if options.plan:
        for group in plan:
            print(f"{group.id}: {', '.join(cell.label for cell in group.cells)}")
        print(f"{_minutes(measure.seconds(plan, wanted))} for {wanted.rounds} rounds")
        return 0
    environment = Environment.now(command)
    if options.resume:
        journal = Journal.open(path)
        journal.check(environment, wanted)
    else:
        journal = Journal.begin(path, environment, wanted)
    _tell(f"{len(plan)} groups, {_minutes(measure.seconds(plan, wanted, journal))}; rounds are kept in {path}")
    measure.run(plan, journal, _tell)
    return _report(journal, folder)


def _report(journal: Journal, folder: Path) -> int:
    found = results.results(measure.plan(journal.settings), journal)
    _write(folder / "results.json", json.dumps(found, indent=1) + "\n")
    _write(folder / "report.md", tables.document(found))
    _write(folder / "report.html", page.page(found))
    print(f"{folder / 'report.html'}, {folder / 'report.md'}, {folder / 'results.json'}")
    return 1 if any(cell["failure"] for group in found["groups"] for cell in group["cells"]) else 0


def _write(path: Path, text: str) -> None:
    """In one go: whoever looks meanwhile sees the old file or the new one."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _minutes(seconds: float) -> str:
    return f"about {seconds / 60:.0f} minutes" if seconds >= 90 else f"about {seconds:.0f} seconds"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
