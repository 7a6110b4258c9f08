//! What the client logs: events of `tracing`, which reach the `log` crate while there is no subscriber. A program of its
//! own, because a logger is for the whole process.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use aerolane::{AuthMode, Bins, Client, ClientPolicy, ErrorKind, ReadPolicy, WritePolicy, as_bin, as_key};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// Keeps all records of the client.
struct Kept(Mutex<Vec<(String, String)>>);

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

impl log::Log for Kept {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.target().starts_with("aerolane::") {
            self.0.lock().unwrap().push((record.target().to_owned(), record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// The records of a target that begin with this text.
fn kept(target: &str, text: &str) -> Vec<String> {
    let all = KEPT.0.lock().unwrap();
    all.iter().filter(|(at, said)| at == target && said.starts_with(text)).map(|(_, said)| said.clone()).collect()
}

/// Waits for a record, and returns it.
async fn wait_for(target: &str, text: &str) -> String {
    let start = Instant::now();
    loop {
        if let Some(found) = kept(target, text).pop() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "no {text:?} of {target}: {:?}", KEPT.0.lock().unwrap());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_to_connections_nodes_and_calls_is_logged() {
    log::set_logger(&KEPT).unwrap();
    log::set_max_level(log::LevelFilter::Debug);
    let cluster = EmbeddedCluster::builder().user("ada", "open-sesame").start().unwrap();
    let mut policy = ClientPolicy { max_error_rate: 2, error_rate_window: 5, ..ClientPolicy::default() };
    policy.auth_mode = AuthMode::Internal("ada".into(), "open-sesame".into());
    let client = Client::new(&policy, &cluster.seeds()).await.unwrap();
    let node = cluster.nodes()[0].id;
    let key = as_key!("test", "demo", "alice");
    client.put(&WritePolicy::default(), &key, &[as_bin!("secret", "swordfish")]).await.unwrap();

    let added = wait_for("aerolane::topology::builder", "node added to the cluster node=").await;
    let label = added.split_once("node=").unwrap().1.to_owned();
    let opened = wait_for("aerolane::connect", "connection opened").await;
    assert!(opened.contains(&format!("node={label} took_ms=")), "{opened}");
    assert_eq!(kept("aerolane::client::attempts", ""), [""; 0], "a call that succeeds at once logs nothing");

    // An answer is lost: the call is retried.
    let lose = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Read);
    cluster.set_fault(None, &lose.clone().times(1)).unwrap();
    client.get(&ReadPolicy::default(), &key, Bins::All).await.unwrap();
    let retried = wait_for("aerolane::client::attempts", "call is retried").await;
    for part in [
        &*label,
        "namespace=test",
        "set=demo",
        "command=Get",
        "attempt=1",
        "phase=",
        "elapsed_ms=",
        "pause_ms=",
        "error=",
    ] {
        assert!(retried.contains(part), "{part:?} in {retried}");
    }
    let closed = wait_for("aerolane::driver", "connection closed").await;
    assert!(closed.contains(&label) && closed.contains("reason=lost: "), "{closed}");

    // The node only fails: the circuit breaker opens, and closes again.
    cluster.set_fault(None, &lose).unwrap();
    let mut once = ReadPolicy::default();
    once.base_policy.max_retries = 0;
    loop {
        let error = client.get(&once, &key, Bins::All).await.unwrap_err();
        if matches!(error.kind(), ErrorKind::MaxErrorRate) {
            break;
        }
    }
    assert!(wait_for("aerolane::topology::node", "circuit breaker opened").await.contains(&label));
    cluster.clear_faults();
    assert!(wait_for("aerolane::topology::builder", "circuit breaker closed").await.contains(&label));

    // The node goes away, and comes back.
    cluster.stop_node(node).unwrap();
    assert!(client.get(&once, &key, Bins::All).await.is_err());
    let unreachable = wait_for("aerolane::connect", "node cannot be reached").await;
    assert!(unreachable.contains(&label) && unreachable.contains("error="), "{unreachable}");
    assert!(wait_for("aerolane::connect", "connection could not be opened").await.contains(&label));
    cluster.start_node(node).unwrap();
    let start = Instant::now();
    while let Err(error) = client.put(&WritePolicy::default(), &key, &[as_bin!("secret", "swordfish")]).await {
        assert!(start.elapsed() < Duration::from_secs(30), "the node is not found again: {error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(wait_for("aerolane::connect", "node can be reached again").await.contains(&label));

    client.close().await.unwrap();
    for (target, said) in &*KEPT.0.lock().unwrap() {
        assert!(!said.contains("open-sesame") && !said.contains("swordfish"), "{target}: {said}");
    }
}
