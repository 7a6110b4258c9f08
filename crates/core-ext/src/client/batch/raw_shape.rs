//! What rows do that the caller has encoded.

use std::cell::Cell;

use aerolane_wire::batch::{RowHeader, RowWriter};
use aerolane_wire::digest::Digest;
use aerolane_wire::message::{MessageWriter, encode_field, encode_op, field, info1, info2, op};
use aerolane_wire::{WireError, operation};
use aerospike_core::expressions::Expression;
use aerospike_core::{BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy};

use crate::batch::{
    RowPatch, RowPatches, answering_each, delete_header, patched_header, read_header, udf_header, write_header,
};
use crate::command::encode::{expression, frame, read_header as message_header, too_big};
use crate::error::Result;

/// The key of a raw row.
pub trait RawKey {
    /// The name of the namespace.
    fn namespace(&self) -> &str;

    /// The digest.
    fn digest(&self) -> &Digest;

    /// Namespace and set as fields of a request (size, type, value), and how many they are.
    fn names(&self) -> (&[u8], u32);

    /// The user key as a field of a request; empty if it is not known.
    fn user_key(&self) -> &[u8];
}

thread_local! {
    /// Memory for operations that are copied once they are encoded.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Encoded operations.
#[derive(Debug, Clone, Default)]
pub struct RawOps {
    bytes: Vec<u8>,
    count: u32,
    /// A second execution of one of them makes a difference.
    once: bool,
}

impl RawOps {
    /// Appends an operation; see [`encode_op`].
    ///
    /// # Errors
    /// That of `write`, or that the bin's name has more than 255 bytes.
    pub fn push<E: From<WireError>>(
        &mut self,
        kind: u8,
        particle_type: u8,
        name: &[u8],
        write: impl FnOnce(&mut Vec<u8>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let start = self.bytes.len();
        let written = encode_op(&mut self.bytes, kind, particle_type, name, write);
        match written {
            Ok(()) => {
                self.count += 1;
                self.once |= operation::is_write(kind) && !matches!(kind, op::WRITE | op::TOUCH | op::DELETE);
            }
            Err(_) => self.bytes.truncate(start),
        }
        written
    }

    /// Appends others.
    pub fn append(&mut self, others: &Self) {
        self.bytes.extend_from_slice(&others.bytes);
        self.count += others.count;
        self.once |= others.once;
    }

    /// None so far, in memory that the thread keeps: [`PutShapes::put`](crate::writer::PutShapes::put) gives it back.
    #[must_use]
    pub fn in_kept_buffer() -> Self {
        Self::in_buffer(KEPT.take())
    }

    /// Gives the memory back to the thread.
    pub(crate) fn keep_buffer(self) {
        /// The largest buffer that a thread keeps.
        const MOST: usize = 1 << 16;
        if self.bytes.capacity() <= MOST {
            KEPT.set(self.bytes);
        }
    }

    /// None so far, in the memory of a buffer.
    #[must_use]
    pub fn in_buffer(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, count: 0, once: false }
    }

    /// Encoded ones that write bins.
    pub(super) const fn of_writes(bytes: Vec<u8>, count: u32) -> Self {
        Self { bytes, count, once: false }
    }

    /// Their bytes, and how many they are.
    pub(super) fn encoded(&self) -> (&[u8], u32) {
        (&self.bytes, self.count)
    }

    /// Whether a second execution makes no difference.
    pub(crate) const fn repeat_safely(&self) -> bool {
        !self.once
    }

    /// Their memory, for others.
    #[must_use]
    pub fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends them to a request.
    pub fn write(&self, writer: &mut MessageWriter<'_>) {
        writer.encoded_ops(&self.bytes, self.count);
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// How many bytes of a request they take.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What rows do. Any number of rows can share a shape; those that stand together then take 25 bytes each.
#[derive(Debug, Clone)]
pub struct RawShape {
    header: RowHeader,
    send_key: bool,
    ops: RawOps,
    /// What few rows have: apart, since shapes are moved a lot where each row has its own.
    extra: Option<Box<Extra>>,
}

#[derive(Debug, Clone, Default)]
struct Extra {
    /// The expression of the filter, encoded; empty: none.
    filter: Vec<u8>,
    /// Module, function and arguments of a UDF, as fields; empty: none.
    udf: Vec<u8>,
}

/// How many fields a UDF has.
const UDF_FIELDS: u32 = 3;

impl RawShape {
    /// Reads. `what`: bits of [`info1`] beside `READ` (`GET_ALL`, `NO_BIN_DATA`, or none with operations that read).
    ///
    /// # Errors
    /// The filter cannot be encoded.
    pub fn read(batch: &BatchPolicy, row: &BatchReadPolicy, what: u8, ops: RawOps) -> Result<Self> {
        Self::new(batch, read_header(batch, row, what), row.filter_expression.as_ref(), false, ops)
    }

    /// Lets each operation answer, so that results line up with operations: a bin that is not there answers with nil.
    /// Rows that write always do. Of no effect together with `GET_ALL`, which the server does not take with it.
    #[must_use]
    pub const fn answering_each(mut self) -> Self {
        self.header = answering_each(self.header);
        self
    }

    /// Writes. `info1`: what it also reads.
    ///
    /// # Errors
    /// As [`read`](Self::read), or the generation is more than a record can have.
    pub fn write(batch: &BatchPolicy, row: &BatchWritePolicy, info1: u8, ops: RawOps) -> Result<Self> {
        Self::new(batch, write_header(batch, row, info1)?, row.filter_expression.as_ref(), row.send_key, ops)
    }

    /// Deletes the record.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn delete(batch: &BatchPolicy, row: &BatchDeletePolicy) -> Result<Self> {
        let header = delete_header(batch, row)?;
        Self::new(batch, header, row.filter_expression.as_ref(), row.send_key, RawOps::default())
    }

    /// Applies a function of a UDF module. `arguments`: a packed list.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn udf(
        batch: &BatchPolicy,
        row: &BatchUdfPolicy,
        (package, function): (&str, &str),
        arguments: &[u8],
    ) -> Result<Self> {
        let header = udf_header(batch, row);
        let mut shape = Self::new(batch, header, row.filter_expression.as_ref(), row.send_key, RawOps::default())?;
        let fields = [
            (field::UDF_PACKAGE, package.as_bytes()),
            (field::UDF_FUNCTION, function.as_bytes()),
            (field::UDF_ARGUMENTS, arguments),
        ];
        let udf = &mut shape.extra.get_or_insert_default().udf;
        for (kind, value) in fields {
            encode_field(udf, kind, value);
        }
        Ok(shape)
    }

    fn new(
        batch: &BatchPolicy,
        header: RowHeader,
        filter: Option<&Expression>,
        send_key: bool,
        ops: RawOps,
    ) -> Result<Self> {
        let mut extra = None;
        if let Some(filter) = filter.or(batch.base_policy.filter_expression.as_ref()) {
            let mut bytes = Vec::new();
            expression(filter, &mut bytes)?;
            extra = Some(Box::new(Extra { filter: bytes, udf: Vec::new() }));
        }
        Ok(Self { header, send_key, ops, extra })
    }

    fn filter(&self) -> &[u8] {
        self.extra.as_ref().map_or(&[], |extra| &extra.filter)
    }

    fn udf_fields(&self) -> &[u8] {
        self.extra.as_ref().map_or(&[], |extra| &extra.udf)
    }

    fn is_udf(&self) -> bool {
        !self.udf_fields().is_empty()
    }

    /// The header for a call, and whether the user key goes along.
    #[inline]
    pub(super) fn header_of(&self, policy: &BatchPolicy, patches: RowPatches) -> (RowHeader, bool) {
        if patches.active { self.patched(policy, patches) } else { (self.header, self.send_key) }
    }

    /// [`header_of`](Self::header_of) a call whose policy was changed after the shape was made.
    #[cold]
    fn patched(&self, policy: &BatchPolicy, patches: RowPatches) -> (RowHeader, bool) {
        let patch = match self.header.info2 {
            _ if self.is_udf() => patches.udf,
            info2 if info2 & info2::DELETE != 0 => patches.delete,
            info2 if info2 & info2::WRITE != 0 => patches.write,
            _ => RowPatch::default(),
        };
        (patched_header(self.header, policy, patch), patch.send_key.unwrap_or(self.send_key))
    }

    /// The same with these operations in place of its own: for rows that differ in nothing else. Not for functions.
    #[must_use]
    pub fn with_ops(&self, ops: RawOps) -> Self {
        Self { header: self.header, send_key: self.send_key, ops, extra: self.extra.clone() }
    }

    /// Whether it can change a record.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.header.info2 & info2::WRITE != 0
    }

    /// Whether it deletes the record.
    #[must_use]
    pub const fn deletes(&self) -> bool {
        self.header.info2 & info2::DELETE != 0
    }

    /// Whether a second execution makes no difference: not of functions, of operations that add or append or change
    /// collections, and of writes that look at the generation or create only.
    #[must_use]
    pub fn repeats_safely(&self) -> bool {
        const LOOKS: u8 = info2::GENERATION | info2::GENERATION_GT | info2::CREATE_ONLY;
        !self.is_udf() && !self.ops.once && self.header.info2 & LOOKS == 0
    }

    /// Whether rows may do the same by the thousand, apart from their operations: not with a filter, or a generation of their own.
    pub(crate) const fn suits_many(&self) -> bool {
        self.extra.is_none() && self.header.info2 & (info2::GENERATION | info2::GENERATION_GT) == 0
    }

    /// Whether rows of another shape do the same, apart from their operations; both [suit many](Self::suits_many).
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.header == other.header && self.send_key == other.send_key
    }

    /// Asks for no answer of each operation, where none of them has one to give: plain writes of bins.
    #[must_use]
    pub fn answering_once(mut self) -> Self {
        if self.header.info1 == 0 && !self.is_udf() && !self.ops.once {
            self.header.info2 &= !info2::RESPOND_ALL_OPS;
        }
        self
    }

    /// How many bytes of a request its filter, function and operations take.
    #[must_use]
    pub fn size(&self) -> usize {
        self.filter().len() + self.udf_fields().len() + self.ops.size()
    }

    /// How many bytes of a batch a row for this key takes, about.
    pub(crate) fn row_size(&self, key: &impl RawKey) -> usize {
        self.row_size_of(key.names().0.len() + key.user_key().len())
    }

    /// The same for a row that has so many bytes beside what the shape has.
    pub(super) fn row_size_of(&self, beside: usize) -> usize {
        /// What a row has beside its fields and operations.
        const ROW: usize = 40;
        ROW + beside + self.size()
    }

    /// Its operations, and how many these are.
    pub(super) fn ops(&self) -> (&[u8], u32) {
        (&self.ops.bytes, self.ops.count)
    }

    /// Whether a row can go as a plain command. As with the rows of other callers, not a function.
    pub(super) fn fits_single(&self) -> bool {
        !self.is_udf()
    }

    /// Fields and operations of a row.
    #[inline]
    pub(super) fn write_row(&self, row: &RowParts<'_>, send_key: bool, writer: &mut RowWriter<'_>) {
        writer.encoded_fields(row.names.0, row.names.1);
        if !self.filter().is_empty() {
            writer.field(field::FILTER, self.filter());
        }
        let user_key = if send_key { row.user_key } else { &[] };
        writer.encoded_fields(user_key, u32::from(!user_key.is_empty()));
        if self.is_udf() {
            writer.encoded_fields(self.udf_fields(), UDF_FIELDS);
        }
        writer.encoded_ops(row.ops.0, row.ops.1);
    }

    /// The frame of a row that goes as a plain command.
    pub(super) fn encode_single(
        &self,
        row: &RowParts<'_>,
        (policy, patches): (&BatchPolicy, RowPatches),
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (header, send_key) = self.header_of(policy, patches);
        let (base, RowHeader { info1, info2, info3, info4, generation, ttl, .. }) = (&policy.base_policy, header);
        frame(out, base, |out| {
            let mut header = message_header(base, 0, 0, timeout_ms);
            header.info1 |= info1;
            header.info2 = info2;
            // Of a plain command that reads all bins, the server does not take it.
            if info1 & info1::GET_ALL != 0 {
                header.info2 &= !info2::RESPOND_ALL_OPS;
            }
            (header.info3, header.info4) = (info3, info4);
            (header.generation, header.record_ttl) = (u32::from(generation), ttl);
            let mut writer = MessageWriter::frame(out, &header);
            writer.encoded_fields(row.names.0, row.names.1);
            writer.field(field::DIGEST, row.digest);
            if send_key && !row.user_key.is_empty() {
                writer.encoded_fields(row.user_key, 1);
            }
            if !self.filter().is_empty() {
                writer.field(field::FILTER, self.filter());
            }
            writer.encoded_ops(row.ops.0, row.ops.1);
            writer.finish().map_err(too_big)
        })
    }
}

/// What a row has beside its shape.
pub(super) struct RowParts<'a> {
    pub(super) digest: &'a Digest,
    /// Namespace and set as fields, and how many they are.
    pub(super) names: (&'a [u8], u32),
    /// As a field; empty: it has none.
    pub(super) user_key: &'a [u8],
    /// Operations, and how many they are.
    pub(super) ops: (&'a [u8], u32),
}
