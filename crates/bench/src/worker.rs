//! The loops that workers run. Generic over the client's call, so that nothing is boxed or dispatched per operation.

use std::future::Future;

use crate::conductor::{IdlePart, Part};
use crate::measure::{Done, Failure, WorkerStats};
use crate::workload::Request;

/// Runs one asynchronous worker until the run is stopped, and hands its figures in.
pub async fn drive_task<F, Fut>(part: Part, call: F)
where
    F: Fn(Request) -> Fut,
    Fut: Future<Output = Result<Done, Failure>>,
{
    let Part { mut source, mut recorder, results, schedule } = part;
    loop {
        let (started, request) = match &schedule {
            None => match recorder.begin() {
                Some(started) => (started, source.next_request()),
                None => break,
            },
            Some(schedule) => match schedule.next().await {
                Some(arrival) => (recorder.begin_arrival(&arrival), source.request(arrival.index)),
                None => break,
            },
        };
        let kind = request.kind();
        let outcome = call(request).await;
        let failed = outcome.is_err();
        recorder.end(&started, kind, outcome);
        if failed {
            // A client that fails without ever waiting must not keep its thread from noticing the end of the run.
            tokio::task::yield_now().await;
        }
    }
    let _ = results.send(recorder.finish());
}

/// Runs one blocking worker until the run is stopped, and hands its figures in.
pub fn drive_thread<F>(part: Part, call: F)
where
    F: Fn(Request) -> Result<Done, Failure>,
{
    let Part { mut source, mut recorder, results, schedule } = part;
    loop {
        let (started, request) = match &schedule {
            None => match recorder.begin() {
                Some(started) => (started, source.next_request()),
                None => break,
            },
            Some(schedule) => match schedule.next_blocking() {
                Some(arrival) => (recorder.begin_arrival(&arrival), source.request(arrival.index)),
                None => break,
            },
        };
        let kind = request.kind();
        let outcome = call(request);
        recorder.end(&started, kind, outcome);
    }
    let _ = results.send(recorder.finish());
}

/// A task that does one operation, holds its client until the run is stopped and only then ends. A failed operation
/// counts.
pub async fn drive_idle_task<F, Fut>(part: IdlePart, call: F)
where
    F: Fn(Request) -> Fut,
    Fut: Future<Output = Result<Done, Failure>>,
{
    let IdlePart { mut source, mut stopped, results } = part;
    let mut stats = WorkerStats::default();
    if let Err(failure) = call(source.next_request()).await {
        stats.count_failure(&failure);
    }
    // An error means that the sender is gone, which is the end of the run as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
    drop(call);
    let _ = results.send(stats);
}
