"""Small files that are whole or not there."""

import os
import tempfile
from contextlib import suppress


def replace(path: str, text: str) -> None:
    """Writes a file in one step: whoever reads it, also after a power failure, finds the old text or the new one.

    Raises `OSError`; the old file is still there then.
    """
    directory = os.path.dirname(os.path.abspath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=directory)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
