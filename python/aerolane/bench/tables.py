"""Tables: `write_table` beside the best batch-write loop with each client, and reading back as columns and as objects.

`python -m aerolane.bench.tables` starts an embedded cluster in a process of its own, or takes `--hosts`, and runs each
case in a process of its own. It needs pyarrow, which makes the table: a stream of record batches, so that no case holds
all of it. A row has five columns: the key, an int, a float, a text and a bool. CPU time is that of the process,
less what making the same batches takes alone.
"""

import argparse
import contextlib
import gc
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

NAMESPACE, SET = "test", "tables"
# Rows of a record batch of the table.
BATCH = 10_000
# Rows of a batch call in loops by hand.
CALL = 1_000
NAMES = ("id", "n", "x", "s", "t")

Case = Callable[[str, int], int]


def batches(rows: int) -> Iterator[Any]:
    """The table, part by part."""
    pa = importlib.import_module("pyarrow")
    texts = pa.array([f"text number {n}" for n in range(BATCH)])
    floats = pa.array([n / 7 for n in range(BATCH)])
    bools = pa.array([n % 3 == 0 for n in range(BATCH)])
    for first in range(0, rows, BATCH):
        ints = pa.array(range(first, min(first + BATCH, rows)), pa.int64())
        length = len(ints)
        yield pa.record_batch([ints, ints, *(column.slice(0, length) for column in (floats, texts, bools))], NAMES)


def source(_host: str, rows: int) -> int:
    """Only makes the batches."""
    return sum(len(batch) for batch in batches(rows))


def reader(rows: int) -> Any:
    """The table as a stream."""
    pa = importlib.import_module("pyarrow")
    of = {"id": pa.int64(), "n": pa.int64(), "x": pa.float64(), "s": pa.utf8(), "t": pa.bool_()}
    return pa.RecordBatchReader.from_batches(pa.schema(list(of.items())), batches(rows))


def slices(rows: int) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """The keys and bins of a batch call, made as fast as Python makes them."""
    for batch in batches(rows):
        for first in range(0, len(batch), CALL):
            part = batch.slice(first, CALL)
            keys, *columns = (column.to_pylist() for column in part.columns)
            yield keys, [{"n": n, "x": x, "s": s, "t": t} for n, x, s, t in zip(*columns, strict=True)]


@contextlib.contextmanager
def ours(host: str) -> Iterator[Any]:
    """A client of ours."""
    native = importlib.import_module("aerolane.native")
    client = native.new_client_blocking(native.ClientPolicy(), host)
    yield client
    client.close_blocking()


def write_table(host: str, rows: int) -> int:
    """`write_table`."""
    dataset = importlib.import_module("aerolane").DataSet(NAMESPACE, SET)
    with ours(host) as client:
        summary = client.write_table_blocking(reader(rows), dataset, key="id")
        summary.raise_for_failures()
        return int(summary.ok)


def put_loop(host: str, rows: int) -> int:
    """Our writer, a put for each row."""
    native = importlib.import_module("aerolane.native")
    with ours(host) as client, client.writer_blocking(failures_only=True) as writer:
        for keys, bins in slices(rows):
            for key, row in zip(keys, bins, strict=True):
                writer.put(native.Key(NAMESPACE, SET, key), row)
        writer.flush()
        return int(writer.progress().ok)


def _native_loop(name: str) -> Case:
    def run(host: str, rows: int) -> int:
        native = importlib.import_module(name)
        client = native.new_client_blocking(native.ClientPolicy(), host)
        written = 0
        for keys, bins in slices(rows):
            made = [native.Key(NAMESPACE, SET, key) for key in keys]
            written += sum(row.result_code == 0 for row in client.batch_write_blocking(made, bins))
        return written

    return run


def aerospike(host: str, rows: int) -> int:
    """The C client."""
    module = importlib.import_module("aerospike")
    records = importlib.import_module("aerospike_helpers.batch.records")
    write = importlib.import_module("aerospike_helpers.operations.operations").write
    name, _, port = host.partition(":")
    client = module.client({"hosts": [(name, int(port))]}).connect()
    written = 0
    for keys, bins in slices(rows):
        writes = [
            records.Write((NAMESPACE, SET, key), [write(name, value) for name, value in row.items()])
            for key, row in zip(keys, bins, strict=True)
        ]
        written += sum(row.result == 0 for row in client.batch_write(records.BatchRecords(writes)).batch_records)
    client.close()
    return written


def aerospike_py(host: str, rows: int) -> int:
    """aerospike-py."""
    module = importlib.import_module("aerospike_py")
    name, _, port = host.partition(":")
    client = module.client({"hosts": [(name, int(port))]}).connect()
    written = 0
    for keys, bins in slices(rows):
        pairs = [((NAMESPACE, SET, key), row) for key, row in zip(keys, bins, strict=True)]
        written += sum(row.result == 0 for row in client.batch_write(pairs).batch_records)
    client.close()
    return written


def _query(client: Any) -> Any:
    native = importlib.import_module("aerolane.native")
    return client.query_blocking(native.Statement(NAMESPACE, SET))


def read_columns(host: str, _rows: int) -> int:
    """Columns with a schema, one batch after the other."""
    pa = importlib.import_module("pyarrow")
    with ours(host) as client:
        stream = _query(client).to_arrow({"n": "int64", "x": "float64", "s": "utf8", "t": "bool"}, batch_rows=BATCH)
        return sum(len(batch) for batch in pa.RecordBatchReader.from_stream(stream))


def read_inferred(host: str, _rows: int) -> int:
    """Columns whose types are those of the records."""
    pa = importlib.import_module("pyarrow")
    with ours(host) as client:
        stream = _query(client).to_arrow(batch_rows=BATCH)
        return sum(len(batch) for batch in pa.RecordBatchReader.from_stream(stream))


def read_objects(host: str, _rows: int) -> int:
    """A loop that makes a Python list for each column, and a table of these."""
    pa = importlib.import_module("pyarrow")
    count = 0
    with ours(host) as client:
        columns: list[list[Any]] = [[], [], [], []]

        def flush() -> int:
            made = len(pa.record_batch([pa.array(column) for column in columns], NAMES[1:]))
            for column in columns:
                column.clear()
            return made

        for record in _query(client):
            bins = record.bins
            for column, name in zip(columns, NAMES[1:], strict=True):
                column.append(bins[name])
            if len(columns[0]) == BATCH:
                count += flush()
        return count + flush()


def native_objects(host: str, _rows: int) -> int:
    """The same loop with aerospike-native."""
    native, pa = importlib.import_module("aerospike_native"), importlib.import_module("pyarrow")
    client = native.new_client_blocking(native.ClientPolicy(), host)
    count = 0
    columns: list[list[Any]] = [[], [], [], []]
    for record in client.query_blocking(native.Statement(NAMESPACE, SET), native.PartitionFilter.all()):
        bins = record.bins
        for column, name in zip(columns, NAMES[1:], strict=True):
            column.append(bins[name])
        if len(columns[0]) == BATCH:
            count += len(pa.record_batch([pa.array(column) for column in columns], NAMES[1:]))
            for column in columns:
                column.clear()
    return count + len(columns[0])


WRITES: dict[str, Case] = {
    "write_table": write_table,
    "writer.put": put_loop,
    "aerolane batch_write": _native_loop("aerolane.native"),
    "aerospike-native": _native_loop("aerospike_native"),
    "aerospike": aerospike,
    "aerospike-py": aerospike_py,
}
READS: dict[str, Case] = {
    "to_arrow, schema": read_columns,
    "to_arrow, inferred": read_inferred,
    "objects": read_objects,
    "aerospike-native, objects": native_objects,
}
CASES = {"source": source} | WRITES | READS
OTHERS = {"aerospike-native": "aerospike_native", "aerospike": "aerospike", "aerospike-py": "aerospike_py"}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def child(name: str, host: str, rows: int) -> None:
    """Runs a case, and prints its figures."""
    case = CASES[name]
    # What is made once (modules, connections, threads) is there before.
    case(host, 0 if name in READS else min(rows, CALL))
    gc.collect()
    before, cpu, began = _resident(), _cpu(), time.monotonic()
    count = case(host, rows)
    figures = {
        "case": name,
        "rows": count,
        "cpu_us": round((_cpu() - cpu) / max(count, 1) * 1e6, 3),
        "rows_per_s": round(count / (time.monotonic() - began)),
        # The most that the process has had, above what it had before.
        "grown_mb": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 1e6, 1),
    }
    print(json.dumps(figures))


def _run(name: str, host: str, rows: int) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "aerolane.bench.tables", "--child", name, "--hosts", host, "--rows", str(rows)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"{name}: {result.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def _median(name: str, host: str, rows: int, count: int) -> dict[str, Any] | None:
    """The round with the median CPU time; `None`: the case has failed."""
    rounds = [figures for _ in range(count) if (figures := _run(name, host, rows))]
    return sorted(rounds, key=lambda figures: figures["cpu_us"])[len(rounds) // 2] if rounds else None


def _installed(name: str) -> bool:
    module = next((of for prefix, of in OTHERS.items() if name.split(",")[0] == prefix), None)
    if module is None:
        return True
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m aerolane.bench.tables", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", help="a cluster, as host:port; default: an embedded one")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--loop-rows", type=int, help="rows of the loops by hand (default: as --rows)")
    parser.add_argument("--rounds", type=int, default=1, help="how often each case is run; the median counts")
    parser.add_argument("--cases", help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        child(options.child, options.hosts, options.rows)
        return
    chosen = [name.strip() for name in options.cases.split(";")] if options.cases else [*WRITES, *READS]
    with contextlib.ExitStack() as stack:
        host = options.hosts
        if host is None:
            cluster = importlib.import_module("aerolane.testing").EmbeddedCluster
            host = stack.enter_context(cluster(nodes=1)).seeds
        _report(chosen, host, options)


def _report(chosen: list[str], host: str, options: argparse.Namespace) -> None:
    loop_rows = options.loop_rows or options.rows
    print(f"| case | rows | client CPU, µs per row | rows/s | memory grown, MB |\n|{'---|' * 5}")
    for name in chosen:
        if not _installed(name):
            print(f"{name}: not installed", file=sys.stderr)
            continue
        # Reads find what the writes have left. Once with a tenth of the rows, for what memory grows with.
        sizes = [options.rows // 10, options.rows] if name == "write_table" else []
        if not sizes:
            sizes = [loop_rows if name in WRITES else options.rows]
        for rows in sizes:
            figures = _median(name, host, rows, options.rounds)
            made = _median("source", host, rows, options.rounds) if name in WRITES else {"cpu_us": 0}
            if figures is None or made is None:
                continue
            cpu = figures["cpu_us"] - made["cpu_us"]
            print(
                f"| {name} | {figures['rows']:,} | {cpu:.2f} | {figures['rows_per_s']:,} | {figures['grown_mb']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
