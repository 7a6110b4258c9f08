"""Metrics of `prometheus_client`."""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from aerolane.exporters.exporter import FIGURES, NODE_FIGURES, Figure, Snapshot, missing


class Prometheus:
    """Shows the last snapshot to `prometheus_client`: `aerolane_writer_ok_total`, `aerolane_writer_outstanding`,
    `aerolane_writer_node_records_total{node="..."}`.

    * `registry`: default that of `prometheus_client`
    * `labels`: of all metrics. Several writers of a process need several exporters, whose registries or labels differ.

    Raises `ImportError` without the package `prometheus-client`.
    """

    def __init__(self, registry: Any = None, *, labels: Mapping[str, str] | None = None) -> None:
        try:
            self._core = importlib.import_module("prometheus_client.core")
        except ImportError:
            raise missing("prometheus_client", "prometheus-client") from None
        self._labels = dict(labels or {})
        self._snapshot: Snapshot | None = None
        self._registry = self._core.REGISTRY if registry is None else registry
        self._registry.register(self)

    def export(self, snapshot: Snapshot, /) -> None:
        """Keeps a snapshot for the next scrape."""
        self._snapshot = snapshot

    def describe(self) -> Iterable[Any]:
        """Nothing: so that several exporters fit into one registry. For `prometheus_client`."""
        return []

    def collect(self) -> Iterable[Any]:
        """The metrics of the last snapshot. For `prometheus_client`."""
        snapshot = self._snapshot
        if snapshot is None:
            return
        for figure in FIGURES:
            yield self._family("aerolane_writer_", figure, [({}, snapshot)])
        for figure in NODE_FIGURES:
            of = [({"node": str(node["node"])}, node) for node in snapshot["nodes"]]
            yield self._family("aerolane_writer_node_", figure, of)

    def _family(self, prefix: str, figure: Figure, of: list[tuple[dict[str, str], dict[str, Any]]]) -> Any:
        kind = self._core.CounterMetricFamily if figure.is_counter else self._core.GaugeMetricFamily
        names = [*self._labels, *(of[0][0] if of else ())]
        family = kind(prefix + figure.name, figure.help, labels=names)
        for own, values in of:
            value = values[figure.name]
            if value is not None:
                family.add_metric([*self._labels.values(), *own.values()], value)
        return family

    def close(self) -> None:
        """Takes the metrics out of the registry."""
        self._registry.unregister(self)
