"""Code for the first versions of the SDK of Aerospike (0.9): their names through `compat.install`, their calls on both
kinds of session."""

import importlib

import pytest
from conftest import Either

import aerolane
import aerolane.ael
import aerolane.exceptions
import aerolane.native
import aerolane.policy
import aerolane.sync
from aerolane import compat
from aerolane.exceptions import InvalidArgumentError


@pytest.fixture(autouse=True)
def _installed():
    compat.install("aerospike_sdk", "aerospike_async")
    yield
    compat.uninstall()


# Module, name, and what that is here.
NAMES = [
    ("aerospike_sdk", "Client", aerolane.Client),
    ("aerospike_sdk", "SyncClient", aerolane.SyncClient),
    ("aerospike_sdk", "HllConfig", aerolane.HllConfig),
    ("aerospike_sdk", "QueryHint", aerolane.QueryHint),
    ("aerospike_sdk", "Exp", aerolane.Exp),
    ("aerospike_sdk", "AbortStatus", aerolane.native.AbortStatus),
    ("aerospike_sdk", "CommitStatus", aerolane.native.CommitStatus),
    ("aerospike_sdk", "RegexFlag", aerolane.native.RegexFlag),
    ("aerospike_sdk", "Index", aerolane.ael.Index),
    ("aerospike_sdk", "IndexContext", aerolane.ael.IndexContext),
    ("aerospike_sdk", "IndexTypeEnum", aerolane.ael.IndexTypeEnum),
    ("aerospike_sdk", "OnError", aerolane.OnError),
    ("aerospike_sdk", "ParseResult", aerolane.ael.ParseResult),
    ("aerospike_sdk", "parse_ctx", aerolane.ael.parse_ctx),
    ("aerospike_sdk", "SyncRecordStream", aerolane.sync.RecordStream),
    ("aerospike_sdk", "SyncSession", aerolane.sync.Session),
    ("aerospike_sdk", "SyncTransactionalSession", aerolane.sync.TransactionalSession),
    ("aerospike_sdk.aio.background", "BackgroundWriteBinBuilder", aerolane.WriteBinBuilder),
    ("aerospike_sdk.aio.node", "Node", aerolane.Node),
    ("aerospike_sdk.aio.tls_builder", "TlsBuilder", aerolane.TlsBuilder),
    ("aerospike_sdk.awaitable_context", "AwaitableContext", aerolane.AwaitableContext),
    ("aerospike_sdk.cluster_shared", "Host", aerolane.Host),
    ("aerospike_sdk.query_shared", "QueryHint", aerolane.QueryHint),
    ("aerospike_sdk.sync", "TlsBuilder", aerolane.TlsBuilder),
    ("aerospike_sdk.sync.node", "Node", aerolane.sync.Node),
    ("aerospike_sdk.sync.background", "SyncBackgroundWriteBinBuilder", aerolane.WriteBinBuilder),
    ("aerospike_sdk.sync.operations.batch", "SyncBatchBinBuilder", aerolane.WriteBinBuilder),
    ("aerospike_sdk.sync.operations.query", "SyncQueryBinBuilder", aerolane.QueryBinBuilder),
    ("aerospike_sdk.sync.operations.query", "SyncWriteBinBuilder", aerolane.WriteBinBuilder),
    ("aerospike_sdk.sync.tls_builder", "TlsBuilder", aerolane.TlsBuilder),
    ("aerospike_sdk", "val", aerolane.val),
    ("aerospike_sdk.aio.client", "Client", aerolane.Client),
    ("aerospike_sdk.aio.cluster", "Cluster", aerolane.Cluster),
    ("aerospike_sdk.aio.session", "Session", aerolane.Session),
    ("aerospike_sdk.aio.transactional_session", "TransactionalSession", aerolane.TransactionalSession),
    ("aerospike_sdk.aio.operations.batch", "BatchOperationBuilder", aerolane.Session),
    ("aerospike_sdk.aio.operations.batch", "BatchKeyOperationBuilder", aerolane.WriteSegmentBuilder),
    ("aerospike_sdk.aio.operations.batch", "BatchBinBuilder", aerolane.WriteBinBuilder),
    ("aerospike_sdk.aio.operations.query", "QueryBuilder", aerolane.QueryBuilder),
    ("aerospike_sdk.aio.operations.query", "QueryHint", aerolane.QueryHint),
    ("aerospike_sdk.aio.operations.cdt_read", "CdtReadBuilder", aerolane.CdtReadBuilder),
    ("aerospike_sdk.aio.operations.cdt_write", "CdtWriteBuilder", aerolane.CdtWriteBuilder),
    ("aerospike_sdk.aio.operations.udf", "UdfFunctionBuilder", aerolane.UdfFunctionBuilder),
    ("aerospike_sdk.dataset", "DataSet", aerolane.DataSet),
    ("aerospike_sdk.error_strategy", "ErrorStrategy", aerolane.ErrorStrategy),
    ("aerospike_sdk.exceptions", "MaxErrorRate", aerolane.exceptions.MaxErrorRateError),
    ("aerospike_sdk.exp", "in_list", aerolane.in_list),
    ("aerospike_sdk.exp", "map_keys", aerolane.map_keys),
    ("aerospike_sdk.exp", "map_values", aerolane.map_values),
    ("aerospike_sdk.hll_config", "HllConfig", aerolane.HllConfig),
    ("aerospike_sdk.index_monitor", "IndexesMonitor", aerolane.ael.IndexesMonitor),
    ("aerospike_sdk.operation_result", "OperationResult", aerolane.OperationResult),
    ("aerospike_sdk.policy.behavior", "Behavior", aerolane.Behavior),
    ("aerospike_sdk.policy.behavior_registry", "get_behavior", aerolane.policy.get_behavior),
    ("aerospike_sdk.policy.behavior_settings", "Settings", aerolane.policy.Settings),
    ("aerospike_sdk.policy.system_settings", "SystemSettings", aerolane.policy.SystemSettings),
    ("aerospike_sdk.record_result", "RecordResult", aerolane.RecordResult),
    ("aerospike_sdk.record_stream", "RecordStream", aerolane.RecordStream),
    ("aerospike_sdk.session_shared", "NamespaceScStatus", aerolane.NamespaceScStatus),
    ("aerospike_sdk.sync", "Cluster", aerolane.sync.Cluster),
    ("aerospike_sdk.sync.client", "SyncClient", aerolane.SyncClient),
    ("aerospike_sdk.sync.cluster", "Cluster", aerolane.sync.Cluster),
    ("aerospike_sdk.sync.operations.batch", "SyncBatchOperationBuilder", aerolane.sync.Session),
    ("aerospike_sdk.sync.operations.batch", "SyncBatchKeyOperationBuilder", aerolane.sync.WriteSegmentBuilder),
    ("aerospike_sdk.sync.operations.query", "SyncQueryBuilder", aerolane.sync.QueryBuilder),
    ("aerospike_sdk.sync.operations.query", "SyncWriteSegmentBuilder", aerolane.sync.WriteSegmentBuilder),
    ("aerospike_sdk.sync.operations.query", "SyncSingleKeyWriteSegment", aerolane.sync.WriteSegmentBuilder),
    ("aerospike_sdk.sync.operations.udf", "SyncUdfFunctionBuilder", aerolane.sync.UdfFunctionBuilder),
    ("aerospike_sdk.sync.operations.udf", "SyncUdfBuilder", aerolane.sync.UdfBuilder),
    ("aerospike_sdk.sync.record_stream", "SyncRecordStream", aerolane.sync.RecordStream),
    ("aerospike_sdk.sync.session", "SyncSession", aerolane.sync.Session),
    ("aerospike_sdk.sync.transactional_session", "SyncTransactionalSession", aerolane.sync.TransactionalSession),
]


@pytest.mark.parametrize(("module", "name", "ours"), NAMES, ids=[f"{module}.{name}" for module, name, _ in NAMES])
def test_each_name_is_there(module, name, ours):
    assert getattr(importlib.import_module(module), name) is ours


def test_a_sync_name_is_never_its_async_namesake():
    for module in ("aerospike_sdk.aio.session", "aerospike_sdk.aio.operations.batch"):
        with pytest.raises(AttributeError, match="no counterpart"):
            _ = importlib.import_module(module).SyncSession


@pytest.fixture(params=["sync", "async"])
def alpha(request, consistent):
    one = Either(request.param, consistent.seeds)
    yield one
    one.close()


@pytest.fixture
def dataset(set_name):
    from aerospike_sdk import DataSet

    return DataSet.of("test", set_name)


def test_keys_by_name(alpha, dataset):
    session, key = alpha.session, dataset.id("k")
    ways = [{"key": key}, {"dataset": dataset, "key_value": "k"}]
    ways.append({"namespace": "test", "set_name": dataset.set_name, "key_value": "k"})
    for named in ways:
        alpha.run(session.upsert(**named).put({"n": 1}).execute())
        alpha.run(session.update(**named).bin("n").add(1).execute())
        alpha.run(session.touch(**named).execute())
        assert alpha.run(session.exists(**named).first()).as_bool()
        assert alpha.run(session.query(key=key).first()).record.bins == {"n": 2}
        alpha.run(session.replace(**named).put({"m": 1}).execute())
        alpha.run(session.replace_if_exists(**named).put({"m": 2}).execute())
        alpha.run(session.delete(**named).execute())
        alpha.run(session.insert(**named).put({"n": 5}).execute())
        assert alpha.run(session.get(key)).bins == {"n": 5}
        alpha.run(session.delete(key).execute())
    alpha.run(session.upsert(dataset=dataset).bins("a").row(1, 2).execute())
    assert alpha.run(session.get(dataset.id(1))).bins == {"a": 2}


def test_queries_by_name(alpha, dataset):
    session = alpha.session
    keys = dataset.ids(1, 2, 3)
    alpha.run(session.upsert(keys).put({"n": 1}).execute())
    named = {"namespace": "test", "set_name": dataset.set_name}
    for query in (
        session.query("test", dataset.set_name),
        session.query(dataset=dataset),
        session.query(**named),
        session.query(keys_list=keys),
        session.query(keys=keys),
        session.query(dataset, behavior=aerolane.Behavior.READ_FAST),
        session.query(namespace="test"),
    ):
        found = [result.key for result in alpha.results(query)]
        assert {key for key in found if key.set_name == dataset.set_name} == set(keys)
    assert len(alpha.results(session.query(key=keys[0]))) == 1


def test_arguments_that_do_not_fit(alpha, dataset):
    session, key = alpha.session, dataset.id(1)
    for wrong in (
        {},
        {"key": key, "dataset": dataset},
        {"other": 1},
        {"key": "k"},
        {"dataset": "test"},
        {"set_name": "s"},
        {"key": key, "key_value": 1},
        {"keys_list": [key]},
        {"behavior": aerolane.Behavior.DEFAULT},
    ):
        with pytest.raises(TypeError):
            session.upsert(**wrong)
    for positional, named in (((key,), {"key": key}), ((None,), {}), ((dataset,), {"key_value": 1})):
        with pytest.raises(TypeError):
            session.upsert(*positional, **named)
    for wrong in ({}, {"behavior": "x", "dataset": dataset}, {"namespace": 5}):
        with pytest.raises(TypeError):
            session.query(**wrong)
    for wrong in (("test",), ("test", "s", "t"), ("test", key)):
        with pytest.raises(TypeError):
            session.query(*wrong)
    with pytest.raises(InvalidArgumentError):
        session.query("", "s")


def test_batches(alpha, dataset):
    keys = dataset.ids(*range(4))
    batch = alpha.session.batch().upsert(keys[0]).put({"n": 1}).upsert(keys[1]).bin("n").set_to(2).delete(keys[2])
    assert len(alpha.results(batch)) == 3
    stream = alpha.run(alpha.session.batch().upsert(keys[3]).put({"n": 3}).execute_stream())
    assert [result.is_ok for result in alpha.each(stream)] == [True]
    found = [result.record.bins for result in alpha.results(alpha.session.query(keys))]
    assert found == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("name", ["begin_transaction", "transaction_session"])
def test_transactions(alpha, dataset, name):
    session, key = alpha.session, dataset.id(name)
    tx = getattr(session, name)()
    assert session.current_transaction is None and session.get_current_transaction() is None
    assert tx.current_transaction == tx.txn and tx.get_current_transaction() is tx.txn
    alpha.run(tx.upsert(key).put({"n": 1}).execute())
    assert not alpha.run(session.exists(key).first()).as_bool()
    alpha.run(tx.commit())
    assert tx.get_current_transaction() is None
    assert alpha.run(session.get(key)).bins == {"n": 1}
    of_client = alpha.client.transaction_session if alpha.kind == "async" else alpha.client.create_transactional_session
    tx = of_client(aerolane.Behavior.READ_FAST)
    assert tx.behavior is aerolane.Behavior.READ_FAST and tx.active
    alpha.run(tx.upsert(key).put({"n": 2}).execute())
    alpha.run(tx.abort())
    assert alpha.run(session.get(key)).bins == {"n": 1}


def test_retries(alpha, dataset):
    calls = []
    if alpha.kind == "sync":

        def write(tx):
            calls.append(tx)
            tx.upsert(dataset.id(1)).put({"n": 1}).execute()
            return 5
    else:

        async def write(tx):
            calls.append(tx)
            await tx.upsert(dataset.id(1)).put({"n": 1}).execute()
            return 5

    assert alpha.run(alpha.session.do_in_transaction(write, max_attempts=5, sleep_between_retries=0.0)) == 5
    assert len(calls) == 1


def test_hlls_and_expressions(alpha, dataset):
    from aerospike_sdk import Exp, HllConfig, in_list, map_keys, map_values, val

    session, key = alpha.session, dataset.id("e")
    alpha.run(session.upsert(key).put({"m": {"a": 1, "b": 2}, "n": 2}).execute())
    alpha.run(session.update(key).bin("h").hll_add(["x", "y"], config=HllConfig.of(8)).execute())
    result = alpha.run(session.query(key).bin("h").hll_get_count().first())
    assert result.record.bins == {"h": 2}
    for condition, expected in (
        (in_list(val("a"), map_keys(Exp.map_bin("m"))), True),
        (in_list(val(2), map_values(Exp.map_bin("m"))), True),
        (in_list(val("c"), map_keys(Exp.map_bin("m"))), False),
    ):
        found = alpha.results(session.query(key).where(condition))
        assert bool(found) is expected


async def test_the_quickstart(seeds, set_name):
    from aerospike_async import Key
    from aerospike_sdk import Behavior
    from aerospike_sdk.aio.client import Client

    async with Client(seeds) as client:
        session = client.create_session(Behavior.DEFAULT)
        key = Key("test", set_name, "user-1")
        await session.put(key, {"name": "Ann"})
        assert (await session.get(key)).bins == {"name": "Ann"}
        await session.upsert(key).put({"age": 30}).execute()
        stream = await session.query(key).execute()
        assert [result.record.bins async for result in stream] == [{"name": "Ann", "age": 30}]


def test_the_quickstart_without_asyncio(seeds, set_name):
    from aerospike_async import Key
    from aerospike_sdk import Behavior, SyncClient

    with SyncClient(seeds, current_thread_runtime=True) as client:
        session = client.create_session(Behavior.DEFAULT)
        key = Key("test", set_name, "user-1")
        session.put(key, {"name": "Ann"})
        assert [result.record.bins for result in session.query(key).execute()] == [{"name": "Ann"}]


def test_what_a_client_does_without_a_session(alpha, dataset):
    client, keys = alpha.client, dataset.ids(1, 2)
    alpha.run(alpha.session.upsert(keys).put({"n": 1}).execute())
    behavior = aerolane.Behavior.READ_FAST
    for query in (
        client.query(keys[0], keys[1]),
        client.query(keys),
        client.query(keys=keys),
        client.query(dataset),
        client.query(dataset=dataset, behavior=behavior),
        client.query("test", dataset.set_name),
        client.query(namespace="test", set_name=dataset.set_name),
    ):
        assert type(query) is (aerolane.QueryBuilder if alpha.kind == "async" else aerolane.sync.QueryBuilder)
        assert {result.key for result in alpha.results(query)} == set(keys)
    with pytest.raises(TypeError):
        client.query()
    name = f"{dataset.set_name}-n"
    task = alpha.run(client.index(dataset).on_bin("n").named(name).integer().create())
    task.wait_till_complete_blocking()
    assert name in {index["name"] for index in alpha.run(alpha.session.list_indexes())}
    alpha.run(client.index(dataset).named(name).drop())
    assert client.underlying_client.node_names() == client.native.node_names()


def test_connecting_without_a_loop(seeds, set_name):
    client = aerolane.Client(seeds)
    for call in (lambda: client.underlying_client, lambda: client.query("test", "s"), lambda: client.index(None)):
        with pytest.raises((RuntimeError, TypeError)):
            call()
    client.connect_blocking()
    client.connect_blocking()
    assert client.is_connected
    client.underlying_client.put_blocking(aerolane.Key("test", set_name, 1), {"n": 1})
    client.close_blocking()
    client.close_blocking()
    assert not client.is_connected


def test_a_session_names_its_client(alpha, seeds):
    client, session = alpha.client, alpha.session
    assert session.client is client
    assert session.session_for(aerolane.Behavior.READ_FAST).client is client
    assert session.transaction().client is client and client.transaction().client is client
    # It is alive as long as its session.
    session = alpha.client.create_session()
    del client
    assert session.client.is_connected
    definition = aerolane.sync.ClusterDefinition(hosts=aerolane.Host.parse_hosts(seeds))
    with definition.connect() as cluster:
        assert cluster.create_session().client is cluster and cluster.transaction().client is cluster
