"""Tasks in the background: `session.background_task()`. Each case runs on both kinds of sessions."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from conftest import UDFS, udf_module

from aerolane import (
    AelParseException,
    AerospikeError,
    Behavior,
    ClientError,
    DataSet,
    Exp,
    Filter,
    InvalidArgumentError,
    UdfError,
)
from aerolane.exceptions import IndexNotFoundError, TimeoutError
from aerolane.native import ExecuteTask, IndexType, ListOperation, ListPolicy, Operation, TaskStatus
from aerolane.policy import Settings


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


@pytest.fixture
def records(either, session, dataset):
    """Ten records, `n` from 0 to 9."""
    for n in range(10):
        either.run(session.put(dataset.id(n), {"n": n}))
    return dataset


@pytest.fixture
def task(session):
    return session.background_task()


@pytest.fixture
def wait(either):
    """`wait(builder)`: starts the task, and waits until it is over."""

    def until_over(builder):
        handle = either.run(builder.execute())
        assert isinstance(handle, ExecuteTask)
        assert handle.task_id > 0
        if either.kind == "sync":
            assert handle.wait_till_complete_blocking(0.01, 60)
            assert handle.query_status_blocking() == TaskStatus.COMPLETE
        else:
            assert either.run(handle.wait_till_complete(0.01, 60))
            assert either.run(handle.query_status()) == TaskStatus.COMPLETE

    return until_over


@pytest.fixture
def bins(either, session, records):
    """`bins()`: what the records have, by number; without those that are gone."""

    def read():
        found = either.results(session.query(records.ids(*range(10))))
        return {result.key.value: result.record.bins for result in found if result.is_ok}

    return read


def test_update(records, task, wait, bins):
    wait(task.update(records).bin("n").add(100).bin("tag").set_to("x"))
    assert bins() == {n: {"n": n + 100, "tag": "x"} for n in range(10)}


def test_records_are_not_created(either, session, dataset, task, wait):
    """Also by nodes that have never heard of the set, which they say."""
    wait(task.update(dataset).bin("n").add(1))
    assert either.results(session.query(dataset)) == []


def test_steps_are_those_of_builders(records, task, wait, bins):
    builder = task.update(records).bin("l").list_append_items([3, 1, 2]).bin("m").map_upsert_items({"a": 1})
    builder.bin("m").on_map_key("b").set_to(2).bin("e").upsert_from("$.n + 1")
    wait(builder.add_operation(ListOperation.append("l", 4, ListPolicy())))
    assert bins() == {n: {"n": n, "l": [3, 1, 2, 4], "m": {"a": 1, "b": 2}, "e": n + 1} for n in range(10)}


@pytest.mark.parametrize(
    "condition",
    [("$.n >= 7",), ("$.n >= ?0 and $.n < ?1", 7, 10), (Exp.ge(Exp.int_bin("n"), Exp.int_val(7)),)],
    ids=["text", "parameters", "expression"],
)
def test_where(records, task, wait, bins, condition):
    wait(task.update(records).where(*condition).bin("old").set_to(1))
    assert [n for n, found in bins().items() if "old" in found] == [7, 8, 9]
    wait(task.delete(records).where(*condition))
    assert list(bins()) == list(range(7))


def test_delete_all(either, session, records, task, wait):
    wait(task.delete(records))
    assert either.results(session.query(records)) == []


def test_touch(either, session, records, task, wait):
    before = either.run(session.get(records.id(1)))
    wait(task.touch(records).expire_record_after_seconds(1000))
    after = either.run(session.get(records.id(1)))
    assert after.generation == before.generation + 1
    assert 990 <= after.ttl <= 1000


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [
        ("expire_record_after_seconds", (500,), (490, 500)),
        ("expire_record_after", (timedelta(hours=1),), (3590, 3600)),
        ("expire_record_at", (datetime.now(UTC) + timedelta(hours=2),), (3600, 7200)),
        ("never_expire", (), None),
    ],
)
def test_expirations(either, session, records, task, wait, method, arguments, expected):
    wait(getattr(task.update(records).bin("n").add(1), method)(*arguments))
    ttl = either.run(session.get(records.id(1))).ttl
    assert ttl is None if expected is None else expected[0] <= ttl <= expected[1]


def test_expiration_stays(either, session, records, task, wait):
    wait(task.touch(records).expire_record_after_seconds(5000))
    wait(task.update(records).bin("n").add(1).with_no_change_in_expiration())
    assert 4000 < either.run(session.get(records.id(1))).ttl <= 5000
    wait(task.update(records).bin("n").add(1).expiry_from_server_default())
    assert either.run(session.get(records.id(1))).ttl != 5000


def test_filter_over_an_index(either, session, client, records, task, wait, bins):
    with pytest.raises(IndexNotFoundError):
        either.run(task.update(records).filter(Filter.range("n", 2, 4)).bin("hit").set_to(1).execute())
    name = f"{records.set_name}_n"
    client.create_index_blocking("test", records.set_name, "n", name, IndexType.NUMERIC).wait_till_complete_blocking()
    try:
        wait(task.update(records).filter(Filter.range("n", 2, 4)).where("$.n != 3").bin("hit").set_to(1))
    finally:
        client.drop_index_blocking("test", records.set_name, name)
    assert [n for n, found in bins().items() if "hit" in found] == [2, 4]


def test_function(client, records, task, wait, bins):
    with udf_module(client, UDFS, "py_background") as module:
        wait(task.execute_udf(records).function(module, "add").passing("n", 1000).where("$.n < 2"))
        assert [found["n"] for found in bins().values()] == [1000, 1001, *range(2, 10)]
        wait(task.execute_udf(records).function(module, "add").passing("n", 1).with_durable_delete())


def test_records_per_second(records, task, wait, bins):
    wait(task.update(records).bin("n").add(1).records_per_second(0))
    # Servers take 10,000 at most, if they are not configured otherwise.
    wait(task.update(records).bin("n").add(1).records_per_second(10_000))
    assert [found["n"] for found in bins().values()] == list(range(2, 12))


def test_a_rate_slows_a_task_down(either, cluster, session, records, task):
    """Some node has two of ten records at least: at one a second the task is not over at once."""
    handle = either.run(task.update(records).bin("n").add(1).records_per_second(1).execute())
    assert handle.query_status_blocking() == TaskStatus.IN_PROGRESS
    either.run(task.delete(records).execute()).wait_till_complete_blocking(0.01, 60)
    assert handle.wait_till_complete_blocking(0.05, 60)


def refused(call, kind=InvalidArgumentError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_what_does_not_fit_is_refused_where_it_is_said(records, task):
    assert "query(dataset)" in refused(task.update(records).bin("n").get)
    assert "query(dataset)" in refused(task.update(records).bin("l").list_size)
    assert "query(dataset)" in refused(lambda: task.update(records).add_operation(Operation.get_bin("n")))
    assert "takes no bins" in refused(lambda: task.delete(records).bin("n").set_to(1))
    assert "takes no bins" in refused(lambda: task.touch(records).add_operation(Operation.put("n", 1)))
    assert "leaves expirations alone" in refused(task.delete(records).never_expire)
    assert "once" in refused(task.touch(records).never_expire().never_expire)
    assert "combine" in refused(lambda: task.delete(records).where("$.n > 1").where("$.n < 3"))
    index = Filter.range("n", 1, 2)
    assert "one filter" in refused(lambda: task.delete(records).filter(index).filter(index))
    assert "rps" in refused(lambda: task.delete(records).records_per_second(-1))
    refused(lambda: task.delete(records).records_per_second("a"), TypeError)
    refused(lambda: task.delete(records).where("$.n >"), AelParseException)
    refused(lambda: task.update("set"), TypeError)
    refused(lambda: task.update(records.id(1)), TypeError)
    refused(lambda: task.update(records).bin("a name that is too long"))
    refused(lambda: task.execute_udf(records).function("", "f"))
    refused(lambda: task.execute_udf(records).function("m", "f").passing(object()), TypeError)


@pytest.mark.parametrize("method", ["fail_on_filtered_out", "include_missing_keys"])
def test_what_is_about_results_is_not_for_tasks(records, task, method):
    assert method in refused(getattr(task.update(records), method), TypeError)
    assert method in refused(getattr(task.execute_udf(records).function("m", "f"), method), TypeError)


def test_a_task_is_started_once_and_whole(either, records, task, wait):
    assert "bin(name)" in refused(lambda: either.run(task.update(records).execute()))
    builder = task.update(records).bin("n").add(1)
    wait(builder)
    refused(lambda: either.run(builder.execute()), ClientError)
    refused(lambda: builder.bin("n").add(1), ClientError)
    refused(lambda: builder.records_per_second(1), ClientError)
    refused(lambda: builder.fail_on_filtered_out(), ClientError)


def test_namespaces_that_are_not_there(either, task):
    with pytest.raises(AerospikeError, match="nowhere"):
        either.run(task.delete(DataSet.of("nowhere", "s")).execute())


def test_not_in_transactions(session):
    inner = session.transaction()
    with pytest.raises(RuntimeError, match="transaction"):
        inner.background_task()


def test_a_missing_function_fails_for_each_record_only(either, records, task, bins):
    """As on a server: what a task's function does is told to nobody."""
    with contextlib.suppress(UdfError):  # a server that looks for the module first
        either.run(task.execute_udf(records).function("py_no_module", "f").execute())
    assert bins() == {n: {"n": n} for n in range(10)}


def test_the_behavior_of_writes_by_query_applies(either, session, cluster, dataset):
    hasty = Behavior.DEFAULT.derive_with_changes(
        dataset.set_name, writes_query=Settings(total_timeout=timedelta(milliseconds=100))
    )
    task = session.session_for(hasty).background_task()
    with cluster.inject("stall", on="query"), pytest.raises(TimeoutError) as caught:
        either.run(task.delete(dataset).execute())
    assert caught.value.in_doubt


def test_names_and_texts(session, records, task):
    kind = type(session).__module__
    assert type(task).__module__ == kind
    assert type(task).__name__ == "BackgroundTaskSession"
    builder = task.update(records)
    assert repr(builder).startswith("<")
    assert "update" in repr(builder)
    assert records.set_name in repr(builder)
    assert type(builder).__name__ == "BackgroundOperationBuilder"
    assert type(task.execute_udf(records)).__name__ == "BackgroundUdfFunctionBuilder"
    assert type(task.execute_udf(records).function("m", "f")).__name__ == "BackgroundUdfBuilder"
    assert builder.where("$.n > 1") is builder
    assert builder.bin("n").add(1) is builder
