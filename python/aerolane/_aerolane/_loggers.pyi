"""Loggers."""

from typing import ClassVar, final

@final
class SdkLoggers:
    COMMAND: ClassVar[str]
    LIFECYCLE: ClassVar[str]
    QUERY: ClassVar[str]
    BACKGROUND: ClassVar[str]
    INFO: ClassVar[str]
    BEHAVIOR: ClassVar[str]
    POOL: ClassVar[str]
    RECORD_STREAM: ClassVar[str]

def refresh_log_levels() -> None: ...
