"""Several loops in several threads, with and without the GIL."""

import asyncio
import random
import threading
import time

import pytest
from conftest import LOOPS

from aerolane import Key, native


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
def test_loops_that_share_client_keys_and_policies(client, set_name, factory):
    keys = [Key("test", set_name, i) for i in range(64)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i})
    read, write = native.ReadPolicy(), native.WritePolicy()
    failures, counts = [], []
    end = time.monotonic() + 2

    def body(seed):
        rng = random.Random(seed)

        async def worker():
            count = 0
            while time.monotonic() < end:
                i = rng.randrange(64)
                if rng.random() < 0.3:
                    await client.put(keys[i], {"i": i}, policy=write)
                record = await client.get(keys[i], policy=read)
                assert record.bins == {"i": i} and record.key == keys[i]
                count += 1
            return count

        async def main():
            counts.append(sum(await asyncio.gather(*(worker() for _ in range(16)))))

        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(main())
        except BaseException as error:
            failures.append(error)

    def blocking(seed):
        rng = random.Random(seed)
        try:
            while time.monotonic() < end:
                i = rng.randrange(64)
                assert client.get_blocking(keys[i]).bins == {"i": i}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(n,)) for n in range(3)]
    threads.append(threading.Thread(target=blocking, args=(9,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures, failures
    assert len(counts) == 3 and all(counts)


def test_one_operation_started_by_several_threads(client, key):
    """One that has no loop yet belongs to the first that runs it; the others are told."""
    client.put_blocking(key, {"i": 1})
    for _ in range(50):
        op = client.get(key)
        barrier = threading.Barrier(3)
        outcomes = []

        def body(op=op, barrier=barrier, outcomes=outcomes):
            async def main():
                barrier.wait(60)
                return await op

            try:
                outcomes.append(asyncio.run(main()).bins["i"])
            except RuntimeError as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=body) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
        assert outcomes.count(1) == 1, outcomes
        assert sum("event loop" in str(o) for o in outcomes) == 2, outcomes
