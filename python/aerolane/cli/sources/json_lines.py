"""JSON lines: an object on each line."""

import codecs
import itertools
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import cast

from aerolane.cli.column_types import ColumnType, check_key, convert
from aerolane.cli.exit_codes import file_failure, usage
from aerolane.cli.json_values import from_json, json_loads
from aerolane.cli.sources.files import Bytes
from aerolane.cli.sources.rows import ROW_LIMIT, TEXT_LIMIT, BadRow, Row

_SHOWN = 4 * TEXT_LIMIT


class JsonLines:
    """The rows of a file with a JSON object per line. Blank lines are left out."""

    columns: list[str] | None = None

    def __init__(self, file: Bytes, types: Mapping[str, ColumnType]) -> None:
        self._file = file
        self._types = types
        self.types = {column: str(kind) for column, kind in types.items()}
        self._rows = self._read()

    def check(self, key: str, bins: Collection[str]) -> None:
        """See `Source`: a first row without the key column.

        A later row that lacks it is only rejected, and so is a first one that cannot be read or has no usable key.
        """
        check_key(key, self.types.get(key))
        first = next(self._rows, None)
        if first is None:
            return
        if isinstance(first, Row) and key not in first.values:
            raise usage(f"there is no column {key!r}; the first row has {', '.join(first.values) or 'none'}")
        self._rows = itertools.chain((first,), self._rows)

    def __iter__(self) -> Iterator[Row | BadRow]:
        return self._rows

    def _read(self) -> Iterator[Row | BadRow]:
        number = 0
        for at, (line, size) in enumerate(self._lines(), 1):
            if line.isspace():
                continue
            number += 1
            try:
                if size > ROW_LIMIT:
                    raise ValueError(f"a line of {size} bytes; at most {ROW_LIMIT} can be read")
                # A lone surrogate is the client's to refuse, so that the rejects file has the record.
                value: object = json_loads(line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogatepass"))
                if not isinstance(value, dict):
                    raise ValueError(f"a JSON object is expected, not {type(value).__name__}")
                values = {name: from_json(item) for name, item in cast("dict[str, object]", value).items()}
                for column, kind in self._types.items():
                    if column in values:
                        values[column] = _converted(column, values[column], kind)
            except (ValueError, RecursionError) as error:
                text = line[:_SHOWN].decode("utf-8", "surrogateescape").rstrip("\n")[:TEXT_LIMIT]
                yield BadRow(number, str(error), text, size, at)
            else:
                yield Row(number, values, size, at)

    def _lines(self) -> Iterator[tuple[bytes, int]]:
        """Lines and their sizes; of one that is too long, the first part."""
        stream = self._file.stream
        try:
            while line := stream.readline(ROW_LIMIT + 1):
                size = len(line)
                rest = line
                while size > ROW_LIMIT and not rest.endswith(b"\n") and (rest := stream.readline(1 << 20)):
                    size += len(rest)
                yield (line if size <= ROW_LIMIT else line[:_SHOWN]), size
        except (OSError, EOFError, zlib.error) as error:
            raise file_failure(self._file.path, error) from None

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
        self._file.close()


def _converted(column: str, value: object, kind: ColumnType) -> object:
    try:
        return convert(value, kind)
    except ValueError as error:
        raise ValueError(f"column {column}: {error}") from None
