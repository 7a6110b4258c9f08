"""Batches of the native client, in both twins."""

import asyncio

import pytest

from aerolane import Key, Operation, native
from aerolane.exceptions import ClientClosedError, InvalidArgumentError, InvalidNamespaceError
from aerolane.native import BatchDeleteOp, BatchReadOp, BatchWriteOp


@pytest.fixture(params=["blocking", "async"])
def call(request, client):
    """`call(name, ...)`: a batch of the client, carried out to its end."""
    if request.param == "blocking":
        yield lambda name, *args, **kwargs: getattr(client, f"{name}_blocking")(*args, **kwargs)
        return
    with asyncio.Runner() as runner:

        async def run(name, args, kwargs):
            return await asyncio.wait_for(getattr(client, name)(*args, **kwargs), 30)

        yield lambda name, *args, **kwargs: runner.run(run(name, args, kwargs))


@pytest.fixture
def keys(set_name):
    return [Key("test", set_name, number) for number in range(20)]


def codes(rows):
    return [int(row.result_code) for row in rows]


def test_write_and_read(call, keys):
    rows = call("batch_write", keys, [{"n": number, "s": f"v{number}"} for number in range(20)])
    assert codes(rows) == [0] * 20
    assert [row.key for row in rows] == keys
    rows = call("batch_read", keys)
    assert codes(rows) == [0] * 20
    assert [row.record.bins for row in rows] == [{"n": number, "s": f"v{number}"} for number in range(20)]
    assert [row.record.key for row in rows] == keys
    assert not any(row.in_doubt for row in rows)
    assert all(row.error is None for row in rows)
    assert [row.record.bins for row in call("batch_read", keys, ["s"])][7] == {"s": "v7"}
    assert [row.record.bins for row in call("batch_read", keys, [])] == [{}] * 20
    assert [row.record.generation for row in call("batch_read", keys[:2], [])] == [1, 1]


def test_missing_rows(call, client, keys):
    client.put_blocking(keys[3], {"a": 1})
    rows = call("batch_read", keys)
    assert codes(rows) == [0 if number == 3 else 2 for number in range(20)]
    assert rows[0].record is None
    assert type(rows[0].error).__name__ == "RecordNotFoundError"
    assert rows[0].result_code == native.ResultCode.KEY_NOT_FOUND_ERROR
    assert "KEY_NOT_FOUND" in repr(rows[0])
    assert call("batch_exists", keys) == [number == 3 for number in range(20)]
    headers = call("batch_get_header", keys)
    assert [header is not None for header in headers] == [number == 3 for number in range(20)]
    assert headers[3].generation == 1
    assert headers[3].bins == {}
    assert codes(call("batch_delete", keys)) == [0 if number == 3 else 2 for number in range(20)]
    assert call("batch_exists", keys) == [False] * 20


def test_values_come_back_as_they_went(call, keys):
    bins = {
        "nothing": 1,
        "text": "ä\N{SNOWMAN}",
        "raw": b"\0\xff",
        "float": 1.5,
        "bool": True,
        "list": [1, "a", b"b", None, [2.5]],
        "map": {"k": 1, 2: [3]},
    }
    call("batch_write", keys[:5], [bins] * 5)
    assert [row.record.bins for row in call("batch_read", keys[:5])] == [bins] * 5


def test_operate(call, client, keys):
    for key in keys:
        client.put_blocking(key, {"n": 1})
    rows = call("batch_operate", keys, [[Operation.add("n", number), Operation.get_bin("n")] for number in range(20)])
    assert codes(rows) == [0] * 20
    assert [client.get_blocking(key).bins["n"] for key in keys] == [1 + number for number in range(20)]
    rows = call("batch_operate", keys, [[Operation.get_bin("n")]] * 20)
    assert [row.record.bins["n"] for row in rows] == [1 + number for number in range(20)]


def test_rows_of_all_kinds(call, client, keys):
    client.put_blocking(keys[0], {"a": 1, "b": 2})
    client.put_blocking(keys[3], {"a": 1})
    rows = call(
        "batch",
        [
            BatchReadOp(keys[0], ["a"]),
            BatchWriteOp(keys[1], bins={"x": 5}),
            BatchWriteOp(keys[2], [Operation.put("y", 6)]),
            BatchDeleteOp(keys[3]),
            BatchReadOp(keys[4]),
            BatchReadOp(keys[0], operations=[Operation.get_bin("b")]),
        ],
    )
    assert codes(rows) == [0, 0, 0, 0, 2, 0]
    assert rows[0].record.bins == {"a": 1}
    assert rows[5].record.bins == {"b": 2}
    assert client.get_blocking(keys[1]).bins == {"x": 5}
    assert client.get_blocking(keys[2]).bins == {"y": 6}
    assert not client.exists_blocking(keys[3])


def test_rows_can_be_used_again(call, client, keys):
    client.put_blocking(keys[0], {"a": 1})
    row = BatchReadOp(keys[0])
    first = call("batch", [row, row])
    client.put_blocking(keys[0], {"a": 2})
    second = call("batch", [row])
    assert [r.record.bins for r in first] == [{"a": 1}] * 2
    assert second[0].record.bins == {"a": 2}


def test_row_policies(call, client, keys):
    client.put_blocking(keys[0], {"a": 1})
    policy = native.BatchWritePolicy()
    policy.record_exists_action = native.RecordExistsAction.CREATE_ONLY
    rows = call("batch_write", keys[:2], [{"a": 2}] * 2, write_policy=policy)
    assert codes(rows) == [5, 0]
    delete = native.BatchDeletePolicy()
    delete.generation_policy = native.GenerationPolicy.EXPECT_GEN_EQUAL
    delete.generation = 9
    assert codes(call("batch_delete", keys[:1], delete_policy=delete)) == [3]
    batch = native.BatchPolicy()
    batch.concurrency = native.Concurrency.SEQUENTIAL
    assert codes(call("batch_read", keys[:2], batch_policy=batch, read_policy=native.BatchReadPolicy())) == [0, 0]


@pytest.mark.parametrize("name", ["batch_read", "batch_delete", "batch_exists", "batch_get_header", "batch"])
def test_nothing_to_do(call, name):
    assert call(name, []) == []


def test_nothing_to_write(call):
    assert call("batch_write", [], []) == []
    assert call("batch_operate", [], []) == []


def test_one_row(call, keys):
    assert codes(call("batch_write", keys[:1], [{"a": 1}])) == [0]
    assert call("batch_read", keys[:1])[0].record.bins == {"a": 1}


def test_bad_arguments(client, keys):
    for twin in ("", "_blocking"):

        def call(name, *args, twin=twin, **kwargs):
            getattr(client, f"{name}{twin}")(*args, **kwargs)

        with pytest.raises(TypeError, match=r"keys\[1\]"):
            call("batch_read", [keys[0], "x"])
        with pytest.raises(TypeError, match="list of Key"):
            call("batch_read", keys[0])
        with pytest.raises(TypeError):
            call("batch_read", 5)
        with pytest.raises(TypeError):
            call("batch_read", keys, "a")
        with pytest.raises(ValueError, match="same length"):
            call("batch_write", keys, [{"a": 1}])
        with pytest.raises(ValueError, match="same length"):
            call("batch_operate", keys, [])
        with pytest.raises(TypeError, match=r"bins_list\[1\]"):
            call("batch_write", keys[:2], [{"a": 1}, 5])
        with pytest.raises(InvalidArgumentError, match=r"bins_list\[0\]"):
            call("batch_write", keys[:1], [{}])
        with pytest.raises(TypeError, match="'a' of"):
            call("batch_write", keys[:1], [{"a": object()}])
        with pytest.raises(TypeError, match=r"ops\[0\]"):
            call("batch", [keys[0]])
        with pytest.raises(TypeError, match="batch_policy"):
            call("batch_read", keys, batch_policy=native.ReadPolicy())
        with pytest.raises(InvalidArgumentError):
            call("batch_operate", keys[:1], [[]])
    for bad in ({"operations": [Operation.get()], "bins": {"a": 1}}, {}):
        with pytest.raises(InvalidArgumentError):
            BatchWriteOp(keys[0], **bad)
    with pytest.raises(InvalidArgumentError, match="writes"):
        BatchReadOp(keys[0], operations=[Operation.put("a", 1)])
    with pytest.raises(InvalidArgumentError):
        BatchReadOp(keys[0], ["a"], [Operation.get()])
    with pytest.raises(TypeError):
        BatchDeleteOp("k")


def test_unknown_namespace(call, keys):
    assert codes(call("batch_read", [Key("nowhere", "s", 1)])) == [20]
    rows = call("batch_read", [keys[0], Key("nowhere", "s", 1)])
    assert codes(rows) == [2, 20]
    assert isinstance(rows[1].error, InvalidNamespaceError)


def test_closed(connect, keys):
    client = connect()
    client.close_blocking()
    with pytest.raises(ClientClosedError):
        client.batch_read_blocking(keys)


def test_failed_rows_of_one_node(new_cluster):
    """Rows of a node that does not answer fail; the others have their records."""
    cluster = new_cluster(nodes=3, replication_factor=1)
    keys = [Key("test", "s", number) for number in range(60)]
    with native.new_client_blocking(native.ClientPolicy(), cluster.seeds) as client:
        client.batch_write_blocking(keys, [{"a": 1}] * 60)
        policy = native.BatchPolicy()
        policy.total_timeout, policy.socket_timeout, policy.max_retries = 300, 300, 0
        cluster.inject("stall", node=cluster.nodes[0], on="batch")
        rows = client.batch_read_blocking(keys, batch_policy=policy)
        assert 0 < codes(rows).count(0) < 60
        failed = [row for row in rows if row.record is None]
        assert {int(row.result_code) for row in failed} == {9}
        assert all(type(row.error).__name__ == "TimeoutError" for row in failed)
