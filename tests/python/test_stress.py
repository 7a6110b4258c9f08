"""Many threads and event loops at once on what users share, whole clusters and faulty ones.

Every answer is checked against its key: values say which key they belong to, so that a mix-up of answers shows. Runs
for AEROLANE_STRESS_SECONDS (default 4) in all. Meant for both kinds of Python, above all for that without the GIL.
"""

import asyncio
import contextlib
import faulthandler
import itertools
import os
import pickle
import random
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest

from aerolane import AerospikeError, AsyncPool, Behavior, Client, Key, RecordExistsError, SyncClient, native
from aerolane.exceptions import RecordNotFoundError
from aerolane.policy import Settings

SECONDS = float(os.environ.get("AEROLANE_STRESS_SECONDS", "4"))
TESTS = 13  # that share those seconds
HANG = 60.0  # Seconds after which a thread that was told to end is taken for hung.
# Where nothing goes wrong, calls take as long as a busy machine needs.
LATER = 600_000
READ, WRITE = native.ReadPolicy(total_timeout=LATER), native.WritePolicy(total_timeout=LATER)
BATCH = native.BatchPolicy(total_timeout=LATER)
PATIENT = Behavior.DEFAULT.derive_with_changes("stress", all=Settings(total_timeout=timedelta(milliseconds=LATER)))
WORDS = ["", "x", "word" * 10, "long" * 300, "é漢😀" * 20]


def together(*steps, seconds=SECONDS / TESTS, enough=lambda: True):
    """Repeats each step (called with a `random.Random`) on a thread of its own, for some seconds and until `enough()`.

    Raises the first error of any of them.
    """
    over = threading.Event()
    ready = threading.Barrier(len(steps) + 1)
    errors = []

    def run(step, seed):
        rng = random.Random(seed)
        try:
            ready.wait(HANG)
            while True:
                step(rng)
                if over.is_set():
                    return
        except BaseException as error:
            errors.append(error)
            over.set()

    threads = [threading.Thread(target=run, args=(step, n), daemon=True) for n, step in enumerate(steps)]
    for thread in threads:
        thread.start()
    ready.wait(HANG)
    over.wait(seconds)
    deadline = time.monotonic() + HANG
    while not (over.is_set() or enough()) and time.monotonic() < deadline:
        time.sleep(0.01)
    over.set()
    deadline = time.monotonic() + HANG
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback()
        raise AssertionError("a thread hangs")
    if errors:
        raise errors[0]
    assert enough()


def looping(step):
    """A step for `together` from a coroutine function: an event loop of its own for every turn."""
    return lambda rng: asyncio.run(asyncio.wait_for(step(rng), HANG))


def bins_of(number, version):
    """Bins that say whose they are."""
    word = WORDS[version % len(WORDS)]
    return {"number": number, "version": version, "text": f"{number}/{version}/{word}", "list": [number, [version]]}


def check(record, number, at_least=0):
    """That a record is the one of this number, whole, and not older than a version that was confirmed."""
    version = record.bin("version")
    assert record.bins == bins_of(number, version), (number, record.bins)
    assert version >= at_least, (number, version, at_least)
    return version


class Versions:
    """Records numbered from 0, each written by one thread or task at a time, with versions that only grow."""

    def __init__(self, set_name, count):
        self.keys = [Key("test", set_name, number) for number in range(count)]
        self.locks = [threading.Lock() for _ in range(count)]
        # The last version that was confirmed, by number. None where an outcome is in doubt: it may come late.
        self.known = [0] * count
        self.tried = itertools.count(1)

    def fill(self, client):
        for number, key in enumerate(self.keys):
            client.put_blocking(key, bins_of(number, 0))

    def read(self, get, rng):
        number = rng.randrange(len(self.keys))
        known = self.known[number]
        check(get(self.keys[number]), number, known)

    async def read_async(self, get, rng):
        number = rng.randrange(len(self.keys))
        known = self.known[number]
        check(await get(self.keys[number]), number, known)

    def write(self, put, rng):
        number = rng.randrange(len(self.keys))
        with self.locks[number]:
            version = next(self.tried)
            put(self.keys[number], bins_of(number, version))
            self.known[number] = version

    async def write_async(self, put, rng):
        number = rng.randrange(len(self.keys))
        if self.locks[number].acquire(blocking=False):
            try:
                version = next(self.tried)
                await put(self.keys[number], bins_of(number, version))
                self.known[number] = version
            finally:
                self.locks[number].release()

    def read_many(self, batch_read, rng):
        numbers = rng.choices(range(len(self.keys)), k=20)
        known = [self.known[number] for number in numbers]
        rows = batch_read([self.keys[number] for number in numbers])
        for number, version, row in zip(numbers, known, rows, strict=True):
            check(row.record, number, version)

    def write_many(self, batch_write, rng):
        numbers = [n for n in rng.sample(range(len(self.keys)), 10) if self.locks[n].acquire(blocking=False)]
        try:
            if numbers:
                written = {number: next(self.tried) for number in numbers}
                keys = [self.keys[number] for number in numbers]
                rows = batch_write(keys, [bins_of(*pair) for pair in written.items()])
                assert all(row.result_code == native.ResultCode.OK for row in rows)
                for number, version in written.items():
                    self.known[number] = version
        finally:
            for number in numbers:
                self.locks[number].release()


@pytest.fixture
def calls(client):
    """Calls of the client, which have the time that they need."""
    return SimpleNamespace(
        get=partial(client.get, policy=READ),
        put=partial(client.put, policy=WRITE),
        get_blocking=partial(client.get_blocking, policy=READ),
        put_blocking=partial(client.put_blocking, policy=WRITE),
        batch_read=partial(client.batch_read, batch_policy=BATCH),
        batch_read_blocking=partial(client.batch_read_blocking, batch_policy=BATCH),
        batch_write_blocking=partial(client.batch_write_blocking, batch_policy=BATCH),
    )


@pytest.fixture
def versions(calls, set_name):
    records = Versions(set_name, 40)
    records.fill(calls)
    return records


def test_threads_on_one_client(calls, versions):
    def step(rng):
        versions.read(calls.get_blocking, rng)
        versions.write(calls.put_blocking, rng)

    together(*[step] * 16)


def test_threads_on_one_session_and_one_key_object(seeds, key):
    with SyncClient(seeds) as client:
        session = client.create_session(PATIENT)
        session.put(key, bins_of(7, 0))
        versions = itertools.count(1)

        def step(rng):
            session.put(key, bins_of(7, next(versions)))
            check(session.get(key), 7)
            assert session.get(key, ["number"]).bins == {"number": 7}
            assert hash(key) == hash(Key("test", key.set_name, "k")) and len(key.digest_bytes) == 20

        together(*[step] * 16)


def test_current_thread_runtime_on_threads_that_come_and_go(seeds, versions):
    with SyncClient(seeds, current_thread_runtime=True) as client:
        session = client.create_session(PATIENT)

        def step(rng):
            def few():
                versions.read(session.get, rng)
                versions.write(session.put, rng)

            thread = threading.Thread(target=few)
            thread.start()
            thread.join(HANG)
            assert not thread.is_alive()

        together(*[step] * 8)


def test_one_policy_that_another_thread_changes(client, set_name):
    """Each answer is right for one of the states that the policy goes through."""
    write, read = native.WritePolicy(total_timeout=90_000), native.ReadPolicy(total_timeout=90_000)
    update, create = native.RecordExistsAction.UPDATE, native.RecordExistsAction.CREATE_ONLY
    times = [1000, 500_000]
    write.expiration = native.Expiration.seconds(times[0])
    keys = [Key("test", set_name, number) for number in range(8)]
    for number, key in enumerate(keys):
        client.put_blocking(key, bins_of(number, 0), policy=write)
    outcomes = set()

    def change(rng):
        write.record_exists_action = rng.choice([update, create])
        write.expiration = native.Expiration.seconds(rng.choice(times))
        write.total_timeout, read.total_timeout = rng.choice([(90_000, 80_000), (200_000, 300_000)])
        read.max_retries = rng.randrange(5)
        time.sleep(0.0002)

    def use(rng):
        number = rng.randrange(len(keys))
        try:
            client.put_blocking(keys[number], bins_of(number, rng.randrange(100)), policy=write)
            outcomes.add("written")
        except RecordExistsError:
            outcomes.add("exists")
        record = client.get_blocking(keys[number], policy=read)
        check(record, number)
        assert any(seconds - 60 <= record.ttl <= seconds + 1 for seconds in times), record.ttl
        outcomes.add(max(record.ttl, 2000))

    together(
        *[use] * 6,
        *[change] * 2,
        seconds=max(0.5, SECONDS / TESTS),
        enough=lambda: {"written", "exists"} <= outcomes and len(outcomes) >= 3,
    )


def test_bins_that_other_threads_change_while_they_are_sent(calls, set_name):
    """Either an error says so, or what was stored is made of values that were there."""
    ones, twos = "1" * 50, "2" * 500
    items = [1, 10**12, ones, twos, b"1" * 300, 1.5, None, True]
    valid = {repr(item) for item in items}
    listed, mapped, blob = list(items), dict.fromkeys(range(8), 1), bytearray(b"a" * 100)
    bins = {"plain": 1, "list": listed, "map": mapped, "blob": blob, "deep": [{"in": [listed, mapped]}]}
    outcomes = {"written": 0, "refused": 0}

    def change_list(rng):
        listed[:] = rng.choices(items, k=rng.randrange(1, 12))
        listed.append(rng.choice(items))
        listed.pop(0)

    def change_map(rng):
        mapped[rng.randrange(30)] = rng.choice(items)
        mapped.pop(rng.randrange(30), None)
        if rng.random() < 0.05:
            mapped.clear()

    def change_blob(rng):
        try:
            blob[:] = rng.choice([b"a", b"b"]) * rng.randrange(1, 200)
        except BufferError:  # It is being sent.
            assert len(blob) < 200

    def change_bins(rng):
        bins["plain"] = rng.choice(items[:-2])
        name = f"more{rng.randrange(5)}"
        bins[name] = rng.choice(items)
        bins.pop(name, None)

    def check_list(value):
        assert len(value) <= 13 and all(repr(item) in valid for item in value), value

    def check_map(value):
        assert all(0 <= number < 30 and repr(item) in valid for number, item in value.items()), value

    def send(rng):
        key = Key("test", set_name, threading.get_ident())
        try:
            calls.put_blocking(key, bins)
        except ValueError as error:
            assert "changed its size" in str(error), error
            outcomes["refused"] += 1
            return
        got = calls.get_blocking(key).bins
        outcomes["written"] += 1
        check_list(got["list"])
        check_map(got["map"])
        check_list(got["deep"][0]["in"][0])
        check_map(got["deep"][0]["in"][1])
        assert set(got["blob"]) <= set(b"ab") and len(got["blob"]) < 200
        assert repr(got["plain"]) in valid

    calls.put_blocking(Key("test", set_name, 0), bins)
    changes = [change_list, change_map, change_blob, change_bins]
    together(*[send] * 4, *changes, seconds=max(0.5, SECONDS / TESTS), enough=lambda: outcomes["written"])


def test_lists_of_keys_that_other_threads_change_while_they_are_sent(calls, seeds, versions):
    """Either an error says so, or each row belongs to the key that it names."""
    keys, bins = list(versions.keys), ["number"]
    numbers = {key: number for number, key in enumerate(versions.keys)}
    answered = threading.Event()

    def change(rng):
        keys.append(rng.choice(versions.keys))
        keys.pop(rng.randrange(len(keys)))
        if rng.random() < 0.1:
            keys[:] = rng.sample(versions.keys, rng.randrange(1, 40))

    def change_bins(rng):
        bins[:] = ["number", "version", "text", "list"][: rng.randrange(1, 5)]

    def check_rows(rows):
        for row in rows:
            assert row.record.bins["number"] == row.record.bin("number") == numbers[row.key]
        answered.set()

    def read(rng):
        try:
            rows = calls.batch_read_blocking(keys, bins)
        except ValueError as error:
            assert "changed" in str(error), error
        else:
            check_rows(rows)

    async def read_async(rng):
        async with Client(seeds) as other:
            session = other.create_session(PATIENT)
            for _ in range(10):
                try:
                    rows = await calls.batch_read(keys, bins)
                    records = await session.get_many(keys, bins)
                except ValueError as error:
                    assert "changed" in str(error), error
                else:
                    check_rows(rows)
                    for record in records:
                        assert record.bins["number"] == numbers[record.key]

    together(*[read] * 4, looping(read_async), change, change_bins, enough=answered.is_set)


def test_records_that_threads_decode_at_once(client, key):
    bins = {f"b{n}": [n, {"text": WORDS[n % 5] * 3, "n": {n: [n] * 20}}] for n in range(30)}
    client.put_blocking(key, bins)
    threads = 8
    barrier = threading.Barrier(threads)
    shared = {}

    def step(rng):
        turn = barrier.wait(HANG)
        if turn == 0:
            shared["record"] = client.get_blocking(key, policy=READ)
            shared["seen"] = []
        barrier.wait(HANG)
        record, name = shared["record"], f"b{rng.randrange(30)}"
        match rng.randrange(4):
            case 0:
                assert record.bin(name) == bins[name]
            case 1:
                assert pickle.loads(pickle.dumps(record)) == record
            case 2:
                assert repr(record).startswith("Record(")
            case _:
                pass
        assert record.bins == bins
        shared["seen"].append(id(record.bins))
        barrier.wait(HANG)
        assert len(set(shared["seen"])) == 1, "threads saw different dicts"

    # All take the same number of turns: the barrier would hold the others up.
    turns = 5 if SECONDS < 10 else int(SECONDS * 20)

    def run(rng):
        for _ in range(turns):
            step(rng)

    together(*[run] * threads, seconds=0)


def test_event_loops_on_threads_share_a_client(calls, versions):
    async def step(rng):
        for _ in range(20):
            reads = [versions.read_async(calls.get, rng) for _ in range(20)]
            writes = [versions.write_async(calls.put, rng) for _ in range(10)]
            await asyncio.gather(*reads, *writes)

    together(*[looping(step)] * 4)


def test_sync_and_async_and_batches_at_once_on_one_client(calls, seeds, versions):
    async def loop(rng):
        async with Client(seeds) as other:
            session = other.create_session(PATIENT)
            for _ in range(10):
                known = list(versions.known)
                many = await session.get_many(versions.keys)
                for number, record in enumerate(many):
                    check(record, number, known[number])
                async with asyncio.TaskGroup() as group:
                    for _ in range(20):
                        group.create_task(versions.read_async(rng.choice([calls.get, session.get]), rng))
                        group.create_task(versions.write_async(rng.choice([calls.put, session.put]), rng))

    def step(rng):
        versions.read(calls.get_blocking, rng)
        versions.write(calls.put_blocking, rng)
        versions.read_many(calls.batch_read_blocking, rng)
        versions.write_many(calls.batch_write_blocking, rng)

    together(*[step] * 6, *[looping(loop)] * 2)


def test_a_pool_of_loops(seeds, versions):
    async def turn(client, seed):
        rng, session = random.Random(seed), client.create_session(PATIENT)
        reads = [versions.read_async(session.get, rng) for _ in range(20)]
        await asyncio.gather(*reads, *(versions.write_async(session.put, rng) for _ in range(10)))
        return seed

    async def step(rng):
        async with AsyncPool(lambda: Client(seeds), loop_count=3) as pool:
            for _ in range(5):
                numbers = [rng.randrange(1000) for _ in range(12)]
                assert await pool.map(turn, numbers) == numbers

    together(looping(step))


@pytest.mark.parametrize(
    "faults",
    [
        [("drop-before", None), ("drop-after", None)],
        [("delay", 0.02), ("answer-delay", 0.02)],
        [("stall", None), ("truncate", 10), ("split", None)],
    ],
    ids=["drops", "delays", "stalls"],
)
def test_answers_belong_to_their_keys_whatever_the_network_does(new_cluster, set_name, faults):
    """Under faults, with cancelled tasks beside: an answer is right, or an error of this package says what happened."""
    cluster = new_cluster(nodes=3)
    policy = native.ClientPolicy()
    policy.max_error_rate = 0
    read = native.ReadPolicy(total_timeout=400, socket_timeout=100, max_retries=3)
    write = native.WritePolicy(total_timeout=400, socket_timeout=100, max_retries=3)
    client = native.new_client_blocking(policy, cluster.seeds)
    keys = [Key("test", set_name, number) for number in range(40)]
    for number, key in enumerate(keys):
        client.put_blocking(key, bins_of(number, 0))
    told, good = set(), threading.Event()

    def use(rng):
        number = rng.randrange(len(keys))
        try:
            if rng.random() < 0.3:
                client.put_blocking(keys[number], bins_of(number, rng.randrange(1000)), policy=write)
            else:
                check(client.get_blocking(keys[number], policy=read), number)
                good.set()
        except AerospikeError as error:
            told.add(type(error).__name__)

    batch = native.BatchPolicy(total_timeout=400, socket_timeout=100, max_retries=3)

    def use_batch(rng):
        numbers = rng.choices(range(len(keys)), k=20)
        try:
            rows = client.batch_read_blocking([keys[number] for number in numbers], batch_policy=batch)
        except AerospikeError as error:
            told.add(type(error).__name__)
            return
        for number, row in zip(numbers, rows, strict=True):
            if row.record is not None:
                check(row.record, number)
                good.set()

    async def one(rng):
        number = rng.randrange(len(keys))
        try:
            if rng.random() < 0.3:
                await client.put(keys[number], bins_of(number, rng.randrange(1000)), policy=write)
            else:
                check(await client.get(keys[number], policy=read), number)
                good.set()
        except AerospikeError as error:
            told.add(type(error).__name__)

    async def some(rng):
        for _ in range(5):
            tasks = [asyncio.create_task(one(rng)) for _ in range(20)]
            await asyncio.sleep(rng.random() * 0.01)
            cancelled = rng.sample(tasks, 8)
            for task in cancelled:
                task.cancel()
            for task, outcome in zip(tasks, await asyncio.gather(*tasks, return_exceptions=True), strict=True):
                if isinstance(outcome, BaseException):
                    assert task in cancelled and isinstance(outcome, asyncio.CancelledError), outcome

    struck = [
        cluster.inject(action, value, on=["read", "write", "batch"], probability=0.05) for action, value in faults
    ]
    together(
        *[use] * 6,
        *[use_batch] * 2,
        *[looping(some)] * 2,
        seconds=max(0.5, SECONDS / TESTS),
        enough=lambda: good.is_set() and any(fault.struck for fault in struck),
    )
    cluster.clear_faults()
    # Whole again: nothing of the faults stays behind.
    for number, key in enumerate(keys):
        check(client.get_blocking(key, policy=READ), number)
    client.close_blocking()
    assert told <= {"TimeoutError", "ConnectionError", "BadResponseError", "PoolExhaustedError", "BackoffError"}, told


def test_nodes_that_go_and_come(new_cluster, set_name):
    cluster = new_cluster(nodes=3)
    policy = native.ClientPolicy()
    policy.tend_interval = 250
    client = native.new_client_blocking(policy, cluster.seeds)
    keys = [Key("test", set_name, number) for number in range(40)]
    for number, key in enumerate(keys):
        client.put_blocking(key, bins_of(number, 0))
    settings = native.ReadPolicy(total_timeout=500, max_retries=5, sleep_between_retries=5)

    def use(rng):
        number = rng.randrange(len(keys))
        try:
            check(client.get_blocking(keys[number], policy=settings), number)
        except RecordNotFoundError:  # A node is gone or is back without what it had.
            with contextlib.suppress(AerospikeError):
                client.put_blocking(keys[number], bins_of(number, 1))
        except AerospikeError as error:
            assert not error.in_doubt

    async def many(rng):
        numbers = [rng.randrange(len(keys)) for _ in range(20)]
        gets = (client.get(keys[number], policy=settings) for number in numbers)
        for number, outcome in zip(numbers, await asyncio.gather(*gets, return_exceptions=True), strict=True):
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, AerospikeError), outcome
            else:
                check(outcome, number)

    def upset(rng):
        node = rng.choice(cluster.nodes[1:])
        cluster.stop_node(node)
        time.sleep(0.1)
        cluster.start_node(node)
        time.sleep(0.1)

    together(*[use] * 4, looping(many), upset, seconds=max(0.5, SECONDS / TESTS))
    client.close_blocking()


# Until 3.14, an interpreter that ends makes daemon threads leave by pthread_exit where they next take the GIL. A loop's
# thread may be in Python code that our callback has called; unwinding then meets our frames, and the process aborts
# (https://github.com/python/cpython/issues/87135). Blocking calls hold the thread instead, on every Python.
LOOPS_AT_EXIT = pytest.param(
    "use_loop", marks=pytest.mark.skipif(sys.version_info < (3, 14), reason="CPython #87135: daemon threads at exit")
)


@pytest.mark.parametrize("user", ["use", LOOPS_AT_EXIT])
def test_the_interpreter_ends_with_operations_in_flight(seeds, set_name, user):
    program = textwrap.dedent(
        """
        import asyncio, sys, threading, time
        from aerolane import Key, native

        client = native.new_client_blocking(native.ClientPolicy(), sys.argv[1])
        key = Key("test", sys.argv[2], 1)
        client.put_blocking(key, {"a": 1})
        begun = threading.Semaphore(0)

        def use():
            begun.release()
            while True:
                client.get_blocking(key)

        def use_loop():
            async def forever():
                begun.release()
                while True:
                    await asyncio.gather(*(client.get(key) for _ in range(20)))
            asyncio.run(forever())

        for _ in range(4):
            threading.Thread(target=globals()[sys.argv[3]], daemon=True).start()
        for _ in range(4):
            begun.acquire()
        time.sleep(0.05)
        """
    )
    for _ in range(2 if SECONDS < 10 else 10):
        command = [sys.executable, "-X", "faulthandler", "-c", program, seeds, set_name, user]
        run = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
        assert run.returncode == 0, run.stderr
