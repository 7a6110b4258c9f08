"""Files that `load` reads: rows in a common form, one module per format."""

from aerolane.cli.sources.files import open_source
from aerolane.cli.sources.rows import BadRow, Row, Source

__all__ = ["BadRow", "Row", "Source", "open_source"]
