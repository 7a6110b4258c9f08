"""The native client."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self, Unpack, final, overload

from ._admin import Privilege, Role, User
from ._awaitable import Awaitable
from ._batch import BatchDeleteOp, BatchReadOp, BatchRecord, BatchRecordStream, BatchUDFOp, BatchWriteOp
from ._call_policies import BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._enums import CollectionIndexType, IndexType, RecordExistsAction, UDFLang
from ._expiration import Expiration
from ._expression import FilterExpression
from ._metrics import ClusterMetrics, MetricsPolicy
from ._operations import BaseOperation
from ._query import (
    ArrowRecords,
    DropIndexTask,
    ExecuteTask,
    IndexTask,
    NumpyRecords,
    PartitionFilter,
    QueryPlan,
    Recordset,
    RegisterTask,
    Statement,
    UdfRemoveTask,
    _ArrowSchema,
)
from ._step_policies import (
    AdminPolicy,
    BatchDeletePolicy,
    BatchReadPolicy,
    BatchUDFPolicy,
    BatchWritePolicy,
    TxnRollPolicy,
    TxnVerifyPolicy,
)
from ._txn import AbortStatus, CommitStatus, Txn
from ._values import Key, Record
from ._writer import SyncWriter, Writer, _Settings

@final
class Version:
    @property
    def major(self) -> int: ...
    @property
    def minor(self) -> int: ...
    @property
    def patch(self) -> int: ...
    @property
    def build(self) -> int: ...
    def supports_mrt(self) -> bool: ...
    def supports_server_compiled_ael(self) -> bool: ...
    def supports_query_selection(self) -> bool: ...
    def supports_string_operations(self) -> bool: ...
    def supports_query_ops_projection_ext(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Version, /) -> bool: ...
    def __le__(self, other: Version, /) -> bool: ...
    def __gt__(self, other: Version, /) -> bool: ...
    def __ge__(self, other: Version, /) -> bool: ...

@final
class NativeNode:
    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def host(self) -> tuple[str, int]: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def version(self) -> Version: ...
    @property
    def failures(self) -> int: ...
    @property
    def partition_generation(self) -> int: ...
    @property
    def rebalance_generation(self) -> int: ...
    def aliases(self) -> list[tuple[str, int]]: ...
    def info(self, command: str, *, policy: AdminPolicy | None = None) -> Awaitable[dict[str, str]]: ...
    def info_blocking(self, command: str, *, policy: AdminPolicy | None = None) -> dict[str, str]: ...

@final
class NativeClient:
    @property
    def cluster_name(self) -> str | None: ...
    @property
    def server_cluster_name(self) -> str | None: ...
    def seeds(self) -> str: ...
    @staticmethod
    def client_version() -> str: ...
    @staticmethod
    def core_version() -> str: ...
    def is_strong_consistency(self, namespace: str) -> bool | None: ...
    def is_connected(self) -> bool: ...
    def nodes(self) -> list[NativeNode]: ...
    def node_names(self) -> list[str]: ...
    def get_node(self, name: str) -> NativeNode: ...
    def stats(self) -> dict[str, Any]:
        """Returns counts of connections and requests as a dict: `nodes` (a list with a dict for each node), `total`,
        `loop_busy` and `topology_version`.

        Gauges: connections `open`, `idle`, `busy`, `opening`; requests `in_flight`, `queued`, `orphans` (in flight, but
        the caller has given up); and, for calls from asyncio, how the client adapts to the speed of a node:

        * `in_use`: the connections over which requests are spread. At most `open`.
        * `service_time_us`: how long the node works on one single-record request, during which the connection answers
          no other. A mean in microseconds; None until it was measured.
        * `round_trip_us`: how long a single-record request takes when no other is in front of it on its connection. A
          mean in microseconds; None until it was measured.

        Both times of `total` are means, weighted by `in_use`. The other counts only grow. Blocking calls are not part
        of `in_use` and the times. What event loops count is up to 0.1 s old.

        `loop_busy` tells how often the program kept an event loop busy for 0.1 s and more while requests were under way
        (`count`), and for how many seconds (`total`, `longest`).
        """
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None: ...
    def disable_metrics(self) -> None: ...
    def metrics_enabled(self) -> bool: ...
    def metrics(self) -> ClusterMetrics: ...
    def writer(self, **settings: Unpack[_Settings]) -> Writer:
        """A writer of many records, with the outcome of each one known, for asyncio."""
    def writer_blocking(self, **settings: Unpack[_Settings]) -> SyncWriter:
        """A writer of many records, with the outcome of each one known, for code without asyncio."""
    def close(self) -> Coroutine[Any, Any, None]: ...
    def close_blocking(self) -> None: ...
    def exists_legacy(
        self, key: Key, *, policy: ReadPolicy | None = None
    ) -> Awaitable[tuple[Key, dict[str, int] | None]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...
    def get(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[Record]: ...
    def get_blocking(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record: ...
    def put(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[None]: ...
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> None: ...
    def add(
        self,
        key: Key,
        bins: Mapping[str, int | float],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]: ...
    def add_blocking(
        self,
        key: Key,
        bins: Mapping[str, int | float],
        *,
        policy: WritePolicy | None = None,
    ) -> None: ...
    def append(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]: ...
    def append_blocking(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> None: ...
    def prepend(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]: ...
    def prepend_blocking(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> None: ...
    def delete(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[bool]: ...
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool: ...
    def touch(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[None]: ...
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None: ...
    def exists(self, key: Key, *, policy: ReadPolicy | None = None) -> Awaitable[bool]: ...
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool: ...
    def operate(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[Record]: ...
    def operate_blocking(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record: ...
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: Any,
        as_arrow: None = None,
    ) -> Awaitable[NumpyRecords]: ...
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Mapping[str, str] | Iterable[tuple[str, str]] | _ArrowSchema,
    ) -> Awaitable[ArrowRecords]: ...
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: None = None,
    ) -> list[BatchRecord]: ...
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: Any,
        as_arrow: None = None,
    ) -> NumpyRecords: ...
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Mapping[str, str] | Iterable[tuple[str, str]] | _ArrowSchema,
    ) -> ArrowRecords: ...
    def batch_write(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_write_blocking(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> list[BatchRecord]: ...
    def batch_operate(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_operate_blocking(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> list[BatchRecord]: ...
    def batch_delete(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_delete_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> list[BatchRecord]: ...
    def batch_exists(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[bool]]: ...
    def batch_exists_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[bool]: ...
    def batch_get_header(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[Record | None]]: ...
    def batch_get_header_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[Record | None]: ...
    def batch_apply(
        self,
        keys: Iterable[Key],
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        udf_policy: BatchUDFPolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_apply_blocking(
        self,
        keys: Iterable[Key],
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        udf_policy: BatchUDFPolicy | None = None,
    ) -> list[BatchRecord]: ...
    def batch(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> list[BatchRecord]: ...
    def batch_stream(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecordStream]: ...
    def batch_stream_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecordStream: ...
    def info(self, command: str) -> Awaitable[dict[str, str]]: ...
    def info_blocking(self, command: str) -> dict[str, str]: ...
    def info_on_all_nodes(self, command: str) -> Awaitable[dict[str, dict[str, str]]]: ...
    def info_on_all_nodes_blocking(self, command: str) -> dict[str, dict[str, str]]: ...
    def truncate(
        self,
        namespace: str,
        set_name: str,
        before_nanos: int | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[None]: ...
    def truncate_blocking(
        self,
        namespace: str,
        set_name: str,
        before_nanos: int | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> None: ...
    def query(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]: ...
    def query_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset: ...
    def query_explain(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[QueryPlan]: ...
    def query_explain_blocking(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> QueryPlan: ...
    def query_with_plan(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]: ...
    def query_with_plan_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset: ...
    def query_operate(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> Awaitable[ExecuteTask]: ...
    def query_operate_blocking(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> ExecuteTask: ...
    def query_execute_udf(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> Awaitable[ExecuteTask]: ...
    def query_execute_udf_blocking(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> ExecuteTask: ...
    def execute_udf(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[Any]: ...
    def execute_udf_blocking(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Any: ...
    def register_udf(
        self,
        udf_body: str | bytes | Sequence[int],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]: ...
    def register_udf_blocking(
        self,
        udf_body: str | bytes | Sequence[int],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask: ...
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]: ...
    def register_udf_from_file_blocking(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask: ...
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> Awaitable[UdfRemoveTask]: ...
    def remove_udf_blocking(self, server_path: str, *, policy: AdminPolicy | None = None) -> UdfRemoveTask: ...
    def list_udf(self, *, policy: AdminPolicy | None = None) -> Awaitable[list[dict[str, str]]]: ...
    def list_udf_blocking(self, *, policy: AdminPolicy | None = None) -> list[dict[str, str]]: ...
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
    ) -> Awaitable[IndexTask]: ...
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
    ) -> IndexTask: ...
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
    ) -> Awaitable[IndexTask]: ...
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
    ) -> IndexTask: ...
    def create_set_index(
        self, namespace: str, set_name: str, index_name: str, *, policy: AdminPolicy | None = None
    ) -> Awaitable[IndexTask]: ...
    def create_set_index_blocking(
        self, namespace: str, set_name: str, index_name: str, *, policy: AdminPolicy | None = None
    ) -> IndexTask: ...
    def drop_index(
        self, namespace: str, set_name: str | None, index_name: str, *, policy: AdminPolicy | None = None
    ) -> Awaitable[DropIndexTask]: ...
    def drop_index_blocking(
        self, namespace: str, set_name: str | None, index_name: str, *, policy: AdminPolicy | None = None
    ) -> DropIndexTask: ...
    def create_user(
        self, user: str, password: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def create_user_blocking(
        self, user: str, password: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> None: ...
    def create_pki_user(
        self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def create_pki_user_blocking(
        self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> None: ...
    def commit(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> Awaitable[CommitStatus]: ...
    def commit_blocking(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> CommitStatus: ...
    def abort(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> Awaitable[AbortStatus]: ...
    def abort_blocking(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> AbortStatus: ...
    def drop_user(self, user: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]: ...
    def drop_user_blocking(self, user: str, *, policy: AdminPolicy | None = None) -> None: ...
    def change_password(self, user: str, password: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]: ...
    def change_password_blocking(self, user: str, password: str, *, policy: AdminPolicy | None = None) -> None: ...
    def grant_roles(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> Awaitable[None]: ...
    def grant_roles_blocking(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> None: ...
    def revoke_roles(
        self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def revoke_roles_blocking(self, user: str, roles: Sequence[str], *, policy: AdminPolicy | None = None) -> None: ...
    def query_users(self, user: str | None = None, *, policy: AdminPolicy | None = None) -> Awaitable[list[User]]: ...
    def query_users_blocking(self, user: str | None = None, *, policy: AdminPolicy | None = None) -> list[User]: ...
    def query_roles(self, role: str | None = None, *, policy: AdminPolicy | None = None) -> Awaitable[list[Role]]: ...
    def query_roles_blocking(self, role: str | None = None, *, policy: AdminPolicy | None = None) -> list[Role]: ...
    def create_role(
        self,
        role_name: str,
        privileges: Sequence[Privilege],
        allowlist: Sequence[str],
        read_quota: int,
        write_quota: int,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[None]: ...
    def create_role_blocking(
        self,
        role_name: str,
        privileges: Sequence[Privilege],
        allowlist: Sequence[str],
        read_quota: int,
        write_quota: int,
        *,
        policy: AdminPolicy | None = None,
    ) -> None: ...
    def drop_role(self, role_name: str, *, policy: AdminPolicy | None = None) -> Awaitable[None]: ...
    def drop_role_blocking(self, role_name: str, *, policy: AdminPolicy | None = None) -> None: ...
    def grant_privileges(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def grant_privileges_blocking(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> None: ...
    def revoke_privileges(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def revoke_privileges_blocking(
        self, role_name: str, privileges: Sequence[Privilege], *, policy: AdminPolicy | None = None
    ) -> None: ...
    def set_allowlist(
        self, role_name: str, allowlist: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def set_allowlist_blocking(
        self, role_name: str, allowlist: Sequence[str], *, policy: AdminPolicy | None = None
    ) -> None: ...
    def set_quotas(
        self, role_name: str, read_quota: int, write_quota: int, *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def set_quotas_blocking(
        self, role_name: str, read_quota: int, write_quota: int, *, policy: AdminPolicy | None = None
    ) -> None: ...
    def set_xdr_filter(
        self, datacenter: str, namespace: str, filter_expression: Any = None, *, policy: AdminPolicy | None = None
    ) -> Awaitable[None]: ...
    def set_xdr_filter_blocking(
        self, datacenter: str, namespace: str, filter_expression: Any = None, *, policy: AdminPolicy | None = None
    ) -> None: ...

@final
class _LocalClient:
    def __new__(cls, policy: ClientPolicy, seeds: str) -> Self: ...
    @property
    def cluster_name(self) -> str | None: ...
    @property
    def server_cluster_name(self) -> str | None: ...
    def is_strong_consistency(self, namespace: str) -> bool | None: ...
    def get_blocking(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record: ...
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> None: ...
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool: ...
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None: ...
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool: ...
    def operate_blocking(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record: ...
    def info_blocking(self, command: str) -> dict[str, str]: ...
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None: ...
    def disable_metrics(self) -> None: ...
    def metrics_enabled(self) -> bool: ...
    def metrics(self) -> ClusterMetrics: ...

def new_client(policy: ClientPolicy, seeds: str) -> Coroutine[Any, Any, NativeClient]: ...
def new_client_blocking(policy: ClientPolicy, seeds: str) -> NativeClient: ...
