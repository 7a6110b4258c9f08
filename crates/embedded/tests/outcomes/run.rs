//! Runs a schedule: on several partitions that have the same owners, so that chance would show.

use super::cluster::Cluster;
use super::schedules::{Commit, Operation, Schedule, Step, What};
use crate::common::{get, put, write};
use crate::live::nodes::{Connection, Ends, Nodes, Outcome, Role};
use aerolane_wire::message::{Message, info2, info3};
use aerolane_wire::proto::PROTO_HEADER_SIZE;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::UNIX_EPOCH;

/// Partitions that a schedule runs on.
const PARTITIONS: usize = 5;
/// How long a node may take to answer an operation, in milliseconds: short beside the time after which real nodes notice that
/// one of them is gone.
const LIMIT: u32 = 300;
const NOT_FOUND: u8 = 2;
const TIMEOUT: u8 = 9;

/// What came of an operation.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) operation: String,
    /// What was answered.
    pub(crate) came: String,
    /// What was there in the end.
    pub(crate) end: String,
    pub(crate) expected: (&'static str, &'static str),
}

/// Runs a schedule; what came of each of its operations.
pub(crate) fn run(cluster: &mut impl Cluster, schedule: &Schedule) -> Vec<Row> {
    // No record is one of an earlier run.
    let unique = UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let owners = cluster.nodes().owners(0).to_vec();
    let same = |pid: &u16| cluster.nodes().owners(*pid) == owners;
    let pids: Vec<u16> = (0..4096).filter(same).take(PARTITIONS).collect();
    let roles = [Role::Master, Role::Replica, Role::Other].map(|role| cluster.nodes().node(0, role));
    let who = |role: Role| roles[role as usize];
    let mut live = vec![0, 1, 2];
    let mut done: Vec<(Operation, Vec<&'static str>)> = Vec::new();
    for step in schedule.steps {
        match step {
            Step::Do(operation) => {
                let address = cluster.nodes().address(who(operation.to));
                let number = done.len() as i64;
                let answers =
                    at_once(&pids, |pid| send(address, &operation.request(digest(pid, operation.key, unique), number)));
                done.push((*operation, answers.iter().map(|answer| operation.class(answer)).collect()));
            }
            Step::Down(nodes) => {
                let nodes: Vec<usize> = nodes.iter().map(|role| who(*role)).collect();
                live.retain(|node| !nodes.contains(node));
                cluster.down(&nodes);
            }
            Step::Noticed => cluster.noticed(&live),
            Step::Up(nodes) => {
                let nodes: Vec<usize> = nodes.iter().map(|role| who(*role)).collect();
                live.extend(&nodes);
                cluster.up(&nodes, &live);
            }
        }
    }
    let mut rows = Vec::new();
    for (number, (operation, came)) in done.iter().enumerate() {
        let later: Vec<What> =
            done[number + 1..].iter().filter(|(o, _)| o.key == operation.key).map(|(o, _)| o.what).collect();
        let ends = pids.iter().map(|pid| {
            let value = value(cluster.nodes(), *pid, digest(*pid, operation.key, unique));
            operation.end(value, number as i64, &later)
        });
        rows.push(Row {
            operation: operation.text(),
            came: distinct(came.iter().copied()),
            end: distinct(ends.collect::<Vec<_>>().into_iter()),
            expected: operation.expected,
        });
    }
    rows
}

fn digest(pid: u16, key: u8, unique: u64) -> [u8; 20] {
    let mut digest = crate::common::digest(pid, key);
    digest[8..16].copy_from_slice(&unique.to_be_bytes());
    digest
}

fn at_once<T: Send>(pids: &[u16], work: impl Fn(u16) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = pids.iter().map(|pid| scope.spawn(|| work(*pid))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The different ones of several classes, for people: one, if chance has no part in it.
fn distinct(classes: impl Iterator<Item = &'static str>) -> String {
    classes.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" or ")
}

/// The result code and the value of bin `i`, if a node has answered.
type Answer = Option<(u8, Option<i64>)>;

fn send(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut connection = Connection::open(address).ok()?;
    let Outcome::Answer(frame) = connection.ask(bytes, Ends::Frame) else { return None };
    let (message, _) = Message::decode_prefix(&frame[PROTO_HEADER_SIZE..]).unwrap();
    let value = message.ops().next().map(|op| i64::from_be_bytes(op.value.try_into().unwrap()));
    Some((message.header.result_code, value))
}

/// What all owners of a record have; the error says that they do not agree.
fn value(nodes: &mut Nodes, pid: u16, digest: [u8; 20]) -> Result<Option<i64>, ()> {
    let owners = nodes.owners(pid).to_vec();
    let mut values = owners.iter().map(|node| send(nodes.address(*node), &get(digest)).and_then(|(_, value)| value));
    let first = values.next().flatten();
    if values.all(|value| value == first) { Ok(first) } else { Err(()) }
}

impl Operation {
    fn request(&self, digest: [u8; 20], number: i64) -> Vec<u8> {
        let mut bytes = match self.what {
            What::Write(_) => put(digest, number),
            What::Delete => write(digest, |_| {}),
            What::Read => get(digest),
        };
        // Frame header 8, then header size, info1, info2, info3.
        match self.what {
            What::Delete => bytes[8 + 2] |= info2::DELETE,
            What::Write(Commit::Master) => bytes[8 + 3] |= info3::COMMIT_MASTER,
            _ => {}
        }
        bytes[8 + 14..8 + 18].copy_from_slice(&LIMIT.to_be_bytes());
        bytes
    }

    fn class(&self, answer: &Answer) -> &'static str {
        match (self.what, answer) {
            (What::Read, Some((0, _))) => "found",
            (What::Read, Some((NOT_FOUND, _))) => "not found",
            (What::Read, _) => "no answer",
            (_, Some((0, _))) => "acknowledged",
            (_, None | Some((TIMEOUT, _))) => "in doubt",
            (_, Some(_)) => "refused",
        }
    }

    /// What is there in the end; `later` is what was done with the record after this.
    fn end(&self, value: Result<Option<i64>, ()>, number: i64, later: &[What]) -> &'static str {
        let Ok(value) = value else { return "its copies differ" };
        match (self.what, value) {
            (What::Read, _) => "",
            (What::Delete, None) => "gone",
            (What::Delete, Some(_)) => "back",
            (_, Some(value)) if value == number => "kept",
            (_, Some(_)) => "overwritten",
            (_, None) if later.contains(&What::Delete) => "deleted",
            (_, None) => "lost",
        }
    }

    fn text(&self) -> String {
        let what = match self.what {
            What::Write(Commit::All) => "write",
            What::Write(Commit::Master) => "write (commit level \"master\")",
            What::Delete => "delete",
            What::Read => "read",
        };
        let to = match self.to {
            Role::Master => "master",
            Role::Replica => "replica",
            Role::Other => "third node",
        };
        format!("{what} {} through the {to}", self.key)
    }
}
