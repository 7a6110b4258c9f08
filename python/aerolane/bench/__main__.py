"""Entry of `python -m aerolane.bench`."""

import sys

from aerolane.bench.cli import main

sys.exit(main())
