"""What metrics cost a `get` of one integer bin in Python.

    target/release/aerolane-embedded --nodes 1 &                   # prints its seeds
    python crates/bench/examples/metrics_cost.py 127.0.0.1:PORT    # asyncio with 1 and 64 tasks, and blocking

In pairs, as `metrics_cost.rs`: one process and one client, metrics off and on in turn, so that what changes on the
machine meets both. The CPU time is that of the whole process, the kernel's share included. It uses uvloop if that is
installed.
"""

import asyncio
import statistics
import sys
import time

from aerolane import Key
from aerolane.native import ClientPolicy, MetricsPolicy, new_client_blocking

PAIRS = 501
# How long one half of a pair takes: short, so that what changes on the machine rarely comes between two halves.
SLICE = 0.02


class Measurement:
    """The CPU time of calls with metrics off and on."""

    def __init__(self, client):
        self.client, self.per_call, self.calls = client, ([], []), 0
        self.policy = MetricsPolicy.micros()
        self.policy.operational = True

    def halves(self):
        """Yields for each half of each pair; the caller makes calls until it takes the next one."""
        for pair in range(PAIRS + 1):
            # Each comes first in every other pair.
            for half in range(2):
                on = (pair + half) % 2
                if on:
                    self.client.enable_metrics(self.policy)
                else:
                    self.client.disable_metrics()
                calls, cpu = self.calls, time.process_time_ns()
                yield
                spent = (time.process_time_ns() - cpu) / (self.calls - calls)
                # The first pair warms up.
                if pair:
                    self.per_call[on].append(spent)

    def report(self, name):
        off, on = (statistics.median(values) for values in self.per_call)
        ratios = sorted(on / off for off, on in zip(*self.per_call, strict=True))
        half, reach = len(ratios) / 2, 0.98 * len(ratios) ** 0.5
        low, middle, high = (ratios[int(at)] for at in (half - reach, half, half + reach))
        print(f"{name}: CPU of one call, medians of {PAIRS}: off {off:.0f} ns, on {on:.0f} ns")
        print(f"{name}: on to off, median of pairs: {middle:.4f} (95 %: {low:.4f} to {high:.4f})")


async def with_tasks(client, key, tasks):
    measurement = Measurement(client)

    async def work():
        while True:
            await client.get(key)
            measurement.calls += 1

    workers = [asyncio.create_task(work()) for _ in range(tasks)]
    for _ in measurement.halves():
        await asyncio.sleep(SLICE)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    measurement.report(f"{type(asyncio.get_running_loop()).__module__}, tasks: {tasks}")


def blocking(client, key):
    measurement = Measurement(client)
    for _ in measurement.halves():
        begun = time.perf_counter()
        while time.perf_counter() - begun < SLICE:
            for _ in range(64):
                client.get_blocking(key)
            measurement.calls += 64
    measurement.report("blocking")


def main(seeds):
    try:
        from uvloop import new_event_loop
    except ImportError:
        new_event_loop = asyncio.new_event_loop
    with new_client_blocking(ClientPolicy(), seeds) as client:
        key = Key("test", "metrics_cost", 1)
        client.put_blocking(key, {"n": 42})
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            for tasks in (1, 64):
                runner.run(with_tasks(client, key, tasks))
        blocking(client, key)


if __name__ == "__main__":
    main(sys.argv[1])
