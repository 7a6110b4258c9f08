"""The configuration file of clients, `AEROSPIKE_CLIENT_CONFIG_URL`: it goes over the policies of calls, for the native
client, `Client`, `SyncClient` and sessions, and over their behaviors."""

import asyncio
import contextlib
import logging
from datetime import timedelta

import pytest
from client_config import INFO_1, INFO_2, INFO_4, SECTIONS, VARIABLE, said_by
from conftest import Either, eventually, eventually_async, logged

from aerolane import (
    AerospikeError,
    Behavior,
    ClusterDefinition,
    DataSet,
    ErrorStrategy,
    Key,
    RecordNotFoundError,
    ResultCode,
    SyncClient,
    native,
    sync,
)
from aerolane.policy import MetricsSettings, Settings, SystemSettings

READ_MODE_AP_ALL, NO_BIN_DATA, SHORT_QUERY, XDR = 0x40, 0x20, 0x04, 0x10
DURABLE_DELETE = 0x10


@pytest.fixture
def say(tmp_path, monkeypatch):
    """`say(sections)`: makes this the `dynamic` part of the file that the environment names. `say.text`: all of it."""
    path = tmp_path / "client.yaml"
    monkeypatch.setenv(VARIABLE, f"file://{path}")

    def text(text):
        # As editors do: nobody reads half of it.
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").rename(path)

    def put(dynamic):
        text(f"version: 1.0.0\ndynamic: {{{dynamic}}}\n")

    put.text, put.path = text, path
    return put


@pytest.fixture
def heard():
    with logged("aerolane.configuration", level=logging.INFO) as lines:
        yield lines


@pytest.fixture(params=["sync", "async"])
def opened(request, seeds):
    """`opened()`: a session of either kind, opened now."""
    made = []

    def make():
        made.append(Either(request.param, seeds))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


def durable(delete):
    """Whether a record was not deleted because embedded clusters leave no tombstones: `durable_delete` has arrived."""
    try:
        delete()
    except AerospikeError as error:
        assert error.result_code == ResultCode.ENTERPRISE_ONLY, error
        return True
    return False


def stays(session, key):
    """`durable` of a session for code without async: of a record that is there."""
    session.put(key, {"a": 1})
    return durable(lambda: session.delete(key).execute().first_or_raise())


@pytest.mark.parametrize("section", SECTIONS)
def test_sections_change_requests(new_cluster, say, set_name, section):
    say(SECTIONS[section])
    said = said_by(native, new_cluster(nodes=1), set_name)
    plain = section in ("nothing", "wrong")
    (put,), (get,), (exists,), (query,) = said["put"], said["get"], said["exists"], said["query"]
    for request, bits in ((get, 0x03), (exists, 0x21)):
        reads = section == "read"
        assert request["info"][INFO_1] == bits | (READ_MODE_AP_ALL if reads else 0)
        assert request["timeout"] == {"read": 1111, "several": 7000}.get(section, 1000)
        assert request["info"][INFO_4] == (0x40 if reads else 0)
    for name in ("put", "touch", "delete"):
        (write,) = said[name]
        writes = section == "write"
        assert bool(write["info"][INFO_2] & DURABLE_DELETE) is bool(write["info"][INFO_1] & XDR) is writes
        assert write["timeout"] == (3333 if writes else 1000)
    assert ("user key" in put) is (section == "write")
    assert (
        bool(query["info"][INFO_1] & NO_BIN_DATA) is bool(query["info"][INFO_1] & SHORT_QUERY) is (section == "query")
    )
    assert query["timeout"] == (5555 if section == "query" else 0)

    for name in ("batch_write", "batch_read", "batch_delete"):
        (batch,) = said[name]
        assert batch["timeout"] == (4444 if section == "batch_times" else 1000)
        assert batch["flags"] == {"batch": 0x0A, "batch_read": 0x0C}.get(section, 0x0D)
        rows = section == name or (section == "several" and name == "batch_write")
        assert batch["user key"] is (rows and name != "batch_read")
        tombstones = section == name and name != "batch_read"
        assert bool(batch["row"][1] & DURABLE_DELETE) is tombstones
    (batch,) = said["batch_read"]
    assert bool(batch["row"][0] & READ_MODE_AP_ALL) is (section in ("batch", "batch_read", "several"))
    assert bool(batch["row"][2] & 0x40) is (section == "batch_read")
    (write,), (read,), (delete,) = said["write alone"], said["read alone"], said["delete alone"]
    assert bool(write["info"][INFO_2] & DURABLE_DELETE) is ("user key" in write and section != "several")
    assert ("user key" in write) is (section in ("batch_write", "several"))
    assert bool(delete["info"][INFO_2] & DURABLE_DELETE) is (section == "batch_delete")
    assert bool(read["info"][INFO_1] & READ_MODE_AP_ALL) is (section in ("batch", "batch_read", "several"))
    if plain:
        assert put == {"info": (0, 1, 0, 0), "timeout": 1000}


def test_sessions_go_by_the_file(opened, say, dataset):
    """Behaviors come first, and the file over them."""
    say("write: {durable_delete: true}, query: {include_bin_data: false}, batch_delete: {durable_delete: true}")
    one = opened()
    session = one.session
    keys = dataset.ids(1, 2)
    plain = Behavior.DEFAULT.derive_with_changes("file-below", writes=Settings(durable_delete=False))
    for of in (session, one.client.create_session(plain)):
        one.run(of.put(keys[0], {"a": 1}))
        one.results(of.upsert(*keys).put({"a": 1}))
        assert durable(lambda of=of: one.results(of.delete(keys[0])))
        rows = one.results(of.delete(*keys), ErrorStrategy.IN_STREAM)
        assert [row.result_code for row in rows] == [ResultCode.ENTERPRISE_ONLY] * 2
    assert [result.record.bins for result in one.results(session.query(dataset))] == [{}] * 2
    say("")
    eventually(lambda: not durable(lambda: one.results(session.delete(keys[0]))))
    assert [result.record.bins for result in one.results(session.query(dataset))] == [{"a": 1}]
    one.results(session.delete(*keys))
    assert one.results(session.query(dataset)) == []


def test_each_way_to_connect(say, seeds, set_name):
    say("write: {durable_delete: true}")
    host, _, port = seeds.split(",")[0].rpartition(":")
    key = Key("test", set_name, 1)
    client = native.new_client_blocking(native.ClientPolicy(), seeds)
    client.put_blocking(key, {"a": 1})
    assert durable(lambda: client.delete_blocking(key))
    # The file goes before the policy of the call.
    assert durable(lambda: client.delete_blocking(key, policy=native.WritePolicy(durable_delete=False)))
    client.close_blocking()
    with sync.ClusterDefinition(host, int(port)).connect() as cluster:
        assert stays(cluster.create_session(), key)
    with SyncClient(seeds) as client:
        assert stays(client.create_session(), key)


async def test_asyncio_clusters(say, seeds, dataset):
    say("write: {total_timeout: 1, socket_timeout: 1}, read: {total_timeout: 60000, socket_timeout: 30000}")
    host, _, port = seeds.split(",")[0].rpartition(":")
    async with await ClusterDefinition(host, int(port)).connect() as cluster:
        session = cluster.create_session()
        with pytest.raises(RecordNotFoundError):
            await session.get(dataset.id(1))
        (missing,) = await session.get_many([dataset.id(1)])
        assert isinstance(missing, RecordNotFoundError)
        say("write: {durable_delete: true}")
        while True:
            try:
                await session.put(dataset.id(1), {"a": 1})
                (stream,) = [await session.delete(dataset.id(1)).execute()]
                await stream.first_or_raise()
            except AerospikeError as error:
                if error.result_code == ResultCode.ENTERPRISE_ONLY:
                    break
            await asyncio.sleep(0.05)


def test_transactions_end_by_the_file(new_cluster, say, set_name):
    cluster = new_cluster(nodes=1, strong_consistency=True)
    say("txn_verify: {max_retries: 0}")
    client = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    key, other = (Key("test", set_name, n) for n in range(2))
    client.put_blocking(key, {"a": 1})

    def commits(kind):
        txn = native.Txn()
        client.get_blocking(key, policy=native.ReadPolicy(txn=txn))
        client.put_blocking(other, {"a": 1}, policy=native.WritePolicy(txn=txn))
        with cluster.inject("drop-before", on=kind, times=1):
            try:
                client.commit_blocking(txn)
            except AerospikeError:
                return False
        return True

    assert not commits("read") and commits("write")
    say("txn_roll: {max_retries: 0}")
    eventually(lambda: commits("read"))
    assert not commits("write")
    client.close_blocking()


def test_metrics(opened, say):
    say("metrics: {enabled: true, extended: {operational: {enabled: true, latency_unit: us}}}")
    client = opened().client
    assert client.native.metrics_enabled()
    say("metrics: {enabled: false}")
    eventually(lambda: not client.native.metrics_enabled())


def test_exporters_follow_metrics_of_the_file(say, seeds):
    say("metrics: {enabled: false}")
    host, _, port = seeds.split(",")[0].rpartition(":")
    snapshots = []

    class Exporter:
        def export(self, metrics):
            snapshots.append(metrics)

    settings = SystemSettings(metrics=MetricsSettings(exporter="custom", export_interval=timedelta(milliseconds=50)))
    with sync.ClusterDefinition(host, int(port)).with_system_settings(settings).connect() as cluster:
        cluster.add_exporter(Exporter())
        assert not snapshots
        say("metrics: {enabled: true}")
        eventually(lambda: len(snapshots) > 2)


def test_what_cannot_be_used_is_one_line_and_changes_nothing(opened, say, dataset, heard):
    say("write: {durable_delete: true, colour: red}")
    one = opened()
    key = dataset.id(1)

    def delete():
        one.run(one.session.put(key, {"a": 1}))
        return durable(lambda: one.results(one.session.delete(key)))

    def told(*parts):
        return any(all(part in line for part in parts) for line in heard)

    path = str(say.path)
    assert delete()
    eventually(
        lambda: told(path, "is used: dynamic.write.durable_delete true", "ignored: line 2, dynamic.write.colour")
    )
    say("write: {durable_delete: 7, send_key: x}")
    eventually(
        lambda: told("what was read before stays in force", "dynamic.write.durable_delete", "dynamic.write.send_key")
    )
    assert delete()
    say.text("dynamic: {}")
    eventually(lambda: told("stays in force", "version: is missing"))
    say.path.unlink()
    eventually(lambda: told("stays in force", "cannot be read"))
    assert delete()
    lines = len(heard)
    say("write: {durable_delete: false}, read: {max_retries: 3}, client: {timeout: 1234, app_id: billing}")
    eventually(lambda: len(heard) > lines)
    assert told("has changed", "dynamic.write.durable_delete true -> false", "dynamic.read.max_retries 3")
    assert told("dynamic.client.app_id billing (used when connecting only)", "dynamic.client.timeout 1234")
    assert not told("timeout 1234 (used")
    assert not delete()


def test_values_of_the_variable(seeds, set_name, monkeypatch, tmp_path, heard):
    path = tmp_path / "client.yaml"
    path.write_text("version: 1\ndynamic: {write: {durable_delete: true}}")
    key = Key("test", set_name, 1)

    def durably():
        with SyncClient(seeds) as client:
            return stays(client.create_session(), key)

    for value, used in [(path, True), (f" file://{path} ", True), ("", False), ("  ", False), ("/nowhere", False)]:
        monkeypatch.setenv(VARIABLE, str(value))
        assert durably() is used, value
    for value, says in [("http://host/a.yaml", "'http'"), ("file://", "no path"), (str(tmp_path), "not a file")]:
        monkeypatch.setenv(VARIABLE, value)
        assert durably() is False
        eventually(lambda says=says: any(says.replace("'", '"') in line for line in heard))


async def test_connections_when_connecting(new_cluster, say):
    cluster = new_cluster(nodes=1)
    say.text("version: 1\nstatic: {client: {min_connections_per_node: 5, max_connections_per_node: 6}}")
    client = await native.new_client(native.ClientPolicy(min_conns_per_node=1), cluster.seeds)
    await client.put(Key("test", "s", 1), {"a": 1})
    await eventually_async(lambda: client.stats()["total"]["open"] >= 5)
    await client.close()


async def test_the_client_itself_while_it_is_open(new_cluster, say, set_name, heard):
    cluster = new_cluster(nodes=1)
    say("")
    blocking = native.new_client_blocking(native.ClientPolicy(), cluster.seeds)
    client = await native.new_client(native.ClientPolicy(), cluster.seeds)
    keys = [Key("test", set_name, n) for n in range(4)]
    near = native.ReadPolicy(replica=native.Replica.PREFER_RACK)

    async def refused():
        with pytest.raises(AerospikeError, match="rack_ids") as blocked:
            blocking.exists_blocking(keys[0], policy=near)
        with pytest.raises(AerospikeError, match="rack_ids") as awaited:
            await client.exists(keys[0], policy=near)
        assert type(blocked.value) is type(awaited.value)

    async def eventually_taken(call):
        while True:
            try:
                return await call()
            except AerospikeError:
                await asyncio.sleep(0.05)

    async def eventually_refused(call):
        with contextlib.suppress(AerospikeError):
            while True:
                await call()
                await asyncio.sleep(0.01)

    await refused()
    # The breaker opens at the second error. One connection for batches is spare when there are no batches.
    await client.exists(keys[0])
    await client.batch_read(keys)
    await eventually_async(lambda: client.stats()["total"]["open"] > 1)
    say("client: {rack_ids: [3], max_error_rate: 1, error_rate_window: 100000, max_socket_idle: 1}")
    await eventually_taken(lambda: client.exists(keys[0], policy=near))
    eventually(lambda: not blocking.exists_blocking(keys[0], policy=near))
    await eventually_async(lambda: client.stats()["total"]["open"] == 1)
    with cluster.inject("result", 14, on="read"):
        once = native.ReadPolicy(max_retries=0)
        codes = []
        for _ in range(4):
            with pytest.raises(AerospikeError) as raised:
                await client.get(keys[0], policy=once)
            codes.append(raised.value.result_code)
    assert codes[:2] == [ResultCode.KEY_BUSY] * 2 and codes[2:] == [ResultCode.MAX_ERROR_RATE] * 2

    # What the file does not say any more is as the program has it.
    say("")
    await eventually_async(lambda: sum("rack_ids is gone" in line for line in heard) == 2)
    # It is in force shortly after the log has it, when the control thread has published the cluster anew.
    await eventually_refused(lambda: asyncio.to_thread(blocking.exists_blocking, keys[0], policy=near))
    await eventually_refused(lambda: client.exists(keys[0], policy=near))
    await refused()
    await eventually_taken(lambda: client.exists(keys[0]))
    # What does not go together is not used, and said.
    say("client: {timeout: 0}")
    await eventually_async(lambda: any("dynamic.client is not used" in line and "never end" in line for line in heard))
    await client.close()
    blocking.close_blocking()
