//! Schedules: steps happen when they are to, and a client that sends one request after the other sees the same each time.

use crate::common::{Raw, digest};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::schedule::{Schedule, Trigger};
use aerolane_embedded::{ClusterError, EmbeddedCluster, NodeId};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn cluster(nodes: usize) -> Arc<EmbeddedCluster> {
    Arc::new(EmbeddedCluster::builder().nodes(nodes).start().unwrap())
}

#[test]
fn a_node_leaves_after_so_many_writes_and_comes_back() {
    let cluster = cluster(3);
    let nodes = cluster.nodes();
    let away = nodes[1].id;
    let (leave, returns) = (Trigger::requests(20).on(RequestKind::Write), Trigger::requests(5).on(RequestKind::Read));
    let schedule = Schedule::new()
        .then(leave, move |cluster| cluster.stop_node(away))
        .then(returns, move |cluster| cluster.start_node(away));
    let running = cluster.run(schedule).unwrap();
    let mut raw = Raw::connect(nodes[0].address);
    let is_live = || cluster.nodes()[1].live;
    for n in 0..20 {
        assert!(is_live());
        // Reads are not what the first step counts.
        raw.get(digest(1, n)).unwrap();
        assert_eq!(raw.put(digest(1, n), 1).unwrap().code, 0, "the answer is sent before the step");
    }
    // It is answered when the step is done.
    raw.info("status");
    assert!(!is_live() && running.steps_done() == 1);
    for n in 0..5 {
        assert!(!is_live());
        assert_eq!(raw.get(digest(1, n)).unwrap().code, 0);
    }
    assert!(running.wait(PATIENCE));
    assert!(is_live() && running.steps_done() == 2 && running.error().is_none());
}

#[test]
fn the_node_of_the_last_request_may_be_stopped() {
    let cluster = cluster(1);
    let node = cluster.nodes()[0];
    let leave = Trigger::requests(3).on(RequestKind::Write).node(node.id);
    let running = cluster.run(Schedule::new().then(leave, move |cluster| cluster.stop_node(node.id))).unwrap();
    let mut raw = Raw::connect(node.address);
    for n in 0..3 {
        assert_eq!(raw.put(digest(1, n), 1).unwrap().code, 0);
    }
    assert!(raw.rest().0.is_empty());
    assert!(running.wait(PATIENCE) && !cluster.nodes()[0].live);
}

#[test]
fn steps_are_about_faults_too_and_count_on_while_these_are_cleared() {
    let cluster = cluster(1);
    let rule = FaultRule::new(FaultAction::Result(9)).times(2);
    let schedule = Schedule::new()
        .then(Trigger::requests(2), move |cluster| cluster.set_fault(None, &rule).map(drop))
        .then(Trigger::time(Duration::ZERO), |_| Ok::<(), ClusterError>(()));
    let running = cluster.run(schedule).unwrap();
    let mut raw = Raw::connect(cluster.nodes()[0].address);
    let mut code = || raw.get(digest(1, 1)).unwrap().code;
    assert_eq!(code(), 2);
    cluster.clear_faults();
    assert_eq!([code(), code(), code(), code()], [2, 9, 9, 2]);
    assert!(running.wait(PATIENCE));
    assert_eq!(running.steps_done(), 2);
}

#[test]
fn a_step_that_fails_ends_a_schedule_and_so_does_the_cluster() {
    let cluster = cluster(1);
    let nobody: NodeId = "ABC".parse().unwrap();
    let now = || Trigger::time(Duration::ZERO);
    let failing = Schedule::new()
        .then(now(), move |cluster| cluster.stop_node(nobody))
        .then(now(), |_| Err::<(), String>("not reached".to_owned()));
    let failed = cluster.run(failing).unwrap();
    assert!(failed.wait(PATIENCE));
    assert_eq!((failed.steps_done(), failed.error().as_deref()), (0, Some("the cluster has no node ABC")));
    let unknown = Schedule::new().then(Trigger::requests(1).node(nobody), |_| Ok::<(), ClusterError>(()));
    assert!(matches!(cluster.run(unknown), Err(ClusterError::UnknownNode(_))));
    let never = || Schedule::new().then(Trigger::time(Duration::MAX), |_| Ok::<(), ClusterError>(()));
    let cancelled = cluster.run(never()).unwrap();
    assert!(!cancelled.is_over());
    cancelled.cancel();
    assert!(cancelled.wait(PATIENCE));
    let left = cluster.run(never()).unwrap();
    drop(cluster);
    assert!(left.wait(PATIENCE) && left.steps_done() == 0);
    assert!(self::cluster(1).run(Schedule::new()).unwrap().is_over());
}
