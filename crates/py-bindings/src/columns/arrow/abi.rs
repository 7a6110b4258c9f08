//! Arrow's C data and stream interfaces: the layouts of <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>, which are a stable ABI.
//!
//! Whoever holds one of these owns what is in it until `release` is `None`: it was called, or what was in it was moved.

use std::ffi::{c_char, c_int, c_void};

/// Null is a value of the field's type that consumers must expect.
pub(in crate::columns) const NULLABLE: i64 = 2;

#[repr(C)]
pub(in crate::columns) struct ArrowSchema {
    pub(in crate::columns) format: *const c_char,
    pub(in crate::columns) name: *const c_char,
    pub(in crate::columns) metadata: *const c_char,
    pub(in crate::columns) flags: i64,
    pub(in crate::columns) n_children: i64,
    pub(in crate::columns) children: *mut *mut ArrowSchema,
    pub(in crate::columns) dictionary: *mut ArrowSchema,
    pub(in crate::columns) release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub(in crate::columns) private_data: *mut c_void,
}

#[repr(C)]
pub(in crate::columns) struct ArrowArray {
    pub(in crate::columns) length: i64,
    pub(in crate::columns) null_count: i64,
    pub(in crate::columns) offset: i64,
    pub(in crate::columns) n_buffers: i64,
    pub(in crate::columns) n_children: i64,
    pub(in crate::columns) buffers: *mut *const c_void,
    pub(in crate::columns) children: *mut *mut ArrowArray,
    pub(in crate::columns) dictionary: *mut ArrowArray,
    pub(in crate::columns) release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub(in crate::columns) private_data: *mut c_void,
}

#[repr(C)]
pub(in crate::columns) struct ArrowArrayStream {
    pub(in crate::columns) get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub(in crate::columns) get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub(in crate::columns) get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub(in crate::columns) release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub(in crate::columns) private_data: *mut c_void,
}

/// Dropping one releases what is in it; capsules of Python that nobody has taken anything from rely on that.
macro_rules! released_when_dropped {
    ($($name:ident),*) => {$(
        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it has not been released or moved, or `release` would be `None`.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interfaces let any thread use what they hand over, one at a time: so does `export`, and so must others.
        unsafe impl Send for $name {}
    )*};
}

impl ArrowSchema {
    /// A place for one.
    pub(in crate::columns) const EMPTY: Self = Self {
        format: std::ptr::null(),
        name: std::ptr::null(),
        metadata: std::ptr::null(),
        flags: 0,
        n_children: 0,
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: None,
        private_data: std::ptr::null_mut(),
    };
}

impl ArrowArray {
    /// A place for one, and what says that there are no more.
    pub(in crate::columns) const EMPTY: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: std::ptr::null_mut(),
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: None,
        private_data: std::ptr::null_mut(),
    };
}

released_when_dropped!(ArrowSchema, ArrowArray, ArrowArrayStream);
