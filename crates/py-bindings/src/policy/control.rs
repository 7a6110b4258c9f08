//! The policies of what is not a single record or a batch: queries, administration, the end of transactions.

use aerospike_core as core;
use pyo3::PyAny;

use super::BasePolicy;
use super::define::{call_policy, in_force, policy};
use super::kinds::{Factor, Filter, Long, Member, Millis, Number, Switch, TouchTtl, UpTo};
use crate::txn::OfTxn;

call_policy! {
    /// Settings of queries. Defaults: no total timeout, 5 retries.
    QueryPolicy(core::QueryPolicy) {
        /// The maximum number of nodes that are asked at the same time. 0 (the default): all.
        max_concurrent_nodes / set_max_concurrent_nodes: Number = max_concurrent_nodes;
        /// The maximum number of records that are buffered for the reader. Default 1,024.
        record_queue_size / set_record_queue_size: Number = record_queue_size;
        /// The maximum number of records per second and node. 0 (the default): no limit.
        records_per_second / set_records_per_second: Number = records_per_second;
        /// The approximate maximum number of records. 0 (the default): no limit.
        max_records / set_max_records: Long = max_records;
        /// Whether the records include their bins. Default True.
        include_bin_data / set_include_bin_data: Switch = include_bin_data;
        /// How long the query is expected to take. Default `QueryDuration.LONG`.
        expected_duration / set_expected_duration: Member = expected_duration;
    }
}

policy! {
    /// Settings of administration commands (info, users, indexes, UDF modules, truncate).
    AdminPolicy(core::AdminPolicy) extends PyAny {
        /// Timeout of the command in ms. 0 (the default) means 3,000.
        timeout / set_timeout: Millis = timeout;
    }
}

policy! {
    /// Settings for checking the records that the transaction read, on a commit.
    TxnVerifyPolicy(core::TxnVerifyPolicy) extends PyAny {
        /// Timeout of the step, retries included, in ms. Default 10,000.
        total_timeout / set_total_timeout: Millis = batch_policy.base_policy.total_timeout;
        /// Timeout of one attempt in ms. Default 3,000.
        socket_timeout / set_socket_timeout: Millis = batch_policy.base_policy.socket_timeout;
        /// The maximum number of retries. Default 5.
        max_retries / set_max_retries: Number = batch_policy.base_policy.max_retries;
        /// The pause between two attempts in ms. Default 1,000.
        sleep_between_retries / set_sleep_between_retries: Millis = batch_policy.base_policy.sleep_between_retries;
        /// How consistent the reads are. Default `ReadModeSC.LINEARIZE`.
        read_mode_sc / set_read_mode_sc: Member = batch_policy.base_policy.read_mode_sc;
        /// Which node the request goes to. Default `Replica.MASTER`.
        replica / set_replica: Member = batch_policy.base_policy.replica;
    }
}

policy! {
    /// Settings for ending the transaction at each record, on a commit or an abort.
    TxnRollPolicy(core::TxnRollPolicy) extends PyAny {
        /// Timeout of the step, retries included, in ms. Default 10,000.
        total_timeout / set_total_timeout: Millis = batch_policy.base_policy.total_timeout;
        /// Timeout of one attempt in ms. Default 3,000.
        socket_timeout / set_socket_timeout: Millis = batch_policy.base_policy.socket_timeout;
        /// The maximum number of retries. Default 5.
        max_retries / set_max_retries: Number = batch_policy.base_policy.max_retries;
        /// The pause between two attempts in ms. Default 1,000.
        sleep_between_retries / set_sleep_between_retries: Millis = batch_policy.base_policy.sleep_between_retries;
        /// Which node the request goes to. Default `Replica.MASTER`.
        replica / set_replica: Member = batch_policy.base_policy.replica;
    }
}

in_force!(
    QueryPolicy(core::QueryPolicy),
    AdminPolicy(core::AdminPolicy),
    TxnVerifyPolicy(core::TxnVerifyPolicy),
    TxnRollPolicy(core::TxnRollPolicy),
);
