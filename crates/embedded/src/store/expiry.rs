//! Reaping of expired records, and ending transactions whose time is over.

use super::Namespace;
use crate::clock;
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the thread looks whether a namespace's period is over.
const TICK: Duration = Duration::from_millis(100);

/// A thread that removes expired records, each namespace in its own period, and ends transactions whose deadline has
/// passed. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Reaper {
    stop: Arc<(Mutex<bool>, Condvar)>,
    join: Option<JoinHandle<()>>,
}

impl Reaper {
    /// Starts the thread.
    pub(crate) fn start(namespaces: Vec<Arc<Namespace>>) -> io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&stop);
        let join = std::thread::Builder::new().name("aerolane-nsup".to_owned()).spawn(move || {
            let mut last: Vec<_> = namespaces.iter().map(|_| Instant::now()).collect();
            let (stopped, changed) = &*seen;
            loop {
                let mut stopped = stopped.lock();
                if !*stopped {
                    changed.wait_for(&mut stopped, TICK);
                }
                if *stopped {
                    return;
                }
                drop(stopped);
                for (namespace, last) in namespaces.iter().zip(&mut last) {
                    namespace.expire_transactions(clock::seconds(clock::now_ms()));
                    let period = namespace.config.nsup_period.load(Ordering::Relaxed);
                    if period > 0 && last.elapsed() >= Duration::from_secs(u64::from(period)) {
                        *last = Instant::now();
                        namespace.reap(clock::seconds(clock::now_ms()));
                    }
                }
            }
        })?;
        Ok(Self { stop, join: Some(join) })
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(join) = self.join.take() {
            // Nothing is left to do for a thread that has panicked.
            let _ = join.join();
        }
    }
}
