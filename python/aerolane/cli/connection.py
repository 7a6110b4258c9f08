"""The options of every command that talks to a cluster, and the connection that they describe."""

import inspect
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec, cast

import typer

from aerolane.cli.exit_codes import ExitCode, Failure, guarded, usage
from aerolane.exceptions import AerospikeError, InvalidArgumentError
from aerolane.sync import Cluster, ClusterDefinition, Host

_P = ParamSpec("_P")

PASSWORD_VARIABLE = "AEROSPIKE_PASSWORD"

_PANEL = "Cluster"


class AuthMode(StrEnum):
    """How to log in."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    EXTERNAL_INSECURE = "external-insecure"
    PKI = "pki"


@dataclass(frozen=True)
class Connection:
    """Where a cluster is, and how to log in to it."""

    host: str
    user: str | None
    auth_mode: AuthMode
    tls_name: str | None
    tls_ca_file: Path | None
    tls_cert_file: Path | None
    tls_key_file: Path | None
    services_alternate: bool

    @contextmanager
    def connect(self) -> Generator[Cluster]:
        """The connected cluster. Asks for a password where one is needed and not in the environment."""
        definition = self._definition()
        try:
            cluster = definition.connect()
        except InvalidArgumentError as error:
            raise usage(str(error)) from None
        except AerospikeError as error:
            raise Failure(ExitCode.NOT_CONNECTED, f"could not connect to {self.host}: {error}") from None
        with cluster:
            yield cluster

    def _definition(self) -> ClusterDefinition:
        try:
            hosts = [Host(host.name, host.port, self.tls_name) for host in Host.parse_hosts(self.host)]
        except AerospikeError as error:
            raise usage(f"--host: {error}") from None
        definition = ClusterDefinition(hosts=hosts)
        if self.services_alternate:
            definition = definition.using_services_alternate()
        if bool(self.tls_cert_file) != bool(self.tls_key_file):
            raise usage("--tls-cert-file and --tls-key-file go together")
        if self.tls_ca_file or self.tls_cert_file or self.tls_name:
            try:
                definition = definition.with_tls_config(
                    tls_name=self.tls_name,
                    ca_file=self.tls_ca_file,
                    client_cert_file=self.tls_cert_file,
                    client_key_file=self.tls_key_file,
                )
            except (AerospikeError, OSError) as error:
                raise usage(f"TLS: {error}") from None
        return self._with_login(definition)

    def _with_login(self, definition: ClusterDefinition) -> ClusterDefinition:
        if self.auth_mode is AuthMode.PKI:
            if self.user:
                raise usage("--auth-mode pki takes the user from the certificate, not from --user")
            return definition.with_certificate_credentials()
        if not self.user:
            if self.auth_mode is not AuthMode.INTERNAL:
                raise usage(f"--auth-mode {self.auth_mode} needs --user")
            return definition
        password = self._password()
        if self.auth_mode is AuthMode.EXTERNAL:
            return definition.with_external_credentials(self.user, password)
        if self.auth_mode is AuthMode.EXTERNAL_INSECURE:
            return definition.with_external_insecure_credentials(self.user, password)
        return definition.with_native_credentials(self.user, password)

    def _password(self) -> str:
        password = os.environ.get(PASSWORD_VARIABLE)
        if password is not None:
            return password
        if not sys.stdin.isatty():
            raise usage(
                f"the password of {self.user}: set {PASSWORD_VARIABLE}, or run it on a terminal, which asks for it"
            )
        return str(typer.prompt(f"Password of {self.user}", hide_input=True, err=True))


def _options(
    host: Annotated[
        str,
        typer.Option("-h", "--host", envvar="AEROSPIKE_HOST", help="Seeds: host:port,..", rich_help_panel=_PANEL),
    ] = "localhost:3000",
    user: Annotated[
        str | None,
        typer.Option(
            "-U",
            "--user",
            envvar="AEROSPIKE_USER",
            help=f"User. The password comes from {PASSWORD_VARIABLE}, or is asked for.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    auth_mode: Annotated[AuthMode, typer.Option(help="How to log in.", rich_help_panel=_PANEL)] = AuthMode.INTERNAL,
    tls_name: Annotated[
        str | None, typer.Option(help="The name in the nodes' certificates. Turns TLS on.", rich_help_panel=_PANEL)
    ] = None,
    tls_ca_file: Annotated[
        Path | None, typer.Option(help="Authorities to trust, PEM. Turns TLS on.", rich_help_panel=_PANEL)
    ] = None,
    tls_cert_file: Annotated[
        Path | None, typer.Option(help="The client's certificate, PEM.", rich_help_panel=_PANEL)
    ] = None,
    tls_key_file: Annotated[Path | None, typer.Option(help="Its key, PEM.", rich_help_panel=_PANEL)] = None,
    services_alternate: Annotated[
        bool, typer.Option("--services-alternate", help="Use the nodes' alternate addresses.", rich_help_panel=_PANEL)
    ] = False,
) -> Connection:
    return Connection(host, user, auth_mode, tls_name, tls_ca_file, tls_cert_file, tls_key_file, services_alternate)


def connecting(command: Callable[Concatenate[Connection, _P], None]) -> Callable[..., None]:
    """A command with the options of a connection, which it gets as its first argument."""
    own = list(inspect.signature(command).parameters.values())[1:]
    shared = list(inspect.signature(_options).parameters.values())

    @wraps(command)
    def run(**given: Any) -> None:
        connection = _options(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        # The signature below has checked them.
        cast("Callable[..., None]", command)(connection, **given)

    guard = guarded(run)
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own + shared]
    # Typer reads the signature, and asks the annotations only for what the signature leaves open.
    guard.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    guard.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guard
