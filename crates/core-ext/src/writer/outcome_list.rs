//! The outcomes of records that were handed over together.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use super::RecordKey;
use super::driver::WriterKey;
use super::outcome::Outcome;
use super::row_outcomes::RowOutcomes;
use crate::error::Error;

/// The outcomes of `put_many`, in the order of its records.
///
/// [`Outcome`]s are made when they are asked for. Most records are rows of blocks, and for them the list keeps 8 bytes each.
/// What it says of all of them, it asks the blocks: [`done`](Self::done), [`is_done`](Self::is_done) and
/// [`errors`](Self::errors) look at single records only where some have failed or were sent alone.
pub struct OutcomeList<K: WriterKey = RecordKey> {
    places: Vec<Place>,
    blocks: Vec<Arc<RowOutcomes<K>>>,
    /// The place in `blocks` of each node's last one.
    last: Vec<u32>,
    /// Of those that are no rows.
    records: Vec<Outcome<K>>,
}

/// Where an outcome is.
#[derive(Clone, Copy)]
struct Place {
    /// [`RECORD`]: among the records.
    block: u32,
    at: u32,
}

const RECORD: u32 = u32::MAX;

/// The outcome of a record that has just been handed over: to be made an [`Outcome`], or added to an [`OutcomeList`], which costs
/// less.
pub struct NewOutcome<'a, K: WriterKey>(New<'a, K>);

enum New<'a, K: WriterKey> {
    Row(&'a Arc<RowOutcomes<K>>, u32),
    Record(Outcome<K>),
}

impl<'a, K: WriterKey> NewOutcome<'a, K> {
    pub(super) const fn row(rows: &'a Arc<RowOutcomes<K>>, row: u32) -> Self {
        Self(New::Row(rows, row))
    }
}

impl<K: WriterKey> From<Outcome<K>> for NewOutcome<'_, K> {
    fn from(outcome: Outcome<K>) -> Self {
        Self(New::Record(outcome))
    }
}

impl<K: WriterKey> From<NewOutcome<'_, K>> for Outcome<K> {
    fn from(new: NewOutcome<'_, K>) -> Self {
        match new.0 {
            New::Row(rows, row) => Self::of_row(rows, row),
            New::Record(outcome) => outcome,
        }
    }
}

impl<K: WriterKey> fmt::Debug for NewOutcome<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            New::Row(..) => "NewOutcome(row)",
            New::Record(_) => "NewOutcome(record)",
        })
    }
}

impl<K: WriterKey> OutcomeList<K> {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), blocks: Vec::new(), last: Vec::new(), records: Vec::new() }
    }

    /// An empty list with room for so many outcomes.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self { places: Vec::with_capacity(count), ..Self::new() }
    }

    /// Adds the outcome of a record.
    pub fn push<'a>(&mut self, outcome: impl Into<NewOutcome<'a, K>>)
    where
        K: 'a,
    {
        let place = match outcome.into().0 {
            New::Row(rows, row) => Place { block: self.place_of(rows), at: row },
            New::Record(outcome) => {
                self.records.push(outcome);
                Place { block: RECORD, at: self.records.len() as u32 - 1 }
            }
        };
        self.places.push(place);
    }

    /// The place of a block, which is added if it is not the last one of its node. So a block can be there twice.
    #[inline]
    fn place_of(&mut self, rows: &Arc<RowOutcomes<K>>) -> u32 {
        let node = usize::from(rows.node);
        if let Some(place) = self.last.get(node)
            && let Some(last) = self.blocks.get(*place as usize)
            && Arc::ptr_eq(last, rows)
        {
            return *place;
        }
        let place = self.blocks.len() as u32;
        self.blocks.push(Arc::clone(rows));
        if self.last.len() <= node {
            self.last.resize(node + 1, RECORD);
        }
        self.last[node] = place;
        place
    }

    /// How many records there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The outcome of a record, by its place in the list.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Outcome<K>> {
        self.places.get(index).map(|place| self.outcome(*place))
    }

    /// The outcomes, in order.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Outcome<K>> + ExactSizeIterator + '_ {
        self.places.iter().map(|place| self.outcome(*place))
    }

    fn outcome(&self, place: Place) -> Outcome<K> {
        match self.blocks.get(place.block as usize) {
            Some(rows) => Outcome::of_row(rows, place.at),
            None => self.records[place.at as usize].clone(),
        }
    }

    fn place_is_done(&self, place: Place) -> bool {
        match self.blocks.get(place.block as usize) {
            Some(rows) => rows.is_done(place.at),
            None => self.records[place.at as usize].is_done(),
        }
    }

    fn place_error(&self, place: Place) -> Option<&Error> {
        match self.blocks.get(place.block as usize) {
            Some(rows) => rows.error(place.at),
            None => self.records[place.at as usize].error(),
        }
    }

    /// The records that do not end with their blocks, as far as the blocks have ended: only these may be outstanding still, or
    /// have failed.
    fn apart(&self) -> impl Iterator<Item = (usize, Place)> + '_ {
        let any = !self.records.is_empty() || self.blocks.iter().any(|rows| rows.has_apart());
        let places = if any { &self.places[..] } else { &[] };
        let alone = |place: &Place| self.blocks.get(place.block as usize).is_none_or(|rows| rows.is_apart(place.at));
        places.iter().copied().enumerate().filter(move |(_, place)| alone(place))
    }

    /// Whether each record has its outcome.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.blocks.iter().rev().all(|rows| rows.has_ended())
            && self.apart().all(|(_, place)| self.place_is_done(place))
    }

    /// How many records the server has confirmed so far.
    #[must_use]
    pub fn confirmed(&self) -> usize {
        self.places.iter().filter(|place| self.place_is_done(**place) && self.place_error(**place).is_none()).count()
    }

    /// Why records have failed so far, with their places in the list.
    pub fn errors(&self) -> impl Iterator<Item = (usize, &Error)> {
        self.apart().filter_map(|(index, place)| Some((index, self.place_error(place)?)))
    }

    /// Waits until each record has its outcome.
    pub async fn done(&self) {
        // A record that is alone may be left to whoever waits for it.
        for record in &self.records {
            record.done().await;
        }
        for rows in &self.blocks {
            poll_fn(|cx| rows.poll_end(cx)).await;
        }
        for (_, place) in self.apart() {
            self.outcome(place).done().await;
        }
    }

    /// Blocks the calling thread until each record has its outcome. For threads without an async runtime.
    pub fn wait(&self) {
        self.wait_for(None);
    }

    /// [`wait`](Self::wait) until a moment, and whether each record has its outcome then.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.wait_for(Some(deadline))
    }

    fn wait_for(&self, deadline: Option<Instant>) -> bool {
        self.records.iter().all(|record| record.wait_for(deadline).is_some())
            && self.blocks.iter().all(|rows| rows.wait_end(deadline))
            && self.apart().all(|(_, place)| self.outcome(place).wait_for(deadline).is_some())
    }
}

impl<K: WriterKey> Default for OutcomeList<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: WriterKey> fmt::Debug for OutcomeList<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (confirmed, failed) = (self.confirmed(), self.errors().count());
        write!(f, "OutcomeList({}: {confirmed} confirmed, {failed} failed)", self.len())
    }
}
