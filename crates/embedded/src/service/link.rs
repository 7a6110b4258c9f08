//! The way between a client and its node, while conditions are set: bytes that are still on the way, and when the node is
//! done with what it does for this connection.
//!
//! There is no I/O here and no clock. Times are those at which things happen by the conditions, not those at which a
//! thread has come to them: a thread that is late does not make everything after it late.

use super::connection::XDR_FRAME;
use crate::conditions::{Booking, NodeConditions, ServiceKind, Share};
use aerolane_wire::WireErrorKind;
use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Above this many bytes that were not served, nothing more is received (unless they are one large frame).
const IN_BOUND: usize = 1024 * 1024;
/// Capacity that an empty buffer may keep.
const KEEP_CAPACITY: usize = 64 * 1024;

/// Whether a request can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// At this time: it waits in line.
    Later(Instant),
    /// Now. It is in service until then.
    Now(Instant),
}

/// The way between a client and its node, and the service at its end.
#[derive(Debug)]
pub(super) struct Link {
    share: Share,
    /// Bytes that were received and not served, behind `served` that were.
    held: Vec<u8>,
    served: usize,
    arrivals: Line,
    departures: Line,
    /// The client has closed: nothing more will be received.
    pub(super) ended: bool,
    /// When the request at the head arrived.
    head: Instant,
    /// When the request at the head is in service, if it waits for that.
    booking: Option<Booking>,
    /// How long it waits, or the last one has waited, for a place among those in service.
    pub(super) in_line: Duration,
    /// The connection is occupied until then.
    busy_until: Instant,
    /// When the client is to see the end of the connection.
    close_at: Option<Instant>,
}

impl Link {
    /// `received`: what is not served yet; `unsent`: how many bytes wait to be sent. Both are under no conditions.
    pub(super) fn new(share: Share, received: Vec<u8>, unsent: usize, now: Instant) -> Self {
        let mut link = Self {
            share,
            held: Vec::new(),
            served: 0,
            arrivals: Line::default(),
            departures: Line::default(),
            ended: false,
            head: now,
            booking: None,
            in_line: Duration::ZERO,
            busy_until: now,
            close_at: None,
        };
        if !received.is_empty() {
            link.arrivals.push(received.len(), now);
            link.held = received;
        }
        if unsent > 0 {
            link.departures.push(unsent, now);
        }
        link
    }

    /// The conditions have changed: for what is sent from now on.
    pub(super) fn renew(&mut self, share: Share) {
        self.share = share;
    }

    /// Lets time pass for the handshake of TCP, which the system does at once: the first request comes a round trip after
    /// the connection was opened, and one way more.
    pub(super) fn shake_hands(&mut self, opened: Instant) {
        self.arrivals.last = Some(opened + self.share.latency.one_way * 3);
    }

    /// Takes in what was received at this time.
    pub(super) fn receive(&mut self, bytes: &[u8], now: Instant) {
        self.held.extend_from_slice(bytes);
        let Share { latency, generator, .. } = &mut self.share;
        self.arrivals.push(bytes.len(), now + latency.sample(generator));
    }

    /// Whether to receive more.
    pub(super) fn wants_more(&self) -> bool {
        !self.ended && (self.held.len() - self.served < IN_BOUND || self.is_partial())
    }

    /// Whether the frame at the head is not whole yet.
    fn is_partial(&self) -> bool {
        match split_frame(&self.held[self.served..], MAX_BODY_SIZE) {
            Ok(frame) => frame.is_none(),
            // It is skipped, and may be large, too.
            Err(error) => error.kind == WireErrorKind::FrameType(XDR_FRAME),
        }
    }

    /// Whether anything waits to be served or is on the way to it.
    pub(super) fn holds(&self) -> bool {
        self.held.len() > self.served
    }

    /// Takes the bytes out, so that they can be served. What has arrived of them is the range that comes with them, up to
    /// the end of the first frame if that is whole.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Vec<u8>, std::ops::Range<usize>)> {
        let arrived = self.arrivals.until(now);
        let bytes = &self.held[self.served..self.served + arrived];
        let size = match split_frame(bytes, MAX_BODY_SIZE) {
            Ok(Some((_, size))) => size,
            Ok(None) => return None,
            // The connection knows what to do about it.
            Err(_) => arrived,
        };
        self.head = self.arrivals.time_of(size).unwrap_or(now);
        Some((std::mem::take(&mut self.held), self.served..self.served + size))
    }

    /// Brings the bytes back, without the first ones of their range if those were served.
    pub(super) fn put_back(&mut self, held: Vec<u8>, served: usize) {
        self.held = held;
        self.served += served;
        self.arrivals.pass(served);
        if self.served == self.held.len() {
            self.held.clear();
            self.held.shrink_to(KEEP_CAPACITY);
            self.served = 0;
        } else if self.served > self.held.len() / 2 {
            self.held.drain(..self.served);
            self.served = 0;
        }
    }

    /// Lets the request at the head enter service, if it is its turn. `kind`: `None` for one without service time.
    pub(super) fn enter(
        &mut self,
        conditions: &NodeConditions,
        kind: impl FnOnce() -> Option<ServiceKind>,
        now: Instant,
    ) -> Entry {
        let booking = self.booking.take().unwrap_or_else(|| {
            let arrival = self.head.max(self.busy_until);
            let kind = if self.share.have_service { kind() } else { None };
            let booking = kind.map_or(Booking { begin: arrival, end: arrival }, |kind| conditions.book(kind, arrival));
            self.in_line = booking.begin.saturating_duration_since(arrival);
            booking
        });
        if booking.begin > now {
            self.booking = Some(booking);
            return Entry::Later(booking.begin);
        }
        self.busy_until = booking.end;
        Entry::Now(booking.end)
    }

    /// Occupies the connection, for a fault.
    pub(super) fn occupy(&mut self, until: Instant) {
        self.busy_until = self.busy_until.max(until);
    }

    /// When the connection is free again; `None` if it is.
    pub(super) fn occupied(&self, now: Instant) -> Option<Instant> {
        Some(self.busy_until).filter(|until| *until > now)
    }

    /// Sends off what has been appended to the `unsent` bytes of the output since the last call. It leaves when the service
    /// ends, but no earlier than at `from`.
    pub(super) fn send_off(&mut self, unsent: usize, from: Instant) {
        let fresh = unsent - self.departures.len();
        if fresh > 0 {
            let Share { latency, generator, .. } = &mut self.share;
            self.departures.push(fresh, from.max(self.busy_until) + latency.sample(generator));
        }
    }

    /// The same, but right behind the bytes before.
    pub(super) fn send_behind(&mut self, unsent: usize, now: Instant) {
        let fresh = unsent - self.departures.len();
        if fresh > 0 {
            self.departures.push(fresh, now);
        }
    }

    /// How many bytes of the output the client may see.
    pub(super) fn visible(&self, now: Instant) -> usize {
        self.departures.until(now)
    }

    /// So many bytes of the output were sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.departures.pass(bytes);
    }

    /// When the end of the connection has reached the client, if that is still to come. To be asked once all answers have
    /// been sent off.
    pub(super) fn closes_later(&mut self, now: Instant) -> Option<Instant> {
        let Share { latency, generator, .. } = &mut self.share;
        let behind = self.departures.last.unwrap_or(now);
        let busy_until = self.busy_until;
        let at = *self.close_at.get_or_insert_with(|| (now.max(busy_until) + latency.sample(generator)).max(behind));
        Some(at).filter(|at| *at > now)
    }

    /// When more of what was received arrives.
    pub(super) fn next_arrival(&self, now: Instant) -> Option<Instant> {
        self.arrivals.next(now)
    }

    /// The next time at which bytes arrive, here or at the client.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        [self.arrivals.next(now), self.departures.next(now)].into_iter().flatten().min()
    }

    /// Whether the connection can go on without a link: there are no conditions any more, and nothing is left of old ones.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.share.is_ideal()
            && !self.ended
            && self.booking.is_none()
            && self.close_at.is_none()
            && self.occupied(now).is_none()
            && self.arrivals.next(now).is_none()
            && self.departures.len() == 0
    }

    /// What was received and not served.
    pub(super) fn into_held(mut self) -> Vec<u8> {
        self.held.drain(..self.served);
        self.held
    }
}

/// Bytes in line, and the time of each.
#[derive(Debug, Default)]
struct Line {
    /// Bytes that have passed.
    passed: u64,
    /// Where each piece ends, counted from the first byte ever, and when it is there. Both rise.
    pieces: VecDeque<(u64, Instant)>,
    /// No piece overtakes another one.
    last: Option<Instant>,
}

impl Line {
    /// Bytes in line.
    fn len(&self) -> usize {
        self.pieces.back().map_or(0, |(end, _)| (end - self.passed) as usize)
    }

    fn push(&mut self, bytes: usize, at: Instant) {
        let end = self.passed + (self.len() + bytes) as u64;
        let at = self.last.map_or(at, |last| at.max(last));
        self.last = Some(at);
        match self.pieces.back_mut() {
            Some(piece) if piece.1 == at => piece.0 = end,
            _ => self.pieces.push_back((end, at)),
        }
    }

    /// How many bytes are there at this time.
    fn until(&self, now: Instant) -> usize {
        match self.pieces.partition_point(|(_, at)| *at <= now) {
            0 => 0,
            pieces => (self.pieces[pieces - 1].0 - self.passed) as usize,
        }
    }

    /// When so many bytes are there; `None` if there are not so many in line.
    fn time_of(&self, bytes: usize) -> Option<Instant> {
        let end = self.passed + bytes as u64;
        self.pieces.get(self.pieces.partition_point(|(piece, _)| *piece < end)).map(|(_, at)| *at)
    }

    /// The first bytes leave the line.
    fn pass(&mut self, bytes: usize) {
        self.passed += bytes as u64;
        while self.pieces.front().is_some_and(|(end, _)| *end <= self.passed) {
            self.pieces.pop_front();
        }
    }

    /// When the next piece is there that is not there yet.
    fn next(&self, now: Instant) -> Option<Instant> {
        self.pieces.get(self.pieces.partition_point(|(_, at)| *at <= now)).map(|(_, at)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::Conditions;
    use crate::random::Seed;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn conditions(text: &str) -> NodeConditions {
        NodeConditions::new(Seed::default(), text.parse::<Conditions>().unwrap())
    }

    /// An info frame of this size.
    fn frame(size: usize) -> Vec<u8> {
        let mut frame = vec![2, 1, 0, 0, 0, 0, 0, 0];
        frame[4..].copy_from_slice(&((size - 8) as u32).to_be_bytes());
        frame.resize(size, 0);
        frame
    }

    /// Takes and serves the frame at the head if it has arrived, as a read; `None`: not yet.
    fn serve(link: &mut Link, node: &NodeConditions, now: Instant) -> Option<Entry> {
        let (held, range) = link.take(now)?;
        let entry = link.enter(node, || Some(ServiceKind::Read), now);
        let served = if matches!(entry, Entry::Now(_)) { range.len() } else { 0 };
        link.put_back(held, served);
        Some(entry)
    }

    #[test]
    fn a_late_thread_does_not_make_later_requests_late() {
        let node = conditions("service-time=10ms;latency=5ms");
        let start = Instant::now();
        let mut link = Link::new(node.join(), Vec::new(), 0, start);
        link.receive(&[frame(20), frame(30)].concat(), start);
        assert_eq!(serve(&mut link, &node, start + 4 * MS), None);
        assert_eq!(link.next(start), Some(start + 5 * MS));
        // The thread comes 3 ms late; the request arrived in time all the same.
        assert_eq!(serve(&mut link, &node, start + 8 * MS), Some(Entry::Now(start + 15 * MS)));
        link.send_off(30, start + 8 * MS);
        assert_eq!(serve(&mut link, &node, start + 18 * MS), Some(Entry::Now(start + 25 * MS)));
        link.send_off(60, start + 18 * MS);
        assert_eq!((link.visible(start + 19 * MS), link.visible(start + 20 * MS)), (0, 30));
        assert_eq!((link.visible(start + 29 * MS), link.visible(start + 30 * MS)), (30, 60));
        // What was received after the end of the service before arrives when it was received.
        link.receive(&frame(20), start + 100 * MS);
        assert_eq!(serve(&mut link, &node, start + 105 * MS), Some(Entry::Now(start + 115 * MS)));
    }

    #[test]
    fn who_waits_in_line_keeps_the_place() {
        let node = conditions("service-time=10ms;in-service=1");
        let start = Instant::now();
        let mut links: Vec<Link> = (0..3).map(|_| Link::new(node.join(), Vec::new(), 0, start)).collect();
        for link in &mut links {
            link.receive(&frame(20), start);
        }
        let first: Vec<_> = links.iter_mut().map(|link| serve(link, &node, start).unwrap()).collect();
        assert_eq!(first, [Entry::Now(start + 10 * MS), Entry::Later(start + 10 * MS), Entry::Later(start + 20 * MS)]);
        // Asking again changes nothing.
        assert_eq!(serve(&mut links[2], &node, start + MS), Some(Entry::Later(start + 20 * MS)));
        assert_eq!(serve(&mut links[2], &node, start + 20 * MS), Some(Entry::Now(start + 30 * MS)));
        assert_eq!(serve(&mut links[1], &node, start + 20 * MS), Some(Entry::Now(start + 20 * MS)));
    }

    #[test]
    fn it_is_over_when_nothing_is_left_of_old_conditions() {
        let node = conditions("service-time=10ms;latency=5ms");
        let start = Instant::now();
        let mut link = Link::new(node.join(), Vec::new(), 0, start);
        link.receive(&[&frame(20)[..], &frame(20)[..7]].concat(), start);
        node.set(&Conditions::new());
        link.renew(node.join());
        assert!(!link.is_over(start + 4 * MS), "bytes are on the way");
        assert_eq!(serve(&mut link, &node, start + 5 * MS), Some(Entry::Now(start + 5 * MS)));
        link.send_off(30, start + 5 * MS);
        assert!(!link.is_over(start + 5 * MS), "an answer was not sent");
        link.sent(30);
        assert!(link.is_over(start + 5 * MS));
        assert_eq!(link.into_held(), &frame(20)[..7]);
    }

    #[test]
    fn what_is_received_is_bounded_but_for_one_large_frame() {
        let node = conditions("latency=5ms");
        let now = Instant::now();
        let mut link = Link::new(node.join(), Vec::new(), 0, now);
        let large = frame(3 * IN_BOUND);
        for piece in large.chunks(IN_BOUND) {
            assert!(link.wants_more());
            link.receive(piece, now);
        }
        assert!(!link.wants_more());
        assert!(matches!(serve(&mut link, &node, now + 5 * MS), Some(Entry::Now(_))));
        assert!(link.wants_more() && !link.holds());
    }

    proptest! {
        /// Nothing is early, nothing is lost, and nothing overtakes.
        #[test]
        fn bytes_arrive_in_order(
            pieces in prop::collection::vec((0..10_u32, 1..50_usize), 1..40), seed in 0..100_u64,
        ) {
            let wanted = Conditions::new().latency(5 * MS).jitter(5 * MS).seed(seed);
            let node = NodeConditions::new(Seed::default(), wanted);
            let start = Instant::now();
            let mut link = Link::new(node.join(), Vec::new(), 0, start);
            let mut now = start;
            let (mut sent, mut seen) = (0, 0);
            let mut arrivals = Vec::new();
            for (gap, bytes) in pieces {
                now += gap * MS;
                sent += bytes;
                link.send_off(sent - seen, now);
                link.receive(&frame(8 + bytes), now);
                let visible = link.visible(now);
                link.sent(visible);
                seen += visible;
                prop_assert!(seen <= sent);
                arrivals.push((now, 8 + bytes));
            }
            let mut last = start;
            for (sent_at, size) in arrivals {
                let at = link.arrivals.time_of(size).unwrap();
                prop_assert!(at >= sent_at && at >= last);
                last = at;
                let (held, range) = link.take(at).unwrap();
                prop_assert_eq!(range.len(), size);
                link.put_back(held, size);
            }
            while let Some(next) = link.next(now) {
                now = next;
                seen += link.visible(now);
                link.sent(link.visible(now));
            }
            prop_assert_eq!(seen, sent);
            prop_assert!(link.is_over(now) || !link.holds());
        }
    }
}
