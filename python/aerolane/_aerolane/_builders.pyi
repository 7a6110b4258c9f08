"""Builders: what a session does with records, said step by step."""

from collections.abc import Coroutine, Generator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, final, overload

from ._ael import AelIndexContext
from ._awaitable import Awaitable
from ._base_policy import BasePolicy
from ._call_policies import QueryPolicy, ReadPolicy
from ._dataset import DataSet
from ._enums import QueryDuration, Replica
from ._expression import FilterExpression
from ._operations import BaseOperation
from ._query import ExecuteTask, Filter, PartitionFilter
from ._results import RecordResult, RecordStream, SyncRecordStream, _OnError
from ._steps import QueryBinBuilder, WriteBinBuilder
from ._txn import Txn
from ._values import Key, _UserKey

# What a verb gives.
_S_co = TypeVar("_S_co", covariant=True)
# The same for the rows of a data set.
_T_co = TypeVar("_T_co", covariant=True)

class _Verbs(Generic[_S_co]):
    """What can be done with records that are given by their keys: a key, several, or a list of them."""

    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins; creates the record if it is missing. Other bins stay as they are."""
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins of a new record. Fails with `RecordExistsError` if there is one."""
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins of a record that exists. Fails with `RecordNotFoundError` if there is none."""
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins in place of all that the record has; creates it if it is missing."""
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins in place of all that the record has. Fails with `RecordNotFoundError` if there is none."""
    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Deletes records. The result of one that was missing has the code `KEY_NOT_FOUND_ERROR`."""
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Renews when records expire, and counts up their generation."""
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Asks whether records exist: `as_bool()` of a result tells."""

class _SessionVerbs(Generic[_S_co, _T_co]):
    """As `_Verbs`, and for the rows of a data set. Code for the SDK's first versions may name what a verb
    is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`."""

    @overload
    def upsert(self, keys: DataSet, /) -> _T_co:
        """Writes bins; creates the record if it is missing. Other bins stay as they are."""
    @overload
    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def upsert(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def insert(self, keys: DataSet, /) -> _T_co:
        """Writes bins of a new record. Fails with `RecordExistsError` if there is one."""
    @overload
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def insert(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def update(self, keys: DataSet, /) -> _T_co:
        """Writes bins of a record that exists. Fails with `RecordNotFoundError` if there is none. Other bins stay as
        they are.
        """
    @overload
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def update(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def replace(self, keys: DataSet, /) -> _T_co:
        """Writes bins in place of all that the record has; creates it if it is missing."""
    @overload
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def replace(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins in place of all that the record has. Fails with `RecordNotFoundError` if there is none."""
    @overload
    def replace_if_exists(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Deletes records. The result of one that was missing has the code `KEY_NOT_FOUND_ERROR`."""
    @overload
    def delete(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Renews when records expire, and counts up their generation. The result of one that was missing has the
        code `KEY_NOT_FOUND_ERROR`.
        """
    @overload
    def touch(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Asks whether records exist: `as_bool()` of a result tells."""
    @overload
    def exists(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...

class _Defaults:
    """What holds for a whole chain."""

    def default_where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """The filter of all operations that have none of their own: as `where` takes it."""
    def with_txn(self, txn: Txn | None) -> Self:
        """The transaction that the whole chain belongs to; `None`: none, also in a session that has one."""
    def fail_on_filtered_out(self) -> Self:
        """Makes records for which a filter is not true failures (`FilteredOutError`)."""
    def default_expire_record_after_seconds(self, seconds: int) -> Self:
        """When records expire, for all operations that say nothing themselves: in so many seconds."""
    def default_expire_record_after(self, duration: timedelta) -> Self:
        """When records expire, for all operations that say nothing themselves: after a timedelta."""
    def default_expire_record_at(self, when: datetime) -> Self:
        """When records expire, for all operations that say nothing themselves: at a datetime."""
    def default_never_expire(self) -> Self:
        """Records never expire, for all operations that say nothing themselves."""
    def default_with_no_change_in_expiration(self) -> Self:
        """Records expire as before, for all operations that say nothing themselves."""
    def default_expiry_from_server_default(self) -> Self:
        """Records expire as the server is configured, for all operations that say nothing themselves."""

class _Chain(_Defaults):
    """What holds for a whole chain, and for its present operation."""

    def where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """Has the present operation leave records alone for which a filter is not true."""
    def include_missing_keys(self) -> Self:
        """Has reads give a result for records that do not exist, too."""
    def respond_all_keys(self) -> Self:
        """As `include_missing_keys`, for code for the SDK's first versions."""
    def add_operation(self, op: BaseOperation) -> Self:
        """Adds an operation of `aerolane.native` (`ListOperation`, `MapOperation`, ..)."""

class _Query(_Chain):
    """What is read."""

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> Self:
        """Reads other records, too, in the same call."""
    @overload
    def bins(self, bin_names: Sequence[str], /) -> Self:
        """Reads only these bins: `bins("a", "b")` or `bins(["a", "b"])`."""
    @overload
    def bins(self, *bin_names: str) -> Self: ...
    def with_no_bins(self) -> Self:
        """Reads no bins: generation and expiration only."""
    def with_op_projection(self, *ops: BaseOperation) -> Self:
        """Reads what operations of `aerolane.native` answer, in place of bins."""
    def bin(self, bin_name: str) -> QueryBinBuilder[Self]:
        """Reads something of one bin: the methods of what this gives say what."""
    def filter(self, filter_obj: Filter) -> Self:
        """Reads what a secondary index finds: a `Filter`. Only for queries of a data set, once."""
    def partition(self, partition_filter: PartitionFilter) -> Self:
        """Reads these partitions only; of records that are given by their keys, those that are in them."""
    def on_partition(self, part_id: int) -> Self:
        """Reads one partition only: 0 to 4095."""
    def on_partition_range(self, start_incl: int, end_excl: int) -> Self:
        """Reads the partitions from `start_incl` to before `end_excl`."""
    def chunk_size(self, chunk_size: int) -> Self:
        """Reads at most so many records at a time: `has_more_chunks()` of the stream goes on with the next ones."""
    def limit(self, limit: int) -> Self:
        """Reads at most so many records, in all; of records that are given by their keys, the first so many of all
        keys of the chain.
        """
    def records_per_second(self, rps: int) -> Self:
        """Reads at most so many records per second and node; 0: no limit."""
    def with_hint(self, hint: QueryHint) -> Self:
        """What a query of a data set prefers, a `QueryHint`: once."""
    def effective_allow_scans_with_where(self) -> bool:
        """Whether the query may read all records of its set when no index serves the text of `where()`: what its
        hint says, otherwise the behavior (`allow_scans_with_where`).
        """
    def filter_expression(self, expression: FilterExpression) -> Self:
        """As `where`, for code for the SDK's first versions."""
    def max_records(self, max_records: int) -> Self:
        """As `limit`, for code for the SDK's first versions."""
    def on_partitions(self, *partition_ids: int) -> Self:
        """Reads these partitions only, which must follow each other: for code for the SDK's first versions."""
    def expected_duration(self, duration: QueryDuration) -> Self:
        """How long the query is expected to take: for code for the SDK's first versions."""
    def replica(self, replica: Replica) -> Self:
        """Which node of a partition is asked: for code for the SDK's first versions."""
    def with_index_context(self, index_context: AelIndexContext) -> Self:
        """The indexes that may serve the text of `where()`: for code for the SDK's first versions."""
    def with_policy(self, policy: QueryPolicy) -> Self:
        """Takes a policy in place of what the behavior says: for code for the SDK's first versions."""
    def with_read_policy(self, policy: ReadPolicy) -> Self:
        """Takes a policy of reads in place of what the behavior says: for code for the SDK's first versions."""
    def base_policy(self, base_policy: BasePolicy) -> Self:
        """Takes timeouts, retries and the like from a policy: for code for the SDK's first versions."""
    def with_write_operations(self, operations: Iterable[BaseOperation]) -> Self:
        """Operations that write, for `execute_background_task`: for code for the SDK's first versions."""

class _Expiring:
    """When the records of one operation expire, and what deletes leave."""

    def expire_record_after_seconds(self, seconds: int) -> Self:
        """Records expire in so many seconds: 1 to 315,360,000."""
    def expire_record_after(self, duration: timedelta) -> Self:
        """Records expire after a timedelta."""
    def expire_record_at(self, when: datetime) -> Self:
        """Records expire at a datetime; without a time zone it is one of local time."""
    def never_expire(self) -> Self:
        """Records never expire."""
    def with_no_change_in_expiration(self) -> Self:
        """Records expire as before."""
    def expiry_from_server_default(self) -> Self:
        """Records expire as the server is configured."""
    def with_durable_delete(self) -> Self:
        """Has deletes of the present operation leave a tombstone (Enterprise Edition)."""
    def without_durable_delete(self) -> Self:
        """Has deletes of the present operation leave no tombstone."""
    def default_with_durable_delete(self) -> Self:
        """Has deletes leave a tombstone, for all operations that say nothing themselves."""
    def default_without_durable_delete(self) -> Self:
        """Has deletes leave no tombstone, for all operations that say nothing themselves."""

class _WriteSegment(_Expiring, _Chain):
    """What is done with records that are given by their keys."""

    def put(self, bins: Mapping[str, Any]) -> Self:
        """Writes bins, a dict of values by name; a value of `None` removes its bin."""
    def set_bins(self, bins: Mapping[str, Any]) -> Self:
        """As `put`, for code for the SDK's first versions."""
    def increment_by(self, bin_name: str, value: float) -> Self:
        """As `add`, for code for the SDK's first versions."""
    def bin(self, bin_name: str) -> WriteBinBuilder[Self]:
        """Does something with one bin: the methods of what this gives say what."""
    def set_to(self, bin_name: str, value: Any) -> Self:
        """Writes a bin; `None` removes it."""
    def add(self, bin_name: str, value: float) -> Self:
        """Adds to an int or float bin; creates the bin if it is missing."""
    def append(self, bin_name: str, value: str | bytes) -> Self:
        """Appends to a str or bytes bin; creates the bin if it is missing."""
    def prepend(self, bin_name: str, value: str | bytes) -> Self:
        """Prepends to a str or bytes bin; creates the bin if it is missing."""
    def get(self, bin_name: str) -> Self:
        """Reads a bin."""
    def remove_bin(self, bin_name: str) -> Self:
        """Removes a bin."""
    def delete_record(self) -> Self:
        """Deletes the record, as one of several operations on it."""
    def touch_record(self) -> Self:
        """Renews when the record expires, as one of several operations on it."""
    def select_from(
        self, bin_name: str, expression: FilterExpression | str, *, ignore_eval_failure: bool = False
    ) -> Self:
        """Answers with what an expression evaluates to, as a bin of this name."""
    def insert_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes what an expression evaluates to, if the bin does not exist. As `bin(name).insert_from`."""
    def update_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes what an expression evaluates to, if the bin exists. As `bin(name).update_from`."""
    def upsert_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes what an expression evaluates to. As `bin(name).upsert_from`."""
    def ensure_generation_is(self, generation: int) -> Self:
        """Makes the operation fail unless records have this generation: 1 or more."""
    def replace_only(self) -> Self:
        """Makes `replace` fail for records that do not exist."""

@final
class AwaitableStream:
    """A stream to be started: `await` it, or enter it with `async with`, which also closes it."""

    def __await__(self) -> Generator[Any, None, RecordStream]: ...
    def __aenter__(self) -> Coroutine[Any, Any, RecordStream]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[AwaitableStream]: ...

@final
class QueryHint:
    """What a query of a data set prefers."""

    def __new__(
        cls,
        *,
        index_name: str | None = None,
        query_duration: QueryDuration | None = None,
        allow_scans_with_where: bool | None = None,
        hard_hint: bool = False,
        bin_name: str | None = None,
    ) -> Self: ...
    @property
    def index_name(self) -> str | None: ...
    @property
    def bin_name(self) -> str | None: ...
    @property
    def query_duration(self) -> QueryDuration | None:
        """How long the query is expected to take, a `QueryDuration`; `None`: as the policy says."""
    @property
    def allow_scans_with_where(self) -> bool | None: ...
    @property
    def hard_hint(self) -> bool: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class QueryExplanation:
    """How a query of a data set finds its records. `str()` of it is for people."""

    @property
    def index_name(self) -> str | None:
        """The secondary index that is used; `None`: none, or one that `filter()` names by its bin."""
    @property
    def uses_index(self) -> bool:
        """Whether a secondary index is used."""
    @property
    def filter(self) -> Filter | None:
        """What the index is asked for, a `Filter`; `None`: no index is used."""
    @property
    def expression(self) -> FilterExpression | None:
        """What the server filters by what it reads, a `FilterExpression`; `None`: nothing."""
    @property
    def refusal(self) -> str | None:
        """Why the query is not carried out, if it is not."""

class _AsyncTerminals:
    def execute(self, on_error: _OnError = None) -> Awaitable[RecordStream]:
        """Carries the chain out, and gives its results: a `RecordStream`. For asyncio, an awaitable of it."""
    def stream(self, on_error: _OnError = None) -> AwaitableStream:
        """Gives results as the nodes answer: await it, or enter it with `async with`."""
    def execute_stream(self, on_error: _OnError = None) -> AwaitableStream:
        """`stream()`, under its name in the first versions of the SDK of Aerospike. For asyncio, an awaitable."""
    def first(self, on_error: _OnError = None) -> Awaitable[RecordResult | None]:
        """Carries the chain out, and gives the first result; `None` if there is none. `on_error`: as for `execute`."""
    def first_or_raise(self, on_error: _OnError = None) -> Awaitable[RecordResult]:
        """Carries the chain out, and gives the first result, which there must be and which must be no failure."""

class _SyncTerminals:
    def execute(self, on_error: _OnError = None) -> SyncRecordStream:
        """Carries the chain out, and gives its results: a `RecordStream`. For asyncio, an awaitable of it."""
    def stream(self, on_error: _OnError = None) -> SyncRecordStream:
        """Gives results as the nodes answer."""
    def execute_stream(self, on_error: _OnError = None) -> SyncRecordStream:
        """`stream()`, under its name in the first versions of the SDK of Aerospike. For asyncio, an awaitable."""
    def first(self, on_error: _OnError = None) -> RecordResult | None:
        """Carries the chain out, and gives the first result; `None` if there is none. `on_error`: as for `execute`."""
    def first_or_raise(self, on_error: _OnError = None) -> RecordResult:
        """Carries the chain out, and gives the first result, which there must be and which must be no failure."""

@final
class QueryBuilder(_AsyncTerminals, _Query, _Verbs[WriteSegmentBuilder]):
    """What is read: `session.query(keys)` or `session.query(dataset)`, told step by step."""

    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Goes on with applying a function to records, in the same call."""
    def execute_background_task(self) -> Awaitable[ExecuteTask]:
        """Has the servers carry out what `with_write_operations` says: for code for the SDK's first versions."""
    def execute_udf_background_task(
        self, package_name: str, function_name: str, args: Sequence[Any] | None = None
    ) -> Awaitable[ExecuteTask]:
        """Has the servers apply a function to all records: for code for the SDK's first versions."""
    def explain(self) -> Awaitable[QueryExplanation]:
        """Says by which secondary index the query of a data set finds its records, and what is left to filter."""

@final
class WriteSegmentBuilder(_AsyncTerminals, _WriteSegment, _Verbs[WriteSegmentBuilder]):
    """What is done with records: `session.upsert(keys)` and its like, told step by step."""

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder:
        """Goes on with reading records, in the same call."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Goes on with applying a function to records, in the same call."""

@final
class SyncQueryBuilder(_SyncTerminals, _Query, _Verbs[SyncWriteSegmentBuilder]):
    """What is read: `session.query(keys)` or `session.query(dataset)`, told step by step."""

    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Goes on with applying a function to records, in the same call."""
    def execute_background_task(self) -> ExecuteTask:
        """Has the servers carry out what `with_write_operations` says: for code for the SDK's first versions."""
    def execute_udf_background_task(
        self, package_name: str, function_name: str, args: Sequence[Any] | None = None
    ) -> ExecuteTask:
        """Has the servers apply a function to all records: for code for the SDK's first versions."""
    def explain(self) -> QueryExplanation:
        """Says by which secondary index the query of a data set finds its records, and what is left to filter."""

@final
class SyncWriteSegmentBuilder(_SyncTerminals, _WriteSegment, _Verbs[SyncWriteSegmentBuilder]):
    """What is done with records: `session.upsert(keys)` and its like, told step by step."""

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder:
        """Goes on with reading records, in the same call."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Goes on with applying a function to records, in the same call."""

@final
class UdfFunctionBuilder:
    """The records that a function is applied to."""

    def function(self, package: str, function_name: str) -> UdfBuilder:
        """The function: the name of its module (without `.lua`), and its own."""

@final
class UdfBuilder(_AsyncTerminals, _Expiring, _Chain, _Verbs[WriteSegmentBuilder]):
    """A function of a UDF module that is applied to records."""

    def passing(self, *args: Any) -> Self:
        """What the function gets behind the record."""
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder:
        """Goes on with reading records, in the same call."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Goes on with applying a function to other records, in the same call."""

@final
class SyncUdfFunctionBuilder:
    """The records that a function is applied to."""

    def function(self, package: str, function_name: str) -> SyncUdfBuilder:
        """The function: the name of its module (without `.lua`), and its own."""

@final
class SyncUdfBuilder(_SyncTerminals, _Expiring, _Chain, _Verbs[SyncWriteSegmentBuilder]):
    """A function of a UDF module that is applied to records."""

    def passing(self, *args: Any) -> Self:
        """What the function gets behind the record."""
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder:
        """Goes on with reading records, in the same call."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Goes on with applying a function to other records, in the same call."""

@final
class DataSetWriteBuilder:
    """A data set that rows are written to: `session.upsert(dataset)`."""

    def bins(self, *bin_names: str) -> RowWriteBuilder:
        """The bins that each row has values for."""

@final
class RowWriteBuilder(_AsyncTerminals, _Expiring, _Defaults):
    """Rows that are written, each to a record of its own."""

    def row(self, identifier: _UserKey, *values: Any) -> Self:
        """Adds a row: the user key of its record, and a value for each bin (`None` removes it)."""
    def rows(self, rows: Iterable[Sequence[Any]]) -> Self:
        """Adds rows: sequences of a user key and a value for each bin."""
    def ensure_generation_is(self, generation: int) -> Self:
        """Makes the latest row fail unless its record has this generation: 1 or more."""

@final
class SyncDataSetWriteBuilder:
    """A data set that rows are written to: `session.upsert(dataset)`."""

    def bins(self, *bin_names: str) -> SyncRowWriteBuilder:
        """The bins that each row has values for."""

@final
class SyncRowWriteBuilder(_SyncTerminals, _Expiring, _Defaults):
    """Rows that are written, each to a record of its own."""

    def row(self, identifier: _UserKey, *values: Any) -> Self:
        """Adds a row: the user key of its record, and a value for each bin (`None` removes it)."""
    def rows(self, rows: Iterable[Sequence[Any]]) -> Self:
        """Adds rows: sequences of a user key and a value for each bin."""
    def ensure_generation_is(self, generation: int) -> Self:
        """Makes the latest row fail unless its record has this generation: 1 or more."""
