//! Values as Lua scripts see them, and their way from and to particles and msgpack.

use super::budget::Text;
use super::bytes::Bytes;
use super::geojson::GeoJson;
use super::list::List;
use super::map::Map;
use crate::value::compare;
use aerolane_wire::msgpack::{self, Element, Reader, Writer};
use aerolane_wire::particle::{Particle, particle_type as t};
use mlua::{AnyUserData, Lua, Value};
use std::cell::RefCell;

/// How deep collections may be nested when they leave a script.
const MAX_DEPTH: usize = 200;
/// Largest value that leaves a script, in bytes; also bounds what a list that holds itself can grow to.
const MAX_SIZE: usize = 8 * 1024 * 1024;
thread_local! {
    /// Values to be dropped by a drop that is under way.
    static BURIED: RefCell<Option<Vec<Val>>> = const { RefCell::new(None) };
}

/// Drops the values of a collection one after another, not one inside another: they may be nested deeper than a stack is.
pub(super) fn bury(values: impl Iterator<Item = Val>) {
    let nested = values.filter(|value| matches!(value, Val::List(_) | Val::Map(_)));
    let mut nested = nested.peekable();
    if nested.peek().is_none() {
        return;
    }
    let mine: Vec<Val> = nested.collect();
    // At the end of a thread there is no such list any more, and what is left is dropped where it is.
    let _ = BURIED.try_with(|buried| {
        if let Some(waiting) = &mut *buried.borrow_mut() {
            waiting.extend(mine);
            return;
        }
        buried.replace(Some(mine));
        loop {
            // The borrow has to end before the drop, which comes by here again.
            let next = buried.borrow_mut().as_mut().and_then(Vec::pop);
            let Some(value) = next else { break };
            drop(value);
        }
        buried.replace(None);
    });
}

/// One value.
#[derive(Debug, Clone)]
pub(super) enum Val {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Text),
    Bytes(Bytes),
    List(List),
    Map(Map),
    Geo(Text),
}

/// A value that cannot be sent or stored: too large, or nested too deep.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Val {
    /// What a script handed over; `None` for what has no counterpart outside of Lua (tables, functions, records).
    /// The error is that texts take too much memory.
    pub(super) fn from_lua(value: &Value) -> mlua::Result<Option<Self>> {
        Ok(Some(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(v) => Self::Bool(*v),
            Value::Integer(v) => Self::Int(*v),
            Value::Number(v) => Self::Float(*v),
            Value::String(v) => Self::Str(Text::copy(&v.as_bytes())?),
            Value::UserData(data) => return Ok(Self::from_userdata(data)),
            _ => return Ok(None),
        }))
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
        data.borrow::<GeoJson>().ok().map(|geo| Self::Geo(geo.0.clone()))
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
            Ok(Particle::String(v)) => Self::Str(Text::given(v)),
            Ok(Particle::GeoJson(v)) => Self::Geo(Text::given(v)),
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
                Particle::String(v) => Self::Str(Text::given(v)),
                Particle::GeoJson(v) => Self::Geo(Text::given(v)),
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
                // For scripts, what is sorted by value or has an index is sorted by key, too.
                let sorted = header.flags() & (msgpack::order::MAP_VALUE | msgpack::order::PERSIST_INDEX) != 0;
                let map = Map::with_flags(header.flags() | if sorted { msgpack::order::MAP_KEY } else { 0 });
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
                // Only a list that is a whole bin keeps its order, as in the server.
                let flags = if depth == 0 { items.flags } else { 0 };
                writer.list_with_order(flags, items.len());
                if flags & msgpack::order::LIST_ORDERED == 0 {
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
                    if out.len() > MAX_SIZE {
                        return Err(TooLarge);
                    }
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
            Self::Nil => out.push_str("NIL"),
            Self::Bool(v) => out.push_str(if *v { "true" } else { "false" }),
            Self::Int(v) => out.push_str(&v.to_string()),
            Self::Float(v) => out.push_str(&shortest(*v)),
            Self::Str(v) | Self::Geo(v) => {
                out.push('"');
                out.push_str(&String::from_utf8_lossy(v));
                out.push('"');
            }
            Self::Bytes(_) if self.has_no_text() => out.push_str("<NULL>"),
            Self::Bytes(v) => out.push_str(&v.hex()),
            Self::List(list) => {
                out.push('[');
                for (at, item) in list.0.borrow().iter().enumerate() {
                    if out.len() > MAX_SIZE {
                        break;
                    }
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.show(out, depth + 1);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.0.borrow().entries.iter().enumerate() {
                    let key = key.to_val();
                    // The server gives up at what it has no text for.
                    if out.len() > MAX_SIZE || key.has_no_text() || value.has_no_text() {
                        break;
                    }
                    out.push_str(if at == 0 { "" } else { ", " });
                    key.show(out, depth + 1);
                    out.push(':');
                    value.show(out, depth + 1);
                }
                out.push('}');
            }
        }
    }

    /// Whether it is bytes, but none.
    fn has_no_text(&self) -> bool {
        matches!(self, Self::Bytes(bytes) if bytes.is_empty())
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
    let found = class_of(found).unwrap_or(if found.is_integer() { "number" } else { found.type_name() });
    mlua::Error::RuntimeError(format!("bad argument #{position} to '{function}' ({wanted} expected, got {found})"))
}

/// A float as C shows it with 16 significant digits (`%.16g`).
fn shortest(value: f64) -> String {
    const DIGITS: i32 = 16;
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { value.to_string() };
    }
    let scientific = format!("{value:.15e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..DIGITS).contains(&exponent) {
        return bare(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", bare(mantissa), exponent.abs())
}

/// The name of the kind of a value of ours; `None` for values of Lua's own.
pub(super) fn class_of(value: &Value) -> Option<&'static str> {
    let data = value.as_userdata()?;
    Some(match Val::from_userdata(data) {
        Some(Val::List(_)) => "List",
        Some(Val::Map(_)) => "Map",
        Some(Val::Bytes(_)) => "Bytes",
        Some(_) => "GeoJSON",
        None if data.is::<super::record::RecordRef>() => "Record",
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the recorded server shows them in a list.
    #[test]
    fn floats_are_shown_with_sixteen_digits() {
        for (value, shown) in [
            (1e300, "1e+300"),
            (0.0, "0"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-inf"),
            (1.5, "1.5"),
            (3.0, "3"),
            (1e15, "1000000000000000"),
            (1e16, "1e+16"),
            (1.0 / 3.0, "0.3333333333333333"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
        ] {
            assert_eq!(shortest(value), shown);
        }
    }
}
