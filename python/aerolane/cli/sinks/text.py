"""CSV and JSON lines."""

import base64
import csv
import io
from types import TracebackType
from typing import Any, Self

from aerolane import GeoJSON, Key, Record
from aerolane.cli.exit_codes import usage
from aerolane.cli.json_values import dumps
from aerolane.cli.sinks.columns import Columns, unknown_bin
from aerolane.cli.sinks.files import Output

# Records whose bins are the columns of a CSV file.
SAMPLE = 1000


class _TextSink:
    def __init__(self, output: Output, columns: Columns) -> None:
        self._output, self._columns = output, columns
        self.without_key = 0

    def write(self, key: Key, record: Record) -> None:
        self.without_key += key.value is None
        try:
            self._add(self._columns.row(key, record))
        except ValueError as error:
            raise usage(f"record {key.digest}: {error}") from None

    def _add(self, row: dict[str, Any]) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        self._output.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._output.close()


class JsonLinesSink(_TextSink):
    """An object per record, with the bins that it has.

    A key that is not known is null, not left out: `load` refuses a file whose first row lacks the key column.
    """

    def _add(self, row: dict[str, Any]) -> None:
        line = dumps_row(row)
        self._output.stream.write(line.encode("utf-8", "surrogatepass") + b"\n")


def dumps_row(row: dict[str, Any]) -> str:
    """A record as a JSON object: whatever its bins are called, it is no `$` object."""
    return "{" + ",".join(f"{dumps(name)}:{dumps(value)}" for name, value in row.items()) + "}"


class CsvSink(_TextSink):
    """A row per record. Cells: bytes in base64, lists and maps as JSON; bins that a record lacks are empty."""

    def __init__(self, output: Output, columns: Columns, delimiter: str) -> None:
        super().__init__(output, columns)
        self._text = io.StringIO()
        self._writer = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._sample: list[dict[str, Any]] | None = []
        self._names: list[str] = []
        self._known: set[str] = set()

    def _add(self, row: dict[str, Any]) -> None:
        if self._sample is None:
            self._line(row)
            return
        self._sample.append(row)
        if len(self._sample) == SAMPLE:
            self._settle()

    def _settle(self) -> None:
        """Writes the header, and what has waited for it."""
        rows, self._sample = self._sample or [], None
        self._names = self._columns.of(rows)
        self._known = set(self._names)
        self._writer.writerow(self._names)
        for row in rows:
            self._line(row)

    def _line(self, row: dict[str, Any]) -> None:
        if not row.keys() <= self._known:
            raise unknown_bin(next(iter(row.keys() - self._known)), SAMPLE)
        self._writer.writerow([_cell(row.get(name)) for name in self._names])
        if self._text.tell() > 1 << 16:
            self._pass_on()

    def _pass_on(self) -> None:
        self._output.stream.write(self._text.getvalue().encode("utf-8", "surrogatepass"))
        self._text.seek(0)
        self._text.truncate()

    def finish(self) -> None:
        if self._sample is not None:
            self._settle()
        self._pass_on()
        super().finish()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, GeoJSON):
        return value.value
    if isinstance(value, (str, int, float)):
        return value
    return dumps(value)
