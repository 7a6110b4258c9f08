//! Columns of Python objects that cannot be written, seen before anything is.

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};

use super::Named;
use super::column::KeyKind;

/// Refuses the columns of a frame or series of polars that hold Python objects: polars exports their addresses.
pub(super) fn refuse_addresses<'a>(
    table: &Bound<'_, PyAny>,
    columns: impl Iterator<Item = &'a mut Named>,
) -> PyResult<()> {
    let py = table.py();
    let module = table.get_type().getattr(intern!(py, "__module__"))?;
    if !module.cast::<PyString>().is_ok_and(|module| module.to_str().is_ok_and(|name| name.starts_with("polars."))) {
        return Ok(());
    }
    // Of a series, or of a frame.
    let dtypes = match table.getattr_opt(intern!(py, "dtype"))? {
        Some(dtype) => vec![dtype],
        None => match table.getattr_opt(intern!(py, "dtypes"))? {
            Some(dtypes) => dtypes.try_iter()?.collect::<PyResult<_>>()?,
            None => return Ok(()),
        },
    };
    for (column, dtype) in columns.zip(dtypes) {
        if dtype.str()? == "Object" {
            column.refuse("polars hands over the addresses of Python objects, not the objects", "polars.Object");
        }
    }
    Ok(())
}

/// Refuses a column of a dict whose first value is a date, a time or a decimal.
pub(super) fn refuse_unknown_types(column: &mut Named, sequence: &Bound<'_, PyAny>) -> PyResult<()> {
    /// So many values are looked at for one that is not null.
    const LOOKED_AT: usize = 1000;
    let py = sequence.py();
    for place in 0..sequence.len()?.min(LOOKED_AT) {
        let value = match sequence.get_item(place) {
            Ok(value) if value.is_none() => continue,
            Ok(value) => value,
            // Its row fails.
            Err(error) if error.is_instance_of::<PyException>(py) => return Ok(()),
            Err(error) => return Err(error),
        };
        // The module is there if somebody has made such a value.
        let modules = py.import("sys")?.getattr("modules")?;
        for (module, class, instead) in [
            ("datetime", "date", "write ints or texts, or an Arrow table, whose dates become ints"),
            ("datetime", "time", "write ints or texts, or an Arrow table, whose times become ints"),
            ("datetime", "timedelta", "write ints, or an Arrow table, whose durations become ints"),
            ("decimal", "Decimal", "write ints, floats or texts"),
        ] {
            let Ok(module) = modules.get_item(module) else { continue };
            if value.is_instance(&module.cast::<PyModule>()?.getattr(class)?)? {
                let name = value.get_type().fully_qualified_name()?.to_string();
                column.refuse(&format!("Aerospike has no {name}: {instead}"), &name);
                break;
            }
        }
        return Ok(());
    }
    Ok(())
}

impl Named {
    fn refuse(&mut self, why: &str, type_name: &str) {
        (self.refused, self.key, self.type_name) = (Some(why.to_owned()), KeyKind::None, type_name.to_owned());
    }
}
