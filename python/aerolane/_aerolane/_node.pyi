"""Nodes of a cluster, and the versions of their servers."""

from typing import final

from ._awaitable import Awaitable
from ._step_policies import AdminPolicy

@final
class Version:
    """The version of a server: `major.minor.patch.build`. Comparable and hashable."""

    @property
    def major(self) -> int:
        """First number."""
    @property
    def minor(self) -> int:
        """Second number."""
    @property
    def patch(self) -> int:
        """Third number."""
    @property
    def build(self) -> int:
        """Fourth number."""
    def supports_mrt(self) -> bool:
        """Whether the server supports transactions over several records (8.0)."""
    def supports_server_compiled_ael(self) -> bool:
        """Whether the server compiles expression text itself (8.2)."""
    def supports_query_selection(self) -> bool:
        """Whether the server selects the index of a query itself (8.2)."""
    def supports_string_operations(self) -> bool:
        """Whether the server supports string operations (8.2)."""
    def supports_query_ops_projection_ext(self) -> bool:
        """Whether queries may carry operations of all kinds that read (8.1.2)."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ge__(self, other: Version, /) -> bool: ...
    def __gt__(self, other: Version, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __le__(self, other: Version, /) -> bool: ...
    def __lt__(self, other: Version, /) -> bool: ...

class _Node:
    """What all classes of nodes have."""

    @property
    def name(self) -> str:
        """The node's name on the server."""
    @property
    def is_active(self) -> bool:
        """Whether the node is part of the cluster now."""
    @property
    def failures(self) -> int:
        """How many times in a row the client failed to read the node's state."""
    @property
    def address(self) -> str:
        """The address of the node, as `host:port`."""
    @property
    def host(self) -> tuple[str, int]:
        """The address of the node, as `(host, port)`."""
    @property
    def version(self) -> Version:
        """The version of the node's server."""
    @property
    def partition_generation(self) -> int:
        """A number that changes whenever partitions move to or from the node; -1: not known yet."""
    @property
    def rebalance_generation(self) -> int:
        """A number that changes whenever the cluster is rebalanced; -1: not known yet."""
    def aliases(self) -> list[tuple[str, int]]:
        """All known addresses of the node, as `(host, port)`."""

@final
class NativeNode(_Node):
    """A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`."""

    def info(self, command: str, *, policy: AdminPolicy | None = None) -> Awaitable[dict[str, str]]:
        """Sends an info command to the node. Awaitable of a dict of the answers by command."""
    def info_blocking(self, command: str, *, policy: AdminPolicy | None = None) -> dict[str, str]:
        """Sends an info command to the node. Returns a dict of the answers by command."""

@final
class Node(_Node):
    """A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`."""

    def info(self, command: str) -> Awaitable[dict[str, str]]:
        """Sends an info command to this node. Awaitable of the answers by command, a dict."""

@final
class SyncNode(_Node):
    """A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`."""

    def info(self, command: str) -> dict[str, str]:
        """Sends an info command to this node; gives the answers by command, a dict."""
