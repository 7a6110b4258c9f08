"""How far a load has come, in a file: a load that is run again goes on from there."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from aerolane.cli import durable
from aerolane.cli.exit_codes import file_failure, usage

_VERSION = 1
_FINGERPRINT = 1 << 16


@dataclass
class State:
    """What is certain of the rows of a file."""

    done: int = 0
    """All rows up to this number are confirmed, or in the rejects file."""
    beyond: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Confirmed rows behind that: first and last of each run."""
    confirmed: int = 0
    """How many of the rows up to `done` are confirmed."""
    rejected: int = 0
    """How many of them are not."""
    rejects_bytes: int = 0
    """The length of the rejects file that says so. What stands behind it belongs to rows that come again."""


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def source_of(path: str) -> dict[str, Any]:
    """What tells a file from another: its size, and a hash of its beginning."""
    if path == "-":
        return {"path": path}
    try:
        with open(path, "rb") as file:
            begin = file.read(_FINGERPRINT)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise file_failure(path, error, "open") from None
    return {"path": os.path.abspath(path), "bytes": size, "begins": hashlib.sha256(begin).hexdigest()}


class Checkpoint:
    """The file. `about` is what must be the same when the load goes on: source, target and key column."""

    def __init__(self, path: str, about: dict[str, Any]) -> None:
        self.path = path
        self._about = about

    def load(self) -> State:
        """The state that the file holds; without a file, that of a beginning.

        Raises `Failure` for a checkpoint of another load, or a file that is none.
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                held = json.load(file)
        except FileNotFoundError:
            return State()
        except OSError as error:
            raise file_failure(self.path, error) from None
        except ValueError:
            raise usage(f"{self.path} is not a checkpoint") from None
        if not isinstance(held, dict) or cast("dict[str, Any]", held).get("version") != _VERSION:
            raise usage(f"{self.path} is not a checkpoint of this version")
        about = cast("dict[str, Any]", held).get("load")
        if about != self._about:
            raise usage(
                f"{self.path} is the checkpoint of another load, or its file has changed: it says {json.dumps(about)},"
                f" and this is {json.dumps(self._about)}; delete it to begin anew"
            )
        try:
            state = State(**cast("dict[str, Any]", held)["state"])
            state.beyond = [(int(first), int(last)) for first, last in state.beyond]
        except (KeyError, TypeError, ValueError):
            raise usage(f"{self.path} is not a checkpoint") from None
        return state

    def store(self, state: State) -> None:
        """Writes the state. Raises `OSError`; what the file held before is still there then."""
        durable.replace(
            self.path, json.dumps({"version": _VERSION, "load": self._about, "state": asdict(state)}) + "\n"
        )
