"""Writers: many records, with the outcome of each one known."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeAlias, TypedDict, TypeVar, final, overload

from typing_extensions import CapsuleType

from ._awaitable import Awaitable
from ._call_policies import WritePolicy
from ._dataset import DataSet
from ._enums import RecordExistsAction
from ._errors import ResultCode
from ._expiration import Expiration
from ._operations import BaseOperation
from ._values import Key, Record

_O = TypeVar("_O", covariant=True)

class _ArrowStreamable(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

class _NumpyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Table: TypeAlias = Mapping[str, Any] | _ArrowStreamable | _ArrowArray | _NumpyArray

class WriterProgress(NamedTuple):
    """The progress of a writer: the number of records that were passed to it, how many of them are confirmed (`ok`),
    `failed` or `outstanding` (with their bytes), and the seconds since the writer was created.
    """

    handed_over: int
    ok: int
    failed: int
    outstanding: int
    outstanding_bytes: int
    elapsed: float

class FailedRow(NamedTuple):
    """A failed row of a table: its number, counted from 0; its key (`None` if the key is null or cannot be sent);
    the `ResultCode`; whether it may have been written nevertheless; and the reason.
    """

    row: int
    key: int | str | bytes | None
    result_code: ResultCode | int
    in_doubt: bool
    message: str

@final
class FailedRows:
    """The rows of a table that failed: a sequence of `FailedRow`.

    `pyarrow.table(rows)`, `polars.DataFrame(rows)` and everything else that supports the Arrow `PyCapsule` interface
    read them as the columns `row`, `key`, `result_code`, `in_doubt` and `message`.
    """

    def to_polars(self) -> Any:
        """The columns as a `polars.DataFrame`. Raises `ImportError` if polars is not installed."""
    def to_pandas(self) -> Any:
        """The columns as a `pandas.DataFrame` with Arrow types (`pandas.ArrowDtype`), so that integer columns with
        nulls stay integers. Raises `ImportError` if pandas or pyarrow is not installed.
        """
    def to_pyarrow(self) -> Any:
        """The columns as a `pyarrow.Table`, without a copy. Raises `ImportError` where pyarrow is not installed."""
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def __iter__(self) -> Iterator[FailedRow]: ...
    def __getitem__(self, index: int, /) -> FailedRow: ...
    def __len__(self) -> int: ...

@final
class TableSummary:
    """The outcome of the rows of a table, as returned by `write_table`."""

    @property
    def elapsed(self) -> float:
        """The duration in seconds."""
    @property
    def failures(self) -> FailedRows:
        """The rows that failed, ordered by row number; at most `keep_failures` of them."""
    def raise_for_failures(self) -> None:
        """Raises `BatchFailedError` if a row failed; its `records` are the failed rows. It is in doubt if one of
        them is.
        """
    @property
    def failed(self) -> int:
        """The number of rows that failed: refused by the server, given up, or impossible to send."""
    @property
    def in_doubt(self) -> int:
        """The number of failed rows that may have been written nevertheless."""
    @property
    def rows(self) -> int:
        """The number of rows that were read from the table. After an exception, some of them may not have been
        passed to the writer.
        """
    @property
    def outstanding(self) -> int:
        """The number of rows without an outcome: 0, unless the call was interrupted."""
    @property
    def ok(self) -> int:
        """The number of rows that the server confirmed."""
    @property
    def skipped(self) -> int:
        """The number of rows with nothing to write: all their bins are null, and nulls do not change bins."""

@final
class Written:
    """The server's confirmation of a record that a writer has written."""

    @property
    def generation(self) -> int:
        """The generation of the record after the write. After a delete: what the server returns, usually 0."""
    @property
    def ttl(self) -> int | None:
        """The remaining time to live of the record on the server in seconds; `None` if it never expires."""
    @property
    def existed(self) -> bool:
        """False if a delete found no record. Such a delete counts as a success."""
    @property
    def record(self) -> Record | None:
        """The results of operations, or of a function (in the bin `SUCCESS`), as a `Record`; `None` if there are
        none.
        """

@final
class WriteAttempt:
    """One attempt to write a record."""

    @property
    def node(self) -> str | None:
        """The node, as `NAME: host:port`; `None` if none could be chosen."""
    @property
    def after(self) -> float:
        """When it was sent, in seconds after the record was passed to the writer."""
    @property
    def took(self) -> float:
        """The duration in seconds."""
    @property
    def result_code(self) -> int:
        """The result code of the attempt; 0: it was confirmed."""
    @property
    def in_doubt(self) -> bool:
        """Whether the attempt may have been executed although it failed."""

@final
class Outcome:
    """The outcome of a record that was handed to a writer.

    `await` it (or call `result()`, without asyncio) for the server's confirmation, a `Written`, or to raise the
    exception of a record that failed. It can be awaited any number of times, and a cancelled wait loses nothing. If you
    do not need it, drop it: the record is written in any case. Until `done()`, its other properties are `None` or
    empty.
    """

    @property
    def took(self) -> float | None:
        """The time in seconds from passing the record to the writer to its outcome."""
    @property
    def in_doubt(self) -> bool:
        """Whether the record failed but may have been written nevertheless."""
    @property
    def key(self) -> Key:
        """The key of the record."""
    def wait(self) -> Awaitable[Outcome]:
        """An awaitable that returns this object once there is an outcome, also if the record failed."""
    def result(self, timeout: float | None = None) -> Written:
        """Blocks the calling thread until there is an outcome, for at most `timeout` seconds (`None`: without a limit),
        and returns the server's confirmation. Do not call it on the thread of an event loop, which it would block:
        `await` it there.

        Raises the exception of a record that failed, and `TimeoutError` if there is no outcome in time. In a callback
        of a writer it raises `ClientError` if there is no outcome yet, because no record makes progress until the
        callback returns.
        """
    def done(self) -> bool:
        """Whether there is an outcome."""
    def exception(self) -> Exception | None:
        """The exception, if the record failed, else `None`."""
    @property
    def ok(self) -> bool:
        """Whether the server has confirmed the record."""
    @property
    def sequence(self) -> int | None:
        """The number of the record, counted from 0 in the order in which records were passed to the writer."""
    @property
    def attempts(self) -> list[WriteAttempt]:
        """The attempts, oldest first."""
    @property
    def waited(self) -> float | None:
        """The time in seconds that the record waited before it was first sent."""
    @property
    def in_flight(self) -> float | None:
        """The total time in seconds that its attempts were in flight."""
    def __await__(self) -> Generator[Any, Any, Written]: ...

@final
class OutcomeList:
    """The outcomes of `put_many`, in the order of its records: a sequence of `Outcome`.

    `await` it (or call `result()`, without asyncio) to wait until each record has its outcome, and to raise
    `BatchFailedError` if one of them has failed. `Outcome` objects are created on demand.
    """

    def wait(self) -> Awaitable[OutcomeList]:
        """An awaitable that returns this object once each record has its outcome, also if some failed."""
    def result(self, timeout: float | None = None) -> Self:
        """Blocks the calling thread until each record has its outcome, for at most `timeout` seconds (`None`: without a
        limit), and returns this object. Do not call it on the thread of an event loop, which it would block: `await` it
        there.

        Raises `BatchFailedError` if a record failed, and `TimeoutError` if an outcome is missing in time. In a callback
        of a writer it raises `ClientError` if an outcome is missing, because no record makes progress until the
        callback returns.
        """
    def done(self) -> bool:
        """Whether each record has its outcome."""
    @property
    def ok(self) -> int:
        """The number of records that the server has confirmed so far."""
    @property
    def failed(self) -> int:
        """The number of records that have failed so far."""
    def failures(self) -> list[Outcome]:
        """The outcomes of the records that have failed so far, in order."""
    def raise_for_failures(self) -> None:
        """Raises `BatchFailedError` if a record has failed so far; its `records` are the `Outcome`s of these. It is
        in doubt if one of them is.
        """
    def __iter__(self) -> Iterator[Outcome]: ...
    @overload
    def __getitem__(self, index: int, /) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Outcome]: ...
    def __await__(self) -> Generator[Any, Any, OutcomeList]: ...
    def __len__(self) -> int: ...

@final
class Outcomes:
    """The outcomes of a writer as they arrive: `async for outcome in writer.outcomes()`, or `for` without asyncio. Each
    is an `Outcome` that is done. The iteration ends when the writer is closed and nothing is outstanding.

    An outcome that was not read counts as outstanding, so read them in a different task or thread from the one that
    passes records to the writer. Closing it, or leaving its context manager, ends that.
    """

    def close(self) -> None:
        """Stops reading outcomes."""
    def __aiter__(self) -> Self: ...
    def __iter__(self) -> Self: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    def __anext__(self) -> Awaitable[Outcome]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __next__(self) -> Outcome: ...

class _Settings(TypedDict, total=False):
    """Settings of a writer. Times are in seconds."""

    max_outstanding_records: int | None
    max_outstanding_bytes: int
    batch_records: int
    batch_bytes: int
    batches_in_flight: int
    linger: float
    attempt_timeout: float
    record_ttl: float
    max_retries: int
    backoff: float
    max_backoff: float
    repeat_in_doubt: bool
    failures_only: bool
    retries_per_success: float
    min_retries_per_second: float
    max_records_per_second: float | None
    max_bytes_per_second: float | None
    max_records_per_second_per_node: float | None
    max_bytes_per_second_per_node: float | None
    on_outcome: Callable[[Outcome], object] | None
    on_progress: Callable[[int], object] | None

class _Writer(Generic[_O]):
    """What both writers have. `_O` is what they give for a record that they take."""

    def operate(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> _O:
        """Executes several operations on a record, at least one of which must write. Their results are in `record`
        of the `Written`. Otherwise the same as `put`.
        """
    def delete(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> _O:
        """Deletes a record. A missing record counts as deleted; `existed` of the `Written` tells the difference.
        Otherwise the same as `put`.
        """
    def put(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> _O:
        """Writes a record. `bins`: a dict of values by name; a value of `None` removes the bin. Returns an `Outcome`,
        or `None` if the writer reports failures only; in asyncio, an awaitable of it.

        `policy`: by default that of the session's behavior. Its timeouts and retries are ignored in favor of the
        writer's. `record_exists_action`, `expiration`, `generation` (which the record must have) and `durable_delete`
        override it. Raises what `put` of a session raises for invalid arguments, `InvalidNamespaceError`, and
        `WriterClosedError`; in asyncio, when it is awaited.
        """
    def touch(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
    ) -> _O:
        """Resets the TTL of a record to `expiration` or that of the policy. Otherwise the same as `put`."""
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> _O:
        """Applies a function of a UDF module to a record, with `args` (a list, or `None`). The function's return
        value is in the bin `SUCCESS` of `record` of the `Written`. Otherwise the same as `put`.
        """
    def metrics(self) -> dict[str, Any]:
        """The writer's counters since it was created, as a dict; `nodes` is a list with a dict for each node."""
    @property
    def closed(self) -> bool:
        """Whether the writer has stopped accepting records."""
    def outcomes(self) -> Outcomes:
        """The outcomes of records as they arrive, from now on. Only one reader is allowed."""
    def remove_exporter(self, exporter: object) -> bool:
        """Removes an exporter; an export in progress is completed. Returns `False` if there is no such exporter."""
    def progress(self) -> WriterProgress:
        """The writer's progress: a `WriterProgress`."""

class _AsyncExporter(Protocol):
    async def export(self, snapshot: dict[str, Any], /) -> object: ...

class _Exporter(Protocol):
    def export(self, snapshot: dict[str, Any], /) -> object: ...

def writer_figures() -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """The figures of a writer's `metrics()` and those of its nodes, as lists of (name, `"counter"` or `"gauge"`,
    description), for exporters.
    """

def writer_retry_classes() -> dict[ResultCode, tuple[Literal["moved", "throttled", "transient"], bool]]:
    """What a writer makes of each result code of the server that is worth another attempt: its class (`"moved"`,
    `"throttled"` or `"transient"`), and whether it speaks for the whole node, so that the rate of records to that
    falls. All other codes are permanent: the record has failed.
    """

@final
class Writer(_Writer[Awaitable[Outcome]]):
    """Writes records in bulk from asyncio and reports the outcome of each one. Created by `session.writer()`.

    Records are passed to it one by one. The writer collects the records of a node into batches, sends a lone record at
    once, retries failures that may pass, and limits what is outstanding: `await writer.put(..)` returns an `Outcome` at
    once, and waits only while `max_outstanding_records` or `max_outstanding_bytes` is reached. Two writes of the same
    key take effect in the order in which they were passed to the writer.

    Use it as a context manager: leaving it waits for all outcomes.
    """

    def add_exporter(self, exporter: _Exporter | _AsyncExporter, interval: float = 30.0) -> None:
        """Adds an exporter of the writer's metrics: an object with a method `export(snapshot)`. It is called with the
        result of `metrics()` every `interval` seconds, and once more by `close()`, which waits for it for at most 5 s.
        Each exporter runs on a thread of its own, so a slow or stuck one does not delay records. With a writer for
        asyncio, `export` may be an `async def`, which runs on the event loop. `aerolane.exporters` has ready-made
        exporters.

        Exceptions of the exporter are logged (`aerolane.metrics.export`). After three failures in a row it is suspended
        and retried every ten intervals.

        Raises `TypeError` if the object has no such method, `ValueError` if the interval is below 1 ms, and
        `WriterClosedError`.
        """
    def flush(self) -> Awaitable[None]:
        """Waits until all records that were passed to the writer before have an outcome, success or failure.
        Awaitable of `None`.
        """
    def close(self, timeout: float | None = None) -> Awaitable[list[Outcome]]:
        """Stops accepting records and waits for the outstanding ones, for at most `timeout` seconds (`None`: until
        each record has an outcome, which `record_ttl` limits). Awaitable of a list: the `Outcome`s of the records
        that are not confirmed by then, in the order in which they were passed to the writer. They have failed with
        `WriterClosedError`, in doubt if they were in flight.
        """
    def put_many(
        self,
        records: Iterable[tuple[Key | int | str | bytes, Mapping[str, Any]]],
        *,
        dataset: DataSet | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        durable_delete: bool | None = None,
    ) -> Awaitable[OutcomeList]:
        """Writes many records: the same as `put` for each of them, but faster.

        `records`: an iterable of pairs `(key, bins)`, such as a list or a generator. With `dataset`, a key may also be
        a user key (int, str or bytes) of that set. For an endless iterable, pass a part at a time.

        Returns an `OutcomeList` once all records are passed to the writer, or `None` if it reports failures only; in
        asyncio, an awaitable of it, and other tasks have turns meanwhile. An exception, also the `CancelledError` of a
        call that is cancelled, has the `OutcomeList` of the records before as `outcomes`: they have been passed to the
        writer.
        """
    def write_table(
        self,
        table: _Table,
        dataset: DataSet,
        *,
        key: str,
        bins: Iterable[str] | Mapping[str, str] | None = None,
        nulls: Literal["omit", "delete"] | None = None,
        ttl: int | timedelta | Expiration | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
    ) -> Awaitable[TableSummary]:
        """Writes a table: each row is a record of `dataset`, whose user key is in the column `key`.

        `table`: anything with `__arrow_c_stream__` or `__arrow_c_array__` (tables, record batches and readers of
        pyarrow, frames of polars and pandas, relations of `DuckDB`), a structured numpy array, or a dict of sequences
        (lists, numpy arrays, Arrow arrays). Columns are encoded without a Python object for each value and without the
        GIL, and the parts of a stream are freed as they are written.

        `bins`: the names of the columns to write, or a dict from names of columns to names of bins; by default all
        columns but the key. `nulls`: for a null, `"omit"` (the default) does not change the bin, `"delete"` removes it.
        `ttl`: seconds, a `timedelta` or an `Expiration`. `keep_failures`: how many failed rows the summary keeps
        (100,000).

        Returns a `TableSummary`; in asyncio, an awaitable of it. Rows that fail are listed in it and do not raise.
        Before anything is written, it raises `KeyError` for a column that the table does not have, and `TypeError` or
        `InvalidArgumentError` for columns that cannot be written. An exception that ends it later has the
        `TableSummary` of the rows so far as `summary`; so has the `CancelledError` of a call that is cancelled.
        """
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[None]: ...

@final
class SyncWriter(_Writer[Outcome]):
    """Writes records in bulk and reports the outcome of each one, for code without asyncio. Created by
    `session.writer()`.

    The same as `aerolane.Writer`, but its methods block the calling thread. Can be used from any number of threads.
    """

    def add_exporter(self, exporter: _Exporter, interval: float = 30.0) -> None:
        """Adds an exporter of the writer's metrics: an object with a method `export(snapshot)`. It is called with the
        result of `metrics()` every `interval` seconds, and once more by `close()`, which waits for it for at most 5 s.
        Each exporter runs on a thread of its own, so a slow or stuck one does not delay records. With a writer for
        asyncio, `export` may be an `async def`, which runs on the event loop. `aerolane.exporters` has ready-made
        exporters.

        Exceptions of the exporter are logged (`aerolane.metrics.export`). After three failures in a row it is suspended
        and retried every ten intervals.

        Raises `TypeError` if the object has no such method, `ValueError` if the interval is below 1 ms, and
        `WriterClosedError`.
        """
    def flush(self) -> None:
        """Waits until all records that were passed to the writer before have an outcome, success or failure."""
    def close(self, timeout: float | None = None) -> list[Outcome]:
        """Stops accepting records and waits for the outstanding ones, for at most `timeout` seconds (`None`: until
        each record has an outcome, which `record_ttl` limits). Returns the `Outcome`s of the records that are not
        confirmed by then, in the order in which they were passed to the writer. They have failed with
        `WriterClosedError`, in doubt if they were in flight.
        """
    def put_many(
        self,
        records: Iterable[tuple[Key | int | str | bytes, Mapping[str, Any]]],
        *,
        dataset: DataSet | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        durable_delete: bool | None = None,
    ) -> OutcomeList:
        """Writes many records: the same as `put` for each of them, but faster.

        `records`: an iterable of pairs `(key, bins)`, such as a list or a generator. With `dataset`, a key may also be
        a user key (int, str or bytes) of that set. For an endless iterable, pass a part at a time.

        Returns an `OutcomeList` once all records are passed to the writer, or `None` if it reports failures only; in
        asyncio, an awaitable of it, and other tasks have turns meanwhile. An exception, also the `CancelledError` of a
        call that is cancelled, has the `OutcomeList` of the records before as `outcomes`: they have been passed to the
        writer.
        """
    def write_table(
        self,
        table: _Table,
        dataset: DataSet,
        *,
        key: str,
        bins: Iterable[str] | Mapping[str, str] | None = None,
        nulls: Literal["omit", "delete"] | None = None,
        ttl: int | timedelta | Expiration | None = None,
        policy: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
    ) -> TableSummary:
        """Writes a table: each row is a record of `dataset`, whose user key is in the column `key`.

        `table`: anything with `__arrow_c_stream__` or `__arrow_c_array__` (tables, record batches and readers of
        pyarrow, frames of polars and pandas, relations of `DuckDB`), a structured numpy array, or a dict of sequences
        (lists, numpy arrays, Arrow arrays). Columns are encoded without a Python object for each value and without the
        GIL, and the parts of a stream are freed as they are written.

        `bins`: the names of the columns to write, or a dict from names of columns to names of bins; by default all
        columns but the key. `nulls`: for a null, `"omit"` (the default) does not change the bin, `"delete"` removes it.
        `ttl`: seconds, a `timedelta` or an `Expiration`. `keep_failures`: how many failed rows the summary keeps
        (100,000).

        Returns a `TableSummary`; in asyncio, an awaitable of it. Rows that fail are listed in it and do not raise.
        Before anything is written, it raises `KeyError` for a column that the table does not have, and `TypeError` or
        `InvalidArgumentError` for columns that cannot be written. An exception that ends it later has the
        `TableSummary` of the rows so far as `summary`; so has the `CancelledError` of a call that is cancelled.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
