"""Which source a file needs, and the file beneath it."""

import gzip
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import IO, TYPE_CHECKING, cast

from aerolane.cli.column_types import ColumnType
from aerolane.cli.exit_codes import file_failure, usage
from aerolane.cli.sources.rows import Source

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Format(StrEnum):
    """A format of files."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


_ENDINGS = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}


def format_of(path: str, said: Format | None) -> Format:
    """The format that was said, or the one of the file's ending (before `.gz`)."""
    if said:
        return said
    name = path.lower().removesuffix(".gz")
    found = _ENDINGS.get(os.path.splitext(name)[1])
    if found is None:
        where = (
            "standard input and output need" if path == "-" else f"the ending of {path} does not tell its format: use"
        )
        raise usage(f"{where} --format with one of {', '.join(Format)}")
    return found


# Seconds between two calls of `Bytes.idle` while nothing comes.
_IDLE_EVERY = 1.0


class _Patient(io.RawIOBase):
    """A pipe or terminal that calls `idle` while there is nothing to read."""

    def __init__(self, file: "Bytes", descriptor: int) -> None:
        self._file, self._descriptor = file, descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        while not select.select([self._descriptor], [], [], _IDLE_EVERY)[0]:
            self._file.idle()
        return os.readv(self._descriptor, [buffer])


class Bytes:
    """A file that is read from front to end, and how far it has been read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.idle: Callable[[], object] = lambda: None
        """Called about once a second while a pipe has nothing to read."""
        self.total: int | None = None
        try:
            self._raw: IO[bytes] = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115  # by close()
            is_regular = self._is_regular()
        except OSError as error:
            raise file_failure(path, error, "open") from None
        self._seekable = is_regular is True
        self.stream: IO[bytes] = self._raw
        if is_regular is False:
            self.stream = io.BufferedReader(_Patient(self, self._raw.fileno()))
        if path.lower().endswith(".gz"):
            self.stream = cast("IO[bytes]", gzip.GzipFile(fileobj=self.stream, mode="rb"))

    def _is_regular(self) -> bool | None:
        """Whether it is a file in a file system, and no pipe or terminal; `None`: it is none of the system's."""
        try:
            status = os.fstat(self._raw.fileno())
        except io.UnsupportedOperation:
            return None
        if not stat.S_ISREG(status.st_mode):
            return False
        self.total = status.st_size
        return True

    def position(self) -> int:
        """How many bytes of the file have been read, those that are buffered included."""
        return self._raw.tell() if self._seekable else 0

    def text(self) -> io.TextIOWrapper:
        """The file as text. Bytes that are not UTF-8 become lone surrogates, which no record takes: their row is
        rejected, not the file.
        """
        return io.TextIOWrapper(self.stream, encoding="utf-8-sig", errors="surrogateescape", newline="")

    def close(self) -> None:
        """Closes it."""
        if self.path != "-":
            self.stream.close()
            self._raw.close()


def open_source(
    path: str,
    said: Format | None,
    types: Mapping[str, ColumnType],
    *,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
) -> Source:
    """The rows of a file. `columns` are those of a CSV file without a header.

    Raises `Failure` for a file that cannot be read, or that is not of its format.
    """
    from aerolane.cli.sources.csv_rows import CsvRows
    from aerolane.cli.sources.json_lines import JsonLines

    chosen = format_of(path, said)
    is_csv = chosen in (Format.CSV, Format.TSV)
    if not is_csv and (columns is not None or delimiter is not None):
        raise usage(f"--columns and --delimiter go with CSV, not with {chosen}")
    if is_csv:
        return CsvRows(Bytes(path), types, columns, delimiter or ("\t" if chosen is Format.TSV else ","))
    if chosen is Format.JSONL:
        return JsonLines(Bytes(path), types)
    from aerolane.cli.sources.arrow_rows import ArrowRows

    return ArrowRows(path, chosen is Format.PARQUET, types)
