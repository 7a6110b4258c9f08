//! Values as Lua scripts see them, and their way from and to particles and msgpack.

use super::bytes::Bytes;
use super::geojson::GeoJson;
use super::list::List;
use super::map::Map;
use crate::record::compare;
use aerolane_wire::msgpack::{self, Element, Reader, Writer};
use aerolane_wire::particle::{Particle, particle_type as t};
use mlua::{AnyUserData, Lua, Value};
use std::cell::Cell;
use std::rc::Rc;

/// How deep collections may be nested when they leave a script.
const MAX_DEPTH: usize = 200;
/// Largest value that leaves a script, in bytes; also bounds what a list that holds itself can grow to.
const MAX_SIZE: usize = 8 * 1024 * 1024;
/// Elements and bytes that one call may put into lists, maps and bytes, which Lua's own limit of memory does not see.
const BUDGET: usize = 16 * 1024 * 1024;

thread_local! {
    static SPENT: Cell<usize> = const { Cell::new(0) };
}

/// A call begins: it has not used any memory yet.
pub(super) fn reset_budget() {
    SPENT.set(0);
}

/// Takes note that a collection grows by so many elements or bytes.
pub(super) fn charge(amount: usize) -> mlua::Result<()> {
    let spent = SPENT.get().saturating_add(amount);
    SPENT.set(spent);
    if spent > BUDGET { Err(mlua::Error::RuntimeError("not enough memory".to_owned())) } else { Ok(()) }
}

/// One value.
#[derive(Debug, Clone)]
pub(super) enum Val {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<[u8]>),
    Bytes(Bytes),
    List(List),
    Map(Map),
    Geo(Rc<[u8]>),
}

/// A value that cannot be sent or stored: too large, or nested too deep.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Val {
    /// What a script handed over; `None` for what has no counterpart outside of Lua (tables, functions, records).
    pub(super) fn from_lua(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(v) => Self::Bool(*v),
            Value::Integer(v) => Self::Int(*v),
            Value::Number(v) => Self::Float(*v),
            Value::String(v) => Self::Str(Rc::from(&*v.as_bytes())),
            Value::UserData(data) => Self::from_userdata(data)?,
            _ => return None,
        })
    }

    fn from_userdata(data: &AnyUserData) -> Option<Self> {
        if let Ok(list) = data.borrow::<List>() {
            return Some(Self::List(list.clone()));
        }
        if let Ok(map) = data.borrow::<Map>() {
            return Some(Self::Map(map.clone()));
        }
        if let Ok(bytes) = data.borrow::<Bytes>() {
            return Some(Self::Bytes(bytes.clone()));
        }
        data.borrow::<GeoJson>().ok().map(|geo| Self::Geo(Rc::clone(&geo.0)))
    }

    /// The value for a script. Collections are shared, not copied.
    pub(super) fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        Ok(match self {
            Self::Nil => Value::Nil,
            Self::Bool(v) => Value::Boolean(v),
            Self::Int(v) => Value::Integer(v),
            Self::Float(v) => Value::Number(v),
            Self::Str(v) => Value::String(lua.create_string(&*v)?),
            Self::Bytes(v) => Value::UserData(lua.create_userdata(v)?),
            Self::List(v) => Value::UserData(lua.create_userdata(v)?),
            Self::Map(v) => Value::UserData(lua.create_userdata(v)?),
            Self::Geo(v) => Value::UserData(lua.create_userdata(GeoJson(v))?),
        })
    }

    /// The value of a bin; nil for types that scripts do not know.
    pub(super) fn from_particle(kind: u8, value: &[u8]) -> Self {
        match Particle::decode(kind, value) {
            Ok(Particle::Integer(v)) => Self::Int(v),
            Ok(Particle::Float(v)) => Self::Float(v),
            Ok(Particle::Bool(v)) => Self::Bool(v),
            Ok(Particle::String(v)) => Self::Str(v.into()),
            Ok(Particle::GeoJson(v)) => Self::Geo(v.into()),
            Ok(Particle::List(v) | Particle::Map(v)) => Self::from_msgpack(v).unwrap_or(Self::Nil),
            Ok(Particle::Blob(v) | Particle::Hll(v) | Particle::Unknown(_, v)) => Self::Bytes(Bytes::new(kind, v)),
            _ => Self::Nil,
        }
    }

    /// A whole msgpack value; `None` if it is malformed.
    pub(super) fn from_msgpack(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let value = Self::read(&mut reader)?;
        reader.finish().ok()?;
        Some(value)
    }

    /// The reader bounds the depth.
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(match reader.read().ok()? {
            Element::Nil => Self::Nil,
            Element::Bool(v) => Self::Bool(v),
            Element::Int(v) => Self::Int(v),
            Element::Uint(v) => Self::Int(v as i64),
            Element::Float(v) => Self::Float(v),
            Element::Float32(v) => Self::Float(f64::from(v)),
            Element::Bytes(payload) => match msgpack::particle(payload).ok()? {
                Particle::String(v) => Self::Str(v.into()),
                Particle::GeoJson(v) => Self::Geo(v.into()),
                Particle::Hll(v) => Self::Bytes(Bytes::new(t::HLL, v)),
                Particle::Blob(v) => Self::Bytes(Bytes::new(t::BLOB, v)),
                Particle::Unknown(kind, v) => Self::Bytes(Bytes::new(kind, v)),
                _ => return None,
            },
            Element::List(header) => {
                let list = List::with_flags(header.flags());
                for _ in 0..header.len {
                    list.0.borrow_mut().push(Self::read(reader)?);
                }
                Self::List(list)
            }
            Element::Map(header) => {
                let map = Map::with_flags(header.flags());
                for _ in 0..header.len {
                    let key = Self::read(reader)?;
                    let value = Self::read(reader)?;
                    map.insert(super::map::Key::of(&key)?, value);
                }
                Self::Map(map)
            }
            _ => return None,
        })
    }

    /// The particle of the value: type and bytes as they are sent.
    pub(super) fn to_particle(&self) -> Result<(u8, Vec<u8>), TooLarge> {
        Ok(match self {
            Self::Nil => (t::NIL, Vec::new()),
            Self::Bool(v) => (t::BOOL, vec![u8::from(*v)]),
            Self::Int(v) => (t::INTEGER, v.to_be_bytes().to_vec()),
            Self::Float(v) => (t::FLOAT, v.to_be_bytes().to_vec()),
            Self::Str(v) => (t::STRING, v.to_vec()),
            Self::Geo(v) => (t::GEOJSON, [&[0, 0, 0], &v[..]].concat()),
            Self::Bytes(v) => v.to_particle(),
            Self::List(_) => (t::LIST, self.to_msgpack()?),
            Self::Map(_) => (t::MAP, self.to_msgpack()?),
        })
    }

    /// The value as msgpack.
    pub(super) fn to_msgpack(&self) -> Result<Vec<u8>, TooLarge> {
        let mut out = Vec::new();
        self.write(&mut out, 0)?;
        Ok(out)
    }

    fn write(&self, out: &mut Vec<u8>, depth: usize) -> Result<(), TooLarge> {
        if depth > MAX_DEPTH || out.len() > MAX_SIZE {
            return Err(TooLarge);
        }
        let mut writer = Writer::new(out);
        match self {
            Self::Nil => writer.nil(),
            Self::Bool(v) => writer.bool(*v),
            Self::Int(v) => writer.int(*v),
            Self::Float(v) => writer.float(*v),
            Self::Str(v) => writer.str(v),
            Self::Geo(v) => writer.geojson(v),
            Self::Bytes(v) => {
                let (kind, bytes) = v.to_particle();
                writer.tagged(kind, &bytes);
            }
            Self::List(list) => {
                let items = list.0.borrow();
                writer.list_with_order(items.flags, items.len());
                if items.flags & msgpack::order::LIST_ORDERED == 0 {
                    for item in items.iter() {
                        item.write(out, depth + 1)?;
                    }
                } else {
                    let encode = |item: &Self| {
                        let mut out = Vec::new();
                        item.write(&mut out, depth + 1).map(|()| out)
                    };
                    let mut sorted = items.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
                    sorted.sort_by(|a, b| compare(a, b));
                    out.extend(sorted.into_iter().flatten());
                }
            }
            Self::Map(map) => {
                let map = map.0.borrow();
                writer.map_with_order(map.flags, map.entries.len());
                for (key, value) in &map.entries {
                    key.to_val().write(out, depth + 1)?;
                    value.write(out, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// The value as `tostring` shows it; `depth` is how deep it is nested.
    pub(super) fn show(&self, out: &mut String, depth: usize) {
        if depth > MAX_DEPTH || out.len() > MAX_SIZE {
            out.push_str("...");
            return;
        }
        match self {
            Self::Nil => out.push_str("nil"),
            Self::Bool(v) => out.push_str(if *v { "true" } else { "false" }),
            Self::Int(v) => out.push_str(&v.to_string()),
            Self::Float(v) => out.push_str(&v.to_string()),
            Self::Str(v) | Self::Geo(v) => {
                out.push('"');
                out.push_str(&String::from_utf8_lossy(v));
                out.push('"');
            }
            Self::Bytes(v) => out.push_str(&v.hex()),
            Self::List(list) => {
                out.push('[');
                for (at, item) in list.0.borrow().iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.show(out, depth + 1);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.0.borrow().entries.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    key.to_val().show(out, depth + 1);
                    out.push(':');
                    value.show(out, depth + 1);
                }
                out.push('}');
            }
        }
    }

    /// [`Val::show`] into a string of its own.
    pub(super) fn shown(&self) -> String {
        let mut out = String::new();
        self.show(&mut out, 0);
        out
    }
}

/// The error for an argument of the wrong type, in Lua's words.
pub(super) fn bad_argument(function: &str, position: usize, wanted: &str, found: &Value) -> mlua::Error {
    let wanted = if found.is_userdata() { wanted } else { "userdata" };
    let found = found.type_name();
    mlua::Error::RuntimeError(format!("bad argument #{position} to '{function}' ({wanted} expected, got {found})"))
}
