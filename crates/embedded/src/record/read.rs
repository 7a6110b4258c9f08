//! Reading a record.

use super::{blob_ops, expression, filter, ttl, write};
use crate::cdt::{self, Particle};
use crate::request::{AnswerFields, Outcome, RecordOutcome, RecordRequest};
use crate::store::{Bin, Namespace, Record, Site};
use crate::value::{MAX_BIN_NAME, Value};
use crate::{clock, code};
use aerolane_wire::message::{info1, info2, op};
use std::collections::HashMap;

/// From this many pairs of operation and bin on, bins are found by an index.
const INDEX_FROM: usize = 4096;

/// Reads a record.
pub(super) fn read(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Outcome {
    let Some(record) = partition.view(request.digest, request.txn.id) else {
        return Err(RecordOutcome::error(code::NOT_FOUND));
    };
    let metadata = metadata(record);
    let read = check(namespace, request, record, now_ms)
        .and_then(|()| ttl::read_touch(&namespace.config, request.record_ttl, record, now_ms))
        .and_then(|touch| Ok((touch, bins(namespace, request, record, now_ms, out)?)));
    let (touch, n_ops) = read.map_err(|code| metadata.with(code))?;
    if touch.is_some() && namespace.stops_for_skew(partition.node()) {
        return Err(metadata.with(code::FORBIDDEN));
    }
    // What a transaction holds is not touched by reads.
    if let Some(void_time) = touch.filter(|_| partition.holder(request.digest).is_none()) {
        partition.touch(request.digest, void_time, now_ms);
    }
    Ok(RecordOutcome { n_ops, ..metadata })
}

/// Generation and void time of a record, as an answer carries them.
#[inline]
pub(super) fn metadata(record: &Record) -> RecordOutcome {
    RecordOutcome {
        code: code::OK,
        generation: u32::from(record.generation()),
        void_time: record.void_time(),
        n_ops: 0,
        fields: AnswerFields::NONE,
        lag: std::time::Duration::ZERO,
    }
}

fn check(namespace: &Namespace, request: &RecordRequest<'_>, record: &Record, now_ms: u64) -> Result<(), u8> {
    write::set_matches(namespace, request, record)?;
    if record.is_expired(clock::seconds(now_ms)) {
        return Err(code::NOT_FOUND);
    }
    filter::check(namespace, request, record, now_ms)?;
    write::key_matches(request, record)
}

/// Appends what the request wants to see of the record; says how many operations that were.
fn bins(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    record: &Record,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Result<u16, u8> {
    if request.info1 & info1::NO_BIN_DATA != 0 {
        return Ok(0);
    }
    if request.info1 & info1::GET_ALL != 0 {
        out.extend_from_slice(record.raw_bins());
        return Ok(record.n_bins());
    }
    if request.n_ops == 0 {
        return Err(code::PARAMETER);
    }
    let index: Option<HashMap<&[u8], Bin<'_>>> = (usize::from(request.n_ops) * usize::from(record.n_bins())
        >= INDEX_FROM)
        .then(|| record.bins().map(|bin| (bin.name, bin)).collect());
    let respond_all = request.info2 & info2::RESPOND_ALL_OPS != 0;
    let mut n_ops = 0;
    for op in request.ops.clone() {
        match op.kind {
            op::READ | op::EXP_READ | op::CDT_READ | op::BITS_READ | op::HLL_READ => {}
            _ => return Err(code::PARAMETER),
        }
        if op.name.len() > MAX_BIN_NAME || op.name.contains(&0) {
            return Err(code::BIN_NAME);
        }
        if op.kind == op::EXP_READ {
            n_ops += expression::read(&op, &filter::context(namespace, record, now_ms), respond_all, out)?;
            continue;
        }
        let bin = match &index {
            Some(index) => index.get(op.name).copied(),
            None => record.bin(op.name),
        };
        if matches!(op.kind, op::CDT_READ | op::BITS_READ | op::HLL_READ) {
            let bin = bin.map(|bin| (bin.kind, bin.value));
            let answer = match op.kind {
                op::CDT_READ => cdt::read(op.value, bin)?,
                _ => blob_ops::read(&op, bin)?.map(|value| value.to_particle()),
            };
            n_ops += append_answer(op.kind, op.name, answer, respond_all, out);
            continue;
        }
        match bin {
            Some(bin) => out.extend_from_slice(bin.raw),
            None if respond_all => nil_answer(op.kind, op.name, out),
            None => continue,
        }
        n_ops += 1;
    }
    Ok(n_ops)
}

/// Appends the answer of an operation that has nothing to say. `name` is at most [`MAX_BIN_NAME`] bytes.
pub(super) fn nil_answer(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(4 + name.len() as u32).to_be_bytes());
    out.extend_from_slice(&[kind, 0, 0, name.len() as u8]);
    out.extend_from_slice(name);
}

/// Appends a value as the answer of an operation. `name` is at most [`MAX_BIN_NAME`] bytes.
pub(super) fn value_answer(kind: u8, name: &[u8], value: &Value<'_>, out: &mut Vec<u8>) {
    particle_answer(kind, name, &value.to_particle(), out);
}

fn particle_answer(kind: u8, name: &[u8], (particle_type, value): &Particle, out: &mut Vec<u8>) {
    // A message is limited to far less than 4 GiB.
    out.extend_from_slice(&(4 + name.len() as u32 + value.len() as u32).to_be_bytes());
    out.extend_from_slice(&[kind, *particle_type, 0, name.len() as u8]);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
}

/// Appends what an operation answers, if it does or has to; says how many answers that are.
pub(super) fn append_answer(
    kind: u8,
    name: &[u8],
    answer: Option<Particle>,
    respond_all: bool,
    out: &mut Vec<u8>,
) -> u16 {
    match answer {
        Some(particle) => particle_answer(kind, name, &particle, out),
        None if respond_all => nil_answer(kind, name, out),
        None => return 0,
    }
    1
}
