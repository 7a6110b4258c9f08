"""UDF modules: registering and removing them."""

from os import PathLike
from types import ModuleType
from typing import Generic, TypeVar

from ._enums import UDFLang
from ._step_policies import AdminPolicy

_Registered = TypeVar("_Registered", covariant=True)
_Removed = TypeVar("_Removed", covariant=True)
_Listed = TypeVar("_Listed", covariant=True)

class _RegistersModules(Generic[_Registered, _Removed]):
    """What clients, clusters and sessions of both kinds have."""

    def register_udf(
        self, body: str | bytes, server_path: str, language: UDFLang | None = None, *, policy: AdminPolicy | None = None
    ) -> _Registered:
        """Registers a UDF module from its source, a str or bytes: `server_path` is its name on the servers, such as
        `"module.lua"`. Gives a `RegisterTask`, which waits until all nodes have it. For asyncio, an awaitable of it.

        Raises `InvalidArgumentError` for an empty source or one beyond 1 MiB, and for a name that no module can have;
        `UdfError` or another `AerospikeError` when the servers refuse the module.
        """
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> _Registered:
        """Registers a UDF module from a file of this machine; otherwise as `register_udf`. The file is read when it is
        called.

        Raises `OSError` (`FileNotFoundError`, ..) when the file cannot be read.
        """
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> _Removed:
        """Removes a UDF module; gives a `UdfRemoveTask`. One that is not there is no error. For asyncio, an
        awaitable of the task.
        """

class _Modules(_RegistersModules[_Registered, _Removed], Generic[_Registered, _Removed, _Listed]):
    """What clusters and sessions of both kinds have besides."""

    def list_udf(self) -> _Listed:
        """The UDF modules that the servers have: a list of dicts with `name`, `hash` and `type`. For asyncio, an
        awaitable of it.
        """
    def list_indexes(self) -> _Listed:
        """The secondary indexes that the servers have: a list of dicts, with `namespace`, `set`, `bin`, `name`,
        `type`, `index_type`, `context` and `state` where the servers say them, and `exp` for one on an expression.
        For asyncio, an awaitable of it.
        """
    def register_udf_from_resource(
        self,
        package: str | ModuleType,
        resource: str,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> _Registered:
        """Registers a UDF module from a file that a Python package has in it (`importlib.resources`): `package` is the
        package's name, or the package itself, `resource` the file's name in it. Otherwise as `register_udf`.

        Raises `ModuleNotFoundError` for a package that is not there, `FileNotFoundError` for such a file.
        """
