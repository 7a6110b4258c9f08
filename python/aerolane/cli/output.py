"""What commands print: tables for people, one JSON object for programs."""

import json
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text


def as_json(value: object, *, to_error: bool = False) -> None:
    """One JSON value on a line of standard output, or of standard error."""
    stream = sys.stderr if to_error else sys.stdout
    stream.write(json.dumps(value) + "\n")
    stream.flush()


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None) -> None:
    """A table on standard output; where that is no terminal, lines whose cells are separated by tabs."""
    console = Console()
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not console.is_terminal:
        for line in [columns, *cells]:
            sys.stdout.write("\t".join(line) + "\n")
        return
    drawn = Table(*columns, title=title)
    for line in cells:
        drawn.add_row(*map(Text, line))
    console.print(drawn)


def fields(values: Mapping[str, object]) -> None:
    """Names and values, one per line."""
    width = max(map(len, values), default=0)
    for name, value in values.items():
        sys.stdout.write(f"{name:<{width}}  {value}\n")


def note(text: str) -> None:
    """A line on standard error."""
    print(f"aerolane: {text}", file=sys.stderr, flush=True)
