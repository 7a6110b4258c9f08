//! Operations that evaluate an expression.
//!
//! The expression is appended by the caller as the msgpack that it is ([`Writer::raw`] for one that is encoded already).

use crate::message::op;
use crate::msgpack::Writer;

/// Evaluates and answers the result, under the operation's name. Flags: 16 answers nil where it cannot be evaluated.
///
/// # Errors
/// Those of the closure.
pub fn read<E>(
    out: &mut Vec<u8>,
    expression: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    flags: i64,
) -> Result<u8, E> {
    write_pair(out, expression, flags)?;
    Ok(op::EXP_READ)
}

/// Evaluates and writes the result into the bin. Flags: 1 create-only, 2 update-only, 4 allow-delete (a nil result
/// deletes the bin), 8 no-fail of the write, 16 no-fail of the evaluation.
///
/// # Errors
/// Those of the closure.
pub fn write<E>(
    out: &mut Vec<u8>,
    expression: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    flags: i64,
) -> Result<u8, E> {
    write_pair(out, expression, flags)?;
    Ok(op::EXP_MODIFY)
}

fn write_pair<E>(
    out: &mut Vec<u8>,
    expression: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
    flags: i64,
) -> Result<(), E> {
    let mut writer = Writer::new(out);
    writer.list(2);
    expression(&mut writer)?;
    writer.int(flags);
    Ok(())
}
