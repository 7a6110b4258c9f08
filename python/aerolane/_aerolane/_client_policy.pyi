"""`ClientPolicy`."""

from typing import Any, Self, final

from ._enums import AuthMode, WhenFull
from ._tls import TlsConfig

@final
class ClientPolicy:
    """How a client connects, logs in, and sizes its pools. It is read when the client is created."""

    def __new__(
        cls,
        *,
        auth_mode: AuthMode | None = None,
        user: str | None = None,
        password: str | None = None,
        tls_config: TlsConfig | None = None,
        timeout: int | None = None,
        connect_timeout: int | None = None,
        login_timeout: int | None = None,
        idle_timeout: int | None = None,
        min_conns_per_node: int | None = None,
        max_conns_per_node: int | None = None,
        connection_spread: int | None = None,
        pipeline_depth: int | None = None,
        max_bytes_in_flight: int | None = None,
        max_batch_conns_per_node: int | None = None,
        max_waiting_per_node: int | None = None,
        max_waiting_bytes_per_node: int | None = None,
        max_batch_answer_bytes: int | None = None,
        when_full: WhenFull | None = None,
        slow_operation_threshold: int | None = None,
        conn_pools_per_node: int | None = None,
        opening_connection_threshold: int | None = None,
        use_services_alternate: bool | None = None,
        rack_ids: list[int] | None = None,
        fail_if_not_connected: bool | None = None,
        seed_only_cluster: bool | None = None,
        buffer_reclaim_threshold: int | None = None,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        tend_interval: int | None = None,
        ip_map: dict[str, str] | None = None,
        cluster_name: str | None = None,
        application_id: str | None = None,
        custom_client_id: str | None = None,
        per_client_runtime_workers: int | None = None,
    ) -> Self: ...
    auth_mode: AuthMode
    """How to log in. Default `AuthMode.NONE`; setting `user` or `password` makes it `INTERNAL`."""
    user: str | None
    """The user, at most 63 bytes, or None."""
    password: str | None
    """The password, or None."""
    tls_config: TlsConfig | None
    """How connections are encrypted. None (the default): not at all."""
    timeout: int
    """Timeout of the commands that check the state of the cluster, in ms. Default 1,000."""
    connect_timeout: int
    """Timeout for opening a connection in ms. 0 (the default): the same as `timeout`."""
    login_timeout: int
    """Timeout of a login in ms. 0: the same as `connect_timeout`. Default 5,000."""
    idle_timeout: int
    """Connections that were idle for this many ms are closed. 0 (the default): after 55 s, before the server closes
    them.
    """
    min_conns_per_node: int
    """The number of connections per node and lane that are opened at the start and kept open. Default 0, which means
    1.
    """
    max_conns_per_node: int
    """The maximum number of connections per node for single-record requests. Default 256; 0 means 65,535. The client
    decides at run time how many of them it uses; set `min_conns_per_node` to the same value to fix the number.
    """
    connection_spread: int | None
    """Deprecated: leave it at its default. The number of connections, over all nodes, for servers that answer in
    microseconds, 1 to 65,535; the search for a better number starts from it. None (the default): 3.
    """
    pipeline_depth: int | None
    """The maximum number of requests in flight on one connection, 1 to 1,024. None (the default): 128; always 1 over
    TLS. The client puts fewer requests on a connection if each of them takes long.
    """
    max_bytes_in_flight: int | None
    """The maximum size in bytes of all unanswered requests on one connection, 1,024 to 1,073,741,824. None (the
    default): 1 MiB.
    """
    max_batch_conns_per_node: int | None
    """The maximum number of connections per node for batches, 1 to 65,535. None (the default): 64, or
    `max_conns_per_node` if that is less.
    """
    max_waiting_per_node: int | None
    """The maximum number of calls that wait for room on a connection, per node and lane. Further calls fail at once.
    None (the default): 1,048,576.
    """
    max_waiting_bytes_per_node: int | None
    """The maximum size in bytes of all requests that wait for room on a connection, per node and event loop, 1,024
    to 2**40. Further requests fail at once with `PoolExhaustedError`; a single larger request may still wait if no
    other does. None (the default): 256 MiB.
    """
    max_batch_answer_bytes: int | None
    """The maximum size in bytes of a node's answer to one batch on an event loop, 1,024 to 2**40. The answer is
    collected before it is decoded; if it is larger, that node's rows fail with `CapacityError`. Blocking batches
    have no such limit. None (the default): 1 GiB.
    """
    when_full: WhenFull
    """What happens if all connections to a node are full. Default `WhenFull.WAIT`."""
    slow_operation_threshold: int | None
    """Operations that take at least this many ms are logged at level WARNING: command, namespace, set, node,
    attempts, phase and time, but neither keys nor bins. None (the default): nothing is logged.
    """
    conn_pools_per_node: int
    """The number of pools for the connections of rare commands (queries, administration), 1 to 255. Default 1."""
    opening_connection_threshold: int
    """The maximum number of connections for rare commands that are opened at the same time. 0 (the default): no
    limit.
    """
    use_services_alternate: bool
    """Whether to use the alternate addresses that nodes report for external networks. Default False."""
    rack_ids: list[int] | None
    """The racks of this client in order of preference, for `Replica.PREFER_RACK`. None (the default): no preference."""
    fail_if_not_connected: bool
    """Whether connecting fails if no seed can be reached. Default True."""
    seed_only_cluster: bool
    """Whether to use only the seeds and not look for other nodes. Default False."""
    buffer_reclaim_threshold: int
    """The size in bytes above which buffers of rare commands are freed after use. Default 65,536."""
    max_error_rate: int
    """The number of errors within a window after which nothing is sent to a node until the window ends. Default 100;
    0: no limit.
    """
    error_rate_window: int
    """The length of a window in `tend_interval`s. Default 1."""
    tend_interval: int
    """How often the client checks the state of the cluster, in ms; at least 250. Default 1,000."""
    ip_map: dict[str, str] | None
    """A mapping from addresses that nodes report to the addresses to use instead. None (the default): no mapping."""
    cluster_name: str | None
    """The name that the cluster must have. None (the default): any name."""
    application_id: str | None
    """The application's name, shown in the server's statistics. None (the default): the name of the user."""
    custom_client_id: str | None
    """The client's name, shown in the server's statistics."""
    per_client_runtime_workers: int | None
    """1 to 32, or None (the default). Accepted for code written for aerospike-native. It has no effect, since no
    runtime stands between a call and its connection.
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    def set_auth_mode(self, mode: AuthMode, user: str | None = None, password: str | None = None) -> None:
        """Sets how to log in, and the credentials."""
    def set_pki_auth(self) -> None:
        """Logs in with the client's TLS certificate (`AuthMode.PKI`)."""
    @staticmethod
    def from_fields(
        *,
        auth_mode: AuthMode | None = None,
        user: str | None = None,
        password: str | None = None,
        tls_config: TlsConfig | None = None,
        timeout: int | None = None,
        connect_timeout: int | None = None,
        login_timeout: int | None = None,
        idle_timeout: int | None = None,
        min_conns_per_node: int | None = None,
        max_conns_per_node: int | None = None,
        connection_spread: int | None = None,
        pipeline_depth: int | None = None,
        max_bytes_in_flight: int | None = None,
        max_batch_conns_per_node: int | None = None,
        max_waiting_per_node: int | None = None,
        max_waiting_bytes_per_node: int | None = None,
        max_batch_answer_bytes: int | None = None,
        when_full: WhenFull | None = None,
        slow_operation_threshold: int | None = None,
        conn_pools_per_node: int | None = None,
        opening_connection_threshold: int | None = None,
        use_services_alternate: bool | None = None,
        rack_ids: list[int] | None = None,
        fail_if_not_connected: bool | None = None,
        seed_only_cluster: bool | None = None,
        buffer_reclaim_threshold: int | None = None,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        tend_interval: int | None = None,
        ip_map: dict[str, str] | None = None,
        cluster_name: str | None = None,
        application_id: str | None = None,
        custom_client_id: str | None = None,
        per_client_runtime_workers: int | None = None,
    ) -> ClientPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...
