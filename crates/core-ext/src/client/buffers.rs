//! Buffers of threads that call through a [`RawClient`](super::RawClient).

use std::cell::Cell;

use crate::driver::empty;

thread_local! {
    static BUFFERS: Cell<(Vec<u8>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// What a thread keeps of each of its buffers, in bytes.
pub const BUFFERS_KEEP: usize = 64 * 1024;

/// Lends two empty buffers of the thread to `call`: one for a request, one for its answer. Their memory is used again by the
/// thread's next call; what a large one needed beyond 64 KiB is given back.
///
/// `call` may come here again: it gets others then.
pub fn with_buffers<R>(call: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>) -> R) -> R {
    // Taken out, not borrowed: encoding may run foreign code, which may call the client, too.
    let (mut request, mut answer) = BUFFERS.take();
    let result = call(&mut request, &mut answer);
    empty(&mut request, BUFFERS_KEEP);
    empty(&mut answer, BUFFERS_KEEP);
    BUFFERS.set((request, answer));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_that_of_large_calls_given_back() {
        let small = with_buffers(|request, answer| {
            request.extend_from_slice(b"request");
            answer.extend_from_slice(b"answer");
            [request.as_ptr(), answer.as_ptr()]
        });
        with_buffers(|request, answer| {
            assert!(request.is_empty() && answer.is_empty());
            assert_eq!([request.as_ptr(), answer.as_ptr()], small);
            // A call within a call has buffers of its own.
            with_buffers(|request, answer| assert_eq!((request.capacity(), answer.capacity()), (0, 0)));
        });
        for large in [BUFFERS_KEEP + 1, 10 * BUFFERS_KEEP] {
            with_buffers(|request, answer| [request, answer].map(|buffer| buffer.resize(large, 1)));
            with_buffers(|request, answer| {
                assert!(request.is_empty() && answer.is_empty());
                assert!(request.capacity() <= BUFFERS_KEEP && answer.capacity() <= BUFFERS_KEEP);
            });
        }
    }
}
