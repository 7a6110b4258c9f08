"""The file beneath a sink, and which sink a format needs."""

import gzip
import os
import stat
import sys
import tempfile
from contextlib import suppress
from typing import IO, TYPE_CHECKING, cast

from aerolane.cli.exit_codes import file_failure, usage
from aerolane.cli.sinks.columns import Columns
from aerolane.cli.sinks.sink import RecordSink
from aerolane.cli.sources.files import Format, format_of

if TYPE_CHECKING:
    from aerolane.cli.sinks.arrow_file import ArrowSink


class Output:
    """A file that appears under its name once it is complete. Standard output, devices and pipes are written to at
    once."""

    def __init__(self, path: str, *, overwrite: bool) -> None:
        self.path = path
        self._temporary: str | None = None
        try:
            if path == "-":
                self._raw: IO[bytes] = sys.stdout.buffer
            elif os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
                self._raw = open(path, "wb")  # noqa: SIM115  # closed by close()
            else:
                if os.path.exists(path) and not overwrite:
                    raise usage(f"{path} exists: --overwrite replaces it")
                directory = os.path.dirname(os.path.abspath(path))
                descriptor, self._temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=directory)
                self._raw = os.fdopen(descriptor, "wb")
        except OSError as error:
            raise file_failure(path, error, "open") from None
        self.stream = self._raw
        if path.lower().endswith(".gz"):
            self.stream = cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw, mode="wb"))

    def finish(self) -> None:
        """Completes the file. Raises `OSError`."""
        if self.stream is not self._raw:
            self.stream.close()
        self._raw.flush()
        if self._temporary is not None:
            os.fsync(self._raw.fileno())
            # As a file that `open` makes: what the temporary file keeps from others is no secret any more.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(self._temporary, 0o666 & ~mask)
            os.replace(self._temporary, self.path)
            self._temporary = None

    def close(self) -> None:
        """Closes the file; what was not finished goes away."""
        with suppress(OSError, ValueError):
            if self.path != "-":
                self._raw.close()
        if self._temporary is not None:
            with suppress(OSError):
                os.unlink(self._temporary)


def open_sink(path: str, said: Format | None, columns: Columns, *, overwrite: bool) -> "RecordSink | ArrowSink":
    """The sink for a file. Raises `Failure` if it cannot be written."""
    from aerolane.cli.sinks.text import CsvSink, JsonLinesSink

    chosen = format_of(path, said)
    if chosen is Format.JSONL:
        return JsonLinesSink(Output(path, overwrite=overwrite), columns)
    if chosen in (Format.CSV, Format.TSV):
        return CsvSink(Output(path, overwrite=overwrite), columns, "\t" if chosen is Format.TSV else ",")
    from aerolane.cli.arrow import pyarrow
    from aerolane.cli.sinks.arrow_file import ArrowSink

    pyarrow()
    if path.lower().endswith(".gz"):
        raise usage("Parquet and Arrow files compress by themselves: leave out .gz")
    return ArrowSink(Output(path, overwrite=overwrite), columns, chosen is Format.PARQUET)
