//! The control thread: one per process, for all its clusters.
//!
//! `aerolane-ctl` drives a tokio current-thread runtime. It starts with the first cluster and ends when the last one is
//! closed; nobody waits for its end. A forked child does not have its parent's thread, so it starts one of its own.

use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::error::{Error, Result};
use crate::sync::Mutex;

/// How long threads that resolved a name or hashed a password stay for the next time.
const KEEP_HELPERS: Duration = Duration::from_secs(1);

/// The process's control thread. Behind a pointer that is replaced after a fork, because the lock within may have been
/// held by a thread that the child does not have.
static CURRENT: ArcSwapOption<ProcessControl> = ArcSwapOption::const_empty();

/// The control thread of one process.
struct ProcessControl {
    process: u32,
    running: Mutex<Option<Running>>,
}

struct Running {
    runtime: Handle,
    thread: ThreadId,
    leases: usize,
    /// Dropped to end the thread.
    _keep: oneshot::Sender<()>,
}

impl ProcessControl {
    fn of_this_process() -> Arc<Self> {
        let process = std::process::id();
        loop {
            let present = CURRENT.load();
            if let Some(control) = present.as_ref().filter(|control| control.process == process) {
                return Arc::clone(control);
            }
            CURRENT.compare_and_swap(&present, Some(Arc::new(Self { process, running: Mutex::default() })));
        }
    }
}

/// A share in the control thread, which runs while there are any.
pub(super) struct ControlLease {
    control: Arc<ProcessControl>,
    runtime: Handle,
    thread: ThreadId,
}

impl ControlLease {
    /// A share in this process's control thread, which is started if it does not run.
    ///
    /// # Errors
    /// `Client` when the thread or its runtime cannot be started.
    pub(super) fn new() -> Result<Self> {
        let control = ProcessControl::of_this_process();
        let mut slot = control.running.lock();
        let running = match &mut *slot {
            Some(running) => running,
            none => none.insert(start()?),
        };
        running.leases += 1;
        let (runtime, thread) = (running.runtime.clone(), running.thread);
        drop(slot);
        Ok(Self { control, runtime, thread })
    }

    /// The thread's runtime.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// The control thread.
    pub(super) fn thread(&self) -> ThreadId {
        self.thread
    }
}

impl Drop for ControlLease {
    fn drop(&mut self) {
        let mut running = self.control.running.lock();
        if let Some(mut last) = running.take() {
            last.leases -= 1;
            if last.leases > 0 {
                *running = Some(last);
            }
        }
    }
}

/// Refuses to wait on the control thread for what only this thread can bring about.
///
/// # Errors
/// `Client` on the control thread.
pub(super) fn check_may_wait(control: ThreadId) -> Result<()> {
    if std::thread::current().id() == control {
        return Err(Error::client_error("the control thread cannot wait for itself"));
    }
    Ok(())
}

/// Ticks at multiples of the period on a clock that all clusters share, so that one wake-up of the control thread serves
/// what many of them do now and then. Late ticks are not made up for.
pub(crate) fn every(period: Duration) -> Interval {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    let beginning = *BEGINNING.get_or_init(|| now);
    let periods = now.saturating_duration_since(beginning).as_nanos() / period.as_nanos().max(1) + 1;
    let first = u32::try_from(periods).ok().and_then(|periods| beginning.checked_add(period.checked_mul(periods)?));
    let mut interval = tokio::time::interval_at(first.unwrap_or(now + period), period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    interval
}

fn start() -> Result<Running> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .thread_name("aerolane-aux")
        .thread_keep_alive(KEEP_HELPERS)
        .build()
        .map_err(|e| Error::client_error(format!("the control runtime cannot be built: {e}")))?;
    let handle = runtime.handle().clone();
    let (keep, ended) = oneshot::channel::<()>();
    let thread = std::thread::Builder::new()
        .name("aerolane-ctl".into())
        .spawn(move || {
            let _ = runtime.block_on(ended);
            // Drops what is left of tasks. Threads that resolve names end with their look-up.
            runtime.shutdown_background();
        })
        .map_err(|e| Error::client_error(format!("the control thread cannot be started: {e}")))?;
    Ok(Running { runtime: handle, thread: thread.thread().id(), leases: 0, _keep: keep })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn clusters_tick_together() {
        let period = Duration::from_millis(40);
        let mut early = every(period);
        tokio::time::sleep(Duration::from_millis(13)).await;
        let mut late = every(period);
        let apart = |a: Instant, b: Instant| a.max(b).duration_since(a.min(b)).as_nanos() % period.as_nanos();
        assert_eq!(apart(early.tick().await, late.tick().await), 0);
        // Also the one that missed some.
        tokio::time::sleep(Duration::from_millis(57)).await;
        assert_eq!(apart(early.tick().await, late.tick().await), 0);
        assert_eq!(apart(early.tick().await, every(period).tick().await), 0);
    }
}
