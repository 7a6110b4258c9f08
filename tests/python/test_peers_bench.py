"""The load harness on other clients, where they are installed (`make test-peers`)."""

import importlib.util
import json
import subprocess
import sys
from shlex import split

import pytest

from aerolane.bench.modes import MODES

PEERS = [name for name in MODES if name.startswith(("peer-", "legacy-"))]
MORE = {
    "peer-sdk-sync": ["--no-fast-path", "--services-alternate", "-w RMU"],
    "peer-sdk-async": ["--no-fast-path", "--pool-loops 2", "-w RR,50"],
    "peer-native-blocking": ["--current-thread-runtime", "--batch-size 4", "-w Q --touch-bins", "-w LG -o L8"],
    "peer-native-async": ["--pool-loops 2", "--batch-size 4", "-w Q --touch-bins", "-w LG -o L8"],
    "peer-apy-sync": ["--batch-size 4", "-w Q", "-w LG -o L8", "--batch-size 4 -w RU,100 -o I8,F8,S4 --as-numpy"],
    "peer-apy-async": ["--batch-size 4", "-w Q", "-w LG -o L8", "--batch-size 4 -w RU,100 -o I8,F8,S4 --as-numpy"],
    "legacy-sync": ["--batch-size 4", "-w RMI", "-w Q --touch-bins", "-w LG -o L8"],
}


def run(mode, beside, seeds, options):
    """The reports of a run of `mode`, and of the modes `beside`."""
    if importlib.util.find_spec(MODES[mode].package) is None:
        pytest.skip(f"{MODES[mode].distribution} is not installed")
    common = "--json -d 0.4 --warmup 0.1 -k 60 --threads 2 -z 3 --lat-sample-every 2 --seed 3"
    command = [
        sys.executable,
        "-m",
        "aerolane.bench",
        "--mode",
        ",".join([mode, *beside]),
        *split(common),
        *split(options),
    ]
    # Without seeds, on a cluster of its own.
    where = ["-H", seeds] if seeds else []
    done = subprocess.run([*command, *where], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["client"] for report in reports] == [mode, *beside]
    return reports


@pytest.mark.parametrize("mode", PEERS)
def test_each_runs_beside_ours(mode, seeds, set_name):
    for report in run(mode, ["sync"], seeds, f"-s {set_name} -o I8,S4 -w RU,50"):
        assert report["tps"] > 20 and report["samples"] > 0 and report["version"], report
        assert (report["errors"], report["timeouts"], report["not_found"]) == (0, 0, 0), report


@pytest.mark.parametrize(("mode", "options"), [(mode, options) for mode, all_ in MORE.items() for options in all_])
def test_what_some_can_do_beside(mode, options, seeds, set_name):
    (report,) = run(mode, [], seeds, f"-s {set_name} {options}")
    assert report["tps"] > 20 and report["errors"] == report["timeouts"] == 0, report


@pytest.mark.parametrize("mode", PEERS)
def test_an_open_loop_offers_the_same_to_each_and_ours(mode, seeds, set_name):
    reports = run(mode, ["async"], seeds, f"-s {set_name} --rate 300")
    offered = {report["open_loop"]["offered"] for report in reports}
    assert len(offered) == 1 and 60 < offered.pop() < 200, reports
    assert all(report["samples"] > 0 for report in reports)


@pytest.mark.parametrize("mode", [mode for mode in PEERS if "apy" not in mode])
def test_each_runs_over_tls(mode):
    (report,) = run(mode, [], None, "--tls --nodes 1")
    assert report["tls"] is True and report["tps"] > 0 and report["errors"] == 0, report
