//! Transactions over several records.
//!
//! The object is aerospike-core's; calls whose policy names one, and its end, are ours ([`aerolane::client`]).
//!
//! * this module: the transaction itself, as an object and as a property of policies
//! * [`enums`]: states and outcomes; [`commands`]: commit and abort; [`retry`]: which failures are worth another attempt

pub(crate) mod commands;
pub(crate) mod enums;
pub(crate) mod retry;

use std::sync::Arc;
use std::time::Duration;

use aerolane::sync::Mutex;
use aerospike_core as core;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors;
use crate::policy::enums::Named;
use crate::policy::kinds::{Kind, whole_number, wrong_type};

/// A transaction over several records of one namespace (Enterprise Edition, namespaces in strong-consistency mode).
///
/// Calls join it by `txn=...`, or by the property `txn` of their policy; `client.commit` and `client.abort` end it. All
/// single-record calls and all batches can be part of a transaction; queries cannot. Two objects are equal if they
/// stand for the same transaction.
///
/// `timeout`: how many seconds the server keeps it open. 0 (the default): as configured on the server, by default 10.
#[pyclass(frozen, module = "aerolane.native")]
pub(crate) struct Txn(Mutex<Arc<core::Txn>>);

impl Txn {
    fn over(txn: Arc<core::Txn>) -> Self {
        Self(Mutex::new(txn))
    }

    /// A new one.
    pub(crate) fn open() -> Self {
        Self::over(Arc::new(core::Txn::new()))
    }

    /// Whether it takes no more calls.
    pub(crate) fn is_over(&self) -> bool {
        is_over(&self.shared())
    }

    pub(crate) fn shared(&self) -> Arc<core::Txn> {
        Arc::clone(&self.0.lock())
    }

    /// As an object, or `None`.
    pub(crate) fn or_none(py: Python<'_>, txn: Option<&Arc<core::Txn>>) -> PyResult<Py<PyAny>> {
        match txn {
            None => Ok(py.None()),
            Some(txn) => Ok(Py::new(py, Self::over(Arc::clone(txn)))?.into_any()),
        }
    }

    /// The transaction that an argument or a property is.
    pub(crate) fn from_python(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Arc<core::Txn>> {
        match value.cast::<Self>() {
            Ok(txn) => Ok(txn.get().shared()),
            Err(_) => Err(wrong_type(value, what, "a Txn or None")),
        }
    }
}

/// Whether a transaction takes no more calls.
pub(crate) fn is_over(txn: &core::Txn) -> bool {
    matches!(txn.state(), core::TxnState::Committed | core::TxnState::Aborted)
}

/// Refuses a transaction that has ended.
///
/// # Errors
/// `TransactionError` with the code `TXN_ALREADY_COMMITTED` or `TXN_ALREADY_ABORTED`.
pub(crate) fn check_open(py: Python<'_>, txn: &core::Txn) -> PyResult<()> {
    let (code, how) = match txn.state() {
        core::TxnState::Committed => (core::ClientResultCode::TxnAlreadyCommitted, "committed"),
        core::TxnState::Aborted => (core::ClientResultCode::TxnAlreadyAborted, "aborted"),
        _ => return Ok(()),
    };
    let text = format!("Transaction already {how}; start a new transaction for further operations");
    Err(errors::of_client_code(py, code, &text))
}

fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    Ok(Duration::from_secs(whole_number(value, "timeout", 0, i64::from(u32::MAX))? as u64))
}

#[pymethods]
impl Txn {
    #[new]
    #[pyo3(signature = (*, timeout=None))]
    fn new(timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let timeout = timeout.map_or(Ok(Duration::ZERO), seconds)?;
        Ok(Self::over(Arc::new(core::Txn::new().with_timeout(timeout))))
    }

    /// The number of the transaction, chosen by the client. Not 0.
    #[getter]
    fn id(&self) -> i64 {
        self.shared().id()
    }

    /// The state of the transaction.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.shared().state().to_python(py)
    }

    /// For tests, which need a transaction that has ended: commits and aborts set the state by themselves. Raises
    /// `TypeError` for what is no `TxnState`.
    #[setter]
    fn set_state(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.shared().set_state(core::TxnState::from_python(value, "state")?);
        Ok(())
    }

    /// Whether a commit or an abort failed without telling what the server did.
    #[getter]
    fn in_doubt(&self) -> bool {
        self.shared().in_doubt()
    }

    /// How many seconds the server keeps it open; 0: as configured on the server. It can be set until the transaction's
    /// first call; after that, setting it raises `InvalidArgumentError`.
    #[getter]
    fn timeout(&self) -> u64 {
        aerolane::raw::txn_timeout(&self.shared()).as_secs()
    }

    #[setter(timeout)]
    fn set_timeout(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let timeout = seconds(value)?;
        // What a session, a policy or a call has is shared.
        if let Some(txn) = Arc::get_mut(&mut self.0.lock()) {
            txn.set_timeout(timeout);
            return Ok(());
        }
        aerolane::raw::set_txn_timeout(&self.shared(), timeout).map_err(|e| errors::to_py(value.py(), &e))
    }

    /// The namespace of its records; `None` before the first call and after the end.
    #[getter]
    fn namespace(&self) -> Option<String> {
        aerolane::raw::txn_namespace(&self.shared())
    }

    fn __hash__(&self) -> u64 {
        self.shared().id().cast_unsigned()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.shared().id() == other.shared().id()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    #[allow(clippy::unused_self)] // a method of Python
    fn __reduce__(&self) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err("a transaction belongs to one process and cannot be pickled"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let txn = self.shared();
        let state = txn.state().to_python(py)?;
        Ok(format!("<Txn {}, {}>", txn.id(), state.bind(py).getattr("name")?))
    }
}

/// A property that is a `Txn` or None.
pub(crate) struct OfTxn;

impl Kind<Option<Arc<core::Txn>>> for OfTxn {
    fn get(py: Python<'_>, value: &Option<Arc<core::Txn>>) -> PyResult<Py<PyAny>> {
        Txn::or_none(py, value.as_ref())
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Arc<core::Txn>>> {
        if value.is_none() { Ok(None) } else { Txn::from_python(value, what).map(Some) }
    }
}

/// Refuses a policy with a transaction where there can be none: it is never left out silently.
pub(crate) fn refuse(py: Python<'_>, policy: &core::BasePolicy, what: &str) -> PyResult<()> {
    if policy.txn.is_none() {
        return Ok(());
    }
    let text = format!("{what} cannot belong to a transaction: its policy must have txn=None");
    Err(errors::invalid_argument(py, text))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    enums::register(module)?;
    module.add_class::<Txn>()
}
