"""Loggers."""

from typing import ClassVar, final

@final
class SdkLoggers:
    """The names of the loggers, to set levels and handlers by: each is a logger of this package, and all are below
    `"aerolane"`. The vendor's crate, which finds the nodes, logs to `"aerospike_core"`.

    COMMAND: calls. LIFECYCLE: connecting, nodes that come and go, closing. QUERY, BACKGROUND: queries. INFO: commands
    to nodes. BEHAVIOR, POOL, `RECORD_STREAM`: behaviors, `AsyncPool`, results. Not all of them have records in this
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
    """Takes over the levels of Python's loggers `aerolane` and `aerospike_core`, and of those below them: how much
    the Rust crates log at all. Each client does so when it connects; call it after a change of levels in between.
    """
