"""A line of JSON for each snapshot."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Self

from aerolane.exporters.exporter import FIGURES, Snapshot


class JsonLines:
    """Writes a line of JSON for each snapshot: all of it, and `time` (seconds since 1970).

    * `to`: the path of a file to append to, or a text stream, which stays open
    * `fields`: further fields of each line, to tell one writer from another
    * `cloudwatch_namespace`: adds what CloudWatch's embedded metric format needs; `fields` become the dimensions
    """

    def __init__(
        self,
        to: str | os.PathLike[str] | IO[str],
        *,
        fields: Mapping[str, str] | None = None,
        cloudwatch_namespace: str | None = None,
    ) -> None:
        self._fields = dict(fields or {})
        self._namespace = cloudwatch_namespace
        taken = [
            name for name in ("time", "_aws", "nodes", *(figure.name for figure in FIGURES)) if name in self._fields
        ]
        if taken:
            raise ValueError(f"fields: {', '.join(taken)} is the name of a figure")
        self._path: str | None = None
        if isinstance(to, (str, os.PathLike)):
            self._path = os.fspath(to)
            self._stream: IO[str] = open(to, "a", encoding="utf-8")  # noqa: SIM115  # closed by close()
        else:
            self._stream = to

    def export(self, snapshot: Snapshot, /) -> None:
        """Writes a line, and flushes it. Raises `OSError`."""
        now = time.time()
        line: dict[str, Any] = {"time": now, **self._fields, **snapshot}
        if self._namespace is not None:
            line["_aws"] = self._embedded_metrics(now)
        try:
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()
        except OSError:
            self._reopen()
            raise

    def _reopen(self) -> None:
        """Drops what could not be written: it would come before the next line, or raise when the file is closed."""
        if self._path is not None:
            with suppress(OSError):
                self._stream.close()
            self._stream = open(self._path, "a", encoding="utf-8")  # noqa: SIM115

    def _embedded_metrics(self, now: float) -> dict[str, Any]:
        # Counters count from the start of the writer; CloudWatch shows differences with RATE() or DIFF().
        metrics = [{"Name": figure.name, "Unit": "Bytes" if "bytes" in figure.name else "Count"} for figure in FIGURES]
        directive = {"Namespace": self._namespace, "Dimensions": [list(self._fields)], "Metrics": metrics}
        return {"Timestamp": int(now * 1000), "CloudWatchMetrics": [directive]}

    def close(self) -> None:
        """Closes the file, if the exporter opened it."""
        if self._path is not None:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
