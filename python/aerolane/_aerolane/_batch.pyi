"""The rows of batches."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, final

from ._awaitable import Awaitable
from ._errors import AerospikeError, ExpressionTrace, ResultCode
from ._operations import BaseOperation
from ._step_policies import BatchDeletePolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy
from ._values import Key, Record

@final
class BatchRecord:
    @property
    def key(self) -> Key: ...
    @property
    def record(self) -> Record | None: ...
    @property
    def error(self) -> AerospikeError | None: ...
    @property
    def result_code(self) -> ResultCode | None: ...
    @property
    def in_doubt(self) -> bool: ...
    @property
    def sub_code(self) -> int | None: ...
    @property
    def server_message(self) -> str | None: ...
    @property
    def exp_trace(self) -> ExpressionTrace | None: ...
    @property
    def is_ok(self) -> bool: ...

class BatchRecords(list[BatchRecord]):
    """The rows of a batch, in order, which can say which of them have failed."""

    def failures(self, *, missing: bool = True) -> list[BatchRecord]:
        """The rows that did not succeed; with `missing=False`, without those whose record does not exist."""
    def raise_for_failures(self, *, missing: bool = True) -> None:
        """Raises `BatchFailedError` if a row did not succeed; its `records` are these rows."""

@final
class BatchReadOp:
    def __new__(
        cls,
        key: Key,
        bins: Sequence[str] | None = None,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchReadPolicy | None = None,
    ) -> BatchReadOp: ...
    @property
    def key(self) -> Key: ...

@final
class BatchWriteOp:
    def __new__(
        cls,
        key: Key,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchWritePolicy | None = None,
        *,
        bins: Mapping[str, Any] | None = None,
    ) -> BatchWriteOp: ...
    @property
    def key(self) -> Key: ...

@final
class BatchDeleteOp:
    def __new__(cls, key: Key, policy: BatchDeletePolicy | None = None) -> BatchDeleteOp: ...
    @property
    def key(self) -> Key: ...

@final
class BatchUDFOp:
    def __new__(
        cls,
        key: Key,
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        policy: BatchUDFPolicy | None = None,
    ) -> BatchUDFOp: ...
    @property
    def key(self) -> Key: ...

@final
class BatchRecordStream:
    def close(self) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[int, BatchRecord]: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[tuple[int, BatchRecord]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
