//! `BatchPolicy`, and the policies of the rows of a batch.

use aerospike_core as core;
use pyo3::PyAny;

use super::BasePolicy;
use super::define::{call_policy, in_force, policy};
use super::kinds::{Expires, Factor, Filter, Member, Millis, Number, Switch, TouchTtl, UpTo};
use crate::txn::OfTxn;

call_policy! {
    /// Settings of a batch as a whole. Defaults: 2 retries, and a total timeout of 1,000 ms for every 5,000 rows or 8
    /// MiB of requests, rounded up. Any other `total_timeout` than 1,000 is the limit regardless of the size.
    BatchPolicy(core::BatchPolicy) {
        /// Whether the nodes are asked one after the other or all at once. Default `Concurrency.PARALLEL`.
        concurrency / set_concurrency: Member = concurrency;
        /// Whether the server may process rows of in-memory namespaces on the thread that received the batch. Default
        /// True.
        allow_inline / set_allow_inline: Switch = allow_inline;
        /// The same for namespaces on SSDs. Default False.
        allow_inline_ssd / set_allow_inline_ssd: Switch = allow_inline_ssd;
        /// Whether the server continues with the other rows after one failed. Default True.
        respond_all_keys / set_respond_all_keys: Switch = respond_all_keys;
    }
}

policy! {
    /// Settings of a batch row that reads.
    BatchReadPolicy(core::BatchReadPolicy) extends PyAny {
        /// A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the
        /// default): as configured on the server. -1: reads never reset it.
        read_touch_ttl / set_read_touch_ttl: TouchTtl = read_touch_ttl;
        /// A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
        /// filter of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// Settings of a batch row that writes.
    BatchWritePolicy(core::BatchWritePolicy) extends PyAny {
        /// What to do if the record exists or does not exist. Default `RecordExistsAction.UPDATE`.
        record_exists_action / set_record_exists_action: Member = record_exists_action;
        /// Whether the record's generation is checked. Default `GenerationPolicy.NONE`.
        generation_policy / set_generation_policy: Member = generation_policy;
        /// Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// The expected generation; see `generation_policy`. Default 0.
        generation / set_generation: Number = generation;
        /// When the record expires. Default `Expiration.NAMESPACE_DEFAULT`.
        expiration / set_expiration: Expires = expiration;
        /// Whether the user key is stored with the record. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether a delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// Whether a write of a transaction only locks the record. Default False.
        on_locking_only / set_on_locking_only: Switch = on_locking_only;
        /// A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
        /// filter of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// Settings of a batch row that deletes.
    BatchDeletePolicy(core::BatchDeletePolicy) extends PyAny {
        /// Whether the record's generation is checked. Default `GenerationPolicy.NONE`.
        generation_policy / set_generation_policy: Member = generation_policy;
        /// Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// The expected generation; see `generation_policy`. Default 0.
        generation / set_generation: Number = generation;
        /// Whether the user key is sent as well. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether the delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
        /// filter of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// Settings of a batch row that applies a user-defined function.
    BatchUDFPolicy(core::BatchUdfPolicy) extends PyAny {
        /// Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// When the record expires. Default `Expiration.NAMESPACE_DEFAULT`.
        expiration / set_expiration: Expires = expiration;
        /// Whether the user key is stored with the record. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether a delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// Whether a write of a transaction only locks the record. Default False.
        on_locking_only / set_on_locking_only: Switch = on_locking_only;
        /// A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
        /// filter of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

in_force!(
    BatchPolicy(core::BatchPolicy),
    BatchReadPolicy(core::BatchReadPolicy),
    BatchWritePolicy(core::BatchWritePolicy),
    BatchDeletePolicy(core::BatchDeletePolicy),
    BatchUDFPolicy(core::BatchUdfPolicy),
);
