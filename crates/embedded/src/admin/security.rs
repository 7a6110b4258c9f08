//! Users, credentials and sessions.

use crate::cluster::ClusterError;
use aerolane_wire::ResultCode;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

/// The salt that every client hashes passwords with, so that client and server compare hashes: `7EqJtq98hPqEX7fNZaFWoO`
/// in bcrypt's alphabet (it can be seen in the golden group `security`).
const SALT: [u8; 16] = [244, 107, 11, 190, 207, 254, 141, 27, 6, 103, 216, 79, 109, 193, 216, 169];
/// 2^10 rounds, as clients do it.
const COST: u32 = 10;
/// Bytes of a session token.
const TOKEN_SIZE: usize = 32;
/// Sessions that are remembered; the oldest go first.
const MAX_SESSIONS: usize = 10_000;
/// How long a session lasts if nothing is said: a day, as in the server.
pub(crate) const SESSION_TTL: u32 = 86_400;

type Token = [u8; TOKEN_SIZE];

/// The users of a cluster and their sessions.
pub(crate) struct Security {
    /// Hash of the password by user name.
    users: HashMap<String, Vec<u8>>,
    session_ttl: u32,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_token: HashMap<Token, (String, Instant)>,
    oldest_first: VecDeque<Token>,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No hashes and no tokens.
        f.debug_struct("Security").field("users", &self.users.keys()).finish_non_exhaustive()
    }
}

impl Security {
    /// Hashes the passwords of `users`.
    pub(crate) fn new(users: &[(String, String)], session_ttl: u32) -> Result<Self, ClusterError> {
        let mut hashes = HashMap::with_capacity(users.len());
        for (name, password) in users {
            if name.is_empty() || name.len() > 63 {
                let text = format!("user name {name:?}: 1 to 63 bytes expected");
                return Err(ClusterError::Setting(text));
            }
            let hash = bcrypt::hash_with_salt(password, COST, SALT)
                .map_err(|e| ClusterError::Setting(format!("password of user {name}: {e}")))?
                .format_for_version(bcrypt::Version::TwoA);
            if hashes.insert(name.clone(), hash.into_bytes()).is_some() {
                return Err(ClusterError::Setting(format!("user {name} is there twice")));
            }
        }
        Ok(Self { users: hashes, session_ttl, sessions: Mutex::default() })
    }

    /// How long sessions last, in seconds.
    pub(crate) fn session_ttl(&self) -> u32 {
        self.session_ttl
    }

    /// Compares a credential with the user's hash.
    pub(crate) fn check_credential(&self, user: &str, credential: &[u8]) -> Result<(), ResultCode> {
        let hash = self.users.get(user).ok_or(ResultCode::INVALID_USER)?;
        if hash == credential { Ok(()) } else { Err(ResultCode::INVALID_CREDENTIAL) }
    }

    /// Opens a session.
    pub(crate) fn login(&self, user: &str, credential: &[u8]) -> Result<Token, ResultCode> {
        self.check_credential(user, credential)?;
        let mut token = [0; TOKEN_SIZE];
        getrandom::fill(&mut token).map_err(|_| ResultCode::SERVER_ERROR)?;
        let ends = Instant::now() + Duration::from_secs(self.session_ttl.into());
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

    /// Checks a session token; `user` is the name that came with it, if one did.
    pub(crate) fn check_token(&self, user: Option<&str>, token: &[u8]) -> Result<(), ResultCode> {
        let sessions = self.sessions.lock();
        let token: &Token = token.try_into().map_err(|_| ResultCode::INVALID_CREDENTIAL)?;
        match sessions.by_token.get(token) {
            Some((owner, _)) if user.is_some_and(|user| user != owner) => Err(ResultCode::INVALID_CREDENTIAL),
            Some((_, ends)) if *ends <= Instant::now() => Err(ResultCode::EXPIRED_SESSION),
            Some(_) => Ok(()),
            None => Err(ResultCode::INVALID_CREDENTIAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_clients() {
        // The credentials that the C client sent for these passwords when the golden group `security` was recorded.
        let security = Security::new(&[("admin".into(), "secret".into())], SESSION_TTL).unwrap();
        let hash = String::from_utf8(security.users["admin"].clone()).unwrap();
        assert!(hash.starts_with("$2a$10$7EqJtq98hPqEX7fNZaFWoO"), "{hash}");
        assert_eq!(security.check_credential("admin", hash.as_bytes()), Ok(()));
        assert_eq!(security.check_credential("admin", b"secret"), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_credential("other", hash.as_bytes()), Err(ResultCode::INVALID_USER));
    }

    #[test]
    fn tokens_open_what_they_were_made_for_until_they_end() {
        let users = [("a".to_owned(), "x".to_owned()), ("b".to_owned(), "y".to_owned())];
        let security = Security::new(&users, SESSION_TTL).unwrap();
        let credential = security.users["a"].clone();
        let token = security.login("a", &credential).unwrap();
        assert_eq!(security.check_token(Some("a"), &token), Ok(()));
        assert_eq!(security.check_token(Some("b"), &token), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_token(Some("a"), &token[1..]), Err(ResultCode::INVALID_CREDENTIAL));
        assert_eq!(security.check_token(Some("a"), &[0; 32]), Err(ResultCode::INVALID_CREDENTIAL));
        let brief = Security::new(&users, 0).unwrap();
        let token = brief.login("a", &credential).unwrap();
        assert_eq!(brief.check_token(Some("a"), &token), Err(ResultCode::EXPIRED_SESSION));
        for _ in 0..MAX_SESSIONS {
            brief.login("a", &credential).unwrap();
        }
        assert_eq!(brief.check_token(Some("a"), &token), Err(ResultCode::INVALID_CREDENTIAL));
    }

    #[test]
    fn bad_users_are_refused() {
        let long = "u".repeat(64);
        for users in [vec![("", "x")], vec![("a", "x"), ("a", "y")], vec![(long.as_str(), "x")]] {
            let users: Vec<_> = users.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert!(matches!(Security::new(&users, 1), Err(ClusterError::Setting(_))));
        }
    }
}
