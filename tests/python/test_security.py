"""Logins and TLS, end to end: every front door on a cluster that asks for them."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from shlex import split

import pytest

import aerolane
from aerolane import AuthMode, ClientPolicy, ClusterDefinition, Host, Key, TlsConfig, native, sync
from aerolane.exceptions import AuthenticationError, ConnectionError
from aerolane.testing import EmbeddedCluster

NAME = "lab.example"
TLS = Path(__file__).parent / "tls"
KEYS = [Key("test", "security", number) for number in range(200)]


@pytest.fixture(scope="module")
def guarded():
    """A cluster with TLS and a user."""
    with EmbeddedCluster(2, users={"me": "secret"}, tls_name=NAME) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def ca_file(guarded, tmp_path_factory):
    path = tmp_path_factory.mktemp("tls") / "ca.pem"
    path.write_text(guarded.certificate_pem)
    return str(path)


def hosts(seeds, tls_name=None):
    return [Host(host.name, host.port, tls_name) for host in Host.parse_hosts(seeds)]


@pytest.fixture(params=["plain", "tls"])
def define(request, guarded, ca_file):
    """`define(module)`: a definition of the cluster, with a login, over plain connections or over TLS."""

    def plain(module):
        return module.ClusterDefinition(hosts=hosts(guarded.seeds)).with_native_credentials("me", "secret")

    def over_tls(module):
        definition = module.ClusterDefinition(hosts=hosts(guarded.tls_seeds, NAME))
        return definition.with_native_credentials("me", "secret").with_tls_config(ca_file=ca_file)

    return plain if request.param == "plain" else over_tls


def tls_policy(ca_file, **fields):
    return ClientPolicy(tls_config=TlsConfig(ca_file), user="me", password="secret", **fields)


def tls_seeds(cluster):
    """As the native client takes them: with the name in the certificate."""
    return ",".join(f"{host.name}:{NAME}:{host.port}" for host in hosts(cluster.tls_seeds))


def test_a_blocking_session(define):
    keys = [Key("test", "large", number) for number in range(20)]
    with define(sync).connect() as cluster:
        session = cluster.create_session()
        for number, key in enumerate(keys):
            session.put(key, {"n": number, "text": "x" * 20_000})
        assert [session.get(key, ["n"]).bins for key in keys] == [{"n": number} for number in range(20)]
        assert session.get(keys[7]).bins == {"n": 7, "text": "x" * 20_000}


async def test_a_session_on_a_loop(define):
    async with define(aerolane).connect() as cluster:
        session = cluster.create_session()
        await asyncio.gather(*(session.put(key, {"n": number}) for number, key in enumerate(KEYS)))
        records = await asyncio.gather(*(session.get(key) for key in KEYS))
        assert [record.bins for record in records] == [{"n": number} for number in range(200)]
        assert [record.bins["n"] for record in await session.get_many(KEYS)] == list(range(200))


async def test_a_cancelled_call_leaves_nothing_behind_over_tls(guarded, ca_file):
    async with await native.new_client(tls_policy(ca_file), tls_seeds(guarded)) as client:
        await asyncio.gather(*(client.put(key, {"n": number}) for number, key in enumerate(KEYS)))
        calls = [asyncio.ensure_future(client.get(key)) for key in KEYS]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [result.bins["n"] for result in results[1::2]] == list(range(1, 200, 2))
        assert [(await client.get(key)).bins["n"] for key in KEYS[:20]] == list(range(20))


def test_batches_over_tls(guarded, ca_file):
    with native.new_client_blocking(tls_policy(ca_file), tls_seeds(guarded)) as client:
        client.batch_write_blocking(KEYS, [{"n": number} for number in range(200)])
        assert [row.record.bins["n"] for row in client.batch_read_blocking(KEYS)] == list(range(200))

        async def on_a_loop():
            return await client.batch_read(KEYS)

        assert [row.record.bins["n"] for row in asyncio.run(on_a_loop())] == list(range(200))


@pytest.mark.parametrize(("user", "password"), [("me", "wrong"), ("nobody", "secret")])
def test_a_login_that_is_refused(guarded, user, password):
    with pytest.raises(AuthenticationError):
        sync.ClusterDefinition(hosts=hosts(guarded.seeds)).with_native_credentials(user, password).connect()

    async def on_a_loop():
        await ClusterDefinition(hosts=hosts(guarded.seeds)).with_native_credentials(user, password).connect()

    with pytest.raises(AuthenticationError):
        asyncio.run(on_a_loop())
    with pytest.raises(AuthenticationError):
        native.new_client_blocking(ClientPolicy(user=user, password=password), guarded.seeds)


def test_no_login(guarded):
    with pytest.raises(aerolane.AerospikeError) as caught:
        native.new_client_blocking(ClientPolicy(auth_mode=AuthMode.NONE), guarded.seeds)
    assert not isinstance(caught.value, aerolane.TimeoutError)


def test_a_certificate_that_is_not_trusted(guarded, ca_file, tmp_path):
    with EmbeddedCluster(1, tls_name=NAME) as other:
        foreign = tmp_path / "other.pem"
        foreign.write_text(other.certificate_pem)
    for policy, seeds in (
        (tls_policy(str(foreign)), tls_seeds(guarded)),
        # The name in the certificate is another one.
        (tls_policy(ca_file), tls_seeds(guarded).replace(NAME, "else.example")),
        # No TLS where TLS is spoken.
        (ClientPolicy(user="me", password="secret", timeout=500), guarded.tls_seeds),
    ):
        with pytest.raises(ConnectionError):
            native.new_client_blocking(policy, seeds)


@pytest.fixture(scope="module")
def mutual(tmp_path_factory):
    """A cluster that asks clients for a certificate, and the file with its own."""
    with EmbeddedCluster(2, tls_name=NAME, tls_client_ca=(TLS / "client.pem").read_text()) as cluster:
        path = tmp_path_factory.mktemp("mutual") / "ca.pem"
        path.write_text(cluster.certificate_pem)
        yield cluster, str(path)


def test_a_certificate_of_the_client(mutual):
    cluster, ca_file = mutual
    mine = {"client_cert_file": str(TLS / "client.pem"), "client_key_file": str(TLS / "client-key.pem")}

    def definition(module, **files):
        return module.ClusterDefinition(hosts=hosts(cluster.tls_seeds)).with_tls_config(
            tls_name=NAME, ca_file=ca_file, **files
        )

    with definition(sync, **mine).connect() as connected:
        session = connected.create_session()
        for number, key in enumerate(KEYS):
            session.put(key, {"n": number})

    async def on_a_loop():
        async with definition(aerolane, **mine).connect() as connected:
            return await connected.create_session().get_many(KEYS)

    assert [record.bins["n"] for record in asyncio.run(on_a_loop())] == list(range(200))
    config = TlsConfig.with_client_auth(ca_file, TLS / "client.pem", TLS / "client-key.pem")
    with native.new_client_blocking(ClientPolicy(tls_config=config), tls_seeds(cluster)) as client:
        assert client.get_blocking(KEYS[3]).bins == {"n": 3}
    with pytest.raises(ConnectionError):
        definition(sync).connect()
    with pytest.raises(ValueError, match="tls_name"):
        EmbeddedCluster(1, tls_client_ca="")


def test_the_load_harness_logs_in_over_tls(guarded, ca_file):
    options = split("--mode sync,async,pac-blocking,pac-async -d 0.4 --warmup 0 -k 100 --threads 2 -z 4 --json")
    options += ["-H", guarded.tls_seeds, "--tls-name", NAME, "--tls-ca-file", ca_file, "-U", "me"]
    run = subprocess.run(
        [sys.executable, "-m", "aerolane.bench", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"AEROSPIKE_PASSWORD": "secret"},
    )
    assert run.returncode == 0, run.stderr
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    assert [report["client"] for report in reports] == ["sync", "async", "pac-blocking", "pac-async"]
    assert all(report["tps"] > 50 and report["errors"] == report["timeouts"] == 0 for report in reports), reports
