"""A program that works for long between its calls, or whose event loop stands still.

What it takes its time for is not held against the server: no call fails that the server answered in time.
"""

import asyncio
import time

import pytest

from aerolane import Key, native

# Less than the program takes for one turn of its loop.
TIMEOUT = 400
READ = native.ReadPolicy(total_timeout=TIMEOUT, socket_timeout=TIMEOUT)
WRITE = native.WritePolicy(total_timeout=TIMEOUT, socket_timeout=TIMEOUT)
TASKS = 300


def work(seconds):
    """Keeps the thread of the loop busy."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


@pytest.fixture
def own_client(seeds):
    """A client of its own: nothing else is on its lane."""
    client = native.new_client_blocking(native.ClientPolicy(), seeds)
    yield client
    client.close_blocking()


async def test_tasks_that_work_between_their_calls(own_client, set_name):
    async def task(number):
        key = Key("test", set_name, number)
        for turn in range(3):
            await own_client.put(key, {"n": turn}, policy=WRITE)
            work(0.002)
            record = await own_client.get(key, policy=READ)
            assert record.bins == {"n": turn}
            work(0.002)

    await asyncio.gather(*map(task, range(TASKS)))


@pytest.mark.parametrize("turns", [0, 1, 2, 4])
async def test_a_loop_that_stands_still(own_client, set_name, turns):
    keys = [Key("test", set_name, number) for number in range(200)]
    await asyncio.gather(*(own_client.put(key, {"n": 1}, policy=WRITE) for key in keys))
    reads = [asyncio.ensure_future(own_client.get(key, policy=READ)) for key in keys]
    writes = [asyncio.ensure_future(own_client.put(key, {"n": 2}, policy=WRITE)) for key in keys]
    for _ in range(turns):
        await asyncio.sleep(0)
    time.sleep(TIMEOUT / 1000 + 0.3)
    for record in await asyncio.gather(*reads):
        assert record.bins["n"] in (1, 2)
    assert await asyncio.gather(*writes) == [None] * len(keys)


async def test_requests_leave_while_the_loop_is_busy(own_client, client, set_name):
    """A write is seen by others although the turn of the loop that made it is not over."""
    keys = [Key("test", set_name, number) for number in range(3)]

    async def write(key, seconds):
        work(seconds)
        await own_client.put(key, {"n": 1}, policy=WRITE)

    async def look():
        """Runs last in the turn, and blocks the loop's thread meanwhile."""
        until = time.monotonic() + 20
        while not all(client.exists_blocking(key) for key in keys):
            assert time.monotonic() < until, "a request waits for the end of the turn"

    # Its connections are open.
    await own_client.put(Key("test", set_name, "first"), {"n": 1}, policy=WRITE)
    # The last one finds one that waits, and takes it along.
    await asyncio.gather(write(keys[0], 0), write(keys[1], 0), write(keys[2], 0.001), look())
