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

    The constructors ending in `_by_index` name the index; the others name the bin, and the server finds its index. A
    query whose filter has no index fails with the error of that (`IndexNotFoundError`). Filters are immutable.

    Raises `TypeError` for a value of a type that no index holds, `OverflowError` for an int beyond 64 bits,
    `InvalidArgumentError` (a `ValueError`) for a bin name beyond 15 bytes.
    """

    @staticmethod
    def equal(bin_name: str, value: int | str | bytes) -> Filter:
        """The bin has this value: an int, a str or bytes."""
    @staticmethod
    def equal_by_index(index_name: str, value: int | str | bytes) -> Filter:
        """The index holds this value: an int, a str or bytes."""
    @staticmethod
    def range(bin_name: str, begin: int, end: int) -> Filter:
        """The bin has an int from `begin` to `end`, both included."""
    @staticmethod
    def range_by_index(index_name: str, begin: int, end: int) -> Filter:
        """The index holds an int from `begin` to `end`, both included."""
    @staticmethod
    def contains(bin_name: str, value: int | str | bytes, cit: CollectionIndexType | None = None) -> Filter:
        """The list or map in the bin contains this value (`cit` says where: `CollectionIndexType`)."""
    @staticmethod
    def contains_by_index(index_name: str, value: int | str | bytes, cit: CollectionIndexType | None = None) -> Filter:
        """`contains`, over an index that is named."""
    @staticmethod
    def contains_range(bin_name: str, begin: int, end: int, cit: CollectionIndexType | None = None) -> Filter:
        """The list or map in the bin contains an int from `begin` to `end`, both included."""
    @staticmethod
    def contains_range_by_index(
        index_name: str, begin: int, end: int, cit: CollectionIndexType | None = None
    ) -> Filter:
        """`contains_range`, over an index that is named."""
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
        """`within_region`, over an index that is named."""
    @staticmethod
    def within_radius(
        bin_name: str, lng: float, lat: float, radius: float, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The point in the bin lies within a circle. `lng`, `lat`: its centre in degrees; `radius` in metres."""
    @staticmethod
    def within_radius_by_index(
        index_name: str, lng: float, lat: float, radius: float, cit: CollectionIndexType | None = None
    ) -> Filter:
        """`within_radius`, over an index that is named."""
    @staticmethod
    def regions_containing_point(
        bin_name: str, point: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """The region in the bin contains a point: GeoJSON as a str, a dict or a `GeoJSON`."""
    @staticmethod
    def regions_containing_point_by_index(
        index_name: str, point: str | dict[str, Any] | GeoJSON, cit: CollectionIndexType | None = None
    ) -> Filter:
        """`regions_containing_point`, over an index that is named."""
    def context(self, ctx: Sequence[Any]) -> Filter:
        """The filter over an index of what a context selects within the bin: `ctx` is a list of `CTX`."""
    def expression(self, exp: Any) -> Filter:
        """The filter over the index of an expression: `exp` is the `FilterExpression` that it was created with."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Statement:
    """What a query asks for: `Statement(namespace, set_name=None, bins=None)`.

    `set_name`: only the records of this set; `None` or `""`: of all sets. `bins`: only these bins (a list of names);
    `None`: all; an empty list: none, only keys, generations and expirations. Without a filter (`filters`) all records
    are asked for, which is called a scan.

    Raises `TypeError` for bins that are no list of str, `InvalidArgumentError` (a `ValueError`) for an empty or too
    long namespace, a set name beyond 63 bytes, a bin name beyond 15.
    """

    def __new__(cls, namespace: str, set_name: str | None = None, bins: Sequence[str] | None = None) -> Statement: ...
    @property
    def namespace(self) -> str:
        """The namespace."""
    set_name: str | None
    filters: list[Filter] | None
    def set_aggregate_function(
        self, package_name: str, function_name: str, function_args: Sequence[Any] | None = None
    ) -> None:
        """Runs a stream function of a UDF module over the records on each node. Each result comes as a record without a
        key, whose bin `"SUCCESS"` has it. What several nodes give is left to the caller to reduce.

        Raises as `Client.execute_udf` does for arguments that cannot be sent.
        """
    def set_operations(self, ops: Sequence[BaseOperation]) -> None:
        """Carries out operations on each record, in place of reading bins: a list of `Operation` that read.
        `Record.bins` has what they give. On servers before 8.1.2 only `Operation.get_bin`.

        Raises `TypeError` for what is no operation, `InvalidArgumentError` (a `ValueError`) for none.
        """

@final
class QueryPlan:
    """What the servers have chosen for a condition, `Client.query_explain`'s result: an index and a range of it, all
    records, or none. For `Client.query_with_plan`. Immutable.
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
        """The name of the secondary index; `None`: none is used."""
    @property
    def index_range_bytes(self) -> bytes | None:
        """The range of the secondary index, as the server has sent it; `None`: none is used."""
    @property
    def index_type(self) -> CollectionIndexType:
        """What of a bin the secondary index covers: a `CollectionIndexType`, DEFAULT without an index."""
    @property
    def is_primary_index(self) -> bool:
        """Whether all records are looked at: no secondary index serves the condition."""
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
        """The range of the secondary index as a `Filter`, to look at; `None`: none is used. `query_with_plan` needs no
        filter.

        Raises `BadResponseError` for a range of another form than filters have.
        """

@final
class PartitionStatus:
    """How far one partition has been read: `PartitionStatus(id)` is one that has not been begun. For
    `PartitionFilter.partitions`.
    """

    def __new__(cls, id: int) -> PartitionStatus: ...
    @property
    def id(self) -> int:
        """The partition, 0 to 4095."""
    retry: bool
    digest: str | None
    bval: int | None
    def __getitem__(self, key: str, /) -> Any: ...
    def __setitem__(self, key: str, value: Any, /) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PartitionFilter:
    """Which partitions a query reads, and how far it has come: `PartitionFilter()` is all 4,096 of them.

    A query leaves the filter that it is called with as it is: it can be used for any number of queries. How far a query
    has come tells the filter that its `Recordset` has, `recordset.partition_filter_sync()`: it moves on with each
    record that is taken. Handed to another query, it goes on behind the last record: so results are read in pages
    (`QueryPolicy.max_records`), until it is `done()`. It can be pickled, to go on in another process.

    Other partitions can be set (`begin`, `count`, `digest`, or `partitions`), which are then read from the place that
    was set. That they exist is checked when the filter is used: `InvalidArgumentError` (a `ValueError`).
    """

    def __new__(cls) -> PartitionFilter: ...
    @staticmethod
    def all() -> PartitionFilter:
        """All partitions."""
    @staticmethod
    def by_id(id: int) -> PartitionFilter:
        """One partition, 0 to 4095. Raises `InvalidArgumentError` (a `ValueError`) for another number."""
    @staticmethod
    def by_key(key: Key) -> PartitionFilter:
        """The partition of a key, from behind this key on."""
    @staticmethod
    def by_range(begin: int, count: int) -> PartitionFilter:
        """The partitions from `begin` on, `count` of them. Raises `InvalidArgumentError` (a `ValueError`) for none,
        or one beyond 4095.
        """
    begin: int
    count: int
    digest: str | None
    @property
    def partitions(self) -> list[PartitionStatus]:
        """How far each partition has been read: a list of `PartitionStatus`, copies. Set to such a list (of
        partitions that follow each other, `begin` and `count` are then theirs), the filter stands where these say;
        set to `None`, at the beginning of its partitions.
        """
    @partitions.setter
    def partitions(self, value: Sequence[PartitionStatus] | None) -> None: ...
    def done(self) -> bool:
        """Whether nothing is left in any of the partitions."""
    @staticmethod
    def _restore(begin: int, states: bytes, digest: bytes | None, /) -> PartitionFilter: ...
    def __reduce__(self) -> tuple[Any, Any]: ...

@final
class NumpyRecords:
    """Records as numpy arrays: what `batch_read(.., as_numpy=dtype)` and `Recordset.to_numpy(dtype)` give.

    A bin that is missing, or whose value does not fit its field, is not `valid`; its place in `batch_records` then has
    0, in float fields not-a-number. Fits: an int in an int field that can hold it, and in a float field up to 2**53; a
    float in a float field (an `f4` rounds); a bool in a bool field; a str or bytes in an `S` or `V` field, a str in a
    `U` field, if it is not too long. Nothing is cut off.
    """

    @property
    def batch_records(self) -> Any:
        """The bins: a structured array of the dtype that was asked for, a row for each key or record, in order."""
    @property
    def valid(self) -> Any:
        """Which bins are valid: a structured array of bools with the same fields."""
    @property
    def result_codes(self) -> Any:
        """The result code of each row: an array of i4. 0: there is a record; 2: there is none; others: see
        `ResultCode`.
        """
    @property
    def meta(self) -> Any:
        """Generation (`gen`), and `expiration` in seconds since 2010-01-01 00:00:00 UTC (0: never), of each record:
        a structured array of u4.
        """
    def masked(self) -> Any:
        """The bins as a `numpy.ma.MaskedArray`, which hides what is not valid. Its data is `batch_records` itself."""
    def __len__(self) -> int: ...

@final
class ArrowRecords:
    """Records as Arrow columns: what `batch_read(.., as_arrow=schema)` gives, and `await Recordset.to_arrow(schema)`.

    `pyarrow.table(records)`, `polars.DataFrame(records)` and whatever else knows the Arrow `PyCapsule` interface take
    the columns over without a copy, any number of times. For a batch a row for each key, in order; for a query one for
    each record that it finds.

    A place is null if the record or the bin is missing, or if the value does not fit the column. Fits: an int in a
    column of ints that can hold it, in dates, times, timestamps and durations (as a number of their unit), in a
    `uint64` as the number with the same bits, and in floats up to 2**53; a float in floats (a `float32` rounds); a bool
    in a `bool`; a str in `utf8`, `large_utf8` and `string_view`; a str or bytes in `binary`, `large_binary` and
    `binary_view`.
    """

    @property
    def result_codes(self) -> list[int]:
        """The result code of each row, a list. 0: there is a record; 2: there is none; others: see `ResultCode`."""
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
    def __len__(self) -> int: ...

@final
class ArrowStream:
    """Records of a query as Arrow columns, as they come: what `Recordset.to_arrow(schema)` gives.

    `pyarrow.RecordBatchReader.from_stream(stream)`, and whatever else knows the Arrow `PyCapsule` interface, takes
    record batches from it without a copy, once. Each is gathered when it is asked for, on the thread that asks, without
    the GIL. What is null: see `ArrowRecords`. An error of the query ends the stream, behind what came before it; the
    reader raises it as its own kind of error (pyarrow: `OSError`) with the text of ours.

    In asyncio: `await stream` gives all records that are left as one `ArrowRecords`, held in memory; `async for part in
    stream` gives them in parts of `batch_rows`, each an `ArrowRecords`. The event loop goes on meanwhile. The errors of
    the query are raised there, behind what came before them. A task that is cancelled while it waits loses nothing: who
    reads the stream next has what was gathered.
    """

    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def close(self) -> None:
        """Ends the query. Records that were not read are dropped. A second call does nothing."""
    def to_pandas(self) -> Any:
        """The columns as a `pandas.DataFrame` with types of Arrow (`pandas.ArrowDtype`), so that ints with nulls
        stay ints. Raises `ImportError` where pandas or pyarrow is not installed.
        """
    def to_polars(self) -> Any:
        """The columns as a `polars.DataFrame`. Raises `ImportError` where polars is not installed."""
    def to_pyarrow(self) -> Any:
        """The columns as a `pyarrow.Table`, without a copy. Raises `ImportError` where pyarrow is not installed."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> ArrowRecords: ...
    def __await__(self) -> Generator[Any, Any, ArrowRecords]: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[ArrowRecords]: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> Any: ...

_ArrowTypes: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]] | _ArrowSchema

@final
class ArrowColumns:
    """Which columns a batch or a query gives, and how their types are found.

    `client.batch_read(keys, as_arrow=ArrowColumns(..))` and `Recordset.to_arrow(ArrowColumns(..))` take it. Without a
    schema the columns and types are those of the records:

    * int: `int64`, float: `float64`, both: `float64`; bool, str and GeoJSON: `utf8`, bytes and HLL: `binary`
    * list: a list of the type of its items
    * dict: a struct if all records have the same keys, all of them str; else a map, if keys are of one type and values,
      too; else a struct of all keys, if these are str
    * a bin with values of other types together: `InvalidArgumentError`, which names the bin, the types, and a record of
      each. `mixed="json"`: such bins become JSON texts

    `schema`: a column for each bin, as a dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema
    (pyarrow's, for one). `schema_overrides`: the same for some bins, while the types of the others are found.

    `misfits`: what becomes of a value that does not fit its column. `"raise"`, the default without a schema: an
    `InvalidArgumentError`, which names bin and record; also for a bin without a column. `"null"`, the default with a
    schema: it is null, and a bin without a column is left out.

    Further columns have these names: `key` user keys, as a name, or as name and type (`("id", "int64")`); of queries
    null where the server does not keep them (`send_key`). `digest` 20 bytes, or with `("digest", "utf8")` 40
    hexadecimal digits. `generation` a `uint32`. `ttl` the seconds left, an `int64`, and `expiration` the moment, a
    `timestamp[s, tz=UTC]`; both null if the record never expires.

    Raises `TypeError` for types that bins cannot become, `InvalidArgumentError` for names that no bin can have and
    names that are there twice, and `ValueError` for other words in `misfits` and `mixed`.
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
    """The records of a query, as they come: iterate over it with `for` or `async for`, on any number of threads or
    tasks (each record comes to one of them).

    Few records wait in the client (`QueryPolicy.record_queue_size`, and a frame of at most 1 MiB for each node): while
    nobody reads, the servers wait. An error ends the iteration by being raised there; what came before it counts, and
    `partition_filter` says from where to go on. A record that arrives at the moment in which the task that waits for it
    is cancelled goes with it. Closing it, leaving it as a context manager and dropping it end the query.
    """

    @property
    def active(self) -> bool:
        """Whether records may still come."""
    def close(self) -> None:
        """Ends the query. Records that were not taken are dropped. A second call does nothing."""
    def partition_filter(self) -> Awaitable[PartitionFilter]:
        """The partition filter of the query, which says how far it has been read: handed to another query, it goes
        on there. Awaitable.
        """
    def partition_filter_sync(self) -> PartitionFilter:
        """The partition filter of the query, which says how far it has been read: handed to another query, it goes
        on there.
        """
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
        """The records that have not been taken, as a stream of Arrow record batches: an `ArrowStream`, which
        pyarrow, polars and others read through the Arrow `PyCapsule` interface.

        Without a `schema` the columns and their types are those of the records: of the first `infer_schema_length` ones
        (default: 10,000, and at most 32 MiB), or of all where all are held anyway: `await stream`, `to_pyarrow()`,
        `to_pandas()`, `to_polars()`. A later value that does not fit is an error. `schema`: a column for each bin, as a
        dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema (pyarrow's, for one); or an
        `ArrowColumns`. What the other arguments do, and how types are found: see `ArrowColumns`.

        Types: `bool`, `int8` to `int64`, `uint8` to `uint64`, `float16` to `float64`, `utf8`, `large_utf8`,
        `string_view`, `binary`, `large_binary`, `binary_view`, `fixed_size_binary[20]`, `date32`, `date64`, `time32[s]`
        and so on, `timestamp[us]`, `timestamp[ms, tz=UTC]`, `duration[ns]`, `null`, `json` (any value, as JSON text),
        `list<int64>`, `large_list<utf8>`, `list_view<..>`, `fixed_size_list<float32>[3]`, `struct<x: int64, y: utf8>`,
        `map<utf8, int64>`, `dictionary<utf8>`.

        Returns at once. Records are read when the reader asks for the next batch, and that thread then waits. In
        asyncio await the stream, or iterate over it with `async for`, for `ArrowRecords`. A batch has at most
        `batch_rows` records (1 to 2**24), and ends earlier when it has 32 MiB. Raises `TypeError` for a column of
        another type, and `InvalidArgumentError` for names that no bin can have.
        """
    def to_numpy(self, dtype: Any) -> Awaitable[NumpyRecords]:
        """The records that have not been taken, as numpy arrays. `dtype`: structured, a field for each bin (`[("age",
        "i8"), ("name", "S16")]`). Awaitable: gives `NumpyRecords`.

        All of them are held in memory: for results of any size, read them in pages (`QueryPolicy.max_records`). Raises
        `TypeError` for a dtype with fields that bins cannot become, and the errors of the iteration.
        """
    def to_numpy_blocking(self, dtype: Any) -> NumpyRecords:
        """The records that have not been taken, as numpy arrays: `to_numpy` on the calling thread."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Record: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[Record]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

class _Task:
    """What the servers do in the background."""

    def query_status(self) -> Awaitable[TaskStatus]:
        """Where the task stands: a `TaskStatus`. Awaitable. Raises the error of a node that does not answer."""
    def query_status_blocking(self) -> TaskStatus:
        """Where the task stands: a `TaskStatus`. Raises the error of a node that does not answer."""
    def wait_till_complete(
        self, sleep_time: float = 0.25, timeout: float | None = 60.0, *, max_attempts: int | None = None
    ) -> Awaitable[bool]:
        """Waits until the task is over; gives `True`. Awaitable. Asks every `sleep_time` seconds, for at most `timeout`
        seconds (`None`: for ever). Raises `TimeoutError` after that: the task itself goes on.

        `max_attempts`: in place of `timeout`, how often it asks, as code for the first versions of the SDK of Aerospike
        says it.
        """
    def wait_till_complete_blocking(
        self, sleep_time: float = 0.25, timeout: float | None = 60.0, *, max_attempts: int | None = None
    ) -> bool:
        """Waits until the task is over; gives `True`. Asks every `sleep_time` seconds, for at most `timeout` seconds
        (`None`: for ever). Raises `TimeoutError` after that: the task itself goes on.

        `max_attempts`: in place of `timeout`, how often it asks, as code for the first versions of the SDK of Aerospike
        says it.
        """

@final
class ExecuteTask(_Task):
    """Operations, or a function, that the servers carry out in the background on all records that a query finds."""

    @property
    def task_id(self) -> int:
        """The number by which the servers know it."""

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
