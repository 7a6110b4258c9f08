"""What calls are made of, and the checks of arguments that both kinds of `execute_concurrent` share."""

from collections.abc import Callable, Mapping
from typing import Any

from aerolane._aerolane import InvalidArgumentError, SyncClient, SyncCluster, SyncSession, SyncTransactionalSession

# What blocks the thread that calls it.
BLOCKING = (SyncClient, SyncCluster, SyncSession, SyncTransactionalSession)


def is_a(value: object, kinds: Any) -> bool:
    """`isinstance`, after which type checkers know no more of the value than before: that it may be anything."""
    return isinstance(value, kinds)


def check(concurrency: object, results: object, raise_on_first_error: object) -> None:
    """Raises for settings that cannot be used."""
    if not isinstance(concurrency, int) or isinstance(concurrency, bool):
        raise TypeError(f"concurrency must be an int, not {type(concurrency).__name__}")
    if concurrency < 1:
        raise InvalidArgumentError(f"concurrency is {concurrency}: at least 1 expected")
    if results not in ("list", "iterator"):
        raise InvalidArgumentError(f"results must be 'list' or 'iterator', not {results!r}")
    if not isinstance(raise_on_first_error, bool):
        raise TypeError(f"raise_on_first_error must be a bool, not {type(raise_on_first_error).__name__}")


def method_of(session: Any, method: Any, blocking: bool) -> Callable[..., Any]:
    """The method of a session: its name, or something callable."""
    if isinstance(method, str):
        if not blocking and method.endswith("_blocking"):
            raise InvalidArgumentError(f"{method!r} blocks: use execute_concurrent of aerolane.sync")
        found: Callable[..., Any] | None = getattr(session, method, None)
        if not callable(found):
            raise InvalidArgumentError(f"{type(session).__name__} has no method {method!r}")
        return found
    if callable(method):
        made: Callable[..., Any] = method
        return made
    raise TypeError(f"a method must be a name or callable, not {type(method).__name__}")


def with_args(method: Callable[..., Any], arguments: object) -> Any:
    """Calls with a tuple of arguments, a mapping of keyword arguments, or one argument."""
    if isinstance(arguments, tuple):
        return method(*arguments)
    if isinstance(arguments, Mapping):
        return method(**arguments)
    return method(arguments)


def begin(session: Any, blocking: bool, call: Any) -> Any:
    """Makes one call; gives what it gives."""
    if is_a(call, (tuple, list)):
        items: list[Any] = list(call)
        if not 1 <= len(items) <= 3:
            raise InvalidArgumentError(f"a call is (method, arguments, keywords), not {len(items)} items")
        left_out: list[Any] = [(), {}]
        method, arguments, keywords = [*items, *left_out[len(items) - 1 :]]
        if not isinstance(arguments, tuple | list) or not isinstance(keywords, Mapping):
            raise TypeError("a call is (method, arguments, keywords), where arguments is a tuple and keywords a dict")
        return method_of(session, method, blocking)(*arguments, **keywords)
    if callable(call):
        return call(session)
    if callable(execute := getattr(call, "execute", None)):
        return execute()
    raise TypeError(f"a call must be (method, arguments), a builder or a callable, not {type(call).__name__}")
