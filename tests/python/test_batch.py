"""Batches, blocking and on event loops: the same cases as tests/rust/raw_batch.rs."""

import asyncio
import gc
import pickle
import signal
import sys
import threading
import time

import pytest
from conftest import eventually

from aerolane import Key, Operation
from aerolane.exceptions import (
    AerospikeError,
    CapacityError,
    ClientClosedError,
    InvalidArgumentError,
    InvalidNamespaceError,
    PoolExhaustedError,
    RecordNotFoundError,
    TimeoutError,
)
from aerolane.native import (
    BatchDeleteOp,
    BatchDeletePolicy,
    BatchPolicy,
    BatchReadOp,
    BatchRecord,
    BatchWriteOp,
    BatchWritePolicy,
    ClientPolicy,
    Concurrency,
    GenerationPolicy,
    ReadPolicy,
    Record,
    RecordExistsAction,
    ResultCode,
)


@pytest.fixture
def keys(set_name):
    """`keys(n)`: that many keys of a set of the test's own."""
    return lambda count: [Key("test", set_name, n) for n in range(count)]


def fill(client, keys):
    rows = client.batch_write_blocking(keys, [{"v": n, "s": f"text {n}"} for n in range(len(keys))])
    assert all(row.result_code == ResultCode.OK and row.error is None for row in rows)


def test_reads(client, run, keys):
    keys = keys(320)
    fill(client, keys[:300])
    assert run(client, "batch_read", []) == []
    asked = [*reversed(keys), keys[7], keys[7]]
    for policy in (None, BatchPolicy(concurrency=Concurrency.SEQUENTIAL)):
        rows = run(client, "batch_read", asked, batch_policy=policy)
        assert len(rows) == 322
        for key, row in zip(asked, rows, strict=True):
            assert row.key is key
            if key.value < 300:
                assert row.record.bins == {"v": key.value, "s": f"text {key.value}"}
                assert row.record is row.record and row.record.key is key
                assert row.record.generation == 1 and row.record.results is None
                assert (row.result_code, row.error, row.in_doubt) == (ResultCode.OK, None, False)
                assert row.sub_code is None and row.server_message is None and row.exp_trace is None
            else:
                assert row.record is None and not row.in_doubt
                assert row.result_code == ResultCode.KEY_NOT_FOUND_ERROR
                assert isinstance(row.error, RecordNotFoundError) and row.error is row.error


def test_projections_and_headers(client, run, keys):
    keys = keys(6)
    fill(client, keys[:5])
    assert [row.record.bins for row in run(client, "batch_read", keys[:5], ["s"])] == [
        {"s": f"text {n}"} for n in range(5)
    ]
    assert [row.record.bins for row in run(client, "batch_read", tuple(keys[:5]), ["no"])] == [{}] * 5
    assert [row.record.bins for row in run(client, "batch_read", iter(keys[:5]), [])] == [{}] * 5
    headers = run(client, "batch_get_header", keys)
    assert [header and (header.generation, header.bins) for header in headers] == [(1, {})] * 5 + [None]
    assert run(client, "batch_exists", keys) == [True] * 5 + [False]
    assert run(client, "batch_exists", []) == [] and run(client, "batch_get_header", []) == []
    for name in ("batch_delete", "batch", "batch_write", "batch_operate"):
        assert run(client, name, *([[], []] if name in ("batch_write", "batch_operate") else [[]])) == []
    # A row alone goes as a plain command.
    assert run(client, "batch_read", keys[:1])[0].record.bins["v"] == 0
    assert run(client, "batch_read", keys[5:])[0].result_code == ResultCode.KEY_NOT_FOUND_ERROR
    assert run(client, "batch_read", keys[:1], [])[0].record.bins == {}
    assert run(client, "batch_exists", keys[5:]) == [False]
    assert run(client, "batch_get_header", keys[:1])[0].generation == 1


def test_writes_operations_and_deletes(client, run, keys):
    keys = keys(9)
    fill(client, keys[:6])
    same = {"v": 100}
    rows = run(client, "batch_write", keys[:6], [same] * 6)
    assert [row.result_code for row in rows] == [ResultCode.OK] * 6
    create = BatchWritePolicy(record_exists_action=RecordExistsAction.CREATE_ONLY)
    rows = run(client, "batch_write", keys[5:7], [{"v": 1}, {"v": 2}], write_policy=create)
    assert [row.result_code for row in rows] == [ResultCode.KEY_EXISTS_ERROR, ResultCode.OK]
    stale = BatchWritePolicy(generation_policy=GenerationPolicy.EXPECT_GEN_EQUAL, generation=77)
    assert run(client, "batch_write", keys[:1], [{"v": 1}], write_policy=stale)[0].result_code == (
        ResultCode.GENERATION_ERROR
    )

    add = [Operation.add("v", 1), Operation.get_bin("v")]
    rows = run(client, "batch_operate", keys[:3], [add, add, [Operation.get_bin("s"), Operation.get_bin("no")]])
    assert [row.record.results for row in rows] == [[None, 101], [None, 101], ["text 2", None]]
    assert rows[2].record.bins == {"s": "text 2", "no": None}
    # Alone, and with a failure.
    assert run(client, "batch_operate", keys[:1], [add])[0].record.results == [None, 102]
    rows = run(client, "batch_operate", keys[:2], [[Operation.append("v", "x")], add])
    assert (rows[0].result_code, rows[1].record.results) == (ResultCode.BIN_TYPE_ERROR, [None, 102])

    stale = BatchDeletePolicy(generation_policy=GenerationPolicy.EXPECT_GEN_EQUAL, generation=77)
    assert run(client, "batch_delete", keys[:1], delete_policy=stale)[0].result_code == ResultCode.GENERATION_ERROR
    rows = run(client, "batch_delete", [*keys[:2], keys[8]])
    assert [row.result_code for row in rows] == [ResultCode.OK, ResultCode.OK, ResultCode.KEY_NOT_FOUND_ERROR]
    assert run(client, "batch_exists", keys[:3]) == [False, False, True]


def test_rows_of_all_kinds(client, run, keys):
    keys = keys(8)
    fill(client, keys[:6])
    rows = run(
        client,
        "batch",
        [
            BatchReadOp(keys[0]),
            BatchReadOp(keys[1], ["v"]),
            BatchReadOp(keys[2], operations=[Operation.get_bin("s")]),
            BatchWriteOp(keys[3], [Operation.add("v", 1), Operation.get_bin("v")]),
            BatchWriteOp(keys[6], bins={"v": 6}),
            BatchDeleteOp(keys[4]),
            BatchDeleteOp(keys[7]),
        ],
    )
    assert rows[0].record.bins == {"v": 0, "s": "text 0"} and rows[0].record.results is None
    assert rows[1].record.bins == {"v": 1}
    assert rows[2].record.results == ["text 2"]
    assert rows[3].record.results == [None, 4]
    assert [row.result_code for row in rows[4:]] == [ResultCode.OK, ResultCode.OK, ResultCode.KEY_NOT_FOUND_ERROR]
    assert [row.key for row in rows] == [keys[n] for n in (0, 1, 2, 3, 6, 4, 7)]
    row = BatchReadOp(keys[0])
    assert row.key is keys[0]
    assert [one.record.bins["v"] for one in run(client, "batch", [row, row])] == [0, 0]
    client.put_blocking(keys[0], {"v": 10})
    assert run(client, "batch", [row])[0].record.bins["v"] == 10


def test_rows_with_bins_and_operations(client, run, keys):
    """A row that writes sets its bins first; a row that reads does what its operations say."""
    keys = keys(4)
    fill(client, keys)
    rows = run(
        client,
        "batch",
        [
            BatchWriteOp(keys[0], [Operation.add("v", 5), Operation.get_bin("v")], bins={"v": 100, "new": 1}),
            BatchWriteOp(keys[1], [Operation.get_bin("s")], bins={"v": 7}),
            BatchWriteOp(keys[2], [], bins={"v": 8}),
            BatchReadOp(keys[3], ["v"], [Operation.get_bin("s")]),
            BatchReadOp(keys[3], ["v"], []),
        ],
    )
    assert [row.result_code for row in rows] == [ResultCode.OK] * 5
    assert rows[0].record.results == [None, None, None, 105] and rows[1].record.results == [None, "text 1"]
    assert rows[3].record.results == ["text 3"] and rows[4].record.bins == {"v": 3}
    assert [client.get_blocking(key).bins["v"] for key in keys] == [105, 7, 8, 3]
    assert client.get_blocking(keys[0]).bins["new"] == 1


def test_a_namespace_that_does_not_exist(client, run, keys):
    """Alone, it is an error of the batch, and with other rows one of its row."""
    (key,) = keys(1)
    client.put_blocking(key, {"v": 1})
    nowhere = [Key("nowhere", "s", n) for n in range(3)]
    for call, *arguments in (
        ("batch_read", nowhere),
        ("batch_write", nowhere, [{"v": 1}] * 3),
        ("batch_delete", nowhere),
        ("batch_operate", nowhere, [[Operation.get()]] * 3),
        ("batch_exists", nowhere),
        ("batch_get_header", nowhere),
        ("batch", [BatchReadOp(nowhere[0]), BatchWriteOp(nowhere[1], bins={"v": 1})]),
    ):
        with pytest.raises(InvalidNamespaceError, match='no namespace "nowhere"') as caught:
            run(client, call, *arguments)
        assert {row.result_code for row in caught.value.records} == {ResultCode.INVALID_NAMESPACE}
        assert caught.value.is_client_error and not caught.value.in_doubt
    rows = run(client, "batch_read", [nowhere[0], key, nowhere[1]])
    assert [row.result_code.name for row in rows] == ["INVALID_NAMESPACE", "OK", "INVALID_NAMESPACE"]
    assert isinstance(rows[0].error, InvalidNamespaceError)
    with pytest.raises(InvalidNamespaceError):
        run(client, "batch_exists", [key, nowhere[0]])
    assert run(client, "batch_read", []) == []


def test_values_come_back_as_they_went(client, run, keys):
    keys = keys(5)
    bins = {
        "text": "ä\N{SNOWMAN}",
        "raw": b"\0\xff",
        "float": 1.5,
        "bool": True,
        "list": [1, "a", b"b", None, [2.5]],
        "map": {"k": 1, 2: [3]},
    }
    run(client, "batch_write", keys, [bins] * 5)
    assert [row.record.bins for row in run(client, "batch_read", keys)] == [bins] * 5


def test_a_closed_client(connect, run, keys):
    client = connect()
    client.close_blocking()
    with pytest.raises(ClientClosedError):
        run(client, "batch_read", keys(3))


def test_five_thousand_keys(client, run, keys):
    keys = keys(5000)
    fill(client, keys)
    rows = run(client, "batch_read", keys, batch_policy=BatchPolicy(total_timeout=60_000))
    assert [row.record.bins["v"] for row in rows] == list(range(5000))


def test_rows_that_cannot_be_routed(client, run, keys):
    keys = keys(2)
    fill(client, keys)
    nowhere = Key("no-such-ns", "s", 1)
    rows = run(client, "batch_read", [keys[0], nowhere, keys[1]])
    assert [row.result_code for row in rows] == [ResultCode.OK, ResultCode.INVALID_NAMESPACE, ResultCode.OK]
    assert isinstance(rows[1].error, InvalidNamespaceError)
    with pytest.raises(AerospikeError):
        run(client, "batch_exists", [keys[0], nowhere])


def test_arguments_that_cannot_be_used(client, run, keys):
    keys = keys(2)
    for call, arguments, error, text in [
        ("batch_read", [[keys[0], "k"]], TypeError, r"keys\[1\]"),
        ("batch_read", [keys[0]], TypeError, "list of Key"),
        ("batch_read", [5], TypeError, "iterable"),
        ("batch_read", [keys, "v"], TypeError, "bins"),
        ("batch_read", [keys, ["a_name_of_16_chr"]], InvalidArgumentError, "a_name_of_16_chr"),
        ("batch_write", [keys, [{"v": 1}]], ValueError, "same length, they have 2 and 1"),
        ("batch_write", [keys, [{"v": 1}] * 3], ValueError, "same length, they have 2 and 3"),
        ("batch_write", [keys, [{"v": 1}, {}]], InvalidArgumentError, r"bins_list\[1\] has no bins"),
        ("batch_write", [keys, [{"v": 1}, 5]], TypeError, r"bins_list\[1\]"),
        ("batch_write", [keys, [{"v": 1}, {"v": object()}]], TypeError, "bin 'v'"),
        ("batch_write", [keys, [{"v": 1}, {"v": 1 << 64}]], OverflowError, "bin 'v'"),
        ("batch_operate", [keys, [[Operation.get()], []]], InvalidArgumentError, "no operations"),
        ("batch_operate", [keys, [[Operation.get()], [1]]], TypeError, r"operations\[0\]"),
        ("batch", [[BatchReadOp(keys[0]), keys[0]]], TypeError, r"ops\[1\]"),
    ]:
        with pytest.raises(error, match=text):
            run(client, call, *arguments)
    with pytest.raises(TypeError, match="batch_policy"):
        run(client, "batch_read", keys, batch_policy=ReadPolicy())
    with pytest.raises(TypeError):
        BatchDeleteOp("k")
    assert run(client, "batch_exists", keys) == [False, False]
    for make in (
        lambda: BatchReadOp(keys[0], operations=[Operation.put("v", 1)]),
        lambda: BatchWriteOp(keys[0]),
        lambda: BatchWriteOp(keys[0], [Operation.get()]),
        lambda: BatchWriteOp(keys[0], [Operation.touch()], bins={}),
        lambda: BatchWriteOp(keys[0], [Operation.put("v", n) for n in range(1 << 16)], bins={"v": 1}),
    ):
        with pytest.raises(ValueError):
            make()


def test_a_write_without_an_answer_is_in_doubt(new_cluster, connect, run, keys):
    cluster, keys = new_cluster(nodes=3), keys(90)
    client = connect(cluster.seeds)
    fill(client, keys)
    policy = BatchPolicy(total_timeout=1500, max_retries=0)
    with cluster.inject("stall", on="batch", node=cluster.nodes[0]):
        begun = time.monotonic()
        rows = run(client, "batch_write", keys, [{"v": -1}] * 90, batch_policy=policy)
        assert 1.5 <= time.monotonic() - begun < 30
        lost = [row for row in rows if row.error is not None]
        assert 0 < len(lost) < 90
        assert all(row.in_doubt and row.record is None and isinstance(row.error, TimeoutError) for row in lost)
        assert all(row.result_code == ResultCode.OK for row in rows if row.error is None)
        rows = run(client, "batch_read", keys, batch_policy=policy)
        assert not any(row.in_doubt for row in rows)
        assert any(row.record is not None for row in rows) and any(row.record is None for row in rows)
    # No row was answered: that is raised.
    with cluster.inject("stall", on="batch"), pytest.raises(TimeoutError) as caught:
        run(client, "batch_write", keys, [{"v": -1}] * 90, batch_policy=policy)
    assert caught.value.in_doubt
    assert all(row.in_doubt and isinstance(row.error, TimeoutError) for row in caught.value.batch_records)


def test_reads_survive_the_loss_of_a_node(new_cluster, connect, run, keys):
    cluster, keys = new_cluster(nodes=3), keys(300)
    client = connect(cluster.seeds)
    fill(client, keys)
    node = cluster.nodes[0]
    cluster.inject("stall", on="batch", node=node)
    stopping = threading.Timer(0.2, lambda: cluster.stop_node(node))
    stopping.start()
    rows = run(client, "batch_read", keys, batch_policy=BatchPolicy(total_timeout=60_000, max_retries=10))
    stopping.join()
    assert [row.record.bins["v"] for row in rows] == list(range(300))


def test_a_write_that_was_sent_and_has_no_node_left_is_in_doubt(new_cluster, connect, run, keys):
    cluster = new_cluster(nodes=2, replication_factor=1)
    client = connect(cluster.seeds)
    node = cluster.nodes[0]
    keys = [key for key in keys(40) if cluster.master(key.partition_id) == node.id]
    policy = BatchPolicy(total_timeout=60_000, socket_timeout=60_000, max_retries=1000)
    cluster.inject("answer-delay", 300, on="batch")

    def stop():
        eventually(lambda: cluster.record_count() == len(keys))
        cluster.hold_partitions(True)
        cluster.stop_node(node)

    stopping = threading.Thread(target=stop)
    stopping.start()
    ops = [BatchWriteOp(key, bins={"v": 1}) for key in keys] + [BatchReadOp(keys[0])]
    rows = run(client, "batch", ops, batch_policy=policy)
    stopping.join()
    *writes, read = rows
    assert [row.result_code for row in rows] == [ResultCode.PARTITION_UNAVAILABLE] * len(rows)
    assert all(row.in_doubt and row.error.in_doubt and row.error.attempts > 1 for row in writes)
    assert not read.in_doubt and not read.error.in_doubt
    # What was never sent is not.
    rows = run(client, "batch_write", keys, [{"v": 2}] * len(keys), batch_policy=policy)
    assert all(row.error is not None and not row.in_doubt for row in rows)


def test_a_batch_answered_with_a_failure(new_cluster, connect, run, keys):
    cluster, keys = new_cluster(nodes=1), keys(20)
    client = connect(cluster.seeds)
    fill(client, keys)
    with cluster.inject("result", 22, on="batch"):
        rows = run(client, "batch_read", keys)
    assert {row.result_code for row in rows} == {ResultCode(22)}
    garbage = b"\x02\x03\0\0\0\0\0\x10" + b"\xff" * 16
    with cluster.inject("garbage", garbage, on="batch", times=1), pytest.raises(AerospikeError):
        run(client, "batch_read", keys, batch_policy=BatchPolicy(max_retries=0))
    assert all(row.record for row in run(client, "batch_read", keys))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_a_signal_ends_a_blocking_batch(new_cluster, connect, keys):
    class Alarm(Exception):
        pass

    def ring(_number, _frame):
        raise Alarm

    cluster, keys = new_cluster(nodes=3), keys(90)
    client = connect(cluster.seeds)
    fill(client, keys)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with cluster.inject("stall", on="batch"):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            begun = time.monotonic()
            with pytest.raises(Alarm):
                client.batch_read_blocking(keys, batch_policy=BatchPolicy(total_timeout=60_000))
            assert time.monotonic() - begun < 30
    finally:
        signal.signal(signal.SIGALRM, before)
    assert all(row.record for row in client.batch_read_blocking(keys))


async def test_a_cancelled_batch_and_many_at_once(client, keys):
    keys = keys(200)
    fill(client, keys)
    task = asyncio.ensure_future(client.batch_read(keys))
    await asyncio.sleep(0)
    if task.cancel():
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        # It was faster than that turn of the loop.
        assert [row.record.bins["v"] for row in await task] == list(range(200))
    many = await asyncio.gather(*(client.batch_read(keys[n : n + 20]) for n in range(0, 180, 5)))
    for n, rows in zip(range(0, 180, 5), many, strict=True):
        assert [row.record.bins["v"] for row in rows] == list(range(n, n + 20))


def test_many_threads(client, keys):
    keys = keys(256)
    fill(client, keys)
    failures = []

    def work(start):
        for turn in range(20):
            part = keys[(start + turn) % 128 :][:128]
            rows = client.batch_read_blocking(part)
            if [row.record.bins["v"] for row in rows] != [key.value for key in part]:
                failures.append(start)

    threads = [threading.Thread(target=work, args=(n * 16,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_row_stands_alone(client, keys):
    keys = keys(50)
    big = "x" * 10_000
    client.batch_write_blocking(keys, [{"v": n, "big": big} for n in range(50)])
    rows = client.batch_read_blocking(keys)
    kept = rows[3]
    del rows
    gc.collect()
    assert kept.record.bins == {"v": 3, "big": big}
    assert pickle.loads(pickle.dumps(kept.record)) == kept.record
    assert "BatchRecord(key=" in repr(kept) and "'v': 3" in repr(kept)
    missing = client.batch_read_blocking([Key("test", keys[0].set_name, "none")])[0]
    assert "KEY_NOT_FOUND_ERROR" in repr(missing)
    assert isinstance(kept, BatchRecord) and isinstance(kept.record, Record)


def test_nothing_leaks(client, keys):
    keys = keys(64)
    fill(client, keys)

    def once():
        rows = client.batch_read_blocking(keys)
        return [row.record.bins for row in rows], [row.result_code for row in rows]

    once()
    counts = [sys.getrefcount(key) for key in keys]
    for _ in range(50):
        once()
    gc.collect()
    assert [sys.getrefcount(key) for key in keys] == counts


COMPRESSING = {"use_compression": True, "compression_threshold": 10, "total_timeout": 60_000}


def test_a_server_that_takes_no_compressed_requests_refuses_a_batch_at_once(client, run, keys):
    keys = keys(60)
    begun = time.monotonic()
    # Rows that differ repeat their names, so that there is something to compress.
    reads = [BatchReadOp(key, ["v"] if n % 2 else None) for n, key in enumerate(keys)]
    for name, arguments in (("batch", [reads]), ("batch_write", [keys, [{"v": n} for n in range(60)]])):
        rows = run(client, name, *arguments, batch_policy=BatchPolicy(**COMPRESSING))
        assert {row.result_code for row in rows} == {ResultCode.ENTERPRISE_ONLY}
        assert not any(row.in_doubt for row in rows)
        assert isinstance(rows[0].error, AerospikeError) and rows[0].error.node
    assert time.monotonic() - begun < 30
    assert run(client, "batch_exists", keys) == [False] * 60


def test_a_stream_of_such_a_batch_ends_at_once(client, keys):
    ops = [BatchReadOp(key, ["v"] if n % 2 else None) for n, key in enumerate(keys(60))]
    begun = time.monotonic()
    rows = list(client.batch_stream_blocking(ops, batch_policy=BatchPolicy(**COMPRESSING)))
    assert sorted(place for place, _ in rows) == list(range(60))
    assert {row.result_code for _, row in rows} == {ResultCode.ENTERPRISE_ONLY}
    assert time.monotonic() - begun < 30


def test_a_server_with_compression_gets_and_gives_batches_so(new_cluster, connect, run, keys):
    """The embedded cluster takes compressed requests in strong-consistency mode, which is of the same edition."""
    client = connect(new_cluster(nodes=3, strong_consistency=True).seeds)
    keys, policy = keys(60), BatchPolicy(**COMPRESSING)
    texts = [f"{n} " + "compressible " * 200 for n in range(60)]
    rows = run(client, "batch_write", keys, [{"text": text} for text in texts], batch_policy=policy)
    assert {row.result_code for row in rows} == {ResultCode.OK}
    for part in (slice(None), slice(3, 4)):
        rows = run(client, "batch_read", keys[part], batch_policy=policy)
        assert [row.record.bins["text"] for row in rows] == texts[part]
    rows = client.batch_stream_blocking([BatchReadOp(key) for key in keys], batch_policy=policy)
    assert {place: row.record.bins["text"] for place, row in rows} == dict(enumerate(texts))


def test_the_answer_to_a_batch_of_a_loop_is_bounded(new_cluster, connect, run, request, keys):
    cluster, keys = new_cluster(nodes=1), keys(20)
    client = connect(cluster.seeds, ClientPolicy(max_batch_answer_bytes=100_000))
    run(client, "batch_write", keys, [{"v": "x" * 10_000}] * len(keys))
    if "blocking" in request.node.name:
        # It decodes each row as it comes.
        assert all(row.record for row in run(client, "batch_read", keys))
        return
    with pytest.raises(CapacityError, match="max_batch_answer_bytes") as caught:
        run(client, "batch_read", keys)
    assert not caught.value.in_doubt and caught.value.attempts == 1
    assert all(isinstance(row.error, CapacityError) for row in caught.value.batch_records)
    assert all(row.record for row in run(client, "batch_read", keys[:8]))


@pytest.mark.parametrize("large", [1, 300_000])
async def test_bytes_in_line_are_bounded(new_cluster, connect, keys, large):
    cluster, keys = new_cluster(nodes=1), keys(4)
    one = {"max_conns_per_node": 1, "pipeline_depth": 1}
    client = connect(cluster.seeds, ClientPolicy(**one, max_waiting_bytes_per_node=100_000))
    await client.put(keys[0], {"v": 1})
    with cluster.inject("stall", on="write"):
        # One in flight; one that waits, however large it is.
        waiting = [client.put(keys[0], {"v": 1}), client.put(keys[1], {"v": "x" * large})]
        late = client.put(keys[2], {"v": "x" * 90_000})
        if large > 1:
            with pytest.raises(PoolExhaustedError, match="max_waiting_bytes"):
                await late
        else:
            waiting.append(late)
    await asyncio.gather(*waiting)
