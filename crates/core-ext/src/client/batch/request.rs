//! The bytes of a request, in memory that goes round.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Memory beyond this is given back.
const KEEP_CAPACITY: usize = 64 * 1024;
/// A thread keeps the memory of so many requests: those of one call to a cluster of middle size.
const KEEP: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of a request. Their memory is kept by the thread that is done with them, for its next batch: to give some
/// KB back to the allocator and ask for them again costs far more than that, as it makes some allocators tidy up.
#[derive(Debug, Default)]
pub(super) struct Request(Vec<u8>);

impl Request {
    /// An empty one, with memory of an earlier one if there is some.
    pub(super) fn new() -> Self {
        // At the end of a thread the list may be gone.
        Self(SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten().unwrap_or_default())
    }
}

impl Deref for Request {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Request {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0);
        if !(1..=KEEP_CAPACITY).contains(&bytes.capacity()) {
            return;
        }
        bytes.clear();
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < KEEP {
                spare.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_round() {
        let mut first = Request::new();
        first.extend_from_slice(b"request");
        let memory = first.as_ptr();
        drop(first);
        let second = Request::new();
        assert_eq!((second.as_ptr(), second.len()), (memory, 0));
        // The one before is in use.
        assert_eq!(Request::new().capacity(), 0);
    }

    #[test]
    fn large_and_many_ones_are_given_back() {
        let mut large = Request::new();
        large.reserve(KEEP_CAPACITY + 1);
        drop(large);
        assert_eq!(Request::new().capacity(), 0);
        let many: Vec<_> = (0..=KEEP)
            .map(|_| {
                let mut request = Request::default();
                request.push(0);
                request
            })
            .collect();
        drop(many);
        assert_eq!(SPARE.with_borrow(Vec::len), KEEP);
    }
}
