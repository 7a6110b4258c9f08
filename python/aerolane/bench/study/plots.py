"""The plots of a report, as SVG. Their colours can be told apart by people who do not see all of them, and in print."""

import io
import math
from typing import TYPE_CHECKING, Any

from aerolane.bench.study.findings import NAMES, case, number
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


def heat_map(results: Results, section: str) -> str:
    """A row for each comparison of a section, a column for each figure: blue where ours is better, orange where it is
    worse, and pale where no difference is shown. Empty without comparisons."""
    rows = [
        (group, comparison)
        for group in results["groups"]
        if group["section"] == section
        for comparison in group["comparisons"]
    ]
    if not rows:
        return ""
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    figure, axes = _figure(0.26 * len(rows) + 0.4)
    colours = LinearSegmentedColormap.from_list("ours", [THEIRS, "#f7f7f7", OURS])
    norm = TwoSlopeNorm(0.0, -math.log2(DEEPEST), math.log2(DEEPEST))
    figures = list(NAMES)
    shades: list[list[float]] = []
    for place, (_, comparison) in enumerate(rows):
        shades.append([])
        for column, name in enumerate(figures):
            ratio = comparison["ratios"].get(name)
            shade = _shade(ratio, name)
            shades[-1].append(shade)
            text = "" if ratio is None else "≈" if ratio["verdict"] == "none" else number(ratio, ratio["median"])
            dark = abs(shade) > 1.2
            axes.text(column, place, text, ha="center", va="center", color="white" if dark else "black", fontsize=8)
    axes.imshow(shades, cmap=colours, norm=norm, aspect="auto")
    axes.set_xticks(range(len(figures)), [NAMES[name].replace(" per ", "\nper ") for name in figures])
    axes.xaxis.tick_top()
    labels = [f"{case(group)}: {comparison['ours']} / {comparison['theirs']}" for group, comparison in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return _svg(
        figure,
        results,
        "Ratio of ours to the other client's. Blue: ours is better. Orange: ours is worse. ≈: no difference shown.",
    )


def _shade(ratio: dict[str, Any] | None, figure: str) -> float:
    """How far on our side: powers of two, up to the deepest colour."""
    if ratio is None or ratio["verdict"] == "none":
        return 0.0
    median = ratio["median"]
    power = (math.log2(median) if median else -math.inf) * (1 if FIGURES[figure] else -1)
    return max(-math.log2(DEEPEST), min(math.log2(DEEPEST), power))


def dots(results: Results, section: str) -> str:
    """The cells of a section: median and interval of records per second, and of the client's CPU time.

    Empty where nothing ran.
    """
    groups = [group for group in results["groups"] if group["section"] == section]
    rows: list[tuple[str, Results | None]] = []
    for group in groups:
        cells = [cell for cell in group["cells"] if cell["figures"].get("tps")]
        if cells:
            rows += [(case(group), None), *((cell["label"], cell) for cell in cells)]
    if not rows:
        return ""
    from matplotlib.ticker import MaxNLocator

    figure, (left, right) = _figure(0.2 * len(rows) + 0.9, 2)
    for axes, name, label in (
        (left, "tps", "records/s (more is better)"),
        (right, "client_cpu_us_per_op", "client CPU, µs per record (less is better)"),
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
    figure.supxlabel(f"{note}\n{place}", fontsize=7.5, color=NEUTRAL, x=0.01, ha="left")
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
