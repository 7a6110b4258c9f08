//! Runs a command to its end: attempts over a lane.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use super::attempts::{Attempts, Next};
use super::commands::Command;
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::with_plain_body;
use crate::driver::tasks::{ExchangeError, SharedLane};
use crate::error::{Error, Result};
use crate::lane::Class;

/// Waits on the clock of the control plane's runtime: the caller's may have none, or be no tokio runtime at all. Ends
/// early when the client is closed; the next attempt hears of it.
pub(super) async fn wait(cluster: &Cluster, pause: Duration) {
    let _ = cluster.run(async move { tokio::time::sleep(pause).await }).await;
}

/// Executes a single-record command on a lane.
pub(crate) async fn execute<C: Command>(cluster: &Cluster, lane: &Arc<SharedLane>, command: C) -> Result<C::Output> {
    let mut now = clock::now();
    let partition = aerolane_wire::digest::partition_id(&command.key().digest());
    let mut attempts = Attempts::new(cluster, command.base(), command.writes(), now);
    loop {
        let next = match attempts.next(command.key(), partition, now) {
            Ok(attempt) => {
                let node = &attempt.node;
                let timeout_ms = attempts.server_timeout_ms();
                let deadline = lane.deadline(attempt.deadline);
                let encode = |out: &mut Vec<u8>| command.encode(timeout_ms, out);
                let mut exchange = lane.exchange(node.id().index() as u16, Class::Single, now, deadline, encode);
                let outcome = poll_fn(|cx| {
                    exchange.poll_with(cx, |answer| with_plain_body(answer, |body| command.decode(body, node.label())))
                })
                .await;
                match outcome {
                    Ok(Ok(output)) => return Ok(output),
                    Ok(Err(error)) => attempts.answered(node, error, clock::now()),
                    Err(ExchangeError::Encode(error)) => return Err(attempts.refused(error, clock::now())),
                    Err(ExchangeError::Full(full)) => {
                        let error = Error::pool_exhausted(full.limit, full.size, full.waiting, node.label());
                        return Err(attempts.refused(error, clock::now()));
                    }
                    Err(ExchangeError::Failed(failure)) => attempts.lost(node, failure, clock::now()),
                }
            }
            Err(next) => next,
        };
        match next {
            Next::Retry(pause) => {
                if !pause.is_zero() {
                    wait(cluster, pause).await;
                }
                now = clock::now();
            }
            Next::GiveUp(error) => return Err(error),
        }
    }
}
