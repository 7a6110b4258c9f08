//! Lists of scripts, and the table `list` of their functions. Positions count from 1.

use super::budget::{Charge, ELEMENT};
use super::value::{Val, bad_argument, bury};
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value, Variadic};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// What a list holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Order flags of the bin it came from.
    pub(super) flags: u8,
    items: Vec<Val>,
    charge: Charge,
}

impl Content {
    pub(super) fn into_items(mut self) -> Vec<Val> {
        std::mem::take(&mut self.items)
    }

    /// What a walk through the list comes by: nil is its end.
    fn up_to_nil(&self) -> impl Iterator<Item = &Val> {
        self.items.iter().take_while(|item| !matches!(item, Val::Nil))
    }

    /// Makes room for more elements.
    fn grow(&mut self, more: usize) -> mlua::Result<()> {
        self.charge.grow(more.saturating_mul(ELEMENT))
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        bury(self.items.drain(..));
    }
}

impl Deref for Content {
    type Target = Vec<Val>;

    fn deref(&self) -> &Vec<Val> {
        &self.items
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut Vec<Val> {
        &mut self.items
    }
}

/// A list, shared by all who hold it.
#[derive(Debug, Clone, Default)]
pub(super) struct List(pub(super) Rc<RefCell<Content>>);

impl List {
    /// A list that a script makes; one element more is charged than it has.
    fn of(items: Vec<Val>) -> mlua::Result<Self> {
        let charge = Charge::of((items.len() + 1) * ELEMENT)?;
        Ok(Self(Rc::new(RefCell::new(Content { flags: 0, items, charge }))))
    }

    pub(super) fn with_flags(flags: u8) -> Self {
        Self(Rc::new(RefCell::new(Content { flags, items: Vec::new(), charge: Charge::default() })))
    }

    fn get(&self, position: i64) -> Option<Val> {
        self.0.borrow().get(index(position)?).cloned()
    }

    /// Puts an element in, or at a place behind the end, which fills what is between with nil.
    fn set(&self, position: i64, value: Val) -> mlua::Result<()> {
        let Some(at) = index(position) else { return Ok(()) };
        let mut items = self.0.borrow_mut();
        let len = items.len();
        if at >= len {
            items.grow(at - len + 1)?;
            items.resize(at + 1, Val::Nil);
        }
        items[at] = value;
        Ok(())
    }
}

fn index(position: i64) -> Option<usize> {
    usize::try_from(position).ok()?.checked_sub(1)
}

impl UserData for List {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, list, position: Value| match position.as_i64() {
            Some(position) => list.get(position).unwrap_or(Val::Nil).into_lua(lua),
            None => Ok(Value::Nil),
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, list, (position, value): (Value, Value)| {
            match (position.as_i64(), Val::from_lua(&value)?) {
                (Some(position), Some(value)) => list.set(position, value),
                _ => Ok(()),
            }
        });
        methods.add_meta_method(MetaMethod::Len, |_, list, ()| Ok(list.0.borrow().len()));
        methods.add_meta_method(MetaMethod::ToString, |_, list, ()| Ok(Val::List(list.clone()).shown()));
    }
}

fn check(function: &str, position: usize, value: &Value) -> mlua::Result<List> {
    let found = value.as_userdata().and_then(|data| data.borrow::<List>().ok().map(|list| list.clone()));
    found.ok_or_else(|| bad_argument(function, position, "List", value))
}

/// Takes away the elements of a table at whole numbers, in the order that the table has them.
fn from_table(table: &Table) -> mlua::Result<Vec<Val>> {
    let (mut items, mut charge) = (Vec::new(), Charge::default());
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        if key.is_number() || key.is_integer() {
            charge.grow(ELEMENT)?;
            items.push(Val::from_lua(&value)?.unwrap_or(Val::Nil));
        }
    }
    Ok(items)
}

/// The table `list`.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for name in ["new", "create"] {
        table.set(name, lua.create_function(|_, _: Variadic<Value>| List::of(Vec::new()))?)?;
    }
    let append = |(list, value): (Value, Value)| {
        let list = check("append", 1, &list)?;
        if let Some(value) = Val::from_lua(&value)? {
            let mut items = list.0.borrow_mut();
            items.grow(1)?;
            items.push(value);
        }
        Ok(())
    };
    table.set("append", lua.create_function(move |_, arguments| append(arguments))?)?;
    let prepend = |(list, value): (Value, Value)| {
        let list = check("prepend", 1, &list)?;
        if let Some(value) = Val::from_lua(&value)? {
            let mut items = list.0.borrow_mut();
            items.grow(1)?;
            items.insert(0, value);
        }
        Ok(())
    };
    table.set("prepend", lua.create_function(move |_, arguments| prepend(arguments))?)?;
    let insert = |(list, position, value): (Value, i64, Value)| {
        let list = check("insert", 1, &list)?;
        let (Some(at), Some(value)) = (index(position), Val::from_lua(&value)?) else { return Ok(()) };
        let len = list.0.borrow().len();
        if at >= len {
            return list.set(position, value);
        }
        let mut items = list.0.borrow_mut();
        items.grow(1)?;
        items.insert(at, value);
        Ok(())
    };
    table.set("insert", lua.create_function(move |_, arguments| insert(arguments))?)?;
    let remove = |(list, position): (Value, i64)| {
        let list = check("remove", 1, &list)?;
        let mut items = list.0.borrow_mut();
        if let Some(at) = index(position).filter(|at| *at < items.len()) {
            items.remove(at);
        }
        Ok(())
    };
    table.set("remove", lua.create_function(move |_, arguments| remove(arguments))?)?;
    let concat = |(list, other): (Value, Value)| {
        let (list, other) = (check("concat", 1, &list)?, check("concat", 2, &other)?);
        let more = other.0.borrow().len();
        list.0.borrow_mut().grow(more)?;
        let items = other.0.borrow().items.clone();
        list.0.borrow_mut().extend(items);
        Ok(())
    };
    table.set("concat", lua.create_function(move |_, arguments| concat(arguments))?)?;
    let trim = |(list, position): (Value, i64)| {
        let list = check("trim", 1, &list)?;
        if let Some(at) = index(position) {
            list.0.borrow_mut().truncate(at);
        }
        Ok(())
    };
    table.set("trim", lua.create_function(move |_, arguments| trim(arguments))?)?;
    parts(lua, &table)?;
    let metatable = lua.create_table()?;
    let construct = |_: &Lua, (_, values): (Value, Option<Table>)| {
        List::of(values.map_or_else(|| Ok(Vec::new()), |values| from_table(&values))?)
    };
    metatable.set("__call", lua.create_function(construct)?)?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}

/// The functions that make new values of a list.
fn parts(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let size = |_: &Lua, list: Value| Ok(check("size", 1, &list)?.0.borrow().len());
    table.set("size", lua.create_function(size)?)?;
    let nbytes = |_: &Lua, list: Value| {
        let list = check("nbytes", 1, &list)?;
        Ok(Val::List(list).to_msgpack().map_or(0, |bytes| bytes.len()))
    };
    table.set("nbytes", lua.create_function(nbytes)?)?;
    let tostring = |_: &Lua, list: Value| Ok(Val::List(check("tostring", 1, &list)?).shown());
    table.set("tostring", lua.create_function(tostring)?)?;
    let take = |_: &Lua, (list, n): (Value, Option<i64>)| {
        let list = check("take", 1, &list)?;
        let n = usize::try_from(n.unwrap_or(0)).unwrap_or(0);
        let taken: Vec<Val> = list.0.borrow().iter().take(n).cloned().collect();
        (n > 0).then(|| List::of(taken)).transpose()
    };
    table.set("take", lua.create_function(take)?)?;
    let drop = |_: &Lua, (list, n): (Value, Option<i64>)| {
        let list = check("drop", 1, &list)?;
        let n = usize::try_from(n.unwrap_or(0)).unwrap_or(0);
        let left: Vec<Val> = list.0.borrow().iter().skip(n).cloned().collect();
        (n > 0).then(|| List::of(left)).transpose()
    };
    table.set("drop", lua.create_function(drop)?)?;
    let clone = |_: &Lua, list: Value| {
        let list = check("clone", 1, &list)?;
        let items = list.0.borrow().up_to_nil().cloned().collect();
        List::of(items)
    };
    table.set("clone", lua.create_function(clone)?)?;
    let merge = |_: &Lua, (first, second): (Value, Value)| {
        let mut items = Vec::new();
        for list in [check("merge", 1, &first)?, check("merge", 2, &second)?] {
            items.extend(list.0.borrow().up_to_nil().cloned());
        }
        List::of(items)
    };
    table.set("merge", lua.create_function(merge)?)?;
    let iterator = |lua: &Lua, list: Value| {
        let list = check("iterator", 1, &list)?;
        let mut position = 0;
        lua.create_function_mut(move |lua, _: Variadic<Value>| {
            position += 1;
            list.get(position).unwrap_or(Val::Nil).into_lua(lua)
        })
    };
    table.set("iterator", lua.create_function(iterator)?)
}
