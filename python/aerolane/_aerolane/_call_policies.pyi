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
    total_timeout: int
    """Timeout of the whole call, retries included, in ms. 0: no limit."""
    socket_timeout: int
    """Timeout of one attempt in ms; `total_timeout` limits it, too. 0: the same as `total_timeout`. Default 30,000."""
    timeout_delay: int
    """How long a connection waits for a late answer, in ms. Default 0. Has no effect on lanes, which always read
    late answers.
    """
    max_retries: int
    """The maximum number of retries."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 0."""
    sleep_multiplier: float
    """The factor by which the pause grows after each attempt. Default 1.0: it stays the same."""
    replica: Replica
    """Which node the request goes to. Default `Replica.SEQUENCE`."""
    read_mode_ap: ReadModeAP
    """How many copies a read consults in a namespace in AP mode. Default `ReadModeAP.ONE`."""
    read_mode_sc: ReadModeSC
    """How consistent a read is in a namespace in SC mode. Default `ReadModeSC.SESSION`."""
    read_touch_ttl: int
    """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the default):
    as configured on the server. -1: reads never reset it.
    """
    use_compression: bool
    """Whether requests are compressed and the server may compress its answers (Enterprise Edition). Default False."""
    compression_threshold: int
    """The size in bytes above which requests are compressed. Default 128."""
    error_detail_verbosity: int
    """How much detail the server reports about a failure (server 8.2 and later). 0 (the default): the result code.
    1: also a sub-code. 2: also a message. 3: also where in an expression it failed.
    """
    filter_expression: FilterExpression | None
    """A `FilterExpression`: records for which it is not true are left unchanged (`FilteredOutError`). Default None."""
    txn: Txn | None
    """The `Txn` that the call belongs to. Default None. Single-record calls and batches can be part of a
    transaction; queries cannot (`InvalidArgumentError`).
    """
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
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
    def __eq__(self, other: object, /) -> bool: ...

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
    total_timeout: int
    """Timeout of the whole call, retries included, in ms. 0: no limit."""
    socket_timeout: int
    """Timeout of one attempt in ms; `total_timeout` limits it, too. 0: the same as `total_timeout`. Default 30,000."""
    timeout_delay: int
    """How long a connection waits for a late answer, in ms. Default 0. Has no effect on lanes, which always read
    late answers.
    """
    max_retries: int
    """The maximum number of retries."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 0."""
    sleep_multiplier: float
    """The factor by which the pause grows after each attempt. Default 1.0: it stays the same."""
    replica: Replica
    """Which node the request goes to. Default `Replica.SEQUENCE`."""
    read_mode_ap: ReadModeAP
    """How many copies a read consults in a namespace in AP mode. Default `ReadModeAP.ONE`."""
    read_mode_sc: ReadModeSC
    """How consistent a read is in a namespace in SC mode. Default `ReadModeSC.SESSION`."""
    read_touch_ttl: int
    """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the default):
    as configured on the server. -1: reads never reset it.
    """
    use_compression: bool
    """Whether requests are compressed and the server may compress its answers (Enterprise Edition). Default False."""
    compression_threshold: int
    """The size in bytes above which requests are compressed. Default 128."""
    error_detail_verbosity: int
    """How much detail the server reports about a failure (server 8.2 and later). 0 (the default): the result code.
    1: also a sub-code. 2: also a message. 3: also where in an expression it failed.
    """
    filter_expression: FilterExpression | None
    """A `FilterExpression`: records for which it is not true are left unchanged (`FilteredOutError`). Default None."""
    txn: Txn | None
    """The `Txn` that the call belongs to. Default None. Single-record calls and batches can be part of a
    transaction; queries cannot (`InvalidArgumentError`).
    """
    record_exists_action: RecordExistsAction
    """What to do if the record exists or does not exist. Default `RecordExistsAction.UPDATE`."""
    generation_policy: GenerationPolicy
    """Whether the record's generation is checked. Default `GenerationPolicy.NONE`."""
    commit_level: CommitLevel
    """Which copies must be written before the call succeeds. Default `CommitLevel.COMMIT_ALL`."""
    generation: int
    """The expected generation; see `generation_policy`. Default 0."""
    expiration: Expiration
    """When the record expires. Default `Expiration.NAMESPACE_DEFAULT`."""
    send_key: bool
    """Whether the user key is stored with the record. Default False."""
    respond_per_each_op: bool
    """Whether `operate` returns an entry for each operation, even for those without a result. Default False."""
    durable_delete: bool
    """Whether a delete leaves a tombstone (Enterprise Edition). Default False."""
    records_per_second: int
    """The maximum number of records per second and node that a background query changes. 0 (the default): no limit."""
    on_locking_only: bool
    """Whether a write of a transaction only locks the record. Default False."""
    xdr: bool
    """Whether the write counts as a write of cross-datacenter replication. Default False."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
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
    def __eq__(self, other: object, /) -> bool: ...

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
    total_timeout: int
    """Timeout of the whole call, retries included, in ms. 0: no limit."""
    socket_timeout: int
    """Timeout of one attempt in ms; `total_timeout` limits it, too. 0: the same as `total_timeout`. Default 30,000."""
    timeout_delay: int
    """How long a connection waits for a late answer, in ms. Default 0. Has no effect on lanes, which always read
    late answers.
    """
    max_retries: int
    """The maximum number of retries."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 0."""
    sleep_multiplier: float
    """The factor by which the pause grows after each attempt. Default 1.0: it stays the same."""
    replica: Replica
    """Which node the request goes to. Default `Replica.SEQUENCE`."""
    read_mode_ap: ReadModeAP
    """How many copies a read consults in a namespace in AP mode. Default `ReadModeAP.ONE`."""
    read_mode_sc: ReadModeSC
    """How consistent a read is in a namespace in SC mode. Default `ReadModeSC.SESSION`."""
    read_touch_ttl: int
    """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the default):
    as configured on the server. -1: reads never reset it.
    """
    use_compression: bool
    """Whether requests are compressed and the server may compress its answers (Enterprise Edition). Default False."""
    compression_threshold: int
    """The size in bytes above which requests are compressed. Default 128."""
    error_detail_verbosity: int
    """How much detail the server reports about a failure (server 8.2 and later). 0 (the default): the result code.
    1: also a sub-code. 2: also a message. 3: also where in an expression it failed.
    """
    filter_expression: FilterExpression | None
    """A `FilterExpression`: records for which it is not true are left unchanged (`FilteredOutError`). Default None."""
    txn: Txn | None
    """The `Txn` that the call belongs to. Default None. Single-record calls and batches can be part of a
    transaction; queries cannot (`InvalidArgumentError`).
    """
    concurrency: Concurrency
    """Whether the nodes are asked one after the other or all at once. Default `Concurrency.PARALLEL`."""
    allow_inline: bool
    """Whether the server may process rows of in-memory namespaces on the thread that received the batch. Default
    True.
    """
    allow_inline_ssd: bool
    """The same for namespaces on SSDs. Default False."""
    respond_all_keys: bool
    """Whether the server continues with the other rows after one failed. Default True."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
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
    def __eq__(self, other: object, /) -> bool: ...

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
    total_timeout: int
    """Timeout of the whole call, retries included, in ms. 0: no limit."""
    socket_timeout: int
    """Timeout of one attempt in ms; `total_timeout` limits it, too. 0: the same as `total_timeout`. Default 30,000."""
    timeout_delay: int
    """How long a connection waits for a late answer, in ms. Default 0. Has no effect on lanes, which always read
    late answers.
    """
    max_retries: int
    """The maximum number of retries."""
    sleep_between_retries: int
    """The pause between two attempts in ms. Default 0."""
    sleep_multiplier: float
    """The factor by which the pause grows after each attempt. Default 1.0: it stays the same."""
    replica: Replica
    """Which node the request goes to. Default `Replica.SEQUENCE`."""
    read_mode_ap: ReadModeAP
    """How many copies a read consults in a namespace in AP mode. Default `ReadModeAP.ONE`."""
    read_mode_sc: ReadModeSC
    """How consistent a read is in a namespace in SC mode. Default `ReadModeSC.SESSION`."""
    read_touch_ttl: int
    """A read resets the record's time to live if at most this percentage of it (1 to 100) is left. 0 (the default):
    as configured on the server. -1: reads never reset it.
    """
    use_compression: bool
    """Whether requests are compressed and the server may compress its answers (Enterprise Edition). Default False."""
    compression_threshold: int
    """The size in bytes above which requests are compressed. Default 128."""
    error_detail_verbosity: int
    """How much detail the server reports about a failure (server 8.2 and later). 0 (the default): the result code.
    1: also a sub-code. 2: also a message. 3: also where in an expression it failed.
    """
    filter_expression: FilterExpression | None
    """A `FilterExpression`: records for which it is not true are left unchanged (`FilteredOutError`). Default None."""
    txn: Txn | None
    """The `Txn` that the call belongs to. Default None. Single-record calls and batches can be part of a
    transaction; queries cannot (`InvalidArgumentError`).
    """
    max_concurrent_nodes: int
    """The maximum number of nodes that are asked at the same time. 0 (the default): all."""
    record_queue_size: int
    """The maximum number of records that are buffered for the reader. Default 1,024."""
    records_per_second: int
    """The maximum number of records per second and node. 0 (the default): no limit."""
    max_records: int
    """The approximate maximum number of records. 0 (the default): no limit."""
    include_bin_data: bool
    """Whether the records include their bins. Default True."""
    expected_duration: QueryDuration
    """How long the query is expected to take. Default `QueryDuration.LONG`."""
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
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
    def __eq__(self, other: object, /) -> bool: ...
