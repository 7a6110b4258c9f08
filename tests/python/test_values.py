"""Values: what is sent comes back, and what cannot be sent is refused with its place."""

import array
import collections
import copy
import enum
import json
import math
import pickle
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aerolane import HLL, GeoJSON, InvalidArgumentError, Key, SortedMap, SpecialValue, UnknownValue, native

DEPTH = 512  # Levels of lists and maps inside each other.
INT64 = st.integers(-(2**63), 2**63 - 1)
SCALARS = st.one_of(
    st.none(), st.booleans(), INT64, st.floats(allow_nan=False), st.text(max_size=40), st.binary(max_size=40)
)
MAP_KEYS = st.one_of(INT64, st.text(max_size=20), st.binary(max_size=20))
DEGREES = st.floats(-80, 80, allow_subnormal=False)
POINTS = st.builds(lambda x, y: GeoJSON(f'{{"type":"Point","coordinates":[{x},{y}]}}'), DEGREES, DEGREES)
VALUES = st.recursive(
    SCALARS | POINTS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=20),
        st.dictionaries(MAP_KEYS, inner, max_size=20),
        st.dictionaries(MAP_KEYS, inner, max_size=20).map(SortedMap),
    ),
    max_leaves=40,
)
# What is sent, and what comes back of it.
CHANGED = st.one_of(
    st.binary(max_size=40).map(lambda value: (bytearray(value), value)),
    st.binary(max_size=40).map(lambda value: (memoryview(value), value)),
    st.binary(max_size=40).map(lambda value: (memoryview(value)[::-1], value[::-1])),
    st.lists(st.integers(0, 2**16 - 1), max_size=20).map(
        lambda value: (array.array("H", value), array.array("H", value).tobytes())
    ),
    st.lists(VALUES, max_size=10).map(lambda value: (tuple(value), value)),
    st.dictionaries(MAP_KEYS, VALUES, max_size=10).map(lambda value: (collections.OrderedDict(value), value)),
)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def exactly(value):
    """A value with the types of all that is in it, so that 1, 1.0 and True differ; maps without an order."""
    if isinstance(value, dict):
        return type(value), frozenset((type(k), k, exactly(v)) for k, v in value.items())
    if isinstance(value, list):
        return list, tuple(exactly(item) for item in value)
    return type(value), repr(value)


@pytest.fixture
def round_trip(client, set_name):
    """Writes a value and reads it back."""
    key = Key("test", set_name, 1)

    def there_and_back(value):
        client.put_blocking(key, {"there": 1, "a": value})
        record = client.get_blocking(key)
        assert repr(record.bin("a")) == repr(record.bins.get("a"))
        return record.bins.get("a")

    return there_and_back


@relaxed
@given(VALUES)
def test_values_come_back_as_they_were(round_trip, value):
    assert exactly(round_trip(value)) == exactly(value)


@relaxed
@given(CHANGED)
def test_values_that_come_back_as_another_type(round_trip, pair):
    value, expected = pair
    assert exactly(round_trip(value)) == exactly(expected)
    assert exactly(round_trip([value])) == exactly([expected])


@relaxed
@given(st.sampled_from(["int8", "uint8", "int16", "uint32", "int64", "float32", "float64", "bool"]), st.data())
def test_any_scalar_of_numpy(round_trip, kind, data):
    numpy = pytest.importorskip("numpy")
    dtype = numpy.dtype(kind)
    if dtype.kind in "iu":
        bounds = numpy.iinfo(dtype)
        value = data.draw(st.integers(int(bounds.min), int(bounds.max)))
    elif dtype.kind == "f":
        value = data.draw(st.floats(allow_nan=False, width=dtype.itemsize * 8))
    else:
        value = data.draw(st.booleans())
    assert exactly(round_trip(dtype.type(value))) == exactly(value)
    assert exactly(round_trip({"k": [dtype.type(value)]})) == exactly({"k": [value]})


@relaxed
@given(st.sets(st.text(max_size=10), min_size=1, max_size=50), st.integers(4, 10))
def test_any_hll(client, set_name, values, bits):
    """What the server has counted is an object of its own, and can be written elsewhere."""
    first, second = Key("test", set_name, 1), Key("test", set_name, 2)
    client.put_blocking(first, {"a": 1, "h": None})
    client.operate_blocking(first, [native.HllOperation.add("h", sorted(values), bits)])
    hll = client.get_blocking(first).bins["h"]
    assert type(hll) is HLL
    client.put_blocking(second, {"h": hll})
    assert client.get_blocking(second).bins["h"] == hll
    counted = [client.operate_blocking(key, [native.HllOperation.get_count("h")]).bins["h"] for key in (first, second)]
    assert counted[0] == counted[1] > 0


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, 127, 128, 255, 256, -32, -33, -128, -129, 2**15, 2**16, -(2**15) - 1, 2**31, 2**32),
        *(2**63 - 1, -(2**63), 0.0, -0.0, math.inf, -math.inf, 5e-324, sys.float_info.max, True, False),
        *("", "x" * 31, "x" * 32, "x" * 300, "x" * 70_000, "é漢😀", "a\0b", b"", b"\0" * 300),
        *([], {}, [[]], {"": {}}, list(range(16)), list(range(70_000)), {i: i for i in range(20)}),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_values_at_the_edges(round_trip, value):
    assert exactly(round_trip(value)) == exactly(value)
    assert exactly(round_trip([value])) == exactly([value])


def test_nan(round_trip):
    assert math.isnan(round_trip(math.nan)) and math.isnan(round_trip([math.nan])[0])


def test_none_removes_a_bin(client, key):
    client.put_blocking(key, {"a": 1, "b": 2})
    client.put_blocking(key, {"a": None})
    assert client.get_blocking(key).bins == {"b": 2}


def test_sequences_and_subclasses(round_trip):
    class Colour(enum.IntEnum):
        RED = 3

    class Text(str):
        pass

    Point = collections.namedtuple("Point", "x y")
    ordered = collections.OrderedDict(b=1, a=2)
    ordered.move_to_end("b")
    for value, expected in [
        ((1, (2,)), [1, [2]]),
        (Colour.RED, 3),
        (Text("x"), "x"),
        (Point(1, 2), [1, 2]),
        (ordered, {"a": 2, "b": 1}),
        (collections.defaultdict(int, a=1), {"a": 1}),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abcd")[::2], b"ac"),
        (array.array("H", [1]), array.array("H", [1]).tobytes()),
    ]:
        assert exactly(round_trip(value)) == exactly(expected)
        assert exactly(round_trip([value])) == exactly([expected])
    assert round_trip({Colour.RED: 1, Text("t"): 2, memoryview(b"m"): 3}) == {3: 1, "t": 2, b"m": 3}


def test_numpy(round_trip):
    numpy = pytest.importorskip("numpy")
    for value, expected in [
        (numpy.int8(-3), -3),
        (numpy.uint64(7), 7),
        (numpy.float32(1.5), 1.5),
        (numpy.float64(0.1), 0.1),
        (numpy.float16(0.5), 0.5),
        (numpy.bool_(True), True),
        (numpy.str_("x"), "x"),
        (numpy.bytes_(b"x"), b"x"),
        (numpy.array(5), 5),
        (numpy.arange(6, dtype="uint8"), bytes(range(6))),
        (numpy.arange(6, dtype="uint8")[::2], bytes([0, 2, 4])),
    ]:
        assert exactly(round_trip(value)) == exactly(expected)
        assert exactly(round_trip([value])) == exactly([expected])
    for wrong in (numpy.complex128(1), numpy.datetime64("2020-01-01"), numpy.array([object()]), numpy.array(1j)):
        with pytest.raises(TypeError, match="bin 'a'"):
            round_trip(wrong)
    assert round_trip(numpy.uint64(2**64 - 1)) == -1


def test_arrays_of_numpy_are_not_sent_as_bytes(round_trip):
    """Their bytes would say neither what they are nor how they are laid out."""
    numpy = pytest.importorskip("numpy")
    for wrong, what in [
        (numpy.arange(3), "ndarray of int64 with 1 dimension is not supported"),
        (numpy.zeros(2, "float32"), "ndarray of float32 with 1 dimension"),
        (numpy.zeros((2, 3), "uint8"), "ndarray of uint8 with 2 dimensions"),
        (numpy.zeros(3, "int8"), "ndarray of int8"),
        (numpy.zeros(3, "S4"), r"ndarray of \|S4"),
        (numpy.zeros(3, [("a", "i4")]), "ndarray of"),
        (numpy.array(["a"]), "ndarray of <U1"),
    ]:
        for value in (wrong, [wrong], {"k": wrong}):
            with pytest.raises(TypeError, match=rf"bin 'a': .*{what}.*tolist\(\)"):
                round_trip(value)
        assert exactly(round_trip(wrong.tobytes())) == exactly(wrong.tobytes())
    assert round_trip(numpy.arange(3).tolist()) == [0, 1, 2]


def test_integers_of_64_unsigned_bits(round_trip):
    """They are stored as the signed ones with the same bits, as which they come back."""
    for number in (2**63, 2**64 - 1, 2**63 + 12345):
        signed = number - 2**64
        for value, expected in ((number, signed), ([number], [signed]), ({"k": number}, {"k": signed})):
            assert exactly(round_trip(value)) == exactly(expected)
        assert round_trip(SortedMap({number: 1, 5: 2})) == {signed: 1, 5: 2}
        assert Key("test", "demo", number) == Key("test", "demo", signed)
        assert native.FilterExpression.val(number) == native.FilterExpression.val(signed)
        with pytest.raises(OverflowError):
            Key.from_int_user_key("test", "demo", number)
        with pytest.raises(OverflowError):
            native.FilterExpression.int_val(number)


def test_geojson(round_trip):
    point = GeoJSON('{"type": "Point", "coordinates": [1.5, 2]}')
    assert round_trip(point) == point and round_trip([point]) == [point]
    assert point.value == str(point) == '{"type": "Point", "coordinates": [1.5, 2]}'
    assert repr(point) == point.as_string() == f"GeoJSON({point.value!r})"
    assert hash(point) == hash(GeoJSON(point.value)) == hash(point.value)
    assert point != GeoJSON("{}") and point == point.value and point.value == point and point != "{}"
    assert point != json.loads(point.value) and point != 5
    assert pickle.loads(pickle.dumps(point)) == point
    assert GeoJSON(json.loads(point.value)) == GeoJSON(v=point) == point
    changed = copy.copy(point)
    changed.value = {"type": "Point", "coordinates": [3, 4]}
    assert changed == '{"type": "Point", "coordinates": [3, 4]}' != point
    assert round_trip(changed) == changed
    for wrong in (5, None, b"{}", [1, 2], {"a": object()}):
        with pytest.raises(TypeError):
            GeoJSON(wrong)
        with pytest.raises(TypeError):
            changed.value = wrong
    with pytest.raises(AttributeError):
        del changed.value


def test_geojson_from_two_numbers():
    assert native.geojson("-122.0, 37.5") == '{"type": "Point", "coordinates": [-122.0, 37.5]}'
    assert native.geojson(" 1 ,2").value == '{"type": "Point", "coordinates": [1.0, 2.0]}'
    circle = {"type": "AeroCircle", "coordinates": [[1, 2], 3]}
    assert native.geojson(circle) == native.geojson(json.dumps(circle, indent=1)) == json.dumps(circle)
    for wrong in ("", "x", "1", "1,2,3", "nan, 1", "1, inf", "{}", "[1, 2]", "{bad", '"text"', "[" * 100_000, "1,"):
        with pytest.raises(InvalidArgumentError, match="neither GeoJSON"):
            native.geojson(wrong)
    for wrong in (5, None, b"1,2", (1, 2)):
        with pytest.raises(TypeError):
            native.geojson(wrong)


def test_hll_objects():
    hll = HLL(b"\1\2")
    assert hll.value == bytes(hll) == b"\1\2" and len(hll) == 2
    assert hll == HLL([1, 2]) == HLL(bytearray(b"\1\2")) and hll != HLL(b"") and hash(hll) == hash(HLL(b"\1\2"))
    assert hll == b"\1\2" and hll == [1, 2] and hll == (1, 2) and hll == bytearray(b"\1\2")
    assert hll != b"" and hll != [1, "x"] and hll != [1, 2, 3] and hll != "x" and hll != 5
    changed = HLL(hll)
    changed.value = [7]
    assert changed == b"\7" and hll == b"\1\2" and hash(changed) == hash(b"\7")
    with pytest.raises(TypeError):
        changed.value = "x"
    assert repr(hll) == r"HLL(b'\x01\x02')" == hll.as_string() and pickle.loads(pickle.dumps(hll)) == hll
    for wrong in (2, "x", None, [256], [-1], ["x"]):
        with pytest.raises((TypeError, OverflowError)):
            HLL(wrong)


def test_unknown_value_objects():
    value = UnknownValue(77, b"x")
    assert (value.particle_type, value.data) == (77, b"x")
    assert value == UnknownValue(77, b"x") != UnknownValue(78, b"x")
    assert repr(value) == "UnknownValue(77, b'x')" and pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(OverflowError):
        UnknownValue(256, b"")


def test_key_ordered_maps_stay_so(round_trip):
    value = SortedMap({"z": 1, 10: 2, b"k": 3, 9: 4, "a": SortedMap({2: 1, 1: 2})})
    back = round_trip(value)
    assert type(back) is SortedMap and type(back["a"]) is SortedMap and back == value
    assert list(back) == [9, 10, "a", "z", b"k"] and list(back["a"]) == [1, 2]
    assert type(round_trip({1: 2})) is dict
    assert repr(back["a"]) == "SortedMap({1: 2, 2: 1})"
    again = pickle.loads(pickle.dumps(back))
    assert again == back and type(again) is SortedMap


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ({1, 2}, TypeError, "bin 'a': set is not supported"),
        ([0, 1, 2, {"x": {1}}], TypeError, r"bin 'a': \[3\]\['x'\]: set is not supported"),
        (({7: [object()]},), TypeError, r"bin 'a': \[0\]\[7\]\[0\]: object is not supported"),
        (1j, TypeError, "bin 'a': complex is not supported"),
        (object, TypeError, "bin 'a': type is not supported"),
        (2**64, OverflowError, "bin 'a': the integer 18446744073709551616 does not fit into 64 bits"),
        ([-(2**63) - 1], OverflowError, r"bin 'a': \[0\]: the integer -9223372036854775809"),
        ("\ud800", ValueError, "bin 'a': .*surrogates"),
        ({"x": ["\udfff"]}, ValueError, r"bin 'a': \['x'\]\[0\]: .*surrogates"),
        ({1.5: 1}, TypeError, r"bin 'a': a map key is an int, a str or bytes, not float \(1.5\)"),
        ({True: 1}, TypeError, "not bool"),
        ({None: 1}, TypeError, "not NoneType"),
        ({(1,): 1}, TypeError, "not tuple"),
        ([SortedMap({1.5: 1})], TypeError, r"\[0\]: a map key"),
        ({2**64: 1}, OverflowError, "bin 'a'"),
        (SpecialValue.INFINITY, ValueError, "bin 'a': infinity"),
        (SpecialValue.WILDCARD, ValueError, "bin 'a': infinity and the wildcard"),
        ([UnknownValue(99, b"")], ValueError, r"bin 'a': \[0\]: .* only as a whole bin"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_place(client, key, value, error, text):
    client.put_blocking(key, {"a": 1})
    with pytest.raises(error, match=text):
        client.put_blocking(key, {"first": 1, "a": value})
    # Nothing was sent, and nothing of it stays in a buffer.
    assert client.get_blocking(key).bins == {"a": 1}


def nested(levels, make):
    value = make(None)
    for _ in range(levels - 1):
        value = make(value)
    return value


@pytest.mark.parametrize("make", [lambda v: [v], lambda v: (v,), lambda v: {"x": v}, lambda v: SortedMap({1: v})])
def test_the_depth_of_collections_is_bounded(client, key, make):
    with pytest.raises(ValueError, match=f"bin 'a': .*levels.*nested more than {DEPTH} levels deep"):
        client.put_blocking(key, {"a": nested(DEPTH + 1, make)})


def test_deep_lists_come_back(round_trip):
    assert round_trip(nested(100, lambda v: [v])) == nested(100, lambda v: [v])


def test_collections_that_hold_themselves_are_refused(client, key):
    ring = [1]
    ring.append(ring)
    knot = {}
    knot["x"] = [knot]
    for value in (ring, knot):
        with pytest.raises(ValueError, match="nested more than"):
            client.put_blocking(key, {"a": value})


def test_an_error_of_the_objects_own_code_says_where(client, key):
    class Index:
        def __index__(self):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        client.put_blocking(key, {"a": [Index()]})
    assert caught.value.__notes__ == ["while encoding bin 'a': [0]"]


def test_collections_that_change_while_they_are_sent(client, key):
    class Index:
        def __init__(self, act):
            self.act = act

        def __index__(self):
            self.act()
            return 1

    shrinking, growing, mapping, bins = [], [], {}, {}
    shrinking += [Index(shrinking.clear), 2, 3]
    growing += [Index(lambda: growing.append(1))]
    mapping.update(a=Index(lambda: mapping.update(b=1)), c=2)
    bins.update(a=Index(lambda: bins.update(b=1)))
    for value in (shrinking, growing, mapping):
        with pytest.raises(ValueError, match="changed its size"):
            client.put_blocking(key, {"a": value})
    with pytest.raises(ValueError, match="changed its size"):
        client.put_blocking(key, bins)


def test_bin_names_and_bins_are_checked(client, key):
    client.put_blocking(key, {"b" * 15: 1})
    for name, text in [("b" * 16, "16 bytes"), ("é" * 8, "16 bytes")]:
        with pytest.raises(ValueError, match=text):
            client.put_blocking(key, {name: 1})
    with pytest.raises(ValueError, match="no bins"):
        client.put_blocking(key, {})
    with pytest.raises(TypeError, match=r"a bin name is a str, not .*int"):
        client.put_blocking(key, {1: 1})
    with pytest.raises(ValueError, match="surrogates"):
        client.put_blocking(key, {"\ud800": 1})
    for wrong in ([("a", 1)], None, 7, "x"):
        with pytest.raises(TypeError):
            client.put_blocking(key, wrong)


def test_other_mappings_of_bins(client, key):
    client.put_blocking(key, collections.ChainMap({"a": 1}, {"b": 2}))
    assert client.get_blocking(key).bins == {"a": 1, "b": 2}


def test_no_references_leak(client, key):
    """Encoding, decoding and refusing leave the counts of what they touch as they were."""
    marker = "a str that nothing else holds"
    number = 10**15
    value = [marker, {marker: number}, (number,)]
    client.put_blocking(key, {"a": value})

    def use():
        client.put_blocking(key, {"a": value})
        record = client.get_blocking(key)
        record.bin("a")
        record.bins["a"].clear()
        with pytest.raises(TypeError):
            client.put_blocking(key, {"a": [marker, number, {marker: set()}]})

    use()
    before = sys.getrefcount(marker), sys.getrefcount(number), sys.getrefcount(value)
    for _ in range(100):
        use()
    assert (sys.getrefcount(marker), sys.getrefcount(number), sys.getrefcount(value)) == before


def test_containers_under_other_names(client, key):
    """`Blob`, `List`, `Map`: Python's own, with `value`, as aerospike-native has them."""
    blob, items, pairs = native.Blob([1, 255]), native.List((1, "a")), native.Map({"a": [1]})
    assert (blob.value, items.value, pairs.value) == (b"\1\xff", [1, "a"], {"a": [1]})
    assert [type(value) for value in (blob.value, items.value, pairs.value)] == [bytes, list, dict]
    assert (blob.as_string(), items.as_string(), pairs.as_string()) == ("[1, 255]", "[1, 'a']", "{'a': [1]}")
    assert (str(blob), str(items), str(pairs)) == (r"Blob(b'\x01\xff')", "[1, 'a']", "{'a': [1]}")
    assert (repr(blob), repr(items), repr(pairs)) == (r"Blob(b'\x01\xff')", "List([1, 'a'])", "Map({'a': [1]})")
    client.put_blocking(key, {"b": blob, "l": native.List([items, blob]), "m": native.Map({"k": pairs})})
    plain = {"b": b"\x01\xff", "l": [[1, "a"], b"\x01\xff"], "m": {"k": {"a": [1]}}}
    assert client.get_blocking(key).bins == plain
    assert native.ListOperation.append("l", items, native.ListPolicy()) == native.ListOperation.append(
        "l", [1, "a"], native.ListPolicy()
    )
    assert native.Key("test", "s", native.Blob(b"ab")) == native.Key("test", "s", b"ab")
    blob.value, items.value, pairs.value = b"xyz", [2], {1: 2}
    assert (blob, items, pairs) == (b"xyz", [2], {1: 2}) and items[0] == 2
    for value in (blob, items, pairs):
        for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert same == value and type(same) is type(value)
    for kind, wrong in ((native.Blob, 5), (native.Blob, "text"), (native.List, "text"), (native.Map, 5)):
        with pytest.raises(TypeError):
            kind(wrong)
    blob = native.Blob(v=b"abc")
    assert blob == b"abc" and blob == [97, 98, 99] and blob == (97, 98, 99) and blob == native.Blob(blob)
    assert blob != [97, 98] and blob != b"ab" and blob != "abc" and blob != [97]
    assert hash(blob) == hash(b"abc") and {blob: 1}[b"abc"] == 1
    for part, expected in ((blob[:2], b"ab"), (blob[::-1], b"cba"), (blob + b"d", b"abcd")):
        assert type(part) is native.Blob and part == expected
    assert blob[-1] == 99 and 97 in blob
    with pytest.raises(ValueError):
        native.Blob([256])
