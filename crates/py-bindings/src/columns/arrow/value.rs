//! Values as they come: bins of records, and what is inside of lists and maps.

use aerolane_wire::message::Op;
use aerolane_wire::msgpack::{self, Element, Reader};
use aerolane_wire::particle::{Particle, particle_type};
use aerolane_wire::{WireError, WireResult};

/// A value. Of lists and maps only how many items or pairs a reader has next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Not checked to be UTF-8.
    Text(&'a [u8]),
    GeoJson(&'a [u8]),
    Blob(&'a [u8]),
    Hll(&'a [u8]),
    List(usize),
    Map(usize),
    /// What no column takes: a particle type that this version does not know, and what is no value at all.
    Other,
}

impl<'a> Value<'a> {
    /// The value of a bin. If it is a collection, `reader` then reads what is in it.
    #[inline]
    pub(super) fn of_bin(op: &Op<'a>, reader: &mut Reader<'a>) -> WireResult<Self> {
        Self::of_particle(op.particle_type, op.value, reader)
    }

    /// The value of a particle. If it is a collection, `reader` then reads what is in it.
    #[inline]
    pub(super) fn of_particle(kind: u8, bytes: &'a [u8], reader: &mut Reader<'a>) -> WireResult<Self> {
        Ok(match kind {
            particle_type::STRING => Self::Text(bytes),
            particle_type::BLOB => Self::Blob(bytes),
            _ => match Particle::decode(kind, bytes)? {
                Particle::Nil => Self::Nil,
                Particle::Bool(value) => Self::Bool(value),
                Particle::Integer(value) => Self::Int(value),
                Particle::Float(value) => Self::Float(value),
                Particle::GeoJson(text) => Self::GeoJson(text),
                Particle::Hll(bytes) => Self::Hll(bytes),
                Particle::List(packed) => {
                    *reader = Reader::new(packed);
                    match reader.read()? {
                        Element::List(header) => Self::List(header.len),
                        _ => return Err(WireError::invalid("a list particle holds no list", 0)),
                    }
                }
                Particle::Map(packed) => {
                    *reader = Reader::new(packed);
                    match reader.read()? {
                        Element::Map(header) => Self::Map(header.len),
                        _ => return Err(WireError::invalid("a map particle holds no map", 0)),
                    }
                }
                _ => Self::Other,
            },
        })
    }

    /// The next value of a collection.
    #[inline]
    pub(super) fn next(reader: &mut Reader<'a>) -> WireResult<Self> {
        Ok(match reader.read()? {
            Element::Nil => Self::Nil,
            Element::Bool(value) => Self::Bool(value),
            Element::Int(value) => Self::Int(value),
            // The same 64 bits: the server's integers are signed.
            Element::Uint(value) => Self::Int(value.cast_signed()),
            Element::Float32(value) => Self::Float(f64::from(value)),
            Element::Float(value) => Self::Float(value),
            Element::Bytes(payload) => match msgpack::particle(payload)? {
                Particle::String(text) => Self::Text(text),
                Particle::Blob(bytes) => Self::Blob(bytes),
                Particle::GeoJson(text) => Self::GeoJson(text),
                Particle::Hll(bytes) => Self::Hll(bytes),
                _ => Self::Other,
            },
            Element::List(header) => Self::List(header.len),
            Element::Map(header) => Self::Map(header.len),
            _ => Self::Other,
        })
    }

    /// Passes over what is in a collection, of which nothing was read yet.
    pub(super) fn pass(&self, reader: &mut Reader<'a>) -> WireResult<()> {
        let values = match *self {
            Self::List(len) => len,
            Self::Map(len) => 2 * len,
            _ => 0,
        };
        for _ in 0..values {
            reader.skip()?;
        }
        Ok(())
    }

    /// What it is, as Python calls it.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::GeoJson(_) => "GeoJSON",
            Self::Blob(_) => "bytes",
            Self::Hll(_) => "HLL",
            Self::List(_) => "list",
            Self::Map(_) => "dict",
            Self::Other => "a value of a type that Aerolane does not know",
        }
    }

    /// It, for a message.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Int(value) => format!("the int {value}"),
            Self::Float(value) => format!("the float {value}"),
            Self::Nil => "no value".to_owned(),
            Self::Other => self.type_name().to_owned(),
            Self::Text(text) if std::str::from_utf8(text).is_err() => "a str that is not UTF-8".to_owned(),
            Self::List(len) => format!("a list of {len}"),
            _ => format!("a {}", self.type_name()),
        }
    }
}
