"""`results.json`: everything that a report shows, with each round."""

import gzip
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aerolane.bench.histogram import Histogram
from aerolane.bench.study.cells import SECTIONS, Cell, Group
from aerolane.bench.study.journal import SCHEMA, Journal, JournalError, Line
from aerolane.bench.study.statistics import FIGURES, LEAST_SAMPLES, compare, estimate, has_figure
from aerolane.bench.table import is_peer

Results = dict[str, Any]

# Whose median and interval a cell has.
SHOWN = (*FIGURES, "p999_us", "involuntary_switches_per_op", "peak_rss_bytes")


def results(plan: Iterable[Group], journal: Journal) -> Results:
    """Puts the rounds together."""
    rounds: dict[str, list[Line]] = {}
    for line in journal.lines:
        rounds.setdefault(line.cell, []).append(line)
    for lines in rounds.values():
        lines.sort(key=lambda line: line.round)
    settings = journal.settings
    return {
        "schema": SCHEMA,
        "environment": asdict(journal.environment),
        "settings": asdict(settings) | {"server": settings.server, "main_server": settings.main_server},
        "sections": SECTIONS,
        "groups": [_group(group, rounds) for group in plan],
    }


def load(folder: Path) -> Results:
    """Reads `results.json`, or `results.json.gz`. Raises `JournalError` if it is none."""
    path, packed = folder / "results.json", folder / "results.json.gz"
    is_packed = packed.exists() and not path.exists()
    path = packed if is_packed else path
    try:
        content = path.read_bytes()
        found: Results = json.loads(gzip.decompress(content) if is_packed else content)
        if found["schema"] != SCHEMA:
            raise JournalError(f"{path} is of version {found['schema']}, this program reads {SCHEMA}")
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError, TypeError):
        raise JournalError(f"{path} holds no results of a study") from None
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from None
    return found


def _group(group: Group, rounds: dict[str, list[Line]]) -> Results:
    measured = {cell.label: _figures(rounds.get(group.cell_id(cell), [])) for cell in group.cells}
    peers = {cell.label for cell in group.cells if is_peer(cell.spec.mode)}
    return {
        "id": group.id,
        "section": group.section,
        "title": group.title,
        "condition": group.condition,
        "unit": group.unit,
        "cells": [_cell(group, cell, rounds.get(group.cell_id(cell), [])) for cell in group.cells],
        "comparisons": [
            _comparison(group, ours, theirs, measured[ours], measured[theirs]) | {"peer": theirs in peers}
            for ours, theirs in group.pairs
            if measured[ours] and measured[theirs]
        ],
    }


def _figures(lines: list[Line]) -> dict[int, Results]:
    return {line.round: line.figures for line in lines if line.figures is not None}


def _cell(group: Group, cell: Cell, lines: list[Line]) -> Results:
    rounds = _figures(lines)
    figures = list(rounds.values())
    spec = {name: value for name, value in asdict(cell.spec).items() if name not in ("seeds", "security")}
    return {
        "id": group.cell_id(cell),
        "label": cell.label,
        "settings": spec,
        "notes": group.notes.get(cell.label, {}),
        "missing": next((line.missing for line in lines if line.missing), ""),
        "failure": next((line.failure for line in lines if line.failure and line.round not in rounds), ""),
        "errors": sum(round_["errors"] + round_["timeouts"] for round_ in figures),
        "not_found": sum(round_.get("not_found", 0) for round_ in figures),
        "figures": {name: asdict(found) for name in SHOWN if (found := _estimate(figures, name))},
        "merged": _merged(figures),
        "rounds": [
            {name: value for name, value in round_.items() if name not in ("histograms", "conditions")}
            for round_ in figures
        ],
    }


def _estimate(figures: list[Results], name: str) -> Any:
    least = LEAST_SAMPLES.get(name, 0)
    values = [round_[name] for round_ in figures if has_figure(round_, name) and round_.get("samples", 0) >= least]
    return estimate(values) if values else None


def _merged(figures: list[Results]) -> Results:
    """Percentiles of the samples of all rounds together, where these are enough for them."""
    histogram = Histogram()
    for round_ in figures:
        for pairs in round_.get("histograms", {}).values():
            histogram.merge(Histogram.from_pairs(pairs))
    found = histogram.figures()
    if not histogram.samples:
        # The Rust harness gives percentiles of a round, not what they were made of.
        return {"samples": sum(round_.get("samples", 0) for round_ in figures)}
    return {
        name: value
        for name, value in found.items()
        if name == "samples" or histogram.samples >= LEAST_SAMPLES.get(name, 1_000)
    }


def _comparison(
    group: Group, ours: str, theirs: str, our_rounds: dict[int, Results], their_rounds: dict[int, Results]
) -> Results:
    name = f"{group.id}: {ours} / {theirs}"
    both = sorted(our_rounds.keys() & their_rounds.keys())
    ratios = {}
    for figure in group.figures:
        ratio = compare([our_rounds[number] for number in both], [their_rounds[number] for number in both], figure)
        if ratio:
            ratios[figure] = asdict(ratio.estimate) | {"verdict": ratio.verdict}
    return {"id": name, "ours": ours, "theirs": theirs, "rounds": len(both), "ratios": ratios}
