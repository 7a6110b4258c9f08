//! Sends the recorded requests of the golden groups to an embedded cluster and compares the answers.
//!
//! Prints a coverage table, and fails when one exchange is answered otherwise.
//!
//! * `AEROLANE_GOLDEN_GROUPS=record,operate` runs those groups alone

mod replay;
mod shown;

use aerolane_embedded::EmbeddedCluster;
use replay::client::Client;
use replay::compare::compare;
use replay::line::{End, Line, read_group};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// All groups but `crashes`, which has a test of its own.
const GROUPS: [&str; 18] = [
    "connect",
    "info",
    "record",
    "operate",
    "list",
    "map",
    "ctx",
    "bits",
    "hll",
    "exp",
    "strings",
    "batch",
    "scan",
    "query",
    "udf",
    "malformed",
    "security",
    "rust",
];
/// Scenarios replayed at a time: most of their time goes into waiting.
const WORKERS: usize = 8;
/// Where a frame has the result code of its message.
const RESULT_CODE: usize = 8 + 5;
/// All exchanges of the groups above. Fewer means that something is skipped.
const EXCHANGES: usize = 15_253;
/// Differences that are shown in full.
const SHOWN: usize = 40;
const EPOCH_2010: u64 = 1_262_304_000;

#[derive(Default, Clone, Copy)]
struct Count {
    passed: usize,
    total: usize,
}

fn now() -> i64 {
    (SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - EPOCH_2010) as i64
}

/// A node like the recorded one.
fn start() -> EmbeddedCluster {
    EmbeddedCluster::builder()
        .nodes(1)
        .namespace("test")
        .cluster_name("golden")
        .first_node_id(0xa1)
        .service_threads(1)
        .start()
        .unwrap()
}

/// Replays one scenario on a cluster of its own; gives what failed.
fn replay(lines: &[Line]) -> Vec<(usize, String)> {
    let cluster = start();
    let mut client = Client::new(cluster.nodes()[0].address);
    let mut failures = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let compared = client.exchange(line).and_then(|answer| match line.end {
            End::Later | End::None => Ok(()),
            _ => compare(line, &answer, now()),
        });
        if let Err(problem) = compared {
            failures.push((at, problem));
        }
    }
    failures
}

#[test]
fn recorded_answers_are_given() {
    let chosen = std::env::var("AEROLANE_GOLDEN_GROUPS").unwrap_or_default();
    let groups: Vec<&str> =
        GROUPS.into_iter().filter(|group| chosen.is_empty() || chosen.split(',').any(|c| c == *group)).collect();

    let mut scenarios: Vec<Vec<Line>> = Vec::new();
    for group in &groups {
        for line in read_group(group) {
            match scenarios.last_mut() {
                Some(lines) if lines[0].scenario == line.scenario => lines.push(line),
                _ => scenarios.push(vec![line]),
            }
        }
    }
    // Those that wait longest begin first.
    scenarios.sort_by_key(|lines| std::cmp::Reverse(lines.iter().map(|line| line.delay_ms).sum::<u64>()));

    let counts: Mutex<BTreeMap<String, Count>> = Mutex::default();
    let otherwise: Mutex<Vec<String>> = Mutex::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(lines) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failures = replay(lines);
                    let group = lines[0].scenario.split('/').next().unwrap().to_owned();
                    let mut counts = counts.lock().unwrap();
                    let count = counts.entry(group).or_default();
                    count.total += lines.len();
                    count.passed += lines.len() - failures.len();
                    drop(counts);
                    otherwise.lock().unwrap().extend(failures.into_iter().map(|(at, problem)| {
                        let Line { scenario, step, note, .. } = &lines[at];
                        format!("{scenario} {step}: {note}\n      {problem}")
                    }));
                }
            });
        }
    });

    let counts = counts.into_inner().unwrap();
    println!("{:<10} {:>7} {:>7}", "group", "right", "of");
    for group in &groups {
        let Count { passed, total } = counts[*group];
        println!("{group:<10} {passed:>7} {total:>7}  {:.1} %", passed as f64 * 100.0 / total as f64);
    }
    let otherwise = otherwise.into_inner().unwrap();
    let shown = &otherwise[..otherwise.len().min(SHOWN)];
    assert!(otherwise.is_empty(), "{} are answered otherwise:\n{}", otherwise.len(), shown.join("\n"));
    let total: usize = counts.values().map(|count| count.total).sum();
    assert!(!chosen.is_empty() || total == EXCHANGES, "{total} exchanges");
}

/// The recorded server dies of these requests. Here they are answered, those on collections by an error.
#[test]
fn deadly_requests_are_refused() {
    let cluster = start();
    let mut client = Client::new(cluster.nodes()[0].address);
    let mut deadly = 0;
    for mut line in read_group("crashes") {
        line.end = End::Frames(1);
        let Line { scenario, step, compare: how, .. } = &line;
        let answer = client.exchange(&line).unwrap_or_else(|problem| panic!("{scenario} {step}: {problem}"));
        if how == "crash" {
            deadly += 1;
            // Divisions may have a result.
            assert!(answer[RESULT_CODE] != 0 || scenario.contains("/expression-"), "{scenario} {step}");
        } else {
            compare(&line, &answer, now()).unwrap_or_else(|problem| panic!("{scenario} {step}: {problem}"));
        }
    }
    assert_eq!(deadly, 27);
}
