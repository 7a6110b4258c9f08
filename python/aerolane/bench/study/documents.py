"""Tables of a study in a document, between two lines that name the study and the form of its tables.

    <!-- study slow ratios conditions: begin -->
    <!-- study slow ratios conditions: end -->

The first word is the name of the study's folder, the second one a form, the rest the sections that are shown (all of
them, if none is named).

The form `brief` may leave out clients:

    <!-- study slow brief single rust conditions aerospike-native aerospike-core: begin -->
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from aerolane.bench.study.brief import PACKAGES, brief
from aerolane.bench.study.cells import SECTIONS
from aerolane.bench.study.findings import against_us, case, compared, findings, interval, named
from aerolane.bench.study.results import Results, load
from aerolane.bench.study.tables import group, head, row, where, worst


class MarkerError(Exception):
    """The document has no place for the tables, or asks for some that do not exist."""


_MARKED = re.compile(
    r"<!-- study (?P<what>[^\n:]*): begin -->\n(?P<tables>.*?)<!-- study (?P<end>[^\n:]*): end -->", re.S
)
_LINE = re.compile(r"<!-- study [^\n]*-->")


def insert(document: str, name: str, results: Results) -> str:
    """Puts the tables of the study `name` where a document asks for them, in place of what is there.

    Raises `MarkerError` where it asks for nothing of this study, for a form or section that does not exist, and where
    its markers are not in pairs.
    """
    found = 0

    def fill(marked: re.Match[str]) -> str:
        nonlocal found
        what = marked["what"]
        if marked["end"] != what or _LINE.search(marked["tables"]):
            raise MarkerError(f"the tables 'study {what}' do not end with the line <!-- study {what}: end -->")
        study, *words = what.split() or [""]
        if study != name:
            return marked[0]
        found += 1
        lines = _lines(what, words, results)
        return "\n".join([f"<!-- study {what}: begin -->", *lines, f"<!-- study {what}: end -->"])

    text = _MARKED.sub(fill, document)
    if 2 * len(_MARKED.findall(document)) != len(_LINE.findall(document)):
        raise MarkerError("a line <!-- study ..: begin --> or <!-- study ..: end --> has no other one")
    if not found:
        raise MarkerError(f"the document needs a line <!-- study {name} FORM: begin --> and one that ends it")
    return text


def _lines(what: str, words: list[str], results: Results) -> Iterable[str]:
    """The lines that a marker asks for: a form, then sections (and clients)."""
    form, chosen = "".join(words[:1]), words[1:]
    if form != BRIEF and form not in FORMS:
        raise MarkerError(f"'study {what}': there are the forms {', '.join((*FORMS, BRIEF))}")
    known = (*SECTIONS, *PACKAGES) if form == BRIEF else tuple(SECTIONS)
    if unknown := [word for word in chosen if word not in known]:
        kinds = "sections and clients" if form == BRIEF else "sections"
        raise MarkerError(f"'study {what}': unknown {unknown[0]!r}; there are the {kinds} {', '.join(known)}")
    sections = tuple(word for word in chosen if word in SECTIONS) or tuple(SECTIONS)
    if form == BRIEF:
        return brief(results, sections, [word for word in chosen if word in PACKAGES] or PACKAGES)
    return FORMS[form](results, sections)


def insert_file(path: Path, folder: Path) -> None:
    """`insert` for a file and the study in `folder`."""
    folder = folder.resolve()
    text = insert(path.read_text(encoding="utf-8"), folder.name, load(folder))
    path.write_text(text, encoding="utf-8")


def _machine(results: Results, sections: tuple[str, ...]) -> list[str]:
    """When, where and how it was measured."""
    return where(results)


def _worst(results: Results, sections: tuple[str, ...]) -> list[str]:
    """The cases in which Aerolane is worse."""
    return worst(against_us([one for one in findings(results) if one.group["section"] in sections]))


def _ratios(results: Results, sections: tuple[str, ...]) -> Iterator[str]:
    """Every comparison with another client, a table for each section."""
    first = True
    for section in sections:
        rows = []
        groups = [one for one in results["groups"] if one["section"] == section]
        figures = compared(groups)
        for one in groups:
            for comparison in one["comparisons"]:
                if not comparison["peer"]:
                    continue
                ratios = comparison["ratios"]
                texts = [_ratio(ratios[name]) if name in ratios else "-" for name in figures]
                rows.append(row((case(one), f"{comparison['ours']} / {comparison['theirs']}", *texts)))
        if rows:
            names = [named(name, groups) for name in figures]
            yield from [] if first else [""]
            yield from (f"{results['sections'][section]}:", "", *head("case", "ours / other", *names), *rows)
            first = False


def _ratio(ratio: Results) -> str:
    """A ratio; one that the rounds do not show as its interval alone."""
    return interval(ratio) if ratio["verdict"] != "none" else f"({ratio['low']:.2f} to {ratio['high']:.2f})"


def _figures(results: Results, sections: tuple[str, ...]) -> Iterator[str]:
    """Every client's figures and every comparison, as in the report."""
    first = True
    for one in results["groups"]:
        if one["section"] in sections:
            yield from [] if first else [""]
            yield from group(one)
            first = False


FORMS: dict[str, Callable[[Results, tuple[str, ...]], Iterable[str]]] = {
    "machine": _machine,
    "worst": _worst,
    "ratios": _ratios,
    "figures": _figures,
}
# The form that may leave out clients.
BRIEF = "brief"
