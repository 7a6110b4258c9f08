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
    auth_mode: AuthMode
    user: str | None
    password: str | None
    tls_config: TlsConfig | None
    timeout: int
    connect_timeout: int
    login_timeout: int
    idle_timeout: int
    min_conns_per_node: int
    max_conns_per_node: int
    """Most connections per node for requests of single records: an upper bound. Default 256; 0: 65,535. The client
    decides at run time how many of them it uses; with the same `min_conns_per_node` the number is fixed."""
    connection_spread: int | None
    """Deprecated: leave it at its default. The number of connections, over all nodes, for servers that answer in
    microseconds, 1 to 65,535; the search for a better number starts from it. None (the default): 3."""
    pipeline_depth: int | None
    """Most requests in flight on one connection, 1 to 1,024: an upper bound. None (the default): 128; always 1 over
    TLS. The client puts fewer on a connection where each takes long."""
    max_bytes_in_flight: int | None
    max_batch_conns_per_node: int | None
    max_waiting_per_node: int | None
    max_waiting_bytes_per_node: int | None
    max_batch_answer_bytes: int | None
    when_full: WhenFull
    slow_operation_threshold: int | None
    """Operations that take at least this long are logged at level WARNING, in ms. None (the default): none are."""
    conn_pools_per_node: int
    opening_connection_threshold: int
    use_services_alternate: bool
    rack_ids: list[int] | None
    fail_if_not_connected: bool
    seed_only_cluster: bool
    buffer_reclaim_threshold: int
    max_error_rate: int
    error_rate_window: int
    tend_interval: int
    ip_map: dict[str, str] | None
    cluster_name: str | None
    application_id: str | None
    custom_client_id: str | None
    per_client_runtime_workers: int | None
    def set_auth_mode(self, mode: AuthMode, user: str | None = None, password: str | None = None) -> None:
        """Sets how to log in, and the credentials."""
    def set_pki_auth(self) -> None:
        """Logs in with the client's TLS certificate (`AuthMode.PKI`)."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
