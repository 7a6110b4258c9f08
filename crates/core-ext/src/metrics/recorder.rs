//! What one owner of connections (a lane's connections to a node, a connection of a thread) has measured.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use aerolane_wire::message::pass_message;
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};
use aerospike_core::metrics::COMMAND_TYPE_COUNT;

use super::histogram::{Filling, bump};
use super::stamp::{MetricKey, Stamp};
use super::{Metrics, whole_micros};
use crate::clock;

/// Namespaces that are told apart: as many as a server can have. What is measured in others is counted together.
pub(super) const MOST_NAMESPACES: usize = 32;

/// Filled by one writer at a time, read by anybody. Reserves what it needs when it is first needed.
#[derive(Debug)]
pub(super) struct Recorder {
    /// By namespace and kind.
    namespaces: [OnceLock<Box<Kinds>>; MOST_NAMESPACES],
}

#[derive(Debug)]
struct Kinds([OnceLock<Box<Recorded>>; COMMAND_TYPE_COUNT]);

/// The requests of one kind in one namespace.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) latency: Filling,
    /// Only those that waited: the others did so for no time.
    pub(super) waited: Filling,
    pub(super) bytes_sent: Filling,
    pub(super) bytes_received: Filling,
    pub(super) succeeded: AtomicU64,
    /// By result code.
    failed: OnceLock<Box<[AtomicU64; 256]>>,
}

/// What is known of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered {
    /// Size of the request.
    pub(crate) sent: u64,
    /// Size of the answer.
    pub(crate) received: u64,
    /// `None`: it came compressed, and was not looked into.
    pub(crate) result_code: Option<u8>,
}

impl Recorder {
    pub(super) const fn new() -> Self {
        Self { namespaces: [const { OnceLock::new() }; MOST_NAMESPACES] }
    }

    #[inline]
    fn of(&self, metric_key: MetricKey) -> &Recorded {
        let kinds = self.namespaces[metric_key.namespace().min(MOST_NAMESPACES - 1)].get_or_init(Kinds::new);
        kinds.0[metric_key.kind().min(COMMAND_TYPE_COUNT - 1)].get_or_init(Recorded::new)
    }

    /// Counts an answer. By one writer at a time.
    pub(super) fn answered(&self, stamp: Stamp, elapsed: u64, answered: Answered) {
        self.of(stamp.metric_key()).add(elapsed, answered);
    }

    /// All that was recorded, with namespace and kind.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize, &Recorded)> {
        self.namespaces.iter().enumerate().filter_map(|(namespace, kinds)| Some((namespace, kinds.get()?))).flat_map(
            |(namespace, kinds)| {
                let all = kinds.0.iter().enumerate();
                all.filter_map(move |(kind, recorded)| Some((namespace, kind, &**recorded.get()?)))
            },
        )
    }
}

impl Kinds {
    fn new() -> Box<Self> {
        Box::new(Self([const { OnceLock::new() }; COMMAND_TYPE_COUNT]))
    }
}

impl Recorded {
    fn new() -> Box<Self> {
        Box::new(Self {
            latency: Filling::new(),
            waited: Filling::new(),
            bytes_sent: Filling::new(),
            bytes_received: Filling::new(),
            succeeded: AtomicU64::new(0),
            failed: OnceLock::new(),
        })
    }

    #[inline]
    fn add(&self, elapsed: u64, answered: Answered) {
        self.latency.add(elapsed);
        self.bytes_sent.add(answered.sent);
        self.bytes_received.add(answered.received);
        match answered.result_code {
            Some(0) => bump(&self.succeeded, 1),
            Some(code) => self.add_failure(code),
            None => {}
        }
    }

    #[cold]
    fn add_failure(&self, code: u8) {
        let codes = self.failed.get_or_init(|| Box::new([const { AtomicU64::new(0) }; 256]));
        bump(&codes[usize::from(code)], 1);
    }

    /// How often each result code came.
    pub(super) fn result_codes(&self) -> impl Iterator<Item = (u8, u64)> {
        let succeeded = (0, self.succeeded.load(Ordering::Relaxed));
        let failed = self.failed.get().into_iter().flat_map(|codes| (0..=u8::MAX).zip(codes.iter()));
        let failed = failed.map(|(code, count)| (code, count.load(Ordering::Relaxed)));
        std::iter::once(succeeded).chain(failed).filter(|(_, count)| *count > 0)
    }
}

/// Where an owner of connections notes what it measures. One writer at a time; without a client it notes nothing.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    metrics: Option<Arc<Metrics>>,
    node: u16,
    /// When the answers that are being handed out came, in microseconds since the client was made; 0: nobody looked.
    pub(crate) moment: u64,
    /// The period that the recorder is of.
    period: u32,
    recorder: Option<Arc<Recorder>>,
}

impl Meter {
    pub(crate) fn new(metrics: Option<&Arc<Metrics>>, node: u16) -> Self {
        Self { metrics: metrics.cloned(), node, ..Self::default() }
    }

    /// Looks at the clock for what comes next, if anything is measured at all.
    #[inline]
    pub(crate) fn look_at_clock(&mut self) {
        self.moment = self.metrics.as_ref().map_or(0, |metrics| metrics.moment());
    }

    /// An answer has come, at [`moment`](Self::moment).
    #[inline]
    pub(crate) fn answered(&mut self, stamp: Stamp, answered: impl FnOnce() -> Answered) {
        if !stamp.is_none() && self.moment != 0 {
            let answered = answered();
            self.note_since(stamp, |recorded, elapsed| recorded.add(elapsed, answered));
        }
    }

    /// The answer to a request that began at `began` has just come. Reads the clock, for callers that have not done so.
    #[inline]
    pub(crate) fn answered_now(&mut self, metric_key: MetricKey, began: Instant, answered: Answered) {
        if let Some(micros) = self.micros_since(metric_key, began) {
            self.note(metric_key, micros, |recorded, elapsed| recorded.add(elapsed, answered));
        }
    }

    /// A request that began at `began` and waited in line has just got a connection. Reads the clock, too.
    pub(crate) fn placed_now(&mut self, metric_key: MetricKey, began: Instant) {
        if let Some(micros) = self.micros_since(metric_key, began) {
            self.note(metric_key, micros, |recorded, elapsed| recorded.waited.add(elapsed));
        }
    }

    /// The time since `began`, with one subtraction of clock readings; a stamp needs two.
    #[inline]
    fn micros_since(&self, metric_key: MetricKey, began: Instant) -> Option<u64> {
        let measures = !metric_key.is_none() && self.metrics.as_ref().is_some_and(|metrics| metrics.is_measuring());
        measures.then(|| whole_micros(clock::now().saturating_duration_since(began)))
    }

    /// A request that stood in line has got its place, at [`moment`](Self::moment).
    #[inline]
    pub(crate) fn placed(&mut self, stamp: Stamp) {
        if !stamp.is_none() && self.moment != 0 {
            self.note_since(stamp, |recorded, elapsed| recorded.waited.add(elapsed));
        }
    }

    #[inline]
    fn note_since(&mut self, stamp: Stamp, note: impl FnOnce(&Recorded, u64)) {
        self.note(stamp.metric_key(), self.moment.saturating_sub(stamp.began()), note);
    }

    #[inline]
    fn note(&mut self, metric_key: MetricKey, micros: u64, note: impl FnOnce(&Recorded, u64)) {
        let Some(metrics) = &self.metrics else { return };
        let period = metrics.period();
        if period == 0 {
            return;
        }
        if self.recorder.is_none() || self.period != period {
            // Off the way of the others: once per period.
            let Some(recorder) = metrics.recorder(self.node, period) else { return };
            (self.recorder, self.period) = (Some(recorder), period);
        }
        if let Some(recorder) = &self.recorder {
            note(recorder.of(metric_key), Metrics::in_unit(period, micros));
        }
    }
}

impl Answered {
    /// The answer to a request of `sent` bytes that is one frame with this body. The body of one that came compressed is
    /// the whole frame.
    pub(crate) fn of_frame(sent: u32, body: &[u8]) -> Self {
        let (received, result_code) = if is_compressed(body) {
            (body.len(), None)
        } else {
            (PROTO_HEADER_SIZE + body.len(), Some(result_code(body)))
        };
        Self { sent: u64::from(sent), received: received as u64, result_code }
    }
}

/// The result code in a message.
pub(crate) fn result_code(message: &[u8]) -> u8 {
    /// Where it stands.
    const RESULT_CODE: usize = 5;
    message.get(RESULT_CODE).copied().unwrap_or(0)
}

/// The result code of the last message in the body of a frame, for a request that is measured.
#[inline]
pub(crate) fn end_code(stamp: Stamp, body: &[u8]) -> u8 {
    if stamp.is_none() { 0 } else { last_result_code(body) }
}

/// The result code of the last message in the body of a frame.
pub(crate) fn last_result_code(body: &[u8]) -> u8 {
    let mut last = body;
    while let Ok((size, _)) = pass_message(last)
        && let Some(next) = last.get(size..).filter(|next| !next.is_empty())
    {
        last = next;
    }
    result_code(last)
}

/// Whether a body is a whole compressed frame: a message does not begin as a frame does.
pub(crate) fn is_compressed(body: &[u8]) -> bool {
    ProtoHeader::decode(body.first_chunk().unwrap_or(&[0; PROTO_HEADER_SIZE]), MAX_BODY_SIZE)
        .is_ok_and(|header| header.frame_type == FrameType::CompressedMessage)
}
