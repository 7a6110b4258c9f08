//! What operations on lists, maps, blobs, HLLs and strings, and expressions about them, have in common.
//!
//! * [`context`]: `CTX`, the way to a nested list or map
//! * [`policies`]: `ListPolicy`, `MapPolicy`, `BitPolicy`, `HLLPolicy`
//! * [`return_types`]: `ListReturnType`, `MapReturnType`
//! * [`choices`], [`flags`]: settings that are one of a few names, and those that can be combined

mod choices;
mod context;
mod flags;
mod policies;
mod return_types;

use pyo3::prelude::*;

pub(crate) use choices::{
    Choice, ExpType, ListOrder, ListSort, LoopVarPart, MapOrder, MapWriteMode, NumericType, Overflow, Resize,
};
pub(crate) use context::{Context, Ctx};
pub(crate) use flags::Flags;
pub(crate) use policies::{BitPolicy, HllPolicy, ListPolicy, MapPolicy};
pub(crate) use return_types::{ListReturnType, MapReturnType};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    choices::register(module)?;
    flags::register(module)?;
    return_types::register(module)?;
    policies::register(module)?;
    context::register(module)
}
