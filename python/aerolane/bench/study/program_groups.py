"""The groups of a study that are programs: patterns, writers, services, and counts of system calls."""

from collections.abc import Iterator
from dataclasses import replace

from aerolane.bench.spec import RunSpec
from aerolane.bench.study.cells import (
    ASYNC,
    LABELS,
    RUST_ASYNC,
    RUST_SYNC,
    SYNC,
    Cell,
    Group,
    label_tasks,
    label_threads,
    side_by_side,
)

# What is compared of a service: its tail matters more than that of a loop, and a round has fewer samples.
OF_SERVICES = ("tps", "client_cpu_us_per_op", "p50_us", "p95_us", "p99_us")
# The same where something comes as often as it is said to.
OPEN_LOOP = ("client_cpu_us_per_op", "p50_us", "p99_us")
OF_CALLS = ("syscalls_per_op", "voluntary_switches_per_op")


def _program(name: str, mode: str, base: RunSpec, label: str = "") -> Cell:
    return Cell(label or f"{LABELS[mode]}, {name}", replace(base, mode=mode, program=name))


def patterns(base: RunSpec, quick: bool) -> Iterator[Group]:
    """What people write to have many calls in flight."""
    spec = replace(base, workload="RU,100", sample_every=1)
    for name in ("gather", "queue") if quick else ("gather", "queue", "chains", "unthrottled"):
        for width in (120,) if quick or name != "chains" else (120, 250, 500, 5_000):
            wide = replace(spec, tasks=20_000 if name == "unthrottled" else width)
            ours, theirs = _program(name, "pac-async", wide), _program(name, "peer-native-async", wide)
            yield Group("patterns", f"{name} of {wide.tasks:,}", (ours, theirs), ((ours.label, theirs.label),))
    # What we have beside the patterns that one writes by hand with the other client.
    for ours_name in (
        ("execute_concurrent_with_args",) if quick else ("execute_concurrent", "execute_concurrent_with_args")
    ):
        wide = replace(spec, tasks=120)
        ours, theirs = _program(ours_name, "pac-async", wide), _program("queue", "peer-native-async", wide)
        pairs = ((ours.label, theirs.label),)
        yield Group("patterns", f"{ours_name} of 120 beside a queue", (ours, theirs), pairs)
    for count in () if quick else (1, 2, 4, 8):
        several = replace(spec, tasks=120, threads=count)
        cells = tuple(_program("processes", mode, several, LABELS[mode]) for mode in ("pac-async", "peer-native-async"))
        title = f"{count} process{'es' * (count != 1)} with a queue of 120"
        yield Group("patterns", title, cells, ((cells[0].label, cells[1].label),))
    for threads in () if quick else (1, 2, 4, 8, 16):
        yield side_by_side(
            "patterns", label_threads(threads), SYNC[:2], replace(base, workload="RU,100", threads=threads)
        )


def _known(outcome: str, retries: str, backpressure: str) -> dict[str, str]:
    return {"outcome per record": outcome, "retries": retries, "backpressure": backpressure}


def _batch_loop(mode: str, spec: RunSpec) -> Cell:
    return Cell(f"batches of {spec.batch}, {LABELS[mode]}", replace(spec, mode=mode))


def writing(base: RunSpec, quick: bool) -> Iterator[Group]:
    """Many records, as fast as they go and one at a time."""
    spec = replace(base, workload="RU,0", bins="S200", sample_every=1)
    yield _bulk(spec, quick)
    if not quick:
        yield _one_at_a_time(spec)


# What figures do not show of a loop that somebody writes by hand.
BY_HAND = _known("by hand", "the client's, of a whole batch", "by hand")
OF_WRITER = _known("yes", "of a record, by class", "yes")
OF_PUTS = _known("yes", "the client's, of a record", "by hand")


def _bulk(spec: RunSpec, quick: bool) -> Group:
    batches = replace(spec, batch=256, tasks=8, threads=4)
    writers = [
        _program("writer", "pac-async", spec, "writer, asyncio"),
        _program("writer-forget", "pac-async", spec, "writer, failures only"),
        _program("writer", "pac-blocking", spec, "writer, blocking"),
    ]
    if not quick:
        writers.append(_program("writer-forget", "pac-blocking", spec, "writer, blocking, failures only"))
        writers.append(_program("writer-many", "pac-async", spec, "writer, put_many"))
    loops = [
        Cell("512 single puts", replace(spec, mode="pac-async", tasks=512)),
        *(_batch_loop(mode, batches) for mode in ("pac-async", "peer-native-async")),
    ]
    if not quick:
        loops += [_batch_loop(mode, batches) for mode in ("legacy-sync", "peer-apy-async", "peer-native-blocking")]
    notes = {cell.label: BY_HAND for cell in loops} | {"512 single puts": OF_PUTS}
    notes |= {writer.label: OF_WRITER for writer in writers if "failures only" not in writer.label}
    forgetting = OF_WRITER | {"outcome per record": "of failures"}
    notes |= {writer.label: forgetting for writer in writers if "failures only" in writer.label}
    pairs = [("writer, asyncio", loop.label) for loop in loops]
    pairs += [("writer, asyncio", "writer, failures only"), ("writer, blocking", "writer, asyncio")]
    if not quick:
        pairs.append(("writer, blocking", "writer, blocking, failures only"))
        others = [*(loop.label for loop in loops[:3]), "writer, asyncio", "writer, failures only"]
        pairs += [("writer, put_many", other) for other in others]
    # A writer takes records until its queue is full: how long they wait there says nothing.
    figures = ("tps", "client_cpu_us_per_op")
    return Group("writing", "records of 200 bytes", (*writers, *loops), tuple(pairs), notes=notes, figures=figures)


def _one_at_a_time(spec: RunSpec) -> Group:
    """How long a record takes from hand-over until it is known to be written."""
    paced = replace(spec, rate=1_000.0)
    ours = _program("paced-writer", "pac-async", paced, "writer, asyncio")
    blocking = _program("paced-writer", "pac-blocking", paced, "writer, blocking")
    others = [
        _program("paced-puts", mode, paced, f"puts at once, {LABELS[mode]}")
        for mode in ("pac-async", "peer-native-async", "legacy-sync")
    ]
    others += [
        _program("paced-batches", mode, paced, f"batches of 1 ms, {LABELS[mode]}")
        for mode in ("peer-native-async", "peer-apy-async")
    ]
    notes = {ours.label: OF_WRITER, blocking.label: OF_WRITER}
    notes |= {cell.label: OF_PUTS if cell.spec.program == "paced-puts" else BY_HAND for cell in others}
    pairs = (*((ours.label, other.label) for other in others), (blocking.label, others[2].label))
    title = "1,000 records a second, one at a time"
    return Group("writing", title, (ours, blocking, *others), pairs, notes=notes, figures=OPEN_LOOP)


def services(base: RunSpec, quick: bool) -> Iterator[Group]:
    """Reads of nine sets: in a loop, behind HTTP, and before a model."""
    spec = replace(base, workload="RU,100", sample_every=1, threads=10, tasks=10)
    for batch in (200,) if quick else (50, 200):
        yield _nine_sets(replace(spec, batch=batch))
    for users in (10,) if quick else (5, 10, 50, 200):
        yield _service("features-gather", f"service, {users} users", replace(spec, batch=50, tasks=users))
    for way in ("single",) if quick else ("single", "gather", "merge"):
        title = f"service and model, {way}, 10 users"
        yield _service(f"predict-{way}", title, replace(spec, batch=200))
    if not quick:
        title = "service and model, single, up to 50 users"
        yield _service("predict-ramp-single", title, replace(spec, batch=200, tasks=50))


def _nine_sets(spec: RunSpec) -> Group:
    modes = ("pac-async", "pac-blocking", "legacy-sync", "peer-apy-async", "peer-native-async")
    cells = [_program("nine-sets", mode, spec, LABELS[mode]) for mode in modes]
    wrapped = _program("nine-sets-executor", "legacy-sync", spec, "aerospike (C client), in an executor")
    ours = LABELS["pac-async"]
    pairs = [(ours, cell.label) for cell in (*cells[2:], wrapped)] + [(LABELS["pac-blocking"], LABELS["legacy-sync"])]
    title = f"nine sets, reads of {spec.batch}, 10 at a time"
    return Group("services", title, (*cells, wrapped), tuple(pairs))


def _service(program: str, title: str, spec: RunSpec) -> Group:
    """A request is what counts; it reads records of nine sets."""
    modes = ("pac-async", "legacy-sync", "peer-apy-async", "peer-native-async")
    cells = tuple(_program(program, mode, spec, LABELS[mode]) for mode in modes)
    pairs = tuple((cells[0].label, cell.label) for cell in cells[1:])
    return Group("services", title, cells, pairs, unit="request", figures=OF_SERVICES)


def syscalls(base: RunSpec, quick: bool) -> Iterator[Group]:
    """System calls of the main cells, counted from outside."""
    spec = replace(base, workload="RU,50")
    cases = (
        [(label_tasks(32), ASYNC[:2], replace(spec, tasks=32))]
        if quick
        else [
            *((label_threads(threads), SYNC, replace(spec, threads=threads)) for threads in (1, 32)),
            *((label_tasks(tasks), ASYNC, replace(spec, tasks=tasks)) for tasks in (1, 32, 512)),
            *((f"Rust, {label_tasks(tasks)}", RUST_ASYNC, replace(spec, tasks=tasks)) for tasks in (32, 512)),
            (f"Rust, {label_threads(32)}", RUST_SYNC, replace(spec, threads=32)),
        ]
    )
    for title, modes, case in cases:
        group = side_by_side("syscalls", title, modes, case)
        cells = tuple(replace(cell, counts_calls=True) for cell in group.cells)
        yield replace(group, cells=cells, figures=OF_CALLS)
