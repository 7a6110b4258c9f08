//! Steps on HLLs.

use aerolane_wire::msgpack::Writer;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::builder::hll_config::HllConfig;
use crate::errors;
use crate::operation::{BaseOperation, Kind};
use crate::value::Refused;

/// Bits of `HLLWriteFlags`.
const CREATE_ONLY: i64 = 1;
const UPDATE_ONLY: i64 = 2;
const NO_FAIL: i64 = 4;
const ALLOW_FOLD: i64 = 8;

/// The write flags that are set.
#[allow(clippy::fn_params_excessive_bools)] // the arguments of the Python methods
pub(in crate::builder) fn hll_flags(
    name: &Bound<'_, PyString>,
    create_only: bool,
    update_only: bool,
    no_fail: bool,
    allow_fold: bool,
) -> PyResult<i64> {
    if create_only && update_only {
        let text = "create_only and update_only are mutually exclusive: together no bin would do";
        return Err(errors::invalid_argument(name.py(), text));
    }
    let bit = |set: bool, bit: i64| if set { bit } else { 0 };
    Ok(bit(create_only, CREATE_ONLY)
        | bit(update_only, UPDATE_ONLY)
        | bit(no_fail, NO_FAIL)
        | bit(allow_fold, ALLOW_FOLD))
}

/// An operation on an HLL.
pub(in crate::builder) fn hll_op<K: Kind>(
    name: &Bound<'_, PyString>,
    encode: impl FnOnce(&mut Vec<u8>) -> K,
) -> PyResult<BaseOperation> {
    BaseOperation::encoded(name, true, encode)
}

/// HLLs as one argument.
pub(in crate::builder) fn hlls<'a>(
    list: &'a Bound<'_, PyAny>,
) -> impl FnOnce(&mut Writer<'_>) -> Result<(), Refused> + 'a {
    crate::operation::hll::hlls(list)
}

/// The bits of a new HLL's index; -1: as the bin has it.
pub(in crate::builder) fn index_bits(config: Option<&HllConfig>) -> i64 {
    config.map_or(-1, |config| config.index_bits)
}

/// The bits of a new HLL's min-hashes; -1: none.
pub(in crate::builder) fn min_hash_bits(config: Option<&HllConfig>) -> i64 {
    config.map_or(-1, |config| config.min_hash_bits)
}

macro_rules! hll_reads {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Reads the estimated number of values that were added.
            hll_get_count() = |name| hll_op(name, wire::hll::get_count);
            /// Reads the numbers of index bits and of min-hash bits. `get_hll_config()` of the result returns them.
            hll_describe() = |name| hll_op(name, wire::hll::describe);
            /// Reads the union with other HLLs, as an `HLL`.
            hll_get_union(hll_list: Bound<'py, PyAny>)
                = |name| hll_op(name, |out| wire::hll::get_union(out, hlls(&hll_list)));
            /// Reads the estimated number of values in the union with other HLLs.
            hll_get_union_count(hll_list: Bound<'py, PyAny>)
                = |name| hll_op(name, |out| wire::hll::get_union_count(out, hlls(&hll_list)));
            /// Reads the estimated number of values in the intersection with other HLLs.
            hll_get_intersect_count(hll_list: Bound<'py, PyAny>)
                = |name| hll_op(name, |out| wire::hll::get_intersect_count(out, hlls(&hll_list)));
            /// Reads the estimated similarity to other HLLs, a float from 0 to 1.
            hll_get_similarity(hll_list: Bound<'py, PyAny>)
                = |name| hll_op(name, |out| wire::hll::get_similarity(out, hlls(&hll_list)));
        }
    };
}

macro_rules! hll_writes {
    ($class:ident) => {
        $crate::builder::steps::steps! {
            $class;
            /// Creates an HLL, or resets it if it exists. `create_only` fails if the bin exists, `update_only` if it
            /// does not, and `no_fail` turns these failures into no-ops.
            #[pyo3(signature = (config, *, create_only=false, update_only=false, no_fail=false, allow_fold=false))]
            hll_init(
                config: PyRef<'py, HllConfig>, create_only: bool, update_only: bool, no_fail: bool, allow_fold: bool
            ) = |name| {
                let flags = hll_flags(name, create_only, update_only, no_fail, allow_fold)?;
                let (index, hashes) = (index_bits(Some(&config)), min_hash_bits(Some(&config)));
                hll_op(name, |out| wire::hll::init(out, index, hashes, flags))
            };
            /// Adds values. Creates the HLL if it is missing and `config` is given. Returns how many of the values
            /// changed the HLL. Takes the same flags as `hll_init`.
            #[pyo3(signature = (
                values, *, config=None, create_only=false, update_only=false, no_fail=false, allow_fold=false
            ))]
            hll_add(
                values: Bound<'py, PyAny>, config: Option<PyRef<'py, HllConfig>>, create_only: bool, update_only: bool,
                no_fail: bool, allow_fold: bool
            ) = |name| {
                let flags = hll_flags(name, create_only, update_only, no_fail, allow_fold)?;
                let (index, hashes) = (index_bits(config.as_deref()), min_hash_bits(config.as_deref()));
                hll_op(name, |out| wire::hll::add(out, elements(&values), index, hashes, flags))
            };
            /// Sets the bin to the union with other HLLs. `allow_fold` lets the result have fewer index bits. Takes the
            /// same flags as `hll_init`.
            #[pyo3(signature = (hll_list, *, create_only=false, update_only=false, no_fail=false, allow_fold=false))]
            hll_set_union(
                hll_list: Bound<'py, PyAny>, create_only: bool, update_only: bool, no_fail: bool, allow_fold: bool
            ) = |name| {
                let flags = hll_flags(name, create_only, update_only, no_fail, allow_fold)?;
                hll_op(name, |out| wire::hll::set_union(out, hlls(&hll_list), flags))
            };
            /// Folds the HLL to fewer index bits. It must have no min-hash bits.
            hll_fold(index_bit_count: i64) = |name| hll_op(name, |out| wire::hll::fold(out, index_bit_count));
            /// Updates the count that is cached in the bin, and returns it as `hll_get_count` does.
            hll_refresh_count() = |name| hll_op(name, wire::hll::refresh_count);
        }
    };
}

pub(in crate::builder) use {hll_reads, hll_writes};
