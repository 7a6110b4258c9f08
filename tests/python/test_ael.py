"""Text in the Aerospike Expression Language: it becomes what constructors build, and means the same to a cluster."""

import pickle
import random
import subprocess
import sys
import threading

import pytest
from conftest import REAL

import aerolane
from aerolane import AelParseException, GeoJSON, InvalidArgumentError, ael, native, parse_ael, parse_ael_with_index
from aerolane.ael import parse_ctx
from aerolane.native import (
    CTX,
    ExpOperation,
    ExpReadFlags,
    ExpType,
    ListReturnType,
    LoopVarPart,
    MapReturnType,
    QueryPolicy,
    ReadPolicy,
    Statement,
    StringWriteFlags,
)
from aerolane.native import FilterExpression as Exp

VALUE, COUNT, EXISTS = ListReturnType.VALUE, ListReturnType.COUNT, ListReturnType.EXISTS
NOT = MapReturnType.INVERTED
i, f, s, lst, mp, blob, flag = (
    Exp.int_bin("i"),
    Exp.float_bin("f"),
    Exp.string_bin("s"),
    Exp.list_bin("l"),
    Exp.map_bin("m"),
    Exp.blob_bin("y"),
    Exp.bool_bin("t"),
)
one, two, three = Exp.int_val(1), Exp.int_val(2), Exp.int_val(3)
by_key = Exp.map_get_by_key
ORDERED_MAP = MapReturnType.ORDERED_MAP


def from_both(items, more):
    """How many items of a list a range has that counts from both ends."""
    return Exp.max([Exp.int_val(0), Exp.num_add([Exp.list_size(items, []), Exp.int_val(more)])])


def above(number):
    return Exp.gt(Exp.int_loop_var(LoopVarPart.VALUE), Exp.int_val(number))


def filtered(items, condition):
    """The items for which a condition is true."""
    return Exp.exp_select_values(ExpType.LIST, items, [CTX.all_children_with_filter(condition)])


SAME = {
    "$.i > 3": Exp.gt(i, three),
    "3 <= $.i": Exp.le(three, i),
    "$.s == 'it\\'s \"x\"\\n'": Exp.eq(s, Exp.string_val('it\'s "x"\n')),
    "$.t": flag,
    "$.t == true": Exp.eq(flag, Exp.bool_val(True)),
    "not($.t) and $.i != -1 and $.f < .5": Exp.and_(
        [Exp.not_(flag), Exp.ne(i, Exp.int_val(-1)), Exp.lt(f, Exp.float_val(0.5))]
    ),
    "exclusive($.t, $.i == 1) or $.t": Exp.or_([Exp.exclusive([flag, Exp.eq(i, one)]), flag]),
    "$.i + 1 * 2 == 3": Exp.eq(Exp.num_add([i, Exp.num_mul([one, two])]), three),
    "-$.i == 3": Exp.eq(Exp.num_sub([i]), three),
    "$.f ** 2.0 >= 1.0": Exp.ge(Exp.num_pow(f, Exp.float_val(2.0)), Exp.float_val(1.0)),
    "$.i % 2 == 1": Exp.eq(Exp.num_mod(i, two), one),
    "~$.i & 0xff | 0b11 == 3": Exp.eq(Exp.int_or([Exp.int_and([Exp.int_not(i), Exp.int_val(255)]), three]), three),
    "$.i >> 1 == 1": Exp.eq(Exp.int_arshift(i, one), one),
    "$.i >>> 1 == 1": Exp.eq(Exp.int_rshift(i, one), one),
    "max($.i, 2, 3) == 3": Exp.eq(Exp.max([i, two, three]), three),
    "log($.f, 2.0) > 1.0": Exp.gt(Exp.num_log(f, Exp.float_val(2.0)), Exp.float_val(1.0)),
    "$.f.asInt() == 1": Exp.eq(Exp.to_int(f), one),
    "findBitLeft($.i, true) == 1": Exp.eq(Exp.int_lscan(i, Exp.bool_val(True)), one),
    "$.i in [1, 2]": Exp.list_get_by_value(EXISTS, i, Exp.list_val([1, 2]), []),
    "'a' in $.l": Exp.list_get_by_value(EXISTS, Exp.string_val("a"), lst, []),
    "$.y == x'00ff'": Exp.eq(blob, Exp.blob_val(b"\x00\xff")),
    "$.y == b64'AP8='": Exp.eq(blob, Exp.blob_val(b"\x00\xff")),
    "$.l == [1, 'a', [true, 2.5], {b: 1, a: NIL}]": Exp.eq(
        lst, Exp.list_val([1, "a", [True, 2.5], {"a": None, "b": 1}])
    ),
    "$.m == {b: 1, 'a': 2, 5: 3}": Exp.eq(mp, Exp.map_val({"b": 1, "a": 2, 5: 3})),
    "$.m == {}": Exp.eq(mp, Exp.map_val({})),
    "$.m.k > 1": Exp.gt(by_key(MapReturnType.VALUE, ExpType.INT, Exp.string_val("k"), mp, []), one),
    "$.m.5:STRING == 'x'": Exp.eq(
        by_key(MapReturnType.VALUE, ExpType.STRING, Exp.int_val(5), mp, []), Exp.string_val("x")
    ),
    "$.m.k.[0].{#-1} == 1": Exp.eq(
        Exp.map_get_by_rank(
            MapReturnType.VALUE, ExpType.INT, Exp.int_val(-1), mp, [CTX.map_key("k"), CTX.list_index(0)]
        ),
        one,
    ),
    "$.l.[#-1] == 1": Exp.eq(Exp.list_get_by_rank(VALUE, ExpType.INT, Exp.int_val(-1), lst, []), one),
    "$.l.[1:3] == [1]": Exp.eq(Exp.list_get_by_index_range_count(VALUE, one, two, lst, []), Exp.list_val([1])),
    "$.l.[1:-1] == [1]": Exp.eq(
        Exp.list_get_by_index_range_count(VALUE, one, from_both(lst, -2), lst, []), Exp.list_val([1])
    ),
    "$.m.k.{#-2:1}.getKeys() == ['a']": Exp.eq(
        Exp.map_get_by_rank_range_count(
            MapReturnType.KEY,
            Exp.int_val(-2),
            Exp.max([Exp.int_val(0), Exp.num_sub([three, Exp.map_size(mp, [CTX.map_key("k")])])]),
            mp,
            [CTX.map_key("k")],
        ),
        Exp.list_val(["a"]),
    ),
    "$.l.[!=1:3].count() > 1": Exp.gt(
        Exp.list_get_by_value_range(COUNT | ListReturnType.INVERTED, one, three, lst, []), one
    ),
    "$.l.[=1,2].count() > 1": Exp.gt(Exp.list_get_by_value_list(COUNT, Exp.list_val([1, 2]), lst, []), one),
    "$.l.[#-1:1~3].count() == 1": Exp.eq(
        Exp.list_get_by_value_relative_rank_range_count(COUNT, three, Exp.int_val(-1), two, lst, []), one
    ),
    "$.m.{@a:c}.getKeys() == ['a']": Exp.eq(
        Exp.map_get_by_key_range(MapReturnType.KEY, Exp.string_val("a"), Exp.string_val("c"), mp, []),
        Exp.list_val(["a"]),
    ),
    "$.m.{!@a,b}.count() == 1": Exp.eq(
        Exp.map_get_by_key_list(MapReturnType.COUNT | NOT, Exp.list_val(["a", "b"]), mp, []), one
    ),
    "$.m.{0:1~a}.count() == 1": Exp.eq(
        Exp.map_get_by_key_relative_index_range_count(
            MapReturnType.COUNT, Exp.string_val("a"), Exp.int_val(0), one, mp, []
        ),
        one,
    ),
    "$.m.{1:} == {a: 1}": Exp.eq(
        Exp.map_get_by_index_range(MapReturnType.ORDERED_MAP, one, mp, []), Exp.map_val({"a": 1})
    ),
    "$.m.{=1}.exists()": Exp.map_get_by_value(MapReturnType.EXISTS, one, mp, []),
    "$.m.k:LIST.count() == 1": Exp.eq(Exp.list_size(mp, [CTX.map_key("k")]), one),
    "$.l:LIST.count() == 1": Exp.eq(Exp.list_size(lst, []), one),
    "$.m:MAP.count() == 1": Exp.eq(Exp.map_size(mp, []), one),
    "$.i.exists() and $.i.type() == 1": Exp.and_([Exp.bin_exists("i"), Exp.eq(Exp.bin_type("i"), one)]),
    "$.l.[0].exists()": Exp.list_get_by_index(EXISTS, ExpType.BOOL, Exp.int_val(0), lst, []),
    "$.ttl() < 1": Exp.lt(Exp.ttl(), one),
    "$.voidTime() < $.lastUpdateTime()": Exp.lt(Exp.void_time(), Exp.last_update()),
    "$.timeSinceLastUpdate() > $.recordSize()": Exp.gt(Exp.since_update(), Exp.record_size()),
    "$.setName() == 'x' and $.keyExists() and $.isTombstone()": Exp.and_(
        [Exp.eq(Exp.set_name(), Exp.string_val("x")), Exp.key_exists(), Exp.is_tombstone()]
    ),
    "$.digestModulo(3) == 1 and $.key() == 'a'": Exp.and_(
        [Exp.eq(Exp.digest_modulo(3), one), Exp.eq(Exp.key(ExpType.STRING), Exp.string_val("a"))]
    ),
    "when ($.i == 1 => 'a', $.i == 2 => 'b', default => unknown) == 'a'": Exp.eq(
        Exp.cond([Exp.eq(i, one), Exp.string_val("a"), Exp.eq(i, two), Exp.string_val("b"), Exp.unknown()]),
        Exp.string_val("a"),
    ),
    "let (x = $.i + 1, y = ${x} * 2) then (${y} > 1)": Exp.exp_let(
        [
            Exp.def_("x", Exp.num_add([i, one])),
            Exp.def_("y", Exp.num_mul([Exp.var("x"), two])),
            Exp.gt(Exp.var("y"), one),
        ]
    ),
    "geoCompare($.g, geoJson('{}'))": Exp.geo_compare(Exp.geo_bin("g"), Exp.geo_val("{}")),
    "$.h.hllCount() > 1": Exp.gt(Exp.hll_get_count(Exp.hll_bin("h")), one),
    "$.h.hllMayContain([1]) == 1": Exp.eq(Exp.hll_may_contain(Exp.list_val([1]), Exp.hll_bin("h")), one),
    "$.h.hllUnionCount($.h) == 1": Exp.eq(Exp.hll_get_union_count(Exp.hll_bin("h"), Exp.hll_bin("h")), one),
    "$.y.bitCount(0, 8) == 1": Exp.eq(Exp.bit_count(Exp.int_val(0), Exp.int_val(8), blob), one),
    "$.s =~ /^a\\/b$/i": Exp.string_regex_compare_with_flags(Exp.string_val("^a/b$"), 1, s),
    "$.s =~ /a b/xw": Exp.string_regex_compare(Exp.string_val("(?xw)a b"), s),
    "$.s =~ /a/": Exp.string_regex_compare(Exp.string_val("a"), s),
    "$.s.trim().upper() == 'A'": Exp.eq(Exp.string_upper(0, Exp.string_trim(0, s)), Exp.string_val("A")),
    "$.s.substr(from: 1, to: 3) == 'A'": Exp.eq(Exp.string_substr_range(one, three, s), Exp.string_val("A")),
    "$.s.find('a') == 1": Exp.eq(Exp.string_find(Exp.string_val("a"), s), one),
    "$.s.padEnd(length: 3, pad: 'x') == 'a'": Exp.eq(
        Exp.string_pad_end(0, three, Exp.string_val("x"), s), Exp.string_val("a")
    ),
    "$.s.snip(1) == $.s.snip(1, 2)": Exp.eq(Exp.string_snip_from(one, s), Exp.string_snip(0, one, two, s)),
    "$.s.snip(1):NO_FAIL == 'a'": Exp.eq(
        Exp.string_snip(StringWriteFlags.NO_FAIL, one, Exp.string_strlen(s), s), Exp.string_val("a")
    ),
    "$.s.replaceAll('a', 'b') == 'b'": Exp.eq(
        Exp.string_replace_all(0, Exp.string_val("a"), Exp.string_val("b"), s), Exp.string_val("b")
    ),
    "$.s.regexReplace(pattern: /a/g, replace: 'b') == 'b'": Exp.eq(
        Exp.string_regex_replace(Exp.string_val("a"), Exp.string_val("b"), 16, s), Exp.string_val("b")
    ),
    "$.s + 'b' == 'ab'": Exp.eq(Exp.string_append(0, Exp.string_val("b"), s), Exp.string_val("ab")),
    "$.s:STRING.toInt() == 1": Exp.eq(Exp.string_to_integer(s), one),
    "$.i:INT.toString() == '1'": Exp.eq(Exp.to_string(i), Exp.string_val("1")),
    "$.s.split(',').count() == 1": Exp.eq(
        Exp.list_size(Exp.string_split_by_separator(Exp.string_val(","), s), []), one
    ),
    "$.l.join('-') == 'a'": Exp.eq(Exp.list_join_by_separator(Exp.string_val("-"), lst, []), Exp.string_val("a")),
    "$.l:LIST.*[?(@ > 1 and @index < 3)].count() == 1": Exp.eq(
        Exp.list_size(
            Exp.exp_select_values(
                ExpType.LIST,
                lst,
                [
                    CTX.all_children_with_filter(
                        Exp.and_(
                            [
                                Exp.gt(Exp.int_loop_var(LoopVarPart.VALUE), one),
                                Exp.lt(Exp.int_loop_var(LoopVarPart.INDEX), three),
                            ]
                        )
                    )
                ],
            ),
            [],
        ),
        one,
    ),
    # What no filter says is a list or map of its own, which the path goes on in.
    "$.l.[#-2:]&[?(@ > 1)].count() == 1": Exp.eq(
        Exp.list_size(filtered(Exp.list_get_by_rank_range(VALUE, Exp.int_val(-2), lst, []), above(1)), []), one
    ),
    "$.l.[-2:].k == [1]": Exp.eq(
        Exp.exp_select_values(
            ExpType.LIST,
            Exp.list_get_by_index_range(VALUE, Exp.int_val(-2), lst, []),
            [CTX.all_children(), CTX.map_key("k")],
        ),
        Exp.list_val([1]),
    ),
    "$.m.k.{0:2~3}&[?(@ > 1)] == [2]": Exp.eq(
        filtered(
            Exp.map_get_by_key_relative_index_range_count(
                MapReturnType.ORDERED_MAP, three, Exp.int_val(0), two, mp, [CTX.map_key("k")]
            ),
            above(1),
        ),
        Exp.list_val([2]),
    ),
    "$.s.upper():NO_FAIL == 'A'": Exp.eq(Exp.string_upper(StringWriteFlags.NO_FAIL, s), Exp.string_val("A")),
    "$.s.replace('a', 'b'):NO_FAIL == 'A'": Exp.eq(
        Exp.string_replace(StringWriteFlags.NO_FAIL, Exp.string_val("a"), Exp.string_val("b"), s), Exp.string_val("A")
    ),
    "$.i + 1": Exp.num_add([i, one]),
}


@pytest.mark.parametrize("text", SAME)
def test_a_text_becomes_what_constructors_build(text):
    parsed = parse_ael(text)
    assert parsed == SAME[text]
    assert parsed.base64() == SAME[text].base64()


def test_parameters_are_bound_as_values():
    evil = "x' or 1 == 1 or $.s == '"
    for text in ("$.s == ?0", "$.s == $1", "$.s == %s", "$.s == '%s'"):
        assert parse_ael(text, evil) == Exp.eq(s, Exp.string_val(evil))
    expected = Exp.and_([Exp.gt(i, Exp.int_val(25)), Exp.eq(s, Exp.string_val("US"))])
    assert parse_ael("$.i > %s and $.s == '%s'", 25, "US") == expected
    assert parse_ael("$.i > ?0 and $.s == ?1", 25, "US") == expected
    for value, constant in [
        (True, Exp.bool_val(True)),
        (-(2**63), Exp.int_val(-(2**63))),
        (1.5, Exp.float_val(1.5)),
        (b"\x00x", Exp.blob_val(b"\x00x")),
        (bytearray(b"x"), Exp.blob_val(b"x")),
        ([1, "a", None], Exp.list_val([1, "a", None])),
        ((1, 2), Exp.list_val([1, 2])),
        ({"b": 1, "a": [2]}, Exp.map_val({"b": 1, "a": [2]})),
        (GeoJSON("{}"), Exp.geo_val("{}")),
    ]:
        bins = {bool: Exp.bool_bin, int: Exp.int_bin, float: Exp.float_bin, list: Exp.list_bin, tuple: Exp.list_bin}
        of_bin = bins.get(type(value), {dict: Exp.map_bin, GeoJSON: Exp.geo_bin}.get(type(value), Exp.blob_bin))
        assert parse_ael("$.v == ?0", value) == Exp.eq(of_bin("v"), constant)
    assert parse_ael("$.l.[=?0:].count() > 0", None) == Exp.gt(
        Exp.list_get_by_value_range(COUNT, Exp.nil(), None, lst, []), Exp.int_val(0)
    )


@pytest.mark.parametrize(
    ("text", "params", "kind"),
    [
        ("$.a > ?0", (), "parameter"),
        ("$.a > ?1", (1,), "parameter"),
        ("$.a > 1", (1,), "parameter"),
        ("$.a > ?0 and $.b > %s", (1, 2), "parameter"),
        ("$.a == ?0", (None,), "type"),
        ("$.a > ?0 and $.a > 1.5", (1,), "type"),
        ("$.a > $.b", (), "type"),
        ("$.a == 1 and $.a == 'x'", (), "type"),
        ("$.a >", (), "syntax"),
        ("", (), "syntax"),
        ("(" * 100_000, (), "limit"),
        (" " * 100_000, (), "limit"),
        ("$.l.[#0:2].modify(@ + 1)", (), "unsupported"),
    ],
)
def test_what_is_wrong_is_told(text, params, kind):
    with pytest.raises(AelParseException) as caught:
        parse_ael(text, *params)
    assert caught.value.kind == kind
    assert caught.value.reason in str(caught.value)


def test_an_error_has_its_place():
    with pytest.raises(AelParseException) as caught:
        parse_ael("$.name == 'é' and\n  $.age = 3")
    error = caught.value
    assert isinstance(error, InvalidArgumentError) and isinstance(error, ValueError)
    assert (error.line, error.column, error.offset, error.needs) == (2, 9, 27, None)
    assert error.excerpt == "  $.age = 3\n        ^"
    assert str(error) == (
        'line 2, column 9: expected an operator or the end of the text, found "=" (equality is "==")\n'
        "      $.age = 3\n            ^"
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is AelParseException and str(again) == str(error) and again.column == 9
    with pytest.raises(AelParseException) as caught:
        parse_ael("$.m.k.add(1):NO_FAIL")
    assert caught.value.needs == "8.2"
    assert AelParseException("mine").line is None


def test_what_a_server_lacks_is_refused_with_the_version_that_has_it(client):
    version = client.nodes()[0].version
    old = not version.supports_server_compiled_ael()
    if old:
        with pytest.raises(AelParseException) as caught:
            parse_ael("$.a == 1 and $.s =~ /^a/i", server=version)
        error = caught.value
        assert (error.kind, error.needs, error.column) == ("version", "8.2", 14)
        assert f"needs server 8.2 or later, and this one is {version.major}.{version.minor}" in str(error)
        with pytest.raises(AelParseException):
            parse_ael_with_index("$.s.lower() == 'a'", server=version)
    assert parse_ael("$.a in [1]", server=version) == parse_ael("$.a in [1]")
    with pytest.raises(TypeError):
        parse_ael("$.a == 1", server="8.2")


def test_arguments_of_wrong_types():
    for wrong in (None, 1, b"$.a > 1", Exp.val(1)):
        with pytest.raises(TypeError):
            parse_ael(wrong)
    with pytest.raises(TypeError, match="parameter 1"):
        parse_ael("$.a > ?0 and $.b == ?1", 1, object())
    with pytest.raises(OverflowError):
        parse_ael("$.a > ?0", 2**64)
    with pytest.raises(UnicodeEncodeError):
        parse_ael("$.a == '\ud800'")


def test_the_same_text_is_compiled_once():
    first = parse_ael("$.cached > ?0", 1)
    assert parse_ael("$.cached > ?0", 1) is first
    assert parse_ael("$.cached > ?0", 2) != first
    assert parse_ael("$.cached > ?0", 1.0) != first
    # As many others as the cache holds, and more: it is bounded, and stays right.
    for number in range(2_000):
        assert parse_ael("$.cached > ?0", number) == Exp.gt(Exp.int_bin("cached"), Exp.int_val(number))
    assert parse_ael("$.cached > ?0", 1) is not first
    assert parse_ael("$.cached > ?0", 1) == first


def test_threads_share_the_cache():
    wrong = []

    def work(seed):
        numbers = random.Random(seed)
        for _ in range(3_000):
            number = numbers.randrange(700)
            if parse_ael("$.shared == ?0", number) != Exp.eq(Exp.int_bin("shared"), Exp.int_val(number)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_contexts():
    same = [
        CTX.map_key("k"),
        CTX.list_index(-1),
        CTX.map_rank(2),
        CTX.map_key(5),
        CTX.list_value("x"),
        CTX.map_index(0),
    ]
    assert parse_ctx("$.bin.k.[-1].{#2}.5.[=x].{0}") == same
    for wrong in ("$.bin", "bin.k", "$.bin.{@a:c}", "$.bin.k.count()", "$.bin.k == 1", ""):
        with pytest.raises(AelParseException):
            parse_ctx(wrong)


# Random expressions, each as a text and as constructors build it. How tightly operators bind stands here a second time.
OR, AND, COMPARE, BITS, XOR, MASK, SHIFT, ADD, MULTIPLY, POWER, UNARY, OPERAND = range(12)


class Source:
    """Makes random pairs of text and expression."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.variables = []
        self.names = 0

    def make(self, kind, depth):
        """Text, how tightly its outermost operator binds, and the expression."""
        ways = [*LEAVES[kind], *(NODES[kind] * 2 if depth > 0 else [])]
        return self.random.choice(ways)(self, depth - 1)

    def at(self, kind, depth, binds):
        """Text, in parentheses if its operator binds less tightly, and the expression."""
        text, tightness, exp = self.make(kind, depth)
        spaces = " " * self.random.choice((0, 0, 0, 1))
        return (f"({spaces}{text})" if tightness < binds else text), exp

    def infix(self, kind, depth, binds, symbol, build):
        left, left_exp = self.at(kind, depth, binds)
        right, right_exp = self.at(kind, depth, binds + 1)
        return f"{left} {symbol} {right}", binds, build(left_exp, right_exp)


def compare(source, depth):
    kind = source.random.choice(("int", "float", "string", "int"))
    symbol, build = source.random.choice(
        [("==", Exp.eq), ("!=", Exp.ne), ("<", Exp.lt), ("<=", Exp.le), (">", Exp.gt), (">=", Exp.ge)]
    )
    left, left_exp = source.at(kind, depth, BITS)
    right, right_exp = source.at(kind, depth, BITS)
    return f"{left} {symbol} {right}", COMPARE, build(left_exp, right_exp)


def chain(symbol, binds, build):
    def make(source, depth):
        parts = [source.at("bool", depth, binds + 1) for _ in range(source.random.randint(2, 4))]
        return f" {symbol} ".join(text for text, _ in parts), binds, build([exp for _, exp in parts])

    return make


def call(name, kinds, build):
    def make(source, depth):
        parts = [source.at(kind, depth, OR) for kind in kinds]
        return f"{name}({', '.join(text for text, _ in parts)})", OPERAND, build(*[exp for _, exp in parts])

    return make


def when(kind):
    def make(source, depth):
        cases = [(source.at("bool", depth, OR), source.at(kind, depth, OR)) for _ in range(source.random.randint(1, 2))]
        default, default_exp = source.at(kind, depth, OR)
        text = "".join(f"{condition} => {value}, " for (condition, _), (value, _) in cases)
        exps = [exp for (_, condition), (_, value) in cases for exp in (condition, value)]
        return f"when ({text}default => {default})", OPERAND, Exp.cond([*exps, default_exp])

    return make


def let(kind):
    def make(source, depth):
        value, value_exp = source.at("int", depth, OR)
        source.names += 1
        name = f"v{source.names}"
        source.variables.append(name)
        body, body_exp = source.at(kind, depth, OR)
        source.variables.pop()
        return f"let ({name} = {value}) then ({body})", OPERAND, Exp.exp_let([Exp.def_(name, value_exp), body_exp])

    return make


def variable(source, _depth):
    if not source.variables:
        return number(source, _depth)
    name = source.random.choice(source.variables)
    return f"${{{name}}}", OPERAND, Exp.var(name)


def number(source, _depth):
    value = source.random.choice((0, 1, 2, 3, 7, -1, -5, 100, 2**40))
    text = source.random.choice((str(value), hex(value) if value >= 0 else str(value)))
    return text, OPERAND, Exp.int_val(value)


def real(source, _depth):
    value = source.random.choice((0.0, 0.5, 1.5, -2.25, 10.0))
    return str(value), OPERAND, Exp.float_val(value)


def string(source, _depth):
    value = source.random.choice(("", "a", "it's", 'say "x"', "tab\tand\nline", "é%s", "\\"))
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    quote = source.random.choice("'\"")
    return quote + escaped.replace(quote, "\\" + quote) + quote, OPERAND, Exp.string_val(value)


def infix(kind, binds, symbol, build):
    return lambda source, depth: source.infix(kind, depth, binds, symbol, build)


def fixed(text, exp):
    return lambda _source, _depth: (text, OPERAND, exp)


def negative(kind):
    def make(source, depth):
        # A sign before a number is part of it.
        text, exp = source.at(kind, depth, OPERAND)
        return f"-({text})", UNARY, Exp.num_sub([exp])

    return make


def power(source, depth):
    left, left_exp = source.at("float", depth, POWER + 1)
    right, right_exp = source.at("float", depth, POWER)
    return f"{left} ** {right}", POWER, Exp.num_pow(left_exp, right_exp)


def member(source, depth):
    value, exp = source.at("int", depth, BITS)
    return f"{value} in [1, 2, 0x7]", COMPARE, Exp.list_get_by_value(EXISTS, exp, Exp.list_val([1, 2, 7]), [])


def item(source, _depth):
    index = source.random.choice((0, 2, -1, 9))
    return f"$.l.[{index}]:INT", OPERAND, Exp.list_get_by_index(VALUE, ExpType.INT, Exp.int_val(index), lst, [])


def slice_count(source, _depth):
    if source.random.random() < 0.5:
        # From one end to the other.
        start, end = source.random.choice((0, 1, 2)), source.random.choice((-1, -2))
        count = from_both(lst, end - start)
        if source.random.random() < 0.5:
            start, end = end, start
            count = Exp.max([Exp.int_val(0), Exp.num_sub([Exp.int_val(end - start), Exp.list_size(lst, [])])])
        exp = Exp.list_get_by_index_range_count(COUNT, Exp.int_val(start), count, lst, [])
        return f"$.l.[{start}:{end}].count()", OPERAND, exp
    start, count = source.random.choice((0, 1, 2)), source.random.choice((1, 2))
    exp = Exp.list_get_by_index_range_count(COUNT, Exp.int_val(start), Exp.int_val(count), lst, [])
    return f"$.l.[{start}:{start + count}].count()", OPERAND, exp


def filtered_range(source, _depth):
    """Ranges that are read before they are filtered."""
    start, least = source.random.choice((0, -1, -2)), source.random.choice((0, 2, 5))
    text, items = source.random.choice(
        [
            (f"$.l.[#{start}:]", Exp.list_get_by_rank_range(VALUE, Exp.int_val(start), lst, [])),
            (
                f"$.l.[#{start}:{start + 2}~3]" if start else "$.l.[#0:2~3]",
                Exp.list_get_by_value_relative_rank_range_count(VALUE, three, Exp.int_val(start), two, lst, []),
            ),
            (f"$.m.{{#{start}:}}", Exp.map_get_by_rank_range(ORDERED_MAP, Exp.int_val(start), mp, [])),
            (f"$.m.{{{start}:}}", Exp.map_get_by_index_range(ORDERED_MAP, Exp.int_val(start), mp, [])),
        ]
    )
    return f"{text}&[?(@ > {least})].count()", OPERAND, Exp.list_size(filtered(items, above(least)), [])


def entry(source, _depth):
    key = source.random.choice(("a", "b", "z"))
    text = source.random.choice((f"$.m.{key}:INT", f"$.m.{{@{key}}}:INT", f"$ . m . '{key}' :INT"))
    return text, OPERAND, by_key(MapReturnType.VALUE, ExpType.INT, Exp.string_val(key), mp, [])


def nested(source, _depth):
    index = source.random.choice((0, -1))
    exp = Exp.list_get_by_index(VALUE, ExpType.INT, Exp.int_val(index), Exp.map_bin("d"), [CTX.map_key("x")])
    return f"$.d.x.[{index}]:INT", OPERAND, exp


LEAVES = {
    "bool": [
        fixed("$.t:BOOL", flag),
        fixed("true", Exp.bool_val(True)),
        fixed("$.i.exists()", Exp.bin_exists("i")),
        fixed("$.m.a.exists()", by_key(MapReturnType.EXISTS, ExpType.BOOL, Exp.string_val("a"), mp, [])),
        fixed("$.l.[=3].exists()", Exp.list_get_by_value(EXISTS, three, lst, [])),
        fixed("$.keyExists()", Exp.key_exists()),
    ],
    "int": [
        number,
        variable,
        variable,
        item,
        slice_count,
        filtered_range,
        entry,
        nested,
        fixed("$.i:INT", i),
        fixed("$.n:INT", Exp.int_bin("n")),
        fixed("$.l:LIST.count()", Exp.list_size(lst, [])),
        fixed(
            "$.m.{@a:c}.count()",
            Exp.map_get_by_key_range(MapReturnType.COUNT, Exp.string_val("a"), Exp.string_val("c"), mp, []),
        ),
        fixed("$.digestModulo(7)", Exp.digest_modulo(7)),
    ],
    "float": [real, fixed("$.f:FLOAT", f)],
    "string": [string, fixed("$.s:STRING", s), fixed("$.setName()", Exp.set_name())],
}
NODES = {
    "bool": [
        compare,
        compare,
        member,
        chain("and", AND, Exp.and_),
        chain("or", OR, Exp.or_),
        call("not", ["bool"], Exp.not_),
        call("exclusive", ["bool", "bool"], lambda *parts: Exp.exclusive(parts)),
        when("bool"),
        let("bool"),
    ],
    "int": [
        infix("int", ADD, "+", lambda *parts: Exp.num_add(parts)),
        infix("int", ADD, "-", lambda *parts: Exp.num_sub(parts)),
        infix("int", MULTIPLY, "*", lambda *parts: Exp.num_mul(parts)),
        infix("int", MULTIPLY, "/", lambda *parts: Exp.num_div(parts)),
        infix("int", MULTIPLY, "%", Exp.num_mod),
        infix("int", MASK, "&", lambda *parts: Exp.int_and(parts)),
        infix("int", BITS, "|", lambda *parts: Exp.int_or(parts)),
        infix("int", XOR, "^", lambda *parts: Exp.int_xor(parts)),
        infix("int", SHIFT, "<<", Exp.int_lshift),
        infix("int", SHIFT, ">>>", Exp.int_rshift),
        negative("int"),
        call("abs", ["int"], Exp.num_abs),
        call("min", ["int", "int"], lambda *parts: Exp.min(parts)),
        call("max", ["int", "int", "int"], lambda *parts: Exp.max(parts)),
        call("countOneBits", ["int"], Exp.int_count),
        when("int"),
        let("int"),
    ],
    "float": [
        infix("float", ADD, "+", lambda *parts: Exp.num_add(parts)),
        infix("float", MULTIPLY, "/", lambda *parts: Exp.num_div(parts)),
        negative("float"),
        power,
        call("floor", ["float"], Exp.num_floor),
        when("float"),
    ],
    "string": [when("string"), let("string")],
}
RECORDS = [
    {"i": 3, "n": -5, "f": 2.5, "s": "a", "t": True, "l": [1, 3, 7], "m": {"a": 1, "b": 5}, "d": {"x": [4, 8]}},
    {"i": 0, "n": 2**40, "f": -0.5, "s": "it's", "t": False, "l": [], "m": {}, "d": {"x": [1]}},
    {"i": 100, "s": "é%s", "l": [3], "m": {"z": 2}},
    {"i": "no int", "f": 10.0, "n": 1, "t": True, "d": {"x": []}},
]


def test_random_texts_mean_what_constructors_mean(client, set_name):
    keys = [native.Key("test", set_name, number) for number in range(len(RECORDS))]
    for key, bins in zip(keys, RECORDS, strict=True):
        client.put_blocking(key, bins, policy=native.WritePolicy(send_key=True))
    flags = ExpReadFlags.EVAL_NO_FAIL
    outcomes = set()
    for round_ in range(60):
        pairs = []
        for number in range(20):
            source = Source(round_ * 1000 + number)
            kind = source.random.choice(("bool", "bool", "int", "float", "string"))
            text, _, exp = source.make(kind, 3)
            parsed = parse_ael(text)
            assert parsed == exp, text
            pairs.append((text, parsed, exp))
        for key in keys:
            texts = [ExpOperation.read(f"r{at}", parsed, flags) for at, (_, parsed, _) in enumerate(pairs)]
            built = [ExpOperation.read(f"r{at}", exp, flags) for at, (_, _, exp) in enumerate(pairs)]
            first, second = client.operate_blocking(key, texts).bins, client.operate_blocking(key, built).bins
            # As text: NaN equals itself there.
            assert repr(first) == repr(second), [text for text, _, _ in pairs]
            outcomes.update(repr(value)[:20] for value in first.values())
    # The expressions say something.
    assert {"None", "True", "False", "0", "1"} <= outcomes and len(outcomes) > 100


def test_a_text_filters_reads_and_queries(client, set_name):
    for number in range(30):
        bins = {"n": number, "s": "odd" if number % 2 else "even", "l": [number], "m": {"k": number}}
        client.put_blocking(native.Key("test", set_name, number), bins)

    def found(text, *params):
        policy = QueryPolicy(filter_expression=parse_ael(text, *params))
        return sorted(record.bins["n"] for record in client.query_blocking(Statement("test", set_name), policy=policy))

    assert found("$.n >= ?0 and $.s == ?1", 20, "odd") == [21, 23, 25, 27, 29]
    assert found("$.n > %s and $.s == '%s'", 25, "even") == [26, 28]
    assert found("$.l.[0] < 3 or $.m.k:INT == 7") == [0, 1, 2, 7]
    # Of a bin whose type the text leaves open, whichever it is.
    assert found("$.l.count() == 1 and $.m.count() == 1 and $.n < 2") == [0, 1]
    assert found("$.n in [3, 5, 99]") == [3, 5]
    key = native.Key("test", set_name, 4)
    assert client.get_blocking(key, policy=ReadPolicy(filter_expression=parse_ael("$.n == 4"))).bins["n"] == 4
    with pytest.raises(aerolane.FilteredOutError):
        client.get_blocking(key, policy=ReadPolicy(filter_expression=parse_ael("$.n == 5")))


@pytest.mark.skipif(REAL is not None, reason="servers before 8.2 do not compile text")
def test_the_embedded_cluster_takes_the_text_itself(client, set_name):
    keys = [native.Key("test", set_name, number) for number in range(10)]
    for number, key in enumerate(keys):
        client.put_blocking(key, {"n": number})
    for text in ("$.n > 6", "$.n in [1, 3]", "$.n % 4 == 2"):
        answers = []
        for filter_ in (Exp.from_server_compiled_ael(text), parse_ael(text)):
            policy = QueryPolicy(filter_expression=filter_)
            found = sorted(
                record.bins["n"] for record in client.query_blocking(Statement("test", set_name), policy=policy)
            )
            batch = client.batch_read_blocking(keys, batch_policy=native.BatchPolicy(filter_expression=filter_))
            assert [row.record.bins["n"] for row in batch if row.record is not None] == found
            answers.append(found)
        assert answers[0] == answers[1] and 0 < len(answers[0]) < 10
    read = ExpOperation.read("sum", Exp.from_server_compiled_ael("$.n + 100"))
    assert client.operate_blocking(keys[5], [read]).bins["sum"] == 105
    with pytest.raises(aerolane.FilteredOutError):
        client.get_blocking(keys[5], policy=ReadPolicy(filter_expression=Exp.from_server_compiled_ael("$.n == 6")))
    with pytest.raises(aerolane.AerospikeError) as caught:
        client.get_blocking(keys[5], policy=ReadPolicy(filter_expression=Exp.from_server_compiled_ael("$.n ==")))
    assert caught.value.result_code == native.ResultCode.PARAMETER_ERROR


def test_the_names_of_the_sdk():
    program = """
import aerolane, aerolane.compat
aerolane.compat.install("aerospike_sdk")
from aerospike_sdk import AelParseException, parse_ael, parse_ael_with_index
from aerospike_sdk.ael import parse_ael as same
from aerospike_sdk.ael.exceptions import AelParseException as error
from aerospike_sdk.ael.filter_gen import Index, IndexContext, IndexTypeEnum, ParseResult
from aerospike_sdk.ael.parser import parse_ctx
assert parse_ael is same is aerolane.parse_ael and error is AelParseException is aerolane.AelParseException
result = parse_ael_with_index("$.a > 1", IndexContext.of("test", [Index("a", IndexTypeEnum.NUMERIC)]))
assert isinstance(result, ParseResult) and result.exp is None and len(parse_ctx("$.a.b")) == 1
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
    assert set(ael.__all__) <= set(dir(ael))
