"""Sessions, for asyncio and (`Sync..`) for code without it."""

from collections.abc import AsyncIterable, Callable, Coroutine, Iterable, Mapping, Sequence
from collections.abc import Awaitable as _Awaitable
from datetime import timedelta
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, Unpack, final, overload

from typing_extensions import disjoint_base

from aerolane.system_settings import MetricsSettings, TransactionSettings

from ._awaitable import Awaitable
from ._background import BackgroundTaskSession, SyncBackgroundTaskSession
from ._behavior import Behavior
from ._builders import (
    DataSetWriteBuilder,
    QueryBuilder,
    SyncDataSetWriteBuilder,
    SyncQueryBuilder,
    SyncUdfFunctionBuilder,
    SyncWriteSegmentBuilder,
    UdfFunctionBuilder,
    WriteSegmentBuilder,
    _SessionVerbs,
)
from ._cdt import CTX
from ._client import Client, SyncClient
from ._cluster import Cluster, SyncCluster
from ._dataset import DataSet
from ._enums import CollectionIndexType, IndexType, RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._index import IndexBuilder, SyncIndexBuilder
from ._info import InfoCommands, SyncInfoCommands
from ._modules import _Modules
from ._query import DropIndexTask, IndexTask, RegisterTask, UdfRemoveTask
from ._txn import Txn, TxnStatus
from ._values import Key, Record
from ._writer import SyncWriter, TableSummary, Writer, _Settings, _Table

_T = TypeVar("_T")
_Query = TypeVar("_Query", covariant=True)
_Index = TypeVar("_Index", covariant=True)
_Opener = TypeVar("_Opener", covariant=True)
_Session = TypeVar("_Session", covariant=True)
_Transactional = TypeVar("_Transactional", covariant=True)
_Udf = TypeVar("_Udf", covariant=True)
_Background = TypeVar("_Background", covariant=True)
_W = TypeVar("_W", covariant=True)

class _Begins(Generic[_Query, _Index]):
    """What clients and sessions of both kinds have."""

    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> _Index:
        """A secondary index of a data set, said step by step: an `IndexBuilder`.

        Code for the first versions of the SDK of Aerospike may give `dataset` by name, or the names of a namespace and
        a set: `index("test", "users")`.
        """
    @overload
    def index(self, dataset: str, set_name: str, *, behavior: Behavior | None = None) -> _Index: ...
    @overload
    def index(
        self,
        dataset: None = None,
        set_name: str | None = None,
        *,
        namespace: str | None = None,
        behavior: Behavior | None = None,
    ) -> _Index: ...
    @overload
    def query(self, keys: DataSet, /) -> _Query:
        """Reads records: those of a `Key`, several keys, or a list of keys, or those that are found in a `DataSet`.

        Code written for the first versions of the Aerospike SDK may also say `query("test", "users")`, or use the names
        `key`, `keys_list`, `dataset`, `namespace` and `set_name`, and `behavior`.
        """
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> _Query: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> _Query: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> _Query: ...

class NamespaceScStatus(NamedTuple):
    """Whether a namespace is in strong-consistency mode (`is_sc`), and if it is not, why (`detail`)."""

    is_sc: bool
    detail: str

class _Common(
    _Begins[_Query, _Index], Generic[_Query, _Index, _Opener, _Session, _Transactional, _Udf, _Background, _W]
):
    """What sessions of both kinds have."""

    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> _Udf:
        """Applies a function of a UDF module to records: `execute_udf(key).function("module", "name").passing(1)`."""
    def batch(self) -> Self:
        """Returns this session: a chain of its verbs is one batch,
        `session.batch().upsert(a).put({..}).delete(b).execute()`. For code written for the first versions of the
        Aerospike SDK.
        """
    def transaction(self) -> _Transactional:
        """Returns a session in a new transaction, a context manager that commits at its end."""
    def writer(self, **settings: Unpack[_Settings]) -> _W:
        """A writer of many records, with the outcome of each one known: hands records over one by one, and gathers,
        sends and retries them by itself. Records without a policy of their own have that of the session's behavior.

        All settings are optional: `max_outstanding_records` (`None`: 10,000, and 20,000 while a node holds up the
        others), `max_outstanding_bytes` (64 MiB), `batch_records` (256), `batch_bytes` (256 KiB), `batches_in_flight`
        per node (4; up to eight times as many for a node that holds up the others), `linger` (0.001 s),
        `attempt_timeout` (5 s), `record_ttl` (30 s), `max_retries` (20), `backoff` (0.01 s), `max_backoff` (1 s),
        `repeat_in_doubt` (False), `retries_per_success` (0.2), `min_retries_per_second` (100),
        `max_records_per_second`, `max_bytes_per_second` and both `.._per_node` (None: no limit), `failures_only`
        (False), and the callbacks `on_outcome(outcome)` and `on_progress(count)`, which are called on a thread of the
        client. Raises `InvalidArgumentError` for a setting out of its bounds.
        """
    def transaction_session(self) -> _Transactional:
        """Same as `transaction`. For code written for the first versions of the Aerospike SDK."""
    @property
    def behavior(self) -> Behavior:
        """The behavior that the session takes its policies from."""
    def session_for(self, behavior: Behavior) -> _Session:
        """Returns another session of the same cluster with another behavior."""
    def background_task(self) -> _Background:
        """Returns what starts background tasks, which the servers apply to all records of a set:
        `background_task().update(dataset).where("$.age > 65").bin("retired").set_to(True).execute()`.

        Raises `RuntimeError` in a session that belongs to a transaction.
        """
    @property
    def client(self) -> _Opener:
        """The client or cluster that created the session."""
    def get_current_transaction(self) -> Txn | None:
        """Returns `current_transaction`. For code written for the first versions of the Aerospike SDK."""
    def begin_transaction(self) -> _Transactional:
        """Same as `transaction`. For code written for the first versions of the Aerospike SDK."""
    @property
    def current_transaction(self) -> Txn | None:
        """The transaction that calls of this session belong to, a `Txn`; `None` without one, and after its end."""

@disjoint_base
class Session(
    _SessionVerbs[WriteSegmentBuilder, DataSetWriteBuilder],
    _Common[
        QueryBuilder,
        IndexBuilder,
        Client | Cluster,
        Session,
        TransactionalSession,
        UdfFunctionBuilder,
        BackgroundTaskSession,
        Writer,
    ],
    _Modules[Awaitable[RegisterTask], Awaitable[UdfRemoveTask], Awaitable[list[dict[str, str]]]],
):
    """Reads and writes records with the policies of a behavior, for asyncio. `create_session` makes one."""

    def get(self, key: Key, bins: Sequence[str] | None = None) -> Awaitable[Record]:
        """Reads a record: all its bins, or only those of the list `bins`; an empty list reads none. Awaitable of a
        `Record`.

        Raises `RecordNotFoundError` if the record does not exist.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> Awaitable[None]:
        """Writes bins, given as a dict; a value of `None` removes its bin. Other bins of the record stay as they
        are. Awaitable of `None`.
        """
    def get_many(
        self,
        keys: Iterable[Key] | AsyncIterable[Key],
        bins: Sequence[str] | None = None,
        *,
        concurrency: int | None = None,
    ) -> Awaitable[list[Record | Exception]]:
        """Reads many records, each as `get` does, all at once, or `concurrency` at a time (in a transaction 100 by
        default). Awaitable of a list with, for each key in order, its `Record`, or the exception that `get` would have
        raised.

        `keys` is an iterable, or an async iterable. The keys of the latter are read as they come, `concurrency` (100 by
        default) at a time.
        """
    def put_many(
        self, keys: Iterable[Key] | AsyncIterable[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> Awaitable[list[Exception | None]]:
        """Writes the same bins to many records, each as `put` does, all at once, or `concurrency` at a time (in a
        transaction 100 by default). Awaitable of a list with, for each key in order, `None`, or the exception that
        `put` would have raised.

        `keys` is an iterable, or an async iterable. Records of the latter's keys are written as the keys come,
        `concurrency` (100 by default) at a time.
        """
    def do_in_transaction(
        self,
        operation: Callable[[TransactionalSession], _Awaitable[_T]],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> Coroutine[Any, Any, _T]:
        """Calls `operation`, an async function, with a session in a new transaction, then commits: `await
        session.do_in_transaction(transfer)`. Awaitable of what `operation` returns.

        Repeats all of it if it conflicts with another transaction (`MRT_BLOCKED`, `MRT_VERSION_MISMATCH`), or if the
        commit fails and nothing of it was applied. If `operation` raises anything else, its writes are rolled back.

        `max_attempts` includes the first attempt. `sleep_between_retries` is in seconds, or a timedelta; each pause is
        half to one and a half times as long, and there is none after an `MRT_VERSION_MISMATCH`. Both default to the
        cluster's `TransactionSettings`: 10 attempts, 20 ms.

        Raises what the last attempt raised.
        """
    @overload
    def info(self, command: None = None) -> InfoCommands:
        """Sends an info command to one of the nodes. Awaitable of a dict of answers by command. Without a command,
        returns an `InfoCommands` object, whose methods are the most common commands.
        """
    @overload
    def info(self, command: str) -> Awaitable[dict[str, str]]: ...
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> Awaitable[None]:
        """Removes all records of a set that were last written before `before_nanos`, in nanoseconds since 1970, or
        all current records if that is `None`. Awaitable of `None`.
        """
    def namespace_sc_status(self, namespace: str) -> Awaitable[NamespaceScStatus]:
        """Checks whether a namespace is in strong-consistency mode, and if not, why. Awaitable of a
        `NamespaceScStatus`. A namespace that the cluster does not have counts as not in that mode.
        """
    def is_namespace_sc(self, namespace: str) -> Awaitable[bool]:
        """Checks whether a namespace is in strong-consistency mode. Awaitable of a bool.

        Raises `InvalidNamespaceError` if the cluster does not have the namespace.
        """
    def create_index(
        self,
        dataset: DataSet,
        index_name: str,
        bin_name: str | None = None,
        index_type: IndexType | None = None,
        collection_type: CollectionIndexType | None = None,
        ctx: Sequence[CTX] | None = None,
        expression: FilterExpression | str | None = None,
    ) -> Awaitable[IndexTask]:
        """Creates a secondary index: on a bin, with `ctx` on what it selects there; or on what an `expression`
        evaluates to (a `FilterExpression`, or a text in the Aerospike Expression Language); or, without both, of the
        records of the set. `index_type` is needed but for an index of a set. Gives an `IndexTask`, which waits until it
        is built. For asyncio, an awaitable of it.

        Raises `InvalidArgumentError` for arguments that do not fit together.
        """
    def drop_index(self, dataset: DataSet, index_name: str) -> Awaitable[DropIndexTask]:
        """Drops a secondary index; gives a `DropIndexTask`. One that is not there is no error. For asyncio, an
        awaitable of the task.
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
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
        **settings: Unpack[_Settings],
    ) -> Awaitable[TableSummary]:
        """Writes a table with a writer of its own: each row is a record of `dataset`, its user key is in the column
        `key`.

        The arguments are those of `write_table` of a writer, but for `policy`, which is that of the session's behavior;
        others are settings of `writer()`. Gives a `TableSummary`; in asyncio, an awaitable of it.
        """

@disjoint_base
class SyncSession(
    _SessionVerbs[SyncWriteSegmentBuilder, SyncDataSetWriteBuilder],
    _Common[
        SyncQueryBuilder,
        SyncIndexBuilder,
        SyncClient | SyncCluster,
        SyncSession,
        SyncTransactionalSession,
        SyncUdfFunctionBuilder,
        SyncBackgroundTaskSession,
        SyncWriter,
    ],
    _Modules[RegisterTask, UdfRemoveTask, list[dict[str, str]]],
):
    """Reads and writes records with the policies of a behavior, on the calling thread. `create_session` makes one.
    Any number of threads may share it.
    """

    def get(self, key: Key, bins: Sequence[str] | None = None) -> Record:
        """Reads a record: all its bins, or only those of the list `bins`; an empty list reads none. Returns a `Record`.

        Raises `RecordNotFoundError` if the record does not exist.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> None:
        """Writes bins, given as a dict; a value of `None` removes its bin. Other bins of the record stay as they
        are.
        """
    def get_many(
        self, keys: Iterable[Key], bins: Sequence[str] | None = None, *, concurrency: int | None = None
    ) -> list[Record | Exception]:
        """Reads many records, each as `get` does, on threads, at most `concurrency` at a time (16 by default).
        Returns a list with, for each key in order, its `Record`, or the exception that `get` would have raised. For
        more than a few hundred records, a batch (`query(keys)`) costs less.
        """
    def put_many(
        self, keys: Iterable[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> list[Exception | None]:
        """Writes the same bins to many records, each as `put` does, on threads, at most `concurrency` at a time (16
        by default). Returns a list with, for each key in order, `None`, or the exception that `put` would have
        raised.
        """
    def do_in_transaction(
        self,
        operation: Callable[[SyncTransactionalSession], _T],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> _T:
        """Calls `operation` with a session in a new transaction, then commits: `session.do_in_transaction(transfer)`.
        Returns what `operation` returns.

        Repeats all of it if it conflicts with another transaction (`MRT_BLOCKED`, `MRT_VERSION_MISMATCH`), or if the
        commit fails and nothing of it was applied. If `operation` raises anything else, its writes are rolled back.

        `max_attempts` includes the first attempt. `sleep_between_retries` is in seconds, or a timedelta; each pause is
        half to one and a half times as long, and there is none after an `MRT_VERSION_MISMATCH`. Both default to the
        cluster's `TransactionSettings`: 10 attempts, 20 ms.

        Raises what the last attempt raised.
        """
    @overload
    def info(self, command: None = None) -> SyncInfoCommands:
        """Sends an info command to one of the nodes. Returns a dict of answers by command. Without a command,
        returns an `InfoCommands` object, whose methods are the most common commands.
        """
    @overload
    def info(self, command: str) -> dict[str, str]: ...
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> None:
        """Removes all records of a set that were last written before `before_nanos`, in nanoseconds since 1970, or
        all current records if that is `None`.
        """
    def namespace_sc_status(self, namespace: str) -> NamespaceScStatus:
        """Checks whether a namespace is in strong-consistency mode, and if not, why. Returns a `NamespaceScStatus`.
        A namespace that the cluster does not have counts as not in that mode.
        """
    def is_namespace_sc(self, namespace: str) -> bool:
        """Checks whether a namespace is in strong-consistency mode. Returns a bool.

        Raises `InvalidNamespaceError` if the cluster does not have the namespace.
        """
    def create_index(
        self,
        dataset: DataSet,
        index_name: str,
        bin_name: str | None = None,
        index_type: IndexType | None = None,
        collection_type: CollectionIndexType | None = None,
        ctx: Sequence[CTX] | None = None,
        expression: FilterExpression | str | None = None,
    ) -> IndexTask:
        """Creates a secondary index: on a bin, with `ctx` on what it selects there; or on what an `expression`
        evaluates to (a `FilterExpression`, or a text in the Aerospike Expression Language); or, without both, of the
        records of the set. `index_type` is needed but for an index of a set. Gives an `IndexTask`, which waits until it
        is built. For asyncio, an awaitable of it.

        Raises `InvalidArgumentError` for arguments that do not fit together.
        """
    def drop_index(self, dataset: DataSet, index_name: str) -> DropIndexTask:
        """Drops a secondary index; gives a `DropIndexTask`. One that is not there is no error. For asyncio, an
        awaitable of the task.
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
        record_exists_action: RecordExistsAction | None = None,
        durable_delete: bool | None = None,
        keep_failures: int | None = None,
        **settings: Unpack[_Settings],
    ) -> TableSummary:
        """Writes a table with a writer of its own: each row is a record of `dataset`, its user key is in the column
        `key`.

        The arguments are those of `write_table` of a writer, but for `policy`, which is that of the session's behavior;
        others are settings of `writer()`. Gives a `TableSummary`; in asyncio, an awaitable of it.
        """

class _InTransaction:
    """What sessions of both kinds have in a transaction."""

    @property
    def txn(self) -> Txn:
        """The transaction."""
    @property
    def active(self) -> bool:
        """Whether the transaction has not ended."""
    def get_current_transaction(self) -> Txn | None:
        """Returns the transaction, or `None` if it has ended. For code written for the first versions of the
        Aerospike SDK.
        """

@final
class TransactionalSession(_InTransaction, Session):
    """A session whose calls belong to one transaction (Enterprise Edition, namespaces in strong-consistency mode): all
    calls about records, and all builders that do not say `with_txn(..)`; queries of data sets do not.

    `async with session.transaction() as session:` commits at the end of the block, and takes all writes back when an
    exception leaves it. After that, its calls raise `TransactionError` with the code `TXN_ALREADY_COMMITTED` or
    `TXN_ALREADY_ABORTED`.
    """

    def commit(self) -> Awaitable[TxnStatus]:
        """Verifies what was read, and makes the writes visible. Awaitable of a `TxnStatus`.

        Raises `CommitError` if it cannot be committed, and `TransactionError` if it was aborted.
        """
    def abort(self) -> Awaitable[TxnStatus]:
        """Takes the writes back. Awaitable of a `TxnStatus`.

        Raises `TransactionError` if it was committed, or if a commit has failed in doubt.
        """
    def do_in_transaction(
        self,
        operation: Callable[[TransactionalSession], _Awaitable[_T]],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> Coroutine[Any, Any, _T]:
        """Calls `operation` with this session, and is an awaitable of what it returns. It joins the current
        transaction, and does not end it. Raises `TransactionError` if the transaction has ended.
        """
    def rollback(self) -> Awaitable[TxnStatus]:
        """Same as `abort`. For code written for the first versions of the Aerospike SDK."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

@final
class SyncTransactionalSession(_InTransaction, SyncSession):
    """A session whose calls belong to one transaction (Enterprise Edition, namespaces in strong-consistency mode): all
    calls about records, and all builders that do not say `with_txn(..)`; queries of data sets do not.

    `with session.transaction() as session:` commits at the end of the block, and takes all writes back when an
    exception leaves it. After that, its calls raise `TransactionError` with the code `TXN_ALREADY_COMMITTED` or
    `TXN_ALREADY_ABORTED`.
    """

    def commit(self) -> TxnStatus:
        """Verifies what was read, and makes the writes visible; gives a `TxnStatus`.

        Raises `CommitError` if it cannot be committed, and `TransactionError` if it was aborted.
        """
    def abort(self) -> TxnStatus:
        """Takes the writes back; gives a `TxnStatus`.

        Raises `TransactionError` if it was committed, or if a commit has failed in doubt.
        """
    def do_in_transaction(
        self,
        operation: Callable[[SyncTransactionalSession], _T],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> _T:
        """Calls `operation` with this session, and returns what it returns. It joins the current transaction, and
        does not end it. Raises `TransactionError` if the transaction has ended.
        """
    def rollback(self) -> TxnStatus:
        """Same as `abort`. For code written for the first versions of the Aerospike SDK."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

def _check_settings(settings: TransactionSettings | MetricsSettings) -> None: ...
