//! What a lane costs without I/O: nanoseconds per submit and completion.
//!
//! `cargo run --profile fast -p aerolane --example lane_micro`

use std::time::{Duration, Instant};

use aerolane::PoolSizing;
use aerolane::lane::{Class, ConnId, Failure, Lane, LaneSizing, Millis, Sink};

/// Counts outcomes.
#[derive(Default)]
struct Count(u64);

impl Sink<u32> for Count {
    fn answer(&mut self, token: u32, _: &[u8]) {
        self.0 += u64::from(token);
    }

    fn part(&mut self, _: &mut u32, _: &[u8], _: bool) {}

    fn failed(&mut self, _: u32, failure: &Failure) {
        panic!("{failure:?}");
    }
}

/// Size of a typical request (a get of one bin) and answer (one int bin).
const REQUEST: usize = 100;
const ANSWER: usize = 8 + 22 + 20;

fn answers(count: usize) -> Vec<u8> {
    let mut one = [0; ANSWER];
    one[..8].copy_from_slice(&[2, 3, 0, 0, 0, 0, 0, (ANSWER - 8) as u8]);
    one[8] = 22;
    one.repeat(count)
}

/// `callers` that each send the next request once they have their answer, on `connections` at `depth`.
fn run(connections: u16, depth: u16, callers: usize, time: Duration) -> f64 {
    let sizing = LaneSizing { min: connections, max: connections, depth, ..LaneSizing::from(&PoolSizing::default()) };
    let mut lane = Lane::new(sizing);
    let mut sink = Count::default();
    let (mut conns, mut buffer) = (Vec::<ConnId>::new(), Vec::new());
    let now = Millis(0);
    while conns.len() < usize::from(connections) {
        lane.warm(0);
        while let Some((node, class)) = lane.open_request() {
            conns.push(lane.opened(node, class, now));
        }
    }
    let request = [7; REQUEST];
    let submit = |lane: &mut Lane<u32>| {
        let deadline = now.plus(1000);
        assert!(lane.submit(0, Class::Single, &request, deadline, now, 1).is_ok());
    };
    for _ in 0..callers {
        submit(&mut lane);
    }
    let burst = answers(usize::from(depth));
    let (mut done, mut taken) = (0u64, Duration::ZERO);
    let started = Instant::now();
    while taken < time {
        for _ in 0..64 {
            for &conn in &conns {
                while lane.flush_request().is_some() {}
                buffer.clear();
                if lane.take_output(conn, &mut buffer) {
                    let entries = lane.entries_on(conn);
                    assert!(lane.received(conn, &burst[..entries * ANSWER], now, &mut sink).is_ok());
                    done += entries as u64;
                    for _ in 0..entries {
                        submit(&mut lane);
                    }
                }
            }
        }
        taken = started.elapsed();
    }
    assert!(sink.0 >= done);
    taken.as_secs_f64() * 1e9 / done as f64
}

fn main() {
    println!("{:>11} {:>6} {:>8} {:>9}", "connections", "depth", "callers", "ns per op");
    let cases = [
        (1, 1, 1),
        (1, 16, 16),
        (1, 64, 64),
        (4, 16, 64),
        (4, 16, 64 + 1000),
        (64, 16, 1024 + 1000),
        (256, 16, 4096),
        (256, 16, 4096 + 1000),
    ];
    for (connections, depth, callers) in cases {
        let best =
            (0..3).map(|_| run(connections, depth, callers, Duration::from_millis(200))).fold(f64::INFINITY, f64::min);
        println!("{connections:>11} {depth:>6} {callers:>8} {best:>9.1}");
    }
}
