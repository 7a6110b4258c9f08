"""What a client measures: the policy, the snapshot and their parts, and the exporters that get snapshots regularly.

cluster.enable_metrics(MetricsPolicy(operational=True))
snapshot = cluster.metrics_snapshot()
print(snapshot.command_count, snapshot.latency(LatencyType.READ).average)
"""

from typing import Protocol, runtime_checkable

from aerolane._aerolane import ClusterMetrics as MetricsSnapshot
from aerolane._aerolane import (
    CommandType,
    LatencyType,
    LatencyUnit,
    MetricsExporterType,
    MetricsPolicy,
    MetricsWriter,
    NodeMetricsSnapshot,
    Sampler,
)
from aerolane._aerolane import Histogram as DerivedHistogram

__all__ = [
    "AsyncMetricsExporter",
    "CommandType",
    "DerivedHistogram",
    "LatencyType",
    "LatencyUnit",
    "MetricsExporter",
    "MetricsExporterType",
    "MetricsPolicy",
    "MetricsSnapshot",
    "MetricsWriter",
    "NodeMetricsSnapshot",
    "Sampler",
]


@runtime_checkable
class MetricsExporter(Protocol):
    """What `aerolane.sync.Cluster.add_exporter` takes. `export` runs in a thread of its own, so it may block."""

    def export(self, snapshot: MetricsSnapshot) -> None:
        """Takes a snapshot. An exception is logged."""


@runtime_checkable
class AsyncMetricsExporter(Protocol):
    """What `aerolane.Cluster.add_exporter` takes. `export` runs on the event loop on which the exporter was added."""

    async def export(self, snapshot: MetricsSnapshot) -> None:
        """Takes a snapshot. An exception is logged."""
