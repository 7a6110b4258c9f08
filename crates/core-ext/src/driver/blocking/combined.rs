//! Many threads on one connection: from some number of concurrent calls on, requests that come close together leave in
//! one write, and their answers come in with one read.
//!
//! There is no thread for it. One of the callers leads for the time of a round: it writes what has gathered, reads what
//! comes, hands out the answers; the others sleep until theirs is there, or until it is their turn to lead. As
//! everywhere, the server answers in the order of the requests, so the first answer is the first request's.
//!
//! Two things make rounds full (decision 0014 has the figures): all whose answers came in one read are woken at once, and
//! a leader who finds fewer requests than there usually are lets them run first, so that their next requests leave
//! in its write.
//!
//! While somebody leads, others write in two cases. Where a round trip takes long, requests that come during the leader's
//! read would wait unsent for up to its whole length: whoever brings one sends all that has gathered. And a leader never waits
//! until the server takes its bytes without reading what the server sends: the server may be waiting for that.
//!
//! A combiner works on a connection of the pool that a caller left to it. Calls that find no room (or no connection, or
//! have much to send) go on a connection of their own.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use aerolane_wire::WireError;
use aerolane_wire::proto::FrameType;

use super::connection::{Broken, Tally, ThreadConnection};
use super::interrupt::SLICE;
use super::pool::{Lease, Pool};
use super::ready;
use super::round_trip::RoundTrip;
use super::sleepers::{Sleepers, WakeMask};
use super::{Job, LOOK_AFTER};
use crate::clock;
use crate::driver::low_water_mark::PATIENCE;
use crate::driver::{close_reason, empty};
use crate::lane::{Failure, FailureKind};
use crate::metrics::{Answered, Meter, Stamp};
use crate::sync::{Mutex, MutexGuard};

/// Most requests on the connection at a time, if [`PoolSizing::depth`](crate::PoolSizing::depth) does not say fewer: what
/// stands in line behind a slow one waits for it.
pub(super) const DEPTH: usize = 32;
/// Larger requests go on connections of their own.
const LARGEST_REQUEST: usize = 8 * 1024;
/// A leader looks around after this time at the latest, when nothing comes. A fixed value: setting another timeout costs
/// a system call.
const ROUND: Duration = Duration::from_millis(50);
/// So many rounds a reading of the clock serves. While calls come, there is always a newer one.
const ROUNDS_PER_READING: u32 = 3;
/// How old a reading that serves can be.
const OLDEST_READING: Duration = Duration::from_millis(50 * ROUNDS_PER_READING as u64);
/// With less time than this left, a leader waits for nobody: where other work keeps all processors busy, those whom it
/// lets run first may be that.
const HURRY: Duration = Duration::from_millis(20);
/// A slot's buffer that grew beyond this is given back.
const KEEP_BUFFER: usize = 64 * 1024;

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Combiner {
    /// Most requests at a time.
    depth: usize,
    state: Mutex<State>,
    /// The callers whose answers are not there, each in the place of its slot.
    sleepers: Sleepers,
}

#[derive(Debug, Default)]
struct State {
    /// Here while nobody leads.
    connection: Option<Box<ThreadConnection>>,
    /// The latest reading of the clock, by whoever has joined or led.
    latest: Option<Instant>,
    /// How many rounds have begun since.
    rounds_since: u32,
    led: bool,
    /// Its leader has written what there was, and reads: others may write.
    reading: bool,
    /// One of the others writes. The leader does not, then.
    writing: bool,
    /// That of the connection, wherever that is.
    socket: Option<Arc<TcpStream>>,
    /// A connection is here or with the leader, and takes requests.
    open: bool,
    /// Bytes that nobody has taken to write them yet: at first `rest` bytes of a request that was written in part, then
    /// whole requests.
    out: Vec<u8>,
    rest: usize,
    /// All requests without an answer, in order; the first `taken` have been taken to be written, or a part of them.
    entries: VecDeque<Entry>,
    taken: usize,
    round_trip: RoundTrip,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Who is to be woken once the lock is released.
    ready: WakeMask,
    /// How many requests there usually are: the most of late.
    usual: usize,
    tally: Tally,
    /// It was used since it was last looked at.
    used: bool,
    /// A signal ended the last round.
    signalled: bool,
}

#[derive(Debug)]
struct Entry {
    /// `None`: its caller has given up.
    slot: Option<u32>,
    /// Size of the request.
    len: usize,
    stamp: Stamp,
}

#[derive(Debug)]
struct Slot {
    outcome: Outcome,
    /// Its caller sleeps, and nobody has called it yet.
    asleep: bool,
    /// Its caller runs foreign code, a signal handler for example, which may wait for any other caller: it cannot lead.
    away: bool,
    answer: Vec<u8>,
}

#[derive(Debug)]
enum Outcome {
    Pending,
    Answered,
    Failed(Failure),
}

/// What was taken to be written.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    /// How many requests begin in it.
    begun: usize,
}

/// What became of a leader's writing.
struct Written {
    /// Written, but not accounted for: that waits until the lock is taken anyway.
    last: Batch,
    result: Result<(), Broken>,
    /// The socket takes no more for now.
    blocked: bool,
    /// Something was written, or tried to be.
    any: bool,
    /// How many answers to wait for half of. One where a round trip takes long: of requests that left at several times, the
    /// first answers come long before half of all.
    expected: usize,
}

/// A request that a combiner has taken.
pub(super) struct Joined<'a> {
    combiner: &'a Combiner,
    state: MutexGuard<'a, State>,
    slot: u32,
}

impl Combiner {
    /// Without a connection yet.
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, state: Mutex::default(), sleepers: Sleepers::default() }
    }

    /// Takes a request, if there is room for it.
    pub(super) fn join(&self, pool: &Pool, request: &[u8], (now, stamp): (Instant, Stamp)) -> Option<Joined<'_>> {
        let mut state = self.state.lock();
        if !state.open || state.entries.len() >= self.depth || request.len() > LARGEST_REQUEST {
            return None;
        }
        if state.connection.as_ref().is_some_and(|c| now.saturating_duration_since(c.last_used) >= LOOK_AFTER) {
            // It may have died at rest: the pool looks at it before anybody uses it.
            drop(state);
            self.dismiss(pool, false);
            return None;
        }
        state.out.extend_from_slice(request);
        state.used = true;
        state.note(now);
        let slot = state.free.pop().unwrap_or_else(|| {
            state.slots.push(Slot { outcome: Outcome::Pending, asleep: false, away: false, answer: Vec::new() });
            (state.slots.len() - 1) as u32
        });
        state.slots[slot as usize].outcome = Outcome::Pending;
        state.entries.push_back(Entry { slot: Some(slot), len: request.len(), stamp });
        Some(Joined { combiner: self, state, slot })
    }

    /// Whether it could do with a connection.
    pub(super) fn wants_connection(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.is_without())
    }

    /// Leaves a connection to it, if it still has none; otherwise the connection comes back.
    pub(super) fn adopt<'a>(&self, lease: Lease<'a>) -> Option<Lease<'a>> {
        if !lease.can_pipeline() {
            return Some(lease);
        }
        let mut state = self.state.lock();
        if !state.is_without() {
            return Some(lease);
        }
        debug_assert!(state.entries.is_empty(), "without a connection nothing is taken");
        let mut connection = lease.keep();
        state.tally.add(&std::mem::take(&mut connection.tally));
        state.socket = Some(Arc::clone(connection.socket()));
        state.connection = Some(connection);
        state.open = true;
        state.used = true;
        None
    }

    /// Gives up its connection: at once when nobody works with it, otherwise when the last request on it is done.
    /// With `only_unused`, only if it was not used since the last time.
    pub(super) fn dismiss(&self, pool: &Pool, only_unused: bool) {
        let mut state = self.state.lock();
        if only_unused && std::mem::take(&mut state.used) {
            return;
        }
        state.open = false;
        let connection = if state.entries.is_empty() && !state.led { state.let_go() } else { None };
        drop(state);
        if let Some(mut connection) = connection {
            connection.lower_mark();
            pool.give_back(connection);
        }
    }

    /// What it did, how many requests are on it, and whether it has a connection.
    pub(super) fn counts(&self) -> (Tally, usize, bool) {
        let state = self.state.lock();
        (state.tally, state.entries.len(), state.connection.is_some() || state.led)
    }
}

impl Joined<'_> {
    /// Waits for the answer, leading if nobody does, and gives its body to `decode`.
    pub(super) fn finish<R>(
        self,
        pool: &Pool,
        job: Job<'_>,
        answer: &mut Vec<u8>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Failure> {
        let Self { combiner, mut state, slot } = self;
        let Job { now, deadline, interrupt, .. } = job;
        let mut asked = now;
        // The caller's reading serves at first, later the latest that anybody had: so a call needs no second one, unless
        // it has to wait for long.
        let (mut reading, mut exact, mut expired) = (Some(now), true, false);
        loop {
            if let Some(outcome) = state.take(slot, answer) {
                state.appoint();
                combiner.release(state, pool);
                return outcome.map(|()| decode(answer));
            }
            if expired {
                state.tally.timeouts += 1;
                let (sent, begun) = state.abandon(slot);
                state.appoint();
                combiner.release(state, pool);
                return Err(Failure::new(FailureKind::Expired, sent).begun(begun));
            }
            let at = reading.take().unwrap_or_else(|| {
                exact = true;
                clock::now()
            });
            let left = deadline.map(|deadline| deadline.saturating_duration_since(at));
            if left == Some(Duration::ZERO) {
                // Once more around: the answer may just have come.
                expired = true;
            } else if interrupt.is_asked()
                && (at.saturating_duration_since(asked) >= SLICE || std::mem::take(&mut state.signalled))
            {
                // Foreign code runs without the lock, and somebody else leads meanwhile.
                state.slots[slot as usize].away = true;
                state.appoint();
                combiner.release(state, pool);
                let interrupted = interrupt.came();
                asked = clock::now();
                state = combiner.state.lock();
                state.slots[slot as usize].away = false;
                if interrupted {
                    // Also when the answer has come by now: the caller has been told to end, and has no use for it.
                    let (sent, begun) = match state.take(slot, answer) {
                        Some(Ok(())) => (true, true),
                        Some(Err(failure)) => (failure.sent, failure.begun),
                        None => state.abandon(slot),
                    };
                    state.appoint();
                    combiner.release(state, pool);
                    return Err(Failure::new(FailureKind::Interrupted, sent).begun(begun));
                }
            } else if state.may_write() {
                let waited;
                (state, waited) = combiner.write_late(state);
                reading = Some(at).filter(|_| !waited);
            } else if state.led {
                state.slots[slot as usize].asleep = true;
                let seen = combiner.sleepers.seen();
                combiner.release(state, pool);
                // With an old reading it wakes up early, and looks.
                let too_much = if exact { Duration::ZERO } else { OLDEST_READING };
                let longest = interrupt.slice(left.map(|left| left.saturating_sub(too_much)));
                combiner.sleepers.sleep(seen, slot, longest);
                state = combiner.state.lock();
                let woken = !state.slots[slot as usize].asleep;
                reading = state.latest_for(deadline).filter(|_| woken);
                exact = false;
            } else {
                let came;
                (state, came) = combiner.lead(state, pool, at, deadline);
                if state.is_pending(slot) {
                    // Others go on while this one leads the next round.
                    state = combiner.wake_ready(state);
                }
                reading = state.latest_for(deadline).filter(|_| came);
                exact = false;
            }
        }
    }
}

impl Combiner {
    /// One round: writes what has gathered, reads once, hands out what came. Says whether anything came.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        pool: &Pool,
        now: Instant,
        deadline: Option<Instant>,
    ) -> (MutexGuard<'a, State>, bool) {
        let Some(mut connection) = state.connection.take() else {
            state.fail_all(&FailureKind::ConnectionLost(io::ErrorKind::NotConnected), false);
            return (state, false);
        };
        state.led = true;
        if state.entries.len() < state.usual && deadline.is_none_or(|d| d.saturating_duration_since(now) > HURRY) {
            // Who was woken of late is about to come with its next request, once it gets to run.
            drop(state);
            thread::yield_now();
            state = self.state.lock();
        }
        // It falls with what comes, to exactly that, and rises at once.
        state.usual = ((3 * state.usual + state.entries.len()) / 4).max(state.entries.len());
        state.note(now);
        state.rounds_since += 1;
        let written = self.write_gathered(state, &mut connection);
        let (mut result, mut came) = (written.result, false);
        if result.is_ok() {
            let left = |longest| deadline.map_or(longest, |d| d.saturating_duration_since(now).min(longest));
            let read = if written.blocked {
                connection.read_or_write(left(ROUND))
            } else {
                let raised = connection.set_mark(written.expected, written.any);
                let longest = left(if raised { PATIENCE } else { ROUND });
                connection.read_once(longest.max(Duration::from_micros(1)))
            };
            match read {
                Ok(some) => {
                    came = some;
                    connection.meter.look_at_clock();
                }
                Err(broken) => result = Err(broken),
            }
            if !came {
                connection.lower_mark();
            }
        }
        connection.last_used = now;

        let mut state = self.state.lock();
        state.led = false;
        state.reading = false;
        state.signalled = std::mem::take(&mut connection.signalled);
        let all = written.last.bytes.len();
        state.put_back(written.last, all);
        if result.is_ok() && came {
            result = state.hand_out(&mut connection);
        }
        state.tally.add(&std::mem::take(&mut connection.tally));
        match result {
            Ok(()) => state.connection = Some(connection),
            Err(broken) => {
                connection.closing = broken.reason();
                let kind = match broken {
                    // The leader's deadline is not that of the others: to them, the connection was closed.
                    Broken::Expired => FailureKind::ConnectionLost(io::ErrorKind::TimedOut),
                    broken => broken.failure(true, false).kind,
                };
                state.fail_all(&kind, !connection.is_drained());
                drop(state);
                pool.discard_broken(connection);
                state = self.state.lock();
            }
        }
        (state, came)
    }

    /// A leader's part of the writing, without the lock. Where a round trip takes long, requests that come meanwhile leave,
    /// too, and others may write once it is done.
    fn write_gathered<'a>(&'a self, mut state: MutexGuard<'a, State>, connection: &mut ThreadConnection) -> Written {
        let (long, ahead) = (state.round_trip.is_long(), state.taken);
        let expected = if long { 1 } else { ahead };
        let mut written = Written { last: Batch::default(), result: Ok(()), blocked: false, any: false, expected };
        loop {
            if state.writing || state.out.is_empty() {
                // Who writes goes on with what has gathered.
                state.reading = state.writing || long;
                return written;
            }
            if !written.any {
                state.round_trip.sending(ahead);
            }
            let batch = state.take_batch();
            written.any = true;
            if !long {
                written.expected = state.taken;
            }
            drop(state);
            let result = connection.write_now(&batch.bytes);
            let whole = matches!(result, Ok(n) if n == batch.bytes.len());
            if whole && !long {
                written.last = batch;
                return written;
            }
            state = self.state.lock();
            match result {
                Ok(n) => state.put_back(batch, n),
                Err(broken) => written.result = Err(broken),
            }
            if !whole {
                written.blocked = written.result.is_ok();
                return written;
            }
        }
    }

    /// Writes what has gathered while somebody else reads. Says whether it had to wait for the socket; not for long, because
    /// it may have to lead next.
    fn write_late<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        let Some(socket) = state.socket.clone() else { return (state, false) };
        state.writing = true;
        let batch = state.take_batch();
        drop(state);
        let mut result = ready::write_now(&socket, &batch.bytes);
        let mut waited = false;
        if let Ok(n) = result
            && n < batch.bytes.len()
        {
            waited = true;
            // An error is met again by whoever writes next.
            let _ = ready::wait(&socket, false, PATIENCE);
            result = ready::write_now(&socket, &batch.bytes[n..]).map(|more| n + more);
        }
        let mut state = self.state.lock();
        if !state.socket.as_ref().is_some_and(|now| Arc::ptr_eq(now, &socket)) {
            // The connection was given up meanwhile, and all who waited for it know.
            return (state, waited);
        }
        state.writing = false;
        match result {
            Ok(n) => {
                state.tally.bytes_sent += n as u64;
                state.put_back(batch, n);
            }
            Err(_) => {
                // Whoever reads sees the end of it. It fails when the peer has closed it.
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
        (state, waited)
    }

    /// Wakes whom there is to wake, without the lock.
    fn wake_ready<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let ready = std::mem::take(&mut state.ready);
        if ready.is_empty() {
            return state;
        }
        self.sleepers.wake(ready, state);
        self.state.lock()
    }

    /// Releases the lock and wakes whom there is to wake; gives up a connection that nobody is to use any more.
    fn release(&self, mut state: MutexGuard<'_, State>, pool: &Pool) {
        let connection = if !state.open && !state.led && state.entries.iter().all(|e| e.slot.is_none()) {
            state.entries.clear();
            state.taken = 0;
            state.out.clear();
            state.let_go()
        } else {
            None
        };
        let ready = std::mem::take(&mut state.ready);
        if ready.is_empty() {
            drop(state);
        } else {
            self.sleepers.wake(ready, state);
        }
        if let Some(mut connection) = connection {
            connection.closing = close_reason(&FailureKind::Expired);
            // It may still get answers that nobody waits for.
            pool.discard_broken(connection);
        }
    }
}

impl State {
    /// Has no connection, not even one that is being given up.
    fn is_without(&self) -> bool {
        !self.led && self.connection.is_none()
    }

    /// Gives up the connection.
    fn let_go(&mut self) -> Option<Box<ThreadConnection>> {
        self.socket = None;
        self.writing = false;
        self.rest = 0;
        self.round_trip.restart();
        self.connection.take()
    }

    /// There is something to write, and nobody else who will do so soon.
    fn may_write(&self) -> bool {
        self.reading && !self.writing && !self.out.is_empty()
    }

    /// Takes what has gathered, to write it without the lock.
    fn take_batch(&mut self) -> Batch {
        let begun = self.entries.len() - self.taken;
        self.taken = self.entries.len();
        self.rest = 0;
        self.tally.requests += begun as u64;
        Batch { bytes: std::mem::take(&mut self.out), begun }
    }

    /// So many bytes of it have been written; the others are to be written first.
    fn put_back(&mut self, batch: Batch, written: usize) {
        let Batch { mut bytes, begun } = batch;
        let mut unsent = bytes.len() - written;
        if unsent == 0 {
            if self.out.is_empty() && bytes.capacity() > self.out.capacity() {
                // The allocation goes back.
                empty(&mut bytes, KEEP_BUFFER);
                self.out = bytes;
            }
            return;
        }
        bytes.drain(..written);
        bytes.append(&mut self.out);
        self.out = bytes;
        // Requests of which nothing was written have not been sent.
        for _ in 0..begun {
            let Some(entry) = self.taken.checked_sub(1).and_then(|last| self.entries.get(last)) else { break };
            if entry.len > unsent {
                break;
            }
            unsent -= entry.len;
            self.taken -= 1;
            self.tally.requests -= 1;
        }
        self.rest = unsent;
    }

    fn note(&mut self, reading: Instant) {
        if self.latest < Some(reading) {
            self.latest = Some(reading);
            self.rounds_since = 0;
        }
    }

    /// The latest reading of the clock, if it is recent enough for this deadline.
    fn latest_for(&self, deadline: Option<Instant>) -> Option<Instant> {
        let is_far = |latest: &Instant| {
            deadline.is_none_or(|deadline| deadline.saturating_duration_since(*latest) > 2 * OLDEST_READING)
        };
        self.latest.filter(|latest| self.rounds_since < ROUNDS_PER_READING && is_far(latest))
    }

    fn is_pending(&self, slot: u32) -> bool {
        matches!(self.slots[slot as usize].outcome, Outcome::Pending)
    }

    /// The outcome, if it is there; its slot is free then.
    fn take(&mut self, slot: u32, answer: &mut Vec<u8>) -> Option<Result<(), Failure>> {
        let place = &mut self.slots[slot as usize];
        let outcome = match std::mem::replace(&mut place.outcome, Outcome::Pending) {
            Outcome::Pending => return None,
            Outcome::Answered => {
                answer.clear();
                std::mem::swap(answer, &mut place.answer);
                Ok(())
            }
            Outcome::Failed(failure) => Err(failure),
        };
        self.free_slot(slot);
        Some(outcome)
    }

    fn free_slot(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        place.outcome = Outcome::Pending;
        place.asleep = false;
        empty(&mut place.answer, KEEP_BUFFER);
        self.free.push(slot);
    }

    /// Its caller gives up; says whether it may have been sent, and whether a part of the answer has come. If it may have
    /// been sent, nothing more is put behind it.
    fn abandon(&mut self, slot: u32) -> (bool, bool) {
        self.free_slot(slot);
        let Some(position) = self.entries.iter().position(|e| e.slot == Some(slot)) else { return (true, false) };
        if position < self.taken {
            self.entries[position].slot = None;
            self.open = false;
            // While somebody leads, only he could tell.
            let partial = self.connection.as_ref().is_some_and(|connection| !connection.is_drained());
            return (true, position == 0 && partial);
        }
        let start = self.rest + self.entries.range(self.taken..position).map(|e| e.len).sum::<usize>();
        self.out.drain(start..start + self.entries[position].len);
        self.entries.remove(position);
        (false, false)
    }

    /// Somebody is to lead, if there is anything to do. Who is away leads once it is back, if nobody else does.
    fn appoint(&mut self) {
        if self.led || self.connection.is_none() {
            return;
        }
        let mut waiting = self.entries.iter().filter_map(|e| e.slot);
        if let Some(slot) = waiting.find(|slot| !self.slots[*slot as usize].away) {
            self.call(slot);
        }
    }

    /// Its caller is to be woken, if it sleeps.
    fn call(&mut self, slot: u32) {
        if std::mem::take(&mut self.slots[slot as usize].asleep) {
            self.ready.add(slot);
        }
    }

    /// Gives each whole frame that has come to the first of the requests.
    fn hand_out(&mut self, connection: &mut ThreadConnection) -> Result<(), Broken> {
        let mut meter = std::mem::take(&mut connection.meter);
        let before = self.taken;
        let handed_out = self.hand_out_frames(connection, &mut meter);
        connection.meter = meter;
        self.round_trip.received(before - self.taken);
        connection.give_back();
        handed_out
    }

    fn hand_out_frames(&mut self, connection: &mut ThreadConnection, meter: &mut Meter) -> Result<(), Broken> {
        while let Some(frame) = connection.next_frame()? {
            if frame.header.frame_type != FrameType::Message {
                return Err(WireError::invalid("a frame that is no plain message among answers", 1).into());
            }
            if self.taken == 0 {
                return Err(WireError::invalid("an answer that nobody asked for", 0).into());
            }
            let Some(entry) = self.entries.pop_front() else { return Ok(()) };
            self.taken -= 1;
            meter.answered(entry.stamp, || Answered::of_frame(entry.len as u32, frame.body));
            if let Some(slot) = entry.slot {
                self.tally.answers += 1;
                let place = &mut self.slots[slot as usize];
                place.answer.clear();
                place.answer.extend_from_slice(frame.body);
                place.outcome = Outcome::Answered;
                self.call(slot);
            }
        }
        Ok(())
    }

    /// The connection is broken. `begun`: a part of the first answer has come.
    fn fail_all(&mut self, kind: &FailureKind, begun: bool) {
        self.open = false;
        self.let_go();
        let taken = std::mem::take(&mut self.taken);
        self.out.clear();
        for (position, entry) in std::mem::take(&mut self.entries).into_iter().enumerate() {
            let Some(slot) = entry.slot else { continue };
            let place = &mut self.slots[slot as usize];
            let (sent, begun) = (position < taken, position == 0 && begun);
            place.outcome = Outcome::Failed(Failure::new(kind.clone(), sent).begun(begun));
            self.call(slot);
        }
    }
}
