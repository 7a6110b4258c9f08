"""Instruments of `opentelemetry`."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aerolane.exporters.exporter import FIGURES, NODE_FIGURES, Figure, Snapshot, missing


class OpenTelemetry:
    """Shows the last snapshot as observable instruments: `aerolane.writer.ok`, `aerolane.writer.outstanding`,
    `aerolane.writer.node.records` (attribute `node`).

    * `meter_provider`: default the global one
    * `attributes`: of all observations, to tell one writer from another

    Raises `ImportError` without the package `opentelemetry-api`.
    """

    def __init__(self, meter_provider: Any = None, *, attributes: Mapping[str, str] | None = None) -> None:
        try:
            self._metrics = importlib.import_module("opentelemetry.metrics")
        except ImportError:
            raise missing("opentelemetry", "opentelemetry-api") from None
        self._attributes = dict(attributes or {})
        self._snapshot: Snapshot | None = None
        meter = self._metrics.get_meter("aerolane", meter_provider=meter_provider)
        for figure in FIGURES:
            self._instrument(meter, "aerolane.writer.", figure, self._observed(figure))
        for figure in NODE_FIGURES:
            self._instrument(meter, "aerolane.writer.node.", figure, self._observed_of_nodes(figure))

    def export(self, snapshot: Snapshot, /) -> None:
        """Keeps a snapshot for the next collection."""
        self._snapshot = snapshot

    @staticmethod
    def _instrument(meter: Any, prefix: str, figure: Figure, observed: Callable[[Any], Iterable[Any]]) -> None:
        make = meter.create_observable_counter if figure.is_counter else meter.create_observable_gauge
        unit = "By" if "bytes" in figure.name else "1"
        make(prefix + figure.name, callbacks=[observed], unit=unit, description=figure.help)

    def _observed(self, figure: Figure) -> Callable[[Any], Iterable[Any]]:
        def observe(_options: Any) -> Iterable[Any]:
            snapshot = self._snapshot
            if snapshot is not None:
                yield self._metrics.Observation(snapshot[figure.name], self._attributes)

        return observe

    def _observed_of_nodes(self, figure: Figure) -> Callable[[Any], Iterable[Any]]:
        def observe(_options: Any) -> Iterable[Any]:
            snapshot = self._snapshot
            for node in snapshot["nodes"] if snapshot is not None else ():
                value = node[figure.name]
                if value is not None:
                    yield self._metrics.Observation(value, {**self._attributes, "node": str(node["node"])})

        return observe
