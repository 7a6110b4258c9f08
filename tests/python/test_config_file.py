"""Configuration files: what clusters take from them, when, and what is said of those that cannot be used."""

import asyncio
import logging
import os
from datetime import timedelta

import pytest
from conftest import Either, eventually, logged

from aerolane import Behavior, Client, ClusterDefinition, Key, sync
from aerolane.config_file import (
    BehaviorSpec,
    apply_behaviors,
    load_and_resolve,
    load_config,
    parse_behaviors,
    parse_duration,
    parse_sdk_config,
    parse_size,
    resolve_for_cluster,
    resolve_from_env,
)
from aerolane.exceptions import InvalidArgumentError, TimeoutError
from aerolane.policy import (
    MetricsSettings,
    OpKind,
    OpShape,
    Scope,
    Settings,
    SystemSettings,
    TransactionSettings,
    get_behavior,
)

VARIABLE = "AEROSPIKE_SDK_CONFIG_URL"
READ, _, WRITE = OpKind
POINT, BATCH, QUERY = OpShape


def milliseconds(number):
    return timedelta(milliseconds=number)


@pytest.fixture
def where(seeds):
    """Host and port of the first seed."""
    host, _, port = seeds.split(",")[0].rpartition(":")
    return host, int(port)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """`write(text)`: makes this the text of the file that the environment names."""
    path = tmp_path / "aerospike.yaml"
    monkeypatch.setenv(VARIABLE, str(path))

    def put(text):
        # As editors do: nobody reads half of it.
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").rename(path)

    put.path = path
    return put


@pytest.fixture
def heard():
    """What the configuration's logger says."""
    with logged("aerolane.configuration", level=logging.INFO) as lines:
        yield lines


def connected(definition):
    """A cluster of either kind."""
    if isinstance(definition, sync.ClusterDefinition):
        return definition.connect()
    return asyncio.run(awaited(definition.connect()))


async def awaited(result):
    return await result


@pytest.fixture(params=["sync", "async"])
def connect(request, where):
    """`connect(settings=None, strict=False, name=None)`: a cluster, closed after the test."""
    clusters = []

    def make(settings=None, strict=False, name=None):
        definition = (sync.ClusterDefinition if request.param == "sync" else ClusterDefinition)(*where)
        if settings is not None:
            definition.with_system_settings(settings)
        if name is not None:
            definition.cluster_name(name)
        assert definition.with_strict_config(strict) is definition
        clusters.append(connected(definition))
        return clusters[-1]

    yield make
    for cluster in clusters:
        closing = cluster.close()
        if closing is not None:
            asyncio.run(awaited(closing))


def test_a_file_goes_before_the_program_and_the_program_before_defaults(connect, write):
    write("system: {DEFAULT: {transactions: {number_of_attempts: 3}, metrics: {enabled: true}}}")
    program = SystemSettings(
        transactions=TransactionSettings(number_of_attempts=5, sleep_between_attempts=milliseconds(7)),
        metrics=MetricsSettings(enabled=False),
    )
    cluster = connect(program, strict=True)
    assert cluster.transaction_settings == TransactionSettings(
        implicit_batch_write_transactions=True, sleep_between_attempts=milliseconds(7), number_of_attempts=3
    )
    assert cluster.metrics_enabled()
    write("")
    cluster = connect(program)
    assert cluster.transaction_settings.number_of_attempts == 5
    assert not cluster.metrics_enabled()


def test_metrics_of_the_program(connect):
    cluster = connect(
        SystemSettings(
            metrics=MetricsSettings(
                enabled=True,
                operational_enabled=True,
                latency_unit="microseconds",
                latency_columns=9,
                labels={"a": "b"},
            )
        )
    )
    snapshot = cluster.metrics_snapshot()
    shown = snapshot.to_canonical_dict()
    assert (shown["latency_unit"], shown["latency_columns"], shown["labels"]) == ("microseconds", 9, {"a": "b"})
    assert not connect().metrics_enabled()


def test_connections_are_those_of_the_file(new_cluster, write):
    cluster = new_cluster(nodes=1)
    (node,) = cluster.nodes
    write("system: {DEFAULT: {connections: {minimum_connections_per_node: 9}}}")
    definition = sync.ClusterDefinition(node.host, node.port)
    definition.with_system_settings(SystemSettings(min_connections_per_node=1, max_connections_per_node=20))
    before = cluster.stats(node)["connections_opened"]
    with definition.connect() as connected:
        connected.create_session().put(Key("test", "file", 1), {"a": 1})
        eventually(lambda: cluster.stats(node)["connections_opened"] - before >= 9)


def test_settings_that_do_not_go_together(connect, write, heard):
    write("system: {DEFAULT: {connections: {minimum_connections_per_node: 500}}}")
    with pytest.raises(InvalidArgumentError, match=r"configuration file .*aerospike.yaml: .*500"):
        connect(SystemSettings(max_connections_per_node=5), strict=True)
    connect(SystemSettings(max_connections_per_node=5))
    eventually(lambda: any("not used" in text for text in heard))


BEHAVIORS = """
behaviors:
  file-quick:
    all_operations: {{abandon_call_after: {after}, maximum_number_of_call_attempts: 1}}
  file-child:
    parent: file-quick
    batch_reads: {{send_key: true}}
"""


def test_behaviors_change_while_sessions_use_them(connect, write, heard):
    write(BEHAVIORS.format(after="50ms"))
    connect(strict=True)
    quick, child = get_behavior("file-quick"), get_behavior("file-child")
    assert child.parent is quick and quick.parent is Behavior.DEFAULT and child in quick.children
    grandchild = child.derive_with_changes("file-grandchild", writes=Settings(max_retries=9))
    for behavior in (quick, child, grandchild):
        assert behavior.get_settings(READ, POINT).total_timeout == milliseconds(50)
        assert behavior.read_policy().total_timeout == 50
    assert child.get_settings(READ, BATCH).send_key is True
    write(BEHAVIORS.format(after="70ms"))
    eventually(lambda: grandchild.read_policy().total_timeout == 70)
    assert get_behavior("file-quick") is quick and get_behavior("file-child") is child
    assert grandchild.get_settings(WRITE, POINT).max_retries == 9
    eventually(lambda: any("read again" in text for text in heard))
    # What cannot be read leaves all as it is.
    write("behaviors: [")
    eventually(lambda: any("stays in force" in text and "line 1" in text for text in heard))
    assert quick.read_policy().total_timeout == 70
    os.remove(write.path)
    write(BEHAVIORS.format(after="90ms"))
    eventually(lambda: quick.read_policy().total_timeout == 90)


def test_a_session_goes_by_what_its_behavior_comes_to(either, cluster, where, write, key):
    either.run(either.session.put(key, {"a": 1}))
    write(BEHAVIORS.format(after="60s"))
    with sync.ClusterDefinition(*where).connect(), cluster.inject("delay", 0.3, on=["read", "batch"]):
        session = either.client.create_session(get_behavior("file-quick"))
        assert either.run(session.get(key)).bins == {"a": 1}
        write(BEHAVIORS.format(after="20ms"))
        eventually(lambda: get_behavior("file-quick").read_policy().total_timeout == 20)
        with pytest.raises(TimeoutError):
            either.run(session.get(key))
        late = either.results(session.query(key, Key("test", "none", 1)))
        assert all(isinstance(one.exception, TimeoutError) for one in late) and len(late) == 2
        write(BEHAVIORS.format(after="61s"))
        eventually(lambda: get_behavior("file-quick").read_policy().total_timeout == 61_000)
        assert either.run(session.get(key)).bins == {"a": 1}


def test_the_default_behavior_keeps_its_own_beneath(connect, write):
    before = Behavior.DEFAULT.get_settings(READ, POINT)
    write("behaviors: {default: {all_operations: {send_key: true}}, READ_FAST: {query: {send_key: false}}}")
    try:
        connect(strict=True)
        after = Behavior.DEFAULT.get_settings(READ, POINT)
        assert after == Settings.merge(before, Settings(send_key=True))
        # And those that come from it.
        assert Behavior.STRICTLY_CONSISTENT.get_settings(READ, POINT).send_key is True
        assert Behavior.READ_FAST.get_settings(READ, QUERY).send_key is False
        assert Behavior.READ_FAST.get_settings(READ, POINT).total_timeout == milliseconds(200)
    finally:
        write("behaviors: {DEFAULT: {}, READ_FAST: {}}")
        connect()
    assert Behavior.DEFAULT.get_settings(READ, POINT) == before


def test_transactions_and_metrics_change_while_a_cluster_is_open(connect, write):
    write("system: {DEFAULT: {transactions: {number_of_attempts: 3}}}")
    cluster = connect()
    cluster.enable_metrics()
    write("system: {DEFAULT: {transactions: {number_of_attempts: 4}}}")
    eventually(lambda: cluster.transaction_settings.number_of_attempts == 4)
    assert cluster.metrics_enabled()
    write("system: {DEFAULT: {metrics: {enabled: false}}}")
    eventually(lambda: not cluster.metrics_enabled())
    assert cluster.transaction_settings.number_of_attempts == 10


def test_a_file_that_comes_later(connect, write):
    cluster = connect()
    write("system: {DEFAULT: {transactions: {number_of_attempts: 6}}}")
    eventually(lambda: cluster.transaction_settings.number_of_attempts == 6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("system: [", "line 1: not valid YAML"),
        ("- a", "line 1: the file is no mapping but a list"),
        ("system:\n  DEFAULT:\n    connection: {}", "line 3, system.DEFAULT.connection: unknown key"),
        (
            "behaviors:\n  file-bad:\n    all_operations:\n      send_key: 1\n      abandon_call_after: 5",
            'line 4, behaviors.file-bad.all_operations.send_key: not a bool: "1"',
        ),
        ("behaviors:\n  file-bad:\n    parent: nobody", "line 2, behaviors.file-bad.parent: there is no behavior"),
        (
            "behaviors:\n  file-a: {parent: file-b}\n  file-b: {parent: file-a}",
            "line 2, behaviors.file-a.parent: its parents",
        ),
        ("behaviors:\n  READ_FAST: {parent: file-b}", "the predefined behavior READ_FAST keeps its parent"),
        (
            "system:\n  DEFAULT:\n    metrics: {exporter: disk}",
            'line 3, system.DEFAULT.metrics.exporter: "disk" is none',
        ),
    ],
)
def test_strictness(connect, write, heard, text, says):
    write(text)
    before = get_behavior("file-bad")
    with pytest.raises(InvalidArgumentError, match=r"configuration file .*aerospike.yaml: ") as raised:
        connect(strict=True)
    assert says in str(raised.value)
    assert get_behavior("file-bad") is before
    connect()
    eventually(lambda: any(says in line and str(write.path) in line for line in heard))


def test_what_has_its_place_elsewhere_is_no_mistake(connect, write, heard):
    write("behaviors: {file-ported: {all_operations: {wait_for_connection_to_complete: 1s, send_key: true}}}")
    connect(strict=True)
    assert get_behavior("file-ported").get_settings(READ, POINT).send_key is True
    eventually(lambda: any("system.<cluster>.connections" in line for line in heard))


def test_files_that_are_not_there(connect, write, heard, monkeypatch, tmp_path):
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        connect(strict=True)
    connect()
    eventually(lambda: any("cannot be read" in line for line in heard))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(InvalidArgumentError, match="it is not a file"):
        connect(strict=True)
    monkeypatch.setenv(VARIABLE, "https://example.com/a.yaml")
    with pytest.raises(InvalidArgumentError, match="https is not supported"):
        connect(strict=True)
    connect()
    eventually(lambda: any("https is not supported" in line for line in heard))
    write.path.write_bytes(b"# \xff\n")
    monkeypatch.setenv(VARIABLE, f"file://{write.path}")
    with pytest.raises(InvalidArgumentError, match="line 1: the text is not UTF-8"):
        connect(strict=True)
    write("# nothing")
    connect(strict=True)
    monkeypatch.setenv(VARIABLE, " ")
    connect(strict=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_what_comes_later_leaves_no_threads_behind(where, write):
    """Each cluster follows the file, and none has a thread of its own for that."""
    write("")

    def threads():
        return len(os.listdir("/proc/self/task"))

    with sync.ClusterDefinition(*where).connect():
        before = threads()
        clusters = [sync.ClusterDefinition(*where).connect() for _ in range(8)]
        write("system: {DEFAULT: {transactions: {number_of_attempts: 7}}}")
        for cluster in clusters:
            eventually(lambda of=cluster: of.transaction_settings.number_of_attempts == 7)
        assert threads() < before + 8
        for cluster in clusters:
            cluster.close()


def test_other_doors_do_not_look_at_files(seeds, write):
    write("system: [")
    either = Either("sync", seeds)
    either.close()
    assert Client(seeds) is not None


# The functions.


def test_sizes_and_durations():
    assert [parse_size(value) for value in (5, "512b", " 1.5 KB", "10mb", "1gb")] == [5, 512, 1536, 10 << 20, 1 << 30]
    for wrong in (-1, True, None, 1.5, "10", "1tb", "mb"):
        with pytest.raises(ValueError, match="not a size"):
            parse_size(wrong)
    assert parse_duration("250ms") == milliseconds(250)
    assert parse_duration("1.5 minutes") == timedelta(seconds=90)
    assert parse_duration("1ns") == timedelta(microseconds=1)
    for wrong in (5, None, "5", "5 fortnights", "-1s"):
        with pytest.raises(ValueError, match="not a duration"):
            parse_duration(wrong)


FILE = """
system:
  DEFAULT: {connections: {maximum_connections_per_node: 7}, transactions: {number_of_attempts: 3}}
  named: {connections: {maximum_connections_per_node: 9}}
behaviors:
  file-parsed: {parent: READ_FAST, query: {record_queue_size: 5}}
"""


def test_parsing(tmp_path, monkeypatch):
    profiles = parse_sdk_config(FILE)
    attempts = TransactionSettings(number_of_attempts=3)
    assert profiles == {
        "DEFAULT": SystemSettings(max_connections_per_node=7, transactions=attempts),
        "named": SystemSettings(max_connections_per_node=9),
    }
    assert resolve_for_cluster(profiles, None) == resolve_for_cluster(profiles, "other") == profiles["DEFAULT"]
    named = SystemSettings(max_connections_per_node=9, transactions=attempts)
    assert resolve_for_cluster(profiles, "named") == named
    assert resolve_for_cluster({}, "named") is None
    specs = parse_behaviors(FILE)
    assert list(specs) == ["file-parsed"]
    spec = specs["file-parsed"]
    assert (spec.name, spec.parent, spec.patches) == (
        "file-parsed",
        "READ_FAST",
        {Scope.READS_QUERY: Settings(record_queue_size=5)},
    )
    assert repr(spec).startswith('BehaviorSpec("file-parsed", "READ_FAST", {')
    path = tmp_path / "a.yaml"
    path.write_text(FILE)
    loaded = load_config(path)
    assert (loaded.raw, loaded.profiles) == (FILE.encode(), profiles)
    assert list(loaded.behaviors) == ["file-parsed"]
    program = SystemSettings(max_connections_per_node=1, min_connections_per_node=1)
    settings = load_and_resolve(str(path), "named", program)
    assert (settings.max_connections_per_node, settings.min_connections_per_node) == (9, 1)
    assert settings.transactions == TransactionSettings(
        implicit_batch_write_transactions=True, sleep_between_attempts=milliseconds(20), number_of_attempts=3
    )
    monkeypatch.setenv(VARIABLE, f"file://{path}")
    assert resolve_from_env("named", program) == (settings, str(path))
    monkeypatch.delenv(VARIABLE)
    settings, nothing = resolve_from_env(None, None)
    assert nothing is None and settings.transactions.number_of_attempts == 10
    assert load_config(tmp_path / "nothing.yaml") is None
    assert load_and_resolve(tmp_path / "nothing.yaml", None, program).max_connections_per_node == 1
    for function in (parse_sdk_config, parse_behaviors):
        with pytest.raises(ValueError, match="line 1"):
            function("[")


def test_behaviors_that_a_program_applies():
    patches = {Scope.READS: Settings(max_retries=4)}
    apply_behaviors(
        {
            "file-b": BehaviorSpec("file-b", "file-a", {}),
            "file-a": BehaviorSpec("file-a", None, patches),
            "file-c": BehaviorSpec("file-c", "file-nobody"),
        }
    )
    made = get_behavior("file-b")
    assert made.parent is get_behavior("file-a")
    assert made.get_settings(READ, POINT).max_retries == 4
    assert get_behavior("file-c").parent is Behavior.DEFAULT
    apply_behaviors({"file-a": BehaviorSpec("file-a", None, {Scope.READS: Settings(max_retries=5)})})
    assert get_behavior("file-b") is made and made.get_settings(READ, POINT).max_retries == 5
    # Another parent makes another behavior.
    apply_behaviors({"file-b": BehaviorSpec("file-b", "READ_FAST", {})})
    assert get_behavior("file-b") is not made and get_behavior("file-b").parent is Behavior.READ_FAST
    with pytest.raises(InvalidArgumentError, match="needs a name"):
        apply_behaviors({"": BehaviorSpec("")})
    with pytest.raises(TypeError):
        apply_behaviors({"file-a": patches})
    assert BehaviorSpec("a") == BehaviorSpec("a", None, {}) != BehaviorSpec("b")


def test_settings_of_metrics_are_checked():
    for kind, wrong in (
        (InvalidArgumentError, {"exporter": "x"}),
        (TypeError, {"labels": []}),
        (TypeError, {"enabled": 1}),
    ):
        with pytest.raises(kind, match=next(iter(wrong))):
            MetricsSettings(**wrong)
