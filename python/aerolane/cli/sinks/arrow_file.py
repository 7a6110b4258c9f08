"""Parquet and Arrow (IPC) files, by pyarrow. Records become columns without a Python object for each value."""

from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from aerolane.cli.arrow import pyarrow
from aerolane.cli.column_types import ColumnType
from aerolane.cli.exit_codes import usage
from aerolane.cli.sinks.columns import Columns
from aerolane.cli.sinks.files import Output
from aerolane.native import ArrowRecords

# Records whose values settle the types of columns, and records of a batch.
SAMPLE = 10_000

_TYPES = {
    ColumnType.INT: "int64",
    ColumnType.FLOAT: "float64",
    ColumnType.BOOL: "bool",
    ColumnType.STRING: "utf8",
    ColumnType.BYTES: "binary",
    ColumnType.GEOJSON: "utf8",
    ColumnType.JSON: "json",
}
_KEY_TYPES = (ColumnType.INT, ColumnType.STRING, ColumnType.BYTES)


class ArrowSink:
    """A file of record batches. The first `SAMPLE` records settle columns and types; the others have to fit."""

    def __init__(self, output: Output, columns: Columns, parquet: bool) -> None:
        self._pyarrow, self._parquet = pyarrow(), parquet
        self._output, self._columns = output, columns
        self._names: list[str] = []
        self._schema: Any = None
        self._writer: Any = None
        self._finished = False
        self.without_key = 0

    def options(self) -> dict[str, Any]:
        """The arguments of `RecordStream.to_arrow`. Raises `Failure` for a type that no column has."""
        given, own = dict(self._columns.types), self._columns.own()
        key_type = given.pop(self._columns.key, None)
        if key_type is not None and key_type not in _KEY_TYPES:
            raise usage(f"--type {self._columns.key}={key_type}: keys are {', '.join(_KEY_TYPES)}")
        names: dict[str, Any] = {"digest": ("digest", "utf8")} if self._columns.digest else {}
        if self._columns.meta:
            names |= {"generation": "generation", "ttl": "ttl"}
        return {
            "batch_rows": SAMPLE,
            "infer_schema_length": SAMPLE,
            "schema_overrides": {name: _TYPES[kind] for name, kind in given.items() if name not in own},
            "key": (self._columns.key, _TYPES[key_type]) if key_type is not None else self._columns.key,
            **names,
        }

    def write(self, part: ArrowRecords) -> None:
        """Adds records. Raises `OSError`, or `Failure` if there is no column that was given a type."""
        table = part.to_pyarrow()
        self.without_key += table[self._columns.key].null_count
        self._begin(table)
        for name in self._names:
            if name not in table.schema.names:
                table = table.append_column(name, self._pyarrow.nulls(len(table)))
        for batch in table.select(self._names).to_batches():
            self._writer.write_batch(batch)

    def finish(self) -> None:
        """Writes the end, and gives the file its name. Raises as `write`."""
        # Without a record there are no columns yet.
        self._begin(self._pyarrow.table({self._columns.key: self._pyarrow.nulls(0)}))
        self._writer.close()
        self._finished = True
        self._output.finish()

    def _begin(self, table: Any) -> None:
        """Settles the columns."""
        if self._writer is not None:
            return
        own, bins = self._columns.own(), self._columns.bins
        found = [name for name in table.schema.names if name not in own]
        for name in self._columns.types:
            if name not in own and (name not in found or (len(table) and table[name].null_count == len(table))):
                raise usage(f"--type {name}: there is no such column among {', '.join([*own, *found])}")
        self._names = [*own, *(bins if bins is not None else found)]
        fields = {field.name: field for field in table.schema}
        missing = [self._pyarrow.field(name, self._pyarrow.null()) for name in self._names if name not in fields]
        fields |= {field.name: field for field in missing}
        self._schema = self._pyarrow.schema([fields[name] for name in self._names])
        if self._parquet:
            self._writer = pyarrow("pyarrow.parquet").ParquetWriter(self._output.stream, self._schema)
        else:
            self._writer = pyarrow("pyarrow.ipc").new_file(self._output.stream, self._schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._writer is not None and not self._finished:
            # The file goes away, but the writer complains if it is left open.
            with suppress(OSError, ValueError, self._pyarrow.ArrowException):
                self._writer.close()
        self._output.close()
