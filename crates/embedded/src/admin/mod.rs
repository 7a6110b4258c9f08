//! Answers to LOGIN, AUTHENTICATE and user administration.
//!
//! Without users the cluster answers as Community Edition does: result 51, whatever is asked (golden group `security`).
//! With users, a connection logs in with a credential, or authenticates with the session token of an earlier login;
//! before that, all else is refused. Users may do everything. Administration of users and roles is not implemented and
//! answered with "unsupported".

mod security;

pub(crate) use security::{SESSION_TTL, Security};

use crate::cluster::Counters;
use crate::service::{Answered, Request, error_answer};
use aerolane_wire::ResultCode;
use aerolane_wire::admin::{self, AdminMessage, command, field};
use aerolane_wire::message::{self, Message, MessageHeader, MessageWriter, info1, info3};
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};

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
            let credential = message.field(field::CREDENTIAL).unwrap_or_default();
            match security.login(user.unwrap_or_default(), credential) {
                Ok(token) => {
                    request.session.user = user.map(str::to_owned);
                    let written = admin::encode_session(out, &token, Some(security.session_ttl()));
                    debug_assert!(written.is_ok(), "two short fields always fit");
                    Answered::Done
                }
                Err(code) => result(out, code),
            }
        }
        command::AUTHENTICATE => {
            let checked = match (message.field(field::SESSION_TOKEN), message.field(field::CREDENTIAL)) {
                (Some(token), _) => security.check_token(user, token),
                (None, Some(credential)) => security.check_credential(user.unwrap_or_default(), credential),
                (None, None) => Err(ResultCode::INVALID_CREDENTIAL),
            };
            match checked {
                Ok(()) => {
                    request.session.user = Some(user.unwrap_or_default().to_owned());
                    result(out, ResultCode::OK)
                }
                Err(code) => result(out, code),
            }
        }
        _ if request.session.user.is_none() => result(out, ResultCode::NOT_AUTHENTICATED),
        _ => result(out, ResultCode::UNSUPPORTED_FEATURE),
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
