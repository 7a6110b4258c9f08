//! The steps: what can be done with a bin, and with what is nested in it. Each is written once, in a table, and becomes a
//! method of all classes that have it.
//!
//! * [`scalar`], [`list`], [`map`], [`hll`], [`bit`], [`string`]: the tables; [`navigation`]: the way to what is nested
//! * [`since`](mod@since): which of them need a newer server
//!
//! A line of a table is the name of the method with its arguments, and what makes an operation of them for a bin of the
//! name that it is given. The class says in `step` what becomes of the operation. A module that uses the tables imports
//! [`types`], which their arguments are of.

pub(super) mod bit;
pub(super) mod hll;
pub(super) mod list;
pub(super) mod map;
pub(super) mod navigation;
pub(super) mod scalar;
pub(super) mod since;
pub(super) mod string;

pub(super) use bit::{bit_reads, bit_writes};
pub(super) use hll::{hll_reads, hll_writes};
pub(super) use list::{list_reads, list_writes};
pub(super) use map::{map_reads, map_writes};
pub(super) use navigation::navigations;
pub(super) use scalar::{scalar_reads, scalar_writes};
pub(super) use string::{string_reads, string_writes};

/// The types of arguments.
pub(super) mod types {
    pub(in crate::builder) use crate::builder::hll_config::HllConfig;
    pub(in crate::builder) use crate::cdt::{
        BitPolicy, ByteFlags, Choice, Flags, ListOrder, ListSort, MapOrder, NumericType, Overflow, Resize,
    };
    pub(in crate::builder) use pyo3::types::PyString;
}

/// What operations are made with.
pub(super) mod make {
    pub(in crate::builder) use super::bit::{bit_flags, blob, bytes_op};
    pub(in crate::builder) use super::hll::{hll_flags, hll_op, hlls, index_bits, min_hash_bits};
    pub(in crate::builder) use super::list::{flags as list_flags, increment, list_op};
    pub(in crate::builder) use super::map::{CREATE_ONLY, Putting, UPDATE_ONLY, map_op, put_items};
    pub(in crate::builder) use super::scalar::{self, exp_flags};
    pub(in crate::builder) use super::string::{pair, snip_flags, string_op, strings};
    pub(in crate::builder) use crate::operation::table::{bits, element, elements, text, utf8};
    pub(in crate::builder) use crate::operation::{BaseOperation, list as list_operation, map as map_operation};
    pub(in crate::builder) use aerolane_wire::message::op;
    pub(in crate::builder) use aerolane_wire::operation as wire;
}

/// Defines the methods of a table.
macro_rules! steps {
    ($class:ident; $( $(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),* $(,)?) = $make:expr; )*) => {
        #[pyo3::pymethods]
        #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // the arguments of the Python methods
        impl $class {
            $(
                $(#[$meta])*
                fn $name<'py>(
                    slf: &pyo3::Bound<'py, Self>,
                    $($arg: $type),*
                ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                    #[allow(unused_imports)]
                    use $crate::builder::steps::make::*;
                    Self::step(slf, stringify!($name), $make)
                }
            )*
        }
    };
}
pub(super) use steps;
