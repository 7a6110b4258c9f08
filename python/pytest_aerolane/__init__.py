"""Fixtures for pytest, which finds them on its own where `aerolane` is installed.

A package of its own, so that a test run that uses none of them does not load the client.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from aerolane import native
    from aerolane.testing import EmbeddedCluster


@pytest.fixture(scope="session")
def aerolane_cluster() -> "Iterator[EmbeddedCluster]":
    """An embedded cluster of 3 nodes for the whole test session: `.seeds`, `.stop_node(..)`, `.inject(..)`, ...

    Never a real one: a test that stops nodes or injects faults can rely on it.
    """
    from aerolane.testing import EmbeddedCluster

    with EmbeddedCluster(nodes=3) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def aerolane_seeds(request: pytest.FixtureRequest) -> str:
    """Seeds of the cluster to test with: those of `AEROSPIKE_HOST` where set, else those of `aerolane_cluster`."""
    seeds = os.environ.get("AEROSPIKE_HOST")
    if seeds:
        return seeds
    cluster: EmbeddedCluster = request.getfixturevalue("aerolane_cluster")
    return cluster.seeds


@pytest.fixture(scope="session")
def aerolane_client(aerolane_seeds: str) -> "Iterator[native.Client]":
    """A client of `aerolane_seeds` for the whole test session, for blocking calls and for any event loop."""
    from aerolane import native

    with native.new_client_blocking(native.ClientPolicy(), aerolane_seeds) as client:
        yield client
