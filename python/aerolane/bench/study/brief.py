"""The shortest table of a study: a row for each server and other client, from worst case to best."""

from collections.abc import Iterator, Sequence

from aerolane.bench.study.cells import CONDITIONS, IN_MEMORY, LABELS, RIVALS
from aerolane.bench.study.findings import NAMES, Finding, counts, findings, number
from aerolane.bench.study.results import Results
from aerolane.bench.study.statistics import FIGURES, USUAL
from aerolane.bench.study.tables import head, row


def package(label: str) -> str:
    """The name of the package that a client is in: `aerospike` of `aerospike (C client)`."""
    return label.partition(",")[0].partition(" ")[0]


# The packages that a document may ask for.
PACKAGES = tuple(dict.fromkeys(package(LABELS[rival]) for rivals in RIVALS.values() for rival in rivals))


def brief(study: Results, sections: Sequence[str], packages: Sequence[str]) -> Iterator[str]:
    """The table, then the command and the machine."""
    found: dict[str, dict[str, list[Finding]]] = {}
    for one in findings(study):
        other = _other(one)
        if one.comparison["peer"] and one.group["section"] in sections and package(other) in packages:
            found.setdefault(_server(study, one.group), {}).setdefault(other, []).append(one)
    yield from head("server", "compared with", "worse / no difference / better", *(NAMES[name] for name in USUAL))
    for server, others in found.items():
        for first, (other, rows) in enumerate(others.items()):
            count = counts([one for one in rows if one.figure in USUAL])
            shown = " / ".join(str(count[verdict]) for verdict in ("worse", "none", "better"))
            ranges = (_range([one for one in rows if one.figure == name], name) for name in USUAL)
            yield row(("" if first else server, other, shown, *ranges))
    yield ""
    yield from _source(study["environment"])


def _server(study: Results, group: Results) -> str:
    """What a group was measured on. The embedded clusters that are slow on purpose are one row."""
    condition = str(group["condition"])
    if condition == IN_MEMORY:
        return str(study["settings"]["main_server"])
    return str(study["sections"][group["section"]]) if condition in CONDITIONS else condition


def _other(one: Finding) -> str:
    """The other client; its blocking and its async form are one."""
    modes = {cell["label"]: cell["settings"]["mode"] for cell in one.group["cells"]}
    return LABELS[modes[one.comparison["theirs"]]].partition(",")[0]


def _range(found: list[Finding], figure: str) -> str:
    """The worst and the best ratio; a question mark where the rounds show no difference."""
    ordered = sorted(found, key=lambda one: float(one.ratio["median"]), reverse=not FIGURES[figure])
    return " to ".join(_text(one) for one in (ordered if len(ordered) < 2 else (ordered[0], ordered[-1]))) or "-"


def _text(one: Finding) -> str:
    middle = one.ratio["median"]
    return number({**one.ratio, "low": middle, "high": middle}, middle) + "?" * (one.verdict == "none")


def _source(environment: Results) -> Iterator[str]:
    """Date and command, then the machine and the versions."""
    yield f"* {environment['made'][:10]}: `{environment['command']}`"
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    yield (
        f"* {environment['processor']}, {environment['cores']} cores, {environment['system']};"
        f" Python {environment['python']}; {versions}"
    )
