//! Opening connections to nodes: TCP, TLS, login.

use aerospike_core::ClientPolicy;

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
