//! When a thread that waits for events has to wake up.

use std::io;
use std::time::{Duration, Instant};

/// Times this close are waited for without going to sleep, which takes about as long.
const NEAR: Duration = Duration::from_micros(2);

/// Wakes a thread's poll at a time.
///
/// Epoll counts its timeout in milliseconds, and the kernel may delay the end of a sleep by the thread's timer slack, 50 µs
/// by default. So on Linux the alarm is a timer of its own among the poll's events, which has neither. Elsewhere, and where
/// there is no such timer, it is the timeout of the poll.
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: Option<timer::Timer>,
}

impl Alarm {
    /// An alarm that goes off as an event of this token.
    pub(super) fn new(poll: &mio::Poll, token: mio::Token) -> Self {
        #[cfg(target_os = "linux")]
        let alarm = Self { timer: timer::Timer::new(poll, token).ok() };
        #[cfg(not(target_os = "linux"))]
        let alarm = {
            let _ = (poll, token);
            Self {}
        };
        alarm
    }

    /// Sets the alarm. Gives the timeout to poll with.
    pub(super) fn set(&mut self, at: Instant) -> Option<Duration> {
        let left = at.saturating_duration_since(Instant::now());
        if left <= NEAR {
            return Some(Duration::ZERO);
        }
        #[cfg(target_os = "linux")]
        if let Some(timer) = &mut self.timer
            && timer.set(at, left).is_ok()
        {
            return None;
        }
        Some(left)
    }

    /// The alarm has gone off.
    pub(super) fn gone_off(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(timer) = &mut self.timer {
            timer.set_for = None;
        }
    }
}

#[cfg(target_os = "linux")]
mod timer {
    use super::{Duration, Instant, io};
    use mio::unix::SourceFd;
    use rustix::fd::{AsRawFd, OwnedFd};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };

    /// A timerfd. It is never read: the poll is edge-triggered, and setting it anew clears it.
    pub(super) struct Timer {
        fd: OwnedFd,
        /// It is set for this time and has not gone off.
        pub(super) set_for: Option<Instant>,
    }

    impl Timer {
        pub(super) fn new(poll: &mio::Poll, token: mio::Token) -> io::Result<Self> {
            let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            poll.registry().register(&mut SourceFd(&fd.as_raw_fd()), token, mio::Interest::READABLE)?;
            Ok(Self { fd, set_for: None })
        }

        pub(super) fn set(&mut self, at: Instant, left: Duration) -> io::Result<()> {
            if self.set_for == Some(at) {
                return Ok(());
            }
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            // No time that is waited for is centuries away.
            let value = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let once = Itimerspec { it_interval: zero, it_value: value };
            timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once)?;
            self.set_for = Some(at);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll, Token};

    /// How late the alarm is at best: a machine that is busy makes it late, but hardly every time.
    #[test]
    fn it_goes_off_in_time() {
        let mut poll = Poll::new().unwrap();
        let mut alarm = Alarm::new(&poll, Token(7));
        let mut events = Events::with_capacity(8);
        let begun = Instant::now();
        let mut best = Duration::MAX;
        while best > Duration::from_micros(400) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{best:?} late at best");
            let at = Instant::now() + Duration::from_micros(300);
            while Instant::now() < at {
                let timeout = alarm.set(at);
                poll.poll(&mut events, timeout).unwrap();
                if events.iter().any(|event| event.token() == Token(7)) {
                    alarm.gone_off();
                }
            }
            best = best.min(at.elapsed());
        }
    }

    #[test]
    fn it_can_be_set_anew() {
        let mut poll = Poll::new().unwrap();
        let mut alarm = Alarm::new(&poll, Token(7));
        let mut events = Events::with_capacity(8);
        let begun = Instant::now();
        alarm.set(begun + Duration::from_secs(100));
        for millis in [30, 60] {
            let at = begun + Duration::from_millis(millis);
            while Instant::now() < at {
                let timeout = alarm.set(at);
                poll.poll(&mut events, timeout).unwrap();
                alarm.gone_off();
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
