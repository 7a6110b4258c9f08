"""Queries by keys that read some of them only, and paths whose values an expression collects."""

import pytest

from aerolane import DataSet, ExpType, native
from aerolane.exceptions import BinOpInvalidError, InvalidArgumentError, RecordNotFoundError


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


@pytest.fixture
def keys(dataset):
    return dataset.ids(*range(8))


@pytest.fixture
def written(either, session, keys):
    either.run(session.upsert(keys).put({"n": 1}).execute())
    return keys


def read(either, builder):
    """Index and user key of each result."""
    return [(result.index, result.key.value) for result in either.results(builder)]


def test_the_first_keys(either, session, written):
    assert read(either, session.query(written).limit(3)) == [(0, 0), (1, 1), (2, 2)]
    assert read(either, session.query(written).limit(99)) == [(n, n) for n in range(8)]
    assert read(either, session.query(written).limit(5).limit(1)) == [(0, 0)]
    # Of all keys of the chain, wherever it is said.
    assert read(either, session.query(written[:2]).limit(3).query(written[4:])) == [(0, 0), (1, 1), (2, 4)]
    assert read(either, session.query(written[:2]).query(written[4:]).limit(3)) == [(0, 0), (1, 1), (2, 4)]
    assert read(either, session.query(written[:2]).limit(2).query(written[4:])) == [(0, 0), (1, 1)]
    assert len(either.results(session.query(written[0]).limit(2).exists(written[1]))) == 2
    # What is missing counts, too.
    either.run(session.delete(written[0]).execute())
    assert read(either, session.query(written).limit(2)) == [(1, 1)]
    assert len(either.each(either.run(session.query(written).limit(2).stream()))) == 2


def test_the_keys_of_partitions(either, session, written):
    def of(begin, end):
        return [key.value for key in written if begin <= key.partition_id < end]

    def values(builder):
        return [value for _, value in read(either, builder)]

    for begin, end in ((0, 2048), (2048, 4096), (0, 4096), (1000, 1001)):
        assert values(session.query(written).on_partition_range(begin, end)) == of(begin, end)
    first = written[0].partition_id
    assert values(session.query(written).on_partition(first)) == of(first, first + 1)
    some = native.PartitionFilter()
    assert values(session.query(written).partition(some)) == of(0, 4096)
    assert values(session.query(written).on_partition_range(0, 2048).limit(1)) == of(0, 2048)[:1]
    assert values(session.query(written).limit(1).on_partition_range(0, 2048)) == of(0, 2048)[:1]


def test_none_of_the_keys(either, session, written):
    elsewhere = (written[0].partition_id + 1) % 4096

    def nothing():
        return session.query(written[0]).on_partition(elsewhere)

    assert read(either, nothing()) == []
    assert either.each(either.run(nothing().stream())) == []
    assert either.run(nothing().first()) is None
    with pytest.raises(RecordNotFoundError):
        either.run(nothing().first_or_raise())


def test_what_is_written_is_not_cut(session, keys):
    for wrong in (
        lambda: session.upsert(keys[0]).put({"n": 1}).query(keys).limit(1),
        lambda: session.query(keys).limit(1).upsert(keys[0]),
        lambda: session.query(keys).on_partition(1).delete(keys[0]),
        lambda: session.query(keys).limit(1).execute_udf(keys[0]),
        lambda: session.query(keys).limit(0),
        lambda: session.query(keys).on_partition(4096),
    ):
        with pytest.raises(InvalidArgumentError):
            wrong()


def test_values_that_an_expression_collects(either, session, dataset):
    key = dataset.id("paths")
    bins = {"m": {"a": {"p": 1}, "b": {"p": 2}}, "l": [[1, 2], [3]], "x": [1, [2]]}
    either.run(session.upsert(key).put(bins).execute())

    def collected(path, *args, **named):
        return either.run(path.collect_values_as_expression_read(*args, **named).first()).record.bins

    def path(name):
        return session.query(key).bin(name).on_each_child()

    assert collected(path("m"), ExpType.MAP) == {"m": [{"p": 1}, {"p": 2}]}
    assert collected(path("m").on_map_key("p"), ExpType.MAP) == {"m": [1, 2]}
    assert collected(path("l").on_each_child(), ExpType.LIST) == {"l": [1, 2, 3]}
    assert collected(session.update(key).bin("m").on_each_child(), ExpType.MAP) == {"m": [{"p": 1}, {"p": 2}]}
    # A bin of the other type.
    with pytest.raises(BinOpInvalidError):
        collected(path("l"), ExpType.MAP)
    assert collected(path("l"), ExpType.MAP, ignore_eval_failure=True) == {"l": None}
    assert collected(path("x").on_each_child(), ExpType.LIST, no_fail=True) == {"x": [2]}
    with pytest.raises(InvalidArgumentError, match="bin_type"):
        path("m").collect_values_as_expression_read(ExpType.INT)
    with pytest.raises(TypeError):
        path("m").collect_values_as_expression_read("map")
    with pytest.raises(TypeError):
        path("m").collect_values_as_expression_read()
