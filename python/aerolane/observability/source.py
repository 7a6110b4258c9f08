"""Where the metrics come from, and which figures there are."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias, cast

from aerolane._aerolane import (
    ClusterMetrics,
    CommandMetric,
    CommandType,
    Histogram,
    LatencyUnit,
    NodeMetricsSnapshot,
    ResultCode,
)
from aerolane.exceptions import ClientClosedError
from aerolane.exporters.exporter import Figure


class _Cluster(Protocol):
    def metrics_snapshot(self) -> ClusterMetrics: ...


class _Client(Protocol):
    def metrics(self) -> ClusterMetrics: ...


MetricsSource: TypeAlias = _Cluster | _Client
"""A cluster, or a native client (`client.native` of a `Client` or `SyncClient`)."""


def _figures(owner: type, counters: str, gauges: str) -> list[Figure]:
    def figure(name: str, is_counter: bool) -> Figure:
        text = " ".join((inspect.getdoc(getattr(owner, name)) or "").split())
        return Figure(name, is_counter, text.removeprefix("Gauge: "))

    return [figure(name, True) for name in counters.split()] + [figure(name, False) for name in gauges.split()]


CLUSTER_FIGURES = _figures(
    ClusterMetrics,
    "nodes_invalid exceeded_max_retries exceeded_total_timeout",
    "total_nodes recover_queue_size",
)
NODE_FIGURES = _figures(
    NodeMetricsSnapshot,
    "connections_attempts connections_successful connections_failed connections_timeout_errors"
    " connections_other_errors connections_tls_errors connections_auth_errors circuit_breaker_hits"
    " connections_pool_empty connections_pool_overflow connections_idle_dropped connections_closed"
    " connections_closed_error connections_closed_node_removed tends_total tends_successful tends_failed"
    " partition_map_updates node_added node_removed transaction_retry_count transaction_error_count requests answers"
    " timeouts refused late_answers bytes_sent bytes_received",
    "open_connections connections_in_use connections_in_pool connections_recovering error_rate",
)

COMMANDS = [kind for kind in (getattr(CommandType, name) for name in dir(CommandType)) if isinstance(kind, CommandType)]
CODES = [code for code in (getattr(ResultCode, name) for name in dir(ResultCode)) if isinstance(code, ResultCode)]


def reader(source: MetricsSource) -> Callable[[], ClusterMetrics | None]:
    """Returns a function that takes a snapshot, or gives `None` once a cluster is closed.

    Raises `TypeError` if `source` has no metrics.
    """
    found = getattr(source, "metrics_snapshot", None) or getattr(source, "metrics", None)
    if not callable(found):
        text = f"{type(source).__name__} has no metrics: pass a cluster, or a native client (`client.native`)"
        raise TypeError(text)
    take = cast("Callable[[], ClusterMetrics]", found)

    def read() -> ClusterMetrics | None:
        try:
            return take()
        except ClientClosedError:
            return None

    return read


def commands(metrics: ClusterMetrics) -> Iterator[tuple[str, str, CommandMetric, dict[str, int]]]:
    """Yields each kind of command that was measured: namespace, name, histograms, and answers by result code."""
    everything = metrics.cluster_aggregated
    for namespace in sorted(everything.detailed_namespaces()):
        for kind in COMMANDS:
            measured = everything.detailed_metric(namespace, kind)
            if measured is None:
                continue
            counts = {_name(code): everything.result_code_count(namespace, kind, int(code)) for code in CODES}
            yield namespace, _name(kind).lower(), measured, {name: count for name, count in counts.items() if count}


def _name(member: Any) -> str:
    return str(member.name)


def seconds(unit: LatencyUnit) -> float:
    """Returns how long the unit of a snapshot's times is, in seconds."""
    return 1e-6 if unit == LatencyUnit.MICROSECONDS else 1e-3


def cumulative(histogram: Histogram, scale: float, cut_off: bool) -> list[tuple[float, int]]:
    """Returns the upper end of each bucket but the last one, times `scale`, and how many values are not above it.

    Times are cut off to whole units (`cut_off`): what counts as 3 µs may have taken almost 4.
    """
    found: list[tuple[float, int]] = []
    total = 0
    for bound, count in zip(histogram.bounds, histogram.buckets, strict=False):
        total += count
        found.append(((bound + cut_off) * scale, total))
    return found
