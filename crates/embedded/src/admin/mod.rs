//! Answers to LOGIN, AUTHENTICATE and user administration.
//!
//! Without users the cluster answers as Community Edition does: result 51, whatever is asked (golden group `security`).
//! With users, a connection logs in with a credential, or authenticates with the session token of an earlier login;
//! before that, all else is refused. What a user may do is the sum of the roles' privileges; a change is felt by the next
//! request of every connection. There is no recording of a server with security, so this follows its documentation.
//!
//! * `security`: credentials and sessions
//! * `accounts`: users and roles
//! * `privilege`: privileges, and what they permit
//! * `commands`: administration

mod accounts;
mod commands;
mod privilege;
mod security;

pub(crate) use accounts::Grants;
pub(crate) use privilege::Permission;
use security::Token;
#[cfg(test)]
pub(crate) use security::{COST, SALT};
pub(crate) use security::{FirstUser, SESSION_TTL, Security};

use crate::clock::Now;
use crate::cluster::{Counters, Node};
use crate::request::{Answered, Request, Session, error_answer};
use aerolane_wire::ResultCode;
use aerolane_wire::admin::{self, AdminMessage, command, field};
use aerolane_wire::message::{self, Message, MessageHeader, MessageWriter, info1, info2, info3};
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};
use std::sync::Arc;

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    Counters::add(&request.node.counters.logins, 1);
    let node = request.node;
    let Some(security) = &node.cluster.security else {
        return result(out, ResultCode::SECURITY_NOT_SUPPORTED);
    };
    let Ok(message) = AdminMessage::decode(request.body) else {
        return result(out, ResultCode::PARAMETER_ERROR);
    };
    let user = message.field(field::USER).and_then(|user| std::str::from_utf8(user).ok());
    match message.header.command {
        command::LOGIN => {
            let (session, now) = (&mut *request.session, request.now);
            let logged_in = login(security, session, &message, user, now)
                .and_then(|token| admit(security, session).map(|()| token));
            tell_log(request, user, logged_in.as_ref().err());
            match logged_in {
                Ok(token) => {
                    let written = admin::encode_session(out, &token, Some(security.session_ttl()));
                    debug_assert!(written.is_ok(), "two short fields always fit");
                    Answered::Done
                }
                Err(code) => result(out, code),
            }
        }
        command::AUTHENTICATE => {
            let checked = match (message.field(field::SESSION_TOKEN), message.field(field::CREDENTIAL)) {
                (Some(token), _) => security.check_token(user, token, request.now),
                (None, Some(credential)) => {
                    let user = user.unwrap_or_default();
                    security.check_credential(user, credential).map(|()| user.to_owned())
                }
                (None, None) => Err(ResultCode::INVALID_CREDENTIAL),
            };
            let logged_in = checked.and_then(|owner| {
                log_in(request.session, Some(&owner));
                admit(security, request.session)
            });
            tell_log(request, user, logged_in.as_ref().err());
            result(out, logged_in.err().unwrap_or(ResultCode::OK))
        }
        _ if request.session.user.is_none() => result(out, ResultCode::NOT_AUTHENTICATED),
        _ => {
            let start = out.len();
            match commands::execute(security, request.session, &message, request.now, out) {
                Ok(()) if out.len() > start => Answered::Done,
                outcome => {
                    out.truncate(start);
                    result(out, outcome.err().unwrap_or(ResultCode::OK))
                }
            }
        }
    }
}

/// Logs in with a password, or, if the message names nobody and has no credential, with the certificate of the connection
/// (as every client sends it: `aerolane_wire::admin::encode_login_pki`). Gives the token of the session.
fn login(
    security: &Security,
    session: &mut Session,
    message: &AdminMessage<'_>,
    user: Option<&str>,
    now: Now,
) -> Result<Token, ResultCode> {
    let name = match (message.field(field::USER), message.field(field::CREDENTIAL)) {
        (None, None) => security.check_certificate(session.common_name.as_deref())?.to_owned(),
        (_, credential) => {
            let user = user.unwrap_or_default();
            security.check_credential(user, credential.unwrap_or_default())?;
            user.to_owned()
        }
    };
    let token = security.open(&name, now)?;
    log_in(session, Some(&name));
    Ok(token)
}

/// Finds out what the user of a connection may do; one who may not log in is none.
fn admit(security: &Security, session: &mut Session) -> Result<(), ResultCode> {
    let granted = security.grants(session).map(drop);
    if granted.is_err() {
        session.user = None;
    }
    granted
}

/// Tells the log who has logged in, or has not. `named`: by the request.
fn tell_log(request: &Request<'_>, named: Option<&str>, refusal: Option<&ResultCode>) {
    let (node, peer) = (&request.node.name, request.session.peer);
    match (refusal, request.session.user.as_deref()) {
        (None, user) => log::info!("{node}: {peer} has logged in as {:?}", user.unwrap_or_default()),
        (Some(code), _) => {
            log::warn!("{node}: {peer} cannot log in as {:?}: result {}", named.unwrap_or_default(), code.0);
        }
    }
}

fn log_in(session: &mut Session, user: Option<&str>) {
    session.user = user.map(str::to_owned);
    session.grants = None;
}

/// Whether the user of a connection may do this.
fn allowed(
    security: &Security,
    session: &mut Session,
    permission: Permission,
    namespace: &[u8],
    set: &[u8],
) -> Result<(), ResultCode> {
    security.grants(session)?.check(permission, namespace, set)
}

/// What the user of a connection may do; `None` without security: everything.
#[inline]
pub(crate) fn grants(node: &Node, session: &mut Session) -> Result<Option<Arc<Grants>>, u8> {
    match &node.cluster.security {
        None => Ok(None),
        Some(security) => security.grants(session).map(Some).map_err(|code| code.0),
    }
}

/// Whether a request for data is permitted, and within the quota. Without security it always is.
#[inline]
pub(crate) fn permit_data(
    grants: Option<&Grants>,
    access: Access,
    namespace: &[u8],
    set: &[u8],
    now: Now,
) -> Result<(), u8> {
    let Some(grants) = grants else { return Ok(()) };
    let checked = match access {
        Access::Read => grants.check(Permission::Read, namespace, set),
        Access::Write { reads } => grants
            .check(Permission::Write, namespace, set)
            .and_then(|()| if reads { grants.check(Permission::Read, namespace, set) } else { Ok(()) }),
        Access::Udf => grants.check(Permission::Udf, namespace, set),
    };
    checked.and_then(|()| grants.spend(access != Access::Read, now)).map_err(|code| code.0)
}

/// What a request does to data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write { reads: bool },
    Udf,
}

impl Access {
    /// From the flags of a request, and whether it calls a function.
    pub(crate) const fn of(first: u8, second: u8, udf: bool) -> Self {
        match (second & info2::WRITE != 0, udf) {
            (false, _) => Self::Read,
            (true, true) => Self::Udf,
            (true, false) => Self::Write { reads: first & info1::READ != 0 },
        }
    }
}

fn result(out: &mut Vec<u8>, code: ResultCode) -> Answered {
    let written = admin::encode_result(out, code);
    debug_assert!(written.is_ok(), "an answer without fields always fits");
    Answered::Done
}

/// Whether the connection has yet to log in. Then the refusal of the frame has been appended.
#[inline]
pub(crate) fn refuses(frame_type: FrameType, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
    let node = request.node;
    if node.cluster.security.is_none() || request.session.user.is_some() || frame_type == FrameType::Admin {
        return false;
    }
    refuse(frame_type, request.body, out);
    true
}

#[cold]
fn refuse(frame_type: FrameType, body: &[u8], out: &mut Vec<u8>) {
    let code = ResultCode::NOT_AUTHENTICATED.0;
    if frame_type == FrameType::Info {
        let start = begin_frame(out, FrameType::Info);
        out.extend_from_slice(format!("ERROR:{code}:not authenticated\n").as_bytes());
        let written = end_frame(out, start);
        debug_assert!(written.is_ok(), "a short line always fits");
        return;
    }
    // Batches and queries are answered by several messages, so their last one has to say that it is the last.
    let several = Message::decode(body)
        .is_ok_and(|m| m.header.info1 & info1::BATCH != 0 || m.field(message::field::DIGEST).is_none());
    if several {
        let header = MessageHeader { result_code: code, info3: info3::LAST, ..MessageHeader::default() };
        let written = MessageWriter::frame(out, &header).finish();
        debug_assert!(written.is_ok(), "a message without fields always fits");
    } else {
        error_answer(out, code);
    }
}
