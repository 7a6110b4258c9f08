//! Contexts of aerospike-core as levels on the wire.

use aerolane_wire::msgpack::{Element, Reader};
use aerolane_wire::operation::context::{self, Level, id};
use aerospike_core::operations::cdt_context::{
    self, ctx_list_index, ctx_list_index_create, ctx_map_key, ctx_map_key_create,
};
use aerospike_core::operations::{CdtContext, ListOrderType, MapOrder};

use crate::command::value;
use crate::error::{Error, Result};

/// The levels of a context.
///
/// aerospike-core writes a context into bytes for us, but without the bits that say what is to be created on the way;
/// these are found by comparing with the levels that it makes with such bits.
pub(super) struct Levels {
    bytes: Vec<u8>,
    ids: Vec<u16>,
}

impl Levels {
    pub(super) fn of(levels: &[CdtContext]) -> Result<Self> {
        if levels.is_empty() {
            return Ok(Self { bytes: vec![0x90], ids: vec![] });
        }
        let bytes = cdt_context::to_bytes(levels)?;
        let parts = context::levels(&bytes).map_err(|e| unreadable(&e.to_string()))?;
        if parts.len() != levels.len() {
            return Err(unreadable("there are more levels, or fewer"));
        }
        let ids = levels
            .iter()
            .zip(parts)
            .map(|(level, (id, value))| Ok(id | u16::from(create_bits(level, id, value)?)))
            .collect::<Result<_>>()?;
        Ok(Self { bytes, ids })
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Level<'_>> {
        // They were read once already; after an error there would be none.
        let parts = context::levels(&self.bytes).unwrap_or_default();
        parts.into_iter().zip(&self.ids).map(|((_, value), id)| (*id, value))
    }
}

/// What a level says is to be created, see [`context::create`].
fn create_bits(level: &CdtContext, id: u16, bytes: &[u8]) -> Result<u8> {
    match id {
        id::LIST_INDEX => {
            let Ok(Element::Int(index)) = Reader::new(bytes).read() else {
                return Err(unreadable("a list index is no integer"));
            };
            if *level == ctx_list_index(index) {
                return Ok(context::create::NONE);
            }
            [(ListOrderType::Unordered, false), (ListOrderType::Unordered, true), (ListOrderType::Ordered, false)]
                .into_iter()
                .find(|(order, pad)| *level == ctx_list_index_create(index, *order, *pad))
                .map(|(order, pad)| context::create::list(order as u8, pad))
        }
        id::MAP_KEY => {
            let key = value::decode_element(bytes).map_err(|e| unreadable(&e.to_string()))?;
            if *level == ctx_map_key(key.clone()) {
                return Ok(context::create::NONE);
            }
            [MapOrder::Unordered, MapOrder::KeyOrdered, MapOrder::KeyValueOrdered]
                .into_iter()
                .find(|order| *level == ctx_map_key_create(key.clone(), *order))
                .map(|order| context::create::map(order as u8))
        }
        _ => return Ok(context::create::NONE),
    }
    .ok_or_else(|| unreadable("it creates what this version does not know"))
}

#[cold]
fn unreadable(why: &str) -> Error {
    Error::client_error(format!("the context cannot be read: {why}"))
}
