//! A tokio runtime of the harness for the asynchronous clients.

use std::future::Future;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use super::ClientError;
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::spec::{RunSpec, RuntimeKind};
use crate::worker::{drive_idle_task, drive_task};
use crate::workload::Request;

/// A running tokio runtime; it ends when this is dropped.
#[derive(Debug)]
pub struct TokioHost {
    handle: Handle,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Multi(Option<Runtime>),
    /// A current-thread runtime runs only while a thread blocks on it, so it has a thread of its own.
    Current {
        stop: Option<oneshot::Sender<()>>,
        thread: Option<std::thread::JoinHandle<()>>,
    },
}

impl TokioHost {
    /// The runtime that `spec` asks for.
    ///
    /// # Errors
    /// When the runtime or its thread cannot be started.
    pub fn start(spec: &RunSpec) -> Result<Self, ClientError> {
        match spec.runtime {
            RuntimeKind::Multi => {
                let runtime = Builder::new_multi_thread()
                    .worker_threads(spec.worker_threads())
                    .thread_name("tokio-worker")
                    .enable_all()
                    .build()
                    .map_err(ClientError::Runtime)?;
                Ok(Self { handle: runtime.handle().clone(), kind: Kind::Multi(Some(runtime)) })
            }
            RuntimeKind::Current => {
                let runtime = Builder::new_current_thread().enable_all().build().map_err(ClientError::Runtime)?;
                let handle = runtime.handle().clone();
                let (stop, stopped) = oneshot::channel();
                let thread = std::thread::Builder::new()
                    .name("tokio-current".to_owned())
                    .spawn(move || {
                        let _ = runtime.block_on(stopped);
                        runtime.shutdown_background();
                    })
                    .map_err(ClientError::Runtime)?;
                Ok(Self { handle, kind: Kind::Current { stop: Some(stop), thread: Some(thread) } })
            }
        }
    }

    /// Where to spawn tasks.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task per busy worker; each makes its requests with `call`.
    pub(crate) fn spawn_busy<F, Fut>(&self, stage: &Stage, call: F)
    where
        F: Fn(Request) -> Fut + Send + Copy + 'static,
        Fut: Future<Output = Result<Done, Failure>> + Send + 'static,
    {
        for part in stage.parts() {
            self.handle.spawn(drive_task(part, call));
        }
    }

    /// Spawns the tasks beside the busy ones: those that are idle and those that read large records. They read single
    /// records with `call`.
    pub(crate) fn spawn_beside<F, Fut>(&self, stage: &Stage, call: F)
    where
        F: Fn(Request) -> Fut + Send + Copy + 'static,
        Fut: Future<Output = Result<Done, Failure>> + Send + 'static,
    {
        for part in stage.idle_parts() {
            self.handle.spawn(drive_idle_task(part, call));
        }
        for part in stage.background_parts() {
            self.handle.spawn(drive_task(part, call));
        }
    }

    /// Runs `future` on the runtime and waits for it. Must not be called from one of its own threads.
    ///
    /// # Panics
    /// When `future` panics.
    pub fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (done, wait) = std::sync::mpsc::channel();
        self.handle.spawn(async move {
            let _ = done.send(future.await);
        });
        wait.recv().expect("the task on the harness's runtime panicked")
    }
}

impl Drop for TokioHost {
    fn drop(&mut self) {
        match &mut self.kind {
            Kind::Multi(runtime) => {
                if let Some(runtime) = runtime.take() {
                    runtime.shutdown_background();
                }
            }
            Kind::Current { stop, thread } => {
                drop(stop.take());
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
        }
    }
}
