"""Each scope and setting of a behavior where it takes effect: in what the server gets, and in how long calls wait."""

import contextlib
import time
from datetime import timedelta

import pytest
from conftest import Either, eventually

from aerolane import Behavior, DataSet, Key
from aerolane.exceptions import AerospikeError, TimeoutError
from aerolane.native import ResultCode
from aerolane.policy import Settings
from aerolane.testing import EmbeddedCluster

SHORT = Settings(total_timeout=timedelta(milliseconds=30), max_retries=0)
LONG = Settings(total_timeout=timedelta(seconds=60), socket_timeout=timedelta(0))


@pytest.fixture(scope="module")
def available():
    with EmbeddedCluster(nodes=1) as cluster:
        yield cluster


@pytest.fixture(params=["available", "consistent"])
def place(request):
    """A cluster in one of the modes, and which one."""
    cluster = request.getfixturevalue(request.param)
    yield cluster, request.param
    cluster.clear_faults()


@pytest.fixture(params=["sync", "async"])
def user(request, place):
    """A session of one kind."""
    one = Either(request.param, place[0].seeds)
    yield one
    one.close()


def session_of(user, parent=Behavior.DEFAULT, **changes):
    return user.client.create_session(parent.derive_with_changes("effects", **changes))


def calls(user, session, set_name):
    """Calls of each shape, by the scope that is theirs alone."""
    a, b, table = Key("test", set_name, "a"), Key("test", set_name, "b"), DataSet("test", set_name)
    return {
        "reads_point": lambda: user.run(session.get(a)),
        "reads_batch": lambda: [one.or_raise() for one in user.results(session.query(a, b))],
        "reads_query": lambda: user.results(session.query(table)),
        "writes_point": lambda: user.run(session.put(a, {"n": 2})),
        "writes_batch": lambda: [one.or_raise() for one in user.results(session.upsert([a, b]).put({"n": 2}))],
    }


SCOPES = ["reads_point", "reads_batch", "reads_query", "writes_point", "writes_batch"]


@pytest.mark.parametrize("scope", SCOPES)
def test_timeouts_by_scope(user, place, set_name, scope):
    """A time that is too short for one scope is that of its calls, and of no others."""
    cluster, _ = place
    patient = session_of(user, all=LONG)
    for call in ("writes_batch", "reads_point"):
        calls(user, patient, set_name)[call]()
    session = session_of(user, **{"all": LONG, "reads_query": LONG, scope: Settings.merge(LONG, SHORT)})
    with cluster.inject("delay", 0.3, on=["read", "write", "batch", "query"]):
        for name, call in calls(user, session, set_name).items():
            if name == scope:
                with pytest.raises(TimeoutError):
                    call()
            elif scope in ("reads_batch", "reads_point"):
                call()


@pytest.mark.parametrize("mode", ["ap", "sc"])
def test_the_mode_of_the_namespace_decides(user, place, set_name, mode):
    cluster, name = place
    applies = {"available": "ap", "consistent": "sc"}[name] == mode
    calls(user, session_of(user), set_name)["writes_batch"]()
    changes = {f"reads_{mode}": SHORT, f"writes_{mode}": SHORT}
    session = session_of(user, all=LONG, **changes)
    with cluster.inject("delay", 0.3, on=["read", "write", "batch"]):
        for name in ("reads_point", "reads_batch", "writes_point", "writes_batch"):
            call = calls(user, session, set_name)[name]
            if applies:
                with pytest.raises(TimeoutError):
                    call()
            else:
                call()


def test_retries(user, place, set_name):
    """Attempts are what a node counts."""
    cluster, _ = place
    calls(user, session_of(user), set_name)["writes_batch"]()
    session = session_of(
        user,
        all=Settings(total_timeout=timedelta(seconds=60), socket_timeout=timedelta(milliseconds=30)),
        reads_point=Settings(max_retries=3),
        writes_point=Settings(max_retries=2),
        reads_batch=Settings(max_retries=1),
        writes_batch=Settings(max_retries=4),
    )
    expected = {"reads_point": 4, "writes_point": 3, "reads_batch": 2, "writes_batch": 5}
    for name, attempts in expected.items():
        with cluster.inject("delay", 0.6, on=["read", "write", "batch"]) as fault:
            with pytest.raises(TimeoutError):
                calls(user, session, set_name)[name]()
            # On one connection, the node gets to the later ones after the first one.
            eventually(lambda fault=fault, attempts=attempts: fault.struck >= attempts)
            time.sleep(0.7)
            assert fault.struck == attempts, name


def keys_of(user, set_name):
    """The user keys that the server has stored, of two records."""
    found = user.results(session_of(user).query(DataSet("test", set_name)))
    return sorted((one.record_or_raise().key.user_key or "") for one in found)


@pytest.mark.parametrize("scope", ["writes_point", "writes_batch"])
def test_the_key_is_stored(user, set_name, scope):
    session = session_of(user, **{scope: Settings(send_key=True)})
    a, b, c = (Key("test", set_name, name) for name in "abc")
    user.run(session.put(a, {"n": 1}))
    user.results(session.upsert([b, c]).put({"n": 1}))
    assert keys_of(user, set_name) == (["", "", "a"] if scope == "writes_point" else ["", "b", "c"])


def test_deletes_are_durable(user, place, set_name):
    """Consistent namespaces refuse deletes that are not."""
    _, mode = place
    a, b, c = (Key("test", set_name, name) for name in "abc")
    usual = session_of(user)
    user.results(usual.upsert([a, b, c]).put({"n": 1}))
    off = Settings(durable_delete=False)
    for scope, keys in (("writes_point", [a]), ("writes_batch", [b, c])):
        session = session_of(user, **{scope: off})
        if mode == "consistent":
            with pytest.raises(AerospikeError) as raised:
                for one in user.results(session.delete(keys if len(keys) > 1 else keys[0])):
                    one.or_raise()
            assert raised.value.result_code == ResultCode.FAIL_FORBIDDEN
        user.results(usual.delete(keys if len(keys) > 1 else keys[0]))


@pytest.mark.parametrize("step", ["system_txn_verify", "system_txn_roll"])
def test_steps_of_transactions(consistent, step, set_name):
    """The steps of a commit wait as long as they are told to."""
    user = Either("sync", consistent.seeds)
    try:
        attempts = {}
        for retries in (0, 2):
            # What was not rolled stays locked.
            a, b = Key("test", set_name, f"a{retries}"), Key("test", set_name, f"b{retries}")
            user.session.put(a, {"n": 1})
            user.session.put(b, {"n": 1})
            quick = Settings(max_retries=retries, retry_delay=timedelta(0))
            session = session_of(user, **{step: quick})
            with contextlib.suppress(AerospikeError), session.transaction() as tx:
                tx.get(a)
                tx.put(b, {"n": retries})
                # A commit verifies what was read, and rolls forward what was written after a write of its own.
                on = {"system_txn_verify": "read", "system_txn_roll": "write"}[step]
                skip = 0 if step == "system_txn_verify" else 1
                fault = consistent.inject("drop-before", on=[on, "batch"], skip=skip)
            attempts[retries] = fault.struck
            fault.remove()
        assert attempts[2] > attempts[0] > 0
    finally:
        consistent.clear_faults()
        user.close()
