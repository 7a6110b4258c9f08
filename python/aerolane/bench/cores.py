"""A core of its own for the cluster, and the others for the clients: then neither waits for the other's turn."""

import contextlib
import os
import sys
from collections.abc import Iterator


def can_be_parted() -> bool:
    """Whether there are two cores or more, and the system lets a process choose: Linux."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


@contextlib.contextmanager
def of_cluster(parted: bool) -> Iterator[None]:
    """What is started in the block has the first core, if they are `parted`."""
    with _on(parted, slice(0, 1)):
        yield


@contextlib.contextmanager
def of_clients(parted: bool) -> Iterator[None]:
    """What is started in the block has the other cores, if they are `parted`."""
    with _on(parted, slice(1, None)):
        yield


@contextlib.contextmanager
def _on(parted: bool, which: slice) -> Iterator[None]:
    if not parted or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    # A process has the cores of the thread that starts it.
    os.sched_setaffinity(0, sorted(before)[which])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
