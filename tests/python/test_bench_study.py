"""The study of the load harness: what rounds may say, what a report shows, and that a study can be resumed."""

import asyncio
import contextlib
import gzip
import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest

from aerolane.bench import child
from aerolane.bench.meter import Meter
from aerolane.bench.process import python_name
from aerolane.bench.session import LoadError
from aerolane.bench.spec import Conditions, RunSpec
from aerolane.bench.study import documents, measure, patterns, processes, programs, results, rust, syscalls, tables
from aerolane.bench.study.cells import CONDITIONS, NOT_QUICK, SECTIONS, Cell, Group
from aerolane.bench.study.cli import main, parser, settings
from aerolane.bench.study.environment import Environment
from aerolane.bench.study.findings import against_us, by_figure, caveats, findings, in_words, named, summary
from aerolane.bench.study.groups import Server, groups
from aerolane.bench.study.journal import SCHEMA, Journal, JournalError, Line
from aerolane.bench.study.statistics import compare, estimate
from aerolane.testing import EmbeddedCluster


def rounds(values, samples=100_000, name="tps"):
    return [{name: value, "samples": samples} for value in values]


@pytest.mark.parametrize(
    ("count", "coverage"), [(1, 0.0), (2, 0.5), (3, 0.75), (5, 0.9375), (7, 0.984375), (8, 0.9296875)]
)
def test_an_interval_says_how_much_it_is_worth(count, coverage):
    found = estimate(list(range(count)))
    assert (found.coverage, found.rounds) == (coverage, count)


def test_with_more_rounds_the_ends_are_left_out():
    found = estimate([9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert (found.low, found.median, found.high) == (2.0, 4.5, 7.0)


def test_intervals_hold_the_true_median_as_often_as_they_say():
    random = Random(1)
    for count in (5, 7, 8, 12):
        held = 0
        for _ in range(2_000):
            # Skewed, as times are.
            found = estimate([random.expovariate(1.0) for _ in range(count)])
            held += found.low <= 0.6931 <= found.high
        assert held / 2_000 >= found.coverage - 0.03


def test_nothing_has_no_median():
    with pytest.raises(ValueError, match="no rounds"):
        estimate([])


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([110, 120, 130, 115, 111], "better"),
        ([90, 80, 70, 85, 99], "worse"),
        ([110, 120, 130, 115, 99], "none"),
        ([200, 200], "none"),
    ],
)
def test_a_difference_needs_rounds_that_agree(ours, verdict):
    theirs = rounds([100.0] * len(ours))
    assert compare(rounds(ours), theirs, "tps").verdict == verdict
    # Of CPU time, less is better.
    opposite = {"better": "worse", "worse": "better", "none": "none"}
    cost = "client_cpu_us_per_op"
    assert compare(rounds(ours, name=cost), rounds([100.0] * len(ours), name=cost), cost).verdict == opposite[verdict]


def test_a_percentile_needs_samples():
    few, many = rounds([1.0] * 5, 999, "p99_us"), rounds([2.0] * 5, 1_000, "p99_us")
    assert compare(few, many, "p99_us") is None
    assert compare(many, many, "p99_us").estimate.median == 1


def test_a_ratio_that_is_not_shown_is_not_quoted():
    ratio = compare(rounds([150, 99, 150, 150, 150]), rounds([100] * 5), "tps")
    text = in_words({"median": ratio.estimate.median, "low": 0.99, "high": 1.5, "verdict": ratio.verdict})
    assert text == "no difference shown (0.99 to 1.50)"


def test_a_round_that_did_nothing_counts_against_us():
    stalled = rounds([110.0, 120.0, 0.0, 0.0, 0.0])
    found = compare(stalled, rounds([100.0] * 5), "tps")
    assert (found.estimate.median, found.estimate.low, found.estimate.rounds) == (0, 0, 5)
    # It is never a round less: the other four would have looked better.
    assert compare(rounds([0.0, 110, 120, 130, 140]), rounds([100.0] * 5), "tps").verdict == "none"
    assert compare(rounds([0.0] * 5), rounds([100.0] * 5), "tps").verdict == "worse"
    # To nothing there is no ratio, and no records take no time.
    assert compare(rounds([1.0]), rounds([0.0]), "tps") is None
    assert compare(rounds([0.0], name="p50_us"), rounds([1.0], name="p50_us"), "p50_us") is None


class EveryThirdFails:
    """A client whose every third read fails, at once; the others take a moment."""

    def __init__(self):
        self.begun = 0

    def calls(self):
        return self

    def native(self):
        return self

    @property
    def names(self):
        return {"get": self.get, "make_key": lambda namespace, set_name, number: number}

    async def get(self, key):
        self.begun += 1
        if self.begun % 3 == 0:
            raise OSError("refused")
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("name", ["gather", "queue", "chains"])
def test_reads_that_fail_are_no_throughput(name):
    client = EveryThirdFails()
    spec = RunSpec("pac-async", "", keys=100, tasks=6, duration=0.05, warmup=0.0, program=name)
    kept = []

    class Kept(Meter):
        def __post_init__(self):
            super().__post_init__()
            kept.append(self)

        def goes_on(self):
            # Ends by count, not by time: a slow machine begins few reads in it.
            super().goes_on()
            return client.begun < 60

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "Meter", Kept)
        asyncio.run(programs.WAITING[name](spec, client))
    (meter,) = kept
    assert meter.errors == client.begun // 3 > 0
    assert meter.done == client.begun - meter.errors
    assert len(meter.latencies) <= meter.done


def test_a_difference_that_is_shown_never_reads_as_one():
    ratio = compare(rounds([99.9, 99.8, 99.7, 99.96, 99.9]), rounds([100.0] * 5), "tps")
    found = {"median": ratio.estimate.median, "low": ratio.estimate.low, "high": ratio.estimate.high}
    assert in_words(found | {"verdict": ratio.verdict}) == "0.9990 (0.9970 to 0.9996)"
    assert in_words({"median": 1.5, "low": 1.2, "high": 2.0, "verdict": "better"}) == "1.50 (1.20 to 2.00)"


@pytest.mark.parametrize("quick", [True, False])
def test_the_groups_of_a_study(quick):
    found = list(groups(RunSpec("pac-blocking", ""), quick))
    names = [group.cell_id(cell) for group in found for cell in group.cells]
    assert len(set(names)) == len(names)
    for group in found:
        labels = {cell.label for cell in group.cells}
        assert group.section in SECTIONS and labels >= {label for pair in group.pairs for label in pair}
        assert labels >= set(group.notes)
        assert len({(cell.spec.conditions, cell.spec.bins) for cell in group.cells}) == 1
        # Their rounds are compared by figures that a report has names for.
        assert {named(figure, [{"unit": group.unit}]) for figure in group.figures}
    assert any(group.section == "conditions" for group in found)
    assert list(groups(RunSpec("pac-blocking", ""), quick)) == found


def test_only_embedded_clusters_are_slow_on_demand(tmp_path, monkeypatch):
    options = ["--sections", "conditions", "--rounds", "1", "-H", "h:1", "--label", "a real one"]
    options += ["--server", "another=o:1"]
    wanted = settings(parser().parse_args(options))
    assert wanted.server.startswith("a real one; another; slow conditions: embedded cluster")
    started, measured = [], {}

    def start(spec, nodes):
        started.append(spec.conditions)
        return contextlib.nullcontext(SimpleNamespace(seeds=f"embedded:{len(started)}"))

    def ask(job, spec, *rest):
        if job == "run":
            measured.setdefault(spec.seeds, set()).add(spec.conditions)
        return measure.child.Answer(figures=figures(1.0))

    monkeypatch.setattr(measure, "start", start)
    monkeypatch.setattr(measure.child, "ask", ask)
    monkeypatch.setattr(measure.rust, "ask", ask)
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, wanted)
    measure.run(measure.plan(wanted), journal, lambda text: None)
    assert measured.pop("h:1") == measured.pop("o:1") == {Conditions()}
    slow = {condition for condition in CONDITIONS.values() if condition != Conditions()}
    assert set(started) == slow and len(started) == len(slow) == len(measured)
    assert all(conditions == {started[int(seeds.partition(":")[2]) - 1]} for seeds, conditions in measured.items())


def test_another_python_is_compared_with_this_one(tmp_path, monkeypatch):
    """The script stands for an interpreter of another version: it has Aerolane, and says that it is another one."""
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\ncase "$1" in -c) echo 3.99.0t;; *) exec {sys.executable} "$@";; esac\n')
    other.chmod(0o755)
    wanted = settings(parser().parse_args(["--quick", "--sections", "interpreters", "--other-python", str(other)]))
    (group,) = measure.plan(wanted)
    assert [cell.python for cell in group.cells] == [str(other), "", str(other)]
    assert group.pairs == (
        ("aerolane.native on 3.99.0t", f"aerolane.native on {python_name()}"),
        ("aerolane.native on 3.99.0t", "aerospike-native on 3.99.0t"),
    )
    assert not measure.plan(replace(wanted, other_python=""))
    asked = []

    def ask(job, spec, python="", before=()):
        asked.append(python)
        return measure.child.Answer(figures=figures(1.0))

    monkeypatch.setattr(measure.child, "ask", ask)
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, replace(wanted, rounds=1, hosts="h:1", label="x"))
    measure.run([group], journal, print)
    assert asked == ["", str(other), "", str(other)]
    assert Journal.open(journal.path).settings == journal.settings


@pytest.mark.parametrize(
    ("python", "text"),
    [("/nowhere/python", "does not run"), (sys.executable, "as this one"), (shutil.which("false"), "has no Aerolane")],
)
def test_a_python_that_will_not_do(python, text, capsys):
    with pytest.raises(SystemExit):
        main(["--plan", "--other-python", python])
    assert text in capsys.readouterr().err


def test_the_quick_study_takes_less_than_four_minutes():
    wanted = settings(parser().parse_args(["--quick"]))
    assert measure.seconds(measure.plan(wanted), wanted) < 240
    assert not set(NOT_QUICK) & set(wanted.sections)
    # They are there for those who ask.
    asked = settings(parser().parse_args(["--quick", "--sections", ",".join(NOT_QUICK)]))
    assert {group.section for group in measure.plan(asked)} == set(NOT_QUICK)


SETTINGS = replace(settings(parser().parse_args(["--quick"])), rounds=5)
ENVIRONMENT = Environment.now("made by a test")


def figures(tps, cpu=5.0):
    return {
        "tps": tps,
        "client_cpu_us_per_op": cpu,
        "p50_us": 100.0,
        "p99_us": 200.0,
        "samples": 5_000,
        "errors": 1,
        "timeouts": 2,
        "histograms": {"reads": [[100_000, 4_900], [200_000, 100]]},
    }


def a_group(pairs=(("pac-async", "peer-native-async"),)):
    cells = tuple(Cell(mode, RunSpec(mode, "")) for mode in ("pac-async", "peer-native-async", "peer-apy-async"))
    return Group("single", "32 <tasks>", cells, pairs)


def journal_of(path, ours, theirs):
    journal = Journal.begin(path, ENVIRONMENT, SETTINGS)
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        journal.add(Line("single: 32 <tasks>, memory: pac-async", number, figures(our)))
        journal.add(Line("single: 32 <tasks>, memory: peer-native-async", number, figures(their)))
    journal.add(Line("single: 32 <tasks>, memory: peer-apy-async", 0, missing="aerospike_py is not installed"))
    return journal


def test_results_keep_every_round(tmp_path):
    journal = journal_of(tmp_path / "rounds.jsonl", [110.0, 120, 130, 140, 150], [100.0] * 5)
    found = results.results([a_group()], journal)
    (group,) = found["groups"]
    ours, theirs, missing = group["cells"]
    assert [round_["tps"] for round_ in ours["rounds"]] == [110, 120, 130, 140, 150]
    assert ours["figures"]["tps"] == {"median": 130, "low": 110, "high": 150, "coverage": 0.9375, "rounds": 5}
    assert (ours["errors"], ours["merged"]["samples"]) == (15, 25_000)
    # 98 of 100 samples are the shorter ones.
    assert (ours["merged"]["p50_us"], ours["merged"]["p99_us"]) == (100, 200)
    assert missing["missing"] == "aerospike_py is not installed" and not missing["rounds"]
    (comparison,) = group["comparisons"]
    assert comparison["ratios"]["tps"]["verdict"] == "better"
    assert comparison["ratios"]["client_cpu_us_per_op"]["verdict"] == "none"
    assert theirs["settings"]["mode"] == "peer-native-async" and "security" not in theirs["settings"]


def test_what_goes_against_us_comes_first(tmp_path):
    journal = journal_of(tmp_path / "rounds.jsonl", [90.0, 80, 70, 60, 50], [100.0] * 5)
    found = results.results([a_group()], journal)
    (worst,) = against_us(findings(found))
    assert (worst.figure, worst.case) == ("tps", "32 <tasks>")
    assert "worse in 1, better in 0, and 3 show no difference" in summary(found)[0]
    said = " ".join(caveats(found))
    assert "about 0 of the 4 comparisons would show a difference by chance" in said
    assert (
        "Operations failed in these cases, and are not counted as records: single: 32 <tasks>, memory: pac-async;"
        in said
    )
    text = tables.document(found)
    against, first = text.index("## Where Aerolane is worse"), text.index("## One record per call")
    assert against < first and "0.70 (0.50 to 0.90)" in text[against:first]
    assert "aerospike_py is not installed" in text


def test_ours_that_did_nothing_comes_first_of_all(tmp_path):
    pytest.importorskip("matplotlib")
    from aerolane.bench.study import plots

    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", [0.0] * 5, [100.0] * 5))
    assert found["groups"][0]["cells"][0]["figures"]["tps"]["median"] == 0
    (worst,) = against_us(findings(found))
    assert (worst.figure, worst.distance) == ("tps", math.inf)
    assert "<svg" in plots.heat_map(found, "single")[0] and "Infinity" not in json.dumps(found)


def test_rounds_that_are_too_few_are_said_to_be(tmp_path):
    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", [90.0, 80.0], [100.0] * 2))
    assert "rounds are too few to show any difference" in summary(found)[1]
    # And no figure is quoted of what they do not show.
    assert [middle for _, _, middle in by_figure(found)] == [None] * 4
    assert "| records/s | 0 | 1 | 0 | - |" in tables.document(found)


def test_nothing_to_compare_with(tmp_path):
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, SETTINGS)
    found = results.results([a_group()], journal)
    assert summary(found) == ["Nothing was compared: no other client is installed, or none ran."]


def asks(*whats):
    """A document with a place for some tables."""
    return "".join(f"# {what}\n<!-- study {what}: begin -->\nold\n<!-- study {what}: end -->\n" for what in whats)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("machine", "5 rounds of"),
        ("worst", "Aerolane is worse in none of the comparisons."),
        ("ratios", "| 32 <tasks> | pac-async / peer-native-async | 1.10 (1.10 to 1.10) |"),
        ("brief aerospike-native", ", in memory | aerospike-native | 0 / 3 / 1 | 1.10 | 1.00? |"),
        ("figures single", "| pac-async | 15 | 110 (110 to 110) |"),
    ],
)
def test_tables_of_a_document(tmp_path, form, said):
    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", [110.0] * 5, [100.0] * 5))
    document = asks(f"slow {form}", "fast ratios")
    text = documents.insert(document, "slow", found)
    assert text.startswith(f"# slow {form}\n<!-- study slow {form}: begin -->\n")
    assert said in text and text.count("old") == 1 and text.endswith(asks("fast ratios"))
    assert documents.insert(text, "slow", found) == text


def test_tables_show_no_difference_that_the_rounds_do_not(tmp_path):
    rates = [90.0, 120, 100, 95, 130], [100.0] * 5
    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", *rates))
    assert "| (0.90 to 1.30) |" in documents.insert(asks("s ratios"), "s", found)
    assert "| no difference shown (0.90 to 1.30) |" in documents.insert(asks("s figures"), "s", found)
    assert "| 1.00? |" in documents.insert(asks("s brief"), "s", found)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("no markers", "needs a line"),
        (asks("fast ratios"), "needs a line"),
        (asks(""), "needs a line"),
        (asks("slow nonsense"), "the forms"),
        (asks("slow"), "the forms"),
        (asks("slow ratios nonsense"), "the sections"),
        (asks("slow ratios aerospike-py"), "the sections"),
        (asks("slow brief nonsense"), "sections and clients"),
        ("<!-- study slow ratios: begin -->\n", "no other one"),
        ("<!-- study slow ratios: end -->\n" + asks("slow ratios"), "no other one"),
        ("<!-- study slow brief: begin -->\n" + asks("slow ratios"), "do not end"),
        ("<!-- study slow brief: begin -->\n<!-- study slow ratios: end -->\n", "do not end"),
    ],
)
def test_documents_that_ask_for_nothing_or_for_nonsense(tmp_path, document, text):
    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", [1.0], [1.0]))
    with pytest.raises(documents.MarkerError, match=text):
        documents.insert(document, "slow", found)


def test_the_page_needs_nothing_else(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from aerolane.bench.study.page import page

    found = results.results([a_group()], journal_of(tmp_path / "rounds.jsonl", [90.0, 80, 70, 60, 50], [100.0] * 5))
    text = page(found)
    assert text.count("<svg") == 2 and "<script" not in text and "src=" not in text
    assert "32 &lt;tasks&gt;" in text and "<tasks>" not in text
    assert text.index("Where Aerolane is worse") < text.index("0.70 (0.50 to 0.90)") < text.index("<svg")
    # The same figures give the same file.
    assert page(found) == text


def test_a_journal_goes_on(tmp_path):
    path = tmp_path / "rounds.jsonl"
    journal_of(path, [1.0, 2, 3], [1.0, 2, 3])
    whole = path.read_text()
    path.write_text(whole[:-20])
    again = Journal.open(path)
    assert len(again.lines) == 6 and path.read_text() == whole[: whole[:-20].rfind("\n") + 1]
    again.add(Line("more", 0, figures(1.0)))
    assert Journal.open(path).lines[-1] == Line("more", 0, figures(1.0))
    again.check(replace(ENVIRONMENT, made="later", load_before=9.0, command="another"), SETTINGS)
    with pytest.raises(JournalError, match=r"another value of rounds"):
        again.check(ENVIRONMENT, replace(SETTINGS, rounds=6))
    with pytest.raises(JournalError, match=r"another versions"):
        again.check(replace(ENVIRONMENT, versions={}), SETTINGS)
    with pytest.raises(JournalError, match="is there already"):
        Journal.begin(path, ENVIRONMENT, SETTINGS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no rounds"),
        ("nonsense\n", "holds no rounds"),
        ("[]\n", "holds no rounds"),
        ('{"schema": 99}\n', "of version 99"),
        ('{"schema": 1, "settings": {}, "environment": {}}\n', "holds no rounds"),
    ],
)
def test_a_file_that_is_no_journal(tmp_path, text, message):
    path = tmp_path / "rounds.jsonl"
    path.write_text(text)
    with pytest.raises(JournalError, match=message):
        Journal.open(path)


def test_results_that_are_none(tmp_path):
    with pytest.raises(JournalError, match="cannot read"):
        results.load(tmp_path)
    packed = tmp_path / "results.json.gz"
    for content in (b"", b"nonsense", gzip.compress(b"{}")[:-9], gzip.compress(b"{}")):
        packed.write_bytes(content)
        with pytest.raises(JournalError, match="gz holds no results"):
            results.load(tmp_path)
    packed.write_bytes(gzip.compress(json.dumps({"schema": SCHEMA, "groups": []}).encode()))
    assert results.load(tmp_path)["groups"] == []
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(JournalError, match="json holds no results"):
        results.load(tmp_path)


def test_a_client_that_is_missing_is_asked_once(tmp_path, monkeypatch):
    asked = []

    def ask(job, spec, python="", before=()):
        asked.append((job, spec.mode))
        if spec.mode == "peer-apy-async":
            return measure.child.Answer(missing="not installed")
        if spec.mode == "peer-native-async":
            return measure.child.Answer(failure="broken")
        return measure.child.Answer(figures=figures(1.0))

    monkeypatch.setattr(measure.child, "ask", ask)
    told = []
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, replace(SETTINGS, hosts="127.0.0.1:1", label="x"))
    measure.run([a_group()], journal, told.append)
    assert asked.count(("run", "pac-async")) == 5 and asked.count(("run", "peer-apy-async")) == 1
    assert asked.count(("run", "peer-native-async")) == 1 and any("broken" in text for text in told)
    # Turns: whoever came first comes last in the next round.
    assert [mode for job, mode in asked if job == "run"][:4] == [
        "pac-async",
        "peer-native-async",
        "peer-apy-async",
        "pac-async",
    ]
    # What is there is not measured again; what failed is.
    asked.clear()
    measure.run([a_group()], Journal.open(journal.path), told.append)
    assert asked == [("load", "pac-blocking"), ("run", "peer-native-async")]


def test_records_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(measure.child, "ask", lambda *asked: child.Answer(failure="no cluster"))
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, replace(SETTINGS, hosts="127.0.0.1:1", label="x"))
    with pytest.raises(LoadError, match="no cluster"):
        measure.run([a_group()], journal, print)


RUST_HARNESS = """#!{python}
import json, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert options["--client"] in ("core-async", "aerolane-async") and options["--set"] == "rust", options
with open({log!r}, "a") as log:
    print(" ".join(sys.argv[1:]), file=log)
if {fails}:
    sys.exit("error: no cluster at that address")
figures = dict(schema={schema}, tps=2e5, client_cpu_us_per_op=3.0, p50_us=90.0, p99_us=180.0, samples=4000)
figures |= dict(errors=0, timeouts=0)
print(json.dumps(figures | dict(spread={{}}, each_round=[{{}}])))
"""


def rust_harness(tmp_path, monkeypatch, fails=False, schema=1):
    """A program that has the options and the figures of `aerolane-bench`; gives what it was called with."""
    log, program = tmp_path / "log", tmp_path / "aerolane-bench"
    program.write_text(RUST_HARNESS.format(python=sys.executable, log=str(log), fails=fails, schema=schema))
    program.chmod(0o755)
    monkeypatch.setenv("AEROLANE_BENCH", str(program))
    monkeypatch.setattr(measure.child, "ask", lambda *asked: child.Answer(figures=figures(1.0)))
    return lambda: log.read_text().splitlines()


def a_rust_group():
    cells = tuple(Cell(mode, RunSpec(mode, "", tasks=7)) for mode in ("aerolane-async", "core-async"))
    return Group("rust", "7 tasks", cells, (("aerolane-async", "core-async"),))


def rust_journal(tmp_path):
    settings_ = replace(SETTINGS, rounds=2, hosts="127.0.0.1:1", label="x")
    return Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, settings_)


def test_rust_clients_are_measured_by_their_own_harness(tmp_path, monkeypatch):
    called = rust_harness(tmp_path, monkeypatch)
    journal = rust_journal(tmp_path)
    measure.run([a_rust_group()], journal, print)
    first, *others = called()
    assert "--load" in first and len(others) == 4 and all("--no-load" in call for call in others)
    assert all("--host 127.0.0.1:1" in call and "--tasks 7" in call for call in others)
    (group,) = results.results([a_rust_group()], journal)["groups"]
    assert [cell["figures"]["tps"]["median"] for cell in group["cells"]] == [2e5, 2e5]
    assert group["cells"][0]["merged"] == {"samples": 8000} and group["cells"][1]["errors"] == 0
    (comparison,) = group["comparisons"]
    assert comparison["peer"] and comparison["ratios"]["tps"]["median"] == 1


def test_without_the_rust_harness_its_rows_are_missing(tmp_path, monkeypatch):
    rust_harness(tmp_path, monkeypatch)
    monkeypatch.setenv("AEROLANE_BENCH", str(tmp_path / "nowhere"))
    told = []
    journal = rust_journal(tmp_path)
    measure.run([a_rust_group()], journal, told.append)
    assert any("left out: aerolane-bench is not there" in text for text in told)
    (group,) = results.results([a_rust_group()], journal)["groups"]
    assert all("AEROLANE_BENCH" in cell["missing"] for cell in group["cells"])


def test_a_rust_harness_that_fails_is_told(tmp_path, monkeypatch):
    rust_harness(tmp_path, monkeypatch, fails=True)
    with pytest.raises(LoadError, match="no cluster at that address"):
        measure.run([a_rust_group()], rust_journal(tmp_path), print)
    monkeypatch.setenv("AEROLANE_BENCH", shutil.which("true"))
    assert "another version" in rust.ask("run", RunSpec("core-async", "")).failure
    rust_harness(tmp_path, monkeypatch, schema=99)
    assert "of version 99, this program reads 1" in rust.ask("run", RunSpec("core-async", "")).failure


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sections", "none"],
        ["--hosts", "localhost:3000"],
        ["--label", "mine"],
        ["--rounds", "0"],
        ["--plan", "--render"],
    ],
)
def test_bad_options(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2 and "error:" in capsys.readouterr().err


def test_a_small_study(tmp_path):
    """A real one: patterns and writers of ours, on an embedded cluster."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    folder = tmp_path / "report"
    command = [sys.executable, "-m", "aerolane.bench", "report", "--quick", "--output", str(folder), "--rounds", "1"]
    command += ["-d", "0.1", "--warmup", "0.05", "-k", "1000", "--nodes", "1", "--sections", "writing,patterns"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=os.environ)
    assert done.returncode == 0, done.stderr
    found = results.load(folder)
    cells = {cell["label"]: cell for group in found["groups"] for cell in group["cells"] if not cell["missing"]}
    ours = ("writer, asyncio", "writer, failures only", "writer, blocking", "512 single puts", "aerolane.native, queue")
    ours += ("aerolane.native, gather", "aerolane.native, execute_concurrent_with_args")
    for label in ours:
        assert cells[label]["rounds"][0]["tps"] > 0 and cells[label]["errors"] == 0, label
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    # Nothing is left to do, and other options do not go with what is there.
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, timeout=240, env=os.environ)
    assert again.returncode == 0 and "about 0 seconds" in again.stderr
    other = subprocess.run([*command, "--resume", "--nodes", "2"], capture_output=True, text=True, env=os.environ)
    assert other.returncode == 1 and "another value of nodes" in other.stderr
    assert json.loads((folder / "results.json").read_text()) == found


@pytest.fixture(scope="module")
def loaded():
    with EmbeddedCluster(1, 1, "test") as cluster:
        answer = child.ask("load", RunSpec("pac-blocking", cluster.seeds, keys=500, bins="S200", ticker=False))
        assert answer.figures, answer
        yield cluster.seeds


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        *((name, "pac-async") for name in programs.WAITING),
        *((name, "pac-blocking") for name in programs.BLOCKING),
        ("processes", "pac-async"),
    ],
)
def test_every_program_works(loaded, name, mode):
    spec = RunSpec(mode, loaded, keys=500, bins="S200", tasks=20, threads=2, duration=0.3, warmup=0.1, program=name)
    answer = child.ask("run", spec)
    figures = answer.figures
    assert figures and figures["tps"] > 0 and figures["errors"] == figures["timeouts"] == 0, answer
    assert figures["schema"] == 1 and figures["program"] == name
    if name == "unthrottled":
        times, sizes = zip(*figures["memory"], strict=True)
        assert len(times) > 1 and list(times) == sorted(times)
        # The kernel's own figures of now and of the peak are some pages apart.
        assert figures["peak_rss_bytes"] / 2 < max(sizes) < figures["peak_rss_bytes"] * 2
    if name == "processes":
        assert figures["processes"] == 2
    if name.startswith("paced-"):
        # A thousand a second for 0.3 s, or fewer where the machine is slow.
        assert 0 < figures["samples"] <= 400 and figures["p50_us"] > 0


def test_a_process_that_fails_is_told(loaded):
    spec = RunSpec(
        "pac-async", "127.0.0.1:1", keys=500, tasks=2, threads=2, duration=0.1, warmup=0, program="processes"
    )
    answer = child.ask("run", spec)
    assert answer.figures is None and answer.failure, answer


def test_processes_are_put_together():
    one = {"records": 100, "tps": 10.0, "errors": 1, "timeouts": 0, "peak_rss_bytes": 5, "client_cpu_us_per_op": 1.0}
    one |= {"voluntary_switches_per_op": 0.5, "involuntary_switches_per_op": 0.0, "histograms": {"all": [[1000, 9]]}}
    other = one | {"records": 300, "tps": 30.0, "client_cpu_us_per_op": 3.0, "histograms": {"all": [[2000, 1]]}}
    figures = processes.together(RunSpec("pac-async", "", program="processes"), [one, other])
    assert (figures["tps"], figures["records"], figures["errors"], figures["peak_rss_bytes"]) == (40.0, 400, 2, 10)
    # Each record counts the same, not each process.
    assert (figures["client_cpu_us_per_op"], figures["voluntary_switches_per_op"]) == (2.5, 0.5)
    assert (figures["samples"], figures["processes"], figures["p50_us"]) == (10, 2, 1.0)


STRACE_SAID = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.54    0.000016           2         7         1 openat
------ ----------- ----------- --------- --------- ----------------
100.00    0.000026           1        25         3 total
"""


def test_what_tools_say_of_system_calls():
    assert syscalls.STRACE.read(STRACE_SAID) == 25
    assert syscalls.STRACE.read(STRACE_SAID.replace(" 3 total", "   total")) == 25
    assert syscalls.PERF.read("# started on Monday\n\n4321,,raw_syscalls:sys_enter,0,100.00,,\n") == 4321
    assert syscalls.PERF.read("<not counted>,,raw_syscalls:sys_enter,0,100.00,,\n") is None
    assert syscalls.STRACE.read("") is None


def test_system_calls_are_those_of_the_longer_run_less_those_of_the_shorter(monkeypatch):
    counting = syscalls.Tool("counts", ("-o",), syscalls.re.compile(r"(\d+)"))
    monkeypatch.setattr(syscalls, "tool", lambda: counting)
    ran = []

    def ask(spec, before):
        ran.append((spec.duration, spec.warmup, tuple(before)[:2]))
        if before:
            # 5,000 calls to start, and three for a record.
            with open(before[2], "w") as file:
                file.write(str(int(5_000 + 3 * 1_000 * spec.duration)))
        return child.Answer(figures={"tps": 1_000.0, "duration_s": spec.duration, "p50_us": 7.0})

    answer = syscalls.measure(RunSpec("pac-async", "", duration=2.0, warmup=1.0), ask)
    assert answer.figures["syscalls_per_op"] == pytest.approx(3.0) and answer.figures["p50_us"] == 7.0
    assert answer.figures["calls_counted_by"] == "counts"
    assert ran == [(2.0, 1.0, ()), (0.4, 0.0, ("counts", "-o")), (1.4, 0.0, ("counts", "-o"))]
    assert (
        "no more records"
        in syscalls.measure(
            RunSpec("pac-async", ""), lambda spec, before: ask(replace(spec, duration=1.0), before)
        ).failure
    )
    monkeypatch.setattr(syscalls, "tool", lambda: None)
    assert "neither perf nor strace" in syscalls.measure(RunSpec("pac-async", ""), ask).missing


def test_a_tool_counts_calls_here():
    tool = syscalls.tool()
    if tool is None:
        pytest.skip("neither perf nor strace is installed and may count")
    assert syscalls._counts(tool)


def test_what_is_missing_for_a_service_is_not_missing_for_its_client(tmp_path, monkeypatch):
    def ask(job, spec, python="", before=()):
        if spec.program.startswith("predict-") and job == "run":
            return measure.child.Answer(missing="torch not installed")
        return measure.child.Answer(figures=figures(1.0))

    monkeypatch.setattr(measure.child, "ask", ask)
    names = ("predict-single", "", "features-gather")
    cells = tuple(Cell(name or "plain", RunSpec("pac-async", "", program=name)) for name in names)
    group = Group("services", "x", cells, ())
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, replace(SETTINGS, rounds=1, hosts="h:1", label="x"))
    measure.run([group], journal, lambda text: None)
    assert [line.missing for line in journal.lines] == ["torch not installed", "", ""]


def test_other_servers_are_conditions(tmp_path, monkeypatch):
    wanted = settings(parser().parse_args(["--quick", "--sections", "conditions", "--server", "SSD file=h:3200,i"]))
    assert wanted.servers == (("SSD file", "h:3200,i"),) and wanted.server.endswith("in memory; SSD file")
    plan = measure.plan(wanted)
    (there,) = [group for group in plan if group.hosts]
    assert (there.condition, there.hosts, there.section) == ("SSD file", "h:3200,i", "conditions")
    asked = []

    def ask(job, spec, python="", before=()):
        asked.append(spec.seeds)
        return child.Answer(figures=figures(1.0))

    monkeypatch.setattr(measure.child, "ask", ask)
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, replace(wanted, rounds=1))
    measure.run([there], journal, lambda text: None)
    assert set(asked) == {"h:3200,i"} and Journal.open(journal.path).settings.servers == wanted.servers
    assert list(groups(RunSpec("pac-blocking", ""), True, None, (Server("a", "h:1"),)))
    for text in ("no hosts", "=h:1", "x="):
        with pytest.raises(SystemExit):
            main(["--plan", "--server", text])


def test_all_conditions_at_one_glance(tmp_path):
    pytest.importorskip("matplotlib")
    from aerolane.bench.study import plots

    journal = journal_of(tmp_path / "rounds.jsonl", [90.0, 80, 70, 60, 50], [100.0] * 5)
    slow = replace(a_group(), section="conditions", condition="50 µs <in service>")
    for number in range(5):
        for mode in ("pac-async", "peer-native-async"):
            journal.add(Line(f"conditions: 32 <tasks>, 50 µs <in service>: {mode}", number, figures(100.0)))
    found = results.results([a_group(), slow], journal)
    assert by_figure(found)[0] == ("records/s", {"worse": 1, "none": 1, "better": 0}, pytest.approx(0.85))
    text = plots.overview(found)
    # A long name stands below the figure, which is as high as it needs: matplotlib would warn.
    long = "a server whose name says all that there is to say of it, its storage, its nodes and its copies"
    journal.add(Line(f"conditions: 32 <tasks>, {long}: pac-async", 0, figures(1.0)))
    journal.add(Line(f"conditions: 32 <tasks>, {long}: peer-native-async", 0, figures(1.0)))
    text_of_long = plots.overview(results.results([a_group(), replace(slow, condition=long)], journal))
    assert ">server 1</text>" in text_of_long and f"server 1: {long}" in text_of_long
    assert "50 µs &lt;in service&gt;" in text and text.count("32 &lt;tasks&gt;: pac-async / peer-native-async") == 1
    # One condition is no comparison of conditions.
    assert plots.overview(results.results([a_group()], journal)) == ""


def test_stages_sets_and_errors_have_tables(tmp_path):
    journal = Journal.begin(tmp_path / "rounds.jsonl", ENVIRONMENT, SETTINGS)
    stages = {"read": {"count": 5, "mean_ms": 2.0, "p50_ms": 1.5, "p95_ms": 4.0}}
    sets = {"features_1": {"mean_us": 1_500.0, "p99_us": 2_500.0, "found": 1.0}}
    sample = [{"message": "TimeoutError: x | y", "count": 3}]
    for number in range(2):
        more = {"stages": stages, "sets": sets, "error_samples": sample, "p95_us": 4.0, "syscalls_per_op": 0.5}
        journal.add(Line("single: 32 <tasks>, memory: pac-async", number, figures(1.0) | more))
    found = results.results([replace(a_group(), unit="request", figures=("tps", "p95_us"))], journal)
    text = tables.document(found)
    assert "| pac-async | 2 / 1.5 / 4 |" in text and "| features_1 | 100% | 1.5 / 2.5 |" in text
    assert "TimeoutError: x \\| y" in text
    head = tables.cells(found["groups"][0])[0]
    assert "requests/s" in head and "p95 µs" in head and "system calls/request" in head


@pytest.mark.skipif(rust.find() is None, reason="aerolane-bench is not built")
def test_both_harnesses_have_one_form():
    spec = RunSpec("floor-async", "", tasks=2, duration=0.1, warmup=0.0, ticker=False)
    ours, theirs = child.ask("run", spec).figures, rust.ask("run", spec).figures
    assert theirs["schema"] == ours["schema"] == 1
    # What only one of them can say.
    assert theirs.keys() - ours.keys() <= {"idle_tasks"}
    assert theirs["reads"].keys() == ours["reads"].keys()
    assert theirs["histograms"].keys() == ours["histograms"].keys()
    assert sum(count for _, count in theirs["histograms"]["reads"]) == theirs["reads"]["samples"]
