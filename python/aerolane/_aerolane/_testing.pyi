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
    @property
    def id(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def tls_address(self) -> str | None: ...
    @property
    def live(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Fault:
    def remove(self) -> None: ...
    @property
    def struck(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

@final
class EmbeddedCluster:
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
    def seeds(self) -> str: ...
    @property
    def tls_seeds(self) -> str: ...
    @property
    def certificate_pem(self) -> str | None: ...
    @property
    def nodes(self) -> list[EmbeddedNode]: ...
    @property
    def is_closed(self) -> bool: ...
    def stop_node(self, node: EmbeddedNode | str) -> None: ...
    def stop_nodes(self, nodes: Sequence[EmbeddedNode | str]) -> None: ...
    def start_node(self, node: EmbeddedNode | str) -> None: ...
    def add_node(self) -> EmbeddedNode: ...
    def master(self, partition: int) -> str | None: ...
    def set_master(self, partition: int, node: EmbeddedNode | str | None) -> None: ...
    def hold_partitions(self, hold: bool) -> None: ...
    def stats(self, node: EmbeddedNode | str) -> dict[str, int]: ...
    def record_count(self, namespace: str = "test") -> int: ...
    def advance_clock(self, seconds: float) -> None: ...
    def sweep(self) -> int: ...
    def set_conditions(
        self,
        *,
        service_time: _ServiceTime | None = None,
        in_service: int = 64,
        latency: _Time | None = None,
        seed: int = 0,
        node: EmbeddedNode | str | None = None,
    ) -> None: ...
    def conditions(self, node: EmbeddedNode | str) -> _Conditions: ...
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
    ) -> Fault: ...
    def clear_faults(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
