//! Memory of objects that programs make for each operation, kept for the next ones of the thread. Only without the GIL.
//!
//! Python without the GIL gives freed memory out again once the rest of its page has been used: each object is made in memory
//! that the processor has lost sight of, and to wait for it costs more than all else about the object. Here, what was freed last
//! is used first. With a GIL Python does that itself.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, ffi};

use super::with_kept;

/// Sizes come in steps of so many bytes: to these Python rounds them up.
const STEP: usize = 8;
/// How many steps: larger objects are made as ever.
const SIZES: usize = 48;
/// How much of one size is kept for a thread.
const MOST: usize = 64;

/// Freed memory of one size. Its first word, which nobody looks at meanwhile, leads to the next one, as in CPython's own lists.
#[derive(Clone, Copy)]
struct Pile {
    top: *mut c_void,
    count: usize,
}

impl Pile {
    const EMPTY: Self = Self { top: ptr::null_mut(), count: 0 };

    /// # Safety
    /// Memory of an object of this size, which is nobody's.
    unsafe fn push(&mut self, block: *mut c_void) {
        // SAFETY: room for more than one word, as the caller says.
        unsafe { block.cast::<*mut c_void>().write(self.top) };
        *self = Self { top: block, count: self.count + 1 };
    }

    fn pop(&mut self) -> Option<*mut c_void> {
        if self.top.is_null() {
            return None;
        }
        let block = self.top;
        // SAFETY: it was pushed, where its first word was set.
        *self = Self { top: unsafe { block.cast::<*mut c_void>().read() }, count: self.count - 1 };
        Some(block)
    }
}

/// Freed memory by size.
pub(super) struct Piles([Pile; SIZES]);

impl Piles {
    pub(super) const EMPTY: Self = Self([Pile::EMPTY; SIZES]);
}

/// What threads have left that have ended: they cannot give it back, as they are not Python's any more.
static LEFT: Mutex<Piles> = Mutex::new(Piles::EMPTY);
/// How much that is.
static LEFT_COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: memory may be used by any thread.
unsafe impl Send for Piles {}

impl Drop for Piles {
    fn drop(&mut self) {
        let mut left = LEFT.lock();
        for (to, from) in left.0.iter_mut().zip(&mut self.0) {
            while let Some(block) = from.pop() {
                // SAFETY: of the same size.
                unsafe { to.push(block) };
                LEFT_COUNT.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[cold]
fn take_left(size: usize) -> Option<*mut c_void> {
    let block = LEFT.lock().0[size].pop();
    if block.is_some() {
        LEFT_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
    block
}

/// The place of the size of a type's objects.
///
/// # Safety
/// A type that is alive.
unsafe fn size_of_objects(kind: *mut ffi::PyTypeObject) -> Option<usize> {
    // SAFETY: as the caller says.
    let size = unsafe { (*kind).tp_basicsize }.cast_unsigned().div_ceil(STEP);
    (size < SIZES).then_some(size)
}

/// An object of a type of ours, with its header filled in, and null without memory.
///
/// # Safety
/// A type that is alive, whose objects the garbage collector does not know.
pub(crate) unsafe fn object(kind: *mut ffi::PyTypeObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller says.
    unsafe { alloc(kind, 0) }
}

unsafe extern "C" fn alloc(kind: *mut ffi::PyTypeObject, items: ffi::Py_ssize_t) -> *mut ffi::PyObject {
    // SAFETY: the interpreter allocates an object of a type that is alive.
    unsafe {
        if let Some(size) = size_of_objects(kind) {
            let kept = with_kept(|kept| kept.piles.0[size].pop()).flatten();
            let left = || if LEFT_COUNT.load(Ordering::Relaxed) == 0 { None } else { take_left(size) };
            if let Some(block) = kept.or_else(left) {
                return ffi::PyObject_Init(block.cast(), kind);
            }
        }
        ffi::PyType_GenericAlloc(kind, items)
    }
}

/// Gives the memory of an object back.
///
/// # Safety
/// Of [`object`], or of a class that is recycled; nobody's any more. Its type is alive.
pub(crate) unsafe extern "C" fn free(object: *mut c_void) {
    // SAFETY: as the caller says.
    unsafe {
        if let Some(size) = size_of_objects(ffi::Py_TYPE(object.cast())) {
            let kept = with_kept(|kept| {
                let pile = &mut kept.piles.0[size];
                let room = pile.count < MOST;
                if room {
                    pile.push(object);
                }
                room
            });
            if kept == Some(true) {
                return;
            }
        }
        ffi::PyObject_Free(object);
    }
}

/// Has objects of a class made in memory that others have left. A class without subclasses, whose objects the garbage collector
/// does not know.
pub(crate) fn recycle<T: PyTypeInfo>(py: Python<'_>) {
    let kind = T::type_object_raw(py);
    // SAFETY: the type is alive, and has no objects yet; what they are made of is all set when they are.
    unsafe {
        debug_assert_eq!(ffi::PyType_GetFlags(kind) & (ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_BASETYPE), 0);
        (*kind).tp_alloc = Some(alloc);
        (*kind).tp_free = Some(free);
    }
}
