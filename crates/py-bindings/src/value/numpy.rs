//! Scalars of numpy, without numpy: by what their `dtype` says.

use pyo3::intern;
use pyo3::prelude::*;

use super::Refused;

/// What an object with a `dtype` is.
pub(super) enum Scalar {
    Bool(bool),
    Float(f64),
    /// Take its `__index__`.
    Int,
    /// Not a scalar, or none of numpy.
    No,
}

/// Looks at an object that is neither of a Python type nor of a subclass of one.
pub(super) fn look(object: &Bound<'_, PyAny>) -> Result<Scalar, Refused> {
    let py = object.py();
    let Some(dtype) = object.getattr_opt(intern!(py, "dtype"))? else { return Ok(Scalar::No) };
    let Some(kind) = dtype.getattr_opt(intern!(py, "kind"))? else { return Ok(Scalar::No) };
    let Ok(kind) = kind.extract::<char>() else { return Ok(Scalar::No) };
    match object.getattr_opt(intern!(py, "ndim"))? {
        Some(dimensions) if dimensions.extract::<usize>().is_ok_and(|n| n == 0) => {}
        _ => return Ok(Scalar::No),
    }
    Ok(match kind {
        'b' => Scalar::Bool(object.is_truthy()?),
        'i' | 'u' => Scalar::Int,
        'f' => Scalar::Float(object.call_method0(intern!(py, "__float__"))?.extract()?),
        // Complex numbers, dates, structures: their bytes mean nothing without their dtype.
        _ => {
            let name = object.get_type().name()?;
            return Err(Refused::wrong_type(format!("{name} is not supported")));
        }
    })
}
