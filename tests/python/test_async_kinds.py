"""Operations of all kinds are taken by all that takes awaitables."""

import asyncio
import sys
import warnings

import pytest
from conftest import LOOPS

from aerolane import Client, Key, RecordNotFoundError, native

KINDS = ["get", "operate", "batch", "get_many", "put_many", "nothing", "info", "query", "mode", "fails", "stream"]
# As without the GIL: `warnings.catch_warnings` holds for its own context alone.
CONTEXT_AWARE_WARNINGS = getattr(sys.flags, "context_aware_warnings", False)


@pytest.fixture
def make(client, seeds, set_name):
    """`make(kind)`: a function that starts an operation of this kind, and a check of its result."""
    keys = [Key("test", set_name, number) for number in range(5)]
    for number, key in enumerate(keys):
        client.put_blocking(key, {"n": number})
    door = Client(seeds)
    asyncio.run(door.connect())
    session = door.create_session()

    def numbers(records):
        return [record.bins["n"] for record in records] == list(range(5))

    kinds = {
        "get": (lambda: client.get(keys[1]), lambda record: record.bins["n"] == 1),
        "operate": (
            lambda: client.operate(keys[2], [native.Operation.get_bin("n")]),
            lambda record: record.bins == {"n": 2},
        ),
        "batch": (lambda: client.batch_read(keys), lambda rows: numbers(row.record for row in rows)),
        "get_many": (lambda: session.get_many(keys), numbers),
        "put_many": (lambda: session.put_many(keys, {"m": 1}), lambda results: results == [None] * 5),
        "nothing": (lambda: session.get_many([]), lambda results: results == []),
        "info": (lambda: client.info("build"), lambda answers: set(answers) == {"build"}),
        "query": (
            lambda: client.query(native.Statement("test", set_name)),
            lambda records: numbers(sorted(records, key=lambda record: record.bins["n"])),
        ),
        "mode": (lambda: session.is_namespace_sc("test"), lambda mode: mode is False),
        "stream": (
            lambda: client.batch_stream([native.BatchReadOp(key) for key in keys]),
            lambda stream: sorted(place for place, _ in stream) == list(range(5)),
        ),
        # A definite failure, which arrives as a result here.
        "fails": (lambda: client.get(Key("test", set_name, "none")), lambda _: False),
    }
    yield kinds.get
    asyncio.run(door.close())


async def plain(start):
    return await start()


async def gathered(start):
    first, second = await asyncio.gather(start(), start())
    assert type(first) is type(second)
    return first


async def waited_for(start):
    return await asyncio.wait_for(start(), 50)


async def within_a_timeout(start):
    async with asyncio.timeout(50):
        return await start()


async def as_a_task(start):
    return await asyncio.create_task(start())


async def as_a_named_task(start):
    return await asyncio.get_running_loop().create_task(start(), name="named")


async def in_a_group(start):
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(start())
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return task.result()


async def shielded(start):
    return await asyncio.shield(start())


async def as_completed(start):
    for first in asyncio.as_completed([start(), start()]):
        result = await first
    return result


async def as_a_future(start):
    return await asyncio.ensure_future(start())


WAYS = [
    *(plain, gathered, waited_for, within_a_timeout, as_a_task, as_a_named_task, in_a_group, shielded, as_completed),
    as_a_future,
]


def check(kind, fits, run):
    if kind == "fails":
        with pytest.raises(RecordNotFoundError):
            run()
    else:
        assert fits(run())


@pytest.mark.parametrize("loop_factory", LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_takes_awaitables(make, kind, loop_factory):
    start, fits = make(kind)
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        for way in WAYS:
            check(kind, fits, lambda way=way: runner.run(asyncio.wait_for(way(start), 60)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("query", "stream")])
def test_run_where_it_was_called_outside_of_a_loop(make, kind):
    start, fits = make(kind)
    check(kind, fits, lambda: asyncio.run(start()))
    with asyncio.Runner() as runner:
        check(kind, fits, lambda: runner.run(start()))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("nothing", "mode", "stream")])
async def test_cancelled_before_and_after(make, kind):
    start, _ = make(kind)
    op = start()
    assert op.cancel() and op.cancelled()
    with pytest.raises(asyncio.CancelledError):
        await op
    task = asyncio.create_task(start())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.done()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(CONTEXT_AWARE_WARNINGS, reason="the lane's callbacks have a context, and filters, of their own")
async def test_never_awaited(make, kind):
    start, _ = make(kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start()
        async with asyncio.timeout(50):
            # There may be others, of what is collected here by chance.
            while not (told := [one for one in caught if "was never awaited" in str(one.message)]):
                await asyncio.sleep(0.01)
    (warning,) = told
    assert warning.category is RuntimeWarning


async def test_connecting_and_closing(seeds):
    client = await asyncio.create_task(native.new_client(native.ClientPolicy(), seeds))
    async with asyncio.TaskGroup() as group:
        group.create_task(client.close())
    assert not client.is_connected()
    door = Client(seeds)
    await asyncio.gather(door.connect(), door.connect())
    assert door.is_connected
    await asyncio.wait_for(asyncio.shield(door.close()), 50)
    assert not door.is_connected
    with pytest.raises(ConnectionError):
        await asyncio.create_task(native.new_client(native.ClientPolicy(), "127.0.0.1:1"))
    # In a loop it begins at once, whoever waits for it; but nobody must.
    await door.connect()
    with pytest.warns(RuntimeWarning, match="never awaited"):
        door.close()
    async with asyncio.timeout(50):
        while door.is_connected:
            await asyncio.sleep(0.01)


def test_connecting_and_closing_outside_of_a_loop(seeds):
    client = asyncio.run(native.new_client(native.ClientPolicy(), seeds))
    assert client.is_connected()
    asyncio.run(client.close())
    door = Client(seeds)
    asyncio.run(door.connect())
    assert door.is_connected
    asyncio.run(door.close())
    assert not door.is_connected
