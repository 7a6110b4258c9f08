//! Operations on HyperLogLog bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::hll`], whose policy and flag types are
//! re-exported here.

use super::{Operation, forward};
use aerospike_core::Value;
pub use aerospike_core::operations::hll::*;

forward! {
    hll;
    fn init(policy: &HllPolicy, bin: impl Into<String>, index_bit_count: i64);
    fn init_with_min_hash(policy: &HllPolicy, bin: impl Into<String>, index_bit_count: i64, min_hash_bit_count: i64);
    fn add(policy: &HllPolicy, bin: impl Into<String>, list: Vec<Value>);
    fn add_with_index(policy: &HllPolicy, bin: impl Into<String>, list: Vec<Value>, index_bit_count: i64);
    fn add_with_index_and_min_hash(
        policy: &HllPolicy,
        bin: impl Into<String>,
        list: Vec<Value>,
        index_bit_count: i64,
        min_hash_bit_count: i64,
    );
    fn set_union(policy: &HllPolicy, bin: impl Into<String>, list: Vec<Value>);
    fn refresh_count(bin: impl Into<String>);
    fn fold(bin: impl Into<String>, index_bit_count: i64);
    fn get_count(bin: impl Into<String>);
    fn get_union(bin: impl Into<String>, list: Vec<Value>);
    fn get_union_count(bin: impl Into<String>, list: Vec<Value>);
    fn get_intersect_count(bin: impl Into<String>, list: Vec<Value>);
    fn get_similarity(bin: impl Into<String>, list: Vec<Value>);
    fn describe(bin: impl Into<String>);
}
