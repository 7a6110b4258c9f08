"""Types of columns: given (`--type col=int`) or inferred, and the values that cells have by them."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from aerolane import GeoJSON
from aerolane.cli.exit_codes import usage
from aerolane.cli.json_values import decode_base64, from_json, json_loads

# A number that its text can be made from again: "007" and "+1" are strings.
_INT = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_BOOLS = {"true": True, "false": False}
# Up to here a float has every integer.
_EXACT = 1 << 53
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


class ColumnType(StrEnum):
    """What the cells of a column are."""

    INT = "int"
    """A decimal integer of 64 bits, signed."""
    FLOAT = "float"
    """A number, also `nan` and `inf`."""
    BOOL = "bool"
    """`true` or `false`, in any case."""
    STRING = "string"
    BYTES = "bytes"
    """base64."""
    JSON = "json"
    """JSON: lists and maps, and all that `json_values` describes."""
    GEOJSON = "geojson"


def parse_types(options: Iterable[str]) -> dict[str, ColumnType]:
    """The types of `--type col=int` options, by column."""
    types: dict[str, ColumnType] = {}
    for option in options:
        column, equals, name = option.rpartition("=")
        if not equals or not column or name not in set(ColumnType):
            raise usage(f"--type {option}: write COLUMN=TYPE, with one of the types {', '.join(ColumnType)}")
        if types.setdefault(column, ColumnType(name)) != name:
            raise usage(f"--type: column {column} is listed twice")
    return types


def infer(cells: Iterable[str]) -> ColumnType:
    """The narrowest type that all cells fit which are not empty: `int`, `float`, `bool`, else `string`.

    Only texts that can be made from the value again are numbers: a column with `007` or `+1` has strings, and so has
    one with an integer of more than 64 bits. `nan` and `inf` are floats only where `--type` says so.
    """
    left = {ColumnType.INT, ColumnType.FLOAT, ColumnType.BOOL}
    seen = False
    for cell in cells:
        if not cell:
            continue
        seen = True
        if ColumnType.INT in left and not _is_int(cell):
            left.discard(ColumnType.INT)
        if ColumnType.FLOAT in left and not _is_float(cell):
            left.discard(ColumnType.FLOAT)
        if ColumnType.BOOL in left and cell.lower() not in _BOOLS:
            left.discard(ColumnType.BOOL)
        if not left:
            break
    for kind in (ColumnType.INT, ColumnType.FLOAT, ColumnType.BOOL):
        if seen and kind in left:
            return kind
    return ColumnType.STRING


def _is_int(cell: str) -> bool:
    return len(cell) <= 20 and _INT.fullmatch(cell) is not None and _SMALLEST <= int(cell) <= _LARGEST


def _is_float(cell: str) -> bool:
    # An integer that a float would round keeps its column a string.
    if _INT.fullmatch(cell):
        return _is_int(cell) and abs(int(cell)) <= _EXACT
    return _FLOAT.fullmatch(cell) is not None


def infer_columns(
    columns: Sequence[str], rows: Sequence[Sequence[str]], given: Mapping[str, ColumnType]
) -> list[ColumnType]:
    """The type of each column: the given one, or what these rows say."""
    return [
        given[column] if column in given else infer(row[place] for row in rows if len(row) == len(columns))
        for place, column in enumerate(columns)
    ]


def parse_cell(text: str, kind: ColumnType) -> Any:
    """The value of a cell; `None`: it is empty. Raises `ValueError`."""
    if not text:
        return None
    if kind is ColumnType.STRING:
        return text
    try:
        return _PARSERS[kind](text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{_short(text)} is not of type {kind}: {error}") from None


def check_key(column: str, kind: str | None) -> None:
    """Refuses a key column of this type, if no key can be of it. Raises `Failure`."""
    if kind in _NO_KEYS:
        raise usage(f"the key column {column} is {kind}, but keys are int, string or bytes: say --type {column}=string")


def convert(value: object, kind: ColumnType) -> Any:
    """A value that is not the text of a cell (of JSON or Arrow), as this type. Raises `ValueError`."""
    if value is None:
        return None
    if kind is ColumnType.STRING:
        if isinstance(value, (bytes, bytearray)):
            return value.decode("utf-8")
        return value if isinstance(value, str) else str(value)
    if isinstance(value, str):
        return parse_cell(value, kind)
    if kind is ColumnType.FLOAT and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if kind is ColumnType.INT and isinstance(value, float) and value.is_integer():
        return _int_range(int(value))
    if kind is ColumnType.GEOJSON and isinstance(value, dict):
        return GeoJSON(json.dumps(value))
    is_bool = kind is ColumnType.BOOL
    if kind is ColumnType.JSON or (isinstance(value, _TAKES[kind]) and is_bool is isinstance(value, bool)):
        return value
    raise ValueError(f"{_short(value)} is not of type {kind}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _int_range(value: int) -> int:
    if not _SMALLEST <= value <= _LARGEST:
        raise ValueError("it does not fit into 64 bits")
    return value


def _parse_int(text: str) -> int:
    text = text.strip()
    if len(text) > 40 or "_" in text:
        raise ValueError("not an integer of 64 bits")
    try:
        return _int_range(int(text))
    except ValueError:
        raise ValueError("not an integer of 64 bits") from None


def _parse_float(text: str) -> float:
    if "_" in text:
        raise ValueError("not a number")
    try:
        return float(text)
    except ValueError:
        raise ValueError("not a number") from None


def _parse_bool(text: str) -> bool:
    try:
        return _BOOLS[text.strip().lower()]
    except KeyError:
        raise ValueError("not true or false") from None


# Types whose values no key can be. What JSON text holds is known only when it is read.
_NO_KEYS = (ColumnType.FLOAT, ColumnType.BOOL, ColumnType.GEOJSON)
_PARSERS: Mapping[ColumnType, Callable[[str], Any]] = {
    ColumnType.INT: _parse_int,
    ColumnType.FLOAT: _parse_float,
    ColumnType.BOOL: _parse_bool,
    ColumnType.BYTES: decode_base64,
    ColumnType.JSON: lambda text: from_json(json_loads(text)),
    ColumnType.GEOJSON: lambda text: GeoJSON(json.dumps(json_loads(text))),
}
_TAKES: Mapping[ColumnType, type | tuple[type, ...]] = {
    ColumnType.INT: int,
    ColumnType.FLOAT: float,
    ColumnType.BOOL: bool,
    ColumnType.BYTES: (bytes, bytearray),
    ColumnType.GEOJSON: GeoJSON,
}
