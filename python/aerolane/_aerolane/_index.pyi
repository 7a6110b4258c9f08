"""Secondary indexes, said step by step."""

from collections.abc import Sequence
from typing import Self, final

from ._awaitable import Awaitable
from ._cdt import CTX
from ._enums import CollectionIndexType
from ._expression import FilterExpression
from ._query import DropIndexTask, IndexTask

class _Index:
    """What is said of an index."""

    def on_bin(self, bin_name: str) -> Self:
        """Indexes the values of a bin."""
    def on_expression(self, expression: FilterExpression | str) -> Self:
        """Indexes what an expression evaluates to."""
    def on_set(self) -> Self:
        """Indexes the records of the set."""
    def named(self, index_name: str) -> Self:
        """The name of the index."""
    def integer(self) -> Self:
        """The index holds ints."""
    def numeric(self) -> Self:
        """As `integer`, for code written for the first versions of the SDK of Aerospike."""
    def string(self) -> Self:
        """The index holds strs."""
    def geo2dsphere(self) -> Self:
        """The index holds points and regions in GeoJSON."""
    def blob(self) -> Self:
        """The index holds bytes."""
    def collection(self, collection_index_type: CollectionIndexType) -> Self:
        """Which items of a list or map are indexed, in place of the value itself."""
    def context(self, ctx: Sequence[CTX]) -> Self:
        """The way from the bin to what is indexed."""

@final
class IndexBuilder(_Index):
    """A secondary index, said step by step: `session.index(dataset)`."""

    def create(self) -> Awaitable[IndexTask]:
        """Creates the index."""
    def drop(self) -> Awaitable[DropIndexTask]:
        """Drops the index of this name."""

@final
class SyncIndexBuilder(_Index):
    """A secondary index, said step by step: `session.index(dataset)`."""

    def create(self) -> IndexTask:
        """Creates the index."""
    def drop(self) -> DropIndexTask:
        """Drops the index of this name."""
