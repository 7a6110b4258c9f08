"""What operations leave behind: nothing."""

import asyncio
import contextlib
import gc
import sys

import pytest
from conftest import resident

from aerolane import Key, native
from aerolane.exceptions import RecordNotFoundError


async def churn(client, keys, missing, policy, count):
    async def worker(number):
        for n in range(count // 64):
            await client.get(keys[(number + n) % len(keys)], policy=policy)
            if n % 8 == 0:
                # Many writers of one record would make it a hot key on a server with two copies.
                await client.put(keys[number % len(keys)], {"i": 0})
                op = client.get(missing)
                with contextlib.suppress(RecordNotFoundError):
                    await op
                client.get(keys[1]).cancel()

    await asyncio.gather(*(worker(n) for n in range(64)))


@pytest.mark.own_process
async def test_nothing_grows(connect, set_name):
    # A connection is five objects of the event loop, and a busy machine makes for more of them: few are allowed here.
    client = connect(policy=native.ClientPolicy(max_conns_per_node=4))
    keys = [Key("test", set_name, i) for i in range(16)]
    missing, policy = Key("test", set_name, "missing"), native.ReadPolicy()
    await asyncio.gather(*(client.put(k, {"i": i}) for i, k in enumerate(keys)))
    await churn(client, keys, missing, policy, 20_000)
    gc.collect()
    objects, size = len(gc.get_objects()), resident()
    counts = [sys.getrefcount(o) for o in (keys[1], missing, policy, client)]
    await churn(client, keys, missing, policy, 100_000)
    await asyncio.sleep(0.05)
    gc.collect()
    assert len(gc.get_objects()) - objects < 300
    assert [sys.getrefcount(o) for o in (keys[1], missing, policy, client)] == counts
    assert resident() - size < 8 << 20


async def test_an_exception_that_knows_its_operation(client, key):
    """Exception, traceback, frame, operation: a cycle, which the garbage collector finds."""

    async def fail():
        op = client.get(key)
        try:
            await op
        except RecordNotFoundError as error:
            kept = error
            assert kept.__traceback__ is not None

    gc.collect()
    before = len(gc.get_objects())
    for _ in range(500):
        await fail()
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    assert sum(type(o).__name__ == "Awaitable" for o in gc.get_objects()) < 10


def test_loops_leave_nothing(client, key):
    client.put_blocking(key, {"i": 1})

    async def main():
        return await client.get(key)

    def once():
        event_loop = asyncio.SelectorEventLoop()
        assert event_loop.run_until_complete(main()).bins == {"i": 1}
        event_loop.close()

    for _ in range(3):
        once()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        once()
    gc.collect()
    assert len(gc.get_objects()) - before < 20
