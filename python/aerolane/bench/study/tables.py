"""The study as Markdown."""

from collections.abc import Iterable
from statistics import median

from aerolane.bench.study.findings import (
    Finding,
    against_us,
    by_figure,
    case,
    caveats,
    compared,
    findings,
    in_words,
    named,
    summary,
)
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
    """The table of the cases in which Aerolane is worse."""
    if not found:
        return ["Aerolane is worse in none of the comparisons."]
    lines = head("case", "figure", "ours", "other", "ratio, ours to other (interval)")
    for one in found:
        ours, theirs = one.comparison["ours"], one.comparison["theirs"]
        lines.append(row((one.case, one.name, ours, theirs, in_words(one.ratio))))
    return lines


# Columns of a cell: head, figure, factor.
COLUMNS = (
    ("records/s", "tps", 1.0),
    ("CPU µs/record", "client_cpu_us_per_op", 1.0),
    ("p50 µs", "p50_us", 1.0),
    ("p95 µs", "p95_us", 1.0),
    ("p99 µs", "p99_us", 1.0),
    ("p99.9 µs", "p999_us", 1.0),
    ("system calls/record", "syscalls_per_op", 1.0),
    ("waits/record", "voluntary_switches_per_op", 1.0),
    ("preempted/record", "involuntary_switches_per_op", 1.0),
    ("peak RSS MiB", "peak_rss_bytes", 1 / (1 << 20)),
)


def _columns(group: Results) -> list[tuple[str, str, float]]:
    """Those that a group has figures for."""
    unit = group.get("unit", "record")
    there = {name for cell in group["cells"] for name in cell["figures"]}
    if unit == "record":
        there.discard("p95_us")
    return [(head.replace("record", unit), name, factor) for head, name, factor in COLUMNS if name in there]


def cells(group: Results) -> list[list[str]]:
    """The cells of a group as rows of texts, the head first. Figures are medians with the interval of the rounds."""
    notes = list(dict.fromkeys(name for cell in group["cells"] for name in cell["notes"]))
    columns = _columns(group)
    rows = [["client", *notes, "errors", *(name for name, _, _ in columns), "samples"]]
    for cell in group["cells"]:
        if cell["missing"] or cell["failure"]:
            why = cell["missing"] or f"failed: {cell['failure']}"
            rows.append([cell["label"], why, *[""] * (len(rows[0]) - 2)])
            continue
        texts = [cell["label"], *(cell["notes"].get(name, "") for name in notes), f"{cell['errors']:,}"]
        for _, name, factor in columns:
            found = cell["figures"].get(name)
            texts.append(
                f"{grouped(found['median'] * factor)} ({grouped(found['low'] * factor)} to"
                f" {grouped(found['high'] * factor)})"
                if found
                else "-"
            )
        rows.append([*texts, f"{cell['merged'].get('samples', 0):,}"])
    return rows


def group(found: Results) -> list[str]:
    """A group: its cells, then its comparisons."""
    names, *rows = cells(found)
    lines = [f"### {case(found)}", "", *head(*names), *map(row, rows)]
    for title, (head_, *rows) in extras(found):
        lines += ["", f"{title}:", "", *head(*head_), *map(row, rows)]
    if found["comparisons"]:
        figures = compared([found])
        lines += ["", *head("ratio, ours to other", *(named(name, [found]) for name in figures))]
        for comparison in found["comparisons"]:
            ratios = comparison["ratios"]
            texts = (in_words(ratios[name]) if name in ratios else "-" for name in figures)
            lines.append(row((f"{comparison['ours']} / {comparison['theirs']}", *texts)))
    return lines


def extras(group: Results) -> list[tuple[str, list[list[str]]]]:
    """Tables that only some groups have: a title, and rows with their head."""
    found = []
    cells = [cell for cell in group["cells"] if cell["rounds"]]
    if any("stages" in round_ for cell in cells for round_ in cell["rounds"]):
        found.append(("Stages within the service, ms: mean, p50, p95 (medians of the rounds)", _stages(cells)))
    if any("sets" in round_ for cell in cells for round_ in cell["rounds"]):
        found.append(("A call by set, ms: mean, p99 (medians of the rounds)", _sets(cells)))
    failed = [
        [cell["label"], f"{sample['count']:,}", sample["message"]]
        for cell in cells
        for round_ in cell["rounds"]
        for sample in round_.get("error_samples", ())
    ]
    if failed:
        found.append(("What failed", [["client", "times", "error"], *failed[:10]]))
    return found


def _stages(cells: list[Results]) -> list[list[str]]:
    names = list(dict.fromkeys(name for cell in cells for round_ in cell["rounds"] for name in round_["stages"]))
    rows = [["client", *names]]
    for cell in cells:
        each = [round_["stages"] for round_ in cell["rounds"]]
        rows.append([cell["label"], *(_middles(each, name, ("mean_ms", "p50_ms", "p95_ms"), 1.0) for name in names)])
    return rows


def _sets(cells: list[Results]) -> list[list[str]]:
    rows = [["set", "found", *(cell["label"] for cell in cells)]]
    for name, of_set in cells[0]["rounds"][0]["sets"].items():
        texts = (
            _middles([round_["sets"] for round_ in cell["rounds"]], name, ("mean_us", "p99_us"), 1e-3) for cell in cells
        )
        rows.append([name, f"{of_set['found']:.0%}", *texts])
    return rows


def _middles(rounds: list[Results], name: str, figures: Iterable[str], factor: float) -> str:
    """The medians over some rounds, of those that have them."""
    there = [round_[name] for round_ in rounds if name in round_]
    return " / ".join(f"{median(one[figure] for one in there) * factor:.3g}" for figure in figures) if there else "-"


def where(results: Results) -> list[str]:
    """Machine, versions and command."""
    environment, settings = results["environment"], results["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    commit = f", commit {environment['commit']}" if environment["commit"] else ""
    rounds = f"{settings['rounds']} round{'s' * (settings['rounds'] != 1)}"
    return [
        f"* {environment['made']}, `{environment['command']}`{commit}",
        f"* {environment['processor']}, {environment['cores']} cores, {environment['memory_gib']} GiB,"
        f" {environment['system']}",
        f"* Python {environment['python']}, GIL {'on' if environment['gil'] else 'off'}; {versions}",
        f"* server: {settings['server']}",
        f"* {rounds} of {settings['duration']:g} s after {settings['warmup']:g} s, {settings['keys']:,} records",
    ]


def document(results: Results) -> str:
    """The whole report."""
    found = findings(results)
    lines = ["# Aerolane compared with other clients", "", *(f"{sentence}" for sentence in summary(results)), ""]
    lines += head("figure", "better", "no difference shown", "worse", "median of all ratios")
    for name, count, middle in by_figure(results):
        lines.append(
            row((name, count["better"], count["none"], count["worse"], "-" if middle is None else f"{middle:.2f}"))
        )
    lines += ["", "## Where Aerolane is worse", "", *worst(against_us(found)), "", "## Where it was measured", ""]
    lines += [*where(results), "", "## How to read it", "", *(f"* {text}" for text in caveats(results))]
    for section, title in results["sections"].items():
        groups = [one for one in results["groups"] if one["section"] == section]
        if groups:
            lines += ["", f"## {title}"]
        for one in groups:
            lines += ["", *group(one)]
    return "\n".join(lines) + "\n"
