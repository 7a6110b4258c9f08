//! The batch calls of the native client.

use std::sync::Arc;

use aerolane::raw::{RawOutcome, RawShape};
use aerospike_core::{BatchPolicy as CoreBatch, ResultCode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::ops::{self, Row, RowAction};
use super::record::BatchRecord;
use super::rows::{RowKey, Rows, check_keys, each_item, key, room};
use super::run::Batch;
use super::shape;
use super::stream::Streamed;
use crate::columns::{self, ArrowRecords, ArrowUnfit, Identity, Layout, NumpyRecords, RowFailures, Table, Wanted};
use crate::command::{Either, Executable};
use crate::core::ClientCore;
use crate::errors;
use crate::policy::{BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUDFPolicy, BatchWritePolicy};
use crate::query::statement::function;
use crate::record::{Body, Record};

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// The policy in force for rows that write: by default one without retries.
fn for_writes(policy: Option<&Bound<'_, BatchPolicy>>) -> Arc<CoreBatch> {
    match policy {
        Some(_) => BatchPolicy::in_force(policy),
        None => Arc::new(CoreBatch::write_default()),
    }
}

fn raised(py: Python<'_>) -> impl Fn(aerolane::Error) -> PyErr {
    move |error| errors::to_py(py, &error)
}

/// Rows of one shape.
fn alike(keys: Object<'_, '_>, shape: RawShape) -> PyResult<Rows> {
    check_keys(keys)?;
    let mut rows = Rows::with_capacity(room(keys));
    rows.shape(shape);
    each_item(keys, |place, item| {
        rows.push(key(place, item, false)?);
        Ok(())
    })?;
    Ok(rows)
}

/// Rows with something of its own for each: items of `others`, as many as there are keys. Items in a row that are one
/// object make one shape.
fn each_with(
    (keys, others, name): (Object<'_, '_>, Object<'_, '_>, &str),
    operate: bool,
    shape: impl Fn(usize, Object<'_, '_>) -> PyResult<RawShape>,
) -> PyResult<Rows> {
    check_keys(keys)?;
    let mut list: Vec<RowKey> = Vec::with_capacity(room(keys));
    each_item(keys, |place, item| {
        list.push(key(place, item, operate)?);
        Ok(())
    })?;
    let (mut rows, count) = (Rows::with_capacity(list.len()), list.len());
    let mut list = list.into_iter();
    let (mut before, mut others_seen): (Option<Bound<'_, PyAny>>, usize) = (None, 0);
    each_item(others, |place, item| {
        others_seen += 1;
        let Some(key) = list.next() else { return Ok(()) };
        if !before.as_ref().is_some_and(|before| before.is(&item)) {
            rows.shape(shape(place, &item)?);
            before = Some(item);
        }
        rows.push(key);
        Ok(())
    })?;
    if others_seen != count {
        let text = format!("keys and {name} must have the same length, they have {count} and {others_seen}");
        return Err(PyValueError::new_err(text));
    }
    Ok(rows)
}

fn list(policy: Arc<CoreBatch>, rows: Rows) -> impl Executable {
    let convert = |py: Python<'_>, rows: Rows| Ok(BatchRecord::list(py, rows)?.unbind());
    Batch { policy, rows, convert }
}

/// Rows of a record batch.
const BATCH_ROWS: usize = 65536;

/// Reads bins of many records: a list, or with a dtype the arrays of it, or with a schema the columns of it.
#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn read(
    py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    bins: Option<Object<'_, '_>>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchReadPolicy>>,
    as_numpy: Option<Object<'_, '_>>,
    as_arrow: Option<Object<'_, '_>>,
) -> PyResult<impl Executable> {
    let policy = BatchPolicy::in_force(batch);
    let shaped = |bins: Option<Object<'_, '_>>| {
        let (what, ops) = shape::bins_to_read(bins)?;
        RawShape::read(&policy, &BatchReadPolicy::in_force(row), what, ops).map_err(raised(py))
    };
    if let Some(wanted) = columns::as_arrow(py, as_arrow)? {
        if as_numpy.is_some() {
            return Err(PyValueError::new_err("as_numpy and as_arrow exclude each other"));
        }
        let names = wanted.names(py)?;
        let rows = alike(keys, shaped(bins.or(names.as_ref()))?)?;
        let convert = move |py: Python<'_>, rows| to_arrow(py, &rows, &wanted);
        return Ok(Either::That(Either::That(Batch { policy, rows, convert })));
    }
    let Some(dtype) = as_numpy else {
        let rows = alike(keys, shaped(bins)?)?;
        return Ok(Either::This(list(policy, rows)));
    };
    let (layout, dtype) = Layout::of(dtype)?;
    // Without a choice, no more than there are fields for.
    let rows = alike(keys, shaped(Some(bins.unwrap_or(&layout.names(py)?)))?)?;
    let dtype = dtype.unbind();
    let convert = move |py: Python<'_>, rows| to_numpy(py, &rows, layout, &dtype);
    Ok(Either::That(Either::This(Batch { policy, rows, convert })))
}

/// The arrays of a batch that has not failed as a whole.
fn to_numpy(py: Python<'_>, rows: &Rows, layout: Layout, dtype: &Py<PyAny>) -> PyResult<Py<PyAny>> {
    let table = py.detach(|| {
        let mut table = Table::new(layout);
        table.reserve(rows.len());
        for row in 0..rows.len() {
            match rows.outcome(row) {
                RawOutcome::Answered(message) => table.push(message)?,
                RawOutcome::Failed(error) => table.push_failed(Some(error)),
                _ => table.push_failed(None),
            }
        }
        Ok(table)
    });
    let table = table.map_err(|e| errors::malformed(py, &e))?;
    Ok(Py::new(py, NumpyRecords::new(py, table, dtype.bind(py))?)?.into_any())
}

/// The columns of a batch that has not failed as a whole.
fn to_arrow(py: Python<'_>, rows: &Rows, wanted: &Wanted) -> PyResult<Py<PyAny>> {
    let records = py.detach(|| {
        let messages = || {
            rows.keys().enumerate().map(|(row, key)| {
                let message = if let RawOutcome::Answered(message) = rows.outcome(row) { Some(message) } else { None };
                (Identity::of(key.key.get()), message)
            })
        };
        let (schema, chunks) = columns::gather(wanted, BATCH_ROWS, None, messages)?;
        let mut failures = RowFailures::default();
        let code = |row| match rows.outcome(row) {
            RawOutcome::Answered(_) => 0,
            RawOutcome::Failed(error) => failures.add(row, Some(error)),
            _ => failures.add(row, None),
        };
        let result_codes = (0..rows.len()).map(code).collect();
        Ok(ArrowRecords::of_keys(&schema, chunks, result_codes, failures))
    });
    let records = records.map_err(|unfit: ArrowUnfit| errors::to_py(py, &unfit.into()))?;
    Ok(Py::new(py, records)?.into_any())
}

/// Sets bins of many records, each its own.
pub(crate) fn write(
    py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    bins: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchWritePolicy>>,
) -> PyResult<impl Executable> {
    let (policy, row) = (for_writes(batch), BatchWritePolicy::in_force(row));
    let shape = |place, bins: Object<'_, '_>| {
        let ops = shape::bins_to_write(bins, &|| format!("bins_list[{place}]"))?;
        RawShape::write(&policy, &row, 0, ops).map_err(raised(py))
    };
    let rows = each_with((keys, bins, "bins_list"), false, shape)?;
    Ok(list(policy, rows))
}

/// Carries out operations on many records, each its own.
pub(crate) fn operate(
    py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    operations: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchWritePolicy>>,
) -> PyResult<impl Executable> {
    let (policy, row) = (for_writes(batch), BatchWritePolicy::in_force(row));
    let shape = |_, operations: Object<'_, '_>| {
        let ((what, ops), writes) = shape::operations(operations)?;
        let shape = if writes {
            RawShape::write(&policy, &row, what, ops)
        } else {
            RawShape::read(&policy, &aerospike_core::BatchReadPolicy::default(), what, ops)
                .map(RawShape::answering_each)
        };
        shape.map_err(raised(py))
    };
    let rows = each_with((keys, operations, "operations_list"), true, shape)?;
    Ok(list(policy, rows))
}

/// Deletes many records.
pub(crate) fn delete(
    py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchDeletePolicy>>,
) -> PyResult<impl Executable> {
    let policy = for_writes(batch);
    let shape = RawShape::delete(&policy, &BatchDeletePolicy::in_force(row)).map_err(raised(py))?;
    Ok(list(policy, alike(keys, shape)?))
}

/// Applies a function to many records.
#[allow(clippy::too_many_arguments)] // the arguments of the Python method
pub(crate) fn apply(
    py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    udf_name: &str,
    function_name: &str,
    args: Option<Object<'_, '_>>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchUDFPolicy>>,
) -> PyResult<impl Executable> {
    let (policy, function) = (for_writes(batch), function(py, udf_name, function_name, args)?);
    let shape = ops::apply(&policy, &BatchUDFPolicy::in_force(row), &function).map_err(raised(py))?;
    Ok(list(policy, alike(keys, shape)?))
}

/// A batch that reads headers.
fn read_headers<C>(
    keys: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchReadPolicy>>,
    convert: C,
) -> PyResult<Batch<C>> {
    let (policy, (what, ops)) = (BatchPolicy::in_force(batch), shape::header());
    let shape = RawShape::read(&policy, &BatchReadPolicy::in_force(row), what, ops).map_err(raised(keys.py()))?;
    Ok(Batch { rows: alike(keys, shape)?, policy, convert })
}

/// Whether each record exists.
pub(crate) fn exists(
    _py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchReadPolicy>>,
) -> PyResult<impl Executable> {
    read_headers(keys, batch, row, |py: Python<'_>, rows: Rows| {
        let found = found(py, rows, |_, message| Ok(message.is_some()))?;
        Ok(PyList::new(py, found)?.into_any().unbind())
    })
}

/// Generation and expiration of each record that exists.
pub(crate) fn headers(
    _py: Python<'_>,
    _core: &ClientCore,
    keys: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
    row: Option<&Bound<'_, BatchReadPolicy>>,
) -> PyResult<impl Executable> {
    read_headers(keys, batch, row, |py: Python<'_>, rows: Rows| {
        let found = found(py, rows, |key, message| {
            message.map(|message| Record::new(py, Some(key.key), Body::concat([message]), false)).transpose()
        })?;
        Ok(PyList::new(py, found)?.into_any().unbind())
    })
}

/// What `each` makes of the rows: of their messages, or `None` for records that do not exist. The first row that has
/// failed otherwise fails all.
fn found<T>(
    py: Python<'_>,
    mut rows: Rows,
    mut each: impl FnMut(RowKey, Option<&[u8]>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let mut list = Vec::with_capacity(rows.len());
    let mut failed: Option<PyErr> = None;
    rows.drain(|key, outcome| {
        let made = match outcome {
            RawOutcome::Answered(message) => each(key, Some(message)),
            RawOutcome::Failed(error) if error.matches(&[ResultCode::KeyNotFoundError]) => each(key, None),
            RawOutcome::Failed(error) => Err(errors::of_record(py, error, &key.key)),
            _ => Err(errors::to_py(py, &aerolane::Error::bad_response("the server left a row of the batch out"))),
        };
        match made {
            Ok(made) => list.push(made),
            Err(error) => drop(failed.get_or_insert(error)),
        }
    });
    failed.map_or(Ok(list), Err)
}

/// The rows of `Client.batch`.
fn listed(ops: Object<'_, '_>) -> PyResult<Vec<(RowKey, RowAction)>> {
    let mut list = Vec::with_capacity(room(ops));
    each_item(ops, |place, item| {
        list.push(Row::of(place, &item)?);
        Ok(())
    })?;
    Ok(list)
}

/// Rows of all kinds, shaped by the policy in force.
fn shaped(
    py: Python<'_>,
    list: Vec<(RowKey, RowAction)>,
    batch: Option<&Bound<'_, BatchPolicy>>,
) -> PyResult<(Arc<CoreBatch>, Rows)> {
    let policy =
        if list.iter().any(|(_, does)| does.writes()) { for_writes(batch) } else { BatchPolicy::in_force(batch) };
    let mut rows = Rows::with_capacity(list.len());
    for (key, does) in list {
        rows.shape(does.shape(&policy).map_err(raised(py))?);
        rows.push(key);
    }
    Ok((policy, rows))
}

/// Rows of all kinds.
pub(crate) fn mixed(
    py: Python<'_>,
    _core: &ClientCore,
    ops: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
) -> PyResult<impl Executable> {
    let (policy, rows) = shaped(py, listed(ops)?, batch)?;
    Ok(list(policy, rows))
}

/// Rows of all kinds, whose outcomes come one after the other.
pub(crate) fn stream(
    py: Python<'_>,
    _core: &ClientCore,
    ops: Object<'_, '_>,
    batch: Option<&Bound<'_, BatchPolicy>>,
) -> PyResult<impl Executable> {
    let list = listed(ops)?;
    let keys = list.iter().map(|(row, _)| RowKey { key: row.key.clone_ref(py), operate: row.operate }).collect();
    let (policy, rows) = shaped(py, list, batch)?;
    Ok(Streamed { policy, rows, keys })
}
