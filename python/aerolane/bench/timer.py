"""Timers that are finer than those of event loops, which count milliseconds."""

import asyncio
import contextlib
import ctypes
import os
import struct
import time
from collections.abc import Callable

# Of Linux.
CLOCK_MONOTONIC = 1
TFD_NONBLOCK, TFD_CLOEXEC, TFD_TIMER_ABSTIME = os.O_NONBLOCK, os.O_CLOEXEC, 1
PR_SET_TIMERSLACK = 29


def _libc() -> ctypes.CDLL | None:
    """The C library, where it has timers with a file descriptor."""
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "timerfd_create") else None
    except (OSError, TypeError):
        return None


class LoopTimer:
    """Calls a function on an event loop at a time of `time.perf_counter_ns`.

    By a timerfd on Linux, elsewhere by the loop's own timer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop = loop
        self._call = call
        self._armed = 0
        self._handle: asyncio.TimerHandle | None = None
        self._libc = _libc()
        self._fd = self._libc.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC) if self._libc else -1
        if self._fd >= 0:
            loop.add_reader(self._fd, self._fire)

    def arm(self, at: int) -> None:
        """Calls the function at `at`, in place of an earlier order."""
        if at == self._armed:
            return
        self._armed = at
        if self._fd >= 0 and self._libc:
            # Zero would mean: never.
            # A `struct itimerspec`: no interval, and when to expire in seconds and nanoseconds.
            spec = struct.pack("@llll", 0, 0, *divmod(max(1, at), 1_000_000_000))
            self._libc.timerfd_settime(self._fd, TFD_TIMER_ABSTIME, spec, None)
            return
        if self._handle:
            self._handle.cancel()
        self._handle = self._loop.call_later(max(0, at - time.perf_counter_ns()) / 1e9, self._fire)

    def _fire(self) -> None:
        self._armed = 0
        if self._fd >= 0:
            with contextlib.suppress(BlockingIOError):
                os.read(self._fd, 8)
        self._call()

    def close(self) -> None:
        """Gives the timer back."""
        if self._handle:
            self._handle.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


def remove_timer_slack() -> None:
    """By default Linux lets a sleep of the calling thread end up to 50 µs late, to bundle wake-ups."""
    libc = _libc()
    if libc:
        libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
