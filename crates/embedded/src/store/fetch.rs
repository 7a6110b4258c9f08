//! Asking the processor for memory before it is needed.
//!
//! A search for a record waits for two loads, each of which tells where the next one is. Whoever knows early what is going to
//! be searched for asks for these lines, does other things, and finds them in the cache when their time comes. To read them
//! early is not the same: the processor can only do so much else while a load is under way.

/// Bytes that a processor fetches at a time.
const LINE: usize = 64;

/// Asks for the cache line of a byte. Changes nothing that a program can see.
#[inline]
pub(super) fn fetch<T>(place: &T) {
    fetch_at(place, 0);
}

/// Asks for all cache lines of something that begins with one.
#[inline]
pub(super) fn fetch_all<T>(place: &T) {
    (0..size_of::<T>()).step_by(LINE).for_each(|offset| fetch_at(place, offset));
}

#[inline]
fn fetch_at<T>(place: &T, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::from_ref(place).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch is a hint, for which every address is allowed; every processor of this architecture has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    // Elsewhere stable Rust has no such function: the loads are waited for.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, offset);
}
