"""`aerolane ping` and `info`: what the nodes of a cluster say."""

import time
from typing import Annotated, Any

import typer

from aerolane.cli import output
from aerolane.cli.connection import Connection
from aerolane.cli.exit_codes import ExitCode, Failure, usage
from aerolane.exceptions import AerospikeError
from aerolane.sync import Node

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def ping(
    connection: Connection,
    count: Annotated[int, typer.Option("-c", "--count", min=1, help="How often to ask each node.")] = 3,
    as_json: _Json = False,
) -> None:
    """Ask each node for its version. The times include the overhead of the control plane. Exit code 1: a node did not
    answer."""
    with connection.connect() as cluster:
        told = [_pinged(node, count) for node in sorted(cluster.nodes(), key=lambda node: node.name)]
    if as_json:
        output.as_json(told)
    else:
        rows = [[one["node"], one["address"], one["build"], one["fastest_ms"], one["error"]] for one in told]
        output.table(["node", "address", "build", "fastest ms", "error"], rows)
    failed = [str(one["node"]) for one in told if one["error"]]
    if failed:
        raise Failure(ExitCode.FAILED, f"no answer from {', '.join(failed)}")


def _pinged(node: Node, count: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "node": node.name,
        "address": node.address,
        "build": None,
        "fastest_ms": None,
        "error": None,
    }
    try:
        for _ in range(count):
            began = time.perf_counter()
            told["build"] = node.info("build")["build"]
            took = round(1000 * (time.perf_counter() - began), 3)
            told["fastest_ms"] = min(took, told["fastest_ms"] or took)
    except AerospikeError as error:
        told["error"] = str(error)
    return told


def info(
    connection: Connection,
    commands: Annotated[list[str] | None, typer.Argument(help="Info commands, sent to each node as they are.")] = None,
    node: Annotated[str | None, typer.Option(help="Only this node: its name or address.")] = None,
    as_json: _Json = False,
) -> None:
    """Show nodes and namespaces, or the nodes' answers to info commands: aerolane info statistics namespaces"""
    with connection.connect() as cluster:
        nodes = [one for one in cluster.nodes() if node in (None, one.name, one.address)]
        if not nodes:
            raise usage(
                f"--node {node}: the cluster has {', '.join(f'{one.name} ({one.address})' for one in cluster.nodes())}"
            )
        nodes.sort(key=lambda one: one.name)
        if commands:
            _answers(nodes, commands, as_json)
        else:
            _overview(cluster.cluster_name, nodes, as_json)


def _answers(nodes: list[Node], commands: list[str], as_json: bool) -> None:
    answers = {one.name: {command: one.info(command).get(command, "") for command in commands} for one in nodes}
    if as_json:
        output.as_json(answers)
        return
    rows = [[name, command, text] for name, told in answers.items() for command, text in told.items()]
    output.table(["node", "command", "answer"], rows)


# What a namespace is summed up by, over the nodes, and the column for it.
_SUMS = {"objects": "objects", "master_objects": "master objects", "data_used_bytes": "bytes used"}


def _overview(cluster_name: str | None, nodes: list[Node], as_json: bool) -> None:
    listed: list[dict[str, Any]] = []
    namespaces: dict[str, dict[str, Any]] = {}
    for one in nodes:
        told = one.info("namespaces").get("namespaces", "")
        listed.append({"node": one.name, "address": one.address, "build": str(one.version)})
        for name in filter(None, told.split(";")):
            sums = namespaces.setdefault(name, {"namespace": name, "nodes": 0, **dict.fromkeys(_SUMS, 0)})
            sums["nodes"] += 1
            detail = _pairs(one.info(f"namespace/{name}").get(f"namespace/{name}", ""))
            for statistic in _SUMS:
                sums[statistic] += int(detail.get(statistic, "0") or 0)
    if as_json:
        output.as_json({"cluster": cluster_name, "nodes": listed, "namespaces": list(namespaces.values())})
        return
    output.table(["node", "address", "build"], [list(one.values()) for one in listed], title=cluster_name)
    output.table(["namespace", "nodes", *_SUMS.values()], [list(one.values()) for one in namespaces.values()])


def _pairs(body: str) -> dict[str, str]:
    """The statistics of an answer: `a=1;b=2`."""
    return {name: text for name, equals, text in (part.partition("=") for part in body.split(";")) if equals}
