//! Starts the embedded cluster as a process of its own, so that the CPU time measured is the client's alone.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::conditions::Conditions;
use crate::tls;

/// Names the binary to start, when it is not beside ours.
pub const BINARY_VARIABLE: &str = "AEROLANE_EMBEDDED";
const BINARY: &str = "aerolane-embedded";
/// How long the cluster may take to announce its seeds.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long it may take to end before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// Most bytes read before the seeds must have come.
const OUTPUT_LIMIT: u64 = 64 * 1024;

/// Why there is no embedded cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// The program is nowhere.
    #[error(
        "{BINARY} is not beside {} and {BINARY_VARIABLE} is not set; build it with `cargo build -p {BINARY}`, or name \
         a cluster with --host",
        beside.display()
    )]
    NotFound {
        /// Our own program.
        beside: PathBuf,
    },
    /// The program could not be started.
    #[error("{} could not be started", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The program ran but named no seeds.
    #[error("{} named no seeds: {reason}", program.display())]
    NoSeeds {
        /// The program.
        program: PathBuf,
        /// What happened instead.
        reason: String,
    },
}

/// Where clients connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The seeds, separated by commas: `host:port`, or `host:name:port` with TLS.
    pub seeds: String,
    /// The certificate (PEM) to trust; it switches TLS on.
    pub certificate: Option<String>,
}

/// A running embedded cluster; it ends when this is dropped, or when this process ends in any way.
#[derive(Debug)]
pub struct EmbeddedProcess {
    child: Child,
    target: Target,
}

impl EmbeddedProcess {
    /// Starts `nodes` nodes with one namespace on free loopback ports, with TLS if `tls`.
    ///
    /// # Errors
    /// When the binary is not found, does not start, or names no seeds in time.
    pub fn start(nodes: usize, namespace: &str, tls: bool, conditions: &Conditions) -> Result<Self, EmbeddedError> {
        let mut arguments =
            vec!["--nodes".to_owned(), nodes.to_string(), "--namespace".to_owned(), namespace.to_owned()];
        arguments.extend(conditions.arguments());
        Self::start_program(find_program()?, arguments, tls)
    }

    fn start_program(program: PathBuf, arguments: Vec<String>, tls: bool) -> Result<Self, EmbeddedError> {
        let certificate = std::env::temp_dir().join(format!("aerolane-bench-{}.pem", std::process::id()));
        let mut command = Command::new(&program);
        command.args(arguments).args(["--port", "0", "--stdin"]);
        if tls {
            command.args(["--json", "--tls-name", tls::SERVER_NAME, "--tls-certificate"]).arg(&certificate);
        }
        let mut child = command
            // It ends when its stdin closes, that is also when this process is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| EmbeddedError::Spawn { program: program.clone(), source })?;
        let announced = await_seeds(&mut child);
        // The certificate is written before the seeds are announced.
        let target = announced.and_then(|seeds| {
            if !tls {
                return Ok(Target { seeds, certificate: None });
            }
            let pem = std::fs::read_to_string(&certificate).map_err(|error| format!("no certificate: {error}"));
            let _ = std::fs::remove_file(&certificate);
            Ok(Target { seeds: tls::named_seeds(&seeds), certificate: Some(pem?) })
        });
        match target {
            Ok(target) => Ok(Self { child, target }),
            Err(reason) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(EmbeddedError::NoSeeds { program, reason })
            }
        }
    }

    /// Where clients connect to.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// The seeds, separated by commas.
    #[must_use]
    pub fn seeds(&self) -> &str {
        &self.target.seeds
    }

    /// The process id, for measuring it from outside.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for EmbeddedProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + STOP_LIMIT;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary named by the environment, or the one beside ours.
fn find_program() -> Result<PathBuf, EmbeddedError> {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let own = std::env::current_exe().unwrap_or_default();
    // Tests and benches run from `deps/`, one level below the binaries.
    own.ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(format!("{BINARY}{}", std::env::consts::EXE_SUFFIX)))
        .find(|path| Path::is_file(path))
        .ok_or(EmbeddedError::NotFound { beside: own })
}

/// Reads the child's stdout until the seeds come. Goes on reading afterwards, so that the pipe never fills up.
fn await_seeds(child: &mut Child) -> Result<String, String> {
    let stdout = child.stdout.take().ok_or("it has no stdout")?;
    let (found, seeds) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        let mut rest = OUTPUT_LIMIT;
        loop {
            line.clear();
            match (&mut reader).take(rest).read_line(&mut line) {
                Ok(0) | Err(_) => break,
                Ok(read) => rest = rest.saturating_sub(read as u64),
            }
            if let Some(seeds) = seeds_in(&line) {
                let _ = found.send(seeds);
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
                break;
            }
        }
    });
    match seeds.recv_timeout(START_LIMIT) {
        Ok(seeds) => Ok(seeds),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("nothing within {START_LIMIT:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => match child.try_wait() {
            Ok(Some(status)) => Err(format!("it ended ({status})")),
            _ => Err("its output ended".to_owned()),
        },
    }
}

/// The seed list in a line of output: the TLS seeds of a JSON object, or else a word that consists of `host:port` parts separated by commas.
fn seeds_in(line: &str) -> Option<String> {
    if let Ok(announced) = serde_json::from_str::<serde_json::Value>(line) {
        return Some(announced["tls_seeds"].as_str()?.to_owned());
    }
    let is_seed = |part: &str| match part.rsplit_once(':') {
        Some((host, port)) => !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0),
        None => false,
    };
    line.split_whitespace()
        .map(|word| word.rsplit_once('=').map_or(word, |(_, value)| value))
        .find(|word| word.split(',').all(is_seed))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_seeds_in_a_line() {
        assert_eq!(seeds_in("127.0.0.1:3000,127.0.0.1:3001\n").as_deref(), Some("127.0.0.1:3000,127.0.0.1:3001"));
        assert_eq!(seeds_in("seeds: localhost:4000").as_deref(), Some("localhost:4000"));
        assert_eq!(seeds_in("seeds=localhost:4000").as_deref(), Some("localhost:4000"));
        let json = r#"{"seeds":"a:1","tls_seeds":"127.0.0.1:4333","pid":7,"nodes":[]}"#;
        assert_eq!(seeds_in(json).as_deref(), Some("127.0.0.1:4333"));
        for line in ["", "starting:", "at 12:00:99999", "a:0", ":80"] {
            assert_eq!(seeds_in(line), None, "{line}");
        }
    }

    #[test]
    fn a_program_that_names_no_seeds_is_a_clear_error() {
        let error = EmbeddedProcess::start_program("/bin/true".into(), Vec::new(), false).unwrap_err();
        assert!(error.to_string().contains("/bin/true named no seeds"), "{error}");
        let error = EmbeddedProcess::start_program("/does/not/exist".into(), Vec::new(), false).unwrap_err();
        assert!(matches!(error, EmbeddedError::Spawn { .. }), "{error}");
    }
}
