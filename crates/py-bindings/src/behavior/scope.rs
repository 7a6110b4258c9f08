//! Which calls settings are for, and in which order scopes apply.

use aerolane_config::Scope;
use pyo3::prelude::*;

use crate::policy::enums::{add, python_enum};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpKind {
    Read,
    WriteRetryable,
    WriteNonRetryable,
}

/// How much a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpShape {
    Point,
    Batch,
    Query,
}

/// The mode of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Ap,
    Sc,
}

impl OpKind {
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::WriteRetryable, Self::WriteNonRetryable];
}

impl OpShape {
    pub(super) const ALL: [Self; 3] = [Self::Point, Self::Batch, Self::Query];
}

impl Mode {
    pub(super) const ALL: [Self; 2] = [Self::Ap, Self::Sc];
}

python_enum! {
    /// What a call does: READ, WRITE_RETRYABLE (can safely be repeated), or WRITE_NON_RETRYABLE.
    "OpKind": OpKind {
        READ = "read" => Self::Read, WRITE_RETRYABLE = "write_retryable" => Self::WriteRetryable,
        WRITE_NON_RETRYABLE = "write_non_retryable" => Self::WriteNonRetryable,
    }
}
python_enum! {
    /// How many records a call is about: POINT (one record), BATCH (several, by key), QUERY.
    "OpShape": OpShape { POINT = "point" => Self::Point, BATCH = "batch" => Self::Batch, QUERY = "query" => Self::Query }
}
python_enum! {
    /// The mode of a namespace: AP (available, partition-tolerant) or SC (strong consistency).
    "Mode": Mode { AP = "ap" => Self::Ap, SC = "sc" => Self::Sc }
}

python_enum! {
    /// The calls that settings apply to: the keyword arguments of `Behavior.derive_with_changes`.
    "Scope": Scope {
        ALL = "all" => Self::All, READS = "reads" => Self::Reads, READS_POINT = "reads_point" => Self::ReadsPoint,
        READS_BATCH = "reads_batch" => Self::ReadsBatch, READS_QUERY = "reads_query" => Self::ReadsQuery,
        READS_AP = "reads_ap" => Self::ReadsAp, READS_SC = "reads_sc" => Self::ReadsSc,
        WRITES = "writes" => Self::Writes, WRITES_RETRYABLE = "writes_retryable" => Self::WritesRetryable,
        WRITES_NON_RETRYABLE = "writes_non_retryable" => Self::WritesNonRetryable,
        WRITES_POINT = "writes_point" => Self::WritesPoint, WRITES_BATCH = "writes_batch" => Self::WritesBatch,
        WRITES_QUERY = "writes_query" => Self::WritesQuery, WRITES_AP = "writes_ap" => Self::WritesAp,
        WRITES_SC = "writes_sc" => Self::WritesSc, SYSTEM_TXN_VERIFY = "system_txn_verify" => Self::SystemTxnVerify,
        SYSTEM_TXN_ROLL = "system_txn_roll" => Self::SystemTxnRoll,
    }
}

/// The scopes that apply to a call; later ones win.
pub(super) fn order(kind: OpKind, shape: OpShape, mode: Mode) -> Vec<Scope> {
    let by_mode = |ap, sc| if mode == Mode::Ap { ap } else { sc };
    if kind == OpKind::Read {
        let shape = match shape {
            OpShape::Point => Scope::ReadsPoint,
            OpShape::Batch => Scope::ReadsBatch,
            OpShape::Query => Scope::ReadsQuery,
        };
        return vec![Scope::All, Scope::Reads, by_mode(Scope::ReadsAp, Scope::ReadsSc), shape];
    }
    let repeat = match kind {
        OpKind::WriteRetryable => Scope::WritesRetryable,
        _ => Scope::WritesNonRetryable,
    };
    let shape = match shape {
        OpShape::Point => Scope::WritesPoint,
        OpShape::Batch => Scope::WritesBatch,
        OpShape::Query => Scope::WritesQuery,
    };
    vec![Scope::All, Scope::Writes, by_mode(Scope::WritesAp, Scope::WritesSc), repeat, shape]
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<OpKind>(module)?;
    add::<OpShape>(module)?;
    add::<Mode>(module)?;
    add::<Scope>(module)
}
