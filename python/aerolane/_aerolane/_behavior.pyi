"""Behaviors: named sets of settings."""

from datetime import timedelta
from typing import Any, ClassVar, Self, final

from ._call_policies import BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy
from ._enums import CommitLevel, Mode, OpKind, OpShape, ReadModeAP, ReadModeSC, Replica

@final
class Settings:
    """Settings of a behavior. For a setting that is None, the value of an earlier scope, the parent or the default
    applies.

    Times are `datetime.timedelta`, rounded up to milliseconds. Immutable.

    Raises `TypeError` for a value of the wrong type, `InvalidArgumentError` for a value that is out of range.
    """

    def __new__(
        cls,
        total_timeout: timedelta | None = None,
        socket_timeout: timedelta | None = None,
        timeout_delay: timedelta | None = None,
        max_retries: int | None = None,
        retry_delay: timedelta | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        commit_level: CommitLevel | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        max_concurrent_nodes: int | None = None,
        record_queue_size: int | None = None,
        allow_scans_with_where: bool | None = None,
        allow_inline: bool | None = None,
        allow_inline_ssd: bool | None = None,
        read_touch_ttl_percent: int | None = None,
        error_detail_verbosity: int | None = None,
    ) -> Self: ...
    @staticmethod
    def merge(base: Settings, override: Settings) -> Settings:
        """The settings of `base`, overridden by those of `override`. Pass `override` by position."""
    @property
    def total_timeout(self) -> timedelta | None:
        """Timeout of the whole call, retries included. Zero: no limit."""
    @property
    def socket_timeout(self) -> timedelta | None:
        """Timeout of one attempt; `total_timeout` limits it, too. Zero: the same as `total_timeout`."""
    @property
    def timeout_delay(self) -> timedelta | None:
        """How long a connection waits for a late answer. Has no effect on lanes, which always read late answers."""
    @property
    def max_retries(self) -> int | None:
        """The maximum number of retries."""
    @property
    def retry_delay(self) -> timedelta | None:
        """The pause between two attempts."""
    @property
    def send_key(self) -> bool | None:
        """Whether the user key is stored with the record."""
    @property
    def durable_delete(self) -> bool | None:
        """Whether a delete leaves a tombstone (Enterprise Edition)."""
    @property
    def commit_level(self) -> CommitLevel | None:
        """Which copies must be written before a write succeeds."""
    @property
    def replica(self) -> Replica | None:
        """Which node the request goes to."""
    @property
    def read_mode_ap(self) -> ReadModeAP | None:
        """How many copies a read consults in a namespace in AP mode."""
    @property
    def read_mode_sc(self) -> ReadModeSC | None:
        """How consistent a read is in a namespace in SC mode."""
    @property
    def use_compression(self) -> bool | None:
        """Whether requests are compressed and the server may compress its answers (Enterprise Edition)."""
    @property
    def compression_threshold(self) -> int | None:
        """The size in bytes above which requests are compressed."""
    @property
    def max_concurrent_nodes(self) -> int | None:
        """The maximum number of nodes that a batch or a query asks at the same time. 0: all."""
    @property
    def record_queue_size(self) -> int | None:
        """The maximum number of records of a query that are buffered for the reader."""
    @property
    def allow_scans_with_where(self) -> bool | None:
        """Whether a query may read all records if no index fits its condition."""
    @property
    def allow_inline(self) -> bool | None:
        """Whether the server may process rows of a batch on in-memory namespaces on the thread that received the
        batch.
        """
    @property
    def allow_inline_ssd(self) -> bool | None:
        """The same for namespaces on SSD."""
    @property
    def read_touch_ttl_percent(self) -> int | None:
        """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0: as
        configured on the server. -1: reads never reset it.
        """
    @property
    def error_detail_verbosity(self) -> int | None:
        """How much detail the server reports about a failure. 0: the result code. 1: also a sub-code. 2: also a
        message. 3: also where in an expression it failed.
        """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Behavior:
    """A named set of settings for all kinds of calls, derived from another one by `derive_with_changes`.

    Predefined: `DEFAULT`; `READ_FAST` (reads have 200 ms in total); `STRICTLY_CONSISTENT` (linearized reads in
    namespaces in SC mode); `FAST_RACK_AWARE` (as `READ_FAST`, preferring nodes on the client's racks). A behavior never
    changes, except by a configuration file.
    """

    DEFAULT: ClassVar[Behavior]
    READ_FAST: ClassVar[Behavior]
    STRICTLY_CONSISTENT: ClassVar[Behavior]
    FAST_RACK_AWARE: ClassVar[Behavior]
    @property
    def name(self) -> str:
        """The name."""
    @property
    def parent(self) -> Behavior | None:
        """The behavior that this one was derived from; None for `DEFAULT`."""
    @property
    def children(self) -> list[Behavior]:
        """The behaviors that were derived from this one and are still in use."""
    def derive_with_changes(
        self,
        name: str,
        *,
        all: Settings | None = None,
        reads: Settings | None = None,
        reads_point: Settings | None = None,
        reads_batch: Settings | None = None,
        reads_query: Settings | None = None,
        reads_ap: Settings | None = None,
        reads_sc: Settings | None = None,
        writes: Settings | None = None,
        writes_retryable: Settings | None = None,
        writes_non_retryable: Settings | None = None,
        writes_point: Settings | None = None,
        writes_batch: Settings | None = None,
        writes_query: Settings | None = None,
        writes_ap: Settings | None = None,
        writes_sc: Settings | None = None,
        system_txn_verify: Settings | None = None,
        system_txn_roll: Settings | None = None,
        total_timeout: timedelta | None = None,
        socket_timeout: timedelta | None = None,
        max_retries: int | None = None,
        retry_delay: timedelta | None = None,
        send_key: bool | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
    ) -> Behavior:
        """Returns a new behavior: this one with changes. It can be found by name for as long as the program, a session
        or a behavior derived from it uses it. An earlier behavior of the same name can no longer be found.

        Each argument is a `Settings` for some of the calls. Reads use `all`, `reads`, `reads_ap` or `reads_sc`, and
        `reads_point`, `reads_batch` or `reads_query`; writes use `all`, `writes`, `writes_ap` or `writes_sc`,
        `writes_retryable` or `writes_non_retryable`, and `writes_point`, `writes_batch` or `writes_query`. In this
        order, later ones override earlier ones, and all of them override the parent.

        A single setting (`total_timeout`, `max_retries`, ..) applies to all calls, as in the first versions of
        Aerospike's SDK.

        Raises `InvalidArgumentError` for an empty name and for the name of a predefined behavior.
        """
    @property
    def total_timeout(self) -> timedelta:
        """Timeout of a single-record read, retries included, a timedelta. This property and the other settings of
        such reads exist for code written for the first versions of Aerospike's SDK.
        """
    @property
    def socket_timeout(self) -> timedelta:
        """Timeout of one attempt, a timedelta."""
    @property
    def max_retries(self) -> int:
        """The maximum number of retries."""
    @property
    def retry_delay(self) -> timedelta:
        """The pause between two attempts, a timedelta."""
    @property
    def send_key(self) -> bool:
        """Whether user keys are sent."""
    def get_settings(self, kind: OpKind, shape: OpShape, mode: Mode | None = None) -> Settings:
        """The settings for a kind of call."""
    def get_txn_verify_settings(self) -> Settings:
        """The settings for the step of a commit that checks the records that were read."""
    def get_txn_roll_settings(self) -> Settings:
        """The settings for the step that ends a transaction at each record."""
    def read_policy(self, mode: Mode | None = None) -> ReadPolicy:
        """The policy for single-record reads."""
    def write_policy(self, mode: Mode | None = None, kind: OpKind | None = None) -> WritePolicy:
        """The policy for single-record writes. `kind`: `OpKind.WRITE_NON_RETRYABLE` by default, as for all writes of
        sessions.
        """
    def batch_policy(self, kind: OpKind, mode: Mode | None = None) -> BatchPolicy:
        """The policy for a kind of batch."""
    def query_policy(self, mode: Mode | None = None) -> QueryPolicy:
        """The policy for queries."""
    def find_behavior(self, name: str) -> Behavior | None:
        """The behavior of this name, searched for in this one and everything derived from it, or None."""
    def explain(self) -> str:
        """A text that lists the changes of this behavior and the resulting settings."""
    def clear_cache(self) -> None:
        """Does nothing, since a behavior is always up to date. It exists for code written for Aerospike's SDK."""
    def __copy__(self) -> Behavior: ...
    def __deepcopy__(self, _memo: Any) -> Behavior: ...

def get_behavior(name: str) -> Behavior | None:
    """The behavior of this name, or None. A behavior that is neither predefined nor from a configuration file can be
    found for as long as the program, a session or a behavior derived from it uses it.
    """

def get_behavior_or_default(name: str) -> Behavior:
    """The behavior of this name, or `Behavior.DEFAULT`."""

def get_all_behaviors() -> dict[str, Behavior]:
    """All behaviors in use by name, in the order in which they were created."""
