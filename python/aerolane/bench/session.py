"""One invocation: the cluster, the load, every mode in a process of its own, several rounds."""

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from aerolane.bench import child, cores
from aerolane.bench.modes import MODES
from aerolane.bench.report import Report, middle
from aerolane.bench.spec import RunSpec
from aerolane.testing import EmbeddedCluster

Tell = Callable[[str], None]


@dataclass
class Plan:
    """What an invocation is to do. `spec` is that of all modes, but for the mode and, without `-H`, the seeds."""

    modes: list[str]
    spec: RunSpec
    rounds: int = 1
    nodes: int = 3
    tls: bool = False
    """Whether the embedded cluster is to be used over TLS."""
    load: bool = True
    truncate: bool = False
    truncate_after: bool = False


@dataclass
class Outcome:
    """The figures of the modes that ran, in the order asked for, and why others did not."""

    reports: list[Report] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """Clients that are not installed."""
    failures: dict[str, str] = field(default_factory=dict)

    def miss(self, name: str, reason: str, tell: Tell) -> None:
        """Keeps and tells that a client is not installed."""
        self.missing[name] = reason
        tell(f"{name}: skipped: {reason}")


class ClusterError(Exception):
    """The embedded cluster did not start; the message says why."""


class LoadError(Exception):
    """The records could not be written, or the set not emptied."""


def run(plan: Plan, tell: Tell) -> Outcome:
    """Does it; `tell` gets a line about each thing that does not go as asked.

    Raises `ClusterError` or `LoadError` when there is nothing to measure on.
    """
    needs_cluster = [name for name in plan.modes if not MODES[name].floor]
    with contextlib.ExitStack() as stack:
        spec = plan.spec
        if needs_cluster and not spec.seeds:
            spec = _embedded(plan, stack)
        outcome = Outcome()
        jobs = ["truncate"] * plan.truncate + ["load"] * plan.load
        for job in jobs if needs_cluster else ():
            _with_any(job, needs_cluster, spec, outcome, tell)
        large = spec.large()
        if needs_cluster and large and plan.load:
            _with_any("load", needs_cluster, large, outcome, tell)
        _measure(plan, spec, outcome, tell)
        if needs_cluster and plan.truncate_after:
            _with_any("truncate", needs_cluster, spec, outcome, tell)
        return outcome


# The name in the certificate of the embedded cluster.
TLS_NAME = "localhost"
# How many requests a node has in service where nothing is said of it.
DEFAULT_IN_SERVICE = 64


def _embedded(plan: Plan, stack: contextlib.ExitStack) -> RunSpec:
    """Starts an embedded cluster; gives the run on it."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) if plan.tls else None
    cluster = stack.enter_context(start(plan.spec, plan.nodes, TLS_NAME if plan.tls else None))
    if folder is None:
        return replace(plan.spec, seeds=cluster.seeds)
    certificate = folder / "certificate.pem"
    certificate.write_text(cluster.certificate_pem or "", encoding="ascii")
    security = replace(plan.spec.security, tls_ca_file=str(certificate), tls_name=TLS_NAME)
    return replace(plan.spec, seeds=cluster.tls_seeds, security=security)


def start(spec: RunSpec, nodes: int, tls_name: str | None = None) -> EmbeddedCluster:
    """Starts an embedded cluster under the conditions of a run, with two copies where it has two nodes.

    Raises `ClusterError`.
    """
    given = spec.conditions
    try:
        with cores.of_cluster(given.own_core):
            return EmbeddedCluster(
                nodes,
                min(2, nodes),
                spec.namespace,
                service_time=given.service_time or None,
                in_service=int(given.in_service or DEFAULT_IN_SERVICE),
                latency=given.latency or None,
                tls_name=tls_name,
            )
    except (ValueError, OSError, RuntimeError) as error:
        raise ClusterError(str(error)) from error


def _with_any(job: str, names: list[str], spec: RunSpec, outcome: Outcome, tell: Tell) -> None:
    """Does a job with the first client that can; nothing if none of them is installed."""
    reasons = []
    for name in names:
        if name in outcome.missing:
            continue
        answer = child.ask(job, replace(spec, mode=name, current_thread_runtime=False, fast_path=True))
        if answer.figures is not None:
            return
        if answer.missing:
            outcome.miss(name, answer.missing, tell)
        else:
            reasons.append(f"{name}: {answer.failure}")
    if reasons:
        raise LoadError(f"{job} failed. " + "; ".join(reasons))


def _measure(plan: Plan, spec: RunSpec, outcome: Outcome, tell: Tell) -> None:
    rounds: dict[str, list[Report]] = {name: [] for name in plan.modes}
    for number in range(plan.rounds):
        # Whoever comes first meets a colder machine; so the order turns.
        for name in plan.modes if number % 2 == 0 else reversed(plan.modes):
            if name in outcome.missing or name in outcome.failures:
                continue
            answer = child.ask("run", replace(spec, mode=name))
            if answer.figures is not None:
                rounds[name].append(answer.figures)
            elif answer.missing:
                outcome.miss(name, answer.missing, tell)
            else:
                outcome.failures[name] = answer.failure
                tell(f"{name}: failed: {answer.failure}")
    outcome.reports = [middle(figures) for figures in rounds.values() if figures]
