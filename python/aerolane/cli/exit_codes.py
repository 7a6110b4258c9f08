"""Exit codes, and the one place that turns exceptions into them."""

import os
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

import typer

from aerolane.exceptions import AerospikeError, InvalidArgumentError, RecordNotFoundError

_P = ParamSpec("_P")


class ExitCode(IntEnum):
    """What the process ends with."""

    OK = 0
    FAILED = 1
    """The cluster refused a call, did not answer in time, or a node did not answer."""
    USAGE = 2
    """Options or an input that cannot be used. Nothing was written."""
    NOT_CONNECTED = 3
    """No seed could be reached, or the login was refused."""
    NOT_FOUND = 4
    """`get` or `delete` of a record that does not exist."""
    REJECTED = 5
    """`load` came to the end of the file, and rows were rejected."""
    FILE = 6
    """A file could not be read or written. What was confirmed before is said, and stays."""
    INTERRUPTED = 130
    """Ctrl-C (SIGINT), or SIGTERM."""


class Failure(Exception):
    """The end of a command: what failed, and the exit code."""

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def usage(message: str) -> Failure:
    """Options or input that cannot be used."""
    return Failure(ExitCode.USAGE, message)


def file_failure(path: object, error: Exception, doing: str = "read") -> Failure:
    """A file that could not be read or written."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return Failure(ExitCode.FILE, f"could not {doing} {path}: {reason}")


def guarded(command: Callable[_P, None]) -> Callable[_P, None]:
    """A command that ends with an exit code and a line on standard error for each known failure."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except Failure as failure:
            _end(failure.code, str(failure))
        except RecordNotFoundError as error:
            _end(ExitCode.NOT_FOUND, str(error))
        except InvalidArgumentError as error:
            _end(ExitCode.USAGE, str(error))
        except AerospikeError as error:
            _end(ExitCode.FAILED, str(error))
        except (KeyboardInterrupt, typer.Abort):
            _end(ExitCode.INTERRUPTED, "interrupted")
        except BrokenPipeError:
            # Whoever read our output has gone; what is still buffered must not raise at the end of the interpreter.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            _end(ExitCode.FAILED, None)
        except OSError as error:
            _end(ExitCode.FILE, str(error))

    return run


def _end(code: ExitCode, message: str | None) -> None:
    if message:
        print(f"aerolane: {message}", file=sys.stderr, flush=True)
    raise typer.Exit(int(code))
