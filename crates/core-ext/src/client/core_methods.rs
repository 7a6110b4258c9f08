//! What aerospike-core does for us: thin methods with its names and signatures, written once for all clients.
//!
//! They run on the control thread's reactor, where aerospike-core's sockets live, so that they depend on no runtime of
//! the caller. Streams, tasks and nodes that they give are aerospike-core's.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use aerospike_core::{AdminPolicy, IndexMap, Node};

use super::raw::RawClient;
use crate::clock;
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Phase, Result};

/// Runs a future of aerospike-core from any executor (tokio or not), on the control thread's reactor.
///
/// # Errors
/// The call's own, or `ClientClosed`, also when the client is closed meanwhile.
pub(super) async fn on_core<T>(cluster: &Cluster, call: impl Future<Output = aerospike_core::Result<T>>) -> Result<T> {
    if cluster.is_closed() {
        return Err(Error::client_closed());
    }
    let begun = clock::now();
    let mut call = pin!(call);
    // What is made while the call is polled (sockets, timers, tasks) belongs to the runtime entered here.
    let entered = std::future::poll_fn(|cx| {
        let _context = cluster.runtime().enter();
        call.as_mut().poll(cx)
    });
    tokio::select! {
        biased;
        () = cluster.closing() => Err(Error::client_closed().with_phase(Phase::Sent)),
        result = entered => result.map_err(|error| of_core(&error, begun.elapsed())),
    }
}

/// The failure of a call that aerospike-core has carried out, with what it does not tell.
///
/// Info and admin commands, which it sends once, find out about connections before they have one: what is lost, is lost
/// after sending has begun.
pub(super) fn of_core(error: &aerospike_core::Error, elapsed: Duration) -> Error {
    let error = Error::from(error);
    let lost = matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Connection | ErrorKind::Io(_));
    // Of an error about several attempts, the last of them tells.
    let latest = error.cause().or(error.sub_errors().last()).map_or(Phase::Queued, Error::phase);
    let phase = if lost { latest.max(Phase::Sent) } else { error.phase() };
    let attempts = error.iteration().unwrap_or(1);
    error.with_phase(phase).with_attempts(attempts).with_elapsed(elapsed)
}

/// The failure of a command that changes something: without an answer, or with one that cannot be understood or is the
/// server's timeout, it may have been carried out.
pub(super) fn of_change(error: Error) -> Error {
    let sent = error.phase() >= Phase::Sent || matches!(error.kind(), ErrorKind::InvalidUtf8(_));
    if sent { error.set_in_doubt(true, 1) } else { error }
}

impl RawClient {
    /// Sends info commands to one node; gives the answers by command.
    ///
    /// # Errors
    /// Those of the connection, and `ClientClosed`.
    pub async fn ask(&self, node: &Node, policy: &AdminPolicy, commands: &[&str]) -> Result<IndexMap<String, String>> {
        on_core(self.cluster(), node.info(policy, commands)).await.map_err(|error| error.with_node(node.to_string()))
    }
}

/// What the signatures of the delegated methods need.
pub(super) mod prelude {
    pub(in crate::client) use std::sync::Arc;

    pub(in crate::client) use aerospike_core::expressions::Expression;
    pub(in crate::client) use aerospike_core::operations::CdtContext;
    pub(in crate::client) use aerospike_core::{
        AbortStatus, AdminPolicy, CollectionIndexType, CommitStatus, DropIndexTask, ExecuteTask, IndexMap, IndexTask,
        IndexType, Key, Node, PartitionFilter, Privilege, QueryHandle, QueryPlan, QueryPolicy, Record, RegisterTask,
        Role, Txn, TxnRollPolicy, TxnVerifyPolicy, UdfLang, UdfRemoveTask, User, Value, WritePolicy,
    };

    pub(in crate::client) use crate::client::stats::ClientStats;
    pub(in crate::client) use crate::client::txn;
    pub(in crate::client) use crate::error::Result;
    pub(in crate::client) use crate::metrics::{ClusterMetrics, MetricsExport, MetricsExporter, MetricsPolicy};
    pub(in crate::client) use crate::query::{Recordset, Statement};
}

/// Defines the delegated methods; `(async) (.await)` for an async client, `() ()` for a blocking one.
///
/// A client that uses this has `core()`, `core_call(future)`, `core_change(future)`, `own_call(future)` and `shared`.
macro_rules! core_methods {
    (($($async:tt)*) ($($wait:tt)*)) => {
        /// Whether the client has not been closed and knows an active node.
        #[must_use]
        pub fn is_connected(&self) -> bool {
            !self.shared.cluster.is_closed() && self.core().is_connected()
        }

        /// The version of aerospike-core beneath.
        #[must_use]
        pub const fn client_version() -> &'static str {
            aerospike_core::Client::client_version()
        }

        #[doc(hidden)] // as in aerospike-core
        #[must_use]
        pub fn partition_map_ready(&self) -> bool {
            self.core().partition_map_ready()
        }

        #[doc(hidden)] // as in aerospike-core
        #[must_use]
        pub fn partition_map_complete(&self) -> bool {
            self.core().partition_map_complete()
        }

        /// The names of the active nodes.
        #[must_use]
        pub fn node_names(&self) -> Vec<String> {
            self.core().node_names()
        }

        /// The active node of this name.
        pub fn get_node(&self, name: &str) -> Result<Arc<Node>> {
            self.shared.check_open()?;
            Ok(self.core().get_node(name)?)
        }

        /// The active nodes.
        #[must_use]
        pub fn nodes(&self) -> Vec<Arc<Node>> {
            self.core().nodes()
        }

        /// An active node.
        pub fn random_node(&self) -> Result<Arc<Node>> {
            self.shared.check_open()?;
            Ok(self.core().random_node()?)
        }

        /// The cluster's name as the policy asks for it.
        #[must_use]
        pub fn cluster_name(&self) -> Option<String> {
            self.core().cluster_name()
        }

        /// The cluster's name as its nodes report it.
        #[must_use]
        pub fn server_cluster_name(&self) -> Option<String> {
            self.core().server_cluster_name()
        }

        /// Whether a namespace is in strong-consistency mode; `None` if it is not known.
        #[must_use]
        pub fn is_strong_consistency(&self, namespace: &str) -> Option<bool> {
            self.core().is_strong_consistency(namespace)
        }

        /// Switches metrics on, or changes their policy; see [`metrics`](crate::metrics). Calls that are under way are
        /// not measured. Another unit of latencies drops all histograms; other columns and another shift show what our
        /// connections have measured anew, and drop what aerospike-core has.
        pub fn enable_metrics(&self, policy: MetricsPolicy) {
            self.shared.enable_metrics(policy);
        }

        /// Switches metrics off. What was measured stays.
        pub fn disable_metrics(&self) {
            self.shared.disable_metrics();
        }

        /// Whether metrics are on.
        #[must_use]
        pub fn metrics_enabled(&self) -> bool {
            self.shared.cluster.metrics().is_enabled()
        }

        /// The metrics at this moment, of all its clones and all clients made from it. Costs a lock per lane and thread,
        /// and some hundred microseconds: once a second is fine, once per operation is not.
        #[must_use]
        pub fn metrics(&self) -> ClusterMetrics {
            self.shared.metrics()
        }

        /// Gives an exporter a snapshot of the metrics after each interval, on a thread of its own, until the handle is
        /// dropped or the client is closed. [`MetricsExport::finish`] exports the rest.
        ///
        /// # Errors
        /// `InvalidArgument` for an interval below [`MetricsExport::LEAST_INTERVAL`]; when there is no thread to be had.
        pub fn export_metrics(&self, interval: std::time::Duration, exporter: impl MetricsExporter) -> Result<MetricsExport> {
            self.shared.export_metrics(interval, exporter)
        }

        /// What the connections of this client do and have done, per node.
        #[must_use]
        pub fn stats(&self) -> ClientStats {
            self.shared.stats()
        }

        /// What info commands answer, from a node at random: `("build")`, `("namespaces")`, ...
        pub $($async)* fn info(&self, policy: &AdminPolicy, commands: &[&str]) -> Result<IndexMap<String, String>> {
            self.core_call(self.core().info(policy, commands)) $($wait)*
        }

        /// Registers a UDF module from its source text. The task waits for all nodes.
        pub $($async)* fn register_udf(
            &self,
            policy: &AdminPolicy,
            udf_body: &[u8],
            server_path: &str,
            language: UdfLang,
        ) -> Result<RegisterTask> {
            self.core_change(self.core().register_udf(policy, udf_body, server_path, language)) $($wait)*
        }

        /// Registers a UDF module from a file. The task waits for all nodes.
        pub $($async)* fn register_udf_from_file(
            &self,
            policy: &AdminPolicy,
            client_path: &str,
            server_path: &str,
            language: UdfLang,
        ) -> Result<RegisterTask> {
            self.core_change(self.core().register_udf_from_file(policy, client_path, server_path, language)) $($wait)*
        }

        /// Removes a UDF module. The task waits for all nodes.
        pub $($async)* fn remove_udf(&self, policy: &AdminPolicy, server_path: &str) -> Result<UdfRemoveTask> {
            self.core_change(self.core().remove_udf(policy, server_path)) $($wait)*
        }

        /// Asks a server how it would find the records of a set (or of the namespace) for which the condition `ael`, an
        /// expression as text, is true: by which index, or by none. Servers from 8.2 on.
        ///
        /// `index_name_hint`: an index to prefer. `explain_where_flags`: bits of [`query_where`](crate::query_where);
        /// `None`: only `EXPLAIN`.
        ///
        /// Fails with `UnsupportedFeature` if a node is older, with `InvalidArgument` for a blank condition, for flags
        /// without `EXPLAIN` or unknown ones, and for `HARD_HINT` without a hint; with what the server says to a condition
        /// that it cannot read, or an index that it cannot use.
        pub $($async)* fn query_explain(
            &self,
            policy: &QueryPolicy,
            namespace: &str,
            set_name: Option<&str>,
            ael: &str,
            index_name_hint: Option<&str>,
            explain_where_flags: Option<u8>,
        ) -> Result<QueryPlan> {
            self.shared.check_open()?;
            crate::client::query::plan::check_servers(&self.nodes())?;
            let overlaid = self.shared.cluster.overlay().query(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let call = self.core().query_explain(
                policy, namespace, set_name, ael, index_name_hint, explain_where_flags,
            );
            self.core_call(call) $($wait)*
        }

        /// Applies operations to all records that a query finds, in the background. The task waits for its end. A failure
        /// is that of one node; others may carry it out.
        pub $($async)* fn query_operate(
            &self,
            write_policy: &WritePolicy,
            statement: Statement,
        ) -> Result<ExecuteTask> {
            txn::refuse(&write_policy.base_policy, "a background query")?;
            let statement = statement.into_core()?;
            self.core_change(self.core().query_operate(write_policy, statement)) $($wait)*
        }

        /// Applies a UDF to all records that a query finds, in the background. The task waits for its end. A failure is
        /// that of one node; others may carry it out.
        pub $($async)* fn query_execute_udf(
            &self,
            write_policy: &WritePolicy,
            statement: Statement,
            package_name: &str,
            function_name: &str,
            args: &[Value],
        ) -> Result<ExecuteTask> {
            txn::refuse(&write_policy.base_policy, "a background query")?;
            let statement = statement.into_core()?;
            let call = self.core().query_execute_udf(
                write_policy, statement, package_name, function_name, args,
            );
            self.core_change(call) $($wait)*
        }

        /// Sets the filter of what a datacenter is sent (XDR); `None` removes it.
        pub $($async)* fn set_xdr_filter(
            &self,
            policy: &AdminPolicy,
            datacenter: &str,
            namespace: &str,
            filter_expression: Option<&Expression>,
        ) -> Result<()> {
            self.core_change(self.core().set_xdr_filter(policy, datacenter, namespace, filter_expression)) $($wait)*
        }

        /// Removes all records of a set (of the whole namespace if `set_name` is empty) that are older than a time in
        /// nanoseconds since 1970; 0: all there are now.
        pub $($async)* fn truncate(
            &self,
            policy: &AdminPolicy,
            namespace: &str,
            set_name: &str,
            before_nanos: i64,
        ) -> Result<()> {
            self.core_change(self.core().truncate(policy, namespace, set_name, before_nanos)) $($wait)*
        }

        /// Creates a secondary index on a bin, or on what `ctx` selects in it. The task waits until it is built.
        #[allow(clippy::too_many_arguments)] // aerospike-core's signature
        pub $($async)* fn create_index_on_bin(
            &self,
            policy: &AdminPolicy,
            namespace: &str,
            set_name: &str,
            bin_name: &str,
            index_name: &str,
            index_type: IndexType,
            collection_index_type: CollectionIndexType,
            ctx: Option<&[CdtContext]>,
        ) -> Result<IndexTask> {
            let call = self.core().create_index_on_bin(
                policy, namespace, set_name, bin_name, index_name, index_type, collection_index_type, ctx,
            );
            self.core_change(call) $($wait)*
        }

        /// Creates a secondary index on the value of an expression. The task waits until it is built.
        #[allow(clippy::too_many_arguments)] // aerospike-core's signature
        pub $($async)* fn create_index_using_expression(
            &self,
            policy: &AdminPolicy,
            namespace: &str,
            set_name: &str,
            index_name: &str,
            index_type: IndexType,
            collection_index_type: CollectionIndexType,
            expression: &Expression,
        ) -> Result<IndexTask> {
            let call = self.core().create_index_using_expression(
                policy, namespace, set_name, index_name, index_type, collection_index_type, expression,
            );
            self.core_change(call) $($wait)*
        }

        /// Creates an index of a set's records (server 8.1.2 and later). The task waits until it is built.
        pub $($async)* fn create_set_index(
            &self,
            policy: &AdminPolicy,
            namespace: &str,
            set_name: &str,
            index_name: &str,
        ) -> Result<IndexTask> {
            self.core_change(self.core().create_set_index(policy, namespace, set_name, index_name)) $($wait)*
        }

        /// Drops a secondary index. The task waits until it is gone.
        pub $($async)* fn drop_index(
            &self,
            policy: &AdminPolicy,
            namespace: &str,
            set_name: &str,
            index_name: &str,
        ) -> Result<DropIndexTask> {
            self.core_change(self.core().drop_index(policy, namespace, set_name, index_name)) $($wait)*
        }

        /// Creates a user with a password and roles.
        pub $($async)* fn create_user(
            &self,
            policy: &AdminPolicy,
            user: &str,
            password: &str,
            roles: &[&str],
        ) -> Result<()> {
            self.core_change(self.core().create_user(policy, user, password, roles)) $($wait)*
        }

        /// Creates a user who logs in with a certificate.
        pub $($async)* fn create_pki_user(&self, policy: &AdminPolicy, user: &str, roles: &[&str]) -> Result<()> {
            self.core_change(self.core().create_pki_user(policy, user, roles)) $($wait)*
        }

        /// Removes a user.
        pub $($async)* fn drop_user(&self, policy: &AdminPolicy, user: &str) -> Result<()> {
            self.core_change(self.core().drop_user(policy, user)) $($wait)*
        }

        /// Changes a user's password.
        pub $($async)* fn change_password(&self, policy: &AdminPolicy, user: &str, password: &str) -> Result<()> {
            self.core_change(self.core().change_password(policy, user, password)) $($wait)*
        }

        /// Gives a user further roles.
        pub $($async)* fn grant_roles(&self, policy: &AdminPolicy, user: &str, roles: &[&str]) -> Result<()> {
            self.core_change(self.core().grant_roles(policy, user, roles)) $($wait)*
        }

        /// Takes roles from a user.
        pub $($async)* fn revoke_roles(&self, policy: &AdminPolicy, user: &str, roles: &[&str]) -> Result<()> {
            self.core_change(self.core().revoke_roles(policy, user, roles)) $($wait)*
        }

        /// One user, or all.
        pub $($async)* fn query_users(&self, policy: &AdminPolicy, user: Option<&str>) -> Result<Vec<User>> {
            self.core_call(self.core().query_users(policy, user)) $($wait)*
        }

        /// One role, or all.
        pub $($async)* fn query_roles(&self, policy: &AdminPolicy, role: Option<&str>) -> Result<Vec<Role>> {
            self.core_call(self.core().query_roles(policy, role)) $($wait)*
        }

        /// Creates a role. Quotas are operations per second; 0: none.
        pub $($async)* fn create_role(
            &self,
            policy: &AdminPolicy,
            role_name: &str,
            privileges: &[Privilege],
            allowlist: &[&str],
            read_quota: u32,
            write_quota: u32,
        ) -> Result<()> {
            let call = self.core().create_role(
                policy, role_name, privileges, allowlist, read_quota, write_quota,
            );
            self.core_change(call) $($wait)*
        }

        /// Removes a role.
        pub $($async)* fn drop_role(&self, policy: &AdminPolicy, role_name: &str) -> Result<()> {
            self.core_change(self.core().drop_role(policy, role_name)) $($wait)*
        }

        /// Gives a role further privileges.
        pub $($async)* fn grant_privileges(
            &self,
            policy: &AdminPolicy,
            role_name: &str,
            privileges: &[Privilege],
        ) -> Result<()> {
            self.core_change(self.core().grant_privileges(policy, role_name, privileges)) $($wait)*
        }

        /// Takes privileges from a role.
        pub $($async)* fn revoke_privileges(
            &self,
            policy: &AdminPolicy,
            role_name: &str,
            privileges: &[Privilege],
        ) -> Result<()> {
            self.core_change(self.core().revoke_privileges(policy, role_name, privileges)) $($wait)*
        }

        /// Sets the addresses from which a role may be used.
        pub $($async)* fn set_allowlist(
            &self,
            policy: &AdminPolicy,
            role_name: &str,
            allowlist: &[&str],
        ) -> Result<()> {
            self.core_change(self.core().set_allowlist(policy, role_name, allowlist)) $($wait)*
        }

        /// Sets the quotas of a role, in operations per second; 0: none.
        pub $($async)* fn set_quotas(
            &self,
            policy: &AdminPolicy,
            role_name: &str,
            read_quota: u32,
            write_quota: u32,
        ) -> Result<()> {
            self.core_change(self.core().set_quotas(policy, role_name, read_quota, write_quota)) $($wait)*
        }

        /// Commits a transaction: verifies that nothing it has read has changed, and makes what it has written visible.
        ///
        /// # Errors
        /// `Commit`, with the step that failed. In doubt (and `Txn::state` is `CommitFailed`): only another commit can
        /// tell what became of it. `MrtAborted` for a transaction that was aborted.
        pub $($async)* fn commit(&self, txn: &Arc<Txn>) -> Result<CommitStatus> {
            self.commit_with_policies(&TxnVerifyPolicy::default(), &TxnRollPolicy::default(), txn) $($wait)*
        }

        /// Commits a transaction, with policies for its steps: their timeouts and retries.
        pub $($async)* fn commit_with_policies(
            &self,
            verify_policy: &TxnVerifyPolicy,
            roll_policy: &TxnRollPolicy,
            txn: &Arc<Txn>,
        ) -> Result<CommitStatus> {
            self.own_call(txn::commit(&self.shared, verify_policy, roll_policy, txn)) $($wait)*
        }

        /// Takes back what a transaction has done.
        ///
        /// # Errors
        /// `MrtCommitted` for a transaction that was committed; `Client` after a commit that failed in doubt.
        pub $($async)* fn abort(&self, txn: &Arc<Txn>) -> Result<AbortStatus> {
            self.abort_with_policy(&TxnRollPolicy::default(), txn) $($wait)*
        }

        /// Takes back what a transaction has done, with a policy for it: its timeouts and retries.
        pub $($async)* fn abort_with_policy(&self, roll_policy: &TxnRollPolicy, txn: &Arc<Txn>) -> Result<AbortStatus> {
            self.own_call(txn::abort(&self.shared, roll_policy, txn)) $($wait)*
        }
    };
}

/// Defines the methods that give streams of records, for async clients.
macro_rules! stream_methods {
    () => {
        /// Reads the records that a statement selects: a scan without a filter, a query with one.
        ///
        /// Take the records from [`Recordset::into_stream`].
        pub async fn query(
            &self,
            policy: &QueryPolicy,
            partition_filter: PartitionFilter,
            statement: Statement,
        ) -> Result<Arc<Recordset>> {
            txn::refuse(&policy.base_policy, "a query")?;
            let overlaid = self.shared.cluster.overlay().query(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let statement = statement.into_core()?;
            self.core_call(self.core().query(policy, partition_filter, statement)).await.map(Recordset::new)
        }

        /// [`query`](Self::query) by a plan of [`query_explain`](Self::query_explain), which brings the index and the
        /// condition; the statement says what comes of each record.
        ///
        /// Fails with `FilteredOut` if no record can match, with `UnsupportedFeature` if a node is older than 8.2, with
        /// `InvalidArgument` if the statement has another namespace or set than the plan, or a filter, or the policy a
        /// filter expression.
        pub async fn query_with_plan(
            &self,
            policy: &QueryPolicy,
            partition_filter: PartitionFilter,
            statement: Statement,
            plan: QueryPlan,
        ) -> Result<Arc<Recordset>> {
            crate::client::query::plan::check_statement(policy, &statement, &plan)?;
            crate::client::query::plan::check_servers(&self.nodes())?;
            let overlaid = self.shared.cluster.overlay().query(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let statement = statement.into_core()?;
            let call = self.core().query_with_plan(policy, partition_filter, statement, plan);
            self.core_call(call).await.map(Recordset::new)
        }

        /// [`query`](Self::query) with a callback per record, called on the control thread: it must not block. `false`
        /// ends the query.
        pub async fn query_foreach<F, Fut>(
            &self,
            policy: &QueryPolicy,
            partition_filter: PartitionFilter,
            statement: Statement,
            callback: F,
        ) -> Result<QueryHandle>
        where
            F: Fn(Result<Record>) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = bool> + Send + 'static,
        {
            txn::refuse(&policy.base_policy, "a query")?;
            let overlaid = self.shared.cluster.overlay().query(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let statement = statement.into_core()?;
            let callback = move |record: aerospike_core::Result<Record>| callback(record.map_err(Error::from));
            self.core_call(self.core().query_foreach(policy, partition_filter, statement, callback)).await
        }

        /// Closes the client and all its clones: connections end, operations under way and later ones fail with
        /// `ClientClosed`.
        pub async fn close(&self) -> Result<()> {
            self.shared.close_data_paths();
            self.shared.cluster.close().await;
            Ok(())
        }
    };
}

pub(super) use {core_methods, stream_methods};
