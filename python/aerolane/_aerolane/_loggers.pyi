"""Loggers."""

from typing import ClassVar, final

@final
class SdkLoggers:
    """The names of this package's loggers, for setting levels and handlers. All of them are below `"aerolane"`. The
    vendor's crate, which discovers the nodes, logs to `"aerospike_core"`.

    COMMAND: calls. LIFECYCLE: connecting, nodes that join and leave, closing. QUERY, BACKGROUND: queries. INFO: info
    commands. BEHAVIOR, POOL, `RECORD_STREAM`: behaviors, `AsyncPool`, results. Not all of them are used in this
    version.
    """

    COMMAND: ClassVar[str]
    LIFECYCLE: ClassVar[str]
    QUERY: ClassVar[str]
    BACKGROUND: ClassVar[str]
    INFO: ClassVar[str]
    BEHAVIOR: ClassVar[str]
    POOL: ClassVar[str]
    RECORD_STREAM: ClassVar[str]

def refresh_log_levels() -> None:
    """Makes the Rust crates log at the levels of Python's loggers `aerolane` and `aerospike_core` and the loggers
    below them. Each client does this when it connects; call it after changing levels later.
    """
