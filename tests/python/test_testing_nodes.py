"""Nodes of embedded clusters as users of any client see them: copies that lag, are lost, come back and move; limits."""

import pytest
from conftest import eventually

from aerolane import Key, SyncClient, native
from aerolane.exceptions import AerospikeError, InvalidNamespaceError
from aerolane.native import CommitLevel, Replica
from aerolane.testing import EmbeddedCluster

ALL = range(64)


def keys(name):
    return [Key("test", name, number) for number in ALL]


def put(client, key, value, **policy):
    client.put_blocking(key, {"n": value}, policy=native.WritePolicy(**policy))


def values(client, name, replica=Replica.MASTER):
    policy = native.ReadPolicy(replica=replica)
    return {client.get_blocking(key, policy=policy).bins["n"] for key in keys(name)}


@pytest.fixture
def open_client():
    clients = []

    def connect(cluster):
        clients.append(native.new_client_blocking(native.ClientPolicy(), cluster.seeds))
        return clients[-1]

    yield connect
    for client in clients:
        client.close_blocking()


def test_a_replica_lags(open_client):
    with EmbeddedCluster(nodes=2) as cluster:
        client = open_client(cluster)
        for key in keys("lag"):
            put(client, key, 1)
        cluster.set_replication_lag(600)
        for key in keys("lag"):
            put(client, key, 2, commit_level=CommitLevel.COMMIT_MASTER)
        assert values(client, "lag") == {2}
        # Reads take turns between the master and its replica.
        assert values(client, "lag", Replica.MASTER_PROLES) == {1, 2}
        cluster.set_replication_lag(0)
        assert values(client, "lag", Replica.MASTER_PROLES) == {2}
        for wrong, error in ((-1, ValueError), ("601s", ValueError), (None, TypeError)):
            with pytest.raises(error):
                cluster.set_replication_lag(wrong)
        with pytest.raises(LookupError):
            cluster.set_replication_lag(0, "ABC")


def test_a_master_that_stops_takes_what_it_had_not_copied_with_it(open_client):
    with EmbeddedCluster(nodes=2, replication_lag=600) as cluster:
        client = open_client(cluster)
        for key in keys("lost"):
            put(client, key, 1, commit_level=CommitLevel.COMMIT_MASTER)
        there = cluster.record_count()
        assert there == len(ALL)
        cluster.stop_node(cluster.nodes[0])
        assert 0 < cluster.record_count() < there


@pytest.mark.parametrize(("policy", "kept"), [("generation", 1), ("last-update-time", 2)])
def test_a_node_brings_its_old_records_back(open_client, policy, kept):
    with EmbeddedCluster(nodes=2, keep_records=True, conflict_resolution=policy) as cluster:
        client = open_client(cluster)
        first, second = cluster.nodes
        cluster.stop_node(second)
        for _ in range(3):
            for key in keys("back"):
                put(client, key, 1)
        cluster.stop_node(first)
        cluster.start_node(second)
        other = open_client(cluster)
        for key in keys("back"):
            put(other, key, 2)
        cluster.start_node(first)
        assert values(other, "back") == {kept}


def test_records_move_by_hand():
    with EmbeddedCluster(nodes=2) as cluster:
        with SyncClient(cluster.seeds) as client:
            for key in keys("move"):
                client.create_session().put(key, {"n": 1})
        cluster.set_migration_rate(0)
        cluster.add_node()
        waiting = cluster.migrating()
        assert waiting > 0
        assert cluster.migrate(1) == 1
        while cluster.migrate(10) == 10:
            pass
        assert cluster.migrating() == 0 and cluster.record_count() == len(ALL)
        cluster.add_node()
        cluster.set_migration_rate(None)
        assert cluster.migrating() == 0
        with pytest.raises(LookupError):
            cluster.migrating("nothing")


def test_a_partition_without_its_owners_is_unavailable(open_client):
    with EmbeddedCluster(nodes=3, strong_consistency=True, roster=True) as cluster:
        client = open_client(cluster)
        for key in keys("roster"):
            put(client, key, 1)
        cluster.stop_nodes(cluster.nodes[:2])

        def is_unavailable():
            try:
                for key in keys("roster"):
                    put(client, key, 2, total_timeout=500, max_retries=0)
            except AerospikeError as error:
                return error.result_code == 11
            return False

        # At first, requests go to the nodes that are not there any more.
        eventually(is_unavailable)
        # Also to a client that comes now, although no node says that it owns a partition.
        other = open_client(cluster)
        with pytest.raises(AerospikeError, match=r"partition .* of namespace test is unavailable") as refused:
            put(other, keys("roster")[0], 3, total_timeout=500, max_retries=0)
        assert refused.value.result_code == 11
        with pytest.raises(InvalidNamespaceError, match="only: test"):
            put(other, Key("nowhere", "s", 1), 3)
    with pytest.raises(ValueError, match="strong consistency"):
        EmbeddedCluster(nodes=1, roster=True)


def test_a_full_node_takes_no_writes(open_client):
    with EmbeddedCluster(nodes=1, data_limit=2000) as cluster:
        client = open_client(cluster)
        with pytest.raises(AerospikeError) as refused:
            for key in keys("full"):
                put(client, key, 1)
        assert refused.value.result_code == 8
        cluster.set_data_limit(0)
        put(client, keys("full")[-1], 1)
        with pytest.raises(LookupError):
            cluster.set_data_limit(0, "nothing")


def test_settings_that_make_no_sense():
    for settings in (
        {"replication_lag": -1},
        {"conflict_resolution": "newest"},
        {"data_limit": -1},
        {"connection_limit": -1},
        {"migration_rate": -1},
    ):
        with pytest.raises(ValueError, match=r"."):
            EmbeddedCluster(nodes=1, **settings)
