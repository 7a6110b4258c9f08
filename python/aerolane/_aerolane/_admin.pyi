"""Users, roles and privileges."""

from typing import Self, final

from ._enums import PrivilegeCode

@final
class Privilege:
    """A privilege of a role: `Privilege(code, namespace=None, set_name=None)`.

    `namespace`, `set_name`: where it applies; without them, everywhere. Raises `InvalidArgumentError` (a `ValueError`)
    for a set without a namespace, and for either with a privilege that applies to the whole cluster.
    """

    def __new__(cls, code: PrivilegeCode, namespace: str | None = None, set_name: str | None = None) -> Self: ...
    @property
    def code(self) -> PrivilegeCode:
        """What is allowed."""
    @property
    def namespace(self) -> str | None:
        """The namespace in which it applies; `None`: all namespaces."""
    @property
    def set_name(self) -> str | None:
        """The set in which it applies; `None`: all sets."""
    def as_string(self) -> str:
        """The privilege as text: `"read-write:test.users"`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Role:
    """A role, as returned by `Client.query_roles`."""

    @property
    def name(self) -> str:
        """The role's name."""
    @property
    def privileges(self) -> list[Privilege]:
        """What it allows."""
    @property
    def allowlist(self) -> list[str]:
        """The addresses from which it can be used; empty: any."""
    @property
    def read_quota(self) -> int:
        """Reads per second; 0: no limit."""
    @property
    def write_quota(self) -> int:
        """Writes per second; 0: no limit."""

@final
class User:
    """A user, as returned by `Client.query_users`."""

    @property
    def user(self) -> str:
        """The user's name."""
    @property
    def roles(self) -> list[str]:
        """The names of the user's roles."""
    @property
    def read_info(self) -> list[int]:
        """Statistics of the user's reads: quota, single-record reads per second, queries per second, queries without
        a limit. May be empty.
        """
    @property
    def write_info(self) -> list[int]:
        """The same statistics for the user's writes."""
    @property
    def conns_in_user(self) -> int:
        """The number of open connections of the user."""
