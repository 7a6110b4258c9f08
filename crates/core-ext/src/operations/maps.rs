//! Operations on map bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::maps`], whose policy and flag types are
//! re-exported here.

use std::collections::BTreeMap;

use aerolane_wire::msgpack::order::PERSIST_INDEX;
use aerolane_wire::operation::{context, map};
pub use aerospike_core::operations::maps::*;
use aerospike_core::{MapCollection, MapLike, Value};

use super::encoded::{Outcome as _, Traits, all, one, room, unless_nil};
use super::macros::constructors;
use super::{CdtContext, Operation, core};

fn order(policy: MapPolicy) -> i64 {
    (policy.order as u8 | if policy.persist_index { PERSIST_INDEX } else { 0 }).into()
}

/// Write flags are sent where they say something.
fn flags(policy: MapPolicy) -> Option<i64> {
    (policy.flags != MapWriteFlags::DEFAULT).then(|| policy.flags.bits().into())
}

/// As [`aerospike_core::operations::maps::create`].
#[must_use]
pub fn create(bin: impl Into<String>, map_order: MapOrder, ctx: Vec<CdtContext>) -> Operation {
    if ctx.is_empty() {
        return set_order(bin, map_order);
    }
    let mut value = room();
    let kind = map::set_type(&mut value, map_order as i64);
    let traits = Traits { nests: true, create: context::create::map(map_order as u8) };
    let levels = ctx.clone();
    Operation::encoded(bin.into(), traits, Ok(kind), value, move |bin| core::maps::create(bin, map_order, ctx.clone()))
        .context(levels)
}

/// As [`aerospike_core::operations::maps::set_policy`].
#[must_use]
pub fn set_policy(policy: &MapPolicy, bin: impl Into<String>, ctx: Vec<CdtContext>) -> Operation {
    let mut policy = *policy;
    // Only a map that is a whole bin has an index to persist.
    policy.persist_index &= ctx.is_empty();
    let mut value = room();
    let kind = map::set_type(&mut value, order(policy));
    Operation::encoded(bin.into(), Traits::NESTS, Ok(kind), value, move |bin| {
        core::maps::set_policy(&policy, bin, Vec::new())
    })
    .context(ctx)
}

/// As [`aerospike_core::operations::maps::put_items`].
#[must_use]
pub fn put_items(policy: &MapPolicy, bin: impl Into<String>, items: impl MapLike<Value, Value>) -> Operation {
    let policy = *policy;
    // For an ordered map the pairs go in order, which the server need not make then.
    let sort = !matches!(policy.order, MapOrder::Unordered);
    let items = match items.into_map() {
        MapCollection::Hash(map) if sort => Value::SortedMap(map.into_iter().collect()),
        MapCollection::Ordered(map) if sort => Value::SortedMap(map.into_iter().collect()),
        MapCollection::Hash(map) => Value::HashMap(map),
        MapCollection::Ordered(map) => Value::OrderedMap(map),
        MapCollection::Sorted(map) => Value::SortedMap(map),
    };
    let mut value = room();
    let kind = map::put_items(&mut value, one(&items), order(policy), flags(policy)).outcome();
    Operation::encoded(bin.into(), Traits::NESTS, kind, value, move |bin| match &items {
        Value::HashMap(map) => core::maps::put_items(&policy, bin, map.clone()),
        Value::OrderedMap(map) => core::maps::put_items(&policy, bin, map.clone()),
        Value::SortedMap(map) => core::maps::put_items(&policy, bin, map.clone()),
        _ => core::maps::put_items(&policy, bin, BTreeMap::new()),
    })
}

constructors! {
    maps, Traits::NESTS, bin;

    create_with_index(bin: bin, map_order: MapOrder)
        |out| map::set_type(out, (map_order as u8 | PERSIST_INDEX).into());
    set_order(bin: bin, map_order: MapOrder) |out| map::set_type(out, map_order as i64);
    put(policy: MapPolicy, bin: bin, key: value, val: value) |out| {
        let flags = flags(policy);
        let nil_is_sent = flags.is_some().then_some(&val);
        match nil_is_sent {
            Some(val) => map::put(out, one(&key), Some(one(val)), order(policy), flags),
            None => map::put(out, one(&key), unless_nil(&val), order(policy), None),
        }
    };
    increment_value(policy: MapPolicy, bin: bin, key: value, incr: value)
        |out| map::increment(out, one(&key), unless_nil(&incr), Some(order(policy)));
    decrement_value(policy: MapPolicy, bin: bin, key: value, decr: value)
        |out| map::decrement(out, one(&key), unless_nil(&decr), Some(order(policy)));
    clear(bin: bin) |out| map::clear(out);
    remove_by_key(bin: bin, key: value, return_type: MapReturnType)
        |out| map::remove_by_key(out, return_type.bits(), one(&key));
    remove_by_key_list(bin: bin, keys: values, return_type: MapReturnType)
        |out| map::remove_by_key_list(out, return_type.bits(), all(&keys));
    remove_by_key_range(bin: bin, begin: value, end: value, return_type: MapReturnType)
        |out| map::remove_by_key_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    remove_by_value(bin: bin, value: value, return_type: MapReturnType)
        |out| map::remove_by_value(out, return_type.bits(), one(&value));
    remove_by_value_list(bin: bin, values: values, return_type: MapReturnType)
        |out| map::remove_by_value_list(out, return_type.bits(), all(&values));
    remove_by_value_range(bin: bin, begin: value, end: value, return_type: MapReturnType)
        |out| map::remove_by_value_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    remove_by_index(bin: bin, index: i64, return_type: MapReturnType)
        |out| map::remove_by_index(out, return_type.bits(), index);
    remove_by_index_range(bin: bin, index: i64, count: i64, return_type: MapReturnType)
        |out| map::remove_by_index_range(out, return_type.bits(), index, Some(count));
    remove_by_index_range_from(bin: bin, index: i64, return_type: MapReturnType)
        |out| map::remove_by_index_range(out, return_type.bits(), index, None);
    remove_by_rank(bin: bin, rank: i64, return_type: MapReturnType)
        |out| map::remove_by_rank(out, return_type.bits(), rank);
    remove_by_rank_range(bin: bin, rank: i64, count: i64, return_type: MapReturnType)
        |out| map::remove_by_rank_range(out, return_type.bits(), rank, Some(count));
    remove_by_rank_range_from(bin: bin, rank: i64, return_type: MapReturnType)
        |out| map::remove_by_rank_range(out, return_type.bits(), rank, None);
    size(bin: bin) |out| map::size(out);
    get_by_key(bin: bin, key: value, return_type: MapReturnType)
        |out| map::get_by_key(out, return_type.bits(), one(&key));
    get_by_key_range(bin: bin, begin: value, end: value, return_type: MapReturnType)
        |out| map::get_by_key_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    get_by_value(bin: bin, value: value, return_type: MapReturnType)
        |out| map::get_by_value(out, return_type.bits(), one(&value));
    get_by_value_range(bin: bin, begin: value, end: value, return_type: MapReturnType)
        |out| map::get_by_value_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    get_by_index(bin: bin, index: i64, return_type: MapReturnType)
        |out| map::get_by_index(out, return_type.bits(), index);
    get_by_index_range(bin: bin, index: i64, count: i64, return_type: MapReturnType)
        |out| map::get_by_index_range(out, return_type.bits(), index, Some(count));
    get_by_index_range_from(bin: bin, index: i64, return_type: MapReturnType)
        |out| map::get_by_index_range(out, return_type.bits(), index, None);
    get_by_rank(bin: bin, rank: i64, return_type: MapReturnType)
        |out| map::get_by_rank(out, return_type.bits(), rank);
    get_by_rank_range(bin: bin, rank: i64, count: i64, return_type: MapReturnType)
        |out| map::get_by_rank_range(out, return_type.bits(), rank, Some(count));
    get_by_rank_range_from(bin: bin, rank: i64, return_type: MapReturnType)
        |out| map::get_by_rank_range(out, return_type.bits(), rank, None);
    remove_by_key_relative_index_range(bin: bin, key: value, index: i64, return_type: MapReturnType)
        |out| map::remove_by_key_relative_index_range(out, return_type.bits(), one(&key), index, None);
    remove_by_key_relative_index_range_count(
        bin: bin, key: value, index: i64, count: i64, return_type: MapReturnType
    ) |out| map::remove_by_key_relative_index_range(out, return_type.bits(), one(&key), index, Some(count));
    remove_by_value_relative_rank_range(bin: bin, value: value, rank: i64, return_type: MapReturnType)
        |out| map::remove_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, None);
    remove_by_value_relative_rank_range_count(
        bin: bin, value: value, rank: i64, count: i64, return_type: MapReturnType
    ) |out| map::remove_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, Some(count));
    get_by_key_list(bin: bin, keys: values, return_type: MapReturnType)
        |out| map::get_by_key_list(out, return_type.bits(), all(&keys));
    get_by_value_list(bin: bin, values: values, return_type: MapReturnType)
        |out| map::get_by_value_list(out, return_type.bits(), all(&values));
    get_by_key_relative_index_range(bin: bin, key: value, index: i64, return_type: MapReturnType)
        |out| map::get_by_key_relative_index_range(out, return_type.bits(), one(&key), index, None);
    get_by_key_relative_index_range_count(
        bin: bin, key: value, index: i64, count: i64, return_type: MapReturnType
    ) |out| map::get_by_key_relative_index_range(out, return_type.bits(), one(&key), index, Some(count));
    get_by_value_relative_rank_range(bin: bin, value: value, rank: i64, return_type: MapReturnType)
        |out| map::get_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, None);
    get_by_value_relative_rank_range_count(
        bin: bin, value: value, rank: i64, count: i64, return_type: MapReturnType
    ) |out| map::get_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, Some(count));
}
