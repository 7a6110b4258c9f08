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
    """A key and what became of its row.

    A row has a `record` when it succeeded (without bins for writes and deletes that return nothing), an `error` when it
    failed, and neither when the server left it out. A missing or filtered-out record is a failed row; the batch itself
    succeeds all the same. The record is made when it is first asked for. Each row has its own copy of the answer:
    whoever keeps one row keeps no other.
    """

    @property
    def key(self) -> Key:
        """The key."""
    @property
    def record(self) -> Record | None:
        """The record of a row that succeeded, else `None`."""
    @property
    def error(self) -> AerospikeError | None:
        """The exception that the row stands for, not raised; `None` if it did not fail."""
    @property
    def result_code(self) -> ResultCode | None:
        """The row's `ResultCode`: `OK`, or that of its error; `None` if the server left the row out."""
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
    @property
    def is_ok(self) -> bool:
        """Whether the row succeeded."""

class BatchRecords(list[BatchRecord]):
    """The rows of a batch, in order: a list of `BatchRecord`, which can say which of them have failed.

    A batch succeeds although rows of it fail; `raise_for_failures()` makes that an error.
    """

    def failures(self, *, missing: bool = True) -> list[BatchRecord]:
        """A list of the rows that did not succeed; with `missing=False`, without those whose record does not exist."""
    def raise_for_failures(self, *, missing: bool = True) -> None:
        """Raises `BatchFailedError` if a row did not succeed; its `records` are these rows.

        `missing=False`: a record that does not exist is no failure. It is in doubt if one of the rows is.
        """

@final
class BatchReadOp:
    """A row of `Client.batch` that reads: all bins, those of `bins` (an empty list: none), or, if there are
    `operations`, what these say (none of them may write).

    Raises `ValueError` for operations that write, otherwise as `get` and `operate` do.
    """

    def __new__(
        cls,
        key: Key,
        bins: Sequence[str] | None = None,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchReadPolicy | None = None,
    ) -> BatchReadOp: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchWriteOp:
    """A row of `Client.batch` that writes: sets `bins`, and then does what `operations` say (without `bins`, at least
    one of them must write).

    Raises `ValueError` when neither is given and for operations alone that do not write, otherwise as `put` and
    `operate` do.
    """

    def __new__(
        cls,
        key: Key,
        operations: Sequence[BaseOperation] | None = None,
        policy: BatchWritePolicy | None = None,
        *,
        bins: Mapping[str, Any] | None = None,
    ) -> BatchWriteOp: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchDeleteOp:
    """A row of `Client.batch` that deletes its record."""

    def __new__(cls, key: Key, policy: BatchDeletePolicy | None = None) -> BatchDeleteOp: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchUDFOp:
    """A row of `Client.batch` that applies the function `function_name` of the UDF module `udf_name` (without `.lua`)
    to its record, with `args` (a list, or None). What the function returns is the bin `"SUCCESS"` of the row's record;
    a function that fails makes the row fail, with the server's message: file, line, what was wrong.

    Raises `TypeError` for arguments that are no list or cannot be sent, `ValueError` for empty names.
    """

    def __new__(
        cls,
        key: Key,
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        policy: BatchUDFPolicy | None = None,
    ) -> BatchUDFOp: ...
    @property
    def key(self) -> Key:
        """The key."""

@final
class BatchRecordStream:
    """The rows of a batch, as its nodes answer: iterate over it with `for` or `async for`, on any number of threads or
    tasks (each row comes to one of them).

    Each item is a pair: the row's place in `ops`, and its `BatchRecord`. Every row comes once, in any order; one that
    failed says so itself. When the request to a node fails as a whole, its rows have that error; it is raised at the
    end when no row was answered by the server at all. Closing the stream, leaving it as a context manager and dropping
    it end the batch: writes that were sent until then may be carried out.
    """

    def close(self) -> None:
        """Ends the batch. Rows that were not taken are dropped. A second call does nothing."""
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
