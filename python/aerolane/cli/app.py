"""The commands, put together."""

from collections.abc import Callable
from typing import Annotated

import typer

import aerolane
from aerolane.cli.cluster import info, ping
from aerolane.cli.connection import connecting
from aerolane.cli.export import export
from aerolane.cli.forward import bench, embedded
from aerolane.cli.load import load
from aerolane.cli.records import delete, get, put

_EPILOG = (
    "Exit codes: 0 done; 1 the cluster refused or did not answer; 2 unusable options or input; 3 no connection;"
    " 4 no such record; 5 rows were rejected; 6 a file could not be read or written; 130 interrupted."
)

app = typer.Typer(
    name="aerolane",
    help="Aerospike clusters from the command line.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(aerolane.__version__)
        raise typer.Exit


@app.callback()
def _main(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


_CONNECTING: list[Callable[..., None]] = [ping, info, get, put, delete, load, export]
for command in _CONNECTING:
    app.command()(connecting(command))
for forwarded in (embedded, bench):
    app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
        forwarded
    )
