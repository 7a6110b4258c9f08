//! Sends the recorded requests of the golden groups to an embedded cluster and compares the answers.
//!
//! Prints a coverage table, and fails when a group has fewer right answers than `golden_accepted.txt` says, or when an
//! exchange of the groups of collections differs that `OTHERWISE` does not name.
//!
//! * `AEROLANE_GOLDEN_SHOW=record/ttl` lists the failing exchanges of scenarios that begin so (`all`: of all)
//! * `AEROLANE_GOLDEN_GROUPS=record,operate` runs those groups alone
//! * `AEROLANE_GOLDEN_ACCEPT=1` writes the figures reached into `golden_accepted.txt`

mod replay;

use aerolane_embedded::EmbeddedCluster;
use replay::client::Client;
use replay::compare::compare;
use replay::line::{End, Line, read_group};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
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
/// Exchanges of the groups of collections that are answered otherwise, and why.
const OTHERWISE: [(&str, u64, &str); 2] = [
    (
        "list/number-order",
        7,
        "NaN equals every number: its rank is what the steps of the server's selection make of it",
    ),
    (
        "map/persisted-index",
        19,
        "a map ordered by key and value, with a persisted index: only that index makes answers come by rank, and none is kept",
    ),
];
/// The groups in which nothing else may differ.
const COLLECTIONS: [&str; 4] = ["list", "map", "ctx", "operate"];
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

fn accepted_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden_accepted.txt")
}

/// Lines of a group's name and its accepted number of right answers; `#` begins a comment.
fn accepted() -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(accepted_path()).unwrap_or_default();
    let lines = text.lines().map(|line| line.split('#').next().unwrap().trim()).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (group, passed) = line.split_once(' ').expect("a group and a number");
            (group.to_owned(), passed.trim().parse().expect("a number"))
        })
        .collect()
}

#[test]
fn recorded_answers_are_given() {
    let chosen = std::env::var("AEROLANE_GOLDEN_GROUPS").unwrap_or_default();
    let show = std::env::var("AEROLANE_GOLDEN_SHOW").ok();
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
    let report = Mutex::new(String::new());
    let otherwise: Mutex<Vec<(String, u64)>> = Mutex::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(lines) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failures = replay(lines);
                    let group = lines[0].scenario.split('/').next().unwrap().to_owned();
                    if COLLECTIONS.contains(&&*group) {
                        let differing = failures.iter().map(|(at, _)| (lines[*at].scenario.clone(), lines[*at].step));
                        otherwise.lock().unwrap().extend(differing);
                    }
                    let mut counts = counts.lock().unwrap();
                    let count = counts.entry(group).or_default();
                    count.total += lines.len();
                    count.passed += lines.len() - failures.len();
                    drop(counts);
                    let wanted = show.as_deref().is_some_and(|s| s == "all" || lines[0].scenario.starts_with(s));
                    if wanted {
                        let mut report = report.lock().unwrap();
                        for (at, problem) in failures {
                            let Line { scenario, step, note, .. } = &lines[at];
                            writeln!(report, "{scenario} {step}: {note}\n      {problem}").unwrap();
                        }
                    }
                }
            });
        }
    });

    print!("{}", report.into_inner().unwrap());
    let counts = counts.into_inner().unwrap();
    let mut accepted = accepted();
    let mut fallen = Vec::new();
    println!("{:<10} {:>7} {:>7} {:>7}", "group", "right", "of", "accepted");
    for group in &groups {
        let Count { passed, total } = counts[*group];
        let floor = accepted.get(*group).copied().unwrap_or_default();
        println!("{group:<10} {passed:>7} {total:>7} {floor:>7}  {:.1} %", passed as f64 * 100.0 / total as f64);
        if passed < floor {
            fallen.push(format!("{group}: {passed} right answers, {floor} were accepted"));
        }
        accepted.insert((*group).to_owned(), passed.max(floor));
    }
    if std::env::var_os("AEROLANE_GOLDEN_ACCEPT").is_some() {
        let mut text = "# Right answers per golden group; `cargo test` fails when a group falls below.\n".to_owned();
        for (group, passed) in &accepted {
            writeln!(text, "{group} {passed}").unwrap();
        }
        std::fs::write(accepted_path(), text).unwrap();
    }
    assert!(fallen.is_empty(), "{}", fallen.join("\n"));
    for (scenario, step) in otherwise.into_inner().unwrap() {
        let known = OTHERWISE.iter().any(|(known, at, _)| *known == scenario && *at == step);
        assert!(known, "{scenario} {step} is answered otherwise");
    }
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
