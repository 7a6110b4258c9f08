//! Values as records hold them: their order, their limits, and the form in which they are kept. Below all that works on them.

mod collection;
mod typed;

pub(crate) use aerolane_wire::msgpack::compare;
pub(crate) use collection::{is_key as is_map_key, stored_element, stored_list, stored_map};
pub(crate) use typed::{Type, Value};

/// Longest bin name.
pub(crate) const MAX_BIN_NAME: usize = 15;
/// Longest set name.
pub(crate) const MAX_SET_NAME: usize = 63;
/// Most bins of a record.
pub(crate) const MAX_BINS: usize = 32_767;
