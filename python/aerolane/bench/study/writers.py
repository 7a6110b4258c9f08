"""Writing in bulk: our writers in a closed loop, and records that come one at a time, ours beside loops by hand."""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from aerolane.bench.clients.calls import Unsupported
from aerolane.bench.meter import Meter
from aerolane.bench.report import Report
from aerolane.bench.spec import RunSpec

# Keys are spread over the set by a step that has no divisor in common with a number of keys that people give.
STEP = 1_000_003
# Records that come one at a time: so many a second, if a run does not say.
PACE = 1_000
# A call of `put_many` gets so many records.
PART = 1_000
# A loop by hand sends what has come in this time, or so many records: as our writers do by default.
LINGER, MOST = 0.001, 256


def _keys(spec: RunSpec) -> Iterator[Any]:
    from aerolane.native import Key

    return (
        Key.from_int_user_key(spec.namespace, spec.set_name, number * STEP % spec.keys) for number in itertools.count()
    )


def _counted(writer: Any) -> Report:
    """What became of all records, warm-up included. To be called after a flush."""
    counted = writer.metrics()
    return {"errors": counted["failed"], "retries": counted["retries"]}


def _confirmed(writer: Any) -> Callable[[], int]:
    return lambda: int(writer.progress().ok)


def _look(outstanding: deque[Any], meter: Meter) -> None:
    """Takes the outcomes that are there. Their times are from hand-over to outcome, whenever they are looked at."""
    while outstanding and outstanding[0].done():
        outcome = outstanding.popleft()
        if outcome.exception() is None and meter.measures:
            meter.latencies.append(int(outcome.took * 1e9))


async def writer(spec: RunSpec, client: Any, failures_only: bool = False) -> Report:
    """Each outcome is looked at once it is there, as a program does that has to know."""
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    async with client.native().writer(failures_only=failures_only) as writer:
        meter = Meter(spec, count=_confirmed(writer))
        for number, key in enumerate(_keys(spec)):
            outcome = await writer.put(key, bins)
            if not failures_only:
                outstanding.append(outcome)
                _look(outstanding, meter)
            if number % 64 == 0 and not meter.goes_on():
                break
        figures = meter.figures()
        await writer.flush()
    return figures | _counted(writer)


async def forgetting(spec: RunSpec, client: Any) -> Report:
    """Only failures have outcomes."""
    return await writer(spec, client, failures_only=True)


async def many(spec: RunSpec, client: Any) -> Report:
    """A call for each part of the records. The outcomes of a part are looked at once all of them are there."""
    bins = spec.payload().bins(0)
    records = ((key, bins) for key in _keys(spec))
    outstanding: deque[Any] = deque()
    async with client.native().writer() as writer:
        meter = Meter(spec, count=_confirmed(writer))
        while meter.goes_on():
            outstanding.append(await writer.put_many(itertools.islice(records, PART)))
            while outstanding and outstanding[0].done():
                outstanding.popleft().raise_for_failures()
        figures = meter.figures()
        await writer.flush()
        for outcomes in outstanding:
            outcomes.raise_for_failures()
    return figures | _counted(writer)


def blocking_writer(spec: RunSpec, client: Any, failures_only: bool = False) -> Report:
    """The same for code without asyncio."""
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    with client.native().writer_blocking(failures_only=failures_only) as writer:
        meter = Meter(spec, count=_confirmed(writer))
        for number, key in enumerate(_keys(spec)):
            outcome = writer.put(key, bins)
            if not failures_only:
                outstanding.append(outcome)
                _look(outstanding, meter)
            if number % 64 == 0 and not meter.goes_on():
                break
        figures = meter.figures()
        writer.flush()
        figures |= _counted(writer)
    return figures


def blocking_forgetting(spec: RunSpec, client: Any) -> Report:
    """Only failures have outcomes."""
    return blocking_writer(spec, client, failures_only=True)


# Records that come one at a time: how long does each one wait until it is known to be written?


async def paced_writer(spec: RunSpec, client: Any) -> Report:
    """A writer; the time of a record is from hand-over to outcome."""
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    keys = _keys(spec)
    async with client.native().writer() as writer:
        meter = Meter(spec, count=_confirmed(writer))

        async def came() -> None:
            outstanding.append(await writer.put(next(keys), bins))
            _look(outstanding, meter)

        await _one_at_a_time(spec, meter, came)
        await writer.flush()
        _look(outstanding, meter)
        figures = meter.figures()
    return figures | _counted(writer)


def blocking_paced_writer(spec: RunSpec, client: Any) -> Report:
    """The same for code without asyncio."""
    bins = spec.payload().bins(0)
    outstanding: deque[Any] = deque()
    with client.native().writer_blocking() as writer:
        meter = Meter(spec, count=_confirmed(writer))
        keys = _keys(spec)

        def came() -> None:
            outstanding.append(writer.put(next(keys), bins))
            _look(outstanding, meter)

        _blocking_one_at_a_time(spec, meter, came)
        writer.flush()
        _look(outstanding, meter)
        figures = meter.figures()
        figures |= _counted(writer)
    return figures


def blocking_paced_puts(spec: RunSpec, client: Any) -> Report:
    """A put for each record, on one thread."""
    calls = client.calls()
    bins, put = spec.payload().bins(0), calls.names["put"]
    make_key = _maker(spec, client)
    meter = Meter(spec)
    count = itertools.count()

    def came() -> None:
        began = time.perf_counter_ns()
        try:
            put(make_key(next(count)), bins)
        except Exception as error:
            meter.failed(error)
            return
        meter.done += 1
        if meter.measures:
            meter.latencies.append(time.perf_counter_ns() - began)

    _blocking_one_at_a_time(spec, meter, came)
    return meter.figures()


async def paced_puts(spec: RunSpec, client: Any) -> Report:
    """A put for each record, at once."""
    put = client.calls().names["put"]
    bins = spec.payload().bins(0)
    make_key = _maker(spec, client)
    meter = Meter(spec)
    running: set[asyncio.Task[None]] = set()

    async def write(number: int) -> None:
        began = time.perf_counter_ns()
        try:
            await put(make_key(number), bins)
        except Exception as error:
            meter.failed(error)
            return
        meter.done += 1
        if meter.measures:
            meter.latencies.append(time.perf_counter_ns() - began)

    count = itertools.count()

    async def came() -> None:
        task = asyncio.create_task(write(next(count)))
        running.add(task)
        task.add_done_callback(running.discard)

    await _one_at_a_time(spec, meter, came)
    await asyncio.gather(*running)
    return meter.figures()


async def paced_batches(spec: RunSpec, client: Any) -> Report:
    """What has come in a few milliseconds goes out as a batch: what people write by hand. No record is repeated."""
    write_many = _batch_writer(spec, client)
    bins = spec.payload().bins(0)
    make_key = _maker(spec, client)
    meter = Meter(spec)
    waiting: list[tuple[int, int]] = []
    running: set[asyncio.Task[None]] = set()
    timer: asyncio.TimerHandle | None = None
    count = itertools.count()

    async def write(batch: list[tuple[int, int]]) -> None:
        try:
            await write_many([make_key(number) for number, _ in batch], [bins] * len(batch))
        except Exception as error:
            meter.failed(error)
            return
        ended = time.perf_counter_ns()
        meter.done += len(batch)
        if meter.measures:
            meter.latencies += [ended - came for _, came in batch]

    def send() -> None:
        nonlocal timer, waiting
        if timer:
            timer.cancel()
        batch, waiting, timer = waiting, [], None
        if batch:
            task = asyncio.create_task(write(batch))
            running.add(task)
            task.add_done_callback(running.discard)

    async def came() -> None:
        nonlocal timer
        waiting.append((next(count), time.perf_counter_ns()))
        if len(waiting) >= MOST:
            send()
        elif timer is None:
            timer = asyncio.get_running_loop().call_later(LINGER, send)

    await _one_at_a_time(spec, meter, came)
    send()
    await asyncio.gather(*running)
    return meter.figures()


def _maker(spec: RunSpec, client: Any) -> Callable[[int], Any]:
    """Makes the keys of a client."""
    make = client.calls().names.get("make_key")

    def key(number: int) -> Any:
        place = number * STEP % spec.keys
        return make(spec.namespace, spec.set_name, place) if make else (spec.namespace, spec.set_name, str(place))

    return key


def _batch_writer(spec: RunSpec, client: Any) -> Callable[[list[Any], list[Any]], Any]:
    """A batch write of a client."""
    write = client.calls().names.get("batch_write")
    if write is None:
        raise Unsupported("it has no batch writes")
    if spec.mode.startswith("peer-apy-"):
        return lambda keys, rows: write(list(zip(keys, rows, strict=True)))
    return lambda keys, rows: write(keys, rows)


async def _one_at_a_time(spec: RunSpec, meter: Meter, came: Callable[[], Any]) -> None:
    """Calls `came` for each record that is due. Records that the loop is late for come at once: their own times do not
    contain that."""
    due, gap = time.perf_counter(), 1 / (spec.rate or PACE)
    while meter.goes_on():
        await came()
        due += gap
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


def _blocking_one_at_a_time(spec: RunSpec, meter: Meter, came: Callable[[], None]) -> None:
    """The same on a thread."""
    due, gap = time.perf_counter(), 1 / (spec.rate or PACE)
    while meter.goes_on():
        came()
        due += gap
        time.sleep(max(0.0, due - time.perf_counter()))
