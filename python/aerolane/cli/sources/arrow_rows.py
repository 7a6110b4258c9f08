"""Parquet and Arrow (IPC files and streams), by pyarrow.

Rows are Python values here, as those of the other sources. A path that hands whole columns over begins at `batches`,
and needs of the loader only the number of a batch's first row.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from aerolane.cli.arrow import pyarrow
from aerolane.cli.column_types import ColumnType, check_key, convert
from aerolane.cli.exit_codes import Failure, file_failure, usage
from aerolane.cli.sources.rows import TEXT_LIMIT, BadRow, Row

# Rows that are Python values at once.
_ROWS = 1000


class ArrowRows:
    """The rows of a Parquet or Arrow file. A column of a type without a value in Aerospike is an error at once."""

    def __init__(self, path: str, parquet: bool, types: Mapping[str, ColumnType]) -> None:
        if path == "-":
            raise usage("Parquet and Arrow files are read by name, not from standard input")
        self._path, self._types, self._read = path, types, 0
        self._pyarrow = pyarrow()
        self._total: int | None = None
        self._file: Any = None
        try:
            self._begin(parquet)
        except BaseException:
            self.close()
            raise

    def _begin(self, parquet: bool) -> None:
        path, types = self._path, self._types
        try:
            schema = self._open_parquet() if parquet else self._open_arrow()
        except OSError as error:
            raise file_failure(path, error, "open") from None
        except self._pyarrow.ArrowInvalid as error:
            raise file_failure(path, error) from None
        self.columns: list[str] | None = list(schema.names)
        for column in schema.names:
            if schema.names.count(column) > 1:
                raise usage(f"{path} has two columns of the name {column!r}")
        for column in types:
            if column not in schema.names:
                raise usage(f"--type {column}: {path} has the columns {', '.join(schema.names)}")
        self.types = {field.name: str(types.get(field.name, field.type)) for field in schema}
        self._schema = schema

    def check(self, key: str, bins: Collection[str]) -> None:
        """See `Source`: columns of types that keys and bins do not have."""
        self._check_key(key)
        for field in self._schema:
            if field.name in bins and field.name not in self._types and not self._fits(field.type):
                raise usage(
                    f"column {field.name} of {self._path} is {field.type}, which no bin can be:"
                    f" say --type {field.name}=string, or leave it out (--bins)"
                )

    def _check_key(self, key: str) -> None:
        given, kind = self._types.get(key), self._schema.field(key).type
        check_key(key, given)
        if given is None and not self._can_be_key(kind):
            # Libraries that have no null among integers make floats of a column of integers.
            better = ColumnType.INT if self._pyarrow.types.is_floating(kind) else ColumnType.STRING
            raise usage(
                f"the key column {key} of {self._path} is {kind}, but keys are int, string or bytes:"
                f" say --type {key}={better}, or name another column (--key)"
            )

    def _open_parquet(self) -> Any:
        file = pyarrow("pyarrow.parquet").ParquetFile(self._path)
        self._file = file
        self._total = file.metadata.num_rows
        self._batches: Iterator[Any] = file.iter_batches(batch_size=16 * _ROWS)
        return file.schema_arrow

    def _open_arrow(self) -> Any:
        ipc = pyarrow("pyarrow.ipc")
        self._file = self._pyarrow.memory_map(self._path)
        try:
            file = ipc.open_file(self._file)
            self._batches = (file.get_batch(place) for place in range(file.num_record_batches))
            return file.schema
        except self._pyarrow.ArrowInvalid:
            self._file.seek(0)
            stream = ipc.open_stream(self._file)
            self._batches = iter(stream)
            return stream.schema

    def _fits(self, kind: Any) -> bool:
        types = self._pyarrow.types
        if (
            types.is_dictionary(kind)
            or types.is_list(kind)
            or types.is_large_list(kind)
            or types.is_fixed_size_list(kind)
        ):
            return self._fits(kind.value_type)
        if types.is_struct(kind):
            return all(self._fits(field.type) for field in kind)
        return types.is_floating(kind) or types.is_boolean(kind) or self._can_be_key(kind)

    def _can_be_key(self, kind: Any) -> bool:
        """Whether keys can be of this type. Nulls are values that rows lack, which is for each row to say."""
        types = self._pyarrow.types
        if types.is_dictionary(kind):
            return self._can_be_key(kind.value_type)
        plain = (
            types.is_integer,
            types.is_null,
            types.is_string,
            types.is_large_string,
            types.is_string_view,
            types.is_binary,
            types.is_large_binary,
            types.is_binary_view,
            types.is_fixed_size_binary,
        )
        return any(is_so(kind) for is_so in plain)

    def batches(self) -> Iterator[Any]:
        """The record batches, one after the other."""
        try:
            yield from self._batches
        except (OSError, self._pyarrow.ArrowException) as error:
            raise file_failure(self._path, error) from None

    def __iter__(self) -> Iterator[Row | BadRow]:
        for batch in self.batches():
            per_row = batch.nbytes // max(1, batch.num_rows)
            for start in range(0, batch.num_rows, _ROWS):
                try:
                    rows = batch.slice(start, _ROWS).to_pylist()
                except (ValueError, UnicodeDecodeError, self._pyarrow.ArrowException) as error:
                    raise Failure(file_failure(self._path, error).code, f"{self._path}: {error}") from None
                for values in rows:
                    self._read += 1
                    yield self._row(values, per_row)

    def _row(self, values: dict[str, Any], size: int) -> Row | BadRow:
        column = ""
        try:
            for column, kind in self._types.items():
                values[column] = convert(values[column], kind)
        except ValueError as error:
            return BadRow(self._read, f"column {column}: {error}", repr(values)[:TEXT_LIMIT], size)
        return Row(self._read, values, size)

    def when_idle(self, idle: Callable[[], object]) -> None:
        """These files are no pipes."""

    def position(self) -> int:
        """The rows that were read."""
        return self._read

    @property
    def total(self) -> int | None:
        """The rows of the file, where it says how many."""
        return self._total

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
