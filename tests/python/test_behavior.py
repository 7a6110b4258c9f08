"""Behaviors: the predefined ones, what wins over what, the policies that stand for them, names, copies."""

import copy
import gc
import pickle
from datetime import timedelta

import pytest

from aerolane.exceptions import InvalidArgumentError
from aerolane.policy import (
    Behavior,
    CommitLevel,
    Concurrency,
    Mode,
    OpKind,
    OpShape,
    ReadModeAP,
    ReadModeSC,
    Replica,
    Scope,
    Settings,
    get_all_behaviors,
    get_behavior,
    get_behavior_or_default,
)

READ, RETRYABLE, WRITE = OpKind
POINT, BATCH, QUERY = OpShape
AP, SC = Mode
FIELDS = {
    "total_timeout": timedelta(milliseconds=7),
    "socket_timeout": timedelta(seconds=7),
    "timeout_delay": timedelta(0),
    "max_retries": 7,
    "retry_delay": timedelta(microseconds=7),
    "send_key": True,
    "durable_delete": False,
    "commit_level": CommitLevel.COMMIT_MASTER,
    "replica": Replica.RANDOM,
    "read_mode_ap": ReadModeAP.ALL,
    "read_mode_sc": ReadModeSC.LINEARIZE,
    "use_compression": True,
    "compression_threshold": 0,
    "max_concurrent_nodes": 3,
    "record_queue_size": 9,
    "allow_scans_with_where": False,
    "allow_inline": True,
    "allow_inline_ssd": True,
    "read_touch_ttl_percent": 100,
    "error_detail_verbosity": 3,
}


def values(settings):
    return {name: getattr(settings, name) for name in FIELDS if getattr(settings, name) is not None}


@pytest.mark.parametrize("name", FIELDS)
def test_setting(name):
    settings = Settings(**{name: FIELDS[name]})
    assert values(settings) == {name: FIELDS[name]}
    assert repr(settings) == f"Settings({name}={FIELDS[name]!r})"
    assert settings != Settings()
    assert pickle.loads(pickle.dumps(settings)) == copy.copy(settings) == settings
    with pytest.raises(AttributeError):
        setattr(settings, name, None)
    with pytest.raises(TypeError, match=name):
        Settings(**{name: "x"})
    assert getattr(Settings, name).__doc__


def test_settings():
    assert values(Settings()) == {}
    assert values(Settings(**FIELDS)) == FIELDS
    assert Settings(timedelta(1)).total_timeout == timedelta(1)
    merged = Settings.merge(Settings(max_retries=1, send_key=True), Settings(max_retries=0))
    assert values(merged) == {"max_retries": 0, "send_key": True}
    for wrong in (timedelta(-1), timedelta(days=50)):
        with pytest.raises(InvalidArgumentError, match="total_timeout is"):
            Settings(total_timeout=wrong)
    with pytest.raises(InvalidArgumentError, match="must be -1 to 100"):
        Settings(read_touch_ttl_percent=101)
    with pytest.raises(TypeError, match="unexpected keyword"):
        Settings(wrong=1)


ALL = {
    "total_timeout": timedelta(seconds=1),
    "socket_timeout": timedelta(seconds=30),
    "max_retries": 2,
    "retry_delay": timedelta(0),
    "send_key": False,
    "durable_delete": False,
    "replica": Replica.SEQUENCE,
    "read_mode_ap": ReadModeAP.ONE,
    "read_mode_sc": ReadModeSC.SESSION,
    "max_concurrent_nodes": 1,
    "read_touch_ttl_percent": 0,
}
OF_BATCH = {"max_concurrent_nodes": 0, "allow_inline": True, "allow_inline_ssd": False}
OF_READ_QUERY = {
    "total_timeout": timedelta(0),
    "max_retries": 5,
    "record_queue_size": 5000,
    "max_concurrent_nodes": 0,
    "allow_scans_with_where": True,
}
OF_WRITE_QUERY = {
    "total_timeout": timedelta(seconds=30),
    "socket_timeout": timedelta(seconds=5),
    "max_concurrent_nodes": 0,
}


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("shape", OpShape)
@pytest.mark.parametrize("kind", OpKind)
def test_default(kind, shape, mode):
    expected = dict(ALL)
    if kind is not READ:
        expected |= {"commit_level": CommitLevel.COMMIT_ALL} if mode is AP else {"durable_delete": True}
    if kind is WRITE:
        expected["max_retries"] = 0
    if shape is BATCH:
        expected |= OF_BATCH
    if shape is QUERY:
        expected |= OF_READ_QUERY if kind is READ else OF_WRITE_QUERY
    assert values(Behavior.DEFAULT.get_settings(kind, shape, mode)) == expected


def test_default_of_transactions():
    expected = ALL | {
        "total_timeout": timedelta(seconds=10),
        "socket_timeout": timedelta(seconds=3),
        "max_retries": 5,
        "retry_delay": timedelta(seconds=1),
        "replica": Replica.MASTER,
        "max_concurrent_nodes": 0,
    }
    assert values(Behavior.DEFAULT.get_txn_roll_settings()) == expected
    expected["read_mode_sc"] = ReadModeSC.LINEARIZE
    assert values(Behavior.DEFAULT.get_txn_verify_settings()) == expected


def test_other_predefined():
    fast = {
        "total_timeout": timedelta(milliseconds=200),
        "socket_timeout": timedelta(milliseconds=50),
        "max_retries": 3,
    }
    rack = {"replica": Replica.PREFER_RACK, "read_mode_sc": ReadModeSC.SESSION}
    for shape in OpShape:
        for mode in Mode:
            default = values(Behavior.DEFAULT.get_settings(READ, shape, mode))
            assert values(Behavior.READ_FAST.get_settings(READ, shape, mode)) == default | fast
            assert values(Behavior.FAST_RACK_AWARE.get_settings(READ, shape, mode)) == default | fast | rack
            strict = {"read_mode_sc": ReadModeSC.LINEARIZE} if mode is SC else {}
            assert values(Behavior.STRICTLY_CONSISTENT.get_settings(READ, shape, mode)) == default | strict
            for behavior in (Behavior.READ_FAST, Behavior.FAST_RACK_AWARE, Behavior.STRICTLY_CONSISTENT):
                for kind in (RETRYABLE, WRITE):
                    assert behavior.get_settings(kind, shape, mode) == Behavior.DEFAULT.get_settings(kind, shape, mode)
    assert Behavior.DEFAULT.parent is None
    assert Behavior.READ_FAST.parent is Behavior.STRICTLY_CONSISTENT.parent is Behavior.DEFAULT
    assert Behavior.FAST_RACK_AWARE.parent is Behavior.READ_FAST


APPLIES = {
    Scope.ALL: lambda kind, shape, mode: True,
    Scope.READS: lambda kind, shape, mode: kind is READ,
    Scope.READS_AP: lambda kind, shape, mode: kind is READ and mode is AP,
    Scope.READS_SC: lambda kind, shape, mode: kind is READ and mode is SC,
    Scope.READS_POINT: lambda kind, shape, mode: kind is READ and shape is POINT,
    Scope.READS_BATCH: lambda kind, shape, mode: kind is READ and shape is BATCH,
    Scope.READS_QUERY: lambda kind, shape, mode: kind is READ and shape is QUERY,
    Scope.WRITES: lambda kind, shape, mode: kind is not READ,
    Scope.WRITES_AP: lambda kind, shape, mode: kind is not READ and mode is AP,
    Scope.WRITES_SC: lambda kind, shape, mode: kind is not READ and mode is SC,
    Scope.WRITES_RETRYABLE: lambda kind, shape, mode: kind is RETRYABLE,
    Scope.WRITES_NON_RETRYABLE: lambda kind, shape, mode: kind is WRITE,
    Scope.WRITES_POINT: lambda kind, shape, mode: kind is not READ and shape is POINT,
    Scope.WRITES_BATCH: lambda kind, shape, mode: kind is not READ and shape is BATCH,
    Scope.WRITES_QUERY: lambda kind, shape, mode: kind is not READ and shape is QUERY,
}


def test_each_scope_reaches_its_calls_and_later_ones_win():
    order = list(APPLIES)
    assert set(Scope) - set(order) == {Scope.SYSTEM_TXN_VERIFY, Scope.SYSTEM_TXN_ROLL}
    changes = {scope.value: Settings(max_retries=100 + number) for number, scope in enumerate(order)}
    together = Behavior.READ_FAST.derive_with_changes("scopes-together", **changes)
    for kind in OpKind:
        for shape in OpShape:
            for mode in Mode:
                reached = [scope for scope in order if APPLIES[scope](kind, shape, mode)]
                for scope in order:
                    one = Behavior.READ_FAST.derive_with_changes(
                        "scopes-one", **{scope.value: Settings(max_retries=77)}
                    )
                    found = one.get_settings(kind, shape, mode).max_retries
                    assert (found == 77) is (scope in reached), (scope, kind, shape, mode)
                assert together.get_settings(kind, shape, mode).max_retries == 100 + order.index(reached[-1])
    both = Behavior.DEFAULT.derive_with_changes(
        "scopes-txn", all=Settings(max_retries=1), system_txn_verify=Settings(max_retries=2)
    )
    assert (both.get_txn_verify_settings().max_retries, both.get_txn_roll_settings().max_retries) == (2, 1)


def test_policies():
    behavior = Behavior.DEFAULT.derive_with_changes(
        "policies",
        all=Settings(**FIELDS | {"read_mode_sc": ReadModeSC.SESSION}),
        reads_sc=Settings(read_mode_sc=ReadModeSC.ALLOW_REPLICA),
        writes_retryable=Settings(max_retries=40),
        writes_sc=Settings(durable_delete=True),
        reads_batch=Settings(max_concurrent_nodes=1),
        writes_batch=Settings(allow_inline=False),
    )
    for mode in Mode:
        read = behavior.read_policy(mode)
        write = behavior.write_policy(mode)
        batch = behavior.batch_policy(READ, mode)
        query = behavior.query_policy(mode)
        for policy in (read, write, batch, query):
            assert (policy.total_timeout, policy.socket_timeout, policy.timeout_delay) == (7, 7000, 0)
            # Rounded up: less than a millisecond must not become "no pause" or "no limit".
            assert (policy.max_retries, policy.sleep_between_retries, policy.replica) == (7, 1, Replica.RANDOM)
            assert (policy.use_compression, policy.compression_threshold) == (True, 0)
            assert (policy.read_touch_ttl, policy.error_detail_verbosity) == (100, 3)
            assert policy.read_mode_ap is ReadModeAP.ALL
        expected = ReadModeSC.ALLOW_REPLICA if mode is SC else ReadModeSC.SESSION
        assert read.read_mode_sc is batch.read_mode_sc is query.read_mode_sc is expected
        assert (write.send_key, write.commit_level) == (True, CommitLevel.COMMIT_MASTER)
        assert write.durable_delete is (mode is SC)
        assert behavior.write_policy(mode, RETRYABLE).max_retries == 40
        assert (batch.allow_inline, batch.allow_inline_ssd, batch.concurrency) == (True, True, Concurrency.SEQUENTIAL)
        for kind in (RETRYABLE, WRITE):
            batch = behavior.batch_policy(kind, mode)
            assert (batch.allow_inline, batch.concurrency) == (False, Concurrency.PARALLEL)
        assert (query.max_concurrent_nodes, query.record_queue_size) == (3, 9)
    assert Behavior.DEFAULT.write_policy().max_retries == 0
    with pytest.raises(TypeError, match="must be a kind of write"):
        behavior.write_policy(AP, READ)


def test_policies_are_copies():
    policy = Behavior.DEFAULT.read_policy()
    policy.total_timeout = 5
    assert Behavior.DEFAULT.read_policy().total_timeout == 1000


def test_names():
    child = Behavior.READ_FAST.derive_with_changes("names-child")
    grandchild = child.derive_with_changes("names-grandchild", all=Settings(max_retries=1))
    assert (child.name, child.parent) == ("names-child", Behavior.READ_FAST)
    assert child in Behavior.READ_FAST.children
    assert child.children == [grandchild]
    assert Behavior.DEFAULT.find_behavior("names-grandchild") is grandchild
    assert grandchild.find_behavior("names-child") is None
    assert child.find_behavior("names-child") is child
    assert get_behavior("names-child") is get_behavior_or_default("names-child") is child
    assert get_behavior("names-none") is None
    assert get_behavior_or_default("names-none") is Behavior.DEFAULT
    every = get_all_behaviors()
    assert list(every)[:4] == ["DEFAULT", "READ_FAST", "STRICTLY_CONSISTENT", "FAST_RACK_AWARE"]
    assert every["names-grandchild"] is grandchild
    assert repr(child) == '<Behavior "names-child" parent="READ_FAST">'
    again = Behavior.READ_FAST.derive_with_changes("names-child")
    assert get_behavior("names-child") is again
    assert [b.name for b in Behavior.READ_FAST.children].count("names-child") == 1
    for wrong in ("", "DEFAULT", "FAST_RACK_AWARE"):
        with pytest.raises(InvalidArgumentError, match="cannot be named"):
            child.derive_with_changes(wrong)
    with pytest.raises(TypeError):
        child.derive_with_changes("names-x", reads={"max_retries": 1})
    with pytest.raises(TypeError):
        child.derive_with_changes("names-x", wrong=Settings())
    with pytest.raises(TypeError):
        Behavior()


def test_behaviors_that_nobody_uses_go_away(session):
    gc.collect()
    before = len(get_all_behaviors())
    for number in range(500):
        Behavior.DEFAULT.derive_with_changes(f"names-once-{number}")
    assert len(get_all_behaviors()) <= before
    assert get_behavior("names-once-7") is None
    assert not [child for child in Behavior.DEFAULT.children if child.name.startswith("names-once")]
    # A session uses its behavior, and a behavior the one that it was made from.
    used = session.session_for(Behavior.DEFAULT.derive_with_changes("names-of-session"))
    assert get_behavior("names-of-session") is used.behavior
    child = Behavior.DEFAULT.derive_with_changes("names-parent").derive_with_changes("names-of-parent")
    assert get_behavior("names-parent") is child.parent
    del used, child
    gc.collect()
    assert get_behavior("names-of-session") is get_behavior("names-parent") is None


def test_explain():
    behavior = Behavior.READ_FAST.derive_with_changes("explained", reads_batch=Settings(max_retries=11))
    behavior.clear_cache()
    lines = behavior.explain().splitlines()
    assert lines[:4] == ["behavior explained", "parent READ_FAST", "changes:", "  reads_batch: max_retries=11"]
    assert len([line for line in lines if "max_retries=11" in line]) == 3
    assert len(lines) == 5 + 18 + 2


def test_wrong_arguments_of_get_settings():
    for wrong in (("read", POINT), (READ, READ), (READ, POINT, "sc")):
        with pytest.raises(TypeError, match="must be a member of"):
            Behavior.DEFAULT.get_settings(*wrong)


def test_copies_and_pickles():
    mine = Behavior.READ_FAST.derive_with_changes("pickled", reads=Settings(max_retries=1), all=Settings(send_key=True))
    for behavior in (Behavior.DEFAULT, Behavior.FAST_RACK_AWARE, mine):
        assert copy.copy(behavior) is copy.deepcopy(behavior) is behavior
        assert pickle.loads(pickle.dumps(behavior)) is behavior
    data = pickle.dumps(mine)
    Behavior.DEFAULT.derive_with_changes("pickled")
    other = pickle.loads(data)
    assert other is not mine
    assert get_behavior("pickled") is other
    assert other.get_settings(READ, POINT) == mine.get_settings(READ, POINT)


def test_enumerations():
    assert [(kind.name, kind.value) for kind in OpKind] == [
        ("READ", "read"),
        ("WRITE_RETRYABLE", "write_retryable"),
        ("WRITE_NON_RETRYABLE", "write_non_retryable"),
    ]
    assert [shape.value for shape in OpShape] == ["point", "batch", "query"]
    assert [mode.value for mode in Mode] == ["ap", "sc"]
    assert len(Scope) == 17
    assert all(scope.value == scope.name.lower() for scope in Scope)
    for member in (*OpKind, *OpShape, *Mode, *Scope):
        assert pickle.loads(pickle.dumps(member)) is member
