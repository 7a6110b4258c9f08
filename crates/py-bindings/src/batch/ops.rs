//! The rows of `Client.batch`.

use std::sync::Arc;

use aerolane::raw::{RawOps, RawShape};
use aerospike_core as core;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::rows::RowKey;
use super::shape;
use crate::errors;
use crate::key::Key;
use crate::policy::{BatchDeletePolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy};
use crate::query::statement::{Function, function};

/// What one row does.
#[derive(Clone)]
pub(super) enum RowAction {
    Read { what: u8, ops: RawOps, policy: Arc<core::BatchReadPolicy>, operate: bool },
    Write { what: u8, ops: RawOps, policy: Arc<core::BatchWritePolicy> },
    Delete { policy: Arc<core::BatchDeletePolicy> },
    Apply { function: Arc<Function>, policy: Arc<core::BatchUdfPolicy> },
}

/// A row, encoded when it is made: what changes afterwards changes nothing.
pub(super) struct Row {
    key: Py<Key>,
    does: RowAction,
    /// Its record is an answer to `operate`.
    operate: bool,
}

impl Row {
    /// The row of an item of a sequence.
    pub(super) fn of(place: usize, item: &Bound<'_, PyAny>) -> PyResult<(RowKey, RowAction)> {
        let row = if let Ok(read) = item.cast::<BatchReadOp>() {
            &read.get().0
        } else if let Ok(write) = item.cast::<BatchWriteOp>() {
            &write.get().0
        } else if let Ok(delete) = item.cast::<BatchDeleteOp>() {
            &delete.get().0
        } else if let Ok(apply) = item.cast::<BatchUDFOp>() {
            &apply.get().0
        } else {
            let kind = item.get_type();
            let text =
                format!("ops[{place}] is no BatchReadOp, BatchWriteOp, BatchDeleteOp or BatchUDFOp but of type {kind}");
            return Err(PyTypeError::new_err(text));
        };
        Ok((RowKey { key: row.key.clone_ref(item.py()), operate: row.operate }, row.does.clone()))
    }
}

impl RowAction {
    pub(super) fn writes(&self) -> bool {
        !matches!(self, Self::Read { .. })
    }

    pub(super) fn shape(self, batch: &core::BatchPolicy) -> aerolane::Result<RawShape> {
        match self {
            Self::Read { what, ops, policy, operate } => {
                let shape = RawShape::read(batch, &policy, what, ops)?;
                Ok(if operate { shape.answering_each() } else { shape })
            }
            Self::Write { what, ops, policy } => RawShape::write(batch, &policy, what, ops),
            Self::Delete { policy } => RawShape::delete(batch, &policy),
            Self::Apply { function, policy } => apply(batch, &policy, &function),
        }
    }
}

/// Rows that apply a function.
pub(super) fn apply(
    batch: &core::BatchPolicy,
    policy: &core::BatchUdfPolicy,
    function: &Function,
) -> aerolane::Result<RawShape> {
    RawShape::udf(batch, policy, (&function.package, &function.name), &function.arguments)
}

/// A row of `Client.batch` that reads: all bins, only `bins` (an empty list: none), or the results of `operations`,
/// none of which may write.
///
/// Raises `ValueError` for operations that write, and otherwise what `get` and `operate` raise.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchReadOp(Row);

/// A row of `Client.batch` that writes: it sets `bins` and then carries out `operations`. Without `bins`, at least one
/// of the operations must write.
///
/// Raises `ValueError` if neither is given or if only operations are given and none of them writes, and otherwise what
/// `put` and `operate` raise.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchWriteOp(Row);

/// A row of `Client.batch` that deletes a record.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchDeleteOp(Row);

/// A row of `Client.batch` that applies the function `function_name` of the UDF module `udf_name` (without `.lua`) to
/// its record, with `args` (a list, or None). The function's return value is in the bin `"SUCCESS"` of the row's
/// record. If the function fails, so does the row, with the server's message: file, line and what was wrong.
///
/// Raises `TypeError` if `args` is not a list or cannot be sent, `ValueError` for empty names.
#[pyclass(frozen, module = "aerolane.native")]
pub(super) struct BatchUDFOp(Row);

/// Whether a sequence has nothing in it.
fn is_empty(sequence: &Bound<'_, PyAny>) -> bool {
    sequence.len().is_ok_and(|len| len == 0)
}

#[pymethods]
impl BatchReadOp {
    #[new]
    #[pyo3(signature = (key, bins=None, operations=None, policy=None))]
    fn new(
        py: Python<'_>,
        key: Py<Key>,
        bins: Option<&Bound<'_, PyAny>>,
        operations: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, BatchReadPolicy>>,
    ) -> PyResult<Self> {
        let operations = operations.filter(|operations| bins.is_none() || !is_empty(operations));
        let (what, ops) = match operations {
            None => shape::bins_to_read(bins)?,
            Some(operations) => match shape::operations(operations)? {
                (reads, false) => reads,
                (_, true) => {
                    return Err(errors::invalid_argument(py, "a row that reads has an operation that writes"));
                }
            },
        };
        let policy = BatchReadPolicy::in_force(policy);
        let operate = operations.is_some();
        Ok(Self(Row { key, does: RowAction::Read { what, ops, policy, operate }, operate }))
    }

    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.0.key.clone_ref(py)
    }
}

#[pymethods]
impl BatchWriteOp {
    #[new]
    #[pyo3(signature = (key, operations=None, policy=None, *, bins=None))]
    fn new(
        py: Python<'_>,
        key: Py<Key>,
        operations: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, BatchWritePolicy>>,
        bins: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let operations = operations.filter(|operations| bins.is_none() || !is_empty(operations));
        if operations.is_none() && bins.is_none() {
            return Err(errors::invalid_argument(py, "a row that writes takes bins, operations, or both"));
        }
        let sets =
            bins.map_or_else(|| Ok(RawOps::default()), |bins| shape::bins_to_write(bins, &|| "bins".to_owned()))?;
        let (what, ops) = match operations {
            None => (0, sets),
            Some(operations) => match shape::operations_behind(sets, operations)? {
                (reads, true) => reads,
                (_, false) => {
                    return Err(errors::invalid_argument(py, "a row that writes has no operation that writes"));
                }
            },
        };
        let policy = BatchWritePolicy::in_force(policy);
        Ok(Self(Row { key, does: RowAction::Write { what, ops, policy }, operate: operations.is_some() }))
    }

    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.0.key.clone_ref(py)
    }
}

#[pymethods]
impl BatchDeleteOp {
    #[new]
    #[pyo3(signature = (key, policy=None))]
    fn new(key: Py<Key>, policy: Option<&Bound<'_, BatchDeletePolicy>>) -> Self {
        Self(Row { key, does: RowAction::Delete { policy: BatchDeletePolicy::in_force(policy) }, operate: false })
    }

    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.0.key.clone_ref(py)
    }
}

#[pymethods]
impl BatchUDFOp {
    #[new]
    #[pyo3(signature = (key, udf_name, function_name, args=None, policy=None))]
    fn new(
        py: Python<'_>,
        key: Py<Key>,
        udf_name: &str,
        function_name: &str,
        args: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, BatchUDFPolicy>>,
    ) -> PyResult<Self> {
        let function = Arc::new(function(py, udf_name, function_name, args)?);
        let policy = BatchUDFPolicy::in_force(policy);
        Ok(Self(Row { key, does: RowAction::Apply { function, policy }, operate: false }))
    }

    /// The key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<Key> {
        self.0.key.clone_ref(py)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BatchReadOp>()?;
    module.add_class::<BatchWriteOp>()?;
    module.add_class::<BatchDeleteOp>()?;
    module.add_class::<BatchUDFOp>()
}
