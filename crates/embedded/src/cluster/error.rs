//! Why a cluster, or one of its nodes, cannot be started or changed.

use super::NodeId;
use crate::conditions::ConditionsError;
use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why a cluster, or one of its nodes, cannot be started or changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClusterError {
    /// A setting of the builder is out of range; the text says which and why.
    Setting(String),
    /// Conditions are out of range or do not make sense.
    Conditions(ConditionsError),
    /// A port cannot be bound (often: something else listens there).
    Bind {
        /// What was to be bound.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The system refused something else, such as a thread.
    Io(io::Error),
    /// There is no node with this id.
    UnknownNode(NodeId),
    /// There is no namespace with this name.
    UnknownNamespace(String),
    /// The certificate or its key cannot be used.
    Tls(String),
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(text) => f.write_str(text),
            Self::Conditions(error) => error.fmt(f),
            Self::Bind { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Io(error) => write!(f, "the embedded cluster cannot start: {error}"),
            Self::UnknownNode(id) => write!(f, "the cluster has no node {id}"),
            Self::UnknownNamespace(name) => write!(f, "the cluster has no namespace {name:?}"),
            Self::Tls(text) => write!(f, "TLS: {text}"),
        }
    }
}

impl std::error::Error for ClusterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { error, .. } | Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConditionsError> for ClusterError {
    fn from(error: ConditionsError) -> Self {
        Self::Conditions(error)
    }
}

impl From<io::Error> for ClusterError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
