"""Where clusters are, and how to talk to them."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Generic, Self, TypeVar, final

from aerolane.system_settings import SystemSettings

from ._awaitable import AwaitableContext
from ._cluster import Cluster, SyncCluster
from ._enums import AuthMode

_D = TypeVar("_D")

@final
class Host:
    """Where a node listens: a seed of a cluster.

    `tls_name` is the name in the node's certificate, where it is not `name`.
    """

    def __new__(cls, name: str, port: int = ..., tls_name: str | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """Host name or address."""
    @property
    def port(self) -> int:
        """Port, 1 to 65535."""
    @property
    def tls_name(self) -> str | None:
        """The name in the node's certificate, or `None`."""
    @staticmethod
    def of(name: str, port: int) -> Host:
        """A host by name and port."""
    @staticmethod
    def parse_hosts(host_string: str, default_port: int = ...) -> list[Host]:
        """The hosts in a text like `"one:3000,two,[::1]:3100"`; `default_port` is the port of those without one."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class _ClusterDefinition:
    """What definitions of both kinds have in common."""

    def cluster_name(self, cluster_name: str) -> Self:
        """The name that the cluster must have."""
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
    def preferring_racks(self, *racks: int) -> Self:
        """The racks of this client in order of preference, for reads with `Replica.PREFER_RACK`."""
    def using_services_alternate(self, enabled: bool = True) -> Self:
        """Whether the addresses that nodes give for outside networks are used. Off by default, or as the environment
        variable `AEROSPIKE_USE_SERVICES_ALTERNATE` says.
        """
    def force_single_node(self, enabled: bool = True) -> Self:
        """Whether only the seeds are used, and no other nodes looked for: for tests."""
    def fail_if_not_connected(self, fail: bool) -> Self:
        """Whether connecting fails when no seed can be reached. Default True."""
    def ip_map(self, ip_map: dict[str, str]) -> Self:
        """Addresses that the nodes give, and those to use in their place."""
    def validate_cluster_name_is(self, cluster_name: str) -> Self:
        """As `cluster_name`, for code written for the first versions of the SDK of Aerospike."""
    def with_ip_map(self, ip_map: dict[str, str]) -> Self:
        """As `ip_map`, for code written for the first versions of the SDK of Aerospike."""
    def with_tls_config_of(self) -> TlsBuilder[Self]:
        """What `with_tls_config` takes, said step by step, for code written for the first versions of the SDK of
        Aerospike: a `TlsBuilder`, whose `done()` gives this definition.
        """
    def with_system_settings(self, settings: SystemSettings) -> Self:
        """Takes over what `settings`, a `SystemSettings`, says of connections, tends, the circuit breaker, transactions
        and metrics.

        Raises `TypeError` for something else, `InvalidArgumentError` for what is out of bounds.
        """
    def with_strict_config(self, strict: bool = True) -> Self:
        """Whether connecting fails when the configuration file (`AEROSPIKE_SDK_CONFIG_URL`) cannot be read, or has
        something that cannot be used. Without it, that is logged, and the rest is used. What is wrong with a file
        that changes later is logged in any case.
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
        """Encrypts the connections.

        `tls_name`: the name in the nodes' certificates, where it is not the host name. `ca_file`, `client_cert_file`,
        `client_key_file`: PEM files; without `ca_file` the authorities that Python's `ssl` trusts. `protocols`,
        `ciphers`: names, see `TlsConfig`. `for_login_only`: only the login is encrypted.
        """

@final
class TlsBuilder(Generic[_D]):
    """How connections are encrypted: `definition.with_tls_config_of().ca_file("ca.pem").done()`, for code written for
    the first versions of the SDK of Aerospike. `with_tls_config` takes the same in one call.

    Nothing is read before `done()`, which gives the definition.
    """

    def tls_name(self, tls_name: str) -> Self:
        """The name in the certificates of the nodes, where it is not the host name."""
    def ca_file(self, ca_file: str | PathLike[str]) -> Self:
        """A PEM file with the authorities that are trusted."""
    def client_cert_file(self, cert_file: str | PathLike[str]) -> Self:
        """A PEM file with the certificate of the client; `client_key_file` goes with it."""
    def client_key_file(self, key_file: str | PathLike[str]) -> Self:
        """A PEM file with the key of that certificate."""
    def protocols(self, *protocols: str) -> Self:
        """The versions of TLS that are allowed, see `TlsConfig`."""
    def ciphers(self, *ciphers: str) -> Self:
        """The cipher suites that are allowed, see `TlsConfig`."""
    def for_login_only(self, for_login_only: bool = True) -> Self:
        """Whether only the login is encrypted."""
    def done(self) -> _D:
        """Reads the files, and gives the definition.

        Raises what `with_tls_config` raises.
        """
    @classmethod
    def __class_getitem__(cls, _item: Any) -> type[TlsBuilder[Any]]: ...

@final
class ClusterDefinition(_ClusterDefinition):
    """Where a cluster is and how to talk to it: `ClusterDefinition("localhost", 3000)`, or with several
    `hosts=[Host(..), ..]`. The default port is 3000.

    `connect()` connects; one definition may be used any number of times.
    """

    def __new__(
        cls, hostname: str | None = None, port: int | None = None, hosts: Sequence[Host] | None = None
    ) -> Self: ...
    def connect(self) -> AwaitableContext[Cluster]:
        """Connects: `await definition.connect()` gives a `Cluster`, `async with definition.connect() as cluster` also
        closes it.

        Raises `ConnectionError` when no seed can be used, with the reason of each.
        """

@final
class SyncClusterDefinition(_ClusterDefinition):
    """`aerolane.ClusterDefinition` for code without async."""

    def __new__(
        cls, hostname: str | None = None, port: int | None = None, hosts: Sequence[Host] | None = None
    ) -> Self: ...
    def connect(self) -> SyncCluster:
        """Connects, and gives a `Cluster`, which is a context manager.

        Raises `ConnectionError` when no seed can be used, with the reason of each.
        """
