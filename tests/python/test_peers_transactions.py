"""Transactions of sessions beside aerospike-sdk: how they end, conflict, are repeated, and what is refused then."""

import asyncio
import importlib
from datetime import timedelta

import pytest
from conftest import eventually
from sdk_sides import Raised, compare, differ, plain, sides

import aerolane
import aerolane.sync

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")
import aerospike_sdk.sync  # noqa: E402

MODULE = "function write(rec, v) rec.u = v aerospike:update(rec) return v end\n"


@pytest.fixture(scope="module")
def both():
    with sides(strong_consistency=True) as both:
        for side in both:
            side.session.register_udf(MODULE, "txn_sides.lua").wait_till_complete_blocking(0.01, 60)
        yield both


@pytest.fixture(autouse=True)
def own_records(both, request):
    """Records of their own for each test: transactions lock them."""
    for side in both:
        side.dataset = side.package.DataSet.of("test", f"{abs(hash(request.node.name))}_{side.package.__name__}")
        side.key = side.dataset.id("one")


def attempt(call):
    """What a call gives; of an error, the names of what a program looks at."""
    try:
        return plain(call())
    except Exception as error:
        return told(error)


def told(error):
    """Of an error: the kinds that programs catch, its code, and whether it is in doubt."""
    kinds = [kind for kind in ("CommitError", "TransactionError", "AerospikeError") if kind in names(error)]
    code = getattr(getattr(error, "result_code", None), "name", None)
    return kinds or [type(error).__name__], code, getattr(error, "in_doubt", False)


def names(error):
    return {kind.__name__ for kind in type(error).__mro__}


def ended(side, how):
    """A session of a transaction that has written a record, and has ended."""
    tx = side.session.transaction()
    tx.__enter__()
    tx.put(side.key, {"i": 2})
    if how.startswith("left"):
        failed = ZeroDivisionError if how == "left by an error" else None
        tx.__exit__(failed, failed and failed(), None)
    else:
        getattr(tx, how)()
    return tx


AFTER = {
    "active": lambda t, s: t.active,
    "current_transaction": lambda t, s: t.current_transaction,
    "get": lambda t, s: t.get(s.key),
    "put": lambda t, s: t.put(s.key, {"i": 3}),
    "query": lambda t, s: t.query(s.key) and None,
    "query of several": lambda t, s: t.query([s.key, s.dataset.id(1)]) and None,
    "query of a data set": lambda t, s: t.query(s.dataset) and None,
    "upsert": lambda t, s: t.upsert(s.key) and None,
    "upsert of several": lambda t, s: t.upsert(s.key, s.dataset.id(1)) and None,
    "rows": lambda t, s: t.upsert(s.dataset) and None,
    "delete": lambda t, s: t.delete(s.key) and None,
    "touch": lambda t, s: t.touch(s.key) and None,
    "exists": lambda t, s: t.exists(s.key) and None,
    "execute_udf": lambda t, s: t.execute_udf(s.key) and None,
    "commit": lambda t, s: t.commit().name,
    "abort": lambda t, s: t.abort().name,
    "another one": lambda t, s: t.transaction().__enter__().active,
    "a session of its own": lambda t, s: t.session_for(s.package.Behavior.DEFAULT).get(s.key).bins["i"],
}


@pytest.mark.parametrize("what", AFTER)
@pytest.mark.parametrize("how", ["commit", "abort", "left", "left by an error"])
def test_after_the_end(both, how, what):
    def program(side):
        tx = ended(side, how)
        return attempt(lambda: AFTER[what](tx, side))

    compare(both, program)


@pytest.mark.parametrize("how", ["commit", "abort"])
def test_the_texts_of_refusals(both, how):
    """Aerolane's begins with the other's."""
    for call in (lambda t, s: t.get(s.key), lambda t, s: t.upsert(s.key), lambda t, s: (t.commit(), t.abort())):
        texts = []
        for side in both:
            side.fresh()
            with pytest.raises(side.package.TransactionError) as raised:
                call(ended(side, how), side)
            texts.append(str(raised.value))
        assert texts[1].startswith(texts[0])


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_builder_that_is_executed_after_the_end(both, end):
    def program(side):
        side.fresh()
        tx = side.session.transaction().__enter__()
        builders = [tx.upsert(side.key).put({"i": 9}), tx.query(side.key), tx.upsert(side.key, side.dataset.id(1))]
        getattr(tx, end)()
        builders[2].put({"i": 9})
        return [attempt(lambda b=b: [row.result_code.name for row in b.execute()]) for b in builders]

    theirs, ours = (program(side) for side in both)
    assert theirs[:2] == ours[:2] == [(["AerospikeError"], "CLIENT_ERROR", False)] * 2
    for side in both:
        assert "z" not in side.session.get(side.key).bins


@pytest.mark.parametrize("how", ["commit", "abort", "left", "left by an error"])
def test_what_is_seen_and_what_is_left(both, how):
    def program(side):
        tx, other = side.session.transaction().__enter__(), side.dataset.id("other")
        tx.upsert(side.key).put({"i": 2}).execute()
        tx.upsert(side.key).bin("l").list_append(9).execute()
        tx.insert(other).put({"n": 1}).execute()
        tx.delete(side.dataset.id("none")).execute()
        within = [dict(tx.get(side.key, ["i", "l"]).bins), tx.exists(other).execute().first().as_bool()]
        outside = [dict(side.session.get(side.key, ["i", "l"]).bins), attempt(lambda: side.session.get(other))]
        if how.startswith("left"):
            failed = ZeroDivisionError if how == "left by an error" else None
            tx.__exit__(failed, failed and failed(), None)
        else:
            assert getattr(tx, how)().name == ("COMMITTED" if how == "commit" else "ABORTED")
        left = attempt(lambda: side.session.get(other).bins)
        side.session.delete(other).with_durable_delete().execute()
        return within, outside, left

    compare(both, program)


def test_a_batch_of_a_transaction(both):
    def program(side):
        keys = [side.key, side.dataset.id(1), side.dataset.id(2)]
        with side.session.transaction() as tx:
            rows = tx.upsert(keys).put({"n": 1}).execute().collect()
            chain = tx.query(keys).bins("n").upsert(keys[0]).put({"n": 2}).delete(keys[2]).execute().collect()
            table = tx.upsert(side.dataset).bins("n").row(1, 7).row(2, 8).execute().collect()
            seen = [attempt(lambda k=k: side.session.get(k, ["n"]).bins) for k in keys]
        left = [attempt(lambda k=k: side.session.get(k, ["n"]).bins) for k in keys]
        side.session.delete(keys[1:]).with_durable_delete().execute()
        return rows, chain, table, seen, left

    compare(both, program)


ASIDE = {
    "without the transaction": lambda t, s: t.upsert(s.dataset.id("other")).put({"n": 1}).with_txn(None).execute(),
    "a chain without it": lambda t, s: (
        t.upsert(s.dataset.id("other")).put({"n": 1}).upsert(s.dataset.id(7)).put({"n": 2}).with_txn(None).execute()
    ),
    "rows without it": lambda t, s: t.upsert(s.dataset).bins("n").with_txn(None).row("other", 1).execute(),
    "another session": lambda t, s: t.session_for(s.package.Behavior.READ_FAST).put(s.dataset.id("other"), {"n": 1}),
    "a query of the set": lambda t, s: [dict(row.record.bins)["i"] for row in t.query(s.dataset).execute()],
    "a transaction inside": lambda t, s: inside(t, s),
}


def inside(tx, side):
    with tx.transaction() as inner:
        inner.put(side.dataset.id("other"), {"n": 1})
    return inner.active, tx.active


@pytest.mark.parametrize("name", ASIDE)
def test_what_does_not_belong_to_the_transaction(both, name):
    def program(side):
        tx = side.session.transaction().__enter__()
        tx.put(side.key, {"i": 2})
        given = plain(ASIDE[name](tx, side))
        tx.abort()
        return given if isinstance(given, list) else None, attempt(lambda: side.session.get(side.dataset.id("other")))

    compare(both, program)


@pytest.mark.parametrize("what", ["put", "get", "commit", "abort", "leave", "leave by an error", "batch"])
def test_a_transaction_that_took_too_long(both, what):
    def program(side):
        tx = side.session.transaction().__enter__()
        tx.put(side.key, {"i": 2})
        side.embedded.advance_clock(3600)
        eventually(lambda: is_free(side), lambda: "the server has not taken it back")
        call = {
            "put": lambda: tx.put(side.key, {"i": 4}),
            "get": lambda: tx.get(side.key).bins["i"],
            "commit": lambda: tx.commit().name,
            "abort": lambda: tx.abort().name,
            "leave": lambda: (tx.__exit__(None, None, None), None)[1],
            "leave by an error": lambda: (tx.__exit__(ZeroDivisionError, ZeroDivisionError(), None), None)[1],
            "batch": lambda: tx.upsert([side.key, side.dataset.id(1)]).put({"i": 4}).execute().collect(),
        }[what]
        return attempt(call), tx.active, attempt(lambda: tx.abort().name), tx.active

    compare(both, program)


def is_free(side):
    try:
        side.session.put(side.key, {"i": 3})
    except side.package.TransactionError:
        return False
    return True


def blocked(side, call):
    """What a call meets while another transaction has written the record."""
    with side.session.transaction() as other:
        other.put(side.key, {"i": 1})
        return attempt(lambda: call(side))


def within(write):
    def call(side):
        with side.session.transaction() as tx:
            write(tx, side)

    return call


BLOCKED = {
    "a write": lambda s: s.session.put(s.key, {"i": 2}),
    "a builder": lambda s: s.session.upsert(s.key).put({"i": 2}).execute(),
    "a builder that tells": lambda s: s.session.upsert(s.key).put({"i": 2}).execute(s.package.ErrorStrategy.IN_STREAM),
    "a delete": lambda s: s.session.delete(s.key).execute(),
    "a read": lambda s: s.session.get(s.key).bins["i"],
    "a write of a transaction": within(lambda t, s: t.put(s.key, {"i": 2})),
    "a read of a transaction": within(lambda t, s: t.get(s.key)),
    "a batch of a transaction": within(lambda t, s: t.upsert([s.key, s.dataset.id(1)]).put({"i": 2}).execute()),
    "a function": lambda s: s.session.execute_udf(s.key).function("txn_sides", "write").passing(4).execute(),
    "a function of a transaction": within(
        lambda t, s: t.execute_udf(s.key).function("txn_sides", "write").passing(4).execute()
    ),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_what_another_transaction_blocks(both, name):
    def program(side):
        found = blocked(side, BLOCKED[name])
        if not isinstance(found, tuple):
            # A stream: what it gives.
            found = str(found)
        return found

    compare(both, program)


def conflicting(side):
    """A transaction whose read record is written by somebody else before it commits; and its error."""
    other = side.dataset.id("other")
    tx = side.session.transaction().__enter__()
    tx.get(side.key)
    tx.put(other, {"n": 1})
    side.session.put(side.key, {"i": 100})
    with pytest.raises(side.package.exceptions.CommitError) as raised:
        tx.commit()
    return tx, raised.value


@pytest.mark.parametrize(
    "what", ["error", "type", "records", "after", "active", "abort", "commit", "another commit", "written"]
)
def test_a_commit_that_finds_a_record_changed(both, what):
    def program(side):
        tx, error = conflicting(side)
        other = side.dataset.id("other")
        given = {
            "error": lambda: told(error),
            "type": lambda: str(error.commit_error_type).rpartition(".")[2],
            "records": lambda: (len(error.verify_records), len(error.roll_records)),
            "after": lambda: attempt(lambda: tx.get(side.key)),
            "active": lambda: tx.active,
            "abort": lambda: attempt(lambda: tx.abort().name),
            "commit": lambda: attempt(lambda: tx.commit().name),
            "another commit": lambda: attempt(lambda: (tx.__exit__(None, None, None), None)[1]),
            "written": lambda: attempt(lambda: side.session.get(other)),
        }[what]()
        side.session.put(other, {"n": 2})  # It is free again.
        side.session.delete(other).with_durable_delete().execute()
        return given

    compare(both, program)


def test_the_text_of_a_failed_commit(both):
    texts = []
    for side in both:
        side.fresh()
        _, error = conflicting(side)
        texts.append(error.base_message)
        assert str(error).startswith(("Transaction verify failed", texts[-1]))
    assert texts[0] == texts[1]


def test_the_block_raises_the_failed_commit(both):
    def program(side):
        with side.session.transaction() as tx:
            tx.get(side.key)
            side.session.put(side.key, {"i": 100})
            tx.put(side.dataset.id("other"), {"n": 1})

    compare(both, program)


# do_in_transaction.


def tried(side, operation, **settings):
    """How often an operation is called, and what comes of it."""
    calls = []

    def counted(tx):
        calls.append(tx)
        return operation(tx, len(calls))

    given = attempt(lambda: side.session.do_in_transaction(counted, **settings))
    return given, len(calls), len({id(tx) for tx in calls}), [tx.active for tx in calls]


def failing(kind, name=None, times=99, **fields):
    """An operation that writes, and raises for some calls."""

    def operation(tx, call, side):
        tx.put(side.key, {"i": call})
        if call <= times:
            given = dict(fields)
            if name:
                given["result_code"] = getattr(side.package.ResultCode, name)
            raise getattr(side.package.exceptions, kind)("made up", **given)
        return call

    return operation


OPERATIONS = {
    "a value": lambda t, n, s: (t.put(s.key, {"i": n}), 5)[1],
    "nothing": lambda t, n, s: t.put(s.key, {"i": n}),
    "a Python error": lambda t, n, s: (t.put(s.key, {"i": n}), 1 // 0),
    "a missing record": lambda t, n, s: t.get(s.dataset.id("missing")),
    "blocked for ever": failing("TransactionError", "MRT_BLOCKED"),
    "blocked twice": failing("TransactionError", "MRT_BLOCKED", 2),
    "changed for ever": failing("TransactionError", "MRT_VERSION_MISMATCH"),
    "changed twice": failing("TransactionError", "MRT_VERSION_MISMATCH", 2),
    "blocked, of another class": failing("AerospikeError", "MRT_BLOCKED", 2),
    "expired": failing("TransactionError", "MRT_EXPIRED"),
    "busy": failing("KeyBusyError", "KEY_BUSY"),
    "a timeout": failing("TimeoutError", "TIMEOUT"),
    "without a code": failing("AerospikeError"),
    "a failed commit": failing("CommitError", times=2),
    "a failed commit in doubt": failing("CommitError", times=2, in_doubt=True),
    "committed by itself": lambda t, n, s: (t.put(s.key, {"i": 7}), t.commit().name)[1],
    "aborted by itself": lambda t, n, s: (t.put(s.key, {"i": 7}), t.abort().name)[1],
    "ended, then used": lambda t, n, s: (t.commit(), t.put(s.key, {"i": 8})),
    "joined": lambda t, n, s: t.do_in_transaction(lambda inner: inner is t and inner.put(s.key, {"i": 9})),
    "joined, and it fails": lambda t, n, s: t.do_in_transaction(lambda inner: failing("QueryError")(inner, n, s)),
    "joined, and it is blocked": lambda t, n, s: t.do_in_transaction(
        lambda inner: failing("TransactionError", "MRT_BLOCKED", 2)(inner, n, s), max_attempts=9
    ),
}


@pytest.mark.parametrize("attempts", [None, 1, 2, 3])
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_repeated(both, name, attempts):
    def program(side):
        return tried(side, lambda tx, n: OPERATIONS[name](tx, n, side), max_attempts=attempts, sleep_between_retries=0)

    compare(both, program)


@pytest.mark.parametrize("times", [1, 3, 99])
def test_commits_that_find_a_record_changed_are_repeated(both, times):
    def program(side):
        def operation(tx, n):
            before = tx.get(side.key).bins["i"]
            if n <= times:
                side.session.put(side.key, {"i": 100 * n})
            tx.put(side.dataset.id("other"), {"n": before})
            return before

        found = tried(side, operation, max_attempts=5, sleep_between_retries=timedelta(0))
        other = attempt(lambda: side.session.get(side.dataset.id("other")).bins)
        side.session.delete(side.dataset.id("other")).with_durable_delete().execute()
        return found, other

    compare(both, program)


@pytest.mark.parametrize("given", [{}, {"max_attempts": 2}])
@pytest.mark.parametrize("of_cluster", [{}, {"number_of_attempts": 3}, {"number_of_attempts": 1}])
def test_settings_of_the_cluster(both, of_cluster, given):
    found = []
    for side, module in zip(both, (aerospike_sdk.sync, aerolane.sync), strict=True):
        policy = importlib.import_module(f"{side.package.__name__}.policy")
        pause = timedelta(milliseconds=1)
        transactions = policy.TransactionSettings(sleep_between_attempts=pause, **of_cluster)
        definition = module.ClusterDefinition(*side.address)
        settings = policy.SystemSettings(transactions=transactions)
        with definition.with_system_settings(settings).connect() as cluster:
            calls = []

            def operation(tx, calls=calls, side=side):
                calls.append(tx)
                raise side.package.TransactionError("made up", result_code=side.package.ResultCode.MRT_BLOCKED)

            with pytest.raises(side.package.TransactionError):
                cluster.create_session().do_in_transaction(operation, **given)
            found.append(len(calls))
    assert found[0] == found[1] == given.get("max_attempts", of_cluster.get("number_of_attempts", 10))


@pytest.mark.parametrize(
    "settings", [{"max_attempts": 0}, {"max_attempts": -3}, {"sleep_between_retries": "x"}], ids=str
)
def test_settings_that_cannot_be(both, settings):
    for side in both:
        with pytest.raises((ValueError, TypeError)):
            side.session.do_in_transaction(lambda tx: None, **settings)


# Batches that write several records are a transaction of their own.


def pair(side):
    return [side.key, side.dataset.id("other")]


IMPLICIT = {
    "upsert": lambda s, p: s.upsert(p).put({"i": 3}),
    "insert, one is there": lambda s, p: s.insert(p).put({"i": 3}),
    "update, one is missing": lambda s, p: s.update(p).put({"i": 3}),
    "delete": lambda s, p: s.delete(p),
    "touch": lambda s, p: s.touch(p),
    "chain": lambda s, p: s.upsert(p[0]).put({"i": 3}).upsert(p[1]).put({"i": 4}),
    "chain of reads and writes": lambda s, p: s.query(p[0]).bins("i").upsert(p[1]).put({"i": 4}),
    "steps": lambda s, p: s.upsert(p).bin("i").add(1).bin("i").get(),
    "a step that fails": lambda s, p: s.upsert(p).bin("s").append("x").bin("l").list_append(1),
    "filter": lambda s, p: s.upsert(p).put({"i": 3}).where("$.i == 5"),
    "generation": lambda s, p: s.update(p).put({"i": 3}).ensure_generation_is(77),
    "outside": lambda s, p: s.upsert(p).put({"i": 3}).with_txn(None),
    "expiration": lambda s, p: s.upsert(p).put({"i": 3}).never_expire(),
    "function": lambda s, p: s.execute_udf(*p).function("txn_sides", "write").passing(4),
    "reads": lambda s, p: s.query(p),
}


@pytest.mark.parametrize("how", ["raise", "tell", "ask"])
@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("name", IMPLICIT)
def test_batches(both, name, is_blocked, how):
    def program(side):
        heard, keys = [], pair(side)
        on_error = {
            "raise": (),
            "tell": (side.package.ErrorStrategy.IN_STREAM,),
            "ask": (lambda key, index, error: heard.append((key.value, index, error.result_code.name)),),
        }[how]

        def call():
            rows = IMPLICIT[name](side.session, keys).execute(*on_error)
            return [(row.key.value, row.result_code.name, row.is_ok, row.in_doubt) for row in rows]

        given = blocked(side, lambda _: call()) if is_blocked else attempt(call)
        left = [attempt(lambda k=k: side.session.get(k, ["i", "s", "u"]).bins) for k in keys]
        free = attempt(lambda: side.session.put(keys[1], {"n": 0}))
        side.session.delete(keys[1]).with_durable_delete().execute()
        return given, sorted(heard), left, free

    compare(both, program)


# For asyncio.


async def of_a_side(side, program):
    host, port = side.address
    async with side.package.ClusterDefinition(host, port).connect() as cluster:
        return await program(side, cluster.create_session())


def asynchronous(both, program):
    found = []
    for side in both:
        side.fresh()
        try:
            given = plain(asyncio.run(of_a_side(side, program)))
        except Exception as error:
            given = Raised(error)
        found.append((given, plain(side.session.get(side.key))))
    theirs, ours = found
    assert theirs == ours


async def awaited(call):
    try:
        return plain(await call)
    except Exception as error:
        return told(error)


async def blocks(side, session):
    async with session.transaction() as tx:
        await tx.upsert(side.key).put({"i": 2}).execute()
        many = await tx.get_many([side.key, side.dataset.id("missing")], ["i"])
        written = await tx.put_many([side.key], {"z": 1})
        outside = (await session.get(side.key)).bins["i"]
        found = [many[0].bins["i"], many[1].result_code.name, written, outside, tx.active]
    calls = [
        *(tx.get(side.key), tx.put(side.key, {"i": 1}), tx.get_many([side.key]), tx.put_many([side.key], {"i": 1})),
        *(tx.abort(), tx.commit()),
    ]
    return found, [await awaited(call) for call in calls], tx.active


async def left_by_an_error(side, session):
    with pytest.raises(ZeroDivisionError):
        async with session.transaction() as tx:
            await tx.put(side.key, {"i": 2})
            raise ZeroDivisionError
    return await awaited(tx.commit()), await awaited(tx.abort())


async def left_by_cancelling(side, session):
    entered = asyncio.Event()

    async def task():
        async with session.transaction() as tx:
            await tx.put(side.key, {"i": 2})
            entered.set()
            await asyncio.sleep(60)

    running = asyncio.create_task(task())
    await entered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    return await awaited(session.put(side.key, {"i": 3}))


def repeated(*failures, **settings):
    async def program(side, session):
        calls = []

        async def operation(tx):
            calls.append(tx)
            await tx.put(side.key, {"i": len(calls)})
            if len(calls) <= len(failures):
                name = failures[len(calls) - 1]
                raise side.package.TransactionError("made up", result_code=getattr(side.package.ResultCode, name))
            return len(calls)

        given = await awaited(session.do_in_transaction(operation, sleep_between_retries=0, **settings))
        return given, len(calls), [tx.active for tx in calls]

    return program


async def joined(side, session):
    async def inner(tx):
        await tx.put(side.key, {"i": 6})
        return tx

    async def outer(tx):
        return await tx.do_in_transaction(inner) is tx

    return await session.do_in_transaction(outer)


async def implicit(side, session):
    keys = pair(side)
    async with session.transaction() as tx:
        await tx.put(side.key, {"i": 1})
        rows = await (await session.upsert(keys).put({"i": 3}).execute()).collect()
    free = await awaited(session.put(keys[1], {"n": 0}))
    await session.delete(keys[1]).with_durable_delete().execute()
    return rows, free


PROGRAMS = {
    "blocks": blocks,
    "left by an error": left_by_an_error,
    "left by cancelling": left_by_cancelling,
    "repeated": repeated("MRT_BLOCKED", "MRT_VERSION_MISMATCH"),
    "repeated too often": repeated(*["MRT_BLOCKED"] * 9, max_attempts=3),
    "not repeated": repeated("MRT_EXPIRED"),
    "joined": joined,
    "implicit": implicit,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(both, name):
    asynchronous(both, PROGRAMS[name])


# What differs on purpose, each in docs/differences.md.


def entered(session):
    return session.transaction().__enter__()


def function_within(side):
    with side.session.transaction() as tx:
        tx.put(side.key, {"i": 2})
        return tx.execute_udf(side.key).function("txn_sides", "write").passing(4).execute().first_udf_result()


def wrote_before(side):
    tx = side.session.transaction()
    tx.put(side.key, {"i": 77})
    seen = side.session.get(side.key).bins["i"]
    if aerolane.__name__ == side.package.__name__:
        tx.abort()
    return seen


DIFFERENT = {
    "before its block": lambda s: s.session.transaction().active,
    "its transaction, before": lambda s: s.session.transaction().txn and None,
    "its transaction, after": lambda s: ended(s, "commit").txn.state.name,
    "a write before its block": wrote_before,
    "entered again": lambda s: ended(s, "commit").__enter__() and None,
    "a function": function_within,
    "joined after the end": lambda s: ended(s, "commit").do_in_transaction(lambda tx: 5),
    "joined with settings": lambda s: entered(s.session).do_in_transaction(lambda tx: 5, max_attempts=0),
}


RAISES_THERE = {"its transaction, before", "its transaction, after", "a function", "joined after the end"}
RAISES_HERE = {"entered again", "joined after the end", "joined with settings"}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs(both, name):
    theirs, ours = differ(both, DIFFERENT[name])
    assert isinstance(theirs, Raised) == (name in RAISES_THERE)
    assert isinstance(ours, Raised) == (name in RAISES_HERE)


def test_a_commit_that_was_refused_before_it_was_decided(both):
    """There the transaction is over, and its record locked; here it can be committed again."""
    found = []
    for side in both:
        side.fresh()
        policy = importlib.import_module(f"{side.package.__name__}.policy")
        once = policy.Behavior.DEFAULT.derive_with_changes(
            f"refused once, {side.package.__name__}", system_txn_roll=policy.Settings(max_retries=0)
        )
        tx = side.session.session_for(once).transaction().__enter__()
        tx.put(side.key, {"i": 2})
        refused = int(side.package.ResultCode.PARAMETER_ERROR)
        with (
            side.embedded.inject("result", refused, on="write", times=1),
            pytest.raises(side.package.exceptions.CommitError) as raised,
        ):
            tx.commit()
        assert (raised.value.in_doubt, raised.value.result_code) == (False, refused)
        found.append((tx.active, attempt(lambda tx=tx: tx.commit().name), is_free(side)))
    over = [["TransactionError", "AerospikeError"], "TXN_ALREADY_ABORTED", False]
    theirs, ours = found
    assert (theirs[0], list(theirs[1]), theirs[2]) == (False, over, False)
    assert ours == (True, ("str", "COMMITTED"), True)
