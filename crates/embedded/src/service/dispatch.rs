//! From a frame to the module that answers it.

use super::request::{Answered, Request, error_answer};
use crate::faults::RequestKind;
use crate::{admin, batch, code, info, record, scan};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3};
use aerolane_wire::proto::{self, Frame, FrameType};

/// Appends the answer to one frame.
pub(crate) fn dispatch(frame_type: FrameType, request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    if admin::refuses(frame_type, request, out) {
        return Answered::Done;
    }
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
    let name = message.field(field::NAMESPACE).unwrap_or_default();
    // Names are C strings in the server: a NUL ends them.
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let Some(namespace) = request.node.cluster.namespace(name) else {
        error_answer(out, code::NAMESPACE);
        return Answered::Done;
    };
    if message.field(field::DIGEST).is_some() {
        record::answer(request, namespace, &message, out);
        return Answered::Done;
    }
    if message.field(field::KEY).is_some() {
        error_answer(out, code::UNSUPPORTED);
        return Answered::Done;
    }
    scan::handle(request, &message, out)
}

/// What kind of request a frame holds, as fault rules tell them apart.
pub(super) fn request_kind(frame: Frame<'_>) -> RequestKind {
    match frame.header.frame_type {
        FrameType::Info if frame.body.starts_with(b"aerolane-fault") => RequestKind::Control,
        FrameType::Info => RequestKind::Info,
        FrameType::Admin => RequestKind::Admin,
        FrameType::CompressedMessage => RequestKind::Other,
        FrameType::Message => match Message::decode(frame.body) {
            Err(_) => RequestKind::Other,
            Ok(m) if m.header.info1 & info1::BATCH != 0 => RequestKind::Batch,
            Ok(m) if m.field(field::DIGEST).is_none() => RequestKind::Query,
            Ok(m) if m.header.info2 & info2::WRITE != 0 => RequestKind::Write,
            Ok(_) => RequestKind::Read,
        },
    }
}

/// Appends an answer with a result code in the form that requests of this kind get.
pub(super) fn coded_answer(out: &mut Vec<u8>, kind: RequestKind, result_code: u8) {
    match kind {
        RequestKind::Info | RequestKind::Control => {
            let start = proto::begin_frame(out, FrameType::Info);
            out.extend_from_slice(format!("ERROR:{result_code}:fault\n").as_bytes());
            // Far below the largest frame.
            let _ = proto::end_frame(out, start);
        }
        RequestKind::Admin => {
            let start = proto::begin_frame(out, FrameType::Admin);
            out.extend_from_slice(&[0, result_code, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            let _ = proto::end_frame(out, start);
        }
        RequestKind::Batch | RequestKind::Query => {
            let header = MessageHeader { info3: info3::LAST, result_code, ..MessageHeader::default() };
            let _ = MessageWriter::frame(out, &header).finish();
        }
        _ => error_answer(out, result_code),
    }
}
