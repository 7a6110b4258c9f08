//! Rows that are handed over in blocks: many rows of one set that do the same, encoded next to each other.
//!
//! A [`BlockWriter`] fills a block for each node, and hands it over when it is full. The core sends it as it is. Only rows that
//! fail, or that have to wait for each other, become records with a state of their own.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aerolane_wire::digest::{Digest, partition_id};

use super::core::{Block, BlockEnds};
use super::delivery::{AttemptEnd, Written};
use super::driver::{Inner, Row, WriterKey};
use super::outcome::{Cell, CellRef, Outcome};
use super::row_outcomes::RowOutcomes;
use crate::client::{self, BlockAnswers, BlockOps, BlockOutcome, BlockShape};
use crate::error::{Error, Result};
use crate::topology::{NodeId, Topology};

/// Who hands blocks over, and hears what became of their rows, on the thread that has got it.
pub trait BlockOwner<K: WriterKey>: Send + Sync {
    /// The key of a row that is to be a record of its own. `user_key`: as a field of a request. Asked while the writer is locked:
    /// it must not call the writer.
    fn key(&self, number: u64, digest: &Digest, user_key: &[u8]) -> K;

    /// So many rows were confirmed together with their blocks.
    fn confirmed(&self, rows: usize);

    /// The outcomes of the others, some at a time.
    fn told(&self, outcomes: &[Outcome<K>]);
}

/// Rows with those who hear of them.
pub(super) struct OwnedBlock<K: WriterKey> {
    /// Nobody else has them while rows are added.
    rows: Arc<client::Block>,
    pub(super) owner: RowOwner<K>,
}

/// Who hears what becomes of rows.
pub(super) enum RowOwner<K: WriterKey> {
    /// Of a table.
    Table(Arc<dyn BlockOwner<K>>),
    /// Of puts.
    Outcomes(Arc<RowOutcomes<K>>),
}

impl<K: WriterKey> OwnedBlock<K> {
    pub(super) fn new(rows: client::Block, owner: RowOwner<K>) -> Self {
        Self { rows: Arc::new(rows), owner }
    }

    /// The rows, while they can be changed.
    pub(super) fn open_rows(&mut self) -> Option<&mut client::Block> {
        Arc::get_mut(&mut self.rows)
    }

    /// The rows, of which others may know.
    pub(super) fn shared_rows(&self) -> Arc<client::Block> {
        Arc::clone(&self.rows)
    }
}

impl<K: WriterKey> Block<CellRef<K>, Row> for OwnedBlock<K> {
    type Ends = Ends;

    fn digests(&self) -> &[Digest] {
        self.rows.digests()
    }

    #[inline]
    fn bytes(&self, row: usize) -> usize {
        self.rows.row_size(row)
    }

    fn sequence(&self, first: u64, row: usize) -> u64 {
        match &self.owner {
            RowOwner::Table(_) => first + row as u64,
            RowOwner::Outcomes(_) => self.rows.key(row).0,
        }
    }

    fn after(&self, row: usize) -> Duration {
        self.rows.after(row)
    }

    fn tag(&self, row: usize) -> CellRef<K> {
        match &self.owner {
            RowOwner::Table(owner) => {
                let (number, user_key) = self.rows.key(row);
                let key = owner.key(number, &self.rows.digests()[row], user_key);
                CellRef(Cell::new(key, Some(Arc::clone(owner))))
            }
            RowOwner::Outcomes(outcomes) => outcomes.apart(&self.rows, row),
        }
    }

    fn payload(&self, row: usize) -> Row {
        Row(self.rows.shape(row))
    }

    fn remove(&mut self, rows: &[usize]) {
        if let Some(open) = self.open_rows() {
            open.remove(rows);
        }
    }

    fn closed(&mut self) {
        if let RowOwner::Outcomes(outcomes) = &self.owner {
            outcomes.closed(&self.rows);
        }
    }
}

impl<K: WriterKey> AsRef<client::Block> for OwnedBlock<K> {
    fn as_ref(&self) -> &client::Block {
        &self.rows
    }
}

/// How the rows of a block ended; `whole`: the request.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) answers: BlockAnswers,
    pub(super) whole: Result<()>,
}

impl Ends {
    /// The confirmation of a row, if it was confirmed.
    pub(super) fn written(&self, row: usize) -> Option<Written> {
        match self.answers.outcome(row).0 {
            BlockOutcome::Ok(generation, expiration) => Some(Written::plain(generation, expiration)),
            _ => None,
        }
    }
}

impl BlockEnds for Ends {
    #[inline]
    fn is_ok(&self, row: usize) -> bool {
        matches!(self.answers.outcome(row).0, BlockOutcome::Ok(..))
    }

    fn end(&self, row: usize) -> AttemptEnd {
        let (outcome, node) = self.answers.outcome(row);
        let result = match outcome {
            BlockOutcome::Ok(generation, expiration) => Ok(Written::plain(generation, expiration)),
            BlockOutcome::Failed(error) => Err(error.clone()),
            BlockOutcome::Pending => Err(left_out(&self.whole)),
        };
        AttemptEnd { result, node: node.cloned() }
    }
}

/// Why a row has no answer.
pub(super) fn left_out(whole: &Result<()>) -> Error {
    match whole {
        Err(error) => error.clone(),
        Ok(()) => Error::bad_response("the server left the record out of its answer to the batch").force_in_doubt(true),
    }
}

/// Fills blocks, one for each node at a time, and hands them over.
///
/// Rows of one key keep their order, among each other and with what the writer has of this key. Memory: a block per node,
/// and what has been filled since the last [`hand_over`](Self::hand_over).
pub struct BlockWriter<K: WriterKey> {
    inner: Arc<Inner<K>>,
    shape: Arc<BlockShape>,
    owner: Arc<dyn BlockOwner<K>>,
    map: Arc<Topology>,
    /// The most rows of a block, and about how many bytes.
    most: (usize, usize),
    /// By the index of their nodes.
    open: Vec<Option<Filling>>,
    /// Those that are to be handed over, in order.
    full: VecDeque<(u16, Filling)>,
    /// Bytes of the fullest block so far.
    room: usize,
    handed_over: u64,
}

struct Filling {
    rows: client::Block,
    /// Room that it takes of the writer.
    bytes: usize,
}

impl<K: WriterKey> BlockWriter<K> {
    pub(super) fn new(inner: Arc<Inner<K>>, shape: BlockShape, owner: Arc<dyn BlockOwner<K>>) -> Result<Self> {
        let map = inner.shared.cluster.topology();
        map.namespace(shape.namespace())?;
        Ok(Self {
            most: inner.block_bounds(),
            inner,
            shape: Arc::new(shape),
            owner,
            map,
            open: Vec::new(),
            full: VecDeque::new(),
            room: 0,
            handed_over: 0,
        })
    }

    /// Adds a row that writes what `ops` writes; no row if that is nothing, or fails. `number`: what its owner calls it.
    /// `user_key`: as a field of a request. Gives how many operations it has.
    ///
    /// # Errors
    /// That of `ops`.
    pub fn push<E>(
        &mut self,
        number: u64,
        digest: &Digest,
        user_key: &[u8],
        ops: impl FnOnce(&mut BlockOps<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<usize, E> {
        let owner = self.map.namespace(self.shape.namespace()).ok().and_then(|map| map.owner(0, partition_id(digest)));
        // Rows that nobody owns stand together, and become records that wait for an owner once they have been tried.
        let node = owner.map_or(0, NodeId::index);
        if self.open.len() <= node {
            self.open.resize_with(node + 1, || None);
        }
        let (most, most_bytes) = self.most;
        let filling = self.open[node].get_or_insert_with(|| Filling {
            rows: client::Block::new(Arc::clone(&self.shape), most, self.room),
            bytes: 0,
        });
        let count = filling.rows.push(number, *digest, user_key, ops)?;
        if count > 0 {
            let size = self.inner.room_of(filling.rows.row_size(filling.rows.len() - 1)) as usize;
            if filling.bytes + size > most_bytes
                && let Some(rows) = filling.rows.split_last()
            {
                // Together they could take more room than there is.
                self.close(node);
                self.open[node] = Some(Filling { rows, bytes: size });
            } else {
                filling.bytes += size;
            }
            if self.open[node].as_ref().is_some_and(|open| open.rows.len() >= most || open.bytes >= most_bytes) {
                self.close(node);
            }
        }
        Ok(count)
    }

    /// How many rows have been handed over.
    #[must_use]
    pub const fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// No block is filled any more: all go with the next [`hand_over`](Self::hand_over).
    pub fn close_all(&mut self) {
        (0..self.open.len()).for_each(|node| self.close(node));
    }

    fn close(&mut self, node: usize) {
        if let Some(filling) = self.open[node].take()
            && filling.rows.len() > 0
        {
            self.room = self.room.max(filling.rows.size()).min(self.inner.options().batch_bytes);
            self.full.push_back((node as u16, filling));
        }
    }

    /// Hands the full blocks over, as soon as there is room for each. Those that have not been handed over are gone if the
    /// caller stops waiting, or gets an error.
    ///
    /// # Errors
    /// The writer or the client is closed, or the cluster has no such namespace.
    pub async fn hand_over(&mut self) -> Result<()> {
        self.inner.shared.check_open()?;
        while let Some((node, Filling { rows, bytes })) = self.full.pop_front() {
            let count = rows.len();
            let block = OwnedBlock::new(rows, RowOwner::Table(Arc::clone(&self.owner)));
            self.inner.hand_over_block(node, block, count, bytes).await?;
            self.handed_over += count as u64;
        }
        let map = self.inner.shared.cluster.topology();
        if map.version() != self.map.version() {
            // Keys may have other nodes: rows that are there go before others of their keys.
            self.map = map;
            self.close_all();
        }
        Ok(())
    }
}

impl<K: WriterKey> fmt::Debug for BlockWriter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlockWriter({} rows handed over)", self.handed_over)
    }
}
