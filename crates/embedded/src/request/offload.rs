//! Answers that are worked out on another thread, while the connection waits for them.

use super::{Answered, Producer, Request};
use crate::clock::Now;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// While more than this waits for the connection, the work rests.
const PIPE_BOUND: usize = 256 * 1024;
/// The connection is woken when there is something; this is for the case that it is not.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Wakes a connection, so that it looks again at what it waits for.
#[derive(Clone)]
pub(crate) struct ConnectionWaker(pub(crate) Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for ConnectionWaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConnectionWaker")
    }
}

/// What goes from the work to the connection.
#[derive(Default)]
pub(super) struct Pipe(Mutex<Piped>);

#[derive(Default)]
struct Piped {
    bytes: Vec<u8>,
    /// When the bytes may leave, if not at once.
    not_before: Option<Instant>,
    /// How the work goes on, if it rests until the bytes are taken.
    resting: Option<Box<dyn FnOnce() + Send>>,
    /// Nothing more will come.
    over: bool,
    /// Nobody waits any more.
    abandoned: bool,
}

impl Pipe {
    /// Goes on with the work now, or when the connection has taken what is there.
    pub(super) fn when_taken(&self, goes_on: impl FnOnce() + Send + 'static) {
        let mut piped = self.0.lock();
        if piped.bytes.len() > PIPE_BOUND && !piped.abandoned {
            piped.resting = Some(Box::new(goes_on));
            return;
        }
        drop(piped);
        goes_on();
    }
}

/// The way from work to a connection: both ends.
pub(super) fn pipe(waking: ConnectionWaker) -> (Sender, Waiting) {
    let pipe = Arc::<Pipe>::default();
    (Sender { pipe: Arc::clone(&pipe), waking }, Waiting(pipe))
}

/// The work's side.
pub(crate) struct Sender {
    pipe: Arc<Pipe>,
    waking: ConnectionWaker,
}

impl Sender {
    /// Hands whole frames over, to leave at this time if one is given; `false`: nobody waits for them any more.
    pub(crate) fn send(&self, bytes: &mut Vec<u8>, not_before: Option<Instant>) -> bool {
        let mut piped = self.pipe.0.lock();
        if piped.bytes.is_empty() {
            std::mem::swap(&mut piped.bytes, bytes);
        } else {
            piped.bytes.append(bytes);
        }
        piped.not_before = piped.not_before.max(not_before);
        let goes_on = !piped.abandoned;
        drop(piped);
        (self.waking.0)();
        goes_on
    }

    /// Whether nobody waits any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.pipe.0.lock().abandoned
    }

    pub(super) fn pipe(&self) -> Arc<Pipe> {
        Arc::clone(&self.pipe)
    }
}

impl Drop for Sender {
    /// However the work has ended.
    fn drop(&mut self) {
        self.pipe.0.lock().over = true;
        (self.waking.0)();
    }
}

/// The connection's side.
pub(super) struct Waiting(Arc<Pipe>);

impl Producer for Waiting {
    fn produce(&mut self, _now: Now, out: &mut Vec<u8>) -> bool {
        let mut piped = self.0.0.lock();
        out.append(&mut piped.bytes);
        piped.not_before = None;
        let (over, resting) = (piped.over, piped.resting.take());
        drop(piped);
        if let Some(goes_on) = resting {
            goes_on();
        }
        over
    }

    fn resume_at(&self, now: Instant) -> Option<Instant> {
        let piped = self.0.0.lock();
        match piped.not_before {
            Some(at) => Some(at),
            None if piped.over || !piped.bytes.is_empty() => None,
            None => Some(now + LONGEST_WAIT),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut piped = self.0.0.lock();
        piped.abandoned = true;
        let resting = piped.resting.take();
        drop(piped);
        // It holds the other end, which locks the pipe when it goes.
        drop(resting);
    }
}

/// Has the answer to a request worked out on a thread of its node, from a copy of the request's body.
pub(crate) fn offload(request: &Request<'_>, work: impl FnOnce(&[u8], Sender, Now) + Send + 'static) -> Answered {
    let (sender, waiting) = pipe(request.session.waking.clone());
    let body = request.body.to_vec();
    let node = Arc::clone(request.node);
    request.node.workers.run(move |now| {
        // A connection that has gone while the request was in line does not want it carried out: it was not begun.
        if !sender.is_abandoned() {
            work(&body, sender, node.time(now));
        }
    });
    Answered::Stream(Box::new(waiting))
}
