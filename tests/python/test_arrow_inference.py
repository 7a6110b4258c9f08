"""Arrow columns whose types are those of the records."""

import contextlib
import gc
import json
import sys
import threading
import time

import pytest
from conftest import resident

import aerolane
from aerolane import GeoJSON, native
from aerolane.native import ArrowColumns

pa = pytest.importorskip("pyarrow")

KEEP = native.WritePolicy(send_key=True)
EVERYTHING = {
    "i": 1,
    "f": 0.5,
    "t": True,
    "s": "ünï",
    "b": b"\0\xff",
    "ints": [1, 2],
    "empty": [],
    "deep": [[1], [], [2, 3]],
    "who": {"age": 3, "name": "x", "tags": ["a"]},
    "geo": GeoJSON('{"type":"Point","coordinates":[1,2]}'),
}
TYPES = {
    "i": pa.int64(),
    "f": pa.float64(),
    "t": pa.bool_(),
    "s": pa.utf8(),
    "b": pa.binary(),
    "ints": pa.list_(pa.int64()),
    "empty": pa.list_(pa.null()),
    "deep": pa.list_(pa.list_(pa.int64())),
    "who": pa.struct([("age", pa.int64()), ("name", pa.utf8()), ("tags", pa.list_(pa.utf8()))]),
    "geo": pa.utf8(),
}


def put(client, set_name, records):
    """Writes records with the keys 0, 1, .. and gives these."""
    keys = [native.Key("test", set_name, n) for n in range(len(records))]
    for key, bins in zip(keys, records, strict=True):
        if bins is not None:
            client.put_blocking(key, bins, policy=KEEP)
    return keys


def batch(client, keys, **options):
    table = client.batch_read_blocking(keys, as_arrow=ArrowColumns(**options)).to_pyarrow()
    table.validate(full=True)
    return table


def stream(client, set_name, **options):
    return client.query_blocking(native.Statement("test", set_name)).to_arrow(**options)


def query(client, set_name, **options):
    table = stream(client, set_name, **options).to_pyarrow()
    table.validate(full=True)
    return table


@pytest.mark.parametrize("way", ["batch", "query"])
def test_types_are_those_of_the_values(client, set_name, way):
    keys = put(client, set_name, [EVERYTHING])
    table = batch(client, keys) if way == "batch" else query(client, set_name)
    assert {field.name: field.type for field in table.schema} == TYPES
    expected = EVERYTHING | {"geo": table["geo"][0].as_py()}
    assert table.to_pylist() == [{name: expected[name] for name in table.schema.names}]
    assert json.loads(table["geo"][0].as_py()) == {"type": "Point", "coordinates": [1, 2]}


def test_true_asks_a_batch_for_the_types_of_its_records(client, set_name):
    keys = put(client, set_name, [{"n": 1}, {"n": 2, "s": "x"}, None])
    records = client.batch_read_blocking(keys, as_arrow=True)
    assert records.result_codes == [0, 0, 2]
    assert pa.table(records).to_pylist() == [{"n": 1, "s": None}, {"n": 2, "s": "x"}, {"n": None, "s": None}]
    only = pa.table(client.batch_read_blocking(keys, ["s"], as_arrow=True))
    assert only.schema.names == ["s"]
    assert isinstance(client.batch_read_blocking(keys, as_arrow=False), list)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 0.5], pa.float64(), [1.0, 0.5]),
        ([0.5, 1], pa.float64(), [0.5, 1.0]),
        ([[1], [0.5]], pa.list_(pa.float64()), [[1.0], [0.5]]),
        ([[], [b"x"]], pa.list_(pa.binary()), [[], [b"x"]]),
        ([[None], [True]], pa.list_(pa.bool_()), [[None], [True]]),
        # The same keys in all records: a struct. Others: a map, or a struct if the values are of several types.
        ([{"a": 1, "b": "x"}, {"b": "y", "a": 2}], pa.struct([("a", pa.int64()), ("b", pa.utf8())]), None),
        ([{"a": 1}, {"b": 0.5}], pa.map_(pa.utf8(), pa.float64()), [[("a", 1.0)], [("b", 0.5)]]),
        ([{1: "x"}, {2: "y"}], pa.map_(pa.int64(), pa.utf8()), [[(1, "x")], [(2, "y")]]),
        (
            [{"a": 1}, {"b": "x"}],
            pa.struct([("a", pa.int64()), ("b", pa.utf8())]),
            [{"a": 1, "b": None}, {"a": None, "b": "x"}],
        ),
        ([{}, {}], pa.map_(pa.utf8(), pa.null()), [[], []]),
        ([{"a": {"x": 1}}, {"a": {"x": 2}}], pa.struct([("a", pa.struct([("x", pa.int64())]))]), None),
    ],
)
def test_types_of_several_records(client, set_name, values, kind, expected):
    keys = put(client, set_name, [{"v": value} for value in values])
    table = batch(client, keys)
    # The order of the fields is that in which the records have them.
    assert table.schema.field("v").type == kind
    assert table["v"].to_pylist() == (values if expected is None else expected)
    assert query(client, set_name)["v"].type.id == kind.id


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "x"], r"bin .v. .*int \(first in the record with the key 0\), str \(first in the record with the key 1\)"),
        ([True, 1], r"bool .*int"),
        ([b"x", "x"], r"str .*bytes"),
        ([[1], 1], r"int .*list"),
        ([[1, "x"], [2]], r"bin .v. .*at \[\]: int .*str"),
        ([{"a": 1}, {"a": "x"}], r"at \.a: int .*str"),
        ([{1: 1}, {1: "x"}], r"at \{\}: int .*str"),
        ([{"a": 1, 2: 3}], r"\(keys\): int .*str"),
    ],
)
def test_values_of_several_types(client, set_name, values, message):
    keys = put(client, set_name, [{"v": value} for value in values])
    with pytest.raises(aerolane.InvalidArgumentError, match=message):
        client.batch_read_blocking(keys, as_arrow=True)
    with pytest.raises(OSError, match="has values of several types"):
        query(client, set_name)
    found = batch(client, keys, mixed="json")["v"].to_pylist()
    plain = [json.loads(text) for text in found if "$" not in text]
    assert all(isinstance(text, str) for text in found)
    assert plain == [value for value, text in zip(values, found, strict=True) if "$" not in text]
    overridden = batch(client, keys, schema_overrides={"v": "int64"}, misfits="null")
    assert overridden["v"].to_pylist() == [value if type(value) is int else None for value in values]


def test_json_is_what_the_command_line_writes(client, set_name):
    from aerolane.cli.json_values import from_json, to_json

    values = [
        None,
        -5,
        0.1,
        float("inf"),
        True,
        'a "quoted" \\ text\n\x01 ünï',
        b"\0\xff",
        [1, [2, "x"], {"a": None}],
        {"$map": 1},
        {1: "x", "y": b"z"},
        {},
        [],
    ]
    keys = put(client, set_name, [{"n": 0, "v": value} for value in values])
    back = batch(client, keys, schema_overrides={"v": "json"})
    assert back["v"].type == pa.utf8()
    for value, text in zip(values, back["v"].to_pylist(), strict=True):
        if value is None:
            assert text is None
        else:
            assert json.loads(text) == to_json(value) and from_json(json.loads(text)) == value


def test_later_records_that_do_not_fit(new_cluster, connect):
    """The first records settle the types of a stream; what comes later names its bin and record."""
    # One node gives its records in one order.
    client = connect(new_cluster(nodes=1).seeds)
    put(client, "s", [{"v": n, "at": {"x": n, "y": [n]}} for n in range(20)])
    *_, last = client.query_blocking(native.Statement("test", "s"))
    replace = native.WritePolicy(send_key=True, record_exists_action=native.RecordExistsAction.REPLACE)
    for bins, message in (
        ({"v": "x"}, r'bin "v" of the record with the key \d+: a str does not fit int64'),
        ({"w": 1}, r'record with the key \d+ has a bin "w"'),
        ({"v": 2.5}, r"the float 2.5 does not fit int64"),
        ({"at": {"x": 1, "y": [], "z": 1}}, r'bin "at" .* the key "z" is no field of the struct'),
        ({"at": {"x": 1, "y": [1, b"x"]}}, r'bin "at" .* a bytes does not fit int64'),
    ):
        client.put_blocking(native.Key("test", "s", last.key.value), bins, policy=replace)
        with pytest.raises(OSError, match=message):
            query(client, "s", infer_schema_length=5)
        with pytest.raises(aerolane.InvalidArgumentError, match=message):
            list(stream(client, "s", infer_schema_length=5))
        fits = query(client, "s", infer_schema_length=5, misfits="null")
        assert fits.num_rows == 20 and fits["v"].null_count == 1 and fits.schema.names == ["v", "at"]
    # What came before the error was given.
    parts = []
    with pytest.raises(aerolane.InvalidArgumentError):
        for part in stream(client, "s", infer_schema_length=5, batch_rows=4):
            parts.append(len(part))
    assert parts == [4, 4, 4, 4, 3]


def test_values_that_do_not_fit_a_schema(client, set_name):
    keys = put(client, set_name, [{"n": 1}, {"n": 300}])
    assert batch(client, keys, schema={"n": "int8"})["n"].to_pylist() == [1, None]
    with pytest.raises(
        aerolane.InvalidArgumentError, match=r'bin "n" of the record with the key 1: the int 300 does not fit int8'
    ):
        batch(client, keys, schema={"n": "int8"}, misfits="raise")
    with pytest.raises(OSError, match=r'bin "n" of the record with the key 1: the int 300 does not fit int8'):
        query(client, set_name, schema={"n": "int8"}, misfits="raise")
    # Without a user key at the server, its digest.
    client.put_blocking(
        keys[0], {"n": 5000}, policy=native.WritePolicy(record_exists_action=native.RecordExistsAction.REPLACE)
    )
    with pytest.raises(OSError, match="the int"):
        query(client, set_name, schema={"n": "int8"}, misfits="raise")


def test_ints_that_floats_do_not_have(client, set_name):
    keys = put(client, set_name, [{"v": 0.5}, {"v": 2**53 + 1}])
    with pytest.raises(aerolane.InvalidArgumentError, match=r"the int 9007199254740993 does not fit float64"):
        batch(client, keys)


@pytest.mark.parametrize("way", ["batch", "query"])
def test_further_columns(client, set_name, way):
    keys = put(client, set_name, [{"n": 0}, {"n": 1}])
    lasting = native.WritePolicy(send_key=True, expiration=aerolane.Expiration.seconds(1000))
    client.put_blocking(keys[1], {"n": 1}, policy=lasting)
    missing = native.Key("test", set_name, 99)
    more = {"key": "id", "digest": "digest", "generation": "gen", "ttl": "left", "expiration": "expires"}
    if way == "batch":
        table = batch(client, [*keys, missing], **more)
        last = table.slice(2).to_pylist()[0]
        assert last == {
            "n": None,
            "id": 99,
            "digest": bytes.fromhex(missing.digest),
            "gen": None,
            "left": None,
            "expires": None,
        }
        table = table.slice(0, 2)
    else:
        table = query(client, set_name, **more).sort_by("n")
    assert table.schema.names == ["n", *more.values()]
    assert [field.type for field in table.schema][1:] == [
        pa.int64(),
        pa.binary(20),
        pa.uint32(),
        pa.int64(),
        pa.timestamp("s", "UTC"),
    ]
    first, second = table.to_pylist()
    assert (first["id"], second["id"]) == (0, 1) and (first["gen"], second["gen"]) == (1, 2)
    assert first["digest"].hex() == keys[0].digest
    assert first["left"] is None and first["expires"] is None
    assert 900 < second["left"] <= 1000
    assert abs(second["expires"].timestamp() - time.time() - second["left"]) < 100
    digits = batch(client, keys, digest=("digest", "utf8"))["digest"].to_pylist()
    assert digits == [key.digest for key in keys]


def test_keys_of_several_types(client, set_name):
    for value in (1, "x"):
        client.put_blocking(native.Key("test", set_name, value), {"n": 1}, policy=KEEP)
    with pytest.raises(OSError, match=r"the keys has values of several types|the keys"):
        query(client, set_name, key="id")
    assert sorted(query(client, set_name, key="id", mixed="json")["id"].to_pylist()) == ['"x"', "1"]
    assert query(client, set_name, key=("id", "utf8"), misfits="null")["id"].null_count == 1
    with pytest.raises(OSError, match=r'column "id" of the record with the key 1: the int 1 does not fit utf8'):
        query(client, set_name, key=("id", "utf8"))


def test_a_bin_with_the_name_of_another_column(client, set_name):
    keys = put(client, set_name, [{"id": 1}])
    with pytest.raises(
        aerolane.InvalidArgumentError, match=r'bin "id", which is also the name of the column of the keys'
    ):
        batch(client, keys, key="id")


def test_nothing_to_look_at(client, set_name):
    keys = [native.Key("test", set_name, n) for n in range(3)]
    table = batch(client, keys, key="id", schema_overrides={"v": "utf8"})
    assert table.to_pydict() == {"v": [None] * 3, "id": [0, 1, 2]}
    assert batch(client, []).num_columns == 0
    empty = query(client, set_name, key="id")
    assert empty.num_rows == 0 and empty.schema.names == ["id"]
    assert query(client, set_name).num_columns == 0


def test_the_schema_of_a_stream_is_known_before_it_is_read(client, set_name):
    put(client, set_name, [{"v": n} for n in range(10)])
    arrow = stream(client, set_name)
    assert repr(arrow) == "<ArrowStream, not read yet>"
    assert pa.schema(arrow) == pa.schema([("v", pa.int64())])
    assert repr(arrow) == "<ArrowStream of 1 columns, not read yet>"
    assert sorted(pa.table(arrow)["v"].to_pylist()) == list(range(10))
    with pytest.raises(ValueError, match="once"):
        pa.table(arrow)


async def test_in_asyncio(client, set_name):
    for n in range(30):
        await client.put(native.Key("test", set_name, n), {"v": n, "s": f"s{n}"}, policy=KEEP)

    async def arrow(**options):
        return (await client.query(native.Statement("test", set_name))).to_arrow(**options)

    records = await (await arrow(key="id"))
    table = pa.table(records)
    assert sorted(table["v"].to_pylist()) == sorted(table["id"].to_pylist()) == list(range(30))
    parts = [part async for part in await arrow(batch_rows=7, infer_schema_length=3)]
    assert [len(part) for part in parts] == [7, 7, 7, 7, 2]
    assert sorted(n for part in parts for n in pa.table(part)["v"].to_pylist()) == list(range(30))
    await client.put(native.Key("test", set_name, "odd"), {"v": "x"}, policy=KEEP)
    with pytest.raises(aerolane.InvalidArgumentError, match="several types"):
        await (await arrow())
    assert len(pa.table(await (await arrow(mixed="json")))) == 31
    columns = ArrowColumns(schema_overrides={"v": pa.int64()}, misfits="null")
    found = pa.table(await client.batch_read([native.Key("test", set_name, "odd")], as_arrow=columns))
    assert found["v"].to_pylist() == [None]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"misfits": "ignore"}, ValueError),
        ({"mixed": "text"}, ValueError),
        ({"schema": {"a": "int64"}, "schema_overrides": {"b": "int64"}}, ValueError),
        ({"schema_overrides": {"a": "decimal128(5, 2)"}}, TypeError),
        ({"schema_overrides": {"a": "list<>"}}, TypeError),
        ({"schema_overrides": {"a": "int64"}, "key": "a"}, aerolane.InvalidArgumentError),
        ({"key": "a", "digest": "a"}, aerolane.InvalidArgumentError),
        ({"key": ""}, aerolane.InvalidArgumentError),
        ({"key": 5}, TypeError),
        ({"key": ("a", "bool")}, TypeError),
        ({"digest": ("a", "int64")}, TypeError),
        ({"generation": "\0"}, aerolane.InvalidArgumentError),
        ({"schema": pa.schema([("d", pa.decimal128(5, 2))])}, TypeError),
    ],
)
def test_arguments(client, set_name, options, error):
    with pytest.raises(error):
        ArrowColumns(**options)
    with pytest.raises(error):
        stream(client, set_name, **options)


def test_arguments_of_streams(client, set_name):
    for length in (0, -1):
        with pytest.raises(aerolane.InvalidArgumentError, match="infer_schema_length"):
            stream(client, set_name, infer_schema_length=length)
    with pytest.raises(TypeError, match="ArrowColumns"):
        stream(client, set_name, schema=ArrowColumns(), key="id")
    assert query(client, set_name, schema=ArrowColumns(key="id")).schema.names == ["id"]
    assert repr(ArrowColumns(key="id")) == "<ArrowColumns of the records' own bins, 1 further columns>"


@pytest.mark.parametrize("way", ["batch", "query"])
def test_frames(client, set_name, way):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    keys = put(client, set_name, [EVERYTHING, EVERYTHING])

    def columns():
        return client.batch_read_blocking(keys, as_arrow=True) if way == "batch" else stream(client, set_name)

    frame = columns().to_pandas()
    assert isinstance(frame, pd.DataFrame) and frame["ints"].tolist() == [[1, 2]] * 2
    frame = columns().to_polars()
    assert isinstance(frame, pl.DataFrame) and frame.schema["ints"] == pl.List(pl.Int64)
    assert frame["who"].to_list() == [EVERYTHING["who"]] * 2 and frame["deep"].to_list() == [EVERYTHING["deep"]] * 2


def test_duckdb_reads_nested_columns(client, set_name):
    duckdb = pytest.importorskip("duckdb")
    put(client, set_name, [{"n": n, "tags": [f"t{n}"], "pos": {"x": n, "y": 0.5}} for n in range(5)])
    with duckdb.connect() as database:
        database.register("records", stream(client, set_name, key="id"))
        rows = database.execute("select id, tags[1], pos.x from records where n > 2 order by n").fetchall()
    assert rows == [(3, "t3", 3), (4, "t4", 4)]


def test_libraries_that_are_not_installed(client, set_name, monkeypatch):
    keys = put(client, set_name, [{"n": 1}])
    records = client.batch_read_blocking(keys, as_arrow=True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"to_pyarrow\(\) needs pyarrow.*pip install pyarrow"):
        records.to_pyarrow()


def test_sessions(client, either, session, set_name):
    put(client, set_name, [{"v": n, "s": f"s{n}"} for n in range(20)])
    dataset = aerolane.DataSet.of("test", set_name)

    def execute(query):
        return either.run(query.execute())

    def table(query, *args, **options):
        arrow = execute(query).to_arrow(*args, **options)
        return arrow.to_pyarrow() if either.kind == "sync" else pa.table(either.run(arrow))

    everything = table(session.query(dataset), key="id")
    assert sorted(everything["id"].to_pylist()) == list(range(20)) and set(everything.schema.names) == {"v", "s", "id"}
    assert table(session.query(dataset).bins("v")).schema.names == ["v"]
    assert 1 <= len(table(session.query(dataset).limit(7))) <= 7
    found = table(session.query(dataset).where("$.v < 3"), {"v": "int32"})
    assert sorted(found["v"].to_pylist()) == [0, 1, 2]
    results = execute(session.query(dataset))
    results.to_arrow()
    for wrong, message in (
        (results, "has been read"),
        (execute(session.query(dataset).chunk_size(5)), "chunk_size"),
        (execute(session.delete(dataset.id(1))), "has none"),
        (either.run(session.query(dataset.ids(1, 2)).stream()), "instead of stream"),
    ):
        with pytest.raises(aerolane.AerospikeError, match=message):
            wrong.to_arrow()


def test_sessions_read_by_keys(client, either, session, set_name):
    put(client, set_name, [{"v": n, "s": f"s{n}"} for n in range(20)])
    dataset = aerolane.DataSet.of("test", set_name)

    def arrow(query, *args, **options):
        return either.run(query.execute()).to_arrow(*args, **options)

    # In the order of the keys; what is missing is left out, unless it is asked for.
    table = arrow(session.query(dataset.ids(7, 3, 99, 11)), key="id").to_pyarrow()
    assert table.to_pylist() == [{"v": n, "s": f"s{n}", "id": n} for n in (7, 3, 11)]
    query = session.query(dataset.ids(7, 99)).bins("v").include_missing_keys()
    assert arrow(query, {"v": "int32"}, key="id").to_pyarrow().to_pylist() == [{"v": 7, "id": 7}, {"v": None, "id": 99}]
    assert arrow(session.query(dataset.id(5)).bins("s")).to_pyarrow().to_pylist() == [{"s": "s5"}]
    assert arrow(session.query(dataset.ids(98, 99)), {"v": "int8"}).to_pyarrow().num_rows == 0

    # In parts, and as a whole.
    def every():
        return session.query(dataset.ids(*range(20)))

    stream = arrow(every(), batch_rows=8)
    assert repr(stream) == "<ArrowStream of 2 columns, not read yet>"
    assert [len(part) for part in either.each(stream)] == [8, 8, 4] and either.each(stream) == []
    stream = arrow(every(), batch_rows=8)
    assert pa.table(stream).column("v").to_pylist() == list(range(20))
    with pytest.raises(ValueError, match="read once"):
        pa.table(stream)
    stream = arrow(every())
    stream.close()
    assert either.each(stream) == []
    if either.kind == "async":
        assert len(either.run(arrow(every(), batch_rows=3))) == 20
    # Of a value that does not fit, and of a record that failed, the results can still be read one by one.
    results = either.run(every().execute())
    with pytest.raises(aerolane.AerospikeError, match=r'the bin "s" of the record with the key 0'):
        results.to_arrow({"s": "int8"}, misfits="raise")
    assert len(either.run(results.collect())) == 20
    with pytest.raises(aerolane.AerospikeError, match="has been read"):
        results.to_arrow()
    with pytest.raises(aerolane.InvalidArgumentError, match="batch_rows"):
        arrow(every(), batch_rows=0)


def test_sessions_find_the_types_of_what_they_read_by_keys(client, either, session, set_name):
    put(client, set_name, [{"v": 0}, {"v": 1}, {"v": "two"}])
    keys = aerolane.DataSet.of("test", set_name).ids(0, 1, 2)

    def arrow(**options):
        return either.run(session.query(keys).execute()).to_arrow(**options)

    with pytest.raises(aerolane.InvalidArgumentError, match='the bin "v" has values of several types'):
        arrow()
    # Of the first two, so that the third one does not fit.
    with pytest.raises(aerolane.InvalidArgumentError, match='the bin "v" of the record with the key 2'):
        arrow(infer_schema_length=2)
    schema = pa.schema(arrow(mixed="json", generation="g"))
    assert schema.names == ["v", "g"] and schema.field("v").type == pa.string()


def test_a_stream_that_is_closed_stays_closed(seeds, set_name):
    """Closed while its rows become columns, which fails at the last row: otherwise the rows could be read again."""
    dataset, count = aerolane.DataSet.of("test", set_name), 40_000
    table = {"id": range(count), "v": [0] * (count - 1) + [1000]}
    with aerolane.SyncClient(seeds) as client:
        session = client.create_session()
        session.write_table(table, dataset, key="id").raise_for_failures()
        results = session.query(dataset.ids(*range(count))).execute()
        closer = threading.Timer(0.003, results.close)
        closer.start()
        with pytest.raises(aerolane.AerospikeError):
            results.to_arrow({"v": "int8"}, misfits="raise")
        closer.join()
        with pytest.raises(aerolane.AerospikeError, match="has been closed"):
            results.to_arrow()


def test_sessions_raise_the_failure_of_a_record(client, either, session, set_name):
    put(client, set_name, [{"v": n} for n in range(4)])
    dataset = aerolane.DataSet.of("test", set_name)
    query = session.query(dataset.ids(0, 1, 2)).where("$.v != 1").fail_on_filtered_out()
    results = either.run(query.execute())
    with pytest.raises(aerolane.AerospikeError) as raised:
        results.to_arrow()
    assert raised.value.result_code == aerolane.ResultCode.FILTERED_OUT and raised.value.key.user_key == 1
    assert [result.is_ok for result in either.run(results.collect())] == [True, False, True]


@pytest.mark.own_process
def test_memory_is_bounded_while_the_reader_is_slow(new_cluster, connect):
    """70 MB of records, of which a reader takes one batch after the other, and looks at each for a while."""
    client = connect(new_cluster(nodes=1).seeds)
    for part in range(70):
        keys = [native.Key("test", "wide", n) for n in range(1000 * part, 1000 * (part + 1))]
        rows = client.batch_write_blocking(keys, [{"n": 1, "b": bytes(1000)}] * 1000)
        assert all(row.is_ok for row in rows)
    del keys, rows
    gc.collect()
    reader = pa.RecordBatchReader.from_stream(
        client.query_blocking(native.Statement("test", "wide")).to_arrow(batch_rows=500, infer_schema_length=500)
    )
    reader.read_next_batch()
    before, most, rows = resident(), 0, 500
    for place, record_batch in enumerate(reader):
        rows += len(record_batch)
        if place % 20 == 0:
            time.sleep(0.02)
            most = max(most, resident())
    assert rows == 70_000
    assert most - before < 24 << 20


def test_a_stream_that_is_closed_ends_its_query(client, set_name):
    put(client, set_name, [{"v": n} for n in range(50)])
    statement = native.Statement("test", set_name)
    recordset = client.query_blocking(statement)
    arrow = recordset.to_arrow(batch_rows=5, infer_schema_length=5)
    reader = pa.RecordBatchReader.from_stream(arrow)
    assert len(reader.read_next_batch()) == 5
    assert recordset.active
    arrow.close()
    arrow.close()
    assert not recordset.active
    with contextlib.suppress(StopIteration):
        assert len(reader.read_next_batch()) <= 5
