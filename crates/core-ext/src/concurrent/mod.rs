//! Many calls with bounded concurrency, results in order.
//!
//! [`concurrent`] is for async code, [`SyncClient::concurrent`](crate::SyncClient::concurrent) for threads. Both take their
//! inputs from an iterator as room becomes free, so it may be endless; both hold at most `concurrency` calls that are in
//! flight or whose results nobody has taken yet.
//!
//! For records that are all read or written alike, [`Client::batch`](crate::Client::batch) costs less per record.

mod threads;

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use parking_lot::Mutex;

pub use threads::ConcurrentThreads;

use crate::error::{Error, Result};

/// Checks a concurrency.
fn checked(concurrency: usize) -> Result<usize> {
    if concurrency == 0 {
        return Err(Error::invalid_argument("concurrency is 0: at least 1 expected"));
    }
    Ok(concurrency)
}

/// Runs the futures of `calls`, at most `concurrency` at the same time; gives a stream of their outputs, in order.
///
/// A future is made when there is room for it, and dropped as soon as it is over. Dropping the stream drops all futures:
/// calls in flight are cancelled. An item that is an error ends nothing: stop there, or go on.
///
/// A call counts until its output has been taken from the stream. So memory is bounded also where the first call is the
/// slowest or nobody reads; it also means that a call much slower than those behind it holds them up.
///
/// # Errors
/// `concurrency` is 0.
///
/// ```no_run
/// # use aerolane::*;
/// # use aerolane::concurrent::concurrent;
/// # async fn demo(client: &Client) -> Result<()> {
/// let policy = ReadPolicy::default();
/// let keys: Vec<_> = (0..10_000).map(|id| as_key!("test", "demo", id)).collect();
/// let calls = keys.iter().map(|key| client.get(&policy, key, Bins::All));
/// let records: Vec<Result<Record>> = concurrent(128, calls)?.collect_all().await;
/// # Ok(())
/// # }
/// ```
pub fn concurrent<I>(concurrency: usize, calls: I) -> Result<Concurrent<I::IntoIter>>
where
    I: IntoIterator,
    I::Item: Future,
{
    Ok(Concurrent {
        calls: Some(calls.into_iter()),
        concurrency: checked(concurrency)?,
        running: VecDeque::new(),
        first: 0,
        woken: Arc::default(),
    })
}

/// The stream of [`concurrent`].
pub struct Concurrent<I: Iterator>
where
    I::Item: Future,
{
    /// `None`: all were taken.
    calls: Option<I>,
    concurrency: usize,
    /// The calls whose outputs are still to be taken, the oldest first.
    running: VecDeque<Call<I::Item>>,
    /// The number of the oldest.
    first: usize,
    woken: Arc<Woken>,
}

enum Call<F: Future> {
    Running(Pin<Box<F>>, Waker),
    Over(F::Output),
}

/// Which calls want to be polled, and who polls them.
#[derive(Default)]
struct Woken(Mutex<(Vec<usize>, Option<Waker>)>);

/// Wakes one call.
struct OfCall {
    number: usize,
    woken: Arc<Woken>,
}

impl Wake for OfCall {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waker = {
            let mut woken = self.woken.0.lock();
            woken.0.push(self.number);
            woken.1.take()
        };
        // Without the lock: it may poll at once.
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<F: Future> Call<F> {
    fn poll(&mut self) {
        if let Self::Running(call, waker) = self
            && let Poll::Ready(output) = call.as_mut().poll(&mut Context::from_waker(waker))
        {
            *self = Self::Over(output);
        }
    }
}

impl<I: Iterator> Concurrent<I>
where
    I::Item: Future,
{
    /// The next output; `None` after the last one.
    pub async fn next(&mut self) -> Option<<I::Item as Future>::Output> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// All outputs, in order.
    pub async fn collect_all(mut self) -> Vec<<I::Item as Future>::Output> {
        let mut all = Vec::new();
        while let Some(output) = self.next().await {
            all.push(output);
        }
        all
    }

    /// What all calls gave, in order.
    ///
    /// # Errors
    /// The first error, in the order of the calls; those that are in flight are cancelled then.
    pub async fn try_collect_all<T, E>(mut self) -> std::result::Result<Vec<T>, E>
    where
        I::Item: Future<Output = std::result::Result<T, E>>,
    {
        let mut all = Vec::new();
        while let Some(output) = self.next().await {
            all.push(output?);
        }
        Ok(all)
    }

    /// Begins calls while there is room.
    fn fill(&mut self) {
        while self.running.len() < self.concurrency
            && let Some(calls) = &mut self.calls
        {
            let Some(future) = calls.next() else {
                self.calls = None;
                return;
            };
            let number = self.first.wrapping_add(self.running.len());
            let waker = Waker::from(Arc::new(OfCall { number, woken: Arc::clone(&self.woken) }));
            let mut call = Call::Running(Box::pin(future), waker);
            call.poll();
            self.running.push_back(call);
        }
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<<I::Item as Future>::Output>> {
        self.fill();
        let numbers = {
            let mut woken = self.woken.0.lock();
            woken.1 = Some(cx.waker().clone());
            std::mem::take(&mut woken.0)
        };
        // Those that are woken meanwhile wake this one again.
        for number in numbers {
            // One that is over, and was taken, may have been woken before.
            if let Some(call) = self.running.get_mut(number.wrapping_sub(self.first)) {
                call.poll();
            }
        }
        match self.running.pop_front() {
            Some(Call::Over(output)) => {
                self.first = self.first.wrapping_add(1);
                Poll::Ready(Some(output))
            }
            Some(running) => {
                self.running.push_front(running);
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }
}

// Futures are pinned on the heap; nothing else needs to stay where it is.
impl<I: Iterator> Unpin for Concurrent<I> where I::Item: Future {}

impl<I: Iterator> Stream for Concurrent<I>
where
    I::Item: Future,
{
    type Item = <I::Item as Future>::Output;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.calls.as_ref().map_or((0, Some(0)), Iterator::size_hint);
        let running = self.running.len();
        (least.saturating_add(running), most.and_then(|most| most.checked_add(running)))
    }
}

impl<I: Iterator> fmt::Debug for Concurrent<I>
where
    I::Item: Future,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (concurrency, running) = (self.concurrency, self.running.len());
        f.debug_struct("Concurrent")
            .field("concurrency", &concurrency)
            .field("running", &running)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
