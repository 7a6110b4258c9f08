//! The rows of `Client.batch`.

use aerolane::{BatchOperation, Bins};
use pyo3::prelude::*;

use super::convert;
use crate::errors;
use crate::key::Key;
use crate::operation::Operations;
use crate::policy::{BatchDeletePolicy, BatchReadPolicy, BatchWritePolicy};
use crate::request::bin_names;

/// A row, ready for the Rust client, and how its record is to be read.
pub(super) struct Row {
    pub(super) key: Py<Key>,
    pub(super) operation: BatchOperation,
    pub(super) operate: bool,
}

impl Row {
    fn copy(&self, py: Python<'_>) -> Self {
        Self { key: self.key.clone_ref(py), operation: self.operation.clone(), operate: self.operate }
    }
}

/// Bins of a projection: `None`: all; none: generation and expiration only.
pub(super) fn projection(bins: Option<&Bound<'_, PyAny>>) -> PyResult<Bins> {
    let Some(bins) = bins else { return Ok(Bins::All) };
    let names = bin_names(bins)?;
    if names.is_empty() {
        return Ok(Bins::None);
    }
    Ok(Bins::Some(names.iter().map(|name| Ok(name.to_cow()?.into_owned())).collect::<PyResult<_>>()?))
}

/// A row that reads: `bins` (`None`: all; a list of names), or `operations` that read.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchReadOp(Row);

#[pymethods]
impl BatchReadOp {
    #[new]
    #[pyo3(signature = (key, bins=None, operations=None, policy=None))]
    fn new(
        key: &Bound<'_, Key>,
        bins: Option<&Bound<'_, PyAny>>,
        operations: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, BatchReadPolicy>>,
    ) -> PyResult<Self> {
        let py = key.py();
        let policy = BatchReadPolicy::in_force(policy);
        let core_key = convert::key(key.get());
        let operation = match (bins, operations) {
            (Some(_), Some(_)) => return Err(errors::invalid_argument(py, "give bins or operations, not both")),
            (bins, None) => BatchOperation::read(&policy, core_key, projection(bins)?),
            (None, Some(operations)) => {
                let operations = Operations::of(operations)?;
                if operations.write() {
                    return Err(errors::invalid_argument(py, "a BatchReadOp has an operation that writes"));
                }
                BatchOperation::read_ops(&policy, core_key, convert::operations(py, &operations)?)
            }
        };
        Ok(Self(Row { key: key.clone().unbind(), operation, operate: operations.is_some() }))
    }
}

/// A row that writes: `bins`, a dict of values by name, or `operations` of which at least one writes.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchWriteOp(Row);

impl BatchWriteOp {
    pub(super) fn row(
        key: &Bound<'_, Key>,
        operations: &Bound<'_, PyAny>,
        policy: &aerospike_core::BatchWritePolicy,
    ) -> PyResult<Row> {
        let py = key.py();
        let operations = Operations::of(operations)?;
        let ops = convert::operations(py, &operations)?;
        let core_key = convert::key(key.get());
        let operation = if operations.write() {
            BatchOperation::write(policy, core_key, ops)
        } else {
            BatchOperation::read_ops(&aerospike_core::BatchReadPolicy::default(), core_key, ops)
        };
        Ok(Row { key: key.clone().unbind(), operation, operate: true })
    }

    pub(super) fn row_of_bins(
        key: &Bound<'_, Key>,
        bins: &Bound<'_, PyAny>,
        policy: &aerospike_core::BatchWritePolicy,
        what: &str,
    ) -> PyResult<Row> {
        let operation = BatchOperation::write(policy, convert::key(key.get()), convert::bins(bins, what)?);
        Ok(Row { key: key.clone().unbind(), operation, operate: false })
    }
}

#[pymethods]
impl BatchWriteOp {
    #[new]
    #[pyo3(signature = (key, operations=None, policy=None, *, bins=None))]
    fn new(
        key: &Bound<'_, Key>,
        operations: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, BatchWritePolicy>>,
        bins: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let policy = BatchWritePolicy::in_force(policy);
        match (operations, bins) {
            (Some(operations), None) => Self::row(key, operations, &policy).map(Self),
            (None, Some(bins)) => Self::row_of_bins(key, bins, &policy, "bins").map(Self),
            _ => Err(errors::invalid_argument(key.py(), "give operations or bins, one of both")),
        }
    }
}

/// A row that deletes its record.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchDeleteOp(Row);

#[pymethods]
impl BatchDeleteOp {
    #[new]
    #[pyo3(signature = (key, policy=None))]
    fn new(key: &Bound<'_, Key>, policy: Option<&Bound<'_, BatchDeletePolicy>>) -> Self {
        let policy = BatchDeletePolicy::in_force(policy);
        let operation = BatchOperation::delete(&policy, convert::key(key.get()));
        Self(Row { key: key.clone().unbind(), operation, operate: false })
    }
}

/// The row in a Python object.
pub(super) fn row_of(object: &Bound<'_, PyAny>, index: usize) -> PyResult<Row> {
    let py = object.py();
    if let Ok(read) = object.cast::<BatchReadOp>() {
        return Ok(read.get().0.copy(py));
    }
    if let Ok(write) = object.cast::<BatchWriteOp>() {
        return Ok(write.get().0.copy(py));
    }
    if let Ok(delete) = object.cast::<BatchDeleteOp>() {
        return Ok(delete.get().0.copy(py));
    }
    let kind = object.get_type();
    Err(pyo3::exceptions::PyTypeError::new_err(format!(
        "ops[{index}] must be a BatchReadOp, a BatchWriteOp or a BatchDeleteOp, not {}",
        kind.name()?
    )))
}
