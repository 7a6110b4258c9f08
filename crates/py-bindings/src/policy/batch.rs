//! `BatchPolicy`, and the policies of the rows of a batch.

use aerospike_core as core;
use pyo3::PyAny;

use super::BasePolicy;
use super::define::{call_policy, in_force, policy};
use super::kinds::{Expires, Factor, Filter, Member, Millis, Number, Switch, TouchTtl, UpTo};
use crate::txn::OfTxn;

call_policy! {
    /// How a batch behaves as a whole. Defaults: 2 retries, and 1,000 ms in total for each started 5,000 rows or 8 MiB of
    /// requests. A `total_timeout` other than 1,000 is the limit whatever the size.
    BatchPolicy(core::BatchPolicy) {
        /// Whether nodes are asked one after the other or all at once. Default `Concurrency.PARALLEL`.
        concurrency / set_concurrency: Member = concurrency;
        /// Whether the server may handle rows of namespaces in memory on the thread that received them. Default True.
        allow_inline / set_allow_inline: Switch = allow_inline;
        /// The same for namespaces on SSD. Default False.
        allow_inline_ssd / set_allow_inline_ssd: Switch = allow_inline_ssd;
        /// Whether the server goes on after a row that failed. Default True.
        respond_all_keys / set_respond_all_keys: Switch = respond_all_keys;
    }
}

policy! {
    /// How a row of a batch reads.
    BatchReadPolicy(core::BatchReadPolicy) extends PyAny {
        /// A read renews the record's time to live when this much of it, in percent (1 to 100), is left or less.
        /// 0 (the default): as the server is configured. -1: reads renew nothing.
        read_touch_ttl / set_read_touch_ttl: TouchTtl = read_touch_ttl;
        /// A `FilterExpression`: the row of a record for which it is not true fails with `FILTERED_OUT`; it goes
        /// before that of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// How a row of a batch writes.
    BatchWritePolicy(core::BatchWritePolicy) extends PyAny {
        /// What to do when the record exists, or does not. Default `RecordExistsAction.UPDATE`.
        record_exists_action / set_record_exists_action: Member = record_exists_action;
        /// Whether the record's generation matters. Default `GenerationPolicy.NONE`.
        generation_policy / set_generation_policy: Member = generation_policy;
        /// Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// The generation expected, with `generation_policy`. Default 0.
        generation / set_generation: Number = generation;
        /// When the record expires. Default `Expiration.NAMESPACE_DEFAULT`.
        expiration / set_expiration: Expires = expiration;
        /// Whether the user key is stored with the record. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether a delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// Whether a write of a transaction only locks the record. Default False.
        on_locking_only / set_on_locking_only: Switch = on_locking_only;
        /// A `FilterExpression`: the row of a record for which it is not true fails with `FILTERED_OUT`; it goes
        /// before that of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// How a row of a batch deletes.
    BatchDeletePolicy(core::BatchDeletePolicy) extends PyAny {
        /// Whether the record's generation matters. Default `GenerationPolicy.NONE`.
        generation_policy / set_generation_policy: Member = generation_policy;
        /// Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`.
        commit_level / set_commit_level: Member = commit_level;
        /// The generation expected, with `generation_policy`. Default 0.
        generation / set_generation: Number = generation;
        /// Whether the user key is sent along. Default False.
        send_key / set_send_key: Switch = send_key;
        /// Whether the delete leaves a tombstone (Enterprise Edition). Default False.
        durable_delete / set_durable_delete: Switch = durable_delete;
        /// A `FilterExpression`: the row of a record for which it is not true fails with `FILTERED_OUT`; it goes
        /// before that of the batch. Default None.
        filter_expression / set_filter_expression: Filter = filter_expression;
    }
}

policy! {
    /// How a row of a batch runs a user-defined function.
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
        /// A `FilterExpression`: the row of a record for which it is not true fails with `FILTERED_OUT`; it goes
        /// before that of the batch. Default None.
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
