"""How latencies are shown: `--latency COLUMNS,SHIFT[,us]` or `--latency ycsb`, as the vendor's harnesses do."""

from dataclasses import dataclass

from aerolane.bench.measure import percentile

FORMS = "<columns>,<shift>[,us] (2 to 32 columns, shift 1 to 8), or ycsb"


@dataclass(frozen=True)
class Columns:
    """Shares of operations above 1, 2^shift, 2^(2*shift), ... units."""

    count: int
    shift: int
    unit_ns: int = 1_000_000

    @property
    def unit(self) -> str:
        """Its name."""
        return "ms" if self.unit_ns == 1_000_000 else "us"

    def bounds(self) -> list[int]:
        """Lower bounds in units of all columns but the first."""
        return [1 << (self.shift * i) for i in range(self.count - 1)]

    def lines(self, kinds: dict[str, list[int]]) -> list[str]:
        """A head line, and one for each kind of operation."""
        heads = [f"<={self.bounds()[0]}{self.unit}", *(f">{bound}{self.unit}" for bound in self.bounds())]
        lines = [" " * 6 + "".join(f"{head:>10}" for head in heads)]
        for kind, ordered in kinds.items():
            above = [sum(ns > bound * self.unit_ns for ns in ordered) for bound in self.bounds()]
            counts = [len(ordered) - above[0], *above]
            shares = (f"{100 * count / len(ordered):.2f}%" if ordered else "-" for count in counts)
            lines.append(f"{kind:<6}" + "".join(f"{share:>10}" for share in shares))
        return lines


def parse(text: str) -> Columns | None:
    """The columns; `None` for `ycsb`. Raises `ValueError` that says what is wrong."""
    if text.strip().lower() == "ycsb":
        return None
    count, _, rest = text.partition(",")
    shift, _, unit = rest.partition(",")
    numbers = (count.strip(), shift.strip())
    if not all(number.isascii() and number.isdigit() for number in numbers) or unit.strip() not in ("", "ms", "us"):
        raise ValueError(f"latency {text!r}: expected {FORMS}")
    columns = Columns(int(count), int(shift), 1_000 if unit.strip() == "us" else 1_000_000)
    if not (2 <= columns.count <= 32 and 1 <= columns.shift <= 8):
        raise ValueError(f"latency {text!r}: expected {FORMS}")
    return columns


def lines(text: str, reads: list[int], writes: list[int]) -> list[str]:
    """Sorted latencies in nanoseconds as the lines that were asked for."""
    columns = parse(text)
    if columns is not None:
        return columns.lines({"read": reads, "write": writes})
    result = []
    for kind, ordered in (("READ", reads), ("UPDATE", writes)):
        figures = {
            "Operations": len(ordered),
            "AverageLatency(us)": sum(ordered) / len(ordered) / 1e3 if ordered else 0,
            "MinLatency(us)": ordered[0] / 1e3 if ordered else 0,
            "MaxLatency(us)": ordered[-1] / 1e3 if ordered else 0,
            "95thPercentileLatency(us)": percentile(ordered, 0.95) / 1e3,
            "99thPercentileLatency(us)": percentile(ordered, 0.99) / 1e3,
        }
        result += [f"[{kind}], {name}, {value:.0f}" for name, value in figures.items()]
    return result
