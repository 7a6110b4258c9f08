"""The report as one HTML file, which needs nothing else."""

import importlib.util
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from aerolane.bench.study import plots, tables
from aerolane.bench.study.findings import against_us, by_figure, caveats, compared, findings, in_words, named, summary
from aerolane.bench.study.results import Results

# What the page is made with.
NEEDED = {"matplotlib": "matplotlib", "jinja2": "Jinja2"}


def require(fail: Callable[[str], Any]) -> None:
    """Calls `fail` with what to install, where something is missing: before hours of measuring, not after."""
    missing = [name for module, name in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        fail(f"{' and '.join(missing)} must be installed (pip install 'aerolane[report]')")


def page(results: Results) -> str:
    """The whole page."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = files("aerolane.bench.study").joinpath("page.html").read_text(encoding="utf-8")
    found = findings(results)
    return environment.from_string(template).render(
        results=results,
        summary=summary(results),
        worst=against_us(found),
        by_figure=by_figure(results),
        overview=plots.overview(results),
        compared=compared,
        named=named,
        extras=tables.extras,
        memory=lambda group: plots.memory(results, group),
        in_words=in_words,
        where=[line.removeprefix("* ").replace("`", "") for line in tables.where(results)],
        caveats=caveats(results),
        cells=tables.cells,
        sections=[_section(results, name, title) for name, title in results["sections"].items()],
    )


def _section(results: Results, name: str, title: str) -> Results:
    return {
        "name": name,
        "title": title,
        "groups": [group for group in results["groups"] if group["section"] == name],
        "heat_map": plots.heat_map(results, name),
        "dots": plots.dots(results, name),
    }
