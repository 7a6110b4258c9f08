"""Metrics of `prometheus_client`."""

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aerolane._aerolane import ClusterMetrics, CommandMetric, Histogram
from aerolane.exporters.exporter import Figure, missing
from aerolane.observability.source import (
    CLUSTER_FIGURES,
    NODE_FIGURES,
    MetricsSource,
    commands,
    cumulative,
    reader,
    seconds,
)

_PREFIX = "aerolane_client_"

# Histograms of a command: name, whether its values are times, help, where they are.
_HISTOGRAMS: tuple[tuple[str, bool, str, Callable[[CommandMetric], Histogram]], ...] = (
    (
        "command_duration_seconds",
        True,
        "How long answers took from the beginning of the attempt, failures included.",
        lambda found: found.latency,
    ),
    (
        "connection_wait_seconds",
        True,
        "How long requests waited until they were put on a connection.",
        lambda found: found.connection_aq,
    ),
    ("request_size_bytes", False, "Sizes of requests.", lambda found: found.bytes_sent),
    ("response_size_bytes", False, "Sizes of answers.", lambda found: found.bytes_received),
)


class PrometheusCollector:
    """Shows the metrics of a client to `prometheus_client` at each scrape.

    * `aerolane_client_command_duration_seconds{namespace, command}` and three more histograms
    * `aerolane_client_results_total{namespace, command, code}`: answers by result code
    * `aerolane_client_node_connections_in_use{node}` and the other figures of nodes and of the cluster

    Commands are only measured while metrics are on with `operational=True`; the buckets of histograms are those of the
    `MetricsPolicy`.

    * `source`: a cluster, or a native client
    * `registry`: default that of `prometheus_client`
    * `labels`: of all metrics. Several clients of a process need several collectors with different labels.

    Raises `ImportError` without the package `prometheus-client`, and `TypeError` for a source without metrics.
    """

    def __init__(self, source: MetricsSource, registry: Any = None, *, labels: Mapping[str, str] | None = None) -> None:
        try:
            self._core = importlib.import_module("prometheus_client.core")
        except ImportError:
            raise missing("prometheus_client", "prometheus-client") from None
        self._read = reader(source)
        self._labels = dict(labels or {})
        self._registry = self._core.REGISTRY if registry is None else registry
        self._registry.register(self)

    def describe(self) -> Iterable[Any]:
        """Gives nothing, so that several collectors fit into one registry. For `prometheus_client`."""
        return []

    def collect(self) -> Iterable[Any]:
        """Takes a snapshot and gives its metrics; none once a cluster is closed. For `prometheus_client`."""
        metrics = self._read()
        if metrics is None:
            return
        for figure in CLUSTER_FIGURES:
            family = self._family(figure, _PREFIX, ())
            family.add_metric(list(self._labels.values()), getattr(metrics, figure.name))
            yield family
        for figure in NODE_FIGURES:
            family = self._family(figure, f"{_PREFIX}node_", ("node",))
            for address, node in sorted(metrics.nodes.items()):
                family.add_metric([*self._labels.values(), address], getattr(node, figure.name))
            yield family
        yield from self._commands(metrics)

    def _commands(self, metrics: ClusterMetrics) -> Iterable[Any]:
        everything = metrics.cluster_aggregated
        unit = seconds(everything.latency_unit)
        opening = self._histogram("connection_opening_seconds", "How long it took to open connections.", ())
        self._add(opening, (), everything.connection_opening, unit, True)
        yield opening
        measured = list(commands(metrics))
        for name, is_time, text, histogram in _HISTOGRAMS:
            family = self._histogram(name, text, ("namespace", "command"))
            for namespace, command, found, _ in measured:
                self._add(family, (namespace, command), histogram(found), unit if is_time else 1.0, is_time)
            yield family
        names = [*self._labels, "namespace", "command", "code"]
        results = self._core.CounterMetricFamily(f"{_PREFIX}results", "Answers by their result code.", labels=names)
        for namespace, command, _, codes in measured:
            for code, count in codes.items():
                results.add_metric([*self._labels.values(), namespace, command, code], count)
        yield results

    def _family(self, figure: Figure, prefix: str, own: Sequence[str]) -> Any:
        kind = self._core.CounterMetricFamily if figure.is_counter else self._core.GaugeMetricFamily
        # It puts that at the end of every counter.
        return kind(prefix + figure.name.removesuffix("_total"), figure.help, labels=[*self._labels, *own])

    def _histogram(self, name: str, text: str, own: Sequence[str]) -> Any:
        return self._core.HistogramMetricFamily(_PREFIX + name, text, labels=[*self._labels, *own])

    def _add(self, family: Any, own: Sequence[str], histogram: Histogram, scale: float, is_time: bool) -> None:
        ends = [*cumulative(histogram, scale, is_time), (math.inf, histogram.count)]
        buckets = [("+Inf" if end == math.inf else f"{end:.9g}", count) for end, count in ends]
        family.add_metric([*self._labels.values(), *own], buckets, histogram.sum * scale)

    def close(self) -> None:
        """Takes the metrics out of the registry. Raises `KeyError` if they are not in it."""
        self._registry.unregister(self)
