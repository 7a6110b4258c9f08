"""`python -m aerolane.bench.matrix`: the standard cells one after the other, as rows of a Markdown table.

Options of `python -m aerolane.bench` may follow; they hold for all cells, unless a cell sets them itself.
`--cells TEXT` takes only the cells whose name contains the text.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aerolane.bench.cli import parser, plan
from aerolane.bench.session import ClusterError, LoadError, run
from aerolane.bench.table import markdown, markdown_head

OURS_SYNC, OURS_ASYNC = "sync,pac-blocking", "async,pac-async"
PEERS_SYNC = "peer-native-blocking,peer-sdk-sync,legacy-sync,peer-apy-sync"
PEERS_ASYNC = "peer-native-async,peer-sdk-async,peer-apy-async"


@dataclass(frozen=True)
class Cell:
    """One set of options, and the modes that are measured with it."""

    name: str
    options: str
    modes: str


CELLS = (
    Cell("sync, 1 thread", "--threads 1", f"{PEERS_SYNC},{OURS_SYNC}"),
    Cell("sync, 4 threads", "--threads 4", f"{PEERS_SYNC},{OURS_SYNC}"),
    Cell("sync, 32 threads", "--threads 32", f"{PEERS_SYNC},{OURS_SYNC}"),
    Cell(
        "sync, 32 threads, thread-local clients",
        "--threads 32 --current-thread-runtime",
        f"peer-native-blocking,peer-sdk-sync,{OURS_SYNC}",
    ),
    Cell("sync builders, 32 threads", "--threads 32 --no-fast-path", "peer-sdk-sync,sync"),
    Cell("asyncio, 1 task", "-z 1", f"{PEERS_ASYNC},{OURS_ASYNC}"),
    Cell("asyncio, 32 tasks", "-z 32", f"{PEERS_ASYNC},{OURS_ASYNC}"),
    Cell("asyncio, 128 tasks", "-z 128", f"{PEERS_ASYNC},{OURS_ASYNC}"),
    Cell("asyncio, 512 tasks", "-z 512", f"{PEERS_ASYNC},{OURS_ASYNC}"),
    Cell("asyncio builders, 32 tasks", "-z 32 --no-fast-path", "peer-sdk-async,async"),
    Cell("2 loops x 64 tasks", "-z 64 --pool-loops 2", f"peer-sdk-async,peer-native-async,{OURS_ASYNC}"),
    Cell(
        "batch read of 128, 4 threads",
        "--threads 4 --batch-size 128 -w RU,100 --lat-sample-every 1",
        f"{PEERS_SYNC},{OURS_SYNC}",
    ),
    Cell(
        "20,000 ops/s, 32 tasks, 1 ms of other work every 4 ms",
        "-z 32 --rate 20000 --busy-loop 1",
        f"peer-native-async,peer-sdk-async,{OURS_ASYNC}",
    ),
    Cell("floor", "", "floor-sync,floor-async"),
)


def rows(cell: Cell, common: Sequence[str], load: bool) -> Iterator[str]:
    """The rows of one cell."""
    options = parser().parse_args([*common, *shlex.split(cell.options), "--mode", cell.modes, "-q"])
    wanted = plan(options)
    wanted.load = load and wanted.load
    outcome = run(wanted, lambda text: print(f"{cell.name}: {text}", file=sys.stderr, flush=True))
    yield from markdown(cell.name, outcome.reports)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it; returns the exit status: 1 when a cell could not run."""
    top = argparse.ArgumentParser(prog="python -m aerolane.bench.matrix", description=__doc__, allow_abbrev=False)
    top.add_argument("--cells", default="", metavar="TEXT", help="only cells whose name contains this (all)")
    options, common = top.parse_known_args(arguments)
    parser().parse_args(common)
    cells = [cell for cell in CELLS if options.cells in cell.name]
    if not cells:
        top.error(f"no cell has {options.cells!r} in its name; there are: {'; '.join(cell.name for cell in CELLS)}")
    print(markdown_head(), flush=True)
    status = 0
    loaded = False
    for cell in cells:
        try:
            for row in rows(cell, common, not loaded):
                print(row, flush=True)
            # On a real cluster the records stay; an embedded one begins empty with every cell.
            loaded = any(option in ("-H", "--hosts") for option in common)
        except (ClusterError, LoadError) as error:
            print(f"{cell.name}: {error}", file=sys.stderr, flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
