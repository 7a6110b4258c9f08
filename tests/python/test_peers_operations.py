"""Expressions and operations beside aerospike-native: the same bytes, and the same effect on the same server.

Skipped where it is not installed (see test_peers.py). Its own type stubs say which constructors there are and what they
take.
"""

import ast
import os
import pathlib

import pytest

from aerolane import HLL, native

os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")
peer = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
STUB = ast.parse((pathlib.Path(peer.__file__).parent / "_native.pyi").read_text())
VARIANTS = range(3)


def constructors(kind):
    """Names and arguments of the static methods of a class of the peer's."""
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for method in node.body:
                static = isinstance(method, ast.FunctionDef) and any(
                    getattr(decorator, "id", "") == "staticmethod" for decorator in method.decorator_list
                )
                if static:
                    arguments = method.args.args + method.args.kwonlyargs
                    yield method.name, [(a.arg, ast.unparse(a.annotation)) for a in arguments], len(method.args.args)


def contexts(m, variant):
    loop = m.FilterExpression.int_loop_var(m.LoopVarPart.VALUE)
    return [
        [],
        [m.CTX.map_key("x"), m.CTX.list_index(1)],
        [
            m.CTX.list_rank(-1),
            m.CTX.list_value("a"),
            m.CTX.map_index(2),
            m.CTX.map_rank(3),
            m.CTX.map_value({"z": 1}),
            m.CTX.all_children(),
            m.CTX.all_children_with_filter(m.FilterExpression.gt(loop, m.FilterExpression.int_val(3))),
            m.CTX.and_filter(m.FilterExpression.bool_val(False)),
            m.CTX.map_keys_in(["a", 2]),
        ],
    ][variant]


def enumerated(m, annotation, variant):
    """A value for a type that both clients have under one name; `None`: it is none of these."""
    table = {
        "ListReturnType": lambda k: [k.VALUE, k.COUNT | k.INVERTED, k.EXISTS],
        "MapReturnType": lambda k: [k.KEY_VALUE, k.COUNT | k.INVERTED, k.EXISTS],
        "ExpType": lambda k: [k.GEO, k.NIL, k.HLL],
        "LoopVarPart": lambda k: [k.INDEX, k.VALUE, k.MAP_KEY],
        "ListPolicy": lambda k: [k(m.ListOrderType.ORDERED, 5), k(), k(None, m.ListWriteFlags.NO_FAIL)],
        "MapPolicy": lambda k: [
            k(m.MapOrder.KEY_ORDERED, None, 4),
            k(),
            k(m.MapOrder.KEY_VALUE_ORDERED, m.MapWriteMode.UPDATE_ONLY),
        ],
        "BitPolicy": lambda k: [k(), k(2), k(m.BitWriteFlags.NO_FAIL)],
        "HLLPolicy": lambda k: [k(), k(1), k(m.HLLWriteFlags.NO_FAIL)],
        "ListSortFlags": lambda k: [k.DROP_DUPLICATES, k.DEFAULT, k.DESCENDING],
        "ListOrderType": lambda k: [k.ORDERED, k.UNORDERED, k.ORDERED],
        "MapOrder": lambda k: [k.UNORDERED, k.KEY_ORDERED, k.KEY_VALUE_ORDERED],
        "BitwiseResizeFlags": lambda k: [k.DEFAULT, k.FROM_FRONT, k.GROW_ONLY],
        "BitwiseOverflowActions": lambda k: [k.WRAP, k.FAIL, k.SATURATE],
        "StringNumericType": lambda k: [k.FLOAT, k.ANY, k.INT],
    }
    for name, values in table.items():
        if name in annotation:
            return values(getattr(m, name))[variant]
    return None


def expression_argument(m, constructor, name, annotation, variant, place):
    exp = m.FilterExpression
    value = enumerated(m, annotation, variant)
    if value is not None:
        return value
    if "CTX" in annotation:
        return contexts(m, variant)
    if "Sequence[_native.FilterExpression" in annotation:
        if constructor == "exp_let":
            return [exp.def_("x", exp.int_val(1)), exp.var("x")]
        return [exp.int_val(101), exp.float_val(1.5), exp.string_bin("a")][: variant + 1]
    if "FilterExpression" in annotation:
        if "Optional" in annotation and variant and (variant == 1 or name.endswith("begin")):
            return None
        return exp.string_bin("b") if name in ("bin", "src", "bin_exp") else exp.int_val(place * 1000**variant)
    by_name = {
        "blob_val": b"ab" * 20**variant,
        "list_val": [[1, 2], ["a", None, [True, 1.5, {"z": 1}]], []][variant],
        "map_val": [{1: 2, "b": 3, b"c": [1], -5: {"y": 1, "a": 2}}, {}, {"a": None}][variant],
        "val": [7, "x", [1, (2, 3)]][variant],
    }
    if constructor in by_name:
        return by_name[constructor]
    by_type = {"builtins.int": 10 + place, "builtins.bool": variant == 0, "builtins.float": 1.5}
    return by_type.get(annotation, ["S", "longer", "é"][variant])


EXPRESSIONS = [
    entry for entry in constructors("FilterExpression") if entry[0] not in ("from_base64",)
]  # Those with bytes of their own.


def test_all_expressions_are_there():
    assert len(EXPRESSIONS) > 240
    assert not [name for name, *_ in EXPRESSIONS if not hasattr(native.FilterExpression, name)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "arguments", "_count"), EXPRESSIONS, ids=[name for name, *_ in EXPRESSIONS])
def test_expressions(name, arguments, _count, variant):
    made = []
    for m in (peer, native):
        values = [expression_argument(m, name, *argument, variant, n) for n, argument in enumerate(arguments)]
        made.append(getattr(m.FilterExpression, name)(*values).base64())
    theirs, ours = made
    assert ours == theirs


@pytest.mark.parametrize("variant", VARIANTS)
def test_contexts(variant):
    theirs, ours = (m.CTX.to_base64(contexts(m, variant)) for m in (peer, native))
    assert ours == theirs
    assert native.CTX.from_base64(theirs) == contexts(native, variant)


def operation_argument(m, kind, name, annotation, variant, others):
    value = None if "Optional" in annotation and variant else enumerated(m, annotation, variant)
    if value is not None:
        return value
    exp = m.FilterExpression
    if "CTX" in annotation:
        path = [m.CTX.map_key("x")], [m.CTX.all_children()], [m.CTX.map_key("none")]
        return path[variant] if kind == "CdtOperation" else None
    if "FilterExpression" in annotation:
        return [exp.int_val(7), exp.int_bin("i"), exp.string_val("x")][variant]
    if name in ("bin_name", "bin", "name"):
        return "b"
    by_name = {
        "items": [("a", 7), ("z", 8)],
        "values": [1, "c"],
        "keys": ["a", "z"],
        "hll_list": [m.HLL(list(other)) if m is peer else HLL(other) for other in others],
        "flag": [1, 16, 0][variant],
        "flags": [None, 16 if kind == "ExpOperation" else 4, 1 if name == "write" else None][variant],
        "index_bit_count": [8, 4, 6][variant],
        "min_hash_bit_count": [-1, 8, 4][variant],
        "bit_size": [8, 16, 3][variant],
        "byte_size": [1, 3, 2][variant],
        "shift": 1,
    }
    if name in by_name:
        return by_name[name]
    if name in ("value", "key", "begin", "end") and "int" not in annotation and "bool" not in annotation:
        if kind == "BitOperation":
            return b"\xf0\x0f"
        return {"key": ["a", "zz", "b"], "begin": ["a", 1, None], "end": ["c", 4, None]}.get(name, [2, "c", [1]])[
            variant
        ]
    if "Optional[builtins.int" in annotation:
        return [1, None, 2][variant]
    return {"builtins.int": [0, 1, -1][variant], "builtins.bool": variant == 0}.get(annotation)


RECORDS = {
    "ListOperation": [{"b": [3, 1, 2, "c", 1]}, {"b": [5]}, {}],
    "MapOperation": [{"b": {"a": 1, "b": 2, "c": 1}}, {"b": {}}, {}],
    "BitOperation": [{"b": b"\x01\x02\x03\xff"}, {"b": b""}, {}],
    "HllOperation": [{"b": None}, {}, {}],
    "CdtOperation": [{"b": {"x": [1, 2], "y": 1}, "i": 9}, {"b": [1]}, {}],
    "ExpOperation": [{"b": 1, "i": 9}, {"b": "x"}, {}],
}
# Where it does otherwise than it says: the flags of `increment` stand in the place of the order, `create` of a list
# does not store an index, and half a range of `b64_encode` is a `ValueError` of another kind.
OTHERWISE = {("ListOperation", "increment"), ("ListOperation", "create"), ("BitOperation", "b64_encode")}
OPERATIONS = [(kind, *entry) for kind in RECORDS for entry in constructors(kind) if (kind, entry[0]) not in OTHERWISE]


@pytest.fixture(scope="module")
def theirs(seeds):
    client = peer.new_client_blocking(peer.ClientPolicy(), seeds)
    yield client
    client.close_blocking() if hasattr(client, "close_blocking") else None


def plain(value):
    """A value without the classes of a client."""
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if type(value).__name__ == "HLL":
        return bytes(value.value)
    return value


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("kind", "name", "arguments", "count"), OPERATIONS, ids=[f"{o[0]}.{o[1]}" for o in OPERATIONS])
def test_operations(client, theirs, key, kind, name, arguments, count, variant):
    others = []
    if kind == "HllOperation":
        client.operate_blocking(key, [native.HllOperation.add("b", ["a", "q"], 8)])
        others = [client.get_blocking(key).bins["b"].value]
    for bins in RECORDS[kind]:
        outcomes = []
        for m in (peer, native):
            values = [operation_argument(m, kind, *argument, variant, others) for argument in arguments]
            named = {argument[0]: value for argument, value in zip(arguments[count:], values[count:], strict=True)}
            operation = getattr(getattr(m, kind), name)(*values[:count], **named)
            client.delete_blocking(key)
            client.put_blocking(key, {"other": 1, **bins})
            if bins.get("b", 0) is None:
                client.operate_blocking(key, [native.HllOperation.add("b", ["a", "b"], 8)])
            try:
                if m is peer:
                    its = peer.Key(key.namespace, key.set_name, key.value)
                    record = theirs.operate_blocking(its, [operation])
                else:
                    record = client.operate_blocking(key, [operation])
                outcome = plain(record.results), plain(record.bins)
            except Exception as error:
                outcome = int(error.result_code), None
            outcomes.append((outcome, plain(client.get_blocking(key).bins)))
        assert outcomes[1] == outcomes[0], bins


def test_several_results_of_one_bin(client, theirs, key):
    outcomes = []
    for m in (peer, native):
        client.delete_blocking(key)
        operations = [
            m.ListOperation.append("b", 1, m.ListPolicy()),
            m.ListOperation.size("b"),
            m.MapOperation.put_items("m", [("a", 1), ("c", 2)], m.MapPolicy(m.MapOrder.KEY_ORDERED)),
            m.MapOperation.get_by_key_range("m", "a", None, m.MapReturnType.KEY_VALUE),
            m.MapOperation.get_by_key_range("m", "a", None, m.MapReturnType.ORDERED_MAP),
            m.Operation.get_bin("none"),
        ]
        if m is peer:
            record = theirs.operate_blocking(peer.Key(key.namespace, key.set_name, key.value), operations)
        else:
            record = client.operate_blocking(key, operations)
        outcomes.append((plain(record.results), plain(record.bins)))
    assert outcomes[1] == outcomes[0]
