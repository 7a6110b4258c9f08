"""Objects that are made for each call: without the GIL their memory is kept for the next ones (`recycled/objects.rs`).
What has to hold for that, and that many threads may make, share and drop them, and end."""

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from aerolane import Client, DataSet, Key, SyncClient


@pytest.fixture
def objects(seeds, set_name):
    """`objects()`: one of each, new ones."""
    with SyncClient(seeds) as client:
        session, dataset = client.create_session(), DataSet.of("test", set_name)
        session.put(dataset.id(1), {"a": 1})

        def make():
            key = dataset.id(1)
            stream = session.query(key).execute()
            result = next(iter(session.query(key).execute()))
            row = client.native.batch_read_blocking([key])[0]
            return [key, session.query(key), session.upsert(key), stream, result, result.record, row, row.record]

        yield make


def test_they_are_made_by_calls_only(objects):
    made = objects()
    for one in made:
        kind = type(one)
        for other in (lambda kind=kind: object.__new__(kind), lambda kind=kind: type("Sub", (kind,), {})):
            with pytest.raises(TypeError):
                other()
        for another in made:
            if type(another) is not kind:
                with pytest.raises(TypeError):
                    one.__class__ = type(another)
        # They have nothing to tell the garbage collector, which without the GIL is not to look into memory that is used
        # again.
        assert not gc.is_tracked(one)


def test_outcomes_that_are_taken_by_hand(seeds, set_name):
    """`next()` in place of `await`: the exception that brings an outcome may be kept, and be part of a cycle."""

    async def main():
        async with Client(seeds) as client:
            session, key = client.create_session(), DataSet.of("test", set_name).id(1)
            await session.put(key, {"a": 1})
            kept = []
            for _ in range(100):
                operation = session.get(key)
                while not operation.done():
                    await asyncio.sleep(0)
                with pytest.raises(StopIteration) as caught:
                    next(operation)
                assert caught.value.value.bins == {"a": 1}
                kept.append(caught.value)
            assert len({id(one.value) for one in kept}) == 100
            for one in kept:
                one.itself = one
            assert all(one.__context__ is None and str(one) in ("", str(one.value)) for one in kept)
            del one, caught
            gc.collect()
            kept.clear()
            # The exceptions, and the dicts in which they are.
            assert gc.collect() >= 200

    asyncio.run(main())


def test_one_interpreter_only():
    """Others have memory of their own."""
    interpreters = pytest.importorskip("concurrent.interpreters", reason="needs Python 3.14")
    other = interpreters.create()
    try:
        with pytest.raises(interpreters.ExecutionFailed, match="ImportError"):
            other.exec("import aerolane")
    finally:
        other.close()


def in_threads(*works):
    """Runs all at the same time, to their end; none may fail."""
    failed = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_threads_share_drop_and_look_at_them(objects):
    names = {type(one).__name__ for one in objects()}
    end = time.monotonic() + 2
    slots, table = objects(), dict(enumerate(objects()))

    def replace():
        at = 0
        while time.monotonic() < end:
            for one in objects():
                at += 1
                slots[at % len(slots)] = table[at % len(table)] = one

    def look():
        kept = []
        while time.monotonic() < end:
            for at in range(len(slots)):
                one = slots[at]
                assert {type(one).__name__, type(table.get(at, one)).__name__} <= names
                kept.append(one)
            if len(kept) > 200:
                kept.clear()

    def short():
        while time.monotonic() < end:
            items = [one for _ in range(10) for one in objects()]
            # Dropped by a thread that ends then.
            in_threads(items.clear, lambda: [objects() for _ in range(5)])

    def collect():
        while time.monotonic() < end:
            gc.collect()

    in_threads(replace, replace, look, look, short, collect)


def test_what_threads_leave_is_used_again(objects):
    def round_():
        for _ in range(20):
            items = [one for _ in range(40) for one in objects()]
            in_threads(items.clear, lambda: [objects() for _ in range(10)])
        gc.collect()
        return sys.getallocatedblocks()

    round_()
    before = round_()
    after = max(round_() for _ in range(3))
    # A round makes several times as many.
    assert after < before + 2000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_makes_them_whatever_threads_did_when_it_was_forked():
    """What ending threads leave is kept without a lock, which a child could find taken for ever. In a process of its
    own: a child that hangs is killed with it."""
    code = """
        import os, threading, time, warnings
        from aerolane import DataSet, SyncClient
        from aerolane.testing import EmbeddedCluster

        warnings.simplefilter("ignore")
        with EmbeddedCluster(nodes=1) as cluster, SyncClient(cluster.seeds) as client:
            session, key = client.create_session(), DataSet.of("test", "s").id(1)
            on = True

            def end():
                [session.query(key) for _ in range(70)]

            def keep_ending():
                while on:
                    threads = [threading.Thread(target=end) for _ in range(4)]
                    [thread.start() for thread in threads]
                    [thread.join() for thread in threads]

            busy = threading.Thread(target=keep_ending)
            busy.start()
            for _ in range(20):
                child = os.fork()
                if not child:
                    try:
                        [session.query(key) for _ in range(200)]
                    finally:
                        # Also when that is refused, as the client is the parent's.
                        os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            on = False
            busy.join()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=100)


@pytest.mark.parametrize(
    "make", [lambda: Key.from_int_user_key("test", "s", 7), lambda: Key.key_with_digest("test", "s", bytes(20))]
)
def test_keys_that_are_made_by_calls(make):
    key = make()
    assert not gc.is_tracked(key)
    assert make() == key and hash(make()) == hash(key)
