"""Runs a study: a cluster for each condition, a child process for each round."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from aerolane.bench import child
from aerolane.bench.session import LoadError, start
from aerolane.bench.spec import Conditions, RunSpec
from aerolane.bench.study import programs, rust, syscalls
from aerolane.bench.study.cells import Cell, Group, Interpreters
from aerolane.bench.study.groups import Server, groups
from aerolane.bench.study.journal import Journal, Line, Settings

Tell = Callable[[str], None]

# What a round takes beside warm-up and measured time: a process that starts, imports, connects, ends. Seconds.
STARTING = 0.45
# And what a service takes beside that, without and with a model.
SERVICE, MODEL = 2.0, 7.0
# A cluster that starts and is loaded.
LOADING = 3.0
# Whoever loads: a client of ours, which is there in any case.
LOADER = "pac-blocking"


def plan(settings: Settings) -> list[Group]:
    """The groups of a study, those that share a cluster one after the other."""
    base = RunSpec(
        mode=LOADER,
        seeds=settings.hosts,
        keys=settings.keys,
        duration=settings.duration,
        warmup=settings.warmup,
        ticker=False,
        sample_every=10,
    )
    interpreters = None
    if settings.other_python:
        interpreters = Interpreters(settings.python, settings.other_version, settings.other_python)
    servers = tuple(Server(label, hosts) for label, hosts in settings.servers)
    all_groups = groups(base, settings.quick, interpreters, servers)
    found = [group for group in all_groups if group.section in settings.sections]
    order = {section: number for number, section in enumerate(settings.sections)}
    return sorted(found, key=lambda group: (order[group.section], str(_setup(group))))


def _setup(group: Group) -> tuple[str, Conditions, str]:
    """What groups that share a cluster and its records have in common."""
    spec = group.cells[0].spec
    return group.hosts, spec.conditions, "features" if _has_own_records(spec) else spec.bins


def _has_own_records(spec: RunSpec) -> bool:
    return spec.program in programs.FEATURES


def seconds(plan: Iterable[Group], settings: Settings, journal: Journal | None = None) -> float:
    """How long it will take, about."""
    total = 0.0
    for _, shared in groupby(plan, _setup):
        left = [
            cell
            for group in shared
            for cell in group.cells
            for number in range(settings.rounds)
            if not (journal and journal.has(group.cell_id(cell), number))
        ]
        if left:
            total += LOADING + sum(_lasts(cell, settings) for cell in left)
    return total


def _lasts(cell: Cell, settings: Settings) -> float:
    """A round of a cell, seconds."""
    usual = STARTING + settings.warmup + settings.duration
    if cell.counts_calls:
        return usual + 2 * STARTING + syscalls.SHORT + syscalls.LONG
    program = cell.spec.program
    return usual + (MODEL if program.startswith("predict-") else SERVICE if program in programs.SERVICES else 0.0)


def run(plan: list[Group], journal: Journal, tell: Tell) -> None:
    """Measures what the journal does not have yet. Raises `ClusterError` or `LoadError`."""
    settings = journal.settings
    missing: dict[tuple[str, str, str], str] = {}
    for _, shared in groupby(plan, _setup):
        together = [group for group in shared if list(_left(group, journal))]
        if not together:
            continue
        with contextlib.ExitStack() as stack:
            spec = together[0].cells[0].spec
            # Only an embedded cluster can be told to be slow.
            theirs = together[0].hosts or ("" if spec.conditions != Conditions() else settings.hosts)
            seeds = theirs or stack.enter_context(start(spec, settings.nodes)).seeds
            _load(replace(spec, seeds=seeds))
            _load_rust(together, seeds)
            for group in together:
                _group(group, seeds, journal, missing, tell)


def _left(group: Group, journal: Journal) -> Iterator[tuple[int, Cell]]:
    """The rounds of a group that are not there yet. Whoever comes first meets a colder machine; so the order turns."""
    for number in range(journal.settings.rounds):
        for cell in group.cells if number % 2 == 0 else reversed(group.cells):
            if not journal.has(group.cell_id(cell), number):
                yield number, cell


def _load(spec: RunSpec) -> None:
    # On a cluster that is slow, so is the load: the service times hold for it, too, but many writers share them.
    program = spec.program if _has_own_records(spec) else ""
    plain = replace(spec, rate=0.0, current_thread_runtime=False, fast_path=True, pool_loops=0)
    answer = child.ask("load", replace(plain, mode=LOADER, program=program))
    if answer.figures is None:
        raise LoadError(f"the records could not be written: {answer.failure or answer.missing}")


def _load_rust(groups: Iterable[Group], seeds: str) -> None:
    """Their harness has records of its own."""
    specs = [cell.spec for group in groups for cell in group.cells if rust.runs(cell.spec.mode)]
    if not specs or rust.find() is None:
        return
    answer = rust.ask("load", replace(specs[0], seeds=seeds, rate=0.0, batch=1, tasks=128))
    if answer.figures is None:
        raise LoadError(f"the records of the Rust harness could not be written: {answer.failure}")


def _group(group: Group, seeds: str, journal: Journal, missing: dict[tuple[str, str, str], str], tell: Tell) -> None:
    began = time.monotonic()
    failed: set[str] = set()
    for number, cell in _left(group, journal):
        name, needs = group.cell_id(cell), _needs(cell)
        if name in failed:
            continue
        if needs in missing:
            journal.add(Line(name, number, missing=missing[needs]))
            continue
        answer = _round(cell, replace(cell.spec, seeds=seeds))
        journal.add(Line(name, number, answer.figures, answer.missing, answer.failure))
        if answer.missing:
            missing[needs] = answer.missing
            tell(f"{cell.label}: left out: {answer.missing}")
        elif answer.failure:
            failed.add(name)
            tell(f"{name}: failed: {answer.failure}")
    tell(f"{group.id}: {time.monotonic() - began:.0f} s")


def _needs(cell: Cell) -> tuple[str, str, str]:
    """What decides whether a cell can be measured here: its client, its interpreter, and what is around it."""
    program = cell.spec.program
    return (
        cell.spec.mode,
        cell.python,
        "calls" if cell.counts_calls else program if program in programs.SERVICES else "",
    )


def _round(cell: Cell, spec: RunSpec) -> child.Answer:
    def ask(spec: RunSpec, before: Sequence[str]) -> child.Answer:
        if rust.runs(spec.mode):
            return rust.ask("run", spec, before)
        return child.ask("run", spec, cell.python, before)

    return syscalls.measure(spec, ask) if cell.counts_calls else ask(spec, ())
