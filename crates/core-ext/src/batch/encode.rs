//! The rows that go to one node, as one frame.
//!
//! Flags and fields are those of aerospike-core 3.0.0: the parent's filter in the message and in every row without
//! one of its own, namespace and set in every row that is not a repetition, the index of a row counted per request.

use aerolane_wire::WireError;
use aerolane_wire::batch::{BatchWriter, RowHeader, RowWriter, flags, row_flags};
use aerolane_wire::message::{MessageWriter, field, info1, info2, info3, info4, op};
use aerolane_wire::operation;
use aerolane_wire::particle::particle_type;
use aerospike_core::expressions::Expression;
use aerospike_core::{
    BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, Bins, CommitLevel,
    GenerationPolicy, Key, ReadModeAp,
};

use super::patch::{RowPatch, RowPatches};
use super::{BatchKind, BatchOperation};
use crate::command::encode as single;
use crate::command::value;
use crate::command::{check, encode::frame};
use crate::error::{Error, ErrorKind, Result};
use crate::names::same;
use crate::operations::{Operation, Ours};

/// Appends one frame with the rows `rows` of `operations`, in that order; the wire's index of a row is its place in
/// `rows`. Rows that only aerospike-core can encode are refused.
///
/// If anything is wrong with a row, the error names it and the buffer is as it was.
pub fn encode(
    policy: &BatchPolicy,
    operations: &[BatchOperation],
    rows: &[u32],
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    encode_patched((policy, RowPatches::default()), operations, rows, timeout_ms, out)
}

/// [`encode`] with what goes over the policies of rows.
pub(crate) fn encode_patched(
    (policy, patches): (&BatchPolicy, RowPatches),
    operations: &[BatchOperation],
    rows: &[u32],
    timeout_ms: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    frame_of_rows(policy, timeout_ms, out, |batch| {
        let mut previous = None;
        for (place, &row) in rows.iter().enumerate() {
            let Some(operation) = operations.get(row as usize) else {
                return Err(Error::client_error(format!("there is no batch row {row}")));
            };
            add_row(batch, place as u32, (policy, patches), operation, previous).map_err(|e| name_row(row, e))?;
            previous = Some(operation);
        }
        Ok(())
    })
}

/// Appends one frame with the rows that `write` writes.
#[inline]
pub(crate) fn frame_of_rows(
    policy: &BatchPolicy,
    timeout_ms: u32,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut BatchWriter<'_>) -> Result<()>,
) -> Result<()> {
    let base = &policy.base_policy;
    frame(out, base, |out| {
        let mut writer = MessageWriter::frame(out, &single::read_header(base, info1::BATCH, 0, timeout_ms));
        if let Some(filter) = &base.filter_expression {
            writer.field_with(field::FILTER, |out| single::expression(filter, out))?;
        }
        writer.field_with(field::BATCH, |out| {
            let mut batch = BatchWriter::begin(out, batch_flags(policy));
            write(&mut batch)?;
            batch.finish();
            Ok::<_, Error>(())
        })?;
        writer.finish().map_err(single::too_big)
    })
}

#[cold]
fn name_row(row: u32, e: Error) -> Error {
    match e.kind() {
        ErrorKind::InvalidArgument => Error::invalid_argument(format!("batch row {row}: {}", e.base_message())),
        _ => e,
    }
}

fn batch_flags(policy: &BatchPolicy) -> u8 {
    let mut bits = flags::REPORT_ERROR_RECORDS;
    if policy.allow_inline {
        bits |= flags::INLINE;
    }
    if policy.allow_inline_ssd {
        bits |= flags::INLINE_SSD;
    }
    if policy.respond_all_keys {
        bits |= flags::RESPOND_ALL_KEYS;
    }
    bits
}

fn add_row(
    batch: &mut BatchWriter<'_>,
    place: u32,
    (policy, patches): (&BatchPolicy, RowPatches),
    operation: &BatchOperation,
    previous: Option<&BatchOperation>,
) -> Result<()> {
    let key = operation.key();
    if previous.is_some_and(|previous| repeats(operation, previous, patches)) {
        return Ok(batch.repeat(place, &key.digest())?);
    }
    check::key(key)?;
    let mut row = Row::of(policy, operation)?;
    if patches.active {
        row.patch(patches);
    }
    // Rows that write are compared as bytes by the writer; values that are equal may still be written differently.
    batch.row(place, &key.digest(), &row.header, |writer| row.write(writer, key))
}

/// Whether a row says nothing new. Only for rows without values, and without looking deep.
fn repeats(operation: &BatchOperation, previous: &BatchOperation, patches: RowPatches) -> bool {
    let (key, last) = (operation.key(), previous.key());
    if !same(key.namespace(), last.namespace()) || !same(key.set_name(), last.set_name()) {
        return false;
    }
    match (operation.kind(), previous.kind()) {
        (BatchKind::Read { policy: p, bins: b }, BatchKind::Read { policy: q, bins: c }) => p == q && b == c,
        (BatchKind::ReadOps { policy: p, ops: o }, BatchKind::ReadOps { policy: q, ops: n }) => p == q && o == n,
        (BatchKind::Delete { policy: p }, BatchKind::Delete { policy: q }) => {
            !patches.delete.send_key.unwrap_or(p.send_key) && p == q
        }
        _ => false,
    }
}

/// A row that is about to be written.
struct Row<'a> {
    header: RowHeader,
    filter: Option<&'a Expression>,
    send_key: bool,
    body: Body<'a>,
}

enum Body<'a> {
    Empty,
    Names(&'a [String]),
    Operations(&'a [Operation]),
    Udf(&'a super::operation::Udf),
}

impl<'a> Row<'a> {
    fn of(policy: &'a BatchPolicy, operation: &'a BatchOperation) -> Result<Self> {
        let mut row = match operation.kind() {
            BatchKind::Read { policy: read, bins } => {
                check::bins(bins)?;
                let (info1, body) = match bins {
                    Bins::All => (info1::GET_ALL, Body::Empty),
                    Bins::Some(names) if !names.is_empty() => (0, Body::Names(names)),
                    Bins::None | Bins::Some(_) => (info1::NO_BIN_DATA, Body::Empty),
                };
                Self::read(policy, info1, read, body)
            }
            BatchKind::ReadOps { policy: read, ops } => {
                let row = Self::read(policy, read_flags(ops)?, read, Body::Operations(ops));
                Self { header: answering_each(row.header), ..row }
            }
            BatchKind::Write { policy: write, ops } => {
                let header = write_header(policy, write, write_flags(ops)?)?;
                let filter = write.filter_expression.as_ref();
                Self { header, filter, send_key: write.send_key, body: Body::Operations(ops) }
            }
            BatchKind::Delete { policy: delete } => {
                let header = delete_header(policy, delete)?;
                let filter = delete.filter_expression.as_ref();
                Self { header, filter, send_key: delete.send_key, body: Body::Empty }
            }
            BatchKind::Udf(udf) => {
                let apply = &udf.policy;
                let header = udf_header(policy, apply);
                let filter = apply.filter_expression.as_ref();
                Self { header, filter, send_key: apply.send_key, body: Body::Udf(udf) }
            }
        };
        row.filter = row.filter.or(policy.base_policy.filter_expression.as_ref());
        Ok(row)
    }

    /// Lets a file's settings of such rows go over its own.
    #[cold]
    fn patch(&mut self, patches: RowPatches) {
        let patch = match &self.body {
            Body::Udf(_) => patches.udf,
            _ if self.header.info2 & info2::DELETE != 0 => patches.delete,
            _ if self.header.info2 & info2::WRITE != 0 => patches.write,
            _ => return,
        };
        self.header = with_durable(self.header, patch);
        self.send_key = patch.send_key.unwrap_or(self.send_key);
    }

    fn read(parent: &BatchPolicy, what: u8, read: &'a BatchReadPolicy, body: Body<'a>) -> Self {
        let header = read_header(parent, read, what);
        Self { header, filter: read.filter_expression.as_ref(), send_key: false, body }
    }

    fn write(&self, writer: &mut RowWriter<'_>, key: &Key) -> Result<()> {
        writer.field(field::NAMESPACE, key.namespace().as_bytes());
        writer.field(field::SET, key.set_name().as_bytes());
        if let Some(filter) = self.filter {
            // A row's field is taken as a whole; filters are rare enough to afford the copy.
            let mut bytes = Vec::new();
            single::expression(filter, &mut bytes)?;
            writer.field(field::FILTER, &bytes);
        }
        if let (true, Some(user_key)) = (self.send_key, key.user_key()) {
            let mut bytes = Vec::new();
            single::user_key_value(user_key, &mut bytes)?;
            writer.field(field::KEY, &bytes);
        }
        match &self.body {
            Body::Empty => Ok(()),
            Body::Names(names) => names.iter().try_for_each(|name| bare_op(writer, op::READ, name)),
            Body::Operations(ops) => ops.iter().try_for_each(|op| any_op(writer, op.ours()?)),
            Body::Udf(udf) => {
                writer.field(field::UDF_PACKAGE, udf.package.as_bytes());
                writer.field(field::UDF_FUNCTION, udf.function.as_bytes());
                let mut bytes = Vec::new();
                value::encode_arguments(&udf.args, &mut bytes)
                    .map_err(|e| Error::invalid_argument(format!("an argument of the UDF cannot be sent: {e}")))?;
                writer.field(field::UDF_ARGUMENTS, &bytes);
                Ok(())
            }
        }
    }
}

/// The header of a row that reads; `what`: the bits that say what.
pub(crate) fn read_header(policy: &BatchPolicy, read: &BatchReadPolicy, what: u8) -> RowHeader {
    let base = &policy.base_policy;
    let mut info1 = info1::READ | what;
    if base.read_mode_ap == ReadModeAp::All {
        info1 |= info1::READ_MODE_AP_ALL;
    }
    RowHeader::read(info1, single::sc_mode(base.read_mode_sc), read.read_touch_ttl.into())
        .with_info4(single::verbosity(base))
}

/// The header of a row that reads with operations: each of them answers, so that results line up with operations, and
/// a bin that is not there answers with nil. As rows that write, and as the plain command that a row alone on its node
/// is: what a row answers does not depend on how many others go to its node. (That of aerospike-core 3.0.0 does: it
/// asks only where the row is alone.) Not together with a read of all bins, which the server does not take with it.
pub(crate) const fn answering_each(mut header: RowHeader) -> RowHeader {
    if header.info1 & info1::GET_ALL == 0 {
        header.info2 |= info2::RESPOND_ALL_OPS;
    }
    header
}

/// The header of a row that writes; `info1`: what it also reads.
///
/// # Errors
/// The generation cannot be sent.
pub(crate) fn write_header(policy: &BatchPolicy, write: &BatchWritePolicy, info1: u8) -> Result<RowHeader> {
    let mut info2 = info2::WRITE | info2::RESPOND_ALL_OPS;
    let mut info3 = commit(write.commit_level);
    let generation = generation(write.generation_policy, write.generation, &mut info2)?;
    single::exists_action(write.record_exists_action, &mut info2, &mut info3);
    info2 |= durable(write.durable_delete);
    Ok(RowHeader::write(info1, info2, info3, generation, write.expiration.into())
        .with_info4(on_locking(write.on_locking_only) | single::verbosity(&policy.base_policy)))
}

/// The header of a row that deletes.
///
/// # Errors
/// The generation cannot be sent.
pub(crate) fn delete_header(policy: &BatchPolicy, delete: &BatchDeletePolicy) -> Result<RowHeader> {
    let mut info2 = info2::WRITE | info2::RESPOND_ALL_OPS | info2::DELETE;
    let generation = generation(delete.generation_policy, delete.generation, &mut info2)?;
    info2 |= durable(delete.durable_delete);
    Ok(RowHeader::write(0, info2, commit(delete.commit_level), generation, 0)
        .with_info4(single::verbosity(&policy.base_policy)))
}

fn with_durable(mut header: RowHeader, patch: RowPatch) -> RowHeader {
    if let Some(durable_delete) = patch.durable_delete {
        header.info2 = header.info2 & !info2::DURABLE_DELETE | durable(durable_delete);
    }
    header
}

/// A header that was made by another policy, as `policy` and what goes over the row's own would have made it.
pub(crate) fn patched_header(header: RowHeader, policy: &BatchPolicy, patch: RowPatch) -> RowHeader {
    let base = &policy.base_policy;
    let mut header = with_durable(header, patch);
    header.info4 = header.info4 & !info4::ERROR_VERBOSITY | single::verbosity(base);
    if header.info2 & info2::WRITE == 0 {
        let all = if base.read_mode_ap == ReadModeAp::All { info1::READ_MODE_AP_ALL } else { 0 };
        header.info1 = header.info1 & !info1::READ_MODE_AP_ALL | all;
        header.info3 =
            header.info3 & !(info3::SC_READ_TYPE | info3::SC_READ_RELAX) | single::sc_mode(base.read_mode_sc);
    }
    header.flags &= !row_flags::INFO4;
    header.with_info4(header.info4)
}

/// Bit of the generation policy, and the generation to send. Rows have 16 bits for it, as records have: a larger one is
/// no record's, and cut off it would be another's.
fn generation(policy: GenerationPolicy, generation: u32, info2: &mut u8) -> Result<u16> {
    let generation = single::generation(policy, generation, info2);
    u16::try_from(generation)
        .map_err(|_| Error::invalid_argument(format!("generation {generation} is more than a record can have (65535)")))
}

/// The header of a row that applies a function.
pub(crate) fn udf_header(policy: &BatchPolicy, apply: &BatchUdfPolicy) -> RowHeader {
    let info2 = info2::WRITE | durable(apply.durable_delete);
    RowHeader::write(0, info2, commit(apply.commit_level), 0, apply.expiration.into())
        .with_info4(on_locking(apply.on_locking_only) | single::verbosity(&policy.base_policy))
}

/// Read bits of a row with operations that only read.
fn read_flags(ops: &[Operation]) -> Result<u8> {
    if ops.is_empty() {
        // As the plain command that a row alone on its node is. (aerospike-core refuses it only there.)
        return Err(Error::invalid_argument("there are no operations to carry out"));
    }
    check::count(ops.len(), "operations")?;
    let mut bits = 0;
    for operation in ops {
        let read = single::read_bits(operation.ours()?);
        bits |= read.ok_or_else(|| Error::invalid_argument("a row that reads holds an operation that writes"))?;
    }
    Ok(bits)
}

/// Read bits of a row with operations of which at least one writes.
pub(crate) fn write_flags(ops: &[Operation]) -> Result<u8> {
    check::count(ops.len(), "operations")?;
    let (mut reads, mut all, mut header, mut writes) = (false, false, false, false);
    for operation in ops {
        let operation = operation.ours()?;
        let Some(bits) = single::read_bits(operation) else {
            writes = true;
            continue;
        };
        // As aerospike-core: reads of strings do not count here.
        reads |= !matches!(operation, Ours::Encoded(op) if matches!(op.kind(), op::STRING_READ | op::TO_STRING));
        all |= bits & info1::GET_ALL != 0;
        header |= bits & info1::NO_BIN_DATA != 0;
    }
    if !writes {
        return Err(Error::invalid_argument("a row that writes holds no operation that writes"));
    }
    Ok(match (reads, all, header) {
        (false, ..) => 0,
        (true, true, _) => info1::READ | info1::GET_ALL,
        (true, false, true) => info1::READ | info1::NO_BIN_DATA,
        (true, false, false) => info1::READ,
    })
}

const fn durable(durable_delete: bool) -> u8 {
    if durable_delete { info2::DURABLE_DELETE } else { 0 }
}

const fn on_locking(on_locking_only: bool) -> u8 {
    if on_locking_only { info4::TXN_ON_LOCKING_ONLY } else { 0 }
}

fn commit(level: CommitLevel) -> u8 {
    if level == CommitLevel::CommitMaster { info3::COMMIT_MASTER } else { 0 }
}

fn bare_op(writer: &mut RowWriter<'_>, kind: u8, name: &str) -> Result<()> {
    writer.op_with(kind, particle_type::NIL, name.as_bytes(), |_| Ok::<_, WireError>(())).map_err(single::too_big)
}

fn any_op(writer: &mut RowWriter<'_>, operation: Ours<'_>) -> Result<()> {
    match single::shape_of(operation)? {
        single::Shape::Bare(kind, name) => bare_op(writer, kind, name),
        single::Shape::Bin(kind, bin) => value::particle_type_of(&bin.value)
            .and_then(|particle| {
                writer.op_with(kind, particle, bin.name.as_bytes(), |out| value::encode(&bin.value, out))
            })
            .map_err(|e| single::bad_bin(bin, e)),
        single::Shape::Encoded(encoded) => {
            let (kind, particle) = (encoded.kind(), operation::particle_type(encoded.kind()));
            let value = |out: &mut Vec<u8>| {
                out.extend_from_slice(encoded.value());
                Ok(())
            };
            writer.op_with(kind, particle, encoded.bin().as_bytes(), value).map_err(single::too_big)
        }
    }
}
