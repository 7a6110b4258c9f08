"""Metrics: the policy, the switch, and what is measured of each way on which calls go."""

import asyncio
import copy
import inspect
import json
import pickle
import threading
import time

import pytest

import aerolane
import aerolane.metrics
import aerolane.sync
from aerolane import native
from aerolane.exceptions import AerospikeError, InvalidArgumentError, RecordNotFoundError
from aerolane.native import CommandType, LatencyType, LatencyUnit, MetricsPolicy, Operation, Sampler

ONCE = {"GET": 2, "GET_HEADER": 1, "EXISTS": 2, "PUT": 2, "DELETE": 1, "OPERATE": 1}


@pytest.fixture
def client(connect):
    return connect()


def operational(**properties):
    policy = MetricsPolicy.micros()
    policy.operational = True
    for name, value in properties.items():
        setattr(policy, name, value)
    return policy


def counts(metrics, types=CommandType):
    """How many calls of each kind were measured, without the kinds of which there were none."""
    node = metrics.cluster_aggregated
    found = {each.name: node.command_histogram(each).count for each in types if each is not CommandType.NONE}
    return {name: count for name, count in found.items() if count}


def one_of_each(client, key):
    client.put_blocking(key, {"a": 1})
    assert client.get_blocking(key).bins == {"a": 1}
    client.get_blocking(key, [])
    assert client.exists_blocking(key)
    client.touch_blocking(key)
    client.operate_blocking(key, [Operation.add("a", 1), Operation.get_bin("a")])
    client.delete_blocking(key)
    with pytest.raises(RecordNotFoundError):
        client.get_blocking(key)
    client.exists_blocking(key)


async def one_of_each_async(client, key):
    await client.put(key, {"a": 1})
    assert (await client.get(key)).bins == {"a": 1}
    await client.get(key, [])
    assert await client.exists_legacy(key)
    await client.touch(key)
    await client.operate(key, [Operation.add("a", 1), Operation.get_bin("a")])
    await client.delete(key)
    with pytest.raises(RecordNotFoundError):
        await client.get(key)
    await client.exists(key)


def check_one_of_each(client):
    metrics = client.metrics()
    node = metrics.cluster_aggregated
    assert counts(metrics) == ONCE
    assert node.detailed_namespaces() == ["test"]
    for name, times in ONCE.items():
        detail = node.detailed_metric("test", CommandType[name])
        assert detail.latency == node.command_histogram(CommandType[name])
        assert (detail.connection_aq.count, detail.bytes_sent.count, detail.bytes_received.count) == (times,) * 3
        assert 50 < detail.bytes_sent.min <= detail.bytes_sent.max < 300, name
        assert 30 <= detail.bytes_received.min <= detail.bytes_received.max < 300, name
        assert 0 < detail.latency.sum < 5e6
    found = node.result_code_count("test", CommandType.GET, native.ResultCode.OK)
    missed = node.result_code_count("test", CommandType.GET, native.ResultCode.KEY_NOT_FOUND_ERROR)
    assert (found, missed) == (1, 1)
    assert node.result_code_count("nowhere", CommandType.GET, 0) == 0
    assert node.result_code_count("test", CommandType.GET, -3) == 0
    assert node.transaction_error_count == 1
    assert node.command_histogram(CommandType.NONE) is None
    assert {each.name: metrics.latency(each).count for each in LatencyType} == {
        "CONN": 9,
        "WRITE": 4,
        "READ": 5,
        "BATCH": 0,
        "QUERY": 0,
    }
    assert sum(metrics.latency(LatencyType.READ, host).count for host in metrics.nodes) == 5
    assert node.latency(LatencyType.WRITE) == metrics.latency(LatencyType.WRITE)
    with pytest.raises(KeyError, match="nowhere"):
        metrics.latency(LatencyType.READ, "nowhere")
    assert node.detailed_metric("test", CommandType.UDF) is None


def test_blocking_calls_by_kind(client, key):
    one_of_each(client, key)
    assert not client.metrics_enabled()
    assert counts(client.metrics()) == {}
    client.enable_metrics(operational())
    assert client.metrics_enabled()
    one_of_each(client, key)
    check_one_of_each(client)
    client.disable_metrics()
    assert not client.metrics_enabled()
    one_of_each(client, key)
    check_one_of_each(client)


async def test_calls_of_an_event_loop_by_kind(client, key):
    await one_of_each_async(client, key)
    client.enable_metrics(operational())
    await one_of_each_async(client, key)
    check_one_of_each(client)
    client.disable_metrics()
    await one_of_each_async(client, key)
    check_one_of_each(client)


async def test_bursts_of_an_event_loop(client, key):
    client.enable_metrics(operational())
    await client.put(key, {"a": 1})
    await asyncio.gather(*[client.get(key) for _ in range(500)])
    assert counts(client.metrics()) == {"GET": 500, "PUT": 1}
    latency = client.metrics().cluster_aggregated.command_histogram(CommandType.GET)
    assert latency.min > 0
    assert sum(latency.buckets) == 500


def test_threads_together(client, key):
    client.put_blocking(key, {"a": 1})
    client.enable_metrics(operational())
    threads = [threading.Thread(target=lambda: [client.get_blocking(key) for _ in range(50)]) for _ in range(16)]
    [thread.start() for thread in threads]
    while any(thread.is_alive() for thread in threads):
        client.metrics()
    [thread.join() for thread in threads]
    assert counts(client.metrics()) == {"GET": 800}


async def test_batches_count_once_per_node(client, set_name):
    keys = [native.Key("test", set_name, n) for n in range(60)]
    client.enable_metrics(operational())
    nodes = client.metrics().total_nodes
    await client.batch_write(keys, [{"a": n} for n in range(60)])
    client.batch_read_blocking(keys)
    await client.batch_read(keys, [])
    metrics = client.metrics()
    assert counts(metrics) == {"BATCH_READ": 2 * nodes, "BATCH_WRITE": nodes}
    assert all(counts_of(node) == {"BATCH_READ": 2, "BATCH_WRITE": 1} for node in metrics.nodes.values())
    received = metrics.cluster_aggregated.detailed_metric("test", CommandType.BATCH_READ).bytes_received
    assert received.sum > 2 * 60 * 22


def counts_of(node):
    kinds = (CommandType.BATCH_READ, CommandType.BATCH_WRITE)
    return {kind.name: node.command_histogram(kind).count for kind in kinds}


def test_queries_and_scans(client, set_name):
    for n in range(20):
        client.put_blocking(native.Key("test", set_name, n), {"a": n})
    client.enable_metrics(operational())
    nodes = client.metrics().total_nodes
    assert len(list(client.query_blocking(native.Statement("test", set_name)))) == 20
    deadline = time.monotonic() + 5
    while counts(client.metrics()) != {"SCAN": nodes}:
        assert time.monotonic() < deadline, counts(client.metrics())
        time.sleep(0.01)


def test_latencies_are_those_of_slow_answers(new_cluster):
    cluster = new_cluster()
    with native.new_client_blocking(native.ClientPolicy(), cluster.seeds) as client:
        key = native.Key("test", "s", 1)
        client.put_blocking(key, {"a": 1})
        policy = MetricsPolicy.millis()
        policy.operational = True
        client.enable_metrics(policy)
        cluster.inject("delay", 0.05, on="read", times=1)
        begun = time.monotonic()
        for _ in range(4):
            client.get_blocking(key)
        took = (time.monotonic() - begun) * 1000
        latency = client.metrics().cluster_aggregated.command_histogram(CommandType.GET)
        # On a busy machine others may be slow, too.
        assert latency.buckets[-1] >= 1
        assert 50 <= latency.max <= took
        assert latency.bounds == [1, 2, 4, 8, 16, 32]
        # The end of the bucket of each, from the least to the greatest.
        ends = [min(end, latency.max) for end in (*latency.bounds, latency.max)]
        of_each = [end for end, count in zip(ends, latency.buckets, strict=True) for _ in range(count)]
        assert [latency.quantile(part) for part in (0.25, 0.5, 0.75, 1.0)] == of_each
        assert latency.quantile(0.0) == of_each[0] and latency.quantile(1.0) == latency.max
        assert latency.quantile(2.0) is None


def test_counters_are_there_without_measuring(client, key):
    client.put_blocking(key, {"a": 1})
    off = client.metrics().cluster_aggregated
    assert off.connections_attempts >= off.connections_successful >= 1
    assert off.requests >= 1
    assert off.bytes_sent > 50
    assert off.connection_opening.count >= 1
    client.enable_metrics()
    client.put_blocking(key, {"a": 1})
    on = client.metrics()
    assert counts(on) == {}
    assert on.cluster_aggregated.latency_unit is LatencyUnit.MILLISECONDS
    assert on.cluster_aggregated.bytes_sent > off.bytes_sent
    assert on.open_connections == on.connections_in_use + on.connections_in_pool >= 1
    assert on.total_nodes == len(on.nodes) == len(client.nodes())
    assert set(on.nodes) == {":".join(map(str, node.host)) for node in client.nodes()}


def test_counters_are_numbers(client):
    snapshot = client.metrics().cluster_aggregated
    getters = [name for name, member in inspect.getmembers(type(snapshot)) if inspect.isgetsetdescriptor(member)]
    numbers = {name for name in getters if isinstance(getattr(snapshot, name), int)}
    assert set(getters) - numbers == {"connection_opening", "labels", "latency_unit"}
    peers = {"connections_pool_overflow", "tends_total", "node_removed", "error_rate", "circuit_breaker_hits"}
    assert numbers >= peers


def test_labels_and_names(client):
    client.enable_metrics(operational(labels=[{"team": "shop"}]))
    metrics = client.metrics()
    assert any(label.get("team") == "shop" for label in metrics.cluster_aggregated.labels)
    assert all(node.labels == [] for node in metrics.nodes.values())
    assert repr(metrics).startswith("ClusterMetrics(total_nodes=")
    assert "latency_unit=us" in repr(metrics.cluster_aggregated)


def test_dicts_are_plain(client, key):
    client.enable_metrics(operational(labels={"team": "shop"}))
    one_of_each(client, key)
    metrics = client.metrics()
    whole = json.loads(json.dumps(metrics.to_dict()))
    node = whole["cluster_aggregated_metrics"]
    assert set(whole) >= {*metrics.nodes, "total_nodes", "open_connections", "exceeded_total_timeout"}
    assert node["get_metrics"]["count"] == 2
    assert len(node["get_metrics"]["buckets"]) == 24
    assert node["detailed_metrics"]["test"]["Put"]["bytes_sent"]["count"] == 2
    assert node["detailed_resultcode_counts"]["test"]["Get"] == {"ok": 1, "Key not found": 1}
    assert node["latency_unit"] == "us"
    assert any(label.get("team") == "shop" for label in node["labels"])
    assert "labels" not in whole[next(iter(metrics.nodes))]
    assert node == json.loads(json.dumps(metrics.cluster_aggregated.to_dict()))


def test_the_canonical_document(client, key, cluster):
    client.enable_metrics(operational(labels={"team": "shop"}))
    before = client.metrics()
    one_of_each(client, key)
    client.batch_read_blocking([key])
    with cluster.inject("result", 18, on="write", times=1), pytest.raises(AerospikeError):
        client.put_blocking(key, {"a": 1}, policy=native.WritePolicy(max_retries=0))
    metrics = client.metrics()
    assert metrics.metrics_enabled and metrics.command_retries >= 0
    assert metrics.command_count > before.command_count
    assert metrics.usage["feature.shape.point"] > before.usage.get("feature.shape.point", 0)
    assert metrics.usage["feature.shape.batch"] >= 1 and all(count > 0 for count in metrics.usage.values())
    document = json.loads(json.dumps(metrics.to_canonical_dict()))
    assert document["timestamp"].endswith("+00:00") and document["client_version"] == aerolane.__version__
    assert document["labels"] == {"team": "shop"} and document["usage"] == metrics.usage
    assert document["metrics_enabled"] and document["operational_metrics_enabled"]
    assert (document["latency_unit"], document["latency_columns"]) == ("microseconds", 24)
    assert document["latency_shift"] == 1 and document["nodes_departed"] == []
    assert document["cluster"]["command_count"] == metrics.command_count
    assert document["cluster"]["nodes"]["active"] == len(document["nodes"]) == len(metrics.nodes)
    addresses = [f"{node['address']}:{node['port']}" for node in document["nodes"]]
    assert addresses == sorted(metrics.nodes)
    spaces = [space for node in document["nodes"] for space in node["namespaces"] if space["name"] == "test"]
    assert sum(space["device_overload"] for space in spaces) == 1
    assert sum(space["bytes_out"] for space in spaces) > 0 and sum(space["bytes_in"] for space in spaces) > 0
    assert {name for space in spaces for name in space["latency"]} >= {"conn", "read", "write", "batch"}
    assert all(len(buckets) == 24 for space in spaces for buckets in space["latency"].values())
    client.disable_metrics()
    assert client.metrics().to_canonical_dict()["metrics_enabled"] is False
    assert type(metrics) is aerolane.metrics.MetricsSnapshot
    assert isinstance(metrics.latency(aerolane.metrics.LatencyType.READ), aerolane.metrics.DerivedHistogram)


def test_another_unit_begins_anew(client, key):
    client.put_blocking(key, {"a": 1})
    client.enable_metrics(operational())
    client.get_blocking(key)
    client.enable_metrics(operational(latency_columns=5, latency_shift=3))
    assert counts(client.metrics()) == {"GET": 1}
    assert len(client.metrics().cluster_aggregated.command_histogram(CommandType.GET).buckets) == 5
    client.enable_metrics(operational(latency_unit=LatencyUnit.MILLISECONDS))
    assert counts(client.metrics()) == {}


def test_samplers(client, key):
    client.put_blocking(key, {"a": 1})
    client.enable_metrics(operational(sampler=Sampler.never()))
    client.get_blocking(key)
    assert counts(client.metrics()) == {}
    client.enable_metrics(operational(sampler=Sampler.probability(0.5)))
    for _ in range(400):
        client.get_blocking(key)
    assert 120 < counts(client.metrics())["GET"] < 280


def test_samplers_are_values():
    assert (Sampler(10, 4).range, Sampler(10, 4).threshold) == (10, 4)
    assert (Sampler(0, 5).range, Sampler(0, 5).threshold) == (1, 1)
    assert Sampler(10, 50) == Sampler(10, 10)
    assert Sampler.all() == MetricsPolicy().sampler != Sampler.never()
    assert (Sampler.probability(0.25).range, Sampler.probability(0.25).threshold) == (1_000_000, 250_000)
    assert Sampler.probability(7) == Sampler(1_000_000, 1_000_000)
    assert hash(Sampler(3, 1)) == hash(Sampler(3, 1))
    assert pickle.loads(pickle.dumps(Sampler(3, 1))) == copy.copy(Sampler(3, 1)) == Sampler(3, 1)
    assert repr(Sampler(3, 1)) == "Sampler(3, 1)"
    for wrong, error in [((-1, 1), InvalidArgumentError), ((1, 1.5), TypeError), ((True, 1), TypeError)]:
        with pytest.raises(error):
            Sampler(*wrong)
    with pytest.raises(InvalidArgumentError, match="NaN"):
        Sampler.probability(float("nan"))


def test_policies():
    policy = MetricsPolicy()
    assert policy == MetricsPolicy.millis()
    assert (policy.operational, policy.latency_unit, policy.latency_columns) == (False, LatencyUnit.MILLISECONDS, 7)
    assert (policy.latency_shift, policy.latency_base, policy.labels) == (1, 2, [])
    micros = MetricsPolicy.micros()
    assert (micros.latency_unit, micros.latency_columns) == (LatencyUnit.MICROSECONDS, 24)
    policy.latency_shift = 3
    assert policy.latency_base == 8
    policy.labels = [{"a": "b"}, {}]
    assert policy.labels == [{"a": "b"}]
    policy.sampler = Sampler.never()
    assert pickle.loads(pickle.dumps(policy)) == copy.copy(policy) == policy
    with pytest.raises(AttributeError):
        policy.latency_base = 2
    wrong = {
        "operational": [1, None],
        "latency_unit": ["us", 1],
        "latency_columns": [0, 65, 1.0, "7"],
        "latency_shift": [0, 64, True],
        "labels": ["a", [1], [{"a": 1}], {1: "a"}, 3],
        "sampler": [0.5, None, (1, 1)],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, InvalidArgumentError), match=name):
                setattr(policy, name, value)
    with pytest.raises(TypeError):
        MetricsPolicy(nonsense=1)


def test_policies_as_the_sdk_makes_them(seeds):
    from aerolane.metrics import MetricsPolicy

    assert MetricsPolicy().operational_enabled is MetricsPolicy().usage_enabled is False
    for named in (
        {"operational_enabled": True},
        {"usage_enabled": True},
        {"operational": True, "usage_enabled": False},
    ):
        assert MetricsPolicy(**named).operational and MetricsPolicy.from_fields(**named).operational_enabled
    assert not MetricsPolicy(operational_enabled=False, usage_enabled=False).operational
    policy = MetricsPolicy(labels={"a": "b"}, latency_columns=9)
    policy.operational_enabled = True
    assert policy == MetricsPolicy(operational=True, labels={"a": "b"}, latency_columns=9)
    with pytest.raises(TypeError, match="operational"):
        MetricsPolicy(operational_enabled="yes")
    host, _, port = seeds.partition(",")[0].rpartition(":")
    with aerolane.sync.ClusterDefinition(host, int(port)).connect() as cluster:
        cluster.enable_metrics()
        assert cluster.metrics_snapshot().metrics_enabled
        assert not cluster.metrics_snapshot().operational_metrics_enabled
        cluster.enable_metrics(policy)
        cluster.create_session().exists(aerolane.Key("test", "none", 1)).first()
        snapshot = cluster.metrics_snapshot()
        assert snapshot.operational_metrics_enabled and snapshot.usage_metrics_enabled


def test_wrong_arguments(client):
    with pytest.raises(TypeError):
        client.enable_metrics("on")
    node = client.metrics().cluster_aggregated
    for wrong in ("GET", 1, None):
        with pytest.raises(TypeError, match="command_type"):
            node.command_histogram(wrong)
    with pytest.raises(TypeError):
        node.result_code_count("test", CommandType.GET, "OK")


def test_a_closed_client_keeps_its_metrics(connect, key):
    client = connect()
    client.enable_metrics(operational())
    client.put_blocking(key, {"a": 1})
    client.close_blocking()
    assert counts(client.metrics()) == {"PUT": 1}
    assert client.metrics().open_connections == 0
    client.disable_metrics()


def test_local_clients_have_the_calls_too(seeds, key):
    client = native._LocalClient(native.ClientPolicy(), seeds)
    client.enable_metrics(operational())
    try:
        before = counts(client.metrics()).get("PUT", 0)
        client.put_blocking(key, {"a": 1})
        assert counts(client.metrics())["PUT"] == before + 1
        assert client.metrics_enabled()
    finally:
        client.disable_metrics()
    assert not client.metrics_enabled()


async def test_sessions_have_the_calls(seeds, set_name):
    import aerolane

    host, port = seeds.split(",")[0].rsplit(":", 1)
    async with aerolane.ClusterDefinition(host, int(port)).connect() as cluster:
        assert not cluster.metrics_enabled()
        cluster.enable_metrics(operational())
        assert cluster.metrics_enabled()
        session = cluster.create_session()
        key = native.Key("test", set_name, 1)
        await session.put(key, {"a": 1})
        await session.get(key)
        found = counts(cluster.metrics_snapshot())
        assert found == {"GET": 1, "PUT": 1}
        cluster.disable_metrics()
        assert not cluster.metrics_enabled()


def test_blocking_sessions_have_the_calls(seeds, set_name):
    from aerolane import sync

    host, port = seeds.split(",")[0].rsplit(":", 1)
    with sync.ClusterDefinition(host, int(port)).connect() as cluster:
        cluster.enable_metrics(operational())
        session = cluster.create_session()
        session.put(native.Key("test", set_name, 1), {"a": 1})
        assert counts(cluster.metrics_snapshot()) == {"PUT": 1}
