//! Exporters of what a writer counts: when they are called, and what those cost that fail or block.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Target, policy};
use aerolane::metrics::{ExportError, MetricsExporter};
use aerolane::writer::{JsonLines, LatestMetrics, LogExporter, WriterMetrics};
use aerolane::{ErrorKind, SyncClient, SyncWriter, WritePolicy, WriterOptions, as_bin};

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(60);

struct ToChannel(Sender<WriterMetrics>);

impl MetricsExporter<WriterMetrics> for ToChannel {
    fn export(&mut self, metrics: &WriterMetrics) -> Result<(), ExportError> {
        self.0.send(metrics.clone())?;
        Ok(())
    }
}

/// Says that it has been called, and fails, or panics every other time.
struct Failing(Sender<()>, bool);

impl MetricsExporter<WriterMetrics> for Failing {
    fn export(&mut self, _: &WriterMetrics) -> Result<(), ExportError> {
        self.0.send(())?;
        self.1 = !self.1;
        assert!(self.1, "on purpose");
        Err("on purpose".into())
    }
}

/// Says that it has been called, and blocks until the other side is gone.
struct Blocking(Sender<()>, Receiver<()>);

impl MetricsExporter<WriterMetrics> for Blocking {
    fn export(&mut self, _: &WriterMetrics) -> Result<(), ExportError> {
        self.0.send(())?;
        let _ = self.1.recv();
        Ok(())
    }
}

fn writer(target: &Target) -> (SyncClient, SyncWriter) {
    let client = SyncClient::new(&policy(), target.seeds()).unwrap();
    let patient = WriterOptions { attempt_timeout: PATIENCE, record_ttl: PATIENCE, ..WriterOptions::default() };
    let writer = client.writer(patient).unwrap();
    (client, writer)
}

fn write(target: &Target, writer: &SyncWriter, count: i64) {
    let outcomes: Vec<_> =
        (0..count).map(|n| writer.put(&WritePolicy::default(), &target.key(n), &[as_bin!("n", n)]).unwrap()).collect();
    writer.flush().unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.delivery().is_some_and(|delivery| delivery.result().is_ok())));
}

#[test]
fn snapshots_come_after_each_interval_and_a_last_one_at_the_end() {
    let target = Target::start();
    let (_client, writer) = writer(&target);
    let (sender, snapshots) = mpsc::channel();
    let export = writer.export_metrics(SHORT, ToChannel(sender)).unwrap();
    for _ in 0..3 {
        assert_eq!(snapshots.recv_timeout(PATIENCE).unwrap().progress.handed_over, 0);
    }
    write(&target, &writer, 100);
    assert!(writer.close(None).unwrap().is_empty());
    assert!(export.finish(PATIENCE));
    let last = snapshots.try_iter().last().unwrap();
    assert_eq!((last.progress.ok, last.progress.outstanding), (100, 0));
    assert_eq!(last.nodes.iter().map(|node| node.records).sum::<u64>(), 100);
    // Its thread is gone, and the exporter with it.
    assert!(matches!(snapshots.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected)));
    let error = writer.export_metrics(Duration::ZERO, LogExporter::new("load")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error}");
}

#[test]
fn an_export_does_not_keep_its_writer() {
    let target = Target::start();
    let (_client, writer) = writer(&target);
    let (sender, snapshots) = mpsc::channel();
    let export = writer.export_metrics(SHORT, ToChannel(sender)).unwrap();
    snapshots.recv_timeout(PATIENCE).unwrap();
    drop(writer);
    let deadline = Instant::now() + PATIENCE;
    while snapshots.recv_timeout(PATIENCE).is_ok() {
        assert!(Instant::now() < deadline, "snapshots still come");
    }
    assert!(!export.finish(PATIENCE), "there is no last snapshot");
}

#[test]
fn exporters_that_fail_or_block_cost_no_record() {
    let target = Target::start();
    let (_client, writer) = writer(&target);
    let (called, calls) = mpsc::channel();
    let failing = writer.export_metrics(SHORT, Failing(called, false)).unwrap();
    for _ in 0..4 {
        calls.recv_timeout(PATIENCE).unwrap();
    }
    assert!(failing.is_suspended());
    let (called, calls) = mpsc::channel();
    let (release, until) = mpsc::channel();
    let blocking = writer.export_metrics(SHORT, Blocking(called, until)).unwrap();
    calls.recv_timeout(PATIENCE).unwrap();
    write(&target, &writer, 1000);
    assert!(writer.close(None).unwrap().is_empty());
    assert_eq!(writer.progress().ok, 1000);
    assert!(!blocking.finish(SHORT), "it is still at the first one");
    drop(release);
}

/// A file of which the test has the text.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn exporters_have_each_snapshot() {
    let target = Target::start();
    let (_client, writer) = writer(&target);
    let kept = Kept::default();
    let export = writer.export_metrics(LONG, JsonLines::new(kept.clone())).unwrap();
    let latest = LatestMetrics::default();
    let keeps = writer.export_metrics(LONG, latest.clone()).unwrap();
    assert!(latest.get().is_none());
    let log = writer.export_metrics(LONG, LogExporter::new("load")).unwrap();
    write(&target, &writer, 10);
    writer.close(None).unwrap();
    assert!(export.finish(PATIENCE) && log.finish(PATIENCE) && keeps.finish(PATIENCE));
    assert_eq!(latest.get().map(|metrics| metrics.progress.ok), Some(10));
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert_eq!(lines[0]["ok"], 10);
    assert!(writer.metrics().to_prometheus(&[("job", "load")]).contains("aerolane_writer_ok_total{job=\"load\"} 10\n"));
}
