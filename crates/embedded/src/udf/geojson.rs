//! `GeoJSON` values of scripts, and the table `geojson`.

use super::budget::Text;
use super::value::bad_argument;
use mlua::{Lua, MetaMethod, Table, UserData, UserDataMethods, Value};

/// The text of a `GeoJSON` value.
#[derive(Debug, Clone)]
pub(super) struct GeoJson(pub(super) Text);

impl UserData for GeoJson {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |lua, geo, ()| {
            lua.create_string([b"\"", &geo.0[..], b"\""].concat())
        });
    }
}

/// The table `geojson`: called with a text it makes a value.
pub(super) fn api(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let metatable = lua.create_table()?;
    let construct = |_: &Lua, (_, text): (Value, Value)| match &text {
        Value::String(text) => Text::copy(&text.as_bytes()).map(GeoJson),
        other => Err(bad_argument("geojson", 1, "string", other)),
    };
    metatable.set("__call", lua.create_function(construct)?)?;
    table.set_metatable(Some(metatable))?;
    Ok(table)
}
