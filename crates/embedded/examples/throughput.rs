//! How fast the embedded cluster is: pipelined reads and writes over loopback, with the CPU time that the service
//! threads spend per operation.
//!
//! `cargo run --release --example throughput -p aerolane-embedded -- [seconds] [service threads] [connections] [depth] [read percent] [nodes]`
//!
//! With several nodes records have two copies, and requests go to the masters.
//!
//! The clients run in this process and cost CPU themselves, so operations per second are bounded by the machine; the
//! figure to look at is "operations per second and core", 1 / (CPU time of the service threads per operation).

use aerolane_embedded::{EmbeddedCluster, NodeId};
use aerolane_wire::digest::{digest_integer, partition_id};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::Particle;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const KEYS: u64 = 100_000;
const SET: &[u8] = b"demo";

struct Settings {
    seconds: u64,
    threads: usize,
    connections: usize,
    depth: usize,
    read_percent: u64,
    nodes: usize,
}

fn settings() -> Result<Settings, std::num::ParseIntError> {
    let args: Vec<u64> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let get = |at: usize, default: u64| args.get(at).copied().unwrap_or(default);
    Ok(Settings {
        seconds: get(0, 5),
        threads: get(1, 1) as usize,
        connections: get(2, 4) as usize,
        depth: get(3, 32).max(1) as usize,
        read_percent: get(4, 50),
        nodes: get(5, 1).max(1) as usize,
    })
}

fn request(out: &mut Vec<u8>, key: u64, read: bool) {
    let digest = digest_integer(SET, key as i64);
    let header = if read {
        MessageHeader { info1: info1::READ | info1::GET_ALL, transaction_ttl: 1000, ..MessageHeader::default() }
    } else {
        MessageHeader { info2: info2::WRITE, transaction_ttl: 1000, ..MessageHeader::default() }
    };
    let mut message = MessageWriter::frame(out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, SET);
    message.field(field::DIGEST, &digest);
    if !read {
        message.op(op::WRITE, b"value", Particle::Integer(key as i64)).expect("a short name");
    }
    message.finish().expect("a small message");
}

/// The keys whose records a node masters.
fn mastered(cluster: &EmbeddedCluster, node: NodeId) -> Vec<u64> {
    let master = |key: &u64| cluster.master(partition_id(&digest_integer(SET, *key as i64)));
    (0..KEYS).filter(|key| master(key) == Some(node)).collect()
}

/// Sends bursts of `depth` requests and waits for their answers. Bursts are built beforehand, so that the client costs
/// as little as it can.
fn client(
    address: SocketAddr,
    keys: &[u64],
    settings: &Settings,
    seed: u64,
    stop: &AtomicBool,
    done: &AtomicU64,
) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let bursts: Vec<Vec<u8>> = (0..2000)
        .map(|_| {
            let mut burst = Vec::new();
            for _ in 0..settings.depth {
                let key = keys[random() as usize % keys.len()];
                request(&mut burst, key, random() % 100 < settings.read_percent);
            }
            burst
        })
        .collect();
    let mut buffer = vec![0; 256 * 1024];
    for burst in bursts.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        stream.write_all(burst)?;
        let (mut filled, mut at, mut answers) = (0, 0, 0);
        while answers < settings.depth {
            let n = stream.read(&mut buffer[filled..])?;
            if n == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            filled += n;
            while filled - at >= 8 {
                let size =
                    8 + u32::from_be_bytes([buffer[at + 4], buffer[at + 5], buffer[at + 6], buffer[at + 7]]) as usize;
                if filled - at < size {
                    break;
                }
                assert_eq!(buffer[at + 8 + 5], 0, "a result code");
                at += size;
                answers += 1;
            }
        }
        done.fetch_add(settings.depth as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// CPU time of the service threads, from Linux's scheduler statistics (nanoseconds); zero elsewhere.
fn service_cpu() -> Duration {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let nanoseconds = tasks
        .flatten()
        .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|c| c.starts_with("aerolane-svc")))
        .filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        })
        .sum();
    Duration::from_nanos(nanoseconds)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = settings()?;
    let builder = EmbeddedCluster::builder().nodes(settings.nodes).namespace("test");
    let cluster = builder.service_threads(settings.threads).start()?;
    let nodes: Vec<_> = cluster.nodes().iter().map(|node| (node.address, mastered(&cluster, node.id))).collect();
    load(nodes[0].0)?;

    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for i in 0..settings.connections {
            let (settings, stop, done) = (&settings, &stop, &done);
            let (address, keys) = &nodes[i % nodes.len()];
            scope.spawn(move || {
                if let Err(error) = client(*address, keys, settings, i as u64 + 1, stop, done) {
                    eprintln!("client {i}: {error}");
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let (cpu, ops, start) = (service_cpu(), done.load(Ordering::Relaxed), Instant::now());
        std::thread::sleep(Duration::from_secs(settings.seconds));
        let elapsed = start.elapsed().as_secs_f64();
        let cpu = service_cpu().saturating_sub(cpu).as_secs_f64();
        let ops = (done.load(Ordering::Relaxed) - ops) as f64;
        stop.store(true, Ordering::Relaxed);
        println!(
            "{} nodes, {} service threads, {} connections, {} deep, {} % reads: {:.0} ops/s, server {:.3} us CPU/op, {:.0} ops/s and core",
            settings.nodes,
            settings.threads,
            settings.connections,
            settings.depth,
            settings.read_percent,
            ops / elapsed,
            cpu * 1e6 / ops,
            ops / cpu
        );
    });
    Ok(())
}

fn load(address: SocketAddr) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let mut answer = [0; 30];
    for key in 0..KEYS {
        let mut bytes = Vec::new();
        request(&mut bytes, key, false);
        stream.write_all(&bytes)?;
        if key % 100 == 99 {
            for _ in 0..100 {
                stream.read_exact(&mut answer)?;
            }
        }
    }
    Ok(())
}
