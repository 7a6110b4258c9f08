"""What operations on collections, and expressions about them, are made of."""

from collections.abc import Iterable, Sequence
from enum import Enum, IntEnum
from typing import Any, ClassVar, Self, final

from ._expression import FilterExpression

class ExpType(Enum):
    NIL = 0
    BOOL = 1
    INT = 2
    STRING = 3
    LIST = 4
    MAP = 5
    BLOB = 6
    FLOAT = 7
    GEO = 8
    HLL = 9
    def __int__(self) -> int: ...

class ListOrderType(Enum):
    UNORDERED = 0
    ORDERED = 1
    def __int__(self) -> int: ...

class ListSortFlags(Enum):
    DEFAULT = 0
    DESCENDING = 1
    DROP_DUPLICATES = 2
    def __int__(self) -> int: ...

class MapOrder(Enum):
    UNORDERED = 0
    KEY_ORDERED = 1
    KEY_VALUE_ORDERED = 3
    def __int__(self) -> int: ...

class MapWriteMode(Enum):
    UPDATE = 0
    UPDATE_ONLY = 1
    CREATE_ONLY = 2
    def __int__(self) -> int: ...

class BitwiseOverflowActions(Enum):
    FAIL = 0
    SATURATE = 2
    WRAP = 4
    def __int__(self) -> int: ...

class BitwiseResizeFlags(Enum):
    DEFAULT = 0
    FROM_FRONT = 1
    GROW_ONLY = 2
    SHRINK_ONLY = 4
    def __int__(self) -> int: ...

class StringNumericType(Enum):
    ANY = 0
    INT = 1
    FLOAT = 2
    def __int__(self) -> int: ...

class LoopVarPart(Enum):
    MAP_KEY = 0
    VALUE = 1
    INDEX = 2
    def __int__(self) -> int: ...

class ListWriteFlags(IntEnum):
    DEFAULT = 0
    ADD_UNIQUE = 1
    INSERT_BOUNDED = 2
    NO_FAIL = 4
    PARTIAL = 8

class MapWriteFlags(IntEnum):
    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    PARTIAL = 8

class BitWriteFlags(IntEnum):
    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    PARTIAL = 8

class HLLWriteFlags(IntEnum):
    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    ALLOW_FOLD = 8

class StringWriteFlags(IntEnum):
    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4

class StringRegexFlags(IntEnum):
    DEFAULT = 0
    CASE_INSENSITIVE = 1
    MULTILINE = 2
    DOTALL = 4
    UNIX_LINES = 8
    GLOBAL = 16

class RegexFlag(IntEnum):
    NONE = 0
    EXTENDED = 1
    ICASE = 2
    NOSUB = 4
    NEWLINE = 8

class ExpReadFlags(IntEnum):
    DEFAULT = 0
    EVAL_NO_FAIL = 16

class ExpWriteFlags(IntEnum):
    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    ALLOW_DELETE = 4
    POLICY_NO_FAIL = 8
    EVAL_NO_FAIL = 16

class SelectFlags(IntEnum):
    MATCHING_TREE = 0
    VALUE = 1
    LIST_VALUE = 1
    MAP_VALUE = 1
    MAP_KEY = 2
    MAP_KEY_VALUE = 3
    NO_FAIL = 16

class QueryWhereFlags(IntEnum):
    ENC_VARINT = 1
    EXPLAIN = 2
    REQUIRE_INDEX = 4
    HARD_HINT = 8

class ModifyFlags(IntEnum):
    DEFAULT = 0
    NO_FAIL = 16

@final
class ListReturnType:
    NONE: ClassVar[ListReturnType]
    INDEX: ClassVar[ListReturnType]
    REVERSE_INDEX: ClassVar[ListReturnType]
    RANK: ClassVar[ListReturnType]
    REVERSE_RANK: ClassVar[ListReturnType]
    COUNT: ClassVar[ListReturnType]
    VALUE: ClassVar[ListReturnType]
    EXISTS: ClassVar[ListReturnType]
    INVERTED: ClassVar[ListReturnType]
    def __or__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __and__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __ror__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __rand__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __int__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class MapReturnType:
    NONE: ClassVar[MapReturnType]
    INDEX: ClassVar[MapReturnType]
    REVERSE_INDEX: ClassVar[MapReturnType]
    RANK: ClassVar[MapReturnType]
    REVERSE_RANK: ClassVar[MapReturnType]
    COUNT: ClassVar[MapReturnType]
    KEY: ClassVar[MapReturnType]
    VALUE: ClassVar[MapReturnType]
    KEY_VALUE: ClassVar[MapReturnType]
    EXISTS: ClassVar[MapReturnType]
    UNORDERED_MAP: ClassVar[MapReturnType]
    ORDERED_MAP: ClassVar[MapReturnType]
    INVERTED: ClassVar[MapReturnType]
    def __or__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __and__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __ror__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __rand__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __int__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ListPolicy:
    def __new__(cls, order: ListOrderType | None = None, write_flags: int | None = None) -> Self: ...
    order: ListOrderType
    write_flags: int
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class MapPolicy:
    def __new__(
        cls,
        order: MapOrder | None = None,
        write_mode: MapWriteMode | None = None,
        flags: int | None = None,
        persist_index: bool | None = None,
    ) -> Self: ...
    @classmethod
    def new_with_flags(cls, order: MapOrder | None, flags: int | None) -> MapPolicy: ...
    @classmethod
    def new_with_flags_and_persisted_index(cls, order: MapOrder | None, flags: int | None) -> MapPolicy: ...
    order: MapOrder
    write_mode: MapWriteMode
    flags: int
    @property
    def raw_flags(self) -> int: ...
    persist_index: bool
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class BitPolicy:
    def __new__(cls, write_flags: int | None = None) -> Self: ...
    @property
    def write_flags(self) -> int: ...
    def get_write_flags(self) -> int: ...
    def set_write_flags(self, flags: int | None) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int]: ...

@final
class HLLPolicy:
    def __new__(cls, write_flags: int | None = None) -> Self: ...
    write_flags: int
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int]: ...

@final
class CTX:
    @staticmethod
    def list_index(index: int) -> CTX: ...
    @staticmethod
    def list_index_create(index: int, order: ListOrderType, pad: bool) -> CTX: ...
    @staticmethod
    def list_rank(rank: int) -> CTX: ...
    @staticmethod
    def list_value(value: Any) -> CTX: ...
    @staticmethod
    def map_index(index: int) -> CTX: ...
    @staticmethod
    def map_rank(rank: int) -> CTX: ...
    @staticmethod
    def map_key(key: Any) -> CTX: ...
    @staticmethod
    def map_key_create(key: Any, order: MapOrder) -> CTX: ...
    @staticmethod
    def map_value(value: Any) -> CTX: ...
    @staticmethod
    def all_children() -> CTX: ...
    @staticmethod
    def all_children_with_filter(exp: FilterExpression) -> CTX: ...
    @staticmethod
    def map_keys_in(keys: Iterable[Any]) -> CTX: ...
    @staticmethod
    def and_filter(exp: FilterExpression) -> CTX: ...
    @staticmethod
    def to_bytes(ctx: Iterable[CTX] | None) -> bytes: ...
    @staticmethod
    def to_base64(ctx: Iterable[CTX] | None) -> str: ...
    @staticmethod
    def from_bytes(bytes: bytes | bytearray | memoryview | Sequence[int]) -> list[CTX]: ...
    @staticmethod
    def from_base64(b64: str) -> list[CTX]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
