use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use aerolane_embedded::EmbeddedCluster;
use aerospike_core::{Bins, ReadPolicy, WritePolicy, as_bin, as_key};

use super::*;
use crate::topology::TopologyBuilder;
use crate::{Client, ClientPolicy, LaneRuntime, LocalClient};

const THREADS: usize = 3;

async fn put_and_get(client: LocalClient) -> tokio::runtime::Id {
    let key = as_key!("test", "lanes", 1);
    for _ in 0..100 {
        client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).await.unwrap();
        client.get(&ReadPolicy::default(), &key, Bins::All).await.unwrap();
    }
    Handle::current().id()
}

/// A lane works while the locks of all other lanes, and the one for changes of the list of lanes, are held by others.
#[test]
fn lanes_share_no_lock() {
    let cluster = EmbeddedCluster::builder().nodes(3).start().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let client = runtime.block_on(Client::new(&ClientPolicy::default(), &cluster.seeds())).unwrap();
    let threads = LaneRuntime::new(&client, NonZeroUsize::new(THREADS).unwrap()).unwrap();
    let ids: Vec<_> = (0..THREADS).map(|thread| threads.spawn_on(thread, put_and_get).wait().unwrap()).collect();
    let lanes = &client.shared.lanes;
    for (thread, id) in ids.into_iter().enumerate() {
        let all = lanes.all.load_full();
        let others: Vec<_> = all.iter().filter(|of| of.runtime != id).flat_map(|of| &of.lanes).collect();
        assert!(others.len() >= THREADS - 1, "{} other lanes", others.len());
        let held: Vec<_> = others.iter().map(|lane| lane.hold()).collect();
        let changes = lanes.changes.lock();
        let (done, over) = mpsc::channel();
        let task = threads.spawn_on(thread, put_and_get);
        std::thread::spawn(move || done.send(task.wait().is_ok()));
        assert_eq!(over.recv_timeout(Duration::from_secs(60)), Ok(true), "thread {thread}");
        drop((held, changes));
    }
}

/// A caller that looks which locks are free when it is woken, and may panic then.
struct Caller {
    lanes: Arc<Lanes>,
    panics: bool,
    woken: AtomicU32,
    locked: AtomicU32,
}

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, Ordering::SeqCst);
        if self.lanes.changes.try_lock().is_none() || self.lanes.active.try_lock().is_none() {
            self.locked.fetch_add(1, Ordering::SeqCst);
        }
        assert!(!self.panics, "on purpose");
    }
}

/// A node leaves while requests wait for connections to it: who is woken may use the client at once, and who panics
/// keeps the news from nobody.
#[test]
fn callers_are_woken_outside_of_locks_when_a_node_leaves() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    // Turns only to connect, and to tell what became of the calls: nothing else opens connections or takes changes in.
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime().block_on(Client::new(&ClientPolicy::default(), &cluster.seeds())).unwrap();
    let lanes = &client.shared.lanes;
    let topology = client.shared.cluster.topology();
    let mut without = TopologyBuilder::new(100, 1, false);
    let host = cluster.seeds();
    let id = without.upsert_node("gone", &host, None, vec![host.parse().unwrap()], vec![]).unwrap();
    without.retain_active(&[]);
    let without = without.snapshot().unwrap();
    assert!(topology.is_active(id) && !without.is_active(id));

    let (policy, key) = (ReadPolicy::default(), as_key!("test", "lanes", 1));
    let runtimes = [runtime(), runtime()];
    let callers = [true, false].map(|panics| {
        let lanes = Arc::clone(lanes);
        Arc::new(Caller { lanes, panics, woken: AtomicU32::new(0), locked: AtomicU32::new(0) })
    });
    let mut first = pin!(client.get(&policy, &key, Bins::All));
    let mut second = pin!(client.get(&policy, &key, Bins::All));
    {
        let _context = runtimes[0].enter();
        let waker = Waker::from(Arc::clone(&callers[0]));
        assert!(matches!(first.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending));
    }
    {
        let _context = runtimes[1].enter();
        let waker = Waker::from(Arc::clone(&callers[1]));
        assert!(matches!(second.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending));
    }
    lanes.follow(&without);
    for caller in &callers {
        assert_eq!(caller.woken.load(Ordering::SeqCst), 1, "panics: {}", caller.panics);
        assert_eq!(caller.locked.load(Ordering::SeqCst), 0, "panics: {}", caller.panics);
    }
    // The node is back, and the lanes know.
    lanes.follow(&topology);
    runtimes[1].block_on(client.get(&policy, &key, Bins::All)).unwrap_err();
    let write = WritePolicy::default();
    runtimes[1].block_on(client.put(&write, &key, &[as_bin!("n", 1)])).unwrap();
}

/// Calls that wait count neither their lane nor their node: all cores would share those counts.
#[test]
fn calls_do_not_count_what_all_threads_share() {
    const CALLS: usize = 100;
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = runtime.block_on(Client::new(&ClientPolicy::default(), &cluster.seeds())).unwrap();
    let (key, policy) = (as_key!("test", "lanes", 1), ReadPolicy::default());
    let all = client.shared.lanes.all.load_full();
    let topology = client.shared.cluster.topology();
    let node = topology.active_nodes().next().unwrap();
    let counts = || {
        let lanes = all.iter().flat_map(|of| &of.lanes).map(Arc::strong_count);
        (all.iter().map(Arc::strong_count).sum::<usize>(), lanes.sum::<usize>(), Arc::strong_count(node))
    };
    let _context = runtime.enter();
    drop(client.shared.lanes.caller_lane().unwrap());
    let before = counts();
    let mut calls: Vec<_> = (0..CALLS).map(|_| Box::pin(client.get(&policy, &key, Bins::All))).collect();
    for call in &mut calls {
        // Submitted, and not looked at again: tasks of the lane may come and go meanwhile, far fewer than the calls.
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let during = counts();
    assert_eq!(during.0, before.0, "the lanes of the runtime");
    assert!(during.1 < before.1 + CALLS / 2, "lanes: {before:?}, {during:?}");
    assert!(during.2 < before.2 + CALLS / 2, "the node: {before:?}, {during:?}");
}

/// A thread that turns one runtime after the other uses the lanes of the present one, and keeps none of those that have ended.
#[test]
fn a_thread_uses_the_lanes_of_the_runtime_that_it_turns() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let client = first.block_on(Client::new(&ClientPolicy::default(), &cluster.seeds())).unwrap();
    let lane = || Ok::<_, Error>(Arc::downgrade(&*client.shared.lanes.caller_lane()?));
    let key = as_key!("test", "lanes", 1);
    let local = tokio::task::LocalSet::new();
    let mut seen = Vec::new();
    for runtime in [&first, &second, &first] {
        local.block_on(runtime, async {
            client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).await.unwrap();
            seen.push(lane().unwrap());
        });
    }
    assert!(seen[0].ptr_eq(&seen[2]) && !seen[0].ptr_eq(&seen[1]));
    drop(second);
    // The next runtime that the thread meets makes it forget those that have ended.
    runtime().block_on(async { lane().unwrap() });
    let limit = std::time::Instant::now() + Duration::from_secs(20);
    while seen[1].strong_count() > 0 {
        assert!(
            std::time::Instant::now() < limit,
            "{} references to a lane of a runtime that has ended",
            seen[1].strong_count()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A worker of a multi-thread runtime that turns another runtime meanwhile gets answers, from whichever lane.
#[test]
fn a_worker_may_turn_another_runtime() {
    let cluster = EmbeddedCluster::builder().nodes(1).start().unwrap();
    let key = as_key!("test", "lanes", 1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (seeds, id) = (cluster.seeds(), runtime.handle().id());
    let (client, lane) = runtime
        .block_on(runtime.spawn(async move {
            let client = Client::new(&ClientPolicy::default(), &seeds).await.unwrap();
            // The only worker polls the connections' tasks.
            while worker::runtime() != Some(id) {
                client.put(&WritePolicy::default(), &key, &[as_bin!("n", 1)]).await.unwrap();
                tokio::task::yield_now().await;
            }
            let lane = Arc::downgrade(&*client.shared.lanes.caller_lane().unwrap());
            tokio::task::block_in_place(|| {
                let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let local = tokio::task::LocalSet::new();
                local.block_on(&other, async {
                    client.put(&WritePolicy::default(), &key, &[as_bin!("n", 2)]).await.unwrap();
                    let call = tokio::task::spawn_local({
                        let (client, key) = (client.clone(), key.clone());
                        async move { client.get(&ReadPolicy::default(), &key, Bins::All).await }
                    });
                    assert_eq!(call.await.unwrap().unwrap().bins["n"], aerospike_core::Value::Int(2));
                });
            });
            (client, lane)
        }))
        .unwrap();
    drop(runtime);
    // This thread never was a worker.
    assert_eq!(worker::runtime(), None);
    let next = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    next.block_on(async {
        client.put(&WritePolicy::default(), &as_key!("test", "lanes", 1), &[as_bin!("n", 3)]).await.unwrap();
    });
    assert!(
        lane.upgrade().is_none_or(|lane| !Arc::ptr_eq(
            &lane,
            &*next.block_on(async { client.shared.lanes.caller_lane().unwrap() })
        ))
    );
}
