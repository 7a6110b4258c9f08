//! A session against rustls' server side, over a socket in memory that gives and takes as few bytes as it is told.

use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};

use super::*;

/// Both versions behave alike.
const VERSIONS: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS12, &rustls::version::TLS13];

/// The client's socket, with the server at its other end.
struct Socket {
    server: ServerConnection,
    /// What the server received.
    request: Vec<u8>,
    /// Ciphertext on its way to the client.
    incoming: Vec<u8>,
    /// Most bytes that a read gives.
    gives: usize,
    /// How many bytes it takes before it would block.
    takes: usize,
    writes: usize,
    /// What a write meets once the socket takes nothing.
    full: io::ErrorKind,
    ended: bool,
}

impl Socket {
    /// The server sends this.
    fn send(&mut self, plaintext: &[u8]) {
        self.server.set_buffer_limit(None);
        self.server.writer().write_all(plaintext).unwrap();
        self.pull();
    }

    fn pull(&mut self) {
        while self.server.wants_write() {
            self.server.write_tls(&mut self.incoming).unwrap();
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pull();
        let n = self.gives.min(buffer.len()).min(self.incoming.len());
        if n == 0 {
            return if self.ended { Ok(0) } else { Err(io::ErrorKind::WouldBlock.into()) };
        }
        buffer[..n].copy_from_slice(&self.incoming[..n]);
        self.incoming.drain(..n);
        Ok(n)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        let n = self.takes.min(bytes.len());
        if n == 0 {
            return Err(self.full.into());
        }
        self.takes -= n;
        let mut taken = &bytes[..n];
        while !taken.is_empty() {
            self.server.read_tls(&mut taken)?;
            self.server.process_new_packets().map_err(io::Error::other)?;
            let mut plaintext = [0; 4096];
            while let Ok(got @ 1..) = self.server.reader().read(&mut plaintext) {
                self.request.extend_from_slice(&plaintext[..got]);
            }
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session after its handshake, and its socket. `early`: what the server sends at once, and rustls has decrypted
/// before the session begins.
fn pair(version: &'static SupportedProtocolVersion, early: &[u8]) -> (TlsSession, Socket) {
    let identity = rcgen::generate_simple_self_signed(["db.test".to_owned()]).unwrap();
    let certificate = identity.cert.der().clone();
    let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let server = server.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
    let server = server.with_single_cert(vec![certificate.clone()], key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("db.test").unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut socket = Socket {
        server: ServerConnection::new(Arc::new(server)).unwrap(),
        request: Vec::new(),
        incoming: Vec::new(),
        gives: usize::MAX,
        takes: usize::MAX,
        writes: 0,
        full: io::ErrorKind::WouldBlock,
        ended: false,
    };
    while client.is_handshaking() || socket.server.is_handshaking() {
        client.complete_io(&mut socket).unwrap();
    }
    if !early.is_empty() {
        socket.send(early);
        while !socket.incoming.is_empty() {
            client.read_tls(&mut socket).unwrap();
            client.process_new_packets().unwrap();
        }
    }
    socket.writes = 0;
    (TlsSession::new(client), socket)
}

/// Reads until the socket has nothing more, or has ended.
fn read(session: &mut TlsSession, socket: &mut Socket) -> (Vec<u8>, io::ErrorKind) {
    let (mut came, mut buffer) = (Vec::new(), vec![0; 8 * 1024]);
    loop {
        let read = session.read(socket, &mut buffer, |plaintext| {
            came.extend_from_slice(plaintext);
            Ok(())
        });
        if let Err(error) = read {
            return (came, error.kind());
        }
    }
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8).collect()
}

#[test]
fn answers_in_pieces_of_any_size() {
    for version in VERSIONS {
        for gives in [1, 2, 7, 1_000, usize::MAX] {
            let (mut session, mut socket) = pair(version, b"");
            socket.gives = gives;
            // Several records, and a size that fits none of the buffers.
            let answer = text(50_001);
            socket.send(&answer);
            assert_eq!(read(&mut session, &mut socket), (answer, io::ErrorKind::WouldBlock));
        }
    }
}

#[test]
fn one_read_hands_over_all_that_came() {
    for version in VERSIONS {
        let (mut session, mut socket) = pair(version, b"");
        read(&mut session, &mut socket);
        for n in 0..100_u8 {
            socket.send(&[n; 60]);
        }
        let (mut came, mut buffer) = (0, vec![0; 64 * 1024]);
        let take = |plaintext: &[u8]| {
            came += plaintext.len();
            Ok(())
        };
        let read = session.read(&mut socket, &mut buffer, take).unwrap();
        assert!(read > 6000, "it says what the socket gave: {read}");
        assert_eq!(came, 6000);
    }
}

#[test]
fn a_small_request_is_one_record_and_one_write() {
    for version in VERSIONS {
        let (mut session, mut socket) = pair(version, b"");
        for round in 1..=3 {
            let (before, mut encrypted) = (socket.takes, 0);
            session.write(&mut socket, &text(300), &mut encrypted).unwrap();
            assert_eq!((encrypted, socket.writes, session.wants_write()), (300, round, false));
            // Neither version adds more than this to one record.
            assert!((300..=340).contains(&(before - socket.takes)), "{}", before - socket.takes);
        }
        assert_eq!(socket.request.len(), 900);
    }
}

#[test]
fn a_large_request_waits_for_the_socket_in_bounded_room() {
    for version in VERSIONS {
        let (mut session, mut socket) = pair(version, b"");
        let (request, mut encrypted) = (text(1_500_000), 0);
        let mut blocked = 0;
        while encrypted < request.len() || session.wants_write() {
            socket.takes = 30_011;
            session.write(&mut socket, &request, &mut encrypted).unwrap();
            // What the server has not got is in the socket's last record or waits here.
            assert!(encrypted - socket.request.len() <= ENCRYPT_AT_ONCE + 16 * 1024);
            blocked += 1;
        }
        assert!(blocked > 40, "{blocked}");
        assert!(socket.request == request);
    }
}

#[test]
fn what_may_have_been_sent_is_known_after_an_error() {
    for version in VERSIONS {
        let (mut session, mut socket) = pair(version, b"");
        (socket.takes, socket.full) = (10, io::ErrorKind::BrokenPipe);
        let mut encrypted = 0;
        let error = session.write(&mut socket, &text(100_000), &mut encrypted).unwrap_err();
        assert_eq!((error.kind(), encrypted), (io::ErrorKind::BrokenPipe, ENCRYPT_AT_ONCE));
        assert_eq!(session.unsent(), 0, "ten bytes of it have left");
        // Nothing of a request is encrypted as long as something before it waits.
        let (mut session, mut socket) = pair(version, b"");
        (socket.takes, encrypted) = (10, 0);
        session.write(&mut socket, &text(100), &mut encrypted).unwrap();
        assert_eq!((encrypted, session.wants_write()), (100, true));
        assert_eq!(session.unsent(), 0);
        encrypted = 0;
        session.write(&mut socket, &text(100), &mut encrypted).unwrap();
        assert_eq!(encrypted, 0);
        // What the socket has taken nothing of is not sent, whether it blocks or has broken.
        for full in [io::ErrorKind::WouldBlock, io::ErrorKind::BrokenPipe] {
            let (mut session, mut socket) = pair(version, b"");
            session.write(&mut socket, &text(100), &mut 0).unwrap();
            assert_eq!(session.unsent(), 0);
            (socket.takes, socket.full, encrypted) = (0, full, 0);
            let written = session.write(&mut socket, &text(70), &mut encrypted);
            assert_eq!(written.is_ok(), full == io::ErrorKind::WouldBlock);
            assert_eq!((encrypted, session.unsent()), (70, 70));
        }
    }
}

#[test]
fn messages_of_the_protocol_are_no_answers() {
    let (mut session, mut socket) = pair(&rustls::version::TLS13, b"");
    // The tickets that follow the handshake.
    assert_eq!(read(&mut session, &mut socket), (Vec::new(), io::ErrorKind::WouldBlock));
    for round in 0..5_u8 {
        // The client has to answer with new keys of its own.
        socket.server.refresh_traffic_keys().unwrap();
        assert_eq!(read(&mut session, &mut socket), (Vec::new(), io::ErrorKind::WouldBlock));
        session.write(&mut socket, &[round; 50], &mut 0).unwrap();
        assert_eq!(std::mem::take(&mut socket.request), [round; 50]);
        socket.send(&[round; 70]);
        assert_eq!(read(&mut session, &mut socket).0, [round; 70]);
    }
}

#[test]
fn the_end_comes_after_the_answers_before_it() {
    for version in VERSIONS {
        for clean in [true, false] {
            let (mut session, mut socket) = pair(version, b"");
            socket.send(b"the last answer");
            if clean {
                socket.server.send_close_notify();
            } else {
                socket.ended = true;
            }
            let expected = (b"the last answer".to_vec(), io::ErrorKind::UnexpectedEof);
            assert_eq!(read(&mut session, &mut socket), expected);
            assert_eq!(read(&mut session, &mut socket).1, io::ErrorKind::UnexpectedEof);
        }
    }
}

#[test]
fn a_damaged_record_ends_the_session_and_the_server_hears_of_it() {
    for version in VERSIONS {
        let (mut session, mut socket) = pair(version, b"");
        socket.send(b"whole");
        let start = socket.incoming.len();
        socket.send(b"damaged");
        socket.incoming[start + 20] ^= 1;
        assert_eq!(read(&mut session, &mut socket), (b"whole".to_vec(), io::ErrorKind::InvalidData));
        assert_eq!(socket.writes, 1, "the alert");
    }
}

#[test]
fn what_came_while_it_was_opened_is_not_lost() {
    for version in VERSIONS {
        let early = text(5_000);
        let (mut session, mut socket) = pair(version, &early);
        let mut came = Vec::new();
        let mut take = |plaintext: &[u8]| {
            came.extend_from_slice(plaintext);
            Ok(())
        };
        assert!(session.take_held(&mut socket, &mut take).unwrap());
        assert!(!session.take_held(&mut socket, &mut take).unwrap(), "once");
        assert_eq!(came, early);
        let (mut session, mut socket) = pair(version, &early);
        assert_eq!(read(&mut session, &mut socket), (early, io::ErrorKind::WouldBlock));
    }
}

#[test]
fn an_error_of_who_takes_the_answers_ends_the_read() {
    let (mut session, mut socket) = pair(&rustls::version::TLS13, b"");
    socket.send(b"not an answer");
    let refuse = |_: &[u8]| Err(io::ErrorKind::InvalidData.into());
    let error = session.read(&mut socket, &mut [0; 4096], refuse).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
