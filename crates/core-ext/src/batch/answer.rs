//! The answer of one node to a batch: many messages in many frames, in any order.

use std::sync::Arc;

use aerolane_wire::WireResult;
use aerolane_wire::message::{Message, field, info3};
use aerospike_core::{Key, Record, ResultCode};

use crate::command::decode::{self, Want, bad, failure};
use crate::command::value;
use crate::error::{Error, Result};

/// What the server said about one row.
#[derive(Debug)]
pub enum RowAnswer {
    /// The row succeeded.
    Ok(Record),
    /// The row failed.
    Failed {
        /// Why: a result code of the server.
        error: Error,
        /// The record that came with a UDF's failure: it has the reason in the bin `FAILURE`.
        record: Option<Record>,
    },
}

/// How far an answer has come.
#[derive(Debug)]
#[must_use]
pub enum Progress {
    /// More frames follow.
    More,
    /// That was all. Rows that are still unanswered failed with the error, if there is one; without an error they were
    /// left out (as the server does after an error when the policy does not ask for all keys).
    Done(Option<Error>),
}

/// Takes the answer of one node apart, and sees to it that every row is answered at most once.
#[derive(Debug)]
pub struct Answers {
    /// One bit per row: answered.
    answered: Vec<u64>,
    rows: u32,
    left: u32,
    done: bool,
}

impl Answers {
    /// For a request of this many rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self { answered: vec![0; rows.div_ceil(64)], rows: rows as u32, left: rows as u32, done: false }
    }

    /// How many rows have not been answered.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// Takes in the body of one frame and calls `each` with every row's place in the request and its answer.
    ///
    /// An error means that the answer cannot be understood (or names a row that was not asked for, or one twice); the
    /// connection must then be closed. Rows given to `each` before stay valid.
    pub fn frame(&mut self, body: &[u8], node: &Arc<str>, mut each: impl FnMut(u32, RowAnswer)) -> Result<Progress> {
        let mut at = 0;
        while at < body.len() {
            if self.done {
                return Err(bad("a batch answer goes on behind its last message".to_owned(), node));
            }
            let (message, size) = Message::decode_prefix(&body[at..])
                .map_err(|e| bad(format!("a batch answer is no message: {}", e.shifted(at)), node))?;
            at += size;
            if message.header.info3 & info3::LAST != 0 {
                self.done = true;
                if at == body.len() {
                    let failed = message.header.result_code != 0;
                    return Ok(Progress::Done(failed.then(|| failure(&message, node))));
                }
                continue;
            }
            let place = self.mark(message.header.transaction_ttl, node)?;
            each(place, row_answer(&message, node)?);
        }
        Ok(Progress::More)
    }

    /// Marks a row as answered.
    fn mark(&mut self, place: u32, node: &Arc<str>) -> Result<u32> {
        if place >= self.rows {
            return Err(bad(format!("an answer for batch row {place} of {}", self.rows), node));
        }
        let (word, bit) = (&mut self.answered[place as usize / 64], 1 << (place % 64));
        if *word & bit != 0 {
            return Err(bad(format!("a second answer for batch row {place}"), node));
        }
        *word |= bit;
        self.left -= 1;
        Ok(place)
    }
}

#[inline]
fn row_answer(message: &Message<'_>, node: &Arc<str>) -> Result<RowAnswer> {
    let code = ResultCode::from(message.header.result_code);
    match code {
        ResultCode::Ok => Ok(RowAnswer::Ok(record(message, node)?)),
        ResultCode::UdfBadResponse => {
            Ok(RowAnswer::Failed { error: failure(message, node), record: Some(record(message, node)?) })
        }
        _ => Ok(RowAnswer::Failed { error: failure(message, node), record: None }),
    }
}

#[inline]
fn record(message: &Message<'_>, node: &Arc<str>) -> Result<Record> {
    // A row without operations (a delete, a header read) has no results, rather than an empty list of them.
    let want = Want { results: message.header.n_ops > 0, ..Want::BATCH };
    let mut record = decode::record_of(message, want, node)?;
    if message.header.n_fields > 0 {
        record.key = key(message).map_err(|e| bad(format!("the key of a batch row is malformed: {e}"), node))?;
    }
    Ok(record)
}

/// The key in an answer, if its digest is there.
fn key(message: &Message<'_>) -> WireResult<Option<Key>> {
    let Some(digest) = message.field(field::DIGEST).and_then(|digest| <[u8; 20]>::try_from(digest).ok()) else {
        return Ok(None);
    };
    let text = |kind| message.field(kind).map_or(String::new(), |v| String::from_utf8_lossy(v).into_owned());
    let user_key = match message.field(field::KEY) {
        Some([kind, bytes @ ..]) => Some(value::decode(*kind, bytes)?),
        _ => None,
    };
    Ok(Some(Key::with_digest(text(field::NAMESPACE), text(field::SET), user_key, digest)))
}

/// Whether this frame body holds the last message of an answer. For those who only collect the frames.
pub fn holds_last(body: &[u8]) -> WireResult<bool> {
    let mut at = 0;
    let mut last = false;
    while at < body.len() {
        let (message, size) = Message::decode_prefix(&body[at..]).map_err(|e| e.shifted(at))?;
        last |= message.header.info3 & info3::LAST != 0;
        at += size;
    }
    Ok(last)
}
