"""Logins with a certificate instead of a password: through every front door, and what they may do."""

import asyncio
import time
from pathlib import Path

import pytest

import aerolane
from aerolane import AuthMode, ClientPolicy, Host, Key, ResultCode, TlsConfig, native, sync
from aerolane.exceptions import AuthenticationError, AuthorizationError, SecurityError
from aerolane.testing import EmbeddedCluster

NAME = "lab.example"
TLS = Path(__file__).parent / "tls"
# The Common Name of this certificate is `client`.
MINE = {"client_cert_file": str(TLS / "client.pem"), "client_key_file": str(TLS / "client-key.pem")}
KEYS = [Key("test", "pki", number) for number in range(50)]


@pytest.fixture
def started(tmp_path):
    """`started(users)`: a cluster with these users that asks clients for a certificate, and the file with its own."""
    clusters = []

    def start(users, **options):
        options = {"tls_client_ca": (TLS / "client.pem").read_text()} | options
        cluster = EmbeddedCluster(2, users=users, tls_name=NAME, **options)
        clusters.append(cluster)
        path = tmp_path / f"ca-{len(clusters)}.pem"
        path.write_text(cluster.certificate_pem)
        return cluster, str(path)

    yield start
    for cluster in clusters:
        cluster.close()


def seeds(cluster):
    return ",".join(f"{host.name}:{NAME}:{host.port}" for host in Host.parse_hosts(cluster.tls_seeds))


def policy(ca_file, **fields):
    """Logs in with the certificate, unless the fields say otherwise."""
    config = TlsConfig.with_client_auth(ca_file, MINE["client_cert_file"], MINE["client_key_file"])
    if not fields:
        made = ClientPolicy(tls_config=config)
        made.set_pki_auth()
        return made
    return ClientPolicy(tls_config=config, **fields)


def definition(module, cluster, ca_file):
    made = module.ClusterDefinition(hosts=Host.parse_hosts(cluster.tls_seeds))
    return made.with_certificate_credentials().with_tls_config(tls_name=NAME, ca_file=ca_file, **MINE)


def test_sessions(started):
    cluster, ca_file = started({"client": "secret"})
    with definition(sync, cluster, ca_file).connect() as connected:
        session = connected.create_session()
        for number, key in enumerate(KEYS):
            session.put(key, {"n": number})
        assert [session.get(key).bins["n"] for key in KEYS] == list(range(50))

    async def on_a_loop():
        async with definition(aerolane, cluster, ca_file).connect() as connected:
            session = connected.create_session()
            await asyncio.gather(*(session.put(key, {"n": -number}) for number, key in enumerate(KEYS)))
            return await session.get_many(KEYS)

    assert [record.bins["n"] for record in asyncio.run(on_a_loop())] == [-number for number in range(50)]


@pytest.mark.parametrize("fields", [{}, {"auth_mode": AuthMode.PKI}], ids=["set_pki_auth", "auth_mode"])
def test_the_native_client(started, fields):
    cluster, ca_file = started({"client": "secret"})
    with native.new_client_blocking(policy(ca_file, **fields), seeds(cluster)) as client:
        client.put_blocking(KEYS[0], {"n": 1})
        assert client.get_blocking(KEYS[0]).bins == {"n": 1}
        client.batch_write_blocking(KEYS, [{"n": number} for number in range(50)])
        # The user may do everything: commands that go over connections of their own, too.
        client.create_user_blocking("other", "pw", ["read"])
        assert {user.user for user in client.query_users_blocking()} == {"client", "other"}

    async def on_a_loop():
        async with await native.new_client(policy(ca_file, **fields), seeds(cluster)) as client:
            await client.drop_user("other")
            return [user.user for user in await client.query_users()], await client.get(KEYS[3])

    users, record = asyncio.run(on_a_loop())
    assert (users, record.bins) == (["client"], {"n": 3})


def each_way(cluster, ca_file):
    """All ways to connect, as functions."""

    async def session():
        await definition(aerolane, cluster, ca_file).connect()

    async def client():
        await native.new_client(policy(ca_file), seeds(cluster))

    return (
        lambda: definition(sync, cluster, ca_file).connect(),
        lambda: native.new_client_blocking(policy(ca_file), seeds(cluster)),
        lambda: asyncio.run(session()),
        lambda: asyncio.run(client()),
    )


def refused_at_once(connect, code):
    """None of the time limits (1 s for a login, 30 s for a session) ends it, but the answer."""
    begin = time.monotonic()
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert caught.value.result_code == code
    assert time.monotonic() - begin < 20


def test_a_name_that_is_no_user(started):
    cluster, ca_file = started({"me": "secret", "Client": "secret"})
    for connect in each_way(cluster, ca_file):
        refused_at_once(connect, ResultCode.INVALID_USER)


def test_a_cluster_that_asks_for_no_certificate(started):
    cluster, ca_file = started({"client": "secret"}, tls_client_ca=None)
    for connect in each_way(cluster, ca_file):
        refused_at_once(connect, ResultCode.INVALID_CREDENTIAL)


def test_without_tls(started):
    cluster, _ = started({"client": "secret"})
    with pytest.raises(aerolane.InvalidArgumentError, match="TLS"):
        native.new_client_blocking(ClientPolicy(auth_mode=AuthMode.PKI), cluster.seeds)
    with pytest.raises(aerolane.InvalidArgumentError, match="TLS"):
        sync.ClusterDefinition(hosts=Host.parse_hosts(cluster.seeds)).with_certificate_credentials().connect()


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
def test_a_user_without_a_password(started, blocking):
    cluster, ca_file = started({"admin": "secret"})

    def call(client, name, *args):
        if blocking:
            return getattr(client, f"{name}_blocking")(*args)

        async def on_a_loop():
            return await getattr(client, name)(*args)

        return asyncio.run(on_a_loop())

    with native.new_client_blocking(policy(ca_file, user="admin", password="secret"), seeds(cluster)) as admin:
        call(admin, "create_pki_user", "client", ["read"])
        with native.new_client_blocking(policy(ca_file), seeds(cluster)) as client:
            # What the roles do not permit is refused, and felt at once when it changes.
            with pytest.raises(AuthorizationError) as caught:
                call(client, "put", KEYS[0], {"n": 1})
            assert caught.value.result_code == ResultCode.ROLE_VIOLATION
            call(admin, "grant_roles", "client", ["write"])
            call(client, "put", KEYS[0], {"n": 1})
            assert call(client, "get", KEYS[0]).bins == {"n": 1}
            call(admin, "revoke_roles", "client", ["read", "write"])
            for name, args in (("put", (KEYS[0], {"n": 2})), ("get", (KEYS[0],))):
                with pytest.raises(AuthorizationError):
                    call(client, name, *args)
        # No password is that user's, and none can become it.
        for password in ("nopassword", "secret", ""):
            with pytest.raises(AuthenticationError):
                native.new_client_blocking(policy(ca_file, user="client", password=password), seeds(cluster))
        with pytest.raises(SecurityError) as caught:
            call(admin, "change_password", "client", "secret")
        assert caught.value.result_code == ResultCode.FORBIDDEN_PASSWORD
        call(admin, "drop_user", "client")
        refused_at_once(each_way(cluster, ca_file)[0], ResultCode.INVALID_USER)
