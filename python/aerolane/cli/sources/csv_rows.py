"""CSV: a header, and a type for each column."""

import csv
import itertools
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from aerolane.cli.column_types import ColumnType, check_key, infer_columns, parse_cell
from aerolane.cli.exit_codes import file_failure, usage
from aerolane.cli.sources.files import Bytes
from aerolane.cli.sources.rows import ROW_LIMIT, TEXT_LIMIT, BadRow, Row

# From how many rows types are inferred.
SAMPLE = 1000

# What the reader gives for a row: its cells, or why they cannot be read.
_Read = tuple[list[str] | str, int]


class CsvRows:
    """The rows of a CSV file (RFC 4180; UTF-8, with or without a byte order mark). Empty cells are no values."""

    def __init__(
        self, file: Bytes, types: Mapping[str, ColumnType], columns: Sequence[str] | None, delimiter: str
    ) -> None:
        self._file = file
        self._text = file.text()
        csv.field_size_limit(ROW_LIMIT)
        try:
            self._begin(types, columns, delimiter)
        except BaseException:
            self.close()
            raise

    def check(self, key: str, bins: Collection[str]) -> None:
        """See `Source`: a key column of floats or booleans."""
        check_key(key, self.types.get(key))

    def _begin(self, types: Mapping[str, ColumnType], columns: Sequence[str] | None, delimiter: str) -> None:
        """Reads the header and what types are inferred from."""
        path = self._file.path
        try:
            self._reader = csv.reader(self._text, delimiter=delimiter, strict=True)
        except (TypeError, ValueError) as error:
            raise usage(f"--delimiter: {error}") from None
        rows = self._read()
        first = list(columns) if columns is not None else self._header(rows)
        for column in first:
            if first.count(column) > 1:
                raise usage(f"{path} has two columns of the name {column!r}")
            if not column:
                raise usage(f"{path} has a column without a name")
        for column in types:
            if column not in first:
                raise usage(f"--type {column}: {path} has the columns {', '.join(first)}")
        self.columns = first
        sample = list(itertools.islice(rows, SAMPLE))
        self._kinds = infer_columns(first, [cells for cells, _ in sample if not isinstance(cells, str)], types)
        self._given = set(types)
        self._rows = itertools.chain(sample, rows)
        self.types = {column: str(kind) for column, kind in zip(first, self._kinds, strict=True)}

    def _header(self, rows: Iterator[_Read]) -> list[str]:
        for cells, _ in rows:
            if isinstance(cells, str):
                raise usage(f"the header of {self._file.path}: {cells}")
            return cells
        raise usage(f"{self._file.path} is empty: it has no header")

    def _read(self) -> Iterator[_Read]:
        """Rows and the lines on which they end. Blank lines are left out."""
        while True:
            try:
                for cells in self._reader:
                    if cells:
                        yield cells, self._reader.line_num
                return
            except csv.Error as error:
                yield f"not CSV: {error}", self._reader.line_num
            except (OSError, EOFError, zlib.error) as error:
                raise file_failure(self._file.path, error) from None

    def __iter__(self) -> Iterator[Row | BadRow]:
        columns, kinds = self.columns, self._kinds
        for number, (cells, line) in enumerate(self._rows, 1):
            if isinstance(cells, str):
                yield BadRow(number, cells, "", 0, line)
                continue
            size = sum(map(len, cells)) + len(cells)
            if len(cells) != len(columns):
                reason = f"{len(cells)} cells, but the header has {len(columns)} columns"
                yield BadRow(number, reason, _joined(cells), size, line)
                continue
            values: dict[str, Any] = {}
            column = ""
            try:
                for column, cell, kind in zip(columns, cells, kinds, strict=True):
                    values[column] = parse_cell(cell, kind)
            except ValueError as error:
                yield BadRow(number, self._misfit(column, error), _joined(cells), size, line)
                continue
            yield Row(number, values, size, line)

    def _misfit(self, column: str, error: ValueError) -> str:
        if column in self._given:
            return f"column {column}: {error}"
        return f"column {column}: {error} (inferred from the first {SAMPLE} rows; --type {column}=string takes all)"

    def when_idle(self, idle: Callable[[], object]) -> None:
        """See `Source`."""
        self._file.idle = idle

    def position(self) -> int:
        """The bytes that were read."""
        return self._file.position()

    @property
    def total(self) -> int | None:
        """The bytes of the file."""
        return self._file.total

    def close(self) -> None:
        """Closes the file."""
        if self._file.path == "-":
            self._text.detach()
        self._file.close()


def _joined(cells: Sequence[str]) -> str:
    return ",".join(cells)[:TEXT_LIMIT]
