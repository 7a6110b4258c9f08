"""How far a command is, on standard error: a bar on a terminal, a line every few seconds elsewhere."""

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

# Seconds between two lines.
LINE_EVERY = 5.0


class Shown(Protocol):
    """Where progress goes."""

    def update(self, position: int, text: str) -> None:
        """How much of the total is done, and what else there is to tell. May be called as often as one likes."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class _Nothing:
    def update(self, position: int, text: str) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


class _Lines(_Nothing):
    def __init__(self, total: int | None) -> None:
        self._total = total
        self._next = time.monotonic() + LINE_EVERY

    def update(self, position: int, text: str) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LINE_EVERY
        share = f"{100 * position // self._total} %: " if self._total else ""
        print(share + text, file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, total: int | None) -> None:
        columns = [BarColumn(), TaskProgressColumn()] if total else [SpinnerColumn()]
        remaining = [TimeRemainingColumn()] if total else []
        console = Console(stderr=True)
        self._progress = Progress(
            *columns, TextColumn("{task.description}", markup=False), *remaining, console=console, transient=True
        )
        self._task = self._progress.add_task("", total=total)

    def update(self, position: int, text: str) -> None:
        self._progress.update(self._task, completed=position, description=text)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()


def shown(total: int | None, *, quiet: bool) -> Shown:
    """Progress towards `total`; `None`: nobody knows how much there is."""
    if quiet:
        return _Nothing()
    return _Bar(total) if sys.stderr.isatty() else _Lines(total)
