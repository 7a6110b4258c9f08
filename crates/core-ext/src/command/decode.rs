//! Answers for single records: the body of one message frame.
//!
//! All functions take the node's name for the errors: `NAME: host:port`, shared, so that no text is copied.

use std::sync::Arc;

use aerolane_wire::message::{Message, Op};
use aerospike_core::{BasePolicy, Bins, IndexMap, Record, ResultCode, Value};
use indexmap::map::Entry;

use super::{detail, value};
use crate::error::{Error, Phase, Result};

/// Result codes that are no failure of their own everywhere.
const OK: u8 = 0;
const NOT_FOUND: u8 = 2;

/// What a caller wants of the operations of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Make bins. Off for header reads.
    pub bins: bool,
    /// Fill `Record::results`: one value per operation of the answer.
    pub results: bool,
    /// Keep nil values in the bins, so that they line up with the operations.
    pub nil_bins: bool,
}

impl Want {
    /// For `operate`: every result, in order.
    pub const OPERATE: Self = Self { bins: true, results: true, nil_bins: true };
    /// For rows of a batch.
    pub const BATCH: Self = Self::OPERATE;

    /// For `get`.
    #[must_use]
    pub const fn get(policy: &BasePolicy, bins: &Bins) -> Self {
        let header_only = bins.is_none();
        Self { bins: !header_only, results: policy.populate_positional_results && !header_only, nil_bins: false }
    }
}

/// The answer to a read or an `operate`.
///
/// A missing record is an error (`KeyNotFoundError`), and so is a filtered-out one (`FilteredOut`).
pub fn record(body: &[u8], want: Want, node: &Arc<str>) -> Result<Record> {
    let message = message(body, node)?;
    match message.header.result_code {
        OK => record_of(&message, want, node),
        _ => Err(failure(&message, node)),
    }
}

/// The answer to a write or a touch.
pub fn write(body: &[u8], node: &Arc<str>) -> Result<()> {
    let message = message(body, node)?;
    if message.header.result_code == OK { Ok(()) } else { Err(failure(&message, node)) }
}

/// The answer to a question whether the record exists.
pub fn exists(body: &[u8], node: &Arc<str>) -> Result<bool> {
    let message = message(body, node)?;
    match message.header.result_code {
        OK => Ok(true),
        NOT_FOUND => Ok(false),
        _ => Err(failure(&message, node)),
    }
}

/// The answer to a delete: whether the record existed.
pub fn delete(body: &[u8], node: &Arc<str>) -> Result<bool> {
    exists(body, node)
}

fn message<'a>(body: &'a [u8], node: &Arc<str>) -> Result<Message<'a>> {
    Message::decode(body).map_err(|e| bad(format!("the answer is no message: {e}"), node))
}

/// The error that the header's result code stands for.
#[cold]
pub(crate) fn failure(message: &Message<'_>, node: &Arc<str>) -> Error {
    let code = message.header.result_code;
    match detail::of(message) {
        Some(detail) => Error::server_with_detail(code, detail, node),
        None => Error::server(code, node),
    }
}

/// The record of a message whose result code is good.
#[inline]
pub(crate) fn record_of(message: &Message<'_>, want: Want, node: &Arc<str>) -> Result<Record> {
    let header = &message.header;
    // Never more room than operations that were really received: `Message` has walked them.
    let n_ops = usize::from(header.n_ops);
    let mut bins = if want.bins && n_ops > 0 { IndexMap::with_capacity(n_ops) } else { IndexMap::default() };
    let mut results = want.results.then(|| Vec::with_capacity(n_ops));
    if want.bins {
        for op in message.ops() {
            let value = bin_value(&op, node)?;
            match &mut results {
                // An operation without a bin name (touch, header read) answers in the results only.
                Some(results) if op.name.is_empty() => results.push(value),
                Some(results) => {
                    results.push(value.clone());
                    add_bin(&mut bins, &op, value, want, node)?;
                }
                None if op.name.is_empty() => {}
                None => add_bin(&mut bins, &op, value, want, node)?,
            }
        }
    }
    Ok(Record::new(None, bins, results, header.generation, header.record_ttl))
}

#[inline]
fn add_bin(bins: &mut IndexMap<String, Value>, op: &Op<'_>, value: Value, want: Want, node: &Arc<str>) -> Result<()> {
    if value.is_nil() && !want.nil_bins {
        return Ok(());
    }
    let Ok(name) = std::str::from_utf8(op.name) else {
        return Err(bad(format!("a bin name is not UTF-8: {:?}", op.name.escape_ascii().to_string()), node));
    };
    if bins.is_empty() {
        bins.insert(name.to_owned(), value);
        return Ok(());
    }
    match bins.entry(name.to_owned()) {
        Entry::Vacant(free) => {
            free.insert(value);
        }
        // Several operations on one bin: their answers in order.
        Entry::Occupied(mut taken) => match taken.get_mut() {
            Value::MultiResult(list) => list.push(value),
            first => {
                let previous = std::mem::replace(first, Value::Nil);
                *first = Value::MultiResult(vec![previous, value]);
            }
        },
    }
    Ok(())
}

fn bin_value(op: &Op<'_>, node: &Arc<str>) -> Result<Value> {
    value::decode(op.particle_type, op.value)
        .map_err(|e| bad(format!("the value of bin '{}' is malformed: {e}", op.name.escape_ascii()), node))
}

/// An answer that cannot be understood.
#[cold]
pub(crate) fn bad(text: String, node: &Arc<str>) -> Error {
    Error::bad_response(text).with_node(Arc::clone(node)).with_phase(Phase::Receiving)
}

/// The result code in a message body, without looking at anything else. `None` if the body is too short.
#[must_use]
pub fn result_code(body: &[u8]) -> Option<ResultCode> {
    body.get(5).map(|code| ResultCode::from(*code))
}

#[cfg(test)]
mod tests;
