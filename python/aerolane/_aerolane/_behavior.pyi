"""Behaviors: named sets of settings."""

from datetime import timedelta
from typing import Any, ClassVar, Self, final

from ._call_policies import BatchPolicy, QueryPolicy, ReadPolicy, WritePolicy
from ._enums import CommitLevel, Mode, OpKind, OpShape, ReadModeAP, ReadModeSC, Replica

@final
class Settings:
    """Settings of a behavior; None leaves one to the scopes before, to the parent, or to the default.

    Times are `datetime.timedelta`, rounded up to milliseconds when used. Immutable.

    Raises `TypeError` for a value of a wrong type, `InvalidArgumentError` for one out of bounds.
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
    @property
    def total_timeout(self) -> timedelta | None:
        """Most time for the whole call with its retries. Zero: no limit."""
    @property
    def socket_timeout(self) -> timedelta | None:
        """Most time for one attempt; never more than the total one. Zero: as the total one."""
    @property
    def timeout_delay(self) -> timedelta | None:
        """How long a connection whose answer is late is kept for it. Of no effect on lanes, which always read late
        answers.
        """
    @property
    def max_retries(self) -> int | None:
        """Most attempts after the first one."""
    @property
    def retry_delay(self) -> timedelta | None:
        """Pause between two attempts."""
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
        """Which node is asked."""
    @property
    def read_mode_ap(self) -> ReadModeAP | None:
        """Copies that a read consults in a namespace of the AP mode."""
    @property
    def read_mode_sc(self) -> ReadModeSC | None:
        """Consistency of a read in a namespace of the SC mode."""
    @property
    def use_compression(self) -> bool | None:
        """Whether requests are compressed, and answers may be (Enterprise Edition)."""
    @property
    def compression_threshold(self) -> int | None:
        """Bytes that a request must exceed to be compressed."""
    @property
    def max_concurrent_nodes(self) -> int | None:
        """Most nodes that a batch or a query asks at the same time. 0: all."""
    @property
    def record_queue_size(self) -> int | None:
        """Most records of a query that wait for the reader."""
    @property
    def allow_scans_with_where(self) -> bool | None:
        """Whether a query with a condition that no index serves may scan."""
    @property
    def allow_inline(self) -> bool | None:
        """Whether the server may handle rows of a batch in memory on the thread that received them."""
    @property
    def allow_inline_ssd(self) -> bool | None:
        """The same for namespaces on SSD."""
    @property
    def read_touch_ttl_percent(self) -> int | None:
        """A read renews the record's time to live when this much of it, in percent (1 to 100), is left or less. 0:
        as the server is configured. -1: reads renew nothing.
        """
    @property
    def error_detail_verbosity(self) -> int | None:
        """How much the server tells about a failure: 0 the result code, 1 a sub-code, 2 a message, 3 also where in
        an expression.
        """
    @staticmethod
    def merge(base: Settings, override: Settings) -> Settings:
        """The settings of `base`, and over them those that `override` has. `override` may be passed by position
        only.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Behavior:
    """A named set of settings for all kinds of calls, made from another one by `derive_with_changes`.

    `DEFAULT`; `READ_FAST`: reads of 200 ms in all; `STRICTLY_CONSISTENT`: linearized reads in namespaces of the SC
    mode; `FAST_RACK_AWARE`: as `READ_FAST`, from the client's racks first. Only a configuration file changes one.
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
        """The behavior that this one was made from; None for `DEFAULT`."""
    @property
    def children(self) -> list[Behavior]:
        """The behaviors that were made from this one and are still in use."""
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
        """A new behavior: this one with changes. It can be found by its name while it is in use: by the program, a
        session, or a behavior made from it. One that had the name before is replaced there.

        Each argument is a `Settings` for a part of the calls. For reads apply `all`, `reads`, `reads_ap` or `reads_sc`,
        and `reads_point`, `reads_batch` or `reads_query`; for writes `all`, `writes`, `writes_ap` or `writes_sc`,
        `writes_retryable` or `writes_non_retryable`, and `writes_point`, `writes_batch` or `writes_query`. Later ones
        win, and all of them over what the parent says.

        A setting by itself (`total_timeout`, `max_retries`, ..) is one of `all`: so code for the first versions of the
        SDK of Aerospike says it.

        Raises `InvalidArgumentError` for an empty name and the names of predefined behaviors.
        """
    @property
    def total_timeout(self) -> timedelta:
        """Most time for a read of one record with its retries, a timedelta: of the settings of such reads, as are
        the four below, for code written for the first versions of the SDK of Aerospike.
        """
    @property
    def socket_timeout(self) -> timedelta:
        """Most time for one attempt, a timedelta."""
    @property
    def max_retries(self) -> int:
        """Most attempts after the first one."""
    @property
    def retry_delay(self) -> timedelta:
        """Pause between two attempts, a timedelta."""
    @property
    def send_key(self) -> bool:
        """Whether user keys are sent."""
    def get_settings(self, kind: OpKind, shape: OpShape, mode: Mode | None = None) -> Settings:
        """The settings of a kind of call."""
    def get_txn_verify_settings(self) -> Settings:
        """The settings of the step of a commit that checks what was read."""
    def get_txn_roll_settings(self) -> Settings:
        """The settings of the step that ends a transaction at each record."""
    def read_policy(self, mode: Mode | None = None) -> ReadPolicy:
        """The policy of reads of single records."""
    def write_policy(self, mode: Mode | None = None, kind: OpKind | None = None) -> WritePolicy:
        """The policy of writes of single records. `kind`: default `OpKind.WRITE_NON_RETRYABLE`, as for all writes of
        sessions.
        """
    def batch_policy(self, kind: OpKind, mode: Mode | None = None) -> BatchPolicy:
        """The policy of batches of a kind."""
    def query_policy(self, mode: Mode | None = None) -> QueryPolicy:
        """The policy of queries."""
    def find_behavior(self, name: str) -> Behavior | None:
        """This behavior or one made from it (from one made from it, ...) that has the name, or None."""
    def explain(self) -> str:
        """A text with the changes of this behavior and the settings that it comes to."""
    def clear_cache(self) -> None:
        """Does nothing: what a behavior comes to is up to date at any time. Here for code written for the SDK of
        Aerospike.
        """
    def __copy__(self) -> Behavior: ...
    def __deepcopy__(self, _memo: Any) -> Behavior: ...

def get_behavior(name: str) -> Behavior | None:
    """The behavior of this name, or None. One that is not predefined, nor from a configuration file, is known by its
    name while it is in use: by the program, a session, or a behavior made from it.
    """

def get_behavior_or_default(name: str) -> Behavior:
    """The behavior of this name, or `Behavior.DEFAULT`."""

def get_all_behaviors() -> dict[str, Behavior]:
    """All behaviors that are in use by name, in the order in which they were made."""
