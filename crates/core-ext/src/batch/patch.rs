//! What goes over the policies of the rows of a batch: the sections `batch_write`, `batch_delete` and `batch_udf` of a
//! configuration file.

/// What goes over the policy of a row that changes a record.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPatch {
    pub(crate) send_key: Option<bool>,
    pub(crate) durable_delete: Option<bool>,
}

/// What goes over the policies of rows, by what they do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPatches {
    /// There is something to look at: here, or in the policy of the batch, which may differ from that by which rows were made.
    pub(crate) active: bool,
    pub(crate) write: RowPatch,
    pub(crate) delete: RowPatch,
    pub(crate) udf: RowPatch,
}
