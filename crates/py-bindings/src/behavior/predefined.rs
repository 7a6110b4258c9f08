//! The behaviors that stand ready. Values as in the SDK of Aerospike (1.0).

use std::time::Duration;

use aerolane_config::{Scope, Settings as Values};
use aerospike_core::policy::{CommitLevel, ReadModeAp, ReadModeSc, ReadTouchTtl, Replica};

use super::resolved::Patch;

/// A behavior of the table.
pub(super) struct Predefined {
    pub(super) name: &'static str,
    /// The name of an earlier one.
    pub(super) parent: Option<&'static str>,
    pub(super) patches: Vec<Patch>,
}

/// All of them, parents first.
pub(super) fn all() -> Vec<Predefined> {
    let fast = Values {
        total_timeout: Some(Duration::from_millis(200)),
        socket_timeout: Some(Duration::from_millis(50)),
        max_retries: Some(3),
        ..Values::default()
    };
    let read_mode_sc = |mode| Values { read_mode_sc: Some(mode), ..Values::default() };
    let near = Values { replica: Some(Replica::PreferRack), ..Values::default() };
    vec![
        Predefined { name: "DEFAULT", parent: None, patches: default() },
        Predefined { name: "READ_FAST", parent: Some("DEFAULT"), patches: vec![(Scope::Reads, fast)] },
        Predefined {
            name: "STRICTLY_CONSISTENT",
            parent: Some("DEFAULT"),
            patches: vec![(Scope::ReadsSc, read_mode_sc(ReadModeSc::Linearize))],
        },
        Predefined {
            name: "FAST_RACK_AWARE",
            parent: Some("READ_FAST"),
            patches: vec![(Scope::Reads, near), (Scope::ReadsSc, read_mode_sc(ReadModeSc::Session))],
        },
    ]
}

fn default() -> Vec<Patch> {
    let nothing = Values::default();
    let seconds = |n| Some(Duration::from_secs(n));
    let batch =
        Values { allow_inline: Some(true), allow_inline_ssd: Some(false), max_concurrent_nodes: Some(0), ..nothing };
    let transaction = Values {
        total_timeout: seconds(10),
        socket_timeout: seconds(3),
        max_retries: Some(5),
        retry_delay: seconds(1),
        replica: Some(Replica::Master),
        max_concurrent_nodes: Some(0),
        ..nothing
    };
    vec![
        (
            Scope::All,
            Values {
                total_timeout: seconds(1),
                socket_timeout: seconds(30),
                max_retries: Some(2),
                retry_delay: seconds(0),
                send_key: Some(false),
                durable_delete: Some(false),
                replica: Some(Replica::Sequence),
                read_mode_ap: Some(ReadModeAp::One),
                read_mode_sc: Some(ReadModeSc::Session),
                max_concurrent_nodes: Some(1),
                read_touch_ttl_percent: Some(ReadTouchTtl::ServerDefault),
                ..nothing
            },
        ),
        (Scope::ReadsBatch, batch),
        (
            Scope::ReadsQuery,
            Values {
                total_timeout: seconds(0),
                max_retries: Some(5),
                record_queue_size: Some(5000),
                max_concurrent_nodes: Some(0),
                allow_scans_with_where: Some(true),
                ..nothing
            },
        ),
        (Scope::WritesNonRetryable, Values { max_retries: Some(0), ..nothing }),
        (Scope::WritesBatch, batch),
        (
            Scope::WritesQuery,
            Values { total_timeout: seconds(30), socket_timeout: seconds(5), max_concurrent_nodes: Some(0), ..nothing },
        ),
        (Scope::WritesAp, Values { commit_level: Some(CommitLevel::CommitAll), ..nothing }),
        (Scope::WritesSc, Values { durable_delete: Some(true), ..nothing }),
        (Scope::SystemTxnVerify, Values { read_mode_sc: Some(ReadModeSc::Linearize), ..transaction }),
        (Scope::SystemTxnRoll, transaction),
    ]
}
