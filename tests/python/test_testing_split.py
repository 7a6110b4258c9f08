"""Embedded clusters that are split, whose clocks jump and whose devices stand still, as clients see them."""

import contextlib

import pytest
from conftest import eventually

from aerolane import Key, SyncClient, native
from aerolane.exceptions import AerospikeError, InvalidNodeError, RecordNotFoundError, ResultCode
from aerolane.testing import EmbeddedCluster, after

ALL = range(64)


def keys(name):
    return [Key("test", name, number) for number in ALL]


def put(client, key, value, **policy):
    client.put_blocking(key, {"n": value}, policy=native.WritePolicy(**policy))


def values(client, name):
    return {client.get_blocking(key).bins["n"] for key in keys(name)}


@pytest.fixture
def connect():
    with contextlib.ExitStack() as clients:

        def open_client(seeds):
            client = native.new_client_blocking(native.ClientPolicy(), seeds)
            clients.callback(client.close_blocking)
            return client

        yield open_client


def nodes_of(client):
    return {node.name for node in client.nodes()}


def test_two_clients_see_two_clusters_until_they_are_healed(connect):
    with EmbeddedCluster(nodes=3, conflict_resolution="last-update-time") as cluster:
        first, *others = cluster.nodes
        client = connect(cluster.seeds)
        for key in keys("s"):
            put(client, key, 1)
        cluster.split([first], others)
        here, there = connect(first.address), connect(others[0].address)
        assert nodes_of(here) == {first.id} and nodes_of(there) == {node.id for node in others}
        for key in keys("s"):
            put(here, key, 2)
        for key in keys("s"):
            put(there, key, 3)
        assert (values(here, "s"), values(there, "s")) == ({2}, {3})
        cluster.heal()
        eventually(lambda: len(nodes_of(here)) == len(nodes_of(there)) == 3)
        assert values(here, "s") == values(there, "s") == {3}


def test_a_client_seeded_on_both_sides_is_answered_by_both(connect):
    with EmbeddedCluster(nodes=2) as cluster:
        a, b = cluster.nodes
        client = connect(cluster.seeds)
        for key in keys("s"):
            put(client, key, 1)
        cluster.split([a], [b])
        # Each node says that it is master of everything. The client is answered, if not with its last write.
        for key in keys("s"):
            put(client, key, 2)
        assert values(client, "s") <= {1, 2}
        both = connect(f"{a.address},{b.address}")
        for key in keys("s"):
            put(both, key, 3)
        cluster.heal()
        eventually(lambda: len(nodes_of(client)) == 2)
        assert values(client, "s") <= {2, 3}


def test_a_client_in_a_minority_is_told_that_partitions_are_unavailable(connect):
    with EmbeddedCluster(nodes=3, strong_consistency=True, roster=True) as cluster:
        first, *others = cluster.nodes
        client = connect(cluster.seeds)
        for key in keys("sc"):
            put(client, key, 1)
        cluster.split([first])
        minority, majority = connect(first.address), connect(others[0].address)
        assert cluster.master(7, seen_by=first) is None and cluster.master(7, seen_by=others[0]) is not None
        for key in keys("sc"):
            put(majority, key, 2)
        for key in keys("sc")[:4]:
            with pytest.raises(InvalidNodeError, match=r"of namespace test is unavailable") as refused:
                put(minority, key, 3, total_timeout=300, max_retries=0)
            assert (refused.value.result_code, refused.value.in_doubt) == (ResultCode.PARTITION_UNAVAILABLE, False)
        with pytest.raises(InvalidNodeError) as refused:
            list(minority.query_blocking(native.Statement("test", "sc", None)))
        assert refused.value.result_code == ResultCode.PARTITION_UNAVAILABLE
        cluster.heal()

        def has_the_majority_s():
            # Until it has a map of the whole cluster, it knows no namespace.
            with contextlib.suppress(AerospikeError):
                return values(minority, "sc") == {2}

        eventually(has_the_majority_s)


def test_a_schedule_splits_and_heals(connect):
    with EmbeddedCluster(nodes=2) as cluster:
        a, b = cluster.nodes
        client = connect(cluster.seeds)
        schedule = cluster.schedule(
            after(requests=10, on="write").split([a], [b]),
            after(requests=10, on="write").heal(),
        )
        for key in keys("plan"):
            put(client, key, 1)
        schedule.wait()
        assert cluster.record_count() == len(ALL), "the groups had different ones, and now have all"
        cluster.split([a])
        cluster.clear_faults()
        assert cluster.master(7, seen_by=a) == cluster.master(7, "test", seen_by=b)


def test_groups_that_make_no_sense():
    with EmbeddedCluster(nodes=2) as cluster:
        a, b = cluster.nodes
        for groups, error in (
            ([], ValueError),
            ([[a, b]], ValueError),
            ([[a], [a]], ValueError),
            ([[a], []], ValueError),
            ([["ABC"]], LookupError),
            ([a], TypeError),
            ([[a], a.id], TypeError),
            ([[7]], TypeError),
        ):
            with pytest.raises(error):
                cluster.split(*groups)
        cluster.split([a])
        with pytest.raises(ValueError, match="already"):
            cluster.split([b])
        with pytest.raises(LookupError):
            cluster.master(7, "nothing")


def test_a_node_whose_clock_jumps_stops_writes(connect):
    with EmbeddedCluster(nodes=2) as cluster:
        client = connect(cluster.seeds)
        put(client, keys("s")[0], 1)
        cluster.advance_clock(-3600, node=cluster.nodes[1])
        with pytest.raises(AerospikeError) as refused:
            put(client, keys("s")[0], 2)
        assert refused.value.result_code == 22
        cluster.reset_clocks()
        put(client, keys("s")[0], 3)
        for node, error in (("ABC", LookupError), (7, TypeError)):
            with pytest.raises(error):
                cluster.advance_clock(1, node=node)


def test_what_had_expired_is_back_when_the_clock_is():
    with EmbeddedCluster(1, nsup_period=0, default_ttl=60) as cluster, SyncClient(cluster.seeds) as client:
        session = client.create_session()
        session.put(keys("s")[0], {"a": 1})
        cluster.advance_clock(3600)
        with pytest.raises(RecordNotFoundError):
            session.get(keys("s")[0])
        cluster.advance_clock(-3600)
        assert session.get(keys("s")[0]).bins == {"a": 1}


def test_a_device_that_stands_still_is_overloaded(connect):
    with EmbeddedCluster(nodes=1) as cluster:
        client = connect(cluster.seeds)
        cluster.set_device_limit(2000)
        with pytest.raises(AerospikeError) as refused:
            for key in keys("full"):
                put(client, key, 1, max_retries=0)
        assert refused.value.result_code == 18
        cluster.set_device_limit(2000, 10**9)
        eventually(lambda: put(client, keys("full")[0], 1) is None)
        cluster.set_device_limit(None)
        for wrong, error in (((-1,), ValueError), ((1, -1), ValueError), (("1",), TypeError)):
            with pytest.raises(error):
                cluster.set_device_limit(*wrong)
        with pytest.raises(LookupError):
            cluster.set_device_limit(1, node="ABC")
