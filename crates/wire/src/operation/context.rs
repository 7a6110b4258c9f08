//! Contexts: which nested collection an operation works on.
//!
//! A context is a list of levels, from the bin inwards. A level is an id and a value, one msgpack element each: the
//! functions of this module append the value to a buffer of the caller's and give the id. What is kept per level is
//! the pair of both, [`Level`].
//!
//! [`nest`] puts a context around the value of an operation of [`list`](super::list), [`map`](super::map),
//! [`bit`](super::bit) or [`string`](super::string); [`path`](super::path) operations take one as an argument.

use crate::msgpack::{Element, Reader, Writer, order};
use crate::{WireError, WireResult};

/// Ids of levels.
pub mod id {
    /// All children, or those for which an expression is true; the value is the expression.
    pub const EXPRESSION: u16 = 0x04;
    /// List, by index.
    pub const LIST_INDEX: u16 = 0x10;
    /// List, by rank.
    pub const LIST_RANK: u16 = 0x11;
    /// List, by value.
    pub const LIST_VALUE: u16 = 0x13;
    /// Map, by index.
    pub const MAP_INDEX: u16 = 0x20;
    /// Map, by rank.
    pub const MAP_RANK: u16 = 0x21;
    /// Map, by key.
    pub const MAP_KEY: u16 = 0x22;
    /// Map, by value.
    pub const MAP_VALUE: u16 = 0x23;
    /// Map, the keys of a list (server 8.1.2 and later).
    pub const MAP_KEYS_IN: u16 = 0x2a;
    /// Bit: of what the level before selects, those for which an expression is true (server 8.1.2 and later).
    pub const AND: u16 = 0x200;
}

/// Bits in the id of a level by list index or map key: what is to be created if there is nothing at this place.
pub mod create {
    /// Nothing.
    pub const NONE: u8 = 0;
    /// A list, unordered, that is not padded: the index is at most its size.
    pub const LIST_UNORDERED: u8 = 0x40;
    /// A list, unordered; the list around it is padded with nil up to the index.
    pub const LIST_PADDED: u8 = 0x80;
    /// An ordered list.
    pub const LIST_ORDERED: u8 = 0xc0;
    /// An unordered map.
    pub const MAP_UNORDERED: u8 = 0x40;
    /// A map sorted by key.
    pub const MAP_KEY: u8 = 0x80;
    /// A map sorted by key and value.
    pub const MAP_KEY_VALUE: u8 = 0xc0;
    /// All of these bits. No id has them by itself.
    pub const MASK: u16 = 0xc0;

    /// For a list of this order (0 unordered, 1 ordered). An ordered list has no use for padding.
    #[must_use]
    pub const fn list(order: u8, pad: bool) -> u8 {
        match (order, pad) {
            (0, false) => LIST_UNORDERED,
            (0, true) => LIST_PADDED,
            _ => LIST_ORDERED,
        }
    }

    /// For a map of this order (0 unordered, 1 by key, 3 by key and value).
    #[must_use]
    pub const fn map(order: u8) -> u8 {
        match order {
            0 => MAP_UNORDERED,
            1 => MAP_KEY,
            _ => MAP_KEY_VALUE,
        }
    }
}

/// One level: its id (with [`create`] bits), and its value as one msgpack element.
pub type Level<'a> = (u16, &'a [u8]);

/// The list at an index.
pub fn list_index(value: &mut Vec<u8>, index: i64) -> u16 {
    Writer::new(value).int(index);
    id::LIST_INDEX
}

/// The list at an index, to be created if there is none; `create` is one of [`create::list`].
pub fn list_index_create(value: &mut Vec<u8>, index: i64, create: u8) -> u16 {
    list_index(value, index) | u16::from(create)
}

/// The list at a rank.
pub fn list_rank(value: &mut Vec<u8>, rank: i64) -> u16 {
    Writer::new(value).int(rank);
    id::LIST_RANK
}

/// The first list that is equal to a value.
///
/// # Errors
/// Those of the closure.
pub fn list_value<E>(value: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>) -> Result<(), E>) -> Result<u16, E> {
    write(&mut Writer::new(value)).map(|()| id::LIST_VALUE)
}

/// The map value at an index.
pub fn map_index(value: &mut Vec<u8>, index: i64) -> u16 {
    Writer::new(value).int(index);
    id::MAP_INDEX
}

/// The map value at a rank.
pub fn map_rank(value: &mut Vec<u8>, rank: i64) -> u16 {
    Writer::new(value).int(rank);
    id::MAP_RANK
}

/// The map value of a key.
///
/// # Errors
/// Those of the closure.
pub fn map_key<E>(value: &mut Vec<u8>, key: impl FnOnce(&mut Writer<'_>) -> Result<(), E>) -> Result<u16, E> {
    key(&mut Writer::new(value)).map(|()| id::MAP_KEY)
}

/// The map value of a key, to be created if there is none; `create` is one of [`create::map`].
///
/// # Errors
/// Those of the closure.
pub fn map_key_create<E>(
    value: &mut Vec<u8>,
    key: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    create: u8,
) -> Result<u16, E> {
    map_key(value, key).map(|id| id | u16::from(create))
}

/// The first map value that is equal to a value.
///
/// # Errors
/// Those of the closure.
pub fn map_value<E>(value: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>) -> Result<(), E>) -> Result<u16, E> {
    write(&mut Writer::new(value)).map(|()| id::MAP_VALUE)
}

/// The map values of several keys, which the closure writes as one list.
///
/// # Errors
/// Those of the closure.
pub fn map_keys_in<E>(value: &mut Vec<u8>, keys: impl FnOnce(&mut Writer<'_>) -> Result<(), E>) -> Result<u16, E> {
    keys(&mut Writer::new(value)).map(|()| id::MAP_KEYS_IN)
}

/// All children of a collection.
pub fn all_children(value: &mut Vec<u8>) -> u16 {
    let mut always = Vec::with_capacity(1);
    Writer::new(&mut always).bool(true);
    all_children_with_filter(value, &always)
}

/// All children of a collection for which an expression (its bytes) is true.
pub fn all_children_with_filter(value: &mut Vec<u8>, expression: &[u8]) -> u16 {
    Writer::new(value).bin(expression);
    id::EXPRESSION
}

/// Of what the level before selects, those for which an expression (its bytes) is true.
pub fn and_filter(value: &mut Vec<u8>, expression: &[u8]) -> u16 {
    Writer::new(value).bin(expression);
    id::AND | id::EXPRESSION
}

/// What marks the value of an operation as one with a context: the first element of its list.
pub const NESTED: u8 = 0xff;

/// Appends the value of an operation inside a context: `[0xff, context, operation]`. Without levels just the operation.
///
/// `create` is for the operations that set the type of a list or map (`set_type`): with [`create`] bits, what the last
/// level names is created with this order if it is missing. Such an operation does not persist an index, which only
/// collections that are a whole bin have, so that bit is taken out of it.
pub fn nest<'a>(out: &mut Vec<u8>, levels: impl ExactSizeIterator<Item = Level<'a>>, create: u8, operation: &[u8]) {
    let last = levels.len();
    if last == 0 {
        out.extend_from_slice(operation);
        return;
    }
    begin(out, last);
    let mut writer = Writer::new(out);
    for (at, (id, value)) in levels.enumerate() {
        writer.uint(u64::from(if at + 1 == last { id | u16::from(create) } else { id }));
        writer.raw(value);
    }
    out.extend_from_slice(operation);
    if create != 0
        && let Some(order) = out.last_mut()
    {
        *order &= !order::PERSIST_INDEX;
    }
}

/// Starts the value of an operation inside a context: what stands before `levels` levels and the operation itself.
fn begin(out: &mut Vec<u8>, levels: usize) {
    let mut writer = Writer::new(out);
    writer.list(3);
    writer.uint(u64::from(NESTED));
    writer.list(2 * levels);
}

/// Appends the levels as one list, as contexts stand in fields and in info commands (there as base64).
pub fn list<'a>(out: &mut Vec<u8>, levels: impl ExactSizeIterator<Item = Level<'a>>) {
    let mut writer = Writer::new(out);
    writer.list(2 * levels.len());
    for (id, value) in levels {
        writer.uint(u64::from(id));
        writer.raw(value);
    }
}

/// Takes a list of levels apart: the reverse of [`list`].
///
/// # Errors
/// If it is no list of pairs of an id and one element.
pub fn levels(bytes: &[u8]) -> WireResult<Vec<Level<'_>>> {
    let mut reader = Reader::new(bytes);
    let Element::List(header) = reader.read()? else {
        return Err(WireError::invalid("a context is no list", 0));
    };
    if header.marker.is_some() || header.len % 2 != 0 {
        return Err(WireError::invalid("a context is no list of pairs", 0));
    }
    // The reader has seen to it that so many elements can be there.
    let mut levels = Vec::with_capacity(header.len / 2);
    for _ in 0..header.len / 2 {
        let at = reader.offset();
        let id = match reader.read()? {
            Element::Int(id) => u16::try_from(id).ok(),
            _ => None,
        };
        let id = id.ok_or_else(|| WireError::invalid("the id of a context level is no 16-bit number", at))?;
        levels.push((id, reader.skip()?));
    }
    reader.finish()?;
    Ok(levels)
}
