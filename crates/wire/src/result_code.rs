//! Result codes of the server.

use std::fmt;

/// The result code of an answer, as the byte on the wire. Codes that this version does not know are kept.
///
/// Numbers as in `aerospike-core` 3.0.0; many can be seen in the golden exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ResultCode(pub u8);

macro_rules! result_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        impl ResultCode {
            $($(#[$doc])* #[doc = concat!("Code ", $code, ": ", $text, ".")] pub const $name: Self = Self($code);)*

            /// All codes that have a name, in ascending order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name of the constant, or `"UNKNOWN"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($code => stringify!($name),)*
                    _ => "UNKNOWN",
                }
            }

            /// What it means, as a phrase.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self.0 {
                    $($code => $text,)*
                    _ => "a result code that this version does not know",
                }
            }
        }
    };
}

result_codes! {
    OK = 0, "success";
    SERVER_ERROR = 1, "the server failed in a way it has no code for";
    KEY_NOT_FOUND = 2, "the record does not exist";
    GENERATION_ERROR = 3, "the record's generation is not the one asked for";
    PARAMETER_ERROR = 4, "the server does not accept the request's parameters";
    KEY_EXISTS = 5, "the record exists already";
    BIN_EXISTS = 6, "the bin exists already";
    CLUSTER_KEY_MISMATCH = 7, "the cluster changed while the request was running";
    SERVER_MEMORY = 8, "the server is out of memory or storage";
    TIMEOUT = 9, "the server ran out of time";
    ALWAYS_FORBIDDEN = 10, "the namespace's configuration forbids this operation";
    PARTITION_UNAVAILABLE = 11, "the record's partition is not available at the moment";
    BIN_TYPE_ERROR = 12, "the operation does not fit the type of the bin";
    RECORD_TOO_BIG = 13, "the record is larger than the server allows";
    KEY_BUSY = 14, "too many requests wait for this record";
    SCAN_ABORT = 15, "the scan was stopped";
    UNSUPPORTED_FEATURE = 16, "the server does not support this request";
    BIN_NOT_FOUND = 17, "the bin does not exist";
    DEVICE_OVERLOAD = 18, "the storage device cannot keep up with writes";
    KEY_MISMATCH = 19, "the stored key is not the key of the request";
    INVALID_NAMESPACE = 20, "the server has no such namespace";
    BIN_NAME_TOO_LONG = 21, "a bin name is longer than 15 bytes, or there are too many bins";
    FAIL_FORBIDDEN = 22, "the operation is not allowed at this time";
    ELEMENT_NOT_FOUND = 23, "the map or list has no such element";
    ELEMENT_EXISTS = 24, "the map or list has this element already";
    ENTERPRISE_ONLY = 25, "this needs the Enterprise Edition";
    OP_NOT_APPLICABLE = 26, "the operation cannot be applied to the bin's present value";
    FILTERED_OUT = 27, "the filter expression is false for this record";
    LOST_CONFLICT = 28, "the write lost a conflict with cross-datacentre replication";
    INVALID_ENCODING = 29, "a string is not valid UTF-8";
    XDR_KEY_BUSY = 32, "the record waits for cross-datacentre replication";
    QUERY_END = 50, "no more users or roles follow";
    SECURITY_NOT_SUPPORTED = 51, "the server has no access control (it needs the Enterprise Edition)";
    SECURITY_NOT_ENABLED = 52, "access control is not switched on";
    SECURITY_SCHEME_NOT_SUPPORTED = 53, "the server does not know this security scheme";
    INVALID_COMMAND = 54, "the server does not know this administration command";
    INVALID_FIELD = 55, "a field of the administration command is not valid";
    ILLEGAL_STATE = 56, "the administration command is not allowed in this state";
    INVALID_USER = 60, "no such user";
    USER_ALREADY_EXISTS = 61, "the user exists already";
    INVALID_PASSWORD = 62, "the password is not valid";
    EXPIRED_PASSWORD = 63, "the password has expired";
    FORBIDDEN_PASSWORD = 64, "this password may not be used (again)";
    INVALID_CREDENTIAL = 65, "the credential is not valid";
    EXPIRED_SESSION = 66, "the login session has expired";
    INVALID_ROLE = 70, "no such role";
    ROLE_ALREADY_EXISTS = 71, "the role exists already";
    INVALID_PRIVILEGE = 72, "no such privilege";
    INVALID_ALLOWLIST = 73, "the list of allowed addresses is not valid";
    QUOTAS_NOT_ENABLED = 74, "quotas are not switched on";
    INVALID_QUOTA = 75, "the quota is not valid";
    NOT_AUTHENTICATED = 80, "the connection has not logged in";
    ROLE_VIOLATION = 81, "the user's roles do not allow this";
    NOT_ALLOWLISTED = 82, "the client's address is not allowed";
    QUOTA_EXCEEDED = 83, "the user's quota is used up";
    UDF_BAD_RESPONSE = 100, "the UDF failed";
    TXN_BLOCKED = 120, "another transaction holds the record";
    TXN_VERSION_MISMATCH = 121, "a record read in the transaction has changed";
    TXN_EXPIRED = 122, "the transaction's deadline has passed";
    TXN_TOO_MANY_WRITES = 123, "the transaction has written to more records than allowed (4096)";
    TXN_COMMITTED = 124, "the transaction has been committed already";
    TXN_ABORTED = 125, "the transaction has been aborted already";
    TXN_ALREADY_LOCKED = 126, "the transaction holds this record already";
    TXN_MONITOR_EXISTS = 127, "the transaction's monitor record exists already";
    BATCH_DISABLED = 150, "batches are switched off";
    BATCH_MAX_REQUESTS = 151, "the batch has more rows than the server allows";
    BATCH_QUEUES_FULL = 152, "all batch queues are full";
    INVALID_GEOJSON = 160, "a value is no valid GeoJSON";
    INDEX_FOUND = 200, "the secondary index exists already";
    INDEX_NOT_FOUND = 201, "no such secondary index";
    INDEX_OUT_OF_MEMORY = 202, "there is no memory for the secondary index";
    INDEX_NOT_READABLE = 203, "the secondary index is not built yet";
    INDEX_GENERIC = 204, "the secondary index failed";
    INDEX_NAME_TOO_LONG = 205, "the name of the secondary index is too long";
    INDEX_MAX_COUNT = 206, "there are as many secondary indexes as allowed";
    QUERY_ABORTED = 210, "the query was stopped";
    QUERY_QUEUE_FULL = 211, "too many queries are waiting";
    QUERY_TIMEOUT = 212, "the query ran out of time";
    QUERY_GENERIC = 213, "the query failed";
    QUERY_NETWORK = 214, "the server could not send the query's results";
    QUERY_DUPLICATE = 215, "a query with this id exists already";
}

impl ResultCode {
    /// Whether it is [`ResultCode::OK`].
    #[must_use]
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description(), self.0)
    }
}

impl From<u8> for ResultCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

impl From<ResultCode> for u8 {
    fn from(code: ResultCode) -> Self {
        code.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions_belong_to_their_codes() {
        assert!(ResultCode::ALL.is_sorted_by(|a, b| a < b));
        assert_eq!(ResultCode(2).name(), "KEY_NOT_FOUND");
        assert_eq!(ResultCode::FILTERED_OUT.to_string(), "the filter expression is false for this record (27)");
        assert_eq!(ResultCode(99).name(), "UNKNOWN");
        let unknown = ResultCode(99).description();
        assert!(ResultCode::ALL.iter().all(|code| code.name() != "UNKNOWN" && code.description() != unknown));
    }
}
