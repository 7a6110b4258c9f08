//! TLS listeners, seen from a plain rustls client.

use crate::common::{digest, get, put};
use aerolane_embedded::{EmbeddedCluster, TlsOptions};
use aerolane_wire::admin::{self, AdminHeader, AdminMessage};
use aerolane_wire::message::Field;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

type Certificate = rcgen::CertifiedKey<rcgen::KeyPair>;
type Stream = StreamOwned<ClientConnection, TcpStream>;

fn connect(cluster: &EmbeddedCluster, name: &str) -> Stream {
    connect_as(cluster, name, None)
}

/// With a certificate of the client's own, if there is one.
fn connect_as(cluster: &EmbeddedCluster, name: &str, client: Option<&Certificate>) -> Stream {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(cluster.certificate_pem().unwrap().as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let key = PrivateKeyDer::from_pem_slice(client.signing_key.serialize_pem().as_bytes()).unwrap();
            config.with_client_auth_cert(vec![client.cert.der().clone()], key).unwrap()
        }
    };
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let tcp = TcpStream::connect(cluster.nodes()[0].tls_address.unwrap()).unwrap();
    tcp.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    StreamOwned::new(tls, tcp)
}

fn code(stream: &mut Stream) -> std::io::Result<u8> {
    let mut answer = [0; 30];
    stream.read_exact(&mut answer)?;
    let mut ops = vec![0; usize::from(answer[7]) - 22];
    stream.read_exact(&mut ops)?;
    Ok(answer[13])
}

#[test]
fn one_request_per_record_is_looked_at() {
    let cluster = EmbeddedCluster::builder().nodes(1).tls(TlsOptions::self_signed("node")).start().unwrap();
    let mut stream = connect(&cluster, "node");
    stream.write_all(&put(digest(1, 1), 1)).unwrap();
    stream.write_all(&get(digest(1, 1))).unwrap();
    assert_eq!((code(&mut stream).unwrap(), code(&mut stream).unwrap()), (0, 0), "two records, two requests");

    stream.write_all(&[get(digest(1, 1)), get(digest(2, 1))].concat()).unwrap();
    assert_eq!(code(&mut stream).unwrap(), 0);
    stream.sock.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(code(&mut stream).unwrap_err().kind(), ErrorKind::WouldBlock, "the second one waits");
    stream.sock.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&get(digest(3, 1))).unwrap();
    assert_eq!(code(&mut stream).unwrap(), 2, "until another record comes");
}

#[test]
fn addresses_and_names_are_told_and_plain_bytes_refused() {
    let cluster = EmbeddedCluster::builder().nodes(2).tls(TlsOptions::self_signed("node")).start().unwrap();
    let nodes = cluster.nodes();
    assert_eq!(cluster.tls_seeds().split(',').count(), 2);
    let mut plain = crate::common::Raw::connect(nodes[0].address);
    assert_eq!(plain.info("service-tls-std"), nodes[0].tls_address.unwrap().to_string());
    let peers = plain.info("peers-tls-std");
    assert!(peers.ends_with(&format!("[[{},node,[{}]]]", nodes[1].id, nodes[1].tls_address.unwrap())), "{peers}");
    let mut wrong = crate::common::Raw::connect(nodes[0].tls_address.unwrap());
    wrong.send(&put(digest(1, 1), 1));
    // An alert, or nothing: in any case the end.
    drop(wrong.rest());
    assert_eq!(cluster.record_count("test"), Some(0));
    let mut stranger = connect(&cluster, "stranger");
    assert!(stranger.write_all(&put(digest(1, 1), 1)).is_err(), "the certificate is for another name");
}

#[test]
fn nodes_show_a_certificate_of_ones_own_and_ask_clients_for_theirs() {
    let made = |name: &str| rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let (node, client, other) = (made("node"), made("client"), made("other"));
    let options = TlsOptions::from_pem("node", node.cert.pem(), node.signing_key.serialize_pem());
    let cluster = EmbeddedCluster::builder()
        .nodes(1)
        .tls(options.clone().require_client_certificate(client.cert.pem()))
        .start()
        .unwrap();
    assert_eq!(cluster.certificate_pem(), Some(node.cert.pem().as_str()));
    let put = |client: Option<&Certificate>| -> std::io::Result<u8> {
        let mut stream = connect_as(&cluster, "node", client);
        stream.write_all(&put(digest(1, 1), 1))?;
        code(&mut stream)
    };
    assert_eq!(put(Some(&client)).unwrap(), 0);
    assert!(put(None).is_err(), "without a certificate");
    assert!(put(Some(&other)).is_err(), "with one that nobody trusts");
    assert_eq!(cluster.record_count("test"), Some(1));
    // Without the demand, the same node takes everybody.
    let open = EmbeddedCluster::builder().nodes(1).tls(options).start().unwrap();
    let mut stream = connect(&open, "node");
    stream.write_all(&get(digest(1, 1))).unwrap();
    assert_eq!(code(&mut stream).unwrap(), 2);
    for (certificate, key) in [("", "no key"), (node.cert.pem().as_str(), "no key"), ("no certificate", "")] {
        let broken = EmbeddedCluster::builder().tls(TlsOptions::from_pem("node", certificate, key)).start();
        assert!(broken.is_err(), "{certificate:?} {key:?}");
    }
}

/// The result and the body of the answer to a request of administration.
fn ask(stream: &mut (impl Read + Write), request: &[u8]) -> (u8, Vec<u8>) {
    stream.write_all(request).unwrap();
    let mut head = [0; 8];
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([head[6], head[7]]))];
    stream.read_exact(&mut body).unwrap();
    (body[1], body)
}

#[test]
fn a_certificate_logs_its_common_name_in() {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, "ann");
    let signing_key = rcgen::KeyPair::generate().unwrap();
    let ann = Certificate { cert: params.self_signed(&signing_key).unwrap(), signing_key };
    let cluster = EmbeddedCluster::builder()
        .nodes(1)
        .user("ann", "secret")
        .tls(TlsOptions::self_signed("node").require_client_certificate(ann.cert.pem()))
        .start()
        .unwrap();
    let mut login = Vec::new();
    admin::encode_login_pki(&mut login).unwrap();
    let authenticate = |user: Option<&str>, token: &[u8]| {
        let mut request = Vec::new();
        admin::encode_authenticate(&mut request, user.map(str::as_bytes), token).unwrap();
        request
    };

    let mut stream = connect_as(&cluster, "node", Some(&ann));
    let (result, body) = ask(&mut stream, &login);
    assert_eq!(result, 0);
    let (token, _) = AdminMessage::decode(&body).unwrap().session().unwrap();
    stream.write_all(&put(digest(1, 1), 1)).unwrap();
    assert_eq!(code(&mut stream).unwrap(), 0, "the connection is logged in");
    // The token opens further connections, also plain ones, and for this user alone.
    let plain = || {
        let stream = TcpStream::connect(cluster.nodes()[0].address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    };
    assert_eq!(ask(&mut plain(), &authenticate(None, token)).0, 0);
    assert_eq!(ask(&mut plain(), &authenticate(Some("ann"), token)).0, 0);
    assert_eq!(ask(&mut plain(), &authenticate(Some("ben"), token)).0, 65);

    // What has shown no certificate has no credential; one that names somebody needs that user's.
    assert_eq!(ask(&mut plain(), &login).0, 65, "no TLS");
    let mut stream = connect_as(&cluster, "node", Some(&ann));
    let mut named = Vec::new();
    admin::encode_login(&mut named, b"ann", b"", None).unwrap();
    assert_eq!(ask(&mut stream, &named).0, 65);
    let mut nobody = Vec::new();
    let credential = Field { kind: admin::field::CREDENTIAL, value: b"$2a$" };
    let header = AdminHeader { command: admin::command::LOGIN, ..AdminHeader::default() };
    admin::encode(&mut nobody, header, [credential]).unwrap();
    assert_eq!(ask(&mut stream, &nobody).0, 60);
    stream.write_all(&get(digest(1, 1))).unwrap();
    assert_eq!(code(&mut stream).unwrap(), 80, "nobody is logged in");
}
