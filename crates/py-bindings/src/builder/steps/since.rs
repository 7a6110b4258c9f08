//! Steps that not every server has: since which version.
//!
//! A step that is not in the table is older than any server that clients connect to. What a text of the Aerospike
//! Expression Language needs is told by its compiler.

use aerolane::ael::Version;

/// Expressions as operations.
const V5_6: Version = Version::new(5, 6, 0);
/// Whether something is selected.
const V6_1: Version = Version::new(6, 1, 0);
/// Indexes that are stored with a list or map.
pub(in crate::builder) const PERSISTED_INDEX: Version = Version::new(7, 0, 0);
/// Paths.
const V8_1_1: Version = Version::new(8, 1, 1);
/// Several keys, and filters of what is selected, in paths.
const V8_1_2: Version = Version::new(8, 1, 2);
/// Operations on strings, and between strings and others.
const V8_2: Version = Version::new(8, 2, 0);

/// The oldest version of servers that have a step, if not all have it.
pub(in crate::builder) fn since(step: &str) -> Option<Version> {
    match step {
        "select_from" | "insert_from" | "update_from" | "upsert_from" => Some(V5_6),
        "exists" => Some(V6_1),
        "on_each_child" | "on_each_child_where" | "collect_values_as_expression_read" => Some(V8_1_1),
        "on_map_keys_in" | "and_filter" => Some(V8_1_2),
        "read_as_string" | "bit_b64_encode" | "list_join" => Some(V8_2),
        _ => step.starts_with("str_").then_some(V8_2),
    }
}
