"""The rows of batches."""

from collections.abc import Mapping, Sequence
from typing import Any, final

from ._errors import AerospikeError, ResultCode
from ._operations import BaseOperation
from ._step_policies import BatchDeletePolicy, BatchReadPolicy, BatchWritePolicy
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
    def exp_trace(self) -> dict[str, Any] | None: ...

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
