//! Clients without I/O: what drawing a request, building its key and keeping the books costs by itself.

use std::hint::black_box;

use super::{ClientError, TokioHost, spawn_threads};
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::workload::Request;

fn answer(request: &Request) -> Done {
    let records = match black_box(request) {
        Request::Read(_) | Request::ListGet(_) | Request::Write(..) => 1,
        Request::BatchRead(keys) => keys.len(),
        Request::BatchWrite(rows) => rows.len(),
        Request::Prebuilt { rows, .. } => *rows,
    };
    Done { records: records as u64, not_found: 0 }
}

/// Tasks on tokio.
pub(super) fn start_async(stage: &Stage) -> Result<TokioHost, ClientError> {
    let host = TokioHost::start(stage.spec())?;
    let call = |request: Request| async move {
        // Gives the thread away as often as tokio's own budget would make a socket do.
        tokio::task::consume_budget().await;
        Ok::<_, Failure>(answer(&request))
    };
    host.spawn_busy(stage, call);
    host.spawn_beside(stage, call);
    Ok(host)
}

/// Threads.
pub(super) fn start_sync(stage: &Stage) -> Result<(), ClientError> {
    spawn_threads(stage, |request| Ok(answer(&request)))
}
