"""Background tasks: what the servers do with all records of a set."""

from typing import Any, Never, Self, final

from ._awaitable import Awaitable
from ._bins import WriteBinBuilder
from ._builders import _Expiring
from ._dataset import DataSet
from ._expression import FilterExpression
from ._operations import BaseOperation
from ._query import ExecuteTask, Filter

class _BackgroundTask:
    """What all tasks have."""

    def filter(self, filter_obj: Filter) -> Self:
        """Changes only what a secondary index finds for a `Filter`. Only once."""
    def records_per_second(self, rps: int) -> Self:
        """Changes at most this many records per second on each node. 0 means no limit."""
    def fail_on_filtered_out(self) -> Never:
        """Raises `TypeError`: background tasks have no results."""
    def include_missing_keys(self) -> Never:
        """Raises `TypeError`: background tasks have no results."""
    def respond_all_keys(self) -> Never:
        """Raises `TypeError`: background tasks have no results."""
    def where(self, expression: FilterExpression | str, *params: Any) -> Self:
        """Applies the current operation only to records for which a filter is true. The filter is a `FilterExpression`,
        or text in the Aerospike Expression Language with the values of its placeholders: `where("$.age > ?0", 25)`. Can
        be called once for each operation.

        Raises `AelParseException` if the text is not valid, or needs a newer server than the cluster has.
        """

class _Operation(_BackgroundTask, _Expiring):
    """What to do with the records of a set."""

    def bin(self, name: str) -> WriteBinBuilder[Self]:
        """Selects a bin. The methods of the returned object change it."""
    def add_operation(self, op: BaseOperation) -> Self:
        """Adds an operation of `aerolane.native` that writes (`ListOperation`, `MapOperation`, and so on)."""

class _Udf(_BackgroundTask):
    """A function that is applied to the records of a set."""

    def passing(self, *args: Any) -> Self:
        """Sets the arguments of the function. It gets them after the record."""
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

@final
class BackgroundTaskSession:
    """Background tasks, which the servers apply to all records of a set: `session.background_task()`.

    Each method describes a task. `execute()` starts it and returns a handle to check on it and wait for it.
    """

    def delete(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Deletes records."""
    def update(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Changes bins of records: `bin(name)` of the builder says how. Creates no records."""
    def touch(self, dataset: DataSet) -> BackgroundOperationBuilder:
        """Resets the time to live of records."""
    def execute_udf(self, dataset: DataSet) -> BackgroundUdfFunctionBuilder:
        """Applies a function of a UDF module to records: `execute_udf(dataset).function("module", "name")`."""

@final
class BackgroundOperationBuilder(_Operation):
    """A background task: `session.background_task().update(dataset).bin("a").add(1)`.

    Each method returns the builder; `execute` starts the task, once.
    """

    def execute(self) -> Awaitable[ExecuteTask]:
        """Starts the task and returns a handle, an `ExecuteTask`; with asyncio, an awaitable of it.
        `wait_till_complete()` of the handle waits until all servers are done; without asyncio, use
        `wait_till_complete_blocking()`.

        If it raises, `in_doubt` of the error says whether servers may be running the task anyway.
        """

@final
class BackgroundUdfFunctionBuilder:
    """The set whose records a background task applies a function to. `function(package_name, function_name)` names
    the function.
    """

    def function(self, package_name: str, function_name: str) -> BackgroundUdfBuilder:
        """Names the function: its module (without `.lua`) and its name."""

@final
class BackgroundUdfBuilder(_Udf):
    """A background task that applies a function of a UDF module to all records of a set. `execute` starts it, once."""

    def execute(self) -> Awaitable[ExecuteTask]:
        """Starts the task and returns a handle, an `ExecuteTask`; with asyncio, an awaitable of it.
        `wait_till_complete()` of the handle waits until all servers are done; without asyncio, use
        `wait_till_complete_blocking()`.

        If it raises, `in_doubt` of the error says whether servers may be running the task anyway.
        """

@final
class SyncBackgroundTaskSession:
    """Background tasks, which the servers apply to all records of a set: `session.background_task()`.

    Each method describes a task. `execute()` starts it and returns a handle to check on it and wait for it.
    """

    def delete(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Deletes records."""
    def update(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Changes bins of records: `bin(name)` of the builder says how. Creates no records."""
    def touch(self, dataset: DataSet) -> SyncBackgroundOperationBuilder:
        """Resets the time to live of records."""
    def execute_udf(self, dataset: DataSet) -> SyncBackgroundUdfFunctionBuilder:
        """Applies a function of a UDF module to records: `execute_udf(dataset).function("module", "name")`."""

@final
class SyncBackgroundOperationBuilder(_Operation):
    """A background task: `session.background_task().update(dataset).bin("a").add(1)`.

    Each method returns the builder; `execute` starts the task, once.
    """

    def execute(self) -> ExecuteTask:
        """Starts the task and returns a handle, an `ExecuteTask`; with asyncio, an awaitable of it.
        `wait_till_complete()` of the handle waits until all servers are done; without asyncio, use
        `wait_till_complete_blocking()`.

        If it raises, `in_doubt` of the error says whether servers may be running the task anyway.
        """

@final
class SyncBackgroundUdfFunctionBuilder:
    """The set whose records a background task applies a function to. `function(package_name, function_name)` names
    the function.
    """

    def function(self, package_name: str, function_name: str) -> SyncBackgroundUdfBuilder:
        """Names the function: its module (without `.lua`) and its name."""

@final
class SyncBackgroundUdfBuilder(_Udf):
    """A background task that applies a function of a UDF module to all records of a set. `execute` starts it, once."""

    def execute(self) -> ExecuteTask:
        """Starts the task and returns a handle, an `ExecuteTask`; with asyncio, an awaitable of it.
        `wait_till_complete()` of the handle waits until all servers are done; without asyncio, use
        `wait_till_complete_blocking()`.

        If it raises, `in_doubt` of the error says whether servers may be running the task anyway.
        """
