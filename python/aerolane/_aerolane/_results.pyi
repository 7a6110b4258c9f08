"""What builders give."""

from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Any, Self, TypeAlias, final

from ._awaitable import Awaitable
from ._errors import AerospikeError, ExpressionTrace, ResultCode
from ._values import Key, Record

class ErrorStrategy(Enum):
    """Who hears of the records for which a call has failed: the argument `on_error` of `execute` and its like.

    IN_STREAM: whoever reads the results, as `RecordResult`s that are not `is_ok`.
    """

    IN_STREAM = "in_stream"

ErrorHandler: TypeAlias = Callable[[Key, int, AerospikeError], object]
_OnError: TypeAlias = ErrorStrategy | ErrorHandler | None

@final
class HllConfig:
    """The settings of an HLL: how many bits its index has (4 to 16), and its min-hashes (4 to 51; -1: none)."""

    def __new__(cls, index_bit_count: int, min_hash_bit_count: int = ...) -> Self: ...
    @staticmethod
    def of(index_bit_count: int, min_hash_bit_count: int = ...) -> HllConfig:
        """The same as the constructor."""
    @property
    def index_bit_count(self) -> int:
        """How many bits the index has."""
    @property
    def min_hash_bit_count(self) -> int:
        """How many bits the min-hashes have; -1: there are none."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class OperationResult:
    """What an operation answered. The methods give it as one type, and raise `TypeError` if it is of another one."""

    def __new__(cls, value: Any) -> Self: ...
    @property
    def value(self) -> Any:
        """The answer itself."""
    def get_int(self) -> int:
        """An int: 0 where the operation has nothing to say, 0 or 1 for a bool."""
    def get_float(self) -> float:
        """A float: 0.0 where the operation has nothing to say; an int becomes a float."""
    def get_long(self) -> int:
        """As `get_int`, for code written for the first versions of the SDK of Aerospike."""
    def get_double(self) -> float:
        """As `get_float`, for code written for the first versions of the SDK of Aerospike."""
    def get_bool(self) -> bool:
        """A bool: `False` where the operation has nothing to say; an int other than 0 is true."""
    def get_string(self) -> str | None:
        """A str, or `None`."""
    def get_bytes(self) -> bytes | None:
        """Bytes, or `None`; a bytearray becomes bytes."""
    def get_list(self) -> list[Any] | None:
        """A list, or `None`."""
    def get_map(self) -> dict[Any, Any] | None:
        """A dict, or `None`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RecordResult:
    """What became of one record: `is_ok`, and then its `record`, or its failure."""

    @property
    def key(self) -> Key:
        """The key. That of a record of a query has its digest, and its user key if that is stored with it."""
    @property
    def record(self) -> Record | None:
        """The record; `None` after a failure, and for what reads none (`delete`, `touch`, `exists`, functions)."""
    @property
    def result_code(self) -> ResultCode:
        """The `ResultCode`: `OK`, or that of the failure."""
    @property
    def in_doubt(self) -> bool:
        """Whether a write that failed may have been applied."""
    @property
    def index(self) -> int:
        """The place of its key in the call; -1 in queries."""
    @property
    def exception(self) -> AerospikeError | None:
        """The failure as an exception, not raised; `None` if there is none."""
    @property
    def udf_result(self) -> Any:
        """What a function returned; `None` for other calls."""
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
        """Whether the call succeeded for this record."""
    def or_raise(self) -> RecordResult:
        """This result if it is no failure."""
    def to_exception(self) -> AerospikeError | None:
        """The failure as an exception, not raised; `None` if there is none."""
    def record_or_raise(self) -> Record:
        """The record."""
    def operation_result(self, i: int) -> Any:
        """What the `i`-th operation answered, from 0; `None` if there is none, or the operation has nothing to say."""
    def typed_operation_result(self, i: int) -> OperationResult | None:
        """What the `i`-th operation answered, as an `OperationResult`, whose methods check its type. `None` if there
        is no such operation.
        """
    def get_hll_config(self, bin_name: str) -> HllConfig | None:
        """The settings of an HLL, as `hll_describe()` of this bin has read them. `None` if it was not read."""
    def as_bool(self) -> bool:
        """Whether the record exists: of a result of `exists()`."""

@final
class RecordStream:
    """The results of a chain, for asyncio: `async for`, or one of the methods. It can be read once."""

    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[RecordResult]: ...
    def has_more_chunks(self) -> Awaitable[bool]:
        """Whether another chunk of a query with `chunk_size()` is to be read; the first time always true. Awaitable
        of a bool. `while await stream.has_more_chunks(): async for result in stream: ...`
        """
    def pop(self) -> Awaitable[RecordResult | None]:
        """The next result; `None` at the end. The stream stays open. Awaitable."""
    def pop_or_raise(self) -> Awaitable[RecordResult]:
        """The next result, which there must be and which must be no failure. The stream stays open. Awaitable."""
    def first(self) -> Awaitable[RecordResult | None]:
        """The first result, `None` if there is none; closes the stream. Awaitable."""
    def first_or_raise(self) -> Awaitable[RecordResult]:
        """The first result, which there must be and which must be no failure; closes the stream. Awaitable."""
    def first_udf_result(self) -> Awaitable[Any]:
        """What the first function that returned something has returned; `None` if there is none. Awaitable."""
    def collect(self) -> Awaitable[list[RecordResult]]:
        """A list of all results that have not been read. Awaitable."""
    def failures(self) -> Awaitable[list[RecordResult]]:
        """A list of those that are failures, of all results that have not been read. Awaitable."""
    def raise_for_failures(self) -> Awaitable[list[RecordResult]]:
        """A list of all results that have not been read, unless one of them is a failure: raises `BatchFailedError`
        then, whose `records` are the failures. Awaitable.
        """
    def close(self) -> None:
        """Ends the query, if it is one, and drops what has not been read. A second call does nothing."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

@final
class SyncRecordStream:
    """The results of a chain: `for`, or one of the methods. It can be read once."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> RecordResult: ...
    def has_more_chunks(self) -> bool:
        """Whether another chunk of a query with `chunk_size()` is to be read; the first time always true. `while
        stream.has_more_chunks(): for result in stream: ...`
        """
    def pop(self) -> RecordResult | None:
        """The next result; `None` at the end. The stream stays open."""
    def pop_or_raise(self) -> RecordResult:
        """The next result, which there must be and which must be no failure. The stream stays open."""
    def first(self) -> RecordResult | None:
        """The first result, `None` if there is none; closes the stream."""
    def first_or_raise(self) -> RecordResult:
        """The first result, which there must be and which must be no failure; closes the stream."""
    def first_udf_result(self) -> Any:
        """What the first function that returned something has returned; `None` if there is none."""
    def collect(self) -> list[RecordResult]:
        """A list of all results that have not been read."""
    def failures(self) -> list[RecordResult]:
        """A list of those that are failures, of all results that have not been read."""
    def raise_for_failures(self) -> list[RecordResult]:
        """A list of all results that have not been read, unless one of them is a failure: raises `BatchFailedError`
        then, whose `records` are the failures.
        """
    def close(self) -> None:
        """Ends the query, if it is one, and drops what has not been read. A second call does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
