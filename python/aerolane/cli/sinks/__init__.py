"""Files that `export` writes: one module per format."""

from aerolane.cli.sinks.arrow_file import ArrowSink
from aerolane.cli.sinks.columns import Columns
from aerolane.cli.sinks.files import open_sink
from aerolane.cli.sinks.sink import RecordSink, Sink

__all__ = ["ArrowSink", "Columns", "RecordSink", "Sink", "open_sink"]
