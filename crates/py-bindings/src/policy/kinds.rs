//! Kinds of properties: what Python sees of a field, and what it may be set to.

use std::time::Duration;

use aerospike_core::expressions::Expression;
use aerospike_core::{Expiration as CoreExpiration, ReadTouchTtl};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyDict, PyFloat, PyInt, PyString};

use super::enums::Named;
use super::expiration::Expiration;
use crate::errors;
use crate::expression::{Exp, FilterExpression};

/// How a field of Rust type `T` is seen from Python.
pub(crate) trait Kind<T> {
    /// The value for Python.
    fn get(py: Python<'_>, value: &T) -> PyResult<Py<PyAny>>;
    /// The value from Python; `what` names the property.
    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<T>;
}

/// A whole number within bounds. Raises `TypeError` for what is no int, `InvalidArgumentError` for one out of bounds.
pub(crate) fn whole_number(value: &Bound<'_, PyAny>, what: &str, least: i64, most: i64) -> PyResult<i64> {
    // bool is an int to Python, and a slip here. Whatever else has an index (numpy's integers) will do.
    if value.is_instance_of::<PyBool>() || !(value.is_instance_of::<PyInt>() || value.hasattr("__index__")?) {
        return Err(wrong_type(value, what, "an int"));
    }
    match value.extract::<i64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(errors::invalid_argument(value.py(), format!("{what} is {value}, it must be {least} to {most}"))),
    }
}

/// An int from 1 on.
pub(crate) fn at_least_one(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u64> {
    whole_number(value, what, 1, i64::MAX).map(|number| number as u64)
}

/// A generation that a record can have.
pub(crate) fn generation(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole_number(value, "generation", 1, i64::from(u16::MAX)).map(|number| number as u32)
}

/// The `TypeError` of a property.
pub(crate) fn wrong_type(value: &Bound<'_, PyAny>, what: &str, wanted: &str) -> PyErr {
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("{what} must be {wanted}, not {name}")),
        Err(error) => error,
    }
}

/// An int of 0 to `MOST`.
pub(crate) type UpTo<const MOST: i64> = Within<0, MOST>;
/// Milliseconds in 32 bits.
pub(crate) type Millis = UpTo<{ u32::MAX as i64 }>;
/// A number in 32 bits.
pub(crate) type Number = UpTo<{ u32::MAX as i64 }>;
/// A number in 63 bits.
pub(crate) type Long = UpTo<{ i64::MAX }>;

/// An int of `LEAST` to `MOST`, neither of them negative.
pub(crate) struct Within<const LEAST: i64, const MOST: i64>;

macro_rules! within {
    ($($int:ty),*) => {$(
        impl<const LEAST: i64, const MOST: i64> Kind<$int> for Within<LEAST, MOST> {
            fn get(py: Python<'_>, value: &$int) -> PyResult<Py<PyAny>> {
                value.into_py_any(py)
            }

            fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<$int> {
                Ok(whole_number(value, what, LEAST, MOST)? as $int)
            }
        }
    )*};
}
within!(u8, u32, u64, usize);

/// A bool.
pub(crate) struct Switch;

impl Kind<bool> for Switch {
    fn get(py: Python<'_>, value: &bool) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<bool> {
        value.cast::<PyBool>().map(PyBoolMethods::is_true).map_err(|_| wrong_type(value, what, "a bool"))
    }
}

/// A number that multiplies: 0 or more.
pub(crate) struct Factor;

impl Kind<f64> for Factor {
    fn get(py: Python<'_>, value: &f64) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
        if value.is_instance_of::<PyBool>() || !(value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>()) {
            return Err(wrong_type(value, what, "a float"));
        }
        match value.extract::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(errors::invalid_argument(value.py(), format!("{what} is {value}, it must be 0 or more"))),
        }
    }
}

/// A member of an enumeration.
pub(crate) struct Member;

impl<T: Named> Kind<T> for Member {
    fn get(py: Python<'_>, value: &T) -> PyResult<Py<PyAny>> {
        value.to_python(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<T> {
        T::from_python(value, what)
    }
}

/// An `Expiration`.
pub(crate) struct Expires;

impl Kind<CoreExpiration> for Expires {
    fn get(py: Python<'_>, value: &CoreExpiration) -> PyResult<Py<PyAny>> {
        Expiration(*value).into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<CoreExpiration> {
        let value = value.cast::<Expiration>().map_err(|_| wrong_type(value, what, "an Expiration"))?;
        Ok(value.get().0)
    }
}

/// A percentage, 0 for the server's default, -1 for "reads do not touch".
pub(crate) struct TouchTtl;

impl Kind<ReadTouchTtl> for TouchTtl {
    fn get(py: Python<'_>, value: &ReadTouchTtl) -> PyResult<Py<PyAny>> {
        match value {
            ReadTouchTtl::Percent(percent) => i32::from(*percent),
            ReadTouchTtl::ServerDefault => 0,
            ReadTouchTtl::DontReset => -1,
        }
        .into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<ReadTouchTtl> {
        Ok(match whole_number(value, what, -1, 100)? {
            -1 => ReadTouchTtl::DontReset,
            0 => ReadTouchTtl::ServerDefault,
            percent => ReadTouchTtl::Percent(percent as u8),
        })
    }
}

/// A filter expression, or None.
pub(crate) struct Filter;

impl Kind<Option<Expression>> for Filter {
    fn get(py: Python<'_>, value: &Option<Expression>) -> PyResult<Py<PyAny>> {
        match value {
            None => Ok(py.None()),
            Some(expression) => Ok(Py::new(py, FilterExpression::from_core(py, expression)?)?.into_any()),
        }
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Expression>> {
        if value.is_none() {
            return Ok(None);
        }
        let expression = value.extract::<Exp>().map_err(|error| {
            let of_type = error.is_instance_of::<PyTypeError>(value.py());
            if of_type { wrong_type(value, what, "a FilterExpression or None") } else { error }
        })?;
        Ok(Some(expression.to_core()))
    }
}

/// What `K` is, or None.
pub(crate) struct Maybe<K>(K);

impl<T, K: Kind<T>> Kind<Option<T>> for Maybe<K> {
    fn get(py: Python<'_>, value: &Option<T>) -> PyResult<Py<PyAny>> {
        value.as_ref().map_or_else(|| Ok(py.None()), |value| K::get(py, value))
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<T>> {
        if value.is_none() { Ok(None) } else { K::set(value, what).map(Some) }
    }
}

/// A timedelta: 0 to 4,294,967,295 ms.
pub(crate) struct Span;

impl Kind<Duration> for Span {
    fn get(py: Python<'_>, value: &Duration) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Duration> {
        if !value.is_instance_of::<PyDelta>() {
            return Err(wrong_type(value, what, "a timedelta"));
        }
        match value.extract::<Duration>() {
            Ok(span) if span <= Duration::from_millis(u64::from(u32::MAX)) => Ok(span),
            _ => {
                Err(errors::invalid_argument(value.py(), format!("{what} is {value}, it must be 0 to {} ms", u32::MAX)))
            }
        }
    }
}

/// A str, or None.
pub(crate) struct Text;

impl Kind<Option<String>> for Text {
    fn get(py: Python<'_>, value: &Option<String>) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<String>> {
        if value.is_none() {
            return Ok(None);
        }
        let text = value.cast::<PyString>().map_err(|_| wrong_type(value, what, "a str or None"))?;
        Ok(Some(text.to_cow()?.into_owned()))
    }
}

/// Rack numbers in order of preference, or None.
pub(crate) struct Racks;

impl Kind<Option<Vec<usize>>> for Racks {
    fn get(py: Python<'_>, value: &Option<Vec<usize>>) -> PyResult<Py<PyAny>> {
        value.into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<Vec<usize>>> {
        if value.is_none() {
            return Ok(None);
        }
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            return Err(wrong_type(value, what, "a list of ints or None"));
        }
        let mut racks = Vec::new();
        for rack in value.try_iter().map_err(|_| wrong_type(value, what, "a list of ints or None"))? {
            racks.push(whole_number(&rack?, &format!("an item of {what}"), 0, 1_000_000)? as usize);
        }
        if racks.is_empty() {
            let text = format!("{what} is empty: use None for no preference");
            return Err(errors::invalid_argument(value.py(), text));
        }
        Ok(Some(racks))
    }
}

/// Addresses and what to use in their place, or None.
pub(crate) struct Addresses;

type AddressMap = std::collections::HashMap<String, String>;

impl Kind<Option<AddressMap>> for Addresses {
    fn get(py: Python<'_>, value: &Option<AddressMap>) -> PyResult<Py<PyAny>> {
        value.clone().into_py_any(py)
    }

    fn set(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<AddressMap>> {
        if value.is_none() {
            return Ok(None);
        }
        let wrong = || wrong_type(value, what, "a dict of str to str, or None");
        let dict = value.cast::<PyDict>().map_err(|_| wrong())?;
        dict.extract().map(Some).map_err(|_| {
            PyTypeError::new_err(format!("{what} must be a dict of str to str: {dict} has other keys or values"))
        })
    }
}
