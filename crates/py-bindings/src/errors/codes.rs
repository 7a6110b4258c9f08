//! The result codes as Python names them, and the exception of each.
//!
//! Numbers and meanings of the server's codes are those of `aerolane_wire`, descriptions those of aerospike-core, which
//! users of its other bindings match on; this table adds what only Python has.

use aerolane_wire::result_code::ResultCode;
use aerospike_core::ClientResultCode;

use super::classes::Family;

/// A result code.
pub(super) struct Code {
    pub(super) value: i32,
    pub(super) name: &'static str,
    /// What it means, in our words.
    pub(super) meaning: &'static str,
    pub(super) family: Family,
    client: Option<ClientResultCode>,
}

impl Code {
    /// The text that Aerospike's clients have for it.
    pub(super) fn description(&self) -> String {
        match self.client {
            Some(code) => code.into_string(),
            None => server_description(self.value as u8),
        }
    }
}

/// The text that Aerospike's clients have for a code of the server.
pub(super) fn server_description(code: u8) -> String {
    aerospike_core::ResultCode::from(code).into_string()
}

macro_rules! name {
    ($code:ident) => {
        stringify!($code)
    };
    ($code:ident $name:ident) => {
        stringify!($name)
    };
}

macro_rules! server_codes {
    ($($code:ident $(as $name:ident)? => $family:ident;)*) => {
        /// The codes that the server sends, in ascending order.
        pub(super) const SERVER: &[Code] = &[$(Code {
            value: ResultCode::$code.0 as i32,
            name: name!($code $($name)?),
            meaning: ResultCode::$code.description(),
            family: Family::$family,
            client: None,
        }),*];
    };
}

server_codes! {
    OK => AerospikeError;
    SERVER_ERROR => ServerError;
    KEY_NOT_FOUND as KEY_NOT_FOUND_ERROR => RecordNotFoundError;
    GENERATION_ERROR => GenerationError;
    PARAMETER_ERROR => InvalidRequest;
    KEY_EXISTS as KEY_EXISTS_ERROR => RecordExistsError;
    BIN_EXISTS as BIN_EXISTS_ERROR => BinExistsError;
    CLUSTER_KEY_MISMATCH => ServerError;
    SERVER_MEMORY as SERVER_MEM_ERROR => ServerCapacityError;
    TIMEOUT => TimeoutError;
    ALWAYS_FORBIDDEN => ServerError;
    PARTITION_UNAVAILABLE => ServerError;
    BIN_TYPE_ERROR => BinTypeError;
    RECORD_TOO_BIG => RecordTooBigError;
    KEY_BUSY => KeyBusyError;
    SCAN_ABORT => QueryError;
    UNSUPPORTED_FEATURE => ServerError;
    BIN_NOT_FOUND => BinNotFoundError;
    DEVICE_OVERLOAD => ServerCapacityError;
    KEY_MISMATCH => ServerError;
    INVALID_NAMESPACE => InvalidNamespaceError;
    BIN_NAME_TOO_LONG => BinError;
    FAIL_FORBIDDEN => ServerError;
    ELEMENT_NOT_FOUND => ElementNotFoundError;
    ELEMENT_EXISTS => ElementExistsError;
    ENTERPRISE_ONLY => ServerError;
    OP_NOT_APPLICABLE => BinOpInvalidError;
    FILTERED_OUT => FilteredOutError;
    LOST_CONFLICT => ServerError;
    INVALID_ENCODING => ServerError;
    XDR_KEY_BUSY => KeyBusyError;
    QUERY_END => ServerError;
    SECURITY_NOT_SUPPORTED => SecurityError;
    SECURITY_NOT_ENABLED => SecurityNotEnabled;
    SECURITY_SCHEME_NOT_SUPPORTED => SecurityError;
    INVALID_COMMAND => ServerError;
    INVALID_FIELD => ServerError;
    ILLEGAL_STATE => SecurityError;
    INVALID_USER => AuthenticationError;
    USER_ALREADY_EXISTS => SecurityError;
    INVALID_PASSWORD => AuthenticationError;
    EXPIRED_PASSWORD => AuthenticationError;
    FORBIDDEN_PASSWORD => SecurityError;
    INVALID_CREDENTIAL => AuthenticationError;
    EXPIRED_SESSION => SecurityError;
    INVALID_ROLE => SecurityError;
    ROLE_ALREADY_EXISTS => SecurityError;
    INVALID_PRIVILEGE => SecurityError;
    INVALID_ALLOWLIST => SecurityError;
    QUOTAS_NOT_ENABLED => QuotaError;
    INVALID_QUOTA => QuotaError;
    NOT_AUTHENTICATED => NotAuthenticated;
    ROLE_VIOLATION => AuthorizationError;
    NOT_ALLOWLISTED => AuthorizationError;
    QUOTA_EXCEEDED => QuotaError;
    UDF_BAD_RESPONSE => UdfError;
    TXN_BLOCKED as MRT_BLOCKED => ServerTransactionError;
    TXN_VERSION_MISMATCH as MRT_VERSION_MISMATCH => ServerTransactionError;
    TXN_EXPIRED as MRT_EXPIRED => ServerTransactionError;
    TXN_TOO_MANY_WRITES as MRT_TOO_MANY_WRITES => ServerTransactionError;
    TXN_COMMITTED as MRT_COMMITTED => ServerTransactionError;
    TXN_ABORTED as MRT_ABORTED => ServerTransactionError;
    TXN_ALREADY_LOCKED as MRT_ALREADY_LOCKED => ServerTransactionError;
    TXN_MONITOR_EXISTS as MRT_MONITOR_EXISTS => ServerTransactionError;
    BATCH_DISABLED => BatchError;
    BATCH_MAX_REQUESTS as BATCH_MAX_REQUESTS_EXCEEDED => BatchCapacityError;
    BATCH_QUEUES_FULL => BatchCapacityError;
    INVALID_GEOJSON => ServerError;
    INDEX_FOUND => IndexAlreadyExistsError;
    INDEX_NOT_FOUND => IndexNotFoundError;
    INDEX_OUT_OF_MEMORY as INDEX_OOM => SecondaryIndexError;
    INDEX_NOT_READABLE => SecondaryIndexError;
    INDEX_GENERIC => SecondaryIndexError;
    INDEX_NAME_TOO_LONG as INDEX_NAME_MAX_LEN => SecondaryIndexError;
    INDEX_MAX_COUNT => SecondaryIndexError;
    QUERY_ABORTED => QueryTerminatedError;
    QUERY_QUEUE_FULL => QueryCapacityError;
    QUERY_TIMEOUT => TimeoutError;
    QUERY_GENERIC => QueryError;
    QUERY_NETWORK as QUERY_NETIO_ERR => QueryError;
    QUERY_DUPLICATE => QueryError;
}

// A code that is added to the wire's table has to be added here.
const _: () = {
    assert!(SERVER.len() == ResultCode::ALL.len(), "a result code has no exception");
    let mut i = 0;
    while i < SERVER.len() {
        assert!(SERVER[i].value == ResultCode::ALL[i].0 as i32, "the result codes are not in order");
        i += 1;
    }
};

const fn client(value: i32, code: ClientResultCode, name: &'static str, meaning: &'static str, family: Family) -> Code {
    Code { value, name, meaning, family, client: Some(code) }
}

/// The codes of failures that the client finds. Numbers as in the clients of Aerospike.
pub(super) const CLIENT: &[Code] = &[
    client(
        -19,
        ClientResultCode::TxnAlreadyAborted,
        "TXN_ALREADY_ABORTED",
        "the transaction has been aborted already",
        Family::TransactionError,
    ),
    client(
        -18,
        ClientResultCode::TxnAlreadyCommitted,
        "TXN_ALREADY_COMMITTED",
        "the transaction has been committed already",
        Family::TransactionError,
    ),
    client(-17, ClientResultCode::TxnFailed, "TXN_FAILED", "the transaction failed", Family::TransactionError),
    client(
        -16,
        ClientResultCode::BatchFailed,
        "BATCH_FAILED",
        "one or more rows of the batch failed",
        Family::BatchFailedError,
    ),
    client(-15, ClientResultCode::NoResponse, "NO_RESPONSE", "no answer came", Family::ClientError),
    client(
        -12,
        ClientResultCode::MaxErrorRate,
        "MAX_ERROR_RATE",
        "the node's circuit breaker is open",
        Family::MaxErrorRateError,
    ),
    client(
        -11,
        ClientResultCode::MaxRetriesExceeded,
        "MAX_RETRIES_EXCEEDED",
        "the retries are used up",
        Family::TimeoutError,
    ),
    client(
        -10,
        ClientResultCode::SerializeError,
        "SERIALIZE_ERROR",
        "a value cannot be put on the wire",
        Family::SerializationError,
    ),
    client(-9, ClientResultCode::AsyncQueueFull, "ASYNC_QUEUE_FULL", "too many requests wait", Family::CapacityError),
    client(
        -8,
        ClientResultCode::ServerNotAvailable,
        "SERVER_NOT_AVAILABLE",
        "a connection failed",
        Family::ConnectionError,
    ),
    client(
        -7,
        ClientResultCode::NoMoreConnections,
        "NO_MORE_CONNECTIONS",
        "all connections to the node are taken",
        Family::PoolExhaustedError,
    ),
    client(
        -5,
        ClientResultCode::QueryTerminated,
        "QUERY_TERMINATED",
        "the query was stopped by the client",
        Family::QueryTerminatedError,
    ),
    client(
        -4,
        ClientResultCode::ScanTerminated,
        "SCAN_TERMINATED",
        "the scan was stopped by the client",
        Family::QueryTerminatedError,
    ),
    client(
        -3,
        ClientResultCode::InvalidNodeError,
        "INVALID_NODE_ERROR",
        "no active node fits",
        Family::InvalidNodeError,
    ),
    client(-2, ClientResultCode::ParseError, "PARSE_ERROR", "an answer cannot be understood", Family::BadResponseError),
    client(-1, ClientResultCode::ClientError, "CLIENT_ERROR", "the client failed", Family::ClientError),
];

/// The row of a code, when it has one.
pub(super) fn find(value: i32) -> Option<&'static Code> {
    let table = if value < 0 { CLIENT } else { SERVER };
    table.binary_search_by_key(&value, |code| code.value).ok().map(|at| &table[at])
}

/// The exception of a code.
pub(super) fn family(value: i32) -> Family {
    match find(value) {
        Some(code) => code.family,
        None if value < 0 => Family::ClientError,
        None => Family::ServerError,
    }
}
