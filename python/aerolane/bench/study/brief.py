"""The shortest table of one study or several: a row for each server and other client, from worst case to best."""

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


def brief(studies: Sequence[Results], sections: Sequence[str], packages: Sequence[str]) -> Iterator[str]:
    """The table, then the commands and machines of the studies that it shows.

    Where several studies have measured a section on the same server, the first of them counts.
    """
    found: dict[str, dict[str, list[Finding]]] = {}
    taken_from: dict[tuple[str, str], Results] = {}
    for study in studies:
        for one in findings(study):
            section, server, other = one.group["section"], _server(study, one.group), _other(one)
            if not one.comparison["peer"] or section not in sections or package(other) not in packages:
                continue
            if taken_from.setdefault((server, section), study) is study:
                found.setdefault(server, {}).setdefault(other, []).append(one)
    yield from head("server", "compared with", "worse / no difference / better", *(NAMES[name] for name in USUAL))
    for server, others in found.items():
        for first, (other, rows) in enumerate(others.items()):
            count = counts([one for one in rows if one.figure in USUAL])
            shown = " / ".join(str(count[verdict]) for verdict in ("worse", "none", "better"))
            ranges = (_range([one for one in rows if one.figure == name], name) for name in USUAL)
            yield row(("" if first else server, other, shown, *ranges))
    yield ""
    yield from _sources([study for study in studies if any(study is one for one in taken_from.values())])


def _server(study: Results, group: Results) -> str:
    """What a group was measured on. The embedded clusters that are slow on purpose are one row."""
    condition = str(group["condition"])
    if condition == IN_MEMORY:
        return str(study["settings"]["server"]).partition(";")[0]
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


def _sources(studies: list[Results]) -> Iterator[str]:
    """Date and command of each study, then their machines and versions."""
    machines = []
    for study in studies:
        environment = study["environment"]
        yield f"* {environment['made'][:10]}: `{environment['command']}`"
        versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
        machines.append(
            f"* {environment['processor']}, {environment['cores']} cores, {environment['system']};"
            f" Python {environment['python']}; {versions}"
        )
    yield from dict.fromkeys(machines)
