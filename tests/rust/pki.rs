//! Logins with a certificate instead of a password (`AuthMode::Pki`), through each of the three clients.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, reading, until, within, writing};
use crate::common::{Patient, policy};
use aerolane::{
    AdminPolicy, AuthMode, BatchOperation, BatchPolicy, BatchReadPolicy, Bins, ClientPolicy, Error, ErrorKind, Key,
    ResultCode, TlsPolicy, Value, as_bin, as_key,
};
use aerolane_embedded::{Builder, EmbeddedCluster, TlsOptions};
use rcgen::{CertificateParams, CertifiedIssuer, DistinguishedName, DnType, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The common name's number among the kinds of names (RFC 4519, 2.3), for a second one: rcgen keeps one of a kind.
const COMMON_NAME: [u64; 4] = [2, 5, 4, 3];

/// A cluster that asks its clients for a certificate, and who signs them.
struct Lab {
    embedded: EmbeddedCluster,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Lab {
    /// With users: root may do everything, reader read, nobody at all nothing.
    fn start(change: impl FnOnce(Builder) -> Builder) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let options = TlsOptions::self_signed("db.test").require_client_certificate(authority.pem());
        let builder = EmbeddedCluster::builder()
            .nodes(2)
            .tls(options)
            .user("root", "secret")
            .user_with_roles("reader", "secret", ["read"])
            .user_with_roles("idle", "secret", Vec::<String>::new());
        Self { embedded: change(builder).start().unwrap(), authority }
    }

    fn seeds(&self) -> String {
        seeds(&self.embedded)
    }

    /// Logs in with a certificate for this Common Name.
    fn policy(&self, name: &str) -> ClientPolicy {
        self.policy_with(&[(DnType::CommonName, name)])
    }

    fn policy_with(&self, names: &[(DnType, &str)]) -> ClientPolicy {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        let certificate = params.signed_by(&key, &self.authority).unwrap().der().clone();
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let tls = trusting(&self.embedded).with_client_auth_cert(vec![certificate], key).unwrap();
        ClientPolicy { tls_policy: Some(TlsPolicy::new(tls)), auth_mode: AuthMode::Pki, ..policy() }
    }

    fn open(&self, kind: Kind, name: &str) -> AnyClient {
        AnyClient::open(kind, self.policy(name), &self.seeds()).unwrap()
    }
}

fn seeds(embedded: &EmbeddedCluster) -> String {
    let ports = embedded.nodes().into_iter().map(|node| node.tls_address.unwrap().port());
    ports.map(|port| format!("127.0.0.1:db.test:{port}")).collect::<Vec<_>>().join(",")
}

type Trusting = rustls::ConfigBuilder<rustls::ClientConfig, rustls::client::WantsClientCert>;

/// A client that trusts this cluster.
fn trusting(embedded: &EmbeddedCluster) -> Trusting {
    let mut roots = rustls::RootCertStore::empty();
    let pem = embedded.certificate_pem().unwrap();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
}

fn key(id: i64) -> Key {
    as_key!("test", "pki", id)
}

fn put(any_client: &AnyClient, id: i64) -> Result<(), Error> {
    any_client.put(&writing(60_000, 0), &key(id), &[as_bin!("id", id)])
}

fn get(any_client: &AnyClient, id: i64) -> Result<Value, Error> {
    any_client.get(&reading(60_000, 2), &key(id), Bins::All).map(|record| record.bins["id"].clone())
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> Option<ResultCode> {
    let error = result.unwrap_err();
    error.server_result_code().or_else(|| panic!("{error:?}"))
}

/// With which result a login is refused. None of the time limits had to end it.
fn refused(kind: Kind, policy: ClientPolicy, seeds: &str) -> ResultCode {
    let start = Instant::now();
    let error = AnyClient::open(kind, policy, seeds).err().expect("refused");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let ErrorKind::CredentialsRefused { rc, user: None } = error.kind() else { panic!("{kind:?}: {error:?}") };
    *rc
}

#[test]
fn a_certificate_logs_in_and_does_what_its_user_may() {
    within(300, || {
        let lab = Lab::start(|builder| builder);
        for kind in Kind::ALL {
            let root = lab.open(kind, "root");
            for id in 0..20 {
                put(&root, id).unwrap();
                assert_eq!(get(&root, id).unwrap(), Value::Int(id));
            }
            let read = BatchReadPolicy::default();
            let rows = (0..20).map(|id| BatchOperation::read(&read, key(id), Bins::All)).collect();
            let mut batch = BatchPolicy::patient();
            batch.base_policy.total_timeout = 60_000;
            let (rows, result) = root.batch(&batch, rows);
            result.unwrap();
            assert!((0..20).zip(&rows).all(|(id, row)| row.record().unwrap().bins["id"] == Value::Int(id)), "{kind:?}");
            // These go through aerospike-core, which logs in by itself.
            root.info(AdminPolicy::patient(), "build").unwrap();
            let name = format!("made-{kind:?}");
            root.create_user(AdminPolicy::patient(), &name, Some("secret"), &["read"]).unwrap();
            root.drop_user(AdminPolicy::patient(), &name).unwrap();

            let reader = lab.open(kind, "reader");
            assert_eq!(get(&reader, 7).unwrap(), Value::Int(7));
            assert_eq!(code(put(&reader, 7)), Some(ResultCode::RoleViolation), "{kind:?}");
            let made = reader.create_user(AdminPolicy::patient(), &name, None, &[]);
            assert_eq!(code(made), Some(ResultCode::RoleViolation), "{kind:?}");
            let idle = lab.open(kind, "idle");
            assert_eq!(code(put(&idle, 7)), Some(ResultCode::RoleViolation), "{kind:?}");
            assert_eq!(code(get(&idle, 7)), Some(ResultCode::RoleViolation), "{kind:?}");
        }
    });
}

#[test]
fn certificates_that_name_no_user_are_refused_at_once() {
    within(300, || {
        let lab = Lab::start(|builder| builder);
        let (unknown, without) = (ResultCode::InvalidUser, ResultCode::InvalidCredential);
        for kind in Kind::ALL {
            let refused = |names: &[(DnType, &str)]| refused(kind, lab.policy_with(names), &lab.seeds());
            assert_eq!(refused(&[(DnType::CommonName, "stranger")]), unknown, "{kind:?}");
            assert_eq!(refused(&[(DnType::CommonName, "Root")]), unknown, "{kind:?}");
            assert_eq!(refused(&[(DnType::CommonName, "")]), unknown, "{kind:?}");
            let long = "root".repeat(1000);
            assert_eq!(refused(&[(DnType::CommonName, long.as_str())]), unknown, "{kind:?}");
            assert_eq!(refused(&[(DnType::OrganizationName, "root")]), without, "{kind:?}");
            let second = DnType::CustomDnType(COMMON_NAME.to_vec());
            assert_eq!(refused(&[(DnType::CommonName, "root"), (second, "reader")]), without, "{kind:?}");
        }
    });
}

#[test]
fn a_login_without_a_certificate_is_refused_at_once() {
    within(300, || {
        let tls = TlsOptions::self_signed("db.test");
        let embedded = EmbeddedCluster::builder().nodes(1).tls(tls).user("root", "secret").start().unwrap();
        let tls = TlsPolicy::new(trusting(&embedded).with_no_client_auth());
        let bare = ClientPolicy { tls_policy: Some(tls), auth_mode: AuthMode::Pki, ..policy() };
        for kind in Kind::ALL {
            let rc = refused(kind, bare.clone(), &seeds(&embedded));
            assert_eq!(rc, ResultCode::InvalidCredential, "{kind:?}");
        }
    });
}

#[test]
fn sessions_are_renewed_and_may_go_on_in_the_clear() {
    within(300, || {
        let lab = Lab::start(|builder| builder.session_ttl(2));
        for kind in Kind::ALL {
            let root = lab.open(kind, "root");
            put(&root, 1).unwrap();
            // New connections, once the session has ended on both sides.
            std::thread::sleep(Duration::from_millis(2200));
            for node in lab.embedded.nodes() {
                lab.embedded.stop_node(node.id).unwrap();
                lab.embedded.start_node(node.id).unwrap();
            }
            until("a new login", || put(&root, 2).is_ok());
            root.close();

            let mut mixed = lab.policy("root");
            mixed.tls_policy = mixed.tls_policy.map(|tls| tls.with_login_only(true));
            let root = AnyClient::open(kind, mixed, &lab.seeds()).unwrap();
            put(&root, 3).unwrap();
            assert_eq!(get(&root, 3).unwrap(), Value::Int(3));
        }
    });
}

#[test]
fn users_without_a_password_log_in_with_a_certificate_alone() {
    within(300, || {
        let lab = Lab::start(|builder| builder);
        for kind in Kind::ALL {
            let (root, admin) = (lab.open(kind, "root"), AdminPolicy::patient);
            root.create_user(admin(), "pki", None, &["read-write"]).unwrap();
            let pki = lab.open(kind, "pki");
            put(&pki, 1).unwrap();
            assert_eq!(get(&pki, 1).unwrap(), Value::Int(1));
            // No password is that user's, and none can become it.
            for password in ["", "nopassword", "secret"] {
                let auth_mode = AuthMode::Internal("pki".into(), password.into());
                let error = AnyClient::open(kind, ClientPolicy { auth_mode, ..lab.policy("pki") }, &lab.seeds()).err();
                let error = error.expect("refused");
                assert_eq!(error.server_result_code(), Some(ResultCode::InvalidCredential), "{kind:?}: {error:?}");
            }
            // (aerospike-core changes no passwords on a client that has none.)
            let auth_mode = AuthMode::Internal("root".into(), "secret".into());
            let by_password = ClientPolicy { auth_mode, ..lab.policy("root") };
            let by_password = AnyClient::open(kind, by_password, &lab.seeds()).unwrap();
            let changed = by_password.change_password(admin(), "pki", "secret");
            assert_eq!(code(changed), Some(ResultCode::ForbiddenPassword), "{kind:?}");

            root.drop_user(admin(), "pki").unwrap();
            assert_eq!(code(put(&pki, 1)), Some(ResultCode::NotAuthenticated), "{kind:?}");
            let rc = refused(kind, lab.policy("pki"), &lab.seeds());
            assert_eq!(rc, ResultCode::InvalidUser, "{kind:?}");
        }
    });
}
