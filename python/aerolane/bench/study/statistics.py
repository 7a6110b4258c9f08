"""What rounds say: medians with the interval that they support, and ratios of rounds that were measured in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Literal

# The least share of studies in which an interval has to hold the true median, for a difference to be quoted.
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Estimate:
    """A median, and the interval that holds the true one with `coverage` (a share), whatever the distribution."""

    median: float
    low: float
    high: float
    coverage: float
    rounds: int


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median of some rounds, and the narrowest interval between two of them that has `confidence`.

    Where rounds are too few, the interval is that from the smallest to the largest, and `coverage` says how little it
    is worth: 0.5 for 2 rounds, 0.75 for 3, 0.94 for 5. Raises `ValueError` without values.
    """
    if not values:
        raise ValueError("no rounds")
    ordered = sorted(values)
    rounds = len(ordered)
    place = 0
    while place + 1 < (rounds + 1) // 2 and _coverage(rounds, place + 1) >= confidence:
        place += 1
    return Estimate(median(ordered), ordered[place], ordered[-1 - place], _coverage(rounds, place), rounds)


def _coverage(rounds: int, place: int) -> float:
    """How often the true median is between the value at `place` and its mirror image.

    It is missed where at most `place` of the rounds lie on one side of it, each with a chance of one half.
    """
    missed: float = 2 * sum(comb(rounds, below) for below in range(place + 1)) / 2**rounds
    return max(0.0, 1.0 - missed)


@dataclass(frozen=True)
class Ratio:
    """Ours to the other client's, of the same figure, round by round."""

    figure: str
    estimate: Estimate
    more_is_better: bool

    @property
    def verdict(self) -> Literal["better", "worse", "none"]:
        """What may be said: `none` where the rounds do not agree, or are too few."""
        if self.estimate.coverage < CONFIDENCE:
            return "none"
        if self.estimate.low > 1:
            return "better" if self.more_is_better else "worse"
        if self.estimate.high < 1:
            return "worse" if self.more_is_better else "better"
        return "none"


# Figures that may be compared; whether more is better.
FIGURES = {
    "tps": True,
    "client_cpu_us_per_op": False,
    "p50_us": False,
    "p95_us": False,
    "p99_us": False,
    "syscalls_per_op": False,
    "voluntary_switches_per_op": False,
}
# Those of most groups.
USUAL = ("tps", "client_cpu_us_per_op", "p50_us", "p99_us")
# Below so many samples in a round, its percentile is that of a few operations.
LEAST_SAMPLES = {"p50_us": 50, "p95_us": 200, "p99_us": 1_000, "p999_us": 10_000}


def compare(ours: Sequence[dict[str, float]], theirs: Sequence[dict[str, float]], figure: str) -> Ratio | None:
    """The ratio of a figure, of rounds that belong together; `None` where one of the two has none.

    Percentiles need samples: rounds in which one of the two has too few are left out. A round in which ours did nothing
    at all counts against us, with a ratio of 0; to one in which the other did nothing there is no ratio.
    """
    least = LEAST_SAMPLES.get(figure, 0)
    ratios = [
        our[figure] / their[figure]
        for our, their in zip(ours, theirs, strict=False)
        if their.get(figure)
        and has_figure(our, figure)
        and min(our.get("samples", 0), their.get("samples", 0)) >= least
    ]
    return Ratio(figure, estimate(ratios), FIGURES[figure]) if ratios else None


def has_figure(round_: Mapping[str, float], figure: str) -> bool:
    """Whether a round has a figure. No records per second are a result; without records, a time of 0 is none."""
    return round_.get(figure) is not None if figure == "tps" else bool(round_.get(figure))
