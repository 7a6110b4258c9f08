//! The three client types behind one interface, called from plain threads: a scenario is written once and holds for all of them.

#![allow(dead_code, unreachable_pub)] // each test file uses a part of it

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use aerolane::metrics::{ClusterMetrics, MetricsPolicy};
use aerolane::{
    AdminPolicy, BatchOperation, BatchPolicy, Bin, Bins, Client, ClientConfig, ClientStats, Error, Key, LaneRuntime,
    Operation, ReadPolicy, Record, Statement, SyncClient, WritePolicy,
};
use tokio::runtime::Runtime;

/// Which of the clients a scenario runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Async,
    Local,
    Sync,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Async, Self::Local, Self::Sync];

    /// How many lanes share the pool: that of the runtime that connects, and that of the thread of ours.
    pub const fn lanes(self) -> u32 {
        match self {
            Self::Async | Self::Sync => 1,
            Self::Local => 2,
        }
    }
}

/// A client behind one interface. Cheap to clone.
#[derive(Clone)]
pub struct AnyClient {
    pub kind: Kind,
    inner: Inner,
}

#[derive(Clone)]
enum Inner {
    Async(Client, Arc<Runtime>),
    // In this order: the threads of ours end before the runtime that opened the client.
    Local(Arc<LaneRuntime>, Client, Arc<Runtime>),
    Sync(SyncClient),
}

/// Calls an async method, on the runtime of the client.
macro_rules! call {
    ($any:expr, |$client:ident| $call:expr) => {
        match &$any.inner {
            Inner::Async($client, runtime) => runtime.block_on(async { $call.await }),
            Inner::Local(lanes, ..) => lanes.spawn(move |$client| async move { $call.await }).wait().expect("no panic"),
            Inner::Sync($client) => $call,
        }
    };
}

impl AnyClient {
    pub fn open(kind: Kind, config: impl Into<ClientConfig>, seeds: &str) -> Result<Self, Error> {
        let (config, seeds) = (config.into(), seeds.to_owned());
        let runtime = || {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            Arc::new(builder.worker_threads(2).enable_all().build().expect("a runtime"))
        };
        let inner = match kind {
            Kind::Async => {
                let runtime = runtime();
                Inner::Async(runtime.block_on(Client::with_config(config, &seeds))?, runtime)
            }
            Kind::Local => {
                let runtime = runtime();
                let client = runtime.block_on(Client::with_config(config, &seeds))?;
                Inner::Local(Arc::new(LaneRuntime::new(&client, NonZeroUsize::MIN)?), client, runtime)
            }
            Kind::Sync => Inner::Sync(SyncClient::with_config(config, &seeds)?),
        };
        Ok(Self { kind, inner })
    }

    pub fn get(&self, policy: &ReadPolicy, key: &Key, bins: impl Into<Bins>) -> Result<Record, Error> {
        let (policy, key, bins) = (policy.clone(), key.clone(), bins.into());
        call!(self, |client| client.get(&policy, &key, bins))
    }

    pub fn exists(&self, policy: &ReadPolicy, key: &Key) -> Result<bool, Error> {
        let (policy, key) = (policy.clone(), key.clone());
        call!(self, |client| client.exists(&policy, &key))
    }

    pub fn put(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<(), Error> {
        let (policy, key, bins) = (policy.clone(), key.clone(), bins.to_vec());
        call!(self, |client| client.put(&policy, &key, &bins))
    }

    pub fn add(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<(), Error> {
        let (policy, key, bins) = (policy.clone(), key.clone(), bins.to_vec());
        call!(self, |client| client.add(&policy, &key, &bins))
    }

    pub fn append(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<(), Error> {
        let (policy, key, bins) = (policy.clone(), key.clone(), bins.to_vec());
        call!(self, |client| client.append(&policy, &key, &bins))
    }

    pub fn delete(&self, policy: &WritePolicy, key: &Key) -> Result<bool, Error> {
        let (policy, key) = (policy.clone(), key.clone());
        call!(self, |client| client.delete(&policy, &key))
    }

    pub fn touch(&self, policy: &WritePolicy, key: &Key) -> Result<(), Error> {
        let (policy, key) = (policy.clone(), key.clone());
        call!(self, |client| client.touch(&policy, &key))
    }

    pub fn operate(&self, policy: &WritePolicy, key: &Key, operations: &[Operation]) -> Result<Record, Error> {
        let (policy, key, operations) = (policy.clone(), key.clone(), operations.to_vec());
        call!(self, |client| client.operate(&policy, &key, &operations))
    }

    /// Asks a node.
    pub fn info(&self, policy: AdminPolicy, command: &str) -> Result<(), Error> {
        let command = command.to_owned();
        call!(self, |client| client.info(&policy, &[&command[..]])).map(drop)
    }

    /// Makes a user with a password, or, without one, a user who logs in with a certificate.
    pub fn create_user(
        &self,
        policy: AdminPolicy,
        user: &str,
        password: Option<&str>,
        roles: &[&'static str],
    ) -> Result<(), Error> {
        let (user, password, roles) = (user.to_owned(), password.map(str::to_owned), roles.to_vec());
        match password {
            None => call!(self, |client| client.create_pki_user(&policy, &user, &roles)),
            Some(password) => call!(self, |client| client.create_user(&policy, &user, &password, &roles)),
        }
    }

    /// Sets a user's password.
    pub fn change_password(&self, policy: AdminPolicy, user: &str, password: &str) -> Result<(), Error> {
        let (user, password) = (user.to_owned(), password.to_owned());
        call!(self, |client| client.change_password(&policy, &user, &password))
    }

    /// Removes a user.
    pub fn drop_user(&self, policy: AdminPolicy, user: &str) -> Result<(), Error> {
        let user = user.to_owned();
        call!(self, |client| client.drop_user(&policy, &user))
    }

    /// Removes the records of a set that are older than so many nanoseconds since 1970; 0: all.
    pub fn truncate(&self, policy: AdminPolicy, namespace: &str, set: &str, before: i64) -> Result<(), Error> {
        let (namespace, set) = (namespace.to_owned(), set.to_owned());
        call!(self, |client| client.truncate(&policy, &namespace, &set, before))
    }

    /// Carries out an operation on all records of a set, in the background.
    pub fn query_operate(&self, policy: &WritePolicy, statement: &Statement) -> Result<(), Error> {
        let (policy, statement) = (policy.clone(), statement.clone());
        call!(self, |client| client.query_operate(&policy, statement)).map(drop)
    }

    /// Applies a function without arguments to all records of a set, in the background.
    pub fn query_execute_udf(&self, policy: &WritePolicy, statement: &Statement, of: [&str; 2]) -> Result<(), Error> {
        let (policy, statement, [module, function]) = (policy.clone(), statement.clone(), of.map(str::to_owned));
        call!(self, |client| client.query_execute_udf(&policy, statement, &module, &function, &[])).map(drop)
    }

    /// The rows with their outcomes, and the outcome of the call.
    pub fn batch(&self, policy: &BatchPolicy, rows: Vec<BatchOperation>) -> (Vec<BatchOperation>, Result<(), Error>) {
        let (policy, mut rows) = (policy.clone(), rows);
        match &self.inner {
            Inner::Async(client, runtime) => {
                let result = runtime.block_on(client.batch(&policy, &mut rows));
                (rows, result)
            }
            Inner::Local(lanes, ..) => {
                let task = lanes.spawn(move |client| async move {
                    let result = client.batch(&policy, &mut rows).await;
                    (rows, result)
                });
                task.wait().expect("no panic")
            }
            Inner::Sync(client) => {
                let result = client.batch(&policy, &mut rows);
                (rows, result)
            }
        }
    }

    pub fn stats(&self) -> ClientStats {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.stats(),
            Inner::Sync(client) => client.stats(),
        }
    }

    pub fn enable_metrics(&self, policy: MetricsPolicy) {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.enable_metrics(policy),
            Inner::Sync(client) => client.enable_metrics(policy),
        }
    }

    pub fn disable_metrics(&self) {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.disable_metrics(),
            Inner::Sync(client) => client.disable_metrics(),
        }
    }

    pub fn metrics_enabled(&self) -> bool {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.metrics_enabled(),
            Inner::Sync(client) => client.metrics_enabled(),
        }
    }

    pub fn metrics(&self) -> ClusterMetrics {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.metrics(),
            Inner::Sync(client) => client.metrics(),
        }
    }

    /// What aerospike-core alone has measured.
    pub fn core_metrics(&self) -> aerospike_core::metrics::ClusterMetrics {
        match &self.inner {
            Inner::Async(client, _) | Inner::Local(_, client, _) => client.core().metrics(),
            Inner::Sync(client) => client.core().metrics(),
        }
    }

    pub fn close(&self) {
        match &self.inner {
            Inner::Async(client, runtime) | Inner::Local(_, client, runtime) => runtime.block_on(client.close()),
            Inner::Sync(client) => client.close(),
        }
        .expect("closing does not fail");
    }
}

/// Runs a test in a thread of its own: a hang is a failure with a name, not a test run without end.
pub fn within(seconds: u64, test: impl FnOnce() + Send + 'static) {
    let (done, outcome) = channel();
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        test();
        let _ = done.send(());
    });
    let thread = thread.expect("a thread");
    match outcome.recv_timeout(Duration::from_secs(seconds)) {
        Err(RecvTimeoutError::Timeout) => panic!("the test hangs: it has not ended after {seconds} s"),
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Waits until something holds; gives up loudly.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "not within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether the tests run on the embedded cluster; if not, says that this one is skipped.
pub fn on_embedded(reason: &str) -> bool {
    let real = std::env::var("AEROSPIKE_HOST").is_ok_and(|host| !host.is_empty());
    if real {
        eprintln!("skipped: AEROSPIKE_HOST is set, and this test {reason}");
    }
    !real
}

pub fn reading(total_ms: u32, retries: usize) -> ReadPolicy {
    let mut policy = ReadPolicy::default();
    policy.base_policy.total_timeout = total_ms;
    policy.base_policy.max_retries = retries;
    policy
}

pub fn writing(total_ms: u32, retries: usize) -> WritePolicy {
    let mut policy = WritePolicy::default();
    policy.base_policy.total_timeout = total_ms;
    policy.base_policy.max_retries = retries;
    policy
}
