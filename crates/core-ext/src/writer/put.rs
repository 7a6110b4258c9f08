//! Puts that the caller has encoded, of records of one set by one policy: they become rows of blocks.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aerolane_wire::digest::Digest;

use super::block::{OwnedBlock, RowOwner};
use super::core::{NewRow, Opener};
use super::driver::{Inner, WriterKey};
use super::lone::LoneChange;
use super::outcome::Outcome;
use super::row_outcomes::RowOutcomes;
use crate::client::{Block, BlockShape, RawOps, RawShape};
use crate::clock;
use crate::error::Result;

type MakeKey<K> = Box<dyn Fn(&Digest, &[u8]) -> K + Send + Sync>;

/// What puts of one set by one policy have in common.
pub struct PutShape<K> {
    shape: Arc<BlockShape>,
    key: MakeKey<K>,
}

impl<K: WriterKey> PutShape<K> {
    /// `key` makes a key of a digest and of a user key, as a field of a request. It is called while the writer is locked, and
    /// must not call it.
    #[must_use]
    pub fn new(shape: BlockShape, key: impl Fn(&Digest, &[u8]) -> K + Send + Sync + 'static) -> Self {
        Self { shape: Arc::new(shape), key: Box::new(key) }
    }

    pub(super) fn key(&self, rows: &Block, row: usize) -> K {
        (self.key)(&rows.digests()[row], rows.key(row).1)
    }
}

impl<K> fmt::Debug for PutShape<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PutShape").field(&self.shape).finish()
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
    /// What puts have in common that do this, apart from their operations, to records of a set. `names`: namespace and set as
    /// fields of a request, and how many these are. `make` makes it, if it is one of the first. `None`: such a put is to be handed
    /// over as a record.
    pub fn find(
        &self,
        template: &RawShape,
        names: (&[u8], u32),
        make: impl Fn() -> PutShape<K>,
    ) -> Option<&Arc<PutShape<K>>> {
        if !template.suits_many() {
            return None;
        }
        let mut first = self.0.iter().map(|place| place.get_or_init(|| Arc::new(make())));
        first.find(|shape| shape.shape.is_of(template, names))
    }
}

impl<K> fmt::Debug for PutShapes<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().filter_map(OnceLock::get)).finish()
    }
}

/// A put of a record of such a set.
#[derive(Debug, Clone, Copy)]
pub struct RawPut<'a> {
    /// The digest of the key.
    pub digest: &'a Digest,
    /// The user key as a field of a request; empty if it is not known.
    pub user_key: &'a [u8],
    /// The bins: operations that write, and nothing else.
    pub ops: &'a RawOps,
}

/// Adds a put to a block.
struct PutOpener<'a, K: WriterKey> {
    writer: &'a Arc<Inner<K>>,
    shape: &'a Arc<PutShape<K>>,
    put: RawPut<'a>,
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
        let RawPut { digest, user_key, ops } = self.put;
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
    pub(super) fn try_put(self: &Arc<Self>, shape: &Arc<PutShape<K>>, put: RawPut<'_>) -> Result<Option<Outcome<K>>> {
        if !put.ops.repeat_safely() || put.ops.is_empty() {
            return Ok(None);
        }
        self.shared.check_open()?;
        let map = self.shared.cluster.snapshot();
        let namespace = shape.shape.namespace();
        map.namespace(namespace)?;
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
        if state.core.stirred() || state.lone.is_there() {
            let after = state.after(now, LoneChange::Sent);
            drop(state);
            self.carry_out(after);
        }
        Ok(Some(outcome))
    }
}
