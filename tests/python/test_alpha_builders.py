"""Code for the first versions of the SDK of Aerospike (0.9): other names for what builders, clients, definitions do."""

import contextlib
from datetime import timedelta

import pytest
from conftest import Either

import aerolane
from aerolane import Behavior, DataSet, QueryHint, TlsBuilder, native
from aerolane.ael import Index, IndexContext, IndexTypeEnum
from aerolane.exceptions import FilteredOutError, InvalidArgumentError, RecordNotFoundError
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
