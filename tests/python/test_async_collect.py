"""Operations and the garbage collector, and operations that end on other threads than they began."""

import asyncio
import gc
import threading
import time
import weakref

import pytest
from conftest import LOOPS

from aerolane import Key, native
from aerolane.exceptions import RecordNotFoundError

# Collections stop all threads, those of the cluster too.
PATIENT = native.ReadPolicy(total_timeout=60_000, socket_timeout=0)


class Marker:
    """Its weak reference tells when a cycle is gone."""


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
def test_cycles_while_another_thread_collects(client, set_name, factory):
    """Exceptions that know their operations, tasks that are given up: all collected by a thread that runs no loop."""
    stored, missing = Key("test", set_name, 1), Key("test", set_name, "missing")
    client.put_blocking(stored, {"i": 1})
    over = threading.Event()
    failures, markers = [], []

    def collector():
        while not over.is_set():
            gc.collect()
            time.sleep(0.001)

    async def cycle():
        marker = Marker()
        markers.append(weakref.ref(marker))
        op = client.get(missing, policy=PATIENT)
        try:
            await op
        except RecordNotFoundError as error:
            kept = error
            marker.circle = (kept, op, marker)
            assert kept.__traceback__ is not None

    async def worker():
        for n in range(150):
            await cycle()
            assert (await client.get(stored, policy=PATIENT)).bins == {"i": 1}
            if n % 4 == 0:
                task = asyncio.create_task(client.get(stored, policy=PATIENT))
                await asyncio.sleep(0)
                task.cancel()
                client.get(stored, policy=PATIENT).cancel()

    def body():
        async def main():
            await asyncio.gather(*(worker() for _ in range(4)))

        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(asyncio.wait_for(main(), 60))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body) for _ in range(3)]
    collecting = threading.Thread(target=collector)
    collecting.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    over.set()
    collecting.join(30)
    assert not failures, failures
    gc.collect()
    assert len(markers) == 3 * 4 * 150
    assert [marker() for marker in markers if marker() is not None] == []
    assert sum(type(o).__name__ == "Awaitable" for o in gc.get_objects()) < 10


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
def test_the_last_reference_is_anothers(client, set_name, factory):
    """Operations, done, failed, cancelled or never started, are freed by a thread that did not make them, while their
    thread runs and after its end."""
    stored, missing = Key("test", set_name, 1), Key("test", set_name, "missing")
    client.put_blocking(stored, {"i": 1})
    kept = []
    handed, freed = threading.Event(), threading.Event()

    async def main():
        for _ in range(2):
            for _ in range(100):
                done, failed = client.get(stored, policy=PATIENT), client.get(missing, policy=PATIENT)
                cancelled = client.get(stored, policy=PATIENT)
                await done
                with pytest.raises(RecordNotFoundError):
                    await failed
                cancelled.cancel()
                kept.extend((done, failed, cancelled, done.result()))
            del done, failed, cancelled
            handed.set()
            while not freed.is_set():
                await client.get(stored, policy=PATIENT)

    def body():
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(asyncio.wait_for(main(), 60))

    thread = threading.Thread(target=body)
    thread.start()
    assert handed.wait(60)
    assert len(kept) == 400
    with pytest.raises(RuntimeError, match="another thread"):
        kept[0].result()
    with pytest.raises(RuntimeError, match="another thread"):
        kept[1].exception()
    assert "of another thread" in repr(kept[2])
    record = kept[3]
    kept.clear()
    gc.collect()
    freed.set()
    thread.join(60)
    assert not thread.is_alive()
    assert len(kept) == 400
    kept.clear()
    gc.collect()
    assert record.bins == {"i": 1}
    assert sum(type(o).__name__ == "Awaitable" for o in gc.get_objects()) < 10


@pytest.mark.parametrize("factory", LOOPS.values(), ids=LOOPS.keys())
def test_a_task_that_waits_when_its_loop_is_closed(client, set_name, factory):
    """The task, its coroutine and the operation are garbage then; a thread without a loop collects them."""
    stored = Key("test", set_name, 1)
    client.put_blocking(stored, {"i": 1})
    seen = []

    async def wait():
        marker = Marker()
        marker.circle = marker
        seen.append(weakref.ref(marker))
        await client.get(stored, policy=PATIENT)

    async def main():
        task = asyncio.create_task(wait())
        task._log_destroy_pending = False
        await asyncio.sleep(0)

    def body():
        event_loop = factory()
        event_loop.run_until_complete(main())
        event_loop.close()

    for _ in range(20):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join(30)
    gc.collect()
    assert [marker() for marker in seen] == [None] * 20
