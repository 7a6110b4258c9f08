//! `GeoJSON` values of scripts, and the table `geojson`.

use super::value::bad_argument;
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value};
use std::rc::Rc;

/// The text of a `GeoJSON` value.
#[derive(Debug, Clone)]
pub(super) struct GeoJson(pub(super) Rc<[u8]>);

impl UserData for GeoJson {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |lua, geo, ()| lua.create_string(&*geo.0));
    }
}

/// The table `geojson`: called with a text it makes a value.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let metatable = lua.create_table()?;
    let construct = |_: &Lua, (_, text): (Value, Value)| match &text {
        Value::String(text) => Ok(GeoJson(Rc::from(&*text.as_bytes()))),
        other => Err(bad_argument("geojson", 1, "string", other)),
    };
    metatable.set("__call", lua.create_function(construct)?)?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}
