"""pyarrow, where it is installed."""

import importlib
from typing import Any

from aerolane.cli.exit_codes import usage


def pyarrow(module: str = "pyarrow") -> Any:
    """A module of pyarrow. Raises `Failure` where that is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise usage("Parquet and Arrow files need pyarrow: pip install pyarrow") from None
