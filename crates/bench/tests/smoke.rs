//! The program as a whole, for a second, against an embedded cluster.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
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

fn count(report: &Value, key: &str) -> u64 {
    report[key].as_u64().unwrap_or_else(|| panic!("{key} is no count in {report}"))
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
        assert_eq!(count(report, "schema"), 1);
        let samples: u64 = report["histograms"]["reads"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|pair| pair[1].as_u64().expect("a count"))
            .sum();
        assert_eq!(samples, count(&report["reads"], "samples"), "{report}");
        assert_eq!(report["host"].as_str(), Some(cluster.seeds().as_str()));
        let asynchronous = report["mode"] == "async";
        assert_eq!(number(report, "tasks") > 0.0, asynchronous, "{report}");
        assert_eq!(number(report, "idle_tasks") > 0.0, asynchronous, "{report}");
    }
    // Half a second of ticker lines goes nowhere near stdout, and progress is told on stderr.
    assert!(text(&output.stderr).contains("2000 records written"), "{}", text(&output.stderr));
}

#[test]
fn reads_of_an_emptied_set_are_no_errors() {
    let cluster = cluster();
    let host = ["--host", &cluster.seeds(), "-w", "RU,100", "--json", "-q"].map(str::to_owned);
    let host: Vec<&str> = host.iter().map(String::as_str).collect();
    json_lines(&bench(&[&host[..], &["--client", "core-async"]].concat()));
    assert_eq!(cluster.record_count("test"), Some(2000));
    for report in json_lines(&bench(&[&host[..], &["--client", ALL, "--truncate"]].concat())) {
        assert_eq!((number(&report, "errors"), number(&report, "timeouts")), (0.0, 0.0), "{report}");
        assert!(count(&report, "not_found") > 0, "{report}");
    }
    assert_eq!(cluster.record_count("test"), Some(0));
    json_lines(&bench(&[&host[..], &["--client", "aerolane-sync", "--load", "--truncate-after"]].concat()));
    assert_eq!(cluster.record_count("test"), Some(0));
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
    for part in [
        "batches of 50",
        "2 rounds",
        "least and most",
        "by kind of call",
        "RU,50",
        "x core",
        "core-async",
        "aerolane-sync",
        "4 tasks",
    ] {
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

/// A cluster of one node that holds one read up for `stall`, after `before` reads.
fn stalling(before: u64, stall: Duration) -> EmbeddedCluster {
    let cluster = EmbeddedCluster::builder().nodes(1).namespace("test").start().expect("an embedded cluster");
    let rule = FaultRule::new(FaultAction::Delay(stall)).on(RequestKind::Read).skip(before).times(1);
    cluster.set_fault(None, &rule).expect("a fault");
    cluster
}

/// One worker meets a stall of 600 ms in a run of 2 s. About a third of all operations are due in it, and wait for it,
/// but just one is being made. Whoever times calls from when they are made sees that one only.
#[test]
fn an_open_loop_shows_a_stall_to_all_that_were_due_in_it() {
    for client in ALL.split(',').chain(["floor-socket"]) {
        let cluster = stalling(150, Duration::from_millis(600));
        let args = ["--client", client, "-w", "RU,100", "--rate", "400", "--tasks", "1", "--threads", "1"];
        let more = ["--duration", "2", "--warmup", "0", "--keys", "100", "--timeout-ms", "60000", "--json", "-q"];
        let reports = json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..], &more].concat()));
        let report = &reports[0];
        assert_eq!((number(report, "errors"), number(report, "timeouts")), (0.0, 0.0), "{report}");
        // A tenth of all were due in the first 200 ms of the stall.
        assert!(number(report, "p90_us") > 100_000.0, "{report}");
        assert!(number(report, "max_us") > 590_000.0, "{report}");
        let open_loop = &report["open_loop"];
        let offered = count(open_loop, "offered");
        assert!((600..1000).contains(&offered), "{report}");
        assert_eq!(count(report, "samples"), offered, "each one is timed: {report}");
        assert!(count(open_loop, "late") > 100, "{report}");
        assert!(number(&open_loop["start_delay"], "max_us") > 500_000.0, "{report}");
    }
}

#[test]
fn an_open_loop_offers_all_clients_the_same_operations() {
    let cluster = cluster();
    let args = ["--client", ALL, "--rate", "500", "--arrivals", "constant", "--seed", "9", "--rounds", "2", "--json"];
    let more = ["--timeout-ms", "60000"];
    let reports = json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..], &more].concat()));
    assert_eq!(reports.len(), 5);
    for report in &reports {
        assert_eq!((number(report, "errors"), number(report, "not_found")), (0.0, 0.0), "{report}");
        let open_loop = &report["open_loop"];
        // 0.4 s of 500 per second, twice.
        assert!(count(open_loop, "offered").abs_diff(400) <= 2, "{report}");
        assert_eq!(open_loop["arrivals"], "constant");
        let asynchronous = report["mode"] == "async";
        assert_eq!(count(open_loop, "max_outstanding"), if asynchronous { 1024 } else { 4 }, "{report}");
        assert!(count(&open_loop["pacer_lateness"], "samples") > 0, "{report}");
        // Which of them read is drawn by their numbers.
        let kinds = ["reads", "writes"].map(|kind| count(&report[kind], "samples"));
        assert_eq!(kinds, ["reads", "writes"].map(|kind| count(&reports[0][kind], "samples")), "{report}");
    }
}

#[test]
fn rounds_are_kept_one_by_one_and_their_samples_are_merged() {
    let cluster = cluster();
    let args = ["--client", "aerolane-async", "--rounds", "3", "--tasks", "4", "--json"];
    let reports = json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..]].concat()));
    let report = &reports[0];
    let rounds = report["each_round"].as_array().expect("a list");
    assert_eq!((rounds.len(), count(report, "rounds")), (3, 3));
    let sum: u64 = rounds.iter().map(|round| count(round, "samples")).sum();
    assert_eq!(sum, count(report, "samples"), "{report}");
    assert!(rounds.iter().any(|round| round["max_us"] == report["max_us"]), "{report}");
    let spread = &report["spread"]["tps"];
    assert!(number(spread, "min") <= number(report, "tps") && number(report, "tps") <= number(spread, "max"));
    for round in rounds {
        assert!(number(round, "voluntary_switches_per_op") > 0.0, "{round}");
        for kind in ["reads", "writes"] {
            let figures = &round[kind];
            let latencies =
                ["p50_us", "p90_us", "p98_us", "p99_us", "p999_us", "max_us"].map(|key| number(figures, key));
            assert!(latencies[0] > 0.0 && latencies.is_sorted(), "{round}");
        }
    }
}

#[test]
fn large_reads_beside_the_workload_are_reported_apart() {
    let cluster = cluster();
    let args =
        ["--client", "core-async,aerolane-async,aerolane-local", "--background-large", "2:300000", "--tasks", "4"];
    let more = ["-w", "RU,100", "--timeout-ms", "60000", "--json"];
    for report in json_lines(&bench(&[&["--host", &cluster.seeds()], &args[..], &more].concat())) {
        let large = &report["background_large"];
        assert_eq!((number(large, "tasks"), number(large, "bytes")), (2.0, 300_000.0));
        assert!(number(large, "tps") > 0.0 && number(large, "errors") == 0.0, "{report}");
        assert!(number(&large["latency"], "samples") > 0.0, "{report}");
        assert_eq!((number(&report, "errors"), number(&report, "not_found")), (0.0, 0.0), "{report}");
        assert!(number(&report, "samples") > 0.0, "{report}");
    }
    assert_eq!(cluster.record_count("test"), Some(2000 + 8));
    let output = bench(&["--client", "aerolane-sync", "--background-large", "2:300000"]);
    assert!(!output.status.success() && text(&output.stderr).contains("needs tasks"), "{}", text(&output.stderr));
}

#[test]
fn every_client_runs_over_tls() {
    let output = Command::new(BENCH)
        .args(SHORT)
        .args(["--client", ALL, "--tls", "--nodes", "2", "--json", "-q", "--tasks", "8", "--timeout-ms", "60000"])
        .env("AEROLANE_EMBEDDED", embedded_program())
        .env_remove("AEROSPIKE_HOST")
        .output()
        .expect("the program starts");
    let reports = json_lines(&output);
    assert_eq!(reports.len(), 5);
    for report in &reports {
        assert!(number(report, "errors") == 0.0 && number(report, "tps") > 20.0, "{report}");
        assert!(report["tls"] == true && report["host"].as_str().expect("seeds").contains(":localhost:"), "{report}");
    }
}

/// A stand-in for the cluster's program writes down what it was started with.
#[cfg(unix)]
#[test]
fn conditions_are_passed_to_the_cluster_that_is_started() {
    use std::os::unix::fs::PermissionsExt;

    let folder = std::env::temp_dir().join(format!("aerolane-bench-smoke-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (program, told) = (folder.join("embedded"), folder.join("told"));
    std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" > {}\n", told.display())).expect("a script");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let conditions = ["--service-time", "read=80us,write=300us", "--in-service", "64", "--latency", "150us"];
    let output = Command::new(BENCH)
        .args(conditions)
        .env("AEROLANE_EMBEDDED", &program)
        .env_remove("AEROSPIKE_HOST")
        .output()
        .expect("the program starts");
    assert!(!output.status.success() && text(&output.stderr).contains("named no seeds"), "{}", text(&output.stderr));
    let told = std::fs::read_to_string(told).expect("what the program was told");
    assert!(told.contains(&conditions.join(" ")), "{told}");
    let _ = std::fs::remove_dir_all(folder);
    let output = bench(&[&["--host", "127.0.0.1:1"], &conditions[..]].concat());
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("--service-time") && said.contains("127.0.0.1:1"), "{said}");
}
