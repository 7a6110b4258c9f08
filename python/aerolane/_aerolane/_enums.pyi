"""Settings that are one of a few names."""

from enum import Enum

class Replica(Enum):
    MASTER = 0
    MASTER_PROLES = 1
    RANDOM = 2
    SEQUENCE = 3
    PREFER_RACK = 4
    def __int__(self) -> int: ...

class ReadModeAP(Enum):
    ONE = 0
    ALL = 1
    def __int__(self) -> int: ...

class ReadModeSC(Enum):
    SESSION = 0
    LINEARIZE = 1
    ALLOW_REPLICA = 2
    ALLOW_UNAVAILABLE = 3
    def __int__(self) -> int: ...

class CommitLevel(Enum):
    COMMIT_ALL = 0
    COMMIT_MASTER = 1
    def __int__(self) -> int: ...

class GenerationPolicy(Enum):
    NONE = 0
    EXPECT_GEN_EQUAL = 1
    EXPECT_GEN_GREATER = 2
    def __int__(self) -> int: ...

class RecordExistsAction(Enum):
    UPDATE = 0
    UPDATE_ONLY = 1
    REPLACE = 2
    REPLACE_ONLY = 3
    CREATE_ONLY = 4
    def __int__(self) -> int: ...

class Concurrency(Enum):
    SEQUENTIAL = 0
    PARALLEL = 1
    def __int__(self) -> int: ...

class QueryDuration(Enum):
    LONG = 0
    SHORT = 1
    LONG_RELAX_AP = 2
    def __int__(self) -> int: ...

class WhenFull(Enum):
    WAIT = 0
    FAIL = 1
    def __int__(self) -> int: ...

class AuthMode(Enum):
    NONE = 0
    INTERNAL = 1
    EXTERNAL = 2
    EXTERNAL_INSECURE = 3
    PKI = 4
    def __int__(self) -> int: ...

class LatencyUnit(Enum):
    MICROSECONDS = 0
    MILLISECONDS = 1
    def __int__(self) -> int: ...

class MetricsExporterType(Enum):
    FILE = "file"
    CUSTOM = "custom"
    NONE = "none"

class CommandType(Enum):
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
    CONN = "conn"
    WRITE = "write"
    READ = "read"
    BATCH = "batch"
    QUERY = "query"

class OpKind(Enum):
    READ = "read"
    WRITE_RETRYABLE = "write_retryable"
    WRITE_NON_RETRYABLE = "write_non_retryable"

class OpShape(Enum):
    POINT = "point"
    BATCH = "batch"
    QUERY = "query"

class Mode(Enum):
    AP = "ap"
    SC = "sc"

class Scope(Enum):
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
    DEFAULT = 0
    LIST = 1
    MAP_KEYS = 2
    MAP_VALUES = 3
    SET = 4
    def __int__(self) -> int: ...

class IndexType(Enum):
    NUMERIC = 0
    STRING = 1
    GEO2D_SPHERE = 2
    INTEGER = 3
    BLOB = 4
    def __int__(self) -> int: ...

class UDFLang(Enum):
    LUA = 0
    def __int__(self) -> int: ...

class QuerySelection(Enum):
    PRIMARY_INDEX = 0
    SECONDARY_INDEX = 1
    FILTERED_OUT = 2
    def __int__(self) -> int: ...

class TaskStatus(Enum):
    NOT_FOUND = 0
    IN_PROGRESS = 1
    COMPLETE = 2
    def __int__(self) -> int: ...

class PrivilegeCode(Enum):
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
