"""Builders: what is done with parts of lists and maps, with HLLs, bits and strings, functions and transactions."""

import asyncio

import conftest
import pytest

from aerolane import (
    Client,
    DataSet,
    Exp,
    HllConfig,
    InvalidArgumentError,
    ListOrderType,
    ListReturnType,
    LoopVarPart,
    MapOrder,
    MapReturnType,
    RecordNotFoundError,
    ResultCode,
    SyncClient,
    Txn,
    TxnStatus,
    UdfError,
)
from aerolane.exceptions import BinOpInvalidError
from aerolane.native import BitPolicy, BitwiseOverflowActions


@pytest.fixture
def udf_module(seeds):
    with SyncClient(seeds) as client, conftest.udf_module(client.native, conftest.UDFS, "py_builders") as name:
        yield name


@pytest.fixture
def nested(either, session, key):
    """A record with a map and a list that have others inside."""
    bins = {"m": {"a": 1, "b": 2, "c": {"x": [1, 2, 3], "y": "text"}}, "l": [5, 1, [7, 8], {"k": 9}]}
    either.results(session.upsert(key).put(bins))
    return key


def answers(either, builder):
    return either.run(builder.first_or_raise()).record.results


def test_reading_parts_of_maps(either, session, nested):
    def of(step):
        return answers(either, step(session.query(nested).bin("m")))[0]

    assert of(lambda m: m.on_map_key("a").get_values()) == 1
    assert of(lambda m: m.on_map_key("a").exists()) is True
    assert of(lambda m: m.on_map_key("z").exists()) is False
    assert of(lambda m: m.on_map_index(1).get_keys()) == "b"
    assert of(lambda m: m.on_map_rank(0).get_keys_and_values()) in ({"a": 1}, ["a", 1], [("a", 1)])
    assert of(lambda m: m.on_map_value(2).get_keys()) == ["b"]
    assert of(lambda m: m.on_map_value(2).get_all_other_keys()) == ["a", "c"]
    assert of(lambda m: m.on_map_key_range("a", "c").count()) == 2
    assert of(lambda m: m.on_map_key_range("a", "c").count_all_others()) == 1
    assert of(lambda m: m.on_map_key_list(["a", "c"]).get_indexes()) == [0, 2]
    assert of(lambda m: m.on_map_value_list([1, 2]).get_ranks()) == [0, 1]
    assert of(lambda m: m.on_map_index_range(0, 2).get_as_map()) == {"a": 1, "b": 2}
    assert of(lambda m: m.on_map_index_range(1).count()) == 2
    assert of(lambda m: m.on_map_rank_range(0, 1).get_keys()) == ["a"]
    assert of(lambda m: m.on_map_value_range(1, 3).get_keys()) == ["a", "b"]
    assert of(lambda m: m.on_map_key_relative_index_range("b", 0).get_keys()) == ["b", "c"]
    assert of(lambda m: m.on_map_value_relative_rank_range(1, 1, 1).get_values()) == [2]
    assert of(lambda m: m.on_map_key("c").on_map_key("x").on_list_index(-1).get_values()) == 3
    assert of(lambda m: m.on_map_key("c").on_map_key("x").list_size()) == 3
    assert of(lambda m: m.on_map_key("c").map_size()) == 2
    assert of(lambda m: m.on_map_key("c").on_map_key("x").on_list_value_list([1, 3]).get_indexes()) == [0, 2]


def test_reading_parts_of_lists(either, session, nested):
    def of(step):
        return answers(either, step(session.query(nested).bin("l")))[0]

    assert of(lambda l: l.on_list_index(0).get_values()) == 5  # noqa: E741
    assert of(lambda l: l.on_list_rank(0).get_indexes()) == 1  # noqa: E741
    assert of(lambda l: l.on_list_value(5).get_reverse_indexes()) == [3]  # noqa: E741
    assert of(lambda l: l.on_list_index_range(0, 2).get_values()) == [5, 1]  # noqa: E741
    assert of(lambda l: l.on_list_index_range(2).count()) == 2  # noqa: E741
    assert of(lambda l: l.on_list_rank_range(0, 2).get_values()) in ([1, 5], [5, 1])  # noqa: E741
    assert of(lambda l: l.on_list_value_range(0, 3).get_values()) == [1]  # noqa: E741
    assert of(lambda l: l.on_list_value_relative_rank_range(1, 1, 1).get_values()) == [5]  # noqa: E741
    assert of(lambda l: l.on_list_value_list([1, 5]).get_all_other_indexes()) == [2, 3]  # noqa: E741
    assert of(lambda l: l.on_list_index(2).on_list_index(1).get_values()) == 8  # noqa: E741
    assert of(lambda l: l.on_list_index(3).on_map_key("k").get_values()) == 9  # noqa: E741
    assert of(lambda l: l.on_list_index(2).list_get_range(0)) == [7, 8]  # noqa: E741


def test_writing_parts(either, session, nested):
    write = (
        session.update(nested)
        .bin("m").on_map_key("a").set_to(10)
        .bin("m").on_map_key("b").add(5)
        .bin("m").on_map_key("c").on_map_key("x").list_append(4)
        .bin("m").on_map_key("c").on_map_key("y").remove()
        .bin("m").on_map_key("new", create_type=MapOrder.KEY_ORDERED).on_map_key("k").set_to(1)
        .bin("l").on_list_index(2).list_clear()
        .bin("l").on_list_index(0).remove(return_type=ListReturnType.VALUE)
        .bin("l").on_list_index(-1).map_upsert_items({"z": 1})
    )  # fmt: skip
    results = answers(either, write)
    assert results[6] == 5
    bins = either.run(session.query(nested).first()).record.bins
    assert {key: dict(value) if hasattr(value, "items") else value for key, value in bins["m"].items()} == {
        "a": 10,
        "b": 7,
        "c": {"x": [1, 2, 3, 4]},
        "new": {"k": 1},
    }
    assert bins["l"] == [1, [], {"k": 9, "z": 1}]
    removed = session.update(nested).bin("m").on_map_key_list(["a"]).remove_all_others(return_type=MapReturnType.COUNT)
    assert answers(either, removed) == [3]
    assert dict(either.run(session.query(nested).first()).record.bins["m"]) == {"a": 10}


def test_lists_that_are_created_on_the_way(either, session, key):
    either.results(
        session.upsert(key)
        .bin("m").on_map_key("a", create_type=MapOrder.UNORDERED).map_upsert_items({1: 2})
        .bin("l").list_create(ListOrderType.UNORDERED)
        .bin("l").on_list_index(0, order=ListOrderType.UNORDERED).list_append(1)
    )  # fmt: skip
    assert either.run(session.query(key).first()).record.bins == {"m": {"a": {1: 2}}, "l": [[1]]}


def test_paths(either, session, key):
    either.results(session.upsert(key).put({"m": {"a": {"n": 1}, "b": {"n": 5}, "c": {"n": 9}}}))
    large = Exp.gt(Exp.int_loop_var(LoopVarPart.VALUE), Exp.int_val(3))
    m = session.query(key).bin("m")
    assert answers(either, m.on_each_child().on_map_key("n").collect_values())[0] == [1, 5, 9]
    m = session.query(key).bin("m")
    assert answers(either, m.on_each_child().on_each_child_where(large).collect_values())[0] == [5, 9]
    m = session.query(key).bin("m")
    assert answers(either, m.on_map_keys_in(["a", "c"]).collect_map_keys())[0] == ["a", "c"]
    more = Exp.num_add([Exp.int_loop_var(LoopVarPart.VALUE), Exp.int_val(1)])
    either.results(session.update(key).bin("m").on_each_child().on_map_key("n").modify_by(more))
    either.results(session.update(key).bin("m").on_map_key("a").on_each_child().remove_matches())
    assert either.run(session.query(key).first()).record.bins == {"m": {"a": {}, "b": {"n": 6}, "c": {"n": 10}}}


def test_what_does_not_fit_a_place(session, key):
    bin_ = lambda: session.update(key).bin("x")  # noqa: E731
    for call, match in (
        (lambda: bin_().on_list_index(0).get_keys(), "is for maps"),
        (lambda: bin_().on_list_index(0).set_to(1), "on_map_key"),
        (lambda: bin_().on_map_index(0).add(1), "on_map_key"),
        (lambda: bin_().on_map_key_list(["a"]).on_map_key("b"), "selects several"),
        (lambda: bin_().on_map_key_range("a", "b").list_size(), "selects several"),
        (lambda: bin_().on_map_index(0).and_filter(Exp.bool_val(True)), "one element"),
        (lambda: bin_().on_map_key_list("ab"), "not one str"),
        (lambda: bin_().on_list_value_list(b"ab"), "not one bytes"),
        (lambda: bin_().on_map_key("a").remove(return_type=3), "return_type"),
    ):
        with pytest.raises(TypeError, match=match):
            call()
    with pytest.raises(AttributeError):
        session.query(key).bin("x").on_map_key("a").set_to(1)
    with pytest.raises(AttributeError):
        session.query(key).bin("x").list_append(1)


def test_hlls(either, session, key):
    either.results(
        session.upsert(key)
        .bin("h").hll_init(HllConfig(10))
        .bin("h").hll_add(["a", "b", "c"])
        .bin("g").hll_add(["c", "d"], config=HllConfig.of(10))
    )  # fmt: skip
    result = either.run(session.query(key).bin("h").hll_get_count().bin("h").hll_describe().first_or_raise())
    assert result.operation_result(0) == 3
    assert result.get_hll_config("h") == HllConfig(10, 0)
    alone = either.run(session.query(key).bin("h").hll_describe().first_or_raise())
    assert alone.get_hll_config("h") == HllConfig(10, 0)
    assert result.get_hll_config("none") is None
    other = either.run(session.query(key).first()).record.bins["g"]
    read = session.query(key).bin("h").hll_get_union_count([other]).bin("h").hll_get_intersect_count([other])
    assert answers(either, read) == [4, 1]
    either.results(session.update(key).bin("h").hll_set_union([other]))
    assert answers(either, session.query(key).bin("h").hll_get_count()) == [4]
    with pytest.raises(InvalidArgumentError, match="exclusive"):
        session.update(key).bin("h").hll_init(HllConfig(10), create_only=True, update_only=True)
    with pytest.raises(BinOpInvalidError):
        either.run(session.update(key).bin("h").hll_fold(12).execute())


def test_bits(either, session, key):
    either.results(session.upsert(key).put({"b": b"\x0f\xf0"}))
    write = (
        session.update(key)
        .bin("b").bit_set(0, 8, b"\xff")
        .bin("b").bit_and(8, 8, b"\x3c")
        .bin("b").bit_or(8, 8, b"\x01", BitPolicy())
        .bin("b").bit_resize(3)
        .bin("b").bit_add(16, 8, 5, False, BitwiseOverflowActions.FAIL)
    )  # fmt: skip
    either.results(write)
    assert either.run(session.query(key).first()).record.bins == {"b": b"\xff\x31\x05"}
    read = session.query(key).bin("b").bit_count(0, 16).bin("b").bit_get(16, 8).bin("b").bit_get_int(16, 8, False)
    assert answers(either, read) == [11, b"\x05", 5]


def test_strings(either, session, key):
    either.results(session.upsert(key).put({"s": "Hello", "n": 5}))
    if not either.client.native.nodes()[0].version.supports_string_operations():
        with pytest.raises(InvalidArgumentError, match=r"str_append\(\) needs server 8\.2 or later"):
            session.update(key).bin("s").str_append(", world")
        return
    either.results(session.update(key).bin("s").str_append(", world").bin("s").str_upper())
    read = session.query(key).bin("s").str_strlen().bin("s").str_substr(0, 5).bin("s").str_contains("WORLD")
    assert answers(either, read.bin("n").read_as_string()) == [12, "HELLO", True, "5"]
    either.results(session.update(key).bin("s").str_replace("HELLO", "bye").bin("s").str_trim(flags=0))
    assert either.run(session.query(key).first()).record.bins["s"] == "bye, WORLD"


def test_functions(either, session, set_name, udf_module):
    keys = DataSet("test", set_name).ids(1, 2)
    result = either.run(session.execute_udf(keys[0]).function(udf_module, "add").passing("n", 2).first_or_raise())
    assert result.udf_result == 2
    assert result.record is None
    results = either.results(session.execute_udf(keys).function(udf_module, "add").passing("n", 3))
    assert [result.udf_result for result in results] == [5, 3]
    stream = either.run(session.execute_udf(keys).function(udf_module, "back").passing([1, {"a": None}]).execute())
    assert either.run(stream.first_udf_result()) == [1, {"a": None}]
    chain = session.query(keys[0]).execute_udf(keys[1]).function(udf_module, "add").passing("n", 1).query(keys[1])
    results = either.results(chain)
    assert results[0].record.bins == {"n": 5}
    assert results[1].udf_result == 4
    assert results[2].record.bins == {"n": 4}
    with pytest.raises(UdfError, match="on purpose"):
        either.run(session.execute_udf(keys[0]).function(udf_module, "fail").execute())
    results = either.results(session.execute_udf(keys).function(udf_module, "fail"))
    assert {result.result_code for result in results} == {ResultCode.UDF_BAD_RESPONSE}
    with pytest.raises(InvalidArgumentError, match="1 to 255"):
        session.execute_udf(keys).function("", "add")
    with pytest.raises(TypeError):
        session.execute_udf(keys).function(udf_module, "add").passing(object())


@pytest.fixture(params=["sync", "async"])
def consistent(request, new_cluster):
    cluster = new_cluster(strong_consistency=True)
    one = conftest.Either(request.param, cluster.seeds)
    yield one
    one.close()


def test_transactions(consistent, set_name):
    session = consistent.session
    a, b = DataSet("test", set_name).ids("a", "b")

    def bins(key):
        found = consistent.run(session.query(key).first())
        return found and found.record.bins

    tx = session.transaction()
    assert tx.active
    assert tx.current_transaction == tx.txn
    assert session.current_transaction is None
    consistent.run(tx.put(a, {"n": 1}))
    consistent.results(tx.upsert(b).put({"n": 2}))
    consistent.results(tx.upsert(a, b).bin("m").set_to(1))
    # Not visible from outside before it is committed.
    with pytest.raises(RecordNotFoundError):
        consistent.run(session.get(a))
    assert consistent.run(tx.query(a).first()).record.bins == {"n": 1, "m": 1}
    assert consistent.run(tx.commit()) is TxnStatus.COMMITTED
    assert not tx.active
    assert (bins(a), bins(b)) == ({"n": 1, "m": 1}, {"n": 2, "m": 1})
    assert consistent.run(tx.commit()) is TxnStatus.ALREADY_COMMITTED
    tx = session.transaction()
    consistent.results(tx.update(a).put({"n": 9}))
    consistent.results(tx.update(b).put({"n": 8}).with_txn(None))
    assert consistent.run(tx.abort()) is TxnStatus.ABORTED
    assert (bins(a)["n"], bins(b)["n"]) == (1, 8)
    own = Txn()
    consistent.results(session.update(a).put({"n": 7}).with_txn(own))
    consistent.run(
        consistent.client.native.abort_blocking(own)
        if consistent.kind == "sync"
        else consistent.client.native.abort(own)
    )
    assert bins(a)["n"] == 1


def test_blocks_of_transactions(new_cluster, set_name):
    cluster = new_cluster(strong_consistency=True)
    a = DataSet("test", set_name).id("a")
    with SyncClient(cluster.seeds) as client:
        session = client.create_session()
        with session.transaction() as tx:
            tx.put(a, {"n": 1})
        assert session.get(a).bins == {"n": 1}
        with pytest.raises(LookupError), session.transaction() as tx:
            tx.put(a, {"n": 2})
            raise LookupError
        assert session.get(a).bins == {"n": 1}
        with session.transaction() as tx:
            tx.put(a, {"n": 3})
            tx.abort()
        assert session.get(a).bins == {"n": 1}

    async def blocks():
        async with Client(cluster.seeds) as client:
            session = client.create_session()
            async with session.transaction() as tx:
                await tx.put(a, {"n": 4})
                assert [record.bins for record in await tx.get_many([a])] == [{"n": 4}]
            assert (await session.get(a)).bins == {"n": 4}
            with pytest.raises(LookupError):
                async with session.transaction() as tx:
                    await tx.put(a, {"n": 5})
                    raise LookupError
            assert (await session.get(a)).bins == {"n": 4}

    asyncio.run(blocks())


def test_the_native_client_has_the_same_connections(either, session, key):
    native = either.client.native
    if either.kind == "sync":
        native.put_blocking(key, {"a": 1})
    else:
        either.run(native.put(key, {"a": 1}))
    assert either.run(session.get(key)).bins == {"a": 1}
    either.run(either.client.close())
    assert not native.is_connected()


def test_the_native_client_of_one_that_is_not_connected(seeds):
    with pytest.raises(RuntimeError, match="not connected"):
        _ = SyncClient(seeds).native
