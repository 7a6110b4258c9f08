"""The groups of a study that are loops of single calls and batches, in the order of a report."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aerolane.bench import cores
from aerolane.bench.spec import RunSpec
from aerolane.bench.study import program_groups
from aerolane.bench.study.cells import (
    ASYNC,
    CONDITIONS,
    IN_MEMORY,
    LABELS,
    RIVALS,
    RUST_ASYNC,
    RUST_SYNC,
    SDK_ASYNC,
    SDK_SYNC,
    SYNC,
    Cell,
    Group,
    Interpreters,
    label_tasks,
    label_threads,
    side_by_side,
)


@dataclass(frozen=True)
class Server:
    """A server that the main cells are measured on, too, beside that of the study."""

    label: str
    """What it is: version, storage, nodes, copies."""
    hosts: str


def groups(
    base: RunSpec,
    quick: bool,
    interpreters: Interpreters | None = None,
    servers: tuple[Server, ...] = (),
) -> Iterator[Group]:
    """All groups. `base` has what is common to all of them."""
    yield from _single(base, quick)
    yield from _rust(base, quick)
    if interpreters:
        yield from _interpreters(base, quick, interpreters)
    yield from _batches(base, quick)
    yield from _conditions(base, quick)
    for server in servers:
        yield from _server(base, quick, server)
    yield from _layers(base, quick)
    yield from program_groups.patterns(base, quick)
    yield from program_groups.writing(base, quick)
    yield from program_groups.services(base, quick)
    yield from program_groups.syscalls(base, quick)


def _single(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50")
    for threads in (1, 32):
        yield side_by_side("single", label_threads(threads), SYNC[: 3 if quick else 4], replace(spec, threads=threads))
    for tasks in (32,) if quick else (1, 32, 128, 512):
        yield side_by_side("single", label_tasks(tasks), ASYNC[: 2 if quick else 3], replace(spec, tasks=tasks))
    if quick:
        return
    for loops in (4, 8):
        title = f"AsyncPool, {loops} loops of 64 tasks"
        pool = replace(spec, tasks=64, pool_loops=loops)
        yield side_by_side("single", title, ASYNC[:2], pool)
        yield side_by_side("single", f"sessions, {title}", SDK_ASYNC, pool)
        yield side_by_side("single", f"builders, {title}", SDK_ASYNC, replace(pool, fast_path=False))
    yield side_by_side("single", "sessions, 32 threads", SDK_SYNC, replace(spec, threads=32))
    yield side_by_side("single", "sessions, 32 tasks", SDK_ASYNC, replace(spec, tasks=32))
    yield side_by_side("single", "builders, 32 threads", SDK_SYNC, replace(spec, threads=32, fast_path=False))
    yield side_by_side("single", "builders, 32 tasks", SDK_ASYNC, replace(spec, tasks=32, fast_path=False))
    own = replace(spec, threads=32, current_thread_runtime=True)
    yield side_by_side("single", "32 threads with a client each", SYNC[:2], own)
    yield side_by_side("single", "sessions, 32 threads with a client each", SDK_SYNC, own)
    yield side_by_side("single", "builders, 32 threads with a client each", SDK_SYNC, replace(own, fast_path=False))
    keys = replace(spec, prebuilt_keys=base.keys)
    yield side_by_side("single", "32 tasks, keys made before", ASYNC[:2], replace(keys, tasks=32))
    yield side_by_side("single", "32 threads, keys made before", SYNC[:2], replace(keys, threads=32))


def _rust(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50")
    for tasks in (32,) if quick else (1, 32, 512):
        yield side_by_side("rust", label_tasks(tasks), RUST_ASYNC, replace(spec, tasks=tasks))
    for connections in () if quick else (8, 512):
        # The default of aerospike-core, 256, is too few for 512 tasks at one node.
        sized = replace(spec, tasks=512, max_conns_per_node=connections)
        yield side_by_side("rust", f"512 tasks, at most {connections} connections to a node", RUST_ASYNC, sized)
    for threads in () if quick else (1, 32):
        yield side_by_side("rust", label_threads(threads), RUST_SYNC, replace(spec, threads=threads))
    for batch in () if quick else (16, 128):
        read = replace(spec, batch=batch, workload="RU,100", tasks=4, sample_every=1)
        yield side_by_side("rust", f"reads of {batch}, 4 tasks", RUST_ASYNC, read)


def _interpreters(base: RunSpec, quick: bool, interpreters: Interpreters) -> Iterator[Group]:
    """Ours on another Python beside ours on this one, and beside the other client there."""
    spec = replace(base, workload="RU,50")
    cases = {label_tasks(32): replace(spec, mode="pac-async", tasks=32)}
    if not quick:
        cases |= {
            label_tasks(512): replace(spec, mode="pac-async", tasks=512),
            "AsyncPool, 4 loops of 64 tasks": replace(spec, mode="pac-async", tasks=64, pool_loops=4),
            "AsyncPool, 8 loops of 64 tasks": replace(spec, mode="pac-async", tasks=64, pool_loops=8),
            "sessions, AsyncPool, 4 loops of 64 tasks": replace(spec, mode="async", tasks=64, pool_loops=4),
            "builders, AsyncPool, 4 loops of 64 tasks": replace(
                spec, mode="async", tasks=64, pool_loops=4, fast_path=False
            ),
            label_threads(1): replace(spec, mode="pac-blocking", threads=1),
            label_threads(32): replace(spec, mode="pac-blocking", threads=32),
            "sessions, 32 threads": replace(spec, mode="sync", threads=32),
            "builders, 32 threads": replace(spec, mode="sync", threads=32, fast_path=False),
            "32 threads with a client each": replace(
                spec, mode="pac-blocking", threads=32, current_thread_runtime=True
            ),
            "sessions, 32 tasks": replace(spec, mode="async", tasks=32),
            "builders, 32 tasks": replace(spec, mode="async", tasks=32, fast_path=False),
            "builders, half writes, of 32, 32 threads": replace(
                spec, mode="sync", threads=32, batch=32, sample_every=1
            ),
            "builders, half writes, of 32, 4 loops of 64 tasks": replace(
                spec, mode="async", tasks=64, pool_loops=4, batch=32, sample_every=1
            ),
        }
    for title, case in cases.items():
        label = LABELS[case.mode]
        other, this = f"{label} on {interpreters.other}", f"{label} on {interpreters.name}"
        cells = [Cell(other, case, interpreters.path), Cell(this, case)]
        pairs = [(other, this)]
        for rival in RIVALS[case.mode][:1]:
            # Not every client can be installed there.
            theirs = f"{LABELS[rival]} on {interpreters.other}"
            cells.append(Cell(theirs, replace(case, mode=rival), interpreters.path))
            pairs.append((other, theirs))
        yield Group("interpreters", title, tuple(cells), tuple(pairs))


def _batches(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, sample_every=1)
    for batch in (128,) if quick else (1, 4, 16, 32, 64, 128):
        read = replace(spec, batch=batch, workload="RU,100", threads=4, tasks=4)
        yield side_by_side("batch", f"reads of {batch}, 4 threads", SYNC[: 2 if quick else 4], read)
        if not quick:
            yield side_by_side("batch", f"reads of {batch}, 4 tasks", ASYNC, read)
            half = replace(read, workload="RU,50", tasks=32, threads=32, fast_path=False)
            yield side_by_side("batch", f"half writes, of {batch}, 32 tasks", ASYNC[:2], half)
            yield side_by_side("batch", f"half writes, of {batch}, 32 threads", SYNC[:2], half)
            yield side_by_side("batch", f"builders, half writes, of {batch}, 32 threads", SDK_SYNC, half)
            yield side_by_side("batch", f"builders, half writes, of {batch}, 32 tasks", SDK_ASYNC, half)
            pool = replace(half, tasks=64, pool_loops=4)
            yield side_by_side("batch", f"builders, half writes, of {batch}, 4 loops of 64 tasks", SDK_ASYNC, pool)


def _conditions(base: RunSpec, quick: bool) -> Iterator[Group]:
    spec = replace(base, workload="RU,50", sample_every=10)
    for condition, settings in CONDITIONS.items():
        if condition == IN_MEMORY or (quick and condition not in ("200 µs in service", "1 % take 20 ms")):
            continue
        if settings.own_core and not cores.can_be_parted():
            continue
        slow = replace(spec, conditions=settings)
        for tasks in (32,) if quick else (1, 32, 128, 512):
            yield side_by_side("conditions", label_tasks(tasks), ASYNC[:2], replace(slow, tasks=tasks), condition)
        for threads in () if quick else (8,) if settings.own_core else (1, 8, 32):
            yield side_by_side(
                "conditions", label_threads(threads), SYNC[:2], replace(slow, threads=threads), condition
            )
        for tasks in () if quick else (32, 128):
            yield side_by_side(
                "conditions", f"Rust, {label_tasks(tasks)}", RUST_ASYNC, replace(slow, tasks=tasks), condition
            )
        if not quick:
            yield side_by_side(
                "conditions", f"Rust, {label_threads(8)}", RUST_SYNC, replace(slow, threads=8), condition
            )
    for rate in () if quick else (2_000, 5_000, 10_000, 20_000):
        paced = replace(spec, rate=float(rate), tasks=1024, sample_every=1)
        ours = side_by_side("conditions", f"open loop, {rate:,} calls/s", ASYNC[:2], paced)
        rust = side_by_side("conditions", f"Rust, open loop, {rate:,} calls/s", RUST_ASYNC, paced)
        yield from (replace(group, figures=program_groups.OPEN_LOOP) for group in (ours, rust))


def _server(base: RunSpec, quick: bool, server: Server) -> Iterator[Group]:
    """The main cells on another server."""
    spec = replace(base, workload="RU,50", sample_every=10)

    def on_it(group: Group) -> Group:
        return replace(group, hosts=server.hosts)

    for tasks in (32,) if quick else (1, 32, 128, 512):
        yield on_it(side_by_side("conditions", label_tasks(tasks), ASYNC[:2], replace(spec, tasks=tasks), server.label))
    for threads in () if quick else (1, 8, 32):
        yield on_it(
            side_by_side("conditions", label_threads(threads), SYNC[:2], replace(spec, threads=threads), server.label)
        )
    for tasks in () if quick else (32, 128):
        title = f"Rust, {label_tasks(tasks)}"
        yield on_it(side_by_side("conditions", title, RUST_ASYNC, replace(spec, tasks=tasks), server.label))
    if not quick:
        title = f"Rust, {label_threads(8)}"
        yield on_it(side_by_side("conditions", title, RUST_SYNC, replace(spec, threads=8), server.label))


def _layers(base: RunSpec, quick: bool) -> Iterator[Group]:
    """The same calls at each layer; each one is compared with the one below it, down to aerospike-core."""
    spec = replace(base, workload="RU,50", tasks=32, threads=32)
    asynchronous = (
        ("aerospike-core", replace(spec, mode="core-async")),
        ("Rust lanes", replace(spec, mode="aerolane-async")),
        ("native", replace(spec, mode="pac-async")),
        ("session, fast path", replace(spec, mode="async")),
        ("session, builders", replace(spec, mode="async", fast_path=False)),
    )
    floor = Cell("no client: Python and this harness", replace(spec, mode="floor-async"))
    yield _stack("asyncio, 32 tasks", floor, asynchronous[2 if quick else 0 :])
    if quick:
        return
    blocking = (
        ("aerospike-core", replace(spec, mode="core-sync")),
        ("Rust lanes", replace(spec, mode="aerolane-sync")),
        ("native", replace(spec, mode="pac-blocking")),
        ("session, fast path", replace(spec, mode="sync")),
        ("session, builders", replace(spec, mode="sync", fast_path=False)),
    )
    floor = Cell("no client: Python and this harness", replace(spec, mode="floor-sync"))
    yield _stack("32 threads", floor, blocking)


def _stack(title: str, floor: Cell, layers: tuple[tuple[str, RunSpec], ...]) -> Group:
    labels = [label for label, _ in layers]
    cells = (floor, *(Cell(label, spec) for label, spec in layers))
    return Group("layers", title, cells, tuple(zip(labels[1:], labels, strict=False)))
