//! The threads on which a node does what may take long: scripts. A node has threads of its own for that, so that it delays
//! neither other nodes nor what else it answers.

use crate::clock::Now;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Most threads of a node.
const MAX_THREADS: usize = 4;
/// A thread ends when it has had nothing to do for so long.
const IDLE: Duration = Duration::from_secs(2);
/// Stack of a thread: values and expressions are walked as deep as they are nested.
const STACK_SIZE: usize = 8 * 1024 * 1024;

type Job = Box<dyn FnOnce(Now) + Send>;

/// The line of a node's jobs, and the threads that do them.
#[derive(Default)]
pub(crate) struct Workers(Arc<Line>);

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Workers")
    }
}

impl Workers {
    /// Has a job done, after those that came before it; it is told the time at which it begins. It is done by the caller
    /// where the system gives no thread.
    pub(crate) fn run(&self, job: impl FnOnce(Now) + Send + 'static) {
        let mut state = self.0.state.lock();
        state.jobs.push_back(Box::new(job));
        if state.idle >= state.jobs.len() {
            self.0.work.notify_one();
            return;
        }
        if state.threads == MAX_THREADS {
            return;
        }
        state.threads += 1;
        drop(state);
        let line = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("aerolane-script".to_owned()).stack_size(STACK_SIZE);
        if thread.spawn(move || line.serve()).is_err() {
            let mut state = self.0.state.lock();
            state.threads -= 1;
            let job = if state.threads == 0 { state.jobs.pop_front() } else { None };
            drop(state);
            if let Some(job) = job {
                job(Now::read());
            }
        }
    }
}

impl Line {
    fn serve(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic is a bug of ours; it ends this job, whose client learns it, and no other.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(Now::read())));
                state = self.state.lock();
                continue;
            }
            state.idle += 1;
            let late = self.work.wait_for(&mut state, IDLE).timed_out();
            state.idle -= 1;
            if late && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}
