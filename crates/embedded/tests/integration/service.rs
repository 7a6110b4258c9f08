//! The service under clients that behave badly, under faults, and when it stops.

use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_wire::digest::digest_integer;
use aerolane_wire::message::{Message, MessageHeader, MessageWriter, field, info1, info2, op};
use aerolane_wire::particle::Particle;
use aerolane_wire::proto::{FrameDecoder, MAX_BODY_SIZE};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// Long enough for a busy machine to do the rest meanwhile.
const DELAY: Duration = Duration::from_secs(4);

fn cluster() -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(1).namespace("test").service_threads(1).start().unwrap()
}

struct Client {
    stream: TcpStream,
    decoder: FrameDecoder,
}

/// Result code, and the integer of the first bin.
type Answer = (u8, Option<i64>);

impl Client {
    fn connect(cluster: &EmbeddedCluster) -> Self {
        let stream = TcpStream::connect(cluster.nodes()[0].address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(60 * SECOND)).unwrap();
        Self { stream, decoder: FrameDecoder::new(MAX_BODY_SIZE) }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn answer(&mut self) -> std::io::Result<Answer> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                let message = Message::decode(frame.body).unwrap();
                let value = message.ops().next().map(|op| i64::from_be_bytes(op.value.try_into().unwrap()));
                return Ok((message.header.result_code, value));
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                n => self.decoder.extend(&buffer[..n]),
            }
        }
    }

    fn put(&mut self, key: i64, value: i64) -> std::io::Result<Answer> {
        self.send(&put(key, value));
        self.answer()
    }

    fn get(&mut self, key: i64) -> std::io::Result<Answer> {
        self.send(&get(key));
        self.answer()
    }
}

fn message(header: &MessageHeader, key: i64, value: Option<Particle<'_>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageWriter::frame(&mut bytes, header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::DIGEST, &digest_integer(b"", key));
    if let Some(value) = value {
        message.op(op::WRITE, b"b", value).unwrap();
    }
    message.finish().unwrap();
    bytes
}

fn put(key: i64, value: i64) -> Vec<u8> {
    message(&MessageHeader { info2: info2::WRITE, ..MessageHeader::default() }, key, Some(Particle::Integer(value)))
}

fn get(key: i64) -> Vec<u8> {
    message(&MessageHeader { info1: info1::READ | info1::GET_ALL, ..MessageHeader::default() }, key, None)
}

#[test]
fn pipelined_requests_are_answered_in_order_however_they_are_cut() {
    let cluster = cluster();
    let requests: Vec<u8> = (0..300).flat_map(|key| [put(key, key * 7), get(key)].concat()).collect();
    for piece in [1, 7, 64, 1000, requests.len()] {
        let mut client = Client::connect(&cluster);
        let mut writer = client.stream.try_clone().unwrap();
        let sent = requests.clone();
        let sender = std::thread::spawn(move || {
            for chunk in sent.chunks(piece) {
                writer.write_all(chunk).unwrap();
            }
        });
        for key in 0..300 {
            assert_eq!(client.answer().unwrap(), (0, None));
            assert_eq!(client.answer().unwrap(), (0, Some(key * 7)));
        }
        sender.join().unwrap();
    }
}

#[test]
fn a_client_that_does_not_read_holds_back_itself_only() {
    let cluster = cluster();
    let mut greedy = Client::connect(&cluster);
    let text = vec![b'x'; 500_000];
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    greedy.send(&message(&header, 1, Some(Particle::Blob(&text))));
    let mut answer = [0; 30];
    greedy.stream.read_exact(&mut answer).unwrap();
    // Answers of 1 GB are asked for and not read: the server has to stop taking requests instead of piling them up.
    let request = get(1);
    let burst: Vec<u8> = request.repeat(2000);
    greedy.stream.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + 60 * SECOND;
    let (mut sent, mut blocked) = (0, 0);
    while blocked < 20 {
        assert!(Instant::now() < deadline && sent < 200_000_000, "the server takes everything: {sent} bytes");
        match greedy.stream.write(&burst) {
            Ok(n) => (sent, blocked) = (sent + n, 0),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                blocked += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(e) => panic!("{e}"),
        }
    }
    // Another connection of the same thread is served meanwhile.
    let mut other = Client::connect(&cluster);
    assert_eq!(other.put(2, 3).unwrap(), (0, None));
    assert_eq!(other.get(2).unwrap(), (0, Some(3)));
    // And when it reads at last, it gets whole answers, in order.
    greedy.stream.set_nonblocking(false).unwrap();
    for _ in 0..20 {
        let mut head = [0; 8];
        greedy.stream.read_exact(&mut head).unwrap();
        let mut body = vec![0; u64::from_be_bytes(head) as usize & 0xffff_ffff];
        greedy.stream.read_exact(&mut body).unwrap();
        assert_eq!(Message::decode(&body).unwrap().ops().next().unwrap().value, text);
    }
}

#[test]
fn a_delay_holds_up_its_own_connection_only() {
    let cluster = cluster();
    let (mut slow, mut quick) = (Client::connect(&cluster), Client::connect(&cluster));
    let rule = FaultRule::new(FaultAction::Delay(DELAY)).on(RequestKind::Write).times(1);
    cluster.set_fault(None, &rule).unwrap();
    let start = Instant::now();
    slow.send(&[put(1, 1), get(1)].concat());
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(quick.get(1).unwrap().0, 2, "the delayed write has not been executed yet");
    assert!(start.elapsed() < DELAY);
    assert_eq!(slow.answer().unwrap(), (0, None));
    assert!(start.elapsed() >= DELAY);
    assert_eq!(slow.answer().unwrap(), (0, Some(1)), "what stands behind the delayed request comes after it");

    cluster.clear_faults();
    cluster.set_fault(None, &FaultRule::new(FaultAction::AnswerDelay(DELAY)).on(RequestKind::Write).times(1)).unwrap();
    let start = Instant::now();
    slow.send(&put(1, 2));
    while quick.get(1).unwrap() != (0, Some(2)) {
        assert!(start.elapsed() < DELAY, "executed at once, answered later");
    }
    assert_eq!(slow.answer().unwrap(), (0, None));
    assert!(start.elapsed() >= DELAY);
}

#[test]
fn a_stalled_connection_goes_on_when_the_rules_are_cleared() {
    let cluster = cluster();
    let mut client = Client::connect(&cluster);
    cluster.set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Write)).unwrap();
    client.send(&[put(1, 1), get(1)].concat());
    client.stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(client.answer().is_err(), "nothing comes");
    let mut other = Client::connect(&cluster);
    assert_eq!(other.get(1).unwrap().0, 2, "nothing was executed");
    cluster.clear_faults();
    client.stream.set_read_timeout(Some(60 * SECOND)).unwrap();
    assert_eq!(client.answer().unwrap(), (0, None));
    assert_eq!(client.answer().unwrap(), (0, Some(1)));
}

#[test]
fn connections_are_dropped_before_or_after_executing() {
    let cluster = cluster();
    for (action, executed) in [(FaultAction::DropBefore, false), (FaultAction::DropAfter, true)] {
        cluster.set_fault(None, &FaultRule::new(action).on(RequestKind::Write).skip(1).times(1)).unwrap();
        let mut client = Client::connect(&cluster);
        assert_eq!(client.put(5, 0).unwrap(), (0, None), "the first one passes");
        assert!(client.put(5, 9).is_err());
        let mut other = Client::connect(&cluster);
        assert_eq!(other.get(5).unwrap(), (0, Some(if executed { 9 } else { 0 })));
        cluster.clear_faults();
    }
}

#[test]
fn answers_are_cut_split_replaced_or_refused() {
    let cluster = cluster();
    let mut client = Client::connect(&cluster);
    client.put(1, 77).unwrap();
    let rule = |action| FaultRule::new(action).on(RequestKind::Read).times(1);

    cluster.set_fault(None, &rule(FaultAction::Split)).unwrap();
    assert_eq!(client.get(1).unwrap(), (0, Some(77)), "split answers are whole in the end");

    cluster.set_fault(None, &rule(FaultAction::Result(18))).unwrap();
    assert_eq!(client.get(1).unwrap(), (18, None));
    assert_eq!(client.get(1).unwrap(), (0, Some(77)));

    cluster.set_fault(None, &rule(FaultAction::Truncate(11))).unwrap();
    client.send(&get(1));
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 11, "and then the end");

    let mut client = Client::connect(&cluster);
    cluster.set_fault(None, &rule(FaultAction::Garbage(b"nonsense!".to_vec()))).unwrap();
    client.send(&get(1));
    let mut garbage = [0; 9];
    client.stream.read_exact(&mut garbage).unwrap();
    assert_eq!(&garbage, b"nonsense!");

    cluster.set_fault(None, &FaultRule::new(FaultAction::Refuse)).unwrap();
    let refused = TcpStream::connect(cluster.nodes()[0].address).and_then(|mut stream| {
        stream.write_all(&get(1))?;
        stream.read_exact(&mut [0])
    });
    assert!(refused.is_err());
    cluster.clear_faults();
    assert_eq!(Client::connect(&cluster).get(1).unwrap(), (0, Some(77)));
}

#[test]
fn garbage_closes_the_connection_after_what_came_before_is_answered() {
    let cluster = cluster();
    let mut client = Client::connect(&cluster);
    client.send(&[&put(1, 1)[..], &[0xff; 64], &get(1)].concat());
    assert_eq!(client.answer().unwrap(), (0, None));
    assert!(client.answer().is_err());
    let mut client = Client::connect(&cluster);
    client.send(&[2, 3, 0, 0, 8, 0, 0, 1]);
    assert!(client.answer().is_err(), "a body above 128 MiB is not waited for");
}

#[test]
fn stopping_closes_all_connections_and_joins_all_threads() {
    let cluster = EmbeddedCluster::builder().nodes(3).namespace("test").service_threads(3).start().unwrap();
    let addresses: Vec<_> = cluster.nodes().iter().map(|node| node.address).collect();
    let mut clients: Vec<_> = (0..12).map(|_| Client::connect(&cluster)).collect();
    for client in &mut clients {
        client.put(1, 1).unwrap();
    }
    cluster.set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Write)).unwrap();
    clients[0].send(&put(1, 2));
    let start = Instant::now();
    cluster.shutdown();
    assert!(start.elapsed() < 60 * SECOND);
    for client in &mut clients {
        assert!(client.answer().is_err());
    }
    for address in addresses {
        assert!(TcpStream::connect(address).is_err(), "{address} still listens");
    }
}
