"""Event loops that come and go: their lanes do, too."""

import asyncio
import contextlib
import gc
import logging
import os
import socket
import sys
import threading
import weakref

import pytest
from conftest import LOOPS, eventually, eventually_async, logged

from aerolane import Client, Key, native
from aerolane.exceptions import AerospikeError, ClientClosedError

# Gives up later than a test does.
PATIENT = native.ReadPolicy(total_timeout=60_000, socket_timeout=60_000)
pytestmark = pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())


@pytest.fixture
def keys(client, set_name):
    keys = [Key("test", set_name, i) for i in range(32)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i}, policy=native.WritePolicy(total_timeout=30_000))
    return keys


def run(factory, main):
    async def bounded():
        async with asyncio.timeout(100):
            return await main

    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(bounded())


async def read(client, keys):
    records = await asyncio.gather(*(client.get(k) for k in keys))
    assert [r.bins["i"] for r in records] == list(range(len(keys)))


def descriptors():
    """How many are open, without those that only garbage holds."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def test_one_loop_after_the_other(client, keys, factory):
    for _ in range(5):
        run(factory, read(client, keys))


def test_many_loops_are_warned_of_once(connect, keys, factory):
    """Each costs connections: a program that makes one for each request should know."""
    client = connect()
    with logged("aerolane.client", level=logging.WARNING) as lines:
        for _ in range(25):
            run(factory, read(client, keys[:1]))
        eventually(lambda: lines)
        # Records come in order: what is logged later is not behind this one.
        run(factory, read(client, keys[:1]))
    (line,) = lines
    assert "10 event loops" in line and "SyncClient" in line


def test_a_few_loops_are_not_warned_of(connect, keys, factory):
    client = connect()
    with logged("aerolane.client", level=logging.WARNING) as lines:
        for _ in range(9):
            run(factory, read(client, keys[:1]))
    assert lines == []


def test_sockets_are_closed_with_their_loop(client, keys, factory):
    run(factory, read(client, keys))
    before = descriptors()
    for _ in range(20):
        run(factory, read(client, keys))
        # The cluster of this process closes its ends when it hears of it.
        eventually(lambda: descriptors() <= before + 2, lambda: f"{descriptors()} of {before}")


def test_a_loop_that_is_closed_with_operations_in_flight(connect, keys, factory, cluster):
    client = connect()
    run(factory, read(client, keys))
    before = descriptors()
    with cluster.inject("stall", on="read") as fault:
        for _ in range(6):
            event_loop = factory()
            alive = weakref.ref(event_loop)
            ops = []

            async def start(ops, struck):
                ops.extend(client.get(k, policy=PATIENT) for k in keys)
                for op in ops:
                    op.add_done_callback(lambda op: None)
                await eventually_async(lambda: fault.struck > struck)

            event_loop.run_until_complete(start(ops, fault.struck))
            event_loop.close()
            assert all(op.done() for op in ops)
            assert isinstance(ops[0].exception(), RuntimeError)
            del ops, event_loop
            gc.collect()
            assert alive() is None, "the loop leaks"
    # The cluster of this process keeps its ends until what it held up is over. Some ten for each loop, if they leaked.
    eventually(lambda: descriptors() <= before + 8, lambda: f"{descriptors()} of {before}")
    run(factory, read(client, keys))


@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
def test_sockets_go_with_a_loop_that_was_never_closed(connect, keys, factory):
    if factory is not asyncio.SelectorEventLoop:
        pytest.skip("uvloop keeps every loop that was not closed, with or without a client")
    client = connect()
    run(factory, read(client, keys))
    before = descriptors()
    for _ in range(6):
        event_loop = factory()
        alive = weakref.ref(event_loop)
        event_loop.run_until_complete(read(client, keys))
        del event_loop
        gc.collect()
        assert alive() is None, "the loop leaks"
    # A loop has ten descriptors and more. The cluster of this process closes its ends when it hears of it.
    eventually(lambda: descriptors() <= before + 8, lambda: f"{descriptors()} of {before}")
    run(factory, read(client, keys))


def test_two_loops_share_a_client(client, keys, factory):
    failures = []

    def body():
        try:
            for _ in range(3):
                run(factory, read(client, keys))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(t.is_alive() for t in threads)


def test_a_loop_that_moves_to_another_thread(client, keys, factory):
    event_loop = factory()
    event_loop.run_until_complete(read(client, keys))
    failures = []

    def body():
        try:
            event_loop.run_until_complete(asyncio.wait_for(read(client, keys), 50))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(90)
    event_loop.run_until_complete(asyncio.wait_for(read(client, keys), 50))
    event_loop.close()
    assert not failures


def test_run_coroutine_threadsafe(client, keys, factory):
    event_loop = factory()
    thread = threading.Thread(target=event_loop.run_forever)
    thread.start()
    try:
        futures = [asyncio.run_coroutine_threadsafe(client.get(k), event_loop) for k in keys]
        assert [f.result(50).bins["i"] for f in futures] == list(range(32))
        made = asyncio.run_coroutine_threadsafe(started(client, keys[0]), event_loop).result(50)
        for use in (made.done, made.result, made.exception, made.cancelled, made.cancel, lambda: made.send(None)):
            with pytest.raises(RuntimeError, match="another thread"):
                use()
        assert "another thread" in repr(made)
        made.close()
    finally:
        event_loop.call_soon_threadsafe(event_loop.stop)
        thread.join()
        event_loop.close()


async def started(client, key):
    op = client.get(key, policy=PATIENT)
    op.add_done_callback(lambda op: None)
    return _Box(op)


class _Box:
    """Keeps an operation from being awaited where it is returned."""

    def __init__(self, op):
        self.op = op

    def __getattr__(self, name):
        return getattr(self.op, name)

    def __repr__(self):
        return repr(self.op)


def test_awaited_on_another_loop(client, keys, factory, cluster):
    cluster.inject("stall", on="read")
    first, second = factory(), factory()
    try:
        box = first.run_until_complete(started(client, keys[0]))

        async def other():
            return await box.op

        with pytest.raises((RuntimeError, ValueError), match="loop"):
            second.run_until_complete(other())
        with pytest.raises((RuntimeError, ValueError), match="loop"):
            second.run_until_complete(other_gather(box))
    finally:
        first.close()
        second.close()


async def other_gather(box):
    return await asyncio.gather(box.op)


def test_closed_with_operations_in_flight(connect, keys, factory, cluster):
    client = connect()

    async def main():
        await read(client, keys)
        with cluster.inject("stall", on="read") as fault:
            ops = [client.get(k, policy=PATIENT) for k in keys]
            await eventually_async(lambda: fault.struck)
            await asyncio.get_running_loop().run_in_executor(None, client.close_blocking)
            results = await asyncio.gather(*ops, return_exceptions=True)
        assert all(isinstance(r, ClientClosedError) for r in results), results
        with pytest.raises(ClientClosedError):
            await client.get(keys[0])

    run(factory, main())
    with pytest.raises(ClientClosedError):
        run(factory, later(client, keys[0]))


async def later(client, key):
    return await client.get(key)


def cut(port):
    """Ends all connections of this process to a port, and tells nobody: who writes next is told by the system."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as other:
                if other.family == socket.AF_INET and other.getpeername()[1] == port:
                    other.shutdown(socket.SHUT_RDWR)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_connections_that_have_ended_unnoticed(new_cluster, factory):
    """What is called while nothing else is under way is written at once, and that fails: it goes over another one."""
    cluster = new_cluster(nodes=1)
    client, key = Client(cluster.seeds), Key("test", "s", 1)

    async def main():
        async with client:
            session = client.create_session()
            await session.put(key, {"n": 0})
            for number in range(10):
                for use in (
                    lambda number=number: session.put(key, {"n": number}),
                    lambda: session.get(key),
                    lambda: session.get_many([key]),
                    lambda: session.get(key),
                ):
                    assert (await session.get(key)).key == key
                    # Nothing is under way any more, nor is this a turn of the lane, which writes at its end.
                    await asyncio.sleep(0)
                    cut(cluster.nodes[0].port)
                    result = await use()
                assert result.bins == {"n": number}

    run(factory, main())


def test_closed_inside_of_a_woken_task(connect, keys, factory):
    client = connect()

    async def closer():
        await client.get(keys[0])
        client.close_blocking()

    async def main():
        tasks = [asyncio.create_task(later(client, k)) for k in keys]
        tasks.append(asyncio.create_task(closer()))
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[-1] is None
        for i, result in enumerate(results[:-1]):
            assert isinstance(result, AerospikeError) or result.bins["i"] == i

    run(factory, main())


@pytest.mark.filterwarnings("ignore:unclosed client:ResourceWarning")
def test_collected_while_in_use(seeds, keys, factory):
    async def main():
        before = descriptors()
        for _ in range(5):
            client = native.new_client_blocking(native.ClientPolicy(timeout=30_000), seeds)
            ops = [client.get(k, policy=native.ReadPolicy(total_timeout=30_000)) for k in keys]
            del client
            gc.collect()
            results = await asyncio.gather(*ops)
            assert [r.bins["i"] for r in results] == list(range(32))
            del ops, results
        # Five clients have some fifty sockets. Threads of their own close them, while this loop goes on.
        await eventually_async(lambda: descriptors() <= before + 3)

    run(factory, main())


def test_debug_mode(client, keys, factory, caplog):
    async def main():
        asyncio.get_running_loop().set_debug(True)
        await read(client, keys)
        await asyncio.create_task(client.get(keys[0]))
        async with asyncio.timeout(50):
            await client.get(keys[1])

    run(factory, main())
    assert not [r for r in caplog.records if "exception" in r.getMessage().lower()]


def test_a_loop_that_does_not_watch_sockets(client, keys, factory):
    class Blind(asyncio.SelectorEventLoop):
        def add_reader(self, fd, callback, *args):
            raise NotImplementedError

    event_loop = Blind()
    try:
        with pytest.raises(RuntimeError, match="add_reader"):
            event_loop.run_until_complete(later(client, keys[0]))
    finally:
        event_loop.close()


def test_anyio_on_asyncio(client, keys, factory, new_cluster, connect):
    anyio = pytest.importorskip("anyio")

    async def main():
        found = []

        async def one(number):
            found.append((await client.get(keys[number])).bins["i"])

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for number in range(32):
                    group.start_soon(one, number)
        assert sorted(found) == list(range(32))
        with slow.inject("stall", on="read"), anyio.move_on_after(0.05) as scope:
            await connect(slow.seeds).get(keys[0])
        assert scope.cancelled_caught

    slow = new_cluster(nodes=1)
    anyio.run(main, backend_options={"loop_factory": factory})


def test_anyio_on_trio(client, keys, factory):
    """A clear error on the loop, and the slower way: blocking calls in threads."""
    anyio, _ = pytest.importorskip("anyio"), pytest.importorskip("trio")

    async def main():
        with pytest.raises(RuntimeError, match="blocking client in a thread"):
            await client.get(keys[0])
        records = []

        async def one(key):
            records.append(await anyio.to_thread.run_sync(client.get_blocking, key))

        async with anyio.create_task_group() as group:
            for key in keys:
                group.start_soon(one, key)
        assert sorted(record.bins["i"] for record in records) == list(range(32))

    anyio.run(main, backend="trio")


def test_trio(client, keys, factory):
    trio = pytest.importorskip("trio")
    with pytest.raises(RuntimeError, match="asyncio"):
        trio.run(later, client, keys[0])
