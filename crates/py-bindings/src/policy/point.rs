//! `ReadPolicy` and `WritePolicy`.

use aerospike_core as core;

use super::BasePolicy;
use super::define::{call_policy, in_force};
use super::kinds::{Expires, Factor, Filter, Member, Millis, Number, Switch, TouchTtl, UpTo};
use crate::txn::OfTxn;

call_policy! {
    /// Settings of single-record reads. Defaults: a total timeout of 1,000 ms, 2 retries.
    ReadPolicy(core::ReadPolicy) {}
}

call_policy! {
    /// Settings of single-record writes, deletes and `operate`. Defaults: a total timeout of 1,000 ms, no retries.
    WritePolicy(core::WritePolicy) {
        /// What to do if the record exists or does not exist. Default `RecordExistsAction.UPDATE`.
        record_exists_action / set_record_exists_action: Member = record_exists_action;
        /// Whether the record's generation is checked. Default `GenerationPolicy.NONE`.
        generation_policy / set_generation_policy: Member = generation_policy;
        /// Which copies must be written before the call succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// The expected generation; see `generation_policy`. Default 0.
        generation / set_generation: Number = generation;
        /// When the record expires. Default `Expiration.NAMESPACE_DEFAULT`.
        expiration / set_expiration: Expires = expiration;
        /// Whether the user key is stored with the record. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether `operate` returns an entry for each operation, even for those without a result. Default False.
        respond_per_each_op / set_respond_per_each_op: Switch = respond_per_each_op;
        /// Whether a delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// The maximum number of records per second and node that a background query changes. 0 (the default): no
        /// limit.
        records_per_second / set_records_per_second: Number = records_per_second;
        /// Whether a write of a transaction only locks the record. Default False.
        on_locking_only / set_on_locking_only: Switch = on_locking_only;
        /// Whether the write counts as a write of cross-datacenter replication. Default False.
        xdr / set_xdr: Switch = xdr;
    }
}

in_force!(each thread: ReadPolicy(core::ReadPolicy), WritePolicy(core::WritePolicy));
