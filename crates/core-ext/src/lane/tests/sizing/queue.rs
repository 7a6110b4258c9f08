//! The queue of events of a simulated run: a heap with four children per parent, fast in unoptimised builds, too.

/// What happens at a point in time; the number says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Event {
    /// A flush reaches the server of this connection.
    ToServer,
    /// A thread that was paused goes on with this connection.
    Resumed,
    /// Processor work for this connection is done ([`CLIENT_JOB`](super::server::CLIENT_JOB): for the client).
    Core,
    /// The service time of this connection's request is over.
    Service,
    /// An answer reaches the client on this connection.
    Answer,
    /// A request arrives (open loop).
    Arrival,
    /// A connection to this node is open.
    Opened,
    /// The client's thread pauses.
    ClientPause,
    /// A thread of this node pauses.
    ServerPause,
    /// The change with this index is due.
    Change,
    /// A window for the number of connections in use ends.
    Window,
    /// The lane is to be trimmed.
    Trim,
}

const EVENTS: [Event; 12] = [
    Event::ToServer,
    Event::Resumed,
    Event::Core,
    Event::Service,
    Event::Answer,
    Event::Arrival,
    Event::Opened,
    Event::ClientPause,
    Event::ServerPause,
    Event::Change,
    Event::Window,
    Event::Trim,
];

/// Events in the order of time; those of the same time in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// From the top: time (64 bits), sequence (40), event (8), number (16).
    heap: Vec<u128>,
    sequence: u64,
    /// The present.
    pub(super) now: u64,
}

impl Queue {
    /// Adds an event `after` nanoseconds from now.
    pub(super) fn push(&mut self, after: u64, event: Event, number: usize) {
        debug_assert!(number < 1 << 16);
        self.sequence += 1;
        let low = (self.sequence << 24) | ((event as u64) << 16) | number as u64;
        let item = (u128::from(self.now + after) << 64) | u128::from(low);
        self.heap.push(item);
        let heap = &mut self.heap[..];
        let mut at = heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if heap[parent] <= item {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = item;
    }

    /// When the next event is due.
    pub(super) fn next_time(&self) -> u64 {
        self.heap.first().map_or(u64::MAX, |&item| (item >> 64) as u64)
    }

    /// Takes the next event, and moves the present to its time.
    pub(super) fn pop(&mut self) -> Option<(Event, usize)> {
        let last = self.heap.pop()?;
        let first = if let Some(&first) = self.heap.first() {
            self.sink(last);
            first
        } else {
            last
        };
        self.now = (first >> 64) as u64;
        Some((EVENTS[(first as u64 >> 16) as usize & 0xff], (first as u64 & 0xffff) as usize))
    }

    fn sink(&mut self, item: u128) {
        let heap = &mut self.heap[..];
        let (len, mut at) = (heap.len(), 0);
        loop {
            let child = 4 * at + 1;
            if child >= len {
                break;
            }
            let (mut least, mut value, end) = (child, heap[child], (child + 4).min(len));
            let mut next = child + 1;
            while next < end {
                if heap[next] < value {
                    (least, value) = (next, heap[next]);
                }
                next += 1;
            }
            if item <= value {
                break;
            }
            heap[at] = value;
            at = least;
        }
        heap[at] = item;
    }
}

#[test]
fn events_come_in_order() {
    let mut queue = Queue::default();
    let times = [50, 3, 3, 99, 0, 7, 7, 12, 3];
    times.iter().enumerate().for_each(|(number, &time)| queue.push(time, Event::Core, number));
    assert_eq!(queue.next_time(), 0);
    let order: Vec<_> = std::iter::from_fn(|| queue.pop().map(|(_, number)| (queue.now, number))).collect();
    assert_eq!(order, [(0, 4), (3, 1), (3, 2), (3, 8), (7, 5), (7, 6), (12, 7), (50, 0), (99, 3)]);
}
