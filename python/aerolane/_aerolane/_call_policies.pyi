"""Policies of calls."""

from typing import Any, Self, final

from ._base_policy import BasePolicy
from ._enums import (
    CommitLevel,
    Concurrency,
    GenerationPolicy,
    QueryDuration,
    ReadModeAP,
    ReadModeSC,
    RecordExistsAction,
    Replica,
)
from ._expiration import Expiration
from ._expression import FilterExpression
from ._txn import Txn

@final
class ReadPolicy(BasePolicy):
    """Settings of single-record reads. Defaults: a total timeout of 1,000 ms, 2 retries."""

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
    ) -> ReadPolicy:
        """The same as the constructor."""
    total_timeout: int
    socket_timeout: int
    timeout_delay: int
    max_retries: int
    sleep_between_retries: int
    sleep_multiplier: float
    replica: Replica
    read_mode_ap: ReadModeAP
    read_mode_sc: ReadModeSC
    read_touch_ttl: int
    use_compression: bool
    compression_threshold: int
    error_detail_verbosity: int
    filter_expression: FilterExpression | None
    txn: Txn | None
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class WritePolicy(BasePolicy):
    """Settings of single-record writes, deletes and `operate`. Defaults: a total timeout of 1,000 ms, no retries."""

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        record_exists_action: RecordExistsAction | None = None,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        respond_per_each_op: bool | None = None,
        durable_delete: bool | None = None,
        records_per_second: int | None = None,
        on_locking_only: bool | None = None,
        xdr: bool | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        record_exists_action: RecordExistsAction | None = None,
        generation_policy: GenerationPolicy | None = None,
        commit_level: CommitLevel | None = None,
        generation: int | None = None,
        expiration: Expiration | None = None,
        send_key: bool | None = None,
        respond_per_each_op: bool | None = None,
        durable_delete: bool | None = None,
        records_per_second: int | None = None,
        on_locking_only: bool | None = None,
        xdr: bool | None = None,
    ) -> WritePolicy:
        """The same as the constructor."""
    total_timeout: int
    socket_timeout: int
    timeout_delay: int
    max_retries: int
    sleep_between_retries: int
    sleep_multiplier: float
    replica: Replica
    read_mode_ap: ReadModeAP
    read_mode_sc: ReadModeSC
    read_touch_ttl: int
    use_compression: bool
    compression_threshold: int
    error_detail_verbosity: int
    filter_expression: FilterExpression | None
    txn: Txn | None
    record_exists_action: RecordExistsAction
    generation_policy: GenerationPolicy
    commit_level: CommitLevel
    generation: int
    expiration: Expiration
    send_key: bool
    respond_per_each_op: bool
    durable_delete: bool
    records_per_second: int
    on_locking_only: bool
    xdr: bool
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class BatchPolicy(BasePolicy):
    """Settings of a batch as a whole. Defaults: 2 retries, and a total timeout of 1,000 ms for every 5,000 rows or 8
    MiB of requests, rounded up. Any other `total_timeout` than 1,000 is the limit regardless of the size.
    """

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        concurrency: Concurrency | None = None,
        allow_inline: bool | None = None,
        allow_inline_ssd: bool | None = None,
        respond_all_keys: bool | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        concurrency: Concurrency | None = None,
        allow_inline: bool | None = None,
        allow_inline_ssd: bool | None = None,
        respond_all_keys: bool | None = None,
    ) -> BatchPolicy:
        """The same as the constructor."""
    total_timeout: int
    socket_timeout: int
    timeout_delay: int
    max_retries: int
    sleep_between_retries: int
    sleep_multiplier: float
    replica: Replica
    read_mode_ap: ReadModeAP
    read_mode_sc: ReadModeSC
    read_touch_ttl: int
    use_compression: bool
    compression_threshold: int
    error_detail_verbosity: int
    filter_expression: FilterExpression | None
    txn: Txn | None
    concurrency: Concurrency
    allow_inline: bool
    allow_inline_ssd: bool
    respond_all_keys: bool
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class QueryPolicy(BasePolicy):
    """Settings of queries. Defaults: no total timeout, 5 retries."""

    def __new__(
        cls,
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        max_concurrent_nodes: int | None = None,
        record_queue_size: int | None = None,
        records_per_second: int | None = None,
        max_records: int | None = None,
        include_bin_data: bool | None = None,
        expected_duration: QueryDuration | None = None,
    ) -> Self: ...
    @staticmethod
    def from_fields(
        *,
        total_timeout: int | None = None,
        socket_timeout: int | None = None,
        timeout_delay: int | None = None,
        max_retries: int | None = None,
        sleep_between_retries: int | None = None,
        sleep_multiplier: float | None = None,
        replica: Replica | None = None,
        read_mode_ap: ReadModeAP | None = None,
        read_mode_sc: ReadModeSC | None = None,
        read_touch_ttl: int | None = None,
        use_compression: bool | None = None,
        compression_threshold: int | None = None,
        error_detail_verbosity: int | None = None,
        filter_expression: FilterExpression | None = None,
        txn: Txn | None = None,
        max_concurrent_nodes: int | None = None,
        record_queue_size: int | None = None,
        records_per_second: int | None = None,
        max_records: int | None = None,
        include_bin_data: bool | None = None,
        expected_duration: QueryDuration | None = None,
    ) -> QueryPolicy:
        """The same as the constructor."""
    total_timeout: int
    socket_timeout: int
    timeout_delay: int
    max_retries: int
    sleep_between_retries: int
    sleep_multiplier: float
    replica: Replica
    read_mode_ap: ReadModeAP
    read_mode_sc: ReadModeSC
    read_touch_ttl: int
    use_compression: bool
    compression_threshold: int
    error_detail_verbosity: int
    filter_expression: FilterExpression | None
    txn: Txn | None
    max_concurrent_nodes: int
    record_queue_size: int
    records_per_second: int
    max_records: int
    include_bin_data: bool
    expected_duration: QueryDuration
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
