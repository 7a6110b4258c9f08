"""What the workers leave behind while they run: counters, timed operations, error messages."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

# Places in the list of counters of a worker.
READS, WRITES, MISSED, ERRORS, TIMEOUTS = range(5)

# Different error messages kept in a run, and characters of each.
MESSAGES = 8
MESSAGE_CHARS = 400


@dataclass(frozen=True)
class Totals:
    """Sums over all workers. Records, not calls; `missed` are the reads of records that did not exist."""

    reads: int = 0
    writes: int = 0
    missed: int = 0
    errors: int = 0
    timeouts: int = 0

    def since(self, earlier: "Totals") -> "Totals":
        """What was added after `earlier`."""
        return Totals(
            self.reads - earlier.reads,
            self.writes - earlier.writes,
            self.missed - earlier.missed,
            self.errors - earlier.errors,
            self.timeouts - earlier.timeouts,
        )

    @property
    def records(self) -> int:
        """Records read and written."""
        return self.reads + self.writes


class Board:
    """The counters and samples of all workers of a run."""

    def __init__(self) -> None:
        self.workers: list[Worker] = []
        self.messages: Counter[str] = Counter()

    def worker(self) -> "Worker":
        """A place for one more worker."""
        worker = Worker(self)
        self.workers.append(worker)
        return worker

    def totals(self) -> Totals:
        """The sums now."""
        return Totals(*map(sum, zip(*(worker.cell for worker in self.workers), strict=True)))

    def note_error(self, text: str) -> None:
        """Keeps a message, unless there are enough different ones."""
        text = text[:MESSAGE_CHARS]
        if text in self.messages or len(self.messages) < MESSAGES:
            self.messages[text] += 1


@dataclass
class Worker:
    """One worker's counters and timed operations."""

    board: Board
    cell: list[int] = field(default_factory=lambda: [0] * 5)
    reads: "array[int]" = field(default_factory=lambda: array("q"))
    """Begin and end of timed reads, nanoseconds of the monotonic clock, one after the other."""
    writes: "array[int]" = field(default_factory=lambda: array("q"))

    def failed(self, error: Exception) -> None:
        """Counts a call that failed."""
        self.cell[TIMEOUTS if is_timeout(error) else ERRORS] += 1
        self.board.note_error(f"{type(error).__name__}: {error}")


def is_timeout(error: BaseException) -> bool:
    """Whether a deadline passed. All clients say so in the name of the class, but have no class in common."""
    return any("timeout" in base.__name__.lower() for base in type(error).__mro__)


def latencies(samples: "array[int]", begin: int, end: int, open_loop: bool = False) -> list[int]:
    """Durations in nanoseconds, sorted, of the operations that began and ended between two times.

    In an open loop, of those that were due between them, whenever they ended.
    """
    pairs = zip(samples[::2], samples[1::2], strict=False)
    return sorted(
        ended - began for began, ended in pairs if begin <= began and (began < end if open_loop else ended <= end)
    )


def percentile(ordered: list[int], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed; 0 without values."""
    if not ordered:
        return 0.0
    rank = -(-len(ordered) * share // 1)
    return float(ordered[min(len(ordered), max(1, int(rank))) - 1])
