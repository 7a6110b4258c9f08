"""Policies of rows of batches, and of steps."""

from typing import Any, Self, final

from ._enums import CommitLevel, GenerationPolicy, ReadModeSC, RecordExistsAction, Replica
from ._expiration import Expiration
from ._expression import FilterExpression

@final
class BatchReadPolicy:
    """Settings of a batch row that reads."""

    def __new__(
        cls, *, read_touch_ttl: int | None = None, filter_expression: FilterExpression | None = None
    ) -> Self: ...
    read_touch_ttl: int
    """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the default):
    as configured on the server. -1: reads never reset it.
    """
    filter_expression: FilterExpression | None
    """A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
    filter of the batch. Default None.
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *, read_touch_ttl: int | None = None, filter_expression: FilterExpression | None = None
    ) -> BatchReadPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class BatchWritePolicy:
    """Settings of a batch row that writes."""

    def __new__(
        cls,
        *,
        record_exists_action: RecordExistsAction | None = None,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        on_locking_only: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> Self: ...
    record_exists_action: RecordExistsAction
    """What to do if the record exists or does not exist. Default `RecordExistsAction.UPDATE`."""
    generation_policy: GenerationPolicy
    """Whether the record's generation is checked. Default `GenerationPolicy.NONE`."""
    commit_level: CommitLevel
    """Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`."""
    generation: int
    """The expected generation; see `generation_policy`. Default 0."""
    expiration: Expiration
    """When the record expires. Default `Expiration.NAMESPACE_DEFAULT`."""
    send_key: bool
    """Whether the user key is stored with the record. Default False."""
    durable_delete: bool
    """Whether a delete leaves a tombstone (Enterprise Edition). Default False."""
    on_locking_only: bool
    """Whether a write of a transaction only locks the record. Default False."""
    filter_expression: FilterExpression | None
    """A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
    filter of the batch. Default None.
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *,
        record_exists_action: RecordExistsAction | None = None,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        on_locking_only: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> BatchWritePolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class BatchDeletePolicy:
    """Settings of a batch row that deletes."""

    def __new__(
        cls,
        *,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> Self: ...
    generation_policy: GenerationPolicy
    """Whether the record's generation is checked. Default `GenerationPolicy.NONE`."""
    commit_level: CommitLevel
    """Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`."""
    generation: int
    """The expected generation; see `generation_policy`. Default 0."""
    send_key: bool
    """Whether the user key is sent as well. Default False."""
    durable_delete: bool
    """Whether the delete leaves a tombstone (Enterprise Edition). Default False."""
    filter_expression: FilterExpression | None
    """A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
    filter of the batch. Default None.
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> BatchDeletePolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class BatchUDFPolicy:
    """Settings of a batch row that applies a user-defined function."""

    def __new__(
        cls,
        *,
        commit_level: CommitLevel | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        on_locking_only: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> Self: ...
    commit_level: CommitLevel
    """Which copies must be written before the row succeeds. Default `CommitLevel.COMMIT_ALL`."""
    expiration: Expiration
    """When the record expires. Default `Expiration.NAMESPACE_DEFAULT`."""
    send_key: bool
    """Whether the user key is stored with the record. Default False."""
    durable_delete: bool
    """Whether a delete leaves a tombstone (Enterprise Edition). Default False."""
    on_locking_only: bool
    """Whether a write of a transaction only locks the record. Default False."""
    filter_expression: FilterExpression | None
    """A `FilterExpression`: if it is not true for the record, the row fails with `FILTERED_OUT`. Overrides the
    filter of the batch. Default None.
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *,
        commit_level: CommitLevel | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        durable_delete: bool | None = None,
        on_locking_only: bool | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> BatchUDFPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class AdminPolicy:
    """Settings of administration commands (info, users, indexes, UDF modules, truncate)."""

    def __new__(cls, *, timeout: int | None = None) -> Self: ...
    timeout: int
    """Timeout of the command in ms. 0 (the default) means 3,000."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(*, timeout: int | None = None) -> AdminPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class TxnVerifyPolicy:
    """Settings for checking the records that the transaction read, on a commit."""

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        read_mode_sc: ReadModeSC | None = None,
        replica: Replica | None = None,
    ) -> Self: ...
    total_timeout: int
    """Timeout of the step, retries included, in ms. Default 10,000."""
    socket_timeout: int
    """Timeout of one attempt in ms. Default 3,000."""
    max_retries: int
    """The maximum number of retries. Default 5."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 1,000."""
    read_mode_sc: ReadModeSC
    """How consistent the reads are. Default `ReadModeSC.LINEARIZE`."""
    replica: Replica
    """Which node the request goes to. Default `Replica.MASTER`."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        read_mode_sc: ReadModeSC | None = None,
        replica: Replica | None = None,
    ) -> TxnVerifyPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class TxnRollPolicy:
    """Settings for ending the transaction at each record, on a commit or an abort."""

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        replica: Replica | None = None,
    ) -> Self: ...
    total_timeout: int
    """Timeout of the step, retries included, in ms. Default 10,000."""
    socket_timeout: int
    """Timeout of one attempt in ms. Default 3,000."""
    max_retries: int
    """The maximum number of retries. Default 5."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 1,000."""
    replica: Replica
    """Which node the request goes to. Default `Replica.MASTER`."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        replica: Replica | None = None,
    ) -> TxnRollPolicy:
        """The same as the constructor."""
    def __eq__(self, other: object, /) -> bool: ...
