"""What a study measures: groups of clients that do the same side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from aerolane.bench.spec import Conditions, RunSpec
from aerolane.bench.study.rust import CLIENTS

# Which clients a door of ours is compared with: those that a user would have taken in its place.
RIVALS = {
    "sync": ("peer-sdk-sync",),
    "async": ("peer-sdk-async",),
    "pac-blocking": ("peer-native-blocking", "legacy-sync", "peer-apy-sync"),
    "pac-async": ("peer-native-async", "peer-apy-async"),
    "aerolane-async": ("core-async",),
    "aerolane-local": ("core-async",),
    "aerolane-sync": ("core-sync",),
}
SYNC = ("pac-blocking", "peer-native-blocking", "legacy-sync", "peer-apy-sync")
ASYNC = ("pac-async", "peer-native-async", "peer-apy-async")
RUST_ASYNC, RUST_SYNC = ("aerolane-async", "aerolane-local", "core-async"), ("aerolane-sync", "core-sync")
SDK_SYNC, SDK_ASYNC = ("sync", "peer-sdk-sync"), ("async", "peer-sdk-async")

# What a client is called in a report.
LABELS = {
    "sync": "aerolane.sync",
    "async": "aerolane",
    "pac-blocking": "aerolane.native, blocking",
    "pac-async": "aerolane.native",
    "peer-sdk-sync": "aerospike-sdk, sync",
    "peer-sdk-async": "aerospike-sdk",
    "peer-native-blocking": "aerospike-native, blocking",
    "peer-native-async": "aerospike-native",
    "peer-apy-sync": "aerospike-py, sync",
    "peer-apy-async": "aerospike-py",
    "legacy-sync": "aerospike (C client)",
    **CLIENTS,
}

SECTIONS = {
    "single": "One record per call",
    "rust": "Rust clients",
    "interpreters": "Another Python",
    "batch": "Batches",
    "conditions": "Slower servers and networks",
    "layers": "What each layer costs",
    "patterns": "Concurrency patterns",
    "writing": "Writing in bulk",
}

# Of a conditions' group: how a cluster that is as fast as it can be is called.
IN_MEMORY = "memory"


@dataclass(frozen=True)
class Cell:
    """One client doing one thing."""

    label: str
    spec: RunSpec
    python: str = ""
    """The path of another interpreter than the one that the study runs on."""


@dataclass(frozen=True)
class Interpreters:
    """The Python that a study runs on, and another one that ours is measured on, too."""

    name: str
    other: str
    """Its version, as `3.14.2t`."""
    path: str


@dataclass(frozen=True)
class Group:
    """Cells that are measured in turn, round by round, on one cluster."""

    section: str
    title: str
    cells: tuple[Cell, ...]
    pairs: tuple[tuple[str, str], ...]
    """Labels of what is compared: ours, then the other."""
    condition: str = IN_MEMORY
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of some labels, what figures do not show: columns and texts."""

    @property
    def id(self) -> str:
        """Its name in `results.json`."""
        return f"{self.section}: {self.title}, {self.condition}"

    def cell_id(self, cell: Cell) -> str:
        """The name of a cell in `results.json`."""
        return f"{self.id}: {cell.label}"


def _group(section: str, title: str, modes: tuple[str, ...], spec: RunSpec, condition: str = IN_MEMORY) -> Group:
    """The same run with several modes; each of ours is compared with its rivals."""
    cells = tuple(Cell(LABELS[mode], replace(spec, mode=mode)) for mode in modes)
    pairs = tuple((LABELS[mode], LABELS[rival]) for mode in modes for rival in RIVALS.get(mode, ()) if rival in modes)
    return Group(section, title, cells, pairs, condition)


# Conditions that any machine can have; their texts are those of the embedded cluster.
CONDITIONS = {
    IN_MEMORY: Conditions(),
    "50 µs in service": Conditions("read=50us,write=50us", "64"),
    "200 µs in service": Conditions("read=200us,write=200us", "64"),
    "1,000 µs in service": Conditions("read=1ms,write=1ms", "64"),
    "300 µs network latency": Conditions(latency="300us"),
    "1 % take 20 ms": Conditions("read=99%:50us+1%:20ms,write=99%:50us+1%:20ms", "64"),
}


def groups(base: RunSpec, quick: bool, embedded: bool, interpreters: Interpreters | None = None) -> Iterator[Group]:
    """All groups. `base` has what is common to all of them; slower clusters are only had where one is started."""
    yield from _single(base, quick)
    yield from _rust(base, quick)
    if interpreters:
        yield from _interpreters(base, quick, interpreters)
    yield from _batches(base, quick)
    if embedded:
        yield from _conditions(base, quick)
    yield from _layers(base)
    yield from _patterns(base, quick)
    yield from _writing(base, quick)


def _tasks(tasks: int) -> str:
    return f"{tasks} task{'s' * (tasks != 1)}"


def _threads(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"


def _single(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50")
    for threads in (1, 32):
        yield _group("single", _threads(threads), SYNC[: 3 if quick else 4], replace(spec, threads=threads))
    for tasks in (32,) if quick else (1, 32, 128, 512):
        yield _group("single", _tasks(tasks), ASYNC[: 2 if quick else 3], replace(spec, tasks=tasks))
    if quick:
        return
    for loops in (4, 8):
        title = f"AsyncPool, {loops} loops of 64 tasks"
        yield _group("single", title, ASYNC[:2], replace(spec, tasks=64, pool_loops=loops))
    yield _group("single", "sessions, 32 threads", SDK_SYNC, replace(spec, threads=32))
    yield _group("single", "sessions, 32 tasks", SDK_ASYNC, replace(spec, tasks=32))
    yield _group("single", "builders, 32 threads", SDK_SYNC, replace(spec, threads=32, fast_path=False))
    yield _group("single", "builders, 32 tasks", SDK_ASYNC, replace(spec, tasks=32, fast_path=False))
    own = replace(spec, threads=32, current_thread_runtime=True)
    yield _group("single", "32 threads with a client each", SYNC[:2], own)
    keys = replace(spec, prebuilt_keys=base.keys)
    yield _group("single", "32 tasks, keys made before", ASYNC[:2], replace(keys, tasks=32))


def _rust(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50")
    for tasks in (32,) if quick else (1, 32, 512):
        yield _group("rust", _tasks(tasks), RUST_ASYNC, replace(spec, tasks=tasks))
    for threads in () if quick else (1, 32):
        yield _group("rust", _threads(threads), RUST_SYNC, replace(spec, threads=threads))
    for batch in () if quick else (16, 128):
        read = replace(spec, batch=batch, workload="RU,100", tasks=4, sample_every=1)
        yield _group("rust", f"reads of {batch}, 4 tasks", RUST_ASYNC, read)


def _interpreters(base: RunSpec, quick: bool, interpreters: Interpreters) -> Iterator[Group]:
    """Ours on another Python beside ours on this one."""
    spec = replace(base, workload="RU,50")
    cases = {_tasks(32): replace(spec, mode="pac-async", tasks=32)}
    if not quick:
        cases |= {
            _tasks(512): replace(spec, mode="pac-async", tasks=512),
            "AsyncPool, 4 loops of 64 tasks": replace(spec, mode="pac-async", tasks=64, pool_loops=4),
            _threads(1): replace(spec, mode="pac-blocking", threads=1),
            _threads(32): replace(spec, mode="pac-blocking", threads=32),
            "sessions, 32 tasks": replace(spec, mode="async", tasks=32),
            "builders, 32 tasks": replace(spec, mode="async", tasks=32, fast_path=False),
        }
    for title, case in cases.items():
        label = LABELS[case.mode]
        other, this = f"{label} on {interpreters.other}", f"{label} on {interpreters.name}"
        cells = (Cell(other, case, interpreters.path), Cell(this, case))
        yield Group("interpreters", title, cells, ((other, this),))


def _batches(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, sample_every=1)
    for batch in (128,) if quick else (1, 4, 16, 32, 64, 128):
        read = replace(spec, batch=batch, workload="RU,100", threads=4, tasks=4)
        yield _group("batch", f"reads of {batch}, 4 threads", SYNC[: 2 if quick else 4], read)
        if not quick:
            yield _group("batch", f"reads of {batch}, 4 tasks", ASYNC, read)
            yield _group(
                "batch", f"half writes, of {batch}, 32 tasks", ASYNC[:2], replace(read, workload="RU,50", tasks=32)
            )


def _conditions(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50", sample_every=10)
    for condition, settings in CONDITIONS.items():
        if condition == IN_MEMORY or (quick and condition not in ("200 µs in service", "1 % take 20 ms")):
            continue
        slow = replace(spec, conditions=settings)
        for tasks in (32,) if quick else (1, 32, 128, 512):
            yield _group("conditions", _tasks(tasks), ASYNC[:2], replace(slow, tasks=tasks), condition)
        for threads in () if quick else (1, 8, 32):
            yield _group("conditions", _threads(threads), SYNC[:2], replace(slow, threads=threads), condition)
        for tasks in () if quick else (32, 128):
            yield _group("conditions", f"Rust, {_tasks(tasks)}", RUST_ASYNC, replace(slow, tasks=tasks), condition)
        if not quick:
            yield _group("conditions", f"Rust, {_threads(8)}", RUST_SYNC, replace(slow, threads=8), condition)
    for rate in () if quick else (2_000, 5_000, 10_000, 20_000):
        paced = replace(spec, rate=float(rate), tasks=1024, sample_every=1)
        yield _group("conditions", f"open loop, {rate:,} calls/s", ASYNC[:2], paced)
        yield _group("conditions", f"Rust, open loop, {rate:,} calls/s", RUST_ASYNC, paced)


def _layers(base: RunSpec) -> Iterator[Group]:
    """The same calls at each layer of the Python package. There is nothing to compare them with but each other."""
    spec = replace(base, workload="RU,50", tasks=32)
    cells = (
        Cell("no client: Python and this harness", replace(spec, mode="floor-async")),
        Cell("native", replace(spec, mode="pac-async")),
        Cell("session, fast path", replace(spec, mode="async")),
        Cell("session, builders", replace(spec, mode="async", fast_path=False)),
    )
    yield Group("layers", "asyncio, 32 tasks", cells, ())


def _program(name: str, mode: str, base: RunSpec, label: str = "") -> Cell:
    return Cell(label or f"{LABELS[mode]}, {name}", replace(base, mode=mode, program=name))


def _patterns(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,100", sample_every=1)
    for name in ("gather", "queue") if quick else ("gather", "queue", "chains", "unthrottled"):
        for width in (120,) if quick or name != "chains" else (120, 250, 500, 5_000):
            wide = replace(spec, tasks=20_000 if name == "unthrottled" else width)
            ours, theirs = _program(name, "pac-async", wide), _program(name, "peer-native-async", wide)
            yield Group("patterns", f"{name} of {wide.tasks:,}", (ours, theirs), ((ours.label, theirs.label),))
    # What we have beside the patterns that one writes by hand with the other client.
    wide = replace(spec, tasks=120)
    ours, theirs = _program("execute_concurrent", "pac-async", wide), _program("queue", "peer-native-async", wide)
    yield Group("patterns", "execute_concurrent of 120 beside a queue", (ours, theirs), ((ours.label, theirs.label),))
    for threads in () if quick else (1, 2, 4, 8, 16):
        yield _group("patterns", _threads(threads), SYNC[:2], replace(base, workload="RU,100", threads=threads))


def _known(outcome: str, retries: str, backpressure: str) -> dict[str, str]:
    return {"outcome per record": outcome, "retries": retries, "backpressure": backpressure}


def _batch_loop(mode: str, spec: RunSpec) -> Cell:
    return Cell(f"batches of {spec.batch}, {LABELS[mode]}", replace(spec, mode=mode))


def _writing(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,0", bins="S200", sample_every=1)
    batches = replace(spec, batch=256, tasks=8, threads=4)
    writers = [
        _program("writer", "pac-async", spec, "writer, asyncio"),
        _program("writer-forget", "pac-async", spec, "writer, failures only"),
        _program("writer", "pac-blocking", spec, "writer, blocking"),
    ]
    loops = [
        Cell("512 single puts", replace(spec, mode="pac-async", tasks=512)),
        *(_batch_loop(mode, batches) for mode in ("pac-async", "peer-native-async")),
    ]
    if not quick:
        loops += [_batch_loop(mode, batches) for mode in ("legacy-sync", "peer-apy-async", "peer-native-blocking")]
    by_hand = _known("by hand", "the client's, of a whole batch", "by hand")
    notes = {cell.label: by_hand for cell in loops}
    notes |= {writer.label: _known("yes", "of a record, by class", "yes") for writer in writers}
    notes["writer, failures only"] = _known("of failures", "of a record, by class", "yes")
    notes["512 single puts"] = _known("yes", "the client's, of a record", "by hand")
    pairs = [("writer, asyncio", loop.label) for loop in loops]
    pairs += [("writer, asyncio", "writer, failures only"), ("writer, blocking", "writer, asyncio")]
    yield Group("writing", "records of 200 bytes", (*writers, *loops), tuple(pairs), notes=notes)
