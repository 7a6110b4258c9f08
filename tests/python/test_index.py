"""Secondary indexes, and the queries over them."""

import time

import pytest

import aerolane
from aerolane import native


@pytest.fixture
def indexed(client, set_name, new_index):
    """Fills a set with 100 records of several kinds of bins; gives a function that makes an index."""
    for n in range(100):
        point = native.GeoJSON(f'{{"type":"Point","coordinates":[{n / 10},{n / 10}]}}')
        bins = {"n": n, "s": f"s{n % 10}", "l": [n, n + 1], "m": {f"k{n}": n}, "p": point}
        client.put_blocking(native.Key("test", set_name, n), bins)

    def make(bin_name, kind, cit=None):
        return new_index(lambda name: client.create_index_blocking("test", set_name, bin_name, name, kind, cit))

    return make


def found(client, set_name, query_filter, **kwargs):
    statement = native.Statement("test", set_name)
    statement.filters = [query_filter]
    return sorted(record.bins["n"] for record in client.query_blocking(statement, **kwargs))


def test_ints(client, set_name, indexed):
    name = indexed("n", native.IndexType.NUMERIC)
    assert found(client, set_name, native.Filter.range("n", 10, 14)) == [10, 11, 12, 13, 14]
    assert found(client, set_name, native.Filter.equal("n", 7)) == [7]
    assert found(client, set_name, native.Filter.range_by_index(name, 98, 1000)) == [98, 99]
    assert found(client, set_name, native.Filter.equal_by_index(name, 7)) == [7]
    assert found(client, set_name, native.Filter.equal("n", -1)) == []


def test_strings(client, set_name, indexed):
    indexed("s", native.IndexType.STRING)
    assert found(client, set_name, native.Filter.equal("s", "s3")) == list(range(3, 100, 10))


def test_collections(client, set_name, indexed):
    cit = native.CollectionIndexType
    indexed("l", native.IndexType.NUMERIC, cit.LIST)
    assert found(client, set_name, native.Filter.contains("l", 50, cit.LIST)) == [49, 50]
    assert found(client, set_name, native.Filter.contains_range("l", 98, 99, cit.LIST)) == [97, 98, 99]
    indexed("m", native.IndexType.STRING, cit.MAP_KEYS)
    assert found(client, set_name, native.Filter.contains("m", "k5", cit.MAP_KEYS)) == [5]
    indexed("m", native.IndexType.NUMERIC, cit.MAP_VALUES)
    assert found(client, set_name, native.Filter.contains("m", 5, cit.MAP_VALUES)) == [5]


def test_places(client, set_name, indexed):
    indexed("p", native.IndexType.GEO2D_SPHERE)
    box = '{"type":"Polygon","coordinates":[[[1.95,1.95],[2.25,1.95],[2.25,2.25],[1.95,2.25],[1.95,1.95]]]}'
    assert found(client, set_name, native.Filter.within_region("p", box)) == [20, 21, 22]
    assert found(client, set_name, native.Filter.within_radius("p", 3.0, 3.0, 1000.0)) == [30]


def test_pages_over_an_index(client, set_name, indexed):
    indexed("n", native.IndexType.NUMERIC)
    partitions, policy, pages = native.PartitionFilter(), native.QueryPolicy(max_records=13), []
    statement = native.Statement("test", set_name)
    statement.filters = [native.Filter.range("n", 0, 59)]
    while not partitions.done():
        records = client.query_blocking(statement, partitions, policy=policy)
        pages += [record.bins["n"] for record in records]
        partitions = records.partition_filter_sync()
    assert sorted(pages) == list(range(60))


def test_an_index_that_is_not_there(client, set_name, indexed):
    with pytest.raises(aerolane.IndexNotFoundError):
        found(client, set_name, native.Filter.equal("n", 1))
    with pytest.raises(aerolane.IndexNotFoundError):
        found(client, set_name, native.Filter.equal_by_index("none_of_this_name", 1))


def test_an_index_that_exists(client, set_name, indexed):
    name = indexed("n", native.IndexType.NUMERIC)
    with pytest.raises(aerolane.IndexAlreadyExistsError) as caught:
        client.create_index_blocking("test", set_name, "s", name, native.IndexType.STRING)
    assert caught.value.result_code == 200


def test_a_dropped_index_is_gone(client, set_name, indexed):
    task = client.create_index_blocking("test", set_name, "n", f"{set_name}_x", native.IndexType.NUMERIC)
    task.wait_till_complete_blocking(0.02, 30)
    client.drop_index_blocking("test", set_name, f"{set_name}_x").wait_till_complete_blocking(0.02, 30)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            found(client, set_name, native.Filter.equal("n", 1))
        except aerolane.IndexNotFoundError:
            return
        time.sleep(0.05)
    pytest.fail("the index is still there")


def test_an_index_of_a_set(client, set_name, indexed):
    name = f"{set_name}_all"
    assert client.create_set_index_blocking("test", set_name, name).wait_till_complete_blocking(0.02, 30)
    records = client.query_blocking(native.Statement("test", set_name))
    assert sorted(record.bins["n"] for record in records) == list(range(100))
    assert client.drop_index_blocking("test", set_name, name).wait_till_complete_blocking(0.02, 30)


def test_an_index_that_does_not_exist_is_gone_at_once(client, set_name):
    assert client.drop_index_blocking("test", set_name, f"{set_name}_none").wait_till_complete_blocking(0.02, 30)


async def test_async(client, set_name):
    await client.put(native.Key("test", set_name, 1), {"n": 1})
    name = f"{set_name}_a"
    task = await client.create_index("test", set_name, "n", name, native.IndexType.NUMERIC)
    assert await task.wait_till_complete(0.02, 30)
    assert await task.query_status() is native.TaskStatus.COMPLETE
    statement = native.Statement("test", set_name)
    statement.filters = [native.Filter.equal("n", 1)]
    assert [record.bins async for record in await client.query(statement)] == [{"n": 1}]
    assert await (await client.drop_index("test", set_name, name)).wait_till_complete(0.02, 30)


def test_arguments_are_checked_at_once(client, set_name):
    numeric = native.IndexType.NUMERIC
    for index_name in ("", "a;b", "a:b", "a=b", "x" * 256):
        with pytest.raises(aerolane.InvalidArgumentError):
            client.create_index_blocking("test", set_name, "n", index_name, numeric)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_index_blocking("test", "a;b", "n", "i", numeric)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_index_blocking("test", set_name, "b" * 16, "i", numeric)
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_index_blocking("test", set_name, "", "i", numeric)
    with pytest.raises(TypeError):
        client.create_index_blocking("test", set_name, "n", "i", "numeric")
    with pytest.raises(aerolane.InvalidArgumentError):
        client.create_index_blocking("test", set_name, "n", "i", numeric, ctx=[])
    with pytest.raises(TypeError):
        client.create_index_blocking("test", set_name, "n", "i", numeric, ctx=["a"])
    with pytest.raises(TypeError):
        client.create_index_using_expression_blocking("test", set_name, "i", numeric, "$.a")
