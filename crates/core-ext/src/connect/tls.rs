//! What the policy says about TLS.

use aerospike_core::ClientPolicy;

use crate::error::Result;

/// Whether the policy asks for TLS.
#[must_use]
pub fn tls_configured(policy: &ClientPolicy) -> bool {
    #[cfg(feature = "tls")]
    return policy.tls_policy.is_some();
    #[cfg(not(feature = "tls"))]
    {
        let _ = policy;
        false
    }
}

/// Whether connections for requests are encrypted, and not only the login.
pub(crate) fn data_is_encrypted(policy: &ClientPolicy) -> bool {
    #[cfg(feature = "tls")]
    return policy.tls_policy.as_ref().is_some_and(|policy| !policy.for_login_only);
    #[cfg(not(feature = "tls"))]
    {
        let _ = policy;
        false
    }
}

/// The TLS part of a policy.
#[derive(Debug)]
pub(super) struct TlsSetup {
    #[cfg(feature = "tls")]
    policy: Option<aerospike_core::TlsPolicy>,
    /// The certificate name of nodes that have none of their own, as in aerospike-core.
    #[cfg(feature = "tls")]
    cluster_name: Option<String>,
}

/// What one handshake needs.
#[cfg(feature = "tls")]
#[derive(Debug, Clone)]
pub(super) struct TlsTarget {
    pub(super) config: std::sync::Arc<rustls::ClientConfig>,
    pub(super) server_name: rustls::pki_types::ServerName<'static>,
}

/// Without the `tls` feature there is no handshake.
#[cfg(not(feature = "tls"))]
#[derive(Debug, Clone)]
pub(super) enum TlsTarget {}

#[cfg(feature = "tls")]
impl TlsSetup {
    pub(super) fn new(policy: &ClientPolicy) -> Self {
        Self { policy: policy.tls_policy.clone(), cluster_name: policy.cluster_name.clone() }
    }

    /// Whether connections for requests are encrypted.
    pub(super) fn for_data(&self) -> bool {
        self.policy.as_ref().is_some_and(|policy| !policy.for_login_only)
    }

    /// Whether only the login is encrypted.
    pub(super) fn login_only(&self) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.for_login_only)
    }

    /// For a server whose certificate must have this name, else the cluster's. `None` without TLS.
    pub(super) fn for_server(&self, tls_name: Option<&str>) -> Result<Option<TlsTarget>> {
        let Some(policy) = &self.policy else { return Ok(None) };
        let name = tls_name.or(self.cluster_name.as_deref()).unwrap_or_default();
        let server_name = rustls::pki_types::ServerName::try_from(name.to_owned()).map_err(|_| {
            crate::error::Error::invalid_argument(format!(
                "{name:?} cannot be the name of a TLS certificate: give the seeds as host:name:port, \
                 or set ClientPolicy::cluster_name"
            ))
        })?;
        Ok(Some(TlsTarget { config: std::sync::Arc::clone(&policy.config), server_name }))
    }
}

#[cfg(not(feature = "tls"))]
#[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same face as with the feature
impl TlsSetup {
    pub(super) fn new(_: &ClientPolicy) -> Self {
        Self {}
    }

    pub(super) fn for_data(&self) -> bool {
        false
    }

    pub(super) fn login_only(&self) -> bool {
        false
    }

    pub(super) fn for_server(&self, _: Option<&str>) -> Result<Option<TlsTarget>> {
        Ok(None)
    }
}
