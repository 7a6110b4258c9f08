//! Runs a call to its end: attempts over a lane, or by the calling thread.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::attempts::{Attempt, Attempts, Next, Subject};
use super::commands::Command;
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::with_plain_body;
use crate::driver::blocking::Interrupt;
use crate::driver::lane_ref::LaneRef;
use crate::driver::tasks::{ExchangeError, SharedLane};
use crate::error::{Error, Result};
use crate::lane::Class;
use crate::topology::{NodeId, NodeInfo, Topology};

/// Waits on the clock of the control plane's runtime: the caller's may have none, or be no tokio runtime at all. Ends
/// early when the client is closed; the next attempt hears of it.
pub(crate) async fn wait(cluster: &Cluster, pause: Duration) {
    let _ = cluster.run(async move { tokio::time::sleep(pause).await }).await;
}

// The two functions below are not `async fn`s: those hold each argument twice, as it was passed and as it is used, and
// what a call holds while it waits is what a machine with thousands of calls in flight has no cache for.

/// Executes a single-record command on a lane.
#[expect(clippy::manual_async_fn, reason = "holds its arguments once")]
pub(crate) fn execute<C: Command>(
    cluster: &Cluster,
    lane: &Arc<SharedLane>,
    command: C,
) -> impl Future<Output = Result<C::Output>> {
    async move {
        let now = clock::now();
        let partition = aerolane_wire::digest::partition_id(&command.key().digest());
        let what = (command.kind(), command.writes());
        let mut attempts = Attempts::new(cluster, command.base(), subject(command.key()), what, now);
        let timeout_ms = attempts.server_timeout_ms();
        let encode = |out: &mut Vec<u8>| command.encode(timeout_ms, out);
        let decode =
            |answer: &[u8], node: &NodeInfo| with_plain_body(answer, |body| command.decode(body, node.label()));
        #[cfg(feature = "tracing")]
        if cluster.watch().has_spans() {
            let span = super::span::of(command.kind(), subject(command.key()), None);
            let call = on_lane(cluster, LaneRef::Tasks(lane), &mut attempts, (partition, now), encode, decode);
            // On the heap: calls without spans are to hold nothing of this.
            return Box::pin(tracing::Instrument::instrument(call, span)).await;
        }
        on_lane(cluster, LaneRef::Tasks(lane), &mut attempts, (partition, now), encode, decode).await
    }
}

/// What a call about this record is about.
pub(super) fn subject(key: &aerospike_core::Key) -> Subject<'_> {
    Subject { namespace: key.namespace(), set: key.set_name() }
}

/// The attempts of a call to a partition, over a lane, from `now` on.
#[expect(clippy::manual_async_fn, reason = "holds its arguments once")]
pub(super) fn on_lane<R>(
    cluster: &Cluster,
    lane: LaneRef<'_>,
    attempts: &mut Attempts<'_>,
    (partition, mut now): (u16, Instant),
    encode: impl Fn(&mut Vec<u8>) -> Result<()>,
    decode: impl Fn(&[u8], &NodeInfo) -> Result<R>,
) -> impl Future<Output = Result<R>> {
    async move {
        loop {
            // No snapshot is kept while the call waits.
            let begun = attempts.next(&cluster.snapshot(), partition, now).map(|a| (a.node.id(), a.deadline));
            let next = match begun {
                Ok((node, deadline)) => {
                    let place = node.index() as u16;
                    let when = (now, deadline, attempts.stamp(now));
                    let mut exchange = lane.exchange(place, Class::Single, when, &encode);
                    let decode = |answer: &[u8]| decode(answer, known(&cluster.snapshot(), node)?);
                    match poll_fn(|cx| exchange.poll_with(cx, decode)).await {
                        Ok(Ok(output)) => {
                            attempts.succeeded(node);
                            return Ok(output);
                        }
                        Ok(Err(error)) => attempts.answered(known(&cluster.snapshot(), node)?, error, clock::now()),
                        Err(error) => attempts.unanswered(known(&cluster.snapshot(), node)?, error, clock::now()),
                    }
                }
                Err(next) => next,
            };
            match next {
                Next::Retry(pause) => {
                    if !pause.is_zero() {
                        // Rare, and its future is larger than all the rest.
                        Box::pin(wait(cluster, pause)).await;
                    }
                    now = clock::now();
                }
                Next::GiveUp(error) => return Err(attempts.given_up(error)),
            }
        }
    }
}

/// The node of an attempt.
///
/// # Errors
/// `InvalidNode` for an attempt of another client: nodes stay known for as long as a client lives.
pub(super) fn known(topology: &Topology, node: NodeId) -> Result<&Arc<NodeInfo>> {
    topology.node(node).ok_or_else(|| Error::invalid_node("the client does not know the node of this attempt"))
}

/// The attempts of a call to a partition by the calling thread, each carried out by `exchange`.
pub(super) fn on_thread<R>(
    cluster: &Cluster,
    mut attempts: Attempts<'_>,
    (partition, mut now): (u16, Instant),
    interrupt: Interrupt<'_>,
    mut exchange: impl FnMut(Attempt<'_>, Instant) -> std::result::Result<Result<R>, ExchangeError>,
) -> Result<R> {
    loop {
        let topology = cluster.snapshot();
        let next = match attempts.next(&topology, partition, now) {
            Ok(attempt) => match exchange(attempt, now) {
                Ok(Ok(output)) => {
                    attempts.succeeded(attempt.node.id());
                    return Ok(output);
                }
                Ok(Err(error)) => attempts.answered(attempt.node, error, clock::now()),
                Err(error) => attempts.unanswered(attempt.node, error, clock::now()),
            },
            Err(next) => next,
        };
        match next {
            Next::Retry(pause) => {
                // Without a pause it has waited already, for a connection.
                let interrupted = if pause.is_zero() { interrupt.came() } else { interrupt.sleep(pause) };
                now = clock::now();
                if interrupted {
                    let error = attempts.interrupted(now);
                    return Err(attempts.given_up(error));
                }
            }
            Next::GiveUp(error) => return Err(attempts.given_up(error)),
        }
    }
}
