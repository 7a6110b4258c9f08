"""Exceptions and result codes."""

import builtins
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, ClassVar, TypedDict, Unpack, final

from ._batch import BatchRecord
from ._results import RecordResult
from ._txn import CommitErrorType
from ._values import Key

class ResultCode(IntEnum):
    """Result codes: those of the server (0 to 255), and negative ones for failures of the client.

    An int. A code that this version does not know is kept, with a name such as `UNKNOWN_99`.
    """

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
    def description(self) -> str:
        """The text that Aerospike's clients use for the code: `"Key not found"`."""
    @property
    def meaning(self) -> str:
        """What the code means in plain words: `"the record does not exist"`."""

class ErrorDetailVerbosity(IntEnum):
    """How much detail the server reports about a failure: for the property `error_detail_verbosity` of policies.

    NONE (the default): the result code. SUBCODE: also a sub-code. MESSAGE: also a message. EXPRESSION_TRACE: also where
    in an expression it failed. Server 8.2 and later; earlier ones only report the result code.
    """

    NONE = 0
    SUBCODE = 1
    MESSAGE = 2
    EXPRESSION_TRACE = 3

class SubCode:
    """The values of `AerospikeError.sub_code`, as ints.

    A sub-code is only meaningful together with the result code, since several result codes use the same numbers. The
    first word of a name stands for the result code: PARAM for PARAMETER_ERROR, UNAVAIL for PARTITION_UNAVAILABLE,
    UNSUPP_FEAT for UNSUPPORTED_FEATURE, BIN_NOT_FOUND for itself, BIN_NAME for BIN_NAME_TOO_LONG, FORBID for
    FAIL_FORBIDDEN, OPNOT for OP_NOT_APPLICABLE, MRT_BLOCKED for itself. A server may send other values.
    """

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
    """Where and why an expression failed on the server: `AerospikeError.exp_trace`. Request it with
    `error_detail_verbosity = ErrorDetailVerbosity.EXPRESSION_TRACE`. Server 8.2 and later.

    Any property may be None, since the server leaves out what does not fit into its answer.
    """

    PHASE_BUILD: ClassVar[int]
    PHASE_EVAL: ClassVar[int]
    LANG_MSGPACK: ClassVar[int]
    LANG_AEL: ClassVar[int]
    @property
    def phase(self) -> int | None:
        """What failed: `PHASE_BUILD` or `PHASE_EVAL`."""
    @property
    def byte_offset(self) -> int | None:
        """The position of the failing element in the encoded expression, in bytes."""
    @property
    def op(self) -> str | None:
        """The name of the operator that failed."""
    @property
    def depth(self) -> int | None:
        """The nesting depth of the failing element."""
    @property
    def path(self) -> list[str] | None:
        """The operators from the outermost one to the one that failed; `"..."` stands for omitted ones."""
    @property
    def snippet(self) -> str | None:
        """The failing element as readable text."""
    @property
    def outcome(self) -> int | None:
        """The outcome of the evaluation. 1: it failed; 2: the expression was false; 3: a bin or a map key was
        missing.
        """
    @property
    def operands(self) -> list[str] | None:
        """If a comparison made the expression false: both of its sides, as text."""
    @property
    def lang(self) -> int | None:
        """The language of the expression: `LANG_MSGPACK` or `LANG_AEL`."""
    @property
    def ael_offset(self) -> int | None:
        """The position of the failing part in an expression that was sent as text, in characters."""
    @property
    def ael_span(self) -> int | None:
        """The length of that part in bytes."""
    @staticmethod
    def _restore(parts: tuple[Any, ...], /) -> ExpressionTrace:
        """As pickle needs it."""
    def __eq__(self, other: object, /) -> bool: ...

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
    key: Key | None

class AerospikeError(Exception):
    """Base of all errors of this package.

    Its arguments: `message`, then `result_code`, `in_doubt`, `sub_code`, `server_message`, `exp_trace`, `node`,
    `iteration`, `base_message` and `sub_exceptions`, in this order or by name; `hint`, `phase`, `elapsed`, `loop_busy`
    and `key` by name only. All are optional. Raises `ValueError` if `result_code` is not a result code.

    Attributes: `result_code` (a `ResultCode`, or None), `in_doubt` (whether the write may have been applied), `key`
    (the `Key` of the record that the failed request was about, if it was about one record), `node` (the last node
    tried), `attempts` and `iteration` (the number of attempts), `phase` (how far the last attempt got: "queued",
    "connecting", "sent" or "receiving"), `elapsed` (seconds from the call to the failure), `loop_busy` (how many of
    these seconds the program kept its event loop busy, so that no answer could be read), `sub_code` and
    `server_message` (detail that the server attached), `exp_trace`, `sub_exceptions` (the errors of earlier attempts),
    `base_message` (the message without node and the rest), `hint` (the likely cause). Unknown values are None.
    """

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
    key: Key | None
    @property
    def attempts(self) -> int:
        """The number of attempts; 0 if none was made or the number is unknown."""
    @property
    def is_client_error(self) -> bool:
        """Whether the failure was detected by the client; False for an answer of the server."""
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
        key: Key | None = None,
    ) -> None: ...

class ServerError(AerospikeError):
    """The server answered that a request failed."""

class ClientError(AerospikeError):
    """A failure in the client that has no class of its own."""

class TimeoutError(AerospikeError, builtins.TimeoutError):
    """The deadline passed or the retries were used up before an answer arrived, or the server timed out.

    `client`: whether it was the client that gave up.
    """

    client: bool
    def __init__(self, message: str = "", *args: Any, client: bool = False, **fields: Unpack[_Fields]) -> None: ...

class TransactionError(AerospikeError):
    """A transaction or a command in it failed."""

class CommitError(TransactionError):
    """A transaction could not be committed.

    `commit_error_type` (a `CommitErrorType`) names the stage. `verify_records` and `roll_records` are the outcomes of
    its records: lists of tuples of digest, result code and whether the record is in doubt.
    """

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

class ServerTransactionError(TransactionError, ServerError):
    """The server refused a command of a transaction."""

class BadResponseError(ClientError):
    """The server's answer cannot be understood."""

class ParseIntError(BadResponseError):
    """A number in the server's answer cannot be parsed."""

class InvalidUTF8(BadResponseError):
    """A string in the server's answer is not UTF-8."""

class SerializationError(AerospikeError):
    """A value cannot be encoded."""

class InvalidArgumentError(AerospikeError, ValueError):
    """An argument cannot be used. Nothing was sent."""

class ParseAddressError(InvalidArgumentError):
    """The text is not a valid address."""

class Base64DecodeError(InvalidArgumentError, BadResponseError):
    """The text is not valid base64, or does not encode what is expected."""

class ConnectionError(AerospikeError, builtins.ConnectionError):
    """A connection was refused, reset or closed, or could not be opened."""

class IoError(ConnectionError):
    """The operating system reported an error while connecting, sending or receiving."""

class ClientClosedError(ConnectionError):
    """The client is closed. Nothing was sent."""

class ExpiredError(AerospikeError):
    """A record that was handed to a writer had no outcome within its time to live (`record_ttl`)."""

class WriterClosedError(AerospikeError):
    """The writer is closed. Records that were not sent by then will not be sent."""

class InvalidNodeError(AerospikeError):
    """No active node can take the request: no node owns the partition, or the node has left the cluster."""

class InvalidNamespaceError(AerospikeError):
    """The cluster has no such namespace."""

class SecurityError(ServerError):
    """Access control refused the request, or is not enabled."""

class SecurityNotEnabled(SecurityError):
    """Access control is not enabled on the server."""

class AuthenticationError(SecurityError):
    """The login was refused, or the client did not log in."""

class NotAuthenticated(AuthenticationError):
    """The connection has not logged in."""

class AuthorizationError(SecurityError):
    """The user is not allowed to do this."""

class QuotaError(ServerError):
    """A quota of the user is exceeded or invalid."""

class InvalidRequest(ServerError):
    """The server does not accept the parameters of the request."""

class RecordError(ServerError):
    """The record or one of its bins is not in the state that the request requires."""

class RecordNotFoundError(RecordError):
    """The record does not exist."""

class RecordExistsError(RecordError):
    """The record already exists."""

class RecordTooBigError(RecordError):
    """The record is larger than the namespace allows."""

class GenerationError(RecordError):
    """The record's generation is not the one asked for."""

class BinError(ServerError):
    """A bin is not in the state that the request requires."""

class BinExistsError(BinError):
    """The bin already exists."""

class BinNotFoundError(BinError, RecordError):
    """The bin does not exist."""

class BinTypeError(BinError, RecordError):
    """The operation does not support the type of the bin's value."""

class BinOpInvalidError(BinError):
    """The operation cannot be applied to the bin's current value."""

class ElementError(ServerError):
    """An element of a list or map is not in the state that the request requires."""

class ElementNotFoundError(ElementError):
    """The list or map has no such element."""

class ElementExistsError(ElementError):
    """The list or map already has this element."""

class FilteredOutError(ServerError):
    """The filter expression is false for the record."""

class SecondaryIndexError(ServerError):
    """A secondary index failed."""

class IndexNotFoundError(SecondaryIndexError):
    """The secondary index does not exist."""

class IndexAlreadyExistsError(SecondaryIndexError):
    """The secondary index already exists."""

class QueryError(ServerError):
    """A query failed."""

class QueryTerminatedError(QueryError):
    """The query was terminated."""

class UDFBadResponse(AerospikeError):
    """A user-defined function failed."""

class UdfError(ServerError, UDFBadResponse):
    """A user-defined function failed."""

class BatchError(ServerError):
    """The server refused a batch as a whole."""

class CapacityError(AerospikeError):
    """The server or the client has no capacity left."""

class ServerCapacityError(CapacityError, ServerError):
    """The server has no capacity left."""

class QueryCapacityError(ServerCapacityError, QueryError):
    """The server has no capacity for more queries."""

class BatchCapacityError(ServerCapacityError, BatchError):
    """The server has no capacity for the batch."""

class KeyBusyError(ServerCapacityError):
    """Too many requests are waiting for the same record."""

class PoolExhaustedError(CapacityError):
    """All connections to the node are full, and the client is configured to fail instead of waiting."""

class BackoffError(AerospikeError):
    """The client is holding requests back for a while. Nothing was sent."""

class MaxErrorRateError(BackoffError):
    """The node's circuit breaker is open: too many errors in the current window."""

class BatchFailedError(ClientError):
    """A batch failed before any row was answered, or `raise_for_failures()` found rows that failed.

    `records`: the rows that failed (`BatchRecord`; for streams `RecordResult`), each with its result code and whether
    it is in doubt. Every error that a batch raises has them; in an error that you create yourself, it is None.
    """

    records: list[BatchRecord] | list[RecordResult] | None

class BatchTimeoutError(TimeoutError, BatchFailedError):
    """No row of a batch was answered in time."""

class BatchConnectionError(ConnectionError, BatchFailedError):
    """A batch failed because a connection failed, before any row was answered."""

class BatchPoolExhaustedError(PoolExhaustedError, BatchFailedError):
    """A batch failed because all connections to a node are full."""

class BatchMaxErrorRateError(MaxErrorRateError, BatchFailedError):
    """A batch failed because a node's circuit breaker is open."""

def error_from_code(result_code: int, message: str | None = None, *, in_doubt: bool = False) -> AerospikeError:
    """The exception that the client raises for a result code, for tests and for code that converts errors of other
    clients. `result_code`: any number from -128 to 255.
    """

def _restore(
    kind: type[AerospikeError], args: tuple[Any, ...], fields: dict[str, Any], cause: BaseException | None
) -> AerospikeError: ...
