//! Transactions over several records, on our own lanes.
//!
//! The transaction itself is aerospike-core's [`Txn`]: its id, its timeout and its state. What a transaction has read and
//! written is kept here, in a [`Ledger`], as aerospike-core lets nobody else write it down. That is why a transaction
//! belongs to one of the two: calls through [`Client::core`](super::Client::core) know nothing of it.
//!
//! A call of a transaction is a plain request with three fields more ([`frame`]): the transaction's id, the version of
//! the record as it was read before, and for writes the deadline. Before a record is written for the first time, its
//! digest goes into the transaction's [`monitor`], a record of the server by which it finishes what clients leave undone.
//! Each answer tells the version of the record, or that the transaction holds it now.
//!
//! * this module: the calls; [`rows`]: batches; [`end`]: commit and abort
//! * [`ledger`]: what has been read and written; [`monitor`], [`frame`]: requests
//!
//! Sources: aerospike-core 3.0.0 for fields, flags and the order of steps; the documentation for what they mean.

mod end;
mod frame;
mod ledger;
mod monitor;
mod rows;

pub(super) use end::{abort, commit};
pub use ledger::{namespace_of, set_timeout, timeout_of};
pub(super) use rows::batch;

use std::sync::Arc;

use aerolane_wire::digest::{Digest, partition_id};
use aerolane_wire::message::{info1, info2};
use aerolane_wire::proto::PROTO_HEADER_SIZE;
use aerospike_core::metrics::CommandType;
use aerospike_core::{BasePolicy, ResultCode, Txn};

use super::asynchronous::Shared;
use super::attempts::{Attempts, Subject};
use super::commands::Command;
use super::execute::on_lane;
use crate::clock;
use crate::command::compress::{self, with_plain_body};
use crate::driver::lane_ref::LaneRef;
use crate::error::{Error, Result};
use crate::topology::NodeInfo;

use self::frame::TxnFields;
use self::ledger::{Ledger, Pending};

/// The record that a request is about.
#[derive(Debug, Clone, Copy)]
pub struct RecordId<'a> {
    /// Name of the namespace.
    pub namespace: &'a str,
    /// Name of the set; empty: none.
    pub set: &'a str,
    /// Digest.
    pub digest: &'a Digest,
}

/// Refuses a policy with a transaction where there can be none: it is never left out silently.
pub(super) fn refuse(policy: &BasePolicy, what: &str) -> Result<()> {
    match policy.txn {
        None => Ok(()),
        Some(_) => Err(Error::invalid_argument(format!("{what} cannot belong to a transaction"))),
    }
}

/// A single-record command of the transaction that its policy names.
pub(super) async fn run<C: Command>(shared: &Shared, command: C) -> Result<C::Output> {
    let (policy, key) = (command.base(), command.key());
    let mut request = Vec::new();
    command.encode(crate::command::policy::server_timeout_ms(policy), &mut request)?;
    let digest = key.digest();
    let record = RecordId { namespace: key.namespace(), set: key.set_name(), digest: &digest };
    let call =
        call(shared, policy, record, command.writes(), &request, |body, node| command.decode(body, node.label()));
    #[cfg(feature = "tracing")]
    if shared.cluster.watch().has_spans() {
        let span = super::span::of(command.kind(), super::execute::subject(key), None);
        return tracing::Instrument::instrument(call, span).await;
    }
    call.await
}

/// A request about one record, of the transaction that the policy names. `request` is one whole frame, `decode` gets the
/// message of its answer.
pub(super) async fn call<R>(
    shared: &Shared,
    policy: &BasePolicy,
    record: RecordId<'_>,
    writes: bool,
    request: &[u8],
    decode: impl Fn(&[u8], &NodeInfo) -> Result<R>,
) -> Result<R> {
    let Some(txn) = &policy.txn else {
        return Err(Error::client_error("a call without a transaction was taken for one of a transaction"));
    };
    let ledger = Ledger::of(txn);
    ledger.begin(txn, record.namespace)?;
    if writes {
        announce(shared, policy, txn, &ledger, &[*record.digest]).await?;
    }
    let mut request = frame::with_fields(request, &TxnFields::of(&ledger, record.digest, writes))?;
    if policy.use_compression {
        compress::request(&mut request, 0, policy.compression_threshold);
    }
    let mut pending = writes.then(|| Pending::new(&ledger, record));
    let result = send(shared, policy, (record.namespace, record.set, record.digest), writes, &request, |body, node| {
        ledger.heard(record, writes, body);
        decode(body, node)
    })
    .await;
    if let (Some(pending), false) = (&mut pending, result.as_ref().is_err_and(Error::in_doubt)) {
        pending.settle();
    }
    result
}

/// One request to the master of a record or of a monitor, with its retries.
async fn send<R>(
    shared: &Shared,
    policy: &BasePolicy,
    (namespace, set, digest): (&str, &str, &Digest),
    writes: bool,
    request: &[u8],
    decode: impl Fn(&[u8], &NodeInfo) -> Result<R>,
) -> Result<R> {
    let lane = shared.lanes.caller_lane()?;
    let now = clock::now();
    let subject = Subject { namespace, set };
    let mut attempts = Attempts::new(&shared.cluster, policy, subject, (kind_of(request), writes), now);
    let encode = |out: &mut Vec<u8>| {
        out.extend_from_slice(request);
        Ok(())
    };
    let decode = |answer: &[u8], node: &NodeInfo| with_plain_body(answer, |body| decode(body, node));
    on_lane(&shared.cluster, LaneRef::Tasks(&lane), &mut attempts, (partition_id(digest), now), encode, decode).await
}

/// What a request is counted as, by its first words: what the steps of a transaction send is as good as encoded.
fn kind_of(request: &[u8]) -> CommandType {
    let bits = |place: usize| request.get(PROTO_HEADER_SIZE + place).copied().unwrap_or(0);
    match (bits(1), bits(2)) {
        (_, info2) if info2 & info2::DELETE != 0 => CommandType::Delete,
        (info1, info2) if info1 & info1::READ != 0 && info2 & info2::WRITE != 0 => CommandType::Operate,
        (_, info2) if info2 & info2::WRITE != 0 => CommandType::Put,
        (info1, _) if info1 & info1::NO_BIN_DATA != 0 => CommandType::GetHeader,
        _ => CommandType::Get,
    }
}

/// Sees to it that the monitor knows of these records, before they are written.
async fn announce(
    shared: &Shared,
    policy: &BasePolicy,
    txn: &Arc<Txn>,
    ledger: &Arc<Ledger>,
    digests: &[Digest],
) -> Result<()> {
    // One at a time: the first one opens the monitor.
    let _turn = ledger.turn().await;
    // It may have been ended meanwhile.
    txn.verify_command()?;
    let Some((namespace, new)) = ledger.unannounced(digests) else { return Ok(()) };
    let digest = monitor::digest_of(ledger.id());
    let policy = monitor::policy(policy);
    let timeout_ms = crate::command::policy::server_timeout_ms(&policy);
    loop {
        let (opens, may_be_open) = (!ledger.is_open(), ledger.may_be_open());
        if opens {
            // Also if nobody waits for the answer in the end.
            ledger.opening_in_doubt();
        }
        let request = monitor::add(&namespace, ledger.id(), opens.then(|| ledger.timeout(txn)), &new, timeout_ms)?;
        let added = send(shared, &policy, (&namespace, monitor::SET, &digest), true, &request, |body, node| {
            Ok((monitor::deadline_in(body, node)?, Arc::clone(node.label())))
        });
        match added.await {
            Ok((Some(deadline), _)) => {
                ledger.announced(&new, deadline);
                return Ok(());
            }
            Ok((None, node)) => {
                // A server without transactions has taken the monitor for a record like any other. It would take some of
                // the transaction's writes for such, too.
                let request = monitor::delete(&namespace, ledger.id(), false, timeout_ms)?;
                let removed = send(shared, &policy, (&namespace, monitor::SET, &digest), true, &request, |_, _| Ok(()));
                if let Err(error) = removed.await {
                    crate::logging::warn!(
                        "what a server without transactions took for a record could not be removed: {error}"
                    );
                }
                return Err(Error::server(ResultCode::EnterpriseOnly, &node));
            }
            // An earlier attempt of ours has opened it, and its answer was lost.
            Err(error)
                if opens && error.matches(&[ResultCode::MrtMonitorExists]) && (error.attempts() > 1 || may_be_open) =>
            {
                ledger.opened();
            }
            Err(error) => {
                if opens && !may_be_open && !error.in_doubt() {
                    ledger.not_opened();
                }
                // The record itself was not written, whatever became of the monitor.
                return Err(error.force_in_doubt(false));
            }
        }
    }
}
