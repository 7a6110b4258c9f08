"""Tasks in the background: what the servers do with all records of a set, said step by step."""

from typing import Any, Never, Self, final

from ._awaitable import Awaitable
from ._builders import _Expiring
from ._dataset import DataSet
from ._expression import FilterExpression
from ._operations import BaseOperation
from ._query import ExecuteTask, Filter
from ._steps import WriteBinBuilder

class _Task:
    """What all tasks have."""

    def where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """Leaves records alone for which a filter is not true."""
    def filter(self, filter_obj: Filter) -> Self:
        """Changes what a secondary index finds. Once."""
    def records_per_second(self, rps: int) -> Self:
        """Changes at most so many records per second and node; 0: no limit."""
    def fail_on_filtered_out(self) -> Never:
        """Not for tasks: they have no results. Raises `TypeError`."""
    def include_missing_keys(self) -> Never:
        """Not for tasks: they have no results. Raises `TypeError`."""
    def respond_all_keys(self) -> Never:
        """As `include_missing_keys`: not for tasks. Raises `TypeError`."""

class _Operation(_Task, _Expiring):
    """What is done with the records of a set."""

    def bin(self, name: str) -> WriteBinBuilder[Self]:
        """Does something with one bin: the methods of what this gives say what."""
    def add_operation(self, op: BaseOperation) -> Self:
        """Adds an operation of `aerolane.native` that writes."""

class _Udf(_Task):
    """A function that is applied to the records of a set."""

    def passing(self, *args: Any) -> Self:
        """What the function gets behind the record."""
    def with_durable_delete(self) -> Self:
        """Has deletes of the present operation leave a tombstone (Enterprise Edition)."""
    def without_durable_delete(self) -> Self:
        """Has deletes of the present operation leave no tombstone."""
    def default_with_durable_delete(self) -> Self:
        """Has deletes leave a tombstone, for all operations that say nothing themselves."""
    def default_without_durable_delete(self) -> Self:
        """Has deletes leave no tombstone, for all operations that say nothing themselves."""

@final
class BackgroundTaskSession:
    """What the servers do with all records of a set, in the background: `session.background_task()`."""

    def update(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Changes bins of records. Records are not created."""
    def delete(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Deletes records."""
    def touch(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Renews when records expire."""
    def execute_udf(self, dataset: DataSet) -> BackgroundUdfFunctionBuilder:
        """Applies a function of a UDF module to records."""

@final
class BackgroundOperationBuilder(_Operation):
    """A task in the background, told step by step."""

    def execute(self) -> Awaitable[ExecuteTask]:
        """Starts the task; gives a handle to ask for it and to wait for it."""

@final
class BackgroundUdfFunctionBuilder:
    """The set to whose records a function is applied."""

    def function(self, package_name: str, function_name: str) -> BackgroundUdfBuilder:
        """The function: the name of its module (without `.lua`), and its own."""

@final
class BackgroundUdfBuilder(_Udf):
    """A function of a UDF module that the servers apply to all records of a set."""

    def execute(self) -> Awaitable[ExecuteTask]:
        """Starts the task; gives a handle to ask for it and to wait for it."""

@final
class SyncBackgroundTaskSession:
    """What the servers do with all records of a set, in the background: `session.background_task()`."""

    def update(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Changes bins of records. Records are not created."""
    def delete(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Deletes records."""
    def touch(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Renews when records expire."""
    def execute_udf(self, dataset: DataSet) -> SyncBackgroundUdfFunctionBuilder:
        """Applies a function of a UDF module to records."""

@final
class SyncBackgroundOperationBuilder(_Operation):
    """A task in the background, told step by step."""

    def execute(self) -> ExecuteTask:
        """Starts the task; gives a handle to ask for it and to wait for it."""

@final
class SyncBackgroundUdfFunctionBuilder:
    """The set to whose records a function is applied."""

    def function(self, package_name: str, function_name: str) -> SyncBackgroundUdfBuilder:
        """The function: the name of its module (without `.lua`), and its own."""

@final
class SyncBackgroundUdfBuilder(_Udf):
    """A function of a UDF module that the servers apply to all records of a set."""

    def execute(self) -> ExecuteTask:
        """Starts the task; gives a handle to ask for it and to wait for it."""
