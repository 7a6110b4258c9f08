//! A node that cannot be connected to: since when, why, and when it is tried again.
//!
//! All lanes, event loops and threads of a client share this. While a node is down they make one attempt at a time, with
//! pauses that grow, and all hear of its failure; as soon as one succeeds, the others connect, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::Breaker;
use crate::error::{Error, Phase, Result};
use crate::sync::Mutex;

/// Pauses between attempts to connect: the first one, doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// A failure so long ago says nothing of the node any more.
const STALE: Duration = Duration::from_secs(5);

/// What is known of the attempts to connect to a node.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    down: Mutex<Option<Down>>,
    news: Notify,
    /// Somebody tries on behalf of calls that went elsewhere.
    probed: AtomicBool,
}

/// While it lives, nobody else begins to [`probe`](Outage::probe).
pub(crate) struct Probe(Arc<Breaker>);

impl Drop for Probe {
    fn drop(&mut self) {
        self.0.outage().probed.store(false, Ordering::Release);
    }
}

#[derive(Debug)]
struct Down {
    /// When the first attempt that failed was begun.
    since: Instant,
    /// When the latest one failed.
    latest: Instant,
    /// When the next one may be made.
    next: Instant,
    tries: u32,
    error: Error,
}

/// When to try to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    /// After so many failed attempts: at this moment, or when there are news.
    At(Instant, u32),
}

impl Outage {
    /// An attempt that was begun at this moment has failed. False: it ran beside another one that has failed already, and
    /// says nothing new.
    pub(super) fn failed(&self, error: &Error, began: Instant, now: Instant) -> bool {
        let mut down = self.down.lock();
        let is_new = down.as_ref().is_none_or(|down| began >= down.latest);
        let known =
            down.get_or_insert_with(|| Down { since: began, latest: now, next: now, tries: 0, error: error.clone() });
        known.tries += u32::from(is_new);
        known.latest = now;
        known.next = known.next.max(now + pause(known.tries));
        known.error = error.clone();
        drop(down);
        self.news.notify_waiters();
        is_new
    }

    /// The node took a connection.
    pub(super) fn ended(&self) {
        if self.down.lock().take().is_some() {
            self.news.notify_waiters();
        }
    }

    /// Whether the latest attempt has failed a short time ago.
    pub(super) fn is_recent(&self, now: Instant) -> bool {
        self.down.lock().as_ref().is_some_and(|down| now.saturating_duration_since(down.latest) < STALE)
    }

    /// For a call that goes to another node meanwhile: the right to try on behalf of all such calls, unless somebody does.
    pub(crate) fn probe(breaker: &Arc<Breaker>) -> Option<Probe> {
        let probed = &breaker.outage().probed;
        let free = !probed.load(Ordering::Relaxed) && !probed.swap(true, Ordering::Acquire);
        free.then(|| Probe(Arc::clone(breaker)))
    }

    /// Ready at the next news. To be taken before [`turn`](Self::turn): nothing is missed in between.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }

    /// When it is time to try. `seen`: the number of attempts that had failed when the caller began to wait.
    ///
    /// # Errors
    /// Another attempt has failed since then.
    pub(crate) fn turn(&self, now: Instant, seen: Option<u32>) -> Result<Turn> {
        let mut down = self.down.lock();
        let Some(down) = &mut *down else { return Ok(Turn::Now) };
        if seen.is_some_and(|seen| seen != down.tries) {
            return Err(down.error.clone());
        }
        if now < down.next {
            return Ok(Turn::At(down.next, down.tries));
        }
        // Before it is known what becomes of this attempt: it may take long, and then the next one comes beside it.
        down.next = now + pause(down.tries + 1);
        Ok(Turn::Now)
    }

    /// Why nothing can be sent to the node with this label; `None` if nothing speaks against it.
    pub(crate) fn error(&self, label: &Arc<str>, now: Instant) -> Option<Error> {
        let down = self.down.lock();
        let Down { since, error, .. } = down.as_ref()?;
        let lasts = now.saturating_duration_since(*since).as_secs_f64();
        let text = format!("no connection to node {label} for {lasts:.1} s: {}", error.base_message());
        Some(
            Error::connection(text)
                .with_node(Arc::clone(label))
                .with_phase(Phase::Connecting)
                .with_cause(error.clone()),
        )
    }
}

fn pause(tries: u32) -> Duration {
    (FIRST_PAUSE * (1 << tries.saturating_sub(1).min(6))).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn attempts_take_turns_with_pauses_that_grow() {
        let (outage, start, refused) = (Outage::default(), Instant::now(), Error::connection("refused"));
        assert_eq!(outage.turn(start, None).unwrap(), Turn::Now);
        let (mut now, mut tries) = (start, 0);
        while now < start + after(2000) {
            assert!(outage.failed(&refused, now, now));
            tries += 1;
            let Turn::At(next, seen) = outage.turn(now, None).unwrap() else { panic!("not at once") };
            assert_eq!(seen, tries);
            assert!(next - now <= LONGEST_PAUSE);
            now = next;
            assert_eq!(outage.turn(now, Some(seen)).unwrap(), Turn::Now);
            assert!(matches!(outage.turn(now, Some(seen)).unwrap(), Turn::At(..)), "one at a time");
        }
        // 10, 20, 40, 80, 160, and then one every 250 ms.
        assert!((11..=14).contains(&tries), "{tries}");
        outage.ended();
        assert_eq!(outage.turn(now, Some(tries)).unwrap(), Turn::Now);
    }

    #[test]
    fn an_attempt_that_hangs_does_not_hold_up_the_others() {
        let (outage, now, refused) = (Outage::default(), Instant::now(), Error::connection("refused"));
        outage.failed(&refused, now, now);
        assert_eq!(outage.turn(now + after(10), None).unwrap(), Turn::Now);
        let Turn::At(next, _) = outage.turn(now + after(10), None).unwrap() else { panic!("not at once") };
        assert_eq!(outage.turn(next, None).unwrap(), Turn::Now);
    }

    #[test]
    fn who_waits_hears_of_failures_of_others() {
        let (outage, now, refused) = (Outage::default(), Instant::now(), Error::connection("refused"));
        outage.failed(&refused, now, now);
        let Turn::At(_, seen) = outage.turn(now, None).unwrap() else { panic!("not at once") };
        outage.failed(&refused, now + after(5), now + after(5));
        assert!(outage.turn(now + after(6), Some(seen)).is_err());
    }

    #[test]
    fn attempts_beside_each_other_count_once() {
        let (outage, now, refused) = (Outage::default(), Instant::now(), Error::connection("refused"));
        assert!(outage.failed(&refused, now, now + after(3)));
        for late in 4..20 {
            assert!(!outage.failed(&refused, now + after(1), now + after(late)));
        }
        assert!(matches!(outage.turn(now + after(20), None).unwrap(), Turn::At(_, 1)));
    }

    #[test]
    fn the_error_says_since_when_and_why() {
        let (outage, now, label) = (Outage::default(), Instant::now(), Arc::from("BB9: 10.0.0.1:3000"));
        assert!(outage.error(&label, now).is_none());
        outage.failed(&Error::connection("connection refused"), now, now);
        outage.failed(&Error::connection("connection refused"), now + after(2000), now + after(2000));
        let error = outage.error(&label, now + after(2300)).unwrap();
        assert_eq!(error.base_message(), "no connection to node BB9: 10.0.0.1:3000 for 2.3 s: connection refused");
        assert!(outage.is_recent(now + after(6900)) && !outage.is_recent(now + after(7100)));
    }
}
