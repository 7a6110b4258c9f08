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
pub(crate) struct Mine {
    lanes: Arc<Known>,
    index: usize,
}

impl Deref for Mine {
    type Target = Arc<SharedLane>;

    fn deref(&self) -> &Arc<SharedLane> {
        &self.lanes.0.lanes[self.index]
    }
}

/// What a thread counts instead of the lanes.
struct Known(Arc<RuntimeLanes>);

/// What the threads know.
#[derive(Default)]
pub(super) struct ByThread(ThreadLocal<RefCell<Vec<Arc<Known>>>>);

impl ByThread {
    /// The lane for the calling thread, if it has used this runtime's before. Runtimes that have ended are not known.
    #[inline]
    pub(super) fn lane(&self, runtime: tokio::runtime::Id) -> Option<Mine> {
        let known = self.0.get()?.borrow();
        let lanes = known.iter().find(|known| known.0.runtime == runtime && !known.0.watch.is_over())?;
        Some(Mine::of(Arc::clone(lanes)))
    }

    /// Makes them known to the calling thread, and forgets those of runtimes that have ended.
    pub(super) fn learn(&self, lanes: Arc<RuntimeLanes>) -> Mine {
        let lanes = Arc::new(Known(lanes));
        let mut known = self.0.get_or_default().borrow_mut();
        known.retain(|known| !known.0.watch.is_over());
        known.push(Arc::clone(&lanes));
        Mine::of(lanes)
    }
}

impl Mine {
    fn of(lanes: Arc<Known>) -> Self {
        Self { index: lanes.0.pick(), lanes }
    }
}
