//! The clients that can be measured, and what to compare each one with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::workload::KeyMaker;

/// Asynchronous tasks or blocking threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Tasks on an asynchronous runtime.
    Async,
    /// Threads that block.
    Sync,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Async => "async",
            Self::Sync => "sync",
        })
    }
}

/// One way to reach the database (or not, for the floors without I/O).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// `aerospike_core::Client` on a tokio runtime.
    CoreAsync,
    /// `aerospike_core::Client` from threads that `block_on` a shared tokio runtime.
    CoreSync,
    /// `aerolane::Client` on a tokio runtime of the harness.
    AerolaneAsync,
    /// `aerolane::LocalClient`: tasks on Aerolane's per-thread runtimes.
    AerolaneLocal,
    /// `aerolane::SyncClient` from blocking threads.
    AerolaneSync,
    /// No I/O, asynchronous tasks: what the harness itself costs.
    #[value(alias = "floor")]
    FloorAsync,
    /// No I/O, threads: what the harness itself costs.
    FloorSync,
    /// No client, threads that each write requests to a socket and read the answers: what the system calls cost.
    FloorSocket,
}

impl ClientKind {
    /// The name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreAsync => "core-async",
            Self::CoreSync => "core-sync",
            Self::AerolaneAsync => "aerolane-async",
            Self::AerolaneLocal => "aerolane-local",
            Self::AerolaneSync => "aerolane-sync",
            Self::FloorAsync => "floor-async",
            Self::FloorSync => "floor-sync",
            Self::FloorSocket => "floor-socket",
        }
    }

    /// Whether its workers are tasks or threads.
    #[must_use]
    pub fn mode(self) -> Mode {
        match self {
            Self::CoreAsync | Self::AerolaneAsync | Self::AerolaneLocal | Self::FloorAsync => Mode::Async,
            Self::CoreSync | Self::AerolaneSync | Self::FloorSync | Self::FloorSocket => Mode::Sync,
        }
    }

    /// The client of aerospike-core that the ratios of this one refer to; none for the floors without I/O.
    #[must_use]
    pub fn reference(self) -> Option<Self> {
        match self {
            Self::CoreAsync | Self::AerolaneAsync | Self::AerolaneLocal => Some(Self::CoreAsync),
            Self::CoreSync | Self::AerolaneSync | Self::FloorSocket => Some(Self::CoreSync),
            Self::FloorAsync | Self::FloorSync => None,
        }
    }

    /// Whether it talks to a cluster.
    #[must_use]
    pub fn needs_cluster(self) -> bool {
        self.reference().is_some()
    }

    /// Whose function makes its keys: each client's figure includes what its own users pay.
    #[must_use]
    pub fn key_maker(self) -> KeyMaker {
        match self {
            Self::AerolaneAsync | Self::AerolaneLocal | Self::AerolaneSync => KeyMaker::Aerolane,
            _ => KeyMaker::AerospikeCore,
        }
    }

    /// What runs when no client is named: aerospike-core first, then all of Aerolane's of that mode.
    #[must_use]
    pub fn defaults(mode: Mode) -> Vec<Self> {
        match mode {
            Mode::Async => vec![Self::CoreAsync, Self::AerolaneAsync, Self::AerolaneLocal],
            Mode::Sync => vec![Self::CoreSync, Self::AerolaneSync],
        }
    }
}

impl fmt::Display for ClientKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for kind in ClientKind::value_variants() {
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{kind}\""));
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.name());
        }
    }

    #[test]
    fn references_have_the_same_mode_and_refer_to_themselves() {
        for kind in ClientKind::value_variants() {
            if let Some(reference) = kind.reference() {
                assert_eq!(reference.mode(), kind.mode());
                assert_eq!(reference.reference(), Some(reference));
            }
        }
    }
}
