"""The embedded cluster in a process of its own, for runs without `-H`."""

import contextlib
import importlib.util
import json
import os
import selectors
import shutil
import subprocess
import sys
from types import TracebackType

VARIABLE = "AEROLANE_EMBEDDED"
PROGRAM = "aerolane-embedded"
# How long it may take to say where it listens, and to end, seconds.
PATIENCE = 20.0


class ClusterError(Exception):
    """The embedded cluster did not start; the message says why."""


def command(nodes: int, namespace: str) -> list[str]:
    """What starts it: the program that `AEROLANE_EMBEDDED` names, `aerolane.testing`, or the program on the path."""
    arguments = ["--nodes", str(nodes), "--port", "0", "--json", "--stdin"]
    if namespace != "test":
        arguments += ["--namespace", namespace]
    named = os.environ.get(VARIABLE)
    if named:
        return [named, *arguments]
    if importlib.util.find_spec("aerolane.testing") is not None:
        return [sys.executable, "-m", "aerolane.testing", *arguments]
    found = shutil.which(PROGRAM)
    if found:
        return [found, *arguments]
    raise ClusterError(f"no embedded cluster: neither aerolane.testing nor {PROGRAM} is there; name hosts with -H")


class EmbeddedProcess:
    """A running embedded cluster. A context manager; it ends with it, and with this process."""

    def __init__(self, nodes: int, namespace: str) -> None:
        program = command(nodes, namespace)
        try:
            # It ends when its stdin closes, so also when this process is killed.
            self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ClusterError(f"{program[0]}: {error}") from error
        try:
            self.seeds = self._await_seeds()
        except BaseException:
            self.close()
            raise

    def _await_seeds(self) -> str:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(PATIENCE):
                raise ClusterError(f"the embedded cluster said nothing within {PATIENCE:.0f} s")
        line = self._process.stdout.readline(1 << 16)
        try:
            seeds = json.loads(line)["seeds"]
        except (ValueError, KeyError, TypeError):
            raise ClusterError(f"the embedded cluster did not say where it listens, but {line[:200]!r}") from None
        return str(seeds)

    def close(self) -> None:
        """Ends it."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> "EmbeddedProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
