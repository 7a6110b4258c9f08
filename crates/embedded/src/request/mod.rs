//! What the service hands to the modules that answer, and what they hand back; what one record's part of that is.

mod offload;
mod record;
mod slices;
mod transaction;

pub(crate) use offload::{ConnectionWaker, offload};
pub(crate) use record::{AnswerFields, Outcome, RecordFields, RecordOutcome, RecordRequest, UdfCall, field_error};
pub(crate) use slices::{Slice, Sliced, stream, stream_elsewhere};
pub(crate) use transaction::{TxnId, TxnPart, VERSION_SIZE};

use crate::admin::Grants;
use crate::clock::Now;
use crate::cluster::Node;
use aerolane_wire::message::{MessageHeader, MessageWriter};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// What is remembered about one connection.
#[derive(Debug)]
pub(crate) struct Session {
    /// The client's address.
    pub(crate) peer: SocketAddr,
    /// The connection's number at its node, from 1.
    pub(crate) connection: u64,
    /// The Common Name of the client's TLS certificate; asked for when a request of administration comes before a login.
    pub(crate) common_name: Option<String>,
    /// The user that has logged in on this connection.
    pub(crate) user: Option<String>,
    /// What that user may do, as far as it was asked for.
    pub(crate) grants: Option<Arc<Grants>>,
    /// Whether the client has told its user agent.
    pub(crate) user_agent_set: bool,
    /// Has the connection look again at an answer that it waits for.
    pub(crate) waking: ConnectionWaker,
    /// Single-record messages since they were last added to the node's counters.
    pub(crate) records: u64,
}

/// One frame to be answered.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The node that was asked.
    pub(crate) node: &'a Arc<Node>,
    /// The connection it came on.
    pub(crate) session: &'a mut Session,
    /// Body of the frame.
    pub(crate) body: &'a [u8],
    /// The time, read once for all frames of a piece.
    pub(crate) now: Now,
}

/// What became of a frame.
pub(crate) enum Answered {
    /// All that is to be answered has been appended (possibly nothing).
    Done,
    /// What was appended from this place of the output on leaves at this time, and nothing behind it before.
    Later { from: usize, until: Instant },
    /// Send what has been appended, then close the connection.
    Close,
    /// The answer goes on; nothing else of this connection is looked at until it ends.
    Stream(Box<dyn Producer>),
}

/// An answer too large to be built at once (queries, big batches).
pub(crate) trait Producer: Send {
    /// Appends the next whole frames, about 128 KiB per call, so that slow readers hold back the work. `true`: that was all.
    fn produce(&mut self, now: Now, out: &mut Vec<u8>) -> bool;

    /// When to go on, if not at once (a query with a limited rate).
    fn resume_at(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// From now on, make no pauses.
    fn hurry(&mut self) {}
}

/// Appends a whole frame with a message that holds a result code and nothing else.
pub(crate) fn error_answer(out: &mut Vec<u8>, result_code: u8) {
    let header = MessageHeader { result_code, ..MessageHeader::default() };
    let finished = MessageWriter::frame(out, &header).finish();
    debug_assert!(finished.is_ok(), "a message without fields and operations is never too large");
}
