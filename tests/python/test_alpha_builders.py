"""Code for the first versions of the SDK of Aerospike (0.9): other names for what builders, clients, definitions do."""

import asyncio
import contextlib
import time
from datetime import timedelta

import pytest
from conftest import Either

import aerolane
import aerolane.sync
from aerolane import Behavior, DataSet, QueryHint, TlsBuilder, native
from aerolane.ael import Index, IndexContext, IndexesMonitor, IndexTypeEnum, parse_ael_with_index
from aerolane.exceptions import ClientClosedError, FilteredOutError, InvalidArgumentError, RecordNotFoundError
from aerolane.policy import Settings


@pytest.fixture(params=["sync", "async"])
def alpha(request, seeds):
    one = Either(request.param, seeds)
    yield one
    one.close()


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


def bins(results):
    return sorted(result.record.bins["n"] for result in results)


def test_writes(alpha, dataset):
    session, key = alpha.session, dataset.id("k")
    alpha.run(session.upsert(key).set_bins({"n": 1, "m": 1}).execute())
    alpha.run(session.update(key).bin("n").increment_by(2).execute())
    alpha.run(session.update(key).increment_by("m", 2).execute())
    assert alpha.run(session.get(key)).bins == {"n": 3, "m": 3}


def test_reads_of_missing_records(alpha, dataset):
    session, keys = alpha.session, dataset.ids(1, 2)
    alpha.run(session.upsert(keys[0]).put({"n": 1}).execute())
    assert len(alpha.results(session.query(keys))) == 1
    assert [result.is_ok for result in alpha.results(session.query(keys).respond_all_keys())] == [True, False]
    found = alpha.results(session.exists(keys).respond_all_keys())
    assert [result.as_bool() for result in found] == [True, False]
    missing = alpha.run(session.query(keys[1]).respond_all_keys().first())
    assert not missing.is_ok


def test_queries(alpha, dataset):
    session, exp = alpha.session, aerolane.Exp
    for n in range(20):
        alpha.run(session.upsert(dataset.id(n)).put({"n": n}).execute())
    small = exp.lt(exp.int_bin("n"), exp.int_val(5))
    assert bins(alpha.results(session.query(dataset).filter_expression(small))) == [0, 1, 2, 3, 4]
    assert len(alpha.results(session.query(dataset).max_records(3))) == 3
    duration = native.QueryDuration.SHORT
    query = session.query(dataset).expected_duration(duration).replica(native.Replica.MASTER)
    assert bins(alpha.results(query)) == list(range(20))
    policy = native.QueryPolicy(filter_expression=small, max_records=2)
    assert len(alpha.results(session.query(dataset).with_policy(policy))) == 2
    # What the builder is told goes before it.
    large = exp.ge(exp.int_bin("n"), exp.int_val(15))
    query = session.query(dataset).with_policy(policy).where(large).limit(20)
    assert bins(alpha.results(query)) == [15, 16, 17, 18, 19]


def test_partitions(alpha, dataset):
    session = alpha.session
    keys = dataset.ids(*range(30))
    alpha.run(session.upsert(keys).put({"n": 1}).execute())
    part = keys[0].partition_id
    assert keys[0] in [result.key for result in alpha.results(session.query(dataset).on_partitions(part))]
    first = min(part, 4094)
    neighbors = session.query(dataset).on_partitions(first + 1, first)
    assert {result.key for result in alpha.results(neighbors)} == {
        key for key in keys if key.partition_id in (first, first + 1)
    }
    for wrong, match in (((), "at least one"), ((1, 3), "follow each other"), ((4096,), "4095")):
        with pytest.raises(InvalidArgumentError, match=match):
            session.query(dataset).on_partitions(*wrong)


def test_what_only_queries_of_data_sets_have(alpha, dataset):
    query = alpha.session.query(dataset.id(1))
    for call in (
        lambda: query.with_policy(native.QueryPolicy()),
        lambda: query.replica(native.Replica.MASTER),
        lambda: query.expected_duration(native.QueryDuration.LONG),
    ):
        with pytest.raises(InvalidArgumentError, match="data set"):
            call()
    for call in (
        lambda: alpha.session.query(dataset).with_policy(native.ReadPolicy()),
        lambda: alpha.session.query(dataset).replica("MASTER"),
        lambda: alpha.session.query(dataset).expected_duration(1.5),
    ):
        with pytest.raises(TypeError):
            call()


def test_tasks_have_no_results(alpha, dataset):
    with pytest.raises(TypeError, match="respond_all_keys"):
        alpha.session.background_task().touch(dataset).respond_all_keys()


def test_hints_of_bins():
    hint = QueryHint(bin_name="city")
    assert hint.bin_name == "city" and hint.index_name is None and "bin_name='city'" in repr(hint)
    assert hint == QueryHint(bin_name="city") != QueryHint() and hash(hint) == hash(QueryHint(bin_name="city"))
    with pytest.raises(InvalidArgumentError, match="mutually exclusive"):
        QueryHint(index_name="i", bin_name="b")


def test_indexes_are_chosen_by_bin(alpha, dataset):
    session = alpha.session
    for n in range(10):
        alpha.run(session.upsert(dataset.id(n)).put({"a": n, "b": n}).execute())
    for name in ("a", "b"):
        task = alpha.run(session.index(dataset).on_bin(name).named(f"{dataset.set_name}_{name}").numeric().create())
        alpha.run(task.wait_till_complete() if alpha.kind == "async" else task.wait_till_complete_blocking())
    try:
        for name in ("a", "b"):
            query = session.query(dataset).where("$.a > 4 and $.b > 4").with_hint(QueryHint(bin_name=name))
            assert alpha.run(query.explain()).index_name == f"{dataset.set_name}_{name}"
            assert len(alpha.results(query)) == 5
        # Of these indexes alone, whatever the cluster has.
        index = Index(bin="a", index_type=IndexTypeEnum.INTEGER, namespace="test", name="other")
        query = session.query(dataset).with_index_context(IndexContext.of("test", [index])).where("$.a > 4 and $.b > 4")
        assert alpha.run(query.explain()).index_name == "other"
        assert len(alpha.results(query)) == 5
        query = session.query(dataset).with_index_context(IndexContext.of("test", [])).where("$.a > 4")
        assert alpha.run(query.explain()).index_name is None
        assert len(alpha.results(query)) == 5
        with pytest.raises(InvalidArgumentError, match="namespace"):
            session.query(dataset).with_index_context(IndexContext.of("other", []))
    finally:
        for name in ("a", "b"):
            alpha.run(session.drop_index(dataset, f"{dataset.set_name}_{name}"))


def test_data_sets_of_indexes(alpha, dataset):
    session, client = alpha.session, alpha.client
    names = (dataset.namespace, dataset.set_name)
    for of in (session, client):
        for builder in (
            of.index(dataset),
            of.index(dataset=dataset),
            of.index(*names),
            of.index(namespace=names[0], set_name=names[1], behavior=Behavior.DEFAULT),
        ):
            builder.on_bin("n").named("i").integer()
        for wrong in ((), ("test",), ("test", "s", "t"), (5,), (dataset, "s")):
            with pytest.raises(TypeError):
                of.index(*wrong)
        with pytest.raises(TypeError):
            of.index(dataset, namespace="test")


def test_what_clients_do(alpha, dataset):
    client = alpha.client
    body = "function one(rec) return 1 end\n"
    task = alpha.run(client.register_udf(body, "alpha_one.lua"))
    wait = task.wait_till_complete if alpha.kind == "async" else task.wait_till_complete_blocking
    assert alpha.run(wait(sleep_time=0.1, max_attempts=50)) is True
    with pytest.raises(TypeError):
        alpha.run(wait(max_attempts="5"))
    alpha.run(alpha.session.upsert(dataset.id(1)).put({"n": 1}).execute())
    result = alpha.run(alpha.session.execute_udf(dataset.id(1)).function("alpha_one", "one").first())
    assert result.udf_result == 1
    alpha.run(client.remove_udf("alpha_one.lua"))
    with pytest.raises(FileNotFoundError):
        alpha.run(client.register_udf_from_file("/nowhere/at/all.lua", "all.lua"))
    assert client.supports_query_selection() is client.supports_server_compiled_ael()
    if alpha.kind == "sync":
        client.truncate(dataset)
        assert not client.create_session().exists(dataset.id(1)).first().as_bool()


def test_transactions_that_are_rolled_back(consistent, set_name):
    key = aerolane.Key("test", set_name, 1)
    with aerolane.SyncClient(consistent.seeds, index_refresh_interval=5.0) as client:
        with contextlib.suppress(RecordNotFoundError), client.transaction() as tx:
            tx.upsert(key).put({"n": 1}).execute()
            tx.rollback()
        assert not client.create_session().exists(key).first().as_bool()
    with pytest.raises(InvalidArgumentError, match="index_refresh_interval"):
        aerolane.SyncClient(consistent.seeds, index_refresh_interval=-1)
    with pytest.raises(InvalidArgumentError, match="index_refresh_interval"):
        aerolane.Client(consistent.seeds, index_refresh_interval=float("nan"))


def test_timeouts_of_transactions_of_sessions(consistent, set_name):
    key = aerolane.Key("test", set_name, 1)
    with aerolane.SyncClient(consistent.seeds) as client:

        def write(tx):
            tx.txn.timeout = 2
            assert tx.txn.timeout == 2
            tx.upsert(key).put({"n": 1}).execute()
            with pytest.raises(InvalidArgumentError, match="before its first call"):
                tx.txn.timeout = 3
            consistent.advance_clock(60)
            tx.upsert(key).put({"n": 2}).execute()

        with pytest.raises(aerolane.AerospikeError) as caught:
            client.create_session().do_in_transaction(write)
        assert caught.value.result_code == native.ResultCode.MRT_EXPIRED
        assert not client.create_session().exists(key).first().as_bool()


def test_settings_by_themselves():
    quick = Behavior.DEFAULT.derive_with_changes(
        "alpha quick", total_timeout=timedelta(seconds=3), max_retries=7, send_key=True
    )
    assert quick.total_timeout == timedelta(seconds=3) and quick.max_retries == 7 and quick.send_key is True
    assert quick.socket_timeout == Behavior.DEFAULT.socket_timeout and quick.retry_delay == timedelta(0)
    # Over what `all` says, below what a narrower part says.
    both = Behavior.DEFAULT.derive_with_changes(
        "alpha both", all=Settings(max_retries=1, send_key=True), reads=Settings(max_retries=9), max_retries=5
    )
    assert both.max_retries == 9 and both.send_key is True
    assert both.write_policy().max_retries == 5
    with pytest.raises(TypeError):
        Behavior.DEFAULT.derive_with_changes("alpha wrong", total_timeout="1 s")


@pytest.mark.parametrize("kind", [aerolane.ClusterDefinition, aerolane.sync.ClusterDefinition])
def test_definitions(kind, tmp_path, new_cluster):
    definition = kind("localhost", 3000)
    assert definition.with_ip_map({"10.0.0.1": "127.0.0.1"}) is definition
    assert definition.validate_cluster_name_is("c") is definition
    # An empty name, such as of a variable that is not set, is no login.
    assert definition.with_native_credentials("", "").auth_mode == native.AuthMode.NONE
    builder = definition.with_tls_config_of()
    assert isinstance(builder, TlsBuilder)
    assert builder.tls_name("name").ca_file("/nowhere/ca.pem").protocols("TLSv1.3").for_login_only(False) is builder
    with pytest.raises(InvalidArgumentError, match=r"ca\.pem"):
        builder.done()
    cluster = new_cluster(nodes=1, tls_name="embedded")
    authority = tmp_path / "ca.pem"
    authority.write_text(cluster.certificate_pem)
    assert builder.ca_file(str(authority)).done() is definition
    with pytest.raises(InvalidArgumentError, match="go together"):
        definition.with_tls_config_of().ca_file(str(authority)).client_cert_file("c.pem").done()


def test_a_definition_with_tls_connects(tmp_path, new_cluster):
    cluster = new_cluster(nodes=1, tls_name="embedded")
    authority = tmp_path / "ca.pem"
    authority.write_text(cluster.certificate_pem)
    host, _, port = cluster.tls_seeds.partition(",")[0].rpartition(":")
    host = host.split(":")[0]
    definition = aerolane.sync.ClusterDefinition(host, int(port))
    definition = definition.with_tls_config_of().tls_name("embedded").ca_file(authority).done()
    with definition.connect() as connected:
        assert connected.is_connected
        with connected.create_transactional_session() as tx:
            assert tx.active


def test_conditions_by_name(alpha, dataset):
    session, key = alpha.session, dataset.id(1)
    alpha.run(session.upsert(key).put({"n": 1}).execute())
    assert alpha.run(session.query(key).where(expression="$.n == 1").first()).is_ok
    with pytest.raises(FilteredOutError):
        alpha.run(session.query(key).where(expression="$.n == 2").fail_on_filtered_out().execute())
    with pytest.raises(TypeError):
        session.query(key).where()


def test_sessions_say_what_they_are(alpha):
    assert repr(alpha.session) == "Session(behavior='DEFAULT')"
    quick = alpha.session.session_for(Behavior.READ_FAST)
    assert repr(quick) == "Session(behavior='READ_FAST')"
    assert repr(quick.transaction()) == "Session(behavior='READ_FAST', in a transaction)"


def test_bins_go_on_as_their_builder(alpha, dataset):
    session, keys = alpha.session, dataset.ids(1, 2)
    step = session.upsert(keys[0]).bin("a")
    step.set_to(1)
    step.bin("b").set_to(2)
    alpha.run(step.execute())
    assert alpha.run(session.get(keys[0])).bins == {"a": 1, "b": 2}
    step = session.query(keys[0]).bin("a")
    step.get()
    chain = step.upsert(keys[1]).bin("c")
    chain.set_to(3)
    assert len(alpha.results(chain.query(keys[0]).bins("b"))) == 3
    step = session.update(keys[1]).bin("c")
    step.add(1)
    assert [result.is_ok for result in alpha.each(alpha.run(step.stream()))] == [True]
    assert alpha.run(session.get(keys[1])).bins == {"c": 4}
    task = session.background_task().update(dataset).bin("d")
    task.set_to(1)
    alpha.run(task.execute())


def test_policies_of_reads_by_keys(alpha, dataset):
    session, keys = alpha.session, dataset.ids(1, 2)
    alpha.run(session.upsert(keys).put({"n": 1}).execute())
    policy = native.ReadPolicy()
    policy.filter_expression = native.FilterExpression.eq(
        native.FilterExpression.int_bin("n"), native.FilterExpression.int_val(2)
    )
    for what in (keys[0], keys):
        query = session.query(what).with_read_policy(policy).fail_on_filtered_out()
        if what is keys[0]:
            with pytest.raises(FilteredOutError):
                alpha.run(query.execute())
        else:
            assert [result.result_code for result in alpha.results(query)] == [native.ResultCode.FILTERED_OUT] * 2
        # What the builder is told goes before it.
        found = alpha.results(session.query(what).with_read_policy(policy).where("$.n == 1"))
        assert bins(found) == [1] * len(found) and found
    with pytest.raises(InvalidArgumentError, match="with_policy"):
        session.query(dataset).with_read_policy(policy)
    with pytest.raises(TypeError):
        session.query(keys).with_read_policy(native.WritePolicy())


def test_policies_of_reads_within_transactions(consistent, set_name):
    key = aerolane.Key("test", set_name, 1)
    with aerolane.SyncClient(consistent.seeds) as client, client.transaction() as tx:
        tx.upsert(key).put({"n": 1}).execute()
        # The policy says nothing of a transaction: that of the session sees the write.
        for what in (key, [key, aerolane.Key("test", set_name, 2)]):
            assert tx.query(what).with_read_policy(native.ReadPolicy()).first().record.bins == {"n": 1}
        outside = client.create_session()
        assert outside.query(key).with_read_policy(native.ReadPolicy()).first() is None
        assert (
            not tx.query(key).with_txn(None).with_read_policy(native.ReadPolicy()).include_missing_keys().first().is_ok
        )
        policy = native.ReadPolicy()
        policy.txn = tx.txn
        assert outside.query(key).with_read_policy(policy).first().record.bins == {"n": 1}


@pytest.mark.parametrize("kind", [native.ReadPolicy, native.WritePolicy, native.BatchPolicy, native.QueryPolicy])
def test_base_policies(alpha, dataset, kind):
    session = alpha.session
    alpha.run(session.upsert(dataset.id(1)).put({"n": 1}).execute())
    alpha.run(session.upsert(dataset.id(2)).put({"n": 2}).execute())
    policy = kind()
    policy.filter_expression = native.FilterExpression.eq(
        native.FilterExpression.int_bin("n"), native.FilterExpression.int_val(2)
    )
    assert bins(alpha.results(session.query(dataset).base_policy(policy))) == [2]
    assert bins(alpha.results(session.query(dataset).base_policy(policy).where("$.n == 1"))) == [1]
    with pytest.raises(InvalidArgumentError):
        session.query(dataset.id(1)).base_policy(policy)
    with pytest.raises(TypeError):
        session.query(dataset).base_policy(native.BatchReadPolicy())


def test_writes_of_queries(alpha, dataset):
    session, operation = alpha.session, native.Operation
    for n in range(4):
        alpha.run(session.upsert(dataset.id(n)).put({"n": n}).execute())

    def done(started):
        task = alpha.run(started)
        assert task.wait_till_complete_blocking(0.02) is True

    writes = [operation.put("m", 7)]
    query = session.query(dataset).where("$.n >= 2").with_write_operations(writes)
    done(query.with_write_operations((operation.add("n", 10),)).records_per_second(0).execute_background_task())
    found = [result.record.bins for result in alpha.results(session.query(dataset))]
    assert sorted(found, key=lambda bins: bins["n"]) == [{"n": 0}, {"n": 1}, {"n": 12, "m": 7}, {"n": 13, "m": 7}]
    # What only reads, or says it twice.
    for query, text in (
        (session.query(dataset), "has nothing to write"),
        (session.query(dataset.id(1)), "queries of a data set"),
        (session.query(dataset).limit(3).with_write_operations(writes), r"limit\(\) is for reading"),
        (session.query(dataset).bins("n").with_write_operations(writes), r"bins\(\) is for reading"),
    ):
        with pytest.raises(InvalidArgumentError, match=text):
            alpha.run(query.execute_background_task())
    for wrong in ([], [operation.get_bin("n")]):
        with pytest.raises(InvalidArgumentError):
            session.query(dataset).with_write_operations(wrong)
    for wrong in (5, [5], operation.put("m", 1)):
        with pytest.raises(TypeError):
            session.query(dataset).with_write_operations(wrong)
    with pytest.raises(InvalidArgumentError, match="data set"):
        session.query(dataset.id(1)).with_write_operations(writes)
    query = session.query(dataset).with_write_operations(writes)
    with pytest.raises(InvalidArgumentError, match="execute_background_task"):
        alpha.run(query.execute())


def test_functions_of_queries(alpha, dataset):
    session, client = alpha.session, alpha.client
    body = "function set_m(rec, value) rec.m = value aerospike:update(rec) end\n"
    alpha.run(client.register_udf(body, "alpha_set.lua")).wait_till_complete_blocking(0.02)
    for n in range(3):
        alpha.run(session.upsert(dataset.id(n)).put({"n": n}).execute())
    query = session.query(dataset).where("$.n > 0")
    alpha.run(query.execute_udf_background_task("alpha_set", "set_m", [5])).wait_till_complete_blocking(0.02)
    found = [result.record.bins for result in alpha.results(session.query(dataset))]
    assert sorted(found, key=lambda bins: bins["n"]) == [{"n": 0}, {"n": 1, "m": 5}, {"n": 2, "m": 5}]
    writes = session.query(dataset).with_write_operations([native.Operation.put("m", 1)])
    with pytest.raises(InvalidArgumentError, match="leave with_write_operations"):
        alpha.run(writes.execute_udf_background_task("alpha_set", "set_m"))
    for wrong in (("", "set_m"), ("alpha_set", "set_m", 5)):
        with pytest.raises((InvalidArgumentError, TypeError)):
            alpha.run(session.query(dataset).execute_udf_background_task(*wrong))
    with pytest.raises(aerolane.AerospikeError, match="executed"):
        alpha.run(query.execute())


def test_tasks_of_transactions(consistent, set_name):
    with aerolane.SyncClient(consistent.seeds) as client, client.transaction() as tx:
        query = tx.query(DataSet.of("test", set_name)).with_write_operations([native.Operation.put("m", 1)])
        with pytest.raises(RuntimeError, match="not part of transactions"):
            query.execute_background_task()


@pytest.fixture
def known_indexes(alpha, dataset):
    """Two indexes of a set, one of them on what a context selects."""
    client = alpha.client.native
    names = [f"{dataset.set_name}_n", f"{dataset.set_name}_k"]
    for name, bin_name, ctx in ((names[0], "n", None), (names[1], "m", [native.CTX.map_key("k")])):
        task = client.create_index_blocking(
            "test", dataset.set_name, bin_name, name, native.IndexType.NUMERIC, None, ctx
        )
        assert task.wait_till_complete_blocking(0.02)
    yield names
    for name in names:
        client.drop_index_blocking("test", dataset.set_name, name).wait_till_complete_blocking(0.02)


def test_a_monitor_of_indexes(alpha, dataset, known_indexes):
    monitor = IndexesMonitor(refresh_interval=0.05)
    with pytest.raises(RuntimeError, match="start"):
        monitor.wait_until_ready()
    assert monitor.get_index_context("test") is None
    monitor.start(alpha.client)
    monitor.start(alpha.client.native)
    monitor.wait_until_ready(20)
    context = monitor.get_index_context("test")
    assert context.namespace == "test" and monitor.get_index_context("no such") is None
    found = {index.name: index for index in context.indexes if index.name in known_indexes}
    assert {name: (index.bin, index.set_name) for name, index in found.items()} == {
        known_indexes[0]: ("n", dataset.set_name),
        known_indexes[1]: ("m", dataset.set_name),
    }
    assert found[known_indexes[0]].ctx is None and found[known_indexes[1]].ctx == [native.CTX.map_key("k")]
    of_set = IndexContext.with_query_set("test", dataset.set_name, context.indexes)
    assert known_indexes[0] in parse_ael_with_index("$.n == 1", of_set).explain()
    assert known_indexes[1] in parse_ael_with_index("$.m.k == 1", of_set).explain()
    explained = alpha.run(alpha.session.query(dataset).with_index_context(of_set).where("$.m.k == 1").explain())
    assert explained.uses_index
    monitor.stop()
    monitor.stop()
    with pytest.raises(RuntimeError):
        monitor.wait_until_ready()
    # What was listed stays; another client may go on.
    assert monitor.get_index_context("test") is not None
    monitor.start(alpha.client)
    monitor.wait_until_ready()


def test_a_monitor_sees_what_comes_later(alpha, dataset, known_indexes):
    monitor = IndexesMonitor(0.02)
    monitor.start(alpha.client)
    client, late = alpha.client.native, f"{dataset.set_name}_late"
    task = client.create_index_blocking("test", dataset.set_name, "late", late, native.IndexType.STRING)
    assert task.wait_till_complete_blocking(0.02)
    try:
        deadline = time.monotonic() + 60
        while late not in names_of(monitor):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        client.drop_index_blocking("test", dataset.set_name, late).wait_till_complete_blocking(0.02)


def names_of(monitor):
    context = monitor.get_index_context("test")
    return [] if context is None else [index.name for index in context.indexes]


def test_a_client_starts_its_monitor(seeds, known_indexes):
    monitor = IndexesMonitor()
    with aerolane.SyncClient(seeds, None, 5.0, indexes_monitor=monitor):
        monitor.wait_until_ready(20)
        assert set(known_indexes) <= set(names_of(monitor))

    async def asynchronous():
        monitor = IndexesMonitor()
        async with aerolane.Client(seeds, None, 5.0, indexes_monitor=monitor):
            await asyncio.to_thread(monitor.wait_until_ready)
            assert set(known_indexes) <= set(names_of(monitor))

    asyncio.run(asynchronous())


def test_monitors_that_are_used_wrongly(seeds):
    for wrong in (0, -1, float("nan"), float("inf"), 1e300):
        with pytest.raises(InvalidArgumentError, match="refresh_interval"):
            IndexesMonitor(wrong)
    monitor = IndexesMonitor()
    for wrong in (-1, float("nan")):
        with pytest.raises(InvalidArgumentError, match="timeout"):
            monitor.wait_until_ready(wrong)
    for wrong in (None, 5, "localhost"):
        with pytest.raises((TypeError, AttributeError)):
            monitor.start(wrong)
    with pytest.raises(TypeError):
        aerolane.SyncClient(seeds, indexes_monitor=5)
    client = aerolane.SyncClient(seeds)
    with pytest.raises(RuntimeError, match="not connected"):
        monitor.start(client)
    client.connect()
    of_client = client.native
    client.close()
    with pytest.raises(ClientClosedError):
        monitor.start(of_client)
