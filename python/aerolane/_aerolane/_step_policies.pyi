"""Policies of rows of batches, and of steps."""

from typing import Any, Self, final

from ._enums import CommitLevel, GenerationPolicy, ReadModeSC, RecordExistsAction, Replica
from ._expiration import Expiration
from ._expression import FilterExpression

@final
class BatchReadPolicy:
    """Settings of a batch row that reads."""

    def __new__(
        cls,
        *,
        read_touch_ttl: int | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        read_touch_ttl: int | None = None,
        filter_expression: FilterExpression | None = None,
    ) -> BatchReadPolicy:
        """The same as the constructor."""
    read_touch_ttl: int
    filter_expression: FilterExpression | None
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

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
    record_exists_action: RecordExistsAction
    generation_policy: GenerationPolicy
    commit_level: CommitLevel
    generation: int
    expiration: Expiration
    send_key: bool
    durable_delete: bool
    on_locking_only: bool
    filter_expression: FilterExpression | None
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

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
    generation_policy: GenerationPolicy
    commit_level: CommitLevel
    generation: int
    send_key: bool
    durable_delete: bool
    filter_expression: FilterExpression | None
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

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
    commit_level: CommitLevel
    expiration: Expiration
    send_key: bool
    durable_delete: bool
    on_locking_only: bool
    filter_expression: FilterExpression | None
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class AdminPolicy:
    """Settings of administration commands (info, users, indexes, UDF modules, truncate)."""

    def __new__(
        cls,
        *,
        timeout: int | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        timeout: int | None = None,
    ) -> AdminPolicy:
        """The same as the constructor."""
    timeout: int
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

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
    total_timeout: int
    socket_timeout: int
    max_retries: int
    sleep_between_retries: int
    read_mode_sc: ReadModeSC
    replica: Replica
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

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
    total_timeout: int
    socket_timeout: int
    max_retries: int
    sleep_between_retries: int
    replica: Replica
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
