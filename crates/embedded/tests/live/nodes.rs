//! A cluster as its clients see it, embedded or real: its nodes, who owns what, and a connection to each node.

use aerolane_wire::digest::PARTITIONS;
use aerolane_wire::info::{Answers, encode_request};
use aerolane_wire::message::{Message, info3};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the answer to a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// After one frame.
    Frame,
    /// With the message that has the "last" bit, or with an error; the messages before it come in any order.
    Last,
    /// As [`Last`](Self::Last), but errors are those of rows.
    Rows,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The frames of the answer.
    Answer(Vec<u8>),
    /// The node has closed the connection.
    Closed,
    /// Nothing came.
    Silence,
}

/// Who is asked, of those that have to do with a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Master,
    Replica,
    /// A node that does not own the partition.
    Other,
}

/// A connection to one node.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, received: Vec::new() })
    }

    /// Sends a request and reads its answer.
    pub(crate) fn ask(&mut self, request: &[u8], end: Ends) -> Outcome {
        if self.stream.write_all(request).is_err() {
            return Outcome::Closed;
        }
        let mut answer = Vec::new();
        loop {
            match self.frame() {
                Outcome::Answer(frame) => {
                    answer.extend_from_slice(&frame);
                    if end == Ends::Frame || ends(&frame, end) {
                        return Outcome::Answer(answer);
                    }
                }
                other => return other,
            }
        }
    }

    fn frame(&mut self) -> Outcome {
        let mut chunk = [0; 8192];
        loop {
            if let Some((_, size)) = split_frame(&self.received, MAX_BODY_SIZE).unwrap() {
                let rest = self.received.split_off(size);
                return Outcome::Answer(std::mem::replace(&mut self.received, rest));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Outcome::Closed,
                Ok(n) => self.received.extend_from_slice(&chunk[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Outcome::Silence,
                Err(_) => return Outcome::Closed,
            }
        }
    }

    /// The texts that answer info commands; `None` if the node has gone.
    pub(crate) fn info(&mut self, commands: &[&str]) -> Option<Vec<String>> {
        let mut bytes = Vec::new();
        encode_request(&mut bytes, commands.iter().map(|command| command.as_bytes())).unwrap();
        self.stream.write_all(&bytes).ok()?;
        let Outcome::Answer(frame) = self.frame() else { return None };
        let body = &frame[PROTO_HEADER_SIZE..];
        let text = |command: &&str| {
            let text = Answers::text(body, command.as_bytes()).unwrap_or_default();
            String::from_utf8_lossy(text).into_owned()
        };
        Some(commands.iter().map(text).collect())
    }
}

/// Whether this frame ends an answer of several.
fn ends(frame: &[u8], end: Ends) -> bool {
    let Ok(Some((whole, _))) = split_frame(frame, MAX_BODY_SIZE) else { return true };
    if whole.header.frame_type != FrameType::Message {
        return true;
    }
    let (mut body, mut last) = (whole.body, true);
    while let Ok((message, size)) = Message::decode_prefix(body) {
        last = message.header.info3 & info3::LAST != 0;
        body = &body[size..];
    }
    last || end == Ends::Last && frame.get(PROTO_HEADER_SIZE + 5).is_some_and(|code| *code != 0)
}

/// A cluster, with a connection to each node.
pub(crate) struct Nodes {
    addresses: Vec<SocketAddr>,
    connections: Vec<Option<Connection>>,
    /// For each partition of the namespace `test` the nodes that own it, the master first.
    owners: Vec<Vec<usize>>,
}

impl Nodes {
    /// Finds the nodes that the first of these seeds knows.
    pub(crate) fn find(seeds: &str) -> Self {
        let seed = seeds.split(',').next().unwrap().to_socket_addrs().unwrap().next().expect("an address");
        let answers = Connection::open(seed).unwrap().info(&["service-clear-std", "peers-clear-std"]).unwrap();
        let mut addresses = vec![seed];
        addresses.extend(peers(&answers[1]));
        // The same order on both sides, as their ports have been given.
        addresses.sort_unstable_by_key(SocketAddr::port);
        let connections = addresses.iter().map(|_| None).collect();
        let mut nodes = Self { addresses, connections, owners: Vec::new() };
        nodes.learn_owners();
        nodes
    }

    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }

    pub(crate) fn address(&self, node: usize) -> SocketAddr {
        self.addresses[node]
    }

    /// Asks the nodes which partitions they own.
    pub(crate) fn learn_owners(&mut self) {
        self.owners = vec![Vec::new(); PARTITIONS];
        let mut columns = Vec::new();
        for node in 0..self.len() {
            let Some(answer) = self.info(node, "replicas") else { continue };
            let Some(own) = answer.split(';').find_map(|one| one.strip_prefix("test:")) else { continue };
            // Regime, number of columns, then a bitmap for each column.
            for (column, bitmap) in own.split(',').skip(2).enumerate() {
                columns.push((column, node, BASE64.decode(bitmap).unwrap()));
            }
        }
        columns.sort_by_key(|(column, ..)| *column);
        for (_, node, bitmap) in columns {
            for (pid, owners) in self.owners.iter_mut().enumerate() {
                if bitmap[pid / 8] & (0x80 >> (pid % 8)) != 0 && !owners.contains(&node) {
                    owners.push(node);
                }
            }
        }
    }

    /// The nodes that own a partition, the master first.
    pub(crate) fn owners(&self, pid: u16) -> &[usize] {
        &self.owners[usize::from(pid)]
    }

    /// The node that plays a role for a partition; the master, if there is none of the kind.
    pub(crate) fn node(&self, pid: u16, role: Role) -> usize {
        let owners = self.owners(pid);
        let master = owners.first().copied().unwrap_or(0);
        match role {
            Role::Master => master,
            Role::Replica => owners.get(1).copied().unwrap_or(master),
            Role::Other => (0..self.len()).find(|node| !owners.contains(node)).unwrap_or(master),
        }
    }

    /// The answer of a node to one info command; `None` if it is gone.
    pub(crate) fn info(&mut self, node: usize, command: &str) -> Option<String> {
        let answer = self.connection(node)?.info(&[command]);
        if answer.is_none() {
            self.connections[node] = None;
        }
        answer.map(|mut texts| texts.remove(0))
    }

    /// Asks a node; `None` if it cannot be reached.
    pub(crate) fn ask(&mut self, node: usize, request: &[u8], end: Ends) -> Option<Outcome> {
        let outcome = self.connection(node)?.ask(request, end);
        if !matches!(outcome, Outcome::Answer(_)) {
            self.leave(node);
        }
        Some(outcome)
    }

    /// Asks this node on a new connection from now on: more may come on the one that was used than was expected.
    pub(crate) fn leave(&mut self, node: usize) {
        self.connections[node] = None;
    }

    fn connection(&mut self, node: usize) -> Option<&mut Connection> {
        if self.connections[node].is_none() {
            self.connections[node] = Connection::open(self.addresses[node]).ok();
        }
        self.connections[node].as_mut()
    }
}

/// The addresses in an answer to `peers-clear-std`: generation, usual port, then nodes with their addresses.
fn peers(answer: &str) -> Vec<SocketAddr> {
    let usual = answer.split(',').nth(1).and_then(|port| port.parse().ok()).unwrap_or(3000);
    let words = answer.split(['[', ']', ',']);
    let parse = |word: &str| {
        let usual = || word.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, usual));
        word.parse::<SocketAddr>().ok().or_else(usual)
    };
    words.filter_map(parse).collect()
}
