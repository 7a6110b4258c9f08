//! Comparisons, logic, choices and variables.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::part::{Bare, Binary, Exp, Exps, Scope, definition, list};
use super::table::expressions;
use crate::cdt::Flags;
use crate::expression::FilterExpression;
use crate::{errors, value};

const UNKNOWN: u8 = 0;
const EQ: u8 = 1;
const NE: u8 = 2;
const GT: u8 = 3;
const GE: u8 = 4;
const LT: u8 = 5;
const LE: u8 = 6;
const REGEX: u8 = 7;
const GEO: u8 = 8;
const IN_LIST: u8 = 9;
const AND: u8 = 16;
const OR: u8 = 17;
const NOT: u8 = 18;
const EXCLUSIVE: u8 = 19;
const MAP_KEYS: u8 = 101;
const MAP_VALUES: u8 = 102;
const COND: u8 = 123;
const VAR: u8 = 124;
const LET: u8 = 125;
const AEL: u8 = 128;
const TO_STRING: u8 = 99;

fn text<'a>(text: &'a Bound<'_, PyString>, what: &str) -> PyResult<&'a str> {
    let bytes = value::utf8(text).map_err(|refused| refused.into_py(text.py(), what))?;
    // SAFETY: UTF-8, as CPython has made it from a str.
    Ok(unsafe { std::str::from_utf8_unchecked(bytes) })
}

/// Text for the server to compile. Of an empty one it would say no more than that a parameter is wrong.
fn source<'a>(ael: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let source = text(ael, "ael")?;
    if source.is_empty() {
        return Err(errors::invalid_argument(ael.py(), "the text of an expression is empty"));
    }
    Ok(source)
}

expressions! {
    /// Whether two values are equal.
    eq(left: Exp, right: Exp) = list(&[&EQ, &left, &right]);
    /// Whether two values are not equal.
    ne(left: Exp, right: Exp) = list(&[&NE, &left, &right]);
    /// Whether the left value is greater than the right one.
    gt(left: Exp, right: Exp) = list(&[&GT, &left, &right]);
    /// Whether the left value is greater than the right one, or equal.
    ge(left: Exp, right: Exp) = list(&[&GE, &left, &right]);
    /// Whether the left value is less than the right one.
    lt(left: Exp, right: Exp) = list(&[&LT, &left, &right]);
    /// Whether the left value is less than the right one, or equal.
    le(left: Exp, right: Exp) = list(&[&LE, &left, &right]);
    /// Whether a POSIX regular expression matches a string. `flags`: bits of `RegexFlag`.
    regex_compare(regex: Bound<'_, PyString>, flags: Flags, bin: Exp)
        = list(&[&REGEX, &flags.0, &Bare(text(&regex, "regex")?), &bin]);
    /// Whether a point lies within a region: one of the two GeoJSON values is the region.
    geo_compare(left: Exp, right: Exp) = list(&[&GEO, &left, &right]);
    /// Whether a list contains a value. Server 8.1.2 and later.
    in_list(value: Exp, list: Exp) = self::list(&[&IN_LIST, &value, &list]);
    /// The keys of a map, as a list. Server 8.1.2 and later.
    map_keys(map: Exp) = list(&[&MAP_KEYS, &map]);
    /// The values of a map, as a list. Server 8.1.2 and later.
    map_values(map: Exp) = list(&[&MAP_VALUES, &map]);
    /// Whether an expression is false.
    not_(exp: Exp) = list(&[&NOT, &exp]);
    /// Whether all expressions are true.
    and_(exps: Exps) = list(&[&AND, &exps]);
    /// Whether any expression is true.
    or_(exps: Exps) = list(&[&OR, &exps]);
    /// Whether exactly one expression is true; the same as `exclusive`.
    xor(exps: Exps) = list(&[&EXCLUSIVE, &exps]);
    /// Whether exactly one expression is true.
    exclusive(exps: Exps) = list(&[&EXCLUSIVE, &exps]);
    /// A choice: alternating conditions and values, then the value to use if no condition is true. All values must have
    /// the same type.
    cond(exps: Exps) = list(&[&COND, &exps]);
    /// Variables for an expression: `exp_let([def_("x", ..), .., expression that uses var("x")])`.
    exp_let(exps: Scope) = list(&[&LET, &exps]);
    /// A variable of an `exp_let`: its name and its value.
    def_(name: Bound<'_, PyString>, value: Exp) = definition(text(&name, "name")?, &value);
    /// The value of a variable of an `exp_let`.
    var(name: Bound<'_, PyString>) = list(&[&VAR, &Bare(text(&name, "name")?)]);
    /// Text in Aerospike's expression language, which the server parses. Server 8.2 and later. It must not be empty.
    from_server_compiled_ael(ael: Bound<'_, PyString>) = list(&[&AEL, &Binary(source(&ael)?)]);
    /// An expression that cannot be evaluated: an error, unless the operation ignores it.
    unknown() = list(&[&UNKNOWN]);
    /// An int, float, bool or bytes as a str. Server 8.2 and later.
    to_string(src: Exp) = list(&[&TO_STRING, &src]);
}

/// Whether a list contains a value; the same as `FilterExpression.in_list`. Server 8.1.2 and later.
#[pyfunction]
pub(super) fn in_list(value: Exp, list_exp: Exp) -> PyResult<FilterExpression> {
    FilterExpression::in_list(value, list_exp)
}

/// The keys of a map as a list; the same as `FilterExpression.map_keys`. Server 8.1.2 and later.
#[pyfunction]
pub(super) fn map_keys(map_exp: Exp) -> PyResult<FilterExpression> {
    FilterExpression::map_keys(map_exp)
}

/// The values of a map as a list; the same as `FilterExpression.map_values`. Server 8.1.2 and later.
#[pyfunction]
pub(super) fn map_values(map_exp: Exp) -> PyResult<FilterExpression> {
    FilterExpression::map_values(map_exp)
}
