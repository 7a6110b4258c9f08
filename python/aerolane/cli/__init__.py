"""The command line: `aerolane`. Needs the extra `cli`; nothing else of the package imports it."""

import importlib.util
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Runs the command of `sys.argv`, and ends the process with its exit code (`aerolane.cli.exit_codes`)."""
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"aerolane: the command line needs {' and '.join(missing)}: pip install 'aerolane[cli]'", file=sys.stderr)
        sys.exit(2)
    from aerolane.cli.app import app

    app(prog_name="aerolane")
    sys.exit(0)
