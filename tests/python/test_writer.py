"""Writers: many records, with the outcome of each one known. Each case runs on both kinds of sessions."""

import asyncio
import gc
import io
import re
import signal
import threading
import time
import weakref
from pathlib import Path

import pytest
from conftest import LONG, UDFS, Alarm, eventually, udf_module

import aerolane
from aerolane import (
    Behavior,
    Expiration,
    ExpiredError,
    GenerationError,
    InvalidArgumentError,
    InvalidNamespaceError,
    Key,
    Outcome,
    RecordNotFoundError,
    ResultCode,
    SyncClient,
    WriterClosedError,
)
from aerolane.exceptions import ClientClosedError, ClientError, RecordExistsError
from aerolane.native import ListOperation, ListPolicy, Operation, RecordExistsAction, WritePolicy
from aerolane.policy import Settings


def confirmed(either, outcome):
    """What the server says of a record."""
    return outcome.result(60) if either.kind == "sync" else either.run(outcome)


def all_of(either, writer, records):
    """Hands records over, and gives their outcomes once they are there."""
    outcomes = [either.run(writer.put(key, bins)) for key, bins in records]
    either.run(writer.flush())
    assert all(outcome.done() for outcome in outcomes)
    return outcomes


def test_every_record_is_written_and_confirmed(either, session, writer, keys):
    bulk = writer()
    outcomes = all_of(either, bulk, [(keys(n), {"n": n, "s": f"text {n}"}) for n in range(3000)])
    for n, outcome in enumerate(outcomes):
        written = confirmed(either, outcome)
        assert (written.generation, written.existed, written.record) == (1, True, None)
        assert (outcome.ok, outcome.in_doubt, outcome.exception()) == (True, False, None)
        assert outcome.sequence == n
        assert outcome.key == keys(n)
        (attempt,) = outcome.attempts
        assert attempt.result_code == 0 and ":" in attempt.node and not attempt.in_doubt
        assert outcome.waited + outcome.in_flight <= outcome.took + 0.001
    for n in range(0, 3000, 97):
        assert either.run(session.get(keys(n))).bins == {"n": n, "s": f"text {n}"}
    progress = bulk.progress()
    assert (progress.handed_over, progress.ok, progress.failed, progress.outstanding) == (3000, 3000, 0, 0)
    metrics = bulk.metrics()
    assert metrics["requests"] < 3000, metrics
    assert sum(node["records"] for node in metrics["nodes"]) == 3000
    assert either.run(bulk.close()) == []
    assert bulk.closed


def test_sets_and_policies_are_mixed(either, session, writer, set_name):
    # More kinds than the writer gathers at a time.
    bulk = writer()
    keys = [Key("test", f"{set_name}{n % 3}", n) for n in range(3000)]
    seconds = [(100, 2000, 30_000)[n // 3 % 3] for n in range(3000)]
    outcomes = [
        either.run(bulk.put(key, {"n": n}, expiration=Expiration.seconds(ttl)))
        for n, (key, ttl) in enumerate(zip(keys, seconds, strict=True))
    ]
    for key, ttl, outcome in zip(keys, seconds, outcomes, strict=True):
        assert outcome.key is key
        assert ttl - 60 <= confirmed(either, outcome).ttl <= ttl
    for n in range(0, 3000, 211):
        assert either.run(session.get(keys[n])).bins == {"n": n}


def test_records_that_fail_do_so_alone(either, writer, keys):
    heard = {}
    bulk = writer(on_outcome=lambda outcome: heard.update({outcome.key.user_key: outcome}))
    all_of(either, bulk, [(keys(n), {"n": -1}) for n in range(0, 1000, 10)])
    only = {"record_exists_action": RecordExistsAction.CREATE_ONLY}
    outcomes = [either.run(bulk.put(keys(n), {"n": n}, **only)) for n in range(1000)]
    for n, outcome in enumerate(outcomes):
        if n % 10:
            written = confirmed(either, outcome)
            assert (written.generation, written.record) == (1, None)
        else:
            with pytest.raises(RecordExistsError) as raised:
                confirmed(either, outcome)
            assert raised.value.key == keys(n)
        assert outcome.ok == bool(n % 10) and outcome.done()
        assert len(outcome.attempts) == 1
    # One that goes alone has no results of its own either.
    assert confirmed(either, either.run(bulk.put(keys(1000), {"n": 0}, **only))).record is None
    assert either.run(bulk.close()) == []
    assert sorted(heard) == list(range(1001))
    assert all(heard[n].key == keys(n) and heard[n].ok == outcomes[n].ok for n in range(1000))
    assert (bulk.progress().ok, bulk.progress().failed) == (1001, 100)


def test_each_method_does_what_the_sessions_does(either, session, writer, keys):
    bulk, key = writer(), keys("all")
    put = either.run(bulk.put(key, {"n": 1, "s": "a"}, expiration=Expiration.seconds(1000)))
    operated = either.run(bulk.operate(key, [Operation.add("n", 5), Operation.get_bin("s")]))
    appended = either.run(bulk.operate(key, [ListOperation.append("list", 7, ListPolicy())]))
    touched = either.run(bulk.touch(key))
    missing = either.run(bulk.touch(keys("missing")))
    deleted = either.run(bulk.delete(key))
    again = either.run(bulk.delete(key))
    written = confirmed(either, put)
    assert written.generation == 1
    assert 990 <= written.ttl <= 1000
    assert confirmed(either, operated).record.bins["s"] == "a"
    assert confirmed(either, appended).record.bins == {"list": 1}
    assert confirmed(either, touched).generation == 4
    with pytest.raises(RecordNotFoundError):
        confirmed(either, missing)
    assert isinstance(missing.exception(), RecordNotFoundError)
    assert confirmed(either, deleted).existed
    assert not confirmed(either, again).existed


def test_policies_and_what_goes_over_them(either, session, writer, keys):
    bulk, key = writer(), keys("policies")
    confirmed(either, either.run(bulk.put(key, {"n": 1})))
    with pytest.raises(GenerationError):
        confirmed(either, either.run(bulk.put(key, {"n": 2}, generation=7)))
    create = {"record_exists_action": RecordExistsAction.CREATE_ONLY}
    with pytest.raises(aerolane.RecordExistsError):
        confirmed(either, either.run(bulk.put(key, {"n": 2}, **create)))
    with pytest.raises(aerolane.RecordExistsError):
        confirmed(either, either.run(bulk.put(key, {"n": 2}, policy=WritePolicy(**create))))
    assert either.run(session.get(key)).bins == {"n": 1}
    # Those of the behavior are in force without others.
    sending = session.session_for(
        Behavior.DEFAULT.derive_with_changes(f"writer {key.digest}", writes=Settings(send_key=True))
    )
    confirmed(either, either.run(sending.writer(**LONG).put(keys("kept"), {"n": 1})))
    stream = either.run(session.query(aerolane.DataSet.of("test", key.set_name)).execute())
    found = {result.record.key.value for result in either.each(stream)}
    assert "kept" in found


def test_functions(either, writer, client, keys, set_name):
    with udf_module(client, UDFS, set_name):
        bulk = writer()
        done = either.run(bulk.execute_udf(keys(1), set_name, "add", ["n", 5]))
        assert confirmed(either, done).record.bins["SUCCESS"] == 5
        failed = either.run(bulk.execute_udf(keys(1), set_name, "fail"))
        with pytest.raises(aerolane.UdfError, match="on purpose"):
            confirmed(either, failed)


def test_writes_of_a_key_take_effect_in_order(either, session, writer, keys):
    bulk = writer()
    for n in range(200):
        for key in range(5):
            either.run(bulk.operate(keys(key), [Operation.append("s", f"{n},")]))
            either.run(bulk.put(keys(key), {"n": n}))
    assert either.run(bulk.close()) == []
    for key in range(5):
        record = either.run(session.get(keys(key)))
        assert record.bins == {"s": "".join(f"{n}," for n in range(200)), "n": 199}
        assert record.generation == 400


def test_a_block_waits_for_all_outcomes(either, session, keys):
    if either.kind == "sync":
        with session.writer(**LONG) as bulk:
            outcomes = [bulk.put(keys(n), {"n": n}) for n in range(500)]
    else:

        async def block():
            async with session.writer(**LONG) as bulk:
                outcomes = [await bulk.put(keys(n), {"n": n}) for n in range(500)]
            written = await asyncio.gather(*outcomes)
            assert {one.generation for one in written} == {1}
            return bulk, outcomes

        bulk, outcomes = either.run(block())
    assert bulk.closed
    assert all(outcome.ok for outcome in outcomes)
    with pytest.raises(WriterClosedError):
        either.run(bulk.put(keys(0), {"n": 0}))


def test_outcomes_as_they_come(either, writer, keys):
    bulk = writer(max_outstanding_records=64)
    stream = bulk.outcomes()
    with pytest.raises(InvalidArgumentError):
        bulk.outcomes()
    if either.kind == "sync":

        def hand_over():
            for n in range(1000):
                bulk.put(keys(n), {"n": n})
            bulk.close()

        thread = threading.Thread(target=hand_over)
        thread.start()
        seen = [outcome.sequence for outcome in stream]
        thread.join()
    else:

        async def both():
            async def hand_over():
                for n in range(1000):
                    await bulk.put(keys(n), {"n": n})
                await bulk.close()

            task = asyncio.create_task(hand_over())
            seen = [outcome.sequence async for outcome in stream]
            await task
            return seen

        seen = either.run(both())
    assert sorted(seen) == list(range(1000))


def test_a_bar_of_tqdm_follows_the_records(either, writer, keys):
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(total=500, file=io.StringIO(), mininterval=0) as bar:
        all_of(either, writer(on_progress=bar.update), [(keys(n), {"n": n}) for n in range(500)])
        eventually(lambda: bar.n == 500)
    assert "500/500" in bar.fp.getvalue()


def test_callbacks_hear_of_outcomes_and_of_progress(either, writer, keys, capfd):
    heard, counts = [], []
    bulk = writer(on_outcome=heard.append, on_progress=counts.append)
    outcomes = all_of(either, bulk, [(keys(n), {"n": n}) for n in range(300)])
    eventually(lambda: sum(counts) == 300, lambda: str(counts))
    assert sorted(outcome.sequence for outcome in heard) == list(range(300))
    assert all(isinstance(outcome, Outcome) and outcome.done() for outcome in heard + outcomes)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_callback_that_raises_costs_no_record(either, writer, keys):
    def fail(_):
        raise ValueError("on purpose")

    bulk = writer(on_outcome=fail, on_progress=fail)
    assert all(outcome.ok for outcome in all_of(either, bulk, [(keys(n), {"n": n}) for n in range(100)]))


def test_a_callback_does_not_wait_for_an_outcome_that_needs_its_thread(either, writer, keys):
    began, handed_over, raised, later = threading.Event(), threading.Event(), [], []

    def heard(_):
        if not began.is_set():
            began.set()
            assert handed_over.wait(20)
            try:
                later[0].result()
            except ClientError as error:
                raised.append(error)

    bulk = writer(on_outcome=heard)
    first = either.run(bulk.put(keys(0), {"n": 0}))
    assert began.wait(20)
    later.append(either.run(bulk.put(keys(1), {"n": 1})))
    handed_over.set()
    assert confirmed(either, first) and confirmed(either, later[0])
    assert len(raised) == 1 and "control thread" in str(raised[0])


def test_failures_only(either, writer, keys):
    heard = []
    bulk = writer(failures_only=True, on_outcome=heard.append)
    for n in range(100):
        assert either.run(bulk.put(keys(n), {"n": n})) is None
    assert either.run(bulk.touch(keys("missing"))) is None
    assert either.run(bulk.close()) == []
    eventually(lambda: len(heard) == 1)
    assert isinstance(heard[0].exception(), RecordNotFoundError)
    assert heard[0].key == keys("missing")
    assert bulk.progress()[1:3] == (100, 1)


def test_what_is_outstanding_is_bounded(either, writer, keys):
    bulk = writer(max_outstanding_records=20, max_outstanding_bytes=30_000)
    for n in range(1000):
        either.run(bulk.put(keys(n), {"s": "x" * 900}))
        progress = bulk.progress()
        assert progress.outstanding <= 20 and progress.outstanding_bytes <= 30_000
    assert confirmed(either, either.run(bulk.put(keys(0), {"s": "y" * 100_000}))).generation == 2


def test_what_cannot_be_written_is_refused_at_once(either, session, writer, keys):
    bulk = writer()
    with pytest.raises(InvalidNamespaceError):
        either.run(bulk.put(Key("nowhere", "s", 1), {"n": 1}))
    with pytest.raises(InvalidArgumentError):
        either.run(bulk.put(keys(1), {}))
    with pytest.raises(InvalidArgumentError, match="a name of 16 byte"):
        either.run(bulk.put(keys(1), {"a name of 16 byte": 1}))
    with pytest.raises(TypeError):
        either.run(bulk.put("no key", {"n": 1}))
    with pytest.raises(TypeError):
        either.run(bulk.put(keys(1), {"n": object()}))
    with pytest.raises(InvalidArgumentError, match="reads"):
        either.run(bulk.operate(keys(1), [Operation.get_bin("n")]))
    assert bulk.progress().handed_over == 0
    for settings, error in [
        ({"batch_records": 0}, InvalidArgumentError),
        ({"record_ttl": -1}, InvalidArgumentError),
        ({"record_ttl": float("nan")}, InvalidArgumentError),
        ({"max_records_per_second": 0}, InvalidArgumentError),
        ({"max_outstanding_records": "many"}, TypeError),
        ({"on_outcome": 7}, TypeError),
        ({"linge": 1}, TypeError),
    ]:
        with pytest.raises(error):
            session.writer(**settings)
    transaction = session.transaction()
    with pytest.raises(InvalidArgumentError, match="transactions"):
        transaction.writer()


def test_native_clients_have_writers(either, client, keys):
    if either.kind == "sync":
        with client.writer_blocking(**LONG) as bulk:
            outcome = bulk.put(keys(1), {"n": 1})
    else:

        async def write():
            async with client.writer(**LONG) as bulk:
                return await bulk.put(keys(1), {"n": 1})

        outcome = either.run(write())
    assert outcome.ok
    assert client.get_blocking(keys(1)).bins == {"n": 1}


def test_an_outcome_can_wait_in_vain(either, own):
    cluster, mine = own(1)
    bulk = mine.session.writer(**LONG)
    key = Key("test", "s", 1)
    cluster.inject("stall", on=["write", "batch"])
    outcome = mine.run(bulk.put(key, {"n": 1}))
    with pytest.raises(TimeoutError):
        outcome.result(0.05)
    assert not outcome.done()
    assert outcome.exception() is None and outcome.attempts == [] and outcome.took is None
    if mine.kind == "async":

        async def cancelled():
            for wait in (outcome, outcome.wait(), bulk.flush(), bulk.close()):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(wait, 0.05)

        mine.run(cancelled())
    cluster.clear_faults()
    assert confirmed(mine, outcome).generation == 1
    assert mine.run(mine.session.get(key)).bins == {"n": 1}


@pytest.mark.parametrize("code", [18, 14, 83, 8])
def test_throttled_records_come_through(own, code):
    cluster, mine = own(3)
    bulk = mine.session.writer(**LONG, max_retries=1000)
    cluster.inject("result", code, on=["write", "batch"], times=2)
    outcomes = all_of(mine, bulk, [(Key("test", "s", n), {"n": n}) for n in range(500)])
    assert all(outcome.ok for outcome in outcomes)
    metrics = bulk.metrics()
    assert metrics["throttled"] >= 2 and metrics["retries"] >= 2
    tried = next(outcome for outcome in outcomes if len(outcome.attempts) > 1)
    assert tried.attempts[0].result_code == code
    assert tried.attempts[-1].result_code == 0


def test_lost_connections(own):
    cluster, mine = own(1)
    bulk, key = mine.session.writer(**LONG), Key("test", "s", 1)
    cluster.inject("drop-after", on=["write", "batch"], times=1)
    put = mine.run(bulk.put(key, {"n": 1}))
    assert confirmed(mine, put).generation == 2, "it was executed twice"
    assert [(attempt.result_code == 0, attempt.in_doubt) for attempt in put.attempts] == [(False, True), (True, False)]
    cluster.inject("drop-after", on=["write", "batch"], times=1)
    add = mine.run(bulk.operate(key, [Operation.add("n", 1)]))
    with pytest.raises(aerolane.ConnectionError) as raised:
        confirmed(mine, add)
    assert raised.value.in_doubt and add.in_doubt
    daring = mine.session.writer(**LONG, repeat_in_doubt=True)
    cluster.inject("drop-before", on=["write", "batch"], times=1)
    assert confirmed(mine, mine.run(daring.operate(key, [Operation.add("n", 1)])))
    assert mine.run(mine.session.get(key)).bins == {"n": 3}


def test_lone_records_are_written_once_whoever_waits(own):
    """A record that is alone is sent by the wait for it; whatever becomes of that, it is written."""
    cluster, mine = own(3)
    bulk, key = mine.session.writer(**LONG), Key("test", "s", 1)

    def put(n):
        return mine.run(bulk.put(key, {"n": n}))

    for n in range(1, 31):
        assert confirmed(mine, put(n)).generation == n
    # Nobody waits.
    ignored = put(31)
    eventually(lambda: ignored.done())
    assert ignored.ok and len(ignored.attempts) == 1
    assert confirmed(mine, put(32)).generation == 32
    # Two at a time.
    first, second = put(33), put(34)
    assert [confirmed(mine, outcome).generation for outcome in (second, first)] == [34, 33]
    assert confirmed(mine, put(35)).generation == 35
    cluster.inject("drop-before", on=["write", "batch"], times=1)
    lost = put(36)
    assert confirmed(mine, lost).generation == 36 and len(lost.attempts) == 2
    assert bulk.metrics()["single_requests"] == 37


async def test_a_wait_that_is_cancelled_does_not_end_a_lone_record(new_cluster):
    cluster = new_cluster(nodes=1)
    async with aerolane.Client(cluster.seeds) as client, client.create_session().writer(**LONG) as bulk:
        key = Key("test", "s", 1)
        for _ in range(10):
            await (await bulk.put(key, {"n": 1}))
        cluster.inject("delay", 0.2, on=["write", "batch"], times=1)
        slow = await bulk.put(key, {"n": 2})
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(slow, 0.02)
        assert not slow.done()
        assert (await slow).generation == 11
        assert [attempt.in_doubt for attempt in slow.attempts] == [False]


def test_nodes_stop_and_partitions_move(own):
    cluster, mine = own(3)
    cluster.inject("reject-unowned")
    bulk = mine.session.writer(**LONG, max_retries=1000)
    nodes, outcomes = list(cluster.nodes), []
    for n in range(1500):
        outcomes.append(mine.run(bulk.put(Key("test", "s", n), {"n": n})))
        if n % 100 == 0:
            cluster.set_master(n % 4096, nodes[n // 100 % 3])
        if n == 600:
            cluster.stop_node(nodes[0])
        if n == 1100:
            cluster.start_node(nodes[0])
    mine.run(bulk.flush())
    failed = [outcome.exception() for outcome in outcomes if not outcome.ok]
    assert not failed, failed[:3]
    for n in range(0, 1500, 41):
        assert mine.run(mine.session.get(Key("test", "s", n))).bins == {"n": n}


def test_records_expire(own):
    cluster, mine = own(1)
    bulk = mine.session.writer(record_ttl=0.3, max_retries=1_000_000)
    cluster.inject("result", 18, on=["write", "batch"])
    outcomes = [mine.run(bulk.put(Key("test", "s", 1), {"n": n})) for n in range(2)]
    for outcome in outcomes:
        with pytest.raises(ExpiredError, match="time to live") as raised:
            confirmed(mine, outcome)
        assert not raised.value.in_doubt
    assert bulk.metrics()["expired"] == 2


def test_a_close_says_what_did_not_go(own):
    cluster, mine = own(1)
    bulk = mine.session.writer(**LONG, batches_in_flight=1, batch_records=10)
    cluster.inject("stall", on=["write", "batch"])
    outcomes = [mine.run(bulk.put(Key("test", "s", n), {"n": n})) for n in range(50)]
    time.sleep(0.2)
    left = mine.run(bulk.close(0.2))
    assert [outcome.key for outcome in left] == [Key("test", "s", n) for n in range(50)]
    assert all(isinstance(outcome.exception(), WriterClosedError) for outcome in outcomes)
    in_doubt = sum(outcome.in_doubt for outcome in outcomes)
    assert 1 <= in_doubt < 50
    cluster.clear_faults()
    assert mine.run(bulk.close()) == []


def test_a_closed_client_leaves_no_record_without_outcome(own):
    cluster, mine = own(1)
    bulk = mine.session.writer(**LONG)
    cluster.inject("stall", on=["write", "batch"])
    outcomes = [mine.run(bulk.put(Key("test", "s", n), {"n": n})) for n in range(50)]
    mine.run(mine.client.close())
    eventually(lambda: all(outcome.done() for outcome in outcomes))
    assert all(isinstance(outcome.exception(), ClientClosedError) for outcome in outcomes)
    with pytest.raises(ClientClosedError):
        mine.run(bulk.put(Key("test", "s", 1), {"n": 1}))
    assert mine.run(bulk.close()) == []


def test_a_writer_that_is_dropped_writes_what_it_has(either, session, keys):
    outcome = None
    bulk = session.writer(**LONG)
    for n in range(500):
        outcome = either.run(bulk.put(keys(n), {"n": n}))
    gone = weakref.ref(bulk)
    del bulk
    gc.collect()
    assert gone() is None
    assert confirmed(either, outcome).generation == 1
    assert either.run(session.get(keys(0))).bins == {"n": 0}


async def test_other_tasks_have_turns(seeds, set_name):
    """Handing over many records in a loop does not keep the event loop to itself."""
    async with aerolane.Client(seeds) as client:
        turns, over = 0, False

        async def count():
            nonlocal turns
            while not over:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        async with client.create_session().writer(**LONG, max_outstanding_records=100_000) as bulk:
            for n in range(5000):
                await bulk.put(Key("test", set_name, n), {"n": n})
            seen = turns
        over = True
        await counting
        assert seen >= 3


def test_many_threads_share_a_writer(seeds, set_name):
    with SyncClient(seeds) as client, client.create_session().writer(**LONG, max_outstanding_records=100) as bulk:

        def hand_over(thread):
            outcomes = [bulk.put(Key("test", set_name, thread * 1000 + n), {"n": n}) for n in range(300)]
            results.extend(outcome.result(60).generation for outcome in outcomes)

        results = []
        threads = [threading.Thread(target=hand_over, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [1] * 1200


def test_outcomes_agree_with_what_the_cluster_holds(own):
    """Writes to few keys with faults of all kinds, counted: a confirmed record is there, a failed one is not."""
    cluster, mine = own(3)
    bulk = mine.session.writer(attempt_timeout=1.5, record_ttl=5, max_outstanding_records=2000, batch_records=64)
    nodes, told, number = list(cluster.nodes), {}, 0
    faults = {"on": ["write", "batch"]}
    for turn in range(24):
        node = nodes[turn % 3]
        match turn % 8:
            case 0:
                cluster.inject("result", 18, node=node, probability=0.3, **faults)
            case 1:
                cluster.inject("drop-after", node=node, probability=0.2, **faults)
            case 2:
                cluster.inject("reject-unowned")
            case 3:
                cluster.set_master(turn * 37, node)
            case 4:
                cluster.stop_node(node)
            case 5:
                cluster.start_node(nodes[(turn - 1) % 3])
            case 6:
                cluster.inject("drop-before", node=node, probability=0.2, **faults)
            case _:
                cluster.clear_faults()
        for _ in range(3):
            for n in range(100):
                number += 1
                told.setdefault(n, []).append((number, mine.run(bulk.put(Key("test", "s", n), {"n": number}))))
    cluster.clear_faults()
    for node in nodes:
        cluster.start_node(node)
    assert mine.run(bulk.close(60)) == []
    counts = {"ok": 0, "failed": 0, "in doubt": 0}
    for n, records in told.items():
        held = mine.run(mine.session.get(Key("test", "s", n))).bins["n"]
        last = max((number for number, outcome in records if outcome.ok), default=0)
        for value, outcome in records:
            counts["ok" if outcome.ok else "in doubt" if outcome.in_doubt else "failed"] += 1
            assert value != held or outcome.ok or outcome.in_doubt, (n, held, outcome)
        doubts = {value for value, outcome in records if outcome.in_doubt and value > last}
        assert held == last or held in doubts, (n, held, last, doubts)
    print(counts)
    assert sum(counts.values()) == number
    assert counts["ok"] > number / 2


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_an_exception_in_the_block_says_what_was_confirmed(either, session, keys, kind):
    async def fill():
        async with session.writer() as bulk:
            for n in range(100):
                await bulk.put(keys(n), {"n": n})
            raise kind

    with pytest.raises(kind) as raised:
        if either.kind == "sync":
            with session.writer() as bulk:
                for n in range(100):
                    bulk.put(keys(n), {"n": n})
                raise kind
        else:
            either.run(fill())
    (note,) = raised.value.__notes__
    assert note == "the writer has taken 100 records: 100 are confirmed, 0 have failed"
    assert either.run(session.get(keys(99))).bins == {"n": 99}


@pytest.mark.usefixtures("alarm")
def test_an_interrupt_while_the_block_drains_says_what_is_outstanding(new_cluster):
    cluster = new_cluster(nodes=1)
    with SyncClient(cluster.seeds) as client:
        session = client.create_session()
        cluster.set_conditions(service_time={"write": "60s", "batch": "60s"})
        with pytest.raises(Alarm) as raised, session.writer(**LONG) as bulk:
            outcomes = [bulk.put(Key("test", "drain", n), {"n": n}) for n in range(10)]
            signal.setitimer(signal.ITIMER_REAL, 0.2)
        (note,) = raised.value.__notes__
        assert note == "the writer has taken 10 records: 0 are confirmed, 0 have failed, and 10 have no outcome yet"
        assert bulk.closed and bulk.progress().outstanding == 10
    assert all(outcome.done() and not outcome.ok for outcome in outcomes)


def test_retry_classes_are_data_and_the_documentation_has_them():
    classes = aerolane.writer_retry_classes()
    assert classes[ResultCode.DEVICE_OVERLOAD] == ("throttled", True)
    assert classes[ResultCode.KEY_BUSY] == ("throttled", False)
    assert classes[ResultCode.PARTITION_UNAVAILABLE] == ("moved", False)
    assert ResultCode.GENERATION_ERROR not in classes
    page = Path(__file__).parents[2] / "docs/python/writing.md"
    told = {}
    for line in page.read_text().splitlines():
        if line.startswith(("| moved |", "| throttled, of ", "| transient |")):
            _, name, codes, *_ = line.split("|")
            rule = (name.split(",")[0].strip(), "of the node" in name)
            told |= {ResultCode[code]: rule for code in re.findall(r"`([A-Z_]+)`", codes)}
    assert told == classes
