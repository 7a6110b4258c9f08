"""Writers: many records, with the outcome of each one known."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeAlias, TypedDict, TypeVar, final

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
    """How far a writer has come: records handed over, and of these confirmed (`ok`), `failed` and `outstanding` (and
    their bytes); seconds since it was made.
    """

    handed_over: int
    ok: int
    failed: int
    outstanding: int
    outstanding_bytes: int
    elapsed: float

class FailedRow(NamedTuple):
    """A row of a table that has failed: its number, counted from 0; its key (`None`: null, or none that can be
    sent); the `ResultCode`; whether it may have been written all the same; and why.
    """

    row: int
    key: int | str | bytes | None
    result_code: ResultCode | int
    in_doubt: bool
    message: str

@final
class FailedRows:
    """Rows of a table that have failed: a sequence of `FailedRow`.

    `pyarrow.table(rows)`, `polars.DataFrame(rows)` and whatever else knows the Arrow `PyCapsule` interface take them as
    the columns `row`, `key`, `result_code`, `in_doubt` and `message`.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> FailedRow: ...
    def __iter__(self) -> Iterator[FailedRow]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def to_pandas(self) -> Any:
        """The columns as a `pandas.DataFrame` with types of Arrow (`pandas.ArrowDtype`), so that ints with nulls
        stay ints. Raises `ImportError` where pandas or pyarrow is not installed.
        """
    def to_polars(self) -> Any:
        """The columns as a `polars.DataFrame`. Raises `ImportError` where polars is not installed."""
    def to_pyarrow(self) -> Any:
        """The columns as a `pyarrow.Table`, without a copy. Raises `ImportError` where pyarrow is not installed."""

@final
class TableSummary:
    """What became of the rows of a table: what `write_table` gives."""

    @property
    def rows(self) -> int:
        """The rows that were read from the table. After an exception, some of them may not have been handed over."""
    @property
    def ok(self) -> int:
        """The rows that the server has confirmed."""
    @property
    def failed(self) -> int:
        """The rows that have failed: refused by the server, given up, or not to be sent at all."""
    @property
    def in_doubt(self) -> int:
        """The failed rows that may have been written all the same."""
    @property
    def skipped(self) -> int:
        """The rows without anything to write: all their bins are null, and nulls leave bins as they are."""
    @property
    def outstanding(self) -> int:
        """The rows that were handed over and have no outcome: 0, but after a call that was interrupted."""
    @property
    def elapsed(self) -> float:
        """How long it took, in seconds."""
    @property
    def failures(self) -> FailedRows:
        """The rows that have failed, by row number; at most `keep_failures` of them."""
    def raise_for_failures(self) -> None:
        """Raises `BatchFailedError` if a row has failed; its `records` are the failed rows. In doubt if one of them
        is.
        """

@final
class Written:
    """The server's confirmation of a record that a writer has written."""

    @property
    def generation(self) -> int:
        """The generation of the record after the write. After a delete: what the server says, mostly 0."""
    @property
    def ttl(self) -> int | None:
        """The seconds that the record has left on the server; `None`: it never expires."""
    @property
    def existed(self) -> bool:
        """False for a delete of a record that was not there. Such a delete counts as a success."""
    @property
    def record(self) -> Record | None:
        """What operations have returned, or a function has (its bin `SUCCESS`), as a `Record`; `None` if they return
        nothing.
        """

@final
class WriteAttempt:
    """One attempt to write a record."""

    @property
    def node(self) -> str | None:
        """The node, as `NAME: host:port`; `None` if none could be chosen."""
    @property
    def after(self) -> float:
        """When it was sent, in seconds after the record was handed over."""
    @property
    def took(self) -> float:
        """How long it took, in seconds."""
    @property
    def result_code(self) -> int:
        """Its result code; 0: it was confirmed."""
    @property
    def in_doubt(self) -> bool:
        """Whether it may have been executed although it failed."""

@final
class Outcome:
    """The outcome of a record that was handed to a writer.

    `await` it (or call `result()`, without asyncio) for the server's confirmation, a `Written`, or the exception of a
    record that has failed. It can be awaited any number of times, and a wait that is cancelled loses nothing. Who has
    no use for it drops it: the record is written in any case. What it tells beside that is `None` or empty until
    `done()`.
    """

    def __await__(self) -> Generator[Any, Any, Written]: ...
    def wait(self) -> Awaitable[Outcome]:
        """An awaitable of this object, once there is an outcome: of a record that has failed, too."""
    def result(self, timeout: float | None = None) -> Written:
        """Blocks the calling thread until there is an outcome, at most for `timeout` seconds (`None`: without a limit),
        and gives the server's confirmation. Not on the thread of an event loop, which would stand still: `await` it
        there.

        Raises the exception of a record that has failed, and `TimeoutError` when there is no outcome in time. In a
        callback of a writer it raises `ClientError` for an outcome that is not there: no record goes on before the
        callback is over.
        """
    def done(self) -> bool:
        """Whether there is an outcome."""
    def exception(self) -> Exception | None:
        """The exception of a record that has failed; `None`: it has not."""
    @property
    def ok(self) -> bool:
        """Whether the server has confirmed the record."""
    @property
    def in_doubt(self) -> bool:
        """Whether the record failed and may have been written all the same."""
    @property
    def key(self) -> Key:
        """The key of the record."""
    @property
    def sequence(self) -> int | None:
        """The number of the record, counted from 0 in the order in which records were handed over."""
    @property
    def attempts(self) -> list[WriteAttempt]:
        """The attempts, oldest first."""
    @property
    def waited(self) -> float | None:
        """How long the record waited until it was sent first, in seconds."""
    @property
    def in_flight(self) -> float | None:
        """How long its attempts were in flight, all together, in seconds."""
    @property
    def took(self) -> float | None:
        """How long it took from hand-over to outcome, in seconds."""

@final
class Outcomes:
    """The outcomes of a writer as they come: `async for outcome in writer.outcomes()`, or `for` without asyncio. Each
    is an `Outcome` that is done. It ends when the writer is closed and nothing is outstanding.

    An outcome that was not taken counts as outstanding: take them in another task or thread than the one that hands
    records over. Closing it, or leaving it as a context manager, ends that.
    """

    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[Outcome]: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Outcome: ...
    def close(self) -> None:
        """Takes no more outcomes."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

class _Settings(TypedDict, total=False):
    """Settings of a writer. Times are in seconds."""

    max_outstanding_records: int
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
        """Hands over a record to be written: `bins`, a dict of values by name; a value of `None` removes its bin. Gives
        an `Outcome`, or `None` where the writer reports failures only; in asyncio, an awaitable of it.

        `policy` is that of the session's behavior if it is not given; its timeouts and retries do not apply, which are
        the writer's. What goes over it: `record_exists_action`, `expiration`, `generation` (to be expected equal) and
        `durable_delete`. Raises what `put` of a session raises for arguments, `InvalidNamespaceError`, and
        `WriterClosedError`; in asyncio, where it is awaited.
        """
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
        """Hands over several operations on a record, of which at least one writes. What they return is `record` of
        the `Written`. Otherwise as `put`.
        """
    def delete(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> _O:
        """Hands over a record to be deleted. One that is not there counts as deleted: `existed` of the `Written`
        tells. Otherwise as `put`.
        """
    def touch(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
    ) -> _O:
        """Hands over a record whose TTL is to be reset, to `expiration` or the policy's. Otherwise as `put`."""
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> _O:
        """Hands over a record to which a function of a UDF module is to be applied, with `args` (a list, or `None`).
        What it returns is the bin `SUCCESS` of `record` of the `Written`. Otherwise as `put`.
        """
    def outcomes(self) -> Outcomes:
        """The outcomes of records as they come, from now on. In one place only."""
    def progress(self) -> WriterProgress:
        """How far the writer has come: a `WriterProgress`."""
    def metrics(self) -> dict[str, Any]:
        """What the writer has counted since it was made, as a dict; `nodes` is a list with a dict for each node."""
    @property
    def closed(self) -> bool:
        """Whether the writer takes no more records."""
    def remove_exporter(self, exporter: object) -> bool:
        """Removes an exporter. An export that is under way comes to its end. `False`: there is no such exporter."""

class _AsyncExporter(Protocol):
    async def export(self, snapshot: dict[str, Any], /) -> object: ...

class _Exporter(Protocol):
    def export(self, snapshot: dict[str, Any], /) -> object: ...

def writer_figures() -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """The figures of a writer's `metrics()`, and those of its nodes, as lists of (name, `"counter"` or `"gauge"`,
    what it is): for exporters.
    """

@final
class Writer(_Writer[Awaitable[Outcome]]):
    """Writes records in bulk from asyncio, with the outcome of each one known. Made by `session.writer()`.

    Records are handed over one by one. The writer gathers those of a node into batches, sends a lone record at once,
    tries again what is worth it, and bounds what is outstanding: `await writer.put(..)` gives an `Outcome` at once, and
    waits only while `max_outstanding_records` or `max_outstanding_bytes` are reached. Two writes of the same key take
    effect in the order in which they were handed over.

    Use it as a context manager: its end waits for all outcomes.
    """

    def add_exporter(self, exporter: _Exporter | _AsyncExporter, interval: float = 30.0) -> None:
        """Adds an exporter of what the writer counts: an object with a method `export(snapshot)`. It is given what
        `metrics()` gives after each `interval` (in seconds), and once more by `close()`, which waits 5 s at most for
        that. Each exporter is called on a thread of its own, so one that is slow or stuck costs no record. `async def
        export` is for writers of asyncio, and runs on the event loop. `aerolane.exporters` has some.

        What it raises is logged (`aerolane.metrics.export`). After three failures in a row it is suspended, and tried
        again every ten intervals.

        Raises `TypeError` for an object without such a method, `ValueError` for an interval below 1 ms, and
        `WriterClosedError`.
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
        """Writes a table: each row is a record of `dataset`, its user key is in the column `key`.

        `table`: whatever has `__arrow_c_stream__` or `__arrow_c_array__` (tables, record batches and readers of
        pyarrow, frames of polars and pandas, relations of `DuckDB`), a structured numpy array, or a dict of sequences
        (lists, numpy arrays, Arrow arrays). Columns are encoded without a Python object for each value and without the
        GIL, and the parts of a stream are let go as they are written.

        `bins`: the columns to write, by name, or a dict of columns' and bins' names; all but the key's if it is not
        given. `nulls`: `"omit"` (the default) leaves the bin of a null as it is, `"delete"` removes it. `ttl`: seconds,
        a `timedelta` or an `Expiration`. `keep_failures`: how many failed rows the summary keeps (100,000).

        Gives a `TableSummary`; in asyncio, an awaitable of it. Rows that fail are in it, and raise nothing. Raises
        `KeyError` for a column that the table does not have, `TypeError` and `InvalidArgumentError` for columns that
        cannot be written, all of these before anything is written. An exception that ends it later has the
        `TableSummary` of the rows until then as `summary`.
        """
    def flush(self) -> Awaitable[None]:
        """Waits until all records that were handed over before have their outcomes, whatever these are. Awaitable of
        `None`.
        """
    def close(self, timeout: float | None = None) -> Awaitable[list[Outcome]]:
        """Takes no more records, and waits for what is outstanding, at most for `timeout` seconds (`None`: until
        each record has its outcome, which `record_ttl` bounds). Awaitable of a list: the `Outcome`s of the records
        that have no confirmation by then, in the order in which they were handed over. They have failed with
        `WriterClosedError`, in doubt if they were in flight.
        """
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[None]: ...

@final
class SyncWriter(_Writer[Outcome]):
    """Writes records in bulk, with the outcome of each one known: the writer for code without asyncio. Made by
    `session.writer()`.

    As `aerolane.Writer`, but its methods block the calling thread. For any number of threads.
    """

    def add_exporter(self, exporter: _Exporter, interval: float = 30.0) -> None:
        """Adds an exporter of what the writer counts: an object with a method `export(snapshot)`. It is given what
        `metrics()` gives after each `interval` (in seconds), and once more by `close()`, which waits 5 s at most for
        that. Each exporter is called on a thread of its own, so one that is slow or stuck costs no record. `async def
        export` is for writers of asyncio, and runs on the event loop. `aerolane.exporters` has some.

        What it raises is logged (`aerolane.metrics.export`). After three failures in a row it is suspended, and tried
        again every ten intervals.

        Raises `TypeError` for an object without such a method, `ValueError` for an interval below 1 ms, and
        `WriterClosedError`.
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
        """Writes a table: each row is a record of `dataset`, its user key is in the column `key`.

        `table`: whatever has `__arrow_c_stream__` or `__arrow_c_array__` (tables, record batches and readers of
        pyarrow, frames of polars and pandas, relations of `DuckDB`), a structured numpy array, or a dict of sequences
        (lists, numpy arrays, Arrow arrays). Columns are encoded without a Python object for each value and without the
        GIL, and the parts of a stream are let go as they are written.

        `bins`: the columns to write, by name, or a dict of columns' and bins' names; all but the key's if it is not
        given. `nulls`: `"omit"` (the default) leaves the bin of a null as it is, `"delete"` removes it. `ttl`: seconds,
        a `timedelta` or an `Expiration`. `keep_failures`: how many failed rows the summary keeps (100,000).

        Gives a `TableSummary`; in asyncio, an awaitable of it. Rows that fail are in it, and raise nothing. Raises
        `KeyError` for a column that the table does not have, `TypeError` and `InvalidArgumentError` for columns that
        cannot be written, all of these before anything is written. An exception that ends it later has the
        `TableSummary` of the rows until then as `summary`.
        """
    def flush(self) -> None:
        """Waits until all records that were handed over before have their outcomes, whatever these are."""
    def close(self, timeout: float | None = None) -> list[Outcome]:
        """Takes no more records, and waits for what is outstanding, at most for `timeout` seconds (`None`: until
        each record has its outcome, which `record_ttl` bounds). Gives a list: the `Outcome`s of the records that
        have no confirmation by then, in the order in which they were handed over. They have failed with
        `WriterClosedError`, in doubt if they were in flight.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
