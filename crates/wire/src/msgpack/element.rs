//! What a [`Reader`](super::Reader) yields.

use crate::particle::{Particle, particle_type};
use crate::{WireError, WireResult};

/// Flags in the order marker of lists and maps.
pub mod order {
    /// Unordered (no marker is written).
    pub const UNORDERED: u8 = 0x00;
    /// List: elements are sorted by value.
    pub const LIST_ORDERED: u8 = 0x01;
    /// Map: sorted by key.
    pub const MAP_KEY: u8 = 0x01;
    /// Map: sorted by value too. The server uses it together with [`MAP_KEY`] only.
    pub const MAP_VALUE: u8 = 0x02;
    /// Map: sorted by key, and by value among them.
    pub const MAP_KEY_VALUE: u8 = MAP_KEY | MAP_VALUE;
    /// Map in an answer: the order of its pairs is part of the answer (results of type key-value).
    pub const PRESERVE: u8 = 0x08;
    /// The index is to be stored with the collection.
    pub const PERSIST_INDEX: u8 = 0x10;
}

/// One element. Of collections only the header; their elements follow.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Element<'a> {
    /// Nil.
    Nil,
    /// Boolean.
    Bool(bool),
    /// Any integer that an `i64` holds.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// Single-precision float. The server stores it as it came.
    Float32(f32),
    /// Double-precision float.
    Float(f64),
    /// Payload of the str or bin family: particle type and value (see [`particle`]), or a bare name in expressions.
    Bytes(&'a [u8]),
    /// A list; its elements follow.
    List(ListHeader<'a>),
    /// A map; its pairs follow, key then value.
    Map(MapHeader<'a>),
    /// Larger than every other value (arguments only).
    Infinity,
    /// Matches every value (arguments only).
    Wildcard,
    /// Any other ext that is not an order marker.
    Ext(Ext<'a>),
}

/// An ext: type byte and data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ext<'a> {
    /// The type byte; the flags, if this is an order marker.
    pub kind: u8,
    /// The data; empty in all order markers that clients and servers exchange.
    pub data: &'a [u8],
}

/// Header of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListHeader<'a> {
    /// How many elements follow (the order marker has been read already). Never more than bytes that follow: the sum
    /// over all open collections is checked, so reserving room for `len` elements is safe.
    pub len: usize,
    /// The order marker, if there is one.
    pub marker: Option<Ext<'a>>,
}

/// Header of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapHeader<'a> {
    /// How many pairs follow (without the order marker). Bounded as [`ListHeader::len`].
    pub len: usize,
    /// The order marker, if there is one.
    pub marker: Option<Ext<'a>>,
}

impl ListHeader<'_> {
    /// The [`order`] flags, 0 without a marker.
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.marker.map_or(0, |ext| ext.kind)
    }
}

impl MapHeader<'_> {
    /// The [`order`] flags, 0 without a marker.
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.marker.map_or(0, |ext| ext.kind)
    }
}

/// Takes the payload of [`Element::Bytes`] apart: a string, blob, HLL, GeoJSON text, or unknown tag with its bytes.
///
/// Inside collections GeoJSON has neither flags nor cells. Fails on an empty payload.
pub fn particle(payload: &[u8]) -> WireResult<Particle<'_>> {
    let [tag, value @ ..] = payload else {
        return Err(WireError::invalid("a string or blob without its particle type", 0));
    };
    Ok(match *tag {
        particle_type::STRING => Particle::String(value),
        particle_type::BLOB => Particle::Blob(value),
        particle_type::HLL => Particle::Hll(value),
        particle_type::GEOJSON => Particle::GeoJson(value),
        tag => Particle::Unknown(tag, value),
    })
}
