//! Random requests: the embedded cluster answers as a real server does.
//!
//! By default it answers again what was recorded (`random.jsonl.gz`: a run against Aerospike CE 8.1.2). With
//! `AEROSPIKE_HOST=host:port` (namespace `test`), requests go to that server and to an embedded cluster of as many nodes, and
//! the answers are compared. With several nodes the requests go to masters, replicas and other nodes. Not on a server that
//! matters: requests that are only a little odder end this version.
//!
//! ```sh
//! AEROSPIKE_HOST=127.0.0.1:3000 AEROLANE_RANDOM_REQUESTS=500000 \
//!     cargo test -p aerolane-embedded --test differential real_server -- --nocapture
//! ```
//!
//! * `AEROLANE_RANDOM_REQUESTS`: how many answers to compare (default 20,000); a scenario of 100 requests, and of what they
//!   have left behind, is always ended
//! * `AEROLANE_RANDOM_SECONDS`: the most time to take (default: as long as it takes)
//! * `AEROLANE_RANDOM_SEED`: the same requests again (default: the time)
//! * `AEROLANE_RANDOM_SCENARIO`: only this one
//! * `AEROLANE_RANDOM_SHOW`: how many differences to show (default 10), each with the fewest requests that lead to it
//! * `AEROLANE_RANDOM_RESTART`: a command that starts the server again when a request has ended it; without it that ends the test
//! * `AEROLANE_RANDOM_RECORD=file`: writes down what a server of one node has answered

mod live;
mod random;
mod replay;
mod shown;

use aerolane_embedded::EmbeddedCluster;
use aerolane_wire::digest::partition_id;
use aerolane_wire::proto::PROTO_HEADER_SIZE;
use flate2::read::MultiGzDecoder;
use live::answers::{behind_directory, hex, same, shown, without_index};
use live::nodes::{Ends, Nodes, Outcome, Role};
use live::shrink::shrink;
use random::{Random, Request, Scenario};
use replay::client::Client;
use replay::compare::compare;
use replay::line::{End, Line};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Requests of a scenario.
const STEPS: usize = 100;
/// How long a real replica may take to have a write that its master has acknowledged before.
const REPLICA_DELAY: Duration = Duration::from_millis(50);
/// Fewest recorded requests that are worth a test.
const RECORDED: usize = 13_000;

fn start(nodes: usize) -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(nodes).namespace("test").service_threads(1).start().unwrap()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Writes exchanges down as the golden files have them.
struct Recorder(Option<std::fs::File>);

impl Recorder {
    fn write(&mut self, scenario: u32, step: usize, request: &Request, answer: &[u8]) {
        let Some(file) = &mut self.0 else { return };
        // Directories are of no interest; what fails has changed nothing. Of broken requests the golden files have enough.
        if behind_directory(answer).is_some() || request.malformed {
            return;
        }
        let (end, compare) = match request.ends {
            Ends::Frame => ("frame", "exact"),
            Ends::Last if code(answer) != 0 => ("frame", "exact"),
            Ends::Last | Ends::Rows => ("last", "unordered-records"),
        };
        let line = serde_json::json!({
            "scenario": format!("random/{scenario}"), "step": step, "conn": 1, "delay_before_ms": 0,
            "end": end, "compare": compare, "request": hex(&request.bytes), "response": hex(answer),
        });
        writeln!(file, "{line}").unwrap();
    }
}

/// The result code of the first message.
fn code(answer: &[u8]) -> u8 {
    answer.get(PROTO_HEADER_SIZE + 5).copied().unwrap_or_default()
}

/// A request, and who of the owners of its records is asked.
#[derive(Clone)]
struct Step {
    request: Request,
    role: Role,
}

/// The real server and the embedded cluster.
struct Pair {
    real: Nodes,
    embedded: Nodes,
    _cluster: EmbeddedCluster,
}

/// A request has ended the real server.
struct Ended;

impl Pair {
    fn new(seeds: &str) -> Self {
        let real = Nodes::find(seeds);
        let cluster = start(real.len());
        let embedded = Nodes::find(&cluster.seeds());
        Self { real, embedded, _cluster: cluster }
    }

    /// Sends a request to both; the outcomes, the real one first.
    fn ask(&mut self, step: &Step, pid: u16) -> Result<(Outcome, Outcome), Ended> {
        let Step { request, role } = step;
        std::thread::sleep(Duration::from_millis(request.wait_ms));
        let ask = |nodes: &mut Nodes| {
            let node = if request.info { 0 } else { nodes.node(pid, *role) };
            let outcome = nodes.ask(node, &request.bytes, request.ends);
            if request.malformed {
                nodes.leave(node);
            }
            outcome.map(|outcome| (node, outcome))
        };
        let (node, want) = ask(&mut self.real).ok_or(Ended)?;
        if want == Outcome::Closed && self.real.info(node, "status").is_none() {
            return Err(Ended);
        }
        let (_, got) = ask(&mut self.embedded).expect("the embedded cluster runs");
        Ok((want, got))
    }

    /// Deletes the records of a scenario on both, so that they have the same again.
    fn forget(&mut self, scenario: &Scenario) -> Result<(), Ended> {
        for digest in scenario.digests() {
            let step = Step { request: Scenario::forget(&digest), role: Role::Master };
            self.ask(&step, partition_id(&digest))?;
        }
        Ok(())
    }

    /// Whether the answers to the last of these steps differ.
    fn differ(&mut self, scenario: &Scenario, steps: &[Step], pid: u16) -> bool {
        let mut run = || -> Result<bool, Ended> {
            self.forget(scenario)?;
            let mut differs = false;
            for step in steps {
                let (want, got) = self.ask(step, pid)?;
                differs = !same(step.request.ends, &want, &got);
            }
            Ok(differs)
        };
        run().unwrap_or(false)
    }

    /// Whether the answer of the real cluster to a read is that of the embedded one after a moment, which stays: real replicas get
    /// some writes after these are acknowledged.
    fn agree_soon(&mut self, step: &Step, pid: u16, got: &Outcome) -> bool {
        std::thread::sleep(REPLICA_DELAY);
        let same = |one: &Outcome, other: &Outcome| same(step.request.ends, one, other);
        self.ask(step, pid).is_ok_and(|(want, again)| same(&want, &again) && same(&again, got))
    }

    /// A difference for people: the answers of both (which may be the same when they are asked again), and the fewest steps
    /// that lead to it.
    fn explain(
        &mut self,
        scenario: &Scenario,
        steps: &[Step],
        (want, got): (&Outcome, &Outcome),
        pid: u16,
        number: u32,
        at_length: bool,
    ) -> String {
        let mut text = format!("scenario {number} step {}\n", steps.len());
        if !at_length {
            return text;
        }
        writeln!(text, "   at first: want {}\n             got  {}", shown(want), shown(got)).unwrap();
        let fewest = shrink(steps, |fewer| self.differ(scenario, fewer, pid));
        if fewest.is_none() {
            text.push_str("   (not a second time; the last step:)\n");
        }
        let _ = self.forget(scenario);
        let steps = fewest.unwrap_or_else(|| steps[steps.len() - 1..].to_vec());
        for step in &steps {
            let Ok((want, got)) = self.ask(step, pid) else { break };
            let note: String = step.request.note.chars().take(1500).collect();
            writeln!(text, "   {:?}: {note}", step.role).unwrap();
            writeln!(text, "      request {}", hex(&step.request.bytes)).unwrap();
            if same(step.request.ends, &want, &got) {
                writeln!(text, "      both {}", shown(&want)).unwrap();
            } else {
                writeln!(text, "      want {}\n      got  {}", shown(&want), shown(&got)).unwrap();
            }
        }
        text
    }
}

/// What a run has found.
#[derive(Default)]
struct Findings {
    compared: usize,
    /// Answers of success.
    fine: usize,
    malformed: usize,
    differing: Vec<String>,
    /// Answers that differ only in whether a map that an expression has made has an index for storage: no client sees that.
    indexes: Vec<String>,
    /// What came before reads of a real replica that did not have it yet.
    late: Vec<String>,
    /// Requests that have ended the real server.
    ended: Vec<String>,
}

/// Compares the answers to the requests of a scenario.
fn run_scenario(
    pair: &mut Pair,
    found: &mut Findings,
    recorder: &mut Recorder,
    seed: u64,
    number: u32,
    explained: usize,
) -> Result<(), Ended> {
    let several = pair.real.len() > 1;
    let mut scenario = Scenario::new(seed, number, STEPS, several);
    let mut roles = Random::new(seed ^ u64::from(number));
    let pid = partition_id(&scenario.digests()[0]);
    let mut steps: Vec<Step> = Vec::new();
    // An earlier run may have left them.
    pair.forget(&scenario)?;
    while let Some(request) = scenario.next() {
        let role = match roles.below(6) {
            // Queries are for those who own the partition.
            0 if request.ends != Ends::Last => Role::Replica,
            1 if request.ends != Ends::Last => Role::Other,
            _ => Role::Master,
        };
        let looks: Vec<Step> = request
            .digests
            .iter()
            .map(|digest| Step { request: scenario.look(digest), role: *roles.pick(&[Role::Master, Role::Replica]) })
            .collect();
        for step in std::iter::once(Step { request, role }).chain(looks) {
            steps.push(step.clone());
            let Ok((want, got)) = pair.ask(&step, pid) else {
                let request = &step.request;
                found.ended.push(format!("scenario {number}: {} {}", request.note, hex(&request.bytes)));
                return Err(Ended);
            };
            found.compared += 1;
            found.malformed += usize::from(step.request.malformed);
            if let Outcome::Answer(answer) = &want {
                scenario.learn(answer);
                found.fine += usize::from(code(answer) == 0);
                recorder.write(number, steps.len(), &step.request, answer);
            }
            if same(step.request.ends, &want, &got) {
                continue;
            }
            if step.role == Role::Replica && step.request.only_reads() && pair.agree_soon(&step, pid, &got) {
                let before = steps.iter().rev().map(|step| &step.request).find(|request| !request.only_reads());
                let before = before.map_or("nothing", |request| &request.note);
                found.late.push(format!("scenario {number} step {}: {before}\n", steps.len()));
            } else if same(step.request.ends, &without_index(&want), &without_index(&got)) {
                let text = pair.explain(&scenario, &steps, (&want, &got), pid, number, found.indexes.len() < explained);
                found.indexes.push(text);
                pair.forget(&scenario)?;
            } else {
                let text =
                    pair.explain(&scenario, &steps, (&want, &got), pid, number, found.differing.len() < explained);
                found.differing.push(text);
                pair.forget(&scenario)?;
            }
        }
    }
    Ok(())
}

#[test]
fn random_requests_are_answered_as_by_a_real_server() {
    let Some(seeds) = std::env::var("AEROSPIKE_HOST").ok().filter(|host| !host.is_empty()) else { return };
    let seed = number("AEROLANE_RANDOM_SEED").unwrap_or_else(|| std::time::UNIX_EPOCH.elapsed().unwrap().as_secs());
    let requests = number("AEROLANE_RANDOM_REQUESTS").unwrap_or(20_000) as usize;
    let show = number("AEROLANE_RANDOM_SHOW").unwrap_or(10) as usize;
    let only = number("AEROLANE_RANDOM_SCENARIO").map(|only| only as u32);
    let time = number("AEROLANE_RANDOM_SECONDS").map_or(Duration::MAX, Duration::from_secs);
    let restart = std::env::var("AEROLANE_RANDOM_RESTART").ok();
    let mut recorder =
        Recorder(std::env::var_os("AEROLANE_RANDOM_RECORD").map(|path| std::fs::File::create(path).unwrap()));
    println!("AEROLANE_RANDOM_SEED={seed}");
    let begun = Instant::now();
    let (mut pair, mut found) = (Pair::new(&seeds), Findings::default());
    for scenario in only.unwrap_or(0).. {
        let ended = run_scenario(&mut pair, &mut found, &mut recorder, seed, scenario, show).is_err();
        if ended {
            let command = restart.as_ref().unwrap_or_else(|| panic!("the server has ended: {}", found.ended[0]));
            assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
            pair = Pair::new(&seeds);
        }
        if found.compared >= requests || begun.elapsed() >= time || only.is_some() {
            break;
        }
    }
    println!(
        "seed {seed}, {} nodes: {} answers in {:?}, {} of them successes, {} to malformed requests; {} differ, \
         and {} in whether maps have an index; {} times a real replica was late; the server has ended {} times",
        pair.real.len(),
        found.compared,
        begun.elapsed(),
        found.fine,
        found.malformed,
        found.differing.len(),
        found.indexes.len(),
        found.late.len(),
        found.ended.len(),
    );
    for problem in [&found.differing, &found.indexes, &found.late]
        .into_iter()
        .flat_map(|all| all.iter().take(show))
        .chain(&found.ended)
    {
        println!("{problem}");
    }
    assert!(found.differing.is_empty(), "{} answers differ (seed {seed})", found.differing.len());
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
    let cluster = start(1);
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
