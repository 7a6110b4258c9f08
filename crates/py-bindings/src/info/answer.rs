//! Answers to info commands, as text: whether it is an error, and what is in it.

use aerolane::Error;
use aerolane_wire::info::Answer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::client::control::Answers;

/// The command that lists the secondary indexes.
pub(super) const INDEXES: &str = "sindex-list";

/// Error numbers that say that something is not there: a namespace, an index.
const MISSING: [u8; 2] = [20, 201];
/// How nodes say it without a number.
const UNKNOWN: [&str; 2] = ["type=unknown", "ns_type=unknown"];
/// The longest answer that is taken apart, in bytes. The sets of a namespace with as many as there can be take less.
const LONGEST: usize = 16 * 1024 * 1024;

/// The text of an answer that is no error.
pub(super) struct AnswerText {
    pub(super) node: String,
    /// `None`: what it was asked for is not there.
    pub(super) text: Option<String>,
}

/// The answer of a node to a command.
///
/// # Errors
/// The node refuses the command, or says nothing.
pub(super) fn of_one(command: &str, (node, mut answers): (String, Answers)) -> aerolane::Result<AnswerText> {
    let Some(text) = answers.swap_remove(command) else {
        let text = format!("the node did not answer the info command {command:?}");
        return Err(Error::bad_response(text).with_node(node));
    };
    if text.len() > LONGEST {
        let text = format!("the answer to the info command {command:?} has {} bytes, more than {LONGEST}", text.len());
        return Err(Error::bad_response(text).with_node(node));
    }
    let error = Answer { command: command.as_bytes(), text: Some(text.as_bytes()) }.error();
    let missing = match error {
        Some((Some(number), _)) => MISSING.contains(&number),
        Some((None, _)) => false,
        None => UNKNOWN.contains(&text.trim_end_matches(';')),
    };
    if error.is_some() && !missing {
        let text = format!("the node refused the info command {command:?}: {text}");
        return Err(Error::bad_response(text).with_node(node));
    }
    Ok(AnswerText { node, text: (!missing).then_some(text) })
}

/// The answers of several nodes.
///
/// # Errors
/// Of the first node that refuses the command.
pub(super) fn of_all(command: &str, all: Vec<(String, Answers)>) -> aerolane::Result<Vec<AnswerText>> {
    all.into_iter().map(|one| of_one(command, one)).collect()
}

/// Whether an answer is an error, or says that what was asked for is not there.
pub(super) fn is_nothing(text: &str) -> bool {
    Answer { command: b"", text: Some(text.as_bytes()) }.error().is_some() || UNKNOWN.contains(&text)
}

/// The items `name=value` of a text. What is none is left out.
pub(super) fn fields(text: &str, separator: char) -> impl Iterator<Item = (&str, &str)> {
    text.split(separator).filter_map(|item| item.split_once('='))
}

/// Puts fields into a dict.
pub(super) fn fill<'a>(dict: &Bound<'_, PyDict>, fields: impl Iterator<Item = (&'a str, &'a str)>) -> PyResult<()> {
    for (name, value) in fields {
        dict.set_item(name, value)?;
    }
    Ok(())
}

/// The rows of a list, each with fields.
pub(super) fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter(|row| !row.is_empty())
}

/// The field of this name.
pub(super) fn field<'a>(row: &'a str, name: &str) -> Option<&'a str> {
    fields(row, ':').find(|(of, _)| *of == name).map(|(_, value)| value)
}
