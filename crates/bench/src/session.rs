//! One invocation: the target, the load, every client in a child process of its own, several rounds.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cli::Cli;
use crate::client_kind::ClientKind;
use crate::clients;
use crate::embedded::{EmbeddedError, EmbeddedProcess, Target};
use crate::report::{Report, RunResult};
use crate::spec::RunSpec;

/// What connecting and ending may take beside the phases of a run.
const CHILD_PATIENCE: Duration = Duration::from_secs(90);
/// Slowest acceptable load, records per second.
const LOAD_RATE: u64 = 500;
/// Most bytes taken from a child.
const CHILD_OUTPUT_LIMIT: u64 = 1 << 23;

/// Why an invocation ended without figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The embedded cluster did not start.
    #[error("the embedded cluster did not start")]
    Embedded(#[from] EmbeddedError),
    /// The records were not written.
    #[error("loading {keys} records failed: {reason}")]
    Load {
        /// How many were to be written.
        keys: u64,
        /// What the child said.
        reason: String,
    },
    /// The set was not emptied.
    #[error("emptying the set failed: {reason}")]
    Truncate {
        /// What the child said.
        reason: String,
    },
}

/// What a child process is told to do.
#[derive(Debug, Serialize, Deserialize)]
pub enum ChildTask {
    /// Measure one client.
    Run(RunSpec),
    /// Write the records.
    Load(RunSpec),
    /// Empty the set.
    Truncate(RunSpec),
}

/// What a child process answers on its stdout.
#[derive(Debug, Serialize, Deserialize)]
pub enum ChildAnswer {
    /// The figures, with the histograms behind them.
    Result(Box<RunResult>),
    /// The records are written, or gone.
    Done,
    /// Nothing, and why.
    Failed(String),
}

/// The figures of all clients, and those that have none.
#[derive(Debug)]
pub struct Session {
    /// What all rounds give together, in the order asked for.
    pub reports: Vec<(ClientKind, Report)>,
    /// Clients that did not run, with the reason.
    pub failures: Vec<(ClientKind, String)>,
    /// Whether the target was an embedded cluster of our own.
    pub embedded: bool,
}

/// Does the work of a child process and returns its answer.
#[must_use]
pub fn child(task: &str) -> ChildAnswer {
    crate::process::raise_file_limit();
    let answer = match serde_json::from_str(task) {
        Ok(ChildTask::Run(spec)) => clients::run(&spec).map(|result| ChildAnswer::Result(Box::new(result))),
        Ok(ChildTask::Load(spec)) => clients::load(&spec).map(|()| ChildAnswer::Done),
        Ok(ChildTask::Truncate(spec)) => clients::truncate(&spec).map(|()| ChildAnswer::Done),
        Err(error) => return ChildAnswer::Failed(format!("not a task: {error}")),
    };
    answer.unwrap_or_else(|error| ChildAnswer::Failed(chain(&error)))
}

/// An error with all its causes in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

/// Runs everything that `cli` asks for.
///
/// # Errors
/// When there is no cluster to run on, or the records could not be written. A client that does not run is no error
/// but stands in [`Session::failures`].
pub fn run(cli: &Cli) -> Result<Session, SessionError> {
    let clients = cli.clients();
    let wants_cluster = clients.iter().any(|client| client.needs_cluster());
    let mut own = None;
    let target = match cli.seeds() {
        _ if !wants_cluster => Target::default(),
        Some(seeds) => Target { seeds, certificate: None },
        None => own.insert(EmbeddedProcess::start(cli.nodes, &cli.namespace, cli.tls, &cli.conditions())?).target(),
    };
    if wants_cluster && cli.truncate {
        truncate(cli, &target)?;
    }
    if wants_cluster && cli.loads() {
        load(cli, &target)?;
    }
    let mut rounds: Vec<(ClientKind, Vec<RunResult>)> = clients.iter().map(|client| (*client, Vec::new())).collect();
    let mut failures = Vec::new();
    for round in 0..cli.rounds {
        let mut order: Vec<usize> = (0..rounds.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let (client, results) = &mut rounds[index];
            match run_one(cli.spec(*client, &target)) {
                Ok(result) => results.push(result),
                Err(reason) => failures.push((*client, reason)),
            }
        }
    }
    if wants_cluster && cli.truncate_after {
        truncate(cli, &target)?;
    }
    let reports = rounds.iter().filter_map(|(client, results)| Some((*client, Report::of_rounds(results)?))).collect();
    Ok(Session { reports, failures, embedded: own.is_some() })
}

fn load(cli: &Cli, target: &Target) -> Result<(), SessionError> {
    let started = Instant::now();
    let spec = cli.spec(ClientKind::CoreAsync, target);
    let limit = CHILD_PATIENCE + Duration::from_secs(cli.keys / LOAD_RATE);
    match in_child(&ChildTask::Load(spec), limit) {
        ChildAnswer::Done => {
            if !cli.quiet {
                eprintln!("{} records written in {:.1} s", cli.keys, started.elapsed().as_secs_f64());
            }
            Ok(())
        }
        ChildAnswer::Failed(reason) => Err(SessionError::Load { keys: cli.keys, reason }),
        ChildAnswer::Result(_) => {
            Err(SessionError::Load { keys: cli.keys, reason: "the child answered with figures".to_owned() })
        }
    }
}

fn truncate(cli: &Cli, target: &Target) -> Result<(), SessionError> {
    match in_child(&ChildTask::Truncate(cli.spec(ClientKind::CoreAsync, target)), CHILD_PATIENCE) {
        ChildAnswer::Done => Ok(()),
        ChildAnswer::Failed(reason) => Err(SessionError::Truncate { reason }),
        ChildAnswer::Result(_) => Err(SessionError::Truncate { reason: "the child answered with figures".to_owned() }),
    }
}

fn run_one(spec: RunSpec) -> Result<RunResult, String> {
    let limit = spec.warmup() + spec.duration() + spec.stop_limit() + CHILD_PATIENCE;
    match in_child(&ChildTask::Run(spec), limit) {
        ChildAnswer::Result(result) => Ok(*result),
        ChildAnswer::Failed(reason) => Err(reason),
        ChildAnswer::Done => Err("the child did something else than measuring".to_owned()),
    }
}

/// Runs `task` in a fresh process of this program, for at most `limit`.
fn in_child(task: &ChildTask, limit: Duration) -> ChildAnswer {
    match try_in_child(task, limit) {
        Ok(answer) => answer,
        Err(error) => ChildAnswer::Failed(format!("the child process: {error}")),
    }
}

fn try_in_child(task: &ChildTask, limit: Duration) -> std::io::Result<ChildAnswer> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--child")
        .arg(serde_json::to_string(task)?)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("has no stdout"))?;
    // Read beside the waiting, so that a full pipe cannot hold the child up.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.take(CHILD_OUTPUT_LIMIT).read_to_string(&mut text).map(|_| text)
    });
    let status = wait(&mut child, limit)?;
    let text = reader.join().map_err(|_| std::io::Error::other("its output could not be read"))??;
    match (text.trim(), status) {
        (_, None) => Ok(ChildAnswer::Failed(format!("did not end within {limit:?} and was stopped"))),
        ("", Some(status)) => Ok(ChildAnswer::Failed(format!("ended without an answer ({status})"))),
        (answer, Some(_)) => Ok(serde_json::from_str(answer)?),
    }
}

/// Waits for the child; kills it and returns `None` after `limit`.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::spec;

    #[test]
    fn a_floor_runs_in_this_process() {
        for client in [ClientKind::FloorAsync, ClientKind::FloorSync] {
            let task = serde_json::to_string(&ChildTask::Run(spec(client))).unwrap();
            match child(&task) {
                ChildAnswer::Result(result) => {
                    let report = &result.report;
                    assert!(report.tps > 10_000.0, "{report:?}");
                    assert!(report.client_cpu_us_per_op > 0.0 && report.latency.p50_us > 0.0, "{report:?}");
                    assert_eq!((report.errors, report.timeouts, report.host.as_str()), (0, 0, "none"));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn idle_tasks_end_with_the_run() {
        let mut spec = spec(ClientKind::FloorAsync);
        spec.idle_tasks = 100;
        spec.runtime = crate::spec::RuntimeKind::Current;
        let report = clients::run(&spec).unwrap().report;
        assert_eq!((report.errors, report.idle_tasks, report.threads), (0, 100, 1));
    }

    #[test]
    fn a_cluster_that_is_not_there_is_a_clear_failure() {
        let mut spec = spec(ClientKind::CoreAsync);
        spec.seeds = "127.0.0.1:1".to_owned();
        let task = serde_json::to_string(&ChildTask::Run(spec)).unwrap();
        match child(&task) {
            ChildAnswer::Failed(reason) => assert!(reason.contains("core-async did not connect"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(child("{}"), ChildAnswer::Failed(reason) if reason.starts_with("not a task")));
    }
}
