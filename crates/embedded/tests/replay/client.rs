//! Sends the requests of a scenario and collects the answers.

use super::line::{End, Line};
use aerolane_wire::message::{Message, info3};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, split_frame};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long nothing has to come where there is no answer.
const SILENCE: Duration = Duration::from_millis(300);

/// Result code "unsupported feature".
const UNSUPPORTED: u8 = 16;

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// The connections of one scenario.
pub(crate) struct Client {
    address: SocketAddr,
    connections: HashMap<u64, Connection>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, connections: HashMap::new() }
    }

    /// Does what the line says; gives the answer, or what went wrong.
    pub(crate) fn exchange(&mut self, line: &Line) -> Result<Vec<u8>, String> {
        std::thread::sleep(Duration::from_millis(line.delay_ms));
        let mut connection = match self.connections.remove(&line.conn) {
            Some(connection) => connection,
            None => Connection::open(self.address)?,
        };
        // A server that closes early may make the write fail; what it has answered before counts.
        let sent = connection.stream.write_all(&line.request);
        let answer = connection.answer(line.end)?;
        if line.closed_after && !connection.is_closed() {
            return Err("the connection was not closed".into());
        }
        if line.end != End::Closed {
            sent.map_err(|e| format!("cannot send: {e}"))?;
        }
        // After a refusal that ended early more may come: later exchanges begin on a new connection.
        let ended_early = line.end == End::Last && !has_bit(&answer, info3::LAST);
        if !matches!(line.end, End::Closed | End::None) && !line.closed_after && !ended_early {
            self.connections.insert(line.conn, connection);
        }
        Ok(answer)
    }
}

impl Connection {
    fn open(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).map_err(|e| format!("cannot connect: {e}"))?;
        stream.set_nodelay(true).unwrap();
        Ok(Self { stream, received: Vec::new() })
    }

    fn answer(&mut self, end: End) -> Result<Vec<u8>, String> {
        match end {
            End::Later => Ok(Vec::new()),
            End::Frames(n) => {
                let mut answer = Vec::new();
                for _ in 0..n {
                    answer.extend(self.frame()?);
                }
                Ok(answer)
            }
            End::Last => {
                let mut answer = Vec::new();
                loop {
                    let frame = self.frame()?;
                    answer.extend_from_slice(&frame);
                    if is_last(&frame) {
                        return Ok(answer);
                    }
                }
            }
            End::Closed => {
                if self.is_closed() {
                    Ok(std::mem::take(&mut self.received))
                } else {
                    Err("the connection was not closed".into())
                }
            }
            End::None => {
                self.stream.set_read_timeout(Some(SILENCE)).unwrap();
                match self.stream.read(&mut [0; 16]) {
                    Ok(0) => Err("closed instead of silence".into()),
                    Ok(_) => Err("an answer instead of silence".into()),
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(Vec::new()),
                    Err(e) => Err(format!("instead of silence: {e}")),
                }
            }
        }
    }

    fn frame(&mut self) -> Result<Vec<u8>, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some((_, size)) = split_frame(&self.received, MAX_BODY_SIZE).map_err(|e| format!("answer: {e}"))? {
                let rest = self.received.split_off(size);
                return Ok(std::mem::replace(&mut self.received, rest));
            }
            if self.more(deadline)? == 0 {
                return Err("the connection was closed".into());
            }
        }
    }

    fn is_closed(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.more(deadline) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.contains("reset"),
            }
        }
    }

    fn more(&mut self, deadline: Instant) -> Result<usize, String> {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(left)).unwrap();
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(n) => {
                self.received.extend_from_slice(&buffer[..n]);
                Ok(n)
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err("no answer".into()),
            Err(e) => Err(format!("reset or broken: {e}")),
        }
    }
}

/// Whether this frame ends an answer of several: by the bit, or because it refuses what is not implemented.
fn is_last(frame: &[u8]) -> bool {
    let refused = messages(frame).is_none_or(|all| all.iter().any(|m| m.header.result_code == UNSUPPORTED));
    refused || has_bit(frame, info3::LAST)
}

fn has_bit(frames: &[u8], bit: u8) -> bool {
    messages(frames).is_some_and(|all| all.iter().any(|m| m.header.info3 & bit != 0))
}

/// All messages of all frames; `None` if there is something else.
fn messages(mut bytes: &[u8]) -> Option<Vec<Message<'_>>> {
    let mut all = Vec::new();
    while let Ok(Some((frame, size))) = split_frame(bytes, MAX_BODY_SIZE) {
        if frame.header.frame_type != FrameType::Message {
            return None;
        }
        let mut body = frame.body;
        while let Ok((message, size)) = Message::decode_prefix(body) {
            all.push(message);
            body = &body[size..];
        }
        bytes = &bytes[size..];
    }
    Some(all)
}
