"""What sessions and clusters do beside records: indexes, UDF modules, info commands. Both kinds of sessions."""

import copy
import pickle

import pytest
from conftest import REAL, UDFS
from hypothesis import given
from hypothesis import strategies as st

import aerolane
import aerolane.sync
from aerolane import (
    CTX,
    AelParseException,
    AerospikeError,
    CollectionIndexType,
    DataSet,
    Exp,
    Filter,
    IndexType,
    InvalidArgumentError,
    UDFLang,
)
from aerolane.exceptions import BadResponseError, IndexAlreadyExistsError
from aerolane.info_types import (
    NamespaceDetail,
    SetDetail,
    Sindex,
    SindexDetail,
    StorageEngine,
    StorageFileDetail,
)
from aerolane.native import DropIndexTask, IndexTask, RegisterTask, UdfRemoveTask


@pytest.fixture
def dataset(set_name):
    return DataSet.of("test", set_name)


@pytest.fixture
def wait(either):
    """`wait(call)`: carries it out, waits for its task, and gives the task."""

    def until_over(call):
        task = either.run(call)
        if either.kind == "sync":
            assert task.wait_till_complete_blocking(0.01, 60)
        else:
            assert either.run(task.wait_till_complete(0.01, 60))
        return task

    return until_over


@pytest.fixture
def indexes(either, session, set_name):
    """`indexes()`: those of the test's set, by name. They are dropped at the end."""

    def listed():
        return {row["name"]: row for row in either.run(session.list_indexes()) if row["set"] == set_name}

    yield listed
    for name in listed():
        either.run(session.drop_index(DataSet.of("test", set_name), name))


def refused(call, kind=InvalidArgumentError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


# Indexes.


def test_index_on_a_bin(either, session, dataset, set_name, wait, indexes):
    for n in range(10):
        either.run(session.put(dataset.id(n), {"n": n}))
    name = f"{set_name}_n"
    task = wait(session.index(dataset).on_bin("n").named(name).integer().create())
    assert isinstance(task, IndexTask)
    row = indexes()[name]
    assert row["namespace"] == "test"
    assert row["bin"] == "n"
    assert row["type"] == "integer"
    assert row["index_type"] == "default"
    assert row["state"] == "RW"
    assert "exp" not in row
    found = either.results(session.query(dataset).filter(Filter.range("n", 3, 5)))
    assert sorted(result.record.bins["n"] for result in found) == [3, 4, 5]
    assert isinstance(wait(session.index(dataset).named(name).drop()), DropIndexTask)
    assert name not in indexes()
    either.run(session.index(dataset).named(name).drop())  # no error


# A real server writes a context for people.
CONTEXT = "[list_index(0)]" if REAL else "khAA"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("on_bin", "s"), ("string",)], {"bin": "s", "type": "string", "index_type": "default"}),
        ([("on_bin", "g"), ("geo2dsphere",)], {"bin": "g", "type": "geo2dsphere"}),
        ([("on_bin", "b"), ("blob",)], {"bin": "b", "type": "blob"}),
        (
            [("on_bin", "l"), ("string",), ("collection", CollectionIndexType.LIST)],
            {"bin": "l", "type": "string", "index_type": "list"},
        ),
        (
            [("collection", CollectionIndexType.MAP_KEYS), ("string",), ("on_bin", "m")],
            {"bin": "m", "index_type": "mapkeys"},
        ),
        ([("context", [CTX.list_index(0)]), ("on_bin", "l"), ("string",)], {"bin": "l", "context": CONTEXT}),
        ([("on_bin", "l"), ("string",), ("context", [CTX.list_index(0)])], {"bin": "l", "context": CONTEXT}),
        ([("on_set",)], {"bin": "", "index_type": "set"}),
    ],
    ids=lambda value: "-".join(step[0] for step in value) if isinstance(value, list) else "",
)
def test_kinds_of_indexes(session, dataset, set_name, wait, indexes, steps, expected):
    builder = session.index(dataset).named(f"{set_name}_i")
    for step, *arguments in steps:
        assert getattr(builder, step)(*arguments) is builder
    wait(builder.create())
    row = indexes()[f"{set_name}_i"]
    assert {name: row[name] for name in expected} == expected


def test_index_on_an_expression(session, dataset, set_name, wait, indexes):
    """A text and an expression that say the same give the same index."""
    by_text = session.index(dataset).on_expression("$.n + 1").named(f"{set_name}_e").integer()
    wait(by_text.create())
    text = indexes()[f"{set_name}_e"]
    assert text["exp"]
    wait(by_text.drop())
    built = Exp.num_add([Exp.int_bin("n"), Exp.int_val(1)])
    wait(session.index(dataset).on_expression(built).named(f"{set_name}_e").integer().create())
    assert indexes()[f"{set_name}_e"] == text


def test_what_an_index_cannot_be_is_refused_where_it_is_said(session, dataset):
    def index():
        return session.index(dataset)

    ctx = [CTX.list_index(0)]
    for call in (
        lambda: index().on_bin("a").on_bin("b"),
        lambda: index().on_bin("a").on_expression("$.a + 1"),
        lambda: index().on_expression("$.a + 1").on_bin("a"),
        lambda: index().on_bin("a").on_set(),
        lambda: index().on_set().on_bin("a"),
    ):
        assert "one bin, or one expression, or a set" in refused(call)
    for call in (
        lambda: index().on_set().integer(),
        lambda: index().integer().on_set(),
        lambda: index().on_set().collection(CollectionIndexType.LIST),
        lambda: index().collection(CollectionIndexType.LIST).on_set(),
        lambda: index().on_set().context(ctx),
        lambda: index().context(ctx).on_set(),
    ):
        assert "no type, collection or context" in refused(call)
    for call in (
        lambda: index().on_expression("$.a + 1").context(ctx),
        lambda: index().context(ctx).on_expression("$.a + 1"),
    ):
        assert "part of the expression" in refused(call)
    assert "once" in refused(lambda: index().integer().string())
    assert "once" in refused(lambda: index().collection(CollectionIndexType.LIST).collection(CollectionIndexType.LIST))
    assert "on_set()" in refused(lambda: index().collection(CollectionIndexType.SET))
    assert "one call" in refused(lambda: index().context(ctx).context(ctx))
    assert "empty" in refused(lambda: index().context([]))
    assert "once" in refused(lambda: index().named("a").named("b"))
    refused(lambda: index().named(""))
    assert "';'" in refused(lambda: index().named("a;b"))
    refused(lambda: index().on_bin(""))
    refused(lambda: index().on_bin("a name that is too long"))
    refused(lambda: index().on_expression("$.a +"), AelParseException)
    refused(lambda: index().on_expression(1), TypeError)
    refused(lambda: index().context(1), TypeError)
    refused(lambda: index().collection("list"), TypeError)
    refused(lambda: session.index("test"), TypeError)
    assert "DataSet that names a set" in refused(lambda: session.index(DataSet.of("test")).on_set())


def test_what_an_index_lacks_is_said_when_it_is_created(either, session, dataset, indexes):
    def index():
        return session.index(dataset)

    assert "named(index_name)" in refused(lambda: either.run(index().on_bin("a").integer().create()))
    assert "named(index_name)" in refused(lambda: either.run(index().drop()))
    assert "on_bin(name)" in refused(lambda: either.run(index().named("i").integer().create()))
    assert "on_bin(name)" in refused(
        lambda: either.run(index().named("i").context([CTX.list_index(0)]).integer().create())
    )
    assert "integer()" in refused(lambda: either.run(index().named("i").on_bin("a").create()))
    assert indexes() == {}


def test_create_index(either, session, dataset, set_name, wait, indexes):
    name = f"{set_name}_i"
    assert isinstance(wait(session.create_index(dataset, name, "n", IndexType.NUMERIC)), IndexTask)
    assert indexes()[name]["bin"] == "n"
    with pytest.raises(IndexAlreadyExistsError):
        either.run(session.create_index(dataset, name, "m", IndexType.NUMERIC))
    assert isinstance(wait(session.drop_index(dataset, name)), DropIndexTask)
    either.run(session.drop_index(dataset, name))
    assert indexes() == {}
    wait(session.create_index(dataset, name))
    assert indexes()[name]["index_type"] == "set"
    wait(session.drop_index(dataset, name))
    items = CollectionIndexType.LIST
    wait(session.create_index(dataset, name, "l", IndexType.STRING, collection_type=items, ctx=[CTX.map_key("k")]))
    assert indexes()[name]["index_type"] == "list"
    wait(session.drop_index(dataset, name))
    wait(session.create_index(dataset, name, expression="$.n + 1", index_type=IndexType.NUMERIC))
    assert indexes()[name]["exp"]


def test_arguments_of_create_index_that_do_not_fit(either, session, dataset):
    def create(*arguments, **more):
        return refused(lambda: either.run(session.create_index(dataset, *arguments, **more)))

    assert "integer()" in create("i", "n")
    assert "no type" in create("i", index_type=IndexType.NUMERIC)
    assert "one bin" in create("i", "n", IndexType.NUMERIC, expression="$.n + 1")
    assert "expression" in create("i", index_type=IndexType.NUMERIC, expression="$.n + 1", ctx=[CTX.list_index(0)])
    assert "1 to 255" in create("", "n", IndexType.NUMERIC)
    refused(lambda: either.run(session.create_index("test", "i", "n", IndexType.NUMERIC)), TypeError)
    refused(lambda: either.run(session.create_index(dataset, "i", "n", "numeric")), TypeError)
    refused(lambda: either.run(session.drop_index(dataset, "")))
    refused(lambda: either.run(session.drop_index(dataset, 1)), TypeError)


# UDF modules.


@pytest.fixture(params=["session", "cluster"])
def admin(request, either, session, seeds):
    """What has the methods about modules: a session, and a cluster of the same kind."""
    if request.param == "session":
        yield session
        return
    host, port = seeds.split(",")[0].rsplit(":", 1)
    if either.kind == "sync":
        with aerolane.sync.ClusterDefinition(host, int(port)).connect() as cluster:
            yield cluster
    else:
        cluster = either.run(aerolane.ClusterDefinition(host, int(port)).connect())
        yield cluster
        either.run(cluster.close())


def test_modules(either, session, admin, dataset, set_name, wait, tmp_path):
    name = f"{set_name}.lua"
    file = tmp_path / "source.lua"
    file.write_text(UDFS)

    def call():
        applied = session.execute_udf(dataset.id(1)).function(set_name, "back").passing(7)
        return either.run(applied.first_or_raise()).udf_result

    def listed():
        return {row["name"]: row for row in either.run(admin.list_udf())}

    for register in (
        lambda: admin.register_udf(UDFS, name),
        lambda: admin.register_udf(UDFS.encode(), name, UDFLang.LUA),
        lambda: admin.register_udf_from_file(str(file), name),
        lambda: admin.register_udf_from_file(file, server_path=name, language=UDFLang.LUA, policy=None),
    ):
        either.run(session.put(dataset.id(1), {"n": 1}))
        assert isinstance(wait(register()), RegisterTask)
        assert call() == 7
        assert listed()[name]["type"] == "LUA"
        assert len(listed()[name]["hash"]) == 40
        assert isinstance(wait(admin.remove_udf(name)), UdfRemoveTask)
        assert name not in listed()
    either.run(admin.remove_udf(name))  # no error


def test_module_from_a_package(either, admin, set_name, wait, tmp_path, monkeypatch):
    package = tmp_path / f"pkg_{set_name}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.lua").write_text(UDFS)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"{set_name}.lua"
    wait(admin.register_udf_from_resource(package.name, "inner.lua", name))
    assert name in {row["name"] for row in either.run(admin.list_udf())}
    wait(admin.remove_udf(name))
    wait(admin.register_udf_from_resource(__import__(package.name), "inner.lua", name))
    wait(admin.remove_udf(name))
    with pytest.raises(FileNotFoundError):
        either.run(admin.register_udf_from_resource(package.name, "none.lua", name))
    with pytest.raises(ModuleNotFoundError):
        either.run(admin.register_udf_from_resource("no_package_of_this_name", "none.lua", name))


def test_modules_that_are_refused(either, admin):
    def run(method, *arguments, **more):
        return either.run(getattr(admin, method)(*arguments, **more))

    refused(lambda: run("register_udf", "", "m.lua"))
    refused(lambda: run("register_udf", UDFS, ""))
    assert "'/'" in refused(lambda: run("register_udf", UDFS, "a/b.lua"))
    refused(lambda: run("register_udf", 3.5, "m.lua"), TypeError)
    refused(lambda: run("register_udf", UDFS, 3), TypeError)
    refused(lambda: run("register_udf", UDFS, "m.lua", "lua"), TypeError)
    refused(lambda: run("register_udf", UDFS, "m.lua", policy=1), TypeError)
    refused(lambda: run("register_udf", "this is no Lua", "py_bad.lua"), AerospikeError)
    refused(lambda: run("register_udf_from_file", "/no/such/file.lua", "m.lua"), FileNotFoundError)
    refused(lambda: run("remove_udf", "a;b"))


def test_indexes_of_clusters(either, session, admin, dataset, set_name, wait, indexes):
    wait(session.create_index(dataset, f"{set_name}_i", "n", IndexType.NUMERIC))
    listed = {row["name"]: row for row in either.run(admin.list_indexes())}
    assert listed[f"{set_name}_i"] == indexes()[f"{set_name}_i"]


# Info.


@pytest.fixture
def nodes(request, new_cluster, either):
    """A session of a cluster of two nodes, of the test's own, with three records and two indexes."""
    from conftest import Either

    cluster = new_cluster(nodes=2)
    one = Either(either.kind, cluster.seeds)
    for n in range(3):
        one.run(one.session.put(DataSet.of("test", "people").id(n), {"n": n}))
    one.run(one.session.put(DataSet.of("test", "cats").id(1), {"n": 1}))
    one.run(one.session.create_index(DataSet.of("test", "people"), "by_n", "n", IndexType.NUMERIC))
    one.run(one.session.create_index(DataSet.of("test", "people"), "all_people"))
    yield one
    one.close()


def test_info_commands(nodes):
    run, info = nodes.run, nodes.session.info()
    assert type(info).__name__ == "InfoCommands"
    assert type(info).__module__ == type(nodes.session).__module__
    assert type(nodes.session.info(None)) is type(info)
    assert run(info.namespaces()) == {"test"}
    (build,) = run(info.build())
    assert build.split(".")[0].isdigit()
    assert run(info.is_cluster_stable()) is True
    assert info.get_cluster_size() == 2
    assert run(info.info("build")) == run(nodes.session.info("build")) == {"build": build}
    assert list(run(info.info_on_all_nodes("build")).values()) == [{"build": build}] * 2


def test_namespace_details(nodes):
    run, info = nodes.run, nodes.session.info()
    detail = run(info.namespace_details("test"))
    assert isinstance(detail, NamespaceDetail)
    assert isinstance(detail, dict)
    assert detail["objects"] == "4"
    assert detail.objects == 4
    assert detail.exists
    assert detail.strong_consistency is False
    assert detail.strong_consistency_reported
    assert detail.effective_replication_factor == 2
    assert detail.current_time > 0
    assert detail.data_total_bytes > detail.data_used_bytes > 0
    assert isinstance(detail.storage_engine, StorageEngine)
    assert detail.storage_engine.engine == detail["storage-engine"] == "memory"
    assert detail.storage_engine.is_memory
    assert not detail.storage_engine.is_device
    assert detail.storage_engine.files == []
    each = run(info.namespace_details_per_node("test"))
    assert len(each) == 2
    assert sum(one.master_objects for one in each.values()) == 4
    assert run(info.namespace_details("nowhere")) is None
    assert run(info.namespace_details_per_node("nowhere")) == {}


def test_sets(nodes):
    run, info = nodes.run, nodes.session.info()
    sets = run(info.sets())
    assert [detail.name for detail in sets] == ["cats", "people"]
    assert all(isinstance(detail, SetDetail) for detail in sets)
    assert run(info.sets("test")) == sets
    people = run(info.set("test", "people"))
    assert people == sets[1]
    assert people.namespace == "test"
    assert people.objects == 3
    assert people.sindexes == 2
    assert people.truncating is False
    assert run(info.set("test", "dogs")) is None
    assert run(info.sets("nowhere")) == []
    assert run(info.set("nowhere", "people")) is None
    each = run(info.sets_per_node("test"))
    assert [[detail.name for detail in one] for one in each.values()] == [["cats", "people"]] * 2
    assert list(run(info.sets_per_node("nowhere")).values()) == [[], []]


def test_secondary_indexes(nodes):
    run, info = nodes.run, nodes.session.info()
    found = {index.name: index for index in run(info.secondary_indexes())}
    assert list(found) == ["by_n", "all_people"]
    assert all(isinstance(index, Sindex) for index in found.values())
    by_n = found["by_n"]
    assert (by_n.namespace, by_n.set_name, by_n.bin_name) == ("test", "people", "n")
    assert by_n.index_type == "integer"
    assert by_n.collection_type == "default"
    assert by_n.state == "RW"
    assert by_n.is_ready
    assert not by_n.is_set_index
    of_set = found["all_people"]
    assert of_set.is_set_index
    assert of_set.is_ready
    assert of_set.bin_name == of_set.state == ""
    assert run(info.secondary_indexes("test")) == list(found.values()) == run(nodes.session.list_indexes())
    assert run(info.secondary_indexes("nowhere")) == []
    assert list(run(info.secondary_indexes_per_node()).values()) == [list(found.values())] * 2
    assert list(run(info.secondary_indexes_per_node("nowhere")).values()) == [[], []]
    detail = run(info.secondary_index_details("test", "by_n"))
    assert isinstance(detail, SindexDetail)
    assert detail.load_pct == 100
    assert detail.is_ready
    assert detail.used_bytes > 0
    assert detail.entries_per_rec == 1
    each = run(info.secondary_index_details_per_node("test", "by_n"))
    assert len(each) == 2
    assert all(one.entries > 0 for one in each.values())
    assert run(info.secondary_index_details("test", "by_m")) is None
    assert run(info.secondary_index_details("nowhere", "by_n")) is None
    assert run(info.secondary_index_details_per_node("test", "by_m")) == {}


def test_info_that_is_refused(nodes):
    run, info = nodes.run, nodes.session.info()
    for name in ("", "a" * 300, "a\nbuild", "a;b", "a/b"):
        refused(lambda name=name: run(info.namespace_details(name)))
        refused(lambda name=name: run(info.sets(name)))
        refused(lambda name=name: run(info.secondary_indexes(name)))
    refused(lambda: run(info.secondary_index_details("test", "a\nbuild")))
    refused(lambda: run(info.secondary_index_details("test", "")))
    for call in (info.namespace_details, info.sets, info.info, info.info_on_all_nodes):
        refused(lambda call=call: run(call(3)), TypeError)
    refused(lambda: run(info.info("")), ValueError)
    run(nodes.client.close())
    for call in (info.build, info.namespaces, info.sets, info.secondary_indexes, info.is_cluster_stable):
        refused(lambda call=call: run(call()), aerolane.ClientClosedError)
    refused(info.get_cluster_size, aerolane.ClientClosedError)


def answering(command, answer):
    """The frame of a node's answer to an info command."""
    body = f"{command}\t{answer}\n".encode()
    return bytes([2, 1]) + len(body).to_bytes(6, "big") + body


@pytest.mark.parametrize(
    ("answers", "stable"),
    [
        (("A1", "A1"), True),
        (("A1", "B2"), False),
        (("A1", "ERROR::unstable-cluster"), False),
        (("ERROR::unstable-cluster",) * 2, False),
    ],
)
def test_whether_a_cluster_is_stable(either, new_cluster, answers, stable):
    from conftest import Either

    cluster = new_cluster(nodes=2)
    one = Either(either.kind, cluster.seeds)
    try:
        for node, answer in zip(cluster.nodes, answers, strict=True):
            cluster.inject("garbage", answering("cluster-stable", answer), on="info", node=node)
        assert one.run(one.session.info().is_cluster_stable()) is stable
    finally:
        one.close()


def test_nodes_that_do_not_answer(either, new_cluster):
    from conftest import Either

    cluster = new_cluster(nodes=2)
    one = Either(either.kind, cluster.seeds)
    try:
        with cluster.inject("drop-before", on="info"), pytest.raises(AerospikeError):
            one.run(one.session.info().is_cluster_stable())
    finally:
        one.close()


def test_views_of_any_text():
    """What nodes say may be anything: what is missing or is no number reads as nothing."""
    assert NamespaceDetail().objects == 0
    assert NamespaceDetail({"objects": "many"}).objects == 0
    assert NamespaceDetail({"objects": "-3"}).objects == -3
    assert NamespaceDetail({"objects": str(2**70)}).objects == 2**70
    assert NamespaceDetail({"stop_writes": "true"}).stop_writes is True
    assert NamespaceDetail({"stop_writes": "TRUE"}).stop_writes is False
    assert NamespaceDetail({"strong_consistency": "true"}).strong_consistency
    assert not NamespaceDetail({"type": "unknown"}).exists
    assert not NamespaceDetail().strong_consistency_reported
    assert NamespaceDetail.from_body("a=1;b;=2;c=;d=e=f;;") == {"a": "1", "": "2", "c": "", "d": "e=f"}
    assert NamespaceDetail.from_body("") == {}
    for body in ("type=unknown", "ERROR:20:none", "ERROR"):
        assert NamespaceDetail.from_response({"namespace/test": body}, "test") is None
    assert NamespaceDetail.from_response({"namespace/test": "objects=1"}, "test").objects == 1
    assert NamespaceDetail.from_response({"other": "objects=1"}, "test").objects == 1
    assert NamespaceDetail.from_response({}, "test") is None
    assert SindexDetail.from_response(None, "test", "i") is None
    assert SindexDetail.from_response({"sindex/test/i": "entries=1"}, "test", "i").entries == 1
    assert SindexDetail.from_response({"sindex/test/i": "ERROR:201:no index"}, "test", "i") is None
    assert SetDetail.from_body("ns=a:set=b:objects=1;ns=a:set=c:x;junk") == [
        {"ns": "a", "set": "b", "objects": "1"},
        {"ns": "a", "set": "c"},
    ]
    assert Sindex().name == ""
    assert not Sindex({"state": "WO"}).is_ready
    assert not SindexDetail({"load_pct": "99"}).is_ready
    assert StorageFileDetail().age == -1
    assert StorageEngine().compression == "none"
    assert NamespaceDetail({1: 2, "objects": 5}).objects == 0


@given(st.text(alphabet="ab=;:.[]0-\n\0é" + "".join(map(chr, range(48, 58))) + "storage-enginefile", max_size=300))
def test_views_of_random_text(text):
    detail = NamespaceDetail.from_body(text)
    assert all(isinstance(value, str) for value in detail.values())
    for one in [detail, detail.storage_engine, *detail.storage_engine.files, *SetDetail.from_body(text)]:
        for name, kind in vars(type(one)).items():
            if isinstance(kind, property):
                assert isinstance(getattr(one, name), str | int | list | StorageEngine)
    response = {"namespace/test": text}
    assert NamespaceDetail.from_response(response, "test") in (None, detail)


def test_devices_and_files():
    detail = NamespaceDetail(
        {
            "storage-engine": "device",
            "storage-engine.file[1]": "/b",
            "storage-engine.file[0].age": "3",
            "storage-engine.file[0]": "/a",
            "storage-engine.device[0]": "/dev/x",
            "storage-engine.device[0].writes": "4",
            "storage-engine.device[x]": "no",
            "storage-engine.stripe[0]": "no",
            "storage-engine.defrag-lwm-pct": "50",
            "storage-engines": "no",
        }
    )
    engine = detail.storage_engine
    assert engine == StorageEngine.from_namespace(detail)
    assert engine.is_device
    assert engine.defrag_lwm_pct == 50
    assert engine.files == [{"path": "/dev/x", "writes": "4"}, {"path": "/a", "age": "3"}, {"path": "/b"}]
    assert [file.path for file in engine.files] == ["/dev/x", "/a", "/b"]
    assert [file.age for file in engine.files] == [-1, 3, -1]
    assert all(isinstance(file, StorageFileDetail) for file in engine.files)


@pytest.mark.parametrize("view", [NamespaceDetail, SetDetail, Sindex, SindexDetail, StorageEngine, StorageFileDetail])
def test_views_are_dicts(view):
    one = view({"set": "a"})
    assert one == {"set": "a"}
    assert {**one} == {"set": "a"}
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert type(again) is view
        assert again == one
    assert view.__module__ == "aerolane.info_types"
    assert view.__doc__
    with pytest.raises(AttributeError):
        one.name_that_it_does_not_have = 1


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("ERROR:81:role violation", "namespace/test.*role violation"),
        ("FAIL:4:bad", "refused"),
        ("ERROR:20:namespace not found", None),
        ("type=unknown", None),
    ],
)
def test_what_nodes_refuse_is_said(either, new_cluster, answer, outcome):
    """A refused command raises, but for what is not there."""
    from conftest import Either

    cluster = new_cluster()
    one = Either(either.kind, cluster.seeds)
    info = one.session.info()
    try:
        with cluster.inject("garbage", answering("namespace/test", answer), on="info"):
            if outcome is None:
                assert one.run(info.namespace_details("test")) is None
                assert one.run(info.namespace_details_per_node("test")) == {}
            else:
                with pytest.raises(BadResponseError, match=outcome):
                    one.run(info.namespace_details("test"))
                with pytest.raises(BadResponseError, match=outcome):
                    one.run(info.namespace_details_per_node("test"))
    finally:
        one.close()


def test_what_servers_would_ignore_fails_in_a_namespace_that_does_not_exist(either):
    """Servers say that all is well, and do nothing."""
    session, nowhere = either.session, aerolane.DataSet.of("nowhere", "people")
    calls = (
        lambda: session.truncate(nowhere),
        lambda: session.index(nowhere).on_bin("age").named("ages").integer().create(),
        lambda: session.create_index(nowhere, "ages", "age", aerolane.IndexType.NUMERIC),
    )
    for call in calls:
        with pytest.raises(aerolane.InvalidNamespaceError, match='the cluster has no namespace "nowhere"'):
            either.run(call())
    native = either.client.native
    with pytest.raises(aerolane.InvalidNamespaceError, match="nowhere"):
        native.truncate_blocking("nowhere", "people")
    with pytest.raises(aerolane.InvalidNamespaceError, match="nowhere"):
        native.create_index_blocking("nowhere", "people", "age", "ages", aerolane.IndexType.NUMERIC)
