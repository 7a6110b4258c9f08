//! Batches of a transaction: rows with its fields in their requests, whose answers go into its ledger.

use std::collections::HashMap;
use std::sync::Arc;

use aerolane_wire::digest::Digest;
use aerospike_core::BatchPolicy;

use super::frame::{TxnFields, batch_with_fields, version_in, with_fields_and_set};
use super::ledger::{Ledger, Pending};
use super::{RecordId, announce};
use crate::batch::{RowAnswer, RowPatches};
use crate::client::asynchronous::Shared;
use crate::client::batch::{Rows, Target, left_to_rows, on_lane};
use crate::driver::lane_ref::LaneRef;
use crate::error::{Error, Result};
use crate::sync::Mutex;

/// Carries out a batch of the transaction that the policy names. The outer error: no row was sent; all rows have it, too.
pub(in crate::client) async fn batch<R: Rows + ?Sized>(
    shared: &Shared,
    policy: &BatchPolicy,
    rows: &mut R,
) -> Result<Result<()>> {
    rows.begin();
    (0..rows.count() as u32).for_each(|row| rows.clear(row));
    let overlaid = shared.cluster.overlay().batch(policy);
    let ledger = match prepare(shared, overlaid.as_deref().unwrap_or(policy), rows).await {
        Ok(ledger) => ledger,
        Err(error) => {
            for row in 0..rows.count() as u32 {
                rows.stamp_unanswered(row, &error);
            }
            return Err(error);
        }
    };
    let mut policy = overlaid.map_or_else(|| policy.clone(), Arc::unwrap_or_clone);
    // Lanes do not inflate answers of several frames.
    policy.base_policy.use_compression = false;
    let lane = shared.lanes.caller_lane()?;
    let nobody = None::<fn(usize, &InTxn<'_, R>) -> std::future::Ready<bool>>;
    let mut rows = InTxn { rows, ledger: &ledger, sets: Mutex::default() };
    Ok(on_lane(&shared.cluster, LaneRef::Tasks(&lane), &policy, &mut rows, nobody).await)
}

/// The monitor knows all rows that write.
async fn prepare<R: Rows + ?Sized>(shared: &Shared, policy: &BatchPolicy, rows: &R) -> Result<Arc<Ledger>> {
    let Some(txn) = &policy.base_policy.txn else {
        return Err(Error::client_error("a batch without a transaction was taken for one of a transaction"));
    };
    let ledger = Ledger::of(txn);
    let mut writes = Vec::new();
    for row in 0..rows.count() as u32 {
        rows.target(row, |target| {
            ledger.begin(txn, target.namespace)?;
            if target.writes {
                writes.push(*target.digest);
            }
            Ok::<_, Error>(())
        })?;
    }
    if !writes.is_empty() {
        announce(shared, &policy.base_policy, txn, &ledger, &writes).await?;
    }
    Ok(ledger)
}

/// Rows of a transaction.
struct InTxn<'a, R: Rows + ?Sized> {
    rows: &'a mut R,
    ledger: &'a Arc<Ledger>,
    /// Of each row that was sent, its set.
    sets: Mutex<HashMap<u32, Box<str>>>,
}

impl<R: Rows + ?Sized> InTxn<'_, R> {
    fn with_record<T>(&self, row: u32, take: impl FnOnce(RecordId<'_>) -> T) -> Option<T> {
        let sets = self.sets.lock();
        let set = sets.get(&row)?;
        Some(self.rows.target(row, |target| {
            let Target { namespace, digest, .. } = target;
            take(RecordId { namespace, set, digest })
        }))
    }

    fn told(&self, row: u32, (version, result_code): (Option<u64>, u8)) {
        let writes = self.rows.has_write(row);
        self.with_record(row, |record| self.ledger.told(record, writes, version, result_code));
    }

    fn in_doubt(&self, row: u32) {
        self.with_record(row, |record| drop(Pending::new(self.ledger, record)));
    }
}

impl<R: Rows + ?Sized> Drop for InTxn<'_, R> {
    /// Writes that were sent and never heard of again may have been applied.
    fn drop(&mut self) {
        let sent: Vec<u32> = self.sets.lock().keys().copied().collect();
        for row in sent {
            if self.rows.has_write(row) && self.rows.is_pending(row) {
                self.in_doubt(row);
            }
        }
    }
}

impl<R: Rows + ?Sized> Rows for InTxn<'_, R> {
    left_to_rows!();

    fn stamp_unanswered(&mut self, row: u32, cause: &Error) {
        if self.rows.has_write(row) && cause.in_doubt() {
            self.in_doubt(row);
        }
        self.rows.stamp_unanswered(row, cause);
    }

    fn encode(&self, how: (&BatchPolicy, RowPatches), rows: &[u32], timeout_ms: u32, out: &mut Vec<u8>) -> Result<()> {
        let mut plain = Vec::new();
        self.rows.encode(how, rows, timeout_ms, &mut plain)?;
        let mut sets = self.sets.lock();
        let request = batch_with_fields(&plain, self.ledger, |place, set| {
            sets.insert(rows[place as usize], set.into());
        })?;
        out.extend_from_slice(&request);
        Ok(())
    }

    fn answer(&mut self, policy: &BatchPolicy, row: u32, answer: &mut RowAnswer<'_, '_>, sent: u32) -> Result<()> {
        let told = version_in(answer.bytes())?;
        self.rows.answer(policy, row, answer, sent)?;
        // An earlier request may have been carried out although this one was refused. With a version, it was not.
        if told.0.is_none() && told.1 != 0 && sent > 1 && self.rows.has_write(row) {
            self.in_doubt(row);
        } else {
            self.told(row, told);
        }
        Ok(())
    }

    fn fits_single(&self, row: u32) -> bool {
        self.rows.fits_single(row)
    }

    fn encode_single(
        &self,
        how: (&BatchPolicy, RowPatches),
        row: u32,
        timeout_ms: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut plain = Vec::new();
        self.rows.encode_single(how, row, timeout_ms, &mut plain)?;
        let digest: Digest = self.rows.target(row, |target| *target.digest);
        let fields = TxnFields::of(self.ledger, &digest, self.rows.has_write(row));
        let (request, set) = with_fields_and_set(&plain, &fields)?;
        self.sets.lock().insert(row, set);
        out.extend_from_slice(&request);
        Ok(())
    }

    fn answer_single(&mut self, policy: &BatchPolicy, row: u32, body: &[u8], node: &Arc<str>) -> Result<Option<Error>> {
        self.told(row, version_in(body)?);
        self.rows.answer_single(policy, row, body, node)
    }
}
