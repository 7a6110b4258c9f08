"""Subclasses of Python's own containers, which cannot be written in Rust for the stable ABI of 3.11; run once."""


class _Container:
    __slots__ = ()
    _plain = None  # The container of Python that has the same in it.

    def as_string(self):
        """The content as readable text."""
        return self._plain.__repr__(self)

    def __repr__(self):
        return f"{type(self).__name__}({self._plain.__repr__(self)})"

    def __str__(self):
        return self._plain.__repr__(self)

    def __reduce__(self):
        return type(self), (self._plain(self),)


class Blob(_Container, bytearray):
    """Bytes under another name, for code that uses this class: `Blob(b"ab")`, `Blob([97, 98])`.

    A bytearray whose slices and sums are `Blob`s; bins with bytes are read as bytes. It compares equal to bytes-like
    objects and to lists and tuples of ints with the same content and has the hash of the bytes, so do not change it
    while it is in a set or a key of a dict. `value`: the bytes, which can be set. Raises `TypeError` for anything that
    is not bytes or a sequence of ints, `ValueError` for ints outside 0 to 255.
    """

    __slots__ = ()
    _plain = bytes

    def __init__(self, v):
        if isinstance(v, int | str):
            raise TypeError(f"a bytes-like object or a sequence of ints was expected, not {type(v).__name__}")
        super().__init__(v)

    @property
    def value(self):
        """The bytes."""
        return bytes(self)

    @value.setter
    def value(self, value):
        self[:] = type(self)(value)

    def as_string(self):
        """The bytes as a readable list of ints."""
        return repr(list(self))

    def __repr__(self):
        return f"{type(self).__name__}({bytes(self)!r})"

    __str__ = __repr__

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return type(self)(found) if isinstance(index, slice) else found

    def __add__(self, other):
        made = super().__add__(other)
        return type(self)(made) if isinstance(made, bytearray) else made

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, list | tuple) else super().__eq__(other)

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self):
        return hash(bytes(self))


class List(_Container, list):
    """A list under another name, for code that uses this class: `List([1, 2])`.

    Bins with lists are read as lists. `value`: the items as a plain list, which can be set. Raises `TypeError` for
    anything that is not a sequence.
    """

    __slots__ = ()
    _plain = list

    def __init__(self, v):
        if isinstance(v, str | bytes | dict):
            raise TypeError(f"a sequence of values was expected, not {type(v).__name__}")
        super().__init__(v)

    @property
    def value(self):
        """The items as a plain list."""
        return list(self)

    @value.setter
    def value(self, value):
        self[:] = type(self)(value)


class Map(_Container, dict):
    """A dict under another name, for code that uses this class: `Map({"a": 1})`. It is stored as an unordered map.

    Bins with maps are read as dicts. `value`: the pairs as a plain dict, which can be set. Raises `TypeError` for
    anything that is not a mapping.
    """

    __slots__ = ()
    _plain = dict

    def __init__(self, v):
        super().__init__(v)

    @property
    def value(self):
        """The pairs as a plain dict."""
        return dict(self)

    @value.setter
    def value(self, value):
        pairs = dict(value)
        self.clear()
        self.update(pairs)


for _class in (Blob, List, Map):
    _class.__module__ = "aerolane.native"
