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
        """No calls: connections and the tend thread are counted all the same."""
    @staticmethod
    def probability(p: float) -> Sampler:
        """Each call with this probability; below 0 is taken as 0, above 1 as 1. Raises `InvalidArgumentError` for
        NaN.
        """
    @property
    def range(self) -> int:
        """Of so many calls .."""
    @property
    def threshold(self) -> int:
        """.. so many are measured."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, int]: ...

@final
class MetricsPolicy:
    """What metrics measure, and in which shape they show it.

    `MetricsPolicy.millis()` has histograms of milliseconds with 7 columns (the default), `MetricsPolicy.micros()` those
    of microseconds with 24. Both measure single calls only once `operational` is set.
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
    @staticmethod
    def micros() -> MetricsPolicy:
        """Microseconds in 24 columns."""
    @staticmethod
    def millis() -> MetricsPolicy:
        """Milliseconds in 7 columns."""
    operational: bool
    operational_enabled: bool
    usage_enabled: bool
    latency_unit: LatencyUnit
    latency_columns: int
    latency_shift: int
    @property
    def latency_base(self) -> int:
        """By what the end of a bucket is multiplied to give that of the next: 2 to the power of `latency_shift`."""
    @property
    def labels(self) -> list[dict[str, str]]:
        """Names and values to tell this client's metrics from others': a list of dicts. They are in the snapshot of
        all nodes. Default: none.
        """
    @labels.setter
    def labels(self, value: list[dict[str, str]] | dict[str, str]) -> None: ...
    sampler: Sampler
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Histogram:
    """How values are spread over powers of two: times in the unit of the snapshot (`latency_unit`), cut off to whole
    ones, or sizes in bytes.

    The first bucket counts values up to 1, each further one those up to `latency_base` times the end of the one before,
    the last one all above.
    """

    @property
    def buckets(self) -> list[int]:
        """How many values are in each bucket: a list."""
    @property
    def bounds(self) -> list[int]:
        """The greatest value of each bucket: a list, one shorter than `buckets`, whose last one has no end."""
    @property
    def count(self) -> int:
        """How many values there are."""
    @property
    def min(self) -> int:
        """The least value; 0 if there is none."""
    @property
    def max(self) -> int:
        """The greatest value; 0 if there is none."""
    @property
    def sum(self) -> float:
        """All values together."""
    @property
    def average(self) -> float:
        """The mean of the values; 0.0 if there is none."""
    def quantile(self, part: float) -> int | None:
        """What so many of the values (0.99: 99 % of them) do not exceed, as far as the buckets tell: the end of a
        bucket, or the greatest value. `None` if there are no values, or `part` is not within 0 and 1.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CommandMetric:
    """The requests of one kind in one namespace. Each attempt counts."""

    @property
    def connection_aq(self) -> Histogram:
        """How long requests waited until they were put on a connection. Most do not wait."""
    @property
    def latency(self) -> Histogram:
        """How long answers took, from the beginning of the attempt on; also those that say that the call failed."""
    @property
    def parsing(self) -> Histogram:
        """How long it took to parse answers: only of calls that aerospike-core carries out. Others are parsed where
        they are used, some of them never.
        """
    @property
    def bytes_sent(self) -> Histogram:
        """Sizes of requests, in bytes."""
    @property
    def bytes_received(self) -> Histogram:
        """Sizes of answers, in bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class NodeMetricsSnapshot:
    """The metrics of one node, or of all.

    Counters of connections, retries and bytes count from the making of the client on, whether metrics are on or not;
    those of the tend thread (`tends_*`, `partition_map_updates`, `node_*`) while they are on; histograms and result
    codes while they are on with `MetricsPolicy.operational`.
    """

    @property
    def open_connections(self) -> int:
        """Gauge: open connections, those that are being opened included."""
    @property
    def connections_attempts(self) -> int:
        """How often a connection was opened or was to be."""
    @property
    def connections_successful(self) -> int:
        """Connections that were opened."""
    @property
    def connections_failed(self) -> int:
        """Connections that could not be opened."""
    @property
    def connections_timeout_errors(self) -> int:
        """Of these, those that took too long."""
    @property
    def connections_other_errors(self) -> int:
        """Of these, those that failed for another reason."""
    @property
    def connections_tls_errors(self) -> int:
        """Of these, those whose TLS handshake failed."""
    @property
    def connections_auth_errors(self) -> int:
        """Of these, those whose credentials were refused."""
    @property
    def circuit_breaker_hits(self) -> int:
        """Requests that were not sent because the node's circuit breaker was open."""
    @property
    def connections_pool_empty(self) -> int:
        """Requests that found no free connection, or no room on one, and waited."""
    @property
    def connections_pool_overflow(self) -> int:
        """Connections that were closed because the pool had no room for them."""
    @property
    def connections_idle_dropped(self) -> int:
        """Connections that were closed because they had been idle for long."""
    @property
    def connections_in_use(self) -> int:
        """Gauge: connections in use, or being opened."""
    @property
    def connections_in_pool(self) -> int:
        """Gauge: connections at rest."""
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
        """Gauge: connections that still wait for answers which nobody wants any more."""
    @property
    def tends_total(self) -> int:
        """How often the tend thread asked the node for its state."""
    @property
    def tends_successful(self) -> int:
        """How often it was told."""
    @property
    def tends_failed(self) -> int:
        """How often it was not."""
    @property
    def partition_map_updates(self) -> int:
        """How often the node's part of the partition map changed."""
    @property
    def node_added(self) -> int:
        """How often the node became part of the cluster."""
    @property
    def node_removed(self) -> int:
        """How often it left the cluster."""
    @property
    def transaction_retry_count(self) -> int:
        """Attempts that were not the first one of their call."""
    @property
    def transaction_error_count(self) -> int:
        """Calls that failed for good at this node while they were measured, a record that does not exist included."""
    @property
    def error_rate(self) -> int:
        """Gauge: failures in the present window of the circuit breaker. 0 while `ClientPolicy.max_error_rate` is 0."""
    @property
    def requests(self) -> int:
        """Requests that were taken by our own connections."""
    @property
    def answers(self) -> int:
        """Requests that were answered on our own connections."""
    @property
    def timeouts(self) -> int:
        """Requests whose time was over on our own connections."""
    @property
    def refused(self) -> int:
        """Requests that were refused because everything was full."""
    @property
    def late_answers(self) -> int:
        """Answers that came when nobody wanted them any more."""
    @property
    def bytes_sent(self) -> int:
        """Bytes of requests written by our own connections. (Queries and what aerospike-core carries out: `sum` of
        `detailed_metric(..).bytes_sent`.)
        """
    @property
    def bytes_received(self) -> int:
        """Bytes of answers read by our own connections."""
    @property
    def latency_unit(self) -> LatencyUnit:
        """The unit of all times: a `LatencyUnit`."""
    @property
    def labels(self) -> list[dict[str, str]]:
        """The labels of the policy, with the name of the cluster and of the application: a list of dicts. Only with
        all nodes together.
        """
    @property
    def connection_opening(self) -> Histogram:
        """How long it took to open connections (TCP, TLS, login), those of aerospike-core not included."""
    def command_histogram(self, command_type: CommandType) -> Histogram | None:
        """The latencies of a kind of calls (a `CommandType`) in all namespaces; `None` for `CommandType.NONE`."""
    def detailed_metric(self, namespace: str, command_type: CommandType) -> CommandMetric | None:
        """What was measured of a kind of calls in a namespace: a `CommandMetric`, `None` if nothing was."""
    def result_code_count(self, namespace: str, command_type: CommandType, result_code: int) -> int:
        """How often a result code was the answer to a kind of calls in a namespace."""
    def detailed_namespaces(self) -> list[str]:
        """The namespaces of which something was measured."""
    def latency(self, latency_type: LatencyType) -> Histogram:
        """The latencies of several kinds of calls together (a `LatencyType`), in all namespaces."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict of plain values, with the names of the other clients' exports."""

@final
class ClusterMetrics:
    """The metrics of a client at one moment, of all its connections and event loops together."""

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
        """How many nodes the cluster has."""
    @property
    def open_connections(self) -> int:
        """Gauge: open connections."""
    @property
    def connections_in_use(self) -> int:
        """Gauge: connections in use."""
    @property
    def connections_in_pool(self) -> int:
        """Gauge: connections at rest."""
    @property
    def recover_queue_size(self) -> int:
        """Gauge: connections that still wait for answers which nobody wants any more."""
    @property
    def nodes_invalid(self) -> int:
        """How often a host that another node named could not be taken for a node. Counted while metrics are on."""
    @property
    def exceeded_max_retries(self) -> int:
        """Calls that failed because they were tried as often as their policy allows."""
    @property
    def exceeded_total_timeout(self) -> int:
        """Calls that failed because their total time was over."""
    @property
    def metrics_enabled(self) -> bool:
        """Whether metrics were on at this moment."""
    @property
    def operational_metrics_enabled(self) -> bool:
        """Whether calls were measured, and not only connections."""
    @property
    def usage_metrics_enabled(self) -> bool:
        """Whether it was counted which features are used: it is where calls are measured."""
    @property
    def command_retries(self) -> int:
        """Attempts that were not the first one of their call, at all nodes."""
    @property
    def command_count(self) -> int:
        """Calls that were answered while they were measured (`MetricsPolicy.operational`). A batch or a query counts
        once for each node that it went to.
        """
    @property
    def usage(self) -> dict[str, int]:
        """Requests by what they were, as far as they were measured: `{"feature.shape.point": 42}`. Shapes are
        `point`, `batch` and `query`; `feature.udf.record` counts functions on one record. Retries are included.
        """
    def to_canonical_dict(self) -> dict[str, Any]:
        """All of it as a document for exporters (JSON, OpenTelemetry, Prometheus) of the shape that the SDKs for
        Aerospike share: who measured what when, and figures by cluster, by node and by namespace.
        `operational_metrics_enabled` says whether calls were measured. `nodes` are the active nodes; in a snapshot
        that an exporter gets, `nodes_departed` are those that have left since the one before.
        """
    def latency(self, latency_type: LatencyType, node: str | None = None) -> Histogram:
        """The latencies of several kinds of calls together (a `LatencyType`), at a node (its address, as in `nodes`)
        or, with `None`, at all. Raises `KeyError` for a node that is not there.
        """
    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict of plain values, for exporters: by node under its address, all nodes together under
        `"cluster_aggregated_metrics"`, and the figures of the cluster under their names.
        """

@disjoint_base
class MetricsWriter:
    """An exporter of metrics that appends a line for each snapshot to a file `metrics-<time>.log` in a directory, which
    it makes if need be. What the setting `report_dir` stands for.

    The format is the one of Aerospike's clients: the first line of each file names the fields, and the unit, columns
    and shift of the latencies. Times are local. `report_size_limit`: a file of so many bytes or more is followed by
    another one, at least 1,000,000; 0: never. A new file begins also when the latencies have another shape, and after
    an error.

    Raises `InvalidArgumentError`, a `ValueError`, for a size limit out of bounds and for an empty directory.
    """

    def __new__(cls, report_dir: str | PathLike[str], report_size_limit: int = 0) -> Self: ...
    def export(self, snapshot: ClusterMetrics) -> None:
        """Appends a line for `snapshot`, a `MetricsSnapshot`.

        Raises `OSError` when it cannot be written.
        """
    def close(self) -> None:
        """Closes the file. Another export begins a new one."""
