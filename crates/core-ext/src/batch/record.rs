//! A batch row's outcome.

use aerospike_core::{Key, Record, ResultCode, ServerErrorDetail};

use crate::error::Error;

/// A key and what became of it.
///
/// A row has failed when it has an [`error`](Self::error), has succeeded when it has none but a
/// [`record`](Self::record) (without bins where an operation returns nothing), and is pending when it has neither.
/// A missing or filtered-out record is a failed row, as `get` of one key fails; the batch itself succeeds all the same.
#[derive(Debug, Clone)]
pub struct BatchRecord {
    /// The key.
    pub key: Key,
    /// The record of a row that succeeded. Also of a UDF that failed: it has the reason in the bin `FAILURE`.
    pub record: Option<Record>,
    pub(super) error: Option<Error>,
    has_write: bool,
}

impl BatchRecord {
    /// A pending row. Only rows with `has_write` can ever be in doubt.
    #[must_use]
    #[inline]
    pub const fn new(key: Key, has_write: bool) -> Self {
        Self { key, record: None, error: None, has_write }
    }

    /// Whether the row's operation can change the record.
    #[must_use]
    pub const fn has_write(&self) -> bool {
        self.has_write
    }

    /// `Ok` for a row that succeeded, the server's code for one that failed there, `Timeout` for one that the client
    /// gave up; `None` for pending rows and for other failures of the client.
    #[must_use]
    pub fn result_code(&self) -> Option<ResultCode> {
        match (&self.error, &self.record) {
            (Some(e), _) => e.server_result_code().or_else(|| e.is_client_timeout().then_some(ResultCode::Timeout)),
            (None, Some(_)) => Some(ResultCode::Ok),
            (None, None) => None,
        }
    }

    /// Whether the write may have been applied although the row failed. Never true for reads.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        self.has_write && self.error.as_ref().is_some_and(Error::in_doubt)
    }

    /// Why the row failed.
    #[must_use]
    pub const fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The node behind a failed row, as `NAME: host:port`.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.error.as_ref().and_then(Error::node)
    }

    /// The detail that the server attached to the failure, when it was asked for.
    #[must_use]
    pub fn error_detail(&self) -> Option<&ServerErrorDetail> {
        self.error.as_ref().and_then(Error::server_error_detail)
    }

    /// The server's subcode of the failure; 0 when there is none. Only meaningful together with the result code.
    #[must_use]
    pub fn sub_code(&self) -> u32 {
        self.error.as_ref().map_or(0, Error::sub_code)
    }

    /// The text that the server attached to the failure.
    #[must_use]
    pub fn server_message(&self) -> Option<&str> {
        self.error.as_ref().and_then(Error::server_message)
    }

    pub(crate) fn set_ok(&mut self, record: Record) {
        self.error = None;
        self.record = Some(record);
    }

    /// A failure; `record` is what came with it.
    pub(crate) fn set_error(&mut self, error: Error, record: Option<Record>) {
        self.record = record;
        self.error = Some(error);
    }

    pub(crate) fn clear(&mut self) {
        self.record = None;
        self.error = None;
    }

    pub(crate) const fn is_pending(&self) -> bool {
        self.record.is_none() && self.error.is_none()
    }

    /// Takes over the outcome that aerospike-core found for this row.
    pub(crate) fn absorb(&mut self, row: aerospike_core::BatchRecord) {
        self.error = row.error().map(Error::from);
        self.record = row.record;
    }
}

impl From<&aerospike_core::BatchRecord> for BatchRecord {
    fn from(row: &aerospike_core::BatchRecord) -> Self {
        let mut of = Self::new(row.key.clone(), row.has_write());
        of.absorb(row.clone());
        of
    }
}
