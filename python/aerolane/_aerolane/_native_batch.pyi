"""Batches of a native client."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from ._awaitable import Awaitable
from ._batch import BatchDeleteOp, BatchReadOp, BatchRecords, BatchRecordStream, BatchUDFOp, BatchWriteOp
from ._call_policies import BatchPolicy
from ._operations import BaseOperation
from ._query import ArrowColumns, ArrowRecords, NumpyRecords, _ArrowTypes
from ._step_policies import BatchDeletePolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy
from ._values import Key, Record

class _Batches:
    """Batches. Each method has a twin without `await`."""

    def batch(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Executes a batch with rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`.
        Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried if a row writes.
        """
    @overload
    def batch_read(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Literal[False] | None = None,
    ) -> Awaitable[BatchRecords]:
        """Reads many records: all bins, only `bins`, or none if it is an empty list. Returns a list of `BatchRecord` in
        the order of the keys; the row of a record that does not exist has the result code `KEY_NOT_FOUND_ERROR`.

        If the whole request to a node fails (a timeout or a lost connection, after all retries), its rows have that
        error. It is raised if the server answered no row at all; the exception then has the rows as `records`.

        With `as_numpy`, a structured dtype with a field for each bin (`[("age", "i8"), ("name", "S16")]`), it returns
        `NumpyRecords`: numpy arrays that are filled straight from the answers, without the GIL. Raises `TypeError` if a
        field has a type that bins cannot be converted to.

        With `as_arrow`, it returns `ArrowRecords`: Arrow columns for pyarrow, polars and others. Pass `True` for
        columns whose types are those of the records, a schema with a column for each bin (as for `Recordset.to_arrow`),
        or an `ArrowColumns`, which can also add columns for keys and more. Raises `TypeError` if a column has a type
        that bins cannot be converted to, `InvalidArgumentError` if a bin has values of several types (see
        `ArrowColumns`), and `ValueError` if `as_numpy` is given as well.
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
        as_arrow: Literal[False] | None = None,
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
        as_arrow: Literal[True] | _ArrowTypes | ArrowColumns,
    ) -> Awaitable[ArrowRecords]: ...
    def batch_write(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Writes many records: to each key the bins at the same index in `bins_list`. Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried. Raises `ValueError` if the lists differ in length.
        """
    def batch_operate(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Executes operations on many records: on each key the operations at the same index in `operations_list`.
        Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried if an operation writes. Raises `ValueError` if the lists differ in
        length.
        """
    def batch_delete(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Deletes many records. Returns a list of `BatchRecord`. Without `batch_policy`, nothing is retried."""
    def batch_exists(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[bool]]:
        """Checks which of many records exist. Returns a list of bools. Raises the error of a row that failed for any
        other reason.
        """
    def batch_get_header(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> Awaitable[list[Record | None]]:
        """Reads the generation and expiration of many records. Returns a list of `Record` without bins, `None` for
        records that do not exist. Raises the error of a row that failed for any other reason.
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
        """Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with the
        same `args` (a list, or None). Returns a list of `BatchRecord`. The function's return value is in the bin
        `"SUCCESS"` of the row's record; if the function failed, the row has a `UdfError` with the server's message
        (file, line and what was wrong).

        Without `batch_policy`, nothing is retried. Raises what `execute_udf` raises for arguments that cannot be sent.
        """
    def batch_stream(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecordStream]:
        """The same as `batch`, but returns the rows as the nodes answer: a `BatchRecordStream` of pairs of a row's
        index in `ops` and its `BatchRecord`. Cannot be part of a transaction (`InvalidArgumentError`).
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
        """Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with the
        same `args` (a list, or None). Returns a list of `BatchRecord`. The function's return value is in the bin
        `"SUCCESS"` of the row's record; if the function failed, the row has a `UdfError` with the server's message
        (file, line and what was wrong).

        Without `batch_policy`, nothing is retried. Raises what `execute_udf` raises for arguments that cannot be sent.
        """
    def batch_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecords:
        """Executes a batch with rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`.
        Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried if a row writes.
        """
    def batch_delete_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        delete_policy: BatchDeletePolicy | None = None,
    ) -> BatchRecords:
        """Deletes many records. Returns a list of `BatchRecord`. Without `batch_policy`, nothing is retried."""
    def batch_exists_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[bool]:
        """Checks which of many records exist. Returns a list of bools. Raises the error of a row that failed for any
        other reason.
        """
    def batch_get_header_blocking(
        self,
        keys: Iterable[Key],
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
    ) -> list[Record | None]:
        """Reads the generation and expiration of many records. Returns a list of `Record` without bins, `None` for
        records that do not exist. Raises the error of a row that failed for any other reason.
        """
    def batch_operate_blocking(
        self,
        keys: Iterable[Key],
        operations_list: Iterable[Sequence[BaseOperation]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> BatchRecords:
        """Executes operations on many records: on each key the operations at the same index in `operations_list`.
        Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried if an operation writes. Raises `ValueError` if the lists differ in
        length.
        """
    @overload
    def batch_read_blocking(
        self,
        keys: Iterable[Key],
        bins: Sequence[str] | None = None,
        *,
        batch_policy: BatchPolicy | None = None,
        read_policy: BatchReadPolicy | None = None,
        as_numpy: None = None,
        as_arrow: Literal[False] | None = None,
    ) -> BatchRecords:
        """Reads many records: all bins, only `bins`, or none if it is an empty list. Returns a list of `BatchRecord` in
        the order of the keys; the row of a record that does not exist has the result code `KEY_NOT_FOUND_ERROR`.

        If the whole request to a node fails (a timeout or a lost connection, after all retries), its rows have that
        error. It is raised if the server answered no row at all; the exception then has the rows as `records`.

        With `as_numpy`, a structured dtype with a field for each bin (`[("age", "i8"), ("name", "S16")]`), it returns
        `NumpyRecords`: numpy arrays that are filled straight from the answers, without the GIL. Raises `TypeError` if a
        field has a type that bins cannot be converted to.

        With `as_arrow`, it returns `ArrowRecords`: Arrow columns for pyarrow, polars and others. Pass `True` for
        columns whose types are those of the records, a schema with a column for each bin (as for `Recordset.to_arrow`),
        or an `ArrowColumns`, which can also add columns for keys and more. Raises `TypeError` if a column has a type
        that bins cannot be converted to, `InvalidArgumentError` if a bin has values of several types (see
        `ArrowColumns`), and `ValueError` if `as_numpy` is given as well.
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
        as_arrow: Literal[False] | None = None,
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
        as_arrow: Literal[True] | _ArrowTypes | ArrowColumns,
    ) -> ArrowRecords: ...
    def batch_stream_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecordStream:
        """The same as `batch`, but returns the rows as the nodes answer: a `BatchRecordStream` of pairs of a row's
        index in `ops` and its `BatchRecord`. Cannot be part of a transaction (`InvalidArgumentError`).
        """
    def batch_write_blocking(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> BatchRecords:
        """Writes many records: to each key the bins at the same index in `bins_list`. Returns a list of `BatchRecord`.

        Without `batch_policy`, nothing is retried. Raises `ValueError` if the lists differ in length.
        """
