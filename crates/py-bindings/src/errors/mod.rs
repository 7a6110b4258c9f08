//! Exceptions, and how the errors of the Rust client become them.
//!
//! * [`codes`]: the result codes, with the exception of each
//! * [`classes`]: the exception classes
//! * [`native`]: the attributes of an exception
//! * [`detail`]: what servers tell beside the result code
//!
//! A missing record is a common answer, so an exception is made without running Python code and without formatting
//! anything: it takes its class, a message that stands ready, and the error itself.

mod classes;
mod codes;
mod detail;
mod native;

use aerolane::{Error, ErrorKind};
use aerolane_wire::WireError;
use aerospike_core::ClientResultCode;
use pyo3::exceptions::{PyBaseException, PySystemError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use classes::{Classes, Family};
use native::NativeError;
pub(crate) use native::result_code;

use crate::key::Key;

/// The exception for an error of the client.
pub(crate) fn to_py(py: Python<'_>, error: &Error) -> PyErr {
    make(py, error).unwrap_or_else(|failed| failed)
}

/// The exception for the failure of a request about one record: it names the record's key.
pub(crate) fn of_record(py: Python<'_>, error: &Error, key: &Py<Key>) -> PyErr {
    make_as(py, error, family(error), Some(key.clone_ref(py))).unwrap_or_else(|failed| failed)
}

/// The exception for a batch that has failed as a whole, with its rows as `records`.
pub(crate) fn batch_to_py(py: Python<'_>, error: &Error, rows: &Bound<'_, PyAny>) -> PyErr {
    let family = match family(error) {
        Family::TimeoutError => Family::BatchTimeoutError,
        Family::ConnectionError | Family::IoError => Family::BatchConnectionError,
        Family::PoolExhaustedError => Family::BatchPoolExhaustedError,
        Family::MaxErrorRateError => Family::BatchMaxErrorRateError,
        family => family,
    };
    let made = make_as(py, error, family, None).and_then(|exception| {
        let value = exception.value(py);
        value.setattr(intern!(py, "records"), rows)?;
        value.setattr(intern!(py, "batch_records"), rows)?;
        Ok(exception)
    });
    made.unwrap_or_else(|failed| failed)
}

/// The exception for rows of a batch that have failed, which it has as `records`.
pub(crate) fn rows_failed(py: Python<'_>, error: &Error, rows: &Bound<'_, PyAny>) -> PyErr {
    let made = make(py, error).and_then(|exception| {
        let value = exception.value(py);
        value.setattr(intern!(py, "records"), rows)?;
        value.setattr(intern!(py, "batch_records"), rows)?;
        Ok(exception)
    });
    made.unwrap_or_else(|failed| failed)
}

/// The exception for an answer that cannot be understood.
pub(crate) fn malformed(py: Python<'_>, error: &WireError) -> PyErr {
    to_py(py, &Error::bad_response(format!("the answer is malformed: {error}")))
}

/// The exception for a text that is no base64 of what it is to be (`Base64DecodeError`, a `ValueError`).
pub(crate) fn no_base64(py: Python<'_>, message: impl Into<String>) -> PyErr {
    make_as(py, &Error::invalid_argument(message.into()), Family::Base64DecodeError, None)
        .unwrap_or_else(|failed| failed)
}

/// The exception for an argument that cannot be used (`InvalidArgumentError`, a `ValueError`).
pub(crate) fn invalid_argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_py(py, &Error::invalid_argument(message.into()))
}

/// The exception for a result code of the client, with a message of its own.
pub(crate) fn of_client_code(py: Python<'_>, code: ClientResultCode, message: &str) -> PyErr {
    let code = i32::from(code);
    let made = Classes::get(py).and_then(|classes| {
        let fields = PyDict::new(py);
        fields.set_item(intern!(py, "result_code"), result_code(py, code)?)?;
        classes.class(codes::family(code)).python.bind(py).call((message,), Some(&fields))
    });
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Whether an exception is an `AerospikeError`.
pub(crate) fn is_ours(py: Python<'_>, error: &PyErr) -> bool {
    is_of(py, error, Family::AerospikeError)
}

/// Whether an exception is a `CommitError`.
pub(crate) fn is_commit_error(py: Python<'_>, error: &PyErr) -> bool {
    is_of(py, error, Family::CommitError)
}

fn is_of(py: Python<'_>, error: &PyErr, family: Family) -> bool {
    Classes::get(py).is_ok_and(|classes| error.is_instance(py, classes.class(family).python.bind(py)))
}

fn make(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    make_as(py, error, family(error), None)
}

fn make_as(py: Python<'_>, error: &Error, family: Family, key: Option<Py<Key>>) -> PyResult<PyErr> {
    let classes = Classes::get(py)?;
    let class = classes.class(family);
    let exception = match error.kind() {
        ErrorKind::Server { rc, detail: None } if error.cause().is_none() && !error.has_message() => {
            class.instance(py, classes.arguments(py, u8::from(*rc)))?
        }
        _ => class.instance(py, &PyTuple::new(py, [native::message(error)])?)?,
    };
    exception.setattr(intern!(py, "_error"), Py::new(py, NativeError { error: error.clone(), key })?)?;
    if let Some(cause) = error.cause() {
        exception.setattr(intern!(py, "__cause__"), to_py(py, cause).into_value(py))?;
    }
    if !exception.is_instance_of::<PyBaseException>() {
        return Err(PySystemError::new_err("an exception class makes other objects"));
    }
    Ok(PyErr::from_value(exception))
}

/// The class of an error.
fn family(error: &Error) -> Family {
    match error.kind() {
        ErrorKind::Timeout => Family::TimeoutError,
        ErrorKind::Connection | ErrorKind::ConnectFailed { .. } => Family::ConnectionError,
        ErrorKind::Io(_) => Family::IoError,
        ErrorKind::ConnectionPoolEmpty | ErrorKind::NoMoreConnections | ErrorKind::PoolExhausted { .. } => {
            Family::PoolExhaustedError
        }
        ErrorKind::AnswerTooLarge { .. } => Family::CapacityError,
        ErrorKind::MaxErrorRate => Family::MaxErrorRateError,
        ErrorKind::InvalidNode | ErrorKind::ClusterNameMismatch { .. } => Family::InvalidNodeError,
        ErrorKind::InvalidNamespace => Family::InvalidNamespaceError,
        ErrorKind::InvalidArgument => Family::InvalidArgumentError,
        ErrorKind::ParseAddr(_) => Family::ParseAddressError,
        ErrorKind::BadResponse | ErrorKind::ParsePeers => Family::BadResponseError,
        ErrorKind::InvalidUtf8(_) => Family::InvalidUTF8,
        ErrorKind::ParseInt(_) => Family::ParseIntError,
        ErrorKind::UdfBadResponse => Family::UdfError,
        ErrorKind::StreamTerminated => Family::QueryTerminatedError,
        ErrorKind::Commit { .. } => Family::CommitError,
        ErrorKind::ClientClosed => Family::ClientClosedError,
        ErrorKind::RecordExpired => Family::ExpiredError,
        ErrorKind::WriterClosed => Family::WriterClosedError,
        ErrorKind::RecordTooBig { .. } => Family::RecordTooBigError,
        ErrorKind::CredentialsRefused { rc, .. } => match codes::family(i32::from(u8::from(*rc))) {
            family @ (Family::SecurityError
            | Family::SecurityNotEnabled
            | Family::NotAuthenticated
            | Family::AuthorizationError) => family,
            _ => Family::AuthenticationError,
        },
        // Also kinds that are added later: their code tells enough.
        _ => codes::family(error.result_code()),
    }
}

/// Makes an enumeration of the package.
pub(crate) fn make_enum<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    members: Vec<(&str, Bound<'py, PyAny>)>,
    numbered: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let base = Classes::get(py)?.base.bind(py);
    base.getattr(intern!(py, "make_enum"))?.call1((name, doc, members, numbered))
}

/// Makes an enumeration of flags; `of_a_byte`: they have names of their own, and `~` gives the other flags of a byte.
pub(crate) fn make_flags<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    members: Vec<(&str, Bound<'py, PyAny>)>,
    of_a_byte: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let base = Classes::get(py)?.base.bind(py);
    base.getattr(intern!(py, "make_flags"))?.call1((name, doc, members, of_a_byte))
}

/// The exception that the client raises for a result code, for tests and for code that converts errors of other
/// clients. `result_code`: any number from -128 to 255.
#[pyfunction]
#[pyo3(signature = (result_code, message=None, *, in_doubt=false))]
fn error_from_code<'py>(
    py: Python<'py>,
    result_code: i32,
    message: Option<&str>,
    in_doubt: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let classes = Classes::get(py)?;
    let class = classes.class(codes::family(result_code)).python.bind(py);
    let code = classes.result_code.bind(py).call1((result_code,))?;
    let message = match message {
        Some(message) => message.into_pyobject(py)?.into_any(),
        None => code.getattr("description")?,
    };
    let fields = PyDict::new(py);
    fields.set_item("result_code", code)?;
    fields.set_item("in_doubt", in_doubt)?;
    class.call((message,), Some(&fields))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let classes = Classes::get(py)?;
    for (name, class) in classes.named() {
        module.add(name, class)?;
    }
    module.add("ResultCode", &classes.result_code)?;
    module.add("_restore", classes.base.bind(py).getattr("_restore")?)?;
    module.add_class::<NativeError>()?;
    detail::register(module)?;
    module.add_function(wrap_pyfunction!(error_from_code, module)?)
}
