//! Many calls with bounded concurrency, results in order.
//!
//! [`concurrent`] is for async code, [`SyncClient::concurrent`](crate::SyncClient::concurrent) for threads. Both take their
//! inputs from an iterator as room becomes free, so it may be endless; both hold at most `concurrency` calls that are in
//! flight or whose results nobody has taken yet.
//!
//! For records that are all read or written alike, [`Client::batch`](crate::Client::batch) costs less per record.

mod threads;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, Buffered, Iter, Stream};
use futures_util::{StreamExt, TryStreamExt};

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
    Ok(Concurrent(stream::iter(calls).buffered(checked(concurrency)?)))
}

/// The stream of [`concurrent`].
pub struct Concurrent<I: Iterator>(Buffered<Iter<I>>)
where
    I::Item: Future;

impl<I: Iterator> Concurrent<I>
where
    I::Item: Future,
{
    /// The next output; `None` after the last one.
    pub async fn next(&mut self) -> Option<<I::Item as Future>::Output> {
        self.0.next().await
    }

    /// All outputs, in order.
    pub async fn collect_all(self) -> Vec<<I::Item as Future>::Output> {
        self.0.collect().await
    }

    /// What all calls gave, in order.
    ///
    /// # Errors
    /// The first error, in the order of the calls; those that are in flight are cancelled then.
    pub async fn try_collect_all<T, E>(self) -> std::result::Result<Vec<T>, E>
    where
        I::Item: Future<Output = std::result::Result<T, E>>,
    {
        self.0.try_collect().await
    }
}

impl<I: Iterator> Stream for Concurrent<I>
where
    I::Item: Future,
{
    type Item = <I::Item as Future>::Output;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<I: Iterator> fmt::Debug for Concurrent<I>
where
    I::Item: Future,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Concurrent").field("left", &self.0.size_hint()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
