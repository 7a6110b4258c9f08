"""Queries: what they ask for, what they give."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias, final

from typing_extensions import CapsuleType

from ._awaitable import Awaitable
from ._enums import CollectionIndexType, QuerySelection, TaskStatus
from ._operations import BaseOperation
from ._values import GeoJSON, Key, Record

@final
class Filter:
    """A range of a secondary index, for `Statement.filters`: `Filter.range("age", 18, 30)`, `Filter.equal("name",
    "ann")`.

    The constructors ending in `_by_index` take the name of the index; the others take the name of the bin, and the
    server finds the index. If no index fits the filter, the query fails with `IndexNotFoundError`. Filters are
    immutable.

    Raises `TypeError` for a value whose type cannot be indexed, `OverflowError` for an int of more than 64 bits,
    `InvalidArgumentError` (a `ValueError`) for a bin name of more than 15 bytes.
    """

    def expression(self, exp: Any) -> Filter:
        """The same filter for an index on an expression: `exp` is the `FilterExpression` that the index was created
        with.
        """
    def context(self, ctx: Sequence[Any]) -> Filter:
        """The same filter for an index on what a context selects inside the bin: `ctx` is a list of `CTX`."""
    @staticmethod
    def range(bin_name: str, begin: int, end: int) -> Filter:
        """The bin has an int from `begin` to `end`, both inclusive."""
    @staticmethod
    def contains(bin_name: str, value: int | str | bytes, cit: CollectionIndexType | None = None) -> Filter:
        """The list or map in the bin contains this value (`cit` says where: `CollectionIndexType`)."""
    @staticmethod
    def equal(bin_name: str, value: int | str | bytes) -> Filter:
        """The bin has this value: an int, a str or bytes."""
    @staticmethod
    def equal_by_index(index_name: str, value: int | str | bytes) -> Filter:
        """The index holds this value: an int, a str or bytes."""
    @staticmethod
    def range_by_index(index_name: str, begin: int, end: int) -> Filter:
        """The index holds an int from `begin` to `end`, both inclusive."""
    @staticmethod
    def contains_by_index(index_name: str, value: int | str | bytes, cit: CollectionIndexType | None = None) -> Filter:
        """The same as `contains`, for an index given by name."""
    @staticmethod
    def contains_range(bin_name: str, begin: int, end: int, cit: CollectionIndexType | None = None) -> Filter:
        """The list or map in the bin contains an int from `begin` to `end`, both inclusive."""
    @staticmethod
    def contains_range_by_index(
        index_name: str, begin: int, end: int, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The same as `contains_range`, for an index given by name."""
    @staticmethod
    def within_region(
        bin_name: str, region: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The point in the bin lies within a region: GeoJSON of a polygon or an `AeroCircle`, as a str, a dict or a
        `GeoJSON`.
        """
    @staticmethod
    def within_region_by_index(
        index_name: str, region: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The same as `within_region`, for an index given by name."""
    @staticmethod
    def within_radius(
        bin_name: str, lng: float, lat: float, radius: float, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The point in the bin lies within a circle. `lng`, `lat`: its centre in degrees; `radius` in metres."""
    @staticmethod
    def within_radius_by_index(
        index_name: str, lng: float, lat: float, radius: float, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The same as `within_radius`, for an index given by name."""
    @staticmethod
    def regions_containing_point(
        bin_name: str, point: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The region in the bin contains a point: GeoJSON as a str, a dict or a `GeoJSON`."""
    @staticmethod
    def regions_containing_point_by_index(
        index_name: str, point: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The same as `regions_containing_point`, for an index given by name."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Statement:
    """What a query selects: `Statement(namespace, set_name=None, bins=None)`.

    `set_name`: only records of this set; `None` or `""`: of all sets. `bins`: only these bins (a list of names);
    `None`: all bins; an empty list: none, only keys, generations and expirations. Without a filter (`filters`), the
    query reads all records, which is called a scan.

    Raises `TypeError` if `bins` is not a list of str, `InvalidArgumentError` (a `ValueError`) if the namespace is empty
    or too long, a set name has more than 63 bytes, or a bin name more than 15.
    """

    def __new__(cls, namespace: str, set_name: str | None = None, bins: Sequence[str] | None = None) -> Self: ...
    set_name: str | None
    """The set; `None`: all sets."""
    filters: list[Filter] | None
    """The filter on a secondary index, as a list of one filter, since servers accept only one. `None`: no filter.

    Setting more than one filter raises `InvalidArgumentError` (a `ValueError`).
    """
    @property
    def namespace(self) -> str:
        """The namespace."""
    def set_aggregate_function(
        self, package_name: str, function_name: str, function_args: Sequence[Any] | None = None
    ) -> None:
        """Runs a stream function of a UDF module over the records on each node. Each result is returned as the bin
        `"SUCCESS"` of a record without a key. The caller has to combine the results of several nodes.

        Raises what `Client.execute_udf` raises for arguments that cannot be sent.
        """
    def set_operations(self, ops: Sequence[BaseOperation]) -> None:
        """Executes read operations on each record, instead of reading bins: a list of `Operation`. Their results are in
        `Record.bins`. Servers before 8.1.2 only support `Operation.get_bin`.

        Raises `TypeError` for anything that is not an operation, `InvalidArgumentError` (a `ValueError`) for an empty
        list.
        """

@final
class QueryPlan:
    """The servers' choice for a condition, as returned by `Client.query_explain` for `Client.query_with_plan`: a
    range of an index, all records, or none. Immutable.
    """

    @property
    def selection(self) -> QuerySelection:
        """How the records are found: a `QuerySelection`."""
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str | None:
        """The set; `None`: all sets."""
    @property
    def ael(self) -> str:
        """The condition, as it was given."""
    @property
    def index_name(self) -> str | None:
        """The name of the secondary index; `None` if none is used."""
    @property
    def index_range_bytes(self) -> bytes | None:
        """The range of the secondary index, as sent by the server; `None` if no index is used."""
    @property
    def index_type(self) -> CollectionIndexType:
        """Which part of a bin the secondary index covers: a `CollectionIndexType`; DEFAULT if no index is used."""
    @property
    def is_primary_index(self) -> bool:
        """Whether all records are read because no secondary index fits the condition."""
    @property
    def is_secondary_index(self) -> bool:
        """Whether a secondary index is used."""
    @property
    def is_filtered_out(self) -> bool:
        """Whether no record can match. `query_with_plan` then raises `FilteredOutError`."""
    @property
    def where_flags(self) -> int:
        """The flags that were sent, bits of `QueryWhereFlags`."""
    def filter_for_execute(self) -> Filter | None:
        """The range of the secondary index as a `Filter`, for inspection; `None` if no index is used. `query_with_plan`
        needs no filter.

        Raises `BadResponseError` if the range cannot be written as a filter.
        """

@final
class PartitionStatus:
    """How far one partition has been read, for `PartitionFilter.partitions`. `PartitionStatus(id)` is a partition of
    which nothing has been read.
    """

    def __new__(cls, id: int) -> Self: ...
    digest: str | None
    """The digest of the last record that was read, as 40 hex digits; `None` if none was. Setting it raises
    `InvalidArgumentError` (a `ValueError`) if the value is not a digest or belongs to another partition.
    """
    retry: bool
    """Whether the partition may have more records."""
    bval: int | None
    """The position of that record in the secondary index; `None` if there is no such record or no index."""
    @property
    def id(self) -> int:
        """The partition, 0 to 4095."""
    def __getitem__(self, key: str, /) -> Any: ...
    def __setitem__(self, key: str, value: Any, /) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PartitionFilter:
    """Which partitions a query reads, and how far they have been read: `PartitionFilter()` selects all 4,096 of them.

    A query does not change the filter that it is called with, so the filter can be used for any number of queries. The
    `Recordset` has a filter of its own, `recordset.partition_filter_sync()`, which advances with each record that is
    read. Pass that filter to another query to continue after the last record. This is how to read results in pages
    (`QueryPolicy.max_records`), until the filter is `done()`. It can be pickled, to continue in another process.

    The partitions can be changed by setting `begin`, `count`, `digest` or `partitions`; they are then read from the
    position that was set. Whether they exist is checked when the filter is used, which raises `InvalidArgumentError` (a
    `ValueError`) otherwise.
    """

    def __new__(cls) -> Self: ...
    digest: str | None
    """The digest of the key of `by_key`, as 40 hex digits, else `None`. Setting it moves the filter to just after
    this digest and limits it to the digest's partition (`begin` and `count` must be set, too); `None` moves it back
    to the beginning.
    """
    begin: int
    """The first partition. Setting it moves the filter back to the beginning of its partitions."""
    count: int
    """The number of partitions. Setting it moves the filter back to the beginning of its partitions."""
    @staticmethod
    def all() -> PartitionFilter:
        """All partitions."""
    @staticmethod
    def by_id(id: int) -> PartitionFilter:
        """One partition, 0 to 4095. Raises `InvalidArgumentError` (a `ValueError`) for another number."""
    @staticmethod
    def by_key(key: Key) -> PartitionFilter:
        """The partition of a key, starting after this key."""
    @staticmethod
    def by_range(begin: int, count: int) -> PartitionFilter:
        """`count` partitions starting at `begin`. Raises `InvalidArgumentError` (a `ValueError`) if there are none,
        or if one is beyond 4095.
        """
    @property
    def partitions(self) -> list[PartitionStatus]:
        """How far each partition has been read: a list of `PartitionStatus`, which are copies. Setting it to such a
        list (of consecutive partitions, which determine `begin` and `count`) moves the filter to these positions;
        `None` moves it back to the beginning.
        """
    @partitions.setter
    def partitions(self, value: Sequence[PartitionStatus] | None) -> None: ...
    def done(self) -> bool:
        """Whether all partitions have been read completely."""
    @staticmethod
    def _restore(begin: int, states: bytes, digest: bytes | None, /) -> PartitionFilter:
        """As pickle needs it: 30 bytes for each partition."""
    def __reduce__(self) -> tuple[Any, Any]: ...

@final
class NumpyRecords:
    """Records as numpy arrays, as returned by `batch_read(.., as_numpy=dtype)` and `Recordset.to_numpy(dtype)`.

    A bin that is missing or whose value does not fit the field is not `valid`; `batch_records` then contains 0, or NaN
    in a float field. These fit: an int in an int field that can hold it, and up to 2**53 in a float field; a float in a
    float field (`f4` rounds it); a bool in a bool field; a str or bytes in an `S` or `V` field and a str in a `U`
    field, if it is not too long. Nothing is truncated.
    """

    @property
    def batch_records(self) -> Any:
        """The bins: a structured array of the requested dtype, with one row for each key or record, in order."""
    @property
    def valid(self) -> Any:
        """Which bins are valid: a structured array of bools with the same fields."""
    @property
    def result_codes(self) -> Any:
        """The result code of each row, as an array of i4. 0: the record was found; 2: it does not exist; for others
        see `ResultCode`.
        """
    @property
    def meta(self) -> Any:
        """The generation (`gen`) of each record and its `expiration` in seconds since 2010-01-01 00:00:00 UTC (0:
        never), as a structured array of u4.
        """
    def masked(self) -> Any:
        """The bins as a `numpy.ma.MaskedArray` that hides values that are not valid. Its data is `batch_records`
        itself.
        """
    def failures(self, *, missing: bool = True) -> Any:
        """The rows that failed, as a list of (row number, exception); with `missing=False`, without those whose
        record does not exist.
        """
    def raise_for_failures(self, *, missing: bool = True) -> Any:
        """Raises `BatchFailedError` if a row failed; its `records` are what `failures()` returns.

        With `missing=False`, a record that does not exist is not a failure.
        """
    def __len__(self) -> int: ...

@final
class ArrowRecords:
    """Records as Arrow columns, as returned by `batch_read(.., as_arrow=schema)` and `await
    Recordset.to_arrow(schema)`.

    `pyarrow.table(records)`, `polars.DataFrame(records)` and everything else that supports the Arrow `PyCapsule`
    interface can use the columns without copying them, any number of times. A batch has one row for each key, in order;
    a query has one row for each record that it finds.

    A value is null if the record or the bin is missing, or if the value does not fit the column and that is not an
    error (see `ArrowColumns`). These fit:

    * an int in an integer column that can hold it, in a date, time, timestamp or duration column (as a count of its
      unit), in a `uint64` column (as the number with the same bits), and up to 2**53 in a float column
    * a float in a float column, rounded, unless it becomes infinite
    * a bool in a `bool` column
    * a str or GeoJSON in a text column; these, bytes and an HLL in a column of bytes
    * a list in a list column, a dict in a struct, or in a map whose keys fit
    * any value in a `json` column
    """

    @property
    def result_codes(self) -> list[int]:
        """The result code of each row, as a list. 0: the record was found; 2: it does not exist; for others see
        `ResultCode`.
        """
    def failures(self, *, missing: bool = True) -> Any:
        """The rows that failed, as a list of (row number, exception); with `missing=False`, without those whose
        record does not exist.
        """
    def raise_for_failures(self, *, missing: bool = True) -> Any:
        """Raises `BatchFailedError` if a row failed; its `records` are what `failures()` returns.

        With `missing=False`, a record that does not exist is not a failure.
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
    def __len__(self) -> int: ...

@final
class ArrowStream:
    """The records of a query as a stream of Arrow record batches, as returned by `Recordset.to_arrow(schema)`. Also
    those that a session has read by their keys: these are in memory already.

    `pyarrow.RecordBatchReader.from_stream(stream)` and everything else that supports the Arrow `PyCapsule` interface
    can read the record batches without copying them, once. Each batch is collected when the reader asks for it, on the
    reader's thread, without the GIL. For which values are null, see `ArrowRecords`. If the query fails, the stream ends
    after the records that had arrived; the reader raises an error of its own (pyarrow: `OSError`) with our message.

    `for part in stream` yields the records in parts of `batch_rows`, each an `ArrowRecords`, and raises errors of the
    query as they are. In asyncio, `await stream` returns all remaining records as one `ArrowRecords`, held in memory;
    `async for part in stream` yields them in parts of `batch_rows`. The event loop keeps running meanwhile. Errors of
    the query are raised there, after the records that had arrived. If a task is cancelled while it waits, nothing is
    lost: the next reader of the stream gets what was collected.
    """

    def close(self) -> None:
        """Ends the query, if it is one. Records that were not read are dropped. A second call does nothing."""
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
    def __aiter__(self) -> Self: ...
    def __iter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[ArrowRecords]: ...
    def __await__(self) -> Generator[Any, Any, ArrowRecords]: ...
    def __next__(self) -> ArrowRecords: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> Any: ...

_ArrowTypes: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]] | _ArrowSchema

@final
class ArrowColumns:
    """The columns that a batch or a query returns, and how their types are determined.

    Pass it to `client.batch_read(keys, as_arrow=ArrowColumns(..))` or `Recordset.to_arrow(ArrowColumns(..))`. Without a
    schema, there is a column for each bin that occurs, and its type depends on the values:

    * int: `int64`; float, or int and float: `float64`
    * bool: `bool`; str and GeoJSON: `utf8`; bytes and HLL: `binary`
    * list: a list of the items' type
    * dict: a struct if all records have the same keys, and all keys are str. Otherwise a map if all keys have one type
      and all values have one type, or a struct of all keys if these are str.
    * values of other types in one bin: `InvalidArgumentError`, which names the bin, the types and a record of each.
      With `mixed="json"`, such bins become JSON text.

    `schema` defines a column for each bin, as a dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow
    schema (such as pyarrow's). `schema_overrides` does so for some bins; the types of the others are determined.

    `misfits` says what happens to a value that does not fit its column. `"raise"` is the default without a schema: an
    `InvalidArgumentError` that names the bin and the record, also for a bin without a column. `"null"` is the default
    with a schema: the value is null, and a bin without a column is left out.

    The other arguments add columns with these names. `key`: the user key, given as a name or as name and type (`("id",
    "int64")`); null in queries if the server does not store it (`send_key`). `digest`: 20 bytes, or with `("digest",
    "utf8")` 40 hexadecimal digits. `generation`: a `uint32`. `ttl`: the remaining seconds, an `int64`. `expiration`: a
    `timestamp[s, tz=UTC]`. `ttl` and `expiration` are null if the record never expires.

    Raises `TypeError` for types that bins cannot be converted to, `InvalidArgumentError` for invalid bin names and
    duplicate column names, and `ValueError` for other values of `misfits` and `mixed`.
    """

    def __new__(
        cls,
        schema: _ArrowTypes | None = None,
        *,
        schema_overrides: _ArrowTypes | None = None,
        key: str | tuple[str, str] | None = None,
        digest: str | tuple[str, str] | None = None,
        generation: str | None = None,
        ttl: str | None = None,
        expiration: str | None = None,
        misfits: Literal["raise", "null"] | None = None,
        mixed: Literal["raise", "json"] | None = None,
    ) -> Self: ...

@final
class Recordset:
    """The records of a query as they arrive. Iterate over it with `for` or `async for`, from any number of threads or
    tasks; each record goes to one of them.

    The client buffers few records (`QueryPolicy.record_queue_size`, and a frame of at most 1 MiB for each node): while
    nobody reads, the servers wait. An error is raised by the iteration and ends it; the records before it are valid,
    and `partition_filter` says where to continue. If a task is cancelled at the moment its record arrives, that record
    is lost. Closing the recordset, leaving its context manager or dropping it ends the query.
    """

    @property
    def active(self) -> bool:
        """Whether more records may arrive."""
    def close(self) -> None:
        """Ends the query. Records that were not read are dropped. A second call does nothing."""
    def partition_filter(self) -> Awaitable[PartitionFilter]:
        """The partition filter of the query, which says how far it has been read. Pass it to another query to
        continue there. Awaitable.
        """
    def partition_filter_sync(self) -> PartitionFilter:
        """The partition filter of the query, which says how far it has been read. Pass it to another query to
        continue there.
        """
    def to_numpy(self, dtype: Any) -> Awaitable[NumpyRecords]:
        """The remaining records as numpy arrays. `dtype`: a structured dtype with a field for each bin (`[("age",
        "i8"), ("name", "S16")]`). Awaitable of `NumpyRecords`.

        All records are held in memory; read large results in pages (`QueryPolicy.max_records`). Raises `TypeError` if a
        field has a type that bins cannot be converted to, and the errors that the iteration would raise.
        """
    def to_numpy_blocking(self, dtype: Any) -> NumpyRecords:
        """The same as `to_numpy`, on the calling thread."""
    def to_arrow(
        self,
        schema: _ArrowTypes | ArrowColumns | None = None,
        *,
        batch_rows: int = 65536,
        infer_schema_length: int | None = None,
        schema_overrides: _ArrowTypes | None = None,
        key: str | tuple[str, str] | None = None,
        digest: str | tuple[str, str] | None = None,
        generation: str | None = None,
        ttl: str | None = None,
        expiration: str | None = None,
        misfits: Literal["raise", "null"] | None = None,
        mixed: Literal["raise", "json"] | None = None,
    ) -> ArrowStream:
        """The remaining records as a stream of Arrow record batches: an `ArrowStream`, which pyarrow, polars and others
        read through the Arrow `PyCapsule` interface.

        Without a `schema`, the columns and their types are those of the first `infer_schema_length` records (default:
        10,000, and at most 32 MiB); a later value that does not fit is an error. `await stream`, `to_pyarrow()`,
        `to_pandas()` and `to_polars()` hold all records anyway, and use all of them. `schema`: a column for each bin,
        as a dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema (such as pyarrow's); or an
        `ArrowColumns`, which also describes the other arguments and how types are determined.

        Types: `bool`, `int8` to `int64`, `uint8` to `uint64`, `float16` to `float64`, `utf8`, `large_utf8`,
        `string_view`, `binary`, `large_binary`, `binary_view`, `fixed_size_binary[20]`, `date32`, `date64`, `time32[s]`
        and so on, `timestamp[us]`, `timestamp[ms, tz=UTC]`, `duration[ns]`, `null`, `json` (any value, as JSON text),
        `list<int64>`, `large_list<utf8>`, `list_view<..>`, `fixed_size_list<float32>[3]`, `struct<x: int64, y: utf8>`,
        `map<utf8, int64>`, `dictionary<utf8>`.

        Returns at once. Records are read when the reader asks for the next batch, on the reader's thread. In asyncio,
        await the stream or iterate over it with `async for` to get `ArrowRecords`. A batch has at most `batch_rows`
        records (1 to 2**24) and at most about 32 MiB. Raises `TypeError` for a column of another type, and
        `InvalidArgumentError` for invalid bin names.
        """
    def __aiter__(self) -> Self: ...
    def __iter__(self) -> Self: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...
    def __anext__(self) -> Awaitable[Record]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __next__(self) -> Record: ...

class _Task:
    """What the servers do in the background."""

    def query_status(self) -> Awaitable[TaskStatus]:
        """The status of the task: a `TaskStatus`. Awaitable. Raises an error if a node does not answer."""
    def query_status_blocking(self) -> TaskStatus:
        """The status of the task: a `TaskStatus`. Raises an error if a node does not answer."""
    def wait_till_complete(
        self, sleep_time: float = 0.25, timeout: float | None = 60.0, *, max_attempts: int | None = None
    ) -> Awaitable[bool]:
        """Waits until the task is complete; returns `True`. Awaitable. Asks every `sleep_time` seconds, for at most
        `timeout` seconds (`None`: without a limit), and then raises `TimeoutError`; the task itself continues.

        `max_attempts`: how often to ask, instead of `timeout`, as in the first versions of Aerospike's SDK.
        """
    def wait_till_complete_blocking(
        self, sleep_time: float = 0.25, timeout: float | None = 60.0, *, max_attempts: int | None = None
    ) -> bool:
        """Waits until the task is complete; returns `True`. Asks every `sleep_time` seconds, for at most `timeout`
        seconds (`None`: without a limit), and then raises `TimeoutError`; the task itself continues.

        `max_attempts`: how often to ask, instead of `timeout`, as in the first versions of Aerospike's SDK.
        """

@final
class ExecuteTask(_Task):
    """A background task: operations or a function that the servers apply to all records that a query finds."""

    @property
    def task_id(self) -> int:
        """The number of the task on the servers."""

@final
class IndexTask(_Task):
    """An index that is being built."""

@final
class DropIndexTask(_Task):
    """An index that is being dropped."""

@final
class RegisterTask(_Task):
    """A UDF module that is being registered."""

@final
class UdfRemoveTask(_Task):
    """A UDF module that is being removed."""
