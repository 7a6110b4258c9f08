//! `AelParseException`.

use aerolane::ael::{AelError, AelErrorKind};
use aerospike_core::ResultCode;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::errors;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

const DOC: &str = "The text is not valid in the Aerospike Expression Language, or cannot be compiled.

`str()` shows what is wrong, the place, and the line with a caret under the place.

Attributes: `reason` (what is wrong, without the place), `line` and `column` (from 1), `offset` (in bytes of UTF-8, from
0), `excerpt` (the line of the text, and below it carets), `kind` (\"syntax\", \"type\", \"parameter\", \"limit\",
\"unsupported\" or \"version\"), `needs` (the server version that can do it, as in \"8.2\", or None).";

/// The exception for an error of the compiler.
pub(super) fn to_py(py: Python<'_>, error: &AelError) -> PyErr {
    make(py, error).unwrap_or_else(|failed| failed)
}

fn make(py: Python<'_>, error: &AelError) -> PyResult<PyErr> {
    let class = class(py)?;
    let fields = PyDict::new(py);
    // What the server answers for such a text.
    fields.set_item("result_code", errors::result_code(py, i32::from(u8::from(ResultCode::ParameterError)))?)?;
    let exception = class.call((error.to_string(),), Some(&fields))?;
    exception.setattr("reason", error.message())?;
    exception.setattr("line", error.line())?;
    exception.setattr("column", error.column())?;
    exception.setattr("offset", error.offset())?;
    exception.setattr("excerpt", error.excerpt())?;
    let kind = match error.kind() {
        AelErrorKind::Syntax => "syntax",
        AelErrorKind::Type => "type",
        AelErrorKind::Parameter => "parameter",
        AelErrorKind::Limit => "limit",
        AelErrorKind::Version => "version",
        // Also kinds that are added later.
        _ => "unsupported",
    };
    exception.setattr("kind", kind)?;
    exception.setattr("needs", error.needs().map(|version| version.to_string()))?;
    Ok(PyErr::from_value(exception))
}

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let class = CLASS.get_or_try_init(py, || {
        let base = py.import("aerolane._aerolane")?.getattr("InvalidArgumentError")?;
        of_base(&base)
    })?;
    Ok(class.bind(py))
}

fn of_base(base: &Bound<'_, PyAny>) -> PyResult<Py<PyType>> {
    let py = base.py();
    let fields = PyDict::new(py);
    fields.set_item("__module__", "aerolane.ael")?;
    fields.set_item("__doc__", DOC)?;
    for name in ["reason", "line", "column", "offset", "excerpt", "kind", "needs"] {
        // For one that a program makes itself.
        fields.set_item(name, py.None())?;
    }
    let class = py.get_type::<PyType>().call1(("AelParseException", (base,), fields))?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let class = CLASS.get_or_try_init(py, || of_base(&module.getattr("InvalidArgumentError")?))?;
    module.add("AelParseException", class)
}
