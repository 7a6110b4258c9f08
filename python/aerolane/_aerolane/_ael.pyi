"""Expressions from text."""

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

from ._cdt import CTX
from ._client import Client, SyncClient
from ._enums import CollectionIndexType, IndexType
from ._errors import InvalidArgumentError
from ._expression import FilterExpression
from ._native import NativeClient
from ._node import Version
from ._query import Filter

class AelParseException(InvalidArgumentError):
    """The text is not valid in the Aerospike Expression Language, or cannot be compiled.

    `str()` shows what is wrong, the place, and the line with a caret under the place.

    Attributes: `reason` (what is wrong, without the place), `line` and `column` (from 1), `offset` (in bytes of UTF-8,
    from 0), `excerpt` (the line of the text, and below it carets), `kind` ("syntax", "type", "parameter", "limit",
    "unsupported" or "version"), `needs` (the server version that can do it, as in "8.2", or None).
    """

    reason: str | None
    line: int | None
    column: int | None
    offset: int | None
    excerpt: str | None
    kind: str | None
    needs: str | None

def parse_ael(expression: str, /, *args: Any, server: Version | None = None) -> FilterExpression:
    """Compiles text in the Aerospike Expression Language to an expression: `parse_ael("$.age > ?0 and $.country ==
    'US'", 25)`.

    The result equals what the constructors of `FilterExpression` build. Servers since 5.2 can evaluate it; some
    features require a later version. `args` are the values of the placeholders `?0`, `?1`, .. (or `$1`, `$2`, ..; or
    `%s`, one after the other). They are bound as values, never parsed as text, and all of them must be used. With
    `server`, the `Version` of the oldest node, features that it does not support are refused (`error.needs` names the
    version that does).

    Raises `AelParseException` (a `ValueError`) for text that is invalid or leaves a type open, for placeholders without
    a value and values without a placeholder, and `TypeError` for a value that cannot be sent.
    """

def parse_ctx(path: str, /) -> list[CTX]:
    """Compiles a path to a context: `parse_ctx("$.bin.key.[0]")` is `[CTX.map_key("key"), CTX.list_index(0)]`. The bin
    is not part of the context.

    Raises `AelParseException` if the text is not a path, has no steps after the bin, or has a step that selects several
    elements.
    """

def parse_ael_with_index(
    expression: str,
    index_context: AelIndexContext | None = None,
    placeholder_values: Iterable[Any] | None = None,
    *,
    hint_index_name: str | None = None,
    hint_bin_name: str | None = None,
    server: Version | None = None,
) -> AelParseResult:
    """Compiles the text of a query's condition to an index filter and an expression for the rest.

    It chooses the index in `index_context` that probably finds the fewest records: a single value before a range with
    two ends, before a range with one end; then the index with more distinct values. `hint_index_name` or
    `hint_bin_name` names an index to prefer; a hint that does not fit the text is ignored. `placeholder_values` are the
    values of `?0`, `?1`, ..; `server` is the same as for `parse_ael`.

    Raises `AelParseException` as `parse_ael` does, and for text whose value is not a boolean.
    """

@final
class AelIndex:
    """A secondary index that `parse_ael_with_index` can choose.

    `bin` and `index_type` (an `IndexType`) say what the index covers. `namespace`: None means any. `set_name`: None
    means that the index covers all sets. `name`: its name. `collection_index_type`: a `CollectionIndexType`. `ctx`: the
    path to the indexed value inside the bin. `bin_values_ratio`: the number of distinct values, in any unit; of two
    indexes that fit equally well, the one with more distinct values is chosen.
    """

    def __new__(
        cls,
        bin: str,
        index_type: IndexType,
        namespace: str | None = None,
        name: str | None = None,
        bin_values_ratio: float | None = None,
        collection_index_type: CollectionIndexType | None = None,
        ctx: Sequence[CTX] | None = None,
        set_name: str | None = None,
    ) -> Self: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def set_name(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def ctx(self) -> Sequence[CTX] | None: ...
    @property
    def bin(self) -> str: ...
    @property
    def index_type(self) -> IndexType: ...
    @property
    def bin_values_ratio(self) -> float | None: ...
    @property
    def collection_index_type(self) -> CollectionIndexType | None: ...

@final
class AelIndexContext:
    """The indexes that a query on a namespace can use. With `query_set`, indexes on other sets are left out."""

    def __new__(
        cls, namespace: str, indexes: Sequence[AelIndex] | None = None, query_set: str | None = None
    ) -> Self: ...
    @property
    def namespace(self) -> str: ...
    @staticmethod
    def of(namespace: str, indexes: Sequence[AelIndex]) -> AelIndexContext:
        """The same as the constructor, with namespace and indexes."""
    @staticmethod
    def with_query_set(namespace: str, query_set: str | None, indexes: Sequence[AelIndex]) -> AelIndexContext:
        """The same as the constructor, for a query on a set."""
    @property
    def indexes(self) -> list[AelIndex]: ...
    @property
    def query_set(self) -> str | None: ...

@final
class AelParseResult:
    """How a query finds the records that match a condition: the index filter, and an expression for the rest of the
    condition.
    """

    @property
    def filter(self) -> Filter | None:
        """The index filter, for `Statement.filters`. None if no index fits the condition."""
    @property
    def exp(self) -> FilterExpression | None:
        """The rest of the condition, for `filter_expression` of a policy. None if the index covers the whole
        condition.
        """
    def explain(self) -> str:
        """Explains the choice: which index is used for which part, what is filtered, and why other indexes are not
        used.
        """

@final
class IndexesMonitor:
    """Keeps a list of the secondary indexes of a cluster, for `parse_ael_with_index` and `with_index_context`.

    `refresh_interval`: seconds between two updates (default 5). Queries of sessions need no monitor, since they ask for
    the indexes when they need them. A client that is given a monitor (`indexes_monitor=`) starts it on connecting.

    Raises `InvalidArgumentError` unless the interval is a number above 0.
    """

    def __new__(cls, refresh_interval: float = 5.0) -> Self: ...
    def start(self, client: NativeClient | Client | SyncClient) -> None:
        """Starts to monitor the indexes of a connected client: a `Client`, a `SyncClient`, or one of
        `aerolane.native`. Does nothing if the monitor is running. It stops when the client is closed.
        """
    def wait_until_ready(self, timeout: float | None = None) -> None:
        """Waits until the first list has arrived or could not be read; in that case there are no indexes to choose
        from. `timeout`: seconds (default 30).

        Raises `RuntimeError` if the monitor was not started, and Python's `TimeoutError`.
        """
    def stop(self) -> None:
        """Stops the monitor; the latest list stays. A second call does nothing."""
    def get_index_context(self, namespace: str) -> AelIndexContext | None:
        """The indexes of a namespace that queries can use, from the latest list. `None` if there are none, or the
        first list has not arrived yet.
        """
