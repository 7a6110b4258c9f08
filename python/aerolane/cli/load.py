"""`aerolane load`: the records of a file."""

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from aerolane import Behavior, DataSet, Expiration
from aerolane.cli import output
from aerolane.cli.checkpoint import Checkpoint, State, source_of
from aerolane.cli.column_types import parse_types
from aerolane.cli.connection import Connection
from aerolane.cli.exit_codes import ExitCode, Failure, usage
from aerolane.cli.interrupts import Interrupted, Interrupts
from aerolane.cli.loading import Loader, Summary, Target
from aerolane.cli.progress import shown
from aerolane.cli.rejects import Rejects
from aerolane.cli.sources import Source, open_source
from aerolane.cli.sources.files import Format
from aerolane.native import RecordExistsAction
from aerolane.policy import Settings

# Bytes of a bin's name.
_NAME_LIMIT = 15


class Exists(StrEnum):
    """What a row does to a record that is there."""

    UPDATE = "update"
    REPLACE = "replace"
    CREATE = "create"


_ACTIONS = {
    Exists.REPLACE: RecordExistsAction.REPLACE,
    Exists.CREATE: RecordExistsAction.CREATE_ONLY,
}


def load(
    connection: Connection,
    file: Annotated[str, typer.Argument(help="The file; - is standard input.")],
    set_name: Annotated[str, typer.Option("-s", "--set", help="The set to write to.")],
    key: Annotated[str, typer.Option("-k", "--key", help="The column of the keys (int, string or bytes).")],
    namespace: Annotated[str, typer.Option("-n", "--namespace")] = "test",
    file_format: Annotated[
        Format | None, typer.Option("--format", help="Default: by the extension of the file.")
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(help="Columns to write as bins, or BIN=COLUMN: a,b,short=long_name. Default: all except the key."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="COLUMN=TYPE", help="int, float, bool, string, bytes (base64), json, geojson."),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of a CSV file without a header.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Separates the cells of a CSV file. Default: a comma.")] = None,
    exists: Annotated[Exists, typer.Option(help="What to do with records that exist.")] = Exists.UPDATE,
    ttl: Annotated[int | None, typer.Option(help="Seconds; 0: never expires. Default: the namespace's.")] = None,
    send_key: Annotated[
        bool, typer.Option(help="Store the key with the record, so that exports can return it.")
    ] = True,
    rejects: Annotated[str | None, typer.Option(help="Write rejected rows to this file, as JSON lines.")] = None,
    max_rejects: Annotated[int | None, typer.Option(min=0, help="Stop when more rows than this are rejected.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Keep the progress in this file. The same command continues from there.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="The most records per second.")] = None,
    give_up_after: Annotated[
        float, typer.Option(help="Stop when the cluster has not accepted a record for this many seconds.")
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Show no progress.")] = False,
) -> None:
    """Load a CSV, JSON lines, Parquet or Arrow file, and report the outcome of each row.

    Each column of a CSV file has one type: that of --type, or one that fits the first 1,000 rows (int, float, bool,
    or else string). Empty cells and null are left out. Rows that cannot be written go to --rejects. If the cluster
    does not answer, the load stops; with --checkpoint, the same command continues it.
    """
    chosen = _bins(bins)
    named = [name.strip() for name in columns.split(",")] if columns is not None else None
    source = open_source(file, file_format, parse_types(types or ()), columns=named, delimiter=delimiter)
    with contextlib.closing(source):
        _check(source, key, chosen)
        # What goes over the policy costs a copy of it per record.
        options: dict[str, Any] = {} if exists is Exists.UPDATE else {"record_exists_action": _ACTIONS[exists]}
        if ttl is not None:
            options["expiration"] = Expiration.seconds(ttl) if ttl else Expiration.NEVER_EXPIRE
        target = Target(DataSet.of(namespace, set_name), key, chosen, options, exists is Exists.CREATE)
        about = {"source": source_of(file), "namespace": namespace, "set": set_name, "key": key}
        kept = Checkpoint(checkpoint, about) if checkpoint is not None else None
        state = kept.load() if kept else State()
        limits = {"record_ttl": give_up_after, "max_retries": (1 << 31) - 1, "max_records_per_second": rate}
        loading = _Loading(connection, source, target, state, kept, rejects, max_rejects, limits, send_key, quiet)
        summary = loading.run()
    _tell(summary, file, rejects, checkpoint, as_json)


@dataclass
class _Loading:
    """A load whose options have been looked at."""

    connection: Connection
    source: Source
    target: Target
    state: State
    checkpoint: Checkpoint | None
    rejects: str | None
    max_rejects: int | None
    limits: dict[str, Any]
    send_key: bool
    quiet: bool

    def run(self) -> Summary:
        """Connects, loads, closes the writer."""
        changes = Settings(send_key=True) if self.send_key else Settings()
        behavior = Behavior.DEFAULT.derive_with_changes("aerolane load", writes=changes)
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(self.connection.connect())
            writer = cluster.create_session(behavior).writer(**self.limits)
            rejects = Rejects(self.rejects, self.state.rejects_bytes) if self.rejects is not None else None
            if rejects is not None:
                stack.callback(rejects.close)
            interrupts = stack.enter_context(Interrupts())
            progress = stack.enter_context(shown(self.source.total, quiet=self.quiet))
            loader = Loader(
                self.source,
                writer,
                self.target,
                interrupts,
                progress,
                state=self.state,
                checkpoint=self.checkpoint,
                rejects=rejects,
                max_rejects=self.max_rejects,
            )
            summary = loader.run()
            # Whatever is still outstanding, `Summary.unfinished` counts.
            writer.close(0)
            return summary


def _bins(option: str | None) -> Mapping[str, str] | None:
    """The column of each bin."""
    if option is None:
        return None
    chosen: dict[str, str] = {}
    for part in option.split(","):
        name, equals, column = part.strip().partition("=")
        if not name or (equals and not column):
            raise usage(f"--bins {option}: write COLUMN or BIN=COLUMN, separated by commas")
        if name in chosen:
            raise usage(f"--bins: bin {name} is listed twice")
        chosen[name] = column or name
    return chosen


def _check(source: Source, key: str, bins: Mapping[str, str] | None) -> None:
    """Refuses a file that lacks columns, or has some that cannot be the key or bins."""
    columns = source.columns
    if columns is not None:
        for column in [key, *(bins or {}).values()]:
            if column not in columns:
                raise usage(f"there is no column {column!r}; the file has {', '.join(columns)}")
    names: Collection[str] = bins or [column for column in columns or () if column != key]
    if columns is not None and not names:
        raise usage(f"the file has the key column {key} and no other: a record needs a bin (--bins {key})")
    for name in names:
        if len(name.encode("utf-8", "surrogateescape")) > _NAME_LIMIT:
            raise usage(
                f"{name!r} is too long for a bin (15 bytes): name it shorter with --bins SHORT={name}, or leave it out"
            )
    try:
        # A pipe may have its first row only after a while.
        with Interrupts() as interrupts, interrupts.waiting:
            source.check(key, bins.values() if bins else names)
    except Interrupted:
        raise Failure(ExitCode.INTERRUPTED, "interrupted") from None


def _tell(summary: Summary, file: str, rejects: str | None, checkpoint: str | None, as_json: bool) -> None:
    """Prints what became of the file, and ends with the exit code for it."""
    stopped = summary.stopped
    code = stopped.code if stopped else ExitCode.REJECTED if summary.rejected + summary.rejected_before else ExitCode.OK
    if as_json:
        output.as_json(
            {
                "file": file,
                "rows": summary.rows,
                "resumed_after": summary.resumed_after,
                "confirmed": summary.confirmed,
                "rejected": summary.rejected,
                "rejected_before": summary.rejected_before,
                "unfinished": summary.unfinished,
                "done": summary.done,
                "complete": stopped is None,
                "seconds": round(summary.seconds, 3),
                "first_rejects": summary.first_rejects,
                "error": str(stopped) if stopped else None,
                "exit_code": int(code),
            }
        )
    else:
        _tell_people(summary, rejects, checkpoint)
    if code is not ExitCode.OK:
        raise Failure(code, str(stopped) if stopped else f"{_rejected(summary)} rejected")


def _rejected(summary: Summary) -> str:
    count = summary.rejected + summary.rejected_before
    return "1 row was" if count == 1 else f"{count:,} rows were"


def _tell_people(summary: Summary, rejects: str | None, checkpoint: str | None) -> None:
    for reject in summary.first_rejects:
        where = f"row {reject['row']}" + (f" (line {reject['line']})" if "line" in reject else "")
        output.note(f"{where} rejected: {reject['reason']}")
    if summary.rejected > len(summary.first_rejects):
        output.note(
            f"and {summary.rejected - len(summary.first_rejects):,} more" + (f": see {rejects}" if rejects else "")
        )
    rate = summary.confirmed / max(summary.seconds, 0.001)
    told: dict[str, object] = {
        "rows read": f"{summary.rows:,}",
        "confirmed": f"{summary.confirmed:,} ({rate:,.0f}/s)",
        "rejected": f"{summary.rejected:,}",
    }
    if summary.resumed_after:
        told["done before"] = f"{summary.resumed_after:,} ({summary.rejected_before:,} of them rejected)"
    if summary.stopped:
        told["not known"] = f"{summary.unfinished:,} (may have been written)"
        told["all done up to"] = f"row {summary.done:,}"
        if checkpoint:
            told["go on with"] = f"--checkpoint {checkpoint}"
    told["seconds"] = f"{summary.seconds:.1f}"
    output.fields(told)
