"""Exceptions: the classes, the result codes, what an error carries, copies and pickles."""

import asyncio
import builtins
import copy
import pickle
import threading

import pytest

import aerolane
from aerolane import exceptions, native
from aerolane.exceptions import AerospikeError, ResultCode, error_from_code
from aerolane.policy import ReadPolicy

# Facts on aerospike-sdk 1.0.0: the class of each code. What is not named is an AerospikeError.
CLASS_OF_CODE = {
    "KEY_NOT_FOUND_ERROR": "RecordNotFoundError",
    "GENERATION_ERROR": "GenerationError",
    "KEY_EXISTS_ERROR": "RecordExistsError",
    "BIN_EXISTS_ERROR": "BinExistsError",
    "SERVER_MEM_ERROR": "CapacityError",
    "TIMEOUT": "TimeoutError",
    "BIN_TYPE_ERROR": "BinTypeError",
    "RECORD_TOO_BIG": "RecordTooBigError",
    "KEY_BUSY": "KeyBusyError",
    "SCAN_ABORT": "QueryError",
    "BIN_NOT_FOUND": "BinNotFoundError",
    "DEVICE_OVERLOAD": "CapacityError",
    "INVALID_NAMESPACE": "InvalidNamespaceError",
    "BIN_NAME_TOO_LONG": "BinError",
    "ELEMENT_NOT_FOUND": "ElementNotFoundError",
    "ELEMENT_EXISTS": "ElementExistsError",
    "OP_NOT_APPLICABLE": "BinOpInvalidError",
    "FILTERED_OUT": "FilteredOutError",
    "XDR_KEY_BUSY": "KeyBusyError",
    "SECURITY_NOT_SUPPORTED": "SecurityError",
    "SECURITY_NOT_ENABLED": "SecurityError",
    "SECURITY_SCHEME_NOT_SUPPORTED": "SecurityError",
    "ILLEGAL_STATE": "SecurityError",
    "INVALID_USER": "AuthenticationError",
    "USER_ALREADY_EXISTS": "SecurityError",
    "INVALID_PASSWORD": "AuthenticationError",
    "EXPIRED_PASSWORD": "AuthenticationError",
    "FORBIDDEN_PASSWORD": "SecurityError",
    "INVALID_CREDENTIAL": "AuthenticationError",
    "EXPIRED_SESSION": "SecurityError",
    "INVALID_ROLE": "SecurityError",
    "ROLE_ALREADY_EXISTS": "SecurityError",
    "INVALID_PRIVILEGE": "SecurityError",
    "INVALID_ALLOWLIST": "SecurityError",
    "QUOTAS_NOT_ENABLED": "QuotaError",
    "INVALID_QUOTA": "QuotaError",
    "NOT_AUTHENTICATED": "AuthenticationError",
    "ROLE_VIOLATION": "AuthorizationError",
    "NOT_ALLOWLISTED": "AuthorizationError",
    "QUOTA_EXCEEDED": "QuotaError",
    "UDF_BAD_RESPONSE": "UdfError",
    "MRT_BLOCKED": "TransactionError",
    "MRT_VERSION_MISMATCH": "TransactionError",
    "MRT_EXPIRED": "TransactionError",
    "MRT_TOO_MANY_WRITES": "TransactionError",
    "MRT_COMMITTED": "TransactionError",
    "MRT_ABORTED": "TransactionError",
    "MRT_ALREADY_LOCKED": "TransactionError",
    "MRT_MONITOR_EXISTS": "TransactionError",
    "BATCH_DISABLED": "BatchError",
    "BATCH_MAX_REQUESTS_EXCEEDED": "CapacityError",
    "BATCH_QUEUES_FULL": "CapacityError",
    "INDEX_FOUND": "IndexAlreadyExistsError",
    "INDEX_NOT_FOUND": "IndexNotFoundError",
    "INDEX_OOM": "SecondaryIndexError",
    "INDEX_NOT_READABLE": "SecondaryIndexError",
    "INDEX_GENERIC": "SecondaryIndexError",
    "INDEX_NAME_MAX_LEN": "SecondaryIndexError",
    "INDEX_MAX_COUNT": "SecondaryIndexError",
    "QUERY_ABORTED": "QueryTerminatedError",
    "QUERY_QUEUE_FULL": "CapacityError",
    "QUERY_TIMEOUT": "TimeoutError",
    "QUERY_GENERIC": "QueryError",
    "QUERY_NETIO_ERR": "QueryError",
    "QUERY_DUPLICATE": "QueryError",
    "TXN_FAILED": "TransactionError",
    "TXN_ALREADY_ABORTED": "TransactionError",
    "TXN_ALREADY_COMMITTED": "TransactionError",
    "SCAN_TERMINATED": "QueryTerminatedError",
    "QUERY_TERMINATED": "QueryTerminatedError",
    "SERIALIZE_ERROR": "SerializationError",
    # Ours, where the SDK has only the base.
    "CLIENT_ERROR": "ClientError",
    "PARSE_ERROR": "BadResponseError",
    "INVALID_NODE_ERROR": "InvalidNodeError",
    "NO_MORE_CONNECTIONS": "PoolExhaustedError",
    "SERVER_NOT_AVAILABLE": "ConnectionError",
    "ASYNC_QUEUE_FULL": "CapacityError",
    "MAX_RETRIES_EXCEEDED": "TimeoutError",
    "MAX_ERROR_RATE": "MaxErrorRateError",
    "NO_RESPONSE": "ClientError",
    "BATCH_FAILED": "BatchError",
}

BASES = {
    "TimeoutError": ("AerospikeError", builtins.TimeoutError),
    "ConnectionError": ("AerospikeError", builtins.ConnectionError),
    "InvalidArgumentError": ("AerospikeError", ValueError),
    "ClientClosedError": ("ConnectionError",),
    "ClientError": ("AerospikeError",),
    "BadResponseError": ("ClientError",),
    "InvalidNodeError": ("AerospikeError",),
    "InvalidNamespaceError": ("AerospikeError",),
    "SecurityError": ("AerospikeError",),
    "AuthenticationError": ("SecurityError",),
    "AuthorizationError": ("SecurityError",),
    "QuotaError": ("AerospikeError",),
    "SerializationError": ("AerospikeError",),
    "RecordError": ("AerospikeError",),
    "GenerationError": ("RecordError",),
    "RecordNotFoundError": ("RecordError",),
    "RecordExistsError": ("RecordError",),
    "RecordTooBigError": ("RecordError",),
    "BinError": ("RecordError",),
    "BinExistsError": ("BinError",),
    "BinNotFoundError": ("BinError",),
    "BinTypeError": ("BinError",),
    "BinOpInvalidError": ("BinError",),
    "FilteredOutError": ("AerospikeError",),
    "ElementError": ("AerospikeError",),
    "ElementNotFoundError": ("ElementError",),
    "ElementExistsError": ("ElementError",),
    "CapacityError": ("AerospikeError",),
    "KeyBusyError": ("CapacityError",),
    "PoolExhaustedError": ("CapacityError",),
    "SecondaryIndexError": ("AerospikeError",),
    "IndexNotFoundError": ("SecondaryIndexError",),
    "IndexAlreadyExistsError": ("SecondaryIndexError",),
    "QueryError": ("AerospikeError",),
    "QueryTerminatedError": ("QueryError",),
    "UdfError": ("AerospikeError",),
    "BatchError": ("AerospikeError",),
    "BackoffError": ("AerospikeError",),
    "MaxErrorRateError": ("BackoffError",),
    "TransactionError": ("AerospikeError",),
    "CommitError": ("TransactionError",),
}

CLASSES = [AerospikeError, *(getattr(exceptions, name) for name in BASES)]


@pytest.mark.parametrize("code", list(ResultCode), ids=lambda code: code.name)
def test_each_code_has_its_class(code):
    error = error_from_code(code)
    assert type(error) is getattr(exceptions, CLASS_OF_CODE.get(code.name, "AerospikeError"))
    assert error.result_code is code
    assert str(error) == code.description
    assert error.is_client_error == (code < 0)


def test_no_code_of_the_table_is_missing():
    assert set(CLASS_OF_CODE) <= set(ResultCode.__members__)
    assert len(ResultCode.__members__) >= 96
    assert ResultCode.OK == 0
    assert ResultCode(20) is ResultCode.INVALID_NAMESPACE
    assert repr(ResultCode.TIMEOUT) == "<ResultCode.TIMEOUT: 9>"


def test_unknown_codes_are_kept():
    code = ResultCode(99)
    assert code == 99
    assert code.name == "UNKNOWN_99"
    assert code is ResultCode(99)
    assert pickle.loads(pickle.dumps(code)) is code
    assert "does not know" in code.description
    assert type(error_from_code(99)) is AerospikeError
    assert type(error_from_code(-99)) is exceptions.ClientError
    for value in (256, -129, "TIMEOUT", 9.5):
        with pytest.raises(ValueError, match="is not a valid ResultCode"):
            ResultCode(value)


def test_no_class_is_missing():
    assert set(BASES) | {"AerospikeError", "ResultCode", "error_from_code"} == set(exceptions.__all__)


@pytest.mark.parametrize("name", BASES)
def test_bases(name):
    bases = tuple(getattr(exceptions, base) if isinstance(base, str) else base for base in BASES[name])
    cls = getattr(exceptions, name)
    assert cls.__bases__ == bases
    assert cls.__module__ == "aerolane.exceptions"
    assert cls.__doc__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_raised_caught_pickled_and_copied_by_users(cls):
    cause = KeyError("why")
    error = cls(
        "it failed",
        result_code=ResultCode.SERVER_ERROR,
        in_doubt=True,
        sub_code=7,
        server_message="from the server",
        exp_trace={"op": "eq"},
        node="BB9",
        iteration=3,
        sub_exceptions=[AerospikeError("before")],
        base_message="failed",
        hint="try again",
        phase="sent",
        elapsed=0.25,
    )
    with pytest.raises(AerospikeError) as caught:
        raise error from cause
    pickles = (pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1))
    for same in (caught.value, copy.copy(error), copy.deepcopy(error), *pickles):
        assert type(same) is cls
        assert str(same) == "it failed"
        assert same.args == ("it failed",)
        assert same.result_code is ResultCode.SERVER_ERROR
        assert (same.in_doubt, same.sub_code, same.server_message) == (True, 7, "from the server")
        assert (same.exp_trace, same.node, same.iteration, same.attempts) == ({"op": "eq"}, "BB9", 3, 3)
        assert [str(earlier) for earlier in same.sub_exceptions] == ["before"]
        assert (same.base_message, same.hint, same.phase, same.elapsed) == ("failed", "try again", "sent", 0.25)
        assert isinstance(same.__cause__, KeyError)


def test_defaults_of_the_constructor():
    error = AerospikeError()
    assert str(error) == ""
    assert error.result_code is None
    assert error.in_doubt is False
    assert error.sub_exceptions == ()
    assert (error.node, error.iteration, error.attempts, error.phase, error.elapsed) == (None, None, 0, None, None)
    assert error.is_client_error is True
    with pytest.raises(TypeError):
        AerospikeError("x", wrong=1)
    with pytest.raises(AttributeError, match="'AerospikeError' object has no attribute 'wrong'"):
        error.wrong  # noqa: B018
    assert AerospikeError("x", result_code=2).result_code is ResultCode.KEY_NOT_FOUND_ERROR


def test_fields_of_special_classes():
    assert exceptions.TimeoutError("late").client is False
    late = pickle.loads(pickle.dumps(exceptions.TimeoutError("late", client=True, result_code=9)))
    assert late.client is True
    assert late.is_client_error is True
    commit = exceptions.CommitError("no", commit_error_type="VERIFY_FAIL", verify_records=[1], roll_records=[])
    commit = copy.copy(commit)
    assert (commit.commit_error_type, commit.verify_records, commit.roll_records) == ("VERIFY_FAIL", [1], [])


def test_plain_except_works():
    with pytest.raises(builtins.TimeoutError):
        raise error_from_code(ResultCode.TIMEOUT)
    with pytest.raises(asyncio.TimeoutError):
        raise error_from_code(ResultCode.QUERY_TIMEOUT)
    with pytest.raises(builtins.ConnectionError):
        raise error_from_code(ResultCode.SERVER_NOT_AVAILABLE)
    with pytest.raises(OSError, match="x"):
        raise exceptions.ClientClosedError("x")
    with pytest.raises(builtins.ValueError):
        raise exceptions.InvalidArgumentError("x")


def test_names_of_aerospike_native():
    aliases = [
        "ServerError",
        "RecordNotFound",
        "RecordExistsError",
        "GenerationError",
        "RecordTooBig",
        "BinNotFound",
        "BinTypeError",
        "FilteredOut",
        "OpNotApplicable",
        "InvalidRequest",
        "IndexError",
        "IndexNotFound",
        "IndexFoundError",
        "SecurityError",
        "NotAuthenticated",
        "SecurityNotEnabled",
        "QueryError",
        "BatchError",
        "QuotaError",
        "UdfError",
        "ClientError",
        "BatchFailedError",
        "TimeoutError",
        "ConnectionError",
        "InvalidNodeError",
        "InvalidNamespaceError",
        "NoMoreConnections",
        "MaxErrorRate",
        "CommitFailedError",
        "BadResponse",
        "IoError",
        "ParseAddressError",
        "ParseIntError",
        "PasswordHashError",
        "RecvError",
        "Base64DecodeError",
        "InvalidUTF8",
        "InvalidRustClientArgs",
        "UDFBadResponse",
        "ValueError",
        "RecordError",
    ]
    for name in aliases:
        assert issubclass(getattr(exceptions, name), exceptions.ServerError), name
    assert exceptions.RecordNotFound is exceptions.RecordNotFoundError
    assert issubclass(exceptions.BinNotFound, exceptions.RecordError)
    assert issubclass(exceptions.IndexNotFound, exceptions.IndexError)


def refused():
    """An error of the Rust client."""
    with pytest.raises(exceptions.InvalidArgumentError) as caught:
        ReadPolicy(total_timeout=-1)
    return caught.value


def test_an_error_of_the_rust_client():
    error = refused()
    assert isinstance(error, ValueError)
    assert error.args == ("total_timeout is -1, it must be 0 to 4294967295",)
    assert str(error) == error.base_message == error.args[0]
    assert error.result_code is ResultCode.PARAMETER_ERROR
    assert error.in_doubt is False
    assert error.phase == "queued"
    assert error.is_client_error is True
    assert (error.node, error.sub_code, error.server_message, error.exp_trace) == (None, None, None, None)
    assert (error.iteration, error.attempts, error.elapsed, error.hint) == (None, 0, None, None)
    assert error.sub_exceptions == ()


def test_a_connection_that_is_refused(connect):
    with pytest.raises(builtins.ConnectionError) as caught:
        connect("127.0.0.1:1")
    error = caught.value
    assert type(error) is exceptions.ConnectionError
    assert "127.0.0.1:1" in error.base_message
    assert str(error) == f"{error.base_message} [SERVER_NOT_AVAILABLE -8]"
    assert error.result_code is ResultCode.SERVER_NOT_AVAILABLE
    assert (error.phase, error.is_client_error) == ("connecting", True)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("first", ["attempts", "is_client_error", "phase", "__str__", "__reduce__", "missing"])
def test_it_does_not_matter_what_is_asked_first(first):
    error = refused()
    if first == "missing":
        with pytest.raises(AttributeError):
            error.missing  # noqa: B018
    elif first.startswith("__"):
        getattr(error, first)()
    else:
        getattr(error, first)
    for same in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(same) is exceptions.InvalidArgumentError
        assert str(same) == str(error)
        assert same.args == error.args
        assert (same.phase, same.attempts, same.is_client_error) == ("queued", 0, True)


def test_attributes_can_be_set_before_others_are_read():
    error = refused()
    error.node = "mine"
    assert error.phase == "queued"
    assert error.node == "mine"
    assert pickle.loads(pickle.dumps(error)).node == "mine"


def test_threads_may_unpack_one_error_together():
    for _ in range(20):
        error = refused()
        barrier = threading.Barrier(8)
        seen = []

        def look(error=error, barrier=barrier, seen=seen):
            barrier.wait()
            seen.append((error.phase, str(error), error.attempts, error.is_client_error))

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8
        assert len(set(seen)) == 1


def test_a_missing_record(client, key):
    with pytest.raises(exceptions.RecordNotFoundError) as caught:
        client.get_blocking(key)
    error = caught.value
    assert error.args == ("the record does not exist",)
    assert error.result_code is ResultCode.KEY_NOT_FOUND_ERROR
    assert error.is_client_error is False
    assert error.in_doubt is False
    assert error.node
    assert str(error).startswith("the record does not exist [KEY_NOT_FOUND_ERROR 2, node ")
    assert pickle.loads(pickle.dumps(error)).node == error.node


def test_what_servers_tell_beside_a_result_code():
    """Servers before 8.2 tell none of it."""
    assert [(level.name, int(level)) for level in aerolane.ErrorDetailVerbosity] == [
        ("NONE", 0),
        ("SUBCODE", 1),
        ("MESSAGE", 2),
        ("EXPRESSION_TRACE", 3),
    ]
    policy = native.ReadPolicy(error_detail_verbosity=aerolane.ErrorDetailVerbosity.MESSAGE)
    assert policy.error_detail_verbosity == 2
    assert (aerolane.SubCode.NONE, aerolane.SubCode.PARAM_TTL_INVALID) == (0, 1)
    assert aerolane.SubCode.MRT_BLOCKED_RECORD_LOCKED == 1 and aerolane.SubCode.OPNOT_STRING_CONVERSION_FAILED == 10
    kind = aerolane.ExpressionTrace
    assert (kind.PHASE_BUILD, kind.PHASE_EVAL, kind.LANG_MSGPACK, kind.LANG_AEL) == (1, 2, 1, 2)
    parts = (1, 17, "eq", 2, ["and", "eq"], "(eq ...)", None, ["15", "18"], 1, None, None)
    trace = kind._restore(parts)
    assert (trace.phase, trace.byte_offset, trace.op, trace.depth) == (1, 17, "eq", 2)
    assert (trace.path, trace.snippet, trace.outcome, trace.operands) == (["and", "eq"], "(eq ...)", None, ["15", "18"])
    assert (trace.lang, trace.ael_offset, trace.ael_span) == (1, None, None)
    assert trace == kind._restore(parts) != kind._restore((2, *parts[1:]))
    assert "op=eq" in repr(trace)
    error = exceptions.AerospikeError("no", result_code=4, exp_trace=trace)
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert same.exp_trace == trace
    with pytest.raises(TypeError):
        kind()
