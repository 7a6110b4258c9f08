//! What the builders of a chain share.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::ops::Deref;
use std::process::abort;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use aerolane::sync::{Mutex, MutexGuard};
use pyo3::prelude::*;

use super::chain::Chain;
use super::context::Context;
use crate::lock::LockAttached;
use crate::recycled;

/// A chain, and the session that it belongs to.
pub(crate) struct Link {
    pub(super) context: Arc<Context>,
    chain: Mutex<Chain>,
}

impl Link {
    /// The chain, locked. Whoever holds the lock makes Python objects, and may give the interpreter to a thread that waits for it.
    #[inline]
    pub(super) fn lock_py_attached(&self, py: Python<'_>) -> MutexGuard<'_, Chain> {
        self.chain.lock_py_attached(py)
    }
}

/// A link, counted like an `Arc`. A builder rarely lives longer than it takes to call it: its memory is kept for the thread's
/// next one, while the processor has it at hand. An allocator would give out memory that was not used for long.
pub(crate) struct Shared(NonNull<Counted>);

struct Counted {
    references: AtomicUsize,
    link: Link,
}

const LAYOUT: Layout = Layout::new::<Counted>();

impl Shared {
    /// `chain` makes it where it stays: it is large.
    #[inline]
    pub(super) fn new(context: &Arc<Context>, chain: impl FnOnce() -> Chain) -> Self {
        let memory = recycled::take(LAYOUT).unwrap_or_else(|| {
            // SAFETY: the layout has a size.
            NonNull::new(unsafe { alloc(LAYOUT) }).unwrap_or_else(|| handle_alloc_error(LAYOUT))
        });
        let memory = memory.cast::<Counted>();
        let counted = memory.as_ptr();
        // SAFETY: memory of this layout, and nobody's. (Should `chain` panic, it is lost.)
        unsafe {
            (&raw mut (*counted).references).write(AtomicUsize::new(1));
            (&raw mut (*counted).link.context).write(Arc::clone(context));
            (&raw mut (*counted).link.chain).write(Mutex::new(chain()));
        }
        Self(memory)
    }

    /// See [`Instance`](crate::instance::Instance).
    #[cfg(Py_GIL_DISABLED)]
    #[inline]
    pub(super) fn let_go(&mut self, py: Python<'_>) -> bool {
        if self.counted().references.load(Ordering::Acquire) != 1 {
            return false;
        }
        // SAFETY: this is the only reference, so that nobody else can make one meanwhile.
        let Link { context, chain } = &mut unsafe { self.0.as_mut() }.link;
        // The session goes with its last reference, and has objects of Python.
        Arc::strong_count(context) > 1 && chain.get_mut().let_go(py)
    }

    fn counted(&self) -> &Counted {
        // SAFETY: alive while there is a reference.
        unsafe { self.0.as_ref() }
    }
}

impl Deref for Shared {
    type Target = Link;

    #[inline]
    fn deref(&self) -> &Link {
        &self.counted().link
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        // As of an `Arc`: no program has so many references, and one that leaks them must not free what is in use.
        if self.counted().references.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            abort();
        }
        Self(self.0)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let references = &self.counted().references;
        // Who has the only reference needs no other thread's leave.
        if references.load(Ordering::Acquire) != 1 {
            if references.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            fence(Ordering::Acquire);
        }
        // SAFETY: this was the last reference, so that the link is dropped once; its memory is nobody's then.
        unsafe {
            ptr::drop_in_place(self.0.as_ptr());
            recycled::keep(self.0.cast(), LAYOUT);
        }
    }
}

// SAFETY: as of an `Arc`: the link may be used by several threads, and dropped by any.
unsafe impl Send for Shared where Link: Send + Sync {}
// SAFETY: as above.
unsafe impl Sync for Shared where Link: Send + Sync {}
