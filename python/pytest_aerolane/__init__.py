"""Fixtures for pytest, which finds them without any setup where `aerolane` is installed.

This is a package of its own, so that a test run that uses none of the fixtures does not load the client.

Each test that asks for a cluster gets one of its own, which takes some milliseconds. So neither records nor faults
reach another test. With `AEROSPIKE_HOST=host:port`, sessions and clients connect to that real cluster instead. There,
`--aerolane-truncate NAMESPACE` empties a namespace between tests.
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

# The setting in a configuration file of pytest, and the option.
_TRUNCATE = "aerolane_truncate"
_TRUNCATE_OPTION = "--aerolane-truncate"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that empties namespaces. Off by default, because it deletes the records of everybody."""
    deletes = f"removes ALL records of this namespace before and after each test that uses the cluster of {VARIABLE}"
    group = parser.getgroup("aerolane")
    group.addoption(_TRUNCATE_OPTION, action="append", metavar="NAMESPACE", help=f"{deletes}; can be repeated")
    parser.addini(_TRUNCATE, f"namespaces for {_TRUNCATE_OPTION}", type="args")


def _truncated(config: pytest.Config) -> list[str]:
    """The namespaces to empty between tests; none on embedded clusters, of which each test has its own."""
    if not os.environ.get(VARIABLE):
        return []
    option: list[str] | None = config.getoption(_TRUNCATE_OPTION)
    return option or config.getini(_TRUNCATE)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers."""
    for line in (
        f"{_CLUSTER}(**settings): settings of the embedded cluster of a test, as `EmbeddedCluster` takes them",
        f"{_FAULT}(action, value=None, **options): a fault of the embedded cluster of a test, as `inject` takes it",
    ):
        config.addinivalue_line("markers", line)
    if _truncated(config) and (getattr(config.option, "numprocesses", None) or 0) > 1:
        raise pytest.UsageError(
            f"{_TRUNCATE_OPTION} cannot be used with several workers (-n): one would remove the records of the others"
        )


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


@pytest.fixture(scope="session")
def _aerolane_truncating_client() -> "Iterator[native.Client]":
    from aerolane import native

    with native.new_client_blocking(native.ClientPolicy(), os.environ[VARIABLE]) as client:
        yield client


@pytest.fixture
def aerolane_seeds(request: pytest.FixtureRequest) -> Iterator[str]:
    """Seeds of the cluster to test with: `AEROSPIKE_HOST` if it is set, otherwise those of `aerolane_cluster`.

    On a real cluster, it skips tests with one of the markers, because these need an embedded one. With
    `--aerolane-truncate NAMESPACE` (or `aerolane_truncate` in the configuration file of pytest), it removes all records
    of that namespace before and after the test.
    """
    seeds = os.environ.get(VARIABLE)
    if not seeds:
        cluster: EmbeddedCluster = request.getfixturevalue("aerolane_cluster")
        yield cluster.seeds
        return
    for marker in (_CLUSTER, _FAULT):
        if request.node.get_closest_marker(marker):
            pytest.skip(f"the marker {marker} is for embedded clusters, and {VARIABLE} is set")
    namespaces = _truncated(request.config)

    def truncate() -> None:
        for namespace in namespaces:
            client: native.Client = request.getfixturevalue("_aerolane_truncating_client")
            client.truncate_blocking(namespace, "")

    truncate()
    yield seeds
    truncate()


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
