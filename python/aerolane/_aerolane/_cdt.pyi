"""What operations on collections, and expressions about them, are made of."""

from collections.abc import Iterable, Sequence
from enum import Enum, IntEnum
from typing import Any, ClassVar, Self, final

from ._expression import FilterExpression

class ExpType(Enum):
    """The type of an expression's value, for `FilterExpression` constructors that cannot infer it."""

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
    """The order of a list. UNORDERED (the default): items stay where they were put. ORDERED: sorted by value."""

    UNORDERED = 0
    ORDERED = 1
    def __int__(self) -> int: ...

class ListSortFlags(Enum):
    """How a list is sorted. DEFAULT: ascending, keeping duplicates. DESCENDING: in the opposite order.
    DROP_DUPLICATES: ascending, keeping one of several equal items.
    """

    DEFAULT = 0
    DESCENDING = 1
    DROP_DUPLICATES = 2
    def __int__(self) -> int: ...

class MapOrder(Enum):
    """The order of a map. UNORDERED (the default). KEY_ORDERED: sorted by key. KEY_VALUE_ORDERED: sorted by key,
    with an additional index by value.
    """

    UNORDERED = 0
    KEY_ORDERED = 1
    KEY_VALUE_ORDERED = 3
    def __int__(self) -> int: ...

class MapWriteMode(Enum):
    """How a map operation writes keys. UPDATE (the default): creates or replaces entries. UPDATE_ONLY: fails for a
    key that does not exist. CREATE_ONLY: fails for a key that exists.
    """

    UPDATE = 0
    UPDATE_ONLY = 1
    CREATE_ONLY = 2
    def __int__(self) -> int: ...

class BitwiseOverflowActions(Enum):
    """What happens if the result of bit arithmetic does not fit. FAIL: an error. SATURATE: the result becomes the
    largest or smallest number that fits. WRAP: its high bits are cut off.
    """

    FAIL = 0
    SATURATE = 2
    WRAP = 4
    def __int__(self) -> int: ...

class BitwiseResizeFlags(Enum):
    """How a blob is resized. DEFAULT: bytes are added or removed at the end. FROM_FRONT: at the front. GROW_ONLY: it
    never gets shorter. SHRINK_ONLY: it never gets longer.
    """

    DEFAULT = 0
    FROM_FRONT = 1
    GROW_ONLY = 2
    SHRINK_ONLY = 4
    def __int__(self) -> int: ...

class StringNumericType(Enum):
    """What counts as a number in a string: ANY, integers (INT), or floating-point numbers (FLOAT)."""

    ANY = 0
    INT = 1
    FLOAT = 2
    def __int__(self) -> int: ...

class LoopVarPart(Enum):
    """Which part of the current element an expression inside a path uses: its key (in a map), its value, or its
    index (in a list). Server 8.1.1 and later.
    """

    MAP_KEY = 0
    VALUE = 1
    INDEX = 2
    def __int__(self) -> int: ...

class ListWriteFlags(IntEnum):
    """What a list operation refuses. Combine with `|`.

    ADD_UNIQUE: refuses items that the list already has. INSERT_BOUNDED: refuses indexes beyond the end. NO_FAIL: a
    refused operation does nothing instead of failing. PARTIAL: with NO_FAIL, the items that are not refused are
    written.
    """

    DEFAULT = 0
    ADD_UNIQUE = 1
    INSERT_BOUNDED = 2
    NO_FAIL = 4
    PARTIAL = 8

class MapWriteFlags(IntEnum):
    """What a map operation refuses. Combine with `|`.

    CREATE_ONLY: refuses existing keys. UPDATE_ONLY: refuses new keys. NO_FAIL: a refused operation does nothing instead
    of failing. PARTIAL: with NO_FAIL, the entries that are not refused are written.
    """

    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    PARTIAL = 8

class BitWriteFlags(IntEnum):
    """What a bit operation refuses. Combine with `|`.

    CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing instead
    of failing. PARTIAL: bits outside of the blob are ignored.
    """

    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    PARTIAL = 8

class HLLWriteFlags(IntEnum):
    """What an HLL operation refuses. Combine with `|`.

    CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing instead
    of failing. ALLOW_FOLD: the result may have fewer index bits than the bin.
    """

    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4
    ALLOW_FOLD = 8

class StringWriteFlags(IntEnum):
    """What a string operation refuses. Combine with `|`. Server 8.2 and later.

    CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. NO_FAIL: a refused operation does nothing instead
    of failing.
    """

    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    NO_FAIL = 4

class StringRegexFlags(IntEnum):
    r"""How string operations interpret a regular expression. Combine with `|`. Server 8.2 and later.

    CASE_INSENSITIVE. MULTILINE: `^` and `$` match at each line. DOTALL: `.` matches the end of a line, too. UNIX_LINES:
    only `\n` ends a line. GLOBAL: regex_replace replaces all matches, not only the first.
    """

    DEFAULT = 0
    CASE_INSENSITIVE = 1
    MULTILINE = 2
    DOTALL = 4
    UNIX_LINES = 8
    GLOBAL = 16

class RegexFlag(IntEnum):
    """How `FilterExpression.regex_compare` interprets its regular expression (POSIX). Combine with `|`.

    EXTENDED: the extended syntax. ICASE: ignores case. NOSUB: does not report positions. NEWLINE: `.` does not match
    the end of a line.
    """

    NONE = 0
    EXTENDED = 1
    ICASE = 2
    NOSUB = 4
    NEWLINE = 8

class ExpReadFlags(IntEnum):
    """How `ExpOperation.read` treats failures. EVAL_NO_FAIL: an expression that cannot be evaluated returns None."""

    DEFAULT = 0
    EVAL_NO_FAIL = 16

class ExpWriteFlags(IntEnum):
    """What `ExpOperation.write` refuses. Combine with `|`.

    CREATE_ONLY: refuses existing bins. UPDATE_ONLY: refuses new bins. ALLOW_DELETE: a result of nil deletes the bin.
    POLICY_NO_FAIL: a refused operation does nothing instead of failing. EVAL_NO_FAIL: the same for an expression that
    cannot be evaluated.
    """

    DEFAULT = 0
    CREATE_ONLY = 1
    UPDATE_ONLY = 2
    ALLOW_DELETE = 4
    POLICY_NO_FAIL = 8
    EVAL_NO_FAIL = 16

class SelectFlags(IntEnum):
    """What a path returns. Server 8.1.1 and later.

    MATCHING_TREE: the collection, reduced to the matching elements. VALUE (also LIST_VALUE, MAP_VALUE): a list of the
    values. MAP_KEY: a list of the keys. MAP_KEY_VALUE: keys and values. NO_FAIL (combine with `|`): leaves out elements
    whose type does not fit the path.
    """

    MATCHING_TREE = 0
    VALUE = 1
    LIST_VALUE = 1
    MAP_VALUE = 1
    MAP_KEY = 2
    MAP_KEY_VALUE = 3
    NO_FAIL = 16

class QueryWhereFlags(IntEnum):
    """What `Client.query_explain` asks for. Combine with `|`. Server 8.2 and later.

    EXPLAIN: which index fits the condition; always required. REQUIRE_INDEX: an error if no secondary index fits.
    HARD_HINT: an error if the index of the hint does not fit. ENC_VARINT: reserved, not accepted.
    """

    ENC_VARINT = 1
    EXPLAIN = 2
    REQUIRE_INDEX = 4
    HARD_HINT = 8

class ModifyFlags(IntEnum):
    """How a path modifies elements. NO_FAIL: elements whose type does not fit the path are left unchanged. Server
    8.1.1 and later.
    """

    DEFAULT = 0
    NO_FAIL = 16

@final
class ListReturnType:
    """What a list operation returns for the items that it selects. Combine with `| INVERTED`."""

    NONE: ClassVar[ListReturnType]
    INDEX: ClassVar[ListReturnType]
    REVERSE_INDEX: ClassVar[ListReturnType]
    RANK: ClassVar[ListReturnType]
    REVERSE_RANK: ClassVar[ListReturnType]
    COUNT: ClassVar[ListReturnType]
    VALUE: ClassVar[ListReturnType]
    EXISTS: ClassVar[ListReturnType]
    INVERTED: ClassVar[ListReturnType]
    def __and__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...
    def __or__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __rand__(self, other: ListReturnType, /) -> ListReturnType: ...
    def __ror__(self, other: ListReturnType, /) -> ListReturnType: ...

@final
class MapReturnType:
    """What a map operation returns for the entries that it selects. Combine with `| INVERTED`."""

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
    def __and__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...
    def __or__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __rand__(self, other: MapReturnType, /) -> MapReturnType: ...
    def __ror__(self, other: MapReturnType, /) -> MapReturnType: ...

@final
class ListPolicy:
    """How list operations create lists and what they refuse: the order of new lists (`ListOrderType`, default
    UNORDERED) and write flags (`ListWriteFlags` or an int, default none).

    An operation uses the settings as they are when the operation is created. Raises `TypeError` and
    `InvalidArgumentError` for other values.
    """

    def __new__(cls, order: ListOrderType | None = None, write_flags: int | None = None) -> Self: ...
    order: ListOrderType
    """The order of lists that an operation creates."""
    write_flags: int
    """What is refused, and how: bits of `ListWriteFlags`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class MapPolicy:
    """How map operations create maps and what they refuse: the order of new maps (`MapOrder`, default UNORDERED), how
    keys are written (`MapWriteMode`, or `MapWriteFlags`, which take precedence), and whether the index of a new map is
    stored with it (default False).

    An operation uses the settings as they are when the operation is created. Raises `TypeError` and
    `InvalidArgumentError` for other values.
    """

    def __new__(
        cls,
        order: MapOrder | None = None,
        write_mode: MapWriteMode | None = None,
        flags: int | None = None,
        persist_index: bool | None = None,
    ) -> Self: ...
    order: MapOrder
    """The order of maps that an operation creates."""
    write_mode: MapWriteMode
    """How keys are written; the same as two bits of `flags`."""
    flags: int
    """The write flags: a member of `MapWriteFlags`, or an int for several."""
    persist_index: bool
    """Whether the index of a new map is stored with it."""
    @classmethod
    def new_with_flags(cls, order: MapOrder | None, flags: int | None) -> MapPolicy:
        """A policy with an order and write flags."""
    @classmethod
    def new_with_flags_and_persisted_index(cls, order: MapOrder | None, flags: int | None) -> MapPolicy:
        """A policy with an order, write flags, and a stored index."""
    @property
    def raw_flags(self) -> int:
        """The write flags as an int."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...

@final
class BitPolicy:
    """Write flags of bit operations: what they refuse (`BitWriteFlags` or an int, default none).

    An operation uses the settings as they are when the operation is created. Raises `TypeError` and
    `InvalidArgumentError` for other values.
    """

    def __new__(cls, write_flags: int | None = None) -> Self: ...
    @property
    def write_flags(self) -> int:
        """What is refused, and how: bits of `BitWriteFlags`."""
    def get_write_flags(self) -> int:
        """The same."""
    def set_write_flags(self, flags: int | None) -> None:
        """Sets `write_flags`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int]: ...

@final
class HLLPolicy:
    """Write flags of HLL operations: what they refuse (`HLLWriteFlags` or an int, default none).

    An operation uses the settings as they are when the operation is created. Raises `TypeError` and
    `InvalidArgumentError` for other values.
    """

    def __new__(cls, write_flags: int | None = None) -> Self: ...
    write_flags: int
    """What is refused, and how: bits of `HLLWriteFlags`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int]: ...

@final
class CTX:
    """One step of the path to a nested list or map: `[CTX.map_key("orders"), CTX.list_index(-1)]` is the last item of
    the list stored under `"orders"`.

    Created by static methods, immutable, and encoded on creation. Negative indexes and ranks count from the end.

    The methods raise `TypeError` for an argument of the wrong type, `OverflowError` for ints of more than 64 bits, and
    `InvalidArgumentError` for values that cannot be sent.
    """

    @staticmethod
    def and_filter(exp: FilterExpression) -> CTX:
        """Keeps only those elements selected by the previous step for which an expression is true. Only on paths;
        server 8.1.2 and later.
        """
    @staticmethod
    def list_index(index: int) -> CTX:
        """The item of a list at an index."""
    @staticmethod
    def list_index_create(index: int, order: ListOrderType, pad: bool) -> CTX:
        """The item of a list at an index; if there is none, creates a list of this order. `pad`: if the enclosing
        list is shorter than the index, pads it with nil (no effect on an ordered list).
        """
    @staticmethod
    def list_rank(rank: int) -> CTX:
        """The item of a list at a rank: 0 is the smallest."""
    @staticmethod
    def list_value(value: Any) -> CTX:
        """The first item of a list that is equal to a value."""
    @staticmethod
    def map_index(index: int) -> CTX:
        """The value of a map at an index, in the order of keys."""
    @staticmethod
    def map_rank(rank: int) -> CTX:
        """The value of a map at a rank: 0 is the smallest."""
    @staticmethod
    def map_key(key: Any) -> CTX:
        """The value of a key of a map."""
    @staticmethod
    def map_key_create(key: Any, order: MapOrder) -> CTX:
        """The value of a key of a map; if there is none, creates a map of this order."""
    @staticmethod
    def map_value(value: Any) -> CTX:
        """The first value of a map that equals this one. A dict stands for a key-ordered map."""
    @staticmethod
    def all_children() -> CTX:
        """All items of a list, or values of a map. Only on paths; server 8.1.1 and later."""
    @staticmethod
    def all_children_with_filter(exp: FilterExpression) -> CTX:
        """The items of a list, or values of a map, for which an expression is true. It sees them through
        `FilterExpression.int_loop_var` and its like. Only on paths; server 8.1.1 and later.
        """
    @staticmethod
    def map_keys_in(keys: Iterable[Any]) -> CTX:
        """The values of some keys of a map. Only on paths; server 8.1.2 and later."""
    @staticmethod
    def to_bytes(ctx: Iterable[CTX] | None) -> bytes:
        """Encodes a sequence of CTX as bytes, for `from_bytes` and other clients. Settings for creating lists and
        maps are not included.
        """
    @staticmethod
    def to_base64(ctx: Iterable[CTX] | None) -> str:
        """The same as `to_bytes`, as base64 text."""
    @staticmethod
    def from_bytes(bytes: bytes | bytearray | memoryview | Sequence[int]) -> list[CTX]:
        """Decodes the output of `to_bytes` to a list of CTX.

        Raises `TypeError` for anything but a bytes-like object, `InvalidArgumentError` for bytes that are not a valid
        context.
        """
    @staticmethod
    def from_base64(b64: str) -> list[CTX]:
        """Decodes the output of `to_base64` to a list of CTX.

        Raises `Base64DecodeError` for text that is not base64, `InvalidArgumentError` for bytes that are not a valid
        context. Both are `ValueError`s.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
