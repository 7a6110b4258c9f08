"""Text in the Aerospike Expression Language (AEL), compiled to expressions that every server evaluates.

* `parse_ael`: a text to a `FilterExpression`
* `parse_ael_with_index`: a text to an index filter and the expression for the rest, by the indexes that there are
* `parse_ctx`: a path to a context
* `IndexesMonitor`: the indexes that a cluster has, for `parse_ael_with_index`
* `AelParseException`: what is wrong with a text, and where
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
