//! The text of errors: what happened, where, and the likely cause.

use std::borrow::Cow;
use std::fmt;

use aerospike_core::{ClientResultCode, ResultCode};

use super::{Error, ErrorKind};

impl Error {
    /// The message alone, without code, node and the rest that [`Display`](fmt::Display) adds.
    #[must_use]
    pub fn base_message(&self) -> String {
        self.text().into_owned()
    }

    /// Whether it has a text of its own, which says more than its kind does.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.0.message.is_some()
    }

    fn text(&self) -> Cow<'_, str> {
        let inner = &*self.0;
        if let Some(message) = &inner.message {
            return Cow::Borrowed(message);
        }
        match &inner.kind {
            ErrorKind::Server { rc, detail } => match detail {
                Some(detail) => format!("{rc}, Detail: {detail}").into(),
                None => rc.to_string().into(),
            },
            ErrorKind::MaxErrorRate => format!(
                "too many errors from node {} within the last tend intervals (ClientPolicy::max_error_rate); \
                 nothing is sent to it until the window ends",
                inner.node.as_deref().unwrap_or("<unknown>")
            )
            .into(),
            ErrorKind::ConnectionPoolEmpty => "no connection is ready; one is being opened".into(),
            ErrorKind::NoMoreConnections => "the node has reached its connection limit".into(),
            ErrorKind::StreamTerminated => "the stream of records ended too early".into(),
            ErrorKind::Commit { error_type, .. } => format!("Commit failed: {error_type}").into(),
            ErrorKind::InvalidUtf8(e) => format!("not UTF-8: {e}").into(),
            ErrorKind::Io(e) => e.to_string().into(),
            ErrorKind::ParseAddr(e) => format!("not an address: {e}").into(),
            ErrorKind::ParseInt(e) => format!("not an integer: {e}").into(),
            ErrorKind::PoolExhausted { limit, size, waiting, waiting_bytes } => format!(
                "all connections to the node are full: {size} open, {limit} requests in flight at most, \
                 {waiting} callers waiting with {waiting_bytes} bytes (send less at a time, raise PoolSizing::max, depth, \
                 max_waiting or max_waiting_bytes, or use WhenFull::Wait)"
            )
            .into(),
            ErrorKind::AnswerTooLarge { limit } => format!(
                "the node's answer to the batch has more than {limit} bytes (split the batch, or raise \
                 PoolSizing::max_batch_answer_bytes, max_batch_answer_bytes of Python's ClientPolicy)"
            )
            .into(),
            ErrorKind::ClientClosed => "the client is closed".into(),
            ErrorKind::Interrupted => "the call was interrupted".into(),
            ErrorKind::ConnectFailed { failures } => connect_failures(failures).into(),
            ErrorKind::ClusterNameMismatch { expected, found } => match found {
                Some(found) => format!("the cluster's name is {found:?}, not {expected:?}").into(),
                None => format!("the cluster has no name, but {expected:?} was expected").into(),
            },
            ErrorKind::CredentialsRefused { rc, user } => match user {
                Some(user) => format!("the login of user {user:?} was refused: {rc}").into(),
                None => format!("the node asks for a login, and none was accepted: {rc}").into(),
            },
            ErrorKind::RecordTooBig { size, limit } => {
                format!("the request has {size} bytes, more than the {limit} that a record may have").into()
            }
            _ => code_text(inner.result_code).into(),
        }
    }

    /// The likely cause of a server result code, where the code alone does not tell it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        let (ErrorKind::Server { rc, .. } | ErrorKind::CredentialsRefused { rc, .. }) = &self.0.kind else {
            return None;
        };
        Some(match rc {
            ResultCode::SecurityNotSupported => {
                "the cluster has no access control: leave ClientPolicy::auth_mode at None"
            }
            ResultCode::Timeout => "the server gave up before the client did; it may be overloaded",
            ResultCode::PartitionUnavailable => {
                "nodes are missing from the cluster, or it is still forming (strong consistency, or a cluster restart)"
            }
            ResultCode::KeyBusy => "too many operations on this one record at once: a hot key",
            ResultCode::DeviceOverload => "the server's storage cannot keep up with the writes",
            ResultCode::RecordTooBig => "larger than the namespace's max-record-size (or write block size)",
            ResultCode::GenerationError => "the record was changed by someone else in between",
            ResultCode::FailForbidden => {
                "not allowed now: a TTL on a namespace without expiration, a truncate in progress, or stop-writes"
            }
            ResultCode::ServerMemError => "the namespace is out of space (stop-writes)",
            ResultCode::BinNameTooLong => "bin names have at most 15 bytes",
            ResultCode::BinTypeError => "the bin holds another type than the operation works on",
            ResultCode::NotAuthenticated => "the cluster has security enabled: set ClientPolicy::auth_mode",
            ResultCode::RoleViolation => "the user lacks the role for this operation",
            _ => return None,
        })
    }
}

fn connect_failures(failures: &[super::ConnectFailure]) -> String {
    use std::fmt::Write as _;
    if failures.is_empty() {
        return "there is no address to connect to".into();
    }
    let mut text = String::from("could not connect to the cluster: ");
    for (i, failure) in failures.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = write!(text, "{}{failure}", if i == 0 { "" } else { "; " });
    }
    text
}

fn code_text(code: i32) -> String {
    if code < 0 {
        ClientResultCode::from(code).to_string()
    } else {
        ResultCode::from(u8::try_from(code).unwrap_or(u8::MAX)).to_string()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "Error {}", inner.result_code)?;
        let sub_code = self.sub_code();
        if sub_code != 0 {
            write!(f, ", SubCode: {sub_code}")?;
        }
        if let Some(node) = self.node() {
            write!(f, ", node={node}")?;
        }
        if let Some(attempts) = inner.attempts {
            write!(f, ", attempts={attempts}, phase={}", inner.phase)?;
        }
        if let Some(elapsed) = inner.elapsed {
            write!(f, ", after {elapsed:.1?}")?;
        }
        if self.in_doubt() {
            f.write_str(", In Doubt: true")?;
        }
        write!(f, ": {}", self.text())?;
        if let Some(busy) = self.loop_busy() {
            write!(f, "; the event loop was busy for {busy:.1?} meanwhile")?;
        }
        if let Some(hint) = self.hint() {
            write!(f, " ({hint})")?;
        }
        for (i, earlier) in inner.sub_errors.iter().enumerate() {
            write!(f, "{}{earlier}", if i == 0 { "; earlier attempts: " } else { " | " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Some(cause) = &self.0.source {
            return Some(cause);
        }
        match &self.0.kind {
            ErrorKind::Io(e) => Some(&**e),
            ErrorKind::InvalidUtf8(e) => Some(e),
            ErrorKind::ParseAddr(e) => Some(e),
            ErrorKind::ParseInt(e) => Some(e),
            _ => None,
        }
    }
}
