//! Tasks that live on threads of ours, each thread with a current-thread runtime and a lane of its own: an operation
//! never leaves its thread.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;

use aerospike_core::{BatchPolicy, Bin, Bins, Key, ReadPolicy, Record, WritePolicy};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::{mpsc, oneshot};

use super::asynchronous::{Client, Shared};
use super::batch::{Delegated, async_batch_methods, batch_needs_core, on_lane};
use super::commands::{Apply, Command, Delete, Exists, Get, Operate, Touch, Write};
use super::core_methods::prelude::*;
use super::core_methods::{core_methods, of_change, on_core, stream_methods};
use super::execute::execute;
use super::methods::single_record_methods;
use crate::batch::{BatchOperation, BatchRecord};
use crate::command::encode::WriteKind;
use crate::command::operations_need_core;
use crate::driver::lane_ref::LaneRef;
use crate::driver::tasks::SharedLane;
use crate::error::{Error, Result};
use crate::operations::{Operation, to_core};

type Job = Box<dyn FnOnce(&LocalClient) + Send>;

/// Threads of ours, each with a tokio current-thread runtime and a lane of its own.
///
/// Tasks spawned here get a [`LocalClient`] and need not be `Send`. Dropping the runtime drops its tasks and joins its
/// threads.
pub struct LaneRuntime {
    threads: Vec<LaneThread>,
    next: AtomicUsize,
}

struct LaneThread {
    jobs: Option<mpsc::UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl LaneRuntime {
    /// Starts `threads` threads for this client.
    ///
    /// # Errors
    /// The client is closed, or the system gives no thread.
    pub fn new(client: &Client, threads: NonZeroUsize) -> Result<Self> {
        let threads = (0..threads.get()).map(|index| LaneThread::start(client, index)).collect::<Result<_>>()?;
        Ok(Self { threads, next: AtomicUsize::new(0) })
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Starts a task on the next thread in turn. `task` gets that thread's client and makes the future there.
    pub fn spawn<F, T>(&self, task: impl FnOnce(LocalClient) -> F + Send + 'static) -> LaneTask<T>
    where
        F: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        self.spawn_on(self.next.fetch_add(1, Ordering::Relaxed), task)
    }

    /// Starts a task on a certain thread (counted from 0, taken modulo [`threads`](Self::threads)).
    pub fn spawn_on<F, T>(&self, thread: usize, task: impl FnOnce(LocalClient) -> F + Send + 'static) -> LaneTask<T>
    where
        F: Future<Output = T> + 'static,
        T: Send + 'static,
    {
        let (outcome, receiver) = oneshot::channel();
        let job: Job = Box::new(move |client| {
            let client = client.clone();
            // Made inside of the task: a panic of `task` itself is the task's, too.
            let running = tokio::task::spawn_local(async move { task(client).await });
            tokio::task::spawn_local(async move {
                let _ = outcome.send(running.await.map_err(|e| match e.try_into_panic() {
                    Ok(panic) => LaneTaskError::Panicked(panic),
                    Err(_) => LaneTaskError::Dropped,
                }));
            });
        });
        if let Some(jobs) = &self.threads[thread % self.threads.len()].jobs {
            // A thread that is gone drops the job and with it `outcome`: the task reads as dropped.
            let _ = jobs.send(job);
        }
        LaneTask { receiver }
    }
}

impl fmt::Debug for LaneRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneRuntime").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl LaneThread {
    fn start(client: &Client, index: usize) -> Result<Self> {
        let (jobs, mut incoming) = mpsc::unbounded_channel::<Job>();
        let (started, start) = std::sync::mpsc::channel();
        let shared = Arc::clone(&client.shared);
        let thread = std::thread::Builder::new().name(format!("aerolane-lane-{index}")).spawn(move || {
            let (runtime, client) = match runtime_here(shared) {
                Ok(made) => made,
                Err(error) => return drop(started.send(Err(error))),
            };
            let _ = started.send(Ok(()));
            runtime.block_on(async {
                while let Some(job) = incoming.recv().await {
                    job(&client);
                }
            });
        })?;
        start.recv().unwrap_or_else(|_| Err(io::Error::other("the lane's thread panicked at its start").into()))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }
}

/// A runtime that stays on this thread, and the client of its tasks.
///
/// With a `LocalSet` the tasks would run as one task of the runtime, behind those of the connections, and each round in
/// which one of these wakes a caller would cost a system call to wake the set.
fn runtime_here(shared: Arc<Shared>) -> Result<(LocalRuntime, LocalClient)> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    let lane = shared.lanes.add_one(runtime.handle())?;
    Ok((runtime, LocalClient { shared, lane, _stays_here: PhantomData }))
}

impl Drop for LaneRuntime {
    fn drop(&mut self) {
        for thread in &mut self.threads {
            thread.jobs = None;
        }
        for thread in self.threads.iter_mut().filter_map(|t| t.thread.take()) {
            // A task of ours that drops the runtime ends its own thread soon after; waiting for it would never end.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// A task on a [`LaneRuntime`]. Dropping it lets the task run on.
#[derive(Debug)]
pub struct LaneTask<T> {
    receiver: oneshot::Receiver<std::result::Result<T, LaneTaskError>>,
}

impl<T> LaneTask<T> {
    /// Waits for the outcome, blocking the calling thread.
    ///
    /// # Panics
    /// On a thread of an async runtime, which must not be blocked.
    pub fn wait(self) -> std::result::Result<T, LaneTaskError> {
        self.receiver.blocking_recv().unwrap_or(Err(LaneTaskError::Dropped))
    }
}

impl<T> Future for LaneTask<T> {
    type Output = std::result::Result<T, LaneTaskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(Pin::new(&mut self.receiver).poll(cx)).unwrap_or(Err(LaneTaskError::Dropped)))
    }
}

/// Why a task on a [`LaneRuntime`] gave no outcome.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LaneTaskError {
    /// It panicked; the payload is that of the panic.
    #[error("the task panicked")]
    Panicked(Box<dyn Any + Send>),
    /// The runtime was dropped before the task's end.
    #[error("the lane runtime was dropped before the task ended")]
    Dropped,
}

impl fmt::Debug for LaneTaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panicked(_) => "Panicked(..)",
            Self::Dropped => "Dropped",
        })
    }
}

/// The client of a task on a [`LaneRuntime`]: its operations use the thread's own lane. Stays on its thread.
#[derive(Clone)]
pub struct LocalClient {
    shared: Arc<Shared>,
    lane: Arc<SharedLane>,
    _stays_here: PhantomData<Rc<()>>,
}

impl LocalClient {
    single_record_methods! { (async) (.await) }
    core_methods! { (async) (.await) }
    stream_methods! {}
    async_batch_methods! { |client| &client.lane }

    /// The client of aerospike-core beneath, for all that has no method here.
    #[must_use]
    pub fn core(&self) -> &aerospike_core::Client {
        self.shared.cluster.core()
    }

    fn run<C: Command>(&self, command: C) -> impl Future<Output = Result<C::Output>> {
        execute(&self.shared.cluster, &self.lane, command)
    }

    fn in_txn<C: Command>(&self, command: C) -> impl Future<Output = Result<C::Output>> {
        Box::pin(txn::run(&self.shared, command))
    }

    async fn own_call<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        Box::pin(call).await
    }

    /// On the heap: futures of aerospike-core have up to 30 KB, which those of all callers would carry along.
    fn core_call<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> impl Future<Output = Result<T>> {
        on_core(&self.shared.cluster, Box::pin(call))
    }

    /// [`core_call`](Self::core_call) of a call that changes something.
    fn core_change<T>(&self, call: impl Future<Output = aerospike_core::Result<T>>) -> impl Future<Output = Result<T>> {
        let call = self.core_call(call);
        async move { call.await.map_err(of_change) }
    }
}

impl fmt::Debug for LocalClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalClient").finish_non_exhaustive()
    }
}

impl From<LaneTaskError> for Error {
    fn from(error: LaneTaskError) -> Self {
        Self::client_error(error.to_string())
    }
}
