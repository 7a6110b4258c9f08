//! Opening connections to nodes: TCP, TLS, login.
//!
//! [`Connector::open`] gives a tokio stream, [`Connector::open_blocking`] a `std` one; both follow the same code, on
//! one of two transports. All addresses of a node are tried in order. With security enabled, the first connection to a node logs in
//! (one caller does, the others wait for its token), the others authenticate with the session token; when the token
//! is refused or has expired, one of them logs in again.

mod login;
mod park;
mod session;
mod stream;
mod tls;
mod transport;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use aerolane_wire::admin;
use aerospike_core::ClientPolicy;

pub(crate) use login::Credentials;
pub use park::{block_on, block_on_until};
use session::{Session, SessionSlot, Sessions};
pub use stream::{BlockingStream, Stream};
use tls::TlsSetup;
pub(crate) use tls::data_is_encrypted;
pub use tls::tls_configured;
use transport::{Blocking, Tokio, Transport};

use crate::error::{Error, ErrorKind, Phase, Result};
use crate::logging::event;
use crate::metrics::{Metrics, OpenFailure};
use crate::topology::{NodeInfo, Turn};

/// The largest answer to a login or authentication that is taken, in bytes.
const MAX_ADMIN_ANSWER: usize = 64 * 1024;
/// The largest answer to an info request while a seed is probed, in bytes.
const MAX_INFO_ANSWER: usize = 1024 * 1024;

/// Opens connections by one client policy. One per cluster: it holds the session tokens.
#[derive(Debug)]
pub struct Connector {
    tls: TlsSetup,
    credentials: Option<Credentials>,
    /// In ms.
    connect_timeout: AtomicU32,
    login_timeout: AtomicU32,
    sessions: Sessions,
    metrics: Option<Arc<Metrics>>,
}

/// What a seed told about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The node's name.
    pub(crate) node: String,
    /// The cluster's name, if it has one.
    pub(crate) cluster_name: Option<String>,
}

impl Connector {
    /// For a policy. Hashes the password (bcrypt: some 50 ms of CPU), so do this once.
    ///
    /// # Errors
    /// `Client` when the password cannot be hashed.
    pub fn new(policy: &ClientPolicy) -> Result<Self> {
        let (connect, login) = time_limits(policy);
        Ok(Self {
            tls: TlsSetup::new(policy),
            credentials: Credentials::from_policy(&policy.auth_mode)?,
            connect_timeout: AtomicU32::new(connect),
            login_timeout: AtomicU32::new(login),
            sessions: Sessions::default(),
            metrics: None,
        })
    }

    /// With metrics of what it opens.
    pub(crate) fn measured(mut self, metrics: &Arc<Metrics>) -> Self {
        self.metrics = Some(Arc::clone(metrics));
        self
    }

    /// Has connections that are opened from now on go by a policy's time limits.
    #[cfg(feature = "dynamic-config")]
    pub(crate) fn set_time_limits(&self, policy: &ClientPolicy) {
        let (connect, login) = time_limits(policy);
        self.connect_timeout.store(connect, Ordering::Relaxed);
        self.login_timeout.store(login, Ordering::Relaxed);
    }

    /// The policy's limit for opening a connection, without the login.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        millis(&self.connect_timeout)
    }

    /// The policy's limit for the login.
    #[must_use]
    pub fn login_timeout(&self) -> Duration {
        millis(&self.login_timeout)
    }

    /// Opens a connection that is ready for requests: connected, encrypted, authenticated. While the node cannot be
    /// reached, attempts take turns: it waits for its own, up to a quarter of a second, or for the failure of another one.
    ///
    /// Needs a tokio runtime with I/O and time. Never takes longer than `timeout`.
    ///
    /// # Errors
    /// `Connection` naming every address and its reason, `CredentialsRefused`, or `InvalidNode` without an address.
    pub async fn open(&self, node: &NodeInfo, timeout: Duration) -> Result<Stream> {
        self.open_on::<Tokio>(node, timeout).await.map(Tokio::into_stream)
    }

    /// [`open`](Self::open) for threads: blocks the calling thread, and needs no runtime. The stream has no timeouts
    /// set.
    pub fn open_blocking(&self, node: &NodeInfo, timeout: Duration) -> Result<BlockingStream> {
        // The blocking transport's futures are ready at once; only waiting for another caller's login parks.
        block_on(self.open_on::<Blocking>(node, timeout)).and_then(Blocking::into_stream)
    }

    async fn open_on<T: Transport>(&self, node: &NodeInfo, timeout: Duration) -> Result<T> {
        let named = |e: Error| e.with_node(Arc::clone(node.label())).with_phase(Phase::Connecting);
        let deadline = Instant::now() + timeout;
        wait_for_turn::<T>(node, deadline).await.map_err(named)?;
        let began = Instant::now();
        let result = self.open_authenticated(node, deadline).await;
        if let Some(metrics) = &self.metrics {
            match &result {
                Ok(_) => metrics.openings.opened(node.id().index(), began.elapsed()),
                Err(error) => metrics.openings.failed(node.id().index(), why(error)),
            }
        }
        let took_ms = began.elapsed().as_millis();
        match &result {
            Ok(_) => event!(debug, "connection opened", node = node.label(), took_ms = took_ms),
            Err(error) => event!(
                debug,
                "connection could not be opened",
                node = node.label(),
                took_ms = took_ms,
                error = error.base_message()
            ),
        }
        result.map_err(named)
    }

    /// Connects and ends the connection, to find out whether the node can be reached again.
    pub(crate) async fn look_for(&self, node: &NodeInfo) {
        let deadline = Instant::now() + self.connect_timeout();
        if wait_for_turn::<Tokio>(node, deadline).await.is_ok() {
            // What becomes of it is kept in mind.
            let _ = self.reach::<Tokio>(node, Instant::now() + self.connect_timeout()).await;
        }
    }

    /// Connects to the node, without a login, and keeps in mind whether it can be reached.
    async fn reach<T: Transport>(&self, node: &NodeInfo, deadline: Instant) -> Result<T> {
        let began = Instant::now();
        let result = self.connect_any(node.addresses(), node.tls_name(), self.tls.for_data(), deadline).await;
        match &result {
            Ok(_) => {
                if node.breaker().record_reachable() {
                    event!(info, "node can be reached again", node = node.label());
                }
            }
            Err(error) if is_outage(error, deadline.saturating_duration_since(began) >= self.connect_timeout()) => {
                let changes = node.breaker().record_unreachable(error, began, Instant::now());
                if changes.went_down {
                    event!(info, "node cannot be reached", node = node.label(), error = error.base_message());
                }
                if changes.opened {
                    node.log_breaker_opened();
                }
            }
            Err(_) => {}
        }
        result
    }

    async fn open_authenticated<T: Transport>(&self, node: &NodeInfo, deadline: Instant) -> Result<T> {
        let Some(credentials) = &self.credentials else {
            return self.reach(node, deadline).await;
        };
        let slot = self.sessions.slot(node.id());
        let mut refused = None;
        // The second round is for a token that was still good here and not any more at the node.
        for _ in 0..2 {
            let mut stream: T = self.reach(node, deadline).await?;
            let session = match slot.current() {
                Some(session) => session,
                None => match self.log_in(&slot, credentials, node, &mut stream, deadline).await? {
                    // Logging in has authenticated this connection, too.
                    LoggedIn::OnThisConnection => return Ok(stream),
                    LoggedIn::Elsewhere(session) => session,
                },
            };
            let Some(token) = session.token() else { return Ok(stream) };
            let rc = authenticate(credentials, token, &mut stream, deadline).await?;
            if rc.is_ok() || rc == aerolane_wire::ResultCode::SECURITY_NOT_ENABLED {
                return Ok(stream);
            }
            slot.forget(&session);
            refused = Some(rc);
        }
        let rc = refused.map_or(0, |rc| rc.0);
        Err(Error::credentials_refused(rc, credentials.user(), node.label()))
    }

    /// Gets a session token: logs in, or waits for the caller who does.
    async fn log_in<T: Transport>(
        &self,
        slot: &SessionSlot,
        credentials: &Credentials,
        node: &NodeInfo,
        stream: &mut T,
        deadline: Instant,
    ) -> Result<LoggedIn> {
        let _turn = T::until(deadline, slot.turn())
            .await
            .ok_or_else(|| Error::connection("no turn to log in came within the time: the node's login is slow"))?;
        if let Some(session) = slot.current() {
            return Ok(LoggedIn::Elsewhere(session));
        }
        if let Some(error) = slot.recent_refusal() {
            return Err(error);
        }
        let login_deadline = deadline.min(Instant::now() + self.login_timeout());
        let result = if self.tls.login_only() {
            // Credentials travel over TLS alone; the connection for requests stays as it is.
            let mut secure: T = self.connect_any(node.login_addresses(), node.tls_name(), true, login_deadline).await?;
            login(credentials, node.label(), &mut secure, login_deadline).await
        } else {
            login(credentials, node.label(), stream, login_deadline).await
        };
        match result {
            Ok(session) => {
                let session = slot.set(session);
                Ok(if self.tls.login_only() { LoggedIn::Elsewhere(session) } else { LoggedIn::OnThisConnection })
            }
            Err(error) => {
                slot.note_failure(&error);
                Err(error)
            }
        }
    }

    /// The first address that takes a connection.
    async fn connect_any<T: Transport>(
        &self,
        addresses: &[SocketAddr],
        tls_name: Option<&str>,
        secure: bool,
        deadline: Instant,
    ) -> Result<T> {
        let mut failures: Vec<(SocketAddr, Error)> = Vec::new();
        for (i, address) in addresses.iter().enumerate() {
            // A silent address must not eat the time of those behind it.
            let now = Instant::now();
            let share = deadline.saturating_duration_since(now) / (addresses.len() - i) as u32;
            let tls = if secure { self.tls.for_server(tls_name)? } else { None };
            match T::connect(*address, tls, now + share.min(self.connect_timeout())).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failures.push((*address, error)),
            }
        }
        Err(match failures.len() {
            0 => Error::invalid_node("the node has no address to connect to"),
            1 => failures.remove(0).1,
            _ => {
                let list: Vec<String> = failures.iter().map(|(a, e)| format!("{a}: {}", e.base_message())).collect();
                Error::connection(format!("no address of the node could be reached: {}", list.join("; ")))
            }
        })
    }

    /// Connects to one address of a seed, logs in if the policy says so, and asks who it is. Every step is bounded by
    /// the policy's timeouts.
    pub(crate) async fn probe(&self, address: SocketAddr, tls_name: Option<&str>, label: &Arc<str>) -> Result<Probe> {
        let tls = self.tls.for_server(tls_name)?;
        let mut stream = Tokio::connect(address, tls, Instant::now() + self.connect_timeout()).await?;
        if let Some(credentials) = &self.credentials {
            login(credentials, label, &mut stream, Instant::now() + self.login_timeout()).await?;
        }
        let mut request = Vec::new();
        aerolane_wire::info::encode_request(&mut request, [&b"node"[..], b"cluster-name"])?;
        let deadline = Instant::now() + self.connect_timeout();
        let body = stream.exchange("ask the node for its name", &request, MAX_INFO_ANSWER, deadline).await?;
        login::read_probe(&body, label)
    }
}

/// The limits for connecting and for the login, in ms.
fn time_limits(policy: &ClientPolicy) -> (u32, u32) {
    let connect = if policy.connect_timeout > 0 { policy.connect_timeout } else { policy.timeout };
    (connect, if policy.login_timeout > 0 { policy.login_timeout } else { connect })
}

fn millis(value: &AtomicU32) -> Duration {
    Duration::from_millis(u64::from(value.load(Ordering::Relaxed)))
}

/// While the node cannot be reached: waits until it is this caller's turn to try.
///
/// # Errors
/// Another attempt has failed meanwhile, or the deadline has passed.
async fn wait_for_turn<T: Transport>(node: &NodeInfo, deadline: Instant) -> Result<()> {
    let outage = node.breaker().outage();
    let mut seen = None;
    loop {
        let news = outage.news();
        let now = Instant::now();
        match outage.turn(now, seen)? {
            Turn::Now => return Ok(()),
            Turn::At(..) if now >= deadline => {
                let late = || Error::connection(format!("could not connect: {}", transport::TOO_LATE));
                return Err(outage.error(node.label(), now).unwrap_or_else(late));
            }
            Turn::At(next, tries) => {
                seen.get_or_insert(tries);
                let _ = T::until(next.min(deadline), news).await;
            }
        }
    }
}

/// Whether a failed attempt to connect says that the node cannot be reached. `in_full`: it had all the time that an attempt
/// is given.
fn is_outage(error: &Error, in_full: bool) -> bool {
    /// What this host ran out of, or does not allow.
    const OWN: [i32; 7] =
        [libc::EPERM, libc::EACCES, libc::ENOMEM, libc::ENFILE, libc::EMFILE, libc::ENOBUFS, libc::EADDRNOTAVAIL];
    let own = |error: &Error| match error.kind() {
        ErrorKind::Io(io) => io.raw_os_error().is_some_and(|code| OWN.contains(&code)),
        _ => false,
    };
    matches!(error.kind(), ErrorKind::Connection)
        && !error.cause().is_some_and(own)
        && (in_full || !error.base_message().contains(transport::TOO_LATE))
}

/// What stood in the way of a connection.
fn why(error: &Error) -> OpenFailure {
    match error.kind() {
        ErrorKind::CredentialsRefused { .. } | ErrorKind::Server { .. } => OpenFailure::Auth,
        _ => {
            let text = error.base_message();
            if text.contains(transport::IN_HANDSHAKE) {
                OpenFailure::Tls
            } else if text.contains(transport::TOO_LATE) {
                OpenFailure::Timeout
            } else {
                OpenFailure::Other
            }
        }
    }
}

/// How a session came about.
enum LoggedIn {
    OnThisConnection,
    Elsewhere(Arc<Session>),
}

async fn login<T: Transport>(
    credentials: &Credentials,
    label: &Arc<str>,
    stream: &mut T,
    deadline: Instant,
) -> Result<Session> {
    let mut request = Vec::new();
    credentials.encode_login(&mut request)?;
    let body = stream.exchange("log in", &request, MAX_ADMIN_ANSWER, deadline).await?;
    login::read_session(&body, credentials, label)
}

async fn authenticate<T: Transport>(
    credentials: &Credentials,
    token: &[u8],
    stream: &mut T,
    deadline: Instant,
) -> Result<aerolane_wire::ResultCode> {
    let mut request = Vec::new();
    admin::encode_authenticate(&mut request, credentials.user().map(str::as_bytes), token)?;
    let body = stream.exchange("log in", &request, MAX_ADMIN_ANSWER, deadline).await?;
    Ok(admin::AdminMessage::decode_prefix(&body)?.0.header.result_code)
}

#[cfg(test)]
mod tests;
