"""Ends the run when a test hangs, and prints where every thread is.

pytest's own `faulthandler_timeout` prints all frames of all threads and then lets the run hang. Here, only frames
outside pytest are printed, and the name of the test comes last, so that the end of a log shows it.
"""

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import pytest

# In the environment of a process that one test has for itself.
OWN_PROCESS = "AEROLANE_TEST_OWN_PROCESS"
# A test that takes longer than this hangs, set-up and clean-up included; in seconds. The slowest one takes 11 on two
# cores. The process of a test that runs in one of its own gives up first, because it knows where the test stands.
LIMIT = 200.0 if OWN_PROCESS in os.environ else 240.0
_HERE = str(Path(__file__).parent)
# Frames of pytest itself say nothing about the test.
_MACHINERY = ("_pytest", "pluggy", "<frozen")


class Watchdog:
    """Watches from a thread, as tests use signals themselves. faulthandler ends a test that never releases the GIL."""

    def __init__(self) -> None:
        self._running = ("", 0.0)
        # pytest captures standard error and would never show it.
        self._out = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace")
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._running = (item.nodeid, time.monotonic())
        faulthandler.dump_traceback_later(LIMIT + 30, exit=True, file=self._out)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()
            self._running = ("", 0.0)

    def _watch(self) -> None:
        while True:
            time.sleep(1)
            name, since = self._running
            if name and time.monotonic() - since > LIMIT:
                print(report(f"{name} hangs: {LIMIT:.0f} s"), file=self._out, flush=True)
                os._exit(3)


def report(headline: str) -> str:
    """Returns the stack of each thread, the main one last, and then the headline."""
    names = {thread.ident: thread for thread in threading.enumerate()}
    main = threading.main_thread().ident
    lines = [""]
    for ident, frame in sorted(sys._current_frames().items(), key=lambda one: one[0] == main):
        if ident == threading.get_ident():
            continue
        lines.append(f"{names.get(ident, ident)}:")
        frames = traceback.extract_stack(frame)
        own = [one for one in frames if not any(part in one.filename for part in _MACHINERY)]
        lines += (f"  {one.filename.removeprefix(_HERE)}:{one.lineno} {one.name}: {one.line}" for one in own[-12:])
    return "\n".join([*lines, headline])


def end_child_if_hung(after: int = 60) -> None:
    """Has a forked child print its stacks and end if it still runs after so many seconds.

    By a signal, because the watchdog of faulthandler belongs to the parent: the child would wait for its end.
    """
    faulthandler.register(signal.SIGALRM, file=2, all_threads=True, chain=True)
    signal.alarm(after)
