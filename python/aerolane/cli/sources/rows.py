"""What every source gives: rows, and what cannot be read as one."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(slots=True)
class Row:
    """A row: its number, counted from 1, and its values by column; `None` and missing are the same."""

    number: int
    values: dict[str, Any]
    size: int
    """About how many bytes it has in the file."""
    line: int | None = None
    """The line on which it ends, in formats with lines."""


@dataclass(slots=True)
class BadRow:
    """A part of the file that is no row."""

    number: int
    reason: str
    text: str
    """What stands there, at most `TEXT_LIMIT` characters of it."""
    size: int
    line: int | None = None


TEXT_LIMIT = 100_000

# No record of a server is as large as this; a row that is cannot be written, and must not fill the memory.
ROW_LIMIT = 128 << 20


class Source(Protocol):
    """A file as rows. Each number from 1 on comes once, in order, as a `Row` or a `BadRow`."""

    @property
    def columns(self) -> list[str] | None:
        """The columns, where the file says which there are."""
        ...

    @property
    def types(self) -> dict[str, str]:
        """What the columns are read as, to be shown; empty where each value has its own type."""
        ...

    def check(self, key: str, bins: Collection[str]) -> None:
        """Refuses, before anything is written, columns that no row can be written with: `key`, and those of the bins.

        May wait for the first row. Raises `Failure`.
        """
        ...

    def __iter__(self) -> Iterator[Row | BadRow]: ...

    def when_idle(self, idle: Callable[[], object]) -> None:
        """Has `idle` called, within `next()`, about once a second while a pipe has nothing to read."""
        ...

    def position(self) -> int:
        """How much of `total` has been read."""
        ...

    @property
    def total(self) -> int | None:
        """The size of the file, in bytes or (Parquet and Arrow) rows; `None`: not known."""
        ...

    def close(self) -> None:
        """Closes the file."""
        ...
