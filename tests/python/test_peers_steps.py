"""What each step of a bin, and each step into lists and maps, does beside aerospike-sdk, and the record then."""

import contextlib
import inspect

import pytest
from sdk_sides import POINT, Raised, Side, compare, sides
from test_peers_queries import Node, taken_apart

import aerolane
import aerolane.sync

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")
import aerospike_sdk.sync  # noqa: E402

query_shared = pytest.importorskip("aerospike_sdk.query_shared")
cdt_read = pytest.importorskip("aerospike_sdk.aio.operations.cdt_read")

# Not steps, but ways on: to other bins, records and terminals.
WAYS = {"bin", "execute", "stream", "query", "execute_udf"}
WAYS |= {"upsert", "insert", "update", "replace", "replace_if_exists", "delete", "touch", "exists"}
# The bin of a step, by the beginning of its name, and where it is another one.
BINS = {"list": "l", "map": "m", "hll": "h", "bit": "b", "str": "s"}
BIN_OF = {
    **{"append": "s", "prepend": "s", "list_join": "sl", "str_to_integer": "n", "str_to_double": "n"},
    **{"str_b64_decode": "b64", "set_to_geo_json": "g"},
}


@pytest.fixture(scope="module")
def both():
    with sides() as both:
        yield both


def increment(package):
    return package.Exp.num_add([package.Exp.int_bin("i"), package.Exp.int_val(1)])


def argument(side, step, parameter):
    """A value for an argument; `None`: it is left out."""
    package, kind = side.package, step.partition("_")[0]
    values = {
        **{"index": 1, "count": 2, "byte_size": 2, "bit_offset": 3, "bit_size": 7, "byte_offset": 1, "shift": 2},
        **{"start": 1, "end": 4, "target_length": 20, "occurrence": 2, "index_bit_count": 6, "values": [7, 8]},
        **{"needle": "l", "prefix": "Hello", "suffix": "ab", "pattern": "l+", "replacement": "L", "pad_string": "*"},
        **{"signed": False, "geo_json": POINT, "separator": " " if kind == "str" else "-"},
        "items": [9, 8] if kind == "list" else {"a": 7, "z": 9},
        "value": {"list": 9, "bit": bytes([0xAA]), "str": "XY", "append": "!", "prepend": "!"}.get(kind, 7),
        "order": package.ListOrderType.ORDERED if kind == "list" else package.MapOrder.KEY_ORDERED,
    }
    if parameter == "value" and step in ("bit_lscan", "bit_rscan"):
        return True
    if parameter == "value" and step in ("bit_add", "bit_subtract", "bit_set_int"):
        return 5
    made = {
        "config": lambda: package.HllConfig.of(8),
        "hll_list": lambda: [side.session.get(side.key).bins["h"]],
        "expression": lambda: increment(package),
        "action": lambda: package.BitwiseOverflowActions.WRAP,
        "policy": package.BitPolicy,
        "flags": lambda: 4 if kind == "str" else package.ListSortFlags.DROP_DUPLICATES,
        "write_flags": lambda: 4,
        "numeric_type": lambda: package.StringNumericType.FLOAT,
    }
    return made[parameter]() if parameter in made else values.get(parameter)


def parameters_of(kind, step):
    return [p for p in inspect.signature(getattr(kind, step)).parameters.values() if p.name != "self"]


def steps():
    for verb, kind in (("query", query_shared.QueryBinBuilder), ("upsert", query_shared.WriteBinBuilder)):
        for step in sorted(dir(kind)):
            if step.startswith(("_", "on_")) or step in WAYS:
                continue
            yield verb, kind, step, False
            if any(p.default is not p.empty for p in parameters_of(kind, step)):
                yield verb, kind, step, True


def taken(side, verb, kind, step, full):
    """A builder that has taken a step; `full`: with all arguments that need not be given."""
    places, named = [], {}
    for parameter in parameters_of(kind, step):
        optional = parameter.default is not parameter.empty
        if optional and not full:
            continue
        if isinstance(parameter.default, bool):
            # What would refuse the value that is written.
            value = parameter.name not in ("bounded", "create_only", "update_only")
        else:
            value = argument(side, step, parameter.name)
        if optional and value is None:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            places.append(value)
    name = BIN_OF.get(step) or BINS.get(step.partition("_")[0], "i")
    return getattr(getattr(side.session, verb)(side.key).bin(name), step)(*places, **named)


@pytest.mark.parametrize(("verb", "kind", "step", "full"), list(steps()))
def test_steps(both, verb, kind, step, full):
    compare(both, lambda side: taken(side, verb, kind, step, full).execute().collect())


class Newest(Node):
    """A node that keeps what it is sent, and says that it is of 8.2."""

    def _info(self, commands):
        return super()._info(commands).replace("8.1.2.0", "8.2.0.0")


@pytest.fixture(scope="module")
def kept():
    """A side on each of two nodes that keep requests."""
    with contextlib.ExitStack() as stack:
        found = []
        for package, module in ((sdk, aerospike_sdk.sync), (aerolane, aerolane.sync)):
            node = Newest()
            stack.callback(node.close)
            host, port = node.seeds.rsplit(":", 1)
            cluster = stack.enter_context(module.ClusterDefinition(host, int(port)).connect())
            side = Side(package, cluster, (host, int(port)))
            side.key = package.DataSet.of("test", "kept").id("one")
            found.append((side, node))
        yield found


# What servers before 8.2 refuse, and clusters of tests as well.
NEWEST = [
    (v, k, s, f)
    for v, k, s, f in steps()
    if s.startswith("str_") or s in ("read_as_string", "list_join", "bit_b64_encode")
]


@pytest.mark.parametrize(("verb", "kind", "step", "full"), NEWEST)
def test_requests_of_steps_that_need_the_newest_servers(kept, verb, kind, step, full):
    requests = []
    for side, node in kept:
        with contextlib.suppress(Exception):
            taken(side, verb, kind, step, full).execute()
        requests.append(taken_apart(node.requests.get(timeout=10)))
    theirs, ours = requests
    assert theirs == ours


ONE = {
    "on_map_key": [("a",), ("z",)],
    "on_map_index": [(1,), (9,)],
    "on_map_rank": [(-1,)],
    "on_list_index": [(0,), (-1,), (9,)],
    "on_list_rank": [(0,)],
}
SEVERAL = {
    "on_map_value": [(5,)],
    "on_map_index_range": [(1,), (0, 2)],
    "on_map_key_range": [("a", "c"), (None, "b"), ("b", None)],
    "on_map_rank_range": [(1,), (0, 2)],
    "on_map_value_range": [(1, 4), (None, 4), (3, None)],
    "on_map_key_relative_index_range": [("b", 0), ("b", -1, 2)],
    "on_map_value_relative_rank_range": [(3, 0), (3, -1, 1)],
    "on_map_key_list": [(["a", "c", "z"],)],
    "on_map_value_list": [([1, 5],)],
    "on_list_value": [(1,)],
    "on_list_index_range": [(1,), (1, 2)],
    "on_list_rank_range": [(1,), (0, 2)],
    "on_list_value_range": [(1, 3), (None, 2), (2, None)],
    "on_list_value_relative_rank_range": [(2, 0), (2, -1, 2)],
    "on_list_value_list": [([1, 3],)],
}
NAVIGATION = [(step, arguments) for step, each in (ONE | SEVERAL).items() for arguments in each]
ANSWERS = [n for n in dir(cdt_read.CdtReadInvertableBuilder) if n.startswith(("get_", "count")) or n == "exists"]


def test_all_navigation_is_here():
    theirs = {name for name in dir(query_shared.QueryBinBuilder) if name.startswith("on_")}
    assert theirs - ONE.keys() - SEVERAL.keys() == {"on_each_child", "on_each_child_where", "on_map_keys_in"}
    assert len(ANSWERS) == 19


@pytest.mark.parametrize("verb", ["query", "upsert"])
@pytest.mark.parametrize(("step", "arguments"), NAVIGATION)
def test_what_is_read_of_a_part(both, verb, step, arguments):
    of_map = step.startswith("on_map")
    for answer in ANSWERS:
        if ("other" in answer and step in ONE) or (not of_map and ("key" in answer or "map" in answer)):
            continue

        def program(side, answer=answer):
            builder = getattr(side.session, verb)(side.key).bin("m" if of_map else "l")
            return getattr(getattr(builder, step)(*arguments), answer)().execute().collect()

        compare(both, program)


CHANGES = {
    "remove": lambda part, types: part.remove(),
    "remove with a count": lambda part, types: part.remove(return_type=types.COUNT),
    "remove all others": lambda part, types: part.remove_all_others(return_type=types.VALUE),
    "set": lambda part, types: part.set_to(77),
    "add": lambda part, types: part.add(3),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("step", "arguments"), NAVIGATION)
def test_what_is_done_with_a_part(both, step, arguments, change):
    of_map = step.startswith("on_map")

    def program(side):
        types = side.package.MapReturnType if of_map else side.package.ListReturnType
        part = getattr(side.session.upsert(side.key).bin("m" if of_map else "l"), step)(*arguments)
        return CHANGES[change](part, types).execute().collect()

    compare(both, program)


def variable(package):
    return package.Exp.int_loop_var(package.LoopVarPart.VALUE)


def over_one(package):
    return package.Exp.gt(variable(package), package.Exp.int_val(1))


def one_more(package):
    return package.Exp.num_add([variable(package), package.Exp.int_val(1)])


NESTED = {
    "item of a map's list": lambda b, p: b("ml").on_map_key("k").on_list_index(1).get_values(),
    "key of a list's map": lambda b, p: b("lm").on_list_index(0).on_map_key("a").get_values(),
    "rank": lambda b, p: b("ml").on_map_key("k").on_list_rank(-1).get_values(),
    "several": lambda b, p: b("ml").on_map_key("k").on_list_value_range(2, None).count(),
    "size": lambda b, p: b("ml").on_map_key("k").list_size(),
    "map size": lambda b, p: b("lm").on_list_index(0).map_size(),
    "string": lambda b, p: b("ml").on_map_key("s").str_strlen(),
    "children": lambda b, p: b("l").on_each_child().collect_values(),
    "children where": lambda b, p: b("l").on_each_child_where(over_one(p)).collect_values(),
    "keys": lambda b, p: b("m").on_each_child().collect_map_keys(),
    "entries": lambda b, p: b("m").on_each_child().collect_map_entries(),
    "tree": lambda b, p: b("ml").on_map_key("k").on_each_child().collect_matching_tree(),
    "by flags": lambda b, p: b("ml").on_map_key("k").on_each_child().collect_by_path(p.SelectFlags.VALUE),
    "as an expression": lambda b, p: (
        b("ml").on_map_key("k").on_each_child().collect_values_as_expression_read(p.ExpType.MAP)
    ),
    "of another type": lambda b, p: b("ml").on_each_child().on_list_index(0).collect_values(),
    "of another type, no failure": lambda b, p: b("ml").on_each_child().on_list_index(0).collect_values(no_fail=True),
    "keys in": lambda b, p: b("m").on_map_keys_in(["a", "c"]).collect_values(),
    "filtered": lambda b, p: b("m").on_map_key("a").and_filter(p.Exp.bool_val(True)).collect_values(),
    "value of a map": lambda b, p: b("lm").on_each_child().on_map_value(1).collect_values(),
}
NESTED_WRITES = {
    "new key": lambda b, p: b("lm").on_list_index(0).on_map_key("zz").set_to(9),
    "add": lambda b, p: b("lm").on_list_index(0).on_map_key("a").add(9),
    "created map": lambda b, p: b("new").on_map_key("x", create_type=p.MapOrder.KEY_ORDERED).on_map_key("y").set_to(1),
    "created maps": lambda b, p: (
        (b("new").on_map_key("x", create_type=p.MapOrder.UNORDERED).on_map_key("y", create_type=p.MapOrder.UNORDERED))
        .on_map_key("z")
        .set_to(1)
    ),
    "created list": lambda b, p: b("new").on_map_key("x", create_type=p.MapOrder.KEY_ORDERED).list_append(4),
    "padded list": lambda b, p: b("l").on_list_index(6, order=p.ListOrderType.UNORDERED, pad=True).list_append(4),
    "list in a list": lambda b, p: b("nl").on_list_index(0, order=p.ListOrderType.ORDERED).list_append(4),
    "list step": lambda b, p: b("ml").on_map_key("k").list_insert(1, 99),
    "map step": lambda b, p: b("lm").on_list_index(1).map_upsert_items({"q": 1}),
    "string step": lambda b, p: b("ml").on_map_key("s").str_upper(),
    "clear": lambda b, p: b("ml").on_map_key("k").list_clear(),
    "sort": lambda b, p: b("ml").on_map_key("k").list_sort(),
    "keys in": lambda b, p: b("m").on_map_keys_in(["a", "c"]).remove_matches(),
    "modify": lambda b, p: b("l").on_each_child().modify_by(one_more(p)),
    "modify without failing": lambda b, p: b("lm").on_each_child().on_map_key("a").modify_no_fail(p.Exp.int_val(1)),
    "remove children": lambda b, p: b("l").on_each_child_where(over_one(p)).remove_matches(),
}


@pytest.mark.parametrize(
    ("verb", "name"), [("query", name) for name in NESTED] + [("upsert", name) for name in NESTED_WRITES]
)
def test_nested(both, verb, name):
    make = (NESTED if verb == "query" else NESTED_WRITES)[name]

    def program(side):
        return make(getattr(side.session, verb)(side.key).bin, side.package).execute().collect()

    given = compare(both, program)
    # An expression that neither has would make them alike.
    assert not isinstance(given, Raised) or given.code
