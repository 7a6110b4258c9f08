//! Bounded concurrency for code without async: worker threads.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::checked;
use crate::client::SyncClient;
use crate::error::{Error, Result};
use crate::sync::Mutex;

impl SyncClient {
    /// Calls `call` with each of `inputs` on worker threads, at most `concurrency` at the same time; gives an iterator over
    /// what it gives, in order.
    ///
    /// Inputs are taken on the thread that reads the iterator, as room becomes free: they may be endless. A thread starts
    /// when there is something for it to do. Dropping the iterator lets the calls that have begun come to their end, waits
    /// for them, and begins no others. A panic of `call` goes on in the thread that reads.
    ///
    /// In async code use [`concurrent`](crate::concurrent::concurrent), which needs no threads.
    ///
    /// # Errors
    /// `concurrency` is 0.
    ///
    /// ```no_run
    /// # use aerolane::*;
    /// # fn demo(client: &SyncClient) -> Result<()> {
    /// let keys = (0..10_000).map(|id| as_key!("test", "demo", id));
    /// let policy = ReadPolicy::default();
    /// for record in client.concurrent(16, keys, move |client, key| client.get(&policy, &key, Bins::All))? {
    ///     println!("{:?}", record?.bins);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn concurrent<I, R>(
        &self,
        concurrency: usize,
        inputs: I,
        call: impl Fn(&Self, I::Item) -> Result<R> + Send + Sync + 'static,
    ) -> Result<ConcurrentThreads<I::IntoIter, R>>
    where
        I: IntoIterator,
        I::Item: Send + 'static,
        R: Send + 'static,
    {
        let concurrency = checked(concurrency)?;
        let (jobs, waiting) = channel();
        let client = self.clone();
        Ok(ConcurrentThreads {
            inputs: Some(inputs.into_iter()),
            concurrency,
            pending: VecDeque::new(),
            jobs: Some(jobs),
            workers: Vec::new(),
            waiting: Arc::new(Mutex::new(waiting)),
            over: Arc::default(),
            call: Arc::new(move |input| call(&client, input)),
        })
    }
}

/// What a call gave, or its panic.
type Output<R> = std::thread::Result<Result<R>>;
type Job<T, R> = (T, SyncSender<Output<R>>);
/// Where the threads get what they have to do.
type Jobs<T, R> = Arc<Mutex<Receiver<Job<T, R>>>>;

/// The iterator of [`SyncClient::concurrent`].
pub struct ConcurrentThreads<I: Iterator, R> {
    /// `None`: all were taken.
    inputs: Option<I>,
    concurrency: usize,
    /// Where the outputs of the calls come that were not taken yet, the oldest first.
    pending: VecDeque<Receiver<Output<R>>>,
    /// `None` once the threads are to end.
    jobs: Option<Sender<Job<I::Item, R>>>,
    workers: Vec<JoinHandle<()>>,
    waiting: Jobs<I::Item, R>,
    over: Arc<AtomicBool>,
    call: Arc<dyn Fn(I::Item) -> Result<R> + Send + Sync>,
}

impl<I, R> ConcurrentThreads<I, R>
where
    I: Iterator,
    I::Item: Send + 'static,
    R: Send + 'static,
{
    /// Hands out inputs while there is room. Gives the failure of a thread that could not be started, where there is none.
    fn fill(&mut self) -> Option<std::io::Error> {
        while self.pending.len() < self.concurrency
            && let Some(inputs) = &mut self.inputs
        {
            let Some(input) = inputs.next() else {
                // The threads end when they have done what is left.
                (self.inputs, self.jobs) = (None, None);
                return None;
            };
            if self.workers.len() <= self.pending.len()
                && let Err(error) = self.start()
                && self.workers.is_empty()
            {
                (self.inputs, self.jobs) = (None, None);
                return Some(error);
            }
            let (output, pending) = sync_channel(1);
            if let Some(jobs) = &self.jobs {
                // The receiver is ours.
                let _ = jobs.send((input, output));
            }
            self.pending.push_back(pending);
        }
        None
    }

    fn start(&mut self) -> std::io::Result<()> {
        let (waiting, over, call) = (Arc::clone(&self.waiting), Arc::clone(&self.over), Arc::clone(&self.call));
        let work = move || {
            loop {
                // The lock is held while waiting: the next thread waits for the lock instead.
                let job = waiting.lock().recv();
                let Ok((input, output)) = job else { return };
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(input)));
                // Nobody waits for it when the iterator was dropped.
                let _ = output.send(made);
            }
        };
        self.workers.push(std::thread::Builder::new().name("aerolane-concurrent".to_owned()).spawn(work)?);
        Ok(())
    }
}

impl<I, R> Iterator for ConcurrentThreads<I, R>
where
    I: Iterator,
    I::Item: Send + 'static,
    R: Send + 'static,
{
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if let Some(error) = self.fill() {
            return Some(Err(Error::client_error(format!("no thread could be started: {error}"))));
        }
        match self.pending.pop_front()?.recv() {
            Ok(Ok(output)) => Some(output),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Some(Err(Error::client_error("the thread of a call has ended"))),
        }
    }
}

impl<I: Iterator, R> Drop for ConcurrentThreads<I, R> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.jobs = None;
        for worker in self.workers.drain(..) {
            // It cannot have panicked: calls are caught.
            let _ = worker.join();
        }
    }
}

impl<I: Iterator, R> fmt::Debug for ConcurrentThreads<I, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrentThreads")
            .field("concurrency", &self.concurrency)
            .field("threads", &self.workers.len())
            .finish_non_exhaustive()
    }
}
