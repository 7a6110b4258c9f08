//! No client: a blocking socket per thread. What is left of an operation's cost is the system calls and the harness.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpStream;

use aerolane::raw::command::encode::{self, WriteKind};
use aerolane_wire::message::Message;
use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};
use aerospike_core::{Bins, ResultCode};

use super::calls::{Policies, wrong_loop};
use super::{ClientError, spawn_threads};
use crate::conductor::Stage;
use crate::measure::{Done, Failure};
use crate::workload::{Request, Workload};

/// In the request; as the clients' default.
const TIMEOUT_MS: u32 = 1_000;
/// An answer is a record of one bin: far less.
const LARGEST_ANSWER: usize = 4096;

/// Threads.
pub(super) fn start(stage: &Stage) -> Result<(), ClientError> {
    let spec = stage.spec();
    let (policies, seeds): (_, &'static str) = (Policies::leak(spec), spec.seeds.clone().leak());
    let refused = |reason: String| ClientError::Connect { client: spec.client, seeds: spec.seeds.clone(), reason };
    if spec.batch > 1 {
        return Err(refused("it makes no batches".to_owned()));
    }
    if spec.tls_certificate.is_some() {
        return Err(refused("it has no TLS".to_owned()));
    }
    if spec.workload == Workload::ListGet {
        return Err(refused("it makes no list operations".to_owned()));
    }
    Socket::open(seeds).map_err(|failure| refused(failure.message))?;
    spawn_threads(stage, move |request| {
        thread_local! {
            static SOCKET: RefCell<Option<Socket>> = const { RefCell::new(None) };
        }
        SOCKET.with_borrow_mut(|open| {
            let socket = match open {
                Some(socket) => socket,
                None => open.insert(Socket::open(seeds)?),
            };
            let outcome = socket.call(policies, &request);
            if outcome.is_err() {
                *open = None;
            }
            outcome
        })
    })
}

struct Socket {
    stream: TcpStream,
    request: Vec<u8>,
    answer: [u8; LARGEST_ANSWER],
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure { timeout: false, message: error.to_string() }
}

impl Socket {
    /// Connects to the first seed that takes it.
    fn open(seeds: &str) -> Result<Self, Failure> {
        let addresses: Vec<_> = seeds.split(',').flat_map(std::net::ToSocketAddrs::to_socket_addrs).flatten().collect();
        let stream = TcpStream::connect(&*addresses).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        Ok(Self { stream, request: Vec::new(), answer: [0; LARGEST_ANSWER] })
    }

    fn call(&mut self, policies: &Policies, request: &Request) -> Result<Done, Failure> {
        self.request.clear();
        let out = &mut self.request;
        match request {
            Request::Read(key) => encode::read(&policies.read.base_policy, key, &Bins::All, TIMEOUT_MS, out),
            Request::Write(key, bin) => {
                encode::write(&policies.write, key, std::slice::from_ref(bin), WriteKind::Put, TIMEOUT_MS, out)
            }
            request => return Err(wrong_loop(request)),
        }
        .map_err(failed)?;
        self.stream.write_all(&self.request).map_err(failed)?;
        let mut filled = 0;
        let body = loop {
            let read = self.stream.read(&mut self.answer[filled..]).map_err(failed)?;
            if read == 0 {
                return Err(failed("the server closed the connection, or its answer is too large"));
            }
            filled += read;
            if let Some((frame, _)) = split_frame(&self.answer[..filled], MAX_BODY_SIZE).map_err(failed)? {
                break frame.body;
            }
        };
        let code = Message::decode(body).map_err(failed)?.header.result_code;
        match (ResultCode::from(code), request) {
            (ResultCode::Ok, _) => Ok(Done { records: 1, not_found: 0 }),
            (ResultCode::KeyNotFoundError, Request::Read(_)) => Ok(Done { records: 1, not_found: 1 }),
            (code, _) => Err(failed(format!("{code:?}"))),
        }
    }
}
