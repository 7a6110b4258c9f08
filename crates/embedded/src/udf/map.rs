//! Maps of scripts, and the table `map` of their functions.

use super::budget::{Charge, ELEMENT, Text};
use super::value::{Val, bad_argument, bury};
use aerolane_wire::particle::particle_type;
use mlua::{Function, Lua, MetaMethod, Table, UserData, UserDataMethods, Value, Variadic};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A key, in the order of the server: integers, strings, blobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Int(i64),
    Str(Text),
    Blob(Text),
}

impl Key {
    /// `None` for what cannot be a key.
    pub(super) fn of(value: &Val) -> Option<Self> {
        match value {
            Val::Int(v) => Some(Self::Int(*v)),
            Val::Str(v) => Some(Self::Str(v.clone())),
            Val::Bytes(v) => Some(Self::Blob(Text::given(&v.to_particle().1))),
            _ => None,
        }
    }

    pub(super) fn to_val(&self) -> Val {
        match self {
            Self::Int(v) => Val::Int(*v),
            Self::Str(v) => Val::Str(v.clone()),
            Self::Blob(v) => Val::Bytes(super::bytes::Bytes::new(particle_type::BLOB, v)),
        }
    }

    fn from_lua(value: &Value) -> mlua::Result<Option<Self>> {
        Ok(Val::from_lua(value)?.as_ref().and_then(Self::of))
    }
}

/// What a map holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Order flags of the bin it came from.
    pub(super) flags: u8,
    pub(super) entries: BTreeMap<Key, Val>,
    charge: Charge,
}

impl Content {
    /// Makes room for more pairs; keys count for themselves as bytes, as a blob is copied.
    fn grow(&mut self, pairs: usize, keys: usize) -> mlua::Result<()> {
        self.charge.grow(pairs.saturating_mul(2 * ELEMENT).saturating_add(keys))
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        bury(std::mem::take(&mut self.entries).into_values());
    }
}

/// A map, shared by all who hold it.
#[derive(Debug, Clone, Default)]
pub(super) struct Map(pub(super) Rc<RefCell<Content>>);

impl Map {
    pub(super) fn with_flags(flags: u8) -> Self {
        let charge = Charge::default();
        Self(Rc::new(RefCell::new(Content { flags, entries: BTreeMap::new(), charge })))
    }

    pub(super) fn insert(&self, key: Key, value: Val) {
        self.0.borrow_mut().entries.insert(key, value);
    }

    fn set(&self, key: &Value, value: &Value) -> mlua::Result<()> {
        // What can be no key or no value is passed over, as the server does it; nil is a value.
        if let (Some(key), Some(value)) = (Key::from_lua(key)?, Val::from_lua(value)?) {
            let blob = if let Key::Blob(blob) = &key { blob.len() } else { 0 };
            self.0.borrow_mut().grow(1, blob)?;
            self.insert(key, value);
        }
        Ok(())
    }

    fn get(&self, key: &Value) -> mlua::Result<Option<Val>> {
        let Some(key) = Key::from_lua(key)? else { return Ok(None) };
        Ok(self.0.borrow().entries.get(&key).cloned())
    }

    /// A copy of the pairs, and what it counts for.
    fn pairs(&self) -> mlua::Result<(Vec<(Key, Val)>, Charge)> {
        let entries = &self.0.borrow().entries;
        let charge = Charge::of(entries.len() * 2 * ELEMENT)?;
        Ok((entries.iter().map(|(key, value)| (key.clone(), value.clone())).collect(), charge))
    }
}

impl UserData for Map {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, map, key: Value| {
            map.get(&key)?.unwrap_or(Val::Nil).into_lua(lua)
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, map, (key, value): (Value, Value)| map.set(&key, &value));
        methods.add_meta_method(MetaMethod::Len, |_, map, ()| Ok(map.0.borrow().entries.len()));
        methods.add_meta_method(MetaMethod::ToString, |_, map, ()| Ok(Val::Map(map.clone()).shown()));
    }
}

fn check(function: &str, position: usize, value: &Value) -> mlua::Result<Map> {
    let found = value.as_userdata().and_then(|data| data.borrow::<Map>().ok().map(|map| map.clone()));
    found.ok_or_else(|| bad_argument(function, position, "Map", value))
}

/// The table `map`.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for name in ["new", "create"] {
        table.set(name, lua.create_function(|_, _: Variadic<Value>| Ok(Map::default()))?)?;
    }
    let size = |_: &Lua, map: Value| Ok(check("size", 1, &map)?.0.borrow().entries.len());
    table.set("size", lua.create_function(size)?)?;
    let nbytes = |_: &Lua, map: Value| {
        let map = check("nbytes", 1, &map)?;
        Ok(Val::Map(map).to_msgpack().map_or(0, |bytes| bytes.len()))
    };
    table.set("nbytes", lua.create_function(nbytes)?)?;
    let tostring = |_: &Lua, map: Value| Ok(Val::Map(check("tostring", 1, &map)?).shown());
    table.set("tostring", lua.create_function(tostring)?)?;
    let remove = |_: &Lua, (map, key): (Value, Value)| {
        let map = check("remove", 1, &map)?;
        if let Some(key) = Key::from_lua(&key)? {
            map.0.borrow_mut().entries.remove(&key);
        }
        Ok(())
    };
    table.set("remove", lua.create_function(remove)?)?;
    walks(lua, &table)?;
    combinations(lua, &table)?;
    let metatable = lua.create_table()?;
    let construct = |_: &Lua, (_, values): (Value, Option<Table>)| {
        let map = Map::default();
        if let Some(values) = values {
            for pair in values.pairs::<Value, Value>() {
                let (key, value) = pair?;
                map.set(&key, &value)?;
            }
        }
        Ok(map)
    };
    metatable.set("__call", lua.create_function(construct)?)?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}

/// The iterators. They walk what is in the map when they are made.
fn walks(lua: &Lua, table: &Table) -> mlua::Result<()> {
    for name in ["pairs", "iterator"] {
        let walk = move |lua: &Lua, map: Value| {
            let (pairs, charge) = check(name, 1, &map)?.pairs()?;
            let mut pairs = pairs.into_iter();
            lua.create_function_mut(move |lua, _: Variadic<Value>| {
                let _charge = &charge;
                let (key, value) = pairs.next().map_or((Val::Nil, Val::Nil), |(key, value)| (key.to_val(), value));
                Ok((key.into_lua(lua)?, value.into_lua(lua)?))
            })
        };
        table.set(name, lua.create_function(walk)?)?;
    }
    for (name, of_keys) in [("keys", true), ("values", false)] {
        let walk = move |lua: &Lua, map: Value| {
            let (pairs, charge) = check(name, 1, &map)?.pairs()?;
            let mut pairs = pairs.into_iter();
            lua.create_function_mut(move |lua, _: Variadic<Value>| {
                let _charge = &charge;
                let value = pairs.next().map(|(key, value)| if of_keys { key.to_val() } else { value });
                value.unwrap_or(Val::Nil).into_lua(lua)
            })
        };
        table.set(name, lua.create_function(walk)?)?;
    }
    Ok(())
}

/// Pairs with a value of nil are left out of combinations.
fn has_value((_, value): &(Key, Val)) -> bool {
    !matches!(value, Val::Nil)
}

/// Whether Lua takes it for true.
fn is_true(value: &Val) -> bool {
    !matches!(value, Val::Nil | Val::Bool(false))
}

fn combinations(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let clone = |_: &Lua, map: Value| {
        let map = check("clone", 1, &map)?;
        let copy = Map::default();
        copy.0.borrow_mut().grow(map.0.borrow().entries.len(), 0)?;
        let (pairs, _charge) = map.pairs()?;
        copy.0.borrow_mut().entries.extend(pairs.into_iter().filter(has_value));
        Ok(copy)
    };
    table.set("clone", lua.create_function(clone)?)?;
    // Where both have a key, the function says what becomes of the two values; without one, or if it says nothing, the
    // second map's counts, be it nil, which leaves the key out.
    let merge = |lua: &Lua, (first, second, join): (Value, Value, Option<Function>)| {
        let (first, second) = (check("merge", 1, &first)?, check("merge", 2, &second)?);
        let merged = Map::default();
        let ((first, _first), (second, _second)) = (first.pairs()?, second.pairs()?);
        merged.0.borrow_mut().grow(first.len() + second.len(), 0)?;
        for (key, value) in first.into_iter().filter(has_value) {
            merged.insert(key, value);
        }
        for (key, value) in second {
            let old = merged.0.borrow().entries.get(&key).cloned().filter(is_true);
            let joined = match (old, &join) {
                (Some(old), Some(join)) => join.call::<Value>((old.into_lua(lua)?, value.clone().into_lua(lua)?))?,
                _ => Value::Nil,
            };
            if !matches!(joined, Value::Nil | Value::Boolean(false)) {
                merged.insert(key, Val::from_lua(&joined)?.unwrap_or(Val::Nil));
            } else if matches!(value, Val::Nil) {
                merged.0.borrow_mut().entries.remove(&key);
            } else {
                merged.insert(key, value);
            }
        }
        Ok(merged)
    };
    table.set("merge", lua.create_function(merge)?)?;
    // What only one of the two has.
    let diff = |_: &Lua, (first, second): (Value, Value)| {
        let (first, second) = (check("diff", 1, &first)?, check("diff", 2, &second)?);
        let different = Map::default();
        for (one, other) in [(&first, &second), (&second, &first)] {
            let (pairs, _charge) = one.pairs()?;
            for (key, value) in pairs.into_iter().filter(has_value) {
                if !other.0.borrow().entries.get(&key).is_some_and(is_true) {
                    different.0.borrow_mut().grow(1, 0)?;
                    different.insert(key, value);
                }
            }
        }
        Ok(different)
    };
    table.set("diff", lua.create_function(diff)?)
}
