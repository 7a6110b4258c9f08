//! Secondary indexes: what is indexed, and the entries.
//!
//! The entries of a partition stand beside its records, under the same lock, and follow every change at once; without an
//! index a write does not do more than to see that there is none. A string or blob stands under its hash, a geo value
//! under its cells, so a query looks at the record itself, too ([`Index::confirms`]).

mod entries;
mod hash;
mod source;

pub(crate) use entries::Entries;

use crate::geo::Shape;
use crate::store::{Record, SetId, Sets, Slot};
use smallvec::SmallVec;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Kind of the values that an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Numeric,
    String,
    Blob,
    Geo,
}

/// What of a bin is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The value itself.
    Whole,
    /// The elements of a list.
    ListElements,
    /// The keys of a map.
    MapKeys,
    /// The values of a map.
    MapValues,
}

/// Where the values come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A bin, or the value in it that a context leads to.
    Bin { name: Vec<u8>, context: Option<Vec<u8>> },
    /// An expression.
    Expression(Vec<u8>),
}

/// What an index is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) set: Option<Vec<u8>>,
    pub(crate) origin: Origin,
    pub(crate) part: Part,
    pub(crate) kind: ValueKind,
}

/// An index.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) definition: Definition,
    /// The set, once it exists.
    set: OnceLock<SetId>,
    /// Whether all partitions are done, and queries may use it.
    readable: AtomicBool,
    /// By node.
    entries: Box<[AtomicI64]>,
    /// Percent of the partitions that are done.
    loaded: AtomicU64,
    /// Milliseconds that it took to build.
    load_ms: AtomicU64,
    /// Whether it was deleted, so that nothing is to be added any more.
    dropped: AtomicBool,
}

/// What a query looks for.
#[derive(Debug, Clone)]
pub(crate) enum IndexLookup {
    /// Numbers from one to another, both included.
    Range(i64, i64),
    /// A string, or a blob.
    Bytes(Vec<u8>),
    /// Points within a region, or regions that contain a point.
    Geo(std::sync::Arc<Shape>),
}

/// Places of one record in an index, in rising order.
type Places = SmallVec<[i64; 4]>;

impl Index {
    pub(crate) fn new(definition: Definition) -> Self {
        Self {
            definition,
            set: OnceLock::new(),
            readable: AtomicBool::new(false),
            entries: (0..=usize::from(u8::MAX)).map(|_| AtomicI64::new(0)).collect(),
            loaded: AtomicU64::new(0),
            load_ms: AtomicU64::new(0),
            dropped: AtomicBool::new(false),
        }
    }

    /// Whether it can be used for queries.
    pub(crate) fn is_readable(&self) -> bool {
        self.readable.load(Ordering::Acquire)
    }

    /// Takes note that it is deleted.
    pub(crate) fn mark_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    /// Whether it was deleted.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }

    /// Number of entries on a node.
    pub(crate) fn entries(&self, node: Slot) -> u64 {
        self.entries[usize::from(node.0)].load(Ordering::Relaxed).max(0) as u64
    }

    fn count(&self, node: Slot, change: i64) {
        self.entries[usize::from(node.0)].fetch_add(change, Ordering::Relaxed);
    }

    /// How far building it is, in percent.
    pub(crate) fn loaded(&self) -> u64 {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Milliseconds that building it took.
    pub(crate) fn load_ms(&self) -> u64 {
        self.load_ms.load(Ordering::Relaxed)
    }

    /// So much of building is done.
    pub(crate) fn progress(&self, percent: u64, took_ms: u64) {
        self.loaded.store(percent, Ordering::Relaxed);
        self.load_ms.store(took_ms, Ordering::Relaxed);
        if percent == 100 {
            self.readable.store(true, Ordering::Release);
        }
    }

    /// Places compare as signed numbers, but cells as unsigned ones.
    const fn order(&self, place: i64) -> u64 {
        match self.definition.kind {
            ValueKind::Geo => place as u64,
            _ => place as u64 ^ (1 << 63),
        }
    }

    const fn place(&self, order: u64) -> i64 {
        match self.definition.kind {
            ValueKind::Geo => order as i64,
            _ => (order ^ (1 << 63)) as i64,
        }
    }

    fn covers(&self, sets: &Sets, set: SetId) -> bool {
        let Some(name) = &self.definition.set else { return true };
        let own = match self.set.get() {
            Some(own) => *own,
            None => match sets.find(name) {
                Some(found) => *self.set.get_or_init(|| found),
                None => return false,
            },
        };
        own == set
    }

    /// Where the record stands in this index.
    fn places(&self, sets: &Sets, record: &Record) -> Places {
        let mut places = Places::new();
        if self.covers(sets, record.set_id()) {
            source::each(&self.definition, sets, record, |value| {
                source::places(self.definition.kind, value, &mut places);
                false
            });
            places.sort_unstable();
            places.dedup();
        }
        places
    }

    /// Whether a record that stands where a query looks is one that it looks for.
    pub(crate) fn confirms(&self, sets: &Sets, record: &Record, sought: &IndexLookup) -> bool {
        let kind = self.definition.kind;
        source::each(&self.definition, sets, record, |value| source::is_sought(kind, value, sought))
    }

    /// The ranges of places that a query looks at, in the order of the index.
    pub(crate) fn ranges(sought: &IndexLookup) -> Vec<(i64, i64)> {
        match sought {
            IndexLookup::Range(begin, end) => vec![(*begin, *end)],
            IndexLookup::Bytes(bytes) => {
                let place = hash::hash(bytes) as i64;
                vec![(place, place)]
            }
            IndexLookup::Geo(geometry) => source::geo_ranges(geometry),
        }
    }
}
