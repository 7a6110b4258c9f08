//! The life of the control thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aerospike_core::{Client, ClientPolicy, Host};
use tokio::sync::oneshot;

use super::worker::Worker;
use super::{Life, Shared, Started, seeds};
use crate::error::{Error, Result};

/// How long aerospike-core's client may take to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// How long threads within `Cluster::block_on` may take to notice that the cluster is being closed.
const VISITORS_LIMIT: Duration = Duration::from_secs(1);

/// Starts, follows the cluster until it is to be closed, and leaves nothing behind.
pub(super) fn main(policy: Arc<ClientPolicy>, hosts: &[Host], started: oneshot::Sender<Result<Started>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::client_error(format!("the control runtime cannot be built: {e}")));
    match (runtime, Shared::new(policy)) {
        (Ok(runtime), Ok(shared)) => {
            let shared = Arc::new(shared);
            // Also when something here panics: nobody may wait for ever.
            let _closed = MarkClosed(&shared);
            runtime.block_on(live(&shared, hosts, started));
            // Drops what is left of tasks. Threads that resolve names end with their look-up.
            runtime.shutdown_background();
        }
        (Err(error), _) | (_, Err(error)) => {
            // If the caller is gone, there is nobody to tell.
            let _ = started.send(Err(error));
        }
    }
}

struct MarkClosed<'a>(&'a Shared);

impl Drop for MarkClosed<'_> {
    fn drop(&mut self) {
        self.0.closing.store(true, Ordering::Release);
        self.0.life.send_replace(Life::Closed);
    }
}

async fn live(shared: &Arc<Shared>, hosts: &[Host], mut started: oneshot::Sender<Result<Started>>) {
    let begun = tokio::select! {
        biased;
        // The caller of `connect` has given up.
        () = started.closed() => return,
        begun = begin(shared, hosts) => begun,
    };
    let (core, mut worker) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let runtime = tokio::runtime::Handle::current();
    if started.send(Ok(Started { shared: Arc::clone(shared), core: core.clone(), runtime })).is_ok() {
        let mut life = shared.life.subscribe();
        tokio::select! {
            // Fails only when the sender is gone, and `shared` holds it.
            _ = life.wait_for(|life| *life >= Life::Closing) => {}
            () = worker.run() => {}
        }
    }
    shared.closing.store(true, Ordering::Release);
    shared.life.send_if_modified(|life| std::mem::replace(life, Life::Closing) != Life::Closing);
    shared.listeners.notify(&shared.topology.load_full());
    close(&core).await;
    wait_for_visitors(shared).await;
}

async fn begin(shared: &Arc<Shared>, hosts: &[Host]) -> Result<(Client, Worker)> {
    let required = shared.policy.fail_if_not_connected;
    if let Err(error) = seeds::probe(shared, hosts).await {
        if required {
            return Err(error);
        }
        log::warn!("no seed can be used yet: {error}");
    }
    // aerospike-core bounds each of its steps; this bounds their sum, which grows with the seeds that are dead.
    let step = shared.connector.connect_timeout() + shared.connector.login_timeout();
    let limit = (step * (hosts.len() as u32 + 10)).clamp(Duration::from_secs(10), Duration::from_secs(300));
    let core = match tokio::time::timeout(limit, Client::new(&shared.policy, &hosts.to_vec())).await {
        Ok(core) => core?,
        Err(_) => return Err(Error::connection(format!("the cluster was not discovered within {limit:?}"))),
    };
    let mut worker = Worker::new(Arc::clone(shared), core.clone(), hosts);
    match worker.first_map().await {
        Ok(()) => Ok((core, worker)),
        Err(error) if required => {
            close(&core).await;
            Err(error)
        }
        Err(error) => {
            log::warn!("operations fail until the cluster can be reached: {error}");
            Ok((core, worker))
        }
    }
}

async fn close(core: &Client) {
    match tokio::time::timeout(CLOSE_LIMIT, core.close()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log::warn!("closing aerospike-core's client: {error}"),
        // Its tasks end with the runtime.
        Err(_) => log::warn!("aerospike-core's client did not close within {CLOSE_LIMIT:?}"),
    }
}

/// Threads that use this runtime's reactor are told of the closing; they must be out before it is gone.
async fn wait_for_visitors(shared: &Shared) {
    let limit = tokio::time::Instant::now() + VISITORS_LIMIT;
    while shared.visitors.load(Ordering::SeqCst) > 0 && tokio::time::Instant::now() < limit {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
