//! Long answers in slices, so that they keep nobody's thread.
//!
//! A thread that serves connections works on an answer for [`SLICE`] at most before others have their turn. An answer that
//! gets little done in that time goes on on the threads of its node, also slice by slice: so neither other nodes nor
//! other requests wait for it, and scripts and other long answers of the node have their turns, too.

use super::offload::{ConnectionWaker, Sender, Waiting, pipe};
use super::{Answered, Producer, Request};
use crate::clock::{Now, Passing};
use crate::cluster::Node;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an answer is worked on at a time.
const SLICE: Duration = Duration::from_millis(2);
/// A slice with fewer steps than this is a slow one.
const FEW_STEPS: u32 = 64;
/// The clock is looked at after this many steps at the latest.
const MOST_STEPS: u32 = 16;
/// Steps that are quicker than this need not be watched one by one.
const QUICK: Duration = Duration::from_micros(20);
/// Steps of a slice where work takes no time.
const STEPS: u32 = 4096;

/// One slice of work.
#[derive(Debug)]
pub(crate) struct Slice {
    /// `None`: there is no clock, and the steps are counted.
    watch: Option<Watch>,
    /// Steps so far, and those until the clock is looked at.
    steps: u32,
    left: u32,
    gap: u32,
}

/// What tells that the time of a slice is over.
#[derive(Debug)]
struct Watch {
    clock: fn() -> Instant,
    ends: Instant,
    looked: Instant,
}

impl Slice {
    /// One that begins now.
    pub(crate) fn begin(now: Now) -> Self {
        match now.passing {
            Passing::Clock(clock) => {
                // Other requests may have been answered since the clock was read for this one.
                let begun = clock();
                let watch = Watch { clock, ends: begun + SLICE, looked: begun };
                Self { watch: Some(watch), steps: 0, left: 1, gap: 1 }
            }
            Passing::Still => Self { watch: None, steps: 0, left: STEPS, gap: STEPS },
        }
    }

    /// A step is done; `true`: the slice is over.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.steps += 1;
        self.left -= 1;
        self.left == 0 && self.look()
    }

    fn look(&mut self) -> bool {
        let Some(watch) = &mut self.watch else { return true };
        let now = (watch.clock)();
        self.gap = if now - watch.looked < QUICK { (self.gap * 2).min(MOST_STEPS) } else { 1 };
        (watch.looked, self.left) = (now, self.gap);
        now >= watch.ends
    }

    /// Whether a slice that is over got little done.
    pub(crate) fn was_slow(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.looked >= watch.ends) && self.steps < FEW_STEPS
    }
}

/// An answer in slices.
pub(crate) trait Sliced: Send + 'static {
    /// Works for a slice and appends what whole frames came of it; `true`: that was all.
    fn proceed(&mut self, now: Now, out: &mut Vec<u8>) -> bool;

    /// When what was appended may leave, or when to go on: if not at once.
    fn not_before(&self) -> Option<Instant>;

    /// Whether the last slice got little done.
    fn is_slow(&self) -> bool;

    /// From now on, make no pauses.
    fn hurry(&mut self) {}
}

/// Goes on with an answer whose first slice is done.
pub(crate) fn stream<S: Sliced>(request: &Request<'_>, work: S) -> Answered {
    let (node, waking) = (Arc::clone(request.node), request.session.waking.clone());
    let mut stream = Stream { node, waking, at: At::Here(work) };
    stream.hand_over_if_slow();
    Answered::Stream(Box::new(stream))
}

/// Has all of an answer worked out on the threads of its node.
pub(crate) fn stream_elsewhere<S: Sliced>(request: &Request<'_>, work: S) -> Answered {
    let (sender, waiting) = pipe(request.session.waking.clone());
    Job { work, sender, node: Arc::clone(request.node) }.submit();
    Answered::Stream(Box::new(waiting))
}

/// An answer, and where it is worked out.
struct Stream<S> {
    node: Arc<Node>,
    waking: ConnectionWaker,
    at: At<S>,
}

enum At<S> {
    /// On the thread of the connection.
    Here(S),
    /// On a thread of the node.
    Elsewhere(Waiting),
    /// Nowhere: it was being moved.
    Moving,
}

impl<S: Sliced> Stream<S> {
    fn hand_over_if_slow(&mut self) {
        if !matches!(&self.at, At::Here(work) if work.is_slow()) {
            return;
        }
        let (sender, waiting) = pipe(self.waking.clone());
        if let At::Here(work) = std::mem::replace(&mut self.at, At::Moving) {
            Job { work, sender, node: Arc::clone(&self.node) }.submit();
            self.at = At::Elsewhere(waiting);
        }
    }
}

impl<S: Sliced> Producer for Stream<S> {
    fn produce(&mut self, now: Now, out: &mut Vec<u8>) -> bool {
        match &mut self.at {
            At::Here(work) => {
                let over = work.proceed(now, out);
                if !over {
                    self.hand_over_if_slow();
                }
                over
            }
            At::Elsewhere(waiting) => waiting.produce(now, out),
            At::Moving => true,
        }
    }

    fn resume_at(&self, now: Instant) -> Option<Instant> {
        match &self.at {
            At::Here(work) => work.not_before(),
            At::Elsewhere(waiting) => waiting.resume_at(now),
            At::Moving => None,
        }
    }

    fn hurry(&mut self) {
        if let At::Here(work) = &mut self.at {
            work.hurry();
        }
    }
}

/// An answer on the threads of its node.
struct Job<S> {
    work: S,
    sender: Sender,
    node: Arc<Node>,
}

impl<S: Sliced> Job<S> {
    /// Gets in line for a slice.
    fn submit(self) {
        let node = Arc::clone(&self.node);
        node.workers.run(move |now| self.run(now));
    }

    fn run(mut self, now: Now) {
        // Rows that nobody waits for any more are not carried out.
        if self.sender.is_abandoned() {
            return;
        }
        let mut out = Vec::new();
        let over = self.work.proceed(self.node.time(now), &mut out);
        let goes_on = self.sender.send(&mut out, self.work.not_before());
        if goes_on && !over {
            // Without a thread while the connection has not taken what is there.
            let pipe = self.sender.pipe();
            pipe.when_taken(move || self.submit());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_without_a_clock_have_as_many_steps_each_time() {
        let now = Now { passing: Passing::Still, ..Now::read() };
        for _ in 0..2 {
            let mut slice = Slice::begin(now);
            let steps = std::iter::repeat_with(|| slice.step()).take_while(|over| !over).count();
            assert_eq!(steps, STEPS as usize - 1);
            assert!(!slice.was_slow());
        }
    }

    #[test]
    fn slow_steps_end_a_slice_soon_and_quick_ones_are_many() {
        let mut slice = Slice::begin(Now::read());
        while !slice.step() {
            std::thread::sleep(SLICE / 4);
        }
        assert!(slice.steps <= 5 && slice.was_slow());
        // Some of these last to the end, however busy the machine is.
        let quick = (0..200).any(|_| {
            let mut slice = Slice::begin(Now::read());
            while !slice.step() {}
            !slice.was_slow()
        });
        assert!(quick);
    }
}
