"""The bins of a record: `-o I8`, `-o I8,F8,S50`."""

import re
from dataclasses import dataclass

FORMS = (
    "a comma list of I<n> (integer), F<n> (floating-point number), S<n> (text of n characters), B<n> (n bytes),"
    " L<n> (list of n integers)"
)
# A record must fit into the server's limit, whatever the list.
MOST_BYTES = 1 << 20
# What an integer takes in a list, at most.
LIST_ITEM = 9


@dataclass(frozen=True)
class Bin:
    """A bin: the letter and the length of its part of the list."""

    kind: str
    length: int

    @property
    def size(self) -> int:
        """About how many bytes its value takes."""
        return self.length * LIST_ITEM if self.kind == "L" else self.length

    @property
    def of_key(self) -> str | None:
        """Its value as an expression over `kid`; `None` if all records have the same."""
        return {"I": "kid", "F": "kid / 4"}.get(self.kind)

    @property
    def constant(self) -> object:
        """The value that all records have."""
        return {"S": "x" * self.length, "B": b"x" * self.length, "L": list(range(self.length))}[self.kind]

    @property
    def dtype(self) -> str:
        """The numpy type that holds every value of it. Raises `ValueError` when there is none."""
        if self.kind == "L":
            raise ValueError("a list has no numpy type")
        return {"I": "i8", "F": "f8"}.get(self.kind, f"S{self.length}")


@dataclass(frozen=True)
class Payload:
    """The bins `b0`, `b1`, ... of every record. Numbers come from the key id, so none is drawn per bin."""

    parts: tuple[Bin, ...]

    @classmethod
    def parse(cls, text: str) -> "Payload":
        """Raises `ValueError` that says what is wrong."""
        parts: list[Bin] = []
        for part in text.split(","):
            match = re.fullmatch(r"\s*([IFSBL])(\d{0,7})\s*", part.upper())
            if not match or (match[1] not in "IF" and not match[2]):
                raise ValueError(f"bins {text!r}: {part!r} is not one of them; expected {FORMS}")
            parts.append(Bin(match[1], int(match[2] or 8)))
        size = sum(part.size for part in parts)
        if size > MOST_BYTES:
            raise ValueError(f"bins {text!r}: {size} bytes are more than a record may have ({MOST_BYTES})")
        return cls(tuple(parts))

    def source(self, only_first: bool = False) -> tuple[str, dict[str, object]]:
        """The dict of bins as an expression over `kid`, and the constants that it names."""
        parts = self.parts[:1] if only_first else self.parts
        names = {f"value{i}": part.constant for i, part in enumerate(parts) if part.of_key is None}
        bins = ", ".join(f'"b{i}": {part.of_key or f"value{i}"}' for i, part in enumerate(parts))
        return "{" + bins + "}", names

    def bins(self, kid: int) -> dict[str, object]:
        """The bins of one record."""
        text, names = self.source()
        values: dict[str, object] = eval(text, {"kid": kid, **names})  # made above
        return values

    def fields(self) -> list[tuple[str, str]]:
        """The bins as fields of a numpy dtype. Raises `ValueError` when one of them cannot be one."""
        return [(f"b{i}", part.dtype) for i, part in enumerate(self.parts)]
