"""Snapshots to be looked at."""

import threading
from collections import deque

from aerolane.exporters.exporter import Snapshot


class InMemory:
    """Keeps the last `keep` snapshots (default 1). For any number of threads."""

    def __init__(self, keep: int = 1) -> None:
        if keep < 1:
            raise ValueError(f"keep is {keep}: it must be at least 1")
        self._snapshots: deque[Snapshot] = deque(maxlen=keep)
        self._lock = threading.Lock()

    def export(self, snapshot: Snapshot, /) -> None:
        """Keeps a snapshot."""
        with self._lock:
            self._snapshots.append(snapshot)

    @property
    def snapshots(self) -> list[Snapshot]:
        """The snapshots it has kept, oldest first."""
        with self._lock:
            return list(self._snapshots)

    @property
    def last(self) -> Snapshot | None:
        """The last snapshot, or `None`."""
        with self._lock:
            return self._snapshots[-1] if self._snapshots else None
