"""Aerolane: a fast client for the Aerospike database."""

from aerolane._aerolane import Key, Record, __version__, build_info

__all__ = ["Key", "Record", "__version__", "build_info"]
