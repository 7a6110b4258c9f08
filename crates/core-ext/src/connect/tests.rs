//! Opening connections to scripted servers on loopback.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use aerolane_wire::ResultCode;
use aerolane_wire::admin::{AdminMessage, command, field};
use aerospike_core::AuthMode;

use super::*;
use crate::error::ErrorKind;
use crate::topology::{Breaker, NodeId};

const GENEROUS: Duration = Duration::from_secs(60);

fn node_at(addresses: Vec<SocketAddr>) -> NodeInfo {
    NodeInfo::new(NodeId::from_index(0), "BB9", "db:3000", addresses, Arc::new(Breaker::new(0, 1)))
}

fn connector(auth_mode: AuthMode) -> Connector {
    Connector::new(&ClientPolicy { auth_mode, ..ClientPolicy::default() }).unwrap()
}

fn ann() -> AuthMode {
    AuthMode::Internal("ann".into(), "secret".into())
}

/// A node with security: knows user `ann`, and one token at a time.
#[derive(Default)]
struct Security {
    token: Mutex<Vec<u8>>,
    refuse_logins: bool,
    /// Whoever comes first gets no answer.
    leaves_the_first: bool,
    logins: AtomicUsize,
    authentications: AtomicUsize,
}

impl Security {
    fn start(self) -> (Arc<Self>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let security = Arc::new(self);
        let shared = Arc::clone(&security);
        // Ends with the test process: it waits for connections that no longer come.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        (security, address)
    }

    fn serve(&self, mut stream: std::net::TcpStream) {
        let mut head = [0; 8];
        while stream.read_exact(&mut head).is_ok() {
            let size = aerolane_wire::proto::ProtoHeader::decode(&head, 1 << 16).unwrap().body_size;
            let mut body = vec![0; size];
            stream.read_exact(&mut body).unwrap();
            let request = AdminMessage::decode(&body).unwrap();
            let mut out = Vec::new();
            match request.header.command {
                command::LOGIN => {
                    // Long enough that other callers arrive meanwhile.
                    std::thread::sleep(Duration::from_millis(30));
                    let n = self.logins.fetch_add(1, Ordering::SeqCst);
                    if self.leaves_the_first && n == 0 {
                        continue;
                    }
                    if self.refuse_logins || request.field(field::USER) != Some(b"ann") {
                        admin::encode_result(&mut out, ResultCode(62)).unwrap();
                    } else {
                        let token = format!("token-{n}").into_bytes();
                        admin::encode_session(&mut out, &token, Some(3600)).unwrap();
                        *self.token.lock().unwrap() = token;
                    }
                }
                command::AUTHENTICATE => {
                    self.authentications.fetch_add(1, Ordering::SeqCst);
                    let good = request.field(field::SESSION_TOKEN) == Some(&self.token.lock().unwrap()[..]);
                    admin::encode_result(&mut out, if good { ResultCode::OK } else { ResultCode(66) }).unwrap();
                }
                other => panic!("admin command {other}"),
            }
            stream.write_all(&out).unwrap();
        }
    }
}

/// An address at which nobody listens.
fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// An address that accepts and never says anything.
fn silent() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[tokio::test]
async fn every_address_is_tried_in_order() {
    let (listener, good) = silent();
    let connector = connector(AuthMode::None);
    let stream = connector.open(&node_at(vec![closed(), good]), GENEROUS).await.unwrap();
    assert_eq!(stream.tcp().peer_addr().unwrap(), good);
    assert!(stream.tcp().nodelay().unwrap());
    assert!(socket2::SockRef::from(stream.tcp()).keepalive().unwrap());
    assert!(!stream.is_tls());
    drop(listener);

    let (one, two) = (closed(), closed());
    let error = connector.open(&node_at(vec![one, two]), GENEROUS).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connection), "{error:?}");
    assert_eq!((error.node(), error.phase()), (Some("BB9: db:3000"), Phase::Connecting));
    let text = error.to_string();
    assert!(text.contains(&one.to_string()) && text.contains(&two.to_string()), "{text}");

    let error = connector.open(&node_at(vec![]), GENEROUS).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidNode));
}

#[test]
fn the_blocking_twin_does_the_same() {
    let (_listener, good) = silent();
    let connector = connector(AuthMode::None);
    let stream = connector.open_blocking(&node_at(vec![closed(), good]), GENEROUS).unwrap();
    assert_eq!(stream.tcp().peer_addr().unwrap(), good);
    assert!(stream.tcp().nodelay().unwrap());
    assert_eq!(stream.tcp().read_timeout().unwrap(), None);
    let error = connector.open_blocking(&node_at(vec![closed(), closed()]), GENEROUS).unwrap_err();
    assert!(error.to_string().contains("no address of the node"), "{error}");
}

#[tokio::test]
async fn a_node_that_says_nothing_costs_the_timeout_and_no_more() {
    let (_listener, address) = silent();
    let connector = connector(ann());
    let node = node_at(vec![address]);
    let time = Duration::from_millis(100);
    for look in 1.. {
        let start = Instant::now();
        let error = connector.open(&node, time).await.unwrap_err();
        let took = cost(time, start, &error);
        if took < time * 8 {
            break;
        }
        // A busy machine holds some of them up, hardly all.
        assert!(look < 20, "{took:?}");
    }
}

#[test]
fn a_node_that_says_nothing_costs_a_thread_the_timeout_and_no_more() {
    let (_listener, address) = silent();
    let connector = connector(ann());
    let node = node_at(vec![address]);
    let time = Duration::from_millis(100);
    let look = || {
        let start = Instant::now();
        let error = connector.open_blocking(&node, time).unwrap_err();
        cost(time, start, &error)
    };
    assert!((0..20).any(|_| look() < time * 8), "not once in time");
}

/// What it took to hear that there was no answer in time.
fn cost(time: Duration, start: Instant, error: &crate::error::Error) -> Duration {
    let took = start.elapsed();
    assert!(took >= time, "{took:?}");
    assert!(error.to_string().contains("no answer in time"), "{error}");
    took
}

#[tokio::test]
async fn one_login_serves_all_connections() {
    let (security, address) = Security::default().start();
    let connector = Arc::new(connector(ann()));
    let node = Arc::new(node_at(vec![address]));
    let tasks: Vec<_> = (0..20)
        .map(|i| {
            let (connector, node) = (Arc::clone(&connector), Arc::clone(&node));
            // Both kinds of caller wait for the same login.
            if i % 2 == 0 {
                tokio::spawn(async move { connector.open(&node, GENEROUS).await.map(drop) })
            } else {
                tokio::task::spawn_blocking(move || connector.open_blocking(&node, GENEROUS).map(drop))
            }
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(security.logins.load(Ordering::SeqCst), 1);
    assert_eq!(security.authentications.load(Ordering::SeqCst), 19);
}

#[tokio::test]
async fn a_refused_token_means_logging_in_again() {
    let (security, address) = Security::default().start();
    let connector = connector(ann());
    let node = node_at(vec![address]);
    connector.open(&node, GENEROUS).await.unwrap();
    // The node forgets the token, as after a restart.
    security.token.lock().unwrap().clear();
    connector.open(&node, GENEROUS).await.unwrap();
    assert_eq!(security.logins.load(Ordering::SeqCst), 2);
    // The renewed one is kept.
    connector.open(&node, GENEROUS).await.unwrap();
    assert_eq!(security.logins.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn refused_credentials_are_told_at_once_and_not_hammered() {
    let (security, address) = Security { refuse_logins: true, ..Security::default() }.start();
    let connector = Arc::new(connector(ann()));
    let node = Arc::new(node_at(vec![address]));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (connector, node) = (Arc::clone(&connector), Arc::clone(&node));
            tokio::spawn(async move { connector.open(&node, GENEROUS).await.map(drop) })
        })
        .collect();
    for task in tasks {
        let error = task.await.unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { .. }), "{error:?}");
        assert_eq!(error.result_code(), 62);
        assert!(error.to_string().contains("user \"ann\""), "{error}");
    }
    assert_eq!(security.logins.load(Ordering::SeqCst), 1, "the others were told without asking");
}

#[tokio::test]
async fn garbage_instead_of_a_login_answer_is_an_error() {
    for garbage in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        &[2, 2, 0, 0, 0xff, 0xff, 0xff, 0xff],
        &[2, 2, 0, 0, 0, 0, 0, 3, 1, 2, 3],
    ] {
        let (listener, address) = silent();
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(garbage).unwrap();
            // Until the client hangs up.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let error = connector(ann()).open(&node_at(vec![address]), GENEROUS).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadResponse), "{error:?}");
        server.join().unwrap();
    }
}

#[tokio::test]
async fn a_dropped_login_hands_the_turn_on() {
    let (security, address) = Security { leaves_the_first: true, ..Security::default() }.start();
    let connector = connector(ann());
    let node = node_at(vec![address]);
    // The first caller gives up in the middle of its login.
    let in_the_middle = async {
        while security.logins.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        opened = connector.open(&node, GENEROUS) => panic!("nobody has answered: {:?}", opened.map(drop)),
        () = in_the_middle => {}
    }
    connector.open(&node, GENEROUS).await.unwrap();
    assert_eq!(security.logins.load(Ordering::SeqCst), 2);
}
