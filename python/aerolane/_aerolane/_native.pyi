"""The native client."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, final

from ._awaitable import Awaitable
from ._batch import BatchDeleteOp, BatchReadOp, BatchRecord, BatchWriteOp
from ._call_policies import BatchPolicy, ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._operations import BaseOperation
from ._step_policies import AdminPolicy, BatchDeletePolicy, BatchReadPolicy, BatchWritePolicy
from ._values import Key, Record

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
    def info(self, command: str) -> Awaitable[dict[str, str]]: ...
    def info_blocking(self, command: str) -> dict[str, str]: ...

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
    def stats(self) -> dict[str, Any]: ...
    def close(self) -> asyncio.Future[None]: ...
    def close_blocking(self) -> None: ...
    def exists_legacy(
        self, key: Key, *, policy: ReadPolicy | None = None
    ) -> Awaitable[tuple[Key, dict[str, int] | None]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> asyncio.Future[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> asyncio.Future[None]: ...
    def get(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: None = None,
    ) -> Awaitable[Record]: ...
    def get_blocking(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: None = None,
    ) -> Record: ...
    def put(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: None = None,
    ) -> Awaitable[None]: ...
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: None = None,
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
        txn: None = None,
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
        txn: None = None,
    ) -> Record: ...
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[BatchRecord]: ...
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
    def batch(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[list[BatchRecord]]: ...
    def batch_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> list[BatchRecord]: ...
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
        txn: None = None,
    ) -> Record: ...
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: None = None,
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
        txn: None = None,
    ) -> Record: ...
    def info_blocking(self, command: str) -> dict[str, str]: ...

def new_client(policy: ClientPolicy, seeds: str) -> asyncio.Future[NativeClient]: ...
def new_client_blocking(policy: ClientPolicy, seeds: str) -> NativeClient: ...
