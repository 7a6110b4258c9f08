//! Reads a table, hands its rows over, and waits for their outcomes: on the calling thread, or on one of its own.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use aerolane::Error;
use aerolane::raw::BlockShape;
use aerolane::writer::RawWriter;
use pyo3::prelude::*;
use tokio::sync::Notify;

use super::super::key::WrittenKey;
use super::plan::Plan;
use super::rows::Encoder;
use super::summary::{TableSummary, add_summary, text};
use super::tally::{Owner, Tally};
use crate::columns::{Fault, Input};
use crate::command::interrupted;
use crate::core::ClientCore;
use crate::errors;
use crate::host::{MakeResult, OnCancel};

/// The logger of tables.
const LOG: &str = "aerolane::table";

/// A table on its way to a writer.
pub(in crate::writer) struct Job {
    pub(in crate::writer) core: Arc<ClientCore>,
    pub(in crate::writer) writer: RawWriter<WrittenKey>,
    pub(in crate::writer) plan: Plan,
    pub(in crate::writer) input: Input,
}

/// Why a table was not written to its end.
enum Ended {
    Table(Fault),
    Client(Error),
    /// Nobody waits for it any more, or a signal handler has raised: what is in flight is not waited for.
    Stopped(Option<PyErr>),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Client(error)
    }
}

/// Whether a table is to be written on.
pub(in crate::writer) enum Stop {
    /// Until a signal handler of Python raises: on a thread of Python.
    Signals,
    /// Until somebody says so.
    Flag(Arc<StopFlag>),
}

/// Says that nobody waits any more.
#[derive(Default)]
pub(in crate::writer) struct StopFlag {
    stopped: AtomicBool,
    notify: Notify,
}

impl StopFlag {
    pub(in crate::writer) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.notify.notify_one();
    }
}

impl Stop {
    async fn raised(&self) -> Ended {
        match self {
            Self::Signals => Ended::Stopped(Some(interrupted().await)),
            Self::Flag(flag) => {
                while !flag.stopped.load(Ordering::Acquire) {
                    flag.notify.notified().await;
                }
                Ended::Stopped(None)
            }
        }
    }

    /// Waits for something, which is mostly there.
    fn wait<T>(&self, core: &ClientCore, future: impl Future<Output = T>) -> Result<T, Ended> {
        let mut future = pin!(future);
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Ok(output);
        }
        core.raw.cluster().block_on(async {
            tokio::select! {
                biased;
                output = future => Ok(output),
                ended = self.raised() => Err(ended),
            }
        })?
    }

    /// Looks whether to stop, from time to time.
    fn check(&self, core: &ClientCore, looked: &mut Instant) -> Result<(), Ended> {
        const LOOK_EVERY: Duration = Duration::from_millis(50);
        match self {
            Self::Flag(flag) if flag.stopped.load(Ordering::Acquire) => return Err(Ended::Stopped(None)),
            Self::Signals if looked.elapsed() >= LOOK_EVERY => {
                *looked = Instant::now();
                #[allow(clippy::redundant_closure)] // the method itself is not general enough
                Python::attach(|py| Python::check_signals(py)).map_err(|error| Ended::Stopped(Some(error)))?;
            }
            _ => {}
        }
        if core.raw.cluster().is_closed() { Err(Error::client_closed().into()) } else { Ok(()) }
    }
}

impl Job {
    /// Writes the table, without the GIL. What it gives makes the summary or the exception.
    pub(in crate::writer) fn run(self, stop: &Stop) -> impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + use<> {
        let tally = Tally::new(self.plan.keep);
        self.run_with(tally, stop)
    }

    fn run_with(
        mut self,
        tally: Arc<Tally>,
        stop: &Stop,
    ) -> impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + use<> {
        let mut ended = self.pass(&tally, stop);
        // The table's memory, and what its producer holds, are not needed for what is left.
        let Self { core, writer, input, .. } = self;
        drop(input);
        if !matches!(ended, Err(Ended::Stopped(_))) {
            let settled = stop.wait(&core, tally.settled());
            // Of a client that is closed meanwhile each record has got its outcome.
            if let (Ok(()), Err(why)) = (&ended, settled) {
                ended = Err(why);
            }
        }
        drop(writer);
        if let (Err(Ended::Stopped(_)), Stop::Flag(_)) = (&ended, stop) {
            // The exception has been raised: the log has what came after, once each record has its outcome.
            drop(core.raw.cluster().block_on(tally.settled()));
            log::warn!(target: LOG, "a call of write_table was cancelled: {}", text(tally.counts()));
        }
        let result = tally.result();
        move |py: Python<'_>| {
            let error = match ended {
                Ok(()) => return Ok(Py::new(py, TableSummary::new(py, result)?)?.into_any()),
                Err(Ended::Table(fault)) => fault.into_py(py),
                Err(Ended::Client(error)) => errors::to_py(py, &error),
                Err(Ended::Stopped(raised)) => {
                    raised.unwrap_or_else(|| errors::to_py(py, &Error::client_error("stopped")))
                }
            };
            add_summary(py, &error, result);
            Err(error)
        }
    }

    /// Hands the rows over.
    fn pass(&mut self, tally: &Arc<Tally>, stop: &Stop) -> Result<(), Ended> {
        let Plan { template, names, .. } = &self.plan;
        let owner = Owner { tally: Arc::clone(tally), names: Arc::clone(names) };
        let shape = BlockShape::new(template.clone(), names.namespace(), names.fields());
        let mut encoder = Encoder::new(self.writer.blocks(shape, Arc::new(owner))?);
        let (mut first, mut looked) = (0, Instant::now());
        while let Some(part) = self.input.source.next().map_err(Ended::Table)? {
            let mut row = 0;
            while row < part.rows {
                stop.check(&self.core, &mut looked)?;
                let rows = encoder.encode(&self.plan, &part, row, first, tally);
                row += rows;
                if row == part.rows {
                    // The next part may be long in coming.
                    encoder.blocks.close_all();
                }
                let before = encoder.blocks.handed_over();
                let handed = stop.wait(&self.core, encoder.blocks.hand_over());
                tally.passed(rows, encoder.blocks.handed_over() - before);
                handed??;
            }
            first += part.rows as u64;
        }
        Ok(())
    }

    /// Writes the table on a thread of its own: its producer may block, or run Python code. The second part gives the summary
    /// of a call that is cancelled.
    pub(in crate::writer) fn on_thread(self) -> (impl Future<Output = MakeResult> + Send, OnCancel) {
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let flag = Arc::<StopFlag>::default();
        let stop = Stop::Flag(Arc::clone(&flag));
        let tally = Tally::new(self.plan.keep);
        let so_far = Arc::clone(&tally);
        let thread = std::thread::Builder::new().name("aerolane-table".to_owned());
        let spawned = thread.spawn(move || {
            // Whoever waits may have gone.
            let _ = sender.send(self.run_with(tally, &stop));
        });
        let guard = StopWhenDropped(flag);
        let written = async move {
            let _guard = guard;
            let ended = match spawned {
                Ok(_) => poll_fn(|context| pin!(&mut receiver).poll(context)).await.map_err(|_| None),
                Err(error) => Err(Some(error)),
            };
            let made: MakeResult = match ended {
                Ok(made) => Box::new(made),
                Err(error) => Box::new(move |py| {
                    let text = match error {
                        Some(error) => format!("no thread for the table could be started: {error}"),
                        None => "internal error: the thread of the table has panicked".to_owned(),
                    };
                    Err(errors::to_py(py, &Error::client_error(text)))
                }),
            };
            made
        };
        (written, OnCancel::Tell(Box::new(move |py, error| add_summary(py, error, so_far.result()))))
    }
}

struct StopWhenDropped(Arc<StopFlag>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}
