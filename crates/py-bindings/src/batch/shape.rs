//! What the rows of a batch do, from Python objects.

use aerolane::raw::RawOps;
use aerolane::raw::command::check;
use aerolane_wire::WireError;
use aerolane_wire::message::{info1, op};
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::operation::{OperationKind, Operations, checked_name};
use crate::request::{Failed, bin_names, bin_value, wrong_name};
use crate::{errors, value};

/// What a row that reads asks for: bits of [`info1`], operations.
pub(crate) type Reads = (u8, RawOps);

/// All bins (`None`), those named, or none (an empty sequence).
pub(crate) fn bins_to_read(bins: Option<&Bound<'_, PyAny>>) -> PyResult<Reads> {
    let Some(bins) = bins else { return Ok((info1::GET_ALL, RawOps::default())) };
    let mut ops = RawOps::default();
    for name in bin_names(bins)? {
        bare(&mut ops, op::READ, checked_name(&name)?);
    }
    Ok((if ops.is_empty() { info1::NO_BIN_DATA } else { 0 }, ops))
}

/// Generation and expiration only.
pub(super) fn header() -> Reads {
    (info1::NO_BIN_DATA, RawOps::default())
}

/// Bins to set, a mapping with at least one pair. Raises as `request::put` does; `what` names them.
pub(crate) fn bins_to_write(bins: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<RawOps> {
    let mut ops = RawOps::default();
    add_bins_to_write(bins, what, &mut ops)?;
    Ok(ops)
}

/// [`bins_to_write`] into memory that is there.
pub(crate) fn add_bins_to_write(bins: &Bound<'_, PyAny>, what: &dyn Fn() -> String, ops: &mut RawOps) -> PyResult<()> {
    let py = bins.py();
    if !bins.is_instance_of::<PyDict>() && !bins.hasattr(intern!(py, "items"))? {
        let kind = bins.get_type();
        return Err(PyTypeError::new_err(format!("{} must be a dict of bins, not {}", what(), kind.name()?)));
    }
    let count = value::each_pair(bins, |name, value| {
        let name = name.cast::<PyString>().map_err(|_| Failed(wrong_name(name)))?;
        let text = checked_name(name).map_err(Failed)?;
        ops.push(op::WRITE, particle_type::NIL, text.as_bytes(), bin_value(text, value))
            .map_err(|refused| Failed(refused.into_py(py, &format!("bin '{text}' of {}", what()))))
    });
    let count = count.map_err(|Failed(error)| error)?;
    if count == 0 {
        return Err(errors::invalid_argument(py, format!("{} has no bins", what())));
    }
    check::count(count, "bins").map_err(|e| errors::to_py(py, &e))
}

/// Operations: what they read, the operations, and whether one of them writes.
pub(crate) fn operations(operations: &Bound<'_, PyAny>) -> PyResult<(Reads, bool)> {
    operations_behind(RawOps::default(), operations)
}

/// As [`operations`], behind bins to set.
pub(super) fn operations_behind(mut ops: RawOps, operations: &Bound<'_, PyAny>) -> PyResult<(Reads, bool)> {
    let py = operations.py();
    let sets = !ops.is_empty();
    let operations = Operations::of(operations)?;
    let (mut reads, mut all, mut header) = (false, false, false);
    for operation in operations.iter() {
        let (particle_type, value) = operation.value();
        // The name has been checked.
        let _ = ops.push(operation.kind(), particle_type, operation.name(), |out| {
            out.extend_from_slice(value);
            Ok::<_, WireError>(())
        });
        reads |= operation.what() != OperationKind::Write;
        all |= operation.what() == OperationKind::ReadAll;
        header |= operation.what() == OperationKind::ReadHeader;
    }
    let what = match (reads, all, header) {
        (false, ..) => 0,
        (true, true, _) => info1::READ | info1::GET_ALL,
        (true, false, true) => info1::READ | info1::NO_BIN_DATA,
        (true, false, false) => info1::READ,
    };
    check::count(ops.len(), "operations").map_err(|e| errors::to_py(py, &e))?;
    Ok(((what, ops), sets || operations.write()))
}

fn bare(ops: &mut RawOps, kind: u8, name: &str) {
    // The name has been checked.
    let _ = ops.push(kind, particle_type::NIL, name.as_bytes(), |_| Ok::<_, WireError>(()));
}
