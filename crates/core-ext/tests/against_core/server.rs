//! A server that answers aerospike-core's information requests well enough to be taken for a node, keeps every
//! message that it is sent, and answers what it is told to.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// "OK", and the last message of the answer, which only matters to batches.
fn ok() -> Vec<u8> {
    let mut frame = vec![0; 30];
    (frame[0], frame[1], frame[7], frame[8], frame[11]) = (2, 3, 22, 22, 1);
    frame
}

fn info(request: &str, port: u16) -> String {
    let mut text = String::new();
    for command in request.lines() {
        let value = match command {
            "node" => "A1".to_owned(),
            "cluster-name" => "null".to_owned(),
            "build" => "8.1.2.0".to_owned(),
            "partition-generation" | "peers-generation" | "rebalance-generation" => "1".to_owned(),
            // One replica, all 4096 partitions: 512 bytes of ones in base 64.
            "replicas" => format!("test:0,1,{}8=", "/".repeat(682)),
            command if command.starts_with("service-") => format!("127.0.0.1:{port}"),
            command if command.starts_with("peers-") => "1,3000,[]".to_owned(),
            _ => "ok".to_owned(),
        };
        let _ = writeln!(text, "{command}\t{value}");
    }
    text
}

fn serve(mut stream: TcpStream, port: u16, recorded: &Sender<Vec<u8>>, answer: &Mutex<Vec<u8>>) -> std::io::Result<()> {
    loop {
        let mut frame = vec![0; 8];
        stream.read_exact(&mut frame)?;
        let size = u64::from_be_bytes(frame[..8].try_into().unwrap()) as usize & 0xffff_ffff_ffff;
        frame.resize(8 + size, 0);
        stream.read_exact(&mut frame[8..])?;
        if frame[1] == 1 {
            let text = info(std::str::from_utf8(&frame[8..]).unwrap(), port);
            let mut reply = (text.len() as u64).to_be_bytes();
            (reply[0], reply[1]) = (2, 1);
            stream.write_all(&reply)?;
            stream.write_all(text.as_bytes())?;
        } else {
            // The test may be over already.
            let _ = recorded.send(frame);
            let reply = answer.lock().unwrap().clone();
            stream.write_all(&reply)?;
        }
    }
}

/// A running server.
pub(crate) struct Server {
    /// Its address.
    pub(crate) seed: String,
    /// Every message that came, as a whole frame.
    pub(crate) requests: Receiver<Vec<u8>>,
    /// What the next message is answered with.
    pub(crate) answer: Arc<Mutex<Vec<u8>>>,
}

impl Server {
    /// Starts a server that answers "OK" until it is told otherwise.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        let answer = Arc::new(Mutex::new(ok()));
        let shared = Arc::clone(&answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (sender, answer) = (sender.clone(), Arc::clone(&shared));
                // A connection ends when the client closes it.
                std::thread::spawn(move || drop(serve(stream, port, &sender, &answer)));
            }
        });
        Self { seed: format!("127.0.0.1:{port}"), requests, answer }
    }
}
