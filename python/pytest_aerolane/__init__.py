"""Fixtures for pytest, which finds them without any setup where `aerolane` is installed.

This is a package of its own, so that a test run that uses none of the fixtures does not load the client.

Each test that asks for a cluster gets one of its own, which takes some milliseconds. So neither records nor faults
reach another test. With `AEROSPIKE_HOST=host:port`, sessions and clients connect to that real cluster instead.
"""

import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from aerolane import Client, Session, SyncClient, native
    from aerolane.sync import Session as SyncSession
    from aerolane.testing import EmbeddedCluster

# Names seeds of a real cluster.
VARIABLE = "AEROSPIKE_HOST"

_CLUSTER, _FAULT = "aerolane_cluster", "aerolane_fault"


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers."""
    for line in (
        f"{_CLUSTER}(**settings): settings of the embedded cluster of a test, as `EmbeddedCluster` takes them",
        f"{_FAULT}(action, value=None, **options): a fault of the embedded cluster of a test, as `inject` takes it",
    ):
        config.addinivalue_line("markers", line)


@pytest.fixture
def aerolane_cluster(request: pytest.FixtureRequest) -> "Iterator[EmbeddedCluster]":
    """An embedded cluster of the test's own, of 3 nodes: `.seeds`, `.stop_node(..)`, `.inject(..)`, ...

    It is never a real one, so a test can stop nodes and inject faults. `@pytest.mark.aerolane_cluster(nodes=1)` changes
    its settings. `@pytest.mark.aerolane_fault("delay", 0.05, on="read")` injects a fault from the start of the test.
    """
    from aerolane.testing import EmbeddedCluster

    settings = request.node.get_closest_marker(_CLUSTER)
    with EmbeddedCluster(*settings.args, **settings.kwargs) if settings else EmbeddedCluster() as cluster:
        for fault in request.node.iter_markers(_FAULT):
            cluster.inject(*fault.args, **fault.kwargs)
        yield cluster


@pytest.fixture(scope="session")
def aerolane_shared_cluster() -> "Iterator[EmbeddedCluster]":
    """An embedded cluster of 3 nodes for the whole test session, for fixtures of a wider scope. Nothing cleans up after
    tests that change it or leave records."""
    from aerolane.testing import EmbeddedCluster

    with EmbeddedCluster() as cluster:
        yield cluster


@pytest.fixture
def aerolane_seeds(request: pytest.FixtureRequest) -> str:
    """Seeds of the cluster to test with: `AEROSPIKE_HOST` if it is set, otherwise those of `aerolane_cluster`.

    On a real cluster, it skips tests with one of the markers, because these need an embedded one.
    """
    seeds = os.environ.get(VARIABLE)
    if not seeds:
        cluster: EmbeddedCluster = request.getfixturevalue("aerolane_cluster")
        return cluster.seeds
    for marker in (_CLUSTER, _FAULT):
        if request.node.get_closest_marker(marker):
            pytest.skip(f"the marker {marker} is for embedded clusters, and {VARIABLE} is set")
    return seeds


@pytest.fixture
def aerolane_client(aerolane_seeds: str) -> "Iterator[native.Client]":
    """A native client of `aerolane_seeds`, for blocking calls and for any event loop."""
    from aerolane import native

    with native.new_client_blocking(native.ClientPolicy(), aerolane_seeds) as client:
        yield client


@pytest.fixture
def _aerolane_async_client(aerolane_seeds: str) -> "Iterator[Client]":
    from aerolane import Client

    # Connected without a loop: whatever runs the test brings its own.
    client = Client(aerolane_seeds)
    client.connect_blocking()
    try:
        yield client
    finally:
        client.close_blocking()


@pytest.fixture
def _aerolane_sync_client(aerolane_seeds: str) -> "Iterator[SyncClient]":
    from aerolane import SyncClient

    with SyncClient(aerolane_seeds) as client:
        yield client


@pytest.fixture
def aerolane_session(_aerolane_async_client: "Client") -> "Session":
    """A session for asyncio, for tests that pytest-asyncio, anyio or others run. `.client` is its client."""
    return _aerolane_async_client.create_session()


@pytest.fixture
def aerolane_sync_session(_aerolane_sync_client: "SyncClient") -> "SyncSession":
    """A session for code without asyncio. `.client` is its client."""
    return _aerolane_sync_client.create_session()


@pytest.fixture
def aerolane_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a set of the namespace `test` that no other test uses. On a real cluster it is truncated after the
    test."""
    name = f"t{uuid.uuid4().hex[:16]}"
    if not os.environ.get(VARIABLE):
        # It goes with its cluster.
        yield name
        return
    client: native.Client = request.getfixturevalue("aerolane_client")
    yield name
    client.truncate_blocking("test", name)
