//! Counting requests for a [schedule](crate::schedule).

use super::RequestKind;
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// Counts requests, of one node or of several, until there were enough. Whoever waits for that then does what is to be done, and the
/// connection of the last request waits for it.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Empty: all kinds.
    kinds: Vec<RequestKind>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    left: u64,
    fired: bool,
    over: bool,
}

impl Watch {
    pub(crate) fn new(kinds: Vec<RequestKind>, requests: u64) -> Self {
        let state = State { left: requests, fired: false, over: false };
        Self { kinds, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Counts a request; `true`: it was the last one.
    pub(super) fn counts(&self, kind: RequestKind) -> bool {
        if kind == RequestKind::Control || !(self.kinds.is_empty() || self.kinds.contains(&kind)) {
            return false;
        }
        let mut state = self.state.lock();
        let last = state.left == 1;
        state.left = state.left.saturating_sub(1);
        last
    }

    /// The last request has been answered.
    pub(crate) fn answered(&self) {
        self.state.lock().fired = true;
        self.changed.notify_all();
    }

    /// Waits until the last request has been answered; `false`: it was not so far.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.fired {
            self.changed.wait_for(&mut state, at_most);
        }
        state.fired
    }

    /// What was to be done is done.
    pub(crate) fn end(&self) {
        self.state.lock().over = true;
    }

    /// Whether what was to be done is done.
    pub(crate) fn is_over(&self) -> bool {
        self.state.lock().over
    }
}
