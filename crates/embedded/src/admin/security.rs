//! Credentials, sessions, and what the user of a connection may do.

use super::accounts::{ALL_ROLES, Accounts, Grants, check_name};
use crate::clock::Now;
use crate::cluster::ClusterError;
use crate::request::Session;
use aerolane_wire::ResultCode;
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The salt that every client hashes passwords with, so that client and server compare hashes: `7EqJtq98hPqEX7fNZaFWoO`
/// in bcrypt's alphabet (it can be seen in the golden group `security`).
pub(crate) const SALT: [u8; 16] = [244, 107, 11, 190, 207, 254, 141, 27, 6, 103, 216, 79, 109, 193, 216, 169];
/// 2^10 rounds, as clients do it.
pub(crate) const COST: u32 = 10;
/// Bytes of a session token.
const TOKEN_SIZE: usize = 32;
/// Sessions that are remembered; the oldest go first.
const MAX_SESSIONS: usize = 10_000;
/// How long a session lasts if nothing is said: a day, as in the server.
pub(crate) const SESSION_TTL: u32 = 86_400;

/// What a client shows on its further connections instead of the credential.
pub(super) type Token = [u8; TOKEN_SIZE];

/// The users and roles of a cluster, and the sessions.
pub(crate) struct Security {
    accounts: RwLock<Accounts>,
    /// Changes with the accounts.
    version: AtomicU64,
    session_ttl: u32,
    sessions: Mutex<Sessions>,
}

/// A user to begin with: name, password, and roles; `None` for all that there is to be permitted.
pub(crate) type FirstUser = (String, String, Option<Vec<String>>);

#[derive(Default)]
struct Sessions {
    by_token: HashMap<Token, (String, Instant)>,
    oldest_first: VecDeque<Token>,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No hashes and no tokens.
        f.debug_struct("Security").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Security {
    /// Hashes the passwords of `users`.
    pub(crate) fn new(users: &[FirstUser], session_ttl: u32) -> Result<Self, ClusterError> {
        let mut accounts = Accounts::new(BTreeMap::new());
        for (name, password, roles) in users {
            if check_name(name).is_none() {
                let text =
                    format!("user name {name:?}: 1 to 63 bytes without control characters, ':' and ';' expected");
                return Err(ClusterError::Setting(text));
            }
            let hash = bcrypt::hash_with_salt(password, COST, SALT)
                .map_err(|e| ClusterError::Setting(format!("password of user {name}: {e}")))?
                .format_for_version(bcrypt::Version::TwoA);
            let roles = roles.clone().unwrap_or_else(|| ALL_ROLES.map(str::to_owned).to_vec());
            accounts.create_user(name, hash.into_bytes(), &roles).map_err(|code| {
                ClusterError::Setting(match code {
                    ResultCode::USER_ALREADY_EXISTS => format!("user {name} is there twice"),
                    _ => format!("user {name}: no such role among {roles:?}"),
                })
            })?;
        }
        Ok(Self {
            accounts: RwLock::new(accounts),
            version: AtomicU64::new(0),
            session_ttl,
            sessions: Mutex::default(),
        })
    }

    /// Changes users or roles. What connections know of their permissions is found out anew.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Accounts) -> Result<(), ResultCode>,
    ) -> Result<(), ResultCode> {
        let mut accounts = self.accounts.write();
        let result = change(&mut accounts);
        self.version.fetch_add(1, Ordering::Release);
        result
    }

    /// Looks at users and roles.
    pub(super) fn look<R>(&self, look: impl FnOnce(&Accounts) -> R) -> R {
        look(&self.accounts.read())
    }

    /// What the user of a connection may do, as it is now.
    pub(super) fn grants(&self, session: &mut Session) -> Result<Arc<Grants>, ResultCode> {
        let version = self.version.load(Ordering::Acquire);
        if let Some(grants) = session.grants.as_ref().filter(|grants| grants.version == version) {
            return Ok(Arc::clone(grants));
        }
        let user = session.user.as_deref().ok_or(ResultCode::NOT_AUTHENTICATED)?;
        // A user that was dropped is not logged in any more.
        let grants = self.accounts.read().grants(user, version).ok_or(ResultCode::NOT_AUTHENTICATED)?;
        if !grants.admits(session.peer.ip()) {
            return Err(ResultCode::NOT_ALLOWLISTED);
        }
        let grants = Arc::new(grants);
        session.grants = Some(Arc::clone(&grants));
        Ok(grants)
    }

    /// How long sessions last, in seconds.
    pub(crate) fn session_ttl(&self) -> u32 {
        self.session_ttl
    }

    /// Compares a credential with the user's hash.
    pub(crate) fn check_credential(&self, user: &str, credential: &[u8]) -> Result<(), ResultCode> {
        let accounts = self.accounts.read();
        let user = accounts.users.get(user).ok_or(ResultCode::INVALID_USER)?;
        if user.has_hash(credential) { Ok(()) } else { Err(ResultCode::INVALID_CREDENTIAL) }
    }

    /// The user of a login by certificate: the one whose name is the CN in the certificate's subject
    /// (<https://aerospike.com/docs/server/guide/security/access-control>, on PKI authentication). `common_name` is that of
    /// the certificate that the client has shown on this connection, if it has shown one that says a name; a login that
    /// shows nothing has not the credential that it needs.
    pub(super) fn check_certificate<'a>(&self, common_name: Option<&'a str>) -> Result<&'a str, ResultCode> {
        let user = common_name.ok_or(ResultCode::INVALID_CREDENTIAL)?;
        if self.accounts.read().users.contains_key(user) { Ok(user) } else { Err(ResultCode::INVALID_USER) }
    }

    /// Opens a session for a user whose credential or certificate has been checked.
    pub(super) fn open(&self, user: &str, now: Now) -> Result<Token, ResultCode> {
        let mut token = [0; TOKEN_SIZE];
        getrandom::fill(&mut token).map_err(|_| ResultCode::SERVER_ERROR)?;
        let ends = now.instant + Duration::from_secs(self.session_ttl.into());
        let mut sessions = self.sessions.lock();
        if sessions.oldest_first.len() >= MAX_SESSIONS
            && let Some(oldest) = sessions.oldest_first.pop_front()
        {
            sessions.by_token.remove(&oldest);
        }
        sessions.oldest_first.push_back(token);
        sessions.by_token.insert(token, (user.to_owned(), ends));
        Ok(token)
    }

    /// Checks a session token; `user` is the name that came with it, if one did. Gives the name of its user.
    pub(crate) fn check_token(&self, user: Option<&str>, token: &[u8], now: Now) -> Result<String, ResultCode> {
        let sessions = self.sessions.lock();
        let token: &Token = token.try_into().map_err(|_| ResultCode::INVALID_CREDENTIAL)?;
        match sessions.by_token.get(token) {
            Some((owner, _)) if user.is_some_and(|user| user != owner) => Err(ResultCode::INVALID_CREDENTIAL),
            Some((_, ends)) if *ends <= now.instant => Err(ResultCode::EXPIRED_SESSION),
            Some((owner, _)) => Ok(owner.clone()),
            None => Err(ResultCode::INVALID_CREDENTIAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What clients send for a password.
    fn hash_of(password: &str) -> Vec<u8> {
        bcrypt::hash_with_salt(password, COST, SALT).unwrap().format_for_version(bcrypt::Version::TwoA).into_bytes()
    }

    #[test]
    fn hashes_are_those_of_the_clients() {
        // The credentials that the C client sent for these passwords when the golden group `security` was recorded.
        let security = Security::new(&[("admin".into(), "secret".into(), None)], SESSION_TTL).unwrap();
        let hash = String::from_utf8(hash_of("secret")).unwrap();
        assert!(hash.starts_with("$2a$10$7EqJtq98hPqEX7fNZaFWoO"), "{hash}");
        assert_eq!(security.check_credential("admin", hash.as_bytes()), Ok(()));
        assert_eq!(security.check_credential("admin", b"secret"), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_credential("other", hash.as_bytes()), Err(ResultCode::INVALID_USER));
    }

    #[test]
    fn users_without_a_password_never_get_one() {
        let users = [("pki".to_owned(), "nopassword".to_owned(), None), ("a".to_owned(), "x".to_owned(), None)];
        let security = Security::new(&users, SESSION_TTL).unwrap();
        let set = |user: &str, hash: Vec<u8>| security.change(|accounts| accounts.user_mut(user)?.set_hash(hash));
        let (none, other) = (hash_of("nopassword"), hash_of("y"));
        assert_eq!(security.check_credential("pki", &none), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_credential("pki", b""), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(set("pki", other.clone()), Err(ResultCode::FORBIDDEN_PASSWORD));
        assert_eq!(security.check_credential("pki", &other), Err(ResultCode::INVALID_CREDENTIAL));
        // A password can be taken away, for good.
        assert_eq!((set("a", other.clone()), security.check_credential("a", &other)), (Ok(()), Ok(())));
        assert_eq!(set("a", none.clone()), Ok(()));
        assert_eq!(security.check_credential("a", &none), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(set("a", other), Err(ResultCode::FORBIDDEN_PASSWORD));
    }

    #[test]
    fn certificates_name_users() {
        let security = Security::new(&[("a".to_owned(), "x".to_owned(), None)], SESSION_TTL).unwrap();
        assert_eq!(security.check_certificate(Some("a")), Ok("a"));
        assert_eq!(security.check_certificate(Some("A")), Err(ResultCode::INVALID_USER));
        assert_eq!(security.check_certificate(Some("")), Err(ResultCode::INVALID_USER));
        assert_eq!(security.check_certificate(None), Err(ResultCode::INVALID_CREDENTIAL));
    }

    #[test]
    fn tokens_open_what_they_were_made_for_until_they_end() {
        let users = [("a".to_owned(), "x".to_owned(), None), ("b".to_owned(), "y".to_owned(), None)];
        let security = Security::new(&users, SESSION_TTL).unwrap();
        let now = Now::read();
        let token = security.open("a", now).unwrap();
        assert_eq!(security.check_token(Some("a"), &token, now), Ok("a".to_owned()));
        assert_eq!(security.check_token(Some("b"), &token, now), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_token(Some("a"), &token[1..], now), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_token(Some("a"), &[0; 32], now), Err(ResultCode::INVALID_CREDENTIAL));
        let later = |seconds| Now { instant: now.instant + Duration::from_secs(seconds), ..now };
        assert_eq!(security.check_token(None, &token, later(86_399)), Ok("a".to_owned()));
        assert_eq!(security.check_token(None, &token, later(86_400)), Err(ResultCode::EXPIRED_SESSION));
        let brief = Security::new(&users, 0).unwrap();
        let token = brief.open("a", now).unwrap();
        assert_eq!(brief.check_token(Some("a"), &token, now), Err(ResultCode::EXPIRED_SESSION));
        for _ in 0..MAX_SESSIONS {
            brief.open("a", now).unwrap();
        }
        assert_eq!(brief.check_token(Some("a"), &token, now), Err(ResultCode::INVALID_CREDENTIAL));
    }

    #[test]
    fn bad_users_are_refused() {
        let long = "u".repeat(64);
        for users in [vec![("", "x")], vec![("a", "x"), ("a", "y")], vec![(long.as_str(), "x")]] {
            let users: Vec<_> = users.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned(), None)).collect();
            assert!(matches!(Security::new(&users, 1), Err(ClusterError::Setting(_))));
        }
    }
}
