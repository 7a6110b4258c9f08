"""`stream()` of builders: results as the nodes answer."""

import asyncio
import time
from datetime import timedelta

import pytest
from conftest import Either, eventually

import aerolane
from aerolane import Behavior, DataSet, ErrorStrategy, Exp, ResultCode, _aerolane
from aerolane.exceptions import (
    AerospikeError,
    ClientError,
    RecordExistsError,
    RecordNotFoundError,
)
from aerolane.policy import Settings
from aerolane.testing import EmbeddedCluster

SOME = 200
OK, MISSING, FILTERED = ResultCode.OK, ResultCode.KEY_NOT_FOUND_ERROR, ResultCode.FILTERED_OUT


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


@pytest.fixture
def keys(dataset):
    return dataset.ids(*range(SOME))


def opened(either, builder, **how):
    """The stream of a builder."""
    return either.run(builder.stream(**how))


def rows(either, builder, **how):
    """Index and code of each result, in order of the keys."""
    results = either.each(opened(either, builder, **how))
    return [(result.index, result.result_code) for result in sorted(results, key=lambda result: result.index)]


def test_each_result_comes_once(either, session, keys):
    assert rows(either, session.upsert(keys).put({"n": 1})) == [(index, OK) for index in range(SOME)]
    results = either.each(opened(either, session.query(keys)))
    assert sorted(result.index for result in results) == list(range(SOME))
    assert all(result.key == keys[result.index] and result.record.bins == {"n": 1} for result in results)
    assert all(result.record.key == result.key for result in results)
    chain = session.query(keys[:3]).delete(keys[3]).upsert(keys[4]).bin("n").add(1).bin("n").get().exists(keys[5])
    results = sorted(either.each(opened(either, chain)), key=lambda result: result.index)
    assert [result.is_ok for result in results] == [True] * 6
    assert results[4].record.bins == {"n": [None, 2]} and results[5].as_bool() is True


def test_rows_of_a_table(either, session, dataset):
    table = session.upsert(dataset).bins("a", "b")
    assert rows(either, table.rows([(n, n, 2 * n) for n in range(50)])) == [(n, OK) for n in range(50)]
    assert either.run(session.query(dataset.id(7)).first()).record.bins == {"a": 7, "b": 14}


def test_the_order_of_operations_on_a_record_stays(either, session, keys):
    chain = session.upsert(keys[:50]).put({"n": 1}).upsert(keys[:50]).bin("n").add(1).query(keys[:50])
    results = sorted(either.each(opened(either, chain)), key=lambda result: result.index)
    assert [result.index for result in results] == list(range(150))
    assert [result.record.bins for result in results[100:]] == [{"n": 2}] * 50


def test_missing_and_filtered_records_are_told(either, session, keys):
    """Unlike `execute()`, which leaves them out of what is read."""
    either.run(session.upsert(keys[:2]).put({"n": 1}).execute())
    some, never = keys[:3], Exp.gt(Exp.int_bin("n"), Exp.int_val(100))
    for builder in (lambda: session.query(some), lambda: session.exists(some), lambda: session.touch(some)):
        assert rows(either, builder()) == [(0, OK), (1, OK), (2, MISSING)]
    assert rows(either, session.query(some).where(never)) == [(0, FILTERED), (1, FILTERED), (2, MISSING)]
    assert rows(either, session.query(keys[2])) == [(0, MISSING)]
    assert rows(either, session.query(keys[0]).where(never)) == [(0, FILTERED)]
    assert rows(either, session.upsert(keys[0]).put({"n": 2}).where(never)) == [(0, FILTERED)]


def test_failures(either, session, keys):
    either.run(session.upsert(keys[:2]).put({"n": 1}).execute())
    exists = ResultCode.KEY_EXISTS_ERROR
    expected = [(0, exists), (1, exists), (2, OK)]
    assert rows(either, session.insert(keys[:3]).put({"n": 2})) == expected
    assert rows(either, session.insert(keys[:2]).put({"n": 2}), on_error=ErrorStrategy.IN_STREAM) == expected[:2]
    heard = []

    def handler(key, index, error):
        heard.append((key, index, type(error)))

    left = rows(either, session.insert(keys[:5]).put({"n": 2}), on_error=handler)
    assert left == [(3, OK), (4, OK)]
    assert sorted(heard, key=lambda told: told[1]) == [(keys[n], n, RecordExistsError) for n in range(3)]
    heard.clear()
    assert rows(either, session.query(keys[3:8]), on_error=handler) == [(0, OK), (1, OK)]
    assert sorted(index for _, index, _ in heard) == [2, 3, 4]
    assert {kind for *_, kind in heard} == {RecordNotFoundError}
    # All of them: nothing is left.
    assert rows(either, session.insert(keys[:5]).put({"n": 2}), on_error=handler) == []
    # One record: it is raised.
    with pytest.raises(RecordExistsError):
        opened(either, session.insert(keys[0]).put({"n": 2}))
    assert rows(either, session.insert(keys[0]).put({"n": 2}), on_error=ErrorStrategy.IN_STREAM) == [(0, exists)]


def test_a_handler_that_raises(either, session, keys):
    def handler(key, index, error):
        raise KeyError("on purpose")

    stream = opened(either, session.query(keys[:3]), on_error=handler)
    with pytest.raises(KeyError, match="on purpose"):
        either.each(stream)
    with pytest.raises(TypeError, match="on_error"):
        opened(either, session.query(keys[:3]), on_error=5)


def test_the_methods_of_a_stream(either, session, keys):
    either.run(session.upsert(keys[:3]).put({"n": 1}).execute())

    def stream():
        return opened(either, session.query(keys[:4]))

    assert len(either.run(stream().collect())) == 4
    assert [result.index for result in either.run(stream().failures())] == [3]
    assert either.run(stream().first()).index in range(4)
    one = stream()
    popped = {either.run(one.pop()).index for _ in range(4)}
    assert popped == set(range(4)) and either.run(one.pop()) is None
    with pytest.raises(RecordNotFoundError):
        either.run(one.pop_or_raise())
    assert either.run(stream().first_udf_result()) is None
    one = stream()
    assert either.run(one.has_more_chunks()) is True
    assert len(either.run(one.collect())) == 4
    assert either.run(one.has_more_chunks()) is False


def test_a_stream_is_read_once(either, session, keys):
    stream = opened(either, session.query(keys[:4]))
    assert len(either.each(stream)) == 4
    for again in (lambda: either.each(stream), lambda: either.run(stream.collect())):
        with pytest.raises(ClientError, match="read to its end"):
            again()
    stream = opened(either, session.query(keys[:4]))
    stream.close()
    stream.close()
    with pytest.raises(ClientError, match="closed"):
        either.each(stream)
    builder = session.query(keys[:4])
    opened(either, builder)
    with pytest.raises(ClientError, match="executed"):
        opened(either, builder)
    with pytest.raises(AerospikeError, match="nothing to write"):
        opened(either, session.upsert(keys[:4]))
    with pytest.raises(AerospikeError, match="needs a row"):
        opened(either, session.upsert(DataSet.of("test", "s")).bins("a"))


def test_a_data_set(either, session, dataset, keys):
    either.run(session.upsert(keys[:5]).put({"n": 1}).execute())
    assert rows(either, session.query(dataset)) == [(-1, OK)] * 5
    results = opened(either, session.query(dataset).chunk_size(2))
    chunks = 0
    while either.run(results.has_more_chunks()):
        chunks += len(either.each(results)) > 0
    assert chunks >= 3


def test_execute_stream(either, session, keys):
    assert len(either.each(either.run(session.batch().upsert(keys[:3]).put({"n": 1}).execute_stream()))) == 3


@pytest.fixture(params=["sync", "async"])
def slow(request):
    """A session on a cluster of two nodes, one of which takes three seconds for batches."""
    with EmbeddedCluster(nodes=2) as cluster:
        one = Either(request.param, cluster.seeds)
        patient = Settings(total_timeout=timedelta(seconds=60))
        one.session = one.client.create_session(Behavior.DEFAULT.derive_with_changes("patient", all=patient))
        dataset = DataSet.of("test", "slow")
        one.run(one.session.upsert(dataset.ids(*range(SOME))).put({"n": 1}).execute())
        with cluster.inject("answer-delay", 3.0, on="batch", node=cluster.nodes[0]):
            yield one, dataset.ids(*range(SOME))
        one.close()


def test_rows_come_before_the_last_node_has_answered(slow):
    either, keys = slow
    begun = time.monotonic()
    stream = opened(either, either.session.query(keys))
    first = either.run(stream.pop())
    assert first.is_ok and time.monotonic() - begun < 2.5
    assert len(either.run(stream.collect())) == SOME - 1
    assert time.monotonic() - begun >= 2.5


def test_closing_ends_what_is_under_way(slow):
    either, keys = slow
    before = in_flight(either)
    stream = opened(either, either.session.query(keys))
    either.run(stream.pop())
    begun = time.monotonic()
    stream.close()
    assert either.run(stream.pop()) is None
    assert time.monotonic() - begun < 2.5
    eventually(lambda: in_flight(either) <= before)


def in_flight(either):
    return either.client.native.stats()["total"]["in_flight"]


def test_in_a_transaction(new_cluster):
    """It is carried out as a whole there."""
    cluster = new_cluster(nodes=1, strong_consistency=True)
    for kind in ("sync", "async"):
        either = Either(kind, cluster.seeds)
        keys = DataSet.of("test", kind).ids(*range(5))
        txn = aerolane.Txn()
        assert rows(either, either.session.upsert(keys).put({"n": 1}).with_txn(txn)) == [(n, OK) for n in range(5)]
        assert rows(either, either.session.query(keys)) == [(n, MISSING) for n in range(5)]
        assert rows(either, either.session.query(keys).with_txn(txn)) == [(n, OK) for n in range(5)]
        assert either.client.native.commit_blocking(txn).name == "OK"
        assert rows(either, either.session.query(keys)) == [(n, OK) for n in range(5)]
        either.close()


def test_a_cluster_that_is_closed_meanwhile(slow):
    either, keys = slow
    stream = opened(either, either.session.query(keys))
    first = either.run(stream.pop())
    either.run(either.client.close())
    # Rows say it themselves, or the stream does: none is lost without a word.
    try:
        results = [first, *either.each(stream)]
    except AerospikeError as error:
        assert "closed" in str(error)
    else:
        assert sorted(result.index for result in results) == list(range(SOME))
        failed = [result.to_exception() for result in results if not result.is_ok]
        assert failed and all("closed" in str(error) for error in failed)
    with pytest.raises(AerospikeError, match="closed"):
        opened(either, either.session.query(keys))


def test_a_failing_node(either, session, keys, cluster):
    either.run(session.upsert(keys).put({"n": 1}).execute())
    with cluster.inject("drop-before", on="batch", node=cluster.nodes[0]):
        results = either.each(opened(either, session.upsert(keys).put({"n": 2})))
    assert sorted(result.index for result in results) == list(range(SOME))
    failed = [result for result in results if not result.is_ok]
    assert 0 < len(failed) < SOME
    assert all(isinstance(result.to_exception(), AerospikeError) for result in failed)


# For asyncio.


async def test_it_is_entered_or_awaited(seeds, dataset, keys):
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        await session.upsert(keys).put({"n": 1}).execute()
        async with session.query(keys).stream() as stream:
            assert type(stream) is aerolane.RecordStream
            assert len([result async for result in stream]) == SOME
        async with session.query(keys).stream() as stream:
            async for _ in stream:
                break
        with pytest.raises(ClientError, match="closed"):
            await stream.collect()
        for builder in (session.query(keys[0]), session.query(dataset)):
            async with builder.stream() as stream:
                assert (await stream.first()).is_ok
        with pytest.raises(KeyError):
            async with session.query(keys).stream() as stream:
                raise KeyError
        with pytest.raises(RecordNotFoundError):
            async with session.update(dataset.id("missing")).put({"n": 1}).stream():
                raise AssertionError
        # Nothing is sent before.
        waiting = session.delete(keys).stream()
        await asyncio.sleep(0.05)
        assert (await session.exists(keys[0]).first()).as_bool()
        assert "awaited" in repr(waiting)
        assert len(await (await waiting).collect()) == SOME
        with pytest.raises(ClientError, match="executed"):
            await waiting
        with pytest.raises(RuntimeError, match="entered"):
            await session.query(keys).stream().__aexit__(None, None, None)
        task = asyncio.create_task(session.query(keys).stream().__aenter__())
        assert len(await (await task).collect()) == SOME


async def test_a_cancelled_reader_loses_nothing(new_cluster):
    cluster = new_cluster(nodes=2)
    async with aerolane.Client(cluster.seeds) as client:
        session, keys = client.create_session(), DataSet.of("test", "s").ids(*range(SOME))
        await session.upsert(keys).put({"n": 1}).execute()
        with cluster.inject("answer-delay", 0.3, on="batch"):
            stream = await session.query(keys).stream()
            for method in ("pop", "collect"):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await getattr(stream, method)()
            assert len([result async for result in stream]) == SOME


async def test_several_tasks_share_a_stream(seeds, keys):
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        await session.upsert(keys).put({"n": 1}).execute()
        stream = await session.query(keys).stream()

        async def read():
            indexes = []
            while (result := await stream.pop()) is not None:
                indexes.append(result.index)
            return indexes

        parts = await asyncio.gather(*(read() for _ in range(4)))
        assert sorted(index for part in parts for index in part) == list(range(SOME))


@pytest.mark.parametrize("door", ["execute", "scan"])
async def test_a_result_that_is_there_is_a_coroutine(seeds, keys, dataset, door):
    """What `anext` gives can be awaited, more than once, and be handed to asyncio."""
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        await session.upsert(keys).put({"n": 1}).execute()
        stream = await session.query(keys if door == "execute" else dataset).execute()
        first = anext(stream)
        assert (await first).record.bins == {"n": 1}
        assert (await first).key == (await first).key
        second = anext(stream)
        assert asyncio.iscoroutine(second)
        await second
        task = asyncio.create_task(anext(stream))
        assert (await task).record.bins == {"n": 1}
        assert (await asyncio.wait_for(anext(stream), 10)).record.bins == {"n": 1}
        given = await asyncio.gather(anext(stream), anext(stream))
        assert [result.record.bins for result in given] == [{"n": 1}] * 2
        there = anext(stream)
        while not there.done():
            await asyncio.sleep(0)
        with pytest.raises(KeyError, match="no"):
            there.throw(KeyError("no"))
        there.close()
        with pytest.raises(StopIteration) as stopped:
            there.send(None)
        assert stopped.value.value.record.bins == {"n": 1}
        assert [result.record.bins for result in [await anext(stream, None)]] == [{"n": 1}]
        assert len([result async for result in stream]) == SOME - 8
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        assert await anext(stream, None) is None


@pytest.mark.parametrize("door", ["execute", "scan"])
async def test_a_result_that_is_there_is_a_future_that_is_done(seeds, keys, dataset, door):
    """What `anext` gives has the methods of a future, whether it had to wait or not."""
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        await session.upsert(keys).put({"n": 1}).execute()
        stream = await session.query(keys if door == "execute" else dataset).execute()
        there = anext(stream)
        while not there.done():
            await asyncio.sleep(0)
        for name in (name for name in dir(_aerolane.Awaitable) if not name.startswith("_")):
            assert callable(getattr(there, name)), name
        assert (there.cancel(), there.cancelled(), there.exception()) == (False, False, None)
        called = []
        there.add_done_callback(called.append)
        assert called == []
        await asyncio.sleep(0)
        assert [over.result().record.bins for over in called] == [{"n": 1}]
        assert there.result() is await there
        assert not asyncio.isfuture(there)
        with pytest.raises(AttributeError, match="unknown"):
            there.unknown  # noqa: B018
