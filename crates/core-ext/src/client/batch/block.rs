//! Rows that all do the same to records of one set, side by side in memory: for requests by the million.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use aerolane_wire::digest::{DIGEST_SIZE, Digest};
use aerolane_wire::message::{MessageHeader, encode_op, op};
use aerolane_wire::particle::particle_type;
use aerolane_wire::{WireError, WireResult};
use aerospike_core::BatchPolicy;

use super::on_lane::run_by;
use super::raw_rows::{set_in, single_answer};
use super::raw_shape::{RawOps, RawShape, RowParts};
use super::rows::{Rows, Target};
use crate::batch::{RowAnswer, RowPatches, frame_of_rows};
use crate::client::asynchronous::Shared;
use crate::driver::lane_ref::LaneRef;
use crate::error::{Error, Result};

/// What the rows of blocks have in common.
#[derive(Debug)]
pub struct BlockShape {
    shape: RawShape,
    namespace: Box<str>,
    /// Namespace and set as fields of a request, and how many these are.
    names: Box<[u8]>,
    names_count: u32,
}

impl BlockShape {
    /// `shape`: what each row does, without operations. `names`: namespace and set as fields of a request (size, type,
    /// value), and how many these are.
    #[must_use]
    pub fn new(shape: RawShape, namespace: &str, (names, names_count): (&[u8], u32)) -> Self {
        Self { shape, namespace: namespace.into(), names: names.into(), names_count }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether rows that do this to records of a set of these names are rows of this kind.
    pub(crate) fn is_of(&self, template: &RawShape, names: (&[u8], u32)) -> bool {
        names == (&*self.names, self.names_count) && self.shape.is_like(template)
    }

    /// How many bytes of a batch a row takes, about, whose user key and operations take so many.
    pub(crate) fn row_size(&self, user_key: usize, ops: usize) -> usize {
        self.shape.row_size_of(self.names.len() + user_key + ops)
    }
}

/// A row: where it stands in the bytes of its block.
#[derive(Debug, Clone, Copy)]
struct BlockRow {
    /// What the caller calls it.
    number: u64,
    /// How long after the first one it was added, in nanoseconds.
    after: u32,
    /// Its user key as a field, if it has one.
    key: u32,
    key_end: u32,
    ops: u32,
    ops_end: u32,
    ops_count: u32,
}

impl BlockRow {
    const fn key(&self) -> Range<usize> {
        self.key as usize..self.key_end as usize
    }

    const fn ops(&self) -> Range<usize> {
        self.ops as usize..self.ops_end as usize
    }
}

/// Rows of one request.
#[derive(Debug)]
pub(crate) struct Block {
    shape: Arc<BlockShape>,
    digests: Vec<Digest>,
    rows: Vec<BlockRow>,
    keys: Vec<u8>,
    ops: Vec<u8>,
}

/// The operations of a row that is being written.
#[derive(Debug)]
pub struct BlockOps<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    count: u32,
}

impl BlockOps<'_> {
    /// Writes a bin: `value` appends the value's bytes and gives its particle type. A bin without a value is removed.
    ///
    /// # Errors
    /// That of `value`, or that the bin's name has more than 255 bytes. Nothing is appended then.
    pub fn write<E: From<WireError>>(
        &mut self,
        name: &[u8],
        value: impl FnOnce(&mut Vec<u8>) -> std::result::Result<u8, E>,
    ) -> std::result::Result<(), E> {
        let start = self.bytes.len();
        let written = encode_op(self.bytes, op::WRITE, particle_type::NIL, name, |out| {
            let kind = value(out)?;
            // Behind the size and the kind of operation.
            out[start + 5] = kind;
            Ok(())
        });
        match written {
            Ok(()) => self.count += 1,
            Err(_) => self.bytes.truncate(start),
        }
        written
    }

    /// How many bytes of a request they take so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count as usize
    }
}

impl Block {
    /// Without rows, with room for so many and for so many bytes of operations.
    pub(crate) fn new(shape: Arc<BlockShape>, rows: usize, ops: usize) -> Self {
        /// What the user key takes that is an integer.
        const KEY: usize = 14;
        Self {
            shape,
            digests: Vec::with_capacity(rows),
            rows: Vec::with_capacity(rows),
            keys: Vec::with_capacity(rows * KEY),
            ops: Vec::with_capacity(ops),
        }
    }

    /// Adds a row that writes what `ops` writes; none if that is nothing, or fails. `user_key`: as a field of a request.
    /// Gives the number of operations.
    pub(crate) fn push<E>(
        &mut self,
        number: u64,
        digest: Digest,
        user_key: &[u8],
        ops: impl FnOnce(&mut BlockOps<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<usize, E> {
        let start = self.ops.len();
        let mut writer = BlockOps { bytes: &mut self.ops, start, count: 0 };
        let written = ops(&mut writer);
        let ops_count = writer.count;
        if written.is_err() || ops_count == 0 {
            self.ops.truncate(start);
            return written.map(|()| 0);
        }
        self.add((number, Duration::ZERO), digest, user_key, (start, ops_count));
        Ok(ops_count as usize)
    }

    /// Adds a row with these operations, so long after the first one.
    pub(crate) fn push_encoded(
        &mut self,
        (number, after): (u64, Duration),
        digest: Digest,
        user_key: &[u8],
        ops: &RawOps,
    ) {
        let (bytes, count) = ops.encoded();
        let start = self.ops.len();
        self.ops.extend_from_slice(bytes);
        self.add((number, after), digest, user_key, (start, count));
    }

    /// Adds a row whose operations are there already.
    fn add(&mut self, row: (u64, Duration), digest: Digest, user_key: &[u8], (ops, ops_count): (usize, u32)) {
        let ((number, after), key) = (row, self.keys.len() as u32);
        self.keys.extend_from_slice(user_key);
        self.rows.push(BlockRow {
            number,
            after: u32::try_from(after.as_nanos()).unwrap_or(u32::MAX),
            key,
            key_end: self.keys.len() as u32,
            ops: ops as u32,
            ops_end: self.ops.len() as u32,
            ops_count,
        });
        self.digests.push(digest);
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many bytes of operations it has.
    pub(crate) fn size(&self) -> usize {
        self.ops.len()
    }

    pub(crate) fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// The number of a row and its user key, as a field of a request.
    pub(crate) fn key(&self, row: usize) -> (u64, &[u8]) {
        let row = &self.rows[row];
        (row.number, &self.keys[row.key()])
    }

    /// How long after the first row a row was added.
    pub(crate) fn after(&self, row: usize) -> Duration {
        Duration::from_nanos(self.rows[row].after.into())
    }

    /// What a row does, apart from the others.
    pub(crate) fn shape(&self, row: usize) -> RawShape {
        let row = &self.rows[row];
        self.shape.shape.with_ops(RawOps::of_writes(self.ops[row.ops()].to_vec(), row.ops_count))
    }

    /// How many bytes of a batch a row takes, about.
    pub(crate) fn row_size(&self, row: usize) -> usize {
        let row = &self.rows[row];
        self.shape.row_size(row.key().len(), row.ops().len())
    }

    /// The last row as a block of its own; none if there is no other.
    pub(crate) fn split_last(&mut self) -> Option<Self> {
        if self.len() < 2 {
            return None;
        }
        let (digest, row) = (self.digests.pop()?, self.rows.pop()?);
        let (keys, ops) = (self.keys.split_off(row.key as usize), self.ops.split_off(row.ops as usize));
        let row = BlockRow { key: 0, key_end: row.key_end - row.key, ops: 0, ops_end: row.ops_end - row.ops, ..row };
        Some(Self { shape: Arc::clone(&self.shape), digests: vec![digest], rows: vec![row], keys, ops })
    }

    /// Takes rows out, whose places are given in order.
    pub(crate) fn remove(&mut self, rows: &[usize]) {
        let mut gone = rows.iter().copied().peekable();
        let mut stays = (0..self.rows.len()).map(|row| gone.next_if_eq(&row).is_none()).collect::<Vec<_>>().into_iter();
        let mut digests = stays.clone();
        self.rows.retain(|_| stays.next().unwrap_or(true));
        self.digests.retain(|_| digests.next().unwrap_or(true));
    }

    /// Forgets the operations, once they are not needed any more: keys stay, in no more memory than they take.
    pub(crate) fn forget_ops(&mut self) {
        self.ops = Vec::new();
        self.keys.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.digests.shrink_to_fit();
    }

    fn parts(&self, row: u32) -> RowParts<'_> {
        let place = &self.rows[row as usize];
        RowParts {
            digest: &self.digests[row as usize],
            names: (&self.shape.names, self.shape.names_count),
            user_key: &self.keys[place.key()],
            ops: (&self.ops[place.ops()], place.ops_count),
        }
    }
}

/// What became of a row.
#[derive(Debug, Clone, Copy)]
enum End {
    Pending,
    /// The record has this generation and expires then.
    Ok {
        generation: u32,
        expiration: u32,
    },
    /// Place among the failures.
    Failed(u32),
}

/// What became of the rows of a block.
#[derive(Debug)]
pub(crate) struct BlockAnswers {
    ends: Vec<End>,
    failures: Vec<(Error, Option<Arc<str>>)>,
    /// Who has answered last, and mostly everything.
    node: Option<Arc<str>>,
}

/// A block that is sent, once, and what became of its rows.
pub(crate) struct SentBlock<B> {
    block: Arc<B>,
    answers: BlockAnswers,
}

/// The outcome of a row.
#[derive(Debug)]
pub(crate) enum BlockOutcome<'a> {
    /// The server has left it out, or there was no answer.
    Pending,
    /// Generation and expiration of the record.
    Ok(u32, u32),
    Failed(&'a Error),
}

impl BlockAnswers {
    /// What became of a row, and who said so.
    #[inline]
    pub(crate) fn outcome(&self, row: usize) -> (BlockOutcome<'_>, Option<&Arc<str>>) {
        match self.ends[row] {
            End::Pending => (BlockOutcome::Pending, None),
            End::Ok { generation, expiration } => (BlockOutcome::Ok(generation, expiration), self.node.as_ref()),
            End::Failed(place) => {
                let (error, node) = &self.failures[place as usize];
                (BlockOutcome::Failed(error), node.as_ref())
            }
        }
    }
}

impl<B: AsRef<Block> + Send + Sync> SentBlock<B> {
    pub(crate) fn new(block: Arc<B>) -> Self {
        let ends = vec![End::Pending; (*block).as_ref().len()];
        Self { block, answers: BlockAnswers { ends, failures: Vec::new(), node: None } }
    }

    /// Carries the rows out on the calling task's lane, by exactly this policy.
    pub(crate) async fn write(&mut self, shared: &Shared, policy: &BatchPolicy) -> Result<()> {
        let lane = shared.lanes.caller_lane()?;
        let nobody = None::<fn(usize, &Self) -> std::future::Ready<bool>>;
        run_by(&shared.cluster, LaneRef::Tasks(&lane), policy, self, nobody).await
    }

    /// What became of the rows.
    pub(crate) fn into_answers(self) -> BlockAnswers {
        self.answers
    }

    fn block(&self) -> &Block {
        (*self.block).as_ref()
    }

    fn fail_by(&mut self, row: u32, error: Error, node: Option<Arc<str>>) {
        self.answers.ends[row as usize] = End::Failed(self.answers.failures.len() as u32);
        self.answers.failures.push((error, node));
    }

    fn confirm(&mut self, row: u32, header: MessageHeader, node: &Arc<str>) {
        self.answers.ends[row as usize] = End::Ok { generation: header.generation, expiration: header.record_ttl };
        if self.answers.node.as_ref().is_none_or(|before| !Arc::ptr_eq(before, node)) {
            self.answers.node = Some(Arc::clone(node));
        }
    }
}

impl<B: AsRef<Block> + Send + Sync> Rows for SentBlock<B> {
    fn count(&self) -> usize {
        self.block().len()
    }

    #[inline]
    fn target<R>(&self, row: u32, take: impl FnOnce(Target<'_>) -> R) -> R {
        let Block { shape, digests, .. } = self.block();
        take(Target { namespace: &shape.namespace, digest: &digests[row as usize], writes: true })
    }

    fn has_write(&self, _row: u32) -> bool {
        true
    }

    fn set_of(&self, _row: u32) -> String {
        set_in(&self.block().shape.names)
    }

    fn is_pending(&self, row: u32) -> bool {
        matches!(self.answers.ends[row as usize], End::Pending)
    }

    fn begin(&mut self) {
        self.answers.failures.clear();
    }

    #[inline]
    fn clear(&mut self, row: u32) {
        self.answers.ends[row as usize] = End::Pending;
    }

    fn fail(&mut self, row: u32, error: Error) {
        self.fail_by(row, error, None);
    }

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        self.fail_by(row, cause.clone(), None);
    }

    fn encode(
        &self,
        (policy, patches): (&BatchPolicy, RowPatches),
        rows: &[u32],
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let block = self.block();
        // In one go: it would be moved a dozen times while it grows.
        let beside = 22 + DIGEST_SIZE + block.shape.names.len();
        out.reserve(block.keys.len() + block.ops.len() + rows.len() * beside);
        frame_of_rows(policy, timeout_ms, out, |batch| {
            let shape = &block.shape.shape;
            let (header, send_key) = shape.header_of(policy, patches);
            for (place, &row) in rows.iter().enumerate() {
                let parts = block.parts(row);
                batch.row(place as u32, parts.digest, &header, |writer| {
                    shape.write_row(&parts, send_key, writer);
                    WireResult::Ok(())
                })?;
            }
            Ok(())
        })
    }

    #[inline]
    fn answer(&mut self, _policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        let header = answer.header();
        match answer.message()? {
            Ok(_) => self.confirm(row, header, answer.node()),
            Err(error) => {
                let node = Arc::clone(answer.node());
                self.fail_by(row, error.set_in_doubt(true, sent), Some(node));
            }
        }
        Ok(())
    }

    fn are_paced(&self) -> bool {
        true
    }

    fn fits_single(&self, _row: u32) -> bool {
        true
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.block().shape.shape.encode_single(&self.block().parts(row), how, timeout_ms, out)
    }

    fn answer_single(
        &mut self,
        _policy: &BatchPolicy,
        row: u32,
        body: &[u8],
        node: &Arc<str>,
    ) -> Result<Option<Error>> {
        match single_answer(body, node)? {
            Ok(header) => self.confirm(row, header, node),
            Err(error) => return Ok(Some(error)),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use aerolane_wire::digest::digest;
    use aerolane_wire::message::field;
    use aerospike_core::BatchWritePolicy;
    use aerospike_core::expressions::{eq, int_bin, int_val};

    use super::super::raw_rows::RawBatch;
    use super::super::raw_shape::RawKey;
    use super::*;

    const NAMES: &[u8] = &[0, 0, 0, 5, field::NAMESPACE, b't', b'e', b's', b't', 0, 0, 0, 2, field::SET, b's'];

    struct Id(Digest, Vec<u8>);

    impl Id {
        fn new(id: i64) -> Self {
            let user_key = [&[0, 0, 0, 10, field::KEY, particle_type::INTEGER][..], &id.to_be_bytes()].concat();
            Self(digest(b"s", particle_type::INTEGER, &id.to_be_bytes()), user_key)
        }
    }

    impl RawKey for Id {
        fn namespace(&self) -> &'static str {
            "test"
        }

        fn digest(&self) -> &Digest {
            &self.0
        }

        fn names(&self) -> (&[u8], u32) {
            (NAMES, 2)
        }

        fn user_key(&self) -> &[u8] {
            &self.1
        }
    }

    impl AsRef<Self> for Block {
        fn as_ref(&self) -> &Self {
            self
        }
    }

    fn value(id: i64) -> impl Fn(&mut Vec<u8>) -> WireResult<u8> {
        move |out| {
            out.extend_from_slice(&id.to_be_bytes());
            Ok(particle_type::INTEGER)
        }
    }

    /// A row of a number and a bin that goes.
    fn write(ops: &mut BlockOps<'_>, id: i64) -> WireResult<()> {
        ops.write(b"n", value(id))?;
        ops.write(b"gone", |_| Ok(particle_type::NIL))
    }

    fn block(shape: &RawShape, ids: impl IntoIterator<Item = i64>) -> Block {
        let mut block = Block::new(Arc::new(BlockShape::new(shape.clone(), "test", (NAMES, 2))), 4, 0);
        for id in ids {
            let key = Id::new(id);
            assert_eq!(block.push(id as u64, key.0, &key.1, |ops| write(ops, id)), Ok(2));
        }
        block
    }

    fn shapes() -> [RawShape; 2] {
        let filtered = BatchWritePolicy {
            send_key: true,
            filter_expression: Some(eq(int_bin("n"), int_val(1))),
            ..BatchWritePolicy::default()
        };
        [BatchWritePolicy::default(), filtered]
            .map(|row| RawShape::write(&BatchPolicy::default(), &row, 0, RawOps::default()).unwrap())
    }

    #[test]
    fn requests_are_those_of_single_rows() {
        let how = (&BatchPolicy::default(), RowPatches::default());
        for shape in shapes() {
            let sent = SentBlock::new(Arc::new(block(&shape, 0..9)));
            let mut single = RawBatch::with_capacity(9);
            for id in 0..9 {
                single.shape(sent.block.shape(id));
                single.push(Id::new(id as i64));
                assert_eq!(sent.block.key(id), (id as u64, &*Id::new(id as i64).1));
                assert_eq!(sent.block.row_size(id), sent.block.shape(id).row_size(&Id::new(id as i64)));
            }
            for rows in [&[0, 1, 2, 3, 4, 5, 6, 7, 8][..], &[8, 3, 5]] {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                sent.encode(how, rows, 1000, &mut one).unwrap();
                single.encode(how, rows, 1000, &mut other).unwrap();
                assert_eq!(one, other);
            }
            let (mut one, mut other) = (Vec::new(), Vec::new());
            sent.encode_single(how, 7, 1000, &mut one).unwrap();
            single.encode_single(how, 7, 1000, &mut other).unwrap();
            assert_eq!(one, other);
        }
    }

    #[test]
    fn a_row_that_fails_or_is_empty_leaves_nothing() {
        let [shape, _] = shapes();
        let mut of_two = block(&shape, [1]);
        let key = Id::new(2);
        let failing = |ops: &mut BlockOps<'_>| {
            ops.write(b"n", value(2))?;
            assert_eq!((ops.count(), ops.size()), (1, 17));
            ops.write(b"m", |out| {
                out.push(1);
                Err(WireError::invalid("on purpose", 0))
            })
        };
        assert!(of_two.push(2, key.0, &key.1, failing).is_err());
        assert_eq!(of_two.push(2, key.0, &key.1, |_| WireResult::Ok(())), Ok(0));
        let key = Id::new(3);
        assert_eq!(of_two.push(3, key.0, &key.1, |ops| write(ops, 3)), Ok(2));
        let expected = block(&shape, [1, 3]);
        assert_eq!((of_two.keys, of_two.ops, of_two.digests), (expected.keys, expected.ops, expected.digests));
    }

    #[test]
    fn the_last_row_becomes_a_block() {
        let [shape, _] = shapes();
        let mut some = block(&shape, 0..3);
        let last = some.split_last().unwrap();
        for (is, expected) in [(&some, block(&shape, 0..2)), (&last, block(&shape, 2..3))] {
            assert_eq!((&is.keys, &is.ops, &is.digests), (&expected.keys, &expected.ops, &expected.digests));
            assert_eq!((is.key(0), is.row_size(0)), (expected.key(0), expected.row_size(0)));
        }
        assert!(block(&shape, 0..1).split_last().is_none());
    }

    #[test]
    fn rows_are_taken_out() {
        let [shape, _] = shapes();
        let mut some = block(&shape, 0..6);
        some.remove(&[0, 3, 5]);
        let numbers: Vec<_> = (0..some.len()).map(|row| some.key(row).0).collect();
        assert_eq!(numbers, [1, 2, 4]);
        let digests: Vec<_> = [1, 2, 4].map(|id| Id::new(id).0).into();
        assert_eq!(some.digests(), digests);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let how = (&BatchPolicy::default(), RowPatches::default());
        SentBlock::new(Arc::new(some)).encode(how, &[0, 1, 2], 9, &mut one).unwrap();
        SentBlock::new(Arc::new(block(&shape, [1, 2, 4]))).encode(how, &[0, 1, 2], 9, &mut other).unwrap();
        assert_eq!(one, other);
    }
}
