//! The msgpack dialect of lists, maps, CDT arguments and expressions.
//!
//! What differs from plain msgpack (checked against the golden groups `list`, `map`, `ctx` and `exp`):
//!
//! * Strings, blobs, HLLs and GeoJSON are one msgpack family (str or bin); the first byte of the payload is the
//!   particle type ([`particle`] takes it apart). Only names inside expressions are strings without that byte.
//! * An ordered list has one element more in front, an ordered map one pair more: an ext without data whose type byte
//!   holds flags, see [`order`] (`c7 00 flags`, in maps followed by nil).
//! * The exts [`Element::Infinity`] and [`Element::Wildcard`] stand for the largest and for any value in arguments.
//!
//! [`Writer`] appends, [`Reader`] walks; neither builds a tree, so that any value type can be written and read directly.

mod compare;
mod element;
mod reader;
mod writer;

pub use compare::compare;
pub use element::{Element, Ext, ListHeader, MapHeader, order, particle};
pub use reader::{Reader, validate};
pub use writer::Writer;

/// How deep collections may be nested (one list is depth 1).
///
/// The server's own limit is not known; it evaluates a filter of 300 nested lists (golden group `record`, scenario
/// filter-malformed). This bound is there for readers that recurse: 512 frames fit into any thread's stack.
pub const MAX_DEPTH: usize = 512;

/// The ext type of infinity and wildcard.
const CMP_EXT: u8 = 0xff;
