"""Transactions: the object, the property of policies, and what a server says that has none.

The Community Edition carries no transactions out, nor does the embedded cluster when it plays it: nothing of one may be
carried out there as if there were none. What they do is in `test_transactions.py`.
"""

import copy
import pickle

import pytest

import aerolane
from aerolane import exceptions, native
from aerolane.native import Operation, Txn, TxnState

POLICIES = (native.ReadPolicy, native.WritePolicy, native.BatchPolicy, native.QueryPolicy)
# What belongs to a transaction, by name: a call of a client, of a key and a transaction.
CALLS = {
    "get": lambda c, key, txn: c.get_blocking(key, txn=txn),
    "get some": lambda c, key, txn: c.get_blocking(key, ["a"], policy=native.ReadPolicy(txn=txn)),
    "get none": lambda c, key, txn: c.get_blocking(key, [], txn=txn),
    "exists": lambda c, key, txn: c.exists_blocking(key, policy=native.ReadPolicy(txn=txn)),
    "put": lambda c, key, txn: c.put_blocking(key, {"a": 2, "b": [1, {"x": None}]}, txn=txn),
    "add": lambda c, key, txn: c.add_blocking(key, {"a": 2}, policy=native.WritePolicy(txn=txn)),
    "append": lambda c, key, txn: c.append_blocking(key, {"s": "x"}, policy=native.WritePolicy(txn=txn)),
    "prepend": lambda c, key, txn: c.prepend_blocking(key, {"s": "x"}, policy=native.WritePolicy(txn=txn)),
    "touch": lambda c, key, txn: c.touch_blocking(key, policy=native.WritePolicy(txn=txn)),
    "delete": lambda c, key, txn: c.delete_blocking(key, policy=native.WritePolicy(txn=txn)),
    "execute_udf": lambda c, key, txn: c.execute_udf_blocking(key, "m", "f", policy=native.WritePolicy(txn=txn)),
    "operate": lambda c, key, txn: c.operate_blocking(key, [Operation.put("a", 2), Operation.get()], txn=txn),
    "operate on a list": lambda c, key, txn: c.operate_blocking(
        key, [native.ListOperation.append("l", 1, native.ListPolicy())], txn=txn
    ),
    "batch_write": lambda c, key, txn: c.batch_write_blocking(
        [key, key], [{"a": 2}] * 2, batch_policy=native.BatchPolicy(txn=txn)
    ),
    "operate reading": lambda c, key, txn: c.operate_blocking(key, [Operation.get_bin("a")], txn=txn),
}


def test_a_new_transaction():
    txn, other = Txn(), Txn(timeout=7)
    assert txn.id != other.id
    assert txn.id != 0
    assert (txn.state, txn.in_doubt, txn.timeout, txn.namespace) == (TxnState.OPEN, False, 0, None)
    assert other.timeout == 7
    assert txn != other
    assert txn == txn
    assert len({txn, txn, other}) == 2
    assert repr(txn) == f"<Txn {txn.id}, OPEN>"
    assert copy.copy(txn) is txn
    assert copy.deepcopy(txn) is txn
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(txn)
    for name in ("id", "state", "in_doubt", "namespace"):
        assert getattr(Txn, name).__doc__
        with pytest.raises(TypeError if name == "state" else AttributeError):
            setattr(txn, name, 1)


def test_the_timeout_is_set_before_the_transaction_is_used():
    txn = Txn()
    txn.timeout = 2**32 - 1
    assert txn.timeout == 2**32 - 1
    for wrong, error in (
        (-1, exceptions.InvalidArgumentError),
        (2**32, exceptions.InvalidArgumentError),
        ("1", TypeError),
    ):
        with pytest.raises(error, match="timeout"):
            txn.timeout = wrong
        with pytest.raises(error, match="timeout"):
            Txn(timeout=wrong)
    policy = native.ReadPolicy(txn=txn)
    txn.timeout = 1
    assert txn.timeout == policy.txn.timeout == 1
    policy.txn = None
    txn.timeout = 2
    assert txn.timeout == 2


@pytest.mark.parametrize("cls", POLICIES)
def test_property_of_policies(cls):
    txn = Txn()
    policy = cls(txn=txn)
    assert policy.txn == txn
    assert policy.txn != Txn()
    assert str(txn.id) in repr(policy)
    assert copy.copy(policy).txn == copy.deepcopy(policy).txn == txn
    policy.txn = None
    assert policy == cls()
    for wrong in (0, txn.id, "x", object()):
        with pytest.raises(TypeError, match="txn must be a Txn"):
            policy.txn = wrong


@pytest.mark.parametrize("name", ["TxnState", "CommitStatus", "AbortStatus", "CommitErrorType"])
def test_enumerations(name):
    cls = getattr(native, name)
    assert cls.__doc__
    assert [int(member) for member in cls] == list(range(len(cls)))
    for member in cls:
        assert pickle.loads(pickle.dumps(member)) is member


@pytest.mark.parametrize("name", CALLS)
def test_the_servers_refusal_comes_through(client, key, name):
    client.put_blocking(key, {"a": 1, "s": "text"})
    txn = Txn()
    with pytest.raises(aerolane.AerospikeError) as raised:
        CALLS[name](client, key, txn)
    assert raised.value.result_code == exceptions.ResultCode.ENTERPRISE_ONLY
    assert raised.value.node
    assert not raised.value.is_client_error
    assert not raised.value.in_doubt
    assert txn.namespace == "test"
    # It was not carried out as if there were no transaction.
    record = client.get_blocking(key)
    assert (record.bins, record.generation) == ({"a": 1, "s": "text"}, 1)


def test_rows_that_read_are_refused_one_by_one(client, key):
    client.put_blocking(key, {"a": 1})
    rows = client.batch_read_blocking([key, key], batch_policy=native.BatchPolicy(txn=Txn()))
    assert [row.result_code for row in rows] == [exceptions.ResultCode.ENTERPRISE_ONLY] * 2


def test_a_compressed_call_is_refused_by_the_server_too(client, key):
    client.put_blocking(key, {"a": 1})
    policy = native.WritePolicy(use_compression=True, txn=Txn())
    with pytest.raises(aerolane.AerospikeError) as raised:
        client.put_blocking(key, {"a": "x" * 1000}, policy=policy)
    assert raised.value.result_code > 0  # compression, too, is for the Enterprise Edition
    assert client.get_blocking(key).bins == {"a": 1}


async def test_async_calls(client, key):
    await client.put(key, {"a": 1})
    for start in (
        lambda txn: client.get(key, txn=txn),
        lambda txn: client.put(key, {"a": 2}, txn=txn),
        lambda txn: client.operate(key, [Operation.get()], txn=txn),
    ):
        with pytest.raises(aerolane.AerospikeError) as raised:
            await start(Txn())
        assert raised.value.result_code == exceptions.ResultCode.ENTERPRISE_ONLY
    txn = Txn()
    assert await client.abort(txn) is native.AbortStatus.OK
    assert txn.state is TxnState.ABORTED
    with pytest.raises(exceptions.TransactionError):
        await client.commit(txn)


def test_arguments_are_checked_as_always(client, key):
    txn = Txn()
    with pytest.raises(exceptions.InvalidArgumentError, match="no bins"):
        client.put_blocking(key, {}, txn=txn)
    with pytest.raises(TypeError, match="bin 'a'"):
        client.put_blocking(key, {"a": object()}, txn=txn)
    assert txn.namespace is None


def test_what_cannot_belong_to_one_is_refused(client, key):
    txn = Txn()
    client.put_blocking(key, {"a": 1})
    write = native.WritePolicy(txn=txn)
    for call in (
        lambda: client.query_blocking(native.Statement("test", "s"), policy=native.QueryPolicy(txn=txn)),
        lambda: client.query_operate_blocking(
            native.Statement("test", "s"), [Operation.put("a", 2)], write_policy=write
        ),
    ):
        with pytest.raises(exceptions.InvalidArgumentError, match="transaction"):
            call()
    assert txn.namespace is None
    assert client.get_blocking(key).bins == {"a": 1}


def test_the_end_of_a_transaction(client, key):
    txn = Txn()
    assert client.commit_blocking(txn, verify_policy=native.TxnVerifyPolicy()) is native.CommitStatus.OK
    assert txn.state is TxnState.COMMITTED
    assert client.commit_blocking(txn) is native.CommitStatus.ALREADY_COMMITTED
    with pytest.raises(exceptions.TransactionError) as raised:
        client.abort_blocking(txn)
    assert raised.value.result_code == exceptions.ResultCode.MRT_COMMITTED
    txn = Txn()
    assert client.abort_blocking(txn, roll_policy=native.TxnRollPolicy()) is native.AbortStatus.OK
    assert client.abort_blocking(txn) is native.AbortStatus.ALREADY_ABORTED
    with pytest.raises(exceptions.TransactionError) as raised:
        client.commit_blocking(txn)
    assert raised.value.result_code == exceptions.ResultCode.MRT_ABORTED
    with pytest.raises(aerolane.AerospikeError, match="ended"):
        client.get_blocking(key, txn=txn)
    with pytest.raises(TypeError, match="txn"):
        client.commit_blocking(None)


def test_the_state_can_be_set_for_tests(client, key):
    """As a test of an application wants it, without a server that has transactions."""
    txn = Txn()
    for state in TxnState:
        txn.state = state
        assert txn.state is state
    for wrong in (2, "COMMITTED", None):
        with pytest.raises(TypeError, match="TxnState"):
            txn.state = wrong
    txn.state = TxnState.COMMITTED
    assert client.commit_blocking(txn) is native.CommitStatus.ALREADY_COMMITTED
    txn.state = TxnState.ABORTED
    assert client.abort_blocking(txn) is native.AbortStatus.ALREADY_ABORTED
    with pytest.raises(exceptions.TransactionError):
        client.commit_blocking(txn)
    with pytest.raises(exceptions.AerospikeError):
        client.put_blocking(key, {"a": 1}, txn=txn)


def test_of_a_closed_client(connect, key):
    client = connect()
    client.close_blocking()
    for call in (
        lambda: client.get_blocking(key, txn=Txn()),
        lambda: client.commit_blocking(Txn()),
        lambda: client.abort_blocking(Txn()),
    ):
        with pytest.raises(exceptions.ClientClosedError):
            call()


def test_a_failed_commit_is_an_error_of_its_own():
    assert native.CommitFailedError is exceptions.CommitFailedError
    assert issubclass(native.CommitFailedError, exceptions.TransactionError)
