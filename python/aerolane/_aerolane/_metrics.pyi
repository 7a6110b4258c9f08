"""Metrics: what is measured, and what was."""

from os import PathLike
from typing import Any, Self, final

from typing_extensions import disjoint_base

from ._enums import CommandType, LatencyType, LatencyUnit

@final
class Sampler:
    """Which calls are measured: `threshold` out of every `range`, picked at random."""

    def __new__(cls, range: int, threshold: int) -> Self: ...
    @staticmethod
    def all() -> Sampler:
        """All calls (the default)."""
    @staticmethod
    def never() -> Sampler:
        """No calls; connections and the tend thread are still counted."""
    @staticmethod
    def probability(p: float) -> Sampler:
        """Each call with this probability, clamped to 0 to 1. Raises `InvalidArgumentError` for NaN."""
    @property
    def range(self) -> int:
        """The number of calls of which `threshold` are measured."""
    @property
    def threshold(self) -> int:
        """How many out of `range` calls are measured."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int, int]: ...
    def __hash__(self) -> int: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class MetricsPolicy:
    """What is measured, and how histograms are built.

    `MetricsPolicy.millis()` has histograms in milliseconds with 7 columns (the default), `MetricsPolicy.micros()` has
    histograms in microseconds with 24. Both measure single calls only if `operational` is set.
    """

    def __new__(
        cls,
        *,
        operational: bool | None = None,
        latency_unit: LatencyUnit | None = None,
        latency_columns: int | None = None,
        latency_shift: int | None = None,
        labels: list[dict[str, str]] | dict[str, str] | None = None,
        sampler: Sampler | None = None,
        operational_enabled: bool | None = None,
        usage_enabled: bool | None = None,
    ) -> Self: ...
    operational: bool
    """Whether calls are measured: latencies, sizes, result codes. Default False: only connections, retries and bytes
    are counted.
    """
    latency_unit: LatencyUnit
    """The unit of times. Default `LatencyUnit.MILLISECONDS`. Changing it discards what was measured."""
    latency_columns: int
    """The number of buckets of each histogram, 1 to 64. Default 7."""
    latency_shift: int
    """Each bucket ends at 2**`latency_shift` times the end of the one before: 1 to 63. Default 1."""
    sampler: Sampler
    """Which calls are measured. Default `Sampler.all()`."""
    operational_enabled: bool
    """The same as `operational`, for code written for Aerospike's SDK."""
    usage_enabled: bool
    """Whether the use of features is counted, which happens for all measured calls. The same setting as
    `operational`.
    """
    @staticmethod
    def millis() -> MetricsPolicy:
        """Milliseconds in 7 columns."""
    @staticmethod
    def micros() -> MetricsPolicy:
        """Microseconds in 24 columns."""
    @property
    def labels(self) -> list[dict[str, str]]:
        """Labels that identify this client's metrics: a list of dicts of names and values. They are part of the
        snapshot of all nodes. Default: none.
        """
    @labels.setter
    def labels(self, value: list[dict[str, str]] | dict[str, str]) -> None: ...
    @property
    def latency_base(self) -> int:
        """The factor between the ends of two adjacent buckets: 2 to the power of `latency_shift`."""
    @staticmethod
    def from_fields(
        *,
        operational: bool | None = None,
        latency_unit: LatencyUnit | None = None,
        latency_columns: int | None = None,
        latency_shift: int | None = None,
        labels: list[dict[str, str]] | dict[str, str] | None = None,
        sampler: Sampler | None = None,
        operational_enabled: bool | None = None,
        usage_enabled: bool | None = None,
    ) -> MetricsPolicy:
        """The same as the constructor."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Histogram:
    """A histogram with exponential buckets: of times in the unit of the snapshot (`latency_unit`), rounded down, or of
    sizes in bytes.

    The first bucket counts values up to 1. Each further bucket ends at `latency_base` times the end of the one before;
    the last one counts all larger values.
    """

    @property
    def buckets(self) -> list[int]:
        """The number of values in each bucket, as a list."""
    @property
    def bounds(self) -> list[int]:
        """The upper bound of each bucket, as a list. It is one shorter than `buckets`, since the last bucket has no
        upper bound.
        """
    @property
    def count(self) -> int:
        """The number of values."""
    @property
    def min(self) -> int:
        """The smallest value; 0 if there are none."""
    @property
    def max(self) -> int:
        """The largest value; 0 if there are none."""
    @property
    def sum(self) -> float:
        """The sum of the values."""
    @property
    def average(self) -> float:
        """The mean of the values; 0.0 if there are none."""
    def quantile(self, part: float) -> int | None:
        """The quantile of the values (0.99: 99 % of them are not larger), as exactly as the buckets allow: the end
        of a bucket, or the largest value. `None` if there are no values, or if `part` is not between 0 and 1.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CommandMetric:
    """The requests of one kind to one namespace. Each attempt counts."""

    @property
    def connection_aq(self) -> Histogram:
        """How long requests waited for room on a connection. Most do not wait."""
    @property
    def latency(self) -> Histogram:
        """The time from the start of an attempt to its answer, including answers that report a failure."""
    @property
    def parsing(self) -> Histogram:
        """How long it took to parse answers, only for calls that aerospike-core carries out. Other answers are
        parsed when they are used, which may be never.
        """
    @property
    def bytes_sent(self) -> Histogram:
        """The sizes of requests in bytes."""
    @property
    def bytes_received(self) -> Histogram:
        """The sizes of answers in bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class NodeMetricsSnapshot:
    """The metrics of one node, or of all.

    Counters of connections, retries and bytes start when the client is created, whether metrics are on or not. Those of
    the tend thread (`tends_*`, `partition_map_updates`, `node_*`) count while metrics are on, histograms and result
    codes while they are on with `MetricsPolicy.operational`.
    """

    def latency(self, latency_type: LatencyType) -> Histogram:
        """The latencies of a group of calls (a `LatencyType`) in all namespaces."""
    @property
    def bytes_sent(self) -> int:
        """Bytes of requests written to the client's own connections. (For queries and calls that aerospike-core
        carries out, see `sum` of `detailed_metric(..).bytes_sent`.)
        """
    @property
    def bytes_received(self) -> int:
        """Bytes of answers read from the client's own connections."""
    @property
    def open_connections(self) -> int:
        """Gauge: open connections, including those being opened."""
    @property
    def connections_attempts(self) -> int:
        """Attempts to open a connection."""
    @property
    def connections_successful(self) -> int:
        """Connections that were opened."""
    @property
    def connections_failed(self) -> int:
        """Connections that could not be opened."""
    @property
    def connections_timeout_errors(self) -> int:
        """Connections that could not be opened in time."""
    @property
    def connections_other_errors(self) -> int:
        """Connections that could not be opened for any other reason."""
    @property
    def connections_tls_errors(self) -> int:
        """Connections that could not be opened because the TLS handshake failed."""
    @property
    def connections_auth_errors(self) -> int:
        """Connections that could not be opened because the credentials were refused."""
    @property
    def circuit_breaker_hits(self) -> int:
        """Requests that were not sent because the node's circuit breaker was open."""
    @property
    def connections_pool_empty(self) -> int:
        """Requests that waited because no connection was free or had room."""
    @property
    def connections_pool_overflow(self) -> int:
        """Connections that were closed because the pool had no room for them."""
    @property
    def connections_idle_dropped(self) -> int:
        """Connections that were closed because they had been idle for too long."""
    @property
    def connections_in_use(self) -> int:
        """Gauge: connections in use, or being opened."""
    @property
    def connections_in_pool(self) -> int:
        """Gauge: idle connections."""
    @property
    def connections_closed(self) -> int:
        """Connections that were closed, for any reason."""
    @property
    def connections_closed_error(self) -> int:
        """Connections that were lost, or were closed after a failure."""
    @property
    def connections_closed_node_removed(self) -> int:
        """Connections that were closed because the node had left the cluster."""
    @property
    def connections_recovering(self) -> int:
        """Gauge: connections that are still reading answers that nobody waits for any more."""
    @property
    def tends_total(self) -> int:
        """How often the tend thread asked the node for its state."""
    @property
    def tends_successful(self) -> int:
        """How often the node answered the tend thread."""
    @property
    def tends_failed(self) -> int:
        """How often the node did not answer the tend thread."""
    @property
    def partition_map_updates(self) -> int:
        """How often the node's part of the partition map changed."""
    @property
    def node_added(self) -> int:
        """How often the node joined the cluster."""
    @property
    def node_removed(self) -> int:
        """How often the node left the cluster."""
    @property
    def transaction_retry_count(self) -> int:
        """Retries."""
    @property
    def transaction_error_count(self) -> int:
        """Calls that failed for good on this node while calls were measured, including those whose record does not
        exist.
        """
    @property
    def error_rate(self) -> int:
        """Gauge: failures in the current window of the circuit breaker. 0 while `ClientPolicy.max_error_rate` is 0."""
    @property
    def requests(self) -> int:
        """Requests accepted by the client's own connections."""
    @property
    def answers(self) -> int:
        """Requests answered on the client's own connections."""
    @property
    def timeouts(self) -> int:
        """Requests that timed out on the client's own connections."""
    @property
    def refused(self) -> int:
        """Requests that the client refused because all connections and queues were full."""
    @property
    def late_answers(self) -> int:
        """Answers that arrived after their callers had given up."""
    @property
    def latency_unit(self) -> LatencyUnit:
        """The unit of all times, a `LatencyUnit`."""
    @property
    def labels(self) -> list[dict[str, str]]:
        """The labels of the policy and the names of the cluster and the application, as a list of dicts. Only in the
        snapshot of all nodes.
        """
    @property
    def connection_opening(self) -> Histogram:
        """How long it took to open connections (TCP, TLS, login), without those of aerospike-core."""
    def command_histogram(self, command_type: CommandType) -> Histogram | None:
        """The latencies of one kind of call (a `CommandType`) in all namespaces; `None` for `CommandType.NONE`."""
    def detailed_metric(self, namespace: str, command_type: CommandType) -> CommandMetric | None:
        """The measurements of one kind of call in a namespace: a `CommandMetric`, or `None` if nothing was measured."""
    def result_code_count(self, namespace: str, command_type: CommandType, result_code: int) -> int:
        """How often one kind of call in a namespace was answered with a result code."""
    def detailed_namespaces(self) -> list[str]:
        """The namespaces for which something was measured."""
    def to_dict(self) -> dict[str, Any]:
        """The snapshot as a dict of plain values, with the names that other clients export."""

@final
class ClusterMetrics:
    """A snapshot of a client's metrics, for all its connections and event loops together."""

    def latency(self, latency_type: LatencyType, node: str | None = None) -> Histogram:
        """The latencies of a group of calls (a `LatencyType`) on one node (its address, as in `nodes`), or on all
        nodes if it is `None`. Raises `KeyError` for an unknown node.
        """
    @property
    def open_connections(self) -> int:
        """Gauge: open connections."""
    @property
    def connections_in_use(self) -> int:
        """Gauge: connections in use."""
    @property
    def connections_in_pool(self) -> int:
        """Gauge: idle connections."""
    def to_dict(self) -> dict[str, Any]:
        """The snapshot as a dict of plain values, for exporters: each node under its address, all nodes together
        under `"cluster_aggregated_metrics"`, and the figures of the cluster under their names.
        """
    @property
    def nodes(self) -> dict[str, NodeMetricsSnapshot]:
        """The metrics of each node (`NodeMetricsSnapshot`) by its address, `"host:port"`. Nodes that have left the
        cluster stay.
        """
    @property
    def cluster_aggregated(self) -> NodeMetricsSnapshot:
        """The metrics of all nodes together."""
    @property
    def total_nodes(self) -> int:
        """The number of nodes of the cluster."""
    @property
    def recover_queue_size(self) -> int:
        """Gauge: connections that are still reading answers that nobody waits for any more."""
    @property
    def nodes_invalid(self) -> int:
        """How often a host that a node reported turned out not to be a usable node. Counted while metrics are on."""
    @property
    def exceeded_max_retries(self) -> int:
        """Calls that failed because they used up the retries of their policy."""
    @property
    def exceeded_total_timeout(self) -> int:
        """Calls that failed because their total timeout passed."""
    @property
    def metrics_enabled(self) -> bool:
        """Whether metrics were on when the snapshot was taken."""
    @property
    def operational_metrics_enabled(self) -> bool:
        """Whether calls were measured, too, not only connections."""
    @property
    def usage_metrics_enabled(self) -> bool:
        """Whether the use of features was counted, which happens whenever calls are measured."""
    @property
    def command_retries(self) -> int:
        """Retries, on all nodes."""
    @property
    def command_count(self) -> int:
        """Calls that were answered while calls were measured (`MetricsPolicy.operational`). A batch or a query
        counts once for each node that it was sent to.
        """
    @property
    def usage(self) -> dict[str, int]:
        """The number of measured requests by feature: `{"feature.shape.point": 42}`. Shapes are `point`, `batch` and
        `query`; `feature.udf.record` counts functions on one record. Retries are included.
        """
    def to_canonical_dict(self) -> dict[str, Any]:
        """The snapshot as a document for exporters (JSON, OpenTelemetry, Prometheus) in the format that Aerospike's
        SDKs share: who measured what and when, and figures by cluster, node and namespace.
        `operational_metrics_enabled` says whether calls were measured. `nodes` are the active nodes; in a snapshot
        passed to an exporter, `nodes_departed` are the nodes that have left since the previous one.
        """

@disjoint_base
class MetricsWriter:
    """An exporter that appends a line for each snapshot of metrics to a file `metrics-<time>.log` in a directory, which
    it creates if necessary. The setting `report_dir` installs one.

    The format is that of Aerospike's clients: the first line of each file names the fields, and the unit, columns and
    shift of the latencies. Times are local. `report_size_limit`: the size in bytes after which a new file is started,
    at least 1,000,000; 0: never. A new file is also started if the shape of the histograms changes, and after an error.

    Raises `InvalidArgumentError` (a `ValueError`) for a size limit that is out of range and for an empty directory
    name.
    """

    def __new__(cls, report_dir: str | PathLike[str], report_size_limit: int = 0) -> Self: ...
    def export(self, snapshot: ClusterMetrics) -> None:
        """Appends a line for `snapshot`, a `MetricsSnapshot`.

        Raises `OSError` if the line cannot be written.
        """
    def close(self) -> None:
        """Closes the file. The next export starts a new one."""
