"""Transactions over several records."""

from enum import Enum
from typing import Any, Self, final

class TxnStatus(Enum):
    """How a transaction has ended: what `commit` and `abort` of a `TransactionalSession` give.

    COMMITTED, ABORTED: it is done. ALREADY_COMMITTED, ALREADY_ABORTED: it was done before.
    ROLL_FORWARD_CLOSE_ABANDONED, ROLL_BACK_CLOSE_ABANDONED: it is done, but the server must clean up.
    ROLL_BACK_ABANDONED: the server will bring the abort to its end.
    """

    COMMITTED = "committed"
    ABORTED = "aborted"
    ALREADY_COMMITTED = "already_committed"
    ALREADY_ABORTED = "already_aborted"
    ROLL_FORWARD_CLOSE_ABANDONED = "roll_forward_close_abandoned"
    ROLL_BACK_ABANDONED = "roll_back_abandoned"
    ROLL_BACK_CLOSE_ABANDONED = "roll_back_close_abandoned"

class TxnState(Enum):
    """Where a transaction stands.

    OPEN: it takes commands. VERIFIED: what it has read is still so, and it may be committed or aborted. COMMITTED,
    ABORTED: it is over. COMMIT_FAILED: a commit failed in doubt; only another commit can tell what became of it.
    """

    OPEN = 0
    VERIFIED = 1
    COMMITTED = 2
    ABORTED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitStatus(Enum):
    """How a commit has ended.

    OK: it is done. ALREADY_COMMITTED: it was done before. ROLL_FORWARD_ABANDONED: the server will bring it to its end
    (a commit raises `CommitFailedError` then). CLOSE_ABANDONED: it is done, but the server must clean up.
    """

    OK = 0
    ALREADY_COMMITTED = 1
    ROLL_FORWARD_ABANDONED = 2
    CLOSE_ABANDONED = 3
    def __int__(self) -> int: ...

class AbortStatus(Enum):
    """How an abort has ended.

    OK: it is done. ALREADY_ABORTED: it was done before. ROLL_BACK_ABANDONED: the server will bring it to its end.
    CLOSE_ABANDONED: it is done, but the server must clean up. COMMIT_FAILED: a commit failed in doubt before (an abort
    raises `TransactionError` then).
    """

    OK = 0
    ALREADY_ABORTED = 1
    ROLL_BACK_ABANDONED = 2
    CLOSE_ABANDONED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitErrorType(Enum):
    """Where a commit has failed.

    VERIFY_FAIL: a record that was read has changed; the transaction was aborted. VERIFY_FAIL_CLOSE_ABANDONED: the same,
    and the server must clean up. VERIFY_FAIL_ABORT_ABANDONED: the same, and the server will abort.
    MARK_ROLL_FORWARD_ABANDONED: it could not be marked as committed; the server will abort it. ROLL_FORWARD_ABANDONED:
    it is committed, and the server will make its writes visible.
    """

    VERIFY_FAIL = 0
    VERIFY_FAIL_CLOSE_ABANDONED = 1
    VERIFY_FAIL_ABORT_ABANDONED = 2
    MARK_ROLL_FORWARD_ABANDONED = 3
    ROLL_FORWARD_ABANDONED = 4
    def __int__(self) -> int: ...

@final
class Txn:
    """A transaction over several records of one namespace (Enterprise Edition, namespaces in strong-consistency mode).

    Calls belong to it when they name it (`txn=...`, or the property `txn` of their policy); `client.commit` and
    `client.abort` end it. All calls about one record and all batches can belong to one; queries cannot. Two objects are
    equal when they are the same transaction.

    `timeout`: seconds that the server keeps it open. 0 (the default): as the server is configured, by default 10.
    """

    def __new__(cls, *, timeout: int | None = None) -> Self: ...
    @property
    def id(self) -> int:
        """The number of the transaction, chosen by the client. Not 0."""
    state: TxnState
    @property
    def in_doubt(self) -> bool:
        """Whether a commit or an abort has failed in a way that leaves open what the server did."""
    timeout: int
    @property
    def namespace(self) -> str | None:
        """The namespace of its records; `None` before the first call and after its end."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
