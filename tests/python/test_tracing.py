"""Spans of operations, as OpenTelemetry gets them."""

import asyncio
import importlib

import pytest

import aerolane
from aerolane import Client, DataSet, Key, SyncClient, exceptions, execute_concurrent, native
from aerolane.observability import trace_session
from aerolane.testing import EmbeddedCluster

export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
trace = pytest.importorskip("opentelemetry.trace")


@pytest.fixture
def provider():
    from opentelemetry.sdk.trace import TracerProvider

    made = TracerProvider()
    yield made
    made.shutdown()


@pytest.fixture
def spans(provider):
    """`spans()`: those that were recorded since the last call."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    memory = export.InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))

    def recorded():
        found = memory.get_finished_spans()
        memory.clear()
        return found

    return recorded


@pytest.fixture
def traced(either, provider):
    """A session of either kind that is traced."""
    return trace_session(either.session, provider, attributes={"app": "shop"})


@pytest.fixture
def users(set_name):
    return DataSet.of("test", set_name)


def test_a_call_is_a_span_with_the_attributes_of_the_conventions(either, traced, users, spans):
    either.run(traced.put(users.id("ann"), {"secret": 1}))
    assert either.run(traced.get(users.id("ann"), ["secret"])).bins == {"secret": 1}
    put, get = spans()
    assert (put.name, get.name) == (f"put test.{users.set_name}", f"get test.{users.set_name}")
    assert dict(put.attributes) == {
        "app": "shop",
        "db.system.name": "aerospike",
        "db.namespace": "test",
        "db.collection.name": users.set_name,
        "db.operation.name": "put",
    }
    assert put.kind == trace.SpanKind.CLIENT and put.status.status_code == trace.StatusCode.UNSET
    assert put.start_time <= put.end_time <= get.end_time
    assert "secret" not in put.to_json() and "ann" not in put.to_json()


def test_a_builder_is_a_span_when_it_is_executed(either, traced, users, spans):
    key = users.id(1)
    builder = traced.upsert(key).put({"a": 1}).bin("tags").list_append("x").bin("m").on_map_key("k").set_to(2)
    assert spans() == ()
    either.run(builder.execute())
    assert [span.name for span in spans()] == [f"upsert test.{users.set_name}"]
    found = either.run(traced.query(key).bin("m").on_map_key("k").get_values().first_or_raise())
    assert found.record.bins == {"m": 2}
    assert [span.attributes["db.operation.name"] for span in spans()] == ["query"]


def test_several_records_are_a_batch(either, traced, users, spans):
    either.run(traced.upsert(users.ids(1, 2, 3)).put({"a": 1}).execute())
    either.run(traced.upsert(users.id(4)).put({"a": 1}).query(users.ids(1, 2)).execute())
    one, mixed = spans()
    assert (one.attributes["db.operation.name"], one.attributes["db.operation.batch.size"]) == ("BATCH upsert", 3)
    assert (mixed.attributes["db.operation.name"], mixed.attributes["db.operation.batch.size"]) == ("BATCH", 3)


def test_many_single_requests_are_no_batch(either, traced, users, spans):
    either.run(traced.get_many(users.ids(1, 2, 3)))
    (span,) = spans()
    assert (span.attributes["db.operation.name"], span.attributes["db.operation.batch.size"]) == ("get_many", 3)


def test_rows_and_queries_of_a_data_set(either, traced, users, spans):
    either.run(traced.upsert(users).bins("a").row(1, 10).row(2, 20).execute())
    assert len(either.each(either.run(traced.query(users).where("$.a > 5").execute()))) == 2
    assert [span.name for span in spans()] == [f"upsert test.{users.set_name}", f"query test.{users.set_name}"]


def test_a_missing_record_is_an_answer(either, traced, users, spans):
    with pytest.raises(exceptions.RecordNotFoundError):
        either.run(traced.get(users.id("nobody")))
    (span,) = spans()
    assert span.attributes["db.response.status_code"] == "KEY_NOT_FOUND_ERROR"
    assert span.status.status_code == trace.StatusCode.UNSET and "error.type" not in span.attributes


def test_a_failure_says_what_is_known_of_it(either, traced, users, cluster, spans):
    with cluster.inject("result", 18, on="write", times=1), pytest.raises(exceptions.AerospikeError) as caught:
        either.run(traced.put(users.id(1), {"a": 1}))
    (span,) = spans()
    found = dict(span.attributes)
    assert span.status.status_code == trace.StatusCode.ERROR
    assert found["error.type"].startswith("aerolane.exceptions.")
    assert found["db.response.status_code"] == caught.value.result_code.name
    assert f"{found['server.address']}:{found['server.port']}" in [node.address for node in cluster.nodes]
    assert (found["aerolane.attempts"], found["aerolane.in_doubt"], found["aerolane.phase"]) == (1, False, "receiving")


def test_a_wrong_argument_is_a_failed_span(either, traced, spans):
    with pytest.raises(TypeError):
        either.run(traced.get("no key"))
    (span,) = spans()
    assert span.status.status_code == trace.StatusCode.ERROR and span.attributes["error.type"] == "builtins.TypeError"


def test_spans_belong_to_what_was_going_on_when_the_call_was_made(either, traced, users, provider, spans):
    with provider.get_tracer("test").start_as_current_span("request") as request:
        begun = traced.put(users.id(1), {"a": 1})
    either.run(begun)
    parents = {span.name: span.parent for span in spans()}
    assert parents[f"put test.{users.set_name}"].span_id == request.get_span_context().span_id


def test_sessions_of_a_session_are_traced(either, traced, users, spans):
    inner = traced.session_for(aerolane.Behavior.READ_FAST)
    either.run(inner.put(users.id(1), {"a": 1}))
    assert len(spans()) == 1 and inner.behavior == aerolane.Behavior.READ_FAST


def test_transactions(consistent, provider, spans):
    with SyncClient(consistent.seeds) as client:
        session = trace_session(client.create_session(), provider)
        key = Key("test", "traced", 1)
        with session.transaction() as inner:
            inner.put(key, {"a": 1})
        session.do_in_transaction(lambda inner: inner.put(key, {"a": 2}))
        with pytest.raises(ZeroDivisionError), session.transaction() as inner:
            inner.put(key, {"a": 1 / 0})
        assert session.get(key).bins == {"a": 2}
    names = [span.attributes["db.operation.name"] for span in spans()]
    assert names == ["put", "commit", "put", "abort", "get"]


async def test_transactions_of_asyncio(consistent, provider, spans):
    async with Client(consistent.seeds) as client:
        session = trace_session(client.create_session(), provider)
        async with session.transaction() as inner:
            await inner.put(Key("test", "traced", 2), {"a": 1})
    assert [span.attributes["db.operation.name"] for span in spans()] == ["put", "commit"]


async def test_what_asyncio_does_with_operations(seeds, users, provider, spans):
    async with Client(seeds) as client:
        session = trace_session(client.create_session(), provider)
        await asyncio.gather(*(session.put(users.id(n), {"n": n}) for n in range(3)))
        task = asyncio.create_task(session.get(users.id(1)))
        assert (await asyncio.wait_for(task, 60)).bins == {"n": 1}
        async with session.query(users.ids(0, 1, 2)).stream() as stream:
            assert sorted([result.record.bins["n"] async for result in stream]) == [0, 1, 2]
        assert [result.is_ok async for result in await session.query(users.ids(0, 1)).stream()] == [True, True]
        await execute_concurrent(session, [("get", (users.id(0),)), session.query(users.id(1))])
    names = [span.attributes["db.operation.name"] for span in spans()]
    assert names[:6] == ["put", "put", "put", "get", "BATCH query", "BATCH query"] and len(names) == 8


async def test_a_cancelled_call_is_a_span(provider, spans):
    with EmbeddedCluster(1) as cluster:
        async with Client(cluster.seeds) as client:
            session = trace_session(client.create_session(), provider)
            with cluster.inject("stall"):
                call = asyncio.create_task(session.put(Key("test", "traced", 1), {"a": 1}))
                await asyncio.sleep(0.05)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
    (span,) = spans()
    assert span.attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_the_session_itself_records_nothing(either, traced, users, spans):
    either.run(either.session.put(users.id(1), {"a": 1}))
    assert spans() == () and traced.behavior == either.session.behavior


@pytest.mark.parametrize("wrong", [None, "session", native])
def test_what_is_no_session_is_refused(wrong, provider):
    with pytest.raises(TypeError, match="a session expected"):
        trace_session(wrong, provider)


def test_a_package_that_is_missing_is_named(either, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ImportError, match="pip install opentelemetry-api"):
        trace_session(either.session)
