//! Operations on what a path selects.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::path;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::BaseOperation;
use super::table::operations;
use crate::cdt::{Ctx, Flags};
use crate::expression::Exp;
use crate::value::Refused;

/// Operations on everything that a path (a sequence of `CTX`) selects inside a list or map. A path can select many
/// elements. Server 8.1.1 and later.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct CdtOperation;

/// Bits of `SelectFlags` and `ModifyFlags`.
pub(crate) const MATCHING_TREE: i64 = 0;
pub(crate) const VALUES: i64 = 1;
pub(crate) const MAP_KEYS: i64 = 2;
pub(crate) const MAP_ENTRIES: i64 = 3;
pub(crate) const NO_FAIL: i64 = 16;

fn select(out: &mut Vec<u8>, flags: i64, ctx: &Ctx) -> u8 {
    path::select(out, ctx.levels(), flags)
}

fn modify(out: &mut Vec<u8>, flags: i64, exp: &Exp, ctx: &Ctx) -> Result<u8, Refused> {
    path::modify(out, ctx.levels(), flags, |writer: &mut Writer<'_>| Ok(writer.raw(exp.bytes())))
}

/// Returns what a path selects, as `flags` say.
pub(crate) fn selecting(name: &Bound<'_, PyString>, flags: i64, ctx: &Ctx) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, false, |out| select(out, flags, ctx))
}

/// Sets what a path selects to what an expression gives for it.
pub(crate) fn modifying(name: &Bound<'_, PyString>, flags: i64, exp: &Exp, ctx: &Ctx) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, false, |out| self::modify(out, flags, exp, ctx))
}

operations! {
    CdtOperation, answers: false;

    /// Returns what the path selects, as `flag` (bits of `SelectFlags`) says.
    select_by_path(bin_name; flag: Flags, ctx: Ctx) = |out| select(out, flag.0, &ctx);
    /// Sets each element that the path selects to the value of an expression. `flag`: bits of `ModifyFlags`.
    modify_by_path(bin_name; flag: Flags, exp: Exp, ctx: Ctx) = |out| modify(out, flag.0, &exp, &ctx);
    /// Returns a list of the values that the path selects.
    select_values(bin_name; ctx: Ctx) = |out| select(out, VALUES, &ctx);
    /// Returns a list of the map keys that the path selects.
    select_map_keys(bin_name; ctx: Ctx) = |out| select(out, MAP_KEYS, &ctx);
    /// Returns a list of alternating keys and values that the path selects.
    select_map_entries(bin_name; ctx: Ctx) = |out| select(out, MAP_ENTRIES, &ctx);
    /// Returns the collection, reduced to what the path selects.
    select_matching_tree(bin_name; ctx: Ctx) = |out| select(out, MATCHING_TREE, &ctx);
    /// Sets each element that the path selects to the value of an expression.
    modify(bin_name; exp: Exp, ctx: Ctx) = |out| self::modify(out, 0, &exp, &ctx);
    /// The same as `modify`, but leaves elements unchanged if their type does not fit the path.
    modify_no_fail(bin_name; exp: Exp, ctx: Ctx) = |out| self::modify(out, NO_FAIL, &exp, &ctx);
    /// Removes what the path selects.
    remove(bin_name; ctx: Ctx) = |out| self::modify(out, 0, &Exp::removal()?, &ctx);
}
