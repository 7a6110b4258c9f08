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
        self,
        body: str | bytes,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> _Registered:
        """Registers a UDF module from its source."""
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> _Registered:
        """Registers a UDF module from a file of this machine."""
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> _Removed:
        """Removes a UDF module."""

class _Modules(_RegistersModules[_Registered, _Removed], Generic[_Registered, _Removed, _Listed]):
    """What clusters and sessions of both kinds have besides."""

    def register_udf_from_resource(
        self,
        package: str | ModuleType,
        resource: str,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> _Registered:
        """Registers a UDF module from a file that a Python package has in it."""
    def list_udf(self) -> _Listed:
        """The UDF modules that the servers have."""
    def list_indexes(self) -> _Listed:
        """The secondary indexes that the servers have."""
