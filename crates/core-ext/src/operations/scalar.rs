//! Operations on whole bins and on the record: sent on our own connections.

use aerospike_core::Bin;

use super::{Operation, Scalar};

/// Reads all bins.
#[must_use]
pub const fn get() -> Operation {
    Operation::scalar(Scalar::Get)
}

/// Reads no bins: the answer has generation and expiration only.
#[must_use]
pub const fn get_header() -> Operation {
    Operation::scalar(Scalar::GetHeader)
}

/// Reads one bin.
#[must_use]
pub fn get_bin(bin_name: impl Into<String>) -> Operation {
    Operation::scalar(Scalar::GetBin(bin_name.into()))
}

/// Writes a bin; a nil value removes it.
#[must_use]
pub fn put(bin: &Bin) -> Operation {
    Operation::scalar(Scalar::Put(bin.clone()))
}

/// Appends to a string or blob bin; creates the bin if it is missing.
#[must_use]
pub fn append(bin: &Bin) -> Operation {
    Operation::scalar(Scalar::Append(bin.clone()))
}

/// Prepends to a string or blob bin; creates the bin if it is missing.
#[must_use]
pub fn prepend(bin: &Bin) -> Operation {
    Operation::scalar(Scalar::Prepend(bin.clone()))
}

/// Adds to an integer or float bin; creates the bin if it is missing.
#[must_use]
pub fn add(bin: &Bin) -> Operation {
    Operation::scalar(Scalar::Add(bin.clone()))
}

/// Resets the TTL and counts up the generation. Fails if the record does not exist.
#[must_use]
pub const fn touch() -> Operation {
    Operation::scalar(Scalar::Touch)
}

/// Deletes the record.
#[must_use]
pub const fn delete() -> Operation {
    Operation::scalar(Scalar::Delete)
}
