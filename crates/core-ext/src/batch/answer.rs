//! The answer of one node to a batch: many messages in many frames, in any order.

use std::sync::Arc;

use aerolane_wire::WireResult;
use aerolane_wire::message::{Message, MessageHeader, MessageReader, field, info3, pass_message};
use aerospike_core::{Key, Record, ResultCode};

use crate::command::compress::is_refusal;
use crate::command::decode::{self, Names, Want, bad, failure};
use crate::command::value;
use crate::error::{Error, Phase, Result};

/// The bin with the reason why a function has failed.
const UDF_FAILURE: &[u8] = b"FAILURE";

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
    /// Whether the request went compressed, which servers refuse as a whole.
    compressed: bool,
    done: bool,
}

impl Answers {
    /// For a request of this many rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let (answered, rows) = (vec![0; rows.div_ceil(64)], rows as u32);
        Self { answered, rows, left: rows, compressed: false, done: false }
    }

    /// Says whether the request went compressed. A server that takes none (the Community Edition) ends the answer with
    /// its refusal, of all rows.
    #[must_use]
    pub const fn to_compressed(mut self, compressed: bool) -> Self {
        self.compressed = compressed;
        self
    }

    /// How many rows have not been answered.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// Takes in the body of one frame and calls `each` with every row's place in the request and its answer.
    ///
    /// An error (of `each`, too) means that the answer cannot be understood, or names a row that was not asked for, or
    /// one twice; the connection must then be closed. What `each` did with rows before stays valid.
    pub fn frame(
        &mut self,
        body: &[u8],
        node: &Arc<str>,
        mut each: impl FnMut(u32, &mut RowAnswer<'_, '_>) -> Result<()>,
    ) -> Result<Progress> {
        if self.compressed && self.left == self.rows && is_refusal(body) {
            self.done = true;
            let message = Message::decode(body).map_err(|e| no_message(e, 0, node))?;
            return Ok(Progress::Done(Some(failure(&message, node))));
        }
        let mut names = Names::new();
        let mut at = 0;
        while at < body.len() {
            if self.done {
                return Err(bad("a batch answer goes on behind its last message".to_owned(), node));
            }
            let bytes = &body[at..];
            let no_message = |e| no_message(e, at, node);
            let reader = MessageReader::new(bytes).map_err(no_message)?;
            if reader.header().info3 & info3::LAST != 0 {
                self.done = true;
                let (message, size) = Message::decode_prefix(bytes).map_err(no_message)?;
                at += size;
                if at == body.len() {
                    let failed = message.header.result_code != 0;
                    return Ok(Progress::Done(failed.then(|| failure(&message, node))));
                }
                continue;
            }
            let place = reader.header().transaction_ttl;
            if !self.mark(place) {
                return Err(self.refused(place, node));
            }
            let mut answer = RowAnswer { reader, bytes, names: &mut names, node, size: None };
            each(place, &mut answer)?;
            at += match answer.size {
                Some(size) => size,
                None => answer.reader.finish().map_err(no_message)?,
            };
        }
        Ok(Progress::More)
    }

    /// Marks a row as answered. False: it has been, or was not asked for.
    #[inline]
    fn mark(&mut self, place: u32) -> bool {
        if place >= self.rows {
            return false;
        }
        let (word, bit) = (&mut self.answered[place as usize / 64], 1 << (place % 64));
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.left -= 1;
        true
    }

    #[cold]
    fn refused(&self, place: u32, node: &Arc<str>) -> Error {
        if place >= self.rows {
            return bad(format!("an answer for batch row {place} of {}", self.rows), node);
        }
        bad(format!("a second answer for batch row {place}"), node)
    }
}

#[cold]
fn no_message(error: aerolane_wire::WireError, at: usize, node: &Arc<str>) -> Error {
    bad(format!("a batch answer is no message: {}", error.shifted(at)), node)
}

/// What the server said about one row, not yet decoded.
#[derive(Debug)]
pub struct RowAnswer<'a, 'f> {
    reader: MessageReader<'a>,
    /// From the row's message on.
    bytes: &'a [u8],
    names: &'f mut Names<'a>,
    node: &'f Arc<str>,
    /// Of the message, once it has been passed over.
    size: Option<usize>,
}

impl RowAnswer<'_, '_> {
    /// Decodes the row. `None`: it succeeded, and its record has been put into `record`. Otherwise it failed with this
    /// result code of the server, and `record` is what came with the failure: of a UDF's, the reason in the bin
    /// `FAILURE`; else nothing.
    ///
    /// The outer error means that the answer cannot be understood; `record` is then empty. A row is decoded once.
    #[inline]
    pub fn decode(&mut self, want: Want, record: &mut Option<Record>) -> Result<Option<Error>> {
        let code = self.reader.header().result_code;
        if code == 0 {
            return self.record(want, record).map(|()| None);
        }
        if ResultCode::from(code) == ResultCode::UdfBadResponse {
            self.record(want, record)?;
        } else {
            *record = None;
        }
        self.failure().map(Some)
    }

    /// The row's message as it came, of a row that succeeded; of one that failed, the error, a UDF's with its reason.
    /// Only the sizes in the message are checked.
    ///
    /// The outer error means that the answer cannot be understood.
    #[inline]
    pub(crate) fn message(&mut self) -> Result<std::result::Result<&[u8], Error>> {
        match ResultCode::from(self.reader.header().result_code) {
            ResultCode::Ok => {}
            ResultCode::UdfBadResponse => return self.udf_failure().map(Err),
            _ => return self.failure().map(Err),
        }
        let (size, _) = pass_message(self.bytes)
            .map_err(|e| bad(format!("a row of a batch answer is no message: {e}"), self.node))?;
        self.size = Some(size);
        Ok(Ok(&self.bytes[..size]))
    }

    /// The row's header.
    #[inline]
    pub(crate) fn header(&self) -> MessageHeader {
        self.reader.header()
    }

    /// The node that answers, as `NAME: host:port`.
    pub(crate) const fn node(&self) -> &Arc<str> {
        self.node
    }

    /// The row's message and what follows it.
    pub(crate) const fn bytes(&self) -> &[u8] {
        self.bytes
    }

    #[inline]
    fn record(&mut self, want: Want, into: &mut Option<Record>) -> Result<()> {
        // A row without operations (a delete, a header read) has no results, rather than an empty list of them.
        let want = Want { results: want.results && self.reader.header().n_ops > 0, ..want };
        // Built where it stays.
        *into = None;
        let record = into.get_or_insert_with(|| decode::bare_record(&self.reader, want, self.names));
        let mut decode = || {
            if self.reader.header().n_fields > 0 {
                let malformed = |e| bad(format!("the key of a batch row is malformed: {e}"), self.node);
                record.key = key(&mut self.reader).map_err(malformed)?;
            }
            decode::fill(record, &mut self.reader, want, self.names, self.node)
        };
        let result = decode();
        if result.is_err() {
            *into = None;
        }
        result
    }

    /// The failure of a function, with its reason: file, line, what was wrong.
    #[cold]
    fn udf_failure(&self) -> Result<Error> {
        let (message, _) = Message::decode_prefix(self.bytes)
            .map_err(|e| bad(format!("a row of a batch answer is no message: {e}"), self.node))?;
        let reason = message.ops().find(|op| op.name == UDF_FAILURE);
        Ok(match reason {
            Some(reason) => {
                let reason = String::from_utf8_lossy(reason.value).into_owned();
                Error::udf_bad_response(reason).with_node(Arc::clone(self.node)).with_phase(Phase::Receiving)
            }
            None => failure(&message, self.node),
        })
    }

    #[cold]
    fn failure(&self) -> Result<Error> {
        let (message, _) = Message::decode_prefix(self.bytes)
            .map_err(|e| bad(format!("a row of a batch answer is no message: {e}"), self.node))?;
        Ok(failure(&message, self.node))
    }
}

/// The key in an answer, if its digest is there. Of two fields of one type the first counts.
#[cold]
fn key(reader: &mut MessageReader<'_>) -> WireResult<Option<Key>> {
    let mut fields = [None; 5];
    while let Some(field) = reader.next_field()? {
        if let Some(first @ None) = fields.get_mut(usize::from(field.kind)) {
            *first = Some(field.value);
        }
    }
    let value_of = |kind: u8| fields[usize::from(kind)];
    let Some(digest) = value_of(field::DIGEST).and_then(|digest| <[u8; 20]>::try_from(digest).ok()) else {
        return Ok(None);
    };
    let text = |kind| value_of(kind).map_or(String::new(), |v| String::from_utf8_lossy(v).into_owned());
    let user_key = match value_of(field::KEY) {
        Some([kind, bytes @ ..]) => Some(value::decode(*kind, bytes)?),
        _ => None,
    };
    Ok(Some(Key::with_digest(text(field::NAMESPACE), text(field::SET), user_key, digest)))
}
