//! A few requests of a slow server get a connection each at once.

use crate::lane::adaptive::Adaptive;
use crate::lane::sizing::{Bounds, Reading, Sizing};
use crate::metrics::AnswerCounter;

/// The most connections that a lane uses for the first 20 answers, 300 µs apart. `requests`: how many it has at the n-th answer.
fn widest(requests: impl Fn(u64) -> usize) -> usize {
    let (mut lane, bounds) = (Adaptive::new(AnswerCounter::default()), Bounds { least: 1, start: 1, max: 64 });
    let widths = (1..=20).map(|n| {
        let (gap, requests) = (300_000, requests(n));
        let usable = lane.width(bounds);
        let reading = Reading { gap: Some(gap), answers: 1, usable, ..Reading::new(n * gap, requests, requests) };
        lane.read(&reading, bounds);
        lane.width(bounds)
    });
    widths.max().unwrap()
}

/// The most requests at a time count, not the mean: callers come and go, as between nodes, and a lane that has few for a moment must
/// go on searching when they come back.
#[test]
fn few_are_those_that_were_never_many() {
    let once = |most| move |n| if n == 4 { most } else { 6 };
    assert_eq!(widest(once(16)), 32);
    assert_eq!(widest(once(17)), 4);
}
