//! What became of a record.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use aerolane_wire::message::MessageHeader;
use aerospike_core::{CITRUSLEAF_EPOCH_UNIX_SECS, Record};

use crate::command::decode::{self, Want};
use crate::error::{Error, Result};

/// The server's confirmation of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    generation: u32,
    /// Seconds of the server's own epoch; 0: never.
    expiration: u32,
    existed: bool,
    /// The message of the answer, if an operation has returned something.
    body: Box<[u8]>,
}

impl Written {
    /// From the message that confirms it.
    pub(super) fn of(body: &[u8]) -> Result<Self> {
        let header = MessageHeader::decode(body)?;
        let kept = if header.n_ops > 0 { body.into() } else { Box::default() };
        Ok(Self { generation: header.generation, expiration: header.record_ttl, existed: true, body: kept })
    }

    /// Of a record whose operations have nothing to return.
    pub(super) fn plain(generation: u32, expiration: u32) -> Self {
        Self { generation, expiration, existed: true, body: Box::default() }
    }

    /// Of a record that was to be deleted, and is not there.
    pub(super) fn missing() -> Self {
        Self { generation: 0, expiration: 0, existed: false, body: Box::default() }
    }

    #[cfg(test)]
    pub(super) fn with_generation(generation: u32) -> Self {
        Self { generation, ..Self::missing() }
    }

    /// The generation of the record after the write. After a delete: what the server says, mostly 0.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// The time that the record has left on the server; `None`: it never expires.
    #[must_use]
    pub fn time_to_live(&self) -> Option<Duration> {
        if self.expiration == 0 {
            return None;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let expires = CITRUSLEAF_EPOCH_UNIX_SECS + u64::from(self.expiration);
        // A record that is about to expire has some time left, however clocks differ.
        Some(Duration::from_secs(expires.saturating_sub(now).max(1)))
    }

    /// False for a delete of a record that was not there. Such a delete counts as a success.
    #[must_use]
    pub const fn existed(&self) -> bool {
        self.existed
    }

    /// What operations have returned, or a UDF has; a record without bins if they return nothing.
    ///
    /// # Errors
    /// `BadResponse`: the answer of the server cannot be understood.
    pub fn record(&self) -> Result<Record> {
        if self.body.is_empty() {
            return Ok(Record::new(None, aerospike_core::IndexMap::default(), None, self.generation, self.expiration));
        }
        decode::record(&self.body, Want::OPERATE, &Arc::from(""))
    }

    /// The message of the answer; empty if no operation has returned anything.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.body
    }
}

/// One attempt to write a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteAttempt {
    /// The node, as `NAME: host:port`; `None` if none could be chosen.
    pub node: Option<Arc<str>>,
    /// When it was sent, after the record was handed over.
    pub after: Duration,
    /// How long it took.
    pub took: Duration,
    /// Its result code, as of [`Error::result_code`]; 0: it was confirmed.
    pub code: i32,
    /// Whether it may have been executed although it failed.
    pub in_doubt: bool,
}

/// An attempt as it is kept: of records by the million, most have one.
#[derive(Debug, Clone)]
struct Attempt {
    node: Option<Arc<str>>,
    /// Both in nanoseconds.
    after: u64,
    took: u64,
    code: i32,
    in_doubt: bool,
}

impl Attempt {
    fn public(&self) -> WriteAttempt {
        let Self { node, after, took, code, in_doubt } = self;
        WriteAttempt {
            node: node.clone(),
            after: Duration::from_nanos(*after),
            took: Duration::from_nanos(*took),
            code: *code,
            in_doubt: *in_doubt,
        }
    }
}

/// The attempts before the last, if there are any.
#[derive(Debug, Clone, Default)]
struct Earlier {
    /// The first of them.
    kept: Vec<Attempt>,
    /// How many there were.
    made: u32,
    /// How long they were in flight, in nanoseconds.
    in_flight: u64,
}

/// The outcome of a record in full: result, attempts, times.
#[derive(Debug, Clone)]
pub struct Delivery {
    result: Result<Written>,
    sequence: u64,
    took: Duration,
    tries: Tries,
}

impl Delivery {
    /// The server's confirmation, or why the record has failed.
    ///
    /// # Errors
    /// That of the last attempt, [`RecordExpired`](crate::ErrorKind::RecordExpired), or
    /// [`WriterClosed`](crate::ErrorKind::WriterClosed).
    pub fn result(&self) -> std::result::Result<&Written, &Error> {
        self.result.as_ref()
    }

    /// Whether the server has confirmed the record.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    /// Why the record has failed.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.result.as_ref().err()
    }

    /// Whether the record failed and may have been written all the same, by one of its attempts.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        self.error().is_some_and(Error::in_doubt)
    }

    /// The number of the record: counted from 0 in the order in which records were handed over.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The attempts, oldest first. Of a record with more than 17, the first 16 and the last.
    pub fn attempts(&self) -> impl Iterator<Item = WriteAttempt> {
        let earlier = self.tries.earlier.iter().flat_map(|earlier| &earlier.kept);
        earlier.chain(&self.tries.last).map(Attempt::public)
    }

    /// How many attempts there were.
    #[must_use]
    pub fn attempt_count(&self) -> u32 {
        self.tries.made()
    }

    /// How long the record waited until it was sent first.
    #[must_use]
    pub fn waited(&self) -> Duration {
        let first = self.tries.earlier.as_ref().and_then(|earlier| earlier.kept.first());
        first.or(self.tries.last.as_ref()).map_or(self.took, |first| Duration::from_nanos(first.after))
    }

    /// How long its attempts were in flight, all together.
    #[must_use]
    pub fn in_flight(&self) -> Duration {
        let earlier = self.tries.earlier.as_ref().map_or(0, |earlier| earlier.in_flight);
        Duration::from_nanos(self.tries.last.as_ref().map_or(0, |last| last.took) + earlier)
    }

    /// How long it took from hand-over to outcome.
    #[must_use]
    pub const fn took(&self) -> Duration {
        self.took
    }
}

/// How an attempt at a record ended.
#[derive(Debug)]
pub(super) struct AttemptEnd {
    pub(super) result: Result<Written>,
    /// Who answered, if somebody did. [`Tries::add`] takes it.
    pub(super) node: Option<Arc<str>>,
}

/// The attempts of a record so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Tries {
    earlier: Option<Box<Earlier>>,
    last: Option<Attempt>,
}

impl Tries {
    /// Attempts before the last that are kept.
    const KEPT: usize = 16;

    /// Takes in an attempt that was made between these moments.
    pub(super) fn add(&mut self, handed_over: Instant, (sent, now): (Instant, Instant), end: &mut AttemptEnd) {
        let (code, in_doubt, named) = match &end.result {
            Ok(_) => (0, false, None),
            Err(error) => (error.result_code(), error.in_doubt(), error.node()),
        };
        let attempt = Attempt {
            node: end.node.take().or_else(|| named.map(Arc::from)),
            after: nanos(sent.saturating_duration_since(handed_over)),
            took: nanos(now.saturating_duration_since(sent)),
            code,
            in_doubt,
        };
        if let Some(before) = self.last.replace(attempt) {
            let earlier = self.earlier.get_or_insert_default();
            earlier.made += 1;
            earlier.in_flight += before.took;
            if earlier.kept.len() < Self::KEPT {
                earlier.kept.push(before);
            }
        }
    }

    pub(super) fn made(&self) -> u32 {
        self.earlier.as_ref().map_or(0, |earlier| earlier.made) + u32::from(self.last.is_some())
    }

    /// The outcome, now.
    pub(super) const fn over(self, sequence: u64, took: Duration, result: Result<Written>) -> Delivery {
        Delivery { result, sequence, took, tries: self }
    }
}

/// More than 500 years count as that.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
