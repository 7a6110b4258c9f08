//! Answers for single records: the body of one message frame.
//!
//! All functions take the node's name for the errors: `NAME: host:port`, shared, so that no text is copied.

use std::sync::Arc;

use aerolane_wire::message::{Message, MessageReader, Op};
use aerolane_wire::{WireError, WireErrorKind};
use aerospike_core::{BasePolicy, Bins, IndexMap, Record, ResultCode, Value};
use indexmap::map::RawEntryApiV1;
use indexmap::map::raw_entry_v1::RawEntryMut;

pub(crate) use names::Names;

use super::{detail, value};
use crate::error::{Error, Phase, Result};

mod names;

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
    let no_message = |error| no_message(error, node);
    let mut reader = MessageReader::new(body).map_err(no_message)?;
    if reader.header().result_code != OK {
        return Err(failure(&message(body, node)?, node));
    }
    let mut names = Names::new();
    let mut record = bare_record(&reader, want, &names);
    fill(&mut record, &mut reader, want, &mut names, node)?;
    let size = reader.finish().map_err(no_message)?;
    if size < body.len() {
        return Err(no_message(WireError::new(WireErrorKind::Trailing { extra: body.len() - size }, size)));
    }
    Ok(record)
}

/// The answer to a write or a touch.
pub fn write(body: &[u8], node: &Arc<str>) -> Result<()> {
    found(body, true, || Ok(Arc::clone(node))).map(drop)
}

/// The answer to a question whether the record exists.
pub fn exists(body: &[u8], node: &Arc<str>) -> Result<bool> {
    found(body, false, || Ok(Arc::clone(node)))
}

/// Whether the record exists, by an answer for which a missing one is a failure (`must`) or is not. The node's name is
/// asked for only when there is an error to name it.
pub(crate) fn found(body: &[u8], must: bool, node: impl FnOnce() -> Result<Arc<str>>) -> Result<bool> {
    let message = match Message::decode(body) {
        Ok(message) => message,
        Err(error) => return Err(no_message(error, &node()?)),
    };
    match message.header.result_code {
        OK => Ok(true),
        NOT_FOUND if !must => Ok(false),
        _ => Err(failure(&message, &node()?)),
    }
}

/// The answer to a delete: whether the record existed.
pub fn delete(body: &[u8], node: &Arc<str>) -> Result<bool> {
    exists(body, node)
}

/// The answer to a call of a UDF: what the function has returned.
///
/// # Errors
/// `UdfBadResponse` with the server's message if the function has failed.
pub fn applied(body: &[u8], node: &Arc<str>) -> Result<Option<Value>> {
    let message = message(body, node)?;
    let failed = message.header.result_code == u8::from(ResultCode::UdfBadResponse);
    if !failed && message.header.result_code != OK {
        return Err(failure(&message, node));
    }
    let wanted: &[u8] = if failed { b"FAILURE" } else { b"SUCCESS" };
    let value = message.ops().find(|op| op.name == wanted).map(|op| bin_value(&op, node)).transpose()?;
    match value {
        Some(value) if failed => Err(Error::udf_bad_response(value.to_string()).with_node(Arc::clone(node))),
        None if failed => Err(failure(&message, node)),
        value => Ok(value),
    }
}

fn message<'a>(body: &'a [u8], node: &Arc<str>) -> Result<Message<'a>> {
    Message::decode(body).map_err(|e| no_message(e, node))
}

#[cold]
fn no_message(error: WireError, node: &Arc<str>) -> Error {
    bad(format!("the answer is no message: {error}"), node)
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

/// A record with what the header says of it, with room for its operations; [`fill`] reads them.
#[inline]
pub(crate) fn bare_record(reader: &MessageReader<'_>, want: Want, names: &Names<'_>) -> Record {
    let header = reader.header();
    let room = if want.bins { reader.max_ops_left() } else { 0 };
    let bins = IndexMap::with_capacity_and_hasher(room, names.hasher());
    let results = want.results.then(|| Vec::with_capacity(room));
    Record::new(None, bins, results, header.generation, header.record_ttl)
}

/// Reads the operations into the record.
#[inline]
pub(crate) fn fill<'a>(
    record: &mut Record,
    reader: &mut MessageReader<'a>,
    want: Want,
    names: &mut Names<'a>,
    node: &Arc<str>,
) -> Result<()> {
    if !want.bins {
        return Ok(());
    }
    let mut next = 0;
    while let Some(op) = reader.next_op().map_err(|e| bad(format!("the answer is no message: {e}"), node))? {
        let place = next;
        next += 1;
        // Integers are by far the most. A value has 72 bytes: made where it stays, not handed on through results.
        let value = match value::integer(op.particle_type, op.value) {
            Some(number) => Value::Int(number),
            None => bin_value(&op, node)?,
        };
        // An operation without a bin name (touch, header read) answers in the results only.
        let is_bin = !op.name.is_empty() && (want.nil_bins || !value.is_nil());
        if let Some(results) = &mut record.results {
            if !is_bin {
                results.push(value);
                continue;
            }
            results.push(value.clone());
        } else if !is_bin {
            continue;
        }
        add_bin(&mut record.bins, (place, op.name), value, names, node)?;
    }
    Ok(())
}

#[inline]
fn add_bin<'a>(
    bins: &mut IndexMap<String, Value>,
    (place, name): (usize, &'a [u8]),
    value: Value,
    names: &mut Names<'a>,
    node: &Arc<str>,
) -> Result<()> {
    let Ok((name, hash)) = names.look_up(place, name) else {
        return Err(bad(format!("a bin name is not UTF-8: {:?}", name.escape_ascii().to_string()), node));
    };
    match bins.raw_entry_mut_v1().from_hash(hash, |known| known == name) {
        RawEntryMut::Vacant(free) => {
            free.insert_hashed_nocheck(hash, name.to_owned(), value);
        }
        // Several operations on one bin: their answers in order.
        RawEntryMut::Occupied(taken) => match taken.into_mut() {
            Value::MultiResult(list) => list.push(value),
            first => {
                let previous = std::mem::replace(first, Value::Nil);
                *first = Value::MultiResult(vec![previous, value]);
            }
        },
    }
    Ok(())
}

#[inline]
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
