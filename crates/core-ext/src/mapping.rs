//! Types of the program as records: aerospike-core's module, with a [`RecordMapper`] whose errors are ours.

use aerospike_core::{IndexMap, Key, Value};
// `RecordMapper` below goes before the one in it.
pub use aerospike_core::mapping::*;

use crate::error::Result;

/// A type that is stored as a record.
///
/// ```
/// use aerolane::{Error, IndexMap, Key, RecordMapper, Result, Value};
///
/// struct User {
///     id: i64,
///     name: String,
/// }
///
/// impl RecordMapper for User {
///     fn to_bins(&self) -> Result<IndexMap<String, Value>> {
///         Ok([("name".to_owned(), self.name.as_str().into())].into_iter().collect())
///     }
///
///     fn from_record(bins: &IndexMap<String, Value>, key: &Key, _generation: u32) -> Result<Self> {
///         match (key.user_key(), bins.get("name")) {
///             (Some(Value::Int(id)), Some(Value::String(name))) => Ok(Self { id: *id, name: name.clone() }),
///             _ => Err(Error::invalid_argument("no user")),
///         }
///     }
///
///     fn id(&self) -> Result<Value> {
///         Ok(self.id.into())
///     }
/// }
/// ```
pub trait RecordMapper: Sized {
    /// The bins of the record, without its key.
    ///
    /// # Errors
    /// What cannot be stored.
    fn to_bins(&self) -> Result<IndexMap<String, Value>>;

    /// The value of a record that was read.
    ///
    /// # Errors
    /// A bin that is missing or has another type.
    fn from_record(bins: &IndexMap<String, Value>, key: &Key, generation: u32) -> Result<Self>;

    /// The user key of the record.
    ///
    /// # Errors
    /// A key that is no [`Value`].
    fn id(&self) -> Result<Value>;
}
