//! What is to be known of a caller's runtime: what it can do, and when it ends.

use std::future::pending;
use std::os::unix::net::UnixStream;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// Whether the runtime has I/O and timers. Tokio says so only by a panic, which its panic hook reports.
///
/// Where panics abort, asking would end the program. Runtimes are then taken to have both; one that has not ends it with
/// tokio's message when a connection is opened.
pub(super) fn has_drivers(handle: &Handle) -> bool {
    if cfg!(panic = "abort") {
        return true;
    }
    let has_drivers = || {
        let _context = handle.enter();
        drop(tokio::time::sleep(Duration::ZERO));
        if let Ok((socket, _other_end)) = UnixStream::pair()
            && socket.set_nonblocking(true).is_ok()
        {
            drop(tokio::net::UnixStream::from_std(socket));
        }
    };
    catch_unwind(std::panic::AssertUnwindSafe(has_drivers)).is_ok()
}

/// Tells whether a runtime still lives: by a task on it that does nothing until it is dropped.
pub(super) struct RuntimeWatch {
    over: Arc<AtomicBool>,
    watcher: AbortHandle,
}

impl RuntimeWatch {
    /// Calls `ended` when the runtime ends: on any thread, also at once if it has ended already. Once this was
    /// dropped, the call may come or not.
    pub(super) fn watch(handle: &Handle, ended: impl FnOnce() + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let watcher = Watcher { over: Arc::clone(&over), ended: Some(ended) };
        let task = handle.spawn(async move {
            let _watcher = watcher;
            pending::<()>().await;
        });
        Self { over, watcher: task.abort_handle() }
    }

    /// Whether the runtime has ended (or is no longer watched).
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Ends the task on the runtime.
    pub(super) fn unwatch(&self) {
        self.watcher.abort();
    }
}

impl Drop for RuntimeWatch {
    fn drop(&mut self) {
        self.unwatch();
    }
}

struct Watcher<F: FnOnce()> {
    over: Arc<AtomicBool>,
    ended: Option<F>,
}

impl<F: FnOnce()> Drop for Watcher<F> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(ended) = self.ended.take() {
            ended();
        }
    }
}
