//! Answers to queries over the primary index.

use crate::code;
use crate::service::{Answered, Request, error_answer};
use aerolane_wire::message::Message;

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, message: &Message<'_>, out: &mut Vec<u8>) -> Answered {
    let _ = (request, message);
    error_answer(out, code::UNSUPPORTED);
    Answered::Done
}
