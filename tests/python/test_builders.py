"""Builders: what a session does with records, said step by step. Each case runs on both kinds of sessions."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest
import typed_builders

from aerolane import (
    AelParseException,
    AerospikeError,
    Client,
    ClientClosedError,
    ClientError,
    DataSet,
    ErrorStrategy,
    Exp,
    FilteredOutError,
    GenerationError,
    HllConfig,
    InvalidArgumentError,
    Key,
    ListOrderType,
    MapOrder,
    OperationResult,
    Record,
    RecordExistsError,
    RecordNotFoundError,
    ResultCode,
    SyncClient,
)
from aerolane.exceptions import BinTypeError
from aerolane.native import ListOperation, ListPolicy


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


def test_write_and_read(either, session, key):
    results = either.results(session.upsert(key).put({"name": "Alice", "age": 28}))
    assert [result.is_ok for result in results] == [True]
    assert results[0].key == key
    assert results[0].index == 0
    assert results[0].result_code == ResultCode.OK
    assert results[0].record.bins == {}
    result = either.run(session.query(key).first())
    assert result.record.bins == {"name": "Alice", "age": 28}
    assert isinstance(result.record, Record)
    assert result.record is result.record
    assert result.record_or_raise().generation == 1
    assert either.run(session.query(key).bins("age").first()).record.bins == {"age": 28}
    assert either.run(session.query(key).bins(["age", "name"]).first()).record.bins == {"age": 28, "name": "Alice"}
    header = either.run(session.query(key).with_no_bins().first_or_raise()).record
    assert header.bins == {}
    assert header.generation == 1


def test_verbs(either, session, key):
    def put(verb, **bins):
        return either.run(getattr(session, verb)(key).put(bins).first_or_raise())

    with pytest.raises(RecordNotFoundError):
        put("update", a=1)
    with pytest.raises(RecordNotFoundError):
        put("replace_if_exists", a=1)
    with pytest.raises(RecordNotFoundError):
        either.run(session.replace(key).put({"a": 1}).replace_only().execute())
    put("insert", a=1, b=2)
    with pytest.raises(RecordExistsError):
        put("insert", a=1)
    put("update", b=3)
    assert either.run(session.query(key).first()).record.bins == {"a": 1, "b": 3}
    put("replace", c=4)
    assert either.run(session.query(key).first()).record.bins == {"c": 4}
    put("replace_if_exists", d=5)
    assert either.run(session.query(key).first()).record.bins == {"d": 5}
    assert either.run(session.exists(key).first_or_raise()).as_bool() is True
    either.run(session.touch(key).first_or_raise())
    assert either.run(session.query(key).first()).record.generation == 5
    deleted = either.run(session.delete(key).first())
    assert deleted.is_ok
    assert deleted.record is None
    with pytest.raises(ValueError, match="reads no record"):
        deleted.record_or_raise()


def test_missing_records(either, session, key):
    """That there is no record is an answer of `delete`, `touch` and `exists`, and nothing that a query finds."""
    assert either.results(session.query(key)) == []
    assert either.run(session.query(key).first()) is None
    with pytest.raises(RecordNotFoundError):
        either.run(session.query(key).first_or_raise())
    (result,) = either.results(session.query(key).include_missing_keys())
    assert not result.is_ok
    assert result.result_code == ResultCode.KEY_NOT_FOUND_ERROR
    assert result.record is None
    assert isinstance(result.to_exception(), RecordNotFoundError)
    with pytest.raises(RecordNotFoundError):
        result.or_raise()
    for verb in (session.delete, session.touch, session.exists):
        (result,) = either.results(verb(key))
        assert result.result_code == ResultCode.KEY_NOT_FOUND_ERROR
        assert result.as_bool() is False


def test_several_keys(either, session, dataset):
    keys = dataset.ids(1, 2, 3)
    results = either.results(session.upsert(keys).put({"a": 1}))
    assert [result.key for result in results] == keys
    assert [result.index for result in results] == [0, 1, 2]
    assert all(result.is_ok for result in results)
    missing = dataset.id("none")
    results = either.results(session.query(keys[0], missing, keys[2]))
    assert [result.key for result in results] == [keys[0], keys[2]]
    assert [result.record.bins for result in results] == [{"a": 1}, {"a": 1}]
    results = either.results(session.query([keys[0], missing], keys[2]).include_missing_keys())
    assert [result.is_ok for result in results] == [True, False, True]
    assert [result.index for result in results] == [0, 1, 2]
    # Of several, those that exist; with `include_missing_keys` the others say so.
    assert [result.key for result in either.results(session.exists(keys[0], missing))] == [keys[0]]
    results = either.results(session.exists(keys[0], missing).include_missing_keys())
    assert [result.as_bool() for result in results] == [True, False]
    assert [result.is_ok for result in either.results(session.touch(keys))] == [True] * 3
    results = either.results(session.query(keys).with_no_bins())
    assert [result.record.generation for result in results] == [2, 2, 2]
    assert [result.is_ok for result in either.results(session.delete([*keys, missing]))] == [True, True, True, False]
    assert either.results(session.query(keys)) == []


def test_one_key_in_a_list_is_one_request(either, session, dataset):
    """A list of one key is a call about one record: its failure is raised."""
    with pytest.raises(RecordNotFoundError):
        either.run(session.update([dataset.id(1)]).put({"a": 1}).execute())


def test_rows(either, session, dataset):
    rows = session.upsert(dataset).bins("x", "y").row(1, "a", 2).rows([("k", "b", 3), (b"k", None, 4)])
    results = either.results(rows.row(5, "c", 5).expire_record_after_seconds(100).default_never_expire())
    assert [result.key for result in results] == [dataset.id(1), dataset.id("k"), dataset.id(b"k"), dataset.id(5)]
    records = [result.record for result in either.results(session.query([result.key for result in results]))]
    assert [record.bins for record in records] == [{"x": "a", "y": 2}, {"x": "b", "y": 3}, {"y": 4}, {"x": "c", "y": 5}]
    assert [record.ttl is None for record in records] == [True, True, True, False]
    with pytest.raises(RecordExistsError):
        either.run(session.insert(dataset).bins("x").row(1, 1).execute())
    results = either.results(session.update(dataset).bins("x").row(1, 9).ensure_generation_is(7).row("k", 9))
    assert [result.is_ok for result in results] == [False, True]
    for call, match in (
        (lambda: session.upsert(dataset).bins("x").row(1), "0 values for 1 bins"),
        (lambda: session.upsert(dataset).bins("x").rows([()]), "user key"),
        (lambda: session.upsert(dataset).bins("x").ensure_generation_is(1), "needs a row"),
        (lambda: session.upsert(dataset).bins(), "at least one"),
        (lambda: session.upsert(dataset, dataset.id(1)), "alone"),
        (lambda: either.run(session.upsert(dataset).bins("x").execute()), "needs a row"),
    ):
        with pytest.raises(InvalidArgumentError, match=match):
            call()
    for call in (
        lambda: session.delete(dataset),
        lambda: session.upsert(dataset).bins(1),
        lambda: session.upsert(dataset).bins("x").row(1.5, 1),
        lambda: session.upsert(dataset).bins("x").rows(3),
    ):
        with pytest.raises(TypeError):
            call()


def test_what_holds_for_all_rows_can_come_first(either, session, dataset):
    rows = session.upsert(dataset).bins("x").default_expire_record_after_seconds(100).with_txn(None)
    either.results(rows.row(1, "a").row(2, "b").never_expire())
    ttls = [result.record.ttl for result in either.results(session.query(dataset.ids(1, 2)))]
    assert [ttl is None for ttl in ttls] == [False, True]


def test_records_of_what_reads_nothing(either, session, dataset):
    """Of one record there is none; of several, one without bins tells the generation."""
    keys = dataset.ids(1, 2)
    for _ in range(2):
        either.results(session.upsert(keys).put({"x": 1}))
    (touched,) = either.results(session.touch(keys[0]))
    assert touched.record is None
    records = [result.record for result in either.results(session.touch(keys))]
    assert [(record.bins, record.generation) for record in records] == [({}, 4), ({}, 3)]
    assert [result.record for result in either.results(session.exists(keys))] == [None, None]
    chained = either.results(session.exists(keys[0]).exists(keys[1], dataset.id("missing")))
    assert [result.as_bool() for result in chained] == [True, True, False]
    assert [result.record.generation for result in chained[:2]] == [4, 3]
    assert [result.record.bins for result in either.results(session.delete(keys))] == [{}, {}]


def test_steps_of_a_bin(either, session, key):
    either.results(
        session.upsert(key)
        .bin("n").set_to(1)
        .bin("n").add(2)
        .bin("s").set_to("b")
        .bin("s").append("c")
        .bin("s").prepend("a")
        .set_to("t", 1).add("t", 1).append("u", "x").prepend("u", "w")
    )  # fmt: skip
    result = either.run(session.query(key).first())
    assert result.record.bins == {"n": 3, "s": "abc", "t": 2, "u": "wx"}
    result = either.run(session.update(key).bin("n").add(1).bin("n").get().get("s").remove_bin("t").first_or_raise())
    assert result.record.bins["s"] == "abc"
    assert result.operation_result(1) == 4
    assert result.operation_result(9) is None
    assert result.operation_result(-1) is None
    typed = result.typed_operation_result(1)
    assert isinstance(typed, OperationResult)
    assert typed.get_int() == 4
    with pytest.raises(TypeError, match="int, not str"):
        typed.get_string()
    assert "t" not in either.run(session.query(key).first()).record.bins
    assert either.run(session.query(key).bin("n").get().bin("s").get().first()).record.bins == {"n": 4, "s": "abc"}
    either.results(session.update(key).bin("n").remove())
    assert "n" not in either.run(session.query(key).first()).record.bins


def test_put_and_steps_add_up(either, session, key):
    either.results(session.upsert(key).put({"a": 1}).put({"b": 2}).bin("c").set_to(3))
    assert either.run(session.query(key).first()).record.bins == {"a": 1, "b": 2, "c": 3}


def test_lists(either, session, key):
    either.results(
        session.upsert(key)
        .bin("l").list_append(3)
        .bin("l").list_append_items([1, 2])
        .bin("l").list_insert(0, 9)
        .bin("o").list_create(ListOrderType.ORDERED)
        .bin("o").list_add_items([3, 1])
        .bin("o").list_add(2)
    )  # fmt: skip
    record = either.run(session.query(key).first()).record
    assert record.bins == {"l": [9, 3, 1, 2], "o": [1, 2, 3]}
    read = session.query(key).bin("l").list_size().bin("l").list_get(0).bin("l").list_get_range(2)
    result = either.run(read.first_or_raise())
    assert [result.operation_result(i) for i in range(3)] == [4, 9, [1, 2]]
    write = (
        session.update(key)
        .bin("l").list_increment(0)
        .bin("l").list_increment(0, 5)
        .bin("l").list_set(1, 7)
        .bin("l").list_pop(0)
        .bin("l").list_sort()
        .bin("l").list_append(7, unique=True, no_fail=True)
    )  # fmt: skip
    result = either.run(write.first_or_raise())
    assert result.operation_result(0) == 10
    assert result.operation_result(1) == 15
    assert result.operation_result(3) == 15
    assert either.run(session.query(key).bins("l").first()).record.bins == {"l": [1, 2, 7]}
    either.results(session.update(key).bin("l").list_trim(0, 1).bin("o").list_clear())
    assert either.run(session.query(key).first()).record.bins == {"l": [1], "o": []}
    with pytest.raises(BinTypeError):
        either.run(session.update(key).bin("l").map_clear().execute())


def test_maps(either, session, key):
    either.results(
        session.upsert(key)
        .bin("m").map_create(MapOrder.KEY_ORDERED)
        .bin("m").map_upsert_items({"a": 1, "b": 2})
        .bin("m").map_update_items([("a", 3)])
        .bin("m").map_insert_items({"c": 4, "a": 9}, no_fail=True, partial=True)
    )  # fmt: skip
    assert dict(either.run(session.query(key).first()).record.bins["m"]) == {"a": 3, "b": 2, "c": 4}
    assert either.run(session.query(key).bin("m").map_size().first()).record.bins == {"m": 3}
    either.results(session.update(key).bin("m").map_set_policy(MapOrder.UNORDERED).bin("m").map_clear())
    assert either.run(session.query(key).first()).record.bins == {"m": {}}


def test_steps_on_several_keys(either, session, dataset):
    keys = dataset.ids(1, 2)
    results = either.results(session.upsert(keys).bin("l").list_append(1).bin("n").set_to(5).bin("n").get())
    assert [result.operation_result(0) for result in results] == [1, 1]
    assert [result.operation_result(2) for result in results] == [5, 5]
    results = either.results(session.query(keys).bin("l").list_size().bin("none").get())
    assert [result.record.results for result in results] == [[1, None], [1, None]]


def test_operations_of_the_native_client(either, session, key):
    append = ListOperation.append("l", 1, ListPolicy())
    either.results(session.upsert(key).add_operation(append).add_operation(append))
    size = either.run(session.query(key).with_op_projection(ListOperation.size("l")).first())
    assert size.record.bins == {"l": 2}


def test_expressions(either, session, key):
    either.results(session.upsert(key).put({"a": 2}))
    twice = Exp.num_mul([Exp.int_bin("a"), Exp.int_val(2)])
    write = session.update(key).bin("b").insert_from(twice).bin("a").update_from(twice).upsert_from("c", twice)
    either.results(write.select_from("d", twice))
    assert either.run(session.query(key).first()).record.bins == {"a": 4, "b": 4, "c": 8}
    assert either.run(session.query(key).bin("e").select_from(twice).first()).record.bins == {"e": 8}


def test_filters(either, session, dataset):
    keys = dataset.ids(1, 2)
    for number, key in enumerate(keys):
        either.results(session.upsert(key).put({"n": number}))
    positive = Exp.gt(Exp.int_bin("n"), Exp.int_val(0))
    results = either.results(session.query(keys).where(positive))
    assert [result.key for result in results] == keys[1:]
    results = either.results(session.query(keys).where(positive).fail_on_filtered_out())
    assert [result.result_code for result in results] == [ResultCode.FILTERED_OUT, ResultCode.OK]
    assert either.results(session.query(keys[0]).where(positive)) == []
    with pytest.raises(FilteredOutError):
        either.run(session.query(keys[0]).where(positive).fail_on_filtered_out().execute())
    # A write says what became of it in any case.
    (result,) = either.results(session.update(keys[0]).put({"x": 1}).where(positive))
    assert result.result_code == ResultCode.FILTERED_OUT
    # The same as text.
    for where in [("$.n > ?0", 0), ("$.n > 0",), ("$.n:INT > 0 and $.n < ?0", 9)]:
        assert [result.key for result in either.results(session.query(keys).where(*where))] == keys[1:]
    assert either.run(session.query(keys[1]).bin("more").select_from("$.n + 1").first()).record.bins == {"more": 2}
    results = either.results(session.delete(keys).default_where("$.n > ?0", 0))
    assert [result.is_ok for result in results] == [False, True]


def test_generations(either, session, dataset):
    key = dataset.id(1)
    either.results(session.upsert(key).put({"a": 1}))
    either.results(session.update(key).put({"a": 2}).ensure_generation_is(1))
    with pytest.raises(GenerationError):
        either.run(session.update(key).put({"a": 3}).ensure_generation_is(1).execute())
    with pytest.raises(GenerationError):
        either.run(session.delete(key).ensure_generation_is(1).execute())
    results = either.results(session.update(key, dataset.id(2)).put({"a": 3}).ensure_generation_is(1))
    assert results[0].result_code == ResultCode.GENERATION_ERROR
    assert either.run(session.query(key).first()).record.bins == {"a": 2}


def test_expirations(either, session, key):
    def ttl():
        return either.run(session.query(key).with_no_bins().first()).record.ttl

    put = session.upsert(key).put({"a": 1})
    either.results(put.expire_record_after_seconds(1000))
    assert 990 <= ttl() <= 1000
    either.results(session.update(key).put({"a": 2}).with_no_change_in_expiration())
    assert 990 <= ttl() <= 1000
    either.results(session.update(key).put({"a": 2}).expire_record_after(timedelta(hours=1)))
    assert 3590 <= ttl() <= 3600
    either.results(session.touch(key).expire_record_at(datetime.now(UTC) + timedelta(days=1)))
    assert 86_390 <= ttl() <= 86_400
    either.results(session.update(key).put({"a": 2}).expire_record_at(datetime.now() + timedelta(minutes=10)))
    assert 590 <= ttl() <= 600
    either.results(session.update(key).put({"a": 3}).never_expire())
    assert ttl() is None
    either.results(session.update(key).put({"a": 3}).default_expire_record_after_seconds(50))
    assert 40 <= ttl() <= 50
    # What an operation says itself goes before that.
    either.results(session.update(key).put({"a": 3}).default_expire_record_after_seconds(50).never_expire())
    assert ttl() is None
    either.results(session.update([key, key]).put({"a": 3}).default_expire_record_after_seconds(50))
    assert 40 <= ttl() <= 50


def test_chains(either, session, dataset):
    a, b, c = dataset.ids("a", "b", "c")
    chain = session.upsert(a).put({"n": 1}).insert(b).put({"n": 2}).upsert(c).bin("l").list_append(1)
    results = either.results(chain)
    assert [result.key for result in results] == [a, b, c]
    assert [result.index for result in results] == [0, 1, 2]
    chain = (
        session.query(a).bins("n")
        .update(b).bin("n").add(1)
        .query(c).bin("l").list_size()
        .delete(dataset.id("none"))
        .exists(a)
        .touch(c)
    )  # fmt: skip
    results = either.results(chain)
    assert [result.is_ok for result in results] == [True, True, True, False, True, True]
    assert results[0].record.bins == {"n": 1}
    assert results[2].record.bins == {"l": 1}
    assert results[3].as_bool() is False


def test_batches_of_the_first_versions(either, session, dataset):
    a, b = dataset.ids("a", "b")
    results = either.results(session.batch().upsert(a).put({"n": 1}).insert(b).put({"n": 2}).query(a))
    assert [result.is_ok for result in results] == [True] * 3


def test_a_chain_keeps_the_order_on_one_record(either, session, dataset):
    """The server carries out the rows of one batch in any order."""
    a, b = dataset.ids("a", "b")
    chain = session.upsert(a).put({"n": 1}).upsert(b).put({"n": 1})
    for _ in range(5):
        chain = chain.query(a).update(a).bin("n").add(1)
    results = either.results(chain.query(a, b))
    seen = [result.record.bins["n"] for result in results if result.key == a and result.record.bins]
    assert seen == [1, 2, 3, 4, 5, 6]
    assert [result.index for result in results] == list(range(14))


def test_failures_of_several(either, session, dataset):
    a, b = dataset.ids("a", "b")
    either.results(session.upsert(a).put({"n": 1}))
    results = either.results(session.insert(a, b).put({"n": 2}))
    assert [result.is_ok for result in results] == [False, True]
    assert isinstance(results[0].exception, RecordExistsError)
    assert "KEY_EXISTS" in repr(results[0])
    heard = []
    write = session.insert(a, b).put({"n": 2})
    assert either.results(write, on_error=lambda *failure: heard.append(failure)) == []
    assert [(key, index) for key, index, _ in heard] == [(a, 0), (b, 1)]
    assert all(isinstance(error, RecordExistsError) for *_, error in heard)
    stream = either.run(session.insert(a, dataset.id("c")).put({"n": 2}).execute())
    assert [result.key for result in either.run(stream.failures())] == [a]


def test_failures_of_one(either, session, key):
    either.results(session.upsert(key).put({"n": 1}))
    with pytest.raises(RecordExistsError):
        either.run(session.insert(key).put({"n": 2}).execute())
    (result,) = either.results(session.insert(key).put({"n": 2}), on_error=ErrorStrategy.IN_STREAM)
    assert result.result_code == ResultCode.KEY_EXISTS_ERROR
    heard = []
    assert either.results(session.insert(key).put({"n": 2}), lambda *failure: heard.append(failure)) == []
    assert [(of, index, type(error)) for of, index, error in heard] == [(key, 0, RecordExistsError)]

    def refuse(key, index, error):
        raise LookupError("by the handler") from error

    with pytest.raises(LookupError, match="by the handler"):
        either.run(session.insert(key).put({"n": 2}).execute(on_error=refuse))
    with pytest.raises(TypeError, match="IN_STREAM or a callable"):
        either.run(session.insert(key).put({"n": 2}).execute(on_error=3))


def test_streams(either, session, dataset):
    keys = dataset.ids(*range(5))
    either.results(session.upsert(keys).put({"a": 1}))

    def stream():
        return either.run(session.query(keys).execute())

    assert [result.key for result in either.each(stream())] == keys
    some = stream()
    assert either.run(some.pop()).key == keys[0]
    assert either.run(some.pop_or_raise()).key == keys[1]
    assert [result.key for result in either.run(some.collect())] == keys[2:]
    assert either.run(some.pop()) is None
    with pytest.raises(RecordNotFoundError):
        either.run(some.pop_or_raise())
    assert either.run(stream().first()).key == keys[0]
    assert either.run(stream().first_or_raise()).key == keys[0]
    assert either.run(stream().first_udf_result()) is None
    closed = stream()
    closed.close()
    closed.close()
    assert either.run(closed.pop()) is None


def test_a_stream_is_read_once(either, session, key):
    either.results(session.upsert(key).put({"a": 1}))
    stream = either.run(session.query(key).execute())
    assert len(either.each(stream)) == 1
    for again in (
        lambda: either.each(stream),
        lambda: either.run(stream.collect()),
        lambda: either.run(stream.first()),
    ):
        with pytest.raises(ClientError, match="execute again"):
            again()
    stream = either.run(session.query(key).execute())
    either.run(stream.first())
    with pytest.raises(ClientError, match="closed"):
        either.each(stream)


def test_a_builder_is_executed_once(either, session, key):
    builder = session.upsert(key).put({"a": 1})
    either.run(builder.execute())
    for again in (
        lambda: either.run(builder.execute()),
        lambda: either.run(builder.first()),
        lambda: builder.put({"b": 1}),
        lambda: builder.bin("a").get(),
        lambda: builder.query(key),
        lambda: builder.never_expire(),
        lambda: builder.with_txn(None),
    ):
        with pytest.raises(ClientError, match="begin another one"):
            again()
    assert "executed" in repr(builder)


def test_wrong_use_is_refused_where_it_is_said(either, session, key, dataset):
    positive = Exp.gt(Exp.int_bin("n"), Exp.int_val(0))
    wrong = [
        (lambda: session.query([]), "empty"),
        (lambda: session.delete(key).put({"a": 1}), "takes no bins"),
        (lambda: session.exists(key).bin("a").get(), "takes no bins"),
        (lambda: session.query(key).bins("a").bin("a").get(), "exclude"),
        (lambda: session.query(key).bin("a").get().bins("a"), "exclude"),
        (lambda: session.query(key).bins("a").with_no_bins(), "once"),
        (lambda: session.query(key).bins(), "with_no_bins"),
        (lambda: session.query(key).add_operation(ListOperation.append("l", 1, ListPolicy())), "only reads"),
        (lambda: session.upsert(key).upsert(key), "nothing to write"),
        (lambda: session.upsert(key).put({}), "at least one bin"),
        (lambda: session.upsert(key).where(positive).where(positive), "and_"),
        (lambda: session.upsert(key).where("$.n = 0"), "equality"),
        (lambda: session.upsert(key).where("$.n > ?0"), r"\?0"),
        (lambda: session.upsert(key).where("$.n + 1"), "condition|true"),
        (lambda: session.delete(key).never_expire(), "touch"),
        (lambda: session.upsert(key).never_expire().expire_record_after_seconds(1), "once"),
        (lambda: session.upsert(key).expire_record_after_seconds(-3), "-2 to"),
        (lambda: session.upsert(key).expire_record_after(timedelta(0)), "never_expire"),
        (lambda: session.upsert(key).expire_record_at(datetime(2020, 1, 1, tzinfo=UTC)), "future"),
        (lambda: session.exists(key).ensure_generation_is(1), "verbs that write"),
        (lambda: session.upsert(key).ensure_generation_is(0), "1 to 65535"),
        (lambda: session.exists(key).with_durable_delete(), "verbs that write"),
        (lambda: session.touch(key).replace_only(), "replace"),
        (lambda: session.query(key).chunk_size(1), "data set"),
        (lambda: session.query(key).chunk_size(1), "data set"),
        (lambda: session.query(dataset).limit(0), "limit"),
        (lambda: session.query(dataset).on_partition(4096), "4095"),
        (lambda: session.query(dataset).on_partition_range(3, 3), "none"),
        (lambda: session.query(dataset).upsert(key), "data set"),
        (lambda: session.query(dataset, key), "dataset.id"),
        (lambda: session.upsert(key).bin("a" * 16), "15"),
    ]
    for call, match in wrong:
        with pytest.raises(InvalidArgumentError, match=match):
            call()
    for call in (
        lambda: session.query("key"),
        lambda: session.query(None),
        lambda: session.upsert([key, 1]),
        lambda: session.upsert(key, "key"),
        lambda: session.upsert(key).put([1]),
        lambda: session.upsert(key).put({1: 1}),
        lambda: session.upsert(key).put({"a": object()}),
        lambda: session.upsert(key).bin(1),
        lambda: session.upsert(key).expire_record_after(3),
        lambda: session.upsert(key).expire_record_at("tomorrow"),
        lambda: session.upsert(key).where(3),
        lambda: session.upsert(key).where(positive, 1),
        lambda: session.query(key).bin("a").list_get("first"),
        lambda: session.get("key") if either.kind == "sync" else either.run(session.get("key")),
        lambda: session.upsert(key).with_txn(3),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(AttributeError):
        session.query(key).put({"a": 1})


def test_what_is_no_step_says_what_to_do(session, key):
    for call, match in (
        (lambda: session.query(key).bin("a").list_append(1), r"writes.*session\.update"),
        (lambda: session.upsert(key).bin("a").list_apend(1), "did you mean list_append"),
        (lambda: session.query(key).bin("a").collect(), "lists its steps|did you mean"),
    ):
        with pytest.raises(AttributeError, match=match):
            call()
    assert not hasattr(session.query(key).bin("a"), "__array__")


def test_behaviors_that_do_not_exist(either, session):
    from aerolane.policy import Behavior, get_behavior, get_behavior_or_default

    assert get_behavior("nobody said this") is None
    assert get_behavior_or_default("nobody said this") is Behavior.DEFAULT
    for call in (either.client.create_session, either.client.transaction, session.session_for):
        with pytest.raises(TypeError, match="get_behavior"):
            call("READ_FAST")
        with pytest.raises(TypeError, match=r"Behavior\.DEFAULT"):
            call(5)


def test_nothing_to_write(either, session, key):
    with pytest.raises(InvalidArgumentError, match=r"nothing to write.*put"):
        either.run(session.upsert(key).execute())


def test_what_was_put_stays_as_it_was(either, session, key):
    """Values are taken when they are given, and not when the builder is executed."""
    bins = {"l": [1]}
    builder = session.upsert(key).put(bins)
    bins["l"].append(2)
    bins["x"] = 1
    either.run(builder.execute())
    assert either.run(session.query(key).first()).record.bins == {"l": [1]}


def test_a_closed_client(either, key):
    session = either.session
    builder = session.upsert(key).put({"a": 1})
    several = session.query(key, Key("test", "none", 1))
    either.run(either.client.close())
    for call in (builder.execute, several.execute, session.query(key).first, session.query(DataSet("test")).execute):
        with pytest.raises(ClientClosedError):
            either.run(call())


def test_data_sets(either, session, dataset):
    keys = dataset.ids(*range(40))
    either.results(session.upsert(keys).put({"a": 1, "b": 2}))
    results = either.each(either.run(session.query(dataset).execute()))
    assert len(results) == 40
    assert {result.index for result in results} == {-1}
    assert {result.key.digest for result in results} == {key.digest for key in keys}
    assert {tuple(result.record.bins) for result in results} == {("a", "b")}
    results = either.results(session.query(dataset).bins("a"))
    assert {tuple(result.record.bins) for result in results} == {("a",)}
    assert all(result.record.bins == {} for result in either.results(session.query(dataset).with_no_bins()))
    never = Exp.gt(Exp.int_bin("a"), Exp.int_val(5))
    assert either.results(session.query(dataset).where(never)) == []
    assert either.run(session.query(dataset).where(never).first()) is None
    with pytest.raises(RecordNotFoundError):
        either.run(session.query(dataset).where(never).first_or_raise())
    assert either.run(session.query(dataset).first()).record.bins == {"a": 1, "b": 2}
    assert len(either.results(session.query(dataset).limit(7))) == 7
    by_half = [either.results(session.query(dataset).on_partition_range(*half)) for half in ((0, 2048), (2048, 4096))]
    assert sum(map(len, by_half)) == 40
    assert all(by_half)


def test_chunks(either, session, dataset):
    keys = dataset.ids(*range(25))
    either.results(session.upsert(keys).put({"a": 1}))
    for limit, wanted in ((None, 25), (12, 12)):
        query = session.query(dataset).chunk_size(10)
        stream = either.run((query.limit(limit) if limit else query).execute())
        chunks = []
        while either.run(stream.has_more_chunks()):
            chunks.append(len(either.each(stream)))
        assert sum(chunks) == wanted
        assert max(chunks) <= 10
    stream = either.run(session.query(dataset).execute())
    assert either.run(stream.has_more_chunks()) is True
    assert either.run(stream.has_more_chunks()) is False


def test_leaving_a_query(either, session, dataset):
    either.results(session.upsert(dataset.ids(*range(50))).put({"a": 1}))
    stream = either.run(session.query(dataset).execute())
    assert either.run(stream.pop()).is_ok
    stream.close()
    assert either.run(stream.pop()) is None
    with pytest.raises(ClientError, match="closed"):
        either.run(stream.collect())


def test_blocks(seeds, set_name):
    with SyncClient(seeds) as client, client.create_session().query(DataSet("test", set_name)).execute() as stream:
        assert list(stream) == []

    async def blocks():
        async with (
            Client(seeds) as client,
            await client.create_session().query(DataSet("test", set_name)).execute() as stream,
        ):
            return [result async for result in stream]

    assert asyncio.run(blocks()) == []


def test_async_calls_go_out_at_once(seeds, set_name):
    """What a terminal gives can be gathered, and one that is wrong takes no other along."""

    async def gathered():
        async with Client(seeds) as client:
            session = client.create_session()
            keys = DataSet("test", set_name).ids(*range(100))
            await asyncio.gather(*(session.upsert(key).put({"n": n}).execute() for n, key in enumerate(keys)))
            results = await asyncio.gather(
                *(session.query(key).first() for key in keys),
                session.upsert(keys[0]).execute(),
                return_exceptions=True,
            )
            assert [result.record.bins["n"] for result in results[:-1]] == list(range(100))
            assert isinstance(results[-1], InvalidArgumentError)

    asyncio.run(gathered())


def test_threads_share_a_session(seeds, set_name):
    failures = []

    def work(session, key):
        try:
            for n in range(50):
                session.upsert(key).put({"n": n}).bin("l").list_append(n).execute()
            result = session.query(key).first_or_raise()
            assert result.record.bins == {"n": 49, "l": list(range(50))}
        except BaseException as error:
            failures.append(error)

    with SyncClient(seeds) as client:
        session = client.create_session()
        threads = [
            threading.Thread(target=work, args=(session, key)) for key in DataSet("test", set_name).ids(*range(8))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_operation_results():
    assert OperationResult(None).get_int() == 0
    assert OperationResult(True).get_int() == 1
    assert OperationResult(2).get_float() == 2.0
    assert OperationResult(None).get_float() == 0.0
    assert OperationResult(2).get_long() == 2 and OperationResult(2).get_double() == 2.0
    assert OperationResult(bytearray(b"b")).get_bytes() == b"b"
    assert OperationResult(3).get_bool() is True
    assert OperationResult("a").get_string() == "a"
    assert OperationResult(None).get_string() is None
    assert OperationResult(b"a").get_bytes() == b"a"
    assert OperationResult([1]).get_list() == [1]
    assert OperationResult({1: 2}).get_map() == {1: 2}
    assert OperationResult(3) == OperationResult(3)
    assert hash(OperationResult(3)) == hash(OperationResult(3))
    for value, method in ((1.5, "get_int"), ("a", "get_float"), ("a", "get_bool"), (1, "get_bytes"), (1, "get_map")):
        with pytest.raises(TypeError):
            getattr(OperationResult(value), method)()


def test_hll_configs():
    config = HllConfig(14)
    assert (config.index_bit_count, config.min_hash_bit_count) == (14, -1)
    assert config == HllConfig.of(14)
    assert HllConfig.of(8, 12) != config
    assert hash(config) == hash(HllConfig(14))
    for bits in ((3, -1), (17, -1), (8, 3), (8, 52)):
        with pytest.raises(InvalidArgumentError):
            HllConfig(*bits)


def test_errors_are_ours(either, session, key):
    with pytest.raises(AerospikeError) as info:
        either.run(session.update(key).put({"a": 1}).execute())
    assert info.value.result_code == ResultCode.KEY_NOT_FOUND_ERROR
    assert info.value.node is not None


def test_what_type_checkers_see(seeds, set_name):
    typed_builders.run(seeds, set_name)


def test_text_that_the_server_cannot_evaluate_is_refused_where_it_is_said(either, session, key):
    """The embedded cluster says that it is 8.1: regular expressions as text came with 8.2."""
    if either.client.native.nodes()[0].version.supports_string_operations():
        pytest.skip("this cluster evaluates regular expressions")
    with pytest.raises(AelParseException, match=r"8\.2"):
        session.query(key).where("$.name =~ /a.*/")
