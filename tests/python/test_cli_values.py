"""What the command line makes of texts and of values: types of columns, JSON without loss."""

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("typer")

from aerolane import HLL, GeoJSON
from aerolane.cli.checkpoint import runs
from aerolane.cli.column_types import ColumnType, convert, infer, parse_cell, parse_types
from aerolane.cli.exit_codes import ExitCode, Failure
from aerolane.cli.json_values import dumps, from_json, to_json


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "", "9223372036854775807"], "int"),
        (["1", "9223372036854775808"], "string"),
        (["1", "2.5", "1e-3"], "float"),
        (["007"], "string"),
        (["+1"], "string"),
        (["1_000"], "string"),
        (["١"], "string"),  # noqa: RUF001  # a digit, and not an ASCII one
        (["nan"], "string"),
        (["true", "False"], "bool"),
        (["true", "1"], "string"),
        (["", ""], "string"),
        ([], "string"),
        (["1", "x"], "string"),
        (["1" * 5000], "string"),
    ],
)
def test_types_are_inferred(cells, kind):
    assert infer(cells) == kind


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_an_inferred_number_is_the_number(values):
    kind = infer(map(str, values))
    if kind is ColumnType.STRING:
        assert any(isinstance(value, int) and abs(value) > 2**53 for value in values), "a float would round it"
    else:
        assert [parse_cell(str(value), kind) for value in values] == values


@given(st.text())
def test_every_cell_fits_the_type_inferred_from_it(text):
    value = parse_cell(text, infer([text]))
    assert value is None if not text else value is not None


def test_cells():
    assert parse_cell("", ColumnType.INT) is None
    assert parse_cell(" 7 ", ColumnType.INT) == 7
    assert math.isnan(parse_cell("nan", ColumnType.FLOAT))
    assert parse_cell("TRUE", ColumnType.BOOL) is True
    assert parse_cell("AAE=", ColumnType.BYTES) == b"\0\1"
    assert parse_cell('{"a": [1, {"$bytes": "AA=="}]}', ColumnType.JSON) == {"a": [1, b"\0"]}
    point = '{"type": "Point", "coordinates": [1, 2]}'
    assert parse_cell(point, ColumnType.GEOJSON) == GeoJSON(point)
    for text, kind in [
        ("x", "int"),
        ("1.0", "int"),
        ("9223372036854775808", "int"),
        ("1_0", "int"),
        ("1" * 5000, "int"),
        ("x", "float"),
        ("yes", "bool"),
        ("A", "bytes"),
        ("ä", "bytes"),
        ("{", "json"),
        ("[" * 100_000, "json"),
        ("{", "geojson"),
    ]:
        with pytest.raises(ValueError, match=f"not of type {kind}"):
            parse_cell(text, ColumnType(kind))


def test_values_of_other_formats():
    assert convert(7, ColumnType.STRING) == "7"
    assert convert("7", ColumnType.INT) == 7
    assert convert(7.0, ColumnType.INT) == 7
    assert convert(7, ColumnType.FLOAT) == 7.0
    assert convert(None, ColumnType.INT) is None
    assert convert({"type": "Point", "coordinates": [1, 2]}, ColumnType.GEOJSON).value
    for value, kind in [(7.5, "int"), (True, "int"), (1, "bool"), ([1], "string"), (1e30, "int"), ("x", "bytes")]:
        if kind == "string":
            assert convert(value, ColumnType.STRING) == "[1]"
            continue
        with pytest.raises(ValueError):
            convert(value, ColumnType(kind))


def test_types_are_given_by_column():
    assert parse_types(["a=int", "b=c=json"]) == {"a": ColumnType.INT, "b=c": ColumnType.JSON}
    for wrong in (["a"], ["=int"], ["a=integer"], ["a=int", "a=float"]):
        with pytest.raises(Failure) as raised:
            parse_types(wrong)
        assert raised.value.code is ExitCode.USAGE


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.binary(), inner),
    max_leaves=20,
)


@given(values)
def test_json_loses_nothing(value):
    text = dumps(value)
    assert "\n" not in text
    again = from_json(json.loads(text))
    assert repr(again) == repr(value), "also the types"


def test_json_of_particular_values():
    assert to_json({"$bytes": 1}) == {"$map": [["$bytes", 1]]}
    assert from_json(to_json({"$bytes": "AA=="})) == {"$bytes": "AA=="}
    assert from_json({"$hll": "AAE="}) == HLL(b"\0\1")
    assert from_json(json.loads(dumps(HLL(b"\0\1")))) == HLL(b"\0\1")
    assert from_json({"$other": 1}) == {"$other": 1}
    for wrong in [{"$bytes": 1}, {"$bytes": "A"}, {"$float": "1"}, {"$map": 1}, {"$map": [1]}, {"$map": [[[1], 2]]}]:
        with pytest.raises(ValueError):
            from_json(wrong)
    with pytest.raises(ValueError):
        to_json(object())


@given(st.sets(st.integers(1, 200)))
def test_runs_say_the_same_as_their_numbers(numbers):
    found = runs(sorted(numbers))
    assert [number for first, last in found for number in range(first, last + 1)] == sorted(numbers)
    assert all(this[1] + 1 < following[0] for this, following in itertools.pairwise(found))
