//! The operations of one verb, encoded.

use aerolane::raw::RawOps;
use aerolane::raw::command::check;
use aerolane::raw::command::encode::OperateHeader;
use aerolane_wire::WireError;
use aerolane_wire::message::{info1, op};
use aerolane_wire::particle::particle_type;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;
use crate::operation::{self, BaseOperation, OperationKind, checked_name};
use crate::request::{Failed, bin_value, wrong_name};
use crate::value;

/// Encoded operations, and what they ask of their request.
#[derive(Default)]
pub(super) struct Ops {
    pub(super) raw: RawOps,
    pub(super) asked: OperateHeader,
    /// One of them answers with something: the record is one of results.
    pub(super) results: bool,
}

/// Room in the buffer in which operations of this thread are encoded.
fn room() -> RawOps {
    RawOps::in_buffer(operation::scratch())
}

impl Ops {
    pub(super) fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Gives their memory to the next ones of this thread.
    pub(super) fn recycle(self) {
        operation::keep(self.raw.into_buffer());
    }

    /// Bins to set: a mapping with at least one pair.
    pub(super) fn of_bins(bins: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = bins.py();
        if !bins.is_instance_of::<PyDict>() && !bins.hasattr(intern!(py, "items"))? {
            let kind = bins.get_type();
            return Err(PyTypeError::new_err(format!("put() takes a dict of bins, not {}", kind.name()?)));
        }
        let mut raw = room();
        let count = value::each_pair(bins, |name, value| {
            let name = name.cast::<PyString>().map_err(|_| Failed(wrong_name(name)))?;
            let text = checked_name(name).map_err(Failed)?;
            raw.push(op::WRITE, particle_type::NIL, text.as_bytes(), bin_value(text, value))
                .map_err(|refused| Failed(refused.into_py(py, &format!("bin '{text}'"))))
        });
        let count = count.map_err(|Failed(error)| error)?;
        if count == 0 {
            return Err(errors::invalid_argument(py, "put() takes at least one bin: remove_bin(name) removes one"));
        }
        check::count(count, "bins").map_err(|e| errors::to_py(py, &e))?;
        Ok(Self { raw, asked: OperateHeader { writes: true, ..OperateHeader::default() }, results: false })
    }

    /// One operation.
    pub(super) fn of(operation: &BaseOperation) -> Self {
        let mut ops = Self { raw: room(), ..Self::default() };
        let (particle_type, value) = operation.value();
        // The name has been checked.
        let _ = ops.raw.push(operation.kind(), particle_type, operation.name(), |out| {
            out.extend_from_slice(value);
            Ok::<_, WireError>(())
        });
        match operation.what() {
            OperationKind::ReadAll => ops.asked.read(info1::GET_ALL),
            OperationKind::ReadHeader => ops.asked.read(info1::NO_BIN_DATA),
            OperationKind::Read => ops.asked.read(0),
            OperationKind::Write => ops.asked.writes = true,
        }
        ops.asked.all_answers = operation.answers();
        ops.results =
            !matches!(operation.kind(), op::WRITE | op::INCR | op::APPEND | op::PREPEND | op::TOUCH | op::DELETE);
        ops
    }

    /// Puts others behind them.
    pub(super) fn add(&mut self, py: Python<'_>, others: Self) -> PyResult<()> {
        if self.is_empty() {
            *self = others;
            return Ok(());
        }
        check::count(self.raw.len() + others.raw.len(), "operations").map_err(|e| errors::to_py(py, &e))?;
        self.raw.append(&others.raw);
        self.asked.reads |= others.asked.reads;
        self.asked.writes |= others.asked.writes;
        self.asked.all_answers |= others.asked.all_answers;
        self.results |= others.results;
        others.recycle();
        Ok(())
    }
}
