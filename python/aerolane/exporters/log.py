"""A line of `logging` for each snapshot."""

import logging

from aerolane.exporters.exporter import Snapshot

_SHOWN = ("handed_over", "ok", "failed", "in_doubt", "outstanding", "requests", "retries", "throttled")


class Logging:
    """Logs a line for each snapshot, to the logger `aerolane.writer` unless another one is given."""

    def __init__(self, logger: logging.Logger | str = "aerolane.writer", level: int = logging.INFO) -> None:
        self._logger = logging.getLogger(logger) if isinstance(logger, str) else logger
        self._level = level

    def export(self, snapshot: Snapshot, /) -> None:
        """Logs a snapshot. The record has all of it as its attribute `aerolane_writer`."""
        text = ", ".join(f"{name} {snapshot[name]}" for name in _SHOWN)
        self._logger.log(self._level, "writer: %s", text, extra={"aerolane_writer": snapshot})
