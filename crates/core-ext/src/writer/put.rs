//! Puts that the caller has encoded, of records of one set by one policy: they become rows of blocks.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aerolane_wire::digest::Digest;

use super::block::{OwnedBlock, RowOwner};
use super::core::{NewRow, Opener};
use super::driver::{Inner, WriterKey};
use super::outcome::Outcome;
use super::outcome_list::NewOutcome;
use super::raw::RawWriter;
use super::row_outcomes::RowOutcomes;
use crate::client::{Block, BlockShape, RawKey, RawOps, RawShape};
use crate::clock;
use crate::error::Result;

/// Makes a key of a digest and of a user key, as a field of a request. It is called while the writer is locked, and must not call
/// it.
pub type MakeKey<K> = Box<dyn Fn(&Digest, &[u8]) -> K + Send + Sync>;

/// What puts of one set by one policy have in common.
pub(super) struct PutShape<K> {
    shape: Arc<BlockShape>,
    key: MakeKey<K>,
}

impl<K: WriterKey> PutShape<K> {
    pub(super) fn key(&self, rows: &Block, row: usize) -> K {
        (self.key)(&rows.digests()[row], rows.key(row).1)
    }
}

/// The sets and policies that the first puts of a writer had: most have no others.
pub struct PutShapes<K>([OnceLock<Arc<PutShape<K>>>; 4]);

impl<K> Default for PutShapes<K> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<K: WriterKey> PutShapes<K> {
    /// Hands a put over that can go as a row among others, if there is room: for less than a record costs. `Err`: it is to be
    /// handed over as a record that does this, since it would go alone, has to wait for another one of its key, has none of these
    /// sets and policies, or there is no room.
    ///
    /// `template`: what it does apart from `ops`, which write bins and do nothing else. `make_key`: for keys of its set.
    ///
    /// # Errors
    /// As [`RawWriter::try_hand_over`].
    pub fn put(
        &self,
        writer: &RawWriter<K>,
        template: &RawShape,
        key: &impl RawKey,
        ops: RawOps,
        make_key: impl Fn() -> MakeKey<K>,
    ) -> Result<std::result::Result<Outcome<K>, RawShape>> {
        let mut row = None;
        if let Some(shape) = self.find(template, key, make_key) {
            let made = &mut |outcome: NewOutcome<'_, K>| row = Some(outcome.into());
            writer.inner().try_puts(shape, std::iter::once(Put::of(key, &ops)), made)?;
        }
        let handed = row.ok_or_else(|| template.with_ops(ops.clone()));
        ops.keep_buffer();
        Ok(handed)
    }

    /// Hands the puts of a queue over, in order, as long as they are of one set; `made` hears of each one. It is called while the
    /// writer is locked, and must not call it. Returns the first one for which there is no room: it has left the queue, and is to
    /// be handed over before the rest.
    ///
    /// # Errors
    /// As [`RawWriter::try_hand_over`]. What is in the queue then is not to be handed over.
    pub fn put_all(
        &self,
        writer: &RawWriter<K>,
        template: &RawShape,
        queue: &mut PutQueue<K>,
        make_key: impl Fn(&K) -> MakeKey<K>,
        made: &mut impl FnMut(NewOutcome<'_, K>),
    ) -> Result<Option<(K, RawShape)>> {
        let Some(first) = queue.first() else { return Ok(None) };
        let shape = self.find(template, first, || make_key(first));
        let mut left = queue.of_one_set();
        while left > 0 {
            if let Some(shape) = shape {
                let puts = queue.puts.iter().take(left).map(|(key, ops)| Put::of(key, ops));
                let rows = writer.inner().try_puts(shape, puts, made)?;
                queue.drop_first(rows);
                left -= rows;
            }
            if left > 0
                && let Some((key, ops)) = queue.pop()
            {
                left -= 1;
                match writer.try_hand_over(key, template.with_ops(ops))? {
                    Ok(outcome) => made(outcome.into()),
                    Err(full) => return Ok(Some(full)),
                }
            }
        }
        Ok(None)
    }

    fn find(
        &self,
        template: &RawShape,
        key: &impl RawKey,
        make_key: impl Fn() -> MakeKey<K>,
    ) -> Option<&Arc<PutShape<K>>> {
        if !template.suits_many() {
            return None;
        }
        let names = key.names();
        let make = || {
            let shape = Arc::new(BlockShape::new(template.clone(), key.namespace(), names));
            Arc::new(PutShape { shape, key: make_key() })
        };
        let mut first = self.0.iter().map(|place| place.get_or_init(make));
        first.find(|shape| shape.shape.is_of(template, names))
    }
}

impl<K> fmt::Debug for PutShapes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().filter_map(OnceLock::get).map(|shape| &shape.shape)).finish()
    }
}

/// Puts that are about to be handed over: of one set by one policy, except that the last one can have another set.
pub struct PutQueue<K> {
    puts: VecDeque<(K, RawOps)>,
    bytes: usize,
    buffers: Vec<Vec<u8>>,
}

impl<K> Default for PutQueue<K> {
    fn default() -> Self {
        Self { puts: VecDeque::new(), bytes: 0, buffers: Vec::new() }
    }
}

impl<K> fmt::Debug for PutQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutQueue").field("puts", &self.puts.len()).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<K: RawKey> PutQueue<K> {
    /// No operations so far, in memory that puts before have used.
    pub fn ops(&mut self) -> RawOps {
        RawOps::in_buffer(self.buffers.pop().unwrap_or_default())
    }

    /// Adds a put: `ops` write bins and do nothing else.
    pub fn push(&mut self, key: K, ops: RawOps) {
        self.bytes += ops.size();
        self.puts.push_back((key, ops));
    }

    /// The key of the first one.
    #[must_use]
    pub fn first(&self) -> Option<&K> {
        self.puts.front().map(|(key, _)| key)
    }

    /// Whether to hand them over before another one is added: they are many, or the last one is of another set.
    #[must_use]
    pub fn is_full(&self) -> bool {
        /// Handed over at a time, and about as many bytes.
        const MOST: (usize, usize) = (32, 1 << 16);
        self.puts.len() >= MOST.0 || self.bytes >= MOST.1 || self.of_one_set() < self.puts.len()
    }

    /// How many stand at the front that have one set. Only the last one can have another.
    fn of_one_set(&self) -> usize {
        match (self.puts.front(), self.puts.back()) {
            (Some((first, _)), Some((last, _))) if first.names() != last.names() => self.puts.len() - 1,
            _ => self.puts.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.puts.is_empty()
    }

    fn pop(&mut self) -> Option<(K, RawOps)> {
        let (key, ops) = self.puts.pop_front()?;
        self.bytes -= ops.size();
        Some((key, ops))
    }

    fn drop_first(&mut self, count: usize) {
        /// The largest memory that is used again.
        const MOST: usize = 1 << 14;
        for (_, ops) in self.puts.drain(..count) {
            self.bytes -= ops.size();
            let buffer = ops.into_buffer();
            if buffer.capacity() <= MOST {
                self.buffers.push(buffer);
            }
        }
    }
}

/// A put.
#[derive(Clone, Copy)]
pub(super) struct Put<'a> {
    digest: &'a Digest,
    user_key: &'a [u8],
    ops: &'a RawOps,
}

impl<'a> Put<'a> {
    fn of(key: &'a impl RawKey, ops: &'a RawOps) -> Self {
        Self { digest: key.digest(), user_key: key.user_key(), ops }
    }

    fn is_row(&self) -> bool {
        self.ops.repeat_safely() && !self.ops.is_empty()
    }
}

/// Adds a put to a block.
struct PutOpener<'a, K: WriterKey, F> {
    writer: &'a Arc<Inner<K>>,
    shape: &'a Arc<PutShape<K>>,
    put: Put<'a>,
    /// Hears of its outcome.
    made: &'a mut F,
}

impl<K: WriterKey, F: FnMut(NewOutcome<'_, K>)> Opener<OwnedBlock<K>> for PutOpener<'_, K, F> {
    fn fits(&self, block: &OwnedBlock<K>) -> bool {
        matches!(&block.owner, RowOwner::Outcomes(outcomes) if Arc::ptr_eq(&outcomes.shape, self.shape))
    }

    fn open(&self, first: u64, node: u16, room: usize) -> OwnedBlock<K> {
        /// What the bins of a block may take at first, however large those of its first row are.
        const MOST_BYTES: usize = 1 << 18;
        let bytes = (room * self.put.ops.size()).min(self.writer.options().batch_bytes).min(MOST_BYTES);
        let outcomes = RowOutcomes::new(Arc::downgrade(self.writer), first, node, Arc::clone(self.shape));
        let rows = Block::new(Arc::clone(&self.shape.shape), room, bytes);
        OwnedBlock::new(rows, RowOwner::Outcomes(outcomes))
    }

    fn add(self, block: &mut OwnedBlock<K>, sequence: u64, after: Duration) {
        let Put { digest, user_key, ops } = self.put;
        let Some(rows) = block.open_rows() else { return };
        rows.push_encoded((sequence, after), *digest, user_key, ops);
        let row = rows.len() as u32 - 1;
        if let RowOwner::Outcomes(outcomes) = &block.owner {
            (self.made)(NewOutcome::row(outcomes, row));
        }
    }
}

impl<K: WriterKey> Inner<K> {
    /// Hands puts over that can be rows, and says how many: up to the first one that is to be handed over as a record, since
    /// there is no room at the moment, it would go alone, or it has to wait for another one of its key.
    ///
    /// # Errors
    /// The client is closed, or the cluster has no such namespace.
    pub(super) fn try_puts<'a>(
        self: &Arc<Self>,
        shape: &Arc<PutShape<K>>,
        puts: impl Iterator<Item = Put<'a>> + Clone,
        made: &mut impl FnMut(NewOutcome<'_, K>),
    ) -> Result<usize> {
        let namespace = shape.shape.namespace();
        let map = self.check(namespace)?;
        if self.records.is_all_free() {
            // Nothing is outstanding: the first one would go alone.
            return Ok(0);
        }
        let size = |put: &Put<'_>| shape.shape.row_size(put.user_key.len(), put.ops.size());
        let puts = puts.take_while(Put::is_row).take(self.records.free());
        let (mut count, mut bytes, most) = (0, 0, self.bytes.available_permits());
        for put in puts.clone() {
            let more = size(&put);
            if count > 0 && bytes + more > most {
                break;
            }
            count += 1;
            bytes += more;
        }
        let Some(mut room) = self.try_room(count, bytes)? else { return Ok(0) };
        let mut state = self.state.lock();
        if state.closed {
            return Ok(0);
        }
        let now = clock::now();
        let mut rows = 0;
        for put in puts.take(count) {
            let bytes = size(&put);
            let row = NewRow { namespace, digest: put.digest, bytes };
            let opener = PutOpener { writer: self, shape, put, made: &mut *made };
            if !state.core.push_row(row, opener, now, &**map) {
                break;
            }
            room.keep_for(self.room_of(bytes) as usize);
            rows += 1;
        }
        self.pushed(state, now, None);
        Ok(rows)
    }
}
