"""Faults of embedded clusters."""

from types import TracebackType
from typing import Self

from aerolane.testing.control import Control


class Fault:
    """A fault that was injected. As a context manager, it removes the fault at the end of its block."""

    def __init__(self, control: Control, number: int, rule: str) -> None:
        self._control = control
        self._number = number
        self._rule = rule

    def remove(self) -> None:
        """Removes the fault. Does nothing if it is already removed, or if the cluster is closed."""
        if not self._control.has_ended:
            self._control.ask("remove_fault", fault=self._number)

    @property
    def struck(self) -> int:
        """How many requests it has hit, on all nodes together; 0 after it was removed."""
        struck: int = self._control.ask("struck", fault=self._number)
        return struck

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<Fault {self._rule}>"
