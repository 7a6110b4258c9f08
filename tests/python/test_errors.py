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

# The class of each code, which is that of aerospike-sdk 1.0.0 or derives from it. What is not named is a ServerError.
CLASS_OF_CODE = {
    "OK": "AerospikeError",
    "KEY_NOT_FOUND_ERROR": "RecordNotFoundError",
    "PARAMETER_ERROR": "InvalidRequest",
    "GENERATION_ERROR": "GenerationError",
    "KEY_EXISTS_ERROR": "RecordExistsError",
    "BIN_EXISTS_ERROR": "BinExistsError",
    "SERVER_MEM_ERROR": "ServerCapacityError",
    "TIMEOUT": "TimeoutError",
    "BIN_TYPE_ERROR": "BinTypeError",
    "RECORD_TOO_BIG": "RecordTooBigError",
    "KEY_BUSY": "KeyBusyError",
    "SCAN_ABORT": "QueryError",
    "BIN_NOT_FOUND": "BinNotFoundError",
    "DEVICE_OVERLOAD": "ServerCapacityError",
    "INVALID_NAMESPACE": "InvalidNamespaceError",
    "BIN_NAME_TOO_LONG": "BinError",
    "ELEMENT_NOT_FOUND": "ElementNotFoundError",
    "ELEMENT_EXISTS": "ElementExistsError",
    "OP_NOT_APPLICABLE": "BinOpInvalidError",
    "FILTERED_OUT": "FilteredOutError",
    "XDR_KEY_BUSY": "KeyBusyError",
    "SECURITY_NOT_SUPPORTED": "SecurityError",
    "SECURITY_NOT_ENABLED": "SecurityNotEnabled",
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
    "NOT_AUTHENTICATED": "NotAuthenticated",
    "ROLE_VIOLATION": "AuthorizationError",
    "NOT_ALLOWLISTED": "AuthorizationError",
    "QUOTA_EXCEEDED": "QuotaError",
    "UDF_BAD_RESPONSE": "UdfError",
    "MRT_BLOCKED": "ServerTransactionError",
    "MRT_VERSION_MISMATCH": "ServerTransactionError",
    "MRT_EXPIRED": "ServerTransactionError",
    "MRT_TOO_MANY_WRITES": "ServerTransactionError",
    "MRT_COMMITTED": "ServerTransactionError",
    "MRT_ABORTED": "ServerTransactionError",
    "MRT_ALREADY_LOCKED": "ServerTransactionError",
    "MRT_MONITOR_EXISTS": "ServerTransactionError",
    "BATCH_DISABLED": "BatchError",
    "BATCH_MAX_REQUESTS_EXCEEDED": "BatchCapacityError",
    "BATCH_QUEUES_FULL": "BatchCapacityError",
    "INDEX_FOUND": "IndexAlreadyExistsError",
    "INDEX_NOT_FOUND": "IndexNotFoundError",
    "INDEX_OOM": "SecondaryIndexError",
    "INDEX_NOT_READABLE": "SecondaryIndexError",
    "INDEX_GENERIC": "SecondaryIndexError",
    "INDEX_NAME_MAX_LEN": "SecondaryIndexError",
    "INDEX_MAX_COUNT": "SecondaryIndexError",
    "QUERY_ABORTED": "QueryTerminatedError",
    "QUERY_QUEUE_FULL": "QueryCapacityError",
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
    "BATCH_FAILED": "BatchFailedError",
}

BASES = {
    "ServerError": ("AerospikeError",),
    "ClientError": ("AerospikeError",),
    "TimeoutError": ("AerospikeError", builtins.TimeoutError),
    "TransactionError": ("AerospikeError",),
    "CommitError": ("TransactionError",),
    "ServerTransactionError": ("TransactionError", "ServerError"),
    "BadResponseError": ("ClientError",),
    "ParseIntError": ("BadResponseError",),
    "InvalidUTF8": ("BadResponseError",),
    "SerializationError": ("AerospikeError",),
    "InvalidArgumentError": ("AerospikeError", ValueError),
    "ParseAddressError": ("InvalidArgumentError",),
    "Base64DecodeError": ("InvalidArgumentError", "BadResponseError"),
    "ConnectionError": ("AerospikeError", builtins.ConnectionError),
    "IoError": ("ConnectionError",),
    "ClientClosedError": ("ConnectionError",),
    "InvalidNodeError": ("AerospikeError",),
    "InvalidNamespaceError": ("AerospikeError",),
    "SecurityError": ("ServerError",),
    "SecurityNotEnabled": ("SecurityError",),
    "AuthenticationError": ("SecurityError",),
    "NotAuthenticated": ("AuthenticationError",),
    "AuthorizationError": ("SecurityError",),
    "QuotaError": ("ServerError",),
    "InvalidRequest": ("ServerError",),
    "RecordError": ("ServerError",),
    "RecordNotFoundError": ("RecordError",),
    "RecordExistsError": ("RecordError",),
    "RecordTooBigError": ("RecordError",),
    "GenerationError": ("RecordError",),
    "BinError": ("ServerError",),
    "BinExistsError": ("BinError",),
    "BinNotFoundError": ("BinError", "RecordError"),
    "BinTypeError": ("BinError", "RecordError"),
    "BinOpInvalidError": ("BinError",),
    "ElementError": ("ServerError",),
    "ElementNotFoundError": ("ElementError",),
    "ElementExistsError": ("ElementError",),
    "FilteredOutError": ("ServerError",),
    "SecondaryIndexError": ("ServerError",),
    "IndexNotFoundError": ("SecondaryIndexError",),
    "IndexAlreadyExistsError": ("SecondaryIndexError",),
    "QueryError": ("ServerError",),
    "QueryTerminatedError": ("QueryError",),
    "UDFBadResponse": ("AerospikeError",),
    "UdfError": ("ServerError", "UDFBadResponse"),
    "BatchError": ("ServerError",),
    "CapacityError": ("AerospikeError",),
    "ServerCapacityError": ("CapacityError", "ServerError"),
    "QueryCapacityError": ("ServerCapacityError", "QueryError"),
    "BatchCapacityError": ("ServerCapacityError", "BatchError"),
    "KeyBusyError": ("ServerCapacityError",),
    "PoolExhaustedError": ("CapacityError",),
    "BackoffError": ("AerospikeError",),
    "MaxErrorRateError": ("BackoffError",),
    "BatchFailedError": ("ClientError",),
    "BatchTimeoutError": ("TimeoutError", "BatchFailedError"),
    "BatchConnectionError": ("ConnectionError", "BatchFailedError"),
    "BatchPoolExhaustedError": ("PoolExhaustedError", "BatchFailedError"),
    "BatchMaxErrorRateError": ("MaxErrorRateError", "BatchFailedError"),
}

CLASSES = [AerospikeError, *(getattr(exceptions, name) for name in BASES)]


@pytest.mark.parametrize("code", list(ResultCode), ids=lambda code: code.name)
def test_each_code_has_its_class(code):
    error = error_from_code(code)
    assert type(error) is getattr(exceptions, CLASS_OF_CODE.get(code.name, "ServerError"))
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
    assert code.description == "Unknown result code: 99"
    assert "does not know" in code.meaning
    assert type(error_from_code(99)) is exceptions.ServerError
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
    assert str(error) == "" and error.args == ()
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


def test_what_each_except_catches():
    """Of the classes that aerospike-native has, in addition to those of aerospike-sdk."""
    catches = {
        "ServerError": [
            "KEY_NOT_FOUND_ERROR",
            "SERVER_ERROR",
            "SERVER_MEM_ERROR",
            "MRT_BLOCKED",
            "INVALID_USER",
            "LOST_CONFLICT",
        ],
        "RecordError": ["KEY_NOT_FOUND_ERROR", "GENERATION_ERROR", "BIN_TYPE_ERROR", "BIN_NOT_FOUND", "RECORD_TOO_BIG"],
        "InvalidRequest": ["PARAMETER_ERROR"],
        "NotAuthenticated": ["NOT_AUTHENTICATED"],
        "SecurityNotEnabled": ["SECURITY_NOT_ENABLED"],
        "BatchError": ["BATCH_DISABLED", "BATCH_QUEUES_FULL", "BATCH_MAX_REQUESTS_EXCEEDED"],
        "QueryError": ["QUERY_QUEUE_FULL", "SCAN_ABORT", "QUERY_ABORTED"],
        "UDFBadResponse": ["UDF_BAD_RESPONSE"],
        "TransactionError": ["MRT_BLOCKED", "TXN_FAILED"],
        "CapacityError": [
            "QUERY_QUEUE_FULL",
            "BATCH_QUEUES_FULL",
            "DEVICE_OVERLOAD",
            "KEY_BUSY",
            "NO_MORE_CONNECTIONS",
        ],
    }
    never = {
        "ServerError": [
            "TIMEOUT",
            "QUERY_TIMEOUT",
            "SERVER_NOT_AVAILABLE",
            "NO_MORE_CONNECTIONS",
            "MAX_ERROR_RATE",
            "TXN_FAILED",
        ],
        "RecordError": ["OP_NOT_APPLICABLE", "FILTERED_OUT", "PARAMETER_ERROR"],
        "InvalidRequest": ["SERVER_ERROR", "FAIL_FORBIDDEN"],
        "NotAuthenticated": ["INVALID_USER", "INVALID_PASSWORD"],
        "SecurityNotEnabled": ["ROLE_VIOLATION", "SECURITY_NOT_SUPPORTED"],
        "ClientError": ["SERVER_ERROR", "TIMEOUT"],
        "BatchFailedError": ["BATCH_DISABLED"],
        "PasswordHashError": ["CLIENT_ERROR"],
    }
    for kinds, expected in ((catches, True), (never, False)):
        for kind, codes in kinds.items():
            for code in codes:
                error = error_from_code(ResultCode[code])
                assert isinstance(error, getattr(exceptions, kind)) is expected, (kind, code)


def test_no_name_stands_for_the_base():
    names = [name for name in vars(exceptions) if getattr(exceptions, name) is AerospikeError]
    assert names == ["AerospikeError"]


def test_names_of_aerospike_native():
    for name, ours in {
        "RecordNotFound": "RecordNotFoundError",
        "RecordTooBig": "RecordTooBigError",
        "BinNotFound": "BinNotFoundError",
        "FilteredOut": "FilteredOutError",
        "OpNotApplicable": "BinOpInvalidError",
        "IndexError": "SecondaryIndexError",
        "IndexNotFound": "IndexNotFoundError",
        "IndexFoundError": "IndexAlreadyExistsError",
        "CommitFailedError": "CommitError",
        "MaxErrorRate": "MaxErrorRateError",
        "NoMoreConnections": "PoolExhaustedError",
        "BadResponse": "BadResponseError",
        "InvalidRustClientArgs": "InvalidArgumentError",
        "PasswordHashError": "InvalidArgumentError",
        "ValueError": "InvalidArgumentError",
        "RecvError": "ConnectionError",
    }.items():
        assert getattr(exceptions, name) is getattr(exceptions, ours)


def test_arguments_by_position():
    """Those of aerospike-native's `ServerError`, in its order."""
    before = AerospikeError("before")
    arguments = ("no", ResultCode.TIMEOUT, True, 5, "from the server", "trace", "BB9", 3, "base", [before])
    for kind in (
        exceptions.ServerError,
        exceptions.RecordNotFoundError,
        exceptions.TimeoutError,
        exceptions.CommitError,
    ):
        error = kind(*arguments)
        for same in (error, pickle.loads(pickle.dumps(kind("no", ResultCode.TIMEOUT, True, 5))), copy.copy(error)):
            assert str(same) == "no"
            assert same.args[:4] == ("no", ResultCode.TIMEOUT, True, 5)
            assert (same.result_code, same.in_doubt, same.sub_code) == (ResultCode.TIMEOUT, True, 5)
        assert (error.server_message, error.exp_trace, error.node) == ("from the server", "trace", "BB9")
        assert (error.iteration, error.base_message, error.sub_exceptions) == (3, "base", (before,))
        assert kind("no", result_code=9).args == ("no",)
        assert str(kind(message="no")) == "no"
        with pytest.raises(TypeError, match="AerospikeError"):
            kind(*arguments, "one more")
        with pytest.raises(ValueError, match="is not a valid ResultCode"):
            kind("no", "TIMEOUT")
    assert exceptions.BatchFailedError("no").records is None


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
    assert error.args == ("Key not found",)
    assert error.result_code.meaning == "the record does not exist"
    assert error.result_code is ResultCode.KEY_NOT_FOUND_ERROR
    assert error.is_client_error is False
    assert error.in_doubt is False
    assert error.node
    assert str(error).startswith(f"Key not found [KEY_NOT_FOUND_ERROR 2, {key!r}, node ")
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
