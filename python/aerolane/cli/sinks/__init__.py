"""Files that `export` writes: one module per format."""

from aerolane.cli.sinks.columns import Columns
from aerolane.cli.sinks.files import open_sink
from aerolane.cli.sinks.sink import Sink

__all__ = ["Columns", "Sink", "open_sink"]
