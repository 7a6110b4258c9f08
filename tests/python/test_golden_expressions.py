"""Recorded expressions are taken apart and made again with the constructors of `FilterExpression`, to the same bytes.

The recorded ones (`tests/golden`) are those of the C client and of aerospike-core 2.2.0, as filters and as operations;
what was put together by hand is taken where it can be expressed. What the clients sent and we do not make the same way
stands in `OTHERWISE`, with its reason.
"""

import base64
import collections
import gzip
import json
import pathlib
import struct

from aerolane import GeoJSON, InvalidArgumentError
from aerolane.native import (
    CTX,
    BitPolicy,
    BitwiseOverflowActions,
    BitwiseResizeFlags,
    ExpType,
    HLLPolicy,
    ListOrderType,
    ListPolicy,
    ListReturnType,
    ListSortFlags,
    LoopVarPart,
    MapOrder,
    MapPolicy,
    MapReturnType,
    SortedMap,
)
from aerolane.native import FilterExpression as Exp

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"


def members(enum):
    """The values of an enum of ours, by number."""
    return {int(getattr(enum, name)): getattr(enum, name) for name in dir(enum) if name.isupper()}


LIST_RETURN, MAP_RETURN, TYPES = members(ListReturnType), members(MapReturnType), members(ExpType)
INVERTED = 0x10000
BINS = {
    ExpType.BOOL: Exp.bool_bin,
    ExpType.INT: Exp.int_bin,
    ExpType.STRING: Exp.string_bin,
    ExpType.LIST: Exp.list_bin,
    ExpType.MAP: Exp.map_bin,
    ExpType.BLOB: Exp.blob_bin,
    ExpType.FLOAT: Exp.float_bin,
    ExpType.GEO: Exp.geo_bin,
    ExpType.HLL: Exp.hll_bin,
}
LOOP_VARS = {
    ExpType.NIL: Exp.nil_loop_var,
    ExpType.BOOL: Exp.bool_loop_var,
    ExpType.INT: Exp.int_loop_var,
    ExpType.STRING: Exp.string_loop_var,
    ExpType.LIST: Exp.list_loop_var,
    ExpType.MAP: Exp.map_loop_var,
    ExpType.BLOB: Exp.blob_loop_var,
    ExpType.FLOAT: Exp.float_loop_var,
    ExpType.GEO: Exp.geo_json_loop_var,
    ExpType.HLL: Exp.hll_loop_var,
}
# By number: what takes expressions alone, one by one ..
PLAIN = {
    0: Exp.unknown,
    1: Exp.eq,
    2: Exp.ne,
    3: Exp.gt,
    4: Exp.ge,
    5: Exp.lt,
    6: Exp.le,
    8: Exp.geo_compare,
    9: Exp.in_list,
    18: Exp.not_,
    24: Exp.num_pow,
    25: Exp.num_log,
    26: Exp.num_mod,
    27: Exp.num_abs,
    28: Exp.num_floor,
    29: Exp.num_ceil,
    30: Exp.to_int,
    31: Exp.to_float,
    35: Exp.int_not,
    36: Exp.int_lshift,
    37: Exp.int_rshift,
    38: Exp.int_arshift,
    39: Exp.int_count,
    40: Exp.int_lscan,
    41: Exp.int_rscan,
    66: Exp.last_update,
    67: Exp.since_update,
    68: Exp.void_time,
    69: Exp.ttl,
    70: Exp.set_name,
    71: Exp.key_exists,
    72: Exp.is_tombstone,
    74: Exp.record_size,
    100: Exp.remove_result,
    101: Exp.map_keys,
    102: Exp.map_values,
}
# .. and what takes any number of them in one argument.
SEVERAL = {
    16: Exp.and_,
    17: Exp.or_,
    19: Exp.exclusive,
    20: Exp.num_add,
    21: Exp.num_sub,
    22: Exp.num_mul,
    23: Exp.num_div,
    32: Exp.int_and,
    33: Exp.int_or,
    34: Exp.int_xor,
    50: Exp.min,
    51: Exp.max,
    123: Exp.cond,
}
# Calls by module and number: which constructor, and what its arguments are, in the order of the wire. `r` return type,
# `t` return type of one that is told the type of its result, `e` expression, `o` order of a policy, `f` its flags,
# `s` flag of its own kind; behind a bar what may be left out.
CALLS = {
    (0, 1): ("list_append", "eof"),
    (0, 2): ("list_append_items", "eof"),
    (0, 3): ("list_insert", "eef"),
    (0, 4): ("list_insert_items", "eef"),
    (0, 9): ("list_set", "eef"),
    (0, 11): ("list_clear", ""),
    (0, 12): ("list_increment", "eeof"),
    (0, 13): ("list_sort", "s"),
    (0, 16): ("list_size", ""),
    (0, 19): ("list_get_by_index", "te"),
    (0, 21): ("list_get_by_rank", "te"),
    (0, 22): ("list_get_by_value", "re"),
    (0, 23): ("list_get_by_value_list", "re"),
    (0, 24): ("list_get_by_index_range", "re|e"),
    (0, 25): ("list_get_by_value_range", "rb|b"),
    (0, 26): ("list_get_by_rank_range", "re|e"),
    (0, 27): ("list_get_by_value_relative_rank_range", "ree|e"),
    (0, 32): ("list_remove_by_index", "re"),
    (0, 34): ("list_remove_by_rank", "re"),
    (0, 35): ("list_remove_by_value", "re"),
    (0, 36): ("list_remove_by_value_list", "re"),
    (0, 37): ("list_remove_by_index_range", "re|e"),
    (0, 38): ("list_remove_by_value_range", "rb|b"),
    (0, 39): ("list_remove_by_rank_range", "re|e"),
    (0, 40): ("list_remove_by_value_relative_rank_range", "ree|e"),
    (0, 67): ("map_put", "eeof"),
    (0, 68): ("map_put_items", "eof"),
    (0, 73): ("map_increment", "eeo"),
    (0, 75): ("map_clear", ""),
    (0, 76): ("map_remove_by_key", "re"),
    (0, 77): ("map_remove_by_index", "re"),
    (0, 79): ("map_remove_by_rank", "re"),
    (0, 81): ("map_remove_by_key_list", "re"),
    (0, 82): ("map_remove_by_value", "re"),
    (0, 83): ("map_remove_by_value_list", "re"),
    (0, 84): ("map_remove_by_key_range", "rb|b"),
    (0, 85): ("map_remove_by_index_range", "re|e"),
    (0, 86): ("map_remove_by_value_range", "rb|b"),
    (0, 87): ("map_remove_by_rank_range", "re|e"),
    (0, 88): ("map_remove_by_key_relative_index_range", "ree|e"),
    (0, 89): ("map_remove_by_value_relative_rank_range", "ree|e"),
    (0, 96): ("map_size", ""),
    (0, 97): ("map_get_by_key", "te"),
    (0, 98): ("map_get_by_index", "te"),
    (0, 100): ("map_get_by_rank", "te"),
    (0, 102): ("map_get_by_value", "re"),
    (0, 103): ("map_get_by_key_range", "rb|b"),
    (0, 104): ("map_get_by_index_range", "re|e"),
    (0, 105): ("map_get_by_value_range", "rb|b"),
    (0, 106): ("map_get_by_rank_range", "re|e"),
    (0, 107): ("map_get_by_key_list", "re"),
    (0, 108): ("map_get_by_value_list", "re"),
    (0, 109): ("map_get_by_key_relative_index_range", "ree|e"),
    (0, 110): ("map_get_by_value_relative_rank_range", "ree|e"),
    (1, 0): ("bit_resize", "efs"),
    (1, 1): ("bit_insert", "eef"),
    (1, 2): ("bit_remove", "eef"),
    (1, 3): ("bit_set", "eeef"),
    (1, 4): ("bit_or", "eeef"),
    (1, 5): ("bit_xor", "eeef"),
    (1, 6): ("bit_and", "eeef"),
    (1, 7): ("bit_not", "eef"),
    (1, 8): ("bit_lshift", "eeef"),
    (1, 9): ("bit_rshift", "eeef"),
    (1, 10): ("bit_add", "eeefs"),
    (1, 11): ("bit_subtract", "eeefs"),
    (1, 12): ("bit_set_int", "eeef"),
    (1, 50): ("bit_get", "ee"),
    (1, 51): ("bit_count", "ee"),
    (1, 52): ("bit_lscan", "eee"),
    (1, 53): ("bit_rscan", "eee"),
    (1, 54): ("bit_get_int", "ee|s"),
    (2, 0): ("hll_init", "eef"),
    (2, 1): ("hll_add", "eeef"),
    (2, 50): ("hll_get_count", ""),
    (2, 51): ("hll_get_union", "e"),
    (2, 52): ("hll_get_union_count", "e"),
    (2, 53): ("hll_get_intersect_count", "e"),
    (2, 54): ("hll_get_similarity", "e"),
    (2, 55): ("hll_describe", ""),
    (2, 56): ("hll_may_contain", "e"),
    (3, 0): ("string_strlen", ""),
    (3, 1): ("string_substr", "e"),
    (3, 4): ("string_contains", "e"),
    (3, 7): ("string_to_integer", ""),
    (3, 14): ("string_split", ""),
    (3, 56): ("string_upper", "f"),
}
NO_CONTEXT: list[CTX] = []
# How many of each client's expressions are made again, at least.
MINIMUMS = {"c-client": 805, "rust-client": 31, "raw": 42}
NO_POLICY = "a call without its policy, which we always send, as aerospike-core does"
NO_ORDER = "a map without order as a constant: ours are in the order of their keys, as only those can be compared"
OLD_SIZES = "the size on a device or in memory, in place of which servers have the size of the record"
UP_TO_NIL = "a range up to nil: ours goes to the end, which is what leaving it out means"
UNSIGNED = "a number said to be unsigned: ours says so only of signed ones"
# What clients have sent and no constructor makes in the same way: how many exactly, and why.
OTHERWISE = {NO_POLICY: 19, NO_ORDER: 16, OLD_SIZES: 4, UP_TO_NIL: 1, UNSIGNED: 1}


class Inexpressible(Exception):
    """No constructor makes this."""


class Node:
    """One element of msgpack: its bytes, and what it is."""

    def __init__(self, kind, value, raw):
        self.kind, self.value, self.raw = kind, value, raw

    def number(self):
        if self.kind != "int":
            raise Inexpressible("a number is missing")
        return self.value

    def text(self):
        if self.kind != "bytes":
            raise Inexpressible("a name is missing")
        try:
            return self.value.decode()
        except UnicodeDecodeError:
            raise Inexpressible("a name that is no text") from None


NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
SIZES = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}


def parse(data, at=0):
    """The element at this place, and where the next one begins."""
    start, tag = at, data[at]
    at += 1

    def counted(n):
        nonlocal at
        size = int.from_bytes(data[at : at + n], "big")
        at += n
        return size

    def several(n):
        nonlocal at
        items = []
        for _ in range(n):
            item, at = parse(data, at)
            items.append(item)
        return items

    if tag < 0x80 or tag >= 0xE0:
        kind, value = "int", tag if tag < 0x80 else tag - 256
    elif tag < 0x90 or tag in (0xDE, 0xDF):
        kind, value = "map", several(2 * (tag & 15 if tag < 0x90 else counted(2 if tag == 0xDE else 4)))
    elif tag < 0xA0 or tag in (0xDC, 0xDD):
        kind, value = "list", several(tag & 15 if tag < 0xA0 else counted(2 if tag == 0xDC else 4))
    elif tag < 0xC0 or tag in SIZES:
        size = tag & 31 if tag < 0xC0 else counted(SIZES[tag])
        kind, value = "bytes", data[at : at + size]
        at += size
    elif tag == 0xC0:
        kind, value = "nil", None
    elif tag in (0xC2, 0xC3):
        kind, value = "bool", tag == 0xC3
    elif tag in NUMBERS:
        form = NUMBERS[tag]
        (value,) = struct.unpack_from(form, data, at)
        kind = "float" if tag == 0xCB else "single" if tag == 0xCA else "int"
        at += struct.calcsize(form)
    elif tag == 0xC7:
        kind, value = "ext", (data[at + 1], data[at + 2 : at + 2 + data[at]])
        at += 2 + data[at]
    else:
        kind, value = "ext", (data[at], data[at + 1 : at + 2])
        at += 2
    if at > len(data):
        raise IndexError(at)
    return Node(kind, value, data[start:at]), at


def python_of(node):
    """A value as Python has it."""
    if node.kind in ("nil", "bool", "int", "float"):
        return node.value
    if node.kind == "bytes" and node.value[:1] == b"\x03":
        return node.value[1:].decode()
    if node.kind == "bytes" and node.value[:1] == b"\x04":
        return node.value[1:]
    if node.kind == "bytes" and node.value[:1] == b"\x17":
        return GeoJSON(node.value[1:].decode())
    if node.kind == "list" and not any(item.kind == "ext" for item in node.value[:1]):
        return [python_of(item) for item in node.value]
    if node.kind == "map":
        pairs, ordered = node.value, False
        if pairs and pairs[0].kind == "ext":
            if pairs[0].value[0] != 1:
                raise Inexpressible("a map of another order")
            pairs, ordered = pairs[2:], True
        made = {python_of(key): python_of(value) for key, value in zip(pairs[::2], pairs[1::2], strict=True)}
        return SortedMap(made) if ordered else made
    raise Inexpressible(f"a {node.kind} as a value")


def constant(node):
    if node.kind == "int":
        if not -(2**63) <= node.value < 2**63:
            raise Inexpressible("a number above 63 bits")
        return Exp.int_val(node.value)
    if node.kind == "ext" and node.value[0] == 0xFF:
        return Exp.wildcard() if node.value[1] == b"\x00" else Exp.infinity()
    if node.kind == "map" and not any(item.kind == "ext" for item in node.value[:1]):
        raise Inexpressible(NO_ORDER)
    make = {"nil": lambda _: Exp.nil(), "bool": Exp.bool_val, "float": Exp.float_val, "map": Exp.map_val}
    if node.kind in make:
        return make[node.kind](python_of(node))
    value = python_of(node)
    if isinstance(value, str):
        return Exp.string_val(value)
    return Exp.geo_val(str(value)) if isinstance(value, GeoJSON) else Exp.blob_val(value)


def rebuild(node):
    """The expression again, by its constructors."""
    if node.kind != "list":
        return constant(node)
    if not node.value:
        raise Inexpressible("an empty list")
    code, arguments = node.value[0].number(), node.value[1:]
    if code in PLAIN:
        try:
            return PLAIN[code](*map(rebuild, arguments))
        except TypeError:
            raise Inexpressible(f"{len(arguments)} arguments of {code}") from None
    if code in SEVERAL:
        if not arguments:
            raise Inexpressible(f"no arguments of {code}")
        return SEVERAL[code](list(map(rebuild, arguments)))
    return special(code, arguments)


def special(code, arguments):
    match code, arguments:
        case 7, [flags, pattern, source]:
            return Exp.regex_compare(pattern.text(), flags.number(), rebuild(source))
        case 64, [modulus]:
            return Exp.digest_modulo(modulus.number())
        case 80, [kind]:
            return Exp.key(kind_of(kind))
        case 81, [kind, name]:
            kind = kind_of(kind)
            if kind not in BINS:
                raise Inexpressible("a bin of this type")
            return BINS[kind](name.text())
        case 82, [name]:
            return Exp.bin_type(name.text())
        case 122, [kind, part]:
            return LOOP_VARS[kind_of(kind)](members(LoopVarPart)[part.number()])
        case 124, [name]:
            return Exp.var(name.text())
        case 125, [*definitions, body] if len(definitions) % 2 == 0:
            pairs = zip(definitions[::2], definitions[1::2], strict=True)
            return Exp.exp_let([*(Exp.def_(name.text(), rebuild(value)) for name, value in pairs), rebuild(body)])
        case 126, [items] if items.kind == "list":
            return Exp.list_val(python_of(items))
        case 127, [kind, module, operation, source] if operation.kind == "list":
            return call(kind_of(kind), module.number(), operation.value, rebuild(source))
    raise Inexpressible(OLD_SIZES if code in (65, 73) else f"operation {code}")


def kind_of(node):
    if node.kind != "int" or node.value not in TYPES:
        raise Inexpressible("an unknown type")
    return TYPES[node.value]


def returned(kinds, number):
    plain, inverted = number & ~INVERTED, number & INVERTED
    if plain not in kinds:
        raise Inexpressible("an unknown return type")
    return kinds[plain] | kinds[INVERTED] if inverted else kinds[plain]


def call(kind, module, operation, source):
    context = NO_CONTEXT
    if operation[0].kind == "int" and operation[0].value == 0xFF and len(operation) == 3:
        context = CTX.from_bytes(operation[1].raw)
        operation = operation[2].value
    elif operation[0].kind == "int" and operation[0].value == 0xFE:
        return by_path(kind, operation[1:], source)
    code, arguments = operation[0].number(), operation[1:]
    if (module & 0x3F, code) not in CALLS:
        raise Inexpressible(f"operation {code} of module {module}")
    name, shape = CALLS[module & 0x3F, code]
    needed, _, more = shape.partition("|")
    if len(arguments) < len(needed) and not needed[len(arguments) :].strip("of"):
        raise Inexpressible(NO_POLICY)
    if not len(needed) <= len(arguments) <= len(needed) + len(more):
        raise Inexpressible(f"{len(arguments)} arguments of {name}")
    if "b" not in shape and name != "bit_get_int" and len(arguments) > len(needed):
        name += "_count"
    given, policy, flag = [], {}, None
    for letter, argument in zip(needed + more, arguments, strict=False):
        match letter:
            case "r" | "t":
                kinds = LIST_RETURN if name.startswith("list") else MAP_RETURN
                given.append(returned(kinds, argument.number()))
                if letter == "t":
                    given.append(kind)
            case "o":
                policy["order"] = argument.number()
            case "f":
                policy["flags"] = argument.number()
            case "s":
                flag = argument.number()
            case "b" if argument.kind == "nil":
                if len(given) == 2:
                    raise Inexpressible(UP_TO_NIL)
                given.append(None)
            case _:
                given.append(rebuild(argument))
    if "b" in shape and len(arguments) == len(needed):
        given.append(None)
    return finished(name, given, policy, flag, context, source)


def finished(name, given, policy, flag, context, source):
    """The call, with its policy in front and its own flags behind, as the constructor has them."""
    order, flags = policy.get("order", 0), policy.get("flags")
    context = [context] if name.startswith(("list", "map")) else []
    make = getattr(Exp, name)
    if name == "list_sort":
        return make(members(ListSortFlags)[flag], source, *context)
    if name == "bit_resize":
        return make(BitPolicy(flags), *given, members(BitwiseResizeFlags)[flag], source)
    if name in ("bit_add", "bit_subtract"):
        return make(BitPolicy(flags), *given, bool(flag & 1), members(BitwiseOverflowActions)[flag & ~1], source)
    if name == "bit_get_int":
        if flag == 0:
            raise Inexpressible(UNSIGNED)
        return make(*given, bool(flag), source)
    if name == "hll_init":
        return Exp.hll_init_with_min_hash(HLLPolicy(flags), *given, source)
    if name == "hll_add":
        return Exp.hll_add_with_index_and_min_hash(HLLPolicy(flags), *given, source)
    if flags is None and "order" not in policy:
        return make(*given, source, *context)
    if name.startswith("string"):
        return make(flags, *given, source)
    if name.startswith("bit"):
        return make(BitPolicy(flags), *given, source)
    if name.startswith("list"):
        return make(ListPolicy(members(ListOrderType)[order], flags), *given, source, *context)
    return make(MapPolicy(members(MapOrder)[order], flags=flags), *given, source, *context)


def by_path(kind, parts, source):
    context, flags, *modified = parts
    levels = CTX.from_bytes(context.raw)
    if modified:
        return Exp.exp_modify_by_path(kind, flags.number() & ~4, source, rebuild(modified[0]), levels)
    return Exp.exp_select_by_path(kind, flags.number(), source, levels)


def exchanges():
    for path in sorted(GOLDEN.glob("*.jsonl*")):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            yield from map(json.loads, lines)


def expressions(request):
    """The expressions of a request: its filter, and those of its operations."""
    if len(request) < 30 or request[1] != 3:
        return
    n_fields, n_ops = struct.unpack_from(">HH", request, 26)
    at = 30
    for _ in range(n_fields):
        (size,) = struct.unpack_from(">I", request, at)
        if request[at + 4] == 43:
            yield request[at + 5 : at + 4 + size]
        at += 4 + size
    for _ in range(n_ops):
        size, kind, _, _, name = struct.unpack_from(">IBBBB", request, at)
        value = request[at + 8 + name : at + 4 + size]
        at += 4 + size
        if kind in (7, 8):
            parts, _ = parse(value)
            if parts.kind == "list" and parts.value:
                yield parts.value[0].raw


def test_recorded_expressions_are_made_to_the_same_bytes():
    made, otherwise, failures = collections.Counter(), collections.Counter(), []
    for exchange in exchanges():
        driver, place = exchange["driver"], f"{exchange['scenario']} {exchange['step']}"
        try:
            found = list(expressions(bytes.fromhex(exchange["request"])))
        except (IndexError, struct.error):
            assert driver == "raw", place
            continue
        for recorded in found:
            try:
                node, end = parse(recorded)
                again = base64.b64decode(rebuild(node).base64())
            except Inexpressible as error:
                if driver != "raw":
                    otherwise[str(error)] += 1
                continue
            except (IndexError, KeyError, UnicodeDecodeError, InvalidArgumentError):
                # Malformed on purpose.
                assert driver == "raw", place
                continue
            if again == recorded and end == len(recorded):
                made[driver] += 1
            elif driver != "raw":
                failures.append(f"{place}: {exchange['note']}\n  {recorded.hex()}\n  {again.hex()}")
    assert not failures, "\n".join(failures)
    assert otherwise == OTHERWISE
    assert made >= collections.Counter(MINIMUMS), made
