#!/usr/bin/env python3
"""Runs the vendor's and the community's Python clients, unmodified, against the embedded cluster.

    pip install aerospike aerospike-native aerospike-py
    cargo build -p aerolane-embedded
    python tests/python/peers/check_peers.py [--binary target/debug/aerolane-embedded] [--seeds host:port,...]

Starts a 3-node cluster of its own unless --seeds names one. A peer that is not installed is skipped and said so; with
--require, that is a failure. Exit status 0: every installed peer did everything.
"""

import argparse
import os
import sys
import tempfile
import traceback
import warnings

import c_client
import native_client
import py_client
from harness import TLS_NAME, Log, start

warnings.simplefilter("ignore", DeprecationWarning)
os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")

PEERS = {
    "aerospike": ("aerospike (C client)", c_client),
    "aerospike_native": ("aerospike-native", native_client),
    "aerospike_py": ("aerospike-py", py_client),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/debug/aerolane-embedded")
    parser.add_argument("--seeds", help="a running cluster of 3 nodes, in place of one started here")
    parser.add_argument("--only", choices=PEERS, action="append", help="only this peer (module name)")
    parser.add_argument("--require", action="store_true", help="fail if a peer is not installed")
    arguments = parser.parse_args()
    processes = []
    secured = None
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        certificate = os.path.join(directory, "ca.pem")
        try:
            if arguments.seeds:
                seeds = arguments.seeds
            else:
                process, cluster = start(arguments.binary)
                processes.append(process)
                seeds = cluster["seeds"]
                more = ["--users", "admin:secret", "--tls-name", TLS_NAME, "--tls-certificate", certificate]
                process, secured = start(arguments.binary, *more)
                processes.append(process)
            for module, (name, peer) in PEERS.items():
                if arguments.only and module not in arguments.only:
                    continue
                print(name)
                log = Log(name)
                try:
                    peer.run(seeds, log)
                    if secured:
                        peer.run_secured(secured, certificate, log)
                except ImportError as error:
                    print(f"  skipped: {error}")
                    failed += arguments.require
                except Exception:  # such as: no connection at all
                    traceback.print_exc()
                    log.failed += 1
                failed += log.failed
        finally:
            for process in processes:
                process.stdin.close()
                failed += process.wait(timeout=10) != 0
    print("all good" if not failed else f"{failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
