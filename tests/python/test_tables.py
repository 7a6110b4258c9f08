"""Tables as records: `write_table`. Each case runs on both kinds of sessions."""

import array
import asyncio
import ctypes
import datetime
import decimal
import logging
import math
import re
import resource
import signal
import threading

import numpy as np
import pytest
from conftest import Alarm, eventually, logged

import aerolane
from aerolane import (
    DataSet,
    Expiration,
    FailedRow,
    InvalidArgumentError,
    InvalidNamespaceError,
    Key,
    ResultCode,
    TableSummary,
    WriterClosedError,
)
from aerolane.exceptions import BatchFailedError
from aerolane.native import RecordExistsAction

LONG = {"attempt_timeout": 60, "record_ttl": 60}


@pytest.fixture
def dataset(set_name):
    return DataSet("test", set_name)


@pytest.fixture
def write(either, session, dataset):
    """`write(table, key="id", **arguments)`: writes it, and gives the summary."""

    def write(table, *, key="id", dataset=dataset, **arguments):
        return either.run(session.write_table(table, dataset, key=key, **{**LONG, **arguments}))

    return write


@pytest.fixture
def bins(client, dataset):
    """`bins(key)`: the bins of a record; `None`: there is none."""

    def bins(key):
        (row,) = client.batch_read_blocking([dataset.id(key)])
        return row.record.bins if row.is_ok else None

    return bins


def counts(summary):
    return summary.rows, summary.ok, summary.failed, summary.skipped


def test_dicts_of_sequences(write, bins):
    table = {
        "id": range(4),
        "i": [1, None, -3, 2**63],
        "s": ("a", "b", None, "ü"),
        "n": np.arange(4.0),
        "l": [[1], {}, {"a": None}, b""],
    }
    summary = write(table)
    assert isinstance(summary, TableSummary) and counts(summary) == (4, 4, 0, 0)
    assert summary.in_doubt == summary.outstanding == 0 and summary.elapsed > 0
    assert len(summary.failures) == 0 and summary.raise_for_failures() is None
    assert bins(0) == {"i": 1, "s": "a", "n": 0.0, "l": [1]}
    assert bins(1) == {"s": "b", "n": 1.0, "l": {}}
    assert bins(2) == {"i": -3, "n": 2.0, "l": {"a": None}}
    assert bins(3) == {"i": -(2**63), "s": "ü", "n": 3.0, "l": b""}, "as put() writes it"


@pytest.mark.parametrize(
    "keys, expected",
    [
        ([1, -1], [1, -1]),
        (["a", "ü"], ["a", "ü"]),
        ([b"a", b"\0"], [b"a", b"\0"]),
        (np.array([5, 6], "u2"), [5, 6]),
        (np.array(["x", "longer"]), ["x", "longer"]),
        (np.array([b"x", b"yy"]), [b"x", b"yy"]),
        (array.array("q", [7, 8]), [7, 8]),
        ([1, "mixed"], [1, "mixed"]),
    ],
)
def test_keys(write, bins, keys, expected):
    assert counts(write({"id": keys, "n": [0, 1]})) == (2, 2, 0, 0)
    assert [bins(key) for key in expected] == [{"n": 0}, {"n": 1}]


def test_structured_arrays(write, bins):
    dtype = np.dtype(
        [
            ("id", "i4"),
            ("big", ">i8"),
            ("u", "u8"),
            ("half", "f2"),
            ("f", "f4"),
            ("t", "?"),
            ("s", "S4"),
            ("w", "U3"),
            ("v", "V2"),
            ("when", "M8[us]"),
            ("took", "m8[s]"),
        ],
        align=True,
    )
    rows = np.zeros(3, dtype)
    rows["id"], rows["big"], rows["u"] = [1, 2, 3], [-1, 2**40, 0], [0, 2**64 - 1, 5]
    rows["half"], rows["f"], rows["t"] = [0.5, -65504, math.inf], [1.5, 0, 0], [True, False, True]
    rows["s"], rows["w"], rows["v"] = [b"ab", b"abcd", b""], ["ü€𝄞", "", "x"], [b"\1\2", b"", b"x"]
    rows["when"] = [np.datetime64("1970-01-01T00:00:01"), np.datetime64("NaT"), np.datetime64("1969-12-31T23:59:59")]
    rows["took"] = [5, -5, np.timedelta64("NaT")]
    for table in (rows, rows[::-1], np.repeat(rows, 2)[::2]):
        assert counts(write(table, nulls="delete")) == (3, 3, 0, 0)
        one = {
            "big": -1,
            "u": 0,
            "half": 0.5,
            "f": 1.5,
            "t": True,
            "s": b"ab",
            "w": "ü€𝄞",
            "v": b"\1\2",
            "when": 10**6,
            "took": 5,
        }
        assert bins(1) == one
        two = {
            "big": 2**40,
            "u": -1,
            "half": -65504.0,
            "f": 0.0,
            "t": False,
            "s": b"abcd",
            "w": "",
            "v": b"\0\0",
            "took": -5,
        }
        assert bins(2) == two
        assert bins(3)["half"] == math.inf and bins(3)["when"] == -(10**6) and "took" not in bins(3)


def test_arrow_types(write, bins):
    pa = pytest.importorskip("pyarrow")
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3, 456789)
    days = (day - datetime.date(1970, 1, 1)).days
    us = int((moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=1))
    columns = [
        *[(getattr(pa, name)(), [-5], -5) for name in ("int8", "int16", "int32", "int64")],
        *[(getattr(pa, name)(), [200], 200) for name in ("uint8", "uint16", "uint32", "uint64")],
        (pa.uint64(), [2**64 - 1], -1),
        (pa.float16(), [np.float16(1.5)], 1.5),
        (pa.float32(), [0.25], 0.25),
        (pa.float64(), [1e300], 1e300),
        (pa.bool_(), [True], True),
        *[(getattr(pa, name)(), ["ünï"], "ünï") for name in ("utf8", "large_utf8", "string_view")],
        (pa.string_view(), ["longer than twelve bytes"], "longer than twelve bytes"),
        *[(getattr(pa, name)(), [b"\0\1"], b"\0\1") for name in ("binary", "large_binary", "binary_view")],
        (pa.binary(3), [b"abc"], b"abc"),
        (pa.date32(), [day], days),
        (pa.date64(), [day], days * 86_400_000),
        (pa.time32("ms"), [datetime.time(0, 0, 1)], 1000),
        (pa.time64("ns"), [datetime.time(0, 0, 1)], 10**9),
        (pa.timestamp("us"), [moment], us),
        (pa.timestamp("ms", "Europe/Berlin"), [moment.replace(tzinfo=datetime.UTC)], us // 1000),
        (pa.duration("s"), [datetime.timedelta(hours=1)], 3600),
        (pa.list_(pa.int32()), [[1, None, 3]], [1, None, 3]),
        (pa.large_list(pa.utf8()), [["a", "b"]], ["a", "b"]),
        (pa.list_view(pa.int64()), [[1, 2]], [1, 2]),
        (pa.list_(pa.float32(), 2), [[0.5, 1]], [0.5, 1.0]),
        (pa.struct({"a": pa.int8(), "b": pa.list_(pa.bool_())}), [{"a": 1, "b": [True]}], {"a": 1, "b": [True]}),
        (pa.struct({"a": pa.int8()}), [{"a": None}], {"a": None}),
        (pa.map_(pa.utf8(), pa.int64()), [[("x", 1), ("y", None)]], {"x": 1, "y": None}),
        (pa.map_(pa.int64(), pa.uint64()), [[(1, 2**64 - 1)]], {1: -1}),
        (pa.dictionary(pa.int8(), pa.utf8()), ["word"], "word"),
        (pa.list_(pa.dictionary(pa.uint32(), pa.int64())), [[7, 7]], [7, 7]),
    ]
    assert columns
    # A null and another value around each value, and slices, whose buffers begin before the first row.
    names = [f"c{place}" for place in range(len(columns))]
    arrays = [pa.array([None, value[0], None], kind) for kind, value, _ in columns]
    batch = pa.record_batch([pa.array([0, 1, 2]), *arrays], names=["id", *names])
    table = pa.Table.from_batches([batch.slice(0, 1), batch.slice(1)])
    expected = {name: value for name, (_, _, value) in zip(names, columns, strict=True)}
    for sliced in (table, batch, table.to_reader(), {name: table[name] for name in table.column_names}):
        assert counts(write(sliced)) == (3, 1, 0, 2), "rows of nulls have nothing to write"
        assert bins(1) == expected and bins(0) is None
    assert write(pa.table({"id": [1], "n": pa.nulls(1)}), nulls="delete").ok == 1
    assert bins(1) == expected


def test_random_nested_values(write, bins):
    """Against what Python makes of the same values."""
    pa = pytest.importorskip("pyarrow")
    kind = pa.list_(
        pa.struct(
            {"k": pa.string(), "v": pa.large_list(pa.list_view(pa.int16())), "m": pa.map_(pa.string(), pa.binary())}
        )
    )
    values = [
        [
            {"k": f"{row}-{item}", "v": [[row, None], []] * (item % 3), "m": [(str(item), bytes(item))] * (item % 2)}
            for item in range(row % 7)
        ]
        for row in range(300)
    ]
    values[13] = None
    table = pa.table({"id": range(300), "x": pa.array(values, kind)})
    assert counts(write(table.slice(7, 200))) == (200, 199, 0, 1)
    for row in range(7, 207, 9):
        expected = values[row] and [{**item, "m": dict(item["m"])} for item in values[row]]
        assert bins(row) == ({"x": expected} if expected is not None else None)


def test_frames_of_others(write, bins):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"id": ["a", "b"], "n": [1, None], "c": ["x", "a text of more than twelve bytes"], "l": [[1.5], []]}
    )
    frame = frame.with_columns(pl.col("c").cast(pl.Categorical), d=pl.date(2020, 1, 1), s=pl.struct("n", "c"))
    assert counts(write(frame)) == (2, 2, 0, 0)
    assert bins("a") == {"n": 1, "c": "x", "l": [1.5], "d": 18262, "s": {"n": 1, "c": "x"}}
    assert bins("b")["s"] == {"n": None, "c": "a text of more than twelve bytes"}
    assert counts(write({"id": frame["id"], "m": frame["n"]}, nulls="delete")) == (2, 2, 0, 0)
    assert bins("a")["m"] == 1 and "m" not in bins("b")


def test_columns_of_nulls(write, bins):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"id": [1, 2], "a": [None, None], "l": [[None], []], "s": [{"x": None, "n": 1}] * 2})
    assert frame.schema["a"] == pl.Null
    assert counts(write(frame)) == (2, 2, 0, 0)
    assert bins(1) == {"l": [None], "s": {"x": None, "n": 1}} and bins(2)["l"] == []
    pa = pytest.importorskip("pyarrow")
    assert counts(write(pa.table({"id": [3], "n": [1], "a": pa.nulls(1)}))) == (1, 1, 0, 0)
    assert bins(3) == {"n": 1}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([None, datetime.date(2020, 1, 1)], "datetime.date"),
        ([datetime.datetime(2020, 1, 1)], "datetime.datetime"),
        ((datetime.time(1),), "datetime.time"),
        ([datetime.timedelta(1)], "datetime.timedelta"),
        ([decimal.Decimal("1.5"), 2], "decimal.Decimal"),
    ],
)
def test_dates_and_decimals_as_objects_are_refused_before_anything_is_written(write, bins, values, name):
    rows = list(range(len(values)))
    with pytest.raises(TypeError, match=f"the column 'when' cannot be written: Aerospike has no {name}: write ints"):
        write({"id": rows, "when": values})
    with pytest.raises(TypeError, match=f"the key column 'when' is {name}"):
        write({"when": values, "n": rows}, key="when")
    assert bins(0) is None
    # Where the column is left out, it does not matter.
    assert counts(write({"id": rows, "n": rows, "when": values}, bins=["n"])) == (len(rows), len(rows), 0, 0)


def test_objects_of_polars_are_refused(write, bins):
    """polars hands over their addresses."""
    pl = pytest.importorskip("polars")
    objects = pl.Series("o", [object(), object()], dtype=pl.Object)
    for table in [pl.DataFrame({"id": [1, 2], "o": objects}), {"id": [1, 2], "o": objects}]:
        with pytest.raises(TypeError, match="the column 'o' cannot be written: polars hands over the addresses"):
            write(table)
        with pytest.raises(TypeError, match=r"the key column 'o' is polars\.Object"):
            write(table, key="o")
    assert bins(1) is None
    assert counts(write(pl.DataFrame({"id": [1, 2], "n": [1, 2], "o": objects}), bins=["n"])) == (2, 2, 0, 0)


def test_pandas(write, bins):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"id": [1, 2], "s": ["a", None], "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    assert counts(write(frame, bins=["s"])) == (2, 1, 0, 1)
    assert bins(1) == {"s": "a"}


def test_duckdb(write, bins):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(
        "SELECT i AS id, i * 2 AS n, 'row ' || i AS s, [i, i + 1] AS l, {'a': i} AS m FROM range(5000) t(i)"
    )
    assert counts(write(relation)) == (5000, 5000, 0, 0)
    assert bins(4999) == {"n": 9998, "s": "row 4999", "l": [4999, 5000], "m": {"a": 4999}}


def test_which_columns_become_which_bins(write, bins):
    table = {"id": [1], "a": [1], "a name of more than fifteen bytes": ["x"]}
    assert write(table, bins=["a"]).ok == 1 and bins(1) == {"a": 1}
    assert write(table, bins={"a name of more than fifteen bytes": "short", "id": "id"}).ok == 1
    assert bins(1) == {"a": 1, "short": "x", "id": 1}


def test_nulls(write, bins):
    write({"id": [1], "a": [1], "b": [2]})
    assert counts(write({"id": [1], "a": [None], "b": [3]})) == (1, 1, 0, 0)
    assert bins(1) == {"a": 1, "b": 3}
    assert counts(write({"id": [1], "a": [None], "b": [4]}, nulls="delete")) == (1, 1, 0, 0)
    assert bins(1) == {"b": 4}


def test_what_goes_over_the_policy(write, client, dataset):
    for ttl, seconds in (
        (100, 100),
        (datetime.timedelta(minutes=5), 300),
        (Expiration.seconds(1000), 1000),
        (-1, None),
    ):
        assert write({"id": [1], "n": [1]}, ttl=ttl).ok == 1
        left = client.get_blocking(dataset.id(1)).ttl
        assert left is None if seconds is None else seconds - 90 < left <= seconds
    summary = write({"id": [1, 2], "n": [1, 1]}, record_exists_action=RecordExistsAction.CREATE_ONLY)
    assert counts(summary) == (2, 1, 1, 0)
    assert summary.failures[0].result_code is ResultCode.KEY_EXISTS_ERROR


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({"key": "x"}, KeyError, "no column 'x'.*'id', 'n'"),
        ({"bins": ["n", "m"]}, KeyError, "no column 'm'"),
        ({"bins": ["n", "n"]}, InvalidArgumentError, "two columns become the bin 'n'"),
        ({"bins": {"n": "b", "id": "b"}}, InvalidArgumentError, "two columns become the bin 'b'"),
        ({"bins": []}, InvalidArgumentError, "there are no columns to write"),
        ({"bins": "n"}, TypeError, "not one name"),
        ({"bins": [1]}, TypeError, "bins must be a list"),
        ({"bins": {"n": "x" * 16}}, InvalidArgumentError, "16 bytes"),
        ({"bins": {"n": ""}}, InvalidArgumentError, "has no name"),
        ({"nulls": "keep"}, InvalidArgumentError, "'omit'.*'delete'"),
        ({"ttl": -3}, InvalidArgumentError, "seconds"),
        ({"ttl": "1"}, TypeError, "seconds"),
        ({"keep_failures": -1}, OverflowError, "negative"),
        ({"dataset": "test"}, TypeError, "DataSet"),
        ({"dataset": DataSet("nowhere", "s")}, InvalidNamespaceError, "nowhere"),
        ({"max_outstanding_records": 0}, InvalidArgumentError, "max_outstanding_records"),
        ({"what": 1}, TypeError, "unexpected keyword argument 'what'"),
    ],
)
def test_arguments(write, bins, arguments, error, text):
    with pytest.raises(error, match=text):
        write({"id": [1], "n": [1]}, **arguments)
    assert bins(1) is None


class Lying:
    """A sequence whose items are not there."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        raise RuntimeError(f"no item {index}")


@pytest.mark.parametrize(
    "table, error, text",
    [
        (None, TypeError, "a table is a dict.*not NoneType"),
        ([{"id": 1}], TypeError, "a table is a dict.*not list"),
        (np.arange(3), TypeError, "must be structured"),
        (np.zeros((2, 2), [("id", "i8")]), InvalidArgumentError, "2 dimensions"),
        (np.ma.zeros(2, [("id", "i8"), ("n", "i8")]), TypeError, "masked"),
        (np.zeros(2, [("id", "i8"), ("c", "c16")]), TypeError, "column 'c' cannot be written.*complex128"),
        (np.zeros(2, [("id", "i8"), ("c", "O")]), TypeError, "column 'c' cannot be written.*Python objects"),
        (np.zeros(2, [("id", "f8"), ("n", "i8")]), TypeError, "key column 'id' is float64"),
        (np.zeros(2, [("id", "?"), ("n", "i8")]), TypeError, "key column 'id' is bool"),
        ({"id": [1], "n": [1, 2]}, InvalidArgumentError, "'id' has 1 rows, and 'n' has 2"),
        ({"id": [1], "n": "x"}, TypeError, "column 'n' must be a sequence.*not str"),
        ({"id": [1], "n": {1}}, TypeError, "column 'n' must be a sequence.*not set"),
        ({1: [1]}, TypeError, "names of type str"),
        ({"id": np.zeros((2, 2)), "n": [1, 2]}, InvalidArgumentError, "column 'id' has 2 dimensions"),
        ({"id": [1], "x" * 16: [1]}, InvalidArgumentError, "16 bytes"),
        ({}, KeyError, "no column 'id'"),
    ],
)
def test_tables_that_cannot_be_written(write, table, error, text):
    with pytest.raises(error, match=text):
        write(table)


def test_arrow_columns_that_cannot_be_written(write, bins):
    pa = pytest.importorskip("pyarrow")
    from decimal import Decimal

    for column, text in [
        (pa.array([Decimal("1.50")]), "column 'n' cannot be written.*decimal.*float64"),
        (pa.array([[Decimal("1.50")]]), "decimal"),
        (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "interval"),
        (pa.RunEndEncodedArray.from_arrays([1], [5]), "run-end"),
        (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), "union"),
        (pa.array([[(1.5, 1)]], pa.map_(pa.float64(), pa.int64())), "keys of maps"),
        (pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), "same name"),
    ]:
        table = pa.table({"id": [1], "n": column, "m": [1]})
        with pytest.raises(TypeError, match=text):
            write(table)
        assert bins(1) is None, "before anything is written"
    assert write(table, bins=["m"]).ok == 1, "columns that are not asked for do not matter"
    with pytest.raises(InvalidArgumentError, match="two columns are named 'id'"):
        write(pa.Table.from_arrays([pa.array([1]), pa.array([1])], names=["id", "id"]))
    with pytest.raises(TypeError, match=r"key column 'id'.*'\+l'"):
        write(pa.table({"id": [[1]], "n": [1]}))
    with pytest.raises(InvalidArgumentError, match="not a table"):
        write(pa.array([1]))


def test_rows_that_cannot_be_sent(write, bins):
    table = {"id": [1, None, "x", 1.5, True, 2**64], "n": [[1], [1], object(), [1], [1], [1]]}
    summary = write(table, bins=["n"])
    assert counts(summary) == (6, 1, 5, 0) and summary.in_doubt == 0
    failures = list(summary.failures)
    assert [(row.row, row.key) for row in failures] == [(1, None), (2, "x"), (3, None), (4, None), (5, None)]
    assert all(isinstance(row, FailedRow) and row.result_code is ResultCode.PARAMETER_ERROR for row in failures)
    assert failures[0].message.count("the key is null") == 1 and "bin 'n'" in failures[1].message
    assert "object" in failures[1].message and "64 bits" in failures[4].message
    assert summary.failures[-1] == failures[4]
    with pytest.raises(IndexError):
        summary.failures[5]
    with pytest.raises(BatchFailedError, match=r"5 of 6 rows.*row 1: .*null") as raised:
        summary.raise_for_failures()
    assert list(raised.value.records) == failures
    assert bins(1) == {"n": [1]} and bins("x") is None


def test_failures_are_a_table(write):
    pa = pytest.importorskip("pyarrow")
    summary = write({"id": ["a", "b", None], "n": [object(), 1, 1]})
    table = pa.table(summary.failures)
    assert table.column_names == ["row", "key", "result_code", "in_doubt", "message"]
    assert table["row"].to_pylist() == [0, 2] and table["key"].to_pylist() == ["a", None]
    assert table["result_code"].to_pylist() == [4, 4] and table["in_doubt"].to_pylist() == [False, False]
    assert pa.table(write({"id": [1], "n": [1]}).failures).num_rows == 0
    assert pa.table(write({"id": [1, "a", b"b"], "n": [object()] * 3}).failures)["key"].to_pylist() == [
        "1",
        "a",
        "[62]",
    ]


def test_failures_are_bounded(write):
    table = {"id": [None] * 50, "n": [1] * 50}
    summary = write(table, keep_failures=10)
    assert summary.failed == 50 and [row.row for row in summary.failures] == list(range(10))
    assert len(write(table).failures) == 50 and len(write(table, keep_failures=0).failures) == 0


def test_records_that_are_too_large(write, bins):
    summary = write({"id": [1, 2], "b": [bytes(9 << 20), b"small"]})
    assert counts(summary) == (2, 1, 1, 0)
    assert summary.failures[0][:3] == (0, 1, ResultCode.RECORD_TOO_BIG) and bins(2) == {"b": b"small"}


def test_rows_of_one_key_keep_their_order(write, bins):
    rows = 5000
    table = {"id": [row % 7 for row in range(rows)], "n": np.arange(rows)}
    assert write(table).ok == rows
    for key in range(7):
        assert bins(key)["n"] == max(row for row in range(rows) if row % 7 == key)


def test_bounds_of_the_writer(write, bins):
    table = {"id": np.arange(3000), "b": [bytes(100)] * 3000}
    assert write(table, max_outstanding_records=3).ok == 3000
    assert write(table, max_outstanding_bytes=1000).ok == 3000
    assert write({"id": [1], "b": [bytes(5000)]}, max_outstanding_bytes=1000).ok == 1
    assert len(bins(1)["b"]) == 5000
    # A row that takes all the room, between others for the same node.
    mixed = {"id": np.arange(300), "b": [bytes(5000 if row % 7 == 3 else 20) for row in range(300)]}
    assert write(mixed, max_outstanding_bytes=1000).ok == 300


def test_beside_other_records_of_a_writer(either, session, dataset, bins):
    heard = []

    async def both(writer):
        outcome = await writer.put(dataset.id("one"), {"n": 1})
        summary = await writer.write_table({"id": [1, 2], "n": [1, 2]}, dataset, key="id")
        await outcome
        return summary

    writer = session.writer(on_outcome=heard.append, **LONG)
    if not isinstance(session, aerolane.Session):
        outcome = writer.put(dataset.id("one"), {"n": 1})
        summary = writer.write_table({"id": [1, 2], "n": [1, 2]}, dataset, key="id")
        outcome.result()
    else:
        summary = either.run(both(writer))
    assert counts(summary) == (2, 2, 0, 0)
    either.run(writer.flush())
    assert [outcome.key for outcome in heard] == [dataset.id("one")], "rows of tables have their summary"
    assert writer.progress()[:3] == (3, 3, 0)
    either.run(writer.close())
    with pytest.raises(WriterClosedError):
        either.run(writer.write_table({"id": [1], "n": [1]}, dataset, key="id"))


def test_a_producer_that_fails(write, bins):
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"id": [1], "n": [1]})
        raise ValueError("the file is torn")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int64(), "n": pa.int64()}), batches())
    with pytest.raises(InvalidArgumentError, match="the file is torn") as raised:
        write(reader)
    summary = raised.value.summary
    assert counts(summary) == (1, 1, 0, 0) and bins(1) == {"n": 1}
    assert "1 rows: 1 ok" in raised.value.__notes__[0]


def test_parts_are_let_go(write):
    """No more than a few parts of a stream are there at the same time."""
    pa = pytest.importorskip("pyarrow")
    size, most = 60, []

    def batches():
        for number in range(size):
            most.append(pa.total_allocated_bytes())
            yield pa.record_batch(
                {"id": pa.array([number]), "b": pa.array([b"x"]), "filler": pa.array([bytes(1 << 20)])}
            )

    schema = pa.schema({"id": pa.int64(), "b": pa.binary(), "filler": pa.binary()})
    assert write(pa.RecordBatchReader.from_batches(schema, batches()), bins=["b"]).ok == size
    assert max(most) - most[0] < 20 << 20


class Broken:
    """An Arrow array that somebody has damaged."""

    def __init__(self, batch, damage):
        self.schema, self.array = batch.__arrow_c_array__()
        damage(self.fields(self.array, b"arrow_array"))

    def __arrow_c_array__(self, requested_schema=None):
        return self.schema, self.array

    @staticmethod
    def fields(capsule, name):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        return Array.from_address(pointer(capsule, name))


class Array(ctypes.Structure):
    pass


Array._fields_ = [
    *[(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")],
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
]


def child(place, **fields):
    def damage(array):
        for name, value in fields.items():
            setattr(array.children[place].contents, name, value)

    return damage


def no_buffer(place, buffer):
    def damage(array):
        array.children[place].contents.buffers[buffer] = None

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda array: setattr(array, "length", -1),
        lambda array: setattr(array, "length", 4),
        lambda array: setattr(array, "offset", -1),
        lambda array: setattr(array, "offset", 2**63 - 1),
        lambda array: setattr(array, "n_children", 2),
        lambda array: setattr(array, "n_children", -1),
        lambda array: setattr(array, "n_buffers", 0),
        child(0, length=-1),
        child(0, length=2**62),
        child(0, n_buffers=3),
        child(0, n_buffers=-1),
        child(0, offset=2**63 - 1),
        no_buffer(0, 1),
        no_buffer(1, 1),
        no_buffer(1, 2),
        child(1, n_buffers=2),
        child(2, n_children=0),
        child(2, null_count=1),
        child(3, n_buffers=1),
    ],
)
def test_damaged_arrays_are_refused(write, damage):
    pa = pytest.importorskip("pyarrow")
    columns = {"id": [1, 2, 3], "s": ["a", "b", "c"], "l": [[1], [2], [3]], "v": pa.array(["x"] * 3, pa.string_view())}
    batch = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
    with pytest.raises(InvalidArgumentError, match=r"malformed|missing"):
        write(Broken(batch, damage))


def test_damaged_values_are_rows_that_fail(write, bins):
    pa = pytest.importorskip("pyarrow")

    def offsets(*values):
        return pa.py_buffer(np.array(values, "i4"))

    texts = pa.Array.from_buffers(pa.utf8(), 3, [None, offsets(0, 5, 2, 3), pa.py_buffer(b"abc")])
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 3, [None, offsets(0, 1, 99, 1)], children=[pa.array([7])])
    words = pa.DictionaryArray.from_arrays(pa.array([0, 5, 0]), ["w"], safe=False)
    latin = pa.Array.from_buffers(pa.utf8(), 3, [None, offsets(0, 1, 2, 3), pa.py_buffer(b"a\xffc")])
    views = np.zeros(3, [("len", "i4"), ("front", "S4"), ("buffer", "i4"), ("at", "i4")])
    views[1] = (100, b"", 7, 0)
    views = pa.Array.from_buffers(pa.string_view(), 3, [None, pa.py_buffer(views)])
    for column, failed in ((texts, {0, 1}), (lists, {1, 2}), (words, {1}), (latin, {1}), (views, {1})):
        summary = write(pa.table({"id": [0, 1, 2], "n": column}))
        assert {row.row for row in summary.failures} == failed, column.type
        assert all("bin 'n'" in row.message for row in summary.failures)


def test_sequences_that_fail(write):
    summary = write({"id": [1, 2, 3], "n": Lying()})
    assert counts(summary) == (3, 0, 3, 0) and "no item 1" in summary.failures[1].message


async def test_the_loop_goes_on(new_cluster):
    cluster = new_cluster(nodes=1)
    async with aerolane.Client(cluster.seeds) as client:
        session = client.create_session()
        table = {"id": np.arange(20_000), "n": np.arange(20_000)}
        turns, over = 0, False

        async def count():
            nonlocal turns
            while not over:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        summary = await session.write_table(table, DataSet("test", "loop"), key="id", **LONG)
        over = True
        await counting
        assert summary.ok == 20_000 and turns > 10


@pytest.mark.parametrize("how", ["task", "gather", "timeout"])
async def test_a_cancelled_call_ends_the_table(new_cluster, how):
    cluster = new_cluster(nodes=1)
    pa = pytest.importorskip("pyarrow")
    reached, go_on, given = threading.Event(), threading.Event(), []

    def batches():
        for number in range(1000):
            given.append(number)
            if number == 3:
                reached.set()
                go_on.wait(60)
            yield pa.record_batch({"id": [number], "n": [number]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int64(), "n": pa.int64()}), batches())
    cancels = asyncio.Event()

    async def cancelled(call):
        """Cancels the call once the event is set."""
        if how == "timeout":
            async with asyncio.timeout(None) as limit:
                asyncio.ensure_future(cancels.wait()).add_done_callback(lambda _: limit.reschedule(0))
                await call
        task = asyncio.gather(call, asyncio.sleep(60)) if how == "gather" else asyncio.ensure_future(call)
        asyncio.ensure_future(cancels.wait()).add_done_callback(lambda _: task.cancel())
        await task

    with logged("aerolane.table", level=logging.WARNING) as told:
        async with aerolane.Client(cluster.seeds) as own:
            session = own.create_session()
            call = session.write_table(reader, DataSet("test", "c"), key="id", **LONG)
            waiting = asyncio.ensure_future(cancelled(call))
            await asyncio.get_running_loop().run_in_executor(None, reached.wait, 60)
            cancels.set()
            with pytest.raises(TimeoutError if how == "timeout" else asyncio.CancelledError) as raised:
                await waiting
            error = raised.value.__cause__ if how == "timeout" else raised.value
            summary = error.summary
            assert (summary.rows, summary.ok + summary.outstanding, summary.failed) == (3, 3, 0)
            assert error.__notes__ == [f"while writing a table: {repr(summary).removeprefix('<TableSummary ')[:-1]}"]
            go_on.set()
            while (before := len(given)) and not await asyncio.sleep(0.2) and len(given) > before:
                pass
            assert len(given) < 1000, "nobody reads on"
            assert await session.get(Key("test", "c", 0)) is not None, "what was handed over is written"
        eventually(lambda: told)
    (line,) = told
    counts = re.fullmatch(
        r"a call of write_table was cancelled: (\d+) rows: (\d+) ok, 0 failed \(0 in doubt\), 0 skipped", line
    )
    assert counts and 3 <= int(counts[1]) == int(counts[2]) <= len(given), line


@pytest.mark.usefixtures("alarm")
def test_an_interrupt_ends_the_table(new_cluster):
    cluster = new_cluster(nodes=1)
    pa = pytest.importorskip("pyarrow")

    def batches():
        for number in range(100_000):
            if number == 50:
                signal.raise_signal(signal.SIGALRM)
            yield pa.record_batch({"id": [number], "n": [number]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int64(), "n": pa.int64()}), batches())
    with aerolane.SyncClient(cluster.seeds) as client, pytest.raises((Alarm, InvalidArgumentError)) as raised:
        client.create_session().write_table(reader, DataSet("test", "i"), key="id", **LONG)
    summary = raised.value.summary
    assert 0 < summary.rows < 100_000 and summary.ok + summary.outstanding <= summary.rows


def test_closing_the_client(new_cluster):
    cluster = new_cluster(nodes=1)
    pa = pytest.importorskip("pyarrow")
    client = aerolane.SyncClient(cluster.seeds)
    client.connect()

    def batches():
        for number in range(100):
            if number == 5:
                client.close()
            yield pa.record_batch({"id": [number], "n": [number]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int64(), "n": pa.int64()}), batches())
    with pytest.raises(aerolane.exceptions.ClientClosedError) as raised:
        client.create_session().write_table(reader, DataSet("test", "x"), key="id", **LONG)
    assert raised.value.summary.rows < 100


async def test_native_clients(client, dataset):
    table = {"id": [1, 2], "n": [1, 2]}
    assert (await client.write_table(table, dataset, key="id", **LONG)).ok == 2
    assert client.write_table_blocking(table, dataset, key="id", **LONG).ok == 2
    writer = client.writer_blocking(**LONG)
    assert writer.write_table(table, dataset, key="id", policy=None).ok == 2
    writer.close()


def test_failures_of_the_server(new_cluster):
    """Rows in flight when the node goes are in doubt or not, and each is counted once."""
    cluster = new_cluster(nodes=1)
    with aerolane.SyncClient(cluster.seeds) as client:
        session = client.create_session()
        cluster.stop_node(cluster.nodes[0])
        summary = session.write_table(
            {"id": [1, 2, 3], "n": [1, 2, 3]}, DataSet("test", "s"), key="id", attempt_timeout=0.2, record_ttl=0.5
        )
    assert counts(summary) == (3, 0, 3, 0) and [row.key for row in summary.failures] == [1, 2, 3]


@pytest.mark.own_process
def test_memory_does_not_grow_with_the_table(client, set_name):
    """A stream of 80 MB, in parts of half a megabyte."""
    pa = pytest.importorskip("pyarrow")
    text = pa.array([f"{n:0500}" for n in range(1000)])
    schema = pa.schema([("id", pa.int64()), ("s", pa.utf8())])

    def written(parts):
        batches = (pa.record_batch([pa.array(range(1000)), text], schema=schema) for _ in range(parts))
        table = pa.RecordBatchReader.from_batches(schema, batches)
        return client.write_table_blocking(table, DataSet("test", set_name), key="id", **LONG)

    assert counts(written(20)) == (20_000, 20_000, 0, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert counts(written(160)) == (160_000, 160_000, 0, 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 << 10
