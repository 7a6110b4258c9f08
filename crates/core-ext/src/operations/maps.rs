//! Operations on map bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::maps`], whose policy and flag types are
//! re-exported here.

use super::{CdtContext, Operation, forward};
pub use aerospike_core::operations::maps::*;
use aerospike_core::{MapLike, Value};

forward! {
    maps;
    fn create(bin: impl Into<String>, map_order: MapOrder, ctx: Vec<CdtContext>);
    fn create_with_index(bin: impl Into<String>, map_order: MapOrder);
    fn set_policy(policy: &MapPolicy, bin: impl Into<String>, ctx: Vec<CdtContext>);
    fn set_order(bin: impl Into<String>, map_order: MapOrder);
    fn put(policy: &MapPolicy, bin: impl Into<String>, key: Value, val: Value);
    fn put_items(policy: &MapPolicy, bin: impl Into<String>, items: impl MapLike<Value, Value>);
    fn increment_value(policy: &MapPolicy, bin: impl Into<String>, key: Value, incr: Value);
    fn decrement_value(policy: &MapPolicy, bin: impl Into<String>, key: Value, decr: Value);
    fn clear(bin: impl Into<String>);
    fn remove_by_key(bin: impl Into<String>, key: Value, return_type: MapReturnType);
    fn remove_by_key_list(bin: impl Into<String>, keys: Vec<Value>, return_type: MapReturnType);
    fn remove_by_key_range(bin: impl Into<String>, begin: Value, end: Value, return_type: MapReturnType);
    fn remove_by_value(bin: impl Into<String>, value: Value, return_type: MapReturnType);
    fn remove_by_value_list(bin: impl Into<String>, values: Vec<Value>, return_type: MapReturnType);
    fn remove_by_value_range(bin: impl Into<String>, begin: Value, end: Value, return_type: MapReturnType);
    fn remove_by_index(bin: impl Into<String>, index: i64, return_type: MapReturnType);
    fn remove_by_index_range(bin: impl Into<String>, index: i64, count: i64, return_type: MapReturnType);
    fn remove_by_index_range_from(bin: impl Into<String>, index: i64, return_type: MapReturnType);
    fn remove_by_rank(bin: impl Into<String>, rank: i64, return_type: MapReturnType);
    fn remove_by_rank_range(bin: impl Into<String>, rank: i64, count: i64, return_type: MapReturnType);
    fn remove_by_rank_range_from(bin: impl Into<String>, rank: i64, return_type: MapReturnType);
    fn size(bin: impl Into<String>);
    fn get_by_key(bin: impl Into<String>, key: Value, return_type: MapReturnType);
    fn get_by_key_range(bin: impl Into<String>, begin: Value, end: Value, return_type: MapReturnType);
    fn get_by_value(bin: impl Into<String>, value: Value, return_type: MapReturnType);
    fn get_by_value_range(bin: impl Into<String>, begin: Value, end: Value, return_type: MapReturnType);
    fn get_by_index(bin: impl Into<String>, index: i64, return_type: MapReturnType);
    fn get_by_index_range(bin: impl Into<String>, index: i64, count: i64, return_type: MapReturnType);
    fn get_by_index_range_from(bin: impl Into<String>, index: i64, return_type: MapReturnType);
    fn get_by_rank(bin: impl Into<String>, rank: i64, return_type: MapReturnType);
    fn get_by_rank_range(bin: impl Into<String>, rank: i64, count: i64, return_type: MapReturnType);
    fn get_by_rank_range_from(bin: impl Into<String>, rank: i64, return_type: MapReturnType);
    fn remove_by_key_relative_index_range(bin: impl Into<String>, key: Value, index: i64, return_type: MapReturnType);
    fn remove_by_key_relative_index_range_count(
        bin: impl Into<String>,
        key: Value,
        index: i64,
        count: i64,
        return_type: MapReturnType,
    );
    fn remove_by_value_relative_rank_range(bin: impl Into<String>, value: Value, rank: i64, return_type: MapReturnType);
    fn remove_by_value_relative_rank_range_count(
        bin: impl Into<String>,
        value: Value,
        rank: i64,
        count: i64,
        return_type: MapReturnType,
    );
    fn get_by_key_list(bin: impl Into<String>, keys: Vec<Value>, return_type: MapReturnType);
    fn get_by_value_list(bin: impl Into<String>, values: Vec<Value>, return_type: MapReturnType);
    fn get_by_key_relative_index_range(bin: impl Into<String>, key: Value, index: i64, return_type: MapReturnType);
    fn get_by_key_relative_index_range_count(
        bin: impl Into<String>,
        key: Value,
        index: i64,
        count: i64,
        return_type: MapReturnType,
    );
    fn get_by_value_relative_rank_range(bin: impl Into<String>, value: Value, rank: i64, return_type: MapReturnType);
    fn get_by_value_relative_rank_range_count(
        bin: impl Into<String>,
        value: Value,
        rank: i64,
        count: i64,
        return_type: MapReturnType,
    );
}
