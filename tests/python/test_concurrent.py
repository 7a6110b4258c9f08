"""Many calls with bounded concurrency: asyncio and threads."""

import asyncio
import gc
import inspect
import itertools
import threading
import time
import weakref

import pytest
from conftest import eventually_async

import aerolane
import aerolane.sync
from aerolane import Key
from aerolane.concurrent._event_loop import with_each_key
from aerolane.exceptions import InvalidArgumentError, RecordNotFoundError


class Concurrent:
    """Both functions, for both kinds of session."""

    def __init__(self, either):
        self.module = aerolane if either.kind == "async" else aerolane.sync
        self.either = either

    def _run(self, name, *args, **named):
        def call():
            return getattr(self.module, name)(*args, **named)

        if self.either.kind == "sync":
            made = call()
            return list(made) if inspect.isgenerator(made) else made

        async def awaited():
            made = call()
            return [result async for result in made] if inspect.isasyncgen(made) else await made

        return self.either.run(awaited())

    def calls(self, calls, **named):
        return self._run("execute_concurrent", self.either.session, calls, **named)

    def with_args(self, method, args, **named):
        return self._run("execute_concurrent_with_args", self.either.session, method, args, **named)


@pytest.fixture
def concurrent(either):
    return Concurrent(either)


@pytest.fixture
def keys(set_name):
    return lambda count: [Key("test", set_name, n) for n in range(count)]


@pytest.mark.parametrize("results", ["list", "iterator"])
@pytest.mark.parametrize("concurrency", [1, 7, 100])
def test_results_come_in_order(concurrent, keys, results, concurrency):
    keys = keys(150)
    puts = ((key, {"n": n}) for n, key in enumerate(keys))
    assert concurrent.with_args("put", puts, concurrency=concurrency, results=results) == [None] * 150
    records = concurrent.with_args("get", keys, concurrency=concurrency, results=results)
    assert [record.bins["n"] for record in records] == list(range(150))
    named = concurrent.with_args("get", [{"key": keys[3], "bins": ["n"]}], results=results)
    assert named[0].bins == {"n": 3}
    assert concurrent.with_args("get", [], results=results) == []
    assert concurrent.calls(iter([]), results=results) == []


def test_calls_of_all_kinds(concurrent, either, keys):
    a, b, c = keys(3)
    done = concurrent.calls(
        [
            ("put", (a, {"n": 1})),
            ["put", [b, {"n": 2}]],
            lambda session: session.put(c, {"n": 3}),
            (either.session.put, (c, {"m": 4})),
        ]
    )
    assert done == [None] * 4
    read = concurrent.calls(
        [
            ("get", (a,), {"bins": ["n"]}),
            either.session.query([a, b, c]),
            either.session.query(b).bins("n"),
            (lambda: 5,),
        ]
    )
    assert read[0].bins == {"n": 1}
    found = [[result.record.bins for result in either.run(stream.collect())] for stream in read[1:3]]
    assert found == [[{"n": 1}, {"n": 2}, {"n": 3, "m": 4}], [{"n": 2}]]
    assert read[3] == 5


@pytest.mark.parametrize("results", ["list", "iterator"])
def test_errors_stand_in_place_or_are_raised(concurrent, keys, results):
    keys = keys(40)
    concurrent.with_args("put", [(key, {"n": 1}) for key in keys if key.value % 4], results=results)
    found = concurrent.with_args("get", keys, raise_on_first_error=False, results=results, concurrency=5)
    for key, result in zip(keys, found, strict=True):
        assert isinstance(result, RecordNotFoundError) if key.value % 4 == 0 else result.bins == {"n": 1}
    taken = []
    with pytest.raises(RecordNotFoundError):
        concurrent.with_args("get", (taken.append(key) or key for key in keys[1:]), results=results, concurrency=2)
    assert 4 <= len(taken) < 20
    # What cannot even begin is an error of its own call.
    (first, second) = concurrent.with_args("get", [5, keys[1]], raise_on_first_error=False, results=results)
    assert isinstance(first, TypeError)
    assert second.bins == {"n": 1}
    with pytest.raises(TypeError):
        concurrent.calls([5], results=results)


@pytest.mark.parametrize("results", ["list", "iterator"])
def test_inputs_that_raise(concurrent, keys, results):
    keys = keys(3)

    def inputs():
        yield (keys[0], {"n": 0})
        yield (keys[1], {"n": 1})
        raise ZeroDivisionError("of the inputs")

    with pytest.raises(ZeroDivisionError, match="of the inputs"):
        concurrent.with_args("put", inputs(), results=results)


@pytest.mark.parametrize("name", ["execute_concurrent", "execute_concurrent_with_args"])
def test_wrong_arguments_raise_at_once(either, name):
    module = aerolane if either.kind == "async" else aerolane.sync
    other = aerolane.sync if either.kind == "async" else aerolane
    rest = (["get"] if name.endswith("args") else []) + [[]]

    def call(session=either.session, rest=rest, module=module, **named):
        return getattr(module, name)(session, *rest, **named)

    for named in ({"concurrency": 0}, {"concurrency": -1}, {"results": "generator"}, {"results": None}):
        with pytest.raises(InvalidArgumentError, match=next(iter(named))):
            call(**named)
    for named in ({"concurrency": "5"}, {"concurrency": True}, {"concurrency": 1.5}, {"raise_on_first_error": 1}):
        with pytest.raises(TypeError, match=next(iter(named))):
            call(**named)
    with pytest.raises(InvalidArgumentError, match=r"aerolane\b"):
        call(module=other)
    for inputs in (5, None, "text"):
        with pytest.raises(TypeError):
            call(rest=[*rest[:-1], inputs])
    if name.endswith("args"):
        with pytest.raises(InvalidArgumentError, match="no method 'gets'"):
            call(rest=["gets", []])
        with pytest.raises(TypeError):
            call(rest=[5, []])


def test_a_method_that_does_not_exist_fails_its_call(concurrent):
    with pytest.raises(InvalidArgumentError, match="no method 'gets'"):
        concurrent.calls([("gets", (1,))])
    for call in ((), ("get", (1,), {}, 4)):
        with pytest.raises(InvalidArgumentError):
            concurrent.calls([call])
    for call in (("get", 5), ("get", (5,), 6)):
        with pytest.raises(TypeError):
            concurrent.calls([call])


def test_many(either, keys):
    keys, session = keys(50), either.session
    for concurrency in (None, 1, 8):
        assert either.run(session.put_many(keys[:40], {"n": 1}, concurrency=concurrency)) == [None] * 40
        found = either.run(session.get_many(keys, ["n"], concurrency=concurrency))
        assert [record.bins for record in found[:40]] == [{"n": 1}] * 40
        assert all(isinstance(error, RecordNotFoundError) for error in found[40:])
    assert either.run(session.get_many([], concurrency=3)) == []
    with pytest.raises(InvalidArgumentError):
        either.run(session.get_many(keys, concurrency=0))
    with pytest.raises(TypeError):
        either.run(session.put_many([keys[0], 5], {"n": 1}, concurrency=2))
    with pytest.raises(TypeError):
        either.run(session.get_many(keys[0], concurrency=2))


# The event loop.


class Gate:
    """Calls that are over when the test says so."""

    def __init__(self):
        self.waiting, self.most, self.begun, self.cancelled = {}, 0, 0, 0

    async def call(self, number):
        self.begun += 1
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.most = max(self.most, len(self.waiting))
        try:
            return await self.waiting[number]
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            del self.waiting[number]


async def test_concurrency_is_bounded():
    gate = Gate()
    run = asyncio.ensure_future(aerolane.execute_concurrent_with_args(None, gate.call, range(20), concurrency=4))
    for _ in range(20):
        await eventually_async(lambda: len(gate.waiting) == min(4, 20 - gate.begun + len(gate.waiting)) > 0)
        number = max(gate.waiting)  # The last one first.
        gate.waiting[number].set_result(number)
        await asyncio.sleep(0)
    assert await run == list(range(20))
    assert gate.most == 4


@pytest.mark.parametrize("endless", [False, True], ids=["sync", "async"])
async def test_endless_inputs_and_leaving_early(endless):
    gate, taken, closed = Gate(), [], []

    def numbers():
        try:
            for number in itertools.count():
                taken.append(number)
                yield number
        finally:
            closed.append(True)

    async def async_numbers():
        try:
            for number in itertools.count():
                taken.append(number)
                yield number
        finally:
            closed.append(True)

    inputs = async_numbers() if endless else numbers()
    results = aerolane.execute_concurrent_with_args(None, gate.call, inputs, concurrency=4, results="iterator")
    assert taken == []
    got = []
    reading = asyncio.ensure_future(anext(results))
    await eventually_async(lambda: len(gate.waiting) == 4)
    # The first one is slow: others go on, but not without bound.
    for number in range(1, 8):
        await eventually_async(lambda number=number: number in gate.waiting)
        gate.waiting[number].set_result(number)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(taken) <= 9 and list(gate.waiting) == [0]
    gate.waiting[0].set_result(0)
    got.append(await reading)
    for _ in range(5):
        got.append(await anext(results))
    assert got == list(range(6))
    await eventually_async(lambda: len(gate.waiting) == 4)
    begun = gate.begun
    await results.aclose()
    assert (gate.waiting, gate.cancelled, gate.begun, closed) == ({}, 4, begun, [True])
    with pytest.raises(StopAsyncIteration):
        await anext(results)


@pytest.mark.parametrize("kind", ["list", "iterator"])
async def test_a_cancelled_wait_cancels_what_is_in_flight(kind):
    gate = Gate()
    run = aerolane.execute_concurrent_with_args(None, gate.call, itertools.count(), concurrency=3, results=kind)
    task = asyncio.ensure_future(run if kind == "list" else anext(run))
    await eventually_async(lambda: len(gate.waiting) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (gate.waiting, gate.cancelled) == ({}, 3)


async def test_the_first_error_cancels_the_rest():
    gate = Gate()
    run = asyncio.ensure_future(
        aerolane.execute_concurrent_with_args(None, gate.call, itertools.count(), concurrency=3)
    )
    await eventually_async(lambda: len(gate.waiting) == 3)
    gate.waiting[2].set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await run
    assert (gate.waiting, gate.cancelled) == ({}, 2)


async def test_async_inputs_that_raise(seeds, set_name):
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        keys = [Key("test", set_name, n) for n in range(30)]

        async def inputs(count):
            for n in range(count):
                await asyncio.sleep(0)
                yield keys[n], {"n": n}
            raise ZeroDivisionError("of the inputs")

        async def all_of(items):
            for item in items:
                yield item

        for results in ("list", "iterator"):
            run = aerolane.execute_concurrent_with_args(session, "put", inputs(20), results=results)
            with pytest.raises(ZeroDivisionError, match="of the inputs"):
                await run if results == "list" else [item async for item in run]
        await aerolane.execute_concurrent_with_args(session, "put", all_of([(key, {"n": 1}) for key in keys]))
        records = await aerolane.execute_concurrent_with_args(session, "get", all_of(keys), concurrency=2)
        assert [record.bins for record in records] == [{"n": 1}] * 30
        assert await aerolane.execute_concurrent_with_args(session, "get", all_of([])) == []
        native = await aerolane.execute_concurrent_with_args(client.native, "get", keys, concurrency=3)
        assert [record.bins for record in native] == [{"n": 1}] * 30
        with pytest.raises(InvalidArgumentError, match="blocks"):
            aerolane.execute_concurrent_with_args(client.native, "get_blocking", keys)


async def test_many_keys_as_they_come(seeds, set_name):
    keys, given, closed = [Key("test", set_name, n) for n in range(50)], 0, False

    async def coming(all_of=keys):
        nonlocal given, closed
        try:
            for key in all_of:
                given += 1
                await asyncio.sleep(0)
                yield key
        finally:
            closed = True

    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        for concurrency in (None, 1, 8):
            assert await session.put_many(coming(keys[:40]), {"n": 1}, concurrency=concurrency) == [None] * 40
            found = await session.get_many(coming(), ["n"], concurrency=concurrency)
            assert [record.bins for record in found[:40]] == [{"n": 1}] * 40
            assert all(isinstance(error, RecordNotFoundError) for error in found[40:])
        assert await session.get_many(coming([])) == []
        # What is no key ends it: what comes after is not read.
        given, closed = 0, False
        with pytest.raises(TypeError, match=r"keys\[3\] must be a Key, not <class 'int'>"):
            await session.put_many(coming([*keys[:3], 5, *keys[3:]]), {"n": 2})
        assert (given, closed) == (4, True)
        with pytest.raises(InvalidArgumentError):
            await session.get_many(coming(), concurrency=0)


async def test_keys_are_read_as_fast_as_calls_end():
    gate, given = Gate(), 0

    class Session:
        def get(self, key, bins):
            return asyncio.ensure_future(gate.call(key.value))

    async def coming():
        nonlocal given
        while True:
            given += 1
            yield Key("test", "any", given)

    arguments = with_each_key(coming(), None)
    run = asyncio.ensure_future(aerolane.execute_concurrent_with_args(Session(), "get", arguments, concurrency=4))
    await eventually_async(lambda: len(gate.waiting) == 4)
    assert given == 4
    gate.waiting[2].set_result(2)
    await eventually_async(lambda: 5 in gate.waiting)
    assert given == 5
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert gate.cancelled == 4


async def test_nothing_stays_behind(seeds, set_name):
    async with aerolane.Client(seeds) as client:
        session = client.create_session()
        key = Key("test", set_name, 1)
        await session.put(key, {"n": 1})

        class Marked(dict):
            pass

        marks = []

        def inputs():
            while True:
                mark = Marked(key=key)
                marks.append(weakref.ref(mark))
                yield mark

        results = aerolane.execute_concurrent_with_args(session, "get", inputs(), concurrency=8, results="iterator")
        for _ in range(50):
            assert (await anext(results)).bins == {"n": 1}
        await results.aclose()
        del results
        gc.collect()
        assert len(marks) <= 50 + 17
        assert [mark() for mark in marks if mark() is not None] == []
        assert len(asyncio.all_tasks()) == 1


# Threads.


def test_threads_are_bounded_and_end():
    before, running, most, lock = threading.active_count(), 0, 0, threading.Lock()

    def call(number):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1
        return number

    run = aerolane.sync.execute_concurrent_with_args(None, call, range(60), concurrency=5)
    assert run == list(range(60))
    assert 1 < most <= 5
    assert threading.active_count() == before
    taken, closed = [], []

    def endless():
        try:
            for number in itertools.count():
                taken.append(number)
                yield number
        finally:
            closed.append(True)

    results = aerolane.sync.execute_concurrent_with_args(None, call, endless(), concurrency=5, results="iterator")
    assert taken == []
    assert [next(results) for _ in range(20)] == list(range(20))
    results.close()
    assert len(taken) <= 20 + 10
    assert (running, closed, threading.active_count()) == (0, [True], before)
    # A call that never uses more than one thread's time starts no others.
    names = set()
    aerolane.sync.execute_concurrent_with_args(
        None, lambda _: names.add(threading.current_thread().name), [1], concurrency=50
    )
    assert len(names) == 1


def test_native_calls_on_threads(client, keys):
    keys = keys(40)
    run = aerolane.sync.execute_concurrent_with_args
    assert run(client, "put_blocking", [(key, {"n": 1}) for key in keys]) == [None] * 40
    assert [record.bins for record in run(client, "get_blocking", keys, concurrency=4)] == [{"n": 1}] * 40
