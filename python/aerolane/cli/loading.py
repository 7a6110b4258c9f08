"""Loads rows by a writer, with the outcome of each row known, in bounded memory."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aerolane import ConnectionError as NoConnection
from aerolane import DataSet, ExpiredError, InvalidNamespaceError, Outcome, WriterClosedError
from aerolane import TimeoutError as TimedOut
from aerolane.cli import output
from aerolane.cli.checkpoint import Checkpoint, State, runs
from aerolane.cli.exit_codes import ExitCode, Failure, file_failure
from aerolane.cli.interrupts import Interrupted, Interrupts
from aerolane.cli.progress import Shown
from aerolane.cli.rejects import Reject, Rejects, described
from aerolane.cli.sources import BadRow, Row, Source
from aerolane.exceptions import AerospikeError, ClientClosedError, SecurityError
from aerolane.sync import Writer

# From the oldest row without an outcome to the one that is handed over next: rows, and bytes of them in the file.
WINDOW_ROWS = 20_000
WINDOW_BYTES = 64 << 20

# Seconds between two looks at the clock, the progress and the checkpoint.
TICK = 1.0
# Rejected rows that the summary shows.
SHOWN_REJECTS = 5

# What says nothing of the row: the cluster could not be asked, or takes no row from us.
_STOPPING = (
    ExpiredError,
    NoConnection,
    TimedOut,
    ClientClosedError,
    WriterClosedError,
    InvalidNamespaceError,
    SecurityError,
)


@dataclass(frozen=True)
class Target:
    """What becomes of a row: the column of its key, and those that are bins."""

    dataset: DataSet
    key: str
    bins: Mapping[str, str] | None
    """The column of each bin. `None`: all columns but that of the key are bins of their names."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of `Writer.put`."""
    conditional: bool = False
    """Whether a repeated write may fail because of the first one (`--exists create`)."""

    def bins_of(self, row: Row) -> dict[str, Any]:
        """The bins of a row; columns without a value are left out."""
        values = row.values
        if self.bins is None:
            return {name: value for name, value in values.items() if value is not None and name != self.key}
        return {name: value for name, column in self.bins.items() if (value := values.get(column)) is not None}


@dataclass
class Summary:
    """What became of a file."""

    rows: int = 0
    """Rows that have been read, without those that an earlier load has done."""
    resumed_after: int = 0
    """Rows that an earlier load has done."""
    confirmed: int = 0
    """Rows of this load that the cluster has confirmed."""
    rejected: int = 0
    rejected_before: int = 0
    """Rows that an earlier load has rejected."""
    unfinished: int = 0
    """Rows that were handed over, and of which it is not known whether they were written."""
    done: int = 0
    """All rows up to this number are confirmed or rejected."""
    seconds: float = 0.0
    first_rejects: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    stopped: Failure | None = None
    """Why the load has ended before the end of the file."""


@dataclass(slots=True)
class _Pending:
    """A row whose turn has not come: with an outcome, rejected at once, or confirmed by an earlier load."""

    row: Row | BadRow
    outcome: Outcome | None = None
    reject: Reject | None = None
    earlier: bool = False

    def done(self) -> bool:
        return self.outcome is None or self.outcome.done()

    def confirmed(self) -> bool:
        return self.earlier or (self.outcome is not None and self.outcome.ok)


class Loader:
    """One load. `run` does it."""

    def __init__(
        self,
        source: Source,
        writer: Writer,
        target: Target,
        interrupts: Interrupts,
        shown: Shown,
        *,
        state: State | None = None,
        checkpoint: Checkpoint | None = None,
        rejects: Rejects | None = None,
        max_rejects: int | None = None,
    ) -> None:
        self._source, self._writer, self._target = source, writer, target
        self._interrupts, self._shown = interrupts, shown
        self._state = state or State()
        self._checkpoint, self._rejects, self._max_rejects = checkpoint, rejects, max_rejects
        self._pending: deque[_Pending] = deque()
        self._pending_bytes = 0
        self._handed_over = 0
        self._next_tick = 0.0
        self._began = time.monotonic()
        # Rows are no longer taken out of the line: the file of rejects, or the checkpoint, cannot be written.
        self._frozen = False
        self.summary = Summary(resumed_after=self._state.done, rejected_before=self._state.rejected)

    def run(self) -> Summary:
        """Loads all rows, or as many as go. What has stopped it is in the summary; `Failure` is not raised."""
        summary = self.summary
        try:
            self._hand_all_over()
            self._wait_until(lambda: not self._pending)
        except Interrupted:
            summary.stopped = Failure(ExitCode.INTERRUPTED, "interrupted")
        except Failure as failure:
            summary.stopped = failure
        if summary.stopped:
            self._drain()
        self._conclude()
        summary.done = self._state.done
        summary.seconds = time.monotonic() - self._began
        return summary

    # Handing over.

    def _hand_all_over(self) -> None:
        earlier = _Earlier(self._state)
        self._source.when_idle(self._while_idle)
        rows = iter(self._source)
        while True:
            if self._interrupts.signal is not None:
                raise Interrupted
            with self._interrupts.waiting:
                row = next(rows, None)
            if row is None:
                return
            if row.number <= self.summary.resumed_after:
                self._tick()
                continue
            pending = _Pending(row, earlier=earlier.has(row.number))
            self.summary.rows += not pending.earlier
            if isinstance(row, BadRow):
                pending.reject = Reject(row.reason)
            elif not pending.earlier:
                self._hand_over(row, pending)
            self._pending.append(pending)
            self._pending_bytes += row.size
            self._settle()
            self._tick()
            if len(self._pending) >= WINDOW_ROWS or self._pending_bytes >= WINDOW_BYTES:
                self._wait_until(self._has_room)

    def _while_idle(self) -> None:
        """Goes on with what was handed over while a pipe has no rows."""
        with self._interrupts.not_waiting():
            self._settle()
            self._tick()

    def _has_room(self) -> bool:
        return len(self._pending) < WINDOW_ROWS and self._pending_bytes < WINDOW_BYTES

    def _hand_over(self, row: Row, pending: _Pending) -> None:
        try:
            key = self._target.dataset.id(_key(row, self._target.key))
            bins = self._target.bins_of(row)
            if not bins:
                raise ValueError("no column has a value: a record without bins does not exist")
            with self._interrupts.waiting:
                pending.outcome = self._writer.put(key, bins, **self._target.options)
        except _STOPPING as error:
            raise self._stop(row, error) from None
        except (AerospikeError, TypeError, ValueError, OverflowError) as error:
            pending.reject = Reject.of(error)
            return
        except Interrupted:
            # The signal may have come at the very end.
            if pending.outcome is not None:
                self._handed_over += 1
                self._pending.append(pending)
            raise
        self._handed_over += 1

    # Outcomes, in the order of the rows.

    def _settle(self) -> None:
        """Takes the rows out of the line whose turn it is and whose outcome is known."""
        while self._pending and not self._frozen and self._pending[0].done():
            pending = self._pending[0]
            self._account(pending)
            self._pending.popleft()
            self._pending_bytes -= pending.row.size
            self._state.done = pending.row.number

    def _account(self, pending: _Pending) -> None:
        reject = pending.reject
        if pending.outcome is not None and (error := pending.outcome.exception()) is not None:
            if isinstance(error, _STOPPING) and not (self._target.conditional and pending.outcome.in_doubt):
                raise self._stop(pending.row, error)
            reject = Reject.of(error)
        if reject is None:
            self._state.confirmed += 1
            self.summary.confirmed += not pending.earlier
            return
        if self._max_rejects is not None and self.summary.rejected >= self._max_rejects:
            self._frozen = True
            reason = f"more than {self._max_rejects} rows were rejected; row {pending.row.number}: {reject.reason}"
            raise Failure(ExitCode.REJECTED, reason)
        if self._rejects is not None:
            try:
                self._rejects.write(pending.row, reject)
            except OSError as error:
                self._frozen = True
                raise file_failure(f"{self._rejects.path} (rejected rows)", error, "write") from None
            self._state.rejects_bytes = self._rejects.bytes
        self._state.rejected += 1
        self.summary.rejected += 1
        if len(self.summary.first_rejects) < SHOWN_REJECTS:
            self.summary.first_rejects.append(described(pending.row, reject))

    def _stop(self, row: Row | BadRow, error: Exception) -> Failure:
        self._frozen = True
        return Failure(ExitCode.FAILED, f"row {row.number} could not be written: {error}")

    # Waiting.

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._settle()
            self._tick()
            if condition() or self._frozen or not self._pending:
                return
            self._wait_for(self._pending[0])

    def _wait_for(self, pending: _Pending) -> None:
        """Waits for an outcome, at most for a tick."""
        outcome = pending.outcome
        if outcome is None or outcome.done():
            return
        with self._interrupts.waiting:
            try:
                outcome.result(TICK)
            except (AerospikeError, TimeoutError):
                # The record's own error is looked at when its turn comes.
                return

    def _drain(self) -> None:
        """Waits for the outcomes of all that was handed over; a further signal ends that."""
        self._interrupts.forget()
        still_open = sum(not pending.done() for pending in self._pending)
        if still_open:
            output.note(f"waiting for the outcomes of {still_open:,} rows; Ctrl-C gives them up")
        for pending in list(self._pending):
            try:
                while not pending.done():
                    self._wait_for(pending)
                    self._tick()
                self._settle()
            except Failure:
                # The first reason to stop is the one that is told.
                self._frozen = True
            except Interrupted:
                return

    # What is told, and kept.

    def _tick(self) -> None:
        now = time.monotonic()
        if now < self._next_tick:
            return
        self._next_tick = now + TICK
        summary = self.summary
        rate = summary.confirmed / max(now - self._began, 0.001)
        text = (
            f"{summary.rows:,} rows read, {summary.confirmed:,} confirmed, {summary.rejected:,} rejected, {rate:,.0f}/s"
        )
        self._shown.update(self._source.position(), text)
        if self._checkpoint is not None and not self._frozen:
            self._store(self._checkpoint)

    def _store(self, checkpoint: Checkpoint) -> None:
        self._state.beyond = runs(one.row.number for one in self._pending if one.confirmed())
        try:
            if self._rejects is not None:
                self._rejects.sync()
            checkpoint.store(self._state)
        except OSError as error:
            self._frozen = True
            raise file_failure(f"{checkpoint.path} (checkpoint)", error, "write") from None

    def _conclude(self) -> None:
        """Counts what is left in the line, and writes the checkpoint a last time."""
        summary = self.summary
        for pending in self._pending:
            outcome = pending.outcome
            if outcome is not None:
                summary.confirmed += outcome.ok
                summary.unfinished += not outcome.done() or outcome.in_doubt
        # A signal at the very end of a hand-over leaves a record whose outcome nobody has.
        summary.unfinished += self._writer.progress().handed_over - self._handed_over
        if self._checkpoint is None:
            return
        try:
            self._store(self._checkpoint)
        except Failure as failure:
            summary.stopped = summary.stopped or failure


class _Earlier:
    """The rows behind `State.done` that an earlier load has confirmed. Asked for with ascending numbers."""

    def __init__(self, state: State) -> None:
        self._runs = deque(state.beyond)

    def has(self, number: int) -> bool:
        while self._runs and self._runs[0][1] < number:
            self._runs.popleft()
        return bool(self._runs) and self._runs[0][0] <= number


def _key(row: Row, column: str) -> int | str | bytes:
    value = row.values.get(column)
    if value is None:
        raise ValueError(f"no value in the key column {column}")
    if isinstance(value, bool) or not isinstance(value, (int, str, bytes)):
        raise ValueError(f"the key column {column} has a {type(value).__name__}; keys are int, string or bytes")
    return value
