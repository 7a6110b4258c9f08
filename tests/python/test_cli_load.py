"""`aerolane load` and `export`: formats, types, what is rejected, what is refused, what a file that is full costs."""

import contextlib
import csv
import gzip
import json
import math
import os
import re
import stat
import sys

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import aerolane
from aerolane import GeoJSON, Key
from aerolane.cli import loading
from aerolane.cli.app import app
from aerolane.cli.exit_codes import ExitCode
from aerolane.cli.sinks import text
from aerolane.native import WritePolicy

POINT = '{"type": "Point", "coordinates": [1.5, 2]}'
NESTED = {"a": [1, None, {"b": b"\0"}], 7: "seven"}
HAS_PYARROW = True
try:
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    HAS_PYARROW = False
needs_pyarrow = pytest.mark.skipif(not HAS_PYARROW, reason="needs pyarrow")


@pytest.fixture
def run(seeds, monkeypatch, tmp_path):
    """`run(*arguments, code=ExitCode.OK)`: the result of a command in an empty directory."""
    monkeypatch.setenv("AEROSPIKE_HOST", seeds)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=ExitCode.OK, input=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def load(run, set_name):
    """`load(file, *options, code=..)`: the summary of a load by the column `id`."""

    def invoke(file, *options, code=ExitCode.OK, key="id", input=None):
        result = run("load", file, "-s", set_name, "--key", key, "--json", *options, code=code, input=input)
        return json.loads(result.stdout)

    return invoke


@pytest.fixture
def bins(client, set_name):
    """`bins(key)`: the bins of a record of the set; `None`: there is none."""

    def read(key):
        with contextlib.suppress(aerolane.RecordNotFoundError):
            return client.get_blocking(Key("test", set_name, key)).bins
        return None

    return read


def write(name, content):
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(content)
    return name


def write_table(table, name):
    if name.endswith("parquet"):
        pyarrow.parquet.write_table(table, name)
        return
    make = pyarrow.ipc.new_stream if name.endswith("s") else pyarrow.ipc.new_file
    with make(name, table.schema) as file:
        file.write_table(table)


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_columns_of_csv_have_one_type_each(load, bins):
    write("a.csv", 'id,n,f,b,s,zip,text,empty\n1,5,0.5,true,x,007,"a,""b""\n",\n2,,1,FALSE,,1,,\n')
    summary = load("a.csv")
    assert (summary["rows"], summary["confirmed"], summary["rejected"], summary["complete"]) == (2, 2, 0, True)
    assert bins(1) == {"n": 5, "f": 0.5, "b": True, "s": "x", "zip": "007", "text": 'a,"b"\n'}
    assert bins(2) == {"f": 1.0, "b": False, "zip": "1"}


def test_types_and_bins_are_chosen(load, bins):
    write(
        "a.csv", f'id,n,tags,raw,place,a_long_column_name\n1,5,"[1]",AAE=,"{POINT.replace(chr(34), chr(34) * 2)}",x\n'
    )
    types = ["--type", "id=string", "--type", "tags=json", "--type", "raw=bytes", "--type", "place=geojson"]
    load("a.csv", *types, "--bins", "tags,raw,place,short=a_long_column_name,n,id")
    found = bins("1")
    assert json.loads(found.pop("place").value) == json.loads(POINT)
    assert found == {"tags": [1], "raw": b"\0\1", "short": "x", "n": 5, "id": "1"}
    assert bins(1) is None


def test_forms_of_csv(load, bins):
    write("a.tsv", "id\tn\n1\t2\n\n")
    load("a.tsv")
    write("b.txt", "2;3\r\n")
    load("b.txt", "--format", "csv", "--columns", "id,n", "--delimiter", ";")
    with gzip.open("c.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\ufeffid,n\n3,4\n")
    load("c.csv.gz")
    load("-", "--format", "csv", input="id,n\n4,5\n")
    assert [bins(n) for n in (1, 2, 3, 4)] == [{"n": 2}, {"n": 3}, {"n": 4}, {"n": 5}]


def test_json_lines_have_types_of_their_own(load, bins):
    write(
        "a.jsonl",
        '\ufeff{"id": 1, "n": 1, "s": "x", "nothing": null, "list": [1, {"$bytes": "AA=="}]}\n'
        '\n{"id": "a", "map": {"$map": [[1, 2]]}, "f": 1e3, "when": "5"}\n',
    )
    assert load("a.jsonl", "--type", "when=int")["confirmed"] == 2
    assert bins(1) == {"n": 1, "s": "x", "list": [1, b"\0"]}
    assert bins("a") == {"map": {1: 2}, "f": 1000.0, "when": 5}


@needs_pyarrow
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "stream.arrows"])
def test_parquet_and_arrow(load, bins, name):
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2, None], pyarrow.int32()),
            "s": pyarrow.array(["x", None, "z"]).dictionary_encode(),
            "l": [[1, 2], [], None],
            "m": [{"a": 1}, {"a": None}, None],
            "day": pyarrow.array([1, 2, 3], pyarrow.date32()),
        }
    )
    write_table(table, name)
    summary = load(name, "--type", "day=string", code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (2, 1)
    assert "no value in the key column" in summary["first_rejects"][0]["reason"]
    assert bins(1) == {"s": "x", "l": [1, 2], "m": {"a": 1}, "day": "1970-01-02"}
    assert bins(2) == {"l": [], "m": {"a": None}, "day": "1970-01-03"}


@needs_pyarrow
def test_columns_that_no_bin_can_be_are_refused_at_once(run, set_name, bins):
    day = pyarrow.array([1], pyarrow.date32())
    pyarrow.parquet.write_table(pyarrow.table({"id": [1], "n": [1], "day": day}), "a.parquet")
    arguments = ["load", "a.parquet", "-s", set_name, "--key", "id"]
    assert "column day of a.parquet is date32" in run(*arguments, code=ExitCode.USAGE).stderr
    assert bins(1) is None
    run(*arguments, "--bins", "n")
    assert bins(1) == {"n": 1}


@needs_pyarrow
@pytest.mark.parametrize(
    ("make", "kind", "better"),
    [
        (lambda: pyarrow.array([1.0]), "double", "int"),
        (lambda: pyarrow.array([1.0], pyarrow.float32()), "float", "int"),
        (lambda: pyarrow.array([True]), "bool", "string"),
        (lambda: pyarrow.array([[1]]), r"list<\w+: int64>", "string"),
        (lambda: pyarrow.array([{"a": 1}]), "struct<a: int64>", "string"),
        (lambda: pyarrow.array([1], pyarrow.date32()), r"date32\[day\]", "string"),
        # Parquet has no dictionary of booleans: they come back as booleans.
        (lambda: pyarrow.array([True, False]).dictionary_encode()[:1], "(dictionary<values=bool, .+>|bool)", "string"),
    ],
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_key_column_of_a_type_that_no_key_has_is_refused_at_once(run, set_name, name, make, kind, better):
    write_table(pyarrow.table({"id": make(), "n": [1]}), name)
    options = ["--rejects", "rejects.jsonl", "--checkpoint", "checkpoint"]
    result = run("load", name, "-s", set_name, "--key", "id", *options, code=ExitCode.USAGE)
    message = f"the key column id of {name} is {kind}, but keys are int, string or bytes: say --type id={better},"
    assert re.search(message, result.stderr)
    assert os.listdir() == [name], "nothing keeps the command from being run again with another column"


@needs_pyarrow
def test_a_type_that_is_given_decides_whether_a_column_can_be_the_key(run, set_name, load, bins):
    write_table(pyarrow.table({"id": [1.0, 2.5], "n": [1, 2]}), "a.parquet")
    arguments = ["load", "a.parquet", "-s", set_name, "--key", "id", "--type"]
    for kind in ("float", "bool", "geojson"):
        message = run(*arguments, f"id={kind}", code=ExitCode.USAGE).stderr
        assert f"the key column id is {kind}, but keys are int, string or bytes: say --type id=string" in message
    assert load("a.parquet", "--type", "id=int", code=ExitCode.REJECTED)["confirmed"] == 1
    assert load("a.parquet", "--type", "id=string")["confirmed"] == 2
    assert bins(1) == {"n": 1} and bins("2.5") == {"n": 2}


@needs_pyarrow
@pytest.mark.parametrize("kind", ["uint16", "large_string", "string_view", "binary", "large_binary", "dictionary"])
def test_key_columns_of_arrow_files(load, bins, kind):
    values = [1, 2] if kind == "uint16" else [b"a", b"b"] if "binary" in kind else ["a", "b"]
    column = pyarrow.array(values)
    column = column.dictionary_encode() if kind == "dictionary" else column.cast(getattr(pyarrow, kind)())
    write_table(pyarrow.table({"id": column, "n": [1, 2]}), "a.arrow")
    assert load("a.arrow")["confirmed"] == 2
    assert [bins(value) for value in values] == [{"n": 1}, {"n": 2}]


@needs_pyarrow
def test_a_key_column_of_nulls_rejects_its_rows(load):
    write_table(pyarrow.table({"id": pyarrow.nulls(2), "n": [1, 2]}), "a.parquet")
    assert load("a.parquet", code=ExitCode.REJECTED)["rejected"] == 2
    write_table(pyarrow.table({"id": pyarrow.nulls(0), "n": []}), "empty.parquet")
    assert load("empty.parquet")["rows"] == 0


@pytest.mark.parametrize(
    ("first", "columns"), [('{"a": 1, "b": {"id": 1}}', "a, b"), ('{"ID": 1}', "ID"), ("{}", "none")]
)
@pytest.mark.parametrize("file", ["a.jsonl", "-"])
def test_json_lines_whose_first_row_lacks_the_key_column_are_refused_at_once(run, set_name, file, first, columns):
    content = f'\n{first}\n{{"id": 2, "n": 2}}\n'
    if file != "-":
        write(file, content)
    before = os.listdir()
    options = ["--format", "jsonl", "--rejects", "rejects.jsonl", "--checkpoint", "checkpoint"]
    result = run("load", file, "-s", set_name, "--key", "id", *options, code=ExitCode.USAGE, input=content)
    assert f"there is no column 'id'; the first row has {columns}\n" in result.stderr
    assert os.listdir() == before, "nothing keeps the command from being run again with another column"


@pytest.mark.parametrize("first", ['{"id": null, "n": 1}', '{"id": 1.5, "n": 1}', '{"id": [1], "n": 1}', "bad"])
def test_a_first_row_of_json_that_has_no_usable_key_is_rejected(load, bins, first):
    write("a.jsonl", first + '\n{"id": 2, "n": 2}\n{"n": 3}\n{"id": 4, "n": 4}\n')
    summary = load("a.jsonl", code=ExitCode.REJECTED)
    assert (summary["rows"], summary["confirmed"]) == (4, 2)
    assert [told["row"] for told in summary["first_rejects"]] == [1, 3]
    assert "no value in the key column id" in summary["first_rejects"][1]["reason"]
    assert bins(2) == {"n": 2} and bins(4) == {"n": 4}


def test_a_name_that_an_object_of_json_has_twice_rejects_its_row(load, bins):
    twice = [
        '{"id": 1, "n": 1, "n": 1}',
        '{"id": 2, "id": 2, "n": 1}',
        '{"id": 3, "m": {"a": [1, {"b": 1, "c": 2, "b": 3}]}}',
        '{"id": 4, "m": {"$bytes": "AA==", "$bytes": "AA=="}}',
        r'{"id": 5, "\u0061": null, "a": 1}',
    ]
    once = '{"id": 6, "n": 1, "N": "n: 1, n: 2", "m": [{"n": 1}, {"n": 2}, {"n": {"n": 3}}]}'
    write("a.jsonl", "\n".join([*twice, once]))
    summary = load("a.jsonl", "--rejects", "rejects.jsonl", code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (1, 5)
    rejected = lines("rejects.jsonl")
    assert [told["text"] for told in rejected] == twice
    names = ["n", "id", "b", "$bytes", "a"]
    assert [told["reason"] for told in rejected] == [f"an object has the name {name!r} twice" for name in names]
    assert bins(6) == {"n": 1, "N": "n: 1, n: 2", "m": [{"n": 1}, {"n": 2}, {"n": {"n": 3}}]}
    assert [bins(n) for n in range(1, 6)] == [None] * 5


def test_a_name_that_a_cell_of_json_has_twice_rejects_its_row(load, bins):
    rows = ['{"a": 1, "a": 2};', '{};{"type": 1, "type": 2}', '{"$map": [[1, 2], [1, 3]]};', '{"a": 1};']
    write("a.csv", "id;j;g\n" + "".join(f"{number};{row}\n" for number, row in enumerate(rows)))
    options = ["--delimiter", ";", "--type", "j=json", "--type", "g=geojson"]
    summary = load("a.csv", *options, code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (1, 3)
    reasons = [told["reason"] for told in summary["first_rejects"]]
    expected = ["the name 'a' twice", "the name 'type' twice", "$map has the key '1' twice"]
    assert all(part in reason for part, reason in zip(expected, reasons, strict=True)), reasons
    assert bins(3) == {"j": {"a": 1}}


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.csv", "id,n\n1.5,1\n2.5,2\n", []),
        ("a.csv", "id,n\ntrue,1\n", []),
        ("a.csv", "id,n\n1,1\n", ["--type", "id=float"]),
        ("a.jsonl", '{"id": 1, "n": 1}', ["--type", "id=bool"]),
    ],
)
def test_a_key_column_of_text_that_no_key_can_be_is_refused_at_once(run, set_name, name, content, options):
    write(name, content)
    result = run("load", name, "-s", set_name, "--key", "id", *options, code=ExitCode.USAGE)
    assert re.search(
        "the key column id is (float|bool), but keys are int, string or bytes: say --type id=string", result.stderr
    )
    assert os.listdir() == [name]


def test_json_lines_keep_what_json_reads(load, bins):
    """A byte order mark may be on any line (files that were joined); a lone surrogate is in the rejected record."""
    with open("a.jsonl", "wb") as file:
        file.write(b'\xef\xbb\xbf{"id": 1, "n": 1}\n\xef\xbb\xbf{"id": 2, "n": 2}\n{"id": 3, "s": "\xed\xa0\x80"}\n')
        file.write(b'{"id": 4, "s": "\xff"}\n{"id": 5, "n": 5}')
    summary = load("a.jsonl", code=ExitCode.REJECTED)
    assert [bins(n) for n in (1, 2, 5)] == [{"n": n} for n in (1, 2, 5)]
    assert [told["row"] for told in summary["first_rejects"]] == [3, 4]
    assert summary["first_rejects"][0]["record"] == {"id": 3, "s": "\ud800"}


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\n1,2\n", [], "no column 'id'; the file has a, b"),
        ("id,b\n1,2\n", ["--bins", "c"], "no column 'c'"),
        ("id,b,b\n1,2,3\n", [], "two columns of the name 'b'"),
        ("id,\n1,2\n", [], "without a name"),
        ("id\n1\n", [], "no other"),
        ("", [], "is empty"),
        ("id,a_name_of_more_than_15\n1,2\n", [], "--bins SHORT=a_name_of_more_than_15"),
        ("id,b\n1,2\n", ["--type", "c=int"], "--type c"),
        ("id,b\n1,2\n", ["--type", "b=integer"], "int, float"),
        ("id,b\n1,2\n", ["--bins", "b,b"], "twice"),
        ("id,b\n1,2\n", ["--delimiter", "ab"], "--delimiter"),
        ("id,b\n1,2\n", ["--format", "jsonl", "--delimiter", ";"], "go with CSV"),
        ('"id,b\n1,2\n', [], "header"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_at_once(run, set_name, content, options, message):
    write("a.csv", content)
    result = run("load", "a.csv", "-s", set_name, "--key", "id", *options, code=ExitCode.USAGE)
    assert message in result.stderr


def test_a_file_that_cannot_be_read(run, set_name):
    arguments = ["-s", set_name, "--key", "id"]
    assert "No such file" in run("load", "none.csv", *arguments, code=ExitCode.FILE).stderr
    assert "--format" in run("load", "a.dat", *arguments, code=ExitCode.USAGE).stderr
    write("a.csv.gz", "not compressed\n")
    run("load", "a.csv.gz", *arguments, code=ExitCode.FILE)
    with gzip.open("b.csv.gz", "wt") as file:
        file.write("id,n\n" + "".join(f"{n},{n}\n" for n in range(100_000)))
    with open("b.csv.gz", "rb+") as file:
        file.truncate(os.path.getsize("b.csv.gz") // 2)
    result = run("load", "b.csv.gz", *arguments, "--json", code=ExitCode.FILE)
    summary = json.loads(result.stdout)
    assert 0 < summary["confirmed"] == summary["done"] and not summary["complete"], "what came before is written"
    if HAS_PYARROW:
        write("a.parquet", "no Parquet")
        run("load", "a.parquet", *arguments, code=ExitCode.FILE)
        write("a.arrow", "no Arrow")
        run("load", "a.arrow", *arguments, code=ExitCode.FILE)


def test_rows_that_cannot_be_written_go_to_a_file(load, bins, monkeypatch):
    monkeypatch.setattr("aerolane.cli.sources.csv_rows.SAMPLE", 2)
    content = "id,n,s\n1,1,x\n2,2,y\n3,zzz,x\n4,4\n,5,x\n6,,\n7,7,z\n"
    write("a.csv", content)
    summary = load("a.csv", "--rejects", "rejects.jsonl", code=ExitCode.REJECTED)
    assert (summary["rows"], summary["confirmed"], summary["rejected"], summary["done"]) == (7, 3, 4, 7)
    rejected = lines("rejects.jsonl")
    assert [(told["row"], told["line"]) for told in rejected] == [(3, 4), (4, 5), (5, 6), (6, 7)]
    reasons = [told["reason"] for told in rejected]
    assert "'zzz' is not of type int" in reasons[0] and "--type n=string" in reasons[0]
    assert "2 cells" in reasons[1] and rejected[1]["text"] == "4,4"
    assert "no value in the key column id" in reasons[2] and rejected[2]["record"] == {"id": None, "n": 5, "s": "x"}
    assert "no column has a value" in reasons[3]
    assert bins(7) == {"n": 7, "s": "z"} and bins(3) is None
    assert summary["first_rejects"] == rejected


def test_what_the_client_and_the_server_refuse_is_rejected(load, bins, client, set_name):
    rows = [
        {"id": 1, "n": 1},
        {"id": 1.5, "n": 1},
        {"id": [1], "n": 1},
        {"id": True, "n": 1},
        {"id": 2, "n": 2**70},
        {"id": 3, "a name of 16 byte": 1},
        {"id": 4, "big": "x" * (9 << 20)},
        {"id": 5, "n": {"$bytes": "?"}},
        {"id": 6, "n": 6},
    ]
    write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows) + "nonsense\n[1]\n" + "[" * 100_000 + "\n")
    summary = load("a.jsonl", "--rejects", "rejects.jsonl", code=ExitCode.REJECTED)
    assert (summary["rows"], summary["confirmed"]) == (12, 2)
    rejected = {told["row"]: told for told in lines("rejects.jsonl")}
    assert sorted(rejected) == [2, 3, 4, 5, 6, 7, 8, 10, 11, 12]
    assert rejected[7]["code"] == "RECORD_TOO_BIG" and len(rejected[7]["record"]["big"]) == 9 << 20
    assert rejected[10]["text"] == "nonsense"
    assert not any(told["in_doubt"] for told in rejected.values())
    assert bins(6) == {"n": 6}
    # The records of rejected rows can be loaded again, once they are right.
    with open("again.jsonl", "w") as file:
        file.write(json.dumps(rejected[6]["record"] | {"a name of 16 byte": None, "n": 3}) + "\n")
    load("again.jsonl")
    assert bins(3) == {"n": 3}


def test_bytes_that_are_not_utf8_reject_their_row(load, bins):
    with open("a.csv", "wb") as file:
        file.write(b"id,s\n1,\xff\n2,ok\n")
    summary = load("a.csv", "--rejects", "rejects.jsonl", code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (1, 1)
    assert bins(2) == {"s": "ok"} and bins(1) is None


def test_a_load_can_be_stopped_by_its_rejects(load, bins):
    write("a.jsonl", "".join(f'{{"id": {n}, "n": "{n}"}}\n' if n % 2 else "bad\n" for n in range(1, 101)))
    options = ["--max-rejects", 3, "--rejects", "rejects.jsonl", "--checkpoint", "checkpoint"]
    summary = load("a.jsonl", *options, code=ExitCode.REJECTED)
    assert (summary["rejected"], summary["done"], summary["complete"]) == (3, 7, False)
    assert "row 8" in summary["error"]
    assert [told["row"] for told in lines("rejects.jsonl")] == [2, 4, 6]
    assert bins(7) == {"n": "7"}
    summary = load("a.jsonl", "--rejects", "rejects.jsonl", "--checkpoint", "checkpoint", code=ExitCode.REJECTED)
    assert (summary["resumed_after"], summary["rejected_before"], summary["complete"]) == (7, 3, True)
    assert [told["row"] for told in lines("rejects.jsonl")] == list(range(2, 101, 2))
    assert all(bins(n) == {"n": str(n)} for n in range(1, 101, 2))


def test_what_happens_to_records_that_are_there(load, bins, client, set_name):
    client.put_blocking(Key("test", set_name, 1), {"old": 1})
    write("a.csv", "id,n\n1,1\n2,2\n")
    load("a.csv")
    assert bins(1) == {"old": 1, "n": 1}
    load("a.csv", "--exists", "replace")
    assert bins(1) == {"n": 1}
    summary = load("a.csv", "--exists", "create", code=ExitCode.REJECTED)
    assert summary["rejected"] == 2 and summary["first_rejects"][0]["code"] == "KEY_EXISTS_ERROR"
    load("a.csv", "--ttl", 1000, "--no-send-key")
    record = client.get_blocking(Key("test", set_name, 1))
    assert 900 < record.ttl <= 1000


def test_a_namespace_that_does_not_exist_stops_the_load(load):
    write("a.csv", "id,n\n1,1\n2,2\n")
    summary = load("a.csv", "-n", "nowhere", "--rejects", "rejects.jsonl", code=ExitCode.FAILED)
    assert (summary["rejected"], summary["done"]) == (0, 0) and "nowhere" in summary["error"]


def test_a_user_who_may_not_write_stops_the_load(load, new_cluster, monkeypatch):
    cluster = new_cluster(nodes=1)
    write("a.csv", "id,n\n1,1\n2,2\n")
    with cluster.inject("result", 81, on=["write", "batch"]):
        summary = load("a.csv", "-h", cluster.seeds, code=ExitCode.FAILED)
    assert (summary["rejected"], summary["done"]) == (0, 0) and "ROLE_VIOLATION" in summary["error"]


def test_a_checkpoint_is_for_one_load(load, run, set_name):
    write("a.csv", "id,n\n1,1\n")
    assert load("a.csv", "--checkpoint", "c")["confirmed"] == 1
    again = load("a.csv", "--checkpoint", "c")
    assert (again["confirmed"], again["resumed_after"], again["complete"]) == (0, 1, True)
    write("b.csv", "id,n\n1,1\n")
    arguments = ["load", "b.csv", "-s", set_name, "--key", "id", "--checkpoint"]
    assert "another load" in run(*arguments, "c", code=ExitCode.USAGE).stderr
    for content in ("", "[]", "{}", '{"version": 1, "load": null}'):
        write("d", content)
        run(*arguments, "d", code=ExitCode.USAGE)
    run(*arguments, "nowhere/c", code=ExitCode.FILE)
    write("full", "something\n")
    assert "delete it" in run(*arguments, "e", "--rejects", "full", code=ExitCode.USAGE).stderr


def test_a_resumed_load_writes_no_confirmed_row_again(load, client, set_name, monkeypatch):
    write("a.csv", "id,n\n" + "".join(f"{n},{n}\n" for n in range(1, 21)))
    load("a.csv", "--checkpoint", "c")
    with open("c") as file:
        held = json.load(file)
    # As a load leaves it that ended while rows 6 and 11 had no outcome.
    held["state"] |= {"done": 5, "confirmed": 5, "beyond": [[7, 10], [12, 20]]}
    write("c", json.dumps(held))
    summary = load("a.csv", "--checkpoint", "c")
    assert (summary["rows"], summary["confirmed"], summary["done"]) == (2, 2, 20)
    generations = [client.get_blocking(Key("test", set_name, n)).generation for n in range(1, 21)]
    assert generations == [2 if n in (6, 11) else 1 for n in range(1, 21)]


def test_memory_is_bounded_by_a_window_of_rows(load, monkeypatch):
    monkeypatch.setattr(loading, "WINDOW_ROWS", 50)
    longest = 0
    settle = loading.Loader._settle

    def watched(loader):
        nonlocal longest
        longest = max(longest, len(loader._pending))
        settle(loader)

    monkeypatch.setattr(loading.Loader, "_settle", watched)
    write("a.csv", "id,n\n" + "".join(f"{n},{n}\n" for n in range(5000)))
    assert load("a.csv")["confirmed"] == 5000
    assert 1 < longest <= 50


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_the_load_and_what_was_confirmed_stays(load, bins):
    write("a.jsonl", '{"id": 1, "n": 1}\nbad\n{"id": 3, "n": 3}\n')
    summary = load("a.jsonl", "--rejects", "/dev/full", "--checkpoint", "c", code=ExitCode.FILE)
    assert "could not write /dev/full (rejected rows): No space left on device" in summary["error"]
    assert (summary["done"], summary["rejected"], summary["complete"]) == (1, 0, False)
    assert bins(1) == {"n": 1}
    summary = load("a.jsonl", "--rejects", "rejects.jsonl", "--checkpoint", "c", code=ExitCode.REJECTED)
    assert (summary["resumed_after"], summary["rejected"], summary["done"]) == (1, 1, 3)
    assert [told["row"] for told in lines("rejects.jsonl")] == [2]
    assert bins(3) == {"n": 3}


def record_of_every_kind():
    return {
        "i": -(2**63),
        "f": 0.1,
        "nan": math.nan,
        "b": True,
        "s": 'line\n"quoted", é',
        "raw": b"\0\xff",
        "map": NESTED,
        "geo": GeoJSON(POINT),
        "$x": 1,
    }


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_json_lines_bring_everything_back(run, load, client, set_name, name):
    policy = WritePolicy(send_key=True)
    for key in (1, "one", b"\1"):
        client.put_blocking(Key("test", set_name, key), record_of_every_kind(), policy=policy)
    client.put_blocking(Key("test", set_name, "no key"), {"n": 1})
    result = run("export", "-s", set_name, "-o", name, "--json")
    assert json.loads(result.stdout)["records"] == 4 and json.loads(result.stdout)["without_key"] == 1
    before = {key: client.get_blocking(Key("test", set_name, key)).bins for key in (1, "one", b"\1")}
    client.truncate_blocking("test", set_name)
    summary = load(name, key="key", code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (3, 1), "the key of one is not known"
    for key, bins in before.items():
        again = client.get_blocking(Key("test", set_name, key)).bins
        assert repr(sorted(again.items())) == repr(sorted(bins.items()))


def test_an_exported_record_without_a_key_has_a_null(run, load, client, set_name):
    client.put_blocking(Key("test", set_name, "no key"), {"n": 1})
    run("export", "-s", set_name, "-o", "a.jsonl")
    assert lines("a.jsonl") == [{"key": None, "n": 1}]
    # The first row may be such a record: it is rejected, and does not keep the others of the file from being loaded.
    with open("a.jsonl", "a") as file:
        file.write('{"key": 2, "n": 2}\n')
    summary = load("a.jsonl", key="key", code=ExitCode.REJECTED)
    assert (summary["confirmed"], summary["rejected"]) == (1, 1)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.arrow"])
def test_columns_bring_plain_values_back(run, load, client, set_name, name):
    if "parquet" in name or "arrow" in name:
        pytest.importorskip("pyarrow")
    for n in range(200):
        bins = {"i": n, "f": n / 3, "b": n % 2 == 0, "s": f"text, {n}\n"} | ({"more": n} if n % 3 else {})
        client.put_blocking(Key("test", set_name, n), bins, policy=WritePolicy(send_key=True))
    before = {n: client.get_blocking(Key("test", set_name, n)).bins for n in range(200)}
    run("export", "-s", set_name, "-o", name)
    client.truncate_blocking("test", set_name)
    assert load(name, key="key")["confirmed"] == 200
    assert {n: client.get_blocking(Key("test", set_name, n)).bins for n in range(200)} == before


def test_columns_of_an_export_are_chosen(run, client, set_name):
    key = Key("test", set_name, "k")
    client.put_blocking(key, {"a": 1, "b": 2, "key": 3}, policy=WritePolicy(send_key=True))
    export = ["export", "-s", set_name]
    assert "--key NAME" in run(*export, "-o", "a.csv", code=ExitCode.USAGE).stderr
    run(*export, "-o", "a.csv", "--key", "id", "--digest", "--meta", "--bins", "a,none")
    with open("a.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row == {"id": "k", "digest": key.digest, "generation": "1", "ttl": "", "a": "1", "none": ""}
    result = run(*export, "-o", "-", "--format", "jsonl", "--key", "id", "--json")
    assert json.loads(result.stdout) == {"id": "k", "a": 1, "b": 2, "key": 3}
    assert json.loads(result.stderr)["records"] == 1
    run(*export, "-o", "-", code=ExitCode.USAGE)
    run(*export, "-o", "b.csv", "--bins", "a,a", code=ExitCode.USAGE)


def test_an_export_that_fails_leaves_no_file(run, client, set_name, monkeypatch):
    monkeypatch.setattr(text, "SAMPLE", 2)
    for n in range(20):
        client.put_blocking(Key("test", set_name, n), {f"a{n}": n, "a": n})
    export = ["export", "-s", set_name, "-o", "a.csv"]
    # Which records come first is the cluster's to say, so each has a bin of its own.
    assert "--bins" in run(*export, code=ExitCode.USAGE).stderr
    assert os.listdir() == []
    run(*export, "--bins", "a", "--overwrite")
    assert os.listdir() == ["a.csv"]
    assert stat.S_IMODE(os.stat("a.csv").st_mode) & 0o400
    assert "--overwrite" in run(*export, code=ExitCode.USAGE).stderr
    run("export", "-s", set_name, "-o", "nowhere/a.csv", code=ExitCode.FILE)
    if os.path.exists("/dev/full"):
        result = run("export", "-s", set_name, "-o", "/dev/full", "--format", "jsonl", code=ExitCode.FILE)
        assert "No space left" in result.stderr


@needs_pyarrow
def test_values_of_two_types_do_not_fit_a_column(run, client, set_name):
    client.put_blocking(Key("test", set_name, 1), {"a": 1}, policy=WritePolicy(send_key=True))
    client.put_blocking(Key("test", set_name, 2), {"a": "text"}, policy=WritePolicy(send_key=True))
    export = ["export", "-s", set_name, "-o", "a.parquet"]
    message = run(*export, code=ExitCode.USAGE).stderr
    assert 'bin "a" has values of several types: int' in message and "--type BIN=.." in message
    message = run(*export, "--type", "a=int", code=ExitCode.USAGE).stderr
    assert 'bin "a" of the record with the key 2: a str does not fit int64' in message
    assert os.listdir() == []
    run(*export, "--type", "a=json")
    assert sorted(pyarrow.parquet.read_table("a.parquet")["a"].to_pylist()) == ['"text"', "1"]


@needs_pyarrow
def test_columns_of_arrow_files(run, client, set_name):
    for n in range(5):
        bins = {"a": n, "tags": [f"t{n}"], "at": {"x": n, "y": 0.5}}
        client.put_blocking(Key("test", set_name, n), bins, policy=WritePolicy(send_key=True))
    key = Key("test", set_name, 0)
    export = ["export", "-s", set_name, "-o", "a.arrow", "--overwrite"]
    run(*export, "--digest", "--meta", "--bins", "tags,at,none")
    with pyarrow.memory_map("a.arrow") as file:
        table = pyarrow.ipc.open_file(file).read_all()
    assert table.schema.names == ["key", "digest", "generation", "ttl", "tags", "at", "none"]
    (row,) = (row for row in table.to_pylist() if row["key"] == 0)
    assert row == {
        "key": 0,
        "digest": key.digest,
        "generation": 1,
        "ttl": None,
        "tags": ["t0"],
        "at": {"x": 0, "y": 0.5},
        "none": None,
    }
    assert "no such column" in run(*export, "--type", "b=int", code=ExitCode.USAGE).stderr
    assert "keys are" in run(*export, "--type", "key=bool", code=ExitCode.USAGE).stderr
    assert 1 <= json.loads(run(*export, "--limit", "3", "--json").stdout)["records"] <= 3


@needs_pyarrow
def test_types_of_columns_are_given(run, client, set_name):
    client.put_blocking(Key("test", set_name, 1), {"a": 1}, policy=WritePolicy(send_key=True))
    run("export", "-s", set_name, "-o", "a.parquet", "--type", "a=float", "--meta")
    table = pyarrow.parquet.read_table("a.parquet")
    assert table.schema.field("a").type == pyarrow.float64() and table["a"].to_pylist() == [1.0]
    assert table["generation"].to_pylist() == [1] and table["ttl"].to_pylist() == [None]


def test_an_empty_set(run, set_name, load):
    for name in ["a.csv", "a.jsonl"] + (["a.parquet", "a.arrow"] if HAS_PYARROW else []):
        assert json.loads(run("export", "-s", set_name, "-o", name, "--json").stdout)["records"] == 0
    with open("a.csv") as file:
        assert file.read() == "key\n"
    assert load("a.jsonl")["rows"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the message is the system's")
def test_pyarrow_is_asked_for_by_name(run, set_name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write("a.parquet", "")
    assert "pip install pyarrow" in run("load", "a.parquet", "-s", set_name, "--key", "id", code=ExitCode.USAGE).stderr
    assert "pip install pyarrow" in run("export", "-s", set_name, "-o", "b.parquet", code=ExitCode.USAGE).stderr
