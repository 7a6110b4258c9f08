"""Runs existing code on Aerolane without changing its imports.

    import aerolane.compat

    aerolane.compat.install("aerospike_sdk", "aerospike_async", "aerospike_native")

Call it before anything imports those names, such as at the top of the program's main module.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Sequence
from types import ModuleType

# What each package has under its own names, by dotted path below it: the modules of ours where they are looked up.
_SDK = ("aerolane",)
# Nothing else, where what is missing would turn out to be its async namesake.
_SYNC = ("aerolane.sync",)
_AEL = ("aerolane.ael",)
_NATIVE = ("aerolane.native", "aerolane")
_LAYOUT: dict[str, dict[str, tuple[str, ...]]] = {
    "aerospike_sdk": {
        "": _SDK,
        "ael": _AEL,
        "ael.exceptions": _AEL,
        "ael.filter_gen": _AEL,
        "ael.parser": _AEL,
        "aio": _SDK,
        "aio.background": _SDK,
        "aio.client": _SDK,
        "aio.cluster": _SDK,
        "aio.cluster_definition": _SDK,
        "aio.info": _SDK,
        "aio.node": _SDK,
        "aio.pool": ("aerolane.pool",),
        "aio.operations": _SDK,
        "aio.operations.batch": _SDK,
        "aio.operations.cdt_read": _SDK,
        "aio.operations.cdt_write": _SDK,
        "aio.operations.index": _SDK,
        "aio.operations.query": _SDK,
        "aio.operations.udf": _SDK,
        "aio.session": _SDK,
        "aio.tls_builder": _SDK,
        "aio.transactional_session": _SDK,
        "awaitable_context": _SDK,
        "cluster_definition": _SDK,
        "cluster_shared": _SDK,
        "dataset": _SDK,
        "error_strategy": _SDK,
        "exceptions": ("aerolane.exceptions",),
        "exp": _SDK,
        "hll_config": _SDK,
        "index_monitor": _AEL,
        "info_types": ("aerolane.info_types",),
        "loggers": ("aerolane.loggers",),
        "metrics": ("aerolane.metrics",),
        "metrics.export": ("aerolane.metrics",),
        "metrics.policy": ("aerolane.metrics",),
        "metrics.snapshot": ("aerolane.metrics",),
        "operation_result": _SDK,
        "policy": ("aerolane.policy",),
        "policy.behavior": ("aerolane.policy",),
        "policy.behavior_registry": ("aerolane.policy",),
        "policy.behavior_settings": ("aerolane.policy",),
        "policy.sdk_config_loader": ("aerolane.config_file",),
        "policy.system_settings": ("aerolane.policy",),
        "query_shared": _SDK,
        "record_result": _SDK,
        "record_stream": _SDK,
        "session": _SDK,
        "session_shared": _SDK,
        "sync": _SYNC,
        "sync.background": _SYNC,
        "sync.client": ("aerolane.sync", "aerolane"),
        "sync.cluster": _SYNC,
        "sync.cluster_definition": _SYNC,
        "sync.info": _SYNC,
        "sync.node": _SYNC,
        "sync.operations": _SYNC,
        "sync.operations.batch": _SYNC,
        "sync.operations.index": _SYNC,
        "sync.operations.query": _SYNC,
        "sync.operations.udf": _SYNC,
        "sync.record_stream": _SYNC,
        "sync.session": _SYNC,
        "sync.tls_builder": _SYNC,
        "sync.transactional_session": _SYNC,
        "txn_status": _SDK,
    },
    "aerospike_native": {"": _NATIVE, "exceptions": ("aerolane.native.exceptions",)},
    "aerospike_async": {"": _NATIVE, "exceptions": ("aerolane.native.exceptions",)},
}
# What the first versions of the SDK have in the package itself, and ours in a module.
_ELSEWHERE = {
    **dict.fromkeys(["AbortStatus", "CommitStatus", "RegexFlag"], "aerolane.native"),
    **dict.fromkeys(["Index", "IndexContext", "IndexTypeEnum", "ParseResult", "parse_ctx"], "aerolane.ael"),
    **dict.fromkeys(["SyncRecordStream", "SyncSession", "SyncTransactionalSession"], "aerolane.sync"),
}
# What the first versions of the SDK call otherwise.
_RENAMED = {
    "BackgroundWriteBinBuilder": "WriteBinBuilder",
    "BatchBinBuilder": "WriteBinBuilder",
    "BatchKeyOperationBuilder": "WriteSegmentBuilder",
    "BatchOperationBuilder": "Session",
    "MaxErrorRate": "MaxErrorRateError",
    "SingleKeyWriteSegment": "WriteSegmentBuilder",
}


def install(*names: str) -> None:
    """Makes imports of these packages return Aerolane: `"aerospike_sdk"`, `"aerospike_async"`, `"aerospike_native"`.

    This includes the submodules that Aerolane has a counterpart for. If Aerolane lacks something, importing it raises
    an `ImportError`, and looking it up an `AttributeError`, that names it. Installing twice does nothing.

    Raises `ValueError` for another name, and `RuntimeError` if the package itself has been imported already.
    """
    for name in names:
        if name not in _LAYOUT:
            raise ValueError(f"there is no stand-in for {name!r}, only for {', '.join(map(repr, _LAYOUT))}")
        loaded = sys.modules.get(name)
        if loaded is not None and not isinstance(loaded, _StandIn):
            raise RuntimeError(
                f"{name} has been imported already (from {getattr(loaded, '__file__', None)}): "
                "call aerolane.compat.install() before anything imports it"
            )
    with _lock:
        _finder.names.update(names)
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)


def uninstall(*names: str) -> None:
    """Removes stand-ins; without arguments, all of them. Modules that have imported from them keep what they
    imported."""
    with _lock:
        gone = set(names or _finder.names)
        _finder.names -= gone
        if not _finder.names and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
        for module in [module for module in sys.modules if module.partition(".")[0] in gone]:
            if isinstance(sys.modules[module], _StandIn):
                del sys.modules[module]


def _names(name: str) -> list[str]:
    """A name, and those that it may have here: `SyncSession` is the `Session` of `aerolane.sync`."""
    plain = name.removeprefix("Sync")
    return list(dict.fromkeys([name, plain, _RENAMED.get(plain, plain)]))


class _StandIn(ModuleType):
    """A module that has what modules of ours have."""

    sources: tuple[ModuleType, ...]
    __all__: list[str]

    def __getattr__(self, name: str) -> object:
        if not name.startswith("__") or name == "__version__":
            sources = self.sources
            if self.__name__ == "aerospike_sdk" and name in _ELSEWHERE:
                sources = (*sources, importlib.import_module(_ELSEWHERE[name]))
            for known in _names(name):
                for source in sources:
                    # A class without async must not turn out to be its async namesake.
                    if known == name or not name.startswith("Sync") or source.__name__ == "aerolane.sync":
                        with contextlib.suppress(AttributeError):
                            return getattr(source, known)
        raise AttributeError(f"Aerolane has no counterpart to {self.__name__}.{name}")

    def __dir__(self) -> list[str]:
        return sorted({name for source in self.sources for name in dir(source) if not name.startswith("__")})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives stand-ins for the packages that are installed, and for nothing else."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, inner = fullname.partition(".")
        if package not in self.names:
            return None
        layout = _LAYOUT[package]
        if inner not in layout:
            raise ModuleNotFoundError(f"Aerolane has no counterpart to the module {fullname}", name=fullname)
        is_package = not inner or any(other.startswith(f"{inner}.") for other in layout)
        return importlib.machinery.ModuleSpec(fullname, self, origin="aerolane.compat", is_package=is_package)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        package, _, inner = spec.name.partition(".")
        module = _StandIn(spec.name, f"Aerolane in place of {spec.name}.")
        module.sources = tuple(importlib.import_module(source) for source in _LAYOUT[package][inner])
        module.__all__ = sorted({name for source in module.sources for name in getattr(source, "__all__", ())})
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


_lock = threading.Lock()
_finder = _Finder()
