//! Operations on what a path selects inside a collection.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::path`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::operation::path;
use aerospike_core::expressions::{Expression, exp_remove_result};
pub use aerospike_core::operations::path::*;

use super::encoded::{Traits, raw};
use super::levels::Levels;
use super::macros::constructors;
use super::{CdtContext, Operation};

constructors! {
    path, Traits::WHOLE_BIN, bin;

    select_by_path(bin: bin, flag: SelectFlag, ctx: path)
        |out| path::select(out, Levels::of(&ctx)?.iter(), flag.bits());
    modify_by_path(bin: bin, flag: ModifyFlag, exp: expression, ctx: path)
        |out| path::modify(out, Levels::of(&ctx)?.iter(), flag.bits(), raw(exp.bytes()?));
}

/// As [`aerospike_core::operations::path::select_values`].
#[must_use]
pub fn select_values(bin: impl Into<String>, ctx: &[CdtContext]) -> Operation {
    select_by_path(bin, SelectFlag::VALUE, ctx)
}

/// As [`aerospike_core::operations::path::select_map_keys`].
#[must_use]
pub fn select_map_keys(bin: impl Into<String>, ctx: &[CdtContext]) -> Operation {
    select_by_path(bin, SelectFlag::MAP_KEY, ctx)
}

/// As [`aerospike_core::operations::path::select_map_entries`].
#[must_use]
pub fn select_map_entries(bin: impl Into<String>, ctx: &[CdtContext]) -> Operation {
    select_by_path(bin, SelectFlag::MAP_KEY_VALUE, ctx)
}

/// As [`aerospike_core::operations::path::select_matching_tree`].
#[must_use]
pub fn select_matching_tree(bin: impl Into<String>, ctx: &[CdtContext]) -> Operation {
    select_by_path(bin, SelectFlag::MATCHING_TREE, ctx)
}

/// As [`aerospike_core::operations::path::modify`].
#[must_use]
pub fn modify(bin: impl Into<String>, exp: Expression, ctx: &[CdtContext]) -> Operation {
    modify_by_path(bin, ModifyFlag::DEFAULT, exp, ctx)
}

/// As [`aerospike_core::operations::path::modify_no_fail`].
#[must_use]
pub fn modify_no_fail(bin: impl Into<String>, exp: Expression, ctx: &[CdtContext]) -> Operation {
    modify_by_path(bin, ModifyFlag::NO_FAIL, exp, ctx)
}

/// As [`aerospike_core::operations::path::remove`].
#[must_use]
pub fn remove(bin: impl Into<String>, ctx: &[CdtContext]) -> Operation {
    modify_by_path(bin, ModifyFlag::DEFAULT, exp_remove_result(), ctx)
}
