//! How operations are defined.

use aerolane_wire::msgpack::Writer;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cdt::Flags;
use crate::value::{self, Refused};

/// Defines static methods that make operations:
/// `name(bin; argument: Type, ..) = what encodes it (a function of the encoders of the wire crate);`, and with
/// `, in ctx` behind that, inside of the context in this argument.
///
/// `answers`: whether operations that only read ask for an answer where they have nothing to say.
macro_rules! operations {
    (
        $class:ident, answers: $answers:literal;
        $( $(#[$meta:meta])* $name:ident($bin:ident $(; $($arg:ident: $type:ty),+)?) = $encode:expr $(, in $ctx:ident)?; )*
    ) => {
        #[pyo3::pymethods]
        #[allow(clippy::too_many_arguments)] // the arguments of the Python methods
        impl $class {
            $(
                $(#[$meta])*
                #[staticmethod]
                fn $name(
                    $bin: pyo3::Bound<'_, pyo3::types::PyString>
                    $(, $($arg: $type),+)?
                ) -> pyo3::PyResult<pyo3::Py<Self>> {
                    let operation = $crate::operation::BaseOperation::encoded(&$bin, $answers, $encode)?;
                    $(
                        let operation = match &$ctx {
                            Some(ctx) if !ctx.is_empty() => operation.nested(ctx),
                            _ => operation,
                        };
                    )?
                    pyo3::Py::new($bin.py(), (Self, operation))
                }
            )*
        }
    };
}
pub(super) use operations;

/// A value as an argument.
pub(crate) fn element<'a>(value: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| value::pack_value(writer, value)
}

/// The key of a map as an argument.
pub(crate) fn key<'a>(key: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| value::pack_key(writer, key)
}

/// Values as one argument.
pub(crate) fn elements<'a>(values: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| value::pack_items(writer, values, value::pack_value)
}

/// A number as an argument that can be a value.
pub(crate) fn number(number: i64) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> {
    move |writer| Ok(writer.int(number))
}

/// The end of a range; `None`: there is none.
pub(crate) fn end<'a>(value: &'a Bound<'_, PyAny>) -> Option<impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a> {
    (!value.is_none()).then(|| element(value))
}

/// The text of a str.
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a [u8], Refused> {
    value::utf8(text)
}

/// The text of a str that may be left out.
pub(crate) fn text<'a>(text: Option<&'a Bound<'_, PyString>>) -> Result<Option<&'a [u8]>, Refused> {
    text.map(|text| utf8(text)).transpose()
}

/// The bits of flags that may be left out.
pub(crate) fn bits<const MOST: i64>(flags: Option<Flags<MOST>>) -> i64 {
    flags.map_or(0, |flags| flags.0)
}
