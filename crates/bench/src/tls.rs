//! TLS to the embedded cluster: the one certificate that it makes is trusted.

use std::sync::Arc;

use aerospike_core::TlsPolicy;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The name in the certificate of the embedded cluster.
pub const SERVER_NAME: &str = "localhost";

/// A policy that trusts the certificate `pem` and nothing else.
///
/// # Errors
/// It is no certificate; the message says why.
pub fn policy(pem: &str) -> Result<TlsPolicy, String> {
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|error| error.to_string())?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).map_err(|error| error.to_string())?;
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsPolicy::new(config))
}

/// `host:port,...` as `host:name:port,...`, which is how clients are told the name in the certificate.
#[must_use]
pub fn named_seeds(seeds: &str) -> String {
    let named = seeds.split(',').map(|seed| match seed.rsplit_once(':') {
        Some((host, port)) => format!("{host}:{SERVER_NAME}:{port}"),
        None => seed.to_owned(),
    });
    named.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_get_the_name_of_the_certificate() {
        assert_eq!(named_seeds("127.0.0.1:4000,127.0.0.1:4001"), "127.0.0.1:localhost:4000,127.0.0.1:localhost:4001");
        assert!(policy("no certificate").is_err());
    }
}
