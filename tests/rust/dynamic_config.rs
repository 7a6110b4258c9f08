//! Configuration files of clients: what each section changes, on all clients, at once and after a change of the file.

#[path = "common/any_client.rs"]
mod any_client;
mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use aerolane::operations;
use aerolane::raw::RawClient;
use aerolane::{
    BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, ClientConfig, Error,
    ErrorKind, Key, MetricsPolicy, PartitionFilter, PoolSizing, QueryPolicy, ReadPolicy, Replica, ResultCode,
    Statement, SyncClient, Txn, WritePolicy, as_bin,
};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use any_client::{AnyClient, Kind};
use common::{Patient, Target, patient_writes, policy};

/// A file of one test.
struct File(PathBuf);

impl File {
    fn new(dynamic: &str) -> Self {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let name = format!("aerolane-file-{}-{}.yaml", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
        let file = Self(std::env::temp_dir().join(name));
        file.say(dynamic);
        file
    }

    /// As editors do: nobody reads half of it.
    fn write(&self, text: &str) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }

    fn say(&self, dynamic: &str) {
        self.write(&format!("version: 1.0.0\ndynamic: {{{dynamic}}}\n"));
    }

    fn config(&self) -> ClientConfig {
        ClientConfig::from(policy()).with_config_file(self.0.clone())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(50), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a record that is there was not deleted because the embedded cluster, a Community Edition, leaves no tombstones:
/// what tells that `durable_delete` has arrived.
fn durable(deleted: Result<bool, Error>) -> bool {
    match deleted {
        Ok(existed) => {
            assert!(existed);
            false
        }
        Err(error) => {
            assert!(error.matches(&[ResultCode::EnterpriseOnly]), "{error}");
            true
        }
    }
}

/// The records of the test's set as a query sees them: user keys that are stored, and bins.
fn stored(client: &SyncClient, target: &Target) -> Vec<(bool, usize)> {
    let statement = Statement::new(target.namespace(), target.set(), Bins::All);
    let records = client.query(&QueryPolicy::patient(), PartitionFilter::all(), statement).unwrap();
    records
        .map(|record| {
            let record = record.unwrap();
            (record.key.is_some_and(|key| key.user_key().is_some()), record.bins.len())
        })
        .collect()
}

#[test]
fn sections_for_single_records_hold_for_all_clients() {
    for kind in Kind::ALL {
        let target = Target::embedded(1);
        let times = "{total_timeout: 150, max_retries: 0}";
        let file = File::new(&format!("write: {times}, read: {times}"));
        let any_client = AnyClient::open(kind, file.config(), target.seeds()).unwrap();
        let (key, write, read) = (target.key("k"), WritePolicy::patient(), ReadPolicy::patient());
        let stall = FaultRule::new(FaultAction::Stall).on(RequestKind::Read).on(RequestKind::Write);
        target.faults().set_fault(None, &stall).unwrap();
        let bin = [as_bin!("a", 1)];
        let each = [
            any_client.put(&write, &key, &bin),
            any_client.add(&write, &key, &bin),
            any_client.append(&write, &key, &bin),
            any_client.delete(&write, &key).map(drop),
            any_client.touch(&write, &key),
            any_client.operate(&write, &key, &[operations::put(&as_bin!("a", 2))]).map(drop),
            any_client.get(&read, &key, Bins::All).map(drop),
            any_client.exists(&read, &key).map(drop),
        ];
        // With the time of the program each would take a minute.
        for late in each {
            let error = late.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Timeout), "{kind:?}: {error}");
            assert!(error.elapsed().is_none_or(|elapsed| elapsed < Duration::from_secs(30)), "{error:?}");
        }
        target.faults().clear_faults();

        // Another record: the requests that were stalled go on, the delete among them.
        let key = target.key("another");
        file.say("write: {durable_delete: true}");
        let deleted = || {
            // What the file does not say any more is as the program has it, once that has been heard.
            eventually("a write", || any_client.put(&write, &key, &bin).is_ok());
            durable(any_client.delete(&write, &key))
        };
        eventually("the change", deleted);
        assert_eq!(any_client.get(&read, &key, Bins::All).unwrap().bins.len(), 1);
        file.say("");
        eventually("the change", || !deleted());
    }
}

#[test]
fn sections_for_batches_hold_for_all_clients() {
    for kind in Kind::ALL {
        let target = Target::embedded(1);
        let file = File::new("batch_delete: {durable_delete: true}");
        let any_client = AnyClient::open(kind, file.config(), target.seeds()).unwrap();
        let plain = SyncClient::with_config(policy().into(), target.seeds()).unwrap();
        let (write, delete) = (BatchWritePolicy::default(), BatchDeletePolicy::default());
        let put = |id: i64| BatchOperation::write(&write, target.key(id), [operations::put(&as_bin!("a", id))]);
        let remove = |id: i64| BatchOperation::delete(&delete, target.key(id));
        let codes = |rows: Vec<BatchOperation>| -> Vec<_> {
            any_client.batch(&patient_writes(), rows).0.iter().map(|row| row.result_code().unwrap()).collect()
        };
        let refused = ResultCode::EnterpriseOnly;

        // Several rows are a batch, one is a plain command.
        assert_eq!(codes(vec![put(1), put(2)]), [ResultCode::Ok; 2], "{kind:?}");
        assert_eq!(stored(&plain, &target), [(false, 1); 2], "{kind:?}");
        assert_eq!(codes(vec![remove(1), remove(2)]), [refused, refused], "{kind:?}");
        assert_eq!(codes(vec![remove(1)]), [refused], "{kind:?}");

        file.say("batch_write: {send_key: true}");
        eventually("the change", || codes(vec![remove(1), remove(2)]) != [refused, refused]);
        assert_eq!(codes(vec![put(1), put(2)]), [ResultCode::Ok; 2], "{kind:?}");
        assert_eq!(codes(vec![put(3)]), [ResultCode::Ok]);
        assert_eq!(stored(&plain, &target), [(true, 1); 3], "{kind:?}");

        // The batch as a whole, and rows that read over it.
        file.say("batch: {total_timeout: 150, max_retries: 0}");
        target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Batch)).unwrap();
        let read = |id: i64| BatchOperation::read(&BatchReadPolicy::default(), target.key(id), Bins::All);
        eventually("the change", || {
            let impatient = BatchPolicy::default();
            let (_, result) = any_client.batch(&impatient, vec![read(1), read(2)]);
            let error = result.unwrap_err();
            error.elapsed().is_some_and(|elapsed| elapsed < Duration::from_millis(900))
        });
        target.faults().clear_faults();
    }
}

#[test]
fn queries_and_metrics_go_by_the_file() {
    let target = Target::embedded(1);
    let file = File::new(
        "query: {include_bin_data: false}, metrics: {enabled: true, extended: {operational: {enabled: true}}}",
    );
    let client = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let key = target.key("k");
    client.put(&WritePolicy::patient(), &key, &[as_bin!("a", 1)]).unwrap();
    assert_eq!(stored(&client, &target), [(false, 0)]);
    assert!(client.metrics_enabled());
    client.get(&ReadPolicy::patient(), &key, Bins::All).unwrap();
    let gets = |client: &SyncClient| {
        let all = client.metrics().cluster_aggregated;
        all.command_histogram(aerolane::CommandType::Get).map_or(0, aerolane::metrics::Histogram::count)
    };
    assert_eq!(gets(&client), 1, "operational metrics");

    file.say("metrics: {enabled: false}");
    eventually("metrics off", || !client.metrics_enabled());
    assert_eq!(stored(&client, &target), [(false, 1)]);
    // What the program switches stays while the file says nothing else.
    client.enable_metrics(MetricsPolicy::millis());
    file.say("metrics: {enabled: false}, read: {max_retries: 7}");
    std::thread::sleep(Duration::from_millis(2500));
    assert!(client.metrics_enabled());
    file.say("metrics: {enabled: true, labels: {team: a}}");
    eventually("labels", || format!("{:?}", client.metrics().cluster_aggregated.labels).contains("team"));
}

#[test]
fn transactions_end_by_the_file() {
    let target = Target::consistent(1);
    let file = File::new("txn_verify: {max_retries: 0}");
    let client = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let (key, other) = (target.key("k"), target.key("other"));
    client.put(&WritePolicy::patient(), &key, &[as_bin!("a", 1)]).unwrap();
    let fault = |kind| {
        let rule = FaultRule::new(FaultAction::DropBefore).on(kind).times(1);
        target.faults().set_fault(None, &rule).unwrap();
    };
    let commit = |kind: Option<RequestKind>| {
        let txn = Arc::new(Txn::new());
        let (mut read, mut write) = (ReadPolicy::patient(), WritePolicy::patient());
        (read.base_policy.txn, write.base_policy.txn) = (Some(Arc::clone(&txn)), Some(Arc::clone(&txn)));
        client.get(&read, &key, Bins::All).unwrap();
        client.put(&write, &other, &[as_bin!("a", 1)]).unwrap();
        kind.map(fault);
        let result = client.commit(&txn).map(drop);
        target.faults().clear_faults();
        result
    };
    commit(None).unwrap();
    commit(Some(RequestKind::Read)).expect_err("verifying is not tried again");
    commit(Some(RequestKind::Write)).expect("rolling is");
    file.say("txn_roll: {max_retries: 0}");
    eventually("the change", || commit(Some(RequestKind::Read)).is_ok());
    commit(Some(RequestKind::Write)).expect_err("rolling is not tried again");
}

#[test]
fn a_file_that_cannot_be_used_leaves_what_was_read_before() {
    let target = Target::embedded(1);
    let file = File::new("write: {durable_delete: true}");
    let client = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let (key, write) = (target.key("k"), WritePolicy::patient());
    let delete = || {
        client.put(&write, &key, &[as_bin!("a", 1)]).unwrap();
        durable(client.delete(&write, &key))
    };
    let stays = || {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(2200) {
            assert!(delete());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    assert!(delete());
    file.say("write: {durable_delete: perhaps}");
    stays();
    file.write("version: [");
    stays();
    std::fs::remove_file(&file.0).unwrap();
    stays();
    file.say("");
    eventually("the change", || !delete());
}

#[test]
fn a_file_may_come_later_and_says_how_to_connect_when_it_is_there() {
    let target = Target::embedded(1);
    let file = File::new("");
    std::fs::remove_file(&file.0).unwrap();
    let late = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let (key, write) = (target.key("k"), WritePolicy::patient());
    let delete = |client: &SyncClient| {
        client.put(&write, &key, &[as_bin!("a", 1)]).unwrap();
        durable(client.delete(&write, &key))
    };
    assert!(!delete(&late));
    file.write(
        "version: 1.0.0
static: {client: {max_connections_per_node: 3, min_connections_per_node: 2}}
dynamic: {client: {timeout: 7777, max_error_rate: 11}, write: {durable_delete: true}}
",
    );
    eventually("the file", || delete(&late));
    let raw = RawClient::from(&late);
    assert_eq!(raw.cluster().policy().max_conns_per_node, policy().max_conns_per_node, "used when connecting only");
    eventually("the timeout", || raw.cluster().connector().connect_timeout() == Duration::from_millis(7777));
    drop(raw);

    let sizes = PoolSizing::default().with_max(9);
    for config in [file.config(), file.config().with_pool(sizes)] {
        let client = SyncClient::with_config(config, target.seeds()).unwrap();
        let raw = RawClient::from(&client);
        let policy = raw.cluster().policy();
        let read = (policy.max_conns_per_node, policy.min_conns_per_node, policy.timeout, policy.max_error_rate);
        assert_eq!(read, (3, 2, 7777, 11));
        eventually("the pool's minimum", || client.stats().total.open >= 2);
    }

    // What does not go with the program's settings is not used, and the rest is.
    file.write("version: 1\nstatic: {client: {max_connections_per_node: 3}}\ndynamic: {write: {durable_delete: true}}");
    let mut wide = file.config();
    wide.policy.min_conns_per_node = 5;
    let client = SyncClient::with_config(wide, target.seeds()).unwrap();
    assert_eq!(RawClient::from(&client).cluster().policy().max_conns_per_node, policy().max_conns_per_node);
    assert!(delete(&client));
}

/// How many requests went to each node meanwhile, by the port.
fn requests(client: &SyncClient) -> Vec<u64> {
    let mut nodes = client.stats().nodes;
    nodes.sort_by_key(|node| node.name.clone());
    nodes.iter().map(|node| node.connections.requests).collect()
}

#[test]
fn racks_are_preferred_from_when_the_file_says_so() {
    let embedded = EmbeddedCluster::builder().nodes(2).racks([4, 9]).start().unwrap();
    // Connected with racks, and without.
    for program in [None, Some(vec![4])] {
        let file = File::new("");
        let mut config = file.config();
        config.policy.rack_ids.clone_from(&program);
        let client = SyncClient::with_config(config, &embedded.seeds()).unwrap();
        let mut read = ReadPolicy::patient();
        read.base_policy.replica = Replica::PreferRack;
        let keys: Vec<_> = (0..20_i64).map(|id| Key::new("test", "racks", id.into()).unwrap()).collect();
        let reads = || {
            let before = requests(&client);
            let found: Result<Vec<_>, _> = keys.iter().map(|key| client.exists(&read, key)).collect();
            let after = requests(&client);
            found.map(|_| [after[0] - before[0], after[1] - before[1]])
        };
        let as_programmed = || match &program {
            None => reads().is_err_and(|error| error.to_string().contains("rack_ids")),
            Some(_) => reads().is_ok_and(|went| went == [20, 0]),
        };
        eventually("what the program says", as_programmed);
        file.say("client: {rack_ids: [9]}");
        eventually("the second rack", || reads().is_ok_and(|went| went == [0, 20]));
        file.say("client: {rack_ids: [7, 4]}");
        eventually("the first rack", || reads().is_ok_and(|went| went == [20, 0]));
        // What it does not say any more is as the program has it.
        file.say("");
        eventually("what the program says", as_programmed);
    }
    // A server without racks: none is preferred, and nothing fails.
    let target = Target::embedded(2);
    let file = File::new("");
    let client = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let mut read = ReadPolicy::patient();
    read.base_policy.replica = Replica::PreferRack;
    file.say("client: {rack_ids: [9]}");
    eventually("racks", || client.exists(&read, &target.key("k")).is_ok());
}

#[test]
fn the_breaker_goes_by_the_file() {
    for kind in Kind::ALL {
        let target = Target::embedded(1);
        let file = File::new("");
        let any_client = AnyClient::open(kind, file.config(), target.seeds()).unwrap();
        let busy = FaultRule::new(FaultAction::Result(14)).on(RequestKind::Read);
        let mut read = ReadPolicy::patient();
        read.base_policy.max_retries = 0;
        let get = || any_client.get(&read, &target.key("k"), Bins::All).unwrap_err();
        target.faults().set_fault(None, &busy).unwrap();
        for _ in 0..20 {
            assert!(get().matches(&[ResultCode::KeyBusy]), "the program takes a hundred");
        }
        file.say("client: {max_error_rate: 3, error_rate_window: 100000}");
        eventually("an open breaker", || matches!(get().kind(), ErrorKind::MaxErrorRate));
        target.faults().clear_faults();
        // The window does not end.
        std::thread::sleep(Duration::from_millis(600));
        assert!(matches!(get().kind(), ErrorKind::MaxErrorRate), "{kind:?}");
        file.say("client: {max_error_rate: 0}");
        eventually("no breaker", || get().matches(&[ResultCode::KeyNotFoundError]));
        file.say("client: {max_error_rate: 1}");
        target.faults().set_fault(None, &busy).unwrap();
        eventually("a breaker again", || matches!(get().kind(), ErrorKind::MaxErrorRate));
        file.say("");
        eventually("the program's", || get().matches(&[ResultCode::KeyBusy]));
    }
}

#[test]
fn idle_connections_are_closed_by_the_file() {
    for kind in Kind::ALL {
        let target = Target::embedded(1);
        let file = File::new("");
        let sizes = PoolSizing::default().with_min(0);
        let any_client = AnyClient::open(kind, file.config().with_pool(sizes), target.seeds()).unwrap();
        any_client.exists(&ReadPolicy::patient(), &target.key("k")).unwrap();
        let open = || any_client.stats().total.open;
        std::thread::sleep(Duration::from_millis(2500));
        assert!(open() > 0, "{kind:?}: they are kept for most of a minute");
        file.say("client: {max_socket_idle: 1}");
        let begun = Instant::now();
        eventually("no connections", || open() == 0);
        assert!(begun.elapsed() < Duration::from_secs(40), "{kind:?}");
        any_client.exists(&ReadPolicy::patient(), &target.key("k")).unwrap();
    }
}

#[test]
fn settings_of_the_client_that_do_not_go_together_are_not_used() {
    let target = Target::embedded(1);
    let file = File::new("client: {timeout: 5000, login_timeout: 6000}, write: {durable_delete: true}");
    let client = SyncClient::with_config(file.config(), target.seeds()).unwrap();
    let raw = RawClient::from(&client);
    let limits = || (raw.cluster().connector().connect_timeout(), raw.cluster().connector().login_timeout());
    let seconds = |connect, login| (Duration::from_secs(connect), Duration::from_secs(login));
    assert_eq!(limits(), seconds(5, 6));
    let (key, write) = (target.key("k"), WritePolicy::patient());
    let delete = || {
        client.put(&write, &key, &[as_bin!("a", 1)]).unwrap();
        durable(client.delete(&write, &key))
    };
    assert!(delete());
    file.say("client: {timeout: 0, login_timeout: 9000}");
    eventually("the rest of the change", || !delete());
    assert_eq!(limits(), seconds(5, 6), "a timeout of 0 is refused");
    file.say("client: {login_timeout: 9000}");
    eventually("the change", || limits() == seconds(20, 9));
    client.put(&write, &key, &[as_bin!("a", 1)]).unwrap();
}
