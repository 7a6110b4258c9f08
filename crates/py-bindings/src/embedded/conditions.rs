//! Conditions of an embedded cluster: from Python's words to settings, and back.

use std::time::Duration;

use aerolane_embedded::conditions::{Conditions, ConditionsError, Latency, ServiceTime, ServiceTimes};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyMapping, PyString};

/// The conditions for these arguments; what is not given has its default.
pub(super) fn conditions(
    service_time: Option<&Bound<'_, PyAny>>,
    in_service: usize,
    latency: Option<&Bound<'_, PyAny>>,
    seed: u64,
) -> PyResult<Conditions> {
    let mut conditions = Conditions::new().in_service(in_service).seed(seed);
    if let Some(times) = service_time {
        conditions = conditions.service_times(service_times(times)?);
    }
    if let Some(latency) = latency {
        let Latency { one_way, jitter } = match Time::new(latency, "latency")? {
            Time::Text(text) => text.parse().map_err(|error| to_py("latency", &error))?,
            Time::Seconds(one_way) => Latency { one_way, ..Latency::ZERO },
        };
        conditions = conditions.latency(one_way).jitter(jitter);
    }
    conditions.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(conditions)
}

/// Conditions as keyword arguments that make the same conditions.
pub(super) fn arguments<'py>(py: Python<'py>, conditions: &Conditions) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    arguments.set_item("service_time", conditions.times().to_string())?;
    arguments.set_item("in_service", conditions.limit())?;
    arguments.set_item("latency", conditions.network().to_string())?;
    arguments.set_item("seed", conditions.first_seed())?;
    Ok(arguments)
}

/// One text or one time for all kinds of requests, or a mapping of kinds to times.
fn service_times(times: &Bound<'_, PyAny>) -> PyResult<ServiceTimes> {
    let told = |error| to_py("service_time", &error);
    let Ok(mapping) = times.cast::<PyMapping>() else {
        return match Time::new(times, "service_time")? {
            Time::Text(text) => text.parse().map_err(told),
            Time::Seconds(time) => Ok(ServiceTimes::all(&ServiceTime::fixed(time))),
        };
    };
    let mut pairs = Vec::new();
    for item in mapping.items()? {
        let (kind, time) = item.extract::<(String, Bound<'_, PyAny>)>()?;
        let time = match Time::new(&time, "service_time")? {
            Time::Text(text) => text.parse().map_err(told)?,
            Time::Seconds(time) => ServiceTime::fixed(time),
        };
        pairs.push((kind, time));
    }
    ServiceTimes::from_pairs(pairs.iter().map(|(kind, time)| (kind.as_str(), time.clone()))).map_err(told)
}

/// What stands for a time in Python.
enum Time {
    /// In the grammar of the command line.
    Text(String),
    /// A number of seconds.
    Seconds(Duration),
}

impl Time {
    fn new(value: &Bound<'_, PyAny>, argument: &str) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Self::Text(text.extract()?));
        }
        if !value.is_instance_of::<PyFloat>() && !value.is_instance_of::<PyInt>() {
            let kind = value.get_type();
            let text = format!("{argument}: expected a str such as \"80us\" or seconds, not {}", kind.name()?);
            return Err(PyTypeError::new_err(text));
        }
        let seconds: f64 = value.extract()?;
        Duration::try_from_secs_f64(seconds).map(Self::Seconds).map_err(|_| {
            PyValueError::new_err(format!("{argument}: {seconds} s is not a duration: expected 0 s to 10 minutes"))
        })
    }
}

fn to_py(argument: &str, error: &ConditionsError) -> PyErr {
    PyValueError::new_err(format!("{argument}: {error}"))
}
