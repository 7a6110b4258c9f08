"""Nodes of embedded clusters."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EmbeddedNode:
    """A node of an embedded cluster, as it was when you asked for it."""

    id: str
    """The node's id, hexadecimal: `"A0AE000000000001"`."""
    address: str
    """Where the node listens: `"127.0.0.1:40001"`. A stopped node will listen there when it is started again."""
    tls_address: str | None
    """Where the node listens with TLS; `None` without TLS."""
    live: bool
    """Whether the node ran when it was asked for."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> "EmbeddedNode":
        """From what the program says of it."""
        return cls(told["id"], told["address"], told["tls_address"], told["live"])

    @property
    def host(self) -> str:
        """The IP address that the node listens on."""
        return self.address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port that the node listens on."""
        return int(self.address.rpartition(":")[2])

    def __repr__(self) -> str:
        return f"<EmbeddedNode {self.id} at {self.address}{'' if self.live else ', stopped'}>"


def id_of(node: object) -> str:
    """The id of a node, or an id as text."""
    if isinstance(node, EmbeddedNode):
        return node.id
    if isinstance(node, str):
        return node
    raise TypeError(f"a node is an EmbeddedNode or a node id, not {type(node).__name__}")
