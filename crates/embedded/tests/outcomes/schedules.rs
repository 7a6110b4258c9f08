//! The schedules, with what came of each operation on real nodes.

use crate::live::nodes::Role;
use Commit::{All, Master as OnMaster};
use Role::{Master, Other, Replica};
use Step::{Down, Noticed, Up};

/// What nodes keep over a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Nothing.
    Memory,
    /// Their records.
    Device,
}

/// Which of two versions of a record wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Generation,
    LastUpdateTime,
}

/// When a write is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// When all copies have it.
    All,
    /// When the master has it.
    Master,
}

/// What is done to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Write(Commit),
    Delete,
    Read,
}

/// An operation on one record, sent to one node, and what came of it: the answer, and what was there in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) key: u8,
    pub(crate) what: What,
    pub(crate) to: Role,
    pub(crate) expected: (&'static str, &'static str),
}

/// A step of a schedule. Roles are those that nodes have when the schedule begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Do(Operation),
    /// Nodes die. The others do not know it yet.
    Down(&'static [Role]),
    /// The others know it, and have moved the partitions.
    Noticed,
    /// Nodes come back; all records have been moved.
    Up(&'static [Role]),
}

pub(crate) struct Schedule {
    pub(crate) name: &'static str,
    pub(crate) storage: Storage,
    pub(crate) policy: Policy,
    pub(crate) steps: &'static [Step],
}

const fn write(key: u8, commit: Commit, to: Role, came: &'static str, end: &'static str) -> Step {
    Step::Do(Operation { key, what: What::Write(commit), to, expected: (came, end) })
}

const fn delete(key: u8, to: Role, came: &'static str, end: &'static str) -> Step {
    Step::Do(Operation { key, what: What::Delete, to, expected: (came, end) })
}

const fn read(key: u8, to: Role, came: &'static str) -> Step {
    Step::Do(Operation { key, what: What::Read, to, expected: (came, "") })
}

const ACK: &str = "acknowledged";
const DOUBT: &str = "in doubt";
const KEPT: &str = "kept";
const LOST: &str = "lost";
const DELETED: &str = "deleted";
const OVERWRITTEN: &str = "overwritten";
const GONE: &str = "gone";
const BACK: &str = "back";
const FOUND: &str = "found";
const NOT_FOUND: &str = "not found";

const REPLICA_DIES: &[Step] = &[
    write(1, All, Master, ACK, KEPT),
    Down(&[Replica]),
    write(2, All, Master, DOUBT, KEPT),
    write(3, OnMaster, Master, ACK, KEPT),
    read(2, Master, FOUND),
    Noticed,
    write(4, All, Master, ACK, KEPT),
    write(6, All, Other, ACK, KEPT),
    Up(&[Replica]),
    write(5, All, Replica, ACK, KEPT),
];

const MASTER_DIES: &[Step] = &[
    write(1, All, Master, ACK, KEPT),
    write(2, OnMaster, Master, ACK, KEPT),
    Down(&[Master]),
    write(3, All, Replica, DOUBT, LOST),
    write(4, OnMaster, Replica, DOUBT, LOST),
    write(5, All, Other, DOUBT, LOST),
    read(1, Replica, FOUND),
    Noticed,
    read(2, Replica, FOUND),
    write(6, All, Replica, ACK, KEPT),
    write(7, OnMaster, Other, ACK, KEPT),
    Up(&[Master]),
    read(6, Master, FOUND),
    write(8, All, Master, ACK, KEPT),
];

const BOTH_OWNERS_DIE: &[Step] = &[
    write(1, All, Master, ACK, LOST),
    write(2, All, Master, ACK, OVERWRITTEN),
    Down(&[Master, Replica]),
    write(3, All, Other, DOUBT, LOST),
    Noticed,
    read(1, Other, NOT_FOUND),
    write(2, All, Other, ACK, KEPT),
    write(4, All, Other, ACK, KEPT),
    Up(&[Master, Replica]),
    read(4, Master, FOUND),
];

const BOTH_OWNERS_DIE_AND_RETURN: &[Step] = &[
    write(1, All, Master, ACK, KEPT),
    write(2, All, Master, ACK, OVERWRITTEN),
    write(2, All, Master, ACK, KEPT),
    Down(&[Master, Replica]),
    Noticed,
    read(1, Other, NOT_FOUND),
    // Of a lower generation than what the others bring back.
    write(2, All, Other, ACK, OVERWRITTEN),
    write(3, All, Other, ACK, KEPT),
    Up(&[Master, Replica]),
    read(1, Master, FOUND),
];

const ONE_AFTER_THE_OTHER: &[Step] = &[
    write(1, All, Master, ACK, KEPT),
    Down(&[Master]),
    Noticed,
    write(2, All, Replica, ACK, KEPT),
    Down(&[Replica]),
    Noticed,
    // The third node has been given copies before.
    read(1, Other, FOUND),
    write(3, All, Other, ACK, KEPT),
    Up(&[Replica]),
    Up(&[Master]),
    read(3, Master, FOUND),
];

const DELETED_MEANWHILE_IN_MEMORY: &[Step] = &[
    write(1, All, Master, ACK, DELETED),
    write(2, All, Master, ACK, DELETED),
    Down(&[Replica]),
    Noticed,
    delete(1, Master, ACK, GONE),
    Up(&[Replica]),
    Down(&[Master]),
    Noticed,
    delete(2, Replica, ACK, GONE),
    Up(&[Master]),
];

const ZOMBIES: &[Step] = &[
    write(1, All, Master, ACK, KEPT),
    write(2, All, Master, ACK, KEPT),
    Down(&[Replica]),
    Noticed,
    delete(1, Master, ACK, BACK),
    Up(&[Replica]),
    Down(&[Master]),
    Noticed,
    delete(2, Replica, ACK, BACK),
    Up(&[Master]),
];

/// Both owners have written what the other one has not seen.
const fn divergence(generation: bool) -> [Step; 16] {
    let (first, last) = if generation { (KEPT, OVERWRITTEN) } else { (OVERWRITTEN, KEPT) };
    [
        write(1, All, Master, ACK, OVERWRITTEN),
        write(2, All, Master, ACK, KEPT),
        Down(&[Master]),
        Noticed,
        // Two writes here, and a later one there.
        write(1, All, Replica, ACK, OVERWRITTEN),
        write(1, All, Replica, ACK, first),
        delete(2, Replica, ACK, BACK),
        write(3, All, Replica, ACK, KEPT),
        Down(&[Replica, Other]),
        Up(&[Master]),
        write(1, All, Master, ACK, last),
        write(4, All, Master, ACK, KEPT),
        read(3, Master, NOT_FOUND),
        Up(&[Replica, Other]),
        read(3, Master, FOUND),
        read(4, Replica, FOUND),
    ]
}

pub(crate) const SCHEDULES: &[Schedule] = &[
    Schedule {
        name: "In memory: a replica dies and comes back",
        storage: Storage::Memory,
        policy: Policy::Generation,
        steps: REPLICA_DIES,
    },
    Schedule {
        name: "In memory: the master dies and comes back",
        storage: Storage::Memory,
        policy: Policy::Generation,
        steps: MASTER_DIES,
    },
    Schedule {
        name: "In memory: both owners die",
        storage: Storage::Memory,
        policy: Policy::Generation,
        steps: BOTH_OWNERS_DIE,
    },
    Schedule {
        name: "In memory: both owners die, one after the other",
        storage: Storage::Memory,
        policy: Policy::Generation,
        steps: ONE_AFTER_THE_OTHER,
    },
    Schedule {
        name: "In memory: records are deleted while an owner is away",
        storage: Storage::Memory,
        policy: Policy::Generation,
        steps: DELETED_MEANWHILE_IN_MEMORY,
    },
    Schedule {
        name: "With a device: a replica dies and comes back",
        storage: Storage::Device,
        policy: Policy::Generation,
        steps: REPLICA_DIES,
    },
    Schedule {
        name: "With a device: the master dies and comes back",
        storage: Storage::Device,
        policy: Policy::Generation,
        steps: MASTER_DIES,
    },
    Schedule {
        name: "With a device: both owners die and come back",
        storage: Storage::Device,
        policy: Policy::Generation,
        steps: BOTH_OWNERS_DIE_AND_RETURN,
    },
    Schedule {
        name: "With a device: records are deleted while an owner is away",
        storage: Storage::Device,
        policy: Policy::Generation,
        steps: ZOMBIES,
    },
    Schedule {
        name: "With a device: owners that have diverged, by generation",
        storage: Storage::Device,
        policy: Policy::Generation,
        steps: &divergence(true),
    },
    Schedule {
        name: "With a device: owners that have diverged, by time of the last update",
        storage: Storage::Device,
        policy: Policy::LastUpdateTime,
        steps: &divergence(false),
    },
];
