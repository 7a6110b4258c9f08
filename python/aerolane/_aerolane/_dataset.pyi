"""Sets of records."""

from collections.abc import Sequence
from typing import Self, final, overload

from ._values import Key, _UserKey

@final
class DataSet:
    """A set of a namespace, which creates the keys of its records.

    `set_name` is `None` (or empty) for records without a set.
    """

    def __new__(cls, namespace: str, set_name: str | None = None) -> Self: ...
    @staticmethod
    def of(namespace: str, set_name: str | None = None) -> DataSet:
        """The set of this name in a namespace. The same as the constructor."""
    @property
    def namespace(self) -> str:
        """The namespace."""
    @property
    def set_name(self) -> str | None:
        """The set's name, or `None`."""
    def id(self, identifier: _UserKey) -> Key:
        """The key of a record, by its user key: a `str`, an `int` (64 bits) or `bytes`."""
    @overload
    def ids(self, identifiers: Sequence[_UserKey], /) -> list[Key]:
        """The keys of several records, by their user keys: `ids(1, 2, 3)` or `ids([1, 2, 3])`."""
    @overload
    def ids(self, *identifiers: _UserKey) -> list[Key]: ...
    def id_from_digest(self, digest: str | bytes) -> Key:
        """The key of a record, by its digest: 20 bytes, or 40 hexadecimal digits."""
    @overload
    def ids_from_digests(self, digests: list[str] | list[bytes] | tuple[str | bytes, ...], /) -> list[Key]:
        """The keys of several records, by their digests."""
    @overload
    def ids_from_digests(self, *digests: str | bytes) -> list[Key]: ...
    def id_for_object(self, obj: str | int | float | bytes | bytearray) -> Key:
        """The key for a `str`, an `int`, `bytes`, a `bytearray` (as bytes), or a `float` without a fraction (as an
        int).

        Raises `TypeError` for others.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
