"""Secondary indexes, described step by step."""

from collections.abc import Sequence
from typing import Self, final

from ._awaitable import Awaitable
from ._cdt import CTX
from ._enums import CollectionIndexType
from ._expression import FilterExpression
from ._query import DropIndexTask, IndexTask

class _Index:
    """The description of an index."""

    def blob(self) -> Self:
        """Indexes bytes."""
    def named(self, index_name: str) -> Self:
        """Sets the name of the index, 1 to 255 bytes."""
    def string(self) -> Self:
        """Indexes strs."""
    def on_bin(self, bin_name: str) -> Self:
        """Indexes the values of a bin."""
    def on_expression(self, expression: FilterExpression | str) -> Self:
        """Indexes the value of an expression: a `FilterExpression`, or text in the Aerospike Expression Language.
        Requires server 8.1 or later.

        Raises `AelParseException` if the text is not valid, or needs a newer server than the cluster has.
        """
    def on_set(self) -> Self:
        """Indexes the records of the set, so that queries of the set do not have to look at others. Requires server
        8.1.2 or later.
        """
    def integer(self) -> Self:
        """Indexes ints."""
    def numeric(self) -> Self:
        """Same as `integer`. For code written for the first versions of the Aerospike SDK."""
    def geo2dsphere(self) -> Self:
        """Indexes GeoJSON points and regions."""
    def collection(self, collection_index_type: CollectionIndexType) -> Self:
        """Indexes the items of a list or map instead of the value itself, as a `CollectionIndexType` says."""
    def context(self, ctx: Sequence[CTX]) -> Self:
        """Sets the path from the bin to the value to index, a list of `CTX`."""

@final
class IndexBuilder(_Index):
    """A secondary index: `session.index(dataset).on_bin("age").named("by_age").integer()`.

    `create()` creates it, `drop()` drops the index of that name. All other methods return the builder, and raise
    `InvalidArgumentError` if they do not fit what was said before.
    """

    def create(self) -> Awaitable[IndexTask]:
        """Creates the index. Returns an `IndexTask`, which can wait until it is built; with asyncio, an awaitable of
        it.
        """
    def drop(self) -> Awaitable[DropIndexTask]:
        """Drops the index of this name. Returns a `DropIndexTask`; with asyncio, an awaitable of it."""

@final
class SyncIndexBuilder(_Index):
    """A secondary index: `session.index(dataset).on_bin("age").named("by_age").integer()`.

    `create()` creates it, `drop()` drops the index of that name. All other methods return the builder, and raise
    `InvalidArgumentError` if they do not fit what was said before.
    """

    def create(self) -> IndexTask:
        """Creates the index. Returns an `IndexTask`, which can wait until it is built; with asyncio, an awaitable of
        it.
        """
    def drop(self) -> DropIndexTask:
        """Drops the index of this name. Returns a `DropIndexTask`; with asyncio, an awaitable of it."""
