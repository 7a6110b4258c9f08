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
    /// The key, value or index of the current element of a path, a bool. Server 8.1.1 and later, like all of these.
    bool_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Bool, part);
    /// The key, value or index of the current element of a path, an int.
    int_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Int, part);
    /// The key, value or index of the current element of a path, a float.
    float_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Float, part);
    /// The key, value or index of the current element of a path, a str.
    string_loop_var(part: Choice<LoopVarPart>) = of(ExpType::String, part);
    /// The value of the current element of a path, a list.
    list_loop_var(part: Choice<LoopVarPart>) = of(ExpType::List, part);
    /// The value of the current element of a path, a map.
    map_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Map, part);
    /// The key, value or index of the current element of a path, bytes.
    blob_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Blob, part);
    /// The value of the current element of a path, an HLL.
    hll_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Hll, part);
    /// The value of the current element of a path, nil.
    nil_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Nil, part);
    /// The value of the current element of a path, GeoJSON.
    geo_json_loop_var(part: Choice<LoopVarPart>) = of(ExpType::Geo, part);
    /// Removes the element, as the result of an expression that modifies what a path selects. Server 8.1.1 and later.
    remove_result() = list(&[&REMOVE]);
}
