//! Making errors: by kind, and from the errors of other crates.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aerolane_wire::WireError;
use aerospike_core::{ClientResultCode, CommitErrorType, ResultCode, ServerErrorDetail};

use super::{ConnectFailure, Error, ErrorKind, Inner, Phase};
use crate::batch::{BatchRecord, FailureSummary};

impl Error {
    fn new(kind: ErrorKind, result_code: i32, message: Option<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            result_code,
            in_doubt: false,
            phase: Phase::Queued,
            attempts: None,
            elapsed: None,
            loop_busy: Duration::ZERO,
            message,
            node: None,
            sub_errors: Vec::new(),
            source: None,
        }))
    }

    fn of_server(kind: ErrorKind, rc: ResultCode, message: Option<Cow<'static, str>>) -> Self {
        Self::new(kind, i32::from(u8::from(rc)), message)
    }

    fn of_client(kind: ErrorKind, code: ClientResultCode, message: Option<Cow<'static, str>>) -> Self {
        Self::new(kind, code.into(), message)
    }

    /// An answer of the server with a result code other than 0. One allocation.
    #[must_use]
    pub fn server(rc: impl Into<ResultCode>, node: &Arc<str>) -> Self {
        let mut error = Self::server_bare(rc);
        error.0.node = Some(Arc::clone(node));
        error.0.phase = Phase::Receiving;
        error
    }

    /// A server result code, when no node is known.
    #[must_use]
    pub fn server_bare(rc: impl Into<ResultCode>) -> Self {
        let rc = rc.into();
        Self::of_server(ErrorKind::Server { rc, detail: None }, rc, None)
    }

    /// An answer of the server with a result code and further detail.
    #[must_use]
    pub fn server_with_detail(rc: impl Into<ResultCode>, detail: ServerErrorDetail, node: &Arc<str>) -> Self {
        let mut error = Self::server(rc, node);
        if let ErrorKind::Server { detail: slot, .. } = &mut error.0.kind {
            *slot = Some(Box::new(detail));
        }
        error
    }

    /// The server of a node is too old for what was asked for, which the message tells. Nothing was sent.
    #[must_use]
    pub fn unsupported(message: impl Into<Cow<'static, str>>, node: &Arc<str>) -> Self {
        let rc = ResultCode::UnsupportedFeature;
        let kind = ErrorKind::Server { rc, detail: None };
        Self::of_server(kind, rc, Some(message.into())).with_node(Arc::clone(node))
    }

    /// The operation's deadline passed.
    #[must_use]
    pub fn timeout(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_server(ErrorKind::Timeout, ResultCode::Timeout, Some(message.into()))
    }

    /// The operation's deadline passed after `elapsed`, in the phase given. The message tells what that means.
    #[must_use]
    pub fn deadline(phase: Phase, elapsed: Duration) -> Self {
        let text = match phase {
            Phase::Queued => {
                "the deadline passed before the request could be sent: all connections to the node were busy"
            }
            Phase::Connecting => "the deadline passed while a connection to the node was being opened",
            Phase::Sent => "the deadline passed and the node had not answered",
            Phase::Receiving => "the deadline passed in the middle of the answer",
        };
        Self::timeout(text).with_phase(phase).with_elapsed(elapsed)
    }

    /// The retries were used up.
    #[must_use]
    pub fn max_retries_exceeded(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::Timeout, ClientResultCode::MaxRetriesExceeded, Some(message.into()))
    }

    /// A call ends with this failure of its last attempt, which the error's kind and text are about; `why` says why it is not
    /// tried again. `exhausted`: because the retries are used up.
    pub(crate) fn ended_by(cause: Self, why: &str, exhausted: bool) -> Self {
        let kind = match &cause.0.kind {
            ErrorKind::Connection | ErrorKind::Io(_) | ErrorKind::ConnectFailed { .. } => ErrorKind::Connection,
            kind @ (ErrorKind::Server { .. }
            | ErrorKind::BadResponse
            | ErrorKind::InvalidNode
            | ErrorKind::MaxErrorRate) => kind.clone(),
            _ => ErrorKind::Timeout,
        };
        let code = match kind {
            ErrorKind::Connection | ErrorKind::Timeout if exhausted => ClientResultCode::MaxRetriesExceeded.into(),
            ErrorKind::Timeout => i32::from(u8::from(ResultCode::Timeout)),
            _ => cause.result_code(),
        };
        let message = format!("{why}: {}", cause.base_message());
        Self::new(kind, code, Some(message.into())).with_phase(cause.phase()).with_cause(cause)
    }

    /// The deadline passed, and no connection to the node was open.
    pub(crate) fn not_connected_in_time() -> Self {
        let text = "no connection to the node could be opened in time: it has not answered so far (a firewall, a stalled \
                    node, or a timeout that is too short)";
        Self::connection(text).with_phase(Phase::Connecting)
    }

    /// A connection failed.
    #[must_use]
    pub fn connection(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::Connection, ClientResultCode::ServerNotAvailable, Some(message.into()))
    }

    /// A connection failed with an I/O error; `doing` says at what (`"connect"`, `"read the answer"`).
    #[must_use]
    pub fn connection_io(doing: &str, error: std::io::Error) -> Self {
        Self::connection(format!("could not {doing}: {error}")).with_cause(Self::from(error))
    }

    /// The node's circuit breaker is open.
    #[must_use]
    pub fn max_error_rate(node: &Arc<str>) -> Self {
        Self::of_client(ErrorKind::MaxErrorRate, ClientResultCode::MaxErrorRate, None).with_node(Arc::clone(node))
    }

    /// No connection is free and none may be opened.
    #[must_use]
    pub fn pool_exhausted(
        limit: usize,
        size: usize,
        (waiting, waiting_bytes): (usize, usize),
        node: &Arc<str>,
    ) -> Self {
        let kind = ErrorKind::PoolExhausted { limit, size, waiting, waiting_bytes };
        Self::of_client(kind, ClientResultCode::NoMoreConnections, None).with_node(Arc::clone(node))
    }

    /// The answer to a batch has more bytes than are taken.
    #[must_use]
    pub fn answer_too_large(limit: u64) -> Self {
        Self::of_client(ErrorKind::AnswerTooLarge { limit }, ClientResultCode::ClientError, None)
            .with_phase(Phase::Receiving)
    }

    /// The client is closed.
    #[must_use]
    pub fn client_closed() -> Self {
        Self::of_client(ErrorKind::ClientClosed, ClientResultCode::ClientError, None)
    }

    /// The caller was interrupted.
    #[must_use]
    pub fn interrupted() -> Self {
        Self::of_client(ErrorKind::Interrupted, ClientResultCode::ClientError, None)
    }

    /// A record of a writer had no outcome in time; `sent`: it has been sent at least once.
    #[must_use]
    pub fn record_expired(ttl: Duration, sent: bool) -> Self {
        let how = if sent { "no attempt to write it has succeeded" } else { "it was not sent" };
        let text =
            format!("the record has expired: {how} within its time to live of {ttl:?} (record_ttl of the writer)");
        Self::of_client(ErrorKind::RecordExpired, ClientResultCode::ClientError, Some(text.into()))
    }

    /// The writer is closed.
    #[must_use]
    pub fn writer_closed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::WriterClosed, ClientResultCode::ClientError, Some(message.into()))
    }

    /// No active node fits.
    #[must_use]
    pub fn invalid_node(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::InvalidNode, ClientResultCode::InvalidNodeError, Some(message.into()))
    }

    /// No active node owns a partition of a strongly consistent namespace. Has the result code of a node that is asked for it,
    /// but is no answer: a write of which an earlier attempt was sent is still in doubt.
    pub(crate) fn partition_unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_server(ErrorKind::InvalidNode, ResultCode::PartitionUnavailable, Some(message.into()))
    }

    /// The namespace is unknown; `known` are those of the cluster.
    #[must_use]
    pub fn invalid_namespace<'a>(namespace: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let message = if known.is_empty() {
            format!("namespace {namespace:?} is not known: no partition map has been received from the cluster yet")
        } else {
            format!("the cluster has no namespace {namespace:?}, only: {}", known.join(", "))
        };
        Self::of_server(ErrorKind::InvalidNamespace, ResultCode::InvalidNamespace, Some(message.into()))
    }

    /// An argument cannot be used.
    #[must_use]
    pub fn invalid_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_server(ErrorKind::InvalidArgument, ResultCode::ParameterError, Some(message.into()))
    }

    /// An answer that cannot be understood.
    #[must_use]
    pub fn bad_response(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::BadResponse, ClientResultCode::ParseError, Some(message.into()))
    }

    /// A function of a UDF module has failed; the message is the server's, with file and line.
    #[must_use]
    pub fn udf_bad_response(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_server(ErrorKind::UdfBadResponse, ResultCode::UdfBadResponse, Some(message.into()))
    }

    /// A failure that has no kind of its own.
    #[must_use]
    pub fn client_error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::Client, ClientResultCode::ClientError, Some(message.into()))
    }

    /// A value cannot be put on the wire.
    #[must_use]
    pub fn serialize(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::Client, ClientResultCode::SerializeError, Some(message.into()))
    }

    /// A transaction could not be committed, because of `cause`.
    pub(crate) fn commit_failed(
        error_type: CommitErrorType,
        verify_records: Vec<BatchRecord>,
        roll_records: Vec<BatchRecord>,
        in_doubt: bool,
        cause: Self,
    ) -> Self {
        let kind = ErrorKind::Commit { error_type, verify_records, roll_records };
        Self::of_client(kind, ClientResultCode::TxnFailed, None).with_cause(cause).force_in_doubt(in_doubt)
    }

    /// Rows of a batch have failed.
    pub(crate) fn batch_failed(rows: usize, failed: Vec<(usize, BatchRecord)>) -> Self {
        let mut summary = FailureSummary::default();
        for (row, record) in &failed {
            summary.add(*row, record.result_code(), record.error(), record.in_doubt());
        }
        Self::rows_failed(rows, failed, &summary)
    }

    /// The error of a summary.
    pub(crate) fn rows_failed(rows: usize, failed: Vec<(usize, BatchRecord)>, summary: &FailureSummary) -> Self {
        let kind = ErrorKind::BatchFailed { rows, failed };
        let text = summary.text(rows).into();
        Self::of_client(kind, ClientResultCode::BatchFailed, Some(text)).force_in_doubt(summary.is_in_doubt())
    }

    /// What is asked of a transaction cannot be done to it.
    pub(crate) fn txn_failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_client(ErrorKind::Client, ClientResultCode::TxnFailed, Some(message.into()))
    }

    /// A request larger than any record may be.
    #[must_use]
    pub fn record_too_big(size: usize, limit: usize) -> Self {
        Self::of_server(ErrorKind::RecordTooBig { size, limit }, ResultCode::RecordTooBig, None)
    }

    /// No seed (or no address of a node) could be used.
    #[must_use]
    pub fn connect_failed(failures: Vec<ConnectFailure>) -> Self {
        let kind = ErrorKind::ConnectFailed { failures };
        Self::of_client(kind, ClientResultCode::ServerNotAvailable, None).with_phase(Phase::Connecting)
    }

    /// The cluster has another name than the one asked for.
    #[must_use]
    pub fn cluster_name_mismatch(expected: &str, found: Option<&str>) -> Self {
        let kind = ErrorKind::ClusterNameMismatch { expected: expected.into(), found: found.map(Into::into) };
        Self::of_client(kind, ClientResultCode::InvalidNodeError, None).with_phase(Phase::Connecting)
    }

    /// The node refused the login.
    #[must_use]
    pub fn credentials_refused(rc: impl Into<ResultCode>, user: Option<&str>, node: &Arc<str>) -> Self {
        let rc = rc.into();
        let kind = ErrorKind::CredentialsRefused { rc, user: user.map(Into::into) };
        Self::of_server(kind, rc, None).with_node(Arc::clone(node)).with_phase(Phase::Connecting)
    }
}

impl From<WireError> for Error {
    fn from(e: WireError) -> Self {
        Self::bad_response(format!("malformed bytes: {e}"))
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Self::of_client(ErrorKind::Io(Arc::new(e)), ClientResultCode::ClientError, None)
    }
}

impl From<std::str::Utf8Error> for Error {
    fn from(e: std::str::Utf8Error) -> Self {
        Self::of_client(ErrorKind::InvalidUtf8(e), ClientResultCode::ParseError, None)
    }
}

impl From<std::net::AddrParseError> for Error {
    fn from(e: std::net::AddrParseError) -> Self {
        Self::of_client(ErrorKind::ParseAddr(e), ClientResultCode::ParseError, None)
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(e: std::num::ParseIntError) -> Self {
        Self::of_client(ErrorKind::ParseInt(e), ClientResultCode::ParseError, None)
    }
}

impl From<aerospike_core::Error> for Error {
    /// The same failure, with its code, node, attempts, earlier errors, causes and "in doubt".
    fn from(e: aerospike_core::Error) -> Self {
        Self::from(&e)
    }
}

impl From<&aerospike_core::Error> for Error {
    fn from(e: &aerospike_core::Error) -> Self {
        let kind = convert_kind(e.kind());
        let mut error = Self::new(kind, e.result_code(), None);
        // A core error's text is complete; ours is kept only where it says more than the kind does.
        let message = e.base_message();
        if message != error.base_message() {
            error.0.message = Some(message.into());
        }
        error.0.node = e.node().map(Into::into);
        error.0.attempts = e.iteration();
        error.0.in_doubt = e.in_doubt();
        error.0.sub_errors = e.sub_errors().iter().map(Self::from).collect();
        error.0.source = e.cause().map(Self::from);
        error.0.phase = match error.0.kind {
            ErrorKind::Server { .. } | ErrorKind::UdfBadResponse | ErrorKind::BadResponse => Phase::Receiving,
            _ if error.0.in_doubt => Phase::Sent,
            _ => Phase::Queued,
        };
        error
    }
}

fn convert_kind(kind: &aerospike_core::ErrorKind) -> ErrorKind {
    use aerospike_core::ErrorKind as Core;
    match kind {
        Core::Server { rc, detail } => ErrorKind::Server { rc: *rc, detail: detail.clone() },
        Core::Timeout => ErrorKind::Timeout,
        Core::Connection => ErrorKind::Connection,
        Core::ConnectionPoolEmpty => ErrorKind::ConnectionPoolEmpty,
        Core::NoMoreConnections => ErrorKind::NoMoreConnections,
        Core::MaxErrorRate => ErrorKind::MaxErrorRate,
        Core::InvalidNode => ErrorKind::InvalidNode,
        Core::InvalidNamespace => ErrorKind::InvalidNamespace,
        Core::InvalidArgument => ErrorKind::InvalidArgument,
        Core::BadResponse => ErrorKind::BadResponse,
        Core::ParsePeers => ErrorKind::ParsePeers,
        Core::UdfBadResponse => ErrorKind::UdfBadResponse,
        Core::StreamTerminated => ErrorKind::StreamTerminated,
        Core::Commit { error_type, verify_records, roll_records } => ErrorKind::Commit {
            error_type: error_type.clone(),
            verify_records: verify_records.iter().map(BatchRecord::from).collect(),
            roll_records: roll_records.iter().map(BatchRecord::from).collect(),
        },
        Core::InvalidUtf8(e) => ErrorKind::InvalidUtf8(*e),
        Core::Io(e) => ErrorKind::Io(Arc::new(std::io::Error::new(e.kind(), e.to_string()))),
        Core::ParseAddr(e) => ErrorKind::ParseAddr(e.clone()),
        Core::ParseInt(e) => ErrorKind::ParseInt(e.clone()),
        // `Client`, and kinds that a later aerospike-core may add: the message and the code still tell them apart.
        _ => ErrorKind::Client,
    }
}
