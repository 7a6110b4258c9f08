//! User-defined functions in Lua.
//!
//! * `registry`: the modules of a cluster, and the info commands about them
//! * `lua`: states, their limits, and how errors read
//! * `budget`: the limit of what scripts keep outside of Lua
//! * `pattern`: Lua's patterns, with an end
//! * `value`, `list`, `map`, `bytes`, `geojson`, `record`: what scripts work with
//! * `stream`: aggregations
//!
//! What scripts find and what comes back follows the golden group `udf`. A script that takes longer than a second for one
//! record, or more than 64 MiB, ends with an error.

mod budget;
mod bytes;
mod geojson;
mod list;
mod lua;
mod map;
mod pattern;
mod record;
pub(crate) mod registry;
mod stream;
mod value;

pub(crate) use record::{ScriptRecord, StoredBin};
pub(crate) use registry::Registry;
pub(crate) use stream::{StreamCall, aggregate};

use crate::clock::Now;
use lua::Failure;
use mlua::{MultiValue, Value};
use record::RecordRef;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use value::Val;

/// Longest name of a package or function, as in the server.
pub(crate) const MAX_NAME: usize = 127;

/// What came of a call: the particle of its value, or the text of its failure.
pub(crate) type Answer = Result<(u8, Vec<u8>), String>;

/// Calls a function on a record; gives the answer, and the record as the script has left it.
pub(crate) fn call(
    registry: &Arc<Registry>,
    package: &[u8],
    function: &[u8],
    packed: &[u8],
    record: ScriptRecord,
    now: Now,
) -> (Answer, ScriptRecord) {
    let record = Rc::new(RefCell::new(record));
    let outcome = lua::with_function(registry, package, function, now, |lua, function| {
        let mut all = MultiValue::new();
        all.push_back(Value::UserData(lua.create_userdata(RecordRef(Rc::clone(&record)))?));
        for argument in arguments(packed) {
            all.push_back(argument.into_lua(lua)?);
        }
        let value: Value = function.call(all)?;
        Ok(Val::from_lua(&value)?.unwrap_or(Val::Nil))
    });
    let answer = match outcome {
        Ok(value) => value.to_particle().map_err(|_| "result too large".to_owned()),
        Err(Failure::NoModule) => Err("UDF: Execution Error 1".to_owned()),
        Err(Failure::NoFunction) => Err("function not found".to_owned()),
        Err(Failure::Script(text)) => Err(text),
    };
    // A script may have put the record into a global; it is of no use there, but its own.
    let record = record.take();
    (answer, record)
}

/// The arguments of a call: the elements of a list. What is no list, or is malformed, counts as no arguments.
fn arguments(packed: &[u8]) -> Vec<Val> {
    match Val::from_msgpack(packed) {
        Some(Val::List(list)) => list.0.take().into_items(),
        _ => Vec::new(),
    }
}
