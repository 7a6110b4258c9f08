"""The bins of a record: `-o I8`, `-o I8,S50`."""

import re
from dataclasses import dataclass

FORMS = "a comma list of I<n> (integer), S<n> (text of n characters), B<n> (n bytes)"
# A record must fit into the server's limit, whatever the list.
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Payload:
    """The bins `b0`, `b1`, ... of every record. Integer bins hold the key id, so no random number is drawn per bin."""

    constants: tuple[object, ...]
    """The value of each bin; `None` stands for the key id."""

    @classmethod
    def parse(cls, text: str) -> "Payload":
        """Raises `ValueError` that says what is wrong."""
        constants: list[object] = []
        size = 0
        for part in text.split(","):
            match = re.fullmatch(r"\s*([ISB])(\d{0,7})\s*", part.upper())
            if not match or (match[1] != "I" and not match[2]):
                raise ValueError(f"bins {text!r}: {part!r} is not one of them; expected {FORMS}")
            length = int(match[2] or 8)
            size += length
            constants.append({"I": None, "S": "x" * length, "B": b"x" * length}[match[1]])
        if size > MOST_BYTES:
            raise ValueError(f"bins {text!r}: {size} bytes are more than a record may have ({MOST_BYTES})")
        return cls(tuple(constants))

    def source(self, only_first: bool = False) -> tuple[str, dict[str, object]]:
        """The dict of bins as an expression over `kid`, and the constants that it names."""
        constants = self.constants[:1] if only_first else self.constants
        names = {f"value{i}": value for i, value in enumerate(constants) if value is not None}
        bins = ", ".join(f'"b{i}": {"kid" if value is None else f"value{i}"}' for i, value in enumerate(constants))
        return "{" + bins + "}", names

    def bins(self, kid: int) -> dict[str, object]:
        """The bins of one record."""
        return {f"b{i}": kid if value is None else value for i, value in enumerate(self.constants)}
