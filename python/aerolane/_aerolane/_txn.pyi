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
    OPEN = 0
    VERIFIED = 1
    COMMITTED = 2
    ABORTED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitStatus(Enum):
    OK = 0
    ALREADY_COMMITTED = 1
    ROLL_FORWARD_ABANDONED = 2
    CLOSE_ABANDONED = 3
    def __int__(self) -> int: ...

class AbortStatus(Enum):
    OK = 0
    ALREADY_ABORTED = 1
    ROLL_BACK_ABANDONED = 2
    CLOSE_ABANDONED = 3
    COMMIT_FAILED = 4
    def __int__(self) -> int: ...

class CommitErrorType(Enum):
    VERIFY_FAIL = 0
    VERIFY_FAIL_CLOSE_ABANDONED = 1
    VERIFY_FAIL_ABORT_ABANDONED = 2
    MARK_ROLL_FORWARD_ABANDONED = 3
    ROLL_FORWARD_ABANDONED = 4
    def __int__(self) -> int: ...

@final
class Txn:
    def __new__(cls, *, timeout: int | None = None) -> Self: ...
    @property
    def id(self) -> int: ...
    state: TxnState
    @property
    def in_doubt(self) -> bool: ...
    timeout: int
    @property
    def namespace(self) -> str | None: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
