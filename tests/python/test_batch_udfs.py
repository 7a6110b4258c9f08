"""Functions as rows of batches, and batches whose rows come as the nodes answer."""

import asyncio
import gc
import threading

import pytest
from conftest import LOOPS, UDFS, other_task, udf_module

import aerolane
from aerolane import Key, ResultCode, native
from aerolane.native import (
    BatchDeleteOp,
    BatchPolicy,
    BatchReadOp,
    BatchUDFOp,
    BatchUDFPolicy,
    BatchWriteOp,
    FilterExpression,
    Operation,
)


@pytest.fixture(scope="module")
def module(client):
    with udf_module(client, UDFS, "py_batch_udf") as name:
        yield name


@pytest.fixture
def keys(client, set_name):
    keys = [Key("test", set_name, n) for n in range(40)]
    for n, key in enumerate(keys):
        client.put_blocking(key, {"i": n})
    return keys


@pytest.fixture(params=["blocking", *LOOPS])
def streamed(request):
    """`streamed(client, ops, **kwargs)`: the items of a streaming batch, blocking or on an event loop."""

    def blocking(client, ops, **kwargs):
        return list(client.batch_stream_blocking(ops, **kwargs))

    def on_loop(client, ops, **kwargs):
        async def call():
            return [item async for item in await client.batch_stream(ops, **kwargs)]

        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            return runner.run(asyncio.wait_for(call(), 30))

    return blocking if request.param == "blocking" else on_loop


def test_a_function_on_many_records(client, run, module, keys):
    rows = run(client, "batch_apply", keys, module, "add", ["i", 100])
    assert [row.key for row in rows] == keys
    assert [row.record.bins["SUCCESS"] for row in rows] == [100 + n for n in range(40)]
    assert [client.get_blocking(key).bins["i"] for key in keys[:3]] == [100, 101, 102]
    # A record that is not there; one alone; without arguments.
    missing = Key("test", keys[0].set_name, "none")
    assert run(client, "batch_apply", [missing], module, "add", ["i", 1])[0].record.bins == {"SUCCESS": 1}
    (row,) = run(client, "batch_apply", keys[:1], module, "back")
    assert row.result_code == ResultCode.OK and row.record.bins.get("SUCCESS") is None
    assert run(client, "batch_apply", [], module, "add") == []


@pytest.mark.parametrize("value", [1, "text", b"bytes", [1, ["a"]], {"a": 1}, 1.5, True], ids=repr)
def test_values_come_back(client, module, keys, value):
    rows = client.batch_apply_blocking(keys[:2], module, "back", [value])
    assert [row.record.bins["SUCCESS"] for row in rows] == [value, value]


def test_rows_of_all_kinds(client, run, module, keys):
    ops = [
        BatchUDFOp(keys[0], module, "add", ["i", 5]),
        BatchReadOp(keys[1], ["i"]),
        BatchUDFOp(keys[2], module, "fail"),
        BatchWriteOp(keys[3], [Operation.add("i", 1), Operation.get_bin("i")]),
        BatchUDFOp(keys[4], "no_such_module", "f", []),
        BatchDeleteOp(keys[5]),
        BatchUDFOp(keys[6], module, "back", ("x",)),
    ]
    rows = run(client, "batch", ops)
    assert [row.key for row in rows] == [op.key for op in ops] == keys[:7]
    assert [row.result_code for row in rows] == [0, 0, 100, 0, 100, 0, 0]
    assert rows[0].record.bins == {"SUCCESS": 5} and rows[1].record.bins == {"i": 1}
    assert isinstance(rows[2].error, aerolane.UdfError) and "py_batch_udf.lua:13: on purpose" in str(rows[2].error)
    assert rows[3].record.results == [None, 4] and rows[6].record.bins == {"SUCCESS": "x"}


def test_the_policy_of_a_row(client, module, keys):
    high = FilterExpression.ge(FilterExpression.int_bin("i"), FilterExpression.int_val(20))
    policy = BatchUDFPolicy(filter_expression=high)
    rows = client.batch_apply_blocking(keys, module, "add", ["i", 1], udf_policy=policy)
    assert [row.result_code for row in rows] == [ResultCode.FILTERED_OUT] * 20 + [ResultCode.OK] * 20
    expires = BatchUDFPolicy(expiration=native.Expiration.seconds(500))
    row, other = client.batch_blocking(
        [BatchUDFOp(keys[0], module, "add", ["i", 1], expires), BatchUDFOp(keys[1], module, "add", ["i", 1], policy)]
    )
    assert row.result_code == ResultCode.OK and other.result_code == ResultCode.FILTERED_OUT


def test_arguments_are_checked_at_once(client, module, keys):
    for call in (
        lambda: client.batch_apply_blocking(keys, module, ""),
        lambda: client.batch_apply_blocking(keys, "", "f"),
        lambda: BatchUDFOp(keys[0], module, "x" * 256),
    ):
        with pytest.raises(aerolane.InvalidArgumentError):
            call()
    for call in (
        lambda: client.batch_apply_blocking(keys, module, "f", "no list"),
        lambda: client.batch_apply_blocking(keys, module, "f", [object()]),
        lambda: client.batch_apply_blocking([1], module, "f"),
        lambda: client.batch_apply_blocking(keys, module, "f", udf_policy=native.BatchWritePolicy()),
        lambda: BatchUDFOp("k", module, "f"),
        lambda: BatchUDFOp(keys[0], module, "f", 5),
        lambda: client.batch_stream_blocking([1]),
        lambda: client.batch_stream_blocking(5),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(aerolane.InvalidArgumentError, match="transaction"):
        client.batch_stream_blocking([BatchReadOp(keys[0])], batch_policy=BatchPolicy(txn=native.Txn()))


# Streams.


def test_each_row_comes_once_with_its_place(client, streamed, module, keys):
    missing = Key("test", keys[0].set_name, "none")
    ops = [BatchReadOp(key) for key in [*keys, missing]]
    ops += [
        BatchUDFOp(keys[0], module, "back", [7]),
        BatchWriteOp(keys[1], [Operation.add("i", 0), Operation.get_bin("i")]),
    ]
    items = streamed(client, ops)
    assert sorted(place for place, _ in items) == list(range(43))
    for place, row in items:
        assert row.key == ops[place].key
        if place < 40:
            assert row.record.bins == {"i": place}
    rows = dict(items)
    assert rows[40].result_code == ResultCode.KEY_NOT_FOUND_ERROR
    assert rows[41].record.bins == {"SUCCESS": 7} and rows[42].record.results == [None, 1]
    assert streamed(client, []) == []


def test_rows_come_as_the_nodes_answer(new_cluster, connect):
    """The rows of the nodes that answer are there while another node is still silent."""
    cluster = new_cluster(nodes=3)
    client = connect(cluster.seeds)
    keys = [Key("test", "s", n) for n in range(60)]
    for n, key in enumerate(keys):
        client.put_blocking(key, {"i": n})
    late = cluster.nodes[0].id
    of_the_late = {n for n, key in enumerate(keys) if cluster.master(key.partition_id) == late}
    assert 0 < len(of_the_late) < 60
    with cluster.inject("stall", on="batch", node=late):
        policy = BatchPolicy(total_timeout=60_000)
        stream = client.batch_stream_blocking([BatchReadOp(key) for key in keys], batch_policy=policy)
        first = [next(stream)[0] for _ in range(60 - len(of_the_late))]
    assert of_the_late.isdisjoint(first)
    assert sorted([*first, *(place for place, _ in stream)]) == list(range(60))


async def test_a_stream_ends_early(client, keys):
    async with await client.batch_stream([BatchReadOp(key) for key in keys]) as stream:
        place, row = await anext(stream)
        assert row.record.bins == {"i": place}
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    stream.close()
    assert [item async for item in stream] == []
    assert "over" in repr(stream)


async def test_a_wait_that_was_cancelled_loses_no_row(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds)
    keys = [Key("test", "s", n) for n in range(10)]
    await asyncio.gather(*(client.put(key, {"i": 1}) for key in keys))
    with cluster.inject("stall", on="batch"):
        policy = BatchPolicy(total_timeout=60_000)
        stream = await client.batch_stream([BatchReadOp(key) for key in keys], batch_policy=policy)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await anext(stream)
    places = sorted([place async for place, _ in stream])
    assert places == list(range(10))


async def test_other_tasks_get_their_turns(client, keys):
    """Also when all rows are there already."""
    ops = [BatchReadOp(key) for key in keys] * (2048 // len(keys) + 1)
    async with await client.batch_stream(ops) as stream:
        await anext(stream)
        await asyncio.sleep(1)
        async with other_task() as turns:
            places = [place async for place, _ in stream]
    assert len(places) == len(ops) - 1
    # Each pause lets the others in, but for those that a socket overtakes: uvloop looks at sockets before it runs the
    # tasks that are ready. Without pauses there would be none.
    assert turns() > 1


def test_tasks_and_threads_share_a_stream(client, keys):
    async def main():
        stream = await client.batch_stream([BatchReadOp(key) for key in keys])

        async def take():
            return [place async for place, _ in stream]

        return sorted(place for places in await asyncio.gather(*(take() for _ in range(5))) for place in places)

    assert asyncio.run(main()) == list(range(40))
    stream, taken = client.batch_stream_blocking([BatchReadOp(key) for key in keys]), []
    threads = [threading.Thread(target=lambda: taken.extend(place for place, _ in stream)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(taken) == list(range(40))


def test_a_failure_of_the_whole_batch(new_cluster, connect):
    """Each row has it, and it is raised at the end, as no row was answered at all."""
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds)
    keys = [Key("test", "s", n) for n in range(3)]
    with cluster.inject("stall", on="batch"):
        stream = client.batch_stream_blocking(
            [BatchReadOp(key) for key in keys], batch_policy=BatchPolicy(total_timeout=300, max_retries=0)
        )
        rows = [next(stream)[1] for _ in range(3)]
        assert all(isinstance(row.error, aerolane.TimeoutError) for row in rows)
        with pytest.raises(aerolane.TimeoutError):
            next(stream)
        assert list(stream) == []


def test_a_closed_client_ends_its_streams(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds)
    with cluster.inject("stall", on="batch"):
        stream = client.batch_stream_blocking(
            [BatchReadOp(Key("test", "s", n)) for n in range(3)], batch_policy=BatchPolicy(total_timeout=60_000)
        )
        client.close_blocking()
        with pytest.raises(aerolane.AerospikeError):
            list(stream)
    with pytest.raises(aerolane.exceptions.ClientClosedError):
        client.batch_stream_blocking([])


def test_dropping_a_stream_ends_the_batch(client, keys):
    for _ in range(20):
        client.batch_stream_blocking([BatchReadOp(key) for key in keys])
    gc.collect()
    assert client.get_blocking(keys[0]).bins == {"i": 0}
