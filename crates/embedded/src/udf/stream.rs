//! Aggregations: a function of a module over a stream of records.

use super::lua::{Failure, start_clock, with_function};
use super::record::{RecordRef, ScriptRecord};
use super::registry::Registry;
use super::value::Val;
use crate::clock::Now;
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Where a state keeps the function that runs streams.
const RUN: &str = "aerolane.run_stream";

/// Gives a state what it needs for streams.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    let run: Function = lua.load(include_str!("stream_ops.lua")).set_name("stream_ops.lua").call(())?;
    lua.set_named_registry_value(RUN, run)
}

/// Which function of which module, and its arguments as they came.
#[derive(Debug, Clone)]
pub(crate) struct StreamCall {
    pub(crate) package: Vec<u8>,
    pub(crate) function: Vec<u8>,
    pub(crate) arguments: Vec<u8>,
}

/// Runs a function over what `read` gives until it gives nothing, and hands the particles of what comes out to `write`,
/// which may say that nobody wants more. The error is the text for the client.
pub(crate) fn aggregate(
    registry: &Arc<Registry>,
    call: &StreamCall,
    now: Now,
    read: impl FnMut() -> Option<ScriptRecord>,
    write: impl FnMut(u8, Vec<u8>) -> bool,
) -> Result<(), String> {
    // Lua's functions live as long as the state; a scope would end them, but errors could not leave it with their place.
    let (read, write) = (Rc::new(RefCell::new(read)), Rc::new(RefCell::new(write)));
    let run = |lua: &Lua, function: Function| {
        let run: Function = lua.named_registry_value(RUN)?;
        lua.scope(|scope| {
            let read = scope.create_function(|lua, ()| {
                start_clock();
                let next = (read.borrow_mut())();
                next.map(|record| lua.create_userdata(RecordRef(Rc::new(RefCell::new(record))))).transpose()
            })?;
            let write = scope.create_function(|_, value: Value| {
                let value = Val::from_lua(&value)?.unwrap_or(Val::Nil);
                let (kind, bytes) =
                    value.to_particle().map_err(|_| mlua::Error::RuntimeError("result too large".to_owned()))?;
                if (write.borrow_mut())(kind, bytes) {
                    Ok(())
                } else {
                    Err(mlua::Error::RuntimeError("aborted".to_owned()))
                }
            })?;
            let mut all = MultiValue::new();
            all.extend((function, read, write).into_lua_multi(lua)?);
            for argument in super::arguments(&call.arguments) {
                all.push_back(argument.into_lua(lua)?);
            }
            run.call::<()>(all)
        })
    };
    with_function(registry, &call.package, &call.function, now, run).map_err(|failure| match failure {
        Failure::NoModule => "UDF: Execution Error 1".to_owned(),
        Failure::NoFunction => "UDF: Execution Error 2 : function not found".to_owned(),
        Failure::Script(text) => format!("UDF: Execution Error 2 : {text}"),
    })
}
