"""What looks at tasks from outside: call graphs, task lists, `python -m asyncio ps`."""

import asyncio
import io
import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import LOOPS, eventually


@pytest.mark.skipif(sys.version_info < (3, 14), reason="call graphs came with Python 3.14")
async def test_call_graph_of_a_task_that_waits(client, key):
    await client.put(key, {"i": 1})

    async def inner():
        return await client.get(key)

    async def outer():
        return await inner()

    tasks = [asyncio.create_task(outer()), asyncio.create_task(client.get(key))]
    gathered = asyncio.gather(*tasks)
    await asyncio.sleep(0)
    graph = asyncio.capture_call_graph(tasks[0])
    assert [entry.frame.f_code.co_name for entry in graph.call_stack] == ["inner", "outer"]
    assert [waiter.future for waiter in graph.awaited_by] == [asyncio.current_task()]
    text = io.StringIO()
    asyncio.print_call_graph(tasks[0], file=text)
    asyncio.print_call_graph(tasks[1], file=text)
    assert ".inner()" in text.getvalue()
    # Not one of asyncio's own futures: refused as any other is.
    op = client.get(key)
    with pytest.raises(TypeError):
        asyncio.capture_call_graph(op)
    asyncio.future_add_to_awaited_by(op, tasks[0])
    asyncio.future_discard_from_awaited_by(op, tasks[0])
    assert (await op).bins == {"i": 1}
    assert [record.bins for record in await gathered] == [{"i": 1}] * 2


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
def test_tasks_listed_by_another_thread(client, key, factory):
    client.put_blocking(key, {"i": 1})
    over = threading.Event()
    loops, failures = [], []

    async def worker():
        while not over.is_set():
            assert (await asyncio.create_task(client.get(key))).bins == {"i": 1}

    async def main():
        loops.append(asyncio.get_running_loop())
        await asyncio.gather(*(worker() for _ in range(8)))

    def body():
        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(asyncio.wait_for(main(), 60))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body) for _ in range(2)]
    for thread in threads:
        thread.start()
    looks = 0
    while looks < 200 and not failures:
        for event_loop in list(loops):
            for task in asyncio.all_tasks(event_loop):
                # Not repr(task): without the GIL, asyncio's own reads the callbacks twice and fails now and then.
                assert task.get_name() and task.get_coro() is not None
            looks += 1
    over.set()
    for thread in threads:
        thread.join(60)
    assert not failures, failures


@pytest.mark.skipif(sys.version_info < (3, 14), reason="asyncio ps came with Python 3.14")
def test_asyncio_ps(new_cluster):
    """Another process reads the memory of one whose tasks wait for operations.

    They all wait while it looks: pictures of a process that goes on meanwhile are torn now and then.
    """
    cluster = new_cluster(nodes=1)
    code = f"""
    import asyncio
    from aerolane import Key, native
    client = native.new_client_blocking(native.ClientPolicy(), {cluster.seeds!r})
    key = Key("test", "s", 1)
    client.put_blocking(key, {{"i": 1}})
    policy = native.ReadPolicy(total_timeout=100_000, socket_timeout=100_000)

    async def worker():
        assert (await client.get(key, policy=policy)).bins == {{"i": 1}}

    async def main():
        workers = [asyncio.create_task(worker(), name=f"reader-{{n}}") for n in range(4)]
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), __import__("sys").stdin
        )
        print("ready", flush=True)
        await reader.read()
        await asyncio.gather(*workers)
        print("fine", flush=True)

    asyncio.run(main())
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    fault = cluster.inject("stall", on="read")
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], **pipes) as watched:
        try:
            assert watched.stdout.readline() == "ready\n"
            eventually(lambda: fault.struck)
            texts = []
            for what in ["ps", "pstree"]:
                command = [sys.executable, "-m", "asyncio", what, str(watched.pid)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=30)
                if "Permission" in done.stderr or "permitted" in done.stderr:
                    pytest.skip("one process may not look into another one here")
                texts.append(done.stdout + done.stderr)
            fault.remove()
            out, err = watched.communicate("", timeout=30)
        finally:
            watched.kill()
    assert (out, err, watched.returncode) == ("fine\n", "", 0)
    assert all(f"reader-{n}" in text for text in texts for n in range(4)), texts
