"""What the operating system says about this process."""

import contextlib
import resource
import sys
import sysconfig
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """What all threads of this process have used: user and system time in seconds, context switches."""

    user: float
    system: float
    voluntary_switches: int = 0
    """Because a thread waited for something."""
    involuntary_switches: int = 0
    """Because another thread was to run."""

    @classmethod
    def now(cls) -> "Usage":
        """The figures now (`getrusage`)."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(usage.ru_utime, usage.ru_stime, usage.ru_nvcsw, usage.ru_nivcsw)

    def since(self, earlier: "Usage") -> "Usage":
        """What was used after `earlier`."""
        return Usage(
            self.user - earlier.user,
            self.system - earlier.system,
            self.voluntary_switches - earlier.voluntary_switches,
            self.involuntary_switches - earlier.involuntary_switches,
        )

    @property
    def total(self) -> float:
        """User and system time together."""
        return self.user + self.system


def peak_rss_bytes() -> int:
    """Peak resident set of this process.

    On Linux `VmHWM` is read, because `ru_maxrss` survives `exec` and would include the process that started this one.
    """
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    # Kibibytes on Linux and the BSDs, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def raise_file_limit() -> None:
    """Raises the soft limit of open files to the hard one: some clients hold hundreds of connections per node."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def gil_enabled() -> bool:
    """Whether the GIL is on now. An extension that is not ready for free threading switches it on at import."""
    ask = getattr(sys, "_is_gil_enabled", None)
    return True if ask is None else bool(ask())


def python_name() -> str:
    """The interpreter: `3.11.7`, `3.14.0t`."""
    threaded = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return ".".join(map(str, sys.version_info[:3])) + threaded
