//! Operations on what a path selects inside a collection (server 8.1.1 and later).
//!
//! A path is a [`context`](super::context), written a little differently: expressions stand in it as they are, not as
//! binary data, and nothing is created on the way.

use super::context::{Level, create};
use crate::message::op;
use crate::msgpack::{Element, Reader, Writer};

/// The first element of the list of a path operation.
pub const PATH: u8 = 0xfe;

/// Bit in the flags of a modifying operation, set by [`modify`].
const APPLY: i64 = 0x04;

/// Answers what the path selects. Flags: 0 the tree with nothing but the matching leaves, 1 values, 2 map keys,
/// 3 map keys and values; plus 16 to answer what can be selected instead of failing.
pub fn select<'a>(out: &mut Vec<u8>, path: impl ExactSizeIterator<Item = Level<'a>>, flags: i64) -> u8 {
    begin(out, 3, path).int(flags);
    op::CDT_READ
}

/// Sets what the path selects to the results of an expression, which the closure appends. Flags: 16 leaves out what
/// fails.
///
/// # Errors
/// Those of the closure.
pub fn modify<'a, E>(
    out: &mut Vec<u8>,
    path: impl ExactSizeIterator<Item = Level<'a>>,
    flags: i64,
    expression: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<u8, E> {
    let mut writer = begin(out, 4, path);
    writer.int(flags | APPLY);
    expression(&mut writer)?;
    Ok(op::CDT_MODIFY)
}

fn begin<'b, 'a>(out: &'b mut Vec<u8>, elements: usize, path: impl ExactSizeIterator<Item = Level<'a>>) -> Writer<'b> {
    let mut writer = Writer::new(out);
    writer.list(elements);
    writer.uint(u64::from(PATH));
    writer.list(2 * path.len());
    for (id, value) in path {
        writer.uint(u64::from(id & !create::MASK));
        writer.raw(bare(value));
    }
    writer
}

/// An expression without the header that makes binary data of it; other values as they are.
fn bare(value: &[u8]) -> &[u8] {
    let mut reader = Reader::new(value);
    match reader.read() {
        Ok(Element::Bytes(payload)) if matches!(reader.form(), 0xc4..=0xc6) => payload,
        _ => value,
    }
}
