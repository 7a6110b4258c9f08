//! The settings of a writer, as keyword arguments.

use std::time::Duration;

use aerolane::WriterOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors;

/// The arguments of a writer: settings, and whom it calls back.
#[derive(Default)]
pub(super) struct WriterArguments {
    pub(super) options: WriterOptions,
    pub(super) on_outcome: Option<Py<PyAny>>,
    pub(super) on_progress: Option<Py<PyAny>>,
}

impl WriterArguments {
    /// # Errors
    /// `TypeError` for a name that is none, or a value of another type; `InvalidArgumentError` for one out of its bounds.
    pub(super) fn of(named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut said = Self::default();
        let Some(named) = named else { return Ok(said) };
        for (name, value) in named {
            let name = name.cast_into::<PyString>()?;
            said.take(name.to_str()?, &value)?;
        }
        said.options.validate().map_err(|error| errors::to_py(named.py(), &error))?;
        Ok(said)
    }

    fn take(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let options = &mut self.options;
        match name {
            "max_outstanding_records" => options.max_outstanding_records = bound(name, value)?,
            "max_outstanding_bytes" => options.max_outstanding_bytes = count(name, value)?,
            "batch_records" => options.batch_records = count(name, value)?,
            "batch_bytes" => options.batch_bytes = count(name, value)?,
            "batches_in_flight" => options.batches_in_flight = count(name, value)?,
            "linger" => options.linger = seconds(name, value)?,
            "attempt_timeout" => options.attempt_timeout = seconds(name, value)?,
            "record_ttl" => options.record_ttl = seconds(name, value)?,
            "backoff" => options.backoff = seconds(name, value)?,
            "max_backoff" => options.max_backoff = seconds(name, value)?,
            "max_retries" => options.max_retries = value.extract().map_err(|error| noted(name, value, error))?,
            "repeat_in_doubt" => options.repeat_in_doubt = flag(name, value)?,
            "failures_only" => options.failures_only = flag(name, value)?,
            "retries_per_success" => options.retries_per_success = number(name, value)?,
            "min_retries_per_second" => options.min_retries_per_second = number(name, value)?,
            "max_records_per_second" => options.max_records_per_second = rate(name, value)?,
            "max_bytes_per_second" => options.max_bytes_per_second = rate(name, value)?,
            "max_records_per_second_per_node" => options.max_records_per_second_per_node = rate(name, value)?,
            "max_bytes_per_second_per_node" => options.max_bytes_per_second_per_node = rate(name, value)?,
            "on_outcome" => self.on_outcome = callback(name, value)?,
            "on_progress" => self.on_progress = callback(name, value)?,
            other => {
                return Err(PyTypeError::new_err(format!("writer() got an unexpected keyword argument '{other}'")));
            }
        }
        Ok(())
    }
}

fn noted(name: &str, value: &Bound<'_, PyAny>, error: impl Into<PyErr>) -> PyErr {
    let error = error.into();
    // Only helps to find it.
    let _ = error.value(value.py()).call_method1("add_note", (format!("while processing '{name}'"),));
    error
}

fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract().map_err(|error: PyErr| noted(name, value, error))
}

fn bound(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if value.is_none() { Ok(None) } else { count(name, value).map(Some) }
}

fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|error: PyErr| noted(name, value, error))
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|error: PyErr| noted(name, value, error))
}

fn rate(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if value.is_none() { Ok(None) } else { number(name, value).map(Some) }
}

fn seconds(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = number(name, value)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        errors::invalid_argument(value.py(), format!("{name} of a writer must be a time in seconds, not {seconds}"))
    })
}

/// A time in seconds, or `None`.
pub(super) fn limit(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Duration>> {
    value.filter(|value| !value.is_none()).map(|value| seconds(name, value)).transpose()
}

fn callback(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    if value.is_none() {
        return Ok(None);
    }
    if !value.is_callable() {
        let kind = value.get_type();
        return Err(PyTypeError::new_err(format!("{name} must be callable, not {}", kind.name()?)));
    }
    Ok(Some(value.clone().unbind()))
}
