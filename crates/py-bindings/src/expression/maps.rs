//! Operations on maps.

use aerolane_wire::operation::map::code;
use pyo3::prelude::*;

use super::FilterExpression;
use super::part::{Exp, Last, Module, Part, call, modify as modified, nothing_selected};
use super::table::expressions;
use crate::cdt::{Choice, Ctx, ExpType, MapPolicy, MapReturnType};

fn read(gives: ExpType, arguments: &[&dyn Part], ctx: &Ctx, bin: &Exp) -> PyResult<FilterExpression> {
    call(Module::Cdt, gives, arguments, ctx, bin)
}

/// Gives the whole bin, which is a map unless the context starts in a list.
fn modify(arguments: &[&dyn Part], ctx: &Ctx, bin: &Exp) -> PyResult<FilterExpression> {
    let gives = if ctx.starts_in_list().unwrap_or(false) { ExpType::List } else { ExpType::Map };
    modified(Module::Cdt, gives, arguments, ctx, bin)
}

/// The type of what a selection gives.
fn selected(return_type: MapReturnType) -> PyResult<ExpType> {
    match return_type.plain() {
        0 => Err(nothing_selected()),
        5 => Ok(ExpType::Int),
        13 => Ok(ExpType::Bool),
        8 | 16 | 17 => Ok(ExpType::Map),
        _ => Ok(ExpType::List),
    }
}

expressions! {
    /// How many pairs a map has.
    map_size(bin: Exp, ctx: Ctx) = read(ExpType::Int, &[&code::SIZE], &ctx, &bin);
    /// The pair of a key. `value_type`: the type of the result.
    map_get_by_key(return_type: MapReturnType, value_type: Choice<ExpType>, key: Exp, bin: Exp, ctx: Ctx)
        = read(value_type.0, &[&code::GET_BY_KEY, &return_type, &key], &ctx, &bin);
    /// The pair at a rank: 0 has the smallest value. `value_type`: the type of the result.
    map_get_by_rank(return_type: MapReturnType, value_type: Choice<ExpType>, rank: Exp, bin: Exp, ctx: Ctx)
        = read(value_type.0, &[&code::GET_BY_RANK, &return_type, &rank], &ctx, &bin);
    /// The pair at an index, in the order of keys. `value_type`: the type of the result.
    map_get_by_index(return_type: MapReturnType, value_type: Choice<ExpType>, index: Exp, bin: Exp, ctx: Ctx)
        = read(value_type.0, &[&code::GET_BY_INDEX, &return_type, &index], &ctx, &bin);
    /// All pairs whose values are equal to one.
    map_get_by_value(return_type: MapReturnType, value: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE, &return_type, &value], &ctx, &bin);
    /// The pairs with values from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive; None: no
    /// upper bound).
    map_get_by_value_range(
        return_type: MapReturnType, value_begin: Option<Exp>, value_end: Option<Exp>, bin: Exp, ctx: Ctx,
    )
        = read(selected(return_type)?, &[
            &code::GET_BY_VALUE_INTERVAL, &return_type, &value_begin, &Last(&value_end),
        ], &ctx, &bin);
    /// All pairs whose values are in a list.
    map_get_by_value_list(return_type: MapReturnType, values: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE_LIST, &return_type, &values], &ctx, &bin);
    /// The pairs with keys from `key_begin` (inclusive; None: no lower bound) to `key_end` (exclusive; None: no upper
    /// bound).
    map_get_by_key_range(return_type: MapReturnType, key_begin: Option<Exp>, key_end: Option<Exp>, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[
            &code::GET_BY_KEY_INTERVAL, &return_type, &key_begin, &Last(&key_end),
        ], &ctx, &bin);
    /// All pairs whose keys are in a list.
    map_get_by_key_list(return_type: MapReturnType, keys: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_KEY_LIST, &return_type, &keys], &ctx, &bin);
    /// The pairs starting at an index relative to that of a key.
    map_get_by_key_relative_index_range(return_type: MapReturnType, key: Exp, index: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_KEY_REL_INDEX_RANGE, &return_type, &key, &index], &ctx, &bin);
    /// `count` pairs starting at an index relative to that of a key.
    map_get_by_key_relative_index_range_count(
        return_type: MapReturnType, key: Exp, index: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = read(selected(return_type)?, &[
            &code::GET_BY_KEY_REL_INDEX_RANGE, &return_type, &key, &index, &count,
        ], &ctx, &bin);
    /// The pairs starting at a rank relative to that of a value.
    map_get_by_value_relative_rank_range(return_type: MapReturnType, value: Exp, rank: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank], &ctx, &bin);
    /// `count` pairs starting at a rank relative to that of a value.
    map_get_by_value_relative_rank_range_count(
        return_type: MapReturnType, value: Exp, rank: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = read(selected(return_type)?, &[
            &code::GET_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank, &count,
        ], &ctx, &bin);
    /// The pairs starting at an index.
    map_get_by_index_range(return_type: MapReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_INDEX_RANGE, &return_type, &index], &ctx, &bin);
    /// `count` pairs starting at an index.
    map_get_by_index_range_count(return_type: MapReturnType, index: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_INDEX_RANGE, &return_type, &index, &count], &ctx, &bin);
    /// The pairs starting at a rank.
    map_get_by_rank_range(return_type: MapReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_RANK_RANGE, &return_type, &rank], &ctx, &bin);
    /// `count` pairs starting at a rank.
    map_get_by_rank_range_count(return_type: MapReturnType, rank: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_RANK_RANGE, &return_type, &rank, &count], &ctx, &bin);
    /// The map with a value for a key.
    map_put(policy: PyRef<'_, MapPolicy>, key: Exp, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::PUT, &key, &value, &policy.order_number(), &Last(&policy.flags_number())], &ctx, &bin);
    /// The map with the pairs of another one.
    map_put_items(policy: PyRef<'_, MapPolicy>, map: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::PUT_ITEMS, &map, &policy.order_number(), &Last(&policy.flags_number())], &ctx, &bin);
    /// The map with the number of a key increased by a value.
    map_increment(policy: PyRef<'_, MapPolicy>, key: Exp, incr: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::INCREMENT, &key, &incr, &policy.order_number()], &ctx, &bin);
    /// The map without pairs.
    map_clear(bin: Exp, ctx: Ctx) = modify(&[&code::CLEAR], &ctx, &bin);
    /// The map without a key.
    map_remove_by_key(return_type: MapReturnType, key: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_KEY, &return_type, &key], &ctx, &bin);
    /// The map without the keys of a list.
    map_remove_by_key_list(return_type: MapReturnType, keys: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_KEY_LIST, &return_type, &keys], &ctx, &bin);
    /// The map without the keys from `key_begin` (inclusive; None: no lower bound) to `key_end` (exclusive; None: no
    /// upper bound).
    map_remove_by_key_range(
        return_type: MapReturnType, key_begin: Option<Exp>, key_end: Option<Exp>, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_KEY_INTERVAL, &return_type, &key_begin, &Last(&key_end)], &ctx, &bin);
    /// The map without the pairs starting at an index relative to that of a key.
    map_remove_by_key_relative_index_range(return_type: MapReturnType, key: Exp, index: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_KEY_REL_INDEX_RANGE, &return_type, &key, &index], &ctx, &bin);
    /// The map without `count` pairs starting at an index relative to that of a key.
    map_remove_by_key_relative_index_range_count(
        return_type: MapReturnType, key: Exp, index: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_KEY_REL_INDEX_RANGE, &return_type, &key, &index, &count], &ctx, &bin);
    /// The map without the pairs whose values are equal to one.
    map_remove_by_value(return_type: MapReturnType, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE, &return_type, &value], &ctx, &bin);
    /// The map without the pairs whose values are in a list.
    map_remove_by_value_list(return_type: MapReturnType, values: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE_LIST, &return_type, &values], &ctx, &bin);
    /// The map without the values from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive; None:
    /// no upper bound).
    map_remove_by_value_range(
        return_type: MapReturnType, value_begin: Option<Exp>, value_end: Option<Exp>, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_VALUE_INTERVAL, &return_type, &value_begin, &Last(&value_end)], &ctx, &bin);
    /// The map without the pairs starting at a rank relative to that of a value.
    map_remove_by_value_relative_rank_range(return_type: MapReturnType, value: Exp, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank], &ctx, &bin);
    /// The map without `count` pairs starting at a rank relative to that of a value.
    map_remove_by_value_relative_rank_range_count(
        return_type: MapReturnType, value: Exp, rank: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank, &count], &ctx, &bin);
    /// The map without the pair at an index.
    map_remove_by_index(return_type: MapReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX, &return_type, &index], &ctx, &bin);
    /// The map without the pairs starting at an index.
    map_remove_by_index_range(return_type: MapReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX_RANGE, &return_type, &index], &ctx, &bin);
    /// The map without `count` pairs starting at an index.
    map_remove_by_index_range_count(return_type: MapReturnType, index: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX_RANGE, &return_type, &index, &count], &ctx, &bin);
    /// The map without the pair at a rank: 0 has the smallest value.
    map_remove_by_rank(return_type: MapReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK, &return_type, &rank], &ctx, &bin);
    /// The map without the pairs starting at a rank.
    map_remove_by_rank_range(return_type: MapReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK_RANGE, &return_type, &rank], &ctx, &bin);
    /// The map without `count` pairs starting at a rank.
    map_remove_by_rank_range_count(return_type: MapReturnType, rank: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK_RANGE, &return_type, &rank, &count], &ctx, &bin);
}
