"""The native client."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, Unpack, final, overload

from ._awaitable import Awaitable
from ._batch import BatchDeleteOp, BatchReadOp, BatchRecords, BatchRecordStream, BatchUDFOp, BatchWriteOp
from ._call_policies import BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy
from ._client_policy import ClientPolicy
from ._dataset import DataSet
from ._enums import RecordExistsAction
from ._expiration import Expiration
from ._expression import FilterExpression
from ._metrics import ClusterMetrics, MetricsPolicy
from ._native_admin import _Administration
from ._node import NativeNode
from ._operations import BaseOperation
from ._query import (
    ArrowRecords,
    ExecuteTask,
    NumpyRecords,
    PartitionFilter,
    QueryPlan,
    Recordset,
    Statement,
    _ArrowSchema,
)
from ._step_policies import (
    BatchDeletePolicy,
    BatchReadPolicy,
    BatchUDFPolicy,
    BatchWritePolicy,
    TxnRollPolicy,
    TxnVerifyPolicy,
)
from ._txn import AbortStatus, CommitStatus, Txn
from ._values import Key, Record
from ._writer import SyncWriter, TableSummary, Writer, _Settings, _Table

@final
class NativeClient(_Administration):
    """A client for a cluster, for any number of threads and event loops. Made by `new_client` or
    `new_client_blocking`.
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
        * `service_time_us`: how long the node works on one single-record request, during which the connection answers
          no other. A mean in microseconds; None until it was measured.
        * `round_trip_us`: how long a single-record request takes when no other is in front of it on its connection. A
          mean in microseconds; None until it was measured.

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
        """A writer of many records, with the outcome of each one known, for asyncio."""
    def writer_blocking(self, **settings: Unpack[_Settings]) -> SyncWriter:
        """A writer of many records, with the outcome of each one known, for code without asyncio."""
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
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none."""
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
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none."""
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
        """Sets the TTL of a record anew (to the policy's expiration) and counts up its generation."""
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None:
        """Sets the TTL of a record anew (to the policy's expiration) and counts up its generation."""
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
        """Carries out several operations on one record, in order and as one. Gives a `Record` with their results."""
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
        """Carries out several operations on one record, in order and as one. Gives a `Record` with their results."""
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: None = None,
    ) -> Awaitable[BatchRecords]:
        """Reads many records: all bins, those of `bins`, or, with an empty list, none. Gives a list of
        `BatchRecord`, in the order of the keys; a record that does not exist has the result code of that.
        """
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: Any,
        as_arrow: None = None,
    ) -> Awaitable[NumpyRecords]: ...
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Mapping[str, str] | Iterable[tuple[str, str]] | _ArrowSchema,
    ) -> Awaitable[ArrowRecords]: ...
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: None = None,
    ) -> BatchRecords:
        """Reads many records: all bins, those of `bins`, or, with an empty list, none. Gives a list of
        `BatchRecord`, in the order of the keys; a record that does not exist has the result code of that.
        """
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: Any,
        as_arrow: None = None,
    ) -> NumpyRecords: ...
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Mapping[str, str] | Iterable[tuple[str, str]] | _ArrowSchema,
    ) -> ArrowRecords: ...
    def batch_write(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Writes to many records: to each key the bins of the same place in `bins_list`. Gives a list of
        `BatchRecord`.
        """
    def batch_write_blocking(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> BatchRecords:
        """Writes to many records: to each key the bins of the same place in `bins_list`. Gives a list of
        `BatchRecord`.
        """
    def batch_operate(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Carries out operations on many records: on each key those of the same place in `operations_list`. Gives a
        list of `BatchRecord`.
        """
    def batch_operate_blocking(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> BatchRecords:
        """Carries out operations on many records: on each key those of the same place in `operations_list`. Gives a
        list of `BatchRecord`.
        """
    def batch_delete(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Deletes many records. Gives a list of `BatchRecord`. Without `batch_policy` nothing is tried again."""
    def batch_delete_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> BatchRecords:
        """Deletes many records. Gives a list of `BatchRecord`. Without `batch_policy` nothing is tried again."""
    def batch_exists(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[bool]]:
        """Whether each of many records exists: a list of bools. Raises the error of a row that is neither."""
    def batch_exists_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[bool]:
        """Whether each of many records exists: a list of bools. Raises the error of a row that is neither."""
    def batch_get_header(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[Record | None]]:
        """Generation and expiration of many records: a list of `Record` without bins, `None` for those that do not
        exist. Raises the error of a row that is neither.
        """
    def batch_get_header_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[Record | None]:
        """Generation and expiration of many records: a list of `Record` without bins, `None` for those that do not
        exist. Raises the error of a row that is neither.
        """
    def batch_apply(
        self,
        keys: Iterable[Key],
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        udf_policy: BatchUDFPolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with
        the same `args` (a list, or None). Gives a list of `BatchRecord`: what the function returned is the bin
        `"SUCCESS"` of the row's record; a row whose function failed has a `UdfError` with the server's message
        (file, line, what was wrong).
        """
    def batch_apply_blocking(
        self,
        keys: Iterable[Key],
        udf_name: str,
        function_name: str,
        args: Sequence[Any] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        udf_policy: BatchUDFPolicy | None = None,
    ) -> BatchRecords:
        """Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with
        the same `args` (a list, or None). Gives a list of `BatchRecord`: what the function returned is the bin
        `"SUCCESS"` of the row's record; a row whose function failed has a `UdfError` with the server's message
        (file, line, what was wrong).
        """
    def batch(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Carries out rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`. Gives a list
        of `BatchRecord`.
        """
    def batch_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecords:
        """Carries out rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`. Gives a list
        of `BatchRecord`.
        """
    def batch_stream(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecordStream]:
        """`batch` whose rows come as the nodes answer: gives a `BatchRecordStream` of pairs, the row's place in
        `ops` and its `BatchRecord`. Refuses transactions (`InvalidArgumentError`).
        """
    def batch_stream_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecordStream:
        """`batch` whose rows come as the nodes answer: gives a `BatchRecordStream` of pairs, the row's place in
        `ops` and its `BatchRecord`. Refuses transactions (`InvalidArgumentError`).
        """
    def query(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Awaitable[Recordset]:
        """Starts a query: gives a `Recordset`, whose records come as it is iterated over."""
    def query_blocking(
        self,
        statement: Statement,
        partition_filter: PartitionFilter | None = None,
        *,
        policy: QueryPolicy | None = None,
    ) -> Recordset:
        """Starts a query: gives a `Recordset`, whose records come as it is iterated over."""
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
        """
    def query_operate(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> Awaitable[ExecuteTask]:
        """Carries out operations that write on all records that a query finds, on the servers, in the background.
        Gives an `ExecuteTask` to wait for.
        """
    def query_operate_blocking(
        self, statement: Statement, operations: Sequence[BaseOperation], *, write_policy: WritePolicy | None = None
    ) -> ExecuteTask:
        """Carries out operations that write on all records that a query finds, on the servers, in the background.
        Gives an `ExecuteTask` to wait for.
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
        """
    def commit(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> Awaitable[CommitStatus]:
        """Commits a transaction: verifies that what it has read has not changed, and makes what it has written
        visible. Gives a `CommitStatus`.
        """
    def commit_blocking(
        self, txn: Txn, *, verify_policy: TxnVerifyPolicy | None = None, roll_policy: TxnRollPolicy | None = None
    ) -> CommitStatus:
        """Commits a transaction: verifies that what it has read has not changed, and makes what it has written
        visible. Gives a `CommitStatus`.
        """
    def abort(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> Awaitable[AbortStatus]:
        """Aborts a transaction: what it has written is taken back. Gives an `AbortStatus`."""
    def abort_blocking(self, txn: Txn, *, roll_policy: TxnRollPolicy | None = None) -> AbortStatus:
        """Aborts a transaction: what it has written is taken back. Gives an `AbortStatus`."""

@final
class _LocalClient:
    """A blocking client, to be used by the thread that made it or by any other."""

    def __new__(cls, policy: ClientPolicy, seeds: str) -> Self: ...
    @property
    def cluster_name(self) -> str | None:
        """The cluster's name as the policy asks for it."""
    @property
    def server_cluster_name(self) -> str | None:
        """The cluster's name as its nodes report it."""
    def is_strong_consistency(self, namespace: str) -> bool | None:
        """Whether a namespace is in strong-consistency mode; `None` for one that the cluster does not have."""
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
        """As `Client.get_blocking`."""
    def put_blocking(
        self,
        key: Key,
        bins: Mapping[str, Any],
        *,
        policy: WritePolicy | None = None,
        policy_sc: WritePolicy | None = None,
        txn: Txn | None = None,
    ) -> None:
        """As `Client.put_blocking`."""
    def delete_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> bool:
        """As `Client.delete_blocking`."""
    def touch_blocking(self, key: Key, *, policy: WritePolicy | None = None) -> None:
        """As `Client.touch_blocking`."""
    def exists_blocking(self, key: Key, *, policy: ReadPolicy | None = None) -> bool:
        """As `Client.exists_blocking`."""
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
        """As `Client.operate_blocking`."""
    def info_blocking(self, command: str) -> dict[str, str]:
        """As `Client.info_blocking`."""
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

def new_client(policy: ClientPolicy, seeds: str) -> Coroutine[Any, Any, NativeClient]:
    """Connects to the cluster that the seeds belong to. A coroutine of a `Client`."""

def new_client_blocking(policy: ClientPolicy, seeds: str) -> NativeClient:
    """Connects to the cluster that the seeds belong to, and gives a `Client`. As `new_client`, for code without
    async.
    """
