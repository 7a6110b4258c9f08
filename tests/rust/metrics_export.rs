//! Exporters of metrics: when they are called, what happens to those that fail, and what files have in them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Patient, Target, policy};
use aerolane::metrics::{ClusterMetrics, ExportError, MetricsExport, MetricsExporter, MetricsPolicy, MetricsWriter};
use aerolane::{Bins, ErrorKind, ReadPolicy, SyncClient, WritePolicy, as_bin};

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends on what it gets.
struct ToChannel(Sender<ClusterMetrics>);

impl MetricsExporter for ToChannel {
    fn export(&mut self, metrics: &ClusterMetrics) -> Result<(), ExportError> {
        self.0.send(metrics.clone())?;
        Ok(())
    }
}

fn channel() -> (ToChannel, Receiver<ClusterMetrics>) {
    let (sender, receiver) = mpsc::channel();
    (ToChannel(sender), receiver)
}

/// Does what a function says, with the number of the call.
struct Calls<F>(Arc<AtomicU32>, F);

impl<F: FnMut(u32) -> Result<(), ExportError> + Send + 'static> MetricsExporter for Calls<F> {
    fn export(&mut self, _metrics: &ClusterMetrics) -> Result<(), ExportError> {
        let call = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        (self.1)(call)
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn client(target: &Target) -> SyncClient {
    SyncClient::new(&policy(), target.seeds()).unwrap()
}

/// A directory for one test, that is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("aerolane-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// The texts of the files, in the order in which they were begun: `metrics-<second>[-<number>].log`.
    fn files(&self) -> Vec<String> {
        let mut paths: Vec<_> = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort_by_key(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            name.split('-').skip(1).map(|part| part.parse().unwrap()).collect::<Vec<u64>>()
        });
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_exporter_gets_a_snapshot_after_each_interval_and_a_last_one() {
    let target = Target::start();
    let client = client(&target);
    client.enable_metrics(MetricsPolicy::micros().with_operational(true));
    let (exporter, snapshots) = channel();
    let export = client.export_metrics(SHORT, exporter).unwrap();
    for _ in 0..3 {
        let snapshot = snapshots.recv_timeout(PATIENCE).unwrap();
        assert_eq!(snapshot.total_nodes, snapshot.nodes.values().filter(|node| node.is_active).count());
        assert!(snapshot.nodes.values().all(|node| !node.name.is_empty()));
        assert!(snapshot.departed.is_empty() && snapshot.cpu_percent >= 0.0);
    }
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).unwrap();
    assert!(export.finish(PATIENCE));
    let last = snapshots.try_iter().last().unwrap();
    assert_eq!(last.command_count(), 1);
    assert_eq!(last.usage().get("feature.shape.point"), Some(&1));
    // Its thread is gone, and the exporter with it.
    assert!(snapshots.recv_timeout(PATIENCE).is_err());
}

#[test]
fn what_is_dropped_or_closed_exports_no_more() {
    let target = Target::start();
    let client = client(&target);
    let (exporter, snapshots) = channel();
    let export = client.export_metrics(LONG, exporter).unwrap();
    drop(export);
    assert!(matches!(snapshots.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected)));
    let (exporter, snapshots) = channel();
    let export = client.export_metrics(SHORT, exporter).unwrap();
    snapshots.recv_timeout(PATIENCE).unwrap();
    client.close().unwrap();
    until("the thread ends", || matches!(snapshots.try_recv(), Err(mpsc::TryRecvError::Disconnected)));
    assert!(!export.finish(PATIENCE), "a closed client has no last snapshot");
    let error = client.export_metrics(Duration::ZERO, channel().0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "it would never rest: {error}");
}

#[test]
fn three_failures_in_a_row_suspend_and_a_success_resumes() {
    let target = Target::start();
    let client = client(&target);
    let calls = Arc::new(AtomicU32::new(0));
    let moments = Arc::new(Mutex::new(Vec::new()));
    let of_calls = Arc::clone(&moments);
    // The fourth call is the first try after ten intervals; from the fifth on it works.
    let exporter = Calls(Arc::clone(&calls), move |call| {
        of_calls.lock().unwrap().push(Instant::now());
        match call {
            1 => panic!("on purpose"),
            2..=4 => Err("no".into()),
            _ => Ok(()),
        }
    });
    let interval = Duration::from_millis(20);
    let export = client.export_metrics(interval, exporter).unwrap();
    until("three calls", || calls.load(Ordering::SeqCst) >= 3);
    until("it is suspended", || export.is_suspended());
    until("a fourth call", || moments.lock().unwrap().len() >= 4);
    // Nine intervals are left out. They are longer on a busy machine, and never shorter.
    let moments = moments.lock().unwrap().clone();
    let left_out = moments[3] - moments[2];
    assert!(left_out >= interval * 9, "{left_out:?}");
    until("a fifth call", || calls.load(Ordering::SeqCst) >= 5);
    until("it works again", || !export.is_suspended());
    let fifth = calls.load(Ordering::SeqCst);
    until("it is called again", || calls.load(Ordering::SeqCst) >= fifth + 3);
}

#[test]
fn one_that_is_stuck_delays_neither_others_nor_calls_nor_the_end() {
    let target = Target::start();
    let client = client(&target);
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let calls = Arc::new(AtomicU32::new(0));
    let stuck =
        client.export_metrics(SHORT, Calls(Arc::clone(&calls), move |_| Ok(gate.lock().unwrap().recv()?))).unwrap();
    let (exporter, snapshots) = channel();
    let _works = client.export_metrics(SHORT, exporter).unwrap();
    until("it is stuck", || calls.load(Ordering::SeqCst) == 1);
    for n in 0..5 {
        snapshots.recv_timeout(PATIENCE).unwrap();
        client.put(&WritePolicy::patient(), &target.key(n), &[as_bin!("n", n)]).unwrap();
        client.get(&ReadPolicy::patient(), &target.key(n), Bins::All).unwrap();
    }
    let begun = Instant::now();
    assert!(!stuck.finish(Duration::from_millis(50)), "it is still at the first snapshot");
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(calls.load(Ordering::SeqCst), 1, "never two exports at once");
    drop(release);
}

#[test]
fn a_pushed_snapshot_is_exported_while_paused() {
    let target = Target::start();
    let client = client(&target);
    let source = client.clone();
    let (export, mut exports) = MetricsExport::paused("test".into(), move || Some(source.metrics()));
    let (pushed, left) = (client.metrics(), client.metrics());
    export.push(pushed);
    export.push(left);
    assert!(!export.wait_until(Instant::now()), "nobody has taken it");
    // The thread of the exporter: it exports when it is told to, and says whether there was something.
    let ((order, orders), (done, outcomes)) = (mpsc::channel(), mpsc::channel());
    let thread = std::thread::spawn(move || {
        for outcome in orders {
            let taken = exports.next().is_some();
            done.send(taken).unwrap();
            if taken {
                exports.exported(outcome);
            }
        }
    });
    let (works, fails) = (Ok(()), Err("no".to_owned()));
    order.send(works.clone()).unwrap();
    assert!(outcomes.recv_timeout(PATIENCE).unwrap());
    assert!(export.wait_until(Instant::now() + PATIENCE), "the later one took the place of the other");
    export.restart(SHORT).unwrap();
    order.send(fails).unwrap();
    assert!(outcomes.recv_timeout(PATIENCE).unwrap());
    assert!(export.wait_until(Instant::now() + PATIENCE));
    export.push(client.metrics());
    drop(export);
    order.send(works.clone()).unwrap();
    assert!(outcomes.recv_timeout(PATIENCE).unwrap(), "what was pushed before the end is exported");
    order.send(works).unwrap();
    assert!(!outcomes.recv_timeout(PATIENCE).unwrap());
    drop(order);
    thread.join().unwrap();
}

#[test]
fn a_node_that_leaves_is_named_once() {
    let target = Target::start();
    let client = client(&target);
    let first = Mutex::new(client.metrics());
    let gone = first.lock().unwrap().nodes.keys().min().unwrap().clone();
    let leaves = Arc::new(AtomicU32::new(0));
    let (of_source, name) = (Arc::clone(&leaves), gone.clone());
    let source = move || {
        let mut metrics = first.lock().unwrap().clone();
        // The node is there, leaves, comes back and leaves again.
        let active = matches!(of_source.fetch_add(1, Ordering::SeqCst), 0 | 3);
        metrics.nodes.get_mut(&name).unwrap().is_active = active;
        Some(metrics)
    };
    let (export, mut exports) = MetricsExport::paused("test".into(), source);
    export.restart(MetricsExport::LEAST_INTERVAL).unwrap();
    let departed: Vec<_> = (0..6)
        .map(|_| {
            let snapshot = exports.next().unwrap();
            exports.exported(Ok(()));
            snapshot.departed.len()
        })
        .collect();
    assert_eq!(departed, [0, 1, 0, 0, 1, 0]);
}

/// The parts of a line in square brackets, one level deep.
fn fields(line: &str) -> Vec<&str> {
    line.split(['[', ']', ',']).filter(|part| !part.is_empty()).collect()
}

#[test]
fn files_have_a_header_and_a_line_for_each_snapshot() {
    let target = Target::start();
    let client = client(&target);
    let directory = Directory::new("metrics-files");
    let labels = aerolane::metrics::Labels::with_pairs(vec![[("zone".to_owned(), "a\nb".to_owned())].into()]);
    client.enable_metrics(MetricsPolicy { labels, ..MetricsPolicy::millis().with_operational(true) });
    let export = client.export_metrics(LONG, MetricsWriter::new(directory.0.join("below/it"), 0).unwrap()).unwrap();
    client.put(&WritePolicy::patient(), &target.key(1), &[as_bin!("n", 1)]).unwrap();
    client.get(&ReadPolicy::patient(), &target.key(1), Bins::All).unwrap();
    assert!(export.finish(PATIENCE));
    let [file] = &Directory(directory.0.join("below/it")).files()[..] else { panic!("one file") };
    let lines: Vec<_> = file.lines().collect();
    assert_eq!(lines.len(), 2, "{file}");
    assert!(lines[0].contains(" header(5) cluster[cluster_name,client_type,"), "{file}");
    assert!(lines[0].ends_with(" latency(MILLISECONDS,7,1)[type[l1,l2,l3...]]"), "{file}");
    let (time, line) = lines[1].split_once(" cluster[").unwrap();
    assert_eq!(time.len(), "2026-11-23 01:56:58.539".len());
    let metrics = client.metrics();
    let fields = fields(line);
    let at = fields.iter().position(|field| *field == "aerolane").unwrap();
    assert_eq!(fields[at..at + 5], ["aerolane", env!("CARGO_PKG_VERSION"), "not-set", "zone", "a?b"]);
    // cpu, mem, recover_queue_size, nodes_invalid, command_count, four more and retries.
    assert_eq!(fields[at + 9..at + 15], ["2", "0", "0", "0", "0", "0"], "{line}");
    assert!(fields[at + 6].parse::<u64>().unwrap() > 1_000_000 || !cfg!(target_os = "linux"), "{line}");
    for (address, node) in &metrics.nodes {
        let (host, port) = address.rsplit_once(':').unwrap();
        assert!(line.contains(&format!("[{},{host},{port},", node.name)), "{line}");
    }
    // As Aerospike's clients end it, although more brackets are open: 3 if the last node has seen no requests.
    assert!(matches!(line.len() - line.trim_end_matches(']').len(), 3 | 6), "{line}");
    let counts = line.split(",write[").skip(1).map(|rest| rest.split_once(']').unwrap().0);
    let writes: Vec<u64> = counts.flat_map(|counts| counts.split(',')).map(|count| count.parse().unwrap()).collect();
    assert!(writes.len().is_multiple_of(7) && writes.iter().sum::<u64>() == 1, "{line}");
    assert!(line.contains(",[conn["), "{line}");
}

#[test]
fn a_file_that_is_full_or_of_another_shape_is_followed_by_another_one() {
    let target = Target::start();
    let client = client(&target);
    let directory = Directory::new("metrics-rotation");
    let mut writer = MetricsWriter::new(&directory.0, 1_000_000).unwrap();
    let metrics = client.metrics();
    writer.write(&metrics).unwrap();
    let line = directory.files()[0].lines().nth(1).unwrap().len() + 1;
    let lines = 2_100_000 / line;
    for _ in 1..lines {
        writer.write(&metrics).unwrap();
    }
    let files = directory.files();
    assert_eq!(files.len(), 3);
    assert!(files[..2].iter().all(|file| (1_000_000..1_010_000).contains(&file.len())));
    assert_eq!(files.iter().map(|file| file.lines().count() - 1).sum::<usize>(), lines, "no line is lost");
    assert!(files.iter().all(|file| file.lines().next().unwrap().contains("header(5)")));
    client.enable_metrics(MetricsPolicy::micros());
    writer.write(&client.metrics()).unwrap();
    assert!(directory.files()[3].contains("latency(MICROSECONDS,24,1)"));
    writer.close();
    writer.write(&client.metrics()).unwrap();
    assert_eq!(directory.files().len(), 5);
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_the_place() {
    for (directory, limit) in [("", 0), ("x", 999_999), ("x", 1)] {
        let error = MetricsWriter::new(directory, limit).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error}");
    }
    let target = Target::start();
    let metrics = client(&target).metrics();
    let directory = Directory::new("metrics-errors");
    std::fs::create_dir_all(&directory.0).unwrap();
    let blocked = directory.0.join("file");
    std::fs::write(&blocked, "").unwrap();
    let mut writer = MetricsWriter::new(&blocked, 0).unwrap();
    let error = writer.write(&metrics).unwrap_err();
    assert!(error.to_string().contains(&*blocked.to_string_lossy()), "{error}");
    // Once there is room it goes on.
    std::fs::remove_file(&blocked).unwrap();
    writer.write(&metrics).unwrap();
    assert!(Path::new(&blocked).is_dir());
}
