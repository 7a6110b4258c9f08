//! The answer of one node: read on the control plane's runtime, handed over frame by frame.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use aerolane_wire::proto::{self, MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::RequestId;
use super::frame::{Continuation, Frame};
use crate::clock;
use crate::cluster::Cluster;
use crate::command::compress::message_body;
use crate::connect::Stream;
use crate::error::{Error, Phase, Result};
use crate::metrics::{Answered, Metrics, Stamp, end_code};
use crate::sync::Mutex;
use crate::topology::{NodeId, NodeInfo};

/// A body that is announced to be larger is given room as it comes.
const FIRST_ROOM: usize = 256 * 1024;
const READ_BUFFER: usize = 64 * 1024;
/// Connections to one node that are kept for later queries.
const KEPT: usize = 4;

/// What a query hears of its nodes.
#[derive(Debug)]
pub(super) enum Event {
    /// A frame, with the room that its records take in the queue.
    Frame(Frame, OwnedSemaphorePermit),
    /// The node's answer is over: it has come whole, or why not.
    Ended(Result<()>),
    /// A pause is over.
    Go,
    /// The time for the whole query is over.
    Late,
}

/// Sends events to a query. The last one always comes: if this is dropped before, the query hears that the client was closed.
#[derive(Debug)]
pub(super) struct EventSender {
    request: RequestId,
    events: UnboundedSender<(RequestId, Event)>,
    over: bool,
}

impl EventSender {
    pub(super) fn new(request: RequestId, events: &UnboundedSender<(RequestId, Event)>) -> Self {
        Self { request, events: events.clone(), over: false }
    }

    fn say(&self, event: Event) {
        // The query was given up: then this is aborted, too.
        let _ = self.events.send((self.request, event));
    }

    pub(super) fn end(mut self, event: Event) {
        self.over = true;
        self.say(event);
    }
}

impl Drop for EventSender {
    fn drop(&mut self) {
        if !self.over {
            self.say(Event::Ended(Err(Error::client_closed())));
        }
    }
}

/// Connections on which no query runs at present.
#[derive(Debug, Default)]
pub(crate) struct IdleStreams(Mutex<Vec<(NodeId, Instant, Stream)>>);

impl IdleStreams {
    fn take(&self, node: NodeId) -> Option<Stream> {
        let mut all = self.0.lock();
        let at = all.iter().rposition(|(id, ..)| *id == node)?;
        Some(all.remove(at).2)
    }

    pub(super) fn keep(&self, node: NodeId, stream: Stream) {
        let mut all = self.0.lock();
        if all.iter().filter(|(id, ..)| *id == node).count() < KEPT {
            all.push((node, clock::now(), stream));
        }
    }

    /// Closes those that were idle for so long, and those of nodes that are not wanted any more.
    pub(crate) fn trim(&self, idle: Duration, wanted: impl Fn(NodeId) -> bool) {
        self.0.lock().retain(|(node, since, _)| since.elapsed() < idle && wanted(*node));
    }

    pub(crate) fn close(&self) {
        self.0.lock().clear();
    }
}

/// One request and where its answer goes.
pub(super) struct Pump {
    pub(super) cluster: Weak<Cluster>,
    pub(super) idle: Arc<IdleStreams>,
    pub(super) node: Arc<NodeInfo>,
    pub(super) request: Vec<u8>,
    /// How long the node may be silent.
    pub(super) silence: Option<Duration>,
    /// The room in the queue, in records, and how much there is in all.
    pub(super) room: (Arc<Semaphore>, u32),
    pub(super) report: EventSender,
    pub(super) metrics: Arc<Metrics>,
    /// For the answer, if it is measured.
    pub(super) stamp: Stamp,
}

/// How far an answer has come.
#[derive(Debug, Default)]
struct AnswerState {
    bytes: u64,
    /// The result code of the last message.
    code: u8,
}

impl Pump {
    pub(super) async fn run(self) {
        let outcome = self.answer().await;
        if outcome.is_err() {
            self.node.record_error();
        }
        let outcome = outcome.map_err(|error| error.with_node(Arc::clone(self.node.label())));
        self.report.end(Event::Ended(outcome));
    }

    async fn answer(&self) -> Result<()> {
        if let Some(stream) = self.idle.take(self.node.id()) {
            let mut progress = AnswerState::default();
            match self.read(stream, &mut progress).await {
                // The server may have closed it meanwhile: if nothing came of it, another is opened. Silence is the
                // node's own, and would meet the next one, too.
                Err(error) if progress.bytes == 0 && !error.is_client_timeout() => {}
                outcome => return outcome,
            }
        }
        let cluster = self.cluster.upgrade().ok_or_else(Error::client_closed)?;
        let stream = cluster.open(&self.node).await?;
        drop(cluster);
        self.read(stream, &mut AnswerState::default()).await
    }

    async fn read(&self, stream: Stream, progress: &mut AnswerState) -> Result<()> {
        let outcome = self.hand_over(stream, progress).await;
        let phase = if progress.bytes == 0 { Phase::Sent } else { Phase::Receiving };
        let outcome = outcome.map_err(|error| error.with_phase(phase));
        if outcome.is_ok() {
            let (sent, result_code) = (self.request.len() as u64, Some(progress.code));
            let answered = Answered { sent, received: progress.bytes, result_code };
            self.metrics.answered(self.node.id().index() as u16, self.stamp, answered);
        }
        outcome
    }

    /// Sends the request and hands over the answer.
    async fn hand_over(&self, stream: Stream, progress: &mut AnswerState) -> Result<()> {
        let mut stream = BufReader::with_capacity(READ_BUFFER, stream);
        self.patient("send the query", stream.get_mut().write_all(&self.request)).await?;
        self.patient("send the query", stream.get_mut().flush()).await?;
        loop {
            let mut header = [0; PROTO_HEADER_SIZE];
            self.patient("read the answer", stream.read_exact(&mut header)).await?;
            progress.bytes += PROTO_HEADER_SIZE as u64;
            let header = ProtoHeader::decode(&header, MAX_BODY_SIZE)?;
            progress.bytes += header.body_size as u64;
            let mut body = Vec::with_capacity(header.body_size.min(FIRST_ROOM));
            let mut rest = (&mut stream).take(header.body_size as u64);
            while body.len() < header.body_size {
                if self.patient("read the answer", rest.read_buf(&mut body)).await? == 0 {
                    return Err(Error::connection("the server closed the connection within a frame"));
                }
            }
            let mut inflated = Vec::new();
            let inner = message_body(&proto::Frame { header, body: &body }, &mut inflated)?;
            progress.code = end_code(self.stamp, inner);
            if inner.as_ptr() != body.as_ptr() {
                body = inner.to_vec();
            }
            let (frame, records, continuation) = Frame::look_through(body)?;
            // However long it takes: the consumer decides.
            let (room, all) = &self.room;
            let permit = Arc::clone(room).acquire_many_owned(records.clamp(1, *all)).await;
            self.report.say(Event::Frame(frame, permit.map_err(|_| Error::client_closed())?));
            match continuation {
                Continuation::More => {}
                Continuation::Last if stream.buffer().is_empty() => {
                    self.idle.keep(self.node.id(), stream.into_inner());
                    return Ok(());
                }
                Continuation::Last | Continuation::Failed => return Ok(()),
            }
        }
    }

    async fn patient<T>(&self, doing: &str, io: impl Future<Output = std::io::Result<T>>) -> Result<T> {
        let done = match self.silence {
            None => io.await,
            Some(limit) => tokio::time::timeout(limit, io)
                .await
                .map_err(|_| Error::timeout("the node sent nothing within the socket timeout"))?,
        };
        done.map_err(|error| Error::connection_io(doing, error))
    }
}
