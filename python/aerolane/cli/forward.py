"""Commands that other modules of the package have: their options are passed on as they are."""

import typer

from aerolane.cli.exit_codes import guarded


@guarded
def embedded(context: typer.Context) -> None:
    """Run a cluster in memory until Ctrl-C. Options: aerolane embedded --help."""
    from aerolane.testing.__main__ import main

    main(context.args)


@guarded
def bench(context: typer.Context) -> None:
    """Measure a cluster, or an embedded one. Options: aerolane bench --help, aerolane bench report --help."""
    if context.args[:1] == ["report"]:
        from aerolane.bench.study.cli import main as report

        raise typer.Exit(report(context.args[1:], "aerolane bench report"))
    from aerolane.bench.cli import main

    raise typer.Exit(main(context.args, "aerolane bench"))
