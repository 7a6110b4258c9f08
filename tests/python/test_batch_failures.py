"""Large batches, and results that say which rows have failed: the same cases as tests/rust/large_batches.rs."""

import copy
import pickle

import pytest

from aerolane import ErrorStrategy, Key
from aerolane.exceptions import (
    AerospikeError,
    BatchFailedError,
    ClientError,
    InvalidNamespaceError,
    RecordNotFoundError,
    TimeoutError,
)
from aerolane.native import (
    BatchPolicy,
    BatchReadOp,
    BatchRecords,
    BatchWriteOp,
    BatchWritePolicy,
    RecordExistsAction,
    ResultCode,
)


@pytest.fixture
def keys(set_name):
    """`keys(n)`: that many keys of a set of the test's own."""
    return lambda count: [Key("test", set_name, n) for n in range(count)]


def rows_of(keys):
    return [{"n": n, "s": "x" * 100} for n in range(len(keys))]


def test_a_large_batch_under_the_default_time_limit(client, run, keys):
    keys = keys(60_000)
    rows = run(client, "batch_write", keys, rows_of(keys))
    assert len(rows) == len(keys)
    assert rows.failures() == []
    assert rows.raise_for_failures() is None
    read = run(client, "batch_read", keys[::-1])
    assert [row.record.bins["n"] for row in read] == list(reversed(range(len(keys))))


def test_slow_nodes_have_time_for_large_batches(new_cluster, connect, run, keys):
    """A small batch may take a second; one of 11,000 rows three."""
    cluster, keys = new_cluster(nodes=3), keys(11_000)
    client = connect(cluster.seeds)
    cluster.set_conditions(service_time={"batch": "1100ms"})
    run(client, "batch_write", keys, rows_of(keys)).raise_for_failures()
    # An explicit limit is one, whatever the size.
    with pytest.raises(TimeoutError) as caught:
        run(client, "batch_write", keys, rows_of(keys), batch_policy=BatchPolicy(total_timeout=500, max_retries=0))
    assert len(caught.value.records) == len(keys)
    assert isinstance(caught.value.records, BatchRecords)
    assert any(row.in_doubt for row in caught.value.records)
    # Answers that have come by the time that their turn is over are taken.
    with pytest.raises((TimeoutError, BatchFailedError)):
        run(client, "batch_write", keys[:100], rows_of(keys[:100])).raise_for_failures()


def test_parts_that_were_not_sent_are_not_in_doubt(new_cluster, connect, run, keys):
    cluster, keys = new_cluster(nodes=3), keys(60_000)
    client = connect(cluster.seeds)
    cluster.set_conditions(service_time={"batch": "700ms"})
    policy = BatchPolicy(total_timeout=2500, max_retries=0)
    rows = run(client, "batch_write", keys, rows_of(keys), batch_policy=policy)
    with pytest.raises(BatchFailedError) as caught:
        rows.raise_for_failures()
    failed = caught.value.records
    assert caught.value.in_doubt and len(failed) == len(rows.failures()) > 0
    cluster.set_conditions()
    patient = BatchPolicy(total_timeout=60_000)
    there = [row.record is not None for row in run(client, "batch_read", keys, batch_policy=patient)]
    assert all(found for row, found in zip(rows, there, strict=True) if row.is_ok)
    unsent = [found for row, found in zip(rows, there, strict=True) if not row.is_ok and not row.in_doubt]
    assert len(unsent) > 0
    assert not any(unsent)


def test_failures(client, run, keys):
    keys = keys(10)
    assert isinstance(run(client, "batch_write", keys[:8], [{"n": n} for n in range(8)]), BatchRecords)
    rows = run(client, "batch_read", keys)
    assert [row.key for row in rows.failures()] == keys[8:]
    assert [row.is_ok for row in rows] == [True] * 8 + [False] * 2
    assert rows.failures(missing=False) == []
    assert rows.raise_for_failures(missing=False) is None
    with pytest.raises(BatchFailedError, match=r"2 of 10 rows .*2 KeyNotFoundError.*row 8") as caught:
        rows.raise_for_failures()
    assert isinstance(caught.value, ClientError)
    assert caught.value.result_code == ResultCode.BATCH_FAILED
    assert not caught.value.in_doubt
    assert caught.value.records == caught.value.batch_records == rows.failures()
    assert all(isinstance(row.error, AerospikeError) for row in caught.value.records)
    # Some fail for another reason than others.
    only_new = BatchWritePolicy(record_exists_action=RecordExistsAction.CREATE_ONLY)
    ops = [BatchWriteOp(key, policy=only_new, bins={"n": 1}) for key in keys[7:]] + [BatchReadOp(keys[0], ["n"])]
    rows = run(client, "batch", ops)
    assert [row.result_code for row in rows.failures(missing=False)] == [ResultCode.KEY_EXISTS_ERROR]
    deleted = run(client, "batch_delete", [keys[0], keys[0]])
    assert [row.is_ok for row in deleted] == [True, False]
    assert len(deleted.failures(missing=False)) == 0


def test_the_list_is_a_list(client, run, keys):
    rows = run(client, "batch_write", keys(3), [{"n": 1}] * 3)
    assert isinstance(rows, list)
    assert rows == list(rows)
    assert len(rows + rows) == 6
    assert type(rows).__module__ == "aerolane.native"
    assert BatchRecords().failures() == []
    with pytest.raises(TypeError):
        BatchRecords([1]).failures()
    with pytest.raises(AttributeError):
        rows.other = 1
    assert pickle.loads(pickle.dumps(BatchRecords())) == []
    assert type(copy.copy(rows)) is BatchRecords


def test_streams_of_builders(either, set_name):
    keys = [Key("test", set_name, n) for n in range(6)]
    session = either.session
    done = either.run(either.run(session.upsert(keys).put({"n": 1}).execute()).raise_for_failures())
    assert [result.is_ok for result in done] == [True] * 6
    # An insert of what exists fails, in the results.
    more = [*keys[4:], Key("test", set_name, 7)]
    stream = either.run(session.insert(more).put({"n": 2}).execute())
    with pytest.raises(BatchFailedError, match=r"2 of 3 rows .*KeyExistsError") as caught:
        either.run(stream.raise_for_failures())
    assert [result.key for result in caught.value.records] == keys[4:]
    assert [result.index for result in caught.value.records] == [0, 1]
    # A record that is missing is none here, as in `failures()`.
    query = session.query([*keys, Key("test", set_name, 99)])
    assert len(either.run(either.run(query.execute()).raise_for_failures())) == 6
    one = either.run(session.insert(keys[0]).put({"n": 1}).execute(on_error=ErrorStrategy.IN_STREAM))
    with pytest.raises(BatchFailedError):
        either.run(one.raise_for_failures())
    # It can be read once.
    with pytest.raises(ClientError):
        either.run(one.raise_for_failures())


@pytest.mark.parametrize("how", ["as_numpy", "as_arrow"])
def test_columns_say_which_rows_have_failed(client, run, keys, how):
    if how == "as_numpy":
        pytest.importorskip("numpy")
    columns, keys = {how: True if how == "as_arrow" else [("n", "i4")]}, keys(6)
    run(client, "batch_write", keys[1:], rows_of(keys[1:])).raise_for_failures()
    read = run(client, "batch_read", keys[1:], ["n"], **columns)
    assert read.failures() == [] and read.raise_for_failures() is None
    # One is missing, and one has no such namespace.
    keys[4] = Key("nowhere", "s", 4)
    read = run(client, "batch_read", keys, ["n"], **columns)
    (first, missing), (second, unroutable) = read.failures()
    assert (first, second) == (0, 4)
    assert isinstance(missing, RecordNotFoundError) and isinstance(unroutable, InvalidNamespaceError)
    assert list(read.result_codes) == [2, 0, 0, 0, unroutable.result_code, 0]
    assert [row for row, _ in read.failures(missing=False)] == [4]
    with pytest.raises(BatchFailedError, match="2 of 6 rows of the batch failed") as caught:
        read.raise_for_failures()
    assert [row for row, _ in caught.value.records] == [0, 4] and not caught.value.in_doubt
    with pytest.raises(BatchFailedError, match="1 of 6 rows") as caught:
        read.raise_for_failures(missing=False)
    run(client, "batch_read", keys[:4], ["n"], **columns).raise_for_failures(missing=False)
