//! Operations on HyperLogLog bins.
//!
//! Names, arguments and meaning are those of [`aerospike_core::operations::hll`], whose policy and flag types are
//! re-exported here.

use aerolane_wire::operation::hll;
pub use aerospike_core::operations::hll::*;

use super::encoded::{Traits, all};
use super::macros::constructors;

/// Stands for "none" among the bit counts.
const NONE: i64 = -1;

fn flags(policy: HllPolicy) -> i64 {
    policy.flags.bits().into()
}

constructors! {
    hll, Traits::WHOLE_BIN, bin;

    init(policy: HllPolicy, bin: bin, index_bit_count: i64)
        |out| hll::init(out, index_bit_count, NONE, flags(policy));
    init_with_min_hash(policy: HllPolicy, bin: bin, index_bit_count: i64, min_hash_bit_count: i64)
        |out| hll::init(out, index_bit_count, min_hash_bit_count, flags(policy));
    add(policy: HllPolicy, bin: bin, list: values) |out| hll::add(out, all(&list), NONE, NONE, flags(policy));
    add_with_index(policy: HllPolicy, bin: bin, list: values, index_bit_count: i64)
        |out| hll::add(out, all(&list), index_bit_count, NONE, flags(policy));
    add_with_index_and_min_hash(
        policy: HllPolicy, bin: bin, list: values, index_bit_count: i64, min_hash_bit_count: i64
    ) |out| hll::add(out, all(&list), index_bit_count, min_hash_bit_count, flags(policy));
    set_union(policy: HllPolicy, bin: bin, list: values) |out| hll::set_union(out, all(&list), flags(policy));
    refresh_count(bin: bin) |out| hll::refresh_count(out);
    fold(bin: bin, index_bit_count: i64) |out| hll::fold(out, index_bit_count);
    get_count(bin: bin) |out| hll::get_count(out);
    get_union(bin: bin, list: values) |out| hll::get_union(out, all(&list));
    get_union_count(bin: bin, list: values) |out| hll::get_union_count(out, all(&list));
    get_intersect_count(bin: bin, list: values) |out| hll::get_intersect_count(out, all(&list));
    get_similarity(bin: bin, list: values) |out| hll::get_similarity(out, all(&list));
    describe(bin: bin) |out| hll::describe(out);
}
