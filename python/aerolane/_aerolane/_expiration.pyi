"""When records expire."""

from typing import ClassVar, final

@final
class Expiration:
    NAMESPACE_DEFAULT: ClassVar[Expiration]
    NEVER_EXPIRE: ClassVar[Expiration]
    DONT_UPDATE: ClassVar[Expiration]
    @staticmethod
    def seconds(s: int) -> Expiration: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
