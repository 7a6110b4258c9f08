"""Rounds of the Rust clients: runs of `aerolane-bench`, the harness of the crates. Its figures have the same names."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from aerolane.bench import cores
from aerolane.bench.child import PATIENCE, Answer
from aerolane.bench.report import SCHEMA
from aerolane.bench.spec import RunSpec

# Names the program.
VARIABLE = "AEROLANE_BENCH"

# What is measured, and what it is called in a report. The keys are the program's names.
CLIENTS = {
    "core-async": "aerospike-core",
    "aerolane-async": "aerolane::Client",
    "aerolane-local": "aerolane::LocalClient",
    "core-sync": "aerospike-core, block_on",
    "aerolane-sync": "aerolane::SyncClient",
}

# A set of its own: the records of the Python harness have other bins.
SET = "rust"

# Records that a client writes each second, at the least.
LOAD_RATE = 2_000


def runs(mode: str) -> bool:
    """Whether a mode is one of these clients."""
    return mode in CLIENTS


def find() -> str | None:
    """The path of the program: as `AEROLANE_BENCH` says, or in `PATH`."""
    return shutil.which(os.environ.get(VARIABLE) or "aerolane-bench")


def ask(job: str, spec: RunSpec, before: Sequence[str] = ()) -> Answer:
    """Carries out `job` (`run`, `load`) in a process of its own, which the program `before` starts, if there is one."""
    program = find()
    if program is None:
        return Answer(
            missing=f"aerolane-bench is not there: build it (make bench-report does), or name it by {VARIABLE}"
        )
    patience = PATIENCE + spec.warmup + spec.duration + spec.keys / LOAD_RATE
    try:
        with cores.of_clients(spec.conditions.own_core):
            done = subprocess.run(
                [*before, program, *_options(job, spec)], capture_output=True, timeout=patience, check=False
            )
    except subprocess.TimeoutExpired:
        return Answer(failure=f"its process did not end within {patience:.0f} s")
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        return Answer(failure=said.splitlines()[-1] if said else f"its process ended with status {done.returncode}")
    try:
        figures: dict[str, Any] = json.loads(done.stdout)
        version = figures["schema"]
    except (ValueError, KeyError, TypeError):
        return Answer(failure="its figures cannot be read: the program is of another version")
    if version != SCHEMA:
        return Answer(failure=f"its figures are of version {version}, this program reads {SCHEMA}")
    for name in ("each_round", "spread"):
        figures.pop(name, None)
    return Answer(figures=figures)


def _options(job: str, spec: RunSpec) -> list[str]:
    # It measures in any case; of a load nobody looks at that.
    duration, warmup = (0.05, 0.0) if job == "load" else (spec.duration, spec.warmup)
    options: dict[str, object] = {
        "--client": spec.mode,
        "--host": spec.seeds,
        "--namespace": spec.namespace,
        "--set": SET,
        "--keys": spec.keys,
        "--workload": spec.workload,
        "--tasks": spec.tasks,
        "--threads": spec.threads,
        "--batch-size": spec.batch,
        "--duration": duration,
        "--warmup": warmup,
        "--rounds": 1,
        "--lat-sample-every": spec.sample_every,
        "--rate": spec.rate,
        "--arrivals": spec.arrivals,
        "--seed": spec.seed,
    }
    if spec.max_conns_per_node:
        options["--max-conns-per-node"] = spec.max_conns_per_node
    pairs = [part for name, value in options.items() for part in (name, str(value))]
    return [*pairs, "--load" if job == "load" else "--no-load", "--json", "--quiet"]
