"""The study as Markdown."""

from collections.abc import Iterable

from aerolane.bench.study.findings import NAMES, Finding, against_us, case, caveats, findings, in_words, summary
from aerolane.bench.study.results import Results


def row(cells: Iterable[object]) -> str:
    """A row of a table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def head(*names: str) -> list[str]:
    """The head of a table: the first column to the left, the others to the right."""
    return [row(names), "|---|" + "---:|" * (len(names) - 1)]


def grouped(value: float) -> str:
    """A number with its thousands apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def worst(found: list[Finding]) -> list[str]:
    """The table of what goes against us."""
    if not found:
        return ["No comparison shows Aerolane behind."]
    lines = head("case", "figure", "ours", "other", "ratio, ours to other (interval)")
    for one in found:
        ours, theirs = one.comparison["ours"], one.comparison["theirs"]
        lines.append(row((one.case, NAMES[one.figure], ours, theirs, in_words(one.ratio))))
    return lines


# Columns of a cell: head, figure, factor.
COLUMNS = (
    ("records/s", "tps", 1.0),
    ("CPU µs/record", "client_cpu_us_per_op", 1.0),
    ("p50 µs", "p50_us", 1.0),
    ("p99 µs", "p99_us", 1.0),
    ("p99.9 µs", "p999_us", 1.0),
    ("switches/record", "voluntary_switches_per_op", 1.0),
    ("peak RSS MiB", "peak_rss_bytes", 1 / (1 << 20)),
)


def cells(group: Results) -> list[list[str]]:
    """The cells of a group as rows of texts, the head first. Figures are medians with the interval of the rounds."""
    notes = list(dict.fromkeys(name for cell in group["cells"] for name in cell["notes"]))
    rows = [["client", *(name for name, _, _ in COLUMNS), "samples", "errors", *notes]]
    for cell in group["cells"]:
        if cell["missing"] or cell["failure"]:
            why = cell["missing"] or f"failed: {cell['failure']}"
            rows.append([cell["label"], why, *[""] * (len(rows[0]) - 2)])
            continue
        texts = [cell["label"]]
        for _, name, factor in COLUMNS:
            found = cell["figures"].get(name)
            texts.append(
                f"{grouped(found['median'] * factor)} ({grouped(found['low'] * factor)} to"
                f" {grouped(found['high'] * factor)})"
                if found
                else "-"
            )
        texts += [f"{cell['merged'].get('samples', 0):,}", f"{cell['errors']:,}"]
        rows.append(texts + [cell["notes"].get(name, "") for name in notes])
    return rows


def group(found: Results) -> list[str]:
    """A group: its cells, then its comparisons."""
    names, *rows = cells(found)
    lines = [f"#### {case(found)}", "", *head(*names), *map(row, rows)]
    if found["comparisons"]:
        lines += ["", *head("ratio, ours to other", *NAMES.values())]
        for comparison in found["comparisons"]:
            ratios = comparison["ratios"]
            texts = (in_words(ratios[name]) if name in ratios else "-" for name in NAMES)
            lines.append(row((f"{comparison['ours']} / {comparison['theirs']}", *texts)))
    return lines


def where(results: Results) -> list[str]:
    """Machine, versions and command."""
    environment, settings = results["environment"], results["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    commit = f", commit {environment['commit']}" if environment["commit"] else ""
    return [
        f"* {environment['made']}, `{environment['command']}`{commit}",
        f"* {environment['processor']}, {environment['cores']} cores, {environment['memory_gib']} GiB,"
        f" {environment['system']}",
        f"* Python {environment['python']}, GIL {'on' if environment['gil'] else 'off'}; {versions}",
        f"* server: {settings['server']}",
        f"* {settings['rounds']} rounds of {settings['duration']:g} s after {settings['warmup']:g} s,"
        f" {settings['keys']:,} records",
    ]


def document(results: Results) -> str:
    """The whole report."""
    found = findings(results)
    lines = ["# Aerolane beside other clients", "", *(f"{sentence}" for sentence in summary(results))]
    lines += ["", "## What goes against us", "", *worst(against_us(found)), "", "## Where it was measured", ""]
    lines += [*where(results), "", "## How to read it", "", *(f"* {text}" for text in caveats(results))]
    for section, title in results["sections"].items():
        groups = [one for one in results["groups"] if one["section"] == section]
        if groups:
            lines += ["", f"## {title}"]
        for one in groups:
            lines += ["", *group(one)]
    return "\n".join(lines) + "\n"
