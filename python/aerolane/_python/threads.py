"""Work on threads, for event loops; run once, when the first of it is asked for."""

import asyncio


def in_thread(work):
    """A coroutine of what `work` gives. In a running loop it begins at once, outside of one when it is awaited."""
    event_loop = asyncio._get_running_loop()
    return connect_or_close(work, None if event_loop is None else event_loop.run_in_executor(None, work))


# Python's warning about a coroutine that was never awaited shows this name.
async def connect_or_close(work, future):
    if future is None:
        future = asyncio.get_running_loop().run_in_executor(None, work)
    return await future
