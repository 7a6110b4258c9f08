//! What a behavior comes to, worked out once for each change of it: the settings of each kind of call, and the policies that stand for them.

use std::sync::Arc;
use std::time::Duration;

use aerolane_config::{Scope, Settings as Values};
use aerospike_core as core;

use super::scope::{Mode, OpKind, OpShape, order};

/// Settings that apply within a scope.
pub(super) type Patch = (Scope, Values);

/// For the AP mode, and for the SC mode.
type ByMode<T> = [Arc<T>; 2];

/// The settings and policies of a behavior.
pub(crate) struct Resolved {
    /// What of it is the behavior's own.
    pub(super) patches: Vec<Patch>,
    /// By kind, shape and mode.
    settings: [[[Values; 2]; 3]; 3],
    pub(super) txn_verify: Values,
    pub(super) txn_roll: Values,
    read_point: ByMode<core::ReadPolicy>,
    write_point: [ByMode<core::WritePolicy>; 2],
    /// For each record that a batch writes.
    write_of_batch: ByMode<core::WritePolicy>,
    batch: [ByMode<core::BatchPolicy>; 3],
    query: ByMode<core::QueryPolicy>,
}

impl Resolved {
    /// What the parent comes to, and over it the patches.
    pub(super) fn new(parent: Option<&Self>, patches: Vec<Patch>) -> Self {
        let apply = |start: Values, scopes: &[Scope]| {
            scopes.iter().fold(start, |values, scope| {
                let of_scope = patches.iter().filter(|(of, _)| of == scope);
                of_scope.fold(values, |values, (_, patch)| values.merge(patch))
            })
        };
        let settings = OpKind::ALL.map(|kind| {
            OpShape::ALL.map(|shape| {
                Mode::ALL.map(|mode| {
                    let start = parent.map_or_else(Values::default, |parent| *parent.settings(kind, shape, mode));
                    apply(start, &order(kind, shape, mode))
                })
            })
        });
        let start = |of: fn(&Self) -> Values| parent.map_or_else(Values::default, of);
        let txn_verify = apply(start(|parent| parent.txn_verify), &[Scope::All, Scope::SystemTxnVerify]);
        let txn_roll = apply(start(|parent| parent.txn_roll), &[Scope::All, Scope::SystemTxnRoll]);

        let of = |kind: OpKind, shape: OpShape| settings[kind as usize][shape as usize];
        Self {
            read_point: of(OpKind::Read, OpShape::Point).map(|values| Arc::new(read(&values))),
            write_point: [OpKind::WriteRetryable, OpKind::WriteNonRetryable]
                .map(|kind| of(kind, OpShape::Point).map(|values| Arc::new(write(&values)))),
            write_of_batch: of(OpKind::WriteNonRetryable, OpShape::Batch).map(|values| Arc::new(write(&values))),
            batch: OpKind::ALL.map(|kind| of(kind, OpShape::Batch).map(|values| Arc::new(batch(&values)))),
            query: of(OpKind::Read, OpShape::Query).map(|values| Arc::new(query(&values))),
            settings,
            txn_verify,
            txn_roll,
            patches,
        }
    }

    pub(super) fn settings(&self, kind: OpKind, shape: OpShape, mode: Mode) -> &Values {
        &self.settings[kind as usize][shape as usize][mode as usize]
    }
}

/// The policies in force. `sc`: whether the namespace is one of the SC mode. Writes are those that are not repeated,
/// as in the SDK of Aerospike (1.0).
impl Resolved {
    pub(crate) fn read_point(&self, sc: bool) -> Arc<core::ReadPolicy> {
        Arc::clone(&self.read_point[usize::from(sc)])
    }

    pub(crate) fn write_point(&self, sc: bool) -> Arc<core::WritePolicy> {
        Arc::clone(&self.write_point[1][usize::from(sc)])
    }

    /// For writes that may be repeated without harm.
    pub(crate) fn write_point_retryable(&self, sc: bool) -> Arc<core::WritePolicy> {
        Arc::clone(&self.write_point[0][usize::from(sc)])
    }

    pub(crate) fn write_of_batch(&self, sc: bool) -> Arc<core::WritePolicy> {
        Arc::clone(&self.write_of_batch[usize::from(sc)])
    }

    /// For writes to all records of a set, in the background. Not kept: such a task is rare.
    pub(crate) fn write_query(&self, sc: bool) -> core::WritePolicy {
        write(self.settings(OpKind::WriteNonRetryable, OpShape::Query, if sc { Mode::Sc } else { Mode::Ap }))
    }

    pub(crate) fn batch(&self, kind: OpKind, sc: bool) -> Arc<core::BatchPolicy> {
        Arc::clone(&self.batch[kind as usize][usize::from(sc)])
    }

    /// For the step of a commit that checks what was read.
    pub(crate) fn txn_verify_policy(&self) -> core::TxnVerifyPolicy {
        let mut policy = core::TxnVerifyPolicy::default();
        base(&self.txn_verify, &mut policy.batch_policy.base_policy);
        policy
    }

    /// For the step that ends a transaction at each record.
    pub(crate) fn txn_roll_policy(&self) -> core::TxnRollPolicy {
        let mut policy = core::TxnRollPolicy::default();
        base(&self.txn_roll, &mut policy.batch_policy.base_policy);
        policy
    }

    /// Whether queries may read all records when no index serves their text. By default they may.
    pub(crate) fn allow_scans_with_where(&self, sc: bool) -> bool {
        let mode = if sc { Mode::Sc } else { Mode::Ap };
        self.settings(OpKind::Read, OpShape::Query, mode).allow_scans_with_where.unwrap_or(true)
    }

    pub(crate) fn query(&self, sc: bool) -> Arc<core::QueryPolicy> {
        Arc::clone(&self.query[usize::from(sc)])
    }
}

/// Whole milliseconds, rounded up: a limit of less than one must not become none.
fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}

/// Sets what is set.
fn set<T>(field: &mut T, value: Option<impl Into<T>>) {
    if let Some(value) = value {
        *field = value.into();
    }
}

fn base(values: &Values, base: &mut core::BasePolicy) {
    set(&mut base.total_timeout, values.total_timeout.map(millis));
    set(&mut base.socket_timeout, values.socket_timeout.map(millis));
    set(&mut base.timeout_delay, values.timeout_delay.map(millis));
    set(&mut base.max_retries, values.max_retries.map(|n| n as usize));
    set(&mut base.sleep_between_retries, values.retry_delay.map(millis));
    set(&mut base.replica, values.replica);
    set(&mut base.read_mode_ap, values.read_mode_ap);
    set(&mut base.read_mode_sc, values.read_mode_sc);
    set(&mut base.use_compression, values.use_compression);
    set(&mut base.compression_threshold, values.compression_threshold.map(|n| n as usize));
    set(&mut base.read_touch_ttl, values.read_touch_ttl_percent);
    set(&mut base.error_detail_verbosity, values.error_detail_verbosity);
}

fn read(values: &Values) -> core::ReadPolicy {
    let mut policy = core::ReadPolicy::default();
    base(values, &mut policy.base_policy);
    policy
}

fn write(values: &Values) -> core::WritePolicy {
    let mut policy = core::WritePolicy::default();
    base(values, &mut policy.base_policy);
    set(&mut policy.send_key, values.send_key);
    set(&mut policy.durable_delete, values.durable_delete);
    set(&mut policy.commit_level, values.commit_level);
    policy
}

fn batch(values: &Values) -> core::BatchPolicy {
    let mut policy = core::BatchPolicy::default();
    base(values, &mut policy.base_policy);
    set(&mut policy.allow_inline, values.allow_inline);
    set(&mut policy.allow_inline_ssd, values.allow_inline_ssd);
    set(
        &mut policy.concurrency,
        values.max_concurrent_nodes.map(|nodes| match nodes {
            1 => core::Concurrency::Sequential,
            _ => core::Concurrency::Parallel,
        }),
    );
    policy
}

fn query(values: &Values) -> core::QueryPolicy {
    let mut policy = core::QueryPolicy::default();
    base(values, &mut policy.base_policy);
    set(&mut policy.max_concurrent_nodes, values.max_concurrent_nodes.map(|n| n as usize));
    set(&mut policy.record_queue_size, values.record_queue_size.map(|n| n as usize));
    policy
}
