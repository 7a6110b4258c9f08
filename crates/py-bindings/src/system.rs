//! Settings of a whole cluster that sessions read at run time, unlike those of `ClientPolicy`, which hold from the start.

use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::policy::kinds::{Kind, Maybe, Span, Switch, Within, wrong_type};

/// `TransactionSettings`: what a program says; `None` leaves it to the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TransactionSettings {
    pub(crate) implicit_batch_write_transactions: Option<bool>,
    pub(crate) sleep_between_attempts: Option<Duration>,
    pub(crate) number_of_attempts: Option<u32>,
}

/// A number of attempts.
type Attempts = Within<1, { u32::MAX as i64 }>;

impl TransactionSettings {
    /// Reads the attributes of a Python `TransactionSettings`.
    ///
    /// Raises `TypeError` for values of a wrong type, and `InvalidArgumentError` for those out of bounds.
    pub(crate) fn from_python(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = settings.py();
        if !settings.is_instance(&class(py)?)? {
            return Err(wrong_type(settings, "transactions", "a TransactionSettings"));
        }
        let implicit = settings.getattr(intern!(py, "implicit_batch_write_transactions"))?;
        let sleep = settings.getattr(intern!(py, "sleep_between_attempts"))?;
        let attempts = settings.getattr(intern!(py, "number_of_attempts"))?;
        Ok(Self {
            implicit_batch_write_transactions: Maybe::<Switch>::set(&implicit, "implicit_batch_write_transactions")?,
            sleep_between_attempts: Maybe::<Span>::set(&sleep, "sleep_between_attempts")?,
            number_of_attempts: Maybe::<Attempts>::set(&attempts, "number_of_attempts")?,
        })
    }

    /// The settings in force: these, and the defaults where they say nothing.
    pub(crate) fn in_force(self) -> TransactionRules {
        let default = TransactionRules::default();
        TransactionRules {
            implicit_batch_writes: self.implicit_batch_write_transactions.unwrap_or(default.implicit_batch_writes),
            sleep_between_attempts: self.sleep_between_attempts.unwrap_or(default.sleep_between_attempts),
            attempts: self.number_of_attempts.unwrap_or(default.attempts),
        }
    }
}

fn class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import(intern!(py, "aerolane.system_settings"))?.getattr(intern!(py, "TransactionSettings"))
}

/// How sessions carry out transactions that they begin and end themselves: `do_in_transaction`, and batches of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionRules {
    /// Whether a batch that writes several records of a strongly consistent namespace, outside of a transaction, becomes
    /// a transaction of its own.
    pub(crate) implicit_batch_writes: bool,
    /// The mean pause before another attempt.
    pub(crate) sleep_between_attempts: Duration,
    /// The most attempts, with the first one: 1 or more.
    pub(crate) attempts: u32,
}

impl TransactionRules {
    /// A Python `TransactionSettings` with all of them.
    pub(crate) fn to_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let fields = PyDict::new(py);
        fields.set_item("implicit_batch_write_transactions", self.implicit_batch_writes)?;
        fields.set_item("sleep_between_attempts", self.sleep_between_attempts)?;
        fields.set_item("number_of_attempts", self.attempts)?;
        Ok(class(py)?.call((), Some(&fields))?.unbind())
    }
}

impl Default for TransactionRules {
    /// As in the SDK of Aerospike (1.0).
    fn default() -> Self {
        Self { implicit_batch_writes: true, sleep_between_attempts: Duration::from_millis(20), attempts: 10 }
    }
}

/// Checks a Python `TransactionSettings`.
#[pyfunction]
fn _check_transaction_settings(settings: &Bound<'_, PyAny>) -> PyResult<()> {
    TransactionSettings::from_python(settings).map(drop)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_check_transaction_settings, module)?)
}
