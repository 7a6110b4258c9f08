//! Transactions through each of the three clients, on an embedded cluster in strong-consistency mode (there is no
//! Community Edition with transactions; what that one answers is in `a_server_without_transactions`).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{Patient, Target, patient_writes, policy, reading, writing};
use aerolane::operations::{self, lists, maps};
use aerolane::{
    AbortStatus, AdminPolicy, BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins,
    Client, ClientResultCode, CommitErrorType, CommitStatus, Error, ErrorKind, GenerationPolicy, Key, LaneRuntime,
    ListPolicy, ListReturnType, MapPolicy, PartitionFilter, QueryPolicy, ReadPolicy, ResultCode, Statement, SyncClient,
    Txn, TxnState, UdfLang, Value, WritePolicy, as_bin, as_val, as_values,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
use aerolane_wire::digest::partition_id;

fn batching(txn: &Arc<Txn>) -> BatchPolicy {
    let mut policy = patient_writes();
    policy.base_policy.txn = Some(Arc::clone(txn));
    policy
}

fn is(error: &Error, code: ResultCode) {
    assert!(error.matches(&[code]), "{code:?} expected: {error}");
}

const MODULE: &[u8] = b"function set(rec, v) rec.v = v; if aerospike:exists(rec) then aerospike:update(rec) else \
    aerospike:create(rec) end; return v end function get(rec) return rec.v end function fail(rec) error('no') end";

/// The same scenario for async (`(.await)`) and blocking (`()`) clients.
macro_rules! scenario {
    ($client:expr, $target:expr, ($($wait:tt)*)) => {{
        let (client, target) = (&$client, &$target);
        let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
        let [a, b, c, gone] = ["a", "b", "c", "gone"].map(|name| target.key(name));
        for commits in [true, false] {
            client.put(&write, &a, &[as_bin!("n", 1), as_bin!("s", "b")])$($wait)*.unwrap();
            client.put(&write, &gone, &[as_bin!("n", 1)])$($wait)*.unwrap();
            let txn = Arc::new(Txn::new());
            let (inside, reads) = (writing(&txn), reading(&txn));
            client.put(&inside, &a, &[as_bin!("n", 2)])$($wait)*.unwrap();
            client.add(&inside, &a, &[as_bin!("n", 40)])$($wait)*.unwrap();
            client.append(&inside, &a, &[as_bin!("s", "c")])$($wait)*.unwrap();
            client.prepend(&inside, &a, &[as_bin!("s", "a")])$($wait)*.unwrap();
            client.touch(&inside, &a)$($wait)*.unwrap();
            assert!(client.delete(&inside, &gone)$($wait)*.unwrap());
            assert!(!client.delete(&inside, &gone)$($wait)*.unwrap());
            let record = client.operate(&inside, &b, &[
                lists::append_items(&ListPolicy::default(), "l", as_values![3, 1, 2]),
                lists::get_by_rank("l", -1, ListReturnType::VALUES),
                maps::put(&MapPolicy::default(), "m", Value::from("k"), Value::from(7)),
                operations::put(&as_bin!("n", 5)),
                operations::get_bin("n"),
            ])$($wait)*.unwrap();
            assert_eq!(record.bins["l"], Value::MultiResult(as_values![3, 3]));
            let returned = client.execute_udf(&inside, &c, "txn", "set", &as_values![9])$($wait)*.unwrap();
            assert_eq!(returned, Some(Value::Int(9)));
            assert_eq!(client.execute_udf(&inside, &c, "txn", "get", &[])$($wait)*.unwrap(), Some(Value::Int(9)));
            let failed = client.execute_udf(&inside, &c, "txn", "fail", &[])$($wait)*.unwrap_err();
            assert!(matches!(failed.kind(), ErrorKind::UdfBadResponse) && failed.to_string().contains("no"), "{failed}");

            // Inside it is so, for everyone else it is not.
            let record = client.get(&reads, &a, Bins::All)$($wait)*.unwrap();
            assert_eq!((&record.bins["n"], &record.bins["s"]), (&Value::Int(42), &Value::from("abc")));
            assert!(client.exists(&reads, &b)$($wait)*.unwrap() && !client.exists(&reads, &gone)$($wait)*.unwrap());
            assert_eq!(client.get(&read, &a, Bins::All)$($wait)*.unwrap().bins["n"], Value::Int(1));
            assert!(!client.exists(&read, &b)$($wait)*.unwrap() && client.exists(&read, &gone)$($wait)*.unwrap());
            assert!(!client.exists(&read, &c)$($wait)*.unwrap());
            is(&client.put(&write, &b, &[as_bin!("n", 0)])$($wait)*.unwrap_err(), ResultCode::MrtBlocked);
            assert_eq!(aerolane::raw::txn_namespace(&txn).as_deref(), Some(target.namespace()));

            if commits {
                assert_eq!(client.commit(&txn)$($wait)*.unwrap(), CommitStatus::Ok);
                assert_eq!(client.commit(&txn)$($wait)*.unwrap(), CommitStatus::AlreadyCommitted);
                is(&client.abort(&txn)$($wait)*.unwrap_err(), ResultCode::MrtCommitted);
                assert_eq!(client.get(&read, &a, Bins::All)$($wait)*.unwrap().bins["n"], Value::Int(42));
                assert_eq!(client.get(&read, &c, Bins::All)$($wait)*.unwrap().bins["v"], Value::Int(9));
                assert!(!client.exists(&read, &gone)$($wait)*.unwrap());
                let durable = WritePolicy { durable_delete: true, ..WritePolicy::patient() };
                assert!(client.delete(&durable, &b)$($wait)*.unwrap() && client.delete(&durable, &c)$($wait)*.unwrap());
            } else {
                assert_eq!(client.abort(&txn)$($wait)*.unwrap(), AbortStatus::Ok);
                assert_eq!(client.abort(&txn)$($wait)*.unwrap(), AbortStatus::AlreadyAborted);
                is(&client.commit(&txn)$($wait)*.unwrap_err(), ResultCode::MrtAborted);
                assert_eq!(client.get(&read, &a, Bins::All)$($wait)*.unwrap().bins["n"], Value::Int(1));
                assert!(!client.exists(&read, &b)$($wait)*.unwrap() && !client.exists(&read, &c)$($wait)*.unwrap());
                assert!(client.exists(&read, &gone)$($wait)*.unwrap());
            }
            let late = client.get(&reads, &a, Bins::All)$($wait)*.unwrap_err();
            assert!(late.to_string().contains("ended"), "{late}");
            assert_eq!(aerolane::raw::txn_namespace(&txn), None);
        }

        // Batches: rows of all kinds, many nodes, and a row that is alone.
        let keys: Vec<Key> = (0..30).map(|id| target.key(id)).collect();
        let [put, list] = [operations::put(&as_bin!("n", 1)),
            lists::append(&ListPolicy::default(), "l", Value::from("x"))];
        for commits in [true, false] {
            let txn = Arc::new(Txn::new());
            let policy = batching(&txn);
            let row = |key: &Key| BatchOperation::write(&BatchWritePolicy::default(), key.clone(), [put.clone(), list.clone()]);
            let mut rows: Vec<_> = keys.iter().map(row).collect();
            rows.push(BatchOperation::udf(&Default::default(), target.key("udf"), "txn", "set", as_values![3]));
            client.batch(&policy, &mut rows)$($wait)*.unwrap();
            assert!(rows.iter().all(|row| row.result_code() == Some(ResultCode::Ok)), "{rows:?}");
            let read = BatchReadPolicy::default();
            let mut rows: Vec<_> =
                keys.iter().map(|key| BatchOperation::read(&read, key.clone(), Bins::All)).collect();
            rows.push(BatchOperation::read(&read, target.key("missing"), Bins::All));
            client.batch(&policy, &mut rows)$($wait)*.unwrap();
            for row in &rows[..30] {
                assert_eq!(row.record().unwrap().bins["l"], Value::List(as_values!["x"]));
            }
            is(rows[30].error().unwrap(), ResultCode::KeyNotFoundError);
            let delete = BatchDeletePolicy { durable_delete: true, ..BatchDeletePolicy::default() };
            let mut alone = [BatchOperation::delete(&delete, keys[0].clone())];
            client.batch(&policy, &mut alone)$($wait)*.unwrap();
            assert_eq!(alone[0].result_code(), Some(ResultCode::Ok));
            assert!(!client.exists(&ReadPolicy::patient(), &keys[5])$($wait)*.unwrap());
            if commits {
                client.commit(&txn)$($wait)*.unwrap();
            } else {
                assert_eq!(client.abort(&txn)$($wait)*.unwrap(), AbortStatus::Ok);
            }
            let plain = ReadPolicy::patient();
            assert_eq!(client.exists(&plain, &keys[5])$($wait)*.unwrap(), commits);
            assert_eq!(client.exists(&plain, &target.key("udf"))$($wait)*.unwrap(), commits);
            assert!(!client.exists(&plain, &keys[0])$($wait)*.unwrap());
            for key in keys.iter().chain([&target.key("udf")]).filter(|_| commits) {
                let durable = WritePolicy { durable_delete: true, ..WritePolicy::patient() };
                client.delete(&durable, key)$($wait)*.unwrap();
            }
        }

        // What cannot belong to one is refused, and never left out silently.
        let txn = Arc::new(Txn::new());
        let mut query = QueryPolicy::patient();
        query.base_policy.txn = Some(Arc::clone(&txn));
        let statement = || Statement::new(target.namespace(), target.set(), Bins::All);
        let theirs = [operations::Operation::from(aerospike_core::operations::get_bin("n"))];
        let mut row = [BatchOperation::read_ops(&BatchReadPolicy::default(), a.clone(), theirs.to_vec())];
        for refused in [
            client.query(&query, PartitionFilter::all(), statement())$($wait)*.map(drop).unwrap_err(),
            client.query_operate(&writing(&txn), statement())$($wait)*.map(drop).unwrap_err(),
            client.query_execute_udf(&writing(&txn), statement(), "txn", "get", &[])$($wait)*.map(drop).unwrap_err(),
            client.operate(&writing(&txn), &a, &theirs)$($wait)*.map(drop).unwrap_err(),
            client.batch(&batching(&txn), &mut row)$($wait)*.unwrap_err(),
        ] {
            assert!(matches!(refused.kind(), ErrorKind::InvalidArgument), "{refused}");
            assert!(refused.to_string().contains("transaction"), "{refused}");
        }
        assert_eq!(aerolane::raw::txn_namespace(&txn), None);
        client.get(&reading(&txn), &a, Bins::All)$($wait)*.unwrap();
        let elsewhere = Key::new("other", target.set(), Value::from(1)).unwrap();
        let refused = client.put(&writing(&txn), &elsewhere, &[as_bin!("n", 1)])$($wait)*.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::InvalidArgument), "{refused}");
        assert_eq!(client.commit(&txn)$($wait)*.unwrap(), CommitStatus::Ok);
    }};
}

async fn prepared() -> (Target, Client) {
    let target = Target::consistent(3);
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let task = client.register_udf(&AdminPolicy::patient(), MODULE, "txn.lua", UdfLang::Lua).await.unwrap();
    aerolane::Task::wait_till_complete(&task, Some(Duration::from_secs(60))).await.unwrap();
    (target, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_async_client() {
    let (target, client) = prepared().await;
    scenario!(client, target, (.await));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_local_client() {
    let (target, client) = prepared().await;
    let lanes = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap();
    lanes.spawn(move |client| async move { scenario!(client, target, (.await)) }).await.unwrap();
}

#[test]
fn with_the_blocking_client() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (target, client) = runtime.block_on(prepared());
    let client = SyncClient::from(&client);
    scenario!(client, target, ());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_must_not_have_changed() {
    let (target, client) = prepared().await;
    let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
    let [seen, written, missing] = ["seen", "written", "missing"].map(|name| target.key(name));
    let v = |v: i64| [as_bin!("v", v)];
    let durable = WritePolicy { durable_delete: true, ..WritePolicy::patient() };
    // How somebody else changes what a transaction has read; and how it reads.
    for (changes, reads) in [("put", 0), ("delete", 0), ("create", 0), ("put", 1), ("create", 1), ("nothing", 0)] {
        client.put(&write, &seen, &v(1)).await.unwrap();
        let txn = Arc::new(Txn::new());
        if reads == 0 {
            client.get(&reading(&txn), &seen, Bins::All).await.unwrap();
            assert!(!client.exists(&reading(&txn), &missing).await.unwrap());
        } else {
            let row = |key: &Key| BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
            client.batch(&batching(&txn), &mut [row(&seen), row(&missing)]).await.unwrap();
        }
        client.put(&writing(&txn), &written, &v(2)).await.unwrap();
        match changes {
            "put" => client.put(&write, &seen, &v(3)).await.unwrap(),
            "delete" => assert!(client.delete(&durable, &seen).await.unwrap()),
            "create" => client.put(&write, &missing, &v(4)).await.unwrap(),
            _ => {
                assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
                assert!(client.exists(&read, &written).await.unwrap());
                continue;
            }
        }
        let failed = client.commit(&txn).await.unwrap_err();
        let ErrorKind::Commit { error_type, verify_records, roll_records } = failed.kind() else {
            panic!("{failed:?}")
        };
        let taken_back: Vec<_> = roll_records.iter().map(|row| (row.key.digest(), row.result_code())).collect();
        assert_eq!(taken_back, [(written.digest(), Some(ResultCode::Ok))], "{changes}");
        assert_eq!((error_type, txn.state()), (&CommitErrorType::VerifyFail, TxnState::Aborted), "{changes}");
        assert!(failed.matches_client(&[ClientResultCode::TxnFailed]) && !failed.in_doubt());
        let wrong: Vec<_> = verify_records.iter().filter(|row| row.error().is_some()).collect();
        assert_eq!(wrong.len(), 1, "{changes}: {verify_records:?}");
        is(wrong[0].error().unwrap(), ResultCode::MrtVersionMismatch);
        assert!(!client.exists(&read, &written).await.unwrap(), "{changes}: it was taken back");
        let _ = client.delete(&durable, &missing).await.unwrap();
    }
    // A write that was refused has read what refused it.
    let txn = Arc::new(Txn::new());
    let other = WritePolicy { generation_policy: GenerationPolicy::ExpectGenEqual, generation: 77, ..writing(&txn) };
    is(&client.put(&other, &seen, &v(9)).await.unwrap_err(), ResultCode::GenerationError);
    client.put(&write, &seen, &v(3)).await.unwrap();
    assert!(client.commit(&txn).await.is_err());
}

fn rule(action: FaultAction, on: RequestKind) -> FaultRule {
    FaultRule::new(action).on(on)
}

/// Injects a fault on all nodes for requests from the `skip`-th on.
fn inject(target: &Target, action: FaultAction, on: RequestKind, skip: u64, times: u64) {
    target.faults().set_fault(None, &rule(action, on).skip(skip).times(times)).unwrap();
}

/// Keys of one node alone, so that faults strike in order.
async fn on_one_node() -> (Target, Client) {
    let target = Target::consistent(1);
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    (target, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_an_answer_is_looked_after() {
    let (target, client) = on_one_node().await;
    let key = target.key("k");
    for commits in [true, false] {
        let txn = Arc::new(Txn::new());
        // The monitor is opened, the write is executed, its answer is lost.
        inject(&target, FaultAction::DropAfter, RequestKind::Write, 1, 1);
        let lost = client.put(&writing(&txn), &key, &[as_bin!("v", 1)]).await.unwrap_err();
        assert!(lost.in_doubt(), "{lost}");
        is(&client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 0)]).await.unwrap_err(), ResultCode::MrtBlocked);
        target.faults().clear_faults();
        if commits {
            assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
        } else {
            assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
        }
        assert_eq!(client.exists(&ReadPolicy::patient(), &key).await.unwrap(), commits);
        client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 0)]).await.unwrap();
        client.delete(&WritePolicy { durable_delete: true, ..WritePolicy::patient() }, &key).await.unwrap();
    }
    // The same of a batch, and of a call that was dropped.
    let txn = Arc::new(Txn::new());
    inject(&target, FaultAction::DropAfter, RequestKind::Batch, 0, 1);
    let put = operations::put(&as_bin!("v", 1));
    let row = |name: &str| BatchOperation::write(&BatchWritePolicy::default(), target.key(name), [put.clone()]);
    let mut rows = [row("x"), row("y")];
    assert!(client.batch(&batching(&txn), &mut rows).await.unwrap_err().in_doubt());
    assert!(rows.iter().all(BatchOperation::in_doubt), "{rows:?}");
    target.faults().clear_faults();
    inject(&target, FaultAction::AnswerDelay(Duration::from_millis(300)), RequestKind::Write, 1, 1);
    let inside = writing(&txn);
    let bins = [as_bin!("v", 1)];
    let dropped = client.put(&inside, &key, &bins);
    assert!(tokio::time::timeout(Duration::from_millis(100), dropped).await.is_err());
    target.faults().clear_faults();
    assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
    for name in ["x", "y", "k"] {
        assert!(client.exists(&ReadPolicy::patient(), &target.key(name)).await.unwrap(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_write_that_was_sent_and_has_no_node_left_is_looked_after() {
    let namespace = NamespaceOptions::new("test").strong_consistency(true).replication_factor(1);
    let cluster = EmbeddedCluster::builder().nodes(2).namespace_with(namespace).start().unwrap();
    let client = Client::new(&policy(), &cluster.seeds()).await.unwrap();
    let node = cluster.nodes()[0].id;
    let owned = |key: &Key| cluster.master(partition_id(&key.digest())) == Some(node);
    let keys = (0_i64..).map(|id| Key::new("test", "s", Value::Int(id)).unwrap()).filter(owned);
    let keys: Vec<_> = keys.take(3).collect();
    for commits in [true, false] {
        let txn = Arc::new(Txn::new());
        cluster.set_fault(None, &rule(FaultAction::AnswerDelay(Duration::from_secs(300)), RequestKind::Batch)).unwrap();
        let put = operations::put(&as_bin!("v", 1));
        let row = |key: &Key| BatchOperation::write(&BatchWritePolicy::default(), key.clone(), [put.clone()]);
        let mut rows: Vec<_> = keys.iter().map(row).collect();
        let mut policy = batching(&txn);
        policy.base_policy.max_retries = 1000;
        let before = cluster.stats(node).unwrap().batch_rows;
        let stop = async {
            while cluster.stats(node).unwrap().batch_rows < before + 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cluster.hold_partitions(true);
            cluster.stop_node(node).unwrap();
        };
        let (result, ()) = tokio::join!(client.batch(&policy, &mut rows), stop);
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::InvalidNode));
        assert!(rows.iter().all(BatchOperation::in_doubt), "{rows:?}");
        cluster.start_node(node).unwrap();
        cluster.clear_faults();
        if commits {
            assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
        } else {
            assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
        }
        for key in &keys {
            assert_eq!(client.exists(&ReadPolicy::patient(), key).await.unwrap(), commits, "{key}");
            client.delete(&WritePolicy { durable_delete: true, ..WritePolicy::patient() }, key).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_monitor_whose_answer_was_lost_is_found_again() {
    let (target, client) = on_one_node().await;
    let (key, txn) = (target.key("k"), Arc::new(Txn::new()));
    let mut retrying = writing(&txn);
    retrying.base_policy.max_retries = 3;
    inject(&target, FaultAction::DropAfter, RequestKind::Write, 0, 1);
    client.put(&retrying, &key, &[as_bin!("v", 1)]).await.unwrap();
    assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
    // Without retries the write fails, surely not applied, and can be repeated.
    let txn = Arc::new(Txn::new());
    target.faults().clear_faults();
    inject(&target, FaultAction::DropAfter, RequestKind::Write, 0, 1);
    let failed = client.put(&writing(&txn), &key, &[as_bin!("v", 2)]).await.unwrap_err();
    assert!(!failed.in_doubt(), "{failed}");
    client.put(&writing(&txn), &key, &[as_bin!("v", 3)]).await.unwrap();
    assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
    let record = client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
    assert_eq!(record.bins["v"], Value::Int(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_in_doubt_is_settled_by_another() {
    let (target, client) = on_one_node().await;
    let key = target.key("k");
    let roll = |retries| {
        let mut policy = aerolane::TxnRollPolicy::default();
        policy.batch_policy.base_policy.max_retries = retries;
        policy.batch_policy.base_policy.sleep_between_retries = 1;
        policy
    };
    let txn = Arc::new(Txn::new());
    client.put(&writing(&txn), &key, &[as_bin!("v", 1)]).await.unwrap();
    // The mark is made, its answer is lost.
    inject(&target, FaultAction::DropAfter, RequestKind::Write, 0, 1);
    let verify = aerolane::TxnVerifyPolicy::default();
    let failed = client.commit_with_policies(&verify, &roll(0), &txn).await.unwrap_err();
    let ErrorKind::Commit { error_type, .. } = failed.kind() else { panic!("{failed:?}") };
    assert_eq!(*error_type, CommitErrorType::MarkRollForwardAbandoned);
    assert!(failed.in_doubt() && txn.in_doubt());
    assert_eq!(txn.state(), TxnState::CommitFailed);
    target.faults().clear_faults();
    let refused = client.abort(&txn).await.unwrap_err();
    assert!(refused.matches_client(&[ClientResultCode::TxnFailed]), "{refused}");
    assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::AlreadyCommitted);
    assert!(!txn.in_doubt());
    assert_eq!(client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap().bins["v"], Value::Int(1));

    // The mark is refused by the server: nothing is in doubt, and it can be aborted.
    let txn = Arc::new(Txn::new());
    client.put(&writing(&txn), &key, &[as_bin!("v", 2)]).await.unwrap();
    inject(&target, FaultAction::Result(u8::from(ResultCode::PartitionUnavailable)), RequestKind::Write, 0, 1);
    let failed = client.commit_with_policies(&verify, &roll(0), &txn).await.unwrap_err();
    assert!(!failed.in_doubt(), "{failed}");
    assert_eq!(txn.state(), TxnState::Verified);
    target.faults().clear_faults();
    assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
    assert_eq!(client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap().bins["v"], Value::Int(1));

    // It is committed, but the record cannot be rolled: the server does it when the time is over.
    let txn = Arc::new(Txn::new().with_timeout(Duration::from_secs(100)));
    client.put(&writing(&txn), &key, &[as_bin!("v", 3)]).await.unwrap();
    inject(&target, FaultAction::DropBefore, RequestKind::Write, 1, 1000);
    let failed = client.commit_with_policies(&verify, &roll(0), &txn).await.unwrap_err();
    let ErrorKind::Commit { error_type, roll_records, .. } = failed.kind() else { panic!("{failed:?}") };
    assert_eq!((error_type, txn.state()), (&CommitErrorType::RollForwardAbandoned, TxnState::Committed));
    assert_eq!((roll_records.len(), roll_records[0].in_doubt()), (1, true));
    target.faults().clear_faults();
    target.faults().advance_clock(Duration::from_secs(200)).unwrap();
    let read = ReadPolicy::patient();
    let rolled = async {
        while client.get(&read, &key, Bins::All).await.unwrap().bins["v"] != Value::Int(3) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), rolled).await.expect("the server rolls it forward");
    client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 4)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_number_of_writes_are_limited() {
    let (target, client) = on_one_node().await;
    let key = target.key("k");
    client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 1)]).await.unwrap();
    let txn = Arc::new(Txn::new().with_timeout(Duration::from_secs(100)));
    client.put(&writing(&txn), &key, &[as_bin!("v", 2)]).await.unwrap();
    is(&client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 3)]).await.unwrap_err(), ResultCode::MrtBlocked);
    target.faults().advance_clock(Duration::from_secs(200)).unwrap();
    let freed = async {
        while client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 3)]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), freed).await.expect("the server aborts it");
    is(&client.put(&writing(&txn), &key, &[as_bin!("v", 4)]).await.unwrap_err(), ResultCode::MrtExpired);
    let failed = client.commit(&txn).await.unwrap_err();
    let ErrorKind::Commit { error_type, .. } = failed.kind() else { panic!("{failed:?}") };
    assert_eq!((error_type, txn.state()), (&CommitErrorType::MarkRollForwardAbandoned, TxnState::Aborted));
    assert!(!failed.in_doubt());
    assert_eq!(client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap().bins["v"], Value::Int(3));

    let txn = Arc::new(Txn::new());
    let put = operations::put(&as_bin!("v", 1));
    let row = |id: i64| BatchOperation::write(&BatchWritePolicy::default(), target.key(id), [put.clone()]);
    let mut rows: Vec<_> = (0..4096).map(row).collect();
    client.batch(&batching(&txn), &mut rows).await.unwrap();
    let mut more = [row(4096)];
    is(&client.batch(&batching(&txn), &mut more).await.unwrap_err(), ResultCode::MrtTooManyWrites);
    is(more[0].error().unwrap(), ResultCode::MrtTooManyWrites);
    assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
    assert_eq!(target.faults().record_count("test"), Some(4097));
}

/// Many tasks that move amounts between accounts: the sum stays what it was, and what is committed is all of it.
#[tokio::test(flavor = "multi_thread")]
async fn amounts_that_are_moved_are_never_lost() {
    const ACCOUNTS: i64 = 8;
    let (target, client) = prepared().await;
    let write = WritePolicy::patient();
    for id in 0..ACCOUNTS {
        client.put(&write, &target.key(id), &[as_bin!("v", 100)]).await.unwrap();
    }
    let target = Arc::new(target);
    let tasks: Vec<_> = (0..8_i64)
        .map(|task| {
            let (client, target) = (client.clone(), Arc::clone(&target));
            tokio::spawn(async move {
                let mut done = 0;
                for turn in 0..200 {
                    if done == 10 {
                        break;
                    }
                    let (from, to) =
                        (target.key((task + turn) % ACCOUNTS), target.key((task * 3 + 1 + turn) % ACCOUNTS));
                    if from.digest() == to.digest() {
                        continue;
                    }
                    let txn = Arc::new(Txn::new());
                    let moved = async {
                        let record = client.get(&reading(&txn), &from, Bins::All).await?;
                        let Value::Int(left) = record.bins["v"] else { panic!("{record:?}") };
                        client.put(&writing(&txn), &from, &[as_bin!("v", left - 7)]).await?;
                        client.add(&writing(&txn), &to, &[as_bin!("v", 7)]).await?;
                        client.commit(&txn).await
                    };
                    if moved.await.is_ok() {
                        done += 1;
                        continue;
                    }
                    if txn.state() != TxnState::Aborted {
                        client.abort(&txn).await.unwrap();
                    }
                    tokio::time::sleep(Duration::from_millis((task * 7 + turn) as u64 % 10)).await;
                }
                done
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    assert!(done >= 8, "{done} have been committed");
    let mut sum = 0;
    for id in 0..ACCOUNTS {
        let record = client.get(&ReadPolicy::patient(), &target.key(id), Bins::All).await.unwrap();
        let Value::Int(left) = record.bins["v"] else { panic!("{record:?}") };
        sum += left;
        client.put(&write, &target.key(id), &[as_bin!("v", 0)]).await.expect("nothing is locked");
    }
    assert_eq!(sum, ACCOUNTS * 100);
}

/// Also on a real server of the Community Edition.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_transactions() {
    let target = Target::start();
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    let key = target.key("k");
    client.put(&WritePolicy::patient(), &key, &[as_bin!("v", 1)]).await.unwrap();
    let txn = Arc::new(Txn::new());
    let (inside, put) = (writing(&txn), operations::put(&as_bin!("v", 2)));
    let mut rows = [BatchOperation::write(&BatchWritePolicy::default(), key.clone(), [put.clone()])];
    let soft = WritePolicy { durable_delete: false, ..inside.clone() };
    for refused in [
        client.get(&reading(&txn), &key, Bins::All).await.map(drop).unwrap_err(),
        client.put(&inside, &key, &[as_bin!("v", 2)]).await.unwrap_err(),
        client.operate(&inside, &key, std::slice::from_ref(&put)).await.map(drop).unwrap_err(),
        client.delete(&soft, &key).await.map(drop).unwrap_err(),
        client.execute_udf(&inside, &key, "txn", "set", &[]).await.map(drop).unwrap_err(),
        client.batch(&batching(&txn), &mut rows).await.unwrap_err(),
    ] {
        is(&refused, ResultCode::EnterpriseOnly);
        assert!(refused.node().is_some() && !refused.in_doubt(), "{refused}");
    }
    is(rows[0].error().unwrap(), ResultCode::EnterpriseOnly);
    // Nothing was carried out as if there were no transaction.
    let record = client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
    assert_eq!((&record.bins["v"], record.generation), (&Value::Int(1), 1));
    assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
}
