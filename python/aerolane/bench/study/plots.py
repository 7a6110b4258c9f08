"""The plots of a report, as SVG. Their colours can be told apart by people who do not see all of them, and in print."""

import io
import math
import textwrap
from itertools import count
from typing import TYPE_CHECKING, Any

from aerolane.bench.study.cells import CONDITIONS, IN_MEMORY
from aerolane.bench.study.findings import NAMES, case, compared, named, number
from aerolane.bench.study.results import Results
from aerolane.bench.study.statistics import FIGURES
from aerolane.bench.table import is_peer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue and vermilion of the palette of Okabe and Ito; in grey they differ as dark and light.
OURS, THEIRS, NEUTRAL = "#0072b2", "#d55e00", "#777777"
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "aerolane",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
WIDTH = 9.6
# A ratio this far from 1, or farther, has the deepest colour.
DEEPEST = 4.0
# Rows of a plot: more would not fit on a printed page.
MOST_ROWS = 36
# Characters of a column's head in the overview.
LONGEST_HEAD = 24


def heat_map(results: Results, section: str) -> list[str]:
    """A row for each comparison of a section, a column for each figure: blue where ours is better, orange where it is
    worse, and pale where no difference is shown. Several plots where the rows are many, none without comparisons."""
    groups = [group for group in results["groups"] if group["section"] == section]
    figures = compared(groups)
    rows = [(group, comparison) for group in groups for comparison in group["comparisons"]]
    plots = []
    for begin in range(0, len(rows) if figures else 0, MOST_ROWS):
        some = rows[begin : begin + MOST_ROWS]
        figure, axes = _figure(0.26 * len(some) + 0.4)
        _squares(axes, [[(comparison["ratios"].get(name), name) for name in figures] for _, comparison in some], 8)
        heads = [named(name, (group for group, _ in some)).replace(" per ", "\nper ") for name in figures]
        axes.set_xticks(range(len(figures)), heads)
        labels = [f"{case(group)}: {comparison['ours']} / {comparison['theirs']}" for group, comparison in some]
        axes.set_yticks(range(len(some)), labels)
        plots.append(_svg(figure, results, LEGEND))
    return plots


LEGEND = "Ratio of ours to the other client's. Blue: ours is better. Orange: ours is worse. ≈: no difference shown."
# What the overview shows of each condition.
OVERVIEW = ("tps", "client_cpu_us_per_op", "p99_us")


def overview(results: Results) -> str:
    """All conditions at one glance: a row for each case that was measured under several of them, a column for each one,
    once for each of three figures. Empty where there are no such cases."""
    rows: dict[tuple[str, str, str], dict[str, Results]] = {}
    for group in results["groups"]:
        # What is measured in memory stands in sections of its own.
        if group["section"] in ("single", "rust", "conditions"):
            title = group["title"].removeprefix("Rust, ")
            for comparison in group["comparisons"]:
                row = rows.setdefault((title, comparison["ours"], comparison["theirs"]), {})
                row.setdefault(group["condition"], comparison["ratios"])
    rows = {name: row for name, row in rows.items() if row.keys() - {IN_MEMORY}}
    if not rows:
        return ""
    # Ours first, from fast to slow; then the servers that somebody named.
    there = list(dict.fromkeys(condition for row in rows.values() for condition in row))
    conditions = [name for name in CONDITIONS if name in there] + [name for name in there if name not in CONDITIONS]
    # Of a column there is only so much room: what is longer stands below.
    numbers = count(1)
    heads = [name if len(name) <= LONGEST_HEAD else f"server {next(numbers)}" for name in conditions]
    key = [textwrap.fill(f"{head}: {name}", 150) for head, name in zip(heads, conditions, strict=True) if head != name]
    longest = max(map(len, heads))
    figure, panels = _figure(0.24 * len(rows) + 0.07 * longest + 0.5, len(OVERVIEW))
    for axes, name in zip(panels, OVERVIEW, strict=True):
        squares = [[(row.get(condition, {}).get(name), name) for condition in conditions] for row in rows.values()]
        _squares(axes, squares, 6.5 if len(conditions) < 8 else 5)
        axes.set_title(NAMES[name], fontsize=9, pad=4)
        axes.set_xticks(range(len(conditions)), heads, rotation=60, ha="left", rotation_mode="anchor", fontsize=7.5)
        axes.set_yticks([])
    labels = [f"{title}: {ours} / {theirs}" for title, ours, theirs in rows]
    panels[0].set_yticks(range(len(rows)), labels, fontsize=8)
    return _svg(figure, results, "\n".join([LEGEND + " Empty: not measured.", *key]))


Squares = list[list[tuple[dict[str, Any] | None, str]]]


def _squares(axes: "Axes", squares: Squares, size: float) -> None:
    """Ratios and the names of their figures, as coloured squares with their numbers."""
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    colours = LinearSegmentedColormap.from_list("ours", [THEIRS, "#f7f7f7", OURS]).with_extremes(bad="white")
    norm = TwoSlopeNorm(0.0, -math.log2(DEEPEST), math.log2(DEEPEST))
    shades = [[math.nan if ratio is None else _shade(ratio, name) for ratio, name in row] for row in squares]
    for place, row in enumerate(squares):
        for column, (ratio, name) in enumerate(row):
            text = "" if ratio is None else "≈" if ratio["verdict"] == "none" else _short(ratio)
            dark = abs(_shade(ratio, name)) > 1.2
            axes.text(column, place, text, ha="center", va="center", color="white" if dark else "black", fontsize=size)
    axes.imshow(shades, cmap=colours, norm=norm, aspect="auto")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _short(ratio: dict[str, Any]) -> str:
    """A ratio with two places, if these show that it is not 1."""
    text = f"{ratio['median']:.2f}"
    return text if text != "1.00" else number(ratio, ratio["median"])


def memory(results: Results, group: Results) -> str:
    """The memory of processes over time, where a group has it: the first round of each cell."""
    courses = [
        (cell, cell["rounds"][0]["memory"])
        for cell in group["cells"]
        if cell["rounds"] and "memory" in cell["rounds"][0]
    ]
    if not any(course for _, course in courses):
        return ""
    figure, axes = _figure(2.2)
    for cell, course in courses:
        colour, line = (THEIRS, "--") if is_peer(cell["settings"]["mode"]) else (OURS, "-")
        axes.plot(
            [at for at, _ in course], [size / (1 << 20) for _, size in course], line, color=colour, label=cell["label"]
        )
    axes.set_xlabel("seconds, warm-up included")
    axes.set_ylabel("resident set, MiB")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)
    return _svg(figure, results, f"{case(group)}: the first round of each client.")


def _shade(ratio: dict[str, Any] | None, figure: str) -> float:
    """How far on our side: powers of two, up to the deepest colour."""
    if ratio is None or ratio["verdict"] == "none":
        return 0.0
    median = ratio["median"]
    power = (math.log2(median) if median else -math.inf) * (1 if FIGURES[figure] else -1)
    return max(-math.log2(DEEPEST), min(math.log2(DEEPEST), power))


def dots(results: Results, section: str) -> list[str]:
    """The cells of a section: median and interval of records per second, and of the client's CPU time.

    A plot for each thing that is counted; none where nothing ran.
    """
    plots = []
    for unit in ("record", "request"):
        rows: list[tuple[str, Results | None]] = []
        for group in results["groups"]:
            cells = [cell for cell in group["cells"] if cell["figures"].get("tps")]
            if group["section"] != section or group.get("unit", "record") != unit or not cells:
                continue
            if len(rows) + len(cells) > MOST_ROWS:
                plots.append(_dots(results, rows, unit))
                rows = []
            rows += [(case(group), None), *((cell["label"], cell) for cell in cells)]
        if rows:
            plots.append(_dots(results, rows, unit))
    return plots


def _dots(results: Results, rows: list[tuple[str, Results | None]], unit: str) -> str:
    from matplotlib.ticker import MaxNLocator

    figure, (left, right) = _figure(0.2 * len(rows) + 0.9, 2)
    for axes, name, label in (
        (left, "tps", f"{named('tps', [{'unit': unit}])} (more is better)"),
        (right, "client_cpu_us_per_op", f"{named('client_cpu_us_per_op', [{'unit': unit}])}, µs (less is better)"),
    ):
        most = 0.0
        for place, (_, cell) in enumerate(rows):
            found = cell["figures"].get(name) if cell else None
            if cell is None or found is None:
                continue
            ours = not is_peer(cell["settings"]["mode"])
            colour, marker = (OURS, "o") if ours else (THEIRS, "D")
            axes.plot([found["low"], found["high"]], [place, place], color=colour, linewidth=1.5, alpha=0.6)
            face = colour if ours else "white"
            axes.plot(found["median"], place, marker, color=colour, markerfacecolor=face, markersize=5)
            most = max(most, found["high"])
        axes.set_xlim(0, most * 1.05 or 1)
        axes.set_xlabel(label)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}")
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_ylim(len(rows) - 0.5, -0.7)
        axes.spines["left"].set_visible(False)
    left.set_yticks(range(len(rows)), [label for label, _ in rows])
    right.set_yticks([])
    for tick, (_, cell) in zip(left.get_yticklabels(), rows, strict=True):
        tick.set_fontweight("normal" if cell else "bold")
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
    return _svg(
        figure, results, "Filled circles: Aerolane. Open diamonds: other clients. Lines: the interval of the median."
    )


def _figure(height: float, columns: int = 1) -> "tuple[Figure, Any]":
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height + 0.5), layout="constrained")
        axes: Axes | Any = figure.subplots(1, columns)
    return figure, axes


def _svg(figure: "Figure", results: Results, note: str) -> str:
    import matplotlib as mpl

    environment, settings = results["environment"], results["settings"]
    place = f"{environment['processor']}, {environment['cores']} cores, {environment['system']}; {settings['server']}"
    figure.supxlabel(f"{note}\n{textwrap.fill(place, 150)}", fontsize=7.5, color=NEUTRAL, x=0.01, ha="left")
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
