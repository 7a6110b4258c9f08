//! Memory that a thread used last, kept for what it makes next: the processor has it at hand, where allocators give out memory
//! that was not used for long.
//!
//! * [`objects`]: of Python objects, without the GIL

#[cfg(Py_GIL_DISABLED)]
mod objects;

use std::alloc::{Layout, dealloc};
use std::cell::UnsafeCell;
use std::ptr::NonNull;

#[cfg(Py_GIL_DISABLED)]
pub(crate) use objects::{free, object, recycle};

/// An object of a type of ours, with its header filled in, and null without memory. With a GIL Python has memory at hand itself.
///
/// # Safety
/// A type that is alive. Its objects are laid out as `L`, are known to the garbage collector if `KNOWN` says so, and have nothing
/// to tell it while they are not tracked.
#[cfg(not(Py_GIL_DISABLED))]
#[allow(clippy::extra_unused_type_parameters)] // as without the GIL
#[inline]
pub(crate) unsafe fn object<L, const KNOWN: bool>(of: *mut pyo3::ffi::PyTypeObject) -> *mut pyo3::ffi::PyObject {
    // SAFETY: as the caller says.
    unsafe { if KNOWN { pyo3::ffi::PyObject_GC_New(of) } else { pyo3::ffi::PyObject_New(of) } }
}

/// The memory that a thread keeps.
struct ThreadCache {
    block: Option<Block>,
    #[cfg(Py_GIL_DISABLED)]
    lists: objects::FreeLists,
}

impl ThreadCache {
    const EMPTY: Self = Self {
        block: None,
        #[cfg(Py_GIL_DISABLED)]
        lists: objects::FreeLists::EMPTY,
    };
}

/// Memory that was allocated with this layout, and is nobody's.
struct Block {
    memory: NonNull<u8>,
    layout: Layout,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: as the fields say.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

thread_local! {
    // All in one place, and boxed: there is little room for what modules that are loaded later have for each thread.
    static KEPT: UnsafeCell<Option<Box<ThreadCache>>> = const { UnsafeCell::new(None) };
}

/// Works with what this thread keeps; `None`: the thread is ending. Not a `Cell` that is emptied and filled again: a write through
/// a builder comes here eight times, and took 200 instructions more.
///
/// # Safety
/// `work` does not come here again: it runs no code of Python, allocates nothing and frees nothing.
#[inline]
unsafe fn with_kept<R>(work: impl FnOnce(&mut ThreadCache) -> R) -> Option<R> {
    let worked = KEPT.try_with(|place| {
        // SAFETY: no other thread comes here, and `work` does not, as the caller says.
        let kept = unsafe { &mut *place.get() };
        work(kept.get_or_insert_with(|| Box::new(ThreadCache::EMPTY)))
    });
    worked.ok()
}

/// Memory of this layout that the thread has kept.
#[inline]
pub(crate) fn take(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: a block is moved.
    let block = unsafe { with_kept(|kept| kept.block.take_if(|block| block.layout == layout)) }??;
    let memory = block.memory;
    std::mem::forget(block);
    Some(memory)
}

/// Keeps memory for [`take`], in the place of what was kept before.
///
/// # Safety
/// It was allocated with this layout, and is nobody's.
#[inline]
pub(crate) unsafe fn keep(memory: NonNull<u8>, layout: Layout) {
    let mut block = Some(Block { memory, layout });
    // SAFETY: blocks are moved.
    let _ = unsafe { with_kept(|kept| std::mem::swap(&mut kept.block, &mut block)) };
    // What was kept before is freed, or this, if the thread is ending.
}
