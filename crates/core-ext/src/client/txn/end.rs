//! The end of a transaction: commit and abort.
//!
//! A commit verifies that nothing that was read has changed, marks the monitor (from then on the transaction is
//! committed, whoever dies), rolls each record forward and closes the monitor. An abort rolls back and closes.
//!
//! Both run on the control plane's runtime: a caller that gives up does not stop them half-way.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use aerospike_core::{
    AbortStatus, BasePolicy, BatchPolicy, CommitErrorType, CommitStatus, IndexMap, Key, Record, ResultCode, Txn,
    TxnRollPolicy, TxnState, TxnVerifyPolicy,
};

use super::ledger::{Ledger, Named};
use super::{monitor, send};
use crate::batch::BatchRecord;
use crate::client::asynchronous::Shared;
use crate::command::policy::server_timeout_ms;
use crate::error::{Error, ErrorKind, Result};

const OK: u8 = 0;
const NOT_FOUND: u8 = 2;
const COMMITTED: u8 = 124;

/// Records that are verified or rolled at a time.
const AT_A_TIME: usize = 128;

/// Commits a transaction.
pub(in crate::client) async fn commit(
    shared: &Arc<Shared>,
    verify: &TxnVerifyPolicy,
    roll: &TxnRollPolicy,
    txn: &Arc<Txn>,
) -> Result<CommitStatus> {
    let overlay = shared.cluster.overlay();
    let (verified, rolled) = (overlay.txn_verify(&verify.batch_policy), overlay.txn_roll(&roll.batch_policy));
    let verify = plain(verified.as_deref().unwrap_or(&verify.batch_policy));
    let roll = plain(rolled.as_deref().unwrap_or(&roll.batch_policy));
    detached(shared, txn, |end| async move { end.commit(&verify, &roll).await }).await
}

/// Takes back what a transaction has written.
pub(in crate::client) async fn abort(
    shared: &Arc<Shared>,
    roll: &TxnRollPolicy,
    txn: &Arc<Txn>,
) -> Result<AbortStatus> {
    let rolled = shared.cluster.overlay().txn_roll(&roll.batch_policy);
    let roll = plain(rolled.as_deref().unwrap_or(&roll.batch_policy));
    detached(shared, txn, |end| async move { end.abort(&roll).await }).await
}

/// The part of a policy that counts for requests about single records.
fn plain(policy: &BatchPolicy) -> BasePolicy {
    BasePolicy { txn: None, filter_expression: None, use_compression: false, ..policy.base_policy.clone() }
}

/// Runs a future to its end, whether or not its caller waits for it.
async fn detached<T, F>(shared: &Arc<Shared>, txn: &Arc<Txn>, step: impl FnOnce(End) -> F) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    shared.check_open()?;
    let end = End { shared: Arc::clone(shared), ledger: Ledger::of(txn), txn: Arc::clone(txn) };
    let task = shared.cluster.spawn(step(end));
    tokio::select! {
        biased;
        () = shared.cluster.closing() => Err(Error::client_closed()),
        result = task => result.ok().flatten().unwrap_or_else(|| Err(Error::client_closed())),
    }
}

struct End {
    shared: Arc<Shared>,
    ledger: Arc<Ledger>,
    txn: Arc<Txn>,
}

/// A step that has failed: the outcome of each record, and the first failure.
struct Failed {
    records: Vec<BatchRecord>,
    cause: Error,
}

impl End {
    async fn commit(&self, verify: &BasePolicy, roll: &BasePolicy) -> Result<CommitStatus> {
        let _turn = self.ledger.turn().await;
        match self.txn.state() {
            TxnState::Open => {
                self.verify(verify, roll).await?;
                self.txn.set_state(TxnState::Verified);
            }
            TxnState::Verified | TxnState::CommitFailed => {}
            TxnState::Committed => return Ok(CommitStatus::AlreadyCommitted),
            TxnState::Aborted => return Err(Error::server_bare(ResultCode::MrtAborted)),
        }
        let already = self.mark(roll).await?;
        self.txn.set_state(TxnState::Committed);
        self.txn.set_in_doubt(false);
        if let Err(failed) = self.roll(roll, true).await {
            let in_doubt = failed.cause.in_doubt() || matches!(failed.cause.kind(), ErrorKind::Timeout);
            self.txn.set_in_doubt(in_doubt);
            self.ledger.forget();
            let kind = CommitErrorType::RollForwardAbandoned;
            return Err(Error::commit_failed(kind, Vec::new(), failed.records, in_doubt, failed.cause));
        }
        let closed = self.close(roll).await;
        self.ledger.forget();
        Ok(match (closed, already) {
            (Err(_), _) => CommitStatus::CloseAbandoned,
            (Ok(()), true) => CommitStatus::AlreadyCommitted,
            (Ok(()), false) => CommitStatus::Ok,
        })
    }

    async fn abort(&self, roll: &BasePolicy) -> Result<AbortStatus> {
        let _turn = self.ledger.turn().await;
        match self.txn.state() {
            TxnState::Open | TxnState::Verified => {}
            TxnState::CommitFailed => return Err(Error::txn_failed(aerospike_core::txn::COMMIT_FAILED_ABORT_MESSAGE)),
            TxnState::Committed => return Err(Error::server_bare(ResultCode::MrtCommitted)),
            TxnState::Aborted => return Ok(AbortStatus::AlreadyAborted),
        }
        self.txn.set_state(TxnState::Aborted);
        let rolled = self.roll(roll, false).await;
        let closed = if rolled.is_ok() { self.close(roll).await } else { Ok(()) };
        self.ledger.forget();
        Ok(match (rolled, closed) {
            (Err(_), _) => AbortStatus::RollBackAbandoned,
            (Ok(()), Err(_)) => AbortStatus::CloseAbandoned,
            (Ok(()), Ok(())) => AbortStatus::Ok,
        })
    }

    /// Whether all that was read is still so. If not, the transaction is aborted.
    async fn verify(&self, verify: &BasePolicy, roll: &BasePolicy) -> Result<()> {
        let reads = self.ledger.reads();
        let Some(namespace) = self.ledger.namespace().filter(|_| !reads.is_empty()) else { return Ok(()) };
        let timeout_ms = server_timeout_ms(verify);
        let asked = each(&reads, |(record, version)| {
            let (namespace, record, version) = (Arc::clone(&namespace), record.clone(), *version);
            async move {
                // A record that was not there may still be missing.
                let good: &[u8] = if version == 0 { &[OK, NOT_FOUND] } else { &[OK] };
                let request = monitor::verify(&namespace, &record, version, timeout_ms)?;
                let target = (&*namespace, "", &record.digest);
                send(&self.shared, verify, target, false, &request, |body, node| monitor::accept(body, node, good))
                    .await
            }
        });
        let outcomes = asked.await;
        let records = reads.iter().map(|(record, _)| record);
        let Err(failed) = rows(&namespace, records, outcomes, false) else { return Ok(()) };
        self.txn.set_state(TxnState::Aborted);
        let (kind, roll_records) = if let Err(failed) = self.roll(roll, false).await {
            (CommitErrorType::VerifyFailAbortAbandoned, failed.records)
        } else {
            let writes = self.ledger.writes();
            let (taken_back, _) = rows_and_cause(&namespace, writes.iter(), writes.iter().map(|_| Ok(OK)), true);
            let closed = self.close(roll).await.is_ok();
            let kind = if closed { CommitErrorType::VerifyFail } else { CommitErrorType::VerifyFailCloseAbandoned };
            (kind, taken_back)
        };
        self.ledger.forget();
        Err(Error::commit_failed(kind, failed.records, roll_records, false, failed.cause))
    }

    /// Marks the monitor as committed; says whether it was already.
    async fn mark(&self, policy: &BasePolicy) -> Result<bool> {
        let Some(namespace) = self.ledger.namespace().filter(|_| self.ledger.is_open()) else { return Ok(false) };
        let id = self.ledger.id();
        let request = monitor::mark_forward(&namespace, id, server_timeout_ms(policy))?;
        let target = (&*namespace, monitor::SET, &monitor::digest_of(id));
        let marked = send(&self.shared, policy, target, true, &request, |body, node| {
            monitor::accept(body, node, &[OK, COMMITTED])
        });
        let error = match marked.await {
            Ok(code) => return Ok(code == COMMITTED),
            Err(error) => error,
        };
        let kind = CommitErrorType::MarkRollForwardAbandoned;
        // The server has aborted it, or does so now.
        if error.matches(&[ResultCode::MrtAborted, ResultCode::MrtExpired]) {
            self.txn.set_in_doubt(false);
            self.txn.set_state(TxnState::Aborted);
            self.ledger.forget();
            return Err(Error::commit_failed(kind, Vec::new(), Vec::new(), false, error));
        }
        let in_doubt = self.txn.in_doubt() || error.in_doubt();
        if in_doubt {
            self.txn.set_in_doubt(true);
            self.txn.set_state(TxnState::CommitFailed);
        }
        Err(Error::commit_failed(kind, Vec::new(), Vec::new(), in_doubt, error))
    }

    /// Rolls all that was written forward or back.
    async fn roll(&self, policy: &BasePolicy, forward: bool) -> std::result::Result<(), Failed> {
        let writes = self.ledger.writes();
        let Some(namespace) = self.ledger.namespace().filter(|_| !writes.is_empty()) else { return Ok(()) };
        let (id, timeout_ms) = (self.ledger.id(), server_timeout_ms(policy));
        let asked = each(&writes, |record| {
            let (namespace, record) = (Arc::clone(&namespace), record.clone());
            async move {
                let request = monitor::roll(&namespace, id, &record, forward, timeout_ms)?;
                let target = (&*namespace, "", &record.digest);
                // What is not there was never written, or rolled before.
                let accept = |body: &[u8], node: &_| monitor::accept(body, node, &[OK, NOT_FOUND]);
                send(&self.shared, policy, target, true, &request, accept).await
            }
        });
        let outcomes = asked.await;
        rows(&namespace, writes.iter(), outcomes, true)
    }

    /// Removes the monitor, if the client is to do it.
    async fn close(&self, policy: &BasePolicy) -> Result<()> {
        let Some(namespace) = self.ledger.namespace().filter(|_| self.ledger.closes()) else { return Ok(()) };
        let id = self.ledger.id();
        let request = monitor::delete(&namespace, id, true, server_timeout_ms(policy))?;
        let target = (&*namespace, monitor::SET, &monitor::digest_of(id));
        let accept = |body: &[u8], node: &_| monitor::accept(body, node, &[OK, NOT_FOUND]);
        send(&self.shared, policy, target, true, &request, accept).await.map(drop)
    }
}

/// The outcomes of a step as rows; an error if any has failed.
fn rows<'a>(
    namespace: &str,
    records: impl Iterator<Item = &'a Named>,
    outcomes: Vec<Result<u8>>,
    writes: bool,
) -> std::result::Result<(), Failed> {
    let (records, cause) = rows_and_cause(namespace, records, outcomes, writes);
    cause.map_or(Ok(()), |cause| Err(Failed { records, cause }))
}

/// The outcomes of a step as rows, and the first failure.
fn rows_and_cause<'a>(
    namespace: &str,
    records: impl Iterator<Item = &'a Named>,
    outcomes: impl IntoIterator<Item = Result<u8>>,
    writes: bool,
) -> (Vec<BatchRecord>, Option<Error>) {
    let mut cause = None;
    let rows = records.zip(outcomes).map(|(record, outcome)| {
        let key = Key::with_digest(namespace, &*record.set, None, record.digest);
        let mut row = BatchRecord::new(key, writes);
        match outcome {
            Ok(_) => row.set_ok(Record::new(None, IndexMap::new(), None, 0, 0)),
            Err(error) => {
                cause.get_or_insert_with(|| error.clone());
                row.set_error(error, None);
            }
        }
        row
    });
    let records = rows.collect();
    (records, cause)
}

/// A future, or what has become of it.
type Step<F> = (Option<Pin<Box<F>>>, Option<<F as Future>::Output>);

/// Does something with each item, some at a time; the outcomes in order.
async fn each<'i, I, F>(items: &'i [I], start: impl Fn(&'i I) -> F) -> Vec<F::Output>
where
    F: Future,
{
    let mut outcomes = Vec::with_capacity(items.len());
    for chunk in items.chunks(AT_A_TIME) {
        let mut running: Vec<Step<F>> = chunk.iter().map(|item| (Some(Box::pin(start(item))), None)).collect();
        poll_fn(|cx| {
            let mut left = false;
            for (future, outcome) in &mut running {
                if let Some(polled) = future.as_mut().map(|future| future.as_mut().poll(cx)) {
                    match polled {
                        Poll::Pending => left = true,
                        Poll::Ready(output) => (*future, *outcome) = (None, Some(output)),
                    }
                }
            }
            if left { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        outcomes.extend(running.into_iter().filter_map(|(_, outcome)| outcome));
    }
    outcomes
}
