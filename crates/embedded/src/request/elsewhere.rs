//! Answers that are worked out on another thread, while the connection waits for them.

use super::{Answered, Producer, Request};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More than this waits for the connection before the work goes on.
const PIPE_BOUND: usize = 256 * 1024;
/// The connection is woken when there is something; this is for the case that it is not.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Wakes a connection, so that it looks again at what it waits for.
#[derive(Clone)]
pub(crate) struct Waking(pub(crate) Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Waking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waking")
    }
}

/// What goes from the work to the connection.
#[derive(Debug, Default)]
struct Pipe {
    state: Mutex<Piped>,
    taken: Condvar,
}

#[derive(Debug, Default)]
struct Piped {
    bytes: Vec<u8>,
    /// When the bytes may leave, if not at once.
    not_before: Option<Instant>,
    /// Nothing more will come.
    over: bool,
    /// Nobody waits any more.
    abandoned: bool,
}

/// The work's side.
pub(crate) struct Sender {
    pipe: Arc<Pipe>,
    waking: Waking,
}

impl Sender {
    /// Hands whole frames over, to leave at this time if one is given; `false`: nobody waits for them any more.
    pub(crate) fn send(&self, bytes: &mut Vec<u8>, not_before: Option<Instant>) -> bool {
        let mut piped = self.pipe.state.lock();
        while piped.bytes.len() > PIPE_BOUND && !piped.abandoned {
            self.pipe.taken.wait(&mut piped);
        }
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
}

impl Drop for Sender {
    /// However the work has ended.
    fn drop(&mut self) {
        self.pipe.state.lock().over = true;
        (self.waking.0)();
    }
}

/// The connection's side.
struct Waiting(Arc<Pipe>);

impl Producer for Waiting {
    fn produce(&mut self, _now_ms: u64, out: &mut Vec<u8>) -> bool {
        let mut piped = self.0.state.lock();
        out.append(&mut piped.bytes);
        piped.not_before = None;
        self.0.taken.notify_one();
        piped.over
    }

    fn resume_at(&self) -> Option<Instant> {
        let piped = self.0.state.lock();
        match piped.not_before {
            Some(at) => Some(at),
            None if piped.over || !piped.bytes.is_empty() => None,
            None => Some(Instant::now() + LONGEST_WAIT),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.state.lock().abandoned = true;
        self.0.taken.notify_one();
    }
}

/// Has the answer to a request worked out on a thread of its node, from a copy of the request's body.
pub(crate) fn elsewhere(request: &Request<'_>, work: impl FnOnce(&[u8], Sender) + Send + 'static) -> Answered {
    let pipe = Arc::<Pipe>::default();
    let sender = Sender { pipe: Arc::clone(&pipe), waking: request.session.waking.clone() };
    let body = request.body.to_vec();
    request.node.workers.run(move || {
        // A connection that has gone while the request was in line does not want it carried out: it was not begun.
        let wanted = !sender.pipe.state.lock().abandoned;
        if wanted {
            work(&body, sender);
        }
    });
    Answered::Stream(Box::new(Waiting(pipe)))
}
