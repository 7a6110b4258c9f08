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
    def generation(self) -> int: ...
    @property
    def ttl(self) -> int | None: ...
    @property
    def existed(self) -> bool: ...
    @property
    def record(self) -> Record | None: ...

@final
class WriteAttempt:
    """One attempt to write a record."""

    @property
    def node(self) -> str | None: ...
    @property
    def after(self) -> float: ...
    @property
    def took(self) -> float: ...
    @property
    def result_code(self) -> int: ...
    @property
    def in_doubt(self) -> bool: ...

@final
class Outcome:
    """The outcome of a record that was handed over: to be awaited, or `result()`."""

    def __await__(self) -> Generator[Any, Any, Written]: ...
    def wait(self) -> Awaitable[Outcome]:
        """An awaitable of this object, once there is an outcome: of a record that has failed, too."""
    def result(self, timeout: float | None = None) -> Written:
        """Blocks the calling thread until there is an outcome, at most for `timeout` seconds."""
    def done(self) -> bool: ...
    def exception(self) -> Exception | None: ...
    @property
    def ok(self) -> bool: ...
    @property
    def in_doubt(self) -> bool: ...
    @property
    def key(self) -> Key: ...
    @property
    def sequence(self) -> int | None: ...
    @property
    def attempts(self) -> list[WriteAttempt]: ...
    @property
    def waited(self) -> float | None: ...
    @property
    def in_flight(self) -> float | None: ...
    @property
    def took(self) -> float | None: ...

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
    def progress(self) -> WriterProgress: ...
    def metrics(self) -> dict[str, Any]:
        """What the writer has counted since it was made; `nodes` is a list with a dict for each node."""
    @property
    def closed(self) -> bool: ...

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
    ) -> Awaitable[Outcome]: ...
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
    ) -> Awaitable[Outcome]: ...
    def delete(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> Awaitable[Outcome]: ...
    def touch(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
    ) -> Awaitable[Outcome]: ...
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[Outcome]: ...
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
    ) -> Outcome: ...
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
    ) -> Outcome: ...
    def delete(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
    ) -> Outcome: ...
    def touch(
        self,
        key: Key,
        *,
        policy: WritePolicy | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
    ) -> Outcome: ...
    def execute_udf(
        self,
        key: Key,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Outcome: ...
    def flush(self) -> None:
        """Waits until all records that were handed over before have their outcomes."""
    def close(self, timeout: float | None = None) -> list[Outcome]:
        """Takes no more records, and waits for what is outstanding. Gives what was not confirmed within `timeout`."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
