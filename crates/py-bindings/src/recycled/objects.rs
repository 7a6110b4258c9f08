//! Memory of objects that programs make for each operation, kept for the next ones of the thread. Only without the GIL.
//!
//! Python without the GIL gives freed memory out again once the rest of its page has been used: each object is made in memory
//! that the processor has lost sight of, and to wait for it costs more than all else about the object. Here, what was freed last
//! is used first. With a GIL Python does that itself.
//!
//! What Python expects of an object's memory, and why this keeps to it:
//!
//! * A thread that finds an object in a list or a dict counts a reference to it before it knows whether it is still there (PEP 703).
//!   So freed memory has to stay the memory of an object of this size, with the counts that it had in the end, which refuse new
//!   references. Here it stays allocated, no other size is made of it, and of its header only the first word is changed: the thread
//!   that owns the object, in which Python's own lists, and its allocator, have their links, too. `PyObject_Init` sets the whole
//!   header anew, the owner to the thread that makes the object.
//! * The garbage collector goes through all memory of objects that it may know of, and looks into those that are tracked. `PyO3`
//!   makes all classes such, and an object is tracked no more before its memory comes here. So neither freed memory is looked
//!   into, nor an object before it is whole: objects are made untracked. They have nothing to tell but their class; those that come
//!   to have more (`MAY_BE_TRACKED`) are tracked from then on, and untracked before they are dropped. [`recycle`] takes no
//!   class that breaks cycles itself. Memory of the two kinds is kept apart, as Python has it.
//! * Values are dropped before an object's memory comes here. There are no weak references.
//! * Memory may be freed by another thread than the one that allocated it, also after that has ended. It is given to Python by
//!   attached threads only.
//! * Interpreters have memory of their own; there is one only, as `PyO3` refuses to be imported into others.

use std::ffi::{c_ulong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

use super::with_kept;
use crate::host::attached;
use crate::instance::{Instance, Object};

/// Sizes come in steps of so many bytes: to these Python rounds them up.
const STEP: usize = 8;
/// How many steps: memory of larger objects is not kept.
const STEPS: usize = 48;
/// Each of objects that the garbage collector does not know, and of those that it may.
const KINDS: usize = 2 * STEPS;
/// How much of one size is kept for a thread.
const MOST: usize = 64;

/// Freed memory of one kind, as a linked list. Its first word leads to the next one, as in the lists of freed memory of Python and its allocator.
#[derive(Clone, Copy)]
struct FreeList {
    top: *mut c_void,
    count: usize,
}

impl FreeList {
    const EMPTY: Self = Self { top: ptr::null_mut(), count: 0 };

    /// # Safety
    /// Memory of an object of this size, which is nobody's.
    unsafe fn push(&mut self, block: *mut c_void) {
        // SAFETY: room for more than one word, as the caller says.
        unsafe { link(block).store(self.top, Ordering::Relaxed) };
        *self = Self { top: block, count: self.count + 1 };
    }

    fn pop(&mut self) -> Option<*mut c_void> {
        if self.top.is_null() {
            return None;
        }
        let block = self.top;
        // SAFETY: it was pushed, where its first word was set.
        *self = Self { top: unsafe { link(block).load(Ordering::Relaxed) }, count: self.count - 1 };
        Some(block)
    }
}

/// The first word of freed memory. Atomic: threads that find an object in a list or a dict look at its header before they know
/// whether it is still there.
///
/// # Safety
/// Memory of an object, alive for `'a`.
unsafe fn link<'a>(block: *mut c_void) -> &'a AtomicPtr<c_void> {
    // SAFETY: as the caller says; objects are aligned like pointers.
    unsafe { AtomicPtr::from_ptr(block.cast()) }
}

/// Freed memory by kind.
pub(super) struct FreeLists([FreeList; KINDS]);

impl FreeLists {
    pub(super) const EMPTY: Self = Self([FreeList::EMPTY; KINDS]);

    fn pop(&mut self) -> Option<(usize, *mut c_void)> {
        self.0.iter_mut().enumerate().find_map(|(kind, list)| Some((kind, list.pop()?)))
    }
}

/// The lists of a thread that has ended: it cannot free them, as it is not attached to Python any more.
struct EndedThread {
    lists: [FreeList; KINDS],
    next: *mut EndedThread,
}

/// What all threads have left. Who takes from it takes all, so that it needs no lock: a process that is forked while another
/// thread ends would never get that again.
static LEFT: AtomicPtr<EndedThread> = AtomicPtr::new(ptr::null_mut());

// SAFETY: memory may be used by any thread.
unsafe impl Send for FreeLists {}

impl Drop for FreeLists {
    fn drop(&mut self) {
        if self.0.iter().all(|list| list.top.is_null()) {
            return;
        }
        let left = Box::into_raw(Box::new(EndedThread { lists: self.0, next: ptr::null_mut() }));
        let mut first = LEFT.load(Ordering::Relaxed);
        loop {
            // SAFETY: nobody else knows of it yet.
            unsafe { (*left).next = first };
            match LEFT.compare_exchange_weak(first, left, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }
}

/// Takes over what threads have left, as far as there is room for it, and gives the rest back. Memory of this kind, if there
/// was any.
///
/// # Safety
/// The thread is attached.
#[cold]
unsafe fn take_left(wanted: usize) -> Option<*mut c_void> {
    let mut next = LEFT.swap(ptr::null_mut(), Ordering::Acquire);
    let mut found = None;
    while !next.is_null() {
        // SAFETY: made by `Box::into_raw`, and taken out by this thread alone.
        let left = unsafe { Box::from_raw(next) };
        next = left.next;
        let mut lists = FreeLists(left.lists);
        while let Some((kind, block)) = lists.pop() {
            if kind == wanted && found.is_none() {
                found = Some(block);
            } else {
                // SAFETY: memory of an object of this kind, and nobody's; the thread is attached.
                unsafe { keep_or_free(kind, block) };
            }
        }
    }
    found
}

/// # Safety
/// Memory of an object of this kind, which is nobody's and not tracked, and whose type is alive. The thread is attached.
unsafe fn keep_or_free(kind: usize, block: *mut c_void) {
    // SAFETY: a pointer is moved; the memory is as the caller says.
    let kept = unsafe {
        with_kept(|kept| {
            let list = &mut kept.lists.0[kind];
            let room = list.count < MOST;
            if room {
                list.push(block);
            }
            room
        })
    };
    if kept == Some(true) {
        return;
    }
    // SAFETY: as the caller says. The garbage collector counts what is made and freed.
    unsafe { if kind < STEPS { ffi::PyObject_Free(block) } else { ffi::PyObject_GC_Del(block) } }
}

/// The kind of memory of objects of this size, which the garbage collector may know of, or does not.
const fn kind_of(size: usize, is_known: bool) -> usize {
    let steps = size.div_ceil(STEP);
    assert!(steps < STEPS, "memory of objects of this size is not kept");
    if is_known { STEPS + steps } else { steps }
}

/// An object of a type of ours, with its header filled in, and null without memory.
///
/// # Safety
/// A type that is alive. Its objects are laid out as `L`, are known to the garbage collector if `KNOWN` says so, and have nothing
/// to tell it while they are not tracked.
#[inline]
pub(crate) unsafe fn object<L, const KNOWN: bool>(of: *mut ffi::PyTypeObject) -> *mut ffi::PyObject {
    let kind = const { kind_of(size_of::<L>(), KNOWN) };
    // SAFETY: a pointer is moved; memory of this kind, and nobody's.
    unsafe {
        match with_kept(|kept| kept.lists.0[kind].pop()) {
            Some(Some(block)) => ffi::PyObject_Init(block.cast(), of),
            _ => another(of, kind),
        }
    }
}

/// [`object`], where the thread has no memory for one.
///
/// # Safety
/// As there; a kind of that type.
#[cold]
unsafe fn another(of: *mut ffi::PyTypeObject, kind: usize) -> *mut ffi::PyObject {
    // SAFETY: as the caller says. What is allocated anew is tracked by then.
    unsafe {
        if !LEFT.load(Ordering::Relaxed).is_null()
            && let Some(block) = take_left(kind)
        {
            return ffi::PyObject_Init(block.cast(), of);
        }
        let object = ffi::PyType_GenericAlloc(of, 0);
        if !object.is_null() && kind >= STEPS {
            ffi::PyObject_GC_UnTrack(object.cast());
        }
        object
    }
}

/// Gives the memory of an object back.
///
/// # Safety
/// Of [`object`], with the same layout; nobody's any more, and not tracked. Its type is alive, and the thread attached.
#[inline]
pub(crate) unsafe fn free<L, const KNOWN: bool>(object: *mut c_void) {
    // SAFETY: as the caller says.
    unsafe { keep_or_free(const { kind_of(size_of::<L>(), KNOWN) }, object) }
}

/// What [`recycle`] puts into a class: `object.__new__` comes here.
unsafe extern "C" fn alloc<T: Instance>(of: *mut ffi::PyTypeObject, _: ffi::Py_ssize_t) -> *mut ffi::PyObject {
    // SAFETY: the interpreter allocates an object of a class that was prepared.
    unsafe { object::<Object<T>, true>(of) }
}

/// As above: the last reference is gone.
unsafe extern "C" fn dealloc<T: Instance>(object: *mut ffi::PyObject) {
    // SAFETY: an object of a class that was prepared, which nobody has any more, and which is not tracked; its value is dropped
    // once. The reference to its type is its own.
    unsafe {
        if T::MAY_BE_TRACKED {
            ffi::PyObject_GC_UnTrack(object.cast());
        }
        let value = &raw mut (*object.cast::<Object<T>>()).value;
        if (*value).let_go(Python::assume_attached()) {
            value.drop_in_place();
        } else {
            attached((), |_| {
                value.drop_in_place();
                Ok(())
            });
        }
        let kind = ffi::Py_TYPE(object);
        free::<Object<T>, true>(object.cast());
        ffi::Py_DECREF(kind.cast());
    }
}

/// Has objects of a class made in memory that others have left. A class without subclasses and without `__clear__`, whose objects
/// have nothing to tell the garbage collector when they are made. Their layout has been looked at.
pub(crate) fn recycle<T: Instance>(py: Python<'_>) {
    /// Objects of subclasses may be of another size, and with the others there is memory in front of the object.
    const OTHERS: c_ulong = ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_MANAGED_DICT | ffi::Py_TPFLAGS_MANAGED_WEAKREF;
    let kind = T::type_object_raw(py);
    // SAFETY: the type is alive, and has no objects yet; what they are made of is all set when they are. See above for what Python
    // expects of an object's memory.
    unsafe {
        assert_eq!(ffi::PyType_GetFlags(kind) & OTHERS, 0, "a class that is not to be recycled");
        assert!((*kind).tp_clear.is_none(), "a class that can be part of cycles");
        (*kind).tp_alloc = Some(alloc::<T>);
        (*kind).tp_dealloc = Some(dealloc::<T>);
    }
}
