"""`put_many` of writers: records of an iterable, and one list of outcomes. Each case runs on both kinds of sessions."""

import asyncio
import itertools
import threading
import time

import pytest
from conftest import LONG, Either, eventually

from aerolane import (
    DataSet,
    Expiration,
    InvalidArgumentError,
    InvalidNamespaceError,
    Key,
    Outcome,
    OutcomeList,
    WriterClosedError,
)
from aerolane.exceptions import BatchFailedError, ClientError, RecordExistsError
from aerolane.native import RecordExistsAction, WritePolicy


def settled(either: Either, outcomes):
    """The list, once all its records are confirmed."""
    return outcomes.result(60) if either.kind == "sync" else either.run(outcomes)


def waited(either: Either, outcomes):
    """The list, once all its records have outcomes."""
    if either.kind == "async":
        return either.run(outcomes.wait())
    with pytest.raises(BatchFailedError):
        outcomes.result(60)
    return outcomes


@pytest.mark.parametrize("made", [list, tuple, iter, lambda records: (record for record in records)])
def test_records_of_an_iterable(either, session, writer, keys, made):
    bulk = writer()
    outcomes = either.run(bulk.put_many(made([(keys(n), {"n": n, "s": f"text {n}"}) for n in range(3000)])))
    assert settled(either, outcomes) is outcomes
    assert (len(outcomes), outcomes.ok, outcomes.failed, outcomes.done()) == (3000, 3000, 0, True)
    assert outcomes.failures() == []
    outcomes.raise_for_failures()
    assert [outcome.sequence for outcome in outcomes] == list(range(3000))
    assert all(isinstance(outcome, Outcome) and outcome.ok for outcome in outcomes)
    assert outcomes[7].key == keys(7) and outcomes[-1].key == keys(2999)
    assert [outcome.key for outcome in outcomes[10:0:-4]] == [keys(10), keys(6), keys(2)]
    assert outcomes[3000:] == []
    for index in (3000, -3001):
        with pytest.raises(IndexError):
            outcomes[index]
    with pytest.raises(TypeError):
        outcomes["one"]
    assert repr(outcomes) == "<OutcomeList 3000: 3000 ok, 0 failed, 0 outstanding>"
    for n in range(0, 3000, 97):
        assert either.run(session.get(keys(n))).bins == {"n": n, "s": f"text {n}"}
    assert bulk.metrics()["requests"] < 300


def test_user_keys_of_a_set(either, session, writer, set_name):
    dataset, user_keys = DataSet.of("test", set_name), [1, -5, "one", b"\x00one", 2**63, bytearray(b"buffer")]
    outcomes = either.run(writer().put_many(((key, {"k": str(key)}) for key in user_keys), dataset=dataset))
    assert settled(either, outcomes).ok == len(user_keys)
    for outcome, key in zip(outcomes, user_keys, strict=True):
        assert outcome.key == dataset.id(key)
        assert either.run(session.get(dataset.id(key))).bins == {"k": str(key)}
    # Keys of other sets go as well.
    other = Key("test", f"{set_name}b", 1)
    outcomes = either.run(writer().put_many([(other, {"n": 1}), (1, {"n": 1})], dataset=dataset))
    assert [outcome.key for outcome in settled(either, outcomes)] == [other, dataset.id(1)]


def test_writes_of_a_key_take_effect_in_order(either, session, writer, keys):
    outcomes = either.run(writer().put_many((keys(n % 5), {"n": n}) for n in range(500)))
    settled(either, outcomes)
    for last in range(495, 500):
        assert outcomes[last].result().generation == 100
        assert either.run(session.get(keys(last % 5))).bins == {"n": last}


def test_it_waits_for_room(either, writer, keys):
    bulk, most = writer(max_outstanding_records=20), 0

    def records():
        nonlocal most
        for n in range(2000):
            most = max(most, bulk.progress().outstanding)
            yield keys(n), {"n": n}

    outcomes = either.run(bulk.put_many(records()))
    assert settled(either, outcomes).ok == 2000
    assert 0 < most <= 20


def test_a_source_that_is_slow_delays_nothing_that_it_has_given(either, writer, keys):
    bulk = writer()

    def records():
        for n in range(60):
            if n == 50:
                eventually(lambda: bulk.progress().ok == 50, lambda: str(bulk.progress()))
            yield keys(n), {"n": n}

    assert settled(either, either.run(bulk.put_many(records()))).ok == 60


def test_no_records(either, writer):
    outcomes = either.run(writer().put_many([]))
    assert (len(outcomes), list(outcomes), outcomes.done()) == (0, [], True)
    assert settled(either, outcomes) is outcomes


def test_the_policy_is_that_of_put(either, session, writer, keys):
    bulk = writer()
    settled(either, either.run(bulk.put_many([(keys(1), {"n": 1})], expiration=Expiration.seconds(5000))))
    assert 4900 <= either.run(session.get(keys(1))).ttl <= 5000
    policy = WritePolicy()
    policy.record_exists_action = RecordExistsAction.REPLACE
    settled(either, either.run(bulk.put_many([(keys(1), {"m": 2})], policy=policy)))
    assert either.run(session.get(keys(1))).bins == {"m": 2}


def test_records_that_fail(either, session, writer, keys):
    settled(either, either.run(writer().put_many((keys(n), {"n": n}) for n in range(0, 1000, 100))))
    records = [(keys(n), {"n": -n}) for n in range(1000)]
    outcomes = either.run(writer().put_many(records, record_exists_action=RecordExistsAction.CREATE_ONLY))
    assert waited(either, outcomes) is outcomes
    assert (outcomes.ok, outcomes.failed) == (990, 10)
    failed = outcomes.failures()
    assert [outcome.key for outcome in failed] == [keys(n) for n in range(0, 1000, 100)]
    assert all(isinstance(outcome.exception(), RecordExistsError) for outcome in failed)
    with pytest.raises(BatchFailedError, match="10 of 1000 rows") as caught:
        outcomes.raise_for_failures()
    assert [outcome.key for outcome in caught.value.records] == [outcome.key for outcome in failed]
    with pytest.raises(BatchFailedError):
        settled(either, outcomes)
    assert either.run(session.get(keys(100))).bins == {"n": 100}


def test_failures_only(either, writer, keys):
    heard = []
    bulk = writer(failures_only=True, on_outcome=heard.append)
    assert either.run(bulk.put_many((keys(n), {"n": n}) for n in range(500))) is None
    assert either.run(bulk.close()) == []
    assert (bulk.progress().ok, heard) == (500, [])


def test_what_does_not_fit_is_refused_and_what_came_before_is_written(either, session, writer, set_name):
    dataset, bulk = DataSet.of("test", set_name), writer()

    def breaks():
        yield 0, {"n": 0}
        yield 1, {"n": 1}
        raise OSError("the source")

    good = [(n, {"n": n}) for n in range(2)]
    for records, error, text in [
        ([*good, 7], TypeError, r"records\[2\] must be a pair"),
        ([*good, (7,)], TypeError, r"records\[2\] must be a pair"),
        ([*good, (7, {"n": 1}, 3)], TypeError, r"records\[2\] must be a pair"),
        ([*good, (7, {})], InvalidArgumentError, r"records\[2\] has no bins"),
        ([*good, (7, [1])], TypeError, r"records\[2\] must be a dict"),
        ([*good, (7, {"n": object()})], TypeError, r"bin 'n' of records\[2\]"),
        ([*good, (7, {"name too long for a bin": 1})], InvalidArgumentError, "name"),
        ([*good, (1.5, {"n": 1})], TypeError, "user key"),
        ([*good, (2**64, {"n": 1})], OverflowError, "user key"),
        ([*good, (Key("nowhere", "s", 1), {"n": 1})], InvalidNamespaceError, "nowhere"),
        (breaks(), OSError, "the source"),
    ]:
        with pytest.raises(error, match=text) as caught:
            either.run(bulk.put_many(records, dataset=dataset))
        outcomes = caught.value.outcomes
        assert isinstance(outcomes, OutcomeList) and len(outcomes) == 2
        assert settled(either, outcomes).ok == 2
        assert any("2 records" in note for note in caught.value.__notes__)
    assert either.run(session.get(dataset.id(1))).generation == 11
    for call in (
        lambda: bulk.put_many(5),
        lambda: bulk.put_many(None),
        lambda: bulk.put_many([(1, {"n": 1})]),
        lambda: bulk.put_many([], dataset="set"),
        lambda: bulk.put_many([], expiration=5),
        lambda: bulk.put_many([], record_exists_action="replace"),
        lambda: bulk.put_many([(1, {"n": 1})], dataset=dataset, expiration=5),
        lambda: bulk.put_many([(1, {"n": 1})], dataset=dataset, policy="none"),
    ):
        with pytest.raises(TypeError):
            either.run(call())
    either.run(bulk.close())
    with pytest.raises(WriterClosedError):
        either.run(bulk.put_many(good, dataset=dataset))


def test_the_source_may_use_the_writer(either, session, writer, keys):
    bulk, inner = writer(), []

    def records():
        for n in range(600):
            if n % 100 == 0:
                # In asyncio these start at once, like the call of `put_many` itself.
                inner.append(bulk.put(keys(1000 + n), {"n": n}))
                inner.append(session.put(keys(2000 + n), {"n": n}))
            yield keys(n), {"n": n}

    async def both():
        outcomes = await bulk.put_many(records())
        for call in inner:
            await call
        return outcomes

    outcomes = either.run(both()) if either.kind == "async" else bulk.put_many(records())
    assert settled(either, outcomes).ok == 600
    either.run(bulk.flush())
    for n in range(0, 600, 100):
        for base in (0, 1000, 2000):
            assert either.run(session.get(keys(base + n))).bins == {"n": n}


def test_outcomes_are_waited_for_in_time_only(either, own):
    cluster, client = own(1)
    cluster.set_conditions(service_time="300ms")
    bulk = client.session.writer(**LONG)
    outcomes = either.run(bulk.put_many((Key("test", "s", n), {"n": n}) for n in range(300)))
    assert not outcomes.done()
    with pytest.raises(TimeoutError):
        outcomes.result(0.01)
    assert outcomes.ok + outcomes.failed < 300
    cluster.set_conditions()
    assert settled(either, outcomes).ok == 300


def test_in_asyncio_others_have_turns_and_a_cancelled_call_has_handed_over_the_first_records(either, writer, keys):
    if either.kind == "sync":
        pytest.skip("asyncio only")
    bulk, turns, asked = writer(), 0, 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def endless():
        nonlocal asked
        for n in itertools.count():
            asked = n + 1
            yield keys(n % 1000), {"n": n}

    async def run():
        task = asyncio.create_task(others())
        with pytest.raises(TimeoutError) as raised:
            await asyncio.wait_for(bulk.put_many(endless()), 0.3)
        before, error = turns, raised.value.__cause__
        both = await asyncio.gather(*(bulk.put_many([(keys(n), {"n": n}) for n in range(3000)]) for _ in range(2)))
        task.cancel()
        return before, error, both

    before, error, both = either.run(run())
    assert before > 3
    assert [len(outcomes) for outcomes in both] == [3000, 3000]
    either.run(bulk.flush())
    progress = bulk.progress()
    # The record that waited for room, if there was one, was not handed over.
    assert asked - 1 <= progress.handed_over - 6000 <= asked
    assert progress.ok == progress.handed_over
    assert len(error.outcomes) == error.outcomes.ok == progress.handed_over - 6000
    assert error.__notes__ == [f"put_many had passed {len(error.outcomes)} records to the writer"]


def test_in_asyncio_a_slow_iterable_leaves_others_their_turns(either, writer, keys):
    if either.kind == "sync":
        pytest.skip("asyncio only")
    bulk, turns = writer(), 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def slow():
        for n in range(64):
            time.sleep(0.001)
            yield keys(n), {"n": n}

    async def run():
        task = asyncio.create_task(others())
        outcomes = await bulk.put_many(slow())
        task.cancel()
        return outcomes

    assert settled(either, either.run(run())).ok == 64
    assert turns > 3


def test_a_source_that_cancels_its_task(either, writer, keys):
    if either.kind == "sync":
        pytest.skip("asyncio only")
    bulk = writer()

    async def run():
        def records():
            for n in range(2000):
                if n == 1000:
                    task.cancel()
                yield keys(n), {"n": n}

        async def many():
            return await bulk.put_many(records())

        task = asyncio.create_task(many())
        with pytest.raises(asyncio.CancelledError) as raised:
            await task
        return raised.value.outcomes

    outcomes = either.run(run())
    either.run(bulk.flush())
    assert 1000 <= bulk.progress().ok == len(outcomes) == outcomes.ok < 2000


def test_called_outside_of_the_loop_it_goes_on_in_it(either, writer, keys):
    if either.kind == "sync":
        pytest.skip("asyncio only")
    bulk = writer()
    call = bulk.put_many((keys(n), {"n": n}) for n in range(1000))

    async def awaited():
        return await call

    assert settled(either, either.run(awaited())).ok == 1000


def test_threads_share_a_writer(either, writer, keys):
    if either.kind == "async":
        pytest.skip("threads use the blocking writer")
    bulk, made = writer(max_outstanding_records=500), {}

    def hand_over(part):
        made[part] = bulk.put_many((keys(part * 1000 + n), {"n": n}) for n in range(1000))

    threads = [threading.Thread(target=hand_over, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part, outcomes in made.items():
        assert outcomes.result(60).ok == 1000
        assert [outcome.key for outcome in outcomes[::250]] == [keys(part * 1000 + n) for n in range(0, 1000, 250)]


def test_a_callback_does_not_wait_for_a_list(either, writer, keys):
    began, raised, later = threading.Event(), threading.Event(), []

    def heard(_):
        if not began.is_set():
            began.set()
            if ready.wait(20):
                try:
                    later[0].result()
                except ClientError:
                    raised.set()

    ready = threading.Event()
    bulk = writer(on_outcome=heard)
    either.run(bulk.put(keys(0), {"n": 0}))
    assert began.wait(20)
    later.append(either.run(bulk.put_many((keys(n), {"n": n}) for n in range(1, 100))))
    ready.set()
    assert settled(either, later[0]).ok == 99
    assert raised.is_set()
