"""Entry of `python -m aerolane.bench`."""

import sys

from aerolane.bench.cli import main

if __name__ == "__main__":
    sys.exit(main())
