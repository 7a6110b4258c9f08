//! The program: what it prints, and when it ends.

#![cfg(all(feature = "bin", feature = "tls", unix))]

mod common;

use common::Raw;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Program {
    child: Child,
    line: String,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut program = Self::spawn(arguments);
        BufReader::new(program.child.stdout.take().unwrap()).read_line(&mut program.line).unwrap();
        program.line.truncate(program.line.trim_end().len());
        program
    }

    /// Does not wait for the line that tells where the nodes are.
    fn spawn(arguments: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_aerolane-embedded"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, line: String::new() }
    }

    /// Waits for its end; `None` if it goes on, or was ended by a signal.
    fn exit_code(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    fn ends(&mut self) -> bool {
        self.exit_code() == Some(0)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has mostly ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_prints_seeds_and_ends_with_its_standard_input() {
    let mut program = Program::start(&["--nodes", "3", "--port", "0", "--stdin"]);
    let seeds: Vec<_> = program.line.split(',').collect();
    assert_eq!(seeds.len(), 3);
    assert_eq!(Raw::connect(seeds[2].parse().unwrap()).info("namespaces"), "test");
    drop(program.child.stdin.take());
    assert!(program.ends());
}

#[test]
fn requests_control_it_until_its_input_ends() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_aerolane-embedded"))
        .arg("--control")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut requests, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(answers).lines();
    let mut ask = |line: &[u8]| -> Value {
        requests.write_all(line).unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    let started = ask(b"\n  {\"do\":\"start\",\"nodes\":2}\r\n");
    let seeds = started["ok"]["seeds"].as_str().unwrap().to_owned();
    assert_eq!(Raw::connect(seeds.split(',').next().unwrap().parse().unwrap()).info("namespaces"), "test");
    assert_eq!(ask(b"\xff\n")["error"]["kind"], "request");
    assert_eq!(ask(b"{\"id\":7,\"do\":\"sweep\"}\n"), serde_json::json!({ "id": 7, "ok": 0 }));
    drop(requests);
    assert!(child.wait().unwrap().success());
}

#[test]
fn whoever_connects_to_the_control_port_controls_it() {
    let arguments = ["--nodes", "2", "--port", "0", "--json", "--control-port", "0"];
    let program = Program::start(&arguments);
    let json: Value = serde_json::from_str(&program.line).unwrap();
    let ask = |line: &str| -> Value {
        let mut stream = std::net::TcpStream::connect(json["control"].as_str().unwrap()).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let node = &json["nodes"][0]["id"];
    assert_eq!(ask(&format!("{{\"do\":\"stop_nodes\",\"nodes\":[{node}]}}\n"))["ok"], Value::Null);
    assert_eq!(ask("{\"do\":\"show\"}\n")["ok"]["seeds"], json["nodes"][1]["address"]);
    assert_eq!(ask("{\"do\":\"start\"}\n")["error"]["kind"], "state");
}

#[test]
fn the_log_tells_what_happens() {
    let mut program = Program::start(&["--nodes", "2", "--port", "0", "--stdin", "--log", "info"]);
    let address = program.line.split(',').next().unwrap().parse().unwrap();
    assert!(Raw::connect(address).info("aerolane-fault:add;split;on=info").contains("id="));
    Raw::connect(address).info("node");
    let mut stranger = std::net::TcpStream::connect(address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(std::io::Read::read(&mut stranger, &mut [0; 8]).unwrap_or(0), 0);
    drop(program.child.stdin.take());
    assert!(program.ends());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut program.child.stderr.take().unwrap(), &mut said).unwrap();
    for text in [
        "the cluster has 2 nodes",
        "has connected",
        "is closed",
        "strikes a request (info)",
        ": split",
        "not the protocol",
    ] {
        assert!(said.contains(text), "{text} is missing:\n{said}");
    }
}

#[test]
fn json_names_nodes_and_a_signal_ends_it() {
    let arguments = ["--nodes", "2", "--port", "0", "--json", "--namespace", "a", "--namespace", "b"];
    let mut program = Program::start(&[&arguments[..], &["--users", "admin:secret", "--tls-name", "x"]].concat());
    let json: Value = serde_json::from_str(&program.line).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(json["pid"], program.child.id());
    assert!(json["nodes"][0]["tls_address"].is_string());
    assert_eq!(json["tls_seeds"].as_str().unwrap().split(',').count(), 2);
    let address = json["nodes"][1]["address"].as_str().unwrap().parse().unwrap();
    assert!(Raw::connect(address).info("namespaces").starts_with("ERROR:80:"), "logging in is required");
    let killed = Command::new("kill").args(["-TERM", &program.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(program.ends());
}

#[test]
fn conditions_are_options() {
    let times = "--service-time=read=80us,write=99%:300us+1%:20ms";
    let program = Program::start(&[
        "--nodes",
        "1",
        "--port",
        "0",
        times,
        "--in-service",
        "9",
        "--latency",
        "20ms~1ms",
        "--seed",
        "7",
    ]);
    let start = Instant::now();
    let shown = Raw::connect(program.line.parse().unwrap()).info("aerolane-conditions:show");
    assert!(start.elapsed() >= Duration::from_millis(78), "two round trips");
    let expected = "service-time=read=80us,write=99%:300us+1%:20ms;in-service=9;latency=20ms~1ms;seed=7";
    assert_eq!(shown.split_once(';').unwrap().1, expected);
}

#[test]
fn its_nodes_say_the_build_that_was_asked_for() {
    for (arguments, build) in [(&[][..], "8.1.2.0"), (&["--build", "8.2.0.0"], "8.2.0.0")] {
        let program = Program::start(&[&["--nodes", "1", "--port", "0"], arguments].concat());
        assert_eq!(Raw::connect(program.line.parse().unwrap()).info("build"), build);
    }
}

#[test]
fn bad_settings_are_told_and_fail() {
    let bad: [&[&str]; 8] = [
        &["--build", "8.2"],
        &["--nodes", "0"],
        &["--users", "nobody"],
        &["--namespace", "a b"],
        &["--replication-factor", "0"],
        &["--service-time", "read=80"],
        &["--in-service", "0"],
        &["--latency", "30us~40us"],
    ];
    for arguments in bad {
        let output = Command::new(env!("CARGO_BIN_EXE_aerolane-embedded"))
            .args(arguments)
            .args(["--port", "0"])
            .output()
            .unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("aerolane-embedded: "), "{arguments:?}");
    }
}

#[test]
fn a_request_that_is_too_long_ends_it_with_an_error() {
    let mut program = Program::spawn(&["--control"]);
    let mut requests = program.child.stdin.take().unwrap();
    // Writing fails if the program ends before it has read everything.
    let _ = requests.write_all(&vec![b' '; aerolane_embedded::control::MAX_LINE + 1]);
    assert_eq!(program.exit_code(), Some(1));
    let mut said = String::new();
    program.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("a request is longer than"), "{said}");
}
