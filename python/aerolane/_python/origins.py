"""Where operations are called, for the warning about one that was never awaited; run once, with the first of them."""

import _tracemalloc
import sys


def here():
    """The stack of the caller as text, as deep as coroutines or memory are traced; None if neither is."""
    depth = sys.get_coroutine_origin_tracking_depth()
    if _tracemalloc.is_tracing():
        depth = max(depth, _tracemalloc.get_traceback_limit())
    if not depth:
        return None
    import traceback

    # The caller is compiled: it has no frame of its own.
    stack = traceback.extract_stack(sys._getframe(1), limit=depth)
    return "".join(traceback.format_list(stack)).rstrip("\n")
