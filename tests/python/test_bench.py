"""The load harness: options, the generated loops, and short runs of our modes on the embedded cluster."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from array import array
from shlex import split
from types import SimpleNamespace

import pytest

from aerolane.bench import busy as competing
from aerolane.bench import latency, loops, matrix, runner, table
from aerolane.bench.busy import Busy
from aerolane.bench.cli import main, parser, plan
from aerolane.bench.clients.calls import Calls, Unsupported
from aerolane.bench.conductor import Window
from aerolane.bench.measure import MISSED, READS, WRITES, Board, Totals, is_timeout, latencies, percentile
from aerolane.bench.modes import MODES, parse_modes
from aerolane.bench.payload import Payload
from aerolane.bench.process import Usage
from aerolane.bench.report import middle
from aerolane.bench.report import report as put_together
from aerolane.bench.runner import Run
from aerolane.bench.spec import RunSpec, Security, split_host
from aerolane.bench.workload import Workload

OURS = ["sync", "async", "pac-blocking", "pac-async"]
RUST_KEYS = split(
    "client mode tasks threads batch tps errors timeouts p50_us p99_us p999_us max_us client_cpu_us_per_op"
    " peak_rss_bytes host"
)


def planned(*arguments):
    return plan(parser().parse_args(arguments))


# Options.


def test_defaults():
    wanted = planned()
    spec = wanted.spec
    assert wanted.modes == ["sync"] and wanted.rounds == 1 and wanted.load and not wanted.truncate
    assert (spec.seeds, spec.namespace, spec.set_name, spec.keys) == ("", "test", "test", 100_000)
    assert (spec.workload, spec.bins, spec.batch, spec.sample_every) == ("RU,50", "I8", 1, 100)
    assert (spec.threads, spec.tasks, spec.pool_loops, spec.fast_path) == (32, 32, 0, True)
    assert (spec.duration, spec.warmup, spec.cooldown) == (10.0, 4.0, 0.0)


def test_the_vendors_command_lines_are_understood():
    common = "-H a:3100,b --services-alternate -n test -s test -k 1000 -o I8 -w RU,50 -d 15 --warmup 3 --cooldown 0"
    spec = planned(*split(common), *split("--mode async --pool-loops 4 -z 64 --no-fast-path --seed 7")).spec
    assert spec.hosts() == [("a", 3100), ("b", 3000)]
    assert spec.services_alternate and not spec.fast_path and spec.seed == 7
    assert (spec.pool_loops, spec.tasks, spec.keys, spec.duration, spec.warmup) == (4, 64, 1000, 15.0, 3.0)
    more = "--mode legacy-sync --threads 1 --batch-size 16 --prebuilt-keys 10 --lat-sample-every 5 --with-telemetry"
    spec = planned(*split(more), *split("--latency 7,1 -U me -P secret --auth-mode external")).spec
    assert (spec.threads, spec.batch, spec.prebuilt_keys, spec.sample_every) == (1, 16, 10, 5)
    assert spec.telemetry and spec.latency == "7,1"
    assert spec.security == Security(user="me", password="secret", auth_mode="external")


def test_loading_can_be_switched():
    assert not planned("--no-load").load
    assert not planned("-w", "I").load
    assert not planned("--truncate").load
    assert planned("--truncate", "--load").load


def test_a_spec_survives_the_way_to_the_child():
    spec = RunSpec(mode="async", seeds="a:1", rate=3.5, security=Security(user="me", tls_ca_file="x"))
    assert RunSpec.from_json(spec.to_json()) == spec
    assert spec.security.tls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode", "redis"], "unknown mode 'redis'"),
        (["--mode", "sync,"], "unknown mode ''"),
        (["-w", "XX,5"], "unknown kind"),
        (["-w", "RU"], "share of reads is missing"),
        (["-w", "RU,101"], "0 to 100"),
        (["-w", "RU,٣"], "0 to 100"),
        (["-w", "I,5"], "takes no shares"),
        (["-o", "X4"], "not one of them"),
        (["-o", "S"], "not one of them"),
        (["-o", "S2000000"], "more than a record may have"),
        (["-d", "nan"], "seconds"),
        (["-d", "0"], "seconds"),
        (["--warmup", "-1"], "seconds"),
        (["--threads", "0"], "whole number"),
        (["--threads", "many"], "whole number"),
        (["-z", "2000000"], "whole number"),
        (["--batch-size", "0"], "whole number"),
        (["-k", "0"], "whole number"),
        (["--lat-sample-every", "0"], "whole number"),
        (["--busy-loop", "-1"], "milliseconds"),
        (["--rate", "-1"], "operations per second"),
        (["--arrivals", "pareto"], "invalid choice"),
        (["--rate", "5", "-w", "Q"], "not with the queries"),
        (["--background-large", "4"], "expected TASKS:BYTES"),
        (["--background-large", "4:9000000"], "expected TASKS:BYTES"),
        (["--background-large", "4:9"], "asynchronous modes only"),
        (["--service-time", "read=80us", "-H", "h:1"], "--service-time describes the embedded cluster"),
        (["--in-service", "64", "-H", "h:1"], "--in-service describes the embedded cluster"),
        (["--latency", "150us", "-H", "h:1"], "--latency describes the embedded cluster"),
        (["--own-core", "-H", "h:1"], "--own-core describes the embedded cluster"),
        (["--tls", "-H", "h:1"], "-H names another one: h:1"),
        (["--latency", "1,1"], "columns"),
        (["--latency", "x"], "columns"),
        (["-H", "a:99999"], "host:port expected"),
        (["-H", "a,,b"], "host:port expected"),
        (["-n", ""], "1 to 31 bytes"),
        (["-s", "x" * 64], "1 to 63 bytes"),
        (["--batch-size", "2", "-w", "RMU"], "not with RMU"),
        (["--batch-size", "2", "-w", "Q"], "not with Q"),
        (["-w", "LG"], "needs a list as the first bin"),
        (["-w", "LG", "-o", "I8,L2"], "needs a list as the first bin"),
        (["-w", "Q,1"], "takes no shares"),
        (["--as-numpy"], "goes with queries"),
        (["--as-numpy", "--batch-size", "2", "-w", "RU,99"], "goes with queries"),
        (["--as-numpy", "-w", "Q", "-o", "L2"], "a list has no numpy type"),
        (["-o", "L"], "not one of them"),
        (["-w", "RMI", "-o", "S5"], "integer as the first bin"),
        (["--mode", "async", "--current-thread-runtime"], "blocking modes only"),
        (["--mode", "sync", "--pool-loops", "2"], "asynchronous modes only"),
        (["--mode", "pac-async,floor-async", "--no-fast-path"], "pac-async, floor-async cannot do it"),
        (["--mode", "pac-blocking", "--no-fast-path"], "builders are there in sync, async"),
        (["--tls-cert-file", "x"], "go together"),
        (["--tls-ca-file", "/does/not/exist"], "no such file"),
        (["-P", "secret"], "needs -U"),
        (["--auth-mode", "external"], "--auth-mode external needs -U"),
        (["--auth-mode", "pki"], "goes with --tls-cert-file"),
        (["--loop", "trio"], "invalid choice"),
        (["--dur", "1"], "unrecognized arguments"),
    ],
)
def test_bad_options_are_refused_with_a_reason(arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("text", ["I", "RU,50", "ru, 0", "RU,50,20,30", "RR,100", "RMU", "RMI", "RMD", "LG", "q"])
def test_workloads(text):
    assert Workload.parse(text).kind == text.split(",")[0].upper()


def test_payloads():
    assert Payload.parse("I8").source() == ('{"b0": kid}', {})
    assert Payload.parse("i,S3,B2").bins(7) == {"b0": 7, "b1": "xxx", "b2": b"xx"}
    text, names = Payload.parse("S3,I8").source()
    assert eval(text, {"kid": 9, **names}) == {"b0": "xxx", "b1": 9}
    several = Payload.parse("I8,F8,S3,B2,L3")
    assert several.bins(7) == {"b0": 7, "b1": 1.75, "b2": "xxx", "b3": b"xx", "b4": [0, 1, 2]}
    assert Payload(several.parts[:4]).fields() == [("b0", "i8"), ("b1", "f8"), ("b2", "S3"), ("b3", "S2")]
    assert Payload.parse("S0,B0").bins(1) == {"b0": "", "b1": b""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("h", ("h", 3000)), ("h:1", ("h", 1)), ("[::1]:5", ("::1", 5)), ("[::1]", ("::1", 3000)), (" h:2 ", ("h", 2))],
)
def test_hosts(text, expected):
    assert split_host(text) == expected


def test_modes_come_once_and_in_order():
    assert parse_modes("pac-async, sync,pac-async") == ["pac-async", "sync"]


# Loops.


class Missing(Exception):
    pass


class LateTimeoutError(Exception):
    pass


class Store:
    """A client in memory that ends the run after some calls."""

    def __init__(self, calls):
        self.left = calls
        self.stop = []
        self.seen = []
        self.fail = {}

    def _call(self, kind, key, value=None):
        self.left -= 1
        if self.left <= 0:
            self.stop.append(True)
        self.seen.append((kind, key, value))
        error = self.fail.get(len(self.seen))
        if error is not None:
            raise error

    def get(self, key):
        self._call("get", key)

    def put(self, key, bins):
        self._call("put", key, bins)

    def add(self, key, bins):
        self._call("add", key, bins)

    def get_many(self, keys):
        self._call("get_many", keys)

    def put_many(self, keys, rows):
        self._call("put_many", keys, rows)

    def query(self, most):
        for kid in range(most):
            self._call("query", kid)
            yield kid

    async def aquery(self, most):
        for kid in self.query(most):
            yield kid

    async def aget(self, key):
        await asyncio.sleep(0)
        self._call("get", key)

    def calls(self, prefix=""):
        get = self.aget if prefix else self.get
        names = {"get": get, "put": self.put, "add": self.add, "get_many": self.get_many, "put_many": self.put_many}
        names |= {"query": self.aquery if prefix else self.query, "look": self.seen.append}
        return Calls(
            names=names | {"make_key": lambda namespace, set_name, kid: (namespace, set_name, kid)},
            read=prefix + "get({key})",
            write="put({key}, {bins})",
            add='add({key}, {"b0": {amount}})',
            read_many="get_many({keys})",
            write_many="put_many({keys}, {rows})",
            list_get=prefix + "get({key})",
            each=f"{'async ' if prefix else ''}for record in query(9000)",
            touch="seen_touch",
            touch_each='look(("touch", record, None))',
            not_found=(Missing,),
        )


def run_loop(store, spec, *, asynchronous=False, draws=(3, 0), loading=False, **changes):
    worker = Board().worker()
    drawn = iter(draws * 1000)
    calls = store.calls("await " if asynchronous else "")
    arguments = {
        "below": lambda most: next(drawn) % most,
        "stop": store.stop,
        "cell": worker.cell,
        "failed": worker.failed,
        "clock": time.perf_counter_ns,
        "nap": asyncio.sleep if asynchronous else time.sleep,
        "note_read": worker.reads.append,
        "note_write": worker.writes.append,
        "namespace": "n",
        "set_name": "s",
        "keys": spec.keys,
        "first_id": 0,
        "stride": 1,
        "untimed": range(0),
        "untimed_later": range(spec.sample_every - 1),
        "take": None,
        "wait": None,
        "prebuilt": None,
    }
    result = loops.build(spec, asynchronous, calls, loading)(**(arguments | changes))
    if asynchronous:
        asyncio.run(result)
    return worker


def spec_of(workload="RU,50", **values):
    return RunSpec(mode="sync", seeds="", workload=workload, keys=10, **values)


def test_reads_and_writes_are_counted_and_timed():
    store = Store(6)
    # Draws: id 3 and 0 < 50 (a read), id 4 and 60 (a write).
    worker = run_loop(store, spec_of(sample_every=1), draws=(3, 0, 4, 60))
    assert store.seen[:2] == [("get", ("n", "s", 3), None), ("put", ("n", "s", 4), {"b0": 4})]
    assert (worker.cell[READS], worker.cell[WRITES]) == (3, 3)
    assert len(latencies(worker.reads, 0, sys.maxsize)) == 3
    assert len(latencies(worker.writes, 0, sys.maxsize)) == 3


def test_one_in_so_many_is_timed():
    store = Store(30)
    worker = run_loop(store, spec_of("RU,100", sample_every=10), draws=(1,))
    # It may end with a timed operation that began when the stop had come.
    assert worker.cell[READS] in (30, 31)
    assert len(worker.reads) // 2 in (3, 4)


def test_errors_timeouts_and_missing_records_are_told_apart():
    store = Store(6)
    store.fail = {1: Missing(), 2: LateTimeoutError("late"), 3: ValueError("bad")}
    worker = run_loop(store, spec_of("RU,100", sample_every=1), draws=(1,))
    assert worker.cell == [4, 0, 1, 1, 1]
    assert worker.cell[MISSED] == 1
    assert worker.board.messages == {"LateTimeoutError: late": 1, "ValueError: bad": 1}


def test_inserts_go_round_and_loads_go_once():
    store = Store(12)
    run_loop(store, spec_of("I", sample_every=1))
    assert [value["b0"] for _, _, value in store.seen] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    store = Store(100)
    # A write that fails is tried again.
    store.fail = {2: LateTimeoutError("late")}
    worker = run_loop(store, spec_of(), loading=True, first_id=1, stride=3)
    assert [value["b0"] for _, _, value in store.seen] == [1, 4, 4, 7]
    assert worker.cell == [0, 3, 0, 0, 0]
    store.fail = dict.fromkeys(range(100), ValueError("bad"))
    worker = run_loop(store, spec_of(), loading=True, first_id=9, nap=lambda seconds: None)
    assert worker.cell == [0, 0, 0, 1, 0] and worker.board.messages == {"ValueError: bad": 1}


def test_read_modify_increment():
    store = Store(2)
    worker = run_loop(store, spec_of("RMD", sample_every=1), draws=(5,))
    assert store.seen == [("get", ("n", "s", 5), None), ("add", ("n", "s", 5), {"b0": -1})]
    assert worker.cell[:2] == [1, 1]


def test_batches_count_their_records():
    store = Store(2)
    worker = run_loop(store, spec_of(batch=3, sample_every=1), draws=(1, 2, 3, 0, 4, 5, 6, 99))
    assert store.seen[0] == ("get_many", [("n", "s", 1), ("n", "s", 2), ("n", "s", 3)], None)
    assert store.seen[1][2] == [{"b0": 4}, {"b0": 5}, {"b0": 6}]
    assert worker.cell[:2] == [3, 3]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_records_of_queries_are_counted_while_they_come(asynchronous):
    store = Store(15_000)
    told = []

    class Cell(list):
        def __setitem__(self, place, value):
            told.append((place, value))
            super().__setitem__(place, value)

    cell = Cell([0] * 5)
    worker = run_loop(store, spec_of("Q"), asynchronous=asynchronous, cell=cell)
    # The stop comes within the second query, which goes on to its end.
    assert told == [(READS, n) for n in (4096, 8192, 9000, 12288, 16384, 18000)]
    # Each query is timed, whatever the share of calls that are.
    assert len(latencies(worker.reads, 0, sys.maxsize)) == 2
    store = Store(3)
    run_loop(store, spec_of("Q", touch_bins=True), asynchronous=asynchronous)
    assert store.seen[:4] == [("query", 0, None), ("touch", 0, None), ("query", 1, None), ("touch", 1, None)]


def test_list_operations_are_reads():
    store = Store(3)
    worker = run_loop(store, spec_of("LG", bins="L2", sample_every=1), draws=(5, 6, 7))
    assert [key for _, key, _ in store.seen] == [("n", "s", 5), ("n", "s", 6), ("n", "s", 7)]
    assert worker.cell[:2] == [3, 0]


def test_prebuilt_keys_are_taken():
    store = Store(1)
    run_loop(
        store, spec_of("RU,100", prebuilt_keys=10, sample_every=1), draws=(4,), prebuilt=[f"k{i}" for i in range(10)]
    )
    assert store.seen[0][1] == "k4"


def test_asynchronous_failures_do_not_block_the_loop():
    store = Store(3)
    store.fail = {1: ValueError("bad"), 2: ValueError("bad")}
    worker = run_loop(store, spec_of("RU,100", sample_every=1), asynchronous=True, draws=(1,))
    assert worker.cell == [1, 0, 0, 2, 0]


def test_what_a_client_lacks_is_said():
    with pytest.raises(Unsupported, match="it has no replace"):
        loops.source(spec_of("RR,50"), False, Store(1).calls())
    with pytest.raises(Unsupported, match="it has no query as numpy arrays"):
        loops.source(spec_of("Q", as_numpy=True), False, Store(1).calls())


def test_clients_share_the_loop_but_for_their_calls():
    ours, _ = loops.source(spec_of(), False, Calls({}, read="ours.get({key})", write="ours.put({key}, {bins})"))
    peer, _ = loops.source(spec_of(), False, Calls({}, read="peer.get({key})", write="peer.put({key}, {bins})"))
    assert ours.replace("ours.", "peer.") == peer
    assert ".bins" not in ours
    touching, _ = loops.source(
        spec_of(touch_bins=True), False, Calls({}, read="get({key})", write="put({key}, {bins})")
    )
    assert touching.count("record.bins") == 2


# Figures.


def test_only_operations_of_the_measured_time_count():
    samples = array("q", [5, 9, 10, 30, 20, 25, 40, 60, 41, 42])
    assert latencies(samples, 10, 50) == [1, 5, 20]
    assert latencies(array("q", [10, 30, 20]), 0, 99) == [20], "an operation that has not ended yet"


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, 0), ([7], 0.999, 7), ([1, 2], 0.5, 1), ([1, 2, 3, 4], 0.75, 3), (list(range(1, 101)), 0.99, 99)],
)
def test_percentiles(values, share, expected):
    assert percentile(values, share) == expected


def test_timeouts_are_known_by_their_class():
    assert is_timeout(TimeoutError()) and is_timeout(LateTimeoutError()) and not is_timeout(ValueError("timeout"))


def test_few_messages_are_kept():
    board = Board()
    for number in range(100):
        board.note_error(f"error {number % 20}")
    assert len(board.messages) == 8 and board.messages["error 0"] == 5


def test_latency_columns():
    columns = latency.parse("3,2")
    assert columns.bounds() == [1, 4]
    head, read, write = latency.lines("3,2", [500_000, 1_500_000, 5_000_000, 6_000_000], [])
    assert head.split() == ["<=1ms", ">1ms", ">4ms"]
    assert read.split() == ["read", "25.00%", "75.00%", "50.00%"]
    assert write.split() == ["write", "-", "-", "-"]
    assert "[READ], Operations, 2" in latency.lines("ycsb", [1000, 3000], [])
    assert "[READ], AverageLatency(us), 2" in latency.lines("ycsb", [1000, 3000], [])


def figures(client, **values):
    mode = MODES[client]
    report = dict.fromkeys(RUST_KEYS, 0) | {
        "client": client,
        "mode": "async" if mode.asynchronous else "sync",
        "tasks": 8,
        "threads": 2,
        "loops": 2,
        "tps": 1000.0,
        "client_cpu_us_per_op": 10.0,
        "samples": 5,
        "error_samples": [],
        "not_found": 0,
    }
    return report | values


def test_the_table_compares_with_the_first_peer():
    ours = figures("pac-async", tps=4000.0, client_cpu_us_per_op=2.5)
    lines = table.table(
        [ours, figures("peer-native-async"), figures("legacy-sync"), figures("floor-sync")]
    ).splitlines()
    row = lines[2].split("  ")
    cells = [cell.strip() for cell in row if cell.strip()]
    assert cells[:4] == ["pac-async", "2 x 4 tasks", "4 000", "4.00"]
    assert cells[9:11] == ["2.50", "0.25"]
    assert lines[-1] == "x: ratio to peer-native-async"
    assert lines[5].split("  ")[0].strip() == "floor-sync" and " - " in lines[5]


def test_markdown_rows():
    (ours, _) = table.markdown("case", [figures("pac-async", tps=3000.0), figures("peer-native-async")])
    assert ours.startswith("| case | pac-async | 3 000 (3.00) | 10.00 (1.00) |")
    assert ours.count("|") == table.markdown_head().split("\n")[0].count("|")


def test_every_cell_of_the_matrix_has_good_options():
    for cell in matrix.CELLS:
        wanted = planned("--mode", cell.modes, *split(cell.options))
        assert wanted.modes, cell


def test_the_matrix_runs_the_cells_asked_for(capsys):
    assert matrix.main(split("--cells floor -d 0.3 --warmup 0")) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 4 and rows[2].startswith("| floor | floor-sync |")
    with pytest.raises(SystemExit):
        matrix.main(["--cells", "nothing of this name"])


def test_rounds_become_medians_and_sums():
    rounds = [
        figures("pac-async", tps=tps, errors=2, busy={"runs": runs}) for tps, runs in ((3.0, 1), (1.0, 9), (2.0, 4))
    ]
    answer = middle(rounds)
    assert (answer["tps"], answer["errors"], answer["rounds"], answer["busy"]["runs"]) == (2.0, 6, 3, 4)


@pytest.fixture
def due(monkeypatch):
    """`due()`: a piece of competing work is due now, and at no other time."""
    ticks, out = os.pipe()

    def read():
        return int.from_bytes(os.read(ticks, 8), sys.byteorder)

    metronome = contextlib.nullcontext(SimpleNamespace(ticks=ticks, read=read))
    monkeypatch.setattr(competing, "_Metronome", lambda period: metronome)
    yield lambda: os.write(out, time.perf_counter_ns().to_bytes(8, sys.byteorder))
    os.close(ticks)
    os.close(out)


def test_competing_work_that_is_held_up_is_seen(due):
    async def run():
        stop = []
        busy = Busy(2, stop)
        task = asyncio.create_task(busy.on_loop())
        for done in range(5):
            due()
            # The loop stands still.
            time.sleep(0.02)
            while len(busy.waits(0, sys.maxsize)) == done:
                await asyncio.sleep(0)
        seen = busy.waits(0, sys.maxsize), busy.delays(0, sys.maxsize)
        stop.append(True)
        due()
        await task
        return seen

    waits, delays = asyncio.run(run())
    # Clocks of threads and of the machine need not run at one speed.
    assert len(waits) == 5 and waits[0] >= 20_000_000 and delays[0] > 19_000_000


def test_the_cpu_time_of_competing_work_is_no_delay(due):
    busy = Busy(2, [])
    before = time.perf_counter_ns()
    busy._run_once(before)
    took = time.perf_counter_ns() - before
    (delay,), (wait,) = busy.delays(0, sys.maxsize), busy.waits(0, sys.maxsize)
    cpu = busy.cpu(0, sys.maxsize)
    assert cpu > 0 and wait >= 0 and delay + cpu <= took


def test_the_cpu_time_of_competing_work_is_none_of_the_client(due):
    run = Run(MODES["floor-sync"], RunSpec(mode="floor-sync", seeds="", busy_ms=2.0))
    busy = Busy(2, [])
    # Due before, in and after the measured time. That in it took less and more than it should.
    for when, took in ((99, 7_000_000), (100, 1_500_000), (150, 1_000_000), (201, 7_000_000)):
        busy.samples.extend((when, 0, 0, took))
    run.busy = [busy, busy]
    window = Window(100, 200, Totals(reads=600, writes=400), Usage(0.020, 0.005), 0, [])
    answer = put_together(run, window)
    assert answer["client_cpu_us_per_op"] == pytest.approx((25 - 2 * 2.5) * 1e3 / 1000)
    assert (answer["busy"]["runs"], answer["busy"]["cpu_mean_us"]) == (4, pytest.approx(1250))
    run.busy = []
    assert put_together(run, window)["client_cpu_us_per_op"] == pytest.approx(25)


def test_work_whose_clock_is_gone_says_so(monkeypatch):
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: real([sys.executable, "-c", ""], **options))
    with pytest.raises(RuntimeError, match="has ended"):
        Busy(1, [])


def test_a_run_without_its_competing_work_fails(due, monkeypatch):
    def ended(busy):
        raise RuntimeError("it has ended")

    monkeypatch.setattr(Busy, "on_thread", ended)
    # What this process has is not to be frozen.
    monkeypatch.setattr(runner, "settle", lambda: None)
    run = Run(MODES["floor-sync"], RunSpec(mode="floor-sync", seeds="", busy_ms=1.0, duration=20.0, threads=2))
    with pytest.raises(RuntimeError, match="it has ended"):
        run.run()


# Runs.


def bench(*arguments, **environment):
    command = [sys.executable, "-m", "aerolane.bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)


def test_every_mode_of_ours_runs_on_the_embedded_cluster():
    options = split("-d 1 --warmup 0.2 -k 500 --threads 2 -z 8 --lat-sample-every 3 --json --touch-bins")
    done = bench("--mode", ",".join(OURS), *options)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["client"] for report in reports] == OURS
    for report in reports:
        assert set(RUST_KEYS) <= set(report) and {"python", "gil", "loop"} <= set(report)
        assert report["tps"] > 100 and report["client_cpu_us_per_op"] > 0, report
        assert (report["errors"], report["timeouts"], report["not_found"]) == (0, 0, 0), report
        assert 0 < report["p50_us"] <= report["p99_us"] <= report["max_us"], report
        assert report["peak_rss_bytes"] > 1 << 20
        assert report["tasks"] == (8 if report["mode"] == "async" else 0)
        assert (report["loop"] is not None) == (report["mode"] == "async")


def test_records_that_do_not_exist_are_no_errors():
    options = split("-d 0.5 --warmup 0 -k 100000 -s bench_empty --no-load --threads 2 --json")
    done = bench("--mode", "pac-blocking", "-w", "RU,90", *options)
    report = json.loads(done.stdout)
    assert report["errors"] == 0 and report["not_found"] > 0, report


def test_batches_run():
    options = split("-d 0.5 --warmup 0.1 -k 500 -w RU,50 --batch-size 16 --threads 2 -z 2 --touch-bins --json")
    done = bench("--mode", "pac-blocking,pac-async", *options)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        report = json.loads(line)
        assert report["tps"] > 100 and report["errors"] == 0 and report["batch"] == 16, report


@pytest.mark.parametrize(
    "options",
    [
        "-w LG -o L8",
        "-w Q -o I8,F8,S16 --touch-bins",
        "-w Q -o I8,F8,S16 --as-numpy",
        "-w RU,100 --batch-size 128 -o I8,F8,S16 --as-numpy",
    ],
)
def test_the_commands_behind_the_figures_of_the_data_model_run(options):
    """Those of docs/benchmarks.md, on few records."""
    if "--as-numpy" in options:
        pytest.importorskip("numpy")
    common = split("-d 0.5 --warmup 0.1 -k 500 --threads 1 -z 2 --json --mode pac-blocking,pac-async")
    done = bench(*split(options), *common)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["client"] for report in reports] == ["pac-blocking", "pac-async"]
    for report in reports:
        assert report["tps"] > 100 and report["client_cpu_us_per_op"] > 0 and report["errors"] == 0, report
        assert report["not_found"] == 0 and report["peak_rss_bytes"] > 1 << 20, report
        assert report["columns"] == ("numpy" if "--as-numpy" in options else None)


def test_the_floors_need_no_cluster():
    done = bench("--mode", "floor-sync,floor-async", "-d", "0.5", "--warmup", "0", "-H", "127.0.0.1:1", "--json")
    assert done.returncode == 0, done.stderr
    sync, asynchronous = (json.loads(line) for line in done.stdout.splitlines())
    assert sync["tps"] > 10_000 and asynchronous["tps"] > 1_000 and sync["host"] == "none"


def test_people_get_a_summary_a_table_and_a_line_per_second():
    options = split("-d 1.2 --warmup 0 -k 100 --threads 1 -z 1 --busy-loop 1 --with-telemetry --latency 4,1")
    done = bench("--mode", "floor-sync,floor-async", *options)
    assert done.returncode == 0, done.stderr
    assert "1 s measure" in done.stderr and "p99" in done.stderr
    assert "floor-sync" in done.stdout and "delayed by" in done.stdout and "delay p99" in done.stdout
    assert "<=1ms" in done.stdout


def test_a_cluster_that_is_not_there_is_a_clear_error():
    done = bench("--mode", "pac-blocking", "-H", "127.0.0.1:1", "-d", "1")
    assert done.returncode == 1
    assert "load failed. pac-blocking" in done.stderr


def test_a_peer_that_is_not_installed_is_skipped(tmp_path):
    # A package that fails to import as if it were not there, wherever this runs.
    (tmp_path / "aerospike_py.py").write_text("raise ModuleNotFoundError('gone', name='aerospike_py')\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    options = split("-d 0.3 --warmup 0 --json -H 127.0.0.1:1")
    done = bench("--mode", "peer-apy-sync,floor-sync", *options, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "peer-apy-sync: skipped: aerospike_py is not installed (pip install aerospike-py)" in done.stderr
    assert [json.loads(line)["client"] for line in done.stdout.splitlines()] == ["floor-sync"]
    done = bench("--mode", "peer-apy-sync", *options, PYTHONPATH=path)
    assert done.returncode == 1 and done.stdout == ""
