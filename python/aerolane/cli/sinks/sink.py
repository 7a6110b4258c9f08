"""What every format does with records, and what those do that take them one by one."""

from types import TracebackType
from typing import Protocol, Self

from aerolane import Key, Record


class Sink(Protocol):
    """A file that is being written. It appears under its name with `finish`, and not at all without it."""

    without_key: int
    """Records of which only the digest is known."""

    def finish(self) -> None:
        """Writes the end, and gives the file its name. Raises as `write`."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class RecordSink(Sink, Protocol):
    """A file of records, one after the other."""

    def write(self, key: Key, record: Record) -> None:
        """Adds a record. Raises `OSError`, or `Failure` for one that does not fit the columns."""
        ...
