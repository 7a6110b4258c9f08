"""Errors of aerospike-native beside ours: how they are made, what catches them, and what they say.

Skipped where that client is not installed; `make test-peers` installs it.
"""

import os

import pytest

from aerolane import native
from aerolane.native import exceptions as ours

os.environ.setdefault("AEROSPIKE_NO_UVLOOP", "1")
peer = pytest.importorskip("aerospike_native", reason="aerospike-native is not installed")
theirs = peer.exceptions

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CLASSES = sorted(name for name, kind in vars(theirs).items() if isinstance(kind, type) and issubclass(kind, Exception))
# A class of theirs that codes of the server have, and ours that a `ServerError` is not.
APART = {
    # A timeout is a TimeoutError here, whoever tells of it: see docs/differences.md.
    ("ServerError", "TIMEOUT"),
    ("ServerError", "QUERY_TIMEOUT"),
    # Here it is the error that the client raises, too.
    ("ServerError", "INVALID_NAMESPACE"),
}


def codes():
    return [name for name in native.ResultCode.__members__ if hasattr(peer.ResultCode, name)]


@pytest.mark.parametrize("name", CLASSES)
def test_bases(name):
    """Whatever catches an error there catches it here."""
    kind = getattr(theirs, name)
    for base in kind.__mro__:
        if base.__name__ in CLASSES:
            assert issubclass(getattr(ours, name), getattr(ours, base.__name__)), base.__name__


@pytest.mark.parametrize("name", CLASSES)
def test_made_by_hand(name):
    server = issubclass(getattr(theirs, name), theirs.ServerError)
    made = []
    for m, kinds in ((peer, theirs), (native, ours)):
        arguments = ("no", m.ResultCode.TIMEOUT, True, 5, "said", None, "BB9", 3, "base", None) if server else ("no",)
        error = getattr(kinds, name)(*arguments)
        code = None if error.result_code is None else int(error.result_code)
        facts = [code, error.in_doubt, error.node, error.iteration, error.base_message]
        facts += [error.sub_code, error.server_message] if server else []
        made.append((str(error), len(error.args), facts, getattr(error, "records", None)))
    assert made[0] == made[1]


def test_the_texts_of_codes():
    assert len(codes()) > 90
    for name in codes():
        code, other = native.ResultCode[name], getattr(peer.ResultCode, name)
        assert (str(code), repr(code), f"{code}", hash(code)) == (str(other), repr(other), f"{other}", hash(other))
        assert (code.name, code.value, code.description) == (other.name, other.value, other.description)


@pytest.fixture(scope="module")
def both(seeds):
    clients = [m.new_client_blocking(m.ClientPolicy(), seeds) for m in (peer, native)]
    yield clients
    for client in clients:
        client.close_blocking()


def raised(kinds, call, *arguments):
    with pytest.raises((kinds.AerospikeError, kinds.ServerError)) as caught:
        call(*arguments)
    return caught.value


@pytest.mark.parametrize("name", [name for name in codes() if native.ResultCode[name] > 0])
def test_each_code_as_an_answer(both, cluster, name):
    """The peer's users catch an answer of the server as they do there, and the message says what theirs does."""
    code, errors = native.ResultCode[name], []
    if name in ("UDF_BAD_RESPONSE", "TIMEOUT", "PARTITION_UNAVAILABLE", "DEVICE_OVERLOAD", "KEY_BUSY"):
        pytest.skip("the peer has a text of its own: it counts retries, or names the function")
    with cluster.inject("result", int(code), on="read"):
        for client, m, kinds in zip(both, (peer, native), (theirs, ours), strict=True):
            policy = m.ReadPolicy()
            policy.max_retries = 0
            errors.append(
                raised(kinds, lambda c=client, m=m, p=policy: c.get_blocking(m.Key("test", "s", 1), policy=p))
            )
    their_error, our_error = errors
    for base in type(their_error).__mro__:
        if base.__name__ in CLASSES and (base.__name__, name) not in APART:
            assert isinstance(our_error, getattr(ours, base.__name__)), base.__name__
    assert their_error.base_message.split(":")[-1].strip() in str(our_error)


@pytest.mark.parametrize("fault", ["stall", "drop-before"])
@pytest.mark.parametrize("call", ["batch_read_blocking", "batch_write_blocking"])
def test_a_batch_that_fails_has_its_rows(both, cluster, fault, call):
    seen = []
    with cluster.inject(fault, on="batch"):
        for client, m, kinds in zip(both, (peer, native), (theirs, ours), strict=True):
            policy = m.BatchPolicy()
            policy.total_timeout, policy.max_retries = 300 if fault == "stall" else 10_000, 0
            # More than one for each node: a single row goes as a request of its own there.
            keys = [m.Key("test", "s", n) for n in range(60)]
            arguments = [keys] + ([[{"a": 1}] * 60] if call == "batch_write_blocking" else [])
            with pytest.raises(kinds.BatchFailedError) as caught:
                getattr(client, call)(*arguments, batch_policy=policy)
            rows = caught.value.records
            assert [row.key.value for row in rows] == list(range(60))
            seen.append(
                (caught.value.in_doubt, isinstance(caught.value, kinds.ServerError), {r.in_doubt for r in rows})
            )
    assert seen[0] == seen[1]
