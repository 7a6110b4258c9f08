//! Rows that the caller has encoded, and whose answers the caller decodes.

use std::fmt;
use std::sync::Arc;

use aerolane_wire::batch::RowHeader;
use aerolane_wire::digest::Digest;
use aerolane_wire::message::{Message, MessageWriter, encode_field, encode_op, field, info1, info2, op};
use aerolane_wire::{WireError, WireResult, operation};
use aerospike_core::expressions::Expression;
use aerospike_core::{BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy};

use super::rows::{Rows, Target};
use crate::batch::{
    RowAnswer, RowPatch, RowPatches, answering_each, delete_header, frame_of_rows, patched_header, read_header,
    udf_header, write_header,
};
use crate::command::decode::{bad, failure};
use crate::command::encode::{expression, frame, read_header as message_header, too_big};
use crate::error::{Error, Result};

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

    /// None so far, with room for so many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), count: 0, once: false }
    }

    /// None so far, in the memory of a buffer.
    #[must_use]
    pub fn in_buffer(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, count: 0, once: false }
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

    /// The header for a call whose policy was changed after the shape was made, and whether the user key goes along.
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

    /// Asks for no answer of each operation, where none of them has one to give: plain writes of bins.
    #[must_use]
    pub fn answering_once(mut self) -> Self {
        if self.header.info1 == 0 && self.repeats_safely() {
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
        /// What a row has beside its fields and operations.
        const ROW: usize = 40;
        ROW + key.names().0.len() + key.user_key().len() + self.size()
    }
}

/// What became of a row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RawOutcome<'a> {
    /// Nothing: the server has left the row out.
    Pending,
    /// It succeeded with this message.
    Answered(&'a [u8]),
    /// It failed.
    Failed(&'a Error),
}

#[derive(Debug)]
enum Outcome {
    Pending,
    /// Where the message stands in the answers.
    Answered {
        at: u32,
        len: u32,
    },
    Failed(Error),
}

#[derive(Debug)]
struct Row<K> {
    key: K,
    shape: u32,
    outcome: Outcome,
}

/// The rows of a raw batch, each with its outcome after the call.
pub struct RawBatch<K> {
    shapes: Vec<RawShape>,
    rows: Vec<Row<K>>,
    /// The messages of rows that succeeded.
    answers: Vec<u8>,
}

impl<K: RawKey> RawBatch<K> {
    /// Without rows, with room for so many.
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        Self { shapes: Vec::new(), rows: Vec::with_capacity(rows), answers: Vec::new() }
    }

    /// What the rows that are added from now on do.
    pub fn shape(&mut self, shape: RawShape) {
        self.shapes.push(shape);
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Without a shape.
    #[inline]
    pub fn push(&mut self, key: K) {
        assert!(!self.shapes.is_empty(), "a row needs a shape");
        self.rows.push(Row { key, shape: self.shapes.len() as u32 - 1, outcome: Outcome::Pending });
    }

    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A row's outcome.
    ///
    /// # Panics
    /// There is no such row.
    #[must_use]
    pub fn outcome(&self, row: usize) -> RawOutcome<'_> {
        self.rows[row].outcome.of(&self.answers)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.rows.iter().map(|row| &row.key)
    }

    /// Forgets all outcomes: to carry the batch out once more.
    pub fn reset(&mut self) {
        self.answers.clear();
        self.rows.iter_mut().for_each(|row| row.outcome = Outcome::Pending);
    }

    /// The keys and their outcomes, in order.
    pub fn drain(&mut self, mut each: impl FnMut(K, RawOutcome<'_>)) {
        for row in self.rows.drain(..) {
            each(row.key, row.outcome.of(&self.answers));
        }
    }

    /// The keys and their outcomes, in order, one at a time.
    #[must_use]
    pub fn into_outcomes(self) -> RawOutcomes<K> {
        RawOutcomes { rows: self.rows.into_iter(), answers: self.answers }
    }

    /// Room for a shape of each row.
    pub(super) fn reserve_shapes(&mut self) {
        self.shapes.reserve_exact(self.rows.capacity());
    }

    /// The keys, what their rows do, and their outcomes, in order. Of a batch in which each row has a shape of its own.
    pub(super) fn into_parts(self, mut each: impl FnMut(K, RawShape, RawOutcome<'_>)) {
        for (row, shape) in self.rows.into_iter().zip(self.shapes) {
            each(row.key, shape, row.outcome.of(&self.answers));
        }
    }

    fn shape_of(&self, row: u32) -> (&Row<K>, &RawShape) {
        let row = &self.rows[row as usize];
        (row, &self.shapes[row.shape as usize])
    }
}

/// The rows of a batch that was carried out, taken one at a time.
pub struct RawOutcomes<K> {
    rows: std::vec::IntoIter<Row<K>>,
    answers: Vec<u8>,
}

impl<K> RawOutcomes<K> {
    /// How many rows are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.as_slice().is_empty()
    }

    /// What is made of the next key and its outcome; `None`: there is none.
    #[inline]
    pub fn next<R>(&mut self, made: impl FnOnce(K, RawOutcome<'_>) -> R) -> Option<R> {
        let row = self.rows.next()?;
        Some(made(row.key, row.outcome.of(&self.answers)))
    }
}

impl Outcome {
    #[inline]
    fn of<'a>(&'a self, answers: &'a [u8]) -> RawOutcome<'a> {
        match self {
            Self::Pending => RawOutcome::Pending,
            Self::Answered { at, len } => RawOutcome::Answered(&answers[*at as usize..][..*len as usize]),
            Self::Failed(error) => RawOutcome::Failed(error),
        }
    }

    /// Keeps a message.
    #[inline]
    fn keep(answers: &mut Vec<u8>, message: &[u8]) -> Result<Self> {
        let at = answers.len();
        let (Ok(from), Ok(len)) = (u32::try_from(at), u32::try_from(message.len())) else {
            return Err(Error::client_error("the answers to one batch have more than 4 GiB"));
        };
        answers.extend_from_slice(message);
        Ok(Self::Answered { at: from, len })
    }
}

/// The set among the names of a key, which are fields of a request: size, type, value.
fn set_in(mut names: &[u8]) -> String {
    while let Some((size, rest)) = names.split_first_chunk::<4>() {
        let size = u32::from_be_bytes(*size) as usize;
        match rest.get(..size).and_then(<[u8]>::split_first) {
            Some((&field::SET, set)) => return String::from_utf8_lossy(set).into_owned(),
            Some(_) => names = &rest[size..],
            None => break,
        }
    }
    String::new()
}

impl<K: RawKey> Rows for RawBatch<K> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn target<R>(&self, row: u32, take: impl FnOnce(Target<'_>) -> R) -> R {
        let (row, shape) = self.shape_of(row);
        take(Target { namespace: row.key.namespace(), digest: row.key.digest(), writes: shape.writes() })
    }

    fn has_write(&self, row: u32) -> bool {
        self.shape_of(row).1.writes()
    }

    fn set_of(&self, row: u32) -> String {
        set_in(self.shape_of(row).0.key.names().0)
    }

    fn is_pending(&self, row: u32) -> bool {
        matches!(self.rows[row as usize].outcome, Outcome::Pending)
    }

    fn begin(&mut self) {
        self.answers.clear();
    }

    #[inline]
    fn clear(&mut self, row: u32) {
        self.rows[row as usize].outcome = Outcome::Pending;
    }

    fn fail(&mut self, row: u32, error: Error) {
        self.rows[row as usize].outcome = Outcome::Failed(error);
    }

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        let error = cause.clone();
        let error = if self.has_write(row) { error } else { error.force_in_doubt(false) };
        self.fail(row, error);
    }

    fn encode(
        &self,
        (policy, patches): (&BatchPolicy, RowPatches),
        rows: &[u32],
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        frame_of_rows(policy, timeout_ms, out, |batch| {
            // Shape and names of the row before, if others may repeat it.
            let mut last = None;
            for (place, &row) in rows.iter().enumerate() {
                let (row, shape) = self.shape_of(row);
                let names = row.key.names();
                let same = (row.shape, names);
                if last == Some(same) {
                    batch.repeat(place as u32, row.key.digest())?;
                    continue;
                }
                let changed;
                let (header, send_key) = if patches.active {
                    changed = shape.patched(policy, patches);
                    (&changed.0, changed.1)
                } else {
                    (&shape.header, shape.send_key)
                };
                let user_key = if send_key { row.key.user_key() } else { &[] };
                batch.row(place as u32, row.key.digest(), header, |writer| {
                    writer.encoded_fields(names.0, names.1);
                    if !shape.filter().is_empty() {
                        writer.field(field::FILTER, shape.filter());
                    }
                    writer.encoded_fields(user_key, u32::from(!user_key.is_empty()));
                    if shape.is_udf() {
                        writer.encoded_fields(shape.udf_fields(), UDF_FIELDS);
                    }
                    writer.encoded_ops(&shape.ops.bytes, shape.ops.count);
                    WireResult::Ok(())
                })?;
                last = user_key.is_empty().then_some(same);
            }
            Ok(())
        })
    }

    fn answer(&mut self, _policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        let outcome = match answer.message()? {
            Ok(message) => Outcome::keep(&mut self.answers, message)?,
            Err(error) => Outcome::Failed(error.set_in_doubt(self.has_write(row), sent)),
        };
        self.rows[row as usize].outcome = outcome;
        Ok(())
    }

    fn fits_single(&self, row: u32) -> bool {
        // As with the rows of other callers.
        !self.shape_of(row).1.is_udf()
    }

    fn encode_single(
        &self,
        (policy, patches): (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (row, shape) = self.shape_of(row);
        let (header, send_key) =
            if patches.active { shape.patched(policy, patches) } else { (shape.header, shape.send_key) };
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
            let (names, count) = row.key.names();
            writer.encoded_fields(names, count);
            writer.field(field::DIGEST, row.key.digest());
            if send_key && !row.key.user_key().is_empty() {
                writer.encoded_fields(row.key.user_key(), 1);
            }
            if !shape.filter().is_empty() {
                writer.field(field::FILTER, shape.filter());
            }
            writer.encoded_ops(&shape.ops.bytes, shape.ops.count);
            writer.finish().map_err(too_big)
        })
    }

    fn answer_single(
        &mut self,
        _policy: &BatchPolicy,
        row: u32,
        body: &[u8],
        node: &Arc<str>,
    ) -> Result<Option<Error>> {
        let message = Message::decode(body).map_err(|e| bad(format!("the answer is no message: {e}"), node))?;
        if message.header.result_code != 0 {
            return Ok(Some(failure(&message, node)));
        }
        self.rows[row as usize].outcome = Outcome::keep(&mut self.answers, body)?;
        Ok(None)
    }
}

impl<K> fmt::Debug for RawBatch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawBatch({} rows, {} bytes of answers)", self.rows.len(), self.answers.len())
    }
}

impl<K> fmt::Debug for RawOutcomes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawOutcomes({} rows)", self.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use aerolane_wire::digest::digest;
    use aerolane_wire::particle::particle_type;
    use aerospike_core::{Bins, Key, Value, as_bin};

    use super::*;
    use crate::batch::{BatchOperation, encode};
    use crate::operations;

    struct Encoded {
        namespace: &'static str,
        digest: Digest,
        names: Vec<u8>,
        user_key: Vec<u8>,
    }

    impl RawKey for Encoded {
        fn namespace(&self) -> &str {
            self.namespace
        }

        fn digest(&self) -> &Digest {
            &self.digest
        }

        fn names(&self) -> (&[u8], u32) {
            (&self.names, 2)
        }

        fn user_key(&self) -> &[u8] {
            &self.user_key
        }
    }

    fn key(id: i64) -> Encoded {
        let names = [&[0, 0, 0, 5, field::NAMESPACE][..], b"test", &[0, 0, 0, 2, field::SET], b"s"].concat();
        let user_key = [&[0, 0, 0, 10, field::KEY, particle_type::INTEGER][..], &id.to_be_bytes()].concat();
        Encoded { namespace: "test", digest: digest(b"s", particle_type::INTEGER, &id.to_be_bytes()), names, user_key }
    }

    /// Rows of every kind, as raw and as plain ones.
    fn every_kind(batch: &BatchPolicy, flags: bool) -> (RawBatch<Encoded>, Vec<BatchOperation>) {
        let read = BatchReadPolicy::default();
        let write = BatchWritePolicy { send_key: flags, durable_delete: flags, ..BatchWritePolicy::default() };
        let delete = BatchDeletePolicy { send_key: flags, durable_delete: flags, ..BatchDeletePolicy::default() };
        let udf = BatchUdfPolicy { send_key: flags, durable_delete: flags, ..BatchUdfPolicy::default() };
        let mut ops = RawOps::default();
        let value = |out: &mut Vec<u8>| {
            out.extend_from_slice(&7_i64.to_be_bytes());
            Ok::<_, WireError>(())
        };
        ops.push(aerolane_wire::message::op::WRITE, particle_type::INTEGER, b"a", value).unwrap();
        let shapes = [
            RawShape::read(batch, &read, info1::GET_ALL, RawOps::default()),
            RawShape::write(batch, &write, 0, ops),
            RawShape::delete(batch, &delete),
            RawShape::udf(batch, &udf, ("module", "function"), &[0x91, 5]),
        ];
        let mut raw = RawBatch::with_capacity(8);
        for (id, shape) in (0..).step_by(2).zip(shapes) {
            raw.shape(shape.unwrap());
            raw.push(key(id));
            raw.push(key(id + 1));
        }
        let of = |id| Key::new("test", "s", Value::Int(id)).unwrap();
        let put = || vec![operations::put(&as_bin!("a", 7))];
        let each = |id| match id / 2 {
            0 => BatchOperation::read(&read, of(id), Bins::All),
            1 => BatchOperation::write(&write, of(id), put()),
            2 => BatchOperation::delete(&delete, of(id)),
            _ => BatchOperation::udf(&udf, of(id), "module", "function", [Value::Int(5)]),
        };
        (raw, (0..8).map(each).collect())
    }

    #[test]
    fn rows_with_a_files_settings_are_as_if_they_were_made_so() {
        let plain = BatchPolicy::default();
        let mut changed = BatchPolicy { allow_inline_ssd: true, ..BatchPolicy::default() };
        changed.base_policy.read_mode_ap = aerospike_core::ReadModeAp::All;
        changed.base_policy.read_mode_sc = aerospike_core::ReadModeSc::Linearize;
        changed.base_policy.error_detail_verbosity = 2;
        let row = RowPatch { send_key: Some(true), durable_delete: Some(true) };
        let patches = RowPatches { active: true, write: row, delete: row, udf: row };
        let ((shaped, listed), (wanted, wanted_list)) = (every_kind(&plain, false), every_kind(&changed, true));
        let encoded = |batch: &dyn Fn(&mut Vec<u8>) -> Result<()>| {
            let mut out = Vec::new();
            batch(&mut out).unwrap();
            out
        };
        let nothing = RowPatches::default();
        let all: Vec<u32> = (0..8).collect();
        let together = encoded(&|out| wanted.encode((&changed, nothing), &all, 9, out));
        assert_eq!(encoded(&|out| shaped.encode((&changed, patches), &all, 9, out)), together);
        assert_eq!(encoded(&|out| wanted_list.encode((&changed, nothing), &all, 9, out)), together);
        assert_eq!(encoded(&|out| listed.encode((&changed, patches), &all, 9, out)), together);
        assert_ne!(encoded(&|out| listed.encode((&plain, nothing), &all, 9, out)), together);
        for alone in (0..8).filter(|row| shaped.fits_single(*row)) {
            let single = encoded(&|out| wanted.encode_single((&changed, nothing), alone, 9, out));
            assert_eq!(encoded(&|out| shaped.encode_single((&changed, patches), alone, 9, out)), single);
            let single = encoded(&|out| wanted_list.encode_single((&changed, nothing), alone, 9, out));
            assert_eq!(encoded(&|out| listed.encode_single((&changed, patches), alone, 9, out)), single);
        }
        // What a file takes back is not sent, either.
        let none = RowPatch { send_key: Some(false), durable_delete: Some(false) };
        let patches = RowPatches { active: true, write: none, delete: none, udf: none };
        let (without, _) = every_kind(&plain, false);
        let together = encoded(&|out| without.encode((&plain, nothing), &all, 9, out));
        assert_eq!(encoded(&|out| wanted.encode((&plain, patches), &all, 9, out)), together);
        assert_eq!(encoded(&|out| wanted_list.encode((&plain, patches), &all, 9, out)), together);
    }

    #[test]
    fn requests_are_those_of_plain_rows() {
        let batch = BatchPolicy::default();
        let write = BatchWritePolicy { send_key: true, generation: 3, ..BatchWritePolicy::default() };
        let (read, delete) = (BatchReadPolicy::default(), BatchDeletePolicy::default());
        let mut raw = RawBatch::with_capacity(0);
        let mut plain = Vec::new();
        let plain_key = |id| Key::new("test", "s", Value::Int(id)).unwrap();
        raw.shape(RawShape::read(&batch, &read, info1::GET_ALL, RawOps::default()).unwrap());
        for id in 0..3 {
            raw.push(key(id));
            plain.push(BatchOperation::read(&read, plain_key(id), Bins::All));
        }
        for id in 3..5 {
            let mut ops = RawOps::default();
            let value = |out: &mut Vec<u8>| {
                out.extend_from_slice(&7_i64.to_be_bytes());
                Ok::<_, WireError>(())
            };
            ops.push(aerolane_wire::message::op::WRITE, particle_type::INTEGER, b"a", value).unwrap();
            raw.shape(RawShape::write(&batch, &write, 0, ops).unwrap());
            raw.push(key(id));
            plain.push(BatchOperation::write(&write, plain_key(id), [operations::put(&as_bin!("a", 7))]));
        }
        raw.shape(RawShape::delete(&batch, &delete).unwrap());
        for id in 5..7 {
            raw.push(key(id));
            plain.push(BatchOperation::delete(&delete, plain_key(id)));
        }
        let udf = BatchUdfPolicy { send_key: true, durable_delete: true, ..BatchUdfPolicy::default() };
        // A list of one integer.
        raw.shape(RawShape::udf(&batch, &udf, ("module", "function"), &[0x91, 5]).unwrap());
        for id in 7..9 {
            raw.push(key(id));
            plain.push(BatchOperation::udf(&udf, plain_key(id), "module", "function", [Value::Int(5)]));
        }
        let (mut expected, mut request) = (Vec::new(), Vec::new());
        for rows in [&[0_u32, 1, 2, 3, 4, 5, 6, 7, 8][..], &[6, 4, 8, 2, 0, 1]] {
            encode(&batch, &plain, rows, 1000, &mut expected).unwrap();
            raw.encode((&batch, RowPatches::default()), rows, 1000, &mut request).unwrap();
            assert_eq!(request, expected);
        }
    }
}
