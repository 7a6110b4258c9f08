//! Records of a query, gathered into chunks of columns.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::recordset::{RECORDS_PER_PAUSE, malformed};
use super::stream::{Stream, Taken};
use crate::columns::{Builder, Chunk, Inference, Schema, Wanted};

/// The columns of a stream, as soon as they are known.
pub(super) type SharedSchema = Arc<OnceLock<Arc<Schema>>>;

/// How many records settle the types of columns, if nobody says so.
const SAMPLE_RECORDS: u64 = 10_000;
/// How many bytes of records, at most, if nobody says how many records.
const SAMPLE_BYTES: usize = 32 << 20;
/// Bytes of records that are kept together.
const SEGMENT: usize = 1 << 20;

/// Makes chunks of records.
pub(super) struct Gatherer {
    stream: Arc<Stream>,
    /// Rows of a chunk, at most.
    batch_rows: usize,
    /// Records that are still to be taken; `None`: all.
    left: Option<u64>,
    schema: SharedSchema,
    state: State,
    /// How the query has ended.
    over: Option<Result<(), aerolane::Error>>,
}

enum State {
    /// Records are looked at, and kept.
    Looking(Box<Sample>),
    Filling {
        builder: Builder,
        kept: RecordBuffer,
    },
    /// Records have values that no columns can hold together.
    Unsettled(aerolane::Error),
}

struct Sample {
    wanted: Arc<Wanted>,
    seen: Inference,
    kept: RecordBuffer,
    /// How many records settle the types; `None`: the default.
    records: Option<u64>,
}

/// Records that were looked at, and are not in a chunk yet.
#[derive(Default)]
struct RecordBuffer {
    /// Records one behind the other, each with its length before it.
    segments: VecDeque<Vec<u8>>,
    /// How far the first one was read.
    at: usize,
    records: u64,
    bytes: usize,
}

impl RecordBuffer {
    fn push(&mut self, message: &[u8]) {
        if self.segments.back().is_none_or(|segment| segment.len() + message.len() > SEGMENT) {
            self.segments.push_back(Vec::with_capacity(SEGMENT.max(message.len() + size_of::<usize>())));
        }
        if let Some(segment) = self.segments.back_mut() {
            segment.extend_from_slice(&message.len().to_ne_bytes());
            segment.extend_from_slice(message);
        }
        self.records += 1;
        self.bytes += message.len();
    }

    /// Gives the next one to `look`.
    fn next<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        const LEN: usize = size_of::<usize>();
        loop {
            let segment = self.segments.front()?;
            let Some((len, rest)) = segment.get(self.at..).and_then(<[u8]>::split_first_chunk::<LEN>) else {
                self.segments.pop_front();
                self.at = 0;
                continue;
            };
            let len = usize::from_ne_bytes(*len);
            self.at += LEN + len;
            self.records -= 1;
            return Some(look(&rest[..len]));
        }
    }
}

impl Gatherer {
    /// `sample`: how many records settle the types of columns. `left`: how many are taken; `None`: all.
    pub(super) fn new(
        stream: Arc<Stream>,
        wanted: Arc<Wanted>,
        batch_rows: usize,
        sample: Option<u64>,
        left: Option<u64>,
    ) -> Self {
        let schema = SharedSchema::default();
        let state = match wanted.known() {
            Some(known) => {
                let known = schema.get_or_init(|| Arc::new(known));
                State::Filling { builder: Builder::new(Arc::clone(known), batch_rows), kept: RecordBuffer::default() }
            }
            None => State::Looking(Box::new(Sample {
                wanted,
                seen: Inference::default(),
                kept: RecordBuffer::default(),
                records: sample,
            })),
        };
        Self { stream, batch_rows, left, schema, state, over: None }
    }

    pub(super) fn schema(&self) -> SharedSchema {
        Arc::clone(&self.schema)
    }

    /// Lets all records settle the types of the columns, unless somebody has said how many.
    pub(super) fn look_at_all(&mut self) {
        if let State::Looking(sample) = &mut self.state {
            sample.records.get_or_insert(u64::MAX);
        }
    }

    /// The columns. Dropping it loses nothing.
    ///
    /// # Errors
    /// The records have values that no columns can hold together; each time. A query that fails ends what is looked at.
    pub(super) async fn settle(&mut self) -> Result<Arc<Schema>, aerolane::Error> {
        let mut since_pause = 0;
        loop {
            let sample = match &mut self.state {
                State::Filling { builder, .. } => return Ok(Arc::clone(builder.schema())),
                State::Unsettled(error) => return Err(error.clone()),
                State::Looking(sample) => sample,
            };
            let full = match sample.records {
                Some(records) => sample.kept.records >= records,
                None => sample.kept.records >= SAMPLE_RECORDS || sample.kept.bytes >= SAMPLE_BYTES,
            };
            if self.over.is_some() || full {
                self.begin();
                continue;
            }
            let look = |message: &[u8]| {
                sample.seen.look(message, None).map_err(malformed)?;
                sample.kept.push(message);
                Ok(())
            };
            take(&self.stream, &mut self.left, &mut self.over, &mut since_pause, look).await;
        }
    }

    /// Ends looking: the types are settled.
    fn begin(&mut self) {
        let State::Looking(sample) = &mut self.state else { return };
        let kept = std::mem::take(&mut sample.kept);
        self.state = match sample.wanted.settle(&sample.seen) {
            Ok(schema) => {
                let schema = self.schema.get_or_init(|| Arc::new(schema));
                State::Filling { builder: Builder::new(Arc::clone(schema), self.batch_rows), kept }
            }
            Err(text) => State::Unsettled(aerolane::Error::invalid_argument(text)),
        };
    }

    /// The next chunk, whole or the last one; `None`: there is none. Dropping it loses nothing.
    ///
    /// # Errors
    /// That of the query, behind what came before it; each time.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Chunk>>, aerolane::Error> {
        self.settle().await?;
        let Self { stream, left, state, over, .. } = self;
        let State::Filling { builder, kept } = state else { return Ok(None) };
        let mut since_pause = 0;
        while !builder.is_full() {
            // What was kept came before what has ended the query.
            match kept.next(|message| builder.push(message, None)) {
                Some(Ok(())) => {
                    pause(&mut since_pause).await;
                    continue;
                }
                Some(Err(unfit)) => {
                    *over = Some(Err(unfit.into()));
                    *kept = RecordBuffer::default();
                }
                None => {}
            }
            if over.is_some() {
                break;
            }
            let push = |message: &[u8]| builder.push(message, None).map_err(aerolane::Error::from);
            take(stream, left, over, &mut since_pause, push).await;
        }
        match (builder.take(), &*over) {
            (Some(chunk), _) => Ok(Some(chunk)),
            (None, Some(Err(error))) => Err(error.clone()),
            (None, _) => Ok(None),
        }
    }
}

/// Gives the next record to `look`, or waits until one may be there, or notes the end.
async fn take(
    stream: &Stream,
    left: &mut Option<u64>,
    over: &mut Option<Result<(), aerolane::Error>>,
    since_pause: &mut usize,
    look: impl FnMut(&[u8]) -> Result<(), aerolane::Error>,
) {
    if *left == Some(0) {
        *over = Some(Ok(()));
        return;
    }
    match stream.pass(look) {
        Taken::Record(()) => {
            if let Some(left) = left {
                *left -= 1;
            }
            pause(since_pause).await;
        }
        Taken::Nothing => stream.ready().await,
        Taken::End => *over = Some(Ok(())),
        Taken::Failed(error) => *over = Some(Err(error)),
    }
}

/// After so many records the control plane looks after its other work.
async fn pause(since_pause: &mut usize) {
    *since_pause += 1;
    if *since_pause == RECORDS_PER_PAUSE {
        *since_pause = 0;
        tokio::task::yield_now().await;
    }
}
