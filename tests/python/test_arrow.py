"""Records as Arrow columns."""

import asyncio
import datetime
import gc
import signal
import subprocess
import sys
import threading

import pytest

import aerolane
from aerolane import native

pa = pytest.importorskip("pyarrow")

SCHEMA = {"i": "int64", "f": "float64", "s": "utf8", "b": "binary", "t": "bool"}


def bins(n):
    return {"i": n, "f": n / 4, "s": f"s{n}", "b": bytes([n] * (n % 3)), "t": n % 2 == 0, "other": [n]}


@pytest.fixture
def keys(client, set_name):
    """Keys of 20 records; every fifth does not exist."""
    keys = [native.Key("test", set_name, n) for n in range(20)]
    for n, key in enumerate(keys):
        if n % 5:
            client.put_blocking(key, bins(n))
    return keys


def reader_of(client, set_name, schema=SCHEMA, **options):
    recordset = client.query_blocking(native.Statement("test", set_name))
    return pa.RecordBatchReader.from_stream(recordset.to_arrow(schema, **options))


def test_batches(client, keys):
    records = client.batch_read_blocking(keys, as_arrow=SCHEMA)
    assert isinstance(records, native.ArrowRecords) and len(records) == 20
    assert records.result_codes == [0 if n % 5 else 2 for n in range(20)]
    table = pa.table(records)
    table.validate(full=True)
    types = [pa.int64(), pa.float64(), pa.utf8(), pa.binary(), pa.bool_()]
    assert table.schema == pa.schema(records) == pa.schema(list(zip(SCHEMA, types, strict=True)))
    expected = [{name: bins(n)[name] if n % 5 else None for name in SCHEMA} for n in range(20)]
    assert table.to_pylist() == expected
    assert pa.table(records) == table, "it can be taken over again"


async def test_batches_async(client, keys):
    records = await client.batch_read(keys, ["i"], as_arrow=[("i", "int64"), ("s", "large_utf8")])
    table = pa.table(records)
    assert table["i"].to_pylist() == [n if n % 5 else None for n in range(20)]
    assert table["s"].null_count == 20 and table["s"].type == pa.large_utf8()


def test_columns_outlive_what_they_came_from(client, keys):
    column = pa.table(client.batch_read_blocking(keys, as_arrow=SCHEMA))["s"]
    gc.collect()
    assert column.to_pylist() == [f"s{n}" if n % 5 else None for n in range(20)]


def test_nothing_is_copied(client, keys):
    records = client.batch_read_blocking(keys, as_arrow={"i": "int64"})
    one, other = (pa.table(records)["i"].chunk(0).buffers()[1].address for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (-(2**63), "int64", -(2**63)),
        (1.5, "int64", None),
        ("1", "int64", None),
        (True, "int64", None),
        (1.5, "float64", 1.5),
        (3, "float64", 3.0),
        (-(2**53), "float64", -(2.0**53)),
        (2**53 + 1, "float64", None),
        (False, "bool", False),
        (True, "bool", True),
        (1, "bool", None),
        ("äöü", "utf8", "äöü"),
        ("äöü", "large_utf8", "äöü"),
        ("", "utf8", ""),
        (b"abc", "utf8", None),
        (b"abc", "large_utf8", None),
        (b"\0\xff", "binary", b"\0\xff"),
        (b"", "binary", b""),
        ("abc", "large_binary", b"abc"),
        ([1], "binary", None),
        ({"a": 1}, "large_utf8", None),
    ],
)
def test_what_fits_a_column(client, key, value, kind, expected):
    client.put_blocking(key, {"v": value, "w": 1})
    table = pa.table(client.batch_read_blocking([key, key], as_arrow={"w": "int64", "v": kind}))
    table.validate(full=True)
    assert table.to_pylist() == [{"w": 1, "v": expected}] * 2


def test_schemas_of_others(client, keys):
    schema = pa.schema([pa.field("s", pa.large_utf8()), pa.field("i", pa.int64(), nullable=False), ("f", pa.float64())])
    table = pa.table(client.batch_read_blocking(keys, as_arrow=schema))
    assert table.schema.names == schema.names and table.schema.types == schema.types
    assert table["i"].to_pylist() == [n if n % 5 else None for n in range(20)]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        (5, TypeError),
        ("i", TypeError),
        (["i"], TypeError),
        ({"i": "decimal128"}, TypeError),
        ({"i": "timestamp[ks]"}, TypeError),
        ({"i": "time32[ns]"}, TypeError),
        ({"i": int}, TypeError),
        ({1: "int64"}, TypeError),
        ({}, aerolane.InvalidArgumentError),
        ({"": "int64"}, aerolane.InvalidArgumentError),
        ({"v" * 16: "int64"}, aerolane.InvalidArgumentError),
        ([("i", "int64"), ("i", "utf8")], aerolane.InvalidArgumentError),
        (pa.schema([("i", pa.decimal128(5, 2))]), TypeError),
        (pa.schema([("i", pa.dictionary(pa.int8(), pa.list_(pa.int64())))]), TypeError),
        (pa.schema([("i", pa.month_day_nano_interval())]), TypeError),
        (pa.schema([("i", pa.run_end_encoded(pa.int32(), pa.int64()))]), TypeError),
        (pa.schema([("i", pa.sparse_union([pa.field("x", pa.int64())]))]), TypeError),
        (pa.schema([("i", pa.list_(pa.decimal256(5, 2)))]), TypeError),
        (pa.schema([]), aerolane.InvalidArgumentError),
        (pa.schema([("v" * 16, pa.int64())]), aerolane.InvalidArgumentError),
        (pa.field("i", pa.int64()), TypeError),
    ],
)
def test_schemas_that_bins_cannot_become(client, set_name, key, schema, error):
    with pytest.raises(error):
        client.batch_read_blocking([key], as_arrow=schema)
    with pytest.raises(error):
        client.query_blocking(native.Statement("test", set_name)).to_arrow(schema)


def test_arguments(client, set_name, key):
    with pytest.raises(ValueError, match="as_numpy and as_arrow"):
        client.batch_read_blocking([key], as_numpy=[("i", "i8")], as_arrow={"i": "int64"})
    recordset = client.query_blocking(native.Statement("test", set_name))
    for rows in (0, -1, 2**24 + 1):
        with pytest.raises(aerolane.InvalidArgumentError):
            recordset.to_arrow(SCHEMA, batch_rows=rows)


def test_no_rows(client, set_name):
    assert pa.table(client.batch_read_blocking([], as_arrow=SCHEMA)).num_rows == 0
    table = reader_of(client, set_name).read_all()
    assert table.num_rows == 0 and table.schema.names == list(SCHEMA)


def test_queries(client, set_name, keys):
    for rows in (1, 3, 16, 65536):
        batches = list(reader_of(client, set_name, batch_rows=rows))
        assert [len(batch) for batch in batches] == [rows] * (16 // rows) + [16 % rows] * (16 % rows > 0)
        table = pa.Table.from_batches(batches)
        table.validate(full=True)
        expected = [{name: bins(n)[name] for name in SCHEMA} for n in range(20) if n % 5]
        assert sorted(table.to_pylist(), key=lambda row: row["i"]) == expected


async def test_queries_async(client, set_name, keys):
    partitions = native.PartitionFilter()
    recordset = await client.query(native.Statement("test", set_name, ["f"]), partitions)
    table = await asyncio.to_thread(pa.table, recordset.to_arrow({"f": "float64", "none": "bool"}))
    assert sorted(table["f"].to_pylist()) == [n / 4 for n in range(20) if n % 5]
    assert table["none"].null_count == 16
    assert recordset.partition_filter_sync().done() and not recordset.active and not partitions.done()


async def test_awaiting_a_stream(client, set_name, keys):
    partitions = native.PartitionFilter()
    recordset = await client.query(native.Statement("test", set_name), partitions)
    stream = recordset.to_arrow(SCHEMA, batch_rows=5)
    records = await stream
    assert isinstance(records, native.ArrowRecords) and len(records) == 16
    assert records.result_codes == [0] * 16
    table = pa.table(records)
    table.validate(full=True)
    assert [len(chunk) for chunk in table["i"].chunks] == [5, 5, 5, 1]
    expected = [{name: bins(n)[name] for name in SCHEMA} for n in range(20) if n % 5]
    assert sorted(table.to_pylist(), key=lambda row: row["i"]) == expected
    assert recordset.partition_filter_sync().done() and not recordset.active and not partitions.done()
    assert len(await stream) == 0, "nothing is left"
    with pytest.raises(ValueError, match="once"):
        pa.table(stream)
    # Nobody else keeps the query.
    assert len(await (await client.query(native.Statement("test", set_name))).to_arrow(SCHEMA)) == 16
    taken = (await client.query(native.Statement("test", set_name))).to_arrow(SCHEMA)
    pa.table(taken)
    with pytest.raises(ValueError, match="once"):
        await taken
    with pytest.raises(ValueError, match="once"):
        await anext(taken)


async def test_parts_of_a_stream(client, set_name, keys):
    for rows in (1, 3, 16, 65536):
        recordset = await client.query(native.Statement("test", set_name))
        parts = [part async for part in recordset.to_arrow(SCHEMA, batch_rows=rows)]
        assert [len(part) for part in parts] == [rows] * (16 // rows) + [16 % rows] * (16 % rows > 0)
        table = pa.concat_tables([pa.table(part) for part in parts])
        assert sorted(table["i"].to_pylist()) == [n for n in range(20) if n % 5]
    recordset = await client.query(native.Statement("test", set_name))
    stream = recordset.to_arrow(SCHEMA, batch_rows=4)
    assert len(await anext(stream)) == 4
    assert len(await stream) == 12, "the rest"
    assert await anext(stream, None) is None
    assert stream.__aiter__() is stream


async def test_the_loop_goes_on_and_a_cancelled_wait_loses_nothing(new_cluster, connect):
    client = connect(new_cluster(nodes=1).seeds)
    for n in range(12):
        await client.put(native.Key("test", "s", n), {"i": n})
    policy = native.QueryPolicy(records_per_second=20)
    recordset = await client.query(native.Statement("test", "s"), policy=policy)
    stream = recordset.to_arrow({"i": "int64"}, batch_rows=3)
    waiting, turns, parts = asyncio.create_task(anext(stream)), 0, []
    while not waiting.done():
        turns += 1
        await asyncio.sleep(0.001)
    parts.append(await waiting)
    assert turns > 2
    cancelled = 0
    for wait in (lambda: stream, lambda: anext(stream)):
        try:
            async with asyncio.timeout(0.12):
                parts.append(await wait())
        except TimeoutError:
            cancelled += 1
    assert cancelled >= 1, "the first one waits for all records"
    parts += [part async for part in stream]
    found = sorted(n for part in parts for n in pa.table(part)["i"].to_pylist())
    assert found == list(range(12))


async def test_errors_come_behind_what_came_before_them(new_cluster, connect):
    client = connect(new_cluster(nodes=1).seeds)
    for n in range(100):
        await client.put(native.Key("test", "s", n), {"i": n})
    # All of them would take five seconds: two come first on any machine.
    policy = native.QueryPolicy(records_per_second=20, total_timeout=2000)
    recordset = await client.query(native.Statement("test", "s"), policy=policy)
    stream = recordset.to_arrow({"i": "int64"}, batch_rows=2)
    parts = 0
    with pytest.raises(aerolane.TimeoutError):
        async for part in stream:
            assert 1 <= len(part) <= 2
            parts += 1
    assert parts >= 1
    with pytest.raises(aerolane.TimeoutError):
        await stream


def test_polars_reads_streams(client, set_name, keys):
    polars = pytest.importorskip("polars")
    expected = [{name: bins(n)[name] for name in SCHEMA} for n in range(20) if n % 5]
    recordset = client.query_blocking(native.Statement("test", set_name))
    frame = polars.DataFrame(recordset.to_arrow(SCHEMA, batch_rows=7))
    types = [polars.Int64, polars.Float64, polars.String, polars.Binary, polars.Boolean]
    assert frame.schema == dict(zip(SCHEMA, types, strict=True))
    assert frame.sort("i").to_dicts() == expected
    batch = polars.DataFrame(client.batch_read_blocking(keys, as_arrow=SCHEMA))
    assert batch.height == 20 and batch["i"].null_count() == 4
    assert batch.filter(polars.col("t"))["i"].to_list() == [n for n in range(20) if n % 5 and n % 2 == 0]


def test_duckdb_reads_streams(client, set_name, keys):
    duckdb = pytest.importorskip("duckdb")
    recordset = client.query_blocking(native.Statement("test", set_name))
    with duckdb.connect() as database:
        database.register("people", recordset.to_arrow(SCHEMA, batch_rows=7))
        rows = database.execute("select i, f, s, t from people where i < 8 order by i").fetchall()
        assert rows == [(n, n / 4, f"s{n}", n % 2 == 0) for n in range(8) if n % 5]
        database.register("batch", client.batch_read_blocking(keys, as_arrow=SCHEMA))
        for _ in range(2):
            assert database.execute("select count(*), count(i), sum(i) from batch").fetchone() == (20, 16, 160)


def test_a_stream_is_read_once_and_as_it_is_asked_for(client, set_name, keys):
    recordset = client.query_blocking(native.Statement("test", set_name))
    stream = recordset.to_arrow(SCHEMA, batch_rows=5)
    assert pa.schema(stream).names == list(SCHEMA)
    reader = pa.RecordBatchReader.from_stream(stream)
    assert len(reader.read_next_batch()) == 5
    assert len(list(recordset)) == 11, "the others were not taken by the stream"
    with pytest.raises(StopIteration):
        reader.read_next_batch()
    with pytest.raises(ValueError, match="once"):
        pa.table(stream)


def test_bytes_of_a_batch_are_bounded(client, set_name):
    big = b"x" * 900_000
    keys = [native.Key("test", set_name, n) for n in range(80)]
    for key in keys:
        client.put_blocking(key, {"b": big})
    sizes = [batch.nbytes for batch in reader_of(client, set_name, {"b": "binary"})]
    assert len(sizes) == 3 and max(sizes) < 34 << 20
    for key in keys:
        client.delete_blocking(key)


def test_dropping_a_reader_ends_the_query(client, set_name, keys):
    statement = native.Statement("test", set_name)
    records = client.query_blocking(statement)
    partitions = records.partition_filter_sync()
    reader = pa.RecordBatchReader.from_stream(records.to_arrow(SCHEMA, batch_rows=5))
    reader.read_next_batch()
    del reader, records
    gc.collect()
    assert len(list(client.query_blocking(statement, partitions))) == 11, "the filter knows how far it was read"


@pytest.mark.parametrize("taken", [False, True])
def test_streams_that_nobody_reads(client, set_name, keys, taken):
    statement = native.Statement("test", set_name)
    records = client.query_blocking(statement)
    partitions, stream = records.partition_filter_sync(), records.to_arrow(SCHEMA)
    held = stream.__arrow_c_stream__() if taken else stream
    del stream, held, records
    gc.collect()
    assert len(list(client.query_blocking(statement, partitions))) == 16


def test_several_results_of_a_bin(client, set_name, keys):
    """The last one counts, as in arrays."""
    statement = native.Statement("test", set_name)
    again = ("i", "s", "b", "t", "f", "s", "t", "b", "i", "f")
    statement.set_operations([native.Operation.get_bin(name) for name in again])
    table = pa.table(client.query_blocking(statement).to_arrow({**SCHEMA, "s": "large_utf8"}))
    table.validate(full=True)
    expected = [{name: bins(n)[name] for name in SCHEMA} for n in range(20) if n % 5]
    assert sorted(table.to_pylist(), key=lambda row: row["i"]) == expected


def slow_stream(new_cluster, connect):
    """A client, and the stream of a query that would take a while."""
    client = connect(new_cluster(nodes=1).seeds)
    for n in range(100):
        client.put_blocking(native.Key("test", "s", n), {"i": n})
    policy = native.QueryPolicy(records_per_second=10)
    recordset = client.query_blocking(native.Statement("test", "s"), policy=policy)
    return client, pa.RecordBatchReader.from_stream(recordset.to_arrow({"i": "int64"}, batch_rows=1))


def test_an_error_ends_the_stream_and_is_not_taken_for_its_end(new_cluster, connect):
    client, reader = slow_stream(new_cluster, connect)
    assert reader.read_next_batch().num_rows == 1
    client.close_blocking()
    with pytest.raises(OSError, match=r"(?i)closed"):
        reader.read_all()
    for _ in range(2):
        with pytest.raises(OSError, match=r"(?i)closed"):
            reader.read_next_batch()


def test_an_interrupt_ends_the_wait(new_cluster, connect):
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        pytest.skip("SIGINT is not Python's here")
    _, reader = slow_stream(new_cluster, connect)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises((KeyboardInterrupt, OSError), match="KeyboardInterrupt"):
        reader.read_all()
    timer.join()


def test_threads(client, set_name, keys):
    """Many streams at once, each on a thread of its own."""
    found = []

    def read():
        found.append(sorted(reader_of(client, set_name, batch_rows=2).read_all()["i"].to_pylist()))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[n for n in range(20) if n % 5]] * 8


def test_no_arrow_library_is_needed():
    code = "import sys, aerolane; from aerolane import native; assert 'pyarrow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


MOMENT = datetime.datetime(2020, 2, 29, 1, 2, 3)
ROUND_TRIPS = {
    **{name: [0, 1, -1, 100] for name in ("int8", "int16", "int32", "int64")},
    **{name: [0, 1, 200] for name in ("uint8", "uint16", "uint32", "uint64")},
    "float16": [0.0, -1.5, float("inf"), 2.0**-24, 65504.0],
    "float32": [0.0, -1.5, float("inf")],
    "float64": [0.0, 1e300, 0.1],
    "bool": [True, False],
    **{name: ["", "ünï", "a text of more than twelve bytes"] for name in ("utf8", "large_utf8", "string_view")},
    **{name: [b"", b"\0\xff", b"more than twelve bytes"] for name in ("binary", "large_binary", "binary_view")},
    "fixed_size_binary[3]": [b"abc", b"\0\xff "],
    "date32": [datetime.date(1969, 7, 20), datetime.date(2020, 2, 29)],
    "date64": [datetime.date(2020, 2, 29)],
    "time32[s]": [datetime.time(23, 59, 59)],
    "time64[us]": [datetime.time(1, 2, 3, 4)],
    "timestamp[s]": [MOMENT],
    "timestamp[us]": [MOMENT.replace(microsecond=7)],
    "timestamp[ns]": [MOMENT],
    "timestamp[ms, tz=Europe/Berlin]": [MOMENT.replace(tzinfo=datetime.UTC)],
    "duration[ms]": [datetime.timedelta(days=-1, milliseconds=5)],
}


def type_of(name):
    if name.startswith("timestamp[ms"):
        return pa.timestamp("ms", "Europe/Berlin")
    if name.startswith("fixed"):
        return pa.binary(3)
    kind, _, unit = name.removesuffix("]").partition("[")
    return getattr(pa, kind.replace("bool", "bool_"))(*filter(None, [unit]))


@pytest.mark.parametrize("way", ["batch", "query"])
def test_types_come_back_as_they_were(client, set_name, way):
    columns = {f"c{place}": (name, values) for place, (name, values) in enumerate(ROUND_TRIPS.items())}
    rows = max(len(values) for _, values in columns.values()) + 1
    arrays = {
        name: pa.array(values + [None] * (rows - len(values)), type_of(kind))
        for name, (kind, values) in columns.items()
    }
    table = pa.table({"id": pa.array(range(rows)), **arrays})
    assert (
        client.write_table_blocking(table, aerolane.DataSet("test", set_name), key="id", attempt_timeout=60).failed == 0
    )
    named = {name: kind for name, (kind, _) in columns.items()}
    expected = table.select(list(named)).to_pylist()
    for schema in (named, table.drop_columns("id").schema):
        if way == "batch":
            keys = [native.Key("test", set_name, row) for row in range(rows)]
            back = pa.table(client.batch_read_blocking(keys, as_arrow=schema))
            assert back.to_pylist() == expected
        else:
            back = reader_of(client, set_name, schema).read_all()
            filled = [row for row in expected if any(value is not None for value in row.values())]
            assert sorted(map(repr, back.to_pylist())) == sorted(map(repr, filled))
        back.validate(full=True)
        assert back.schema.equals(table.drop_columns("id").schema), "with the types that were asked for"


@pytest.mark.parametrize(
    "kind, fits, too_large",
    [
        ("int8", -128, 128),
        ("uint8", 255, -1),
        ("int16", 32767, 32768),
        ("uint16", 65535, 65536),
        ("int32", -(2**31), 2**31),
        ("uint32", 2**32 - 1, 2**32),
        ("uint64", 2**63 - 1, None),
        ("date32", 1, 2**31),
    ],
)
def test_ints_that_their_columns_cannot_hold(client, set_name, kind, fits, too_large):
    keys = [native.Key("test", set_name, n) for n in range(2)]
    client.batch_write_blocking(keys, [{"n": fits}, {"n": too_large}])
    table = pa.table(client.batch_read_blocking(keys, as_arrow={"n": kind}))
    assert (
        table["n"].null_count == 1
        and table["n"][0].cast(pa.int64() if kind != "date32" else pa.int32()).as_py() == fits
    )


def test_what_records_have_beside_bins(client, set_name):
    dataset, policy = aerolane.DataSet("test", set_name), native.WritePolicy(send_key=True)
    client.put_blocking(dataset.id(1), {"n": 1}, policy=policy)
    client.put_blocking(dataset.id(1), {"n": 2}, policy=policy)
    client.put_blocking(
        dataset.id("text"),
        {"n": 3},
        policy=native.WritePolicy(send_key=True, expiration=aerolane.Expiration.seconds(1000)),
    )
    client.put_blocking(dataset.id(4), {"n": 4})
    more = {"key": ("id", "int64"), "generation": "gen", "ttl": "left"}
    rows = sorted(reader_of(client, set_name, {"n": "int64"}, **more).read_all().to_pylist(), key=lambda row: row["n"])
    assert [(row["n"], row["id"], row["gen"]) for row in rows] == [(2, 1, 2), (3, None, 1), (4, None, 1)]
    assert rows[0]["left"] is None and 900 < rows[1]["left"] <= 1000
    texts = reader_of(client, set_name, {"n": "int64"}, key=("id", "utf8")).read_all()
    assert sorted(texts["id"].to_pylist(), key=str) == [None, None, "text"]
    for wrong, error in (
        ({"key": ("id", "bool")}, TypeError),
        ({"generation": "n"}, aerolane.InvalidArgumentError),
        ({"ttl": ""}, aerolane.InvalidArgumentError),
        ({"ttl": "\0"}, aerolane.InvalidArgumentError),
        ({"key": 5}, TypeError),
    ):
        with pytest.raises(error):
            reader_of(client, set_name, {"n": "int64"}, **wrong)


def test_frames(client, set_name, keys):
    pl = pytest.importorskip("polars")
    frame = client.batch_read_blocking(keys, as_arrow=SCHEMA).to_polars()
    assert isinstance(frame, pl.DataFrame) and frame["i"].to_list() == [n if n % 5 else None for n in range(20)]
    assert client.query_blocking(native.Statement("test", set_name)).to_arrow(SCHEMA).to_polars()["i"].sum() == sum(
        n for n in range(20) if n % 5
    )
    pd = pytest.importorskip("pandas")
    frame = client.batch_read_blocking(keys, as_arrow=SCHEMA).to_pandas()
    assert (
        isinstance(frame, pd.DataFrame) and str(frame["i"].dtype) == "int64[pyarrow]" and frame["i"].isna().sum() == 4
    )


def test_libraries_that_are_not_installed(client, keys, monkeypatch):
    records = client.batch_read_blocking(keys, as_arrow=SCHEMA)
    for name in ("polars", "pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=rf"to_{name}\(\) needs {name}.*pip install {name}"):
            getattr(records, f"to_{name}")()
