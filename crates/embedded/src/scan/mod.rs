//! Answers to queries over the primary index and over secondary ones, to aggregations, and to background jobs.
//!
//! A query names partitions, or digests to go on after. Records of a partition come in falling order of digest. It needs
//! the partition-done bit (golden group `scan`). Partitions that the node does not hold are answered with "unavailable",
//! as a real node does not forward queries. A query over a secondary index answers each record once, with its place in
//! the index; it goes on after a digest and that place.

mod aggregate;
mod background;
mod index_query;
mod plan;
mod query;
mod registry;
mod request;
mod select;

pub(crate) use registry::{Queries, command};

use crate::admin::{self, Access};
use crate::cluster::Counters;
use crate::code;
use crate::request::{Answered, Request, error_answer, stream};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, info3};
use query::Run;
use request::{Kind, QueryRequest};
use std::sync::Arc;

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, message: &Message<'_>, out: &mut Vec<u8>) -> Answered {
    let node = request.node;
    Counters::add(&node.counters.queries, 1);
    match plan::explain(request, message, out) {
        Ok(true) => return Answered::Done,
        Ok(false) => {}
        Err(code) => {
            error_answer(out, code);
            return Answered::Done;
        }
    }
    let started = QueryRequest::parse(node, request.body, message).and_then(|query| {
        let access = match query.kind {
            Kind::Foreground => Access::Read,
            Kind::Background => Access::Write { reads: false },
            Kind::BackgroundUdf | Kind::Aggregation => Access::Udf,
        };
        let grants = admin::grants(node, request.session)?;
        let set = query.set.as_deref().unwrap_or_default();
        admin::permit_data(grants.as_deref(), access, query.namespace.name.as_bytes(), set, request.now)?;
        let entry = Queries::enter(node, &query, request.session.peer, request.now)?;
        Ok((query, entry))
    });
    let (query, entry) = match started {
        Ok(started) => started,
        Err(code) => {
            error_answer(out, code);
            return Answered::Done;
        }
    };
    match query.kind {
        Kind::Foreground => {
            let mut run = Run::new(Arc::clone(node), query, entry, request.now);
            if run.answer(request.now, out) { Answered::Done } else { stream(request, run) }
        }
        Kind::Aggregation => {
            let call = query.udf.clone();
            let started = call
                .ok_or(code::PARAMETER)
                .and_then(|call| aggregate::Aggregation::start(Arc::clone(node), query, call, entry, request.now));
            match started {
                Ok(aggregation) => Answered::Stream(Box::new(aggregation)),
                Err(code) => {
                    error_answer(out, code);
                    Answered::Done
                }
            }
        }
        Kind::Background | Kind::BackgroundUdf => {
            // As the server does. Queries that answer just find nothing in such a set.
            let unknown = query.set.as_ref().is_some_and(|set| query.namespace.sets.find(set).is_none());
            let code = if unknown { code::NOT_FOUND } else { background::start(request, query, entry) };
            finish(out, code);
            Answered::Done
        }
    }
}

/// Appends the message that ends the answer.
fn finish(out: &mut Vec<u8>, result_code: u8) {
    let header = MessageHeader { result_code, info3: info3::LAST, ..MessageHeader::default() };
    let finished = MessageWriter::frame(out, &header).finish();
    debug_assert!(finished.is_ok(), "a message without fields and operations is never too large");
}

/// A partition that the node cannot answer for.
fn unavailable(out: &mut Vec<u8>, pid: u16) {
    let header = MessageHeader {
        result_code: code::UNAVAILABLE,
        info3: info3::PARTITION_DONE,
        generation: pid.into(),
        ..MessageHeader::default()
    };
    let finished = MessageWriter::frame(out, &header).finish();
    debug_assert!(finished.is_ok(), "a message without fields and operations is never too large");
}
