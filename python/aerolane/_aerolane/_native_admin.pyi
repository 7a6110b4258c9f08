"""What the native client does besides reading and writing records."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from ._admin import Privilege, Role, User
from ._awaitable import Awaitable
from ._enums import CollectionIndexType, IndexType, UDFLang
from ._query import DropIndexTask, IndexTask, RegisterTask, UdfRemoveTask
from ._step_policies import AdminPolicy

class _Administration:
    """What of `NativeClient` is about modules, indexes, users, roles and the servers themselves."""

    def set_xdr_filter(
        self, datacenter: str, namespace: str, filter_expression: Any = None, *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Sets the filter for records that are sent to a datacenter (cross-datacenter replication, Enterprise
        Edition); `None` removes it.
        """
    def info(self, command: str) -> Awaitable[dict[str, str]]:
        """Sends an info command to one of the nodes. Returns a dict of the answers by command."""
    def info_on_all_nodes(self, command: str) -> Awaitable[dict[str, dict[str, str]]]:
        """Sends an info command to each node. Returns a dict of the answers by node name, each a dict by command."""
    def truncate(
        self, namespace: str, set_name: str, before_nanos: int | None = None, *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Removes all records of a set (of the whole namespace if `set_name` is empty) that were last written before
        `before_nanos`, in nanoseconds since 1970. `None` or 0: all records that exist now.
        """
    def register_udf(
        self,
        udf_body: str | bytes | Sequence[int],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module under the name `server_path`, which ends in `.lua` (such as `"sums.lua"`). `udf_body`:
        its source, as str or bytes. Returns a `RegisterTask`: wait for it before the first call.

        Raises `UdfError` with the server's message if the source does not compile.
        """
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """The same as `register_udf`, with the source from the file `client_path`, which is read at once. Raises
        `OSError` if it cannot be read.
        """
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> Awaitable[UdfRemoveTask]:
        """Removes a UDF module. Returns a `UdfRemoveTask` to wait for."""
    def list_udf(self, *, policy: AdminPolicy | None = None) -> Awaitable[list[dict[str, str]]]:
        """The registered UDF modules: a list of dicts with `filename`, `hash` and `type`."""
    def create_index(
        self,
        namespace: str,
        set_name: str | None,
        bin_name: str,
        index_name: str,
        index_type: IndexType,
        cit: CollectionIndexType | None = None,
        ctx: Sequence[Any] | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[IndexTask]:
        """Creates a secondary index on a bin, or on what `ctx` (a list of `CTX`) selects in it. `cit`: which items of a
        list or map are indexed (a `CollectionIndexType`). `set_name`: the set; `""` and `None` mean all records.
        Returns an `IndexTask`: wait for it before the first query.

        Raises `IndexFoundError` if a different index has this name. Creating the same index again is accepted.
        """
    def create_index_using_expression(
        self,
        namespace: str,
        set_name: str | None,
        index_name: str,
        index_type: IndexType,
        expression: Any,
        cit: CollectionIndexType | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[IndexTask]:
        """Creates a secondary index on the value of an expression (server 8.1 and later). Returns an `IndexTask`."""
    def create_set_index(
        self, namespace: str, set_name: str, index_name: str, *, policy: AdminPolicy | None = None
    ) -> Awaitable[IndexTask]:
        """Creates an index of the records of a set (server 8.1.2 and later). Returns an `IndexTask`."""
    def drop_index(
        self, namespace: str, set_name: str | None, index_name: str, *, policy: AdminPolicy | None = None
    ) -> Awaitable[DropIndexTask]:
        """Drops an index. Returns a `DropIndexTask`. The servers also accept the name of an index that does not
        exist.
        """
    def create_user(
        self, user: str, password: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Creates a user with a password and roles (a list of names). Like all calls about users and roles, it
        raises `SecurityError` if security is not enabled on the cluster.
        """
    def create_pki_user(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Creates a user who logs in with a TLS certificate."""
    def drop_user(self, user: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Removes a user."""
    def change_password(self, user: str, password: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Changes a user's password. Users need no privilege to change their own."""
    def grant_roles(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Grants a user additional roles."""
    def revoke_roles(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Revokes roles from a user."""
    def query_users(self, user: str | None = None, *, policy: AdminPolicy | None = None) -> Awaitable[list[User]]:
        """One user, or all: a list of `User`."""
    def query_roles(self, role: str | None = None, *, policy: AdminPolicy | None = None) -> Awaitable[list[Role]]:
        """One role, or all: a list of `Role`."""
    def create_role(
        self,
        role_name: str,
        privileges: Sequence[Privilege],
        allowlist: Sequence[str],
        read_quota: int,
        write_quota: int,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[None]:
        """Creates a role. `privileges`: what it allows. `allowlist`: the addresses from which it can be used; empty:
        any. `read_quota`, `write_quota`: operations per second; 0: no limit.
        """
    def drop_role(self, role_name: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]:
        """Removes a role."""
    def grant_privileges(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Grants a role additional privileges."""
    def revoke_privileges(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Revokes privileges from a role."""
    def set_allowlist(
        self, role_name: str, allowlist: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Sets the addresses from which a role can be used; empty: any."""
    def set_quotas(
        self, role_name: str, read_quota: int, write_quota: int, *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]:
        """Sets a role's quotas: operations per second; 0: no limit."""
    def info_blocking(self, command: str) -> dict[str, str]:
        """Sends an info command to one of the nodes. Returns a dict of the answers by command."""
    def change_password_blocking(self, user: str, password: str, *, policy: AdminPolicy | None = None) -> None:
        """Changes a user's password. Users need no privilege to change their own."""
    def create_index_blocking(
        self,
        namespace: str,
        set_name: str | None,
        bin_name: str,
        index_name: str,
        index_type: IndexType,
        cit: CollectionIndexType | None = None,
        ctx: Sequence[Any] | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> IndexTask:
        """Creates a secondary index on a bin, or on what `ctx` (a list of `CTX`) selects in it. `cit`: which items of a
        list or map are indexed (a `CollectionIndexType`). `set_name`: the set; `""` and `None` mean all records.
        Returns an `IndexTask`: wait for it before the first query.

        Raises `IndexFoundError` if a different index has this name. Creating the same index again is accepted.
        """
    def create_index_using_expression_blocking(
        self,
        namespace: str,
        set_name: str | None,
        index_name: str,
        index_type: IndexType,
        expression: Any,
        cit: CollectionIndexType | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> IndexTask:
        """Creates a secondary index on the value of an expression (server 8.1 and later). Returns an `IndexTask`."""
    def create_pki_user_blocking(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> None:
        """Creates a user who logs in with a TLS certificate."""
    def create_role_blocking(
        self,
        role_name: str,
        privileges: Sequence[Privilege],
        allowlist: Sequence[str],
        read_quota: int,
        write_quota: int,
        *,
        policy: AdminPolicy | None = None,
    ) -> None:
        """Creates a role. `privileges`: what it allows. `allowlist`: the addresses from which it can be used; empty:
        any. `read_quota`, `write_quota`: operations per second; 0: no limit.
        """
    def create_set_index_blocking(
        self, namespace: str, set_name: str, index_name: str, *, policy: AdminPolicy | None = None
    ) -> IndexTask:
        """Creates an index of the records of a set (server 8.1.2 and later). Returns an `IndexTask`."""
    def create_user_blocking(
        self, user: str, password: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> None:
        """Creates a user with a password and roles (a list of names). Like all calls about users and roles, it
        raises `SecurityError` if security is not enabled on the cluster.
        """
    def drop_index_blocking(
        self, namespace: str, set_name: str | None, index_name: str, *, policy: AdminPolicy | None = None
    ) -> DropIndexTask:
        """Drops an index. Returns a `DropIndexTask`. The servers also accept the name of an index that does not
        exist.
        """
    def drop_role_blocking(self, role_name: str, *, policy: AdminPolicy | None = None) -> None:
        """Removes a role."""
    def drop_user_blocking(self, user: str, *, policy: AdminPolicy | None = None) -> None:
        """Removes a user."""
    def grant_privileges_blocking(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> None:
        """Grants a role additional privileges."""
    def grant_roles_blocking(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> None:
        """Grants a user additional roles."""
    def info_on_all_nodes_blocking(self, command: str) -> dict[str, dict[str, str]]:
        """Sends an info command to each node. Returns a dict of the answers by node name, each a dict by command."""
    def list_udf_blocking(self, *, policy: AdminPolicy | None = None) -> list[dict[str, str]]:
        """The registered UDF modules: a list of dicts with `filename`, `hash` and `type`."""
    def query_roles_blocking(self, role: str | None = None, *, policy: AdminPolicy | None = None) -> list[Role]:
        """One role, or all: a list of `Role`."""
    def query_users_blocking(self, user: str | None = None, *, policy: AdminPolicy | None = None) -> list[User]:
        """One user, or all: a list of `User`."""
    def register_udf_blocking(
        self,
        udf_body: str | bytes | Sequence[int],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module under the name `server_path`, which ends in `.lua` (such as `"sums.lua"`). `udf_body`:
        its source, as str or bytes. Returns a `RegisterTask`: wait for it before the first call.

        Raises `UdfError` with the server's message if the source does not compile.
        """
    def register_udf_from_file_blocking(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """The same as `register_udf`, with the source from the file `client_path`, which is read at once. Raises
        `OSError` if it cannot be read.
        """
    def remove_udf_blocking(self, server_path: str, *, policy: AdminPolicy | None = None) -> UdfRemoveTask:
        """Removes a UDF module. Returns a `UdfRemoveTask` to wait for."""
    def revoke_privileges_blocking(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> None:
        """Revokes privileges from a role."""
    def revoke_roles_blocking(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> None:
        """Revokes roles from a user."""
    def set_allowlist_blocking(
        self, role_name: str, allowlist: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> None:
        """Sets the addresses from which a role can be used; empty: any."""
    def set_quotas_blocking(
        self, role_name: str, read_quota: int, write_quota: int, *, policy: AdminPolicy | None = None
    ) -> None:
        """Sets a role's quotas: operations per second; 0: no limit."""
    def set_xdr_filter_blocking(
        self, datacenter: str, namespace: str, filter_expression: Any = None, *, policy: AdminPolicy | None = None
    ) -> None:
        """Sets the filter for records that are sent to a datacenter (cross-datacenter replication, Enterprise
        Edition); `None` removes it.
        """
    def truncate_blocking(
        self, namespace: str, set_name: str, before_nanos: int | None = None, *, policy: AdminPolicy | None = None
    ) -> None:
        """Removes all records of a set (of the whole namespace if `set_name` is empty) that were last written before
        `before_nanos`, in nanoseconds since 1970. `None` or 0: all records that exist now.
        """
