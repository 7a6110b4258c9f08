//! What a transaction has read and written.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use aerolane_wire::digest::Digest;
use aerolane_wire::message::Message;
use aerospike_core::{ResultCode, Txn};

use super::RecordId;
use super::frame::version_of;
use crate::error::{Error, Result};
use crate::sync::Mutex;

/// The ledgers of this process, by the ids of their transactions.
static LEDGERS: LazyLock<Mutex<Ledgers>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Ledgers {
    all: HashMap<i64, (Weak<Txn>, Arc<Ledger>)>,
    /// How many there may be before those of transactions that are gone are looked for.
    sweep_at: usize,
}

/// The namespace of a transaction's records; `None` before its first call and after its end.
///
/// `Txn::namespace` of aerospike-core knows the calls only that go through aerospike-core.
#[must_use]
pub fn namespace_of(txn: &Txn) -> Option<String> {
    let ledger = LEDGERS.lock().all.get(&txn.id()).map(|(_, ledger)| Arc::clone(ledger))?;
    let namespace = ledger.kept.lock().namespace.clone();
    namespace.map(|name| name.to_string())
}

/// How long the server keeps a transaction open: what [`set_timeout`] has said, otherwise [`Txn::timeout`].
#[must_use]
pub fn timeout_of(txn: &Txn) -> Duration {
    let ledger = LEDGERS.lock().all.get(&txn.id()).map(|(_, ledger)| Arc::clone(ledger));
    ledger.and_then(|ledger| ledger.kept.lock().timeout).unwrap_or_else(|| txn.timeout())
}

/// Says how long the server keeps a transaction open, when policies have it already; zero: as the server is configured.
///
/// # Errors
/// The transaction has had its first call, or is over.
pub fn set_timeout(txn: &Arc<Txn>, timeout: Duration) -> Result<()> {
    txn.verify_command()?;
    let ledger = Ledger::of(txn);
    let mut kept = ledger.kept.lock();
    if kept.namespace.is_some() {
        return Err(Error::invalid_argument("the timeout of a transaction can be set only before its first call"));
    }
    kept.timeout = Some(timeout);
    Ok(())
}

/// A record as the end of the transaction has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) set: Box<str>,
    pub(super) digest: Digest,
}

impl RecordId<'_> {
    fn named(&self) -> Named {
        Named { set: self.set.into(), digest: *self.digest }
    }
}

/// What one transaction has read and written.
#[derive(Debug)]
pub(super) struct Ledger {
    id: i64,
    kept: Mutex<Kept>,
    /// Held while the monitor is changed, and while the transaction is ended.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    namespace: Option<Arc<str>>,
    /// In place of the transaction's own.
    timeout: Option<Duration>,
    /// Seconds since 2010, as the server has said; 0: the monitor is not open.
    deadline: u32,
    /// The monitor exists, or may exist, although no answer said so.
    monitor: Monitor,
    /// Records that the monitor knows.
    announced: HashSet<Digest>,
    /// What was read and not written, with the version that was read; 0: there was none.
    reads: HashMap<Digest, (Named, u64)>,
    writes: HashMap<Digest, Named>,
    /// Whether a write may have been applied that got no answer: then only the server can close the monitor.
    write_in_doubt: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Monitor {
    #[default]
    Closed,
    MayBeOpen,
    Open,
}

impl Ledger {
    /// The ledger of a transaction; made at its first call.
    pub(super) fn of(txn: &Arc<Txn>) -> Arc<Self> {
        let mut ledgers = LEDGERS.lock();
        if let Some((_, ledger)) = ledgers.all.get(&txn.id()) {
            return Arc::clone(ledger);
        }
        if ledgers.all.len() >= ledgers.sweep_at {
            ledgers.all.retain(|_, (txn, _)| txn.strong_count() > 0);
            ledgers.sweep_at = (2 * ledgers.all.len()).max(64);
        }
        let ledger = Arc::new(Self { id: txn.id(), kept: Mutex::default(), turn: tokio::sync::Mutex::default() });
        ledgers.all.insert(txn.id(), (Arc::downgrade(txn), Arc::clone(&ledger)));
        ledger
    }

    /// The transaction is over.
    pub(super) fn forget(&self) {
        LEDGERS.lock().all.remove(&self.id);
        *self.kept.lock() = Kept::default();
    }

    pub(super) const fn id(&self) -> i64 {
        self.id
    }

    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Before a call about a record of this namespace.
    ///
    /// # Errors
    /// The transaction has been ended, or its records are of another namespace.
    pub(super) fn begin(&self, txn: &Txn, namespace: &str) -> Result<()> {
        txn.verify_command()?;
        let mut kept = self.kept.lock();
        match &kept.namespace {
            None => kept.namespace = Some(namespace.into()),
            Some(first) if **first == *namespace => {}
            Some(first) => {
                let text =
                    format!("the records of a transaction are of one namespace: of '{first}', not '{namespace}'");
                return Err(Error::invalid_argument(text));
            }
        }
        Ok(())
    }

    /// See [`timeout_of`].
    pub(super) fn timeout(&self, txn: &Txn) -> Duration {
        self.kept.lock().timeout.unwrap_or_else(|| txn.timeout())
    }

    pub(super) fn namespace(&self) -> Option<Arc<str>> {
        self.kept.lock().namespace.clone()
    }

    /// Namespace and those of these records that the monitor does not know; `None` if it knows all.
    pub(super) fn unannounced(&self, digests: &[Digest]) -> Option<(Arc<str>, Vec<Digest>)> {
        let kept = self.kept.lock();
        let new: Vec<_> = digests.iter().filter(|digest| !kept.announced.contains(*digest)).copied().collect();
        if new.is_empty() { None } else { kept.namespace.clone().map(|namespace| (namespace, new)) }
    }

    pub(super) fn announced(&self, digests: &[Digest], deadline: u32) {
        let mut kept = self.kept.lock();
        kept.announced.extend(digests);
        (kept.deadline, kept.monitor) = (deadline, Monitor::Open);
    }

    pub(super) fn is_open(&self) -> bool {
        self.kept.lock().monitor == Monitor::Open
    }

    pub(super) fn may_be_open(&self) -> bool {
        self.kept.lock().monitor != Monitor::Closed
    }

    pub(super) fn opened(&self) {
        self.kept.lock().monitor = Monitor::Open;
    }

    pub(super) fn opening_in_doubt(&self) {
        self.kept.lock().monitor = Monitor::MayBeOpen;
    }

    pub(super) fn not_opened(&self) {
        self.kept.lock().monitor = Monitor::Closed;
    }

    /// Whether the client is to close the monitor: it is open, and no write is in doubt.
    pub(super) fn closes(&self) -> bool {
        let kept = self.kept.lock();
        kept.monitor == Monitor::Open && !kept.write_in_doubt
    }

    /// What a request about a record has to tell: the version that was read, the deadline (0: none).
    pub(super) fn known_of(&self, digest: &Digest) -> (Option<u64>, u32) {
        let kept = self.kept.lock();
        (kept.reads.get(digest).map(|(_, version)| *version), kept.deadline)
    }

    /// An answer about a record: `body` is its message.
    pub(super) fn heard(&self, record: RecordId<'_>, writes: bool, body: &[u8]) {
        // What cannot be read is refused by whoever decodes it.
        if let Ok((message, _)) = Message::decode_prefix(body) {
            self.told(record, writes, version_of(&message), message.header.result_code);
        }
    }

    /// The same, taken apart.
    pub(super) fn told(&self, record: RecordId<'_>, writes: bool, version: Option<u64>, result_code: u8) {
        let mut kept = self.kept.lock();
        match version {
            // Also of a write that has not taken place: it has read that it must not.
            Some(version) => {
                kept.reads.insert(*record.digest, (record.named(), version));
            }
            None if writes && result_code == u8::from(ResultCode::Ok) => {
                kept.reads.remove(record.digest);
                kept.writes.insert(*record.digest, record.named());
            }
            None => {}
        }
    }

    /// A write may have been applied.
    pub(super) fn in_doubt(&self, record: &Named) {
        let mut kept = self.kept.lock();
        kept.write_in_doubt = true;
        kept.reads.remove(&record.digest);
        kept.writes.insert(record.digest, record.clone());
    }

    pub(super) fn reads(&self) -> Vec<(Named, u64)> {
        self.kept.lock().reads.values().cloned().collect()
    }

    pub(super) fn writes(&self) -> Vec<Named> {
        self.kept.lock().writes.values().cloned().collect()
    }
}

/// A write under way. Dropped before it is settled (its future was dropped, or it ended in doubt), it is in doubt.
pub(super) struct Pending<'l> {
    ledger: &'l Ledger,
    record: Option<Named>,
}

impl<'l> Pending<'l> {
    pub(super) fn new(ledger: &'l Ledger, record: RecordId<'_>) -> Self {
        Self { ledger, record: Some(record.named()) }
    }

    /// What became of it is known.
    pub(super) fn settle(&mut self) {
        self.record = None;
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(record) = &self.record {
            self.ledger.in_doubt(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(digest: &Digest) -> RecordId<'_> {
        RecordId { namespace: "test", set: "s", digest }
    }

    #[test]
    fn a_record_is_read_or_written() {
        let txn = Arc::new(Txn::new());
        let ledger = Ledger::of(&txn);
        assert!(Arc::ptr_eq(&ledger, &Ledger::of(&txn)));
        ledger.begin(&txn, "test").unwrap();
        assert_eq!(namespace_of(&txn).as_deref(), Some("test"));
        assert!(ledger.begin(&txn, "other").unwrap_err().to_string().contains("'test', not 'other'"));
        let (a, b) = ([1; 20], [2; 20]);
        ledger.told(record(&a), false, Some(7), 0);
        ledger.told(record(&b), false, Some(0), 2);
        assert_eq!((ledger.known_of(&a).0, ledger.known_of(&b).0), (Some(7), Some(0)));
        // A write that was refused has read; one that has succeeded needs no version any more.
        ledger.told(record(&a), true, Some(8), 3);
        ledger.told(record(&b), true, None, 0);
        assert_eq!((ledger.known_of(&a).0, ledger.known_of(&b).0), (Some(8), None));
        assert_eq!((ledger.reads().len(), ledger.writes().len()), (1, 1));
        // A refusal without a version says nothing.
        ledger.told(record(&a), true, None, 120);
        assert_eq!(ledger.known_of(&a).0, Some(8));
        ledger.announced(&[a], 9);
        assert!(ledger.closes());
        assert_eq!(ledger.unannounced(&[a, b]).unwrap().1, [b]);
        drop(Pending::new(&ledger, record(&a)));
        assert!(!ledger.closes() && ledger.reads().is_empty() && ledger.writes().len() == 2);
        ledger.forget();
        assert_eq!(namespace_of(&txn), None);
    }

    #[test]
    fn the_timeout_is_said_before_the_first_call() {
        let txn = Arc::new(Txn::new().with_timeout(Duration::from_secs(7)));
        let shared = Arc::clone(&txn);
        assert_eq!(timeout_of(&shared), Duration::from_secs(7));
        set_timeout(&txn, Duration::from_secs(2)).unwrap();
        assert_eq!(timeout_of(&shared), Duration::from_secs(2));
        let ledger = Ledger::of(&txn);
        assert_eq!(ledger.timeout(&txn), Duration::from_secs(2));
        ledger.begin(&txn, "test").unwrap();
        let refused = set_timeout(&txn, Duration::from_secs(3)).unwrap_err();
        assert!(refused.to_string().contains("before its first call"), "{refused}");
        assert_eq!(timeout_of(&txn), Duration::from_secs(2));
    }

    #[test]
    fn ledgers_of_transactions_that_are_gone_go_too() {
        let kept = Arc::new(Txn::new());
        Ledger::of(&kept);
        for _ in 0..1000 {
            Ledger::of(&Arc::new(Txn::new()));
        }
        let ledgers = LEDGERS.lock();
        assert!(ledgers.all.len() < 300, "{}", ledgers.all.len());
        assert!(ledgers.all.contains_key(&kept.id()));
    }
}
