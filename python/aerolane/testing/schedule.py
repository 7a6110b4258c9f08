"""What is to happen to embedded clusters after so many requests, or so much time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from aerolane.testing import arguments
from aerolane.testing.arguments import Kind
from aerolane.testing.changes import Changes
from aerolane.testing.control import Control
from aerolane.testing.node import EmbeddedNode, id_of

# How often `wait` asks, in seconds.
_PAUSE = 0.005


@final
@dataclass(frozen=True)
class Step:
    """A step of a schedule: what it waits for, and what it does. Made by the methods of `after(..)`."""

    after: dict[str, Any]
    run: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Step after {self.after}: {self.run}>"


@final
class After(Changes[Step, Step]):
    """What a step waits for. Its methods are what the step then does, as those of `EmbeddedCluster` do it at once.
    A fault that a step injects is ended by its `times`, or by a later step that clears the faults. Made by `after(..)`.
    """

    def __init__(self, after: dict[str, Any]) -> None:
        self._after = after

    def _do(self, do: str, **given: object) -> Step:
        return Step(self._after, {"do": do, **{name: value for name, value in given.items() if value is not None}})

    def _inject(self, **rule: object) -> Step:
        return self._do("inject", **rule)

    def add_node(self) -> Step:
        """Adds a node and starts it."""
        return self._do("add_node")


def after(
    *,
    requests: int | None = None,
    seconds: float | None = None,
    on: Kind | Sequence[Kind] | None = None,
    node: EmbeddedNode | str | None = None,
) -> After:
    """What a step of `EmbeddedCluster.schedule` waits for, from the step before on: `after(requests=200, on="write")
    .stop_node(node)`, `after(seconds=3).start_node(node)`.

    * `requests`: so many requests, of all nodes together, or of `node` only. A batch is one request. `on`: only those
      of this kind, or of these (default: all)
    * `seconds`: so long

    Raises `ValueError` or `TypeError` for what does not fit; `EmbeddedCluster.schedule` raises for kinds and nodes that
    do not exist.
    """
    if (requests is None) == (seconds is None):
        raise ValueError("after: either requests or seconds expected")
    if seconds is not None:
        if on is not None or node is not None:
            raise ValueError("after: on and node go with requests, not with seconds")
        return After({"seconds": arguments.seconds("seconds", seconds)})
    counted: dict[str, Any] = {"requests": arguments.whole("requests", requests)}
    if on is not None:
        counted["on"] = arguments.one_or_several("on", "kind of request", on)
    if node is not None:
        counted["node"] = id_of(node)
    return After(counted)


@final
class Schedule:
    """A schedule that runs. Made by `EmbeddedCluster.schedule`."""

    def __init__(self, control: Control, number: int) -> None:
        self._control = control
        self._number = number

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._control.ask("schedule_state", schedule=self._number)
        return state

    @property
    def steps_done(self) -> int:
        """How many steps are done."""
        return int(self._state()["steps_done"])

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens: all steps are done, one has failed, or it was cancelled."""
        return bool(self._state()["over"])

    def cancel(self) -> None:
        """Ends it before its next step."""
        self._control.ask("cancel_schedule", schedule=self._number)

    def wait(self, timeout: float = 60.0) -> None:
        """Waits for its end, `timeout` seconds at most.

        Raises `TimeoutError` if that is too short, and `RuntimeError` if a step has failed, which ends it.
        """
        end = time.monotonic() + timeout
        while not (state := self._state())["over"]:
            if time.monotonic() >= end:
                raise TimeoutError(f"the schedule has done {state['steps_done']} steps within {timeout} s")
            time.sleep(_PAUSE)
        if state["error"] is not None:
            raise RuntimeError(f"step {state['steps_done'] + 1} of the schedule has failed: {state['error']}")

    def __repr__(self) -> str:
        if self._control.has_ended or self._control.is_foreign:
            return "<Schedule of a closed cluster>"
        state = self._state()
        return f"<Schedule{', over' if state['over'] else ''}: {state['steps_done']} steps done>"
