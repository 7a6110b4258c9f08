"""Entry of `python -m aerolane.bench`."""

import sys

from aerolane.bench import cli

if __name__ == "__main__":
    if sys.argv[1:2] == ["report"]:
        from aerolane.bench.study.cli import main

        sys.exit(main(sys.argv[2:]))
    sys.exit(cli.main())
