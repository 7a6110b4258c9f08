"""The rounds of a study as they come: each is appended to a file at once, so that a study can be resumed."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aerolane.bench.report import Report
from aerolane.bench.study.environment import Environment

# The version of the files' form. What reads them refuses any other.
SCHEMA = 1


class JournalError(Exception):
    """The file is not there, not ours, or of another study. The message says which."""


@dataclass(frozen=True)
class Settings:
    """What is the same for all groups of a study. Times are seconds."""

    quick: bool
    rounds: int
    duration: float
    warmup: float
    keys: int
    nodes: int
    hosts: str
    """Empty: embedded clusters."""
    label: str
    """What the server at `hosts` is, in a user's words."""
    sections: tuple[str, ...]
    python: str = ""
    """The version of the Python that the study runs on, where there is another one."""
    other_python: str = ""
    """The path of another Python, which Aerolane is installed for."""
    other_version: str = ""
    servers: tuple[tuple[str, str], ...] = ()
    """What other servers are, and their addresses."""

    @property
    def main_server(self) -> str:
        """What most groups are measured on, for people."""
        return self.label if self.hosts else self._embedded

    @property
    def server(self) -> str:
        """What all groups are measured on, for people."""
        slow = (f"slow conditions: {self._embedded}",) if self.hosts and "conditions" in self.sections else ()
        return "; ".join((self.main_server, *(label for label, _ in self.servers), *slow))

    @property
    def _embedded(self) -> str:
        copies = min(2, self.nodes)
        nodes, copies_of = "s" * (self.nodes != 1), "ies" if copies > 1 else "y"
        return f"embedded cluster in its own process, {self.nodes} node{nodes}, {copies} cop{copies_of}, in memory"


@dataclass(frozen=True)
class Line:
    """One round of one cell, or why there is none."""

    cell: str
    round: int
    figures: Report | None = None
    missing: str = ""
    failure: str = ""


class Journal:
    """The file, open for more rounds."""

    def __init__(self, path: Path, environment: Environment, settings: Settings, lines: list[Line]) -> None:
        self.path = path
        self.environment = environment
        self.settings = settings
        self.lines = lines
        self._there = {(line.cell, line.round) for line in lines if not line.failure}

    @classmethod
    def begin(cls, path: Path, environment: Environment, settings: Settings) -> "Journal":
        """A new file. Raises `JournalError` if there is one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        head = {"schema": SCHEMA, "environment": asdict(environment), "settings": asdict(settings)}
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(json.dumps(head) + "\n")
        except FileExistsError:
            raise JournalError(f"{path} is there already: --resume goes on with it, --output names another") from None
        return cls(path, environment, settings, [])

    @classmethod
    def open(cls, path: Path) -> "Journal":
        """A file that is there. A last line that was cut off is dropped. Raises `JournalError`."""
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise JournalError(f"cannot read {path}: {error.strerror}") from None
        head, *rest = text.splitlines()[: text.count("\n")] or [""]
        try:
            found = json.loads(head)
            if found["schema"] != SCHEMA:
                raise JournalError(f"{path} is of version {found['schema']}, this program reads {SCHEMA}")
            # JSON knows lists only.
            sequences = {
                "sections": tuple(found["settings"]["sections"]),
                "servers": tuple(map(tuple, found["settings"].get("servers", ()))),
            }
            settings = Settings(**{**found["settings"], **sequences})
            lines = [Line(**json.loads(line)) for line in rest]
            journal = cls(path, Environment(**found["environment"]), settings, lines)
        except (ValueError, KeyError, TypeError):
            raise JournalError(f"{path} holds no rounds of a study") from None
        if not text.endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
        return journal

    def check(self, environment: Environment, settings: Settings) -> None:
        """Raises `JournalError` if rounds measured now would not belong to those that are there."""
        differing = [f"another {name}" for name in self.environment.same_as(environment)]
        mine, asked = asdict(self.settings), asdict(settings)
        differing += [f"another value of {name}" for name in mine if mine[name] != asked[name]]
        if differing:
            raise JournalError(f"{self.path} cannot be resumed: it was begun with {', '.join(differing)}")

    def add(self, line: Line) -> None:
        """Appends a round."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(_without_defaults(line)) + "\n")
        self.lines.append(line)
        if not line.failure:
            self._there.add((line.cell, line.round))

    def has(self, cell: str, number: int) -> bool:
        """Whether this round is there. One that failed is not."""
        return (cell, number) in self._there


def _without_defaults(line: Line) -> dict[str, Any]:
    return {name: value for name, value in asdict(line).items() if value not in (None, "")}
