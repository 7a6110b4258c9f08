//! `TlsConfig`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aerospike_core::TlsPolicy;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use crate::errors;

/// What a TLS configuration was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    cafile: Option<PathBuf>,
    client: Option<(PathBuf, PathBuf)>,
    protocols: Option<Vec<String>>,
    ciphers: Option<Vec<String>>,
    for_login_only: bool,
}

/// A configuration, ready for use.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    source: Source,
    config: Arc<ClientConfig>,
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Ready {
    pub(crate) fn policy(&self) -> TlsPolicy {
        TlsPolicy::new(Arc::clone(&self.config)).with_login_only(self.source.for_login_only)
    }
}

/// How connections are encrypted: `TlsConfig(cafile)`, or `TlsConfig.with_client_auth(cafile, certfile, keyfile)`.
///
/// `cafile`: a PEM file with the certificates of the trusted authorities; None: those that Python's `ssl` trusts.
/// `protocols`: "TLSv1.2", "TLSv1.3"; None: both. `ciphers`: names of cipher suites; None: all safe ones.
/// `for_login_only`: whether only the login is encrypted. Default False.
///
/// The files are read at once. Raises `InvalidArgumentError` for files that cannot be used and for unknown names.
#[pyclass(frozen, module = "aerolane.policy")]
pub(crate) struct TlsConfig(pub(crate) Arc<Ready>);

#[pymethods]
impl TlsConfig {
    #[new]
    #[pyo3(signature = (cafile=None, *, protocols=None, ciphers=None, for_login_only=false))]
    fn new(
        py: Python<'_>,
        cafile: Option<PathBuf>,
        protocols: Option<Vec<String>>,
        ciphers: Option<Vec<String>>,
        for_login_only: bool,
    ) -> PyResult<Self> {
        Self::build(py, Source { cafile, client: None, protocols, ciphers, for_login_only })
    }

    /// With the client's own certificate and its key, both in PEM files.
    #[staticmethod]
    #[pyo3(signature = (cafile, certfile, keyfile, *, protocols=None, ciphers=None, for_login_only=false))]
    fn with_client_auth(
        py: Python<'_>,
        cafile: Option<PathBuf>,
        certfile: PathBuf,
        keyfile: PathBuf,
        protocols: Option<Vec<String>>,
        ciphers: Option<Vec<String>>,
        for_login_only: bool,
    ) -> PyResult<Self> {
        Self::build(py, Source { cafile, client: Some((certfile, keyfile)), protocols, ciphers, for_login_only })
    }

    /// Whether only the login is encrypted.
    #[getter]
    fn for_login_only(&self) -> bool {
        self.0.source.for_login_only
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        let source = &self.0.source;
        let python = |path: &Path| format!("{:?}", path.to_string_lossy());
        let cafile = source.cafile.as_deref().map_or_else(|| "None".into(), python);
        let login_only = if source.for_login_only { ", for_login_only=True" } else { "" };
        match &source.client {
            None => format!("TlsConfig({cafile}{login_only})"),
            Some((certfile, keyfile)) => {
                let (certfile, keyfile) = (python(certfile), python(keyfile));
                format!("TlsConfig.with_client_auth({cafile}, {certfile}, {keyfile}{login_only})")
            }
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let s = self.0.source.clone();
        let (certfile, keyfile) = s.client.unzip();
        let arguments = (s.cafile, certfile, keyfile, s.protocols, s.ciphers, s.for_login_only);
        Ok((py.get_type::<Self>().getattr("_restore")?, arguments.into_pyobject(py)?.into_any()))
    }

    /// For `copy` and `pickle`: reads the files again.
    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        cafile: Option<PathBuf>,
        certfile: Option<PathBuf>,
        keyfile: Option<PathBuf>,
        protocols: Option<Vec<String>>,
        ciphers: Option<Vec<String>>,
        for_login_only: bool,
    ) -> PyResult<Self> {
        Self::build(py, Source { cafile, client: certfile.zip(keyfile), protocols, ciphers, for_login_only })
    }
}

impl TlsConfig {
    fn build(py: Python<'_>, source: Source) -> PyResult<Self> {
        let invalid = |text: String| errors::invalid_argument(py, format!("TlsConfig: {text}"));
        let mut provider = rustls::crypto::ring::default_provider();
        if let Some(names) = &source.ciphers {
            choose_ciphers(&mut provider, names).map_err(invalid)?;
        }
        let versions = versions(source.protocols.as_deref()).map_err(invalid)?;
        let builder = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&versions)
            .map_err(|e| invalid(format!("the ciphers do not fit the protocols: {e}")))?
            .with_root_certificates(roots(py, source.cafile.as_deref())?);
        let config = match &source.client {
            None => builder.with_no_client_auth(),
            Some((certfile, keyfile)) => {
                let chain = certificates(certfile).map_err(invalid)?;
                let key = PrivateKeyDer::from_pem_file(keyfile)
                    .map_err(|e| invalid(format!("no private key can be read from {}: {e}", keyfile.display())))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|e| invalid(format!("certificate and key of the client cannot be used: {e}")))?
            }
        };
        Ok(Self(Arc::new(Ready { source, config: Arc::new(config) })))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unusable = |e: &dyn std::fmt::Display| format!("no certificate can be read from {}: {e}", file.display());
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).map_err(|e| unusable(&e))?.collect();
    let found = found.map_err(|e| unusable(&e))?;
    if found.is_empty() { Err(unusable(&"there is none in it")) } else { Ok(found) }
}

/// The authorities to trust.
fn roots(py: Python<'_>, cafile: Option<&Path>) -> PyResult<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let invalid = |text: String| errors::invalid_argument(py, format!("TlsConfig: {text}"));
    if let Some(cafile) = cafile {
        for certificate in certificates(cafile).map_err(invalid)? {
            let refused = |e| invalid(format!("a certificate in {} cannot be used: {e}", cafile.display()));
            roots.add(certificate).map_err(refused)?;
        }
        return Ok(roots);
    }
    let context = py.import("ssl")?.call_method0("create_default_context")?;
    for certificate in context.call_method1("get_ca_certs", (true,))?.try_iter()? {
        let certificate = certificate?.cast_into::<PyBytes>()?;
        roots.add_parsable_certificates([CertificateDer::from(certificate.as_bytes().to_vec())]);
    }
    if roots.is_empty() {
        return Err(invalid("Python's ssl trusts no authority on this machine: give cafile".into()));
    }
    Ok(roots)
}

fn versions(names: Option<&[String]>) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let Some(names) = names else { return Ok(rustls::ALL_VERSIONS.to_vec()) };
    if names.is_empty() {
        return Err("protocols is empty: use None for all".into());
    }
    names
        .iter()
        .map(|name| match name.as_str() {
            "TLSv1.2" => Ok(&rustls::version::TLS12),
            "TLSv1.3" => Ok(&rustls::version::TLS13),
            _ => Err(format!("{name:?} is no protocol that is supported: TLSv1.2, TLSv1.3")),
        })
        .collect()
}

/// Keeps the cipher suites with these names, in this order.
fn choose_ciphers(provider: &mut CryptoProvider, names: &[String]) -> Result<(), String> {
    // rustls calls those of TLS 1.3 TLS13_..., everyone else TLS_...
    let name = |suite: &rustls::SupportedCipherSuite| format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1);
    let all = std::mem::take(&mut provider.cipher_suites);
    for wanted in names {
        let Some(suite) = all.iter().find(|suite| name(suite) == wanted.replacen("TLS13_", "TLS_", 1)) else {
            let known: Vec<_> = all.iter().map(name).collect();
            return Err(format!("{wanted:?} is no cipher suite that is supported: {}", known.join(", ")));
        };
        provider.cipher_suites.push(*suite);
    }
    Ok(())
}
