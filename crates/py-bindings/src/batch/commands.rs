//! What the batch methods of the client carry out.

use std::sync::Arc;

use aerolane::{BatchOperation, Bins, Error};
use aerospike_core::BatchPolicy as CorePolicy;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::record::BatchRecord;
use super::rows::{BatchWriteOp, Row, projection, row_of};
use crate::client::check_open;
use crate::client::twin::Twin;
use crate::core::ClientCore;
use crate::key::Key;
use crate::policy::{BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchWritePolicy};
use crate::session::keys;
use crate::{errors, host};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// What the rows become.
#[derive(Clone, Copy)]
enum Becomes {
    /// `BatchRecord`s.
    Records,
    /// Bools.
    Exists,
    /// `Record`s without bins, `None` for those that do not exist.
    Headers,
}

/// A batch, ready to be carried out.
pub(crate) struct Batch {
    policy: Arc<CorePolicy>,
    keys: Vec<(Py<Key>, bool)>,
    rows: Vec<BatchOperation>,
    becomes: Becomes,
}

impl Batch {
    fn new(policy: Option<&Bound<'_, BatchPolicy>>, rows: Vec<Row>, becomes: Becomes) -> Self {
        let writes = rows.iter().any(|row| row.operation.has_write());
        let policy = match policy {
            // Without a policy, writes are not repeated.
            None if writes => Arc::new(CorePolicy::write_default()),
            policy => BatchPolicy::in_force(policy),
        };
        let (keys, rows) = rows.into_iter().map(|row| ((row.key, row.operate), row.operation)).unzip();
        Self { policy, keys, rows, becomes }
    }

    fn finish(
        py: Python<'_>,
        keys: &[(Py<Key>, bool)],
        mut rows: Vec<BatchOperation>,
        failed: Option<&Error>,
        becomes: Becomes,
    ) -> PyResult<Py<PyAny>> {
        // A failure of the whole is raised when no row has an outcome of its own. Else each row says what became of it.
        if let Some(error) = failed
            && !rows.iter().any(|row| row.record().is_some() || row.error().is_some_and(|e| e.result_code() > 0))
        {
            return Err(errors::to_py(py, error));
        }
        let list = PyList::empty(py);
        for ((key, operate), row) in keys.iter().zip(&mut rows) {
            match becomes {
                Becomes::Records => list.append(BatchRecord::new(py, key, row, *operate)?)?,
                Becomes::Exists => list.append(found(py, row)?)?,
                Becomes::Headers if found(py, row)? => {
                    let record =
                        row.record().map(|record| super::convert::record(py, key.clone_ref(py), record, false));
                    list.append(record.transpose()?)?;
                }
                Becomes::Headers => list.append(py.None())?,
            }
        }
        Ok(list.into_any().unbind())
    }
}

/// Whether the row's record exists. Raises the row's error for anything else than yes and no.
fn found(py: Python<'_>, row: &BatchOperation) -> PyResult<bool> {
    match row.error() {
        None => Ok(row.record().is_some()),
        Some(error) if error.is_not_found() => Ok(false),
        Some(error) => Err(errors::to_py(py, error)),
    }
}

impl Twin for Batch {
    fn start(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        check_open(py, core)?;
        let Self { policy, keys, mut rows, becomes } = self;
        let client = core.raw.asynchronous();
        let future = async move {
            let result = if rows.is_empty() { Ok(()) } else { client.batch(&policy, &mut rows).await };
            Ok((rows, result.err()))
        };
        host::spawn(py, core, future, move |py, (rows, failed)| Self::finish(py, &keys, rows, failed.as_ref(), becomes))
    }

    fn block(self, py: Python<'_>, core: &Arc<ClientCore>) -> PyResult<Py<PyAny>> {
        core.check(py)?;
        let Self { policy, keys, mut rows, becomes } = self;
        let result = py.detach(|| if rows.is_empty() { Ok(()) } else { core.raw.sync().batch(&policy, &mut rows) });
        Self::finish(py, &keys, rows, result.err().as_ref(), becomes)
    }
}

/// # Errors
/// The lists are not of the same length.
fn same_length(keys: usize, others: usize, name: &str) -> PyResult<()> {
    if keys == others {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("keys and {name} must have the same length, they have {keys} and {others}")))
}

fn list<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    object.try_iter()?.collect()
}

fn reads(all: Object<'_, '_>, bins: &Bins, policy: Option<&Bound<'_, BatchReadPolicy>>) -> PyResult<Vec<Row>> {
    let policy = BatchReadPolicy::in_force(policy);
    let rows = keys(all)?.into_iter().map(|key| {
        let operation = BatchOperation::read(&policy, super::convert::key(key.get()), bins.clone());
        Row { key: key.unbind(), operation, operate: false }
    });
    Ok(rows.collect())
}

/// Reads records.
pub(crate) fn read(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    bins: Option<Object<'_, '_>>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    read_policy: Option<&Bound<'_, BatchReadPolicy>>,
) -> PyResult<Batch> {
    Ok(Batch::new(policy, reads(all, &projection(bins)?, read_policy)?, Becomes::Records))
}

/// Looks which records exist.
pub(crate) fn exists(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    read_policy: Option<&Bound<'_, BatchReadPolicy>>,
) -> PyResult<Batch> {
    Ok(Batch::new(policy, reads(all, &Bins::None, read_policy)?, Becomes::Exists))
}

/// Reads generations and expirations.
pub(crate) fn headers(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    read_policy: Option<&Bound<'_, BatchReadPolicy>>,
) -> PyResult<Batch> {
    Ok(Batch::new(policy, reads(all, &Bins::None, read_policy)?, Becomes::Headers))
}

/// Writes bins, those of the same place in `bins_list` to each key.
pub(crate) fn write(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    bins_list: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    write_policy: Option<&Bound<'_, BatchWritePolicy>>,
) -> PyResult<Batch> {
    let (keys, bins) = (keys(all)?, list(bins_list)?);
    same_length(keys.len(), bins.len(), "bins_list")?;
    let row_policy = BatchWritePolicy::in_force(write_policy);
    let rows =
        keys.iter().zip(&bins).enumerate().map(|(index, (key, bins))| {
            BatchWriteOp::row_of_bins(key, bins, &row_policy, &format!("bins_list[{index}]"))
        });
    Ok(Batch::new(policy, rows.collect::<PyResult<_>>()?, Becomes::Records))
}

/// Carries out operations, those of the same place in `operations_list` on each key.
pub(crate) fn operate(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    operations_list: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    write_policy: Option<&Bound<'_, BatchWritePolicy>>,
) -> PyResult<Batch> {
    let (keys, operations) = (keys(all)?, list(operations_list)?);
    same_length(keys.len(), operations.len(), "operations_list")?;
    let row_policy = BatchWritePolicy::in_force(write_policy);
    let rows = keys.iter().zip(&operations).map(|(key, operations)| BatchWriteOp::row(key, operations, &row_policy));
    Ok(Batch::new(policy, rows.collect::<PyResult<_>>()?, Becomes::Records))
}

/// Deletes records.
pub(crate) fn delete(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    all: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
    delete_policy: Option<&Bound<'_, BatchDeletePolicy>>,
) -> PyResult<Batch> {
    let row_policy = BatchDeletePolicy::in_force(delete_policy);
    let rows = keys(all)?.into_iter().map(|key| {
        let operation = BatchOperation::delete(&row_policy, super::convert::key(key.get()));
        Row { key: key.unbind(), operation, operate: false }
    });
    Ok(Batch::new(policy, rows.collect(), Becomes::Records))
}

/// Carries out rows of all kinds.
pub(crate) fn mixed(
    _py: Python<'_>,
    _core: &Arc<ClientCore>,
    ops: Object<'_, '_>,
    policy: Option<&Bound<'_, BatchPolicy>>,
) -> PyResult<Batch> {
    let rows = list(ops)?.iter().enumerate().map(|(index, row)| row_of(row, index)).collect::<PyResult<_>>()?;
    Ok(Batch::new(policy, rows, Becomes::Records))
}
