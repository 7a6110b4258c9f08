"""What the operating system says about this process."""

import contextlib
import resource
import sys
import sysconfig
from dataclasses import dataclass


@dataclass(frozen=True)
class CpuTime:
    """User and system time of all threads of this process, in seconds."""

    user: float
    system: float

    @classmethod
    def now(cls) -> "CpuTime":
        """The figure now (`getrusage`)."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(usage.ru_utime, usage.ru_stime)

    def since(self, earlier: "CpuTime") -> "CpuTime":
        """What was used after `earlier`."""
        return CpuTime(self.user - earlier.user, self.system - earlier.system)

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
