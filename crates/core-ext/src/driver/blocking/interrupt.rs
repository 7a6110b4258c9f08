//! Calls that may be interrupted: a blocked thread that has signals to look after asks now and then whether to go on.
//!
//! Nothing of it costs a call that does not ask. One that asks waits in slices: the timeouts of its sockets are those
//! of a slice, the same for every call.

use std::fmt;
use std::time::Duration;

use crate::clock;

/// How long a call that asks waits before it does so. Signals that arrive meanwhile end the slice, unless their handler
/// restarts system calls.
pub(super) const SLICE: Duration = Duration::from_millis(50);

/// Whom a blocked call asks whether its caller was interrupted, if anybody. Once the answer was yes, the call ends with
/// [`FailureKind::Interrupted`](crate::lane::FailureKind::Interrupted) and nothing else: it is not asked twice.
#[derive(Clone, Copy, Default)]
pub(crate) struct Interrupt<'a>(Option<&'a dyn Fn() -> bool>);

impl<'a> Interrupt<'a> {
    pub(crate) fn by(interrupted: &'a dyn Fn() -> bool) -> Self {
        Self(Some(interrupted))
    }

    /// Whether there is somebody to ask.
    pub(super) fn is_asked(self) -> bool {
        self.0.is_some()
    }

    /// Asks.
    pub(crate) fn came(self) -> bool {
        self.0.is_some_and(|interrupted| interrupted())
    }

    /// How long to wait now of what is left.
    pub(super) fn slice(self, left: Option<Duration>) -> Option<Duration> {
        if self.is_asked() { Some(left.map_or(SLICE, |left| left.min(SLICE))) } else { left }
    }

    /// Sleeps; true: the caller was interrupted.
    pub(crate) fn sleep(self, pause: Duration) -> bool {
        if !self.is_asked() {
            std::thread::sleep(pause);
            return false;
        }
        let until = clock::now() + pause;
        loop {
            let left = until.saturating_duration_since(clock::now());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(left.min(SLICE));
            if self.came() {
                return true;
            }
        }
    }
}

impl fmt::Debug for Interrupt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupt({})", self.is_asked())
    }
}
