"""Users, roles and privileges."""

from typing import final

from ._enums import PrivilegeCode

@final
class Privilege:
    """Something that a role allows: `Privilege(code, namespace=None, set_name=None)`.

    `namespace`, `set_name`: where it is allowed; without them, everywhere. Raises `InvalidArgumentError` (a
    `ValueError`) for a set without a namespace, and for either with a privilege of the whole cluster.
    """

    def __new__(cls, code: PrivilegeCode, namespace: str | None = None, set_name: str | None = None) -> Privilege: ...
    @property
    def code(self) -> PrivilegeCode:
        """What is allowed."""
    @property
    def namespace(self) -> str | None:
        """In which namespace; `None`: in all."""
    @property
    def set_name(self) -> str | None:
        """In which set; `None`: in all."""
    def as_string(self) -> str:
        """As text: `"read-write:test.users"`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Role:
    """A role, as `Client.query_roles` gives it."""

    @property
    def name(self) -> str:
        """The role's name."""
    @property
    def privileges(self) -> list[Privilege]:
        """What it allows."""
    @property
    def allowlist(self) -> list[str]:
        """The addresses from which it may be used; empty: from everywhere."""
    @property
    def read_quota(self) -> int:
        """Reads per second; 0: no limit."""
    @property
    def write_quota(self) -> int:
        """Writes per second; 0: no limit."""

@final
class User:
    """A user, as `Client.query_users` gives it."""

    @property
    def user(self) -> str:
        """The user's name."""
    @property
    def roles(self) -> list[str]:
        """The names of the user's roles."""
    @property
    def read_info(self) -> list[int]:
        """What the server counts of the user's reads: quota, single-record reads per second, queries per second,
        queries without a limit. May be empty.
        """
    @property
    def write_info(self) -> list[int]:
        """The same of the user's writes."""
    @property
    def conns_in_user(self) -> int:
        """Connections that the user has open."""
