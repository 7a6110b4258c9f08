"""Compiles text in the Aerospike Expression Language (AEL) to expressions that every server can evaluate.

* `parse_ael`: compiles text to a `FilterExpression`
* `parse_ael_with_index`: splits a text into a filter for one of the given indexes and an expression for the rest
* `parse_ctx`: turns a path into a context
* `IndexesMonitor`: keeps a list of a cluster's indexes, for `parse_ael_with_index`
* `AelParseException`: says what is wrong with a text, and where
"""

from aerolane._aerolane import AelIndex as Index
from aerolane._aerolane import AelIndexContext as IndexContext
from aerolane._aerolane import AelParseException, IndexesMonitor, parse_ael, parse_ael_with_index, parse_ctx
from aerolane._aerolane import AelParseResult as ParseResult
from aerolane._aerolane import IndexType as IndexTypeEnum

__all__ = [
    "AelParseException",
    "Index",
    "IndexContext",
    "IndexTypeEnum",
    "IndexesMonitor",
    "ParseResult",
    "parse_ael",
    "parse_ael_with_index",
    "parse_ctx",
]
