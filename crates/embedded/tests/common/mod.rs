//! A plain client for the wire protocol: what a test sends is what the node gets.

#![allow(dead_code, reason = "each test file uses its own part")]

use aerolane_wire::WireError;
use aerolane_wire::batch::{BatchWriter, flags};
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, info3, op};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{FrameType, begin_frame, end_frame};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection to each of these nodes.
pub(crate) fn open(nodes: &[aerolane_embedded::NodeInfo]) -> Vec<Raw> {
    nodes.iter().map(|node| Raw::connect(node.address)).collect()
}

/// The value of bin `i`, or the result code.
pub(crate) fn value(raw: &mut Raw, digest: [u8; 20]) -> Result<i64, u8> {
    let answer = raw.get(digest).unwrap();
    let bin = answer.bins.first().map(|(_, value)| i64::from_be_bytes(value[..].try_into().unwrap()));
    bin.ok_or(answer.code)
}

/// One connection.
pub(crate) struct Raw {
    stream: TcpStream,
}

/// A decoded answer of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: u8,
    pub(crate) generation: u32,
    pub(crate) last: bool,
    pub(crate) partition_done: bool,
    pub(crate) bins: Vec<(String, Vec<u8>)>,
    pub(crate) digest: Option<[u8; 20]>,
}

impl Raw {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self { stream }
    }

    pub(crate) fn timeout(&self, timeout: Duration) {
        self.stream.set_read_timeout(Some(timeout)).unwrap();
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next frame: its type and body.
    pub(crate) fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 8];
        self.stream.read_exact(&mut head)?;
        let size = u64::from_be_bytes(head) & 0xffff_ffff_ffff;
        let mut body = vec![0; size as usize];
        self.stream.read_exact(&mut body)?;
        Ok((head[1], body))
    }

    /// Reads until the node closes; what came before.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, io::Result<()>) {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return (bytes, Ok(())),
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(error) => return (bytes, Err(error)),
            }
        }
    }

    /// The text behind the tab for one info command.
    pub(crate) fn info(&mut self, command: &str) -> String {
        let mut out = Vec::new();
        let start = begin_frame(&mut out, FrameType::Info);
        out.extend_from_slice(command.as_bytes());
        out.push(b'\n');
        end_frame(&mut out, start).unwrap();
        self.send(&out);
        let (kind, body) = self.frame().unwrap();
        assert_eq!(kind, 1);
        let text = String::from_utf8(body).unwrap();
        let (echo, answer) = text.trim_end_matches('\n').split_once('\t').unwrap_or(("", text.trim_end()));
        assert!(echo.is_empty() || echo == command, "{echo}");
        answer.to_owned()
    }

    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let mut answers = self.messages()?;
        assert_eq!(answers.len(), 1);
        Ok(answers.remove(0))
    }

    /// All messages of the next frame.
    pub(crate) fn messages(&mut self) -> io::Result<Vec<Answer>> {
        let (kind, body) = self.frame()?;
        assert_eq!(kind, 3);
        let mut at = 0;
        let mut answers = Vec::new();
        while at < body.len() {
            let (message, size) = Message::decode_prefix(&body[at..]).unwrap();
            at += size;
            answers.push(Answer {
                code: message.header.result_code,
                generation: message.header.generation,
                last: message.header.info3 & info3::LAST != 0,
                partition_done: message.header.info3 & info3::PARTITION_DONE != 0,
                bins: message.ops().map(|o| (String::from_utf8_lossy(o.name).into_owned(), o.value.to_vec())).collect(),
                digest: message.field(field::DIGEST).map(|d| d.try_into().unwrap()),
            });
        }
        Ok(answers)
    }

    /// All messages until the last one.
    pub(crate) fn until_last(&mut self) -> Vec<Answer> {
        let mut all = Vec::new();
        loop {
            all.extend(self.messages().unwrap());
            if all.last().is_some_and(|a| a.last) {
                return all;
            }
        }
    }

    pub(crate) fn put(&mut self, digest: [u8; 20], value: i64) -> io::Result<Answer> {
        self.send(&put(digest, value));
        self.answer()
    }

    pub(crate) fn get(&mut self, digest: [u8; 20]) -> io::Result<Answer> {
        self.send(&get(digest));
        self.answer()
    }
}

/// A digest in a partition.
pub(crate) fn digest(partition: u16, n: u8) -> [u8; 20] {
    let mut digest = [n; 20];
    digest[..2].copy_from_slice(&partition.to_le_bytes());
    digest
}

/// A request that writes bin `i` in set `s` of namespace `test`.
pub(crate) fn put(digest: [u8; 20], value: i64) -> Vec<u8> {
    put_bin(digest, b"i", value)
}

/// [`put`] of a bin of this name.
pub(crate) fn put_bin(digest: [u8; 20], name: &[u8], value: i64) -> Vec<u8> {
    write(digest, |message| message.op(op::WRITE, name, Particle::Integer(value)).unwrap())
}

/// A request that writes a record of set `s`; `rest` adds what there is beside its key.
pub(crate) fn write(digest: [u8; 20], rest: impl FnOnce(&mut MessageWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, b"s");
    message.field(field::DIGEST, &digest);
    rest(&mut message);
    message.finish().unwrap();
    out
}

/// A request that reads all bins.
pub(crate) fn get(digest: [u8; 20]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info1: info1::READ | info1::GET_ALL, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest);
    message.finish().unwrap();
    out
}

/// A batch of so many rows, each written by `row`, that wants an answer for each. `header`: what it has beside that it is a batch.
pub(crate) fn batch(
    rows: u32,
    header: MessageHeader,
    row: impl Fn(&mut BatchWriter<'_>, u32) -> Result<(), WireError>,
) -> Vec<u8> {
    batch_with(flags::RESPOND_ALL_KEYS, rows, header, row)
}

/// [`batch`] with other flags.
pub(crate) fn batch_with(
    parent_flags: u8,
    rows: u32,
    header: MessageHeader,
    row: impl Fn(&mut BatchWriter<'_>, u32) -> Result<(), WireError>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut message = MessageWriter::frame(&mut out, &MessageHeader { info1: info1::BATCH, ..header });
    message
        .field_with(field::BATCH, |out| {
            let mut writer = BatchWriter::begin(out, parent_flags);
            for n in 0..rows {
                row(&mut writer, n)?;
            }
            assert_eq!(writer.rows(), rows);
            writer.finish();
            Ok::<_, WireError>(())
        })
        .unwrap();
    message.finish().unwrap();
    out
}

/// A query over partitions.
pub(crate) fn scan(partitions: impl IntoIterator<Item = u16>) -> Vec<u8> {
    scan_with(partitions, |_| {})
}

/// The same with more fields.
pub(crate) fn scan_with(partitions: impl IntoIterator<Item = u16>, fields: impl Fn(&mut MessageWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let header = MessageHeader { info1: info1::READ, info3: info3::PARTITION_DONE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    let ids: Vec<u8> = partitions.into_iter().flat_map(u16::to_le_bytes).collect();
    message.field(field::PARTITIONS, &ids);
    fields(&mut message);
    message.finish().unwrap();
    out
}
