//! Answers to batch requests.
//!
//! Rows are executed and answered in order. Rows travel in frames of at most 128 KiB, the final message in a frame of its
//! own (golden group `batch`). A batch that is long, or whose answer is, goes on as a stream, so that no connection waits
//! for another one's batch.

mod rows;

use crate::admin;
use crate::clock::Now;
use crate::cluster::Counters;
use crate::code;
use crate::exp::{Expression, compiled};
use crate::record::patience;
use crate::request::{Answered, Request, Sliced, stream, stream_elsewhere};
use aerolane_wire::batch::BatchRows;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info2, info3};
use rows::Run;
use std::sync::Arc;
use std::time::Instant;

/// The older type of the batch field; the server takes it too.
const BATCH_WITH_SET: u8 = 42;

/// Appends the answer to the frame in `request`.
pub(crate) fn handle(request: &mut Request<'_>, message: &Message<'_>, out: &mut Vec<u8>) -> Answered {
    let node = request.node;
    Counters::add(&node.counters.batches, 1);
    let field = batch_field(message);
    let filter = message.field(field::FILTER);
    let (count, has_scripts) = match check(request, field, filter) {
        Ok(checked) => checked,
        Err(code) => {
            finish(out, code);
            return Answered::Done;
        }
    };
    // `check` has found the field.
    let value = field.unwrap_or_default();
    Counters::add(&node.counters.batch_rows, count.into());
    let grants = match admin::grants(node, request.session) {
        Ok(grants) => grants,
        Err(code) => {
            finish(out, code);
            return Answered::Done;
        }
    };
    let mut run =
        Run::new(Arc::clone(node), grants, value, request.session.connection, patience(message.header.transaction_ttl));
    let rest = |run| Rest { value: value.to_vec(), filter: filter.map(<[u8]>::to_vec), run };
    if has_scripts {
        return stream_elsewhere(request, rest(run));
    }
    let from = out.len();
    if run.proceed(value, filter, request.now, out) {
        return match run.replicated() {
            Some(until) => Answered::Later { from, until },
            None => Answered::Done,
        };
    }
    let rest = rest(run);
    stream(request, rest)
}

fn batch_field<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    message.fields().find(|f| f.kind == field::BATCH || f.kind == BATCH_WITH_SET).map(|f| f.value)
}

/// A batch that goes on.
struct Rest {
    value: Vec<u8>,
    filter: Option<Vec<u8>>,
    run: Run,
}

impl Sliced for Rest {
    fn proceed(&mut self, now: Now, out: &mut Vec<u8>) -> bool {
        self.run.proceed(&self.value, self.filter.as_deref(), now, out)
    }

    fn not_before(&self) -> Option<Instant> {
        self.run.replicated()
    }

    fn is_slow(&self) -> bool {
        self.run.is_slow()
    }
}

/// Looks through all rows before the first one is executed: a batch with a malformed row or an unknown namespace is
/// refused as a whole. Answers the number of rows, and whether any of them calls a function.
fn check(request: &Request<'_>, field: Option<&[u8]>, filter: Option<&[u8]>) -> Result<(u32, bool), u8> {
    let value = field.ok_or(code::PARAMETER)?;
    let rows = BatchRows::decode(value).map_err(|_| code::PARAMETER)?;
    let count = rows.count;
    if count == 0 {
        return Err(code::PARAMETER);
    }
    if let Some(filter) = filter {
        Expression::parse_filter(&compiled(filter)?)?;
    }
    let mut has_scripts = false;
    for row in rows {
        let row = row.map_err(|_| code::PARAMETER)?;
        if row.repeat {
            continue;
        }
        let namespace = row.field(field::NAMESPACE).ok_or(code::PARAMETER)?;
        if request.node.cluster.namespace(namespace).is_none() {
            return Err(code::PARAMETER);
        }
        has_scripts |= row.header.info2 & info2::WRITE != 0 && row.field(field::UDF_FUNCTION).is_some();
    }
    Ok((count, has_scripts))
}

/// Appends the message that ends the answer.
fn finish(out: &mut Vec<u8>, result_code: u8) {
    let header = MessageHeader { result_code, info3: info3::LAST, ..MessageHeader::default() };
    let finished = MessageWriter::frame(out, &header).finish();
    debug_assert!(finished.is_ok(), "a message without fields and operations is never too large");
}

/// Whether a result counts as an error of the whole batch: "not found" and "filtered out" never do.
const fn is_failure(code: u8) -> bool {
    !matches!(code, code::OK | code::NOT_FOUND | code::FILTERED_OUT)
}
