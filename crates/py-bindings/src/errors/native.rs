//! What an exception carries: the error of the Rust client, taken apart when someone asks.

use std::fmt::Write as _;

use aerolane::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::classes::Classes;
use super::detail::ExpressionTrace;
use super::{codes, to_py};
use crate::key::Key;
use crate::policy::enums::Named;
use crate::txn::enums::CommitFailure;

/// The error of the Rust client behind an exception.
#[pyclass(frozen, name = "_NativeError", module = "aerolane._aerolane")]
pub(super) struct NativeError {
    pub(super) error: Error,
    /// The record that the request was about, if it was about one.
    pub(super) key: Option<Py<Key>>,
}

#[pymethods]
impl NativeError {
    /// The attributes of the exception.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Self { error, key } = self;
        let fields = PyDict::new(py);
        fields.set_item("result_code", result_code(py, code(error))?)?;
        fields.set_item("in_doubt", error.in_doubt())?;
        fields.set_item("sub_code", error.server_error_detail().map(|detail| detail.sub_code))?;
        fields.set_item("server_message", error.server_message())?;
        fields.set_item("exp_trace", trace(py, error)?)?;
        fields.set_item("node", error.node())?;
        fields.set_item("key", key.as_ref())?;
        fields.set_item("iteration", error.iteration())?;
        let earlier = error.sub_errors().iter().map(|earlier| to_py(py, earlier).into_value(py));
        fields.set_item("sub_exceptions", PyTuple::new(py, earlier.collect::<Vec<_>>())?)?;
        fields.set_item("base_message", message(error))?;
        fields.set_item("hint", error.hint())?;
        fields.set_item("phase", error.phase().to_string())?;
        fields.set_item("elapsed", error.elapsed().map(|elapsed| elapsed.as_secs_f64()))?;
        fields.set_item("loop_busy", error.loop_busy().map(|busy| busy.as_secs_f64()))?;
        fields.set_item("client", matches!(error.kind(), ErrorKind::Timeout))?;
        let answered = matches!(
            error.kind(),
            ErrorKind::Server { .. } | ErrorKind::CredentialsRefused { .. } | ErrorKind::UdfBadResponse
        );
        fields.set_item("_client", !answered)?;
        if let ErrorKind::Commit { error_type, verify_records, roll_records } = error.kind() {
            fields.set_item("commit_error_type", CommitFailure::from(error_type).to_python(py)?)?;
            fields.set_item("verify_records", outcomes(py, verify_records)?)?;
            fields.set_item("roll_records", outcomes(py, roll_records)?)?;
        }
        // Last: its presence says that the others are there.
        fields.set_item("_text", text(error, key.as_ref().map(|key| key.get().shown(py)).transpose()?.as_deref()))?;
        Ok(fields)
    }
}

/// The result code that an error has for Python: that of a failed commit is what the server said of the step that failed.
fn code(error: &Error) -> i32 {
    let of_commit = match error.kind() {
        ErrorKind::Commit { .. } => error.server_result_code(),
        _ => None,
    };
    of_commit.map_or(error.result_code(), |code| i32::from(u8::from(code)))
}

/// The `ResultCode` of a number; the number itself when no code can have it.
pub(crate) fn result_code(py: Python<'_>, code: i32) -> PyResult<Bound<'_, PyAny>> {
    let number = code.into_pyobject(py)?.into_any();
    Ok(Classes::get(py)?.result_code.bind(py).call1((&number,)).unwrap_or(number))
}

/// Digest and result code of each record, as far as a failed commit came with it.
fn outcomes<'py>(py: Python<'py>, records: &[aerolane::BatchRecord]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    records
        .iter()
        .map(|record| {
            let code = match record.result_code() {
                Some(code) => result_code(py, i32::from(u8::from(code)))?,
                None => py.None().into_bound(py),
            };
            let digest = pyo3::types::PyBytes::new(py, &record.key.digest());
            Ok((digest, code, record.in_doubt()).into_pyobject(py)?.into_any())
        })
        .collect()
}

fn trace(py: Python<'_>, error: &Error) -> PyResult<Option<Py<ExpressionTrace>>> {
    let trace = error.server_error_detail().and_then(|detail| detail.exp_trace.clone());
    trace.map(|trace| Py::new(py, ExpressionTrace(trace))).transpose()
}

/// The message alone. Of a result code without more: the text that Aerospike's clients have for it.
pub(super) fn message(error: &Error) -> String {
    error.base_message()
}

/// What `str()` shows: the message, the code, the key, where and when, and the likely cause.
fn text(error: &Error, key: Option<&str>) -> String {
    let mut text = message(error);
    if matches!(error.kind(), ErrorKind::InvalidArgument) && error.node().is_none() {
        return text;
    }
    // Writing into a String cannot fail.
    let code = code(error);
    let _ = match codes::find(code) {
        Some(row) => write!(text, " [{} {code}", row.name),
        None => write!(text, " [{code}"),
    };
    if let Some(key) = key {
        let _ = write!(text, ", {key}");
    }
    if let Some(node) = error.node() {
        let _ = write!(text, ", node {node}");
    }
    if let Some(attempts) = error.iteration() {
        let _ = write!(text, ", {attempts} attempt{}", if attempts == 1 { "" } else { "s" });
        let _ = write!(text, ", {}", error.phase());
    }
    if let Some(elapsed) = error.elapsed() {
        let _ = write!(text, ", after {elapsed:.1?}");
    }
    text.push(']');
    if error.in_doubt() {
        text.push_str("; in doubt: the write may have been applied");
    }
    if let Some(busy) = error.loop_busy() {
        let _ = write!(text, "; the event loop was busy for {busy:.1?} meanwhile");
    }
    if let Some(hint) = error.hint() {
        let _ = write!(text, "; {hint}");
    }
    text
}
