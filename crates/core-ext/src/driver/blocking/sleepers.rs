//! Threads that sleep in numbered places, any set of which is woken at once.
//!
//! On Linux one system call wakes all of a set: a futex, with a bit for each place. Nobody of them takes the waker's
//! processor away before the last is woken, which is what happens when they are woken one by one. Elsewhere each one is
//! woken by itself.

#[cfg(target_os = "linux")]
pub(super) use futex::Sleepers;
#[cfg(not(target_os = "linux"))]
pub(super) use listed::Sleepers;

/// A set of places to wake. There are 32: a number stands for its place modulo 32, so two sleepers may share one, and be woken
/// together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct WakeMask(u32);

impl WakeMask {
    pub(super) fn add(&mut self, number: u32) {
        self.0 |= bit(number);
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// How often anybody had been woken at some time: tells whether anybody was woken since.
#[derive(Debug, Clone, Copy)]
pub(super) struct WakeCount(u32);

const fn bit(number: u32) -> u32 {
    1 << (number % u32::BITS)
}

#[cfg(target_os = "linux")]
mod futex {
    use std::num::NonZeroU32;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use rustix::thread::futex::{Flags, Timespec, wait_bitset, wake_bitset};
    use rustix::time::{ClockId, clock_gettime};

    use super::{WakeCount, WakeMask, bit};

    #[derive(Debug, Default)]
    pub(in super::super) struct Sleepers {
        /// How often anybody was woken; what sleepers wait on.
        wakes: AtomicU32,
    }

    impl Sleepers {
        /// To be asked while the lock is held under which the caller found that it has to sleep.
        pub(in super::super) fn seen(&self) -> WakeCount {
            WakeCount(self.wakes.load(Ordering::Relaxed))
        }

        /// Sleeps until this place is woken, or for so long. Does not sleep if anybody was woken since `seen`; may also
        /// end for no reason.
        pub(in super::super) fn sleep(&self, seen: WakeCount, number: u32, longest: Option<Duration>) {
            let Some(bit) = NonZeroU32::new(bit(number)) else { return };
            // The kernel wants the time at which to end. One that is too far away to be told is none.
            let end = longest
                .and_then(|longest| clock_gettime(ClockId::Monotonic).checked_add(Timespec::try_from(longest).ok()?));
            // Woken, too late to sleep, out of time, interrupted: the caller looks for itself.
            let _ = wait_bitset(&self.wakes, Flags::PRIVATE, seen.0, end.as_ref(), bit);
        }

        /// Wakes all who sleep in these places, once `lock` is released, which guards what they look at.
        pub(in super::super) fn wake<L>(&self, mask: WakeMask, lock: L) {
            // With the lock held: who takes it next and goes to sleep has seen this.
            self.wakes.fetch_add(1, Ordering::Relaxed);
            drop(lock);
            if let Some(bits) = NonZeroU32::new(mask.0) {
                // Fails for no reason that there could be here.
                let _ = wake_bitset(&self.wakes, Flags::PRIVATE, i32::MAX as u32, bits);
            }
        }
    }
}

#[cfg(any(test, not(target_os = "linux")))]
mod listed {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread::{self, Thread};
    use std::time::Duration;

    use crate::sync::Mutex;

    use super::{WakeCount, WakeMask, bit};

    #[derive(Debug, Default)]
    pub(in super::super) struct Sleepers {
        /// How often anybody was woken.
        wakes: AtomicU32,
        /// Who sleeps, with the bit of its place.
        all: Mutex<Vec<(u32, Thread)>>,
    }

    impl Sleepers {
        /// As with a futex.
        pub(in super::super) fn seen(&self) -> WakeCount {
            WakeCount(self.wakes.load(Ordering::Relaxed))
        }

        /// As with a futex.
        pub(in super::super) fn sleep(&self, seen: WakeCount, number: u32, longest: Option<Duration>) {
            {
                let mut all = self.all.lock();
                if self.wakes.load(Ordering::Relaxed) != seen.0 {
                    return;
                }
                all.push((bit(number), thread::current()));
            }
            match longest {
                None => thread::park(),
                Some(longest) => thread::park_timeout(longest),
            }
            // Still there after a time that ran out, and after a park that ended for no reason.
            let this = thread::current().id();
            self.all.lock().retain(|(_, thread)| thread.id() != this);
        }

        /// As with a futex.
        pub(in super::super) fn wake<L>(&self, mask: WakeMask, lock: L) {
            self.wakes.fetch_add(1, Ordering::Relaxed);
            drop(lock);
            let woken: Vec<_> = self.all.lock().extract_if(.., |(bit, _)| mask.0 & *bit != 0).collect();
            for (_, thread) in woken {
                thread.unpark();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::sync::Mutex;

    use super::WakeMask;

    fn mask(numbers: &[u32]) -> WakeMask {
        let mut mask = WakeMask::default();
        for number in numbers {
            mask.add(*number);
        }
        mask
    }

    #[test]
    fn numbers_share_places_beyond_32() {
        assert!(mask(&[]).is_empty());
        assert_eq!(mask(&[1, 33, 65]), mask(&[1]));
        assert_ne!(mask(&[0, 31]), mask(&[0]));
    }

    /// The same for both kinds.
    macro_rules! tests_of {
        ($kind:ident) => {
            mod $kind {
                use super::super::$kind::Sleepers;
                use super::*;

                #[test]
                fn only_those_who_are_called_wake_up() {
                    let shared = Arc::new((Sleepers::default(), Mutex::new([false; 8])));
                    let sleepers: Vec<_> = (0..8)
                        .map(|number| {
                            let shared = Arc::clone(&shared);
                            thread::spawn(move || {
                                let (sleepers, called) = &*shared;
                                let mut slept = 0;
                                loop {
                                    let called = called.lock();
                                    if called[number] {
                                        return slept;
                                    }
                                    let seen = sleepers.seen();
                                    drop(called);
                                    sleepers.sleep(seen, number as u32, None);
                                    slept += 1;
                                }
                            })
                        })
                        .collect();
                    let call = |numbers: &[u32]| {
                        let mut called = shared.1.lock();
                        for number in numbers {
                            called[*number as usize] = true;
                        }
                        shared.0.wake(mask(numbers), called);
                    };
                    call(&[1, 3, 5, 7]);
                    call(&[0]);
                    call(&[2, 4, 6]);
                    for thread in sleepers {
                        let slept = thread.join().unwrap();
                        // A call that comes between looking and sleeping ends the sleep, whomever it is for.
                        assert!(slept <= 3, "{slept}");
                    }
                }

                #[test]
                fn a_sleep_ends_with_its_time_and_not_before() {
                    let sleepers = Sleepers::default();
                    // A single one may end for no reason.
                    let slept = (0..5).map(|_| {
                        let begun = Instant::now();
                        sleepers.sleep(sleepers.seen(), 3, Some(Duration::from_millis(10)));
                        begun.elapsed()
                    });
                    let longest = slept.max().unwrap();
                    assert!(longest >= Duration::from_millis(10), "{longest:?}");
                }

                #[test]
                fn who_was_woken_before_it_sleeps_does_not() {
                    let sleepers = Sleepers::default();
                    let seen = sleepers.seen();
                    sleepers.wake(mask(&[5]), ());
                    // Without a time it would sleep for good.
                    sleepers.sleep(seen, 3, None);
                }

                #[test]
                fn no_call_is_lost() {
                    const ROUNDS: u32 = 2_000;
                    let (sleepers, turn) = (&Sleepers::default(), &Mutex::new(0));
                    thread::scope(|scope| {
                        for number in 0..4_u32 {
                            scope.spawn(move || {
                                loop {
                                    let mut turn = turn.lock();
                                    if *turn >= ROUNDS {
                                        sleepers.wake(mask(&[0, 1, 2, 3]), turn);
                                        return;
                                    }
                                    if *turn % 4 == number {
                                        *turn += 1;
                                        let next = *turn % 4;
                                        sleepers.wake(mask(&[next]), turn);
                                        continue;
                                    }
                                    let seen = sleepers.seen();
                                    drop(turn);
                                    sleepers.sleep(seen, number, None);
                                }
                            });
                        }
                    });
                    assert_eq!(*turn.lock(), ROUNDS);
                }
            }
        };
    }

    #[cfg(target_os = "linux")]
    tests_of!(futex);
    tests_of!(listed);
}
