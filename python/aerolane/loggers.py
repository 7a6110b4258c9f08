"""The loggers of the package, and how much the Rust side logs to them.

Records come from loggers below `"aerolane"`, and from `"aerospike_core"`: the vendor's crate, which finds the nodes.
They go to Python's `logging` from a thread of their own, a moment after they were logged.
"""

from aerolane._aerolane import SdkLoggers, refresh_log_levels

__all__ = ["SdkLoggers", "refresh_log_levels"]
