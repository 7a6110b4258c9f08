//! Every name at the root of aerospike-core 3.0.0 stands at the root of this crate, too: what a service imports from there,
//! it can import from here. Compiling this is the test.
//!
//! Not among them: what is hidden from aerospike-core's documentation, and what only its features `lua` and
//! `dynamic-config` have, which this crate does not switch on.

macro_rules! names {
    ($($name:ident),* $(,)?) => {
        mod theirs {
            #[allow(unused_imports)]
            use aerospike_core::{$($name),*};
        }

        mod ours {
            #[allow(unused_imports)]
            use aerolane::{$($name),*};
        }
    };
}

names! {
    AbortStatus, AdminPolicy, AuthMode, BasePolicy, BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy,
    BatchRecord, BatchUdfPolicy, BatchWritePolicy, Bin, Bins, CITRUSLEAF_EPOCH_UNIX_SECS, COMMIT_FAILED_ABORT_MESSAGE,
    Client, ClientPolicy, ClientResultCode, ClusterMetrics, CollectionIndexType, CommandType, CommitErrorType,
    CommitLevel, CommitStatus, Concurrency, DropIndexTask, EqFilterValue, Error, ErrorKind, ExecuteTask, Expiration,
    ExpressionTrace, FloatValue, GenerationPolicy, Host, IndexMap, IndexTask, IndexType, Key, Labels, LatencyUnit,
    ListOrderType, ListPolicy, ListReturnType, ListSortFlags, ListWriteFlags, MapCollection, MapLike, MapPolicy,
    MapReturnType, MapWriteFlags, MetricsPolicy, Node, NodeMetricsSnapshot, PartitionFilter, PoolGauges, Privilege,
    PrivilegeCode, QueryDuration, QueryHandle, QueryPolicy, RangeFilterValue, ReadModeAp, ReadModeSc, ReadPolicy,
    ReadTouchTtl, Record, RecordExistsAction, RecordMapper, Recordset, RegexFlags, RegisterTask, Replica, Result,
    ResultCode, Role, Sampler, ServerErrorDetail, Statement, Task, ToHosts, Txn, TxnRollPolicy, TxnState,
    TxnVerifyPolicy, UdfLang, UdfRemoveTask, User, Value, Version, WritePolicy, as_bin, as_blob, as_geo, as_key,
    as_list, as_map, as_ord_map, as_sorted_map, as_val, as_values, citrusleaf_epoch, errors, expressions, from_ael,
    mapping, metrics, operations, policy, query, sampler, server_error, task, txn,
}

#[cfg(feature = "tls")]
mod tls {
    #[allow(unused_imports)]
    use aerolane::TlsPolicy;
}
