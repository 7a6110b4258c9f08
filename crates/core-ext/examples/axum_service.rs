//! A web service with axum: users as JSON, a health check, and metrics for Prometheus.
//!
//!     aerolane-embedded --port 3000 &
//!     cargo run -p aerolane --example axum_service
//!     curl -X PUT localhost:8080/users/ann -H 'content-type: application/json' -d '{"age": 31, "city": "Oslo"}'
//!     curl localhost:8080/users/ann
//!
//! `AEROSPIKE_HOSTS` names the seeds (default 127.0.0.1:3000), `LISTEN` the address (default 127.0.0.1:8080).

use std::error::Error as StdError;
use std::time::Duration;

use aerolane::metrics::{ClusterMetrics, MetricsPolicy};
use aerolane::{
    Bins, Client, ClientConfig, Error, ErrorKind, Key, PoolSizing, ReadPolicy, Record, ResultCode, Value, WhenFull,
    WritePolicy, as_bin, as_key, operations,
};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

/// What a user is in requests and answers.
#[derive(Debug, Serialize, Deserialize)]
pub struct User {
    /// In years.
    pub age: i64,
    /// Where the user lives.
    pub city: String,
    /// How often the user came; counted by the service.
    #[serde(default)]
    pub visits: i64,
}

/// A client for a service: it fails early when a node has enough to do, and says what was slow.
pub async fn connect(hosts: &str) -> Result<Client, Error> {
    let config = ClientConfig::default()
        .with_pool(PoolSizing::default().with_when_full(WhenFull::Fail))
        .with_slow_operation_threshold(Duration::from_millis(50));
    let client = Client::with_config(config, &hosts).await?;
    client.enable_metrics(MetricsPolicy::micros().with_operational(true));
    Ok(client)
}

/// The routes. A client is cheap to clone: each request gets one.
pub fn app(client: Client) -> Router {
    Router::new()
        .route("/users/{id}", get(read_user).put(write_user).delete(delete_user))
        .route("/users/{id}/visits", post(count_visit))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .with_state(client)
}

async fn read_user(State(client): State<Client>, Path(id): Path<String>) -> Result<Json<User>, Failure> {
    let record = client.get(&ReadPolicy::default(), &key(&id), Bins::All).await?;
    Ok(Json(User { age: int(&record, "age"), city: text(&record, "city"), visits: int(&record, "visits") }))
}

async fn write_user(
    State(client): State<Client>,
    Path(id): Path<String>,
    Json(user): Json<User>,
) -> Result<StatusCode, Failure> {
    // The same write twice is the same as once: it may be repeated.
    let mut policy = WritePolicy::default();
    policy.base_policy.max_retries = 2;
    client.put(&policy, &key(&id), &[as_bin!("age", user.age), as_bin!("city", user.city)]).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn delete_user(State(client): State<Client>, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    let existed = client.delete(&WritePolicy::default(), &key(&id)).await?;
    Ok(if existed { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
}

/// Counts, and reads the count, in one request.
async fn count_visit(State(client): State<Client>, Path(id): Path<String>) -> Result<Json<i64>, Failure> {
    let count = [operations::add(&as_bin!("visits", 1)), operations::get_bin("visits")];
    let record = client.operate(&WritePolicy::default(), &key(&id), &count).await?;
    Ok(Json(int(&record, "visits")))
}

/// For the load balancer: whether there is a node to talk to. It asks no server.
async fn health(State(client): State<Client>) -> StatusCode {
    if client.is_connected() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

async fn metrics(State(client): State<Client>) -> impl IntoResponse {
    let text = client.metrics().to_prometheus(&[]);
    ([(header::CONTENT_TYPE, ClusterMetrics::PROMETHEUS_CONTENT_TYPE)], text)
}

fn key(id: &str) -> Key {
    as_key!("test", "users", id)
}

fn int(record: &Record, bin: &str) -> i64 {
    match record.bins.get(bin) {
        Some(Value::Int(number)) => *number,
        // After `add` and `get_bin`: the result of each.
        Some(Value::MultiResult(results)) => match results.last() {
            Some(Value::Int(number)) => *number,
            _ => 0,
        },
        _ => 0,
    }
}

fn text(record: &Record, bin: &str) -> String {
    match record.bins.get(bin) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// An error of the client as an answer of the service.
pub struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.0.kind() {
            ErrorKind::Server { rc: ResultCode::KeyNotFoundError, .. } => StatusCode::NOT_FOUND,
            ErrorKind::Server { rc: ResultCode::KeyExistsError | ResultCode::GenerationError, .. } => {
                StatusCode::CONFLICT
            }
            ErrorKind::InvalidArgument | ErrorKind::RecordTooBig { .. } => StatusCode::BAD_REQUEST,
            // The cluster has enough to do, or cannot be reached: the caller may try again later.
            ErrorKind::PoolExhausted { .. } | ErrorKind::MaxErrorRate | ErrorKind::Connection => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            eprintln!("{}", self.0);
        }
        // Callers are told no more than they can use: the error names nodes.
        let in_doubt = if self.0.in_doubt() { "; it may have been carried out" } else { "" };
        (status, format!("{}{in_doubt}\n", status.canonical_reason().unwrap_or("error"))).into_response()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError>> {
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let client = connect(&setting("AEROSPIKE_HOSTS", "127.0.0.1:3000")).await?;
    let listener = tokio::net::TcpListener::bind(setting("LISTEN", "127.0.0.1:8080")).await?;
    println!("http://{}", listener.local_addr()?);
    let ended = async { drop(tokio::signal::ctrl_c().await) };
    axum::serve(listener, app(client.clone())).with_graceful_shutdown(ended).await?;
    client.close().await?;
    Ok(())
}
