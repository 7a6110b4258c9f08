"""What the exceptions and enumerations of the package are made from; run once, when the extension module is loaded.

The other exception classes, and the members of the enumerations, come from the tables of the extension.
"""

import builtins
from enum import Enum, IntEnum


class _Codes(IntEnum):
    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int) or not -128 <= value <= 255:
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return cls._value2member_map_.setdefault(value, member)

    @property
    def description(self):
        """The text that Aerospike's clients use for the code: `"Key not found"`."""
        known = _DESCRIPTIONS.get(int(self))
        return f"Unknown result code: {int(self)}" if known is None else known[0]

    @property
    def meaning(self):
        """What the code means in plain words: `"the record does not exist"`."""
        known = _DESCRIPTIONS.get(int(self))
        return "a result code that this version does not know" if known is None else known[1]


_DESCRIPTIONS: dict[int, tuple[str, str]] = {}


def _result_codes(rows):
    _DESCRIPTIONS.update((value, (text, meaning)) for _, value, text, meaning in rows)
    codes = _Codes("ResultCode", [(name, value) for name, value, *_ in rows], module="aerolane.exceptions")
    codes.__doc__ = (
        "Result codes: those of the server (0 to 255), and negative ones for failures of the client.\n\n"
        "An int. A code that this version does not know is kept, with a name such as `UNKNOWN_99`."
    )
    globals()["ResultCode"] = codes
    return codes


class PolicyEnum(Enum):
    """A setting of a policy that is one of a few names."""

    def __int__(self):
        return self.value

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"


def make_enum(name, doc, members, numbered):
    """The enumeration with these members."""
    made = (PolicyEnum if numbered else Enum)(name, members, module="aerolane.policy")
    made.__doc__ = doc
    return made


class ByteFlags(IntEnum):
    """Flags that fit into a byte: ints that show their names."""

    def __invert__(self):
        return 255 ^ int(self)

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__

    def __format__(self, spec):
        return int.__format__(self, spec) if spec else str(self)


def make_flags(name, doc, members, of_a_byte):
    """The enumeration of flags with these members."""
    made = (ByteFlags if of_a_byte else IntEnum)(name, members, module="aerolane.native")
    made.__doc__ = doc
    return made


def _fields(
    message="",
    result_code=None,
    in_doubt=False,
    sub_code=None,
    server_message=None,
    exp_trace=None,
    node=None,
    iteration=None,
    base_message=None,
    sub_exceptions=(),
    *,
    hint=None,
    phase=None,
    elapsed=None,
    loop_busy=None,
    key=None,
):
    return {
        "result_code": None if result_code is None else ResultCode(result_code),  # noqa: F821 (made by _result_codes)
        "in_doubt": in_doubt,
        "sub_code": sub_code,
        "server_message": server_message,
        "exp_trace": exp_trace,
        "node": node,
        "iteration": iteration,
        "base_message": base_message,
        "sub_exceptions": tuple(sub_exceptions or ()),
        "hint": hint,
        "phase": phase,
        "elapsed": elapsed,
        "loop_busy": loop_busy,
        "key": key,
    }


# The name that a wrong argument is told under.
_fields.__qualname__ = _fields.__name__ = "AerospikeError"


class AerospikeError(Exception):
    """Base of all errors of this package.

    Its arguments: `message`, then `result_code`, `in_doubt`, `sub_code`, `server_message`, `exp_trace`, `node`,
    `iteration`, `base_message` and `sub_exceptions`, in this order or by name; `hint`, `phase`, `elapsed`,
    `loop_busy` and `key` by name only. All are optional. Raises `ValueError` if `result_code` is not a result code.

    Attributes: `result_code` (a `ResultCode`, or None), `in_doubt` (whether the write may have been applied), `key`
    (the `Key` of the record that the failed request was about, if it was about one record), `node` (the last node
    tried), `attempts` and `iteration` (the number of attempts), `phase` (how far the last attempt got: "queued",
    "connecting", "sent" or "receiving"), `elapsed` (seconds from the call to the failure), `loop_busy` (how many of
    these seconds the program kept its event loop busy, so that no answer could be read), `sub_code` and
    `server_message` (detail that the server attached), `exp_trace`, `sub_exceptions` (the errors of earlier attempts),
    `base_message` (the message without node and the rest), `hint` (the likely cause). Unknown values are None.
    """

    def __init__(self, *args, **fields):
        # Like every exception, it keeps what it was made with.
        self.args = args or (() if "message" not in fields else (fields["message"],))
        self.__dict__.update(_fields(*args, **fields))

    @property
    def attempts(self):
        """The number of attempts; 0 if none was made or the number is unknown."""
        return self.iteration or 0

    @property
    def is_client_error(self):
        """Whether the failure was detected by the client; False for an answer of the server."""
        found = self.__dict__.get("_client")
        if found is None and "_error" in self.__dict__:
            found = self._unpack()["_client"]
        if found is None:
            found = self.result_code is None or self.result_code < 0 or getattr(self, "client", False)
        return found

    def _unpack(self):
        # Errors come with one attribute, from which the others are made when someone asks.
        fields = self.__dict__
        made = fields["_error"].fields()
        for name, value in made.items():
            fields.setdefault(name, value)
        return fields

    def __getattr__(self, name):
        fields = self.__dict__
        if "_error" in fields and "_text" not in fields:
            fields = self._unpack()
        try:
            return fields[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def __str__(self):
        fields = self.__dict__
        if "_error" in fields and "_text" not in fields:
            fields = self._unpack()
        text = fields.get("_text")
        if text is not None:
            return text
        return str(self.args[0]) if self.args else ""

    def __reduce__(self):
        fields = self.__dict__
        if "_error" in fields:
            fields = {name: value for name, value in self._unpack().items() if name != "_error"}
        return _restore, (type(self), self.args, dict(fields), self.__cause__)


def _restore(kind, args, fields, cause):
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    if cause is not None:
        error.__cause__ = cause
    return error


class TimeoutError(AerospikeError, builtins.TimeoutError):
    """The deadline passed or the retries were used up before an answer arrived, or the server timed out.

    `client`: whether it was the client that gave up.
    """

    def __init__(self, *args, client=False, **fields):
        super().__init__(*args, **fields)
        self.client = client


class TransactionError(AerospikeError):
    """A transaction or a command in it failed."""


class CommitError(TransactionError):
    """A transaction could not be committed.

    `commit_error_type` (a `CommitErrorType`) names the stage. `verify_records` and `roll_records` are the outcomes of
    its records: lists of tuples of digest, result code and whether the record is in doubt.
    """

    def __init__(self, *args, commit_error_type=None, verify_records=None, roll_records=None, **fields):
        super().__init__(*args, **fields)
        self.commit_error_type = commit_error_type
        self.verify_records = verify_records
        self.roll_records = roll_records


class ClientError(AerospikeError):
    """A failure in the client that has no class of its own."""


class BatchFailedError(ClientError):
    """A batch failed before any row was answered, or `raise_for_failures()` found rows that failed.

    `records`: the rows that failed (`BatchRecord`; for streams `RecordResult`), each with its result code and whether
    it is in doubt. Every error that a batch raises has them; in an error that you create yourself, it is None.
    """

    records = None


for _class in (AerospikeError, ClientError, TimeoutError, TransactionError, CommitError, BatchFailedError, _restore):
    _class.__module__ = "aerolane.exceptions"
