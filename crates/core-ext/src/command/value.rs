//! Values of aerospike-core to and from the wire, with nothing in between.
//!
//! As aerospike-core does it (checked against its own bytes and the golden group `rust`): floats are doubles as bins
//! but keep single precision inside collections, maps other than [`Value::SortedMap`] are written unordered, and maps
//! come back as [`Value::OrderedMap`], [`Value::SortedMap`] (the key-ordered flag) or [`Value::KeyValueList`] (the
//! flag that says "keep this order").

use std::collections::BTreeMap;

use aerolane_wire::msgpack::{self, Element, MAX_DEPTH, MapHeader, Reader, Writer, order};
use aerolane_wire::particle::{Particle, particle_type};
use aerolane_wire::{WireError, WireResult};
use aerospike_core::{FloatValue, IndexMap, Value};

/// Why a value cannot be sent. Small, so that encoding without errors stays cheap; [`crate::Error`] is made from it
/// where the bin is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Only for bounds inside collection operations and expressions.
    #[error("{0} is a bound for collection operations; it can be no value of a bin or of a record key")]
    Bound(&'static str),
    /// Only in answers.
    #[error("{0} comes only in answers and cannot be sent")]
    AnswerOnly(&'static str),
    /// Only as a whole bin.
    #[error("a value of the unknown particle type {0} can be written only as a whole bin, not inside a list or map")]
    UnknownInside(u8),
    /// Not an integer, string or blob.
    #[error("{0} cannot be a map key: only integers, strings and blobs can")]
    MapKey(&'static str),
    /// Lists and maps inside each other beyond the bound.
    #[error("lists and maps are nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// A kind of value that a later aerospike-core has added.
    #[error("this kind of value is not known to this version")]
    NewKind,
    /// The operation cannot be written.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The particle type of a value as a whole bin or as a record key.
#[inline]
pub fn particle_type_of(value: &Value) -> Result<u8, ValueError> {
    use particle_type as t;
    Ok(match value {
        Value::Nil => t::NIL,
        Value::Int(_) => t::INTEGER,
        Value::Float(_) => t::FLOAT,
        Value::String(_) => t::STRING,
        Value::Blob(_) => t::BLOB,
        Value::Bool(_) => t::BOOL,
        Value::List(_) => t::LIST,
        Value::HashMap(_) | Value::OrderedMap(_) | Value::SortedMap(_) => t::MAP,
        Value::GeoJson(_) => t::GEOJSON,
        Value::Hll(_) => t::HLL,
        Value::Unknown(kind, _) => *kind,
        Value::Infinity => return Err(ValueError::Bound("infinity")),
        Value::Wildcard => return Err(ValueError::Bound("the wildcard")),
        Value::MultiResult(_) => return Err(ValueError::AnswerOnly("a multi-result")),
        Value::KeyValueList(_) => return Err(ValueError::AnswerOnly("a key-value list")),
        _ => return Err(ValueError::NewKind),
    })
}

/// Appends a value as a whole bin or record key, without its particle type.
#[inline]
pub fn encode(value: &Value, out: &mut Vec<u8>) -> Result<(), ValueError> {
    match value {
        Value::Nil => {}
        Value::Int(v) => out.extend_from_slice(&v.to_be_bytes()),
        Value::Float(v) => out.extend_from_slice(&f64::from(v).to_be_bytes()),
        Value::String(v) => out.extend_from_slice(v.as_bytes()),
        Value::Blob(v) | Value::Hll(v) | Value::Unknown(_, v) => out.extend_from_slice(v),
        Value::Bool(v) => out.push(u8::from(*v)),
        Value::GeoJson(v) => Particle::GeoJson(v.as_bytes()).encode(out),
        Value::List(_) | Value::HashMap(_) | Value::OrderedMap(_) | Value::SortedMap(_) => {
            pack(&mut Writer::new(out), value, 0)?;
        }
        other => {
            particle_type_of(other)?;
            return Err(ValueError::NewKind);
        }
    }
    Ok(())
}

/// Appends values as one msgpack list: the arguments of a UDF. Bounds are allowed in it, as in aerospike-core.
pub fn encode_arguments(values: &[Value], out: &mut Vec<u8>) -> Result<(), ValueError> {
    encode_elements(values, &mut Writer::new(out))
}

/// Appends a value as an argument of an operation. Bounds are allowed in it.
pub(crate) fn encode_element(value: &Value, writer: &mut Writer<'_>) -> Result<(), ValueError> {
    pack(writer, value, 0)
}

/// Appends values as one list, an argument of an operation.
pub(crate) fn encode_elements(values: &[Value], writer: &mut Writer<'_>) -> Result<(), ValueError> {
    writer.list(values.len());
    values.iter().try_for_each(|value| pack(writer, value, 1))
}

/// Appends a value inside a collection that is `depth` levels deep.
fn pack(writer: &mut Writer<'_>, value: &Value, depth: usize) -> Result<(), ValueError> {
    match value {
        Value::Nil => writer.nil(),
        Value::Int(v) => writer.int(*v),
        Value::Bool(v) => writer.bool(*v),
        Value::String(v) => writer.str(v.as_bytes()),
        Value::Float(FloatValue::F64(bits)) => writer.float(f64::from_bits(*bits)),
        Value::Float(FloatValue::F32(bits)) => writer.float32(f32::from_bits(*bits)),
        Value::Blob(v) => writer.blob(v),
        Value::Hll(v) => writer.hll(v),
        Value::GeoJson(v) => writer.geojson(v.as_bytes()),
        Value::Infinity => writer.infinity(),
        Value::Wildcard => writer.wildcard(),
        Value::List(values) => {
            let depth = deeper(depth)?;
            writer.list(values.len());
            for value in values {
                pack(writer, value, depth)?;
            }
        }
        Value::HashMap(map) => pack_pairs(writer, order::UNORDERED, map.len(), map, depth)?,
        Value::OrderedMap(map) => pack_pairs(writer, order::UNORDERED, map.len(), map, depth)?,
        Value::SortedMap(map) => pack_pairs(writer, order::MAP_KEY, map.len(), map, depth)?,
        Value::Unknown(kind, _) => return Err(ValueError::UnknownInside(*kind)),
        other => {
            particle_type_of(other)?;
            return Err(ValueError::NewKind);
        }
    }
    Ok(())
}

fn pack_pairs<'v>(
    writer: &mut Writer<'_>,
    flags: u8,
    len: usize,
    pairs: impl IntoIterator<Item = (&'v Value, &'v Value)>,
    depth: usize,
) -> Result<(), ValueError> {
    let depth = deeper(depth)?;
    writer.map_with_order(flags, len);
    for (key, value) in pairs {
        if !key.is_valid_map_key() {
            return Err(ValueError::MapKey(kind_name(key)));
        }
        pack(writer, key, depth)?;
        pack(writer, value, depth)?;
    }
    Ok(())
}

fn deeper(depth: usize) -> Result<usize, ValueError> {
    if depth >= MAX_DEPTH { Err(ValueError::TooDeep) } else { Ok(depth + 1) }
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Bool(_) => "a boolean",
        Value::Float(_) => "a float",
        Value::List(_) => "a list",
        Value::HashMap(_) | Value::OrderedMap(_) | Value::SortedMap(_) => "a map",
        Value::GeoJson(_) => "GeoJSON",
        Value::Hll(_) => "a HyperLogLog",
        Value::Infinity => "infinity",
        Value::Wildcard => "the wildcard",
        _ => "this value",
    }
}

/// The value of an operation of an answer.
#[inline]
pub fn decode(kind: u8, bytes: &[u8]) -> WireResult<Value> {
    Ok(match Particle::decode(kind, bytes)? {
        Particle::Nil => Value::Nil,
        Particle::Integer(v) => Value::Int(v),
        Particle::Float(v) => Value::Float(FloatValue::from(v)),
        Particle::Bool(v) => Value::Bool(v),
        Particle::String(v) => Value::String(text(v, 0)?),
        Particle::Blob(v) => Value::Blob(v.to_vec()),
        Particle::Hll(v) => Value::Hll(v.to_vec()),
        Particle::GeoJson(v) => Value::GeoJson(text(v, bytes.len() - v.len())?),
        Particle::List(v) => collection(v, |e| matches!(e, Element::List(_)), "a list particle holds no list")?,
        Particle::Map(v) => collection(v, |e| matches!(e, Element::Map(_)), "a map particle holds no map")?,
        Particle::Unknown(kind, v) => Value::Unknown(kind, v.to_vec()),
        _ => return Err(WireError::invalid("a particle type that this version does not know", 0)),
    })
}

/// The value of an operation of an answer, if it is an integer as servers send them. Everything else is left to
/// [`decode`].
#[inline]
pub(crate) fn integer(kind: u8, bytes: &[u8]) -> Option<i64> {
    if kind != particle_type::INTEGER {
        return None;
    }
    bytes.try_into().ok().map(i64::from_be_bytes)
}

fn collection(bytes: &[u8], expected: impl Fn(&Element<'_>) -> bool, message: &'static str) -> WireResult<Value> {
    let mut reader = Reader::new(bytes);
    let element = reader.read()?;
    if !expected(&element) {
        return Err(WireError::invalid(message, 0));
    }
    let value = unpack(&mut reader, element)?;
    reader.finish()?;
    Ok(value)
}

/// The value that an element is, of which nothing may be left over.
pub(crate) fn decode_element(bytes: &[u8]) -> WireResult<Value> {
    let mut reader = Reader::new(bytes);
    let element = reader.read()?;
    let value = unpack(&mut reader, element)?;
    reader.finish()?;
    Ok(value)
}

/// The value that starts with `element`. The reader bounds depth and counts.
fn unpack(reader: &mut Reader<'_>, element: Element<'_>) -> WireResult<Value> {
    Ok(match element {
        // What is no value at all (an order marker in a wrong place) reads as nil, as in aerospike-core.
        Element::Nil | Element::Ext(_) => Value::Nil,
        Element::Bool(v) => Value::Bool(v),
        Element::Int(v) => Value::Int(v),
        // The same 64 bits, as in aerospike-core: the server's integers are signed.
        Element::Uint(v) => Value::Int(v as i64),
        Element::Float32(v) => Value::Float(FloatValue::from(v)),
        Element::Float(v) => Value::Float(FloatValue::from(v)),
        Element::Bytes(payload) => unpack_bytes(payload).map_err(|e| e.shifted(reader.offset() - payload.len()))?,
        Element::List(header) => {
            let mut values = Vec::with_capacity(header.len);
            for _ in 0..header.len {
                let element = reader.read()?;
                values.push(unpack(reader, element)?);
            }
            Value::List(values)
        }
        Element::Map(header) => unpack_map(reader, header)?,
        Element::Infinity => Value::Infinity,
        Element::Wildcard => Value::Wildcard,
        _ => return Err(WireError::invalid("an element that this version does not know", reader.offset())),
    })
}

fn unpack_map(reader: &mut Reader<'_>, header: MapHeader<'_>) -> WireResult<Value> {
    let flags = header.flags();
    if flags & order::PRESERVE != 0 {
        let mut pairs = Vec::with_capacity(header.len);
        for _ in 0..header.len {
            let element = reader.read()?;
            let key = unpack(reader, element)?;
            let element = reader.read()?;
            pairs.push((key, unpack(reader, element)?));
        }
        Ok(Value::KeyValueList(pairs))
    } else if flags & order::MAP_KEY != 0 {
        let mut map = BTreeMap::new();
        for _ in 0..header.len {
            let key = unpack_key(reader)?;
            let element = reader.read()?;
            map.insert(key, unpack(reader, element)?);
        }
        Ok(Value::SortedMap(map))
    } else {
        let mut map = IndexMap::with_capacity(header.len);
        for _ in 0..header.len {
            let key = unpack_key(reader)?;
            let element = reader.read()?;
            map.insert(key, unpack(reader, element)?);
        }
        Ok(Value::OrderedMap(map))
    }
}

/// A map key: integer, string or blob, or the nil that stands for "none".
fn unpack_key(reader: &mut Reader<'_>) -> WireResult<Value> {
    let at = reader.offset();
    let element = reader.read()?;
    if matches!(element, Element::List(_) | Element::Map(_)) {
        return Err(WireError::invalid("a collection as map key", at));
    }
    match unpack(reader, element)? {
        key @ (Value::Nil | Value::Int(_) | Value::String(_) | Value::Blob(_)) => Ok(key),
        _ => Err(WireError::invalid("a map key that is no integer, string or blob", at)),
    }
}

fn unpack_bytes(payload: &[u8]) -> WireResult<Value> {
    Ok(match msgpack::particle(payload)? {
        Particle::String(v) => Value::String(text(v, 1)?),
        Particle::GeoJson(v) => Value::GeoJson(text(v, 1)?),
        Particle::Blob(v) => Value::Blob(v.to_vec()),
        Particle::Hll(v) => Value::Hll(v.to_vec()),
        Particle::Unknown(tag, v) => Value::Unknown(tag, v.to_vec()),
        _ => return Err(WireError::invalid("a particle type that this version does not know", 0)),
    })
}

fn text(bytes: &[u8], at: usize) -> WireResult<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => Err(WireError::invalid("a string that is not UTF-8", at + e.valid_up_to())),
    }
}

#[cfg(test)]
mod tests;
