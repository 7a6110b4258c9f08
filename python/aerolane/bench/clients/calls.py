"""One client's calls, as source text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Calls:
    """One client's calls as expressions, which are put into the hot loop as they are.

    So no client pays for a wrapper that another does not need: what runs is what a user of that client would write,
    with its methods bound to local names. Placeholders: `{key}` one key, `{bins}` a dict of bins, `{keys}` a list of
    keys, `{rows}` a list of dicts of bins, `{amount}` an integer. `kid` is the key's number, `namespace` and `set_name`
    are the names. `None`: the client has no such call.
    """

    names: dict[str, object]
    """What the expressions name; bound to locals before the loop."""
    read: str
    write: str
    key: str = "make_key(namespace, set_name, kid)"
    read_first_bin: str | None = None
    replace: str | None = None
    add: str | None = None
    read_many: str | None = None
    write_many: str | None = None
    read_many_numpy: str | None = None
    """A batch read as numpy arrays of the type `dtype`."""
    list_get: str | None = None
    """`operate` with one operation: the first item of the list in the bin `b0`."""
    each: str | None = None
    """The head of a loop over all records of a set, each of them `record`: `for record in ..`."""
    query_numpy: str | None = None
    """All records of a set as numpy arrays of the type `dtype`; its length is their number."""
    touch: str = "record.bins"
    """Looks at the bins of `record`."""
    touch_many: str = "[row.record.bins for row in record]"
    """Looks at the bins of each record of the batch answer `record`."""
    touch_each: str = "record.bins"
    """Looks at the bins of the `record` of a query."""
    bins_of: Callable[[Any], Any] = field(default=lambda record: record.bins)
    """The bins of a record, for the self-test before the run."""
    not_found: tuple[type[BaseException], ...] = ()
    """What a read of a record that does not exist raises. Such a read is a success."""


class Unsupported(Exception):
    """The client cannot do what was asked for; the message says what."""
