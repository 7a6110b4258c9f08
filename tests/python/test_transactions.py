"""Transactions on an embedded cluster in strong-consistency mode: all calls, conflicts, doubts, the end.

There is no Community Edition with transactions; what that one answers is in `test_txn.py`.
"""

import asyncio

import pytest
from conftest import eventually

import aerolane
from aerolane import exceptions, native
from aerolane.native import AbortStatus, CommitStatus, Operation, ResultCode, Txn, TxnState
from aerolane.testing import EmbeddedCluster

LIST, MAP = native.ListPolicy(), native.MapPolicy(native.MapOrder.UNORDERED)
DURABLE = native.WritePolicy(durable_delete=True)
MODULE = """
function set(rec, v) rec.v = v
  if aerospike:exists(rec) then aerospike:update(rec) else aerospike:create(rec) end
  return v
end
function fail(rec) error("on purpose") end
"""


@pytest.fixture(scope="module")
def consistent():
    with EmbeddedCluster(nodes=3, strong_consistency=True) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def whole(consistent):
    yield
    consistent.clear_faults()


@pytest.fixture(scope="module")
def client(consistent):
    client = native.new_client_blocking(native.ClientPolicy(), consistent.seeds)
    client.register_udf_blocking(MODULE, "txn.lua").wait_till_complete_blocking()
    yield client
    client.close_blocking()


@pytest.fixture
def alone():
    """A cluster of one node, where faults strike in order, and its client."""
    with EmbeddedCluster(nodes=1, strong_consistency=True) as cluster:
        client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
        yield cluster, client
        client.close_blocking()


@pytest.fixture
def keys(set_name):
    return [aerolane.Key("test", set_name, number) for number in range(20)]


def bins(client, key, **how):
    return client.get_blocking(key, **how).bins


def missing(client, key):
    return not client.exists_blocking(key)


def writing(txn, **settings):
    return native.WritePolicy(txn=txn, durable_delete=True, **settings)


# What changes a record that has `{"n": 1, "l": [1]}`: calls of a client, of a key and a transaction, and what is seen
# after it.
WRITES = {
    "put": (lambda c, k, t: c.put_blocking(k, {"n": 2}, txn=t), {"n": 2, "l": [1]}),
    "add": (lambda c, k, t: c.add_blocking(k, {"n": 4}, policy=writing(t)), {"n": 5, "l": [1]}),
    "append": (lambda c, k, t: c.append_blocking(k, {"s": "x"}, policy=writing(t)), {"n": 1, "l": [1], "s": "x"}),
    "prepend": (lambda c, k, t: c.prepend_blocking(k, {"s": "x"}, policy=writing(t)), {"n": 1, "l": [1], "s": "x"}),
    "touch": (lambda c, k, t: c.touch_blocking(k, policy=writing(t)), {"n": 1, "l": [1]}),
    "delete": (lambda c, k, t: c.delete_blocking(k, policy=writing(t)), None),
    "udf": (
        lambda c, k, t: c.execute_udf_blocking(k, "txn", "set", [7], policy=writing(t)),
        {"n": 1, "l": [1], "v": 7},
    ),
    "list": (
        lambda c, k, t: c.operate_blocking(k, [native.ListOperation.append("l", "x", LIST)], txn=t),
        {"n": 1, "l": [1, "x"]},
    ),
    "nested list": (
        lambda c, k, t: c.operate_blocking(
            k,
            [
                native.MapOperation.put("m", "k", [1], MAP),
                native.ListOperation.append("m", 2, LIST).set_context([native.CTX.map_key("k")]),
            ],
            txn=t,
        ),
        {"n": 1, "l": [1], "m": {"k": [1, 2]}},
    ),
    "bits": (
        lambda c, k, t: c.operate_blocking(
            k, [Operation.put("b", b"\0"), native.BitOperation.not_("b", 0, 8, native.BitPolicy())], txn=t
        ),
        {"n": 1, "l": [1], "b": b"\xff"},
    ),
    "expression": (
        lambda c, k, t: c.operate_blocking(
            k,
            [
                native.ExpOperation.write(
                    "n",
                    native.FilterExpression.num_add(
                        [native.FilterExpression.int_bin("n"), native.FilterExpression.int_val(9)]
                    ),
                    native.ExpWriteFlags.DEFAULT,
                )
            ],
            txn=t,
        ),
        {"n": 10, "l": [1]},
    ),
    "batch write": (
        lambda c, k, t: c.batch_write_blocking([k], [{"n": 3}], batch_policy=native.BatchPolicy(txn=t)),
        {"n": 3, "l": [1]},
    ),
    "batch operate": (
        lambda c, k, t: c.batch_operate_blocking(
            [k], [[native.ListOperation.append("l", 2, LIST)]], batch_policy=native.BatchPolicy(txn=t)
        ),
        {"n": 1, "l": [1, 2]},
    ),
    "batch delete": (
        lambda c, k, t: c.batch_delete_blocking(
            [k],
            batch_policy=native.BatchPolicy(txn=t),
            delete_policy=native.BatchDeletePolicy(durable_delete=True),
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])
def test_every_write(client, key, name, commits):
    write, expected = WRITES[name]
    before = {"n": 1, "l": [1]}
    client.put_blocking(key, before)
    txn = Txn()
    outcome = write(client, key, txn)
    if isinstance(outcome, list):
        assert [row.result_code for row in outcome] == [ResultCode.OK]
    # Others see what was, and cannot change it.
    assert bins(client, key) == before
    with pytest.raises(exceptions.TransactionError) as raised:
        client.put_blocking(key, {"n": 99})
    assert raised.value.result_code == ResultCode.MRT_BLOCKED
    if expected is None:
        assert not client.exists_blocking(key, policy=native.ReadPolicy(txn=txn))
    else:
        assert bins(client, key, txn=txn) == expected
    assert txn.namespace == "test"
    if commits:
        assert client.commit_blocking(txn) is CommitStatus.OK
        assert missing(client, key) if expected is None else bins(client, key) == expected
    else:
        assert client.abort_blocking(txn) is AbortStatus.OK
        assert bins(client, key) == before
    client.put_blocking(key, {"n": 99})  # nothing is locked any more


async def test_async_calls(client, keys):
    txn = Txn()
    policy = native.BatchPolicy(txn=txn)
    await client.put(keys[0], {"n": 1}, txn=txn)
    append = native.ListOperation.append("l", "x", LIST)
    record = await client.operate(keys[0], [append, Operation.get_bin("l")], txn=txn)
    assert record.bins == {"l": [1, ["x"]]}
    rows = await client.batch_write(keys[1:], [{"n": 2}] * 19, batch_policy=policy)
    assert {row.result_code for row in rows} == {ResultCode.OK}
    rows = await client.batch_read(keys, batch_policy=policy)
    assert [row.record.bins["n"] for row in rows] == [1] + [2] * 19
    assert await client.execute_udf(keys[2], "txn", "set", [5], policy=writing(txn)) == 5
    with pytest.raises(exceptions.UdfError, match="on purpose"):
        await client.execute_udf(keys[2], "txn", "fail", policy=writing(txn))
    assert not any(row.record for row in await client.batch_read(keys))
    assert await client.commit(txn) is CommitStatus.OK
    assert await client.commit(txn) is CommitStatus.ALREADY_COMMITTED
    rows = await client.batch_read(keys)
    assert [row.record.bins["n"] for row in rows] == [1] + [2] * 19
    assert rows[2].record.bins["v"] == 5
    txn = Txn()
    await asyncio.gather(*(client.put(key, {"n": 3}, txn=txn) for key in keys))
    assert await client.abort(txn) is AbortStatus.OK
    assert [row.record.bins["n"] for row in await client.batch_read(keys)] == [1] + [2] * 19


async def test_a_cancelled_write_is_looked_after(consistent, client, key):
    for first in (False, True):  # whether it is the transaction's first one, which opens the monitor
        txn = Txn()
        if not first:
            await client.put(key, {"n": 1}, txn=txn)
        with consistent.inject("answer-delay", 1.0, on="write"), pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.put(key, {"n": 2}, txn=txn)
        if first:
            await client.put(key, {"n": 2}, txn=txn)
        assert await client.commit(txn) is CommitStatus.OK
        assert (await client.get(key)).bins == {"n": 2}
        await client.put(key, {"n": 3})  # nothing is locked any more


def test_columns(client, keys):
    """Batches as columns read what the transaction has written."""
    numpy = pytest.importorskip("numpy")
    txn = Txn()
    policy = native.BatchPolicy(txn=txn)
    client.batch_write_blocking(keys, [{"n": number} for number in range(20)], batch_policy=policy)
    read = client.batch_read_blocking(keys, ["n"], batch_policy=policy, as_numpy=numpy.dtype([("n", "i8")]))
    assert list(read.batch_records["n"]) == list(range(20))
    outside = client.batch_read_blocking(keys, ["n"], as_numpy=numpy.dtype([("n", "i8")]))
    assert set(outside.result_codes) == {int(ResultCode.KEY_NOT_FOUND_ERROR)}
    assert client.abort_blocking(txn) is AbortStatus.OK


@pytest.mark.parametrize("reads", ["get", "exists", "operate", "batch_read"])
@pytest.mark.parametrize("changes", ["put", "delete", "create"])
def test_what_was_read_must_not_have_changed(client, keys, reads, changes):
    key, written = keys[:2]
    if changes != "create":
        client.put_blocking(key, {"n": 1})
    txn = Txn()
    policy = native.ReadPolicy(txn=txn)
    try:
        if reads == "get":
            client.get_blocking(key, policy=policy)
        elif reads == "exists":
            client.exists_blocking(key, policy=policy)
        elif reads == "operate":
            client.operate_blocking(key, [Operation.get()], txn=txn)
        else:
            client.batch_read_blocking([key], batch_policy=native.BatchPolicy(txn=txn))
    except exceptions.RecordNotFoundError:
        assert changes == "create"
    client.put_blocking(written, {"n": 1}, txn=txn)
    if changes == "delete":
        client.delete_blocking(key, policy=DURABLE)
    else:
        client.put_blocking(key, {"n": 2})
    with pytest.raises(native.CommitFailedError) as raised:
        client.commit_blocking(txn)
    error = raised.value
    assert error.commit_error_type is native.CommitErrorType.VERIFY_FAIL
    assert error.verify_records == [(key.digest_bytes, ResultCode.MRT_VERSION_MISMATCH, False)]
    assert error.roll_records == [(written.digest_bytes, ResultCode.OK, False)]
    assert error.result_code == ResultCode.MRT_VERSION_MISMATCH
    assert error.base_message == "Commit failed: Transaction verify failed. Transaction aborted."
    assert not error.in_doubt
    assert txn.state is TxnState.ABORTED
    assert missing(client, written)
    client.put_blocking(written, {"n": 2})


def test_conflicts(client, keys):
    key, other = keys[:2]
    client.put_blocking(key, {"n": 1})
    first, second = Txn(), Txn()
    client.put_blocking(key, {"n": 2}, txn=first)
    for call in (
        lambda: client.put_blocking(key, {"n": 3}, txn=second),
        lambda: client.get_blocking(key, txn=second),
        lambda: client.delete_blocking(key, policy=DURABLE),
        lambda: client.operate_blocking(key, [native.ListOperation.append("l", 1, LIST)]),
    ):
        with pytest.raises(exceptions.TransactionError) as raised:
            call()
        assert raised.value.result_code == ResultCode.MRT_BLOCKED
        assert not raised.value.in_doubt
    rows = client.batch_write_blocking([key, other], [{"n": 4}] * 2, batch_policy=native.BatchPolicy(txn=second))
    assert [row.result_code for row in rows] == [ResultCode.MRT_BLOCKED, ResultCode.OK]
    assert client.commit_blocking(second) is CommitStatus.OK
    assert client.commit_blocking(first) is CommitStatus.OK
    assert (bins(client, key), bins(client, other)) == ({"n": 2}, {"n": 4})


def test_a_write_without_an_answer(alone, key):
    cluster, client = alone
    for commits in (True, False):
        txn = Txn()
        with (
            cluster.inject("drop-after", on="write", skip=1, times=1),
            pytest.raises(aerolane.AerospikeError) as raised,
        ):
            client.put_blocking(key, {"n": 1}, txn=txn)
        assert raised.value.in_doubt
        assert (client.commit_blocking if commits else client.abort_blocking)(txn).name == "OK"
        assert client.exists_blocking(key) == commits
        client.put_blocking(key, {"n": 2})
        client.delete_blocking(key, policy=DURABLE)


def test_a_commit_in_doubt(alone, key):
    cluster, client = alone
    txn = Txn()
    client.put_blocking(key, {"n": 1}, txn=txn)
    once = native.TxnRollPolicy(max_retries=0)
    with cluster.inject("drop-after", on="write", times=1), pytest.raises(native.CommitFailedError) as raised:
        client.commit_blocking(txn, roll_policy=once)
    assert raised.value.commit_error_type is native.CommitErrorType.MARK_ROLL_FORWARD_ABANDONED
    assert raised.value.in_doubt
    assert (txn.state, txn.in_doubt) == (TxnState.COMMIT_FAILED, True)
    with pytest.raises(exceptions.TransactionError):
        client.abort_blocking(txn)
    assert client.commit_blocking(txn) is CommitStatus.ALREADY_COMMITTED
    assert (txn.state, txn.in_doubt) == (TxnState.COMMITTED, False)
    assert bins(client, key) == {"n": 1}


def test_a_commit_that_an_overloaded_device_refuses(alone, key):
    cluster, client = alone
    txn = Txn()
    client.put_blocking(key, {"n": 1}, txn=txn)
    once = native.TxnRollPolicy(max_retries=0)
    overloaded = int(ResultCode.DEVICE_OVERLOAD)
    with cluster.inject("result", overloaded, on="write", times=1), pytest.raises(native.CommitFailedError) as raised:
        client.commit_blocking(txn, roll_policy=once)
    assert raised.value.commit_error_type is native.CommitErrorType.MARK_ROLL_FORWARD_ABANDONED
    assert (raised.value.in_doubt, txn.in_doubt) == (False, False)
    assert missing(client, key)
    client.commit_blocking(txn)
    assert bins(client, key) == {"n": 1}


def test_a_record_that_cannot_be_rolled(alone, key):
    cluster, client = alone
    txn = Txn(timeout=100)
    client.put_blocking(key, {"n": 1}, txn=txn)
    once = native.TxnRollPolicy(max_retries=0)
    overloaded = int(ResultCode.DEVICE_OVERLOAD)
    with cluster.inject("result", overloaded, on="write", skip=1), pytest.raises(native.CommitFailedError) as raised:
        client.commit_blocking(txn, roll_policy=once)
    assert raised.value.commit_error_type is native.CommitErrorType.ROLL_FORWARD_ABANDONED
    assert raised.value.roll_records == [(key.digest_bytes, ResultCode.DEVICE_OVERLOAD, False)]
    assert txn.state is TxnState.COMMITTED
    assert missing(client, key)
    cluster.advance_clock(200)
    eventually(lambda: not missing(client, key), lambda: "the server has not rolled the record forward")


def test_time_is_limited(alone, key):
    cluster, client = alone
    client.put_blocking(key, {"n": 1})
    txn = Txn(timeout=100)
    client.put_blocking(key, {"n": 2}, txn=txn)

    def is_free():
        try:
            client.put_blocking(key, {"n": 3})
        except exceptions.TransactionError:
            return False
        return True

    assert not is_free()
    cluster.advance_clock(200)
    eventually(is_free, lambda: "the server has not aborted the transaction")
    with pytest.raises(exceptions.TransactionError) as raised:
        client.put_blocking(key, {"n": 4}, txn=txn)
    assert raised.value.result_code == ResultCode.MRT_EXPIRED
    with pytest.raises(native.CommitFailedError) as failed:
        client.commit_blocking(txn)
    assert failed.value.commit_error_type is native.CommitErrorType.MARK_ROLL_FORWARD_ABANDONED
    assert txn.state is TxnState.ABORTED
    assert bins(client, key) == {"n": 3}


def test_one_namespace(new_cluster):
    cluster = new_cluster(nodes=1, namespace=["a", "b"], strong_consistency=True)
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    txn = Txn()
    client.put_blocking(aerolane.Key("a", "s", 1), {"n": 1}, txn=txn)
    with pytest.raises(exceptions.InvalidArgumentError, match="one namespace"):
        client.put_blocking(aerolane.Key("b", "s", 1), {"n": 1}, txn=txn)
    assert txn.namespace == "a"
    assert client.commit_blocking(txn) is CommitStatus.OK
    assert txn.namespace is None
    client.close_blocking()


def test_queries_see_what_is_committed(client, keys):
    client.put_blocking(keys[0], {"n": 1})
    txn = Txn()
    client.put_blocking(keys[0], {"n": 2}, txn=txn)
    client.put_blocking(keys[1], {"n": 2}, txn=txn)
    statement = native.Statement("test", keys[0].set_name)
    seen = [record.bins for record in client.query_blocking(statement)]
    assert seen == [{"n": 1}]
    assert client.commit_blocking(txn) is CommitStatus.OK
    assert [record.bins for record in client.query_blocking(statement)] == [{"n": 2}] * 2
