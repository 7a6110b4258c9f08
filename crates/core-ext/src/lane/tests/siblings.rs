//! Several lanes of a client on one busy server: more connections of one lane only take answers from the others.

use crate::lane::adaptive::Adaptive;
use crate::lane::sizing::{Bounds, Reading, Sizing};
use crate::metrics::{AnswerCounter, Metrics};

/// Connections of the other lane.
const OTHERS: f64 = 4.0;
/// Answers per microsecond that the server's processors allow, to both lanes together.
const MOST: f64 = 0.12;

/// The widths that a lane with 256 requests in flight has within two seconds on a server whose processors divide themselves
/// among connections. `lanes`: the counters of the lane and of the other one.
fn widths(lanes: &[AnswerCounter; 2]) -> Vec<usize> {
    let bounds = Bounds { least: 1, start: 4, max: 64 };
    let mut lane = Adaptive::new(lanes[0].clone());
    let (mut now, mut of_other, mut widths) = (0.0, 0.0, Vec::new());
    while now < 2e6 {
        let width = lane.width(bounds);
        widths.push(width);
        let own = MOST * width as f64 / (width as f64 + OTHERS);
        let (answers, since) = (3, 3.0 / own);
        now += since;
        of_other += (MOST - own) * since;
        lanes[0].add(answers);
        lanes[1].add(of_other as u32);
        of_other = of_other.fract();
        let gap = Some((1e3 * f64::from(answers) * width as f64 / own) as u64);
        let reading = Reading { gap, answers, usable: width, ..Reading::new((1e3 * now) as u64, 256, 256) };
        lane.read(&reading, bounds);
    }
    widths
}

#[test]
fn a_lane_does_not_widen_to_take_answers_from_another() {
    let metrics = Metrics::new();
    let together = widths(&[0, 1].map(|shard| metrics.answers.counter(0, 0, shard)));
    let widest = together.iter().max().unwrap();
    // A trial is made, and given up.
    assert!(*widest <= 8, "{widest} connections");
    // Nor does it leave the other one more than a step: its own requests would take a quarter longer.
    let usual = together.iter().filter(|&&width| width >= 3).count();
    assert!(10 * usual >= 9 * together.len(), "{usual} of {} reads with 3 connections and more", together.len());
    // Lanes that do not know of each other do.
    let apart = widths(&Default::default());
    let widest = apart.iter().max().unwrap();
    assert!(*widest >= 32, "{widest} connections");
}
