"""The native client."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, Unpack, final

from ._awaitable import Awaitable
from ._call_policies import QueryPolicy, ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._dataset import DataSet
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._metrics import ClusterMetrics, MetricsPolicy
from ._native_admin import _Administration
from ._native_batch import _Batches
from ._node import NativeNode
from ._operations import BaseOperation
from ._query import (
    ExecuteTask,
    PartitionFilter,
    QueryPlan,
    Recordset,
    Statement,
)
from ._step_policies import (
    TxnRollPolicy,
    TxnVerifyPolicy,
)
from ._txn import AbortStatus, CommitStatus, Txn
from ._values import Key, Record
from ._writer import SyncWriter, TableSummary, Writer, _Settings, _Table

@final
class NativeClient(_Batches, _Administration):
    """A client for a cluster, for any number of threads and event loops. Made by `new_client` or `new_client_blocking`.

    Each method that talks to the cluster gives an awaitable; its twin `.._blocking` does the same on the calling
    thread, with the GIL released meanwhile. A policy that is not given is the default one. Closing it, leaving it as a
    context manager and dropping the last reference to it close all connections; what is called after that raises the
    error of a closed client.
    """

    @property
    def cluster_name(self) -> str | None:
        """The cluster's name as the policy asks for it."""
    @property
    def server_cluster_name(self) -> str | None:
        """The cluster's name as its nodes report it."""
    def seeds(self) -> str:
        """The addresses that the client was made with."""
    @staticmethod
    def client_version() -> str:
        """The version of Aerolane."""
    @staticmethod
    def core_version() -> str:
        """The version of aerospike-core beneath, which carries out what is rare."""
    def is_strong_consistency(self, namespace: str) -> bool | None:
        """Whether a namespace is in strong-consistency mode; `None` for one that the cluster does not have."""
    def is_connected(self) -> bool:
        """Whether the client is open and knows an active node."""
    def nodes(self) -> list[NativeNode]:
        """The active nodes."""
    def node_names(self) -> list[str]:
        """The names of the active nodes."""
    def get_node(self, name: str) -> NativeNode:
        """The active node of this name. Raises the error of an invalid node when there is none."""
    def stats(self) -> dict[str, Any]:
        """Returns counts of connections and requests as a dict: `nodes` (a list with a dict for each node), `total`,
        `loop_busy` and `topology_version`.

        Gauges: connections `open`, `idle`, `busy`, `opening`; requests `in_flight`, `queued`, `orphans` (in flight, but
        the caller has given up); and, for calls from asyncio, how the client adapts to the speed of a node:

        * `in_use`: the connections over which requests are spread. At most `open`.
        * `service_time_us`: how long the node works on one single-record request, during which the connection
          answers no other. A mean in microseconds; None until it was measured.
        * `round_trip_us`: how long a single-record request takes when no other is in front of it on its connection.
          A mean in microseconds; None until it was measured.

        Both times of `total` are means, weighted by `in_use`. The other counts only grow. Blocking calls are not part
        of `in_use` and the times. What event loops count is up to 0.1 s old.

        `loop_busy` tells how often the program kept an event loop busy for 0.1 s and more while requests were under way
        (`count`), and for how many seconds (`total`, `longest`).
        """
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None:
        """Switches metrics on, or changes their policy (`None`: the default one). Calls that are under way are not
        measured. Another `latency_unit` drops what was measured.
        """
    def disable_metrics(self) -> None:
        """Switches metrics off. What was measured stays."""
    def metrics_enabled(self) -> bool:
        """Whether metrics are on."""
    def metrics(self) -> ClusterMetrics:
        """The metrics at this moment: a `ClusterMetrics`. Takes some hundred microseconds; not to be called for
        every operation.
        """
    def writer(self, **settings: Unpack[_Settings]) -> Writer:
        """A writer of many records, with the outcome of each one known, for asyncio. Its settings are those of
        `Session.writer`; records without a policy of their own have the default one.
        """
    def writer_blocking(self, **settings: Unpack[_Settings]) -> SyncWriter:
        """As `writer`, for code without asyncio."""
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
        **settings: Unpack[_Settings],
    ) -> Awaitable[TableSummary]:
        """Writes a table with a writer of its own, whose settings are the other arguments; see `write_table` of
        writers. Awaitable of a `TableSummary`.
        """
    def write_table_blocking(
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
        **settings: Unpack[_Settings],
    ) -> TableSummary:
        """As `write_table`, on the calling thread. Gives a `TableSummary`."""
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations under way fail with the error of a closed client. A second call does
        nothing. Awaitable.
        """
    def close_blocking(self) -> None:
        """Closes all connections. Operations under way fail with the error of a closed client. A second call does
        nothing.
        """
    def exists_legacy(
        self, key: Key, *, policy: ReadPolicy | None = None
    ) -> Awaitable[tuple[Key, dict[str, int] | None]]:
        """Whether a record exists, in the form of older clients: an awaitable of `(key, {"gen": .., "ttl": ..})`,
        with `None` in place of the metadata when there is no record.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...
    def get(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[Record]:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces. Gives a `Record`; raises
        `RecordNotFoundError` when there is none.
        """
    def get_blocking(
        self,
        key: Key,
        bins: Sequence[str] | None = None,
        *,
        policy: ReadPolicy | None = None,
        policy_sc: ReadPolicy | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces. Gives a `Record`; raises
        `RecordNotFoundError` when there is none.
        """
    def put(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[None]:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are, unless `policy.record_exists_action` says otherwise.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces.
        """
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> None:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are, unless `policy.record_exists_action` says otherwise.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces.
        """
    def add(
        self,
        key: Key,
        bins: Mapping[str, int | float],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]:
        """Adds numbers to bins. A missing bin, or record, counts as 0."""
    def add_blocking(
        self,
        key: Key,
        bins: Mapping[str, int | float],
        *,
        policy: WritePolicy | None = None,
    ) -> None:
        """Adds numbers to bins. A missing bin, or record, counts as 0."""
    def append(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]:
        """Appends strings or bytes to bins."""
    def append_blocking(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> None:
        """Appends strings or bytes to bins."""
    def prepend(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[None]:
        """Prepends strings or bytes to bins."""
    def prepend_blocking(
        self,
        key: Key,
        bins: Mapping[str, str | bytes],
        *,
        policy: WritePolicy | None = None,
    ) -> None:
        """Prepends strings or bytes to bins."""
    def delete(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[bool]:
        """Deletes a record; gives whether it existed."""
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool:
        """Deletes a record; gives whether it existed."""
    def touch(self, key: Key, *, policy: WritePolicy | None = None) -> Awaitable[None]:
        """Sets the TTL of a record anew (to the policy's expiration) and counts up its generation.

        Raises `RecordNotFoundError` when there is no record.
        """
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None:
        """Sets the TTL of a record anew (to the policy's expiration) and counts up its generation.

        Raises `RecordNotFoundError` when there is no record.
        """
    def exists(self, key: Key, *, policy: ReadPolicy | None = None) -> Awaitable[bool]:
        """Whether a record exists."""
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool:
        """Whether a record exists."""
    def operate(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Awaitable[Record]:
        """Carries out several operations on one record, in order and as one. Gives a `Record` with their results.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces; `record_exists_action`,
        `expiration`, `generation` (expected to be equal) and `durable_delete` go before what the policy says.
        """
    def operate_blocking(
        self,
        key: Key,
        operations: Sequence[BaseOperation],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        record_exists_action: RecordExistsAction | None = None,
        expiration: Expiration | None = None,
        generation: int | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Record:
        """Carries out several operations on one record, in order and as one. Gives a `Record` with their results.

        `policy_sc` is used in place of `policy` in strongly consistent namespaces; `record_exists_action`,
        `expiration`, `generation` (expected to be equal) and `durable_delete` go before what the policy says.
        """
    def query(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]:
        """Starts a query: gives a `Recordset`, whose records come as it is iterated over.

        `statement` says what is asked for. `partition_filter`: which partitions are read, and from where on (`None`:
        all); the query moves it on, so the next query with it goes on there. Raises the error of an unknown namespace
        at once; errors of the servers come out of the iteration.
        """
    def query_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset:
        """Starts a query: gives a `Recordset`, whose records come as it is iterated over.

        `statement` says what is asked for. `partition_filter`: which partitions are read, and from where on (`None`:
        all); the query moves it on, so the next query with it goes on there. Raises the error of an unknown namespace
        at once; errors of the servers come out of the iteration.
        """
    def query_explain(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[QueryPlan]:
        """Asks the servers how they would find the records for which `ael`, an expression as text, is true: gives a
        `QueryPlan`. Servers from 8.2 on (`Version.supports_query_selection`).

        `set_name`: only the records of this set; `None`: of all sets. `index_name_hint`: an index to prefer.
        `explain_where_flags`: bits of `QueryWhereFlags`; `None`: only `EXPLAIN`.

        Raises `AerospikeError` with the result code `UNSUPPORTED_FEATURE` if a node is older (nothing is sent then),
        `InvalidArgumentError` (a `ValueError`) for a blank condition, unknown flags, flags without `EXPLAIN`, and
        `HARD_HINT` without a hint, and what the server says to a condition that it cannot read or an index that it
        cannot use.
        """
    def query_explain_blocking(
        self,
        namespace: str,
        ael: str,
        *,
        set_name: str | None = None,
        index_name_hint: str | None = None,
        explain_where_flags: int | None = None,
        policy: QueryPolicy | None = None,
    ) -> QueryPlan:
        """Asks the servers how they would find the records for which `ael`, an expression as text, is true: gives a
        `QueryPlan`. Servers from 8.2 on (`Version.supports_query_selection`).

        `set_name`: only the records of this set; `None`: of all sets. `index_name_hint`: an index to prefer.
        `explain_where_flags`: bits of `QueryWhereFlags`; `None`: only `EXPLAIN`.

        Raises `AerospikeError` with the result code `UNSUPPORTED_FEATURE` if a node is older (nothing is sent then),
        `InvalidArgumentError` (a `ValueError`) for a blank condition, unknown flags, flags without `EXPLAIN`, and
        `HARD_HINT` without a hint, and what the server says to a condition that it cannot read or an index that it
        cannot use.
        """
    def query_with_plan(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]:
        """Starts a query by a plan of `query_explain`: gives a `Recordset`, as `query` does. The plan brings the
        condition and the index; `statement` says which bins come, or which operations are carried out.

        Raises `InvalidArgumentError` (a `ValueError`) if the statement has another namespace or set than the plan, or a
        filter, or the policy a filter expression; `FilteredOutError` if the plan says that no record can match; and
        what `query` raises.
        """
    def query_with_plan_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None,
        plan: QueryPlan,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset:
        """Starts a query by a plan of `query_explain`: gives a `Recordset`, as `query` does. The plan brings the
        condition and the index; `statement` says which bins come, or which operations are carried out.

        Raises `InvalidArgumentError` (a `ValueError`) if the statement has another namespace or set than the plan, or a
        filter, or the policy a filter expression; `FilteredOutError` if the plan says that no record can match; and
        what `query` raises.
        """
    def query_operate(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> Awaitable[ExecuteTask]:
        """Carries out operations that write on all records that a query finds, on the servers, in the background. Gives
        an `ExecuteTask` to wait for.

        `write_policy.records_per_second` limits it. Raises the error of the first node that does not take it; others
        may carry it out then (`in_doubt`).
        """
    def query_operate_blocking(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> ExecuteTask:
        """Carries out operations that write on all records that a query finds, on the servers, in the background. Gives
        an `ExecuteTask` to wait for.

        `write_policy.records_per_second` limits it. Raises the error of the first node that does not take it; others
        may carry it out then (`in_doubt`).
        """
    def query_execute_udf(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> Awaitable[ExecuteTask]:
        """Applies a function of a UDF module to all records that a query finds, on the servers, in the background.
        Gives an `ExecuteTask` to wait for. `package_name`: the module's name without `.lua`.
        """
    def query_execute_udf_blocking(
        self,
        statement: Statement,
        package_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        write_policy: WritePolicy | None = None,
    ) -> ExecuteTask:
        """Applies a function of a UDF module to all records that a query finds, on the servers, in the background.
        Gives an `ExecuteTask` to wait for. `package_name`: the module's name without `.lua`.
        """
    def execute_udf(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Awaitable[Any]:
        """Applies a function of a UDF module to one record; gives what it returns. `server_path`: the module's name
        without `.lua`. `args`: a list.

        Raises `UdfError` when the function fails, with the server's message: file, line, what was wrong.
        """
    def execute_udf_blocking(
        self,
        key: Key,
        server_path: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        policy: WritePolicy | None = None,
    ) -> Any:
        """Applies a function of a UDF module to one record; gives what it returns. `server_path`: the module's name
        without `.lua`. `args`: a list.

        Raises `UdfError` when the function fails, with the server's message: file, line, what was wrong.
        """
    def commit(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> Awaitable[CommitStatus]:
        """Commits a transaction: verifies that what it has read has not changed, and makes what it has written visible.
        Gives a `CommitStatus`.

        Raises `CommitFailedError` when it could not be committed, with the stage as `commit_error_type`; once
        `txn.state` is `COMMIT_FAILED`, only another commit can tell what became of it. Raises `TransactionError` for a
        transaction that was aborted.
        """
    def commit_blocking(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> CommitStatus:
        """Commits a transaction: verifies that what it has read has not changed, and makes what it has written visible.
        Gives a `CommitStatus`.

        Raises `CommitFailedError` when it could not be committed, with the stage as `commit_error_type`; once
        `txn.state` is `COMMIT_FAILED`, only another commit can tell what became of it. Raises `TransactionError` for a
        transaction that was aborted.
        """
    def abort(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> Awaitable[AbortStatus]:
        """Aborts a transaction: what it has written is taken back. Gives an `AbortStatus`.

        Raises `TransactionError` for one that was committed, or whose commit failed in doubt.
        """
    def abort_blocking(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> AbortStatus:
        """Aborts a transaction: what it has written is taken back. Gives an `AbortStatus`.

        Raises `TransactionError` for one that was committed, or whose commit failed in doubt.
        """

def new_client(policy: ClientPolicy, seeds: str) -> Coroutine[Any, Any, NativeClient]:
    """Connects to the cluster that the seeds belong to. A coroutine of a `Client`.

    `seeds` is one or several addresses, `"host:port,host:port"`; 3000 is the default port.

    Raises `ConnectionError` when no seed can be used, with the reason of each; `ValueError` for seeds or policies that
    cannot work.
    """

def new_client_blocking(policy: ClientPolicy, seeds: str) -> NativeClient:
    """Connects to the cluster that the seeds belong to, and gives a `Client`. As `new_client`, for code without
    async.
    """
