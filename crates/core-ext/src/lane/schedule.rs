//! When a search for a width tries what, and where it stands.

/// About a millisecond: waits are powers of two, so that their multiples meet.
pub(super) const MS: u64 = 1 << 20;

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
    /// The width has changed: until the requests from before are answered, nothing is measured.
    Settling { next: After, answers: u64, since: u64 },
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
