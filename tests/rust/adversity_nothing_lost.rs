//! No operation is lost, none is answered with another's answer.
//!
//! Tasks and threads of all three clients work on records whose values name their key and the number of the write, while
//! the cluster delays, resets, cuts, refuses, loses nodes and moves partitions, and while callers give up in the middle.
//! Every answer is checked against a ledger of all writes. The plan of each worker and the order of the faults come from a
//! seed (`AEROLANE_SEED` to choose another); the interleaving does not.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::adversity_ledger::{Counter, End, Ledger};
use crate::any_client::{until, within};
use crate::common::{Patient, Target, policy};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bin, Bins, Client, ClientConfig, Error, ErrorKind,
    Key, LaneRuntime, LocalClient, Operation, PoolSizing, ReadPolicy, Record, Replica, ResultCode, SyncClient, Value,
    WritePolicy, as_bin, operations,
};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// Operations in all, if there is time for them.
const OPERATIONS: u64 = 300_000;
const AT_MOST: Duration = Duration::from_secs(20);
/// Later than its deadline by this, an operation counts as hanging.
const SLACK: Duration = Duration::from_secs(30);
const TASKS: usize = 48;
const LANE_THREADS: usize = 2;
const LOCAL_TASKS: usize = 24;
const THREADS: usize = 4;
const WORKERS: usize = TASKS + LOCAL_TASKS + THREADS;
/// Records that each worker writes.
const RECORDS: usize = 6;
const SEED: u64 = 0x0aed_1ced;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What all workers share.
struct World {
    keys: Vec<Key>,
    records: Vec<Mutex<Ledger>>,
    counter_keys: Vec<Key>,
    counters: Vec<Mutex<Counter>>,
    started: Instant,
    operations: AtomicU64,
    stop: AtomicBool,
    /// How operations ended, and how often.
    tally: Mutex<BTreeMap<String, u64>>,
    violations: Mutex<Vec<String>>,
}

/// One operation.
#[allow(clippy::large_enum_variant)] // one at a time
enum Request {
    Get(ReadPolicy, Key),
    Put(WritePolicy, Key, Vec<Bin>),
    Delete(WritePolicy, Key),
    Operate(WritePolicy, Key, Vec<Operation>),
    Batch(BatchPolicy, Vec<BatchOperation>),
}

/// What it gave, when it did not fail.
#[allow(clippy::large_enum_variant)]
enum Answer {
    Done,
    Record(Record),
    Rows(Vec<BatchOperation>, Option<Error>),
}

/// What the ledgers have to hear of it.
enum Meaning {
    Read { index: usize, floor: u64 },
    Write { index: usize, repeated: bool },
    Count { index: usize, floor: u64 },
    ReadCounter { index: usize, floor: u64 },
    ReadRows(Vec<(usize, u64)>),
    WriteRows(Vec<usize>),
}

#[allow(clippy::large_enum_variant)]
enum Outcome {
    Answered(Answer),
    Failed(Error),
    /// The caller gave up. `started`: the call had been polled.
    Dropped {
        started: bool,
    },
}

/// When the caller gives up.
#[derive(Clone, Copy)]
enum Patience {
    Whole,
    /// Drops the call without polling it.
    None,
    OnePoll,
    Millis(u64),
}

macro_rules! perform {
    ($name:ident, $client:ty, ($($async:tt)*) ($($wait:tt)*)) => {
        $($async)* fn $name(client: &$client, request: Request) -> Result<Answer, Error> {
            match request {
                Request::Get(policy, key) => client.get(&policy, &key, Bins::All) $($wait)* .map(Answer::Record),
                Request::Put(policy, key, bins) => client.put(&policy, &key, &bins) $($wait)* .map(|()| Answer::Done),
                Request::Delete(policy, key) => client.delete(&policy, &key) $($wait)* .map(|_| Answer::Done),
                Request::Operate(policy, key, operations) => {
                    client.operate(&policy, &key, &operations) $($wait)* .map(Answer::Record)
                }
                Request::Batch(policy, mut rows) => {
                    let error = client.batch(&policy, &mut rows) $($wait)* .err();
                    Ok(Answer::Rows(rows, error))
                }
            }
        }
    };
}

perform!(perform, Client, (async) (.await));
perform!(perform_local, LocalClient, (async) (.await));
perform!(perform_sync, SyncClient, ()());

/// Runs a call for as long as its caller has patience.
async fn patiently(patience: Patience, call: impl Future<Output = Result<Answer, Error>>) -> Outcome {
    let ended = |result| match result {
        Ok(answer) => Outcome::Answered(answer),
        Err(error) => Outcome::Failed(error),
    };
    match patience {
        Patience::Whole => ended(call.await),
        Patience::None => Outcome::Dropped { started: false },
        Patience::OnePoll => {
            tokio::select! {
                biased;
                result = call => ended(result),
                () = std::future::ready(()) => Outcome::Dropped { started: true },
            }
        }
        Patience::Millis(ms) => match tokio::time::timeout(Duration::from_millis(ms), call).await {
            Ok(result) => ended(result),
            Err(_) => Outcome::Dropped { started: true },
        },
    }
}

/// Bytes that belong to one write of one record, of a length that differs.
fn padding(index: usize, number: u64) -> String {
    let length = (index as u64 * 31 + number * 97) % 700;
    format!("{index}/{number};").chars().cycle().take(length as usize).collect()
}

impl World {
    fn new(target: &Target) -> Self {
        let records = WORKERS * RECORDS;
        Self {
            keys: (0..records).map(|index| target.key(index as i64)).collect(),
            records: (0..records).map(|_| Mutex::default()).collect(),
            counter_keys: (0..WORKERS).map(|worker| target.key(format!("counter {worker}"))).collect(),
            counters: (0..WORKERS).map(|_| Mutex::default()).collect(),
            started: Instant::now(),
            operations: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            tally: Mutex::default(),
            violations: Mutex::default(),
        }
    }

    fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.operations.load(Ordering::Relaxed) >= OPERATIONS
            || self.started.elapsed() > AT_MOST
    }

    fn violation(&self, text: String) {
        self.violations.lock().unwrap().push(text);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn count(&self, what: impl Into<String>) {
        *self.tally.lock().unwrap().entry(what.into()).or_default() += 1;
    }

    fn counted(&self, what: &str) -> u64 {
        self.tally.lock().unwrap().iter().filter(|(name, _)| name.starts_with(what)).map(|(_, n)| n).sum()
    }

    /// The next operation of a worker; the ledgers know of it when this returns.
    fn plan(&self, worker: usize, random: &mut Random) -> (Request, Meaning, Duration) {
        let timeout = random.pick(&[30, 200, 1000, 1000, 3000]);
        let (mut read, mut write) = (ReadPolicy::patient(), WritePolicy::patient());
        for base in [&mut read.base_policy, &mut write.base_policy] {
            base.total_timeout = timeout;
            base.socket_timeout = random.pick(&[0, 0, timeout / 2 + 1]);
            base.sleep_between_retries = random.pick(&[0, 1, 5]);
            base.replica = random.pick(&[Replica::Sequence, Replica::Master, Replica::MasterProles, Replica::Random]);
        }
        read.base_policy.max_retries = random.below(4);
        write.base_policy.max_retries = random.pick(&[0, 0, 0, 0, 2]);
        let mut batch = BatchPolicy { base_policy: read.base_policy.clone(), ..BatchPolicy::patient() };
        let mine = worker * RECORDS + random.below(RECORDS);
        let any = random.below(self.keys.len());
        let key = self.keys[mine].clone();
        let (request, meaning) = match random.below(100) {
            0..45 => {
                let index = if random.one_in(2) { mine } else { any };
                (Request::Get(read, self.keys[index].clone()), Meaning::Read { index, floor: self.floor(index) })
            }
            45..75 => {
                let number = self.records[mine].lock().unwrap().begin(false);
                let repeated = write.base_policy.max_retries > 0;
                (Request::Put(write, key, bins(mine, number)), Meaning::Write { index: mine, repeated })
            }
            75..78 => {
                self.records[mine].lock().unwrap().begin(true);
                let repeated = write.base_policy.max_retries > 0;
                (Request::Delete(write, key), Meaning::Write { index: mine, repeated })
            }
            78..86 => {
                let mut counter = self.counters[worker].lock().unwrap();
                let floor = counter.floor() + 1;
                counter.begin();
                write.base_policy.max_retries = 0;
                let operations = vec![operations::add(&as_bin!("n", 1)), operations::get_bin("n")];
                let request = Request::Operate(write, self.counter_keys[worker].clone(), operations);
                (request, Meaning::Count { index: worker, floor })
            }
            86..92 => {
                let index = random.below(WORKERS);
                let floor = self.counters[index].lock().unwrap().floor();
                (Request::Get(read, self.counter_keys[index].clone()), Meaning::ReadCounter { index, floor })
            }
            92..97 => {
                let indexes: Vec<_> = (0..=random.below(12)).map(|_| random.below(self.keys.len())).collect();
                let row = |index: &usize| {
                    BatchOperation::read(&BatchReadPolicy::default(), self.keys[*index].clone(), Bins::All)
                };
                let rows = indexes.iter().map(row).collect();
                let floors = indexes.into_iter().map(|index| (index, self.floor(index))).collect();
                (Request::Batch(batch, rows), Meaning::ReadRows(floors))
            }
            _ => {
                let first = worker * RECORDS;
                let indexes: Vec<_> = (first..=first + random.below(RECORDS)).collect();
                let row = |index: &usize| {
                    let number = self.records[*index].lock().unwrap().begin(false);
                    let puts: Vec<_> = bins(*index, number).iter().map(operations::put).collect();
                    BatchOperation::write(&BatchWritePolicy::default(), self.keys[*index].clone(), puts)
                };
                let rows = indexes.iter().map(row).collect();
                batch.base_policy.max_retries = 0;
                (Request::Batch(batch, rows), Meaning::WriteRows(indexes))
            }
        };
        (request, meaning, Duration::from_millis(timeout.into()))
    }

    fn floor(&self, index: usize) -> u64 {
        self.records[index].lock().unwrap().floor()
    }

    /// Tells the ledgers how an operation ended, and checks what it gave.
    fn settle(&self, meaning: &Meaning, outcome: &Outcome) {
        match outcome {
            Outcome::Answered(Answer::Rows(_, None) | Answer::Done | Answer::Record(_)) => self.count("answered"),
            Outcome::Answered(Answer::Rows(_, Some(error))) | Outcome::Failed(error) => self.failure(error),
            Outcome::Dropped { started } => self.count(if *started { "given up" } else { "given up, not begun" }),
        }
        let result = match (meaning, outcome) {
            (Meaning::Read { index, floor }, outcome) => match outcome {
                Outcome::Answered(Answer::Record(record)) => self.judge(*index, *floor, Some(record)),
                Outcome::Failed(error) if error.is_not_found() => self.judge(*index, *floor, None),
                _ => Ok(()),
            },
            (Meaning::Write { index, repeated }, outcome) => {
                self.records[*index].lock().unwrap().end(end(outcome, *repeated));
                Ok(())
            }
            (Meaning::Count { index, floor }, outcome) => {
                let mut counter = self.counters[*index].lock().unwrap();
                counter.end(end(outcome, false));
                match outcome {
                    Outcome::Answered(Answer::Record(record)) => (record.bins.get("n").and_then(number))
                        .ok_or_else(|| format!("an addition gave {record:?}"))
                        .and_then(|n| counter.judge(*floor, n)),
                    _ => Ok(()),
                }
            }
            (Meaning::ReadCounter { index, floor }, outcome) => {
                let mut counter = self.counters[*index].lock().unwrap();
                match outcome {
                    Outcome::Answered(Answer::Record(record)) => match record.bins.get("n").and_then(number) {
                        Some(n) if record.bins.len() == 1 => counter.judge(*floor, n),
                        _ => Err(format!("counter {index} is {record:?}")),
                    },
                    Outcome::Failed(error) if error.is_not_found() => counter.judge(*floor, 0),
                    _ => Ok(()),
                }
            }
            (Meaning::ReadRows(floors), Outcome::Answered(Answer::Rows(rows, _))) => {
                floors.iter().zip(rows).try_for_each(|((index, floor), row)| match (row.record(), row.error()) {
                    (Some(record), None) => self.judge(*index, *floor, Some(record)),
                    (None, Some(error)) if error.is_not_found() => self.judge(*index, *floor, None),
                    (None, Some(_)) => Ok(()),
                    _ => Err(format!("a row with no outcome, or with two: {row:?}")),
                })
            }
            (Meaning::WriteRows(indexes), outcome) => {
                indexes.iter().enumerate().try_for_each(|(at, index)| self.settle_row(*index, at, outcome))
            }
            (Meaning::ReadRows(_), _) => Ok(()),
        };
        if let Err(text) = result {
            self.violation(text);
        }
    }

    fn settle_row(&self, index: usize, at: usize, outcome: &Outcome) -> Result<(), String> {
        let (how, result) = match outcome {
            Outcome::Answered(Answer::Rows(rows, _)) => match (rows[at].record(), rows[at].error()) {
                (Some(_), None) => (End::Acknowledged { repeated: false }, Ok(())),
                (None, Some(_)) if rows[at].in_doubt() => (End::Doubtful, Ok(())),
                (None, Some(_)) => (End::Failed, Ok(())),
                _ => (End::Doubtful, Err(format!("a row with no outcome, or with two: {:?}", rows[at]))),
            },
            other => (end(other, false), Ok(())),
        };
        self.records[index].lock().unwrap().end(how);
        result
    }

    /// Checks a record: that it is the right one, whole, and not too old.
    fn judge(&self, index: usize, floor: u64, record: Option<&Record>) -> Result<(), String> {
        let seen = match record {
            None => None,
            Some(record) => {
                let get = |name| record.bins.get(name).cloned();
                let (Some(Value::Int(key)), Some(Value::Int(seen)), Some(Value::String(text)), 3) =
                    (get("key"), get("number"), get("text"), record.bins.len())
                else {
                    return Err(format!("record {index} is {record:?}"));
                };
                if key != index as i64 || text != padding(index, seen as u64) {
                    return Err(format!("record {index} was answered with {key}, write {seen}, {text:?}"));
                }
                Some(seen as u64)
            }
        };
        let ledger = self.records[index].lock().unwrap();
        ledger.judge(floor, seen).map_err(|text| format!("record {index}: {text}; {ledger:?}"))
    }

    /// A failure of the kinds that the faults can cause.
    fn failure(&self, error: &Error) {
        let expected = match error.kind() {
            ErrorKind::Timeout
            | ErrorKind::Connection
            | ErrorKind::MaxErrorRate
            | ErrorKind::InvalidNode
            | ErrorKind::BadResponse => true,
            ErrorKind::Server { rc, .. } => matches!(
                rc,
                ResultCode::KeyNotFoundError
                    | ResultCode::KeyBusy
                    | ResultCode::DeviceOverload
                    | ResultCode::Timeout
                    | ResultCode::PartitionUnavailable
            ),
            _ => false,
        };
        if !expected {
            self.violation(format!("an error that no fault explains: {error}"));
        }
        let doubt = if error.in_doubt() { ", in doubt" } else { "" };
        let code = error.server_result_code().map_or_else(String::new, |rc| format!(" {rc}"));
        let what = if error.is_not_found() { "answered: no record" } else { "failed:" };
        self.count(format!("{what} {}{code}{doubt}", error.kind().name()));
    }

    /// One worker's next operation, for clients that are awaited.
    async fn step<F: Future<Output = Result<Answer, Error>>>(
        &self,
        worker: usize,
        random: &mut Random,
        call: impl FnOnce(Request) -> F,
    ) {
        let (request, meaning, limit) = self.plan(worker, random);
        let patience = match random.below(100) {
            0 => Patience::None,
            1..4 => Patience::OnePoll,
            4..12 => Patience::Millis(random.below(6) as u64),
            _ => Patience::Whole,
        };
        let start = Instant::now();
        let outcome = patiently(patience, call(request)).await;
        self.in_time(worker, start, limit);
        self.settle(&meaning, &outcome);
    }

    fn in_time(&self, worker: usize, start: Instant, limit: Duration) {
        self.operations.fetch_add(1, Ordering::Relaxed);
        let took = start.elapsed();
        if took > limit + SLACK {
            self.violation(format!("an operation with a deadline of {limit:?} took {took:?}"));
        } else if took > limit + Duration::from_millis(100) {
            let client = match worker {
                0..TASKS => "async",
                _ if worker < TASKS + LOCAL_TASKS => "local",
                _ => "sync",
            };
            self.count(format!("{client}: late by {} ms or more", took.saturating_sub(limit).as_millis() / 100 * 100));
        }
    }
}

fn bins(index: usize, number: u64) -> Vec<Bin> {
    vec![
        as_bin!("key", index as i64),
        as_bin!("number", number as i64),
        as_bin!("text", padding(index, number).as_str()),
    ]
}

fn end(outcome: &Outcome, repeated: bool) -> End {
    match outcome {
        Outcome::Answered(_) => End::Acknowledged { repeated },
        Outcome::Failed(error) if error.in_doubt() => End::Doubtful,
        Outcome::Failed(_) | Outcome::Dropped { started: false } => End::Failed,
        Outcome::Dropped { started: true } => End::Doubtful,
    }
}

/// An integer, or the last one of several results.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::MultiResult(results) => results.last().and_then(number),
        _ => None,
    }
}

/// Makes trouble until the workers are done; leaves a whole cluster.
fn trouble(cluster: &EmbeddedCluster, world: &World, mut random: Random) {
    let mut down = None;
    let mut added = 0;
    while !world.over() {
        std::thread::sleep(Duration::from_millis(20 + random.next() % 120));
        let nodes = cluster.nodes();
        let node = nodes[random.below(nodes.len())].id;
        match random.below(20) {
            0..13 => {
                let ms = |random: &mut Random, most: u64| Duration::from_millis(1 + random.next() % most);
                let (action, probability) = match random.below(12) {
                    0 => (FaultAction::Delay(ms(&mut random, 60)), 0.01),
                    1 => (FaultAction::AnswerDelay(ms(&mut random, 60)), 0.01),
                    2 => (FaultAction::Stall, 0.001),
                    3 => (FaultAction::DropBefore, 0.003),
                    4 => (FaultAction::DropAfter, 0.003),
                    5 => (FaultAction::Truncate(random.below(60)), 0.003),
                    6 => (FaultAction::Split, 0.02),
                    7 | 8 => (FaultAction::Result(random.pick(&[9, 11, 14, 18])), 0.02),
                    9 => (FaultAction::Garbage(vec![0xab; 1 + random.below(40)]), 0.001),
                    10 => (FaultAction::Refuse, 0.5),
                    _ => (FaultAction::RejectUnowned, 1.0),
                };
                let mut rule = FaultRule::new(action).probability(probability);
                for kind in [RequestKind::Read, RequestKind::Write, RequestKind::Batch] {
                    rule = rule.on(kind);
                }
                // A node with all the rules that it takes gets no more.
                let _ = cluster.set_fault(if random.one_in(3) { None } else { Some(node) }, &rule);
            }
            13 | 14 => cluster.clear_faults(),
            15 | 16 => match down.take() {
                None => {
                    cluster.stop_node(node).unwrap();
                    down = Some(node);
                }
                Some(node) => cluster.start_node(node).unwrap(),
            },
            17 if added < 2 => {
                cluster.add_node().unwrap();
                added += 1;
            }
            _ => {
                for _ in 0..200 {
                    let partition = random.below(4096) as u16;
                    cluster.set_master(partition, Some(nodes[random.below(nodes.len())].id)).unwrap();
                }
            }
        }
    }
    cluster.clear_faults();
    if let Some(node) = down {
        cluster.start_node(node).unwrap();
    }
}

/// Reads everything at the end: what it must be is known now.
fn last_look(world: &World, client: &SyncClient) {
    let mut policy = ReadPolicy::patient();
    (policy.base_policy.total_timeout, policy.base_policy.max_retries) = (60_000, 20);
    policy.base_policy.sleep_between_retries = 20;
    for (index, key) in world.keys.iter().enumerate() {
        let seen = client.get(&policy, key, Bins::All);
        let result = match &seen {
            Ok(record) => world.judge(index, world.floor(index), Some(record)),
            Err(error) if error.is_not_found() => world.judge(index, world.floor(index), None),
            Err(error) => Err(format!("the last look at record {index} failed: {error}")),
        };
        result.unwrap_or_else(|text| world.violation(text));
    }
    for (index, key) in world.counter_keys.iter().enumerate() {
        let mut counter = world.counters[index].lock().unwrap();
        let floor = counter.floor();
        let result = match client.get(&policy, key, Bins::All) {
            Ok(record) => counter.judge(floor, record.bins.get("n").and_then(number).unwrap_or(u64::MAX)),
            Err(error) if error.is_not_found() => counter.judge(floor, 0),
            Err(error) => Err(error.to_string()),
        };
        result.unwrap_or_else(|text| world.violation(format!("counter {index} at the end: {text}")));
    }
}

/// Runs all workers to their end.
fn work(world: &Arc<World>, client: &Client, runtime: &tokio::runtime::Runtime, seed: u64) {
    let random = |worker: usize| Random(seed ^ (worker as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d));
    let tasks: Vec<_> = (0..TASKS)
        .map(|worker| {
            let (world, client, mut random) = (Arc::clone(world), client.clone(), random(worker));
            runtime.spawn(async move {
                while !world.over() {
                    world.step(worker, &mut random, |request| perform(&client, request)).await;
                }
            })
        })
        .collect();
    let lanes = LaneRuntime::new(client, NonZeroUsize::new(LANE_THREADS).unwrap()).unwrap();
    let local: Vec<_> = (TASKS..TASKS + LOCAL_TASKS)
        .map(|worker| {
            let (world, mut random) = (Arc::clone(world), random(worker));
            lanes.spawn(move |client| async move {
                while !world.over() {
                    world.step(worker, &mut random, |request| perform_local(&client, request)).await;
                }
            })
        })
        .collect();
    std::thread::scope(|scope| {
        for worker in TASKS + LOCAL_TASKS..WORKERS {
            let (client, mut random) = (client.sync(), random(worker));
            scope.spawn(move || {
                while !world.over() {
                    let (request, meaning, limit) = world.plan(worker, &mut random);
                    let start = Instant::now();
                    let outcome = match perform_sync(&client, request) {
                        Ok(answer) => Outcome::Answered(answer),
                        Err(error) => Outcome::Failed(error),
                    };
                    world.in_time(worker, start, limit);
                    world.settle(&meaning, &outcome);
                }
            });
        }
    });
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    for task in local {
        task.wait().unwrap();
    }
}

fn run(pool: Option<PoolSizing>) {
    let seed = std::env::var("AEROLANE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let target = Target::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut config = ClientConfig::from(policy()).with_pool(pool);
    // An open breaker would keep most operations from being tried at all.
    config.policy.max_error_rate = 2000;
    let client = runtime.block_on(Client::with_config(config, target.seeds())).unwrap();
    let world = Arc::new(World::new(&target));
    std::thread::scope(|scope| {
        if target.is_embedded() {
            scope.spawn(|| trouble(target.faults(), &world, Random(seed)));
        }
        work(&world, &client, &runtime, seed);
    });
    let took = world.started.elapsed();
    // What was delayed or stalled is executed now; the clients must have learnt of the last changes.
    std::thread::sleep(Duration::from_secs(1));
    last_look(&world, &client.sync());
    let operations = world.operations.load(Ordering::Relaxed);
    println!("{operations} operations in {took:.1?}, seed {seed}");
    for (what, count) in world.tally.lock().unwrap().iter() {
        println!("{count:>9}  {what}");
    }
    println!("{}", client.stats());
    let violations = world.violations.lock().unwrap();
    assert!(violations.is_empty(), "seed {seed}: {:#?}", &violations[..violations.len().min(10)]);
    let answered = world.counted("answered");
    assert!(answered * 2 > operations, "only {answered} of {operations} were answered");
    assert!(world.counted("given up") > 0);
    assert!(!target.is_embedded() || world.counted("failed") > 0, "no fault has struck");
    until("nothing in flight, in line or orphaned", || {
        let total = client.stats().total;
        (total.in_flight, total.queued, total.orphans, total.busy) == (0, 0, 0, 0)
    });
}

#[test]
fn no_operation_is_lost_and_none_gets_anothers_answer() {
    within(180, || run(None));
}

/// The same with so few places that most callers wait in line.
#[test]
fn nor_in_a_narrow_pool() {
    within(180, || run(Some(PoolSizing::default().with_max(4).with_depth(2).with_batch_max(2))));
}
