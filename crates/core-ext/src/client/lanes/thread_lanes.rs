//! The lanes that a thread has used, with counts of its own.
//!
//! Every operation refers to its lane while it waits. If all threads of a program counted those references in one place, each
//! would take the cache line with the count from the others twice for every operation; so each thread has a count for itself.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use thread_local::ThreadLocal;

use super::RuntimeLanes;
use crate::driver::tasks::SharedLane;

/// The lane of the calling thread, or of its task, for one operation.
pub(crate) struct CallerLane {
    lanes: Arc<ThreadHandle>,
    index: usize,
}

impl Deref for CallerLane {
    type Target = Arc<SharedLane>;

    fn deref(&self) -> &Arc<SharedLane> {
        &self.lanes.0.lanes[self.index]
    }
}

/// A thread's own reference to the lanes of a runtime: it counts this one, which no other thread does.
struct ThreadHandle(Arc<RuntimeLanes>);

/// For each thread, the lanes that it has used.
#[derive(Default)]
pub(super) struct ThreadLanes(ThreadLocal<RefCell<Vec<Arc<ThreadHandle>>>>);

impl ThreadLanes {
    /// The lane for the calling thread, if it has used this runtime's before. Runtimes that have ended are not known.
    #[inline]
    pub(super) fn lane(&self, runtime: tokio::runtime::Id) -> Option<CallerLane> {
        let known = self.0.get()?.borrow();
        let lanes = known.iter().find(|known| known.0.runtime == runtime && !known.0.watch.is_over())?;
        Some(CallerLane::of(Arc::clone(lanes)))
    }

    /// Makes them known to the calling thread, and forgets those of runtimes that have ended.
    pub(super) fn learn(&self, lanes: Arc<RuntimeLanes>) -> CallerLane {
        let lanes = Arc::new(ThreadHandle(lanes));
        let mut known = self.0.get_or_default().borrow_mut();
        known.retain(|known| !known.0.watch.is_over());
        known.push(Arc::clone(&lanes));
        CallerLane::of(lanes)
    }
}

impl CallerLane {
    fn of(lanes: Arc<ThreadHandle>) -> Self {
        Self { index: lanes.0.pick(), lanes }
    }
}
