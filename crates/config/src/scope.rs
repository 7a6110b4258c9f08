//! Which calls settings are for.

macro_rules! scopes {
    ($($(#[$doc:meta])* $scope:ident $keyword:ident;)*) => {
        /// Which calls settings are for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Scope { $($(#[$doc])* $scope),* }

        impl Scope {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$scope),*];

            /// The name in programs, as the keyword argument of `Behavior.derive_with_changes` in Python.
            #[must_use]
            pub const fn keyword(self) -> &'static str {
                match self { $(Self::$scope => stringify!($keyword)),* }
            }
        }
    };
}

scopes! {
    /// All calls.
    All all;
    /// All reads.
    Reads reads;
    /// Reads of single records.
    ReadsPoint reads_point;
    /// Batches that read.
    ReadsBatch reads_batch;
    /// Queries.
    ReadsQuery reads_query;
    /// Reads in namespaces of the AP mode (availability before consistency).
    ReadsAp reads_ap;
    /// Reads in namespaces of the SC mode (strong consistency).
    ReadsSc reads_sc;
    /// All writes.
    Writes writes;
    /// Writes that do no harm when repeated.
    WritesRetryable writes_retryable;
    /// Writes that must not be repeated.
    WritesNonRetryable writes_non_retryable;
    /// Writes of single records.
    WritesPoint writes_point;
    /// Batches that write.
    WritesBatch writes_batch;
    /// Work in the background on what a query finds.
    WritesQuery writes_query;
    /// Writes in namespaces of the AP mode.
    WritesAp writes_ap;
    /// Writes in namespaces of the SC mode.
    WritesSc writes_sc;
    /// The step of a commit that checks what was read.
    SystemTxnVerify system_txn_verify;
    /// The step that ends a transaction at each record.
    SystemTxnRoll system_txn_roll;
}
