"""The command line, command by command, in this process: what is printed, and the exit codes."""

import contextlib
import json

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import aerolane
from aerolane.cli.app import app
from aerolane.cli.connection import PASSWORD_VARIABLE, Connection
from aerolane.cli.exit_codes import ExitCode
from aerolane.testing import EmbeddedCluster


@pytest.fixture
def run(seeds, monkeypatch):
    """`run(*arguments, code=ExitCode.OK)`: the result of a command on the cluster under test."""
    monkeypatch.setenv("AEROSPIKE_HOST", seeds)
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)

    def invoke(*arguments, code=ExitCode.OK, input=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_a_record_comes_and_goes(run, set_name, client):
    run("put", "alice", "-s", set_name, "name=Alice", "age=28", "zip=007", "tags=[1, 2]", "--type", "tags=json")
    printed = run("get", "alice", "-s", set_name)
    assert 'name  "Alice"' in printed.stdout and "generation 1" in printed.stderr
    record = json.loads(run("get", "alice", "-s", set_name, "--json").stdout)
    assert record["bins"] == {"name": "Alice", "age": 28, "zip": "007", "tags": [1, 2]}
    assert record["generation"] == 1
    run("put", "alice", "-s", set_name, "age=", "--ttl", 1000)
    record = json.loads(run("get", "alice", "-s", set_name, "--bins", "age,name", "--json").stdout)
    assert record["bins"] == {"name": "Alice"} and 900 < record["ttl"] <= 1000
    assert json.loads(run("delete", "alice", "-s", set_name, "--json").stdout) == {"deleted": True}
    assert "no record" in run("delete", "alice", "-s", set_name, code=ExitCode.NOT_FOUND).stderr
    run("get", "alice", "-s", set_name, code=ExitCode.NOT_FOUND)


def test_keys_have_the_types_that_load_gives_them(run, set_name, client):
    def stored(value):
        return client.get_blocking(aerolane.Key("test", set_name, value)).bins["k"]

    for text, options, key in [
        ("42", [], 42),
        ("042", [], "042"),
        ("42", ["--key-type", "string"], "42"),
        ("0a0b", ["--key-type", "hex"], b"\x0a\x0b"),
        ("7", ["--key-type", "int"], 7),
    ]:
        run("put", text, "-s", set_name, f"k=key {key!r}", *options)
        assert stored(key) == f"key {key!r}"
    digest = aerolane.Key("test", set_name, 42).digest
    assert "key 42" in run("get", digest, "-s", set_name, "--key-type", "digest").stdout
    run("put", "-s", set_name, "--", "-5", "k=1")
    assert stored(-5) == 1
    run("get", "x", "-s", set_name, "--key-type", "int", code=ExitCode.USAGE)
    run("get", "x", "-s", set_name, "--key-type", "digest", code=ExitCode.USAGE)


def test_what_cannot_be_written_is_a_usage_error(run, set_name):
    for bins, text in [
        (["age"], "BIN=VALUE"),
        (["a=1", "a=2"], "twice"),
        (["a=x", "--type", "a=int"], "not of type int"),
        (["a=1", "--type", "b=int"], "no such bin"),
        (["a_name_that_is_too_long=1"], "more than 15"),
    ]:
        assert text in run("put", "k", "-s", set_name, *bins, code=ExitCode.USAGE).stderr
    run("put", "k", "-s", set_name, "-n", "nowhere", "a=1", code=ExitCode.FAILED)


def test_ping_and_info(run, client):
    nodes = json.loads(run("ping", "--json").stdout)
    assert sorted(node["node"] for node in nodes) == sorted(client.node_names())
    assert all(node["build"] and node["fastest_ms"] > 0 and node["error"] is None for node in nodes)
    lines = run("ping").stdout.splitlines()
    assert lines[0].split("\t")[0] == "node" and len(lines) == 1 + len(nodes)
    overview = json.loads(run("info", "--json").stdout)
    assert "test" in [namespace["namespace"] for namespace in overview["namespaces"]]
    assert len(overview["nodes"]) == len(nodes)
    assert "namespace\tnodes" in run("info").stdout
    name = nodes[0]["node"]
    answers = json.loads(run("info", "build", "namespaces", "--node", name, "--json").stdout)
    assert list(answers) == [name] and answers[name]["build"] == nodes[0]["build"]
    assert f"{name}\tbuild\t" in run("info", "build").stdout
    assert name in run("info", "--node", "nobody", code=ExitCode.USAGE).stderr


def test_a_node_that_does_not_answer(run, monkeypatch):
    class Silent:
        name, address = "A1", "there:3000"

        def info(self, _command):
            raise aerolane.TimeoutError("nobody answers")

    class Connected:
        def nodes(self):
            return [Silent()]

    monkeypatch.setattr(Connection, "connect", lambda _: contextlib.nullcontext(Connected()))
    result = run("ping", "--json", code=ExitCode.FAILED)
    assert "nobody answers" in json.loads(result.stdout)[0]["error"]
    assert "no answer from A1" in result.stderr


def test_no_cluster(run):
    result = run("ping", "-h", "127.0.0.1:1", code=ExitCode.NOT_CONNECTED)
    assert "could not connect to 127.0.0.1:1" in result.stderr
    run("ping", "-h", "127.0.0.1:notaport", code=ExitCode.USAGE)
    run("ping", "--tls-cert-file", "only-one.pem", code=ExitCode.USAGE)
    run("ping", "--tls-ca-file", "/nowhere.pem", code=ExitCode.USAGE)
    run("ping", "--auth-mode", "external", code=ExitCode.USAGE)
    run("ping", "--auth-mode", "pki", "-U", "me", code=ExitCode.USAGE)


def test_passwords_come_from_the_environment_or_a_prompt(run, monkeypatch):
    with EmbeddedCluster(nodes=1, users={"admin": "secret"}) as cluster:
        arguments = ["ping", "-h", cluster.seeds, "-U", "admin"]
        assert PASSWORD_VARIABLE in run(*arguments, code=ExitCode.USAGE).stderr, "no terminal to ask on"
        monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
        run(*arguments)
        monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
        result = run(*arguments, code=ExitCode.NOT_CONNECTED)
        assert "wrong" not in result.output
        run(*arguments, "--password", "secret", code=ExitCode.USAGE)


def test_help_names_every_command_and_the_exit_codes(run):
    text = run("--help").stdout
    for command in ("ping", "info", "get", "put", "delete", "load", "export", "embedded", "bench"):
        assert command in text
    assert "Exit codes" in text
    assert run("--version").stdout.strip() == aerolane.__version__
    run("nonsense", code=ExitCode.USAGE)
