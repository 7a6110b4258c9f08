//! A writer while nodes are killed and stalled, throttle, lose requests and answers, answer late and give partitions away.
//! From time to time all is set right, and each record's outcome is held against what the cluster holds: what is ok is
//! there, what has failed is not, what is in doubt may be, and of each key the last confirmed write has won. Except where a
//! stalled server carries out a write later whose attempt had timed out, which no client can take back: these are counted.
//!
//! Twelve seconds, or as many as `AEROLANE_CHAOS_SECONDS` says; `--nocapture` shows what was counted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::any_client::on_embedded;
use crate::common::{Patient, Target, policy};
use aerolane::{
    Bins, Client, ClientPolicy, Outcome, OutcomeList, ReadPolicy, ResultCode, Value, WritePolicy, Writer,
    WriterOptions, as_bin,
};
use aerolane_embedded::NodeId;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// Keys that are written over and over.
const KEYS: i64 = 200;
/// Records of a turn whose keys are written once.
const ONCE: i64 = 10;
/// Between two troubles.
const PEACE: Duration = Duration::from_millis(150);
/// Between two comparisons with the cluster.
const EPOCH: Duration = Duration::from_secs(6);
/// Of an attempt that got no answer in time, as of `WriteAttempt::code`.
const TIMEOUT: i32 = 9;
/// A server that throttles.
const THROTTLING: [ResultCode; 4] =
    [ResultCode::DeviceOverload, ResultCode::KeyBusy, ResultCode::QuotaExceeded, ResultCode::ServerMemError];

fn length() -> Duration {
    let seconds = std::env::var("AEROLANE_CHAOS_SECONDS").ok();
    Duration::from_secs(seconds.map_or(12, |text| text.parse().expect("AEROLANE_CHAOS_SECONDS is a number of seconds")))
}

/// Numbers that look like chance and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// What happens to the cluster.
struct Trouble<'a> {
    target: &'a Target,
    nodes: Vec<NodeId>,
    dice: Dice,
    round: usize,
    down: Option<NodeId>,
    seen: BTreeMap<&'static str, u32>,
}

impl<'a> Trouble<'a> {
    fn new(target: &'a Target) -> Self {
        let nodes = target.faults().nodes().iter().map(|node| node.id).collect();
        Self { target, nodes, dice: Dice(0x9e37_79b9_7f4a_7c15), round: 0, down: None, seen: BTreeMap::new() }
    }

    fn set(&self, node: impl Into<Option<NodeId>>, rule: FaultRule) {
        let rule = rule.on(RequestKind::Write).on(RequestKind::Batch);
        self.target.faults().set_fault(node.into(), &rule).unwrap();
    }

    fn strike(&mut self) {
        let node = self.nodes[self.dice.below(self.nodes.len())];
        let name = match self.round % 10 {
            0 => {
                let code = THROTTLING[self.dice.below(THROTTLING.len())];
                self.set(node, FaultRule::new(FaultAction::Result(u8::from(code))).probability(0.3));
                "throttled"
            }
            1 => {
                self.set(node, FaultRule::new(FaultAction::DropAfter).probability(0.2));
                "answers lost"
            }
            2 => {
                self.set(None, FaultRule::new(FaultAction::RejectUnowned));
                for _ in 0..100 {
                    let (partition, owner) = (self.dice.below(4096) as u16, self.dice.below(self.nodes.len()));
                    self.target.faults().set_master(partition, Some(self.nodes[owner])).unwrap();
                }
                "partitions moved"
            }
            3 | 7 => {
                self.target.faults().clear_faults();
                "faults cleared"
            }
            4 => {
                self.target.faults().stop_node(node).unwrap();
                self.down = Some(node);
                "node killed"
            }
            5 => {
                self.set(node, FaultRule::new(FaultAction::DropBefore).probability(0.2));
                "requests lost"
            }
            6 => {
                self.start();
                "node back"
            }
            8 => {
                self.set(node, FaultRule::new(FaultAction::Stall).probability(0.5).times(4));
                "node stalled"
            }
            _ => {
                self.set(node, FaultRule::new(FaultAction::AnswerDelay(Duration::from_millis(80))));
                "node slow"
            }
        };
        self.round += 1;
        *self.seen.entry(name).or_default() += 1;
    }

    fn start(&mut self) {
        if let Some(node) = self.down.take() {
            self.target.faults().start_node(node).unwrap();
        }
    }

    fn set_right(&mut self) {
        self.target.faults().clear_faults();
        self.start();
    }
}

/// How many records ended how.
#[derive(Debug, Default)]
struct Counted {
    handed_over: i64,
    ok: i64,
    failed: i64,
    in_doubt: i64,
    /// Keys that hold a record in doubt.
    in_doubt_and_there: i64,
    /// Keys that hold a record of which an attempt had timed out before a later record was confirmed.
    late: i64,
    keys_compared: i64,
}

/// The records that were handed over since the last comparison: by key, with numbers that are their values.
type Told = HashMap<i64, Vec<(i64, Outcome)>>;

/// Hands records over with the numbers behind `number`: one by one, or all at a time.
async fn hand_over(
    writer: &Writer,
    target: &Target,
    told: &mut Told,
    ids: impl Iterator<Item = i64>,
    (number, together): (i64, bool),
) -> i64 {
    let (plain, mut outcomes, mut records) = (WritePolicy::default(), OutcomeList::new(), Vec::new());
    let numbered: Vec<_> = ids.zip(number + 1..).collect();
    for (id, number) in &numbered {
        let (key, bins) = (target.key(*id), vec![as_bin!("n", *number)]);
        if together {
            records.push((key, bins));
        } else {
            outcomes.push(writer.put(&plain, &key, &bins).await.unwrap());
        }
    }
    writer.put_many(&plain, &records, &mut outcomes).await.unwrap();
    assert_eq!(outcomes.len(), numbered.len());
    let count = numbered.len() as i64;
    for ((id, number), outcome) in numbered.into_iter().zip(outcomes.iter()) {
        told.entry(id).or_default().push((number, outcome));
    }
    count
}

async fn held(client: &Client, target: &Target, id: i64) -> i64 {
    match client.get(&ReadPolicy::patient(), &target.key(id), Bins::All).await {
        Ok(record) => match record.bins["n"] {
            Value::Int(n) => n,
            ref other => panic!("{other:?}"),
        },
        Err(error) if error.is_not_found() => 0,
        Err(error) => panic!("{error}"),
    }
}

/// What is known from earlier comparisons.
#[derive(Default)]
struct Known {
    /// What keys held.
    held: HashMap<i64, i64>,
    /// Records with an attempt that got no answer in time.
    timed_out: HashSet<i64>,
}

/// Holds outcomes against the cluster.
async fn compare(client: &Client, target: &Target, told: Told, known: &mut Known, counted: &mut Counted) {
    for (id, records) in told {
        let held = held(client, target, id).await;
        let mut last_ok = known.held.get(&id).copied().unwrap_or(0);
        let mut doubtful = false;
        for (number, outcome) in &records {
            let delivery = outcome.delivery().expect("after a flush each record has its outcome");
            if delivery.attempts().any(|attempt| attempt.in_doubt && attempt.code == TIMEOUT) {
                known.timed_out.insert(*number);
            }
            match delivery.error() {
                None => {
                    counted.ok += 1;
                    (last_ok, doubtful) = (*number, false);
                }
                Some(error) if error.in_doubt() => {
                    counted.in_doubt += 1;
                    doubtful |= *number == held;
                }
                Some(error) => {
                    counted.failed += 1;
                    assert_ne!(*number, held, "key {id}: {number} has failed and is there: {error}");
                }
            }
        }
        counted.in_doubt_and_there += i64::from(doubtful);
        let is_late = held != last_ok && !doubtful && known.timed_out.contains(&held);
        counted.late += i64::from(is_late);
        assert!(
            held == last_ok || doubtful || is_late,
            "key {id}: holds {held}, the last confirmed one is {last_ok}: {records:?}"
        );
        if id < KEYS {
            known.held.insert(id, held);
        }
        counted.keys_compared += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcomes_agree_with_what_the_cluster_holds() {
    if !on_embedded("injects faults") {
        return;
    }
    let target = Target::embedded(3);
    // The breaker has tests of its own.
    let client = Client::new(&ClientPolicy { max_error_rate: 0, ..policy() }, target.seeds()).await.unwrap();
    let options = WriterOptions {
        attempt_timeout: Duration::from_millis(1500),
        record_ttl: Duration::from_secs(5),
        max_outstanding_records: Some(2000),
        batch_records: 64,
        ..WriterOptions::default()
    };
    let writer = client.writer(options).unwrap();
    let mut trouble = Trouble::new(&target);
    let (mut known, mut counted) = (Known::default(), Counted::default());
    let (begun, length) = (Instant::now(), length());
    let (mut fresh, mut together) = (KEYS, false);
    while begun.elapsed() < length {
        let mut told = Told::new();
        let epoch = Instant::now();
        while epoch.elapsed() < EPOCH.min(length) {
            trouble.strike();
            let until = Instant::now() + PEACE;
            while Instant::now() < until {
                let ids = (0..KEYS).chain(fresh..fresh + ONCE);
                let next = (counted.handed_over, together);
                counted.handed_over += hand_over(&writer, &target, &mut told, ids, next).await;
                fresh += ONCE;
                together = !together;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        trouble.set_right();
        writer.flush().await;
        compare(&client, &target, told, &mut known, &mut counted).await;
    }
    assert!(writer.close(Some(Duration::from_secs(60))).await.is_empty());
    println!("{:?}: {counted:?}\n{:?}\n{:?}", begun.elapsed(), trouble.seen, writer.metrics());
    assert_eq!(counted.ok + counted.failed + counted.in_doubt, counted.handed_over);
    assert!(counted.ok > counted.handed_over / 2, "{counted:?}");
}
