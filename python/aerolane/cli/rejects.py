"""The rows that were not written, as JSON lines."""

import errno
import json
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aerolane.cli.exit_codes import file_failure, usage
from aerolane.cli.json_values import to_json
from aerolane.cli.sources import BadRow, Row
from aerolane.exceptions import AerospikeError


@dataclass(slots=True)
class Reject:
    """Why a row was not written."""

    reason: str
    code: str | None = None
    """The result code, where the cluster or the client has one."""
    in_doubt: bool = False

    @staticmethod
    def of(error: BaseException) -> "Reject":
        """What an exception says."""
        if not isinstance(error, AerospikeError):
            return Reject(f"{error}" or type(error).__name__)
        code = error.result_code
        return Reject(str(error), getattr(code, "name", None), bool(error.in_doubt))


def described(row: Row | BadRow, reject: Reject) -> dict[str, Any]:
    """A rejected row, as an object of the file."""
    told: dict[str, Any] = {"row": row.number}
    if row.line is not None:
        told["line"] = row.line
    told |= {"reason": reject.reason, "code": reject.code, "in_doubt": reject.in_doubt}
    if isinstance(row, BadRow):
        told["text"] = row.text
        return told
    told["record"] = {name: _shown(value) for name, value in row.values.items()}
    return told


def _shown(value: object) -> object:
    try:
        return to_json(value)
    except ValueError:
        return str(value)


class Rejects:
    """A file of rejected rows. Each is written when it comes: what `write` has returned for stands in the file."""

    def __init__(self, path: str, keep: int) -> None:
        """Opens the file for a load whose checkpoint says that its first `keep` bytes count. Raises `Failure`."""
        self.path = path
        self.bytes = keep
        try:
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115  # closed by close()
        except OSError as error:
            raise file_failure(path, error, "open") from None
        try:
            self._keep(keep)
        except OSError as error:
            self.close()
            raise file_failure(path, error, "open") from None
        except BaseException:
            self.close()
            raise

    def _keep(self, keep: int) -> None:
        status = os.fstat(self._file.fileno())
        # Devices and pipes have no length.
        self._regular = stat.S_ISREG(status.st_mode)
        if not self._regular:
            return
        if keep == 0 < status.st_size:
            raise usage(f"{self.path} exists, and not from this load: delete it, or name another one as --rejects")
        if status.st_size < keep:
            raise usage(f"{self.path} has {status.st_size} bytes, but the checkpoint knows of {keep}: it has changed")
        self._file.truncate(keep)

    def write(self, row: Row | BadRow, reject: Reject) -> None:
        """Adds a row. Raises `OSError` if that fails; nothing of it is in the file then."""
        line = json.dumps(described(row, reject)).encode("ascii") + b"\n"
        try:
            written = self._file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with suppress(OSError):
                self._file.truncate(self.bytes)
            raise
        self.bytes += len(line)

    def sync(self) -> None:
        """Has the system write what it still holds. Raises `OSError`."""
        if self._regular:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
