"""What every error tells: the result code, whether a write is in doubt, the node, the attempts, how far, how long."""

import asyncio
import pickle
import re

import pytest

from aerolane import AerospikeError, Key, Operation, ResultCode, exceptions, native
from aerolane.exceptions import error_from_code

KEY = Key("test", "facts", 1)
KEYS = [Key("test", "facts", n) for n in range(3)]
# Of calls whose answer does not come, and of those that end by themselves. In milliseconds.
SOON, LATE = 500, 30_000
POLICIES = {
    "policy": lambda timeout: native.WritePolicy(total_timeout=timeout, max_retries=0),
    "read": lambda timeout: native.ReadPolicy(total_timeout=timeout, max_retries=0),
    "batch": lambda timeout: native.BatchPolicy(total_timeout=timeout, max_retries=0),
    "query": lambda timeout: native.QueryPolicy(total_timeout=timeout, max_retries=0),
    "admin": lambda timeout: native.AdminPolicy(timeout=timeout),
}


class Case:
    """A call, what it is to the fault injection, whether it changes something, and whether its node is known."""

    def __init__(self, name, *arguments, on, writes=False, node=True, **policies):
        self.name, self.arguments, self.on, self.writes, self.node = name, arguments, on, writes, node
        self.policies = {argument: POLICIES[policy] for argument, policy in policies.items()}

    def __repr__(self):
        return self.name


QUERY = Case("query", native.Statement("test", "facts"), native.PartitionFilter.all(), on="query", policy="query")
CASES = [
    Case("get", KEY, on="read", policy="read"),
    Case("exists", KEY, on="read", policy="read"),
    Case("put", KEY, {"a": 1}, on="write", writes=True, policy="policy"),
    Case("add", KEY, {"a": 1}, on="write", writes=True, policy="policy"),
    Case("append", KEY, {"s": "x"}, on="write", writes=True, policy="policy"),
    Case("delete", KEY, on="write", writes=True, policy="policy"),
    Case("touch", KEY, on="write", writes=True, policy="policy"),
    Case("operate", KEY, [Operation.put("a", 1), Operation.get()], on="write", writes=True, policy="policy"),
    Case("batch_read", KEYS, on="batch", batch_policy="batch"),
    Case("batch_write", KEYS, [{"a": 1}] * 3, on="batch", writes=True, batch_policy="batch"),
    Case("execute_udf", KEY, "none", "f", on="write", writes=True, policy="policy"),
    QUERY,
    # These go to a node that aerospike-core chooses.
    Case("truncate", "test", "facts", on="info", writes=True, node=False, policy="admin"),
    Case(
        "create_index",
        *("test", "facts", "a", "facts_a", native.IndexType.NUMERIC),
        **{"on": "info", "writes": True, "node": False, "policy": "admin"},
    ),
]


# Those that aerospike-core carries out have their own words for what follows.
ON_LANES = [case for case in CASES if case.on != "info"]


@pytest.fixture
def lab(new_cluster, connect):
    """An embedded cluster and a client of it that stays with its connections."""
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, native.ClientPolicy(max_error_rate=0, tend_interval=60_000))
    client.put_blocking(KEY, {"a": 1, "s": "x"})
    return cluster, client


def failure(run, client, case, timeout=LATE):
    """The error of a call; of a batch, also that of its row; of a query, that of its end."""
    policies = {argument: policy(timeout) for argument, policy in case.policies.items()}

    def call():
        result = run(client, case.name, *case.arguments, **policies)
        if case.name == "query":
            list(result)
        for row in result if case.name.startswith("batch") else ():
            raise row.error

    with pytest.raises(AerospikeError) as caught:
        call()
    return caught.value


def check(error, case, phases):
    assert isinstance(error.result_code, ResultCode), repr(error)
    assert error.phase in phases, repr(error)
    # A read goes once more where a connection that was kept has died.
    assert error.attempts == error.iteration <= 1 + (not case.writes)
    assert 0 < error.elapsed < 60
    assert (error.node is not None) is case.node
    if case.node:
        assert "127.0.0.1:" in error.node
    text = str(error)
    assert f"[{error.result_code.name} {int(error.result_code)}" in text
    assert f", {error.attempts} attempt" in text and ", after " in text
    assert ("; in doubt" in text) is error.in_doubt


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("fault", ["stall", "drop-before", "drop-after"])
def test_without_an_answer(lab, run, case, fault):
    cluster, client = lab
    with cluster.inject(fault, on=case.on):
        error = failure(run, client, case, SOON if fault == "stall" else LATE)
    check(error, case, ["sent"])
    assert error.in_doubt is case.writes
    assert error.is_client_error
    assert isinstance(error, TimeoutError if fault == "stall" else ConnectionError)


@pytest.mark.parametrize("case", ON_LANES, ids=repr)
def test_with_half_an_answer(lab, run, case):
    cluster, client = lab
    with cluster.inject("truncate", 12, on=case.on):
        error = failure(run, client, case)
    check(error, case, ["receiving"])
    assert error.in_doubt is case.writes and isinstance(error, ConnectionError)


@pytest.mark.parametrize("case", ON_LANES, ids=repr)
def test_what_the_server_refuses(lab, run, case):
    """A definite answer: nothing is in doubt."""
    cluster, client = lab
    for code in (ResultCode.DEVICE_OVERLOAD, ResultCode.ALWAYS_FORBIDDEN):
        with cluster.inject("result", int(code), on=case.on):
            error = failure(run, client, case)
        check(error, case, ["receiving"])
        assert (error.result_code, error.in_doubt, error.is_client_error) == (code, False, False)
        assert type(error) is type(error_from_code(code))


@pytest.mark.parametrize("code", [code for code in ResultCode if code > 0], ids=lambda code: code.name)
def test_each_code_as_an_answer(lab, run, code):
    """Every exception is raised by a call, with the class of its code."""
    cluster, client = lab
    if code == ResultCode.KEY_NOT_FOUND_ERROR:
        pytest.skip("a record that is missing has its own tests")
    with cluster.inject("result", int(code), on=["read", "batch"]):
        for case in (CASES[0], CASES[8]):
            error = failure(run, client, case)
            assert type(error) is type(error_from_code(code)) and error.result_code is code
            assert error.base_message == code.description


def test_what_the_client_refuses_to_send(lab, run):
    """Neither sent nor in doubt: the message says which bound, and how it stands."""
    _, client = lab
    with pytest.raises(exceptions.RecordTooBigError, match="134217728") as caught:
        run(client, "put", KEY, {"a": bytes((1 << 27) + 1)})
    error = caught.value
    assert (error.result_code, error.phase, error.in_doubt, error.attempts) == (13, "queued", False, 0)
    # What the namespace does not take comes back from the server.
    with pytest.raises(exceptions.RecordTooBigError) as caught:
        run(client, "put", KEY, {"a": bytes(9 << 20)})
    error = caught.value
    assert (error.result_code, error.phase, error.in_doubt, error.attempts) == (13, "receiving", False, 1)


def test_a_node_that_fails_too_often_is_left_alone(new_cluster, connect, run):
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, native.ClientPolicy(max_error_rate=2, error_rate_window=1000))
    client.put_blocking(KEY, {"a": 1})
    policy = native.ReadPolicy(max_retries=0)
    with cluster.inject("drop-before", on="read") as fault:
        for _ in range(20):
            with pytest.raises(AerospikeError) as caught:
                run(client, "get", KEY, policy=policy)
        struck = fault.struck
    error = caught.value
    assert type(error) is exceptions.MaxErrorRateError and isinstance(error, exceptions.BackoffError)
    assert (error.result_code, error.phase, error.in_doubt) == (ResultCode.MAX_ERROR_RATE, "queued", False)
    assert "127.0.0.1:" in error.node and "max_error_rate" in error.base_message and error.is_client_error
    assert struck < 10, "it was not left alone"


ROWS = [
    Case("batch_read", KEYS, on="batch", batch_policy="batch"),
    Case("batch_write", KEYS, [{"a": 1}] * 3, on="batch", writes=True, batch_policy="batch"),
    Case("batch_exists", KEYS, on="batch", batch_policy="batch"),
]


@pytest.mark.parametrize("case", ROWS, ids=repr)
@pytest.mark.parametrize("fault", ["stall", "drop-before"])
def test_a_batch_that_fails_has_its_rows(lab, run, case, fault):
    cluster, client = lab
    with cluster.inject(fault, on=case.on):
        error = failure(run, client, case, SOON if fault == "stall" else LATE)
    assert isinstance(error, exceptions.BatchFailedError) and isinstance(error, exceptions.ClientError)
    assert type(error) is (exceptions.BatchTimeoutError if fault == "stall" else exceptions.BatchConnectionError)
    assert not isinstance(error, exceptions.ServerError)
    assert [row.key for row in error.records] == KEYS
    assert [row.result_code for row in error.records] == [error.result_code] * 3
    assert {row.in_doubt for row in error.records} == {case.writes}
    again = pickle.loads(pickle.dumps(exceptions.BatchTimeoutError("late", result_code=9)))
    assert type(again) is exceptions.BatchTimeoutError and again.records is None


async def test_a_pool_that_is_full(new_cluster, connect):
    cluster = new_cluster(nodes=1)
    policy = native.ClientPolicy(max_conns_per_node=1, pipeline_depth=2, when_full=native.WhenFull.FAIL)
    client = connect(cluster.seeds, policy)
    await client.put(KEY, {"a": 1})
    with cluster.inject("delay", 0.2, on="read", times=1):
        reads = [client.get(KEY, policy=native.ReadPolicy(total_timeout=30_000)) for _ in range(20)]
        results = await asyncio.gather(*reads, return_exceptions=True)
    refused = [error for error in results if isinstance(error, Exception)]
    assert 0 < len(refused) < 20
    for error in refused:
        assert type(error) is exceptions.PoolExhaustedError and isinstance(error, exceptions.CapacityError)
        assert (error.result_code, error.phase) == (ResultCode.NO_MORE_CONNECTIONS, "queued")
        assert not error.in_doubt and "127.0.0.1:" in error.node
        # Its limit, its size, and how many wait.
        assert len(re.findall(r"\d+", error.base_message)) >= 3, error.base_message


def test_what_a_user_may_not_do(new_cluster, connect, run):
    cluster = new_cluster(nodes=1, users={"me": "secret"})
    admin = connect(cluster.seeds, native.ClientPolicy(user="me", password="secret"))
    admin.create_role_blocking("reader", [native.Privilege(native.PrivilegeCode.Read)], [], 0, 0)
    admin.create_user_blocking("you", "pw", ["reader"])
    client = connect(cluster.seeds, native.ClientPolicy(user="you", password="pw"))
    with pytest.raises(exceptions.AuthorizationError) as caught:
        run(client, "put", KEY, {"a": 1})
    error = caught.value
    assert (error.result_code, error.phase, error.in_doubt) == (ResultCode.ROLE_VIOLATION, "receiving", False)
    with pytest.raises(exceptions.RecordNotFoundError):
        run(client, "get", KEY)


@pytest.mark.parametrize("name", ["QUERY_ABORTED", "SCAN_ABORT", "QUERY_GENERIC", "QUERY_TIMEOUT", "INDEX_NOT_FOUND"])
def test_codes_of_queries(lab, run, name):
    cluster, client = lab
    code = ResultCode[name]
    with cluster.inject("result", int(code), on="query"):
        error = failure(run, client, QUERY)
    assert type(error) is type(error_from_code(code)) and error.result_code is code
    check(error, QUERY, ["receiving"])
