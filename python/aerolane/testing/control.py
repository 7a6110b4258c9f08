"""The line to a program of embedded clusters: a request, an answer, both JSON.

`cargo doc -p aerolane-embedded` has the protocol, in the module `control`.
"""

import contextlib
import json
import os
import subprocess
import threading
import weakref
from typing import Any

from aerolane.testing import program

# How long the program gets to end after it was told to, in seconds.
_END_TIMEOUT = 10.0

_ERRORS = {"request": ValueError, "setting": ValueError, "type": TypeError, "unknown": LookupError}


class Control:
    """A running program. For any thread; requests are carried out one after the other."""

    def __init__(self) -> None:
        # A group of its own: Ctrl-C in a terminal is for this process, which then ends the program.
        self._process = subprocess.Popen(
            [program.find(), "--control"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        self._lock = threading.Lock()
        self._requests = 0
        self._owner = os.getpid()
        # Also where nobody closes it: at its garbage collection, and at the end of this process.
        self._finalizer = weakref.finalize(self, _end, self._process, self._owner)

    @property
    def pid(self) -> int:
        """The id of the program's process."""
        return self._process.pid

    @property
    def is_foreign(self) -> bool:
        """Whether this process was forked from the one that the program belongs to."""
        return os.getpid() != self._owner

    @property
    def has_ended(self) -> bool:
        """Whether the program was ended here."""
        return not self._finalizer.alive

    def ask(self, do: str, **arguments: object) -> Any:
        """What the program answers; arguments that are `None` are left out.

        Raises what its refusal says (`ValueError`, `TypeError`, `LookupError`, `OSError`), and `RuntimeError` if there
        is no answer.
        """
        if self.is_foreign:
            raise RuntimeError("the embedded cluster belongs to the process that this one was forked from")
        given = {name: value for name, value in arguments.items() if value is not None}
        answer = self._exchange({"do": do, **given})
        if "error" in answer:
            raise _raised(answer["error"])
        return answer["ok"]

    def _exchange(self, request: dict[str, object]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        with self._lock:
            if self.has_ended:
                raise RuntimeError("the embedded cluster is closed")
            self._requests += 1
            number = self._requests
            line = json.dumps({"id": number, **request}, allow_nan=False).encode() + b"\n"
            try:
                stdin.write(line)
                stdin.flush()
                while (line := stdout.readline()).endswith(b"\n"):
                    answer: dict[str, Any] = json.loads(line)
                    # Others are to requests whose caller was interrupted.
                    if answer.get("id") == number:
                        return answer
            except OSError:
                pass
        code = self._process.poll()
        ended = "does not answer" if code is None else f"has ended (exit code {code})"
        raise RuntimeError(f"the program of the embedded cluster {ended}")

    def end(self) -> None:
        """Ends the program and waits for its end. Another time it does nothing."""
        if self.is_foreign:
            return
        # First of all: whoever waits for an answer, with the lock, gets none then.
        self._process.terminate()
        if not self._lock.acquire(timeout=_END_TIMEOUT):
            # The program hangs.
            self._process.kill()
            self._lock.acquire()
        try:
            self._finalizer()
        finally:
            self._lock.release()


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() != owner:
        # In a forked child it is nobody's to wait for, and nothing to warn of.
        process.returncode = 0
        return
    # A forked child may hold the other end of its standard input open: closing that would not do.
    process.terminate()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    try:
        process.wait(_END_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _raised(error: dict[str, Any]) -> Exception:
    kind, text = error["kind"], error["text"]
    if kind == "os":
        return OSError(error["errno"], text) if "errno" in error else OSError(text)
    return _ERRORS.get(kind, RuntimeError)(text)
