"""`python -m aerolane.testing`: an embedded cluster that runs until it is told to stop.

It is the program `aerolane-embedded` itself: `--help` lists its options.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from aerolane.testing import program


def main(said: Sequence[str] | None = None) -> NoReturn:
    """Becomes the program, with these arguments or those of the process."""
    try:
        path = program.find()
    except FileNotFoundError as error:
        sys.exit(str(error))
    os.execv(path, ["aerolane-embedded", *(sys.argv[1:] if said is None else said)])


if __name__ == "__main__":
    main()
