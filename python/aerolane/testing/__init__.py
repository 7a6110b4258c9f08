"""Clusters to test against, in memory: no server needed. Never for production.

* `EmbeddedCluster`: in this process, with faults on demand
* `EmbeddedProcess`: in a process of its own, for benchmarks; also `python -m aerolane.testing`
* `pytest_aerolane`, a package beside this one: fixtures for pytest, found by it on its own
"""

from aerolane._aerolane import EmbeddedCluster, EmbeddedNode, Fault
from aerolane.testing.process import EmbeddedProcess

__all__ = ["EmbeddedCluster", "EmbeddedNode", "EmbeddedProcess", "Fault"]
