//! Puts that the caller has encoded, of records of one set by one policy: they become rows of blocks.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aerolane_wire::digest::Digest;

use super::block::{OwnedBlock, RowOwner};
use super::core::{NewRow, Opener};
use super::driver::{Inner, WriterKey};
use super::outcome::Outcome;
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
        let put = Put { digest: key.digest(), user_key: key.user_key(), ops: &ops };
        let row = match self.find(template, key, make_key) {
            Some(shape) => writer.inner().try_put(shape, put)?,
            None => None,
        };
        let handed = row.ok_or_else(|| template.with_ops(ops.clone()));
        ops.keep_buffer();
        Ok(handed)
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

/// A put.
#[derive(Clone, Copy)]
pub(super) struct Put<'a> {
    digest: &'a Digest,
    user_key: &'a [u8],
    ops: &'a RawOps,
}

/// Adds a put to a block.
struct PutOpener<'a, K: WriterKey> {
    writer: &'a Arc<Inner<K>>,
    shape: &'a Arc<PutShape<K>>,
    put: Put<'a>,
}

impl<K: WriterKey> Opener<OwnedBlock<K>> for PutOpener<'_, K> {
    type Added = Option<Outcome<K>>;

    fn fits(&self, block: &OwnedBlock<K>) -> bool {
        matches!(&block.owner, RowOwner::Outcomes(outcomes) if Arc::ptr_eq(&outcomes.shape, self.shape))
    }

    fn open(&self, first: u64, room: usize) -> OwnedBlock<K> {
        /// What the bins of a block may take at first, however large those of its first row are.
        const MOST_BYTES: usize = 1 << 18;
        let bytes = (room * self.put.ops.size()).min(self.writer.options().batch_bytes).min(MOST_BYTES);
        let outcomes = RowOutcomes::new(Arc::downgrade(self.writer), first, Arc::clone(self.shape));
        let rows = Block::new(Arc::clone(&self.shape.shape), room, bytes);
        OwnedBlock::new(rows, RowOwner::Outcomes(outcomes))
    }

    fn add(self, block: &mut OwnedBlock<K>, sequence: u64, after: Duration) -> Option<Outcome<K>> {
        let Put { digest, user_key, ops } = self.put;
        let rows = block.open_rows()?;
        rows.push_encoded((sequence, after), *digest, user_key, ops);
        let row = rows.len() as u32 - 1;
        match &block.owner {
            RowOwner::Outcomes(outcomes) => Some(Outcome::of_row(outcomes, row)),
            RowOwner::Table(_) => None,
        }
    }
}

impl<K: WriterKey> Inner<K> {
    /// Hands a put over if it can be a row. `None`: it is to be handed over as a record, since there is no room at the
    /// moment, it would go alone, or it has to wait for another one of its key.
    ///
    /// # Errors
    /// The client is closed, or the cluster has no such namespace.
    pub(super) fn try_put(self: &Arc<Self>, shape: &Arc<PutShape<K>>, put: Put<'_>) -> Result<Option<Outcome<K>>> {
        if !put.ops.repeat_safely() || put.ops.is_empty() {
            return Ok(None);
        }
        let namespace = shape.shape.namespace();
        let map = self.check(namespace)?;
        if self.has_all_room() {
            // Nothing is outstanding: it would go alone.
            return Ok(None);
        }
        let bytes = shape.shape.row_size(put.user_key.len(), put.ops.size());
        let Some(room) = self.try_room(bytes)? else { return Ok(None) };
        let row = NewRow { namespace, digest: put.digest, bytes };
        let opener = PutOpener { writer: self, shape, put };
        let mut state = self.state.lock();
        if state.closed {
            return Ok(None);
        }
        let now = clock::now();
        let Some(outcome) = state.core.push_row(row, opener, now, &**map).flatten() else { return Ok(None) };
        room.keep();
        self.pushed(state, now, None);
        Ok(Some(outcome))
    }
}
