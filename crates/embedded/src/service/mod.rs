//! The service: plain threads that move bytes between sockets and [`dispatch`].
//!
//! A connection belongs to one thread and is served strictly in order. A thread reads big pieces, answers every whole
//! frame of a piece into one buffer, and writes that once.

mod ahead;
mod alarm;
mod connection;
mod dispatch;
mod link;
mod listener;
mod outbox;
#[cfg(test)]
mod simulated_time;
mod thread;
mod transport;

pub(crate) use listener::BACKLOG;
#[cfg(feature = "tls")]
pub(crate) use transport::Transport;
pub(crate) use transport::TransportFactory;

use crate::cluster::Node;
use mio::net::TcpListener;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use thread::{Close, Command, Mailbox, ServiceThread};

/// Most service threads by default.
const DEFAULT_MAX_THREADS: usize = 4;

/// Stack of a service thread. Nested values and expressions are walked to 512 levels; builds without optimisation need
/// a few KiB for each.
pub(crate) const STACK_SIZE: usize = 8 * 1024 * 1024;

/// Names a listener of a [`Service`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ListenerId(u64);

/// The threads that serve all nodes of a cluster. Dropping it closes all sockets and joins all threads.
#[derive(Debug)]
pub(crate) struct Service {
    mailboxes: Arc<[Mailbox]>,
    joins: Mutex<Vec<JoinHandle<()>>>,
    next_listener: AtomicU64,
}

/// How many threads serve if nothing is said.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(DEFAULT_MAX_THREADS)
}

impl Service {
    /// Starts `threads` threads (at least one).
    pub(crate) fn start(threads: usize) -> io::Result<Self> {
        let mut polls = Vec::new();
        let mut mailboxes = Vec::new();
        for _ in 0..threads.max(1) {
            let poll = mio::Poll::new()?;
            mailboxes.push(Mailbox::new(&poll)?);
            polls.push(poll);
        }
        let service = Self { mailboxes: mailboxes.into(), joins: Mutex::default(), next_listener: AtomicU64::new(1) };
        let dealt = Arc::new(AtomicUsize::new(0));
        for (index, poll) in polls.into_iter().enumerate() {
            let thread = ServiceThread::new(poll, index, Arc::clone(&service.mailboxes), Arc::clone(&dealt));
            // If a later thread cannot be started, dropping `service` ends the earlier ones.
            let join = std::thread::Builder::new()
                .name(format!("aerolane-svc-{index}"))
                .stack_size(STACK_SIZE)
                .spawn(move || thread.run())?;
            service.joins.lock().push(join);
        }
        Ok(service)
    }

    /// Accepts connections for a node, with TLS if `transport` makes it.
    pub(crate) fn listen(
        &self,
        node: Arc<Node>,
        listener: std::net::TcpListener,
        transport: Option<TransportFactory>,
    ) -> io::Result<ListenerId> {
        listener.set_nonblocking(true)?;
        let id = ListenerId(self.next_listener.fetch_add(1, Ordering::Relaxed));
        let (ack, done) = mpsc::channel();
        let at = id.0 as usize % self.mailboxes.len();
        self.mailboxes[at].send(Command::Listen {
            id,
            node,
            listener: TcpListener::from_std(listener),
            transport,
            ack,
        });
        done.recv().unwrap_or_else(|_| Err(io::Error::other("the service has stopped")))?;
        Ok(id)
    }

    /// Closes a listener and all connections that came through it; returns when that is done.
    /// Never call it from a service thread (from a request): it would wait for itself.
    pub(crate) fn close(&self, id: ListenerId) {
        // The listener first: who loses a connection is then refused another one, and connections that it has dealt out are in
        // the mailboxes before the second round.
        for what in [Close::Listener, Close::Connections] {
            let (ack, done) = mpsc::channel();
            for mailbox in self.mailboxes.iter() {
                mailbox.send(Command::Close { id, what, ack: ack.clone() });
            }
            drop(ack);
            while done.recv().is_ok() {}
        }
    }

    /// Closes everything and joins the threads. Calling it again does nothing.
    pub(crate) fn stop(&self) {
        for mailbox in self.mailboxes.iter() {
            mailbox.send(Command::Stop);
        }
        for join in self.joins.lock().drain(..) {
            // A panicked thread has closed its sockets too; there is nothing left to do about it here.
            let _ = join.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}
