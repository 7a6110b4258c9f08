"""Transactions over several records."""

from enum import Enum
from typing import Any, Self, final

class TxnStatus(Enum):
    """How a transaction has ended: what `commit` and `abort` of a `TransactionalSession` give."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    ALREADY_COMMITTED = "already_committed"
    ALREADY_ABORTED = "already_aborted"
    ROLL_FORWARD_CLOSE_ABANDONED = "roll_forward_close_abandoned"
    ROLL_BACK_ABANDONED = "roll_back_abandoned"
    ROLL_BACK_CLOSE_ABANDONED = "roll_back_close_abandoned"

class TxnState(Enum):
    """Where a transaction stands."""

    OPEN = 0
    VERIFIED = 1
    COMMITTED = 2
    ABORTED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitStatus(Enum):
    """How a commit has ended."""

    OK = 0
    ALREADY_COMMITTED = 1
    ROLL_FORWARD_ABANDONED = 2
    CLOSE_ABANDONED = 3
    def __int__(self) -> int: ...

class AbortStatus(Enum):
    """How an abort has ended."""

    OK = 0
    ALREADY_ABORTED = 1
    ROLL_BACK_ABANDONED = 2
    CLOSE_ABANDONED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitErrorType(Enum):
    """Where a commit has failed."""

    VERIFY_FAIL = 0
    VERIFY_FAIL_CLOSE_ABANDONED = 1
    VERIFY_FAIL_ABORT_ABANDONED = 2
    MARK_ROLL_FORWARD_ABANDONED = 3
    ROLL_FORWARD_ABANDONED = 4
    def __int__(self) -> int: ...

@final
class Txn:
    """A transaction over several records of one namespace (Enterprise Edition, namespaces in strong-consistency
    mode).
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
