"""The object that an async call gives: awaitable, a coroutine to asyncio, with the methods of a future."""

import asyncio
import collections.abc
import inspect
import subprocess
import sys

import pytest
from conftest import LOOPS

from aerolane import Key, native
from aerolane.exceptions import RecordNotFoundError

# For calls that are held up until the fault is over.
PATIENT = native.ReadPolicy(total_timeout=60_000)


@pytest.fixture
def keys(client, set_name):
    """Keys of 20 records, the i-th of which holds i."""
    keys = [Key("test", set_name, i) for i in range(20)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i})
    return keys


def value(record):
    return record.bins["i"]


async def until(holds):
    async with asyncio.timeout(50):
        while not holds():
            await asyncio.sleep(0.001)


async def test_kinds_of_results(client, keys, key):
    assert await client.put(keys[0], {"i": 7}) is None
    assert value(await client.get(keys[0])) == 7
    with pytest.raises(RecordNotFoundError):
        await client.get(key)


async def test_it_is_awaitable_and_a_coroutine(client, keys):
    op = client.get(keys[1])
    assert asyncio.iscoroutine(op)
    assert not asyncio.isfuture(op), "asyncio.wait takes nothing that is both"
    assert inspect.isawaitable(op)
    assert isinstance(op, collections.abc.Awaitable)
    assert isinstance(op, collections.abc.Coroutine)
    assert op.get_loop() is asyncio.get_running_loop()
    assert not op.done()
    assert not op.cancelled()
    with pytest.raises(asyncio.InvalidStateError):
        op.result()
    with pytest.raises(asyncio.InvalidStateError):
        op.exception()
    await op
    assert op.done()
    assert op.exception() is None
    assert value(op.result()) == 1


async def test_gather(client, keys, key):
    results = await asyncio.gather(*(client.get(k) for k in keys))
    assert [value(r) for r in results] == list(range(20))
    mixed = await asyncio.gather(client.get(keys[3]), client.get(key), return_exceptions=True)
    assert value(mixed[0]) == 3
    assert isinstance(mixed[1], RecordNotFoundError)
    with pytest.raises(RecordNotFoundError):
        await asyncio.gather(client.get(keys[3]), client.get(key))
    op = client.get(keys[4])
    same = await asyncio.gather(op, op)
    assert same[0] is same[1]


async def test_gather_cancelled(client, keys, cluster):
    with cluster.inject("stall", on="read"):
        ops = [client.get(k, policy=PATIENT) for k in keys]
        both = asyncio.gather(*ops)
        await asyncio.sleep(0.02)
        assert both.cancel()
        with pytest.raises(asyncio.CancelledError):
            await both
        assert all(op.cancelled() for op in ops)


async def test_wait_for_and_timeout(client, keys):
    assert value(await asyncio.wait_for(client.get(keys[5]), 50)) == 5
    async with asyncio.timeout(50):
        assert value(await client.get(keys[6])) == 6


async def test_wait_for_too_late(client, keys, cluster):
    with cluster.inject("stall", on="read"):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get(keys[5], policy=PATIENT), 0.03)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await client.get(keys[5], policy=PATIENT)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get(keys[5], policy=PATIENT), 0)
    assert value(await client.get(keys[6], policy=PATIENT)) == 6


async def test_tasks(client, keys):
    assert value(await asyncio.create_task(client.get(keys[7]))) == 7
    assert value(await asyncio.get_running_loop().create_task(client.get(keys[8]))) == 8
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.get(k)) for k in keys]
    assert [value(t.result()) for t in tasks] == list(range(20))


async def test_task_group_fails(client, keys, key, cluster):
    with pytest.raises(ExceptionGroup) as failure:
        async with asyncio.TaskGroup() as group:
            group.create_task(client.get(key))
    assert isinstance(failure.value.exceptions[0], RecordNotFoundError)

    async def fail():
        await asyncio.sleep(0.02)
        raise ZeroDivisionError

    with cluster.inject("stall", on="read"), pytest.raises(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            slow = [group.create_task(client.get(k, policy=PATIENT)) for k in keys]
            group.create_task(fail())
    assert all(task.cancelled() for task in slow)


async def test_shield(client, keys, cluster):
    assert value(await asyncio.shield(client.get(keys[9]))) == 9
    with cluster.inject("stall", on="read"):
        op = client.get(keys[10], policy=PATIENT)
        outer = asyncio.shield(op)
        await asyncio.sleep(0.01)
        outer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await outer
    assert value(await op) == 10


async def test_as_completed(client, keys):
    seen = [value(await op) for op in asyncio.as_completed([client.get(k) for k in keys])]
    assert sorted(seen) == list(range(20))


async def test_wait_refuses_it_as_it_refuses_coroutines(client, keys):
    op = client.get(keys[0])
    with pytest.raises(TypeError, match="coroutines"):
        await asyncio.wait([op])
    await op


@pytest.mark.parametrize("make", [asyncio.ensure_future, asyncio.create_task], ids=lambda make: make.__name__)
async def test_what_is_made_of_it_goes_wherever_futures_go(client, keys, key, make):
    done, pending = await asyncio.wait({make(client.get(k)) for k in keys})
    assert not pending and sorted(value(future.result()) for future in done) == list(range(20))
    # The same operation, made a future before it is awaited, meanwhile, and afterwards.
    op = client.get(keys[3])
    first = make(op)
    await asyncio.sleep(0)
    second = make(op)
    done, _ = await asyncio.wait({first, second}, return_when=asyncio.ALL_COMPLETED)
    assert [value(future.result()) for future in done] == [3, 3]
    (third,), _ = await asyncio.wait([make(op)])
    assert value(third.result()) == 3
    assert [value(r) for r in await asyncio.gather(make(client.get(keys[1])), client.get(keys[2]))] == [1, 2]
    assert value(await asyncio.wait_for(make(client.get(keys[4])), 50)) == 4
    assert value(await asyncio.shield(make(client.get(keys[5])))) == 5
    futures = [make(client.get(k)) for k in keys]
    assert sorted([value(await each) for each in asyncio.as_completed(futures)]) == list(range(20))
    (failed,), _ = await asyncio.wait({make(client.get(key))})
    assert isinstance(failed.exception(), RecordNotFoundError)


async def test_a_future_made_of_it_can_be_cancelled(client, keys, cluster):
    with cluster.inject("stall", on="read"):
        ops = [client.get(k, policy=PATIENT) for k in keys]
        futures = [asyncio.ensure_future(op) for op in ops]
        # Those of one half have begun to wait, and those of the other have not.
        late = [client.get(k, policy=PATIENT) for k in keys]
        await asyncio.sleep(0.01)
        futures += [asyncio.ensure_future(op) for op in late]
        for future in futures:
            assert future.cancel()
        done, pending = await asyncio.wait(futures)
        assert not pending and all(future.cancelled() for future in done)
        assert all(op.cancelled() for op in ops)
        del late


@pytest.mark.parametrize("factory", ["selector", "uvloop"])
def test_called_outside_of_a_loop(client, keys, factory):
    """It is a coroutine then, which starts where it is run."""
    if factory not in LOOPS:
        pytest.skip("uvloop is not installed")
    op = client.get(keys[11])
    assert not asyncio.isfuture(op)
    assert asyncio.iscoroutine(op)
    assert "not started" in repr(op)
    with asyncio.Runner(loop_factory=LOOPS[factory]) as runner:
        assert value(runner.run(op)) == 11
        event_loop = runner.get_loop()
        assert value(event_loop.run_until_complete(client.get(keys[12]))) == 12
        task = event_loop.create_task(client.get(keys[13]))
        assert value(event_loop.run_until_complete(task)) == 13
        future = asyncio.ensure_future(client.get(keys[14]), loop=event_loop)
        assert value(event_loop.run_until_complete(future)) == 14
        both = [client.get(keys[15]), client.get(keys[16])]

        async def gathered():
            return await asyncio.gather(*both)

        assert [value(r) for r in runner.run(gathered())] == [15, 16]
    assert value(asyncio.run(client.get(keys[17]))) == 17


def test_called_outside_of_a_loop_and_not_started(client, keys):
    op = client.get(keys[0])
    with pytest.raises(RuntimeError, match="event loop"):
        op.get_loop()
    with pytest.raises(RuntimeError, match="event loop"):
        op.send(None)
    with pytest.raises(RuntimeError, match="event loop"):
        op.add_done_callback(print)
    assert op.remove_done_callback(print) == 0
    assert op.cancel()
    assert op.cancelled()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(op)
    op = client.get(keys[0])
    op.close()
    assert op.done()


async def test_awaited_twice_and_from_two_tasks(client, keys, key):
    op = client.get(keys[1])
    assert await op is await op

    async def wait(op):
        return await op

    op = client.get(keys[2])
    first, second = await asyncio.gather(wait(op), wait(op))
    assert first is second and value(first) == 2
    op = client.get(key)
    both = await asyncio.gather(wait(op), wait(op), return_exceptions=True)
    assert both[0] is both[1] and isinstance(both[0], RecordNotFoundError)


async def test_the_same_exception_is_raised_again(client, key):
    op = client.get(key)
    raised = []
    for _ in range(5):
        with pytest.raises(RecordNotFoundError) as failure:
            await op
        raised.append((failure.value, len(inspect.getinnerframes(failure.value.__traceback__))))
    assert all(error is raised[0][0] for error, _ in raised)
    assert raised[0][0] is op.exception()
    assert {frames for _, frames in raised} == {raised[0][1]}, "the traceback grows"
    with pytest.raises(RecordNotFoundError):
        op.result()


async def test_done_callbacks(client, keys, key):
    seen = []
    op = client.get(keys[3])
    op.add_done_callback(seen.append)
    op.add_done_callback(seen.append)
    op.add_done_callback(lambda op: seen.append("removed"))
    removed = seen.count
    op.add_done_callback(removed)
    assert op.remove_done_callback(removed) == 1
    assert op.remove_done_callback(removed) == 0
    await op
    await asyncio.sleep(0.01)
    assert seen == [op, op, "removed"]
    op.add_done_callback(seen.append)
    assert len(seen) == 3, "never called at once"
    await asyncio.sleep(0)
    assert seen[3] is op
    failed = client.get(key)
    failed.add_done_callback(seen.append)
    await until(lambda: len(seen) > 4)
    assert seen[4] is failed and isinstance(failed.exception(), RecordNotFoundError)
    for arguments, named in [((), {}), ((print, print), {}), ((print,), {"where": None})]:
        with pytest.raises(TypeError):
            op.add_done_callback(*arguments, **named)


async def test_callbacks_that_are_compared_by_foreign_code(client, keys):
    """Nothing is lost when comparing fails, or adds a callback."""
    seen = []
    op = client.get(keys[3])

    class Callback:
        def __init__(self, name, compares):
            self.name, self.compares = name, compares

        def __call__(self, op):
            seen.append(self.name)

        def __eq__(self, other):
            return self.compares()

        __hash__ = None

    def fails():
        raise ZeroDivisionError

    def adds():
        op.add_done_callback(lambda op: seen.append("added"))
        return False

    for name, compares in [("first", lambda: False), ("fails", fails), ("last", lambda: True)]:
        op.add_done_callback(Callback(name, compares))
    with pytest.raises(ZeroDivisionError):
        op.remove_done_callback(print)
    op.add_done_callback(Callback("adds", adds))
    with pytest.raises(ZeroDivisionError):
        op.remove_done_callback(print)
    await op
    await until(lambda: len(seen) > 3)
    assert seen == ["first", "fails", "last", "adds"], "asyncio calls each of them, in this order"

    seen.clear()
    op = client.get(keys[3])
    op.add_done_callback(Callback("adds", adds))
    op.add_done_callback(Callback("last", lambda: True))
    assert op.remove_done_callback(print) == 1
    await op
    await until(lambda: len(seen) > 1)
    assert seen == ["adds", "added"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
async def test_eager_tasks(client, keys, key):
    event_loop = asyncio.get_running_loop()
    event_loop.set_task_factory(asyncio.eager_task_factory)
    try:
        assert value(await asyncio.create_task(client.get(keys[4]))) == 4
        results = await asyncio.gather(*(asyncio.create_task(client.get(k)) for k in keys))
        assert [value(r) for r in results] == list(range(20))
        with pytest.raises(RecordNotFoundError):
            await asyncio.create_task(client.get(key))
    finally:
        event_loop.set_task_factory(None)


async def test_coroutine_protocol(client, keys):
    op = client.get(keys[5])
    assert op.send(None) is op
    assert op._asyncio_future_blocking is True
    op._asyncio_future_blocking = False
    with pytest.raises(ZeroDivisionError):
        op.throw(ZeroDivisionError("mine"))
    assert op.cancelled()
    op = client.get(keys[5])
    await until(op.done)
    with pytest.raises(StopIteration) as stop:
        op.send(None)
    assert value(stop.value.value) == 5
    op.close()
    with pytest.raises(KeyError):
        op.throw(KeyError)
    assert value(await op) == 5, "what is over stays as it is"
    with pytest.raises(TypeError):
        type(op)()


async def test_repr(client, keys, key):
    op = client.get(keys[6])
    assert repr(op) == "<aerolane operation 'get', pending>"
    await op
    assert repr(op) == "<aerolane operation 'get', done>"
    op = client.put(keys[6], {"i": 6})
    op.cancel()
    assert repr(op) == "<aerolane operation 'put', cancelled>"
    op = client.get(key)
    await asyncio.wait([asyncio.ensure_future(asyncio.gather(op, return_exceptions=True))])
    assert repr(op) == "<aerolane operation 'get', failed>"
    # Of those that are over at once.
    recordset = await client.query(native.Statement("test", keys[6].set_name))
    op = recordset.partition_filter()
    assert repr(op) == "<aerolane operation 'partition_filter', done>"
    await op
    async with await client.batch_stream([native.BatchReadOp(keys[6])]) as stream:
        async for _ in stream:
            pass
    entering = client.__aenter__()
    assert repr(entering) == "<aerolane operation '__aenter__', done>" and await entering is client
    task = asyncio.create_task(client.get(keys[6]))
    assert "Awaitable" in repr(task)
    await task


@pytest.mark.parametrize("loop_factory_name", list(LOOPS))
def test_never_awaited(seeds, loop_factory_name):
    """In a process of its own: where filters are part of the context (free-threaded builds), those of a test do not
    hold in what the loop calls.
    """
    code = f"""
import asyncio, gc, warnings
from aerolane import Key, native
client = native.new_client_blocking(native.ClientPolicy(), {seeds!r})
key, missing = Key("test", "never", 1), Key("test", "never", "missing")
seen = []
warnings.showwarning = lambda message, category, *more: seen.append((category, str(message)))
async def dropped(call):
    call()
    while not seen:
        await asyncio.sleep(0.01)
        gc.collect()
    (category, text), seen[:] = seen[0], seen[1:]
    assert category is RuntimeWarning and not seen, (category, seen)
    return text
async def main():
    await client.put(key, {{"i": 7}})
    assert await dropped(lambda: client.get(key)) == "aerolane operation 'get' was never awaited"
    assert await dropped(lambda: client.put(key, {{"i": 7}})) == "aerolane operation 'put' was never awaited"
    text = await dropped(lambda: client.get(missing))
    assert text.startswith("aerolane operation 'get' was never awaited: RecordNotFoundError: "), text
    client.get(key).cancel()
    client.get(key).close()
    op = client.get(key)
    op.add_done_callback(lambda op: None)
    await client.get(key)
    del op
    await asyncio.sleep(0.05)
    gc.collect()
    assert not seen, seen
kind = {loop_factory_name!r}
factory = asyncio.SelectorEventLoop if kind == "selector" else __import__(kind).new_event_loop
with asyncio.Runner(loop_factory=factory) as runner:
    runner.run(asyncio.wait_for(main(), 50))
client.close_blocking()
print("fine")
"""
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


def test_never_awaited_outside_of_a_loop(client, keys):
    with pytest.warns(RuntimeWarning, match="aerolane operation 'get' was never awaited"):
        client.get(keys[0])


def test_never_awaited_as_an_error(seeds):
    code = f"""
import asyncio, sys
from aerolane import Key, native
client = native.new_client_blocking(native.ClientPolicy(), {seeds!r})
seen = []
sys.unraisablehook = seen.append
async def main():
    client.put(Key("test", "never", 1), {{"i": 1}})
    while not seen:
        await asyncio.sleep(0.01)
    await client.put(Key("test", "never", 1), {{"i": 1}})
asyncio.run(main())
assert [u.exc_type for u in seen] == [RuntimeWarning], seen
client.close_blocking()
print("fine")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


async def test_errors_before_it_is_sent(client, keys):
    with pytest.raises(TypeError):
        await client.put(keys[0], {"i": object()})
    with pytest.raises(TypeError):
        await client.get("no key")
    assert value(await client.get(keys[0])) == 0
