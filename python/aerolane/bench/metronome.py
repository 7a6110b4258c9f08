"""A process that says when competing work is due: `python metronome.py PERIOD_NS`.

Every `PERIOD_NS` nanoseconds it writes the time, eight bytes of `time.perf_counter_ns()`, to its standard output.
Timers of event loops are too coarse for that: those of uvloop and asyncio fire up to a millisecond late on a loop that
has nothing to do. It needs the standard library only, so that it starts at once, and ends when nobody reads any more.
"""

import os
import sys
import time


def main(period: int, out: int) -> None:
    """Ticks until the reader has gone."""
    due = time.perf_counter_ns() + period
    while True:
        time.sleep(max(0, due - time.perf_counter_ns()) / 1e9)
        # When it is really there: a tick that comes late is no delay of the one who waits for it.
        now = time.perf_counter_ns()
        try:
            os.write(out, now.to_bytes(8, sys.byteorder))
        except BrokenPipeError:
            return
        due = max(due + period, now)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.stdout.fileno())
