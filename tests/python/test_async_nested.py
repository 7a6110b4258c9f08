"""Loops that are run from within one of their tasks: what nest_asyncio and dialogs of GUI toolkits do."""

import asyncio
import gc
import heapq
import time

import pytest

from aerolane import Key, native

PATIENT = native.ReadPolicy(total_timeout=60_000)
TASKS = 16


def run_from_within(event_loop, until):
    """Runs a loop that runs already, as nest_asyncio does: without the task that runs, until something holds."""
    task = asyncio.current_task(event_loop)
    give_up = time.monotonic() + 60
    asyncio.tasks._leave_task(event_loop, task)
    try:
        while not until():
            assert time.monotonic() < give_up, "the loop has nothing for those who wait"
            event_loop.call_later(0.05, lambda: None)
            event_loop._run_once()
    finally:
        asyncio.tasks._enter_task(event_loop, task)


class Reentrant(asyncio.SelectorEventLoop):
    """A loop whose turn may be taken over by another one within it, which asyncio's may not."""

    def _run_once(self):
        ready, timers = self._ready, self._scheduled
        timeout = 0 if ready or self._stopping else max(timers[0]._when - self.time(), 0) if timers else None
        self._process_events(self._selector.select(timeout))
        while timers and timers[0]._when < self.time() + self._clock_resolution:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            ready.append(timer)
        for _ in range(len(ready)):
            if ready and not (handle := ready.popleft())._cancelled:
                handle._run()


class Nesting(Reentrant):
    """One that is known for it, as it is run by another module than asyncio."""

    def run_forever(self):
        super().run_forever()


@pytest.fixture(params=[Reentrant, Nesting], ids=["found out", "known"])
def event_loop(request):
    event_loop = request.param()
    yield event_loop
    event_loop.close()


@pytest.fixture
def alone(new_cluster, connect):
    """A client with one connection, and the node's keys: all answers come over it."""
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, native.ClientPolicy(max_conns_per_node=1))
    keys = [Key("test", "nested", i) for i in range(TASKS)]
    for i, key in enumerate(keys):
        client.put_blocking(key, {"i": i})

    def answered():
        (node,) = cluster.nodes
        return cluster.stats(node)["records"]

    return client, keys, answered


def answer_all(answered, count):
    """Has the loop stand still until the server has answered so many: the lane reads all of them in one turn."""
    give_up = time.monotonic() + 60
    while answered() < count:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    time.sleep(0.05)


async def written():
    """What was called is written at the end of the turn of the loop."""
    for _ in range(3):
        await asyncio.sleep(0)


def test_the_others_of_a_turn_are_woken_from_within(alone, event_loop):
    client, keys, answered = alone
    over, nested = [], []

    async def task(i):
        assert (await client.get(keys[i], policy=PATIENT)).bins == {"i": i}
        if not nested:
            nested.append(i)
            run_from_within(event_loop, lambda: len(over) == TASKS - 1)
        # What is called there leaves from there.
        assert (await client.get(keys[i], policy=PATIENT)).bins == {"i": i}
        records = await client.batch_read(keys)
        assert len(records) == TASKS
        await client.put(keys[i], {"i": i})
        over.append(i)

    async def main():
        await client.get(keys[0])
        before = answered()
        tasks = [asyncio.create_task(task(i)) for i in range(TASKS)]
        await written()
        answer_all(answered, before + TASKS)
        await asyncio.gather(*tasks)
        # And as always again.
        for _ in range(3):
            assert len(await asyncio.gather(*(client.get(key) for key in keys))) == TASKS

    event_loop.run_until_complete(asyncio.wait_for(main(), 90))
    assert sorted(over) == list(range(TASKS))
    assert over[-1] == nested[0]


def test_a_call_from_within(alone, event_loop):
    """`loop.run_until_complete(client.get(key))` in a task that was just woken, several times within each other."""
    client, keys, _ = alone

    async def deeper(level):
        record = await client.get(keys[level], policy=PATIENT)
        if level:
            inner = event_loop.create_task(deeper(level - 1))
            run_from_within(event_loop, inner.done)
            assert inner.result() == level - 1
        again = event_loop.create_task(client.get(keys[level], policy=PATIENT))
        run_from_within(event_loop, again.done)
        assert again.result().bins == record.bins
        return record.bins["i"]

    for _ in range(3):
        assert event_loop.run_until_complete(asyncio.wait_for(deeper(5), 90)) == 5
    gc.collect()


def test_a_loop_that_is_known_for_it_reports_nothing(alone):
    client, keys, _ = alone
    event_loop, told = Nesting(), []
    event_loop.set_exception_handler(lambda _, context: told.append(context))

    async def task(i):
        await client.get(keys[i], policy=PATIENT)
        other = event_loop.create_task(client.get(keys[i - 1], policy=PATIENT))
        run_from_within(event_loop, other.done)
        return other.result().bins["i"]

    async def main():
        return await asyncio.gather(*(task(i) for i in range(1, TASKS)))

    try:
        results = event_loop.run_until_complete(asyncio.wait_for(main(), 90))
        assert results == list(range(TASKS - 1))
    finally:
        event_loop.close()
    assert not told
