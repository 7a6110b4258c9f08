"""Ctrl-C in the middle of a long command: between two records it asks, in a wait it ends the wait."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupted(BaseException):
    """The command was told to end. Raised only within `Interrupts.waiting`."""


class Waiting:
    """See `Interrupts.waiting`. A class, because it is entered twice for each record."""

    def __init__(self, interrupts: "Interrupts") -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts.in_wait = True
        # A signal that came before finds nobody waiting.
        if self._interrupts.signal is not None:
            self._interrupts.in_wait = False
            raise Interrupted

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._interrupts.in_wait = False


class Interrupts:
    """While its block runs, SIGINT and SIGTERM set `signal` in place of raising anywhere.

    A command looks at `signal` between two records, so it always knows which of them it has handed over. Within
    `waiting` a signal raises `Interrupted`, so that no wait holds it up.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        """The last signal that came; `None`: none since `forget()`."""
        self.waiting = Waiting(self)
        """`with interrupts.waiting`: a block that may wait, and that a signal ends with `Interrupted`."""
        self.in_wait = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._told)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def forget(self) -> None:
        """Takes note of a signal: the next one counts anew."""
        self.signal = None

    @contextmanager
    def not_waiting(self) -> Generator[None]:
        """A part of a `waiting` block that a signal must not end; if one has come, the end of the part raises."""
        self.in_wait = False
        yield
        self.waiting.__enter__()

    def _told(self, number: int, _frame: FrameType | None) -> None:
        self.signal = number
        if self.in_wait:
            self.in_wait = False
            raise Interrupted
