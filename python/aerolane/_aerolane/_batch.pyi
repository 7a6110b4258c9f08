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
    """A key and the outcome of its row.

    A row has a `record` if it succeeded (without bins for writes and deletes that return nothing), an `error` if it
    failed, and neither if the server left it out. A row whose record is missing or filtered out has failed; the batch
    itself still succeeds. The record is created on first access. Each row has its own copy of the answer, so keeping
    one row does not keep the others in memory.
    """

    @property
    def key(self) -> Key:
        """The key."""
    @property
    def is_ok(self) -> bool:
        """Whether the row succeeded."""
    @property
    def record(self) -> Record | None:
        """The record, if the row succeeded, else `None`."""
    @property
    def error(self) -> AerospikeError | None:
        """The row's exception, which is not raised here; `None` if the row did not fail."""
    @property
    def result_code(self) -> ResultCode | None:
        """The row's `ResultCode`: `OK`, or the code of its error; `None` if the server left the row out."""
    @property
    def in_doubt(self) -> bool:
        """Whether the write may have been applied although the row failed. Never true for reads."""
    @property
    def sub_code(self) -> int | None:
        """The server's sub-code of the failure, when it was asked for (`error_detail_verbosity`) and given."""
    @property
    def server_message(self) -> str | None:
        """The server's text about the failure, when it was asked for and given."""
    @property
    def exp_trace(self) -> ExpressionTrace | None:
        """Where in an expression the failure was, when it was asked for and given: an `ExpressionTrace`."""

class BatchRecords(list[BatchRecord]):
    """The rows of a batch, in order: a list of `BatchRecord` that can tell which of them failed.

    A batch succeeds even if some of its rows fail; `raise_for_failures()` turns failed rows into an error.
    """

    def failures(self, *, missing: bool = True) -> list[BatchRecord]:
        """A list of the rows that failed; with `missing=False`, without the rows whose record does not exist."""
    def raise_for_failures(self, *, missing: bool = True) -> None:
        """Raises `BatchFailedError` if a row failed; its `records` are the failed rows.

        With `missing=False`, a record that does not exist is not a failure. The error is in doubt if a row is.
        """

@final
class BatchReadOp:
    """A row of `Client.batch` that reads: all bins, only `bins` (an empty list: none), or the results of `operations`,
    none of which may write.

    Raises `ValueError` for operations that write, and otherwise what `get` and `operate` raise.
    """

    def __new__(
        cls,
        key: Key,
        bins: Sequence[str] | None = None,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchReadPolicy | None = None,
    ) -> Self: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchWriteOp:
    """A row of `Client.batch` that writes: it sets `bins` and then carries out `operations`. Without `bins`, at least
    one of the operations must write.

    Raises `ValueError` if neither is given or if only operations are given and none of them writes, and otherwise what
    `put` and `operate` raise.
    """

    def __new__(
        cls,
        key: Key,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchWritePolicy | None = None,
        *,
        bins: Mapping[str, Any] | None = None,
    ) -> Self: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchDeleteOp:
    """A row of `Client.batch` that deletes a record."""

    def __new__(cls, key: Key, policy: BatchDeletePolicy | None = None) -> Self: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchUDFOp:
    """A row of `Client.batch` that applies the function `function_name` of the UDF module `udf_name` (without `.lua`)
    to its record, with `args` (a list, or None). The function's return value is in the bin `"SUCCESS"` of the row's
    record. If the function fails, so does the row, with the server's message: file, line and what was wrong.

    Raises `TypeError` if `args` is not a list or cannot be sent, `ValueError` for empty names.
    """

    def __new__(
        cls,
        key: Key,
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        policy: BatchUDFPolicy | None = None,
    ) -> Self: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchRecordStream:
    """The rows of a batch as the nodes answer. Iterate over it with `for` or `async for`, from any number of threads or
    tasks; each row goes to one of them.

    Each item is a pair of the row's index in `ops` and its `BatchRecord`. Every row comes exactly once, in any order,
    failed ones included. If the whole request to a node fails, its rows have that error; it is raised at the end if the
    server answered no row at all. Closing the stream, leaving its context manager or dropping it ends the batch; writes
    that were already sent may still be executed.
    """

    def close(self) -> None:
        """Ends the batch. Rows that were not read are dropped. A second call does nothing."""
    def __aiter__(self) -> Self: ...
    def __iter__(self) -> Self: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    def __anext__(self) -> Awaitable[tuple[int, BatchRecord]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __next__(self) -> tuple[int, BatchRecord]: ...
