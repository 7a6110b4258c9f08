"""The mix of operations, in the notation of the vendor's harnesses."""

from dataclasses import dataclass

FORMS = "I, RU,<read %>[,<all-bins read %>[,<all-bins write %>]], RR,<read %>, RMU, RMI, RMD, LG or Q"


@dataclass(frozen=True)
class Workload:
    """A mix of operations on keys drawn evenly (`I`: written in order, again and again).

    `RU`: reads and updates. `RR`: reads and replaces. `RMU`: each operation reads a record and updates it; `RMI` and
    `RMD` read it and increment or decrement its first bin. `LG`: each operation is an `operate` with one list operation
    (the first item of the list in the first bin). `Q`: queries of all records of the set, each record an operation.
    Shares are percentages.
    """

    kind: str
    read_pct: int = 0
    read_all_pct: int = 100
    write_all_pct: int = 100

    @property
    def reads_then_writes(self) -> bool:
        """Whether an operation is a read followed by a write of the same record."""
        return self.kind in ("RMU", "RMI", "RMD")

    @property
    def queries(self) -> bool:
        """Whether it consists of queries."""
        return self.kind == "Q"

    @property
    def shown_read_pct(self) -> int:
        """Share of the timed operations that count as reads."""
        return 100 if self.kind in ("LG", "Q") else self.read_pct

    @classmethod
    def parse(cls, text: str) -> "Workload":
        """Raises `ValueError` that says what is wrong."""

        def refuse(reason: str) -> ValueError:
            return ValueError(f"workload {text!r}: {reason}; expected {FORMS}")

        kind, *shares = [part.strip() for part in text.split(",")]
        kind = kind.upper()
        most = {"I": 0, "RMU": 0, "RMI": 0, "RMD": 0, "LG": 0, "Q": 0, "RU": 3, "RR": 1}.get(kind)
        if most is None:
            raise refuse("unknown kind")
        if len(shares) > most:
            raise refuse(f"{kind} takes at most {most} shares" if most else f"{kind} takes no shares")
        if most and not shares:
            raise refuse("the share of reads is missing")
        for share in shares:
            if not (share.isascii() and share.isdigit() and int(share) <= 100):
                raise refuse("a share is a whole number from 0 to 100")
        return cls(kind, *map(int, shares))
