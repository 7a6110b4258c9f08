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
    """A text is not of the Aerospike Expression Language, or cannot be compiled.

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
    """Compiles a text in the Aerospike Expression Language to an expression: `parse_ael("$.age > ?0 and $.country ==
    'US'", 25)`.

    The result equals the one that the constructors of `FilterExpression` build, and every server since 5.2 evaluates it
    (what a text uses may need a later one). `args` are the values of the placeholders `?0`, `?1`, .. (or `$1`, `$2`,
    ..; or `%s`, one after the other): bound as values, never read as text. All of them must be used. With `server`, the
    `Version` of the oldest node, what that does not have is refused (`error.needs` tells what does).

    Raises `AelParseException` (a `ValueError`) for a text that is not of the language or leaves a type open, for
    placeholders without a value and values without a placeholder, and `TypeError` for a value that cannot be sent.
    """

def parse_ctx(path: str, /) -> list[CTX]:
    """Compiles a path to the context that leads there: `parse_ctx("$.bin.key.[0]")` is `[CTX.map_key("key"),
    CTX.list_index(0)]`. The bin is not part of it.

    Raises `AelParseException` for what is no path, has no steps behind the bin, or selects several at a step.
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
    """Compiles a text to an index filter and the expression for the rest, for a query.

    Of the indexes in `index_context` it takes the one that probably finds the fewest records: a single value before a
    range with two ends, before one with one end; then the one with more different values. `hint_index_name` or
    `hint_bin_name` names the index to prefer; a hint that does not serve the text changes nothing. `placeholder_values`
    are the values of `?0`, `?1`, ..; `server` is that of `parse_ael`.

    Raises `AelParseException` as `parse_ael` does, and for a text that is neither true nor false.
    """

@final
class AelIndex:
    """A secondary index that `parse_ael_with_index` can choose.

    `bin` and `index_type` (`IndexType`) say what it has. `namespace` (None: any), `set_name` (None: the index has all
    sets), `name`, `collection_index_type` (`CollectionIndexType`), and `ctx`, the way to what is indexed inside the
    bin. `bin_values_ratio`: how many different values there are, in any unit: of two indexes that serve alike, the one
    with more is chosen.
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
    ) -> AelIndex: ...
    @property
    def bin(self) -> str: ...
    @property
    def index_type(self) -> IndexType: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def bin_values_ratio(self) -> float | None: ...
    @property
    def collection_index_type(self) -> CollectionIndexType | None: ...
    @property
    def ctx(self) -> Sequence[CTX] | None: ...
    @property
    def set_name(self) -> str | None: ...

@final
class AelIndexContext:
    """The indexes that a query on a namespace can use. With `query_set`, those on other sets are left out."""

    def __new__(
        cls, namespace: str, indexes: Sequence[AelIndex] | None = None, query_set: str | None = None
    ) -> AelIndexContext: ...
    @staticmethod
    def of(namespace: str, indexes: Sequence[AelIndex]) -> AelIndexContext:
        """The same as the constructor, with namespace and indexes."""
    @staticmethod
    def with_query_set(namespace: str, query_set: str | None, indexes: Sequence[AelIndex]) -> AelIndexContext:
        """The same as the constructor, for a query on a set."""
    @property
    def namespace(self) -> str: ...
    @property
    def indexes(self) -> list[AelIndex]: ...
    @property
    def query_set(self) -> str | None: ...

@final
class AelParseResult:
    """How a query finds the records of a text: the index filter, and the expression for what it does not answer."""

    @property
    def filter(self) -> Filter | None:
        """What to ask the index for (`Statement.filters`); None: no index serves the text."""
    @property
    def exp(self) -> FilterExpression | None:
        """What is left to filter by (`filter_expression` of a policy); None: the index answers all of the text."""
    def explain(self) -> str:
        """Describes the choice: which index is used for what, what is filtered, and why other indexes are not used."""

@final
class IndexesMonitor:
    """Keeps a list of the secondary indexes of a cluster: what `parse_ael_with_index` and `with_index_context` choose
    from.

    `refresh_interval`: seconds between two looks (default 5). Queries of sessions need no monitor: they ask for the
    indexes when they need them. A client that is given one (`indexes_monitor=`) starts it when it connects.

    Raises `InvalidArgumentError` for an interval that is no number above 0.
    """

    def __new__(cls, refresh_interval: float = 5.0) -> Self: ...
    def start(self, client: NativeClient | Client | SyncClient) -> None:
        """Begins to ask for the indexes of a connected client: of `aerolane.native`, or a `Client`, `SyncClient`.
        Does nothing when the monitor has begun already. It ends by itself when the client is closed.
        """
    def wait_until_ready(self, timeout: float | None = None) -> None:
        """Waits until the first list has come, or could not be had: then there are no indexes to choose from.
        `timeout`: seconds (default 30).

        Raises `RuntimeError` before `start`, and Python's `TimeoutError`.
        """
    def stop(self) -> None:
        """Ends it. What was listed stays. A second call does nothing."""
    def get_index_context(self, namespace: str) -> AelIndexContext | None:
        """The indexes of a namespace that queries can use, as they were listed last; `None`: there are none, or the
        first list has not come.
        """
