"""`python -m aerolane.testing`: an embedded cluster that runs until it is told to stop.

It prints its seeds in one line (with `--json`: one object) as soon as all nodes listen, and ends on SIGINT or SIGTERM;
with `--stdin` also when its standard input is closed, so that it does not outlive the process that started it.
"""

import argparse
import json
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from aerolane._aerolane import EmbeddedCluster


def _arguments(arguments: Sequence[str] | None, program: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=program,
        description="An Aerospike-compatible cluster in memory, for tests and trials, never for production.",
    )
    parser.add_argument("--nodes", type=int, default=3, help="how many nodes (default 3)")
    parser.add_argument("--replication-factor", type=int, default=2, help="nodes that hold each partition (default 2)")
    parser.add_argument(
        "--namespace", action="append", help="name of a namespace; several times for several (default test)"
    )
    parser.add_argument("--default-ttl", type=int, default=0, help="default TTL in seconds (default 0: never expire)")
    parser.add_argument(
        "--nsup-period", type=int, default=1, help="seconds between sweeps for expired records (default 1; 0: none)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=3000, help="the first node's port; 0: any free (default 3000)")
    parser.add_argument("--cluster-name", help="the cluster's name (default none)")
    parser.add_argument("--threads", type=int, help="threads that serve all nodes (default: cores, at most 4)")
    parser.add_argument("--strong-consistency", action="store_true", help="namespaces with transactions")
    parser.add_argument(
        "--service-time",
        metavar="KIND=TIME,..",
        help="how long requests of a kind (read, write, batch, query, udf, all) occupy their connection: "
        "80us, exp:80us or 99%%:80us+1%%:20ms",
    )
    parser.add_argument(
        "--in-service",
        type=int,
        default=64,
        metavar="N",
        help="requests that a node has in service at once (default 64)",
    )
    parser.add_argument(
        "--latency",
        metavar="TIME[~JITTER]",
        help="latency of the network, each way: 150us or 150us~30us (default none)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of service times and jitter (default 0)")
    parser.add_argument("--tls-name", metavar="NAME", help="listen with TLS, too, with a certificate for this name")
    parser.add_argument("--tls-certificate", metavar="FILE", help="where to write the certificate to trust (PEM)")
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of the seeds")
    parser.add_argument("--stdin", action="store_true", help="stop when standard input is closed")
    return parser.parse_args(arguments)


def _signals() -> int:
    """A descriptor that becomes readable on SIGINT or SIGTERM, also when one came before anybody waited."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)
    return readable


def _wait(signals: int, stdin: bool) -> None:
    """Returns when a signal has come or, if `stdin`, when standard input has ended."""
    watched = [signals, 0] if stdin else [signals]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if signals in ready or not os.read(0, 1024):
            return


def main(said: Sequence[str] | None = None, program: str = "python -m aerolane.testing") -> int:
    """Runs the cluster by these arguments, or those of the process; gives the exit code. `program` is for its help."""
    arguments = _arguments(said, program)
    signals = _signals()
    try:
        cluster = EmbeddedCluster(
            arguments.nodes,
            arguments.replication_factor,
            arguments.namespace or "test",
            default_ttl=arguments.default_ttl,
            nsup_period=arguments.nsup_period,
            host=arguments.host,
            port=arguments.port,
            cluster_name=arguments.cluster_name,
            threads=arguments.threads,
            strong_consistency=arguments.strong_consistency,
            service_time=arguments.service_time,
            in_service=arguments.in_service,
            latency=arguments.latency,
            seed=arguments.seed,
            tls_name=arguments.tls_name,
        )
        if arguments.tls_certificate and cluster.certificate_pem:
            Path(arguments.tls_certificate).write_text(cluster.certificate_pem, encoding="ascii")
    except (ValueError, OverflowError, OSError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    with cluster:
        line = cluster.seeds
        if arguments.json:
            nodes = [{"id": node.id, "address": node.address} for node in cluster.nodes]
            announced = {"seeds": cluster.seeds, "tls_seeds": cluster.tls_seeds, "pid": os.getpid(), "nodes": nodes}
            line = json.dumps(announced)
        print(line, flush=True)
        _wait(signals, arguments.stdin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
