//! A lane whose client is what is slow: many answers come with a read, and when it reads is up to a scheduler.

use crate::lane::adaptive::Adaptive;
use crate::lane::sizing::{Bounds, Reading, Sizing};
use crate::metrics::{AnswerCounter, Metrics};

/// Requests in flight to the node.
const REQUESTS: usize = 85;

/// One lane, the time in microseconds, and what counts the answers of its node and of the client's other nodes.
struct Client {
    lane: Adaptive,
    now: f64,
    nodes: [AnswerCounter; 3],
    /// Answers per microsecond of each of the other nodes; `None`: as many as of this one.
    others: Option<f64>,
}

impl Client {
    fn new() -> Self {
        let metrics = Metrics::new();
        let nodes = [0, 1, 2].map(|node| metrics.answers.counter(node, 0, 0));
        Self { lane: Adaptive::new(nodes[0].clone()), now: 1e6, nodes, others: None }
    }

    /// Reads for so many milliseconds. `read` is told the width, and how many reads there were, and says how many answers the
    /// next one brings, and how many microseconds after the one before. Returns the width at each read.
    fn read(&mut self, millis: f64, mut read: impl FnMut(usize, usize) -> (u32, f64)) -> Vec<usize> {
        let (end, bounds) = (self.now + 1e3 * millis, Bounds { least: 1, start: 1, max: 256 });
        let mut widths = Vec::new();
        while self.now < end {
            let width = self.lane.width(bounds);
            let (answers, since) = read(width, widths.len());
            self.now += since;
            let of_others = self.others.map_or(answers, |rate| (rate * since) as u32);
            let [node, others @ ..] = &self.nodes;
            node.add(answers);
            for other in others {
                other.add(of_others);
            }
            // Connections take turns.
            let gap = Some((1e3 * since * width as f64) as u64);
            let now = (1e3 * self.now) as u64;
            self.lane.read(&Reading { gap, answers, usable: width, ..Reading::new(now, REQUESTS, REQUESTS) }, bounds);
            widths.push(width);
        }
        widths
    }
}

/// As many answers as a processor allows, whatever the width: `rate` per microsecond, several with each read.
fn busy(rate: f64) -> impl FnMut(usize, usize) -> (u32, f64) {
    move |width, _| {
        let answers = 40_u32.div_ceil(width as u32);
        (answers, f64::from(answers) / rate)
    }
}

/// While the server was slow for a moment, more connections were better than one. Afterwards a gap is that many times as long as on
/// one connection, and no sign of a change: taken for one, it began the search anew every 17 ms, and nothing else was
/// tried any more.
#[test]
fn a_longer_gap_on_more_connections_is_no_change_of_the_server() {
    for more in [5.0, 10.0, 15.0, 20.0] {
        let mut client = Client::new();
        let before = client.read(300.0, busy(0.05));
        assert!(before[before.len() / 2..].iter().all(|&width| width <= 2), "{before:?}");
        let slow = |width: usize, _| (1, 400.0 / width.min(8) as f64);
        while *client.read(1.0, slow).last().unwrap() < 4 {}
        client.read(more, slow);
        client.read(1500.0, busy(0.05));
        let widest = client.read(500.0, busy(0.05)).into_iter().max().unwrap();
        assert!(widest <= 2, "slow for {more} ms more: {widest} connections two seconds later");
    }
}

/// Twenty answers with each read of one connection, at a rate of 0.015 per microsecond.
fn in_crowds(width: usize) -> (u32, f64) {
    let answers = 20_u32.div_ceil(width as u32);
    (answers, f64::from(answers) / 0.015)
}

/// On a processor that others use, too, some answers wait for the client's turn. It looks as if a few requests took long, for which a
/// connection per request would be tried. Only the answers of all three nodes together show that the client is busy, and that nearly
/// all requests have been answered meanwhile, that it was away.
#[test]
fn turns_of_a_scheduler_are_no_slow_requests() {
    let mut client = Client::new();
    let widths = client.read(2000.0, |width, n| {
        let (answers, since) = in_crowds(width);
        if n.is_multiple_of(40) { (REQUESTS.div_ceil(width) as u32, since + 12_000.0) } else { (answers, since) }
    });
    let widest = widths.iter().max().unwrap();
    assert!(*widest <= 4, "{widest} connections");
}

/// One request in a hundred takes 20 ms at this node, and those behind it on its connection wait. The other nodes keep the client
/// busy, and it reads several answers at a time: more connections help nevertheless.
#[test]
fn slow_requests_hold_up_a_busy_client() {
    let mut client = Client::new();
    client.others = Some(0.015);
    let widths = client.read(2000.0, |width, n| {
        let (answers, since) = in_crowds(width);
        let slow = n.is_multiple_of(100 / answers as usize);
        if slow { (answers.min(2), since + 20_000.0 / width as f64) } else { (answers, since) }
    });
    let mut late = widths[widths.len() / 2..].to_vec();
    late.sort_unstable();
    let median = late[late.len() / 2];
    assert!(median >= 8, "{median} connections");
}
