"""Sessions, for asyncio and (`Sync..`) for code without it."""

from collections.abc import Awaitable as _Awaitable
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
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
    def query(self, keys: DataSet, /) -> _Query:
        """Reads records: those of a `Key`, of several or of a list of keys, or what is found in a `DataSet`."""
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> _Query: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> _Query: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> _Query: ...
    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> _Index:
        """A secondary index of a data set, said step by step: an `IndexBuilder`."""
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

class NamespaceScStatus(NamedTuple):
    """Whether a namespace is in strong-consistency mode (`is_sc`), and if it is not, why (`detail`)."""

    is_sc: bool
    detail: str

class _Common(
    _Begins[_Query, _Index],
    Generic[_Query, _Index, _Opener, _Session, _Transactional, _Udf, _Background, _W],
):
    """What both kinds of session have."""

    @property
    def client(self) -> _Opener:
        """The client or cluster that the session was opened with."""
    def batch(self) -> Self:
        """This session: a chain of its verbs is one batch,
        `session.batch().upsert(a).put({..}).delete(b).execute()`. For code written for the first versions of the SDK
        of Aerospike.
        """
    def transaction(self) -> _Transactional:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def begin_transaction(self) -> _Transactional:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def transaction_session(self) -> _Transactional:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    @property
    def current_transaction(self) -> Txn | None:
        """The transaction that calls of this session belong to, a `Txn`; `None`: none."""
    def get_current_transaction(self) -> Txn | None:
        """As `current_transaction`, for code written for the first versions of the SDK of Aerospike."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> _Udf:
        """Applies a function of a UDF module to records: `execute_udf(key).function("module", "name").passing(1)`."""
    @property
    def behavior(self) -> Behavior:
        """The behavior that the policies come from."""
    def session_for(self, behavior: Behavior) -> _Session:
        """Another session of the same cluster, with another behavior."""
    def writer(self, **settings: Unpack[_Settings]) -> _W:
        """A writer of many records, with the outcome of each one known."""
    def background_task(self) -> _Background:
        """What the servers do with all records of a set, in the background."""

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
    """Reads and writes with the policies of a behavior, from asyncio. Made by `create_session`."""

    def do_in_transaction(
        self,
        operation: Callable[[TransactionalSession], _Awaitable[_T]],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> Coroutine[Any, Any, _T]:
        """Calls an async function with a session in a new transaction, and commits; once more after conflicts."""
    def get(self, key: Key, bins: Sequence[str] | None = None) -> Awaitable[Record]:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Awaitable
        of a `Record`.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> Awaitable[None]:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are. Awaitable of `None`.
        """
    @overload
    def info(self, command: None = None) -> InfoCommands:
        """Sends an info command to one of the nodes. Awaitable of the answers by command, a dict. Without a command
        (or with `None`) it gives `InfoCommands` at once: the commands that programs ask most, as methods.
        """
    @overload
    def info(self, command: str) -> Awaitable[dict[str, str]]: ...
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> Awaitable[None]:
        """Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`:
        all there are now. Awaitable of `None`.
        """
    def get_many(
        self, keys: Sequence[Key], bins: Sequence[str] | None = None, *, concurrency: int | None = None
    ) -> Awaitable[list[Record | Exception]]:
        """Reads many records, each as `get` does: all at once, or `concurrency` at a time. Awaitable of a list: for
        each key, in order, its `Record` or the exception that `get` would have raised.
        """
    def put_many(
        self, keys: Sequence[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> Awaitable[list[Exception | None]]:
        """Writes the same bins to many records, each as `put` does: all at once, or `concurrency` at a time.
        Awaitable of a list: for each key, in order, `None` or the exception that `put` would have raised.
        """
    def namespace_sc_status(self, namespace: str) -> Awaitable[NamespaceScStatus]:
        """Whether a namespace is in strong-consistency mode, and if not, why: awaitable of a `NamespaceScStatus`. A
        namespace that the cluster does not have is none.
        """
    def is_namespace_sc(self, namespace: str) -> Awaitable[bool]:
        """Whether a namespace is in strong-consistency mode. Awaitable of a bool."""
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
        """Creates a secondary index: on a bin, or an expression, or, without both, of the records of the set."""
    def drop_index(self, dataset: DataSet, index_name: str) -> Awaitable[DropIndexTask]:
        """Drops a secondary index."""

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
    """Reads and writes with the policies of a behavior, on the calling thread. Made by `create_session`. Any number
    of threads may use one session.
    """

    def do_in_transaction(
        self,
        operation: Callable[[SyncTransactionalSession], _T],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> _T:
        """Calls a function with a session in a new transaction, and commits; once more after conflicts."""
    def get(self, key: Key, bins: Sequence[str] | None = None) -> Record:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Gives a
        `Record`.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> None:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are.
        """
    @overload
    def info(self, command: None = None) -> SyncInfoCommands:
        """Sends an info command to one of the nodes; gives the answers by command, a dict. Without a command (or
        with `None`) it gives `InfoCommands`: the commands that programs ask most, as methods.
        """
    @overload
    def info(self, command: str) -> dict[str, str]: ...
    def get_many(
        self, keys: Sequence[Key], bins: Sequence[str] | None = None, *, concurrency: int | None = None
    ) -> list[Record | Exception]:
        """Reads many records, each as `get` does, on threads: at most `concurrency` at a time (default 16). Gives a
        list: for each key, in order, its `Record` or the exception that `get` would have raised. For more than some
        hundred records a batch, `query(keys)`, costs less.
        """
    def put_many(
        self, keys: Sequence[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> list[Exception | None]:
        """Writes the same bins to many records, each as `put` does, on threads: at most `concurrency` at a time
        (default 16). Gives a list: for each key, in order, `None` or the exception that `put` would have raised.
        """
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> None:
        """Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`:
        all there are now.
        """
    def namespace_sc_status(self, namespace: str) -> NamespaceScStatus:
        """Whether a namespace is in strong-consistency mode, and if not, why: a `NamespaceScStatus`. A namespace
        that the cluster does not have is none.
        """
    def is_namespace_sc(self, namespace: str) -> bool:
        """Whether a namespace is in strong-consistency mode."""
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
        """Creates a secondary index: on a bin, or an expression, or, without both, of the records of the set."""
    def drop_index(self, dataset: DataSet, index_name: str) -> DropIndexTask:
        """Drops a secondary index."""

class _InTransaction:
    """What both kinds of session in a transaction have."""

    @property
    def txn(self) -> Txn:
        """The transaction."""
    def get_current_transaction(self) -> Txn | None:
        """The transaction, or `None` when it is over: for code written for the first versions of the SDK of
        Aerospike.
        """
    @property
    def active(self) -> bool:
        """Whether it is not over."""

@final
class TransactionalSession(_InTransaction, Session):
    """A session whose calls belong to one transaction."""

    def commit(self) -> Awaitable[TxnStatus]:
        """Verifies what was read, and makes the writes visible. Awaitable of a `TxnStatus`."""
    def abort(self) -> Awaitable[TxnStatus]:
        """Takes the writes back. Awaitable of a `TxnStatus`."""
    def rollback(self) -> Awaitable[TxnStatus]:
        """As `abort`, for code written for the first versions of the SDK of Aerospike."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

@final
class SyncTransactionalSession(_InTransaction, SyncSession):
    """A session whose calls belong to one transaction."""

    def commit(self) -> TxnStatus:
        """Verifies what was read, and makes the writes visible; gives a `TxnStatus`."""
    def abort(self) -> TxnStatus:
        """Takes the writes back; gives a `TxnStatus`."""
    def rollback(self) -> TxnStatus:
        """As `abort`, for code written for the first versions of the SDK of Aerospike."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

def _check_settings(settings: TransactionSettings | MetricsSettings) -> None: ...
