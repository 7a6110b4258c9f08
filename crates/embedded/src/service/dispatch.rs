//! From a frame to the module that answers it.

use crate::conditions::ServiceKind;
use crate::faults::RequestKind;
use crate::request::{Answered, RecordFields, Request, error_answer};
use crate::{admin, batch, code, info, record, scan};
use aerolane_wire::compress::{compress, decompress};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3};
use aerolane_wire::proto::{self, Frame, FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};
use std::time::Duration;

/// Appends the answer to one frame.
pub(crate) fn dispatch(frame_type: FrameType, request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    if admin::refuses(frame_type, request, out) {
        return Answered::Done;
    }
    match frame_type {
        FrameType::Info => info::handle(request, out),
        FrameType::Admin => admin::handle(request, out),
        FrameType::Message => message(request, out),
        FrameType::CompressedMessage => compressed(request, out),
    }
}

/// Compression is of the Enterprise Edition, which a cluster is with a namespace in strong-consistency mode.
fn compresses(request: &Request<'_>) -> bool {
    request.node.cluster.namespaces.iter().any(|namespace| namespace.strong_consistency)
}

fn compressed(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    if !compresses(request) {
        error_answer(out, code::ENTERPRISE_ONLY);
        return Answered::Done;
    }
    let mut plain = Vec::new();
    let unpacked = decompress(&mut plain, request.body, PROTO_HEADER_SIZE + MAX_BODY_SIZE);
    let frame = unpacked.and_then(|()| split_frame(&plain, MAX_BODY_SIZE)).ok().flatten();
    let is_message =
        |frame: &Frame<'_>, size: usize| frame.header.frame_type == FrameType::Message && size == plain.len();
    let Some((frame, _)) = frame.filter(|(frame, size)| is_message(frame, *size)) else {
        error_answer(out, code::PARAMETER);
        return Answered::Done;
    };
    let Request { node, now, .. } = *request;
    message(&mut Request { node, session: &mut *request.session, body: frame.body, now }, out)
}

/// Answers are compressed if the client asks for it, but for those that take several pieces; a server may leave any of
/// them plain.
#[inline]
fn message(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    if request.body.get(1).is_none_or(|bits| bits & info1::COMPRESS_RESPONSE == 0) {
        return plain_message(request, out);
    }
    let start = out.len();
    let answered = plain_message(request, out);
    if matches!(answered, Answered::Done) && compresses(request) {
        pack(out, start);
    }
    answered
}

/// Compresses the frames from `start` on that become smaller by it.
fn pack(out: &mut Vec<u8>, start: usize) {
    let plain = out.split_off(start);
    let mut rest = &plain[..];
    while let Ok(Some((_, size))) = split_frame(rest, MAX_BODY_SIZE) {
        let (frame, behind) = rest.split_at(size);
        let at = out.len();
        if compress(out, frame).is_err() || out.len() - at >= frame.len() {
            out.truncate(at);
            out.extend_from_slice(frame);
        }
        rest = behind;
    }
}

#[inline]
fn plain_message(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    let Ok(message) = Message::decode(request.body) else {
        error_answer(out, code::PARAMETER);
        return Answered::Done;
    };
    if message.header.info1 & info1::BATCH != 0 {
        return batch::handle(request, &message, out);
    }
    let fields = RecordFields::of(&message);
    let name = fields.namespace.unwrap_or_default();
    // Names are C strings in the server: a NUL ends them.
    let ended = || name.split(|byte| *byte == 0).next().unwrap_or_default();
    let cluster = &request.node.cluster;
    let Some(namespace) = cluster.namespace(name).or_else(|| cluster.namespace(ended())) else {
        error_answer(out, code::NAMESPACE);
        return Answered::Done;
    };
    if fields.digest.is_some() {
        return record::answer(request, namespace, &message, &fields, out);
    }
    if fields.key.is_some() {
        error_answer(out, code::UNSUPPORTED);
        return Answered::Done;
    }
    scan::handle(request, &message, out)
}

/// Whether a frame of info text is about faults or conditions.
fn is_control(body: &[u8]) -> bool {
    body.starts_with(b"aerolane-fault") || body.starts_with(b"aerolane-conditions")
}

/// What a server does for a frame, as far as service times tell it apart; `None`: nothing that has one.
pub(super) fn service_kind(frame: Frame<'_>) -> Option<ServiceKind> {
    let mut plain = Vec::new();
    let body = match frame.header.frame_type {
        FrameType::Info | FrameType::Admin => return None,
        FrameType::Message => frame.body,
        FrameType::CompressedMessage => {
            decompress(&mut plain, frame.body, PROTO_HEADER_SIZE + MAX_BODY_SIZE).ok()?;
            plain.get(PROTO_HEADER_SIZE..)?
        }
    };
    let message = Message::decode(body).ok()?;
    Some(match message.header {
        MessageHeader { info1, .. } if info1 & info1::BATCH != 0 => ServiceKind::Batch,
        // A function over many records is a query with a UDF.
        _ if message.field(field::DIGEST).is_none() => ServiceKind::Query,
        _ if message.field(field::UDF_FUNCTION).is_some() => ServiceKind::Udf,
        MessageHeader { info2, .. } if info2 & info2::WRITE != 0 => ServiceKind::Write,
        _ => ServiceKind::Read,
    })
}

/// What kind of request a frame holds, as fault rules tell them apart.
pub(super) fn request_kind(frame: Frame<'_>) -> RequestKind {
    match frame.header.frame_type {
        FrameType::Info if is_control(frame.body) => RequestKind::Control,
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

/// The time limit that a message asks for.
pub(super) fn time_limit(frame: Frame<'_>) -> Option<Duration> {
    let header = Some(frame.body).filter(|_| frame.header.frame_type == FrameType::Message);
    let header = MessageHeader::decode(header?).ok()?;
    (header.transaction_ttl != 0).then(|| Duration::from_millis(header.transaction_ttl.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(header: MessageHeader, fields: &[u8]) -> Option<ServiceKind> {
        let mut plain = Vec::new();
        let mut message = MessageWriter::frame(&mut plain, &header);
        message.field(field::NAMESPACE, b"test");
        for id in fields {
            message.field(*id, &[0; 20]);
        }
        message.finish().unwrap();
        let (frame, _) = split_frame(&plain, MAX_BODY_SIZE).unwrap().unwrap();
        let kind = service_kind(frame);
        let mut packed = Vec::new();
        compress(&mut packed, &plain).unwrap();
        let (frame, _) = split_frame(&packed, MAX_BODY_SIZE).unwrap().unwrap();
        assert_eq!(frame.header.frame_type, FrameType::CompressedMessage);
        assert_eq!(service_kind(frame), kind, "compressed or not");
        kind
    }

    #[test]
    fn service_times_tell_requests_apart_by_what_the_server_does() {
        let header = |info1, info2| MessageHeader { info1, info2, ..MessageHeader::default() };
        let (read, write) = (info1::READ, info2::WRITE);
        let single = [field::DIGEST];
        let udf = [field::DIGEST, field::UDF_PACKAGE, field::UDF_FUNCTION, field::UDF_ARGUMENTS];
        let background = [field::UDF_PACKAGE, field::UDF_FUNCTION, field::UDF_OPERATION];
        for (header, fields, expected) in [
            (header(read | info1::GET_ALL, 0), &single[..], ServiceKind::Read),
            (header(read | info1::NO_BIN_DATA, 0), &single, ServiceKind::Read),
            (header(0, write), &single, ServiceKind::Write),
            (header(0, write | info2::DELETE), &single, ServiceKind::Write),
            (header(read, write), &single, ServiceKind::Write),
            (header(0, write), &udf, ServiceKind::Udf),
            (header(read | info1::BATCH, 0), &[field::BATCH], ServiceKind::Batch),
            (header(read | info1::BATCH, write), &[field::BATCH], ServiceKind::Batch),
            (header(read, 0), &[field::PARTITIONS], ServiceKind::Query),
            (header(0, write), &background, ServiceKind::Query),
        ] {
            assert_eq!(kind(header, fields), Some(expected), "{header:?}");
        }
        let info = [2, 1, 0, 0, 0, 0, 0, 0];
        let (frame, _) = split_frame(&info, MAX_BODY_SIZE).unwrap().unwrap();
        assert_eq!(service_kind(frame), None);
    }
}
