//! Writing a record: put, add, append, prepend, touch, operate.

use super::bin_set::BinSet;
use super::expression::{self, Change};
use super::read::{append_answer, metadata, nil_answer};
use super::scalar::{End, extend, incr};
use super::{blob_ops, filter, index_mark, may_delete, overwrite, ttl};
use crate::cdt;
use crate::exp::{BinSource, Context};
use crate::request::{Outcome, RecordOutcome, RecordRequest};
use crate::store::{Namespace, Record, RecordParts, SetId, Site};
use crate::value::{MAX_BIN_NAME, MAX_BINS, MAX_SET_NAME};
use crate::{clock, code, particle};
use aerolane_wire::message::{info1, info2, info3, op};
use aerolane_wire::particle::particle_type;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// Generations are kept in 16 bits; 0 is not one.
const MAX_GENERATION: u16 = u16::MAX;

thread_local! {
    /// Where a record is put together before it takes the place of the old one.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}
/// Capacity that the scratch buffer may keep.
const KEEP_SCRATCH: usize = 64 * 1024;

/// Writes a record.
pub(super) fn write(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Outcome {
    let touches = precheck(request).map_err(RecordOutcome::error)?;
    let now = clock::seconds(now_ms);
    let found = partition.view(request.digest, request.txn.id);
    // Errors tell the metadata of an expired record, but nothing else of it counts.
    let told = found.map_or_else(RecordOutcome::default, metadata);
    let current = found.filter(|record| !record.is_expired(now));
    check_current(namespace, request, current, touches, now_ms)
        .and_then(|()| ttl::check(&namespace.config, request.record_ttl, current.is_none()))
        .map_err(|code| told.with(code))?;

    let max_size = namespace.config.max_record_size.load(Ordering::Relaxed) as usize;
    if let Some(record) = current
        && let Some(outcome) =
            SCRATCH.with_borrow_mut(|bytes| overwrite::prepare(namespace, request, record, (now_ms, max_size), bytes))
    {
        put_scratch(partition, request);
        return Ok(outcome);
    }
    let replaces = request.info3 & (info3::CREATE_OR_REPLACE | info3::REPLACE_ONLY) != 0;
    let mut bins = if replaces { BinSet::default() } else { current.map(BinSet::of).unwrap_or_default() };
    let context = WriteContext { namespace, record: current, now_ms, max_size };
    let n_ops = operate(request, &mut bins, &context, out).map_err(|code| told.with(code))?;

    if bins.is_empty() {
        if current.is_none() {
            return Err(told.with(code::NOT_FOUND));
        }
        may_delete(namespace, request).map_err(|code| told.with(code))?;
        drop(bins);
        partition.remove_for(request.digest, request.txn.id);
        return Ok(RecordOutcome { n_ops, ..RecordOutcome::default() });
    }
    if bins.len() > MAX_BINS {
        return Err(told.with(code::PARAMETER));
    }
    let key = current.and_then(Record::key).or(request.key).unwrap_or_default();
    if Record::size_of(key, bins.encoded_len()) > max_size {
        return Err(told.with(code::RECORD_TOO_BIG));
    }
    let set_id = match current {
        Some(record) => record.set_id(),
        None => match namespace.sets.find_or_add(request.set.unwrap_or_default()) {
            Some(id) => id,
            None => return Err(told.with(code::PARAMETER)),
        },
    };
    let parts = RecordParts {
        digest: request.digest,
        generation: current.map_or(1, |record| next_generation(record.generation())),
        set_id,
        void_time: ttl::void_time(&namespace.config, request.record_ttl, now, current.map(Record::void_time)),
        last_update_ms: current.map_or(now_ms, |record| next_update(record, now_ms)),
        key,
        n_bins: bins.len() as u16,
    };
    let (generation, void_time) = (u32::from(parts.generation), parts.void_time);
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        Record::encode(&parts, scratch);
        bins.encode(scratch);
    });
    drop(bins);
    put_scratch(partition, request);
    Ok(RecordOutcome { generation, void_time, n_ops, ..RecordOutcome::default() })
}

/// Puts in the record that has been put together.
fn put_scratch(partition: &mut Site<'_>, request: &RecordRequest<'_>) {
    SCRATCH.with_borrow_mut(|scratch| {
        partition.put_for(request.digest, scratch, request.txn.id);
        scratch.shrink_to(KEEP_SCRATCH);
    });
}

/// The last update of a record that is written now. It never goes back, whatever the clock does.
#[inline]
pub(super) fn next_update(record: &Record, now_ms: u64) -> u64 {
    now_ms.max(record.last_update_ms())
}

#[inline]
pub(super) fn next_generation(generation: u16) -> u16 {
    if generation == MAX_GENERATION { 1 } else { generation + 1 }
}

/// What can be said without the record. Answers whether the request touches, so that the record has to exist.
fn precheck(request: &RecordRequest<'_>) -> Result<bool, u8> {
    if request.n_ops == 0 {
        return Err(code::PARAMETER);
    }
    if request.set.is_some_and(|set| set.len() > MAX_SET_NAME || set.contains(&0)) {
        return Err(code::PARAMETER);
    }
    let replaces = request.info3 & (info3::CREATE_OR_REPLACE | info3::REPLACE_ONLY) != 0;
    let (mut touches, mut reads_any, mut own_answers, mut read_alls) = (false, false, false, 0);
    for op in request.ops.clone() {
        // The name of a touch does not count.
        if op.kind != op::TOUCH && (op.name.len() > MAX_BIN_NAME || op.name.contains(&0)) {
            return Err(code::BIN_NAME);
        }
        let (changes, answers) = match op.kind {
            op::WRITE => (op.particle_type == particle_type::NIL, false),
            op::INCR | op::APPEND | op::PREPEND | op::DELETE => (true, false),
            op::TOUCH => {
                touches = true;
                (true, false)
            }
            op::READ if op.name.is_empty() => {
                read_alls += 1;
                (false, false)
            }
            op::READ | op::CDT_READ | op::BITS_READ | op::HLL_READ | op::EXP_READ => (false, true),
            op::CDT_MODIFY | op::BITS_MODIFY | op::HLL_MODIFY => (true, true),
            // Expressions, and what is unknown, which fails when its turn comes.
            _ => (false, false),
        };
        if changes && replaces {
            return Err(code::PARAMETER);
        }
        reads_any |= matches!(op.kind, op::READ | op::CDT_READ | op::BITS_READ | op::HLL_READ | op::EXP_READ);
        own_answers |= answers;
    }
    if reads_any && request.info1 & info1::READ == 0 {
        return Err(code::PARAMETER);
    }
    let get_all = request.info1 & info1::GET_ALL != 0;
    if get_all && (read_alls != 1 || own_answers || request.info2 & info2::RESPOND_ALL_OPS != 0) {
        return Err(code::PARAMETER);
    }
    Ok(touches)
}

/// What the record that is there (or is not) says to the request.
fn check_current(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    current: Option<&Record>,
    touches: bool,
    now_ms: u64,
) -> Result<(), u8> {
    let Some(record) = current else {
        if touches || request.info3 & (info3::UPDATE_ONLY | info3::REPLACE_ONLY) != 0 {
            return Err(code::NOT_FOUND);
        }
        return generation_matches(request, 0);
    };
    if request.info2 & info2::CREATE_ONLY != 0 {
        return Err(code::RECORD_EXISTS);
    }
    generation_matches(request, u32::from(record.generation()))?;
    set_matches(namespace, request, record)?;
    filter::check(namespace, request, record, now_ms)?;
    key_matches(request, record)
}

/// A request may name the record's set, or none.
#[inline]
pub(super) fn set_matches(namespace: &Namespace, request: &RecordRequest<'_>, record: &Record) -> Result<(), u8> {
    match request.set {
        None | Some([]) => Ok(()),
        Some(name) if record.set_id() != SetId::NONE && namespace.sets.name(record.set_id()) == name => Ok(()),
        Some(_) => Err(code::PARAMETER),
    }
}

/// All 32 bits of the request's word count. A missing record has generation 0.
#[inline]
pub(super) fn generation_matches(request: &RecordRequest<'_>, generation: u32) -> Result<(), u8> {
    let fits = if request.info2 & info2::GENERATION != 0 {
        request.generation == generation
    } else if request.info2 & info2::GENERATION_GT != 0 {
        request.generation > generation
    } else {
        true
    };
    if fits { Ok(()) } else { Err(code::GENERATION) }
}

/// A key that is sent has to be the stored one, if one is stored.
#[inline]
pub(super) fn key_matches(request: &RecordRequest<'_>, record: &Record) -> Result<(), u8> {
    match (request.key, record.key()) {
        (Some(sent), Some(stored)) if sent != stored => Err(code::KEY_MISMATCH),
        _ => Ok(()),
    }
}

/// What operations are carried out against, beside the bins.
struct WriteContext<'s> {
    namespace: &'s Namespace,
    record: Option<&'s Record>,
    now_ms: u64,
    max_size: usize,
}

impl WriteContext<'_> {
    /// What an expression sees: the bins as the operations before have left them.
    fn of_expressions<'c>(&'c self, request: &'c RecordRequest<'_>, bins: &'c BinSet<'_>) -> Context<'c> {
        let set_name = match self.record {
            Some(record) => self.namespace.sets.name(record.set_id()),
            None => request.set.unwrap_or_default(),
        };
        Context { bins, record: self.record, digest: request.digest, set_name, now_ms: self.now_ms }
    }
}

/// Carries out the operations in order; says how many of them have answered.
fn operate<'a>(
    request: &RecordRequest<'a>,
    bins: &mut BinSet<'a>,
    context: &WriteContext<'_>,
    out: &mut Vec<u8>,
) -> Result<u16, u8> {
    let respond_all = request.info2 & info2::RESPOND_ALL_OPS != 0;
    let get_all = request.info1 & info1::GET_ALL != 0;
    let mut n_ops = 0;
    for op in request.ops.clone() {
        let mut answer_name = op.name;
        match op.kind {
            op::WRITE if op.particle_type == particle_type::NIL => bins.remove(op.name),
            // Before a long look at what cannot be stored anyway.
            op::WRITE if op.value.len() > context.max_size => return Err(code::RECORD_TOO_BIG),
            op::WRITE => {
                let value = particle::checked(op.particle_type, op.value)?;
                index_mark::note(context.namespace, op.particle_type, &value);
                bins.set(op.name, op.particle_type, value);
            }
            op::INCR => incr(bins, &op)?,
            op::APPEND => extend(bins, &op, End::Back, context.max_size)?,
            op::PREPEND => extend(bins, &op, End::Front, context.max_size)?,
            op::DELETE => {
                bins.clear();
                answer_name = &[];
            }
            op::TOUCH => continue,
            op::READ if get_all && op.name.is_empty() => {
                bins.encode(out);
                // Bounded by the bins of a stored record and the operations of one message; checked at the end.
                n_ops += bins.len() as u16;
                continue;
            }
            op::READ => {
                if let Some(bin) = bins.get(op.name) {
                    bin.encode(out);
                    n_ops += 1;
                    continue;
                }
            }
            op::EXP_READ => {
                n_ops += expression::read(&op, &context.of_expressions(request, bins), true, out)?;
                continue;
            }
            op::EXP_MODIFY => match expression::modify(&op, bins, &context.of_expressions(request, bins))? {
                Change::Nothing => {}
                Change::Remove => bins.remove(op.name),
                Change::Set(kind, value) => bins.set(op.name, kind, Cow::Owned(value)),
            },
            op::CDT_READ => {
                let bin = bins.bin(op.name);
                let answer = cdt::read(op.value, bin)?;
                // Beside writes, a read of a bin that is there always answers.
                n_ops += append_answer(op.kind, op.name, answer, respond_all || bin.is_some(), out);
                continue;
            }
            op::CDT_MODIFY => {
                let modified = cdt::modify(op.value, bins.bin(op.name), context.max_size)?;
                if let Some((kind, value)) = modified.value {
                    index_mark::note(context.namespace, kind, &value);
                    bins.set(op.name, kind, Cow::Owned(value));
                }
                n_ops += append_answer(op.kind, op.name, modified.answer, respond_all, out);
                continue;
            }
            op::BITS_READ | op::HLL_READ => {
                let answer = blob_ops::read(&op, bins.bin(op.name))?.map(|value| value.to_particle());
                n_ops += append_answer(op.kind, op.name, answer, respond_all, out);
                continue;
            }
            op::BITS_MODIFY | op::HLL_MODIFY => {
                let answer = blob_ops::modify(&op, bins, context.max_size)?.map(|value| value.to_particle());
                n_ops += append_answer(op.kind, op.name, answer, respond_all, out);
                continue;
            }
            _ => return Err(code::PARAMETER),
        }
        if respond_all {
            nil_answer(op.kind, answer_name, out);
            n_ops += 1;
        }
    }
    Ok(n_ops)
}
