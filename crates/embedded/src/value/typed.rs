//! Types and values of expressions.

use super::compare;
use aerolane_wire::msgpack::{Element, Reader, Writer};
use aerolane_wire::particle::{Particle, particle_type as t};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Types; the numbers are those of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Nil,
    Bool,
    Int,
    Str,
    List,
    Map,
    Blob,
    Float,
    Geo,
    Hll,
    /// Of the value that removes what a path has found.
    Remove,
}

impl Type {
    pub(crate) const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Nil,
            1 => Self::Bool,
            2 => Self::Int,
            3 => Self::Str,
            4 => Self::List,
            5 => Self::Map,
            6 => Self::Blob,
            7 => Self::Float,
            8 => Self::Geo,
            9 => Self::Hll,
            _ => return None,
        })
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Cow<'a, [u8]>),
    Blob(Cow<'a, [u8]>),
    /// Msgpack.
    List(Cow<'a, [u8]>),
    /// Msgpack.
    Map(Cow<'a, [u8]>),
    /// The text.
    Geo(Cow<'a, [u8]>),
    Hll(Cow<'a, [u8]>),
    /// Not a value: what a path has found is to be removed.
    Remove,
}

impl<'a> Value<'a> {
    /// A constant of an expression; `None` for collections and what cannot be one.
    pub(crate) fn from_element(element: &Element<'a>) -> Option<Self> {
        Some(match *element {
            Element::Nil => Self::Nil,
            Element::Bool(v) => Self::Bool(v),
            Element::Int(v) => Self::Int(v),
            Element::Uint(v) => Self::Int(v as i64),
            Element::Float(v) => Self::Float(v),
            Element::Float32(v) => Self::Float(f64::from(v)),
            Element::Bytes(payload) => match aerolane_wire::msgpack::particle(payload).ok()? {
                Particle::String(v) => Self::Str(Cow::Borrowed(v)),
                Particle::Blob(v) => Self::Blob(Cow::Borrowed(v)),
                Particle::GeoJson(v) => Self::Geo(Cow::Borrowed(v)),
                Particle::Hll(v) => Self::Hll(Cow::Borrowed(v)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The value of a bin; `None` for types that expressions do not know.
    pub(crate) fn from_bin(kind: u8, value: &'a [u8]) -> Option<Self> {
        Some(match Particle::decode(kind, value).ok()? {
            Particle::Integer(v) => Self::Int(v),
            Particle::Float(v) => Self::Float(v),
            Particle::Bool(v) => Self::Bool(v),
            Particle::String(v) => Self::Str(Cow::Borrowed(v)),
            Particle::Blob(v) => Self::Blob(Cow::Borrowed(v)),
            Particle::List(v) => Self::List(Cow::Borrowed(v)),
            Particle::Map(v) => Self::Map(Cow::Borrowed(v)),
            Particle::GeoJson(v) => Self::Geo(Cow::Borrowed(v)),
            Particle::Hll(v) => Self::Hll(Cow::Borrowed(v)),
            _ => return None,
        })
    }

    /// A value inside a collection; `None` if it is none that expressions know.
    pub(crate) fn from_msgpack(bytes: &'a [u8]) -> Option<Self> {
        Some(match Reader::new(bytes).read().ok()? {
            Element::List(_) => Self::List(Cow::Borrowed(bytes)),
            Element::Map(_) => Self::Map(Cow::Borrowed(bytes)),
            scalar => return Self::from_element(&scalar),
        })
    }

    /// Appends the value as an element of a collection or an argument; `None` if it cannot be one.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        let mut writer = Writer::new(out);
        match self {
            Self::Nil => writer.nil(),
            Self::Bool(v) => writer.bool(*v),
            Self::Int(v) => writer.int(*v),
            Self::Float(v) => writer.float(*v),
            Self::Str(v) => writer.str(v),
            Self::Blob(v) => writer.blob(v),
            Self::List(v) | Self::Map(v) => writer.raw(v),
            Self::Geo(v) => writer.geojson(v),
            Self::Hll(v) => writer.hll(v),
            Self::Remove => return None,
        }
        Some(())
    }

    /// Its size in bytes, 0 for what is small.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Str(v) | Self::Blob(v) | Self::List(v) | Self::Map(v) | Self::Geo(v) | Self::Hll(v) => v.len(),
            _ => 0,
        }
    }

    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Nil => Type::Nil,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::Str(_) => Type::Str,
            Self::Blob(_) => Type::Blob,
            Self::List(_) => Type::List,
            Self::Map(_) => Type::Map,
            Self::Geo(_) => Type::Geo,
            Self::Hll(_) => Type::Hll,
            Self::Remove => Type::Remove,
        }
    }

    /// Order of two values of one type; `None` if there is none.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Nil, Self::Nil) => Some(Ordering::Equal),
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Str(a), Self::Str(b))
            | (Self::Blob(a), Self::Blob(b))
            | (Self::Hll(a), Self::Hll(b))
            | (Self::Geo(a), Self::Geo(b)) => Some(a.cmp(b)),
            (Self::List(a), Self::List(b)) | (Self::Map(a), Self::Map(b)) => Some(compare(a, b)),
            _ => None,
        }
    }

    /// The particle that a read of the expression answers: type and value.
    pub(crate) fn to_particle(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Nil | Self::Remove => (t::NIL, Vec::new()),
            Self::Bool(v) => (t::BOOL, vec![u8::from(*v)]),
            Self::Int(v) => (t::INTEGER, v.to_be_bytes().to_vec()),
            Self::Float(v) => (t::FLOAT, v.to_be_bytes().to_vec()),
            Self::Str(v) => (t::STRING, v.to_vec()),
            Self::Blob(v) => (t::BLOB, v.to_vec()),
            Self::List(v) => (t::LIST, v.to_vec()),
            Self::Map(v) => (t::MAP, v.to_vec()),
            Self::Geo(v) => {
                let bare = [&[0, 0, 0], &v[..]].concat();
                (t::GEOJSON, crate::geo::stored(&bare).unwrap_or(bare))
            }
            Self::Hll(v) => (t::HLL, v.to_vec()),
        }
    }
}
