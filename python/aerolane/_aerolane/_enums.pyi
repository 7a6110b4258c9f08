"""Settings that are one of a few names."""

from enum import Enum

class Replica(Enum):
    """Which node a read is sent to.

    MASTER: the node with the record's master copy. MASTER_PROLES: the nodes with any copy in turn. RANDOM: all nodes in
    turn. SEQUENCE (the default): the master, and if it fails, the nodes with replicas. PREFER_RACK: a node on one of
    the client's racks (`ClientPolicy.rack_ids`), otherwise as SEQUENCE. Writes go to the master first.
    """

    MASTER = 0
    MASTER_PROLES = 1
    RANDOM = 2
    SEQUENCE = 3
    PREFER_RACK = 4
    def __int__(self) -> int: ...

class ReadModeAP(Enum):
    """How many copies a read consults in a namespace in AP mode while partitions move. ONE is the default."""

    ONE = 0
    ALL = 1
    def __int__(self) -> int: ...

class ReadModeSC(Enum):
    """How consistent a read is in a namespace in SC (strong consistency) mode. SESSION is the default."""

    SESSION = 0
    LINEARIZE = 1
    ALLOW_REPLICA = 2
    ALLOW_UNAVAILABLE = 3
    def __int__(self) -> int: ...

class CommitLevel(Enum):
    """When a write has succeeded: once all copies are written (COMMIT_ALL, the default), or once the master is
    (COMMIT_MASTER).
    """

    COMMIT_ALL = 0
    COMMIT_MASTER = 1
    def __int__(self) -> int: ...

class GenerationPolicy(Enum):
    """Whether a write checks the record's generation.

    NONE (the default): no. EXPECT_GEN_EQUAL: the write fails unless the record has the policy's generation.
    EXPECT_GEN_GREATER: it fails unless the policy's generation is greater than the record's.
    """

    NONE = 0
    EXPECT_GEN_EQUAL = 1
    EXPECT_GEN_GREATER = 2
    def __int__(self) -> int: ...

class RecordExistsAction(Enum):
    """What a write does if the record exists or does not exist.

    UPDATE (the default): creates the record, or changes the given bins. UPDATE_ONLY: the same, but fails if the record
    does not exist. REPLACE: creates the record, or replaces all its bins. REPLACE_ONLY: the same, but fails if the
    record does not exist. CREATE_ONLY: fails if the record exists.
    """

    UPDATE = 0
    UPDATE_ONLY = 1
    REPLACE = 2
    REPLACE_ONLY = 3
    CREATE_ONLY = 4
    def __int__(self) -> int: ...

class Concurrency(Enum):
    """Whether the nodes of a batch are asked one after the other or all at once (PARALLEL, the default)."""

    SEQUENTIAL = 0
    PARALLEL = 1
    def __int__(self) -> int: ...

class QueryDuration(Enum):
    """How long a query is expected to take. LONG is the default. SHORT: under a second, on one server thread.
    LONG_RELAX_AP: as LONG, and in a namespace in AP mode it may read from replicas.
    """

    LONG = 0
    SHORT = 1
    LONG_RELAX_AP = 2
    def __int__(self) -> int: ...

class WhenFull(Enum):
    """What happens if all connections to a node are full. WAIT (the default): calls wait in order until their own
    deadline. FAIL: they raise `PoolExhaustedError` at once.
    """

    WAIT = 0
    FAIL = 1
    def __int__(self) -> int: ...

class AuthMode(Enum):
    """How a client logs in.

    NONE (the default): no login. INTERNAL: with a user and a password that the cluster stores. EXTERNAL: with those of
    an external directory (LDAP); requires TLS. EXTERNAL_INSECURE: the same without TLS, for tests. PKI: with the
    client's TLS certificate.
    """

    NONE = 0
    INTERNAL = 1
    EXTERNAL = 2
    EXTERNAL_INSECURE = 3
    PKI = 4
    def __int__(self) -> int: ...

class LatencyUnit(Enum):
    """The unit of the times in histograms. MILLISECONDS is the default."""

    MICROSECONDS = 0
    MILLISECONDS = 1
    def __int__(self) -> int: ...

class MetricsExporterType(Enum):
    """Where snapshots of metrics go: FILE (files in a directory), CUSTOM (exporters that the program adds) or NONE."""

    FILE = "file"
    CUSTOM = "custom"
    NONE = "none"

class CommandType(Enum):
    """The kind of a call in metrics.

    GET: reads bins of a record. GET_HEADER: reads none of them. EXISTS. PUT: writes of bins, and touch. DELETE.
    OPERATE: several operations on one record. QUERY: with a secondary index. SCAN: without one. UDF: a function on one
    record. BATCH_READ: the request of a batch to one node. BATCH_WRITE: the same with rows that write. NONE: no call.
    """

    NONE = 0
    GET = 1
    GET_HEADER = 2
    EXISTS = 3
    PUT = 4
    DELETE = 5
    OPERATE = 6
    QUERY = 7
    SCAN = 8
    UDF = 9
    BATCH_READ = 10
    BATCH_WRITE = 11
    def __int__(self) -> int: ...

class LatencyType(Enum):
    """Groups of calls whose latencies are shown together.

    READ: GET, GET_HEADER and EXISTS. WRITE: PUT, DELETE, OPERATE and UDF. BATCH: BATCH_READ and BATCH_WRITE. QUERY:
    QUERY and SCAN. CONN: how long calls of all kinds waited for room on a connection.
    """

    CONN = "conn"
    WRITE = "write"
    READ = "read"
    BATCH = "batch"
    QUERY = "query"

class OpKind(Enum):
    """What a call does: READ, WRITE_RETRYABLE (can safely be repeated), or WRITE_NON_RETRYABLE."""

    READ = "read"
    WRITE_RETRYABLE = "write_retryable"
    WRITE_NON_RETRYABLE = "write_non_retryable"

class OpShape(Enum):
    """How many records a call is about: POINT (one record), BATCH (several, by key), QUERY."""

    POINT = "point"
    BATCH = "batch"
    QUERY = "query"

class Mode(Enum):
    """The mode of a namespace: AP (available, partition-tolerant) or SC (strong consistency)."""

    AP = "ap"
    SC = "sc"

class Scope(Enum):
    """The calls that settings apply to: the keyword arguments of `Behavior.derive_with_changes`."""

    ALL = "all"
    READS = "reads"
    READS_POINT = "reads_point"
    READS_BATCH = "reads_batch"
    READS_QUERY = "reads_query"
    READS_AP = "reads_ap"
    READS_SC = "reads_sc"
    WRITES = "writes"
    WRITES_RETRYABLE = "writes_retryable"
    WRITES_NON_RETRYABLE = "writes_non_retryable"
    WRITES_POINT = "writes_point"
    WRITES_BATCH = "writes_batch"
    WRITES_QUERY = "writes_query"
    WRITES_AP = "writes_ap"
    WRITES_SC = "writes_sc"
    SYSTEM_TXN_VERIFY = "system_txn_verify"
    SYSTEM_TXN_ROLL = "system_txn_roll"

class CollectionIndexType(Enum):
    """Which part of a bin an index covers.

    DEFAULT: the bin's value. LIST: each element of a list. MAP_KEYS, MAP_VALUES: each key or each value of a map. SET:
    the records of a set (`create_set_index`).
    """

    DEFAULT = 0
    LIST = 1
    MAP_KEYS = 2
    MAP_VALUES = 3
    SET = 4
    def __int__(self) -> int: ...

class IndexType(Enum):
    """The type of the values in an index.

    NUMERIC: ints. INTEGER: the same, under its name since server 8.2. STRING, BLOB. GEO2D_SPHERE: points and regions in
    GeoJSON.
    """

    NUMERIC = 0
    STRING = 1
    GEO2D_SPHERE = 2
    INTEGER = 3
    BLOB = 4
    def __int__(self) -> int: ...

class UDFLang(Enum):
    """The language of a UDF module. There is one."""

    LUA = 0
    def __int__(self) -> int: ...

class QuerySelection(Enum):
    """How the servers find the records for a condition (`Client.query_explain`).

    PRIMARY_INDEX: they read all records. SECONDARY_INDEX: they read a range of an index. FILTERED_OUT: no record can
    match.
    """

    PRIMARY_INDEX = 0
    SECONDARY_INDEX = 1
    FILTERED_OUT = 2
    def __int__(self) -> int: ...

class TaskStatus(Enum):
    """The status of a task. NOT_FOUND: the servers do not know it, or not any more. IN_PROGRESS: it is running.
    COMPLETE: it has finished.
    """

    NOT_FOUND = 0
    IN_PROGRESS = 1
    COMPLETE = 2
    def __int__(self) -> int: ...

class PrivilegeCode(Enum):
    """What a privilege allows.

    For the whole cluster: UserAdmin (users and roles), SysAdmin (configuration), DataAdmin (indexes and UDF modules),
    UDFAdmin, SIndexAdmin, MaskingAdmin. For the cluster, a namespace or a set: Read, ReadWrite, ReadWriteUDF, Write,
    Truncate, ReadMasked, WriteMasked. Unknown: a privilege that this version does not know.
    """

    UserAdmin = 0
    SysAdmin = 1
    DataAdmin = 2
    UDFAdmin = 3
    SIndexAdmin = 4
    Read = 10
    ReadWrite = 11
    ReadWriteUDF = 12
    Write = 13
    Truncate = 14
    MaskingAdmin = 15
    ReadMasked = 16
    WriteMasked = 17
    Unknown = 255
    def __int__(self) -> int: ...
