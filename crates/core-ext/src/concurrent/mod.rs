//! Many calls with bounded concurrency, results in order.
//!
//! [`concurrent`] and [`concurrent_stream`] are for async code, [`SyncClient::concurrent`](crate::SyncClient::concurrent) is for
//! threads. They take their inputs from an iterator or a stream as room becomes free, so it may be endless; they hold at most
//! `concurrency` calls that are in flight or whose results nobody has taken yet.
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
pub fn concurrent<I>(concurrency: usize, calls: I) -> Result<Concurrent<Iter<I::IntoIter>>>
where
    I: IntoIterator,
    I::Item: Future,
{
    concurrent_stream(concurrency, stream::iter(calls))
}

/// The same with calls that come from a stream: what another system sends, say.
///
/// # Errors
/// `concurrency` is 0.
///
/// ```no_run
/// # use aerolane::*;
/// # use aerolane::concurrent::concurrent_stream;
/// # use futures::StreamExt;
/// # async fn demo(client: &Client, orders: impl futures::Stream<Item = (Key, i64)>) -> Result<()> {
/// let policy = WritePolicy::default();
/// let calls = orders.map(|(key, total)| {
///     let policy = &policy;
///     async move { client.put(policy, &key, &[as_bin!("total", total)]).await }
/// });
/// let mut written = concurrent_stream(128, calls)?;
/// while let Some(result) = written.next().await {
///     result?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn concurrent_stream<S>(concurrency: usize, calls: S) -> Result<Concurrent<S>>
where
    S: Stream,
    S::Item: Future,
{
    Ok(Concurrent(Box::pin(calls.buffered(checked(concurrency)?))))
}

/// The stream of [`concurrent`] and [`concurrent_stream`].
pub struct Concurrent<S: Stream>(Pin<Box<Buffered<S>>>)
where
    S::Item: Future;

impl<S: Stream> Concurrent<S>
where
    S::Item: Future,
{
    /// The next output; `None` after the last one.
    pub async fn next(&mut self) -> Option<<S::Item as Future>::Output> {
        self.0.next().await
    }

    /// All outputs, in order.
    pub async fn collect_all(self) -> Vec<<S::Item as Future>::Output> {
        self.0.collect().await
    }

    /// What all calls gave, in order.
    ///
    /// # Errors
    /// The first error, in the order of the calls; those that are in flight are cancelled then.
    pub async fn try_collect_all<T, E>(self) -> std::result::Result<Vec<T>, E>
    where
        S::Item: Future<Output = std::result::Result<T, E>>,
    {
        self.0.try_collect().await
    }
}

impl<S: Stream> Stream for Concurrent<S>
where
    S::Item: Future,
{
    type Item = <S::Item as Future>::Output;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<S: Stream> fmt::Debug for Concurrent<S>
where
    S::Item: Future,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Concurrent").field("left", &self.0.size_hint()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
