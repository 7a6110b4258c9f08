//! The program as a whole, for a second, against an embedded cluster.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aerolane_embedded::EmbeddedCluster;
use serde_json::Value;

const BENCH: &str = env!("CARGO_BIN_EXE_aerolane-bench");
const ALL: &str = "core-async,aerolane-async,aerolane-local,core-sync,aerolane-sync";
const SHORT: [&str; 10] =
    ["--duration", "0.4", "--warmup", "0.1", "--keys", "2000", "--threads", "4", "--lat-sample-every", "1"];

fn bench(args: &[&str]) -> Output {
    let mut command = Command::new(BENCH);
    // The developer's own settings must not change what is tested.
    for name in ["MODE", "TASKS", "READ_PCT", "AEROSPIKE_HOST", "NAMESPACE", "SET", "MAX_CONNS_PER_NODE"] {
        command.env_remove(name);
    }
    command.args(SHORT).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json_lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("one JSON object per line")).collect()
}

fn number(report: &Value, key: &str) -> f64 {
    report[key].as_f64().unwrap_or_else(|| panic!("{key} is no number in {report}"))
}

fn cluster() -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(2).namespace("test").start().expect("an embedded cluster")
}

#[test]
fn every_client_runs_without_errors() {
    let cluster = cluster();
    let output = bench(&["--host", &cluster.seeds(), "--client", ALL, "--tasks", "16", "--idle-tasks", "20", "--json"]);
    let reports = json_lines(&output);
    let names: Vec<_> = reports.iter().map(|report| report["client"].as_str().expect("a name")).collect();
    assert_eq!(names.join(","), ALL);
    for report in &reports {
        assert_eq!((number(report, "errors"), number(report, "timeouts")), (0.0, 0.0), "{report}");
        // All keys were loaded, so a read that finds nothing means that keys and load do not fit together.
        assert!(number(report, "not_found") == 0.0, "{report}");
        assert!(number(report, "tps") > 50.0, "{report}");
        assert!(number(report, "client_cpu_us_per_op") > 0.0, "{report}");
        assert!(number(report, "peak_rss_bytes") > 1e6, "{report}");
        let latencies = ["p50_us", "p99_us", "p999_us", "max_us"].map(|key| number(report, key));
        assert!(latencies[0] > 0.0 && latencies.is_sorted(), "{report}");
        assert_eq!(report["host"].as_str(), Some(cluster.seeds().as_str()));
        let asynchronous = report["mode"] == "async";
        assert_eq!(number(report, "tasks") > 0.0, asynchronous, "{report}");
        assert_eq!(number(report, "idle_tasks") > 0.0, asynchronous, "{report}");
    }
    // Half a second of ticker lines goes nowhere near stdout, and progress is told on stderr.
    assert!(text(&output.stderr).contains("2000 records written"), "{}", text(&output.stderr));
}

#[test]
fn batches_count_records_and_the_table_compares() {
    let cluster = cluster();
    let clients = "core-async,aerolane-local,aerolane-sync";
    let args = [
        "--client",
        clients,
        "--batch-size",
        "50",
        "--workload",
        "RU,50",
        "--tasks",
        "4",
        "--rounds",
        "2",
        "-q",
        "--prebuilt-keys",
    ];
    let output = bench(&[&["--host", &cluster.seeds()], &args[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for part in ["batches of 50", "medians of 2 rounds", "RU,50", "x core", "core-async", "aerolane-sync", "4 tasks"] {
        assert!(table.contains(part), "{part} is missing in\n{table}");
    }
    assert!(!table.contains("times:"), "there were errors:\n{table}");
    assert_eq!(text(&output.stderr), "", "-q is quiet");
}

/// What options do not say comes from the environment, under the names of the vendor's harness.
#[test]
fn the_environment_sets_what_options_do_not() {
    let cluster = cluster();
    let output = Command::new(BENCH)
        .env("MODE", "sync")
        .env("THREADS", "2")
        .env("TASKS", "7")
        .env("DURATION", "0.3")
        .env("WARMUP", "0")
        .env("READ_PCT", "100")
        .env("KEYS", "100")
        .env("AEROSPIKE_HOST", cluster.seeds())
        .env("NAMESPACE", "test")
        .env("SET", "environment")
        .env("LAT_SAMPLE_EVERY", "1")
        .env("MAX_CONNS_PER_NODE", "8")
        .env("CONN_POOLS_PER_NODE", "1")
        .env("AEROSPIKE_USE_SERVICES_ALTERNATE", "false")
        .arg("--json")
        .output()
        .expect("the program starts");
    let reports = json_lines(&output);
    let names: Vec<_> = reports.iter().map(|report| report["client"].as_str().expect("a name")).collect();
    assert_eq!(names, ["core-sync", "aerolane-sync"]);
    for report in &reports {
        assert_eq!((number(report, "threads"), number(report, "tasks")), (2.0, 0.0), "{report}");
        assert_eq!(report["workload"].as_str(), Some("RU,100"));
        assert!(number(report, "duration_s") >= 0.3, "{report}");
        assert!(number(report, "errors") == 0.0 && number(report, "tps") > 50.0, "{report}");
    }
    // By default it is 10 s. A machine that stands still makes one of them longer, hardly both.
    let shortest = reports.iter().map(|report| number(report, "duration_s")).fold(f64::INFINITY, f64::min);
    assert!(shortest < 5.0, "{shortest} s");
    assert!(text(&output.stderr).contains("100 records written"), "{}", text(&output.stderr));
    assert_eq!(cluster.record_count("test"), Some(100));
}

#[test]
fn reads_of_an_empty_set_are_successes() {
    let cluster = cluster();
    let args = ["--client", "core-async,aerolane-sync", "-w", "RU,100", "--no-load", "--json", "--set", "empty"];
    for report in json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..]].concat())) {
        assert!(number(&report, "errors") == 0.0 && number(&report, "not_found") > 0.0, "{report}");
    }
}

#[test]
fn list_operations_beside_those_of_aerospike_core() {
    let cluster = cluster();
    let args = ["--client", ALL, "-w", "LG", "--tasks", "4", "--threads", "2", "--json"];
    let reports = json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..]].concat()));
    assert_eq!(reports.len(), 5);
    for report in &reports {
        assert!(number(report, "errors") == 0.0 && number(report, "not_found") == 0.0, "{report}");
        assert!(number(report, "tps") > 50.0 && number(report, "client_cpu_us_per_op") > 0.0, "{report}");
        assert_eq!(report["workload"].as_str(), Some("LG"));
    }
    let output = bench(&["-w", "LG", "--batch-size", "2"]);
    assert!(!output.status.success() && text(&output.stderr).contains("makes no batches"), "{}", text(&output.stderr));
}

#[test]
fn a_client_that_cannot_run_fails_the_program_and_is_named() {
    let cluster = cluster();
    let args = ["--client", "floor,core-async", "--no-load", "-q", "--json", "--namespace", "nowhere"];
    let output = bench(&[&["--host", &cluster.seeds()], &args[..]].concat());
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("core-async did not run") && said.contains("no namespace `nowhere`"), "{said}");
    assert!(text(&output.stdout).contains("floor-async"), "the others are still reported");
}

#[test]
fn without_a_host_it_starts_a_cluster_of_its_own_and_ends_it() {
    let program = embedded_program();
    let output = Command::new(BENCH)
        .args(SHORT)
        .args(["--client", "aerolane-async", "--nodes", "3", "--json", "-q", "--tasks", "8"])
        .env("AEROLANE_EMBEDDED", &program)
        .env_remove("AEROSPIKE_HOST")
        .output()
        .expect("the program starts");
    let reports = json_lines(&output);
    let seeds = reports[0]["host"].as_str().expect("seeds");
    assert_eq!(seeds.split(',').count(), 3, "{seeds}");
    assert!(number(&reports[0], "errors") == 0.0 && number(&reports[0], "tps") > 50.0, "{}", reports[0]);
    let seed: std::net::SocketAddr = seeds.split(',').next().expect("a seed").parse().expect("an address");
    assert!(std::net::TcpStream::connect(seed).is_err(), "the cluster has ended with the program");
}

/// The embedded cluster's program: beside ours after `cargo test --workspace`, else built here.
fn embedded_program() -> PathBuf {
    let name = format!("aerolane-embedded{}", std::env::consts::EXE_SUFFIX);
    let program = Path::new(BENCH).with_file_name(name);
    if !program.is_file() {
        // The folder is named after the profile, but for the default one.
        let profile = match program.parent().and_then(Path::file_name).and_then(|name| name.to_str()) {
            None | Some("debug") => "dev",
            Some(name) => name,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "aerolane-embedded", "--profile", profile])
            .status()
            .expect("cargo starts");
        assert!(status.success() && program.is_file(), "the embedded cluster's program could not be built");
    }
    program
}
