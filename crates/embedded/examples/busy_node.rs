//! What scripts of a second on all threads of a node do to the others: how long other nodes take to answer a write, and this
//! one an info request, without scripts and with them.
//!
//! `cargo run --release --example busy_node -p aerolane-embedded -- [seconds]`, by default 5.
//!
//! Scripts take processor time as on a real server, so the machine needs a core or two that they leave alone; the third
//! figures are those of scripts that only wait (service times of a second).

use aerolane_embedded::conditions::Conditions;
use aerolane_embedded::{EmbeddedCluster, NodeInfo};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info2, op};
use aerolane_wire::particle::Particle;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Scripts at a time: as many run as a node has threads, and the others wait.
const SCRIPTS: u8 = 8;

/// Ended by the node after a second of processor time.
const MODULE: &str = "function forever(rec) while true do end end\nfunction short(rec) return 1 end\n";

/// A connection that asks one thing at a time.
struct Asked(TcpStream);

impl Asked {
    fn connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    fn ask(&mut self, request: &[u8]) -> std::io::Result<()> {
        self.0.write_all(request)?;
        let mut head = [0; 8];
        self.0.read_exact(&mut head)?;
        let size = u64::from_be_bytes(head) & 0xffff_ffff_ffff;
        self.0.read_exact(&mut vec![0; size as usize])
    }
}

fn info(command: &str) -> Vec<u8> {
    let size = command.len() as u64 + 1;
    [&(0x0201_u64 << 48 | size).to_be_bytes()[..], command.as_bytes(), b"\n"].concat()
}

fn message(pid: u16, n: u8, fill: impl FnOnce(&mut MessageWriter<'_>)) -> Vec<u8> {
    let mut digest = [n; 20];
    digest[..2].copy_from_slice(&pid.to_le_bytes());
    let mut out = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest);
    fill(&mut message);
    message.finish().expect("a small message");
    out
}

fn call(pid: u16, n: u8, function: &str) -> Vec<u8> {
    message(pid, n, |message| {
        message.field(field::UDF_PACKAGE, b"m");
        message.field(field::UDF_FUNCTION, function.as_bytes());
        message.field(field::UDF_ARGUMENTS, &[0x90]);
    })
}

/// How long each of these requests took, one after the other, in a given time.
fn times(address: SocketAddr, request: &[u8], time: Duration) -> std::io::Result<Vec<Duration>> {
    let mut asked = Asked::connect(address)?;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        let sent = Instant::now();
        asked.ask(request)?;
        times.push(sent.elapsed());
        // Not as fast as it goes: that would take a core.
        std::thread::sleep(Duration::from_micros(200));
    }
    times.sort_unstable();
    Ok(times)
}

fn measure(cluster: &EmbeddedCluster, [busy, other]: [NodeInfo; 2], time: Duration) -> std::io::Result<String> {
    let mastered = |node: NodeInfo| (0..4096).find(|pid| cluster.master(*pid) == Some(node.id)).unwrap_or_default();
    let write = message(mastered(other), 1, |message| {
        message.op(op::WRITE, b"i", Particle::Integer(1)).expect("a short name");
    });
    let status = info("status");
    std::thread::scope(|scope| {
        let infos = scope.spawn(|| times(busy.address, &status, time));
        let writes = times(other.address, &write, time)?;
        let infos = infos.join().expect("no panic")?;
        let show = |times: &[Duration]| {
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            format!("p50 {:?} p99 {:?} most {:?}", at(0.5), at(0.99), at(1.0))
        };
        Ok(format!("writes on the other node {}; infos on this one {}", show(&writes), show(&infos)))
    })
}

/// Measures while scripts run on a node.
fn with_scripts(
    cluster: &EmbeddedCluster,
    nodes: [NodeInfo; 2],
    time: Duration,
    function: &str,
) -> std::io::Result<String> {
    let pid = (0..4096).find(|pid| cluster.master(*pid) == Some(nodes[0].id)).unwrap_or_default();
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for n in 0..SCRIPTS {
            let (stop, calls) = (&stop, &calls);
            scope.spawn(move || -> std::io::Result<()> {
                let mut asked = Asked::connect(nodes[0].address)?;
                while !stop.load(Ordering::Relaxed) {
                    asked.ask(&call(pid, n, function))?;
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        let measured = measure(cluster, nodes, time);
        stop.store(true, Ordering::Relaxed);
        measured.map(|text| format!("{text}; {} scripts ended meanwhile", calls.load(Ordering::Relaxed)))
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: u64 = std::env::args().nth(1).as_deref().unwrap_or("5").parse()?;
    let time = Duration::from_secs(seconds);
    let cluster = EmbeddedCluster::builder().nodes(2).service_threads(1).start()?;
    let nodes = [cluster.nodes()[0], cluster.nodes()[1]];
    let content = BASE64.encode(MODULE);
    let put = format!("udf-put:filename=m.lua;content={content};content-len={};udf-type=LUA;", content.len());
    Asked::connect(nodes[0].address)?.ask(&info(&put))?;
    println!("no scripts: {}", measure(&cluster, nodes, time)?);
    println!("scripts that work for a second: {}", with_scripts(&cluster, nodes, time, "forever")?);
    let slow: Conditions = "service-time=udf=1s".parse()?;
    cluster.set_conditions(Some(nodes[0].id), &slow)?;
    println!("scripts that wait for a second: {}", with_scripts(&cluster, nodes, time, "short")?);
    Ok(())
}
