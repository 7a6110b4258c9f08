"""Aerolane: a fast client for the Aerospike database."""

from aerolane._aerolane import (
    HLL,
    FastRng,
    GeoJSON,
    Key,
    Operation,
    Record,
    SortedMap,
    SpecialValue,
    UnknownValue,
    __version__,
    build_info,
)

__all__ = [
    "HLL",
    "FastRng",
    "GeoJSON",
    "Key",
    "Operation",
    "Record",
    "SortedMap",
    "SpecialValue",
    "UnknownValue",
    "__version__",
    "build_info",
]
