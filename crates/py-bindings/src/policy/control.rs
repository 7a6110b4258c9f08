//! The policies of what is not a single record or a batch: queries, administration, the end of transactions.

use aerospike_core as core;
use pyo3::PyAny;

use super::BasePolicy;
use super::define::{call_policy, in_force, policy};
use super::kinds::{Factor, Filter, Long, Member, Millis, Number, Switch, TouchTtl, UpTo};
use crate::txn::OfTxn;

call_policy! {
    /// How queries behave. Defaults: no limit of the total time, 5 retries.
    QueryPolicy(core::QueryPolicy) {
        /// Most nodes that are asked at the same time. 0 (the default): all.
        max_concurrent_nodes / set_max_concurrent_nodes: Number = max_concurrent_nodes;
        /// Most records that wait for the reader. Default 1,024.
        record_queue_size / set_record_queue_size: Number = record_queue_size;
        /// Most records per second and node. 0 (the default): no limit.
        records_per_second / set_records_per_second: Number = records_per_second;
        /// Most records in all, about. 0 (the default): no limit.
        max_records / set_max_records: Long = max_records;
        /// Whether bins come with the records. Default True.
        include_bin_data / set_include_bin_data: Switch = include_bin_data;
        /// How long the query is expected to take. Default `QueryDuration.LONG`.
        expected_duration / set_expected_duration: Member = expected_duration;
    }
}

policy! {
    /// How administration commands behave (info, users, indexes, UDF modules, truncate).
    AdminPolicy(core::AdminPolicy) extends PyAny {
        /// Most time for the command, in ms. 0 (the default): 3,000.
        timeout / set_timeout: Millis = timeout;
    }
}

policy! {
    /// How a commit checks what the transaction has read.
    TxnVerifyPolicy(core::TxnVerifyPolicy) extends PyAny {
        /// Most time for the step with its retries, in ms. Default 10,000.
        total_timeout / set_total_timeout: Millis = batch_policy.base_policy.total_timeout;
        /// Most time for one attempt, in ms. Default 3,000.
        socket_timeout / set_socket_timeout: Millis = batch_policy.base_policy.socket_timeout;
        /// Most attempts after the first one. Default 5.
        max_retries / set_max_retries: Number = batch_policy.base_policy.max_retries;
        /// Pause between two attempts, in ms. Default 1,000.
        sleep_between_retries / set_sleep_between_retries: Millis = batch_policy.base_policy.sleep_between_retries;
        /// Consistency of the reads. Default `ReadModeSC.LINEARIZE`.
        read_mode_sc / set_read_mode_sc: Member = batch_policy.base_policy.read_mode_sc;
        /// Which node is asked. Default `Replica.MASTER`.
        replica / set_replica: Member = batch_policy.base_policy.replica;
    }
}

policy! {
    /// How a commit or an abort ends the transaction at each record.
    TxnRollPolicy(core::TxnRollPolicy) extends PyAny {
        /// Most time for the step with its retries, in ms. Default 10,000.
        total_timeout / set_total_timeout: Millis = batch_policy.base_policy.total_timeout;
        /// Most time for one attempt, in ms. Default 3,000.
        socket_timeout / set_socket_timeout: Millis = batch_policy.base_policy.socket_timeout;
        /// Most attempts after the first one. Default 5.
        max_retries / set_max_retries: Number = batch_policy.base_policy.max_retries;
        /// Pause between two attempts, in ms. Default 1,000.
        sleep_between_retries / set_sleep_between_retries: Millis = batch_policy.base_policy.sleep_between_retries;
        /// Which node is asked. Default `Replica.MASTER`.
        replica / set_replica: Member = batch_policy.base_policy.replica;
    }
}

in_force!(
    QueryPolicy(core::QueryPolicy),
    AdminPolicy(core::AdminPolicy),
    TxnVerifyPolicy(core::TxnVerifyPolicy),
    TxnRollPolicy(core::TxnRollPolicy),
);
