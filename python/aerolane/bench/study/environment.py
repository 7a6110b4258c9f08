"""Where a study runs: what its figures are worth only together with."""

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aerolane.bench.process import gil_enabled, python_name
from aerolane.bench.report import version

PACKAGES = ("aerolane", "aerospike-native", "aerospike-sdk", "aerospike-py", "aerospike", "uvloop", "numpy")


@dataclass(frozen=True)
class Environment:
    """Machine, system, versions."""

    made: str
    command: str
    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    gil: bool
    load_before: float
    """The load average of the last minute, before the first round."""
    commit: str
    """The commit of the checkout that ran, with `+` where files differ from it; empty outside of one."""
    versions: dict[str, str]
    """Of installed clients and of what changes figures."""

    @classmethod
    def now(cls, command: str) -> "Environment":
        """What can be read."""
        return cls(
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            command=command,
            processor=_processor(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30), 1),
            system=f"{platform.system()} {platform.release()} {platform.machine()}",
            python=python_name(),
            gil=gil_enabled(),
            load_before=round(os.getloadavg()[0], 2),
            commit=_commit(),
            versions={package: found for package in sorted(PACKAGES) if (found := version(package))},
        )

    def same_as(self, other: "Environment") -> list[str]:
        """What differs between two environments so much that their rounds do not belong together."""
        names = ("processor", "cores", "system", "python", "gil", "commit", "versions")
        return [name for name in names if getattr(self, name) != getattr(other, name)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _commit() -> str:
    folder = Path(sys.modules["aerolane"].__file__ or ".").parent
    try:
        head = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, timeout=10
        )
        changed = subprocess.run(
            ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return head.stdout.strip() + "+" * bool(changed.stdout.strip()) if head.returncode == 0 else ""
