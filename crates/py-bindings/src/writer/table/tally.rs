//! What became of the rows of a table, counted where outcomes arrive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aerolane::batch::FailureSummary;
use aerolane::sync::Mutex;
use aerolane::writer::BlockOwner;
use aerolane::{Error, Outcome};
use aerolane_wire::digest::Digest;
use aerolane_wire::particle::particle_type;
use tokio::sync::Notify;

use super::super::key::{Names, TableKey, WrittenKey};

/// The user key of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// It is null, or none.
    None,
    Int(i64),
    Text(Box<str>),
    Blob(Box<[u8]>),
}

impl Key {
    pub(super) fn of(kind: u8, value: &[u8]) -> Self {
        match (kind, std::str::from_utf8(value)) {
            (particle_type::INTEGER, _) => {
                value.try_into().map_or(Self::None, |bytes| Self::Int(i64::from_be_bytes(bytes)))
            }
            (particle_type::STRING, Ok(text)) => Self::Text(text.into()),
            _ => Self::Blob(value.into()),
        }
    }
}

/// A row that has failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) row: u64,
    pub(super) key: Key,
    pub(super) code: i32,
    pub(super) in_doubt: bool,
    pub(super) message: Box<str>,
}

/// The counts of rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Rows that were read from the table.
    pub(super) rows: u64,
    /// Of these, handed over to the writer.
    handed_over: u64,
    /// Of those, with an outcome.
    told: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
    pub(super) in_doubt: u64,
    pub(super) skipped: u64,
}

impl Counts {
    /// Rows whose outcomes have not come.
    pub(super) const fn outstanding(&self) -> u64 {
        self.handed_over.saturating_sub(self.told)
    }
}

#[derive(Default)]
struct State {
    counts: Counts,
    failures: Vec<Failure>,
    summary: FailureSummary,
}

/// What is known of the rows of a table.
pub(super) struct Tally {
    state: Mutex<State>,
    keep: usize,
    began: Instant,
    /// An outcome has come that was waited for.
    settled: Notify,
}

/// What became of the rows, at a moment.
pub(super) struct Result {
    pub(super) counts: Counts,
    pub(super) failures: Vec<Failure>,
    pub(super) summary: FailureSummary,
    pub(super) elapsed: Duration,
}

impl Tally {
    /// Keeps so many failed rows.
    pub(super) fn new(keep: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), keep, began: Instant::now(), settled: Notify::new() })
    }

    /// Outcomes have come.
    fn tell(&self, told: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        told(&mut state);
        if state.counts.outstanding() == 0 {
            self.settled.notify_one();
        }
    }

    /// A row that cannot be sent.
    pub(super) fn refused(&self, row: u64, key: Key, error: &Error) {
        self.state.lock().fail(row, || key, error, self.keep);
    }

    /// A row without anything to write.
    pub(super) fn skipped(&self) {
        self.state.lock().counts.skipped += 1;
    }

    /// So many rows were read, and so many handed over.
    pub(super) fn passed(&self, rows: usize, handed_over: u64) {
        let counts = &mut self.state.lock().counts;
        counts.rows += rows as u64;
        counts.handed_over += handed_over;
    }

    /// Waits until each row that was handed over has its outcome. In one place at a time.
    pub(super) async fn settled(&self) {
        while self.state.lock().counts.outstanding() > 0 {
            self.settled.notified().await;
        }
    }

    /// How many rows there were, and what became of them.
    pub(super) fn counts(&self) -> Counts {
        self.state.lock().counts
    }

    /// What is known by now.
    pub(super) fn result(&self) -> Result {
        let state = self.state.lock();
        let mut failures = state.failures.clone();
        let summary = state.summary.clone();
        let counts = state.counts;
        drop(state);
        failures.sort_by_key(|failure| failure.row);
        Result { counts, failures, summary, elapsed: self.began.elapsed() }
    }
}

/// The table's rows as the writer knows them.
pub(super) struct Owner {
    pub(super) tally: Arc<Tally>,
    pub(super) names: Arc<Names>,
}

impl BlockOwner<WrittenKey> for Owner {
    fn key(&self, number: u64, digest: &Digest, user_key: &[u8]) -> WrittenKey {
        WrittenKey::Row(TableKey::new(&self.names, number, digest, user_key))
    }

    fn confirmed(&self, rows: usize) {
        self.tally.tell(|state| {
            state.counts.told += rows as u64;
            state.counts.ok += rows as u64;
        });
    }

    fn told(&self, outcomes: &[Outcome<WrittenKey>]) {
        self.tally.tell(|state| {
            for outcome in outcomes {
                let (WrittenKey::Row(key), Some(delivery)) = (outcome.record_key(), outcome.delivery()) else {
                    continue;
                };
                state.counts.told += 1;
                match delivery.error() {
                    None => state.counts.ok += 1,
                    Some(error) => {
                        let (kind, value) = key.value();
                        state.fail(key.row, || Key::of(kind, value), error, self.tally.keep);
                    }
                }
            }
        });
    }
}

impl State {
    fn fail(&mut self, row: u64, key: impl FnOnce() -> Key, error: &Error, keep: usize) {
        let in_doubt = error.in_doubt();
        self.counts.failed += 1;
        self.counts.in_doubt += u64::from(in_doubt);
        let place = usize::try_from(row).unwrap_or(usize::MAX);
        self.summary.add(place, error.server_result_code(), Some(error), in_doubt);
        if self.failures.len() < keep {
            let message = error.to_string().into();
            self.failures.push(Failure { row, key: key(), code: error.result_code(), in_doubt, message });
        }
    }
}
