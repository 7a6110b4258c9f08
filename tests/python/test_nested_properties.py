"""Lists and maps within lists and maps: any operations, on any way into any value, do what the same steps do to a
Python value. Blocking, on event loops (several records at once), and as rows of a batch.
"""

import asyncio
import bisect

import pytest
from conftest import LOOPS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aerolane import Key, SortedMap
from aerolane.native import (
    CTX,
    BatchPolicy,
    ListOperation,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    MapOperation,
    MapPolicy,
    MapReturnType,
    ReadPolicy,
    WritePolicy,
)

L, M, R, K = ListOperation, MapOperation, ListReturnType, MapReturnType
LP, MP = ListPolicy(), MapPolicy()
# For busy machines.
READ, WRITE = ReadPolicy(total_timeout=50_000), WritePolicy(total_timeout=50_000)
BATCH = BatchPolicy(total_timeout=50_000, max_retries=0)

ints = st.integers(-(2**63), 2**63 - 1)
small = st.integers(-40, 40)
floats = st.sampled_from([0.5, -1.25, 2.0])
scalars = st.one_of(st.none(), st.booleans(), small, ints, st.text(max_size=4), st.binary(max_size=4), floats)
map_keys = st.one_of(small, st.text(max_size=3), st.binary(max_size=3))


def containers(items):
    lists = st.lists(items, max_size=5) | st.lists(small, min_size=1, max_size=6)
    maps = st.dictionaries(map_keys, items, max_size=5)
    return lists | maps | maps.map(SortedMap)


nested = st.recursive(scalars, containers, max_leaves=20)
bins_values = containers(nested)


def key_order(key):
    """How the server sorts keys: ints, then strings, then blobs."""
    rank = {int: 0, str: 1, bytes: 2}[type(key)]
    return rank, key.encode() if isinstance(key, str) else key


def plain(value):
    """The value with the types of all that is in it: to Python, 1 is True and 1.0."""
    if isinstance(value, dict):
        pairs = [(plain(key), plain(item)) for key, item in value.items()]
        return "map", tuple(sorted(pairs, key=lambda pair: key_order(pair[0][1])))
    if isinstance(value, list):
        return "list", tuple(plain(item) for item in value)
    return type(value).__name__, value


def copied(value):
    if isinstance(value, dict):
        return type(value)({key: copied(item) for key, item in value.items()})
    return [copied(item) for item in value] if isinstance(value, list) else value


def same(a, b):
    return plain(a) == plain(b)


def ways(value, way=()):
    """All containers within a value, each with the steps to it."""
    yield way, value
    steps = enumerate(value) if isinstance(value, list) else value.items()
    for step, item in steps:
        if isinstance(item, list | dict):
            yield from ways(item, (*way, (value, step)))


def context(draw, way):
    """The contexts of a way: the same step can be said in several ways."""
    found = []
    for value, step in way:
        if isinstance(value, list):
            found.append(CTX.list_index(draw(st.sampled_from([step, step - len(value)]))))
        elif draw(st.booleans()):
            found.append(CTX.map_key(step))
        else:
            at = sorted(value, key=key_order).index(step)
            found.append(CTX.map_index(draw(st.sampled_from([at, at - len(value)]))))
    return found


# Steps: each draws arguments that fit, changes the Python value, and gives the operation with what it must answer.


def list_step(draw, value):
    places = range(-len(value), len(value))
    whole = [
        (lambda: (L.size("b"), len(value))),
        (lambda: _append(value, draw(nested))),
        (lambda: _append_items(value, draw(st.lists(nested, max_size=3)))),
        (lambda: _insert(value, draw(st.integers(0, len(value))), draw(nested))),
        (lambda: _clear(value, L)),
        (lambda: _by_value(value, draw(scalars), remove=draw(st.booleans()))),
        (lambda: _by_values(value, draw(st.lists(scalars, max_size=3)))),
    ]
    if places:
        index, count = draw(st.sampled_from(places)), draw(st.integers(1, 4))
        whole += [
            (lambda: (L.get("b", index), value[index])),
            (lambda: (L.get_range("b", index, count), value[_slice(value, index, count)])),
            (lambda: (L.get_range_from("b", index), value[index:])),
            (lambda: (L.get_by_index("b", index, R.VALUE), value[index])),
            (lambda: _set(value, index, draw(nested))),
            (lambda: _take(value, index, L.pop("b", index), value[index])),
            (lambda: _take(value, index, L.remove("b", index), 1)),
            (lambda: _cut(value, index, count, L.pop_range, items=True)),
            (lambda: _cut(value, index, count, L.remove_range, items=False)),
            (lambda: _trim(value, index, count)),
            (lambda: _range_inverted(value, index, count)),
        ]
        if type(value[index]) is int and abs(value[index]) < 2**62:
            whole.append(lambda: _increment(value, index, draw(small)))
    if value and all(type(item) is int for item in value):
        rank = draw(st.integers(0, len(value) - 1))
        whole += [
            (lambda: (L.get_by_rank("b", rank, R.VALUE), sorted(value)[rank])),
            (lambda: _sort(value, draw(st.booleans()))),
            (lambda: _between(value, *sorted([draw(small), draw(small)]))),
        ]
    return draw(st.sampled_from(whole))()


def _slice(value, index, count):
    start = index + len(value) if index < 0 else index
    return slice(start, start + count)


def _append(value, item):
    value.append(copied(item))
    return L.append("b", item, LP), len(value)


def _append_items(value, items):
    value.extend(copied(items))
    return L.append_items("b", items, LP), len(value)


def _insert(value, index, item):
    value.insert(index, copied(item))
    return L.insert("b", index, item, LP), len(value)


def _clear(value, kind):
    value.clear()
    return kind.clear("b"), None


def _by_value(value, item, remove):
    at = [n for n, other in enumerate(value) if same(other, item)]
    if not remove:
        return L.get_by_value("b", item, R.INDEX), at
    value[:] = [other for other in value if not same(other, item)]
    return L.remove_by_value("b", item, R.COUNT), len(at)


def _by_values(value, items):
    count = sum(any(same(other, item) for item in items) for other in value)
    return L.get_by_value_list("b", items, R.COUNT), count


def _set(value, index, item):
    value[index] = copied(item)
    return L.set("b", index, item), None


def _take(value, index, operation, answer):
    del value[index]
    return operation, answer


def _cut(value, index, count, operation, items):
    where = _slice(value, index, count)
    cut = value[where]
    del value[where]
    return operation("b", index, count), cut if items else len(cut)


def _trim(value, index, count):
    left = value[_slice(value, index, count)]
    cut = len(value) - len(left)
    value[:] = left
    return L.trim("b", index, count), cut


def _range_inverted(value, index, count):
    where = _slice(value, index, count)
    others = value[: where.start] + value[where.stop :]
    return L.get_by_index_range("b", index, count, R.VALUE | R.INVERTED), others


def _increment(value, index, by):
    value[index] += by
    return L.increment("b", index, by, LP), value[index]


def _sort(value, descending):
    value.sort(reverse=descending)
    return L.sort("b", ListSortFlags.DESCENDING if descending else ListSortFlags.DEFAULT), None


def _between(value, begin, end):
    return L.get_by_value_range("b", begin, end, R.COUNT), sum(begin <= item < end for item in value)


def map_step(draw, value):
    in_order = sorted(value, key=key_order)
    # Keys that are there are drawn as often as others.
    keys = map_keys | st.sampled_from(in_order) if in_order else map_keys
    key, others = draw(keys), draw(st.lists(keys, max_size=3))
    whole = [
        (lambda: (M.size("b"), len(value))),
        (lambda: _put(value, key, draw(nested))),
        (lambda: _put_items(value, draw(st.dictionaries(map_keys, nested, max_size=3)))),
        (lambda: _clear(value, M)),
        (lambda: (M.get_by_key("b", key, K.VALUE), value.get(key))),
        (lambda: (M.get_by_key("b", key, K.EXISTS), key in value)),
        (lambda: (M.remove_by_key("b", key, K.VALUE), value.pop(key, None))),
        (
            lambda: (
                M.get_by_key_list("b", others, K.COUNT),
                len(set(map(key_order, others)) & set(map(key_order, value))),
            )
        ),
        (lambda: _remove_keys(value, others)),
        (lambda: _key_range(value, in_order, *sorted([key, *others[:1]], key=key_order))),
    ]
    if in_order:
        at = draw(st.integers(-len(in_order), len(in_order) - 1))
        whole += [
            (lambda: (M.get_by_index("b", at, K.KEY), in_order[at])),
            (lambda: (M.get_by_index_range_from("b", at, K.KEY), in_order[at:])),
            (lambda: (M.get_by_index_range_from("b", at, K.KEY_VALUE), {k: value[k] for k in in_order[at:]})),
            (lambda: (M.remove_by_index("b", at, K.VALUE), value.pop(in_order[at]))),
        ]
    if type(value.get(key)) is int and abs(value[key]) < 2**62:
        whole.append(lambda: _add(value, key, draw(small)))
    return draw(st.sampled_from(whole))()


def _put(value, key, item):
    value[key] = copied(item)
    return M.put("b", key, item, MP), len(value)


def _put_items(value, items):
    value.update(copied(items))
    return M.put_items("b", list(items.items()), MP), len(value)


def _remove_keys(value, keys):
    gone = {key for key in value if any(key_order(key) == key_order(other) for other in keys)}
    for key in gone:
        del value[key]
    return M.remove_by_key_list("b", keys, K.COUNT), len(gone)


def _count_keys(value, keys):
    return M.get_by_key_list("b", keys, K.COUNT), len(set(map(key_order, keys)) & set(map(key_order, value)))


def _key_range(value, in_order, begin, end=None):
    order = list(map(key_order, in_order))
    low = bisect.bisect_left(order, key_order(begin))
    high = len(order) if end is None else bisect.bisect_left(order, key_order(end))
    return M.get_by_key_range("b", begin, end, K.KEY), in_order[low:high]


def _add(value, key, by):
    value[key] += by
    return M.increment_value("b", key, by, MP), value[key]


@st.composite
def histories(draw):
    """A value, operations on it, their answers, and the value that they leave."""
    value = draw(bins_values)
    left, operations, answers = copied(value), [], []
    for _ in range(draw(st.integers(1, 6))):
        way, container = draw(st.sampled_from(list(ways(left))))
        ctx = context(draw, way)
        step = list_step if isinstance(container, list) else map_step
        operation, answer = step(draw, container)
        operations.append(operation.set_context(ctx) if ctx else operation)
        answers.append(copied(answer))
    return value, operations, answers, left


# How the operations get to the cluster: each takes records, `[(key, value, operations)]`, and gives answers and values.


def blocking(client):
    def run(records):
        found = []
        for key, value, operations in records:
            client.delete_blocking(key, policy=WRITE)
            client.put_blocking(key, {"b": value}, policy=WRITE)
            results = client.operate_blocking(key, operations, policy=WRITE).results
            found.append((results, client.get_blocking(key, policy=READ).bins["b"]))
        return found

    return run


def batches(client):
    def run(records):
        keys = [key for key, *_ in records]
        client.batch_delete_blocking(keys, batch_policy=BATCH)
        rows = client.batch_write_blocking(keys, [{"b": value} for _, value, _ in records], batch_policy=BATCH)
        rows += client.batch_operate_blocking(keys, [operations for *_, operations in records], batch_policy=BATCH)
        rows += client.batch_read_blocking(keys, batch_policy=BATCH)
        assert not [row.error for row in rows if row.error]
        count = len(records)
        pairs = zip(rows[count : 2 * count], rows[2 * count :], strict=True)
        return [(done.record.results, read.record.bins["b"]) for done, read in pairs]

    return run


def on_loop(client, runner):
    async def one(key, value, operations):
        await client.delete(key, policy=WRITE)
        await client.put(key, {"b": value}, policy=WRITE)
        record = await client.operate(key, operations, policy=WRITE)
        return record.results, (await client.get(key, policy=READ)).bins["b"]

    async def all_of(records):
        async with asyncio.timeout(60):
            return await asyncio.gather(*(one(*record) for record in records))

    return lambda records: runner.run(all_of(records))


@pytest.fixture(scope="module", params=["blocking", "batches", *LOOPS])
def run(request, client):
    if request.param in ("blocking", "batches"):
        yield {"blocking": blocking, "batches": batches}[request.param](client)
        return
    with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
        yield on_loop(client, runner)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(all_histories=st.lists(histories(), min_size=1, max_size=3))
def test_nested_values_change_as_in_python(run, all_histories):
    records = [
        (Key("test", "py_nested", f"{run.__qualname__} {n}"), value, operations)
        for n, (value, operations, *_) in enumerate(all_histories)
    ]
    for (results, bins), (value, operations, answers, left) in zip(run(records), all_histories, strict=True):
        if len(results) < len(answers):
            # Where nothing is written, servers leave out the reads that give None (the real one, too).
            assert same(left, value), (value, operations)
            answers = [answer for answer in answers if answer is not None]
        for place, (result, answer) in enumerate(zip(results, answers, strict=True)):
            assert same(result, answer), (value, operations, place)
        assert same(bins, left), (value, operations)


def test_reads_that_give_nothing(client):
    key, write = Key("test", "py_nested", "nothing"), WritePolicy(respond_per_each_op=True)
    client.put_blocking(key, {"b": [None, 1]}, policy=WRITE)
    reads = [ListOperation.get("b", 0), ListOperation.get("b", 1)]
    assert client.operate_blocking(key, reads, policy=WRITE).results == [1]
    assert client.operate_blocking(key, reads, policy=write).results == [None, 1]
    assert client.operate_blocking(key, [*reads, ListOperation.set("b", 1, 2)]).results == [None, 1, None]


@settings(max_examples=100, deadline=None)
@given(value=bins_values)
def test_what_was_read_and_written_back_stays(client, value):
    """With the kinds of its maps, too: those in the order of their keys come back as what they were."""
    key = Key("test", "py_nested", "back")
    client.put_blocking(key, {"b": value}, policy=WRITE)
    once = client.get_blocking(key, policy=READ).bins["b"]
    client.put_blocking(key, {"b": once}, policy=WRITE)
    again = client.get_blocking(key, policy=READ).bins["b"]
    assert same(once, value) and same(again, value)
    assert kinds(once) == kinds(again) == kinds(value)


def kinds(value):
    """The classes of all containers within, in the order in which the server keeps them."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: key_order(pair[0]))
        return type(value).__name__, [kinds(item) for _, item in pairs]
    return ("list", [kinds(item) for item in value]) if isinstance(value, list) else None
