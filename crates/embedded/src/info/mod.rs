//! Answers to info text.

use crate::code;
use crate::service::{Answered, Request, error_answer};

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, out: &mut Vec<u8>) -> Answered {
    let _ = request;
    error_answer(out, code::UNSUPPORTED);
    Answered::Done
}
