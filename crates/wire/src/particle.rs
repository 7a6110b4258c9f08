//! Particles: bin values as they stand on the wire.

use crate::{WireError, WireResult};

/// Particle type bytes. Checked against the golden groups `record` and `operate`.
pub mod particle_type {
    /// No value.
    pub const NIL: u8 = 0;
    /// 64-bit signed integer, big-endian.
    pub const INTEGER: u8 = 1;
    /// IEEE 754 double, big-endian.
    pub const FLOAT: u8 = 2;
    /// String, any bytes (UTF-8 by convention).
    pub const STRING: u8 = 3;
    /// Bytes.
    pub const BLOB: u8 = 4;
    /// Boolean, one byte 0 or 1.
    pub const BOOL: u8 = 17;
    /// HyperLogLog.
    pub const HLL: u8 = 18;
    /// Map, msgpack.
    pub const MAP: u8 = 19;
    /// List, msgpack.
    pub const LIST: u8 = 20;
    /// GeoJSON: flags (1 byte), number of cells (2 bytes), cells (8 bytes each), text.
    pub const GEOJSON: u8 = 23;
}

/// A value, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Particle<'a> {
    /// No value; writing it removes the bin.
    Nil,
    /// 64-bit signed integer.
    Integer(i64),
    /// Double.
    Float(f64),
    /// Boolean.
    Bool(bool),
    /// String; not checked to be UTF-8.
    String(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
    /// HyperLogLog.
    Hll(&'a [u8]),
    /// GeoJSON text. Cells, if any came, are skipped, and none are written, as clients do; a server uses [`GeoJson`].
    GeoJson(&'a [u8]),
    /// List as msgpack, see [`crate::msgpack`].
    List(&'a [u8]),
    /// Map as msgpack, see [`crate::msgpack`].
    Map(&'a [u8]),
    /// A type that this crate does not interpret: its tag and raw bytes.
    Unknown(u8, &'a [u8]),
}

impl<'a> Particle<'a> {
    /// Interprets the value of an operation. Msgpack is not walked here.
    ///
    /// Integers of 1, 2, 4 and 8 bytes are taken (not sign-extended, as the server does).
    pub fn decode(kind: u8, value: &'a [u8]) -> WireResult<Self> {
        use particle_type as t;
        Ok(match kind {
            t::NIL => Self::Nil,
            t::INTEGER => Self::Integer(integer(value)?),
            t::FLOAT => match value.try_into() {
                Ok(bytes) => Self::Float(f64::from_be_bytes(bytes)),
                Err(_) => return Err(WireError::invalid("a float has 8 bytes", 0)),
            },
            t::BOOL => match *value {
                [0] => Self::Bool(false),
                [1] => Self::Bool(true),
                _ => return Err(WireError::invalid("a boolean is one byte, 0 or 1", 0)),
            },
            t::STRING => Self::String(value),
            t::BLOB => Self::Blob(value),
            t::HLL => Self::Hll(value),
            t::GEOJSON => Self::GeoJson(GeoJson::decode(value)?.text),
            t::LIST => Self::List(value),
            t::MAP => Self::Map(value),
            other => Self::Unknown(other, value),
        })
    }

    /// The type byte.
    #[must_use]
    pub const fn particle_type(&self) -> u8 {
        use particle_type as t;
        match self {
            Self::Nil => t::NIL,
            Self::Integer(_) => t::INTEGER,
            Self::Float(_) => t::FLOAT,
            Self::Bool(_) => t::BOOL,
            Self::String(_) => t::STRING,
            Self::Blob(_) => t::BLOB,
            Self::Hll(_) => t::HLL,
            Self::GeoJson(_) => t::GEOJSON,
            Self::List(_) => t::LIST,
            Self::Map(_) => t::MAP,
            Self::Unknown(kind, _) => *kind,
        }
    }

    /// Appends the value (without type).
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Nil => {}
            Self::Integer(v) => out.extend_from_slice(&v.to_be_bytes()),
            Self::Float(v) => out.extend_from_slice(&v.to_be_bytes()),
            Self::Bool(v) => out.push(u8::from(v)),
            Self::GeoJson(text) => GeoJson { flags: 0, cells: &[], text }.encode(out),
            Self::String(v) | Self::Blob(v) | Self::Hll(v) | Self::List(v) | Self::Map(v) | Self::Unknown(_, v) => {
                out.extend_from_slice(v);
            }
        }
    }
}

/// An integer of 1, 2, 4 or 8 bytes; the short ones are not sign-extended.
#[inline]
fn integer(value: &[u8]) -> WireResult<i64> {
    if let Ok(bytes) = value.try_into() {
        return Ok(i64::from_be_bytes(bytes));
    }
    Ok(match *value {
        [a] => i64::from(a),
        [a, b] => i64::from(u16::from_be_bytes([a, b])),
        [a, b, c, d] => i64::from(u32::from_be_bytes([a, b, c, d])),
        _ => return Err(WireError::invalid("an integer has 1, 2, 4 or 8 bytes", 0)),
    })
}

/// A GeoJSON value with the cells that the server adds to it. Inside collections there is only the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeoJson<'a> {
    /// Flags; 1 in a server's answer if the value is a region, else 0.
    pub flags: u8,
    /// Ids of the cells that cover the value, 8 bytes each. Clients send none.
    pub cells: &'a [u8],
    /// The text.
    pub text: &'a [u8],
}

impl<'a> GeoJson<'a> {
    /// Takes the value of an operation apart.
    pub fn decode(value: &'a [u8]) -> WireResult<Self> {
        let [flags, hi, lo, rest @ ..] = value else {
            return Err(WireError::truncated(3 - value.len(), value.len()));
        };
        let size = usize::from(u16::from_be_bytes([*hi, *lo])) * 8;
        match rest.split_at_checked(size) {
            Some((cells, text)) => Ok(Self { flags: *flags, cells, text }),
            None => Err(WireError::truncated(size - rest.len(), value.len())),
        }
    }

    /// Appends the value. What is in `cells` must be whole cells, at most 65,535.
    pub fn encode(&self, out: &mut Vec<u8>) {
        debug_assert_eq!(self.cells.len() % 8, 0);
        out.push(self.flags);
        out.extend_from_slice(&((self.cells.len() / 8) as u16).to_be_bytes());
        out.extend_from_slice(self.cells);
        out.extend_from_slice(self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geojson_keeps_its_cells_apart() {
        let mut out = vec![];
        GeoJson { flags: 1, cells: &[9; 16], text: b"{}" }.encode(&mut out);
        assert_eq!(GeoJson::decode(&out), Ok(GeoJson { flags: 1, cells: &[9; 16], text: b"{}" }));
        assert_eq!(Particle::decode(particle_type::GEOJSON, &out), Ok(Particle::GeoJson(b"{}")));
        for cut in 0..out.len() - 2 {
            assert!(GeoJson::decode(&out[..cut]).is_err());
        }
    }

    #[test]
    fn sizes_that_no_value_has_are_refused() {
        let decode = |kind, size: usize| Particle::decode(kind, &[1; 17][..size]);
        for size in 0..17 {
            assert_eq!(decode(particle_type::INTEGER, size).is_ok(), [1, 2, 4, 8].contains(&size));
            assert_eq!(decode(particle_type::FLOAT, size).is_ok(), size == 8);
            assert_eq!(decode(particle_type::BOOL, size).is_ok(), size == 1);
        }
        assert!(Particle::decode(particle_type::BOOL, &[2]).is_err());
        assert_eq!(Particle::decode(particle_type::INTEGER, &[0xff]), Ok(Particle::Integer(255)));
        assert_eq!(Particle::decode(99, &[1]), Ok(Particle::Unknown(99, &[1])));
    }
}
