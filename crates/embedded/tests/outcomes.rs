//! What becomes of writes while nodes die and come back: the same schedules on the embedded cluster and on three real nodes.
//!
//! Each operation of a schedule says what came of it on real nodes (Aerospike CE 8.1.2): what the node answered, and what was
//! there in the end. The embedded cluster has to come to the same. With three real nodes (namespace `test`, two copies) the
//! schedules run on these, too, and print what came of them as a table:
//!
//! ```sh
//! AEROSPIKE_HOST=127.0.0.1:3000 NODE_STOP='kill -KILL $(cat node{}/pid)' NODE_START='./start-node {}' \
//!     cargo test -p aerolane-embedded --test outcomes real_nodes -- --nocapture
//! ```
//!
//! `{}` is 0, 1 or 2: the nodes in the order of their ports. `NODE_STOP` ends a node as a crash does, but not before what it
//! has written is on its device, if it has one. Nodes in memory come back empty, those with a device with their records: what is
//! shown of the one cannot be shown of the other. Nobody else should use the cluster meanwhile.

mod common;
mod live;
mod shown;
mod outcomes {
    pub(crate) mod cluster;
    pub(crate) mod run;
    pub(crate) mod schedules;
}

use outcomes::cluster::{Embedded, Real};
use outcomes::run::{Row, run};
use outcomes::schedules::{SCHEDULES, Schedule, Storage};
use std::fmt::Write as _;

/// The rows that are not as they are written down.
fn unexpected(schedule: &Schedule, rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.came != row.expected.0 || row.end != row.expected.1) {
        writeln!(
            text,
            "{}, {}: {} and {}; on real nodes {} and {}",
            schedule.name, row.operation, row.came, row.end, row.expected.0, row.expected.1
        )
        .unwrap();
    }
    text
}

#[test]
fn the_embedded_cluster_comes_to_what_real_nodes_came_to() {
    let mut problems = String::new();
    for schedule in SCHEDULES {
        let mut cluster = Embedded::start(schedule.storage, schedule.policy);
        problems.push_str(&unexpected(schedule, &run(&mut cluster, schedule)));
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn real_nodes_come_to_what_is_written_down() {
    let Some(mut cluster) = Real::from_environment() else { return };
    let storage = cluster.storage();
    let (mut problems, mut table) = (String::new(), String::new());
    for schedule in SCHEDULES.iter().filter(|schedule| schedule.storage == storage) {
        cluster.set_policy(schedule.policy);
        let rows = run(&mut cluster, schedule);
        let mut embedded = Embedded::start(storage, schedule.policy);
        let ours = run(&mut embedded, schedule);
        writeln!(table, "\n{}\n\n| operation | real nodes | embedded cluster |\n|---|---|---|", schedule.name).unwrap();
        for (real, ours) in rows.iter().zip(&ours) {
            let show = |row: &Row| [row.came.as_str(), row.end.as_str()].join(", ").trim_end_matches(", ").to_owned();
            writeln!(table, "| {} | {} | {} |", real.operation, show(real), show(ours)).unwrap();
        }
        problems.push_str(&unexpected(schedule, &rows));
    }
    let left_out = SCHEDULES.iter().filter(|schedule| schedule.storage != storage).count();
    println!(
        "{table}\n{left_out} schedules are for nodes with {}",
        if storage == Storage::Memory { "a device" } else { "memory" }
    );
    assert!(problems.is_empty(), "{problems}");
}
