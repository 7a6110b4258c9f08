//! Drivers: what moves a lane's bytes. The lane decides, a driver does.
//!
//! * `tasks`: tokio tasks on the runtime of the callers, one per connection (async clients)
//! * `blocking`: the calling thread itself (sync clients)
//! * [`host`]: a foreign event loop that says "readable", "writable", "tick"
//!
//! Futures reach the first and the last of them in one way (`way`). All three own their sockets; plain or TLS is decided by
//! a `layer` that does no I/O of its own.

pub(crate) mod blocking;
pub(crate) mod fork;
pub mod host;
pub(crate) mod layer;
pub(crate) mod mark;
pub(crate) mod slots;
pub(crate) mod tasks;
pub(crate) mod thread;
#[cfg(feature = "tls")]
pub(crate) mod tls;
pub(crate) mod way;

/// Empties a buffer that is kept for its next use; what it has beyond `keep` bytes is given back.
pub(crate) fn empty(buffer: &mut Vec<u8>, keep: usize) {
    // Only an empty one shrinks that far.
    buffer.clear();
    buffer.shrink_to(keep);
}
