"""Batches of a native client."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from ._awaitable import Awaitable
from ._batch import BatchDeleteOp, BatchReadOp, BatchRecords, BatchRecordStream, BatchUDFOp, BatchWriteOp
from ._call_policies import BatchPolicy
from ._operations import BaseOperation
from ._query import (
    ArrowColumns,
    ArrowRecords,
    NumpyRecords,
    _ArrowTypes,
)
from ._step_policies import (
    BatchDeletePolicy,
    BatchReadPolicy,
    BatchUDFPolicy,
    BatchWritePolicy,
)
from ._values import Key, Record

class _Batches:
    """Batches. Each method has a twin without `await`."""

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
        """Reads many records: all bins, those of `bins`, or, with an empty list, none. Gives a list of `BatchRecord`,
        in the order of the keys; a record that does not exist has the result code of that.

        When the request to a node fails as a whole (a timeout, a lost connection; after the retries), its rows have
        that error. It is raised when no row was answered by the server at all; then the exception has the rows as its
        `records`.

        With `as_numpy`, a structured dtype with a field for each bin (`[("age", "i8"), ("name", "S16")]`), it gives
        `NumpyRecords`: numpy arrays that were filled straight from the answers, without the GIL. Raises `TypeError` for
        a dtype with fields that bins cannot become.

        With `as_arrow`, a schema with a column for each bin (as for `Recordset.to_arrow`), it gives `ArrowRecords`:
        Arrow columns for pyarrow, polars and others. Raises `TypeError` for columns that bins cannot become, and
        `ValueError` when `as_numpy` is there, too.
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
        """Reads many records: all bins, those of `bins`, or, with an empty list, none. Gives a list of `BatchRecord`,
        in the order of the keys; a record that does not exist has the result code of that.

        When the request to a node fails as a whole (a timeout, a lost connection; after the retries), its rows have
        that error. It is raised when no row was answered by the server at all; then the exception has the rows as its
        `records`.

        With `as_numpy`, a structured dtype with a field for each bin (`[("age", "i8"), ("name", "S16")]`), it gives
        `NumpyRecords`: numpy arrays that were filled straight from the answers, without the GIL. Raises `TypeError` for
        a dtype with fields that bins cannot become.

        With `as_arrow`, a schema with a column for each bin (as for `Recordset.to_arrow`), it gives `ArrowRecords`:
        Arrow columns for pyarrow, polars and others. Raises `TypeError` for columns that bins cannot become, and
        `ValueError` when `as_numpy` is there, too.
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
    def batch_write(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Writes to many records: to each key the bins of the same place in `bins_list`. Gives a list of `BatchRecord`.

        Without `batch_policy` nothing is tried again. Raises `ValueError` for lists that differ in length.
        """
    def batch_write_blocking(
        self,
        keys: Iterable[Key],
        bins_list: Iterable[Mapping[str, Any]],
        *,
        batch_policy: BatchPolicy | None = None,
        write_policy: BatchWritePolicy | None = None,
    ) -> BatchRecords:
        """Writes to many records: to each key the bins of the same place in `bins_list`. Gives a list of `BatchRecord`.

        Without `batch_policy` nothing is tried again. Raises `ValueError` for lists that differ in length.
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

        Without `batch_policy` nothing is tried again if an operation writes. Raises `ValueError` for lists that differ
        in length.
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

        Without `batch_policy` nothing is tried again if an operation writes. Raises `ValueError` for lists that differ
        in length.
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
        """Applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to many records, with the
        same `args` (a list, or None). Gives a list of `BatchRecord`: what the function returned is the bin `"SUCCESS"`
        of the row's record; a row whose function failed has a `UdfError` with the server's message (file, line, what
        was wrong).

        Without `batch_policy` nothing is tried again. Raises as `execute_udf` does for arguments that cannot be sent.
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
        same `args` (a list, or None). Gives a list of `BatchRecord`: what the function returned is the bin `"SUCCESS"`
        of the row's record; a row whose function failed has a `UdfError` with the server's message (file, line, what
        was wrong).

        Without `batch_policy` nothing is tried again. Raises as `execute_udf` does for arguments that cannot be sent.
        """
    def batch(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> Awaitable[BatchRecords]:
        """Carries out rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`. Gives a list of
        `BatchRecord`.

        Without `batch_policy` nothing is tried again if a row writes.
        """
    def batch_blocking(
        self,
        ops: Iterable[BatchReadOp | BatchWriteOp | BatchDeleteOp | BatchUDFOp],
        *,
        batch_policy: BatchPolicy | None = None,
    ) -> BatchRecords:
        """Carries out rows of all kinds: `BatchReadOp`, `BatchWriteOp`, `BatchDeleteOp`, `BatchUDFOp`. Gives a list of
        `BatchRecord`.

        Without `batch_policy` nothing is tried again if a row writes.
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
