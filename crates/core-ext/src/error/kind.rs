//! What an [`Error`] can be about.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use aerospike_core::{CommitErrorType, ResultCode, ServerErrorDetail};

use super::Error;
use crate::batch::BatchRecord;

/// The specific failure carried by an [`Error`].
///
/// The first variants are those of `aerospike_core::ErrorKind`, with the same meaning and payload; the others are
/// failures that only this client tells apart. What every failure has (result code, node, attempts, in doubt) is on
/// [`Error`] itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server answered with a result code other than OK.
    Server {
        /// The server's result code.
        rc: ResultCode,
        /// Further detail, when the server sent one (8.2 and later, on request).
        detail: Option<Box<ServerErrorDetail>>,
    },
    /// The deadline passed, or the retries were used up by timeouts, before an answer came.
    Timeout,
    /// A connection failed (refused, reset, closed), or none could be opened before the deadline.
    Connection,
    /// aerospike-core's pool had no ready connection.
    ConnectionPoolEmpty,
    /// More connections would be needed than the node may have.
    NoMoreConnections,
    /// The node's circuit breaker is open: too many errors in the present window. Nothing was sent.
    MaxErrorRate,
    /// No active node fits: none owns the partition, or the node has left the cluster.
    InvalidNode,
    /// The namespace does not exist on this cluster.
    InvalidNamespace,
    /// An argument cannot be used. Nothing was sent.
    InvalidArgument,
    /// The server's answer could not be understood, or is no Aerospike message at all.
    BadResponse,
    /// aerospike-core could not parse a peers list.
    ParsePeers,
    /// A user-defined function failed on the server.
    UdfBadResponse,
    /// A stream of records ended before its end; the cause says why.
    StreamTerminated,
    /// A transaction could not be committed.
    Commit {
        /// The stage that failed.
        error_type: CommitErrorType,
        /// Outcome per key of the verify stage; empty when it did not run.
        verify_records: Vec<BatchRecord>,
        /// Outcome per key of the roll stage; empty when it did not run.
        roll_records: Vec<BatchRecord>,
    },
    /// Rows of a batch have failed; see [`raise_for_failures`](crate::BatchFailures::raise_for_failures).
    BatchFailed {
        /// How many rows the batch has.
        rows: usize,
        /// The rows that did not succeed, each with its place in the batch. None in an error of a [`FailureSummary`](crate::batch::FailureSummary).
        failed: Vec<(usize, BatchRecord)>,
    },
    /// A failure of the client that has no kind of its own; the message tells it.
    Client,
    /// Bytes that should be UTF-8 are not.
    InvalidUtf8(std::str::Utf8Error),
    /// An I/O operation failed.
    Io(Arc<std::io::Error>),
    /// An address could not be parsed.
    ParseAddr(std::net::AddrParseError),
    /// An integer could not be parsed.
    ParseInt(std::num::ParseIntError),

    /// Every connection to the node is full, and the pool is set to fail instead of wait
    /// ([`WhenFull::Fail`](crate::config::WhenFull::Fail)), or too many callers, or bytes of requests, wait already.
    /// Nothing was sent.
    PoolExhausted {
        /// How many requests may be in flight to the node at once.
        limit: usize,
        /// How many connections to the node are open.
        size: usize,
        /// How many callers wait already.
        waiting: usize,
        /// How many bytes their requests have that the client keeps for them.
        waiting_bytes: usize,
    },
    /// The answer of a node to a batch has more bytes than
    /// [`PoolSizing::max_batch_answer_bytes`](crate::PoolSizing::max_batch_answer_bytes): split the batch, or raise the limit.
    /// Its rows have been carried out, or may have been.
    AnswerTooLarge {
        /// The most bytes that are taken.
        limit: u64,
    },
    /// The client is closed. Nothing was sent.
    ClientClosed,
    /// A record of a [`Writer`](crate::Writer) had no outcome within its
    /// [`record_ttl`](crate::WriterOptions::record_ttl). The cause is the failure of its last attempt, if there was one.
    RecordExpired,
    /// The [`Writer`](crate::Writer) is closed. What was not sent is not sent any more.
    WriterClosed,
    /// The caller was interrupted (by a signal) and ended the call; see
    /// [`RawClient::call_interruptible`](crate::client::RawClient::call_interruptible).
    Interrupted,
    /// No seed could be used; each address that was tried, with its own reason.
    ConnectFailed {
        /// One entry per address tried (or per seed, when its name did not resolve).
        failures: Vec<ConnectFailure>,
    },
    /// The seed belongs to a cluster of another name than `ClientPolicy::cluster_name`.
    ClusterNameMismatch {
        /// The name asked for.
        expected: Box<str>,
        /// The name that the node reports; `None` when it has none.
        found: Option<Box<str>>,
    },
    /// The node refused the user or the password (or asks for a login and none is configured).
    CredentialsRefused {
        /// The server's result code.
        rc: ResultCode,
        /// The user name that was sent, when there was one.
        user: Option<Box<str>>,
    },
    /// The record would be larger than the namespace takes. Found before sending.
    RecordTooBig {
        /// Bytes of the request.
        size: usize,
        /// The most that is taken.
        limit: usize,
    },
}

impl ErrorKind {
    /// The variant's name, without its payload: `"Server"`, `"Timeout"`, ...
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Server { .. } => "Server",
            Self::Timeout => "Timeout",
            Self::Connection => "Connection",
            Self::ConnectionPoolEmpty => "ConnectionPoolEmpty",
            Self::NoMoreConnections => "NoMoreConnections",
            Self::MaxErrorRate => "MaxErrorRate",
            Self::InvalidNode => "InvalidNode",
            Self::InvalidNamespace => "InvalidNamespace",
            Self::InvalidArgument => "InvalidArgument",
            Self::BadResponse => "BadResponse",
            Self::ParsePeers => "ParsePeers",
            Self::UdfBadResponse => "UdfBadResponse",
            Self::StreamTerminated => "StreamTerminated",
            Self::Commit { .. } => "Commit",
            Self::BatchFailed { .. } => "BatchFailed",
            Self::Client => "Client",
            Self::InvalidUtf8(_) => "InvalidUtf8",
            Self::Io(_) => "Io",
            Self::ParseAddr(_) => "ParseAddr",
            Self::ParseInt(_) => "ParseInt",
            Self::PoolExhausted { .. } => "PoolExhausted",
            Self::AnswerTooLarge { .. } => "AnswerTooLarge",
            Self::ClientClosed => "ClientClosed",
            Self::RecordExpired => "RecordExpired",
            Self::WriterClosed => "WriterClosed",
            Self::Interrupted => "Interrupted",
            Self::ConnectFailed { .. } => "ConnectFailed",
            Self::ClusterNameMismatch { .. } => "ClusterNameMismatch",
            Self::CredentialsRefused { .. } => "CredentialsRefused",
            Self::RecordTooBig { .. } => "RecordTooBig",
        }
    }
}

/// How far a request had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Phase {
    /// Before any byte was sent: checking, routing, waiting for a place on a connection. The default.
    #[default]
    Queued,
    /// While a connection was being opened for it (TCP, TLS, login).
    Connecting,
    /// It was handed to the socket, and no byte of the answer had come.
    Sent,
    /// A part of the answer had come, or all of it.
    Receiving,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::Connecting => "connecting",
            Self::Sent => "sent",
            Self::Receiving => "receiving",
        })
    }
}

/// One failed try to reach a seed or a node.
#[derive(Debug, Clone)]
pub struct ConnectFailure {
    /// The seed or node, as it was given (`host:port`).
    pub host: Box<str>,
    /// The address tried; `None` when the name did not resolve.
    pub address: Option<SocketAddr>,
    /// Why it failed.
    pub reason: Error,
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) if *address.to_string() != *self.host => write!(f, "{} ({address}): ", self.host)?,
            _ => write!(f, "{}: ", self.host)?,
        }
        f.write_str(&self.reason.base_message())
    }
}
