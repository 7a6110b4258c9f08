//! Operations on what a path selects inside a collection.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::path`], whose policy and flag types are
//! re-exported here.

use super::{CdtContext, Operation, forward};
use aerospike_core::expressions::Expression;
pub use aerospike_core::operations::path::*;

forward! {
    path;
    fn select_by_path(bin: impl Into<String>, flag: SelectFlag, ctx: &[CdtContext]);
    fn modify_by_path(bin: impl Into<String>, flag: ModifyFlag, exp: Expression, ctx: &[CdtContext]);
    fn select_values(bin: impl Into<String>, ctx: &[CdtContext]);
    fn select_map_keys(bin: impl Into<String>, ctx: &[CdtContext]);
    fn select_map_entries(bin: impl Into<String>, ctx: &[CdtContext]);
    fn select_matching_tree(bin: impl Into<String>, ctx: &[CdtContext]);
    fn modify(bin: impl Into<String>, exp: Expression, ctx: &[CdtContext]);
    fn modify_no_fail(bin: impl Into<String>, exp: Expression, ctx: &[CdtContext]);
    fn remove(bin: impl Into<String>, ctx: &[CdtContext]);
}
