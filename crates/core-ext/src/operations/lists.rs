//! Operations on list bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::lists`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::msgpack::order::PERSIST_INDEX;
use aerolane_wire::operation::{context, list};
use aerospike_core::Value;
pub use aerospike_core::operations::lists::*;

use super::encoded::{Traits, all, one, room, unless_nil};
use super::macros::constructors;
use super::{Operation, core};
use crate::error::{Error, Result};

fn order(policy: ListPolicy) -> i64 {
    policy.attributes as i64
}

fn flags(policy: ListPolicy) -> i64 {
    policy.flags.bits().into()
}

fn not_empty(values: &[Value]) -> Result<()> {
    if values.is_empty() { Err(Error::invalid_argument("its list of values is empty")) } else { Ok(()) }
}

fn not_nil(value: &Value) -> Result<()> {
    if matches!(value, Value::Nil) { Err(Error::invalid_argument("its value is nil")) } else { Ok(()) }
}

/// As [`aerospike_core::operations::lists::create_persistent`].
#[must_use]
pub fn create_persistent(
    bin: impl Into<String>,
    list_order: ListOrderType,
    pad: bool,
    persist_index: bool,
) -> Operation {
    let order = list_order as u8 | if persist_index { PERSIST_INDEX } else { 0 };
    let mut value = room();
    let kind = list::set_type(&mut value, order.into());
    let traits = Traits { nests: true, create: context::create::list(list_order as u8, pad) };
    Operation::encoded(bin.into(), traits, Ok(kind), value, move |bin| {
        core::lists::create_persistent(bin, list_order, pad, persist_index)
    })
}

/// As [`aerospike_core::operations::lists::create`].
#[must_use]
pub fn create(bin: impl Into<String>, list_order: ListOrderType, pad: bool) -> Operation {
    create_persistent(bin, list_order, pad, false)
}

/// As [`aerospike_core::operations::lists::create_with_index`].
#[must_use]
pub fn create_with_index(bin: impl Into<String>, list_order: ListOrderType) -> Operation {
    create_persistent(bin, list_order, false, true)
}

constructors! {
    lists, Traits::NESTS, bin;

    set_order(bin: bin, list_order: ListOrderType) |out| list::set_type(out, list_order as i64);
    set_order_with_index(bin: bin, list_order: ListOrderType)
        |out| list::set_type(out, (list_order as u8 | PERSIST_INDEX).into());
    append(policy: ListPolicy, bin: bin, value: value)
        |out| list::append(out, one(&value), Some(order(policy)), Some(flags(policy)));
    /// An empty list of values is refused by the call that gets this operation.
    append_items(policy: ListPolicy, bin: bin, values: values) |out| {
        not_empty(&values)?;
        list::append_items(out, all(&values), Some(order(policy)), Some(flags(policy)))
    };
    insert(policy: ListPolicy, bin: bin, index: i64, value: value)
        |out| list::insert(out, index, one(&value), Some(flags(policy)));
    /// An empty list of values is refused by the call that gets this operation.
    insert_items(policy: ListPolicy, bin: bin, index: i64, values: values) |out| {
        not_empty(&values)?;
        list::insert_items(out, index, all(&values), Some(flags(policy)))
    };
    pop(bin: bin, index: i64) |out| list::pop(out, index);
    pop_range(bin: bin, index: i64, count: i64) |out| list::pop_range(out, index, Some(count));
    pop_range_from(bin: bin, index: i64) |out| list::pop_range(out, index, None);
    remove(bin: bin, index: i64) |out| list::remove(out, index);
    remove_range(bin: bin, index: i64, count: i64) |out| list::remove_range(out, index, Some(count));
    remove_range_from(bin: bin, index: i64) |out| list::remove_range(out, index, None);
    remove_by_value(bin: bin, value: value, return_type: ListReturnType)
        |out| list::remove_by_value(out, return_type.bits(), one(&value));
    remove_by_value_list(bin: bin, values: values, return_type: ListReturnType)
        |out| list::remove_by_value_list(out, return_type.bits(), all(&values));
    remove_by_value_range(bin: bin, return_type: ListReturnType, begin: value, end: value)
        |out| list::remove_by_value_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    remove_by_value_relative_rank_range(bin: bin, return_type: ListReturnType, value: value, rank: i64)
        |out| list::remove_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, None);
    remove_by_value_relative_rank_range_count(
        bin: bin, return_type: ListReturnType, value: value, rank: i64, count: i64
    ) |out| list::remove_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, Some(count));
    remove_by_index(bin: bin, index: i64, return_type: ListReturnType)
        |out| list::remove_by_index(out, return_type.bits(), index);
    remove_by_index_range(bin: bin, index: i64, return_type: ListReturnType)
        |out| list::remove_by_index_range(out, return_type.bits(), index, None);
    remove_by_index_range_count(bin: bin, index: i64, count: i64, return_type: ListReturnType)
        |out| list::remove_by_index_range(out, return_type.bits(), index, Some(count));
    remove_by_rank(bin: bin, rank: i64, return_type: ListReturnType)
        |out| list::remove_by_rank(out, return_type.bits(), rank);
    remove_by_rank_range(bin: bin, rank: i64, return_type: ListReturnType)
        |out| list::remove_by_rank_range(out, return_type.bits(), rank, None);
    remove_by_rank_range_count(bin: bin, rank: i64, count: i64, return_type: ListReturnType)
        |out| list::remove_by_rank_range(out, return_type.bits(), rank, Some(count));
    /// A nil value is refused by the call that gets this operation.
    set(bin: bin, index: i64, value: value) |out| {
        not_nil(&value)?;
        list::set(out, index, one(&value), None)
    };
    /// A nil value is refused by the call that gets this operation.
    set_with_policy(policy: ListPolicy, bin: bin, index: i64, value: value) |out| {
        not_nil(&value)?;
        list::set(out, index, one(&value), Some(flags(policy)))
    };
    trim(bin: bin, index: i64, count: i64) |out| list::trim(out, index, count);
    clear(bin: bin) |out| list::clear(out);
    increment(policy: ListPolicy, bin: bin, index: i64, value: i64)
        |out| list::increment(out, index, Some(one(&value.into())), Some(flags(policy)), None);
    increment_by_one(bin: bin, index: i64) |out| list::increment(out, index, unless_nil(&Value::Nil), None, None);
    increment_by_one_with_policy(policy: ListPolicy, bin: bin, index: i64)
        |out| list::increment(out, index, Some(one(&Value::Int(1))), Some(order(policy)), Some(flags(policy)));
    size(bin: bin) |out| list::size(out);
    get(bin: bin, index: i64) |out| list::get(out, index);
    get_range(bin: bin, index: i64, count: i64) |out| list::get_range(out, index, Some(count));
    get_range_from(bin: bin, index: i64) |out| list::get_range(out, index, None);
    join(bin: bin) |out| list::join(out, None);
    join_by_separator(bin: bin, separator: text) |out| list::join(out, Some(separator.as_bytes()));
    get_by_value(bin: bin, value: value, return_type: ListReturnType)
        |out| list::get_by_value(out, return_type.bits(), one(&value));
    get_by_value_list(bin: bin, values: values, return_type: ListReturnType)
        |out| list::get_by_value_list(out, return_type.bits(), all(&values));
    get_by_value_range(bin: bin, begin: value, end: value, return_type: ListReturnType)
        |out| list::get_by_value_range(out, return_type.bits(), one(&begin), unless_nil(&end));
    get_by_index(bin: bin, index: i64, return_type: ListReturnType)
        |out| list::get_by_index(out, return_type.bits(), index);
    get_by_index_range(bin: bin, index: i64, return_type: ListReturnType)
        |out| list::get_by_index_range(out, return_type.bits(), index, None);
    get_by_index_range_count(bin: bin, index: i64, count: i64, return_type: ListReturnType)
        |out| list::get_by_index_range(out, return_type.bits(), index, Some(count));
    get_by_rank(bin: bin, rank: i64, return_type: ListReturnType)
        |out| list::get_by_rank(out, return_type.bits(), rank);
    get_by_rank_range(bin: bin, rank: i64, return_type: ListReturnType)
        |out| list::get_by_rank_range(out, return_type.bits(), rank, None);
    get_by_rank_range_count(bin: bin, rank: i64, count: i64, return_type: ListReturnType)
        |out| list::get_by_rank_range(out, return_type.bits(), rank, Some(count));
    get_by_value_relative_rank_range(bin: bin, value: value, rank: i64, return_type: ListReturnType)
        |out| list::get_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, None);
    get_by_value_relative_rank_range_count(
        bin: bin, value: value, rank: i64, count: i64, return_type: ListReturnType
    ) |out| list::get_by_value_relative_rank_range(out, return_type.bits(), one(&value), rank, Some(count));
    sort(bin: bin, sort_flags: ListSortFlags) |out| list::sort(out, sort_flags.bits().into());
}
