"""What the server refuses, and what is refused before it is sent: wrong arguments of operations, queries, indexes and
functions. The same cases from Rust are in tests/rust/invalid_arguments.rs.
"""

import asyncio

import pytest
from conftest import udf_module

import aerolane
from aerolane import ResultCode, native
from aerolane.exceptions import InvalidRequest
from aerolane.native import (
    CTX,
    BatchReadOp,
    BatchWriteOp,
    BitOperation,
    ExpOperation,
    FilterExpression,
    HllOperation,
    IndexType,
    ListOperation,
    ListPolicy,
    ListReturnType,
    MapOperation,
    MapPolicy,
    MapReturnType,
    Operation,
)

L, M, R, K = ListOperation, MapOperation, ListReturnType, MapReturnType
LP, MP = ListPolicy(), MapPolicy()
BINS = {"i": 1, "s": "text", "f": 1.5, "b": b"\x01\x02", "l": [1, "x"], "m": {"k": 1}}


@pytest.fixture
def record(client, key):
    client.put_blocking(key, BINS)
    return key


def refused(client, key, operations, code, kind):
    """The error of `operate` and of a row of a batch: blocking, and on a loop."""
    calls = [
        lambda: client.operate_blocking(key, operations),
        lambda: asyncio.run(on_a_loop(client, key, operations)),
    ]
    for call in calls:
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        assert error.result_code == code and type(error) is kind
        assert not error.is_client_error and not error.in_doubt and error.node
    (row,) = client.batch_operate_blocking([key], [operations])
    assert row.result_code == code and type(row.error) is kind
    assert client.get_blocking(key).bins == BINS


async def on_a_loop(client, key, operations):
    return await client.operate(key, operations)


EMPTY = [
    lambda c, key: c.operate_blocking(key, []),
    lambda c, key: c.operate_blocking(key, ()),
    lambda c, key: c.operate_blocking(key, iter([])),
    lambda c, key: c.batch_operate_blocking([key], [[]]),
    lambda c, key: c.query_operate_blocking(native.Statement("test", "s"), []),
    lambda c, key: native.Statement("test", "s").set_operations([]),
    lambda c, key: BatchReadOp(key, operations=[]),
    lambda c, key: BatchWriteOp(key, []),
    lambda c, key: BatchWriteOp(key, bins={}),
    lambda c, key: BatchWriteOp(key),
    lambda c, key: c.put_blocking(key, {}),
    lambda c, key: c.add_blocking(key, {}),
    lambda c, key: c.batch_write_blocking([key], [{}]),
    lambda c, key: native.has_any_write_op([]),
]


@pytest.mark.parametrize("n", range(len(EMPTY)))
def test_empty_lists_of_operations_and_bins(client, record, n):
    with pytest.raises(aerolane.InvalidArgumentError) as caught:
        EMPTY[n](client, record)
    assert caught.value.is_client_error and not caught.value.in_doubt and caught.value.attempts == 0
    assert client.get_blocking(record).bins == BINS


async def test_empty_lists_on_a_loop(client, key):
    for call in (lambda: client.operate(key, []), lambda: client.batch_operate([key], [[]])):
        with pytest.raises(aerolane.InvalidArgumentError):
            await call()


@pytest.mark.parametrize(
    "operation",
    [
        L.size("i"),
        L.size("m"),
        L.append("s", 1, LP),
        L.get_by_index("f", 0, R.VALUE),
        M.size("l"),
        M.put("i", "k", 1, MP),
        M.get_by_key("b", "k", K.VALUE),
        BitOperation.count("s", 0, 8),
        BitOperation.get("i", 0, 8),
        HllOperation.get_count("i"),
        HllOperation.add("s", ["a"], 8),
        Operation.add("s", 1),
        Operation.add("l", 1),
        Operation.append("i", "x"),
        Operation.prepend("m", "x"),
    ],
    ids=repr,
)
def test_wrong_types_of_bins(client, record, operation):
    refused(client, record, [operation], ResultCode.BIN_TYPE_ERROR, aerolane.BinTypeError)


@pytest.mark.parametrize(
    ("operation", "answer", "left"),
    [
        (L.get_range("l", 0, -1), [1, "x"], [1, "x"]),
        (L.get_by_index_range("l", 0, -1, R.VALUE), [1, "x"], [1, "x"]),
        (L.get_by_rank_range("l", 0, -1, R.COUNT), 2, [1, "x"]),
        (L.get_by_value_relative_rank_range("l", 1, 0, -1, R.COUNT), 2, [1, "x"]),
        (L.pop_range("l", 1, -1), ["x"], [1]),
        (L.remove_range("l", 0, -1), 2, []),
        (L.remove_by_index_range("l", 0, -5, R.COUNT), 2, []),
        (L.trim("l", 1, -1), 1, ["x"]),
        (M.get_by_index_range("m", 0, -1, K.KEY), ["k"], {"k": 1}),
        (M.get_by_key_relative_index_range("m", "k", 0, -1, K.KEY), ["k"], {"k": 1}),
        (M.remove_by_rank_range("m", 0, -1, K.KEY), ["k"], {}),
    ],
    ids=repr,
)
def test_negative_counts_are_no_counts(client, record, operation, answer, left):
    """To the server, a range of lists and maps with a negative count goes to the end."""
    assert client.operate_blocking(record, [operation]).results == [answer]
    assert client.get_blocking(record).bins[operation.bin_name] == left


@pytest.mark.parametrize("operation", [BitOperation.get("b", 0, -8), BitOperation.count("b", 0, -8)], ids=repr)
def test_negative_sizes(client, record, operation):
    refused(client, record, [operation], ResultCode.PARAMETER_ERROR, InvalidRequest)


def test_negative_counts_that_are_not_sent(client, key):
    cases = [
        lambda: native.PartitionFilter.by_range(0, -1),
        lambda: native.PartitionFilter.by_range(-1, 1),
        lambda: native.PartitionFilter.by_id(-1),
        lambda: native.PartitionStatus(-1),
        lambda: native.QueryPolicy(max_records=-1),
        lambda: native.QueryPolicy(records_per_second=-1),
        lambda: native.QueryPolicy(record_queue_size=-1),
        lambda: native.ReadPolicy(max_retries=-1),
        lambda: native.ReadPolicy(total_timeout=-1),
        lambda: native.WritePolicy(generation=-1),
        lambda: native.Expiration.seconds(-1),
        lambda: client.truncate_blocking("test", "s", -1),
        lambda: client.create_role_blocking("r", [], [], -1, 0),
        lambda: client.set_quotas_blocking("r", -1, 0),
        lambda: FilterExpression.list_get_by_index_range_count(R.VALUE, 0, 1, 2, 3),
    ]
    for n, case in enumerate(cases):
        with pytest.raises((aerolane.InvalidArgumentError, OverflowError, TypeError, ValueError)):
            case()
            pytest.fail(f"case {n}")


@pytest.mark.parametrize(
    ("bin_name", "way", "code", "kind"),
    [
        ("i", [CTX.map_key("k")], ResultCode.PARAMETER_ERROR, InvalidRequest),
        ("s", [CTX.list_index(0)], ResultCode.PARAMETER_ERROR, InvalidRequest),
        ("f", [CTX.list_rank(0)], ResultCode.PARAMETER_ERROR, InvalidRequest),
        ("m", [CTX.map_key("k")], ResultCode.BIN_TYPE_ERROR, aerolane.BinTypeError),
        ("m", [CTX.map_key("k"), CTX.map_key("deeper")], ResultCode.OP_NOT_APPLICABLE, aerolane.BinOpInvalidError),
        ("l", [CTX.list_index(0), CTX.list_index(0)], ResultCode.OP_NOT_APPLICABLE, aerolane.BinOpInvalidError),
        ("l", [CTX.map_key("k")], ResultCode.OP_NOT_APPLICABLE, aerolane.BinOpInvalidError),
        ("m", [CTX.map_key("none")], ResultCode.OP_NOT_APPLICABLE, aerolane.BinOpInvalidError),
        ("l", [CTX.list_index(9)], ResultCode.OP_NOT_APPLICABLE, aerolane.BinOpInvalidError),
    ],
)
def test_contexts_that_lead_to_no_collection(client, record, bin_name, way, code, kind):
    refused(client, record, [L.append(bin_name, 1, LP).set_context(way)], code, kind)


def test_expressions_of_wrong_types(client, record):
    """The server finds them as it builds them."""
    wrong = FilterExpression.num_add([FilterExpression.string_bin("s"), FilterExpression.int_val(1)])
    refused(client, record, [ExpOperation.read("r", wrong)], ResultCode.PARAMETER_ERROR, InvalidRequest)
    policy = native.ReadPolicy(filter_expression=FilterExpression.eq(wrong, FilterExpression.int_val(1)))
    with pytest.raises(aerolane.AerospikeError) as caught:
        client.get_blocking(record, policy=policy)
    assert caught.value.result_code == ResultCode.PARAMETER_ERROR


def test_an_index_that_exists_and_one_that_does_not(client, record, set_name):
    name = f"{set_name}_i"
    client.create_index_blocking("test", set_name, "i", name, IndexType.NUMERIC).wait_till_complete_blocking(0.02, 30)
    try:
        for call in (
            lambda: client.create_index_blocking("test", set_name, "s", name, IndexType.STRING),
            lambda: client.create_set_index_blocking("test", set_name, name),
        ):
            # With what the server says about it.
            with pytest.raises(aerolane.IndexAlreadyExistsError, match="'indexname' already exists") as caught:
                call()
            assert caught.value.result_code == ResultCode.INDEX_FOUND and not caught.value.is_client_error
        # The same index once more is no error.
        again = client.create_index_blocking("test", set_name, "i", name, IndexType.NUMERIC)
        assert again.wait_till_complete_blocking(0.02, 30)
    finally:
        client.drop_index_blocking("test", set_name, name).wait_till_complete_blocking(0.02, 30)
    statement = native.Statement("test", set_name)
    statement.filters = [native.Filter.equal_by_index("none_of_this_name", 1)]
    with pytest.raises(aerolane.IndexNotFoundError) as caught:
        list(client.query_blocking(statement))
    assert caught.value.result_code == ResultCode.INDEX_NOT_FOUND


SOURCE = """
function fail(rec)
  local nothing = nil
  return nothing.field
end

function told(rec)
  error("told by the function")
end

function one(rec)
  return 1
end

local function deep(value)
  return value.x.y
end

function through(s)
  return s : map(deep)
end
"""


@pytest.fixture(scope="module")
def module(client):
    with udf_module(client, SOURCE, "py_invalid") as name:
        yield name


FAILING = [
    ("fail", r"py_invalid\.lua:4: attempt to index a nil value \(local 'nothing'\)"),
    ("told", r"py_invalid\.lua:8: told by the function"),
    ("nothing", "function not found"),
]


@pytest.mark.parametrize(("function", "message"), FAILING)
def test_functions_that_fail_say_file_and_line(client, module, record, function, message):
    with pytest.raises(aerolane.UdfError, match=message) as caught:
        client.execute_udf_blocking(record, module, function)
    assert caught.value.result_code == ResultCode.UDF_BAD_RESPONSE and not caught.value.is_client_error

    async def main():
        await client.execute_udf(record, module, function)

    with pytest.raises(aerolane.UdfError, match=message):
        asyncio.run(main())
    rows = client.batch_apply_blocking([record, record], module, function)
    for row in rows:
        assert row.result_code == ResultCode.UDF_BAD_RESPONSE and row.record is None and not row.in_doubt
        with pytest.raises(aerolane.UdfError, match=message):
            raise row.error
    assert client.execute_udf_blocking(record, module, "one") == 1


def test_functions_that_do_not_exist(client, record, module):
    for call in (
        lambda: client.execute_udf_blocking(record, "no_such_module", "f"),
        lambda: client.execute_udf_blocking(record, module, "no_such_function"),
    ):
        with pytest.raises(aerolane.UdfError) as caught:
            call()
        assert caught.value.result_code == ResultCode.UDF_BAD_RESPONSE
    (row,) = client.batch_apply_blocking([record], "no_such_module", "f")
    assert isinstance(row.error, aerolane.UdfError)


def test_streams_that_fail_say_file_and_line(client, module, record, set_name):
    statement = native.Statement("test", set_name)
    statement.set_aggregate_function(module, "through")
    with pytest.raises(aerolane.UdfError, match=r"py_invalid\.lua:16: "):
        list(client.query_blocking(statement))


def test_source_that_does_not_compile_says_file_and_line(client):
    with pytest.raises(aerolane.UdfError, match=r"py_bad\.lua:3: ") as caught:
        client.register_udf_blocking("function a()\nend\nfunction b(", "py_bad.lua")
    assert caught.value.node and not caught.value.is_client_error
