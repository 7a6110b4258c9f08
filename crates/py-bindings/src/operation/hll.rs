//! Operations on HLLs.

use aerolane_wire::msgpack::Writer;
use aerolane_wire::operation::hll;
use pyo3::prelude::*;

use super::BaseOperation;
use super::table::{bits, elements, operations};
use crate::cdt::ByteFlags;
use crate::value::{self, Hll, Refused};

/// Operations on HLLs (`HyperLogLog` sketches), which estimate how many distinct values were added.
///
/// `index_bit_count` (4 to 16): more bits are more accurate and take more space. `min_hash_bit_count` (4 to 51): for
/// similarities and for intersections of more than two HLLs. -1 means the bin's own setting, or none. `flags`: bits of
/// `HLLWriteFlags`. HLLs to compare with are `HLL` objects, as read from a bin.
#[pyclass(frozen, extends = BaseOperation, module = "aerolane.native")]
pub(crate) struct HllOperation;

/// HLLs as one argument.
pub(crate) fn hlls<'a>(list: &'a Bound<'_, PyAny>) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    |writer| {
        value::pack_items(writer, list, |writer, item| {
            if item.is_instance_of::<Hll>() {
                return value::pack_value(writer, item);
            }
            Err(Refused::wrong_type(format!("an HLL was expected, not {}", item.get_type().name()?)))
        })
    }
}

operations! {
    HllOperation, answers: true;

    /// Creates an HLL, or clears an existing one.
    #[pyo3(signature = (bin_name, index_bit_count, min_hash_bit_count=-1, flags=None))]
    init(bin_name; index_bit_count: i64, min_hash_bit_count: i64, flags: Option<ByteFlags>)
        = |out| hll::init(out, index_bit_count, min_hash_bit_count, bits(flags));
    /// Adds values; creates the HLL if it is missing and `index_bit_count` is given. Returns how many of the values
    /// changed the HLL.
    #[pyo3(signature = (bin_name, values, index_bit_count=-1, min_hash_bit_count=-1, flags=None))]
    add(bin_name; values: Bound<'_, PyAny>, index_bit_count: i64, min_hash_bit_count: i64, flags: Option<ByteFlags>)
        = |out| hll::add(out, elements(&values), index_bit_count, min_hash_bit_count, bits(flags));
    /// Returns the approximate number of values that were added.
    get_count(bin_name) = hll::get_count;
    /// Returns a list of the numbers of index bits and of min-hash bits.
    describe(bin_name) = hll::describe;
    /// Returns the same as `get_count` and stores it with the bin.
    refresh_count(bin_name) = hll::refresh_count;
    /// Folds the HLL to fewer index bits; it must have no min-hash bits.
    fold(bin_name; index_bit_count: i64) = |out| hll::fold(out, index_bit_count);
    /// Returns the union with other HLLs, an `HLL`.
    get_union(bin_name; hll_list: Bound<'_, PyAny>) = |out| hll::get_union(out, hlls(&hll_list));
    /// Returns the approximate number of values in the union with other HLLs.
    get_union_count(bin_name; hll_list: Bound<'_, PyAny>) = |out| hll::get_union_count(out, hlls(&hll_list));
    /// Returns the approximate number of values in the intersection with other HLLs.
    get_intersect_count(bin_name; hll_list: Bound<'_, PyAny>) = |out| hll::get_intersect_count(out, hlls(&hll_list));
    /// Returns how similar the HLL is to others: a float from 0 to 1.
    get_similarity(bin_name; hll_list: Bound<'_, PyAny>) = |out| hll::get_similarity(out, hlls(&hll_list));
    /// Sets the bin to the union with other HLLs.
    #[pyo3(signature = (bin_name, hll_list, flags=None))]
    set_union(bin_name; hll_list: Bound<'_, PyAny>, flags: Option<ByteFlags>)
        = |out| hll::set_union(out, hlls(&hll_list), bits(flags));
}
