//! In the steady state a lane allocates nothing.

#[path = "../../../tests/rust/common/counting.rs"]
mod counting;

use aerolane::config::PoolSizing;
use aerolane::raw::lane::{Class, ConnId, Failure, Lane, LaneSizing, Millis, Sink};
use counting::allocated;

#[derive(Default)]
struct Count {
    answers: u64,
    failures: u64,
}

impl Sink<u32> for Count {
    fn answer(&mut self, _: u32, _: &[u8]) {
        self.answers += 1;
    }

    fn part(&mut self, _: &mut u32, _: &[u8], last: bool) {
        self.answers += u64::from(last);
    }

    fn failed(&mut self, _: u32, _: &Failure) {
        self.failures += 1;
    }
}

const ANSWER: usize = 50;

/// The frame of an answer; with the bit that says "last", as batches need it.
fn answer() -> [u8; ANSWER] {
    let mut frame = [0; ANSWER];
    frame[..9].copy_from_slice(&[2, 3, 0, 0, 0, 0, 0, (ANSWER - 8) as u8, 22]);
    frame[11] = 1;
    // One field that fills the rest: size, type.
    frame[8 + 19] = 1;
    frame[33] = (ANSWER - 8 - 22 - 4) as u8;
    frame
}

struct Bench {
    lane: Lane<u32>,
    sink: Count,
    conns: Vec<ConnId>,
    buffer: Vec<u8>,
    answers: Vec<u8>,
    now: Millis,
}

impl Bench {
    fn submit(&mut self) {
        let conn_class = self.conns[0].class();
        let taken = self.lane.submit(0, conn_class, &[7; 100], self.now.plus(1000), self.now, 1);
        assert!(taken.is_ok());
    }

    /// Each connection is flushed, answered in two pieces, and every caller goes on with its next request. In passing,
    /// some give up (in line, before the flush and after it), and the lane's timer runs.
    fn round(&mut self) {
        self.now = self.now.plus(1);
        while self.lane.flush_request().is_some() {}
        for index in 0..self.conns.len() {
            let conn = self.conns[index];
            self.buffer.clear();
            self.lane.take_output(conn, &mut self.buffer);
            self.lane.unwritten(conn, 0);
            let bytes = self.lane.entries_on(conn) * ANSWER;
            let before = self.sink.answers;
            for piece in [0..bytes / 2, bytes / 2..bytes] {
                self.lane.received(conn, &self.answers[piece], self.now, &mut self.sink).unwrap();
            }
            for _ in before..self.sink.answers {
                self.submit();
            }
            let ticket = self.lane.submit(0, conn.class(), &[7; 100], Millis::NEVER, self.now, 1);
            assert!(self.lane.cancel(0, conn.class(), ticket.unwrap(), self.now).is_some());
        }
        self.lane.expire(self.now, &mut self.sink);
    }
}

fn allocations_of_the_steady_state(class: Class, connections: u16, callers: u32) -> usize {
    let pool = PoolSizing::default().with_depth(8);
    let sizing = LaneSizing { min: connections, max: connections, max_batch: connections, ..LaneSizing::from(&pool) };
    let mut bench = Bench {
        lane: Lane::new(sizing),
        sink: Count::default(),
        conns: Vec::new(),
        buffer: Vec::new(),
        answers: answer().repeat(8),
        now: Millis(0),
    };
    for _ in 0..callers {
        assert!(bench.lane.submit(0, class, &[7; 100], Millis(1000), Millis(0), 1).is_ok());
    }
    while let Some((node, class)) = bench.lane.open_request() {
        let conn = bench.lane.opened(node, class, Millis(0));
        bench.conns.push(conn);
    }
    assert_eq!(bench.conns.len(), usize::from(connections));
    for _ in 0..200 {
        bench.round();
    }
    let (answers, before) = (bench.sink.answers, allocated());
    for _ in 0..2000 {
        bench.round();
    }
    let allocations = allocated() - before;
    assert!(bench.sink.answers - answers >= 2000 * u64::from(connections), "there was work");
    assert_eq!(bench.sink.failures, 0);
    allocations
}

#[test]
fn the_steady_state_allocates_nothing() {
    for (class, connections, callers) in
        [(Class::Single, 1, 1), (Class::Single, 2, 16), (Class::Single, 4, 500), (Class::Batch, 2, 10)]
    {
        let counted = allocations_of_the_steady_state(class, connections, callers);
        assert_eq!(counted, 0, "{class:?}, {connections} connections, {callers} callers");
    }
    // The counter works.
    let before = allocated();
    drop(std::hint::black_box(vec![1u8; 10]));
    assert!(allocated() > before);
}
