"""What the figures of a study say in words, and what they do not."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from aerolane.bench.study.cells import IN_MEMORY
from aerolane.bench.study.results import Results
from aerolane.bench.study.statistics import CONFIDENCE

# Names of figures for people, where records are counted.
NAMES = {
    "tps": "records/s",
    "client_cpu_us_per_op": "client CPU per record",
    "p50_us": "p50",
    "p95_us": "p95",
    "p99_us": "p99",
    "syscalls_per_op": "system calls per record",
    "voluntary_switches_per_op": "waits per record",
}


def named(figure: str, groups: Iterable[Results]) -> str:
    """The name of a figure in some groups. A service's requests are counted, and the time of the whole service."""
    name, units = NAMES[figure], {group.get("unit", "record") for group in groups}
    if units == {"request"}:
        return name.replace("client", "service").replace("record", "request")
    if "request" in units:
        return {"tps": "records or requests/s", "client_cpu_us_per_op": "CPU per record or request"}.get(figure, name)
    return name


def compared(groups: Iterable[Results]) -> list[str]:
    """The figures that comparisons of some groups have, in order."""
    found = {name for group in groups for one in group["comparisons"] for name in one["ratios"]}
    return [name for name in NAMES if name in found]


@dataclass(frozen=True)
class Finding:
    """One comparison of one figure."""

    group: Results
    comparison: Results
    figure: str
    ratio: Results

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or `none`: no difference shown."""
        return str(self.ratio["verdict"])

    @property
    def name(self) -> str:
        """The figure's name."""
        return named(self.figure, [self.group])

    @property
    def case(self) -> str:
        """Where it was measured."""
        return case(self.group)

    @property
    def distance(self) -> float:
        """How far ours is from the other one: 2 where a figure is twice the other, and where it is half of it."""
        middle = float(self.ratio["median"])
        return max(middle, 1 / middle) if middle else math.inf


def case(group: Results) -> str:
    """What a group is, for people. A cluster without slowness of its own making needs no mention."""
    title, condition = str(group["title"]), str(group["condition"])
    return title if condition == IN_MEMORY else f"{title}, {condition}"


def findings(results: Results) -> list[Finding]:
    """All comparisons of all figures."""
    return [
        Finding(group, comparison, figure, ratio)
        for group in results["groups"]
        for comparison in group["comparisons"]
        for figure, ratio in comparison["ratios"].items()
    ]


def against_us(found: list[Finding]) -> list[Finding]:
    """Where ours is worse, the worst first: than other clients, then than other ways of working with Aerolane."""
    worse = (one for one in found if one.verdict == "worse")
    return sorted(worse, key=lambda one: (not one.comparison["peer"], -one.distance))


def counts(found: list[Finding]) -> dict[str, int]:
    """How many comparisons show what."""
    return {verdict: sum(one.verdict == verdict for one in found) for verdict in ("worse", "none", "better")}


def beside_others(results: Results) -> list[Finding]:
    """The comparisons with other clients: those between ways of working with Aerolane do not count."""
    return [one for one in findings(results) if one.comparison["peer"]]


def by_figure(results: Results) -> list[tuple[str, dict[str, int], float | None]]:
    """Of each figure: its name, how many comparisons show what, and the median of all their ratios.

    The median is `None` where rounds are too few to show any difference.
    """
    found = beside_others(results)
    rows = []
    for figure in NAMES:
        ours = [one for one in found if one.figure == figure]
        if ours:
            shown = any(one.ratio["coverage"] >= CONFIDENCE for one in ours)
            middle = median(float(one.ratio["median"]) for one in ours) if shown else None
            rows.append((named(figure, (one.group for one in ours)), counts(ours), middle))
    return rows


def summary(results: Results) -> list[str]:
    """The conclusion in a few sentences."""
    found = beside_others(results)
    if not found:
        return ["Nothing was compared: no other client is installed, or none ran."]
    count = counts(found)
    sentences = [
        f"{len(found)} comparisons of a figure with another client: Aerolane is worse in {count['worse']},"
        f" better in {count['better']}, and {count['none']} show no difference."
    ]
    if all(one.ratio["coverage"] < CONFIDENCE for one in found):
        sentences.append("The rounds are too few to show any difference: it takes 5.")
    worse = against_us(found)
    if worse:
        most = worse[0]
        sentences.append(
            f"The worst: {most.case}, {most.name} {number(most.ratio, most.ratio['median'])} times that of"
            f" {most.comparison['theirs']}."
        )
    return sentences


def caveats(results: Results) -> list[str]:
    """What a reader must know before quoting a figure."""
    settings, environment = results["settings"], results["environment"]
    rounds = settings["rounds"]
    said = [
        f"A difference counts as shown if the interval that contains the median ratio of {rounds} rounds in at least"
        f" {CONFIDENCE:.0%} of such studies lies on one side of 1. Everything else is called no difference.",
        "Client and server share the machine and its processors. The client's CPU time includes the kernel's work for"
        " its own system calls; the kernel's work for arriving packets may be counted on either side.",
        "Every run has its own process. With every client, loops of calls draw keys, and whether to read or write, from"
        " the same seeds; patterns and writers go through the set in the same order.",
    ]
    compared = findings(results)
    if compared:
        chance = sum(1 - one.ratio["coverage"] for one in compared if one.ratio["coverage"] >= CONFIDENCE)
        said.append(
            f"If all clients were equal, about {chance:.0f} of the {len(compared)} comparisons would show a"
            " difference by chance. A small difference that is shown once proves little."
        )
    failed = [cell["id"] for group in results["groups"] for cell in group["cells"] if cell["errors"]]
    if failed:
        said.append(f"Operations failed in these cases, and are not counted as records: {'; '.join(failed)}.")
    if environment["load_before"] > 0.5:
        said.append(
            f"The machine was not idle before the first round: its load average was {environment['load_before']}."
        )
    if not settings["hosts"]:
        said.append("The server is the embedded cluster, which is not an Aerospike server: it answers faster.")
    elif "conditions" in settings["sections"]:
        said.append("Conditions with a service time or a latency are those of embedded clusters, not of the server.")
    tools = {
        round_["calls_counted_by"]
        for group in results["groups"]
        for cell in group["cells"]
        for round_ in cell["rounds"]
        if "calls_counted_by" in round_
    }
    if tools:
        slower = " It slows a client down so much that more answers arrive at a time." if "strace" in tools else ""
        said.append(
            f"System calls were counted by {' and '.join(sorted(tools))} in separate runs, as the difference"
            f" between a short and a longer one.{slower} Waits are voluntary context switches of the whole process."
        )
    if settings["quick"]:
        said.append("This is the quick study: few cases, short rounds. It finds only large differences.")
    return said


def number(ratio: dict[str, Any], value: float) -> str:
    """A number of a ratio: with so many digits that a difference that is shown does not read as 1.00."""
    places = 2
    if ratio["verdict"] != "none":
        ends = (ratio["low"], ratio["median"], ratio["high"])
        while places < 6 and any(end != 1 and f"{end:.{places}f}" == f"{1:.{places}f}" for end in ends):
            places += 1
    return f"{value:.{places}f}"


def interval(ratio: dict[str, Any]) -> str:
    """A ratio as text: its median and interval."""
    median, low, high = (number(ratio, ratio[name]) for name in ("median", "low", "high"))
    return f"{median} ({low} to {high})"


def in_words(ratio: dict[str, Any]) -> str:
    """A ratio as text, or that none was shown: a number would be quoted."""
    return (
        interval(ratio)
        if ratio["verdict"] != "none"
        else f"no difference shown ({ratio['low']:.2f} to {ratio['high']:.2f})"
    )
