//! The settings of a writer.

use std::fmt;
use std::time::Duration;

use crate::error::{Error, Result};

/// Settings of a [`Writer`](super::Writer). The defaults suit bulk writes to a healthy cluster.
///
/// ```
/// use std::time::Duration;
/// use aerolane::WriterOptions;
///
/// let options = WriterOptions { record_ttl: Duration::from_secs(60), ..WriterOptions::default() };
/// assert_eq!(options.max_outstanding_bytes, 64 << 20);
/// ```
#[derive(Clone, PartialEq)]
pub struct WriterOptions {
    /// The most records that are handed over and have no outcome yet. A further `put` waits. By default 10,000, and 20,000 while
    /// a node holds up the others (see [`batches_in_flight`](Self::batches_in_flight)).
    pub max_outstanding_records: Option<usize>,
    /// The most bytes of encoded records that have no outcome yet. A further `put` waits. A record that is larger than
    /// this alone waits until nothing else is outstanding. Default 64 MiB.
    pub max_outstanding_bytes: usize,
    /// The most records of one batch. Default 256.
    pub batch_records: usize,
    /// The most bytes of encoded records in one batch. A larger record goes as a command of its own. Default 256 KiB.
    pub batch_bytes: usize,
    /// How long a batch that is not full waits for more records: while other requests of the writer are in flight that were sent
    /// no longer ago than this, and while records come in so fast that 32 for each node are to be expected within it. Otherwise
    /// records go at once; so they do when somebody waits for a flush or for room. Default 1 ms.
    pub linger: Duration,
    /// How many batches are in flight to one node at most, as a rule. Default 4. A node that holds up the others gets up to eight
    /// times as many: while somebody waits for room and more than half of what is outstanding is for that node, and for a
    /// second after.
    pub batches_in_flight: usize,
    /// How long one request may take until it counts as timed out. Default 5 s.
    pub attempt_timeout: Duration,
    /// The time to live of a record in the writer: a record that has no outcome after this long is not sent (again), and
    /// fails with [`ErrorKind::RecordExpired`](crate::ErrorKind::RecordExpired). Has nothing to do with the TTL that
    /// the server keeps. Default 30 s.
    pub record_ttl: Duration,
    /// The most retries of one record. Attempts that met a moved partition do not count. Default 20.
    pub max_retries: u32,
    /// The upper bound of the first pause before a retry; it doubles with every retry. The pause is a random part of
    /// it ("full jitter"). Default 10 ms.
    pub backoff: Duration,
    /// The highest upper bound of these pauses. Default 1 s.
    pub max_backoff: Duration,
    /// Whether to repeat an attempt in doubt of a record for which a second execution makes a difference: `add`, `append`,
    /// most operations on collections, UDFs, writes that check a generation or create only. Default false: such a record
    /// fails, and its error is in doubt.
    pub repeat_in_doubt: bool,
    /// Whether [`outcomes`](super::Writer::outcomes) and [`on_outcome`](super::Writer::on_outcome) tell of failed records
    /// only: for programs that hand records over and look at nothing but failures. Default false.
    pub failures_only: bool,
    /// How many retries each record that succeeds pays for. Together with `min_retries_per_second` this keeps retries from
    /// storming a sick cluster: a retry that nothing has paid for waits. Retries of records that their node has throttled
    /// ([`CLASSES`](super::CLASSES)) are bounded by the rate of that node instead. Default 0.2.
    pub retries_per_success: f64,
    /// How many retries a second are possible even if nothing succeeds. Default 100.
    pub min_retries_per_second: f64,
    /// The most records a second, over all nodes. Default: no limit.
    pub max_records_per_second: Option<f64>,
    /// The most bytes of encoded records a second, over all nodes. Default: no limit.
    pub max_bytes_per_second: Option<f64>,
    /// The most records a second to one node. Default: no limit.
    pub max_records_per_second_per_node: Option<f64>,
    /// The most bytes of encoded records a second to one node. Default: no limit.
    pub max_bytes_per_second_per_node: Option<f64>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            max_outstanding_records: None,
            max_outstanding_bytes: 64 << 20,
            batch_records: 256,
            batch_bytes: 256 << 10,
            linger: Duration::from_millis(1),
            batches_in_flight: 4,
            attempt_timeout: Duration::from_secs(5),
            record_ttl: Duration::from_secs(30),
            max_retries: 20,
            backoff: Duration::from_millis(10),
            max_backoff: Duration::from_secs(1),
            repeat_in_doubt: false,
            failures_only: false,
            retries_per_success: 0.2,
            min_retries_per_second: 100.0,
            max_records_per_second: None,
            max_bytes_per_second: None,
            max_records_per_second_per_node: None,
            max_bytes_per_second_per_node: None,
        }
    }
}

/// The longest time that a setting may name: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
/// The most records of one batch, as of a server's `batch-max-requests` by default.
const MOST_BATCH_RECORDS: usize = 5000;
/// The most that a semaphore counts at once.
const MOST_OUTSTANDING: usize = u32::MAX as usize >> 3;

impl WriterOptions {
    /// How many records may be outstanding: as a rule, and while a node holds up the others.
    pub(super) const fn outstanding_records(&self) -> (usize, usize) {
        match self.max_outstanding_records {
            Some(most) => (most, most),
            None => (10_000, 20_000),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the setting and what it may be.
    pub fn validate(&self) -> Result<()> {
        let counts = [
            ("max_outstanding_records", self.outstanding_records().1, MOST_OUTSTANDING),
            ("max_outstanding_bytes", self.max_outstanding_bytes, u32::MAX as usize),
            ("batch_records", self.batch_records, MOST_BATCH_RECORDS),
            ("batch_bytes", self.batch_bytes, 64 << 20),
            ("batches_in_flight", self.batches_in_flight, 1024),
        ];
        for (name, value, most) in counts {
            if !(1..=most).contains(&value) {
                return Err(refused(name, &value, &format!("1 to {most}")));
            }
        }
        let times = [
            ("attempt_timeout", self.attempt_timeout, Duration::from_millis(1)),
            ("record_ttl", self.record_ttl, Duration::from_millis(1)),
            ("linger", self.linger, Duration::ZERO),
            ("backoff", self.backoff, Duration::ZERO),
            ("max_backoff", self.max_backoff, self.backoff),
        ];
        for (name, value, least) in times {
            if !(least..=LONGEST).contains(&value) {
                return Err(refused(name, &format_args!("{value:?}"), &format!("{least:?} to {LONGEST:?}")));
            }
        }
        for (name, value) in
            [("retries_per_success", self.retries_per_success), ("min_retries_per_second", self.min_retries_per_second)]
        {
            if !(0.0..=1e9).contains(&value) {
                return Err(refused(name, &value, "0 to 1e9"));
            }
        }
        let rates = [
            ("max_records_per_second", self.max_records_per_second),
            ("max_bytes_per_second", self.max_bytes_per_second),
            ("max_records_per_second_per_node", self.max_records_per_second_per_node),
            ("max_bytes_per_second_per_node", self.max_bytes_per_second_per_node),
        ];
        for (name, rate) in rates {
            if let Some(rate) = rate
                && !(1.0..=1e15).contains(&rate)
            {
                return Err(refused(name, &rate, "at least 1, or none"));
            }
        }
        Ok(())
    }
}

fn refused(name: &str, value: &dyn fmt::Display, may: &str) -> Error {
    Error::invalid_argument(format!("{name} of a writer must be {may}, not {value}"))
}

impl fmt::Debug for WriterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterOptions")
            .field("max_outstanding_records", &self.max_outstanding_records)
            .field("max_outstanding_bytes", &self.max_outstanding_bytes)
            .field("batch_records", &self.batch_records)
            .field("linger", &self.linger)
            .field("batches_in_flight", &self.batches_in_flight)
            .field("record_ttl", &self.record_ttl)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_bounded_by_name() {
        assert!(WriterOptions::default().validate().is_ok());
        let plain = WriterOptions::default;
        let wrong = [
            ("max_outstanding_records", WriterOptions { max_outstanding_records: Some(0), ..plain() }),
            ("batch_records", WriterOptions { batch_records: 5001, ..plain() }),
            ("record_ttl", WriterOptions { record_ttl: Duration::ZERO, ..plain() }),
            ("linger", WriterOptions { linger: Duration::MAX, ..plain() }),
            ("max_backoff", WriterOptions { max_backoff: Duration::from_millis(1), ..plain() }),
            ("retries_per_success", WriterOptions { retries_per_success: f64::NAN, ..plain() }),
            ("max_records_per_second", WriterOptions { max_records_per_second: Some(0.0), ..plain() }),
        ];
        for (name, options) in wrong {
            let text = options.validate().unwrap_err().to_string();
            assert!(text.contains(name), "{text}");
        }
    }
}
