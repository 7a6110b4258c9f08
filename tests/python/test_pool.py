"""AsyncPool: loops on threads, clients of their own or shared, and every way it can end."""

import asyncio
import gc
import threading
import time

import pytest
from conftest import eventually_async

from aerolane import Client, ClusterDefinition, Key
from aerolane.pool import AsyncPool


class FakeClient:
    """Belongs to the loop and thread that it was opened on."""

    def __init__(self, log=None, fail_close=False):
        self.log = log if log is not None else []
        self.fail_close = fail_close

    async def __aenter__(self):
        self.thread = threading.get_ident()
        self.loop = asyncio.get_running_loop()
        self.log.append("open")
        return self

    async def __aexit__(self, *_):
        assert self.loop is asyncio.get_running_loop()
        self.log.append("close")
        if self.fail_close:
            raise OSError("cannot close")

    async def where(self, _=None):
        assert self.loop is asyncio.get_running_loop()
        return threading.get_ident()


class FakeDefinition:
    def __init__(self):
        self.log = []

    async def connect(self):
        self.log.append("connect")
        return self

    async def close(self):
        self.log.append("close")


async def test_loops_run_on_threads_of_their_own_and_take_turns():
    log = []
    async with AsyncPool(lambda: FakeClient(log), loop_count=3) as pool:
        assert pool.loop_count == 3 and pool.is_started and not pool.is_closed
        threads = [await pool.run(FakeClient.where) for _ in range(6)]
        assert len(set(threads)) == 3 and threads[:3] == threads[3:]
        assert threading.get_ident() not in threads
        assert {await pool.run(FakeClient.where, pick=n) for n in (1, 4, -2)} == {threads[1]}
        assert await pool.map(FakeClient.where, range(6)) == threads
    assert log == ["open"] * 3 + ["close"] * 3
    assert pool.is_closed and not pool.is_started
    assert not [t for t in threading.enumerate() if t.name.startswith("aerolane-pool")]


async def test_results_keep_the_order_of_the_inputs():
    async def slow_first(_client, number):
        await asyncio.sleep(0.02 if number == 0 else 0)
        return number * 2

    async with AsyncPool(FakeClient, 2) as pool:
        assert await pool.map(slow_first, range(20)) == [n * 2 for n in range(20)]
        assert await pool.map(slow_first, []) == []


async def test_a_definition_is_connected_once_and_shared():
    definition = FakeDefinition()
    async with AsyncPool(definition, loop_count=2) as pool:

        async def same(cluster, _):
            return cluster is definition

        assert await pool.map(same, range(4)) == [True] * 4
        assert definition.log == ["connect"]
    assert definition.log == ["connect", "close"]


async def test_arguments_by_the_names_of_the_sdk():
    definition = FakeDefinition()
    async with AsyncPool(
        cluster_definition=definition, loop_count=2, per_client_runtime=None, use_uvloop=False
    ) as pool:

        async def which(cluster):
            return cluster, type(asyncio.get_running_loop())

        assert await pool.run(which) == (definition, asyncio.SelectorEventLoop)


async def test_real_clients_by_factory_and_by_definition(seeds, set_name):
    """Each loop has a client of its own, or all share one cluster."""
    host, _, port = seeds.split(",")[0].rpartition(":")
    keys = [Key("test", set_name, number) for number in range(60)]

    async def write(client, key):
        session = client.create_session()
        await session.put(key, {"n": key.value})
        return id(client), (await session.get(key)).bins["n"]

    for source, clients in ((lambda: Client(seeds), 3), (ClusterDefinition(host, int(port)), 1)):
        async with AsyncPool(source, 3) as pool:
            written = await pool.map(write, keys)
        assert [number for _, number in written] == list(range(60))
        assert len({client for client, _ in written}) == clients


async def test_a_client_is_shared_by_all_loops(seeds, set_name):
    """It is closed with the pool, unless it was connected before."""
    keys = [Key("test", set_name, number) for number in range(20)]

    async def write(client, key):
        await client.create_session().put(key, {"n": key.value})
        return client

    client = Client(seeds)
    async with AsyncPool(client, 3) as pool:
        assert {id(one) for one in await pool.map(write, keys)} == {id(client)} and client.is_connected
    assert not client.is_connected
    async with client:
        async with AsyncPool(client, 2) as pool:
            assert await pool.run(lambda one: write(one, keys[0])) is client
        assert client.is_connected
        assert (await client.create_session().get(keys[5])).bins == {"n": 5}
    with pytest.raises(ConnectionError):
        await AsyncPool(Client("127.0.0.1:1"), 2).start()


async def test_inputs_that_raise_leave_nothing_behind():
    """What was begun for the inputs before is cancelled, and over when the exception comes."""
    begun, ended = [], []

    async def work(_client, number):
        begun.append(number)
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(number)

    def inputs(failure):
        yield 1
        yield 2
        raise failure

    async with AsyncPool(FakeClient, 2) as pool:
        before = asyncio.all_tasks()
        for failure in (OSError("no more"), KeyboardInterrupt("stop")):
            with pytest.raises(type(failure), match=str(failure)):
                await pool.map(work, inputs(failure))
            assert asyncio.all_tasks() == before
        with pytest.raises(TypeError):
            await pool.map(work, None)
        assert sorted(begun) == sorted(ended)
        assert await pool.map(FakeClient.where, []) == []


async def test_a_factory_may_give_an_awaitable_or_something_with_close():
    class Plain:
        closed = False

        def close(self):
            self.closed = True

    plain = Plain()

    async def factory():
        return plain

    async def identity(client):
        return client

    async with AsyncPool(factory, 1) as pool:
        assert await pool.run(identity) is plain
    assert plain.closed


async def test_exceptions_reach_the_caller():
    async def fail(_client, number):
        if number == 3:
            raise KeyError("three")
        await asyncio.sleep(1000)

    async with AsyncPool(FakeClient, 2) as pool:
        begun = time.monotonic()
        with pytest.raises(KeyError, match="three"):
            await pool.map(fail, range(8))
        assert time.monotonic() - begun < 100
        with pytest.raises(TypeError):
            await pool.run(lambda client: client.where(1, 2, 3))
        assert await pool.run(FakeClient.where)


async def test_a_client_that_cannot_be_opened_fails_the_start_and_closes_the_others():
    log = []
    calls = []

    def factory():
        calls.append(1)
        if len(calls) == 2:
            raise ConnectionError("no seed")
        return FakeClient(log)

    pool = AsyncPool(factory, 3)
    with pytest.raises(ConnectionError, match="no seed"):
        await pool.start()
    assert pool.is_closed
    assert log.count("open") == log.count("close")
    with pytest.raises(RuntimeError, match="closed"):
        await pool.run(FakeClient.where)


async def test_an_error_of_closing_a_client_is_raised():
    pool = AsyncPool(lambda: FakeClient(fail_close=True), 2)
    await pool.start()
    with pytest.raises(OSError, match="cannot close"):
        await pool.aclose()
    await pool.aclose()
    assert not [t for t in threading.enumerate() if t.name.startswith("aerolane-pool")]


async def test_closing_cancels_what_runs():
    begun, cancelled = [], []

    async def forever(_client):
        try:
            begun.append(1)
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    pool = AsyncPool(FakeClient, 2)
    await pool.start()
    calls = [asyncio.ensure_future(pool.run(forever)) for _ in range(4)]
    await eventually_async(lambda: len(begun) == 4)
    await pool.aclose()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [RuntimeError] * 4
    assert len(cancelled) == 4


async def test_cancelling_the_caller_cancels_the_call():
    begun, cancelled = threading.Event(), threading.Event()

    async def forever(_client):
        try:
            begun.set()
            await asyncio.sleep(1000)
        finally:
            cancelled.set()

    async with AsyncPool(FakeClient, 1) as pool:
        call = asyncio.create_task(pool.run(forever))
        await eventually_async(begun.is_set)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually_async(cancelled.is_set)
        # Also by a timeout, which may come before the call has begun.
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pool.run(forever)
        assert await pool.run(FakeClient.where)


async def test_nothing_hangs_when_a_loop_dies():
    async def forever(_client):
        await asyncio.sleep(1000)

    async def die(_client):
        asyncio.get_running_loop().call_soon(kill)
        await asyncio.sleep(1000)

    def kill():
        raise SystemExit(3)

    pool = AsyncPool(FakeClient, 2)
    await pool.start()
    waiting = [asyncio.ensure_future(pool.run(forever, pick=0)) for _ in range(3)]
    with pytest.raises(RuntimeError, match="has died: SystemExit"):
        await pool.run(die, pick=0)
    for outcome in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(outcome, RuntimeError) and isinstance(outcome.__cause__, SystemExit)
    with pytest.raises(RuntimeError, match="has died: SystemExit"):
        await pool.run(FakeClient.where, pick=0)
    assert await pool.run(FakeClient.where, pick=1)
    await pool.aclose()


async def test_bad_use_is_told():
    with pytest.raises(TypeError, match="ClusterDefinition or a callable"):
        AsyncPool(3)
    with pytest.raises(TypeError, match="ClusterDefinition or a callable"):
        AsyncPool()
    with pytest.raises(TypeError, match="not two"):
        AsyncPool(FakeClient, cluster_definition=FakeDefinition())
    with pytest.raises(ValueError, match="at least 1"):
        AsyncPool(FakeClient, 0)
    pool = AsyncPool(FakeClient, 1)
    with pytest.raises(RuntimeError, match="not started"):
        await pool.run(FakeClient.where)
    await pool.start()
    with pytest.raises(RuntimeError, match="already"):
        await pool.start()
    await pool.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await pool.map(FakeClient.where, [1])


async def test_a_pool_that_was_forgotten_ends_its_threads():
    pool = AsyncPool(FakeClient, 1)
    await pool.start()
    with pytest.warns(ResourceWarning, match="not closed"):
        del pool
        gc.collect()
    for _ in range(1000):
        if not [t for t in threading.enumerate() if t.name.startswith("aerolane-pool")]:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the thread is still there")


async def test_starting_can_be_cancelled(caplog):
    class Slow(FakeClient):
        async def __aenter__(self):
            await asyncio.sleep(1000)

    pool = AsyncPool(Slow, 2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await pool.start()
    assert pool.is_closed
    assert not [t for t in threading.enumerate() if t.name.startswith("aerolane-pool")]
    gc.collect()
    assert not caplog.records


async def test_many_calls_from_many_loops():
    async with AsyncPool(FakeClient, 3) as pool:

        def other_loop():
            async def work():
                return await pool.map(FakeClient.where, range(300))

            return asyncio.run(work())

        results = await asyncio.gather(*(asyncio.to_thread(other_loop) for _ in range(3)))
        assert all(len(set(result)) == 3 for result in results)

        async def nested(_client):
            return await pool.run(FakeClient.where, pick=0)

        assert len({await pool.run(nested, pick=n) for n in range(3)}) == 1
