"""The command line as a process: signals, an outage, a file that may not grow, what it needs, what it forwards to."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import termios

import pytest
from conftest import eventually

import aerolane
from aerolane import Key

pytest.importorskip("typer")

from aerolane.cli.connection import PASSWORD_VARIABLE
from aerolane.cli.exit_codes import ExitCode

TIMEOUT = 120
# Where the package is, for processes in other directories.
PACKAGE = str(pathlib.Path(aerolane.__file__).parents[1])


class Running:
    """`aerolane` with these arguments, in a process of its own; its output goes to files."""

    def __init__(self, directory, seeds, *arguments, prelude=""):
        self._directory = directory
        program = f"{prelude}\nfrom aerolane.cli import main\nmain()"
        self._files = [(directory / name).open("wb") for name in ("stdout", "stderr")]
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)],
            cwd=directory,
            env=os.environ | {"AEROSPIKE_HOST": seeds, "PYTHONPATH": PACKAGE},
            stdin=subprocess.PIPE,
            stdout=self._files[0],
            stderr=self._files[1],
        )

    def feed(self, *rows):
        self.process.stdin.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        self.process.stdin.flush()

    def said(self, where="stderr"):
        return (self._directory / where).read_text()

    def until(self, condition):
        """Waits for `condition()`, as long as the process runs."""

        def holds():
            ended = self.process.poll() is not None
            assert condition() or not ended, f"ended with {self.process.returncode}: {self.said()}"
            return condition()

        eventually(holds, self.said)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """The exit code."""
        self.process.stdin.close()
        code = self.process.wait(TIMEOUT)
        self.close()
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for file in (self.process.stdin, *self._files):
            file.close()


@pytest.fixture
def start(tmp_path, seeds):
    """`start(*arguments, on=None, prelude="")`: a running command in an empty directory."""
    running = []

    def make(*arguments, on=None, prelude=""):
        running.append(Running(tmp_path, on or seeds, *arguments, prelude=prelude))
        return running[-1]

    yield make
    for one in running:
        one.close()


@pytest.fixture
def checkpoint(tmp_path):
    """`checkpoint()`: the state that the file `checkpoint` holds; `None`: it is not there yet."""

    def state():
        path = tmp_path / "checkpoint"
        return json.loads(path.read_text())["state"] if path.exists() else None

    return state


def rows(first, last):
    return [{"id": n, "n": n} for n in range(first, last + 1)]


def loading(set_name, *options, file="-"):
    return [
        "load",
        file,
        "-s",
        set_name,
        "-k",
        "id",
        "--format",
        "jsonl",
        "--checkpoint",
        "checkpoint",
        "--json",
        *options,
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_load_and_says_what_is_confirmed(start, checkpoint, client, set_name, number):
    load = start(*loading(set_name))
    load.feed(*rows(1, 1000))
    load.until(lambda: (checkpoint() or {}).get("done") == 1000)
    load.signal(number)
    assert load.process.wait(TIMEOUT) == ExitCode.INTERRUPTED, load.said()
    summary = json.loads(load.said("stdout"))
    assert (summary["confirmed"], summary["unfinished"], summary["done"]) == (1000, 0, 1000)
    assert not summary["complete"] and "interrupted" in load.said()
    assert all(client.get_blocking(Key("test", set_name, n)).bins == {"n": n} for n in (1, 500, 1000))
    load = start(*loading(set_name))
    load.feed(*rows(1, 1200))
    assert load.end() == ExitCode.OK, load.said()
    summary = json.loads(load.said("stdout"))
    assert (summary["resumed_after"], summary["rows"], summary["confirmed"]) == (1000, 200, 200)
    generations = [client.get_blocking(Key("test", set_name, n)).generation for n in range(1, 1201)]
    assert set(generations) == {1}, "no row was written twice"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_load_that_waits_for_its_first_row(start, set_name, number):
    # The signal comes in the very wait.
    prelude = f"""
import os, select
wait = select.select
def signalled(*arguments):
    os.kill(os.getpid(), {int(number)})
    return wait(*arguments)
select.select = signalled
"""
    load = start(*loading(set_name), prelude=prelude)
    assert load.process.wait(TIMEOUT) == ExitCode.INTERRUPTED, load.said()
    assert "interrupted" in load.said()


def test_a_second_signal_gives_up_what_has_no_outcome(start, checkpoint, new_cluster, connect, set_name):
    cluster = new_cluster(nodes=1)
    load = start(*loading(set_name, "--give-up-after", 600), on=cluster.seeds)
    load.feed(*rows(1, 100))
    load.until(lambda: (checkpoint() or {}).get("done") == 100)
    with cluster.inject("stall", on=["write", "batch"]):
        load.feed(*rows(101, 150))
        load.until(lambda: "150 rows read" in load.said())
        load.signal(signal.SIGINT)
        load.until(lambda: "waiting for the outcomes of 50 rows" in load.said())
        load.signal(signal.SIGINT)
        assert load.process.wait(TIMEOUT) == ExitCode.INTERRUPTED, load.said()
    summary = json.loads(load.said("stdout"))
    assert (summary["confirmed"], summary["unfinished"], summary["done"]) == (100, 50, 100)
    assert (checkpoint()["done"], checkpoint()["beyond"]) == (100, [])


def test_a_load_that_was_killed_goes_on(start, checkpoint, tmp_path, client, set_name):
    bad = range(97, 4000, 100)
    with open(tmp_path / "all.jsonl", "w") as file:
        for row in rows(1, 4000):
            file.write("bad\n" if row["id"] in bad else json.dumps(row) + "\n")
    options = ["--rejects", "rejects"]
    load = start(*loading(set_name, *options, "--rate", 50, file="all.jsonl"))
    load.until(lambda: (checkpoint() or {}).get("done", 0) >= 100)
    load.signal(signal.SIGKILL)
    load.process.wait(TIMEOUT)
    held = checkpoint()
    assert held["done"] < 4000, "it was killed in the middle"
    load = start(*loading(set_name, *options, file="all.jsonl"))
    assert load.end() == ExitCode.REJECTED, load.said()
    summary = json.loads(load.said("stdout"))
    assert (summary["resumed_after"], summary["done"], summary["complete"]) == (held["done"], 4000, True)
    assert summary["rejected"] + summary["rejected_before"] == len(bad)
    rejected = [json.loads(line)["row"] for line in (tmp_path / "rejects").read_text().splitlines()]
    assert rejected == list(bad), "each of them once"
    generations = {n: client.get_blocking(Key("test", set_name, n)).generation for n in range(1, 4001) if n not in bad}
    certain = {n for n in generations if n <= held["done"]}
    certain |= {n for first, last in held["beyond"] for n in range(first, last + 1)}
    assert all(generations[n] == 1 for n in certain), "what the checkpoint knows was not written again"


def test_an_outage_stops_a_load_and_rejects_nothing(start, checkpoint, tmp_path, new_cluster, set_name):
    cluster = new_cluster(nodes=1)
    load = start(*loading(set_name, "--rejects", "rejects", "--give-up-after", 1), on=cluster.seeds)
    load.feed(*rows(1, 100))
    load.until(lambda: (checkpoint() or {}).get("done") == 100)
    cluster.close()
    load.feed(*rows(101, 200))
    assert load.end() == ExitCode.FAILED, load.said()
    summary = json.loads(load.said("stdout"))
    assert (summary["confirmed"], summary["rejected"], summary["done"]) == (100, 0, 100)
    assert "row 101 could not be written" in summary["error"]
    assert checkpoint()["done"] == 100
    assert (tmp_path / "rejects").read_text() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes")
def test_a_rejects_file_that_may_not_grow_has_whole_lines(start, checkpoint, tmp_path, client, set_name):
    (tmp_path / "all.jsonl").write_text("bad\n" * 100 + '{"id": 1, "n": 1}\n')
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    options = ["--rejects", "rejects"]
    load = start(*loading(set_name, *options, file="all.jsonl"), prelude=limited)
    assert load.end() == ExitCode.FILE, load.said()
    summary = json.loads(load.said("stdout"))
    told = [json.loads(line)["row"] for line in (tmp_path / "rejects").read_text().splitlines()]
    assert told == list(range(1, summary["done"] + 1)) and 0 < summary["done"] < 100
    assert "could not write rejects" in load.said()
    assert checkpoint()["done"] == summary["done"]
    load = start(*loading(set_name, *options, file="all.jsonl"))
    assert load.end() == ExitCode.REJECTED, load.said()
    told = [json.loads(line)["row"] for line in (tmp_path / "rejects").read_text().splitlines()]
    assert told == list(range(1, 101))
    assert client.get_blocking(Key("test", set_name, 1)).bins == {"n": 1}


def test_an_export_that_is_interrupted_leaves_no_file(start, tmp_path, new_cluster, connect, set_name):
    cluster = new_cluster(nodes=1)
    connect(cluster.seeds).put_blocking(Key("test", set_name, 1), {"n": 1})
    cluster.inject("stall", on="query")
    export = start("export", "-s", set_name, "-o", "out.csv", on=cluster.seeds)
    export.until(lambda: any(name.startswith(".out.csv.") for name in os.listdir(tmp_path)))
    # The temporary file is there before the query; from then on a signal ends it, whenever it comes.
    export.signal(signal.SIGINT)
    assert export.process.wait(TIMEOUT) == ExitCode.INTERRUPTED, export.said()
    assert [name for name in os.listdir(tmp_path) if "out" in name] == ["stdout"]


def test_an_embedded_cluster_runs_until_it_is_interrupted(start):
    embedded = start("embedded", "--nodes", 2, "--port", 0, "--json")
    embedded.until(lambda: embedded.said("stdout").endswith("\n"))
    seeds = json.loads(embedded.said("stdout"))["seeds"]
    with aerolane.SyncClient(seeds) as client:
        client.create_session().put(Key("test", "s", 1), {"n": 1})
    embedded.signal(signal.SIGINT)
    assert embedded.process.wait(TIMEOUT) == 0


def test_what_is_forwarded_has_its_own_help(start):
    for command, usage, option in [
        ("embedded", "Usage: aerolane-embedded", "--strong-consistency"),
        ("bench", "usage: aerolane bench", "--async-tasks"),
    ]:
        shown = start(command, "--help")
        assert shown.end() == 0, shown.said()
        assert usage in shown.said("stdout") and option in shown.said("stdout")
        refused = start(command, "--nonsense")
        assert refused.end() == ExitCode.USAGE, refused.said()


def test_bench_measures(start, seeds):
    bench = start(
        "bench", "-H", seeds, "--mode", "sync", "-d", "0.2", "--warmup", "0", "-k", "10", "--threads", "1", "--json"
    )
    assert bench.end() == 0, bench.said()
    assert json.loads(bench.said("stdout"))["tps"] > 0


def test_without_the_extra_it_says_what_to_install(start):
    without = "import sys\nimport importlib.util as util\nfind = util.find_spec\n"
    without += "util.find_spec = lambda name, *rest: None if name == 'typer' else find(name, *rest)"
    run = start("ping", prelude=without)
    assert run.end() == ExitCode.USAGE
    assert run.said() == "aerolane: the command line needs typer: pip install 'aerolane[cli]'\n"


def test_the_package_does_not_load_the_command_line():
    program = "import sys, aerolane, aerolane.testing, aerolane.sync\n"
    program += (
        "assert not [name for name in sys.modules if name.startswith(('aerolane.cli', 'typer', 'rich', 'click'))]"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=TIMEOUT).returncode == 0


def test_as_a_module(seeds):
    command = [sys.executable, "-m", "aerolane.cli", "ping", "--json", "-h", seeds]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode == 0 and json.loads(run.stdout), run.stderr


def test_a_reader_that_goes_away_is_no_traceback(client, seeds, set_name):
    for n in range(2000):
        client.put_blocking(Key("test", set_name, n), {"s": "x" * 200})
    command = [
        sys.executable,
        "-m",
        "aerolane.cli",
        "export",
        "-h",
        seeds,
        "-s",
        set_name,
        "-o",
        "-",
        "--format",
        "jsonl",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.readline()
        run.stdout.close()
        assert run.wait(TIMEOUT) == ExitCode.FAILED
        assert b"Traceback" not in run.stderr.read()


@pytest.mark.parametrize(("typed", "code"), [("secret", ExitCode.OK), ("wrong", ExitCode.NOT_CONNECTED)])
def test_a_terminal_asks_for_the_password_and_does_not_show_it(new_cluster, typed, code):
    cluster = new_cluster(nodes=1, users={"me": "secret"})
    command = [sys.executable, "-c", "from aerolane.cli import main; main()", "ping", "-h", cluster.seeds, "-U", "me"]
    environment = {name: value for name, value in os.environ.items() if name != PASSWORD_VARIABLE}
    process, terminal = pty.fork()
    if process == 0:
        os.execve(command[0], command, environment | {"PYTHONPATH": PACKAGE})
    shown = b""

    def read():
        nonlocal shown
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the process has ended
            return False
        return True

    try:
        while b"Password of me" not in shown:
            assert read(), shown
        # Only once the terminal does not echo what is typed.
        eventually(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO)
        os.write(terminal, typed.encode() + b"\n")
        while read():
            pass
    finally:
        os.close(terminal)
        _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == code, shown
    assert typed.encode() not in shown
