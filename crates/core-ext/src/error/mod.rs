//! The error of every operation.
//!
//! [`Error`] has the accessors of `aerospike_core::Error` (a service that changes its `use` lines still compiles),
//! and adds what our data path knows: [`attempts`](Error::attempts), [`phase`](Error::phase) and
//! [`elapsed`](Error::elapsed). It is one pointer wide; making one costs one allocation.

mod construct;
mod display;
mod kind;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aerospike_core::{ClientResultCode, ResultCode, ServerErrorDetail};

pub use kind::{ConnectFailure, ErrorKind, Phase};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed.
///
/// Use [`kind`](Self::kind) to tell failures apart, [`in_doubt`](Self::in_doubt) before repeating a write.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    result_code: i32,
    in_doubt: bool,
    phase: Phase,
    attempts: Option<u32>,
    elapsed: Option<Duration>,
    loop_busy: Duration,
    message: Option<Cow<'static, str>>,
    node: Option<Arc<str>>,
    sub_errors: Vec<Error>,
    source: Option<Error>,
}

/// What was wrong.
impl Error {
    /// The specific failure.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The numeric code: the server's result code for answers of the server, negative for failures of the client
    /// (see `aerospike_core::ClientResultCode`), 9 for a client-side timeout, 4 for an invalid argument.
    #[must_use]
    pub fn result_code(&self) -> i32 {
        self.0.result_code
    }

    /// The server's result code, of this error or of the first cause that has one.
    #[must_use]
    pub fn server_result_code(&self) -> Option<ResultCode> {
        self.chain().find_map(Self::own_server_code)
    }

    /// The client's result code, of this error or of the first cause that has one. `None` for answers of the server
    /// and for client-side timeouts.
    #[must_use]
    pub fn client_result_code(&self) -> Option<ClientResultCode> {
        self.chain().find_map(Self::own_client_code)
    }

    /// Whether this error, or any of its causes, carries one of these server result codes.
    #[must_use]
    pub fn matches(&self, codes: &[ResultCode]) -> bool {
        self.chain().filter_map(Self::own_server_code).any(|rc| codes.contains(&rc))
    }

    /// Whether this error, or any of its causes, carries one of these client result codes.
    #[must_use]
    pub fn matches_client(&self, codes: &[ClientResultCode]) -> bool {
        self.chain().filter_map(Self::own_client_code).any(|rc| codes.contains(&rc))
    }

    /// Whether this error, or any of its causes, is a timeout that the client found (not one that the server reported).
    #[must_use]
    pub fn is_client_timeout(&self) -> bool {
        self.chain().any(|e| matches!(e.0.kind, ErrorKind::Timeout))
    }

    /// The record does not exist (server result code 2).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Server { rc: ResultCode::KeyNotFoundError, .. })
    }

    /// The detail that the server attached, when it was asked for.
    #[must_use]
    pub fn server_error_detail(&self) -> Option<&ServerErrorDetail> {
        self.chain().find_map(|e| match &e.0.kind {
            ErrorKind::Server { detail, .. } => detail.as_deref(),
            _ => None,
        })
    }

    /// The server's subcode; 0 when it sent none. Only meaningful together with the result code.
    #[must_use]
    pub fn sub_code(&self) -> u32 {
        self.server_error_detail().map_or(0, |detail| detail.sub_code)
    }

    /// The text that the server attached, if any.
    #[must_use]
    pub fn server_message(&self) -> Option<&str> {
        self.server_error_detail().map(|detail| detail.message.as_str()).filter(|text| !text.is_empty())
    }
}

/// Where and when it went wrong.
impl Error {
    /// The last node that was tried, as `NAME: host:port`, of this error or of the first cause that knows it.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.chain().find_map(|e| e.0.node.as_deref())
    }

    /// How many attempts were made, when that was recorded. The name that aerospike-core uses.
    #[must_use]
    pub fn iteration(&self) -> Option<u32> {
        self.0.attempts
    }

    /// How many attempts were made; 0 when nothing was attempted or nothing recorded.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts.unwrap_or(0)
    }

    /// How far the last attempt had come.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// Time from the call to the failure, when it was measured.
    #[must_use]
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.elapsed
    }

    /// For how long of the time of the attempts that expired the program kept its event loop (or the threads of its async
    /// runtime) busy, so that no answer could be read. `None` if it did not.
    #[must_use]
    pub fn loop_busy(&self) -> Option<Duration> {
        (!self.0.loop_busy.is_zero()).then_some(self.0.loop_busy)
    }

    /// Whether a write may have been applied although it failed: it was sent, and no definite answer came.
    /// Also true when a cause is in doubt.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        self.chain().any(|e| e.0.in_doubt)
    }

    /// The errors of earlier attempts at the same operation, oldest first. Empty when there was no retry.
    #[must_use]
    pub fn sub_errors(&self) -> &[Error] {
        &self.0.sub_errors
    }

    /// The failure that caused this one.
    #[must_use]
    pub fn cause(&self) -> Option<&Error> {
        self.0.source.as_ref()
    }

    /// This error and its causes, outermost first.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |e| e.0.source.as_ref())
    }

    fn own_server_code(&self) -> Option<ResultCode> {
        match &self.0.kind {
            ErrorKind::Server { rc, .. } | ErrorKind::CredentialsRefused { rc, .. } => Some(*rc),
            _ => None,
        }
    }

    fn own_client_code(&self) -> Option<ClientResultCode> {
        (self.0.result_code < 0).then(|| ClientResultCode::from(self.0.result_code))
    }
}

/// Adding what is known later.
impl Error {
    /// Names the node, unless one is named already. Costs no allocation when given an `Arc<str>`.
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Arc<str>>) -> Self {
        if self.0.node.is_none() {
            self.0.node = Some(node.into());
        }
        self
    }

    /// Gives the error a message in the place of the one that its kind has.
    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = Some(message.into());
        self
    }

    /// Records how many attempts were made.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = Some(attempts);
        self
    }

    /// Records how far the last attempt had come.
    #[must_use]
    pub fn with_phase(mut self, phase: Phase) -> Self {
        self.0.phase = phase;
        self
    }

    /// Records the time from the call to the failure.
    #[must_use]
    pub fn with_elapsed(mut self, elapsed: Duration) -> Self {
        self.0.elapsed = Some(elapsed);
        self
    }

    pub(crate) fn with_loop_busy(mut self, busy: Duration) -> Self {
        self.0.loop_busy = busy;
        self
    }

    /// Adds the errors of earlier attempts, oldest first.
    #[must_use]
    pub fn with_sub_errors(mut self, earlier: Vec<Self>) -> Self {
        if self.0.sub_errors.is_empty() {
            self.0.sub_errors = earlier;
        } else {
            self.0.sub_errors.extend(earlier);
        }
        self
    }

    /// Appends a cause at the end of the chain.
    #[must_use]
    pub fn with_cause(mut self, cause: Self) -> Self {
        self.append_cause(cause);
        self
    }

    fn append_cause(&mut self, cause: Self) {
        match &mut self.0.source {
            Some(source) => source.append_cause(cause),
            None => self.0.source = Some(cause),
        }
    }

    /// Puts a message in front; this error becomes the cause.
    #[must_use]
    pub fn chain_error(self, message: &str) -> Self {
        Self::client_error(message.to_owned()).with_cause(self)
    }

    /// Sets "in doubt" by the rule of Aerospike's clients: a write of which more than one request was sent, or exactly
    /// one that ended in a failure of the client or in the server's own timeout. Reads are never in doubt, and
    /// neither is what was not sent. Applies to the whole chain of causes.
    #[must_use]
    pub fn set_in_doubt(mut self, is_write: bool, requests_sent: u32) -> Self {
        if is_write && requests_sent > 0 {
            let mut link = Some(&mut self);
            while let Some(e) = link {
                e.0.in_doubt |= match e.own_server_code() {
                    Some(rc) => requests_sent > 1 || rc == ResultCode::Timeout,
                    // An answer of the server, too.
                    None if matches!(e.0.kind, ErrorKind::UdfBadResponse) => requests_sent > 1,
                    None => true,
                };
                link = e.0.source.as_mut();
            }
        }
        self
    }

    /// Sets "in doubt" on this error without looking at its kind. What is not in doubt has no cause that is.
    #[must_use]
    pub fn force_in_doubt(mut self, in_doubt: bool) -> Self {
        self.0.in_doubt = in_doubt;
        let mut link = self.0.source.as_mut().filter(|_| !in_doubt);
        while let Some(cause) = link {
            cause.0.in_doubt = false;
            link = cause.0.source.as_mut();
        }
        self
    }
}

#[cfg(test)]
mod tests;
