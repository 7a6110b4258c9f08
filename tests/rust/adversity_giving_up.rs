//! Callers that give up, and runtimes that end, with requests in flight: nobody else loses anything by it.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::any_client::{on_embedded, reading, until, within, writing};
use crate::common::{Patient, Target, policy};
use aerolane::{
    BatchOperation, BatchPolicy, BatchReadPolicy, Bins, Client, ClientConfig, LaneRuntime, LaneTask, LaneTaskError,
    PoolSizing, Value, WhenFull, as_bin,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use tokio::runtime::Runtime;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn stall(target: &Target) {
    for kind in [RequestKind::Read, RequestKind::Write, RequestKind::Batch] {
        target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(kind)).unwrap();
    }
}

async fn fill(client: &Client, target: &Target) {
    for id in 0..50_i64 {
        client.put(&writing(20_000, 0), &target.key(id), &[as_bin!("id", id)]).await.unwrap();
    }
}

/// Everybody gets his own, and nothing is left over.
async fn all_is_well(client: &Client, target: &Target) {
    for id in 0..50_i64 {
        let record = client.get(&reading(20_000, 3), &target.key(id), Bins::All).await.unwrap();
        assert_eq!(record.bins["id"], Value::Int(id));
    }
    until("nothing is left over", || {
        let total = client.stats().total;
        (total.in_flight, total.queued, total.orphans, total.busy) == (0, 0, 0, 0)
    });
}

#[test]
fn calls_that_are_dropped_in_flight_leave_no_trace() {
    if !on_embedded("stalls nodes") {
        return;
    }
    within(300, || {
        let (target, runtime) = (Target::embedded(3), runtime());
        runtime.block_on(async {
            let client = Client::new(&policy(), target.seeds()).await.unwrap();
            fill(&client, &target).await;
            for round in 0..3 {
                stall(&target);
                let forever = reading(0, 0);
                for id in 0..50_i64 {
                    let key = target.key(id);
                    let get = client.get(&forever, &key, Bins::All);
                    let mut rows = [BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All)];
                    let policy = BatchPolicy::patient();
                    let batch = client.batch(&policy, &mut rows);
                    tokio::select! {
                        biased;
                        result = get => panic!("the node is stalled: {result:?}"),
                        result = batch => panic!("the node is stalled: {result:?}"),
                        () = tokio::time::sleep(Duration::from_millis(u64::from(id % 7 == 0))) => {}
                    }
                }
                // A task that is aborted.
                let (other, key) = (client.clone(), target.key(7));
                let task = tokio::spawn(async move { other.get(&reading(0, 0), &key, Bins::All).await });
                tokio::time::sleep(Duration::from_millis(5)).await;
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
                // While they are stalled (even rounds), or after that.
                if round % 2 == 0 {
                    target.faults().clear_faults();
                    all_is_well(&client, &target).await;
                } else {
                    let error = client.get(&reading(100, 0), &target.key(1), Bins::All).await.unwrap_err();
                    assert!(error.is_client_timeout(), "{error:?}");
                    target.faults().clear_faults();
                }
            }
            all_is_well(&client, &target).await;
        });
    });
}

#[test]
fn a_caller_that_leaves_the_line_holds_up_nobody_and_is_not_sent() {
    if !on_embedded("stalls nodes") {
        return;
    }
    within(300, || {
        let (target, runtime) = (Target::embedded(1), runtime());
        let pool = PoolSizing::default().with_min(0).with_max(1).with_depth(1).with_when_full(WhenFull::Wait);
        let config = ClientConfig::from(policy()).with_pool(pool);
        runtime.block_on(async {
            let client = Client::with_config(config, target.seeds()).await.unwrap();
            let key = target.key("line");
            client.put(&writing(20_000, 0), &key, &[as_bin!("s", "")]).await.unwrap();
            let rule = FaultRule::new(FaultAction::Stall).on(RequestKind::Write).times(1);
            target.faults().set_fault(None, &rule).unwrap();
            let (mut tasks, client_stats) = (Vec::new(), client.clone());
            for (place, letter) in "abcdefgh".chars().enumerate() {
                let (client, key) = (client.clone(), key.clone());
                tasks.push(tokio::spawn(async move {
                    client.append(&writing(0, 0), &key, &[as_bin!("s", letter.to_string().as_str())]).await
                }));
                loop {
                    let total = client_stats.stats().total;
                    if total.in_flight + total.queued == place as u64 + 1 {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            for odd in [1, 3, 5, 7] {
                tasks[odd].abort();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            target.faults().clear_faults();
            for (place, task) in tasks.into_iter().enumerate() {
                match task.await {
                    Ok(result) => result.unwrap(),
                    Err(gone) => assert!(gone.is_cancelled() && place % 2 == 1),
                }
            }
            let record = client.get(&reading(20_000, 0), &key, Bins::All).await.unwrap();
            assert_eq!(record.bins["s"], Value::from("aceg"));
        });
    });
}

#[test]
fn a_runtime_that_ends_takes_only_its_own_calls_along() {
    if !on_embedded("stalls nodes") {
        return;
    }
    within(300, || {
        let (target, first) = (Target::embedded(3), runtime());
        let client = first.block_on(Client::new(&policy(), target.seeds())).unwrap();
        first.block_on(fill(&client, &target));
        let sync = client.sync();
        let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
        stall(&target);
        // Calls of three kinds under way, without a limit.
        for id in 0..10_i64 {
            let (client, key) = (client.clone(), target.key(id));
            first.spawn(async move { client.get(&reading(0, 0), &key, Bins::All).await });
        }
        let local: Vec<_> = (10..20_i64)
            .map(|id| {
                let key = target.key(id);
                lanes.spawn(move |client| async move { client.get(&reading(0, 0), &key, Bins::All).await })
            })
            .collect();
        let blocked: Vec<_> = (20..25_i64)
            .map(|id| {
                let (sync, key) = (sync.clone(), target.key(id));
                std::thread::spawn(move || sync.get(&reading(0, 0), &key, Bins::All))
            })
            .collect();
        until("all are under way", || client.stats().total.in_flight == 25);
        // Both runtimes end; the thread joins at once although its calls would wait for ever.
        drop(lanes);
        first.shutdown_background();
        for task in local {
            assert!(matches!(task.wait(), Err(LaneTaskError::Dropped)));
        }
        target.faults().clear_faults();
        for (id, thread) in (20..).zip(blocked) {
            assert_eq!(thread.join().unwrap().unwrap().bins["id"], Value::Int(id), "other threads keep theirs");
        }
        // The same client works on another runtime.
        runtime().block_on(all_is_well(&client, &target));
        assert_eq!(sync.get(&reading(20_000, 3), &target.key(1), Bins::All).unwrap().bins["id"], Value::Int(1));
    });
}

#[test]
fn a_panic_in_a_task_is_its_own() {
    within(300, || {
        let (target, runtime) = (Target::start(), runtime());
        let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
        runtime.block_on(fill(&client, &target));
        let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
        for id in 0..20_i64 {
            let key = target.key(id);
            let task: LaneTask<()> = lanes.spawn(move |client| async move {
                let policy = reading(20_000, 0);
                let _other = tokio::time::timeout(Duration::ZERO, client.get(&policy, &key, Bins::All)).await;
                panic!("on purpose");
            });
            assert!(matches!(task.wait(), Err(LaneTaskError::Panicked(_))));
            let (client, key) = (client.clone(), target.key(id));
            let task: tokio::task::JoinHandle<()> = runtime.spawn(async move {
                let policy = reading(20_000, 0);
                let _pending = tokio::time::timeout(Duration::ZERO, client.get(&policy, &key, Bins::All)).await;
                panic!("on purpose");
            });
            assert!(runtime.block_on(task).unwrap_err().is_panic());
        }
        runtime.block_on(all_is_well(&client, &target));
    });
}

#[test]
fn dropping_the_last_clone_closes_every_connection() {
    if !on_embedded("counts the connections of nodes") {
        return;
    }
    within(300, || {
        let target = Target::embedded(3);
        let open = || {
            let nodes = target.faults().nodes();
            let stats = nodes.iter().map(|node| target.faults().stats(node.id).unwrap());
            stats.map(|stats| stats.connections_opened - stats.connections_closed).sum::<u64>()
        };
        let runtime = runtime();
        let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
        runtime.block_on(fill(&client, &target));
        let (clone, sync) = (client.clone(), client.sync());
        sync.get(&reading(20_000, 0), &target.key(1), Bins::All).unwrap();
        drop(client);
        // Whatever order they go in, the last one counts.
        runtime.block_on(all_is_well(&clone, &target));
        drop(clone);
        sync.get(&reading(20_000, 0), &target.key(1), Bins::All).unwrap();
        assert!(open() > 0);
        drop(sync);
        until("all connections are closed", || open() == 0);
        // Also from within a task.
        let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
        runtime.block_on(async move {
            tokio::spawn(async move { drop(client) }).await.unwrap();
        });
        until("all connections are closed again", || open() == 0);
    });
}
