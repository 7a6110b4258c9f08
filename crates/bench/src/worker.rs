//! The loops that workers run. Generic over the client's call, so that nothing is boxed or dispatched per operation.

use std::future::Future;

use crate::measure::{Done, Failure, Recorder, WorkerStats};
use crate::workload::{Request, RequestSource};

/// Runs one asynchronous worker until the run is stopped.
pub async fn drive_task<F, Fut>(mut source: RequestSource, mut recorder: Recorder, call: F) -> WorkerStats
where
    F: Fn(Request) -> Fut,
    Fut: Future<Output = Result<Done, Failure>>,
{
    while let Some(started) = recorder.begin() {
        let outcome = call(source.next_request()).await;
        let failed = outcome.is_err();
        recorder.end(&started, outcome);
        if failed {
            // A client that fails without ever waiting must not keep its thread from noticing the end of the run.
            tokio::task::yield_now().await;
        }
    }
    recorder.finish()
}

/// Runs one blocking worker until the run is stopped.
pub fn drive_thread<F>(mut source: RequestSource, mut recorder: Recorder, call: F) -> WorkerStats
where
    F: Fn(Request) -> Result<Done, Failure>,
{
    while let Some(started) = recorder.begin() {
        let outcome = call(source.next_request());
        recorder.end(&started, outcome);
    }
    recorder.finish()
}

/// A task that does one operation, holds its client until `stopped` and only then ends. A failed operation counts.
pub async fn drive_idle_task<F, Fut>(
    mut source: RequestSource,
    call: F,
    mut stopped: tokio::sync::watch::Receiver<bool>,
) -> WorkerStats
where
    F: Fn(Request) -> Fut,
    Fut: Future<Output = Result<Done, Failure>>,
{
    let mut stats = WorkerStats::default();
    if let Err(failure) = call(source.next_request()).await {
        stats.count_failure(&failure);
    }
    // An error means that the sender is gone, which is the end of the run as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
    drop(call);
    stats
}
