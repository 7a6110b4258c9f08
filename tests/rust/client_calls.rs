//! Every single-record method, `operate`, and the delegated methods, through each of the three clients.

use std::num::NonZeroUsize;

use crate::common::{Patient, Target, policy};
use aerolane::operations::{self, lists};
use aerolane::{
    AdminPolicy, Bins, Client, ErrorKind, ListPolicy, PartitionFilter, QueryPolicy, ReadPolicy, RecordExistsAction,
    ResultCode, Statement, SyncClient, Value, WritePolicy, as_bin,
};

/// The same calls for async (`(.await)`) and blocking (`()`) clients.
macro_rules! single_record_calls {
    ($client:expr, $target:expr, ($($wait:tt)*)) => {{
        let (client, target) = (&$client, &$target);
        let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
        let key = target.key("alice");

        let missing = client.get(&read, &key, Bins::All)$($wait)*.unwrap_err();
        assert!(missing.is_not_found(), "{missing}");
        assert!(missing.node().is_some() && missing.attempts() == 1, "{missing:?}");
        assert!(!client.exists(&read, &key)$($wait)*.unwrap());
        assert!(!client.delete(&write, &key)$($wait)*.unwrap());
        assert!(client.touch(&write, &key)$($wait)*.unwrap_err().is_not_found());

        client.put(&write, &key, &[as_bin!("n", 7), as_bin!("s", "b"), as_bin!("f", 1.5)])$($wait)*.unwrap();
        client.add(&write, &key, &[as_bin!("n", 35)])$($wait)*.unwrap();
        client.append(&write, &key, &[as_bin!("s", "c")])$($wait)*.unwrap();
        client.prepend(&write, &key, &[as_bin!("s", "a")])$($wait)*.unwrap();
        client.touch(&write, &key)$($wait)*.unwrap();
        assert!(client.exists(&read, &key)$($wait)*.unwrap());

        let record = client.get(&read, &key, Bins::All)$($wait)*.unwrap();
        assert_eq!(record.generation, 5);
        assert_eq!(record.bins.len(), 3);
        assert_eq!(record.bins["n"], Value::Int(42));
        assert_eq!(record.bins["s"], Value::from("abc"));
        assert_eq!(record.bins["f"], Value::from(1.5));
        let some = client.get(&read, &key, Bins::from(["n", "absent"]))$($wait)*.unwrap();
        assert_eq!(some.bins.keys().collect::<Vec<_>>(), ["n"]);
        let header = client.get(&read, &key, Bins::None)$($wait)*.unwrap();
        assert_eq!((header.bins.len(), header.generation), (0, 5));

        let operations = [
            operations::add(&as_bin!("n", 1)),
            operations::get_bin("n"),
            operations::put(&as_bin!("new", "x")),
            operations::get_bin("new"),
        ];
        let record = client.operate(&write, &key, &operations)$($wait)*.unwrap();
        // As in aerospike-core: all results of a bin, those without a value too.
        assert_eq!(record.bins["n"], Value::MultiResult(vec![Value::Nil, Value::Int(43)]));
        assert_eq!(record.bins["new"], Value::MultiResult(vec![Value::Nil, Value::from("x")]));
        // Collection operations beside scalar ones.
        let operations = [
            lists::append(&ListPolicy::default(), "list", Value::from(1)),
            lists::append(&ListPolicy::default(), "list", Value::from(2)),
            operations::get_bin("n"),
        ];
        assert_eq!(client.operate(&write, &key, &operations)$($wait)*.unwrap().bins["n"], Value::Int(43));
        let record = client.get(&read, &key, Bins::from(["list"]))$($wait)*.unwrap();
        assert_eq!(record.bins["list"], Value::List(vec![Value::Int(1), Value::Int(2)]));

        let create = WritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..WritePolicy::patient() };
        let error = client.put(&create, &key, &[as_bin!("n", 1)])$($wait)*.unwrap_err();
        assert_eq!(error.server_result_code(), Some(ResultCode::KeyExistsError));
        assert!(!error.in_doubt());
        let error = client.append(&write, &key, &[as_bin!("n", "text")])$($wait)*.unwrap_err();
        assert_eq!(error.server_result_code(), Some(ResultCode::BinTypeError), "{error}");
        let error = client.put(&write, &key, &[as_bin!("a name that is too long", 1)])$($wait)*.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
        let elsewhere = aerolane::Key::new("no-such-ns", "s", Value::Int(1)).unwrap();
        let error = client.get(&read, &elsewhere, Bins::All)$($wait)*.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidNamespace), "{error:?}");

        assert!(client.delete(&write, &key)$($wait)*.unwrap());
        assert!(!client.exists(&read, &key)$($wait)*.unwrap());

        // Large values take several reads and writes.
        let big = "x".repeat(600_000);
        client.put(&write, &key, &[as_bin!("big", big.as_str())])$($wait)*.unwrap();
        let record = client.get(&read, &key, Bins::All)$($wait)*.unwrap();
        assert_eq!(record.bins["big"], Value::from(big));
        assert!(client.delete(&write, &key)$($wait)*.unwrap());
    }};
}

macro_rules! delegated_calls {
    ($client:expr, $target:expr, ($($wait:tt)*)) => {{
        let (client, target) = (&$client, &$target);
        assert!(client.is_connected());
        let names = client.node_names();
        assert_eq!(names.len(), client.nodes().len());
        assert_eq!(client.get_node(&names[0]).unwrap().name(), names[0]);
        assert!(names.contains(&client.random_node().unwrap().name().to_owned()));
        assert!(client.get_node("no such node").is_err());
        let answer = client.info(&AdminPolicy::patient(), &["node"])$($wait)*.unwrap();
        assert!(names.contains(&answer["node"]), "{answer:?}");
        assert_eq!(client.is_strong_consistency(target.namespace()), Some(false));
        let error = client.drop_user(&AdminPolicy::patient(), "nobody")$($wait)*.unwrap_err();
        assert!(error.server_result_code().is_some(), "{error:?}");

        for id in 0..10 {
            client.put(&WritePolicy::patient(), &target.key(id), &[as_bin!("id", id)])$($wait)*.unwrap();
        }
        client.truncate(&AdminPolicy::patient(), target.namespace(), target.set(), 0)$($wait)*.unwrap();
        let stats = client.stats();
        assert!(stats.total.requests >= 10 && stats.total.bytes_sent > 500, "{stats}");
        assert_eq!(stats.total.in_flight, 0, "{stats}");
        assert_eq!(stats.nodes.len(), names.len());
    }};
}

#[tokio::test(flavor = "multi_thread")]
async fn async_client() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    single_record_calls!(client, target, (.await));
    delegated_calls!(client, target, (.await));
    client.close().await.unwrap();
    let error = client.get(&ReadPolicy::patient(), &target.key(1), Bins::All).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
    let error = client.info(&AdminPolicy::patient(), &["node"]).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
    assert!(!client.is_connected());
    client.close().await.unwrap();
}

#[tokio::test]
async fn async_client_on_a_current_thread_runtime_and_its_futures_are_send() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let target = Target::start();
    let client = assert_send(Client::new(&policy(), target.seeds())).await.unwrap();
    single_record_calls!(client, target, (.await));
    let (read, key) = (ReadPolicy::patient(), target.key(1));
    drop(assert_send(client.get(&read, &key, Bins::All)));
    let batch = aerolane::BatchPolicy::patient();
    drop(assert_send(client.batch(&batch, &mut [])));
    drop(assert_send(client.close()));
}

#[test]
fn local_client() {
    let target = Target::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
    let lanes = aerolane::LaneRuntime::new(&client, NonZeroUsize::new(2).unwrap()).unwrap();
    let target = lanes.spawn(move |client| async move {
        single_record_calls!(client, target, (.await));
        delegated_calls!(client, target, (.await));
        target
    });
    drop(target.wait().unwrap());
}

#[test]
fn sync_client() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    single_record_calls!(client, target, ());
    delegated_calls!(client, target, ());
    client.close().unwrap();
    let error = client.get(&ReadPolicy::patient(), &target.key(1), Bins::All).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
    let error = client.info(&AdminPolicy::patient(), &["node"]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
}

#[test]
fn sync_and_async_share_a_cluster() {
    let target = Target::start();
    let sync = SyncClient::new(&policy(), target.seeds()).unwrap();
    let client = Client::from(&sync);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let key = target.key("shared");
    sync.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
    let record = runtime.block_on(client.get(&ReadPolicy::patient(), &key, Bins::All)).unwrap();
    assert_eq!(record.bins["n"], Value::Int(1));
    client.sync().delete(&WritePolicy::patient(), &key).unwrap();
    sync.close().unwrap();
    let error = runtime.block_on(client.get(&ReadPolicy::patient(), &key, Bins::All)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
}

#[test]
fn sync_scan_without_a_runtime() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let write = WritePolicy { send_key: true, ..WritePolicy::patient() };
    for id in 0..100 {
        client.put(&write, &target.key(id), &[as_bin!("id", id)]).unwrap();
    }
    let scan = || Statement::new(target.namespace(), target.set(), Bins::All);
    let mut ids: Vec<Value> = client
        .query(&QueryPolicy::patient(), PartitionFilter::all(), scan())
        .unwrap()
        .map(|record| record.unwrap().bins["id"].clone())
        .collect();
    ids.sort_by_key(|id| if let Value::Int(id) = id { *id } else { panic!("{id:?}") });
    assert_eq!(ids, (0..100).map(Value::Int).collect::<Vec<_>>());
    let mut seen = 0;
    client
        .query_foreach(&QueryPolicy::patient(), PartitionFilter::all(), scan(), |record| {
            record.unwrap();
            seen += 1;
            seen < 5
        })
        .unwrap();
    assert_eq!(seen, 5);
}

#[test]
fn many_threads_get_their_own_answers() {
    let target = Target::start();
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..16_i64 {
            let (client, target) = (client.clone(), &target);
            scope.spawn(move || {
                for round in 0..50_i64 {
                    let id = thread * 1000 + round;
                    let key = target.key(id);
                    client.put(&WritePolicy::patient(), &key, &[as_bin!("id", id)]).unwrap();
                    let record = client.get(&ReadPolicy::patient(), &key, Bins::All).unwrap();
                    assert_eq!(record.bins["id"], Value::Int(id));
                }
            });
        }
    });
    let stats = client.stats();
    assert_eq!((stats.total.requests, stats.total.answers, stats.total.timeouts), (1600, 1600, 0), "{stats}");
    assert_eq!((stats.total.busy, stats.total.queued), (0, 0), "{stats}");
}
