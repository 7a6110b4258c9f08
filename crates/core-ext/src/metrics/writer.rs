//! Files of metrics: one line for each snapshot, in the format of Aerospike's clients.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::export::{ExportError, MetricsExporter};
use super::snapshot::{ClusterMetrics, LatencyType, NodeMetricsSnapshot};
use super::{LatencyUnit, local_time};
use crate::error::{Error, Result};

/// The least size limit of a file, in bytes.
const LEAST_LIMIT: u64 = 1_000_000;
/// Files that begin within one second have numbers; there are never so many.
const MOST_NUMBERS: u32 = 10_000;
/// The fields of a line, as programs that read such files expect them in its first line.
const HEADER: &str = "header(5) cluster[cluster_name,client_type,client_version,app_id,labels[],cpu,mem,\
    recover_queue_size,nodes_invalid,command_count,blocking_count,deferred_count,background_count,tran_count,\
    command_retries,nodes[]] labels[name,value] nodes[name,address,port,conns_in_use,conns_in_pool,conns_opened,\
    conns_closed,namespaces[]] namespaces[name,errors,timeouts,key_busy,bytes_in,bytes_out,latency[]]";

/// An exporter that appends a line for each snapshot to a file `metrics-<time>.log`, in a directory which it makes if need be.
///
/// The format is version 5 of the one that Aerospike's clients share: the first line of each file names the fields, and the
/// unit, columns and shift of the latencies. Times are local. A node that has left the cluster is in one more line. The counts
/// of blocking, deferred and background calls and of transactions are 0: this client does not count them apart.
///
/// A new file begins when the size limit is reached, when the latencies have another shape, and after an error.
///
/// ```no_run
/// # use std::time::Duration;
/// # use aerolane::metrics::{MetricsPolicy, MetricsWriter};
/// # fn demo(client: &aerolane::Client) -> aerolane::Result<()> {
/// client.enable_metrics(MetricsPolicy::millis().with_operational(true));
/// let export = client.export_metrics(Duration::from_secs(30), MetricsWriter::new("/var/log/service", 10_000_000)?)?;
/// // ... calls ...
/// export.finish(Duration::from_secs(5));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MetricsWriter {
    directory: PathBuf,
    limit: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    written: u64,
    shape: Shape,
}

/// What the first line of a file says of the latencies: unit, columns, shift.
type Shape = (LatencyUnit, usize, u32);

impl MetricsWriter {
    /// Makes a writer of files in `directory`; the first export opens one. A file of `size_limit` bytes or more is followed by
    /// another one; 0: never.
    ///
    /// # Errors
    /// `InvalidArgument` for a size limit below 1,000,000 that is not 0, and for an empty directory.
    pub fn new(directory: impl AsRef<Path>, size_limit: u64) -> Result<Self> {
        if (1..LEAST_LIMIT).contains(&size_limit) {
            let text = format!(
                "the size limit of a metrics file is {size_limit}: it must be 0 (none) or at least {LEAST_LIMIT}"
            );
            return Err(Error::invalid_argument(text));
        }
        if directory.as_ref().as_os_str().is_empty() {
            return Err(Error::invalid_argument("the directory of metrics files is empty"));
        }
        Ok(Self { directory: directory.as_ref().to_owned(), limit: size_limit, open: None })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// Those of the file system, with the path. The next line begins a new file then.
    pub fn write(&mut self, metrics: &ClusterMetrics) -> io::Result<()> {
        let of = &metrics.cluster_aggregated;
        let shape = (of.latency_unit, of.connection_opening.buckets().len(), of.connection_opening.shift());
        let full = |open: &Open| open.shape != shape || (self.limit > 0 && open.written >= self.limit);
        let mut open = match self.open.take() {
            Some(open) if !full(&open) => open,
            _ => self.begin(shape)?,
        };
        open.append(&line(metrics, shape.1)).map_err(|error| at(&self.directory, &error))?;
        self.open = Some(open);
        Ok(())
    }

    /// Closes the file. The next export begins a new one.
    pub fn close(&mut self) {
        self.open = None;
    }

    fn begin(&self, shape: Shape) -> io::Result<Open> {
        std::fs::create_dir_all(&self.directory).map_err(|error| at(&self.directory, &error))?;
        let now = SystemTime::now();
        let stamp = local_time::compact(now);
        for number in 0..MOST_NUMBERS {
            let suffix = if number == 0 { String::new() } else { format!("-{number}") };
            let path = self.directory.join(format!("metrics-{stamp}{suffix}.log"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(at(&path, &error)),
                Ok(file) => {
                    let mut open = Open { file, written: 0, shape };
                    let unit = match shape.0 {
                        LatencyUnit::Microseconds => "MICROSECONDS",
                        LatencyUnit::Milliseconds => "MILLISECONDS",
                    };
                    let (columns, shift) = (shape.1, shape.2);
                    let latency = format!("latency({unit},{columns},{shift})[type[l1,l2,l3...]]");
                    open.append(&format!("{} {HEADER} {latency}\n", local_time::readable(now)))
                        .map_err(|error| at(&path, &error))?;
                    return Ok(open);
                }
            }
        }
        Err(io::Error::other(format!("{}: {MOST_NUMBERS} metrics files of one second", self.directory.display())))
    }
}

impl MetricsExporter for MetricsWriter {
    fn export(&mut self, metrics: &ClusterMetrics) -> std::result::Result<(), ExportError> {
        self.write(metrics).map_err(Into::into)
    }
}

impl Open {
    fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.written += line.len() as u64;
        Ok(())
    }
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write metrics to {}: {error}", path.display()))
}

/// The line of a snapshot. Its brackets do not match: programs that read such files want them so.
fn line(metrics: &ClusterMetrics, columns: usize) -> String {
    let labels: Vec<_> =
        metrics.user_labels().iter().map(|(name, value)| format!("[{},{}]", plain(name), plain(value))).collect();
    let mut nodes: Vec<_> = metrics.nodes.iter().filter(|(_, node)| node.is_active).collect();
    nodes.sort_by_key(|(address, _)| *address);
    nodes.extend(metrics.departed.iter().filter_map(|address| metrics.nodes.get_key_value(address)));
    let nodes: Vec<_> = nodes.into_iter().map(|(address, of)| node(address, of, columns)).collect();
    format!(
        "{} cluster[{},{},{},{},[{}],{},{},{},{},{},0,0,0,0,{},[{}]\n",
        local_time::readable(metrics.taken_at.max(UNIX_EPOCH)),
        plain(metrics.label("cluster").unwrap_or_default()),
        ClusterMetrics::CLIENT_TYPE,
        env!("CARGO_PKG_VERSION"),
        plain(metrics.label("app_id").unwrap_or(ClusterMetrics::NO_APP_ID)),
        labels.join(","),
        metrics.cpu_percent,
        metrics.memory_bytes,
        metrics.recover_queue_size,
        metrics.nodes_invalid,
        metrics.command_count(),
        metrics.cluster_aggregated.counters.transaction_retry_count,
        nodes.join(",")
    )
}

fn node(address: &str, node: &NodeMetricsSnapshot, columns: usize) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let counters = &node.counters;
    let mut text = format!(
        "[{},{host},{port},{},{},{},{},[",
        plain(&node.name),
        counters.connections_in_use,
        counters.connections_in_pool,
        counters.connections_successful,
        counters.connections_closed
    );
    for (index, name) in node.detailed_namespaces().into_iter().enumerate() {
        let of = node.namespace_summary(name);
        let separator = if index == 0 { "" } else { ",[" };
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "{separator}{},{},{},{},{},{},[",
            plain(name),
            of.errors,
            of.timeouts,
            of.key_busy,
            of.bytes_in,
            of.bytes_out
        );
        for (index, kind) in LatencyType::ALL.into_iter().enumerate() {
            let empty = vec![0; columns];
            let buckets = of.latency.iter().find(|(of, _)| *of == kind).map_or(&empty, |(_, buckets)| buckets);
            let buckets: Vec<_> = buckets.iter().map(u64::to_string).collect();
            let separator = if index == 0 { "" } else { "," };
            let _ = write!(text, "{separator}{}[{}]", kind.as_str(), buckets.join(","));
        }
        text.push_str("]]");
    }
    text.push_str("]]");
    text
}

/// A text that ends no line: the format has no way to quote.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "?")
}
