"""The session's front door, for asyncio and (`Sync..`) for code without it."""

from collections.abc import Awaitable as _Awaitable
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from types import ModuleType, TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar, Unpack, final, overload

from typing_extensions import disjoint_base

from aerolane.metrics import AsyncMetricsExporter, MetricsExporter
from aerolane.system_settings import MetricsSettings, SystemSettings, TransactionSettings

from ._awaitable import Awaitable, AwaitableContext
from ._background import BackgroundTaskSession, SyncBackgroundTaskSession
from ._behavior import Behavior
from ._builders import (
    DataSetWriteBuilder,
    QueryBuilder,
    SyncDataSetWriteBuilder,
    SyncQueryBuilder,
    SyncUdfFunctionBuilder,
    SyncWriteSegmentBuilder,
    UdfFunctionBuilder,
    WriteSegmentBuilder,
    _SessionVerbs,
)
from ._cdt import CTX
from ._client_policy import ClientPolicy
from ._enums import AuthMode, CollectionIndexType, IndexType, UDFLang
from ._expression import FilterExpression
from ._index import IndexBuilder, SyncIndexBuilder
from ._info import InfoCommands, SyncInfoCommands
from ._metrics import ClusterMetrics, MetricsPolicy, MetricsWriter
from ._native import NativeClient, Version
from ._query import DropIndexTask, IndexTask, RegisterTask, UdfRemoveTask
from ._step_policies import AdminPolicy
from ._txn import Txn, TxnStatus
from ._values import Key, Record, _UserKey
from ._writer import SyncWriter, Writer, _Settings

_T = TypeVar("_T")
_D = TypeVar("_D")

@final
class DataSet:
    """A set of a namespace: makes keys of its records."""

    def __new__(cls, namespace: str, set_name: str | None = None) -> Self: ...
    @staticmethod
    def of(namespace: str, set_name: str | None = None) -> DataSet:
        """The set of this name in a namespace. The same as the constructor."""
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str | None:
        """The set's name, or `None`."""
    def id(self, identifier: _UserKey) -> Key:
        """The key of a record, by its user key: a `str`, an `int` (64 bits) or `bytes`."""
    @overload
    def ids(self, identifiers: Sequence[_UserKey], /) -> list[Key]:
        """The keys of several records, by their user keys: `ids(1, 2, 3)` or `ids([1, 2, 3])`."""
    @overload
    def ids(self, *identifiers: _UserKey) -> list[Key]: ...
    def id_from_digest(self, digest: str | bytes) -> Key:
        """The key of a record, by its digest: 20 bytes, or their 40 hexadecimal digits."""
    @overload
    def ids_from_digests(self, digests: list[str] | list[bytes] | tuple[str | bytes, ...], /) -> list[Key]:
        """The keys of several records, by their digests."""
    @overload
    def ids_from_digests(self, *digests: str | bytes) -> list[Key]: ...
    def id_for_object(self, obj: str | int | float | bytes | bytearray) -> Key:
        """The key of an object: a `str`, an `int`, `bytes`, a `bytearray` (as bytes), or a whole `float` (as an
        int).
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Host:
    """Where a node listens: a seed of a cluster."""

    def __new__(cls, name: str, port: int = ..., tls_name: str | None = None) -> Self: ...
    @staticmethod
    def of(name: str, port: int) -> Host:
        """A host by name and port."""
    @staticmethod
    def parse_hosts(host_string: str, default_port: int = ...) -> list[Host]:
        """The hosts in a text like `"one:3000,two,[::1]:3100"`; `default_port` is the port of those without one."""
    @property
    def name(self) -> str:
        """Host name or address."""
    @property
    def port(self) -> int:
        """Port, 1 to 65535."""
    @property
    def tls_name(self) -> str | None:
        """The name in the node's certificate, or `None`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class _ClusterDefinition:
    def app_id(self, app_id: str) -> Self:
        """The application's name, shown in the server's statistics."""
    def with_native_credentials(self, user_name: str, password: str) -> Self:
        """Logs in with a user and a password that the cluster knows; an empty user name: without logging in."""
    def with_external_credentials(self, user_name: str, password: str) -> Self:
        """Logs in with a user and a password of an outside directory (LDAP). Needs TLS."""
    def with_external_insecure_credentials(self, user_name: str, password: str) -> Self:
        """`with_external_credentials` without TLS, for tests: the password is readable on the network."""
    def with_certificate_credentials(self) -> Self:
        """Logs in with the client's TLS certificate."""
    @property
    def auth_mode(self) -> AuthMode:
        """How it logs in, an `AuthMode`."""
    def cluster_name(self, cluster_name: str) -> Self:
        """The name that the cluster must have."""
    def preferring_racks(self, *racks: int) -> Self:
        """The racks of this client in order of preference, for reads with `Replica.PREFER_RACK`."""
    def using_services_alternate(self, enabled: bool = True) -> Self:
        """Whether the addresses that nodes give for outside networks are used. Off by default, or as the environment
        variable `AEROSPIKE_USE_SERVICES_ALTERNATE` says.
        """
    def force_single_node(self, enabled: bool = True) -> Self:
        """Whether only the seeds are used, and no other nodes looked for: for tests."""
    def with_strict_config(self, strict: bool = True) -> Self:
        """Whether connecting fails when the configuration file (`AEROSPIKE_SDK_CONFIG_URL`) cannot be read, or has
        something that cannot be used. Without it, that is logged, and the rest is used. What is wrong with a file
        that changes later is logged in any case.
        """
    def fail_if_not_connected(self, fail: bool) -> Self:
        """Whether connecting fails when no seed can be reached. Default True."""
    def ip_map(self, ip_map: dict[str, str]) -> Self:
        """Addresses that the nodes give, and those to use in their place."""
    def with_ip_map(self, ip_map: dict[str, str]) -> Self:
        """As `ip_map`, for code for the SDK's first versions."""
    def validate_cluster_name_is(self, cluster_name: str) -> Self:
        """As `cluster_name`, for code for the SDK's first versions."""
    def with_tls_config_of(self) -> TlsBuilder[Self]:
        """What `with_tls_config` takes, said step by step: for code for the SDK's first versions."""
    def with_system_settings(self, settings: SystemSettings) -> Self:
        """Takes over what `settings`, a `SystemSettings`, says of connections, tends, the circuit breaker,
        transactions and metrics.
        """
    def with_tls_config(
        self,
        *,
        tls_name: str | None = None,
        ca_file: str | PathLike[str] | None = None,
        client_cert_file: str | PathLike[str] | None = None,
        client_key_file: str | PathLike[str] | None = None,
        protocols: Sequence[str] | None = None,
        ciphers: Sequence[str] | None = None,
        for_login_only: bool = False,
    ) -> Self:
        """Encrypts the connections."""

@final
class TlsBuilder(Generic[_D]):
    """How connections are encrypted, said step by step: for code for the SDK's first versions."""

    def tls_name(self, tls_name: str) -> Self:
        """The name in the certificates of the nodes, where it is not the host name."""
    def ca_file(self, ca_file: str | PathLike[str]) -> Self:
        """A PEM file with the authorities that are trusted."""
    def client_cert_file(self, cert_file: str | PathLike[str]) -> Self:
        """A PEM file with the certificate of the client."""
    def client_key_file(self, key_file: str | PathLike[str]) -> Self:
        """A PEM file with the key of that certificate."""
    def protocols(self, *protocols: str) -> Self:
        """The versions of TLS that are allowed."""
    def ciphers(self, *ciphers: str) -> Self:
        """The cipher suites that are allowed."""
    def for_login_only(self, for_login_only: bool = True) -> Self:
        """Whether only the login is encrypted."""
    def done(self) -> _D:
        """Reads the files, and gives the definition."""
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[TlsBuilder[Any]]: ...

@final
class ClusterDefinition(_ClusterDefinition):
    """Where a cluster is and how to talk to it: `ClusterDefinition("localhost", 3000)`, or with several
    `hosts=[Host(..), ..]`. The default port is 3000.
    """

    def __new__(
        cls, hostname: str | None = None, port: int | None = None, hosts: Sequence[Host] | None = None
    ) -> Self: ...
    def connect(self) -> AwaitableContext[Cluster]:
        """Connects: `await definition.connect()` gives a `Cluster`, `async with definition.connect() as cluster`
        also closes it.
        """

@final
class SyncClusterDefinition(_ClusterDefinition):
    """`aerolane.ClusterDefinition` for code without async."""

    def __new__(
        cls, hostname: str | None = None, port: int | None = None, hosts: Sequence[Host] | None = None
    ) -> Self: ...
    def connect(self) -> SyncCluster:
        """Connects, and gives a `Cluster`, which is a context manager."""

@final
class Node:
    """A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`."""

    @property
    def name(self) -> str:
        """The server's name of the node."""
    @property
    def address(self) -> str:
        """Where it listens, as `host:port`."""
    @property
    def host(self) -> tuple[str, int]:
        """Where it listens, as `(host, port)`."""
    @property
    def is_active(self) -> bool:
        """Whether it is part of the cluster now."""
    @property
    def version(self) -> Version:
        """The version of its server."""
    @property
    def failures(self) -> int:
        """How many tends of it have failed in a row."""
    @property
    def partition_generation(self) -> int:
        """Changes when partitions move to or from it; -1: not known yet."""
    @property
    def rebalance_generation(self) -> int:
        """Changes when the cluster is rebalanced; -1: not known yet."""
    def aliases(self) -> list[tuple[str, int]]:
        """All addresses that it is known by, as `(host, port)`."""
    def info(self, command: str) -> Awaitable[dict[str, str]]:
        """Sends an info command to this node. Awaitable of the answers by command, a dict."""

@final
class SyncNode:
    """A node of a cluster. Stays valid when the node leaves: then `is_active` is `False`."""

    @property
    def name(self) -> str:
        """The server's name of the node."""
    @property
    def address(self) -> str:
        """Where it listens, as `host:port`."""
    @property
    def host(self) -> tuple[str, int]:
        """Where it listens, as `(host, port)`."""
    @property
    def is_active(self) -> bool:
        """Whether it is part of the cluster now."""
    @property
    def version(self) -> Version:
        """The version of its server."""
    @property
    def failures(self) -> int:
        """How many tends of it have failed in a row."""
    @property
    def partition_generation(self) -> int:
        """Changes when partitions move to or from it; -1: not known yet."""
    @property
    def rebalance_generation(self) -> int:
        """Changes when the cluster is rebalanced; -1: not known yet."""
    def aliases(self) -> list[tuple[str, int]]:
        """All addresses that it is known by, as `(host, port)`."""
    def info(self, command: str) -> dict[str, str]:
        """Sends an info command to this node; gives the answers by command, a dict."""

class _Modules:
    def register_udf(
        self,
        body: str | bytes,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module from its source."""
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module from a file of this machine."""
    def register_udf_from_resource(
        self,
        package: str | ModuleType,
        resource: str,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module from a file that a Python package has in it."""
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> Awaitable[UdfRemoveTask]:
        """Removes a UDF module."""
    def list_udf(self) -> Awaitable[list[dict[str, str]]]:
        """The UDF modules that the servers have."""
    def list_indexes(self) -> Awaitable[list[dict[str, str]]]:
        """The secondary indexes that the servers have."""

class _SyncModules:
    def register_udf(
        self,
        body: str | bytes,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module from its source."""
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module from a file of this machine."""
    def register_udf_from_resource(
        self,
        package: str | ModuleType,
        resource: str,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module from a file that a Python package has in it."""
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> UdfRemoveTask:
        """Removes a UDF module."""
    def list_udf(self) -> list[dict[str, str]]:
        """The UDF modules that the servers have."""
    def list_indexes(self) -> list[dict[str, str]]:
        """The secondary indexes that the servers have."""

class _Connected:
    """What both kinds of cluster have."""

    @property
    def cluster_name(self) -> str | None:
        """The cluster's name as its nodes report it, or `None`."""
    def node_names(self) -> list[str]:
        """The names of the active nodes."""
    def server_version(self) -> Version | None:
        """The oldest version of the active nodes; `None` when there are none."""
    def supports_ael(self) -> bool:
        """Whether all nodes compile expression text themselves (8.2)."""
    def supports_query_operations(self) -> bool:
        """Whether queries may carry operations of all kinds that read (8.1.2)."""
    def supports_string_operations(self) -> bool:
        """Whether all nodes have string operations (8.2)."""
    def supports_query_selection(self) -> bool:
        """Whether all nodes select the index of a query themselves (8.2)."""
    def enable_metrics(self, policy: MetricsPolicy | None = None) -> None:
        """Switches metrics on, or changes their policy (`None`: the default one). See
        `aerolane.native.MetricsPolicy`.
        """
    def disable_metrics(self) -> None:
        """Switches metrics off. What was measured stays. Exporters are given a last snapshot; this does not wait
        until they have it.
        """
    def metrics_enabled(self) -> bool:
        """Whether metrics are on."""
    def metrics_snapshot(self) -> ClusterMetrics:
        """The metrics at this moment: a `ClusterMetrics`. Takes some hundred microseconds; not to be called for
        every operation.
        """
    def remove_exporter(self, exporter: object) -> bool:
        """Removes an exporter of metrics, one entry of it if it was added several times. An export that is under way
        comes to its end. `False`: there is no such exporter.
        """
    @property
    def transaction_settings(self) -> TransactionSettings:
        """The `TransactionSettings` in force: what was given, and the defaults for the rest."""
    @property
    def is_connected(self) -> bool:
        """Whether the cluster is open and an active node is known."""

@final
class Cluster(_Connected, _Modules):
    """A connected cluster, for asyncio. Made by `ClusterDefinition.connect()`. One serves any number of event loops."""

    def create_session(self, behavior: Behavior | None = None) -> Session:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`."""
    def transaction(self, behavior: Behavior | None = None) -> TransactionalSession:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.
        """
    def create_transactional_session(self, behavior: Behavior | None = None) -> TransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def nodes(self) -> list[Node]:
        """The active nodes."""
    def get_node(self, name: str) -> Node:
        """The active node of this name. Raises `InvalidNodeError` when there is none."""
    @property
    def exporters(self) -> tuple[AsyncMetricsExporter | MetricsWriter, ...]:
        """The exporters of metrics that were added, in that order: a tuple."""
    def add_exporter(self, exporter: AsyncMetricsExporter | MetricsWriter) -> None:
        """Adds an exporter of metrics: an object with `async def export(self, snapshot)`, or a `MetricsWriter`.
        While metrics are on, it is given a `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s
        unless set), and one more by `disable_metrics()` and `close()`. It runs on the event loop that runs now.
        """
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        While metrics are on, exporters are given a last snapshot before, for which this waits 5 s at most.
        Awaitable.
        """
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...

@final
class SyncCluster(_Connected, _SyncModules):
    """A connected cluster, for code without async. Made by `aerolane.sync.ClusterDefinition.connect()`. One serves
    any number of threads.
    """

    def create_session(self, behavior: Behavior | None = None) -> SyncSession:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`."""
    def transaction(self, behavior: Behavior | None = None) -> SyncTransactionalSession:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.
        """
    def create_transactional_session(self, behavior: Behavior | None = None) -> SyncTransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def nodes(self) -> list[SyncNode]:
        """The active nodes."""
    def get_node(self, name: str) -> SyncNode:
        """The active node of this name. Raises `InvalidNodeError` when there is none."""
    @property
    def exporters(self) -> tuple[MetricsExporter, ...]:
        """The exporters of metrics that were added, in that order: a tuple."""
    def add_exporter(self, exporter: MetricsExporter) -> None:
        """Adds an exporter of metrics: an object with a method `export(snapshot)`. While metrics are on, it is given
        a `MetricsSnapshot` after each `MetricsSettings.export_interval` (30 s unless set), and one more by
        `disable_metrics()` and `close()`. Each exporter is called on a thread of its own, so it may block.
        """
    def close(self) -> None:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        While metrics are on, exporters are given a last snapshot before, for which this waits 5 s at most.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

@final
class Client:
    """A client for asyncio: `async with Client("localhost:3000") as client`."""

    def __new__(
        cls,
        seeds: str,
        policy: ClientPolicy | None = None,
        *,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        index_refresh_interval: float | None = None,
    ) -> Self: ...
    def connect(self) -> Coroutine[Any, Any, None]:
        """Connects, unless the client is connected already in this process. Awaitable of `None`."""
    def connect_blocking(self) -> None:
        """As `connect`, on this thread: for code written for the first versions of the SDK of Aerospike."""
    def close_blocking(self) -> None:
        """As `close`, on this thread."""
    def create_session(self, behavior: Behavior | None = None) -> Session:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`."""
    def transaction_session(self, behavior: Behavior | None = None) -> TransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def transaction(self, behavior: Behavior | None = None) -> TransactionalSession:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.
        """
    def register_udf(
        self,
        body: str | bytes,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module from its source."""
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> Awaitable[RegisterTask]:
        """Registers a UDF module from a file of this machine."""
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> Awaitable[UdfRemoveTask]:
        """Removes a UDF module."""
    def supports_query_selection(self) -> bool:
        """Whether all nodes select the index of a query themselves (8.2)."""
    def supports_server_compiled_ael(self) -> bool:
        """Whether all nodes compile expression text themselves (8.2)."""
    @property
    def native(self) -> NativeClient:
        """The native client, on the same connections. Closing one closes both."""
    @property
    def underlying_client(self) -> NativeClient:
        """As `native`, for code written for the SDK of Aerospike."""
    @overload
    def query(self, keys: DataSet, /) -> QueryBuilder:
        """Reads records: as `query` of a session with `Behavior.DEFAULT`, unless `behavior=` names another one."""
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> QueryBuilder: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> QueryBuilder: ...
    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> IndexBuilder:
        """Creates and drops a secondary index of a data set: as `index` of a session."""
    @overload
    def index(self, dataset: str, set_name: str, *, behavior: Behavior | None = None) -> IndexBuilder: ...
    @overload
    def index(
        self,
        dataset: None = None,
        set_name: str | None = None,
        *,
        namespace: str | None = None,
        behavior: Behavior | None = None,
    ) -> IndexBuilder: ...
    @property
    def is_connected(self) -> bool:
        """Whether the client is connected and knows an active node."""
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing.
        Awaitable.
        """
    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...

@final
class SyncClient:
    """A client for code without async: `with SyncClient("localhost:3000") as client`. Any number of threads may use
    it.
    """

    def __new__(
        cls,
        seeds: str,
        policy: ClientPolicy | None = None,
        *,
        max_error_rate: int | None = None,
        error_rate_window: int | None = None,
        current_thread_runtime: bool = False,
        index_refresh_interval: float | None = None,
    ) -> Self: ...
    def connect(self) -> None:
        """Connects, unless the client is connected already in this process."""
    def create_session(self, behavior: Behavior | None = None) -> SyncSession:
        """A session with the policies of a behavior; `None`: `Behavior.DEFAULT`."""
    def create_transactional_session(self, behavior: Behavior | None = None) -> SyncTransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> None:
        """Removes all records of a set: as `truncate` of a session."""
    def transaction(self, behavior: Behavior | None = None) -> SyncTransactionalSession:
        """A session whose calls belong to a new transaction, with the policies of a behavior (`None`:
        `Behavior.DEFAULT`): a context manager, which commits at its end.
        """
    def register_udf(
        self,
        body: str | bytes,
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module from its source."""
    def register_udf_from_file(
        self,
        client_path: str | PathLike[str],
        server_path: str,
        language: UDFLang | None = None,
        *,
        policy: AdminPolicy | None = None,
    ) -> RegisterTask:
        """Registers a UDF module from a file of this machine."""
    def remove_udf(self, server_path: str, *, policy: AdminPolicy | None = None) -> UdfRemoveTask:
        """Removes a UDF module."""
    def supports_query_selection(self) -> bool:
        """Whether all nodes select the index of a query themselves (8.2)."""
    def supports_server_compiled_ael(self) -> bool:
        """Whether all nodes compile expression text themselves (8.2)."""
    @property
    def native(self) -> NativeClient:
        """The native client, on the same connections. Closing one closes both."""
    @property
    def underlying_client(self) -> NativeClient:
        """As `native`, for code written for the SDK of Aerospike."""
    @overload
    def query(self, keys: DataSet, /) -> SyncQueryBuilder:
        """Reads records: as `query` of a session with `Behavior.DEFAULT`, unless `behavior=` names another one."""
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> SyncQueryBuilder: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> SyncQueryBuilder: ...
    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> SyncIndexBuilder:
        """Creates and drops a secondary index of a data set: as `index` of a session."""
    @overload
    def index(self, dataset: str, set_name: str, *, behavior: Behavior | None = None) -> SyncIndexBuilder: ...
    @overload
    def index(
        self,
        dataset: None = None,
        set_name: str | None = None,
        *,
        namespace: str | None = None,
        behavior: Behavior | None = None,
    ) -> SyncIndexBuilder: ...
    @property
    def is_connected(self) -> bool:
        """Whether the client is connected and knows an active node."""
    @property
    def current_thread_runtime(self) -> bool:
        """As it was given."""
    def close(self) -> None:
        """Closes all connections. Operations under way fail with `ClientClosedError`. A second call does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

class NamespaceScStatus(NamedTuple):
    """Whether a namespace is in strong-consistency mode (`is_sc`), and if it is not, why (`detail`)."""

    is_sc: bool
    detail: str

@disjoint_base
class Session(_SessionVerbs[WriteSegmentBuilder, DataSetWriteBuilder], _Modules):
    """Reads and writes with the policies of a behavior, from asyncio. Made by `create_session`."""

    def batch(self) -> Self:
        """This session: a chain of its verbs is one batch,
        `session.batch().upsert(a).put({..}).delete(b).execute()`. For code written for the first versions of the SDK
        of Aerospike.
        """
    def transaction(self) -> TransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def begin_transaction(self) -> TransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def transaction_session(self) -> TransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    @property
    def current_transaction(self) -> Txn | None:
        """The transaction that calls of this session belong to, a `Txn`; `None`: none."""
    def get_current_transaction(self) -> Txn | None:
        """As `current_transaction`, for code written for the first versions of the SDK of Aerospike."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> UdfFunctionBuilder:
        """Applies a function of a UDF module to records: `execute_udf(key).function("module", "name").passing(1)`."""
    @overload
    def query(self, keys: DataSet, /) -> QueryBuilder:
        """Reads records: those of a `Key`, of several or of a list of keys, or what is found in a `DataSet`."""
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> QueryBuilder: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> QueryBuilder: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> QueryBuilder: ...
    @property
    def behavior(self) -> Behavior:
        """The behavior that the policies come from."""
    def session_for(self, behavior: Behavior) -> Session:
        """Another session of the same cluster, with another behavior."""
    def do_in_transaction(
        self,
        operation: Callable[[TransactionalSession], _Awaitable[_T]],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> Coroutine[Any, Any, _T]:
        """Calls an async function with a session in a new transaction, and commits; once more after conflicts."""
    def get(self, key: Key, bins: Sequence[str] | None = None) -> Awaitable[Record]:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Awaitable
        of a `Record`.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> Awaitable[None]:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are. Awaitable of `None`.
        """
    @overload
    def info(self, command: None = None) -> InfoCommands:
        """Sends an info command to one of the nodes. Awaitable of the answers by command, a dict. Without a command
        (or with `None`) it gives `InfoCommands` at once: the commands that programs ask most, as methods.
        """
    @overload
    def info(self, command: str) -> Awaitable[dict[str, str]]: ...
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> Awaitable[None]:
        """Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`:
        all there are now. Awaitable of `None`.
        """
    def get_many(
        self, keys: Sequence[Key], bins: Sequence[str] | None = None, *, concurrency: int | None = None
    ) -> Awaitable[list[Record | Exception]]:
        """Reads many records, each as `get` does: all at once, or `concurrency` at a time. Awaitable of a list: for
        each key, in order, its `Record` or the exception that `get` would have raised.
        """
    def put_many(
        self, keys: Sequence[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> Awaitable[list[Exception | None]]:
        """Writes the same bins to many records, each as `put` does: all at once, or `concurrency` at a time.
        Awaitable of a list: for each key, in order, `None` or the exception that `put` would have raised.
        """
    def namespace_sc_status(self, namespace: str) -> Awaitable[NamespaceScStatus]:
        """Whether a namespace is in strong-consistency mode, and if not, why: awaitable of a `NamespaceScStatus`. A
        namespace that the cluster does not have is none.
        """
    def is_namespace_sc(self, namespace: str) -> Awaitable[bool]:
        """Whether a namespace is in strong-consistency mode. Awaitable of a bool."""
    def writer(self, **settings: Unpack[_Settings]) -> Writer:
        """A writer of many records, with the outcome of each one known."""
    def background_task(self) -> BackgroundTaskSession:
        """What the servers do with all records of a set, in the background."""
    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> IndexBuilder:
        """A secondary index of a data set, said step by step: an `IndexBuilder`."""
    @overload
    def index(self, dataset: str, set_name: str, *, behavior: Behavior | None = None) -> IndexBuilder: ...
    @overload
    def index(
        self,
        dataset: None = None,
        set_name: str | None = None,
        *,
        namespace: str | None = None,
        behavior: Behavior | None = None,
    ) -> IndexBuilder: ...
    def create_index(
        self,
        dataset: DataSet,
        index_name: str,
        bin_name: str | None = None,
        index_type: IndexType | None = None,
        collection_type: CollectionIndexType | None = None,
        ctx: Sequence[CTX] | None = None,
        expression: FilterExpression | str | None = None,
    ) -> Awaitable[IndexTask]:
        """Creates a secondary index: on a bin, or an expression, or, without both, of the records of the set."""
    def drop_index(self, dataset: DataSet, index_name: str) -> Awaitable[DropIndexTask]:
        """Drops a secondary index."""

@disjoint_base
class SyncSession(_SessionVerbs[SyncWriteSegmentBuilder, SyncDataSetWriteBuilder], _SyncModules):
    """Reads and writes with the policies of a behavior, on the calling thread. Made by `create_session`. Any number
    of threads may use one session.
    """

    def batch(self) -> Self:
        """This session: a chain of its verbs is one batch,
        `session.batch().upsert(a).put({..}).delete(b).execute()`. For code written for the first versions of the SDK
        of Aerospike.
        """
    def transaction(self) -> SyncTransactionalSession:
        """A session whose calls belong to a new transaction: a context manager, which commits at its end."""
    def begin_transaction(self) -> SyncTransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    def transaction_session(self) -> SyncTransactionalSession:
        """As `transaction`, for code written for the first versions of the SDK of Aerospike."""
    @property
    def current_transaction(self) -> Txn | None:
        """The transaction that calls of this session belong to, a `Txn`; `None`: none."""
    def get_current_transaction(self) -> Txn | None:
        """As `current_transaction`, for code written for the first versions of the SDK of Aerospike."""
    def execute_udf(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncUdfFunctionBuilder:
        """Applies a function of a UDF module to records: `execute_udf(key).function("module", "name").passing(1)`."""
    @overload
    def query(self, keys: DataSet, /) -> SyncQueryBuilder:
        """Reads records: those of a `Key`, of several or of a list of keys, or what is found in a `DataSet`."""
    @overload
    def query(self, keys: Key | list[Key], /, *more_keys: Key) -> SyncQueryBuilder: ...
    @overload
    def query(self, keys: str, /, *more_keys: str) -> SyncQueryBuilder: ...
    @overload
    def query(self, keys: None = None, /, *more_keys: Key, **named: Any) -> SyncQueryBuilder: ...
    @property
    def behavior(self) -> Behavior:
        """The behavior that the policies come from."""
    def session_for(self, behavior: Behavior) -> SyncSession:
        """Another session of the same cluster, with another behavior."""
    def do_in_transaction(
        self,
        operation: Callable[[SyncTransactionalSession], _T],
        *,
        max_attempts: int | None = None,
        sleep_between_retries: float | timedelta | None = None,
    ) -> _T:
        """Calls a function with a session in a new transaction, and commits; once more after conflicts."""
    def get(self, key: Key, bins: Sequence[str] | None = None) -> Record:
        """Reads a record: all its bins, those of `bins` (a list of names), or, with an empty list, none. Gives a
        `Record`.
        """
    def put(self, key: Key, bins: Mapping[str, Any]) -> None:
        """Writes bins, a dict of values by name; a value of `None` removes its bin. Other bins of the record stay as
        they are.
        """
    @overload
    def info(self, command: None = None) -> SyncInfoCommands:
        """Sends an info command to one of the nodes; gives the answers by command, a dict. Without a command (or
        with `None`) it gives `InfoCommands`: the commands that programs ask most, as methods.
        """
    @overload
    def info(self, command: str) -> dict[str, str]: ...
    def get_many(
        self, keys: Sequence[Key], bins: Sequence[str] | None = None, *, concurrency: int | None = None
    ) -> list[Record | Exception]:
        """Reads many records, each as `get` does, on threads: at most `concurrency` at a time (default 16). Gives a
        list: for each key, in order, its `Record` or the exception that `get` would have raised. For more than some
        hundred records a batch, `query(keys)`, costs less.
        """
    def put_many(
        self, keys: Sequence[Key], bins: Mapping[str, Any], *, concurrency: int | None = None
    ) -> list[Exception | None]:
        """Writes the same bins to many records, each as `put` does, on threads: at most `concurrency` at a time
        (default 16). Gives a list: for each key, in order, `None` or the exception that `put` would have raised.
        """
    def truncate(self, dataset: DataSet, before_nanos: int | None = None) -> None:
        """Removes all records of a set that were last written before `before_nanos`, nanoseconds since 1970; `None`:
        all there are now.
        """
    def namespace_sc_status(self, namespace: str) -> NamespaceScStatus:
        """Whether a namespace is in strong-consistency mode, and if not, why: a `NamespaceScStatus`. A namespace
        that the cluster does not have is none.
        """
    def is_namespace_sc(self, namespace: str) -> bool:
        """Whether a namespace is in strong-consistency mode."""
    def writer(self, **settings: Unpack[_Settings]) -> SyncWriter:
        """A writer of many records, with the outcome of each one known."""
    def background_task(self) -> SyncBackgroundTaskSession:
        """What the servers do with all records of a set, in the background."""
    @overload
    def index(self, dataset: DataSet, set_name: None = None, *, behavior: Behavior | None = None) -> SyncIndexBuilder:
        """A secondary index of a data set, said step by step: an `IndexBuilder`."""
    @overload
    def index(self, dataset: str, set_name: str, *, behavior: Behavior | None = None) -> SyncIndexBuilder: ...
    @overload
    def index(
        self,
        dataset: None = None,
        set_name: str | None = None,
        *,
        namespace: str | None = None,
        behavior: Behavior | None = None,
    ) -> SyncIndexBuilder: ...
    def create_index(
        self,
        dataset: DataSet,
        index_name: str,
        bin_name: str | None = None,
        index_type: IndexType | None = None,
        collection_type: CollectionIndexType | None = None,
        ctx: Sequence[CTX] | None = None,
        expression: FilterExpression | str | None = None,
    ) -> IndexTask:
        """Creates a secondary index: on a bin, or an expression, or, without both, of the records of the set."""
    def drop_index(self, dataset: DataSet, index_name: str) -> DropIndexTask:
        """Drops a secondary index."""

@final
class TransactionalSession(Session):
    """A session whose calls belong to one transaction."""

    @property
    def txn(self) -> Txn:
        """The transaction."""
    def get_current_transaction(self) -> Txn | None:
        """The transaction, or `None` when it is over: for code written for the first versions of the SDK of
        Aerospike.
        """
    @property
    def active(self) -> bool:
        """Whether it is not over."""
    def commit(self) -> Awaitable[TxnStatus]:
        """Verifies what was read, and makes the writes visible. Awaitable of a `TxnStatus`."""
    def abort(self) -> Awaitable[TxnStatus]:
        """Takes the writes back. Awaitable of a `TxnStatus`."""
    def rollback(self) -> Awaitable[TxnStatus]:
        """As `abort`, for code written for the first versions of the SDK of Aerospike."""
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Awaitable[bool]: ...

@final
class SyncTransactionalSession(SyncSession):
    """A session whose calls belong to one transaction."""

    @property
    def txn(self) -> Txn:
        """The transaction."""
    def get_current_transaction(self) -> Txn | None:
        """The transaction, or `None` when it is over: for code written for the first versions of the SDK of
        Aerospike.
        """
    @property
    def active(self) -> bool:
        """Whether it is not over."""
    def commit(self) -> TxnStatus:
        """Verifies what was read, and makes the writes visible; gives a `TxnStatus`."""
    def abort(self) -> TxnStatus:
        """Takes the writes back; gives a `TxnStatus`."""
    def rollback(self) -> TxnStatus:
        """As `abort`, for code written for the first versions of the SDK of Aerospike."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

def _check_settings(settings: TransactionSettings | MetricsSettings) -> None: ...
