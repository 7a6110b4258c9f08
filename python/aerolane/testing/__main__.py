"""`python -m aerolane.testing`: an embedded cluster that runs until it is told to stop.

It prints its seeds in one line (with `--json`: one object) as soon as all nodes listen, and ends on SIGINT or SIGTERM;
with `--stdin` also when its standard input is closed, so that it does not outlive the process that started it.
"""

import argparse
import json
import os
import signal
import sys
import threading
from types import FrameType

from aerolane._aerolane import EmbeddedCluster


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m aerolane.testing",
        description="An Aerospike-compatible cluster in memory, for tests and trials, never for production.",
    )
    parser.add_argument("--nodes", type=int, default=3, help="how many nodes (default 3)")
    parser.add_argument("--replication-factor", type=int, default=2, help="nodes that hold each partition (default 2)")
    parser.add_argument(
        "--namespace", action="append", help="name of a namespace; several times for several (default test)"
    )
    parser.add_argument("--default-ttl", type=int, default=0, help="default TTL in seconds (default 0: never expire)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=3000, help="the first node's port; 0: any free (default 3000)")
    parser.add_argument("--cluster-name", help="the cluster's name (default none)")
    parser.add_argument("--threads", type=int, help="threads that serve all nodes (default: cores, at most 4)")
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of the seeds")
    parser.add_argument("--stdin", action="store_true", help="stop when standard input is closed")
    return parser.parse_args()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> int:
    """Runs the cluster; gives the exit code."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    try:
        cluster = EmbeddedCluster(
            arguments.nodes,
            arguments.replication_factor,
            arguments.namespace or "test",
            default_ttl=arguments.default_ttl,
            host=arguments.host,
            port=arguments.port,
            cluster_name=arguments.cluster_name,
            threads=arguments.threads,
        )
    except (ValueError, OverflowError, OSError) as error:
        print(f"aerolane.testing: {error}", file=sys.stderr)
        return 1
    with cluster:
        line = cluster.seeds
        if arguments.json:
            nodes = [{"id": node.id, "address": node.address} for node in cluster.nodes]
            line = json.dumps({"seeds": cluster.seeds, "pid": os.getpid(), "nodes": nodes})
        print(line, flush=True)
        if arguments.stdin:
            while os.read(0, 1024):
                pass
        else:
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
