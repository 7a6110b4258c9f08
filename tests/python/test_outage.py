"""The cluster is gone for a while: calls wait for it as long as they may, and errors say what is the case.

No write is falsely in doubt or falsely certain. The same cases as in tests/rust/adversity_outage.rs.
"""

import _thread
import asyncio
import signal
import threading
import time

import pytest
from conftest import LOOPS, eventually

from aerolane import AerospikeError, Key, exceptions, native
from aerolane.exceptions import BadResponseError, MaxErrorRateError, ResultCode

KEY = Key("test", "outage", 1)
PATIENT = native.WritePolicy(total_timeout=60_000, max_retries=0)
# For a call that finds nobody; in milliseconds.
SHORT = 400
POLICY = native.ClientPolicy(tend_interval=250, timeout=20_000)


def read_policy(total=SHORT, retries=2):
    return native.ReadPolicy(total_timeout=total, max_retries=retries)


def write_policy(total=SHORT, retries=0):
    return native.WritePolicy(total_timeout=total, max_retries=retries)


def stop(cluster):
    cluster.stop_nodes(cluster.nodes)


def start(cluster):
    for node in cluster.nodes:
        cluster.start_node(node)


def check_outage(error):
    """It says that the node cannot be reached, and why."""
    assert type(error) in (exceptions.ConnectionError, exceptions.BatchConnectionError), repr(error)
    assert isinstance(error, ConnectionError)
    assert error.result_code is ResultCode.SERVER_NOT_AVAILABLE
    assert (error.in_doubt, error.phase) == (False, "connecting"), str(error)
    text = str(error)
    assert text.startswith("no connection to node ") and "127.0.0.1:" in text
    assert " s: could not connect: Connection refused" in text
    assert len(error.sub_exceptions) <= 10


def test_calls_wait_for_the_node_and_then_say_why(new_cluster, connect, run):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, POLICY)
    run(client, "put", KEY, {"n": 1}, policy=PATIENT)
    stop(cluster)
    # It may meet the dead connection.
    with pytest.raises(ConnectionError):
        run(client, "get", KEY, policy=read_policy(retries=0))
    for name, arguments, policies in (
        ("get", (KEY,), {"policy": read_policy()}),
        ("get", (KEY,), {"policy": read_policy(retries=1000)}),
        ("put", (KEY, {"n": 2}), {"policy": write_policy()}),
        ("exists", (KEY,), {"policy": read_policy(retries=0)}),
    ):
        begun = time.monotonic()
        with pytest.raises(AerospikeError) as caught:
            run(client, name, *arguments, **policies)
        assert time.monotonic() - begun >= SHORT / 1000
        check_outage(caught.value)
        assert 1 <= caught.value.attempts < 40
    with pytest.raises(AerospikeError) as caught:
        batch = native.BatchPolicy(total_timeout=SHORT, max_retries=2)
        for row in run(client, "batch_read", [KEY, Key("test", "outage", 2)], batch_policy=batch):
            raise row.error
    check_outage(caught.value)
    threading.Timer(0.3, start, [cluster]).start()
    run(client, "put", KEY, {"n": 3}, policy=PATIENT)
    assert run(client, "get", KEY).bins == {"n": 3}


@pytest.mark.own_process
def test_who_waits_for_the_node_can_be_interrupted(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, POLICY)
    client.put_blocking(KEY, {"n": 1}, policy=PATIENT)
    stop(cluster)
    # A process that was started in the background ignores the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    patient = native.BatchPolicy(total_timeout=60_000, max_retries=2)
    for call in (
        lambda: client.get_blocking(KEY, policy=read_policy(60_000)),
        lambda: client.batch_read_blocking([KEY, Key("test", "outage", 2)], batch_policy=patient),
    ):
        begun = time.monotonic()
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - begun < 30


GARBAGE = {"http": b"HTTP/1.1 400 Bad Request\r\n\r\n", "ones": b"\xff" * 64, "type": b"\x02\x09\0\0\0\0\0\x16\x16"}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_answer_is_a_bad_response(new_cluster, connect, run, garbage):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, native.ClientPolicy(max_error_rate=0))
    run(client, "put", KEY, {"n": 1}, policy=PATIENT)
    with cluster.inject("garbage", garbage, on=["read", "write"]):
        for retries in (0, 2):
            with pytest.raises(BadResponseError, match="the answer is malformed") as caught:
                run(client, "get", KEY, policy=read_policy(20_000, retries))
            assert not caught.value.in_doubt
        with pytest.raises(BadResponseError) as caught:
            run(client, "put", KEY, {"n": 2}, policy=write_policy(20_000))
        assert caught.value.in_doubt


class Tally:
    """What callers have seen of a cluster that stops and comes back."""

    def __init__(self, number):
        self.over = self.down = False
        # Between two calls of a caller: few enough that the machine has time for all of them.
        self.pause = number / 2000
        self.few = number <= 50
        # Of each caller: no two write to the same place.
        self.acknowledged, self.doubtful, self.lost, self.refused = ([0] * number for _ in range(4))
        self.wrong = []

    def failed(self, caller, error, was_down):
        try:
            # All the time: it goes down once.
            if was_down and self.down:
                check_outage(error)
                self.refused[caller] += 1
                return
            # When it comes back, little time may be left of a call, and of more than 100 calls at once.
            allowed = (
                (ConnectionError, TimeoutError) if self.few else (ConnectionError, TimeoutError, MaxErrorRateError)
            )
            assert isinstance(error, allowed), repr(error)
            assert error.in_doubt is (error.phase in ("sent", "receiving")), str(error)
            self.doubtful[caller] += error.in_doubt
            self.lost[caller] += error.in_doubt and isinstance(error, ConnectionError)
        except AssertionError as wrong:
            self.wrong.append(wrong)

    def check(self):
        if self.wrong:
            raise self.wrong[0]


def write_on_loop(client, number, tally, loop):
    async def caller(which):
        key = Key("test", "outage", which)
        while not tally.over:
            was_down = tally.down
            try:
                await client.add(key, {"n": 1}, policy=write_policy())
                tally.acknowledged[which] += 1
            except AerospikeError as error:
                tally.failed(which, error, was_down)
            await asyncio.sleep(tally.pause)

    async def everyone():
        await asyncio.gather(*map(caller, range(number)))

    def run():
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(everyone())

    return [threading.Thread(target=run)]


def write_on_threads(client, number, tally):
    def caller(which):
        key = Key("test", "outage", which)
        while not tally.over:
            was_down = tally.down
            try:
                client.add_blocking(key, {"n": 1}, policy=write_policy())
                tally.acknowledged[which] += 1
            except AerospikeError as error:
                tally.failed(which, error, was_down)
            time.sleep(tally.pause)

    return [threading.Thread(target=caller, args=[which]) for which in range(number)]


@pytest.mark.parametrize("number", [50, 300])
@pytest.mark.parametrize("kind", ["threads", *LOOPS])
def test_the_cluster_stops_and_comes_back(new_cluster, connect, kind, number):
    cluster = new_cluster(nodes=1)
    node = cluster.nodes[0]
    client = connect(cluster.seeds, POLICY)
    tally = Tally(number)
    if kind == "threads":
        threads = write_on_threads(client, number, tally)
    else:
        threads = write_on_loop(client, number, tally, kind)
    for thread in threads:
        thread.start()

    def all_have(counts):
        """Every caller has one more of them."""
        before = list(counts)
        eventually(lambda: tally.wrong or all(now > then for now, then in zip(counts, before, strict=True)))
        tally.check()

    try:
        all_have(tally.acknowledged)
        stop(cluster)
        time.sleep(0.6 + tally.pause)
        # One call of each was in flight.
        assert max(tally.lost) <= 1
        tally.down = True
        all_have(tally.refused)
        time.sleep(1.5)
        tally.down = False
        start(cluster)
        all_have(tally.acknowledged)
    finally:
        tally.over = True
        for thread in threads:
            thread.join()
    tally.check()
    executed, acknowledged, doubtful = cluster.stats(node)["records"], sum(tally.acknowledged), sum(tally.doubtful)
    assert acknowledged <= executed <= acknowledged + doubtful, (executed, acknowledged, doubtful)
