"""A program that works for long between its calls, or whose event loop stands still.

What it takes its time for is not held against the server: no call fails that the server answered in time.
"""

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from aerolane import Key, TimeoutError, native

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


async def test_answers_beyond_what_sockets_hold_while_the_loop_stands_still(own_client, client, set_name):
    """They are read, and held up no thread of the server: it works for others meanwhile."""
    # The server needs some of that time, too.
    timeout = 5 * TIMEOUT
    patient = native.ReadPolicy(total_timeout=timeout, socket_timeout=timeout)
    keys = [Key("test", set_name, number) for number in range(8)]
    other = Key("test", set_name, "other")
    for key in [*keys, other]:
        await own_client.put(key, {"b": b"x" * (100_000 if key is not other else 1)})
    reads = [asyncio.ensure_future(own_client.get(keys[n % len(keys)], policy=patient)) for n in range(400)]
    # As many as go at once are sent.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    until = time.monotonic() + timeout / 1000 + 1
    while time.monotonic() < until:
        client.get_blocking(other, policy=patient)
    for record in await asyncio.gather(*reads):
        assert len(record.bins["b"]) == 100_000


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


async def test_an_error_says_that_the_loop_was_busy(new_cluster, connect, set_name, caplog):
    """The node is silent, and the program busy: the error says both, and so do the statistics and the log."""
    cluster = new_cluster(nodes=1)
    client, key = connect(cluster.seeds), Key("test", set_name, 1)
    await client.put(key, {"n": 1})
    assert client.stats()["loop_busy"] == {"count": 0, "total": 0, "longest": 0}
    policy = native.ReadPolicy(total_timeout=TIMEOUT, socket_timeout=TIMEOUT, max_retries=0)
    with cluster.inject("stall", on="read") as faults:
        for _ in range(2):
            struck = faults.struck
            read = asyncio.ensure_future(client.get(key, policy=policy))
            while faults.struck == struck:
                await asyncio.sleep(0)
            time.sleep(TIMEOUT / 1000 + 0.7)
            with pytest.raises(TimeoutError) as caught:
                await read
            assert 0.6 < caught.value.loop_busy < caught.value.elapsed
            assert "the event loop was busy for" in str(caught.value)
    busy = client.stats()["loop_busy"]
    assert busy["count"] >= 2
    assert busy["total"] > busy["longest"] > 0.6
    warnings = [record.getMessage() for record in caplog.records if record.name == "aerolane"]
    assert len(warnings) == 1, "once a minute"
    assert "kept its event loop busy for" in warnings[0]


def test_threads_that_wait_for_the_interpreter(own_client, set_name):
    """Others keep the GIL (without it, all processors) for longer than a call may take: an answer that came counts."""
    done = threading.Event()

    def calls(number):
        key = Key("test", set_name, number)
        for turn in range(3):
            own_client.put_blocking(key, {"n": turn}, policy=WRITE)
            assert own_client.get_blocking(key, policy=READ).bins == {"n": turn}

    def keep_busy():
        while not done.is_set():
            work(0.01)

    interval = sys.getswitchinterval()
    with ThreadPoolExecutor(18) as pool:
        busy = [pool.submit(keep_busy) for _ in range(2)]
        sys.setswitchinterval(0.05)
        try:
            for call in [pool.submit(calls, number) for number in range(16)]:
                call.result()
        finally:
            done.set()
            sys.setswitchinterval(interval)
        for thread in busy:
            thread.result()
