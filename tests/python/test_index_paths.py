"""Secondary indexes on what a context selects within a bin, and on the values of expressions: what queries over them
find is compared with what Python finds in the same records."""

import pytest

import aerolane
from aerolane import native
from aerolane.native import (
    CTX,
    CollectionIndexType,
    ExpType,
    Filter,
    FilterExpression,
    IndexType,
    ListReturnType,
    MapReturnType,
)

F = FilterExpression
LIST, KEYS, VALUES = CollectionIndexType.LIST, CollectionIndexType.MAP_KEYS, CollectionIndexType.MAP_VALUES
COUNT = 60


def point(n):
    return f'{{"type":"Point","coordinates":[{n / 10},{n / 10}]}}'


def region(n):
    """A square around the point of this number, and of no other."""
    low, high = n / 10 - 0.04, n / 10 + 0.04
    corners = f"[[{low},{low}],[{high},{low}],[{high},{high}],[{low},{high}],[{low},{low}]]"
    return f'{{"type":"Polygon","coordinates":[{corners}]}}'


def bins_of(n):
    """The bins of a record: some of them lack what the indexes are on."""
    if n % 10 == 9:
        return {"n": n, "m": n, "l": "no list", "f": 0.5}
    return {
        "n": n,
        "s": f"s{n % 7}",
        "f": n / 2,
        "b": bytes([n % 5, 1]),
        "l": [[n, n + 1], [n % 3, "x"], -n],
        "m": {
            "a": {"n": n, "s": f"s{n % 7}", "b": bytes([n % 4]), "p": native.GeoJSON(point(n))},
            "l": [n, n * 2],
            "k": {f"k{n % 6}": n % 8, "z": 1},
        },
    }


RECORDS = {n: bins_of(n) for n in range(COUNT)}
WHOLE = {n: bins for n, bins in RECORDS.items() if n % 10 != 9}


def filled(client, set_name):
    for n, bins in RECORDS.items():
        client.put_blocking(native.Key("test", set_name, n), bins)


@pytest.fixture
def indexed(client, set_name, new_index):
    """Fills a set; gives a function that makes an index: on a bin with a context, or on an expression."""
    filled(client, set_name)

    def make(kind, bin_name=None, ctx=None, expression=None, cit=None):
        def create(name):
            if expression is None:
                return client.create_index_blocking("test", set_name, bin_name, name, kind, cit, ctx)
            return client.create_index_using_expression_blocking("test", set_name, name, kind, expression, cit)

        return new_index(create)

    return make


def statement(set_name, query_filter):
    made = native.Statement("test", set_name)
    made.filters = [query_filter]
    return made


def found(client, set_name, query_filter, **kwargs):
    return sorted(record.bins["n"] for record in client.query_blocking(statement(set_name, query_filter), **kwargs))


def those(condition):
    return [n for n, bins in WHOLE.items() if condition(bins)]


A = [CTX.map_key("a")]
# The index (type, bin, context, collection), a filter, the same filter by the name of the index, and what Python finds.
CONTEXTS = {
    "an int under two keys": (
        (IndexType.NUMERIC, "m", [*A, CTX.map_key("n")], None),
        lambda: Filter.range("m", 10, 24),
        lambda name: Filter.range_by_index(name, 10, 24),
        lambda bins: 10 <= bins["m"]["a"]["n"] <= 24,
    ),
    "a string under two keys": (
        (IndexType.STRING, "m", [*A, CTX.map_key("s")], None),
        lambda: Filter.equal("m", "s3"),
        lambda name: Filter.equal_by_index(name, "s3"),
        lambda bins: bins["s"] == "s3",
    ),
    "a blob": (
        (IndexType.BLOB, "m", [*A, CTX.map_key("b")], None),
        lambda: Filter.equal("m", b"\x02"),
        lambda name: Filter.equal_by_index(name, b"\x02"),
        lambda bins: bins["m"]["a"]["b"] == b"\x02",
    ),
    "a point": (
        (IndexType.GEO2D_SPHERE, "m", [*A, CTX.map_key("p")], None),
        lambda: Filter.within_region("m", region(20)),
        lambda name: Filter.within_region_by_index(name, region(20)),
        lambda bins: bins["n"] == 20,
    ),
    "an item by its index": (
        (IndexType.NUMERIC, "l", [CTX.list_index(2)], None),
        lambda: Filter.range("l", -12, -7),
        lambda name: Filter.range_by_index(name, -12, -7),
        lambda bins: -12 <= bins["l"][2] <= -7,
    ),
    "an item by its index from the end": (
        (IndexType.NUMERIC, "l", [CTX.list_index(0), CTX.list_index(-1)], None),
        lambda: Filter.equal("l", 31),
        lambda name: Filter.equal_by_index(name, 31),
        lambda bins: bins["l"][0][-1] == 31,
    ),
    "an item by its rank": (
        # An int is less than any list.
        (IndexType.NUMERIC, "l", [CTX.list_rank(0)], None),
        lambda: Filter.equal("l", -5),
        lambda name: Filter.equal_by_index(name, -5),
        lambda bins: bins["l"][2] == -5,
    ),
    "the items of a list within": (
        (IndexType.NUMERIC, "l", [CTX.list_index(0)], LIST),
        lambda: Filter.contains("l", 40, LIST),
        lambda name: Filter.contains_by_index(name, 40, LIST),
        lambda bins: 40 in bins["l"][0],
    ),
    "the items of a list within, a range": (
        (IndexType.NUMERIC, "m", [CTX.map_key("l")], LIST),
        lambda: Filter.contains_range("m", 50, 55, LIST),
        lambda name: Filter.contains_range_by_index(name, 50, 55, LIST),
        lambda bins: any(50 <= item <= 55 for item in bins["m"]["l"]),
    ),
    "strings of a list within": (
        (IndexType.STRING, "l", [CTX.list_index(1)], LIST),
        lambda: Filter.contains("l", "x", LIST),
        lambda name: Filter.contains_by_index(name, "x", LIST),
        lambda bins: True,
    ),
    "the keys of a map within": (
        (IndexType.STRING, "m", [CTX.map_key("k")], KEYS),
        lambda: Filter.contains("m", "k4", KEYS),
        lambda name: Filter.contains_by_index(name, "k4", KEYS),
        lambda bins: "k4" in bins["m"]["k"],
    ),
    "the values of a map within": (
        (IndexType.NUMERIC, "m", [CTX.map_key("k")], VALUES),
        lambda: Filter.contains("m", 7, VALUES),
        lambda name: Filter.contains_by_index(name, 7, VALUES),
        lambda bins: 7 in bins["m"]["k"].values(),
    ),
    "a value by the rank of its pair": (
        (IndexType.NUMERIC, "m", [CTX.map_key("k"), CTX.map_rank(-1)], None),
        lambda: Filter.equal("m", 6),
        lambda name: Filter.equal_by_index(name, 6),
        lambda bins: max(bins["m"]["k"].values()) == 6,
    ),
    "a value by the index of its pair": (
        (IndexType.NUMERIC, "m", [CTX.map_key("k"), CTX.map_index(0)], None),
        lambda: Filter.equal("m", 3),
        lambda name: Filter.equal_by_index(name, 3),
        lambda bins: bins["m"]["k"][min(bins["m"]["k"])] == 3,
    ),
}


@pytest.mark.parametrize("case", CONTEXTS)
def test_contexts(client, set_name, indexed, case):
    (kind, bin_name, ctx, cit), by_bin, by_index, condition = CONTEXTS[case]
    name = indexed(kind, bin_name, ctx, cit=cit)
    expected = those(condition)
    assert expected
    assert found(client, set_name, by_bin().context(ctx)) == expected
    assert found(client, set_name, by_index(name)) == expected
    # Without the context, the index is another one, which there is not.
    with pytest.raises(aerolane.IndexNotFoundError):
        found(client, set_name, by_bin())
    with pytest.raises(aerolane.IndexNotFoundError):
        found(client, set_name, by_bin().context([CTX.map_key("none")]))


def n_of_even():
    """`n` where it is even, else unknown: such records are not in the index."""
    n = F.int_bin("n")
    return F.cond([F.eq(F.num_mod(n, F.int_val(2)), F.int_val(0)), n, F.unknown()])


def under(key, kind, bin_name="m"):
    return F.map_get_by_key(MapReturnType.VALUE, kind, F.string_val(key), F.map_bin(bin_name), A)


EXPRESSIONS = {
    "a sum": (
        (IndexType.NUMERIC, lambda: F.num_add([F.int_bin("n"), F.int_val(1000)]), None),
        lambda: Filter.range("", 1010, 1014),
        lambda name: Filter.range_by_index(name, 1010, 1014),
        lambda bins: 10 <= bins["n"] <= 14,
    ),
    "a value for some only": (
        (IndexType.NUMERIC, n_of_even, None),
        lambda: Filter.range("", 0, 1000),
        lambda name: Filter.range_by_index(name, 0, 1000),
        lambda bins: bins["n"] % 2 == 0,
    ),
    "the size of a list": (
        (
            IndexType.NUMERIC,
            lambda: F.num_mul([F.list_size(F.list_bin("l"), []), F.int_bin("n")]),
            None,
        ),
        lambda: Filter.equal("", 33),
        lambda name: Filter.equal_by_index(name, 33),
        lambda bins: len(bins["l"]) * bins["n"] == 33,
    ),
    "a float as an int": (
        (IndexType.NUMERIC, lambda: F.to_int(F.num_add([F.float_bin("f"), F.float_val(0.5)])), None),
        lambda: Filter.equal("", 11),
        lambda name: Filter.equal_by_index(name, 11),
        lambda bins: int(bins["f"] + 0.5) == 11,
    ),
    "a string within a map": (
        (IndexType.STRING, lambda: under("s", ExpType.STRING), None),
        lambda: Filter.equal("", "s5"),
        lambda name: Filter.equal_by_index(name, "s5"),
        lambda bins: bins["s"] == "s5",
    ),
    "a blob": (
        (IndexType.BLOB, lambda: F.blob_bin("b"), None),
        lambda: Filter.equal("", b"\x03\x01"),
        lambda name: Filter.equal_by_index(name, b"\x03\x01"),
        lambda bins: bins["b"] == b"\x03\x01",
    ),
    "a point within a map": (
        (IndexType.GEO2D_SPHERE, lambda: under("p", ExpType.GEO), None),
        lambda: Filter.within_region("", region(31)),
        lambda name: Filter.within_region_by_index(name, region(31)),
        lambda bins: bins["n"] == 31,
    ),
    "the items of a list": (
        (
            IndexType.NUMERIC,
            lambda: F.list_get_by_index(ListReturnType.VALUE, ExpType.LIST, F.int_val(0), F.list_bin("l"), []),
            LIST,
        ),
        lambda: Filter.contains("", 22, LIST),
        lambda name: Filter.contains_by_index(name, 22, LIST),
        lambda bins: 22 in bins["l"][0],
    ),
}


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_expressions(client, set_name, indexed, case):
    (kind, make, cit), by_expression, by_index, condition = EXPRESSIONS[case]
    name = indexed(kind, expression=make(), cit=cit)
    # Records whose expression has no value are in no index; those with only some bins may have one.
    expected = those(condition)
    some = [n for n in RECORDS if n not in WHOLE and _has_value(case, n)]
    assert expected
    assert found(client, set_name, by_expression().expression(make())) == sorted(expected + some)
    assert found(client, set_name, by_index(name)) == sorted(expected + some)
    with pytest.raises(aerolane.IndexNotFoundError):
        found(client, set_name, by_expression().expression(F.int_bin("another")))


def _has_value(case, n):
    """Whether the expression of a case has a value, within the filter, for a record that lacks most bins."""
    return (case == "a sum" and 10 <= n <= 14) or (case == "a value for some only" and n % 2 == 0)


def test_what_changes_moves_in_the_index(client, set_name, indexed):
    ctx, double = [CTX.map_key("a"), CTX.map_key("n")], F.num_mul([F.int_bin("n"), F.int_val(2)])
    indexed(IndexType.NUMERIC, "m", ctx)
    indexed(IndexType.NUMERIC, expression=double)

    def at(value):
        return (
            found(client, set_name, Filter.equal("m", value).context(ctx)),
            found(client, set_name, Filter.equal("", 2 * value).expression(double)),
        )

    key = native.Key("test", set_name, 12)
    assert at(12) == ([12], [12]) and at(500) == ([], [])
    client.operate_blocking(
        key,
        [
            native.MapOperation.put("m", "n", 500, native.MapPolicy()).set_context(A),
            native.Operation.put("n", 500),
        ],
    )
    assert at(12) == ([], []) and at(500) == ([500], [500])
    client.put_blocking(key, {"m": None, "n": "no number"})
    assert at(500) == ([], [])
    client.delete_blocking(native.Key("test", set_name, 13))
    assert at(13) == ([], [])


def test_pages_and_filters_over_such_indexes(client, set_name, indexed):
    ctx = [CTX.map_key("a"), CTX.map_key("n")]
    indexed(IndexType.NUMERIC, "m", ctx)
    odd = F.eq(F.num_mod(F.int_bin("n"), F.int_val(2)), F.int_val(1))
    over = Filter.range("m", 0, 40).context(ctx)
    expected = those(lambda bins: bins["n"] <= 40)
    pages, partitions = [], native.PartitionFilter()
    policy = native.QueryPolicy(max_records=7)
    while not partitions.done():
        records = client.query_blocking(statement(set_name, over), partitions, policy=policy)
        pages += [record.bins["n"] for record in records]
        partitions = records.partition_filter_sync()
    assert sorted(pages) == expected
    policy = native.QueryPolicy(filter_expression=odd)
    assert found(client, set_name, over, policy=policy) == [n for n in expected if n % 2]


def test_work_in_the_background_over_such_indexes(client, set_name, indexed):
    double = F.num_mul([F.int_bin("n"), F.int_val(2)])
    indexed(IndexType.NUMERIC, expression=double)
    over = statement(set_name, Filter.range("", 20, 30).expression(double))
    task = client.query_operate_blocking(over, [native.Operation.put("mark", 1)])
    assert task.wait_till_complete_blocking(0.02, 30)
    marked = [r.bins["n"] for r in client.query_blocking(native.Statement("test", set_name)) if r.bins.get("mark") == 1]
    assert sorted(marked) == list(range(10, 16))


async def test_async(client, set_name):
    filled(client, set_name)
    ctx, double = [CTX.map_key("a"), CTX.map_key("n")], F.num_mul([F.int_bin("n"), F.int_val(2)])
    names = [f"{set_name}_{n}" for n in range(2)]
    tasks = [
        await client.create_index("test", set_name, "m", names[0], IndexType.NUMERIC, ctx=ctx),
        await client.create_index_using_expression("test", set_name, names[1], IndexType.NUMERIC, double),
    ]
    try:
        for task in tasks:
            assert await task.wait_till_complete(0.02, 30)
        for query_filter in (Filter.range("m", 5, 8).context(ctx), Filter.range("", 10, 16).expression(double)):
            records = await client.query(statement(set_name, query_filter))
            assert sorted([record.bins["n"] async for record in records]) == [5, 6, 7, 8]
    finally:
        for name in names:
            await (await client.drop_index("test", set_name, name)).wait_till_complete(0.02, 30)


def test_indexes_that_cannot_be(client, set_name, indexed):
    ctx = [CTX.map_key("a"), CTX.map_key("n")]
    name = indexed(IndexType.NUMERIC, "m", ctx)
    # The same name for another one, and the same index by another name.
    with pytest.raises(aerolane.IndexAlreadyExistsError):
        client.create_index_blocking("test", set_name, "m", name, IndexType.STRING, None, [CTX.map_key("s")])
    double = F.num_mul([F.int_bin("n"), F.int_val(2)])
    with pytest.raises(aerolane.IndexAlreadyExistsError):
        client.create_index_using_expression_blocking("test", set_name, name, IndexType.NUMERIC, double)
    for bad in ([], [CTX.map_key("a")] * 300):
        with pytest.raises(aerolane.InvalidArgumentError):
            client.create_index_blocking("test", set_name, "m", "x", IndexType.NUMERIC, None, bad)
    with pytest.raises(TypeError):
        Filter.equal("m", 1).context(["a"])
    with pytest.raises(TypeError):
        Filter.equal("m", 1).expression("n + 1")
    with pytest.raises(aerolane.InvalidArgumentError):
        Filter.equal("m", 1).context([])
