"""Writers: many records, with the outcome of each one known."""

from collections.abc import Callable, Generator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, TypedDict, final

from ._awaitable import Awaitable
from ._call_policies import WritePolicy
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._operations import BaseOperation
from ._values import Key, Record

class WriterProgress(NamedTuple):
    """How far a writer has come. Bytes are those of the outstanding records, `elapsed` is in seconds."""

    handed_over: int
    ok: int
    failed: int
    outstanding: int
    outstanding_bytes: int
    elapsed: float

@final
class Written:
    """The server's confirmation of a record."""

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
    """The outcome of a record that was handed over: to be awaited, or `result()`."""

    def __await__(self) -> Generator[Any, Any, Written]: ...
    def wait(self) -> Awaitable[Outcome]:
        """An awaitable of this object, once there is an outcome: of a record that has failed, too."""
    def result(self, timeout: float | None = None) -> Written:
        """Blocks the calling thread until there is an outcome, at most for `timeout` seconds."""
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
    """The outcomes of a writer as they come: `async for`, or `for`."""

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

class _Writer:
    """What both writers have."""

    def outcomes(self) -> Outcomes:
        """The outcomes of records as they come, from now on. In one place only."""
    def progress(self) -> WriterProgress:
        """How far the writer has come: a `WriterProgress`."""
    def metrics(self) -> dict[str, Any]:
        """What the writer has counted since it was made; `nodes` is a list with a dict for each node."""
    @property
    def closed(self) -> bool:
        """Whether the writer takes no more records."""

@final
class Writer(_Writer):
    """Writes records in bulk from asyncio, with the outcome of each one known. Made by `session.writer()`."""

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
    ) -> Awaitable[Outcome]:
        """Hands over a record to be written: `bins`, a dict of values by name; a value of `None` removes its bin.
        Awaitable of an `Outcome` (of `None`, where the writer reports failures only).
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
    ) -> Awaitable[Outcome]:
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
    ) -> Awaitable[Outcome]:
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
    ) -> Awaitable[Outcome]:
        """Hands over a record whose TTL is to be reset, to `expiration` or the policy's. Otherwise as `put`."""
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[Outcome]:
        """Hands over a record to which a function of a UDF module is to be applied, with `args` (a list, or `None`).
        What it returns is the bin `SUCCESS` of `record` of the `Written`. Otherwise as `put`.
        """
    def flush(self) -> Awaitable[None]:
        """Waits until all records that were handed over before have their outcomes."""
    def close(self, timeout: float | None = None) -> Awaitable[list[Outcome]]:
        """Takes no more records, and waits for what is outstanding. Gives what was not confirmed within `timeout`."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[None]: ...

@final
class SyncWriter(_Writer):
    """Writes records in bulk, with the outcome of each one known. Made by `session.writer()` of `aerolane.sync`."""

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
    ) -> Outcome:
        """Hands over a record to be written: `bins`, a dict of values by name; a value of `None` removes its bin.
        Gives an `Outcome` (`None`, where the writer reports failures only).
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
    ) -> Outcome:
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
    ) -> Outcome:
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
    ) -> Outcome:
        """Hands over a record whose TTL is to be reset, to `expiration` or the policy's. Otherwise as `put`."""
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Outcome:
        """Hands over a record to which a function of a UDF module is to be applied, with `args` (a list, or `None`).
        What it returns is the bin `SUCCESS` of `record` of the `Written`. Otherwise as `put`.
        """
    def flush(self) -> None:
        """Waits until all records that were handed over before have their outcomes."""
    def close(self, timeout: float | None = None) -> list[Outcome]:
        """Takes no more records, and waits for what is outstanding. Gives what was not confirmed within `timeout`."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
