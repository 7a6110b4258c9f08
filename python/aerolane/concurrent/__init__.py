"""Many calls with bounded concurrency, for asyncio: `execute_concurrent` and `execute_concurrent_with_args`.

`aerolane.sync` has functions of the same names for code without async.
"""

from aerolane.concurrent._event_loop import execute_concurrent, execute_concurrent_with_args

__all__ = ["execute_concurrent", "execute_concurrent_with_args"]
