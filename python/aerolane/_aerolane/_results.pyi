"""Results: what builders give."""

from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, final

from ._awaitable import Awaitable
from ._errors import AerospikeError, ExpressionTrace, ResultCode
from ._query import ArrowColumns, ArrowStream, _ArrowTypes
from ._values import Key, Record

class ErrorStrategy(Enum):
    """What happens to failures of single records: the argument `on_error` of `execute` and the other terminals.

    IN_STREAM: they are returned among the results, as `RecordResult`s that are not `is_ok`. This is the default for
    calls about several records; a call about one record raises its failure.
    """

    IN_STREAM = "in_stream"

ErrorHandler: TypeAlias = Callable[[Key, int, AerospikeError], object]
_OnError: TypeAlias = ErrorStrategy | ErrorHandler

@final
class HllConfig:
    """The settings of an HLL: the number of its index bits (4 to 16) and of its min-hash bits (4 to 51, or -1 for
    none, which is the default).
    """

    def __new__(cls, index_bit_count: int, min_hash_bit_count: int = ...) -> Self: ...
    @property
    def index_bit_count(self) -> int:
        """The number of index bits."""
    @property
    def min_hash_bit_count(self) -> int:
        """The number of min-hash bits; -1 for none."""
    @staticmethod
    def of(index_bit_count: int, min_hash_bit_count: int = ...) -> HllConfig:
        """Same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class OperationResult:
    """What an operation returned. Each method returns it as one type, and raises `TypeError` if it has another one."""

    def __new__(cls, value: Any) -> Self: ...
    @property
    def value(self) -> Any:
        """The value itself."""
    def get_int(self) -> int:
        """Returns an int. 0 if the operation returned nothing; 0 or 1 for a bool."""
    def get_float(self) -> float:
        """Returns a float. 0.0 if the operation returned nothing. An int is converted."""
    def get_bool(self) -> bool:
        """Returns a bool. `False` if the operation returned nothing. An int is true unless it is 0."""
    def get_string(self) -> str | None:
        """Returns a str, or `None` if the operation returned nothing."""
    def get_bytes(self) -> bytes | None:
        """Returns bytes, or `None` if the operation returned nothing. A bytearray is converted."""
    def get_long(self) -> int:
        """Same as `get_int`. For code written for the first versions of the Aerospike SDK."""
    def get_double(self) -> float:
        """Same as `get_float`. For code written for the first versions of the Aerospike SDK."""
    def get_list(self) -> list[Any] | None:
        """Returns a list, or `None` if the operation returned nothing."""
    def get_map(self) -> dict[Any, Any] | None:
        """Returns a dict, or `None` if the operation returned nothing."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RecordResult:
    """The result for one record: its `record` if `is_ok`, otherwise its failure.

    The record is decoded on first access. `index` is the position of its key in the call; -1 in queries.
    """

    @property
    def index(self) -> int:
        """The position of the key in the call; -1 in queries."""
    @property
    def key(self) -> Key:
        """The key. In the results of a query, it has the digest, and the user key if that is stored with the record."""
    @property
    def record(self) -> Record | None:
        """The record. `None` for a failure and for functions, and for `delete`, `touch` and `exists` of one record.
        Of several records, `delete` and `touch` have one without bins; so has `exists` in a chain with other
        operations, and in `stream()`.
        """
    @property
    def result_code(self) -> ResultCode:
        """The `ResultCode`: `OK`, or that of the failure."""
    @property
    def in_doubt(self) -> bool:
        """Whether a write that failed may have been applied."""
    @property
    def exception(self) -> AerospikeError | None:
        """The failure as an exception, which is not raised. `None` if there is none."""
    @property
    def udf_result(self) -> Any:
        """What a function returned. `None` for other operations."""
    @property
    def sub_code(self) -> int | None:
        """The server's sub-code of the failure, if it was requested (`error_detail_verbosity`) and sent."""
    @property
    def server_message(self) -> str | None:
        """The server's message about the failure, if it was requested (`error_detail_verbosity`) and sent."""
    @property
    def exp_trace(self) -> ExpressionTrace | None:
        """Where in an expression the failure occurred, an `ExpressionTrace`, if it was requested
        (`error_detail_verbosity`) and sent.
        """
    @property
    def is_ok(self) -> bool:
        """Whether the operation succeeded for this record."""
    def or_raise(self) -> RecordResult:
        """Returns this result, or raises the failure."""
    def to_exception(self) -> AerospikeError | None:
        """Returns the failure as an exception, without raising it. `None` if there is none."""
    def record_or_raise(self) -> Record:
        """Returns the record, or raises the failure.

        Raises `ValueError` if the operation reads no record.
        """
    def operation_result(self, i: int) -> Any:
        """Returns the value of the `i`-th operation, counted from 0. `None` if there is no such operation, or it
        returned nothing.
        """
    def typed_operation_result(self, i: int) -> OperationResult | None:
        """Returns the value of the `i`-th operation as an `OperationResult`, whose methods check its type. `None` if
        there is no such operation.
        """
    def get_hll_config(self, bin_name: str) -> HllConfig | None:
        """Returns the settings of an HLL that `hll_describe()` of this bin read. `None` if it was not read.

        Raises `TypeError` if the bin holds something else.
        """
    def as_bool(self) -> bool:
        """Returns whether the record exists: for a result of `exists()`.

        Raises the failure, unless it is that the record does not exist.
        """

@final
class RecordStream:
    """The results of a chain, for asyncio. Iterate over it with `async for`, or call one of its methods. It can be read
    once.

    Queries and `stream()` return results as they arrive. Leaving the stream as a context manager, or calling `close()`,
    stops them; writes that were sent before may still be executed.
    """

    def has_more_chunks(self) -> Awaitable[bool]:
        """Starts the next chunk of a query with `chunk_size()`, and returns whether there is one. The first call
        always returns `True`. Awaitable. Use it as `while await stream.has_more_chunks(): async for result in
        stream: ...`.
        """
    def pop(self) -> Awaitable[RecordResult | None]:
        """Returns the next result, or `None` at the end. Leaves the stream open. Awaitable."""
    def pop_or_raise(self) -> Awaitable[RecordResult]:
        """Returns the next result, or raises its failure. Raises `RecordNotFoundError` at the end. Leaves the stream
        open. Awaitable.
        """
    def first(self) -> Awaitable[RecordResult | None]:
        """Returns the next result, or `None` at the end, and closes the stream. Awaitable."""
    def first_or_raise(self) -> Awaitable[RecordResult]:
        """Returns the next result, or raises its failure, and closes the stream. Raises `RecordNotFoundError` at the
        end. Awaitable.
        """
    def first_udf_result(self) -> Awaitable[Any]:
        """Returns the first value that a function returned, or `None`, and closes the stream. Awaitable."""
    def collect(self) -> Awaitable[list[RecordResult]]:
        """Returns a list of all remaining results. Awaitable."""
    def failures(self) -> Awaitable[list[RecordResult]]:
        """Returns a list of the failures among all remaining results. Awaitable."""
    def raise_for_failures(self) -> Awaitable[list[RecordResult]]:
        """Returns a list of all remaining results, or raises `BatchFailedError` if there are failures among them;
        its `records` are the failures. Awaitable.
        """
    def close(self) -> None:
        """Stops a running query and drops the remaining results. Calling it again does nothing."""
    def to_arrow(
        self,
        schema: _ArrowTypes | ArrowColumns | None = None,
        *,
        batch_rows: int = 65536,
        infer_schema_length: int | None = None,
        schema_overrides: _ArrowTypes | None = None,
        key: str | tuple[str, str] | None = None,
        digest: str | tuple[str, str] | None = None,
        generation: str | None = None,
        ttl: str | None = None,
        expiration: str | None = None,
        misfits: Literal["raise", "null"] | None = None,
        mixed: Literal["raise", "json"] | None = None,
    ) -> ArrowStream:
        """The remaining results of a query, or of reads by keys, as a stream of Arrow record batches: an `ArrowStream`,
        for `to_polars()`, `to_pandas()`, `to_pyarrow()` and everything that reads the Arrow `PyCapsule` interface. The
        arguments are those of `Recordset.to_arrow`; without a schema, the types are those of the records. Afterwards
        the stream counts as read.

        Of reads by keys there is one row for each result, in order. A result without a record, as
        `include_missing_keys()` gives it, is a row of nulls. If another one is not `is_ok`, its error is raised, and
        the stream can still be read. Types are those of all records, if `infer_schema_length` does not say otherwise.

        Raises `ClientError` if a result has no record (as that of a delete), if this is what `stream()` gives, if the
        query has `chunk_size()`, and if the stream has been read or closed. Also raises the errors of
        `Recordset.to_arrow`.
        """
    def __aiter__(self) -> Self: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    def __anext__(self) -> Awaitable[RecordResult]: ...

@final
class SyncRecordStream:
    """The results of a chain. Iterate over it with `for`, or call one of its methods. It can be read once.

    Queries and `stream()` return results as they arrive. Leaving the stream as a context manager, or calling `close()`,
    stops them; writes that were sent before may still be executed.
    """

    def has_more_chunks(self) -> bool:
        """Starts the next chunk of a query with `chunk_size()`, and returns whether there is one. The first call
        always returns `True`. Use it as `while stream.has_more_chunks(): for result in stream: ...`.
        """
    def pop(self) -> RecordResult | None:
        """Returns the next result, or `None` at the end. Leaves the stream open."""
    def pop_or_raise(self) -> RecordResult:
        """Returns the next result, or raises its failure. Raises `RecordNotFoundError` at the end. Leaves the stream
        open.
        """
    def first(self) -> RecordResult | None:
        """Returns the next result, or `None` at the end, and closes the stream."""
    def first_or_raise(self) -> RecordResult:
        """Returns the next result, or raises its failure, and closes the stream. Raises `RecordNotFoundError` at the
        end.
        """
    def first_udf_result(self) -> Any:
        """Returns the first value that a function returned, or `None`, and closes the stream."""
    def collect(self) -> list[RecordResult]:
        """Returns a list of all remaining results."""
    def failures(self) -> list[RecordResult]:
        """Returns a list of the failures among all remaining results."""
    def raise_for_failures(self) -> list[RecordResult]:
        """Returns a list of all remaining results, or raises `BatchFailedError` if there are failures among them;
        its `records` are the failures.
        """
    def close(self) -> None:
        """Stops a running query and drops the remaining results. Calling it again does nothing."""
    def to_arrow(
        self,
        schema: _ArrowTypes | ArrowColumns | None = None,
        *,
        batch_rows: int = 65536,
        infer_schema_length: int | None = None,
        schema_overrides: _ArrowTypes | None = None,
        key: str | tuple[str, str] | None = None,
        digest: str | tuple[str, str] | None = None,
        generation: str | None = None,
        ttl: str | None = None,
        expiration: str | None = None,
        misfits: Literal["raise", "null"] | None = None,
        mixed: Literal["raise", "json"] | None = None,
    ) -> ArrowStream:
        """The remaining results of a query, or of reads by keys, as a stream of Arrow record batches: an `ArrowStream`,
        for `to_polars()`, `to_pandas()`, `to_pyarrow()` and everything that reads the Arrow `PyCapsule` interface. The
        arguments are those of `Recordset.to_arrow`; without a schema, the types are those of the records. Afterwards
        the stream counts as read.

        Of reads by keys there is one row for each result, in order. A result without a record, as
        `include_missing_keys()` gives it, is a row of nulls. If another one is not `is_ok`, its error is raised, and
        the stream can still be read. Types are those of all records, if `infer_schema_length` does not say otherwise.

        Raises `ClientError` if a result has no record (as that of a delete), if this is what `stream()` gives, if the
        query has `chunk_size()`, and if the stream has been read or closed. Also raises the errors of
        `Recordset.to_arrow`.
        """
    def __iter__(self) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __next__(self) -> RecordResult: ...
