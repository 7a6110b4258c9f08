//! A lane without I/O: requests in, answers back, deadlines swept.

use std::hint::black_box;

use aerolane::raw::lane::{Class, ConnId, Failure, Lane, LaneSizing, Millis, Sink};

use super::wire::record_answer;
use super::{HotPath, Run};

/// A `get` of one key is about this long.
const REQUEST: [u8; 75] = [0; 75];
const NODE: u16 = 0;
const CONNECTIONS: u16 = 4;
const DEPTH: u16 = 16;
/// Requests that fill all places of the lane.
const PLACES: usize = CONNECTIONS as usize * DEPTH as usize;
/// Callers for the paths with many.
const CALLERS: usize = 512;
const TIMEOUT_MS: u64 = 1000;

pub(super) fn paths() -> Vec<HotPath> {
    vec![
        HotPath { name: "lane/submit and complete, 1 in flight", prepare: || cycle(1) },
        HotPath { name: "lane/submit and complete, 64 in flight", prepare: || cycle(PLACES) },
        HotPath { name: "lane/submit and complete, 512 callers on 64 places", prepare: || cycle(CALLERS) },
        HotPath { name: "lane/sweep of 512 deadlines, none due", prepare: sweep_not_due },
        HotPath { name: "lane/sweep of 512 deadlines, all due", prepare: sweep_all_due },
        HotPath { name: "lane/submit and cancel", prepare: submit_and_cancel },
    ]
}

/// Counts outcomes.
#[derive(Default)]
struct Outcomes {
    answers: usize,
    failures: usize,
}

impl Sink<u32> for Outcomes {
    fn answer(&mut self, token: u32, body: &[u8]) {
        black_box((token, body));
        self.answers += 1;
    }

    fn part(&mut self, token: &mut u32, body: &[u8], last: bool) {
        black_box((token, body, last));
    }

    fn failed(&mut self, token: u32, failure: &Failure) {
        black_box((token, failure));
        self.failures += 1;
    }
}

/// A lane to one node, all its connections open.
struct Rig {
    lane: Lane<u32>,
    /// How many answers each connection owes, with its id.
    owed: Vec<(ConnId, usize)>,
    output: Vec<u8>,
    answers: Vec<u8>,
    answer_len: usize,
    outcomes: Outcomes,
    now: Millis,
}

impl Rig {
    fn new() -> Self {
        let sizing = LaneSizing {
            spread: 1,
            fair_share: 64,
            min: CONNECTIONS,
            max: CONNECTIONS,
            depth: DEPTH,
            max_bytes_in_flight: 1 << 20,
            max_batch: 1,
            max_waiting: 1 << 20,
            max_waiting_bytes: 1 << 30,
            max_batch_answer_bytes: 1 << 30,
            wait: true,
            idle_ms: 0,
            orphan_ms: 10_000,
        };
        let answer = record_answer();
        let mut rig = Self {
            lane: Lane::new(sizing),
            owed: Vec::new(),
            output: Vec::with_capacity(64 * 1024),
            answers: answer.repeat(usize::from(DEPTH)),
            answer_len: answer.len(),
            outcomes: Outcomes::default(),
            now: Millis(1),
        };
        rig.lane.warm(NODE);
        rig.open_wanted();
        rig
    }

    fn open_wanted(&mut self) {
        while let Some((node, class)) = self.lane.open_request() {
            let id = self.lane.opened(node, class, self.now);
            self.owed.push((id, 0));
        }
    }

    fn submit(&mut self, token: u32) -> aerolane::raw::lane::Ticket {
        let deadline = self.now.plus(TIMEOUT_MS);
        match self.lane.submit(NODE, Class::Single, black_box(&REQUEST), deadline, self.now, token) {
            Ok(ticket) => ticket,
            Err((full, _)) => panic!("the lane is to wait, not to refuse: {full}"),
        }
    }

    /// Writes all that waits to be written, as a driver would.
    fn flush(&mut self) {
        while let Some(id) = self.lane.flush_request() {
            if self.lane.take_output(id, &mut self.output) {
                let sent = self.output.len() / REQUEST.len();
                if let Some((_, owed)) = self.owed.iter_mut().find(|(known, _)| *known == id) {
                    *owed += sent;
                }
                self.output.clear();
            }
        }
    }

    /// Lets every connection receive the answers that it owes.
    fn answer(&mut self) {
        for (id, owed) in &mut self.owed {
            let bytes = std::mem::take(owed) * self.answer_len;
            if bytes > 0 {
                self.lane.received(*id, &self.answers[..bytes], self.now, &mut self.outcomes).expect("valid answers");
            }
        }
    }
}

/// Submits `callers` requests, flushes, answers until all are done; `n` counts requests.
fn cycle(callers: usize) -> Run {
    let mut rig = Rig::new();
    Box::new(move |n| {
        let mut left = n as usize;
        while left > 0 {
            let burst = left.min(callers);
            let done = rig.outcomes.answers + burst;
            for token in 0..burst {
                rig.submit(token as u32);
            }
            rig.open_wanted();
            let mut rounds = 0;
            while rig.outcomes.answers < done {
                rig.flush();
                rig.answer();
                rounds += 1;
                assert!(rounds <= burst + 1, "answers are missing");
            }
            assert_eq!(rig.outcomes.failures, 0);
            left -= burst;
        }
    })
}

/// What a tick costs while 512 requests are in flight or in line and none is late; `n` counts ticks.
fn sweep_not_due() -> Run {
    let mut rig = Rig::new();
    for token in 0..CALLERS {
        rig.submit(token as u32);
    }
    rig.open_wanted();
    rig.flush();
    Box::new(move |n| {
        for tick in 0..n {
            // Half of the timeout at most, over and over: no deadline is ever reached.
            let now = Millis(1 + tick % (TIMEOUT_MS / 2));
            rig.lane.expire(black_box(now), &mut rig.outcomes);
        }
        assert_eq!(rig.outcomes.failures, 0);
    })
}

/// What 512 timeouts cost: submit, write, expire, and the late answers read and dropped; `n` counts rounds.
fn sweep_all_due() -> Run {
    let mut rig = Rig::new();
    Box::new(move |n| {
        for _ in 0..n {
            let before = rig.outcomes.failures;
            for token in 0..CALLERS {
                rig.submit(token as u32);
            }
            rig.open_wanted();
            rig.flush();
            rig.now = rig.now.plus(TIMEOUT_MS + 1);
            let now = rig.now;
            rig.lane.expire(now, &mut rig.outcomes);
            assert_eq!(rig.outcomes.failures - before, CALLERS);
            rig.answer();
        }
    })
}

/// A caller that gives up before the request was sent.
fn submit_and_cancel() -> Run {
    let mut rig = Rig::new();
    Box::new(move |n| {
        for _ in 0..n {
            let ticket = rig.submit(7);
            black_box(rig.lane.cancel(NODE, Class::Single, ticket, rig.now));
            rig.flush();
            rig.answer();
        }
    })
}
