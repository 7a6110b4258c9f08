"""Parquet and Arrow (IPC) files, by pyarrow.

Records become columns here by way of Python values; a path that has columns from the start begins at `_schema` and
`_flush`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from aerolane import HLL, GeoJSON, Key, Record
from aerolane.cli.arrow import pyarrow
from aerolane.cli.column_types import ColumnType
from aerolane.cli.exit_codes import usage
from aerolane.cli.sinks.columns import Columns, unknown_bin
from aerolane.cli.sinks.files import Output

# Records whose values settle the types of columns, and records of a batch.
SAMPLE = 10_000


class ArrowSink:
    """A file of record batches. The first `SAMPLE` records settle columns and types; the others have to fit."""

    def __init__(self, output: Output, columns: Columns, parquet: bool) -> None:
        self._pyarrow, self._parquet = pyarrow(), parquet
        self._output, self._columns = output, columns
        self._rows: list[dict[str, Any]] = []
        self._schema: Any = None
        self._writer: Any = None
        self.without_key = 0

    def write(self, key: Key, record: Record) -> None:
        """Adds a record. Raises `OSError`, or `Failure` for one that does not fit the columns."""
        self.without_key += key.value is None
        row = self._columns.row(key, record)
        self._rows.append({name: _plain(value) for name, value in row.items()})
        if len(self._rows) >= SAMPLE:
            self._flush()

    def finish(self) -> None:
        """Writes the end, and gives the file its name. Raises as `write`."""
        self._flush()
        self._writer.close()
        self._output.finish()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if self._schema is None:
            self._schema = self._settled(rows)
            self._writer = self._opened()
        known = set(self._schema.names)
        for row in rows:
            if not row.keys() <= known:
                raise unknown_bin(next(iter(row.keys() - known)), SAMPLE)
        arrays: list[Any] = []
        for field in self._schema:
            with self._fitting(field.name, field.type):
                arrays.append(self._pyarrow.array([row.get(field.name) for row in rows], type=field.type))
        self._writer.write_batch(self._pyarrow.record_batch(arrays, schema=self._schema))

    def _settled(self, rows: list[dict[str, Any]]) -> Any:
        names = self._columns.of(rows)
        for name in self._columns.types:
            if name not in names:
                raise usage(f"--type {name}: there is no such column among {', '.join(names)}")
        return self._pyarrow.schema([(name, self._type(name, rows)) for name in names])

    def _type(self, name: str, rows: list[dict[str, Any]]) -> Any:
        module = self._pyarrow
        own = {"digest": module.string(), "generation": module.uint32(), "ttl": module.uint32()}
        if name in own and name in self._columns.own():
            return own[name]
        given = self._columns.types.get(name)
        if given is not None:
            types = {
                ColumnType.INT: module.int64(),
                ColumnType.FLOAT: module.float64(),
                ColumnType.BOOL: module.bool_(),
                ColumnType.STRING: module.string(),
                ColumnType.BYTES: module.binary(),
                ColumnType.GEOJSON: module.string(),
            }
            if given not in types:
                raise usage(f"--type {name}={given}: Parquet and Arrow files have no such columns")
            return types[given]
        with self._fitting(name, None):
            return module.array([row.get(name) for row in rows]).type

    @contextmanager
    def _fitting(self, name: str, kind: Any) -> Generator[None]:
        try:
            yield
        except (self._pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
            of = f" of {kind}" if kind is not None else ""
            raise usage(
                f"column {name}: the values do not fit a column{of} ({error}): say --type {name}=.., or use JSON lines"
            ) from None

    def _opened(self) -> Any:
        if self._parquet:
            return pyarrow("pyarrow.parquet").ParquetWriter(self._output.stream, self._schema)
        return pyarrow("pyarrow.ipc").new_file(self._output.stream, self._schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._output.close()


def _plain(value: object) -> object:
    """A value as pyarrow takes it."""
    if isinstance(value, GeoJSON):
        return value.value
    if isinstance(value, HLL):
        return value.value
    return value
