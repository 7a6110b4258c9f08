//! What an expression inside a path sees of the element that the path is at.

use pyo3::PyResult;

use super::FilterExpression;
use super::part::{REMOVE, list};
use super::table::expressions;
use crate::cdt::{Choice, ExpType, LoopVarPart};

const LOOP_VAR: u8 = 122;

fn of(kind: ExpType, part: Choice<LoopVarPart>) -> PyResult<FilterExpression> {
    list(&[&LOOP_VAR, &kind, &(part.0 as u8)])
}

expressions! {
    /// The key, value or index of the element that a path is at, a bool. Server 8.1.1 and later, as all of these.
    bool_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Bool, part);
    /// The key, value or index of the element that a path is at, an int.
    int_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Int, part);
    /// The key, value or index of the element that a path is at, a float.
    float_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Float, part);
    /// The key, value or index of the element that a path is at, a str.
    string_loop_var(part: Choice<LoopVarPart>) = of(ExpType::String, part);
    /// The value of the element that a path is at, a list.
    list_loop_var(part: Choice<LoopVarPart>) = of(ExpType::List, part);
    /// The value of the element that a path is at, a map.
    map_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Map, part);
    /// The key, value or index of the element that a path is at, bytes.
    blob_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Blob, part);
    /// The value of the element that a path is at, an HLL.
    hll_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Hll, part);
    /// The value of the element that a path is at, nil.
    nil_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Nil, part);
    /// The value of the element that a path is at, GeoJSON.
    geo_json_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Geo, part);
    /// As the result of an expression that modifies what a path selects: removes it. Server 8.1.1 and later.
    remove_result() = list(&[&REMOVE]);
}
