"""Latency histograms: carried from a child process to its parent, and merged over rounds."""

from collections import Counter
from collections.abc import Iterable

# Values are told apart to 1 in 2^10: three significant digits.
BITS = 11

Figures = dict[str, float]


class Histogram:
    """How often each latency came, nanoseconds, to three significant digits."""

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._counts: Counter[int] = Counter(map(_bucket, values))

    @property
    def samples(self) -> int:
        """How many values there are."""
        return self._counts.total()

    def merge(self, other: "Histogram") -> None:
        """Adds the values of another one."""
        self._counts.update(other._counts)

    def to_pairs(self) -> list[tuple[int, int]]:
        """Values and counts, for JSON."""
        return sorted(self._counts.items())

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, int]]) -> "Histogram":
        """The inverse of `to_pairs`."""
        histogram = cls()
        histogram._counts.update(dict(pairs))
        return histogram

    def figures(self) -> Figures:
        """Samples, mean, percentiles and the longest latency, microseconds; zeros without samples."""
        ordered = self.to_pairs()
        total = self.samples
        shares = {"p50_us": 0.5, "p90_us": 0.9, "p95_us": 0.95, "p98_us": 0.98, "p99_us": 0.99, "p999_us": 0.999}
        mean = sum(value * count for value, count in ordered) / total / 1e3 if total else 0.0
        found: Figures = {"samples": total, "mean_us": mean}
        found |= dict.fromkeys(shares, 0.0)
        seen, left = 0, list(shares.items())
        for value, count in ordered:
            seen += count
            while left and seen >= left[0][1] * total:
                found[left.pop(0)[0]] = value / 1e3
        found["max_us"] = ordered[-1][0] / 1e3 if ordered else 0.0
        return found


def _bucket(value: int) -> int:
    """The largest value that counts as the same."""
    shift = max(0, value.bit_length() - BITS)
    return ((value >> shift) + 1 << shift) - 1
