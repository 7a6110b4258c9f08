"""What is to happen to embedded clusters after so many requests, or so much time."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from aerolane.testing import arguments
from aerolane.testing.arguments import Action, Kind, ServiceTime, Time
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
class After:
    """What a step waits for; its methods are what the step then does. Made by `after(..)`."""

    def __init__(self, after: dict[str, Any]) -> None:
        self._after = after

    def _step(self, do: str, **given: object) -> Step:
        return Step(self._after, {"do": do, **{name: value for name, value in given.items() if value is not None}})

    def stop_node(self, node: EmbeddedNode | str) -> Step:
        """Stops a node, as `EmbeddedCluster.stop_node`."""
        return self.stop_nodes([node])

    def stop_nodes(self, nodes: Iterable[EmbeddedNode | str]) -> Step:
        """Stops several nodes at once, as `EmbeddedCluster.stop_nodes`."""
        return self._step("stop_nodes", nodes=[id_of(node) for node in nodes])

    def start_node(self, node: EmbeddedNode | str) -> Step:
        """Starts a stopped node, as `EmbeddedCluster.start_node`."""
        return self._step("start_node", node=id_of(node))

    def add_node(self) -> Step:
        """Adds a node, as `EmbeddedCluster.add_node`."""
        return self._step("add_node")

    def set_master(self, partition: int, node: EmbeddedNode | str | None) -> Step:
        """Moves a partition, as `EmbeddedCluster.set_master`."""
        whole = arguments.whole("partition", partition)
        return self._step("set_master", partition=whole, node=None if node is None else id_of(node))

    def hold_partitions(self, hold: bool) -> Step:
        """Lets no partition move, as `EmbeddedCluster.hold_partitions`."""
        return self._step("hold_partitions", hold=bool(hold))

    def advance_clock(self, seconds: float) -> Step:
        """Puts the clock forward, as `EmbeddedCluster.advance_clock`."""
        return self._step("advance_clock", seconds=arguments.seconds("seconds", seconds))

    def set_conditions(
        self,
        *,
        service_time: ServiceTime | None = None,
        in_service: int = 64,
        latency: Time | None = None,
        seed: int = 0,
        node: EmbeddedNode | str | None = None,
    ) -> Step:
        """Sets how long requests take, as `EmbeddedCluster.set_conditions`."""
        conditions = arguments.conditions(service_time, in_service, latency, seed)
        return self._step("set_conditions", **conditions, node=None if node is None else id_of(node))

    def inject(
        self,
        action: Action,
        value: float | bytes | None = None,
        *,
        on: Kind | Sequence[Kind] | None = None,
        node: EmbeddedNode | str | None = None,
        set: str | None = None,
        key_prefix: str | None = None,
        digest: str | bytes | None = None,
        connection: int | None = None,
        skip: int = 0,
        times: int | None = None,
        probability: float = 1.0,
    ) -> Step:
        """Injects a fault, as `EmbeddedCluster.inject`. `times` ends it, or a later step that clears the faults."""
        rule = arguments.fault(action, value, on, set, key_prefix, digest, connection, skip, times, probability)
        return self._step("inject", **rule, node=None if node is None else id_of(node))

    def clear_faults(self) -> Step:
        """Takes all faults back, as `EmbeddedCluster.clear_faults`."""
        return self._step("clear_faults")


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
