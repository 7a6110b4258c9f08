//! Enumerations of transactions.

use aerospike_core as core;
use pyo3::prelude::*;

use crate::policy::enums::{Named, python_enum};

python_enum! {
    /// The state of a transaction.
    ///
    /// OPEN: it accepts commands. VERIFIED: the records it read have not changed, and it can be committed or aborted.
    /// COMMITTED, ABORTED: it has ended. COMMIT_FAILED: a commit failed in doubt; only another commit can find out what
    /// happened.
    "TxnState": core::TxnState {
        OPEN = 0 => Self::Open, VERIFIED = 1 => Self::Verified, COMMITTED = 2 => Self::Committed,
        ABORTED = 3 => Self::Aborted, COMMIT_FAILED = 4 => Self::CommitFailed,
    }
}

/// Defines the Rust side of an enumeration that aerospike-core has, too, but not as one that can be copied.
macro_rules! mirror {
    ($(#[doc = $doc:literal])* $name:ident of $core:ty { $($member:ident),* $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($member),* }

        impl From<&$core> for $name {
            fn from(of: &$core) -> Self {
                match of { $(<$core>::$member => Self::$member),* }
            }
        }
    };
}

mirror! {
    /// The outcome of a commit.
    CommitOutcome of core::CommitStatus { Ok, AlreadyCommitted, RollForwardAbandoned, CloseAbandoned }
}
mirror! {
    /// The outcome of an abort.
    AbortOutcome of core::AbortStatus { Ok, AlreadyAborted, RollBackAbandoned, CloseAbandoned, CommitFailed }
}
mirror! {
    /// The stage in which a commit failed.
    CommitFailure of core::CommitErrorType {
        VerifyFail, VerifyFailCloseAbandoned, VerifyFailAbortAbandoned, MarkRollForwardAbandoned, RollForwardAbandoned,
    }
}

python_enum! {
    /// The outcome of a commit.
    ///
    /// OK: the transaction was committed. ALREADY_COMMITTED: it had been committed before. ROLL_FORWARD_ABANDONED: the
    /// server will finish the commit (the commit then raises `CommitFailedError`). CLOSE_ABANDONED: it was committed,
    /// but the server still has to clean up.
    "CommitStatus": CommitOutcome {
        OK = 0 => Self::Ok, ALREADY_COMMITTED = 1 => Self::AlreadyCommitted,
        ROLL_FORWARD_ABANDONED = 2 => Self::RollForwardAbandoned, CLOSE_ABANDONED = 3 => Self::CloseAbandoned,
    }
}
python_enum! {
    /// The outcome of an abort.
    ///
    /// OK: the transaction was aborted. ALREADY_ABORTED: it had been aborted before. ROLL_BACK_ABANDONED: the server
    /// will finish the abort. CLOSE_ABANDONED: it was aborted, but the server still has to clean up. COMMIT_FAILED: an
    /// earlier commit failed in doubt (an abort then raises `TransactionError`).
    "AbortStatus": AbortOutcome {
        OK = 0 => Self::Ok, ALREADY_ABORTED = 1 => Self::AlreadyAborted,
        ROLL_BACK_ABANDONED = 2 => Self::RollBackAbandoned, CLOSE_ABANDONED = 3 => Self::CloseAbandoned,
        COMMIT_FAILED = 4 => Self::CommitFailed,
    }
}
python_enum! {
    /// The stage in which a commit failed.
    ///
    /// VERIFY_FAIL: a record that was read has changed; the transaction was aborted. VERIFY_FAIL_CLOSE_ABANDONED: the
    /// same, and the server still has to clean up. VERIFY_FAIL_ABORT_ABANDONED: the same, and the server will abort the
    /// transaction. MARK_ROLL_FORWARD_ABANDONED: the transaction could not be marked as committed; the server will
    /// abort it. ROLL_FORWARD_ABANDONED: it is committed, and the server will make its writes visible.
    "CommitErrorType": CommitFailure {
        VERIFY_FAIL = 0 => Self::VerifyFail, VERIFY_FAIL_CLOSE_ABANDONED = 1 => Self::VerifyFailCloseAbandoned,
        VERIFY_FAIL_ABORT_ABANDONED = 2 => Self::VerifyFailAbortAbandoned,
        MARK_ROLL_FORWARD_ABANDONED = 3 => Self::MarkRollForwardAbandoned,
        ROLL_FORWARD_ABANDONED = 4 => Self::RollForwardAbandoned,
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fn add<T: Named>(module: &Bound<'_, PyModule>) -> PyResult<()> {
        T::class(module.py())?.setattr("__module__", "aerolane.native")?; // where pickle finds it
        module.add(T::NAME, T::class(module.py())?)
    }
    add::<core::TxnState>(module)?;
    add::<CommitOutcome>(module)?;
    add::<AbortOutcome>(module)?;
    add::<CommitFailure>(module)
}
