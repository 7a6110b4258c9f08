//! List and map operations: what one operation answers, and what it makes of a value.
//!
//! [`read`] and [`modify`] are pure: the bytes of an operation, the value it is carried out on (a bin, or a value that
//! an expression has computed), and out comes an answer or a result code. They know nothing of records.
//!
//! ```text
//! read(op, Some((particle_type, value)))                  -> Result<Option<(particle_type, value)>, code>
//! modify(op, Some((particle_type, value)), max_size)      -> Result<Modified { answer, value }, code>
//! ```
//!
//! The bytes of an operation are those of the wire: a list of the operation's number and its arguments, with a context
//! `[0xff, [level, key, ...], [number, argument, ...]]`. `None` instead of a value is a missing bin.
//!
//! Inside: [`op`] takes the bytes apart, [`context`] finds the nested collection, [`pick`] makes a [`select::Selection`]
//! of the operations that get or remove elements, [`answer`] says of it what the return type asks for, and `list` and
//! `map` hold what is left: the operations that put elements. Operations by path go to [`crate::path`]. A collection is taken apart one level deep
//! ([`collection::Collection`]); elements stay bytes. Semantics follow the golden groups `list`, `map` and `ctx`; what
//! they do not show was asked of the recorded server with some ten thousand random operations.
//!
//! Of a persisted index the mark is kept, which changes the order of some answers, and the order of the values if sorting would
//! not give it ([`value_order`]). Nothing else of it can be seen.
//!
//! Not imitated: what the server makes of an index that it has got wrong. It does so where a map with one is written as a
//! bin value and has two pairs or fewer, where a script writes one, and where one is changed inside, by path or in a context:
//! the next operation may find nonsense, or end it.

mod answer;
mod args;
mod collection;
mod context;
mod list;
mod map;
mod number;
mod op;
mod order;
mod pick;
mod search;
mod select;
mod value_order;

pub(crate) use order::sorted_by;

#[cfg(test)]
mod tests;

use crate::{code, path};
use aerolane_wire::msgpack::validate;
use aerolane_wire::operation::path::PATH;
use op::Op;

/// A particle: type and value.
pub(crate) type Particle = (u8, Vec<u8>);

/// What a modifying operation did.
#[derive(Debug, Default)]
pub(crate) struct Modified {
    /// What it answers; `None` if it has nothing to say.
    pub(crate) answer: Option<Particle>,
    /// The new value; `None` leaves the old one, or the bin missing.
    pub(crate) value: Option<Particle>,
}

/// Carries out a reading operation. The error is a result code.
pub(crate) fn read(payload: &[u8], bin: Option<(u8, &[u8])>) -> Result<Option<Particle>, u8> {
    // Where nothing is, nobody looks at what is asked for.
    let Some((kind, value)) = bin else { return Ok(None) };
    let op = Op::parse(payload)?;
    if op.number.0 == u64::from(PATH) {
        return path::select(payload, kind, value).map(|found| Some(found.to_particle()));
    }
    if !op.number.reads() {
        return Err(op.number.refusal(kind));
    }
    let (kind, value) = context::find(&op.levels, kind, value)?;
    pick::get(&op, &op.collection(kind, value)?)
}

/// Whether these bytes are a context.
pub(crate) fn is_context(bytes: &[u8]) -> bool {
    op::levels(bytes).is_ok()
}

/// The element (msgpack) that a context leads to in a list or map. The error is a result code.
pub(crate) fn element<'v>(context: &[u8], kind: u8, value: &'v [u8]) -> Result<&'v [u8], u8> {
    context::find(&op::levels(context)?, kind, value).map(|(_, element)| element)
}

/// Carries out a modifying operation; the value may not grow beyond `max_size` bytes. The error is a result code.
pub(crate) fn modify(payload: &[u8], bin: Option<(u8, &[u8])>, max_size: usize) -> Result<Modified, u8> {
    let op = Op::parse(payload)?;
    if op.number.0 == u64::from(PATH) {
        // What is missing has no type that a path could go into.
        let (kind, value) = bin.ok_or(code::BIN_TYPE)?;
        return Ok(Modified { answer: None, value: Some((kind, path::modify(payload, kind, value)?)) });
    }
    if !op.number.modifies() {
        return Err(bin.map_or(code::PARAMETER, |(kind, _)| op.number.refusal(kind)));
    }
    let modified = context::modify(&op, bin, max_size)?;
    // The argument, or the context, may have nested it deeper than collections can be.
    if let Some((_, value)) = &modified.value
        && validate(value).is_err()
    {
        return Err(code::PARAMETER);
    }
    Ok(modified)
}

/// An integer as a particle.
fn integer(value: i64) -> Particle {
    (aerolane_wire::particle::particle_type::INTEGER, value.to_be_bytes().to_vec())
}
