"""Transactions that sessions begin and end themselves: `do_in_transaction`, and batches that write several records."""

import asyncio
import time
from datetime import timedelta

import pytest
from conftest import Either, eventually

import aerolane
from aerolane import ErrorStrategy, ResultCode, Txn, native
from aerolane.exceptions import (
    AerospikeError,
    CommitError,
    InvalidArgumentError,
    TransactionError,
)
from aerolane.policy import Settings
from aerolane.testing import EmbeddedCluster


@pytest.fixture(params=["sync", "async"])
def either(request, consistent):
    one = Either(request.param, consistent.seeds)
    yield one
    one.close()


@pytest.fixture
def keys(set_name):
    return [aerolane.Key("test", set_name, number) for number in range(4)]


@pytest.fixture
def calling(either):
    """`calling(function)`: what `do_in_transaction` takes of a function over a session."""

    def make(function):
        if either.kind == "sync":
            return function

        async def awaited(session):
            result = function(session)
            while asyncio.isfuture(result) or hasattr(result, "__await__"):
                result = await result
            return result

        return awaited

    return make


def put(session, key, value):
    return session.upsert(key).put({"n": value}).execute()


def value_of(either, key):
    result = either.run(either.session.query(key).first())
    return result and result.record.bins["n"]


def locked(either, key):
    """A transaction that has written a record."""
    txn = Txn()
    either.run(either.session.upsert(key).put({"n": 0}).with_txn(txn).execute())
    return txn


def rows(either, builder, **named):
    return [(row.index, row.result_code) for row in either.results(builder, **named)]


# do_in_transaction.


def test_it_commits_what_the_function_does(either, session, keys, calling):
    seen = []

    def write(tx):
        seen.append((type(tx).__name__, tx.active, tx.current_transaction == tx.txn, tx.behavior is session.behavior))
        return put(tx, keys[0], 1)

    result = either.run(session.do_in_transaction(calling(write)))
    assert type(result).__name__ == "RecordStream"
    assert seen == [("TransactionalSession", True, True, True)]
    assert value_of(either, keys[0]) == 1
    assert either.run(session.do_in_transaction(calling(lambda tx: (1, 2)))) == (1, 2)


def test_what_it_raises_takes_the_writes_back(either, session, keys):
    calls = []
    if either.kind == "sync":

        def write(tx):
            calls.append(tx)
            put(tx, keys[0], 1)
            raise KeyError("on purpose")
    else:

        async def write(tx):
            calls.append(tx)
            await put(tx, keys[0], 1)
            raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        either.run(session.do_in_transaction(write))
    assert len(calls) == 1 and not calls[0].active
    assert value_of(either, keys[0]) is None
    either.run(put(session, keys[0], 2))  # nothing is locked any more


@pytest.mark.parametrize(
    ("settings", "attempts", "least"),
    [
        ({}, 10, 0.09),
        ({"max_attempts": 3, "sleep_between_retries": 0.05}, 3, 0.05),
        ({"max_attempts": 3, "sleep_between_retries": timedelta(milliseconds=50)}, 3, 0.05),
        ({"max_attempts": 4, "sleep_between_retries": 0}, 4, 0),
        ({"max_attempts": 1, "sleep_between_retries": 1000}, 1, 0),
    ],
    ids=["defaults", "seconds", "timedelta", "no pause", "once"],
)
def test_conflicts_are_tried_again(either, session, keys, calling, settings, attempts, least):
    other = locked(either, keys[0])
    begun, calls = time.monotonic(), []

    def write(tx):
        calls.append(tx.txn.id)
        return put(tx, keys[0], 1)

    with pytest.raises(TransactionError) as raised:
        either.run(session.do_in_transaction(calling(write), **settings))
    assert raised.value.result_code is ResultCode.MRT_BLOCKED
    assert len(set(calls)) == len(calls) == attempts  # each one in a transaction of its own
    assert time.monotonic() - begun >= least
    either.run(session.query(keys[0]).with_txn(other).first())  # the other one is not disturbed


def test_it_goes_through_once_the_other_one_is_over(either, session, keys, consistent, calling):
    other, calls = locked(either, keys[0]), []
    client = native.new_client_blocking(native.ClientPolicy(), consistent.seeds)

    def write(tx):
        calls.append(1)
        if len(calls) == 3:
            native_txn_over()
        return put(tx, keys[0], len(calls))

    def native_txn_over():
        aborted = either.client.native.abort_blocking(other)
        assert aborted.name == "OK"

    either.run(session.do_in_transaction(calling(write), sleep_between_retries=0))
    assert value_of(either, keys[0]) == len(calls) >= 3
    client.close_blocking()


def test_a_commit_that_finds_a_record_changed_is_tried_again(either, session, keys, consistent, calling):
    client = native.new_client_blocking(native.ClientPolicy(), consistent.seeds)
    either.run(put(session, keys[0], 0))
    calls = []

    def change(tx):
        calls.append(1)
        read = tx.query(keys[0]).first()

        def then(_):
            if len(calls) < 3:
                client.put_blocking(keys[0], {"n": len(calls)})
            return put(tx, keys[1], len(calls))

        if either.kind == "sync":
            return then(read)

        async def both():
            return await then(await read)

        return both()

    either.run(session.do_in_transaction(calling(change), sleep_between_retries=0.001))
    assert len(calls) == 3
    assert value_of(either, keys[1]) == 3
    calls.clear()
    with pytest.raises(CommitError):
        either.run(session.do_in_transaction(calling(change), max_attempts=1))
    assert len(calls) == 1
    client.close_blocking()


def test_a_version_that_has_changed_is_tried_again_at_once(either, session, calling):
    calls, begun = [], time.monotonic()

    def conflict(tx):
        calls.append(1)
        raise TransactionError("made up", result_code=ResultCode.MRT_VERSION_MISMATCH)

    with pytest.raises(TransactionError, match="made up"):
        either.run(session.do_in_transaction(calling(conflict), sleep_between_retries=1000))
    assert len(calls) == 10
    assert time.monotonic() - begun < 100


@pytest.mark.parametrize(
    "error",
    [
        TransactionError("made up", result_code=ResultCode.MRT_EXPIRED),
        AerospikeError("made up", result_code=ResultCode.KEY_BUSY),
        ValueError("made up"),
        CommitError("made up", commit_error_type=native.CommitErrorType.ROLL_FORWARD_ABANDONED),
        CommitError("made up", commit_error_type=native.CommitErrorType.VERIFY_FAIL, in_doubt=True),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_failures_are_not_tried_again(either, session, calling, error):
    calls = []

    def fail(tx):
        calls.append(1)
        raise error

    with pytest.raises(type(error), match="made up"):
        either.run(session.do_in_transaction(calling(fail), sleep_between_retries=0))
    assert len(calls) == 1


def test_the_function_may_end_the_transaction_itself(either, session, keys, calling):
    for end, expected in (("commit", 1), ("abort", 1)):

        def ends(tx, end=end):
            written = put(tx, keys[0], 1 if end == "commit" else 2)
            if either.kind == "sync":
                return getattr(tx, end)()

            async def both():
                await written
                return await getattr(tx, end)()

            return both()

        status = either.run(session.do_in_transaction(calling(ends)))
        assert status.name == ("COMMITTED" if end == "commit" else "ABORTED")
        assert value_of(either, keys[0]) == expected


def test_one_inside_of_another_joins_it(either, session, keys, calling):
    seen, calls = [], []

    def inner(tx):
        calls.append(1)
        seen.append(tx)
        return put(tx, keys[0], 1)

    def failing(tx):
        calls.append(2)
        raise TransactionError("made up", result_code=ResultCode.MRT_BLOCKED)

    def outer(tx):
        seen.append(tx)
        joined = tx.do_in_transaction(calling(inner), max_attempts=5)
        if either.kind == "sync":
            with pytest.raises(TransactionError):
                tx.do_in_transaction(failing)
            return tx.active

        async def both():
            await joined
            with pytest.raises(TransactionError):
                await tx.do_in_transaction(calling(failing))
            return tx.active

        return both()

    assert either.run(session.do_in_transaction(calling(outer))) is True
    assert seen[0] is seen[1]
    assert calls == [1, 2]  # who has begun it tries again
    assert value_of(either, keys[0]) == 1


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"max_attempts": 0}, InvalidArgumentError),
        ({"max_attempts": -1}, ValueError),
        ({"max_attempts": 2**40}, InvalidArgumentError),
        ({"max_attempts": "3"}, TypeError),
        ({"max_attempts": True}, TypeError),
        ({"sleep_between_retries": -0.1}, InvalidArgumentError),
        ({"sleep_between_retries": timedelta(seconds=-1)}, InvalidArgumentError),
        ({"sleep_between_retries": float("nan")}, InvalidArgumentError),
        ({"sleep_between_retries": float("inf")}, InvalidArgumentError),
        ({"sleep_between_retries": "1"}, TypeError),
        ({"sleep_between_retries": True}, TypeError),
    ],
)
def test_wrong_arguments(either, session, calling, settings, kind):
    calls = []
    with pytest.raises(kind, match=next(iter(settings))):
        either.run(session.do_in_transaction(calling(calls.append), **settings))
    with pytest.raises(TypeError, match="operation"):
        either.run(session.do_in_transaction(5))
    assert not calls


def test_a_function_of_the_other_kind(either, session, keys):
    if either.kind == "async":
        with pytest.raises(TypeError, match="async def"):
            either.run(session.do_in_transaction(lambda tx: 5))
        return

    async def write(tx):
        raise AssertionError

    with pytest.raises(TypeError, match="plain function"):
        session.do_in_transaction(write)


def test_a_closed_client(either, session, calling):
    either.run(either.client.close())
    with pytest.raises(AerospikeError, match="closed"):
        either.run(session.do_in_transaction(calling(lambda tx: 1)))


async def test_a_coroutine_like_others(consistent, keys):
    async with aerolane.Client(consistent.seeds) as client:
        session = client.create_session()

        async def add(tx):
            record = await tx.query(keys[0]).first()
            before = record.record.bins["n"] if record else 0
            await asyncio.sleep(0)
            await put(tx, keys[0], before + 1)
            return before

        many = [asyncio.create_task(session.do_in_transaction(add, max_attempts=1000)) for _ in range(8)]
        assert sorted(await asyncio.gather(*many)) == list(range(8))
        assert (await session.query(keys[0]).first()).record.bins == {"n": 8}
        run = session.do_in_transaction(add)
        assert asyncio.iscoroutine(run)
        assert "waiting" in repr(run)
        assert await run == 8
        with pytest.raises(RuntimeError, match="over"):
            await run
        with pytest.raises(RuntimeError, match="over"):
            run.throw(ValueError)
        run.close()
        with pytest.raises(ValueError, match="thrown"):
            session.do_in_transaction(add).throw(ValueError("thrown"))


async def test_a_cancelled_one_takes_its_writes_back(consistent, keys):
    async with aerolane.Client(consistent.seeds) as client:
        session = client.create_session()
        reached = asyncio.Event()

        async def wait(tx):
            await put(tx, keys[0], 1)
            reached.set()
            await asyncio.sleep(1000)

        task = asyncio.create_task(session.do_in_transaction(wait))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await put(session, keys[0], 2)
        # One that waits for another attempt.
        other = Txn()
        await session.upsert(keys[1]).put({"n": 0}).with_txn(other).execute()
        task = asyncio.create_task(
            session.do_in_transaction(lambda tx: put(tx, keys[1], 1), sleep_between_retries=1000)
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.native.abort(other)


async def test_a_dropped_one_takes_its_writes_back(consistent, keys):
    async with aerolane.Client(consistent.seeds) as client:
        session = client.create_session()

        async def wait(tx):
            await put(tx, keys[0], 1)
            await asyncio.Event().wait()

        loop = asyncio.get_running_loop()
        run = session.do_in_transaction(wait)
        iterator = run.__await__()
        waits = iterator.send(None)
        while not waits.done():
            waits._asyncio_future_blocking = False
            await asyncio.sleep(0)
        iterator.send(None)
        assert loop.is_running()
        run.close()
        del run, iterator
        for _ in range(1000):
            try:
                await put(session, keys[0], 2)
                break
            except TransactionError:
                await asyncio.sleep(0.01)
        assert (await session.query(keys[0]).first()).record.bins == {"n": 2}


# After the end.


CALLS = {
    "get": lambda tx, keys: tx.get(keys[0]),
    "put": lambda tx, keys: tx.put(keys[0], {"n": 3}),
    "get_many": lambda tx, keys: tx.get_many(keys),
    "put_many": lambda tx, keys: tx.put_many(keys, {"n": 3}),
    "query": lambda tx, keys: tx.query(keys[0]),
    "query of several": lambda tx, keys: tx.query(keys),
    "query of a data set": lambda tx, keys: tx.query(aerolane.DataSet("test", "any")),
    "query by names": lambda tx, keys: tx.query("test", "any"),
    "upsert": lambda tx, keys: tx.upsert(keys[0]),
    "update of several": lambda tx, keys: tx.update(*keys),
    "insert of rows": lambda tx, keys: tx.insert(aerolane.DataSet("test", "any")),
    "execute_udf": lambda tx, keys: tx.execute_udf(keys[0]),
    "do_in_transaction": lambda tx, keys: tx.do_in_transaction(print),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_no_call_comes_after_the_end(either, session, keys, end, name):
    tx = session.transaction()
    either.run(put(tx, keys[0], 1))
    either.run(getattr(tx, end)())
    assert (tx.current_transaction, tx.txn.state.name) == (None, "COMMITTED" if end == "commit" else "ABORTED")
    with pytest.raises(TransactionError, match=f"already {end}.*start a new transaction") as raised:
        either.run(CALLS[name](tx, keys))
    assert raised.value.result_code.name == ("TXN_ALREADY_COMMITTED" if end == "commit" else "TXN_ALREADY_ABORTED")
    with pytest.raises(TransactionError, match="already"):
        either.run(tx.abort() if end == "commit" else tx.commit())
    assert either.run(getattr(tx, end)()).name == ("ALREADY_COMMITTED" if end == "commit" else "ALREADY_ABORTED")


def enter(tx):
    return tx.__enter__() if hasattr(tx, "__enter__") else tx.__aenter__()


def leave(tx, *exception):
    return tx.__exit__(*exception) if hasattr(tx, "__exit__") else tx.__aexit__(*exception)


def test_a_block_is_entered_once(either, session, keys):
    tx = session.transaction()
    assert either.run(enter(tx)) is tx
    with pytest.raises(RuntimeError, match="entered already"):
        either.run(enter(tx))
    either.run(put(tx, keys[0], 1))
    either.run(leave(tx, None, None, None))
    assert value_of(either, keys[0]) == 1
    with pytest.raises(TransactionError, match="already committed"):
        either.run(enter(tx))


def test_many_calls_belong_to_the_transaction(either, session, keys):
    tx = session.transaction()
    assert either.run(tx.put_many(keys[:3], {"n": 1})) == [None] * 3
    assert either.run(session.get_many(keys[:1]))[0].result_code == ResultCode.KEY_NOT_FOUND_ERROR
    found = either.run(tx.get_many(keys, ["n"]))
    assert [record.bins for record in found[:3]] == [{"n": 1}] * 3
    assert found[3].result_code == ResultCode.KEY_NOT_FOUND_ERROR
    if either.kind == "async":

        async def coming():
            for key in keys[:3]:
                yield key

        assert either.run(tx.put_many(coming(), {"m": 2})) == [None] * 3
        assert [record.bins for record in either.run(tx.get_many(coming(), ["m"]))] == [{"m": 2}] * 3
        assert either.run(session.get_many(coming()))[0].result_code == ResultCode.KEY_NOT_FOUND_ERROR
    either.run(tx.commit())
    assert [record.bins["n"] for record in either.run(session.get_many(keys[:3]))] == [1] * 3


@pytest.mark.parametrize("raises", [False, True])
def test_the_end_of_a_block_after_a_commit_in_doubt(keys, raises):
    with EmbeddedCluster(nodes=1, strong_consistency=True) as cluster:
        one = Either("sync", cluster.seeds)
        once = aerolane.Behavior.DEFAULT.derive_with_changes(
            f"txn-in-doubt-{raises}", system_txn_roll=Settings(max_retries=0)
        )
        tx = one.session.session_for(once).transaction().__enter__()
        put(tx, keys[0], 1)
        with cluster.inject("drop-after", on="write", times=1), pytest.raises(CommitError) as raised:
            tx.commit()
        assert raised.value.in_doubt and tx.active
        if raises:
            # Nothing can be taken back, and the error that leaves the block is what its caller gets.
            assert tx.__exit__(CommitError, raised.value, None) is False
            assert tx.txn.state.name == "COMMIT_FAILED"
            assert tx.commit().name == "ALREADY_COMMITTED"
        else:
            tx.__exit__(None, None, None)
        assert not tx.active
        assert value_of(one, keys[0]) == 1
        one.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_batch_that_its_transaction_does_not_take_raises(kind, keys):
    with EmbeddedCluster(nodes=1, strong_consistency=True) as cluster:
        one = Either(kind, cluster.seeds)
        tx = one.session.transaction()
        one.run(put(tx, keys[0], 1))
        cluster.advance_clock(3600)
        for on_error in ((), (ErrorStrategy.IN_STREAM,)):
            with pytest.raises(TransactionError) as raised:
                one.run(tx.upsert(keys[1:3]).put({"n": 1}).execute(*on_error))
            assert raised.value.result_code == ResultCode.MRT_EXPIRED
        one.run(tx.abort())
        one.close()


# cluster.transaction().


async def test_transactions_of_a_cluster(consistent, keys):
    host, port = consistent.seeds.split(":")
    behavior = aerolane.Behavior.DEFAULT.derive_with_changes("flow-cluster-transaction")
    async with aerolane.ClusterDefinition(host, int(port)).connect() as cluster:
        async with cluster.transaction() as tx:
            assert type(tx) is aerolane.TransactionalSession
            assert tx.behavior is aerolane.Behavior.DEFAULT
            await put(tx, keys[0], 1)
        assert not tx.active
        assert cluster.transaction(behavior).behavior is behavior
    from aerolane import sync

    with sync.ClusterDefinition(host, int(port)).connect() as cluster:
        with pytest.raises(KeyError), cluster.transaction(behavior) as tx:
            put(tx, keys[0], 2)
            raise KeyError
        assert cluster.create_session().get(keys[0]).bins == {"n": 1}
        assert tx.behavior is behavior
        assert type(tx) is sync.TransactionalSession
    with pytest.raises(AerospikeError, match="closed"):
        cluster.transaction()


# Batches that write several records.


class Traffic:
    """Whether a batch was a transaction: a node that refuses the commit shows it."""

    def __init__(self, cluster, either):
        self.cluster, self.either = cluster, either

    def is_transaction(self, builder):
        """The write that opens the monitor comes first. Without it the batch as a whole fails, and not a row of it."""
        refused = int(ResultCode.FAIL_FORBIDDEN)
        with self.cluster.inject("result", refused, on="write", times=1):
            try:
                self.either.results(builder, on_error=ErrorStrategy.IN_STREAM)
            except AerospikeError as error:
                assert error.result_code is ResultCode.FAIL_FORBIDDEN
                return True
        return False


@pytest.fixture
def traffic(consistent, either):
    yield Traffic(consistent, either)
    consistent.clear_faults()


def test_a_batch_of_writes_is_a_transaction(either, session, keys, traffic):
    dataset = aerolane.DataSet.of("test", keys[0].set_name)
    for builder in (
        session.upsert(keys).put({"n": 1}),
        session.upsert(keys[0]).put({"n": 1}).delete(keys[1]),
        session.query(keys[0]).upsert(keys[1]).put({"n": 1}),
        session.touch(keys),
        session.upsert(dataset).bins("n").row("a", 1).row("b", 2),
        session.execute_udf(*keys).function("module", "function"),
        session.upsert(keys[:2]).put({"n": 1}).upsert(keys[:2]).put({"n": 2}),
    ):
        assert traffic.is_transaction(builder), builder
    for builder in (
        session.query(keys),
        session.exists(keys),
        session.upsert(keys[:1]).put({"n": 1}),
        session.upsert(keys[0]).put({"n": 1}).upsert(keys[0]).put({"n": 2}),
        session.upsert(keys).put({"n": 1}).with_txn(None),
    ):
        assert not traffic.is_transaction(builder), builder


def test_all_of_it_or_nothing(either, session, keys, consistent):
    assert rows(either, session.upsert(keys).put({"n": 1})) == [(n, ResultCode.OK) for n in range(4)]
    chain = session.upsert(keys[:2]).put({"n": 2}).upsert(keys[:2]).put({"n": 3}).upsert(keys[2]).put({"n": 3})
    assert [code for _, code in rows(either, chain)] == [ResultCode.OK] * 5
    assert [value_of(either, key) for key in keys] == [3, 3, 3, 1]
    # The second batch gets no answer: what the first one has written is taken back.
    with consistent.inject("drop-after", on="batch", skip=1, times=1), pytest.raises(AerospikeError):
        either.results(session.upsert(keys[:2]).put({"n": 4}).upsert(keys[:2]).put({"n": 5}))
    eventually(lambda: not is_locked(either, keys[0]))
    assert [value_of(either, key) for key in keys] == [3, 3, 3, 1]
    # A commit that was refused is tried again, with all that came before it.
    with consistent.inject("result", int(ResultCode.FAIL_FORBIDDEN), on="write", skip=1, times=1):
        assert [code for _, code in rows(either, session.upsert(keys).put({"n": 6}))] == [ResultCode.OK] * 4
    assert [value_of(either, key) for key in keys] == [6] * 4


def is_locked(either, key):
    try:
        either.run(either.session.touch(key).execute())
    except TransactionError:
        return True
    return False


def test_rows_that_are_refused(either, session, keys):
    """They are no failure of the batch: the others are written."""
    either.run(put(session, keys[0], 0))
    codes = [code for _, code in rows(either, session.insert(keys).put({"n": 1}))]
    assert codes == [ResultCode.KEY_EXISTS_ERROR] + [ResultCode.OK] * 3
    assert [value_of(either, key) for key in keys] == [0, 1, 1, 1]
    other = locked(either, keys[0])
    blocked = [ResultCode.MRT_BLOCKED] + [ResultCode.OK] * 3
    for how in ({}, {"on_error": ErrorStrategy.IN_STREAM}):
        assert [code for _, code in rows(either, session.upsert(keys).put({"n": 2}), **how)] == blocked
    heard = []
    left = rows(either, session.upsert(keys).put({"n": 3}), on_error=lambda *args: heard.append(args))
    assert [index for index, _ in left] == [1, 2, 3]
    ((key, index, error),) = heard
    assert (key, index) == (keys[0], 0) and isinstance(error, TransactionError)
    either.client.native.abort_blocking(other)
    assert [value_of(either, key) for key in keys] == [0, 3, 3, 3]


def test_a_batch_that_meets_another_transaction_is_tried_again(either, session, keys, consistent):
    blocked = int(ResultCode.MRT_BLOCKED)
    with consistent.inject("result", blocked, on="write", times=3):
        # What opens the monitor is refused three times.
        codes = [code for _, code in rows(either, session.upsert(keys).put({"n": 1}))]
    assert codes == [ResultCode.OK] * 4
    begun = time.monotonic()
    with consistent.inject("result", blocked, on="write"), pytest.raises(TransactionError) as raised:
        either.results(session.upsert(keys).put({"n": 2}))
    assert raised.value.result_code is ResultCode.MRT_BLOCKED
    assert time.monotonic() - begun >= 9 * 0.01
    assert [value_of(either, key) for key in keys] == [1] * 4
    # What is no conflict is not repeated.
    with (
        consistent.inject("result", int(ResultCode.FAIL_FORBIDDEN), on="write", times=1),
        pytest.raises(AerospikeError),
    ):
        either.results(session.upsert(keys).put({"n": 2}))


def test_batches_of_a_transaction_stay_in_it(either, session, keys, calling):
    def write(tx):
        return tx.upsert(keys).put({"n": tx.txn.id}).execute()

    either.run(session.do_in_transaction(calling(write)))
    assert len({value_of(either, key) for key in keys}) == 1


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_where_there_are_no_transactions(new_cluster, kind):
    """Namespaces that are available in partitions, batches about several namespaces."""
    cluster = new_cluster(nodes=1, namespace=["a", "b"])
    one = Either(kind, cluster.seeds)
    keys = [aerolane.Key(namespace, "s", number) for namespace in "ab" for number in range(2)]
    assert [code for _, code in rows(one, one.session.upsert(keys).put({"n": 1}))] == [ResultCode.OK] * 4
    one.close()
    cluster = new_cluster(nodes=1, namespace=["a", "b"], strong_consistency=True)
    one = Either(kind, cluster.seeds)
    assert [code for _, code in rows(one, one.session.upsert(keys).put({"n": 1}))] == [ResultCode.OK] * 4
    with cluster.inject("result", int(ResultCode.FAIL_FORBIDDEN), on="write", times=1):
        codes = [code for _, code in rows(one, one.session.upsert(keys).put({"n": 1}))]
    assert codes.count(ResultCode.OK) <= 4
    one.close()


async def test_a_cancelled_batch_is_taken_back(consistent, keys):
    async with aerolane.Client(consistent.seeds) as client:
        session = client.create_session()
        with consistent.inject("answer-delay", 0.5, on="write"), pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await session.upsert(keys).put({"n": 1}).execute()
        for _ in range(1000):
            results = await (await session.touch(keys).execute()).collect()
            if all(row.result_code is not ResultCode.MRT_BLOCKED for row in results):
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError("the records are locked")
