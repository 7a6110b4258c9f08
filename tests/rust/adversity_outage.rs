//! The cluster is gone for a while: every call waits for it as long as it may, errors say what is the case, and no write is
//! falsely in doubt or falsely certain.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, on_embedded, reading, until, within, writing};
use crate::common::{Target, policy};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, ClientConfig, ClientPolicy, ClientResultCode, Error,
    ErrorKind, Key, LaneRuntime, Phase, ReadPolicy, SyncClient, WritePolicy, as_bin,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

const STOPS: &str = "stops nodes";
/// Between two calls of a caller.
const PAUSE: Duration = Duration::from_millis(20);

fn stop(target: &Target) {
    let ids: Vec<_> = target.faults().nodes().iter().map(|node| node.id).collect();
    target.faults().stop_nodes(&ids).unwrap();
}

fn start(target: &Target) {
    for node in target.faults().nodes() {
        target.faults().start_node(node.id).unwrap();
    }
}

/// Runs a scenario on each client, on a cluster of so many nodes each time.
fn on_each(nodes: usize, config: impl Into<ClientConfig>, scenario: impl Fn(&Target, &AnyClient) + Send + 'static) {
    if !on_embedded(STOPS) {
        return;
    }
    let config = config.into();
    within(300, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(nodes);
            let any_client = AnyClient::open(kind, config.clone(), target.seeds()).unwrap();
            scenario(&target, &any_client);
        }
    });
}

/// The error says that the node cannot be reached, and why.
fn is_outage(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
    assert_eq!(error.client_result_code(), Some(ClientResultCode::ServerNotAvailable), "{error:?}");
    assert!(!error.in_doubt() && error.phase() == Phase::Connecting, "{error:?}");
    let text = error.base_message();
    assert!(text.starts_with("no connection to node ") && text.contains("127.0.0.1:"), "{text}");
    assert!(text.contains(" s: could not connect: Connection refused"), "{text}");
    assert!(error.sub_errors().len() <= 10, "{error:?}");
}

#[test]
fn calls_wait_for_the_node_and_then_say_why() {
    on_each(1, policy(), |target, any_client| {
        let key = target.key("down");
        any_client.put(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        stop(target);
        for retries in [0, 2, 1000] {
            let begun = Instant::now();
            let error = any_client.get(&reading(400, retries), &key, Bins::All).unwrap_err();
            if retries == 0 {
                // It may have met the dead connection, and ends with its loss then.
                assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
                continue;
            }
            assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}: {error:?}", begun.elapsed());
            is_outage(&error);
            // One attempt to connect every 250 ms in the end.
            assert!((1..40).contains(&error.attempts()), "{error:?}");
        }
        let begun = Instant::now();
        is_outage(&any_client.put(&writing(400, 0), &key, &[as_bin!("n", 2)]).unwrap_err());
        assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
        let row = BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
        let mut batch = BatchPolicy::default();
        (batch.base_policy.total_timeout, batch.base_policy.max_retries) = (400, 2);
        let (rows, result) = any_client.batch(&batch, vec![row.clone(), row]);
        is_outage(&result.unwrap_err());
        assert!(rows.iter().all(|row| row.record().is_none() && !row.batch_record().in_doubt()), "{rows:?}");

        // One that has the time finds the node when it is back.
        let waiting = {
            let (any_client, key) = (any_client.clone(), key.clone());
            std::thread::spawn(move || any_client.put(&writing(60_000, 0), &key, &[as_bin!("n", 3)]))
        };
        std::thread::sleep(Duration::from_millis(300));
        start(target);
        waiting.join().unwrap().unwrap();
        let stats = any_client.stats();
        assert!(stats.nodes.iter().all(|node| !node.breaker_open), "{stats}");
    });
}

#[test]
fn reads_go_to_the_other_replica_at_once() {
    // So slow a tend that it cannot be what helps.
    on_each(3, ClientPolicy { tend_interval: 600_000, ..policy() }, |target, any_client| {
        let node = target.faults().nodes()[0].id;
        let master = |key: &Key| target.faults().master(aerolane_wire::digest::partition_id(&key.digest()));
        let keys: Vec<_> =
            (0_i64..).map(|id| target.key(id)).filter(|key| master(key) == Some(node)).take(50).collect();
        for key in &keys {
            any_client.put(&writing(60_000, 0), key, &[as_bin!("n", 1)]).unwrap();
        }
        target.faults().stop_node(node).unwrap();
        // The first finds out.
        any_client.get(&reading(60_000, 5), &keys[0], Bins::All).unwrap();
        let begun = Instant::now();
        for _ in 0..4 {
            for key in &keys {
                any_client.get(&reading(60_000, 0), key, Bins::All).unwrap();
            }
        }
        // 200 reads: if each waited for the node that is down, they would take more than half a minute.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    });
}

#[test]
fn what_is_no_answer_is_a_bad_response() {
    on_each(1, ClientPolicy { max_error_rate: 0, ..policy() }, |target, any_client| {
        let key = target.key("garbage");
        any_client.put(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        for garbage in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0xff; 64], &[2, 9, 0, 0, 0, 0, 0, 22, 22]] {
            let rule = FaultRule::new(FaultAction::Garbage(garbage.to_vec()));
            target.faults().set_fault(None, &rule.on(RequestKind::Read).on(RequestKind::Write)).unwrap();
            for retries in [0, 2] {
                let error = any_client.get(&reading(20_000, retries), &key, Bins::All).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::BadResponse), "{error:?}");
                assert!(error.base_message().contains("the answer is malformed") && !error.in_doubt(), "{error:?}");
            }
            let error = any_client.put(&writing(20_000, 0), &key, &[as_bin!("n", 2)]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::BadResponse) && error.in_doubt(), "{error:?}");
            target.faults().clear_faults();
        }
    });
}

/// What callers have seen of a cluster that stops and comes back.
#[derive(Default)]
struct Tally {
    many: bool,
    over: AtomicBool,
    /// The cluster is down, and whoever was in flight has heard.
    down: AtomicBool,
    acknowledged: AtomicU64,
    doubtful: AtomicU64,
    /// Of these, those whose connection was lost.
    lost: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    /// Takes in the outcome of a write; false: no more.
    fn take(&self, outcome: Result<(), Error>, was_down: bool) -> bool {
        // All the time: it goes down once.
        let was_down = was_down && self.is_down();
        match outcome {
            Ok(()) => {
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if was_down => {
                is_outage(&error);
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                // When it comes back, little time may be left of a call, and of more than 100 calls at once.
                let due = matches!(error.kind(), ErrorKind::Connection | ErrorKind::Timeout);
                assert!(due || self.many && matches!(error.kind(), ErrorKind::MaxErrorRate), "{error:?}");
                assert_eq!(error.in_doubt(), error.phase() >= Phase::Sent, "{error:?}");
                if error.in_doubt() {
                    self.doubtful.fetch_add(1, Ordering::Relaxed);
                    self.lost.fetch_add(matches!(error.kind(), ErrorKind::Connection).into(), Ordering::Relaxed);
                }
            }
        }
        !self.over.load(Ordering::Relaxed)
    }

    /// Writes until there are to be no more.
    async fn keep_writing<F: Future<Output = Result<(), Error>>>(&self, write: impl Fn() -> F) {
        loop {
            let was_down = self.is_down();
            if !self.take(write().await, was_down) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn is_down(&self) -> bool {
        self.down.load(Ordering::Relaxed)
    }
}

/// Callers that write, each its own record, one call after the other.
enum Callers {
    Tasks(tokio::runtime::Runtime, Vec<tokio::task::JoinHandle<()>>),
    Local(LaneRuntime, Vec<aerolane::LaneTask<()>>),
    Threads(Vec<std::thread::JoinHandle<()>>),
}

impl Callers {
    fn start(kind: Kind, target: &Target, number: i64, tally: &Arc<Tally>) -> Self {
        let write = writing(400, 0);
        let keys = (0..number).map(|id| target.key(id));
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        match kind {
            Kind::Async => {
                let runtime = runtime();
                let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
                let call = |key: Key| {
                    let (client, tally, write) = (client.clone(), Arc::clone(tally), write.clone());
                    runtime.spawn(async move {
                        let bins = [as_bin!("n", 1)];
                        tally.keep_writing(|| client.add(&write, &key, &bins)).await;
                    })
                };
                let tasks = keys.map(call).collect();
                Self::Tasks(runtime, tasks)
            }
            Kind::Local => {
                let client = runtime().block_on(Client::new(&policy(), target.seeds())).unwrap();
                let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
                let call = |key: Key| {
                    let (tally, write) = (Arc::clone(tally), write.clone());
                    lanes.spawn(move |client| async move {
                        let bins = [as_bin!("n", 1)];
                        tally.keep_writing(|| client.add(&write, &key, &bins)).await;
                    })
                };
                let tasks = keys.map(call).collect();
                Self::Local(lanes, tasks)
            }
            Kind::Sync => {
                let client = SyncClient::new(&policy(), target.seeds()).unwrap();
                let call = |key: Key| {
                    let (client, tally, write) = (client.clone(), Arc::clone(tally), write.clone());
                    let run = move || {
                        loop {
                            let was_down = tally.is_down();
                            if !tally.take(client.add(&write, &key, &[as_bin!("n", 1)]), was_down) {
                                return;
                            }
                            std::thread::sleep(PAUSE);
                        }
                    };
                    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap()
                };
                Self::Threads(keys.map(call).collect())
            }
        }
    }

    fn join(self) {
        match self {
            Self::Tasks(runtime, tasks) => tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap()),
            Self::Local(_lanes, tasks) => tasks.into_iter().for_each(|task| task.wait().unwrap()),
            Self::Threads(threads) => threads.into_iter().for_each(|thread| thread.join().unwrap()),
        }
    }
}

fn stops_and_comes_back(number: i64) {
    if !on_embedded(STOPS) {
        return;
    }
    within(300, move || {
        for kind in Kind::ALL {
            let (target, tally) = (Target::embedded(1), Arc::new(Tally { many: number > 50, ..Tally::default() }));
            let node = target.faults().nodes()[0].id;
            let callers = Callers::start(kind, &target, number, &tally);
            let go_on = |what| {
                let before = tally.acknowledged.load(Ordering::Relaxed);
                until(what, || tally.acknowledged.load(Ordering::Relaxed) >= before + 3 * number as u64);
            };
            go_on("writes");
            stop(&target);
            std::thread::sleep(Duration::from_millis(600));
            let lost = tally.lost.load(Ordering::Relaxed);
            assert!(lost <= number as u64, "{kind:?}: {lost} in doubt, one call of each was in flight");
            tally.down.store(true, Ordering::Relaxed);
            let refused = tally.refused.load(Ordering::Relaxed);
            until("all callers hear of it", || tally.refused.load(Ordering::Relaxed) >= refused + number as u64);
            std::thread::sleep(Duration::from_millis(1500));
            tally.down.store(false, Ordering::Relaxed);
            start(&target);
            go_on("writes, after the outage");
            tally.over.store(true, Ordering::Relaxed);
            callers.join();
            let executed = target.faults().stats(node).unwrap().records;
            let (acknowledged, doubtful) =
                (tally.acknowledged.load(Ordering::Relaxed), tally.doubtful.load(Ordering::Relaxed));
            assert!(
                (acknowledged..=acknowledged + doubtful).contains(&executed),
                "{kind:?}: {executed} executed, {acknowledged} acknowledged, {doubtful} in doubt"
            );
        }
    });
}

#[test]
fn the_cluster_stops_and_comes_back_under_50_callers() {
    stops_and_comes_back(50);
}

#[test]
fn the_cluster_stops_and_comes_back_under_many_callers() {
    stops_and_comes_back(300);
}

#[test]
fn policies_without_a_limit_end_too() {
    on_each(1, policy(), |target, any_client| {
        let key = target.key("endless");
        any_client.put(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        stop(target);
        let (read, write): (ReadPolicy, WritePolicy) = (reading(0, 2), writing(0, 0));
        let begun = Instant::now();
        let outcomes = std::thread::scope(|scope| {
            let reads = scope.spawn(|| any_client.get(&read, &key, Bins::All).map(drop));
            let writes = scope.spawn(|| any_client.put(&write, &key, &[as_bin!("n", 2)]));
            [reads.join().unwrap(), writes.join().unwrap()]
        });
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
        }
    });
}
