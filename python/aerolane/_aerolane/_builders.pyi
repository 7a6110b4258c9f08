"""Builders: what a session does with records, described step by step."""

from collections.abc import Coroutine, Generator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, final, overload

from ._ael import AelIndexContext
from ._awaitable import Awaitable
from ._base_policy import BasePolicy
from ._bins import QueryBinBuilder, WriteBinBuilder
from ._call_policies import QueryPolicy, ReadPolicy
from ._dataset import DataSet
from ._enums import QueryDuration, Replica
from ._expression import FilterExpression
from ._operations import BaseOperation
from ._query import ExecuteTask, Filter, PartitionFilter
from ._results import RecordResult, RecordStream, SyncRecordStream, _OnError
from ._txn import Txn
from ._values import Key, _UserKey

_S_co = TypeVar("_S_co", covariant=True)
_T_co = TypeVar("_T_co", covariant=True)

class _Verbs(Generic[_S_co]):
    """What a chain can do next, with a key, several keys, or a list of keys."""

    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Deletes records. The result for a record that does not exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys.
        """
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Checks whether records exist. `as_bool()` of a result returns the answer.

        Takes a `Key`, several of them, or a list of keys.
        """
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins of an existing record; other bins stay as they are. Fails with `RecordNotFoundError` if the
        record does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Resets the time to live of records and increments their generation. The result for a record that does not
        exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys.
        """
    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins. Creates the record if it does not exist; other bins stay as they are.

        Takes a `Key`, several of them, or a list of keys.
        """
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Writes bins of a new record. Fails with `RecordExistsError` if the record exists.

        Takes a `Key`, several of them, or a list of keys.
        """
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Replaces all bins of the record. Creates the record if it does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Replaces all bins of an existing record. Fails with `RecordNotFoundError` if the record does not exist.

        Takes a `Key`, several of them, or a list of keys.
        """

class _SessionVerbs(Generic[_S_co, _T_co]):
    """What a session can do with records."""

    @overload
    def delete(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Deletes records. The result for a record that does not exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def delete(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Checks whether records exist. `as_bool()` of a result returns the answer.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def exists(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def update(self, keys: DataSet, /) -> _T_co:
        """Writes bins of an existing record; other bins stay as they are. Fails with `RecordNotFoundError` if the
        record does not exist.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def update(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def update(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def touch(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Resets the time to live of records and increments their generation. The result for a record that does not
        exist has the code `KEY_NOT_FOUND_ERROR`.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def touch(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def upsert(self, keys: DataSet, /) -> _T_co:
        """Writes bins. Creates the record if it does not exist; other bins stay as they are.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def upsert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def upsert(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def insert(self, keys: DataSet, /) -> _T_co:
        """Writes bins of a new record. Fails with `RecordExistsError` if the record exists.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def insert(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def insert(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def replace(self, keys: DataSet, /) -> _T_co:
        """Replaces all bins of the record. Creates the record if it does not exist.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def replace(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co: ...
    @overload
    def replace(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...
    @overload
    def replace_if_exists(self, keys: Key | list[Key], /, *more_keys: Key) -> _S_co:
        """Replaces all bins of an existing record. Fails with `RecordNotFoundError` if the record does not exist.

        Takes a `Key`, several of them, or a list of keys. Code for the first versions of the SDK of Aerospike may name
        what it is about: `key`, or `dataset` (or `namespace` and `set_name`) and `key_value`.
        """
    @overload
    def replace_if_exists(self, keys: None = None, /, *more_keys: Key, **named: Any) -> Any: ...

class _Defaults:
    """Settings of a whole chain."""

    def fail_on_filtered_out(self) -> Self:
        """Turns records for which a filter is false into failures (`FilteredOutError`)."""
    def default_where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """Sets the filter for all operations that have none of their own. Takes the same arguments as `where`."""
    def with_txn(self, txn: Txn | None) -> Self:
        """Makes the whole chain part of a transaction. `None` keeps it out of the session's transaction."""
    def default_expire_record_after_seconds(self, seconds: int) -> Self:
        """Sets the time to live, in seconds, for all operations that set none."""
    def default_expire_record_after(self, duration: timedelta) -> Self:
        """Sets the time to live, as a timedelta, for all operations that set none."""
    def default_expire_record_at(self, when: datetime) -> Self:
        """Sets the expiration time, as a datetime, for all operations that set none."""
    def default_never_expire(self) -> Self:
        """Keeps records from expiring, for all operations that set no expiration."""
    def default_with_no_change_in_expiration(self) -> Self:
        """Leaves the expiration of records as it is, for all operations that set none."""
    def default_expiry_from_server_default(self) -> Self:
        """Uses the server's default time to live, for all operations that set none."""

class _Chain(_Defaults):
    """Settings of a whole chain, and of its current operation."""

    def add_operation(self, op: BaseOperation) -> Self:
        """Adds an operation of `aerolane.native` (`ListOperation`, `MapOperation`, and so on)."""
    def include_missing_keys(self) -> Self:
        """Also returns results for keys that have no record."""
    def respond_all_keys(self) -> Self:
        """Same as `include_missing_keys`. For code written for the first versions of the Aerospike SDK."""
    def where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """Applies the current operation only to records for which a filter is true. The filter is a `FilterExpression`,
        or text in the Aerospike Expression Language with the values of its placeholders: `where("$.age > ?0", 25)`. Can
        be called once for each operation.

        Raises `AelParseException` if the text is not valid, or needs a newer server than the cluster has.
        """

class _Query(_Chain):
    """What to read."""

    def filter(self, filter_obj: Filter) -> Self:
        """Reads what a secondary index finds for a `Filter`. Only for queries of a data set, once."""
    def replica(self, replica: Replica) -> Self:
        """Sets which node of a partition to ask, a `Replica`, instead of what the behavior of the session says. Only
        for queries of a data set. For code written for the first versions of the Aerospike SDK.
        """
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> Self:
        """Adds records to read in the same call."""
    def bin(self, bin_name: str) -> QueryBinBuilder[Self]:
        """Selects a bin to read. The methods of the returned object say how."""
    def records_per_second(self, rps: int) -> Self:
        """Reads at most this many records per second from each node. 0 means no limit."""
    def limit(self, limit: int) -> Self:
        """Reads at most this many records in total. If the query is about keys, reads the first ones of all keys of
        the chain.
        """
    def filter_expression(self, expression: FilterExpression) -> Self:
        """Same as `where` with a `FilterExpression`. For code written for the first versions of the Aerospike SDK."""
    def max_records(self, max_records: int) -> Self:
        """Same as `limit`. For code written for the first versions of the Aerospike SDK."""
    def on_partitions(self, *partition_ids: int) -> Self:
        """Reads only these partitions, which must be consecutive. For code written for the first versions of the
        Aerospike SDK; `on_partition_range` is shorter.
        """
    def expected_duration(self, duration: QueryDuration) -> Self:
        """Sets how long the query is expected to take, a `QueryDuration`. Only for queries of a data set. For code
        written for the first versions of the Aerospike SDK; `with_hint(QueryHint(query_duration=..))` does the same.
        """
    def with_index_context(self, index_context: AelIndexContext) -> Self:
        """Sets the indexes that may serve the text of `where()`, an `IndexContext` of `aerolane.ael`, instead of
        those of the cluster. Only for queries of a data set. For code written for the first versions of the
        Aerospike SDK.
        """
    def with_policy(self, policy: QueryPolicy) -> Self:
        """Uses a `QueryPolicy` instead of what the behavior of the session says. Other settings of the builder take
        precedence over it. Only for queries of a data set. For code written for the first versions of the Aerospike
        SDK.
        """
    def with_read_policy(self, policy: ReadPolicy) -> Self:
        """Uses a `ReadPolicy` instead of what the behavior of the session says, to read records by their keys. Other
        settings of the builder take precedence over it. For code written for the first versions of the Aerospike
        SDK.
        """
    def base_policy(self, base_policy: BasePolicy) -> Self:
        """Takes timeouts, retries and similar settings from a policy (`ReadPolicy`, `QueryPolicy`, and so on)
        instead of the behavior of the session. Other settings of the builder take precedence over it. Only for
        queries of a data set. For code written for the first versions of the Aerospike SDK.
        """
    def with_write_operations(self, operations: Iterable[BaseOperation]) -> Self:
        """Sets the operations of `aerolane.native` for `execute_background_task`. They must write. Only for queries
        of a data set. For code written for the first versions of the Aerospike SDK; see `background_task()` of the
        session.
        """
    @overload
    def bins(self, bin_names: Sequence[str], /) -> Self:
        """Reads only these bins: `bins("a", "b")` or `bins(["a", "b"])`."""
    @overload
    def bins(self, *bin_names: str) -> Self: ...
    def with_no_bins(self) -> Self:
        """Reads no bins, only the generation and the expiration."""
    def with_op_projection(self, *ops: BaseOperation) -> Self:
        """Reads what operations of `aerolane.native` return, instead of bins."""
    def with_hint(self, hint: QueryHint) -> Self:
        """Sets the preferences of a query of a data set, a `QueryHint`. Only once."""
    def effective_allow_scans_with_where(self) -> bool:
        """Returns whether the query may read all records of its set if no index serves the text of `where()`. Its
        hint decides, otherwise the behavior (`allow_scans_with_where`).
        """
    def partition(self, partition_filter: PartitionFilter) -> Self:
        """Reads only these partitions. If the query is about keys, reads only those in these partitions."""
    def on_partition(self, part_id: int) -> Self:
        """Reads only one partition, 0 to 4095."""
    def on_partition_range(self, start_incl: int, end_excl: int) -> Self:
        """Reads only the partitions from `start_incl` up to, but not including, `end_excl`."""
    def chunk_size(self, chunk_size: int) -> Self:
        """Reads at most this many records at a time. `has_more_chunks()` of the stream continues with the next ones."""

class _Expiring:
    """When the records of one operation expire, and whether deletes leave a tombstone."""

    def expire_record_after_seconds(self, seconds: int) -> Self:
        """Sets the time to live in seconds, 1 to 315,360,000."""
    def expire_record_after(self, duration: timedelta) -> Self:
        """Sets the time to live as a timedelta."""
    def expire_record_at(self, when: datetime) -> Self:
        """Sets the expiration time as a datetime. One without a time zone is local time."""
    def never_expire(self) -> Self:
        """Keeps the records from expiring."""
    def with_no_change_in_expiration(self) -> Self:
        """Leaves the expiration of the records as it is."""
    def expiry_from_server_default(self) -> Self:
        """Uses the server's default time to live."""
    def with_durable_delete(self) -> Self:
        """Leaves a tombstone when the current operation deletes a record (Enterprise Edition)."""
    def without_durable_delete(self) -> Self:
        """Leaves no tombstone when the current operation deletes a record."""
    def default_with_durable_delete(self) -> Self:
        """Leaves a tombstone when records are deleted, for all operations that do not say otherwise (Enterprise
        Edition).
        """
    def default_without_durable_delete(self) -> Self:
        """Leaves no tombstone when records are deleted, for all operations that do not say otherwise."""

class _WriteSegment(_Expiring, _Chain):
    """What to do with records, which their keys name."""

    def get(self, bin_name: str) -> Self:
        """Reads a bin."""
    def delete_record(self) -> Self:
        """Deletes the record, as one of several operations on it."""
    def touch_record(self) -> Self:
        """Resets the time to live of the record, as one of several operations on it."""
    def select_from(
        self, bin_name: str, expression: FilterExpression | str, *, ignore_eval_failure: bool = False
    ) -> Self:
        """Evaluates an expression and returns its value under this name. With `ignore_eval_failure`, an expression
        that cannot be evaluated returns `None`.
        """
    def set_to(self, bin_name: str, value: Any) -> Self:
        """Writes a bin. `None` removes it."""
    def add(self, bin_name: str, value: float) -> Self:
        """Adds to an int or float bin. Creates the bin if it is missing."""
    def increment_by(self, bin_name: str, value: float) -> Self:
        """Same as `add`. For code written for the first versions of the Aerospike SDK."""
    def append(self, bin_name: str, value: str | bytes) -> Self:
        """Appends to a str or bytes bin. Creates the bin if it is missing."""
    def prepend(self, bin_name: str, value: str | bytes) -> Self:
        """Prepends to a str or bytes bin. Creates the bin if it is missing."""
    def insert_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes the value of an expression if the bin does not exist. Takes the same flags as
        `bin(name).insert_from`.
        """
    def update_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes the value of an expression if the bin exists. Takes the same flags as `bin(name).insert_from`."""
    def upsert_from(
        self,
        bin_name: str,
        expression: FilterExpression | str,
        *,
        ignore_op_failure: bool = False,
        ignore_eval_failure: bool = False,
        delete_if_null: bool = False,
    ) -> Self:
        """Writes the value of an expression. Takes the same flags as `bin(name).insert_from`."""
    def put(self, bins: Mapping[str, Any]) -> Self:
        """Writes bins, given as a dict. A value of `None` removes its bin."""
    def bin(self, bin_name: str) -> WriteBinBuilder[Self]:
        """Selects a bin. The methods of the returned object read or change it."""
    def replace_only(self) -> Self:
        """Makes `replace` fail for records that do not exist."""
    def set_bins(self, bins: Mapping[str, Any]) -> Self:
        """Same as `put`. For code written for the first versions of the Aerospike SDK."""
    def ensure_generation_is(self, generation: int) -> Self:
        """Makes the current operation fail unless the record has this generation, 1 or more."""
    def remove_bin(self, bin_name: str) -> Self:
        """Removes a bin."""

class _Rows(_Expiring, _Defaults):
    """Rows to write."""

    def row(self, identifier: _UserKey, *values: Any) -> Self:
        """Adds a row: the user key of its record, and a value for each bin. `None` removes a bin."""
    def rows(self, rows: Iterable[Sequence[Any]]) -> Self:
        """Adds rows: sequences of a user key and a value for each bin."""
    def ensure_generation_is(self, generation: int) -> Self:
        """Makes the last row fail unless its record has this generation, 1 or more."""

@final
class AwaitableStream:
    """A stream that has not started. `await` it, or enter it with `async with`, which also closes it. Nothing is
    sent before that.
    """

    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[AwaitableStream]: ...
    def __aenter__(self) -> Coroutine[Any, Any, RecordStream]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    def __await__(self) -> Generator[Any, None, RecordStream]: ...

@final
class QueryHint:
    """Preferences of a query of a data set: `session.query(dataset).where("$.age >
    30").with_hint(QueryHint(index_name="age_idx"))`. Immutable.

    `index_name` is the secondary index to use for the text of `where()`, if it fits; with `hard_hint`, the query fails
    if it does not. `bin_name` names the bin whose indexes are preferred instead. `query_duration` says whether the
    query is expected to be `LONG` or `SHORT` (`QueryDuration`). `allow_scans_with_where` says whether the query may
    read all records of the set if no index serves the text; `None` leaves that to the behavior.

    Raises `InvalidArgumentError` (a `ValueError`) for `hard_hint` without `index_name` and for both names, and
    `TypeError` for a value of a wrong type.
    """

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
    def query_duration(self) -> QueryDuration | None:
        """How long the query is expected to take, a `QueryDuration`. `None` leaves that to the policy."""
    @property
    def allow_scans_with_where(self) -> bool | None: ...
    @property
    def index_name(self) -> str | None: ...
    @property
    def bin_name(self) -> str | None: ...
    @property
    def hard_hint(self) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class QueryExplanation:
    """How a query of a data set finds its records: what `explain()` of its builder returns. `str()` of it is meant
    for people.
    """

    @property
    def refusal(self) -> str | None:
        """Why the query would fail, or `None`."""
    @property
    def index_name(self) -> str | None:
        """The secondary index that the query uses. `None` if it uses none, or one that `filter()` names by its bin."""
    @property
    def filter(self) -> Filter | None:
        """What the query asks the index for, a `Filter`. `None` if it uses no index."""
    @property
    def expression(self) -> FilterExpression | None:
        """What the server filters the records by, a `FilterExpression`. `None` if it does not filter."""
    @property
    def uses_index(self) -> bool:
        """Whether the query uses a secondary index."""

class _AsyncTerminals:
    """What carries a chain out."""

    def stream(self, on_error: _OnError | None = None) -> AwaitableStream:
        """Executes the chain and returns a `RecordStream` with the results as they arrive, in any order; `index` tells
        which key a result is about. With asyncio, await it, or use `async with builder.stream() as results`.

        There is a result for each key, including keys without a record and records for which a filter is false.
        Operations whose results were not read before the stream was closed may or may not have been executed. Unlike
        with `execute`, a chain about several records does not get a transaction of its own. `on_error` works as in
        `execute`, but a callable is also called for missing and filtered records.
        """
    def execute(self, on_error: _OnError | None = None) -> Awaitable[RecordStream]:
        """Executes the chain and returns its results, a `RecordStream`. With asyncio, an awaitable of it.

        `on_error` decides what happens to failures. By default, a call about one record raises, and a call about
        several returns the failures among its results. `ErrorStrategy.IN_STREAM` always returns them; a callable is
        called as `(key, index, exception)` for each failure instead.
        """
    def first(self, on_error: _OnError | None = None) -> Awaitable[RecordResult | None]:
        """Executes the chain and returns its first result, or `None` if there is none. `on_error` works as in
        `execute`.
        """
    def execute_stream(self, on_error: _OnError | None = None) -> AwaitableStream:
        """Same as `stream`. For code written for the first versions of the Aerospike SDK."""
    def first_or_raise(self, on_error: _OnError | None = None) -> Awaitable[RecordResult]:
        """Executes the chain and returns its first result.

        Raises `RecordNotFoundError` if there is no result, and the failure if the result is one. `on_error` works as in
        `execute`.
        """

class _SyncTerminals:
    """What carries a chain out."""

    def stream(self, on_error: _OnError | None = None) -> SyncRecordStream:
        """Executes the chain and returns a `RecordStream` with the results as they arrive, in any order; `index` tells
        which key a result is about. With asyncio, await it, or use `async with builder.stream() as results`.

        There is a result for each key, including keys without a record and records for which a filter is false.
        Operations whose results were not read before the stream was closed may or may not have been executed. Unlike
        with `execute`, a chain about several records does not get a transaction of its own. `on_error` works as in
        `execute`, but a callable is also called for missing and filtered records.
        """
    def execute(self, on_error: _OnError | None = None) -> SyncRecordStream:
        """Executes the chain and returns its results, a `RecordStream`. With asyncio, an awaitable of it.

        `on_error` decides what happens to failures. By default, a call about one record raises, and a call about
        several returns the failures among its results. `ErrorStrategy.IN_STREAM` always returns them; a callable is
        called as `(key, index, exception)` for each failure instead.
        """
    def first(self, on_error: _OnError | None = None) -> RecordResult | None:
        """Executes the chain and returns its first result, or `None` if there is none. `on_error` works as in
        `execute`.
        """
    def execute_stream(self, on_error: _OnError | None = None) -> SyncRecordStream:
        """Same as `stream`. For code written for the first versions of the Aerospike SDK."""
    def first_or_raise(self, on_error: _OnError | None = None) -> RecordResult:
        """Executes the chain and returns its first result.

        Raises `RecordNotFoundError` if there is no result, and the failure if the result is one. `on_error` works as in
        `execute`.
        """

@final
class QueryBuilder(_AsyncTerminals, _Query, _Verbs[WriteSegmentBuilder]):
    """Records to read: `session.query(keys)` or `session.query(dataset)`. Each method returns the builder;
    `execute`, `first` and `first_or_raise` execute it, once.
    """

    def explain(self) -> Awaitable[QueryExplanation]:
        """Returns how the query finds its records, a `QueryExplanation`: the secondary index that it uses, and what
        is left to filter. Does not execute the query. With asyncio, an awaitable. Only for queries of a data set.
        """
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""
    def execute_background_task(self) -> Awaitable[ExecuteTask]:
        """Starts a background task that applies `with_write_operations` to all records that the query selects.
        Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of the
        Aerospike SDK; see `background_task()` of the session.
        """
    def execute_udf_background_task(
        self, package_name: str, function_name: str, args: Sequence[Any] | None = None
    ) -> Awaitable[ExecuteTask]:
        """Starts a background task that applies a function of a UDF module to all records that the query selects.
        Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of the
        Aerospike SDK; see `background_task()` of the session.
        """

@final
class WriteSegmentBuilder(_AsyncTerminals, _WriteSegment, _Verbs[WriteSegmentBuilder]):
    """Operations on records: `session.upsert(keys)`, and the same for the other verbs. Each method returns the
    builder; `execute`, `first` and `first_or_raise` execute it, once.
    """

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder:
        """Continues the chain with records to read."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""

@final
class UdfFunctionBuilder:
    """The records to apply a function to: `session.execute_udf(keys)`. `function(package, name)` names the function."""

    def function(self, package: str, function_name: str) -> UdfBuilder:
        """Names the function: its module (without `.lua`) and its name."""

@final
class UdfBuilder(_AsyncTerminals, _Expiring, _Chain, _Verbs[WriteSegmentBuilder]):
    """A function of a UDF module to apply to records: `session.execute_udf(keys).function(package, name)`.
    `execute`, `first` and `first_or_raise` execute it, once; `udf_result` of a result is what the function returned.
    """

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder:
        """Continues the chain with records to read."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""
    def passing(self, *args: Any) -> Self:
        """Sets the arguments of the function. It gets them after the record."""

@final
class DataSetWriteBuilder:
    """The set that rows are written to: `session.upsert(dataset)`. `bins` names the bins of each row."""

    def bins(self, *bin_names: str) -> RowWriteBuilder:
        """Names the bins of the rows."""

@final
class RowWriteBuilder(_AsyncTerminals, _Rows):
    """Rows to write, each as a record of its own: `session.upsert(dataset).bins("a", "b").row(1, "x", "y")`.
    `execute`, `first` and `first_or_raise` execute it, once.
    """

@final
class SyncQueryBuilder(_SyncTerminals, _Query, _Verbs[SyncWriteSegmentBuilder]):
    """Records to read: `session.query(keys)` or `session.query(dataset)`. Each method returns the builder;
    `execute`, `first` and `first_or_raise` execute it, once.
    """

    def explain(self) -> QueryExplanation:
        """Returns how the query finds its records, a `QueryExplanation`: the secondary index that it uses, and what
        is left to filter. Does not execute the query. With asyncio, an awaitable. Only for queries of a data set.
        """
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""
    def execute_background_task(self) -> ExecuteTask:
        """Starts a background task that applies `with_write_operations` to all records that the query selects.
        Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of the
        Aerospike SDK; see `background_task()` of the session.
        """
    def execute_udf_background_task(
        self, package_name: str, function_name: str, args: Sequence[Any] | None = None
    ) -> ExecuteTask:
        """Starts a background task that applies a function of a UDF module to all records that the query selects.
        Returns an `ExecuteTask`; with asyncio, an awaitable of it. For code written for the first versions of the
        Aerospike SDK; see `background_task()` of the session.
        """

@final
class SyncWriteSegmentBuilder(_SyncTerminals, _WriteSegment, _Verbs[SyncWriteSegmentBuilder]):
    """Operations on records: `session.upsert(keys)`, and the same for the other verbs. Each method returns the
    builder; `execute`, `first` and `first_or_raise` execute it, once.
    """

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder:
        """Continues the chain with records to read."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""

@final
class SyncUdfFunctionBuilder:
    """The records to apply a function to: `session.execute_udf(keys)`. `function(package, name)` names the function."""

    def function(self, package: str, function_name: str) -> SyncUdfBuilder:
        """Names the function: its module (without `.lua`) and its name."""

@final
class SyncUdfBuilder(_SyncTerminals, _Expiring, _Chain, _Verbs[SyncWriteSegmentBuilder]):
    """A function of a UDF module to apply to records: `session.execute_udf(keys).function(package, name)`.
    `execute`, `first` and `first_or_raise` execute it, once; `udf_result` of a result is what the function returned.
    """

    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder:
        """Continues the chain with records to read."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Continues the chain with a function to apply to records."""
    def passing(self, *args: Any) -> Self:
        """Sets the arguments of the function. It gets them after the record."""

@final
class SyncDataSetWriteBuilder:
    """The set that rows are written to: `session.upsert(dataset)`. `bins` names the bins of each row."""

    def bins(self, *bin_names: str) -> SyncRowWriteBuilder:
        """Names the bins of the rows."""

@final
class SyncRowWriteBuilder(_SyncTerminals, _Rows):
    """Rows to write, each as a record of its own: `session.upsert(dataset).bins("a", "b").row(1, "x", "y")`.
    `execute`, `first` and `first_or_raise` execute it, once.
    """
