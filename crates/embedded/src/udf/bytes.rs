//! Byte arrays of scripts, and the table `bytes` of their functions. Positions count from 1.

use super::budget::Charge;
use super::value::bad_argument;
use aerolane_wire::particle::particle_type;
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value, Variadic};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

/// Largest array that a script may make.
const MAX_SIZE: usize = 8 * 1024 * 1024;

#[derive(Debug)]
struct Content {
    kind: u8,
    data: Vec<u8>,
    /// What was written behind the end: only numbers of variable size can be, and they are all that is read there.
    behind: Vec<u8>,
    /// What `set_size` can give without growing.
    capacity: usize,
    charge: Charge,
}

/// A byte array, shared by all who hold it.
#[derive(Debug, Clone)]
pub(super) struct Bytes(Rc<RefCell<Content>>);

impl Bytes {
    pub(super) fn new(kind: u8, data: &[u8]) -> Self {
        Self::charged(kind, data.to_vec(), Charge::default())
    }

    fn charged(kind: u8, data: Vec<u8>, charge: Charge) -> Self {
        let capacity = data.len();
        Self(Rc::new(RefCell::new(Content { kind, data, behind: Vec::new(), capacity, charge })))
    }

    fn with_capacity(capacity: usize) -> Self {
        let charge = Charge::default();
        let (data, behind) = (Vec::new(), Vec::new());
        Self(Rc::new(RefCell::new(Content { kind: particle_type::BLOB, data, behind, capacity, charge })))
    }

    /// Particle type and bytes. A type that bins cannot have counts as a blob.
    pub(super) fn to_particle(&self) -> (u8, Vec<u8>) {
        let content = self.0.borrow();
        let kind = match content.kind {
            kind @ (particle_type::HLL | 7..=12) => kind,
            _ => particle_type::BLOB,
        };
        (kind, content.data.clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().data.is_empty()
    }

    pub(super) fn hex(&self) -> String {
        let mut out = String::new();
        for (at, byte) in self.0.borrow().data.iter().enumerate() {
            let _ = write!(out, "{}{byte:02X}", if at == 0 { "" } else { " " });
        }
        out
    }

    /// `len` bytes at a position; `None` if they are not all there.
    fn get(&self, position: i64, len: usize) -> Option<Vec<u8>> {
        let at = usize::try_from(position).ok()?.checked_sub(1)?;
        self.0.borrow().data.get(at..at.checked_add(len)?).map(<[u8]>::to_vec)
    }

    /// Writes bytes at a position, growing as needed; `false` if there is no such position.
    fn set(&self, position: i64, bytes: &[u8]) -> mlua::Result<bool> {
        let Some(at) = usize::try_from(position).ok().and_then(|at| at.checked_sub(1)) else { return Ok(false) };
        let end = at.saturating_add(bytes.len());
        if end > MAX_SIZE {
            return Ok(false);
        }
        let mut content = self.0.borrow_mut();
        if end > content.data.len() {
            let more = end - content.data.len();
            content.charge.grow(more)?;
            let overwritten = more.min(content.behind.len());
            content.behind.drain(..overwritten);
            content.data.resize(end, 0);
        }
        content.data[at..end].copy_from_slice(bytes);
        Ok(true)
    }

    /// The byte at a position, also behind the end.
    fn peek(&self, position: i64) -> Option<u8> {
        let at = usize::try_from(position).ok()?.checked_sub(1)?;
        let content = self.0.borrow();
        content.data.get(at).or_else(|| content.behind.get(at - content.data.len())).copied()
    }

    /// Writes a number of variable size, without growing; gives the size that it has.
    fn put_variable(&self, position: i64, value: i64) -> mlua::Result<usize> {
        if position < 1 || !fits(value, 4) {
            return Ok(0);
        }
        let encoded = variable(value);
        let room = usize::try_from(self.end() - position).unwrap_or(0).min(encoded.len());
        self.set(position, &encoded[..room])?;
        // Right behind the end, a number can be read again; farther away nobody looks for it.
        let from = position + room as i64 - self.end();
        if from == 0 {
            self.0.borrow_mut().behind = encoded[room..].to_vec();
        }
        Ok(encoded.len())
    }

    fn end(&self) -> i64 {
        self.0.borrow().data.len() as i64 + 1
    }
}

impl UserData for Bytes {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, bytes, position: Value| {
            Ok(position.as_i64().and_then(|position| bytes.get(position, 1)).map(|found| found[0]))
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, bytes, (position, value): (Value, Value)| {
            if let (Some(position), Some(value)) = (position.as_i64(), value.as_i64()) {
                bytes.set(position, &[value as u8])?;
            }
            Ok(())
        });
        methods.add_meta_method(MetaMethod::Len, |_, bytes, ()| Ok(bytes.0.borrow().data.len()));
        methods.add_meta_method(MetaMethod::ToString, |_, bytes, ()| {
            Ok(if bytes.is_empty() { "Bytes()".to_owned() } else { bytes.hex() })
        });
    }
}

fn check(function: &str, position: usize, value: &Value) -> mlua::Result<Bytes> {
    let found = value.as_userdata().and_then(|data| data.borrow::<Bytes>().ok().map(|bytes| bytes.clone()));
    found.ok_or_else(|| bad_argument(function, position, "Bytes", value))
}

/// The bytes of a string or a byte array.
fn content(function: &str, position: usize, value: &Value) -> mlua::Result<Vec<u8>> {
    match value {
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        other => check(function, position, other).map(|bytes| bytes.0.borrow().data.clone()),
    }
}

#[derive(Clone, Copy)]
enum Order {
    Big,
    Little,
}

fn encode(value: i64, size: usize, order: Order) -> Vec<u8> {
    match order {
        Order::Big => value.to_be_bytes()[8 - size..].to_vec(),
        Order::Little => value.to_le_bytes()[..size].to_vec(),
    }
}

/// Whether a signed integer of so many bytes can be that.
fn fits(value: i64, size: usize) -> bool {
    let unused = 64 - 8 * size as u32;
    (value << unused) >> unused == value
}

/// The number in up to eight bytes, with its sign.
fn decode(bytes: &[u8], order: Order) -> i64 {
    let add = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
    let number = match order {
        Order::Big => bytes.iter().fold(0, add),
        Order::Little => bytes.iter().rev().fold(0, add),
    };
    let unused = 64 - 8 * bytes.len() as u32;
    (number << unused) as i64 >> unused
}

/// The table `bytes`.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("size", lua.create_function(|_, bytes: Value| Ok(check("size", 1, &bytes)?.0.borrow().data.len()))?)?;
    // Without leave to grow, only what was asked for at the beginning can be had.
    let set_size = |_: &Lua, (bytes, size, grow): (Value, i64, Option<bool>)| {
        let bytes = check("set_size", 1, &bytes)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let mut inner = bytes.0.borrow_mut();
        if size > MAX_SIZE || (size > inner.capacity.max(inner.data.len()) && !grow.unwrap_or(false)) {
            return Ok(false);
        }
        let more = size.saturating_sub(inner.data.len());
        inner.charge.grow(more)?;
        inner.data.resize(size, 0);
        Ok(true)
    };
    table.set("set_size", lua.create_function(set_size)?)?;
    table.set("get_type", lua.create_function(|_, bytes: Value| Ok(check("get_type", 1, &bytes)?.0.borrow().kind))?)?;
    let set_type = |_: &Lua, (bytes, kind): (Value, i64)| {
        check("set_type", 1, &bytes)?.0.borrow_mut().kind = u8::try_from(kind).unwrap_or(particle_type::BLOB);
        Ok(())
    };
    table.set("set_type", lua.create_function(set_type)?)?;
    raw_functions(lua, &table)?;
    number_functions(lua, &table)?;
    variable_functions(lua, &table)?;
    let metatable = lua.create_table()?;
    let construct = |_: &Lua, (_, size): (Value, Option<i64>)| {
        let size = usize::try_from(size.unwrap_or(0)).unwrap_or(0).min(MAX_SIZE);
        Ok(Bytes::with_capacity(size))
    };
    metatable.set("__call", lua.create_function(construct)?)?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}

/// Strings, byte arrays and single bytes.
fn raw_functions(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let get_string = |lua: &Lua, (bytes, position, len): (Value, i64, i64)| {
        let found = check("get_string", 1, &bytes)?.get(position, usize::try_from(len).unwrap_or(usize::MAX));
        found.map(|found| lua.create_string(&found)).transpose()
    };
    table.set("get_string", lua.create_function(get_string)?)?;
    let get_bytes = |_: &Lua, (bytes, position, len): (Value, i64, i64)| {
        let found = check("get_bytes", 1, &bytes)?.get(position, usize::try_from(len).unwrap_or(usize::MAX));
        let charge = Charge::of(found.as_ref().map_or(0, Vec::len))?;
        Ok(found.map(|found| Bytes::charged(particle_type::BLOB, found, charge)))
    };
    table.set("get_bytes", lua.create_function(get_bytes)?)?;
    let get_byte =
        |_: &Lua, (bytes, position): (Value, i64)| Ok(check("get_byte", 1, &bytes)?.get(position, 1).map(|b| b[0]));
    table.set("get_byte", lua.create_function(get_byte)?)?;
    // Texts come without a length, byte arrays with one; else nothing is done.
    for (name, arguments) in [("set_string", 3), ("set_bytes", 4), ("append_string", 2), ("append_bytes", 3)] {
        let is_text = name.ends_with("string");
        let put = move |_: &Lua, given: Variadic<Value>| {
            if given.len() != arguments {
                return Ok(false);
            }
            let bytes = check(name, 1, &given[0])?;
            let at = if is_text { arguments } else { arguments - 1 };
            let mut value = content(name, at, &given[at - 1])?;
            if !is_text {
                value.truncate(given[at].as_i64().and_then(|len| usize::try_from(len).ok()).unwrap_or(0));
            }
            let position = if name.starts_with("set") { given[1].as_i64().unwrap_or(0) } else { bytes.end() };
            Ok(!(is_text && value.is_empty()) && bytes.set(position, &value)?)
        };
        table.set(name, lua.create_function(put)?)?;
    }
    let set_byte = |_: &Lua, (bytes, position, value): (Value, i64, i64)| {
        let bytes = check("set_byte", 1, &bytes)?;
        u8::try_from(value).map_or(Ok(false), |value| bytes.set(position, &[value]))
    };
    table.set("set_byte", lua.create_function(set_byte)?)?;
    let append_byte = |_: &Lua, (bytes, value): (Value, i64)| {
        let bytes = check("append_byte", 1, &bytes)?;
        u8::try_from(value).map_or(Ok(false), |value| bytes.set(bytes.end(), &[value]))
    };
    table.set("append_byte", lua.create_function(append_byte)?)
}

/// Integers of fixed size. Without a suffix they are big-endian.
fn number_functions(lua: &Lua, table: &Table) -> mlua::Result<()> {
    for (bits, size) in [("int16", 2), ("int32", 4), ("int64", 8)] {
        for (suffix, order) in [("", Order::Big), ("_be", Order::Big), ("_le", Order::Little)] {
            let get = move |_: &Lua, (bytes, position): (Value, i64)| {
                Ok(check("get", 1, &bytes)?.get(position, size).map(|found| decode(&found, order)))
            };
            table.set(format!("get_{bits}{suffix}"), lua.create_function(get)?)?;
            let set = move |_: &Lua, (bytes, position, value): (Value, i64, i64)| {
                let bytes = check("set", 1, &bytes)?;
                Ok(fits(value, size) && bytes.set(position, &encode(value, size, order))?)
            };
            table.set(format!("set_{bits}{suffix}"), lua.create_function(set)?)?;
            let append = move |_: &Lua, (bytes, value): (Value, i64)| {
                let bytes = check("append", 1, &bytes)?;
                Ok(fits(value, size) && bytes.set(bytes.end(), &encode(value, size, order))?)
            };
            table.set(format!("append_{bits}{suffix}"), lua.create_function(append)?)?;
        }
    }
    Ok(())
}

/// Seven bits to a byte, the lowest first; all but the last byte have their highest bit set.
fn variable(value: i64) -> Vec<u8> {
    let mut rest = value as u32;
    let mut out = Vec::new();
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
    out
}

/// Integers of variable size. Setting answers how many bytes were written, getting the value and that number. As in the
/// server, an array does not grow by them: what is written behind its end cannot be read.
fn variable_functions(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let get = |_: &Lua, (bytes, position): (Value, i64)| {
        let bytes = check("get_var_int", 1, &bytes)?;
        let mut value = 0_u32;
        for n in 0..5_i64 {
            let Some(found) = bytes.peek(position.saturating_add(n)) else { break };
            value |= u32::from(found & 0x7f) << (7 * n);
            if found & 0x80 == 0 {
                return Ok((i64::from(value), n + 1));
            }
        }
        Ok((0, 0))
    };
    table.set("get_var_int", lua.create_function(get)?)?;
    let set = |_: &Lua, (bytes, position, value): (Value, i64, i64)| {
        check("set_var_int", 1, &bytes)?.put_variable(position, value)
    };
    table.set("set_var_int", lua.create_function(set)?)?;
    let append = |_: &Lua, (bytes, value): (Value, i64)| {
        let bytes = check("append_var_int", 1, &bytes)?;
        bytes.put_variable(bytes.end(), value)
    };
    table.set("append_var_int", lua.create_function(append)?)
}
