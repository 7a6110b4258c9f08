//! From a frame to the module that answers it.

use super::request::{Answered, Request, error_answer};
use crate::{admin, batch, code, info, record, scan};
use aerolane_wire::message::{Message, field, info1};
use aerolane_wire::proto::FrameType;

/// Appends the answer to one frame.
pub(crate) fn dispatch(frame_type: FrameType, request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    match frame_type {
        FrameType::Info => info::handle(request, out),
        FrameType::Admin => admin::handle(request, out),
        FrameType::Message => message(request, out),
        FrameType::CompressedMessage => {
            error_answer(out, code::ENTERPRISE_ONLY);
            Answered::Done
        }
    }
}

fn message(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    let Ok(message) = Message::decode(request.body) else {
        error_answer(out, code::PARAMETER);
        return Answered::Done;
    };
    if message.header.info1 & info1::BATCH != 0 {
        return batch::handle(request, &message, out);
    }
    if message.field(field::DIGEST).is_some() {
        record::answer(request, &message, out);
        return Answered::Done;
    }
    if message.field(field::KEY).is_some() {
        error_answer(out, code::UNSUPPORTED);
        return Answered::Done;
    }
    scan::handle(request, &message, out)
}
