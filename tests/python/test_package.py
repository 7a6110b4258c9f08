"""What the package says of itself, and what it leaves alone."""

import importlib.metadata
import os
import pathlib
import struct
import subprocess
import sys
import sysconfig

import pytest

import aerolane
from aerolane import _aerolane
from aerolane.testing import program


def test_build_info():
    info = aerolane.build_info()
    assert info["version"] == aerolane.__version__
    assert info["rustc"].startswith("rustc ")
    assert isinstance(info["features"], list)
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert info["free_threaded"] is free_threaded
    assert info["abi3"] is not free_threaded
    assert {"profile", "opt_level", "target"} <= info.keys()


def test_the_metadata_agrees():
    try:
        version = importlib.metadata.version("aerolane")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runs from the source tree, not from a wheel")
    assert version == aerolane.__version__
    scripts = importlib.metadata.entry_points(group="pytest11", name="pytest_aerolane")
    assert [script.value for script in scripts] == ["pytest_aerolane"]
    commands = importlib.metadata.entry_points(group="console_scripts", name="aerolane")
    assert [command.value for command in commands] == ["aerolane.cli:main"]


def test_the_cluster_for_tests_is_another_package():
    """Services that import the client carry no server; the program that tests start has the client's version."""
    try:
        requires = importlib.metadata.requires("aerolane") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runs from the source tree, not from a wheel")
    named = {line.partition(";")[0].strip() for line in requires if line.startswith("aerolane-embedded")}
    assert named == {f"aerolane-embedded=={aerolane.__version__}"}
    assert not [line for line in requires if "extra ==" not in line]
    said = subprocess.run([program.find(), "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.split() == ["aerolane-embedded", aerolane.__version__]


def test_types_come_along():
    assert (pathlib.Path(aerolane.__file__).parent / "py.typed").exists()
    assert (pathlib.Path(aerolane.__file__).parent / "_aerolane" / "__init__.pyi").exists()


def test_every_exported_name_exists():
    for name in aerolane.__all__:
        assert getattr(aerolane, name) is not None


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python")
def test_the_gil_stays_off():
    """An extension that is not ready for it switches the GIL back on as it is imported."""
    program = "import sys, aerolane, aerolane.testing; sys.exit(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    assert subprocess.run([sys.executable, "-Werror", "-c", program], env=environment, timeout=60).returncode == 0


def test_importing_starts_nothing():
    """No thread, no event loop, no asyncio policy: an import must not cost those who fork or embed."""
    program = (
        "import aerolane, threading, os, sys\n"
        "assert threading.active_count() == 1\n"
        "assert len(os.listdir('/proc/self/task')) == 1, os.listdir('/proc/self/task')\n"
        "unasked = {'numpy', 'pytest', 'uvloop', 'yaml', 'aerolane.testing', 'aerolane.bench', 'aerolane.cli'}\n"
        "assert not unasked & set(sys.modules), unasked & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


def test_importing_loads_nothing_but_asyncio():
    """What an import costs is what it loads: of its own modules too, only those whose names the package exports.
    `typing` comes with asyncio up to Python 3.13."""
    program = (
        "import sys, asyncio, typing\n"
        "before = set(sys.modules)\n"
        "import aerolane\n"
        "print(*sorted({'.'.join(name.split('.')[:2]) for name in set(sys.modules) - before}))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    own = ("_aerolane", "_python", "concurrent", "pool")
    assert run.stdout.split() == ["aerolane", *(f"aerolane.{name}" for name in own)]


@pytest.mark.skipif(sys.platform != "linux", reason="how ELF modules get their thread-local storage")
def test_thread_local_storage_leaves_room_for_other_modules():
    """The allocator's storage is static, so all of the module's is: of the 1.6 KB that glibc has for all modules that a
    process loads, those that come later must get theirs. (aerospike-native has 464 bytes.)"""
    with open(_aerolane.__file__, "rb") as file:
        header = file.read(64)
        offset, size, count = *struct.unpack_from("<Q", header, 32), *struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        segments = [struct.unpack("<IIQQQQQQ", file.read(size)) for _ in range(count)]
    thread_local = 7
    sizes = [segment[6] for segment in segments if segment[0] == thread_local]
    assert len(sizes) == 1 and 0 < sizes[0] <= 1200, sizes
