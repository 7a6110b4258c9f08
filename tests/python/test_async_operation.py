"""The object that an async call gives: awaitable, Future-like and Coroutine-like at once."""

import asyncio
import collections.abc
import gc
import inspect
import subprocess
import sys
import warnings

import pytest

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


async def test_it_is_awaitable_future_and_coroutine(client, keys):
    op = client.get(keys[1])
    assert asyncio.isfuture(op)
    assert asyncio.iscoroutine(op)
    assert inspect.isawaitable(op)
    assert isinstance(op, collections.abc.Awaitable)
    assert isinstance(op, collections.abc.Coroutine)
    assert op.get_loop() is asyncio.get_running_loop()
    assert asyncio.ensure_future(op) is op
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
    done, pending = await asyncio.wait([asyncio.create_task(client.get(k)) for k in keys])
    assert len(done) == 20 and not pending


@pytest.mark.parametrize("factory", ["selector", "uvloop"])
def test_called_outside_of_a_loop(client, keys, factory):
    """It is a coroutine then, which starts where it is run."""
    from conftest import LOOPS

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
    task = asyncio.create_task(client.get(keys[6]))
    assert "Awaitable" in repr(task)
    await task


async def test_never_awaited(client, keys, key):
    # One for all: where filters are part of the context (free-threaded builds), those of the call that opened the lane
    # hold in its callbacks.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for call, name in [
            (lambda: client.get(keys[7]), "get"),
            (lambda: client.put(keys[7], {"i": 7}), "put"),
            (lambda: client.get(key), "get"),
        ]:
            call()
            async with asyncio.timeout(50):
                while not caught:
                    await asyncio.sleep(0.01)
                    gc.collect()
            assert [str(w.message) for w in caught] == [f"aerolane operation '{name}' was never awaited"]
            assert caught.pop().category is RuntimeWarning
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client.get(keys[7]).cancel()
        client.get(keys[7]).close()
        op = client.get(keys[7])
        op.add_done_callback(lambda op: None)
        await client.get(keys[7])
        del op
        await asyncio.sleep(0.05)
    assert not caught


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
        client.put(keys[0], {"i": object()})
    with pytest.raises(TypeError):
        client.get("no key")
    assert value(await client.get(keys[0])) == 0
