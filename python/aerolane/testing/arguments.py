"""Checks of what embedded clusters are given, before it becomes JSON: that has fewer types."""

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, TypedDict, cast, get_args

from aerolane.testing.node import EmbeddedNode, id_of

Time: TypeAlias = str | float
"""A time: a text such as `"80us"`, or a number of seconds."""

ServiceTime: TypeAlias = Time | Mapping[str, Time]
"""How long requests are in service: all of them, or by kind."""

Kind: TypeAlias = Literal["info", "admin", "read", "write", "batch", "batch-row", "query", "other"]
"""A kind of request that a fault can strike."""

Action: TypeAlias = Literal[
    "delay",
    "answer-delay",
    "connect-delay",
    "stall",
    "drop-before",
    "drop-after",
    "truncate",
    "split",
    "result",
    "garbage",
    "refuse",
    "black-hole",
    "black-hole-requests",
    "black-hole-answers",
    "black-hole-connects",
    "reject-unowned",
]
"""What a fault does."""


ConflictResolution: TypeAlias = Literal["generation", "last-update-time"]
"""Which version of a record is kept of two."""

# Words that people write for kinds of requests.
_OTHER_WORDS = {"get": "read", "exists": "read", "put": "write", "delete": "write", "scan": "query", "login": "admin"}


class Conditions(TypedDict):
    """How long requests take, as `set_conditions` takes it."""

    service_time: str
    in_service: int
    latency: str
    seed: int


def whole(name: str, value: object) -> int:
    """An int that is not negative."""
    if not isinstance(value, int):
        raise TypeError(f"{name}: an int expected, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} is {value}: it cannot be negative")
    return int(value)


def whole_or_none(name: str, value: object) -> int | None:
    """The same, or nothing."""
    return None if value is None else whole(name, value)


def one_or_several(name: str, what: str, value: object) -> list[str]:
    """A str, or at least one of them in an iterable."""
    if isinstance(value, str):
        return _known_kinds(name, [value])
    wrong = TypeError(f"{name}: a {what} or a sequence of them expected")
    if not isinstance(value, Iterable):
        raise wrong
    several = list(cast(Iterable[object], value))
    texts = [text for text in several if isinstance(text, str)]
    if len(texts) < len(several):
        raise wrong
    if not texts:
        raise ValueError(f"{name}: at least one {what} expected")
    return _known_kinds(name, texts)


def _known_kinds(name: str, texts: list[str]) -> list[str]:
    """The same; those of `on` have to be kinds of requests."""
    for kind in texts if name == "on" else ():
        _check_word("kind of request", kind, get_args(Kind), _OTHER_WORDS)
    return texts


def _check_word(what: str, word: str, words: tuple[str, ...], others: Mapping[str, str]) -> None:
    """Raises for a word that is not one of these, and suggests one."""
    if word in words:
        return
    lower = str(word).lower()
    singular = lower.removesuffix("s")
    near = [others[singular]] if singular in others else [each for each in words if each.startswith(lower)]
    near = near or difflib.get_close_matches(lower, words, 2)
    meant = " or ".join(f'"{each}"' for each in near)
    hint = f" (did you mean {meant}?)" if near else ""
    raise ValueError(f'unknown {what} "{word}"{hint}: expected {", ".join(words[:-1])} or {words[-1]}')


def time(name: str, value: object) -> Time:
    """A text, or a finite number of seconds."""
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, float)):
        raise TypeError(f'{name}: expected a str such as "80us" or seconds, not {type(value).__name__}')
    if not math.isfinite(value):
        raise ValueError(f"{name}: {value} s is not a duration: expected 0 s to 10 minutes")
    return value


def service_time(value: object) -> ServiceTime:
    """A time, or times by kind of request."""
    if isinstance(value, Mapping):
        times = cast(Mapping[object, object], value)
        return {str(kind): time("service_time", each) for kind, each in times.items()}
    return time("service_time", value)


def conditions(times: object, in_service: object, latency: object, seed: object) -> dict[str, object]:
    """How long requests take, as the program takes it."""
    return {
        "service_time": None if times is None else service_time(times),
        "in_service": whole("in_service", in_service),
        "latency": None if latency is None else time("latency", latency),
        "seed": whole("seed", seed),
    }


def seconds(name: str, value: object) -> float:
    """A finite number of seconds that is not negative."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}: a number expected, not {type(value).__name__}")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name}: {value} s is not a duration")
    return value


def shift(name: str, value: object) -> float:
    """A finite number of seconds, also a negative one."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}: a number expected, not {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{name}: {value} s: a clock is moved by ten years at most")
    return value


def groups(value: Iterable[object]) -> list[list[str]]:
    """The ids of nodes, in groups."""
    several = list(value)
    for group in several:
        if isinstance(group, (str, EmbeddedNode)) or not isinstance(group, Iterable):
            raise TypeError(f"a group is a list of nodes, not {type(group).__name__}")
    return [[id_of(node) for node in cast(Iterable[object], group)] for group in several]


def fault(
    action: str,
    value: object,
    on: object,
    in_set: object,
    key_prefix: object,
    digest: object,
    connection: object,
    skip: object,
    times: object,
    probability: object,
) -> dict[str, object]:
    """A fault, as the program takes it, but for its node."""
    if digest is not None and not isinstance(digest, (str, bytes, bytearray)):
        raise TypeError(f"digest: 20 bytes or 40 hexadecimal digits expected, not {type(digest).__name__}")
    return {
        "action": action,
        "value": fault_value(action, value),
        "on": None if on is None else one_or_several("on", "kind of request", on),
        "set": in_set,
        "key_prefix": key_prefix,
        "digest": digest if digest is None or isinstance(digest, str) else digest.hex(),
        "connection": None if connection is None else whole("connection", connection),
        "skip": whole("skip", skip),
        "times": None if times is None else whole("times", times),
        "probability": probability,
    }


def fault_value(action: str, value: object) -> object:
    """The value of a fault, whose name is checked."""
    _check_word("fault", action, get_args(Action), {})
    if action == "garbage" and value is not None:
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError("garbage is given as bytes")
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a delay of {value} s: 0 to 600 expected")
    if value is not None and not isinstance(value, (int, float, str)):
        raise TypeError(f"the fault {action!r} takes a number, not {type(value).__name__}")
    return value
