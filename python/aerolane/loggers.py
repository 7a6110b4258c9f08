"""The loggers of the package, and the levels that the Rust code logs at.

The loggers are `"aerolane"` and those below it, and `"aerospike_core"`: the vendor's crate, which finds the nodes.
A thread of its own passes the records on to Python's `logging`, a moment after they were logged.
"""

from aerolane._aerolane import SdkLoggers, refresh_log_levels

__all__ = ["SdkLoggers", "refresh_log_levels"]
