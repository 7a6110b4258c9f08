"""Embedded clusters."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Self, TypeAlias, TypedDict, final, type_check_only

_Kind: TypeAlias = Literal["info", "admin", "read", "write", "batch", "query", "other"]
_Time: TypeAlias = str | float
_ServiceTime: TypeAlias = _Time | Mapping[str, _Time]
_Action: TypeAlias = Literal[
    "delay",
    "answer-delay",
    "stall",
    "drop-before",
    "drop-after",
    "truncate",
    "split",
    "result",
    "garbage",
    "refuse",
    "reject-unowned",
]

@type_check_only
class _Conditions(TypedDict):
    service_time: str
    in_service: int
    latency: str
    seed: int

@final
class EmbeddedNode:
    """A node of an embedded cluster, as it was when it was asked for."""

    @property
    def id(self) -> str:
        """The node's id, hexadecimal: `"A0AE000000000001"`."""
    @property
    def address(self) -> str:
        """Where the node listens: `"127.0.0.1:40001"`. A stopped node will listen there when it is started again."""
    @property
    def host(self) -> str:
        """The IP address that the node listens on."""
    @property
    def port(self) -> int:
        """The port that the node listens on."""
    @property
    def tls_address(self) -> str | None:
        """Where the node listens with TLS; `None` without TLS."""
    @property
    def live(self) -> bool:
        """Whether the node ran when it was asked for."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Fault:
    """A fault that was injected. As a context manager it is taken back at the end of its block."""

    def remove(self) -> None:
        """Takes the fault back. Does nothing if it is gone already, or if the cluster is closed."""
    @property
    def struck(self) -> int:
        """How many requests it has struck, on all nodes together; 0 once it was taken back."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

@final
class EmbeddedCluster:
    """`EmbeddedCluster(nodes=3, replication_factor=2, namespace="test", ...)`: an Aerospike-compatible cluster in
    this process, in memory, on loopback ports. For tests and for trying things out, never for production.
    """

    def __new__(
        cls,
        nodes: int = 3,
        replication_factor: int = 2,
        namespace: str | Sequence[str] = "test",
        *,
        default_ttl: int = 0,
        nsup_period: int = 1,
        host: str = "127.0.0.1",
        port: int = 0,
        cluster_name: str | None = None,
        users: Mapping[str, str] | None = None,
        tls_name: str | None = None,
        tls_port: int = 0,
        threads: int | None = None,
        strong_consistency: bool = False,
        tls_client_ca: str | None = None,
        service_time: _ServiceTime | None = None,
        in_service: int = 64,
        latency: _Time | None = None,
        seed: int = 0,
        build: str | None = None,
    ) -> Self: ...
    @property
    def seeds(self) -> str:
        """Seeds of all live nodes, as clients take them: `"127.0.0.1:40001,127.0.0.1:40002"`."""
    @property
    def tls_seeds(self) -> str:
        """The same for TLS; empty without TLS."""
    @property
    def certificate_pem(self) -> str | None:
        """The certificate that clients of the TLS ports have to trust (PEM); `None` without TLS."""
    @property
    def nodes(self) -> list[EmbeddedNode]:
        """All nodes, stopped ones included, in the order they were added."""
    @property
    def is_closed(self) -> bool:
        """Whether the cluster was closed."""
    def stop_node(self, node: EmbeddedNode | str) -> None:
        """Stops a node (an `EmbeddedNode` or an id): its connections are closed, and its partitions move to the
        others at once. Records of partitions that no other node holds are lost. Raises `LookupError` for an unknown
        node.
        """
    def stop_nodes(self, nodes: Sequence[EmbeddedNode | str]) -> None:
        """Stops several nodes at once: partitions all of whose owners are among them lose their records."""
    def start_node(self, node: EmbeddedNode | str) -> None:
        """Starts a stopped node on its old port. Raises `OSError` if something else has taken the port."""
    def add_node(self) -> EmbeddedNode:
        """Adds a node, starts it and gives it."""
    def master(self, partition: int) -> str | None:
        """The id of the node that is master of a partition (0 to 4095); `None` if no node runs."""
    def set_master(self, partition: int, node: EmbeddedNode | str | None) -> None:
        """Makes a node the master of a partition for as long as it lives; `None` gives the partition back."""
    def hold_partitions(self, hold: bool) -> None:
        """While `hold` is true, no partition moves: those of a node that stops have no owner until it starts again,
        as in a real cluster until the other nodes have agreed that it is gone. With `False` they move, and what
        moves without a copy on a live node loses its records. `clear_faults` does the same.
        """
    def stats(self, node: EmbeddedNode | str) -> dict[str, int]:
        """Counts of a node since the cluster was started: `connections_opened`, `connections_closed`, `infos`,
        `logins`, `records`, `batches`, `batch_rows`, `queries`, `query_records`.
        """
    def record_count(self, namespace: str = "test") -> int:
        """How many records a namespace has, each counted once. Raises `LookupError` for an unknown namespace."""
    def advance_clock(self, seconds: float) -> None:
        """Puts the cluster's clock forward by so many seconds, so that tests of TTLs need not wait: records expire,
        and what is written from now on has the new time. There is no way back, and ten years in all is the most.
        """
    def sweep(self) -> int:
        """Removes all records that have expired, now, whatever the `nsup_period`; gives how many those were."""
    def set_conditions(
        self,
        *,
        service_time: _ServiceTime | None = None,
        in_service: int = 64,
        latency: _Time | None = None,
        seed: int = 0,
        node: EmbeddedNode | str | None = None,
    ) -> None:
        """Sets how long requests take, of one node or of all nodes (default; also of nodes that are added later). It
        replaces all that was set before: without arguments, nothing takes time any more. Requests that are in
        service or in line keep their times.
        """
    def conditions(self, node: EmbeddedNode | str) -> _Conditions:
        """The conditions of a node, as the keyword arguments of `set_conditions` that make them: `service_time`,
        `in_service`, `latency`, `seed`. Raises `LookupError` for an unknown node.
        """
    def inject(
        self,
        action: _Action,
        value: float | bytes | None = None,
        *,
        on: _Kind | Sequence[_Kind] | None = None,
        node: EmbeddedNode | str | None = None,
        skip: int = 0,
        times: int | None = None,
        probability: float = 1.0,
    ) -> Fault:
        """Injects a fault, gives the `Fault` by which it can be taken back (also by a `with` block)."""
    def clear_faults(self) -> None:
        """Takes all faults back, and gives partitions back that `set_master` or `hold_partitions` moved or held."""
    def close(self) -> None:
        """Stops all nodes; their records are gone. Closing a closed cluster does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
