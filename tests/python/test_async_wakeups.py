"""How tasks are woken: exceptions that leave them, fairness, calls from within."""

import asyncio
import gc

import pytest
from conftest import LOOPS

from aerolane import Key
from aerolane.native import ClientPolicy, ReadPolicy, WritePolicy

# For busy machines.
PATIENT = ReadPolicy(total_timeout=60_000)


@pytest.fixture
def keys(client, set_name):
    keys = [Key("test", set_name, i) for i in range(64)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i}, policy=WritePolicy(total_timeout=60_000))
    return keys


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_exits_leave_the_others_awake(client, keys, kind, factory):
    """Of many tasks that are woken in one turn, one exits: the loop stops, and the others go on when it runs again."""
    event_loop = factory()
    done = []

    async def task(number, key):
        record = await client.get(key)
        if number == 5:
            raise kind(number)
        done.append((number, record.bins["i"]))

    try:
        tasks = [event_loop.create_task(task(n, key)) for n, key in enumerate(keys)]
        with pytest.raises(kind):
            event_loop.run_until_complete(asyncio.wait(tasks))
        rest = [t for n, t in enumerate(tasks) if n != 5]

        async def finish():
            async with asyncio.timeout(50):
                await asyncio.gather(*rest)

        event_loop.run_until_complete(finish())
        assert isinstance(tasks[5].exception(), kind)
        assert sorted(done) == [(n, n) for n in range(64) if n != 5]
    finally:
        event_loop.close()


async def test_exceptions_of_callbacks_reach_the_handler(client, keys):
    told = []
    event_loop = asyncio.get_running_loop()
    event_loop.set_exception_handler(lambda _, context: told.append(context))

    def bad(op):
        raise ZeroDivisionError("of a callback")

    try:
        op = client.get(keys[0])
        op.add_done_callback(bad)
        op.add_done_callback(bad)
        other = client.get(keys[1])
        assert (await other).bins == {"i": 1}
        assert (await op).bins == {"i": 0}
        await asyncio.sleep(0.02)
    finally:
        event_loop.set_exception_handler(None)
    assert [type(context["exception"]) for context in told] == [ZeroDivisionError] * 2


@pytest.mark.parametrize("connections", [2, 64])
async def test_thousands_of_tasks_leave_others_their_turn(connect, keys, connections):
    """What is counted is work, not time: a busy machine makes everything slower, and nothing here fail."""
    client = connect(policy=ClientPolicy(min_conns_per_node=connections, max_conns_per_node=connections))
    tasks, each = 5000, 10
    answered, between, ticks, stop = 0, [], 0, False

    async def other():
        """A task with a turn in each turn of the loop: how much was answered meanwhile?"""
        seen = 0
        while not stop:
            await asyncio.sleep(0)
            between.append(answered - seen)
            seen = answered

    async def ticker():
        nonlocal ticks
        while not stop:
            await asyncio.sleep(0.001)
            ticks += 1

    async def worker(number):
        nonlocal answered
        for n in range(each):
            i = (number + n) % 64
            assert (await client.get(keys[i], policy=PATIENT)).bins["i"] == i
            answered += 1

    watchers = [asyncio.create_task(other()), asyncio.create_task(ticker())]
    await asyncio.sleep(0.01)
    ticks = 0
    await asyncio.gather(*(worker(n) for n in range(tasks)))
    stop = True
    seen = ticks
    await asyncio.gather(*watchers)
    assert sum(between) == tasks * each
    # 256 tasks are woken before the loop's other callbacks have their turn, whatever number of connections: twice
    # that if the lane comes before this task in one turn of the loop and after it in the next.
    assert max(between) <= 512, max(between)
    # Timers are looked at, too.
    assert seen > 4


async def test_a_ready_task_does_not_starve_the_loop(client, keys):
    """A task that always has an operation in flight, beside others."""
    turns = 0

    async def spinner():
        for _ in range(2000):
            await client.get(keys[0])

    async def other():
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.create_task(other())
    await spinner()
    task.cancel()
    assert turns > 100


async def test_calls_from_a_finalizer(client, keys):
    """Finalizers run anywhere, also while answers are turned into objects: what they call takes another way."""
    ops = []

    class Cyclic:
        def __init__(self):
            self.me = self

        def __del__(self):
            ops.append(client.get(keys[1]))
            ops[-1].add_done_callback(lambda op: None)

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(30):
            garbage = [Cyclic() for _ in range(3)]
            pending = [client.get(k) for k in keys]
            del garbage
            records = await asyncio.gather(*pending)
            assert [r.bins["i"] for r in records] == list(range(64))
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert ops
    assert {r.bins["i"] for r in await asyncio.gather(*ops)} == {1}


async def test_cancelling_from_a_finalizer(client, keys):
    pending = []

    class Cyclic:
        def __init__(self):
            self.me = self

        def __del__(self):
            for op in pending:
                op.cancel()

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(30):
            garbage = Cyclic()
            pending = [client.get(k) for k in keys]
            ops = pending[:]
            del garbage
            results = await asyncio.gather(*ops, return_exceptions=True)
            for i, result in enumerate(results):
                assert isinstance(result, asyncio.CancelledError) or result.bins["i"] == i
            pending = []
    finally:
        gc.set_threshold(*threshold)


async def test_woken_tasks_submit_cancel_and_wake_others(client, keys):
    victims = []

    async def worker(number):
        for n in range(50):
            i = (number * 7 + n) % 64
            victim = client.get(keys[(i + 1) % 64])
            victims.append(victim)
            assert (await client.get(keys[i])).bins["i"] == i
            victims[(number * 13 + n) % len(victims)].cancel()
            await asyncio.gather(victim, return_exceptions=True)

    await asyncio.gather(*(worker(n) for n in range(32)))
    assert all(op.done() for op in victims)
