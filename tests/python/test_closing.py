"""One client used in every way at once by threads and event loops, and closed meanwhile.

Every call has an outcome: the right one, or an error that says that the client is closed. What was confirmed is there.
"""

import asyncio
import contextlib
import faulthandler
import os
import random
import threading
import time

import pytest
from conftest import LOOPS

from aerolane import Key, native
from aerolane.exceptions import ClientClosedError

HANG = 60.0  # Seconds after which a thread that ought to end is taken for hung.
# Calls give up later than that: what makes them end is the closing.
LATER = 600_000
READ = native.ReadPolicy(total_timeout=LATER, socket_timeout=LATER)
WRITE = native.WritePolicy(total_timeout=LATER, socket_timeout=LATER)
BATCH = native.BatchPolicy(total_timeout=LATER, socket_timeout=LATER)
QUERY = native.QueryPolicy(total_timeout=LATER, socket_timeout=LATER)
# Clients that are closed in each way.
TURNS = max(2, round(float(os.environ.get("AEROLANE_STRESS_SECONDS", "4")) / 2))
EACH = 6  # Records that a user writes, and nobody else.


def bins_of(number, version):
    """Bins that say whose they are."""
    return {"number": number, "version": version, "text": f"{number}/{version}/" + "x" * (version % 7 * 300)}


class Records:
    """Numbered records: what is known of each, and all ways to write and to read them over one client."""

    def __init__(self, client, set_name, count):
        self.client = client
        self.statement = native.Statement("test", set_name)
        self.keys = [Key("test", set_name, number) for number in range(count)]
        # Of each record: the last version that was sent, and the last one that was confirmed.
        self.sent, self.confirmed = [0] * count, [0] * count

    def next_bins(self, number):
        self.sent[number] += 1
        return bins_of(number, self.sent[number])

    def check(self, record, number, at_least):
        version = record.bin("version")
        assert record.bins == bins_of(number, version), (number, record.bins)
        assert at_least <= version <= self.sent[number], (number, version, at_least)

    def check_all(self, records, known):
        """That they are all of the records, each once."""
        found = {record.bin("number"): record for record in records}
        assert sorted(found) == list(range(len(self.keys))) and len(records) == len(found), sorted(found)
        for number, record in found.items():
            self.check(record, number, known[number])

    # Rounds of users, each on a thread of its own, until the client is closed.

    def singles(self, mine, rng):
        for number in mine:
            self.client.put_blocking(self.keys[number], self.next_bins(number), policy=WRITE)
            self.confirmed[number] = self.sent[number]
        for number in rng.choices(range(len(self.keys)), k=10):
            known = self.confirmed[number]
            self.check(self.client.get_blocking(self.keys[number], policy=READ), number, known)

    def batches(self, mine, rng):
        keys, bins = [self.keys[number] for number in mine], [self.next_bins(number) for number in mine]
        written = answered(self.client.batch_write_blocking(keys, bins, batch_policy=BATCH))
        for number, _ in zip(mine, written, strict=True):
            self.confirmed[number] = self.sent[number]
        known = list(self.confirmed)
        rows = answered(self.client.batch_read_blocking(self.keys, batch_policy=BATCH))
        self.check_all([row.record for row in rows], known)

    def streams(self, mine, rng):
        known, ops = list(self.confirmed), [native.BatchReadOp(key) for key in self.keys]
        rows = dict(self.client.batch_stream_blocking(ops, batch_policy=BATCH))
        self.check_all([row.record for row in answered(rows.values())], known)
        next(self.client.batch_stream_blocking(ops, batch_policy=BATCH))  # And it is dropped.

    def queries(self, mine, rng):
        known = list(self.confirmed)
        self.check_all(list(self.client.query_blocking(self.statement, policy=QUERY)), known)
        with self.client.query_blocking(self.statement, policy=QUERY) as records:
            next(records)

    async def tasks(self, mine, rng):
        async def write(number):
            await self.client.put(self.keys[number], self.next_bins(number), policy=WRITE)
            self.confirmed[number] = self.sent[number]

        async def read(number):
            known = self.confirmed[number]
            self.check(await self.client.get(self.keys[number], policy=READ), number, known)

        async def batch():
            known = list(self.confirmed)
            rows = answered(await self.client.batch_read(self.keys, batch_policy=BATCH))
            self.check_all([row.record for row in rows], known)

        async def query():
            known = list(self.confirmed)
            self.check_all([record async for record in await self.client.query(self.statement, policy=QUERY)], known)

        async def give_up():
            task = asyncio.create_task(read(mine[0]))
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        reads = map(read, rng.choices(range(len(self.keys)), k=10))
        outcomes = await asyncio.gather(batch(), query(), give_up(), *reads, *map(write, mine), return_exceptions=True)
        errors = [outcome for outcome in outcomes if outcome is not None]
        for error in errors:
            if not isinstance(error, ClientClosedError):
                raise error
        if errors:
            raise errors[0]


def answered(rows):
    """Rows of a batch, each of which was answered: else the error of one that was not."""
    for row in rows:
        if row.error is not None:
            raise row.error
    return rows


def on_a_loop(factory):
    """What makes rounds of tasks, all on one event loop, from `Records`, numbers and a `random.Random`."""

    def rounds(records, mine, rng, whole):
        async def forever():
            while True:
                await records.tasks(mine, rng)
                whole()

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(forever())

    return rounds


def on_a_thread(name):
    """The same from the name of a method that makes one round."""

    def rounds(records, mine, rng, whole):
        while True:
            getattr(records, name)(mine, rng)
            whole()

    return rounds


USERS = [
    *map(on_a_thread, ["singles", "singles", "batches", "streams", "queries"]),
    *map(on_a_loop, [*LOOPS.values()] * 2),
]


def close_on_a_thread(client):
    client.close_blocking()


def close_on_a_loop(client):
    async def close():
        await client.close()

    asyncio.run(close())


def close_by_several(client):
    threads = [threading.Thread(target=close, args=(client,)) for close in (close_on_a_thread, close_on_a_loop) * 2]
    for thread in threads:
        thread.start()
    join(threads)


def join(threads):
    deadline = time.monotonic() + HANG
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback(all_threads=True)
        raise AssertionError("a thread hangs")


@pytest.fixture(params=["all nodes", "one node"])
def hosts(request, seeds, new_cluster):
    """With one node all that closing ends has to do with that one."""
    return seeds if request.param == "all nodes" else new_cluster(nodes=1).seeds


@pytest.mark.parametrize("close", [close_on_a_thread, close_on_a_loop, close_by_several])
def test_a_client_that_all_use_is_closed(hosts, connect, set_name, close):
    client = connect(hosts)
    rng = random.Random(close.__name__)
    for turn in range(TURNS):
        records = Records(connect(hosts), f"{set_name}_{turn}", EACH * len(USERS))
        client.batch_write_blocking(records.keys, [bins_of(n, 0) for n in range(len(records.keys))], batch_policy=BATCH)
        failures, begun = [], [threading.Event() for _ in USERS]

        def use(number, records=records, failures=failures, begun=begun, turn=turn):
            mine = range(EACH * number, EACH * (number + 1))
            try:
                USERS[number](records, mine, random.Random(f"{turn} {number}"), begun[number].set)
            except ClientClosedError:
                pass
            except BaseException as error:
                failures.append(error)
            begun[number].set()

        threads = [threading.Thread(target=use, args=(number,), daemon=True) for number in range(len(USERS))]
        for thread in threads:
            thread.start()
        # All have made a whole round, and are somewhere in another one.
        assert all(event.wait(HANG) for event in begun)
        assert not failures and all(thread.is_alive() for thread in threads), failures
        time.sleep(rng.random() * 0.02)
        close(records.client)
        join(threads)
        assert not failures, failures
        with pytest.raises(ClientClosedError):
            records.client.get_blocking(records.keys[0])
        assert records.client.metrics().open_connections == 0
        # What was confirmed is there. What was not may be.
        records.check_all(list(client.query_blocking(records.statement, policy=QUERY)), records.confirmed)
