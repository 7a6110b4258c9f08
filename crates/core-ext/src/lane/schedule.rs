//! When a search for a width tries what, and where it stands.

/// About a millisecond: waits are powers of two, so that their multiples meet.
pub(super) const MS: u64 = 1 << 20;

/// First wait after a rejected probe.
pub(super) const BACK_OFF: u64 = 8 * MS;
/// Probes take large steps while they are repeated after no more than this time, then small ones.
pub(super) const COARSE: u64 = 2 * BACK_OFF;
/// Longest wait between probes.
pub(super) const MOST_BACK_OFF: u64 = 512 * MS;
/// Longest wait between narrowing probes while each request has its connection for itself: there little else shows that
/// the server has become faster.
pub(super) const MOST_BACK_OFF_ALONE: u64 = 256 * MS;
/// A width that was found is compared with the one to start with after this time, and then ever more rarely: what a search on
/// a busy machine takes for a gain may be none, and a wide width hides it.
pub(super) const HOME: u64 = 512 * MS;
/// The same where the client was what is slow before.
pub(super) const HOME_SOON: u64 = 64 * MS;
pub(super) const MOST_HOME: u64 = 32_768 * MS;

/// The first moment after about so long of those at which all lanes try something: several that share a server, also those
/// of other clients, then see what all of them do together. One alone would see what it takes from the others.
pub(super) fn later(now: u64, wait: u64) -> u64 {
    let step = wait.next_power_of_two();
    (now + step / 2 + 1).next_multiple_of(step)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Direction {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Measures what the present width gives.
    Reference,
    /// The width has changed, or the client has paused: nothing is measured until the requests from before are answered, or until
    /// `until`. If it was a pause, a measurement that had begun goes on afterwards; `stopped` is when the pause interrupted it.
    Settling { next: After, answers: u64, since: u64, until: u64, stopped: Option<u64> },
    /// Measures what the width of a trial gives.
    Trial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Reference,
    Trial,
}

/// When something is to be tried next, and how long to wait after the next failure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Schedule {
    pub(super) due: u64,
    pub(super) back_off: u64,
    /// Trials accepted in a row.
    pub(super) streak: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_wait_for_about_as_long_try_at_the_same_moment() {
        let earlier = later(3 * MS, 8 * MS);
        assert_eq!(earlier, 8 * MS);
        assert_eq!(later(0, 5 * MS), earlier);
        for now in (0..100).map(|n| n * MS / 3) {
            let due = later(now, 64 * MS);
            assert!(due.is_multiple_of(64 * MS) && due > now && due <= now + 96 * MS + 1, "{now}: {due}");
        }
    }
}
