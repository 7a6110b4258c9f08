"""Instruments of `opentelemetry`."""

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from aerolane._aerolane import ClusterMetrics
from aerolane.exporters.exporter import Figure, missing
from aerolane.observability.source import (
    CLUSTER_FIGURES,
    NODE_FIGURES,
    MetricsSource,
    commands,
    reader,
    seconds,
)

_Values = Iterator[tuple[float, dict[str, Any]]]

# All instruments are asked one after the other; they share a snapshot for so many seconds.
_SHARED = 0.1


class OpenTelemetryInstruments:
    """Shows the metrics of a client as observable instruments, with the attributes of the conventions for databases.

    * `aerolane.client.commands` and `aerolane.client.command.time` (their sum, in seconds), by `db.namespace` and
      `db.operation.name`
    * `aerolane.client.results`, by `db.response.status_code`, too
    * `aerolane.client.node.connections_in_use` and the other figures of nodes, by `server.address` and `server.port`;
      those of the cluster as `aerolane.client.total_nodes`

    OpenTelemetry has no observable histogram; for histograms use `PrometheusCollector`. Commands are only measured
    while metrics are on with `operational=True`.

    * `source`: a cluster, or a native client
    * `meter_provider`: default the global one
    * `attributes`: of all observations, to tell one client from another

    Raises `ImportError` without the package `opentelemetry-api`, and `TypeError` for a source without metrics.
    """

    def __init__(
        self, source: MetricsSource, meter_provider: Any = None, *, attributes: Mapping[str, str] | None = None
    ) -> None:
        try:
            self._metrics = importlib.import_module("opentelemetry.metrics")
        except ImportError:
            raise missing("opentelemetry", "opentelemetry-api") from None
        self._read = reader(source)
        self._shared: ClusterMetrics | None = None
        self._until = 0.0
        self._attributes = {"db.system.name": "aerospike", **(attributes or {})}
        meter = self._metrics.get_meter("aerolane", meter_provider=meter_provider)
        counter, gauge = meter.create_observable_counter, meter.create_observable_gauge

        def instrument(make: Any, name: str, unit: str, text: str, values: Callable[[ClusterMetrics], _Values]) -> None:
            make(f"aerolane.client.{name}", callbacks=[self._observed(values)], unit=unit, description=text)

        for figure in CLUSTER_FIGURES:
            make = counter if figure.is_counter else gauge
            instrument(make, figure.name, "1", figure.help, _of_cluster(figure))
        for figure in NODE_FIGURES:
            make, unit = counter if figure.is_counter else gauge, "By" if "bytes" in figure.name else "1"
            instrument(make, f"node.{figure.name}", unit, figure.help, _of_nodes(figure))
        instrument(counter, "commands", "1", "Answers, failures included.", _counts)
        instrument(counter, "command.time", "s", "How long all answers took together.", _times)
        instrument(counter, "results", "1", "Answers by their result code.", _results)

    def _observed(self, values: Callable[[ClusterMetrics], _Values]) -> Callable[[Any], Iterable[Any]]:
        def observe(_options: Any) -> Iterable[Any]:
            metrics = self._snapshot()
            if metrics is not None:
                for value, attributes in values(metrics):
                    yield self._metrics.Observation(value, {**self._attributes, **attributes})

        return observe

    def _snapshot(self) -> ClusterMetrics | None:
        if self._shared is None or time.monotonic() >= self._until:
            self._shared, self._until = self._read(), time.monotonic() + _SHARED
        return self._shared


def _of_cluster(figure: Figure) -> Callable[[ClusterMetrics], _Values]:
    def values(metrics: ClusterMetrics) -> _Values:
        yield getattr(metrics, figure.name), {}

    return values


def _of_nodes(figure: Figure) -> Callable[[ClusterMetrics], _Values]:
    def values(metrics: ClusterMetrics) -> _Values:
        for address, node in metrics.nodes.items():
            host, _, port = address.rpartition(":")
            yield getattr(node, figure.name), {"server.address": host, "server.port": int(port)}

    return values


def _attributes(namespace: str, command: str) -> dict[str, Any]:
    return {"db.namespace": namespace, "db.operation.name": command}


def _counts(metrics: ClusterMetrics) -> _Values:
    for namespace, command, found, _ in commands(metrics):
        yield found.latency.count, _attributes(namespace, command)


def _times(metrics: ClusterMetrics) -> _Values:
    unit = seconds(metrics.cluster_aggregated.latency_unit)
    for namespace, command, found, _ in commands(metrics):
        yield found.latency.sum * unit, _attributes(namespace, command)


def _results(metrics: ClusterMetrics) -> _Values:
    for namespace, command, _, codes in commands(metrics):
        for code, count in codes.items():
            yield count, {**_attributes(namespace, command), "db.response.status_code": code}
