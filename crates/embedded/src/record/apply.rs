//! Calling a UDF on a record.

use super::read::metadata;
use super::{filter, index_mark, may_delete, ttl, write};
use crate::clock::{self, Now};
use crate::code;
use crate::request::{AnswerFields, Outcome, RecordOutcome, RecordRequest, UdfCall};
use crate::store::{BIN_HEADER, Namespace, Partition, Purpose, Record, RecordParts, Site, Slot};
use crate::transaction;
use crate::udf::{self, ScriptRecord, StoredBin};
use crate::value::{MAX_BINS, MAX_SET_NAME};
use aerolane_wire::message::{info2, op};
use aerolane_wire::particle::particle_type;
use std::sync::atomic::Ordering;

/// How often a script is run that finds its record changed by others when it is to be stored, before it has the partition to
/// itself.
const ATTEMPTS: usize = 16;

/// What a record was when a script got to see it: generation and last update, if it was there.
type Seen = Option<(u16, u64)>;

fn seen(current: Option<&Record>) -> Seen {
    current.map(|record| (record.generation(), record.last_update_ms()))
}

/// Calls a function on a record. Other requests for the partition are answered while it runs; if one of them changes the
/// record, it runs again, so that nobody sees the record between its reads and its writes. The time of a script is limited.
pub(super) fn execute(
    node: Slot,
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    now: Now,
    out: &mut Vec<u8>,
) -> RecordOutcome {
    let start = out.len();
    let Some(call) = &request.udf else { return RecordOutcome::error(code::PARAMETER) };
    // Scripts on one record run one after the other.
    let _turn = namespace.scripts.turn(request.digest);
    for attempt in 1.. {
        let mut site =
            match namespace.site(node, request.digest, Purpose::Write, !namespace.strong_consistency, now.instant) {
                Ok(site) => site,
                Err(code) => return RecordOutcome::unreached(code),
            };
        if let Some(code) = namespace.refuses_writes(site.node(), now.instant) {
            return RecordOutcome::error(code);
        }
        if namespace.strong_consistency
            && let Some(outcome) = transaction::step(namespace, &mut site, request, now.ms)
        {
            return outcome;
        }
        let prepared = match prepare(namespace, &site, request, call, now.ms) {
            Ok(prepared) => prepared,
            Err(outcome) => {
                return RecordOutcome { fields: fields(namespace, &site, request, outcome, now.ms), ..outcome };
            }
        };
        let Prepared { told, seen: before, parts: (package, function, arguments), record } = prepared;
        let call = || udf::call(&namespace.modules, package, function, arguments, record, now);
        let ((answer, record), mut site) = if attempt < ATTEMPTS {
            drop(site);
            let called = call();
            match namespace.site(node, request.digest, Purpose::Write, false, now.after_work().instant) {
                Ok(site) => (called, site),
                Err(code) => return RecordOutcome::unreached(code),
            }
        } else {
            (call(), site)
        };
        let current = site.view(request.digest, request.txn.id).filter(|record| !record.is_expired(now.seconds()));
        if record.written && seen(current) != before {
            continue;
        }
        let outcome =
            finish(namespace, &mut site, request, told, (answer, &record), now.ms, out).unwrap_or_else(|error| {
                out.truncate(start);
                error
            });
        return RecordOutcome { fields: fields(namespace, &site, request, outcome, now.ms), lag: site.lag, ..outcome };
    }
    RecordOutcome::error(code::UNKNOWN)
}

/// What an answer tells to a transaction, where there are any.
fn fields(
    namespace: &Namespace,
    site: &Site<'_>,
    request: &RecordRequest<'_>,
    outcome: RecordOutcome,
    now_ms: u64,
) -> AnswerFields {
    if !namespace.strong_consistency {
        return AnswerFields::NONE;
    }
    transaction::answer_fields(site, request, outcome.code, now_ms)
}

/// A script that can be run.
struct Prepared<'a> {
    /// What answers tell of the record as it is.
    told: RecordOutcome,
    seen: Seen,
    parts: Parts<'a>,
    record: ScriptRecord,
}

/// What there is to be checked before a script runs.
fn prepare<'a>(
    namespace: &Namespace,
    partition: &Partition,
    request: &RecordRequest<'_>,
    call: &UdfCall<'a>,
    now_ms: u64,
) -> Result<Prepared<'a>, RecordOutcome> {
    let parts = precheck(request, call).map_err(RecordOutcome::error)?;
    let now = clock::seconds(now_ms);
    let current = partition.view(request.digest, request.txn.id).filter(|record| !record.is_expired(now));
    let told = current.map_or_else(RecordOutcome::default, metadata);
    if let Some(record) = current {
        write::set_matches(namespace, request, record)
            .and_then(|()| filter::check(namespace, request, record, now_ms))
            .and_then(|()| write::key_matches(request, record))
            .map_err(|code| told.with(code))?;
    }
    let record = script_record(namespace, request, current, now);
    Ok(Prepared { told, seen: seen(current), parts, record })
}

/// Stores what a script has left of its record, and appends what it answers.
fn finish(
    namespace: &Namespace,
    partition: &mut Site<'_>,
    request: &RecordRequest<'_>,
    told: RecordOutcome,
    (answer, record): (udf::Answer, &ScriptRecord),
    now_ms: u64,
    out: &mut Vec<u8>,
) -> Outcome {
    let (kind, value) = match answer {
        Ok(value) => value,
        Err(text) => {
            append(b"FAILURE", particle_type::STRING, text.as_bytes(), out);
            // An error, but one with an operation in its answer.
            return Ok(RecordOutcome { code: code::UDF_EXECUTION, n_ops: 1, ..told });
        }
    };
    let mut outcome = told;
    if record.written {
        // Of a record that a transaction holds, others may only read what was committed.
        if partition.holder(request.digest).is_some_and(|holder| Some(holder) != request.txn.id) {
            return Err(told.with(code::TXN_BLOCKED));
        }
        let now = clock::seconds(now_ms);
        let current = partition.view(request.digest, request.txn.id).filter(|record| !record.is_expired(now));
        let generation = current.map_or(1, |record| write::next_generation(record.generation()));
        if record.bins.is_empty() {
            if current.is_none() {
                return Err(told.with(code::NOT_FOUND));
            }
            may_delete(namespace, request).map_err(|code| told.with(code))?;
            partition.remove_for(request.digest, request.txn.id);
            outcome = RecordOutcome { generation: generation.into(), ..RecordOutcome::default() };
        } else {
            let (bytes, void_time) =
                encode(namespace, request, current, record, generation, now_ms).map_err(|code| told.with(code))?;
            partition.put_for(request.digest, &bytes, request.txn.id);
            outcome = RecordOutcome { generation: generation.into(), void_time, ..RecordOutcome::default() };
        }
    }
    append(b"SUCCESS", kind, &value, out);
    Ok(RecordOutcome { n_ops: 1, ..outcome })
}

/// Package, function and arguments.
type Parts<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// What is called; all of it has to be there.
fn precheck<'a>(request: &RecordRequest<'_>, call: &UdfCall<'a>) -> Result<Parts<'a>, u8> {
    let (Some(package), Some(function), Some(arguments)) = (call.package, call.function, call.arguments) else {
        return Err(code::PARAMETER);
    };
    if package.len() > udf::MAX_NAME || function.len() > udf::MAX_NAME || request.info2 & info2::CREATE_ONLY != 0 {
        return Err(code::PARAMETER);
    }
    if request.set.is_some_and(|set| set.len() > MAX_SET_NAME || set.contains(&0)) {
        return Err(code::PARAMETER);
    }
    Ok((package, function, arguments))
}

/// The record as a script sees it.
fn script_record(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    current: Option<&Record>,
    now: u32,
) -> ScriptRecord {
    match current {
        Some(record) => stored_record(namespace, record, request.key, now),
        None => ScriptRecord {
            digest: *request.digest,
            set: request.set.unwrap_or_default().to_vec(),
            key: request.key.unwrap_or_default().to_vec(),
            ..ScriptRecord::default()
        },
    }
}

/// A stored record as a script sees it. `key` is the one of the request, for records that have none.
pub(crate) fn stored_record(namespace: &Namespace, record: &Record, key: Option<&[u8]>, now: u32) -> ScriptRecord {
    ScriptRecord {
        exists: true,
        digest: *record.digest(),
        set: namespace.sets.name(record.set_id()).to_vec(),
        key: record.key().or(key).unwrap_or_default().to_vec(),
        generation: record.generation(),
        ttl: record.void_time().saturating_sub(now),
        last_update_ms: record.last_update_ms(),
        size: record.size(),
        bins: record
            .bins()
            .map(|bin| StoredBin { name: bin.name.to_vec(), kind: bin.kind, value: bin.value.to_vec() })
            .collect(),
        ..ScriptRecord::default()
    }
}

/// The bytes of the record as the script has left it, and its void time.
fn encode(
    namespace: &Namespace,
    request: &RecordRequest<'_>,
    current: Option<&Record>,
    record: &ScriptRecord,
    generation: u16,
    now_ms: u64,
) -> Result<(Vec<u8>, u32), u8> {
    let now = clock::seconds(now_ms);
    let word = record.ttl_word.unwrap_or(request.record_ttl);
    ttl::check(&namespace.config, word, current.is_none())?;
    if record.bins.len() > MAX_BINS {
        return Err(code::PARAMETER);
    }
    let key = if record.drops_key { &[] } else { &record.key[..] };
    let bins: usize = record.bins.iter().map(|b| BIN_HEADER + b.name.len() + b.value.len()).sum();
    if Record::size_of(key, bins) > namespace.config.max_record_size.load(Ordering::Relaxed) as usize {
        return Err(code::RECORD_TOO_BIG);
    }
    let set_id = match current {
        Some(record) => record.set_id(),
        None => namespace.sets.find_or_add(request.set.unwrap_or_default()).ok_or(code::PARAMETER)?,
    };
    let parts = RecordParts {
        digest: request.digest,
        generation,
        set_id,
        void_time: ttl::void_time(&namespace.config, word, now, current.map(Record::void_time)),
        last_update_ms: current.map_or(now_ms, |record| now_ms.max(record.last_update_ms())),
        key,
        n_bins: record.bins.len() as u16,
    };
    let mut bytes = Vec::with_capacity(Record::size_of(key, bins));
    Record::encode(&parts, &mut bytes);
    for bin in &record.bins {
        index_mark::note(namespace, bin.kind, &bin.value);
        append(&bin.name, bin.kind, &bin.value, &mut bytes);
    }
    Ok((bytes, parts.void_time))
}

/// Appends a bin as it is stored and sent.
pub(crate) fn append(name: &[u8], kind: u8, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(4 + name.len() as u32 + value.len() as u32).to_be_bytes());
    out.extend_from_slice(&[op::READ, kind, 0, name.len() as u8]);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
}
