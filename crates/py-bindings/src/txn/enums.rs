//! Enumerations of transactions.

use aerospike_core as core;
use pyo3::prelude::*;

use crate::policy::enums::{Named, python_enum};

python_enum! {
    /// Where a transaction stands.
    ///
    /// OPEN: it takes commands. VERIFIED: what it has read is still so, and it may be committed or aborted. COMMITTED,
    /// ABORTED: it is over. COMMIT_FAILED: a commit failed in doubt; only another commit can tell what became of it.
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
    /// How a commit has ended.
    CommitOutcome of core::CommitStatus { Ok, AlreadyCommitted, RollForwardAbandoned, CloseAbandoned }
}
mirror! {
    /// How an abort has ended.
    AbortOutcome of core::AbortStatus { Ok, AlreadyAborted, RollBackAbandoned, CloseAbandoned, CommitFailed }
}
mirror! {
    /// Where a commit has failed.
    CommitFailure of core::CommitErrorType {
        VerifyFail, VerifyFailCloseAbandoned, VerifyFailAbortAbandoned, MarkRollForwardAbandoned, RollForwardAbandoned,
    }
}

python_enum! {
    /// How a commit has ended.
    ///
    /// OK: it is done. ALREADY_COMMITTED: it was done before. ROLL_FORWARD_ABANDONED: the server will bring it to its
    /// end (a commit raises `CommitFailedError` then). CLOSE_ABANDONED: it is done, but the server must clean up.
    "CommitStatus": CommitOutcome {
        OK = 0 => Self::Ok, ALREADY_COMMITTED = 1 => Self::AlreadyCommitted,
        ROLL_FORWARD_ABANDONED = 2 => Self::RollForwardAbandoned, CLOSE_ABANDONED = 3 => Self::CloseAbandoned,
    }
}
python_enum! {
    /// How an abort has ended.
    ///
    /// OK: it is done. ALREADY_ABORTED: it was done before. ROLL_BACK_ABANDONED: the server will bring it to its end.
    /// CLOSE_ABANDONED: it is done, but the server must clean up. COMMIT_FAILED: a commit failed in doubt before (an
    /// abort raises `TransactionError` then).
    "AbortStatus": AbortOutcome {
        OK = 0 => Self::Ok, ALREADY_ABORTED = 1 => Self::AlreadyAborted,
        ROLL_BACK_ABANDONED = 2 => Self::RollBackAbandoned, CLOSE_ABANDONED = 3 => Self::CloseAbandoned,
        COMMIT_FAILED = 4 => Self::CommitFailed,
    }
}
python_enum! {
    /// Where a commit has failed.
    ///
    /// VERIFY_FAIL: a record that was read has changed; the transaction was aborted. VERIFY_FAIL_CLOSE_ABANDONED: the
    /// same, and the server must clean up. VERIFY_FAIL_ABORT_ABANDONED: the same, and the server will abort.
    /// MARK_ROLL_FORWARD_ABANDONED: it could not be marked as committed; the server will abort it.
    /// ROLL_FORWARD_ABANDONED: it is committed, and the server will make its writes visible.
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
