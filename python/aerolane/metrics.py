"""What a client measures: the policy, the snapshot, and what they are made of.

cluster.enable_metrics(MetricsPolicy(operational=True))
snapshot = cluster.metrics_snapshot()
print(snapshot.command_count, snapshot.latency(LatencyType.READ).average)
"""

from aerolane._aerolane import ClusterMetrics as MetricsSnapshot
from aerolane._aerolane import (
    CommandType,
    LatencyType,
    LatencyUnit,
    MetricsExporterType,
    MetricsPolicy,
    NodeMetricsSnapshot,
    Sampler,
)
from aerolane._aerolane import Histogram as DerivedHistogram

__all__ = [
    "CommandType",
    "DerivedHistogram",
    "LatencyType",
    "LatencyUnit",
    "MetricsExporterType",
    "MetricsPolicy",
    "MetricsSnapshot",
    "NodeMetricsSnapshot",
    "Sampler",
]
