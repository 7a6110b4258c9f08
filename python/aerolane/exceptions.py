"""The exceptions of Aerolane, and the result codes behind them.

All of them derive from `AerospikeError`; its docstring lists the attributes that every exception has. A plain
`except TimeoutError`, `except ConnectionError` or `except ValueError` also catches the
`TimeoutError`, `ConnectionError` and `InvalidArgumentError` of this module.

When the server refuses a request, the exception is a `ServerError`. Timeouts, and errors that the client finds, are
not. Names of aerospike-native and aerospike-sdk refer to the same classes. If one of them has a specific class for a
failure and the other a general one, the class here derives from both.
"""

from aerolane._aerolane import (
    AerospikeError,
    AuthenticationError,
    AuthorizationError,
    BackoffError,
    BadResponseError,
    Base64DecodeError,
    BatchCapacityError,
    BatchConnectionError,
    BatchError,
    BatchFailedError,
    BatchMaxErrorRateError,
    BatchPoolExhaustedError,
    BatchTimeoutError,
    BinError,
    BinExistsError,
    BinNotFoundError,
    BinOpInvalidError,
    BinTypeError,
    CapacityError,
    ClientClosedError,
    ClientError,
    CommitError,
    ConnectionError,
    ElementError,
    ElementExistsError,
    ElementNotFoundError,
    FilteredOutError,
    GenerationError,
    IndexAlreadyExistsError,
    IndexNotFoundError,
    InvalidArgumentError,
    InvalidNamespaceError,
    InvalidNodeError,
    InvalidRequest,
    InvalidUTF8,
    IoError,
    KeyBusyError,
    MaxErrorRateError,
    NotAuthenticated,
    ParseAddressError,
    ParseIntError,
    PoolExhaustedError,
    QueryCapacityError,
    QueryError,
    QueryTerminatedError,
    QuotaError,
    RecordError,
    RecordExistsError,
    RecordNotFoundError,
    RecordTooBigError,
    ResultCode,
    SecondaryIndexError,
    SecurityError,
    SecurityNotEnabled,
    SerializationError,
    ServerCapacityError,
    ServerError,
    ServerTransactionError,
    TimeoutError,
    TransactionError,
    UDFBadResponse,
    UdfError,
    _restore,  # noqa: F401  # pyright: ignore[reportUnusedImport] (unpickling looks it up here)
    error_from_code,
)

# Names of aerospike-native for the same failures.
RecordNotFound = RecordNotFoundError
RecordTooBig = RecordTooBigError
BinNotFound = BinNotFoundError
FilteredOut = FilteredOutError
OpNotApplicable = BinOpInvalidError
IndexError = SecondaryIndexError
IndexNotFound = IndexNotFoundError
IndexFoundError = IndexAlreadyExistsError
CommitFailedError = CommitError
MaxErrorRate = MaxErrorRateError
NoMoreConnections = PoolExhaustedError
BadResponse = BadResponseError
InvalidRustClientArgs = InvalidArgumentError
PasswordHashError = InvalidArgumentError
ValueError = InvalidArgumentError
RecvError = ConnectionError

__all__ = [
    "AerospikeError",
    "AuthenticationError",
    "AuthorizationError",
    "BackoffError",
    "BadResponseError",
    "Base64DecodeError",
    "BatchCapacityError",
    "BatchConnectionError",
    "BatchError",
    "BatchFailedError",
    "BatchMaxErrorRateError",
    "BatchPoolExhaustedError",
    "BatchTimeoutError",
    "BinError",
    "BinExistsError",
    "BinNotFoundError",
    "BinOpInvalidError",
    "BinTypeError",
    "CapacityError",
    "ClientClosedError",
    "ClientError",
    "CommitError",
    "ConnectionError",
    "ElementError",
    "ElementExistsError",
    "ElementNotFoundError",
    "FilteredOutError",
    "GenerationError",
    "IndexAlreadyExistsError",
    "IndexNotFoundError",
    "InvalidArgumentError",
    "InvalidNamespaceError",
    "InvalidNodeError",
    "InvalidRequest",
    "InvalidUTF8",
    "IoError",
    "KeyBusyError",
    "MaxErrorRateError",
    "NotAuthenticated",
    "ParseAddressError",
    "ParseIntError",
    "PoolExhaustedError",
    "QueryCapacityError",
    "QueryError",
    "QueryTerminatedError",
    "QuotaError",
    "RecordError",
    "RecordExistsError",
    "RecordNotFoundError",
    "RecordTooBigError",
    "ResultCode",
    "SecondaryIndexError",
    "SecurityError",
    "SecurityNotEnabled",
    "SerializationError",
    "ServerCapacityError",
    "ServerError",
    "ServerTransactionError",
    "TimeoutError",
    "TransactionError",
    "UDFBadResponse",
    "UdfError",
    "error_from_code",
]
