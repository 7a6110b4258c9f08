"""Batches over the lane of the event loop: cancelled, closed under way, among single calls, and on several nodes."""

import asyncio
import random
import threading

import pytest
from conftest import eventually_async

from aerolane import Key, native
from aerolane.exceptions import AerospikeError, ClientClosedError

COUNT = 240


@pytest.fixture
def client(connect):
    """One of the test's own: after faults, a node may be left alone for a while."""
    return connect()


@pytest.fixture
def keys(client, set_name):
    keys = [Key("test", set_name, i) for i in range(COUNT)]
    client.batch_write_blocking(keys, [{"i": i} for i in range(COUNT)])
    return keys


def read_as(rows, numbers):
    assert [row.record.bins["i"] for row in rows] == list(numbers)


async def test_no_thread_has_a_part_in_them(client, keys):
    """What a batch wakes, it wakes on the loop's thread."""
    read_as(await client.batch_read(keys), range(COUNT))
    threads = set()
    ops = [client.batch_read(keys[i : i + 30]) for i in range(0, COUNT, 30)]
    for op in ops:
        op.add_done_callback(lambda op: threads.add(threading.get_ident()))
    for i, rows in enumerate(await asyncio.gather(*ops)):
        read_as(rows, range(30 * i, 30 * i + 30))
    assert threads == {threading.get_ident()}


async def test_among_single_calls(client, keys):
    async def batches(seed):
        for n in range(40):
            start = (seed * 17 + n * 31) % (COUNT - 40)
            read_as(await client.batch_read(keys[start : start + 1 + n]), range(start, start + 1 + n))

    async def singles(seed):
        for n in range(300):
            i = (seed * 13 + n * 7) % COUNT
            assert (await client.get(keys[i])).bins["i"] == i

    async with asyncio.TaskGroup() as group:
        for seed in range(6):
            group.create_task(batches(seed))
            group.create_task(singles(seed))


@pytest.mark.parametrize("fault", ["none", "delay", "split", "drop-after"])
async def test_cancelled_at_random(client, keys, cluster, fault):
    """Every answer that comes is that of the keys asked for, and the lane recovers."""
    rng = random.Random(fault)
    answered = cancelled = 0

    async def one():
        nonlocal answered, cancelled
        start = rng.randrange(COUNT - 50)
        numbers = range(start, start + rng.randrange(1, 50))
        op = client.batch_read([keys[i] for i in numbers])
        # Some at once, most while they are under way, some not at all: however slow or fast the machine is, there are
        # cancelled and answered ones.
        chance, event_loop = rng.random(), asyncio.get_running_loop()
        if chance < 0.1:
            op.cancel()
        elif chance < 0.8:
            event_loop.call_later(rng.random() * 0.004, op.cancel)
        try:
            rows = await op
        except asyncio.CancelledError:
            cancelled += 1
        except AerospikeError:
            assert fault == "drop-after"
        else:
            answered += 1
            for row, i in zip(rows, numbers, strict=True):
                assert row.record is None or row.record.bins["i"] == i

    settings = {"delay": (0.003,), "split": (), "drop-after": ()}.get(fault)
    if settings is not None:
        cluster.inject(fault, *settings, on="batch", probability=0.3)
    try:
        for _ in range(12):
            await asyncio.gather(*(one() for _ in range(16)))
    finally:
        cluster.clear_faults()
    assert answered > 0 and cancelled > 0
    for _ in range(50):
        try:
            rows = await client.batch_read(keys)
            if all(row.record for row in rows):
                break
        except AerospikeError:
            pass
        await asyncio.sleep(0.1)
    read_as(rows, range(COUNT))


async def test_the_client_is_closed_under_way(client, keys, cluster):
    await client.batch_read(keys)
    policy = native.BatchPolicy()
    policy.total_timeout = 20_000
    with cluster.inject("stall", on="batch") as fault:
        ops = [client.batch_read(keys, batch_policy=policy) for _ in range(5)]
        await eventually_async(lambda: fault.struck)
        await asyncio.to_thread(client.close_blocking)
        outcomes = await asyncio.wait_for(asyncio.gather(*ops, return_exceptions=True), 50)
    assert all(isinstance(outcome, ClientClosedError) for outcome in outcomes), outcomes
    with pytest.raises(ClientClosedError):
        await client.batch_read(keys)


def test_the_loop_is_closed_under_way(connect, keys, cluster):
    client = connect()

    async def begin(ops):
        ops.extend(client.batch_read(keys) for _ in range(5))
        await eventually_async(lambda: fault.struck)

    event_loop, ops = asyncio.new_event_loop(), []
    event_loop.run_until_complete(client.batch_read(keys))
    with cluster.inject("stall", on="batch") as fault:
        event_loop.run_until_complete(begin(ops))
        event_loop.close()
    for op in ops:
        with pytest.raises(RuntimeError, match="closed"):
            op.result()

    async def again():
        read_as(await client.batch_read(keys), range(COUNT))

    asyncio.run(again())


async def test_another_attempt_stays_on_the_loop(connect, keys, cluster):
    """It goes over the loop's own connections: no other lane opens any."""
    # A fixed number of connections: otherwise the loop's own lane may try more.
    client = connect(cluster.seeds, native.ClientPolicy(min_conns_per_node=3, max_conns_per_node=3))
    policy = native.ReadPolicy()
    policy.max_retries = 20

    async def all_once():
        records = await asyncio.gather(*(client.get(key, policy=policy) for key in keys))
        assert [record.bins["i"] for record in records] == list(range(COUNT))

    for _ in range(10):
        await all_once()
    # Counts of a loop are some 100 ms old at most.
    await asyncio.sleep(0.3)
    before = client.stats()["total"]
    with cluster.inject("result", 14, on="read", times=12):
        await all_once()
    await asyncio.sleep(0.3)
    after = client.stats()["total"]
    assert after["retries"] >= before["retries"] + 12
    assert after["opened"] == before["opened"]
