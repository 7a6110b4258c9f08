//! One partition on all nodes that hold something of it, under one lock: who answers, and how writes reach the replicas.
//!
//! Each node has a [`Partition`] of its own. The acting master's stands first, those of its replicas follow, then what
//! other nodes still have: old versions that wait to be taken over, and what nodes that are down have kept. One lock for all
//! of them keeps copying in the order of the writes, and lets owners change at one moment for everyone.

use super::links::Links;
use super::migration::{ConflictResolution as Conflict, Migration};
use super::{Partition, Record, Sets, Slot};
use crate::code;
use crate::index::Index;
use crate::request::TxnId;
use parking_lot::MappedMutexGuard;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a write takes to reach a replica that is down: longer than any request waits.
const AWAY: Duration = Duration::from_secs(u32::MAX as u64);

/// A partition on all nodes.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The members first, the acting master at their head.
    pub(super) list: SmallVec<[Copy; 2]>,
    /// How many of the list belong together: they get every write.
    pub(super) members: usize,
    /// Counts rebalances; a copy with another version has missed something, or has what the members do not.
    pub(super) version: u32,
    /// No node may answer: strong consistency without the owners that it takes.
    pub(super) unavailable: bool,
    /// What is still to be moved.
    pub(super) migration: Option<Box<Migration>>,
}

/// What one node has of a partition.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) records: Partition,
    /// Whether the node is there.
    pub(super) live: bool,
    /// Whether everything is here that the members have; if not, the master answers for it.
    pub(super) complete: bool,
    /// That of the last rebalance that it took part in; 0: it has never had data.
    pub(super) version: u32,
    /// Writes were missed while the node was down and its place was held.
    pub(super) behind: bool,
    /// Writes on their way, in their order.
    #[expect(clippy::box_collection, reason = "mostly there are none, and requests look at all of a partition")]
    waiting: Option<Box<VecDeque<Image>>>,
}

/// A write on its way to a replica.
#[derive(Debug)]
struct Image {
    written: Instant,
    source: Slot,
    change: Change,
}

/// What a write does to a copy.
#[derive(Debug)]
enum Change {
    Put(Box<[u8]>, [u8; 20], Option<TxnId>),
    Remove([u8; 20], Option<TxnId>),
    Touch([u8; 20], u32, u64),
    Roll([u8; 20], TxnId, bool),
}

/// What a request wants of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A read that any complete copy may answer.
    Read,
    /// A read that only the master may answer.
    MasterRead,
    /// A write.
    Write,
}

impl Copy {
    pub(super) fn new(records: Partition, version: u32, complete: bool) -> Self {
        Self { records, live: true, complete, version, behind: false, waiting: None }
    }

    #[inline]
    pub(super) fn node(&self) -> Slot {
        self.records.node()
    }

    /// Whether there is something that a rebalance can use.
    pub(super) fn has_data(&self) -> bool {
        self.live && self.version != 0
    }

    /// Whether writes are on their way to it.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Carries out the writes that have arrived by now.
    #[cold]
    pub(super) fn settle(&mut self, sets: &Sets, lag: Duration, now: Instant) {
        self.settle_while(sets, |image| image.written + lag <= now);
    }

    /// Carries out all writes that are on their way.
    pub(super) fn settle_all(&mut self, sets: &Sets) {
        self.settle_while(sets, |_| true);
    }

    fn settle_while(&mut self, sets: &Sets, has_arrived: impl Fn(&Image) -> bool) {
        while self.waiting.as_ref().and_then(|waiting| waiting.front()).is_some_and(&has_arrived) {
            let Some(image) = self.waiting.as_mut().and_then(|waiting| waiting.pop_front()) else { break };
            self.carry_out(sets, &image.change);
        }
        self.forget_if_empty();
    }

    fn carry_out(&mut self, sets: &Sets, change: &Change) {
        match change {
            Change::Put(bytes, digest, txn) => self.records.put_for(sets, digest, bytes, *txn),
            Change::Remove(digest, txn) => self.records.remove_for(sets, digest, *txn),
            Change::Touch(digest, void_time, now_ms) => self.records.touch(digest, *void_time, *now_ms),
            Change::Roll(digest, txn, forward) => self.records.roll(sets, digest, *txn, *forward),
        }
    }

    /// Forgets what a node has sent that has died before it arrived.
    pub(super) fn lose_from(&mut self, source: Slot) {
        self.lose(|image| image.source == source);
    }

    /// Forgets what nodes have sent that are none of these.
    pub(super) fn lose_unless_from(&mut self, sources: &[Slot]) {
        self.lose(|image| !sources.contains(&image.source));
    }

    /// Forgets what is on its way.
    pub(super) fn lose_all(&mut self) {
        self.waiting = None;
    }

    fn lose(&mut self, is_lost: impl Fn(&Image) -> bool) {
        if let Some(waiting) = &mut self.waiting {
            waiting.retain(|image| !is_lost(image));
        }
        self.forget_if_empty();
    }

    /// A queue without writes is none.
    fn forget_if_empty(&mut self) {
        self.waiting.take_if(|waiting| waiting.is_empty());
    }

    /// Lets a write wait until it arrives.
    fn wait(&mut self, image: Image) {
        self.waiting.get_or_insert_default().push_back(image);
    }

    /// A record on its way here, behind the writes that are: from a migration.
    pub(super) fn receive(&mut self, sets: &Sets, source: Slot, record: &Record, now: Instant) {
        let digest = *record.digest();
        if self.is_waiting() {
            let change = Change::Put(record.as_bytes().into(), digest, None);
            self.wait(Image { written: now, source, change });
        } else {
            self.records.put(sets, &digest, record.as_bytes());
        }
    }
}

impl Copies {
    /// Which copy answers a request that came to `node`: its own if that may, otherwise the master's, as a node that
    /// forwards the request would answer. The error is a result code.
    #[inline]
    fn serving(&self, node: Slot, purpose: Purpose) -> Result<usize, u8> {
        let Some(master) = self.list.first().filter(|_| !self.unavailable && self.members > 0) else {
            return Err(code::UNAVAILABLE);
        };
        if master.node() != node
            && purpose == Purpose::Read
            && let Some(own) = self.place(node)
        {
            return Ok(own);
        }
        // A master that is down is one that the others do not know yet to be gone.
        if master.live { Ok(0) } else { Err(code::TIMEOUT) }
    }

    /// The acting master; `None` if the partition is unavailable.
    fn master(&self) -> Option<&Copy> {
        self.list.first().filter(|_| self.members > 0 && !self.unavailable)
    }

    /// Whether no node may answer.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.unavailable
    }

    /// The records that the acting master has.
    pub(crate) fn master_partition(&self) -> Option<&Partition> {
        self.list.first().filter(|_| self.members > 0).map(|copy| &copy.records)
    }

    /// What a node answers for: as master, or as a complete replica.
    pub(super) fn answering(&mut self, node: Slot) -> Option<&mut Partition> {
        let at = self.place(node)?;
        self.list.get_mut(at).map(|copy| &mut copy.records)
    }

    /// What a node is to the partition: 0 for its acting master, the number of the replica that it has in full, or `None`.
    pub(crate) fn place(&self, node: Slot) -> Option<usize> {
        if self.unavailable {
            return None;
        }
        self.list[..self.members].iter().position(|copy| copy.node() == node && copy.complete)
    }

    /// What a node has of the partition, and whether as its acting master.
    pub(crate) fn held(&mut self, node: Slot) -> Option<(&Partition, bool)> {
        let master = self.list.first().filter(|_| self.members > 0).is_some_and(|copy| copy.node() == node);
        self.of(node).map(|copy| (&copy.records, master))
    }

    /// Who tells clients to hold what: for each column of the map (the master, then the replicas) a node. The acting master
    /// stands for replicas that are not complete.
    pub(crate) fn columns(&self, factor: usize) -> impl Iterator<Item = Option<Slot>> + '_ {
        let master = self.master().map(Copy::node);
        // A master that is none of the owners takes no replica's column.
        let owners = self.migration.as_ref().map(|migration| &migration.owners);
        (0..factor).map(move |column| {
            if column == 0 || master.is_none() {
                return master;
            }
            let node = match owners {
                Some(owners) => owners.get(column).copied(),
                None => self.list[..self.members].get(column).map(Copy::node),
            }?;
            let complete = self.list[..self.members].iter().any(|copy| copy.node() == node && copy.complete);
            if complete { Some(node) } else { master }
        })
    }

    /// The copies that a request looks at that comes to `node`: all that a write changes, or the node's own.
    #[inline]
    pub(super) fn needed(&self, node: Slot, writes: bool) -> impl Iterator<Item = &Partition> {
        let members = self.list[..self.members].iter().map(|copy| &copy.records);
        members.filter(move |records| writes || records.node() == node)
    }

    /// What a node has, whether it may answer or not.
    pub(super) fn of(&mut self, node: Slot) -> Option<&mut Copy> {
        self.list.iter_mut().find(|copy| copy.node() == node)
    }

    /// Carries out the writes that have arrived by now at all copies.
    pub(super) fn settle(&mut self, sets: &Sets, links: &Links, now: Instant) {
        for copy in &mut self.list {
            if copy.is_waiting() {
                copy.settle(sets, links.lag(copy.node()), now);
            }
        }
    }

    /// Takes an index and what it has of the records in, on all nodes.
    pub(super) fn index(&mut self, sets: &Sets, index: &Arc<Index>) {
        for copy in &mut self.list {
            copy.records.index(sets, index);
        }
    }

    /// Forgets an index on all nodes.
    pub(super) fn drop_index(&mut self, index: &Arc<Index>) {
        for copy in &mut self.list {
            copy.records.entries.remove(index);
        }
    }

    /// Keeps the records for which `keep` says so, on all nodes, and of those that are on their way.
    pub(super) fn retain(&mut self, sets: &Sets, mut keep: impl FnMut(&Record) -> bool) {
        for copy in &mut self.list {
            copy.settle_all(sets);
            copy.records.retain(sets, &mut keep);
        }
    }
}

/// A partition that a request works on: the copy that answers it, and the way from there to the replicas.
pub(crate) struct Site<'a> {
    copies: MappedMutexGuard<'a, Copies>,
    sets: &'a Sets,
    links: &'a Links,
    now: Instant,
    at: usize,
    /// How long it takes until all replicas have what was written here; zero if they have it.
    pub(crate) lag: Duration,
}

impl std::ops::Deref for Site<'_> {
    type Target = Partition;

    #[inline]
    fn deref(&self) -> &Partition {
        &self.copies.list[self.at].records
    }
}

impl<'a> Site<'a> {
    /// The node whose copy this is.
    #[inline]
    pub(crate) fn node(&self) -> Slot {
        self.copies.list[self.at].node()
    }

    #[inline]
    pub(super) fn new(
        mut copies: MappedMutexGuard<'a, Copies>,
        sets: &'a Sets,
        links: &'a Links,
        (node, purpose): (Slot, Purpose),
        now: Instant,
    ) -> Result<Self, u8> {
        let at = copies.serving(node, purpose)?;
        let copy = &mut copies.list[at];
        if copy.is_waiting() {
            let lag = links.lag(copy.node());
            copy.settle(sets, lag, now);
        }
        Ok(Self { copies, sets, links, now, at, lag: Duration::ZERO })
    }

    /// Resolves what other versions of the partition have of a record, so that the request sees the one that wins.
    #[inline]
    pub(super) fn resolve(&mut self, policy: Conflict, digest: &[u8; 20]) {
        if self.copies.migration.is_some() {
            self.copies.resolve(self.sets, self.links, policy, digest, self.now);
        }
    }

    /// [`Partition::put_for`], on the replicas, too.
    #[inline]
    pub(crate) fn put_for(&mut self, digest: &[u8; 20], bytes: &[u8], txn: Option<TxnId>) {
        let sets = self.sets;
        let (devices, now) = (&self.links.devices, self.now);
        let apply = |copy: &mut Copy| {
            copy.records.put_for(sets, digest, bytes, txn);
            devices.wrote(copy.node(), bytes.len(), now);
        };
        self.change(apply, || Change::Put(bytes.into(), *digest, txn));
    }

    /// [`Partition::remove_for`], on the replicas, too.
    pub(crate) fn remove_for(&mut self, digest: &[u8; 20], txn: Option<TxnId>) {
        let sets = self.sets;
        self.change(|copy| copy.records.remove_for(sets, digest, txn), || Change::Remove(*digest, txn));
    }

    /// [`Partition::touch`], on all nodes: a read that touches is a write of its master.
    pub(crate) fn touch(&mut self, digest: &[u8; 20], void_time: u32, now_ms: u64) {
        self.change(|copy| copy.records.touch(digest, void_time, now_ms), || Change::Touch(*digest, void_time, now_ms));
    }

    /// [`Partition::roll`], on the replicas, too.
    pub(crate) fn roll(&mut self, digest: &[u8; 20], txn: TxnId, forward: bool) {
        let sets = self.sets;
        self.change(|copy| copy.records.roll(sets, digest, txn, forward), || Change::Roll(*digest, txn, forward));
    }

    /// Applies a change to the master, and to the replicas or what is on the way to them.
    #[inline]
    fn change(&mut self, apply: impl Fn(&mut Copy), image: impl Fn() -> Change) {
        let lag = self.copies.change(self.sets, self.links, self.now, apply, image);
        self.lag = self.lag.max(lag);
    }
}

impl Copies {
    /// Says how long it takes until all replicas have it.
    #[inline]
    fn change(
        &mut self,
        sets: &Sets,
        links: &Links,
        now: Instant,
        apply: impl Fn(&mut Copy),
        image: impl Fn() -> Change,
    ) -> Duration {
        let Some((master, replicas)) = self.list[..self.members].split_first_mut() else { return Duration::ZERO };
        apply(master);
        let source = master.node();
        let mut longest = Duration::ZERO;
        for copy in replicas {
            if !copy.live {
                // The master waits for it until the nodes know that it is gone.
                copy.behind = true;
                longest = AWAY;
                continue;
            }
            let lag = links.lag(copy.node());
            if lag.is_zero() && !copy.is_waiting() {
                apply(copy);
                continue;
            }
            copy.settle(sets, lag, now);
            copy.wait(Image { written: now, source, change: image() });
            longest = longest.max(lag);
        }
        longest
    }

    /// Puts a record in on the master and its replicas: one that a migration brings, or that a conflict was won by.
    pub(super) fn put_everywhere(&mut self, sets: &Sets, links: &Links, record: &Record, now: Instant) {
        let (digest, bytes) = (record.digest(), record.as_bytes());
        let apply = |copy: &mut Copy| copy.records.put(sets, digest, bytes);
        self.change(sets, links, now, apply, || Change::Put(bytes.into(), *digest, None));
    }

    /// Rolls a record of a transaction that has ended, wherever it is held.
    pub(super) fn roll(
        &mut self,
        sets: &Sets,
        links: &Links,
        digest: &[u8; 20],
        (txn, forward): (TxnId, bool),
        now: Instant,
    ) {
        let apply = |copy: &mut Copy| copy.records.roll(sets, digest, txn, forward);
        self.change(sets, links, now, apply, || Change::Roll(*digest, txn, forward));
    }
}
