//! Sequences of values that are arguments of operations.

use aerolane_wire::msgpack::Writer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};

use super::Refused;

/// Appends the items of a sequence or another iterable as a list; `each` appends one.
///
/// A str, bytes or a dict is refused: that its parts were meant is never likely.
pub(crate) fn pack_items(
    writer: &mut Writer<'_>,
    items: &Bound<'_, PyAny>,
    mut each: impl FnMut(&mut Writer<'_>, &Bound<'_, PyAny>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let no_list = items.is_instance_of::<PyString>()
        || items.is_instance_of::<PyBytes>()
        || items.is_instance_of::<PyByteArray>()
        || items.is_instance_of::<PyDict>();
    if no_list {
        let kind = items.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a sequence of values was expected, not {kind}")).into());
    }
    // An iterable may change while it is gone through, and its length be a guess: it is counted first.
    let list = items.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    writer.list(list.len());
    for (index, item) in list.iter().enumerate() {
        each(writer, item).map_err(|refused| refused.inside(|| format!("[{index}]")))?;
    }
    Ok(())
}
