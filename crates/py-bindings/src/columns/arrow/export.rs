//! Chunks, schemas and streams in the form of Arrow's C interfaces.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use super::chunk::Chunk;
use super::column::Column;
use super::schema::Schema;
use super::types::{Field, Kind};

/// Why a stream ends early.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// As in `errno.h`.
    pub(crate) code: c_int,
    pub(crate) text: String,
}

/// Where a stream has its chunks from.
pub(crate) trait Source: Send {
    /// The columns. May wait, as [`next`](Self::next) may.
    ///
    /// # Errors
    /// The source has failed before it knew them.
    fn schema(&mut self) -> Result<Arc<Schema>, Failure>;

    /// The next chunk; `None` at the end. May wait. Called with and without the GIL, on any thread, one call at a time.
    ///
    /// # Errors
    /// The source has failed; it says so whenever it is asked again.
    fn next(&mut self) -> Result<Option<Arc<Chunk>>, Failure>;
}

/// What the pointers of an exported struct point to.
struct Owned<T> {
    /// The schema, or the chunk.
    _held: Arc<T>,
    buffers: Vec<*const c_void>,
}

impl ArrowSchema {
    fn new(
        held: &Arc<Schema>,
        (format, name, flags): (&CStr, *const c_char, i64),
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let (n_children, children) = leak(children);
        let owned = Owned { _held: Arc::clone(held), buffers: Vec::new() };
        Self {
            format: format.as_ptr(),
            name,
            metadata: ptr::null(),
            flags,
            n_children,
            children,
            dictionary: dictionary.map_or(ptr::null_mut(), |of| Box::into_raw(Box::new(of))),
            release: Some(release_schema),
            private_data: Box::into_raw(Box::new(owned)).cast(),
        }
    }

    fn of(schema: &Arc<Schema>) -> Self {
        let fields = schema.bins.iter().map(|bin| Self::of_field(schema, &bin.field)).collect();
        Self::new(schema, (c"+s", c"".as_ptr(), 0), fields, None)
    }

    /// Names and formats are the schema's own, which the struct keeps.
    fn of_field(schema: &Arc<Schema>, field: &Field) -> Self {
        let children = field.kind.children().iter().map(|child| Self::of_field(schema, child)).collect();
        let dictionary = match &field.kind {
            Kind::Dictionary { values, .. } => Some(Self::of_field(schema, values)),
            _ => None,
        };
        Self::new(schema, (&field.format, field.name.as_ptr(), field.flags()), children, dictionary)
    }
}

impl ArrowArray {
    fn new(
        held: &Arc<Chunk>,
        (rows, nulls): (usize, usize),
        buffers: Vec<*const c_void>,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let (n_children, children) = leak(children);
        let mut owned = Box::new(Owned { _held: Arc::clone(held), buffers });
        Self {
            length: rows as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children,
            buffers: owned.buffers.as_mut_ptr(),
            children,
            dictionary: dictionary.map_or(ptr::null_mut(), |of| Box::into_raw(Box::new(of))),
            release: Some(release_array),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    fn of(chunk: &Arc<Chunk>) -> Self {
        let columns = chunk.columns.iter().map(|column| Self::of_column(chunk, column)).collect();
        Self::new(chunk, (chunk.rows, 0), vec![ptr::null()], columns, None)
    }

    fn of_column(chunk: &Arc<Chunk>, column: &Column) -> Self {
        let children = column.children().iter().map(|child| Self::of_column(chunk, child)).collect();
        let dictionary = column.dictionary().map(|values| Self::of_column(chunk, values));
        Self::new(chunk, (column.rows, column.nulls), column.buffers(), children, dictionary)
    }
}

/// Children as the structs point to them: [`free`] has them back.
fn leak<T>(children: Vec<T>) -> (i64, *mut *mut T) {
    if children.is_empty() {
        return (0, ptr::null_mut());
    }
    let children: Box<[*mut T]> = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    (children.len() as i64, Box::into_raw(children).cast())
}

/// Drops children; those that were not moved elsewhere are released by that.
///
/// # Safety
/// They are of one call of [`leak`], and not used any more.
unsafe fn free<T>(count: i64, children: *mut *mut T) {
    if children.is_null() {
        return;
    }
    // SAFETY: the parts of the boxed slice of `leak`.
    let children = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(children, count as usize)) };
    for child in children {
        // SAFETY: a box of `leak`.
        drop(unsafe { Box::from_raw(child) });
    }
}

/// Drops a dictionary; one that was not moved elsewhere is released by that.
///
/// # Safety
/// Null, or boxed by `new` of its struct, and not used any more.
unsafe fn free_dictionary<T>(dictionary: *mut T) {
    if !dictionary.is_null() {
        // SAFETY: promised by the caller.
        drop(unsafe { Box::from_raw(dictionary) });
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, by the owner of a struct that `ArrowSchema::new` has made.
    unsafe {
        (*schema).release = None;
        free((*schema).n_children, (*schema).children);
        free_dictionary((*schema).dictionary);
        drop(Box::from_raw((*schema).private_data.cast::<Owned<Schema>>()));
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once, by the owner of a struct that `ArrowArray::new` has made.
    unsafe {
        (*array).release = None;
        free((*array).n_children, (*array).children);
        free_dictionary((*array).dictionary);
        drop(Box::from_raw((*array).private_data.cast::<Owned<Chunk>>()));
    }
}

/// A stream's own part.
struct Exported {
    source: Box<dyn Source>,
    error: Option<CString>,
    /// A panic has left the source in a state that is not to be looked at.
    broken: bool,
}

impl Exported {
    fn fail(&mut self, failure: Failure) -> c_int {
        self.error = CString::new(failure.text.replace('\0', " ")).ok();
        failure.code
    }

    /// What `carry_out` gives; a panic does not get out of here.
    fn guarded(&mut self, carry_out: impl FnOnce(&mut Self) -> Result<(), Failure>) -> c_int {
        self.error = None;
        let outcome = if self.broken { None } else { catch_unwind(AssertUnwindSafe(|| carry_out(self))).ok() };
        self.broken = outcome.is_none();
        let panicked = || Failure { code: libc::EIO, text: "internal error of the stream".to_owned() };
        match outcome.unwrap_or_else(|| Err(panicked())) {
            Ok(()) => 0,
            Err(failure) => self.fail(failure),
        }
    }
}

/// # Safety
/// A stream of [`stream_capsule`] that was not released, used by nobody else meanwhile.
unsafe fn exported<'a>(stream: *mut ArrowArrayStream) -> &'a mut Exported {
    // SAFETY: the box of `stream_capsule`.
    unsafe { &mut *(*stream).private_data.cast::<Exported>() }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: so the interface has it be called; `out` is a place for a schema, with nothing in it.
    unsafe { exported(stream) }.guarded(|this| {
        let schema = ArrowSchema::of(&this.source.schema()?);
        // SAFETY: as above.
        unsafe { out.write(schema) };
        Ok(())
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: so the interface has it be called; `out` is a place for an array, with nothing in it.
    unsafe { exported(stream) }.guarded(|this| {
        let chunk = this.source.next()?;
        let array = chunk.as_ref().map_or(ArrowArray::EMPTY, ArrowArray::of);
        // SAFETY: as above.
        unsafe { out.write(array) };
        Ok(())
    })
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: so the interface has it be called. The text stays until the next call.
    unsafe { exported(stream) }.error.as_ref().map_or(ptr::null(), |error| error.as_ptr())
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: called once, by the owner of a struct that `stream_capsule` has made.
    let exported = unsafe {
        (*stream).release = None;
        Box::from_raw((*stream).private_data.cast::<Exported>())
    };
    // With Python at hand a query ends at once, not when a thread next looks at what is to be dropped.
    let _ = catch_unwind(AssertUnwindSafe(|| attached(|_| drop(exported))));
}

/// Runs `f` with Python, called by a reader that may or may not have given up the GIL; `None`: Python is shutting down.
///
/// A reader that runs in a task which our event-loop driver steps has frames of ours below it. `PyO3` counts these, and
/// so takes a thread for attached whose reader has given up the GIL meanwhile.
pub(crate) fn attached<R>(f: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    // SAFETY: may be called at any time; null on threads that Python does not know.
    let known = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
    // SAFETY: the thread is Python's, so Python is initialized. It changes nothing where the thread is attached.
    let state = known.then(|| unsafe { ffi::PyGILState_Ensure() });
    let result = catch_unwind(AssertUnwindSafe(|| Python::try_attach(f)));
    if let Some(state) = state {
        // SAFETY: undoes the call above, on the same thread, with the same thread attached.
        unsafe { ffi::PyGILState_Release(state) };
    }
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A schema for `__arrow_c_schema__`.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Arc<Schema>) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, ArrowSchema::of(schema), c"arrow_schema")
}

/// A stream for `__arrow_c_stream__`.
pub(crate) fn stream_capsule(py: Python<'_>, source: Box<dyn Source>) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Exported { source, error: None, broken: false })).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
