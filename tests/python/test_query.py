"""Queries and scans: records as they come, pages, resuming, closing, work in the background."""

import asyncio
import gc
import pickle
import signal
import threading
import time

import pytest
from conftest import REAL, other_task, resident

import aerolane
from aerolane import native

COUNT = 400


@pytest.fixture(scope="module")
def filled(client):
    """The name of a set with `COUNT` records, whose user keys are stored: `n` is the number, `s` one of ten names."""
    name = f"py_query_{time.time_ns()}"
    policy = native.WritePolicy(send_key=True)
    for n in range(COUNT):
        client.put_blocking(native.Key("test", name, n), {"n": n, "s": f"s{n % 10}"}, policy=policy)
    return name


def numbers(records):
    return sorted(record.bins["n"] for record in records)


def test_a_scan_gives_each_record_once(client, filled):
    records = list(client.query_blocking(native.Statement("test", filled)))
    assert numbers(records) == list(range(COUNT))
    for record in records:
        assert record.key.value == record.bins["n"]
        assert record.key == native.Key("test", filled, record.key.value)
        assert record.generation == 1


async def test_async_for_gives_each_record_once(client, filled):
    found = [record.bins["n"] async for record in await client.query(native.Statement("test", filled))]
    assert sorted(found) == list(range(COUNT))


def test_only_the_bins_named(client, filled):
    assert all(record.bins.keys() == {"s"} for record in client.query_blocking(native.Statement("test", filled, ["s"])))
    bare = list(client.query_blocking(native.Statement("test", filled, [])))
    assert len(bare) == COUNT and all(record.bins == {} for record in bare)
    policy = native.QueryPolicy(include_bin_data=False)
    assert all(r.bins == {} for r in client.query_blocking(native.Statement("test", filled), policy=policy))


def test_an_unknown_set_has_no_records(client, set_name):
    records = client.query_blocking(native.Statement("test", set_name))
    assert list(records) == []
    assert not records.active
    assert list(records) == []


def test_partitions_share_the_records(client, filled):
    statement, found = native.Statement("test", filled), []
    for begin in range(0, 4096, 1024):
        part = numbers(client.query_blocking(statement, native.PartitionFilter.by_range(begin, 1024)))
        found += part
    assert sorted(found) == list(range(COUNT))
    key = native.Key("test", filled, 7)
    in_partition = client.query_blocking(statement, native.PartitionFilter.by_id(key.partition_id))
    assert 7 in [record.key.value for record in in_partition]
    behind = client.query_blocking(statement, native.PartitionFilter.by_key(key))
    assert 7 not in [record.key.value for record in behind]


def test_pages_until_done(client, filled):
    partitions, policy, pages = native.PartitionFilter(), native.QueryPolicy(max_records=60), []
    while not partitions.done():
        records = client.query_blocking(native.Statement("test", filled), partitions, policy=policy)
        pages.append(numbers(records))
        # As another process would go on.
        partitions = pickle.loads(pickle.dumps(records.partition_filter_sync()))
        assert len(pages) <= COUNT
    assert sorted(n for page in pages for n in page) == list(range(COUNT))
    assert all(len(page) <= 60 for page in pages)


def test_a_query_that_was_closed_goes_on_behind_the_last_record(client, filled):
    partitions, statement = native.PartitionFilter(), native.Statement("test", filled)
    with client.query_blocking(statement, partitions) as records:
        first = [next(records).key.value for _ in range(123)]
        assert records.active
    assert not records.active and list(records) == []
    behind = records.partition_filter_sync()
    assert behind is records.partition_filter_sync() and not behind.done()
    records = client.query_blocking(statement, behind)
    rest = [record.key.value for record in records]
    assert sorted(first + rest) == list(range(COUNT))
    assert records.partition_filter_sync().done()
    assert not behind.done() and not partitions.done()


def test_a_filter_can_be_used_again(client, filled):
    """A query leaves its filter as it is, also for a query that runs at the same time."""
    statement, partitions = native.Statement("test", filled), native.PartitionFilter.by_range(0, 2048)
    both = [client.query_blocking(statement, partitions) for _ in range(2)]
    low = [numbers(records) for records in both]
    assert low[0] == low[1] == numbers(client.query_blocking(statement, partitions)) and low[0]
    page = native.QueryPolicy(max_records=10)
    pages = {tuple(numbers(client.query_blocking(statement, partitions, policy=page))) for _ in range(3)}
    assert all(len(found) == 10 and set(found) <= set(low[0]) for found in pages)
    # Which records of several real nodes a page has depends on who answers first.
    assert len(pages) == 1 or (REAL and len(client.node_names()) > 1)
    assert not partitions.done()
    done = both[0].partition_filter_sync()
    assert done.done() and list(client.query_blocking(statement, done)) == []


async def test_a_wait_that_was_cancelled_loses_no_record(new_cluster, connect):
    embedded = new_cluster(nodes=1)
    client = connect(embedded.seeds)
    for n in range(50):
        client.put_blocking(native.Key("test", "s", n), {"n": n})
    policy = native.QueryPolicy(records_per_second=100)
    records, found = await client.query(native.Statement("test", "s"), policy=policy), []
    cancelled = 0
    while True:
        operation = anext(records)
        await asyncio.sleep(0.002)
        # What is over cannot be cancelled: it has its record.
        if operation.cancel():
            cancelled += 1
            continue
        try:
            found.append((await operation).bins["n"])
        except StopAsyncIteration:
            break
    assert sorted(found) == list(range(50))
    assert cancelled > 0


def test_threads_share_a_recordset(client, filled):
    records, found = client.query_blocking(native.Statement("test", filled)), []

    def work():
        found.extend(record.bins["n"] for record in records)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(COUNT))


async def test_tasks_share_a_recordset(client, filled):
    records = await client.query(native.Statement("test", filled))

    async def work():
        return [record.bins["n"] async for record in records]

    parts = await asyncio.gather(*(work() for _ in range(4)))
    assert sorted(n for part in parts for n in part) == list(range(COUNT))


async def test_tasks_that_wait_together_all_hear_of_the_end(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds)

    async def work():
        return [record async for record in records]

    with cluster.inject("stall", on="query"):
        records = await client.query(native.Statement("test", "empty"))
        tasks = [asyncio.create_task(work()) for _ in range(8)]
        await asyncio.sleep(0.01)
    # All of them waited before the only answer came, and it has no record.
    assert await asyncio.gather(*tasks) == [[]] * 8
    assert not records.active


async def test_other_tasks_get_their_turns(client, set_name):
    """Also when all records are there already."""
    count = 1200
    keys = [native.Key("test", set_name, n) for n in range(count)]
    rows = await client.batch_write(
        keys, [{"n": n} for n in range(count)], batch_policy=native.BatchPolicy(total_timeout=60_000)
    )
    assert not [row.error for row in rows if row.error]
    records = await client.query(native.Statement("test", set_name))
    async with other_task() as turns:
        assert sorted([record.bins["n"] async for record in records]) == list(range(count))
    # uvloop looks at sockets before it runs the tasks that are ready: one may be overtaken once.
    assert turns() >= count // 256 - 1


async def test_close_ends_a_wait(new_cluster, connect):
    embedded = new_cluster(nodes=1)
    client = connect(embedded.seeds)
    client.put_blocking(native.Key("test", "s", 1), {"n": 1})
    client.put_blocking(native.Key("test", "s", 2), {"n": 2})
    policy = native.QueryPolicy(records_per_second=1, record_queue_size=1)
    async with await client.query(native.Statement("test", "s"), policy=policy) as records:
        waiting = asyncio.create_task(anext(records, None))
        await asyncio.sleep(0.05)
    await asyncio.wait_for(waiting, 50)
    assert await anext(records, None) is None


def test_a_closed_client_ends_its_queries(new_cluster, connect):
    embedded = new_cluster(nodes=1)
    client = connect(embedded.seeds)
    for n in range(100):
        client.put_blocking(native.Key("test", "s", n), {"n": n})
    records = client.query_blocking(native.Statement("test", "s"), policy=native.QueryPolicy(records_per_second=10))
    next(records)
    client.close_blocking()
    with pytest.raises(aerolane.ClientClosedError):
        list(records)
    with pytest.raises(aerolane.ClientClosedError):
        client.query_blocking(native.Statement("test", "s"))


def test_an_interrupt_ends_the_wait(new_cluster, connect):
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        pytest.skip("SIGINT is not Python's here")
    client = connect(new_cluster(nodes=1).seeds)
    for n in range(20):
        client.put_blocking(native.Key("test", "s", n), {"n": n})
    records = client.query_blocking(native.Statement("test", "s"), policy=native.QueryPolicy(records_per_second=1))
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(records)
    records.close()


def test_dropping_a_recordset_ends_the_query(client, filled):
    statement = native.Statement("test", filled)
    records = client.query_blocking(statement)
    partitions = records.partition_filter_sync()
    next(records)
    del records
    gc.collect()
    assert len(list(client.query_blocking(statement, partitions))) == COUNT - 1


def test_operations_in_place_of_bins(client, filled):
    statement = native.Statement("test", filled)
    statement.set_operations([native.Operation.get_bin("n")])
    records = list(client.query_blocking(statement))
    assert numbers(records) == list(range(COUNT))
    assert all(record.results == [record.bins["n"]] for record in records)
    with pytest.raises(ValueError):
        statement.set_operations([])
    with pytest.raises(TypeError):
        statement.set_operations(["n"])
    statement.set_operations([native.Operation.put("n", 1)])
    with pytest.raises(aerolane.InvalidArgumentError, match="query_operate"):
        client.query_blocking(statement)


def test_operations_in_the_background(client, set_name):
    for n in range(30):
        client.put_blocking(native.Key("test", set_name, n), {"n": n})
    statement = native.Statement("test", set_name)
    task = client.query_operate_blocking(statement, [native.Operation.put("done", 1), native.Operation.add("n", 100)])
    assert isinstance(task, native.ExecuteTask) and task.task_id > 0
    assert task.wait_till_complete_blocking(0.01, 30) is True
    assert task.query_status_blocking() is native.TaskStatus.COMPLETE
    assert numbers(client.query_blocking(statement)) == list(range(100, 130))
    with pytest.raises(ValueError, match="only write"):
        client.query_operate_blocking(statement, [native.Operation.get_bin("n")])
    with pytest.raises(ValueError):
        client.query_operate_blocking(statement, [])


async def test_operations_in_the_background_async(client, set_name):
    await client.put(native.Key("test", set_name, 1), {"n": 1})
    task = await client.query_operate(native.Statement("test", set_name), [native.Operation.add("n", 1)])
    assert await task.wait_till_complete(0.01)
    assert (await client.get(native.Key("test", set_name, 1))).bins == {"n": 2}


@pytest.mark.parametrize("fault", ["stall", "drop-before", "drop-after"])
def test_background_work_without_an_answer_is_in_doubt(new_cluster, connect, fault):
    cluster = new_cluster(nodes=3)
    client = connect(cluster.seeds)
    statement, operations = native.Statement("test", "s"), [native.Operation.add("n", 1)]
    policy = native.WritePolicy(socket_timeout=1000 if fault == "stall" else 60_000, total_timeout=60_000)
    with cluster.inject(fault, on="query") as faults:
        with pytest.raises((TimeoutError, ConnectionError)) as caught:
            client.query_operate_blocking(statement, operations, write_policy=policy)
        assert caught.value.in_doubt
        assert faults.struck == 1, "the first node, and no other"
    with cluster.inject("result", 4, on="query"), pytest.raises(aerolane.AerospikeError) as caught:
        client.query_operate_blocking(statement, operations)
    assert caught.value.result_code == 4 and not caught.value.in_doubt, "refused by the first node"


async def test_background_work_without_an_answer_is_in_doubt_async(new_cluster, connect):
    cluster = new_cluster(nodes=3)
    client, policy = connect(cluster.seeds), native.WritePolicy(total_timeout=1000)
    with cluster.inject("stall", on="query"), pytest.raises(TimeoutError) as caught:
        await client.query_execute_udf(native.Statement("test", "s"), "m", "f", write_policy=policy)
    assert caught.value.in_doubt


def test_a_silent_node_is_asked_once(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    client, statement = connect(cluster.seeds), native.Statement("test", "s")
    assert list(client.query_blocking(statement)) == []  # Leaves a connection for the next query.
    policy = native.QueryPolicy(socket_timeout=1000, max_retries=0)
    with cluster.inject("stall", on="query") as faults:
        with pytest.raises(TimeoutError):
            list(client.query_blocking(statement, policy=policy))
        assert faults.struck == 1


def test_arguments_are_checked_at_once(client):
    for bad in [
        lambda: native.Statement(""),
        lambda: native.Statement("n" * 32),
        lambda: native.Statement("t", "s" * 64),
    ]:
        with pytest.raises(aerolane.InvalidArgumentError):
            bad()
    with pytest.raises(TypeError):
        native.Statement("test", "s", "bin")
    for begin, count in [(0, 0), (4096, 1), (4000, 97)]:
        with pytest.raises(ValueError):
            native.PartitionFilter.by_range(begin, count)
    with pytest.raises((ValueError, OverflowError)):
        native.PartitionFilter.by_id(-1)
    with pytest.raises(aerolane.InvalidNamespaceError):
        client.query_blocking(native.Statement("nowhere"))


def test_filters_are_checked_at_once():
    with pytest.raises(aerolane.InvalidArgumentError):
        native.Filter.equal("b" * 16, 1)
    with pytest.raises(aerolane.InvalidArgumentError, match="empty"):
        native.Filter.range("b", 2, 1)
    for value in (1.5, None, [1], {}, True):
        with pytest.raises(TypeError):
            native.Filter.equal("b", value)
    with pytest.raises(TypeError):
        native.Filter.range("b", "a", "z")
    with pytest.raises(OverflowError):
        native.Filter.equal("b", 1 << 64)
    # As the signed ones that they stand for.
    assert native.Filter.equal("b", (1 << 64) - 1) == native.Filter.equal("b", -1)
    with pytest.raises(aerolane.InvalidArgumentError, match="empty"):
        native.Filter.range("b", 0, 1 << 63)
    with pytest.raises(aerolane.InvalidArgumentError):
        native.Filter.within_radius("b", 181.0, 0.0, 1.0)
    with pytest.raises(TypeError):
        native.Filter.contains("b", 1, "list")
    statement = native.Statement("test", "s")
    with pytest.raises(ValueError, match="one filter"):
        statement.filters = [native.Filter.equal("a", 1), native.Filter.equal("b", 1)]
    statement.filters = [native.Filter.equal("a", 1)]
    assert statement.filters == [native.Filter.equal("a", 1)] != [native.Filter.equal("a", 2)]
    statement.filters = None
    assert statement.filters is None


def test_a_partition_status_is_like_a_mapping():
    status = native.PartitionFilter.by_id(9).partitions[0]
    assert (status.id, status.retry, status.digest, status.bval) == (9, True, None, None)
    assert status["id"] == 9 and status == native.PartitionStatus(9)
    with pytest.raises(KeyError):
        status["nothing"]
    key = native.Key("test", "s", 1)
    status = native.PartitionStatus(key.partition_id)
    status.retry, status.digest, status.bval = False, key.digest, 7
    assert (status["retry"], status["digest"], status["bval"]) == (False, key.digest, 7)
    assert status != native.PartitionStatus(key.partition_id)
    status["retry"], status["digest"], status["bval"] = True, None, None
    assert status == native.PartitionStatus(key.partition_id)
    other = native.Key("test", "s", 2)
    assert other.partition_id != key.partition_id
    for digest in [other.digest, "", key.digest[:-1], key.digest + "0", "g" * 40, "\u00e9" * 20]:
        with pytest.raises(aerolane.InvalidArgumentError):
            status.digest = digest
    with pytest.raises(aerolane.InvalidArgumentError, match="'id' cannot be set"):
        status["id"] = 3
    with pytest.raises(KeyError, match="'id', 'bval', 'retry' and 'digest'"):
        status["other"] = 3
    with pytest.raises(AttributeError):
        status.id = 3
    with pytest.raises(TypeError):
        status.retry = "no"
    with pytest.raises(OverflowError):
        status.bval = -1
    assert status == native.PartitionStatus(key.partition_id)


def test_a_filter_can_be_set(client, filled):
    statement = native.Statement("test", filled)
    whole = {record.key.digest: record.bins["n"] for record in client.query_blocking(statement)}
    partitions = native.PartitionFilter()
    partitions.begin, partitions.count = 2048, 2048
    assert (partitions.begin, partitions.count) == (2048, 2048)
    high = numbers(client.query_blocking(statement, partitions))
    assert high == numbers(client.query_blocking(statement, native.PartitionFilter.by_range(2048, 2048)))
    # Where it was read from is forgotten.
    records = client.query_blocking(statement, partitions)
    list(records)
    partitions = records.partition_filter_sync()
    assert partitions.done()
    partitions.begin = 0
    assert not partitions.done()
    assert sorted(numbers(client.query_blocking(statement, partitions)) + high) == list(range(COUNT))

    key = next(key for key in (native.Key("test", filled, n) for n in range(COUNT)))
    partitions.begin, partitions.count, partitions.digest = key.partition_id, 1, key.digest
    behind = numbers(client.query_blocking(statement, partitions))
    assert behind == numbers(client.query_blocking(statement, native.PartitionFilter.by_key(key)))
    assert partitions.digest == key.digest and whole[key.digest] not in behind
    partitions.digest = None
    assert whole[key.digest] in numbers(client.query_blocking(statement, partitions))


def test_a_filter_can_be_set_to_where_another_stood(client, filled):
    statement = native.Statement("test", filled)
    partitions, page = native.PartitionFilter.by_range(1000, 2000), native.QueryPolicy(max_records=60)
    whole = numbers(client.query_blocking(statement, native.PartitionFilter.by_range(1000, 2000)))
    records = client.query_blocking(statement, partitions, policy=page)
    seen, partitions = numbers(records), records.partition_filter_sync()
    kept = [(p.id, p.retry, p.digest, p.bval) for p in partitions.partitions]

    other, states = native.PartitionFilter(), []
    for id, retry, digest, bval in kept:
        state = native.PartitionStatus(id)
        state.retry, state.digest, state.bval = retry, digest, bval
        states.append(state)
    other.partitions = states
    assert (other.begin, other.count, other.partitions) == (1000, 2000, partitions.partitions)
    while not other.done():
        records = client.query_blocking(statement, other, policy=page)
        seen += numbers(records)
        other = records.partition_filter_sync()
    assert sorted(seen) == whole
    other.partitions = None
    assert numbers(client.query_blocking(statement, other)) == whole
    for bad in [[], states[::-1], [states[0], states[2]]]:
        with pytest.raises(aerolane.InvalidArgumentError):
            other.partitions = bad
    with pytest.raises(TypeError):
        other.partitions = [1]


def test_a_filter_that_was_set_is_checked_when_it_is_used(client, filled):
    statement, key = native.Statement("test", filled), native.Key("test", filled, 1)
    for begin, count, digest in [
        (4000, 4096, None),
        (4096, 1, None),
        (0, 0, None),
        (0, 4096, key.digest),
        ((key.partition_id + 1) % 4096, 1, key.digest),
    ]:
        partitions = native.PartitionFilter()
        partitions.begin, partitions.count, partitions.digest = begin, count, digest
        assert (partitions.begin, partitions.count, partitions.digest) == (begin, count, digest)
        assert str(begin) in repr(partitions)
        with pytest.raises(aerolane.InvalidArgumentError):
            client.query_blocking(statement, partitions)
        with pytest.raises(aerolane.InvalidArgumentError):
            partitions.done()
    with pytest.raises(OverflowError):
        partitions.begin = -1


@pytest.mark.own_process
def test_memory_does_not_grow_with_the_result(new_cluster, connect):
    """The server waits for a reader that stands still: what lies in the client is bounded."""
    client = connect(new_cluster(nodes=1).seeds)
    value = b"x" * 10_000
    for at in range(0, 5_000, 100):
        keys = [native.Key("test", "s", n) for n in range(at, at + 100)]
        client.batch_write_blocking(keys, [{"v": value}] * 100)
    before = resident()
    records = client.query_blocking(native.Statement("test", "s"), policy=native.QueryPolicy(record_queue_size=100))
    next(records)
    time.sleep(0.5)
    # 50 MB in all; sockets' buffers and a few frames are less than a fifth of that.
    assert resident() - before < 20 * 1024 * 1024
    assert sum(1 for _ in records) == 4_999


def test_places_can_be_set(client, filled):
    """A filter goes on from a list of places, as from one that was kept."""
    statement, whole = native.Statement("test", filled), native.PartitionFilter()
    records = client.query_blocking(statement, whole, policy=native.QueryPolicy(max_records=20))
    first = [record.key for record in records]
    places = records.partition_filter_sync().partitions
    again = native.PartitionFilter()
    again.partitions = places
    assert again.partitions == places
    rest = [record.key for record in client.query_blocking(statement, again)]
    everything = {record.key for record in client.query_blocking(statement)}
    assert set(first).isdisjoint(rest) and {*first, *rest} == everything
    # By hand: one partition, behind a record.
    key = first[0]
    place = native.PartitionStatus(key.partition_id)
    place.digest, place.retry, place["bval"] = key.digest, True, 7
    assert (place["digest"], place.retry, place.bval) == (key.digest, True, 7)
    place.bval = None
    behind = native.PartitionFilter()
    behind.partitions = [place]
    assert (behind.begin, behind.count) == (key.partition_id, 1)
    mates = [r.key for r in client.query_blocking(statement, native.PartitionFilter.by_id(key.partition_id))]
    assert [record.key for record in client.query_blocking(statement, behind)] == mates[mates.index(key) + 1 :]
    behind.partitions = None
    records = client.query_blocking(statement, behind)
    assert [record.key for record in records] == mates
    assert records.partition_filter_sync().done()


def test_places_that_cannot_be():
    status, whole = native.PartitionStatus(3), native.PartitionFilter()
    for digest in ("", "x" * 40, "0" * 39, "é" * 20):
        with pytest.raises(aerolane.InvalidArgumentError):
            status.digest = digest
    for name, value, error in (
        ("id", 1, ValueError),
        ("none", 1, KeyError),
        ("retry", "x", TypeError),
        (1, 1, TypeError),
    ):
        with pytest.raises(error):
            status[name] = value
    for bval in (-1, 2**64):
        with pytest.raises(OverflowError):
            status.bval = bval
    with pytest.raises(AttributeError):
        status.id = 4
    gap = [native.PartitionStatus(3), native.PartitionStatus(5)]
    for bad in ([], gap, gap[::-1]):
        with pytest.raises(aerolane.InvalidArgumentError):
            whole.partitions = bad
    with pytest.raises(TypeError):
        whole.partitions = [3]
    assert len(whole.partitions) == 4096
