//! Batches that become a transaction of their own.

use std::sync::Arc;
use std::time::Duration;

use aerolane::raw::RawClient;
use aerospike_core::{BatchPolicy, Txn, TxnRollPolicy, TxnState, TxnVerifyPolicy};

use super::rows::Rows;
use super::run::{Ran, is_answered};
use crate::txn::retry;

/// How a batch becomes a transaction: begun before it, committed after it, and all of it once more when it meets another
/// transaction.
#[derive(Clone)]
pub(crate) struct Implicit {
    /// The most attempts, with the first one: 1 or more.
    pub(crate) attempts: u32,
    /// The mean pause before another attempt.
    pub(crate) pause: Duration,
    pub(crate) verify: TxnVerifyPolicy,
    pub(crate) roll: TxnRollPolicy,
}

/// Takes a transaction back that nobody has ended: its caller was interrupted, and no longer waits.
struct Open<'a> {
    raw: &'a RawClient,
    txn: Arc<Txn>,
    roll: &'a TxnRollPolicy,
    ended: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let (client, txn, roll) = (self.raw.asynchronous(), Arc::clone(&self.txn), self.roll.clone());
            // Without an answer to give; the server takes the transaction back otherwise, once its time is over.
            self.raw.spawn(async move { drop(Box::pin(client.abort_with_policy(&roll, &txn)).await) });
        }
    }
}

impl Implicit {
    /// Carries batches out, one after the other, as one transaction. Rows that the server refuses are no failure of it: the
    /// others are committed. The rows come back in any case, for a thread of Python to drop.
    pub(super) async fn carry_out(
        self,
        raw: RawClient,
        policy: Arc<BatchPolicy>,
        mut runs: Vec<Rows>,
    ) -> (Vec<Rows>, aerolane::Result<Vec<aerolane::Result<()>>>) {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(&raw, &policy, &mut runs).await {
                Ok(results) => return (runs, Ok(results)),
                Err(error) => error,
            };
            let Some(pause) = retry::pause(&error, self.pause).filter(|_| attempt < self.attempts) else {
                return (runs, Err(error));
            };
            attempt += 1;
            tokio::time::sleep(pause).await;
            runs.iter_mut().for_each(Rows::reset);
        }
    }

    async fn attempt(
        &self,
        raw: &RawClient,
        policy: &BatchPolicy,
        runs: &mut [Rows],
    ) -> aerolane::Result<Vec<aerolane::Result<()>>> {
        let (client, txn) = (raw.asynchronous(), Arc::new(Txn::new()));
        let mut open = Open { raw, txn: Arc::clone(&txn), roll: &self.roll, ended: false };
        let mut policy = policy.clone();
        policy.base_policy.txn = Some(Arc::clone(&txn));
        let mut results = Vec::with_capacity(runs.len());
        for rows in runs {
            let result = match raw.batch_in_txn(&policy, rows).await {
                Ok(Err(error)) if !(0..rows.len()).any(|row| is_answered(&rows.outcome(row))) => Err(error),
                other => other,
            };
            match result {
                Ok(result) => results.push(result),
                Err(error) => {
                    // The failure of the batch is what the caller has to know.
                    drop(Box::pin(client.abort_with_policy(&self.roll, &txn)).await);
                    open.ended = true;
                    return Err(error);
                }
            }
        }
        // A commit that was begun goes on by itself.
        open.ended = true;
        match Box::pin(client.commit_with_policies(&self.verify, &self.roll, &txn)).await {
            Ok(_) => Ok(results),
            Err(error) => {
                if !error.in_doubt() && matches!(txn.state(), TxnState::Open | TxnState::Verified) {
                    drop(Box::pin(client.abort_with_policy(&self.roll, &txn)).await);
                }
                Err(error)
            }
        }
    }
}

impl Ran {
    /// What became of the batches of a transaction.
    pub(super) fn all(runs: Vec<Rows>, results: Vec<aerolane::Result<()>>) -> Vec<Self> {
        let ran = |(rows, result)| Self { rows, result, refused: false };
        runs.into_iter().zip(results).map(ran).collect()
    }
}
