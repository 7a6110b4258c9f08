"""Indexes, modules, tasks in the background and info commands: the same calls on aerospike-sdk, on one cluster."""

import pytest

import aerolane.info_types
import aerolane.native
import aerolane.sync
from aerolane.testing import EmbeddedCluster

sdk = pytest.importorskip("aerospike_sdk", reason="aerospike-sdk is not installed")
import aerospike_sdk.sync  # noqa: E402

MODULE = "function plus(rec, by) rec.n = rec.n + by; aerospike:update(rec) end"
VIEWS = ("NamespaceDetail", "SetDetail", "Sindex", "SindexDetail", "StorageEngine", "StorageFileDetail")


@pytest.fixture(scope="module")
def both():
    """A session of each, on one cluster."""
    with EmbeddedCluster(nodes=1) as cluster:
        host, port = cluster.seeds.rsplit(":", 1)
        with (
            aerospike_sdk.sync.ClusterDefinition(host, int(port)).connect() as theirs,
            aerolane.sync.ClusterDefinition(host, int(port)).connect() as ours,
        ):
            yield (sdk, theirs), (aerolane, ours)


def on_each(both, program):
    """What a program gives on each: it gets the package, a cluster, and an empty set with ten records."""
    outcomes = []
    for number, (package, cluster) in enumerate(both):
        session = cluster.create_session()
        dataset = package.DataSet.of("test", f"peers_{number}")
        session.truncate(dataset)
        for n in range(10):
            session.put(dataset.id(n), {"n": n, "l": [n, 0]})
        for row in session.list_indexes():
            session.drop_index(package.DataSet.of("test", row["set"]), row["name"])
        outcomes.append(program(package, cluster, session, dataset))
    return outcomes


def wait(task):
    task.wait_till_complete_blocking(0.01, 60)


def records(session, dataset):
    """The bins and generations of the ten records; `None` for those that are gone."""

    def one(n):
        try:
            record = session.get(dataset.id(n))
        except Exception as error:
            return type(error).__name__
        return dict(record.bins), record.generation, record.ttl is None

    return [one(n) for n in range(10)]


def ge(package, bin_name, value):
    return package.Exp.ge(package.Exp.int_bin(bin_name), package.Exp.int_val(value))


TASKS = {
    "add": lambda p, t, d: t.update(d).bin("n").add(5),
    "several steps": lambda p, t, d: t.update(d).bin("n").set_to(1).bin("s").set_to("x").bin("l").list_append(7),
    "map": lambda p, t, d: t.update(d).bin("m").map_upsert_items({"a": 1}),
    "remove": lambda p, t, d: t.update(d).bin("n").remove(),
    "expression": lambda p, t, d: t.update(d).bin("e").upsert_from(ge(p, "n", 5)),
    "where": lambda p, t, d: t.update(d).where(ge(p, "n", 5)).bin("n").add(5),
    "delete": lambda p, t, d: t.delete(d),
    "delete where": lambda p, t, d: t.delete(d).where(ge(p, "n", 5)),
    "touch": lambda p, t, d: t.touch(d),
    "touch with ttl": lambda p, t, d: t.touch(d).expire_record_after_seconds(1000),
    "never": lambda p, t, d: t.update(d).never_expire().bin("n").add(1),
    "rate": lambda p, t, d: t.update(d).records_per_second(10_000).bin("n").add(1),
    "durable": lambda p, t, d: t.delete(d).without_durable_delete(),
    "function": lambda p, t, d: t.execute_udf(d).function("peers", "plus").passing(3),
    "function where": lambda p, t, d: t.execute_udf(d).function("peers", "plus").passing(3).where(ge(p, "n", 5)),
}


@pytest.mark.parametrize("name", TASKS)
def test_tasks(both, name):
    def program(package, cluster, session, dataset):
        wait(session.register_udf(MODULE, "peers.lua"))
        wait(TASKS[name](package, session.background_task(), dataset).execute())
        return records(session, dataset)

    theirs, ours = on_each(both, program)
    assert theirs == ours


def test_filters_of_tasks(both):
    def program(package, cluster, session, dataset):
        wait(session.create_index(dataset, f"{dataset.set_name}_n", "n", package.IndexType.NUMERIC))
        native = package.Filter.range("n", 2, 4)
        wait(session.background_task().update(dataset).filter(native).bin("n").add(100).execute())
        return records(session, dataset)

    theirs, ours = on_each(both, program)
    assert theirs == ours
    assert sum(bins["n"] >= 100 for bins, *_ in ours) == 3


def in_a_transaction(session):
    with session.transaction() as inner:
        inner.background_task()


REFUSED = {
    "nothing to write": lambda p, s, d: s.background_task().update(d).execute(),
    "a condition on results": lambda p, s, d: (
        s.background_task().update(d).fail_on_filtered_out().bin("n").add(1).execute()
    ),
    "missing keys": lambda p, s, d: s.background_task().delete(d).include_missing_keys().execute(),
    "no package": lambda p, s, d: s.background_task().execute_udf(d).function("", "f"),
    "in a transaction": lambda p, s, d: in_a_transaction(s),
    "no type": lambda p, s, d: s.index(d).on_bin("n").named("i").create(),
    "no name": lambda p, s, d: s.index(d).on_bin("n").string().create(),
    "no bin": lambda p, s, d: s.index(d).named("i").string().create(),
    "bin and expression": lambda p, s, d: s.index(d).on_bin("n").on_expression(ge(p, "n", 1)),
    "bin and set": lambda p, s, d: s.index(d).on_bin("n").on_set(),
    "set and bin": lambda p, s, d: s.index(d).on_set().on_bin("n"),
    "a typed set": lambda p, s, d: s.index(d).on_set().string().named("i").create(),
    "an index of no set": lambda p, s, d: s.index(p.DataSet.of("test")).on_set().named("i").create(),
    "an expression's context": lambda p, s, d: (
        s.index(d).on_expression(ge(p, "n", 1)).context([p.CTX.list_index(0)]).named("i").string().create()
    ),
    "a drop without a name": lambda p, s, d: s.index(d).on_bin("n").drop(),
    "create_index without a type": lambda p, s, d: s.create_index(d, "i", "n"),
    "a name for a data set": lambda p, s, d: s.create_index("test", "i", "n"),
    "a resource that is missing": lambda p, s, d: s.register_udf_from_resource("aerolane", "no.lua", "no.lua"),
    "a package that is missing": lambda p, s, d: s.register_udf_from_resource("no_such_package", "no.lua", "no.lua"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(both, name):
    """With the same of Python's exceptions."""

    def program(package, cluster, session, dataset):
        with pytest.raises(Exception) as caught:
            REFUSED[name](package, session, dataset)
        return caught.value

    theirs, ours = on_each(both, program)
    assert isinstance(ours, type(theirs))


INDEXES = {
    "string": lambda p, i: i.on_bin("s").string(),
    "blob": lambda p, i: i.on_bin("b").blob(),
    "geo": lambda p, i: i.on_bin("g").geo2dsphere(),
    "list": lambda p, i: i.on_bin("l").string().collection(p.CollectionIndexType.LIST),
    "map keys": lambda p, i: i.on_bin("m").string().collection(p.CollectionIndexType.MAP_KEYS),
    "context": lambda p, i: i.on_bin("l").string().context([p.CTX.list_index(0)]),
    "set": lambda p, i: i.on_set(),
}


def without_names(rows, dataset):
    return [{**row, "set": row["set"].replace(dataset.set_name, "set")} for row in rows]


@pytest.mark.parametrize("name", INDEXES)
def test_indexes(both, name):
    def program(package, cluster, session, dataset):
        builder = INDEXES[name](package, session.index(dataset).named("peers_i"))
        wait(builder.create())
        one, two = session.list_indexes(), cluster.list_indexes()
        typed = session.info().secondary_indexes()
        (view,) = typed
        facts = [getattr(view, name) for name in ("name", "bin_name", "index_type", "collection_type", "is_ready")]
        wait(session.index(dataset).named("peers_i").drop())
        session.index(dataset).named("peers_i").drop()
        return *(without_names(rows, dataset) for rows in (one, two, typed)), facts, session.list_indexes()

    theirs, ours = on_each(both, program)
    assert theirs == ours


def test_indexes_of_ints_are_listed_alike(both):
    def program(package, cluster, session, dataset):
        wait(session.create_index(dataset, "peers_i", "n", package.IndexType.NUMERIC))
        return without_names(session.list_indexes(), dataset)

    theirs, ours = on_each(both, program)
    assert theirs == ours


def test_modules(both, tmp_path):
    file = tmp_path / "module.lua"
    file.write_text(MODULE)

    def program(package, cluster, session, dataset):
        listed = []
        for admin in (session, cluster):
            wait(admin.register_udf(MODULE, "peers_a.lua"))
            wait(admin.register_udf(MODULE.encode(), "peers_b.lua", package.UDFLang.LUA))
            wait(admin.register_udf_from_file(str(file), "peers_c.lua"))
            listed.append(sorted(admin.list_udf(), key=lambda row: row["name"]))
            for name in ("peers_a.lua", "peers_b.lua", "peers_c.lua"):
                wait(admin.remove_udf(name))
            admin.remove_udf("peers_a.lua")
            listed.append([row["name"] for row in admin.list_udf() if row["name"] != "peers.lua"])
        return listed

    theirs, ours = on_each(both, program)
    assert theirs == ours


INFO = {
    "build": lambda i, d: i.build(),
    "namespaces": lambda i, d: i.namespaces(),
    "cluster size": lambda i, d: i.get_cluster_size(),
    "namespace that is not there": lambda i, d: i.namespace_details("none"),
    "per node, not there": lambda i, d: i.namespace_details_per_node("none"),
    "sets": lambda i, d: [detail for detail in i.sets() if detail.name == d.set_name],
    "sets of a namespace": lambda i, d: [detail.name for detail in i.sets("test")],
    "set": lambda i, d: i.set("test", d.set_name),
    "set that is not there": lambda i, d: i.set("test", "none"),
    "sets per node": lambda i, d: {node: len(sets) for node, sets in i.sets_per_node("test").items()},
    "indexes": lambda i, d: i.secondary_indexes(),
    "indexes of none": lambda i, d: i.secondary_indexes("none"),
    "indexes per node": lambda i, d: i.secondary_indexes_per_node("test"),
    "index that is not there": lambda i, d: i.secondary_index_details("test", "none"),
    "index per node, not there": lambda i, d: i.secondary_index_details_per_node("test", "none"),
    "info": lambda i, d: i.info("build"),
    "unknown command": lambda i, d: i.info("none"),
    "info on all nodes": lambda i, d: i.info_on_all_nodes("build"),
}


@pytest.mark.parametrize("name", INFO)
def test_info(both, name):
    def program(package, cluster, session, dataset):
        wait(session.create_index(dataset, "peers_i", "l", package.IndexType.STRING))
        outcome = INFO[name](session.info(), dataset)
        return repr(outcome).replace(dataset.set_name, "set") if "namespace" not in name else outcome

    theirs, ours = on_each(both, program)
    assert theirs == ours


def test_details(both):
    """What changes by itself aside."""

    def program(package, cluster, session, dataset):
        wait(session.create_index(dataset, "peers_i", "n", package.IndexType.NUMERIC))
        info = session.info()
        index = info.secondary_index_details("test", "peers_i")
        (namespace,) = info.namespace_details_per_node("test").values()
        assert namespace.keys() == info.namespace_details("test").keys()
        names = [name for name in dir(namespace) if name.startswith(("nsup", "strong", "default", "effective", "stop"))]
        facts = [getattr(namespace, name) for name in [*names, "exists", "data_total_bytes", "cache_read_pct"]]
        engine = namespace.storage_engine
        return (
            set(namespace),
            facts,
            dict(engine),
            [engine.engine, engine.is_memory, engine.is_device, engine.compression, engine.files],
            [index.entries, index.is_ready, index.load_pct, index.used_bytes, index.entries_per_rec, set(index)],
        )

    theirs, ours = on_each(both, program)
    assert theirs == ours


@pytest.mark.parametrize("view", VIEWS)
def test_views(view):
    """Each property of the same text, whatever a node says for it."""
    theirs = getattr(__import__("aerospike_sdk.info_types", fromlist=["_"]), view)
    ours = getattr(aerolane.info_types, view)
    names = [name for name, kind in vars(theirs).items() if isinstance(kind, property)]
    assert names
    keys = set(names) | {name.replace("_", "-") for name in names} | {"ns", "set", "bin", "type", "index_type"}
    tried = 0
    for key in keys:
        for text in (
            "7",
            "-3",
            "true",
            "false",
            "",
            "x",
            "3.5",
            "RW",
            "WO",
            "set",
            "device",
            "memory",
            "100",
            "unknown",
        ):
            one, other = theirs({key: text}), ours({key: text})
            for name in names:
                assert getattr(one, name) == getattr(other, name), (name, key, text)
                tried += 1
    assert tried > 500
