"""Filter expressions: what they evaluate to, where they are taken, and what is refused."""

import contextlib
import copy
import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerolane import (
    AerospikeError,
    FilteredOutError,
    GeoJSON,
    InvalidArgumentError,
    Key,
    ResultCode,
    exceptions,
    native,
)
from aerolane.native import (
    CTX,
    BatchReadPolicy,
    BatchWritePolicy,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ExpOperation,
    ExpReadFlags,
    ExpType,
    ExpWriteFlags,
    HLLPolicy,
    ListOrderType,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    LoopVarPart,
    MapOrder,
    MapPolicy,
    MapReturnType,
    Operation,
    ReadPolicy,
    RegexFlag,
    WritePolicy,
)
from aerolane.native import FilterExpression as Exp

BINS = {
    "i": 12,
    "n": -5,
    "f": 2.25,
    "s": "Hello",
    "t": True,
    "y": b"\x01\x02\x03\xff",
    "l": [3, 1, 2, 5, 4],
    "w": ["b", "a"],
    "m": native.SortedMap({"a": 1, "b": 3, "c": 2}),
    "g": GeoJSON('{"type": "Point", "coordinates": [1.0, 1.0]}'),
    "deep": {"x": [1, 2, 3], "y": [10]},
}
REGION = '{"type": "Polygon", "coordinates": [[[0,0],[0,2],[2,2],[2,0],[0,0]]]}'


@pytest.fixture
def record(client, key):
    client.put_blocking(key, BINS, policy=WritePolicy(send_key=True))
    return key


def evaluate(client, key, expression):
    return client.operate_blocking(key, [ExpOperation.read("e", expression)]).bins["e"]


def ints(*numbers):
    return [Exp.int_val(number) for number in numbers]


def floats(*numbers):
    return [Exp.float_val(number) for number in numbers]


i, f, s, lst, mp, blob = (
    Exp.int_bin("i"),
    Exp.float_bin("f"),
    Exp.string_bin("s"),
    Exp.list_bin("l"),
    Exp.map_bin("m"),
    Exp.blob_bin("y"),
)
true, false = Exp.bool_val(True), Exp.bool_val(False)
one, two, three = ints(1, 2, 3)

SCALARS = [
    (Exp.key(ExpType.STRING), "k"),
    (Exp.key_exists(), True),
    (i, 12),
    (f, 2.25),
    (s, "Hello"),
    (Exp.bool_bin("t"), True),
    (blob, BINS["y"]),
    (lst, BINS["l"]),
    (mp, BINS["m"]),
    (Exp.geo_bin("g"), BINS["g"]),
    (Exp.bin_exists("i"), True),
    (Exp.bin_exists("none"), False),
    (Exp.bin_type("i"), 1),
    (Exp.bin_type("none"), 0),
    (Exp.is_tombstone(), False),
    (Exp.lt(Exp.digest_modulo(3), three), True),
    (Exp.gt(Exp.record_size(), one), True),
    (Exp.gt(Exp.last_update(), one), True),
    (Exp.ge(Exp.since_update(), Exp.int_val(0)), True),
    (Exp.void_time(), -1),
    (Exp.ttl(), -1),
    (Exp.regex_compare("^he.*o$", RegexFlag.ICASE | RegexFlag.EXTENDED, s), True),
    (Exp.regex_compare("^he", RegexFlag.NONE, s), False),
    (Exp.geo_compare(Exp.geo_bin("g"), Exp.geo_val(REGION)), True),
    (Exp.and_([true, true]), True),
    (Exp.and_([true, false]), False),
    (Exp.or_([false, true]), True),
    (Exp.xor([true, true]), False),
    (Exp.exclusive([false, true]), True),
    (Exp.not_(true), False),
    (Exp.eq(i, Exp.int_val(12)), True),
    (Exp.ne(i, Exp.int_val(12)), False),
    (Exp.gt(i, Exp.int_val(11)), True),
    (Exp.ge(i, Exp.int_val(12)), True),
    (Exp.lt(i, Exp.int_val(12)), False),
    (Exp.le(i, Exp.int_val(12)), True),
    (Exp.eq(mp, Exp.map_val({"c": 2, "a": 1, "b": 3})), True),
    (Exp.eq(lst, Exp.list_val([3, 1, 2, 5, 4])), True),
    (Exp.eq(blob, Exp.blob_val([1, 2, 3, 255])), True),
    (Exp.num_add(ints(1, 2, 3)), 6),
    (Exp.num_sub(ints(10, 3, 2)), 5),
    (Exp.num_mul(ints(2, 3, 4)), 24),
    (Exp.num_div(ints(24, 3, 2)), 4),
    (Exp.num_pow(*floats(2, 10)), 1024.0),
    (Exp.num_log(*floats(8, 2)), 3.0),
    (Exp.num_mod(*ints(17, 5)), 2),
    (Exp.num_abs(Exp.int_bin("n")), 5),
    (Exp.num_floor(f), 2.0),
    (Exp.num_ceil(f), 3.0),
    (Exp.to_int(f), 2),
    (Exp.to_float(i), 12.0),
    (Exp.int_and(ints(12, 10)), 8),
    (Exp.int_or(ints(12, 10)), 14),
    (Exp.int_xor(ints(12, 10)), 6),
    (Exp.int_not(Exp.int_val(0)), -1),
    (Exp.int_lshift(*ints(1, 4)), 16),
    (Exp.int_rshift(*ints(16, 4)), 1),
    (Exp.int_arshift(*ints(-16, 2)), -4),
    (Exp.int_count(Exp.int_val(255)), 8),
    (Exp.int_lscan(one, true), 63),
    (Exp.int_rscan(Exp.int_val(8), true), 60),
    (Exp.min(ints(3, 1, 2)), 1),
    (Exp.max(ints(3, 1, 2)), 3),
    (Exp.cond([Exp.eq(i, one), Exp.string_val("one"), Exp.string_val("other")]), "other"),
    (Exp.exp_let([Exp.def_("x", i), Exp.def_("y", two), Exp.num_mul([Exp.var("x"), Exp.var("y")])]), 24),
]


@pytest.mark.parametrize(("expression", "value"), SCALARS, ids=[str(n) for n in range(len(SCALARS))])
def test_scalars(client, record, expression, value):
    assert evaluate(client, record, expression) == value


def test_set_name(client, record):
    assert evaluate(client, record, Exp.set_name()) == record.set_name


L, M = ListReturnType, MapReturnType
lp, mpol = ListPolicy(), MapPolicy(MapOrder.KEY_ORDERED)
deep = [CTX.map_key("x")]
LISTS = [
    (Exp.list_size(lst, []), 5),
    (Exp.list_size(Exp.map_bin("deep"), deep), 3),
    (Exp.list_get_by_index(L.VALUE, ExpType.INT, Exp.int_val(-1), lst, []), 4),
    (Exp.list_get_by_rank(L.VALUE, ExpType.INT, Exp.int_val(0), lst, []), 1),
    (Exp.list_get_by_value(L.INDEX, three, lst, []), [0]),
    (Exp.list_get_by_value_range(L.COUNT, two, Exp.int_val(4), lst, []), 2),
    (Exp.list_get_by_value_range(L.COUNT, None, three, lst, []), 2),
    (Exp.list_get_by_value_range(L.COUNT, three, None, lst, []), 3),
    (Exp.list_get_by_value_list(L.COUNT | L.INVERTED, Exp.list_val([1, 2]), lst, []), 3),
    (Exp.list_get_by_index_range(L.VALUE, three, lst, []), [5, 4]),
    (Exp.list_get_by_index_range_count(L.VALUE, one, two, lst, []), [1, 2]),
    (Exp.list_get_by_rank_range(L.COUNT, three, lst, []), 2),
    (Exp.list_get_by_rank_range_count(L.COUNT, one, two, lst, []), 2),
    (Exp.list_get_by_value_relative_rank_range(L.COUNT, three, one, lst, []), 2),
    (Exp.list_get_by_value_relative_rank_range_count(L.EXISTS, three, one, one, lst, []), True),
    (Exp.list_append(lp, one, lst, []), [3, 1, 2, 5, 4, 1]),
    (Exp.list_append_items(lp, Exp.list_val([8, 9]), lst, []), [3, 1, 2, 5, 4, 8, 9]),
    (Exp.list_insert(lp, one, Exp.int_val(7), lst, []), [3, 7, 1, 2, 5, 4]),
    (Exp.list_insert_items(lp, one, Exp.list_val([7, 8]), lst, []), [3, 7, 8, 1, 2, 5, 4]),
    (Exp.list_increment(lp, one, Exp.int_val(10), lst, []), [3, 11, 2, 5, 4]),
    (Exp.list_set(lp, one, Exp.int_val(10), lst, []), [3, 10, 2, 5, 4]),
    (Exp.list_clear(lst, []), []),
    (Exp.list_sort(ListSortFlags.DEFAULT, lst, []), [1, 2, 3, 4, 5]),
    (Exp.list_sort(ListSortFlags.DESCENDING, lst, []), [5, 4, 3, 2, 1]),
    (Exp.list_remove_by_value(L.NONE, three, lst, []), [1, 2, 5, 4]),
    (Exp.list_remove_by_value_list(L.NONE, Exp.list_val([1, 5]), lst, []), [3, 2, 4]),
    (Exp.list_remove_by_value_range(L.NONE, two, three, lst, []), [3, 1, 5, 4]),
    (Exp.list_remove_by_value_relative_rank_range(L.NONE, three, one, lst, []), [3, 1, 2]),
    (Exp.list_remove_by_value_relative_rank_range_count(L.NONE, three, one, one, lst, []), [3, 1, 2, 5]),
    (Exp.list_remove_by_index(L.NONE, one, lst, []), [3, 2, 5, 4]),
    (Exp.list_remove_by_index_range(L.NONE, two, lst, []), [3, 1]),
    (Exp.list_remove_by_index_range_count(L.NONE, one, two, lst, []), [3, 5, 4]),
    (Exp.list_remove_by_rank(L.NONE, Exp.int_val(-1), lst, []), [3, 1, 2, 4]),
    (Exp.list_remove_by_rank_range(L.NONE, two, lst, []), [1, 2]),
    (Exp.list_remove_by_rank_range_count(L.NONE, Exp.int_val(0), two, lst, []), [3, 5, 4]),
]


@pytest.mark.parametrize(("expression", "value"), LISTS, ids=[str(n) for n in range(len(LISTS))])
def test_lists(client, record, expression, value):
    assert evaluate(client, record, expression) == value


text = Exp.string_val
MAPS = [
    (Exp.map_size(mp, []), 3),
    (Exp.map_get_by_key(M.VALUE, ExpType.INT, text("b"), mp, []), 3),
    (Exp.map_get_by_rank(M.KEY, ExpType.STRING, Exp.int_val(-1), mp, []), "b"),
    (Exp.map_get_by_index(M.KEY, ExpType.STRING, Exp.int_val(0), mp, []), "a"),
    (Exp.map_get_by_value(M.KEY, two, mp, []), ["c"]),
    (Exp.map_get_by_value_range(M.COUNT, two, None, mp, []), 2),
    (Exp.map_get_by_value_list(M.COUNT, Exp.list_val([1, 9]), mp, []), 1),
    (Exp.map_get_by_key_range(M.COUNT, None, text("b"), mp, []), 1),
    (Exp.map_get_by_key_list(M.ORDERED_MAP, Exp.list_val(["a", "c"]), mp, []), {"a": 1, "c": 2}),
    (Exp.map_get_by_key_relative_index_range(M.COUNT, text("b"), Exp.int_val(0), mp, []), 2),
    (Exp.map_get_by_key_relative_index_range_count(M.COUNT, text("b"), Exp.int_val(0), one, mp, []), 1),
    (Exp.map_get_by_value_relative_rank_range(M.COUNT, two, Exp.int_val(0), mp, []), 2),
    (Exp.map_get_by_value_relative_rank_range_count(M.EXISTS, two, Exp.int_val(0), one, mp, []), True),
    (Exp.map_get_by_index_range(M.KEY, one, mp, []), ["b", "c"]),
    (Exp.map_get_by_index_range_count(M.KEY, one, one, mp, []), ["b"]),
    (Exp.map_get_by_rank_range(M.COUNT | M.INVERTED, one, mp, []), 1),
    (Exp.map_get_by_rank_range_count(M.VALUE, Exp.int_val(0), one, mp, []), [1]),
    (Exp.map_put(mpol, text("d"), Exp.int_val(9), mp, []), {"a": 1, "b": 3, "c": 2, "d": 9}),
    (Exp.map_put_items(mpol, Exp.map_val({"d": 9, "a": 0}), mp, []), {"a": 0, "b": 3, "c": 2, "d": 9}),
    (Exp.map_increment(mpol, text("a"), Exp.int_val(5), mp, []), {"a": 6, "b": 3, "c": 2}),
    (Exp.map_clear(mp, []), {}),
    (Exp.map_remove_by_key(M.NONE, text("a"), mp, []), {"b": 3, "c": 2}),
    (Exp.map_remove_by_key_list(M.NONE, Exp.list_val(["a", "b"]), mp, []), {"c": 2}),
    (Exp.map_remove_by_key_range(M.NONE, text("b"), None, mp, []), {"a": 1}),
    (Exp.map_remove_by_key_relative_index_range(M.NONE, text("b"), Exp.int_val(0), mp, []), {"a": 1}),
    (
        Exp.map_remove_by_key_relative_index_range_count(M.NONE, text("b"), Exp.int_val(0), one, mp, []),
        {"a": 1, "c": 2},
    ),
    (Exp.map_remove_by_value(M.NONE, one, mp, []), {"b": 3, "c": 2}),
    (Exp.map_remove_by_value_list(M.NONE, Exp.list_val([1, 2]), mp, []), {"b": 3}),
    (Exp.map_remove_by_value_range(M.NONE, two, None, mp, []), {"a": 1}),
    (Exp.map_remove_by_value_relative_rank_range(M.NONE, two, Exp.int_val(0), mp, []), {"a": 1}),
    (Exp.map_remove_by_value_relative_rank_range_count(M.NONE, two, Exp.int_val(0), one, mp, []), {"a": 1, "b": 3}),
    (Exp.map_remove_by_index(M.NONE, Exp.int_val(0), mp, []), {"b": 3, "c": 2}),
    (Exp.map_remove_by_index_range(M.NONE, one, mp, []), {"a": 1}),
    (Exp.map_remove_by_index_range_count(M.NONE, one, one, mp, []), {"a": 1, "c": 2}),
    (Exp.map_remove_by_rank(M.NONE, Exp.int_val(-1), mp, []), {"a": 1, "c": 2}),
    (Exp.map_remove_by_rank_range(M.NONE, one, mp, []), {"a": 1}),
    (Exp.map_remove_by_rank_range_count(M.NONE, Exp.int_val(0), two, mp, []), {"b": 3}),
]


@pytest.mark.parametrize(("expression", "value"), MAPS, ids=[str(n) for n in range(len(MAPS))])
def test_maps(client, record, expression, value):
    assert evaluate(client, record, expression) == value


def test_what_a_context_creates_is_part_of_an_expression(client, record):
    created = Exp.list_append(lp, one, mp, [CTX.map_key_create("new", MapOrder.KEY_ORDERED)])
    assert evaluate(client, record, created) == {"a": 1, "b": 3, "c": 2, "new": [1]}


bp = BitPolicy()
WRAP = BitwiseOverflowActions.WRAP
eight = Exp.int_val(8)
zero = Exp.int_val(0)
BITS = [
    (Exp.bit_resize(bp, two, BitwiseResizeFlags.DEFAULT, blob), b"\x01\x02"),
    (Exp.bit_insert(bp, one, Exp.blob_val(b"zz"), blob), b"\x01zz\x02\x03\xff"),
    (Exp.bit_remove(bp, one, two, blob), b"\x01\xff"),
    (Exp.bit_set(bp, zero, eight, Exp.blob_val(b"\xf0"), blob), b"\xf0\x02\x03\xff"),
    (Exp.bit_or(bp, zero, eight, Exp.blob_val(b"\xf0"), blob), b"\xf1\x02\x03\xff"),
    (Exp.bit_xor(bp, zero, eight, Exp.blob_val(b"\x0f"), blob), b"\x0e\x02\x03\xff"),
    (Exp.bit_and(bp, zero, eight, Exp.blob_val(b"\x00"), blob), b"\x00\x02\x03\xff"),
    (Exp.bit_not(bp, zero, eight, blob), b"\xfe\x02\x03\xff"),
    (Exp.bit_lshift(bp, zero, eight, one, blob), b"\x02\x02\x03\xff"),
    (Exp.bit_rshift(bp, zero, eight, one, blob), b"\x00\x02\x03\xff"),
    (Exp.bit_add(bp, zero, eight, two, False, WRAP, blob), b"\x03\x02\x03\xff"),
    (Exp.bit_subtract(bp, zero, eight, two, True, WRAP, blob), b"\xff\x02\x03\xff"),
    (Exp.bit_set_int(bp, zero, eight, Exp.int_val(9), blob), b"\x09\x02\x03\xff"),
    (Exp.bit_get(eight, eight, blob), b"\x02"),
    (Exp.bit_count(zero, Exp.int_val(32), blob), 12),
    (Exp.bit_lscan(zero, eight, true, blob), 7),
    (Exp.bit_rscan(zero, eight, false, blob), 6),
    (Exp.bit_get_int(Exp.int_val(24), eight, True, blob), -1),
    (Exp.bit_get_int(Exp.int_val(24), eight, False, blob), 255),
]


@pytest.mark.parametrize(("expression", "value"), BITS, ids=[str(n) for n in range(len(BITS))])
def test_bits(client, record, expression, value):
    assert evaluate(client, record, expression) == value


def test_hll(client, key):
    hp, hll = HLLPolicy(), native.HllOperation
    client.operate_blocking(key, [hll.add("h", ["a", "b"], 8), hll.add("k", ["b", "c"], 8, 8)])
    h, k = Exp.hll_bin("h"), Exp.hll_bin("k")
    others = client.operate_blocking(key, [Operation.get_bin("k")]).bins["k"]
    assert evaluate(client, key, Exp.hll_get_count(h)) == 2
    assert evaluate(client, key, Exp.hll_describe(k)) == [8, 8]
    assert evaluate(client, key, Exp.hll_may_contain(Exp.list_val(["a", "b"]), h)) == 1
    assert evaluate(client, key, Exp.hll_may_contain(Exp.list_val(["z"]), h)) == 0
    assert evaluate(client, key, Exp.hll_get_count(Exp.hll_add(hp, Exp.list_val(["c"]), h))) == 3
    listed = Exp.list_val([others])
    assert evaluate(client, key, Exp.hll_get_union_count(listed, k)) == 2
    assert evaluate(client, key, Exp.hll_get_intersect_count(listed, k)) == 2
    assert evaluate(client, key, Exp.hll_get_similarity(listed, k)) == pytest.approx(1, abs=0.001)
    assert evaluate(client, key, Exp.hll_get_count(Exp.hll_get_union(listed, k))) == 2
    for made in (
        Exp.hll_init(hp, eight, h),
        Exp.hll_init_with_min_hash(hp, eight, eight, h),
        Exp.hll_add_with_index(hp, Exp.list_val([1]), eight, h),
        Exp.hll_add_with_index_and_min_hash(hp, Exp.list_val([1]), eight, eight, k),
    ):
        assert evaluate(client, key, Exp.hll_get_count(made)) in (0, 1, 3)


def test_paths(client, record):
    d = Exp.map_bin("deep")
    big = Exp.gt(Exp.int_loop_var(LoopVarPart.VALUE), one)
    path = [CTX.map_key("x"), CTX.all_children_with_filter(big)]
    assert evaluate(client, record, Exp.exp_select_values(ExpType.LIST, d, path)) == [2, 3]
    assert evaluate(client, record, Exp.exp_select_by_path(ExpType.LIST, native.SelectFlags.VALUE, d, path)) == [2, 3]
    assert evaluate(client, record, Exp.exp_select_matching_tree(ExpType.MAP, d, path)) == {"x": [2, 3]}
    keys = Exp.exp_select_map_keys(ExpType.LIST, d, [CTX.all_children()])
    assert sorted(evaluate(client, record, keys)) == ["x", "y"]
    plus = Exp.num_add([Exp.int_loop_var(LoopVarPart.VALUE), Exp.int_val(10)])
    for made in (
        Exp.exp_modify(ExpType.MAP, d, plus, path),
        Exp.exp_modify_by_path(ExpType.MAP, native.ModifyFlags.DEFAULT, d, plus, path),
        Exp.exp_modify_no_fail(ExpType.MAP, d, plus, path),
    ):
        assert evaluate(client, record, made) == {"x": [1, 12, 13], "y": [10]}
    assert evaluate(client, record, Exp.exp_remove(ExpType.MAP, d, path)) == {"x": [1], "y": [10]}


def test_strings_are_for_later_servers(client, record):
    with pytest.raises(AerospikeError) as caught:
        evaluate(client, record, Exp.string_strlen(s))
    assert caught.value.result_code == ResultCode.PARAMETER_ERROR


def test_unknown_is_an_error_unless_it_may_be_none(client, record):
    with pytest.raises(AerospikeError):
        evaluate(client, record, Exp.unknown())
    read = ExpOperation.read("e", Exp.unknown(), ExpReadFlags.EVAL_NO_FAIL)
    assert client.operate_blocking(record, [read]).bins == {"e": None}


def test_written_by_an_expression(client, record):
    client.operate_blocking(record, [ExpOperation.write("new", Exp.num_add([i, one]))])
    assert client.get_blocking(record, ["new"]).bins == {"new": 13}
    client.operate_blocking(record, [ExpOperation.write("new", Exp.nil(), ExpWriteFlags.ALLOW_DELETE)])
    assert client.get_blocking(record, ["new"]).bins == {}


# Filters.

YES = Exp.eq(Exp.int_bin("i"), Exp.int_val(12))
NO = Exp.eq(Exp.int_bin("i"), Exp.int_val(13))


def test_filters_of_single_records(client, record):
    assert client.get_blocking(record, ["i"], policy=ReadPolicy(filter_expression=YES)).bins == {"i": 12}
    assert client.get_blocking(record, ["i"], filter_expression=YES).bins == {"i": 12}
    no = WritePolicy(filter_expression=NO)
    calls = [
        lambda: client.get_blocking(record, policy=ReadPolicy(filter_expression=NO)),
        lambda: client.get_blocking(record, filter_expression=NO),
        lambda: client.get_blocking(record, filter_expression=NO, policy=ReadPolicy(filter_expression=YES)),
        lambda: client.put_blocking(record, {"i": 1}, policy=no),
        lambda: client.add_blocking(record, {"i": 1}, policy=no),
        lambda: client.append_blocking(record, {"s": "x"}, policy=no),
        lambda: client.prepend_blocking(record, {"s": "x"}, policy=no),
        lambda: client.touch_blocking(record, policy=no),
        lambda: client.delete_blocking(record, policy=no),
        lambda: client.operate_blocking(record, [Operation.put("i", 1)], policy=no),
        lambda: client.operate_blocking(record, [Operation.get()], filter_expression=NO),
    ]
    for call in calls:
        with pytest.raises(FilteredOutError) as caught:
            call()
        assert caught.value.result_code == ResultCode.FILTERED_OUT
    assert client.get_blocking(record).bins == BINS


async def test_filters_of_single_records_async(client, record):
    record = await client.get(record, ["i"], policy=ReadPolicy(filter_expression=YES))
    assert record.bins == {"i": 12}
    with pytest.raises(FilteredOutError):
        await client.get(record.key, filter_expression=NO)
    with pytest.raises(FilteredOutError):
        await client.put(record.key, {"i": 1}, policy=WritePolicy(filter_expression=NO))


def test_filters_of_batches(client, record, set_name):
    keys = [record, Key("test", set_name, "missing")]
    rows = client.batch_read_blocking(keys, ["i"], read_policy=BatchReadPolicy(filter_expression=NO))
    assert [row.result_code for row in rows] == [ResultCode.FILTERED_OUT, ResultCode.KEY_NOT_FOUND_ERROR]
    batch = native.BatchPolicy(filter_expression=NO)
    assert client.batch_read_blocking([record], batch_policy=batch)[0].result_code == ResultCode.FILTERED_OUT
    row = client.batch_read_blocking(
        [record], ["i"], batch_policy=batch, read_policy=BatchReadPolicy(filter_expression=YES)
    )
    assert row[0].record.bins == {"i": 12}, "the row's filter goes before the batch's"
    row = client.batch_write_blocking([record], [{"i": 1}], write_policy=BatchWritePolicy(filter_expression=NO))
    assert row[0].result_code == ResultCode.FILTERED_OUT
    row = client.batch_delete_blocking([record], delete_policy=native.BatchDeletePolicy(filter_expression=NO))
    assert row[0].result_code == ResultCode.FILTERED_OUT
    write = native.BatchWriteOp(record, [Operation.put("i", 1)], BatchWritePolicy(filter_expression=NO))
    assert client.batch_blocking([write])[0].result_code == ResultCode.FILTERED_OUT
    assert client.get_blocking(record).bins == BINS


def test_the_property(client):
    for kind in (
        ReadPolicy,
        WritePolicy,
        native.BatchPolicy,
        native.QueryPolicy,
        BatchReadPolicy,
        BatchWritePolicy,
        native.BatchDeletePolicy,
        native.BatchUDFPolicy,
    ):
        policy = kind()
        assert policy.filter_expression is None
        policy.filter_expression = YES
        assert policy.filter_expression == YES
        assert kind(filter_expression=YES) == policy == pickle.loads(pickle.dumps(policy)) == copy.copy(policy)
        policy.filter_expression = None
        assert policy == kind()
        for bad in (1, "x", b"kwEB", object()):
            with pytest.raises(TypeError, match="filter_expression"):
                policy.filter_expression = bad
        with pytest.raises(InvalidArgumentError, match="exp_let"):
            policy.filter_expression = Exp.def_("x", one)


def test_many_filters_on_many_threads(client, record):
    """More filters than a thread keeps the bytes of, each with its own answer."""
    failed = []

    def work():
        for number in range(200):
            wanted = number % 20
            expression = Exp.eq(Exp.int_val(wanted), Exp.int_val(number % 11))
            try:
                client.get_blocking(record, ["i"], filter_expression=expression)
                passed = True
            except FilteredOutError:
                passed = False
            if passed != (wanted == number % 11):
                failed.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


# The objects.


def test_text_and_back():
    for expression, _ in SCALARS + LISTS + MAPS + BITS:
        again = Exp.from_base64(expression.base64())
        assert again == expression
        assert hash(again) == hash(expression)
        assert pickle.loads(pickle.dumps(expression)) == expression
        assert expression.base64() in repr(expression)
    assert Exp.int_val(1) != Exp.int_val(2)
    assert Exp.int_val(1) != 1


@pytest.mark.parametrize("text", ["!", "kwE", "é", "kwEBAgI=="])
def test_text_that_is_not_base64(text):
    with pytest.raises(exceptions.Base64DecodeError, match="not the base64 of an expression") as caught:
        Exp.from_base64(text)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, exceptions.BadResponseError)


@pytest.mark.parametrize("text", ["", "kwEB", "kwEBAgI=", "wQ==", "3////w=="])
def test_bytes_that_are_no_expression_are_refused_by_the_server(client, key, text):
    """It may know more than the client; and each call before and after is its own."""
    client.put_blocking(key, {"a": 1})
    expression = Exp.from_base64(text)
    assert expression.base64() == text and expression == pickle.loads(pickle.dumps(expression))
    policy = native.ReadPolicy(filter_expression=expression)
    inside = native.ReadPolicy(filter_expression=Exp.and_([expression, Exp.eq(one, one)]))
    for wrong in (policy, inside) if text else (inside,):
        with pytest.raises(exceptions.InvalidRequest):
            client.get_blocking(key, policy=wrong)
        assert client.get_blocking(key).bins == {"a": 1}


@given(st.text(alphabet="ABCDwxyz019+/=k", max_size=40))
def test_any_text_is_answered(text):
    with contextlib.suppress(InvalidArgumentError):
        Exp.from_base64(text)


BAD = [
    (lambda: Exp.eq(one, 1), TypeError),
    (lambda: Exp.eq(one), TypeError),
    (lambda: Exp.int_val(2**63), OverflowError),
    (lambda: Exp.int_val("1"), TypeError),
    (lambda: Exp.int_val(1.5), TypeError),
    (lambda: Exp.bool_val(1), TypeError),
    (lambda: Exp.string_val(b"x"), TypeError),
    (lambda: Exp.string_val("\ud800"), InvalidArgumentError),
    (lambda: Exp.float_val("x"), TypeError),
    (lambda: Exp.blob_val(5), TypeError),
    (lambda: Exp.blob_val([256]), (OverflowError, ValueError)),
    (lambda: Exp.list_val(5), TypeError),
    (lambda: Exp.list_val("text"), TypeError),
    (lambda: Exp.list_val([object()]), TypeError),
    (lambda: Exp.list_val([2**64]), OverflowError),
    (lambda: Exp.map_val([1]), TypeError),
    (lambda: Exp.map_val({1.5: 1}), TypeError),
    (lambda: Exp.val(object()), TypeError),
    (lambda: Exp.val(native.SpecialValue.INFINITY), TypeError),
    (lambda: Exp.int_bin("n" * 16), InvalidArgumentError),
    (lambda: Exp.int_bin(1), TypeError),
    (lambda: Exp.and_([]), InvalidArgumentError),
    (lambda: Exp.and_([1]), TypeError),
    (lambda: Exp.and_(one), TypeError),
    (lambda: Exp.num_add(5), TypeError),
    (lambda: Exp.exp_let([]), InvalidArgumentError),
    (lambda: Exp.exp_let([one, two]), InvalidArgumentError),
    (lambda: Exp.exp_let([Exp.def_("x", one)]), InvalidArgumentError),
    (lambda: Exp.eq(Exp.def_("x", one), one), InvalidArgumentError),
    (lambda: Exp.key(3), TypeError),
    (lambda: Exp.list_get_by_index(1, ExpType.INT, one, lst, []), TypeError),
    (lambda: Exp.list_get_by_value(L.NONE, one, lst, []), InvalidArgumentError),
    (lambda: Exp.map_get_by_value(M.NONE, one, mp, []), InvalidArgumentError),
    (lambda: Exp.map_get_by_value(L.VALUE, one, mp, []), TypeError),
    (lambda: Exp.list_size(lst, [1]), TypeError),
    (lambda: Exp.list_size(lst, CTX.list_index(1)), TypeError),
    (lambda: Exp.list_size(lst, [CTX.list_index(1)] * 257), InvalidArgumentError),
    (lambda: Exp.list_append(mpol, one, lst, []), TypeError),
    (lambda: Exp.regex_compare("x", -1, s), InvalidArgumentError),
    (lambda: Exp.regex_compare("x", "i", s), TypeError),
    (lambda: Exp.digest_modulo(2**70), OverflowError),
    (lambda: Exp.bit_add(bp, one, one, one, 1, WRAP, blob), TypeError),
]


@pytest.mark.parametrize("n", range(len(BAD)))
def test_bad_arguments(n):
    call, error = BAD[n]
    with pytest.raises(error):
        call()


def test_nesting_is_bounded():
    expression = true
    for _ in range(255):
        expression = Exp.not_(expression)
    with pytest.raises(InvalidArgumentError, match="256"):
        Exp.not_(expression)
    items = []
    for _ in range(600):
        items = [items]
    with pytest.raises(InvalidArgumentError, match="512"):
        Exp.list_val(items)


def test_size_is_bounded():
    expression = Exp.blob_val(bytes(2**20))
    with pytest.raises(InvalidArgumentError, match="request"):
        for _ in range(10):
            expression = Exp.or_([expression, expression])


scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.booleans(),
    st.floats(allow_nan=False),
)
keys = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=8), st.binary(max_size=8))
values = st.recursive(scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(keys, v, max_size=4), max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(value=values)
def test_any_value_is_equal_to_itself(client, seeds, value):
    key = Key("test", "py_exp_values", "k")
    client.put_blocking(key, {"v": [native.SortedMap(value) if isinstance(value, dict) else value]})
    read = ExpOperation.read("e", Exp.list_get_by_index(L.VALUE, ExpType.LIST, Exp.int_val(0), Exp.list_bin("v"), []))
    if isinstance(value, list):
        assert client.operate_blocking(key, [read]).bins["e"] == value
    assert client.operate_blocking(key, [ExpOperation.read("e", Exp.val(value))]).bins["e"] == value


def test_contexts_as_bytes():
    order, listed = MapOrder.KEY_ORDERED, ListOrderType.ORDERED
    path = [
        CTX.list_index(-2),
        CTX.list_rank(1),
        CTX.list_value({"a": 1}),
        CTX.map_index(0),
        CTX.map_rank(-1),
        CTX.map_key("k"),
        CTX.map_key(b"k"),
        CTX.map_value({"b": 1, "a": [2]}),
        CTX.all_children(),
        CTX.all_children_with_filter(YES),
        CTX.map_keys_in(["a", 1]),
        CTX.and_filter(NO),
    ]
    assert CTX.from_bytes(CTX.to_bytes(path)) == path == CTX.from_base64(CTX.to_base64(path))
    assert CTX.to_bytes([]) == b"\x90" == CTX.to_bytes(None)
    assert CTX.from_bytes(b"\x90") == []
    creating = [CTX.list_index_create(1, listed, False), CTX.map_key_create("k", order)]
    assert CTX.to_bytes(creating) == CTX.to_bytes([CTX.list_index(1), CTX.map_key("k")])
    assert creating[0] != CTX.list_index(1)
    assert len({CTX.map_key("k"), CTX.map_key("k"), CTX.map_key("j")}) == 2
    assert repr(CTX.map_key("k")) == "<CTX map_key: 'k'>"
    assert repr(creating[0]) == "<CTX list_index_create: 1>"


@pytest.mark.parametrize("bad", [b"", b"\x80", b"\x91\x10", b"\x92\x10", b"\x92\xa1x\x01", b"\x92\x10\x01\x01", "x", 5])
def test_bytes_that_are_no_context(bad):
    with pytest.raises((InvalidArgumentError, TypeError)):
        CTX.from_bytes(bad)


@given(st.binary(max_size=40))
def test_any_bytes_are_answered(data):
    try:
        path = CTX.from_bytes(data)
    except InvalidArgumentError:
        return
    assert all(repr(level) for level in path)
    assert CTX.from_bytes(CTX.to_bytes(path)) == CTX.from_bytes(CTX.to_bytes(CTX.from_bytes(CTX.to_bytes(path))))


@pytest.mark.parametrize(
    "call",
    [
        lambda: CTX.list_index("1"),
        lambda: CTX.list_index(2**63),
        lambda: CTX.map_key(1.5),
        lambda: CTX.map_key([1]),
        lambda: CTX.map_key_create("k", ListOrderType.ORDERED),
        lambda: CTX.list_index_create(1, MapOrder.KEY_ORDERED, True),
        lambda: CTX.map_keys_in("abc"),
        lambda: CTX.map_value(object()),
        lambda: CTX.all_children_with_filter(True),
    ],
)
def test_contexts_that_cannot_be(call):
    with pytest.raises((TypeError, OverflowError, InvalidArgumentError)):
        call()
