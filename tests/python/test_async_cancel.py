"""Cancelled operations: their late answers reach nobody."""

import asyncio
import random

import pytest

from aerolane import Key, native
from aerolane.exceptions import AerospikeError

COUNT = 200
# For calls that are held up until the fault is over.
PATIENT = native.ReadPolicy(total_timeout=60_000)


@pytest.fixture
def client(connect):
    """One of the test's own: after faults, a node may be left alone for a while."""
    return connect()


@pytest.fixture
def keys(client, set_name):
    keys = [Key("test", set_name, i) for i in range(COUNT)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i})
    return keys


async def check(client, keys):
    """Each key is answered with its own record, soon at the latest."""
    for attempt in range(50):
        results = await asyncio.gather(*(client.get(k) for k in keys), return_exceptions=True)
        failed = [r for r in results if isinstance(r, AerospikeError)]
        for i, result in enumerate(results):
            assert isinstance(result, AerospikeError) or result.bins["i"] == i
        if not failed:
            return attempt
        await asyncio.sleep(0.1)
    raise AssertionError(f"it does not recover: {failed[0]}")


async def test_before_it_is_sent(client, keys):
    ops = [client.get(k) for k in keys]
    assert all(op.cancel() for op in ops)
    assert not any(op.cancel() for op in ops)
    assert all(op.cancelled() and op.done() for op in ops)
    for op in ops[:3]:
        with pytest.raises(asyncio.CancelledError):
            await op
        with pytest.raises(asyncio.CancelledError):
            op.result()
        with pytest.raises(asyncio.CancelledError):
            op.exception()
    await check(client, keys)


async def test_in_flight(client, keys, cluster):
    with cluster.inject("stall", on="read") as fault:
        ops = [client.get(k, policy=PATIENT) for k in keys]
        while not fault.struck:
            await asyncio.sleep(0.001)
        assert all(op.cancel() for op in ops[::2])
    results = await asyncio.gather(*ops, return_exceptions=True)
    for i, result in enumerate(results):
        if ops[i].cancelled():
            assert i % 2 == 0 and isinstance(result, asyncio.CancelledError)
        else:
            assert i % 2 == 1 and result.bins == {"i": i}
    await check(client, keys)


async def test_after_the_answer(client, keys):
    op = client.get(keys[5])
    await op
    assert not op.cancel()
    assert not op.cancelled()
    assert op.result().bins == {"i": 5}


async def test_message_and_uncancel(client, keys, cluster):
    with cluster.inject("stall", on="read"):
        op = client.get(keys[0])
        op.cancel("of the operation")
        with pytest.raises(asyncio.CancelledError, match="of the operation"):
            await op
        op = client.get(keys[0])
        op.cancel(msg="by name")
        with pytest.raises(asyncio.CancelledError, match="by name"):
            op.result()
        for arguments, named in [((1, 2), {}), ((), {"message": 1}), ((1,), {"msg": 1})]:
            op = client.get(keys[0])
            with pytest.raises(TypeError):
                op.cancel(*arguments, **named)
            op.cancel()

        async def stubborn():
            try:
                await client.get(keys[1], policy=PATIENT)
            except asyncio.CancelledError as error:
                asyncio.current_task().uncancel()
                return error.args, (await client.get(keys[2], policy=PATIENT)).bins["i"]

        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0.02)
        task.cancel("of the task")
    assert await task == (("of the task",), 2)
    assert not task.cancelled() and task.cancelling() == 0


async def test_cancelled_task_that_was_answered_already(client, keys):
    """The answer is there, but the task has not run yet when it is cancelled: cancelling wins, as with futures."""
    tasks = []

    async def first():
        await client.get(keys[0])
        for task in tasks[1:]:
            task.cancel()

    async def other(key):
        await client.get(key)

    tasks.append(asyncio.create_task(first()))
    tasks.extend(asyncio.create_task(other(key)) for key in keys[1:30])
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[0] is None
    assert all(r is None or isinstance(r, asyncio.CancelledError) for r in results)
    await check(client, keys)


FAULTS = {
    "delay": {"value": 0.02, "on": ["read", "write"], "probability": 0.2},
    "answer-delay": {"value": 0.02, "on": ["read", "write"], "probability": 0.2},
    "split": {"on": ["read", "write"], "probability": 0.3},
    "drop-before": {"on": ["read", "write"], "probability": 0.02},
    "drop-after": {"on": ["read", "write"], "probability": 0.02},
    "truncate": {"value": 10, "on": ["read", "write"], "probability": 0.02},
    "stall": {"on": ["read", "write"], "probability": 0.005},
}


@pytest.mark.parametrize("fault", [None, *FAULTS])
async def test_storm(client, keys, cluster, fault):
    """Tasks read under random cancels and timeouts. Every answer that comes must be that of the key asked for."""
    rng = random.Random(f"storm {fault}")
    answered = cancelled = failed = 0
    stop = False

    async def reader(number):
        nonlocal answered, cancelled, failed
        rng = random.Random(number)
        for _ in range(30):
            i = rng.randrange(COUNT)
            try:
                async with asyncio.timeout(rng.choice([0.0, 0.002, 0.005, 0.02, 5])):
                    record = await client.get(keys[i], policy=PATIENT)
                assert record.bins == {"i": i}
                answered += 1
            except AerospikeError:
                failed += 1
            except TimeoutError:
                cancelled += 1

    async def canceller():
        nonlocal cancelled
        while not stop:
            task = asyncio.create_task(reader(rng.random()))
            await asyncio.sleep(rng.random() * 0.01)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                cancelled += 1

    if fault:
        settings = dict(FAULTS[fault])
        cluster.inject(fault, settings.pop("value", None), **settings)
    storm = asyncio.create_task(canceller())
    await asyncio.gather(*(reader(n) for n in range(32)))
    stop = True
    await storm
    cluster.clear_faults()
    assert answered > 0 and cancelled > 0
    if fault is None:
        assert failed == 0
    await check(client, keys)


async def test_writes_that_are_cancelled_hit_their_own_record_or_none(client, keys, cluster):
    with cluster.inject("split", on="write", probability=0.3):
        for round_ in range(10):
            ops = [client.put(k, {"i": i, "r": round_}) for i, k in enumerate(keys)]
            await asyncio.sleep(0)
            for op in random.Random(round_).sample(ops, COUNT // 2):
                op.cancel()
            await asyncio.gather(*ops, return_exceptions=True)
    await check(client, keys)


async def test_many_orphans_do_not_hold_up_others(client, keys, cluster):
    """What was cancelled is still answered in its turn, or its connection is given up: the next calls go on."""
    with cluster.inject("stall", on="read"):
        for _ in range(5):
            ops = [client.get(k) for k in keys]
            await asyncio.sleep(0.01)
            for op in ops:
                op.cancel()
            await asyncio.gather(*ops, return_exceptions=True)
    async with asyncio.timeout(50):
        await check(client, keys)
