"""Work on threads, for event loops; run once, when the first of it is asked for."""

import asyncio
import threading


def in_thread(work, name):
    """A coroutine of what `work` gives. In a running loop it begins at once, outside of one when it is awaited."""
    event_loop = asyncio._get_running_loop()
    coroutine = result_of(work, None if event_loop is None else begin(work, event_loop))
    # What Python's warning about a coroutine that was never awaited shows.
    coroutine.__name__ = coroutine.__qualname__ = name
    return coroutine


async def result_of(work, future):
    if future is None:
        future = begin(work, asyncio.get_running_loop())
    return await future


def begin(work, event_loop):
    """A future of what `work` gives on a thread of its own: the loop's executor may be full, or not there yet."""
    future = event_loop.create_future()

    def deliver(result, error):
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run():
        result = error = None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        try:
            event_loop.call_soon_threadsafe(deliver, result, error)
        except RuntimeError:
            # The loop has been closed: nobody waits any more.
            pass
        finally:
            # An error knows this frame: do not let the frame know it.
            del result, error

    threading.Thread(target=run, name="aerolane-connect", daemon=False).start()
    return future
