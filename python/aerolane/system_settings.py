"""`SystemSettings`: the settings of a whole cluster, for `ClusterDefinition`."""

from dataclasses import dataclass
from datetime import timedelta

from aerolane._aerolane import ClientPolicy, MetricsExporterType, _check_settings

# The property of `ClientPolicy` that each one is.
_NUMBERS = {
    "min_connections_per_node": "min_conns_per_node",
    "max_connections_per_node": "max_conns_per_node",
    "conn_pools_per_node": "conn_pools_per_node",
    "num_tend_intervals_in_error_window": "error_rate_window",
    "max_errors_in_error_window": "max_error_rate",
}
_TIMES = {
    "wait_for_connection_to_complete": "connect_timeout",
    "tend_timeout": "timeout",
    "login_timeout": "login_timeout",
    "max_socket_idle_time": "idle_timeout",
    "tend_interval": "tend_interval",
}


@dataclass(frozen=True, kw_only=True)
class TransactionSettings:
    """How sessions run the transactions that they begin and end themselves, for `SystemSettings`.

    * `implicit_batch_write_transactions`: whether a batch that writes several records of a strongly consistent
      namespace, outside of a transaction, becomes a transaction of its own. Default True.
    * `sleep_between_attempts`: the mean pause before another attempt, a `timedelta`. Default 20 ms.
    * `number_of_attempts`: the most attempts, with the first one; at least 1. Default 10.

    `None` leaves a setting at its default. Raises `TypeError` for a value of a wrong type and
    `InvalidArgumentError` for one out of bounds.
    """

    implicit_batch_write_transactions: bool | None = None
    sleep_between_attempts: timedelta | None = None
    number_of_attempts: int | None = None

    def __post_init__(self) -> None:
        _check_settings(self)


@dataclass(frozen=True, kw_only=True)
class MetricsSettings:
    """What a cluster measures, for `SystemSettings`.

    * `enabled`: whether it measures; `None` leaves that to `Cluster.enable_metrics` and `disable_metrics`
    * `operational_enabled`: whether calls are measured. Default False: counters of connections, retries and bytes only.
    * `usage_enabled`: whether the use of features is counted, which also measures calls
    * `latency_unit`: `"milliseconds"` (the default) or `"microseconds"`; `latency_columns`, 1 to 64, and
      `latency_shift`, 1 to 63: the shape of histograms
    * `sampler_threshold` out of every `sampler_range` calls are measured. Default: all.
    * `labels`: names and values to tell this client's metrics from others'
    * `exporter`: who gets a snapshot regularly while metrics are on, a `MetricsExporterType` or its name. FILE: files
      in `report_dir`; CUSTOM: what was added with `Cluster.add_exporter`; NONE: nobody. Default: both.
    * `export_interval`: how often, at least 1 ms. Default 30 s.
    * `report_dir`: a directory for a `MetricsWriter`; without it there are no files. `report_size_limit`: a file of so
      many bytes is followed by another one, at least 1,000,000; 0, the default: never.

    Raises `TypeError` for a value of a wrong type and `InvalidArgumentError` for one out of bounds.
    """

    enabled: bool | None = None
    latency_unit: str | None = None
    latency_columns: int | None = None
    latency_shift: int | None = None
    export_interval: timedelta | None = None
    exporter: MetricsExporterType | str | None = None
    report_dir: str | None = None
    report_size_limit: int | None = None
    sampler_range: int | None = None
    sampler_threshold: int | None = None
    labels: dict[str, str] | None = None
    operational_enabled: bool | None = None
    usage_enabled: bool | None = None

    def __post_init__(self) -> None:
        _check_settings(self)
        if isinstance(self.exporter, str):
            object.__setattr__(self, "exporter", MetricsExporterType[self.exporter.upper()])


@dataclass(frozen=True, kw_only=True)
class SystemSettings:
    """Settings of a cluster, for `ClusterDefinition.with_system_settings`. `None` leaves a setting as it is.

    * `min_connections_per_node`, `max_connections_per_node`: bounds of the pool of each node
    * `conn_pools_per_node`: the number of pools for the connections of rare commands
    * `wait_for_connection_to_complete`: how long a connection may take to open
    * `tend_timeout`, `tend_interval`: how long a node may take to answer about the cluster, and how often it is asked
    * `login_timeout`: how long a login may take
    * `max_socket_idle_time`: connections that were idle for so long are closed
    * `max_errors_in_error_window`, `num_tend_intervals_in_error_window`: so many errors within so many tend intervals,
      and the node is left alone for a while
    * `transactions`: a `TransactionSettings`; `metrics`: a `MetricsSettings`

    Times are `timedelta`s, in whole milliseconds, rounded up; `ClientPolicy` tells bounds and defaults.
    """

    min_connections_per_node: int | None = None
    max_connections_per_node: int | None = None
    conn_pools_per_node: int | None = None
    wait_for_connection_to_complete: timedelta | None = None
    tend_timeout: timedelta | None = None
    login_timeout: timedelta | None = None
    max_socket_idle_time: timedelta | None = None
    tend_interval: timedelta | None = None
    num_tend_intervals_in_error_window: int | None = None
    max_errors_in_error_window: int | None = None
    transactions: TransactionSettings = TransactionSettings()
    metrics: MetricsSettings = MetricsSettings()

    def apply_to(self, policy: ClientPolicy) -> ClientPolicy:
        """Sets the properties of a policy, and gives the policy. `transactions` and `metrics` are no part of it.

        Raises `TypeError` for a time that is no `timedelta`, and `InvalidArgumentError` for what is out of bounds.
        """
        for name, target in _NUMBERS.items():
            number = getattr(self, name)
            if number is not None:
                setattr(policy, target, number)
        for name, target in _TIMES.items():
            time = getattr(self, name)
            if time is None:
                continue
            if not isinstance(time, timedelta):
                raise TypeError(f"{name} is a timedelta, not {type(time).__name__}")
            setattr(policy, target, -(-time // timedelta(milliseconds=1)))
        return policy
