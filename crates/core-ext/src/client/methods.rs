//! The methods that all clients have, written once: async for [`Client`](super::Client) and
//! [`LocalClient`](super::LocalClient), blocking for [`SyncClient`](super::SyncClient).
//!
//! A client that uses this has `run(command)` (a single-record command on a lane), `in_txn(command)` (one that belongs to
//! a transaction) and `core_call(future)` (a future of aerospike-core, brought to its end), all async or all blocking.
//! The last two are large and rare: boxed, they do not make ours large.

/// Defines the single-record methods; `(async) (.await)` for an async client, `() ()` for a blocking one.
macro_rules! single_record_methods {
    (($($async:tt)*) ($($wait:tt)*)) => {
        /// Reads a record: all bins, some, or none (generation and expiration only).
        ///
        /// Fails with `KeyNotFoundError` when there is no record.
        pub $($async)* fn get(&self, policy: &ReadPolicy, key: &Key, bins: impl Into<Bins>) -> Result<Record> {
            let overlaid = self.shared.cluster.overlay().read(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let bins = bins.into();
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Get { policy, key, bins }) $($wait)*;
            }
            self.run(Get { policy, key, bins }) $($wait)*
        }

        /// Writes bins; a nil value removes its bin. Other bins of the record stay as they are.
        pub $($async)* fn put(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<()> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Write { policy, key, bins, kind: WriteKind::Put }) $($wait)*;
            }
            self.run(Write { policy, key, bins, kind: WriteKind::Put }) $($wait)*
        }

        /// Adds to numbers. A missing bin (or record) counts as 0.
        pub $($async)* fn add(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<()> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Write { policy, key, bins, kind: WriteKind::Add }) $($wait)*;
            }
            self.run(Write { policy, key, bins, kind: WriteKind::Add }) $($wait)*
        }

        /// Appends to strings or blobs.
        pub $($async)* fn append(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<()> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Write { policy, key, bins, kind: WriteKind::Append }) $($wait)*;
            }
            self.run(Write { policy, key, bins, kind: WriteKind::Append }) $($wait)*
        }

        /// Prepends to strings or blobs.
        pub $($async)* fn prepend(&self, policy: &WritePolicy, key: &Key, bins: &[Bin]) -> Result<()> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Write { policy, key, bins, kind: WriteKind::Prepend }) $($wait)*;
            }
            self.run(Write { policy, key, bins, kind: WriteKind::Prepend }) $($wait)*
        }

        /// Deletes a record; says whether it existed.
        pub $($async)* fn delete(&self, policy: &WritePolicy, key: &Key) -> Result<bool> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Delete { policy, key }) $($wait)*;
            }
            self.run(Delete { policy, key }) $($wait)*
        }

        /// Resets the TTL of a record (to the policy's expiration) and counts up its generation.
        ///
        /// Fails with `KeyNotFoundError` when there is no record.
        pub $($async)* fn touch(&self, policy: &WritePolicy, key: &Key) -> Result<()> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Touch { policy, key }) $($wait)*;
            }
            self.run(Touch { policy, key }) $($wait)*
        }

        /// Whether a record exists.
        pub $($async)* fn exists(&self, policy: &ReadPolicy, key: &Key) -> Result<bool> {
            let overlaid = self.shared.cluster.overlay().read(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            if policy.base_policy.txn.is_some() {
                return self.in_txn(Exists { policy, key }) $($wait)*;
            }
            self.run(Exists { policy, key }) $($wait)*
        }

        /// Carries out several operations on one record, in order and as one.
        pub $($async)* fn operate(
            &self,
            policy: &WritePolicy,
            key: &Key,
            operations: &[Operation],
        ) -> Result<Record> {
            let overlaid = self.shared.cluster.overlay().write(policy);
            let policy = overlaid.as_deref().unwrap_or(policy);
            let needs_core = operations_need_core(operations);
            if policy.base_policy.txn.is_some() {
                if needs_core {
                    txn::refuse(&policy.base_policy, "an operation that was made by aerospike-core")?;
                }
                return self.in_txn(Operate { policy, key, operations }) $($wait)*;
            }
            if needs_core {
                let operations = to_core(operations)?;
                return self.core_call(self.core().operate(policy, key, &operations)) $($wait)*;
            }
            self.run(Operate { policy, key, operations }) $($wait)*
        }

        /// Applies a function of a UDF module to one record; gives what it returns.
        pub $($async)* fn execute_udf(
            &self,
            policy: &WritePolicy,
            key: &Key,
            package_name: &str,
            function_name: &str,
            args: &[Value],
        ) -> Result<Option<Value>> {
            let command = Apply { policy, key, package_name, function_name, args };
            if policy.base_policy.txn.is_some() {
                return self.in_txn(command) $($wait)*;
            }
            self.run(command) $($wait)*
        }
    };
}

pub(crate) use single_record_methods;
