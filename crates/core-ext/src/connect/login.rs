//! What is said when logging in.

use std::fmt;
use std::sync::Arc;

use aerolane_wire::admin::{self, AdminMessage};
use aerolane_wire::{ResultCode, info};
use aerospike_core::AuthMode;

use super::Probe;
use super::session::Session;
use crate::error::{Error, Result};

/// The salt with which every Aerospike client hashes passwords: the server keeps such hashes and compares them.
/// In bcrypt's alphabet `7EqJtq98hPqEX7fNZaFWoO`.
const SALT: [u8; 16] = [0xf4, 0x6b, 0x0b, 0xbe, 0xcf, 0xfe, 0x8d, 0x1b, 0x06, 0x67, 0xd8, 0x4f, 0x6d, 0xc1, 0xd8, 0xa9];
/// 2^10 rounds, likewise fixed.
const COST: u32 = 10;

/// Who the client is.
pub(crate) enum Credentials {
    /// A user, the hash of the password, and for external authentication the password itself.
    Password { user: String, hash: String, clear: Option<String> },
    /// The TLS certificate says it.
    Certificate,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hashes log in as well as passwords do: neither is shown.
        match self.user() {
            Some(user) => f.debug_struct("Password").field("user", &user).finish_non_exhaustive(),
            None => f.write_str("Certificate"),
        }
    }
}

impl Credentials {
    /// `None` when nobody is to log in.
    pub(crate) fn from_policy(mode: &AuthMode) -> Result<Option<Self>> {
        let password = |user: &String, password: &String, external: bool| {
            Ok(Some(Self::Password {
                user: user.clone(),
                hash: hash_password(password)?,
                clear: external.then(|| password.clone()),
            }))
        };
        match mode {
            AuthMode::None => Ok(None),
            AuthMode::Internal(user, secret) => password(user, secret, false),
            AuthMode::External(user, secret) | AuthMode::ExternalInsecure(user, secret) => password(user, secret, true),
            AuthMode::Pki => Ok(Some(Self::Certificate)),
        }
    }

    pub(super) fn user(&self) -> Option<&str> {
        match self {
            Self::Password { user, .. } => Some(user),
            Self::Certificate => None,
        }
    }

    pub(super) fn encode_login(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Password { user, hash, clear } => {
                admin::encode_login(out, user.as_bytes(), hash.as_bytes(), clear.as_ref().map(String::as_bytes))?;
            }
            Self::Certificate => admin::encode_login_pki(out)?,
        }
        Ok(())
    }
}

fn hash_password(password: &str) -> Result<String> {
    bcrypt::hash_with_salt(password, COST, SALT)
        .map(|parts| parts.format_for_version(bcrypt::Version::TwoA))
        .map_err(|e| Error::serialize(format!("the password cannot be hashed: {e}")))
}

/// The answer to a LOGIN.
pub(super) fn read_session(body: &[u8], credentials: &Credentials, node: &Arc<str>) -> Result<Session> {
    let (answer, _) = AdminMessage::decode_prefix(body)?;
    match answer.header.result_code {
        ResultCode::OK => match answer.session() {
            Some((token, ttl)) => Ok(Session::new(token, ttl)),
            None => Err(Error::bad_response("the node accepted the login and gave no session token")),
        },
        ResultCode::SECURITY_NOT_ENABLED => Ok(Session::not_needed()),
        rc => Err(Error::credentials_refused(rc.0, credentials.user(), node)),
    }
}

/// The answer to the info commands `node` and `cluster-name`.
pub(super) fn read_probe(body: &[u8], node: &Arc<str>) -> Result<Probe> {
    let mut name = None;
    let mut cluster_name = None;
    for answer in info::Answers::new(body) {
        if let Some((Some(rc), _)) = answer.error() {
            let rc = ResultCode(rc);
            if rc == ResultCode::NOT_AUTHENTICATED {
                return Err(Error::credentials_refused(rc.0, None, node));
            }
            return Err(Error::server(rc.0, node));
        }
        // An error answer may also be a line of its own, without the command.
        if answer.text.is_none() && answer.command.starts_with(b"ERROR:80:") {
            return Err(Error::credentials_refused(ResultCode::NOT_AUTHENTICATED.0, None, node));
        }
        let text = String::from_utf8_lossy(answer.text.unwrap_or_default()).trim().to_owned();
        match answer.command {
            b"node" if !text.is_empty() => name = Some(text),
            // A server without a name says `null`.
            b"cluster-name" if !text.is_empty() && !text.eq_ignore_ascii_case("null") => cluster_name = Some(text),
            _ => {}
        }
    }
    match name {
        Some(node) => Ok(Probe { node, cluster_name }),
        None => Err(Error::bad_response("not an Aerospike node: it reported no node name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn hashes_are_those_the_server_keeps() {
        // From Aerospike's documentation of the default user, and as other clients send them.
        assert_eq!(hash_password("").unwrap(), "$2a$10$7EqJtq98hPqEX7fNZaFWoOLCkFexA7A9eoJ0Ew.mTDdk.E60D.9zS");
        assert_eq!(hash_password("aerospike").unwrap(), "$2a$10$7EqJtq98hPqEX7fNZaFWoOg3vLO9BrDMi.IgzR5fG6wXhnUUDTrIG");
    }

    #[test]
    fn debug_shows_no_secret() {
        let mode = AuthMode::ExternalInsecure("ann".into(), "hunter2".into());
        let shown = format!("{:?}", Credentials::from_policy(&mode).unwrap().unwrap());
        assert!(shown.contains("ann"));
        assert!(!shown.contains("hunter2") && !shown.contains("$2a$"), "{shown}");
    }

    #[test]
    fn probe_answers_are_read() {
        let node: Arc<str> = Arc::from("seed");
        let probe = read_probe(b"node\tBB9\ncluster-name\tprod\n", &node).unwrap();
        assert_eq!(probe, Probe { node: "BB9".into(), cluster_name: Some("prod".into()) });
        assert_eq!(read_probe(b"node\tBB9\ncluster-name\tnull\n", &node).unwrap().cluster_name, None);
        let kind = |body: &[u8]| read_probe(body, &node).unwrap_err();
        assert!(matches!(kind(b"").kind(), ErrorKind::BadResponse));
        assert!(matches!(kind(b"HTTP/1.1 400\n").kind(), ErrorKind::BadResponse));
        for refused in [&b"node\tERROR:80:not authenticated\n"[..], b"ERROR:80:not authenticated\n"] {
            assert!(matches!(kind(refused).kind(), ErrorKind::CredentialsRefused { .. }));
        }
        assert_eq!(kind(b"node\tERROR:4:bad\n").result_code(), 4);
    }

    #[test]
    fn login_answers_are_read() {
        let node: Arc<str> = Arc::from("BB9");
        let who = Credentials::Password { user: "ann".into(), hash: "h".into(), clear: None };
        let body = |rc: ResultCode| {
            let mut out = Vec::new();
            admin::encode_result(&mut out, rc).unwrap();
            out.split_off(8)
        };
        let error = read_session(&body(ResultCode(65)), &who, &node).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { user: Some(user), .. } if &**user == "ann"));
        assert_eq!(read_session(&body(ResultCode::SECURITY_NOT_ENABLED), &who, &node).unwrap().token(), None);
        let error = read_session(&body(ResultCode::OK), &who, &node).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadResponse), "a login without a token");
        assert!(read_session(&[1, 2, 3], &who, &node).is_err());
    }
}
