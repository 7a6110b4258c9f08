//! Requests to a monitor, which clients treat as a record of a set of its own: its key is the transaction's id.
//!
//! Three are known: adding digests to the ordered list in the bin `keyds` (the first time together with writing the bin
//! `id`), writing the bin `fwd`, and a delete. There is nothing else that a client may do with monitors.

use crate::clock::Now;
use crate::code;
use crate::request::{AnswerFields, RecordOutcome, RecordRequest, TxnId};
use crate::store::{Namespace, monitor_digest};
use aerolane_wire::message::{Op, info2, op};
use aerolane_wire::msgpack::{Element, Reader};
use aerolane_wire::operation::list;
use aerolane_wire::particle::particle_type;

/// Seconds that a transaction may take if nobody says it.
const DEFAULT_DURATION: u32 = 10;
/// The most that a client can ask for, in seconds.
const MAX_DURATION: u32 = 120;

/// Executes a request to a monitor.
pub(crate) fn execute(namespace: &Namespace, request: &RecordRequest<'_>, now: Now) -> RecordOutcome {
    match carry_out(namespace, request, now) {
        Ok(deadline) => {
            RecordOutcome { fields: AnswerFields { deadline, ..AnswerFields::NONE }, ..RecordOutcome::default() }
        }
        Err(code) => RecordOutcome::error(code),
    }
}

/// The deadline to be answered, if the request adds records.
fn carry_out(namespace: &Namespace, request: &RecordRequest<'_>, now: Now) -> Result<Option<u32>, u8> {
    if request.info2 & info2::WRITE == 0 || request.udf.is_some() {
        return Err(code::PARAMETER);
    }
    let monitors = &namespace.monitors;
    if request.info2 & info2::DELETE != 0 {
        return if monitors.close(namespace, request.digest, now) { Ok(None) } else { Err(code::NOT_FOUND) };
    }
    let now = now.seconds();
    let (mut id, mut keys, mut forward) = (None, None, false);
    for op in request.ops.clone() {
        match (op.kind, op.name) {
            (op::WRITE, b"id") => id = Some(integer(&op)?),
            (op::CDT_MODIFY, b"keyds") => keys = Some(digests(op.value)?),
            (op::WRITE, b"fwd") => forward = true,
            _ => return Err(code::PARAMETER),
        }
    }
    match (id, keys, forward) {
        (None, None, true) => monitors.commit(request.digest, now).map(|()| None),
        (None, Some(keys), false) => monitors.add(request.digest, &keys, now).map(Some),
        (Some(id), Some(keys), false) if monitor_digest(id) == *request.digest => {
            let duration = match request.record_ttl {
                0 => DEFAULT_DURATION,
                seconds @ 1..=MAX_DURATION => seconds,
                _ => return Err(code::PARAMETER),
            };
            monitors.open(id, &keys, now.saturating_add(duration), now).map(Some)
        }
        _ => Err(code::PARAMETER),
    }
}

fn integer(op: &Op<'_>) -> Result<TxnId, u8> {
    let bytes = op.value.try_into().map_err(|_| code::PARAMETER)?;
    if op.particle_type == particle_type::INTEGER { Ok(u64::from_be_bytes(bytes)) } else { Err(code::PARAMETER) }
}

/// The digests that a list operation appends: one value, or a list of them.
fn digests(operation: &[u8]) -> Result<Vec<[u8; 20]>, u8> {
    let mut reader = Reader::new(operation);
    let mut next = || reader.read().map_err(|_| code::PARAMETER);
    let Element::List(_) = next()? else { return Err(code::PARAMETER) };
    let Element::Int(code) = next()? else { return Err(code::PARAMETER) };
    let count = match u8::try_from(code) {
        Ok(list::code::APPEND) => 1,
        Ok(list::code::APPEND_ITEMS) => match next()? {
            Element::List(header) => header.len,
            _ => return Err(code::PARAMETER),
        },
        _ => return Err(code::PARAMETER),
    };
    if count == 0 {
        return Err(code::PARAMETER);
    }
    // The elements that are there bound the loop, not their announced number.
    (0..count)
        .map(|_| match next()? {
            Element::Bytes([particle_type::BLOB, digest @ ..]) => digest.try_into().map_err(|_| code::PARAMETER),
            _ => Err(code::PARAMETER),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aerolane_wire::msgpack::Writer;

    fn values(bytes: &'static [u8], is_list: bool) -> impl Fn(&mut Writer<'_>) -> Result<(), ()> {
        move |writer| {
            if is_list {
                writer.list(bytes.len());
            }
            for byte in bytes {
                writer.blob(&[*byte; 20]);
            }
            Ok(())
        }
    }

    #[test]
    fn digests_are_read_from_both_kinds_of_appends() {
        let (mut one, mut some) = (vec![], vec![]);
        list::append(&mut one, values(&[1], false), Some(1), Some(13)).unwrap();
        list::append_items(&mut some, values(&[1, 2], true), Some(1), Some(13)).unwrap();
        assert_eq!(digests(&one), Ok(vec![[1; 20]]));
        assert_eq!(digests(&some), Ok(vec![[1; 20], [2; 20]]));
        for cut in 0..some.len() - 2 {
            assert_eq!(digests(&some[..cut]), Err(code::PARAMETER), "{cut}");
        }
        let mut huge = vec![];
        let announce = |w: &mut Writer<'_>| {
            w.list(u32::MAX as usize);
            Ok::<_, ()>(())
        };
        list::append_items(&mut huge, announce, None, None).unwrap();
        assert_eq!(digests(&huge), Err(code::PARAMETER));
    }
}
