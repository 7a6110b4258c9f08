"""The command line."""

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from aerolane.bench import child, cores, latency
from aerolane.bench.arrivals import PROCESSES
from aerolane.bench.modes import MODES, parse_modes
from aerolane.bench.payload import Payload
from aerolane.bench.session import ClusterError, LoadError, Outcome, Plan, run
from aerolane.bench.spec import BackgroundLarge, Conditions, RunSpec, Security, split_host
from aerolane.bench.table import summary, table
from aerolane.bench.workload import FORMS, Workload

T = TypeVar("T")

DESCRIPTION = """\
Runs the same workload on Aerolane and on other installed Aerospike clients, each in its own process."""

EPILOG = """\
modes
  sync, async                     aerolane: a session's get and put
  pac-blocking, pac-async         aerolane.native: a client's get and put
  peer-sdk-sync, peer-sdk-async   aerospike-sdk
  peer-native-blocking, peer-native-async
                                  aerospike-native
  peer-apy-sync, peer-apy-async   aerospike-py
  legacy-sync                     aerospike (the C client)
  floor-sync, floor-async         no client: only the interpreter and this harness

examples
  python -m aerolane.bench --mode async,peer-native-async -z 128
  python -m aerolane.bench -H host:3000 --mode pac-blocking,legacy-sync --threads 1 -d 15 --warmup 3
  python -m aerolane.bench --mode pac-async,peer-native-async --rate 5000 -d 30 --rounds 3
  python -m aerolane.bench --mode pac-async,peer-native-async --service-time read=80us,write=300us --in-service 64
  python -m aerolane.bench --mode pac-blocking,peer-native-blocking --threads 1 -w Q -k 1000000 -o I8,F8,S16
  python -m aerolane.bench --mode pac-blocking,peer-apy-sync --threads 1 -w RU,100 --batch-size 128 --as-numpy
"""


def checked(parse: Callable[[str], T]) -> Callable[[str], T]:
    """A type for argparse that shows the words of a `ValueError`."""

    def check(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return check


def verbatim(parse: Callable[[str], object]) -> Callable[[str], str]:
    """Checks a text and keeps it as it is."""

    def check(text: str) -> str:
        parse(text)
        return text

    return checked(check)


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number between two bounds."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ValueError(f"{text!r}: expected a whole number from {least} to {most}")
        return value

    return checked(parse)


def number(least: float, most: float, unit: str) -> Callable[[str], float]:
    """A number between two bounds."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise ValueError(f"{text!r}: expected a number of {unit} from {least:g} to {most:g}")
        return value

    return checked(parse)


def hosts(text: str) -> str:
    if not text.strip():
        return ""
    for part in text.split(","):
        split_host(part)
    return ",".join(part.strip() for part in text.split(","))


def _name(limit: int) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not text or len(text.encode()) > limit:
            raise ValueError(f"{text!r}: expected a name of 1 to {limit} bytes")
        return text

    return checked(parse)


class LatencyAction(argparse.Action):
    """`--latency` is the network's latency if it is a time; otherwise it says how latencies are shown."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        text = str(values)
        if re.match(r"\d+(\.\d+)?(ns|us|µs|ms|s)\b", text):
            namespace.latency = text
            return
        try:
            latency.parse(text)
        except ValueError as error:
            raise argparse.ArgumentError(self, f"{error}; or a time, such as 150us, for the network") from None
        namespace.latency_columns = text


def parser(program: str = "python -m aerolane.bench") -> argparse.ArgumentParser:
    """The definition of all options."""
    top = argparse.ArgumentParser(
        prog=program,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    switch = argparse.BooleanOptionalAction
    week = 604_800.0

    group = top.add_argument_group("what is measured")
    group.add_argument(
        "--mode", type=checked(parse_modes), default=["sync"], metavar="MODES", help="modes, separated by commas (sync)"
    )
    group.add_argument(
        "-d", "--duration", type=number(0.1, week, "seconds"), default=10.0, help="measured seconds (10)"
    )
    group.add_argument("--warmup", type=number(0, week, "seconds"), default=4.0, help="warm-up seconds (4)")
    group.add_argument(
        "--cooldown",
        type=number(0, week, "seconds"),
        default=0.0,
        help="seconds of load afterwards (0)",
    )
    group.add_argument(
        "-c",
        "--max-ops",
        type=whole(0, 1 << 62),
        default=0,
        help="end the measured time after about this many records (0: no limit)",
    )
    group.add_argument(
        "--rounds",
        type=whole(1, 1000),
        default=1,
        help="rounds over all modes, every other one in reverse order; percentiles are those of all samples, other"
        " figures are medians, and --json has each round (1)",
    )
    group.add_argument(
        "--threads",
        type=whole(1, 10_000),
        default=32,
        help="threads of the blocking modes; with --rate: maximum of in-flight calls (32)",
    )
    group.add_argument(
        "-z",
        "--async-tasks",
        type=whole(1, 1_000_000),
        default=None,
        help="tasks of the asyncio modes, on each loop; with --rate: maximum of in-flight calls. Further calls wait,"
        " and the wait is part of their latency (32; with --rate 1024)",
    )
    group.add_argument(
        "--pool-loops",
        type=whole(0, 256),
        default=0,
        help="event loops, in an AsyncPool if the client has one (0: one loop without a pool)",
    )
    group.add_argument(
        "--loop",
        choices=("auto", "asyncio", "uvloop"),
        default="auto",
        help="the event loop (auto: uvloop if it is installed)",
    )
    group.add_argument(
        "--fast-path",
        action=switch,
        default=True,
        help="use a session's get and put, or its builders (fast path)",
    )
    group.add_argument("--batch-size", type=whole(1, 100_000), default=1, help="records per call (1)")
    group.add_argument(
        "--current-thread-runtime",
        action="store_true",
        help="create a client for each thread, for clients that can do that",
    )
    group.add_argument("--touch-bins", action="store_true", help="access the bins of every record that was read")
    group.add_argument(
        "--as-numpy",
        action="store_true",
        help="read batches (-w RU,100 --batch-size N) and queries (-w Q) as numpy arrays",
    )
    group.add_argument(
        "--rate",
        type=number(0, 1e9, "operations per second"),
        default=0.0,
        help="open loop: this many calls per second become due on a schedule that does not wait for answers, and"
        " latency counts from when a call was due (0: closed loop, a worker starts a call when its last one has ended)",
    )
    group.add_argument(
        "--arrivals",
        choices=PROCESSES,
        default="poisson",
        help="gaps between the arrivals of --rate: random like independent callers, or all equal (poisson)",
    )
    group.add_argument(
        "--background-large",
        type=verbatim(BackgroundLarge.parse),
        default=None,
        metavar="TASKS:BYTES",
        help="extra tasks of the asyncio modes, on each loop, that keep reading large records (4:900000); latencies and"
        " ops/s are those of the other tasks, the large reads are shown separately",
    )
    group.add_argument(
        "--busy-loop",
        type=number(0, 1000, "milliseconds"),
        default=0.0,
        metavar="MS",
        help="competing Python work of MS milliseconds in every 4 times MS; its delay is shown (0: none)",
    )

    group = top.add_argument_group("workload")
    forms = FORMS.replace("%", "%%")  # argparse formats its help
    group.add_argument("-w", "--workload", type=verbatim(Workload.parse), default="RU,50", help=f"{forms} (RU,50)")
    group.add_argument("-k", "--keys", type=whole(1, 1 << 40), default=100_000, help="number of keys (100000)")
    group.add_argument(
        "-o",
        "--bins",
        type=verbatim(Payload.parse),
        default="I8",
        help="the bins of a record: I8, F8, S<length>, B<length>, L<length>, separated by commas (I8)",
    )
    group.add_argument(
        "--prebuilt-keys",
        type=whole(0, 100_000_000),
        default=0,
        metavar="N",
        help="build N keys before the run and use only these (0: build a key for each operation)",
    )
    group.add_argument("--seed", type=whole(0, 1 << 31), default=1, help="seed of the random numbers (1)")
    group.add_argument(
        "--load",
        action=switch,
        default=None,
        help="write the records first (yes, unless the workload is I or --truncate is given)",
    )
    group.add_argument("--truncate", action="store_true", help="empty the set first")
    group.add_argument("--truncate-after", action="store_true", help="empty the set at the end")

    group = top.add_argument_group("cluster")
    group.add_argument(
        "-H",
        "--hosts",
        type=checked(hosts),
        default="",
        help="host:port, separated by commas (default: an embedded cluster in its own process)",
    )
    group.add_argument("--nodes", type=whole(1, 64), default=3, help="nodes of the embedded cluster (3)")
    group.add_argument(
        "--service-time",
        default="",
        metavar="TIMES",
        help="how long a request occupies its connection at the embedded cluster, by kind: read=80us,write=300us."
        " This and the next two are options of python -m aerolane.testing, whose --help describes them",
    )
    group.add_argument(
        "--in-service",
        default="",
        metavar="N",
        help="requests that a node of the embedded cluster works on at once",
    )
    group.add_argument(
        "--latency",
        action=LatencyAction,
        default="",
        metavar="TIME|COLUMNS",
        help="network latency between clients and the embedded cluster (150us), or the same as --latency-columns",
    )
    group.add_argument(
        "--own-core",
        action="store_true",
        help="the embedded cluster has a core of its own, and the clients have the others (Linux)",
    )
    group.add_argument("--tls", action="store_true", help="start the embedded cluster with TLS and connect over TLS")
    group.add_argument("-n", "--namespace", type=_name(31), default="test", help="(test)")
    group.add_argument("-s", "--set", type=_name(63), default="test", help="(test)")
    group.add_argument(
        "--services-alternate", action=switch, default=False, help="use the alternate addresses of the nodes"
    )
    group.add_argument("-U", "--user", default="", help="user name")
    group.add_argument("-P", "--password", default="", help="password (or in AEROSPIKE_PASSWORD)")
    group.add_argument("--auth-mode", choices=("internal", "external", "external_insecure", "pki"), default="internal")
    group.add_argument("--tls-ca-file", default="", help="certificates to trust, PEM; switches TLS on")
    group.add_argument("--tls-cert-file", default="", help="the client's certificate, PEM; switches TLS on")
    group.add_argument("--tls-key-file", default="", help="its key, PEM")
    group.add_argument("--tls-name", default="", help="the name in the nodes' certificates; switches TLS on")

    group = top.add_argument_group("what is shown")
    group.add_argument(
        "--lat-sample-every",
        type=whole(1, 1 << 31),
        default=None,
        help="time one call in this many (100; with --rate 1)",
    )
    group.add_argument(
        "--latency-columns", type=verbatim(latency.parse), default=None, help=f"also show latencies as {latency.FORMS}"
    )
    group.add_argument("--with-telemetry", action="store_true", help="also show latencies in the line of each second")
    group.add_argument("--json", action="store_true", help="print one JSON object per mode and line, and nothing else")
    group.add_argument("-q", "--quiet", action="store_true", help="no line per second")
    group.add_argument("--print-loop", action="store_true", help="show the source of each mode's loop before it runs")
    top.add_argument("--child", choices=("run", "load", "truncate"), help=argparse.SUPPRESS)
    return top


def plan(options: argparse.Namespace) -> Plan:
    """What the options ask for."""
    spec = RunSpec(
        mode=options.mode[0],
        seeds=options.hosts,
        workload=options.workload,
        namespace=options.namespace,
        set_name=options.set,
        keys=options.keys,
        bins=options.bins,
        duration=options.duration,
        warmup=options.warmup,
        cooldown=options.cooldown,
        max_ops=options.max_ops,
        threads=options.threads,
        tasks=options.async_tasks or (1024 if options.rate else 32),
        pool_loops=options.pool_loops,
        loop=options.loop,
        fast_path=options.fast_path,
        batch=options.batch_size,
        current_thread_runtime=options.current_thread_runtime,
        services_alternate=options.services_alternate,
        sample_every=options.lat_sample_every or (1 if options.rate else 100),
        telemetry=options.with_telemetry,
        latency=options.latency_columns or "",
        prebuilt_keys=options.prebuilt_keys,
        touch_bins=options.touch_bins,
        as_numpy=options.as_numpy,
        rate=options.rate,
        arrivals=options.arrivals,
        background_large=options.background_large or "",
        conditions=Conditions(
            service_time=options.service_time,
            in_service=options.in_service,
            latency=options.latency,
            own_core=options.own_core,
        ),
        busy_ms=options.busy_loop,
        print_loop=options.print_loop,
        seed=options.seed,
        ticker=not (options.quiet or options.json),
        security=Security(
            user=options.user,
            password=options.password or os.environ.get("AEROSPIKE_PASSWORD", ""),
            auth_mode=options.auth_mode,
            tls_ca_file=options.tls_ca_file,
            tls_cert_file=options.tls_cert_file,
            tls_key_file=options.tls_key_file,
            tls_name=options.tls_name,
        ),
    )
    load = options.load
    if load is None:
        load = not options.truncate and spec.parsed_workload().kind != "I"
    return Plan(
        modes=options.mode,
        spec=spec,
        rounds=options.rounds,
        nodes=options.nodes,
        tls=options.tls,
        load=load,
        truncate=options.truncate,
        truncate_after=options.truncate_after,
    )


def _check(top: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuses options that do not go together."""
    workload = Workload.parse(options.workload)
    modes = [MODES[name] for name in options.mode]
    if options.batch_size > 1 and workload.kind not in ("RU", "I"):
        top.error(f"--batch-size goes with the workloads RU and I, not with {workload.kind}")
    if workload.kind in ("RMI", "RMD") and not options.bins.upper().startswith("I"):
        top.error(f"workload {workload.kind} needs an integer as the first bin, not {options.bins}")
    if workload.kind == "LG" and not options.bins.upper().startswith("L"):
        top.error(f"workload LG needs a list as the first bin, as -o L8, not {options.bins}")
    if options.as_numpy:
        if not workload.queries and (options.batch_size == 1 or workload.read_pct < 100):
            top.error("--as-numpy goes with queries (-w Q) and with batches that read (-w RU,100 --batch-size N)")
        try:
            Payload.parse(options.bins).fields()
        except ValueError as error:
            top.error(f"--as-numpy: {error}")
    if options.current_thread_runtime and any(mode.asynchronous for mode in modes):
        top.error("--current-thread-runtime goes with blocking modes only")
    if options.pool_loops and not any(mode.asynchronous for mode in modes):
        top.error("--pool-loops goes with asynchronous modes only")
    if not options.fast_path and not any(mode.has_sessions for mode in modes):
        having = ", ".join(mode.name for mode in MODES.values() if mode.has_sessions)
        names = ", ".join(mode.name for mode in modes)
        top.error(f"--no-fast-path: {names} cannot do it, builders are there in {having} only")
    own = list(Conditions(options.service_time, options.in_service, options.latency).options())
    own += ["--tls"] * options.tls + ["--own-core"] * options.own_core
    if options.hosts and own:
        top.error(
            f"{', '.join(own)} describes the embedded cluster that this program starts, but -H names another one:"
            f" {options.hosts}"
        )
    if options.own_core and not cores.can_be_parted():
        top.error("--own-core needs two cores and Linux")
    if options.background_large and not all(mode.asynchronous for mode in modes):
        top.error("--background-large goes with asynchronous modes only")
    if options.rate and workload.queries:
        top.error("--rate goes with calls, not with the queries of workload Q")
    if bool(options.tls_cert_file) != bool(options.tls_key_file):
        top.error("--tls-cert-file and --tls-key-file go together")
    if options.password and not options.user:
        top.error("-P needs -U")
    if options.auth_mode.startswith("external") and not options.user:
        top.error(f"--auth-mode {options.auth_mode} needs -U")
    if options.auth_mode == "pki" and (options.user or not options.tls_cert_file):
        top.error("--auth-mode pki goes with --tls-cert-file and --tls-key-file, and without -U")
    for path in (options.tls_ca_file, options.tls_cert_file, options.tls_key_file):
        if path and not os.path.isfile(path):
            top.error(f"no such file: {path}")


def show(outcome: Outcome, as_json: bool) -> None:
    """Prints the figures."""
    if as_json:
        for report in outcome.reports:
            print(json.dumps(report), flush=True)
        return
    for report in outcome.reports:
        print(summary(report) + "\n")
    if len(outcome.reports) > 1:
        print(table(outcome.reports))


def main(arguments: Sequence[str] | None = None, program: str = "python -m aerolane.bench") -> int:
    """Runs the harness; returns the exit status.

    0: every mode ran, or its client is not installed. 1: a mode failed, or none ran. 2: bad options. 130: interrupted.
    """
    top = parser(program)
    options = top.parse_args(arguments)
    if options.child:
        child.serve(options.child)
    _check(top, options)
    wanted = plan(options)

    def tell(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    try:
        outcome = run(wanted, tell)
    except (ClusterError, LoadError) as error:
        tell(f"aerolane.bench: {error}")
        return 1
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    show(outcome, options.json)
    return 0 if outcome.reports and not outcome.failures else 1
