//! The record that a script works on, the table `record`, and the functions of `aerospike` that write it.
//!
//! As the server does it: what a script sets is seen by the script at once, is taken over by `aerospike:create` and
//! `aerospike:update`, and is stored when the script has ended well. Generation and TTL that a script sees are those from
//! before.

use super::bytes::Bytes;
use super::value::{Val, bad_argument};
use crate::value::MAX_BIN_NAME;
use aerolane_wire::particle::particle_type;
use mlua::{AnyUserData, Lua, MetaMethod, Table, UserData, UserDataMethods, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// No record is larger, in bytes.
const MAX_RECORD: usize = 8 * 1024 * 1024;

/// A bin as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct StoredBin {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: u8,
    pub(crate) value: Vec<u8>,
}

/// What a script has read or set.
#[derive(Debug)]
struct Cached {
    name: Vec<u8>,
    value: Val,
    changed: bool,
}

/// What a script knows of its record, and does to it.
#[derive(Debug, Default)]
pub(crate) struct ScriptRecord {
    pub(crate) exists: bool,
    /// Records of aggregations cannot be written.
    pub(crate) read_only: bool,
    pub(crate) digest: [u8; 20],
    pub(crate) set: Vec<u8>,
    /// Stored key with its type byte in front; empty if there is none.
    pub(crate) key: Vec<u8>,
    pub(crate) generation: u16,
    /// Seconds left; 0: never expires.
    pub(crate) ttl: u32,
    pub(crate) last_update_ms: u64,
    /// Bytes that the stored record takes.
    pub(crate) size: usize,
    /// The bins as they are to be stored.
    pub(crate) bins: Vec<StoredBin>,
    /// Whether `bins` is to be stored.
    pub(crate) written: bool,
    /// Set by `record.set_ttl`.
    pub(crate) ttl_word: Option<u32>,
    pub(crate) drops_key: bool,
    pub(crate) progress: Progress,
}

/// What the script has done so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    removed: bool,
    cache: Vec<Cached>,
}

impl ScriptRecord {
    fn get(&mut self, name: &[u8]) -> Val {
        if let Some(found) = self.progress.cache.iter().find(|c| c.name == name) {
            return found.value.clone();
        }
        let Some(bin) = self.bins.iter().find(|b| b.name == name) else { return Val::Nil };
        let value = Val::from_particle(bin.kind, &bin.value);
        self.progress.cache.push(Cached { name: name.to_vec(), value: value.clone(), changed: false });
        value
    }

    fn set(&mut self, name: &[u8], value: Val) {
        match self.progress.cache.iter_mut().find(|c| c.name == name) {
            Some(found) => (found.value, found.changed) = (value, true),
            None => self.progress.cache.push(Cached { name: name.to_vec(), value, changed: true }),
        }
    }

    /// Takes over what the script has set. Values that no bin takes are left out. From where the record is larger than any
    /// can be, nothing more is taken over: it cannot be stored.
    fn take_over(&mut self) {
        let mut size: usize = self.bins.iter().map(|bin| bin.value.len()).sum();
        for cached in &mut self.progress.cache {
            if !std::mem::take(&mut cached.changed) {
                continue;
            }
            let place = self.bins.iter().position(|b| b.name == cached.name);
            if size > MAX_RECORD {
                break;
            }
            let Ok((kind, value)) = cached.value.to_particle() else { continue };
            size += value.len();
            if kind == particle_type::NIL {
                if let Some(place) = place {
                    self.bins.swap_remove(place);
                }
                continue;
            }
            let Ok(value) = crate::particle::checked(kind, &value) else { continue };
            let value = value.into_owned();
            match place {
                Some(place) => (self.bins[place].kind, self.bins[place].value) = (kind, value),
                None => self.bins.push(StoredBin { name: cached.name.clone(), kind, value }),
            }
        }
        self.written = true;
        self.progress.removed = false;
    }

    /// `aerospike:create`: 1 if the record exists.
    fn create(&mut self) -> i64 {
        if self.exists && !self.progress.removed {
            return 1;
        }
        self.exists = true;
        self.take_over();
        0
    }

    /// `aerospike:update`: -2 if there is no record.
    fn update(&mut self) -> i64 {
        if !self.exists {
            return -2;
        }
        self.take_over();
        0
    }

    /// `aerospike:remove`: 1 if there is no record.
    fn remove(&mut self) -> i64 {
        if !self.exists {
            return 1;
        }
        self.bins.clear();
        self.progress.cache.clear();
        self.written = true;
        self.progress.removed = true;
        0
    }
}

/// A record in Lua.
#[derive(Debug, Clone)]
pub(super) struct RecordRef(pub(super) Rc<RefCell<ScriptRecord>>);

impl UserData for RecordRef {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, record, name: Value| match &name {
            Value::String(name) => record.0.borrow_mut().get(&name.as_bytes()).into_lua(lua),
            _ => Ok(Value::Nil),
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, record, (name, value): (Value, Value)| {
            let Value::String(name) = name else { return Ok(()) };
            let name = name.as_bytes();
            // Too long a name is passed over, as the server does it.
            if name.is_empty() || name.len() > MAX_BIN_NAME {
                return Ok(());
            }
            let Some(value) = Val::from_lua(&value)? else {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(mlua::Error::RuntimeError(format!("can't set bin {name} to unsupported type")));
            };
            record.0.borrow_mut().set(&name, value);
            Ok(())
        });
    }
}

fn check(function: &str, position: usize, value: &Value) -> mlua::Result<RecordRef> {
    let found = value.as_userdata().and_then(|data: &AnyUserData| data.borrow::<RecordRef>().ok().map(|r| r.clone()));
    found.ok_or_else(|| bad_argument(function, position, "Record", value))
}

/// The table `record`.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("gen", lua.create_function(|_, r: Value| Ok(check("gen", 1, &r)?.0.borrow().generation))?)?;
    table.set("ttl", lua.create_function(|_, r: Value| Ok(check("ttl", 1, &r)?.0.borrow().ttl))?)?;
    let updated = |_: &Lua, r: Value| Ok(check("last_update_time", 1, &r)?.0.borrow().last_update_ms);
    table.set("last_update_time", lua.create_function(updated)?)?;
    for name in ["size", "memory_size"] {
        let size = move |_: &Lua, r: Value| Ok(check(name, 1, &r)?.0.borrow().size);
        table.set(name, lua.create_function(size)?)?;
    }
    // Records are in memory alone.
    table.set("device_size", lua.create_function(|_, r: Value| check("device_size", 1, &r).map(|_| 0))?)?;
    let setname = |lua: &Lua, r: Value| lua.create_string(&check("setname", 1, &r)?.0.borrow().set);
    table.set("setname", lua.create_function(setname)?)?;
    let digest = |_: &Lua, r: Value| Ok(Bytes::new(particle_type::BLOB, &check("digest", 1, &r)?.0.borrow().digest));
    table.set("digest", lua.create_function(digest)?)?;
    table.set("numbins", lua.create_function(|_, r: Value| Ok(check("numbins", 1, &r)?.0.borrow().bins.len()))?)?;
    let key = |lua: &Lua, r: Value| {
        let record = check("key", 1, &r)?;
        let record = record.0.borrow();
        let key = record.key.split_first().map_or(Val::Nil, |(kind, value)| Val::from_particle(*kind, value));
        key.into_lua(lua)
    };
    table.set("key", lua.create_function(key)?)?;
    let bin_names = |lua: &Lua, r: Value| {
        let record = check("bin_names", 1, &r)?;
        let record = record.0.borrow();
        if !record.exists {
            return Err(mlua::Error::RuntimeError("can't get bin names".to_owned()));
        }
        let names = record.bins.iter().map(|b| lua.create_string(&b.name)).collect::<mlua::Result<Vec<_>>>()?;
        lua.create_sequence_from(names)
    };
    table.set("bin_names", lua.create_function(bin_names)?)?;
    let set_ttl = |_: &Lua, (r, ttl): (Value, i64)| {
        check("set_ttl", 1, &r)?.0.borrow_mut().ttl_word = Some(ttl as u32);
        Ok(())
    };
    table.set("set_ttl", lua.create_function(set_ttl)?)?;
    let drop_key = |_: &Lua, r: Value| {
        check("drop_key", 1, &r)?.0.borrow_mut().drops_key = true;
        Ok(())
    };
    table.set("drop_key", lua.create_function(drop_key)?)?;
    Ok(table)
}

/// A function that writes; what it answers is a code, 0 for success.
type Writer = fn(&mut ScriptRecord) -> i64;

/// Adds the functions about records to the table `aerospike`.
pub(super) fn aerospike(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let exists = |_: &Lua, (_, r): (Value, Value)| Ok(check("exists", 2, &r)?.0.borrow().exists);
    table.set("exists", lua.create_function(exists)?)?;
    let writers: [(&str, Writer); 3] =
        [("create", ScriptRecord::create), ("update", ScriptRecord::update), ("remove", ScriptRecord::remove)];
    for (name, write) in writers {
        let call = move |_: &Lua, (_, r): (Value, Value)| {
            let record = check(name, 2, &r)?;
            let mut record = record.0.borrow_mut();
            if record.read_only {
                return Err(mlua::Error::RuntimeError("records of a stream are read-only".to_owned()));
            }
            Ok(write(&mut record))
        };
        table.set(name, lua.create_function(call)?)?;
    }
    Ok(())
}
