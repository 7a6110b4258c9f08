//! Admin frames: login and user administration.
//!
//! Layout of the body (golden group `security`): a 16-byte header with security scheme (0), result code, command,
//! number of fields (1 byte each) and 12 bytes of zeros; then fields: size (4 bytes, type included), type (1 byte),
//! value. Answers have the same form. The answer to a query of users or roles is a stream of such blocks, of which a
//! frame may hold several, ended by one with the result [`QUERY_END`](crate::ResultCode::QUERY_END).

use crate::bytes::Cursor;
use crate::message::{Field, Fields, encode_field, read_field};
use crate::proto::{FrameType, begin_frame, end_frame};
use crate::{ResultCode, WireError, WireErrorKind, WireResult};

/// Size of the header in bytes.
pub const ADMIN_HEADER_SIZE: usize = 16;

/// Commands. Numbers as in `aerospike-core` 3.0.0; all of them are in the golden group `security`.
pub mod command {
    /// Authenticate a connection, with a session token or a credential.
    pub const AUTHENTICATE: u8 = 0;
    /// Create a user.
    pub const CREATE_USER: u8 = 1;
    /// Delete a user.
    pub const DROP_USER: u8 = 2;
    /// Set another user's password.
    pub const SET_PASSWORD: u8 = 3;
    /// Change one's own password.
    pub const CHANGE_PASSWORD: u8 = 4;
    /// Give roles to a user.
    pub const GRANT_ROLES: u8 = 5;
    /// Take roles from a user.
    pub const REVOKE_ROLES: u8 = 6;
    /// List users.
    pub const QUERY_USERS: u8 = 9;
    /// Create a role.
    pub const CREATE_ROLE: u8 = 10;
    /// Delete a role.
    pub const DROP_ROLE: u8 = 11;
    /// Give privileges to a role.
    pub const GRANT_PRIVILEGES: u8 = 12;
    /// Take privileges from a role.
    pub const REVOKE_PRIVILEGES: u8 = 13;
    /// Set the addresses from which a role may be used.
    pub const SET_ALLOWLIST: u8 = 14;
    /// Set a role's quotas.
    pub const SET_QUOTAS: u8 = 15;
    /// List roles.
    pub const QUERY_ROLES: u8 = 16;
    /// Log in: exchange a credential for a session token.
    pub const LOGIN: u8 = 20;
}

/// Types of fields.
pub mod field {
    /// User name.
    pub const USER: u8 = 0;
    /// Hash of a (new) password.
    pub const PASSWORD: u8 = 1;
    /// Hash of the old password.
    pub const OLD_PASSWORD: u8 = 2;
    /// Hash of the password, for logging in.
    pub const CREDENTIAL: u8 = 3;
    /// The password itself, for external authentication (over TLS).
    pub const CLEAR_PASSWORD: u8 = 4;
    /// Session token.
    pub const SESSION_TOKEN: u8 = 5;
    /// How long the session lasts, in seconds (4 bytes).
    pub const SESSION_TTL: u8 = 6;
    /// Role names: number (1 byte), then length (1 byte) and name of each.
    pub const ROLES: u8 = 10;
    /// Name of one role.
    pub const ROLE: u8 = 11;
    /// Privileges.
    pub const PRIVILEGES: u8 = 12;
    /// Allowed addresses, separated by commas.
    pub const ALLOWLIST: u8 = 13;
    /// Reads per second that a role may do (4 bytes).
    pub const READ_QUOTA: u8 = 14;
    /// Writes per second that a role may do (4 bytes).
    pub const WRITE_QUOTA: u8 = 15;
    /// Statistics of a user's reads.
    pub const READ_INFO: u8 = 16;
    /// Statistics of a user's writes.
    pub const WRITE_INFO: u8 = 17;
    /// Number of a user's connections (4 bytes).
    pub const CONNECTIONS: u8 = 18;
}

/// The header, without the number of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdminHeader {
    /// Security scheme; 0 is the only one.
    pub scheme: u8,
    /// Result of an answer; 0 in requests.
    pub result_code: ResultCode,
    /// What is asked for, see [`command`]; 0 in answers.
    pub command: u8,
}

/// A request or answer, borrowed from a frame body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdminMessage<'a> {
    /// The header.
    pub header: AdminHeader,
    /// How many fields there are.
    pub n_fields: u8,
    fields: &'a [u8],
}

impl<'a> AdminMessage<'a> {
    /// Decodes the message at the front of `body`; also says how many bytes it has.
    pub fn decode_prefix(body: &'a [u8]) -> WireResult<(Self, usize)> {
        let mut cursor = Cursor::new(body);
        let head = cursor.take(ADMIN_HEADER_SIZE)?;
        let (n_fields, start) = (head[3], cursor.at());
        for _ in 0..n_fields {
            read_field(&mut cursor)?;
        }
        let header = AdminHeader { scheme: head[0], result_code: ResultCode(head[1]), command: head[2] };
        Ok((Self { header, n_fields, fields: &body[start..cursor.at()] }, cursor.at()))
    }

    /// Decodes a body that holds exactly one message.
    pub fn decode(body: &'a [u8]) -> WireResult<Self> {
        let (message, end) = Self::decode_prefix(body)?;
        match body.len() - end {
            0 => Ok(message),
            extra => Err(WireError::new(WireErrorKind::Trailing { extra }, end)),
        }
    }

    /// The fields in order.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields::checked(self.fields)
    }

    /// The first field of this type, see [`field`].
    #[must_use]
    pub fn field(&self, kind: u8) -> Option<&'a [u8]> {
        self.fields().find(|f| f.kind == kind).map(|f| f.value)
    }

    /// The session token of an answer to LOGIN, with its time to live in seconds if the server limits it.
    #[must_use]
    pub fn session(&self) -> Option<(&'a [u8], Option<u32>)> {
        let ttl = self.field(field::SESSION_TTL).and_then(|value| value.try_into().ok()).map(u32::from_be_bytes);
        Some((self.field(field::SESSION_TOKEN)?, ttl))
    }
}

/// Appends a whole frame with these fields. Fails if there are more than 255.
pub fn encode<'f>(
    out: &mut Vec<u8>,
    header: AdminHeader,
    fields: impl IntoIterator<Item = Field<'f>>,
) -> WireResult<()> {
    let start = begin_frame(out, FrameType::Admin);
    let result = encode_block(out, header, fields).and_then(|()| end_frame(out, start));
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Appends a message without a proto header, for answers that put several into one frame.
pub fn encode_block<'f>(
    out: &mut Vec<u8>,
    header: AdminHeader,
    fields: impl IntoIterator<Item = Field<'f>>,
) -> WireResult<()> {
    let start = out.len();
    let mut head = [0; ADMIN_HEADER_SIZE];
    head[..3].copy_from_slice(&[header.scheme, header.result_code.0, header.command]);
    out.extend_from_slice(&head);
    let mut n_fields = 0_u64;
    for field in fields {
        encode_field(out, field.kind, field.value);
        n_fields += 1;
    }
    let kind = WireErrorKind::TooLarge { what: "number of fields", value: n_fields, limit: 255 };
    out[start + 3] = u8::try_from(n_fields).map_err(|_| WireError::new(kind, 0))?;
    Ok(())
}

/// Appends a LOGIN request. `credential` is the bcrypt hash of the password; `clear_password` is for external
/// authentication only.
pub fn encode_login(
    out: &mut Vec<u8>,
    user: &[u8],
    credential: &[u8],
    clear_password: Option<&[u8]>,
) -> WireResult<()> {
    let header = AdminHeader { command: command::LOGIN, ..AdminHeader::default() };
    let fields = [Field { kind: field::USER, value: user }, Field { kind: field::CREDENTIAL, value: credential }];
    let clear = clear_password.map(|value| Field { kind: field::CLEAR_PASSWORD, value });
    encode(out, header, fields.into_iter().chain(clear))
}

/// Appends a LOGIN request that relies on the client's TLS certificate.
pub fn encode_login_pki(out: &mut Vec<u8>) -> WireResult<()> {
    encode(out, AdminHeader { command: command::LOGIN, ..AdminHeader::default() }, [])
}

/// Appends an AUTHENTICATE request with the session token of a login. `user` is `None` for logins by certificate.
pub fn encode_authenticate(out: &mut Vec<u8>, user: Option<&[u8]>, token: &[u8]) -> WireResult<()> {
    let header = AdminHeader { command: command::AUTHENTICATE, ..AdminHeader::default() };
    let user = user.map(|value| Field { kind: field::USER, value });
    encode(out, header, user.into_iter().chain([Field { kind: field::SESSION_TOKEN, value: token }]))
}

/// Appends an answer with a result code and no fields.
pub fn encode_result(out: &mut Vec<u8>, result_code: ResultCode) -> WireResult<()> {
    encode(out, AdminHeader { result_code, ..AdminHeader::default() }, [])
}

/// Appends the answer to a LOGIN that succeeded; `ttl` in seconds.
pub fn encode_session(out: &mut Vec<u8>, token: &[u8], ttl: Option<u32>) -> WireResult<()> {
    let ttl = ttl.map(u32::to_be_bytes);
    let ttl = ttl.as_ref().map(|value| Field { kind: field::SESSION_TTL, value });
    let token = Field { kind: field::SESSION_TOKEN, value: token };
    encode(out, AdminHeader::default(), [token].into_iter().chain(ttl))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_read_back() {
        let mut out = vec![];
        encode_login(&mut out, b"admin", b"hash", Some(b"secret")).unwrap();
        let message = AdminMessage::decode(&out[8..]).unwrap();
        assert_eq!((message.header.command, message.n_fields), (command::LOGIN, 3));
        assert_eq!(message.field(field::CREDENTIAL), Some(&b"hash"[..]));
        assert_eq!(message.session(), None);

        let mut out = vec![];
        encode_session(&mut out, b"token", Some(3600)).unwrap();
        let answer = AdminMessage::decode(&out[8..]).unwrap();
        assert!(answer.header.result_code.is_ok());
        assert_eq!(answer.session(), Some((&b"token"[..], Some(3600))));
        for cut in 8..out.len() {
            assert!(AdminMessage::decode(&out[8..cut]).is_err());
        }
    }

    #[test]
    fn the_number_of_fields_is_bounded() {
        let mut out = vec![7];
        let fields = [Field { kind: 0, value: b"" }; 256];
        assert!(encode(&mut out, AdminHeader::default(), fields).is_err());
        assert_eq!(out, [7]);
        encode(&mut out, AdminHeader::default(), fields[1..].iter().copied()).unwrap();
        assert_eq!(AdminMessage::decode(&out[9..]).unwrap().fields().count(), 255);
    }
}
