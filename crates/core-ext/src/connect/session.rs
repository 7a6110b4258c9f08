//! Session tokens, one per node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};
use crate::topology::NodeId;

/// For how long a refused login is not tried again: a wrong password must not cost the server a bcrypt per connection.
const REFUSAL_KEPT: Duration = Duration::from_millis(500);
/// For how long a node that wants no login is not asked again.
const NOT_NEEDED_FOR: Duration = Duration::from_secs(60);

/// What a login gave.
#[derive(Debug)]
pub(super) struct Session {
    /// `None`: the node wants no login.
    token: Option<Box<[u8]>>,
    /// When to log in again; `None`: when the node refuses the token.
    expires: Option<Instant>,
}

impl Session {
    /// With the time to live that the server gave, in seconds.
    pub(super) fn new(token: &[u8], ttl: Option<u32>) -> Self {
        // Renewed a minute early as other clients do, or after three quarters of a life too short for that.
        let life = ttl.map(|ttl| Duration::from_secs(u64::from(if ttl > 240 { ttl - 60 } else { ttl / 4 * 3 })));
        Self { token: Some(token.into()), expires: life.and_then(|life| Instant::now().checked_add(life)) }
    }

    /// The node has security switched off.
    pub(super) fn not_needed() -> Self {
        Self { token: None, expires: Instant::now().checked_add(NOT_NEEDED_FOR) }
    }

    /// What to authenticate with, if that is needed.
    pub(super) fn token(&self) -> Option<&[u8]> {
        self.token.as_deref()
    }
}

/// All nodes' sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<NodeId, Arc<SessionSlot>>>);

impl Sessions {
    pub(super) fn slot(&self, node: NodeId) -> Arc<SessionSlot> {
        Arc::clone(lock(&self.0).entry(node).or_default())
    }
}

/// One node's session, and the queue of those who wait for it.
#[derive(Debug, Default)]
pub(super) struct SessionSlot {
    /// Held by the caller who logs in.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Arc<Session>>,
    refusal: Option<(Instant, Error)>,
}

impl SessionSlot {
    /// Waits until nobody else logs in.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// The session, if there is one that has not expired.
    pub(super) fn current(&self) -> Option<Arc<Session>> {
        let mut state = lock(&self.state);
        if state.session.as_ref().is_some_and(|s| s.expires.is_some_and(|at| at <= Instant::now())) {
            state.session = None;
        }
        state.session.clone()
    }

    pub(super) fn set(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        *lock(&self.state) = State { session: Some(Arc::clone(&session)), refusal: None };
        session
    }

    /// Drops this session, which the node has refused; another caller may have renewed it already.
    pub(super) fn forget(&self, refused: &Arc<Session>) {
        let mut state = lock(&self.state);
        if state.session.as_ref().is_some_and(|s| Arc::ptr_eq(s, refused)) {
            state.session = None;
        }
    }

    /// Keeps a refusal for those who wait.
    pub(super) fn note_failure(&self, error: &Error) {
        if matches!(error.kind(), ErrorKind::CredentialsRefused { .. }) {
            lock(&self.state).refusal = Some((Instant::now(), error.clone()));
        }
    }

    /// The refusal, if it is fresh.
    pub(super) fn recent_refusal(&self) -> Option<Error> {
        let state = lock(&self.state);
        state.refusal.as_ref().filter(|(at, _)| at.elapsed() < REFUSAL_KEPT).map(|(_, error)| error.clone())
    }
}

/// A panic while one of these was held left nothing half done: each change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_expire_and_are_forgotten_once() {
        let slot = SessionSlot::default();
        assert!(slot.current().is_none());
        let first = slot.set(Session::new(b"one", Some(3600)));
        assert_eq!(slot.current().unwrap().token(), Some(&b"one"[..]));
        let second = slot.set(Session::new(b"two", None));
        slot.forget(&first);
        assert!(Arc::ptr_eq(&slot.current().unwrap(), &second), "the newer one stays");
        slot.forget(&second);
        assert!(slot.current().is_none());
        slot.set(Session::new(b"short", Some(0)));
        assert!(slot.current().is_none(), "expired");
        slot.set(Session::new(b"three", Some(u32::MAX)));
        assert!(slot.current().is_some(), "the longest time to live");
    }

    #[test]
    fn only_refusals_are_kept() {
        let slot = SessionSlot::default();
        slot.note_failure(&Error::connection("reset"));
        assert!(slot.recent_refusal().is_none());
        slot.note_failure(&Error::credentials_refused(62, Some("ann"), &Arc::from("BB9")));
        assert_eq!(slot.recent_refusal().unwrap().result_code(), 62);
        slot.set(Session::not_needed());
        assert!(slot.recent_refusal().is_none());
    }
}
