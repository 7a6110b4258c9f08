//! Operations on lists.

use aerolane_wire::operation::list::code;
use pyo3::prelude::*;

use super::FilterExpression;
use super::part::{Exp, Last, Module, Part, call, modify as modified, nothing_selected};
use super::table::expressions;
use crate::cdt::{Choice, Ctx, ExpType, ListPolicy, ListReturnType, ListSort};

fn read(gives: ExpType, arguments: &[&dyn Part], ctx: &Ctx, bin: &Exp) -> PyResult<FilterExpression> {
    call(Module::Cdt, gives, arguments, ctx, bin)
}

/// Gives the whole bin, which is a list unless the context starts in a map.
fn modify(arguments: &[&dyn Part], ctx: &Ctx, bin: &Exp) -> PyResult<FilterExpression> {
    let gives = if ctx.starts_in_list().unwrap_or(true) { ExpType::List } else { ExpType::Map };
    modified(Module::Cdt, gives, arguments, ctx, bin)
}

/// The type of what a selection gives.
fn selected(return_type: ListReturnType) -> PyResult<ExpType> {
    match return_type.plain() {
        0 => Err(nothing_selected()),
        5 => Ok(ExpType::Int),
        13 => Ok(ExpType::Bool),
        _ => Ok(ExpType::List),
    }
}

expressions! {
    /// How many items a list has.
    list_size(bin: Exp, ctx: Ctx) = read(ExpType::Int, &[&code::SIZE], &ctx, &bin);
    /// The str items of a list, concatenated. Server 8.2 and later.
    list_join(bin: Exp, ctx: Ctx) = read(ExpType::String, &[&code::JOIN], &ctx, &bin);
    /// The str items of a list, joined by a separator. Server 8.2 and later.
    list_join_by_separator(separator: Exp, bin: Exp, ctx: Ctx)
        = read(ExpType::String, &[&code::JOIN, &separator], &ctx, &bin);
    /// The item at an index. `value_type`: the type of the result.
    list_get_by_index(return_type: ListReturnType, value_type: Choice<ExpType>, index: Exp, bin: Exp, ctx: Ctx)
        = read(value_type.0, &[&code::GET_BY_INDEX, &return_type, &index], &ctx, &bin);
    /// The item at a rank: 0 is the smallest. `value_type`: the type of the result.
    list_get_by_rank(return_type: ListReturnType, value_type: Choice<ExpType>, rank: Exp, bin: Exp, ctx: Ctx)
        = read(value_type.0, &[&code::GET_BY_RANK, &return_type, &rank], &ctx, &bin);
    /// All items that are equal to a value.
    list_get_by_value(return_type: ListReturnType, value: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE, &return_type, &value], &ctx, &bin);
    /// The items from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive; None: no upper bound).
    list_get_by_value_range(
        return_type: ListReturnType, value_begin: Option<Exp>, value_end: Option<Exp>, bin: Exp, ctx: Ctx,
    )
        = read(selected(return_type)?, &[
            &code::GET_BY_VALUE_INTERVAL, &return_type, &value_begin, &Last(&value_end),
        ], &ctx, &bin);
    /// All items that are in a list.
    list_get_by_value_list(return_type: ListReturnType, values: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE_LIST, &return_type, &values], &ctx, &bin);
    /// The items starting at an index.
    list_get_by_index_range(return_type: ListReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_INDEX_RANGE, &return_type, &index], &ctx, &bin);
    /// `count` items starting at an index.
    list_get_by_index_range_count(return_type: ListReturnType, index: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_INDEX_RANGE, &return_type, &index, &count], &ctx, &bin);
    /// The items starting at a rank.
    list_get_by_rank_range(return_type: ListReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_RANK_RANGE, &return_type, &rank], &ctx, &bin);
    /// `count` items starting at a rank.
    list_get_by_rank_range_count(return_type: ListReturnType, rank: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_RANK_RANGE, &return_type, &rank, &count], &ctx, &bin);
    /// The items starting at a rank relative to that of a value.
    list_get_by_value_relative_rank_range(return_type: ListReturnType, value: Exp, rank: Exp, bin: Exp, ctx: Ctx)
        = read(selected(return_type)?, &[&code::GET_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank], &ctx, &bin);
    /// `count` items starting at a rank relative to that of a value.
    list_get_by_value_relative_rank_range_count(
        return_type: ListReturnType, value: Exp, rank: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = read(selected(return_type)?, &[
            &code::GET_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank, &count,
        ], &ctx, &bin);
    /// The list with a value appended.
    list_append(policy: PyRef<'_, ListPolicy>, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::APPEND, &value, &policy.order_number(), &policy.flags_number()], &ctx, &bin);
    /// The list with the items of another list appended.
    list_append_items(policy: PyRef<'_, ListPolicy>, list: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::APPEND_ITEMS, &list, &policy.order_number(), &policy.flags_number()], &ctx, &bin);
    /// The list with a value inserted at an index.
    list_insert(policy: PyRef<'_, ListPolicy>, index: Exp, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::INSERT, &index, &value, &policy.flags_number()], &ctx, &bin);
    /// The list with the items of another one inserted at an index.
    list_insert_items(policy: PyRef<'_, ListPolicy>, index: Exp, list: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::INSERT_ITEMS, &index, &list, &policy.flags_number()], &ctx, &bin);
    /// The list with the number at an index increased by a value.
    list_increment(policy: PyRef<'_, ListPolicy>, index: Exp, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::INCREMENT, &index, &value, &policy.order_number(), &policy.flags_number()], &ctx, &bin);
    /// The list with another value at an index.
    list_set(policy: PyRef<'_, ListPolicy>, index: Exp, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::SET, &index, &value, &policy.flags_number()], &ctx, &bin);
    /// The list without items.
    list_clear(bin: Exp, ctx: Ctx) = modify(&[&code::CLEAR], &ctx, &bin);
    /// The list, sorted.
    list_sort(sort_flags: Choice<ListSort>, bin: Exp, ctx: Ctx)
        = modify(&[&code::SORT, &(sort_flags.0 as u8)], &ctx, &bin);
    /// The list without the items that are equal to a value.
    list_remove_by_value(return_type: ListReturnType, value: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE, &return_type, &value], &ctx, &bin);
    /// The list without the items that are in another one.
    list_remove_by_value_list(return_type: ListReturnType, values: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE_LIST, &return_type, &values], &ctx, &bin);
    /// The list without the items from `value_begin` (inclusive; None: no lower bound) to `value_end` (exclusive; None:
    /// no upper bound).
    list_remove_by_value_range(
        return_type: ListReturnType, value_begin: Option<Exp>, value_end: Option<Exp>, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_VALUE_INTERVAL, &return_type, &value_begin, &Last(&value_end)], &ctx, &bin);
    /// The list without the items starting at a rank relative to that of a value.
    list_remove_by_value_relative_rank_range(return_type: ListReturnType, value: Exp, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank], &ctx, &bin);
    /// The list without `count` items starting at a rank relative to that of a value.
    list_remove_by_value_relative_rank_range_count(
        return_type: ListReturnType, value: Exp, rank: Exp, count: Exp, bin: Exp, ctx: Ctx,
    )
        = modify(&[&code::REMOVE_BY_VALUE_REL_RANK_RANGE, &return_type, &value, &rank, &count], &ctx, &bin);
    /// The list without the item at an index.
    list_remove_by_index(return_type: ListReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX, &return_type, &index], &ctx, &bin);
    /// The list without the items starting at an index.
    list_remove_by_index_range(return_type: ListReturnType, index: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX_RANGE, &return_type, &index], &ctx, &bin);
    /// The list without `count` items starting at an index.
    list_remove_by_index_range_count(return_type: ListReturnType, index: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_INDEX_RANGE, &return_type, &index, &count], &ctx, &bin);
    /// The list without the item at a rank: 0 is the smallest.
    list_remove_by_rank(return_type: ListReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK, &return_type, &rank], &ctx, &bin);
    /// The list without the items starting at a rank.
    list_remove_by_rank_range(return_type: ListReturnType, rank: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK_RANGE, &return_type, &rank], &ctx, &bin);
    /// The list without `count` items starting at a rank.
    list_remove_by_rank_range_count(return_type: ListReturnType, rank: Exp, count: Exp, bin: Exp, ctx: Ctx)
        = modify(&[&code::REMOVE_BY_RANK_RANGE, &return_type, &rank, &count], &ctx, &bin);
}
