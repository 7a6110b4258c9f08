//! A scrape endpoint for programs that have no HTTP server of their own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::ClusterMetrics;
use crate::logging::event;

/// The most bytes of a request that are read.
const REQUEST_LIMIT: u64 = 8192;
/// The most time that a scraper may take to send its request, or to take a part of the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers `GET /metrics` with text for Prometheus, on a thread of its own, until it is dropped.
///
/// It is for programs without an HTTP server, and knows no TLS and no authentication: bind it to an address that only the
/// scraper reaches. A program with an HTTP server gives the text on a route of its own, with
/// [`ClusterMetrics::to_prometheus`].
///
/// ```no_run
/// # use aerolane::*;
/// # use aerolane::metrics::PrometheusEndpoint;
/// # fn demo(client: &SyncClient) -> std::io::Result<()> {
/// let of = client.clone();
/// let endpoint = PrometheusEndpoint::bind("127.0.0.1:9464", move || of.metrics().to_prometheus(&[]))?;
/// println!("http://{}/metrics", endpoint.local_addr());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PrometheusEndpoint {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PrometheusEndpoint {
    /// Listens on this address (port 0: any free one). `text` is called for each scrape, on the endpoint's thread; it may join
    /// the texts of several clients and writers.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no thread to be had.
    pub fn bind(address: impl ToSocketAddrs, text: impl Fn() -> String + Send + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let ended = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&ended);
        let work = move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                if let Err(error) = stream.and_then(|stream| answer(&stream, &text)) {
                    event!(debug, "a scrape was not answered", error = error);
                }
            }
        };
        let thread = std::thread::Builder::new().name("aerolane-scrape".to_owned()).spawn(work)?;
        Ok(Self { address, ended, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PrometheusEndpoint {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // Wakes the thread. If that fails, it ends with the next scrape.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Reads one request and answers it. One at a time: a scraper comes every few seconds.
fn answer(stream: &TcpStream, text: &dyn Fn() -> String) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = BufReader::new(stream.take(REQUEST_LIMIT));
    let mut first = String::new();
    request.read_line(&mut first)?;
    let mut line = first.clone();
    // The rest is read, so that closing the connection does not reset it before the answer is taken.
    while !line.trim_end().is_empty() {
        line.clear();
        request.read_line(&mut line)?;
    }
    let mut words = first.split_ascii_whitespace();
    let (status, kind, body) = match (words.next(), words.next()) {
        (Some("GET" | "HEAD"), Some(path)) if path.split('?').next() == Some("/metrics") => {
            ("200 OK", ClusterMetrics::PROMETHEUS_CONTENT_TYPE, text())
        }
        (Some("GET" | "HEAD"), Some(_)) => ("404 Not Found", "text/plain", "the metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET\n".to_owned()),
    };
    let body = if first.starts_with("HEAD") { "" } else { &*body };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
