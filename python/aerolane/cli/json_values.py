"""Values of bins as JSON, without loss: what JSON lacks is an object with one name that begins with `$`.

| value | JSON |
|---|---|
| bytes | `{"$bytes": "<base64>"}` |
| GeoJSON | `{"$geojson": {"type": "Point", ..}}` |
| HyperLogLog | `{"$hll": "<base64>"}` |
| float without a JSON form | `{"$float": "nan"}`, `"inf"`, `"-inf"` |
| map with keys that are not all strings, or with one key that begins with `$` | `{"$map": [[key, value], ..]}` |
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from aerolane import HLL, GeoJSON


def to_json(value: object) -> object:
    """A value as `json.dumps` takes it. Raises `ValueError` for a value without a JSON form."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, GeoJSON):
        return {"$geojson": json.loads(value.value)}
    if isinstance(value, HLL):
        return {"$hll": base64.b64encode(value.value).decode("ascii")}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        names = [name for name in pairs if isinstance(name, str)]
        if len(names) < len(pairs) or (len(names) == 1 and names[0].startswith("$")):
            return {"$map": [[to_json(key), to_json(item)] for key, item in pairs.items()]}
        return {str(name): to_json(item) for name, item in pairs.items()}
    raise ValueError(f"a {type(value).__name__} has no JSON form")


def from_json(value: object) -> Any:
    """The value of a JSON text, as `json.loads` gives it. Raises `ValueError` for a `$` object that does not fit."""
    if isinstance(value, list):
        return [from_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value)
        if len(pairs) == 1:
            ((name, inner),) = pairs.items()
            if name in _TAGGED:
                return _TAGGED[name](inner)
        return {name: from_json(item) for name, item in pairs.items()}
    return value


def dumps(value: object) -> str:
    """One line of JSON."""
    return json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))


def decode_base64(text: object) -> bytes:
    """Bytes from base64. Raises `ValueError`."""
    if not isinstance(text, str):
        raise ValueError("base64 is a string")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not base64: {error}") from None


def _float(text: object) -> float:
    if not isinstance(text, str) or text not in ("nan", "inf", "-inf"):
        raise ValueError(f"$float is nan, inf or -inf, not {text!r}")
    return float(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of the names and values that its text has. `json` alone would keep the last value of each name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"an object has the name {name[:100]!r} twice")
            seen.add(name)
    return found


# One for all lines: `json.loads` with a hook makes a decoder for each call, which costs as much as a short line.
_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def json_loads(text: str) -> object:
    """The values of JSON text. Raises `ValueError`, also where an object has a name twice."""
    return _DECODER.decode(text)


def _map(pairs: object) -> dict[Any, Any]:
    if not isinstance(pairs, list):
        raise ValueError("$map is a list of pairs")
    found: dict[Any, Any] = {}
    for pair in cast("list[object]", pairs):
        if not isinstance(pair, list) or len(cast("list[object]", pair)) != 2:
            raise ValueError("$map is a list of pairs")
        key, item = (from_json(part) for part in cast("list[object]", pair))
        if isinstance(key, (list, dict)):
            raise ValueError("keys of maps are not lists or maps")
        if key in found:
            raise ValueError(f"$map has the key {str(key)[:100]!r} twice")
        found[key] = item
    return found


def _geojson(value: object) -> GeoJSON:
    return GeoJSON(value if isinstance(value, str) else json.dumps(value))


_TAGGED: Mapping[str, Callable[[object], Any]] = {
    "$bytes": decode_base64,
    "$geojson": _geojson,
    "$hll": lambda text: HLL(decode_base64(text)),
    "$float": _float,
    "$map": _map,
}
