"""Where the program of embedded clusters is."""

import os
import shutil
import sysconfig

# Names another copy of the program.
VARIABLE = "AEROLANE_EMBEDDED"

_NAME = "aerolane-embedded"


def find() -> str:
    """The path of `aerolane-embedded`: as `AEROLANE_EMBEDDED` says, of this environment, or in `PATH`.

    Raises `FileNotFoundError` that says how to install it.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"{VARIABLE} names {named!r}, which is no program")
        return found
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    # The last one: in PATH.
    for path in (*(sysconfig.get_path("scripts", scheme) for scheme in schemes), None):
        found = shutil.which(_NAME, path=path)
        if found is not None:
            return found
    raise FileNotFoundError(
        f"embedded clusters need the program {_NAME}: pip install 'aerolane[testing]' brings it, "
        f"and {VARIABLE} can name a copy of it"
    )
