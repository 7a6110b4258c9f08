"""Prints the size of a wheel of the client, and the CPU time of `import aerolane`: for people, it checks nothing.

    python tests/python/import_time.py WHEEL

What an import loads is checked by `test_package.py`: no test depends on how fast the machine is.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import zipfile

ROUNDS = 11
PROGRAMS = {"python alone": "", "import asyncio": "import asyncio", "import aerolane": "import aerolane"}


def cpu_seconds(program, environment):
    """The CPU time of a process that runs this program, the kernel's share included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-S", "-c", program], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(wheel):
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as content:
            content.extractall(folder)
        environment = {**os.environ, "PYTHONPATH": folder}
        times = {name: [] for name in PROGRAMS}
        # The first round writes the bytecode.
        for number in range(ROUNDS + 1):
            for name, program in PROGRAMS.items():
                spent = cpu_seconds(program, environment)
                if number:
                    times[name].append(spent)
    shown = ", ".join(f"{name} {statistics.median(spent) * 1000:.0f} ms" for name, spent in times.items())
    print(f"{wheel.name}: {wheel.stat().st_size / (1 << 20):.1f} MiB; CPU time, medians of {ROUNDS}: {shown}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
