//! What a path selects inside a list or map.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::part::{Exp, path};
use super::records;
use super::table::expressions;
use crate::cdt::{Choice, Ctx, ExpType, Flags};

/// Bits of `SelectFlags` and `ModifyFlags`.
const MATCHING_TREE: i64 = 0;
const VALUES: i64 = 1;
const MAP_KEYS: i64 = 2;
const MAP_ENTRIES: i64 = 3;
const NO_FAIL: i64 = 16;

/// A list of the values that a path selects in a bin, which is a list or a map.
pub(crate) fn values_of_bin(name: &Bound<'_, PyString>, kind: ExpType, no_fail: bool, ctx: &Ctx) -> PyResult<Exp> {
    let py = name.py();
    let bin = Exp::made(py, records::bin(name, kind)?)?;
    let flags = if no_fail { VALUES | NO_FAIL } else { VALUES };
    Exp::made(py, path(ExpType::List, flags, None, ctx, &bin)?)
}

expressions! {
    /// What a path selects, as `flag` (bits of `SelectFlags`) says. `return_type` is the type of the result. Server
    /// 8.1.1 and later, like all of these.
    exp_select_by_path(return_type: Choice<ExpType>, flag: Flags, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, flag.0, None, &ctx, &bin_exp);
    /// `bin_exp` with each element that a path selects set to the value of `modify_exp`. `flag`: bits of `ModifyFlags`.
    exp_modify_by_path(return_type: Choice<ExpType>, flag: Flags, bin_exp: Exp, modify_exp: Exp, ctx: Ctx)
        = path(return_type.0, flag.0, Some(&modify_exp), &ctx, &bin_exp);
    /// A list of the values that a path selects.
    exp_select_values(return_type: Choice<ExpType>, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, VALUES, None, &ctx, &bin_exp);
    /// A list of the map keys that a path selects.
    exp_select_map_keys(return_type: Choice<ExpType>, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, MAP_KEYS, None, &ctx, &bin_exp);
    /// A list of alternating keys and values that a path selects.
    exp_select_map_entries(return_type: Choice<ExpType>, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, MAP_ENTRIES, None, &ctx, &bin_exp);
    /// `bin_exp` reduced to what a path selects.
    exp_select_matching_tree(return_type: Choice<ExpType>, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, MATCHING_TREE, None, &ctx, &bin_exp);
    /// `bin_exp` with each element that a path selects set to the value of `modify_exp`.
    exp_modify(return_type: Choice<ExpType>, bin_exp: Exp, modify_exp: Exp, ctx: Ctx)
        = path(return_type.0, 0, Some(&modify_exp), &ctx, &bin_exp);
    /// The same as `exp_modify`, but leaves elements unchanged if their type does not fit the path.
    exp_modify_no_fail(return_type: Choice<ExpType>, bin_exp: Exp, modify_exp: Exp, ctx: Ctx)
        = path(return_type.0, NO_FAIL, Some(&modify_exp), &ctx, &bin_exp);
    /// `bin_exp` without what a path selects.
    exp_remove(return_type: Choice<ExpType>, bin_exp: Exp, ctx: Ctx)
        = path(return_type.0, 0, Some(&Exp::removal()?), &ctx, &bin_exp);
}
