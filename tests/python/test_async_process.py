"""The end of the interpreter, and forks, with operations in flight. In processes of their own."""

import subprocess
import sys
import textwrap

import pytest

START = """
import asyncio, gc, os, sys, threading, warnings
from aerolane import Key, native
KIND = sys.argv[2]
if KIND == "uvloop":
    import uvloop
    new_loop = uvloop.new_event_loop
else:
    new_loop = asyncio.SelectorEventLoop
client = native.new_client_blocking(native.ClientPolicy(), sys.argv[1])
keys = [Key("test", "async_process", i) for i in range(32)]
for i, key in enumerate(keys):
    client.put_blocking(key, {"i": i})

async def read():
    records = await asyncio.gather(*(client.get(k) for k in keys))
    assert [r.bins["i"] for r in records] == list(range(32))

def run(main):
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)
"""


@pytest.fixture(params=["selector", "uvloop"])
def script(request, seeds):
    """`script(code)`: runs it behind START, gives what it printed. It must end well, and in time.

    `where`: seeds of a cluster of the test's own.
    """
    if request.param == "uvloop":
        pytest.importorskip("uvloop")

    def run(code, *options, where=seeds):
        text = START + textwrap.dedent(code)
        command = [sys.executable, "-X", "faulthandler", *options, "-c", text, where, request.param]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.returncode, done.stderr)
        return done

    return run


def test_end_without_close(script):
    done = script("run(read())\nprint('fine')")
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_end_with_operations_in_flight(script):
    done = script(
        """
        event_loop = new_loop()
        ops = []
        async def start():
            await read()
            ops.extend(client.get(k) for k in keys)
            for op in ops:
                op.add_done_callback(lambda op: None)
        event_loop.run_until_complete(start())
        print("fine")
        """
    )
    assert done.stdout == "fine\n"


def test_end_inside_of_a_task(script):
    done = script(
        """
        async def main():
            await read()
            ops = [asyncio.ensure_future(client.get(k)) for k in keys]
            tasks = [asyncio.create_task(read()) for _ in range(4)]
            await asyncio.sleep(0)
            print("fine")
            sys.exit(0)
        run(main())
        """
    )
    assert done.stdout == "fine\n"


def test_end_with_operations_that_were_never_started(script):
    done = script("kept = [client.get(k) for k in keys]\nprint('fine')")
    assert done.stdout == "fine\n"


# Before 3.14 Python ends daemon threads by unwinding them (CPython #87135): without a guard, one exit in 150 aborted.
def test_end_while_another_thread_runs_a_loop(script):
    done = script(
        """
        def body():
            async def forever():
                while True:
                    await read()
            run(forever())
        threading.Thread(target=body, daemon=True).start()
        run(read())
        print("fine")
        """
    )
    assert done.stdout == "fine\n"


def test_development_mode_is_clean(script):
    done = script(
        """
        run(read())
        async def twice():
            await read()
            await asyncio.create_task(client.get(keys[0]))
        run(twice())
        client.close_blocking()
        del client
        gc.collect()
        print("fine")
        """,
        "-X",
        "dev",
        "-W",
        "error",
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_fork_in_a_coroutine(script):
    done = script(
        """
        async def main():
            await read()
            ops = [client.get(k) for k in keys]
            pid = os.fork()
            if pid == 0:
                try:
                    client.get_blocking(keys[0])
                    os._exit(3)
                except Exception as error:
                    if "forked" not in str(error):
                        os._exit(4)
                try:
                    await client.get(keys[0])
                    os._exit(5)
                except Exception as error:
                    os._exit(0 if "forked" in str(error) else 6)
            records = await asyncio.gather(*ops)
            assert [r.bins["i"] for r in records] == list(range(32))
            for _ in range(20):
                await read()
            _, status = await asyncio.get_running_loop().run_in_executor(None, os.waitpid, pid, 0)
            assert os.waitstatus_to_exitcode(status) == 0, status
            await read()
        warnings.simplefilter("ignore", DeprecationWarning)
        run(main())
        print("fine")
        """
    )
    assert done.stdout == "fine\n"


def test_a_child_has_a_control_thread_of_its_own(script):
    """Several clients of a process share one; a child, whose parent's does not exist there, starts another."""
    done = script(
        """
        def control_threads():
            names = []
            for task in os.listdir("/proc/self/task"):
                try:
                    names.append(open(f"/proc/self/task/{task}/comm").read().strip())
                except OSError:
                    pass  # It has just ended.
            return names.count("aerolane-ctl")
        warnings.simplefilter("ignore")
        others = [native.new_client_blocking(native.ClientPolicy(), sys.argv[1]) for _ in range(3)]
        assert control_threads() == 1
        pid = os.fork()
        if pid == 0:
            assert control_threads() == 0
            mine = [native.new_client_blocking(native.ClientPolicy(), sys.argv[1]) for _ in range(3)]
            assert control_threads() == 1
            for each in mine:
                assert [each.get_blocking(key).bins["i"] for key in keys] == list(range(32))
                each.close_blocking()
            del others
            gc.collect()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        for other in others:
            assert [other.get_blocking(key).bins["i"] for key in keys] == list(range(32))
            other.close_blocking()
        run(read())
        assert control_threads() == 1
        print("fine")
        """
    )
    assert done.stdout == "fine\n"


def test_a_child_sends_nothing_over_the_sockets_of_its_parent(script, new_cluster):
    cluster = new_cluster(nodes=1)
    done = script(
        """
        warnings.simplefilter("ignore", DeprecationWarning)
        run(read())
        assert [client.get_blocking(key).bins["i"] for key in keys] == list(range(32))
        statement = native.Statement("test", "async_process")
        pid = os.fork()
        if pid == 0:
            async def on_a_loop(call):
                await call()
            attempts = [
                lambda: client.get_blocking(keys[0]),
                lambda: client.put_blocking(keys[0], {"i": 99}),
                lambda: client.batch_read_blocking(keys),
                lambda: list(client.query_blocking(statement)),
                lambda: client.info_blocking("build"),
                lambda: client.truncate_blocking("test", "async_process"),
                lambda: run(on_a_loop(lambda: client.get(keys[0]))),
                lambda: run(on_a_loop(lambda: client.put(keys[0], {"i": 99}))),
                lambda: run(on_a_loop(lambda: client.batch_read(keys))),
                lambda: run(on_a_loop(lambda: client.info("build"))),
            ]
            for attempt in attempts:
                try:
                    attempt()
                except Exception as error:
                    assert "forked" in str(error), error
                else:
                    sys.exit(3)
            client.close_blocking()
            del client
            gc.collect()
            sys.exit(0)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        run(read())
        assert [client.get_blocking(key).bins["i"] for key in keys] == list(range(32))
        print("fine")
        """,
        where=cluster.seeds,
    )
    assert done.stdout == "fine\n", done.stderr
    (node,) = cluster.nodes
    stats = cluster.stats(node)
    # Written once, read four times.
    assert (stats["records"], stats["batches"], stats["queries"]) == (5 * 32, 0, 0)


def test_multiprocessing(script):
    done = script(
        """
        import multiprocessing
        warnings.simplefilter("ignore", DeprecationWarning)
        seeds = sys.argv[1]

        def child():
            global client
            try:
                client.get_blocking(keys[0])
                sys.exit(3)
            except Exception as error:
                assert "forked" in str(error), error
            client = None
            gc.collect()
            client = native.new_client_blocking(native.ClientPolicy(), seeds)
            run(read())

        async def main():
            await read()
            children = [multiprocessing.get_context("fork").Process(target=child) for _ in range(3)]
            for process in children:
                process.start()
            while any(process.is_alive() for process in children):
                await read()
            assert [process.exitcode for process in children] == [0, 0, 0]
            await read()
        run(main())
        print("fine")
        """
    )
    assert done.stdout == "fine\n", done.stderr


def test_a_child_looks_at_the_client_of_its_parent(script):
    """While threads of the parent are busy with it: whatever lock one of them had is held for ever in the child."""
    done = script(
        """
        import faulthandler
        warnings.simplefilter("ignore", DeprecationWarning)
        over = False
        def busy():
            while not over:
                client.stats(), client.is_connected(), client.node_names(), client.metrics_enabled(), repr(client)
                client.metrics(), client.get_blocking(keys[0])
        threads = [threading.Thread(target=busy) for _ in range(4)]
        for thread in threads:
            thread.start()
        run(read())
        nodes = client.nodes()
        children = []
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                faulthandler.dump_traceback_later(40, exit=True)
                assert client.is_connected() is False
                assert "of the parent process" in repr(client)
                looks = [
                    client.stats, client.metrics, client.metrics_enabled, client.nodes, client.node_names,
                    lambda: client.get_node("a"), lambda: client.is_strong_consistency("test"),
                    lambda: client.cluster_name, lambda: client.server_cluster_name,
                ]
                for look in looks:
                    try:
                        look()
                    except Exception as error:
                        assert "forked" in str(error), error
                    else:
                        os._exit(3)
                repr(nodes)
                os._exit(0)
            children.append(pid)
        statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
        over = True
        for thread in threads:
            thread.join()
        assert statuses == [0] * 20, statuses
        print("fine")
        """
    )
    assert done.stdout == "fine\n", done.stderr


def test_a_child_connects_the_clients_of_its_parent_anew(script, new_cluster):
    cluster = new_cluster(nodes=1)
    done = script(
        """
        from aerolane import Client, SyncClient
        warnings.simplefilter("ignore", DeprecationWarning)
        sync, door = SyncClient(sys.argv[1]), Client(sys.argv[1])
        sync.connect()

        async def use():
            await door.connect()
            session = door.create_session()
            assert (await session.get(keys[3])).bins == {"i": 3}
            assert door.is_connected

        async def child():
            assert not door.is_connected
            try:
                door.create_session()
            except RuntimeError as error:
                assert "forked" in str(error) and "connect" in str(error), error
            else:
                sys.exit(3)
            await use()
            await door.close()
            assert not door.is_connected

        run(use())
        session = sync.create_session()
        pid = os.fork()
        if pid == 0:
            assert not sync.is_connected
            try:
                session.get(keys[0])
            except Exception as error:
                assert "forked" in str(error), error
            else:
                sys.exit(4)
            assert sync.connect() is None and sync.is_connected
            assert sync.create_session().get(keys[1]).bins == {"i": 1}
            with sync:
                pass
            assert not sync.is_connected
            run(child())
            gc.collect()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        assert sync.is_connected and session.get(keys[2]).bins == {"i": 2}
        run(use())
        print("fine")
        """,
        where=cluster.seeds,
    )
    assert done.stdout == "fine\n", done.stderr
