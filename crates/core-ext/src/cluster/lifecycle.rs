//! The life of a cluster on the control thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aerospike_core::{AuthMode, Client, ClientPolicy, Host};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::control::ControlLease;
use super::worker::Worker;
use super::{Shared, Stage, Started, reached, seeds};
use crate::error::{Error, Result};

/// How long aerospike-core's client may take to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// How long aerospike-core may take to find the cluster before the seeds are looked at beside it.
const HEAD_START: Duration = Duration::from_millis(100);
/// How long threads within `Cluster::block_on` may take to notice that the cluster is being closed, and tasks to end.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// Starts, follows the cluster until it is to be closed, and leaves nothing behind.
pub(super) async fn live(
    lease: ControlLease,
    policy: Arc<ClientPolicy>,
    hosts: Vec<Host>,
    mut started: oneshot::Sender<Result<Started>>,
) {
    let hashes = hashes_password(&policy);
    let begun = tokio::select! {
        biased;
        // The caller of `connect` has given up.
        () = started.closed() => return,
        begun = async {
            let shared = Arc::new(aside(hashes, async move { Shared::new(policy) }).await??);
            let (core, worker) = begin(&shared, &hosts).await?;
            Ok((shared, core, worker))
        } => begun,
    };
    let (shared, core, mut worker) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    // Also when something here panics: nobody may wait for ever.
    let closed = MarkClosed { shared: Arc::clone(&shared), lease: Some(lease) };
    if started.send(Ok(Started { shared: Arc::clone(&shared), core: core.client.clone() })).is_ok() {
        let mut stage = shared.stage.subscribe();
        tokio::select! {
            () = reached(&mut stage, Stage::Closing) => {}
            () = worker.run() => {}
        }
    }
    shared.closing.store(true, Ordering::Release);
    shared.stage.send_if_modified(|stage| std::mem::replace(stage, Stage::Closing) != Stage::Closing);
    drop(worker);
    shared.listeners.notify(&shared.topology.load_full());
    core.close().await;
    // Threads that use this runtime's reactor must be out before it is gone.
    wait_until(|| shared.visitors.load(Ordering::SeqCst) == 0).await;
    // Whoever waits for the closing finds what tasks leave behind, such as the outcomes of a writer's records.
    shared.stage.send_replace(Stage::Ending);
    wait_until(|| Arc::strong_count(&shared.tasks) == 1).await;
    drop(closed);
}

/// Ends the cluster's share in the control thread, and tells those who wait for it.
struct MarkClosed {
    shared: Arc<Shared>,
    lease: Option<ControlLease>,
}

impl Drop for MarkClosed {
    fn drop(&mut self) {
        self.lease = None;
        self.shared.closing.store(true, Ordering::Release);
        self.shared.stage.send_replace(Stage::Closed);
    }
}

/// aerospike-core's client, whose tend would go on for ever if it were not closed.
struct Core {
    client: Client,
    closed: bool,
}

impl Core {
    async fn close(mut self) {
        match tokio::time::timeout(CLOSE_LIMIT, self.client.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => crate::logging::warn!("closing aerospike-core's client: {error}"),
            // Its tend ends with the round that it is in.
            Err(_) => crate::logging::warn!("aerospike-core's client did not close within {CLOSE_LIMIT:?}"),
        }
        self.closed = true;
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // The caller of `connect` gave up, or something panicked.
        if !self.closed
            && let Ok(runtime) = Handle::try_current()
        {
            let client = self.client.clone();
            runtime.spawn(async move { client.close().await });
        }
    }
}

/// Whether connecting hashes a password: some 50 ms of CPU, each time.
fn hashes_password(policy: &ClientPolicy) -> bool {
    !matches!(policy.auth_mode, AuthMode::None | AuthMode::Pki)
}

/// Runs what hashes a password on a thread of its own, so that other clusters' control plane does not stand still. Ends
/// when it is dropped.
async fn aside<F>(hashes: bool, future: F) -> Result<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if !hashes {
        return Ok(future.await);
    }
    let (runtime, (_given_up, mut ended)) = (Handle::current(), oneshot::channel::<()>());
    let thread = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = &mut ended => None,
                output = future => Some(output),
            }
        })
    });
    thread.await.ok().flatten().ok_or_else(|| Error::client_error("a thread of the control plane ended unexpectedly"))
}

async fn begin(shared: &Arc<Shared>, hosts: &[Host]) -> Result<(Core, Worker)> {
    let required = shared.policy.fail_if_not_connected;
    let core = discover(shared, hosts).await?;
    let mut worker = Worker::new(Arc::clone(shared), core.client.clone(), hosts);
    match worker.first_map().await {
        Ok(()) => Ok((core, worker)),
        Err(error) if required => {
            core.close().await;
            Err(error)
        }
        Err(error) => {
            crate::logging::warn!("operations fail until the cluster can be reached: {error}");
            Ok((core, worker))
        }
    }
}

/// Starts aerospike-core's client. Seeds that do not work are found out beside it: all at once, and with the reason of each.
async fn discover(shared: &Arc<Shared>, hosts: &[Host]) -> Result<Core> {
    // aerospike-core bounds each of its steps; this bounds their sum, which grows with the seeds that are dead.
    let step = shared.connector.connect_timeout() + shared.connector.login_timeout();
    let limit = (step * (hosts.len() as u32 + 10)).clamp(Duration::from_secs(10), Duration::from_secs(300));
    let (policy, seeds) = (Arc::clone(&shared.policy), hosts.to_vec());
    let hashes = hashes_password(&policy);
    let mut core = pin!(async {
        let client = aside(hashes, async move { Client::new(&policy, &seeds).await });
        match tokio::time::timeout(limit, client).await {
            Ok(client) => Ok(Core { client: client??, closed: false }),
            Err(_) => Err(Error::connection(format!("the cluster was not discovered within {limit:?}"))),
        }
    });
    let probed = if hashes {
        // A login that fails is to fail once: users may be locked out.
        seeds::probe(shared, hosts).await
    } else {
        tokio::select! {
            biased;
            core = &mut core => return match core {
                Err(error) => Err(seeds::probe(shared, hosts).await.err().unwrap_or(error)),
                core => core,
            },
            probed = async {
                tokio::time::sleep(HEAD_START).await;
                seeds::probe(shared, hosts).await
            } => probed,
        }
    };
    if let Err(error) = probed {
        if shared.policy.fail_if_not_connected {
            return Err(error);
        }
        crate::logging::warn!("no seed can be used yet: {error}");
    }
    core.await
}

/// Waits for those who have been told of the closing, for a limited time.
async fn wait_until(left: impl Fn() -> bool) {
    let limit = tokio::time::Instant::now() + LEAVE_LIMIT;
    // Tasks need one turn of this thread as a rule.
    tokio::task::yield_now().await;
    while !left() && tokio::time::Instant::now() < limit {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
