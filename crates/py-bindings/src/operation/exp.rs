//! Operations that evaluate an expression.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::exp;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::BaseOperation;
use super::table::{bits, operations};
use crate::cdt::Flags;
use crate::expression::Exp;
use crate::value::Refused;

/// Operations that evaluate a `FilterExpression`.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct ExpOperation;

fn of(expression: &Exp) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> {
    |writer| Ok(writer.raw(expression.bytes()))
}

/// Returns the value of an expression as a bin of this name.
pub(crate) fn reading(name: &Bound<'_, PyString>, exp: &Exp, flags: Flags) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, |out| exp::read(out, of(exp), flags.0))
}

/// Writes the value of an expression to a bin.
pub(crate) fn writing(name: &Bound<'_, PyString>, exp: &Exp, flags: Flags) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, |out| exp::write(out, of(exp), flags.0))
}

operations! {
    ExpOperation, answers: true;

    /// Returns the value of an expression as a bin of this name. `flags`: bits of `ExpReadFlags`.
    #[pyo3(signature = (name, exp, flags=None))]
    read(name; exp: Exp, flags: Option<Flags>) = |out| exp::read(out, of(&exp), bits(flags));
    /// Writes the value of an expression to a bin. `flags`: bits of `ExpWriteFlags`.
    #[pyo3(signature = (bin_name, exp, flags=None))]
    write(bin_name; exp: Exp, flags: Option<Flags>) = |out| exp::write(out, of(&exp), bits(flags));
}
