"""Expressions from text."""

from collections.abc import Iterable, Sequence
from typing import Any, final

from ._cdt import CTX
from ._enums import CollectionIndexType, IndexType
from ._errors import InvalidArgumentError
from ._expression import FilterExpression
from ._native import Version
from ._query import Filter

class AelParseException(InvalidArgumentError):
    reason: str | None
    line: int | None
    column: int | None
    offset: int | None
    excerpt: str | None
    kind: str | None
    needs: str | None

def parse_ael(expression: str, /, *args: Any, server: Version | None = None) -> FilterExpression: ...
def parse_ctx(path: str, /) -> list[CTX]: ...
def parse_ael_with_index(
    expression: str,
    index_context: AelIndexContext | None = None,
    placeholder_values: Iterable[Any] | None = None,
    *,
    hint_index_name: str | None = None,
    hint_bin_name: str | None = None,
    server: Version | None = None,
) -> AelParseResult: ...

@final
class AelIndex:
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
    def __new__(
        cls, namespace: str, indexes: Sequence[AelIndex] | None = None, query_set: str | None = None
    ) -> AelIndexContext: ...
    @staticmethod
    def of(namespace: str, indexes: Sequence[AelIndex]) -> AelIndexContext: ...
    @staticmethod
    def with_query_set(namespace: str, query_set: str | None, indexes: Sequence[AelIndex]) -> AelIndexContext: ...
    @property
    def namespace(self) -> str: ...
    @property
    def indexes(self) -> list[AelIndex]: ...
    @property
    def query_set(self) -> str | None: ...

@final
class AelParseResult:
    @property
    def filter(self) -> Filter | None: ...
    @property
    def exp(self) -> FilterExpression | None: ...
    def explain(self) -> str: ...
