"""Text that changes values, and text with expressions in selectors: it becomes what constructors build, and means the
same to a cluster."""

import random

import pytest
from conftest import REAL

from aerolane import AelParseException, Key, native, parse_ael
from aerolane.native import (
    CTX,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    BitWriteFlags,
    ExpOperation,
    ExpReadFlags,
    ExpType,
    HLLPolicy,
    HLLWriteFlags,
    ListOrderType,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    ListWriteFlags,
    LoopVarPart,
    MapOrder,
    MapPolicy,
    MapReturnType,
    MapWriteFlags,
)
from aerolane.native import FilterExpression as Exp

NONE, VALUE, COUNT = ListReturnType.NONE, ListReturnType.VALUE, ListReturnType.COUNT
lst, mp, blob, i, s = Exp.list_bin("l"), Exp.map_bin("m"), Exp.blob_bin("y"), Exp.int_bin("i"), Exp.string_bin("s")
zero, one, two, eight, ff = Exp.int_val(0), Exp.int_val(1), Exp.int_val(2), Exp.int_val(8), Exp.blob_val(b"\xff")
k, item = Exp.string_val("k"), Exp.int_loop_var(LoopVarPart.VALUE)
at_index, name = Exp.int_loop_var(LoopVarPart.INDEX), Exp.string_loop_var(LoopVarPart.MAP_KEY)


def of_list(*flags, order=ListOrderType.UNORDERED):
    return ListPolicy(order, sum(int(flag) for flag in flags))


def of_map(*flags, order=MapOrder.UNORDERED):
    return MapPolicy.new_with_flags(order, sum(int(flag) for flag in flags))


BOUNDED, UNIQUE = ListWriteFlags.INSERT_BOUNDED, ListWriteFlags.ADD_UNIQUE
plain, bounded, put, bits = of_list(), of_list(BOUNDED), of_map(), BitPolicy(0)
over_one = [CTX.all_children_with_filter(Exp.gt(item, one))]
listed, mapped = ExpType.LIST, ExpType.MAP
FAIL = BitwiseOverflowActions.FAIL

SAME = {
    # Lists.
    "$.l.append(1)": Exp.list_append(plain, one, lst, []),
    "$.l.append($.i + 1)": Exp.list_append(plain, Exp.num_add([i, one]), lst, []),
    "$.l.append([1, 'a'])": Exp.list_append(plain, Exp.list_val([1, "a"]), lst, []),
    "$.l:SORTED.append(1):ADD_UNIQUE:NO_FAIL": Exp.list_append(
        of_list(UNIQUE, ListWriteFlags.NO_FAIL, order=ListOrderType.ORDERED), one, lst, []
    ),
    "$.l.appendItems([1, 2]):PARTIAL": Exp.list_append_items(
        of_list(ListWriteFlags.NO_FAIL, ListWriteFlags.PARTIAL), Exp.list_val([1, 2]), lst, []
    ),
    "$.l.[1].insert(2)": Exp.list_insert(bounded, one, two, lst, []),
    "$.l.[1].insertItems([2])": Exp.list_insert_items(bounded, one, Exp.list_val([2]), lst, []),
    "$.l.[1].setTo(2)": Exp.list_set(bounded, one, two, lst, []),
    "$.l:UNSORTED_PAD.[8].setTo(2)": Exp.list_set(plain, eight, two, lst, []),
    "$.l.[1].add(2)": Exp.list_increment(bounded, one, two, lst, []),
    "$.l.[1].[0].add(2)": Exp.list_increment(bounded, zero, two, lst, [CTX.list_index(1)]),
    "$.l.[($.i)].setTo($.s:STRING)": Exp.list_set(bounded, i, s, lst, []),
    "$.l:LIST.clear()": Exp.list_clear(lst, []),
    "$.l.sort()": Exp.list_sort(ListSortFlags.DEFAULT, lst, []),
    "$.l.sort():DROP_DUPS": Exp.list_sort(ListSortFlags.DROP_DUPLICATES, lst, []),
    "$.l.[0].remove()": Exp.list_remove_by_index(NONE, zero, lst, []),
    "$.l.[!1:2].remove()": Exp.list_remove_by_index_range_count(ListReturnType.INVERTED, one, one, lst, []),
    "$.l.[=1:2].remove()": Exp.list_remove_by_value_range(NONE, one, two, lst, []),
    "$.l.[=1,2].remove()": Exp.list_remove_by_value_list(NONE, Exp.list_val([1, 2]), lst, []),
    "$.l.[=1].remove()": Exp.list_remove_by_value(NONE, one, lst, []),
    "$.l.[#-1].remove()": Exp.list_remove_by_rank(NONE, Exp.int_val(-1), lst, []),
    "$.l.[#1:].remove()": Exp.list_remove_by_rank_range(NONE, one, lst, []),
    "$.l.[#0:2~1].remove()": Exp.list_remove_by_value_relative_rank_range_count(NONE, one, zero, two, lst, []),
    "$.l.append(1).append(2)": Exp.list_append(plain, two, Exp.list_append(plain, one, lst, []), []),
    # Maps.
    "$.m.k.setTo(1)": Exp.map_put(put, k, one, mp, []),
    "$.m.k.insert(1)": Exp.map_put(of_map(MapWriteFlags.CREATE_ONLY), k, one, mp, []),
    "$.m.k.update(1):NO_FAIL": Exp.map_put(of_map(MapWriteFlags.UPDATE_ONLY, MapWriteFlags.NO_FAIL), k, one, mp, []),
    "$.m.($.s:STRING).setTo($.i:INT)": Exp.map_put(put, s, i, mp, []),
    "$.m:KEY_ORDERED.k.setTo(1)": Exp.map_put(of_map(order=MapOrder.KEY_ORDERED), k, one, mp, []),
    "$.m.k.add(2)": Exp.map_increment(put, k, two, mp, []),
    "$.m.putItems({a: 1})": Exp.map_put_items(put, Exp.map_val({"a": 1}), mp, []),
    "$.m.insertItems({a: 1}):PARTIAL": Exp.map_put_items(
        of_map(MapWriteFlags.CREATE_ONLY, MapWriteFlags.NO_FAIL, MapWriteFlags.PARTIAL), Exp.map_val({"a": 1}), mp, []
    ),
    "$.m.updateItems({a: 1})": Exp.map_put_items(of_map(MapWriteFlags.UPDATE_ONLY), Exp.map_val({"a": 1}), mp, []),
    "$.m:MAP.clear()": Exp.map_clear(mp, []),
    "$.m.k.remove()": Exp.map_remove_by_key(MapReturnType.NONE, k, mp, []),
    "$.m.{@a,b}.remove()": Exp.map_remove_by_key_list(MapReturnType.NONE, Exp.list_val(["a", "b"]), mp, []),
    "$.m.{!@a:b}.remove()": Exp.map_remove_by_key_range(
        MapReturnType.INVERTED, Exp.string_val("a"), Exp.string_val("b"), mp, []
    ),
    "$.m.{0}.remove()": Exp.map_remove_by_index(MapReturnType.NONE, zero, mp, []),
    "$.m.{#0:2}.remove()": Exp.map_remove_by_rank_range_count(MapReturnType.NONE, zero, two, mp, []),
    "$.m.{=1}.remove()": Exp.map_remove_by_value(MapReturnType.NONE, one, mp, []),
    # Inside of others.
    "$.m.k.append(1)": Exp.list_append(plain, one, mp, [CTX.map_key("k")]),
    "$.m.k.[0].x.setTo(1)": Exp.map_put(put, Exp.string_val("x"), one, mp, [CTX.map_key("k"), CTX.list_index(0)]),
    "$.m.k:KEY_ORDERED.x.setTo(1)": Exp.map_put(
        of_map(order=MapOrder.KEY_ORDERED),
        Exp.string_val("x"),
        one,
        mp,
        [CTX.map_key_create("k", MapOrder.KEY_ORDERED)],
    ),
    "$.l.[0].k.remove()": Exp.map_remove_by_key(MapReturnType.NONE, k, lst, [CTX.list_index(0)]),
    # All that a path selects.
    "$.l:LIST.*[?(@ > 1)].modify(@ + 1)": Exp.exp_modify(listed, lst, Exp.num_add([item, one]), over_one),
    "$.l:LIST.*[?(@ > 1)].modify(@:INT * 2):NO_FAIL": Exp.exp_modify_no_fail(
        listed, lst, Exp.num_mul([item, two]), over_one
    ),
    "$.l:LIST.*[?(@ > 1)].remove()": Exp.exp_remove(listed, lst, over_one),
    "$.m.{@a,b}&[?(@ > 1)].count()": Exp.list_size(
        Exp.exp_select_values(listed, mp, [CTX.map_keys_in(["a", "b"]), CTX.and_filter(Exp.gt(item, one))]), []
    ),
    "$.m.{@a,b}.remove():NO_FAIL": Exp.exp_modify_no_fail(
        mapped, mp, Exp.remove_result(), [CTX.map_keys_in(["a", "b"])]
    ),
    "$.l.[1:3].modify(@ + 1)": Exp.exp_modify(
        listed,
        lst,
        Exp.num_add([item, one]),
        [CTX.all_children_with_filter(Exp.and_([Exp.ge(at_index, one), Exp.lt(at_index, Exp.int_val(3))]))],
    ),
    "$.m.{@a:c}&[?(@ > 1)].count()": Exp.list_size(
        Exp.exp_select_values(
            listed,
            mp,
            [
                CTX.all_children_with_filter(
                    Exp.and_(
                        [
                            Exp.and_([Exp.ge(name, Exp.string_val("a")), Exp.lt(name, Exp.string_val("c"))]),
                            Exp.gt(item, one),
                        ]
                    )
                )
            ],
        ),
        [],
    ),
    "$.l.[1:-1].remove()": Exp.list_remove_by_index_range_count(
        NONE, one, Exp.max([zero, Exp.num_add([Exp.list_size(lst, []), Exp.int_val(-2)])]), lst, []
    ),
    # Expressions in selectors.
    "$.l.[($.i)]:INT": Exp.list_get_by_index(VALUE, ExpType.INT, i, lst, []),
    "$.l.[($.i):($.i + 2)]": Exp.list_get_by_index_range_count(
        VALUE, i, Exp.num_sub([Exp.num_add([i, two]), i]), lst, []
    ),
    "$.l.[0:($.i)].count()": Exp.list_get_by_index_range_count(COUNT, zero, i, lst, []),
    "$.l.[#(-$.i):].count()": Exp.list_get_by_rank_range(COUNT, Exp.num_sub([i]), lst, []),
    "$.l.[=($.i:INT)].count()": Exp.list_get_by_value(COUNT, i, lst, []),
    "$.l.[=($.w:LIST)].count()": Exp.list_get_by_value_list(COUNT, Exp.list_bin("w"), lst, []),
    "$.m.{=($.i:INT):2}.count()": Exp.map_get_by_value_range(MapReturnType.COUNT, i, two, mp, []),
    "$.m.{0:1~($.s:STRING)}.getMaps()": Exp.map_get_by_key_relative_index_range_count(
        MapReturnType.ORDERED_MAP, s, zero, one, mp, []
    ),
    "$.m.($.s:STRING).[0]:INT": Exp.list_get_by_index(
        VALUE, ExpType.INT, zero, Exp.map_get_by_key(MapReturnType.VALUE, listed, s, mp, []), []
    ),
    # Blobs and sketches.
    "$.y.bitGetInt(offset: 0, size: 8)": Exp.bit_get_int(zero, eight, False, blob),
    "$.y.bitGetInt(0, 8, true)": Exp.bit_get_int(zero, eight, True, blob),
    "$.y.b64Encode()": Exp.bit_b64_encode(blob),
    "$.y.bitResize(byteSize: 8):CREATE_ONLY": Exp.bit_resize(
        BitPolicy(BitWriteFlags.CREATE_ONLY), eight, BitwiseResizeFlags.DEFAULT, blob
    ),
    "$.y.bitInsert(byteOffset: 0, value: x'ff')": Exp.bit_insert(bits, zero, ff, blob),
    "$.y.bitRemove(byteOffset: 0, byteSize: 1):PARTIAL:NO_FAIL": Exp.bit_remove(
        BitPolicy(BitWriteFlags.PARTIAL | BitWriteFlags.NO_FAIL), zero, one, blob
    ),
    "$.y.bitSet(0, 8, x'ff')": Exp.bit_set(bits, zero, eight, ff, blob),
    "$.y.bitOr(0, 8, x'ff')": Exp.bit_or(bits, zero, eight, ff, blob),
    "$.y.bitXor(0, 8, x'ff')": Exp.bit_xor(bits, zero, eight, ff, blob),
    "$.y.bitAnd(0, 8, x'ff')": Exp.bit_and(bits, zero, eight, ff, blob),
    "$.y.bitNot(size: 8, offset: 0):UPDATE_ONLY": Exp.bit_not(BitPolicy(BitWriteFlags.UPDATE_ONLY), zero, eight, blob),
    "$.y.bitLshift(0, 8, 1)": Exp.bit_lshift(bits, zero, eight, one, blob),
    "$.y.bitRshift(0, 8, 1)": Exp.bit_rshift(bits, zero, eight, one, blob),
    "$.y.bitAdd(offset: 0, size: 8, value: 1)": Exp.bit_add(bits, zero, eight, one, False, FAIL, blob),
    "$.y.bitSubtract(0, 8, 1, signed: true)": Exp.bit_subtract(bits, zero, eight, one, True, FAIL, blob),
    "$.y.bitSetInt(0, 8, 2)": Exp.bit_set_int(bits, zero, eight, two, blob),
    "$.h.hllInit(indexBits: 8):UPDATE_ONLY": Exp.hll_init(
        HLLPolicy(HLLWriteFlags.UPDATE_ONLY), eight, Exp.hll_bin("h")
    ),
    "$.h.hllInit(indexBits: 8, minHashBits: 8)": Exp.hll_init_with_min_hash(
        HLLPolicy(0), eight, eight, Exp.hll_bin("h")
    ),
    "$.h.hllAdd(['a'])": Exp.hll_add(HLLPolicy(0), Exp.list_val(["a"]), Exp.hll_bin("h")),
    "$.h.hllAdd(['a'], indexBits: 8)": Exp.hll_add_with_index(
        HLLPolicy(0), Exp.list_val(["a"]), eight, Exp.hll_bin("h")
    ),
}


@pytest.mark.parametrize("text", SAME)
def test_a_text_becomes_what_constructors_build(text):
    parsed = parse_ael(text)
    assert parsed == SAME[text]
    assert parsed.base64() == SAME[text].base64()


RECORD = {
    "l": [7, 21, 35, 49, 63],
    "m": {"ann": 4, "bob": 8, "eve": 15},
    "y": b"\x0f\x10\x80\x01",
    "k": "bob",
    "keys": ["ann", "eve"],
    "i": 3,
    "a": 1,
    "e": 3,
    "lo": 5,
    "hi": 16,
    "n": {"rows": [{"x": 1}, {"x": 2}]},
}
# None: there is no answer.
ANSWERS = {
    # Lists.
    "$.l.[1].setTo('x')": [7, "x", 35, 49, 63],
    "$.l.[-1].setTo($.a + 1)": [7, 21, 35, 49, 2],
    "$.l.[2].add(-5)": [7, 21, 30, 49, 63],
    "$.l.[0].insert([])": [[], 7, 21, 35, 49, 63],
    "$.l.append($.k:STRING)": [7, 21, 35, 49, 63, "bob"],
    "$.l.appendItems($.keys:LIST)": [7, 21, 35, 49, 63, "ann", "eve"],
    "$.l.[5].insertItems([1, 2])": [7, 21, 35, 49, 63, 1, 2],
    "$.l.[1:4].remove()": [7, 63],
    "$.l.[!=20:50].remove()": [21, 35, 49],
    "$.l.append(1).sort()": [1, 7, 21, 35, 49, 63],
    "$.l:LIST.clear()": [],
    "$.l.appendItems([8, 9]):ADD_UNIQUE": [7, 21, 35, 49, 63, 8, 9],
    "$.l.appendItems([8, 8]):ADD_UNIQUE": None,
    "$.l.appendItems([8, 8]):ADD_UNIQUE:NO_FAIL": [7, 21, 35, 49, 63],
    "$.l.appendItems([7, 8]):ADD_UNIQUE:PARTIAL": [7, 21, 35, 49, 63, 8],
    # Nothing is padded that is not to be.
    "$.l.[9].setTo(1)": None,
    "$.l:UNSORTED_PAD.[6].setTo(1)": [7, 21, 35, 49, 63, None, 1],
    # Maps.
    "$.m.ann.setTo(5)": {"ann": 5, "bob": 8, "eve": 15},
    "$.m.zoe.setTo(5)": {"ann": 4, "bob": 8, "eve": 15, "zoe": 5},
    "$.m.ann.insert(5)": None,
    "$.m.zoe.insert(5)": {"ann": 4, "bob": 8, "eve": 15, "zoe": 5},
    "$.m.zoe.update(5)": None,
    "$.m.bob.update(5)": {"ann": 4, "bob": 5, "eve": 15},
    "$.m.eve.add($.a:INT)": {"ann": 4, "bob": 8, "eve": 16},
    "$.m.putItems({bob: 0, zoe: 1})": {"ann": 4, "bob": 0, "eve": 15, "zoe": 1},
    "$.m.insertItems({bob: 0, zoe: 1})": None,
    "$.m.insertItems({bob: 0, zoe: 1}):PARTIAL": {"ann": 4, "bob": 8, "eve": 15, "zoe": 1},
    "$.m.updateItems({bob: 0})": {"ann": 4, "bob": 0, "eve": 15},
    "$.m.{@bob}.remove()": {"ann": 4, "eve": 15},
    "$.m.{#-1}.remove()": {"ann": 4, "bob": 8},
    "$.m.{!@($.keys)}.remove()": {"ann": 4, "eve": 15},
    "$.m.{@ann,bob}.remove():NO_FAIL": {"eve": 15},
    "$.nothing:MAP.k.setTo(1)": None,
    # Inside of others.
    "$.n.rows.[0].x.setTo($.i:INT)": {"rows": [{"x": 3}, {"x": 2}]},
    "$.n.rows.[1].x.remove()": {"rows": [{"x": 1}, {}]},
    "$.n.rows.*.x.modify(@:INT + 10)": {"rows": [{"x": 11}, {"x": 12}]},
    "$.n.new.x.setTo(1)": None,
    "$.n.new:KEY_ORDERED.x.setTo(1)": {"new": {"x": 1}, "rows": [{"x": 1}, {"x": 2}]},
    "$.n.new:SORTED.append(1)": {"new": [1], "rows": [{"x": 1}, {"x": 2}]},
    # All that a path selects.
    "$.l:LIST.*[?(@ % 2 == 1 and @index > 1)].modify(@ - 1)": [7, 21, 34, 48, 62],
    "$.l:LIST.*[?(@ > 30)].remove()": [7, 21],
    "$.m:MAP.*[?(@key > 'b')].modify(@:INT * 2):NO_FAIL": {"ann": 4, "bob": 16, "eve": 30},
    "$.l:LIST.*[?(@ > 63)].exists()": False,
    "$.l:LIST.*[?(@ >= 63)].exists()": True,
    "$.m.{@ann,bob,eve}&[?(@ > 5)].count()": 2,
    "$.m.{@ann,bob,eve}&[?(@ > 5)].getKeys()": ["bob", "eve"],
    # Ranges from one end to the other.
    "$.l.[1:-1]": [21, 35, 49],
    "$.l.[-2:4]": [49],
    "$.l.[-9:2]": [7, 21],
    "$.l.[4:-3]": [],
    "$.l.[!1:-1]": [7, 63],
    "$.l.[1:-1].remove()": [7, 63],
    "$.l.[#1:-1].getRanks()": [1, 2, 3],
    "$.l.append(1).[1:-1].count()": 4,
    "$.m.{1:-1}.getKeys()": ["bob"],
    "$.m.{#-2:3}.getKeys()": ["bob", "eve"],
    "$.n.rows.[0:-1].count()": 1,
    "$.nothing:LIST.[1:-1]": None,
    # What follows a range.
    "$.l.[1:3].modify(@:INT + 1)": [7, 22, 36, 49, 63],
    "$.l.[=20:50].modify(@ * 2)": [7, 42, 70, 98, 63],
    "$.l.[!1:4]&[?(@ > 10)]": [63],
    "$.l.[1:3].remove():NO_FAIL": [7, 49, 63],
    "$.l.[=7,63].modify(@ + 1)": [8, 21, 35, 49, 64],
    "$.m.{@b:f}.modify(@ + 1)": {"ann": 4, "bob": 9, "eve": 16},
    "$.m.{!@ann,eve}.modify(@ + 1)": {"ann": 4, "bob": 9, "eve": 15},
    "$.m.{=8,15}&[?(@key > 'c')].getKeys()": ["eve"],
    "$.m.{@5:9}.modify(@ + 1)": None,
    # What no filter says is read first.
    "$.l.[#-3:]&[?(@ > 40)]": [49, 63],
    "$.l.[#-3:]&[?(@ > 40)]&[?(@ < 60)].count()": 1,
    "$.l.[1:-1]&[?(@ < 40)]": [21, 35],
    "$.l.[-2:]&[?(@ > 100)]": [],
    "$.l.[-2:]&[?(@ > 100)].exists()": False,
    "$.l.[!#0:2]&[?(@ < 50)]": [35, 49],
    "$.l.[#0:2~30]&[?(@ > 40)]": [49],
    "$.l.[($.a):3]&[?(@ > 30)]": [35],
    "$.m.{#-2:}&[?(@key > 'bob')].getKeys()": ["eve"],
    "$.m.{0:2}&[?(@key != 'ann')].getKeyValues()": ["bob", 8],
    "$.m.{0:2~b}&[?(@ > 10)]": [15],
    "$.m.{@($.keys:LIST)}&[?(@ < 10)].getKeys()": ["ann"],
    "$.n.rows.[-1:].x": [2],
    "$.n.rows.[-1:]&[?(@.x:INT > 1)].x.count()": 1,
    "$.n.rows.[0:1].x": [1],
    "$.l:LIST.*[?(@ > 10)]&[?(@ < 40)]": [21, 35],
    # Literals with an order, and what is stored with a map.
    "[3, 1, 2]:SORTED": [1, 2, 3],
    "$.m.zoe.setTo([2, 1]:SORTED)": {"ann": 4, "bob": 8, "eve": 15, "zoe": [1, 2]},
    "$.m.zoe.setTo({b: 1, a: 2}:UNORDERED)": {"ann": 4, "bob": 8, "eve": 15, "zoe": {"a": 2, "b": 1}},
    "$.l.appendItems([2, 1]:SORTED)": [7, 21, 35, 49, 63, 1, 2],
    "$.m:KEY_ORDERED:PERSIST_INDEX.zoe.setTo(1)": {"ann": 4, "bob": 8, "eve": 15, "zoe": 1},
    # What is selected, told in several ways.
    "$.l.[1:4].getIndexes()": [1, 2, 3],
    "$.l.[0].getIndexes():REVERSE": 4,
    "$.l.[#0].getRanks()": 0,
    "$.m.{0:2}.getMaps()": {"ann": 4, "bob": 8},
    "$.m.{#1:3}.getKeyValues()": ["bob", 8, "eve", 15],
    # Expressions in selectors.
    "$.l.[($.i)]:INT": 49,
    "$.l.[($.a):($.e)]": [21, 35],
    "$.l.[(-$.a):].count()": 1,
    "$.m.($.k:STRING):INT": 8,
    "$.m.{($.k:STRING)}:INT": 8,
    "$.m.{($.keys:LIST)}": [4, 15],
    "$.m.{=($.lo:INT):($.hi:INT)}.count()": 2,
    "$.n.('rows').[1].x:INT": 2,
    "$.n.rows.[($.a)].x:INT": 2,
    "$.n.('row').[1].x:INT": None,
    "$.l.[#-1].remove().append(6).sort().[0]:INT": 6,
    # Blobs.
    "$.b:BLOB.bitCount(offset: 0, size: 32)": None,
    "$.y.bitCount(offset: 0, size: 32)": 7,
    "$.y.bitGet(offset: 8, size: 16)": b"\x10\x80",
    "$.y.bitGetInt(offset: 8, size: 16)": 0x1080,
    "$.y.bitGetInt(offset: 16, size: 8, signed: true)": -128,
    "$.y.bitLscan(offset: 0, size: 32, value: true)": 4,
    "$.y.bitRscan(offset: 0, size: 24, value: true)": 16,
    "$.y.bitSet(offset: 8, size: 8, value: x'3c')": b"\x0f\x3c\x80\x01",
    "$.y.bitSetInt(offset: 16, size: 16, value: 515)": b"\x0f\x10\x02\x03",
    "$.y.bitOr(offset: 8, size: 8, value: x'01')": b"\x0f\x11\x80\x01",
    "$.y.bitAnd(offset: 0, size: 8, value: x'3c')": b"\x0c\x10\x80\x01",
    "$.y.bitXor(offset: 0, size: 8, value: x'33')": b"\x3c\x10\x80\x01",
    "$.y.bitNot(offset: 24, size: 8)": b"\x0f\x10\x80\xfe",
    "$.y.bitLshift(offset: 0, size: 8, shift: 2)": b"\x3c\x10\x80\x01",
    "$.y.bitRshift(offset: 0, size: 8, shift: 3)": b"\x01\x10\x80\x01",
    "$.y.bitAdd(offset: 24, size: 8, value: 9)": b"\x0f\x10\x80\x0a",
    "$.y.bitSubtract(offset: 8, size: 8, value: 17)": None,
    "$.y.bitSubtract(offset: 8, size: 8, value: 17):NO_FAIL": b"\x0f\x10\x80\x01",
    "$.y.bitResize(byteSize: 6)": b"\x0f\x10\x80\x01\x00\x00",
    "$.y.bitInsert(byteOffset: 2, value: x'aabb')": b"\x0f\x10\xaa\xbb\x80\x01",
    "$.y.bitRemove(byteOffset: 1, byteSize: 2)": b"\x0f\x01",
    # The rest.
    "$.l.type() == LIST and $.y.type() == BLOB and $.i.type() == INT": True,
    "when ($.i.type() == INT => $.i:LOCAL:INT.toFloat(), default => $.i:LOCAL:FLOAT)": 3.0,
    "log(base: 2.0, value: 8.0)": 3.0,
    "$.hll.hllAdd(['a', 'b']).hllCount()": 4,
    "$.hll.hllInit(indexBits: 8).hllDescribe()": [8, 0],
}


@pytest.fixture(scope="module")
def record(client):
    key = Key("test", "ael_changes", 1)
    client.put_blocking(key, RECORD)
    client.operate_blocking(key, [native.HllOperation.add("hll", [1, 2], 10)])
    return key


@pytest.mark.parametrize("text", ANSWERS)
def test_what_servers_answer(client, record, text):
    expected = ANSWERS[text]
    if expected is None:
        read = ExpOperation.read("out", parse_ael(text), ExpReadFlags.EVAL_NO_FAIL)
        assert client.operate_blocking(record, [read]).bins["out"] is None
        with pytest.raises(native.ServerError):
            client.operate_blocking(record, [ExpOperation.read("out", parse_ael(text), ExpReadFlags.DEFAULT)])
        return
    answer = client.operate_blocking(record, [ExpOperation.read("out", parse_ael(text), ExpReadFlags.DEFAULT)])
    assert answer.bins["out"] == expected and isinstance(answer.bins["out"], type(expected))
    if REAL is None:
        # The same from the text itself, which servers before 8.2 do not compile.
        read = ExpOperation.read("out", Exp.from_server_compiled_ael(text), ExpReadFlags.DEFAULT)
        assert client.operate_blocking(record, [read]).bins["out"] == expected


def test_steps_of_builders_take_the_text(either, set_name):
    key, session = Key("test", set_name, 1), either.session
    either.run(either.run(session.upsert(key).put({"l": [1, 2, 3], "m": {"a": 1}}).execute()).collect())
    write = session.upsert(key).bin("big").upsert_from("$.l:LIST.*[?(@ > 1)].modify(@ * 100)")
    either.results(write.bin("m").update_from("$.m.b.insert($.l.[($.m.a:INT)]:INT)"))
    read = session.query(key).bin("last").select_from("$.big.[#-1].remove()")
    [result] = either.results(read.bin("m").get())
    assert result.record.bins == {"last": [1, 200], "m": {"a": 1, "b": 2}}
    # The bin that was read is as it was.
    [result] = either.results(session.query(key).bins(["l"]))
    assert result.record.bins == {"l": [1, 2, 3]}
    found = either.results(session.query(key).where("$.l.append(4).count() == 4 and $.m.($.k:STRING):INT == 1"))
    assert not found
    with pytest.raises(AelParseException) as caught:
        session.upsert(key).bin("l").upsert_from("$.l.append()")
    assert (caught.value.kind, caught.value.column) == ("syntax", 12)


def test_a_list_that_is_written_sorted_stays_sorted(either, set_name):
    key, session = Key("test", set_name, 1), either.session
    either.results(session.upsert(key).bin("sorted").upsert_from("[5, 1, 'a', 3]:SORTED"))
    either.results(session.upsert(key).bin("plain").upsert_from("[5, 1, 'a', 3]"))
    both = session.update(key).bin("sorted").list_append(2).bin("plain").list_append(2)
    either.results(both)
    assert either.run(session.query(key).first()).record.bins == {
        "sorted": [1, 2, 3, 5, "a"],
        "plain": [5, 1, "a", 3, 2],
    }


# Random chains of changes, each as a text and as constructors build it.
def changed_list(source, depth):
    """Text and expression of a list."""
    if depth == 0:
        return "$.l:LIST", lst
    text, exp = changed_list(source, depth - 1)
    if depth == 1:
        text = "$.l"
    index, value = source.randrange(-2, 6), source.randrange(9)
    at, number = Exp.int_val(index), Exp.int_val(value)
    start, end = source.randrange(3), source.randrange(-3, 0)
    inner, inner_exp = (f"$.l.[({value})]:INT", Exp.list_get_by_index(VALUE, ExpType.INT, number, lst, []))
    ways = [
        (f".append({value})", Exp.list_append(plain, number, exp, [])),
        (f".append({inner})", Exp.list_append(plain, inner_exp, exp, [])),
        (
            f".appendItems([{value}, 1]):ADD_UNIQUE:NO_FAIL",
            Exp.list_append_items(of_list(UNIQUE, ListWriteFlags.NO_FAIL), Exp.list_val([value, 1]), exp, []),
        ),
        (f".[{index}].setTo({value})", Exp.list_set(bounded, at, number, exp, [])),
        (f".[{index}].insert({value})", Exp.list_insert(bounded, at, number, exp, [])),
        (f".[{index}].add({value})", Exp.list_increment(bounded, at, number, exp, [])),
        (f".[{index}].remove()", Exp.list_remove_by_index(NONE, at, exp, [])),
        (f".[({inner})].remove()", Exp.list_remove_by_index(NONE, inner_exp, exp, [])),
        (f".[#0:{value}].remove()", Exp.list_remove_by_rank_range_count(NONE, zero, number, exp, [])),
        (f".[={value}].remove()", Exp.list_remove_by_value(NONE, number, exp, [])),
        (
            f".[{start}:{end}].remove()",
            Exp.list_remove_by_index_range_count(
                NONE,
                Exp.int_val(start),
                Exp.max([zero, Exp.num_add([Exp.list_size(exp, []), Exp.int_val(end - start)])]),
                exp,
                [],
            ),
        ),
        (
            f".[:{value + 1}].modify(@ - 1)",
            Exp.exp_modify(
                listed,
                exp,
                Exp.num_sub([item, one]),
                [CTX.all_children_with_filter(Exp.lt(at_index, Exp.int_val(value + 1)))],
            ),
        ),
        (
            f".[=1:{value + 2}]&[?(@index > 0)].modify(@ + 1)",
            Exp.exp_modify(
                listed,
                exp,
                Exp.num_add([item, one]),
                [
                    CTX.all_children_with_filter(
                        Exp.and_(
                            [
                                Exp.and_([Exp.ge(item, one), Exp.lt(item, Exp.int_val(value + 2))]),
                                Exp.gt(at_index, zero),
                            ]
                        )
                    )
                ],
            ),
        ),
        (".sort():DROP_DUPS", Exp.list_sort(ListSortFlags.DROP_DUPLICATES, exp, [])),
        (
            f".*[?(@ > {value})].modify(@ - 1)",
            Exp.exp_modify(
                listed,
                exp,
                Exp.num_sub([item, one]),
                [CTX.all_children_with_filter(Exp.gt(item, number))],
            ),
        ),
    ]
    way, made = source.choice(ways)
    return (text + way if depth > 1 or not way.startswith(".*") else "$.l:LIST" + way), made


def test_random_changes_mean_what_constructors_mean(client, set_name):
    keys = [Key("test", set_name, number) for number in range(3)]
    for key, items in zip(keys, ([], [3, 1, 2, 1], [5, 5, 0, -4, 7, 2]), strict=True):
        client.put_blocking(key, {"l": items})
    source = random.Random(4)
    outcomes = set()
    for _ in range(40):
        pairs = [changed_list(source, source.randrange(1, 5)) for _ in range(10)]
        for text, exp in pairs:
            assert parse_ael(text) == exp, text
        for key in keys:
            flags = ExpReadFlags.EVAL_NO_FAIL
            texts = [ExpOperation.read(f"r{at}", parse_ael(text), flags) for at, (text, _) in enumerate(pairs)]
            built = [ExpOperation.read(f"r{at}", exp, flags) for at, (_, exp) in enumerate(pairs)]
            first, second = client.operate_blocking(key, texts).bins, client.operate_blocking(key, built).bins
            assert first == second, [text for text, _ in pairs]
            outcomes.update(repr(value) for value in first.values())
    assert "None" in outcomes and "[]" in outcomes and len(outcomes) > 100
