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
    /// Not a scalar, or none of numpy: an array of bytes, too.
    No,
}

/// An array: a row of bytes is what it looks like, of any other the dtype and the shape would be lost.
fn array(
    object: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    kind: char,
    dimensions: usize,
) -> Result<Scalar, Refused> {
    let size = dtype.getattr_opt(intern!(object.py(), "itemsize"))?.and_then(|size| size.extract::<usize>().ok());
    if (kind, size, dimensions) == ('u', Some(1), 1) {
        return Ok(Scalar::No);
    }
    Err(Refused::wrong_type(format!(
        "{} of {dtype} with {dimensions} dimension{} is not supported: its bytes would lose both. Use tolist() for a list, or \
         tobytes() for the bytes",
        object.get_type().name()?,
        if dimensions == 1 { "" } else { "s" },
    )))
}

/// Looks at an object that is neither of a Python type nor of a subclass of one.
pub(super) fn look(object: &Bound<'_, PyAny>) -> Result<Scalar, Refused> {
    let py = object.py();
    let Some(dtype) = object.getattr_opt(intern!(py, "dtype"))? else { return Ok(Scalar::No) };
    let Some(kind) = dtype.getattr_opt(intern!(py, "kind"))? else { return Ok(Scalar::No) };
    let Ok(kind) = kind.extract::<char>() else { return Ok(Scalar::No) };
    let Some(dimensions) = object.getattr_opt(intern!(py, "ndim"))? else { return Ok(Scalar::No) };
    match dimensions.extract::<usize>() {
        Ok(0) => {}
        Ok(dimensions) => return array(object, &dtype, kind, dimensions),
        Err(_) => return Ok(Scalar::No),
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
