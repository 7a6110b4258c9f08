//! Transactions of aerospike-core 3.0.0, unmodified, on an embedded cluster in strong-consistency mode.

use crate::patient::{Patient, patient_writes, reading, writing};
use aerolane_embedded::{EmbeddedCluster, NamespaceOptions};
use aerospike_core::operations::{self, ListPolicy, lists};
use aerospike_core::{
    AbortStatus, BatchOperation, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientPolicy, CommitErrorType,
    CommitStatus, Error, ErrorKind, Key, ReadPolicy, ResultCode, Txn, TxnState, Value, WritePolicy, as_bin, as_key,
};
use std::sync::Arc;
use std::time::Duration;

fn cluster() -> EmbeddedCluster {
    let namespace = NamespaceOptions::new("test").strong_consistency(true);
    EmbeddedCluster::builder().nodes(3).namespace_with(namespace).namespace("ap").start().unwrap()
}

async fn connect(cluster: &EmbeddedCluster) -> Client {
    let policy = ClientPolicy { tend_interval: 250, timeout: 20_000, ..ClientPolicy::default() };
    Client::new(&policy, &cluster.seeds()).await.unwrap()
}

fn code(error: &Error) -> Option<ResultCode> {
    error.server_result_code()
}

/// What everyone else reads of bin `v`; `None`: there is no record.
async fn value(client: &Client, key: &Key) -> Option<i64> {
    seen(client, &ReadPolicy::patient(), key).await
}

async fn seen(client: &Client, policy: &ReadPolicy, key: &Key) -> Option<i64> {
    match client.get(policy, key, Bins::All).await {
        Ok(record) => match record.bins["v"] {
            Value::Int(v) => Some(v),
            ref other => panic!("{other:?}"),
        },
        Err(error) if code(&error) == Some(ResultCode::KeyNotFoundError) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn put(client: &Client, policy: &WritePolicy, key: &Key, v: i64) -> Result<(), Error> {
    client.put(policy, key, &[as_bin!("v", v)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_transaction_writes_is_seen_when_it_is_committed() {
    let cluster = cluster();
    let client = connect(&cluster).await;
    assert_eq!(client.is_strong_consistency("test"), Some(true));
    assert_eq!(client.is_strong_consistency("ap"), Some(false));
    let plain = WritePolicy::patient();
    let (changed, created, deleted) = (as_key!("test", "t", 1), as_key!("test", "t", 2), as_key!("test", "t", 3));
    for commits in [true, false] {
        put(&client, &plain, &changed, 1).await.unwrap();
        put(&client, &plain, &deleted, 3).await.unwrap();
        let txn = Arc::new(Txn::new());
        let (read, write) = (reading(&txn), writing(&txn));
        put(&client, &write, &changed, 10).await.unwrap();
        client.add(&write, &changed, &[as_bin!("v", 1)]).await.unwrap();
        put(&client, &write, &created, 20).await.unwrap();
        assert!(client.delete(&write, &deleted).await.unwrap());
        assert!(!client.delete(&write, &deleted).await.unwrap(), "it has deleted it already");
        let append = lists::append(&ListPolicy::default(), "l", Value::from("x"));
        client.operate(&write, &created, &[append, operations::touch()]).await.unwrap();
        assert_eq!(seen(&client, &read, &changed).await, Some(11));
        assert_eq!(seen(&client, &read, &created).await, Some(20));
        assert_eq!(seen(&client, &read, &deleted).await, None);
        assert_eq!([value(&client, &changed).await, value(&client, &created).await], [Some(1), None]);
        assert_eq!((value(&client, &deleted).await, cluster.record_count("test")), (Some(3), Some(2)));
        if commits {
            assert_eq!(client.commit(&txn).await.unwrap(), CommitStatus::Ok);
            assert_eq!(txn.state(), TxnState::Committed);
            assert_eq!([value(&client, &changed).await, value(&client, &created).await], [Some(11), Some(20)]);
            assert_eq!(value(&client, &deleted).await, None);
            client.delete(&WritePolicy { durable_delete: true, ..plain.clone() }, &created).await.unwrap();
        } else {
            assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
            assert_eq!([value(&client, &changed).await, value(&client, &created).await], [Some(1), None]);
            assert_eq!(value(&client, &deleted).await, Some(3));
        }
        // No lock is left, and no monitor.
        put(&client, &plain, &changed, 1).await.unwrap();
        let late = put(&client, &write, &changed, 2).await.unwrap_err();
        assert!(late.to_string().contains("ended"), "{late}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn others_are_blocked_and_changed_reads_are_found() {
    let cluster = cluster();
    let client = connect(&cluster).await;
    let plain = WritePolicy::patient();
    let key = as_key!("test", "t", 1);
    put(&client, &plain, &key, 1).await.unwrap();

    let (one, other) = (Arc::new(Txn::new()), Arc::new(Txn::new()));
    put(&client, &writing(&one), &key, 2).await.unwrap();
    for blocked in [
        put(&client, &plain, &key, 3).await.unwrap_err(),
        put(&client, &writing(&other), &key, 3).await.unwrap_err(),
        client.get(&reading(&other), &key, Bins::All).await.unwrap_err(),
        client.delete(&writing(&other), &key).await.unwrap_err(),
    ] {
        assert_eq!(code(&blocked), Some(ResultCode::MrtBlocked), "{blocked}");
    }
    assert_eq!(client.commit(&one).await.unwrap(), CommitStatus::Ok);
    assert_eq!(client.commit(&other).await.unwrap(), CommitStatus::Ok);
    assert_eq!(value(&client, &key).await, Some(2));

    // Read by one, then changed by somebody: a write of the one is refused, and its commit fails.
    let (one, other) = (Arc::new(Txn::new()), as_key!("test", "t", 2));
    assert_eq!(seen(&client, &reading(&one), &key).await, Some(2));
    put(&client, &writing(&one), &other, 1).await.unwrap();
    put(&client, &plain, &key, 4).await.unwrap();
    let refused = put(&client, &writing(&one), &key, 5).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::MrtVersionMismatch), "{refused}");
    let failed = client.commit(&one).await.unwrap_err();
    let ErrorKind::Commit { error_type, verify_records, .. } = failed.kind() else { panic!("{failed:?}") };
    assert_eq!((error_type, one.state()), (&CommitErrorType::VerifyFail, TxnState::Aborted));
    assert_eq!(verify_records[0].result_code(), Some(ResultCode::MrtVersionMismatch));
    assert_eq!([value(&client, &key).await, value(&client, &other).await], [Some(4), None]);

    // Two that each read what the other one writes: not both are committed.
    let (one, two) = (Arc::new(Txn::new()), Arc::new(Txn::new()));
    put(&client, &plain, &other, 1).await.unwrap();
    seen(&client, &reading(&one), &key).await;
    seen(&client, &reading(&two), &other).await;
    put(&client, &writing(&one), &other, 2).await.unwrap();
    put(&client, &writing(&two), &key, 2).await.unwrap();
    assert!(client.commit(&one).await.is_err());
    client.commit(&two).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_belong_to_transactions_too() {
    let cluster = cluster();
    let client = connect(&cluster).await;
    let keys: Vec<Key> = (0..40).map(|id| as_key!("test", "t", id)).collect();
    let (write, read) = (BatchWritePolicy::default(), BatchReadPolicy::default());
    let puts = |v: i64| -> Vec<_> {
        let put = |key: &Key| BatchOperation::write(&write, key.clone(), vec![operations::put(&as_bin!("v", v))]);
        keys.iter().map(put).collect()
    };
    client.batch(&patient_writes(), &mut puts(1)).await.unwrap();
    for commits in [true, false] {
        let txn = Arc::new(Txn::new());
        let mut policy = patient_writes();
        policy.base_policy.txn = Some(Arc::clone(&txn));
        let mut rows = puts(2);
        client.batch(&policy, &mut rows).await.unwrap();
        assert!(rows.iter().all(|row| row.result_code() == Some(ResultCode::Ok)));
        let mut reads: Vec<_> = keys.iter().map(|key| BatchOperation::read(&read, key.clone(), Bins::All)).collect();
        client.batch(&policy, &mut reads).await.unwrap();
        assert!(reads.iter().all(|row| row.record().is_some_and(|record| record.bins["v"] == Value::Int(2))));
        assert_eq!(value(&client, &keys[7]).await, Some(1));
        if commits {
            client.commit(&txn).await.unwrap();
            assert_eq!(value(&client, &keys[7]).await, Some(2));
            client.batch(&patient_writes(), &mut puts(1)).await.unwrap();
        } else {
            assert_eq!(client.abort(&txn).await.unwrap(), AbortStatus::Ok);
            assert_eq!(value(&client, &keys[7]).await, Some(1));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_ends_what_takes_too_long() {
    let cluster = cluster();
    let client = connect(&cluster).await;
    let (key, plain) = (as_key!("test", "t", 1), WritePolicy::patient());
    put(&client, &plain, &key, 1).await.unwrap();
    let txn = Arc::new(Txn::new().with_timeout(Duration::from_secs(100)));
    put(&client, &writing(&txn), &key, 2).await.unwrap();
    let blocked = put(&client, &plain, &key, 3).await.unwrap_err();
    assert_eq!(code(&blocked), Some(ResultCode::MrtBlocked), "{blocked}");
    cluster.advance_clock(Duration::from_secs(200)).unwrap();
    tokio::time::timeout(Duration::from_secs(60), async {
        while put(&client, &plain, &key, 3).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("the record is given free");
    let expired = put(&client, &writing(&txn), &key, 4).await.unwrap_err();
    assert_eq!(code(&expired), Some(ResultCode::MrtExpired), "{expired}");
    let failed = client.commit(&txn).await.unwrap_err();
    let ErrorKind::Commit { error_type, .. } = failed.kind() else { panic!("{failed:?}") };
    assert_eq!((error_type, txn.state()), (&CommitErrorType::MarkRollForwardAbandoned, TxnState::Aborted));
    assert_eq!(value(&client, &key).await, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_refusals() {
    let cluster = cluster();
    let client = connect(&cluster).await;
    let key = as_key!("test", "t", 1);
    put(&client, &WritePolicy::patient(), &key, 1).await.unwrap();
    // In strong-consistency mode deletes have to be durable.
    let refused = client.delete(&WritePolicy::patient(), &key).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::FailForbidden), "{refused}");
    // No transactions elsewhere.
    let txn = Arc::new(Txn::new());
    let refused = put(&client, &writing(&txn), &as_key!("ap", "t", 1), 1).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::EnterpriseOnly), "{refused}");
    // A transaction that is to take more than two minutes.
    let long = Arc::new(Txn::new().with_timeout(Duration::from_secs(121)));
    let refused = put(&client, &writing(&long), &key, 2).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::ParameterError), "{refused}");
    // Too many records.
    let txn = Arc::new(Txn::new());
    let mut policy = patient_writes();
    policy.base_policy.txn = Some(Arc::clone(&txn));
    let put_one = |id: i64| {
        let operations = vec![operations::put(&as_bin!("v", id))];
        BatchOperation::write(&BatchWritePolicy::default(), as_key!("test", "many", id), operations)
    };
    client.batch(&policy, &mut (0..4096).map(put_one).collect::<Vec<_>>()).await.unwrap();
    let refused = put(&client, &writing(&txn), &key, 2).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::MrtTooManyWrites), "{refused}");
    client.commit(&txn).await.unwrap();
    assert_eq!(cluster.record_count("test"), Some(4097));
    // A write that is to be the first one of its transaction.
    let txn = Arc::new(Txn::new());
    let first = WritePolicy { on_locking_only: true, ..writing(&txn) };
    put(&client, &first, &key, 5).await.unwrap();
    let refused = put(&client, &first, &key, 6).await.unwrap_err();
    assert_eq!(code(&refused), Some(ResultCode::MrtAlreadyLocked), "{refused}");
    client.commit(&txn).await.unwrap();
    assert_eq!(value(&client, &key).await, Some(5));
}
