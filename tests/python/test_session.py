"""The session's front door: clusters, clients, sessions, data sets."""

import asyncio
import pickle
import threading
import time
import weakref
from dataclasses import replace
from datetime import timedelta

import pytest
from conftest import overheard

import aerolane
from aerolane import Behavior, Client, ClusterDefinition, DataSet, Host, Key, SyncClient, sync
from aerolane.exceptions import (
    ClientClosedError,
    InvalidArgumentError,
    InvalidNamespaceError,
    InvalidNodeError,
    RecordNotFoundError,
)
from aerolane.policy import Settings, SystemSettings, TransactionSettings


@pytest.fixture
def where(seeds):
    """Host and port of the first seed."""
    host, _, port = seeds.split(",")[0].rpartition(":")
    return host, int(port)


async def test_tasks_that_enter_one_context_leave_their_own(where, key):
    """Whatever the order in which they leave: nobody closes the cluster of another."""
    context, entered, leave = ClusterDefinition(*where).connect(), {}, {name: asyncio.Event() for name in "abc"}

    async def use(name):
        async with context as cluster:
            entered[name] = cluster
            await leave[name].wait()
            await cluster.create_session().put(key, {"by": name})
        assert not cluster.is_connected

    tasks = {}
    for name in "abc":
        tasks[name] = asyncio.create_task(use(name))
        while name not in entered:
            await asyncio.sleep(0.01)
    for name in "acb":
        leave[name].set()
        await tasks[name]
        assert [cluster.is_connected for cluster in entered.values()] == [not task.done() for task in tasks.values()]
    # Within one task, the last one that was entered is left first; by another task, any that is still entered.
    first = await context.__aenter__()
    second = await context.__aenter__()
    await context.__aexit__(None, None, None)
    assert first.is_connected and not second.is_connected

    async def leave_it():
        await context.__aexit__(None, None, None)

    await asyncio.create_task(leave_it())
    assert not first.is_connected
    with pytest.raises(RuntimeError, match="not been entered"):
        await context.__aexit__(None, None, None)


async def test_weak_references(where, seeds):
    client, definition = Client(seeds), ClusterDefinition(*where)
    async with client, await definition.connect() as cluster:
        for one in (client, cluster, client.create_session(), cluster.create_session(), definition.connect()):
            assert weakref.ref(one)() is one
    with SyncClient(seeds) as client, sync.ClusterDefinition(*where).connect() as cluster:
        for one in (client, cluster, client.create_session(), cluster.create_session()):
            assert weakref.ref(one)() is one


def test_sync_client(seeds, key):
    with SyncClient(seeds) as client:
        session = client.create_session(Behavior.DEFAULT)
        assert session.put(key, {"name": "Alice", "age": 28}) is None
        record = session.get(key)
        assert record.bins == {"name": "Alice", "age": 28}
        assert session.get(key, ["age"]).bins == {"age": 28}
        assert session.get(key, bins=[]).bins == {}
        assert client.is_connected
    assert not client.is_connected
    for call in (lambda: session.get(key), lambda: session.put(key, {"a": 1}), client.create_session):
        with pytest.raises(ClientClosedError):
            call()


async def test_client(seeds, key):
    async with Client(seeds) as client:
        session = client.create_session(Behavior.DEFAULT)
        await session.put(key, {"name": "Alice", "age": 28})
        assert (await session.get(key)).bins == {"name": "Alice", "age": 28}
        assert (await session.get(key, bins=["age"])).bins == {"age": 28}
        missing = Key("test", "none", "x")
        with pytest.raises(RecordNotFoundError):
            await session.get(missing)
    with pytest.raises(ClientClosedError):
        await session.get(key)
    with pytest.raises(ClientClosedError):
        client.create_session()


async def test_client_without_a_block(seeds, key):
    from aerolane.aio.client import Client as FromAio

    assert FromAio is Client
    client = Client(seeds, aerolane.ClientPolicy(), max_error_rate=50, error_rate_window=2)
    with pytest.raises(RuntimeError, match="not connected"):
        client.create_session()
    await client.connect()
    await client.connect()
    await client.create_session().put(key, {"a": 1})
    await client.close()
    await client.close()
    assert not client.is_connected


def test_current_thread_runtime(seeds, set_name):
    """Threads share one cluster and one pool, however many there are."""
    with SyncClient(seeds, current_thread_runtime=True) as client:
        assert client.current_thread_runtime
        session = client.create_session(Behavior.DEFAULT)
        before = threading.active_count()
        failures = []

        def work(number):
            try:
                key = Key("test", set_name, number)
                session.put(key, {"n": number})
                assert session.get(key).bins == {"n": number}
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert threading.active_count() == before


async def test_cluster_definition(where, key):
    definition = ClusterDefinition(*where)
    cluster = await definition.connect()
    assert cluster.is_connected
    session = cluster.create_session()
    await session.put(key, {"a": 1})
    assert (await session.get(key)).bins == {"a": 1}
    await cluster.close()
    assert not cluster.is_connected
    async with definition.connect() as cluster:
        assert (await cluster.create_session(Behavior.DEFAULT).get(key)).bins == {"a": 1}
        node = cluster.nodes()[0]
        assert set(await node.info("build")) == {"build"}
        assert cluster.get_node(node.name).address == node.address
        assert node.name in cluster.node_names()
        assert cluster.server_version() == node.version
        assert cluster.supports_ael() == node.version.supports_server_compiled_ael()
        with pytest.raises(InvalidNodeError):
            cluster.get_node("zz")
    with pytest.raises(ClientClosedError):
        cluster.nodes()
    async with await ClusterDefinition(*where).connect() as cluster:
        assert cluster.is_connected
    assert not cluster.is_connected


def test_sync_cluster_definition(where, key):
    with sync.ClusterDefinition(*where).connect() as cluster:
        session = cluster.create_session()
        session.put(key, {"a": 1})
        assert session.get(key).bins == {"a": 1}
        assert set(session.info("build")) == {"build"}
        assert set(cluster.nodes()[0].info("build")) == {"build"}
        assert isinstance(session, sync.Session)
        assert session.behavior is cluster.create_session(session.behavior).behavior
        assert isinstance(session.session_for(Behavior.DEFAULT), sync.Session)
    with pytest.raises(ClientClosedError):
        session.get(key)


def test_settings_are_chained(where):
    for module in (aerolane, sync):
        definition = module.ClusterDefinition(hosts=[Host(*where), Host.of("127.0.0.1", 1)])
        chained = (
            definition.app_id("tests")
            .preferring_racks(1, 2)
            .using_services_alternate(False)
            .force_single_node(False)
            .fail_if_not_connected(True)
            .ip_map({"10.0.0.1": "127.0.0.1"})
        )
        assert chained is definition
        assert isinstance(chained, module.ClusterDefinition)
        # The racks of a configuration that names none.
        assert definition.preferring_racks(*[]) is definition
        assert definition.with_native_credentials("u", "p").auth_mode == aerolane.AuthMode.INTERNAL
        assert definition.with_external_insecure_credentials("u", "p").auth_mode == aerolane.AuthMode.EXTERNAL_INSECURE
        with pytest.raises(TypeError):
            definition.app_id(3)
        with pytest.raises((TypeError, ValueError)):
            definition.preferring_racks("a")
        with pytest.raises(InvalidArgumentError, match="together"):
            definition.with_tls_config(client_cert_file="/nowhere")
    definition.cluster_name("another").with_native_credentials("u", "p")


def test_system_settings(new_cluster):
    settings = SystemSettings(
        min_connections_per_node=1,
        max_connections_per_node=2,
        conn_pools_per_node=1,
        wait_for_connection_to_complete=timedelta(milliseconds=1500),
        tend_timeout=timedelta(seconds=2),
        login_timeout=timedelta(microseconds=1),
        max_socket_idle_time=timedelta(minutes=1),
        tend_interval=timedelta(seconds=60),
        num_tend_intervals_in_error_window=3,
        max_errors_in_error_window=7,
    )
    policy = aerolane.ClientPolicy()
    assert settings.apply_to(policy) is policy
    assert (policy.min_conns_per_node, policy.max_conns_per_node, policy.conn_pools_per_node) == (1, 2, 1)
    assert (policy.connect_timeout, policy.timeout, policy.login_timeout) == (1500, 2000, 1)
    assert (policy.idle_timeout, policy.tend_interval) == (60_000, 60_000)
    assert (policy.error_rate_window, policy.max_error_rate) == (3, 7)
    # What is not said stays.
    assert SystemSettings().apply_to(aerolane.ClientPolicy(max_conns_per_node=9)).max_conns_per_node == 9
    cluster = new_cluster(nodes=1)
    (node,) = cluster.nodes
    keys = [Key("test", "system", number) for number in range(16)]
    for module in (aerolane, sync):
        definition = module.ClusterDefinition(node.host, node.port)
        assert definition.with_system_settings(settings) is definition
        for wrong in (None, 5, settings.__class__, {"max_connections_per_node": 2}):
            with pytest.raises(TypeError, match="SystemSettings"):
                definition.with_system_settings(wrong)
        with pytest.raises(InvalidArgumentError, match="tend_interval"):
            definition.with_system_settings(SystemSettings(tend_interval=timedelta(milliseconds=1)))
        with pytest.raises(TypeError, match="tend_interval must be a timedelta, not int"):
            definition.with_system_settings(SystemSettings(tend_interval=5))
    # They hold for the clusters that it connects.
    definition = sync.ClusterDefinition(node.host, node.port).with_system_settings(settings)
    patient = Behavior.DEFAULT.derive_with_changes("patient", writes=Settings(total_timeout=timedelta(seconds=60)))
    with definition.connect() as connected:
        session = connected.create_session(patient)
        opened = cluster.stats(node)["connections_opened"]
        threads = [threading.Thread(target=session.put, args=(key, {"a": 1})) for key in keys]
        with cluster.inject("delay", 0.05, on="write"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert [session.get(key).bins for key in keys] == [{"a": 1}] * 16
        assert cluster.stats(node)["connections_opened"] - opened <= 2


async def test_transaction_settings(where):
    defaults = TransactionSettings(
        implicit_batch_write_transactions=True, sleep_between_attempts=timedelta(milliseconds=20), number_of_attempts=10
    )
    some = TransactionSettings(implicit_batch_write_transactions=False, number_of_attempts=3)
    mixed = replace(some, sleep_between_attempts=timedelta(milliseconds=20))
    for given, found in ((None, defaults), (TransactionSettings(), defaults), (some, mixed), (defaults, defaults)):
        both = [ClusterDefinition(*where), sync.ClusterDefinition(*where)]
        if given is not None:
            for definition in both:
                definition.with_system_settings(SystemSettings(transactions=given))
        async with both[0].connect() as cluster:
            assert cluster.transaction_settings == found
        with both[1].connect() as cluster:
            assert cluster.transaction_settings == found


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        (TypeError, "implicit_batch_write_transactions", [1, "yes"]),
        (TypeError, "sleep_between_attempts", [0.02, 20, "20ms"]),
        (TypeError, "number_of_attempts", [True, 1.0, "3"]),
        (InvalidArgumentError, "sleep_between_attempts", [timedelta(seconds=-1), timedelta(days=60)]),
        (InvalidArgumentError, "number_of_attempts", [0, -1, 2**32]),
    ],
)
def test_transaction_settings_are_checked(where, kind, name, values):
    for value in values:
        with pytest.raises(kind, match=name):
            TransactionSettings(**{name: value})
    with pytest.raises(TypeError, match="TransactionSettings"):
        sync.ClusterDefinition(*where).with_system_settings(SystemSettings(transactions={name: values[0]}))


def test_wrong_cluster_name(where):
    with pytest.raises(aerolane.AerospikeError, match="another"):
        sync.ClusterDefinition(*where).cluster_name("another").connect()


def test_definitions_are_checked():
    for module in (aerolane, sync):
        for arguments in (
            {},
            {"hosts": []},
            {"hostname": "a", "hosts": [Host("a", 1)]},
            {"hostname": ""},
            {"port": 3000},
        ):
            with pytest.raises(InvalidArgumentError):
                module.ClusterDefinition(**arguments)
        for port in (0, -1, 65536):
            with pytest.raises(InvalidArgumentError, match="port"):
                module.ClusterDefinition("localhost", port)
        with pytest.raises(TypeError):
            module.ClusterDefinition("localhost", "3000")
        with pytest.raises(TypeError):
            module.ClusterDefinition(hosts=["localhost"])
    with pytest.raises(TypeError):
        Client(None)
    with pytest.raises(TypeError):
        SyncClient("localhost", 5)


def test_nobody_there():
    with pytest.raises(aerolane.ConnectionError, match=r"127\.0\.0\.1:1"):
        sync.ClusterDefinition("127.0.0.1", 1).connect()
    with pytest.raises(aerolane.ConnectionError), SyncClient("127.0.0.1:1"):
        pass

    async def enter():
        async with Client("127.0.0.1:1"):
            pass

    async def define():
        await ClusterDefinition("127.0.0.1", 1).connect()

    for failing in (enter, define):
        with pytest.raises(aerolane.ConnectionError, match=r"127\.0\.0\.1:1"):
            asyncio.run(failing())


def test_alternate_addresses(monkeypatch, where):
    name = "AEROSPIKE_USE_SERVICES_ALTERNATE"
    monkeypatch.delenv(name, raising=False)
    for value, explicit, expected in [
        (None, None, False),
        ("true", None, True),
        ("0", None, False),
        ("1", False, False),
        ("0", True, True),
    ]:
        if value is not None:
            monkeypatch.setenv(name, value)
        with overheard(where) as (address, said):
            definition = sync.ClusterDefinition(*address)
            if explicit is not None:
                definition.using_services_alternate(explicit)
            definition.connect().close()
        assert b"-clear-" in said
        assert (b"-clear-alt\n" in said) is expected, (value, explicit)


async def test_many(seeds, set_name):
    data = DataSet.of("test", set_name)
    async with Client(seeds) as client:
        session = client.create_session()
        keys = data.ids(*range(10))
        assert await session.put_many(keys[:5], {"n": 1}) == [None] * 5
        results = await session.get_many(keys)
        assert [result.bins for result in results[:5]] == [{"n": 1}] * 5
        assert all(isinstance(result, RecordNotFoundError) for result in results[5:])
        assert [result.bins for result in await session.get_many(keys[:2], bins=[])] == [{}, {}]
        assert await session.get_many([]) == []
        with pytest.raises(TypeError, match=r"keys\[1\]"):
            await session.get_many([keys[0], "x"])
        with pytest.raises(TypeError):
            await session.get_many(keys[0])
        with pytest.raises(InvalidArgumentError):
            await session.put_many(keys, {})

        class Boastful(list):
            def __len__(self):
                return 1 << 62

        assert [result.bins for result in await session.get_many(Boastful(keys[:2]))] == [{"n": 1}] * 2


async def test_rest_of_a_session(seeds, set_name):
    data = DataSet.of("test", set_name)
    async with Client(seeds) as client:
        session = client.create_session()
        await session.put(data.id(1), {"a": 1})
        assert await session.is_namespace_sc("test") is False
        with pytest.raises(InvalidNamespaceError):
            await session.is_namespace_sc("nowhere")
        status = await session.namespace_sc_status("test")
        assert isinstance(status, aerolane.NamespaceScStatus)
        assert (status.is_sc, status.detail) == tuple(status) == (False, 'the namespace "test" is in AP mode')
        assert set(await session.info("build")) == {"build"}
        # What was written in the same millisecond would stay on a real server.
        await asyncio.sleep(0.05)
        await session.truncate(data)
        # A server may need a moment until it has heard of it.
        for _ in range(1000):
            (result,) = await session.get_many([data.id(1)])
            if isinstance(result, RecordNotFoundError):
                break
            await asyncio.sleep(0.05)
        assert isinstance(result, RecordNotFoundError)
        with pytest.raises(TypeError):
            await session.truncate(set_name)
        with pytest.raises(TypeError):
            await session.get("k")
        with pytest.raises(TypeError):
            client.create_session("default")


def test_rest_of_a_sync_session(seeds, set_name):
    data = DataSet.of("test", set_name)
    with SyncClient(seeds) as client:
        session = client.create_session()
        session.put(data.id(1), {"a": 1})
        assert session.is_namespace_sc("test") is False
        with pytest.raises(InvalidNamespaceError):
            session.is_namespace_sc("nowhere")
        assert not session.namespace_sc_status("test").is_sc
        assert session.namespace_sc_status("nowhere") == (False, 'the cluster has no namespace "nowhere"')
        # What was written in the same millisecond would stay on a real server.
        time.sleep(0.05)
        session.truncate(data)
        # A server may need a moment until it has heard of it.
        deadline = time.monotonic() + 60
        with pytest.raises(RecordNotFoundError):
            while time.monotonic() < deadline:
                session.get(data.id(1))
                time.sleep(0.05)


def test_data_sets():
    data = DataSet.of("test", "users")
    assert (data.namespace, data.set_name) == ("test", "users")
    assert data.id("a") == Key("test", "users", "a")
    assert data.id(7) == Key("test", "users", 7)
    assert data.id(b"x") == Key("test", "users", b"x")
    assert data.ids("a", 7) == data.ids(["a", 7]) == [data.id("a"), data.id(7)]
    assert data.ids() == []
    digest = data.id("a").digest
    assert data.id_from_digest(digest) == data.id("a")
    assert data.id_from_digest(bytes.fromhex(digest)) == data.id("a")
    assert data.ids_from_digests(digest, digest) == [data.id("a")] * 2
    assert data.id_for_object(7) == data.id(7)
    assert data.id_for_object(1.0) == data.id(1) and data.id_for_object(bytearray(b"b")) == data.id(b"b")
    assert data == DataSet("test", "users") != DataSet("test")
    assert hash(data) == hash(DataSet("test", "users"))
    assert pickle.loads(pickle.dumps(data)) == data
    assert DataSet.of("test").set_name is None
    for namespace, set_name in (("", "s"), ("n" * 32, "s"), ("n", "s" * 64)):
        with pytest.raises(InvalidArgumentError):
            DataSet.of(namespace, set_name)
    with pytest.raises(TypeError):
        DataSet.of(1)
    for bad in (None, 1.5, [1]):
        with pytest.raises(TypeError):
            data.id(bad)
    for bad in (None, 1.5, object(), [1]):
        with pytest.raises(TypeError, match="Cannot"):
            data.id_for_object(bad)
    with pytest.raises((TypeError, ValueError)):
        data.id_from_digest("00")


def test_hosts():
    assert Host.parse_hosts("one:3100, two,[::1]:4,::2", 3000) == [
        Host("one", 3100),
        Host("two", 3000),
        Host("::1", 4),
        Host("::2", 3000),
    ]
    assert Host("a", 1, "tls").tls_name == "tls"
    assert Host.of("a", 1).port == 1
    for bad in ("", ",", "a:b", "a:0", "[::1", "[::1]x", "a:99999"):
        with pytest.raises(InvalidArgumentError):
            Host.parse_hosts(bad, 3000)
