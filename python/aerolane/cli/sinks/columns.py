"""The columns of an export."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aerolane import Key, Record
from aerolane.cli.column_types import ColumnType
from aerolane.cli.exit_codes import usage


@dataclass(frozen=True)
class Columns:
    """Which columns a file has, and what they are called."""

    key: str
    bins: list[str] | None
    """`None`: all that the records have."""
    types: Mapping[str, ColumnType]
    digest: bool = False
    meta: bool = False

    def __post_init__(self) -> None:
        own = self.own()
        for name in [*own, *(self.bins or ())]:
            if not name:
                raise usage("a column needs a name")
            if [*own, *(self.bins or ())].count(name) > 1:
                raise usage(f"two columns of the name {name!r}: --key names that of the keys")

    def own(self) -> list[str]:
        """The columns that are not bins."""
        return [self.key, *(["digest"] if self.digest else []), *(["generation", "ttl"] if self.meta else [])]

    def row(self, key: Key, record: Record) -> dict[str, Any]:
        """The values of a record by column. Raises `Failure` if a bin has the name of another column."""
        row: dict[str, Any] = {self.key: key.value}
        if self.digest:
            row["digest"] = key.digest
        if self.meta:
            row["generation"], row["ttl"] = record.generation, record.ttl
        bins = record.bins
        if not row.keys().isdisjoint(bins):
            name = next(iter(row.keys() & bins.keys()))
            raise usage(
                f"a record has a bin {name!r}, which is also the name of a column: --key NAME names that of the keys"
            )
        return row | bins

    def of(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """All columns: those that are asked for, or that these rows have."""
        if self.bins is not None:
            return [*self.own(), *self.bins]
        names = dict.fromkeys(self.own())
        for row in rows:
            names.update(dict.fromkeys(row))
        return list(names)


def unknown_bin(name: str, sample: int) -> Exception:
    """A bin that came after the columns were settled."""
    return usage(
        f"a record has a bin {name!r} that none of the first {sample:,} has: name all columns with --bins a,b,.."
    )
