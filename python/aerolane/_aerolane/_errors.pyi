"""Exceptions and result codes."""

import builtins
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, ClassVar, TypedDict, Unpack, final

from ._batch import BatchRecord
from ._txn import CommitErrorType

class ResultCode(IntEnum):
    TXN_ALREADY_ABORTED = -19
    TXN_ALREADY_COMMITTED = -18
    TXN_FAILED = -17
    BATCH_FAILED = -16
    NO_RESPONSE = -15
    MAX_ERROR_RATE = -12
    MAX_RETRIES_EXCEEDED = -11
    SERIALIZE_ERROR = -10
    ASYNC_QUEUE_FULL = -9
    SERVER_NOT_AVAILABLE = -8
    NO_MORE_CONNECTIONS = -7
    QUERY_TERMINATED = -5
    SCAN_TERMINATED = -4
    INVALID_NODE_ERROR = -3
    PARSE_ERROR = -2
    CLIENT_ERROR = -1
    OK = 0
    SERVER_ERROR = 1
    KEY_NOT_FOUND_ERROR = 2
    GENERATION_ERROR = 3
    PARAMETER_ERROR = 4
    KEY_EXISTS_ERROR = 5
    BIN_EXISTS_ERROR = 6
    CLUSTER_KEY_MISMATCH = 7
    SERVER_MEM_ERROR = 8
    TIMEOUT = 9
    ALWAYS_FORBIDDEN = 10
    PARTITION_UNAVAILABLE = 11
    BIN_TYPE_ERROR = 12
    RECORD_TOO_BIG = 13
    KEY_BUSY = 14
    SCAN_ABORT = 15
    UNSUPPORTED_FEATURE = 16
    BIN_NOT_FOUND = 17
    DEVICE_OVERLOAD = 18
    KEY_MISMATCH = 19
    INVALID_NAMESPACE = 20
    BIN_NAME_TOO_LONG = 21
    FAIL_FORBIDDEN = 22
    ELEMENT_NOT_FOUND = 23
    ELEMENT_EXISTS = 24
    ENTERPRISE_ONLY = 25
    OP_NOT_APPLICABLE = 26
    FILTERED_OUT = 27
    LOST_CONFLICT = 28
    INVALID_ENCODING = 29
    XDR_KEY_BUSY = 32
    QUERY_END = 50
    SECURITY_NOT_SUPPORTED = 51
    SECURITY_NOT_ENABLED = 52
    SECURITY_SCHEME_NOT_SUPPORTED = 53
    INVALID_COMMAND = 54
    INVALID_FIELD = 55
    ILLEGAL_STATE = 56
    INVALID_USER = 60
    USER_ALREADY_EXISTS = 61
    INVALID_PASSWORD = 62
    EXPIRED_PASSWORD = 63
    FORBIDDEN_PASSWORD = 64
    INVALID_CREDENTIAL = 65
    EXPIRED_SESSION = 66
    INVALID_ROLE = 70
    ROLE_ALREADY_EXISTS = 71
    INVALID_PRIVILEGE = 72
    INVALID_ALLOWLIST = 73
    QUOTAS_NOT_ENABLED = 74
    INVALID_QUOTA = 75
    NOT_AUTHENTICATED = 80
    ROLE_VIOLATION = 81
    NOT_ALLOWLISTED = 82
    QUOTA_EXCEEDED = 83
    UDF_BAD_RESPONSE = 100
    MRT_BLOCKED = 120
    MRT_VERSION_MISMATCH = 121
    MRT_EXPIRED = 122
    MRT_TOO_MANY_WRITES = 123
    MRT_COMMITTED = 124
    MRT_ABORTED = 125
    MRT_ALREADY_LOCKED = 126
    MRT_MONITOR_EXISTS = 127
    BATCH_DISABLED = 150
    BATCH_MAX_REQUESTS_EXCEEDED = 151
    BATCH_QUEUES_FULL = 152
    INVALID_GEOJSON = 160
    INDEX_FOUND = 200
    INDEX_NOT_FOUND = 201
    INDEX_OOM = 202
    INDEX_NOT_READABLE = 203
    INDEX_GENERIC = 204
    INDEX_NAME_MAX_LEN = 205
    INDEX_MAX_COUNT = 206
    QUERY_ABORTED = 210
    QUERY_QUEUE_FULL = 211
    QUERY_TIMEOUT = 212
    QUERY_GENERIC = 213
    QUERY_NETIO_ERR = 214
    QUERY_DUPLICATE = 215
    @property
    def description(self) -> str: ...
    @property
    def meaning(self) -> str: ...

class ErrorDetailVerbosity(IntEnum):
    NONE = 0
    SUBCODE = 1
    MESSAGE = 2
    EXPRESSION_TRACE = 3

class SubCode:
    NONE: ClassVar[int]
    PARAM_TTL_INVALID: ClassVar[int]
    PARAM_BITS_OFFSET_OUT_OF_RANGE: ClassVar[int]
    PARAM_BITS_SIZE_OUT_OF_RANGE: ClassVar[int]
    PARAM_BITS_RESIZE_EXCEEDED: ClassVar[int]
    PARAM_BIN_COUNT_TOO_LARGE: ClassVar[int]
    PARAM_STRING_OP_PARAMS_INVALID: ClassVar[int]
    PARAM_STRING_OP_INVALID: ClassVar[int]
    PARAM_STRING_CTX_MALFORMED: ClassVar[int]
    PARAM_STRING_INDEX_OUT_OF_BOUNDS: ClassVar[int]
    PARAM_STRING_REGEX_INVALID: ClassVar[int]
    PARAM_STRING_UTF8_INVALID: ClassVar[int]
    UNAVAIL_INITIAL_BALANCE_UNRESOLVED: ClassVar[int]
    UNAVAIL_REPLICA_UNAVAILABLE: ClassVar[int]
    UNAVAIL_NODE_SHUTTING_DOWN: ClassVar[int]
    UNSUPP_FEAT_MRT_REQUIRES_STRONG_CONSISTENCY: ClassVar[int]
    UNSUPP_FEAT_GENERIC: ClassVar[int]
    BIN_NOT_FOUND_HLL_CANNOT_CREATE_WITH_OP: ClassVar[int]
    BIN_NOT_FOUND_STRING_VALUE_NOT_FOUND: ClassVar[int]
    BIN_NAME_COUNT_TOO_LARGE: ClassVar[int]
    FORBID_XDR_FILTER_BLOCKED: ClassVar[int]
    FORBID_SET_COUNT_STOP_WRITES: ClassVar[int]
    FORBID_SET_SIZE_STOP_WRITES: ClassVar[int]
    FORBID_CLOCK_SKEW_STOP_WRITES: ClassVar[int]
    FORBID_REPLACE_CONFLICT_RESOLVING: ClassVar[int]
    FORBID_TRUNCATED: ClassVar[int]
    FORBID_DURABILITY_VIOLATION: ClassVar[int]
    OPNOT_CDT_INDEX_OUT_OF_BOUNDS: ClassVar[int]
    OPNOT_CDT_RANK_OUT_OF_BOUNDS: ClassVar[int]
    OPNOT_CDT_BOUNDED_LIST_OVERFLOW: ClassVar[int]
    OPNOT_HLL_INDEX_BITS_UNSET: ClassVar[int]
    OPNOT_HLL_CANNOT_REDUCE_INDEX_BITS: ClassVar[int]
    OPNOT_HLL_CANNOT_REDUCE_MINHASH_BITS: ClassVar[int]
    OPNOT_HLL_CANNOT_FOLD_MINHASH: ClassVar[int]
    OPNOT_HLL_FOLD_INDEX_BITS_TOO_LARGE: ClassVar[int]
    OPNOT_HLL_INTERSECT_MINHASH_MISMATCH: ClassVar[int]
    OPNOT_STRING_CONVERSION_FAILED: ClassVar[int]
    OPNOT_STRING_UTF8_INVALID: ClassVar[int]
    OPNOT_STRING_REGEX_LIMIT_EXCEEDED: ClassVar[int]
    OPNOT_STRING_B64_INVALID: ClassVar[int]
    MRT_BLOCKED_RECORD_LOCKED: ClassVar[int]
    MRT_BLOCKED_ID_MISMATCH: ClassVar[int]

@final
class ExpressionTrace:
    PHASE_BUILD: ClassVar[int]
    PHASE_EVAL: ClassVar[int]
    LANG_MSGPACK: ClassVar[int]
    LANG_AEL: ClassVar[int]
    @property
    def phase(self) -> int | None: ...
    @property
    def byte_offset(self) -> int | None: ...
    @property
    def op(self) -> str | None: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def path(self) -> list[str] | None: ...
    @property
    def snippet(self) -> str | None: ...
    @property
    def outcome(self) -> int | None: ...
    @property
    def operands(self) -> list[str] | None: ...
    @property
    def lang(self) -> int | None: ...
    @property
    def ael_offset(self) -> int | None: ...
    @property
    def ael_span(self) -> int | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    @staticmethod
    def _restore(parts: tuple[Any, ...], /) -> ExpressionTrace: ...

class _Fields(TypedDict, total=False):
    result_code: ResultCode | int | None
    in_doubt: bool
    sub_code: int | None
    server_message: str | None
    exp_trace: Any
    node: str | None
    iteration: int | None
    sub_exceptions: Sequence[BaseException]
    base_message: str | None
    hint: str | None
    phase: str | None
    elapsed: float | None
    loop_busy: float | None

class AerospikeError(Exception):
    result_code: ResultCode | None
    in_doubt: bool
    sub_code: int | None
    server_message: str | None
    exp_trace: Any
    node: str | None
    iteration: int | None
    sub_exceptions: tuple[BaseException, ...]
    base_message: str | None
    hint: str | None
    phase: str | None
    elapsed: float | None
    loop_busy: float | None
    def __init__(
        self,
        message: str = "",
        result_code: ResultCode | int | None = None,
        in_doubt: bool = False,
        sub_code: int | None = None,
        server_message: str | None = None,
        exp_trace: Any = None,
        node: str | None = None,
        iteration: int | None = None,
        base_message: str | None = None,
        sub_exceptions: Sequence[BaseException] | None = (),
        *,
        hint: str | None = None,
        phase: str | None = None,
        elapsed: float | None = None,
        loop_busy: float | None = None,
    ) -> None: ...
    @property
    def attempts(self) -> int: ...
    @property
    def is_client_error(self) -> bool: ...

class ServerError(AerospikeError): ...
class ClientError(AerospikeError): ...

class TimeoutError(AerospikeError, builtins.TimeoutError):
    client: bool
    def __init__(self, message: str = "", *args: Any, client: bool = False, **fields: Unpack[_Fields]) -> None: ...

class TransactionError(AerospikeError): ...

class CommitError(TransactionError):
    commit_error_type: CommitErrorType | None
    verify_records: Sequence[tuple[bytes, ResultCode | None, bool]] | None
    roll_records: Sequence[tuple[bytes, ResultCode | None, bool]] | None
    def __init__(
        self,
        message: str = "",
        *args: Any,
        commit_error_type: CommitErrorType | None = None,
        verify_records: Sequence[tuple[bytes, ResultCode | None, bool]] | None = None,
        roll_records: Sequence[tuple[bytes, ResultCode | None, bool]] | None = None,
        **fields: Unpack[_Fields],
    ) -> None: ...

class ServerTransactionError(TransactionError, ServerError): ...
class BadResponseError(ClientError): ...
class ParseIntError(BadResponseError): ...
class InvalidUTF8(BadResponseError): ...
class SerializationError(AerospikeError): ...
class InvalidArgumentError(AerospikeError, builtins.ValueError): ...
class ParseAddressError(InvalidArgumentError): ...
class Base64DecodeError(InvalidArgumentError, BadResponseError): ...
class ConnectionError(AerospikeError, builtins.ConnectionError): ...
class IoError(ConnectionError): ...
class ClientClosedError(ConnectionError): ...
class ExpiredError(AerospikeError): ...
class WriterClosedError(AerospikeError): ...
class InvalidNodeError(AerospikeError): ...
class InvalidNamespaceError(AerospikeError): ...
class SecurityError(ServerError): ...
class SecurityNotEnabled(SecurityError): ...
class AuthenticationError(SecurityError): ...
class NotAuthenticated(AuthenticationError): ...
class AuthorizationError(SecurityError): ...
class QuotaError(ServerError): ...
class InvalidRequest(ServerError): ...
class RecordError(ServerError): ...
class RecordNotFoundError(RecordError): ...
class RecordExistsError(RecordError): ...
class RecordTooBigError(RecordError): ...
class GenerationError(RecordError): ...
class BinError(ServerError): ...
class BinExistsError(BinError): ...
class BinNotFoundError(BinError, RecordError): ...
class BinTypeError(BinError, RecordError): ...
class BinOpInvalidError(BinError): ...
class ElementError(ServerError): ...
class ElementNotFoundError(ElementError): ...
class ElementExistsError(ElementError): ...
class FilteredOutError(ServerError): ...
class SecondaryIndexError(ServerError): ...
class IndexNotFoundError(SecondaryIndexError): ...
class IndexAlreadyExistsError(SecondaryIndexError): ...
class QueryError(ServerError): ...
class QueryTerminatedError(QueryError): ...
class UDFBadResponse(AerospikeError): ...
class UdfError(ServerError, UDFBadResponse): ...
class BatchError(ServerError): ...
class CapacityError(AerospikeError): ...
class ServerCapacityError(CapacityError, ServerError): ...
class QueryCapacityError(ServerCapacityError, QueryError): ...
class BatchCapacityError(ServerCapacityError, BatchError): ...
class KeyBusyError(ServerCapacityError): ...
class PoolExhaustedError(CapacityError): ...
class BackoffError(AerospikeError): ...
class MaxErrorRateError(BackoffError): ...

class BatchFailedError(ClientError):
    records: list[BatchRecord] | None

class BatchTimeoutError(TimeoutError, BatchFailedError): ...
class BatchConnectionError(ConnectionError, BatchFailedError): ...
class BatchPoolExhaustedError(PoolExhaustedError, BatchFailedError): ...
class BatchMaxErrorRateError(MaxErrorRateError, BatchFailedError): ...

def error_from_code(result_code: int, message: str | None = None, *, in_doubt: bool = False) -> AerospikeError: ...
def _restore(
    kind: type[AerospikeError], args: tuple[Any, ...], fields: dict[str, Any], cause: BaseException | None
) -> AerospikeError: ...
