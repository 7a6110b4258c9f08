//! Operations on list bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::lists`], whose policy and flag types are
//! re-exported here.

use super::{Operation, forward};
use aerospike_core::Value;
pub use aerospike_core::operations::lists::*;

forward! {
    lists;
    fn create_persistent(bin: impl Into<String>, list_order: ListOrderType, pad: bool, persist_index: bool);
    fn create(bin: impl Into<String>, list_order: ListOrderType, pad: bool);
    fn create_with_index(bin: impl Into<String>, list_order: ListOrderType);
    fn set_order(bin: impl Into<String>, list_order: ListOrderType);
    fn set_order_with_index(bin: impl Into<String>, list_order: ListOrderType);
    fn append(policy: &ListPolicy, bin: impl Into<String>, value: Value);
    fn append_items(policy: &ListPolicy, bin: impl Into<String>, values: Vec<Value>);
    fn insert(policy: &ListPolicy, bin: impl Into<String>, index: i64, value: Value);
    fn insert_items(policy: &ListPolicy, bin: impl Into<String>, index: i64, values: Vec<Value>);
    fn pop(bin: impl Into<String>, index: i64);
    fn pop_range(bin: impl Into<String>, index: i64, count: i64);
    fn pop_range_from(bin: impl Into<String>, index: i64);
    fn remove(bin: impl Into<String>, index: i64);
    fn remove_range(bin: impl Into<String>, index: i64, count: i64);
    fn remove_range_from(bin: impl Into<String>, index: i64);
    fn remove_by_value(bin: impl Into<String>, value: Value, return_type: ListReturnType);
    fn remove_by_value_list(bin: impl Into<String>, values: Vec<Value>, return_type: ListReturnType);
    fn remove_by_value_range(bin: impl Into<String>, return_type: ListReturnType, begin: Value, end: Value);
    fn remove_by_value_relative_rank_range(
        bin: impl Into<String>,
        return_type: ListReturnType,
        value: Value,
        rank: i64,
    );
    fn remove_by_value_relative_rank_range_count(
        bin: impl Into<String>,
        return_type: ListReturnType,
        value: Value,
        rank: i64,
        count: i64,
    );
    fn remove_by_index(bin: impl Into<String>, index: i64, return_type: ListReturnType);
    fn remove_by_index_range(bin: impl Into<String>, index: i64, return_type: ListReturnType);
    fn remove_by_index_range_count(bin: impl Into<String>, index: i64, count: i64, return_type: ListReturnType);
    fn remove_by_rank(bin: impl Into<String>, rank: i64, return_type: ListReturnType);
    fn remove_by_rank_range(bin: impl Into<String>, rank: i64, return_type: ListReturnType);
    fn remove_by_rank_range_count(bin: impl Into<String>, rank: i64, count: i64, return_type: ListReturnType);
    fn set(bin: impl Into<String>, index: i64, value: Value);
    fn set_with_policy(policy: &ListPolicy, bin: impl Into<String>, index: i64, value: Value);
    fn trim(bin: impl Into<String>, index: i64, count: i64);
    fn clear(bin: impl Into<String>);
    fn increment(policy: &ListPolicy, bin: impl Into<String>, index: i64, value: i64);
    fn increment_by_one(bin: impl Into<String>, index: i64);
    fn increment_by_one_with_policy(policy: &ListPolicy, bin: impl Into<String>, index: i64);
    fn size(bin: impl Into<String>);
    fn get(bin: impl Into<String>, index: i64);
    fn get_range(bin: impl Into<String>, index: i64, count: i64);
    fn get_range_from(bin: impl Into<String>, index: i64);
    fn join(bin: impl Into<String>);
    fn join_by_separator(bin: impl Into<String>, separator: impl Into<String>);
    fn get_by_value(bin: impl Into<String>, value: Value, return_type: ListReturnType);
    fn get_by_value_list(bin: impl Into<String>, values: Vec<Value>, return_type: ListReturnType);
    fn get_by_value_range(bin: impl Into<String>, begin: Value, end: Value, return_type: ListReturnType);
    fn get_by_index(bin: impl Into<String>, index: i64, return_type: ListReturnType);
    fn get_by_index_range(bin: impl Into<String>, index: i64, return_type: ListReturnType);
    fn get_by_index_range_count(bin: impl Into<String>, index: i64, count: i64, return_type: ListReturnType);
    fn get_by_rank(bin: impl Into<String>, rank: i64, return_type: ListReturnType);
    fn get_by_rank_range(bin: impl Into<String>, rank: i64, return_type: ListReturnType);
    fn get_by_rank_range_count(bin: impl Into<String>, rank: i64, count: i64, return_type: ListReturnType);
    fn get_by_value_relative_rank_range(bin: impl Into<String>, value: Value, rank: i64, return_type: ListReturnType);
    fn get_by_value_relative_rank_range_count(
        bin: impl Into<String>,
        value: Value,
        rank: i64,
        count: i64,
        return_type: ListReturnType,
    );
    fn sort(bin: impl Into<String>, sort_flags: ListSortFlags);
}
