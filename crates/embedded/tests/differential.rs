//! Random requests: the embedded cluster answers as a real server does.
//!
//! By default it answers again what was recorded (`random.jsonl.gz`: a run against Aerospike CE 8.1.2). With
//! `AEROSPIKE_HOST=host:port` (namespace `test`), requests go to that server and to an embedded cluster, and the
//! answers are compared. Not on a server that matters: requests that are only a little odder end this version.
//!
//! * `AEROLANE_RANDOM_SEED`: other requests (default: the time)
//! * `AEROLANE_RANDOM_SCENARIOS`: how many (default 100, of 100 requests each)
//! * `AEROLANE_RANDOM_RECORD=file`: writes down what the server has answered

mod random;
mod replay;

use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::message::{Message, info3};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};
use flate2::read::MultiGzDecoder;
use random::{Ends, Request, Scenario};
use replay::client::Client;
use replay::compare::compare;
use replay::line::{End, Line};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Requests of a scenario.
const STEPS: usize = 100;
/// Fewest recorded requests that are worth a test.
const RECORDED: usize = 13_000;

fn start() -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(1).namespace("test").service_threads(1).start().unwrap()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// A connection that gives the bytes of whole answers.
struct Asked {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Asked {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { stream, received: Vec::new() }
    }

    fn ask(&mut self, request: &Request) -> Vec<u8> {
        self.stream.write_all(&request.bytes).unwrap();
        let mut answer = Vec::new();
        loop {
            let frame = self.frame(request);
            answer.extend_from_slice(&frame);
            if request.ends == Ends::Frame || has_last(&frame) {
                return answer;
            }
        }
    }

    fn frame(&mut self, request: &Request) -> Vec<u8> {
        let mut chunk = [0; 8192];
        loop {
            if let Some((_, size)) = split_frame(&self.received, MAX_BODY_SIZE).unwrap() {
                let rest = self.received.split_off(size);
                return std::mem::replace(&mut self.received, rest);
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => panic!("closed at {} {:02x?}", request.note, request.bytes),
                Ok(n) => self.received.extend_from_slice(&chunk[..n]),
                Err(error) => panic!("{error} at {} {:02x?}", request.note, request.bytes),
            }
        }
    }
}

/// The messages of an answer.
fn messages(mut answer: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Some((frame, size)) = split_frame(answer, MAX_BODY_SIZE).unwrap() {
        let mut body = frame.body;
        while frame.header.frame_type == FrameType::Message && !body.is_empty() {
            let (_, used) = Message::decode_prefix(body).unwrap();
            all.push(&body[..used]);
            body = &body[used..];
        }
        answer = &answer[size..];
    }
    all
}

fn has_last(frame: &[u8]) -> bool {
    let header = |message: &[u8]| Message::decode_prefix(message).is_ok_and(|(m, _)| m.header.info3 & info3::LAST != 0);
    messages(frame).last().is_some_and(|message| header(message)) || refused(frame)
}

/// Whether this is an error at once, which comes alone and without the bit of a last message.
fn refused(frame: &[u8]) -> bool {
    frame.get(PROTO_HEADER_SIZE + 5).is_some_and(|code| *code != 0)
}

/// Whether two answers say the same. Records of queries may come in any order.
fn same(request: &Request, one: &[u8], other: &[u8]) -> bool {
    if request.ends == Ends::Frame {
        // Errors of scripts name the directory in which a server keeps them.
        return one == other || behind_directory(one).is_some_and(|text| Some(text) == behind_directory(other));
    }
    let (mut one, mut other) = (messages(one), messages(other));
    one.sort_unstable();
    other.sort_unstable();
    one == other
}

/// What stands behind the directory of scripts in an answer, if it is there.
fn behind_directory(answer: &[u8]) -> Option<&[u8]> {
    const DIRECTORY: &[u8] = b"/usr/udf/lua/";
    let at = answer.windows(DIRECTORY.len()).position(|part| part == DIRECTORY)?;
    Some(&answer[at + DIRECTORY.len()..])
}

/// An answer for people.
fn shown(answer: &[u8]) -> String {
    let mut text = String::new();
    for message in messages(answer).iter().take(8) {
        let Ok((decoded, _)) = Message::decode_prefix(message) else { continue };
        let header = decoded.header;
        write!(text, "[code {} gen {} ops {}", header.result_code, header.generation, header.n_ops).unwrap();
        for op in decoded.ops() {
            let value = if op.particle_type == 3 || op.name == b"FAILURE" {
                format!("{:?}", String::from_utf8_lossy(op.value))
            } else {
                format!("{:02x?}", &op.value[..op.value.len().min(160)])
            };
            write!(text, " {}:{}={value}", String::from_utf8_lossy(op.name), op.particle_type).unwrap();
        }
        text.push(']');
    }
    if text.is_empty() { String::from_utf8_lossy(answer).into_owned() } else { text }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Writes exchanges down as the golden files have them.
struct Recorder(Option<std::fs::File>);

impl Recorder {
    fn write(&mut self, scenario: u32, step: usize, request: &Request, answer: &[u8]) {
        let Some(file) = &mut self.0 else { return };
        // Directories are of no interest; what fails has changed nothing.
        if behind_directory(answer).is_some() {
            return;
        }
        let (end, compare) = match request.ends {
            Ends::Frame => ("frame", "exact"),
            Ends::Last if refused(answer) => ("frame", "exact"),
            Ends::Last => ("last", "unordered-records"),
        };
        let line = serde_json::json!({
            "scenario": format!("random/{scenario}"), "step": step, "conn": 1, "delay_before_ms": 0,
            "end": end, "compare": compare, "request": hex(&request.bytes), "response": hex(answer),
        });
        writeln!(file, "{line}").unwrap();
    }
}

/// Sends everything to two servers; gives how many answers were compared, and what differs.
fn compare_live(real: SocketAddr, seed: u64, scenarios: u32, recorder: &mut Recorder) -> (usize, usize, Vec<String>) {
    let cluster = start();
    let (mut real, mut embedded) = (Asked::connect(real), Asked::connect(cluster.nodes()[0].address));
    let (mut compared, mut fine, mut differing) = (0, 0, Vec::new());
    for number in 0..scenarios {
        let mut scenario = Scenario::new(seed, number, STEPS);
        let mut step = 0;
        let mut before: BTreeMap<[u8; 20], String> = BTreeMap::new();
        // An earlier run may have left them.
        for digest in scenario.digests() {
            real.ask(&scenario.forget(&digest));
        }
        while let Some(request) = scenario.next() {
            std::thread::sleep(Duration::from_millis(request.wait_ms));
            let digest = request.digest;
            let looks = digest.map(|digest| scenario.look(&digest));
            for request in [Some(&request), looks.as_ref()].into_iter().flatten() {
                step += 1;
                let (want, got) = (real.ask(request), embedded.ask(request));
                scenario.learn(&want);
                compared += 1;
                fine += usize::from(want.get(PROTO_HEADER_SIZE + 5) == Some(&0));
                recorder.write(number, step, request, &want);
                if !same(request, &want, &got) {
                    let all = || before.values().cloned().collect();
                    let before = digest.map_or_else(all, |digest| before.get(&digest).cloned().unwrap_or_default());
                    differing.push(format!(
                        "scenario {number} step {step}: {}\n   before {}\n   want {}\n   got  {}",
                        request.note,
                        before,
                        shown(&want),
                        shown(&got)
                    ));
                    // Both begin anew with these records.
                    for digest in scenario.digests() {
                        real.ask(&scenario.forget(&digest));
                        embedded.ask(&scenario.forget(&digest));
                    }
                }
                if let (Some(digest), "get") = (digest, &*request.note) {
                    before.insert(digest, shown(&want));
                }
            }
        }
    }
    (compared, fine, differing)
}

#[test]
fn random_requests_are_answered_as_by_a_real_server() {
    let Some(host) = std::env::var("AEROSPIKE_HOST").ok().filter(|host| !host.is_empty()) else { return };
    let real = host.to_socket_addrs().unwrap().next().unwrap();
    let seed = number("AEROLANE_RANDOM_SEED", std::time::UNIX_EPOCH.elapsed().unwrap().as_secs());
    let scenarios = number("AEROLANE_RANDOM_SCENARIOS", 100) as u32;
    let mut recorder =
        Recorder(std::env::var_os("AEROLANE_RANDOM_RECORD").map(|path| std::fs::File::create(path).unwrap()));
    let begun = Instant::now();
    let (compared, fine, differing) = compare_live(real, seed, scenarios, &mut recorder);
    println!(
        "seed {seed}: {compared} answers in {:?}, {fine} of them successes, {} differ",
        begun.elapsed(),
        differing.len()
    );
    for problem in differing.iter().take(number("AEROLANE_RANDOM_SHOW", 40) as usize) {
        println!("{problem}");
    }
    assert!(differing.is_empty(), "{} answers differ (seed {seed})", differing.len());
}

/// The exchanges of a recorded run.
fn recorded() -> Vec<Line> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/random.jsonl.gz");
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| Line::parse(&serde_json::from_str(line).unwrap())).collect()
}

#[test]
fn recorded_random_requests_are_answered_as_recorded() {
    let lines = recorded();
    assert!(lines.len() >= RECORDED, "{}", lines.len());
    let cluster = start();
    let mut client = Client::new(cluster.nodes()[0].address);
    let mut problems = Vec::new();
    for line in &lines {
        assert!(matches!(line.end, End::Frames(1) | End::Last));
        let compared = client.exchange(line).and_then(|answer| compare(line, &answer, 0));
        if let Err(problem) = compared {
            problems.push(format!("{} {}: {problem}", line.scenario, line.step));
        }
    }
    assert!(problems.is_empty(), "{} of {} differ:\n{}", problems.len(), lines.len(), problems.join("\n"));
}
