//! What nodes say about themselves: info commands, and their answers as Python objects.
//!
//! * [`commands`]: `InfoCommands`, what `session.info()` gives
//! * [`answer`]: the text of an answer, taken apart
//! * [`merge`]: one view of what several nodes say
//! * [`views`]: dicts with typed properties (`aerolane.info_types`)

mod answer;
pub(crate) mod commands;
mod merge;
mod views;

use std::sync::Arc;

use aerolane::raw::RawClient;
use pyo3::prelude::*;

use crate::client::control::ask_all;
use crate::command::{Control, Executable};
use crate::core::ClientCore;

/// The secondary indexes of the cluster, as a list of dicts.
pub(crate) fn list_indexes(core: &Arc<ClientCore>) -> impl Executable + use<> {
    let raw = RawClient::clone(&core.raw);
    Control {
        future: async move { answer::of_all(answer::INDEXES, ask_all(&raw, answer::INDEXES).await?) },
        convert: |py: Python<'_>, all: Vec<answer::AnswerText>| merge::indexes(py, &all, None, None),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    views::register(module)?;
    commands::register(module)
}
