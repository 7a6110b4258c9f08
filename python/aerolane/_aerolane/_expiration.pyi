"""When records expire."""

from typing import ClassVar, final

@final
class Expiration:
    """When a record expires: `Expiration.seconds(n)`, `NAMESPACE_DEFAULT`, `NEVER_EXPIRE`, or `DONT_UPDATE` (a write
    leaves the record's expiration as it is).
    """

    NAMESPACE_DEFAULT: ClassVar[Expiration]
    NEVER_EXPIRE: ClassVar[Expiration]
    DONT_UPDATE: ClassVar[Expiration]
    @staticmethod
    def seconds(s: int) -> Expiration:
        """Expires after a number of seconds: 1 to 315,360,000 (ten years, the server's maximum).

        Raises `InvalidArgumentError` for other numbers, `TypeError` for anything but an int.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
