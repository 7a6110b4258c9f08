//! What a query's operations show of a record.

use super::read::append_answer;
use super::{blob_ops, expression, filter};
use crate::store::{Namespace, Record};
use crate::{cdt, code};
use aerolane_wire::message::{Ops, op};

/// Appends the answers of reading operations on bins, and of expressions; says how many there were. Bins that are not
/// there have none. The error, a result code, is that of the first operation that fails.
pub(crate) fn project(
    namespace: &Namespace,
    record: &Record,
    ops: Ops<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Result<u16, u8> {
    let mut n_ops = 0;
    for op in ops {
        match op.kind {
            op::READ => match record.bin(op.name) {
                Some(bin) => out.extend_from_slice(bin.raw),
                None => continue,
            },
            op::CDT_READ | op::BITS_READ | op::HLL_READ => {
                let bin = record.bin(op.name).map(|bin| (bin.kind, bin.value));
                let answer = match op.kind {
                    op::CDT_READ => cdt::read(op.value, bin)?,
                    _ => blob_ops::read(&op, bin)?.map(|value| value.to_particle()),
                };
                n_ops += append_answer(op.kind, op.name, answer, false, out);
                continue;
            }
            op::EXP_READ => {
                n_ops += expression::read(&op, &filter::context(namespace, record, now_ms), true, out)?;
                continue;
            }
            _ => return Err(code::UNSUPPORTED),
        }
        n_ops += 1;
    }
    Ok(n_ops)
}
