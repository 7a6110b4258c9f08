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
    """The state of a transaction.

    OPEN: it accepts commands. VERIFIED: the records it read have not changed, and it can be committed or aborted.
    COMMITTED, ABORTED: it has ended. COMMIT_FAILED: a commit failed in doubt; only another commit can find out what
    happened.
    """

    OPEN = 0
    VERIFIED = 1
    COMMITTED = 2
    ABORTED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitStatus(Enum):
    """The outcome of a commit.

    OK: the transaction was committed. ALREADY_COMMITTED: it had been committed before. ROLL_FORWARD_ABANDONED: the
    server will finish the commit (the commit then raises `CommitFailedError`). CLOSE_ABANDONED: it was committed, but
    the server still has to clean up.
    """

    OK = 0
    ALREADY_COMMITTED = 1
    ROLL_FORWARD_ABANDONED = 2
    CLOSE_ABANDONED = 3
    def __int__(self) -> int: ...

class AbortStatus(Enum):
    """The outcome of an abort.

    OK: the transaction was aborted. ALREADY_ABORTED: it had been aborted before. ROLL_BACK_ABANDONED: the server will
    finish the abort. CLOSE_ABANDONED: it was aborted, but the server still has to clean up. COMMIT_FAILED: an earlier
    commit failed in doubt (an abort then raises `TransactionError`).
    """

    OK = 0
    ALREADY_ABORTED = 1
    ROLL_BACK_ABANDONED = 2
    CLOSE_ABANDONED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitErrorType(Enum):
    """The stage in which a commit failed.

    VERIFY_FAIL: a record that was read has changed; the transaction was aborted. VERIFY_FAIL_CLOSE_ABANDONED: the same,
    and the server still has to clean up. VERIFY_FAIL_ABORT_ABANDONED: the same, and the server will abort the
    transaction. MARK_ROLL_FORWARD_ABANDONED: the transaction could not be marked as committed; the server will abort
    it. ROLL_FORWARD_ABANDONED: it is committed, and the server will make its writes visible.
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

    Calls join it by `txn=...`, or by the property `txn` of their policy; `client.commit` and `client.abort` end it. All
    single-record calls and all batches can be part of a transaction; queries cannot. Two objects are equal if they
    stand for the same transaction.

    `timeout`: how many seconds the server keeps it open. 0 (the default): as configured on the server, by default 10.
    """

    def __new__(cls, *, timeout: int | None = None) -> Self: ...
    timeout: int
    """How many seconds the server keeps it open; 0: as configured on the server. It can be set until the
    transaction's first call; after that, setting it raises `InvalidArgumentError`.
    """
    state: TxnState
    """The state of the transaction."""
    @property
    def id(self) -> int:
        """The number of the transaction, chosen by the client. Not 0."""
    @property
    def in_doubt(self) -> bool:
        """Whether a commit or an abort failed without telling what the server did."""
    @property
    def namespace(self) -> str | None:
        """The namespace of its records; `None` before the first call and after the end."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
