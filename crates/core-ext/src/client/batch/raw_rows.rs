//! Rows that the caller has encoded, and whose answers the caller decodes.

use std::fmt;
use std::sync::Arc;

use aerolane_wire::WireResult;
use aerolane_wire::message::{Message, MessageHeader, field};
use aerospike_core::BatchPolicy;

use super::raw_shape::{RawKey, RawShape, RowParts};
use super::rows::{Rows, Target};
use crate::batch::{RowAnswer, RowPatches, frame_of_rows};
use crate::command::decode::{bad, failure};
use crate::error::{Error, Result};

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

impl<K: RawKey> Row<K> {
    #[inline]
    fn parts<'a>(&'a self, shape: &'a RawShape) -> RowParts<'a> {
        let Self { key, .. } = self;
        RowParts { digest: key.digest(), names: key.names(), user_key: key.user_key(), ops: shape.ops() }
    }
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

/// The header of the answer to a row that went as a plain command, or the server's failure.
pub(super) fn single_answer(body: &[u8], node: &Arc<str>) -> Result<std::result::Result<MessageHeader, Error>> {
    let message = Message::decode(body).map_err(|e| bad(format!("the answer is no message: {e}"), node))?;
    Ok(if message.header.result_code == 0 { Ok(message.header) } else { Err(failure(&message, node)) })
}

/// The set among the names of a key, which are fields of a request: size, type, value.
pub(super) fn set_in(mut names: &[u8]) -> String {
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
                let parts = row.parts(shape);
                let same = (row.shape, parts.names);
                if last == Some(same) {
                    batch.repeat(place as u32, parts.digest)?;
                    continue;
                }
                let (header, send_key) = shape.header_of(policy, patches);
                batch.row(place as u32, parts.digest, &header, |writer| {
                    shape.write_row(&parts, send_key, writer);
                    WireResult::Ok(())
                })?;
                last = (!send_key || parts.user_key.is_empty()).then_some(same);
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
        self.shape_of(row).1.fits_single()
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (row, shape) = self.shape_of(row);
        shape.encode_single(&row.parts(shape), how, timeout_ms, out)
    }

    fn answer_single(
        &mut self,
        _policy: &BatchPolicy,
        row: u32,
        body: &[u8],
        node: &Arc<str>,
    ) -> Result<Option<Error>> {
        if let Err(error) = single_answer(body, node)? {
            return Ok(Some(error));
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
    use aerolane_wire::WireError;
    use aerolane_wire::digest::{Digest, digest};
    use aerolane_wire::message::info1;
    use aerolane_wire::particle::particle_type;
    use aerospike_core::{
        BatchDeletePolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, Bins, Key, Value, as_bin,
    };

    use super::super::raw_shape::RawOps;
    use super::*;
    use crate::batch::{BatchOperation, RowPatch, encode};
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
