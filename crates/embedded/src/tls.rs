//! TLS for the nodes' second listener, by rustls.
//!
//! As the real server, a connection looks at one request per TLS record: of two requests in one record the second one
//! waits until another record comes. So a client that packs requests together finds out here, not in production.

use crate::service::{Transport, TransportFactory};
use aerolane_wire::proto::{MAX_BODY_SIZE, PROTO_HEADER_SIZE, ProtoHeader};
use mio::net::TcpStream;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Size of the header in front of every TLS record.
const RECORD_HEADER: usize = 5;
/// Largest TLS record, with room for what encryption adds (RFC 8446, 5.2).
const MAX_RECORD: usize = RECORD_HEADER + 16_384 + 2048;

/// Plain bytes that may wait for later records.
const MAX_WAITING: usize = 1024 * 1024;
/// Bytes that are read at a time.
const READ_BYTES: usize = 16 * 1024;

/// What nodes prove themselves with.
#[derive(Clone)]
pub struct TlsOptions {
    name: String,
    /// Certificate chain and key, PEM; `None`: made on the spot.
    identity: Option<(String, String)>,
    /// Certificates (PEM) that clients have to be signed by; `None`: clients need none.
    client_ca: Option<String>,
}

impl fmt::Debug for TlsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsOptions").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TlsOptions {
    /// A certificate for `name`, `localhost` and the loopback addresses, made on the spot and signed by itself. Clients
    /// have to trust [`EmbeddedCluster::certificate_pem`](crate::EmbeddedCluster::certificate_pem) and expect `name`.
    pub fn self_signed(name: impl Into<String>) -> Self {
        Self { name: name.into(), identity: None, client_ca: None }
    }

    /// A certificate chain and its private key, both PEM. `name` is what nodes tell clients to expect.
    pub fn from_pem(name: impl Into<String>, certificates: impl Into<String>, key: impl Into<String>) -> Self {
        Self { name: name.into(), identity: Some((certificates.into(), key.into())), client_ca: None }
    }

    /// Clients have to show a certificate that one of these (PEM) has signed. In a cluster with users, its Common Name
    /// can log in without a password (`AuthMode::Pki`).
    #[must_use]
    pub fn require_client_certificate(mut self, authorities: impl Into<String>) -> Self {
        self.client_ca = Some(authorities.into());
        self
    }

    /// The name that nodes tell clients to expect.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What listeners need, and the certificate that clients have to trust.
    pub(crate) fn transport(&self) -> Result<(TransportFactory, String), String> {
        let (certificates, key) = match &self.identity {
            Some(identity) => identity.clone(),
            None => self.make_certificate()?,
        };
        let config = Arc::new(self.config(&certificates, &key)?);
        let factory: TransportFactory = Arc::new(move || {
            let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(Box::new(TlsTransport::new(connection)))
        });
        Ok((factory, certificates))
    }

    fn make_certificate(&self) -> Result<(String, String), String> {
        let mut names = vec![self.name.clone()];
        for name in ["localhost", "127.0.0.1", "::1"] {
            if self.name != name {
                names.push(name.to_owned());
            }
        }
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).map_err(|e| format!("certificate for {:?}: {e}", self.name))?;
        Ok((cert.pem(), signing_key.serialize_pem()))
    }

    fn config(&self, certificates: &str, key: &str) -> Result<ServerConfig, String> {
        let chain = parse_certificates(certificates)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|e| format!("private key: {e}"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in parse_certificates(pem)? {
                    roots.add(certificate).map_err(|e| format!("client authority: {e}"))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|e| format!("client authority: {e}"))?)
            }
        };
        builder.with_single_cert(chain, key).map_err(|e| e.to_string())
    }
}

fn parse_certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let list: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match list {
        Ok(list) if list.is_empty() => Err("no certificate in the PEM text".to_owned()),
        Ok(list) => Ok(list),
        Err(e) => Err(format!("certificate: {e}")),
    }
}

/// One connection's TLS.
struct TlsTransport {
    tls: ServerConnection,
    /// Bytes of records that have not come whole.
    raw: Vec<u8>,
    /// Plain bytes that have not been handed out.
    plain: Vec<u8>,
    gate: FrameGate,
    closed: bool,
}

impl TlsTransport {
    fn new(tls: ServerConnection) -> Self {
        Self { tls, raw: Vec::new(), plain: Vec::new(), gate: FrameGate::default(), closed: false }
    }

    /// Takes records in, one after the other, until there is something to hand out or nothing more to read.
    fn take_records(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        while self.gate.allowed(&self.plain) == 0 && !self.closed {
            if self.take_record()? {
                continue;
            }
            let old = self.raw.len();
            self.raw.resize(old + READ_BYTES, 0);
            let read = stream.read(&mut self.raw[old..]);
            self.raw.truncate(old + *read.as_ref().unwrap_or(&0));
            self.closed |= read? == 0;
        }
        Ok(())
    }

    /// Decrypts the record at the front of `raw`, if it is there as a whole.
    fn take_record(&mut self) -> io::Result<bool> {
        let Some(header) = self.raw.first_chunk::<RECORD_HEADER>() else {
            return Ok(false);
        };
        let size = RECORD_HEADER + usize::from(u16::from_be_bytes([header[3], header[4]]));
        if size > MAX_RECORD {
            return Err(io::Error::new(ErrorKind::InvalidData, "TLS record too large"));
        }
        if self.raw.len() < size {
            return Ok(false);
        }
        let mut record = &self.raw[..size];
        while !record.is_empty() {
            self.tls.read_tls(&mut record)?;
        }
        self.raw.drain(..size);
        let state = self.tls.process_new_packets().map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
        let bytes = state.plaintext_bytes_to_read();
        self.closed |= state.peer_has_closed();
        if self.plain.len() > MAX_WAITING {
            return Err(io::Error::new(ErrorKind::InvalidData, "too many requests packed into TLS records"));
        }
        if bytes > 0 {
            let old = self.plain.len();
            self.plain.resize(old + bytes, 0);
            self.tls.reader().read_exact(&mut self.plain[old..])?;
            self.gate.record_came();
        }
        Ok(true)
    }
}

impl Transport for TlsTransport {
    fn read(&mut self, stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.take_records(stream);
        // The handshake answers while it reads, and a fatal alert should reach the client.
        self.flush(stream)?;
        match taken {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        let allowed = self.gate.hand_out(&self.plain, buffer.len());
        if allowed == 0 {
            return if self.closed { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        buffer[..allowed].copy_from_slice(&self.plain[..allowed]);
        self.plain.drain(..allowed);
        Ok(allowed)
    }

    fn write(&mut self, stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        // rustls holds back a bounded amount (64 KiB by default). What it holds goes first: "would block" may only be
        // said when the socket said so, for nobody wakes us otherwise.
        self.flush(stream)?;
        let taken = self.tls.writer().write(bytes)?;
        self.flush(stream)?;
        if taken == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(taken) }
    }

    fn flush(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(stream) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn common_name(&self) -> Option<String> {
        // The first one is the client's own; rustls has checked who signed it.
        self.tls.peer_certificates()?.first().and_then(|certificate| common_name(certificate))
    }
}

/// The Common Name of a certificate's subject. `None` if it has none or several, or one that is not text in UTF-8 (or a
/// part of that: ASCII in its various forms).
fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let mut names = certificate.subject().iter_common_name();
    let name = names.next()?.as_str().ok()?;
    names.next().is_none().then(|| name.to_owned())
}

/// Lets one frame through per record that came.
#[derive(Debug, Default)]
struct FrameGate {
    /// Frames that may be begun.
    tickets: u64,
    /// Bytes of the frame that was begun that are still to come.
    rest: usize,
}

impl FrameGate {
    fn record_came(&mut self) {
        self.tickets = self.tickets.saturating_add(1);
    }

    /// How many of the plain bytes may be handed out now.
    fn allowed(&self, plain: &[u8]) -> usize {
        if self.rest > 0 {
            return self.rest.min(plain.len());
        }
        if self.tickets == 0 {
            return 0;
        }
        plain.first_chunk::<PROTO_HEADER_SIZE>().map_or(0, |head| frame_size(*head).min(plain.len()))
    }

    /// Takes note of what is handed out: at most `max` of the plain bytes.
    fn hand_out(&mut self, plain: &[u8], max: usize) -> usize {
        let bytes = self.allowed(plain).min(max);
        if bytes > 0 && self.rest == 0 {
            self.tickets -= 1;
            self.rest = plain.first_chunk().map_or(bytes, |head| frame_size(*head));
        }
        self.rest = self.rest.saturating_sub(bytes);
        bytes
    }
}

/// The size of the frame with this header. A malformed one is handed out as it is: what reads it closes the connection.
fn frame_size(head: [u8; PROTO_HEADER_SIZE]) -> usize {
    ProtoHeader::decode(&head, MAX_BODY_SIZE).map_or(PROTO_HEADER_SIZE, |h| PROTO_HEADER_SIZE + h.body_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, KeyPair};

    fn frame(body: usize) -> Vec<u8> {
        let mut bytes = vec![2, 3, 0, 0, 0, 0, 0, body as u8];
        bytes.resize(8 + body, 7);
        bytes
    }

    #[test]
    fn one_frame_goes_through_per_record() {
        let mut gate = FrameGate::default();
        let two = [frame(4), frame(6)].concat();
        assert_eq!(gate.hand_out(&two, 100), 0);
        gate.record_came();
        assert_eq!(gate.hand_out(&two, 5), 5);
        assert_eq!(gate.hand_out(&two[5..], 100), 7);
        // The second frame of the record waits for another one.
        assert_eq!(gate.hand_out(&two[12..], 100), 0);
        gate.record_came();
        assert_eq!(gate.hand_out(&two[12..], 100), 14);
    }

    #[test]
    fn a_frame_may_span_records() {
        let mut gate = FrameGate::default();
        let whole = frame(10);
        gate.record_came();
        assert_eq!(gate.hand_out(&whole[..3], 100), 0);
        gate.record_came();
        assert_eq!(gate.hand_out(&whole[..9], 100), 9);
        assert_eq!(gate.hand_out(&whole[9..], 100), 9);
    }

    /// A certificate with these names in its subject, as rcgen makes it.
    fn certificate(names: &[(DnType, DnValue)]) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), name.clone());
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_common_name_of_a_certificate() {
        let text = |text: &str| DnValue::Utf8String(text.to_owned());
        let whole = certificate(&[
            (DnType::OrganizationName, text("lab")),
            (DnType::CommonName, text("änn")),
            (DnType::OrganizationalUnitName, text("unit")),
        ]);
        assert_eq!(common_name(&whole).as_deref(), Some("änn"));
        let ascii = DnValue::PrintableString("ann".try_into().unwrap());
        assert_eq!(common_name(&certificate(&[(DnType::CommonName, ascii)])).as_deref(), Some("ann"));

        assert_eq!(common_name(&certificate(&[])), None, "no names at all");
        assert_eq!(common_name(&certificate(&[(DnType::OrganizationName, text("ann"))])), None, "no Common Name");
        // rcgen keeps one value of a type, but for those it does not know by name (2.5.4.3 is the Common Name).
        let again = DnType::CustomDnType(vec![2, 5, 4, 3]);
        let two = certificate(&[(DnType::CommonName, text("ann")), (again, text("ben"))]);
        assert_eq!(common_name(&two), None, "two of them");
        let wide = DnValue::BmpString("ann".try_into().unwrap());
        assert_eq!(common_name(&certificate(&[(DnType::CommonName, wide)])), None, "UTF-16");
        // Bytes that call themselves UTF-8: the two of `ä` begin the name.
        let at = whole.windows(4).rposition(|bytes| bytes == "änn".as_bytes()).unwrap();
        let mut broken = whole.clone();
        broken[at] = 0xff;
        assert_eq!(common_name(&broken), None, "not UTF-8");
        for cut in 0..whole.len() {
            assert_eq!(common_name(&whole[..cut]), None, "{cut} bytes of it");
        }
    }

    #[test]
    fn bad_certificates_are_told() {
        for options in [TlsOptions::from_pem("a", "", ""), TlsOptions::from_pem("a", "nonsense", "nonsense")] {
            assert!(options.transport().is_err());
        }
        let (_, certificate) = TlsOptions::self_signed("node").transport().unwrap();
        assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(TlsOptions::from_pem("a", certificate, "").transport().is_err());
    }
}
