"""Queries: what they ask for, what they give."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, final

from typing_extensions import CapsuleType

from ._awaitable import Awaitable
from ._enums import CollectionIndexType, QuerySelection, TaskStatus
from ._operations import BaseOperation
from ._values import GeoJSON, Key, Record

@final
class Filter:
    """A range of a secondary index, for `Statement.filters`: `Filter.range("age", 18, 30)`, `Filter.equal("name",
    "ann")`.
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
    """What a query asks for: `Statement(namespace, set_name=None, bins=None)`."""

    def __new__(cls, namespace: str, set_name: str | None = None, bins: Sequence[str] | None = None) -> Statement: ...
    @property
    def namespace(self) -> str:
        """The namespace."""
    set_name: str | None
    filters: list[Filter] | None
    def set_aggregate_function(
        self, package_name: str, function_name: str, function_args: Sequence[Any] | None = None
    ) -> None:
        """Runs a stream function of a UDF module over the records on each node. Each result comes as a record
        without a key, whose bin `"SUCCESS"` has it. What several nodes give is left to the caller to reduce.
        """
    def set_operations(self, ops: Sequence[BaseOperation]) -> None:
        """Carries out operations on each record, in place of reading bins: a list of `Operation` that read.
        `Record.bins` has what they give. On servers before 8.1.2 only `Operation.get_bin`.
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
        """The range of the secondary index as a `Filter`, to look at; `None`: none is used. `query_with_plan` needs
        no filter.
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
    """Which partitions a query reads, and how far it has come: `PartitionFilter()` is all 4,096 of them."""

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
    """Records as numpy arrays: what `batch_read(.., as_numpy=dtype)` and `Recordset.to_numpy(dtype)` give."""

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
    """Records as Arrow columns: what `batch_read(.., as_arrow=schema)` gives, and `await
    Recordset.to_arrow(schema)`.
    """

    @property
    def result_codes(self) -> list[int]:
        """The result code of each row, a list. 0: there is a record; 2: there is none; others: see `ResultCode`."""
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def to_pandas(self) -> Any:
        """The columns as a `pandas.DataFrame` with types of Arrow (`pandas.ArrowDtype`), so that ints with nulls stay
        ints. Raises `ImportError` where pandas or pyarrow is not installed.
        """
    def to_polars(self) -> Any:
        """The columns as a `polars.DataFrame`. Raises `ImportError` where polars is not installed."""
    def __len__(self) -> int: ...

@final
class ArrowStream:
    """Records of a query as Arrow columns, as they come: what `Recordset.to_arrow(schema)` gives."""

    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def to_pandas(self) -> Any:
        """The columns as a `pandas.DataFrame` with types of Arrow (`pandas.ArrowDtype`), so that ints with nulls stay
        ints. Raises `ImportError` where pandas or pyarrow is not installed.
        """
    def to_polars(self) -> Any:
        """The columns as a `polars.DataFrame`. Raises `ImportError` where polars is not installed."""
    def __await__(self) -> Generator[Any, Any, ArrowRecords]: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[ArrowRecords]: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> Any: ...

@final
class Recordset:
    """The records of a query, as they come: iterate over it with `for` or `async for`, on any number of threads or
    tasks (each record comes to one of them).
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
        schema: Mapping[str, str] | Iterable[tuple[str, str]] | _ArrowSchema,
        *,
        batch_rows: int = 65536,
        key: tuple[str, str] | None = None,
        generation: str | None = None,
        ttl: str | None = None,
    ) -> ArrowStream:
        """The records that have not been taken, as a stream of Arrow record batches: an `ArrowStream`, which
        pyarrow, polars and others read through the Arrow `PyCapsule` interface. `schema`: a column for each bin, as
        a dict (`{"age": "int64", "name": "utf8"}`), as pairs, or as an Arrow schema (pyarrow's, for one). Types:
        `bool`, `int8` to `int64`, `uint8` to `uint64`, `float32`, `float64`, `utf8`, `large_utf8`, `string_view`,
        `binary`, `large_binary`, `binary_view`, `date32`, `date64`, `time32[s]` and so on, `timestamp[us]`,
        `timestamp[ms, tz=UTC]`, `duration[ns]`.
        """
    def to_numpy(self, dtype: Any) -> Awaitable[NumpyRecords]:
        """The records that have not been taken, as numpy arrays. `dtype`: structured, a field for each bin
        (`[("age", "i8"), ("name", "S16")]`). Awaitable: gives `NumpyRecords`.
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
        """Waits until the task is over; gives `True`. Awaitable. Asks every `sleep_time` seconds, for at most
        `timeout` seconds (`None`: for ever). Raises `TimeoutError` after that: the task itself goes on.
        """
    def wait_till_complete_blocking(
        self, sleep_time: float = 0.25, timeout: float | None = 60.0, *, max_attempts: int | None = None
    ) -> bool:
        """Waits until the task is over; gives `True`. Asks every `sleep_time` seconds, for at most `timeout` seconds
        (`None`: for ever). Raises `TimeoutError` after that: the task itself goes on.
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
