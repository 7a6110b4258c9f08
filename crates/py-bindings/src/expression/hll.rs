//! Operations on HLLs: how many different values there are, about.

use aerolane_wire::operation::hll::code;
use pyo3::prelude::*;

use super::FilterExpression;
use super::part::{Exp, Module, Part, call, modify as modified};
use super::table::expressions;
use crate::cdt::{Ctx, ExpType, HllPolicy};

/// A number that operations do not have.
const MAY_CONTAIN: u8 = 56;
/// A number of bits that is not given.
const ABSENT: i64 = -1;

fn read(gives: ExpType, arguments: &[&dyn Part], bin: &Exp) -> PyResult<FilterExpression> {
    call(Module::Hll, gives, arguments, &Ctx::default(), bin)
}

fn modify(arguments: &[&dyn Part], bin: &Exp) -> PyResult<FilterExpression> {
    modified(Module::Hll, ExpType::Hll, arguments, &Ctx::default(), bin)
}

expressions! {
    /// A new HLL. `index_bit_count`: 4 to 16, as everywhere here.
    hll_init(policy: PyRef<'_, HllPolicy>, index_bit_count: Exp, bin: Exp)
        = modify(&[&code::INIT, &index_bit_count, &ABSENT, &policy.flags_number()], &bin);
    /// A new HLL with min-hash bits (`min_hash_count`: 4 to 51).
    hll_init_with_min_hash(policy: PyRef<'_, HllPolicy>, index_bit_count: Exp, min_hash_count: Exp, bin: Exp)
        = modify(&[&code::INIT, &index_bit_count, &min_hash_count, &policy.flags_number()], &bin);
    /// The HLL with the values of a list.
    hll_add(policy: PyRef<'_, HllPolicy>, list: Exp, bin: Exp)
        = modify(&[&code::ADD, &list, &ABSENT, &ABSENT, &policy.flags_number()], &bin);
    /// The HLL with the values of a list; a new one if there is none.
    hll_add_with_index(policy: PyRef<'_, HllPolicy>, list: Exp, index_bit_count: Exp, bin: Exp)
        = modify(&[&code::ADD, &list, &index_bit_count, &ABSENT, &policy.flags_number()], &bin);
    /// The HLL with the values of a list; a new one with min-hash bits if there is none.
    hll_add_with_index_and_min_hash(
        policy: PyRef<'_, HllPolicy>, list: Exp, index_bit_count: Exp, min_hash_count: Exp, bin: Exp,
    )
        = modify(&[&code::ADD, &list, &index_bit_count, &min_hash_count, &policy.flags_number()], &bin);
    /// The approximate number of values that were added.
    hll_get_count(bin: Exp) = read(ExpType::Int, &[&code::GET_COUNT], &bin);
    /// The union with a list of HLLs.
    hll_get_union(list: Exp, bin: Exp) = read(ExpType::Hll, &[&code::GET_UNION, &list], &bin);
    /// The approximate number of values in the union with a list of HLLs.
    hll_get_union_count(list: Exp, bin: Exp) = read(ExpType::Int, &[&code::GET_UNION_COUNT, &list], &bin);
    /// The approximate number of values in the intersection with a list of HLLs.
    hll_get_intersect_count(list: Exp, bin: Exp) = read(ExpType::Int, &[&code::GET_INTERSECT_COUNT, &list], &bin);
    /// How similar the HLL is to a list of HLLs: a float from 0 to 1.
    hll_get_similarity(list: Exp, bin: Exp) = read(ExpType::Float, &[&code::GET_SIMILARITY, &list], &bin);
    /// A list of the numbers of index bits and of min-hash bits.
    hll_describe(bin: Exp) = read(ExpType::List, &[&code::DESCRIBE], &bin);
    /// 1 if all values of a list may have been added, 0 if one certainly was not.
    hll_may_contain(list: Exp, bin: Exp) = read(ExpType::Int, &[&MAY_CONTAIN, &list], &bin);
}
