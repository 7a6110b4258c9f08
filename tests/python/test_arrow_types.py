"""Nested columns and dictionaries, and the frames of other libraries: there and back."""

import datetime
import math
import struct

import pytest

import aerolane
from aerolane import native

pa = pytest.importorskip("pyarrow")

NESTED = {
    "list": (pa.list_(pa.int64()), [[1, None, 3], [], None]),
    "large_list": (pa.large_list(pa.utf8()), [["a", "b"], [None], None]),
    "list_view": (pa.list_view(pa.int16()), [[1], [2, 3], None, []]),
    "large_list_view": (pa.large_list_view(pa.bool_()), [[True, False], None, []]),
    "fixed_size_list": (pa.list_(pa.float32(), 3), [[1.0, None, 0.5], None]),
    "lists of lists": (pa.list_(pa.large_list(pa.binary())), [[[b"x"], None, []], [], None]),
    "lists of times": (
        pa.list_(pa.timestamp("ms", "UTC")),
        [[datetime.datetime(2020, 2, 29, tzinfo=datetime.UTC)], None],
    ),
    "struct": (
        pa.struct([("x", pa.int8()), ("y", pa.string_view()), ("z", pa.list_(pa.date32()))]),
        [
            {"x": 1, "y": "a text of more than twelve bytes", "z": [datetime.date(2020, 1, 1)]},
            {"x": None, "y": None, "z": None},
            None,
        ],
    ),
    "structs in a list": (pa.list_(pa.struct([("a", pa.uint8())])), [[{"a": 1}, None, {"a": None}], None]),
    "map": (pa.map_(pa.utf8(), pa.float64()), [[("a", 1.0), ("b", None)], [], None]),
    "map of ints": (pa.map_(pa.int32(), pa.list_(pa.utf8())), [[(1, ["x"]), (2, None)], None]),
    "map with other names": (
        pa.map_(pa.field("k", pa.binary(), nullable=False), pa.field("v", pa.int64())),
        [[(b"a", 1)], None],
    ),
    "dictionary": (pa.dictionary(pa.int32(), pa.utf8()), ["a", "b", "a", None, "a"]),
    "dictionary of large texts": (pa.dictionary(pa.uint8(), pa.large_utf8()), ["a", None, "a"]),
    "dictionary of ints": (pa.dictionary(pa.int64(), pa.int16()), [5, 5, None, 7]),
    "dictionaries in lists": (pa.list_(pa.dictionary(pa.int8(), pa.utf8())), [["a", "b"], ["a"], None]),
    "null": (pa.null(), [None, None]),
}


def written(client, set_name, table):
    summary = client.write_table_blocking(table, aerolane.DataSet("test", set_name), key="id", attempt_timeout=60)
    assert summary.failed == 0
    return [native.Key("test", set_name, row) for row in table["id"].to_pylist()]


@pytest.mark.parametrize("name", NESTED)
def test_there_and_back(client, set_name, name):
    kind, values = NESTED[name]
    column = pa.array(values, kind) if kind != pa.null() else pa.nulls(len(values))
    # A column that each record has.
    table = pa.table({"id": range(len(values)), "n": range(len(values)), "v": column})
    keys = written(client, set_name, table)
    table = table.drop_columns("id")
    schema = table.schema
    for asked in (schema, {"n": "int64", "v": str(kind)}, {"n": pa.int64(), "v": kind}):
        if "other names" in name and asked is not schema:
            continue
        back = client.batch_read_blocking(keys, as_arrow=asked).to_pyarrow()
        back.validate(full=True)
        assert back.schema.equals(schema)
        assert back.to_pylist() == table.to_pylist()
        arrow = client.query_blocking(native.Statement("test", set_name)).to_arrow(asked, batch_rows=2, misfits="raise")
        back = arrow.to_pyarrow()
        back.validate(full=True)
        assert back.schema.equals(schema)
        assert sorted(back.to_pylist(), key=lambda row: row["n"]) == table.to_pylist()
    # Without a schema: the same values, in the types that the server knows.
    found = client.batch_read_blocking(keys, as_arrow=True).to_pyarrow()
    found.validate(full=True)
    assert found["n"].to_pylist() == list(range(len(values)))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("list<int8>", [1, 300, "x"], [1, None, None]),
        ("list<int8>", 5, None),
        ("list<int8>", {1: 2}, None),
        ("fixed_size_list<int64>[2]", [1, 2, 3], None),
        ("fixed_size_list<int64>[2]", [1, "x"], [1, None]),
        ("struct<a: int64, b: utf8>", {"a": "x", "c": 5}, {"a": None, "b": None}),
        ("struct<a: int64>", {1: 2, "a": 3}, {"a": 3}),
        ("struct<a: int64>", [1], None),
        ("map<utf8, int64>", {"a": 1, 2: 3}, None),
        ("map<utf8, int64>", {"a": "x"}, [("a", None)]),
        ("map<int8, int64>", {1: 5, 300: 6}, None),
        ("dictionary<utf8>", 5, None),
        ("dictionary<utf8>", [1], None),
        ("fixed_size_binary[2]", b"abc", None),
        ("fixed_size_binary[2]", "ab", b"ab"),
        ("float16", 65519.0, 65504.0),
        ("float16", 65520.0, None),
        ("float16", 1e300, None),
        ("float32", 1e300, None),
        ("float32", math.inf, math.inf),
        ("null", 5, None),
        ("list<null>", [1], [None]),
        ("json", [1, {"a": None}], '[1,{"a":null}]'),
        ("utf8", aerolane.GeoJSON('{"type":"Point","coordinates":[1,2]}'), '{"type":"Point","coordinates":[1,2]}'),
    ],
)
def test_what_fits(client, key, kind, value, expected):
    """What does not fit is null at its place; next to it nothing is lost."""
    client.put_blocking(key, {"v": value, "w": [1]})
    schema = {"w": "list<int64>", "v": kind}
    table = client.batch_read_blocking([key, key], as_arrow=schema).to_pyarrow()
    table.validate(full=True)
    assert table.to_pylist() == [{"w": [1], "v": expected}] * 2
    if expected != value and kind not in ("json", "utf8", "float16") and not isinstance(expected, bytes):
        strict = native.ArrowColumns(schema, misfits="raise")
        if kind != "struct<a: int64>" or not isinstance(value, dict):
            with pytest.raises(aerolane.InvalidArgumentError, match=r'bin "v" of the record with the key'):
                client.batch_read_blocking([key], as_arrow=strict)


def test_halves_are_rounded_as_numpy_rounds_them(client, set_name):
    numpy = pytest.importorskip("numpy")
    values = [
        0.1,
        1 / 3,
        2049.0,
        2051.0,
        1e-7,
        2.0**-25,
        2.0**-25 * 1.001,
        3 * 2.0**-25,
        -0.0,
        6.1e-05,
        65519.9,
        math.nan,
    ]
    keys = [native.Key("test", set_name, n) for n in range(len(values))]
    client.batch_write_blocking(keys, [{"v": value} for value in values])
    found = client.batch_read_blocking(keys, as_arrow={"v": "float16"}).to_pyarrow()["v"].to_pylist()
    expected = [numpy.float16(value) for value in values]
    assert [struct.pack("<e", value) for value in found[:-1]] == [struct.pack("<e", value) for value in expected[:-1]]
    assert math.isnan(found[-1])


def test_a_dictionary_that_is_full(client, set_name):
    keys = [native.Key("test", set_name, n) for n in range(200)]
    client.batch_write_blocking(keys, [{"v": f"text {n}"} for n in range(200)])
    found = client.batch_read_blocking(keys, as_arrow={"v": pa.dictionary(pa.int8(), pa.utf8())}).to_pyarrow()
    found.validate(full=True)
    assert found["v"].to_pylist() == [f"text {n}" for n in range(128)] + [None] * 72
    with pytest.raises(aerolane.InvalidArgumentError, match="dictionary"):
        client.batch_read_blocking(
            keys, as_arrow=native.ArrowColumns({"v": "dictionary<values=utf8, indices=int8>"}, misfits="raise")
        )


@pytest.mark.parametrize("depth", [1, 60])
def test_deep_types(client, key, depth):
    value, kind = 1, pa.int64()
    for _ in range(depth):
        value, kind = [value], pa.list_(kind)
    client.put_blocking(key, {"v": value})
    assert client.batch_read_blocking([key], as_arrow=True).to_pyarrow()["v"].to_pylist() == [value]
    assert client.batch_read_blocking([key], as_arrow={"v": kind}).to_pyarrow()["v"].to_pylist() == [value]


def test_types_that_are_too_deep(client, key):
    kind, value = pa.int64(), 1
    for _ in range(80):
        kind, value = pa.list_(kind), [value]
    with pytest.raises(TypeError, match="nested"):
        client.batch_read_blocking([key], as_arrow={"v": kind})
    with pytest.raises(TypeError):
        client.batch_read_blocking([key], as_arrow={"v": "list<" * 80 + "int64" + ">" * 80})
    client.put_blocking(key, {"v": value})
    with pytest.raises(aerolane.InvalidArgumentError, match='bin "v"'):
        client.batch_read_blocking([key], as_arrow=True)


FRAME = {
    "id": [0, 1, 2],
    "n": [1, -5, 2**62],
    "x": [0.5, 1e300, -0.0],
    "s": ["a", "ünï", "a text of more than twelve bytes"],
    "t": [True, False, True],
    "b": [b"x", b"\0\xff", b"more than twelve bytes"],
    "l": [[1, 2], [], [3]],
    "r": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}],
}


def read_back(client, set_name):
    """What the records have, with their keys."""
    return client.query_blocking(native.Statement("test", set_name)).to_arrow(key="id")


def write(client, set_name, table):
    keeping_keys = native.WritePolicy(send_key=True)
    dataset = aerolane.DataSet("test", set_name)
    summary = client.write_table_blocking(table, dataset, key="id", policy=keeping_keys, attempt_timeout=60)
    assert summary.failed == 0


def test_polars_frames_there_and_back(client, set_name):
    polars = pytest.importorskip("polars", reason="polars is not installed, or has no wheel for this Python")
    frame = polars.DataFrame(FRAME)
    write(client, set_name, frame)
    back = read_back(client, set_name).to_polars().sort("id").select(frame.columns)
    assert back.schema == frame.schema
    assert back.equals(frame)


def test_pandas_frames_there_and_back(client, set_name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FRAME)
    write(client, set_name, frame)
    back = read_back(client, set_name).to_pandas().sort_values("id", ignore_index=True)[list(FRAME)]
    assert pa.Table.from_pandas(back).to_pydict() == pa.Table.from_pandas(frame).to_pydict()


def test_duckdb_relations_there_and_back(client, set_name):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed, or has no wheel for this Python")
    table = pa.table(FRAME)
    with duckdb.connect() as database:
        database.register("there", table)
        write(client, set_name, database.sql("select * from there"))
        database.register("back", read_back(client, set_name))
        rows = database.execute("select id, n, x, s, t, b, l, r from back order by id").fetchall()
    assert [dict(zip(FRAME, row, strict=True)) for row in rows] == table.to_pylist()


def test_polars_reads_dictionaries_and_views(client, set_name):
    polars = pytest.importorskip("polars", reason="polars is not installed, or has no wheel for this Python")
    keys = [native.Key("test", set_name, n) for n in range(6)]
    client.batch_write_blocking(keys, [{"d": "ab"[n % 2], "v": f"text {n}", "m": {"x": n}} for n in range(6)])
    schema = {"d": "dictionary<utf8>", "v": "string_view", "m": "map<utf8, int64>", "e": "fixed_size_list<float32>[2]"}
    recordset = client.query_blocking(native.Statement("test", set_name))
    frame = recordset.to_arrow(schema, batch_rows=4).to_polars().sort("v")
    assert frame["d"].cast(polars.String).to_list() == list("ababab")
    assert frame["v"].to_list() == [f"text {n}" for n in range(6)]
    assert [dict(value) for value in frame["m"].to_list()] == [{"x": n} for n in range(6)]
    assert frame["e"].null_count() == 6
