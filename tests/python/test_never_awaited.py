"""What a program is told of operations, connecting and closing that it did not await."""

import asyncio
import concurrent.futures
import subprocess
import sys

import pytest

from aerolane import Client, native

NEVER_AWAITED = """
import asyncio, gc, sys
from aerolane import Client, Key, native
async def main():
    client = native.new_client_blocking(native.ClientPolicy(), {seeds!r})
    client.get(Key("test", "never", 1))  # this line
    await asyncio.sleep(0.1)
    gc.collect()
    client.close_blocking()
asyncio.run(main())
"""


@pytest.mark.parametrize("options", [[], ["-X", "dev"], ["-X", "tracemalloc"]], ids=["plain", "dev", "tracemalloc"])
def test_an_operation_that_was_never_awaited_names_its_line(seeds, tmp_path, options):
    program = tmp_path / "program.py"
    program.write_text(NEVER_AWAITED.format(seeds=seeds))
    run = [sys.executable, *options, "-W", "always::RuntimeWarning", str(program)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "operation 'get' was never awaited" in done.stderr, done.stderr
    said = "Operation created at" in done.stderr and 'client.get(Key("test", "never", 1))  # this line' in done.stderr
    assert said is bool(options), done.stderr


def test_arguments_that_were_refused_and_never_awaited(seeds):
    code = f"""
import asyncio, sys
from aerolane import Key, native
async def main():
    client = native.new_client_blocking(native.ClientPolicy(), {seeds!r})
    client.put(Key("test", "never", 1), {{"i": object()}})
    client.close_blocking()
asyncio.run(main())
"""
    run = [sys.executable, "-X", "dev", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Operation created at" in done.stderr and "TypeError" in done.stderr, done.stderr


def test_connecting_and_closing_that_were_never_awaited(seeds):
    async def main():
        client = Client(seeds)
        await client.connect()
        with pytest.warns(RuntimeWarning, match=r"coroutine 'Client\.close' was never awaited") as warned:
            client.close()
        async with asyncio.timeout(50):
            while client.is_connected:
                await asyncio.sleep(0.01)
        with pytest.warns(RuntimeWarning, match=r"coroutine 'Client\.connect' was never awaited"):
            client.connect()
        # It has begun all the same.
        async with asyncio.timeout(50):
            while not client.is_connected:
                await asyncio.sleep(0.01)
        await client.close()
        return warned[0].filename

    assert asyncio.run(main()) == __file__


def test_connecting_needs_no_executor(seeds):
    """The loop's thread pool may be full, and starts threads that stay."""

    async def main():
        class Executor(concurrent.futures.ThreadPoolExecutor):
            def submit(self, *_args, **_named):
                raise AssertionError("the loop's executor is not used")

        asyncio.get_running_loop().set_default_executor(Executor())
        async with Client(seeds) as client:
            assert client.is_connected
        with pytest.raises(ConnectionError):
            await native.new_client(native.ClientPolicy(), "127.0.0.1:1")

    asyncio.run(main())
