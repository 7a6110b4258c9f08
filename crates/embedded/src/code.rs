//! Result codes that this crate answers with; names as in the protocol documentation.

/// Done.
pub(crate) const OK: u8 = 0;
/// Unknown error: malformed collections among others.
pub(crate) const UNKNOWN: u8 = 1;
/// No such record.
pub(crate) const NOT_FOUND: u8 = 2;
/// Generation mismatch.
pub(crate) const GENERATION: u8 = 3;
/// Something in the request is wrong.
pub(crate) const PARAMETER: u8 = 4;
/// The record exists already.
pub(crate) const RECORD_EXISTS: u8 = 5;
/// The bin exists already.
pub(crate) const BIN_EXISTS: u8 = 6;
/// The server has run out of room for writes.
pub(crate) const OUT_OF_SPACE: u8 = 8;
/// The server has waited for too long; a write may have been carried out.
pub(crate) const TIMEOUT: u8 = 9;
/// No node can answer for this partition now.
pub(crate) const UNAVAILABLE: u8 = 11;
/// The bin has another type.
pub(crate) const BIN_TYPE: u8 = 12;
/// The record would be too large.
pub(crate) const RECORD_TOO_BIG: u8 = 13;
/// What is asked for is not supported.
pub(crate) const UNSUPPORTED: u8 = 16;
/// No such bin.
pub(crate) const BIN_NOT_FOUND: u8 = 17;
/// Another key is stored with this digest.
pub(crate) const KEY_MISMATCH: u8 = 19;
/// No such namespace.
pub(crate) const NAMESPACE: u8 = 20;
/// A bin name is too long.
pub(crate) const BIN_NAME: u8 = 21;
/// The map has no such key.
pub(crate) const ELEMENT_NOT_FOUND: u8 = 23;
/// The list has the value, or the map the key already.
pub(crate) const ELEMENT_EXISTS: u8 = 24;
/// Enterprise Edition only.
pub(crate) const ENTERPRISE_ONLY: u8 = 25;
/// The operation cannot be done on this value.
pub(crate) const NOT_APPLICABLE: u8 = 26;
/// The filter expression is false.
pub(crate) const FILTERED_OUT: u8 = 27;
/// The value is no GeoJSON that the server takes.
pub(crate) const GEO_INVALID: u8 = 160;
/// The device does not keep up with what is written.
pub(crate) const DEVICE_OVERLOAD: u8 = 18;
/// Not allowed at this time.
pub(crate) const FORBIDDEN: u8 = 22;
/// No such index.
pub(crate) const INDEX_NOT_FOUND: u8 = 201;
/// The index is still being built.
pub(crate) const INDEX_NOT_READABLE: u8 = 203;
/// A UDF failed.
pub(crate) const UDF_EXECUTION: u8 = 100;
/// Another transaction holds the record.
pub(crate) const TXN_BLOCKED: u8 = 120;
/// The record is not the one that the transaction has read.
pub(crate) const TXN_VERSION_MISMATCH: u8 = 121;
/// The transaction's deadline has passed.
pub(crate) const TXN_EXPIRED: u8 = 122;
/// The transaction is to write too many records.
pub(crate) const TXN_TOO_MANY_WRITES: u8 = 123;
/// The transaction is committed already.
pub(crate) const TXN_COMMITTED: u8 = 124;
/// The transaction was aborted.
pub(crate) const TXN_ABORTED: u8 = 125;
/// The transaction holds the record already.
pub(crate) const TXN_ALREADY_LOCKED: u8 = 126;
/// The transaction has a monitor already.
pub(crate) const TXN_MONITOR_EXISTS: u8 = 127;
