//! Requests for one record, each appended to a buffer as one whole frame, in one pass and without an allocation of
//! their own.
//!
//! Flags and fields per policy setting are those that aerospike-core 3.0.0 sends; `tests/against_core` compares them
//! with a recording of that client. One difference is on purpose: the read mode for strong consistency is sent in
//! plain reads too, where aerospike-core 3.0.0 loses it (it clears the byte again).
//!
//! If anything is wrong with the arguments, an error says so and the buffer is as it was.

use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, info3, info4, op};
use aerolane_wire::operation;
use aerolane_wire::particle::particle_type;
use aerolane_wire::{WireError, WireErrorKind, proto};
use aerospike_core::{
    BasePolicy, Bin, Bins, CommitLevel, GenerationPolicy, Key, ReadModeAp, ReadModeSc, ReadPolicy, RecordExistsAction,
    Value, WritePolicy,
};

pub use super::expression::expression;
use super::value::{self, ValueError};
use super::{check, compress};
use crate::error::{Error, Result};
use crate::operations::{Encoded, Operation, Ours, Scalar};

/// What a write of bins does with each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteKind {
    /// Sets the bin; nil removes it.
    Put,
    /// Adds to a number.
    Add,
    /// Appends to a string or blob.
    Append,
    /// Prepends to a string or blob.
    Prepend,
}

impl WriteKind {
    /// The operation on the wire.
    #[must_use]
    pub const fn op(self) -> u8 {
        match self {
            Self::Put => op::WRITE,
            Self::Add => op::INCR,
            Self::Append => op::APPEND,
            Self::Prepend => op::PREPEND,
        }
    }
}

/// Reads bins: all of them, some, or none (generation and expiration only).
pub fn read(policy: &BasePolicy, key: &Key, bins: &Bins, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
    check::key(key)?;
    check::bins(bins)?;
    let how = match bins {
        Bins::All => info1::READ | info1::GET_ALL,
        Bins::None => info1::READ | info1::NO_BIN_DATA,
        Bins::Some(_) => info1::READ,
    };
    frame(out, policy, |out| {
        let mut writer = MessageWriter::frame(out, &read_header(policy, how, 0, timeout_ms));
        key_fields(&mut writer, key, false)?;
        filter_field(&mut writer, policy)?;
        match bins {
            Bins::All => {}
            Bins::None => bare_op(&mut writer, op::READ, "")?,
            Bins::Some(names) => names.iter().try_for_each(|name| bare_op(&mut writer, op::READ, name))?,
        }
        finish(writer)
    })
}

/// Asks whether the record exists.
pub fn exists(policy: &ReadPolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
    check::key(key)?;
    let policy = &policy.base_policy;
    frame(out, policy, |out| {
        let header = read_header(policy, info1::READ | info1::NO_BIN_DATA, 0, timeout_ms);
        let mut writer = MessageWriter::frame(out, &header);
        key_fields(&mut writer, key, false)?;
        filter_field(&mut writer, policy)?;
        finish(writer)
    })
}

/// Writes bins: `put`, `add`, `append` and `prepend`.
pub fn write(
    policy: &WritePolicy,
    key: &Key,
    bins: &[Bin],
    kind: WriteKind,
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    check::key(key)?;
    check::count(bins.len(), "bins")?;
    if bins.is_empty() {
        return Err(Error::invalid_argument("there are no bins to write"));
    }
    frame(out, &policy.base_policy, |out| {
        let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
        let mut writer = MessageWriter::frame(out, &header);
        key_fields(&mut writer, key, policy.send_key)?;
        filter_field(&mut writer, &policy.base_policy)?;
        for bin in bins {
            check::bin_name(&bin.name)?;
            bin_op(&mut writer, kind.op(), bin)?;
        }
        finish(writer)
    })
}

/// Deletes the record.
pub fn delete(policy: &WritePolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
    check::key(key)?;
    frame(out, &policy.base_policy, |out| {
        let header = write_header(policy, 0, info2::WRITE | info2::DELETE, false, timeout_ms);
        let mut writer = MessageWriter::frame(out, &header);
        key_fields(&mut writer, key, false)?;
        filter_field(&mut writer, &policy.base_policy)?;
        finish(writer)
    })
}

/// Resets the TTL and counts up the generation.
pub fn touch(policy: &WritePolicy, key: &Key, timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
    check::key(key)?;
    frame(out, &policy.base_policy, |out| {
        let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
        let mut writer = MessageWriter::frame(out, &header);
        key_fields(&mut writer, key, policy.send_key)?;
        filter_field(&mut writer, &policy.base_policy)?;
        bare_op(&mut writer, op::TOUCH, "")?;
        finish(writer)
    })
}

/// Calls a function of a UDF module on the record: package, function, arguments.
pub fn apply(
    policy: &WritePolicy,
    key: &Key,
    (package, function, args): (&str, &str, &[Value]),
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    check::key(key)?;
    frame(out, &policy.base_policy, |out| {
        let header = write_header(policy, 0, info2::WRITE, false, timeout_ms);
        let mut writer = MessageWriter::frame(out, &header);
        key_fields(&mut writer, key, policy.send_key)?;
        filter_field(&mut writer, &policy.base_policy)?;
        writer.field(field::UDF_PACKAGE, package.as_bytes());
        writer.field(field::UDF_FUNCTION, function.as_bytes());
        writer.field_with(field::UDF_ARGUMENTS, |out| {
            value::encode_arguments(args, out)
                .map_err(|e| Error::invalid_argument(format!("an argument of the UDF cannot be sent: {e}")))
        })?;
        finish(writer)
    })
}

/// Several operations on one record. Those that are aerospike-core's are refused (see [`Operation::as_core`]); calls with
/// such go there.
pub fn operate(
    policy: &WritePolicy,
    key: &Key,
    operations: &[Operation],
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    check::key(key)?;
    check::count(operations.len(), "operations")?;
    if operations.is_empty() {
        return Err(Error::invalid_argument("there are no operations to carry out"));
    }
    let mut asked = OperateHeader::default();
    for operation in operations {
        let operation = operation.ours()?;
        match read_bits(operation) {
            Some(bits) => asked.read(bits),
            None => asked.writes = true,
        }
        asked.all_answers |= operation.wants_all_answers();
    }
    frame(out, &policy.base_policy, |out| {
        let mut writer = MessageWriter::frame(out, &operate_header(policy, asked, timeout_ms));
        key_fields(&mut writer, key, policy.send_key && asked.writes)?;
        filter_field(&mut writer, &policy.base_policy)?;
        for operation in operations {
            any_op(&mut writer, operation.ours()?)?;
        }
        finish(writer)
    })
}

/// What several operations ask of the header of their request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperateHeader {
    /// Bits of the first info byte that those which read ask for.
    pub reads: u8,
    /// Whether any of them writes.
    pub writes: bool,
    /// Whether any of them wants an answer to each, see [`operation::wants_all_answers`]. Writes do anyway.
    pub all_answers: bool,
}

impl OperateHeader {
    /// Takes in an operation that reads; `bits`: what it asks for beside [`info1::READ`].
    pub const fn read(&mut self, bits: u8) {
        self.reads |= info1::READ | bits;
    }
}

/// The header of several operations.
#[must_use]
pub fn operate_header(policy: &WritePolicy, asked: OperateHeader, timeout_ms: u32) -> MessageHeader {
    let OperateHeader { reads, writes, all_answers } = asked;
    let mut info2 = if writes { info2::WRITE } else { 0 };
    // With a write in it every operation must answer, or the results would not line up with the operations. A read of
    // all bins cannot be combined with that: the server refuses it.
    if (policy.respond_per_each_op || writes || all_answers) && reads & info1::GET_ALL == 0 {
        info2 |= info2::RESPOND_ALL_OPS;
    }
    if writes {
        write_header(policy, reads, info2, true, timeout_ms)
    } else {
        read_header(&policy.base_policy, reads, info2, timeout_ms)
    }
}

/// What an operation that reads asks for beside [`info1::READ`]; `None` if it writes.
#[inline]
pub(crate) fn read_bits(operation: Ours<'_>) -> Option<u8> {
    match operation {
        Ours::Scalar(Scalar::Get) => Some(info1::GET_ALL),
        Ours::Scalar(Scalar::GetHeader) => Some(info1::NO_BIN_DATA),
        _ if operation.is_write() => None,
        _ => Some(0),
    }
}

/// Runs `write` behind what is in the buffer; takes everything back on an error, compresses if the policy says so.
#[inline]
pub(crate) fn frame(
    out: &mut Vec<u8>,
    policy: &BasePolicy,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    match write(out) {
        Ok(()) if policy.use_compression => {
            compress::request(out, start, policy.compression_threshold);
            Ok(())
        }
        Ok(()) => Ok(()),
        Err(e) => {
            out.truncate(start);
            Err(e)
        }
    }
}

/// The header of a command that only reads.
#[must_use]
pub fn read_header(policy: &BasePolicy, info1: u8, info2: u8, timeout_ms: u32) -> MessageHeader {
    MessageHeader {
        info1: info1 | read_flags(policy),
        info2,
        info3: sc_mode(policy.read_mode_sc),
        info4: verbosity(policy),
        record_ttl: policy.read_touch_ttl.into(),
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    }
}

/// The header of a command that writes; `reads`: it also reads, so the read flags apply.
#[must_use]
pub fn write_header(policy: &WritePolicy, info1: u8, info2: u8, reads: bool, timeout_ms: u32) -> MessageHeader {
    let base = &policy.base_policy;
    let mut header = MessageHeader {
        info1,
        info2,
        info4: verbosity(base),
        record_ttl: policy.expiration.into(),
        transaction_ttl: timeout_ms,
        ..MessageHeader::default()
    };
    exists_action(policy.record_exists_action, &mut header.info2, &mut header.info3);
    header.generation = generation(policy.generation_policy, policy.generation, &mut header.info2);
    if policy.commit_level == CommitLevel::CommitMaster {
        header.info3 |= info3::COMMIT_MASTER;
    }
    if policy.durable_delete {
        header.info2 |= info2::DURABLE_DELETE;
    }
    if policy.on_locking_only {
        header.info4 |= info4::TXN_ON_LOCKING_ONLY;
    }
    if policy.xdr {
        header.info1 |= info1::XDR;
    }
    if reads {
        header.info1 |= read_flags(base);
        header.info3 |= sc_mode(base.read_mode_sc);
    }
    header
}

/// Bits of the record-exists action.
pub(crate) fn exists_action(action: RecordExistsAction, info2: &mut u8, info3: &mut u8) {
    match action {
        RecordExistsAction::Update => {}
        RecordExistsAction::UpdateOnly => *info3 |= info3::UPDATE_ONLY,
        RecordExistsAction::Replace => *info3 |= info3::CREATE_OR_REPLACE,
        RecordExistsAction::ReplaceOnly => *info3 |= info3::REPLACE_ONLY,
        RecordExistsAction::CreateOnly => *info2 |= info2::CREATE_ONLY,
    }
}

/// Bit of the generation policy, and the generation to send.
pub(crate) fn generation(policy: GenerationPolicy, generation: u32, info2: &mut u8) -> u32 {
    match policy {
        GenerationPolicy::None => return 0,
        GenerationPolicy::ExpectGenEqual => *info2 |= info2::GENERATION,
        GenerationPolicy::ExpectGenGreater => *info2 |= info2::GENERATION_GT,
    }
    generation
}

/// Bits of the first info byte that every command with a read part takes from its policy.
fn read_flags(policy: &BasePolicy) -> u8 {
    let mut flags = 0;
    if policy.read_mode_ap == ReadModeAp::All {
        flags |= info1::READ_MODE_AP_ALL;
    }
    if policy.use_compression {
        flags |= info1::COMPRESS_RESPONSE;
    }
    flags
}

/// Bits of the third info byte for the strong-consistency read mode.
pub(crate) fn sc_mode(mode: ReadModeSc) -> u8 {
    match mode {
        ReadModeSc::Session => 0,
        ReadModeSc::Linearize => info3::SC_READ_TYPE,
        ReadModeSc::AllowReplica => info3::SC_READ_RELAX,
        ReadModeSc::AllowUnavailable => info3::SC_READ_TYPE | info3::SC_READ_RELAX,
    }
}

/// Bits of the fourth info byte that ask for error detail (server 8.2 and later).
pub(crate) fn verbosity(policy: &BasePolicy) -> u8 {
    (policy.error_detail_verbosity << info4::ERROR_VERBOSITY.trailing_zeros()) & info4::ERROR_VERBOSITY
}

#[inline]
fn key_fields(writer: &mut MessageWriter<'_>, key: &Key, send_key: bool) -> Result<()> {
    writer.field(field::NAMESPACE, key.namespace().as_bytes());
    if !key.set_name().is_empty() {
        writer.field(field::SET, key.set_name().as_bytes());
    }
    writer.field(field::DIGEST, &key.digest());
    match key.user_key() {
        Some(user_key) if send_key => writer.field_with(field::KEY, |out| user_key_value(user_key, out)),
        _ => Ok(()),
    }
}

/// The value of a key field: particle type, value.
pub(crate) fn user_key_value(user_key: &aerospike_core::Value, out: &mut Vec<u8>) -> Result<()> {
    let mut write = || {
        out.push(value::particle_type_of(user_key)?);
        value::encode(user_key, out)
    };
    write().map_err(|e| Error::invalid_argument(format!("the record key cannot be sent: {e}")))
}

#[inline]
pub(crate) fn filter_field(writer: &mut MessageWriter<'_>, policy: &BasePolicy) -> Result<()> {
    match &policy.filter_expression {
        None => Ok(()),
        Some(filter) => writer.field_with(field::FILTER, |out| expression(filter, out)),
    }
}

/// An operation without a value.
#[inline]
fn bare_op(writer: &mut MessageWriter<'_>, kind: u8, name: &str) -> Result<()> {
    writer.op_with(kind, particle_type::NIL, name.as_bytes(), |_| Ok(())).map_err(too_big)
}

/// An operation with a bin's value.
#[inline]
fn bin_op(writer: &mut MessageWriter<'_>, kind: u8, bin: &Bin) -> Result<()> {
    value::particle_type_of(&bin.value)
        .and_then(|particle| writer.op_with(kind, particle, bin.name.as_bytes(), |out| value::encode(&bin.value, out)))
        .map_err(|e| bad_bin(bin, e))
}

/// How an operation stands on the wire.
pub(crate) enum Shape<'a> {
    /// Kind and bin name, no value.
    Bare(u8, &'a str),
    /// Kind, bin name and value.
    Bin(u8, &'a Bin),
    /// What is encoded already.
    Encoded(&'a Encoded),
}

/// The form of an operation. Checks the bin name.
pub(crate) fn shape_of(operation: Ours<'_>) -> Result<Shape<'_>> {
    let shape = match operation {
        Ours::Encoded(encoded) => Shape::Encoded(encoded),
        Ours::Scalar(scalar) => match scalar {
            Scalar::Get | Scalar::GetHeader => Shape::Bare(op::READ, ""),
            Scalar::GetBin(name) => Shape::Bare(op::READ, name),
            Scalar::Touch => Shape::Bare(op::TOUCH, ""),
            Scalar::Delete => Shape::Bare(op::DELETE, ""),
            Scalar::Put(bin) => Shape::Bin(op::WRITE, bin),
            Scalar::Add(bin) => Shape::Bin(op::INCR, bin),
            Scalar::Append(bin) => Shape::Bin(op::APPEND, bin),
            Scalar::Prepend(bin) => Shape::Bin(op::PREPEND, bin),
        },
    };
    check::bin_name(match &shape {
        Shape::Bare(_, name) => name,
        Shape::Bin(_, bin) => &bin.name,
        Shape::Encoded(encoded) => encoded.bin(),
    })?;
    Ok(shape)
}

fn any_op(writer: &mut MessageWriter<'_>, operation: Ours<'_>) -> Result<()> {
    match shape_of(operation)? {
        Shape::Bare(kind, name) => bare_op(writer, kind, name),
        Shape::Bin(kind, bin) => bin_op(writer, kind, bin),
        Shape::Encoded(encoded) => {
            let (kind, particle) = (encoded.kind(), operation::particle_type(encoded.kind()));
            let value = |out: &mut Vec<u8>| {
                out.extend_from_slice(encoded.value());
                Ok(())
            };
            writer.op_with(kind, particle, encoded.bin().as_bytes(), value).map_err(too_big)
        }
    }
}

#[cold]
pub(crate) fn bad_bin(bin: &Bin, e: ValueError) -> Error {
    Error::invalid_argument(format!("bin '{}' cannot be sent: {e}", check::cut(&bin.name)))
}

#[inline]
fn finish(writer: MessageWriter<'_>) -> Result<()> {
    writer.finish().map_err(too_big)
}

/// What the wire crate refuses here is always a matter of size.
#[cold]
#[must_use]
pub fn too_big(e: WireError) -> Error {
    match e.kind {
        WireErrorKind::TooLarge { what: "frame size", value, .. } => {
            Error::record_too_big(value as usize, proto::MAX_BODY_SIZE)
        }
        _ => Error::invalid_argument(format!("the request cannot be written: {e}")),
    }
}

#[cfg(test)]
mod tests;
