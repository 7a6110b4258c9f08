"""`aerolane export`: the records of a set, in a file."""

import contextlib
import time
from typing import Annotated

import typer

from aerolane import DataSet
from aerolane.cli import output
from aerolane.cli.column_types import parse_types
from aerolane.cli.connection import Connection
from aerolane.cli.exit_codes import ExitCode, Failure, file_failure, usage
from aerolane.cli.interrupts import Interrupted, Interrupts
from aerolane.cli.progress import Shown, shown
from aerolane.cli.sinks import ArrowSink, Columns, RecordSink, open_sink
from aerolane.cli.sources.files import Format
from aerolane.exceptions import InvalidArgumentError
from aerolane.sync import Cluster, RecordStream

# Records between two looks at the clock.
_LOOK_EVERY = 256


def export(
    connection: Connection,
    set_name: Annotated[str, typer.Option("-s", "--set", help="The set to read.")],
    out: Annotated[str, typer.Option("-o", "--output", help="The file; - is standard output.")],
    namespace: Annotated[str, typer.Option("-n", "--namespace")] = "test",
    file_format: Annotated[
        Format | None, typer.Option("--format", help="Default: by the extension of the file.")
    ] = None,
    bins: Annotated[str | None, typer.Option(help="Only these bins: a,b. Default: all.")] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="BIN=TYPE",
            help="Type of a column (Parquet, Arrow). Default: a type that fits the first records.",
        ),
    ] = None,
    key: Annotated[str, typer.Option("-k", "--key", help="Name of the column for the keys.")] = "key",
    digest: Annotated[bool, typer.Option("--digest", help="Add a column digest, 40 hexadecimal digits.")] = False,
    meta: Annotated[
        bool, typer.Option("--meta", help="Add columns generation and ttl (seconds; empty: never expires).")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="The most records.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, on standard error with -o -.")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Show no progress.")] = False,
) -> None:
    """Write the records of a set to a CSV, JSON lines, Parquet or Arrow file.

    A row has its key if the key is stored with the record (load and put store it). The file appears when it is
    complete: an export that fails or is interrupted leaves no file.
    """
    chosen = [name.strip() for name in bins.split(",")] if bins is not None else None
    columns = Columns(key, chosen, parse_types(types or ()), digest, meta)
    began = time.monotonic()
    # With -o - standard error has the summary, and nothing else if that is JSON.
    silent = quiet or (as_json and out == "-")
    try:
        with contextlib.ExitStack() as stack:
            interrupts = stack.enter_context(Interrupts())
            sink = open_sink(out, file_format, columns, overwrite=overwrite)
            stack.enter_context(sink)
            with interrupts.waiting:
                cluster = stack.enter_context(connection.connect())
            progress = stack.enter_context(shown(None, quiet=silent))
            count = _write(cluster, DataSet.of(namespace, set_name), chosen, limit, sink, interrupts, progress)
            sink.finish()
    except Interrupted:
        raise Failure(ExitCode.INTERRUPTED, "interrupted: the export is not complete") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise file_failure(out, error, "write") from None
    seconds = time.monotonic() - began
    if as_json:
        told = {"file": out, "records": count, "without_key": sink.without_key, "seconds": round(seconds, 3)}
        output.as_json(told, to_error=out == "-")
        return
    output.note(f"{count:,} records in {seconds:.1f} s")
    if sink.without_key:
        output.note(f"{sink.without_key:,} of them have no key stored with them: --digest tells them apart")


def _write(
    cluster: Cluster,
    dataset: DataSet,
    bins: list[str] | None,
    limit: int | None,
    sink: RecordSink | ArrowSink,
    interrupts: Interrupts,
    progress: Shown,
) -> int:
    query = cluster.create_session().query(dataset)
    if bins:
        query = query.bins(*bins)
    if limit is not None:
        query = query.limit(limit)
    count = 0
    with contextlib.ExitStack() as stack:
        with interrupts.waiting:
            stream = stack.enter_context(query.execute())
        if isinstance(sink, ArrowSink):
            return _write_columns(stream, sink, interrupts, progress)
        while True:
            with interrupts.waiting:
                result = next(stream, None)
            if result is None:
                return count
            sink.write(result.key, result.record_or_raise())
            count += 1
            if count % _LOOK_EVERY == 0:
                progress.update(count, f"{count:,} records")


def _write_columns(stream: RecordStream, sink: ArrowSink, interrupts: Interrupts, progress: Shown) -> int:
    parts = iter(stream.to_arrow(**sink.options()))
    count = 0
    while True:
        try:
            with interrupts.waiting:
                part = next(parts, None)
        except InvalidArgumentError as error:
            raise usage(f"the records do not fit columns: {error}: say --type BIN=.., or use JSON lines") from None
        if part is None:
            return count
        sink.write(part)
        count += len(part)
        progress.update(count, f"{count:,} records")
