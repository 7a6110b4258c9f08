//! Expression operations: reading the value of an expression, and writing it to a bin.

use super::bin_set::BinSet;
use super::read::{nil_answer, value_answer};
use crate::exp::{Context, Expression, compiled};
use crate::value::Value;
use crate::{code, particle};
use aerolane_wire::message::Op;
use aerolane_wire::msgpack::{Element, Reader, order};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;

/// Flags of expression operations.
mod flag {
    pub(super) const CREATE_ONLY: i64 = 1;
    pub(super) const UPDATE_ONLY: i64 = 2;
    pub(super) const ALLOW_DELETE: i64 = 4;
    pub(super) const POLICY_NO_FAIL: i64 = 8;
    pub(super) const EVAL_NO_FAIL: i64 = 16;
    pub(super) const ALL: i64 = 31;
}

/// The expression and the flags of an operation: a list of both, or of the expression alone. What stands behind the
/// list is not looked at, and flags that are no number count as none (golden scenario `exp/malformed-ops`).
fn parts(value: &[u8], allowed: i64) -> Result<(Cow<'_, [u8]>, i64), u8> {
    let mut reader = Reader::new(value);
    let Ok(Element::List(header)) = reader.read() else { return Err(code::PARAMETER) };
    if header.len == 0 || header.len > 2 {
        return Err(code::PARAMETER);
    }
    let expression = reader.skip().map_err(|_| code::PARAMETER)?;
    let flags = match header.len {
        1 => 0,
        _ => match reader.read().map_err(|_| code::PARAMETER)? {
            Element::Int(flags) => flags,
            Element::Uint(_) => -1,
            _ => 0,
        },
    };
    if flags & !allowed != 0 {
        return Err(code::PARAMETER);
    }
    Ok((compiled(expression)?, flags))
}

/// Appends the value of an expression as the answer of `op`; says how many answers that are. Where it has none, and that
/// is no error, it answers only if everything has to.
pub(super) fn read(op: &Op<'_>, context: &Context<'_>, respond_all: bool, out: &mut Vec<u8>) -> Result<u16, u8> {
    let (bytes, flags) = parts(op.value, flag::EVAL_NO_FAIL)?;
    let expression = Expression::parse(&bytes)?;
    match expression.evaluate(context) {
        Some(Value::Nil) => nil_answer(op.kind, op.name, out),
        Some(value) => value_answer(op.kind, op.name, &value, out),
        None if flags & flag::EVAL_NO_FAIL == 0 => return Err(code::NOT_APPLICABLE),
        None if !respond_all => return Ok(0),
        None => nil_answer(op.kind, op.name, out),
    }
    Ok(1)
}

/// What an expression write does to its bin.
pub(super) enum Change {
    Nothing,
    Remove,
    Set(u8, Vec<u8>),
}

/// Evaluates an expression write; the caller applies the change.
pub(super) fn modify(op: &Op<'_>, bins: &BinSet<'_>, context: &Context<'_>) -> Result<Change, u8> {
    let (bytes, flags) = parts(op.value, flag::ALL)?;
    let expression = Expression::parse(&bytes)?;
    let has = |wanted: i64| flags & wanted != 0;
    let policy_error = match bins.get(op.name) {
        Some(_) if has(flag::CREATE_ONLY) => Some(code::BIN_EXISTS),
        None if has(flag::UPDATE_ONLY) => Some(code::BIN_NOT_FOUND),
        _ => None,
    };
    if let Some(error) = policy_error {
        return if has(flag::POLICY_NO_FAIL) { Ok(Change::Nothing) } else { Err(error) };
    }
    match expression.evaluate(context) {
        Some(Value::Nil) if has(flag::ALLOW_DELETE) => Ok(Change::Remove),
        // Nothing is removed without the flag; any other one makes that no error, as in the server.
        Some(Value::Nil) if flags != 0 || bins.get(op.name).is_none() => Ok(Change::Nothing),
        Some(Value::Nil) => Err(code::NOT_APPLICABLE),
        Some(value) => {
            let (kind, value) = value.to_particle();
            let stored = match kind {
                // The pairs of a key-value result keep their order.
                particle_type::MAP if is_key_value_result(&value) => value,
                _ => particle::checked(kind, &value).map(Cow::into_owned)?,
            };
            Ok(Change::Set(kind, stored))
        }
        None if has(flag::EVAL_NO_FAIL) => Ok(Change::Nothing),
        None => Err(code::NOT_APPLICABLE),
    }
}

fn is_key_value_result(map: &[u8]) -> bool {
    matches!(Reader::new(map).read(), Ok(Element::Map(header)) if header.flags() & order::PRESERVE != 0)
}
