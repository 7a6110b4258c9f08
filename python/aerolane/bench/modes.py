"""The modes: which client each one measures."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mode:
    """One way to do the workload."""

    name: str
    asynchronous: bool
    client: str
    """Where the client class is: `module:class`, below `aerolane.bench.clients`."""
    arguments: tuple[str, ...] = ()
    package: str = "aerolane"
    """The package that must be installed."""
    distribution: str = "aerolane"
    """What installs it."""

    @property
    def floor(self) -> bool:
        """Whether no cluster takes part."""
        return self.name.startswith("floor")

    @property
    def has_sessions(self) -> bool:
        """Whether it goes through sessions, which have builders beside `get` and `put`."""
        return self.client.startswith("session:")

    def open(self) -> Any:
        """A client, not connected. Raises `Missing` when its package is not installed."""
        try:
            importlib.import_module(self.package)
        except ModuleNotFoundError as error:
            if error.name is None or self.package.split(".")[0] != error.name.split(".")[0]:
                raise
            raise Missing(f"{error.name} is not installed (pip install {self.distribution})") from error
        module, _, name = self.client.partition(":")
        make: Callable[..., Any] = getattr(importlib.import_module(f"aerolane.bench.clients.{module}"), name)
        return make(*self.arguments)


class Missing(Exception):
    """The client's package is not installed."""


_SDK = ("aerospike_sdk", "aerospike-sdk")
_NATIVE = ("aerospike_native", "aerospike-native")
_APY = ("aerospike_py", "aerospike-py")

MODES = {
    mode.name: mode
    for mode in (
        Mode("sync", False, "session:SessionSync", ("aerolane", "aerolane"), "aerolane.sync"),
        Mode("async", True, "session:SessionAsync", ("aerolane",)),
        Mode("pac-blocking", False, "native:NativeBlocking", ("aerolane.native",), "aerolane.native"),
        Mode("pac-async", True, "native:NativeAsync", ("aerolane.native",), "aerolane.native"),
        Mode("peer-sdk-sync", False, "session:SessionSync", ("aerospike_sdk", "aerospike_sdk.sync.client"), *_SDK),
        Mode("peer-sdk-async", True, "session:SessionAsync", ("aerospike_sdk",), *_SDK),
        Mode("peer-native-blocking", False, "native:NativeBlocking", ("aerospike_native",), *_NATIVE),
        Mode("peer-native-async", True, "native:NativeAsync", ("aerospike_native",), *_NATIVE),
        Mode("peer-apy-sync", False, "apy:ApySync", (), *_APY),
        Mode("peer-apy-async", True, "apy:ApyAsync", (), *_APY),
        Mode("legacy-sync", False, "legacy:LegacySync", (), "aerospike", "aerospike"),
        Mode("floor-sync", False, "floor:FloorSync"),
        Mode("floor-async", True, "floor:FloorAsync"),
    )
}


def parse_modes(text: str) -> list[str]:
    """A comma list of modes, each once, in order. Raises `ValueError` that names the unknown one."""
    names = [part.strip() for part in text.split(",")]
    for name in names:
        if name not in MODES:
            raise ValueError(f"unknown mode {name!r}; there are {', '.join(MODES)}")
    return list(dict.fromkeys(names))
