"""The short table of a study: whose rows it has, and what a row says."""

from dataclasses import replace

from aerolane.bench.spec import RunSpec
from aerolane.bench.study import documents, results
from aerolane.bench.study.cells import IN_MEMORY, LABELS, side_by_side
from aerolane.bench.study.cli import parser, settings
from aerolane.bench.study.environment import Environment
from aerolane.bench.study.journal import Journal, Line

OURS, OTHER, C_CLIENT = "pac-blocking", "peer-native-blocking", "legacy-sync"


def group(section="single", condition=IN_MEMORY, title="32 threads", modes=(OURS, OTHER)):
    return side_by_side(section, title, modes, RunSpec("", ""), condition)


def study(path, *measured, command="made by a test", **wanted):
    """Results of some groups, each with the records/s and CPU times of our rounds; the other client has 100 and 5."""
    known = {name: value for name, value in wanted.items() if name in ("label", "hosts")}
    taken = replace(settings(parser().parse_args(["--quick"])), rounds=5, **known)
    journal = Journal.begin(path, replace(Environment.now(command), processor="a test"), taken)
    for one, rates, times in measured:
        for number in range(5):
            for cell in one.cells:
                tps, cpu = (rates[number], times[number]) if cell.label == LABELS[OURS] else (100.0, 5.0)
                figures = {"tps": tps, "client_cpu_us_per_op": cpu, "samples": 5, "errors": 0, "timeouts": 0}
                journal.add(Line(one.cell_id(cell), number, figures))
    return results.results([one for one, _, _ in measured], journal)


def table(marker, study):
    """The rows of a table, and the lines below it."""
    asked = f"<!-- study a {marker}: begin -->\n<!-- study a {marker}: end -->\n"
    lines = documents.insert(asked, "a", study).splitlines()[1:-1]
    return [line.strip("| ").split(" | ") for line in lines[2:] if line.startswith("|")], lines[lines.index("") + 1 :]


SAME, FIVE = [5.0] * 5, [110.0, 120, 130, 140, 150]


def test_a_row_goes_from_the_worst_case_to_the_best(tmp_path):
    slower = group(title="1 thread"), [99.97, 99.95, 99.9, 99.98, 99.96], [4.0, 6, 5.5, 5, 5]
    ((server, other, shown, rates, times, p50, p99),), _ = table(
        "brief", study(tmp_path / "a", (group(), FIVE, [1.0] * 5), slower)
    )
    assert server.startswith("embedded cluster") and other == "aerospike-native"
    # A difference that is shown does not read as 1, and one that is not has a mark.
    assert (shown, rates, times) == ("1 / 1 / 2", "0.9996 to 1.30", "1.00? to 0.20")
    assert p50 == p99 == "-"


def test_slow_clusters_are_one_row_and_another_server_has_its_own(tmp_path):
    slow, slower = (group("conditions", name) for name in ("50 µs in service", "1,000 µs in service"))
    disk = group("conditions", "Aerospike 8, a disk")
    found, _ = table(
        "brief conditions",
        study(tmp_path / "a", (slow, FIVE, SAME), (slower, [90.0] * 5, SAME), (disk, FIVE, SAME)),
    )
    assert [(row[0], row[3]) for row in found] == [
        ("Slower servers and networks", "0.90 to 1.30"),
        ("Aerospike 8, a disk", "1.30"),
    ]


def test_sections_and_clients_may_be_chosen(tmp_path):
    batches = group("batch", modes=(OURS, C_CLIENT))
    measured = (group(), [105.0] * 5, SAME), (batches, [200.0] * 5, SAME)
    found = study(tmp_path / "a", *measured, command="a command", hosts="h:1", label="one node; memory")
    rows, below = table("brief", found)
    assert [row[:4] for row in rows] == [
        ["one node; memory", "aerospike-native", "0 / 1 / 1", "1.05"],
        ["aerospike (C client)", "0 / 1 / 1", "2.00", "1.00?"],
    ]
    assert below[0].endswith("`a command`") and below[1].startswith("* a test, ") and len(below) == 2
    assert [row[1] for row in table("brief single", found)[0]] == ["aerospike-native"]
    assert [row[1] for row in table("brief aerospike", found)[0]] == ["aerospike (C client)"]
