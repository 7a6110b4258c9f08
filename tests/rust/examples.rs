//! The programs among the examples, run on an embedded cluster.

#[path = "common/mod.rs"]
mod common;

#[allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../../crates/core-ext/examples/axum_service.rs"]
mod axum_service;

#[allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../../crates/core-ext/examples/tokio_worker.rs"]
mod tokio_worker;

use std::net::SocketAddr;

use aerolane::{Bins, Client, ReadPolicy, Value, as_key};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use common::{Patient, Target, policy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Sends a request; gives the status and the body of the answer.
async fn ask(to: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_axum_service_serves() {
    let target = Target::embedded(1);
    let client = axum_service::connect(target.seeds()).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let served = tokio::spawn(async move { axum::serve(listener, axum_service::app(client)).await });

    assert_eq!(ask(at, "GET", "/users/ann", "").await.0, 404);
    assert_eq!(ask(at, "PUT", "/users/ann", r#"{"age": 31, "city": "Oslo"}"#).await.0, 204);
    assert_eq!(ask(at, "POST", "/users/ann/visits", "").await, (200, "1".to_owned()));
    assert_eq!(ask(at, "POST", "/users/ann/visits", "").await, (200, "2".to_owned()));
    let ann = r#"{"age":31,"city":"Oslo","visits":2}"#;
    assert_eq!(ask(at, "GET", "/users/ann", "").await, (200, ann.to_owned()));
    assert_eq!(ask(at, "PUT", "/users/ann", "{}").await.0, 422);
    assert_eq!(ask(at, "GET", "/health", "").await.0, 200);

    // A write that is lost: the caller is told that it may have been carried out.
    target.faults().set_fault(None, &FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write)).unwrap();
    let (status, text) = ask(at, "POST", "/users/ann/visits", "").await;
    assert!(status == 503 && text.contains("may have been carried out"), "{status} {text}");
    target.faults().clear_faults();

    let (status, text) = ask(at, "GET", "/metrics", "").await;
    assert_eq!(status, 200);
    let line = r#"aerolane_client_results_total{namespace="test",command="get",code="KEY_NOT_FOUND_ERROR"} 1"#;
    assert!(text.contains(line), "{text}");
    assert_eq!(ask(at, "DELETE", "/users/ann", "").await.0, 204);
    assert_eq!(ask(at, "DELETE", "/users/ann", "").await.0, 404);
    served.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_applies_each_payment_once() {
    use tokio_worker::{Outcome, Payment};

    let target = Target::embedded(3);
    let client = Client::new(&policy(), target.seeds()).await.unwrap();
    // One answer in ten is lost, after the write was carried out.
    let lose = FaultRule::new(FaultAction::DropAfter).on(RequestKind::Write).probability(0.1).times(40);
    target.faults().set_fault(None, &lose).unwrap();
    let payments: Vec<_> = (0..400).map(|id| Payment { id, account: id % 7, cents: 5 }).collect();
    let mut left = payments.clone();
    // Those whose tries were all lost are handed in again, as a queue would.
    while !left.is_empty() {
        let outcomes = tokio_worker::work(&client, left).await.unwrap();
        let failed = outcomes.into_iter().filter_map(|outcome| match outcome {
            Outcome::Failed(payment, error) => {
                assert!(error.in_doubt(), "{error}");
                Some(payment)
            }
            Outcome::Applied | Outcome::AppliedBefore => None,
        });
        left = failed.collect();
    }
    for account in 0..7 {
        let key = as_key!("test", "accounts", account);
        let record = client.get(&ReadPolicy::patient(), &key, Bins::All).await.unwrap();
        let expected: i64 = payments.iter().filter(|of| of.account == account).map(|of| of.cents).sum();
        assert_eq!(record.bins["balance"], Value::Int(expected), "account {account}");
    }
}
