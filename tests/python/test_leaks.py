"""Calls keep nothing: neither what they were given nor what they made."""

import asyncio
import contextlib
import gc
import sys
import weakref
from itertools import pairwise

import pytest
from conftest import resident

import aerolane
import aerolane.sync
from aerolane import native

CALLS = 10_000
# What counters of other threads and caches may add, far below one reference per call.
SLACK = 100


def key_and_bins(set_name):
    # Small ints are shared by all of the process.
    return aerolane.Key("test", set_name, "leaks"), {"a": 4711, "b": "text", "c": [1, {"d": b"bytes"}]}


class Watch:
    """Reference counts of objects, before and after."""

    def __init__(self, *objects):
        self.objects = objects
        self.before = self.counts()

    def counts(self):
        gc.collect()
        return [sys.getrefcount(item) for item in self.objects]

    def check(self):
        grown = [after - before for before, after in zip(self.before, self.counts(), strict=True)]
        assert all(abs(growth) < SLACK for growth in grown), f"references after many calls: {grown}"


def calls_of(client, key, bins):
    """Each call by name, with the objects that it is given."""
    reads, writes = native.ReadPolicy(), native.WritePolicy()
    update_only = native.WritePolicy(record_exists_action=native.RecordExistsAction.UPDATE_ONLY)
    missing = aerolane.Key("test", key.set_name, "missing")
    names, numbers, texts = ["a", "b"], {"n": 1}, {"t": "x"}
    keys, batch = [key, missing, key], native.BatchPolicy()
    operations = [aerolane.Operation.put("a", 1), aerolane.Operation.get_bin("a")]
    return {
        "get": (("get", key), {"policy": reads}),
        "get of bins": (("get", key, names), {"policy": reads}),
        "get of a missing record": (("get", missing), {"policy": reads}),
        "put": (("put", key, bins), {"policy": writes}),
        "add": (("add", key, numbers), {"policy": writes}),
        # It fails: a call that fails must not keep anything, either.
        "append to a missing record": (("append", missing, texts), {"policy": update_only}),
        "exists": (("exists", key), {"policy": reads}),
        "touch": (("touch", key), {"policy": writes}),
        "delete": (("delete", missing), {"policy": writes}),
        "operate": (("operate", key, operations), {"policy": writes}),
        "prepend": (("prepend", key, {"p": ""}), {"policy": writes}),
        "exists_legacy": (("exists_legacy", key), {"policy": reads}),
        "batch_read": (("batch_read", keys, names), {"batch_policy": batch}),
        "batch_write": (("batch_write", keys, [bins] * 3), {"batch_policy": batch}),
        "batch_operate": (("batch_operate", keys, [operations] * 3), {"batch_policy": batch}),
        "batch_delete": (("batch_delete", [missing] * 3), {"batch_policy": batch}),
        "batch_exists": (("batch_exists", keys), {"batch_policy": batch}),
        "batch_get_header": (("batch_get_header", keys), {"batch_policy": batch}),
        "batch": (("batch", [native.BatchReadOp(key), native.BatchDeleteOp(missing)]), {"batch_policy": batch}),
        "info": (("info", "build"), {}),
        "info_on_all_nodes": (("info_on_all_nodes", "build"), {}),
        "truncate": (("truncate", "test", f"{key.set_name}_none"), {"policy": native.AdminPolicy()}),
    }


NAMES = list(calls_of(None, aerolane.Key("test", "x", 1), {}))
# Calls that take so many times as long as one about a record.
SLOW = {"info": 20, "info_on_all_nodes": 20, "truncate": 20}


def times(name):
    """How often a call is made: far more often than `SLACK`, also then."""
    return CALLS // SLOW.get(name, 5 if name.startswith("batch") else 1)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "exists_legacy"])  # It has no blocking twin.
def test_blocking_calls_keep_nothing(client, set_name, name):
    key, bins = key_and_bins(set_name)
    client.put_blocking(key, bins)
    (method, *arguments), keywords = calls_of(client, key, bins)[name]
    call = getattr(client, f"{method}_blocking")
    watch = Watch(*arguments, *keywords.values(), *bins.values())
    for _ in range(times(name)):
        with contextlib.suppress(aerolane.RecordNotFoundError):
            call(*arguments, **keywords)
    watch.check()


@pytest.mark.parametrize("name", NAMES)
async def test_async_calls_keep_nothing(client, set_name, name):
    key, bins = key_and_bins(set_name)
    await client.put(key, bins)
    (method, *arguments), keywords = calls_of(client, key, bins)[name]
    call = getattr(client, method)
    watch = Watch(*arguments, *keywords.values(), *bins.values())
    for _ in range(times(name) // 100):
        await asyncio.gather(*(call(*arguments, **keywords) for _ in range(100)), return_exceptions=True)
    # In its present turn the loop still holds what the last `gather` gave.
    await asyncio.sleep(0)
    watch.check()


async def test_cancelled_calls_keep_nothing(client, set_name):
    key, bins = key_and_bins(set_name)
    await client.put(key, bins)
    watch = Watch(key, bins, *bins.values())
    for _ in range(CALLS // 100):
        tasks = [asyncio.ensure_future(client.put(key, bins)) for _ in range(50)]
        tasks += [asyncio.ensure_future(client.get(key)) for _ in range(50)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await client.get(key)
    watch.check()


async def test_many_at_once_keep_nothing(seeds, set_name):
    keys = [aerolane.Key("test", set_name, number) for number in range(100)]
    bins = {"a": 1, "b": "text"}
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        await session.put_many(keys, bins)
        watch = Watch(keys, bins, *keys)
        for _ in range(CALLS // 100):
            await session.put_many(keys, bins)
            await session.get_many(keys)
        watch.check()


class Witness:
    """Something that a frame holds."""


def witnesses_left(witnesses):
    gc.collect()
    return sum(witness() is not None for witness in witnesses)


# Whoever raises the error of a row makes a cycle: it knows the frame that it was raised in, that frame the row in a
# variable, and the row its error. The same with operations, which know their rows.


@pytest.mark.parametrize("rows", ["batch_read", "batch_stream"])
def test_frames_that_raised_errors_of_rows_are_gone(client, set_name, rows):
    missing, witnesses = aerolane.Key("test", set_name, "missing"), []

    def fail():
        witness = Witness()
        witnesses.append(weakref.ref(witness))
        if rows == "batch_read":
            row = client.batch_read_blocking([missing])[0]
        else:
            _, row = next(client.batch_stream_blocking([native.BatchReadOp(missing)]))
        raise row.error

    for _ in range(10):
        with pytest.raises(aerolane.RecordNotFoundError):
            fail()
    assert witnesses_left(witnesses) == 0


async def test_frames_that_raised_errors_of_operations_are_gone(client, seeds, set_name):
    missing, witnesses = aerolane.Key("test", set_name, "missing"), []
    async with aerolane.Client(seeds) as other:
        session = other.create_session()

        async def one():
            operation = client.get(missing)
            await operation

        async def rows():
            operation = client.batch_read([missing])
            row = (await operation)[0]
            raise row.error

        async def row_of_a_stream():
            operation = anext(await client.batch_stream([native.BatchReadOp(missing)]))
            _, row = await operation
            raise row.error

        async def row_that_is_there():
            stream = await client.batch_stream([native.BatchReadOp(missing)] * 2)
            await anext(stream)
            # It came with the first one.
            operation = anext(stream)
            _, row = await operation
            raise row.error

        async def result_of_a_builder():
            keys = [missing, aerolane.Key("test", set_name, "also missing")]
            stream = await session.update(keys).put({"a": 1}).execute(aerolane.ErrorStrategy.IN_STREAM)
            operation = anext(stream)
            result = await operation
            raise result.exception

        async def exceptions():
            operation = session.get_many([missing])
            raise (await operation)[0]

        async def fail(how):
            witness = Witness()
            witnesses.append(weakref.ref(witness))
            await how()

        for how in (one, rows, row_of_a_stream, row_that_is_there, result_of_a_builder, exceptions):
            for _ in range(10):
                with pytest.raises(aerolane.RecordNotFoundError):
                    await fail(how)
            # In its present turn the loop still holds the last one.
            await asyncio.sleep(0)
            assert witnesses_left(witnesses) == 0, how


def builders_of(session, key, missing, bins, set_name):
    """What is made with builders, by name: begun only, or to its end."""
    keys, dataset = [key, missing], aerolane.DataSet.of("test", set_name)
    return {
        "query": lambda: session.query(key),
        "upsert": lambda: session.upsert(key),
        "put": lambda: session.upsert(key).put(bins),
        "several": lambda: session.upsert(key).put(bins).query(missing),
        "bin": lambda: session.upsert(key).bin("a"),
        "write": lambda: session.upsert(key).put(bins).execute(),
        "read": lambda: session.query(key).execute(),
        "read of a missing record": lambda: session.query(missing).execute(),
        "write that fails": lambda: session.update(missing).put(bins).execute(),
        "failure in the stream": lambda: session.update(missing).put(bins).execute(aerolane.ErrorStrategy.IN_STREAM),
        "refused": lambda: session.upsert(key).execute(),
        "delete": lambda: session.delete(missing).execute(),
        "first": lambda: session.query(key).first(),
        "keys": lambda: session.query(keys).execute(),
        "keys in turn": lambda: session.upsert(key).put(bins).query(key).execute(),
        "none of the keys": lambda: session.query(key).partition(other_partition(key)).execute(),
        "data set": lambda: session.query(dataset).execute(),
    }


def other_partition(key):
    return native.PartitionFilter.by_id((key.partition_id + 1) % 4096)


BUILDERS = list(builders_of(None, None, None, None, "x"))


def counts_of(objects):
    return [sys.getrefcount(item) for item in objects]


@pytest.mark.parametrize("name", BUILDERS)
def test_blocking_builders_let_go_at_once(seeds, set_name, name):
    """Not with the next call: one that is made in passing must not keep a record's key, or a session, until then."""
    with aerolane.SyncClient(seeds) as client:
        session, (key, bins) = client.create_session(), key_and_bins(set_name)
        missing = aerolane.Key("test", set_name, "missing")
        session.put(key, bins)
        call = builders_of(session, key, missing, bins, set_name)[name]
        objects = [key, missing, session, *bins.values()]

        def once():
            with contextlib.suppress(aerolane.AerospikeError):
                made = call()
                if isinstance(made, aerolane.sync.RecordStream):
                    made.collect()

        once()
        before = counts_of(objects)
        for _ in range(3):
            once()
            assert counts_of(objects) == before


@pytest.mark.parametrize("name", BUILDERS)
async def test_builders_keep_nothing(seeds, set_name, name):
    async with aerolane.Client(seeds) as client:
        session, (key, bins) = client.create_session(), key_and_bins(set_name)
        missing = aerolane.Key("test", set_name, "missing")
        await session.put(key, bins)
        call = builders_of(session, key, missing, bins, set_name)[name]
        objects = [key, missing, session, *bins.values()]

        async def once():
            with contextlib.suppress(aerolane.AerospikeError):
                made = call()
                if hasattr(made, "__await__"):
                    made = await made
                    if isinstance(made, aerolane.RecordStream):
                        await made.collect()

        async def some():
            for _ in range(10):
                await once()
            # In its present turn the loop still holds the last one.
            await asyncio.sleep(0)
            gc.collect()
            return counts_of(objects)

        before = await some()
        assert await some() == before


def rss_kib():
    return resident() // 1024


@pytest.mark.own_process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_of_blocking_calls_does_not_grow(client, set_name):
    key, bins = key_and_bins(set_name)

    def work(count):
        for _ in range(count // 2):
            client.put_blocking(key, bins)
            assert client.get_blocking(key).bins["a"] == bins["a"]
        gc.collect()
        return rss_kib()

    work(20_000)
    before = work(20_000)
    grown = work(100_000) - before
    # 100,000 calls that keep 64 bytes each would be 6 MiB.
    assert grown < 4096, f"{grown} KiB more after 100,000 calls"


@pytest.mark.own_process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
async def test_memory_of_async_calls_does_not_grow(client, set_name):
    # A record for each task: one for all would be a hot key on a server with two copies.
    keys = [aerolane.Key("test", set_name, number) for number in range(32)]
    _, bins = key_and_bins(set_name)

    async def worker(key, count):
        for _ in range(count // 2):
            await client.put(key, bins)
            assert (await client.get(key)).bins["a"] == bins["a"]

    async def work(count):
        await asyncio.gather(*(worker(key, count // len(keys)) for key in keys))
        gc.collect()
        return rss_kib()

    await work(20_000)
    before = await work(20_000)
    grown = await work(200_000) - before
    assert grown < 4096, f"{grown} KiB more after 200,000 calls"


@pytest.mark.own_process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
async def test_memory_of_a_million_operations_does_not_grow(client, set_name):
    """Operations of all kinds in one process, with failures and cancellations among them."""
    keys = [aerolane.Key("test", set_name, number) for number in range(200)]
    missing = aerolane.Key("test", set_name, "missing")
    bins = {"a": 1, "b": "text", "c": [1, 2.5, b"bytes"]}
    rows = [bins] * len(keys)
    reads, writes, batches = native.ReadPolicy(), native.WritePolicy(), native.BatchPolicy()
    await client.batch_write(keys, rows)

    async def one_by_one(key):
        for _ in range(8):
            await client.put(key, bins, policy=writes)
            assert (await client.get(key, policy=reads)).bins["b"] == "text"
        await client.touch(key, policy=writes)
        await client.exists(key, policy=reads)
        with pytest.raises(aerolane.RecordNotFoundError):
            await client.get(missing, policy=reads)
        cancelled = asyncio.ensure_future(client.get(key, policy=reads))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        return 20

    async def together():
        for row in await client.batch_read(keys, batch_policy=batches):
            assert row.record.bins["c"] == [1, 2.5, b"bytes"]
        await client.batch_write(keys, rows, batch_policy=batches)
        return 2 * len(keys)

    def blocking():
        for key in keys[:10]:
            client.put_blocking(key, bins, policy=writes)
            assert client.get_blocking(key, policy=reads).bins["a"] == 1
        return 20

    async def work(count):
        done = 0
        while done < count:
            done += sum(await asyncio.gather(*map(one_by_one, keys[:64]), together(), together(), together()))
            done += blocking()
        gc.collect()
        return rss_kib()

    await work(200_000)
    watch = Watch(client, reads, writes, batches, missing, bins, rows, *keys)
    # What leaks grows all the time; what a busy machine makes larger once stays as it is.
    after = [await work(50_000)]
    for _ in range(4):
        after.append(await work(250_000))
    grown = min(later - earlier for earlier, later in pairwise(after))
    assert grown < 1024, f"{grown} KiB more after each 250,000 operations: {after}"
    watch.check()


@pytest.mark.own_process
def test_clients_that_were_closed_are_gone(seeds):
    def connect_and_close(count):
        for _ in range(count):
            client = native.new_client_blocking(native.ClientPolicy(), seeds)
            client.close_blocking()
        gc.collect()
        return rss_kib() if sys.platform.startswith("linux") else 0

    connect_and_close(10)
    before = connect_and_close(10)
    grown = connect_and_close(40) - before
    assert grown < 8192, f"{grown} KiB more after 40 clients"
