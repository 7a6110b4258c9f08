"""Operations on lists, maps, blobs, HLLs and by path: what each constructor does to a record, and what is refused."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerolane import (
    HLL,
    AerospikeError,
    ElementExistsError,
    InvalidArgumentError,
    Key,
    ResultCode,
    SortedMap,
    SpecialValue,
    native,
)
from aerolane.native import (
    CTX,
    BitOperation,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    BitWriteFlags,
    CdtOperation,
    ExpOperation,
    FilterExpression,
    HllOperation,
    HLLPolicy,
    HLLWriteFlags,
    ListOperation,
    ListOrderType,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    ListWriteFlags,
    LoopVarPart,
    MapOperation,
    MapOrder,
    MapPolicy,
    MapReturnType,
    MapWriteFlags,
    MapWriteMode,
    ModifyFlags,
    Operation,
    SelectFlags,
    StringOperation,
    StringWriteFlags,
    has_any_write_op,
)

L, M, R, K = ListOperation, MapOperation, ListReturnType, MapReturnType
LP, MP, BP = ListPolicy(), MapPolicy(MapOrder.KEY_ORDERED), BitPolicy()
ITEMS = [3, 1, 2, 5, 4]
PAIRS = {"a": 1, "b": 3, "c": 2}


def after(client, key, bins, *operations, name="b"):
    """What operations answer, and what the bin is then, of a record with these bins."""
    client.delete_blocking(key)
    client.put_blocking(key, bins)
    answers = client.operate_blocking(key, operations).results
    return answers[0] if len(answers) == 1 else answers, client.get_blocking(key).bins.get(name)


LISTS = [
    (L.get("b", 0), 3, ITEMS),
    (L.size("b"), 5, ITEMS),
    (L.pop("b", 1), 1, [3, 2, 5, 4]),
    (L.clear("b"), None, []),
    (L.get_range("b", 1, 2), [1, 2], ITEMS),
    (L.get_range_from("b", -2), [5, 4], ITEMS),
    (L.set("b", 1, "x"), None, [3, "x", 2, 5, 4]),
    (L.set_with_policy("b", LP, 1, [1]), None, [3, [1], 2, 5, 4]),
    (L.remove("b", 0), 1, [1, 2, 5, 4]),
    (L.remove_range("b", 1, 3), 3, [3, 4]),
    (L.remove_range_from("b", 1), 4, [3]),
    (L.pop_range("b", 0, 2), [3, 1], [2, 5, 4]),
    (L.pop_range_from("b", 3), [5, 4], [3, 1, 2]),
    (L.trim("b", 1, 2), 3, [1, 2]),
    (L.append("b", 9, LP), 6, [*ITEMS, 9]),
    (L.append_items("b", (8, 9), LP), 7, [*ITEMS, 8, 9]),
    (L.insert("b", 0, None, LP), 6, [None, *ITEMS]),
    (L.insert_items("b", 0, [7, 8], LP), 7, [7, 8, *ITEMS]),
    (L.increment("b", 0, 10, LP), 13, [13, 1, 2, 5, 4]),
    (L.increment_by_one("b", 0), 4, [4, 1, 2, 5, 4]),
    (L.increment_by_one_with_policy("b", LP, 0), 4, [4, 1, 2, 5, 4]),
    (L.sort("b", ListSortFlags.DEFAULT), None, [1, 2, 3, 4, 5]),
    (L.sort("b", ListSortFlags.DESCENDING), None, [5, 4, 3, 2, 1]),
    (L.set_order("b", ListOrderType.ORDERED), None, [1, 2, 3, 4, 5]),
    (L.set_order_with_index("b", ListOrderType.ORDERED), None, [1, 2, 3, 4, 5]),
    (L.get_by_index("b", 1, R.RANK), 0, ITEMS),
    (L.get_by_index_range("b", 3, None, R.VALUE), [5, 4], ITEMS),
    (L.get_by_index_range("b", 1, 2, R.VALUE | R.INVERTED), [3, 5, 4], ITEMS),
    (L.get_by_rank("b", -1, R.VALUE), 5, ITEMS),
    (L.get_by_rank_range("b", 3, None, R.COUNT), 2, ITEMS),
    (L.get_by_rank_range("b", 0, 1, R.REVERSE_INDEX), [3], ITEMS),
    (L.get_by_value("b", 2, R.INDEX), [2], ITEMS),
    (L.get_by_value_range("b", 2, 4, R.COUNT), 2, ITEMS),
    (L.get_by_value_range("b", None, 3, R.COUNT), 2, ITEMS),
    (L.get_by_value_range("b", 3, None, R.COUNT), 3, ITEMS),
    (L.get_by_value_range("b", 3, SpecialValue.INFINITY, R.EXISTS), True, ITEMS),
    (L.get_by_value_list("b", [1, 9], R.COUNT), 1, ITEMS),
    (L.get_by_value_relative_rank_range("b", 3, 1, None, R.COUNT), 2, ITEMS),
    (L.get_by_value_relative_rank_range("b", 3, 0, 1, R.VALUE), [3], ITEMS),
    (L.remove_by_index("b", 0, R.VALUE), 3, [1, 2, 5, 4]),
    (L.remove_by_index_range("b", 3, None, R.COUNT), 2, [3, 1, 2]),
    (L.remove_by_index_range("b", 0, 2, R.NONE), None, [2, 5, 4]),
    (L.remove_by_rank("b", 0, R.VALUE), 1, [3, 2, 5, 4]),
    (L.remove_by_rank_range("b", 2, None, R.COUNT), 3, [1, 2]),
    (L.remove_by_rank_range("b", 0, 1, R.COUNT | R.INVERTED), 4, [1]),
    (L.remove_by_value("b", 5, R.COUNT), 1, [3, 1, 2, 4]),
    (L.remove_by_value_list("b", {1: 0, 5: 0}.keys(), R.COUNT), 2, [3, 2, 4]),
    (L.remove_by_value_range("b", 2, 4, R.COUNT), 2, [1, 5, 4]),
    (L.remove_by_value_relative_rank_range("b", 3, 1, None, R.COUNT), 2, [3, 1, 2]),
]


@pytest.mark.parametrize("n", range(len(LISTS)))
def test_lists(client, key, n):
    operation, answer, left = LISTS[n]
    assert after(client, key, {"b": ITEMS}, operation) == (answer, left)
    assert has_any_write_op([operation]) == (left != ITEMS or answer is None)
    assert operation.bin_name == "b"
    assert repr(operation).startswith("<ListOperation on 'b', ")
    row = client.batch_operate_blocking([key], [[operation]])[0]
    assert row.result_code == ResultCode.OK or left != ITEMS


@pytest.mark.parametrize(
    ("make", "bins"),
    [
        (lambda: L.create("b", ListOrderType.ORDERED, False, True), []),
        (lambda: L.create("b", ListOrderType.UNORDERED, True, False), []),
        (lambda: L.create_with_index("b", ListOrderType.ORDERED), []),
        (lambda: M.create("b", MapOrder.KEY_ORDERED), SortedMap()),
        (lambda: M.create("b", MapOrder.UNORDERED), {}),
        (lambda: M.create_with_index("b", MapOrder.KEY_VALUE_ORDERED), {}),
    ],
)
def test_creation(client, key, make, bins):
    assert after(client, key, {"other": 1}, make()) == (None, bins)
    # Inside of a context, with the last level created: also twice, and with a context in place of another one.
    nested = make().set_context([CTX.map_key("x")]).set_context([CTX.map_key("n"), CTX.map_key("o")])
    _, left = after(client, key, {"b": {"n": {}}}, nested)
    assert left == {"n": {"o": bins}}
    back = nested.set_context([])
    assert back == make()
    assert after(client, key, {"other": 1}, back) == (None, bins)


def test_list_flags(client, key):
    unique = ListPolicy(ListOrderType.UNORDERED, ListWriteFlags.ADD_UNIQUE)
    with pytest.raises(ElementExistsError):
        after(client, key, {"b": [1]}, L.append("b", 1, unique))
    quiet = ListPolicy(None, ListWriteFlags.ADD_UNIQUE | ListWriteFlags.NO_FAIL)
    assert after(client, key, {"b": [1]}, L.append("b", 1, quiet)) == (1, [1])
    partial = ListPolicy(write_flags=7 & ~2 | ListWriteFlags.PARTIAL)
    assert after(client, key, {"b": [1]}, L.append_items("b", [1, 2], partial)) == (2, [1, 2])
    bounded = ListPolicy(write_flags=ListWriteFlags.INSERT_BOUNDED)
    with pytest.raises(AerospikeError):
        after(client, key, {"b": [1]}, L.insert("b", 9, 1, bounded))
    ordered = ListPolicy(ListOrderType.ORDERED)
    assert after(client, key, {"o": 1}, L.append_items("b", [3, 1, 2], ordered)) == (3, [1, 2, 3])


MAPS = [
    (M.size("b"), 3, PAIRS),
    (M.clear("b"), None, {}),
    (M.put("b", "d", [1], MP), 4, {**PAIRS, "d": [1]}),
    (M.put_items("b", [("d", 4), ("a", 0)], MP), 4, {**PAIRS, "d": 4, "a": 0}),
    (M.put_items("b", {"e": 5}, MapPolicy()), 4, {**PAIRS, "e": 5}),
    (M.increment_value("b", "a", 5, MP), 6, {**PAIRS, "a": 6}),
    (M.decrement_value("b", "a", 5, MP), -4, {**PAIRS, "a": -4}),
    (M.get_by_key("b", "b", K.VALUE), 3, PAIRS),
    (M.get_by_key("b", "b", K.KEY_VALUE), {"b": 3}, PAIRS),
    (M.get_by_key_range("b", "b", None, K.KEY), ["b", "c"], PAIRS),
    (M.get_by_key_range("b", None, "b", K.KEY_VALUE), {"a": 1}, PAIRS),
    (M.get_by_key_range("b", "a", "c", K.ORDERED_MAP), SortedMap({"a": 1, "b": 3}), PAIRS),
    (M.get_by_key_range("b", "a", "c", K.UNORDERED_MAP), {"a": 1, "b": 3}, PAIRS),
    (M.get_by_key_list("b", ["a", "z"], K.COUNT), 1, PAIRS),
    (M.get_by_key_relative_index_range("b", "b", 0, None, K.KEY), ["b", "c"], PAIRS),
    (M.get_by_key_relative_index_range("b", "b", -1, 1, K.KEY), ["a"], PAIRS),
    (M.get_by_index("b", 0, K.KEY), "a", PAIRS),
    (M.get_by_index_range("b", 0, 2, K.KEY), ["a", "b"], PAIRS),
    (M.get_by_index_range_from("b", 1, K.KEY), ["b", "c"], PAIRS),
    (M.get_by_rank("b", -1, K.KEY), "b", PAIRS),
    (M.get_by_rank_range("b", 0, 2, K.COUNT), 2, PAIRS),
    (M.get_by_rank_range_from("b", 2, K.VALUE), [3], PAIRS),
    (M.get_by_value("b", 2, K.KEY), ["c"], PAIRS),
    (M.get_by_value_range("b", 2, None, K.COUNT), 2, PAIRS),
    (M.get_by_value_list("b", [1, 2], K.COUNT | K.INVERTED), 1, PAIRS),
    (M.get_by_value_relative_rank_range("b", 2, 0, None, K.COUNT), 2, PAIRS),
    (M.get_by_value_relative_rank_range("b", 2, 0, 1, K.EXISTS), True, PAIRS),
    (M.remove_by_key("b", "a", K.VALUE), 1, {"b": 3, "c": 2}),
    (M.remove_by_key_range("b", "b", None, K.COUNT), 2, {"a": 1}),
    (M.remove_by_key_list("b", ["a", "b"], K.COUNT), 2, {"c": 2}),
    (M.remove_by_key_relative_index_range("b", "b", 0, None, K.COUNT), 2, {"a": 1}),
    (M.remove_by_index("b", 0, K.KEY), "a", {"b": 3, "c": 2}),
    (M.remove_by_index_range("b", 0, 2, K.COUNT), 2, {"c": 2}),
    (M.remove_by_index_range_from("b", 1, K.COUNT), 2, {"a": 1}),
    (M.remove_by_rank("b", -1, K.KEY), "b", {"a": 1, "c": 2}),
    (M.remove_by_rank_range("b", 0, 2, K.COUNT), 2, {"b": 3}),
    (M.remove_by_rank_range_from("b", 1, K.COUNT), 2, {"a": 1}),
    (M.remove_by_value("b", 2, K.KEY), ["c"], {"a": 1, "b": 3}),
    (M.remove_by_value_range("b", 2, None, K.COUNT), 2, {"a": 1}),
    (M.remove_by_value_list("b", [1, 2], K.COUNT), 2, {"b": 3}),
    (M.remove_by_value_relative_rank_range("b", 2, 0, None, K.COUNT), 2, {"a": 1}),
]


@pytest.mark.parametrize("n", range(len(MAPS)))
def test_maps(client, key, n):
    operation, answer, left = MAPS[n]
    assert after(client, key, {"b": SortedMap(PAIRS)}, operation) == (answer, left)
    assert has_any_write_op([operation]) == (left != PAIRS)
    assert repr(operation).startswith("<MapOperation on 'b', ")


def test_map_orders_and_flags(client, key):
    for policy in (MP, MapPolicy(MapOrder.KEY_VALUE_ORDERED)):
        assert isinstance(after(client, key, {"b": PAIRS}, M.set_map_policy("b", policy))[1], SortedMap)
        assert isinstance(after(client, key, {"b": PAIRS}, M.set_policy("b", policy))[1], SortedMap)
    _, left = after(client, key, {"b": PAIRS}, M.set_policy("b", MapPolicy(MapOrder.KEY_ORDERED, persist_index=True)))
    assert left == PAIRS
    for policy in (
        MapPolicy(None, MapWriteMode.CREATE_ONLY),
        MapPolicy(None, None, MapWriteFlags.CREATE_ONLY),
        MapPolicy.new_with_flags(None, 1),
        MapPolicy.new_with_flags_and_persisted_index(None, MapWriteFlags.CREATE_ONLY),
    ):
        assert policy.write_mode == MapWriteMode.CREATE_ONLY
        with pytest.raises(ElementExistsError):
            after(client, key, {"b": PAIRS}, M.put("b", "a", 9, policy))
    quiet = MapPolicy(flags=MapWriteFlags.CREATE_ONLY | MapWriteFlags.NO_FAIL | MapWriteFlags.PARTIAL)
    assert after(client, key, {"b": PAIRS}, M.put_items("b", [("a", 9), ("z", 1)], quiet))[1] == {**PAIRS, "z": 1}


B = b"\x01\x02\x03\xff"
BITS = [
    (BitOperation.resize("b", 2, None, BP), None, B[:2]),
    (BitOperation.resize("b", 5, BitwiseResizeFlags.FROM_FRONT, BP), None, b"\x00" + B),
    (BitOperation.insert("b", 1, b"zz", BP), None, b"\x01zz\x02\x03\xff"),
    (BitOperation.remove("b", 1, 2, BP), None, b"\x01\xff"),
    (BitOperation.set("b", 0, 8, bytearray(b"\xf0"), BP), None, b"\xf0\x02\x03\xff"),
    (BitOperation.or_("b", 0, 8, b"\xf0", BP), None, b"\xf1\x02\x03\xff"),
    (BitOperation.xor("b", 0, 8, b"\x0f", BP), None, b"\x0e\x02\x03\xff"),
    (BitOperation.and_("b", 0, 8, b"\x00", BP), None, b"\x00\x02\x03\xff"),
    (BitOperation.not_("b", 0, 8, BP), None, b"\xfe\x02\x03\xff"),
    (BitOperation.lshift("b", 0, 8, 1, BP), None, b"\x02\x02\x03\xff"),
    (BitOperation.rshift("b", 0, 8, 1, BP), None, b"\x00\x02\x03\xff"),
    (BitOperation.add("b", 0, 8, 2, False, BitwiseOverflowActions.FAIL, BP), None, b"\x03\x02\x03\xff"),
    (BitOperation.add("b", 24, 8, 2, False, BitwiseOverflowActions.SATURATE, BP), None, B),
    (BitOperation.subtract("b", 0, 8, 2, True, BitwiseOverflowActions.WRAP, BP), None, b"\xff\x02\x03\xff"),
    (BitOperation.set_int("b", 0, 8, 9, BP), None, b"\x09\x02\x03\xff"),
    (BitOperation.get("b", 8, 8), b"\x02", B),
    (BitOperation.count("b", 0, 32), 12, B),
    (BitOperation.lscan("b", 0, 8, True), 7, B),
    (BitOperation.rscan("b", 0, 8, False), 6, B),
    (BitOperation.get_int("b", -8, 8, True), -1, B),
    (BitOperation.get_int("b", -8, 8, False), 255, B),
]


@pytest.mark.parametrize("n", range(len(BITS)))
def test_bits(client, key, n):
    operation, answer, left = BITS[n]
    assert after(client, key, {"b": B}, operation) == (answer, left)


def test_bit_flags(client, key):
    with pytest.raises(AerospikeError):
        after(client, key, {"b": B}, BitOperation.resize("b", 9, None, BitPolicy(BitWriteFlags.CREATE_ONLY)))
    quiet = BitPolicy(BitWriteFlags.CREATE_ONLY | BitWriteFlags.NO_FAIL)
    assert after(client, key, {"b": B}, BitOperation.resize("b", 9, None, quiet))[1] == B


def test_hll(client, key):
    H = HllOperation
    answers, left = after(client, key, {"o": 1}, H.add("b", ["a", "b", 3], 8), H.get_count("b"), H.describe("b"))
    assert answers == [3, 3, [8, 0]]
    assert isinstance(left, HLL)
    assert after(client, key, {"b": left}, H.refresh_count("b"))[0] == 3
    answers, _ = after(client, key, {"b": left}, H.fold("b", 4), H.describe("b"))
    assert answers == [None, [4, 0]]
    _, other = after(client, key, {"o": 1}, H.add("b", ["b", "z"], 8))
    count, similarity = 4, 0.25
    reads = [
        (H.get_union_count("b", [other]), count),
        (H.get_intersect_count("b", (other,)), 1),
        (H.get_similarity("b", [other]), similarity),
    ]
    for read, value in reads:
        assert after(client, key, {"b": left}, read)[0] == pytest.approx(value, abs=0.05)
    union = after(client, key, {"b": left}, H.get_union("b", [other]))[0]
    assert isinstance(union, HLL)
    assert after(client, key, {"b": left}, H.set_union("b", [other]))[1] == union
    answers, _ = after(client, key, {"b": left}, H.init("b", 12, 20), H.describe("b"), H.get_count("b"))
    assert answers == [None, [12, 20], 0]
    with pytest.raises(AerospikeError):
        after(client, key, {"b": left}, H.init("b", 12, flags=HLLWriteFlags.CREATE_ONLY))
    quiet = HLLWriteFlags.CREATE_ONLY | HLLWriteFlags.NO_FAIL
    assert after(client, key, {"b": left}, H.init("b", 12, flags=quiet))[1] == left


def test_paths(client, key):
    F = FilterExpression
    bins = {"b": {"x": [1, 2, 3], "y": [10]}}
    big = F.gt(F.int_loop_var(LoopVarPart.VALUE), F.int_val(1))
    path = [CTX.map_key("x"), CTX.all_children_with_filter(big)]
    plus = F.num_add([F.int_loop_var(LoopVarPart.VALUE), F.int_val(10)])
    C = CdtOperation
    assert after(client, key, bins, C.select_values("b", path))[0] == [2, 3]
    assert after(client, key, bins, C.select_by_path("b", SelectFlags.VALUE | SelectFlags.NO_FAIL, path))[0] == [2, 3]
    assert after(client, key, bins, C.select_matching_tree("b", path))[0] == {"x": [2, 3]}
    assert sorted(after(client, key, bins, C.select_map_keys("b", [CTX.all_children()]))[0]) == ["x", "y"]
    entries = after(client, key, bins, C.select_map_entries("b", [CTX.map_key("y")]))[0]
    assert entries == ["y", [10]]
    for modify in (
        C.modify("b", plus, path),
        C.modify_no_fail("b", plus, path),
        C.modify_by_path("b", ModifyFlags.NO_FAIL, plus, path),
    ):
        assert after(client, key, bins, modify)[1] == {"x": [1, 12, 13], "y": [10]}
    assert after(client, key, bins, C.remove("b", path))[1] == {"x": [1], "y": [10]}


S, GLOBAL = StringOperation, native.StringRegexFlags.GLOBAL
# Of a bin with this value: the operation, what it answers, and what it leaves (None: as it was). As the vendor's
# documentation has it; positions and lengths are those of characters.
STRINGS = [
    ("tëxt", S.strlen("s"), 4, None),
    ("tëxt", S.byte_length("s"), 5, None),
    ("tëxt", S.substr("s", 1, 3), "ëx", None),
    ("tëxt", S.substr("s", -2), "xt", None),
    ("tëxt", S.char_at("s", 1), "ë", None),
    ("a b a", S.find("s", "a", 2), 4, None),
    ("a b a", S.find("s", "x"), -1, None),
    ("text", S.contains("s", "ex"), True, None),
    ("text", S.starts_with("s", "te"), True, None),
    ("text", S.ends_with("s", "te"), False, None),
    ("-12", S.to_integer("s"), -12, None),
    ("1.5", S.to_double("s"), 1.5, None),
    ("12", S.is_numeric("s", native.StringNumericType.INT), True, None),
    ("1.5", S.is_numeric("s"), True, None),
    ("TEXT", S.is_upper("s"), True, None),
    ("Text", S.is_lower("s"), False, None),
    ("ë", S.to_blob("s"), "ë".encode(), None),
    ("a,b", S.split("s", ","), ["a", "b"], None),
    ("ab", S.split("s"), ["a", "b"], None),
    ("YWI=", S.b64_decode("s"), b"ab", None),
    ("text", S.regex_compare("s", "t.*t", native.StringRegexFlags.DOTALL), True, None),
    ("text", S.insert("s", 1, "-", flags=StringWriteFlags.UPDATE_ONLY), None, "t-ext"),
    ("text", S.overwrite("s", 2, "abc"), None, "teabc"),
    ("text", S.concat("s", ["x", "y"]), None, "textxy"),
    ("text", S.append("s", "x"), None, "textx"),
    ("text", S.prepend("s", "x"), None, "xtext"),
    ("text", S.snip("s", 1, 3), None, "tt"),
    ("text", S.snip("s", 1), None, "t"),
    ("a b a", S.replace("s", "a", "x"), None, "x b a"),
    ("a b a", S.replace_all("s", "a", "x"), None, "x b x"),
    ("Text", S.upper("s"), None, "TEXT"),
    ("Text", S.lower("s"), None, "text"),
    ("Text", S.case_fold("s"), None, "text"),
    ("e\N{COMBINING ACUTE ACCENT}", S.normalize_nfc("s"), None, "é"),
    (" x ", S.trim_start("s"), None, "x "),
    (" x ", S.trim_end("s"), None, " x"),
    (" x ", S.trim("s"), None, "x"),
    ("x", S.pad_start("s", 3, "-"), None, "--x"),
    ("x", S.pad_end("s", 3, "-"), None, "x--"),
    ("ab", S.repeat("s", 2), None, "abab"),
    ("a1b2", S.regex_replace("s", "[0-9]", "-", GLOBAL, write_flags=4), None, "a-b-"),
    (12, S.to_string("s"), "12", None),
    (["a", "b"], L.join("s", ","), "a,b", None),
    (b"ab", BitOperation.b64_encode("s"), "YWI=", None),
    (["tëxt"], S.strlen("s", ctx=[CTX.list_index(0)]), 4, None),
    ({"k": "text"}, S.upper("s", ctx=[CTX.map_key("k")]), None, {"k": "TEXT"}),
]


@pytest.mark.parametrize("n", range(len(STRINGS)))
def test_strings(client, key, n):
    """Servers before 8.2 refuse them, alone and in rows of batches, and stay well."""
    value, operation, answer, left = STRINGS[n]
    if client.nodes()[0].version.supports_string_operations():
        assert after(client, key, {"s": value}, operation, name="s") == (answer, value if left is None else left)
        return
    with pytest.raises(AerospikeError) as caught:
        after(client, key, {"s": value}, operation)
    assert caught.value.result_code == ResultCode.PARAMETER_ERROR
    (row,) = client.batch_operate_blocking([key], [[operation]])
    assert row.result_code == ResultCode.PARAMETER_ERROR
    assert client.get_blocking(key).bins == {"s": value}
    assert has_any_write_op([operation]) == (left is not None)


def test_each_string_operation_is_there():
    made = {repr(operation).partition(" ")[0] for _, operation, *_ in STRINGS}
    assert made >= {"<StringOperation", "<ListOperation", "<BitOperation"}
    names = {name for name in dir(StringOperation) if not name.startswith("_")} - {"bin_name"}
    assert len(names) == 37 and len({operation for _, operation, *_ in STRINGS}) == len(STRINGS)


# Contexts.


def test_contexts(client, key):
    bins = {"b": {"x": [[1, 2], {"k": [9]}], "y": 1}}
    cases = [
        ([CTX.map_key("x"), CTX.list_index(0)], L.append("b", 3, LP), 3),
        ([CTX.map_index(0), CTX.list_index(-1), CTX.map_key("k")], L.append("b", 3, LP), 2),
        ([CTX.map_rank(-1), CTX.list_rank(0)], L.size("b"), 2),
        ([CTX.map_value([[1, 2], {"k": [9]}])], L.size("b"), 2),
        ([CTX.map_key("x"), CTX.list_value([1, 2])], L.get("b", 0), 1),
        ([CTX.map_key("x"), CTX.list_index(1)], M.get_by_key("b", "k", K.VALUE), [9]),
        ([CTX.map_key_create("new", MapOrder.KEY_ORDERED)], M.put("b", 1, 2, MP), 1),
        ([CTX.map_key("x"), CTX.list_index_create(2, ListOrderType.ORDERED, False)], L.append("b", 5, LP), 1),
        ([CTX.map_key("x"), CTX.list_index_create(4, ListOrderType.UNORDERED, True)], L.append("b", 5, LP), 1),
    ]
    for path, operation, answer in cases:
        assert after(client, key, bins, operation.set_context(path))[0] == answer, path
        assert after(client, key, bins, operation.set_context([CTX.map_key("z")]).set_context(path))[0] == answer
    assert L.size("b").set_context(None) == L.size("b")


def test_context_that_leads_nowhere(client, key):
    for path in ([CTX.map_key("z")], [CTX.map_key("y"), CTX.list_index(0)], [CTX.list_index(9)]):
        with pytest.raises(AerospikeError):
            after(client, key, {"b": {"y": 1}}, L.size("b").set_context(path))


# Several in one call.


def test_results_line_up(client, key):
    answers, _ = after(
        client,
        key,
        {"b": [1], "o": 5},
        L.append("b", 2, LP),
        Operation.get_bin("o"),
        L.size("b"),
        M.size("none"),
        ExpOperation.read("e", FilterExpression.int_bin("o")),
        Operation.get_bin("none"),
    )
    assert answers == [2, 5, 2, None, 5, None]
    record = client.operate_blocking(key, [L.size("b"), L.get("b", 0), Operation.get_bin("o")])
    assert record.bins == {"b": [2, 1], "o": 5}
    assert record.operation_result(2) == 5


async def test_async(client, key):
    await client.put(key, {"b": [1]})
    record = await client.operate(key, [L.append("b", [2, {"x": None}], LP), L.get_range_from("b", 0)])
    assert record.results == [2, [1, [2, {"x": None}]]]


def test_batches(client, set_name):
    keys = [Key("test", set_name, n) for n in range(20)]
    rows = client.batch_operate_blocking(keys, [[L.append("b", n, LP), L.size("b")] for n in range(20)])
    assert [row.record.results for row in rows] == [[1, 1]] * 20
    rows = client.batch_blocking(
        [
            native.BatchReadOp(keys[0], operations=[L.get("b", 0), M.size("none")]),
            native.BatchWriteOp(keys[1], [M.put("m", "a", 1, MP)]),
        ]
    )
    assert rows[0].record.results[0] == 0
    assert rows[1].record.results == [1]
    with pytest.raises(InvalidArgumentError):
        native.BatchReadOp(keys[0], operations=[L.append("b", 1, LP)])
    with pytest.raises(InvalidArgumentError):
        native.BatchWriteOp(keys[0], [L.size("b")])


# What is refused at once.

BAD = [
    (lambda: L.append("b", object(), LP), TypeError),
    (lambda: L.append("b", 1, None), TypeError),
    (lambda: L.append("b", 1, MP), TypeError),
    (lambda: L.append("b", 2**64, LP), OverflowError),
    (lambda: L.append("b" * 16, 1, LP), InvalidArgumentError),
    (lambda: L.append(1, 1, LP), TypeError),
    (lambda: L.append("b", {1.5: 1}, LP), TypeError),
    (lambda: L.append_items("b", 5, LP), TypeError),
    (lambda: L.append_items("b", "text", LP), TypeError),
    (lambda: L.append_items("b", {"a": 1}, LP), TypeError),
    (lambda: L.append_items("b", [1, object()], LP), TypeError),
    (lambda: L.get("b", "0"), TypeError),
    (lambda: L.get("b", 2**63), OverflowError),
    (lambda: L.get("b", 1.0), TypeError),
    (lambda: L.get_by_index("b", 0, K.VALUE), TypeError),
    (lambda: L.get_by_index("b", 0, 7), TypeError),
    (lambda: L.sort("b", 1), TypeError),
    (lambda: L.set_order("b", MapOrder.UNORDERED), TypeError),
    (lambda: L.create("b", ListOrderType.ORDERED, 1, False), TypeError),
    (lambda: L.size("b").set_context([1]), TypeError),
    (lambda: L.size("b").set_context("x"), TypeError),
    (lambda: L.size("b").set_context([CTX.list_index(0)] * 257), InvalidArgumentError),
    (lambda: ListPolicy("ordered"), TypeError),
    (lambda: ListPolicy(None, 256), InvalidArgumentError),
    (lambda: ListPolicy(None, -1), InvalidArgumentError),
    (lambda: ListPolicy(None, "x"), TypeError),
    (lambda: M.put("b", 1.5, 1, MP), TypeError),
    (lambda: M.put("b", None, 1, MP), TypeError),
    (lambda: M.put("b", "a", 1, LP), TypeError),
    (lambda: M.put_items("b", 5, MP), TypeError),
    (lambda: M.put_items("b", [1], MP), TypeError),
    (lambda: M.put_items("b", [(1, 2, 3)], MP), (TypeError, ValueError)),
    (lambda: M.put_items("b", [((1,), 2)], MP), TypeError),
    (lambda: M.increment_value("b", "a", 1.5, MP), TypeError),
    (lambda: M.get_by_key("b", "a", R.VALUE), TypeError),
    (lambda: MapPolicy(ListOrderType.ORDERED), TypeError),
    (lambda: MapPolicy(persist_index=1), TypeError),
    (lambda: BitOperation.set("b", 0, 8, 5, BP), TypeError),
    (lambda: BitOperation.set("b", 0, 8, "x", BP), TypeError),
    (lambda: BitOperation.resize("b", 1, 2, BP), TypeError),
    (lambda: BitOperation.lscan("b", 0, 1, 1), TypeError),
    (lambda: BitOperation.b64_encode("b", 1), InvalidArgumentError),
    (lambda: BitOperation.b64_encode("b", invert_size=True), InvalidArgumentError),
    (lambda: HllOperation.get_union("b", [b"x"]), TypeError),
    (lambda: HllOperation.get_union("b", HLL(b"x")), TypeError),
    (lambda: HllOperation.add("b", "text", 8), TypeError),
    (lambda: HllOperation.init("b", "8"), TypeError),
    (lambda: HllOperation.init("b", 8, flags=-1), InvalidArgumentError),
    (lambda: StringOperation.snip("b", 1, flags=1), InvalidArgumentError),
    (lambda: StringOperation.concat("b", [1]), TypeError),
    (lambda: StringOperation.append("b", b"x"), TypeError),
    (lambda: StringOperation.append("b", "\udc00"), InvalidArgumentError),
    (lambda: ExpOperation.read("e", 1), TypeError),
    (lambda: ExpOperation.write("e" * 16, FilterExpression.nil()), InvalidArgumentError),
    (lambda: CdtOperation.select_values("b", CTX.all_children()), TypeError),
    (lambda: CdtOperation.modify("b", 1, []), TypeError),
    (lambda: has_any_write_op([]), InvalidArgumentError),
    (lambda: has_any_write_op([1]), TypeError),
    (lambda: native.ListOperation(), TypeError),
    (lambda: native.CTX(), TypeError),
    (lambda: native.FilterExpression(), TypeError),
]


@pytest.mark.parametrize("n", range(len(BAD)))
def test_bad_arguments(n):
    call, error = BAD[n]
    with pytest.raises(error):
        call()


def test_bad_calls(client, key):
    for bad in ([], [None], [L], 5, [L.size("b"), "x"]):
        with pytest.raises((InvalidArgumentError, TypeError)):
            client.operate_blocking(key, bad)


def test_too_deep_values():
    value = []
    for _ in range(600):
        value = [value]
    for make in (lambda: L.append("b", value, LP), lambda: M.put("b", 1, value, MP), lambda: CTX.list_value(value)):
        with pytest.raises(InvalidArgumentError, match="512"):
            make()


def test_errors_of_the_server(client, key):
    cases = [
        ({"b": 1}, L.size("b"), ResultCode.BIN_TYPE_ERROR),
        ({"b": [1]}, M.size("b"), ResultCode.BIN_TYPE_ERROR),
        ({"b": [1]}, L.get("b", 9), ResultCode.OP_NOT_APPLICABLE),
        ({"b": ["x"]}, L.increment("b", 0, 1, LP), ResultCode.PARAMETER_ERROR),
        ({"b": b"x"}, BitOperation.get("b", 0, 99), ResultCode.OP_NOT_APPLICABLE),
        ({"b": 1}, HllOperation.get_count("b"), ResultCode.BIN_TYPE_ERROR),
    ]
    for bins, operation, code in cases:
        with pytest.raises(AerospikeError) as caught:
            after(client, key, bins, operation)
        assert caught.value.result_code == code, operation


# The objects.


def test_operations_are_values():
    assert L.append("b", [1], LP) == L.append("b", [1], LP) != L.append("b", [2], LP)
    assert len({L.size("b"), L.size("b"), L.size("c"), M.size("b")}) == 3
    assert L.size("b").set_context([CTX.list_index(0)]) != L.size("b")
    values, policy = [1], ListPolicy()
    operation = L.append("b", values, policy)
    values.append(2)
    policy.write_flags = ListWriteFlags.ADD_UNIQUE
    assert operation == L.append("b", [1], LP), "it was encoded when it was made"


def test_policies_are_values():
    for policy in (
        ListPolicy(ListOrderType.ORDERED, 5),
        MapPolicy(MapOrder.KEY_ORDERED, None, 5, True),
        BitPolicy(3),
        HLLPolicy(HLLWriteFlags.ALLOW_FOLD),
    ):
        assert pickle.loads(pickle.dumps(policy)) == policy != type(policy)()
        assert repr(policy).startswith(type(policy).__name__)
    policy = MapPolicy()
    policy.write_mode = MapWriteMode.UPDATE_ONLY
    assert policy.flags is MapWriteFlags.UPDATE_ONLY
    policy.flags = MapWriteFlags.NO_FAIL | MapWriteFlags.PARTIAL
    assert (policy.raw_flags, policy.flags, policy.write_mode) == (12, 12, MapWriteMode.UPDATE)
    policy.order, policy.persist_index = MapOrder.KEY_VALUE_ORDERED, True
    assert policy == MapPolicy(MapOrder.KEY_VALUE_ORDERED, None, 12, True)
    bits = BitPolicy()
    bits.set_write_flags(BitWriteFlags.NO_FAIL)
    assert bits.get_write_flags() == bits.write_flags == 4
    assert repr(R.VALUE | R.INVERTED) == "ListReturnType.VALUE | ListReturnType.INVERTED"
    assert (int(K.KEY | K.INVERTED), K.KEY & K.KEY) == (65542, K.KEY)
    assert pickle.loads(pickle.dumps(K.KEY)) == K.KEY


# Any values.

scalars = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.booleans(),
    st.floats(allow_nan=False),
)
keys = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=8), st.binary(max_size=8))
values = st.recursive(scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(keys, v, max_size=4), max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(items=st.lists(values, max_size=5))
def test_any_items(client, seeds, items):
    key = Key("test", "py_op_values", "l")
    client.delete_blocking(key)
    record = client.operate_blocking(key, [L.append_items("b", items, LP), L.get_range_from("b", 0), L.size("b")])
    assert record.results == [len(items), items, len(items)]


@settings(max_examples=60, deadline=None)
@given(pairs=st.dictionaries(keys, values, max_size=5), order=st.sampled_from(list(MapOrder)))
def test_any_pairs(client, seeds, pairs, order):
    key = Key("test", "py_op_values", "m")
    client.delete_blocking(key)
    answers = client.operate_blocking(
        key,
        [M.put_items("b", list(pairs.items()), MapPolicy(order)), M.get_by_index_range_from("b", 0, K.KEY_VALUE)]
        + [M.get_by_key("b", name, K.VALUE) for name in pairs],
    ).results
    assert answers[0] == len(pairs)
    assert answers[1] == pairs
    assert answers[2:] == list(pairs.values())


BYTE_FLAGS = ["ListWriteFlags", "MapWriteFlags", "BitWriteFlags", "HLLWriteFlags", "StringWriteFlags"]
BYTE_FLAGS += ["StringRegexFlags", "ExpReadFlags", "ExpWriteFlags"]


@pytest.mark.parametrize("name", BYTE_FLAGS)
def test_flags_of_a_byte(name):
    """They show their names, and what `~` makes of them is still flags of a byte."""
    for flag in getattr(native, name):
        assert repr(flag) == str(flag) == f"{flag}" == f"{name}.{flag.name}"
        assert f"{flag:03d}" == f"{int(flag):03d}"
        assert flag == flag.value and hash(flag) == hash(flag.value)
        assert ~flag == 255 - flag.value and (~flag & flag) == 0
        assert pickle.loads(pickle.dumps(flag)) is flag


def test_flags_that_do_not_fit():
    for wrong in (256, 999, -1, 1 << 40):
        for make in (
            lambda flags: native.ListPolicy(None, flags),
            native.BitPolicy,
            native.HLLPolicy,
            lambda flags: native.MapPolicy(None, None, flags),
            lambda flags: native.HllOperation.init("b", 4, -1, flags),
            lambda flags: native.HllOperation.add("b", [1], 4, -1, flags),
            lambda flags: native.StringOperation.upper("b", flags=flags),
            lambda flags: native.StringOperation.regex_compare("b", "x", flags),
        ):
            with pytest.raises(InvalidArgumentError, match=f"flags is {wrong}, it must be 0 to 255"):
                make(wrong)
    assert native.ListPolicy(None, ~native.ListWriteFlags.ADD_UNIQUE).write_flags == 254
    assert native.HLLPolicy(255) == native.HLLPolicy(~native.HLLWriteFlags.DEFAULT)
