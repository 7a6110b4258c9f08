//! What calls get when attempts time out, connections die at rest, and a node fails batches, through each of the three
//! clients. (More of that: `adversity_faults`.)

use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, on_embedded, reading, within, writing};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::{
    AdminPolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, ClientPolicy, Error, ErrorKind,
    Phase, Replica, ResultCode, Statement, Value, as_bin, operations,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// Runs a scenario on each client, on a cluster of its own each time.
fn on_each(nodes: usize, scenario: impl Fn(&Target, &AnyClient) + Send + 'static) {
    if !on_embedded("injects faults") {
        return;
    }
    within(240, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(nodes);
            let client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            scenario(&target, &client);
        }
    });
}

#[test]
fn socket_timeouts_are_retried_within_the_total_timeout() {
    on_each(1, |target, client| {
        let key = target.key(1);
        client.put(&writing(20_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        let stall = FaultRule::new(FaultAction::Stall).on(RequestKind::Read).times(2);
        target.faults().set_fault(None, &stall).unwrap();
        let mut read = reading(60_000, 5);
        read.base_policy.socket_timeout = 1000;
        let start = Instant::now();
        assert_eq!(client.get(&read, &key, Bins::All).unwrap().bins["n"], Value::Int(1));
        assert!((2000..60_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(client.stats().total.retries, 2, "{}", client.stats());
    });
}

#[test]
fn connections_that_died_at_rest_cost_nothing() {
    on_each(1, |target, client| {
        let key = target.key(1);
        let read_by_many = || {
            std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| client.get(&reading(60_000, 2), &key, Bins::All))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap().unwrap().bins["n"].clone()).collect::<Vec<_>>()
            })
        };
        client.put(&writing(60_000, 0), &key, &[as_bin!("n", 1)]).unwrap();
        assert_eq!(read_by_many(), [1, 1, 1, 1].map(Value::Int));
        let node = target.faults().nodes()[0].id;
        target.faults().stop_node(node).unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        target.faults().start_node(node).unwrap();
        // Neither in doubt nor in need of a retry that counts: the dead ones are noticed before anything is sent.
        client.put(&writing(60_000, 0), &key, &[as_bin!("n", 2)]).unwrap();
        assert_eq!(read_by_many(), [2, 2, 2, 2].map(Value::Int));
    });
}

#[test]
fn a_node_that_fails_takes_only_its_rows_along() {
    on_each(3, |target, client| {
        for id in 0..100_i64 {
            client.put(&writing(20_000, 0), &target.key(id), &[as_bin!("id", id)]).unwrap();
        }
        let victim = target.faults().nodes()[0].id;
        let reads = || -> Vec<_> {
            let read = BatchReadPolicy::default();
            (0..100_i64).map(|id| BatchOperation::read(&read, target.key(id), Bins::All)).collect()
        };
        let mut batch = BatchPolicy::patient();
        batch.base_policy.replica = Replica::Master;
        batch.base_policy.max_retries = 0;
        batch.base_policy.total_timeout = 20_000;
        let rule = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Batch);
        target.faults().set_fault(Some(victim), &rule).unwrap();
        let (rows, result) = client.batch(&batch, reads());
        let error: Error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
        let (good, bad): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(_, row)| row.record().is_some());
        assert!(good.len() > 30 && bad.len() > 10, "{} {}", good.len(), bad.len());
        for (id, row) in good {
            assert_eq!(row.record().unwrap().bins["id"], Value::Int(id as i64));
        }
        for (_, row) in bad {
            assert!(!row.in_doubt() && row.node() == error.node(), "{row:?}");
        }

        // With retries on the other replicas everything comes.
        batch.base_policy.replica = Replica::Sequence;
        batch.base_policy.max_retries = 2;
        let (rows, result) = client.batch(&batch, reads());
        result.unwrap();
        assert!(rows.iter().all(|row| row.record().is_some()));

        // Writes of the lost request are in doubt, the others are done.
        let write = BatchWritePolicy::default();
        let writes = (0..100_i64)
            .map(|id| BatchOperation::write(&write, target.key(id), vec![operations::put(&as_bin!("id", id))]));
        let mut policy = patient_writes();
        policy.base_policy.total_timeout = 20_000;
        let (rows, result) = client.batch(&policy, writes.collect());
        assert!(result.as_ref().is_err_and(Error::in_doubt), "{result:?}");
        assert!(rows.iter().any(BatchOperation::in_doubt) && rows.iter().any(|row| row.record().is_some()));
        assert!(rows.iter().all(|row| row.in_doubt() != row.record().is_some()));
    });
}

#[test]
fn work_in_the_background_without_a_definite_answer_is_in_doubt() {
    on_each(1, |target, client| {
        let statement = Statement::new(target.namespace(), target.set(), Bins::All);
        let mut operating = statement.clone();
        operating.set_operations([operations::put(&as_bin!("n", 1))]);
        let code = |code: ResultCode| FaultAction::Result(u8::from(code));
        for (action, in_doubt, phase) in [
            (FaultAction::Stall, true, Phase::Sent),
            (FaultAction::DropBefore, true, Phase::Sent),
            (FaultAction::DropAfter, true, Phase::Sent),
            (FaultAction::Truncate(20), true, Phase::Sent),
            (code(ResultCode::Timeout), true, Phase::Receiving),
            (code(ResultCode::ParameterError), false, Phase::Receiving),
        ] {
            let rule = FaultRule::new(action.clone()).on(RequestKind::Query);
            target.faults().set_fault(None, &rule).unwrap();
            let mut policy = writing(30_000, 0);
            if matches!(action, FaultAction::Stall) {
                policy.base_policy.socket_timeout = 200;
            }
            for started in [
                client.query_operate(&policy, &operating),
                client.query_execute_udf(&policy, &statement, ["module", "function"]),
            ] {
                let error = started.unwrap_err();
                assert_eq!((error.in_doubt(), error.phase()), (in_doubt, phase), "{action:?}: {error:?}");
                assert!(error.attempts() == 1 && error.elapsed().is_some(), "{error:?}");
            }
            target.faults().clear_faults();
        }
        client.query_operate(&writing(30_000, 0), &operating).unwrap();
    });
}

#[test]
fn commands_of_the_control_plane_say_what_became_of_them() {
    if !on_embedded("injects faults") {
        return;
    }
    within(240, move || {
        for kind in Kind::ALL {
            let target = Target::embedded(1);
            // Otherwise the faults would hit the tend, too.
            let policy = ClientPolicy { tend_interval: 600_000, ..policy() };
            let client = AnyClient::open(kind, policy, target.seeds()).unwrap();
            ask_and_truncate(&target, &client);
        }
    });
}

fn ask_and_truncate(target: &Target, client: &AnyClient) {
    let patient = AdminPolicy::patient();
    for action in [FaultAction::Stall, FaultAction::DropBefore, FaultAction::DropAfter] {
        let policy = if matches!(action, FaultAction::Stall) { AdminPolicy { timeout: 300 } } else { patient };
        let kind = if matches!(action, FaultAction::Stall) { "Timeout" } else { "Connection" };
        for writes in [false, true] {
            target.faults().set_fault(None, &FaultRule::new(action.clone()).on(RequestKind::Info)).unwrap();
            let asked = if writes {
                client.truncate(policy, target.namespace(), target.set(), 0)
            } else {
                client.info(policy, "build")
            };
            target.faults().clear_faults();
            let error = asked.unwrap_err();
            assert_eq!((error.kind().name(), error.phase()), (kind, Phase::Sent), "{action:?}: {error:?}");
            // What may have emptied the set is in doubt; what only asked is not.
            assert_eq!(error.in_doubt(), writes, "{action:?}: {error:?}");
            assert!(error.attempts() == 1 && error.elapsed().is_some(), "{error:?}");
        }
    }
    client.truncate(patient, target.namespace(), target.set(), 0).unwrap();
    // A time to come.
    let refused = client.truncate(patient, target.namespace(), target.set(), i64::MAX).unwrap_err();
    assert!(!refused.in_doubt() && refused.elapsed().is_some(), "{refused:?}");
    client.close();
    let closed = client.truncate(patient, target.namespace(), target.set(), 0).unwrap_err();
    assert!(matches!(closed.kind(), ErrorKind::ClientClosed) && !closed.in_doubt(), "{closed:?}");
}
