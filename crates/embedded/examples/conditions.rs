//! How exact conditions are: the round trip of one connection, one request at a time, without and with them.
//!
//! `cargo run --release --example conditions -p aerolane-embedded -- [conditions] [requests]`, by default
//! `service-time=80us` and 20,000.

use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::conditions::Conditions;
use aerolane_wire::digest::digest_integer;
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let conditions: Conditions = arguments.next().as_deref().unwrap_or("service-time=80us").parse()?;
    let requests: usize = arguments.next().as_deref().unwrap_or("20000").parse()?;
    let cluster = EmbeddedCluster::builder().start()?;
    let mut stream = TcpStream::connect(cluster.nodes()[0].address)?;
    stream.set_nodelay(true)?;
    for conditions in [Conditions::new(), conditions] {
        cluster.set_conditions(None, &conditions)?;
        println!("{conditions}");
        let mut times = Vec::with_capacity(requests);
        for _ in 0..requests {
            times.push(round(&mut stream, 1)?);
        }
        times.sort_unstable();
        let mean = times.iter().sum::<Duration>() / requests as u32;
        let at = |share: f64| times[((requests - 1) as f64 * share) as usize];
        println!("  round trip: mean {mean:.1?}, p50 {:.1?}, p99 {:.1?}, least {:.1?}", at(0.5), at(0.99), at(0.0));
        let whole = round(&mut stream, 1000)?;
        println!("  1000 requests sent together: {:.1?} each", whole / 1000);
    }
    Ok(())
}

/// Sends requests for a record that is not there, and waits for all answers.
fn round(stream: &mut TcpStream, requests: usize) -> std::io::Result<Duration> {
    let mut request = Vec::new();
    let header = MessageHeader { info1: info1::READ | info1::GET_ALL, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut request, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest_integer(b"", 1));
    message.finish().expect("a small message");
    let request = request.repeat(requests);
    // Each answer is a header and nothing else.
    let mut answers = vec![0; 30 * requests];
    let start = Instant::now();
    stream.write_all(&request)?;
    stream.read_exact(&mut answers)?;
    Ok(start.elapsed())
}
