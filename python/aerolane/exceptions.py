"""The exceptions of Aerolane, and the result codes behind them.

`AerospikeError` is the base of all; its docstring names the attributes that every exception has. A plain
`except TimeoutError`, `except ConnectionError` or `except ValueError` catches `TimeoutError`, `ConnectionError` and
`InvalidArgumentError` of this module, too.

The second group are the names that aerospike-native has for the same failures.
"""

from aerolane._aerolane import (
    AerospikeError,
    AuthenticationError,
    AuthorizationError,
    BackoffError,
    BadResponseError,
    BatchError,
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
    KeyBusyError,
    MaxErrorRateError,
    PoolExhaustedError,
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
    SerializationError,
    TimeoutError,
    TransactionError,
    UdfError,
    _restore,  # noqa: F401  # pyright: ignore[reportUnusedImport] (unpickling looks it up here)
    error_from_code,
)

# Names of aerospike-native. There, `ServerError` and `AerospikeError` are two roots; here one root has both.
ServerError = AerospikeError
RecordNotFound = RecordNotFoundError
RecordTooBig = RecordTooBigError
BinNotFound = BinNotFoundError
FilteredOut = FilteredOutError
OpNotApplicable = BinOpInvalidError
InvalidRequest = AerospikeError
IndexError = SecondaryIndexError
IndexNotFound = IndexNotFoundError
IndexFoundError = IndexAlreadyExistsError
NotAuthenticated = AuthenticationError
SecurityNotEnabled = SecurityError
BatchFailedError = BatchError
CommitFailedError = CommitError
MaxErrorRate = MaxErrorRateError
NoMoreConnections = PoolExhaustedError
BadResponse = BadResponseError
InvalidUTF8 = BadResponseError
ParseIntError = BadResponseError
Base64DecodeError = BadResponseError
ParseAddressError = InvalidArgumentError
InvalidRustClientArgs = InvalidArgumentError
ValueError = InvalidArgumentError
IoError = ConnectionError
RecvError = ConnectionError
PasswordHashError = ClientError
UDFBadResponse = UdfError

__all__ = [
    "AerospikeError",
    "AuthenticationError",
    "AuthorizationError",
    "BackoffError",
    "BadResponseError",
    "BatchError",
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
    "KeyBusyError",
    "MaxErrorRateError",
    "PoolExhaustedError",
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
    "SerializationError",
    "TimeoutError",
    "TransactionError",
    "UdfError",
    "error_from_code",
]
