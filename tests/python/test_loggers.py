"""Records that the Rust side logs, in Python's `logging`."""

import contextlib
import logging
import os
import subprocess
import sys
import threading

import pytest
from conftest import eventually, logged

import aerolane
from aerolane import loggers, native

ROOTS = ("aerolane", "aerospike_core")


@pytest.fixture
def heard():
    """The records that come from the loggers of the package, at any level."""
    with logged(*ROOTS, level=logging.DEBUG, kept=lambda record: record) as records:
        yield records
    loggers.refresh_log_levels()


@pytest.fixture
def log_something(seeds):
    """Has something logged: that a client seeks its cluster."""
    return lambda: native.new_client_blocking(native.ClientPolicy(), seeds).close_blocking()


def seeded(records):
    """How many clients have said that they seek their cluster."""
    return len([record for record in records if "Seeding the cluster" in record.getMessage()])


def threads():
    """How many threads bring records to Python."""
    names = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/task/{task}/comm", encoding="ascii") as comm:
            names.append(comm.read().strip())
    return names.count("aerolane-log")


def test_records_of_a_client(heard, log_something):
    log_something()
    eventually(lambda: seeded(heard))
    record = next(record for record in heard if "Seeding the cluster" in record.getMessage())
    assert (record.name, record.levelno) == ("aerospike_core.cluster", logging.INFO)
    assert record.pathname.endswith(".rs") and record.lineno > 0
    assert {record.name.split(".")[0] for record in heard} <= set(ROOTS)


def test_levels_are_those_of_python(heard, log_something):
    vendor, below = logging.getLogger("aerospike_core"), logging.getLogger("aerospike_core.cluster")
    vendor.setLevel(logging.ERROR)
    log_something()
    vendor.setLevel(logging.INFO)
    log_something()  # It takes over the level.
    eventually(lambda: seeded(heard))
    assert seeded(heard) == 1
    # Nodes of earlier tests may have been closed before the level was taken over.
    since = next(record.created for record in heard if "Seeding the cluster" in record.getMessage())
    assert all(record.levelno >= logging.INFO for record in heard if record.created >= since)
    # The level of a logger below counts, too.
    vendor.setLevel(logging.ERROR)
    below.setLevel(logging.INFO)
    try:
        native.refresh_log_levels()
        log_something()
        eventually(lambda: seeded(heard) == 2)
    finally:
        below.setLevel(logging.NOTSET)


def test_handlers_that_fail_harm_nobody(heard, log_something, client, key, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def fail(_record):
        raise OSError("the disk is full")

    logger = logging.getLogger("aerospike_core.cluster")
    logger.addFilter(fail)
    try:
        log_something()
        eventually(lambda: told)
        client.put_blocking(key, {"a": 1})
    finally:
        logger.removeFilter(fail)
    assert isinstance(told[0].exc_value, OSError)
    log_something()
    eventually(lambda: seeded(heard))


def test_the_thread_ends_when_nothing_is_logged(heard, log_something):
    before = threading.enumerate()
    log_something()
    eventually(lambda: seeded(heard))
    eventually(lambda: threads() == 0)
    # Those of earlier tests may have ended meanwhile.
    assert set(threading.enumerate()) <= set(before)
    heard.clear()
    several = [threading.Thread(target=log_something) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    eventually(lambda: seeded(heard) == 4)
    assert threads() <= 1


def test_a_program_that_logs_nothing_hears_nothing():
    program = """
import logging, sys, time
if sys.argv[1:]:
    logging.basicConfig()
from aerolane import native
native.new_client_blocking(native.ClientPolicy(fail_if_not_connected=False), "127.0.0.1:1").close_blocking()
time.sleep(0.3)
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", program, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for more in ([], ["log"])
    ]
    (silent, told) = [run.communicate(timeout=100) for run in runs]
    assert silent == (b"", b"") and [run.returncode for run in runs] == [0, 0]
    assert b"WARNING:aerolane.cluster.lifecycle:operations fail until the cluster can be reached" in told[1]


def test_names_of_loggers():
    names = {name: value for name, value in vars(loggers.SdkLoggers).items() if name.isupper()}
    parts = ("COMMAND", "BEHAVIOR", "QUERY", "INFO", "BACKGROUND", "LIFECYCLE", "POOL", "RECORD_STREAM")
    assert set(names) == set(parts)
    assert all(value.startswith("aerolane.") for value in names.values())
    with pytest.raises(TypeError):
        loggers.SdkLoggers()
    assert aerolane.loggers.refresh_log_levels is native.refresh_log_levels


def test_slow_operations_are_logged(heard, new_cluster, connect, key):
    """With what was slow, but neither key nor value."""
    cluster = new_cluster(nodes=1)
    client = connect(cluster.seeds, native.ClientPolicy(slow_operation_threshold=50))
    client.put_blocking(key, {"a": "the value"})
    with cluster.inject("delay", 0.2, on="write"):
        client.put_blocking(key, {"a": "the value"})

    def slow():
        return [record for record in heard if "slow operation" in record.getMessage()]

    eventually(slow)
    (record,) = slow()
    text = record.getMessage()
    assert record.levelno == logging.WARNING and record.name.startswith("aerolane")
    assert all(part in text for part in ("namespace=test", f"set={key.set_name}", "attempts=1", "127.0.0.1:")), text
    assert "the value" not in text and repr(key.value) not in text
